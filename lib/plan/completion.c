// SPDX-License-Identifier: LGPL-2.1
/*
 * Computes when demands end if hosts use the weights of a plan. Demands are
 * modeled as fluid flows, see maxmin.c in lib/alg. Links are shared fairly
 * between demands, no matter how many paths each one uses: a share of a demand
 * has a weight equal to its part of the demand's bytes.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "plan.h"

/*
 * Of one computation: some 2 s of a processor. Whoever asks does nothing else meanwhile,
 * and has a lease to renew.
 */
#define EFFORT_MAX	(1u << 28)

/*
 * Likewise, before that: paths that are looked at, and the shares that demands get of
 * them, which are kept, some 100 bytes each.
 */
#define PLACING_MAX	(1u << 26)
#define SHARE_EFFORT	8	/* as much as this number of paths */

/*
 * Places one demand as a host does: by the weights of the demand's color, else
 * by those of color 0, else evenly on all paths that are up. Paths that do not
 * pass the function that the demand asks for get no share, even if the plan
 * gives them a weight.
 */
static int place_one(const struct srpol_fabric *f,
		     const struct srpol_links *links,
		     const struct srpol_plan *plan,
		     const struct srpol_demand *d, uint32_t demand,
		     struct srpol_placement *out, uint64_t *effort)
{
	struct srpol_path_set set;
	struct srpol_route route;
	uint32_t *weight, i;
	int ret, n;

	ret = srpol_path_set_init(f, d->src, d->dst, &set);
	if (ret)
		return ret;
	weight = calloc(set.n + 1UL, sizeof(*weight));
	n = weight ? srpol_plan_weigh(f, links, plan, d->src, d->dst, d->color,
				      weight, set.n) : -ENOMEM;
	if (n == -ENOENT)
		n = srpol_plan_weigh(f, links, plan, d->src, d->dst, 0, weight,
				     set.n);
	for (i = 0; n == -ENOENT && i < set.n; i++) {
		srpol_path_get(f, &set, i, &route);
		weight[i] = srpol_route_capacity(links, &route) > 0;
	}
	ret = n == -ENOENT || n >= 0 ? 0 : n;
	for (i = 0; i < set.n && !ret; i++) {
		srpol_path_get(f, &set, i, &route);
		if (weight[i] && srpol_route_offers(f, &route, d->via))
			ret = srpol_placement_add(out, demand, i, weight[i]);
	}
	srpol_placement_end(out, demand);
	*effort += set.n + (uint64_t)SHARE_EFFORT *
			   (out->first[demand + 1] - out->first[demand]);
	free(weight);
	srpol_path_set_free(&set);
	return ret;
}

static int place_all(const struct srpol_alg_input *in,
		     const struct srpol_plan *plan,
		     struct srpol_placement *out, uint64_t most)
{
	uint64_t effort = 0;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < in->n && !ret; i++)
		ret = place_one(in->fabric, in->links, plan,
				&in->demands[i], i, out, &effort) ?:
		      effort > most ? -E2BIG : 0;
	return ret;
}

static int run(const struct srpol_alg_input *in,
	       const struct srpol_placement *out, const double *start,
	       double *finish)
{
	struct srpol_fluid *m = srpol_fluid_new(in, out, false, start);
	struct srpol_maxmin_run run = { .until = INFINITY, .effort = EFFORT_MAX };
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
		finish[m->demand[i]] = fmax(finish[m->demand[i]],
					    m->finish[i]);
	free(weight);
	srpol_fluid_free(m);
	return ret;
}

/**
 * srpol_completion() - compute when demands end that all begin now
 * @f: finished fabric
 * @links: state of the links
 * @plan: the plan that hosts use
 * @demands: all demands
 * @n: number of @demands
 * @finish: result, by demand: seconds from now; INFINITY: it does not end
 *
 * Return: 0, -EINVAL for a plan of another fabric or a GPU that does not exist,
 * -ENOMEM, -E2BIG if it would take too long.
 */
int srpol_completion(const struct srpol_fabric *f,
		     const struct srpol_links *links,
		     const struct srpol_plan *plan,
		     const struct srpol_demand *demands, uint32_t n,
		     double *finish)
{
	return srpol_completion_from(f, links, plan, demands, n, NULL, finish);
}

/**
 * srpol_completion_from() - compute when demands end that begin at given times
 * @f: finished fabric
 * @links: state of the links
 * @plan: the plan that hosts use
 * @demands: all demands
 * @n: number of @demands
 * @start: by demand: seconds from now at which it begins; NULL: 0 for all
 * @finish: result, by demand: seconds from now; INFINITY: it does not end
 *
 * Return: 0, -EINVAL for a plan of another fabric or a GPU that does not exist,
 * -ENOMEM, -E2BIG if it would take too long.
 */
int srpol_completion_from(const struct srpol_fabric *f,
			  const struct srpol_links *links,
			  const struct srpol_plan *plan,
			  const struct srpol_demand *demands, uint32_t n,
			  const double *start, double *finish)
{
	struct srpol_alg_input in = {
		.fabric = f, .links = links, .demands = demands, .n = n,
	};
	struct srpol_placement *out = srpol_placement_new(n);
	int ret = out ? place_all(&in, plan, out, PLACING_MAX) : -ENOMEM;
	uint32_t i;

	for (i = 0; i < n && !ret; i++)
		finish[i] = out->first[i] == out->first[i + 1] &&
			    f->gpus[demands[i].src].host !=
			    f->gpus[demands[i].dst].host ? INFINITY :
			    start ? start[i] : 0;
	ret = ret ? ret : run(&in, out, start, finish);
	srpol_placement_free(out);
	return ret;
}

/**
 * srpol_planned_load() - compute the load that demands put on links
 * @f: finished fabric
 * @links: state of the links
 * @plan: the plan that hosts use
 * @demands: demands
 * @n: number of @demands
 * @load: result: bytes by directed link
 *
 * Return: 0, -EINVAL for a plan of another fabric or a GPU that does not exist,
 * -ENOMEM.
 */
int srpol_planned_load(const struct srpol_fabric *f,
		       const struct srpol_links *links,
		       const struct srpol_plan *plan,
		       const struct srpol_demand *demands, uint32_t n,
		       double *load)
{
	struct srpol_alg_input in = {
		.fabric = f, .links = links, .demands = demands, .n = n,
	};
	struct srpol_placement *out = srpol_placement_new(n);
	int ret = out ? place_all(&in, plan, out, UINT64_MAX) : -ENOMEM;

	ret = ret ? ret : srpol_placement_load(&in, out, load);
	srpol_placement_free(out);
	return ret;
}
