// SPDX-License-Identifier: GPL-2.0
/*
 * Collectives as sets of demands that start together. @bytes is the size of
 * the buffer of a rank, as NCCL's tests count it; demands carry what the
 * algorithm sends between two ranks in all.
 */
#include <math.h>
#include <stdlib.h>

#include "sim.h"

void ranks_in_order(uint32_t *ranks, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		ranks[i] = i;
}

/* Neighbors are on different leaves: the worst a scheduler can do to a ring. */
void ranks_by_leaf(const struct rig *r, uint32_t *ranks, uint32_t leaves)
{
	uint32_t n = r->f->n_gpus, per = n / leaves, i;

	for (i = 0; i < n; i++)
		ranks[i] = i % leaves * per + i / leaves;
}

/* Ring all-reduce: 2 (N - 1) / N of the buffer from each to the next. */
void work_ring(struct rig *r, const uint32_t *ranks, uint32_t n, uint64_t bytes)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		rig_send(r, ranks[i], ranks[(i + 1) % n],
			 (double)bytes * 2 * (n - 1) / n);
}

/* Ring all-gather, or reduce-scatter: half of that. */
void work_all_gather(struct rig *r, const uint32_t *ranks, uint32_t n,
		     uint64_t bytes)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		rig_send(r, ranks[i], ranks[(i + 1) % n],
			 (double)bytes * (n - 1) / n);
}

/* Double binary tree: half of the buffer over each tree's edges, both ways. */
void work_tree(struct rig *r, const uint32_t *ranks, uint32_t n, uint64_t bytes)
{
	uint32_t tree, i, child, parent;

	for (tree = 0; tree < 2; tree++) {
		for (i = 1; i < n; i++) {
			/* the second tree is the first one, turned by one */
			child = ranks[(i + tree) % n];
			parent = ranks[((i - 1) / 2 + tree) % n];
			rig_send(r, child, parent, bytes / 2);
			rig_send(r, parent, child, bytes / 2);
		}
	}
}

/* Step k of recursive halving: with the rank 2^k away, n / 2^(k + 1) of it. */
void work_halving(struct rig *r, const uint32_t *ranks, uint32_t n,
		  uint64_t bytes, uint32_t step)
{
	uint32_t i, peer;

	for (i = 0; i < n; i++) {
		peer = i ^ 1u << step;
		if (peer < n)
			rig_send(r, ranks[i], ranks[peer], bytes >> (step + 1));
	}
}

void work_all_to_all(struct rig *r, const uint32_t *ranks, uint32_t n,
		     uint64_t bytes)
{
	uint32_t i, j;

	/* each sender begins with the one behind it, as NCCL does */
	for (i = 0; i < n; i++)
		for (j = 1; j < n; j++)
			rig_send(r, ranks[i], ranks[(i + j) % n], bytes / n);
}

/* Tokens go to experts by Zipf's law; every rank sends as many. */
void work_moe(struct rig *r, const uint32_t *ranks, uint32_t n, uint64_t bytes,
	      double zipf, uint64_t seed)
{
	uint32_t *experts = malloc(n * sizeof(*experts)), i, j;
	double sum = 0;

	if (!experts)
		die("no memory");
	ranks_in_order(experts, n);
	rnd_shuffle(&seed, experts, n);
	for (j = 0; j < n; j++)
		sum += pow(j + 1, -zipf);
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			if (experts[j] != i)
				rig_send(r, ranks[i], ranks[experts[j]],
					 bytes * pow(j + 1, -zipf) / sum);
	free(experts);
}

/* Activations from stage to stage. */
void work_pipeline(struct rig *r, const uint32_t *ranks, uint32_t n,
		   uint64_t bytes)
{
	uint32_t i;

	for (i = 0; i + 1 < n; i++)
		rig_send(r, ranks[i], ranks[i + 1], bytes);
}

/* Everyone sends to one, everyone receives from one. */
void work_permutation(struct rig *r, uint64_t seed, uint64_t bytes)
{
	uint32_t n = r->f->n_gpus, *to = malloc(n * sizeof(*to)), i;

	if (!to)
		die("no memory");
	ranks_in_order(to, n);
	rnd_shuffle(&seed, to, n);
	for (i = 0; i < n; i++)
		if (to[i] != i)
			rig_send(r, i, to[i], bytes);
	free(to);
}
