/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Common to the ICMP errors at TC and at XDP: their rate limit, their length
 * and their checksum.
 */
#ifndef _SRPOL_ICMP_LIMIT_H
#define _SRPOL_ICMP_LIMIT_H

#include "base.h"
#include "proto.h"
#include "stats.h"

/*
 * RFC 4443 2.4 (f): the most errors per device and CPU in a window of 2^26 ns.
 * The limit is per device, so that one tenant cannot use up what others need.
 */
#define SRPOL_ICMP_BURST	64
#define SRPOL_ICMP_WINDOW_SHIFT	26
#define SRPOL_ICMP_DEVS		2048

/* RFC 4443 2.4 (c): how much of the packet is quoted at most. */
#define SRPOL_ICMP_QUOTE_V6	(IPV6_MTU_MIN - IPV6_HLEN - 8)

#define SRPOL_CSUM_CHUNK	32	/* the stack is nearly used up */

#define SRPOL_ICMP_TTL		64

struct srpol_icmp_budget {
	__u64 window;
	__u64 sent;
};

/* Answers to pings have a budget of their own, or they would use up that of errors. */
#define SRPOL_ICMP_ECHO		(1u << 31)

/* Key: ifindex, with SRPOL_ICMP_ECHO. An LRU map, as devices come and go. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_PERCPU_HASH);
	__uint(max_entries, SRPOL_ICMP_DEVS);
	__type(key, __u32);
	__type(value, struct srpol_icmp_budget);
} icmp_budget SEC(".maps");

struct srpol_icmp_v6 {
	struct ipv6hdr ip;
	struct icmp6hdr icmp;
};

/**
 * srpol_icmp_allowed - may another error be sent?
 * @ifindex: device whose packet the error is about, with SRPOL_ICMP_ECHO if it is
 *	the answer to a ping instead
 *
 * What may not be sent is counted.
 */
static __noinline int srpol_icmp_allowed(__u32 ifindex)
{
	__u64 window = bpf_ktime_get_coarse_ns() >> SRPOL_ICMP_WINDOW_SHIFT;
	struct srpol_icmp_budget first = { .window = window, .sent = 1 };
	struct srpol_icmp_budget *b;

	b = bpf_map_lookup_elem(&icmp_budget, &ifindex);
	if (!b) {
		bpf_map_update_elem(&icmp_budget, &ifindex, &first,
				    BPF_NOEXIST);
		return 1;
	}
	if (b->window != window) {
		b->window = window;
		b->sent = 0;
	}
	if (b->sent++ < SRPOL_ICMP_BURST)
		return 1;
	srpol_count_rare(SRPOL_REASON_ICMP_LIMITED);
	return 0;
}

static __always_inline __u32 srpol_csum_add(__u32 a, __u32 b)
{
	a += b;
	return a + (a < b);
}

static __always_inline __u16 srpol_csum_fold(__u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

#endif /* _SRPOL_ICMP_LIMIT_H */
