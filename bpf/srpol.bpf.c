// SPDX-License-Identifier: GPL-2.0
/*
 * The eBPF data plane of srpol. Packet programs that live by the maps alone,
 * and the methods by which the module writes the maps.
 *
 *	srpol_egress	TCX egress of uplinks: steer what leaves
 *	srpol_port	XDP of host ports: steer what VMs and pods send
 *	srpol_uplink	XDP ingress of uplinks: end local SIDs
 *	srpol_explain	run by user space: what srpol_egress would do
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
#include "words.h"
#include "maps.h"
#include "gen.h"
#include "stats.h"
#include "parse.h"
#include "drop.h"
#include "sid.h"
#include "sid_memo.h"
#include "flow_table.h"
#include "flow.h"
#include "classify.h"
#include "path.h"
#include "quality.h"
#include "mode_spray.h"
#include "mode_flowlet.h"
#include "mode_adaptive.h"
#include "select.h"
#include "psn.h"
#include "ecn.h"
#include "hop.h"
#include "encap.h"
#include "steer.h"
#include "icmp.h"
#include "egress.h"
#include "port.h"
#include "usid.h"
#include "srh.h"
#include "inner.h"
#include "visit.h"
#include "adjacency.h"
#include "outer_ce.h"
#include "congestion.h"
#include "decap.h"
#include "endpoint.h"
#include "explain.h"
#include "dp_stage.h"
#include "dp_clear.h"
#include "dp_path.h"
#include "dp_policy.h"
#include "dp_rule.h"
#include "dp_endpoint.h"
#include "dp_sid.h"
#include "dp_global.h"
#include "dp_ops.h"

char LICENSE[] SEC("license") = "GPL";

SEC("tcx/egress")
int srpol_egress(struct __sk_buff *skb)
{
	struct srpol_pkt pkt;
	int i, reason;

	for (i = 0; i < 2; i++) {
		reason = srpol_parse_skb(skb, &pkt);
		if (reason != SRPOL_REASON_UNPARSED || !srpol_pull(skb))
			break;
	}
	if (reason)
		return srpol_egress_pass(reason);
	return srpol_egress_steer(skb, &pkt);
}

SEC("xdp.frags")
int srpol_port(struct xdp_md *ctx)
{
	struct srpol_pkt pkt;
	int reason;

	reason = srpol_port_parse(ctx, &pkt);
	if (reason)
		return srpol_port_stranger(ctx, &pkt, reason);
	return srpol_port_steer(ctx, &pkt);
}

SEC("xdp.frags")
int srpol_uplink(struct xdp_md *ctx)
{
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct ipv6hdr *ip6 = (void *)(eth + 1);
	struct srpol_state *st = srpol_state_get();
	const struct srpol_sid *sid;

	if (!st || (void *)(ip6 + 1) > end)
		return XDP_PASS;
	if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
		sid = srpol_sid_find(st, &ip6->daddr);
		if (sid)
			return srpol_endpoint(ctx, ip6, st, sid);
		srpol_count(SRPOL_REASON_NOT_LOCAL);
	}
	srpol_signal_look(ctx, srpol_config(st, srpol_now_read(st).gen));
	return XDP_PASS;
}

/* The frame has to be as long as the answer, which takes its place. */
SEC("tc")
int srpol_explain(struct __sk_buff *skb)
{
	struct srpol_explain x = {};
	struct srpol_pkt pkt;
	int reason;

	reason = srpol_parse_skb(skb, &pkt);
	if (reason == SRPOL_REASON_UNPARSED && srpol_pull(skb))
		reason = srpol_parse_skb(skb, &pkt);
	if (reason) {
		x.reason = reason;
	} else {
		x.parsed = 1;
		srpol_explain_pkt(skb, &pkt, &x);
	}
	return bpf_skb_store_bytes(skb, 0, &x, sizeof(x), 0);
}
