/* SPDX-License-Identifier: GPL-2.0 */
/* The hop a router makes of a packet. */
#ifndef _SRPOL_HOP_H
#define _SRPOL_HOP_H

#include "base.h"

/* False, and nothing done, if the packet may not go on. */
static __always_inline bool srpol_hop_v4(struct iphdr *ip)
{
	__u32 sum = ip->check;

	if (ip->ttl <= 1)
		return false;
	ip->ttl--;
	/* RFC 1141: one less in the high byte of its word. */
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

/* The longest rewrite string. */
#define SRPOL_INNER_OFF_MASK	511

_Static_assert(SRPOL_REWRITE_MAX <= SRPOL_INNER_OFF_MASK, "mask");

/**
 * srpol_hop_inner - the hop of a packet that was encapsulated
 * @data: start of the frame
 * @end: end of its linear data
 * @is_v4: the packet inside is IPv4
 * @off: where it is
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
