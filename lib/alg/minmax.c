// SPDX-License-Identifier: LGPL-2.1
/*
 * Known sizes on paths that overlap, so that the hottest link is done as soon
 * as it can be, with few demands split:
 *
 * 1. One path per demand: by edge coloring where the fabric is regular, which
 *    is the optimum there, else greedily (minmax_start.c).
 * 2. Links that are over the bound give demands, or the part that is too much,
 *    to paths that have room (minmax_repair.c). One halved link takes one split.
 * 3. Where that does not come near the bound, the fractional optimum is
 *    approached, and demands are cut to fit it (minmax_fraction.c).
 *
 * A demand that is split has weights; that the hottest link is done in time
 * supposes that it keeps to them while it runs, as weighted spraying over its
 * paths does. Queue pairs that share a NIC evenly do not.
 *
 * With a previous placement, that is the start, only what must move does, and
 * the rest only for what option hysteresis calls worth it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "minmax.h"

#define NEAR	1.02	/* of the bound: good enough for few splits */

/**
 * srpol_spot_shares() - paths of a demand
 * @spot: where it is
 */
struct srpol_share *srpol_spot_shares(struct srpol_spot *spot)
{
	return spot->n > 1 ? spot->many : &spot->one;
}

/**
 * srpol_spot_clear() - no path
 * @spot: where a demand is
 */
void srpol_spot_clear(struct srpol_spot *spot)
{
	free(spot->many);
	*spot = (struct srpol_spot){};
}

/**
 * srpol_spot_put() - add parts to a path, a new one if need be
 * @spot: where a demand is
 * @path: path
 * @parts: of SRPOL_PARTS
 *
 * Return: 0, -ENOMEM.
 */
int srpol_spot_put(struct srpol_spot *spot, uint32_t path, uint32_t parts)
{
	struct srpol_share *shares = srpol_spot_shares(spot);
	uint32_t i;

	for (i = 0; i < spot->n; i++) {
		if (shares[i].path == path) {
			shares[i].weight += parts;
			return 0;
		}
	}
	if (spot->n) {
		shares = realloc(spot->many, (spot->n + 1) * sizeof(*shares));
		if (!shares)
			return -ENOMEM;
		if (spot->n == 1)
			shares[0] = spot->one;
		spot->many = shares;
	}
	shares[spot->n].path = path;
	shares[spot->n++].weight = parts;
	return 0;
}

/**
 * srpol_minmax_load() - parts of a demand on the links of a path
 * @m: placement
 * @d: demand
 * @route: path
 * @parts: of SRPOL_PARTS, below 0 to take them away
 */
void srpol_minmax_load(struct srpol_minmax *m, uint32_t d,
		       const struct srpol_route *route, double parts)
{
	double bytes = m->in->demands[d].bytes * (parts / SRPOL_PARTS);
	uint32_t i;

	for (i = 0; i < route->n; i++)
		m->load[route->link[i]] += bytes;
}

/**
 * srpol_minmax_worst() - seconds of a path's hottest link
 * @m: placement
 * @route: path
 * @bytes: to be added to its links
 *
 * NICs count as well, which is the same for all paths between two of them.
 *
 * Return: seconds, INFINITY when a link is down.
 */
double srpol_minmax_worst(const struct srpol_minmax *m,
			  const struct srpol_route *route, double bytes)
{
	double worst = 0, t;
	uint32_t i;

	for (i = 0; i < route->n; i++) {
		t = m->cost[route->link[i]] == INFINITY ? INFINITY :
		    (m->load[route->link[i]] + bytes) * m->cost[route->link[i]];
		if (t > worst)
			worst = t;
	}
	return worst;
}

/**
 * srpol_minmax_max() - seconds of the hottest link
 * @m: placement
 */
double srpol_minmax_max(const struct srpol_minmax *m)
{
	double worst = 0, t;
	uint32_t i;

	for (i = 0; i < m->in->fabric->n_links; i++) {
		/* rounding leaves crumbs on links that were emptied */
		t = m->load[i] < 0.5 ? 0 : m->load[i] * m->cost[i];
		if (t > worst)
			worst = t;
	}
	return worst;
}

static int init(struct srpol_minmax *m, const struct srpol_alg_input *in)
{
	uint32_t links = in->fabric->n_links, i;
	struct srpol_bound bound;
	uint64_t capacity;
	int rc;

	*m = (struct srpol_minmax){ .in = in };
	m->spots = calloc(in->n + 1UL, sizeof(*m->spots));
	m->load = calloc(links + 1UL, sizeof(*m->load));
	m->cost = calloc(links + 1UL, sizeof(*m->cost));
	if (!m->spots || !m->load || !m->cost)
		return -ENOMEM;
	for (i = 0; i < links; i++) {
		capacity = in->links->links[i].capacity;
		m->cost[i] = capacity ? 8.0 / capacity : INFINITY;
	}
	rc = srpol_bound_get(in, &bound);
	m->bound = bound.all;
	return rc;
}

static void fini(struct srpol_minmax *m)
{
	uint32_t d;

	for (d = 0; m->spots && d < m->in->n; d++)
		srpol_spot_clear(&m->spots[d]);
	free(m->spots);
	free(m->load);
	free(m->cost);
}

/* Weights of any sum to parts of SRPOL_PARTS, none of them 0. */
static int adopt_demand(struct srpol_minmax *m, uint32_t d,
			const struct srpol_share *shares, uint32_t n)
{
	uint32_t i, parts, left = SRPOL_PARTS;
	struct srpol_path_set set;
	struct srpol_route route;
	double sum = 0;
	int rc;

	for (i = 0; i < n; i++)
		sum += shares[i].weight;
	rc = srpol_path_set_init(m->in->fabric, m->in->demands[d].src,
				 m->in->demands[d].dst, &set);
	for (i = 0; i < n && !rc; i++) {
		parts = i + 1 == n ? left :
			SRPOL_PARTS * (shares[i].weight / sum) + 0.5;
		if (parts > left)
			parts = left;
		if (!parts)
			continue;
		if (shares[i].path >= set.n) {
			rc = -EINVAL;
			break;
		}
		left -= parts;
		srpol_path_get(m->in->fabric, &set, shares[i].path, &route);
		srpol_minmax_load(m, d, &route, parts);
		rc = srpol_spot_put(&m->spots[d], shares[i].path, parts);
	}
	srpol_path_set_free(&set);
	return rc;
}

/* Start from a placement that is in force. */
static int adopt(struct srpol_minmax *m, const struct srpol_placement *p)
{
	uint32_t d;
	int rc = 0;

	for (d = 0; d < m->in->n && !rc; d++)
		rc = adopt_demand(m, d, p->shares + p->first[d],
				  p->first[d + 1] - p->first[d]);
	return rc;
}

static int by_path(const void *a, const void *b)
{
	const struct srpol_share *x = a, *y = b;

	return x->path < y->path ? -1 : x->path > y->path;
}

static int result(struct srpol_minmax *m, struct srpol_placement *out)
{
	struct srpol_share *shares;
	uint32_t d, i;
	int rc = 0;

	for (d = 0; d < m->in->n && !rc; d++) {
		shares = srpol_spot_shares(&m->spots[d]);
		qsort(shares, m->spots[d].n, sizeof(*shares), by_path);
		for (i = 0; i < m->spots[d].n && !rc; i++)
			if (shares[i].weight)
				rc = srpol_placement_add(out, d, shares[i].path,
							 shares[i].weight);
		srpol_placement_end(out, d);
	}
	return rc;
}

/* Ever higher targets, as far as they are not reached. */
static int repair(struct srpol_minmax *m, uint32_t *moves)
{
	static const double steps[] = { 1.0001, 1.0025, 1.005, 1.01, 1.015,
					1.02, 1.03, 1.05, 1.1, 1.2, 1.5, 2, 4,
					8 };
	uint32_t i;
	int rc = 0;

	for (i = 0; i < sizeof(steps) / sizeof(*steps) && !rc; i++) {
		if (srpol_minmax_max(m) <= m->bound * steps[i])
			break;
		rc = srpol_minmax_repair(m, m->bound * steps[i], moves);
	}
	return rc;
}

static int run_anew(struct srpol_minmax *m)
{
	uint32_t moves = UINT32_MAX;
	int rc;

	rc = srpol_minmax_start(m);
	if (!rc)
		rc = srpol_minmax_leave(m);
	if (!rc)
		rc = repair(m, &moves);
	if (!rc && !m->in->options.parts &&
	    srpol_minmax_max(m) > m->bound * NEAR)
		rc = srpol_minmax_fraction(m);
	return rc;
}

/* Leave what is down; then better only if it is worth it. */
static int run_again(struct srpol_minmax *m, struct srpol_placement *out)
{
	const struct srpol_alg_options *options = &m->in->options;
	uint32_t moves = options->moves ? options->moves : UINT32_MAX;
	struct srpol_placement *kept;
	double before;
	int rc;

	rc = adopt(m, m->in->previous);
	if (!rc)
		rc = srpol_minmax_leave(m);
	if (rc)
		return rc;
	kept = srpol_placement_new(m->in->n);
	rc = kept ? result(m, kept) : -ENOMEM;
	before = srpol_minmax_max(m);
	if (!rc && before > m->bound * (1 + options->hysteresis))
		rc = repair(m, &moves);
	if (!rc && before > srpol_minmax_max(m) * (1 + options->hysteresis)) {
		rc = result(m, out);
	} else if (!rc) {
		/* not worth it: as it was, in the same memory */
		free(out->first);
		free(out->shares);
		*out = *kept;
		free(kept);
		return 0;
	}
	srpol_placement_free(kept);
	return rc;
}

static int minmax_run(const struct srpol_alg_input *in,
		      struct srpol_placement *out)
{
	struct srpol_minmax m;
	int rc;

	rc = init(&m, in);
	if (!rc && in->previous) {
		rc = run_again(&m, out);
	} else if (!rc) {
		rc = run_anew(&m);
		if (!rc)
			rc = result(&m, out);
	}
	fini(&m);
	return rc;
}

const struct srpol_alg srpol_alg_minmax = {
	.name = "minmax",
	.source = "Koenig 1916, Slepian-Duguid 1959; repair and fraction: own",
	.complexity = "O(n log p) by coloring, O(n p) per pass of repair",
	.coupled = true,
	.run = minmax_run,
};
