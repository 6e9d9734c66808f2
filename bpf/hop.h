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

#endif /* _SRPOL_HOP_H */
