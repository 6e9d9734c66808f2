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
 */
struct srpol_minmax {
	const struct srpol_alg_input *in;
	struct srpol_spot *spots;
	double *load;
	double *cost;
	double bound;
};

struct srpol_share *srpol_spot_shares(struct srpol_spot *spot);
int srpol_spot_put(struct srpol_spot *spot, uint32_t path, uint32_t parts);
void srpol_spot_clear(struct srpol_spot *spot);
void srpol_minmax_load(struct srpol_minmax *m, uint32_t d,
		       const struct srpol_route *route, double parts);
double srpol_minmax_worst(const struct srpol_minmax *m,
			  const struct srpol_route *route, double bytes);
double srpol_minmax_max(const struct srpol_minmax *m);

/* minmax_start.c */
int srpol_minmax_start(struct srpol_minmax *m);

/* minmax_repair.c */
int srpol_minmax_repair(struct srpol_minmax *m, double target, uint32_t *moves);
int srpol_minmax_leave(struct srpol_minmax *m);

/* minmax_fraction.c */
int srpol_minmax_fraction(struct srpol_minmax *m);

#endif /* _SRPOL_MINMAX_H */
