// SPDX-License-Identifier: LGPL-2.1
/*
 * Weighted max-min fairness (Bertsekas, Gallager: Data Networks 6.5.2) for
 * flows that use several links, each with a part of their rate. All rates grow
 * together, in proportion to the flows' weights, until a link is full. The
 * rates of the flows on this link are then fixed, and the others go on growing.
 * The level of a flow is its rate divided by its weight.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alg.h"

/*
 * Tolerance for rounding errors: links whose levels differ relatively by no
 * more than this are full at the same time, and a flow has ended when no more
 * than this part of its bytes is left.
 */
#define SAME	1e-9

/**
 * struct filling - state that is kept between computations of rates
 * @net: the network
 * @first: by link: index of its first flow in @user
 * @user: flows of each link
 * @growth: by link: increase of its load per unit of level
 * @fixed: by link: load of the flows whose rate is fixed
 * @open: by link: number of uses by flows whose rate is not fixed
 * @heap: min-heap, by level, of links that have open uses
 * @level: by link: level at which it is full, as last computed; the true level
 *	may have become higher, never lower
 * @n_heap: number of links in @heap
 * @rate: result, by flow; negative: not fixed yet
 */
struct filling {
	const struct srpol_maxmin *net;
	uint32_t *first;
	uint32_t *user;
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
	s->growth = malloc((net->n_links + 1UL) * sizeof(*s->growth));
	s->fixed = malloc((net->n_links + 1UL) * sizeof(*s->fixed));
	s->open = malloc((net->n_links + 1UL) * sizeof(*s->open));
	s->heap = malloc((net->n_links + 1UL) * sizeof(*s->heap));
	s->level = malloc((net->n_links + 1UL) * sizeof(*s->level));
	if (!s->first || !s->user || !s->growth || !s->fixed ||
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
			s->user[s->first[l + 1]++] = f;
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

/*
 * Makes a flow grow with the others (@open is 1), or stops this (@open is -1).
 */
static void open_flow(struct filling *s, uint32_t f, int open)
{
	const struct srpol_maxmin *net = s->net;
	double weight = open * weight_of(net, f);
	uint32_t i;

	for (i = net->first[f]; i < net->first[f + 1]; i++) {
		s->growth[net->link[i]] += net->part[i] * weight;
		s->open[net->link[i]] += open;
	}
}

/*
 * Adds the rate of a flow to the load of its links, or removes it (@sign is
 * -1).
 */
static void count_flow(struct filling *s, uint32_t f, int sign)
{
	const struct srpol_maxmin *net = s->net;
	double rate = sign * s->rate[f];
	uint32_t i;

	for (i = net->first[f]; i < net->first[f + 1]; i++)
		s->fixed[net->link[i]] += net->part[i] * rate;
}

static void fix_flow(struct filling *s, uint32_t f, double level)
{
	open_flow(s, f, -1);
	s->rate[f] = level * weight_of(s->net, f);
	count_flow(s, f, 1);
}

/* Starts from scratch: no flow has a rate. */
static void fill_start(struct filling *s, const uint8_t *active)
{
	const struct srpol_maxmin *net = s->net;
	uint32_t f;

	memset(s->growth, 0, net->n_links * sizeof(*s->growth));
	memset(s->fixed, 0, net->n_links * sizeof(*s->fixed));
	memset(s->open, 0, net->n_links * sizeof(*s->open));
	for (f = 0; f < net->n_flows; f++) {
		s->rate[f] = active && !active[f] ? 0 : -1;
		if (!s->rate[f])
			continue;
		if (net->first[f] == net->first[f + 1])
			s->rate[f] = INFINITY;
		else
			open_flow(s, f, 1);
	}
}

/* Builds the heap of links that have open uses. */
static void heap_build(struct filling *s)
{
	uint32_t l, i;

	s->n_heap = 0;
	for (l = 0; l < s->net->n_links; l++) {
		if (!s->open[l])
			continue;
		s->level[l] = full_at(s, l);
		s->heap[s->n_heap++] = l;
	}
	for (i = s->n_heap / 2; i--; )
		heap_down(s, i);
}

/* Lets all open flows grow until their rates are fixed. */
static void fill(struct filling *s)
{
	double level;
	uint32_t l, i;

	heap_build(s);
	while (s->n_heap) {
		l = s->heap[0];
		level = s->open[l] ? full_at(s, l) : INFINITY;
		if (s->open[l] && level > s->level[l] * (1 + SAME)) {
			/* some of its flows were fixed meanwhile */
			s->level[l] = level;
			heap_down(s, 0);
			continue;
		}
		for (i = s->first[l]; s->open[l] && i < s->first[l + 1]; i++)
			if (s->rate[s->user[i]] < 0)
				fix_flow(s, s->user[i], s->level[l]);
		/* discard what rounding errors left */
		s->growth[l] = 0;
		s->heap[0] = s->heap[--s->n_heap];
		if (s->n_heap)
			heap_down(s, 0);
	}
}

/**
 * srpol_maxmin_rates() - compute the rates at one moment
 * @net: network
 * @active: by flow: 0 if it does not send; NULL: all flows send
 * @rate: result, by flow: bytes/s; INFINITY for a flow without links
 *
 * O(u + r log L) with u uses, L links, and r the number of times that a link
 * turned out to be full later than the heap said.
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
	fill_start(&s, active);
	fill(&s);
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

/*
 * Lets @step seconds pass, and takes flows that end off their links. Returns
 * the lowest level of these flows: up to this level all flows grew in the same
 * way as they would have without the ended ones, so flows that were fixed at a
 * lower level keep their rates.
 */
static double advance(struct filling *s, struct srpol_maxmin_run *run,
		      const double *whole, uint8_t *active, double now,
		      double step)
{
	double *rate = s->rate, least = INFINITY, level;
	uint32_t f;

	for (f = 0; f < s->net->n_flows; f++) {
		if (!active[f] || !(rate[f] > 0))
			continue;
		if (rate[f] == INFINITY ||
		    run->left[f] - rate[f] * step <= whole[f] * SAME) {
			level = rate[f] / weight_of(s->net, f);
			least = level < least ? level : least;
			if (rate[f] < INFINITY)
				count_flow(s, f, -1);
			rate[f] = 0;
			run->left[f] = 0;
			run->finish[f] = now + step;
			active[f] = 0;
		} else {
			run->left[f] -= rate[f] * step;
		}
	}
	return least;
}

/* Lets flows at or above a level grow anew. */
static void reopen(struct filling *s, const uint8_t *active, double level)
{
	uint32_t f;

	for (f = 0; f < s->net->n_flows; f++) {
		if (!active[f] || s->rate[f] == INFINITY ||
		    s->rate[f] < level * weight_of(s->net, f) * (1 - SAME))
			continue;
		count_flow(s, f, -1);
		s->rate[f] = -1;
		open_flow(s, f, 1);
	}
}

/* Starts the flows that are due; returns when the next one starts. */
static double start_flows(struct srpol_maxmin_run *run, uint32_t n,
			  uint8_t *active, double now, bool *changed)
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
		if (run->left[f] > 0) {
			active[f] = 1;
			*changed = true;
		} else {
			run->finish[f] = t > run->from ? t : run->from;
		}
	}
	return next;
}

/*
 * Applies the events that are due; returns the number of events applied so far.
 */
static uint32_t apply_events(struct srpol_maxmin *net,
			     const struct srpol_maxmin_run *run, uint32_t event,
			     double now)
{
	for (; event < run->n_events && run->events[event].time <= now; event++)
		net->capacity[run->events[event].link] =
			run->events[event].capacity;
	return event;
}

static int run_flows(struct filling *s, struct srpol_maxmin *net,
		     struct srpol_maxmin_run *run, const double *whole,
		     uint8_t *active)
{
	double now = run->from, next, step, level = 0;
	uint32_t event = 0, before;
	bool anew;

	for (;;) {
		anew = !run->fillings;
		next = start_flows(run, net->n_flows, active, now, &anew);
		before = event;
		event = apply_events(net, run, event, now);
		if (event < run->n_events && run->events[event].time < next)
			next = run->events[event].time;
		if (run->until < next)
			next = run->until;
		if (anew || event != before)
			fill_start(s, active);
		else
			reopen(s, active, level);
		fill(s);
		run->fillings++;
		if (run->effort && (uint64_t)run->fillings * net->n_flows > run->effort)
			return -E2BIG;
		step = next_step(run, net->n_flows, active, s->rate, now, next);
		if (step == INFINITY)
			break;	/* nothing moves, and nothing will change */
		level = advance(s, run, whole, active, now, step);
		now += step;
		if (now >= run->until)
			break;
	}
	run->now = now;
	return 0;
}

/**
 * srpol_maxmin_run() - simulate flows until all have ended or @run->until is
 *	reached
 * @net: the network; events change its capacities
 * @run: the flows, the events, and the results
 *
 * Rates are computed at every time at which a flow ends or starts or a link
 * changes. A flow that can never send all its bytes ends at INFINITY.
 *
 * Return: 0, -ENOMEM, -E2BIG: more than @run->effort; there is no result then.
 */
int srpol_maxmin_run(struct srpol_maxmin *net, struct srpol_maxmin_run *run)
{
	size_t size = (net->n_flows + 1UL) * sizeof(double);
	uint8_t *active = calloc(net->n_flows + 1UL, 1);
	double *whole = malloc(size);
	struct filling s;
	uint32_t f;
	int rc;

	rc = active && whole ? filling_init(&s, net) : -ENOMEM;
	if (rc)
		goto out;
	memcpy(whole, run->left, net->n_flows * sizeof(*whole));
	s.rate = malloc(size);
	run->fillings = 0;
	for (f = 0; f < net->n_flows; f++)
		run->finish[f] = INFINITY;
	rc = s.rate ? run_flows(&s, net, run, whole, active) : -ENOMEM;
	free(s.rate);
	filling_free(&s);
out:
	free(active);
	free(whole);
	return rc;
}
