/* SPDX-License-Identifier: GPL-2.0 */
/* H.Encaps: the outer header of a path, and how TC puts it around a packet. */
#ifndef _SRPOL_ENCAP_H
#define _SRPOL_ENCAP_H

#include "base.h"
#include "ecn.h"
#include "flow_table.h"
#include "hash.h"
#include "parse.h"
#include "path.h"
#include "proto.h"
#include "quality.h"
#include "words.h"

#define SRPOL_ENCAP_MAX		(SRPOL_REWRITE_MAX - ETH_HLEN)
/* The longest SRH in a rewrite string, in words of 8 bytes. */
#define SRPOL_SRH_WORDS		((SRPOL_ENCAP_MAX - IPV6_HLEN) / 8)
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

/*
 * Bits of the flow label that are left for entropy of the flow beside a path
 * id.
 */
#define SRPOL_LABEL_ENTROPY	((1u << SRPOL_LABEL_ID_SHIFT) - 1)

/* A flow label, which must not be 0, from a hash: entropy for the underlay. */
static __always_inline __u32 srpol_label_from_hash(__u32 hash)
{
	__u32 label = hash >> 12;

	return label ? label : 1;
}

/**
 * srpol_outer_label - outer flow label, RFC 6437
 * @cfg: settings
 * @pkt: inner packet
 * @d: the decision about its flow
 * @path: path it takes
 */
static __always_inline __u32
srpol_outer_label(const struct srpol_dp_config *cfg,
		  const struct srpol_pkt *pkt, const struct srpol_decision *d,
		  __u32 path)
{
	__u32 label;

	/*
	 * not from one hash: flows on the same path differ in few bits of @hash
	 */
	label = srpol_label_from_hash(srpol_rol(d->tuple_hash, 16) +
				      d->hash * SRPOL_LABEL_MIX);
	if (cfg->path_id == SRPOL_PATH_ID_LABEL)
		return path << SRPOL_LABEL_ID_SHIFT |
		       (label & SRPOL_LABEL_ENTROPY);
	switch (cfg->flow_label) {
	case SRPOL_FLOW_LABEL_ZERO:
		return 0;
	case SRPOL_FLOW_LABEL_HASH:
		return srpol_label_from_hash(d->tuple_hash);
	case SRPOL_FLOW_LABEL_INHERIT:
		return pkt->label ? pkt->label : label;
	default:
		return label;
	}
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
 * srpol_encap_fits - does the packet, or each of its segments, fit its path?
 * @pkt: packet
 * @cfg: compiled form of the path
 */
static __always_inline bool srpol_encap_fits(const struct srpol_pkt *pkt,
					     const struct srpol_path_cfg *cfg)
{
	__u32 len = pkt->len;

	if (pkt->gso_size)
		len = pkt->hdr_len + pkt->gso_size;
	return len + cfg->encap_len <= cfg->mtu;
}

/**
 * struct srpol_outer - fields of the outer header that the rewrite string
 *	leaves open
 * @tclass: outer traffic class
 * @label: outer flow label
 */
struct srpol_outer {
	__u32 tclass;
	__u32 label;
};

/**
 * srpol_outer_write - write the rewrite string of a path
 * @data: start of the frame, with room in front of the inner packet
 * @end: end of the frame's linear data
 * @cfg: compiled form of the path
 *
 * Its length is 6 bytes and a number of words of 8 bytes, whatever the SRH. The
 * loop is unrolled, so that the verifier knows the offset of each store. Callers
 * read @data anew for what they write afterwards: what the verifier knows of the
 * old one differs from one length to the next, and would cost it half as many
 * steps again.
 *
 * Return: 0 or SRPOL_REASON_NO_ROOM.
 */
static __always_inline int srpol_outer_write(void *data, void *end,
					     const struct srpol_path_cfg *cfg)
{
	const __u8 *from = cfg->rewrite;
	__u32 left = cfg->encap_len - IPV6_HLEN, i;
	__u8 *to = data;

	if (to + SRPOL_FRONT > (__u8 *)end)
		return SRPOL_REASON_NO_ROOM;
	/*
	 * The length is not a multiple of a word: the last two words overlap.
	 */
	srpol_copy_words(to, from, SRPOL_FRONT);
	srpol_copy_words(to + SRPOL_FRONT - sizeof(__u64),
			 from + SRPOL_FRONT - sizeof(__u64), sizeof(__u64));
#pragma unroll
	for (i = 0; i < SRPOL_SRH_WORDS; i++) {
		const __u32 off = SRPOL_FRONT + 8 * i;

		if (left <= 8 * i)
			return 0;
		if (to + off + 8 > (__u8 *)end)
			return SRPOL_REASON_NO_ROOM;
		srpol_copy_words(to + off, from + off, sizeof(__u64));
	}
	return 0;
}

/**
 * srpol_outer_fill - fill in the fields that differ from packet to packet
 * @data: start of the frame, to which the rewrite string has been written
 * @end: end of the frame's linear data
 * @pkt: inner packet
 * @cfg: compiled form of the path
 * @o: values
 *
 * Return: 0 or SRPOL_REASON_NO_ROOM.
 */
static __always_inline int srpol_outer_fill(void *data, void *end,
					    const struct srpol_pkt *pkt,
					    const struct srpol_path_cfg *cfg,
					    const struct srpol_outer *o)
{
	__u32 payload = cfg->encap_len - IPV6_HLEN + pkt->len;
	struct ipv6hdr *ip6 = data + ETH_HLEN;
	__u8 *nh;

	if ((void *)(ip6 + 1) + 1 > end)
		return SRPOL_REASON_NO_ROOM;
	*(__be32 *)ip6 = bpf_htonl(6 << 28 | o->tclass << 20 | o->label);
	ip6->payload_len = payload > 0xffff ? 0 : bpf_htons(payload);
	nh = cfg->nh_off == SRPOL_NH_OFF_SRH ? data + SRPOL_NH_OFF_SRH :
					       data + SRPOL_NH_OFF_IPV6;
	*nh = pkt->is_v4 ? NEXTHDR_IPV4 : NEXTHDR_IPV6;
	return 0;
}

/**
 * struct srpol_timestamp - the part of the TLV that each packet writes, as on
 *	the wire
 */
struct srpol_timestamp {
	__be32 seq;
	__be32 time[2];
};

_Static_assert(SRPOL_TIMESTAMP_TIME == SRPOL_TIMESTAMP_SEQ + sizeof(__be32) &&
	       SRPOL_TIMESTAMP_LEN ==
	       SRPOL_TIMESTAMP_SEQ + sizeof(struct srpol_timestamp),
	       "layout");

static __always_inline void
srpol_timestamp_make(__u32 path, struct srpol_timestamp *s)
{
	struct srpol_quality *q = srpol_quality_get(path);
	__u64 time = bpf_ktime_get_tai_ns();
	__u32 seq = 0;

	if (q)
		seq = __sync_fetch_and_add(&q->seq, 1) + 1;
	s->seq = bpf_htonl(seq);
	s->time[0] = bpf_htonl(time >> 32);
	s->time[1] = bpf_htonl(time);
}

__noinline int srpol_timestamp_skb(struct __sk_buff *skb, __u32 off,
				   __u32 path)
{
	struct srpol_timestamp s;

	srpol_timestamp_make(path, &s);
	return bpf_skb_store_bytes(skb, off + SRPOL_TIMESTAMP_SEQ, &s,
				   sizeof(s), 0);
}

/**
 * srpol_push - encapsulate a packet
 * @skb: packet
 * @pkt: the same packet, parsed
 * @sel: its path
 * @o: values for the outer header
 *
 * VLAN tags belong to the link layer that the packet leaves, and are removed.
 * The path's device adds its own tag if it has one.
 *
 * Return: 0, or the enum srpol_reason of the failure.
 */
static __always_inline int srpol_push(struct __sk_buff *skb,
				      const struct srpol_pkt *pkt,
				      const struct srpol_selected *sel,
				      const struct srpol_outer *o)
{
	const struct srpol_path_cfg *cfg = sel->cfg;
	__u32 encap_len = cfg->encap_len;
	long err;
	int i;

	if (encap_len < IPV6_HLEN || encap_len > SRPOL_ENCAP_MAX)
		return SRPOL_REASON_NO_ROOM;
	for (i = 0; i < SRPOL_TAGS_MAX + 1 && i < pkt->tags; i++)
		if (bpf_skb_vlan_pop(skb))
			return SRPOL_REASON_NO_ROOM;

	err = bpf_skb_adjust_room(skb, encap_len, BPF_ADJ_ROOM_MAC,
				  SRPOL_ENCAP_FLAGS);
	if (err) {
		/*
		 * The kernel keeps the state of one tunnel only, as of VXLAN
		 * whose inner checksum is pending; nor may UDP be encapsulated
		 * that is to be fragmented (UFO). Such a packet is as it was,
		 * but not if tags have been removed from it.
		 */
		if ((err == -EALREADY || err == -ENOTSUPP) && !pkt->tags)
			return SRPOL_REASON_ENCAP_REFUSED;
		return SRPOL_REASON_NO_ROOM;
	}
	err = srpol_outer_write((void *)(long)skb->data,
				(void *)(long)skb->data_end, cfg);
	if (!err)
		err = srpol_outer_fill((void *)(long)skb->data,
				       (void *)(long)skb->data_end, pkt, cfg,
				       o);
	if (!err && cfg->timestamp_off &&
	    srpol_timestamp_skb(skb, cfg->timestamp_off, sel->path))
		return SRPOL_REASON_NO_ROOM;
	return err;
}

#endif /* _SRPOL_ENCAP_H */
