// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs whose packets pass functions of switches: their policies have paths of
 * their own, behind those of the topology, with the SID of the function in
 * place of that of the switch. They use the probes of the same path without the
 * function, as it is not known what a function does with a probe.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "function_json.h"
#include "probing.h"
#include "srpold.h"

/* Name a path JOB-HOST-TOP-PEER. */
static void name_path(const struct job *job, struct engine_path *path)
{
	char text[2 * sizeof(path->name) + 1];

	snprintf(text, sizeof(text), "%s-%s", job->name, path->name);
	engine_name(path->name, text);
}

/*
 * A path that does not pass the function gets no segments, and so is not made. What was
 * counted, and what the module said, is of the other path.
 */
static int add_path(struct engine *engine, const struct job *job,
		    uint32_t of, const struct srpol_route *route,
		    uint32_t function, struct srpol_error *err)
{
	struct engine_path *path = vec_add(&engine->paths);
	const struct engine_path *like = engine_path(engine, of);

	*path = (struct engine_path){
		.nic = like->nic, .peer = like->peer, .top = like->top,
		.links = like->links, .last = like->last, .leader = like->leader,
	};
	strcpy(path->name, like->name);
	liveness_init(&path->live, now_ns());
	name_path(job, path);
	if (function == SRPOL_NONE)
		return 0;
	/* functions need not have a compressed SID */
	return srpol_sids_via(engine->fabric, route, function,
			      engine->fabric->functions[function].csid ?
			      segments_form(&engine->config.segments) :
			      SRPOL_SID_REDUCED, &path->segs, err);
}

/* Slices say which of its paths a policy may use: a copy, or all. */
static int copy_slice(struct engine_policy *policy)
{
	uint32_t i;

	if (policy->slice)
		return 0;
	policy->slice = calloc(policy->n + 1, sizeof(*policy->slice));
	for (i = 0; policy->slice && i < policy->n; i++)
		policy->slice[i] = true;
	return policy->slice ? 0 : -ENOMEM;
}

static bool has_path(const struct engine *engine, const struct srpol_path_set *set,
		     const struct engine_policy *policy, uint32_t via)
{
	struct srpol_route route;
	uint32_t i;

	for (i = 0; i < set->n; i++) {
		srpol_path_get(engine->fabric, set, i, &route);
		if ((!policy->slice || policy->slice[i]) &&
		    srpol_route_offers(engine->fabric, &route, via))
			return true;
	}
	return false;
}

static int add_paths(struct engine *engine, const struct job *job,
		     const struct srpol_path_set *set,
		     struct engine_policy *policy, uint32_t via,
		     struct srpol_error *err)
{
	uint32_t first = engine->paths.n, i, at;
	struct srpol_route route;
	int ret;

	ret = copy_slice(policy);
	for (i = 0; i < set->n && !ret; i++) {
		srpol_path_get(engine->fabric, set, i, &route);
		at = policy->slice[i] ?
		     srpol_route_function(engine->fabric, &route, via) :
		     SRPOL_NONE;
		policy->slice[i] = at != SRPOL_NONE;
		ret = add_path(engine, job, policy->first + i, &route, at, err);
	}
	if (ret)
		engine->paths.n = first;
	else
		policy->first = first;
	return ret;
}

/**
 * job_via_policy() - give a policy of a job paths that pass the job's function
 * @engine: the engine
 * @job: the job
 * @policy: policy with the paths and the slice that it would otherwise have
 * @err: message on failure
 *
 * Return: 1; 0 if no path to that peer passes the function, and the policy is
 * unchanged; or a negative errno.
 */
int job_via_policy(struct engine *engine, const struct job *job,
		   struct engine_policy *policy, struct srpol_error *err)
{
	uint32_t via = srpol_fabric_via(engine->fabric, job->via);
	struct srpol_path_set set;
	int ret;

	if (!via)
		return srpol_error_set(err, -ENOENT,
				       "job \"%s\": no switch offers a function of name or kind \"%s\"",
				       job->name, job->via);
	ret = srpol_path_set_init(engine->fabric, policy->src, policy->dst,
				  &set);
	if (ret)
		return ret;
	if (has_path(engine, &set, policy, via))
		ret = add_paths(engine, job, &set, policy, via, err) ?: 1;
	srpol_path_set_free(&set);
	return ret;
}

static json_t *users_of(const struct engine *engine, uint32_t function)
{
	json_t *list = json_array();
	const struct job *job;
	uint32_t via;

	vec_for_each(job, &jobs) {
		via = srpol_fabric_via(engine->fabric, job->via);
		if (via && srpol_function_is(engine->fabric, function, via))
			json_array_append_new(list, json_pack("{s:s}", "name",
							      job->name));
	}
	return list;
}

/**
 * functions_request() - handle srpol engine functions
 * @engine: the engine
 * @request: no further members
 * @err: not used
 */
json_t *functions_request(struct engine *engine, const json_t *request,
			  struct srpol_error *err)
{
	json_t *list = json_array(), *o;
	uint32_t i;

	for (i = 0; i < engine->fabric->n_functions; i++) {
		o = srpol_function_json(engine->fabric, i);
		json_object_set_new(o, "jobs", users_of(engine, i));
		json_array_append_new(list, o);
	}
	return list;
}
