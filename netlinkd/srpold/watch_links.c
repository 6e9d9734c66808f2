// SPDX-License-Identifier: GPL-2.0
/*
 * The links that the paths of a watcher take: which of them are down, which work
 * badly, and what they can carry, as far as this host knows.
 */
#include <stdlib.h>

#include "watchers.h"

#define LINKS_MAX	256	/* in an event; those that are down or bad first */

/* What paths say of a link: one that is up says more than any that are not. */
enum link_seen {
	LINK_UNSEEN,
	LINK_UNKNOWN,
	LINK_DOWN,
	LINK_UP,
};

static const char * const names[] = {
	[LINK_UNKNOWN] = "unknown",
	[LINK_DOWN] = "down",
	[LINK_UP] = "up",
};

static void see(struct engine *engine, const struct engine_path *path,
		uint8_t *seen)
{
	const struct engine_path *leader = engine_path(engine, path->leader);
	enum link_seen is = !leader->up ? LINK_UNKNOWN :
			    liveness_usable(&leader->live) &&
			    leader->stats.received ? LINK_UP : LINK_DOWN;
	uint32_t i;

	for (i = 0; i < path->links.n; i++)
		if (seen[path->links.link[i]] < is)
			seen[path->links.link[i]] = is;
}

/* By cable: what paths that concern a watcher say of it. To be freed. */
static uint8_t *see_all(struct engine *engine, const struct topics *topics,
			uint32_t slot)
{
	uint8_t *seen = calloc(engine->links.n + 1, 1);
	struct topic *const *topic;
	const struct watched_paths *paths;
	uint32_t i;

	vec_for_each(topic, &topics->all) {
		paths = (*topic)->content;
		if (!seen || (*topic)->key.kind != TOPIC_PATHS || !paths ||
		    !((*topic)->concerns & 1u << slot))
			continue;
		for (i = 0; i < paths->n; i++)
			see(engine, engine_path(engine, paths->path[i].at),
			    seen);
	}
	return seen;
}

static bool is_bad(const struct engine *engine, const uint8_t *seen,
		   uint32_t cable)
{
	const struct link_info *info = &engine->links.cables[cable];

	return seen[cable] == LINK_DOWN || info->quality.level ||
	       info->heard < 100 ||
	       !info->capacity[linkstate_source(&engine->links, cable)];
}

/**
 * watch_links_look() - compare the links of a watcher with what they were
 * @engine: the engine
 * @topics: topics
 * @topic: the topic
 * @slot: of the watcher
 *
 * Return: whether they are others, or in another state.
 */
bool watch_links_look(struct engine *engine, const struct topics *topics,
		      struct topic *topic, uint32_t slot)
{
	uint8_t *seen = see_all(engine, topics, slot);
	uint64_t *was = topic->content, hash = 0;
	const struct link_info *info;
	uint32_t i;

	for (i = 0; seen && i < engine->links.n; i++) {
		if (!seen[i])
			continue;
		info = &engine->links.cables[i];
		hash = srpol_mix(hash ^ seen[i] ^ (uint64_t)i << 8 ^
				 (uint64_t)info->quality.level << 40 ^
				 (uint64_t)info->heard << 48);
		hash = srpol_mix(hash ^ info->capacity[
			linkstate_source(&engine->links, i)]);
	}
	free(seen);
	if (was && *was == hash)
		return false;
	topic->content = was ?: calloc(1, sizeof(hash));
	if (topic->content)
		*(uint64_t *)topic->content = hash;
	return was;
}

static json_t *link_json(const struct engine *engine, uint32_t cable,
			 enum link_seen seen, const struct watcher *watcher)
{
	const struct link_info *info = &engine->links.cables[cable];
	char name[LINK_NAME_LEN];
	json_t *o;

	link_name(engine->fabric, cable, name, sizeof(name));
	o = json_pack("{s:s, s:s, s:I, s:s, s:i}", "link", name,
		      "state", names[seen], "capacity_bps",
		      (json_int_t)info->capacity[linkstate_source(
			      &engine->links, cable)],
		      "quality", quality_name(info->quality.word),
		      "quality_percent", (int)quality_percent(&info->quality));
	if (info->heard < 100)
		json_object_set_new(o, "heard_percent",
				    json_integer(info->heard));
	/* what all users send is none of a user's business */
	if (watcher->all && load_is_measured())
		json_object_set_new(o, "sent_bps", json_integer(
			load_of(2 * cable) + load_of(2 * cable + 1)));
	return o;
}

/**
 * watch_links_json() - the links that paths of a watcher take
 * @engine: the engine
 * @topics: topics
 * @slot: of the watcher
 * @watcher: the watcher
 */
json_t *watch_links_json(struct engine *engine, const struct topics *topics,
			 uint32_t slot, const struct watcher *watcher)
{
	uint8_t *seen = see_all(engine, topics, slot);
	uint32_t total = 0, down = 0, bad = 0, i, turn;
	json_t *list = json_array();

	for (turn = 0; seen && turn < 2; turn++) {
		for (i = 0; i < engine->links.n; i++) {
			if (!seen[i] || is_bad(engine, seen, i) != !turn)
				continue;
			total++;
			bad += !turn;
			down += seen[i] == LINK_DOWN;
			if (json_array_size(list) < LINKS_MAX)
				json_array_append_new(list, link_json(
					engine, i, seen[i], watcher));
		}
	}
	free(seen);
	return json_pack("{s:I, s:I, s:I, s:o}", "total", (json_int_t)total,
			 "down", (json_int_t)down, "bad", (json_int_t)bad,
			 "links", list);
}
