// SPDX-License-Identifier: LGPL-2.1
/*
 * Lower bounds of the completion time: the bytes that must pass a cut of the
 * fabric, divided by the capacity of this cut.
 */
#include <errno.h>
#include <stdlib.h>

#include "alg.h"

/**
 * struct cut - bytes that must pass a cut
 * @out: bytes that leave
 * @in: bytes that enter
 */
struct cut {
	double out;
	double in;
};

static double seconds(double bytes, double capacity)
{
	return bytes ? 8 * bytes / capacity : 0;
}

static double capacity(const struct srpol_alg_input *in, uint32_t node,
		       uint32_t down)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < in->fabric->nodes[node].up_n; i++)
		sum += in->links->links[srpol_node_up(in->fabric, node, i) ^
					down].capacity;
	return sum;
}

static void bound_gpus(const struct srpol_alg_input *in, const struct cut *gpu,
		       struct srpol_bound *bound)
{
	const struct srpol_gpu *ep;
	double out, into, t;
	uint32_t g, i, link;

	for (g = 0; g < in->fabric->n_gpus; g++) {
		ep = &in->fabric->gpus[g];
		for (i = 0, out = 0, into = 0; i < ep->n; i++) {
			link = in->fabric->nics[ep->nic + i].link;
			out += in->links->links[link].capacity;
			into += in->links->links[link ^ 1].capacity;
		}
		t = seconds(gpu[g].out, out);
		if (t > bound->sender)
			bound->sender = t;
		t = seconds(gpu[g].in, into);
		if (t > bound->receiver)
			bound->receiver = t;
	}
}

/* How many pods have a bound: those with a number below that of nodes. */
static uint32_t pods(const struct srpol_fabric *f)
{
	uint32_t i, n = 0;

	for (i = 0; i < f->n_nodes; i++)
		if (f->nodes[i].pod >= n && f->nodes[i].pod < f->n_nodes)
			n = f->nodes[i].pod + 1;
	return n;
}

/* Bounds from the cuts above leaves, and between pods and super-spines. */
static int bound_cuts(const struct srpol_alg_input *in, const struct cut *leaf,
		      const struct cut *pod, struct srpol_bound *bound)
{
	const struct srpol_fabric *f = in->fabric;
	uint32_t n = pods(f), i;
	double t, *up;

	for (i = 0; i < f->n_nodes; i++) {
		t = seconds(leaf[i].out, capacity(in, i, 0));
		if (t > bound->leaf)
			bound->leaf = t;
		t = seconds(leaf[i].in, capacity(in, i, 1));
		if (t > bound->leaf)
			bound->leaf = t;
	}
	up = calloc(2UL * n + 1, sizeof(*up));
	if (!up)
		return -ENOMEM;
	for (i = 0; i < f->n_nodes; i++) {
		if (f->nodes[i].tier != SRPOL_TIER_SPINE ||
		    f->nodes[i].pod >= n)
			continue;
		up[2 * f->nodes[i].pod] += capacity(in, i, 0);
		up[2 * f->nodes[i].pod + 1] += capacity(in, i, 1);
	}
	for (i = 0; i < n; i++) {
		t = seconds(pod[i].out, up[2 * i]);
		if (t > bound->pod)
			bound->pod = t;
		t = seconds(pod[i].in, up[2 * i + 1]);
		if (t > bound->pod)
			bound->pod = t;
	}
	free(up);
	return 0;
}

static int add_demands(const struct srpol_alg_input *in, struct cut *gpu,
		       struct cut *leaf, struct cut *pod, bool *planes)
{
	const struct srpol_fabric *f = in->fabric;
	struct srpol_path_set set;
	uint32_t d, from, to;
	double bytes;
	int rc;

	for (d = 0; d < in->n; d++) {
		rc = srpol_path_set_init(f, in->demands[d].src,
					 in->demands[d].dst, &set);
		if (rc)
			return rc;
		bytes = in->demands[d].bytes;
		*planes |= set.pairs > 1;
		if (set.n) {
			gpu[in->demands[d].src].out += bytes;
			gpu[in->demands[d].dst].in += bytes;
			from = set.pair[0].fan.from;
			to = set.pair[0].fan.to;
		}
		if (set.n && from != to) {
			leaf[from].out += bytes;
			leaf[to].in += bytes;
		}
		if (set.n && set.pair[0].fan.len == 4) {
			from = f->nodes[from].pod;
			to = f->nodes[to].pod;
			/* others have no bound, see pods() */
			if (from < f->n_nodes)
				pod[from].out += bytes;
			if (to < f->n_nodes)
				pod[to].in += bytes;
		}
		srpol_path_set_free(&set);
	}
	return 0;
}

/**
 * srpol_bound_get() - lower bounds of the completion time of demands
 * @in: fabric, links, and demands; demands without any path are ignored
 * @bound: result
 *
 * O(n + links). A bound is INFINITY if bytes must pass a cut that has no
 * capacity.
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int srpol_bound_get(const struct srpol_alg_input *in, struct srpol_bound *bound)
{
	const struct srpol_fabric *f = in->fabric;
	uint32_t n = f->n_nodes + 1;
	struct cut *cuts;
	bool planes = false;
	int rc;

	*bound = (struct srpol_bound){};
	cuts = calloc(2UL * n + f->n_gpus, sizeof(*cuts));
	if (!cuts)
		return -ENOMEM;
	rc = add_demands(in, cuts + 2UL * n, cuts, cuts + n, &planes);
	if (!rc) {
		bound_gpus(in, cuts + 2UL * n, bound);
		if (!planes)
			rc = bound_cuts(in, cuts, cuts + n, bound);
	}
	free(cuts);
	bound->all = bound->sender;
	if (bound->receiver > bound->all)
		bound->all = bound->receiver;
	if (bound->leaf > bound->all)
		bound->all = bound->leaf;
	if (bound->pod > bound->all)
		bound->all = bound->pod;
	return rc;
}
