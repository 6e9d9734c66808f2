/* SPDX-License-Identifier: GPL-2.0 */
/*
 * XDP of host ports: steer what a VM or pod sends before the stack sees it.
 * What is not steered goes up the stack, which forwards it to an uplink.
 */
#ifndef _SRPOL_PORT_H
#define _SRPOL_PORT_H

#include "base.h"
#include "drop.h"
#include "encap.h"
#include "hop.h"
#include "parse.h"
#include "proto.h"
#include "sid.h"
#include "state.h"
#include "stats.h"
#include "steer.h"
#include "words.h"

/* Words of 8 of the longest SRH in a rewrite string. */
#define SRPOL_SRH_WORDS		((SRPOL_ENCAP_MAX - IPV6_HLEN) / 8)

/* Ethernet header and two VLAN tags at most. */
#define SRPOL_L3_OFF_MASK	31

/* The longest rewrite string. */
#define SRPOL_INNER_OFF_MASK	511

_Static_assert(SRPOL_REWRITE_MAX <= SRPOL_INNER_OFF_MASK, "mask");

static __always_inline int srpol_port_pass(__u32 reason)
{
	srpol_count(reason);
	return XDP_PASS;
}

static __always_inline int srpol_port_drop(const struct srpol_pkt *pkt,
					   __u32 reason, __u32 id)
{
	srpol_drop_pkt(pkt, reason, id);
	return XDP_DROP;
}

/*
 * A packet of which no flow is known, because it could not be parsed or there
 * are no rules. It goes up the stack, but for one to what is inside the SR
 * domain, which ends here (RFC 8754 5.1).
 */
static __noinline int srpol_port_unsteered(struct xdp_md *ctx,
					  struct srpol_pkt *pkt, __u32 reason)
{
	void *end = (void *)(long)ctx->data_end;
	struct srpol_state *st = srpol_state_get();
	__u32 off = pkt->l3_off;
	struct ipv6hdr *ip6;

	/* The verifier does not remember how little it can be. */
	barrier_var(off);
	ip6 = (void *)(long)ctx->data + (off & SRPOL_L3_OFF_MASK);
	if (!st || pkt->l3_proto != bpf_htons(ETH_P_IPV6) ||
	    (void *)(ip6 + 1) > end ||
	    !srpol_inside(st, srpol_now_read(st).gen, &ip6->daddr))
		return srpol_port_pass(reason);
	srpol_copy_addr(pkt->key.saddr, &ip6->saddr);
	srpol_copy_addr(pkt->key.daddr, &ip6->daddr);
	pkt->len = bpf_ntohs(ip6->payload_len) + sizeof(*ip6);
	return srpol_port_drop(pkt, SRPOL_REASON_SID_FROM_PORT, 0);
}

static __always_inline int srpol_port_parse(struct xdp_md *ctx,
					    struct srpol_pkt *pkt)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct srpol_meta meta = {
		.xdp = ctx,
		.ifindex = ctx->ingress_ifindex,
	};
	__u64 linear = end - data;

	/* Else it becomes part of arithmetic the verifier does not allow. */
	barrier_var(linear);
	meta.len = linear;
	return srpol_parse(data, end, &meta, pkt);
}

/* The hop a router makes of it; @off: where the inner packet is by now. */
static __always_inline int srpol_port_hop(struct xdp_md *ctx, bool is_v4,
					  __u32 off)
{
	void *end = (void *)(long)ctx->data_end;
	void *l3;

	barrier_var(off);
	l3 = (void *)(long)ctx->data + (off & SRPOL_INNER_OFF_MASK);
	if (is_v4) {
		if (l3 + sizeof(struct iphdr) > end)
			return SRPOL_REASON_NO_ROOM;
		srpol_hop_v4(l3);
	} else {
		if (l3 + sizeof(struct ipv6hdr) > end)
			return SRPOL_REASON_NO_ROOM;
		srpol_hop_v6(l3);
	}
	return 0;
}

/*
 * The rewrite string to the start of the packet. It is 6 bytes and then words
 * of 8 long, whatever the SRH. The steps are unrolled: each has its place in
 * the packet known to the verifier.
 */
static __always_inline int srpol_port_write(void *data, void *end,
					    const struct srpol_path_cfg *cfg)
{
	const __u8 *from = cfg->rewrite;
	__u32 left = cfg->encap_len - IPV6_HLEN, i;
	__u8 *to = data;

	if (to + SRPOL_FRONT > (__u8 *)end)
		return SRPOL_REASON_NO_ROOM;
	/* It is no whole number of words: the last two overlap. */
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

static __noinline int srpol_timestamp_xdp(struct xdp_md *ctx, __u32 off,
				      __u32 path)
{
	struct srpol_timestamp s;

	srpol_timestamp_make(path, &s);
	return bpf_xdp_store_bytes(ctx, off + SRPOL_TIMESTAMP_SEQ, &s,
				   sizeof(s));
}

static __always_inline int srpol_port_push(struct xdp_md *ctx,
					   const struct srpol_pkt *pkt,
					   const struct srpol_selected *sel,
					   const struct srpol_outer *o)
{
	const struct srpol_path_cfg *cfg = sel->cfg;
	int err;

	err = srpol_port_write((void *)(long)ctx->data,
			       (void *)(long)ctx->data_end, cfg);
	if (!err)
		err = srpol_outer_fill((void *)(long)ctx->data,
				       (void *)(long)ctx->data_end, pkt, cfg,
				       o);
	if (!err)
		err = srpol_port_hop(ctx, pkt->is_v4,
				     ETH_HLEN + cfg->encap_len);
	if (!err && cfg->timestamp_off &&
	    srpol_timestamp_xdp(ctx, cfg->timestamp_off, sel->path))
		return SRPOL_REASON_NO_ROOM;
	return err;
}

/*
 * Room for the outer header. Drivers keep 192 to 256 bytes in front of a
 * packet, less than the longest lists need. The link layer, tags and all, makes
 * up for a part of it.
 */
static __always_inline bool srpol_port_room(struct xdp_md *ctx,
					    const struct srpol_pkt *pkt,
					    const struct srpol_path_cfg *cfg)
{
	return !bpf_xdp_adjust_head(ctx, (int)pkt->l3_off - ETH_HLEN -
					 (int)cfg->encap_len);
}

/**
 * srpol_port_steer - send a packet on the path of its flow
 * @ctx: packet
 * @pkt: the same, parsed
 *
 * A packet that is too big, or has no room in front of it, is one more packet
 * for the stack: it comes to the uplink's egress, where its sender is answered,
 * or room is made.
 *
 * Return: what the program returns.
 */
static __always_inline int srpol_port_steer(struct xdp_md *ctx,
					    struct srpol_pkt *pkt)
{
	struct srpol_outer o;
	struct srpol_steer s;
	int reason;

	reason = srpol_steer_find(NULL, pkt, true, &s);
	if (reason == SRPOL_REASON_SID_FROM_PORT)
		return srpol_port_drop(pkt, reason, 0);
	if (!s.flow)
		return srpol_port_unsteered(ctx, pkt, reason);
	if (reason == SRPOL_REASON_INVALID_DROP) {
		srpol_steer_account(&s, pkt);
		srpol_steer_not(&s, reason);
		return srpol_port_drop(pkt, reason, s.d.cache.policy);
	}
	if (reason)
		return srpol_port_pass(reason);
	if (!srpol_encap_fits(pkt, s.sel.cfg))
		return srpol_port_pass(SRPOL_REASON_PORT_TOO_BIG);
	/* No hop left: the packet is the kernel's, to be answered. */
	if (pkt->ttl <= 1)
		return srpol_port_pass(SRPOL_REASON_TTL_EXCEEDED);
	if (!srpol_port_room(ctx, pkt, s.sel.cfg))
		return srpol_port_pass(SRPOL_REASON_PORT_NO_ROOM);

	srpol_steer_outer(&s, pkt, &o);
	reason = srpol_port_push(ctx, pkt, &s.sel, &o);
	if (!reason && bpf_redirect_map(&uplinks, s.sel.ifindex, XDP_DROP) !=
		       XDP_REDIRECT)
		reason = SRPOL_REASON_NO_UPLINK;
	if (reason) {
		srpol_error(SRPOL_ERROR_PATH, reason, s.sel.path);
		return srpol_port_drop(pkt, reason, s.sel.path);
	}
	srpol_steer_account(&s, pkt);
	srpol_steer_done(&s, pkt);
	return XDP_REDIRECT;
}

#endif /* _SRPOL_PORT_H */
