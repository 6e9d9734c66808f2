/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Plans in the form in which they are stored, sent to hosts and compared. A
 * plan is the struct srpol_plan of lib/alg, written as text that is protected
 * by digests. This library also computes the plan that follows the one in
 * force, reserves bandwidth for jobs, and predicts the effect of a link
 * failure.
 *
 *	head -- digest --> index -- digest --> page, for a group of leaves
 *	page -- digest --> chunk, for each of these leaves as a source
 *
 * A host therefore reads only the chunks of its own leaves and the pages that
 * list them, and the digests prove that they belong to the plan that the head
 * names. All functions are pure: they do no I/O and read no clock.
 */
#ifndef _SRPOL_PLAN_H
#define _SRPOL_PLAN_H

#include "alg.h"

#define SRPOL_DIGEST_LEN	65	/* 32 bytes in hex, and the NUL */
#define SRPOL_ALG_NAME_LEN	32

/* digest.c */

void srpol_digest(const void *data, size_t len, char digest[SRPOL_DIGEST_LEN]);

/* chunk.c: all pairs of one source leaf, one line of text per pair */

/**
 * struct srpol_chunk - the text that describes the pairs of one source leaf
 * @leaf: source leaf
 * @text: the lines, not NUL-terminated
 * @len: length of @text in bytes
 */
struct srpol_chunk {
	uint32_t leaf;
	const char *text;
	size_t len;
};

char *srpol_chunk_write(const struct srpol_fabric *f,
			const struct srpol_plan *plan, uint32_t leaf);
int srpol_chunks_read(const struct srpol_fabric *f,
		      const struct srpol_chunk *chunks, uint32_t n,
		      struct srpol_plan **out, struct srpol_error *err);

/*
 * page.c: lists the chunks of a group of leaves and the reports of their hosts
 */

/**
 * struct srpol_page_entry - where a page finds the chunk of a leaf
 * @leaf: name of the source leaf
 * @epoch: epoch in which the chunk was last written; later epochs reuse it
 *	unchanged
 * @digest: digest of the chunk's text
 */
struct srpol_page_entry {
	char leaf[SRPOL_NAME_LEN];
	uint64_t epoch;
	char digest[SRPOL_DIGEST_LEN];
};

/**
 * struct srpol_seen - the last report of a host that the plan takes into
 *	account
 * @host: name of the host
 * @number: sequence number of the report
 */
struct srpol_seen {
	char host[SRPOL_NAME_LEN];
	uint64_t number;
};

/**
 * struct srpol_page - a page of the index
 * @number: number of the page
 * @n: number of @entries
 * @entries: one per leaf, sorted by leaf name
 * @n_seen: number of @seen
 * @seen: one per host, sorted by host name
 */
struct srpol_page {
	uint32_t number;
	uint32_t n;
	struct srpol_page_entry *entries;
	uint32_t n_seen;
	struct srpol_seen *seen;
};

uint32_t srpol_page_leaves(const struct srpol_fabric *f);
void srpol_page_numbers(const struct srpol_fabric *f, uint32_t leaves,
			uint32_t *page);
char *srpol_page_write(const struct srpol_page *page);
int srpol_page_read(const char *text, size_t len, uint64_t epoch,
		    struct srpol_page *page, struct srpol_error *err);
void srpol_page_free(struct srpol_page *page);
const struct srpol_page_entry *srpol_page_find(const struct srpol_page *page,
					       const char *leaf);
uint64_t srpol_page_seen(const struct srpol_page *page, const char *host);

/* index.c: lists the pages that make up an epoch */

/**
 * struct srpol_index_entry - where an index finds a page
 * @page: number of the page
 * @epoch: epoch in which the page was last written; later epochs reuse it
 *	unchanged
 * @digest: digest of the page's text
 */
struct srpol_index_entry {
	uint32_t page;
	uint64_t epoch;
	char digest[SRPOL_DIGEST_LEN];
};

/**
 * struct srpol_limit_rate - rate limit of a color
 * @color: color
 * @rate: bit/s that each GPU of a host may send in this color
 */
struct srpol_limit_rate {
	uint32_t color;
	uint64_t rate;
};

/**
 * struct srpol_backup - backup of a color
 * @color: color
 * @backup: color whose policy to the same endpoint carries its packets while none
 *	of its own paths is up
 * @n: number of @nodes, 0: its paths are not limited
 * @nodes: switches that its paths are limited to, as tenants' are, in order; see
 *	backups.c
 */
struct srpol_backup {
	uint32_t color;
	uint32_t backup;
	uint32_t n;
	uint32_t *nodes;
};

/**
 * struct srpol_index - all pages of an epoch
 * @epoch: number of the epoch
 * @topology: digest of srpol_topology_text() of the fabric that the plan is for
 * @alg: name of the algorithm that computed the plan
 * @leaves: number of leaves per page, see srpol_page_numbers()
 * @n: number of @entries
 * @entries: sorted by page number
 * @n_limits: number of @limits
 * @limits: sorted by color
 * @n_backups: number of @backups
 * @backups: sorted by color
 */
struct srpol_index {
	uint64_t epoch;
	char topology[SRPOL_DIGEST_LEN];
	char alg[SRPOL_ALG_NAME_LEN];
	uint32_t leaves;
	uint32_t n;
	struct srpol_index_entry *entries;
	uint32_t n_limits;
	struct srpol_limit_rate *limits;
	uint32_t n_backups;
	struct srpol_backup *backups;
};

char *srpol_index_write(const struct srpol_index *index);
int srpol_index_read(const char *text, size_t len, struct srpol_index *index,
		     struct srpol_error *err);
void srpol_index_free(struct srpol_index *index);
const struct srpol_index_entry *srpol_index_find(const struct srpol_index *index,
						 uint32_t page);

/* head.c: tells which epoch is in force */

/**
 * struct srpol_head - the epoch in force
 * @epoch: number of the epoch; it only grows
 * @term: create revision of the leader's key; it never goes back
 * @topo_rev: revision of the topology's key
 * @digest: digest of the index's text
 */
struct srpol_head {
	uint64_t epoch;
	uint64_t term;
	uint64_t topo_rev;
	char digest[SRPOL_DIGEST_LEN];
};

char *srpol_head_write(const struct srpol_head *head);
int srpol_head_read(const char *text, size_t len, struct srpol_head *head,
		    struct srpol_error *err);

/* expand.c: path weights between two GPUs, as their host derives them */

int srpol_plan_weigh(const struct srpol_fabric *f,
		     const struct srpol_links *links,
		     const struct srpol_plan *plan, uint32_t src, uint32_t dst,
		     uint32_t color, uint32_t *weight, uint32_t max);

/* diff.c */

/**
 * struct srpol_plan_change - a pair of leaves that has different weights in two
 *	plans
 * @from: source leaf
 * @to: destination leaf
 * @color: color of the policies that the weights are for; 0: policies whose
 *	color has no weights of its own
 * @n_old: number of weights in the first plan; 0: it does not have the pair
 * @old: weights in the first plan
 * @n_new: number of weights in the second plan; 0: it does not have the pair
 * @new: weights in the second plan
 */
struct srpol_plan_change {
	uint32_t from;
	uint32_t to;
	uint32_t color;
	uint32_t n_old;
	const uint8_t *old;
	uint32_t n_new;
	const uint8_t *new;
};

/**
 * struct srpol_flows_change - a pair of GPUs whose flows take different paths
 *	in two plans
 * @src: source GPU
 * @dst: destination GPU
 * @color: color of the policies that the entries are for
 * @n_old: number of entries in the first plan; 0: it has none for the pair
 * @old: entries in the first plan
 * @n_new: number of entries in the second plan; 0: it has none for the pair
 * @new: entries in the second plan
 */
struct srpol_flows_change {
	uint32_t src;
	uint32_t dst;
	uint32_t color;
	uint32_t n_old;
	const struct srpol_flows *old;
	uint32_t n_new;
	const struct srpol_flows *new;
};

uint32_t srpol_flows_diff(const struct srpol_plan *a, const struct srpol_plan *b,
			  void (*each)(void *data,
				       const struct srpol_flows_change *change),
			  void *data);
uint32_t srpol_plan_diff(const struct srpol_plan *a, const struct srpol_plan *b,
			 void (*each)(void *data,
				      const struct srpol_plan_change *change),
			 void *data);

/* demands.c: the demands that jobs announce */

#define SRPOL_DEMAND_FLOWS_MAX	256	/* flows per demand */

/**
 * struct srpol_demands - a growing array of demands
 * @n: number of demands in @list
 * @room: number of demands that @list has memory for
 * @list: the demands
 */
struct srpol_demands {
	uint32_t n;
	uint32_t room;
	struct srpol_demand *list;
};

int srpol_demands_read(const struct srpol_fabric *f, const char *text,
		       size_t len, struct srpol_demands *demands,
		       struct srpol_error *err);
bool srpol_demands_are_foreign(const struct srpol_fabric *f, const char *shard,
			       const char *text, size_t len);
void srpol_demands_free(struct srpol_demands *demands);

/* planner.c: computes a plan and the one that follows it */

/**
 * struct srpol_planner - the plan in force and the inputs it was computed from
 * @fabric: finished fabric; the caller keeps it for as long as the planner
 *	exists
 * @alg: algorithm that places the demands
 * @options: options of @alg
 * @links: copy of the link states
 * @demands: copy of the demands that were placed
 * @n: number of @demands
 * @placement: paths of @demands
 * @plan: weights per pair of leaves, made from @placement; NULL before the
 *	first run
 * @placed: number of demands that the last run placed anew
 */
struct srpol_planner {
	const struct srpol_fabric *fabric;
	const struct srpol_alg *alg;
	struct srpol_alg_options options;
	struct srpol_links *links;
	struct srpol_demand *demands;
	uint32_t n;
	struct srpol_placement *placement;
	struct srpol_plan *plan;
	uint32_t placed;
};

int srpol_planner_run(struct srpol_planner *planner,
		      const struct srpol_links *links,
		      const struct srpol_demand *demands, uint32_t n,
		      struct srpol_error *err);
int srpol_planner_try(const struct srpol_planner *planner,
		      const struct srpol_links *links,
		      struct srpol_planner *trial, struct srpol_error *err);
void srpol_planner_free(struct srpol_planner *planner);

/* completion.c */

int srpol_completion(const struct srpol_fabric *f,
		     const struct srpol_links *links,
		     const struct srpol_plan *plan,
		     const struct srpol_demand *demands, uint32_t n,
		     double *finish);
int srpol_completion_from(const struct srpol_fabric *f,
			  const struct srpol_links *links,
			  const struct srpol_plan *plan,
			  const struct srpol_demand *demands, uint32_t n,
			  const double *start, double *finish);
int srpol_planned_load(const struct srpol_fabric *f,
		       const struct srpol_links *links,
		       const struct srpol_plan *plan,
		       const struct srpol_demand *demands, uint32_t n,
		       double *load);

/* flows.c: assigns a path to each flow */

/**
 * struct srpol_flows_input - flows to be placed, and the load and plan they
 *	start from
 * @fabric: finished fabric
 * @links: state of its links
 * @demands: demands whose @flows is not 0; @color is the color in the plan.
 *	Demands between the same GPUs in the same color must have the same @via
 *	and the same @allowed
 * @allowed: by demand: array that tells for each directed link whether the
 *	demand may use it; NULL: it may use all. @allowed itself may be NULL as
 *	well
 * @n: number of @demands
 * @load: by directed link: bytes that other demands send
 * @before: plan in force: flows that it has keep their path where that path is
 *	good enough; NULL: there is no such plan
 */
struct srpol_flows_input {
	const struct srpol_fabric *fabric;
	const struct srpol_links *links;
	const struct srpol_demand *demands;
	const bool * const *allowed;
	uint32_t n;
	const double *load;
	const struct srpol_plan *before;
};

int srpol_flows_place(const struct srpol_flows_input *in,
		      struct srpol_plan *plan);
int srpol_flows_order(const struct srpol_flows *x, const struct srpol_flows *y);
uint32_t srpol_flows_alike(const struct srpol_plan *plan, uint32_t at);
const struct srpol_flows *srpol_flows_find(const struct srpol_plan *plan,
					   uint32_t src, uint32_t dst,
					   uint32_t color, uint32_t *n);

/* join.c */

/**
 * struct srpol_plan_part - one of the plans that srpol_plan_join() combines
 * @plan: weights; the colors in this plan are ignored
 * @color: color that these weights get in the combined plan
 */
struct srpol_plan_part {
	const struct srpol_plan *plan;
	uint32_t color;
};

struct srpol_plan *srpol_plan_join(const struct srpol_plan_part *parts,
				   uint32_t n);

/* ledger.c: bandwidth reservations */

struct srpol_tally;

/**
 * struct srpol_hold - bandwidth reserved for the demands of a job
 * @color: color of the job's flows; reservations of one color share the weights
 *	of their pairs of leaves
 * @rate: bit/s that the job's busiest GPU may send or receive; the rates of the
 *	demands are in proportion to their bytes
 * @old_rate: the same for @old; 0: @rate
 * @least: bit/s that are enough for the job: others with a higher priority may
 *	have @rate lowered down to it; 0: it must not be lowered
 * @priority: the greater number comes first
 * @demands: demands that the bandwidth is reserved for
 * @n: number of @demands
 * @allowed: by directed link: whether the demands may use it; NULL: all links
 * @old: weights of these demands that hosts may still use; NULL: none
 * @new: weights that hosts are told to use; NULL: none; may be the same as @old
 * @waits: hosts have not been told @new, as others have to give up bandwidth first
 */
struct srpol_hold {
	uint32_t color;
	uint64_t rate;
	uint64_t old_rate;
	uint64_t least;
	uint32_t priority;
	const struct srpol_demand *demands;
	uint32_t n;
	const bool *allowed;
	const struct srpol_plan *old;
	const struct srpol_plan *new;
	bool waits;
};

/**
 * struct srpol_ledger - all bandwidth reservations
 * @fabric: finished fabric
 * @links: their capacities are the bandwidth that may be reserved
 * @holds: the reservations, the oldest one first
 * @n: number of @holds
 * @tally: of srpol_ledger_keep(), see tally.h; NULL: nothing is kept
 */
struct srpol_ledger {
	const struct srpol_fabric *fabric;
	const struct srpol_links *links;
	struct srpol_hold *holds;
	uint32_t n;
	struct srpol_tally *tally;
};

/**
 * struct srpol_offer - answer to the question whether bandwidth can be reserved
 * @fits: all of the requested bandwidth can be reserved
 * @weights: if @fits: weights for the demands, to be freed by the caller
 * @most: bit/s of the requested rate that can be reserved; a multiple of 1
 *	Mbit/s unless @fits
 * @link: if not @fits: directed link that lacks capacity; SRPOL_NONE: a demand
 *	has no path
 * @left: if not @fits: bit/s that are still available on @link
 * @wanted: if not @fits: bit/s that would be needed on @link
 */
struct srpol_offer {
	bool fits;
	struct srpol_plan *weights;
	uint64_t most;
	uint32_t link;
	uint64_t left;
	uint64_t wanted;
};

uint64_t srpol_rate_add(uint64_t a, uint64_t b);
int srpol_rate_within(const struct srpol_fabric *f,
		      const struct srpol_demand *demands, uint32_t n,
		      uint64_t ms, uint64_t *rate);
double *srpol_hold_rates(const struct srpol_fabric *f,
			 const struct srpol_hold *hold);
struct srpol_plan *srpol_ledger_plan(const struct srpol_ledger *ledger,
				     uint32_t color);
int srpol_ledger_load(const struct srpol_ledger *ledger, double *load);
int srpol_ledger_load_one(const struct srpol_ledger *ledger, uint32_t hold,
			  double *load);
int srpol_ledger_offer(const struct srpol_ledger *ledger,
		       const struct srpol_hold *want,
		       struct srpol_offer *offer);

/* tally.c: what reservations add to links, kept */

int srpol_ledger_keep(struct srpol_ledger *ledger);
void srpol_ledger_drop(struct srpol_ledger *ledger);

/* elastic.c: reservations that can do with less */

/**
 * struct srpol_room - answer to the question for what rate there is room
 * @fits: there is, for at least the least rate
 * @rate: if @fits: bit/s
 * @weights: if @fits: weights for the demands, to be freed by the caller; NULL
 *	as a result of srpol_ledger_raise(): the weights stay as they are
 * @rates: by reservation of the ledger: bit/s that it has then, to be freed by
 *	the caller; less than before if it is lowered
 * @offer: if not @fits: which link lacks capacity, and how much there is without
 *	lowering others; @most may be at their expense; its weights are NULL
 * @too_many: if not @fits: 0, or about how many would have to be lowered, which are
 *	more than may be
 */
struct srpol_room {
	bool fits;
	uint64_t rate;
	struct srpol_plan *weights;
	uint64_t *rates;
	struct srpol_offer offer;
	uint32_t too_many;
};

bool srpol_hold_is_lower(const struct srpol_hold *holds, uint32_t a, uint32_t b);
void srpol_holds_sort(const struct srpol_hold *holds, uint32_t n,
		      uint32_t *order);
int srpol_ledger_room(const struct srpol_ledger *ledger,
		      const struct srpol_hold *want, int64_t budget,
		      uint32_t max, struct srpol_room *room);
int srpol_ledger_raise(const struct srpol_ledger *ledger, uint32_t hold,
		       uint64_t rate, struct srpol_room *room);
int srpol_ledger_may_start(const struct srpol_ledger *ledger, uint32_t hold);
void srpol_room_free(struct srpol_room *room);

/* settle.c: adapts reservations to changed links */

/**
 * enum srpol_settled - what happened to a reservation
 * @SRPOL_SETTLED_KEPT: nothing changed
 * @SRPOL_SETTLED_MOVED: it has new weights, or has been restored after a loss
 * @SRPOL_SETTLED_LOST: its bandwidth can no longer be reserved
 */
enum srpol_settled {
	SRPOL_SETTLED_KEPT,
	SRPOL_SETTLED_MOVED,
	SRPOL_SETTLED_LOST,
};

/**
 * struct srpol_settlement - what happened to one reservation
 * @what: what happened to it
 * @rate: if it was moved: bit/s that it has then, not below its least rate
 * @offer: the offer that srpol_ledger_offer() made for it, if one was asked
 *	for; always for a reservation that was moved or lost
 */
struct srpol_settlement {
	enum srpol_settled what;
	uint64_t rate;
	struct srpol_offer offer;
};

int srpol_ledger_settle(const struct srpol_ledger *ledger,
			struct srpol_settlement *settled);
void srpol_settlements_free(struct srpol_settlement *settled, uint32_t n);

/* what_if.c */

/**
 * struct srpol_what_if - when demands would end, in seconds
 * @now: the end of the last demand with the present links and plan
 * @local: likewise with the other links and the present plan: hosts only stop
 *	using paths that are down
 * @planned: likewise with the other links and the plan that follows from them
 * @unplaced: demands that never end in the @planned case
 * @finish: by demand, for @now, @local and @planned in this order
 *
 * A time is INFINITY if some demand does not end.
 */
struct srpol_what_if {
	double now;
	double local;
	double planned;
	uint32_t unplaced;
	double *finish[3];
};

/**
 * struct srpol_situation - links and plan in one case of a what-if question
 * @links: state of the links
 * @plan: the plan that hosts use
 */
struct srpol_situation {
	const struct srpol_links *links;
	const struct srpol_plan *plan;
};

int srpol_what_if(const struct srpol_fabric *f,
		  const struct srpol_demand *demands, uint32_t n,
		  const struct srpol_situation *now,
		  const struct srpol_situation *then,
		  struct srpol_what_if *result);
void srpol_what_if_free(struct srpol_what_if *result);

#endif /* _SRPOL_PLAN_H */
