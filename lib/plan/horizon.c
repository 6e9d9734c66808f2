// SPDX-License-Identifier: LGPL-2.1
/*
 * Time is divided into ticks. A demand that begins within a tick counts from
 * the start of that tick, and one that ends within a tick counts until the end
 * of it. So even a short demand is never missed, and loads are computed at most
 * once per tick.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "horizon.h"
#include "ledger.h"

#define NEVER	UINT32_MAX

/**
 * struct walk - state while time passes from now to the last horizon
 * @first: by demand: tick at which it begins; NEVER: its rate is unknown
 * @last: by demand: tick at which it has ended
 * @some: scratch: demands that begin or end at one tick
 * @change: scratch: load of @some by directed link
 * @load: present load in bit/s by directed link
 * @n: tick of the last horizon
 * @busy: by tick: some demand begins or ends there
 * @active: number of demands that are sending
 */
struct walk {
	uint32_t *first;
	uint32_t *last;
	struct srpol_demand *some;
	double *change;
	double *load;
	uint32_t n;
	bool *busy;
	uint32_t active;
};

static uint32_t tick_of(double seconds, bool up)
{
	double ticks = seconds * SRPOL_HORIZON_TICKS;

	/* doubles cannot represent a tenth of a second exactly */
	ticks = up ? ceil(ticks - 1e-6) : floor(ticks + 1e-6);
	return ticks < NEVER ? ticks : NEVER;
}

static int walk_begin(struct walk *w, const struct srpol_outlook *o)
{
	size_t links = o->fabric->n_links + 1UL;
	uint32_t i;

	w->first = calloc(o->n + 1UL, sizeof(*w->first));
	w->last = calloc(o->n + 1UL, sizeof(*w->last));
	w->some = calloc(o->n + 1UL, sizeof(*w->some));
	w->change = calloc(links, sizeof(*w->change));
	w->load = calloc(links, sizeof(*w->load));
	w->n = o->n_horizons ?
	       tick_of(o->horizons[o->n_horizons - 1].at, false) : 0;
	w->busy = calloc(w->n + 1UL, sizeof(*w->busy));
	if (!w->first || !w->last || !w->some || !w->change || !w->load ||
	    !w->busy)
		return -ENOMEM;
	for (i = 0; i < o->n; i++) {
		w->first[i] = o->timed[i].rate ?
			      tick_of(o->timed[i].start, false) : NEVER;
		w->last[i] = tick_of(o->timed[i].end, true);
		if (w->first[i] <= w->n)
			w->busy[w->first[i]] = true;
		if (w->last[i] <= w->n)
			w->busy[w->last[i]] = true;
	}
	if (o->base)
		memcpy(w->load, o->base,
		       o->fabric->n_links * sizeof(*w->load));
	return 0;
}

static void walk_free(struct walk *w)
{
	free(w->first);
	free(w->last);
	free(w->some);
	free(w->change);
	free(w->load);
	free(w->busy);
}

/*
 * Puts the demands that begin or end at a tick in @some; returns their number.
 */
static uint32_t collect(struct walk *w, const struct srpol_outlook *o,
			uint32_t tick, bool ends)
{
	uint32_t n = 0, i;

	for (i = 0; i < o->n; i++) {
		if (w->first[i] == NEVER || w->first[i] >= w->last[i] ||
		    (ends ? w->last[i] : w->first[i]) != tick)
			continue;
		w->some[n] = o->timed[i].demand;
		w->some[n++].bytes = o->timed[i].rate;
	}
	return n;
}

static int change(struct walk *w, const struct srpol_outlook *o, uint32_t n,
		  int sign)
{
	uint32_t i;
	int ret;

	if (!n)
		return 0;
	memset(w->change, 0, o->fabric->n_links * sizeof(*w->change));
	ret = srpol_planned_load(o->fabric, o->links, o->plan, w->some, n,
				 w->change);
	for (i = 0; i < o->fabric->n_links && !ret; i++)
		w->load[i] += sign * w->change[i];
	w->active += sign * (int)n;
	return ret;
}

static double part_of(const struct srpol_outlook *o, const double *load,
		      uint32_t link)
{
	uint64_t capacity = o->links->links[link].capacity;

	/* adding and subtracting a load leaves a rounding error */
	if (load[link] < 0.5)
		return 0;
	return capacity ? load[link] / capacity : INFINITY;
}

/*
 * The link with the highest relative load, and the number of overloaded links.
 */
static uint32_t look(const struct srpol_outlook *o, const double *load,
		     uint32_t *overloaded)
{
	uint32_t hottest = SRPOL_NONE, i;
	double part, most = 0;

	*overloaded = 0;
	for (i = 0; i < o->fabric->n_links; i++) {
		part = part_of(o, load, i);
		*overloaded += part > 0 &&
			       !srpol_load_fits(load[i],
						o->links->links[i].capacity);
		if (part > most) {
			most = part;
			hottest = i;
		}
	}
	return hottest;
}

static void take_tick(struct srpol_outlook *o, const struct walk *w,
		      uint32_t tick, uint32_t *at)
{
	struct srpol_horizon *h;
	uint32_t overloaded, hottest = look(o, w->load, &overloaded);

	if (overloaded && o->link == SRPOL_NONE) {
		o->link = hottest;
		o->when = (double)tick / SRPOL_HORIZON_TICKS;
		o->load = w->load[hottest];
	}
	for (; *at < o->n_horizons; ++*at) {
		h = &o->horizons[*at];
		if (tick_of(h->at, false) != tick)
			break;
		h->active = w->active;
		h->overloaded = overloaded;
		h->hottest = hottest;
		memcpy(h->load, w->load,
		       o->fabric->n_links * sizeof(*h->load));
	}
}

static int walk(struct srpol_outlook *o)
{
	struct walk w = {};
	int ret = walk_begin(&w, o);
	uint32_t tick, at = 0;

	for (tick = 0; at < o->n_horizons && !ret; tick++) {
		if (w.busy[tick])
			ret = change(&w, o, collect(&w, o, tick, true), -1) ?:
			      change(&w, o, collect(&w, o, tick, false), 1);
		if (!ret && (!tick || w.busy[tick] ||
			     tick_of(o->horizons[at].at, false) == tick))
			take_tick(o, &w, tick, &at);
	}
	walk_free(&w);
	return ret;
}

/* Computes when demands will have been sent. */
static int complete(struct srpol_outlook *o)
{
	struct srpol_demand *demands = calloc(o->n + 1UL, sizeof(*demands));
	double *start = calloc(o->n + 1UL, sizeof(*start));
	int ret = demands && start ? 0 : -ENOMEM;
	uint32_t i, h;

	for (i = 0; i < o->n && !ret; i++) {
		demands[i] = o->timed[i].demand;
		start[i] = o->timed[i].start;
	}
	ret = ret ?: srpol_completion_from(o->fabric, o->links, o->plan,
					   demands, o->n, start, o->finish);
	for (h = 0; h < o->n_horizons && !ret; h++)
		for (i = 0; i < o->n; i++)
			o->horizons[h].ended += o->finish[i] <=
						o->horizons[h].at;
	free(demands);
	free(start);
	return ret;
}

/**
 * srpol_outlook_run() - predict loads and the end of demands
 * @o: input and results
 *
 * Return: 0, -EINVAL for a plan of another fabric or a GPU that does not exist,
 * -ENOMEM. The caller calls srpol_outlook_free() also after an error.
 */
int srpol_outlook_run(struct srpol_outlook *o)
{
	uint32_t i;
	int ret;

	o->link = SRPOL_NONE;
	o->finish = calloc(o->n + 1UL, sizeof(*o->finish));
	ret = o->finish ? 0 : -ENOMEM;
	for (i = 0; i < o->n_horizons; i++) {
		o->horizons[i].load = calloc(o->fabric->n_links + 1UL,
					     sizeof(double));
		ret = o->horizons[i].load ? ret : -ENOMEM;
	}
	for (i = 0; i < o->n; i++)
		o->untimed += !o->timed[i].rate;
	ret = ret ?: walk(o) ?: o->no_finish ? 0 : complete(o);
	if (ret != -E2BIG)
		return ret;
	o->no_finish = true;
	return 0;
}

/**
 * srpol_outlook_free() - free the results of srpol_outlook_run()
 * @o: outlook
 */
void srpol_outlook_free(struct srpol_outlook *o)
{
	uint32_t i;

	for (i = 0; i < o->n_horizons; i++)
		free(o->horizons[i].load);
	free(o->finish);
}
