/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ICMPv6 errors about packets for a local SID, RFC 8986 4.
 *
 * The packet is turned into the error and leaves by the device that it came in
 * by, to the router that it came from, which knows the way back. That takes
 * neither an skb, nor the module, nor a neighbor entry. The error is redirected
 * and not sent by XDP_TX, which gets stuck on veth unless the other end has an
 * XDP program, too.
 */
#ifndef _SRPOL_ICMP_XDP_H
#define _SRPOL_ICMP_XDP_H

#include "base.h"
#include "fib.h"
#include "frame.h"
#include "handoff.h"
#include "icmp_limit.h"
#include "mac.h"
#include "parse.h"
#include "proto.h"
#include "sid.h"
#include "srh.h"
#include "state.h"
#include "stats.h"
#include "words.h"

/* Type and code of an error, as in its first two bytes. */
#define SRPOL_ICMP_ERROR(type, code)	((type) << 8 | (code))
#define SRPOL_ICMP_TOO_BIG	SRPOL_ICMP_ERROR(2, 0)
#define SRPOL_ICMP_HOP_LIMIT	SRPOL_ICMP_ERROR(3, 0)
#define SRPOL_ICMP_FIELD	SRPOL_ICMP_ERROR(4, 0)	/* erroneous field */
#define SRPOL_ICMP_UPPER_LAYER	SRPOL_ICMP_ERROR(4, 4)	/* RFC 8986 10.3 */

/* Pointers of Parameter Problems: to Segments Left, and to the routing type. */
#define SRPOL_ICMP_AT_SL						\
	(IPV6_HLEN + __builtin_offsetof(struct ipv6_sr_hdr, segments_left))
#define SRPOL_ICMP_AT_TYPE						\
	(IPV6_HLEN + __builtin_offsetof(struct ipv6_sr_hdr, type))

/*
 * Is the upper layer known, and not an ICMPv6 error itself? Extension headers
 * other than the SRH are not skipped.
 */
static __always_inline bool srpol_icmp_xdp_about(struct xdp_md *ctx,
						 const struct ipv6hdr *ip6,
						 const void *end)
{
	const struct ipv6_sr_hdr *srh = (const void *)(ip6 + 1);
	__u32 off = sizeof(*ip6);
	__u8 nh = ip6->nexthdr, type;

	if (nh == NEXTHDR_ROUTING) {
		if ((const void *)(srh + 1) > end)
			return false;
		nh = srh->nexthdr;
		off += (srh->hdrlen + 1) * 8;
	}
	if (nh == NEXTHDR_ROUTING || srpol_is_ext_header(nh))
		return false;
	if (nh != NEXTHDR_ICMP)
		return true;
	return !bpf_xdp_load_bytes(ctx, ETH_HLEN + off, &type, 1) &&
	       type >= ICMPV6_INFO_MIN;
}

/*
 * RFC 4443 2.4 (e); a sender outside the SR domain is told nothing; and neither is a
 * local SID, which sends nothing: the answer would come back here. @budget: 0 or
 * SRPOL_ICMP_ECHO. @ip6 is right behind the Ethernet header.
 */
static __always_inline bool srpol_icmp_xdp_allowed(struct xdp_md *ctx,
						   const struct ipv6hdr *ip6,
						   const void *end,
						   __u32 budget)
{
	const struct ethhdr *eth = (const void *)ip6 - sizeof(*eth);
	const __be32 *w = ip6->saddr.in6_u.u6_addr32;
	struct srpol_state *st = srpol_state_get();
	const struct srpol_dp_config *cfg;
	struct in6_addr from;
	__u32 gen;

	if (!st)
		return false;
	gen = srpol_now_read(st).gen;
	cfg = srpol_config(st, gen);
	/* the destination is a SID, so it is not multicast */
	if (!cfg->icmp_errors || srpol_v6_link_scope(&ip6->saddr) ||
	    eth->h_source[0] & 1 ||
	    (!(w[0] | w[1] | w[2]) && bpf_ntohl(w[3]) <= 1))
		return false;
	if (cfg->n_domain &&
	    !srpol_domain_has(cfg, cfg->n_domain, &ip6->saddr))
		return false;
	srpol_copy_addr(&from, &ip6->saddr);
	return srpol_icmp_xdp_about(ctx, ip6, end) &&
	       !srpol_sid_look_up(st, gen, &from) &&
	       srpol_icmp_allowed(ctx->ingress_ifindex | budget);
}

/*
 * RFC 4443 2.2: the source is the address that this host would send from. If
 * the kernel does not tell, as it does not forward, it is the SID, which is an
 * address of this host as well.
 */
static __noinline int srpol_icmp_xdp_source(struct xdp_md *ctx,
					    const struct ipv6hdr *ip6,
					    struct in6_addr *from)
{
	struct bpf_fib_lookup fib = {
		.family = SRPOL_AF_INET6,
		.ifindex = ctx->ingress_ifindex,
	};

	srpol_copy_addr(fib.ipv6_dst, &ip6->saddr);
	srpol_copy_addr(from, &ip6->daddr);
	if (!bpf_fib_lookup(ctx, &fib, sizeof(fib), BPF_FIB_LOOKUP_SRC |
			    BPF_FIB_LOOKUP_SKIP_NEIGH))
		srpol_copy_addr(from, fib.ipv6_src);
	return 0;
}

/*
 * Add the Internet checksum of @len bytes at @off to @sum. Return: whether it
 * is complete.
 */
static __always_inline bool srpol_icmp_xdp_sum(struct xdp_md *ctx, __u32 off,
					       __u32 len, __u32 *sum)
{
	__u32 buf[SRPOL_CSUM_CHUNK / 4], n;
	__s64 s;
	int i;

	bpf_for(i, 0, SRPOL_ICMP_QUOTE_V6 / SRPOL_CSUM_CHUNK + 1) {
		if (!len)
			break;
		n = len < SRPOL_CSUM_CHUNK ? len : SRPOL_CSUM_CHUNK;
		/*
		 * Hide the value: the verifier wants to see the checks on this
		 * register.
		 */
		barrier_var(n);
		if (!n || n > SRPOL_CSUM_CHUNK)
			return false;
		__builtin_memset(buf, 0, sizeof(buf));
		if (bpf_xdp_load_bytes(ctx, off, buf, n))
			return false;
		s = bpf_csum_diff(NULL, 0, buf, sizeof(buf), *sum);
		if (s < 0)
			return false;
		*sum = s;
		off += n;
		len -= n;
	}
	return !len;
}

/* Write the headers of an error in front of the @quote bytes that it quotes. */
__noinline int srpol_icmp_xdp_fill(struct xdp_md *ctx,
				   struct srpol_icmp_v6 *h __arg_nonnull,
				   __u32 what, __u32 value, __u32 quote)
{
	__u32 len = sizeof(h->icmp) + quote, sum;
	__s64 s;

	h->ip.version = 6;
	h->ip.payload_len = bpf_htons(len);
	h->ip.nexthdr = NEXTHDR_ICMP;
	h->ip.hop_limit = SRPOL_ICMP_TTL;
	h->icmp.icmp6_type = what >> 8;
	h->icmp.icmp6_code = what;
	h->icmp.icmp6_dataun.un_data32[0] = bpf_htonl(value);
	/* Pseudo-header and ICMP header: both addresses and all after them. */
	s = bpf_csum_diff(NULL, 0, (__be32 *)&h->ip.saddr,
			  32 + sizeof(h->icmp),
			  bpf_htons(len) + bpf_htons(NEXTHDR_ICMP));
	if (s < 0)
		return -1;
	sum = s;
	if (!srpol_icmp_xdp_sum(ctx, ETH_HLEN + sizeof(*h), quote, &sum))
		return -1;
	h->icmp.icmp6_cksum = srpol_csum_fold(sum);
	return bpf_xdp_store_bytes(ctx, ETH_HLEN, h, sizeof(*h));
}

/**
 * srpol_icmp_xdp - turn a packet into an ICMPv6 error about itself
 * @ctx: packet for a local SID, its outer header in place
 * @what: SRPOL_ICMP_*
 * @value: MTU or pointer
 *
 * Global, so that the verifier checks it once.
 *
 * Return: XDP verdict, XDP_DROP where there is no error to be sent.
 */
__noinline int srpol_icmp_xdp(struct xdp_md *ctx, __u32 what, __u32 value)
{
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct ipv6hdr *ip6 = (void *)(eth + 1);
	struct srpol_icmp_v6 h = {};
	struct srpol_macs macs;
	__u32 quote, len, cut;

	if ((void *)(ip6 + 1) > end)
		return XDP_DROP;
	len = bpf_xdp_get_buff_len(ctx);
	quote = bpf_ntohs(ip6->payload_len) + sizeof(*ip6);
	if (quote > SRPOL_ICMP_QUOTE_V6)
		quote = SRPOL_ICMP_QUOTE_V6;
	cut = len - ETH_HLEN - quote;
	if (ETH_HLEN + quote > len || srpol_frame_merged(ctx) ||
	    !srpol_frame_can_cut(ctx, cut) ||
	    !srpol_icmp_xdp_allowed(ctx, ip6, end, 0))
		return XDP_DROP;
	srpol_icmp_xdp_source(ctx, ip6, &h.ip.saddr);
	srpol_copy_addr(&h.ip.daddr, &ip6->saddr);
	macs = srpol_macs_load(eth);
	/* by 0 would be to grow, which drivers need not let fragments do */
	if ((cut && bpf_xdp_adjust_tail(ctx, -(int)cut)) ||
	    bpf_xdp_adjust_head(ctx, -(int)sizeof(h)) ||
	    srpol_icmp_xdp_fill(ctx, &h, what, value, quote))
		return XDP_DROP;
	eth = (void *)(long)ctx->data;
	if ((void *)(eth + 1) > (void *)(long)ctx->data_end)
		return XDP_DROP;
	srpol_macs_store(eth, srpol_macs_swap(macs));
	eth->h_proto = bpf_htons(ETH_P_IPV6);
	srpol_count_rare(SRPOL_REASON_ICMP_ENDPOINT);
	return srpol_send_by(ctx, ctx->ingress_ifindex);
}

#endif /* _SRPOL_ICMP_XDP_H */
