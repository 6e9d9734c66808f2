// SPDX-License-Identifier: LGPL-2.1
/*
 * Spraying by rotation: the packets of each pair of source and destination take
 * the paths in turn. Each pair has its own counter and starts at its own
 * position. Every spine then receives the packets for a destination at regular
 * intervals, and queues stay O(1), whereas with random choice they grow with
 * the size of the transfer (source: destination rotation, "Ofan").
 */
#include <errno.h>

#include "alg.h"

/**
 * srpol_rotation_path() - select the path of a packet
 * @src: source
 * @dst: destination
 * @seq: number of packets that @src has sent to @dst before
 * @n: number of paths, not 0
 *
 * Return: path number, 0 to @n - 1.
 */
uint32_t srpol_rotation_path(uint32_t src, uint32_t dst, uint64_t seq,
			     uint32_t n)
{
	return ((uint64_t)src + dst + seq) % n;
}

/* Expressed as weights, all usable paths are equal. */
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
