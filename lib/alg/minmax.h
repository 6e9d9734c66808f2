/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Internal functions of the algorithm "minmax", and the placement they work on.
 */
#ifndef _SRPOL_MINMAX_H
#define _SRPOL_MINMAX_H

#include "alg.h"

/*
 * The weights of a demand add up to this number of parts, which is a multiple
 * of 1 to 10, 12, 14, 15 and 16.
 */
#define SRPOL_PARTS	5040

/* Paths examined by repair and chains: under a second, with up to 6 links each. */
#define SRPOL_LOOKS	10000000

/**
 * struct srpol_spot - the paths of one demand
 * @n: number of paths
 * @one: the path, if @n is 1
 * @many: all paths, if @n is greater than 1
 */
struct srpol_spot {
	uint32_t n;
	struct srpol_share one;
	struct srpol_share *many;
};

/**
 * struct srpol_minmax - a placement that is being worked on
 * @in: input of the algorithm
 * @spots: by demand: its paths
 * @load: by directed link: bytes
 * @cost: by directed link: seconds per byte; INFINITY: down
 * @bound: lower bound of the completion time, in seconds
 * @looks: number of paths that may still be examined
 * @listed: some paths are in lists, which to examine costs much more
 */
struct srpol_minmax {
	const struct srpol_alg_input *in;
	struct srpol_spot *spots;
	double *load;
	double *cost;
	double bound;
	uint32_t looks;
	bool listed;
};

struct srpol_share *srpol_spot_shares(struct srpol_spot *spot);
int srpol_spot_put(struct srpol_spot *spot, uint32_t path, uint32_t parts);
void srpol_spot_clear(struct srpol_spot *spot);
void srpol_minmax_load(struct srpol_minmax *m, uint32_t d,
		       const struct srpol_route *route, double parts);
double srpol_minmax_worst(const struct srpol_minmax *m,
			  const struct srpol_route *route, double bytes);
double srpol_minmax_max(const struct srpol_minmax *m);
int srpol_minmax_init(struct srpol_minmax *m, const struct srpol_alg_input *in);
void srpol_minmax_fini(struct srpol_minmax *m);
void srpol_minmax_clear(struct srpol_minmax *m);
int srpol_minmax_result(struct srpol_minmax *m, struct srpol_placement *out);
int srpol_minmax_approach(struct srpol_minmax *m, double level,
			  uint32_t *moves);
int srpol_minmax_anew(struct srpol_minmax *m);

/* minmax_start.c */
int srpol_minmax_start(struct srpol_minmax *m);
int srpol_minmax_fill(struct srpol_minmax *m);

/* minmax_repair.c */
int srpol_minmax_repair(struct srpol_minmax *m, double target, uint32_t *moves);
int srpol_minmax_leave(struct srpol_minmax *m);

/* minmax_chain.c */
int srpol_minmax_chain(struct srpol_minmax *m, double target, bool all,
		       uint32_t *moves);

/* minmax_again.c */
int srpol_minmax_again(struct srpol_minmax *m);

/* minmax_fraction.c */
int srpol_minmax_fraction(struct srpol_minmax *m);

#endif /* _SRPOL_MINMAX_H */
