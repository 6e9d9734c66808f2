// SPDX-License-Identifier: GPL-2.0
/*
 * Selects the forecasts that count: those between hosts for which no job
 * announces anything, from shortly before they begin until they end. They are
 * appended to the demands of jobs, with the color for demands without a tenant.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "forecasts.h"

#define NOBODY	1	/* color without a tenant, as in workload.c */

static uint64_t pair_of(const struct srpol_fabric *f, uint32_t src,
			uint32_t dst)
{
	return (uint64_t)f->gpus[src].host << 32 | f->gpus[dst].host;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static size_t unique(uint64_t *list, size_t n)
{
	size_t i, k = 0;

	for (i = 0; i < n; i++)
		if (!k || list[i] != list[k - 1])
			list[k++] = list[i];
	return k;
}

/**
 * forecast_pairs_read() - read the pairs of hosts that jobs announce
 * @pairs: result, to be freed
 */
int forecast_pairs_read(struct forecast_pairs *pairs)
{
	struct workload w;
	uint32_t i;
	int ret;

	*pairs = (struct forecast_pairs){};
	ret = workload_read(WORKLOAD_JOBS, NULL, &w);
	if (ret)
		return ret;
	pairs->list = calloc(w.demands.n + 1UL, sizeof(*pairs->list));
	for (i = 0; pairs->list && i < w.demands.n; i++)
		pairs->list[i] = pair_of(fabricd.fabric, w.demands.list[i].src,
					 w.demands.list[i].dst);
	if (pairs->list)
		qsort(pairs->list, w.demands.n, sizeof(*pairs->list),
		      by_number);
	pairs->n = pairs->list ? unique(pairs->list, w.demands.n) : 0;
	workload_free(&w);
	return pairs->list ? 0 : -ENOMEM;
}

/**
 * forecast_pairs_free() - free the pairs
 * @pairs: the pairs
 */
void forecast_pairs_free(struct forecast_pairs *pairs)
{
	free(pairs->list);
	*pairs = (struct forecast_pairs){};
}

/**
 * forecast_is_covered() - whether a job announces something between a
 * forecast's hosts
 * @pairs: pairs of hosts that jobs announce
 * @d: the forecast
 */
bool forecast_is_covered(const struct forecast_pairs *pairs,
			 const struct srpol_forecast *d)
{
	uint64_t pair = pair_of(fabricd.fabric, d->src, d->dst);

	return bsearch(&pair, pairs->list, pairs->n, sizeof(pair), by_number);
}

/**
 * forecast_is_due() - whether a forecast is to be planned for now
 * @d: the forecast
 * @now_ms: milliseconds since 1970
 */
bool forecast_is_due(const struct srpol_forecast *d, uint64_t now_ms)
{
	return d->start_ms <= now_ms + FORECAST_LEAD_MS && d->end_ms > now_ms;
}

static int append(struct workload *w, const struct srpol_forecast *d)
{
	struct srpol_demands *to = &w->demands;
	uint32_t room = to->n + to->n / 2 + 64;
	void *list, *job;

	if (to->n >= w->room || to->n >= to->room) {
		list = realloc(to->list, room * sizeof(*to->list));
		if (list)
			to->list = list;
		job = realloc(w->job, room * sizeof(*w->job));
		if (job)
			w->job = job;
		if (!list || !job)
			return -ENOMEM;
		to->room = w->room = room;
	}
	w->job[to->n] = SRPOL_NONE;
	to->list[to->n++] = (struct srpol_demand){
		.src = d->src, .dst = d->dst, .bytes = d->bytes,
		.color = NOBODY,
	};
	return 0;
}

/**
 * forecasts_add() - append the forecasts that count
 * @w: demands of jobs; forecasts are appended with job SRPOL_NONE
 * @count: whether this is for the plan, so that counters are updated
 */
int forecasts_add(struct workload *w, bool count)
{
	uint64_t now = forecasts_now_ms(), covered = 0, planned = 0;
	struct forecast_pairs pairs;
	struct srpol_forecast d;
	double bytes = 0;
	uint32_t i = 0;
	size_t at = 0;
	int ret;

	/* without forecasts, do not read the jobs */
	if (!forecasts_next(&at, &i, &d)) {
		if (count)
			forecasts_planned(0, 0, 0);
		return 0;
	}
	ret = forecast_pairs_read(&pairs);
	at = i = 0;
	while (!ret && forecasts_next(&at, &i, &d)) {
		if (!forecast_is_due(&d, now))
			continue;
		if (forecast_is_covered(&pairs, &d)) {
			covered++;
			continue;
		}
		ret = append(w, &d);
		planned++;
		bytes += d.bytes;
	}
	forecast_pairs_free(&pairs);
	if (count)
		forecasts_planned(planned, covered, bytes);
	return ret;
}
