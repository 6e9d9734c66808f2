/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srpol-fabricd, the global engine: what its parts share. The design is in
 * Documentation/fabric-engine.rst.
 *
 *	config.c	what the operator wrote
 *	leader.c	who may write: a lease, and the leader's key
 *	inputs.c	jobs and reports, as they are now
 *	sweep.c		what goes when it is not in the store any more
 *	key.c		names of keys
 *	acks.c		what hosts have applied
 *	measured.c	what hosts send, by link
 *	takeover.c	what a new leader finds in the store
 *	epoch.c		what of it changes from one to the next
 *	publish.c	chunks, pages, index, head
 *	plan.c		when to plan, and what became of it
 *	control.c	answers srpol fabric
 *	report.c	what it shows
 *	why.c		why hosts weigh paths as they do
 *
 * Those of tenants and reservations are in tenants.h, those of what hosts forecast
 * in forecasts.h.
 *	hear.c		what hosts tell that may be lost
 *	web.c		the page, see web.h
 */
#ifndef _SRPOL_FABRICD_H
#define _SRPOL_FABRICD_H

#include <jansson.h>
#include <time.h>

#include "bus.h"
#include "log.h"
#include "loop.h"
#include "mirror.h"
#include "objects.h"
#include "plan.h"
#include "store.h"

#define NS_PER_MS	1000000ull
#define NS_PER_SEC	1000000000ull
#define SHARD_LEN	32

struct request_server;
struct user;
struct workload;

/**
 * struct fabricd_config - what the operator wrote
 * @name: of this engine
 * @shard: part of the fabric it plans for
 * @topology: file
 * @alg: algorithm
 * @settle_ns: events that come within this time of the first are one plan
 * @lease_s: how long a leader is one without saying so
 * @store: where the store is
 * @file: of an embedded store, which it serves
 * @socket: of srpol fabric
 * @reservable: percent of a link that may be reserved
 * @n_users: number of @users
 * @users: whose tenant's users they are
 * @page: address and port of the page, empty: none
 * @forecasts: demands that hosts forecast are kept up to so many, 0: nobody listens
 */
struct fabricd_config {
	char name[SRPOL_NAME_LEN];
	char shard[SHARD_LEN];
	char topology[256];
	const struct srpol_alg *alg;
	uint64_t settle_ns;
	uint32_t lease_s;
	struct store_config store;
	struct bus_config bus;
	char file[256];
	char socket[108];
	uint32_t reservable;
	uint32_t n_users;
	struct user *users;
	char page[64];
	uint32_t forecasts;
};

int config_read(const char *file, struct fabricd_config *config,
		struct srpol_error *err);

/**
 * struct input - a job or a report, as the store has it
 * @key: its key
 * @text: its value, the last good one
 * @len: bytes of it
 * @number: of a report: its number
 * @links: of a report: struct input_link
 * @via: of a job: function that its demands ask for, see struct srpol_demand
 * @flows: likewise: how many flows each of them is
 * @sends: of a job: it has demands
 * @mod: of a job: revision of its key
 * @planned: of a job: @mod as of the last plan that was published
 * @epoch: of a job: epoch in which it was planned for first, 0: none yet
 * @outdated: of a report: the newest one was wrong, this is one before
 * @heard: when it came
 * @stale: not seen in the read that is under way
 */
struct input {
	char *key;
	char *text;
	size_t len;
	uint64_t number;
	struct vec links;
	uint32_t via;
	uint32_t flows;
	bool sends;
	uint64_t mod;
	uint64_t planned;
	uint64_t epoch;
	bool outdated;
	time_t heard;
	bool stale;
};

/**
 * struct input_link - what a host says of a cable
 * @cable: number
 * @capacity: bit/s, 0: down
 */
struct input_link {
	uint32_t cable;
	uint64_t capacity;
};

/**
 * struct ack - what a host has applied
 * @host: its name
 * @epoch: epoch, 0: it is gone
 */
struct ack {
	char host[SRPOL_NAME_LEN];
	uint64_t epoch;
};

/**
 * struct fabricd_stats - what happened
 * @events: changes of jobs and reports
 * @refused: these that were wrong
 * @plans: plans made
 * @published: epochs written
 * @fenced: transactions refused as somebody else leads
 * @unsure: transactions nobody knows the end of
 * @elected: times it became leader
 * @accepted: jobs taken as they were wanted
 * @deferred: jobs that were told when they would be taken
 * @lowered: jobs that were told to want less, or no guarantee
 * @rejected: jobs that were not taken
 * @moved: reservations that were given other paths
 * @lost: reservations that could not be kept any more
 * @plan_ns: time the last plan took
 */
struct fabricd_stats {
	uint64_t events;
	uint64_t refused;
	uint64_t plans;
	uint64_t published;
	uint64_t fenced;
	uint64_t unsure;
	uint64_t elected;
	uint64_t accepted;
	uint64_t deferred;
	uint64_t lowered;
	uint64_t rejected;
	uint64_t moved;
	uint64_t lost;
	uint64_t plan_ns;
};

/**
 * struct epoch_text - a key to be written, or (value NULL) deleted
 * @key: key
 * @value: its value
 * @len: bytes of it
 */
struct epoch_text {
	char key[STORE_KEY_LEN];
	char *value;
	size_t len;
};

/**
 * struct epoch - what makes up an epoch
 * @index: its index
 * @pages: those of the index, in its order
 */
struct epoch {
	struct srpol_index index;
	struct srpol_page *pages;
};

/**
 * struct epoch_change - what is to be done for an epoch to be in force
 * @texts: struct epoch_text, chunks and pages that changed
 * @old: struct epoch_text, what nobody will refer to
 * @index_text: of the index
 */
struct epoch_change {
	struct vec texts;
	struct vec old;
	char *index_text;
};

/**
 * struct fabricd - everything
 * @config: what the operator wrote
 * @fabric: topology
 * @topology: its digest
 * @topo_rev: revision of its key
 * @store: the store
 * @term: create revision of the leader's key, 0: another one leads
 * @leader: name of who leads, as far as is known
 * @jobs: struct input, sorted by key
 * @reports: likewise
 * @acks: struct ack, sorted by host
 * @planner: plan for what has no reservation
 * @links: state of the links as of the last plan
 * @plan: plan in force: that of @planner and what is reserved; NULL: none
 * @before: the plan before it, NULL: none
 * @epoch: in force
 * @head_rev: revision of the head that was read or written last
 * @published_ns: when this engine wrote it, 0: another one did
 * @next_epoch: number
 * @stats: what happened
 */
struct fabricd {
	struct fabricd_config config;
	struct srpol_fabric *fabric;
	char topology[SRPOL_DIGEST_LEN];
	uint64_t topo_rev;
	struct store store;
	uint64_t term;
	char leader[SRPOL_NAME_LEN];
	struct vec jobs;
	struct vec reports;
	struct vec acks;
	struct srpol_planner planner;
	struct srpol_links *links;
	struct srpol_plan *plan;
	struct srpol_plan *before;
	struct epoch epoch;
	uint64_t head_rev;
	uint64_t published_ns;
	uint64_t next_epoch;
	struct fabricd_stats stats;
};

extern struct fabricd fabricd;

/* Keys; @buf has room for STORE_KEY_LEN. */
const char *key_leader(char *buf);
const char *key_topology(char *buf);
const char *key_head(char *buf);
const char *key_index(char *buf, uint64_t epoch);
const char *key_page(char *buf, uint64_t epoch, uint32_t page);
const char *key_chunk(char *buf, uint64_t epoch, const char *leaf);

/* sweep.c */

/**
 * struct sweep - a list that follows a prefix, for struct mirror
 * @list: its elements have a bool that says "not seen in this read"
 * @stale: offset of that
 * @free: frees what an element has
 * @is_read: all of it was read once
 * @heard: sweep_end() was called before
 * @events: fabricd.stats.events as of then
 */
struct sweep {
	struct vec *list;
	size_t stale;
	void (*free)(void *element);
	bool is_read;
	bool heard;
	uint64_t events;
};

void sweep_begin(void *data, uint64_t cluster);
void sweep_end(void *data);
size_t sweep_gone(struct sweep *s);
void sweep_remove(const struct sweep *s, void *element);

/* leader.c */
void leader_start(void);
void leader_stop(void);
void leader_fenced(void);

/* inputs.c */
void inputs_start(void);
void inputs_stop(void);
bool inputs_ready(void);
bool inputs_jobs_changed(void);
struct srpol_links *inputs_links(void);
void inputs_changed(void);
uint64_t inputs_jobs_revision(void);
struct input *inputs_job(const char *key);

/* acks.c */
void acks_start(void);
void acks_stop(void);
bool acks_ready(void);
struct ack *acks_find(const char *host);

/* measured.c */

/**
 * struct measured_shares - planned against measured, on links between switches
 * @planned: bytes, the sum over these links
 * @measured: bit/s, likewise
 * @comparable: neither is 0
 * @off_plan: the part of what is measured that would have to be on other links
 *	for each to have the share of all that it has in the plan
 */
struct measured_shares {
	double planned;
	double measured;
	bool comparable;
	double off_plan;
};

int measured_start(struct srpol_error *err);
void measured_bus(struct bus_stats *stats);
void measured_stop(void);
size_t measured_hosts(void);
uint64_t measured_refused(void);
double measured_rest(void);
double measured_rate(uint32_t link);
void measured_shares(const double *loads, struct measured_shares *shares);
bool measured_share_of(const double *loads,
		       const struct measured_shares *shares, uint32_t link,
		       double *planned, double *measured);

/* takeover.c */
void takeover(void (*done)(bool ok));
void takeover_stop(void);

/* epoch.c */
int epoch_make(const struct srpol_plan *plan, struct epoch *e,
	       struct epoch_change *change);
bool epoch_equal(const struct epoch *a, const struct epoch *b);
uint32_t epoch_chunks(const struct epoch *e);
void epoch_change_free(struct epoch_change *change);
void epoch_free(struct epoch *e);

/* publish.c */
void publish(const struct srpol_plan *plan, void (*done)(int error));
void publish_stop(void);

/* plan.c */
void plan_soon(void);
bool plan_may_change(void);
void plan_takeover(void);
void plan_stop(void);

/* control.c */
int control_start(struct srpol_error *err);
void control_stop(void);
struct request_server *control_server(void);

/* report.c */
json_t *report_engine(void);
json_t *report_stats(void);
json_t *report_show(const json_t *request, struct srpol_error *err);
json_t *report_plan(const json_t *request, struct srpol_error *err);
json_t *report_diff(const json_t *request, struct srpol_error *err);
json_t *report_weights(const uint8_t *weights, uint32_t n);

void report_add_change(void *data, const struct srpol_plan_change *c);
const char *node_name(uint32_t node);

/* what_if.c */
json_t *what_if_request(const json_t *request, struct srpol_error *err);

/* plan.c: what the plan in force was made for */
const struct workload *plan_workload(void);

/* why.c */
json_t *why_request(const json_t *request, struct srpol_error *err);

#endif /* _SRPOL_FABRICD_H */
