/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Watchers: clients of a socket that are told what becomes of their paths. Nobody
 * waits for them: what a watcher does not read is not written, but told later as it
 * is then (topics.h).
 *	watchers.c	who watches; when something is looked at and told
 *	watch_request.c	requests to watch
 *	watch_gather.c	which topics concern which watcher
 *	watch_paths.c	paths to a destination
 *	watch_plan.c	the plan of a host
 *	watch_qps.c	QPs that are placed
 *	watch_links.c	links
 *	watch_events.c	the events, in JSON
 */
#ifndef _SRPOLD_WATCHERS_H
#define _SRPOLD_WATCHERS_H

#include "requests.h"
#include "srpold.h"
#include "topics.h"

#define WATCHERS_BY_USER	8
#define WATCHERS_FOR_ALL	24	/* the last ones are for the superuser */
#define WATCH_EVERY_MIN_MS	100

/**
 * enum because - reasons of a change; bits
 * @BECAUSE_FAILURE: a path went down
 * @BECAUSE_RECOVERY: a path came up
 * @BECAUSE_LOSS: a link loses packets
 * @BECAUSE_DELAY: packets wait at a link
 * @BECAUSE_CONGESTION: switches mark packets
 * @BECAUSE_RELIEF: a link works better again
 * @BECAUSE_CAPACITY: a link has another capacity
 * @BECAUSE_PEER: another host says that a link works better or worse
 * @BECAUSE_BALANCE: the algorithm divides traffic in another way, since demands or
 *	links that others use have changed
 * @BECAUSE_PLAN: the plan has other weights, or applies no more, or again
 * @BECAUSE_OPERATOR: the policy or the topology was changed
 * @BECAUSE_LOAD: other QPs send more or less
 */
enum because {
	BECAUSE_FAILURE = 1 << 0,
	BECAUSE_RECOVERY = 1 << 1,
	BECAUSE_LOSS = 1 << 2,
	BECAUSE_DELAY = 1 << 3,
	BECAUSE_CONGESTION = 1 << 4,
	BECAUSE_RELIEF = 1 << 5,
	BECAUSE_CAPACITY = 1 << 6,
	BECAUSE_PEER = 1 << 7,
	BECAUSE_BALANCE = 1 << 8,
	BECAUSE_PLAN = 1 << 9,
	BECAUSE_OPERATOR = 1 << 10,
	BECAUSE_LOAD = 1 << 11,
};

/**
 * struct watcher - a client that watches
 * @client: its connection, NULL: the slot is free
 * @later: its request, which is answered once its topics are gathered; NULL: it was
 * @uid: its user
 * @all: it is told of all jobs and all demands
 * @owner: it is told of demands of that owner only; empty: of all owners
 * @every_ns: period of what is measured, 0: it is not told
 * @due_ns: when that is due next
 * @blocked_ns: since when it has not read what it was told, 0: it has
 * @links_due: its links may have changed
 */
struct watcher {
	struct lines_client *client;
	struct request_later *later;
	uint32_t uid;
	bool all;
	char owner[DEMAND_OWNER_LEN];
	uint64_t every_ns;
	uint64_t due_ns;
	uint64_t blocked_ns;
	bool links_due;
};

/* watchers.c */
void watchers_start(struct engine *engine);
void watchers_stop(void);
struct watcher *watchers_add(struct lines_client *client, bool all,
			     struct srpol_error *err);
int watchers_begin(struct watcher *watcher, struct request_server *server);
void watchers_left(struct lines_client *client);
void watchers_drained(struct lines_client *client);
void watchers_demanded(void);
void watchers_rebuilt(void);
void watchers_path_event(uint32_t path, uint32_t state, uint32_t reason);

/* watch_request.c */
json_t *watch_request(struct request_server *server, bool all,
		      const json_t *request, struct srpol_error *err);

/* watch_gather.c */
void watch_gather(struct engine *engine, struct topics *topics,
		  const struct watcher *watchers, bool rebuilt);
const struct job *watch_job(uint32_t color);

/* watch_paths.c */

/**
 * struct watched_path - a path as it was when its topic last changed
 * @at: its index in the engine's paths
 * @id: id of the module's object
 * @state: enum srpol_path_state
 * @reason: enum srpol_path_reason
 * @weight: in the candidate path that is used
 * @percent: of the buckets, as far as they follow from weights and states
 * @version: of the topic, in which @state or @reason last changed
 * @since_us: when that was, in microseconds since 1970
 */
struct watched_path {
	uint32_t at;
	uint32_t id;
	uint32_t state;
	uint32_t reason;
	uint32_t weight;
	uint32_t percent;
	uint64_t version;
	uint64_t since_us;
};

/**
 * struct watched_paths - content of a topic of paths
 * @policy: index of the policy in the engine's
 * @by: whose weights are used: "plan", "engine" or "operator"
 * @fallback: what becomes of packets without a usable path: "drop", "plain-ip" or
 *	"backup-color"
 * @planned: the plan has weights for the policy
 * @usable: number of paths that are up and have a weight
 * @level: sum of the levels of its links' quality, 0: all are as good as can be
 * @word: what is wrong with one of them
 * @heard: sum of what other hosts leave of its links, in percent
 * @capacity: hash of the capacities of its links
 * @n: number of @path
 * @path: those that the module has; none if an operator's are used
 */
struct watched_paths {
	uint32_t policy;
	const char *by;
	const char *fallback;
	bool planned;
	uint32_t usable;
	uint32_t level;
	enum quality_word word;
	uint32_t heard;
	uint64_t capacity;
	uint32_t n;
	struct watched_path path[];
};

void watch_paths_look(struct engine *engine, struct topics *topics,
		      struct topic *topic, uint32_t policy);

/* watch_plan.c */

/**
 * struct watched_plan - content of the topic of a host's plan
 * @epoch: its epoch, 0: none is followed yet
 * @term: term of the engine that made it
 */
struct watched_plan {
	uint64_t epoch;
	uint64_t term;
};

void watch_plan_look(struct topics *topics, struct topic *topic);
json_t *watch_plan_json(struct engine *engine, const struct topic *topic);

/* watch_qps.c */
void watch_qps_look(struct engine *engine, struct topics *topics,
		    struct topic *topic);
json_t *watch_qps_json(struct engine *engine, const struct topic *topic,
		       uint32_t slot, const struct watcher *watcher);

/* watch_links.c */
bool watch_links_look(struct engine *engine, const struct topics *topics,
		      struct topic *topic, uint32_t slot);
json_t *watch_links_json(struct engine *engine, const struct topics *topics,
			 uint32_t slot, const struct watcher *watcher);

/* watch_events.c */
json_t *watch_event(struct engine *engine, const struct topics *topics,
		    const struct topic *topic, uint32_t slot,
		    const struct watcher *watcher, enum topic_part part);
json_t *watch_late(uint64_t coalesced, uint64_t late_ns);
json_t *watch_reasons(uint32_t because);
uint64_t watch_now_us(void);

#endif /* _SRPOLD_WATCHERS_H */
