// SPDX-License-Identifier: GPL-2.0
/*
 * The eBPF data plane of srpol. Two packet programs that live by the maps
 * alone, and the methods by which the module writes the maps.
 *
 *	srpol_egress	TCX egress of uplinks: steer what leaves
 *	srpol_uplink	XDP ingress of uplinks: end local SIDs
 *	srpol_dp	struct_ops: kernel -> maps
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>
#include <linux/srpol.h>
#include <srpol/dp.h>
#include "srpol_maps.h"

#include "kerrno.h"
#include "once.h"
#include "proto.h"
#include "maps.h"
#include "stats.h"
#include "parse.h"
#include "flow.h"
#include "classify.h"
#include "select.h"
#include "ecn.h"
#include "encap.h"
#include "icmp.h"
#include "decap.h"
#include "dp_apply.h"
#include "dp_ops.h"

char LICENSE[] SEC("license") = "GPL";

/* Left alone, and counted. */
static __always_inline int srpol_pass(__u32 reason)
{
	srpol_count(reason);
	return SRPOL_TC_NEXT;
}

static __always_inline int srpol_drop(__u32 reason)
{
	srpol_count(reason);
	return SRPOL_TC_DROP;
}

/**
 * srpol_steer - send a packet on its flow's way
 * @skb: packet
 * @pkt: the same, parsed
 * @cfg: settings
 * @flow: decision about its flow; the path taken is noted in it
 *
 * Return: what the program returns.
 */
static __always_inline int srpol_steer(struct __sk_buff *skb,
				       const struct srpol_pkt *pkt,
				       const struct srpol_dp_config *cfg,
				       struct srpol_flow *flow)
{
	struct srpol_choice c;
	__u32 label;
	int reason;

	reason = srpol_select(flow->policy, flow->hash, &c);
	if (reason == SRPOL_REASON_FAIL_DROP)
		return srpol_drop(reason);
	if (reason)
		return srpol_pass(reason);
	if (c.reason)
		srpol_count(c.reason);

	if (!srpol_encap_fits(skb, pkt, c.cfg)) {
		srpol_count(SRPOL_REASON_TOO_BIG);
		if (!cfg->icmp_errors)
			return SRPOL_TC_DROP;
		return srpol_icmp_too_big(skb, pkt,
					  c.cfg->mtu - c.cfg->encap_len);
	}

	flow->path = c.path;
	label = srpol_outer_label(cfg, pkt, flow);
	reason = srpol_push(skb, pkt, c.cfg,
			    srpol_outer_tclass(cfg, pkt->tclass), label);
	if (reason == SRPOL_REASON_TUNNELED)
		return srpol_pass(reason);
	if (reason)
		return srpol_drop(reason);

	srpol_counter_add(&path_stats, c.path, pkt->len);
	srpol_counter_add(&policy_stats, c.policy, pkt->len);
	srpol_count(SRPOL_REASON_STEERED);
	if (c.ifindex != pkt->ifindex)
		return bpf_redirect(c.ifindex, 0);
	return SRPOL_TC_NEXT;
}

SEC("tcx/egress")
int srpol_egress(struct __sk_buff *skb)
{
	struct srpol_flow decision, *flow;
	struct srpol_class_order *order;
	struct srpol_state *st;
	struct srpol_pkt pkt;
	__u32 live, zero = 0;
	int i, reason;

	for (i = 0; i < 2; i++) {
		reason = srpol_parse(skb, &pkt);
		if (reason != SRPOL_REASON_UNPARSED || !srpol_pull(skb))
			break;
	}
	if (reason)
		return srpol_pass(reason);

	st = bpf_map_lookup_elem(&state, &zero);
	if (!st)
		return SRPOL_TC_NEXT;
	live = READ_ONCE(st->order_live) & 1;
	order = bpf_map_lookup_elem(&class_order, &live);
	if (!order || !order->n)
		return srpol_pass(SRPOL_REASON_NO_CLASS);

	flow = srpol_flow_get(&pkt, st, order, &decision);
	srpol_flow_account(flow, pkt.len);
	if (flow->class_id)
		srpol_counter_add(&class_stats, flow->class_id, pkt.len);
	if (!flow->policy)
		return srpol_pass(flow->verdict);
	live = READ_ONCE(st->cfg_live) & 1;
	return srpol_steer(skb, &pkt, &st->cfg[live], flow);
}

SEC("xdp.frags")
int srpol_uplink(struct xdp_md *ctx)
{
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct ipv6hdr *ip6 = (void *)(eth + 1);
	struct srpol_sid *sid;

	if ((void *)(ip6 + 1) > end || eth->h_proto != bpf_htons(ETH_P_IPV6))
		return XDP_PASS;
	sid = bpf_map_lookup_elem(&sids, &ip6->daddr);
	if (sid)
		return srpol_endpoint(ctx, ip6, sid);
	srpol_count(SRPOL_REASON_NOT_LOCAL);
	return XDP_PASS;
}
