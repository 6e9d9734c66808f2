/* SPDX-License-Identifier: GPL-2.0 */
/*
 * XDP of host ports: steer what a VM, pod or representor sends, if the frames
 * are plain. All other packets that are not dropped here go on to the program
 * at TC ingress of the same device (port_tc.h), which decides and counts.
 */
#ifndef _SRPOL_PORT_XDP_H
#define _SRPOL_PORT_XDP_H

#include "base.h"
#include "drop.h"
#include "encap.h"
#include "frame.h"
#include "hop.h"
#include "limit.h"
#include "mac.h"
#include "parse.h"
#include "proto.h"
#include "stats.h"
#include "steer.h"

static __always_inline int srpol_port_drop(const struct srpol_pkt *pkt,
					   __u32 reason, __u32 id)
{
	srpol_drop_pkt(pkt, reason, id);
	return XDP_DROP;
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

	if (data + sizeof(struct ethhdr) > end || !srpol_mac_ours(ctx, data))
		return SRPOL_REASON_FOREIGN_MAC;
	/*
	 * Otherwise it becomes part of arithmetic that the verifier does not
	 * allow.
	 */
	barrier_var(linear);
	meta.len = linear;
	return srpol_parse(data, end, &meta, pkt);
}

__noinline int srpol_timestamp_xdp(struct xdp_md *ctx, __u32 off, __u32 path)
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

	err = srpol_outer_write((void *)(long)ctx->data,
				(void *)(long)ctx->data_end, cfg);
	if (!err)
		err = srpol_outer_fill((void *)(long)ctx->data,
				       (void *)(long)ctx->data_end, pkt, cfg,
				       o);
	if (!err)
		err = srpol_hop_inner((void *)(long)ctx->data,
				      (void *)(long)ctx->data_end, pkt->is_v4,
				      ETH_HLEN + cfg->encap_len);
	if (!err && cfg->timestamp_off &&
	    srpol_timestamp_xdp(ctx, cfg->timestamp_off, sel->path))
		return SRPOL_REASON_NO_ROOM;
	return err;
}

/*
 * Make room for the outer header. Drivers keep 192 to 256 bytes in front of a
 * packet, less than the longest segment lists need. The old link layer, with
 * its tags, is overwritten and makes up for a part of it.
 */
static __always_inline bool srpol_port_room(struct xdp_md *ctx,
					    const struct srpol_pkt *pkt,
					    const struct srpol_path_cfg *cfg)
{
	return !bpf_xdp_adjust_head(ctx, (int)pkt->l3_off - ETH_HLEN -
					 (int)cfg->encap_len);
}

/*
 * Does the frame fit the path, with all that may be behind the packet? The device
 * measures frames, after the verdict, and tells nobody that one was too long. TC
 * cuts off what does not belong to the packet.
 */
static __always_inline bool srpol_port_fits(struct xdp_md *ctx,
					    const struct srpol_pkt *pkt,
					    const struct srpol_path_cfg *cfg)
{
	return srpol_frame_len(ctx) + cfg->encap_len <= cfg->mtu + pkt->l3_off;
}

/**
 * srpol_port_steer - send a packet on the path of its flow
 * @ctx: packet
 * @pkt: the same, parsed
 *
 * Return: what the program returns.
 */
static __always_inline int srpol_port_steer(struct xdp_md *ctx,
					    struct srpol_pkt *pkt)
{
	struct srpol_outer o;
	struct srpol_decision d;
	struct srpol_steer s = { .d = &d };
	int reason;

	reason = srpol_steer_find(ctx, pkt, SRPOL_PORT_XDP, &s);
	if (reason == SRPOL_REASON_SID_FROM_PORT ||
	    reason == SRPOL_REASON_SPOOFED)
		return srpol_port_drop(pkt, reason, 0);
	if (!s.flow)
		return XDP_PASS;
	if (reason == SRPOL_REASON_INVALID_DROP) {
		srpol_steer_account(&s, pkt);
		srpol_steer_not(&s, reason);
		return srpol_port_drop(pkt, reason, d.cache.policy);
	}
	/*
	 * The redirect is only noted here and happens after the verdict: if the
	 * device takes no frames from XDP, the packet is left to TC before
	 * anything is written.
	 */
	if (reason || !srpol_port_fits(ctx, pkt, s.sel.cfg) || pkt->ttl <= 1 ||
	    !srpol_frame_taken(ctx, s.sel.ifindex) ||
	    bpf_redirect_map(&uplinks_xdp, s.sel.ifindex, XDP_PASS) !=
	    XDP_REDIRECT || !srpol_port_room(ctx, pkt, s.sel.cfg)) {
		if (!reason)
			srpol_steer_left(&s);
		return XDP_PASS;
	}
	if (srpol_limit_any() && srpol_limit_xdp(d.cache.policy, pkt->len)) {
		srpol_steer_account(&s, pkt);
		return srpol_port_drop(pkt, SRPOL_REASON_LIMITED,
				       d.cache.policy);
	}

	srpol_steer_outer(&s, pkt, &o);
	reason = srpol_port_push(ctx, pkt, &s.sel, &o);
	if (reason) {
		srpol_error(SRPOL_ERROR_PATH, reason, s.sel.path);
		return srpol_port_drop(pkt, reason, s.sel.path);
	}
	srpol_steer_account(&s, pkt);
	srpol_steer_done(&s, pkt);
	return XDP_REDIRECT;
}

#endif /* _SRPOL_PORT_XDP_H */
