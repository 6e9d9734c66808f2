/* SPDX-License-Identifier: GPL-2.0 */
/* A packet at a local SID: its outer headers, with strict checks. */
#ifndef _SRPOL_SID_CTX_H
#define _SRPOL_SID_CTX_H

#include "base.h"
#include "proto.h"
#include "pull.h"
#include "sid.h"
#include "srh.h"
#include "words.h"

/*
 * The length field of the SRH: words of 8 bytes, 255 at most, not counting the
 * first.
 */
#define SRPOL_SRH_LEN_MASK	0xfff

/**
 * struct srpol_sid_ctx - a packet whose destination is a local SID
 * @sid: the SID; no pointer in a global function, for the verifier
 * @id: its id
 * @does: SRPOL_DO_* of the SID
 * @payload: bytes behind the IPv6 header
 * @bytes: bytes of the packet as it came, with the IPv6 header
 * @srh_len: bytes of the SRH, 0 without one
 * @sl: segments left, 0 without an SRH
 * @nh: next header behind IPv6 header and SRH
 * @outer_tc: traffic class of the outer header
 */
struct srpol_sid_ctx {
	const struct srpol_sid *sid;
	__u32 id;
	__u32 does;
	__u32 payload;
	__u32 bytes;
	__u32 srh_len;
	__u8 sl;
	__u8 nh;
	__u8 outer_tc;
};

/*
 * The end of a packet is not linear: make more of it linear, if the kernel can.
 * The packet has @bytes bytes from its IPv6 header @ip6 on. Return: 0, or the
 * enum srpol_reason to drop it for.
 */
static __always_inline int srpol_sid_ctx_pull(struct xdp_md *ctx,
					      struct ipv6hdr *ip6, __u32 bytes)
{
	__u32 most = ip6->nexthdr == NEXTHDR_ROUTING ? SRPOL_PULL_SRH :
						       SRPOL_PULL;
	void *end = (void *)(long)ctx->data_end;

	if (bytes + ETH_HLEN > bpf_xdp_get_buff_len(ctx))
		return SRPOL_REASON_TRUNCATED;
	if (end - (void *)ip6 < most - ETH_HLEN)
		srpol_pull_xdp(ctx, most);
	return 0;
}

/**
 * srpol_sid_ctx_parse - read the outer headers
 * @ctx: packet
 * @at: its IPv6 header, known to be linear; updated if it moves
 * @sc: result; @sid and @id are set by the caller
 *
 * Return: 0 or the enum srpol_reason to drop the packet for.
 */
static __always_inline int srpol_sid_ctx_parse(struct xdp_md *ctx,
					       struct ipv6hdr **at,
					       struct srpol_sid_ctx *sc)
{
	void *end = (void *)(long)ctx->data_end;
	struct ipv6hdr *ip6 = *at;
	struct ipv6_sr_hdr *srh;
	int err;

	sc->does = sc->sid->does;
	sc->payload = bpf_ntohs(ip6->payload_len);
	sc->bytes = sc->payload + sizeof(*ip6);
	sc->nh = ip6->nexthdr;
	sc->outer_tc = bpf_ntohs(*(__be16 *)ip6) >> 4;
	sc->srh_len = 0;
	sc->sl = 0;
	if (ip6->version != 6)
		return SRPOL_REASON_BAD_OUTER;
	if (sc->payload > end - (void *)(ip6 + 1)) {
		err = srpol_sid_ctx_pull(ctx, ip6, sc->bytes);
		if (err)
			return err;
		ip6 = (void *)(long)ctx->data + ETH_HLEN;
		end = (void *)(long)ctx->data_end;
		if ((void *)(ip6 + 1) > end)
			return SRPOL_REASON_NO_HEADROOM;
		*at = ip6;
	}

	if (sc->nh != NEXTHDR_ROUTING)
		return srpol_is_ext_header(sc->nh) ? SRPOL_REASON_EXT_HEADER :
						     0;
	srh = (void *)(ip6 + 1);
	err = srpol_srh_check(srh, sc->payload, end);
	if (err)
		return err;
	/* Checked above, but the verifier has to see it here. */
	if ((void *)(srh + 1) > end)
		return SRPOL_REASON_NO_HEADROOM;
	sc->nh = srh->nexthdr;
	sc->sl = srh->segments_left;
	sc->srh_len = (srh->hdrlen + 1) * 8;
	return sc->nh == NEXTHDR_ROUTING ? SRPOL_REASON_NESTED_SRH : 0;
}

/* Bound the length again for the verifier, which has lost the bound by now. */
static __always_inline __u32
srpol_sid_ctx_srh_len(const struct srpol_sid_ctx *sc)
{
	__u32 len = sc->srh_len;

	barrier_var(len);
	return len & SRPOL_SRH_LEN_MASK;
}

/*
 * Go on at the packet's next SID, which is local, too. A global function has
 * been there, after which the verifier knows no bounds.
 */
static __always_inline void srpol_sid_ctx_goto(struct srpol_sid_ctx *sc,
					       const struct srpol_sid *sid)
{
	sc->sid = sid;
	sc->id = sid->id;
	sc->payload &= 0xffff;
	sc->bytes &= 0x1ffff;
	sc->srh_len &= SRPOL_SRH_LEN_MASK;
	sc->does = sid->does;
}

/*
 * Remove the SRH, and correct next header and length in the IPv6 header: PSP,
 * RFC 8986 4.16.1.
 */
static __always_inline int srpol_sid_ctx_pop_srh(struct xdp_md *ctx,
						 struct srpol_sid_ctx *sc)
{
	__u64 keep[SRPOL_FRONT / sizeof(__u64)], last;
	const __u32 last_off = SRPOL_FRONT - sizeof(last);
	struct ipv6hdr *ip6;
	void *front;

	/*
	 * The length is not a multiple of a word: the last two words overlap.
	 */
	front = (void *)(long)ctx->data;
	if (front + SRPOL_FRONT > (void *)(long)ctx->data_end)
		return SRPOL_REASON_NO_HEADROOM;
	srpol_copy_words(keep, front, SRPOL_FRONT);
	srpol_copy_words(&last, front + last_off, sizeof(last));
	if (bpf_xdp_adjust_head(ctx, sc->srh_len))
		return SRPOL_REASON_NO_HEADROOM;
	front = (void *)(long)ctx->data;
	if (front + SRPOL_FRONT > (void *)(long)ctx->data_end)
		return SRPOL_REASON_NO_HEADROOM;
	srpol_copy_words(front, keep, SRPOL_FRONT);
	srpol_copy_words(front + last_off, &last, sizeof(last));
	sc->payload -= sc->srh_len;
	sc->srh_len = 0;
	ip6 = front + ETH_HLEN;
	ip6->nexthdr = sc->nh;
	ip6->payload_len = bpf_htons(sc->payload);
	return 0;
}

#endif /* _SRPOL_SID_CTX_H */
