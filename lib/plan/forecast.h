/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Forecasts: a host tells the global engine, as text, what its applications
 * will send to other hosts. All functions are pure.
 *
 *	{ "version": 1, "host": NAME, "topology": DIGEST, "demands": [
 *	  { "rail": N, "dst": HOST, "dst_rail": N, "bytes": B, "start_ms": T,
 *	    "duration_ms": D, "period_ms": P }, ... ],
 *	  "rest": { "demands": N, "bytes": B } }
 *
 * Times are in milliseconds. T counts from 1970; the clocks of hosts and
 * engines are assumed to agree. B bytes are sent once within D, or once in each
 * period P until D has passed. If "rail" is missing it is 0, if "dst_rail" is
 * missing it is the source's rail, and if "period_ms" is missing it is 0: the
 * bytes are sent once. Readers ignore unknown members, so that newer hosts may
 * add some, but refuse any other version.
 */
#ifndef _SRPOL_FORECAST_H
#define _SRPOL_FORECAST_H

#include "plan.h"

#define SRPOL_FORECAST_VERSION	1
#define SRPOL_FORECASTS_MAX	256		/* demands per host */
#define SRPOL_FORECAST_MS_MAX	86400000	/* limit of all times */
#define SRPOL_FORECAST_SKEW_MS	60000		/* tolerated clock difference */
#define SRPOL_FORECAST_TEXT_MAX	(64 << 10)	/* bytes of text */

/**
 * struct srpol_forecast - what one GPU will send to another one
 * @src: GPU of the host that sends the forecast
 * @dst: GPU of another host
 * @bytes: bytes in total, or in each period
 * @start_ms: when sending begins, in milliseconds since 1970
 * @end_ms: when sending ends or the forecast expires, in milliseconds since
 *	1970
 * @period_ms: @bytes are sent again after this time; 0: they are sent once
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
 * struct srpol_forecasts - the whole forecast of a host
 * @n: number of @list
 * @list: the demands with the most bytes
 * @n_rest: number of demands that are not in @list
 * @rest: bytes of the demands that are not in @list
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
