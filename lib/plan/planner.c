// SPDX-License-Identifier: LGPL-2.1
/*
 * Computes a plan from links and demands, and from a plan in force the one that
 * follows. Where an algorithm places demands independently of each other, only
 * those demands are placed anew that are new or have a path over a link that
 * changed: all other pairs of leaves keep their weights bit for bit. Any other
 * algorithm is given the paths in force of the demands that stay, and moves
 * only what it must.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "srpol_lib.h"

/* By directed link: whether its capacity or quality differs. */
static bool *changed_links(const struct srpol_links *a,
			   const struct srpol_links *b)
{
	bool *changed = calloc(a->n + 1UL, sizeof(*changed));
	uint32_t i;

	for (i = 0; changed && i < a->n; i++)
		changed[i] = a->links[i].capacity != b->links[i].capacity ||
			     a->links[i].quality != b->links[i].quality;
	return changed;
}

static int is_affected(const struct srpol_fabric *f,
		       const struct srpol_demand *d, const bool *changed,
		       bool *affected)
{
	struct srpol_path_set set;
	struct srpol_route route;
	uint32_t i, j;
	int ret;

	ret = srpol_path_set_init(f, d->src, d->dst, &set);
	for (i = 0; i < set.n && !ret && !*affected; i++) {
		srpol_path_get(f, &set, i, &route);
		for (j = 0; j < route.n; j++)
			*affected |= changed[route.link[j]];
	}
	srpol_path_set_free(&set);
	return ret;
}

/*
 * Puts the indices of demands that have to be placed in @todo; returns their
 * number.
 */
static int find_todo(const struct srpol_planner *p,
		     const struct srpol_links *links,
		     const struct srpol_demand *demands, uint32_t n,
		     const uint32_t *match, uint32_t *todo)
{
	bool *changed = changed_links(p->links, links), affected;
	uint32_t i, found = 0;
	int ret = changed ? 0 : -ENOMEM;

	for (i = 0; i < n && !ret; i++) {
		affected = match[i] == SRPOL_NONE ||
			   p->demands[match[i]].bytes != demands[i].bytes;
		if (!affected)
			ret = is_affected(p->fabric, &demands[i], changed,
					  &affected);
		if (affected)
			todo[found++] = i;
	}
	free(changed);
	return ret ? ret : (int)found;
}

/*
 * Takes demands in @todo from @anew, and all others from the placement in
 * force.
 */
static struct srpol_placement *splice(const struct srpol_planner *p, uint32_t n,
				      const uint32_t *match,
				      const uint32_t *todo, uint32_t n_todo,
				      const struct srpol_placement *anew)
{
	struct srpol_placement *out = srpol_placement_new(n);
	uint32_t i, k = 0;
	int ret = out ? 0 : -ENOMEM;

	for (i = 0; i < n && !ret; i++) {
		if (k < n_todo && todo[k] == i)
			ret = srpol_placement_copy(out, i, anew, k++);
		else
			ret = srpol_placement_copy(out, i, p->placement,
						   match[i]);
	}
	if (!ret)
		return out;
	srpol_placement_free(out);
	return NULL;
}

/* Places demands in @todo, each by itself. */
static int place_todo(const struct srpol_planner *p,
		      const struct srpol_alg_input *in, const uint32_t *match,
		      const uint32_t *todo, uint32_t n,
		      struct srpol_placement **out, struct srpol_error *err)
{
	struct srpol_demand *some = calloc(n + 1UL, sizeof(*some));
	uint32_t *had = calloc(n + 1UL, sizeof(*had)), i;
	struct srpol_placement *previous = NULL;
	struct srpol_alg_input part = *in;
	int ret = some && had ? 0 : -ENOMEM;

	for (i = 0; !ret && i < n; i++) {
		some[i] = in->demands[todo[i]];
		had[i] = match[todo[i]];
	}
	if (!ret) {
		previous = srpol_placement_carry(p->placement, had, n);
		ret = previous ? 0 : -ENOMEM;
	}
	part.demands = some;
	part.n = n;
	part.previous = previous;
	ret = ret ?: srpol_alg_run(p->alg, &part, out, err);
	srpol_placement_free(previous);
	free(had);
	free(some);
	return ret;
}

static int place_some(struct srpol_planner *p, const struct srpol_alg_input *in,
		      const uint32_t *match, struct srpol_placement **out,
		      struct srpol_error *err)
{
	uint32_t *todo = calloc(in->n + 1UL, sizeof(*todo));
	struct srpol_placement *anew = NULL;
	int ret, n;

	ret = n = todo ? find_todo(p, in->links, in->demands, in->n, match,
				   todo) : -ENOMEM;
	if (ret >= 0)
		ret = place_todo(p, in, match, todo, n, &anew, err);
	if (!ret) {
		p->placed = n;
		*out = splice(p, in->n, match, todo, n, anew);
		ret = *out ? srpol_placement_predict(in, *out) : -ENOMEM;
	}
	srpol_placement_free(anew);
	free(todo);
	return ret;
}

/*
 * Demands that can use a link that carries more than before are placed anew: while
 * another link is the busiest, nothing else would bring them back there.
 */
static int leave_risen(const struct srpol_planner *p,
		       const struct srpol_alg_input *in, uint32_t *match)
{
	bool *risen = calloc(in->links->n + 1UL, sizeof(*risen));
	bool any = false, affected;
	int ret = risen ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 0; !ret && i < in->links->n; i++) {
		risen[i] = in->links->links[i].capacity >
			   p->links->links[i].capacity;
		any |= risen[i];
	}
	for (i = 0; !ret && any && i < in->n; i++) {
		affected = false;
		ret = is_affected(p->fabric, &in->demands[i], risen, &affected);
		if (affected)
			match[i] = SRPOL_NONE;
	}
	free(risen);
	return ret;
}

/* Places all demands; those with paths in force keep them if possible. */
static int place_all(struct srpol_planner *p, struct srpol_alg_input *in,
		     uint32_t *match, struct srpol_placement **out,
		     struct srpol_error *err)
{
	struct srpol_placement *previous;
	uint32_t i, new = 0;
	int ret = leave_risen(p, in, match);

	if (ret)
		return ret;
	for (i = 0; i < in->n; i++)
		new += match[i] == SRPOL_NONE;
	previous = srpol_placement_carry(p->placement, match, in->n);
	if (!previous)
		return -ENOMEM;
	in->previous = new < in->n ? previous : NULL;
	ret = srpol_alg_run(p->alg, in, out, err);
	if (!ret)
		p->placed = new + (*out)->prediction.moved;
	srpol_placement_free(previous);
	return ret;
}

static int place(struct srpol_planner *p, struct srpol_alg_input *in,
		 struct srpol_placement **out, struct srpol_error *err)
{
	uint32_t *match;
	int ret;

	if (!p->placement) {
		p->placed = in->n;
		return srpol_alg_run(p->alg, in, out, err);
	}
	if (in->options.hysteresis <= 0)
		in->options.hysteresis = SRPOL_ALG_HYSTERESIS;
	match = malloc((in->n + 1UL) * sizeof(*match));
	ret = match ? srpol_demands_match(p->demands, p->n, in->demands, in->n,
					  match) : -ENOMEM;
	if (!ret)
		ret = p->alg->place ? place_some(p, in, match, out, err) :
				      place_all(p, in, match, out, err);
	free(match);
	return ret;
}

static void forget(struct srpol_planner *p)
{
	srpol_links_free(p->links);
	free(p->demands);
	srpol_placement_free(p->placement);
	srpol_plan_free(p->plan);
}

/**
 * srpol_planner_run() - compute the plan for the given links and demands
 * @planner: @fabric, @alg and @options are set; after an error nothing but
 *	@placed may have changed
 * @links: state of the links
 * @demands: demands to be placed
 * @n: number of @demands
 * @err: reason of a failure
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int srpol_planner_run(struct srpol_planner *planner,
		      const struct srpol_links *links,
		      const struct srpol_demand *demands, uint32_t n,
		      struct srpol_error *err)
{
	struct srpol_planner new = *planner;
	struct srpol_alg_input in = {
		.fabric = planner->fabric, .links = links, .demands = demands,
		.n = n, .options = planner->options,
	};
	int ret;

	new.links = srpol_links_copy(links);
	new.demands = malloc((n + 1UL) * sizeof(*new.demands));
	new.placement = NULL;
	new.plan = NULL;
	new.n = n;
	ret = new.links && new.demands ? 0 : -ENOMEM;
	if (!ret) {
		if (n)
			memcpy(new.demands, demands, n * sizeof(*demands));
		ret = place(planner, &in, &new.placement, err);
	}
	if (!ret) {
		new.placed = planner->placed;
		in.previous = NULL;
		new.plan = srpol_plan_new(&in, new.placement);
		ret = new.plan ? 0 : -ENOMEM;
	}
	if (ret) {
		forget(&new);
		return ret;
	}
	forget(planner);
	*planner = new;
	return 0;
}

/**
 * srpol_planner_try() - compute the plan that would follow from other links
 * @planner: the plan in force, which is not changed
 * @links: state of these links
 * @trial: result, to be freed with srpol_planner_free(); empty after an error
 * @err: reason of a failure
 *
 * Return: 0, -EINVAL if there is no plan in force, -ENOMEM.
 */
int srpol_planner_try(const struct srpol_planner *planner,
		      const struct srpol_links *links,
		      struct srpol_planner *trial, struct srpol_error *err)
{
	struct srpol_placement *p;
	uint32_t i;
	int ret;

	*trial = (struct srpol_planner){};
	if (!planner->plan)
		return srpol_error_set(err, -EINVAL, "there is no plan yet");
	*trial = *planner;
	trial->plan = NULL;
	trial->links = srpol_links_copy(planner->links);
	trial->demands = malloc((planner->n + 1UL) * sizeof(*trial->demands));
	trial->placement = p = srpol_placement_new(planner->n);
	ret = trial->links && trial->demands && p ? 0 : -ENOMEM;
	if (!ret)
		memcpy(trial->demands, planner->demands,
		       planner->n * sizeof(*trial->demands));
	for (i = 0; i < planner->n && !ret; i++)
		ret = srpol_placement_copy(p, i, planner->placement, i);
	ret = ret ?: srpol_planner_run(trial, links, planner->demands,
				       planner->n, err);
	if (ret)
		srpol_planner_free(trial);
	return ret;
}

/**
 * srpol_planner_free() - free the content of a planner
 * @planner: planner
 */
void srpol_planner_free(struct srpol_planner *planner)
{
	forget(planner);
	*planner = (struct srpol_planner){};
}
