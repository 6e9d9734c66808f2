// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs: traffic that gets paths of its own. Each job has a color, and a policy
 * of that color beside each of the engine's own policies, with the same paths
 * or a slice of them. A slice is a set of the switches at which paths turn
 * down: these are either named by the operator or, for jobs that are to be
 * disjoint, divided among them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srpold.h"

#define QP_MAX		0xffffff

struct vec jobs = VEC_INIT(struct job);

static int read_tops(const struct engine *engine, const json_t *list,
		     bool stored, struct job *job, struct srpol_error *err)
{
	const size_t max = sizeof(job->tops) / sizeof(job->tops[0]);
	const json_t *v;
	size_t i;

	if (!json_array_size(list) || json_array_size(list) > max)
		return srpol_error_set(err, -EINVAL,
				       "\"paths\" is a list of 1 to %zu switches",
				       max);
	json_array_foreach(list, i, v) {
		if (!json_is_string(v) ||
		    json_string_length(v) >= sizeof(job->tops[0]) ||
		    (!stored && srpol_fabric_node(engine->fabric,
						  json_string_value(v)) ==
				SRPOL_NONE))
			return srpol_error_set(err, -ENOENT,
					       "\"paths\": no switch \"%s\"",
					       json_string_value(v) ?: "");
		strcpy(job->tops[job->n_tops++], json_string_value(v));
	}
	return 0;
}

static int read_paths(const struct engine *engine, const json_t *o,
		      bool stored, struct job *job, struct srpol_error *err)
{
	const json_t *paths = json_object_get(o, "paths");
	const char *word = json_string_value(paths);

	if (!paths)
		return 0;
	if (json_is_array(paths))
		return read_tops(engine, paths, stored, job, err);
	if (!word || strcmp(word, "disjoint"))
		return srpol_error_set(err, -EINVAL,
				       "\"paths\" is neither \"disjoint\" nor a list of switches");
	job->disjoint = true;
	return 0;
}

static bool read_text(const json_t *o, const char *key, char *to, size_t len)
{
	const char *text = json_string_value(json_object_get(o, key));

	if (!text || !text[0] || strlen(text) >= len)
		return false;
	strcpy(to, text);
	return true;
}

static bool read_cgroup(const json_t *o, struct job *job)
{
	return read_text(o, "cgroup", job->cgroup, sizeof(job->cgroup));
}

static bool read_src(const json_t *o, struct job *job)
{
	const char *text = json_string_value(json_object_get(o, "src"));

	return text && srpol_prefix_parse(text, &job->src, &job->src_len) &&
	       job->src_len;
}

static bool read_qp(const json_t *o, struct job *job)
{
	json_int_t lo, hi;

	if (json_unpack((json_t *)o, "{s:[II!]}", "qp", &lo, &hi) || lo < 1 ||
	    hi < lo || hi > QP_MAX)
		return false;
	job->qp[0] = lo;
	job->qp[1] = hi;
	return true;
}

static bool read_pid(const json_t *o, struct job *job)
{
	json_int_t pid = json_integer_value(json_object_get(o, "pid"));

	if (pid < 1 || pid > INT32_MAX)
		return false;
	job->pid = pid;
	return true;
}

static bool read_comm(const json_t *o, struct job *job)
{
	return read_text(o, "comm", job->comm, sizeof(job->comm));
}

/* Read how the traffic of a job is recognized: in exactly one way. */
static int read_selector(const json_t *o, struct job *job,
			 struct srpol_error *err)
{
	static const struct selector {
		const char *key;
		bool (*read)(const json_t *o, struct job *job);
		const char *wanted;
	} selectors[] = {
		{ "cgroup", read_cgroup, "a path of 1 to 255 bytes" },
		{ "src", read_src, "a prefix of at least one bit" },
		{ "qp", read_qp, "a range of QPs from 1 to 16777215" },
		{ "pid", read_pid, "a number from 1 to 2147483647" },
		{ "comm", read_comm, "a name of 1 to 15 bytes, as the kernel keeps no more" },
		{ }
	};
	const struct selector *s, *is = NULL;
	unsigned int n = 0;

	for (s = selectors; s->key; s++) {
		if (!json_object_get(o, s->key))
			continue;
		is = s;
		n++;
	}
	if (n != 1)
		return srpol_error_set(err, -EINVAL,
				       "exactly one of \"cgroup\", \"src\", \"qp\", \"pid\" and \"comm\" is needed");
	return is->read(o, job) ? 0 :
	       srpol_error_set(err, -EINVAL, "\"%s\" is not %s", is->key, is->wanted);
}

static bool color_is_free(const struct engine *engine, const struct job *job,
			  uint32_t color)
{
	const struct job *other;

	vec_for_each(other, &jobs)
		if (other->slot != job->slot && other->color == color)
			return false;
	return color != engine->config.color;
}

/**
 * jobs_leave_color() - whether no job has a color that the engine shall have
 * @color: color of the policies to all peers
 * @err: message, with the job
 *
 * Return: 0 or -EEXIST.
 */
int jobs_leave_color(uint32_t color, struct srpol_error *err)
{
	const struct job *job;

	vec_for_each(job, &jobs)
		if (job->color == color)
			return srpol_error_set(err, -EEXIST,
					       "\"color\": %u is that of job \"%s\"",
					       color, job->name);
	return 0;
}

static int read_via(const struct engine *engine, const json_t *o, bool stored,
		    struct job *job, struct srpol_error *err)
{
	const char *word = json_string_value(json_object_get(o, "via"));

	if (!json_object_get(o, "via"))
		return 0;
	if (!word || strlen(word) >= sizeof(job->via) ||
	    (!stored && !srpol_fabric_via(engine->fabric, word)))
		return srpol_error_set(err, -ENOENT,
				       "\"via\": no switch offers a function of name or kind \"%s\"",
				       word ?: "");
	strcpy(job->via, word);
	return 0;
}

static int read_placement(const json_t *o, struct job *job,
			  struct srpol_error *err)
{
	const char *word = json_string_value(json_object_get(o, "placement"));

	if (!json_object_get(o, "placement"))
		return 0;
	if (!word || (strcmp(word, "hash") && strcmp(word, "qp")))
		return srpol_error_set(err, -EINVAL,
				       "\"placement\" is neither \"hash\" nor \"qp\"");
	job->placed = !strcmp(word, "qp");
	return 0;
}

/* Read the backup color, once the job has its own. */
static int read_backup(const json_t *o, bool stored, struct job *job,
		       struct srpol_error *err)
{
	const json_t *v = json_object_get(o, "backup");

	if (!v)
		return 0;
	if (!json_is_integer(v) || json_integer_value(v) < 1 ||
	    json_integer_value(v) > UINT32_MAX)
		return srpol_error_set(err, -EINVAL,
				       "\"backup\" is not a color, a number from 1");
	job->backup = json_integer_value(v);
	if (job->backup != job->color)
		return 0;
	if (!stored)
		return srpol_error_set(err, -EINVAL,
				       "\"backup\": %u is the job's own color",
				       job->color);
	/* its color is another one than it was stored with */
	log_error("job \"%s\": its backup is its own color now; it has none",
		  job->name);
	job->backup = 0;
	return 0;
}

/* Will another of the stored jobs want that color? */
static bool color_is_stored(const json_t *stored, const json_t *o,
			    uint32_t color)
{
	const json_t *other;
	size_t i;

	json_array_foreach(stored, i, other)
		if (other != o &&
		    json_integer_value(json_object_get(other, "color")) ==
		    color)
			return true;
	return false;
}

static int read_color(const struct engine *engine, const json_t *o,
		      const json_t *stored, struct job *job,
		      struct srpol_error *err)
{
	const json_t *v = json_object_get(o, "color");
	uint32_t color = engine->config.job_color;

	if (v) {
		if (!json_is_integer(v) || json_integer_value(v) < 1 ||
		    json_integer_value(v) > UINT32_MAX)
			return srpol_error_set(err, -EINVAL,
					       "\"color\" is not a number from 1");
		color = json_integer_value(v);
		if (!stored && !color_is_free(engine, job, color))
			return srpol_error_set(err, -EEXIST,
					       "color %u belongs to somebody else",
					       color);
	}
	if (!v || !color_is_free(engine, job, color))
		while (!color_is_free(engine, job, color) ||
		       color_is_stored(stored, o, color))
			color++;
	job->color = color;
	return 0;
}

/**
 * job_from_json() - read a job from JSON
 * @engine: the engine
 * @o: JSON object
 * @stored: the jobs that an earlier srpold accepted, of which this is one: it may
 *	name switches and functions that are no more, and gets another color, that
 *	none of them has, if its own is taken; NULL if it is new
 * @job: result, whose slot is set already
 * @err: message on failure
 */
int job_from_json(const struct engine *engine, const json_t *o,
		  const json_t *stored, struct job *job,
		  struct srpol_error *err)
{
	if (!read_text(o, "name", job->name, sizeof(job->name)))
		return srpol_error_set(err, -EINVAL,
				       "\"name\" is a string of 1 to %zu bytes",
				       sizeof(job->name) - 1);
	return read_selector(o, job, err) ?:
	       read_color(engine, o, stored, job, err) ?:
	       read_paths(engine, o, stored, job, err) ?:
	       read_via(engine, o, stored, job, err) ?:
	       read_backup(o, stored, job, err) ?:
	       read_placement(o, job, err);
}

/**
 * job_to_json() - write a job such that job_from_json() reads the same
 * @job: the job
 */
json_t *job_to_json(const struct job *job)
{
	char buf[SRPOL_PREFIX_STRLEN];
	json_t *o = json_object(), *tops = json_array();
	uint32_t i;

	json_object_set_new(o, "name", json_string(job->name));
	json_object_set_new(o, "color", json_integer(job->color));
	if (job->cgroup[0])
		json_object_set_new(o, "cgroup", json_string(job->cgroup));
	if (job->src_len)
		json_object_set_new(o, "src", json_string(
			srpol_prefix_text(&job->src, job->src_len, buf)));
	if (job->qp[0])
		json_object_set_new(o, "qp", json_pack("[ii]", job->qp[0],
						       job->qp[1]));
	if (job->pid)
		json_object_set_new(o, "pid", json_integer(job->pid));
	if (job->comm[0])
		json_object_set_new(o, "comm", json_string(job->comm));
	for (i = 0; i < job->n_tops; i++)
		json_array_append_new(tops, json_string(job->tops[i]));
	if (job->n_tops)
		json_object_set(o, "paths", tops);
	if (job->disjoint)
		json_object_set_new(o, "paths", json_string("disjoint"));
	if (job->via[0])
		json_object_set_new(o, "via", json_string(job->via));
	if (job->backup)
		json_object_set_new(o, "backup", json_integer(job->backup));
	if (job->placed)
		json_object_set_new(o, "placement", json_string("qp"));
	json_decref(tops);
	return o;
}

/* For whom a switch is named. */
enum named {
	NAMED_FOR_IT = 1,
	NAMED_FOR_OTHERS = 2,
};

/**
 * struct deal - at which switches the paths of a job may turn
 * @named: by node: bits of enum named; such a switch is not dealt out
 * @rank: by node, while a policy is looked at: one more than the number of switches
 *	dealt out before it, 0: none of its paths was met yet
 * @place: place of the job among those that are disjoint
 * @n: number of disjoint jobs
 */
struct deal {
	uint8_t *named;
	uint32_t *rank;
	uint32_t place;
	uint32_t n;
};

static void deal_end(struct deal *deal)
{
	free(deal->named);
	free(deal->rank);
}

/* Names are looked up once for all policies, of which there may be hundreds. */
static int deal_begin(const struct engine *engine, const struct job *job,
		      struct deal *deal)
{
	const struct srpol_fabric *f = engine->fabric;
	const struct job *other;
	uint32_t i, top;

	*deal = (struct deal){
		.named = calloc(f->n_nodes + 1UL, sizeof(*deal->named)),
		.rank = calloc(f->n_nodes + 1UL, sizeof(*deal->rank)),
	};
	if (!deal->named || !deal->rank) {
		deal_end(deal);
		return -ENOMEM;
	}
	vec_for_each(other, &jobs) {
		for (i = 0; i < other->n_tops; i++) {
			top = srpol_fabric_node(f, other->tops[i]);
			if (top != SRPOL_NONE)
				deal->named[top] |= other == job ?
						    NAMED_FOR_IT :
						    NAMED_FOR_OTHERS;
		}
		if (other == job)
			deal->place = deal->n;
		deal->n += other->disjoint;
	}
	return 0;
}

/* Switches are dealt out in the order in which the policy's paths first turn at them. */
static bool is_dealt(struct deal *deal, uint32_t top, uint32_t *dealt)
{
	if (deal->named[top])
		return false;
	if (!deal->rank[top])
		deal->rank[top] = ++*dealt;
	return (deal->rank[top] - 1) % deal->n == deal->place;
}

static int make_slice(const struct engine *engine, const struct job *job,
		      struct deal *deal, struct engine_policy *policy,
		      struct srpol_error *err)
{
	const struct engine_path *paths = engine->paths.data;
	uint32_t i, n = 0, dealt = 0;

	if (!job->n_tops && !job->disjoint)
		return 0;
	policy->slice = calloc(policy->n + 1, sizeof(*policy->slice));
	if (!policy->slice)
		return -ENOMEM;
	paths += policy->first;
	for (i = 0; i < policy->n; i++) {
		policy->slice[i] = job->n_tops ?
				   deal->named[paths[i].top] & NAMED_FOR_IT :
				   is_dealt(deal, paths[i].top, &dealt);
		n += policy->slice[i];
	}
	for (i = 0; i < policy->n; i++)
		deal->rank[paths[i].top] = 0;
	if (n)
		return 0;
	free(policy->slice);
	policy->slice = NULL;
	return srpol_error_set(err, -ENOSPC,
			       "job \"%s\": no path is left for policy \"%s\"",
			       job->name, policy->name);
}

static int add_policies(struct engine *engine, const struct job *job,
			struct deal *deal, struct srpol_error *err)
{
	struct engine_policy *policy;
	char name[2 * sizeof(policy->name)];
	int ret = 0, failed, passed = 0;
	uint32_t i;

	for (i = 0; i < engine->n_own; i++) {
		policy = vec_add(&engine->policies);
		*policy = ((struct engine_policy *)engine->policies.data)[i];
		policy->slice = NULL;
		policy->planned = NULL;
		policy->is_foreign = false;
		policy->color = job->color;
		policy->weight = calloc(policy->n + 1,
					sizeof(*policy->weight));
		if (!policy->weight) {
			engine->policies.n--;
			return -ENOMEM;
		}
		snprintf(name, sizeof(name), "%s-%s", job->name, policy->name);
		engine_name(policy->name, name);
		failed = make_slice(engine, job, deal, policy, err);
		if (!failed && job->via[0])
			failed = job_via_policy(engine, job, policy, err);
		passed += failed > 0;
		ret = ret ?: failed < 0 ? failed : 0;
		/* last, as it may leave no path at all: then the backup has all */
		failed = backup_apply(engine, job, policy);
		ret = ret ?: failed;
	}
	if (!ret && job->via[0] && !passed)
		ret = srpol_error_set(err, -ENOENT,
				      "job \"%s\": no path to any peer passes a switch that offers \"%s\"",
				      job->name, job->via);
	return ret;
}

static int add_job(struct engine *engine, const struct job *job,
		   struct srpol_error *err)
{
	struct deal deal;
	int ret = deal_begin(engine, job, &deal);

	if (ret)
		return ret;
	ret = add_policies(engine, job, &deal, err);
	deal_end(&deal);
	return ret;
}

static void drop_policies(struct engine *engine)
{
	struct engine_policy *policy = engine->policies.data;

	while (engine->policies.n > engine->n_own) {
		engine->policies.n--;
		free(policy[engine->policies.n].weight);
		free(policy[engine->policies.n].slice);
		free(policy[engine->policies.n].planned);
	}
	engine->paths.n = engine->n_own_paths;
}

/**
 * jobs_build() - make policies and rules for the jobs
 * @engine: the engine; policies and rules of earlier jobs are replaced
 * @keep: they will be kept even if there is a message; if there are several, those
 *	that @err has no room for are logged
 * @err: message on failure
 *
 * A policy of a job that has no path left of its own uses all paths.
 *
 * Return: 0, or a negative errno if that is so for a job for which it was not
 * before.
 */
int jobs_build(struct engine *engine, bool keep, struct srpol_error *err)
{
	struct srpol_error why;
	int ret = 0, failed;
	struct job *job;

	drop_policies(engine);
	vec_for_each(job, &jobs) {
		why.text[0] = '\0';
		failed = add_job(engine, job, &why);
		if (failed && !job->lacks_paths) {
			if (!ret)
				*err = why;
			else if (keep)
				log_error("%s; it gets all of them", why.text);
			ret = ret ?: failed;
		}
		job->lacks_paths = failed;
	}
	plan_weigh();
	job_qps_read();
	job_rules(engine);
	return ret;
}
