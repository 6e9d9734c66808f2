// SPDX-License-Identifier: LGPL-2.1
/*
 * Places demands of known size so that the most loaded link finishes as early
 * as possible, while few demands are split:
 *
 * 1. Each demand gets one path: by edge coloring if the fabric is regular,
 * which is optimal there, else greedily (minmax_start.c).
 * 2. Links with a load above the bound pass demands, or the excess part of a
 * demand, on to paths with room (minmax_repair.c). For a link with half of its
 * capacity, one split demand is enough.
 * 3. If that does not come close to the bound, the optimum for arbitrary splits
 * is approximated, and demands are cut accordingly (minmax_fraction.c).
 *
 * A demand that is split has weights. The prediction assumes that traffic
 * follows these weights at all times, as with weighted spraying over the paths.
 * Queue pairs that share a NIC evenly do not follow them.
 *
 * A previous placement is the starting point if there is one (minmax_again.c).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "minmax.h"

#define NEAR	1.02	/* factor of the bound that is good enough */

/**
 * srpol_spot_shares() - the paths of a demand, with weights
 * @spot: paths of a demand
 *
 * Return: array of @spot->n entries.
 */
struct srpol_share *srpol_spot_shares(struct srpol_spot *spot)
{
	return spot->n > 1 ? spot->many : &spot->one;
}

/**
 * srpol_spot_clear() - remove all paths of a demand
 * @spot: paths of a demand
 */
void srpol_spot_clear(struct srpol_spot *spot)
{
	free(spot->many);
	*spot = (struct srpol_spot){};
}

/**
 * srpol_spot_put() - put parts of a demand on a path, which is added if the
 *	demand does not have it
 * @spot: paths of a demand
 * @path: path
 * @parts: number of parts, of SRPOL_PARTS
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
 * srpol_minmax_load() - add parts of a demand to the load of a path's links
 * @m: the placement
 * @d: demand
 * @route: the path
 * @parts: number of parts, of SRPOL_PARTS; negative to subtract them
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
 * srpol_minmax_worst() - load of a path's most loaded link, in seconds
 * @m: the placement
 * @route: the path
 * @bytes: bytes to be added to each link
 *
 * The links of the NICs count too; they are the same for all paths between two
 * NICs.
 *
 * Return: seconds, INFINITY if a link is down.
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
 * srpol_minmax_max() - load of the most loaded link, in seconds
 * @m: the placement
 */
double srpol_minmax_max(const struct srpol_minmax *m)
{
	double worst = 0, t;
	uint32_t i;

	for (i = 0; i < m->in->fabric->n_links; i++) {
		/* ignore rounding errors on links that were emptied */
		t = m->load[i] < 0.5 ? 0 : m->load[i] * m->cost[i];
		if (t > worst)
			worst = t;
	}
	return worst;
}

/**
 * srpol_minmax_init() - begin a placement
 * @m: the placement, to be freed with srpol_minmax_fini() even after an error
 * @in: input of the algorithm
 *
 * Return: 0, -ENOMEM.
 */
int srpol_minmax_init(struct srpol_minmax *m, const struct srpol_alg_input *in)
{
	uint32_t links = in->fabric->n_links, i;
	struct srpol_bound bound;
	uint64_t capacity;
	int rc;

	*m = (struct srpol_minmax){ .in = in, .looks = SRPOL_LOOKS };
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

/**
 * srpol_minmax_fini() - free a placement
 * @m: the placement
 */
void srpol_minmax_fini(struct srpol_minmax *m)
{
	uint32_t d;

	for (d = 0; m->spots && d < m->in->n; d++)
		srpol_spot_clear(&m->spots[d]);
	free(m->spots);
	free(m->load);
	free(m->cost);
}

/**
 * srpol_minmax_clear() - remove all paths of all demands
 * @m: the placement
 */
void srpol_minmax_clear(struct srpol_minmax *m)
{
	uint32_t d;

	for (d = 0; d < m->in->n; d++)
		srpol_spot_clear(&m->spots[d]);
	memset(m->load, 0, m->in->fabric->n_links * sizeof(*m->load));
}

static int by_path(const void *a, const void *b)
{
	const struct srpol_share *x = a, *y = b;

	return x->path < y->path ? -1 : x->path > y->path;
}

/**
 * srpol_minmax_result() - fill in an empty placement
 * @m: the placement; the paths of its demands get sorted
 * @out: result
 *
 * Return: 0, -ENOMEM.
 */
int srpol_minmax_result(struct srpol_minmax *m, struct srpol_placement *out)
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

/**
 * srpol_minmax_approach() - bring the maximum load near a level by repair
 * @m: the placement
 * @level: load in seconds
 * @moves: number of moves of demands that are still allowed, decreased by each
 *
 * Tries to reach ever higher targets, until one is reached.
 *
 * Return: 0, -ENOMEM.
 */
int srpol_minmax_approach(struct srpol_minmax *m, double level,
			  uint32_t *moves)
{
	static const double steps[] = { 1.0001, 1.0025, 1.005, 1.01, 1.015,
					1.02, 1.03, 1.05, 1.1, 1.2, 1.5, 2, 4,
					8 };
	uint32_t i;
	int rc = 0;

	for (i = 0; i < sizeof(steps) / sizeof(*steps) && !rc; i++) {
		if (srpol_minmax_max(m) <= level * steps[i])
			break;
		rc = srpol_minmax_repair(m, level * steps[i], moves);
	}
	return rc;
}

/**
 * srpol_minmax_anew() - place all demands from scratch
 * @m: the placement, empty
 *
 * Return: 0, -ENOMEM.
 */
int srpol_minmax_anew(struct srpol_minmax *m)
{
	uint32_t moves = UINT32_MAX;
	int rc;

	rc = srpol_minmax_start(m);
	if (!rc)
		rc = srpol_minmax_leave(m);
	if (!rc)
		rc = srpol_minmax_approach(m, m->bound, &moves);
	if (!rc && !m->in->options.parts &&
	    srpol_minmax_max(m) > m->bound * NEAR)
		rc = srpol_minmax_fraction(m);
	return rc;
}

static int minmax_run(const struct srpol_alg_input *in,
		      struct srpol_placement *out)
{
	struct srpol_minmax m;
	int rc;

	rc = srpol_minmax_init(&m, in);
	if (!rc)
		rc = in->previous ? srpol_minmax_again(&m) :
				    srpol_minmax_anew(&m);
	if (!rc)
		rc = srpol_minmax_result(&m, out);
	srpol_minmax_fini(&m);
	return rc;
}

const struct srpol_alg srpol_alg_minmax = {
	.name = "minmax",
	.source = "Koenig 1916, Slepian-Duguid 1959; repair and fraction: own",
	.complexity = "O(n log p) by coloring, O(n p) per pass of repair",
	.coupled = true,
	.run = minmax_run,
};
