/* SPDX-License-Identifier: GPL-2.0 */
/* What a router does to each packet: decrement its TTL or hop limit. */
#ifndef _SRPOL_HOP_H
#define _SRPOL_HOP_H

#include "base.h"

/* Return: false, with nothing changed, if the packet has no hop left. */
static __always_inline bool srpol_hop_v4(struct iphdr *ip)
{
	__u32 sum = ip->check;

	if (ip->ttl <= 1)
		return false;
	ip->ttl--;
	/*
	 * RFC 1141: the high byte of the word is one less, so the checksum
	 * grows.
	 */
	sum += bpf_htons(0x0100);
	ip->check = sum + (sum >= 0xffff);
	return true;
}

static __always_inline bool srpol_hop_v6(struct ipv6hdr *ip6)
{
	if (ip6->hop_limit <= 1)
		return false;
	ip6->hop_limit--;
	return true;
}

/*
 * Not less than the longest rewrite string, and bounds @off for the verifier.
 */
#define SRPOL_INNER_OFF_MASK	511

_Static_assert(SRPOL_REWRITE_MAX <= SRPOL_INNER_OFF_MASK, "mask");

/**
 * srpol_hop_inner - decrement the hop limit of a packet that was encapsulated
 * @data: start of the frame
 * @end: end of its linear data
 * @is_v4: the inner packet is IPv4
 * @off: offset of the inner packet
 *
 * Return: 0 or SRPOL_REASON_NO_ROOM.
 */
static __always_inline int srpol_hop_inner(void *data, void *end, bool is_v4,
					   __u32 off)
{
	void *l3;

	barrier_var(off);
	l3 = data + (off & SRPOL_INNER_OFF_MASK);
	if (is_v4) {
		if (l3 + sizeof(struct iphdr) > end)
			return SRPOL_REASON_NO_ROOM;
		srpol_hop_v4(l3);
	} else {
		if (l3 + sizeof(struct ipv6hdr) > end)
			return SRPOL_REASON_NO_ROOM;
		srpol_hop_v6(l3);
	}
	return 0;
}

#endif /* _SRPOL_HOP_H */
