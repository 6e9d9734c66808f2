/* SPDX-License-Identifier: GPL-2.0 */
/* Per-CPU counters: plain additions, no atomics in the packet path. */
#ifndef _SRPOL_STATS_H
#define _SRPOL_STATS_H

#include "base.h"
#include "maps.h"

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

/*
 * The same for what does not happen to most packets, out of line: each lookup of a
 * map in a program makes the kernel take longer to load it. Global, so that the
 * verifier checks it once.
 */
__noinline int srpol_count_rare(__u32 reason)
{
	srpol_count(reason);
	return 0;
}

/**
 * srpol_counter_add - count a packet for a path, policy or rule
 * @map: path_stats, policy_stats or rule_stats
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

/**
 * srpol_error - count an error of one object
 * @kind: SRPOL_ERROR_*
 * @reason: enum srpol_reason
 * @id: path, policy or SID
 *
 * The caller counts the reason as such. If map "errors" is full, the error is
 * not counted.
 */
__noinline int srpol_error(__u32 kind, __u32 reason, __u32 id)
{
	struct srpol_error_key key = {
		.kind = kind, .reason = reason, .id = id,
	};
	__u64 one = 1, *n;

	n = bpf_map_lookup_elem(&errors, &key);
	if (n)
		(*n)++;
	else
		bpf_map_update_elem(&errors, &key, &one, BPF_NOEXIST);
	return 0;
}

#endif /* _SRPOL_STATS_H */
