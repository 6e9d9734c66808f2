/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SRv6 endpoint: End, End.DT6, End.DT4, End.DT46 (RFC 8986 4) at XDP, with
 * strict checks: what is not exactly right is dropped and counted by name.
 */
#ifndef _SRPOL_DECAP_H
#define _SRPOL_DECAP_H

/* End SIDs of this node one packet may visit in a row. */
#define SRPOL_END_CHAIN		4

/* Counters of one SID: dropped, or processed. */
static __always_inline int srpol_sid_drop(__u32 id, __u32 reason)
{
	struct srpol_sid_stats *s = bpf_map_lookup_elem(&sid_stats, &id);

	if (s)
		s->dropped++;
	srpol_count(reason);
	return XDP_DROP;
}

static __always_inline void srpol_sid_account(__u32 id, __u32 bytes,
					      bool no_srh, bool ce)
{
	struct srpol_sid_stats *s = bpf_map_lookup_elem(&sid_stats, &id);

	if (!s)
		return;
	s->packets++;
	s->bytes += bytes;
	s->no_srh += no_srh;
	s->ce += ce;
}

static __always_inline bool srpol_is_ext_header(__u8 nh)
{
	switch (nh) {
	case NEXTHDR_HOP:
	case NEXTHDR_FRAGMENT:
	case NEXTHDR_AUTH:
	case NEXTHDR_DEST:
	case NEXTHDR_MOBILITY:
	case NEXTHDR_HIP:
	case NEXTHDR_SHIM6:
		return true;
	default:
		return false;
	}
}

static __always_inline bool srpol_behavior_takes(__u32 behavior, __u8 nh)
{
	if (nh == NEXTHDR_IPV6)
		return behavior == SRPOL_BEHAVIOR_END_DT6 ||
		       behavior == SRPOL_BEHAVIOR_END_DT46;
	return nh == NEXTHDR_IPV4 &&
	       (behavior == SRPOL_BEHAVIOR_END_DT4 ||
		behavior == SRPOL_BEHAVIOR_END_DT46);
}

/**
 * srpol_srh_check - is a routing header an SRH one can work with?
 * @srh: routing header
 * @room: bytes of the packet from there on
 * @end: end of the linear data
 *
 * RFC 8754 2 and 4.3.1.1; an SRH without any segment is refused too.
 *
 * Return: 0 or the enum srpol_reason to drop the packet for.
 */
static __always_inline int srpol_srh_check(const struct ipv6_sr_hdr *srh,
					   __u32 room, const void *end)
{
	if (room < SRH_HLEN)
		return SRPOL_REASON_TRUNCATED;
	if ((const void *)(srh + 1) > end)
		return SRPOL_REASON_NO_HEADROOM;
	if (srh->type != SRH_TYPE)
		return SRPOL_REASON_BAD_ROUTING_TYPE;
	if ((srh->hdrlen + 1) * 8 > room)
		return SRPOL_REASON_TRUNCATED;
	/* The last entry that fits; -1 if there is no segment at all. */
	if (srh->first_segment > srh->hdrlen / 2 - 1)
		return SRPOL_REASON_BAD_HDRLEN;
	if (srh->segments_left > srh->first_segment + 1)
		return SRPOL_REASON_BAD_SEGMENTS_LEFT;
	return 0;
}

/* Element @i of the segment list; the verifier is told that it is a byte. */
static __always_inline struct in6_addr *srpol_srh_segment(void *srh, __u32 i)
{
	barrier_var(i);
	i &= 0xff;
	return srh + SRH_HLEN + i * sizeof(struct in6_addr);
}

/*
 * Inner header: version and lengths; then the ECN field. @ecn gets what
 * srpol_ecn_decap() said, @was_ce whether the mark was there before.
 */
static __always_inline int srpol_inner_v6(struct ipv6hdr *ip6, __u32 room,
					  const void *end, __u8 outer_tc,
					  __u8 *ecn, bool *was_ce)
{
	__u8 inner;

	if (room < sizeof(*ip6))
		return SRPOL_REASON_BAD_INNER;
	if ((void *)(ip6 + 1) > end)
		return SRPOL_REASON_NO_HEADROOM;
	if (ip6->version != 6 ||
	    bpf_ntohs(ip6->payload_len) + sizeof(*ip6) > room)
		return SRPOL_REASON_BAD_INNER;

	inner = ((__u8 *)ip6)[1] >> 4;
	*was_ce = (inner & SRPOL_ECN_MASK) == SRPOL_CE;
	*ecn = srpol_ecn_decap(inner, outer_tc);
	if (*ecn & SRPOL_ECN_DROP)
		return SRPOL_REASON_ECN_DROP;
	if ((*ecn ^ inner) & SRPOL_ECN_MASK)
		srpol_ecn_set_v6(ip6, *ecn & SRPOL_ECN_MASK);
	return 0;
}

static __always_inline int srpol_inner_v4(struct iphdr *ip, __u32 room,
					  const void *end, __u8 outer_tc,
					  __u8 *ecn, bool *was_ce)
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

	*was_ce = (ip->tos & SRPOL_ECN_MASK) == SRPOL_CE;
	*ecn = srpol_ecn_decap(ip->tos, outer_tc);
	if (*ecn & SRPOL_ECN_DROP)
		return SRPOL_REASON_ECN_DROP;
	if ((*ecn ^ ip->tos) & SRPOL_ECN_MASK)
		srpol_ecn_set_v4(ip, *ecn & SRPOL_ECN_MASK);
	return 0;
}

/* Cut @len bytes between the Ethernet header and what follows them. */
static __always_inline int srpol_pop(struct xdp_md *ctx, __u32 len, __be16 proto)
{
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct ethhdr keep;

	if ((void *)(eth + 1) > (void *)(long)ctx->data_end)
		return SRPOL_REASON_NO_HEADROOM;
	keep = *eth;
	keep.h_proto = proto;
	if (bpf_xdp_adjust_head(ctx, len))
		return SRPOL_REASON_NO_HEADROOM;
	eth = (void *)(long)ctx->data;
	if ((void *)(eth + 1) > (void *)(long)ctx->data_end)
		return SRPOL_REASON_NO_HEADROOM;
	*eth = keep;
	return 0;
}

/**
 * srpol_endpoint - process a packet whose destination is a local SID
 * @ctx: packet
 * @ip6: its IPv6 header, known to be linear
 * @sid: the SID
 *
 * The inner DSCP is kept (pipe model, RFC 2983); the inner hop limit is left
 * to whoever forwards the packet.
 *
 * Return: XDP verdict.
 */
static __always_inline int srpol_endpoint(struct xdp_md *ctx,
					  struct ipv6hdr *ip6,
					  const struct srpol_sid *sid)
{
	void *end = (void *)(long)ctx->data_end;
	struct ipv6_sr_hdr *srh = NULL;
	__u32 id = sid->id, behavior = sid->behavior;
	__u32 payload = bpf_ntohs(ip6->payload_len);
	__u32 bytes = payload + sizeof(*ip6);
	__u32 srh_len = 0, sl = 0;
	__u8 outer_tc, ecn, nh;
	const struct srpol_sid *next;
	struct in6_addr *seg;
	bool was_ce;
	void *inner;
	int err, i;

	if (ip6->version != 6)
		return srpol_sid_drop(id, SRPOL_REASON_BAD_OUTER);
	if (payload > end - (void *)(ip6 + 1) &&
	    bytes + ETH_HLEN > bpf_xdp_get_buff_len(ctx))
		return srpol_sid_drop(id, SRPOL_REASON_TRUNCATED);

	nh = ip6->nexthdr;
	if (nh == NEXTHDR_ROUTING) {
		srh = (void *)(ip6 + 1);
		err = srpol_srh_check(srh, payload, end);
		if (err)
			return srpol_sid_drop(id, err);
		/* Checked above; the verifier wants to see it here. */
		if ((void *)(srh + 1) > end)
			return srpol_sid_drop(id, SRPOL_REASON_NO_HEADROOM);
		nh = srh->nexthdr;
		sl = srh->segments_left;
		srh_len = (srh->hdrlen + 1) * 8;
		if (nh == NEXTHDR_ROUTING)
			return srpol_sid_drop(id, SRPOL_REASON_NESTED_SRH);
	} else if (srpol_is_ext_header(nh)) {
		return srpol_sid_drop(id, SRPOL_REASON_EXT_HEADER);
	}

	for (i = 0; behavior == SRPOL_BEHAVIOR_END; i++) {
		if (!srh)
			return srpol_sid_drop(id, SRPOL_REASON_UPPER_LAYER);
		if (!sl)
			return srpol_sid_drop(id,
					      SRPOL_REASON_NO_SEGMENTS_LEFT);
		if (i == SRPOL_END_CHAIN)
			return srpol_sid_drop(id, SRPOL_REASON_SID_LOOP);
		if (ip6->hop_limit <= 1)
			return srpol_sid_drop(id, SRPOL_REASON_HOP_LIMIT);
		sl--;
		seg = srpol_srh_segment(srh, sl);
		if ((void *)(seg + 1) > end)
			return srpol_sid_drop(id, SRPOL_REASON_NO_HEADROOM);
		srh->segments_left = sl;
		srpol_copy_addr(&ip6->daddr, seg);
		srpol_sid_account(id, bytes, false, false);
		srpol_count(SRPOL_REASON_END);

		next = bpf_map_lookup_elem(&sids, &ip6->daddr);
		if (!next)
			return XDP_PASS;	/* the kernel forwards it */
		ip6->hop_limit--;
		id = next->id;
		behavior = next->behavior;
	}

	if (sl)
		return srpol_sid_drop(id, SRPOL_REASON_SEGMENTS_LEFT);
	if (srpol_is_ext_header(nh))
		return srpol_sid_drop(id, SRPOL_REASON_EXT_HEADER);
	if (!srpol_behavior_takes(behavior, nh))
		return srpol_sid_drop(id, SRPOL_REASON_UPPER_LAYER);

	outer_tc = bpf_ntohs(*(__be16 *)ip6) >> 4;
	inner = (void *)(ip6 + 1) + srh_len;
	if (nh == NEXTHDR_IPV6)
		err = srpol_inner_v6(inner, payload - srh_len, end, outer_tc,
				     &ecn, &was_ce);
	else
		err = srpol_inner_v4(inner, payload - srh_len, end, outer_tc,
				     &ecn, &was_ce);
	if (!err)
		err = srpol_pop(ctx, sizeof(*ip6) + srh_len,
				nh == NEXTHDR_IPV6 ? bpf_htons(ETH_P_IPV6) :
						     bpf_htons(ETH_P_IP));
	if (err)
		return srpol_sid_drop(id, err);

	was_ce = !was_ce && (ecn & SRPOL_ECN_MASK) == SRPOL_CE;
	srpol_sid_account(id, bytes, !srh, was_ce);
	srpol_count(SRPOL_REASON_DECAP);
	if (was_ce)
		srpol_count(SRPOL_REASON_ECN_CE);
	if (ecn & SRPOL_ECN_ODD)
		srpol_count(SRPOL_REASON_ECN_ODD);
	return XDP_PASS;
}

#endif /* _SRPOL_DECAP_H */
