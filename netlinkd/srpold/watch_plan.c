// SPDX-License-Identifier: GPL-2.0
/* The plan that a host of this namespace follows: its epoch, once applied. */
#include <stdlib.h>

#include "watchers.h"

/**
 * watch_plan_look() - whether another plan was applied
 * @topics: topics
 * @topic: the topic, whose number is that of the host
 */
void watch_plan_look(struct topics *topics, struct topic *topic)
{
	const struct follow *f = plan_following(topic->key.number);
	struct watched_plan *was = topic->content, *now;

	now = was ?: calloc(1, sizeof(*now));
	if (!now)
		return;
	topic->content = now;
	if (was && f->now && f->now->head.epoch == was->epoch &&
	    f->now->head.term == was->term)
		return;
	if (!f->now)
		return;
	now->epoch = f->now->head.epoch;
	now->term = f->now->head.term;
	if (was)
		topic_changed(topics, topic, BECAUSE_PLAN);
}

/**
 * watch_plan_json() - the plan of a host
 * @engine: the engine
 * @topic: the topic
 */
json_t *watch_plan_json(struct engine *engine, const struct topic *topic)
{
	const struct watched_plan *plan = topic->content;
	uint32_t host = plan_host(topic->key.number);

	return json_pack("{s:s, s:I, s:I}", "host",
			 engine->fabric->nodes[host].name,
			 "epoch", (json_int_t)plan->epoch,
			 "term", (json_int_t)plan->term);
}
