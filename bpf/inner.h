/* SPDX-License-Identifier: GPL-2.0 */
/* The inner packet: checks, its ECN and DSCP, and how it is taken out. */
#ifndef _SRPOL_INNER_H
#define _SRPOL_INNER_H

#include "base.h"
#include "ecn.h"
#include "hop.h"
#include "parse.h"
#include "proto.h"
#include "words.h"

/*
 * Offset in an ICMPv6 error of the next header field of the packet that it
 * quotes.
 */
#define SRPOL_QUOTED_NEXTHDR	(sizeof(struct icmp6hdr) + 6)

/*
 * Link-local traffic must not come through a tunnel: it would be taken for that
 * of a neighbor here, since it has not been forwarded. Nor must an ICMPv6 error
 * about a tunnel packet: routers of the fabric send those about our packets
 * without encapsulation, and they take paths down, so that no tenant may forge
 * them.
 */
static __always_inline int srpol_inner_scope_v6(struct ipv6hdr *ip6,
						const void *end)
{
	__u8 *icmp = (__u8 *)(ip6 + 1);

	if (srpol_v6_link_scope(&ip6->daddr) ||
	    srpol_v6_link_scope(&ip6->saddr))
		return SRPOL_REASON_INNER_SCOPE;
	if (ip6->nexthdr != NEXTHDR_ICMP)
		return 0;
	if ((void *)(icmp + 1) > end ||
	    (*icmp >= NDISC_TYPE_MIN && *icmp <= NDISC_TYPE_MAX))
		return SRPOL_REASON_INNER_SCOPE;
	if (*icmp >= ICMPV6_INFO_MIN)
		return 0;
	if ((void *)(icmp + SRPOL_QUOTED_NEXTHDR + 1) > end ||
	    srpol_is_tunnel(icmp[SRPOL_QUOTED_NEXTHDR]))
		return SRPOL_REASON_INNER_ERROR;
	return 0;
}

/* The inner TOS or traffic class with the outer DSCP, RFC 2983 uniform model. */
static __always_inline __u8 srpol_inner_uniform(__u8 outer_tc, __u8 ecn)
{
	return (outer_tc & ~SRPOL_ECN_MASK) | (ecn & SRPOL_ECN_MASK);
}

/*
 * Check version and lengths of the inner header, set its ECN field, with
 * @uniform its DSCP, too, and with @hop decrement its hop limit. @ecn is set to
 * what srpol_ecn_decap() returned, @was_ce to whether the inner packet was marked
 * before. Return: 0 or the enum srpol_reason to drop the packet for.
 */
static __always_inline int srpol_inner_v6(struct ipv6hdr *ip6, __u32 room,
					  const void *end, __u8 outer_tc,
					  bool uniform, bool hop, __u8 *ecn,
					  bool *was_ce)
{
	__u8 inner;
	int err;

	if (room < sizeof(*ip6))
		return SRPOL_REASON_BAD_INNER;
	if ((void *)(ip6 + 1) > end)
		return SRPOL_REASON_NO_HEADROOM;
	if (ip6->version != 6 ||
	    bpf_ntohs(ip6->payload_len) + sizeof(*ip6) > room)
		return SRPOL_REASON_BAD_INNER;

	err = srpol_inner_scope_v6(ip6, end);
	if (err)
		return err;
	inner = ((__u8 *)ip6)[1] >> 4;
	*was_ce = (inner & SRPOL_ECN_MASK) == SRPOL_CE;
	*ecn = srpol_ecn_decap(inner, outer_tc);
	if (*ecn & SRPOL_ECN_DROP)
		return SRPOL_REASON_ECN_DROP;
	if (hop && !srpol_hop_v6(ip6))
		return SRPOL_REASON_HOP_LIMIT;
	if (uniform)
		srpol_tc_set_v6(ip6, srpol_inner_uniform(outer_tc, *ecn));
	else if ((*ecn ^ inner) & SRPOL_ECN_MASK)
		srpol_ecn_set_v6(ip6, *ecn & SRPOL_ECN_MASK);
	return 0;
}

static __always_inline int srpol_inner_v4(struct iphdr *ip, __u32 room,
					  const void *end, __u8 outer_tc,
					  bool uniform, bool hop, __u8 *ecn,
					  bool *was_ce)
{
	__u32 len, ihl;

	if (room < sizeof(*ip))
		return SRPOL_REASON_BAD_INNER;
	if ((void *)(ip + 1) > end)
		return SRPOL_REASON_NO_HEADROOM;
	ihl = ip->ihl * 4;
	len = bpf_ntohs(ip->tot_len);
	if (ip->version != 4 || ihl < sizeof(*ip) || len < ihl || len > room)
		return SRPOL_REASON_BAD_INNER;
	if (srpol_v4_link_scope(ip->daddr) || srpol_v4_link_scope(ip->saddr))
		return SRPOL_REASON_INNER_SCOPE;

	*was_ce = (ip->tos & SRPOL_ECN_MASK) == SRPOL_CE;
	*ecn = srpol_ecn_decap(ip->tos, outer_tc);
	if (*ecn & SRPOL_ECN_DROP)
		return SRPOL_REASON_ECN_DROP;
	if (hop && !srpol_hop_v4(ip))
		return SRPOL_REASON_HOP_LIMIT;
	if (uniform)
		srpol_tos_set_v4(ip, srpol_inner_uniform(outer_tc, *ecn));
	else if ((*ecn ^ ip->tos) & SRPOL_ECN_MASK)
		srpol_tos_set_v4(ip, (ip->tos & ~SRPOL_ECN_MASK) |
				     (*ecn & SRPOL_ECN_MASK));
	return 0;
}

/* Remove the @len bytes that follow the Ethernet header. */
static __always_inline int srpol_pop(struct xdp_md *ctx, __u32 len,
				     __be16 proto)
{
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct srpol_macs macs;

	if ((void *)(eth + 1) > (void *)(long)ctx->data_end)
		return SRPOL_REASON_NO_HEADROOM;
	macs = srpol_macs_load(eth);
	if (bpf_xdp_adjust_head(ctx, len))
		return SRPOL_REASON_NO_HEADROOM;
	eth = (void *)(long)ctx->data;
	if ((void *)(eth + 1) > (void *)(long)ctx->data_end)
		return SRPOL_REASON_NO_HEADROOM;
	srpol_macs_store(eth, macs);
	eth->h_proto = proto;
	return 0;
}

#endif /* _SRPOL_INNER_H */
