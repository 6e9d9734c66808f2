/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Plans as they are kept, sent and compared: the weights of lib/alg's struct
 * srpol_plan as text with digests, how a new one follows from the one before,
 * and what a link that goes down would do.
 *
 *	head -- digest --> index -- digest --> chunk of each source leaf
 *
 * So a host that reads its own leaves' chunks only knows that they are those
 * of the head's plan. All are pure: no I/O, no clocks.
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

/* index.c: which chunks make up an epoch */

/**
 * struct srpol_index_entry - a chunk of an epoch
 * @leaf: name of the source leaf
 * @epoch: epoch in which the chunk was written: it did not change since
 * @digest: of its text
 */
struct srpol_index_entry {
	char leaf[SRPOL_NAME_LEN];
	uint64_t epoch;
	char digest[SRPOL_DIGEST_LEN];
};

/**
 * struct srpol_index - the chunks of an epoch
 * @epoch: number of the epoch
 * @topology: digest of srpol_topology_text() of the fabric it is for
 * @alg: algorithm that made it
 * @n: number of @entries
 * @entries: sorted by name of the leaf
 */
struct srpol_index {
	uint64_t epoch;
	char topology[SRPOL_DIGEST_LEN];
	char alg[SRPOL_ALG_NAME_LEN];
	uint32_t n;
	struct srpol_index_entry *entries;
};

char *srpol_index_write(const struct srpol_index *index);
int srpol_index_read(const char *text, size_t len, struct srpol_index *index,
		     struct srpol_error *err);
void srpol_index_free(struct srpol_index *index);
const struct srpol_index_entry *srpol_index_find(const struct srpol_index *index,
						 const char *leaf);

/* head.c: which epoch is in force */

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
 * struct srpol_head - the epoch in force
 * @epoch: its number; grows
 * @term: create revision of the leader's key; does not go back
 * @topo_rev: revision of the topology's key
 * @digest: of the index's text
 * @n: number of @seen
 * @seen: sorted by host
 */
struct srpol_head {
	uint64_t epoch;
	uint64_t term;
	uint64_t topo_rev;
	char digest[SRPOL_DIGEST_LEN];
	uint32_t n;
	struct srpol_seen *seen;
};

char *srpol_head_write(const struct srpol_head *head);
int srpol_head_read(const char *text, size_t len, struct srpol_head *head,
		    struct srpol_error *err);
void srpol_head_free(struct srpol_head *head);
uint64_t srpol_head_seen(const struct srpol_head *head, const char *host);

/* expand.c: a host's weights towards a peer */

int srpol_plan_weigh(const struct srpol_fabric *f,
		     const struct srpol_links *links,
		     const struct srpol_plan *plan, uint32_t src, uint32_t dst,
		     uint32_t *weight, uint32_t max);

/* diff.c */

/**
 * struct srpol_plan_change - a pair that two plans differ in
 * @from: leaf
 * @to: leaf
 * @n_old: number of weights in the one, 0: it does not have the pair
 * @old: these
 * @n_new: likewise in the other
 * @new: likewise
 */
struct srpol_plan_change {
	uint32_t from;
	uint32_t to;
	uint32_t n_old;
	const uint8_t *old;
	uint32_t n_new;
	const uint8_t *new;
};

uint32_t srpol_plan_diff(const struct srpol_plan *a, const struct srpol_plan *b,
			 void (*each)(void *data,
				      const struct srpol_plan_change *change),
			 void *data);

/* demands.c: what jobs announce */

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

/* what_if.c */

/**
 * struct srpol_what_if - when the last demand ends, in seconds
 * @now: with the links as they are
 * @local: with other links and the same plan: hosts leave paths that are down
 * @planned: with other links and the plan that follows
 * @unplaced: demands without a path then
 *
 * INFINITY if some demand does not end.
 */
struct srpol_what_if {
	double now;
	double local;
	double planned;
	uint32_t unplaced;
};

int srpol_what_if(const struct srpol_planner *now,
		  const struct srpol_planner *trial,
		  struct srpol_what_if *result);

#endif /* _SRPOL_PLAN_H */
