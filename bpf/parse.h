/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parsing, on the way out: find the fields of a packet that decide where it
 * goes.
 */
#ifndef _SRPOL_PARSE_H
#define _SRPOL_PARSE_H

#include "base.h"
#include "proto.h"
#include "words.h"

#define SRPOL_EXT_HEADERS_MAX	6
#define SRPOL_TAGS_MAX		4	/* in the frame */
#define SRPOL_PULL		256	/* bytes of headers made linear */
#define SRPOL_GSO_BY_FRAGS	0xffff	/* gso_size of an SCTP super-packet */

/**
 * struct srpol_meta - what the context tells about a packet beside its bytes
 * @is_skb: the context is @skb, else @xdp; a constant for the compiler
 * @skb: the packet
 * @xdp: the context; NULL for an skb. If set, @len is of the linear part only,
 *	and the frame is measured if its IP header says it is longer
 * @len: bytes of the frame
 * @ifindex: the uplink it leaves by, or the port it came in by
 * @mark: packet mark
 * @gso_size: segment size of a super-packet, else 0
 * @tagged: a VLAN tag is in the metadata
 * @vlan: id of that tag
 * @whole: no byte of the packet is behind what can be read
 */
struct srpol_meta {
	bool is_skb;
	struct __sk_buff *skb;
	struct xdp_md *xdp;
	__u32 len;
	__u32 ifindex;
	__u32 mark;
	__u32 gso_size;
	__u16 tagged;
	__u16 vlan;
	bool whole;
};

/**
 * struct srpol_pkt - the fields of a packet that is about to leave
 * @key: identity of its flow. Mark, P_Key, opcode class, DSCP, device, VLAN
 *	and cgroup are 0 until srpol_flow_identify() knows which of them matter
 * @l3_off: offset of the IP header
 * @len: length of the IP packet, without link-layer padding
 * @hdr_len: bytes before the transport payload, from the IP header; 0 if the
 *	transport has no segments
 * @label: flow label of an IPv6 packet, else 0
 * @ifindex: device, see struct srpol_meta
 * @mark: packet mark
 * @gso_size: segment size of a super-packet, else 0
 * @psn: word of the BTH with the PSN: BTH_ACK_REQ and 24 bits
 * @l4_off: offset of the transport header from the IP header
 * @dport: destination port, host order
 * @pkey: BTH P_Key, host order
 * @l3_proto: what the link layer says is inside
 * @vlan: id of the outermost VLAN tag that has one, 0 without
 * @is_v4: IPv4
 * @tclass: TOS or traffic class
 * @opcode: BTH opcode
 * @has_ports: @key.sport and @dport are set
 * @tags: VLAN tags, the one in the packet's metadata included
 * @fragment: it is a fragment, maybe the first one: its ports are ignored, so
 *	that all fragments of a datagram are of one flow
 * @later_fragment: a fragment without the transport header
 * @icmp_type: ICMP or ICMPv6 type, if @is_icmp
 * @is_icmp: ICMP over IPv4 or ICMPv6 over IPv6
 * @ttl: TTL or hop limit
 */
struct srpol_pkt {
	struct srpol_flow_key key;
	__u32 l3_off;
	__u32 len;
	__u32 hdr_len;
	__u32 label;
	__u32 ifindex;
	__u32 mark;
	__u32 gso_size;
	__u32 psn;
	__u32 l4_off;
	__u16 dport;
	__u16 pkey;
	__be16 l3_proto;
	__u16 vlan;
	__u8 is_v4;
	__u8 tclass;
	__u8 opcode;
	__u8 has_ports;
	__u8 tags;
	__u8 fragment;
	__u8 later_fragment;
	__u8 icmp_type;
	__u8 is_icmp;
	__u8 ttl;
} __attribute__((aligned(8)));

static __always_inline void srpol_copy_v4(__u8 *to, __be32 addr)
{
	__u32 *w = (__u32 *)to;

	w[0] = 0;
	w[1] = 0;
	w[2] = bpf_htonl(0xffff);
	w[3] = addr;
}

/* Addresses of link scope: such packets mean nothing beyond their link. */
static __always_inline bool srpol_v4_link_scope(__be32 addr)
{
	__u32 a = bpf_ntohl(addr);

	return (a >> 28) >= 0xe || (a >> 16) == 0xa9fe;
}

static __always_inline bool srpol_v6_link_scope(const struct in6_addr *addr)
{
	const __u8 *a = addr->in6_u.u6_addr8;

	return a[0] == 0xff || (a[0] == 0xfe && (a[1] & 0xc0) == 0x80);
}

/* IPv4 in an IPv6 address: no packet has it, but keys of IPv4 packets do. */
static __always_inline bool srpol_v6_mapped(const struct in6_addr *addr)
{
	const __u64 *w = (const __u64 *)addr;

	return !w[0] && (__u32)w[1] == bpf_htonl(0xffff);
}

/* Read the BTH, if there is a whole one: a shorter packet is ordinary UDP. */
static __always_inline int srpol_parse_bth(struct srpol_pkt *pkt, void *l4,
					   void *end, bool whole)
{
	struct srpol_bth *bth = l4 + sizeof(struct udphdr);

	if ((void *)(bth + 1) > end)
		return whole ? 0 : SRPOL_REASON_UNPARSED;
	pkt->key.roce = 1;
	pkt->key.qp = bpf_ntohl(bth->qp) & BTH_24_BITS;
	pkt->opcode = bth->opcode;
	pkt->psn = bpf_ntohl(bth->psn);
	pkt->pkey = bpf_ntohs(bth->pkey);
	return 0;
}

/**
 * srpol_parse_transport - read ports, destination QP or ICMP type
 * @pkt: result; key.proto, l4_off, fragment and later_fragment are set
 * @l4: transport header
 * @end: end of what can be read
 * @whole: no byte of the packet is behind @end, so that pulling more is useless
 *
 * Return: 0 or SRPOL_REASON_UNPARSED.
 */
static __always_inline int srpol_parse_transport(struct srpol_pkt *pkt,
						 void *l4, void *end,
						 bool whole)
{
	int shorter = whole ? 0 : SRPOL_REASON_UNPARSED;
	struct udphdr *udp;
	struct tcphdr *tcp;

	pkt->key.qp = 0;
	pkt->key.sport = 0;
	pkt->key.roce = 0;
	pkt->hdr_len = 0;
	pkt->dport = 0;
	pkt->pkey = 0;
	pkt->opcode = 0;
	pkt->has_ports = 0;
	pkt->icmp_type = 0;
	pkt->is_icmp = 0;
	if (pkt->fragment && (pkt->later_fragment ||
			      pkt->key.proto == IPPROTO_UDP ||
			      pkt->key.proto == IPPROTO_TCP))
		return 0;

	switch (pkt->key.proto) {
	case IPPROTO_UDP:
		udp = l4;
		if ((void *)(udp + 1) > end)
			return shorter;
		pkt->hdr_len = pkt->l4_off + sizeof(*udp);
		pkt->key.sport = bpf_ntohs(udp->source);
		pkt->dport = bpf_ntohs(udp->dest);
		pkt->has_ports = 1;
		pkt->key.qp = pkt->dport;
		if (pkt->dport != ROCE_PORT)
			return 0;
		return srpol_parse_bth(pkt, l4, end, whole);
	case IPPROTO_TCP:
		tcp = l4;
		if ((void *)(tcp + 1) > end)
			return shorter;
		pkt->hdr_len = pkt->l4_off + tcp->doff * 4;
		pkt->key.sport = bpf_ntohs(tcp->source);
		pkt->dport = bpf_ntohs(tcp->dest);
		pkt->has_ports = 1;
		pkt->key.qp = pkt->dport;
		return 0;
	case IPPROTO_ICMP:
	case NEXTHDR_ICMP:
		if ((pkt->key.proto == IPPROTO_ICMP) != pkt->is_v4)
			return 0;
		if (l4 + 8 > end)
			return shorter;
		pkt->icmp_type = *(__u8 *)l4;
		pkt->is_icmp = 1;
		return 0;
	default:
		return 0;
	}
}

static __always_inline int srpol_parse_v4(struct srpol_pkt *pkt, void *l3,
					  void *end, bool whole)
{
	struct iphdr *ip = l3;
	__u32 ihl;

	if ((void *)(ip + 1) > end)
		return SRPOL_REASON_UNPARSED;
	ihl = ip->ihl * 4;
	if (ip->version != 4 || ihl < sizeof(*ip))
		return SRPOL_REASON_UNPARSED;
	if (srpol_v4_link_scope(ip->daddr) || srpol_v4_link_scope(ip->saddr))
		return SRPOL_REASON_LINK_SCOPE;

	pkt->is_v4 = 1;
	pkt->tclass = ip->tos;
	pkt->ttl = ip->ttl;
	pkt->label = 0;
	pkt->len = bpf_ntohs(ip->tot_len);
	pkt->l4_off = ihl;
	pkt->fragment = !!(ip->frag_off & bpf_htons(IP_FRAGMENT_MASK));
	pkt->later_fragment = !!(ip->frag_off & bpf_htons(IP_OFFSET_MASK));
	pkt->key.proto = ip->protocol;
	srpol_copy_v4(pkt->key.saddr, ip->saddr);
	srpol_copy_v4(pkt->key.daddr, ip->daddr);
	return srpol_parse_transport(pkt, l3 + ihl, end, whole);
}

static __always_inline bool srpol_is_tunnel(__u8 nh)
{
	return nh == NEXTHDR_ROUTING || nh == NEXTHDR_IPV6 ||
	       nh == NEXTHDR_IPV4;
}

/*
 * Walking the extension headers returns the offset of the transport header from
 * the IPv6 header, SRPOL_EXT_* and the number of its protocol, or
 * SRPOL_EXT_REASON and the reason. This is the part of parsing with the most
 * branches.
 */
#define SRPOL_EXT_OFF		0x3fff
#define SRPOL_EXT_FRAGMENT	(1 << 14)
#define SRPOL_EXT_LATER		(1 << 15)
#define SRPOL_EXT_REASON	(1 << 16)
#define SRPOL_EXT_VALUE		24	/* bits below number or reason */

static __always_inline __u32 srpol_ext_refused(__u32 reason)
{
	return SRPOL_EXT_REASON | reason << SRPOL_EXT_VALUE;
}

static __always_inline __u32 srpol_ext_walk(void *l3, void *end, __u8 nh)
{
	__u32 off = sizeof(struct ipv6hdr), fragment = 0;
	struct frag_hdr *frag;
	__u8 *ext;
	int i;

	for (i = 0; i < SRPOL_EXT_HEADERS_MAX; i++) {
		ext = l3 + off;
		/*
		 * This includes packets that srpol encapsulated, on their way
		 * to another uplink.
		 */
		if (srpol_is_tunnel(nh))
			return srpol_ext_refused(SRPOL_REASON_TUNNELED);
		if (nh != NEXTHDR_HOP && nh != NEXTHDR_DEST &&
		    nh != NEXTHDR_AUTH && nh != NEXTHDR_FRAGMENT)
			break;
		if (ext + 8 > (__u8 *)end)
			return srpol_ext_refused(SRPOL_REASON_UNPARSED);
		if (nh != NEXTHDR_FRAGMENT) {
			off += nh == NEXTHDR_AUTH ? (ext[1] + 2) * 4 :
						    (ext[1] + 1) * 8;
			nh = ext[0];
			continue;
		}
		frag = (void *)ext;
		nh = frag->nexthdr;
		off += sizeof(*frag);
		if (!(frag->frag_off & bpf_htons(FRAG6_FRAGMENT_MASK)))
			continue;
		/* Only the first fragment could tell what is inside. */
		if (srpol_is_tunnel(nh))
			return srpol_ext_refused(SRPOL_REASON_TUNNELED);
		fragment = SRPOL_EXT_FRAGMENT;
		if (frag->frag_off & bpf_htons(FRAG6_OFFSET_MASK))
			fragment |= SRPOL_EXT_LATER;
		break;
	}
	if (i == SRPOL_EXT_HEADERS_MAX)
		return srpol_ext_refused(SRPOL_REASON_UNPARSED);
	return off | fragment | (__u32)nh << SRPOL_EXT_VALUE;
}

/*
 * Global, so that the verifier checks them once, and does not check what
 * follows once for each way through them.
 */
__noinline __u32 srpol_ext_skb(struct __sk_buff *skb, __u32 l3_off, __u8 nh)
{
	void *l3 = (void *)(long)skb->data + (l3_off & SRPOL_EXT_OFF);

	return srpol_ext_walk(l3, (void *)(long)skb->data_end, nh);
}

__noinline __u32 srpol_ext_xdp(struct xdp_md *ctx, __u32 l3_off, __u8 nh)
{
	void *l3 = (void *)(long)ctx->data + (l3_off & SRPOL_EXT_OFF);

	return srpol_ext_walk(l3, (void *)(long)ctx->data_end, nh);
}

/* @l3_off: offset of @l3 in the packet of @meta */
static __always_inline int srpol_parse_v6(struct srpol_pkt *pkt, void *l3,
					  void *end, __u32 l3_off,
					  const struct srpol_meta *meta)
{
	struct ipv6hdr *ip6 = l3;
	__u32 off = sizeof(*ip6);
	__u32 word, ext;
	__u8 nh;
	int err;

	if ((void *)(ip6 + 1) > end)
		return SRPOL_REASON_UNPARSED;
	word = bpf_ntohl(*(__be32 *)ip6);
	if (word >> 28 != 6)
		return SRPOL_REASON_UNPARSED;

	pkt->is_v4 = 0;
	pkt->tclass = word >> 20;
	pkt->label = word & IPV6_LABEL_MASK;
	pkt->fragment = 0;
	pkt->later_fragment = 0;
	pkt->ttl = ip6->hop_limit;
	nh = ip6->nexthdr;

	if (nh != IPPROTO_UDP && nh != IPPROTO_TCP) {
		ext = meta->is_skb ? srpol_ext_skb(meta->skb, l3_off, nh) :
				     srpol_ext_xdp(meta->xdp, l3_off, nh);
		nh = ext >> SRPOL_EXT_VALUE;
		if (ext & SRPOL_EXT_REASON)
			return nh;
		pkt->fragment = !!(ext & SRPOL_EXT_FRAGMENT);
		pkt->later_fragment = !!(ext & SRPOL_EXT_LATER);
		off = ext & SRPOL_EXT_OFF;
	}
	if (srpol_v6_link_scope(&ip6->daddr) ||
	    srpol_v6_link_scope(&ip6->saddr))
		return SRPOL_REASON_LINK_SCOPE;
	if (srpol_v6_mapped(&ip6->daddr) || srpol_v6_mapped(&ip6->saddr))
		return SRPOL_REASON_UNPARSED;

	pkt->len = bpf_ntohs(ip6->payload_len);
	if (pkt->len)
		pkt->len += sizeof(*ip6);
	pkt->l4_off = off;
	pkt->key.proto = nh;
	/* Both addresses. */
	srpol_copy_words(pkt->key.saddr, &ip6->saddr, 32);
	err = srpol_parse_transport(pkt, l3 + off, end, meta->whole);
	if (err)
		return err;
	if (pkt->is_icmp && pkt->icmp_type >= NDISC_TYPE_MIN &&
	    pkt->icmp_type <= NDISC_TYPE_MAX)
		return SRPOL_REASON_LINK_SCOPE;
	return 0;
}

static __always_inline bool srpol_is_tag(__be16 proto)
{
	return proto == bpf_htons(ETH_P_8021Q) ||
	       proto == bpf_htons(ETH_P_8021AD);
}

/**
 * srpol_parse_link - read Ethernet header and VLAN tags
 * @data: start of the frame
 * @end: end of its linear data
 * @meta: what the context tells
 * @pkt: result: device, mark, tags, offset and type of the network layer
 *
 * Return: 0 or SRPOL_REASON_UNPARSED.
 */
static __always_inline int srpol_parse_link(void *data, void *end,
					    const struct srpol_meta *meta,
					    struct srpol_pkt *pkt)
{
	struct ethhdr *eth = data;
	__u32 off = sizeof(*eth);
	struct vlan_hdr *vlan;
	__be16 proto;
	int i;

	pkt->l3_off = 0;
	pkt->l3_proto = 0;
	if ((void *)(eth + 1) > end)
		return SRPOL_REASON_UNPARSED;
	proto = eth->h_proto;
	pkt->ifindex = meta->ifindex;
	pkt->mark = meta->mark;
	pkt->gso_size = meta->gso_size;
	pkt->tags = meta->tagged;
	pkt->vlan = meta->vlan;
#pragma unroll
	for (i = 0; i < SRPOL_TAGS_MAX; i++) {
		if (!srpol_is_tag(proto))
			break;
		vlan = data + off;
		if ((void *)(vlan + 1) > end)
			return SRPOL_REASON_UNPARSED;
		/*
		 * A tag with VID 0 has a priority only: the kernel removes it.
		 */
		if (!pkt->vlan)
			pkt->vlan = bpf_ntohs(vlan->h_vlan_TCI) &
				    VLAN_VID_MASK;
		proto = vlan->h_vlan_encapsulated_proto;
		off += sizeof(*vlan);
		pkt->tags++;
	}
	if (srpol_is_tag(proto))
		return SRPOL_REASON_UNPARSED;
	pkt->l3_off = off;
	pkt->l3_proto = proto;
	return 0;
}

/**
 * srpol_parse_net - read the network and transport layer
 * @data: start of the frame
 * @end: end of its linear data
 * @meta: what the context tells
 * @pkt: filled in by srpol_parse_link(); the rest is filled in here
 *
 * Return: 0, or the enum srpol_reason why the packet is not steered.
 */
static __always_inline int srpol_parse_net(void *data, void *end,
					   const struct srpol_meta *meta,
					   struct srpol_pkt *pkt)
{
	__u32 off = pkt->l3_off, room;
	int err;

	if (pkt->l3_proto == bpf_htons(ETH_P_IPV6))
		err = srpol_parse_v6(pkt, data + off, end, off, meta);
	else if (pkt->l3_proto == bpf_htons(ETH_P_IP))
		err = srpol_parse_v4(pkt, data + off, end, meta->whole);
	else
		return SRPOL_REASON_NOT_IP;
	if (err)
		return err;

	room = meta->len - off;
	if (meta->xdp && (!pkt->len || pkt->len > room))
		room = bpf_xdp_get_buff_len(meta->xdp) - off;
	/* Its packets have sizes of their own, and helpers refuse it. */
	if (pkt->gso_size == SRPOL_GSO_BY_FRAGS)
		return SRPOL_REASON_SCTP_GSO;
	/* Super-packets may leave their length field 0 or too small. */
	if (pkt->gso_size || !pkt->len)
		pkt->len = room;
	if (pkt->len > room || pkt->len < pkt->l4_off)
		return SRPOL_REASON_UNPARSED;
	return 0;
}

/**
 * srpol_parse - read the headers of a packet on its way out
 * @data: start of the frame
 * @end: end of its linear data
 * @meta: what the context tells
 * @pkt: result
 *
 * Return: 0, or the enum srpol_reason why the packet is not steered.
 */
static __always_inline int srpol_parse(void *data, void *end,
				       const struct srpol_meta *meta,
				       struct srpol_pkt *pkt)
{
	int err = srpol_parse_link(data, end, meta, pkt);

	return err ? err : srpol_parse_net(data, end, meta, pkt);
}

/**
 * srpol_pull - make more of the headers linear
 * @skb: packet whose headers were cut short
 *
 * Return: true if more is linear now, so that parsing again may succeed.
 */
static __always_inline bool srpol_pull(struct __sk_buff *skb)
{
	__u32 linear = skb->data_end - skb->data;
	__u32 want = skb->len < SRPOL_PULL ? skb->len : SRPOL_PULL;

	return linear < want && !bpf_skb_pull_data(skb, want);
}

/*
 * Is the frame to a group address? So are broadcasts to the subnet of a device,
 * whose IP address does not tell.
 */
static __always_inline bool srpol_to_group(const struct __sk_buff *skb)
{
	struct ethhdr *eth = (void *)(long)skb->data;

	return (void *)(eth + 1) <= (void *)(long)skb->data_end &&
	       eth->h_dest[0] & 1;
}

/*
 * srpol_parse() of an skb, as far as it is linear. Global, so that the verifier
 * checks it once, and does not check what follows once for each way through it.
 */
__noinline int srpol_parse_linear(struct __sk_buff *skb,
				  struct srpol_pkt *pkt __arg_nonnull)
{
	struct srpol_meta meta = {
		.is_skb = true,
		.skb = skb,
		.len = skb->len,
		.ifindex = skb->ifindex,
		.mark = skb->mark,
		.gso_size = skb->gso_size,
		.tagged = !!skb->vlan_present,
		.vlan = skb->vlan_present ? skb->vlan_tci & VLAN_VID_MASK : 0,
		.whole = skb->data_end - skb->data >= skb->len,
	};

	int err = srpol_parse((void *)(long)skb->data,
			      (void *)(long)skb->data_end, &meta, pkt);

	return !err && srpol_to_group(skb) ? SRPOL_REASON_LINK_SCOPE : err;
}

/**
 * srpol_parse_skb - srpol_parse() of an skb, whose headers may be in fragments
 * @skb: packet
 * @pkt: result
 */
static __always_inline int srpol_parse_skb(struct __sk_buff *skb,
					   struct srpol_pkt *pkt)
{
	int err = srpol_parse_linear(skb, pkt);

	if (err == SRPOL_REASON_UNPARSED && srpol_pull(skb))
		err = srpol_parse_linear(skb, pkt);
	return err;
}

#endif /* _SRPOL_PARSE_H */
