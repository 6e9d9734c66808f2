// SPDX-License-Identifier: LGPL-2.1
/*
 * Weights that follow end-to-end measurements: the weight of a path is the
 * lowest product of capacity and quality of its links. If there is a previous
 * placement, a demand keeps its weights until one of them deviates by more than
 * option hysteresis, so that small changes of quality do not move traffic.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "alg.h"

#define WEIGHT_MAX	1000

static double path_worth(const struct srpol_alg_input *in,
			 const struct srpol_route *route)
{
	const struct srpol_link_state *l;
	double least = INFINITY, worth;
	uint32_t i;

	for (i = 0; i < route->n; i++) {
		l = &in->links->links[route->link[i]];
		worth = (double)l->capacity * l->quality;
		if (worth < least)
			least = worth;
	}
	return least;
}

/* Whether the previous weights of a demand are still close enough. */
static bool is_near(const struct srpol_alg_input *in, uint32_t d,
		    const double *worth, uint32_t n)
{
	const struct srpol_placement *p = in->previous;
	double sum = 0, had = 0, want;
	uint32_t i, s;

	if (!p || p->first[d] == p->first[d + 1])
		return false;
	for (i = 0; i < n; i++)
		sum += worth[i];
	for (s = p->first[d]; s < p->first[d + 1]; s++)
		had += p->shares[s].weight;
	for (i = 0, s = p->first[d]; i < n; i++) {
		want = worth[i] / sum;
		if (s < p->first[d + 1] && p->shares[s].path == i) {
			if (!worth[i] || fabs(p->shares[s].weight / had - want) >
			    in->options.hysteresis * want)
				return false;
			s++;
		} else if (worth[i]) {
			return false;
		}
	}
	return s == p->first[d + 1];
}

static int place_by(const struct srpol_alg_input *in, uint32_t d,
		    const double *worth, uint32_t n,
		    struct srpol_placement *out)
{
	const struct srpol_placement *p = in->previous;
	double best = 0;
	uint32_t i;
	int rc = 0;

	if (is_near(in, d, worth, n)) {
		for (i = p->first[d]; i < p->first[d + 1] && !rc; i++)
			rc = srpol_placement_add(out, d, p->shares[i].path,
						 p->shares[i].weight);
		return rc;
	}
	for (i = 0; i < n; i++)
		best = worth[i] > best ? worth[i] : best;
	for (i = 0; i < n && !rc; i++)
		if (worth[i])
			rc = srpol_placement_add(out, d, i,
						 ceil(worth[i] / best *
						      WEIGHT_MAX));
	return rc;
}

static int place(const struct srpol_alg_input *in, uint32_t d,
		 const struct srpol_path_set *set, struct srpol_placement *out)
{
	struct srpol_route route;
	double *worth;
	uint32_t i;
	int rc;

	worth = calloc(set->n + 1UL, sizeof(*worth));
	if (!worth)
		return -ENOMEM;
	for (i = 0; i < set->n; i++) {
		srpol_path_get(in->fabric, set, i, &route);
		worth[i] = srpol_demand_may(in, d, &route) ?
			   path_worth(in, &route) : 0;
	}
	rc = place_by(in, d, worth, set->n, out);
	free(worth);
	return rc;
}

const struct srpol_alg srpol_alg_adaptive = {
	.name = "adaptive",
	.source = "measured quality; dynamic load balancing",
	.complexity = "O(n p)",
	.coupled = true,
	.place = place,
};
