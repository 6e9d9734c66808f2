// SPDX-License-Identifier: GPL-2.0
/* Reports about forecasts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "forecasts.h"
#include "srpol_lib.h"

/**
 * forecasts_json() - counters of forecasts, for srpol fabric show
 */
json_t *forecasts_json(void)
{
	struct forecast_stats s;

	forecasts_get(&s);
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:f, s:I, s:I}",
			 "max", (json_int_t)fabricd.config.forecasts,
			 "hosts", (json_int_t)s.hosts,
			 "demands", (json_int_t)s.demands,
			 "planned", (json_int_t)s.planned,
			 "covered", (json_int_t)s.covered,
			 "bytes", s.bytes,
			 "unnamed", (json_int_t)s.n_rest,
			 "unnamed_bytes", s.rest,
			 "cut", (json_int_t)s.cut,
			 "refused", (json_int_t)s.refused);
}

static const char *state_of(const struct forecast_pairs *pairs,
			    const struct srpol_forecast *d, uint64_t now)
{
	if (forecast_is_covered(pairs, d))
		return "covered";
	return forecast_is_due(d, now) ? "planned" : "waits";
}

/**
 * forecasts_between() - forecasts between two hosts, for srpol fabric why
 * @src: node of the source host
 * @dst: node of the destination host
 */
json_t *forecasts_between(uint32_t src, uint32_t dst)
{
	const struct srpol_fabric *f = fabricd.fabric;
	uint64_t now = forecasts_now_ms();
	json_t *list = json_array();
	struct forecast_pairs pairs;
	struct srpol_forecast d;
	uint32_t i = 0;
	size_t at = 0;

	if (forecast_pairs_read(&pairs))
		return list;
	while (forecasts_next(&at, &i, &d)) {
		if (f->gpus[d.src].host != src || f->gpus[d.dst].host != dst ||
		    d.end_ms <= now)
			continue;
		json_array_append_new(list, json_pack(
			"{s:I, s:I, s:I, s:I, s:I, s:I, s:s}",
			"rail", (json_int_t)f->gpus[d.src].rail,
			"dst_rail", (json_int_t)f->gpus[d.dst].rail,
			"bytes", (json_int_t)d.bytes,
			"in_ms", (json_int_t)(d.start_ms > now ?
					      d.start_ms - now : 0),
			"left_ms", (json_int_t)(d.end_ms - now),
			"period_ms", (json_int_t)d.period_ms,
			"state", state_of(&pairs, &d, now)));
	}
	forecast_pairs_free(&pairs);
	return list;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int add_leaves(const struct srpol_demand *d, uint64_t *list, size_t *n)
{
	const struct srpol_fabric *f = fabricd.fabric;
	struct srpol_path_set set;
	uint32_t i;
	int ret = srpol_path_set_init(f, d->src, d->dst, &set);

	for (i = 0; !ret && i < set.pairs; i++)
		list[(*n)++] = (uint64_t)set.pair[i].fan.from << 32 |
			       set.pair[i].fan.to;
	if (!ret)
		srpol_path_set_free(&set);
	return ret;
}

/**
 * forecast_leaves() - find the pairs of leaves that have demands
 * @w: demands
 * @forecasts: use forecasts; otherwise demands of jobs
 * @list: result: the two nodes of each pair, sorted; to be freed
 * @n: number of pairs
 */
int forecast_leaves(const struct workload *w, bool forecasts, uint64_t **list,
		    size_t *n)
{
	uint32_t i;
	int ret;

	*n = 0;
	*list = calloc((size_t)w->demands.n * SRPOL_PLANES_MAX + 1,
		       sizeof(**list));
	ret = *list ? 0 : -ENOMEM;
	for (i = 0; i < w->demands.n && !ret; i++)
		if ((w->job[i] == SRPOL_NONE) == forecasts)
			ret = add_leaves(&w->demands.list[i], *list, n);
	if (!ret)
		qsort(*list, *n, sizeof(**list), by_number);
	return ret;
}

static bool has(const uint64_t *list, size_t n, uint64_t pair)
{
	return n && bsearch(&pair, list, n, sizeof(pair), by_number);
}

/**
 * forecast_sources() - whether a pair in the plan is due to jobs, forecasts or
 * both
 * @plan: plan
 * @pair: number of the pair in the plan
 * @jobs: pairs of leaves that jobs announce, sorted
 * @n_jobs: number of @jobs
 * @forecasts: pairs of leaves that hosts forecast, sorted
 * @n_forecasts: number of @forecasts
 *
 * A pair with a color belongs to a tenant: it is reserved, or of a job with its
 * own paths.
 */
json_t *forecast_sources(const struct srpol_plan *plan, uint32_t pair,
			 const uint64_t *jobs, size_t n_jobs,
			 const uint64_t *forecasts, size_t n_forecasts)
{
	uint64_t leaves = (uint64_t)plan->from[pair] << 32 | plan->to[pair];
	json_t *list = json_array();

	if (plan->color[pair] || has(jobs, n_jobs, leaves))
		json_array_append_new(list, json_string("jobs"));
	if (!plan->color[pair] && has(forecasts, n_forecasts, leaves))
		json_array_append_new(list, json_string("forecasts"));
	return list;
}
