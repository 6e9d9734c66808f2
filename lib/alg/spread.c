// SPDX-License-Identifier: LGPL-2.1
/*
 * Ethereal (arXiv 2407.00550): a sender that has n equal flows and r paths
 * distributes the flows evenly over the paths, which splits each flow into at
 * most r / gcd(n, r) parts. It need not know about other senders. If every leaf
 * sends and receives the same amount (all-to-all), all links are loaded
 * equally.
 */
#include <errno.h>
#include <stdlib.h>

#include "alg.h"

/**
 * struct flow - a demand that is to be distributed over paths
 * @demand: index of the demand
 * @src: source GPU; replaced by spread()
 * @paths: number of usable paths
 * @bytes: bytes of the demand; replaced by spread()
 */
struct flow {
	uint32_t demand;
	uint32_t src;
	uint32_t paths;
	uint64_t bytes;
};

static int by_group(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->paths != y->paths)
		return x->paths < y->paths ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return x->demand < y->demand ? -1 : x->demand > y->demand;
}

static int by_demand(const void *a, const void *b)
{
	const struct flow *x = a, *y = b;

	return x->demand < y->demand ? -1 : x->demand > y->demand;
}

static bool is_grouped(const struct flow *a, const struct flow *b)
{
	return a->src == b->src && a->paths == b->paths &&
	       a->bytes == b->bytes;
}

/*
 * Decides which paths the flows of each group take. For each flow, @src becomes
 * the position of its first part in the rotation over the paths, and @bytes
 * becomes the number of its parts.
 */
static void spread(struct flow *flows, uint32_t n, uint32_t parts_max)
{
	uint32_t i, j, end, parts, src;

	for (i = 0; i < n; i = end) {
		for (end = i + 1; end < n && is_grouped(&flows[i],
							&flows[end]); end++)
			;
		if (!flows[i].paths)
			continue;
		parts = flows[i].paths / srpol_gcd(end - i, flows[i].paths);
		if (parts_max && parts > parts_max)
			parts = parts_max;
		src = flows[i].src;
		for (j = i; j < end; j++) {
			flows[j].src = (src + (uint64_t)(j - i) * parts) %
				       flows[j].paths;
			flows[j].bytes = parts;
		}
	}
}

static int place(const struct srpol_alg_input *in, const struct flow *flow,
		 struct srpol_placement *out)
{
	uint32_t d = flow->demand, i, nr = 0;
	struct srpol_path_set set;
	struct srpol_route route;
	int rc;

	rc = srpol_path_set_init(in->fabric, in->demands[d].src,
				 in->demands[d].dst, &set);
	for (i = 0; i < set.n && flow->paths && !rc; i++) {
		srpol_path_get(in->fabric, &set, i, &route);
		if (!srpol_demand_capacity(in, d, &route))
			continue;
		/* the parts of a flow take consecutive paths of the rotation */
		if ((nr + flow->paths - flow->src) % flow->paths < flow->bytes)
			rc = srpol_placement_add(out, d, i, 1);
		nr++;
	}
	srpol_path_set_free(&set);
	srpol_placement_end(out, d);
	return rc;
}

static int count_paths(const struct srpol_alg_input *in, uint32_t d,
		       uint32_t *n)
{
	struct srpol_path_set set;
	struct srpol_route route;
	uint32_t i;
	int rc;

	*n = 0;
	rc = srpol_path_set_init(in->fabric, in->demands[d].src,
				 in->demands[d].dst, &set);
	for (i = 0; i < set.n && !rc; i++) {
		srpol_path_get(in->fabric, &set, i, &route);
		*n += !!srpol_demand_capacity(in, d, &route);
	}
	srpol_path_set_free(&set);
	return rc;
}

static int spread_run(const struct srpol_alg_input *in,
		      struct srpol_placement *out)
{
	struct flow *flows;
	uint32_t d;
	int rc = 0;

	flows = calloc(in->n + 1UL, sizeof(*flows));
	if (!flows)
		return -ENOMEM;
	for (d = 0; d < in->n && !rc; d++) {
		flows[d].demand = d;
		flows[d].src = in->demands[d].src;
		flows[d].bytes = in->demands[d].bytes;
		rc = count_paths(in, d, &flows[d].paths);
	}
	if (!rc) {
		qsort(flows, in->n, sizeof(*flows), by_group);
		spread(flows, in->n, in->options.parts);
		qsort(flows, in->n, sizeof(*flows), by_demand);
	}
	for (d = 0; d < in->n && !rc; d++)
		rc = place(in, &flows[d], out);
	free(flows);
	return rc;
}

const struct srpol_alg srpol_alg_spread = {
	.name = "spread",
	.source = "Ethereal, arXiv 2407.00550",
	.complexity = "O(n log n + n p)",
	.run = spread_run,
};
