/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits on what this host may send in a color, all of its policies together.
 * User space fills the maps. If packets can wait at the device for their
 * departure time (EDT, qdisc fq), TC sets that time. Otherwise, and in XDP,
 * which bypasses all queues, packets above the limit are dropped.
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
#define SRPOL_LIMIT_LEN_MAX	(1u << 26)
#define SRPOL_LIMIT_NOW		0ull
#define SRPOL_LIMIT_DROP	(~0ull)

/* Time that one byte takes at 1 bit/s, in the unit of struct srpol_limit. */
#define SRPOL_LIMIT_BYTE	(8 * (SRPOL_NS_PER_SEC << SRPOL_LIMIT_SHIFT))

/* A key that is not on the stack, which is used up. */
const volatile __u32 srpol_limit_key = 0;

/*
 * Does any color have a limit? This is all that packets without a limit pay
 * for.
 */
static __always_inline bool srpol_limit_any(void)
{
	__u32 *n = bpf_map_lookup_elem(&limit_count,
				       (void *)&srpol_limit_key);

	return n && *n;
}

/*
 * When may a packet leave? @wait: it can wait for its time. CPUs take turns by
 * compare-and-exchange of @next; one that has lost SRPOL_LIMIT_TRIES times adds
 * to @next whatever it is. Return: SRPOL_LIMIT_NOW, SRPOL_LIMIT_DROP, or the
 * time of CLOCK_MONOTONIC.
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
 * srpol_limit_skb - apply the limit of its color to a packet
 * @skb: packet
 * @policy: policy that it is steered by
 * @len: its length in bytes, without outer headers
 * @hdr_len: those of them that each segment has, if it is a super-packet
 *
 * Global, so that the verifier checks it once.
 *
 * Return: true if the packet is to be dropped.
 */
__noinline bool srpol_limit_skb(struct __sk_buff *skb, __u32 policy, __u32 len,
				__u32 hdr_len)
{
	__u32 size = skb->gso_size;
	__u64 at;

	if (size && len > hdr_len)
		len += (len - hdr_len - 1) / size * hdr_len;
	/* otherwise its time may not fit 64 bits */
	if (len > SRPOL_LIMIT_LEN_MAX)
		len = SRPOL_LIMIT_LEN_MAX;
	at = srpol_limit_take(policy, len, true);
	if (at == SRPOL_LIMIT_DROP)
		return true;
	if (at == SRPOL_LIMIT_NOW)
		return false;
	/*
	 * A socket that paces itself may want the packet to leave later still.
	 * A timestamp of another type is the time of reception, at a host port.
	 */
	if (skb->tstamp_type != BPF_SKB_TSTAMP_DELIVERY_MONO ||
	    skb->tstamp < at)
		bpf_skb_set_tstamp(skb, at, BPF_SKB_TSTAMP_DELIVERY_MONO);
	return false;
}

/**
 * srpol_limit_xdp - apply the limit to a packet that cannot wait
 * @policy: policy that it is steered by
 * @len: its length in bytes
 *
 * Return: true if the packet is to be dropped.
 */
__noinline bool srpol_limit_xdp(__u32 policy, __u32 len)
{
	return srpol_limit_take(policy, len, false) == SRPOL_LIMIT_DROP;
}

#endif /* _SRPOL_LIMIT_H */
