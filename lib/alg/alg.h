/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Path algorithms: from a fabric, what is known of its links, and demands, to
 * paths and weights per demand, and to what that will do to the links.
 *
 * All are pure: no I/O, no clocks, no randomness but from a seed that is
 * given. The same input gives the same output on every machine.
 *
 * Bytes are bytes, capacities bit/s, times seconds. A path is a number of
 * srpol_path_set_init()'s set between the demand's GPUs.
 */
#ifndef _SRPOL_ALG_H
#define _SRPOL_ALG_H

#include "fabric.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct srpol_demand - bytes from one GPU to another
 * @src: GPU
 * @dst: GPU
 * @bytes: to be sent; below 2^53
 * @key: what tells flows of a pair apart: a queue pair, an address' key
 * @color: see "pinned"
 * @via: function that its paths have to pass, as srpol_fabric_via() has it; 0: none
 * @flows: how many flows of equal size it is, each of which is to have one path
 *	(lib/plan's flows.c); 0: it may be split at will
 */
struct srpol_demand {
	uint32_t src;
	uint32_t dst;
	uint64_t bytes;
	uint64_t key;
	uint32_t color;
	uint32_t via;
	uint32_t flows;
};

/**
 * struct srpol_share - part of a demand that takes a path
 * @path: number in the demand's path set
 * @weight: in proportion to the sum of the demand's weights; not 0
 */
struct srpol_share {
	uint32_t path;
	uint32_t weight;
};

/**
 * struct srpol_prediction - what a placement does
 * @seconds: the hottest link needs to send what is placed on it: no schedule
 *	of these shares ends sooner. srpol_predict() tells when it does end.
 * @link: that link, SRPOL_NONE if nothing was placed
 * @split: demands with more than one path
 * @moved: demands with other paths than in the previous placement
 * @unplaced: demands for which there was no usable path
 */
struct srpol_prediction {
	double seconds;
	uint32_t link;
	uint32_t split;
	uint32_t moved;
	uint32_t unplaced;
};

/**
 * struct srpol_placement - paths of all demands
 * @n: demands
 * @first: @n + 1: demand i has @shares[@first[i]] up to @first[i + 1]; none if
 *	its GPUs are in one host, or it could not be placed
 * @shares: paths with weights
 * @room: of @shares
 * @prediction: what it does
 */
struct srpol_placement {
	uint32_t n;
	uint32_t *first;
	struct srpol_share *shares;
	uint32_t room;
	struct srpol_prediction prediction;
};

/**
 * enum srpol_profile - quality of a path, from those of its links
 * @SRPOL_PROFILE_SIMPLE: the link from the first leaf upwards alone
 * @SRPOL_PROFILE_MIN: the least
 * @SRPOL_PROFILE_SUM: what links lack of the best quality adds up
 * @SRPOL_PROFILE_WORST: the least of all paths that start with the same next
 *	hop, for switches that choose the rest themselves
 */
enum srpol_profile {
	SRPOL_PROFILE_SIMPLE,
	SRPOL_PROFILE_MIN,
	SRPOL_PROFILE_SUM,
	SRPOL_PROFILE_WORST,
};

/**
 * struct srpol_alg_options - what can be set; all 0 is a good default
 * @seed: of what is random
 * @qps: "ecmp": queue pairs per demand, 0: 1
 * @parts: most paths per demand, 0: no limit
 * @profile: "glb": how qualities are combined
 * @nnhn: "glb": what next hops announced, NULL: all they have
 * @hysteresis: a placement that exists is kept unless another one is better by
 *	this share (0.05: 5 %); a path that is down is left in any case
 * @moves: most demands to be moved for balance, 0: no limit; those whose path
 *	is down are moved in any case
 */
struct srpol_alg_options {
	uint64_t seed;
	uint32_t qps;
	uint32_t parts;
	enum srpol_profile profile;
	const struct srpol_nnhn *nnhn;
	double hysteresis;
	uint32_t moves;
};

/**
 * struct srpol_alg_input - what an algorithm is given
 * @fabric: finished fabric
 * @links: what is known of its links
 * @demands: what is to be placed
 * @n: number of them
 * @previous: a placement of the same demands that is in force, or NULL
 * @options: options
 */
struct srpol_alg_input {
	const struct srpol_fabric *fabric;
	const struct srpol_links *links;
	const struct srpol_demand *demands;
	uint32_t n;
	const struct srpol_placement *previous;
	struct srpol_alg_options options;
};

/**
 * struct srpol_alg - an algorithm
 * @name: in lower case
 * @source: where it is from
 * @complexity: time; n demands, p paths per demand, L links
 * @coupled: shares are meant for packets of one flow (weighted spraying), not
 *	for flows of their own
 * @place: adds the shares of one demand, given its paths, where demands do not
 *	look at each other; 0, -EINVAL, -ENOMEM
 * @run: else: fills in an empty placement; 0, -EINVAL, -ENOMEM
 */
struct srpol_alg {
	const char *name;
	const char *source;
	const char *complexity;
	bool coupled;
	int (*place)(const struct srpol_alg_input *in, uint32_t demand,
		     const struct srpol_path_set *set,
		     struct srpol_placement *out);
	int (*run)(const struct srpol_alg_input *in,
		   struct srpol_placement *out);
};

extern const struct srpol_alg srpol_alg_ecmp;
extern const struct srpol_alg srpol_alg_spread;
extern const struct srpol_alg srpol_alg_wecmp;
extern const struct srpol_alg srpol_alg_pinned;
extern const struct srpol_alg srpol_alg_minmax;
extern const struct srpol_alg srpol_alg_glb;
extern const struct srpol_alg srpol_alg_adaptive;
extern const struct srpol_alg srpol_alg_rotation;

/* alg.c: the registry */

const struct srpol_alg *srpol_alg_at(unsigned int i);
const struct srpol_alg *srpol_alg_find(const char *name);
int srpol_alg_run(const struct srpol_alg *alg,
		  const struct srpol_alg_input *in,
		  struct srpol_placement **out, struct srpol_error *err);

/* via.c: demands that ask for a function */

bool srpol_demand_may(const struct srpol_alg_input *in, uint32_t d,
		      const struct srpol_route *route);
uint64_t srpol_demand_capacity(const struct srpol_alg_input *in, uint32_t d,
			       const struct srpol_route *route);
int srpol_demands_check(const struct srpol_fabric *f,
			const struct srpol_demand *demands, uint32_t n,
			struct srpol_error *err);

/* placement.c */

struct srpol_placement *srpol_placement_new(uint32_t n);
void srpol_placement_free(struct srpol_placement *p);
int srpol_placement_add(struct srpol_placement *p, uint32_t demand,
			uint32_t path, uint32_t weight);
void srpol_placement_end(struct srpol_placement *p, uint32_t demand);
int srpol_placement_load(const struct srpol_alg_input *in,
			 const struct srpol_placement *p, double *load);
int srpol_placement_predict(const struct srpol_alg_input *in,
			    struct srpol_placement *p);

/* bound.c: what no placement can beat */

/**
 * struct srpol_bound - least seconds, by what limits
 * @sender: the busiest GPU's NICs, sending
 * @receiver: the busiest GPU's NICs, receiving
 * @leaf: the busiest leaf's links upwards, either direction; 0 where GPUs have
 *	several planes, as no cut of one leaf is forced then
 * @pod: the busiest pod's links to super-spines, likewise
 * @all: the greatest of these
 */
struct srpol_bound {
	double sender;
	double receiver;
	double leaf;
	double pod;
	double all;
};

int srpol_bound_get(const struct srpol_alg_input *in,
		    struct srpol_bound *bound);

/* edge_color.c */

int srpol_edge_color(uint32_t n_left, uint32_t n_right, const uint32_t *left,
		     const uint32_t *right, uint32_t n, uint32_t k,
		     uint32_t *color);

/* maxmin.c: weighted max-min fair rates and the times that follow from them */

/**
 * struct srpol_maxmin - a fluid network
 * @n_links: links
 * @capacity: bytes/s per link; 0: down
 * @n_flows: flows
 * @first: @n_flows + 1: flow i has uses @first[i] up to @first[i + 1]
 * @link: of a use
 * @part: of a use: bytes on the link per byte of the flow, more than 0
 * @weight: of a flow: rates grow in proportion to it; NULL: all alike
 */
struct srpol_maxmin {
	uint32_t n_links;
	double *capacity;
	uint32_t n_flows;
	const uint32_t *first;
	const uint32_t *link;
	const double *part;
	const double *weight;
};

/**
 * struct srpol_maxmin_event - a link has another capacity from then on
 * @time: seconds
 * @link: link
 * @capacity: bytes/s
 */
struct srpol_maxmin_event {
	double time;
	uint32_t link;
	double capacity;
};

/**
 * struct srpol_maxmin_run - flows in time
 * @left: bytes per flow; what is left of them afterwards
 * @start: seconds at which each flow starts, NULL: 0
 * @finish: result: seconds at which each flow ended, INFINITY if it did not
 * @events: sorted by time
 * @n_events: number of them
 * @from: seconds at which this begins
 * @until: seconds at which to stop
 * @fillings: result: how often rates were computed
 * @now: result: seconds at which the last flow ended, or @until
 */
struct srpol_maxmin_run {
	double *left;
	const double *start;
	double *finish;
	const struct srpol_maxmin_event *events;
	uint32_t n_events;
	double from;
	double until;
	uint32_t fillings;
	double now;
};

int srpol_maxmin_rates(const struct srpol_maxmin *net, const uint8_t *active,
		       double *rate);
int srpol_maxmin_run(struct srpol_maxmin *net, struct srpol_maxmin_run *run);

/* predict.c: when placed demands end */

/**
 * struct srpol_fluid - placed demands as a fluid network
 * @net: the network; its flows are demands, or shares of demands
 * @first: see struct srpol_maxmin
 * @link: likewise
 * @part: likewise
 * @left: bytes per flow
 * @start: seconds per flow
 * @finish: seconds per flow, for who runs it
 * @demand: by flow
 */
struct srpol_fluid {
	struct srpol_maxmin net;
	uint32_t *first;
	uint32_t *link;
	double *part;
	double *left;
	double *start;
	double *finish;
	uint32_t *demand;
};

struct srpol_fluid *srpol_fluid_new(const struct srpol_alg_input *in,
				    const struct srpol_placement *p,
				    bool coupled, const double *start);
void srpol_fluid_free(struct srpol_fluid *m);

int srpol_predict(const struct srpol_alg_input *in,
		  const struct srpol_placement *p, bool coupled,
		  const double *start, double *finish);

/* plan.c: weights per pair of leaves, expanded by hosts */

#define SRPOL_PLAN_WEIGHT_MAX	15

/**
 * struct srpol_flows - flows between two GPUs that are to take a path
 * @src: GPU
 * @dst: GPU
 * @color: of the policies it is for, 0: those that have none of their own
 * @path: number in the path set of these GPUs
 * @n: how many of their flows, more than 0
 */
struct srpol_flows {
	uint32_t src;
	uint32_t dst;
	uint32_t color;
	uint32_t path;
	uint32_t n;
};

/**
 * struct srpol_plan - weights of the paths between pairs of leaves, and paths of
 *	flows between GPUs, which count before these
 * @n: pairs
 * @from: leaf per pair, sorted by @from, @to, @color
 * @to: leaf per pair
 * @color: of the policies it is for, 0: those that have none of their own
 * @first: @n + 1: pair i has @weights from @first[i] up to @first[i + 1], one
 *	per path of srpol_fan_init()
 * @weights: 0 (not used) to SRPOL_PLAN_WEIGHT_MAX
 * @n_flows: number of @flows
 * @flows: sorted by @src, @dst, @color, @path
 */
struct srpol_plan {
	uint32_t n;
	uint32_t *from;
	uint32_t *to;
	uint32_t *color;
	uint32_t *first;
	uint8_t *weights;
	uint32_t n_flows;
	struct srpol_flows *flows;
};

struct srpol_plan *srpol_plan_new(const struct srpol_alg_input *in,
				  const struct srpol_placement *p);
void srpol_plan_free(struct srpol_plan *plan);
const uint8_t *srpol_plan_find(const struct srpol_plan *plan, uint32_t from,
			       uint32_t to, uint32_t color, uint32_t *n);
int srpol_plan_expand(const struct srpol_fabric *f,
		      const struct srpol_plan *plan, uint32_t src,
		      uint32_t dst, struct srpol_share *shares, uint32_t max);

/* glb.c: what global load balancing costs */

/**
 * enum srpol_glb_domain - how far switches tell of their links
 * @SRPOL_GLB_ALL: every leaf learns of every link behind its next hops
 * @SRPOL_GLB_POD: leaves learn of links in their pod only
 * @SRPOL_GLB_SPINE: spines learn of links between super-spines and spines
 */
enum srpol_glb_domain {
	SRPOL_GLB_ALL,
	SRPOL_GLB_POD,
	SRPOL_GLB_SPINE,
};

/**
 * struct srpol_glb_cost - what a domain costs
 * @entries: qualities that the greatest table holds
 * @total: qualities in all tables
 * @messages: most messages that the change of one link makes
 */
struct srpol_glb_cost {
	uint64_t entries;
	uint64_t total;
	uint64_t messages;
};

void srpol_glb_cost(const struct srpol_fabric *f,
		    enum srpol_glb_domain domain, struct srpol_glb_cost *cost);

/* rotation.c: per-packet spraying in an order that keeps queues short */

uint32_t srpol_rotation_path(uint32_t src, uint32_t dst, uint64_t seq,
			     uint32_t n);

/* affinity.c: same address, same queue pair */

uint32_t srpol_affinity(uint64_t addr, unsigned int granule_bits, uint32_t n);

/* mix.c: numbers that look random, from numbers */

uint64_t srpol_mix(uint64_t x);
uint64_t srpol_gcd(uint64_t a, uint64_t b);

#ifdef __cplusplus
}
#endif

#endif /* _SRPOL_ALG_H */
