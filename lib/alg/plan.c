// SPDX-License-Identifier: LGPL-2.1
/*
 * A plan: weights of 4 bits per path between pairs of leaves. It is made from a
 * placement, and each host expands it to weights of paths between GPUs. Its
 * size depends on the number of pairs of leaves, not of hosts.
 */
#include <errno.h>
#include <stdlib.h>

#include "alg.h"

/**
 * struct pair - a pair of leaves
 * @from: source leaf
 * @to: destination leaf
 * @n: number of paths between them
 * @at: index of its first weight
 */
struct pair {
	uint32_t from;
	uint32_t to;
	uint32_t n;
	size_t at;
};

static int by_leaves(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/*
 * Collects all pairs of leaves between which there are demands; returns their
 * number.
 */
static uint32_t find_pairs(const struct srpol_alg_input *in,
			   const struct srpol_placement *p, struct pair *pairs,
			   int *rc)
{
	uint32_t d, i, n = 0, unique = 0;
	struct srpol_path_set set;

	for (d = 0; d < p->n && !*rc; d++) {
		*rc = srpol_path_set_init(in->fabric, in->demands[d].src,
					  in->demands[d].dst, &set);
		for (i = 0; i < set.pairs && !*rc; i++) {
			if (set.pair[i].fan.len)
				pairs[n++] = (struct pair){
					.from = set.pair[i].fan.from,
					.to = set.pair[i].fan.to,
					.n = set.pair[i].fan.n,
				};
		}
		srpol_path_set_free(&set);
	}
	qsort(pairs, n, sizeof(*pairs), by_leaves);
	for (i = 0; i < n; i++)
		if (!i || by_leaves(&pairs[i - 1], &pairs[i]))
			pairs[unique++] = pairs[i];
	return unique;
}

/* Adds up the bytes on each path of each pair. */
static int add_up(const struct srpol_alg_input *in,
		  const struct srpol_placement *p, const struct pair *pairs,
		  uint32_t n, double *bytes)
{
	struct srpol_path_set set;
	const struct pair *pair;
	uint32_t d, s, i;
	double sum;
	int rc;

	for (d = 0; d < p->n; d++) {
		rc = srpol_path_set_init(in->fabric, in->demands[d].src,
					 in->demands[d].dst, &set);
		if (rc)
			return rc;
		for (s = p->first[d], sum = 0; s < p->first[d + 1]; s++)
			sum += p->shares[s].weight;
		for (s = p->first[d]; s < p->first[d + 1]; s++) {
			for (i = set.pairs - 1; set.pair[i].first >
			     p->shares[s].path; i--)
				;
			if (!set.pair[i].fan.len)
				continue;
			pair = bsearch(&(struct pair){
				.from = set.pair[i].fan.from,
				.to = set.pair[i].fan.to,
			}, pairs, n, sizeof(*pairs), by_leaves);
			bytes[pair->at + p->shares[s].path -
			      set.pair[i].first] += in->demands[d].bytes *
						    (p->shares[s].weight / sum);
		}
		srpol_path_set_free(&set);
	}
	return 0;
}

/*
 * Converts bytes to weights of 4 bits: the greatest becomes
 * SRPOL_PLAN_WEIGHT_MAX, and only a path without any bytes gets 0.
 */
static void quantize(const double *bytes, uint32_t n, uint8_t *weights)
{
	double most = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		most = bytes[i] > most ? bytes[i] : most;
	for (i = 0; i < n; i++) {
		weights[i] = most ? bytes[i] / most * SRPOL_PLAN_WEIGHT_MAX +
				    0.5 : 0;
		if (bytes[i] > 0 && !weights[i])
			weights[i] = 1;
	}
}

static struct srpol_plan *plan_of(const struct pair *pairs, uint32_t n,
				  const double *bytes, size_t weights)
{
	struct srpol_plan *plan = calloc(1, sizeof(*plan));
	uint32_t i;

	if (!plan)
		return NULL;
	plan->n = n;
	plan->from = malloc((n + 1UL) * sizeof(*plan->from));
	plan->to = malloc((n + 1UL) * sizeof(*plan->to));
	plan->color = calloc(n + 1UL, sizeof(*plan->color));
	plan->first = malloc((n + 1UL) * sizeof(*plan->first));
	plan->weights = malloc(weights + 1);
	if (!plan->from || !plan->to || !plan->color || !plan->first ||
	    !plan->weights) {
		srpol_plan_free(plan);
		return NULL;
	}
	for (i = 0; i < n; i++) {
		plan->from[i] = pairs[i].from;
		plan->to[i] = pairs[i].to;
		plan->first[i] = pairs[i].at;
		quantize(bytes + pairs[i].at, pairs[i].n,
			 plan->weights + pairs[i].at);
	}
	plan->first[n] = weights;
	return plan;
}

/**
 * srpol_plan_new() - make a plan from a placement
 * @in: demands that were placed, and their fabric
 * @p: the placement
 *
 * O(shares log pairs).
 *
 * Return: plan to be freed, NULL without memory.
 */
struct srpol_plan *srpol_plan_new(const struct srpol_alg_input *in,
				  const struct srpol_placement *p)
{
	struct srpol_plan *plan = NULL;
	struct pair *pairs;
	size_t weights = 0;
	double *bytes;
	uint32_t n, i;
	int rc = 0;

	pairs = malloc(((size_t)p->n * SRPOL_PLANES_MAX + 1) * sizeof(*pairs));
	if (!pairs)
		return NULL;
	n = find_pairs(in, p, pairs, &rc);
	for (i = 0; i < n; i++) {
		pairs[i].at = weights;
		weights += pairs[i].n;
	}
	bytes = calloc(weights + 1, sizeof(*bytes));
	if (!rc && bytes && weights < UINT32_MAX &&
	    !add_up(in, p, pairs, n, bytes))
		plan = plan_of(pairs, n, bytes, weights);
	free(bytes);
	free(pairs);
	return plan;
}

/**
 * srpol_plan_free() - free a plan
 * @plan: may be NULL
 */
void srpol_plan_free(struct srpol_plan *plan)
{
	if (!plan)
		return;
	free(plan->from);
	free(plan->to);
	free(plan->color);
	free(plan->first);
	free(plan->weights);
	free(plan->flows);
	free(plan);
}

static int order(const struct srpol_plan *plan, uint32_t pair, uint32_t from,
		 uint32_t to, uint32_t color)
{
	if (plan->from[pair] != from)
		return plan->from[pair] < from ? -1 : 1;
	if (plan->to[pair] != to)
		return plan->to[pair] < to ? -1 : 1;
	return (plan->color[pair] > color) - (plan->color[pair] < color);
}

/**
 * srpol_plan_find() - find the weights between two leaves
 * @plan: plan
 * @from: source leaf
 * @to: destination leaf
 * @color: color of the policies; 0: policies whose color has no weights of its
 *	own
 * @n: result: number of weights
 *
 * O(log pairs).
 *
 * Return: weights by path number of srpol_fan_init(), NULL if the plan has
 * none.
 */
const uint8_t *srpol_plan_find(const struct srpol_plan *plan, uint32_t from,
			       uint32_t to, uint32_t color, uint32_t *n)
{
	uint32_t a = 0, b = plan->n, mid;

	while (a < b) {
		mid = a + (b - a) / 2;
		if (order(plan, mid, from, to, color) < 0)
			a = mid + 1;
		else
			b = mid;
	}
	if (a == plan->n || order(plan, a, from, to, color))
		return NULL;
	*n = plan->first[a + 1] - plan->first[a];
	return plan->weights + plan->first[a];
}

/**
 * srpol_plan_expand() - expand a plan to the paths between two GPUs
 * @f: finished fabric
 * @plan: plan; a pair of leaves that it does not have gets equal weights
 * @src: source GPU
 * @dst: destination GPU
 * @shares: result: paths with weights of color 0
 * @max: number of entries that @shares has room for
 *
 * A plan does not tell how planes share traffic. The caller decides this from
 * the rates of the NICs; weights of different planes cannot be compared.
 *
 * Return: number of shares; -E2BIG; -EINVAL for a plan of another fabric or a
 * GPU that does not exist; -ENOMEM.
 */
int srpol_plan_expand(const struct srpol_fabric *f,
		      const struct srpol_plan *plan, uint32_t src,
		      uint32_t dst, struct srpol_share *shares, uint32_t max)
{
	struct srpol_path_set set;
	uint32_t p, i, have, n = 0;
	const uint8_t *weights;
	int rc;

	rc = srpol_path_set_init(f, src, dst, &set);
	for (p = 0; p < set.pairs && !rc; p++) {
		weights = srpol_plan_find(plan, set.pair[p].fan.from,
					  set.pair[p].fan.to, 0, &have);
		if (weights && have != set.pair[p].fan.n)
			rc = -EINVAL;
		for (i = 0; i < set.pair[p].fan.n && !rc; i++) {
			if (weights && !weights[i])
				continue;
			if (n == max) {
				rc = -E2BIG;
				break;
			}
			shares[n].path = set.pair[p].first + i;
			shares[n++].weight = weights ? weights[i] : 1;
		}
	}
	srpol_path_set_free(&set);
	return rc ? rc : (int)n;
}
