// SPDX-License-Identifier: GPL-2.0
/*
 * The paths to a destination, as a watcher sees them: what the module says of
 * each, the weights in force, and the share of flows that follows from both. All
 * of it is known already: the module is asked for nothing, since its answer might
 * have to wait for a transaction of somebody else.
 */
#include <stdlib.h>
#include <string.h>

#include "watchers.h"

/* May flows take the path, apart from its weight? */
static bool is_up(const struct watched_path *path)
{
	return path->state == SRPOL_PATH_STATE_UP;
}

/*
 * The plan's weights take precedence while a path that has one is up, as
 * preferences of candidate paths do in the module.
 */
static const uint32_t *weights_of(const struct engine_policy *policy,
				  const struct watched_paths *now)
{
	uint32_t i;

	for (i = 0; policy->planned && i < now->n; i++)
		if (is_up(&now->path[i]) &&
		    policy->planned[now->path[i].at - policy->first])
			return policy->planned;
	return policy->weight;
}

static void weigh(const struct engine_policy *policy, struct watched_paths *now)
{
	const uint32_t *weights = weights_of(policy, now);
	struct watched_path *path;
	uint64_t sum = 0;
	uint32_t i;

	now->by = weights == policy->planned ? "plan" : "engine";
	for (i = 0; i < now->n; i++) {
		path = &now->path[i];
		path->weight = weights[path->at - policy->first];
		if (!is_up(path) || !path->weight)
			continue;
		sum += path->weight;
		now->usable++;
	}
	for (i = 0; i < now->n; i++) {
		path = &now->path[i];
		if (is_up(path) && path->weight)
			path->percent = (100ull * path->weight + sum / 2) / sum;
	}
}

/* What is known of the links of a path; they are compared as a whole. */
static void add_links(const struct engine *engine,
		      const struct engine_path *path, struct watched_paths *now)
{
	const struct link_info *info;
	uint32_t i, cable;

	for (i = 0; i < path->links.n; i++) {
		cable = path->links.link[i];
		info = &engine->links.cables[cable];
		now->capacity = srpol_mix(now->capacity ^
			info->capacity[linkstate_source(&engine->links,
							cable)]);
		now->level += info->quality.level;
		now->heard += info->heard;
		if (info->quality.level && info->quality.word > QUALITY_GOOD)
			now->word = info->quality.word;
	}
}

/* The state of now; the module's policy has the first of the paths with an id. */
static struct watched_paths *read_now(struct engine *engine, uint32_t at)
{
	const struct engine_policy *policy =
		(const struct engine_policy *)engine->policies.data + at;
	const struct engine_path *path;
	struct watched_paths *now;
	uint32_t i, listed = 0;

	now = calloc(1, sizeof(*now) + policy->n * sizeof(now->path[0]));
	if (!now)
		return NULL;
	now->policy = at;
	now->planned = policy->planned;
	now->fallback = policy->drops ? "drop" :
			policy->has_backup ? "backup-color" : "plain-ip";
	now->by = "operator";
	if (policy->is_others)
		return now;
	for (i = 0; i < policy->n && listed < SRPOL_LISTS_MAX; i++) {
		path = engine_path(engine, policy->first + i);
		listed += path->id != 0;
		if (!path->id || (policy->slice && !policy->slice[i]))
			continue;
		now->path[now->n++] = (struct watched_path){
			.at = policy->first + i, .id = path->id,
			.state = path->installed ? path->state :
				 SRPOL_PATH_STATE_UNRESOLVED,
			.reason = path->installed ? path->reason : 0,
		};
		add_links(engine, path, now);
	}
	weigh(policy, now);
	return now;
}

static const struct watched_path *find(const struct watched_paths *was,
				       uint32_t id)
{
	uint32_t i;

	for (i = 0; i < was->n; i++)
		if (was->path[i].id == id)
			return &was->path[i];
	return NULL;
}

static bool is_by_operator(const struct watched_paths *w)
{
	return !strcmp(w->by, "operator");
}

/* Is it the plan's doing? Its weights may be those that the engine had. */
static bool is_by_plan(const struct watched_paths *was,
		       const struct watched_paths *now, bool weighed)
{
	if (is_by_operator(was) || is_by_operator(now))
		return false;
	if (now->planned != was->planned)
		return weighed || strcmp(now->by, was->by);
	return weighed && !strcmp(now->by, "plan");
}

/* Why the engine has other weights than before. */
static uint32_t link_reasons(const struct watched_paths *was,
			     const struct watched_paths *now)
{
	enum quality_word word = now->word > QUALITY_GOOD ? now->word :
				 was->word;
	uint32_t because = 0;

	if (now->capacity != was->capacity)
		because |= BECAUSE_CAPACITY;
	if (now->level < was->level)
		because |= BECAUSE_RELIEF;
	if (now->level > was->level)
		because |= word == QUALITY_LOSS ? BECAUSE_LOSS :
			   word == QUALITY_DELAY ? BECAUSE_DELAY :
			   BECAUSE_CONGESTION;
	if (now->heard != was->heard)
		because |= BECAUSE_PEER;
	return because ?: BECAUSE_BALANCE;
}

/*
 * Weights follow links later than those change: what they are compared with is
 * how links were when weights last changed, and what was worst since then.
 */
static void keep_links(const struct watched_paths *was,
		       struct watched_paths *now)
{
	now->level = was->level;
	now->heard = was->heard;
	now->capacity = was->capacity;
	if (now->word <= QUALITY_GOOD)
		now->word = was->word;
}

/* Compare paths one by one, and keep when each changed. */
static bool compare_paths(const struct watched_paths *was,
			  struct watched_paths *now, uint64_t version,
			  uint32_t *because)
{
	bool differs = now->n != was->n, weighed = false;
	const struct watched_path *before;
	struct watched_path *path;
	uint32_t i;

	for (i = 0; i < now->n; i++) {
		path = &now->path[i];
		before = find(was, path->id);
		if (!before) {
			differs = true;
			*because |= BECAUSE_OPERATOR;
			continue;
		}
		path->version = before->version;
		path->since_us = before->since_us;
		weighed |= path->weight != before->weight;
		differs |= path->percent != before->percent;
		if (path->state == before->state &&
		    path->reason == before->reason)
			continue;
		differs = true;
		path->version = version;
		path->since_us = watch_now_us();
		if (is_up(path) != is_up(before))
			*because |= is_up(path) ? BECAUSE_RECOVERY :
				    BECAUSE_FAILURE;
	}
	if (is_by_plan(was, now, weighed))
		*because |= BECAUSE_PLAN;
	else if (weighed && !(*because & BECAUSE_FAILURE))
		*because |= link_reasons(was, now);
	if (!weighed)
		keep_links(was, now);
	return differs || weighed;
}

/**
 * watch_paths_look() - compare the paths of a topic with what they were
 * @engine: the engine
 * @topics: topics
 * @topic: the topic
 * @policy: index of its policy
 */
void watch_paths_look(struct engine *engine, struct topics *topics,
		      struct topic *topic, uint32_t policy)
{
	struct watched_paths *was = topic->content, *now;
	uint32_t because = 0;
	bool differs;

	now = read_now(engine, policy);
	if (!now)
		return;
	topic->content = now;
	if (!was)
		return;
	if (is_by_operator(now) != is_by_operator(was) ||
	    strcmp(now->fallback, was->fallback))
		because = BECAUSE_OPERATOR;
	differs = compare_paths(was, now, topic->version + 1, &because) ||
		  strcmp(now->by, was->by) || because;
	free(was);
	if (differs)
		topic_changed(topics, topic, because);
}
