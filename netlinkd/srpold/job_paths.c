// SPDX-License-Identifier: GPL-2.0
/*
 * Which paths a QP of a job may take, and their weights: those that its policy
 * has in the module, since a rule with another path has no effect.
 */
#include <string.h>

#include "place.h"
#include "srpold.h"

_Static_assert(PLACE_LINKS >= SRPOL_PATH_LINKS, "a path fits");

static uint32_t find(struct engine *engine, const struct engine_policy *policy,
		     uint32_t id)
{
	uint32_t i;

	for (i = 0; id && i < policy->n; i++)
		if (engine_path(engine, policy->first + i)->id == id)
			return i;
	return PLACE_NONE;
}

/**
 * job_policies() - find the policies of a job
 * @engine: the engine
 * @job: the job
 * @own: result: pointers to the policies
 */
void job_policies(struct engine *engine, const struct job *job,
		  struct vec *own)
{
	const struct engine_policy *policy;

	vec_for_each(policy, &engine->policies)
		if (policy->color == job->color)
			*(const struct engine_policy **)vec_add(own) = policy;
}

/**
 * job_policy() - find the policy of a QP
 * @engine: the engine
 * @own: policies of its job
 * @qp: the QP
 *
 * Return: the policy with the QP's endpoint. If there are several: the one with
 * the path that it takes or, if that is not known, with the path that it is to
 * take. NULL if there is none.
 */
const struct engine_policy *job_policy(struct engine *engine,
				       const struct vec *own,
				       const struct placed_qp *qp)
{
	bool known = !IN6_IS_ADDR_UNSPECIFIED(&qp->endpoint);
	const struct engine_policy *const *policy, *first = NULL;
	uint32_t id = known ? qp->takes : qp->path;

	vec_for_each(policy, own) {
		if (known && memcmp(&(*policy)->endpoint, &qp->endpoint,
				    sizeof(qp->endpoint)))
			continue;
		if (find(engine, *policy, id) != PLACE_NONE)
			return *policy;
		if (known && !first)
			first = *policy;
	}
	return first;
}

/**
 * job_path_at() - index in its policy of the path that a QP is to take
 * @engine: the engine
 * @policy: its policy
 * @qp: the QP
 *
 * Return: the index of the path with the QP's id, which is valid even for a new
 * topology; the old index if the path's id has changed. It may be beyond the
 * policy's paths.
 */
uint32_t job_path_at(struct engine *engine, const struct engine_policy *policy,
		     const struct placed_qp *qp)
{
	uint32_t at = find(engine, policy, qp->path);

	return at == PLACE_NONE ? qp->at : at;
}

static bool can_use(struct engine *engine, const struct engine_policy *policy,
		    uint32_t i)
{
	struct engine_path *path = engine_path(engine, policy->first + i);

	return path->id && path->up && !path->stopped &&
	       (!policy->slice || policy->slice[i]) &&
	       liveness_usable(&engine_path(engine, path->leader)->live);
}

/*
 * Weights of a plan take precedence over the engine's while a path of it is
 * usable.
 */
static const uint32_t *weights_of(struct engine *engine,
				  const struct engine_policy *policy)
{
	uint32_t i;

	for (i = 0; policy->planned && i < policy->n; i++)
		if (policy->planned[i] && can_use(engine, policy, i))
			return policy->planned;
	return policy->weight;
}

/**
 * job_paths_add() - add a policy to the input of place()
 * @engine: the engine
 * @policy: the policy
 * @paths: struct place_path; the policy's paths are added
 * @policies: struct place_policy; the policy is added
 */
void job_paths_add(struct engine *engine, const struct engine_policy *policy,
		   struct vec *paths, struct vec *policies)
{
	const uint32_t *weights = weights_of(engine, policy);
	struct place_policy *to = vec_add(policies);
	struct place_path *path;
	struct srpol_path_set set;
	struct srpol_route route;
	uint32_t i, listed = 0;

	to->first = paths->n;
	if (srpol_path_set_init(engine->fabric, policy->src, policy->dst, &set))
		return;
	for (i = 0; i < policy->n; i++) {
		srpol_path_get(engine->fabric, &set, i, &route);
		path = vec_add(paths);
		/* the module's policy has the first of them, see reconcile.c */
		listed += engine_path(engine, policy->first + i)->id != 0;
		path->weight = listed <= SRPOL_LISTS_MAX &&
			       can_use(engine, policy, i) ? weights[i] : 0;
		path->n = route.n;
		memcpy(path->link, route.link, route.n * sizeof(*route.link));
	}
	to->n = policy->n;
	srpol_path_set_free(&set);
}
