/* SPDX-License-Identifier: GPL-2.0 */
/* H.Encaps: put the outer header of a path around a packet. */
#ifndef _SRPOL_ENCAP_H
#define _SRPOL_ENCAP_H

#define SRPOL_ENCAP_MAX		(SRPOL_REWRITE_MAX - ETH_HLEN)
#define SRPOL_LABEL_MIX		0x85ebca6bu	/* odd, well mixed */
#define SRPOL_NH_OFF_IPV6	(ETH_HLEN + 6)
#define SRPOL_NH_OFF_SRH	(ETH_HLEN + IPV6_HLEN)

/*
 * FIXED_GSO: every segment gets the outer header on top of gso_size, which the
 * MTU check has accounted for, so super-packets stay whole.
 */
#define SRPOL_ENCAP_FLAGS						\
	(BPF_F_ADJ_ROOM_ENCAP_L3_IPV6 | BPF_F_ADJ_ROOM_FIXED_GSO |	\
	 BPF_F_ADJ_ROOM_NO_CSUM_RESET)

/* Entropy for the underlay. */
static __always_inline __u32 srpol_label_from_hash(__u32 hash)
{
	__u32 label = hash >> 12;

	return label ? label : 1;
}

/**
 * srpol_outer_label - outer flow label, RFC 6437
 * @cfg: settings
 * @pkt: inner packet
 * @flow: its flow
 */
static __always_inline __u32
srpol_outer_label(const struct srpol_dp_config *cfg,
		  const struct srpol_pkt *pkt, const struct srpol_flow *flow)
{
	switch (cfg->flow_label) {
	case SRPOL_FLOW_LABEL_ZERO:
		return 0;
	case SRPOL_FLOW_LABEL_HASH:
		return srpol_label_from_hash(flow->tuple_hash);
	case SRPOL_FLOW_LABEL_INHERIT:
		if (pkt->label)
			return pkt->label;
		break;
	}
	/* neither alone: flows of one path differ in few bits of @hash */
	return srpol_label_from_hash(srpol_rol(flow->tuple_hash, 16) +
				     flow->hash * SRPOL_LABEL_MIX);
}

/**
 * srpol_outer_tclass - outer traffic class
 * @cfg: settings
 * @inner: inner TOS or traffic class
 *
 * ECN is copied always (RFC 6040 4.1 normal mode, CE included); the DSCP is
 * copied or set by configuration.
 */
static __always_inline __u8
srpol_outer_tclass(const struct srpol_dp_config *cfg, __u8 inner)
{
	if (cfg->dscp_mode == SRPOL_DSCP_MODE_PIPE)
		return cfg->dscp << 2 | (inner & SRPOL_ECN_MASK);
	return inner;
}

/**
 * srpol_encap_fits - would the packet, or each of its segments, fit?
 * @skb: packet
 * @pkt: the same, parsed
 * @cfg: path
 */
static __always_inline bool srpol_encap_fits(const struct __sk_buff *skb,
					     const struct srpol_pkt *pkt,
					     const struct srpol_path_cfg *cfg)
{
	__u32 len = pkt->len;

	if (skb->gso_size)
		len = pkt->hdr_len + skb->gso_size;
	return len + cfg->encap_len <= cfg->mtu;
}

/**
 * srpol_push - encapsulate
 * @skb: packet
 * @pkt: the same, parsed
 * @cfg: path
 * @tclass: outer traffic class
 * @label: outer flow label
 *
 * VLAN tags are part of the link layer the packet leaves behind and go with
 * it; the path's device adds its own where it has one.
 *
 * Return: 0, or the enum srpol_reason of the failure.
 */
static __always_inline int srpol_push(struct __sk_buff *skb,
				      const struct srpol_pkt *pkt,
				      const struct srpol_path_cfg *cfg,
				      __u8 tclass, __u32 label)
{
	__u32 encap_len = cfg->encap_len;
	__u32 payload, nh_off = cfg->nh_off;
	struct ipv6hdr *ip6;
	void *data, *end;
	__u8 *nh;
	long err;
	int i;

	if (encap_len < IPV6_HLEN || encap_len > SRPOL_ENCAP_MAX)
		return SRPOL_REASON_NO_ROOM;
	for (i = 0; i < 3 && i < pkt->tags; i++)
		if (bpf_skb_vlan_pop(skb))
			return SRPOL_REASON_NO_ROOM;

	err = bpf_skb_adjust_room(skb, encap_len, BPF_ADJ_ROOM_MAC,
				  SRPOL_ENCAP_FLAGS);
	if (err) {
		/*
		 * The kernel keeps state for one tunnel only, so VXLAN inside
		 * is let go; but not without the tags it had.
		 */
		if ((err == -EALREADY || err == -ENOTSUPP) && !pkt->tags)
			return SRPOL_REASON_TUNNELED;
		return SRPOL_REASON_NO_ROOM;
	}
	if (bpf_skb_store_bytes(skb, 0, cfg->rewrite, ETH_HLEN + encap_len, 0))
		return SRPOL_REASON_NO_ROOM;

	data = (void *)(long)skb->data;
	end = (void *)(long)skb->data_end;
	ip6 = data + ETH_HLEN;
	if ((void *)(ip6 + 1) + 1 > end)
		return SRPOL_REASON_NO_ROOM;
	*(__be32 *)ip6 = bpf_htonl(6 << 28 | tclass << 20 | label);
	payload = encap_len - IPV6_HLEN + pkt->len;
	ip6->payload_len = payload > 0xffff ? 0 : bpf_htons(payload);
	nh = nh_off == SRPOL_NH_OFF_SRH ? data + SRPOL_NH_OFF_SRH :
					  data + SRPOL_NH_OFF_IPV6;
	*nh = pkt->is_v4 ? NEXTHDR_IPV4 : NEXTHDR_IPV6;
	return 0;
}

#endif /* _SRPOL_ENCAP_H */
