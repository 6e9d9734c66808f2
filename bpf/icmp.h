/* SPDX-License-Identifier: GPL-2.0 */
/* ICMP errors about packets that are too big after encapsulation, at TC. */
#ifndef _SRPOL_ICMP_H
#define _SRPOL_ICMP_H

#include "base.h"
#include "icmp_limit.h"
#include "mac.h"
#include "parse.h"
#include "proto.h"
#include "stats.h"
#include "words.h"

/* As much of the packet as RFC 1812 4.3.2.3 allows. */
#define SRPOL_ICMP_QUOTE_V4	(576 - 20 - 8)

#define SRPOL_CHECKSUM_PARTIAL	3	/* of sk_buff.ip_summed */

#define SRPOL_ICMP_TOS		0xc0	/* internetwork control */

struct srpol_icmp_v4 {
	struct iphdr ip;
	struct icmphdr icmp;
};

/* RFC 4443 2.4 (e), RFC 1122 3.2.2: may an error be sent about this packet? */
static __always_inline bool srpol_icmp_answerable(const struct srpol_pkt *pkt)
{
	const __u32 *s = (const __u32 *)pkt->key.saddr;
	__u8 type = pkt->icmp_type;

	if (pkt->later_fragment)
		return false;
	if (!(pkt->is_v4 ? s[3] : s[0] | s[1] | s[2] | s[3]))
		return false;
	return !pkt->is_icmp || !srpol_icmp_is_error(pkt->is_v4, type);
}

/*
 * If the stack has left the transport checksum to the device, @start is set to
 * where it starts and @pseudo to the sum of the pseudo-header, which the
 * checksum field holds; otherwise @start is 0.
 */
static __always_inline int srpol_csum_pending(struct __sk_buff *skb,
					      __u32 *start, __u16 *pseudo)
{
	struct sk_buff *k = bpf_cast_to_kern_ctx(skb);
	__u32 off;

	*start = 0;
	if (BPF_CORE_READ_BITFIELD(k, ip_summed) != SRPOL_CHECKSUM_PARTIAL)
		return 0;
	off = k->csum_start - (__u32)((__u64)k->data - (__u64)k->head);
	*start = off;
	return bpf_skb_load_bytes(skb, off + k->csum_offset, pseudo,
				  sizeof(*pseudo));
}

/**
 * srpol_csum_quote - add the Internet checksum of a part of a packet
 * @skb: the packet
 * @off: offset of the part
 * @len: its length, at most SRPOL_ICMP_QUOTE_V6
 * @sum: sum to add it to
 *
 * If the checksum of the packet is pending, the bytes from where it starts will
 * add up to the complement of the pseudo-header's sum, once it is filled in
 * (the kernel calls this local checksum offload). Global, so that the verifier
 * checks it once.
 *
 * Return: the sum, or -1.
 */
__noinline __s64 srpol_csum_quote(struct __sk_buff *skb, __u32 off, __u32 len,
				  __u32 sum)
{
	__u32 buf[SRPOL_CSUM_CHUNK / 4];
	__u16 pseudo = 0;
	__u32 start;
	__s64 s = sum;
	int i;

	if (srpol_csum_pending(skb, &start, &pseudo))
		return -1;
	if (start) {
		if (start < off || start - off > len)
			return -1;
		len = start - off;
		s = srpol_csum_add(sum, (__u16)~pseudo);
	}
	for (i = 0; len >= sizeof(buf) &&
	     i < SRPOL_ICMP_QUOTE_V6 / SRPOL_CSUM_CHUNK; i++) {
		if (bpf_skb_load_bytes(skb, off, buf, sizeof(buf)))
			return -1;
		s = bpf_csum_diff(NULL, 0, buf, sizeof(buf), s);
		if (s < 0)
			return -1;
		off += sizeof(buf);
		len -= sizeof(buf);
	}
	if (!len)
		return s;
	if (len > sizeof(buf))
		return -1;
	__builtin_memset(buf, 0, sizeof(buf));
	if (bpf_skb_load_bytes(skb, off, buf, len))
		return -1;
	return bpf_csum_diff(NULL, 0, buf, sizeof(buf), s);
}

/*
 * The two builders are called with the quoted packet right behind the Ethernet
 * header. They insert the headers of the error in between and fill them in.
 */
static __noinline int srpol_icmp_build_v6(struct __sk_buff *skb,
					  const struct srpol_pkt *pkt,
					  __u32 mtu, __u32 quote)
{
	struct srpol_icmp_v6 h = {};
	__u16 len = sizeof(h.icmp) + quote;
	__s64 s;

	h.ip.version = 6;
	h.ip.payload_len = bpf_htons(len);
	h.ip.nexthdr = NEXTHDR_ICMP;
	h.ip.hop_limit = SRPOL_ICMP_TTL;
	srpol_copy_addr(&h.ip.saddr, pkt->key.daddr);
	srpol_copy_addr(&h.ip.daddr, pkt->key.saddr);
	h.icmp.icmp6_type = ICMPV6_PKT_TOOBIG;
	h.icmp.icmp6_dataun.un_data32[0] =
		bpf_htonl(mtu < IPV6_MTU_MIN ? IPV6_MTU_MIN : mtu);

	if (bpf_skb_adjust_room(skb, sizeof(h), BPF_ADJ_ROOM_MAC, 0))
		return -1;
	/* Pseudo-header and ICMP header: both addresses and all after them. */
	s = bpf_csum_diff(NULL, 0, (__be32 *)&h.ip.saddr, 32 + sizeof(h.icmp),
			  bpf_htons(len) + bpf_htons(NEXTHDR_ICMP));
	if (s < 0)
		return -1;
	s = srpol_csum_quote(skb, ETH_HLEN + sizeof(h), quote, s);
	if (s < 0)
		return -1;
	h.icmp.icmp6_cksum = srpol_csum_fold(s);
	return bpf_skb_store_bytes(skb, ETH_HLEN, &h, sizeof(h), 0);
}

static __noinline int srpol_icmp_build_v4(struct __sk_buff *skb,
					  const struct srpol_pkt *pkt,
					  __u32 mtu, __u32 quote)
{
	struct srpol_icmp_v4 h = {};
	__s64 s;

	h.ip.version = 4;
	h.ip.ihl = sizeof(h.ip) / 4;
	h.ip.tos = SRPOL_ICMP_TOS;
	h.ip.tot_len = bpf_htons(sizeof(h) + quote);
	h.ip.ttl = SRPOL_ICMP_TTL;
	h.ip.protocol = IPPROTO_ICMP;
	h.ip.saddr = ((const __u32 *)pkt->key.daddr)[3];
	h.ip.daddr = ((const __u32 *)pkt->key.saddr)[3];
	h.icmp.type = ICMP_DEST_UNREACH;
	h.icmp.code = ICMP_FRAG_NEEDED;
	h.icmp.un.frag.mtu = bpf_htons(mtu > 0xffff ? 0xffff : mtu);

	if (bpf_skb_adjust_room(skb, sizeof(h), BPF_ADJ_ROOM_MAC, 0))
		return -1;
	s = bpf_csum_diff(NULL, 0, (__be32 *)&h.ip, sizeof(h.ip), 0);
	if (s < 0)
		return -1;
	h.ip.check = srpol_csum_fold(s);
	s = bpf_csum_diff(NULL, 0, (__be32 *)&h.icmp, sizeof(h.icmp), 0);
	if (s < 0)
		return -1;
	s = srpol_csum_quote(skb, ETH_HLEN + sizeof(h), quote, s);
	if (s < 0)
		return -1;
	h.icmp.checksum = srpol_csum_fold(s);
	return bpf_skb_store_bytes(skb, ETH_HLEN, &h, sizeof(h), 0);
}

/* Not inline, as the stack is nearly used up. */
static __noinline int srpol_icmp_swap_macs(struct __sk_buff *skb)
{
	__u8 macs[12], swapped[12];

	if (bpf_skb_load_bytes(skb, 0, macs, sizeof(macs)))
		return -1;
	__builtin_memcpy(swapped, macs + 6, 6);
	__builtin_memcpy(swapped + 6, macs, 6);
	return bpf_skb_store_bytes(skb, 0, swapped, sizeof(swapped), 0);
}

#define SRPOL_ICMP_TAGS		(SRPOL_TAGS_MAX + 1)	/* one in the metadata */

/**
 * struct srpol_icmp_tags - VLAN tags of a packet, the outermost first
 * @proto: 802.1Q or 802.1ad
 * @tci: priority, drop eligibility and id, in host order
 */
struct srpol_icmp_tags {
	__be16 proto[SRPOL_ICMP_TAGS];
	__u16 tci[SRPOL_ICMP_TAGS];
};

/*
 * Remove @n tags from a packet whose network layer is @l3_proto, and store them
 * in @t. Global, so that the verifier checks it once. Return: 0 if no tag is
 * left.
 */
__noinline int srpol_icmp_tags_pop(struct __sk_buff *skb,
				   struct srpol_icmp_tags *t __arg_nonnull,
				   __u32 n, __u32 l3_proto)
{
	__be16 tag[2] = {};
	__u32 i;

	for (i = 0; i < SRPOL_ICMP_TAGS && i < n; i++) {
		if (bpf_skb_load_bytes(skb, ETH_HLEN - sizeof(tag[0]), tag,
				       sizeof(tag)))
			return -1;
		t->proto[i] = tag[0];
		t->tci[i] = bpf_ntohs(tag[1]);
		if (skb->vlan_present) {
			t->proto[i] = skb->vlan_proto;
			t->tci[i] = skb->vlan_tci;
		}
		if (bpf_skb_vlan_pop(skb))
			return -1;
	}
	return bpf_skb_load_bytes(skb, ETH_HLEN - sizeof(tag[0]), tag,
				  sizeof(tag[0])) || tag[0] != (__be16)l3_proto;
}

/*
 * Put the tags back; the outermost one goes into the metadata, as the kernel
 * has it.
 */
__noinline int srpol_icmp_tags_push(struct __sk_buff *skb,
				    const struct srpol_icmp_tags *t __arg_nonnull,
				    __u32 n)
{
	__u32 i;

	for (i = 0; i < SRPOL_ICMP_TAGS; i++) {
		__u32 at = SRPOL_ICMP_TAGS - 1 - i;

		if (at < n && bpf_skb_vlan_push(skb, t->proto[at], t->tci[at]))
			return -1;
	}
	return 0;
}

/**
 * srpol_icmp_too_big - turn a packet into an ICMP error about itself
 * @skb: packet that does not fit its path
 * @pkt: the same packet, parsed
 * @mtu: size that would fit, in bytes
 * @flags: BPF_F_INGRESS if the packet was about to leave by its device, 0 if it
 *	came in by it
 *
 * The error goes into the device that the packet was about to leave by, or out
 * of the one that it came in by. Its source is the inner destination, since an
 * address of this host would be a martian; so it reaches local sockets and
 * forwarded senders alike. It has the VLAN tags of the packet: the one in the
 * metadata stays there, those in the frame are removed and put back.
 *
 * Return: what the program returns.
 */
static __noinline int srpol_icmp_too_big(struct __sk_buff *skb,
					 const struct srpol_pkt *pkt,
					 __u32 mtu, __u64 flags)
{
	__u32 limit = pkt->is_v4 ? SRPOL_ICMP_QUOTE_V4 : SRPOL_ICMP_QUOTE_V6;
	__u32 quote = pkt->len < limit ? pkt->len : limit;
	__u32 tags = pkt->l3_off == ETH_HLEN ? 0 : pkt->tags;
	struct srpol_icmp_tags t = {};
	int err;

	if (!srpol_icmp_answerable(pkt) || !srpol_icmp_allowed(pkt->ifindex))
		return SRPOL_TC_DROP;
	if (tags && srpol_icmp_tags_pop(skb, &t, tags, pkt->l3_proto))
		return SRPOL_TC_DROP;
	/* This also makes a super-packet an ordinary one. */
	if (bpf_skb_change_tail(skb, ETH_HLEN + quote, 0))
		return SRPOL_TC_DROP;
	if (pkt->is_v4)
		err = srpol_icmp_build_v4(skb, pkt, mtu, quote);
	else
		err = srpol_icmp_build_v6(skb, pkt, mtu, quote);
	if (err || srpol_icmp_swap_macs(skb) ||
	    (tags && srpol_icmp_tags_push(skb, &t, tags)))
		return SRPOL_TC_DROP;
	srpol_count_rare(SRPOL_REASON_ICMP_SENT);
	return bpf_redirect(skb->ifindex, flags);
}

#endif /* _SRPOL_ICMP_H */
