/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A host's part of the global engine: follows the plan in force, checks it,
 * has it applied as a whole, acknowledges; reports what the host knows of
 * links. What "apply" does is the user's: srpold has the module change,
 * selftests/engine only takes notes.
 *
 *	follow.c	heads, and what becomes of them
 *	fetch.c		index, pages and chunks at a head's revision
 *	last.c		the last plan, on disk
 *	tell.c		lease, acknowledgement, report
 *	telling.c	what may be lost, over the bus or the store
 *	load.c		what the host sends over links
 *	demand.c	what its applications will send
 */
#ifndef _SRPOL_FOLLOW_H
#define _SRPOL_FOLLOW_H

#include "bus.h"
#include "forecast.h"
#include "mirror.h"
#include "objects.h"
#include "plan.h"
#include "store.h"

#define FOLLOW_LEAVES	64
#define FOLLOW_LOADS	1024

/**
 * struct follow_config - what the operator wrote
 * @shard: part of the fabric the host is in
 * @store: where the store is
 * @bus: loads and forecasts are told there; without servers: in the store
 * @file: the last plan is kept there, empty: nowhere
 * @lease_s: reports outlive the host by so long at most
 * @damp_ns: a link has to be better for so long before that is reported
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
 * struct follow_stats - what became of heads
 * @applied: plans applied
 * @bad_head: heads that are none
 * @replayed: heads of an epoch or term of before
 * @bad_index: index is missing or not the one the head means, or a page likewise
 * @bad_chunk: likewise a chunk
 * @topology: plans for another topology
 * @failed: plans that could not be applied
 * @compacted: reads that came too late
 * @resets: the store is another one
 * @reports: reports written
 * @retries: acknowledgements and reports that were not written, to be written again
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
 * struct follow_link - what the host knows of a cable that is not as it should be
 * @cable: number
 * @capacity: bit/s, 0: down
 * @better_ns: what is reported is worse than this since then, 0: it is not
 */
struct follow_link {
	uint32_t cable;
	uint64_t capacity;
	uint64_t better_ns;
};

/**
 * struct follow_load - what the host sends over a link
 * @link: directed link
 * @kbps: kbit/s
 */
struct follow_load {
	uint32_t link;
	uint32_t kbps;
};

/**
 * struct follow_plan - a plan that was checked
 * @head: its head
 * @cluster: whose revisions
 * @index: its index
 * @index_text: likewise
 * @number: page of each of the host's leaves
 * @n_pages: number of @page
 * @page: pages of these
 * @page_text: likewise
 * @seen: last report of the host that the plan knows, 0: none
 * @n: number of @leaf
 * @leaf: the host's leaves that the plan says something of, by number
 * @chunk: text of these
 * @plan: their pairs
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
 * struct telling - something that is told, and that the next word replaces
 * @follow: host
 * @what: first word of its key
 * @text: makes the value
 * @known: there was something to tell
 * @busy: transaction under way
 * @lease: its lease
 * @told: lease it was told with, on the bus 1; 0: it is not
 * @again: tells it again on the bus, which may have lost it
 * @count: times it was written, or published
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
 * struct follow - a host that follows
 * @config: what the operator wrote
 * @fabric: topology, which has to stay
 * @topology: its digest
 * @host: node
 * @apply: has a plan applied, or not at all; 0 or a negative errno. In
 *	@now is the one before until it returns.
 * @data: for @apply
 * @n_leaves: number of @leaves
 * @leaves: leaves of the host's NICs, by number
 * @now: plan in force, NULL: none
 * @next: being fetched, NULL: none
 * @next_mod: revision of its head
 * @next_rev: it is read at this one, at which that was still the head: the
 *	former may be compacted
 * @next_at: of its leaves
 * @wanted: head that came meanwhile
 * @wanted_mod: its revision
 * @wanted_rev: see @next_rev
 * @done_mod: revision of the head that was decided on last
 * @links: struct follow_link: what is, or will be, reported
 * @number: of the last report
 * @stats: what happened
 * @store: the store
 * @mirror: of the head
 * @head_key: its key
 * @cluster: whose revisions
 * @again: reads the head again
 * @lease: of report and acknowledgement
 * @keep: keeps it
 * @keeping: lease request under way
 * @telling: transaction under way
 * @retry_ns: wait after the last one that failed, 0: it did not
 * @told: generation that was written
 * @told_number: number of the report that was written
 * @tell: generation that is to be
 * @loads: struct follow_load, by link: what is to be told
 * @load_rest: kbit/s of links that are not among them
 * @load: of these
 * @demands: forecasts, those with the most bytes
 * @demand: of these
 * @bus: the bus, NULL: none
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
	uint64_t told_number;
	uint64_t tell;
	struct vec loads;
	uint64_t load_rest;
	struct telling load;
	struct srpol_forecasts demands;
	struct telling demand;
	struct bus *bus;
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
void last_save(const struct follow *f);

/* tell.c */
void tell_start(struct follow *f);
void tell_stop(struct follow *f);
void tell_soon(struct follow *f);
bool follow_report(struct follow *f, const struct follow_link *links,
		   size_t n);
bool follow_overrides(const struct follow *f, uint32_t cable);

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
