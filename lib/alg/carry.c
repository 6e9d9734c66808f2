// SPDX-License-Identifier: LGPL-2.1
/*
 * Carries a placement over to other demands: those that were placed before keep
 * their paths, wherever they are in the new list. A demand is the same if all
 * but its bytes is.
 */
#include <errno.h>
#include <stdlib.h>

#include "alg.h"

static int order(const struct srpol_demand *a, const struct srpol_demand *b)
{
	if (a->src != b->src)
		return a->src < b->src ? -1 : 1;
	if (a->dst != b->dst)
		return a->dst < b->dst ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->color != b->color)
		return a->color < b->color ? -1 : 1;
	if (a->via != b->via)
		return a->via < b->via ? -1 : 1;
	return (a->flows > b->flows) - (a->flows < b->flows);
}

static int by_identity(const void *a, const void *b, void *demands)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct srpol_demand *d = demands;
	int diff = order(&d[x], &d[y]);

	return diff ? diff : (x > y) - (x < y);
}

/* The indices @from up to @to - 1, sorted by the identity of the demands. */
static void sort(const struct srpol_demand *demands, uint32_t from, uint32_t to,
		 uint32_t *sorted)
{
	uint32_t i;

	for (i = from; i < to; i++)
		sorted[i - from] = i;
	qsort_r(sorted, to - from, sizeof(*sorted), by_identity,
		(void *)demands);
}

/**
 * srpol_demands_match() - find demands again in another list
 * @old: demands that were placed
 * @n_old: number of @old
 * @demands: demands to be placed
 * @n: number of @demands
 * @match: result, by demand: index of the same one in @old; SRPOL_NONE: it is
 *	new
 *
 * A demand is identified by everything except its bytes. Of equal ones, each
 * has its own counterpart, in the order of the lists. O(n), plus O(k log k) for
 * the k demands from the first to the last difference between the lists.
 *
 * Return: 0, -ENOMEM.
 */
int srpol_demands_match(const struct srpol_demand *old, uint32_t n_old,
			const struct srpol_demand *demands, uint32_t n,
			uint32_t *match)
{
	uint32_t first = 0, last_old = n_old, last = n, i, j;
	uint32_t *a, *b;
	int diff;

	for (; first < n && first < n_old && !order(&old[first], &demands[first]);
	     first++)
		match[first] = first;
	while (last > first && last_old > first &&
	       !order(&old[last_old - 1], &demands[last - 1]))
		match[--last] = --last_old;
	if (first == last)
		return 0;
	a = malloc((last_old - first + 1UL) * sizeof(*a));
	b = malloc((last - first) * sizeof(*b));
	if (!a || !b) {
		free(a);
		free(b);
		return -ENOMEM;
	}
	sort(old, first, last_old, a);
	sort(demands, first, last, b);
	for (i = 0, j = 0; j < last - first; j++) {
		diff = -1;
		while (i < last_old - first &&
		       (diff = order(&old[a[i]], &demands[b[j]])) < 0)
			i++;
		match[b[j]] = i < last_old - first && !diff ? a[i++] :
			      SRPOL_NONE;
	}
	free(a);
	free(b);
	return 0;
}

/**
 * srpol_placement_copy() - give a demand the paths of a demand of another
 *	placement
 * @to: the placement
 * @demand: index of the demand; demands are added in order, starting with 0
 * @from: the other placement
 * @i: index of the demand in @from
 *
 * Return: 0, -ENOMEM.
 */
int srpol_placement_copy(struct srpol_placement *to, uint32_t demand,
			 const struct srpol_placement *from, uint32_t i)
{
	uint32_t s;
	int rc = 0;

	for (s = from->first[i]; s < from->first[i + 1] && !rc; s++)
		rc = srpol_placement_add(to, demand, from->shares[s].path,
					 from->shares[s].weight);
	srpol_placement_end(to, demand);
	return rc;
}

/**
 * srpol_placement_carry() - carry a placement over to other demands
 * @from: placement in force
 * @match: by new demand: index in @from, or SRPOL_NONE, as found by
 *	srpol_demands_match()
 * @n: number of new demands
 *
 * Return: placement to be freed, in which demands that are new have no paths;
 * NULL without memory.
 */
struct srpol_placement *
srpol_placement_carry(const struct srpol_placement *from, const uint32_t *match,
		      uint32_t n)
{
	struct srpol_placement *p = srpol_placement_new(n);
	uint32_t i;
	int rc = 0;

	for (i = 0; p && i < n && !rc; i++) {
		if (match[i] == SRPOL_NONE)
			srpol_placement_end(p, i);
		else
			rc = srpol_placement_copy(p, i, from, match[i]);
	}
	if (!rc)
		return p;
	srpol_placement_free(p);
	return NULL;
}
