/* SPDX-License-Identifier: GPL-2.0 */
/* The packet inside: is it one, its ECN field, and how it is taken out. */
#ifndef _SRPOL_INNER_H
#define _SRPOL_INNER_H

#include "base.h"
#include "ecn.h"
#include "hop.h"
#include "parse.h"
#include "proto.h"
#include "words.h"

/* Of an ICMPv6 error: where the packet it quotes has its next header. */
#define SRPOL_QUOTED_NEXTHDR	(sizeof(struct icmp6hdr) + 6)

/*
 * What belongs to a link does not come through a tunnel: it would be taken for
 * that of a neighbor here, which has not gone a hop. Nor does an error about a
 * packet of a tunnel: those about ours come in clear, from routers of the
 * fabric, and take paths down; a tenant is not to forge them.
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

/*
 * Inner header: version and lengths; then the ECN field, and with @hop the hop
 * limit. @ecn gets what srpol_ecn_decap() said, @was_ce whether the mark was
 * there before.
 */
static __always_inline int srpol_inner_v6(struct ipv6hdr *ip6, __u32 room,
					  const void *end, __u8 outer_tc,
					  bool hop, __u8 *ecn, bool *was_ce)
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
	if ((*ecn ^ inner) & SRPOL_ECN_MASK)
		srpol_ecn_set_v6(ip6, *ecn & SRPOL_ECN_MASK);
	return 0;
}

static __always_inline int srpol_inner_v4(struct iphdr *ip, __u32 room,
					  const void *end, __u8 outer_tc,
					  bool hop, __u8 *ecn, bool *was_ce)
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
	if ((*ecn ^ ip->tos) & SRPOL_ECN_MASK)
		srpol_ecn_set_v4(ip, *ecn & SRPOL_ECN_MASK);
	return 0;
}

/* Cut @len bytes between the Ethernet header and what follows them. */
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
