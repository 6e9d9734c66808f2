// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "weights.h"

#define DEMAND_BYTES	(1u << 30)	/* all alike: who sends how much is not known */

/* Nothing usable is left: that is not believed, packets have to go somewhere. */
static void use_all(struct weights_pair *pair)
{
	uint32_t i;

	for (i = 0; i < pair->n; i++)
		pair->weight[i] = !pair->slice || pair->slice[i];
}

static void take(struct weights_pair *pair, const struct srpol_share *shares,
		 uint32_t n)
{
	uint32_t i, most = 0;

	memset(pair->weight, 0, pair->n * sizeof(*pair->weight));
	for (i = 0; i < n; i++) {
		if (shares[i].path >= pair->n ||
		    (pair->slice && !pair->slice[shares[i].path]))
			continue;
		pair->weight[shares[i].path] = shares[i].weight;
		if (shares[i].weight > most)
			most = shares[i].weight;
	}
	if (!most)
		use_all(pair);
	for (i = 0; most > WEIGHT_MAX && i < pair->n; i++)
		if (pair->weight[i])
			pair->weight[i] = 1 + (uint64_t)pair->weight[i] *
					  (WEIGHT_MAX - 1) / most;
}

/* All pairs of one algorithm at once: it may weigh them against each other. */
static int run_one(const struct srpol_fabric *fabric,
		   const struct srpol_links *links,
		   const struct srpol_alg *alg, struct weights_pair *pairs,
		   uint32_t n, struct srpol_error *err)
{
	struct srpol_demand *demands = calloc(n + 1, sizeof(*demands));
	struct srpol_alg_input in = {
		.fabric = fabric, .links = links, .demands = demands,
	};
	struct srpol_placement *p = NULL;
	uint32_t i, d = 0;
	int ret;

	if (!demands)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (pairs[i].alg == alg)
			demands[in.n++] = (struct srpol_demand){
				.src = pairs[i].src,
				.dst = pairs[i].dst,
				.bytes = DEMAND_BYTES,
				.key = i,
				.color = pairs[i].color,
			};
	ret = srpol_alg_run(alg, &in, &p, err);
	for (i = 0; !ret && i < n; i++) {
		if (pairs[i].alg != alg)
			continue;
		take(&pairs[i], p->shares + p->first[d],
		     p->first[d + 1] - p->first[d]);
		d++;
	}
	srpol_placement_free(p);
	free(demands);
	return ret;
}

/**
 * weights_run() - weights of all policies
 * @fabric: finished fabric
 * @links: what its links can carry
 * @pairs: the policies
 * @n: number of them
 * @err: why not
 *
 * Return: 0 or a negative errno; weights of some algorithms may be new then.
 */
int weights_run(const struct srpol_fabric *fabric,
		const struct srpol_links *links, struct weights_pair *pairs,
		uint32_t n, struct srpol_error *err)
{
	const struct srpol_alg *alg;
	unsigned int a;
	uint32_t i;
	int ret = 0;

	for (a = 0; !ret && (alg = srpol_alg_at(a)); a++) {
		for (i = 0; i < n && pairs[i].alg != alg; i++)
			;
		if (i < n)
			ret = run_one(fabric, links, alg, pairs, n, err);
	}
	return ret;
}
