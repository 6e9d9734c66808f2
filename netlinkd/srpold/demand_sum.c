// SPDX-License-Identifier: GPL-2.0
/*
 * The forecasts of a host, from its demands: demands of several owners for the
 * same pair of GPUs, with the same period and overlapping times, become one.
 * Owners and jobs are not passed on.
 */
#include <stdlib.h>
#include <string.h>

#include "demand.h"

#define BYTES_MAX	(UINT64_C(1) << 53)
#define NS_PER_MS	1000000ull

static int by_pair(const void *a, const void *b)
{
	const struct srpol_forecast *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	if (x->period_ms != y->period_ms)
		return x->period_ms < y->period_ms ? -1 : 1;
	return (x->start_ms > y->start_ms) - (x->start_ms < y->start_ms);
}

static bool overlaps(const struct srpol_forecast *a,
		     const struct srpol_forecast *b)
{
	return a->src == b->src && a->dst == b->dst &&
	       a->period_ms == b->period_ms && b->start_ms <= a->end_ms;
}

/* Limit the length of a forecast to what may be announced. */
static void clip(struct srpol_forecast *d)
{
	if (d->end_ms > d->start_ms + SRPOL_FORECAST_MS_MAX)
		d->end_ms = d->start_ms + SRPOL_FORECAST_MS_MAX;
}

static void join(struct srpol_forecast *to, const struct srpol_forecast *more)
{
	to->bytes += more->bytes;
	if (to->bytes >= BYTES_MAX)
		to->bytes = BYTES_MAX - 1;
	if (more->end_ms > to->end_ms)
		to->end_ms = more->end_ms;
	clip(to);
}

/* A demand as a forecast, with times of the wall clock. */
static struct srpol_forecast one_of(const struct demand *d, uint64_t now_ns,
				    uint64_t now_ms)
{
	struct srpol_forecast one = {
		.src = d->demand.src, .dst = d->demand.dst,
		.bytes = d->demand.bytes, .period_ms = d->period_ms,
		.start_ms = d->from_ns < now_ns ?
			    now_ms - (now_ns - d->from_ns) / NS_PER_MS :
			    now_ms + (d->from_ns - now_ns) / NS_PER_MS,
		.end_ms = now_ms + (d->until_ns - now_ns) / NS_PER_MS + 1,
	};

	clip(&one);
	return one;
}

/**
 * demands_sum() - sum up a host's demands as forecasts
 * @ds: demands, none of which is over
 * @fabric: finished fabric
 * @host: node of the host
 * @now_ns: current time, by the clock of @ds
 * @now_ms: current time in milliseconds since 1970
 * @sum: result, to be freed; its list is NULL without memory
 *
 * Traffic within the host, or of other hosts, is not included.
 */
void demands_sum(const struct demands *ds, const struct srpol_fabric *fabric,
		 uint32_t host, uint64_t now_ns, uint64_t now_ms,
		 struct srpol_forecasts *sum)
{
	struct srpol_forecast *list;
	const struct demand *d;
	uint32_t n = 0, i, k = 0;

	*sum = (struct srpol_forecasts){};
	list = calloc(ds->all.n + 1, sizeof(*list));
	if (!list)
		return;
	vec_for_each(d, &ds->all)
		if (fabric->gpus[d->demand.src].host == host &&
		    fabric->gpus[d->demand.dst].host != host)
			list[n++] = one_of(d, now_ns, now_ms);
	qsort(list, n, sizeof(*list), by_pair);
	for (i = 0; i < n; i++) {
		if (k && overlaps(&list[k - 1], &list[i]))
			join(&list[k - 1], &list[i]);
		else
			list[k++] = list[i];
	}
	sum->list = list;
	sum->n = k;
}
