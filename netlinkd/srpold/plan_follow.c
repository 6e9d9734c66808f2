// SPDX-License-Identifier: GPL-2.0
/*
 * Follows the global engine's plan for the hosts of this namespace. A plan that
 * was received completely becomes weights of the policies' global candidate
 * paths, all in one transaction, by reconcile().
 *
 * A policy has a global candidate path if the plan covers its peer and if this
 * host knows nothing about the links of its paths that the plan did not take
 * into account. The plan's entry for the policy's color applies; policies to
 * all peers, but not those of jobs, otherwise use the entry without a color.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backups.h"
#include "folder.h"
#include "srpold.h"
#include "watchers.h"

#define RETRY_NS	(1000 * NS_PER_MS)	/* until a plan is read again, at first */
#define RETRY_MAX_NS	(30 * RETRY_NS)

/**
 * struct follower - a host of this namespace
 * @follow: state of following
 * @plan: plan in force, or being taken over; NULL: none
 * @retry: reads the plan again that was not applied
 * @retry_ns: time until then, 0: the last one was applied
 * @refused: epoch of the last one that was not
 * @why: and why
 */
struct follower {
	struct follow follow;
	const struct follow_plan *plan;
	struct alarm retry;
	uint64_t retry_ns;
	uint64_t refused;
	struct srpol_error why;
};

static struct engine *engine;
static struct follower followers[HOSTS_MAX];
static uint32_t n_followers;
static bool started;		/* the module has the engine's objects */

static const struct follower *follower_of(const struct engine_policy *policy)
{
	uint32_t host = engine->fabric->gpus[policy->src].host, i;

	for (i = 0; i < n_followers; i++)
		if (followers[i].follow.host == host)
			return &followers[i];
	return NULL;
}

/* Jobs do not use all paths. */
static bool has_path(const struct engine_policy *policy, uint32_t i)
{
	return !policy->slice || policy->slice[i];
}

static bool is_overridden(const struct follower *from,
			  const struct engine_policy *policy)
{
	const struct engine_path *path;
	uint32_t i, k;

	for (i = 0; i < policy->n; i++) {
		if (!has_path(policy, i))
			continue;
		path = engine_path(engine, policy->first + i);
		for (k = 0; k < path->links.n; k++)
			if (follow_overrides(&from->follow, from->plan,
					     path->links.link[k]))
				return true;
		/* probes do not take that one, but a feed or an operator may know it */
		if (follow_overrides(&from->follow, from->plan, path->last / 2))
			return true;
	}
	return false;
}

/* Clear weights of paths that a job does not use; false if all are 0 then. */
static bool keep_slice(const struct engine_policy *policy, uint32_t *weight)
{
	bool some = false;
	uint32_t i;

	for (i = 0; i < policy->n; i++) {
		if (!has_path(policy, i))
			weight[i] = 0;
		some |= weight[i] != 0;
	}
	return some;
}

/* Weights that the plan gives a policy; false if it gives none. */
static bool weigh(const struct engine_policy *policy, bool of_job,
		  uint32_t *weight)
{
	const struct follower *from = follower_of(policy);
	int n;

	if (!from || !from->plan || is_overridden(from, policy))
		return false;
	n = srpol_plan_weigh(engine->fabric, engine->links.links,
			     from->plan->plan, policy->src, policy->dst,
			     policy->color, weight, policy->n);
	if (n == -ENOENT && !of_job)
		n = srpol_plan_weigh(engine->fabric, engine->links.links,
				     from->plan->plan, policy->src, policy->dst,
				     0, weight, policy->n);
	return n > 0 && keep_slice(policy, weight);
}

/**
 * plan_weigh() - compute the weights of all policies' global candidate paths
 *
 * If nothing is followed, there are none.
 *
 * Return: whether any of them changed.
 */
bool plan_weigh(void)
{
	struct engine_policy *policy;
	uint32_t *weight, i;
	bool changed = false, is;

	if (!engine)
		return false;
	for (i = 0; i < engine->policies.n; i++) {
		policy = (struct engine_policy *)engine->policies.data + i;
		weight = store_alloc(policy->n * sizeof(*weight));
		is = weigh(policy, i >= engine->n_own, weight);
		changed |= is != (policy->planned != NULL) ||
			   (is && memcmp(weight, policy->planned,
					 policy->n * sizeof(*weight)));
		free(policy->planned);
		policy->planned = is ? weight : NULL;
		if (!is)
			free(weight);
	}
	engine->changes += changed;
	if (changed)
		reconcile_undone();
	return changed;
}

static const struct srpol_index *index_of(const struct follow_plan *plan)
{
	return plan ? &plan->index : NULL;
}

/**
 * plan_backup() - the backup that the plan has for a policy's color
 * @policy: the policy
 *
 * Return: NULL if there is none; valid until another plan is applied.
 */
const struct srpol_backup *plan_backup(const struct engine_policy *policy)
{
	const struct follower *from = engine ? follower_of(policy) : NULL;

	return from ? srpol_backup_find(index_of(from->plan), policy->color) : NULL;
}

/*
 * Take over what plans have. Backup colors go into the policies of jobs, which are made
 * anew for that; weights of the engine's own follow, as paths may be limited.
 */
static int weigh_all(bool anew, struct srpol_error *err)
{
	struct srpol_error lacks = {};
	int ret;

	plan_weigh();
	if (!anew)
		return 0;
	if (jobs_build(engine, true, &lacks))
		log_error("%s; it gets all of them", lacks.text);
	ret = balance_weigh(engine, NULL, err);
	watchers_rebuilt();
	return ret;
}

/*
 * The module may lack the weights of a plan also if the one before had the same ones: it
 * was loaded anew, say, or has refused them when they came into force again by what this
 * host reports.
 */
static int take(struct follower *follower, const struct follow_plan *plan,
		struct srpol_error *err)
{
	bool anew = backup_changes(index_of(follower->plan), index_of(plan));

	follower->plan = plan;
	watch_hear();
	return weigh_all(anew, err) ?:
	       (!reconcile_done() || anew) && started ? reconcile(engine, err) : 0;
}

static void read_again(void *data)
{
	struct follower *follower = data;

	follow_again(&follower->follow);
}

static void retry_in(struct follower *follower, uint64_t ns)
{
	follower->retry_ns = ns;
	alarm_stop(&follower->retry);
	alarm_set(&follower->retry, ns);
}

/*
 * What refused it may pass, and the engine waits for the acknowledgement. If it does not
 * pass, each attempt is made in vain: there are fewer and fewer, and the reason is told
 * each time that it is another one.
 */
static void retry_later(struct follower *follower, uint64_t epoch, const char *why)
{
	uint64_t ns = 2 * follower->retry_ns;

	if (epoch != follower->refused)
		ns = 0;
	if (!ns || strcmp(why, follower->why.text))
		log_error("plan of epoch %llu: %s", (unsigned long long)epoch, why);
	if (!ns)
		ns = RETRY_NS;
	follower->refused = epoch;
	snprintf(follower->why.text, sizeof(follower->why.text), "%s", why);
	retry_in(follower, ns < RETRY_MAX_NS ? ns : RETRY_MAX_NS);
}

static int apply(void *data, const struct follow_plan *plan)
{
	struct follower *follower = data;
	const struct follow_plan *before = follower->plan;
	struct srpol_error err = {}, again = {};
	int ret;

	/* from disk: it is taken over once all hosts are followed */
	if (!n_followers) {
		follower->plan = plan;
		return 0;
	}
	ret = take(follower, plan, &err);
	if (!ret) {
		alarm_stop(&follower->retry);
		follower->retry_ns = 0;
		limits_soon();
		return 0;
	}
	retry_later(follower, plan->head.epoch, err.text[0] ? err.text : strerror(-ret));
	if (take(follower, before, &again))
		watch_look_later();
	return ret;
}

/**
 * plan_retry() - the module takes transactions again: it may take plans that it refused
 *
 * They are read again in a second, and not after all the time that attempts in vain have
 * earned them. That is no more than once a second, however often the module changes its mind.
 */
void plan_retry(void)
{
	uint32_t i;

	for (i = 0; i < n_followers; i++)
		if (followers[i].retry_ns > RETRY_NS)
			retry_in(&followers[i], RETRY_NS);
}

/**
 * plan_check() - whether plan_start() would be able to begin
 * @c: configuration
 * @err: message, if files that it names cannot be used
 */
int plan_check(const struct config *c, struct srpol_error *err)
{
	const struct bus_config *bus = &c->fabric.follow.bus;

	return c->fabric.is_set && bus->servers.n ? bus_check(bus, err) : 0;
}

static int start_one(uint32_t number, struct srpol_error *err)
{
	const struct config *c = &engine->config;
	struct follower *follower = &followers[number];
	struct follow *f = &follower->follow;

	*follower = (struct follower){
		.follow = {
			.config = c->fabric.follow, .fabric = engine->fabric,
			.host = srpol_fabric_node(engine->fabric, c->hosts[number]),
			.apply = apply, .data = follower,
		},
		.retry = ALARM_INIT(read_again, follower),
	};
	snprintf(f->config.file, sizeof(f->config.file), "%s/%s.plan",
		 c->fabric.folder, c->hosts[number]);
	folder_of(f->config.file);
	return follow_start(f, err);
}

/* Plans on disk that some host has. */
static void take_saved(void)
{
	struct srpol_error err = {};
	bool anew = false;
	uint32_t i;
	int ret;

	for (i = 0; i < n_followers; i++)
		anew |= backup_changes(NULL, index_of(followers[i].plan));
	ret = weigh_all(anew, &err);
	/* they are computed again and again */
	if (ret)
		log_error("weights: %s", err.text[0] ? err.text : strerror(-ret));
}

/**
 * plan_start() - follow the plan, if configured
 * @e: the engine
 * @err: message on failure; nothing has changed then, and nothing is followed
 *
 * Plans on disk become part of the next reconcile(), after which plan_started() is to be
 * called. It may be tried again and again: so files are looked at first, and no host's
 * plan is in force before all hosts are followed.
 */
int plan_start(struct engine *e, struct srpol_error *err)
{
	const struct config *c = &e->config;
	uint32_t i;
	int ret;

	engine = e;
	started = false;
	ret = plan_check(c, err);
	for (i = 0; !ret && c->fabric.is_set && i < c->n_hosts; i++)
		ret = start_one(i, err);
	n_followers = i;
	if (ret)
		plan_stop();
	else if (n_followers)
		take_saved();
	return ret;
}

/**
 * plan_started() - from now on, each plan is applied in a transaction of its
 * own
 */
void plan_started(void)
{
	started = true;
}

/**
 * plan_stop() - stop following; weights in the module stay
 */
void plan_stop(void)
{
	uint32_t i;

	for (i = 0; i < n_followers; i++) {
		alarm_stop(&followers[i].retry);
		follow_stop(&followers[i].follow);
	}
	n_followers = 0;
	started = false;
}

/**
 * plan_tell() - report links to the global engine
 * @known: what is known of them
 *
 * Return: whether anything was new.
 */
bool plan_tell(const struct follow_known *known)
{
	bool news = false;
	uint32_t i;

	for (i = 0; i < n_followers; i++)
		news |= follow_report(&followers[i].follow, known);
	return news;
}

/**
 * plan_host() - node of a host that follows
 * @number: its number, as in the configuration
 *
 * Return: its node.
 */
uint32_t plan_host(uint32_t number)
{
	return followers[number].follow.host;
}

/**
 * plan_following() - state of a host's following
 * @number: its number, as in the configuration
 */
const struct follow *plan_following(uint32_t number)
{
	return &followers[number].follow;
}

/**
 * plan_measured() - report what a host sends to the global engine
 * @number: its number, as in the configuration
 * @loads: loads by directed link
 * @n: number of loads
 */
void plan_measured(uint32_t number, const struct follow_load *loads, size_t n)
{
	follow_measured(&followers[number].follow, loads, n);
}

/**
 * plan_demands() - report what a host's applications will send
 * @number: its number, as in the configuration
 * @sum: sum of their demands, as forecasts
 * @now_ms: milliseconds since 1970
 */
void plan_demands(uint32_t number, const struct srpol_forecasts *sum,
		  uint64_t now_ms)
{
	follow_demands(&followers[number].follow, sum, now_ms);
}

/**
 * plan_is_followed() - whether the global engine is followed
 */
bool plan_is_followed(void)
{
	return n_followers;
}

static json_t *one_report(const struct follow *f)
{
	const struct follow_stats *s = &f->stats;
	uint64_t refused = s->bad_head + s->replayed + s->bad_index +
			   s->bad_chunk + s->topology;
	json_t *o;

	o = json_pack("{s:s, s:s, s:b, s:I, s:I, s:s, s:I, s:I, s:I, s:I}",
		      "host", engine->fabric->nodes[f->host].name,
		      "store", f->config.store.kind,
		      "connected", f->mirror.watch != NULL,
		      "epoch", (json_int_t)(f->now ? f->now->head.epoch : 0),
		      "term", (json_int_t)(f->now ? f->now->head.term : 0),
		      "algorithm", f->now ? f->now->index.alg : "",
		      "report", (json_int_t)f->number,
		      "applied", (json_int_t)s->applied,
		      "refused", (json_int_t)refused,
		      "failed", (json_int_t)s->failed);
	json_object_set_new(o, "retries", json_integer(s->retries));
	json_object_set_new(o, "forecasts", json_integer(f->demand.count));
	json_object_set_new(o, "refused_by", json_pack(
		"{s:I, s:I, s:I, s:I, s:I}",
		"bad_head", (json_int_t)s->bad_head,
		"replayed", (json_int_t)s->replayed,
		"bad_index", (json_int_t)s->bad_index,
		"bad_chunk", (json_int_t)s->bad_chunk,
		"topology", (json_int_t)s->topology));
	return o;
}

/**
 * plan_report() - state of following for srpol engine show
 */
json_t *plan_report(void)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < n_followers; i++)
		json_array_append_new(list, one_report(&followers[i].follow));
	return list;
}
