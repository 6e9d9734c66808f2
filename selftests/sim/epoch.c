// SPDX-License-Identifier: GPL-2.0
/*
 * Baselines that change their paths while flows run, as fluids in epochs of a
 * fiftieth of the bound. What each sees and does at the end of an epoch:
 *
 * flowlet	with probability 1/4 a flow pauses long enough to take another
 *		path at random (LetFlow); a flow is on one path at a time
 * adaptive	the leaf sees the load of its own links upwards, and moves
 *		weight to those that are emptier; it cannot see further
 * reps		the sender keeps path keys whose packets came back unmarked and
 *		draws others anew: paths over a full link lose half their weight
 * mrc		one pool of bytes, every path takes from it as fast as it can
 *		carry: a path's weight is the rate it got
 *
 * Rates within an epoch are max-min fair (lib/alg). These are models of the
 * ideas, not of products: reaction in one epoch, no loss, no reordering cost,
 * which flatters them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define EPOCHS_PER_BOUND	50
#define EPOCHS_MAX		2000
#define FLOWLET_GAP		0.25
#define FULL			0.999
#define KEEP			0.5
#define WEIGHT_MIN		0.001	/* of an even share: keys are drawn anew */

/**
 * struct epochs - flows with weights per path
 * @r: scenario
 * @p: all usable paths of every demand, as shares
 * @paths: links of every share
 * @w: weight by share; those of a demand add up to 1
 * @rate: bytes/s by share, in this epoch
 * @left: bytes by demand
 * @load: bytes/s by link, in this epoch
 * @net: the flows of this epoch
 * @owner: by flow of @net: a demand, or a share
 * @flow_rate: by flow of @net
 */
struct epochs {
	const struct rig *r;
	struct srpol_placement *p;
	struct srpol_fluid *paths;
	double *w;
	double *rate;
	double *left;
	double *load;
	struct srpol_maxmin net;
	uint32_t *owner;
	double *flow_rate;
	uint32_t *first;
	uint32_t *link;
	double *part;
};

static void *room(size_t n, size_t size)
{
	void *p = calloc(n + 2, size);

	if (!p)
		die("no memory");
	return p;
}

static void epochs_up(struct epochs *e, const struct rig *r)
{
	struct srpol_alg_input in = rig_input(r);
	uint32_t d, i, shares, uses;

	*e = (struct epochs){ .r = r };
	e->p = scheme_place(r, SCHEME_SPRAY, 0);
	e->paths = srpol_fluid_new(&in, e->p, false, NULL);
	if (!e->paths)
		die("no memory");
	shares = e->paths->net.n_flows;
	uses = e->paths->first[shares];
	e->w = room(shares, sizeof(*e->w));
	e->rate = room(shares, sizeof(*e->rate));
	e->left = room(r->n, sizeof(*e->left));
	e->load = room(r->f->n_links, sizeof(*e->load));
	e->owner = room(shares, sizeof(*e->owner));
	e->flow_rate = room(shares, sizeof(*e->flow_rate));
	e->first = room(shares, sizeof(*e->first));
	e->link = room(uses, sizeof(*e->link));
	e->part = room(uses, sizeof(*e->part));
	e->net = e->paths->net;
	e->net.first = e->first;
	e->net.link = e->link;
	e->net.part = e->part;
	for (d = 0; d < r->n; d++) {
		if (e->p->first[d] < e->p->first[d + 1])
			e->left[d] = r->demands[d].bytes;
		for (i = e->p->first[d]; i < e->p->first[d + 1]; i++)
			e->w[i] = 1.0 / (e->p->first[d + 1] - e->p->first[d]);
	}
}

static void epochs_down(struct epochs *e)
{
	srpol_placement_free(e->p);
	srpol_fluid_free(e->paths);
	free(e->w);
	free(e->rate);
	free(e->left);
	free(e->load);
	free(e->owner);
	free(e->flow_rate);
	free(e->first);
	free(e->link);
	free(e->part);
}

/* The links of a share, for the flow that is being added. */
static void add_share(struct epochs *e, uint32_t share, double part)
{
	uint32_t i, *end = &e->first[e->net.n_flows + 1];

	for (i = e->paths->first[share]; i < e->paths->first[share + 1]; i++) {
		e->link[*end] = e->paths->link[i];
		e->part[(*end)++] = part;
	}
}

static void end_flow(struct epochs *e, uint32_t owner)
{
	e->owner[e->net.n_flows++] = owner;
	e->first[e->net.n_flows + 1] = e->first[e->net.n_flows];
}

/* Flows of the demands that still run: one each, or one per path. */
static void build(struct epochs *e, bool coupled)
{
	uint32_t d, i;

	e->net.n_flows = 0;
	e->first[1] = 0;
	for (d = 0; d < e->r->n; d++) {
		if (!(e->left[d] > 0))
			continue;
		for (i = e->p->first[d]; i < e->p->first[d + 1]; i++) {
			if (!e->w[i])
				continue;
			add_share(e, i, coupled ? e->w[i] : 1);
			if (!coupled)
				end_flow(e, i);
		}
		if (coupled)
			end_flow(e, d);
	}
}

/* Rates of shares and loads of links in this epoch. */
static void fill(struct epochs *e, bool coupled)
{
	uint32_t f, i, o;

	build(e, coupled);
	if (srpol_maxmin_rates(&e->net, NULL, e->flow_rate))
		die("no memory");
	memset(e->load, 0, e->net.n_links * sizeof(*e->load));
	memset(e->rate, 0, e->paths->net.n_flows * sizeof(*e->rate));
	for (f = 0; f < e->net.n_flows; f++) {
		for (i = e->first[f]; i < e->first[f + 1]; i++)
			e->load[e->link[i]] += e->part[i] * e->flow_rate[f];
		o = e->owner[f];
		if (!coupled) {
			e->rate[o] = e->flow_rate[f];
			continue;
		}
		for (i = e->p->first[o]; i < e->p->first[o + 1]; i++)
			e->rate[i] = e->w[i] * e->flow_rate[f];
	}
}

static double usage(const struct epochs *e, uint32_t link)
{
	return e->load[link] / e->net.capacity[link];
}

/* NICs are the same on all paths: what is between them tells paths apart. */
static bool is_full(const struct epochs *e, uint32_t share)
{
	uint32_t i;

	for (i = e->paths->first[share] + 1;
	     i + 1 < e->paths->first[share + 1]; i++)
		if (usage(e, e->paths->link[i]) > FULL)
			return true;
	return false;
}

static void normalize(struct epochs *e, uint32_t d)
{
	uint32_t from = e->p->first[d], to = e->p->first[d + 1], i;
	double sum = 0;

	for (i = from; i < to; i++) {
		e->w[i] = fmax(e->w[i], WEIGHT_MIN / (to - from));
		sum += e->w[i];
	}
	for (i = from; i < to; i++)
		e->w[i] /= sum;
}

/* What a demand does at the end of an epoch. */
static void react(struct epochs *e, enum scheme s, uint32_t d, uint64_t *seed)
{
	uint32_t from = e->p->first[d], to = e->p->first[d + 1], i, pick;

	switch (s) {
	case SCHEME_FLOWLET:
		if (rnd_unit(seed) >= FLOWLET_GAP)
			return;
		pick = from + rnd_below(seed, to - from);
		for (i = from; i < to; i++)
			e->w[i] = i == pick;
		return;
	case SCHEME_ADAPTIVE:
		for (i = from; i < to; i++)
			if (e->paths->first[i + 1] - e->paths->first[i] > 2)
				e->w[i] *= 1.5 - usage(e, e->paths->link[
					e->paths->first[i] + 1]);
		break;
	case SCHEME_REPS:
		for (i = from; i < to; i++)
			if (is_full(e, i))
				e->w[i] *= KEEP;
		break;
	default:
		return;		/* a pool follows its rates by itself */
	}
	normalize(e, d);
}

/* Bytes go; the seconds after which the last demand ended, if all have. */
static double drain(struct epochs *e, double step, bool *busy)
{
	double rate, last = 0;
	uint32_t d, i;

	*busy = false;
	for (d = 0; d < e->r->n; d++) {
		if (!(e->left[d] > 0))
			continue;
		for (i = e->p->first[d], rate = 0; i < e->p->first[d + 1]; i++)
			rate += e->rate[i];
		if (rate * step >= e->left[d] * (1 - 1e-9)) {
			last = fmax(last, e->left[d] / rate);
			e->left[d] = 0;
		} else {
			e->left[d] -= rate * step;
			*busy = true;
		}
	}
	return last;
}

/**
 * epoch_time() - how long a workload takes
 * @r: scenario
 * @s: SCHEME_FLOWLET, _ADAPTIVE, _REPS or _MRC
 * @seed: of what is random
 *
 * Return: seconds, INFINITY if it does not end within 40 bounds.
 */
double epoch_time(const struct rig *r, enum scheme s, uint64_t seed)
{
	double step = rig_bound(r, NULL) / EPOCHS_PER_BOUND, last = 0;
	struct epochs e;
	bool busy = true;
	uint32_t n, d;

	epochs_up(&e, r);
	for (d = 0; d < r->n && s == SCHEME_FLOWLET; d++) {
		uint32_t from = e.p->first[d], to = e.p->first[d + 1], i, pick;

		if (from == to)
			continue;
		pick = from + rnd_below(&seed, to - from);
		for (i = from; i < to; i++)
			e.w[i] = i == pick;
	}
	for (n = 0; busy && n < EPOCHS_MAX; n++) {
		fill(&e, s != SCHEME_MRC && s != SCHEME_FLOWLET);
		last = n * step + drain(&e, step, &busy);
		for (d = 0; d < r->n; d++)
			if (e.left[d] > 0)
				react(&e, s, d, &seed);
	}
	epochs_down(&e);
	return busy ? INFINITY : last;
}
