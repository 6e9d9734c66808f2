// SPDX-License-Identifier: GPL-2.0
/*
 * Which topics concern which watcher. A user is told of the paths of its own
 * demands, as it may announce them; whoever may configure, and the superuser, are
 * told of all jobs and of everybody's demands.
 */
#include <stdlib.h>
#include <string.h>

#include "watchers.h"

/**
 * struct pair - a policy, to be found by its ends
 * @src: GPU of this host
 * @dst: GPU of the peer
 * @color: its color
 * @at: its index
 */
struct pair {
	uint32_t src;
	uint32_t dst;
	uint32_t color;
	uint32_t at;
};

static int by_ends(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	return (x->color > y->color) - (x->color < y->color);
}

/**
 * watch_job() - the job of a color
 * @color: the color
 *
 * Return: NULL if no job has it.
 */
const struct job *watch_job(uint32_t color)
{
	const struct job *job;

	vec_for_each(job, &jobs)
		if (job->color == color)
			return job;
	return NULL;
}

/**
 * struct gathering - what is at hand while topics are gathered
 * @engine: the engine
 * @topics: topics
 * @pairs: struct pair, sorted
 * @watchers: TOPIC_SLOTS watchers
 */
struct gathering {
	struct engine *engine;
	struct topics *topics;
	struct vec pairs;
	const struct watcher *watchers;
};

static void want_policy(struct gathering *g, uint32_t at, uint32_t slots)
{
	const struct engine_policy *policy =
		(const struct engine_policy *)g->engine->policies.data + at;
	const struct srpol_fabric *f = g->engine->fabric;
	const struct topic_key key = {
		.kind = TOPIC_PATHS, .number = policy->color,
		.src = f->nics[f->gpus[policy->src].nic].addr,
		.dst = policy->endpoint,
	};
	struct topic *topic = topics_want(g->topics, &key, slots);

	/* once, however many demands there are for it, and if it may be another one */
	if (!topic || (topic->content && !topic->noted))
		return;
	topic->noted = false;
	watch_paths_look(g->engine, g->topics, topic, at);
}

static void want_number(struct gathering *g, enum topic_kind kind,
			uint32_t number, uint32_t slots)
{
	const struct topic_key key = { .kind = kind, .number = number };

	topics_want(g->topics, &key, slots);
}

static bool is_told(const struct watcher *watcher, const struct demand *d)
{
	return (watcher->all || d->uid == watcher->uid) &&
	       (!watcher->owner[0] || !strcmp(d->owner, watcher->owner));
}

/* Slots of those watchers, of @slots, that are told of a demand. */
static uint32_t told_of(const struct gathering *g, const struct demand *d,
			uint32_t slots)
{
	uint32_t told = 0;
	int i;

	for (; slots; slots &= slots - 1) {
		i = __builtin_ctz(slots);
		told |= (uint32_t)is_told(&g->watchers[i], d) << i;
	}
	return told;
}

/* There may be many demands: each is looked up once, for all watchers. */
static void want_demand(struct gathering *g, const struct demand *d,
			uint32_t slots)
{
	const struct pair key = { .src = d->demand.src, .dst = d->demand.dst,
				  .color = d->demand.color };
	const struct pair *found;

	if (watch_job(d->demand.color))
		want_number(g, TOPIC_QPS, d->demand.color, slots);
	found = g->pairs.n ? bsearch(&key, g->pairs.data, g->pairs.n,
				     g->pairs.size, by_ends) : NULL;
	/* other hosts' demands have no paths here */
	if (found)
		want_policy(g, found->at, slots);
}

static void want_jobs(struct gathering *g, uint32_t slots)
{
	const struct engine_policy *policy;
	const struct job *job;

	vec_for_each(job, &jobs)
		want_number(g, TOPIC_QPS, job->color, slots);
	vec_for_each(policy, &g->engine->policies)
		if (watch_job(policy->color))
			want_policy(g, policy - (const struct engine_policy *)
					g->engine->policies.data, slots);
}

static void want_all(struct gathering *g)
{
	const struct watcher *watcher;
	uint32_t everyone = 0, of_jobs = 0, slots, i;
	const struct demand *d;

	for (i = 0; i < TOPIC_SLOTS; i++) {
		watcher = &g->watchers[i];
		if (!watcher->client)
			continue;
		g->topics->max[i] = watcher->all ? TOPICS_MAX : TOPICS_BY_SLOT;
		everyone |= 1u << i;
		if (watcher->all && !watcher->owner[0])
			of_jobs |= 1u << i;
		want_number(g, TOPIC_LINKS, i, 1u << i);
	}
	for (i = 0; plan_is_followed() && i < g->engine->config.n_hosts; i++)
		want_number(g, TOPIC_PLAN, i, everyone);
	if (of_jobs)
		want_jobs(g, of_jobs);
	vec_for_each(d, &demands.all) {
		slots = told_of(g, d, everyone);
		if (slots)
			want_demand(g, d, slots);
	}
}

/**
 * watch_gather() - find the topics that concern watchers
 * @engine: the engine
 * @topics: topics
 * @watchers: TOPIC_SLOTS watchers
 * @rebuilt: policies may have other indices than before
 *
 * Topics of paths that are new are looked at, and all of them after @rebuilt.
 */
void watch_gather(struct engine *engine, struct topics *topics,
		  const struct watcher *watchers, bool rebuilt)
{
	struct gathering g = {
		.engine = engine, .topics = topics,
		.pairs = VEC_INIT(struct pair), .watchers = watchers,
	};
	const struct engine_policy *policy;
	struct topic *const *topic;
	uint32_t i = 0;

	vec_for_each(topic, &topics->all)
		(*topic)->noted |= rebuilt;
	vec_for_each(policy, &engine->policies)
		*(struct pair *)vec_add(&g.pairs) = (struct pair){
			policy->src, policy->dst, policy->color, i++,
		};
	if (g.pairs.n)
		qsort(g.pairs.data, g.pairs.n, g.pairs.size, by_ends);
	demands_expire(&demands, now_ns());
	topics_gather(topics);
	want_all(&g);
	topics_gathered(topics);
	vec_free(&g.pairs);
}
