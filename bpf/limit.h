/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What this host may send in a color, all policies of it together. User space
 * fills the maps. Where packets wait at the device for their time (EDT: qdisc fq)
 * TC gives each one its time; else, and in XDP, which passes all queues by, what
 * is too much is dropped.
 */
#ifndef _SRPOL_LIMIT_H
#define _SRPOL_LIMIT_H

#include "base.h"
#include "drop.h"
#include "flow_table.h"
#include "maps.h"
#include "parse.h"
#include "stats.h"

#define SRPOL_LIMIT_TRIES	8
#define SRPOL_LIMIT_NOW		0ull
#define SRPOL_LIMIT_DROP	(~0ull)

/* Bits of a byte, in the unit of time of struct srpol_limit. */
#define SRPOL_LIMIT_BYTE	(8 * (SRPOL_NS_PER_SEC << SRPOL_LIMIT_SHIFT))

/* Not on the stack, which is used up. */
const volatile __u32 srpol_limit_key = 0;

/* Is there any color with a limit? All that other packets pay for. */
static __always_inline bool srpol_limit_any(void)
{
	__u32 *n = bpf_map_lookup_elem(&limit_count,
				       (void *)&srpol_limit_key);

	return n && *n;
}

/*
 * When may a packet leave? @wait: it can wait for its time. Processors take turns
 * by exchanging @next. One that does not get its turn adds to what the others have
 * just written. Return: SRPOL_LIMIT_NOW, SRPOL_LIMIT_DROP, or the time by
 * CLOCK_MONOTONIC.
 */
static __always_inline __u64 srpol_limit_take(__u32 policy, __u32 len,
					      const bool wait)
{
	struct srpol_policy *p = bpf_map_lookup_elem(&policies, &policy);
	struct srpol_limit *l = NULL;
	__u64 now, least, was, at;
	__s64 most = 0;
	__u32 i;

	if (p) {
		policy = p->color;
		l = bpf_map_lookup_elem(&limits, &policy);
	}
	if (!l || !l->rate)
		return SRPOL_LIMIT_NOW;
	now = bpf_ktime_get_ns() << SRPOL_LIMIT_SHIFT;
	least = now - l->burst;
	if (wait)
		most = l->horizon;
	for (i = 0; i < SRPOL_LIMIT_TRIES; i++) {
		was = READ_ONCE(l->next);
		at = (__s64)(was - least) > 0 ? was : least;
		if ((__s64)(at - now) > most) {
			__sync_fetch_and_add(&l->dropped, 1);
			return SRPOL_LIMIT_DROP;
		}
		if (__sync_val_compare_and_swap(&l->next, was, at +
				len * SRPOL_LIMIT_BYTE / l->rate) == was)
			break;
	}
	if (i == SRPOL_LIMIT_TRIES)
		at = __sync_fetch_and_add(&l->next, len * SRPOL_LIMIT_BYTE /
					  l->rate);
	if (!wait || (__s64)(at - now) <= 0)
		return SRPOL_LIMIT_NOW;
	__sync_fetch_and_add(&l->delayed, 1);
	return at >> SRPOL_LIMIT_SHIFT;
}

/**
 * srpol_limit_skb - have a packet keep to the limit of its color
 * @skb: packet
 * @d: what was decided about its flow
 * @len: its length, without what is put around it
 *
 * Return: whether it is to be dropped.
 */
static __noinline bool srpol_limit_skb(struct __sk_buff *skb,
				       const struct srpol_decision *d,
				       __u32 len)
{
	__u64 at = srpol_limit_take(d->cache.policy, len, true);

	if (at == SRPOL_LIMIT_DROP)
		return true;
	if (at == SRPOL_LIMIT_NOW)
		return false;
	/*
	 * A socket that paces itself may want it later still. Another clock's is
	 * the time of reception, at a host port.
	 */
	if (skb->tstamp_type != BPF_SKB_TSTAMP_DELIVERY_MONO ||
	    skb->tstamp < at)
		bpf_skb_set_tstamp(skb, at, BPF_SKB_TSTAMP_DELIVERY_MONO);
	return false;
}

/**
 * srpol_limit_xdp - the same for a packet that cannot wait
 * @d: what was decided about its flow
 * @len: its length
 *
 * Return: whether it is to be dropped.
 */
static __noinline bool srpol_limit_xdp(const struct srpol_decision *d,
				       __u32 len)
{
	return srpol_limit_take(d->cache.policy, len, false) == SRPOL_LIMIT_DROP;
}

#endif /* _SRPOL_LIMIT_H */
