/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Path algorithms: they take a fabric, the state of its links, and demands, and
 * compute paths and weights for each demand, and the effect of these on the
 * links.
 *
 * All functions are pure: they do no I/O, read no clock, and use no randomness
 * except from a seed that the caller provides. The same input gives the same
 * output on every machine.
 *
 * Amounts of data are in bytes, capacities in bit/s, times in seconds. A path
 * is identified by its number in the set that srpol_path_set_init() makes for
 * the GPUs of a demand.
 */
#ifndef _SRPOL_ALG_H
#define _SRPOL_ALG_H

#include "fabric.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct srpol_demand - bytes that one GPU sends to another one
 * @src: source GPU
 * @dst: destination GPU
 * @bytes: amount to be sent; less than 2^53
 * @key: distinguishes flows between the same GPUs: a queue pair, or the key of
 *	an address
 * @color: color of the policies that steer the demand; "pinned" uses only
 *	switches of this color
 * @via: function that its paths have to pass, as returned by
 *	srpol_fabric_via(); 0: none
 * @flows: number of flows of equal size that the demand consists of, each of
 *	which gets one path (lib/plan's flows.c); 0: the demand may be split in
 *	any way
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
 * struct srpol_share - part of a demand that takes one path
 * @path: number of the path in the demand's path set
 * @weight: not 0; the path gets this part of the sum of the demand's weights
 */
struct srpol_share {
	uint32_t path;
	uint32_t weight;
};

/**
 * struct srpol_prediction - effect of a placement
 * @seconds: time that the most loaded link needs for all bytes placed on it: no
 *	schedule ends sooner. srpol_predict() computes when demands do end.
 * @link: that link; SRPOL_NONE: nothing was placed
 * @split: number of demands with more than one path
 * @moved: number of demands that have paths in the previous placement, and
 *	other paths or weights now
 * @unplaced: number of demands without a usable path
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
 * @n: number of demands
 * @first: @n + 1 entries: demand i has @shares[@first[i]] up to
 *	@shares[@first[i + 1] - 1]; it has none if its GPUs are in one host or
 *	it could not be placed
 * @shares: paths with weights, in the order of demands
 * @room: number of entries that @shares has memory for
 * @prediction: effect of the placement
 */
struct srpol_placement {
	uint32_t n;
	uint32_t *first;
	struct srpol_share *shares;
	uint32_t room;
	struct srpol_prediction prediction;
};

/**
 * enum srpol_profile - how "glb" derives the quality of a path from that of its
 *	links
 * @SRPOL_PROFILE_SIMPLE: quality of the first link, from the source leaf
 *	upwards
 * @SRPOL_PROFILE_MIN: the lowest quality of its links
 * @SRPOL_PROFILE_SUM: the best quality, less what each link lacks of it
 * @SRPOL_PROFILE_WORST: the lowest quality of all paths with the same next hop,
 *	for fabrics in which switches choose the rest of the path themselves
 */
enum srpol_profile {
	SRPOL_PROFILE_SIMPLE,
	SRPOL_PROFILE_MIN,
	SRPOL_PROFILE_SUM,
	SRPOL_PROFILE_WORST,
};

#define SRPOL_ALG_HYSTERESIS	0.05	/* usual hysteresis of what runs */

/**
 * struct srpol_alg_options - options; all 0 is a good default
 * @seed: seed of random choices
 * @qps: "ecmp": queue pairs per demand; 0 means 1
 * @parts: maximum number of paths per demand; 0: no limit
 * @profile: "glb": how the quality of a path is derived
 * @nnhn: "glb": next-next hops that next hops announced; NULL: all of them
 * @hysteresis: relative gain that justifies leaving the previous placement
 *	(0.05: 5 %, as SRPOL_ALG_HYSTERESIS); demands leave a path that is down
 *	in any case
 * @moves: maximum number of demands moved for balance; 0: no limit. Demands
 *	that leave a path that is down do not count
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
 * struct srpol_alg_input - input of an algorithm
 * @fabric: finished fabric
 * @links: state of its links
 * @demands: demands to be placed
 * @n: number of @demands
 * @previous: placement of the same demands that is in force, in which demands
 *	that are new have no paths; or NULL
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
 * @name: name, in lower case
 * @source: publication or practice that the algorithm is from
 * @complexity: running time, for n demands, p paths per demand, L links
 * @coupled: the shares of a demand carry packets of one flow (weighted
 *	spraying), instead of being flows of their own
 * @place: for algorithms that place each demand by itself: adds the shares of
 *	one demand, given its paths; returns 0, -EINVAL, -ENOMEM
 * @run: for all other algorithms: fills in an empty placement; returns 0,
 *	-EINVAL, -ENOMEM
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

/* via.c: paths of demands that ask for a function */

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

/* carry.c: what is in force when demands come and go */

int srpol_demands_match(const struct srpol_demand *old, uint32_t n_old,
			const struct srpol_demand *demands, uint32_t n,
			uint32_t *match);
int srpol_placement_copy(struct srpol_placement *to, uint32_t demand,
			 const struct srpol_placement *from, uint32_t i);
struct srpol_placement *
srpol_placement_carry(const struct srpol_placement *from, const uint32_t *match,
		      uint32_t n);

/* bound.c: lower bounds of the completion time */

/**
 * struct srpol_bound - lower bounds of the completion time, in seconds
 * @sender: time of the GPU with the longest time to send, over all its NICs
 * @receiver: time of the GPU with the longest time to receive, over all its
 *	NICs
 * @leaf: longest time of a leaf's links to spines, in either direction; 0 if
 *	some demand can use several planes, because then no traffic is bound to
 *	one leaf
 * @pod: longest time of a pod's links to super-spines, likewise
 * @all: the greatest of these times
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

/*
 * maxmin.c: weighted max-min fair rates, and the completion times they lead to
 */

/**
 * struct srpol_maxmin - a network with fluid flows
 * @n_links: number of links
 * @capacity: by link: bytes/s; 0: down
 * @n_flows: number of flows
 * @first: @n_flows + 1 entries: the uses of flow i begin at @first[i] and end
 *	before @first[i + 1]; a use is one link of a flow
 * @link: by use: the link
 * @part: by use: bytes on the link per byte of the flow; greater than 0
 * @weight: by flow: rates are in proportion to it; NULL: all weights are equal
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
 * struct srpol_maxmin_event - a change of a link's capacity
 * @time: time of the change in seconds
 * @link: the link
 * @capacity: its capacity from then on, in bytes/s
 */
struct srpol_maxmin_event {
	double time;
	uint32_t link;
	double capacity;
};

/**
 * struct srpol_maxmin_run - a simulation of flows over time
 * @left: by flow: bytes to be sent; afterwards the bytes that are left
 * @start: by flow: seconds at which it starts; NULL: 0 for all
 * @finish: result, by flow: seconds at which it ended; INFINITY if it did not
 * @events: changes of links, sorted by time
 * @n_events: number of @events
 * @from: seconds at which the simulation begins
 * @until: seconds at which it stops
 * @effort: how often rates may be computed, times the number of flows; 0: no limit
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
	uint64_t effort;
	uint32_t fillings;
	double now;
};

int srpol_maxmin_rates(const struct srpol_maxmin *net, const uint8_t *active,
		       double *rate);
int srpol_maxmin_run(struct srpol_maxmin *net, struct srpol_maxmin_run *run);

/* predict.c: completion times of placed demands */

/**
 * struct srpol_fluid - placed demands as a network with fluid flows
 * @net: the network; each flow is a demand, or a share of a demand
 * @first: see struct srpol_maxmin
 * @link: see struct srpol_maxmin
 * @part: see struct srpol_maxmin
 * @left: by flow: bytes to be sent
 * @start: by flow: seconds at which it starts
 * @finish: by flow: memory for the caller's struct srpol_maxmin_run
 * @demand: by flow: index of its demand
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

/* plan.c: weights per pair of leaves, which hosts expand to weights of paths */

#define SRPOL_PLAN_WEIGHT_MAX	15

/**
 * struct srpol_flows - number of flows between two GPUs that take one path
 * @src: source GPU
 * @dst: destination GPU
 * @color: color of the policies that the entry is for; 0: policies whose color
 *	has no entries of its own
 * @path: number in the path set of these GPUs
 * @n: number of flows, not 0
 */
struct srpol_flows {
	uint32_t src;
	uint32_t dst;
	uint32_t color;
	uint32_t path;
	uint32_t n;
};

/**
 * struct srpol_plan - weights of paths between leaves, and paths of flows
 *	between GPUs; for flows that have paths, these take precedence over
 *	weights
 * @n: number of pairs of leaves
 * @from: by pair: source leaf; pairs are sorted by @from, @to, @color
 * @to: by pair: destination leaf
 * @color: by pair: color of the policies that the weights are for; 0: policies
 *	whose color has no weights of its own
 * @first: @n + 1 entries: pair i has @weights[@first[i]] up to
 *	@weights[@first[i + 1] - 1], one per path of srpol_fan_init()
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

/* glb.c: cost of global load balancing */

/**
 * enum srpol_glb_domain - how far switches announce the quality of their links
 * @SRPOL_GLB_ALL: every leaf learns about all links behind its next hops
 * @SRPOL_GLB_POD: leaves learn about links in their own pod only
 * @SRPOL_GLB_SPINE: spines learn about links between super-spines and spines
 */
enum srpol_glb_domain {
	SRPOL_GLB_ALL,
	SRPOL_GLB_POD,
	SRPOL_GLB_SPINE,
};

/**
 * struct srpol_glb_cost - cost of a domain
 * @entries: number of link qualities in the largest table
 * @total: number of link qualities in all tables
 * @messages: largest number of messages that a change of one link causes
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

/* affinity.c: keeps accesses to one address on one queue pair */

uint32_t srpol_affinity(uint64_t addr, unsigned int granule_bits, uint32_t n);

/* mix.c: integer arithmetic */

uint64_t srpol_mix(uint64_t x);
uint64_t srpol_gcd(uint64_t a, uint64_t b);

#ifdef __cplusplus
}
#endif

#endif /* _SRPOL_ALG_H */
