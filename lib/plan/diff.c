// SPDX-License-Identifier: LGPL-2.1
#include <string.h>

#include "plan.h"

static int order(const struct srpol_plan *a, uint32_t i,
		 const struct srpol_plan *b, uint32_t j)
{
	if (i == a->n || j == b->n)
		return (i == a->n) - (j == b->n);
	if (a->from[i] != b->from[j])
		return a->from[i] < b->from[j] ? -1 : 1;
	if (a->to[i] != b->to[j])
		return a->to[i] < b->to[j] ? -1 : 1;
	return (a->color[i] > b->color[j]) - (a->color[i] < b->color[j]);
}

static void fill(const struct srpol_plan *plan, uint32_t pair, uint32_t *n,
		 const uint8_t **weights)
{
	*n = plan->first[pair + 1] - plan->first[pair];
	*weights = plan->weights + plan->first[pair];
}

/**
 * srpol_plan_diff() - find pairs of leaves whose weights differ in two plans
 * @a: first plan
 * @b: second plan
 * @each: called for each such pair, sorted by leaves and color; NULL: only
 *	count
 * @data: argument for @each
 *
 * Return: number of such pairs.
 */
uint32_t srpol_plan_diff(const struct srpol_plan *a, const struct srpol_plan *b,
			 void (*each)(void *data,
				      const struct srpol_plan_change *change),
			 void *data)
{
	uint32_t i = 0, j = 0, n = 0;
	int cmp;

	while (i < a->n || j < b->n) {
		struct srpol_plan_change change = {};

		cmp = order(a, i, b, j);
		change.from = cmp <= 0 ? a->from[i] : b->from[j];
		change.to = cmp <= 0 ? a->to[i] : b->to[j];
		change.color = cmp <= 0 ? a->color[i] : b->color[j];
		if (cmp <= 0)
			fill(a, i++, &change.n_old, &change.old);
		if (cmp >= 0)
			fill(b, j++, &change.n_new, &change.new);
		if (!cmp && change.n_old == change.n_new &&
		    !memcmp(change.old, change.new, change.n_old))
			continue;
		n++;
		if (each)
			each(data, &change);
	}
	return n;
}

/*
 * Compares two entries by their GPUs and color; the end of a list comes last.
 */
static int order_flows(const struct srpol_plan *a, uint32_t i,
		       const struct srpol_plan *b, uint32_t j)
{
	struct srpol_flows x, y;

	if (i == a->n_flows || j == b->n_flows)
		return (i == a->n_flows) - (j == b->n_flows);
	x = a->flows[i];
	y = b->flows[j];
	x.path = y.path = 0;
	return srpol_flows_order(&x, &y);
}

/**
 * srpol_flows_diff() - find pairs of GPUs whose flows take different paths in
 *	two plans
 * @a: first plan
 * @b: second plan
 * @each: called for each such pair and color, sorted by GPUs and color; NULL:
 *	only count
 * @data: argument for @each
 *
 * Return: number of such pairs and colors.
 */
uint32_t srpol_flows_diff(const struct srpol_plan *a, const struct srpol_plan *b,
			  void (*each)(void *data,
				       const struct srpol_flows_change *change),
			  void *data)
{
	const struct srpol_flows *first;
	uint32_t i = 0, j = 0, n = 0;
	int cmp;

	while (i < a->n_flows || j < b->n_flows) {
		struct srpol_flows_change c = {};

		cmp = order_flows(a, i, b, j);
		if (cmp <= 0) {
			c.old = &a->flows[i];
			c.n_old = srpol_flows_alike(a, i);
		}
		if (cmp >= 0) {
			c.new = &b->flows[j];
			c.n_new = srpol_flows_alike(b, j);
		}
		i += c.n_old;
		j += c.n_new;
		if (c.n_old == c.n_new &&
		    !memcmp(c.old, c.new, c.n_old * sizeof(*c.old)))
			continue;
		n++;
		first = c.old ?: c.new;
		c.src = first->src;
		c.dst = first->dst;
		c.color = first->color;
		if (each)
			each(data, &c);
	}
	return n;
}
