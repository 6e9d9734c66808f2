/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pings of a local SID. RFC 8986 4.1.1 lets a node process upper-layer headers
 * that its configuration allows, and RFC 9259 expects that a SID can be pinged;
 * it is the first thing that is done to a new one. ICMPv6 echo requests are
 * answered where ICMPv6 errors would be sent otherwise, under the same conditions
 * and with as large a budget.
 */
#ifndef _SRPOL_ECHO_H
#define _SRPOL_ECHO_H

#include "base.h"
#include "ecn.h"
#include "frame.h"
#include "handoff.h"
#include "icmp_limit.h"
#include "icmp_xdp.h"
#include "mac.h"
#include "proto.h"
#include "sid_ctx.h"
#include "stats.h"
#include "words.h"

#define SRPOL_ECHO_REQUEST	128
#define SRPOL_ECHO_REPLY	129
#define SRPOL_ECHO_ECN		bpf_htonl(SRPOL_ECN_MASK << 20)

/* Is the upper layer, at @off in the frame, an echo request? */
static __always_inline bool srpol_echo_is(struct xdp_md *ctx, __u8 nh,
					  __u32 off)
{
	__u16 start;

	return nh == NEXTHDR_ICMP &&
	       !bpf_xdp_load_bytes(ctx, off, &start, sizeof(start)) &&
	       start == bpf_htons(SRPOL_ICMP_ERROR(SRPOL_ECHO_REQUEST, 0));
}

/*
 * The type has changed by one, and neither the data nor the sum of the
 * addresses: RFC 1624. A request whose checksum was wrong has a reply whose
 * checksum is wrong.
 */
static __always_inline __u16 srpol_echo_sum(__u16 sum)
{
	__u32 s = (__u16)~sum;

	s += bpf_htons(SRPOL_ICMP_ERROR(SRPOL_ECHO_REPLY - SRPOL_ECHO_REQUEST,
					0));
	return srpol_csum_fold(s);
}

/**
 * srpol_echo - turn an echo request to a local SID into its reply
 * @ctx: packet, its outer header in place
 * @srh_len: bytes of its SRH, which the reply has not; 0 without one
 *
 * Global, so that the verifier checks it once.
 *
 * Return: XDP verdict, XDP_DROP if it may not be answered.
 */
__noinline int srpol_echo(struct xdp_md *ctx, __u32 srh_len)
{
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct ipv6hdr *ip6 = (void *)(eth + 1);
	struct icmp6hdr *icmp;
	struct srpol_macs macs;
	struct ipv6hdr reply;
	__u32 len, behind;

	if ((void *)(ip6 + 1) > end)
		return XDP_DROP;
	len = bpf_ntohs(ip6->payload_len);
	srh_len &= SRPOL_SRH_LEN_MASK;
	/* what is behind the packet is no part of it, nor of the reply */
	behind = srpol_frame_len(ctx) - ETH_HLEN - sizeof(*ip6) - len;
	if (len < srh_len + sizeof(*icmp) ||
	    (void *)(ip6 + 1) + srh_len + sizeof(*icmp) > end ||
	    !srpol_frame_can_cut(ctx, behind) ||
	    !srpol_icmp_xdp_allowed(ctx, ip6, end, SRPOL_ICMP_ECHO))
		return XDP_DROP;
	macs = srpol_macs_load(eth);
	/* congestion on the way here says nothing about the way back */
	*(__be32 *)&reply = *(__be32 *)ip6 & ~SRPOL_ECHO_ECN;
	reply.payload_len = bpf_htons(len - srh_len);
	reply.nexthdr = NEXTHDR_ICMP;
	reply.hop_limit = SRPOL_ICMP_TTL;
	srpol_copy_addr(&reply.saddr, &ip6->daddr);
	srpol_copy_addr(&reply.daddr, &ip6->saddr);
	if ((behind && bpf_xdp_adjust_tail(ctx, -(int)behind)) ||
	    bpf_xdp_adjust_head(ctx, srh_len))
		return XDP_DROP;
	eth = (void *)(long)ctx->data;
	ip6 = (void *)(eth + 1);
	icmp = (void *)(ip6 + 1);
	if ((void *)(icmp + 1) > (void *)(long)ctx->data_end)
		return XDP_DROP;
	srpol_macs_store(eth, srpol_macs_swap(macs));
	eth->h_proto = bpf_htons(ETH_P_IPV6);
	*ip6 = reply;
	icmp->icmp6_type = SRPOL_ECHO_REPLY;
	icmp->icmp6_cksum = srpol_echo_sum(icmp->icmp6_cksum);
	srpol_count_rare(SRPOL_REASON_ECHO);
	return srpol_send_by(ctx, ctx->ingress_ifindex);
}

#endif /* _SRPOL_ECHO_H */
