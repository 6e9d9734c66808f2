/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srpol-fabricd, the global engine: declarations that its files share. The
 * design is described in Documentation/fabric-engine.rst.
 *
 *	config.c	the operator's configuration
 *	leader.c	leader election: a lease, and the leader's key
 *	inputs.c	current jobs and reports
 *	report_read.c	reads a report
 *	suspects.c	which suspected links the plan does without, see judge.h
 *	sweep.c		removes list elements that are no longer in the store
 *	key.c		names of keys
 *	acks.c		epochs that hosts have applied
 *	measured.c	loads that hosts measured, by link
 *	takeover.c	what a new leader finds in the store
 *	epoch.c		differences between an epoch and the next
 *	publish.c	writes chunks, pages, index and head
 *	plan.c		when to plan, and what to do with the plan
 *	control.c	answers srpol fabric
 *	report.c	what srpol fabric shows
 *	why.c		why hosts have the weights that they have
 *	hear.c		receives messages of hosts that may be lost
 *	web.c		the page, see web.h
 *
 * Files for tenants and reservations are listed in tenants.h, those for
 * forecasts of hosts in forecasts.h.
 */
#ifndef _SRPOL_FABRICD_H
#define _SRPOL_FABRICD_H

#include <jansson.h>
#include <time.h>

#include "bus.h"
#include "judge.h"
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
 * struct fabricd_config - the operator's configuration
 * @name: name of this engine
 * @shard: part of the fabric that this engine plans for
 * @topology: name of the topology file
 * @alg: planning algorithm
 * @settle_ns: events within this time of the first are handled by one plan
 * @lease_s: how long a leader stays leader without renewing its lease
 * @store: where the store is
 * @file: file of an embedded store, which this engine serves
 * @socket: UNIX socket of srpol fabric
 * @reservable: percentage of a link that may be reserved
 * @n_users: number of @users
 * @users: users and their tenants
 * @page: address and port of the page, empty: none
 * @forecasts: largest number of forecast demands kept, 0: forecasts are off
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

bool config_serves_store(void);
int config_read(const char *file, struct fabricd_config *config,
		struct srpol_error *err);

/**
 * struct input - a job or a report, as in the store
 * @key: its key
 * @text: its last valid value
 * @len: length of its text in bytes
 * @host: node of a report's host
 * @number: number of a report
 * @links: links of a report: struct input_link
 * @suspicions: suspicions of a report: struct input_suspicion
 * @passes: of a report: nodes (uint32_t, sorted); the host's probes pass all
 *	links up from them, but for those in @but
 * @but: cables (uint32_t, sorted)
 * @via: function that a job's demands ask for, see struct srpol_demand
 * @flows: number of flows of each of a job's demands
 * @sends: the job has demands
 * @wrong: the job's value cannot be read; it is known only to be shown and deleted
 * @spoiled: a value that cannot be read has replaced that of the job since
 * @left_out: the job is not planned for, as the log says
 * @mod: revision of a job's key
 * @planned: @mod of a job when the last published plan was made
 * @epoch: first epoch that a job was planned for, 0: none yet
 * @outdated: the newest report was invalid, this is an earlier one
 * @heard: when it was received
 * @stale: not yet seen in the read that is under way
 */
struct input {
	char *key;
	char *text;
	size_t len;
	uint32_t host;
	uint64_t number;
	struct vec links;
	struct vec suspicions;
	struct vec passes;
	struct vec but;
	uint32_t via;
	uint32_t flows;
	bool sends;
	bool wrong;
	bool spoiled;
	bool left_out;
	uint64_t mod;
	uint64_t planned;
	uint64_t epoch;
	bool outdated;
	time_t heard;
	bool stale;
};

/**
 * struct input_link - capacity of a cable as reported by a host
 * @cable: number of the cable
 * @capacity: bit/s, 0: down
 */
struct input_link {
	uint32_t cable;
	uint64_t capacity;
};

/**
 * struct input_suspicion - cables of which one explains what a host lost
 * @confidence: percent for the first of them
 * @n: number of entries of @cable
 * @cable: the cables
 * @since_ns: when it was first heard of, 0: by an earlier leader
 */
struct input_suspicion {
	uint32_t confidence;
	uint32_t n;
	uint32_t cable[JUDGE_CABLES];
	uint64_t since_ns;
};

/**
 * struct ack - epoch that a host has applied
 * @host: name of the host
 * @epoch: the epoch, 0: the host is gone
 */
struct ack {
	char host[SRPOL_NAME_LEN];
	uint64_t epoch;
};

/**
 * struct fabricd_stats - counters
 * @events: changes of jobs and reports
 * @refused: those changes that were invalid
 * @plans: plans that were made
 * @published: epochs that were written
 * @fenced: transactions refused because another engine leads
 * @unsure: transactions with unknown result
 * @elected: times that this engine became leader
 * @accepted: jobs accepted as requested
 * @deferred: jobs deferred to a later time
 * @lowered: jobs offered less bandwidth, or none that is guaranteed
 * @rejected: jobs rejected
 * @moved: reservations moved to other paths
 * @lost: reservations that could not be kept
 * @plan_ns: time that the last plan took
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
 * struct epoch_text - a key to be written, or to be deleted if @value is NULL
 * @key: key
 * @value: its value
 * @len: length of @value in bytes
 */
struct epoch_text {
	char key[STORE_KEY_LEN];
	char *value;
	size_t len;
};

/**
 * struct epoch - contents of an epoch
 * @index: its index
 * @pages: pages of the index, in the order of its entries
 */
struct epoch {
	struct srpol_index index;
	struct srpol_page *pages;
};

/**
 * struct epoch_change - writes that put an epoch in force
 * @texts: struct epoch_text: chunks and pages that changed
 * @old: struct epoch_text: keys that nothing will refer to
 * @index_text: text of the index
 */
struct epoch_change {
	struct vec texts;
	struct vec old;
	char *index_text;
};

/**
 * struct fabricd - the state of srpol-fabricd
 * @config: the operator's configuration
 * @fabric: topology
 * @topology: digest of the topology
 * @topo_rev: revision of the topology's key
 * @store: the store
 * @term: create revision of the leader's key, 0: this engine does not lead
 * @leader: name of the leader, as far as known
 * @jobs: struct input, sorted by key
 * @foreign: struct input, sorted by key: jobs of other shards, of which there are the key
 *	and the length of the text only
 * @reports: struct input, sorted by key
 * @acks: struct ack, sorted by host
 * @planner: plan for traffic without a reservation
 * @links: state of the links when the last plan was made
 * @plan: last plan made: that of @planner and reservations; NULL: none; see
 *	plan_in_force()
 * @before: the previous plan, NULL: none
 * @epoch: epoch in force, as of the last term in which this engine led
 * @head_rev: revision of the head that was last read or written
 * @published_ns: when this engine wrote it, 0: another engine did
 * @next_epoch: number of the next epoch
 * @stats: counters
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
	struct vec foreign;
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

/* Names of keys; @buf has room for STORE_KEY_LEN bytes. */
const char *key_leader(char *buf);
const char *key_topology(char *buf);
const char *key_head(char *buf);
const char *key_index(char *buf, uint64_t epoch);
const char *key_page(char *buf, uint64_t epoch, uint32_t page);
const char *key_chunk(char *buf, uint64_t epoch, const char *leaf);

/* sweep.c */

/**
 * struct sweep - state of a list that mirrors keys with a prefix, for struct
 * mirror
 * @list: elements, each with a bool "not seen in this read"
 * @stale: offset of that bool
 * @free: frees the contents of an element
 * @is_read: the whole prefix was read at least once
 * @heard: sweep_end() was called before
 * @events: fabricd.stats.events at that time
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
bool inputs_jobs_are_read(void);
bool inputs_jobs_changed(void);
struct srpol_links *inputs_links(void);
const struct input_link *inputs_said(const struct input *report,
				     uint32_t cable);
void inputs_changed(void);
uint64_t inputs_jobs_revision(void);
bool inputs_jobs_heard(uint64_t cluster, uint64_t revision);
struct input *inputs_job(const char *key);
const struct input *inputs_with_prefix(const struct vec *list, const char *prefix,
				       size_t *n);
const char *inputs_foreign_job(const char *tenant);

/* report_read.c */
int report_read(const struct store_kv *kv, struct input *report,
		struct srpol_error *err);
void report_clear(struct input *report);

/* suspects.c */
void suspects_stop(void);
void suspects_get(struct vec *links);
void suspects_apply(struct srpol_links *links);
void suspects_log(void);
bool suspects_by(const struct input *report, uint32_t cable);
json_t *suspects_json(void);

/* acks.c */
void acks_start(void);
void acks_stop(void);
bool acks_ready(void);
struct ack *acks_find(const char *host);
bool ack_is_of_host(const struct ack *ack);

/* other_topology.c */
void other_topology_start(void);
void other_topology_stop(void);
void other_topology_look(void);
const char *other_topology(void);

/* measured.c */

/**
 * struct measured_shares - planned and measured traffic on links between
 * switches
 * @planned: bytes, sum over these links
 * @measured: bit/s, sum over these links
 * @comparable: neither sum is 0
 * @off_plan: fraction of the measured traffic that would have to move to other
 *	links for each link to have its planned share
 */
struct measured_shares {
	double planned;
	double measured;
	bool comparable;
	double off_plan;
};

int measured_start(struct srpol_error *err);
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
void plan_resume(void);
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

/* plan.c: demands that the plan in force was made for */
const struct workload *plan_workload(void);
const struct srpol_plan *plan_in_force(struct srpol_error *err);
uint64_t plan_epoch(void);

/* why.c */
json_t *why_request(const json_t *request, struct srpol_error *err);

#endif /* _SRPOL_FABRICD_H */
