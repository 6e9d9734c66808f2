/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What received RoCEv2 packets tell about congestion and loss: CNPs and NAKs
 * about the flows that this host sends, and the order in which the packets of
 * its peers arrive. See RoCEv2, IBTA A17.
 */
#ifndef _SRPOL_CONGESTION_H
#define _SRPOL_CONGESTION_H

#include "base.h"
#include "flow_table.h"
#include "maps.h"
#include "parse.h"
#include "proto.h"
#include "quality.h"
#include "stats.h"
#include "words.h"

/**
 * struct srpol_signal - a RoCEv2 packet that came in
 * @key: local address, peer, local QP
 * @psn: PSN of the packet
 * @opcode: BTH opcode
 * @syndrome: syndrome of the AETH, valid if the packet is an ACK
 */
struct srpol_signal {
	struct srpol_qp_key key;
	__u32 psn;
	__u8 opcode;
	__u8 syndrome;
};

/*
 * The BTH of a frame without VLAN tags or IPv4 options, NULL if it is not
 * RoCEv2.
 */
static __always_inline struct srpol_bth *srpol_roce_find(void *data, void *end)
{
	struct ethhdr *eth = data;
	struct ipv6hdr *ip6 = (void *)(eth + 1);
	struct iphdr *ip = (void *)(eth + 1);
	struct udphdr *udp;
	struct srpol_bth *bth;

	if ((void *)(ip + 1) > end)
		return NULL;
	if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
		udp = (void *)(ip6 + 1);
		bth = (void *)(udp + 1);
		if ((void *)(bth + 1) > end || ip6->nexthdr != IPPROTO_UDP)
			return NULL;
	} else if (eth->h_proto == bpf_htons(ETH_P_IP)) {
		udp = (void *)(ip + 1);
		bth = (void *)(udp + 1);
		if ((void *)(bth + 1) > end || ip->protocol != IPPROTO_UDP ||
		    ip->ihl != sizeof(*ip) / 4 ||
		    ip->frag_off & bpf_htons(IP_OFFSET_MASK))
			return NULL;
	} else {
		return NULL;
	}
	return udp->dest == bpf_htons(ROCE_PORT) ? bth : NULL;
}

/*
 * The flow a signal is about, and what else is known of it; NULL if that is not
 * known.
 */
static __always_inline struct srpol_flow *
srpol_signal_flow(const struct srpol_signal *s,
		  struct srpol_flow_detail **detail)
{
	struct srpol_binding *b = bpf_map_lookup_elem(&bindings, &s->key);
	struct srpol_decision d;

	if (!b || !srpol_flow_of(&b->flow, &d))
		return NULL;
	*detail = srpol_flow_detail(&d.nr);
	return *detail ? srpol_flow_entry(d.nr) : NULL;
}

/* What else is known of a flow; NULL if it is not in the table. */
static __always_inline struct srpol_flow_detail *
srpol_signal_detail(const struct srpol_flow_key *key)
{
	struct srpol_decision d;

	return srpol_flow_of(key, &d) ? srpol_flow_detail(&d.nr) : NULL;
}

/*
 * An ACK came for a local QP. If a flow of this host has asked for this PSN to
 * be acknowledged, the QP is that flow's, whatever was known about the QP
 * before: QPs are destroyed and their numbers used again. So a forged ACK is
 * believed until the next genuine one at most.
 */
__noinline int
srpol_signal_learn(const struct srpol_signal *s __arg_nonnull)
{
	struct srpol_psn_key key = { .psn = s->psn };
	struct srpol_binding b = {}, *known;
	struct srpol_flow_detail *detail;
	struct srpol_flow_key *seen;

	srpol_copy_addr(key.local, s->key.local);
	srpol_copy_addr(key.peer, s->key.peer);
	seen = bpf_map_lookup_elem(&psn_seen, &key);
	if (!seen)
		return 0;
	b.flow = *seen;
	bpf_map_delete_elem(&psn_seen, &key);
	if (!b.flow.roce)
		return 0;
	known = bpf_map_lookup_elem(&bindings, &s->key);
	if (!known || srpol_flow_key_differ(&known->flow, &b.flow)) {
		detail = known ? srpol_signal_detail(&known->flow) : NULL;
		if (detail)
			detail->bound = 0;
		if (bpf_map_update_elem(&bindings, &s->key, &b, BPF_ANY))
			return 0;
	}
	detail = srpol_signal_detail(&b.flow);
	if (detail) {
		detail->bound = 1;
		detail->offers = 0;
	}
	return 0;
}

__noinline int
srpol_signal_cnp(const struct srpol_signal *s __arg_nonnull)
{
	struct srpol_flow_detail *detail;
	struct srpol_flow *flow = srpol_signal_flow(s, &detail);
	__u64 now = bpf_ktime_get_coarse_ns();
	struct srpol_contention *v;
	struct srpol_quality *q;
	__u32 policy;

	srpol_count_rare(SRPOL_REASON_CNP);
	if (!flow) {
		srpol_count_rare(SRPOL_REASON_UNKNOWN_QP);
		return 0;
	}
	detail->cnp++;
	policy = detail->policy;
	q = flow->path ? srpol_quality_get(flow->path) : NULL;
	if (q) {
		q->cnp++;
		srpol_quality_signal(q, now);
	}
	v = policy ? bpf_map_lookup_elem(&contention, &policy) : NULL;
	if (v) {
		v->signals++;
		WRITE_ONCE(v->last_ns, now);
	}
	return 0;
}

__noinline int
srpol_signal_nak(const struct srpol_signal *s __arg_nonnull)
{
	struct srpol_flow_detail *detail;
	struct srpol_flow *flow = srpol_signal_flow(s, &detail);
	struct srpol_quality *q;

	srpol_count_rare(SRPOL_REASON_NAK);
	if (!flow) {
		srpol_count_rare(SRPOL_REASON_UNKNOWN_QP);
		return 0;
	}
	detail->nak++;
	q = flow->path ? srpol_quality_get(flow->path) : NULL;
	if (q) {
		q->nak++;
		srpol_quality_signal(q, bpf_ktime_get_coarse_ns());
	}
	return 0;
}

/* Track the order in which the packets of a peer arrive. */
__noinline int
srpol_signal_observe(const struct srpol_signal *s __arg_nonnull)
{
	struct srpol_rx_flow *v, first = {
		.psn_next = (s->psn + 1) & BTH_24_BITS, .packets = 1,
	};
	__s32 ahead;

	v = bpf_map_lookup_elem(&rx_flows, &s->key);
	if (!v)
		return bpf_map_update_elem(&rx_flows, &s->key, &first,
					   BPF_ANY);
	v->packets++;
	ahead = srpol_psn_diff(s->psn, v->psn_next);
	if (ahead < 0) {
		v->reordered++;
		return 0;
	}
	if (ahead) {
		v->gaps++;
		if ((__u32)ahead > v->max_gap)
			v->max_gap = ahead;
	}
	v->psn_next = first.psn_next;
	return 0;
}

__noinline int srpol_signal_take(struct xdp_md *ctx, __u32 observe)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ipv6hdr *ip6 = data + ETH_HLEN;
	struct iphdr *ip = data + ETH_HLEN;
	struct srpol_bth *bth = srpol_roce_find(data, end);
	struct srpol_signal s = {};

	/* to one host; not all whose flows are steered have the device's address */
	if (!bth || *(__u8 *)data & 1)
		return 0;
	if (ip->version == 4) {
		srpol_copy_v4(s.key.local, ip->daddr);
		srpol_copy_v4(s.key.peer, ip->saddr);
	} else {
		srpol_copy_addr(s.key.local, &ip6->daddr);
		srpol_copy_addr(s.key.peer, &ip6->saddr);
	}
	s.key.qp = bpf_ntohl(bth->qp) & BTH_24_BITS;
	s.psn = bpf_ntohl(bth->psn) & BTH_24_BITS;
	s.opcode = bth->opcode;
	if ((void *)(bth + 1) + 1 <= end)
		s.syndrome = *(__u8 *)(bth + 1);

	if (s.opcode == BTH_CNP)
		return srpol_signal_cnp(&s);
	if (s.opcode == BTH_ACK) {
		srpol_signal_learn(&s);
		return s.syndrome == AETH_PSN_ERROR ? srpol_signal_nak(&s) : 0;
	}
	if (observe && srpol_bth_is_request(s.opcode))
		return srpol_signal_observe(&s);
	return 0;
}

/**
 * srpol_signal_look - take what a received packet tells about congestion
 * @ctx: packet as the host will see it, decapsulated
 * @cfg: settings
 */
static __always_inline void
srpol_signal_look(struct xdp_md *ctx, const struct srpol_dp_config *cfg)
{
	struct srpol_bth *bth;

	bth = srpol_roce_find((void *)(long)ctx->data,
			      (void *)(long)ctx->data_end);
	if (bth && (bth->opcode == BTH_CNP || bth->opcode == BTH_ACK ||
		    cfg->psn_observer))
		srpol_signal_take(ctx, cfg->psn_observer);
}

#endif /* _SRPOL_CONGESTION_H */
