/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srpold, the local SR engine: declarations that its files share.
 *	config.c	the operator's configuration
 *	engine.c	hosts, paths and policies that follow from the topology
 *	path_ids.c	are there enough ids for the paths?
 *	reconcile.c	makes the module agree with them, in one transaction
 *	watch.c		hears of changes in the module, and has them looked at
 *	endpoints.c	steering prefixes: which addresses belong to which peer
 *	uplink.c	devices: programs, sockets for probes
 *	blackhole.c	routes that keep probes from being forwarded
 *	nics.c		notices that the device of a NIC was created again
 *	prober.c	sends probes when due; gives up those that do not return
 *	probe_send.c	sends one probe, or several
 *	probe_back.c	finds the probes that returned, and keeps their results
 *	probe_packet.c	writes and reads the bytes of a probe
 *	probe_map.c	the data plane's map of probes
 *	probe_entry.c	an entry of that map
 *	reflect.c	probes that a peer reflects: sends and evaluates them
 *	reflect_keys.c	keys of the pairs of hosts that reflect probes
 *	reflect_map.c	the data plane's maps for reflected probes
 *	liveness.c	states of a path; pure
 *	mtu.c		path MTU; pure
 *	locate.c	locates the link that loses probes; pure
 *	verdict.c	tells the module which paths are down
 *	quality.c	how well a link works, from probes; pure
 *	marks.c		congestion marks of probes, notifications for flows
 *	glb.c		messages about links between hosts
 *	glb_message.c	bytes of these messages; pure
 *	glb_words.c	the links they name, and which host may report which
 *	linkstate.c	what links can carry, and how well they work; pure
 *	weights.c	weights of paths that follow from this; pure
 *	balance.c	checks the links periodically and updates weights
 *	link.c		a link's capacity or state, in JSON
 *	feed.c		a file with capacities of links
 *	speed.c		capacities as the NICs report them
 *	demand.c	what applications will send; pure
 *	demand_request.c	requests by which they announce it
 *	job.c		jobs, and the slices of the fabric they get
 *	backup.c	colors that carry what jobs have no path for
 *	job_via.c	paths of jobs that pass functions of switches
 *	job_rules.c	rules that match the traffic of jobs
 *	job_qps.c	QPs of jobs
 *	qp_ranges.c	QPs of a job as few ranges of numbers
 *	job_flows.c	what QPs of jobs send
 *	job_paths.c	paths that a QP may take
 *	job_place.c	places QPs of a job on paths, by what they send
 *	job_adopt.c	takes over QPs that an earlier srpold placed
 *	place.c		chooses the path of each QP; pure
 *	job_request.c	requests that add and delete jobs; jobs on disk
 *	rules.c		the engine's rules in the module
 *	privileges.c	capabilities that the process keeps
 *	latency.c	how soon the scheduler runs the process
 *	extra.c		what the engine can do without, which is tried again, see extra.h
 *	watchers.c	tells applications of their paths, see watchers.h
 *	topics.c	what they were told and what they are to be told; pure
 *	control.c	answers srpol engine
 *	report.c	what srpol engine shows
 *	why.c		why packets take the path they take
 *	suspects.c	cables that explain lost probes
 *	wiring.c	cables that explain wrong numbers of hops
 *	plan_follow.c	follows the global engine's plan
 *	plan_links.c	reports links to the global engine
 *	limits.c	rate limits of colors, from the plan
 *	load.c		reports traffic to the global engine
 *	forecast.c	reports demands to the global engine
 *
 * The engine keeps no state that must not be lost: after a restart everything
 * follows from the files, the module's objects and new probes.
 */
#ifndef _SRPOLD_H
#define _SRPOLD_H

#include <jansson.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "alg.h"
#include "config.h"
#include "demand.h"
#include "fabric.h"
#include "linkstate.h"
#include "locate.h"
#include "log.h"
#include "loop.h"
#include "mtu.h"
#include "notify.h"
#include "objects.h"
#include "weights.h"

#define NS_PER_MS	1000000ull
#define SEGMENTS_MAX	SRPOL_SIDS_MAX

/* engine.c */

/**
 * struct probe_stats - counters of a path's probes
 * @sent: probes sent
 * @received: probes that came back in time
 * @lost: probes that did not
 * @late: lost probes that came back after all
 */
struct probe_stats {
	uint64_t sent;
	uint64_t received;
	uint64_t lost;
	uint64_t late;
};

#define IN_FLIGHT	SRPOL_PROBE_SLOTS	/* probes of a path under way */

/**
 * struct engine_path - a path that the engine makes, and its probe
 * @id: id of the module's object, 0 until it has one
 * @name: may be empty
 * @nic: NIC of this host, as the fabric numbers it
 * @peer: node that it leads to
 * @top: switch at which it turns from going up to going down
 * @segs: its segment list
 * @loop: segment list of its probe
 * @far: segment list of the probe that the peer reflects; @far.n is 0: none
 * @reflected: number of that probe in reflect.c, from 1 on; 0: none is sent
 * @links: cables that the probe takes
 * @last: directed link to the peer, which the probe does not take
 * @load_bytes: bytes that the path had carried when load.c last read them
 * @load_id: @id at that time
 * @up: the module could send over it, apart from the engine's verdict
 * @installed: the module has it, with this list; others get no verdicts
 * @stopped: the module does not send over it, whoever's verdict that follows
 * @state: enum srpol_path_state, as the module said last
 * @reason: enum srpol_path_reason, likewise
 * @lladdr: Ethernet address of the next hop, if @up
 * @live: liveness, by its probes
 * @stats: counters of its probes
 * @window: results of its probes, for the quality of links
 * @closed_sent: @stats.sent when @window was last closed
 * @closed_lost: probes that never came back, at that time
 * @closed_received: answers that counted, when they were last read
 * @closed_ce: those with a congestion mark, likewise
 * @closed_packets: packets sent over the path, likewise
 * @closed_cnp: congestion notifications for these packets, likewise
 * @closed_path_ce: marked packets of the path that reached the peer, likewise
 * @closed_known: the counters other than @closed_path_ce were read before
 * @path_ce_known: @closed_path_ce was read before, in this epoch of reflect.c
 * @probe: SSID of its probe, if it is its own leader
 * @seq: sequence number of the next probe
 * @sent_ns: times at which the last IN_FLIGHT probes left; 0: came back
 * @given_up: bit set of those probes that count as lost
 * @full: bytes of the largest packet that the device takes
 * @has_srh: its packets have an SRH
 * @mtu: search for the path MTU
 * @long_ns: when the long probe of that search was sent
 * @long_seq: its sequence number
 * @oldest: sequence number below which nothing is in flight
 * @next_ns: when the next probe is due
 * @told_ns: when the module was last told that it is down; 0: it counts as up
 * @inherited: that was an earlier engine, or before probes began anew: it is not to
 *	be contradicted before a probe has come back
 * @heard: one has, if it is its own leader
 * @leader: index of the path whose probe takes the same links, and serves both
 */
struct engine_path {
	uint32_t id;
	char name[SRPOL_NAME_MAX + 1];
	uint32_t nic;
	uint32_t peer;
	uint32_t top;
	struct srpol_sid_list segs;
	struct srpol_sid_list loop;
	struct srpol_sid_list far;
	uint32_t reflected;
	struct locate_probe links;
	uint32_t last;
	uint64_t load_bytes;
	uint32_t load_id;
	bool up;
	bool installed;
	bool stopped;
	uint32_t state;
	uint32_t reason;
	uint8_t lladdr[6];
	struct liveness live;
	struct probe_stats stats;
	struct quality_window window;
	uint64_t closed_sent;
	uint64_t closed_lost;
	uint64_t closed_received;
	uint64_t closed_ce;
	uint64_t closed_packets;
	uint64_t closed_cnp;
	uint64_t closed_path_ce;
	bool closed_known;
	bool path_ce_known;
	uint32_t probe;
	uint32_t seq;
	uint64_t sent_ns[IN_FLIGHT];
	uint64_t given_up;
	uint32_t full;
	bool has_srh;
	struct mtu_search mtu;
	uint64_t long_ns;
	uint32_t long_seq;
	uint32_t oldest;
	uint64_t next_ns;
	uint64_t told_ns;
	bool inherited;
	bool heard;
	uint32_t leader;
};

/**
 * struct engine_policy - a policy that the engine makes
 * @endpoint: address of the peer
 * @name: name of the peer
 * @color: its color
 * @src: GPU of this host
 * @dst: GPU of the peer
 * @alg: algorithm that weighs its paths
 * @first: index of its first path in engine.paths
 * @n: number of its paths, which are consecutive
 * @slice: for each path, whether the policy may use it; NULL: all of them
 * @weight: weights of its paths
 * @planned: weights by the global engine's plan, NULL: the plan has none
 * @of_job: it is a job's
 * @backup: of a job's: color of its backup, 0: none
 * @is_foreign: the module's is somebody else's, which was told
 * @is_others: somebody else's policy or candidate path is used
 * @drops: packets are dropped if no path is usable
 * @has_backup: they take a policy of another color then
 */
struct engine_policy {
	struct in6_addr endpoint;
	char name[SRPOL_NAME_MAX + 1];
	uint32_t color;
	uint32_t src;
	uint32_t dst;
	const struct srpol_alg *alg;
	uint32_t first;
	uint32_t n;
	bool *slice;
	uint32_t *weight;
	uint32_t *planned;
	bool of_job;
	uint32_t backup;
	bool is_foreign;
	bool is_others;
	bool drops;
	bool has_backup;
};

/**
 * struct engine - the state of srpold
 * @config: the operator's configuration
 * @fabric: topology
 * @links: link-state DB of that topology
 * @paths: struct engine_path
 * @policies: struct engine_policy: those to all peers, then those of jobs
 * @n_own: number of policies to all peers
 * @n_own_paths: number of paths of the topology; those of jobs follow them
 * @rules: struct rule_info
 * @keys: struct host_key
 * @placed: what algorithms placed last, see weights_run()
 * @changes: grows when weights, paths or their states may have changed
 * @genl: connection to the module, for requests
 * @events: connection to the module, for events
 */
struct engine {
	struct config config;
	struct srpol_fabric *fabric;
	struct linkstate links;
	struct vec paths;
	struct vec policies;
	uint32_t n_own;
	uint32_t n_own_paths;
	struct vec rules;
	struct vec keys;
	struct weights_memory placed;
	uint64_t changes;
	struct srpol_genl genl;
	struct srpol_genl events;
};

int engine_build(struct engine *engine, const struct config *config,
		 struct srpol_error *err);
void engine_free(struct engine *engine);
bool engine_is_local(const struct engine *engine, uint32_t node);
struct in6_addr engine_sid(const struct engine *engine, uint32_t node,
			   const struct in6_addr *function);
json_t *engine_sids_json(const struct srpol_sid_list *list);
struct engine_path *engine_path(struct engine *engine, uint32_t index);

/* reconcile.c */
int reconcile(struct engine *engine, struct srpol_error *err);
bool reconcile_done(void);
void reconcile_undone(void);
int reconcile_states(struct engine *engine, struct srpol_error *err);

/* watch.c */
int watch_start(struct engine *engine, struct srpol_error *err);
bool watch_reconnect(void);
void watch_look(bool whole);
void watch_look_later(void);
void watch_hear(void);
void watch_try(void);

/* blackhole.c */
void blackhole_set(const struct in6_addr *sid, bool there);

/* uplink.c */

/**
 * struct uplink - a NIC of this host
 * @source: packet socket on which probes come back
 * @nic: its number in the fabric
 * @ifindex: index of its device
 * @mac: its Ethernet address
 * @engine: the engine that it belongs to
 * @is_new: it was no uplink before this engine
 * @bare: why its programs could not be attached, a negative errno; 0: they could
 */
struct uplink {
	struct source source;
	uint32_t nic;
	unsigned int ifindex;
	uint8_t mac[6];
	struct engine *engine;
	bool is_new;
	int bare;
};

int uplinks_check(const struct engine *engine, struct srpol_error *err);
int uplinks_open(struct engine *engine, bool back, struct srpol_error *err);
bool uplinks_changed(const struct engine *engine);
void uplinks_follow(void);
void uplinks_attach(void);
void uplinks_close(void);
void uplinks_renounce(void);
void uplinks_undo(struct engine *engine);
struct uplink *uplink_of(uint32_t nic);

/* nics.c */
int nics_watch(const struct engine *e, void (*changed)(void));

/* verdict.c */

#define VERDICT_OWNER	1	/* srpold */

void verdicts_tell(struct engine *engine);
void verdicts_refresh(struct engine *engine);
void verdicts_renew(struct engine *engine);
void verdicts_keep(struct engine *engine);

/* marks.c */
void marks_read(struct engine *engine);

/* balance.c */
struct weights_demands;
int balance_demands(const struct engine *engine, struct weights_demands *known);
int balance_weigh(struct engine *engine, bool *changed,
		  struct srpol_error *err);
int balance_start(struct engine *engine, struct srpol_error *err);
void balance_stop(void);
void balance_soon(void);
void balance_demanded(void);
void balance_apply(void);

/* link.c */

/**
 * struct link_word - a statement about the capacity of a cable
 * @cable: number of the cable
 * @capacity: bit/s, 0: down
 */
struct link_word {
	uint32_t cable;
	uint64_t capacity;
};

int link_read(const struct srpol_fabric *fabric, const json_t *o,
	      struct link_word *word, struct srpol_error *err);
void link_name(const struct srpol_fabric *fabric, uint32_t cable, char *buf,
	       size_t len);
json_t *link_request(struct engine *engine, const json_t *request,
		     struct srpol_error *err);

#define LINK_NAME_LEN	(2 * SRPOL_NAME_LEN + 2)

/* feed.c */
int feed_read(struct engine *engine, struct srpol_error *err);
void feed_start(struct engine *engine);
void feed_stop(void);

/* speed.c */
void speeds_start(struct engine *e);
void speeds_look(void);
void speeds_stop(void);

/* privileges.c */
int privileges_drop(struct srpol_error *err);

/* latency.c */
void latency_short(void);

/* control.c */
uint64_t control_dropped(void);
int control_start(struct engine *engine, struct srpol_error *err);
void control_stop(void);

/* report.c */
json_t *report_show(struct engine *engine, const json_t *request, struct srpol_error *err);
json_t *report_paths(struct engine *engine, const json_t *request, struct srpol_error *err);
json_t *report_topology(struct engine *engine, const json_t *request, struct srpol_error *err);

/* glb.c */
int glb_start(struct engine *engine, struct srpol_error *err);
void glb_stop(void);
void glb_look(void);
json_t *glb_report(void);

/* policies.c */
int policies_make(struct engine *engine, const struct vec *there,
		  struct srpol_batch *batch, unsigned int *made);
int policies_delete(struct engine *engine, const struct vec *there,
		    struct srpol_batch *batch, unsigned int *deleted);
bool policies_keep(const struct vec *there, uint32_t path);
const char *policies_by(const struct policy_info *have, uint32_t *preference);

/* endpoints.c */
int endpoints_make(struct engine *engine, const struct vec *there,
		   struct srpol_batch *batch, unsigned int *made,
		   unsigned int *deleted);

/* rules.c */
void rules_own(struct engine *engine);
int rules_make(struct engine *engine, const struct vec *there, uint32_t max,
	       struct srpol_batch *batch, unsigned int *made);
uint32_t rules_missing(const struct engine *engine, const struct vec *there, uint32_t color);
bool rules_are_left_out(void);
void rules_forget(void);
int rules_delete(struct engine *engine, const struct vec *there,
		 struct srpol_batch *batch, unsigned int *deleted);

/* job.c */

#define JOBS_MAX	64
#define JOB_RULES	64	/* rules of a job */
#define JOB_PLACED	48	/* the first of these, for placed QPs */

/**
 * struct job - traffic with paths of its own
 * @name: unique
 * @slot: unique, below JOBS_MAX; gives the priorities of its rules
 * @cgroup: control group, relative to the mount point, empty: none
 * @src: source prefix
 * @src_len: length of that prefix, 0: none
 * @qp: range of destination QPs, 0: none
 * @pid: process, 0: none
 * @comm: name of processes, empty: none
 * @color: color of its policies
 * @disjoint: it shares no top switch with other disjoint jobs
 * @n_tops: number of @tops, 0: all switches
 * @tops: names of the switches at which its paths may turn
 * @via: function of switches that its paths pass, empty: none
 * @backup: color that carries its packets while none of its paths is up, 0: none,
 *	or the plan's
 * @placed: each of its QPs gets one path, chosen by what it sends
 * @since_ns: when the job began, or srpold if it started later
 * @unruled: number of its QPs for which its rules had no room
 * @lacks_paths: the topology has no path of its own for one of its policies,
 *	which uses all paths
 */
struct job {
	char name[SRPOL_NAME_MAX + 1];
	uint32_t slot;
	char cgroup[256];
	struct in6_addr src;
	uint32_t src_len;
	uint32_t qp[2];
	uint32_t pid;
	char comm[16];
	uint32_t color;
	bool disjoint;
	uint32_t n_tops;
	char tops[16][SRPOL_NAME_LEN];
	char via[SRPOL_NAME_LEN];
	uint32_t backup;
	bool placed;
	uint64_t since_ns;
	uint32_t unruled;
	bool lacks_paths;
};

extern struct vec jobs;

int job_from_json(const struct engine *engine, const json_t *o,
		  const json_t *stored, struct job *job,
		  struct srpol_error *err);
json_t *job_to_json(const struct job *job);
int jobs_build(struct engine *engine, bool keep, struct srpol_error *err);
int jobs_leave_color(uint32_t color, struct srpol_error *err);

/* object_name.c */
void engine_name(char *name, const char *text);

/* job_via.c */
int job_via_policy(struct engine *engine, const struct job *job,
		   struct engine_policy *policy, struct srpol_error *err);
json_t *functions_request(struct engine *engine, const json_t *request,
			  struct srpol_error *err);

/* job_rules.c */
void job_rules(struct engine *engine);

/* job_qps.c */

#define CGROUP_ROOT	"/sys/fs/cgroup"

void job_qps_read(void);
bool job_has_qp(const struct job *job, uint32_t remote,
		const struct in6_addr *src, uint32_t *ifindex);
bool job_owns_qp(const struct srpol_rdma_qp *qp, const void *job);
bool job_is_by_process(const struct job *job);
const struct vec *job_qps(void);
const char *job_cgroup(const struct job *job);

/**
 * struct placed_qp - a QP of a job, as its flows show it
 * @dst: inner destination, v4-mapped for IPv4
 * @qp: destination QP number
 * @ifindex: network device, 0: not known
 * @endpoint: endpoint of its policy; unspecified address: not known
 * @takes: id of the path that one of its flows took
 * @more: bytes that its flows sent since the last look
 * @recent: recent average of that
 * @missed: looks in which other QPs had sent, and this one had no flow
 * @slot: its rule among those of the job, PLACE_NONE: none
 * @at: index in its policy of the path that it is to take, or PLACE_NONE
 * @path: id of that path, 0: the QP is not placed
 */
struct placed_qp {
	struct in6_addr dst;
	uint32_t qp;
	uint32_t ifindex;
	struct in6_addr endpoint;
	uint32_t takes;
	uint64_t more;
	double recent;
	uint32_t missed;
	uint32_t slot;
	uint32_t at;
	uint32_t path;
};

/**
 * struct job_flow - a flow of a QP in a job's color
 * @slot: of the job
 * @dst: inner destination
 * @qp: destination QP number
 * @src: inner source
 * @endpoint: endpoint of its policy
 * @takes: id of the path that it last took
 * @more: bytes that it sent since the last look
 */
struct job_flow {
	uint32_t slot;
	struct in6_addr dst;
	uint32_t qp;
	struct in6_addr src;
	struct in6_addr endpoint;
	uint32_t takes;
	uint64_t more;
};

/* job_flows.c */
bool job_flows(struct engine *engine, struct vec *all);

/* job_place.c */
void job_place_look(struct engine *engine);
const struct vec *job_place_qps(const struct job *job);
void job_place_forget(const struct job *job);
bool job_place_keep(const struct job *job, const struct placed_qp *qp);

/* job_paths.c */
void job_policies(struct engine *engine, const struct job *job,
		  struct vec *own);
const struct engine_policy *job_policy(struct engine *engine,
				       const struct vec *own,
				       const struct placed_qp *qp);
uint32_t job_path_at(struct engine *engine, const struct engine_policy *policy,
		     const struct placed_qp *qp);
void job_paths_add(struct engine *engine, const struct engine_policy *policy,
		   struct vec *paths, struct vec *policies);

/* backup.c */
bool backup_changes(const struct srpol_index *now,
		    const struct srpol_index *next);
int backup_apply(const struct engine *engine, const struct job *job,
		 struct engine_policy *policy);

/* job_adopt.c */
void job_adopt(struct engine *engine);

/* qp_ranges.c */

/**
 * struct qp_range - QPs of a job on one device
 * @ifindex: network device, 0 none
 * @lo: first destination QP number
 * @hi: last destination QP number
 * @qps: number of the job's QPs in the range
 * @gap: numbers between this range and the one before on the device; 0 if one
 *	of them is another owner's QP, or if this is the first range
 */
struct qp_range {
	uint32_t ifindex;
	uint32_t lo;
	uint32_t hi;
	uint32_t qps;
	uint32_t gap;
};

void qp_ranges(const struct vec *qps,
	       bool (*own)(const struct srpol_rdma_qp *qp, const void *data),
	       const void *data, uint32_t max, struct vec *ranges);

/* job_request.c */
void jobs_load(struct engine *engine);
json_t *job_add_request(struct engine *engine, const json_t *request, struct srpol_error *err);
json_t *job_del_request(struct engine *engine, const json_t *request, struct srpol_error *err);
json_t *job_show_request(struct engine *engine, const json_t *request, struct srpol_error *err);

/* demand_request.c */
extern struct demands demands;
json_t *demand_request(struct engine *engine, uint32_t uid, const json_t *request,
		       struct srpol_error *err);
json_t *demand_operator_request(struct engine *engine, uint32_t uid, const json_t *request,
				struct srpol_error *err);
json_t *demand_show_request(struct engine *engine, const json_t *request, struct srpol_error *err);

/* why.c */
json_t *why_request(struct engine *engine, const json_t *request, struct srpol_error *err);

/* suspects.c */
size_t suspects_by(struct engine *engine,
		   int (*judge)(const struct engine_path *path),
		   struct locate_suspect *suspects, size_t max);
size_t suspects_find(struct engine *engine, struct locate_suspect *suspects,
		     size_t max);
#define SUSPECTS_TOLD	16
size_t suspects_told(struct engine *engine, struct follow_suspicion *told);

/* wiring.c */
bool wiring_is_wrong(const struct engine_path *path);
size_t wiring_find(struct engine *engine, struct locate_suspect *suspects,
		   size_t max);
void wiring_look(struct engine *engine);
void wiring_forget(void);

/* plan_follow.c */
int plan_check(const struct config *c, struct srpol_error *err);
int plan_start(struct engine *engine, struct srpol_error *err);
void plan_started(void);
void plan_stop(void);
void plan_retry(void);
bool plan_weigh(void);
bool plan_tell(const struct follow_known *known);
bool plan_is_followed(void);
const struct srpol_backup *plan_backup(const struct engine_policy *policy);
uint32_t plan_host(uint32_t number);
const struct follow *plan_following(uint32_t number);
void plan_measured(uint32_t number, const struct follow_load *loads,
		   size_t n);
void plan_demands(uint32_t number, const struct srpol_forecasts *sum,
		  uint64_t now_ms);
json_t *plan_report(void);

/* plan_links.c */
void plan_links_start(struct engine *engine);
void plan_links_stop(void);

/* limits.c */
void limits_start(struct engine *engine);
void limits_stop(void);
void limits_soon(void);
json_t *limits_report(void);

/* load.c */
void load_start(struct engine *engine);
void load_stop(void);
bool load_is_measured(void);
uint64_t load_of(uint32_t link);

/* forecast.c */
void forecast_start(struct engine *engine);
void forecast_stop(void);

#endif /* _SRPOLD_H */
