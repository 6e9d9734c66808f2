// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "topics.h"

static uint32_t bit(uint32_t slot)
{
	return 1u << slot;
}

static int by_key(const void *a, const void *b)
{
	const struct topic_key *x = &(*(struct topic * const *)a)->key;
	const struct topic_key *y = &(*(struct topic * const *)b)->key;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return memcmp(&x->src, &y->src, sizeof(x->src)) ?:
	       memcmp(&x->dst, &y->dst, sizeof(x->dst));
}

static struct topic *topic_at(const struct topics *topics, uint32_t i)
{
	return ((struct topic **)topics->all.data)[i];
}

/**
 * topics_find() - find a topic
 * @topics: topics
 * @key: its key
 *
 * Return: NULL if there is none.
 */
struct topic *topics_find(const struct topics *topics,
			  const struct topic_key *key)
{
	const struct topic like = { .key = *key }, *sought = &like;
	struct topic **found;

	if (!topics->all.n)
		return NULL;
	found = bsearch(&sought, topics->all.data, topics->all.n,
			topics->all.size, by_key);
	return found ? *found : NULL;
}

/**
 * topics_gather() - begin to say anew which topics concern whom
 * @topics: topics
 */
void topics_gather(struct topics *topics)
{
	uint32_t i;

	for (i = 0; i < topics->all.n; i++)
		topic_at(topics, i)->wanted = 0;
	memset(topics->count, 0, sizeof(topics->count));
	memset(topics->left_out, 0, sizeof(topics->left_out));
}

static struct topic *make(struct topics *topics, const struct topic_key *key)
{
	struct topic *topic;

	if (topics->all.n >= TOPICS_MAX)
		return NULL;
	topic = calloc(1, sizeof(*topic));
	if (!topic)
		return NULL;
	topic->key = *key;
	topic->version = 1;
	vec_insert(&topics->all, &topic, by_key);
	return topic;
}

/* Counts a topic for those watchers that have room for it. */
static uint32_t with_room(struct topics *topics, uint32_t slots)
{
	uint32_t slot, with = 0;

	for (; slots; slots &= slots - 1) {
		slot = __builtin_ctz(slots);
		if (topics->count[slot] < topics->max[slot]) {
			topics->count[slot]++;
			with |= bit(slot);
		} else {
			topics->left_out[slot]++;
		}
	}
	return with;
}

/* What was counted is left out after all. */
static void leave_out(struct topics *topics, uint32_t slots)
{
	uint32_t slot;

	for (; slots; slots &= slots - 1) {
		slot = __builtin_ctz(slots);
		topics->count[slot]--;
		topics->left_out[slot]++;
	}
}

/**
 * topics_want() - a topic concerns watchers
 * @topics: topics, between topics_gather() and topics_gathered()
 * @key: key of the topic, which is made if it is not there
 * @slots: of the watchers; a bit set
 *
 * Return: the topic; NULL if none of them has room for it. That a watcher has not
 * is counted.
 */
struct topic *topics_want(struct topics *topics, const struct topic_key *key,
			  uint32_t slots)
{
	struct topic *topic = topics_find(topics, key);
	uint32_t others = topic ? slots & ~topic->wanted : slots, with;

	with = with_room(topics, others);
	if (with && !topic)
		topic = make(topics, key);
	if (!topic) {
		leave_out(topics, with);
		return NULL;
	}
	topic->wanted |= with;
	return topic->wanted & slots ? topic : NULL;
}

static void drop(struct topics *topics, struct topic *topic)
{
	if (topics->release)
		topics->release(topic->content);
	free(topic);
}

/* Delete topics that concern nobody. */
static void sweep(struct topics *topics)
{
	struct topic **to = topics->all.data;
	uint32_t i, n = 0;

	for (i = 0; i < topics->all.n; i++) {
		if (to[i]->concerns | to[i]->ended)
			to[n++] = to[i];
		else
			drop(topics, to[i]);
	}
	topics->all.n = n;
}

/**
 * topics_gathered() - all topics that concern anybody were said
 * @topics: topics; those that concern nobody are deleted
 *
 * Watchers are told the state of topics that are new to them, and the end of
 * those that they were told of and that concern them no more.
 */
void topics_gathered(struct topics *topics)
{
	struct topic *topic;
	uint32_t i, slot;

	for (i = 0; i < topics->all.n; i++) {
		topic = topic_at(topics, i);
		for (slot = 0; slot < TOPIC_SLOTS; slot++) {
			if (!((topic->concerns ^ topic->wanted) & bit(slot)))
				continue;
			if (topic->told[slot] && !(topic->wanted & bit(slot)))
				topic->ended |= bit(slot);
			if (topic->wanted & bit(slot))
				topic->ended &= ~bit(slot);
			topic->told[slot] = 0;
			topic->because[slot] = 0;
			topics->pending |= bit(slot);
		}
		topic->concerns = topic->wanted;
		topic->measured &= topic->concerns;
	}
	sweep(topics);
}

/**
 * topic_changed() - a topic has another state
 * @topics: topics
 * @topic: the topic
 * @because: reasons; a bit set
 */
void topic_changed(struct topics *topics, struct topic *topic, uint32_t because)
{
	uint32_t slot;

	topic->version++;
	topics->pending |= topic->concerns;
	for (slot = 0; slot < TOPIC_SLOTS; slot++)
		if (topic->concerns & bit(slot))
			topic->because[slot] |= because;
}

/**
 * topics_measured() - a watcher is to be told what was measured
 * @topics: topics
 * @slot: of the watcher
 */
void topics_measured(struct topics *topics, uint32_t slot)
{
	struct topic *topic;
	uint32_t i;

	topics->pending |= bit(slot);
	for (i = 0; i < topics->all.n; i++) {
		topic = topic_at(topics, i);
		if (topic->key.kind == TOPIC_PATHS ||
		    topic->key.kind == TOPIC_LINKS)
			topic->measured |= topic->concerns & bit(slot);
	}
}

static bool is_due(const struct topic *topic, uint32_t slot,
		   enum topic_part part)
{
	switch (part) {
	case TOPIC_END:
		return topic->ended & bit(slot);
	case TOPIC_STATE:
		return topic->concerns & bit(slot) &&
		       topic->told[slot] != topic->version;
	case TOPIC_MEASURED:
		return topic->measured & bit(slot);
	default:
		return false;
	}
}

/* What a watcher is to be told of a topic, in the first or in the second place. */
static enum topic_part part_of(const struct topic *topic, uint32_t slot,
			       bool second)
{
	if (second)
		return is_due(topic, slot, TOPIC_STATE) ? TOPIC_STATE :
		       is_due(topic, slot, TOPIC_MEASURED) ? TOPIC_MEASURED :
		       TOPIC_NONE;
	if (is_due(topic, slot, TOPIC_END))
		return TOPIC_END;
	return topic->key.kind != TOPIC_LINKS &&
	       is_due(topic, slot, TOPIC_STATE) ? TOPIC_STATE : TOPIC_NONE;
}

/**
 * topics_next() - what a watcher is to be told next
 * @topics: topics
 * @slot: of the watcher
 * @part: result: what of the topic
 *
 * Links and what was measured come after all else. Each search goes on where the
 * last one ended, so that every topic gets its turn.
 *
 * Return: the topic; NULL if there is nothing to be told.
 */
struct topic *topics_next(struct topics *topics, uint32_t slot,
			  enum topic_part *part)
{
	uint32_t n = topics->all.n, i, at;

	*part = TOPIC_NONE;
	if (!(topics->pending & bit(slot)))
		return NULL;
	for (i = 0; i < 2 * n; i++) {
		at = (topics->at[slot] + i) % n;
		*part = part_of(topic_at(topics, at), slot, i >= n);
		if (*part == TOPIC_NONE)
			continue;
		topics->at[slot] = at + 1;
		return topic_at(topics, at);
	}
	topics->pending &= ~bit(slot);
	return NULL;
}

/**
 * topic_told() - a watcher was told of a topic
 * @topic: the topic
 * @slot: of the watcher
 * @part: what of the topic
 *
 * A topic that ended for all is deleted when topics are gathered next.
 */
void topic_told(struct topic *topic, uint32_t slot, enum topic_part part)
{
	switch (part) {
	case TOPIC_END:
		topic->ended &= ~bit(slot);
		break;
	case TOPIC_STATE:
		topic->told[slot] = topic->version;
		topic->because[slot] = 0;
		break;
	default:
		topic->measured &= ~bit(slot);
	}
}

/**
 * topics_coalesced() - changes that a watcher will not be told one by one
 * @topics: topics
 * @slot: of the watcher
 */
uint64_t topics_coalesced(const struct topics *topics, uint32_t slot)
{
	const struct topic *topic;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < topics->all.n; i++) {
		topic = topic_at(topics, i);
		if (topic->told[slot] && is_due(topic, slot, TOPIC_STATE))
			sum += topic->version - topic->told[slot] - 1;
	}
	return sum;
}

/**
 * topics_again() - tell a watcher all states once more
 * @topics: topics
 * @slot: of the watcher
 */
void topics_again(struct topics *topics, uint32_t slot)
{
	struct topic *topic;
	uint32_t i;

	topics->pending |= bit(slot);
	topics->at[slot] = 0;
	for (i = 0; i < topics->all.n; i++) {
		topic = topic_at(topics, i);
		topic->ended &= ~bit(slot);
		topic->measured &= ~bit(slot);
		topic->told[slot] = 0;
		topic->because[slot] = 0;
	}
}

/**
 * topics_leave() - a watcher has left
 * @topics: topics; those that concern nobody else are deleted
 * @slot: of the watcher
 */
void topics_leave(struct topics *topics, uint32_t slot)
{
	uint32_t i;

	topics_again(topics, slot);
	topics->pending &= ~bit(slot);
	for (i = 0; i < topics->all.n; i++)
		topic_at(topics, i)->concerns &= ~bit(slot);
	sweep(topics);
}
