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

int weights_run(const struct srpol_fabric *fabric,
		const struct srpol_links *links,
		struct weights_demands *known, struct weights_pair *pairs,
		uint32_t n, struct srpol_error *err);

#endif /* _SRPOLD_WEIGHTS_H */
