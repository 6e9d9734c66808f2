// SPDX-License-Identifier: LGPL-2.1
/*
 * Placements, which are built demand by demand, and the load that they put on
 * links.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alg.h"

/**
 * srpol_placement_new() - an empty placement
 * @n: number of demands
 *
 * Return: the placement, to be freed; NULL without memory.
 */
struct srpol_placement *srpol_placement_new(uint32_t n)
{
	struct srpol_placement *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->n = n;
	p->room = n + 1;
	p->first = calloc((size_t)n + 1, sizeof(*p->first));
	p->shares = malloc(p->room * sizeof(*p->shares));
	if (!p->first || !p->shares) {
		srpol_placement_free(p);
		return NULL;
	}
	return p;
}

/**
 * srpol_placement_free() - free a placement
 * @p: may be NULL
 */
void srpol_placement_free(struct srpol_placement *p)
{
	if (!p)
		return;
	free(p->first);
	free(p->shares);
	free(p);
}

/**
 * srpol_placement_add() - add a path of a demand
 * @p: the placement
 * @demand: index of the demand; demands are added in order, starting with 0
 * @path: number of the path in the demand's path set
 * @weight: not 0
 *
 * Return: 0, -ENOMEM.
 */
int srpol_placement_add(struct srpol_placement *p, uint32_t demand,
			uint32_t path, uint32_t weight)
{
	uint32_t n = p->first[demand + 1] ? p->first[demand + 1] :
					    p->first[demand];
	struct srpol_share *to;

	if (n == p->room) {
		if (p->room > UINT32_MAX / 2)
			return -ENOMEM;
		to = realloc(p->shares, 2UL * p->room * sizeof(*to));
		if (!to)
			return -ENOMEM;
		p->shares = to;
		p->room *= 2;
	}
	p->shares[n].path = path;
	p->shares[n].weight = weight;
	p->first[demand + 1] = n + 1;
	return 0;
}

/**
 * srpol_placement_end() - finish a demand
 * @p: the placement
 * @demand: index of the demand; the next demand is added after this
 *
 * The demand's weights are divided by their greatest common divisor.
 */
void srpol_placement_end(struct srpol_placement *p, uint32_t demand)
{
	uint32_t i, end;
	uint64_t g = 0;

	if (!p->first[demand + 1])
		p->first[demand + 1] = p->first[demand];
	end = p->first[demand + 1];
	for (i = p->first[demand]; i < end; i++)
		g = srpol_gcd(g, p->shares[i].weight);
	for (i = p->first[demand]; i < end; i++)
		p->shares[i].weight /= g;
}

static double weight_sum(const struct srpol_placement *p, uint32_t demand)
{
	double sum = 0;
	uint32_t i;

	for (i = p->first[demand]; i < p->first[demand + 1]; i++)
		sum += p->shares[i].weight;
	return sum;
}

/**
 * srpol_placement_load() - compute the load that a placement puts on links
 * @in: demands that were placed, and their fabric
 * @p: the placement
 * @load: result: bytes by directed link
 *
 * O(shares).
 *
 * Return: 0, -EINVAL for a GPU that does not exist, -ENOMEM.
 */
int srpol_placement_load(const struct srpol_alg_input *in,
			 const struct srpol_placement *p, double *load)
{
	struct srpol_path_set set;
	struct srpol_route route;
	double bytes;
	uint32_t d, i, l;
	int rc;

	memset(load, 0, in->fabric->n_links * sizeof(*load));
	for (d = 0; d < p->n; d++) {
		if (p->first[d] == p->first[d + 1])
			continue;
		rc = srpol_path_set_init(in->fabric, in->demands[d].src,
					 in->demands[d].dst, &set);
		if (rc)
			return rc;
		bytes = in->demands[d].bytes / weight_sum(p, d);
		for (i = p->first[d]; i < p->first[d + 1]; i++) {
			srpol_path_get(in->fabric, &set, p->shares[i].path,
				       &route);
			for (l = 0; l < route.n; l++)
				load[route.link[l]] += bytes *
						       p->shares[i].weight;
		}
		srpol_path_set_free(&set);
	}
	return 0;
}

static bool is_same(const struct srpol_placement *p,
		    const struct srpol_placement *q, uint32_t d)
{
	uint32_t n = p->first[d + 1] - p->first[d];

	return n == q->first[d + 1] - q->first[d] &&
	       (!n || !memcmp(p->shares + p->first[d], q->shares + q->first[d],
			      n * sizeof(*p->shares)));
}

/**
 * srpol_placement_predict() - fill in the prediction of a placement
 * @in: demands that were placed, with fabric, links and previous placement
 * @p: the placement
 *
 * O(shares + links).
 *
 * Return: 0, -EINVAL for a GPU that does not exist, -ENOMEM.
 */
int srpol_placement_predict(const struct srpol_alg_input *in,
			    struct srpol_placement *p)
{
	struct srpol_prediction *to = &p->prediction;
	double *load, seconds;
	uint32_t i, shares;
	int rc;

	*to = (struct srpol_prediction){ .link = SRPOL_NONE };
	load = malloc((in->fabric->n_links + 1UL) * sizeof(*load));
	if (!load)
		return -ENOMEM;
	rc = srpol_placement_load(in, p, load);
	for (i = 0; i < in->fabric->n_links && !rc; i++) {
		if (!load[i])
			continue;
		seconds = 8 * load[i] / in->links->links[i].capacity;
		if (seconds > to->seconds) {
			to->seconds = seconds;
			to->link = i;
		}
	}
	for (i = 0; i < p->n && !rc; i++) {
		shares = p->first[i + 1] - p->first[i];
		to->split += shares > 1;
		to->unplaced += !shares &&
			in->fabric->gpus[in->demands[i].src].host !=
			in->fabric->gpus[in->demands[i].dst].host;
		to->moved += in->previous &&
			     in->previous->first[i] !=
			     in->previous->first[i + 1] &&
			     !is_same(p, in->previous, i);
	}
	free(load);
	return rc;
}
