// SPDX-License-Identifier: LGPL-2.1
/*
 * When demands end if hosts weigh their paths as a plan says: as fluid flows
 * that share links fairly, see lib/alg's predict.c.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "plan.h"

/* Shares as a host has them; equal ones where the plan says nothing. */
static int place_one(const struct srpol_planner *p,
		     const struct srpol_links *links, uint32_t demand,
		     struct srpol_placement *out)
{
	const struct srpol_demand *d = &p->demands[demand];
	struct srpol_path_set set;
	struct srpol_route route;
	uint32_t *weight, i;
	int ret, n;

	ret = srpol_path_set_init(p->fabric, d->src, d->dst, &set);
	if (ret)
		return ret;
	weight = calloc(set.n + 1UL, sizeof(*weight));
	n = weight ? srpol_plan_weigh(p->fabric, links, p->plan, d->src, d->dst,
				      weight, set.n) : -ENOMEM;
	for (i = 0; n == -ENOENT && i < set.n; i++) {
		srpol_path_get(p->fabric, &set, i, &route);
		weight[i] = srpol_route_capacity(links, &route) > 0;
	}
	ret = n == -ENOENT || n > 0 ? 0 : n;
	for (i = 0; i < set.n && !ret; i++)
		if (weight[i])
			ret = srpol_placement_add(out, demand, i, weight[i]);
	srpol_placement_end(out, demand);
	free(weight);
	srpol_path_set_free(&set);
	return ret;
}

/* Seconds at which the last demand ends. */
static int completion(const struct srpol_planner *p,
		      const struct srpol_links *links, double *seconds)
{
	struct srpol_alg_input in = {
		.fabric = p->fabric, .links = links, .demands = p->demands,
		.n = p->n,
	};
	struct srpol_placement *out = srpol_placement_new(p->n);
	double *finish = calloc(p->n + 1UL, sizeof(*finish));
	int ret = out && finish ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 0; i < p->n && !ret; i++)
		ret = place_one(p, links, i, out);
	ret = ret ?: srpol_predict(&in, out, false, NULL, finish);
	for (i = 0, *seconds = 0; i < p->n && !ret; i++)
		*seconds = fmax(*seconds, finish[i]);
	srpol_placement_free(out);
	free(finish);
	return ret;
}

/**
 * srpol_what_if() - what other links would do
 * @now: what is in force
 * @trial: what would follow, of srpol_planner_try()
 * @result: result
 *
 * Return: 0, -ENOMEM.
 */
int srpol_what_if(const struct srpol_planner *now,
		  const struct srpol_planner *trial,
		  struct srpol_what_if *result)
{
	result->unplaced = trial->placement->prediction.unplaced;
	return completion(now, now->links, &result->now) ?:
	       completion(now, trial->links, &result->local) ?:
	       completion(trial, trial->links, &result->planned);
}
