/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forecasts: what hosts report that their applications will send, for pairs of
 * hosts that no job announces. The design is described in
 * Documentation/fabric-engine.rst.
 *
 *	hear.c			how forecasts arrive
 *	forecasts.c		current forecasts, and when they cause a plan
 *	forecast_pairs.c	which of them count, and for which leaves
 *	forecast_report.c	what is shown of them
 *	horizon_request.c	loads in 1, 5 and 10 s
 */
#ifndef _SRPOL_FABRICD_FORECASTS_H
#define _SRPOL_FABRICD_FORECASTS_H

#include "forecast.h"
#include "tenants.h"

#define FORECAST_LEAD_MS	2000	/* planned for this long in advance */

/**
 * struct forecast_stats - counters of forecasts
 * @hosts: hosts with forecasts that are not over
 * @demands: demands that are not over
 * @planned: demands in the last plan
 * @covered: demands not in it, as a job announces the pair of hosts
 * @bytes: of @planned
 * @n_rest: number of demands that hosts only summed up
 * @rest: bytes of these demands
 * @cut: current demands for which this engine had no room
 * @refused: messages that were invalid
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
 * @list: the two node numbers of each pair, sorted
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
