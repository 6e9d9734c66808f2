// SPDX-License-Identifier: LGPL-2.1
/*
 * What srpold is told. A job is told of once on a node, whichever of its steps
 * comes first, and is taken back at its end by Slurm's epilog, which comes even
 * if slurmstepd was killed. What was not taken back, as slurmd or srpold was
 * not there either, is found by its control group being gone, when that is in
 * the way of somebody.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "spank_srpol.h"

#define PREFIX		"slurm-"
#define CGROUP_ROOT	"/sys/fs/cgroup"

/**
 * job_name() - what srpold calls a job of Slurm's
 * @id: its number
 * @name: result, of JOB_NAME_LEN bytes
 */
void job_name(uint32_t id, char *name)
{
	snprintf(name, JOB_NAME_LEN, PREFIX "%u", id);
}

/* -EREMOTEIO: it was refused; *reply may be NULL, else it is to be released. */
static int ask(const struct config *config, json_t *request, json_t **reply,
	       struct srpol_error *err)
{
	const char *text;
	json_t *answer;
	int ret;

	*reply = NULL;
	ret = srpol_ask(config->socket, request, config->limit_ms, &answer);
	json_decref(request);
	if (ret && ret != -ETIMEDOUT)
		return srpol_error_set(err, ret,
				       "srpold does not run here: %s: %s",
				       config->socket, strerror(-ret));
	*reply = json_incref(json_object_get(answer, "reply"));
	text = json_string_value(json_object_get(answer, "error"));
	if (text)
		ret = srpol_error_set(err, -EREMOTEIO, "srpold: %s", text);
	else if (!*reply)
		ret = srpol_error_set(err, -ETIMEDOUT,
				      "srpold: no answer in time");
	json_decref(answer);
	return ret;
}

static json_t *names_of(const char *text)
{
	json_t *list = json_array();
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		json_array_append_new(list, json_stringn(text, len));
		if (!text[len])
			return list;
	}
}

static json_t *request_to_add(const struct job *job)
{
	json_t *o = json_pack("{s:s, s:s, s:s}", "request", "job-add",
			      "name", job->name, "cgroup", job->cgroup);

	if (job->color)
		json_object_set_new(o, "color", json_integer(job->color));
	if (!strcmp(job->wish->paths, "disjoint"))
		json_object_set_new(o, "paths", json_string("disjoint"));
	else if (job->wish->paths[0])
		json_object_set_new(o, "paths", names_of(job->wish->paths));
	if (job->wish->via[0])
		json_object_set_new(o, "via", json_string(job->wish->via));
	return o;
}

static int add(const struct config *config, const struct job *job,
	       struct srpol_error *err)
{
	json_t *reply;
	int ret;

	ret = ask(config, request_to_add(job), &reply, err);
	json_decref(reply);
	return ret;
}

static bool is_over(const json_t *job)
{
	const char *cgroup = json_string_value(json_object_get(job, "cgroup"));
	char path[sizeof(CGROUP_ROOT) + CGROUP_LEN];

	if (!cgroup || cgroup[0] != '/' || strlen(cgroup) >= CGROUP_LEN)
		return false;
	snprintf(path, sizeof(path), CGROUP_ROOT "%s", cgroup);
	return access(path, F_OK) && errno == ENOENT;
}

static bool is_same(const json_t *wanted, const json_t *known, const char *key)
{
	const json_t *v = json_object_get(wanted, key);

	return !v || json_equal(v, json_object_get(known, key));
}

/*
 * A step that names a color, paths or a function has the job's own, or is told
 * that it has not.
 */
static bool is_as_wished(const struct job *job, const json_t *known)
{
	json_t *wanted = request_to_add(job);
	bool is = is_same(wanted, known, "paths") &&
		  is_same(wanted, known, "via") &&
		  (!job->wish->color || is_same(wanted, known, "color"));

	json_decref(wanted);
	return is;
}

static int refuse_step(struct srpol_error *err)
{
	struct srpol_error was = *err;

	return srpol_error_set(err, -EREMOTEIO,
			       "%.300s; options of a step have to be those of its job, which is known already",
			       was.text);
}

/*
 * Return: whether something went that may have been in the way. The job waits for
 * this: if srpold does not answer once, the rest is not tried. *@is_there: another
 * step has told of the job; *@is_good: and of what this one wishes.
 */
static bool look_at_others(const struct config *config, const struct job *job,
			   bool *is_there, bool *is_good)
{
	json_t *list, *o;
	struct srpol_error err = {};
	bool removed = false;
	const char *name;
	int ret = 0;
	size_t i;

	*is_there = *is_good = false;
	ask(config, json_pack("{s:s}", "request", "jobs"), &list, &err);
	json_array_foreach(list, i, o) {
		name = json_string_value(json_object_get(o, "name")) ?: "";
		if (!strcmp(name, job->name)) {
			*is_there = true;
			*is_good = is_as_wished(job, o);
		} else if ((!ret || ret == -EREMOTEIO) && is_over(o) &&
			   !strncmp(name, PREFIX, strlen(PREFIX))) {
			ret = tell_end(config, name, &err);
			removed |= !ret;
		}
	}
	json_decref(list);
	return removed;
}

/**
 * tell_begin() - a job runs on this node
 * @config: where srpold is
 * @job: the job
 * @err: why it is not known to srpold
 */
int tell_begin(const struct config *config, const struct job *job,
	       struct srpol_error *err)
{
	bool is_there, is_good;
	int ret;

	ret = add(config, job, err);
	if (ret != -EREMOTEIO)
		return ret;
	if (look_at_others(config, job, &is_there, &is_good) && !is_there)
		return add(config, job, err);
	return is_good ? 0 : is_there ? refuse_step(err) : ret;
}

/**
 * tell_end() - a job is over on this node
 * @config: where srpold is
 * @name: the job
 * @err: why it is still known to srpold, if it is
 */
int tell_end(const struct config *config, const char *name,
	     struct srpol_error *err)
{
	json_t *reply;
	int ret;

	ret = ask(config, json_pack("{s:s, s:s}", "request", "job-del",
				    "name", name), &reply, err);
	json_decref(reply);
	return ret;
}
