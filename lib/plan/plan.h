/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Plans as they are kept, sent and compared: the weights of lib/alg's struct
 * srpol_plan as text with digests, how a new one follows from the one before,
 * bandwidth that is kept for jobs, and what a link that goes down would do.
 *
 *	head -- digest --> index -- digest --> page of some leaves
 *	page -- digest --> chunk of each of these as a source
 *
 * So a host that reads its own leaves' chunks, and the pages these are on, knows
 * that they are those of the head's plan. All are pure: no I/O, no clocks.
 */
#ifndef _SRPOL_PLAN_H
#define _SRPOL_PLAN_H

#include "alg.h"

#define SRPOL_DIGEST_LEN	65	/* 32 bytes in hexadecimal, and the 0 */
#define SRPOL_ALG_NAME_LEN	32

/* digest.c */

void srpol_digest(const void *data, size_t len, char digest[SRPOL_DIGEST_LEN]);

/* chunk.c: the pairs of one source leaf, a line each */

/**
 * struct srpol_chunk - text of a leaf's pairs
 * @leaf: source leaf
 * @text: the lines
 * @len: bytes of it
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

/* page.c: chunks of some leaves, and reports of their hosts */

/**
 * struct srpol_page_entry - a chunk
 * @leaf: name of the source leaf
 * @epoch: epoch in which the chunk was written: it did not change since
 * @digest: of its text
 */
struct srpol_page_entry {
	char leaf[SRPOL_NAME_LEN];
	uint64_t epoch;
	char digest[SRPOL_DIGEST_LEN];
};

/**
 * struct srpol_seen - the last report of a host that a plan takes into account
 * @host: its name
 * @number: number of the report
 */
struct srpol_seen {
	char host[SRPOL_NAME_LEN];
	uint64_t number;
};

/**
 * struct srpol_page - a page of the index
 * @number: which
 * @n: number of @entries
 * @entries: sorted by name of the leaf
 * @n_seen: number of @seen
 * @seen: sorted by host
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

/* index.c: which pages make up an epoch */

/**
 * struct srpol_index_entry - a page of an epoch
 * @page: its number
 * @epoch: epoch in which the page was written: it did not change since
 * @digest: of its text
 */
struct srpol_index_entry {
	uint32_t page;
	uint64_t epoch;
	char digest[SRPOL_DIGEST_LEN];
};

/**
 * struct srpol_limit_rate - what may be sent in a color
 * @color: color
 * @rate: bit/s by each GPU of a host
 */
struct srpol_limit_rate {
	uint32_t color;
	uint64_t rate;
};

/**
 * struct srpol_index - the pages of an epoch
 * @epoch: number of the epoch
 * @topology: digest of srpol_topology_text() of the fabric it is for
 * @alg: algorithm that made it
 * @leaves: how many leaves a page is for, see srpol_page_numbers()
 * @n: number of @entries
 * @entries: sorted by page
 * @n_limits: number of @limits
 * @limits: sorted by color
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
};

char *srpol_index_write(const struct srpol_index *index);
int srpol_index_read(const char *text, size_t len, struct srpol_index *index,
		     struct srpol_error *err);
void srpol_index_free(struct srpol_index *index);
const struct srpol_index_entry *srpol_index_find(const struct srpol_index *index,
						 uint32_t page);

/* head.c: which epoch is in force */

/**
 * struct srpol_head - the epoch in force
 * @epoch: its number; grows
 * @term: create revision of the leader's key; does not go back
 * @topo_rev: revision of the topology's key
 * @digest: of the index's text
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

/* expand.c: a host's weights towards a peer */

int srpol_plan_weigh(const struct srpol_fabric *f,
		     const struct srpol_links *links,
		     const struct srpol_plan *plan, uint32_t src, uint32_t dst,
		     uint32_t color, uint32_t *weight, uint32_t max);

/* diff.c */

/**
 * struct srpol_plan_change - a pair that two plans differ in
 * @from: leaf
 * @to: leaf
 * @color: of the policies it is for, 0: those that have none of their own
 * @n_old: number of weights in the one, 0: it does not have the pair
 * @old: these
 * @n_new: likewise in the other
 * @new: likewise
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
 * struct srpol_flows_change - two GPUs whose flows two plans differ in
 * @src: GPU
 * @dst: GPU
 * @color: of the policies it is for
 * @n_old: number of entries in the one, 0: it does not have them
 * @old: these
 * @n_new: likewise in the other
 * @new: likewise
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

/* demands.c: what jobs announce */

#define SRPOL_DEMAND_FLOWS_MAX	256	/* flows of a demand, each with a path */

/**
 * struct srpol_demands - a growing array
 * @n: number of demands
 * @room: of @list
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
bool srpol_demands_are_foreign(const struct srpol_fabric *f, const char *text,
			       size_t len);
void srpol_demands_free(struct srpol_demands *demands);

/* planner.c: a plan, and the next one */

/**
 * struct srpol_planner - what the plan in force was made of
 * @fabric: finished fabric, which has to stay
 * @alg: algorithm
 * @options: its options
 * @links: state of the links
 * @demands: what was placed
 * @n: number of them
 * @placement: their paths
 * @plan: weights per pair of leaves; NULL before the first run
 * @placed: demands that the last run placed anew
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

/* flows.c: a path for each flow */

/**
 * struct srpol_flows_input - what flows find
 * @fabric: finished fabric
 * @links: state of the links
 * @demands: each of so many flows; @color is that of the plan. Those of the same
 *	GPUs and color have the same function to pass, and the same @allowed
 * @allowed: by demand: whether it may use a directed link; NULL: all
 * @n: number of them
 * @load: by directed link: bytes that others send
 * @before: plan in force: flows that it has stay where that is good enough; NULL:
 *	there is none
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
 * struct srpol_plan_part - what a plan is put together from
 * @plan: weights; its own colors do not count
 * @color: what they are in the whole
 */
struct srpol_plan_part {
	const struct srpol_plan *plan;
	uint32_t color;
};

struct srpol_plan *srpol_plan_join(const struct srpol_plan_part *parts,
				   uint32_t n);

/* ledger.c: bandwidth that is kept for somebody */

/**
 * struct srpol_hold - bandwidth that is kept for the demands of a job
 * @color: of its flows: holds of a color share the weights of their pairs
 * @rate: bit/s that its busiest GPU may send or receive; the rates of demands
 *	are to each other as their bytes are
 * @demands: what it is for
 * @n: number of them
 * @allowed: by directed link: whether it may be used, NULL: all may
 * @old: weights of these demands that hosts may still have, NULL: none
 * @new: weights that hosts are told, NULL: none; may be the same as @old
 */
struct srpol_hold {
	uint32_t color;
	uint64_t rate;
	const struct srpol_demand *demands;
	uint32_t n;
	const bool *allowed;
	const struct srpol_plan *old;
	const struct srpol_plan *new;
};

/**
 * struct srpol_ledger - all of them
 * @fabric: finished fabric
 * @links: what may be kept of them, in capacities
 * @holds: the oldest first
 * @n: number of them
 */
struct srpol_ledger {
	const struct srpol_fabric *fabric;
	const struct srpol_links *links;
	struct srpol_hold *holds;
	uint32_t n;
};

/**
 * struct srpol_offer - whether bandwidth can be kept
 * @fits: it can
 * @weights: then: of its demands, to be freed
 * @most: bit/s that could be kept, of those wanted; whole Mbit/s if it does not
 *	fit
 * @link: directed link that has too little, SRPOL_NONE: a demand has no path
 * @left: bit/s that are left there
 * @wanted: bit/s that would be needed there
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
int srpol_ledger_fits(const struct srpol_ledger *ledger,
		      const struct srpol_hold *want);

/* settle.c: what becomes of it when links change */

/**
 * enum srpol_settled - what became of a hold
 * @SRPOL_SETTLED_KEPT: nothing
 * @SRPOL_SETTLED_MOVED: other weights, or some again
 * @SRPOL_SETTLED_LOST: it cannot be kept
 */
enum srpol_settled {
	SRPOL_SETTLED_KEPT,
	SRPOL_SETTLED_MOVED,
	SRPOL_SETTLED_LOST,
};

/**
 * struct srpol_settlement - of a hold
 * @what: what became of it
 * @offer: of one that was moved or lost
 */
struct srpol_settlement {
	enum srpol_settled what;
	struct srpol_offer offer;
};

int srpol_ledger_settle(const struct srpol_ledger *ledger,
			struct srpol_settlement *settled);
void srpol_settlements_free(struct srpol_settlement *settled, uint32_t n);

/* what_if.c */

/**
 * struct srpol_what_if - when demands end, in seconds
 * @now: the last one, with the links as they are
 * @local: with other links and the same plan: hosts leave paths that are down
 * @planned: with other links and the plan that follows
 * @unplaced: demands that do not end then
 * @finish: of each demand, by these three
 *
 * INFINITY if some demand does not end.
 */
struct srpol_what_if {
	double now;
	double local;
	double planned;
	uint32_t unplaced;
	double *finish[3];
};

/**
 * struct srpol_situation - what demands find
 * @links: state of the links
 * @plan: what hosts are told
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
