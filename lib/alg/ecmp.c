// SPDX-License-Identifier: LGPL-2.1
/*
 * ECMP, which switches do without srpol: each queue pair of a demand takes one
 * of the paths that are up, selected by a hash of its header.
 */
#include <errno.h>
#include <stdlib.h>

#include "alg.h"

/* Lists the usable paths of a set; returns their number. */
static uint32_t usable(const struct srpol_alg_input *in, uint32_t d,
		       const struct srpol_path_set *set, uint32_t *paths)
{
	struct srpol_route route;
	uint32_t i, n = 0;

	for (i = 0; i < set->n; i++) {
		srpol_path_get(in->fabric, set, i, &route);
		if (srpol_demand_capacity(in, d, &route))
			paths[n++] = i;
	}
	return n;
}

static int place(const struct srpol_alg_input *in, uint32_t d,
		 const struct srpol_path_set *set, struct srpol_placement *out)
{
	const struct srpol_demand *demand = &in->demands[d];
	uint32_t *paths, *count, n, i, qps;
	uint64_t hash;
	int rc = 0;

	if (!set->n)
		return 0;
	paths = calloc(2UL * set->n, sizeof(*paths));
	if (!paths)
		return -ENOMEM;
	count = paths + set->n;
	n = usable(in, d, set, paths);
	qps = in->options.qps ? in->options.qps : 1;
	for (i = 0; n && i < qps; i++) {
		hash = srpol_mix(in->options.seed ^ srpol_mix(demand->key + i));
		hash = srpol_mix(hash ^ (uint64_t)demand->src << 32 ^
				 demand->dst);
		count[hash % n]++;
	}
	for (i = 0; i < n && !rc; i++)
		if (count[i])
			rc = srpol_placement_add(out, d, paths[i], count[i]);
	free(paths);
	return rc;
}

const struct srpol_alg srpol_alg_ecmp = {
	.name = "ecmp",
	.source = "RFC 2992; option qps: NCCL_IB_QPS_PER_CONNECTION",
	.complexity = "O(n (p + qps))",
	.place = place,
};
