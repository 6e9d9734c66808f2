// SPDX-License-Identifier: LGPL-2.1
/* Combines plans of several colors into one plan. */
#include <stdlib.h>
#include <string.h>

#include "plan.h"

/**
 * struct piece - a pair of leaves of one part
 * @from: source leaf
 * @to: destination leaf
 * @color: color of the part
 * @part: index of the part
 * @pair: index of the pair in the part's plan
 */
struct piece {
	uint32_t from;
	uint32_t to;
	uint32_t color;
	uint32_t part;
	uint32_t pair;
};

static int by_pair(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->color != y->color)
		return x->color < y->color ? -1 : 1;
	return (x->part > y->part) - (x->part < y->part);
}

static bool is_same_pair(const struct piece *a, const struct piece *b)
{
	return a->from == b->from && a->to == b->to && a->color == b->color;
}

static struct srpol_plan *room_for(const struct srpol_plan_part *parts,
				   uint32_t n, size_t *pairs)
{
	struct srpol_plan *plan = calloc(1, sizeof(*plan));
	size_t weights = 0;
	uint32_t i;

	for (i = 0, *pairs = 0; i < n; i++) {
		*pairs += parts[i].plan->n;
		weights += parts[i].plan->first[parts[i].plan->n];
	}
	if (!plan)
		return NULL;
	plan->from = malloc((*pairs + 1) * sizeof(*plan->from));
	plan->to = malloc((*pairs + 1) * sizeof(*plan->to));
	plan->color = malloc((*pairs + 1) * sizeof(*plan->color));
	plan->first = calloc(*pairs + 1, sizeof(*plan->first));
	plan->weights = malloc(weights + 1);
	if (plan->from && plan->to && plan->color && plan->first &&
	    plan->weights)
		return plan;
	srpol_plan_free(plan);
	return NULL;
}

static void append(struct srpol_plan *plan, const struct srpol_plan_part *parts,
		   const struct piece *piece)
{
	const struct srpol_plan *of = parts[piece->part].plan;
	uint32_t first = of->first[piece->pair], at = plan->first[plan->n];
	uint32_t n = of->first[piece->pair + 1] - first;

	memcpy(plan->weights + at, of->weights + first, n);
	plan->from[plan->n] = piece->from;
	plan->to[plan->n] = piece->to;
	plan->color[plan->n] = piece->color;
	plan->first[++plan->n] = at + n;
}

/**
 * srpol_plan_join() - combine plans into one plan
 * @parts: plans; if several have a pair of leaves in the same color, the first
 *	one counts
 * @n: number of @parts
 *
 * Only weights are combined, not the paths of flows. O(pairs log pairs).
 *
 * Return: plan to be freed, NULL without memory.
 */
struct srpol_plan *srpol_plan_join(const struct srpol_plan_part *parts,
				   uint32_t n)
{
	struct piece *pieces;
	struct srpol_plan *plan;
	size_t pairs, at = 0, k;
	uint32_t i, j;

	plan = room_for(parts, n, &pairs);
	pieces = malloc((pairs + 1) * sizeof(*pieces));
	if (!plan || !pieces) {
		srpol_plan_free(plan);
		free(pieces);
		return NULL;
	}
	for (i = 0; i < n; i++)
		for (j = 0; j < parts[i].plan->n; j++)
			pieces[at++] = (struct piece){
				.from = parts[i].plan->from[j],
				.to = parts[i].plan->to[j],
				.color = parts[i].color, .part = i, .pair = j,
			};
	qsort(pieces, pairs, sizeof(*pieces), by_pair);
	for (k = 0; k < pairs; k++)
		if (!k || !is_same_pair(&pieces[k - 1], &pieces[k]))
			append(plan, parts, &pieces[k]);
	free(pieces);
	return plan;
}
