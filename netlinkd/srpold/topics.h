/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What watchers are told: topics, each with a version that grows when its state
 * changes. A watcher has no queue: for each topic it is known which version the
 * watcher was told last, and once it reads again it is told the latest state.
 * Versions in between are counted as coalesced. So a slow watcher costs nothing
 * that grows. Pure.
 */
#ifndef _SRPOLD_TOPICS_H
#define _SRPOLD_TOPICS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "vec.h"

#define TOPIC_SLOTS	32	/* watchers; a bit each */
#define TOPICS_MAX	2048
#define TOPICS_BY_SLOT	512	/* topics of a watcher that does not see all */

/**
 * enum topic_kind - what a topic is about, in the order in which it is told
 * @TOPIC_PLAN: the plan that a host follows
 * @TOPIC_PATHS: the paths to a destination
 * @TOPIC_QPS: placed QPs of a job
 * @TOPIC_LINKS: links that the paths of one watcher take
 */
enum topic_kind {
	TOPIC_PLAN,
	TOPIC_PATHS,
	TOPIC_QPS,
	TOPIC_LINKS,
};

/**
 * struct topic_key - what identifies a topic
 * @kind: enum topic_kind
 * @number: color; of a plan: number of the host; of links: slot of the watcher
 * @src: of paths: address of the source
 * @dst: of paths: address of the destination
 */
struct topic_key {
	uint32_t kind;
	uint32_t number;
	struct in6_addr src;
	struct in6_addr dst;
};

/**
 * enum topic_part - what of a topic is to be told
 * @TOPIC_NONE: nothing
 * @TOPIC_END: it concerns the watcher no more
 * @TOPIC_STATE: its state
 * @TOPIC_MEASURED: what was measured on its paths
 */
enum topic_part {
	TOPIC_NONE,
	TOPIC_END,
	TOPIC_STATE,
	TOPIC_MEASURED,
};

/**
 * struct topic - something that watchers are told
 * @key: its key
 * @version: grows with each change, from 1 on
 * @concerns: slots of the watchers that it concerns
 * @wanted: the same, while topics are gathered
 * @ended: slots of those that it concerned, and that were not told its end yet
 * @measured: slots of those that are to be told what was measured
 * @noted: for the caller: it may have changed
 * @told: by slot, the version told last, 0: none
 * @because: by slot, reasons of the changes since then; a bit set
 * @content: of the caller, freed by @release of struct topics
 */
struct topic {
	struct topic_key key;
	uint64_t version;
	uint32_t concerns;
	uint32_t wanted;
	uint32_t ended;
	uint32_t measured;
	bool noted;
	uint64_t told[TOPIC_SLOTS];
	uint32_t because[TOPIC_SLOTS];
	void *content;
};

/**
 * struct topics - all topics
 * @all: struct topic *, sorted by key
 * @release: frees the content of a topic; may be NULL
 * @pending: slots of watchers that may have something to be told
 * @at: by slot, index in @all at which the search goes on
 * @max: by slot, largest number of topics that may concern the watcher; for the
 *	caller to set
 * @count: by slot, number of topics that concern the watcher
 * @left_out: by slot, topics for which there was no room
 */
struct topics {
	struct vec all;
	void (*release)(void *content);
	uint32_t pending;
	uint32_t at[TOPIC_SLOTS];
	uint32_t max[TOPIC_SLOTS];
	uint32_t count[TOPIC_SLOTS];
	uint32_t left_out[TOPIC_SLOTS];
};

#define TOPICS_INIT(f)	{ .all = VEC_INIT(struct topic *), .release = (f) }

void topics_gather(struct topics *topics);
struct topic *topics_want(struct topics *topics, const struct topic_key *key,
			  uint32_t slots);
void topics_gathered(struct topics *topics);
struct topic *topics_find(const struct topics *topics,
			  const struct topic_key *key);
void topic_changed(struct topics *topics, struct topic *topic,
		   uint32_t because);
void topics_measured(struct topics *topics, uint32_t slot);
struct topic *topics_next(struct topics *topics, uint32_t slot,
			  enum topic_part *part);
void topic_told(struct topic *topic, uint32_t slot, enum topic_part part);
uint64_t topics_coalesced(const struct topics *topics, uint32_t slot);
void topics_again(struct topics *topics, uint32_t slot);
void topics_leave(struct topics *topics, uint32_t slot);

#endif /* _SRPOLD_TOPICS_H */
