// SPDX-License-Identifier: LGPL-2.1
/*
 * When demands end if hosts weigh their paths as a plan says: as fluid flows,
 * see lib/alg's maxmin.c. Demands share links fairly, whatever number of paths
 * each has: a share counts as much as it has of its demand.
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

static int run(const struct srpol_alg_input *in,
	       const struct srpol_placement *out, double *seconds)
{
	struct srpol_fluid *m = srpol_fluid_new(in, out, false, NULL);
	struct srpol_maxmin_run run = { .until = INFINITY };
	double *weight;
	uint32_t i;
	int ret;

	if (!m)
		return -ENOMEM;
	weight = calloc(m->net.n_flows + 1UL, sizeof(*weight));
	ret = weight ? 0 : -ENOMEM;
	for (i = 0; i < m->net.n_flows && !ret; i++)
		weight[i] = m->left[i] / in->demands[m->demand[i]].bytes;
	m->net.weight = weight;
	run.left = m->left;
	run.start = m->start;
	run.finish = m->finish;
	ret = ret ? ret : srpol_maxmin_run(&m->net, &run);
	for (i = 0; i < m->net.n_flows && !ret; i++)
		*seconds = fmax(*seconds, m->finish[i]);
	free(weight);
	srpol_fluid_free(m);
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
	const struct srpol_gpu *gpus = p->fabric->gpus;
	int ret = out ? 0 : -ENOMEM;
	uint32_t i;

	*seconds = 0;
	for (i = 0; i < p->n && !ret; i++) {
		ret = place_one(p, links, i, out);
		if (!ret && out->first[i] == out->first[i + 1] &&
		    gpus[p->demands[i].src].host !=
		    gpus[p->demands[i].dst].host)
			*seconds = INFINITY;
	}
	ret = ret ? ret : run(&in, out, seconds);
	srpol_placement_free(out);
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
