// SPDX-License-Identifier: LGPL-2.1
/*
 * Spraying by rotation: packets of a source to a destination take the paths in
 * turn, each destination with a counter of its own and each pair at a place of
 * its own. Every spine then gets packets for a destination in even steps, and
 * queues stay O(1), where those of random choice grow with the transfer
 * (source: destination rotation, "Ofan").
 */
#include <errno.h>

#include "alg.h"

/**
 * srpol_rotation_path() - path of a packet
 * @src: source
 * @dst: destination
 * @seq: packets that went from @src to @dst before
 * @n: paths, not 0
 *
 * Return: 0 to @n - 1.
 */
uint32_t srpol_rotation_path(uint32_t src, uint32_t dst, uint64_t seq,
			     uint32_t n)
{
	return ((uint64_t)src + dst + seq) % n;
}

/* As weights: all usable paths alike. */
static int place(const struct srpol_alg_input *in, uint32_t d,
		 const struct srpol_path_set *set, struct srpol_placement *out)
{
	struct srpol_route route;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < set->n && !rc; i++) {
		srpol_path_get(in->fabric, set, i, &route);
		if (srpol_demand_capacity(in, d, &route))
			rc = srpol_placement_add(out, d, i, 1);
	}
	return rc;
}

const struct srpol_alg srpol_alg_rotation = {
	.name = "rotation",
	.source = "per-packet destination rotation (Ofan)",
	.complexity = "O(n p)",
	.coupled = true,
	.place = place,
};
