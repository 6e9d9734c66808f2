/* SPDX-License-Identifier: GPL-2.0 */
/*
 * QPs of a job on paths, as evenly as the weights of their policies allow. Pure:
 * what was sent comes in, paths go out.
 */
#ifndef _SRPOLD_PLACE_H
#define _SRPOLD_PLACE_H

#include <stdint.h>

#define PLACE_NONE	UINT32_MAX
#define PLACE_LINKS	8	/* of a path */

/**
 * struct place_path - a path of a policy
 * @weight: of the policy; 0: it is no candidate, or cannot be used
 * @n: number of links
 * @link: directed links, below the number that place() is told
 */
struct place_path {
	double weight;
	uint32_t n;
	uint32_t link[PLACE_LINKS];
};

/**
 * struct place_policy - paths that some items may choose among
 * @first: its first path
 * @n: number of them, in a row
 */
struct place_policy {
	uint32_t first;
	uint32_t n;
};

/**
 * struct place_item - a QP
 * @rate: what it sends, in any unit; 0: nothing, or it is not known
 * @policy: that it belongs to
 * @path: of the policy, from 0 on, or PLACE_NONE
 */
struct place_item {
	double rate;
	uint32_t policy;
	uint32_t path;
};

/**
 * struct place - all of it
 * @paths: of all policies
 * @policies: these
 * @items: to be placed
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
