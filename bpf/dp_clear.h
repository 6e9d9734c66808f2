/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters and signals belong to an object, not to its id: when an id is used
 * again, the new object's counters start at 0.
 */
#ifndef _SRPOL_DP_CLEAR_H
#define _SRPOL_DP_CLEAR_H

#include "base.h"
#include "maps.h"
#include "quality.h"

#define SRPOL_CPUS_MAX		1024

static __always_inline void srpol_counter_clear(void *map, __u32 id)
{
	struct srpol_counter *c;
	__u32 cpu;

	bpf_for(cpu, 0, SRPOL_CPUS_MAX) {
		c = bpf_map_lookup_percpu_elem(map, &id, cpu);
		if (!c)
			break;
		c->packets = 0;
		c->bytes = 0;
	}
}

static __always_inline void srpol_sid_stats_clear(__u32 id)
{
	struct srpol_sid_stats *s;
	__u32 cpu;

	bpf_for(cpu, 0, SRPOL_CPUS_MAX) {
		s = bpf_map_lookup_percpu_elem(&sid_stats, &id, cpu);
		if (!s)
			break;
		__builtin_memset(s, 0, sizeof(*s));
	}
}

static __always_inline void srpol_errors_clear(__u16 kind, __u32 id)
{
	struct srpol_error_key key = { .kind = kind, .id = id };
	__u32 reason;

	bpf_for(reason, 0, SRPOL_REASON_COUNT) {
		key.reason = reason;
		bpf_map_delete_elem(&errors, &key);
	}
}

static __always_inline void srpol_path_clear(__u32 id)
{
	struct srpol_quality *q = bpf_map_lookup_elem(&path_quality, &id);

	srpol_counter_clear(&path_stats, id);
	srpol_errors_clear(SRPOL_ERROR_PATH, id);
	if (q)
		__builtin_memset(q, 0, sizeof(*q));
}

static __always_inline void srpol_policy_clear(__u32 id)
{
	struct srpol_contention *c = bpf_map_lookup_elem(&contention, &id);

	srpol_counter_clear(&policy_stats, id);
	srpol_errors_clear(SRPOL_ERROR_POLICY, id);
	if (c)
		__builtin_memset(c, 0, sizeof(*c));
}

#endif /* _SRPOL_DP_CLEAR_H */
