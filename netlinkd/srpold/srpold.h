/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srpold, the local SR engine: what its parts share.
 *
 *	config.c	what the operator wrote
 *	engine.c	hosts, paths and policies that follow from the topology
 *	reconcile.c	has the module agree with that, in one transaction
 *	uplink.c	devices: programs, sockets for probes
 *	prober.c	when probes are sent; gives up those that do not come back
 *	probe_send.c	sends one, or several
 *	probe_back.c	finds those that do, and keeps what they say
 *	probe_packet.c	bytes of a probe
 *	probe_map.c	what the data plane knows of probes
 *	probe_entry.c	an entry of that
 *	reflect.c	probes that a peer turns round: sends them, reads what they say
 *	reflect_keys.c	who may turn round whose
 *	reflect_map.c	what the data plane knows of that
 *	liveness.c	states of a path; pure
 *	mtu.c		how large packets may be; pure
 *	locate.c	which link it is; pure
 *	verdict.c	tells the module which paths are down
 *	quality.c	what probes say of a link that works badly; pure
 *	marks.c		congestion marks of probes, notifications for flows
 *	glb.c		what hosts tell each other of links
 *	glb_message.c	bytes of that; pure
 *	glb_words.c	which links, and who may speak of them
 *	linkstate.c	what links can carry, and how well; pure
 *	weights.c	from that to weights of paths; pure
 *	balance.c	looks at the links now and then, has weights follow
 *	link.c		what somebody says of a link, in JSON
 *	feed.c		a file that says so
 *	speed.c		the NICs themselves
 *	demand.c	what applications will send; pure
 *	demand_request.c they say so by a socket
 *	job.c		jobs, and the slices of the fabric they get
 *	job_via.c	paths of those that go through functions of switches
 *	job_rules.c	whose traffic is which job's
 *	job_qps.c	whose QPs are which job's
 *	qp_ranges.c	QPs of a job as few ranges of numbers
 *	job_flows.c	what QPs of jobs send
 *	job_paths.c	which paths a QP may take
 *	job_place.c	QPs of a job on paths, by that
 *	job_adopt.c	those that the srpold before this one had placed
 *	place.c		on which; pure
 *	job_request.c	jobs come and go, and outlive the engine
 *	rules.c		the engine's rules in the module
 *	privileges.c	what it may do
 *	latency.c	how soon it has its turn
 *	control.c	answers srpol engine
 *	report.c	what it shows
 *	why.c		why packets take the path they take
 *	suspects.c	cables that explain lost probes
 *	wiring.c	cables that explain wrong numbers of hops
 *	plan_follow.c	the global engine's plan
 *	plan_links.c	what the global engine is told of links
 *	limits.c	what may be sent in a color, by the plan
 *	load.c		what it is told of traffic
 *	forecast.c	and of demands
 *
 * The engine keeps nothing that must not be lost: after a restart everything
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
#include "demand.h"
#include "fabric.h"
#include "follow.h"
#include "linkstate.h"
#include "liveness.h"
#include "locate.h"
#include "log.h"
#include "loop.h"
#include "mtu.h"
#include "notify.h"
#include "objects.h"

#define NS_PER_MS	1000000ull
#define SEGMENTS_MAX	SRPOL_SIDS_MAX

/* config.c */

#define HOSTS_MAX	8
#define PEERS_MAX	64

/**
 * struct weights_config - how traffic is weighed
 * @alg: algorithm of lib/alg
 * @interval_ns: weights change once in this time at most
 * @feed: file that says what links can carry, empty: none
 * @quality: what counts as a link that works badly
 * @n_peers: hosts with an algorithm of their own
 * @peers: these
 */
struct weights_config {
	const struct srpol_alg *alg;
	uint64_t interval_ns;
	char feed[256];
	struct quality_config quality;
	uint32_t n_peers;
	struct {
		char name[SRPOL_NAME_LEN];
		const struct srpol_alg *alg;
	} peers[PEERS_MAX];
};

/**
 * struct fabric_config - following the global engine
 * @is_set: it is followed
 * @follow: what it takes, but for the file
 * @load_ns: between two looks at what is sent, 0: nobody looks
 * @demand_ns: between two looks at demands, for forecasts, 0: nobody looks
 * @folder: where the last plans are
 */
struct fabric_config {
	bool is_set;
	uint64_t load_ns;
	uint64_t demand_ns;
	struct follow_config follow;
	char folder[128];
};

/**
 * struct reflect_config - probes that peers turn round
 * @keys: file with the keys of pairs of hosts, empty: none
 * @interval_ns: between two such probes of a path
 * @rate: of a peer's that this host turns round in a second
 */
struct reflect_config {
	char keys[256];
	uint64_t interval_ns;
	uint32_t rate;
};

/**
 * struct config - what the operator wrote
 * @topology: file
 * @hosts: nodes of the topology whose NICs are in this namespace
 * @n_hosts: number of them
 * @color: of the policies the engine makes
 * @first_path: least id of a path the engine makes
 * @job_prio: least priority of rules for jobs
 * @job_color: least color of a job that is given none
 * @rule_prio: of the rule for RoCEv2, 0: none is made
 * @interval_ns: between two probes of a path
 * @timeout_ns: after which a probe is lost
 * @budget: probes per second of the host, 0: as many as it takes
 * @live: how patient to be with paths
 * @weights: how traffic is weighed
 * @fabric: following the global engine
 * @reflect: probes that peers turn round
 * @glb_port: UDP port by which hosts tell each other of links, 0: they do not
 * @socket: of srpol engine
 * @demands: socket by which everybody may say what he will send, empty: none
 */
struct config {
	char topology[256];
	char hosts[HOSTS_MAX][SRPOL_NAME_LEN];
	uint32_t n_hosts;
	uint32_t color;
	uint32_t first_path;
	uint32_t job_prio;
	uint32_t job_color;
	uint32_t rule_prio;
	uint64_t interval_ns;
	uint64_t timeout_ns;
	uint32_t budget;
	struct liveness_config live;
	struct weights_config weights;
	struct fabric_config fabric;
	struct reflect_config reflect;
	uint16_t glb_port;
	char socket[108];
	char demands[108];
};

int config_read(const char *file, struct config *config,
		struct srpol_error *err);

/* engine.c */

/**
 * struct probe_stats - what the probes of a path say
 * @sent: probes sent
 * @received: of these came back in time
 * @lost: did not
 * @late: of the lost ones, these came back after all
 */
struct probe_stats {
	uint64_t sent;
	uint64_t received;
	uint64_t lost;
	uint64_t late;
};

#define IN_FLIGHT	SRPOL_PROBE_SLOTS	/* probes of a path */

/**
 * struct engine_path - a path the engine makes, and its probe
 * @id: of the module's object, 0 until it has one
 * @name: may be empty
 * @nic: NIC of this host, a number of the fabric
 * @peer: node it leads to
 * @top: switch at which it turns down
 * @segs: its segment list
 * @loop: segment list of its probe
 * @far: likewise of the probe that the peer turns round, none if @far.n is 0
 * @reflected: number of that one in reflect.c, from 1 on; 0: none is sent
 * @links: cables the probe takes
 * @last: directed link to the peer, which it does not take
 * @load_bytes: bytes that the path had carried when load.c looked
 * @load_id: @id as of then
 * @up: what the module says of it, beside the engine's own verdict
 * @stopped: the module sends nothing over it, by whose verdict ever
 * @lladdr: Ethernet address of the next hop, if @up
 * @live: what probes say
 * @stats: likewise
 * @window: likewise, for the quality of links
 * @closed_sent: @stats.sent when @window was closed last
 * @closed_lost: those that never came back, likewise
 * @closed_received: answers that count, likewise
 * @closed_ce: of these, with a congestion mark
 * @closed_packets: packets sent over the path, likewise
 * @closed_cnp: notifications for them
 * @closed_path_ce: marked packets of it that reached the peer, likewise
 * @closed_known: all but @closed_path_ce were read before
 * @path_ce_known: that was, since the peer was asked anew
 * @probe: SSID of its probe, of the leader only
 * @seq: of the next probe
 * @sent_ns: when the last IN_FLIGHT probes were sent, by sequence number; 0:
 *	came back
 * @given_up: bit set of these that count as lost
 * @full: bytes of the largest packet that the device takes
 * @mtu: what the path takes
 * @long_ns: when the probe that is to find that out was sent
 * @long_seq: its sequence number
 * @oldest: sequence number below which nothing is in flight
 * @next_ns: when the next probe is due
 * @told_ns: when the module was told last that it is down, 0: it is not
 * @leader: index of the path whose probe takes the same way, and says of both
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
	bool stopped;
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
	struct mtu_search mtu;
	uint64_t long_ns;
	uint32_t long_seq;
	uint32_t oldest;
	uint64_t next_ns;
	uint64_t told_ns;
	uint32_t leader;
};

/**
 * struct engine_policy - a policy the engine makes
 * @endpoint: address of the peer
 * @name: of the peer
 * @color: of the policy
 * @src: GPU of this host
 * @dst: GPU of the peer
 * @alg: what weighs its paths
 * @first: its first path in engine.paths
 * @n: number of paths, in a row
 * @slice: which of them it may use, NULL: all
 * @weight: of each
 * @planned: likewise by the global engine's plan, NULL: it says nothing
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
};

/**
 * struct engine - everything
 * @config: what the operator wrote
 * @fabric: topology
 * @links: what is known of its links
 * @paths: struct engine_path
 * @policies: struct engine_policy: first those to all peers, then those of jobs
 * @n_own: number of the former
 * @n_own_paths: number of paths of the topology; those of jobs come behind them
 * @rules: struct rule_info
 * @keys: struct host_key
 * @genl: the module, for requests
 * @events: the module, for events
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
	struct srpol_genl genl;
	struct srpol_genl events;
};

int engine_build(struct engine *engine, const struct config *config,
		 struct srpol_error *err);
void engine_free(struct engine *engine);
bool engine_is_local(const struct engine *engine, uint32_t node);
struct in6_addr engine_sid(const struct engine *engine, uint32_t node,
			   const struct in6_addr *function);
struct engine_path *engine_path(struct engine *engine, uint32_t index);

/* reconcile.c */
int reconcile(struct engine *engine, struct srpol_error *err);
int reconcile_states(struct engine *engine, struct srpol_error *err);

/* uplink.c */

/**
 * struct uplink - a NIC of this host
 * @source: packet socket that probes come back by
 * @nic: number in the fabric
 * @ifindex: its device
 * @mac: its address
 * @engine: whose it is
 */
struct uplink {
	struct source source;
	uint32_t nic;
	unsigned int ifindex;
	uint8_t mac[6];
	struct engine *engine;
};

int uplinks_open(struct engine *engine, struct srpol_error *err);
void uplinks_close(void);
struct uplink *uplink_of(uint32_t nic);

/* verdict.c */
void verdicts_tell(struct engine *engine);
void verdicts_refresh(struct engine *engine);

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
 * struct link_word - what somebody says of a cable
 * @cable: its number
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
void speeds_read(struct engine *engine);

/* privileges.c */
int privileges_drop(struct srpol_error *err);

/* latency.c */
void latency_short(void);

/* control.c */
uint64_t control_dropped(void);
int control_start(struct engine *engine, struct srpol_error *err);
void control_stop(void);

/* report.c */
json_t *report_show(struct engine *engine, const json_t *request,
		    struct srpol_error *err);
json_t *report_paths(struct engine *engine, const json_t *request,
		     struct srpol_error *err);
json_t *report_topology(struct engine *engine, const json_t *request,
			struct srpol_error *err);

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

/* rules.c */
void rules_own(struct engine *engine);
int rules_make(struct engine *engine, const struct vec *there, uint32_t max,
	       struct srpol_batch *batch, unsigned int *made);
bool rules_are_left_out(void);
int rules_delete(struct engine *engine, const struct vec *there,
		 struct srpol_batch *batch, unsigned int *deleted);

/* job.c */

#define JOBS_MAX	64
#define JOB_RULES	64	/* of a job */
#define JOB_PLACED	48	/* of these, first, for QPs that are placed */

/**
 * struct job - traffic with paths of its own
 * @name: unique
 * @slot: below JOBS_MAX, unique: its rules' priorities
 * @cgroup: control group below the mount, empty: none
 * @src: source prefix
 * @src_len: its length, 0: none
 * @qp: range of destination QPs, 0: none
 * @pid: process, 0: none
 * @comm: name of processes, empty: none
 * @color: of its policies
 * @disjoint: shares no switch at the top with other such jobs
 * @n_tops: number of @tops, 0: all
 * @tops: names of switches that its paths may turn at
 * @via: function of switches that its paths pass, empty: none
 * @placed: each of its QPs has a path, by what it sends
 * @since_ns: when it began, or the engine did
 * @unruled: number of its QPs for which there was no room in its rules
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
	bool placed;
	uint64_t since_ns;
	uint32_t unruled;
};

extern struct vec jobs;

int job_from_json(const struct engine *engine, const json_t *o,
		  struct job *job, struct srpol_error *err);
json_t *job_to_json(const struct job *job);
int jobs_build(struct engine *engine, struct srpol_error *err);

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
 * struct placed_qp - a QP of a job, by its flows
 * @dst: inner destination, v4-mapped for IPv4
 * @qp: number there
 * @ifindex: network device, 0: not known
 * @endpoint: of its policy, :: not known
 * @takes: path that one of its flows took
 * @more: its flows sent since the last look
 * @recent: lately
 * @missed: looks at which the others had sent, and it had no flow
 * @slot: its rule among those of the job, PLACE_NONE: none
 * @at: path that it is to take, of its policy, or PLACE_NONE
 * @path: id of that, 0: it is not placed
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
 * @qp: number there
 * @src: inner source
 * @endpoint: of its policy
 * @takes: path that it took last
 * @more: it sent since the last look
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

/* job_adopt.c */
void job_adopt(struct engine *engine);

/* qp_ranges.c */

/**
 * struct qp_range - QPs of a job on one device
 * @ifindex: network device, 0 none
 * @lo: first number that they send to
 * @hi: last one
 * @qps: how many of the job's are in it
 * @gap: numbers between it and the range before on that device, none of which is
 *	somebody else's; 0 if one is, or if it is the first
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
json_t *job_add_request(struct engine *engine, const json_t *request,
			struct srpol_error *err);
json_t *job_del_request(struct engine *engine, const json_t *request,
			struct srpol_error *err);
json_t *job_show_request(struct engine *engine, const json_t *request,
			 struct srpol_error *err);

/* demand_request.c */
extern struct demands demands;
json_t *demand_request(struct engine *engine, uint32_t uid,
		       const json_t *request, struct srpol_error *err);
json_t *demand_show_request(struct engine *engine, const json_t *request,
			    struct srpol_error *err);

/* why.c */
json_t *why_request(struct engine *engine, const json_t *request,
		    struct srpol_error *err);

/* suspects.c */
size_t suspects_by(struct engine *engine,
		   int (*judge)(const struct engine_path *path),
		   struct locate_suspect *suspects, size_t max);
size_t suspects_find(struct engine *engine, struct locate_suspect *suspects,
		     size_t max);

/* wiring.c */
bool wiring_is_wrong(const struct engine_path *path);
size_t wiring_find(struct engine *engine, struct locate_suspect *suspects,
		   size_t max);
void wiring_look(struct engine *engine);

/* plan_follow.c */
int plan_start(struct engine *engine, struct srpol_error *err);
void plan_started(void);
void plan_stop(void);
bool plan_weigh(void);
bool plan_tell(const struct follow_link *links, size_t n);
bool plan_is_followed(void);
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

/* forecast.c */
void forecast_start(struct engine *engine);
void forecast_stop(void);

#endif /* _SRPOLD_H */
