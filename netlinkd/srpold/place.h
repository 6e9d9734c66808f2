/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Places QPs of a job on paths, as evenly as the weights of their policies
 * allow. The input is what QPs sent, the output are their paths. Pure.
 */
#ifndef _SRPOLD_PLACE_H
#define _SRPOLD_PLACE_H

#include <stdint.h>

#define PLACE_NONE	UINT32_MAX
#define PLACE_LINKS	8	/* links of a path */

/**
 * struct place_path - a path of a policy
 * @weight: its weight in the policy; 0: not a candidate, or not usable
 * @n: number of links
 * @link: directed links, numbered below @n_links of struct place
 */
struct place_path {
	double weight;
	uint32_t n;
	uint32_t link[PLACE_LINKS];
};

/**
 * struct place_policy - paths that some items may take
 * @first: index of its first path
 * @n: number of its paths, which are consecutive
 */
struct place_policy {
	uint32_t first;
	uint32_t n;
};

/**
 * struct place_item - a QP
 * @rate: what it sends, in any unit; 0: nothing, or not known
 * @policy: policy that it belongs to
 * @path: its path in the policy, from 0 on, or PLACE_NONE
 */
struct place_item {
	double rate;
	uint32_t policy;
	uint32_t path;
};

/**
 * struct place - input and output of place()
 * @paths: of all policies
 * @policies: policies of the items
 * @items: QPs to be placed; their paths are the output
 * @n_policies: number of policies
 * @n_items: number of items
 * @n_links: number of links
 */
struct place {
	const struct place_path *paths;
	const struct place_policy *policies;
	struct place_item *items;
	uint32_t n_policies;
	uint32_t n_items;
	uint32_t n_links;
};

int place(const struct place *p);

#endif /* _SRPOLD_PLACE_H */
