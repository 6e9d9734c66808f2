/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forecasts: what hosts say that their applications will send, where no job says
 * it. The design is in Documentation/fabric-engine.rst.
 *
 *	hear.c			how they come
 *	forecasts.c		what there is, and when the plan follows
 *	forecast_pairs.c	which of them count, and for which leaves
 *	forecast_report.c	what is shown of them
 *	horizon_request.c	loads in 1, 5 and 10 s
 */
#ifndef _SRPOL_FABRICD_FORECASTS_H
#define _SRPOL_FABRICD_FORECASTS_H

#include "forecast.h"
#include "tenants.h"

#define FORECAST_LEAD_MS	2000	/* planned for so long before they begin */

/**
 * struct forecast_stats - what there is
 * @hosts: that said something that is not over
 * @demands: demands that are not over
 * @planned: of these, in the plan that was made last
 * @covered: likewise not, as a job announces the pair of hosts
 * @bytes: of @planned
 * @n_rest: demands that hosts did not name
 * @rest: bytes of these
 * @cut: demands that this engine had no room for, in what hosts say now
 * @refused: words that were wrong
 */
struct forecast_stats {
	uint64_t hosts;
	uint64_t demands;
	uint64_t planned;
	uint64_t covered;
	double bytes;
	uint64_t n_rest;
	double rest;
	uint64_t cut;
	uint64_t refused;
};

/* forecasts.c */
int forecasts_start(struct srpol_error *err);
void forecasts_stop(void);
uint64_t forecasts_now_ms(void);
bool forecasts_next(size_t *at, uint32_t *i, struct srpol_forecast *d);
void forecasts_get(struct forecast_stats *stats);
void forecasts_planned(uint64_t planned, uint64_t covered, double bytes);

/* forecast_pairs.c */

/**
 * struct forecast_pairs - pairs of hosts that jobs announce
 * @n: number of @list
 * @list: the numbers of both, sorted
 */
struct forecast_pairs {
	size_t n;
	uint64_t *list;
};

int forecast_pairs_read(struct forecast_pairs *pairs);
void forecast_pairs_free(struct forecast_pairs *pairs);
bool forecast_is_covered(const struct forecast_pairs *pairs,
			 const struct srpol_forecast *d);
bool forecast_is_due(const struct srpol_forecast *d, uint64_t now_ms);
int forecasts_add(struct workload *w, bool count);

/* forecast_report.c */
json_t *forecasts_json(void);
json_t *forecasts_between(uint32_t src, uint32_t dst);
json_t *forecast_sources(const struct srpol_plan *plan, uint32_t pair,
			 const uint64_t *jobs, size_t n_jobs,
			 const uint64_t *forecasts, size_t n_forecasts);
int forecast_leaves(const struct workload *w, bool forecasts, uint64_t **list,
		    size_t *n);

/* horizon_request.c */
json_t *horizons_request(const json_t *request, struct srpol_error *err);

#endif /* _SRPOL_FABRICD_FORECASTS_H */
