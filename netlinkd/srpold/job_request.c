// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs are created and deleted through the socket. They are stored in a file
 * beside it, so that they survive the engine, but not a reboot, as QPs,
 * processes and control groups do not either.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "srpold.h"
#include "words.h"

static void file_name(const struct engine *engine, const char *suffix,
		      char *buf, size_t len)
{
	snprintf(buf, len, "%s.jobs%s", engine->config.socket, suffix);
}

static void save(const struct engine *engine)
{
	char name[160], new[160];
	json_t *array = json_array();
	const struct job *job;

	vec_for_each(job, &jobs)
		json_array_append_new(array, job_to_json(job));
	file_name(engine, "", name, sizeof(name));
	file_name(engine, ".new", new, sizeof(new));
	if (json_dump_file(array, new, JSON_INDENT(1)) || rename(new, name))
		log_error("%s: %s; jobs are lost when the engine ends", name,
			  strerror(errno));
	json_decref(array);
}

static struct job *find(const char *name)
{
	struct job *job;

	vec_for_each(job, &jobs)
		if (name && !strcmp(job->name, name))
			return job;
	return NULL;
}

static uint32_t free_slot(void)
{
	const struct job *job;
	uint32_t slot = 0;
	bool taken;

	do {
		taken = false;
		vec_for_each(job, &jobs)
			taken |= job->slot == slot;
		slot += taken;
	} while (taken);
	return slot;
}

static void remove_job(struct job *job)
{
	struct job *end = (struct job *)jobs.data + jobs.n--;

	memmove(job, job + 1, (char *)end - (char *)(job + 1));
}

/* Make the module follow. */
static int follow(struct engine *engine, struct srpol_error *err)
{
	return balance_weigh(engine, NULL, err) ?: reconcile(engine, err);
}

/* Go back; what fails is tried again. */
static void follow_back(struct engine *engine)
{
	struct srpol_error err = {};

	if (follow(engine, &err))
		watch_look_later();
}

/* @stored: see job_from_json() */
static int add(struct engine *engine, const json_t *o, const json_t *stored,
	       struct srpol_error *err)
{
	struct job new = { .slot = free_slot(), .since_ns = now_ns() };
	struct srpol_error again = {};
	int ret;

	ret = job_from_json(engine, o, stored, &new, err);
	if (ret)
		return ret;
	if (find(new.name))
		return srpol_error_set(err, -EEXIST, "job \"%s\" is there",
				       new.name);
	if (jobs.n == JOBS_MAX)
		return srpol_error_set(err, -ENOSPC, "%u jobs are there",
				       JOBS_MAX);
	*(struct job *)vec_add(&jobs) = new;
	job_place_forget(&new);
	ret = jobs_build(engine, stored, err);
	if (ret && stored) {
		log_error("%s; it gets all of them", err->text);
		return 0;
	}
	if (!ret)
		return 0;
	remove_job((struct job *)jobs.data + jobs.n - 1);
	jobs_build(engine, false, &again);
	/* the paths of jobs through functions were made anew, without ids */
	follow_back(engine);
	return ret;
}

/*
 * Later changes are left out and tried again if there is no room, but a job has
 * to start.
 */
static int lacks_room(struct srpol_error *err)
{
	return rules_are_left_out() ?
	       srpol_error_set(err, -ENOSPC,
			       "the module has no room for the job's rules") :
	       0;
}

/* The jobs in a file, or NULL: there is none, or it is told why they are lost. */
static json_t *stored_jobs(const char *name)
{
	struct srpol_error err = {};
	json_t *array;

	if (access(name, F_OK) && errno == ENOENT)
		return NULL;
	array = words_load(name, &err);
	if (json_is_array(array))
		return array;
	if (array)
		srpol_error_set(&err, -EINVAL, "%s: not a list", name);
	log_error("%s; the jobs of before are not there any more", err.text);
	json_decref(array);
	return NULL;
}

/**
 * jobs_load() - load the jobs of an earlier srpold
 * @engine: the engine
 *
 * A job whose paths the topology has no more stays, as it does at a reload.
 */
void jobs_load(struct engine *engine)
{
	struct srpol_error err = {};
	char name[160];
	json_t *array, *o;
	size_t i;

	file_name(engine, "", name, sizeof(name));
	array = stored_jobs(name);
	json_array_foreach(array, i, o)
		if (add(engine, o, array, &err))
			log_error("%s: %s", name, err.text);
	json_decref(array);
	job_adopt(engine);
}

/**
 * job_add_request() - handle srpol job add
 * @engine: the engine
 * @request: the job
 * @err: message on failure
 *
 * Return: the job, NULL if it is refused.
 */
json_t *job_add_request(struct engine *engine, const json_t *request,
			struct srpol_error *err)
{
	struct srpol_error again = {};
	struct job *job;

	if (add(engine, request, NULL, err))
		return NULL;
	if (follow(engine, err) || lacks_room(err)) {
		remove_job((struct job *)jobs.data + jobs.n - 1);
		jobs_build(engine, false, &again);
		follow_back(engine);
		return NULL;
	}
	save(engine);
	job = (struct job *)jobs.data + jobs.n - 1;
	return job_to_json(job);
}

/* Put a job back in its place that could not be deleted. */
static void restore_job(struct engine *engine, const struct job *was,
			size_t at)
{
	struct srpol_error again = {};
	struct job *place;

	vec_add(&jobs);
	place = (struct job *)jobs.data + at;
	memmove(place + 1, place, (jobs.n - 1 - at) * sizeof(*place));
	*place = *was;
	jobs_build(engine, false, &again);
	follow_back(engine);
}

/**
 * job_del_request() - handle srpol job del
 * @engine: the engine
 * @request: the job's "name"
 * @err: message on failure
 *
 * Return: the deleted job; NULL if there was none, or if the module could not
 * be changed, in which case the job stays.
 */
json_t *job_del_request(struct engine *engine, const json_t *request,
			struct srpol_error *err)
{
	const char *name = json_string_value(json_object_get(request, "name"));
	struct job *job = find(name), was;
	struct srpol_error lacks = {};
	size_t at;
	int ret;

	if (!job) {
		srpol_error_set(err, -ENOENT, "no job \"%s\"", name ?: "");
		return NULL;
	}
	was = *job;
	at = job - (struct job *)jobs.data;
	remove_job(job);
	/* Disjoint jobs have other paths now, and one may miss its function. */
	ret = jobs_build(engine, true, &lacks);
	if (ret && ret != -ENOENT && ret != -ENOSPC)
		*err = lacks;
	else
		ret = follow(engine, err);
	if (ret) {
		restore_job(engine, &was, at);
		return NULL;
	}
	if (lacks.text[0])
		log_error("%s; it gets all of them", lacks.text);
	save(engine);
	return job_to_json(&was);
}

/*
 * What a job has sent, by the counters of its policies, since flows come and
 * go.
 */
static uint64_t count_bytes(const struct job *job, const struct vec *policies)
{
	int stats = srpol_map_open("policy_stats");
	const struct policy_info *policy;
	struct srpol_counter c;
	uint64_t bytes = 0;

	vec_for_each(policy, policies)
		if (policy->color == job->color &&
		    !srpol_map_sum(stats, policy->id, &c, sizeof(c)))
			bytes += c.bytes;
	srpol_map_close(stats);
	return bytes;
}

/**
 * struct use - use of a path by a job's flows
 * @flows: number of flows
 * @bytes: bytes that they sent, some of them possibly over another path or for
 *	another job
 */
struct use {
	uint64_t flows;
	uint64_t bytes;
};

/**
 * struct numbered - a path with an id in the module
 * @id: id of the path
 * @index: index in engine.paths
 */
struct numbered {
	uint32_t id;
	uint32_t index;
};

static int by_id(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/*
 * Number the paths for look-ups, since there may be many flows and many paths.
 */
static void number_paths(struct engine *engine, struct vec *paths)
{
	const struct engine_path *path;

	vec_for_each(path, &engine->paths)
		if (path->id)
			*(struct numbered *)vec_add(paths) = (struct numbered){
				path->id, path - engine_path(engine, 0),
			};
	if (paths->n)
		qsort(paths->data, paths->n, paths->size, by_id);
}

static void count_flow(const struct srpol_flow *flow, const struct vec *paths,
		       struct use *use)
{
	const struct numbered key = { .id = flow->path }, *at = NULL;

	if (paths->n)
		at = bsearch(&key, paths->data, paths->n, paths->size, by_id);
	if (!at)
		return;
	use[at->index].flows++;
	use[at->index].bytes += flow->bytes;
}

/* Count the flows of each path, by index of the engine's paths. */
static struct use *count_flows(struct engine *engine, const struct job *job,
			       const struct vec *policies)
{
	struct use *use = calloc(engine->paths.n + 1, sizeof(*use));
	struct vec paths = VEC_INIT(struct numbered);
	struct srpol_flow_table table;
	const struct policy_info *policy;
	struct srpol_flow flow;
	uint32_t nr = 0;

	if (!use || srpol_flows_open(&table))
		return use;
	number_paths(engine, &paths);
	while (srpol_flows_next(&table, &nr, &flow, NULL)) {
		policy = find_policy(policies, flow.cache.policy);
		if (policy && policy->color == job->color)
			count_flow(&flow, &paths, use);
	}
	srpol_flows_close(&table);
	vec_free(&paths);
	return use;
}

static uint32_t count_rules(const struct engine *engine,
			    const struct job *job)
{
	const struct rule_info *rule;
	uint32_t n = 0;

	vec_for_each(rule, &engine->rules)
		n += rule->color == job->color;
	return n;
}

static uint32_t count_placed(const struct job *job)
{
	const struct placed_qp *qp;
	uint32_t n = 0;

	vec_for_each(qp, job_place_qps(job))
		n += qp->path != 0;
	return n;
}

/*
 * Report the paths of a job and how it used them; flows that share a path
 * collide. @policies, @rules: those of the module
 */
static void report_use(struct engine *engine, const struct job *job,
		       const struct vec *policies, const struct vec *rules, json_t *o)
{
	struct use *use = count_flows(engine, job, policies);
	json_t *paths = json_array(), *p;
	uint64_t collisions = 0;
	const struct engine_policy *policy;
	uint32_t i, at;

	vec_for_each(policy, &engine->policies) {
		for (i = 0; use && policy->color == job->color &&
		     i < policy->n; i++) {
			at = policy->first + i;
			if (policy->slice && !policy->slice[i])
				continue;
			collisions += use[at].flows ? use[at].flows - 1 : 0;
			p = json_object();
			json_object_set_new(p, "path", json_integer(
				engine_path(engine, at)->id));
			json_object_set_new(p, "name", json_string(
				engine_path(engine, at)->name));
			json_object_set_new(p, "flows",
					    json_integer(use[at].flows));
			json_object_set_new(p, "bytes",
					    json_integer(use[at].bytes));
			json_array_append_new(paths, p);
		}
	}
	json_object_set_new(o, "rules",
			    json_integer(count_rules(engine, job)));
	json_object_set_new(o, "rules_missing",
			    json_integer(rules_missing(engine, rules, job->color)));
	json_object_set_new(o, "qps_without_rule",
			    json_integer(job->unruled));
	if (job->lacks_paths)
		json_object_set_new(o, "lacks_paths", json_true());
	json_object_set_new(o, "placed", json_integer(count_placed(job)));
	json_object_set_new(o, "bytes",
			    json_integer(count_bytes(job, policies)));
	json_object_set_new(o, "collisions", json_integer(collisions));
	json_object_set_new(o, "use", paths);
	free(use);
}

/**
 * job_show_request() - handle srpol job show
 * @engine: the engine
 * @request: "name" of one job, or nothing for all
 * @err: message on failure
 */
json_t *job_show_request(struct engine *engine, const json_t *request,
			 struct srpol_error *err)
{
	const char *name = json_string_value(json_object_get(request, "name"));
	struct vec policies = VEC_INIT(struct policy_info);
	struct vec rules = VEC_INIT(struct rule_info);
	json_t *array = json_array(), *o;
	const struct job *job;
	int ret;

	if (name && !find(name)) {
		srpol_error_set(err, -ENOENT, "no job \"%s\"", name);
		json_decref(array);
		return NULL;
	}
	ret = srpol_fetch(&engine->genl, SRPOL_CMD_POLICY_GET, &policies, err) ?:
	      srpol_fetch(&engine->genl, SRPOL_CMD_RULE_GET, &rules, err);
	vec_for_each(job, &jobs) {
		if (ret || (name && strcmp(job->name, name)))
			continue;
		o = job_to_json(job);
		report_use(engine, job, &policies, &rules, o);
		json_array_append_new(array, o);
	}
	vec_free(&policies);
	vec_free(&rules);
	if (!ret)
		return array;
	json_decref(array);
	return NULL;
}
