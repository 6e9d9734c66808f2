/* SPDX-License-Identifier: GPL-2.0 */
/* Per-CPU counters: plain additions, no atomics in the packet path. */
#ifndef _SRPOL_STATS_H
#define _SRPOL_STATS_H

/**
 * srpol_count - count what happened to a packet
 * @reason: enum srpol_reason
 */
static __always_inline void srpol_count(__u32 reason)
{
	__u64 *n = bpf_map_lookup_elem(&reasons, &reason);

	if (n)
		(*n)++;
}

/**
 * srpol_counter_add - count a packet for a path, policy or rule
 * @map: path_stats, policy_stats or class_stats
 * @id: index
 * @bytes: length of the inner packet
 */
static __always_inline void srpol_counter_add(void *map, __u32 id, __u32 bytes)
{
	struct srpol_counter *c = bpf_map_lookup_elem(map, &id);

	if (c) {
		c->packets++;
		c->bytes += bytes;
	}
}

#endif /* _SRPOL_STATS_H */
