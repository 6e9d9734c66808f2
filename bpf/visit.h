/* SPDX-License-Identifier: GPL-2.0 */
/* A packet at a local SID: its outer headers, with strict checks. */
#ifndef _SRPOL_VISIT_H
#define _SRPOL_VISIT_H

#include "base.h"
#include "proto.h"
#include "pull.h"
#include "sid.h"
#include "srh.h"
#include "words.h"

/* 256 words of 8 are the most there can be. */
#define SRPOL_SRH_LEN_MASK	0xfff

/**
 * struct srpol_visit - a packet whose destination is a local SID
 * @sid: the SID
 * @does: SRPOL_DO_* of its behavior
 * @payload: bytes after the IPv6 header
 * @bytes: the same with it, as the packet came
 * @srh_len: bytes of the SRH, 0 without one
 * @sl: segments left, 0 without an SRH
 * @nh: what comes after IPv6 header and SRH
 * @outer_tc: traffic class
 */
struct srpol_visit {
	const struct srpol_sid *sid;
	__u32 does;
	__u32 payload;
	__u32 bytes;
	__u32 srh_len;
	__u32 sl;
	__u8 nh;
	__u8 outer_tc;
};

/*
 * More of a packet whose end is not linear becomes so, where that can be: of
 * @bytes bytes from its IPv6 header @ip6 on. Return: 0, or the enum srpol_reason
 * to drop it for.
 */
static __always_inline int srpol_visit_pull(struct xdp_md *ctx,
					    struct ipv6hdr *ip6, __u32 bytes)
{
	void *end = (void *)(long)ctx->data_end;

	if (bytes + ETH_HLEN > bpf_xdp_get_buff_len(ctx))
		return SRPOL_REASON_TRUNCATED;
	if (end - (void *)ip6 < SRPOL_PULL - ETH_HLEN)
		srpol_pull_xdp(ctx);
	return 0;
}

/**
 * srpol_visit_parse - read the outer headers
 * @ctx: packet
 * @at: its IPv6 header, known to be linear; where it is after that
 * @v: result; @sid is set
 *
 * Return: 0 or the enum srpol_reason to drop the packet for.
 */
static __always_inline int srpol_visit_parse(struct xdp_md *ctx,
					     struct ipv6hdr **at,
					     struct srpol_visit *v)
{
	void *end = (void *)(long)ctx->data_end;
	struct ipv6hdr *ip6 = *at;
	struct ipv6_sr_hdr *srh;
	int err;

	v->does = srpol_behavior_does(v->sid->behavior);
	v->payload = bpf_ntohs(ip6->payload_len);
	v->bytes = v->payload + sizeof(*ip6);
	v->nh = ip6->nexthdr;
	v->outer_tc = bpf_ntohs(*(__be16 *)ip6) >> 4;
	v->srh_len = 0;
	v->sl = 0;
	if (ip6->version != 6)
		return SRPOL_REASON_BAD_OUTER;
	if (v->payload > end - (void *)(ip6 + 1)) {
		err = srpol_visit_pull(ctx, ip6, v->bytes);
		if (err)
			return err;
		ip6 = (void *)(long)ctx->data + ETH_HLEN;
		end = (void *)(long)ctx->data_end;
		if ((void *)(ip6 + 1) > end)
			return SRPOL_REASON_NO_HEADROOM;
		*at = ip6;
	}

	if (v->nh != NEXTHDR_ROUTING)
		return srpol_is_ext_header(v->nh) ? SRPOL_REASON_EXT_HEADER :
						    0;
	srh = (void *)(ip6 + 1);
	err = srpol_srh_check(srh, v->payload, end);
	if (err)
		return err;
	/* Checked above; the verifier wants to see it here. */
	if ((void *)(srh + 1) > end)
		return SRPOL_REASON_NO_HEADROOM;
	v->nh = srh->nexthdr;
	v->sl = srh->segments_left;
	v->srh_len = (srh->hdrlen + 1) * 8;
	return v->nh == NEXTHDR_ROUTING ? SRPOL_REASON_NESTED_SRH : 0;
}

/* The verifier does not remember how little it can be. */
static __always_inline __u32 srpol_visit_srh_len(const struct srpol_visit *v)
{
	__u32 len = v->srh_len;

	barrier_var(len);
	return len & SRPOL_SRH_LEN_MASK;
}

/* The packet stays here, another SID of ours is next. */
static __always_inline void srpol_visit_goto(struct srpol_visit *v,
					     const struct srpol_sid *sid)
{
	v->sid = sid;
	v->does = srpol_behavior_does(sid->behavior);
}

/*
 * Take the SRH out and say in the IPv6 header what follows now: PSP, RFC 8986
 * 4.16.1.
 */
static __always_inline int srpol_visit_pop_srh(struct xdp_md *ctx,
					       struct srpol_visit *v)
{
	__u64 keep[SRPOL_FRONT / sizeof(__u64)], last;
	const __u32 last_off = SRPOL_FRONT - sizeof(last);
	struct ipv6hdr *ip6;
	void *front;

	/* It is no whole number of words: the last two overlap. */
	front = (void *)(long)ctx->data;
	if (front + SRPOL_FRONT > (void *)(long)ctx->data_end)
		return SRPOL_REASON_NO_HEADROOM;
	srpol_copy_words(keep, front, SRPOL_FRONT);
	srpol_copy_words(&last, front + last_off, sizeof(last));
	if (bpf_xdp_adjust_head(ctx, v->srh_len))
		return SRPOL_REASON_NO_HEADROOM;
	front = (void *)(long)ctx->data;
	if (front + SRPOL_FRONT > (void *)(long)ctx->data_end)
		return SRPOL_REASON_NO_HEADROOM;
	srpol_copy_words(front, keep, SRPOL_FRONT);
	srpol_copy_words(front + last_off, &last, sizeof(last));
	v->payload -= v->srh_len;
	v->srh_len = 0;
	ip6 = front + ETH_HLEN;
	ip6->nexthdr = v->nh;
	ip6->payload_len = bpf_htons(v->payload);
	return 0;
}

#endif /* _SRPOL_VISIT_H */
