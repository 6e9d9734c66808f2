/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Forecasts: what a host says that its applications will send to other hosts,
 * as text from the host to the global engine. Pure.
 *
 *	{ "version": 1, "host": NAME, "topology": DIGEST, "demands": [
 *	  { "rail": N, "dst": HOST, "dst_rail": N, "bytes": B, "start_ms": T,
 *	    "duration_ms": D, "period_ms": P }, ... ],
 *	  "rest": { "demands": N, "bytes": B } }
 *
 * Times are milliseconds; T is since 1970, as clocks of hosts and engines are
 * taken to agree. The bytes are sent once in the duration, or once in each
 * period of it. Rails are 0 and the source's if they are left out, the period
 * is 0: sent once. Members that are not known are passed over, so that later
 * hosts may say more; another version is refused.
 */
#ifndef _SRPOL_FORECAST_H
#define _SRPOL_FORECAST_H

#include "plan.h"

#define SRPOL_FORECAST_VERSION	1
#define SRPOL_FORECASTS_MAX	256		/* of a host */
#define SRPOL_FORECAST_MS_MAX	86400000	/* ahead, long, and a period */
#define SRPOL_FORECAST_SKEW_MS	60000		/* that clocks may be apart */
#define SRPOL_FORECAST_TEXT_MAX	(64 << 10)	/* bytes of text */

/**
 * struct srpol_forecast - what one GPU will send to another
 * @src: GPU of the host that says so
 * @dst: GPU of another host
 * @bytes: in all, or in each period
 * @start_ms: when it begins, milliseconds since 1970
 * @end_ms: when it is over, or not worth believing any more
 * @period_ms: again after so long, 0: once
 */
struct srpol_forecast {
	uint32_t src;
	uint32_t dst;
	uint64_t bytes;
	uint64_t start_ms;
	uint64_t end_ms;
	uint64_t period_ms;
};

/**
 * struct srpol_forecasts - all that a host says
 * @n: number of @list
 * @list: those with the most bytes
 * @n_rest: demands that are not in there
 * @rest: bytes of these
 */
struct srpol_forecasts {
	uint32_t n;
	struct srpol_forecast *list;
	uint64_t n_rest;
	uint64_t rest;
};

char *srpol_forecasts_write(const struct srpol_fabric *f, const char *topology,
			    uint32_t host, const struct srpol_forecasts *from);
int srpol_forecasts_read(const struct srpol_fabric *f, const char *topology,
			 uint32_t host, uint64_t now_ms, const char *text,
			 size_t len, struct srpol_forecasts *to,
			 struct srpol_error *err);
void srpol_forecasts_free(struct srpol_forecasts *forecasts);
void srpol_forecasts_cut(struct srpol_forecasts *forecasts, uint32_t n);
uint64_t srpol_forecast_rate(uint64_t bytes, uint64_t duration_ms,
			     uint64_t period_ms);

#endif /* _SRPOL_FORECAST_H */
