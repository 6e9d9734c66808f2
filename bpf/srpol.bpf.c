// SPDX-License-Identifier: GPL-2.0
/*
 * The eBPF data plane of srpol: packet programs that need nothing but the maps,
 * and the methods by which the module writes the maps.
 *
 *	srpol_egress	TCX egress of uplinks: steer packets that leave
 *	srpol_port	XDP of host ports: steer what VMs and pods send
 *	srpol_port_tc	TC ingress of host ports: the same for what XDP left
 *	srpol_uplink	XDP ingress of uplinks: process packets to local SIDs
 *	srpol_uplink_tc	TC ingress of uplinks: send what XDP cannot, deliver to
 *			virtual ports
 *	srpol_explain	run by user space: tell what srpol_egress would do
 *	srpol_dp	struct_ops: methods by which the module writes the maps
 */
#include "alone.h"
#include "base.h"
#include "dp_ops.h"
#include "egress.h"
#include "endpoint.h"
#include "explain.h"
#include "handoff.h"
#include "host.h"
#include "link_layer.h"
#include "netns.h"
#include "parse.h"
#include "port_tc.h"
#include "port_xdp.h"
#include "pull.h"
#include "uplink.h"

char LICENSE[] SEC("license") = "GPL";

SEC("tcx/egress")
int srpol_egress(struct __sk_buff *skb)
{
	struct srpol_pkt pkt;
	int reason;

	if (!srpol_netns_ours_skb(skb))
		return SRPOL_TC_NEXT;
	/* XDP has decided about it, and would have sent it past this hook. */
	if (srpol_has_metadata(skb) && srpol_handoff_sent(skb))
		return SRPOL_TC_NEXT;
	if (srpol_alone(skb))
		return SRPOL_TC_NEXT;
	reason = srpol_parse_skb(skb, &pkt);
	if (reason)
		return srpol_egress_pass(reason);
	return srpol_egress_steer(skb, &pkt);
}

SEC("xdp.frags")
int srpol_port(struct xdp_md *ctx)
{
	struct srpol_pkt pkt;
	int reason;

	if (!srpol_netns_ours(ctx))
		return XDP_PASS;
	reason = srpol_port_parse(ctx, &pkt);
	if (reason)
		return XDP_PASS;
	return srpol_port_steer(ctx, &pkt);
}

SEC("tcx/ingress")
int srpol_port_tc(struct __sk_buff *skb)
{
	struct srpol_pkt pkt = {};
	int reason;

	if (!srpol_netns_ours_skb(skb))
		return SRPOL_TC_NEXT;
	if (srpol_link_layer_show(skb))
		return srpol_port_unreadable(skb, &pkt);
	srpol_alone_clear(skb);
	reason = srpol_parse_skb(skb, &pkt);
	if (!srpol_mac_ours_skb(skb) && reason != SRPOL_REASON_UNPARSED)
		reason = SRPOL_REASON_FOREIGN_MAC;
	if (reason)
		return srpol_port_unsteered(skb, &pkt, reason);
	return srpol_port_tc_steer(skb, &pkt);
}

SEC("xdp.frags")
int srpol_uplink(struct xdp_md *ctx)
{
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct ipv6hdr *ip6 = (void *)(eth + 1);
	struct srpol_state *st = srpol_state_get();
	const struct srpol_sid *sid;

	if (!st || !srpol_netns_ours(ctx))
		return XDP_PASS;
	if ((void *)(ip6 + 1) > end) {
		srpol_pull_xdp(ctx, SRPOL_PULL);
		eth = (void *)(long)ctx->data;
		end = (void *)(long)ctx->data_end;
		ip6 = (void *)(eth + 1);
	}
	if ((void *)(ip6 + 1) > end || srpol_is_tag(eth->h_proto))
		return srpol_uplink_other(ctx, st);
	if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
		sid = srpol_sid_find(st, &ip6->daddr);
		if (sid && !srpol_mac_ours(ctx, eth)) {
			srpol_count_rare(SRPOL_REASON_FOREIGN_MAC);
			return XDP_PASS;
		}
		if (sid)
			return srpol_endpoint(ctx, ip6, st, sid);
		srpol_count(SRPOL_REASON_NOT_LOCAL);
	}
	srpol_signal_look(ctx, srpol_config(st, srpol_now_read(st).gen));
	return XDP_PASS;
}

SEC("tcx/ingress")
int srpol_uplink_tc(struct __sk_buff *skb)
{
	int verdict;

	if (!srpol_netns_ours_skb(skb))
		return SRPOL_TC_NEXT;
	if (srpol_link_layer_show(skb))
		return SRPOL_TC_NEXT;
	verdict = srpol_has_metadata(skb) ? srpol_handoff_send(skb) : -1;
	return verdict < 0 ? srpol_host_deliver(skb) : verdict;
}

/*
 * The answer overwrites the start of the frame, which must be long enough for
 * it.
 */
SEC("tc")
int srpol_explain(struct __sk_buff *skb)
{
	struct srpol_explain x = {};
	struct srpol_pkt pkt;
	int reason;

	reason = srpol_parse_skb(skb, &pkt);
	if (reason) {
		x.reason = reason;
	} else {
		x.parsed = 1;
		srpol_explain_pkt(skb, &pkt, &x);
	}
	return bpf_skb_store_bytes(skb, 0, &x, sizeof(x), 0);
}
