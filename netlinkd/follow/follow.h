/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A host's part of the global engine. The host follows the head of its shard in
 * the store, fetches the plan that the head refers to, verifies it, has it
 * applied as a whole and acknowledges it. It also reports which links carry
 * less than they should, what it sends over links, and what its applications
 * will send. How a plan is applied is up to the caller: srpold has the kernel
 * module make the changes, selftests/engine only records them.
 *
 *	follow.c	new heads, and whether a fetched plan is applied
 *	fetch.c		reads index, pages and chunks at the revision of a head
 *	last.c		saves the last plan to a file, and loads it
 *	saver.c		writes that file while other work goes on
 *	tell.c		lease, and transactions with acknowledgement and report
 *	report.c	what the host knows of links, and when it is told
 *	telling.c	messages that may be lost, over the bus or the store
 *	load.c		measured loads of links
 *	demand.c	forecasts of the applications
 */
#ifndef _SRPOL_FOLLOW_H
#define _SRPOL_FOLLOW_H

#include <jansson.h>

#include "bus.h"
#include "forecast.h"
#include "mirror.h"
#include "objects.h"
#include "plan.h"
#include "store.h"

#define FOLLOW_LEAVES	64
#define FOLLOW_LINKS	960	/* links reported: an engine takes 1472 with
				 * those that are suspected */
#define FOLLOW_LOADS	1024
#define FOLLOW_SUSPECTS	16	/* that explain the same lost probes */
#define FOLLOW_SURE	75	/* percent of confidence that the engine asks for */

/**
 * struct follow_config - configuration by the operator
 * @shard: shard of the fabric that the host belongs to
 * @store: how to reach the store
 * @bus: how to reach the bus. Without servers, loads and forecasts are written
 *	to the store instead.
 * @file: where the last plan is saved; empty: nowhere
 * @lease_s: duration of the lease, in seconds. If the host dies, its keys in
 *	the store are deleted when the lease expires.
 * @damp_ns: how long a link has to stay better than last reported before the
 *	improvement is reported, in nanoseconds
 */
struct follow_config {
	char shard[32];
	struct store_config store;
	struct bus_config bus;
	char file[256];
	uint32_t lease_s;
	uint64_t damp_ns;
};

/**
 * struct follow_stats - counters of a follower
 * @applied: plans applied, including the one loaded from disk
 * @bad_head: heads that could not be parsed
 * @replayed: heads that are not newer than the plan in force, by epoch and term
 * @bad_index: indexes or pages that are missing or do not match the digest by
 *	which they are referred to
 * @bad_chunk: chunks that are missing, do not match their digest, or do not
 *	make a valid plan
 * @topology: plans that were made for another topology
 * @failed: plans that could not be applied
 * @compacted: reads at a revision that was already compacted
 * @resets: times that the store was replaced by another one (new cluster id)
 * @reports: transactions with a link report that were sent
 * @retries: failed transactions of acknowledgement and report; each is sent
 *	again
 */
struct follow_stats {
	uint64_t applied;
	uint64_t bad_head;
	uint64_t replayed;
	uint64_t bad_index;
	uint64_t bad_chunk;
	uint64_t topology;
	uint64_t failed;
	uint64_t compacted;
	uint64_t resets;
	uint64_t reports;
	uint64_t retries;
};

/**
 * struct follow_link - a cable that carries less than it should
 * @cable: index of the cable
 * @capacity: bit/s, 0: down
 * @better_ns: since when the cable has been better than last reported
 *	(CLOCK_MONOTONIC), 0: it is not better
 */
struct follow_link {
	uint32_t cable;
	uint64_t capacity;
	uint64_t better_ns;
};

/**
 * struct follow_suspicion - cables of which one explains lost probes
 * @confidence: percent for the first of them, 100: no other one explains them
 * @n: number of entries of @cable
 * @cable: these cables, the one that explains most first
 * @better_ns: like that of struct follow_link
 */
struct follow_suspicion {
	uint32_t confidence;
	uint32_t n;
	uint32_t cable[FOLLOW_SUSPECTS];
	uint64_t better_ns;
};

/**
 * struct follow_near - a cable that leads up from the host, or from a switch above
 * it
 * @node: lower end
 * @cable: index of the cable
 * @passes: probes of the host pass it
 * @told: the engine was told so
 */
struct follow_near {
	uint32_t node;
	uint32_t cable;
	bool passes;
	bool told;
};

/**
 * struct follow_known - what a host knows of cables
 * @links: cables that carry less than they should, as far as the host is told by
 *	devices and operators
 * @n_links: number of @links
 * @suspicions: explanations of lost probes
 * @n_suspicions: number of @suspicions
 * @passes: for each cable, whether probes pass it; NULL: not known
 */
struct follow_known {
	const struct follow_link *links;
	size_t n_links;
	const struct follow_suspicion *suspicions;
	size_t n_suspicions;
	const bool *passes;
};

/**
 * struct follow_load - what the host sends over a link
 * @link: index of the directed link
 * @kbps: rate in kbit/s
 */
struct follow_load {
	uint32_t link;
	uint32_t kbps;
};

/**
 * struct follow_plan - a plan, complete and verified or still being fetched
 * @head: head of the plan
 * @cluster: id of the store that the plan came from. Revisions and epochs of
 *	different stores cannot be compared.
 * @index: index of the plan, parsed
 * @index_text: index as it was read
 * @number: page number of each of the host's leaves, by position in @leaves of
 *	struct follow
 * @n_pages: number of entries of @page
 * @page: pages read so far, parsed
 * @page_text: the same pages as they were read
 * @seen: number of this host's latest report that the plan takes into account,
 *	0: none
 * @n: number of entries of @leaf
 * @leaf: those of the host's leaves that have a chunk in this plan, as node
 *	indexes in ascending order
 * @chunk: text of the chunk of each @leaf
 * @plan: source-destination pairs parsed from the chunks; NULL until all of
 *	them were read
 */
struct follow_plan {
	struct srpol_head head;
	uint64_t cluster;
	struct srpol_index index;
	char *index_text;
	uint32_t number[FOLLOW_LEAVES];
	uint32_t n_pages;
	struct srpol_page page[FOLLOW_LEAVES];
	char *page_text[FOLLOW_LEAVES];
	uint64_t seen;
	uint32_t n;
	uint32_t leaf[FOLLOW_LEAVES];
	char *chunk[FOLLOW_LEAVES];
	struct srpol_plan *plan;
};

struct follow;

/**
 * struct telling - a message to the engine; only its latest value counts
 * @follow: the follower that sends it
 * @what: first part of its key
 * @text: makes the value; the result is freed by the caller
 * @known: there is a value to send
 * @busy: a store transaction is under way
 * @lease: lease that this transaction uses
 * @told: lease under which the value was written to the store, or 1 when it was
 *	published on the bus; 0: it has to be sent
 * @again: publishes it again on the bus, where messages may be lost
 * @count: times it was written or published
 */
struct telling {
	struct follow *follow;
	const char *what;
	char *(*text)(const struct follow *f);
	bool known;
	bool busy;
	uint64_t lease;
	uint64_t told;
	struct alarm again;
	uint64_t count;
};

/**
 * struct follow - a host that follows the plans of its shard
 * @config: configuration by the operator
 * @fabric: topology; must outlive the follower
 * @topology: digest of the topology
 * @host: node index of the host
 * @apply: applies a plan completely or not at all; returns 0 or a negative
 *	errno. @now is still the previous plan while it runs.
 * @data: argument for @apply
 * @n_leaves: number of entries of @leaves
 * @leaves: leaf switches that the host's NICs are connected to, as node indexes
 *	in ascending order
 * @now: plan in force, NULL: none
 * @next: plan that is being fetched, NULL: none
 * @next_mod: revision of the last change of its head
 * @next_rev: revision at which it is read. The head was still current at this
 *	revision, which is @next_mod or later; @next_mod itself may be compacted
 *	already.
 * @next_at: position in @leaves up to which pages, then chunks, were fetched
 * @wanted: latest head that arrived while @next was being fetched
 * @wanted_mod: like @next_mod, for @wanted
 * @wanted_rev: like @next_rev, for @wanted; 0: no head is waiting
 * @done_mod: revision of the last head that was applied or rejected
 * @links: struct follow_link; contents of the link report
 * @suspicions: struct follow_suspicion; likewise
 * @near: struct follow_near, grouped by node; likewise
 * @near_ns: since when what passes is as it is
 * @number: number of the last link report. It does not count what passes, which
 *	changes no path of this host.
 * @stats: counters
 * @store: connection to the store
 * @mirror: follows the key of the head
 * @head_key: key of the head
 * @cluster: id of the store that @done_mod and the other revisions belong to
 * @again: timer to read the head again
 * @lease: lease of report and acknowledgement, 0: none
 * @keep: timer to renew the lease
 * @keeping: a lease request is under way
 * @telling: a transaction with report and acknowledgement is under way
 * @retry_ns: wait after the last failed transaction, 0: the last one succeeded
 * @told: generation that was sent last; 0 after a failure
 * @said: current generation of the report
 * @told_said: generation of the report that was sent last; 0 after a failure
 * @tell: current generation of report and acknowledgement; incremented whenever
 *	there is something new to send
 * @loads: struct follow_load, sorted by link: loads to send
 * @load_rest: total of the links that are not in @loads, in kbit/s
 * @load: the message with @loads
 * @demands: forecasts to send, those with the most bytes
 * @demand: the message with @demands
 * @bus: connection to the bus, NULL: none is configured
 * @saver: saves the plan and the report, NULL: they are not saved
 * @acked: head of the plan that is acknowledged: @now, or the newest one before it that
 *	is on the disk. Epoch 0: none
 * @saving: number of what @saver is to have on the disk before @awaited is acknowledged,
 *	0: nothing
 * @awaited: head of @now, or of a plan before it
 * @put: number of the contents that @now came with
 */
struct follow {
	struct follow_config config;
	const struct srpol_fabric *fabric;
	char topology[SRPOL_DIGEST_LEN];
	uint32_t host;
	int (*apply)(void *data, const struct follow_plan *plan);
	void *data;
	uint32_t n_leaves;
	uint32_t leaves[FOLLOW_LEAVES];
	struct follow_plan *now;
	struct follow_plan *next;
	uint64_t next_mod;
	uint64_t next_rev;
	uint32_t next_at;
	struct srpol_head wanted;
	uint64_t wanted_mod;
	uint64_t wanted_rev;
	uint64_t done_mod;
	struct vec links;
	struct vec suspicions;
	struct vec near;
	uint64_t near_ns;
	uint64_t number;
	struct follow_stats stats;
	struct store store;
	struct mirror mirror;
	char head_key[STORE_KEY_LEN];
	uint64_t cluster;
	struct alarm again;
	uint64_t lease;
	struct alarm keep;
	bool keeping;
	bool telling;
	uint64_t retry_ns;
	uint64_t told;
	uint64_t said;
	uint64_t told_said;
	uint64_t tell;
	struct vec loads;
	uint64_t load_rest;
	struct telling load;
	struct srpol_forecasts demands;
	struct telling demand;
	struct bus *bus;
	struct saver *saver;
	struct srpol_head acked;
	uint64_t saving;
	struct srpol_head awaited;
	uint64_t put;
};

/* follow.c */
int follow_start(struct follow *f, struct srpol_error *err);
void follow_stop(struct follow *f);
void follow_plan_free(struct follow_plan *plan);
void follow_fetched(struct follow *f, bool decided);
void follow_again(struct follow *f);

/* fetch.c */
void fetch_start(struct follow *f);
bool fetch_index(struct follow *f, struct follow_plan *p, const char *text,
		 size_t len);
bool fetch_page(struct follow *f, struct follow_plan *p, uint32_t number,
		const char *text, size_t len);
const struct srpol_page *fetch_page_of(const struct follow_plan *p,
				       uint32_t number);
const struct srpol_page_entry *fetch_chunk_of(const struct follow *f,
					      const struct follow_plan *p,
					      uint32_t at);
bool fetch_chunk(struct follow *f, struct follow_plan *p, uint32_t at,
		 const char *text, size_t len);
bool fetch_check(struct follow *f, struct follow_plan *p);

/* last.c */
void last_load(struct follow *f);
uint64_t last_save(struct follow *f);

/* saver.c */
struct saver *saver_open(const char *file, void (*saved)(void *data), void *data);
uint64_t saver_put(struct saver *s, json_t *o);
bool saver_has(struct saver *s, uint64_t number);
json_t *saver_pending(struct saver *s, uint64_t *number);
void saver_close(struct saver *s);
void savers_end(void);

/* tell.c */
void tell_start(struct follow *f);
void tell_stop(struct follow *f);
void tell_soon(struct follow *f);

/* report.c */
void report_init(struct follow *f);
void report_free(struct follow *f);
char *report_text(const struct follow *f);
bool follow_report(struct follow *f, const struct follow_known *known);
bool follow_overrides(const struct follow *f, const struct follow_plan *plan,
		      uint32_t cable);

/* telling.c */
void telling_init(struct telling *t, struct follow *f, const char *what,
		  char *(*text)(const struct follow *f));
void telling_stop(struct telling *t);
void telling_go_on(struct telling *t);
void telling_again(struct telling *t);
void telling_news(struct telling *t);

/* load.c */
void load_init(struct follow *f);
void follow_measured(struct follow *f, const struct follow_load *loads,
		     size_t n);

/* demand.c */
void demand_init(struct follow *f);
void follow_demands(struct follow *f, const struct srpol_forecasts *now,
		    uint64_t now_ms);

#endif /* _SRPOL_FOLLOW_H */
