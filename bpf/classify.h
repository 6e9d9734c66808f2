/* SPDX-License-Identifier: GPL-2.0 */
/* Rule -> color -> endpoint -> policy: once per flow and epoch. */
#ifndef _SRPOL_CLASSIFY_H
#define _SRPOL_CLASSIFY_H

static __always_inline bool srpol_prefix_match(const __u8 *addr,
					       const __u8 *want,
					       const __u8 *mask)
{
	const __u64 *a = (const __u64 *)addr;
	const __u64 *w = (const __u64 *)want;
	const __u64 *m = (const __u64 *)mask;

	return !(((a[0] & m[0]) ^ w[0]) | ((a[1] & m[1]) ^ w[1]));
}

static __always_inline bool srpol_range_match(__u32 v, __u32 min, __u32 max)
{
	return v >= min && v <= max;
}

/**
 * srpol_class_match - does a packet agree with a rule?
 * @r: rule
 * @pkt: packet
 *
 * A field the packet does not have (ports of a later fragment, QP of TCP)
 * matches nothing.
 */
static __always_inline bool srpol_class_match(const struct srpol_dp_class *r,
					      const struct srpol_pkt *pkt)
{
	const struct srpol_flow_key *k = &pkt->key;
	__u32 m = r->match;

	if (m & SRPOL_MATCH_DEV && r->ifindex != pkt->ifindex)
		return false;
	if (m & SRPOL_MATCH_MARK && r->mark != (pkt->mark & r->mark_mask))
		return false;
	if (m & SRPOL_MATCH_SRC &&
	    !srpol_prefix_match(k->saddr, r->src, r->src_mask))
		return false;
	if (m & SRPOL_MATCH_DST &&
	    !srpol_prefix_match(k->daddr, r->dst, r->dst_mask))
		return false;
	if (m & SRPOL_MATCH_PROTO && r->proto != k->proto)
		return false;
	if (m & (SRPOL_MATCH_SPORT | SRPOL_MATCH_DPORT) && !pkt->has_ports)
		return false;
	if (m & SRPOL_MATCH_SPORT &&
	    !srpol_range_match(k->sport, r->sport[0], r->sport[1]))
		return false;
	if (m & SRPOL_MATCH_DPORT &&
	    !srpol_range_match(pkt->dport, r->dport[0], r->dport[1]))
		return false;
	if (m & SRPOL_MATCH_DSCP && r->dscp != pkt->tclass >> 2)
		return false;
	if (!(m & (SRPOL_MATCH_QP | SRPOL_MATCH_OPCODE | SRPOL_MATCH_PKEY)))
		return true;
	if (!k->roce)
		return false;
	if (m & SRPOL_MATCH_QP &&
	    !srpol_range_match(k->qp, r->qp[0], r->qp[1]))
		return false;
	if (m & SRPOL_MATCH_OPCODE &&
	    !(r->opcodes[pkt->opcode / 64] >> (pkt->opcode & 63) & 1))
		return false;
	return !(m & SRPOL_MATCH_PKEY) || r->pkey == pkt->pkey;
}

/*
 * The first rule a packet agrees with. Returns its color, 0 for bypass, and
 * its counter index in @class_id, which stays 0 when there is no such rule.
 */
static __always_inline __u32
srpol_class_find(const struct srpol_pkt *pkt,
		 const struct srpol_class_order *order, __u32 *class_id)
{
	struct srpol_dp_class *rule;
	__u32 i;

	bpf_for(i, 0, SRPOL_MAX_CLASSES) {
		if (i >= order->n || i >= SRPOL_MAX_CLASSES)
			break;
		rule = bpf_map_lookup_elem(&classes, &order->slot[i]);
		if (rule && srpol_class_match(rule, pkt)) {
			*class_id = rule->id;
			return rule->color;
		}
	}
	return 0;
}

/*
 * The policy of a color for an inner destination: that of the endpoint behind
 * the longest matching prefix, else that of the null endpoint (RFC 9256 8.8.1,
 * color-only steering).
 */
static __always_inline __u32 srpol_policy_find(__u32 color, const __u8 *daddr)
{
	struct srpol_policy_key key = { .color = color };
	struct srpol_prefix prefix = { .len = 128 };
	struct srpol_endpoint *ep;
	__u32 *id;

	srpol_copy_addr(prefix.addr, daddr);
	ep = bpf_map_lookup_elem(&endpoints, &prefix);
	if (ep) {
		srpol_copy_addr(key.endpoint, ep->addr);
		id = bpf_map_lookup_elem(&policy_index, &key);
		if (id)
			return *id;
		__builtin_memset(key.endpoint, 0, sizeof(key.endpoint));
	}
	id = bpf_map_lookup_elem(&policy_index, &key);
	return id ? *id : 0;
}

/*
 * Decide about the flow of a packet. The order of rules is the one in force
 * after the epoch was read, with a full barrier in between: a change moves the
 * epoch last, so what is decided by old rules never carries the new epoch.
 */
static __always_inline void srpol_classify(struct srpol_pkt *pkt,
					   struct srpol_state *st,
					   struct srpol_flow *flow)
{
	__u32 class_id = 0, color, live;
	struct srpol_class_order *order;

	__builtin_memset(flow, 0, sizeof(*flow));
	flow->epoch = __sync_fetch_and_add(&st->epoch, 0);
	flow->verdict = SRPOL_REASON_NO_CLASS;
	srpol_flow_hash(pkt, flow);

	live = READ_ONCE(st->order_live) & 1;
	order = bpf_map_lookup_elem(&class_order, &live);
	if (!order)
		return;
	srpol_flow_identify(pkt, order);
	color = srpol_class_find(pkt, order, &class_id);
	flow->class_id = class_id;
	if (!class_id)
		return;
	flow->verdict = SRPOL_REASON_BYPASS;
	if (!color)
		return;
	flow->verdict = SRPOL_REASON_NO_POLICY;
	flow->policy = srpol_policy_find(color, pkt->key.daddr);
}

/*
 * The slow path of srpol_flow_get(). A cached entry is replaced as a whole,
 * never written over: other CPUs see the old decision or the new one.
 */
static __noinline int srpol_flow_new(struct srpol_pkt *pkt,
				     struct srpol_state *st,
				     struct srpol_flow *flow)
{
	struct srpol_flow *old;

	srpol_classify(pkt, st, flow);
	old = bpf_map_lookup_elem(&flows, &pkt->key);
	if (old) {
		flow->packets = old->packets;
		flow->bytes = old->bytes;
	}
	return bpf_map_update_elem(&flows, &pkt->key, flow, BPF_ANY);
}

/**
 * srpol_flow_get - the decision about a packet's flow
 * @pkt: parsed packet
 * @st: state
 * @order: rules in force
 * @decision: room for a decision that finds none in the cache
 *
 * The entry may be evicted, and given to another flow, while it is being
 * looked at. What comes of that is one packet with another flow's decision:
 * as if it had been classified a moment ago.
 *
 * Return: the cached entry, or @decision.
 */
static __always_inline struct srpol_flow *
srpol_flow_get(struct srpol_pkt *pkt, struct srpol_state *st,
	       const struct srpol_class_order *order,
	       struct srpol_flow *decision)
{
	__u32 epoch = READ_ONCE(st->epoch);
	struct srpol_flow *flow;

	srpol_flow_identify(pkt, order);
	flow = bpf_map_lookup_elem(&flows, &pkt->key);
	if (flow && flow->epoch == epoch)
		return flow;
	if (srpol_flow_new(pkt, st, decision))
		return decision;
	flow = bpf_map_lookup_elem(&flows, &pkt->key);
	return flow ? flow : decision;
}

#endif /* _SRPOL_CLASSIFY_H */
