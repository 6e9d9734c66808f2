// SPDX-License-Identifier: LGPL-2.1
/*
 * Weighted max-min fairness (Bertsekas, Gallager: Data Networks 6.5.2) of
 * flows that use several links, each to a part of their rate: all rates grow
 * together, in proportion to weights, until a link is full; its flows are
 * fixed, the others go on.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alg.h"

/* Flows that end this close to each other end together: their times are rounded. */
#define SAME_TIME	1e-9

/**
 * struct filling - what is kept between computations of rates
 * @net: network
 * @first: by link, of @user
 * @user: flows per link
 * @use: numbers of these uses
 * @growth: by link: what its load grows by per unit of level
 * @fixed: by link: load of flows that are fixed
 * @open: by link: uses by flows that are not
 * @heap: links by the level at which they are full
 * @level: by link: that level, as last known; it never gets lower
 * @n_heap: entries
 * @rate: result, by flow; below 0: not fixed yet
 */
struct filling {
	const struct srpol_maxmin *net;
	uint32_t *first;
	uint32_t *user;
	uint32_t *use;
	double *growth;
	double *fixed;
	uint32_t *open;
	uint32_t *heap;
	double *level;
	uint32_t n_heap;
	double *rate;
};

static void filling_free(struct filling *s)
{
	free(s->first);
	free(s->user);
	free(s->use);
	free(s->growth);
	free(s->fixed);
	free(s->open);
	free(s->heap);
	free(s->level);
}

static int filling_init(struct filling *s, const struct srpol_maxmin *net)
{
	uint32_t uses = net->first[net->n_flows], f, i, l;

	*s = (struct filling){ .net = net };
	s->first = calloc(net->n_links + 2UL, sizeof(*s->first));
	s->user = malloc((uses + 1UL) * sizeof(*s->user));
	s->use = malloc((uses + 1UL) * sizeof(*s->use));
	s->growth = malloc((net->n_links + 1UL) * sizeof(*s->growth));
	s->fixed = malloc((net->n_links + 1UL) * sizeof(*s->fixed));
	s->open = malloc((net->n_links + 1UL) * sizeof(*s->open));
	s->heap = malloc((net->n_links + 1UL) * sizeof(*s->heap));
	s->level = malloc((net->n_links + 1UL) * sizeof(*s->level));
	if (!s->first || !s->user || !s->use || !s->growth || !s->fixed ||
	    !s->open || !s->heap || !s->level) {
		filling_free(s);
		return -ENOMEM;
	}
	for (i = 0; i < uses; i++)
		s->first[net->link[i] + 2]++;
	for (l = 1; l < net->n_links + 1; l++)
		s->first[l + 1] += s->first[l];
	for (f = 0; f < net->n_flows; f++) {
		for (i = net->first[f]; i < net->first[f + 1]; i++) {
			l = net->link[i];
			s->user[s->first[l + 1]] = f;
			s->use[s->first[l + 1]++] = i;
		}
	}
	return 0;
}

static void heap_down(struct filling *s, uint32_t i)
{
	uint32_t child, l = s->heap[i];

	for (; 2 * i + 1 < s->n_heap; i = child) {
		child = 2 * i + 1;
		if (child + 1 < s->n_heap &&
		    s->level[s->heap[child + 1]] < s->level[s->heap[child]])
			child++;
		if (s->level[l] <= s->level[s->heap[child]])
			break;
		s->heap[i] = s->heap[child];
	}
	s->heap[i] = l;
}

static double full_at(const struct filling *s, uint32_t l)
{
	double room = s->net->capacity[l] - s->fixed[l];

	return room > 0 ? room / s->growth[l] : 0;
}

static double weight_of(const struct srpol_maxmin *net, uint32_t f)
{
	return net->weight ? net->weight[f] : 1;
}

/* A flow's rate is fixed: what it adds to its links does not grow any more. */
static void fix_flow(struct filling *s, uint32_t f, double level)
{
	const struct srpol_maxmin *net = s->net;
	double weight = weight_of(net, f), part;
	uint32_t i;

	s->rate[f] = level * weight;
	for (i = net->first[f]; i < net->first[f + 1]; i++) {
		part = net->part[i];
		s->growth[net->link[i]] -= part * weight;
		s->fixed[net->link[i]] += part * s->rate[f];
		s->open[net->link[i]]--;
	}
}

/* Load and growth of links before anything is fixed; links with flows. */
static void fill_start(struct filling *s, const uint8_t *active)
{
	const struct srpol_maxmin *net = s->net;
	uint32_t f, i, l;

	memset(s->growth, 0, net->n_links * sizeof(*s->growth));
	memset(s->fixed, 0, net->n_links * sizeof(*s->fixed));
	memset(s->open, 0, net->n_links * sizeof(*s->open));
	for (f = 0; f < net->n_flows; f++) {
		s->rate[f] = active && !active[f] ? 0 : -1;
		if (!s->rate[f])
			continue;
		for (i = net->first[f]; i < net->first[f + 1]; i++) {
			s->growth[net->link[i]] += net->part[i] *
						   weight_of(net, f);
			s->open[net->link[i]]++;
		}
		if (net->first[f] == net->first[f + 1])
			s->rate[f] = INFINITY;
	}
	s->n_heap = 0;
	for (l = 0; l < net->n_links; l++) {
		if (!s->open[l])
			continue;
		s->level[l] = full_at(s, l);
		s->heap[s->n_heap++] = l;
	}
	for (i = s->n_heap / 2; i--; )
		heap_down(s, i);
}

static void fill(struct filling *s, const uint8_t *active)
{
	uint32_t l, i;
	double level;

	fill_start(s, active);
	while (s->n_heap) {
		l = s->heap[0];
		level = s->open[l] ? full_at(s, l) : INFINITY;
		if (s->open[l] && level > s->level[l] * (1 + 1e-12)) {
			/* others of its flows were fixed meanwhile */
			s->level[l] = level;
			heap_down(s, 0);
			continue;
		}
		for (i = s->first[l]; s->open[l] && i < s->first[l + 1]; i++)
			if (s->rate[s->user[i]] < 0)
				fix_flow(s, s->user[i], s->level[l]);
		s->heap[0] = s->heap[--s->n_heap];
		if (s->n_heap)
			heap_down(s, 0);
	}
}

/**
 * srpol_maxmin_rates() - rates at one moment
 * @net: network
 * @active: by flow, 0 for those that do not send; NULL: all do
 * @rate: result, bytes/s by flow; INFINITY for a flow without links
 *
 * O(u log L) with u uses and L links, and O(L) passes over a link's flows.
 *
 * Return: 0, -ENOMEM.
 */
int srpol_maxmin_rates(const struct srpol_maxmin *net, const uint8_t *active,
		       double *rate)
{
	struct filling s;
	int rc;

	rc = filling_init(&s, net);
	if (rc)
		return rc;
	s.rate = rate;
	fill(&s, active);
	filling_free(&s);
	return 0;
}

/* Seconds from @now until a flow ends or something changes. */
static double next_step(const struct srpol_maxmin_run *run, uint32_t n,
			const uint8_t *active, const double *rate, double now,
			double change)
{
	double step = change - now;
	uint32_t f;

	for (f = 0; f < n; f++)
		if (active[f] && rate[f] > 0 && run->left[f] / rate[f] < step)
			step = run->left[f] / rate[f];
	return step > 0 ? step : 0;
}

/* @step seconds pass. */
static void advance(struct srpol_maxmin_run *run, uint32_t n,
		    uint8_t *active, const double *rate, double now, double step)
{
	uint32_t f;

	for (f = 0; f < n; f++) {
		if (!active[f] || !(rate[f] > 0))
			continue;
		if (rate[f] == INFINITY ||
		    run->left[f] <= rate[f] * step * (1 + SAME_TIME)) {
			run->left[f] = 0;
			run->finish[f] = now + step;
			active[f] = 0;
		} else {
			run->left[f] -= rate[f] * step;
		}
	}
}

/* Flows whose time has come; the next one's time. */
static double start_flows(struct srpol_maxmin_run *run, uint32_t n,
			  uint8_t *active, double now)
{
	double next = INFINITY, t;
	uint32_t f;

	for (f = 0; f < n; f++) {
		if (active[f] || run->finish[f] != INFINITY)
			continue;
		t = run->start ? run->start[f] : 0;
		if (t > now) {
			next = t < next ? t : next;
			continue;
		}
		if (run->left[f] > 0)
			active[f] = 1;
		else
			run->finish[f] = t > run->from ? t : run->from;
	}
	return next;
}

static void run_flows(struct filling *s, struct srpol_maxmin *net,
		      struct srpol_maxmin_run *run, uint8_t *active)
{
	double now = run->from, next, step;
	uint32_t event = 0;

	for (;;) {
		next = start_flows(run, net->n_flows, active, now);
		for (; event < run->n_events &&
		       run->events[event].time <= now; event++)
			net->capacity[run->events[event].link] =
				run->events[event].capacity;
		if (event < run->n_events && run->events[event].time < next)
			next = run->events[event].time;
		if (run->until < next)
			next = run->until;
		fill(s, active);
		run->fillings++;
		step = next_step(run, net->n_flows, active, s->rate, now, next);
		if (step == INFINITY)
			break;	/* nothing moves, and nothing will change */
		advance(run, net->n_flows, active, s->rate, now, step);
		now += step;
		if (now >= run->until)
			break;
	}
	run->now = now;
}

/**
 * srpol_maxmin_run() - flows in time, until all ended or @run->until
 * @net: network; capacities are changed by events
 * @run: what flows have to send, what happens meanwhile, and when they end
 *
 * A computation of rates for every time at which flows end or start or a link
 * changes. Flows that are stuck for ever end at INFINITY.
 *
 * Return: 0, -ENOMEM.
 */
int srpol_maxmin_run(struct srpol_maxmin *net, struct srpol_maxmin_run *run)
{
	uint8_t *active = calloc(net->n_flows + 1UL, 1);
	struct filling s;
	uint32_t f;
	int rc;

	if (!active)
		return -ENOMEM;
	rc = filling_init(&s, net);
	if (rc)
		goto out;
	s.rate = malloc((net->n_flows + 1UL) * sizeof(*s.rate));
	run->fillings = 0;
	for (f = 0; f < net->n_flows; f++)
		run->finish[f] = INFINITY;
	if (s.rate)
		run_flows(&s, net, run, active);
	else
		rc = -ENOMEM;
	free(s.rate);
	filling_free(&s);
out:
	free(active);
	return rc;
}
