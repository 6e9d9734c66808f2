/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Weights of a policy's paths: an algorithm of lib/alg on the link-state DB.
 * Pure.
 */
#ifndef _SRPOLD_WEIGHTS_H
#define _SRPOLD_WEIGHTS_H

#include "alg.h"

#define WEIGHT_MAX	65535	/* of a segment list, in the module */

/**
 * struct weights_pair - what a policy is for
 * @src: GPU of this host
 * @dst: GPU of the peer
 * @alg: what places it
 * @color: of the policy
 * @slice: which of the pair's paths it may use, NULL: all
 * @n: number of paths of the pair
 * @weight: result, by path, 0 to WEIGHT_MAX
 */
struct weights_pair {
	uint32_t src;
	uint32_t dst;
	const struct srpol_alg *alg;
	uint32_t color;
	const bool *slice;
	uint32_t n;
	uint32_t *weight;
};

/**
 * struct weights_demands - what somebody said that will be sent, by whomever
 * @demand: a pair of GPUs may be there several times; sorted by weights_run()
 * @n: number of them
 */
struct weights_demands {
	struct srpol_demand *demand;
	uint32_t n;
};

/**
 * struct weights_last - what an algorithm placed last
 * @demands: the demands, with key 0
 * @placement: their paths, NULL: none
 */
struct weights_last {
	struct srpol_demand *demands;
	struct srpol_placement *placement;
};

/**
 * struct weights_memory - what was placed last, to be freed with
 *	weights_forget()
 * @n: number of @last; 0: nothing yet
 * @last: by number of the algorithm in the registry
 */
struct weights_memory {
	unsigned int n;
	struct weights_last *last;
};

/**
 * struct weights_input - what weights are computed from
 * @fabric: finished fabric
 * @links: capacities and quality of its links
 * @known: announced demands
 * @memory: what was placed last, on the same fabric; NULL: start from scratch
 * @keep: leave @memory as it is: the weights will not be used
 */
struct weights_input {
	const struct srpol_fabric *fabric;
	const struct srpol_links *links;
	struct weights_demands *known;
	struct weights_memory *memory;
	bool keep;
};

int weights_run(const struct weights_input *input, struct weights_pair *pairs,
		uint32_t n, struct srpol_error *err);
void weights_forget(struct weights_memory *memory);

#endif /* _SRPOLD_WEIGHTS_H */
