/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one place where packets are dropped: they are counted, and some are
 * reported.
 */
#ifndef _SRPOL_DROP_H
#define _SRPOL_DROP_H

#include "base.h"
#include "maps.h"
#include "parse.h"
#include "state.h"
#include "stats.h"
#include "words.h"

#define SRPOL_NS_PER_SEC	1000000000ull

struct srpol_drop_budget {
	__u64 second;
	__u64 sent;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct srpol_drop_budget);
} drop_budget SEC(".maps");

static __always_inline bool srpol_drop_allowed(__u64 now)
{
	struct srpol_state *st = srpol_state_get();
	__u64 second = now / SRPOL_NS_PER_SEC;
	struct srpol_drop_budget *b;
	__u32 zero = 0, limit;

	b = bpf_map_lookup_elem(&drop_budget, &zero);
	if (!st || !b)
		return false;
	limit = srpol_config(st, srpol_now_read(st).gen)->drop_events;
	if (b->second != second) {
		b->second = second;
		b->sent = 0;
	}
	return b->sent < limit;
}

/**
 * srpol_drop - count and report a packet that is dropped
 * @ev: what is known of the packet; @ns is filled in here
 *
 * If the ring buffer is full, the report is lost, but not charged to the
 * budget.
 */
__noinline int srpol_drop(struct srpol_drop_event *ev __arg_nonnull)
{
	struct srpol_drop_budget *b;
	__u32 zero = 0;

	srpol_count_rare(ev->reason);
	ev->ns = bpf_ktime_get_coarse_ns();
	if (!srpol_drop_allowed(ev->ns) ||
	    bpf_ringbuf_output(&drops, ev, sizeof(*ev), 0))
		return 0;
	b = bpf_map_lookup_elem(&drop_budget, &zero);
	if (b)
		b->sent++;
	return 0;
}

/**
 * srpol_drop_pkt - count and report a packet that is dropped on its way out
 * @pkt: packet, parsed
 * @reason: enum srpol_reason
 * @id: path or policy that the reason is about
 */
__noinline int srpol_drop_pkt(const struct srpol_pkt *pkt __arg_nonnull,
			      __u32 reason, __u32 id)
{
	struct srpol_drop_event ev = {
		.reason = reason,
		.ifindex = pkt->ifindex,
		.len = pkt->len,
		.id = id,
	};

	srpol_copy_addr(ev.saddr, pkt->key.saddr);
	srpol_copy_addr(ev.daddr, pkt->key.daddr);
	return srpol_drop(&ev);
}

#endif /* _SRPOL_DROP_H */
