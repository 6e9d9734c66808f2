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

/*
 * Is the sender in the cgroup of a rule, or below it? At XDP it is not known
 * and so is in none.
 */
static __always_inline bool srpol_cgroup_match(struct __sk_buff *skb,
					       const struct srpol_dp_rule *r)
{
	if (!(r->match & SRPOL_MATCH_CGROUP))
		return true;
	return skb && bpf_skb_ancestor_cgroup_id(skb, r->cgroup_level) ==
		      r->cgroup;
}

/**
 * srpol_rule_match - does a packet agree with a rule, its sender apart?
 * @r: rule
 * @pkt: packet, parsed
 *
 * A field the packet does not have (ports of a later fragment, QP of TCP)
 * matches nothing. Global, so that the verifier looks at it once and not for
 * each rule.
 */
__noinline bool srpol_rule_match(const struct srpol_dp_rule *r __arg_nonnull,
				  const struct srpol_pkt *pkt __arg_nonnull)
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
	if (m & SRPOL_MATCH_VLAN && r->vlan != pkt->vlan)
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

/* Hints looked at between two rounds of the loop, which is what costs. */
#define SRPOL_HINTS		16

_Static_assert(SRPOL_MAX_RULES % SRPOL_HINTS == 0, "the last round is whole");

/* May the rule be the packet's? */
static __always_inline bool srpol_hint_fits(const struct srpol_rule_hint *h,
					    const struct srpol_pkt *pkt)
{
	const __u64 *word = (const __u64 *)&pkt->key;

	return pkt->key.qp - h->qp_min <= h->qp_more &&
	       (word[h->word & 3] & h->mask) == h->value;
}

/*
 * The first rule a packet agrees with, NULL if there is none. @tried gets the
 * number of rules looked at; of thousands most are ruled out by their hints.
 */
static __always_inline struct srpol_dp_rule *
srpol_rule_find(struct __sk_buff *skb, const struct srpol_pkt *pkt,
		 const struct srpol_rule_order *order, __u32 *tried)
{
	const struct srpol_rule_hint *h;
	struct srpol_dp_rule *rule;
	__u32 round, first, i;

	*tried = order->n;
	bpf_for(round, 0, SRPOL_MAX_RULES / SRPOL_HINTS) {
		first = round * SRPOL_HINTS;
		if (first >= order->n ||
		    first > SRPOL_MAX_RULES - SRPOL_HINTS)
			break;
		h = &order->hint[first];
#pragma unroll
		for (i = 0; i < SRPOL_HINTS; i++, h++) {
			if (!srpol_hint_fits(h, pkt) || first + i >= order->n)
				continue;
			rule = bpf_map_lookup_elem(&rules, &h->slot);
			if (!rule || !srpol_rule_match(rule, pkt) ||
			    !srpol_cgroup_match(skb, rule))
				continue;
			*tried = first + i + 1;
			return rule;
		}
	}
	return NULL;
}

static __always_inline __u32
srpol_policy_at(const struct srpol_policy_key *key, __u32 gen)
{
	struct srpol_policy_ref *ref;

	ref = bpf_map_lookup_elem(&policy_index, key);
	return ref ? ref->id[srpol_copy(READ_ONCE(ref->ver), gen)] : 0;
}

/*
 * The endpoint behind the longest prefix that is there in this generation: one
 * that is hidden, or to come, sends the search on to shorter ones.
 */
static __always_inline bool srpol_endpoint_find(const __u8 *daddr, __u32 gen,
						__u8 *endpoint)
{
	struct srpol_prefix prefix = { .len = SRPOL_ADDR_BITS };
	struct srpol_endpoint *ep;
	__u32 i, copy;

	srpol_copy_addr(prefix.addr, daddr);
	bpf_for(i, 0, SRPOL_ADDR_BITS + 1) {
		ep = bpf_map_lookup_elem(&endpoints, &prefix);
		if (!ep)
			return false;
		copy = srpol_copy(READ_ONCE(ep->ver), gen);
		if (ep->present[copy]) {
			srpol_copy_addr(endpoint, ep->addr[copy]);
			return true;
		}
		if (!ep->len)
			return false;
		prefix.len = ep->len - 1;
	}
	return false;
}

/*
 * The policy of a color for an inner destination: that of the endpoint behind
 * the longest matching prefix, else that of the null endpoint (RFC 9256 8.8.1,
 * color-only steering).
 */
static __always_inline __u32 srpol_policy_find(__u32 color, const __u8 *daddr,
					       __u32 gen)
{
	struct srpol_policy_key key = { .color = color };
	__u32 id;

	if (srpol_endpoint_find(daddr, gen, key.endpoint)) {
		id = srpol_policy_at(&key, gen);
		if (id)
			return id;
		__builtin_memset(key.endpoint, 0, sizeof(key.endpoint));
	}
	return srpol_policy_at(&key, gen);
}

static __always_inline bool srpol_policy_symmetric(__u32 id, __u32 gen)
{
	struct srpol_policy *policy = bpf_map_lookup_elem(&policies, &id);
	__u32 copy;

	if (!policy)
		return false;
	copy = srpol_copy(READ_ONCE(policy->ver), gen);
	return policy->cfg[copy].flags & SRPOL_POLICY_SYMMETRIC;
}

/* A flow that has been through nothing yet. */
static __always_inline void srpol_flow_begin(struct srpol_flow *flow)
{
	flow->packets = 0;
	flow->bytes = 0;
	flow->tick = 0;
	flow->last_ns = 0;
	flow->bound = 0;
	flow->psn_next = SRPOL_PSN_UNKNOWN;
	flow->retransmits = 0;
	flow->flowlets = 0;
	flow->moves = 0;
	flow->cnp = 0;
	flow->nak = 0;
	flow->wish_ns = 0;
	srpol_stay_write(flow, 0, 0);
}

/**
 * srpol_classify - decide about the flow of a packet
 * @skb: packet, NULL at XDP
 * @pkt: the same, parsed and identified
 * @order: rules in force
 * @now: epoch and generation they are of
 * @flow: result; what a flow has been through is 0
 * @tried: number of rules looked at
 *
 * Return: the rule, NULL if there is none.
 */
static __always_inline struct srpol_dp_rule *
srpol_classify(struct __sk_buff *skb, const struct srpol_pkt *pkt,
	       const struct srpol_rule_order *order,
	       const union srpol_now *now, struct srpol_flow *flow,
	       __u32 *tried)
{
	struct srpol_dp_rule *rule;

	__builtin_memset(flow, 0, sizeof(*flow));
	flow->key = pkt->key;
	flow->epoch = now->epoch;
	srpol_flow_begin(flow);
	flow->verdict = SRPOL_REASON_NO_RULE;
	flow->mode = SRPOL_MODE_INHERIT;
	srpol_flow_hash(pkt, flow);

	rule = srpol_rule_find(skb, pkt, order, tried);
	if (!rule)
		return NULL;
	flow->rule_id = rule->id;
	flow->mode = rule->mode;
	flow->ordering = rule->ordering;
	flow->verdict = SRPOL_REASON_BYPASS;
	if (!rule->color)
		return rule;
	flow->verdict = SRPOL_REASON_NO_POLICY;
	flow->policy = srpol_policy_find(rule->color, pkt->key.daddr,
					 now->gen);
	if (flow->policy && srpol_policy_symmetric(flow->policy, now->gen))
		flow->hash = srpol_flow_hash_symmetric(pkt);
	return rule;
}

/* What a flow has been through outlives its classification. */
static __always_inline void srpol_flow_inherit(struct srpol_flow *flow,
					       const struct srpol_flow *old)
{
	union srpol_stay stay;

	flow->packets = old->packets;
	flow->bytes = old->bytes;
	flow->tick = old->tick;
	flow->last_ns = old->last_ns;
	flow->bound = old->bound;
	flow->psn_next = old->psn_next;
	flow->retransmits = old->retransmits;
	flow->flowlets = old->flowlets;
	flow->moves = old->moves;
	flow->cnp = old->cnp;
	flow->nak = old->nak;
	if (flow->policy != old->policy || flow->mode != old->mode)
		return;
	stay = srpol_stay_read(old);
	srpol_stay_write(flow, stay.path, stay.chosen);
	flow->wish_ns = old->wish_ns;
}

static __always_inline struct srpol_flow *srpol_flow_room(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&flow_scratch, &zero);
}

/* There are no rules, so there are no flows. */
#define SRPOL_NO_FLOW		(~0u)

/*
 * The slow path of srpol_flow_get(). It sees the generation of its own start,
 * as does, from here on, the rest of the program: what is decided by old rules
 * must never carry a new epoch. Return: number of the flow's entry.
 */
static __always_inline __u32
srpol_flow_make(struct __sk_buff *skb, struct srpol_pkt *pkt,
		union srpol_now *now, struct srpol_decision *d)
{
	struct srpol_flow *flow = srpol_flow_room(), *old;
	struct srpol_state *st = srpol_state_get();
	struct srpol_rule_order *order;
	struct srpol_flow_place place;
	__u32 tried;

	if (!st || !flow)
		return SRPOL_NO_FLOW;
	*now = srpol_now_sync(st);
	order = srpol_order(st, now->gen);
	if (!order)
		return SRPOL_NO_FLOW;
	srpol_flow_identify(skb, pkt, order);
	srpol_classify(skb, pkt, order, now, flow, &tried);
	flow->inside = !pkt->is_v4 &&
		       srpol_inside(st, now->gen, (void *)pkt->key.daddr);
	place = srpol_flow_locate(&pkt->key);
	old = srpol_flow_find(&pkt->key, &place);
	if (old)
		srpol_flow_inherit(flow, old);
	/* Another flow's by now: what that one has been through says nothing. */
	if (old && !srpol_flow_still(&place))
		srpol_flow_begin(flow);
	srpol_decision_read(flow, d);
	return srpol_flow_put(&place, flow);
}

/* Global, so that the verifier looks at them once. */
__noinline __u32
srpol_flow_make_skb(struct __sk_buff *skb, struct srpol_pkt *pkt __arg_nonnull,
		    union srpol_now *now __arg_nonnull,
		    struct srpol_decision *d __arg_nonnull)
{
	return srpol_flow_make(skb, pkt, now, d);
}

__noinline __u32
srpol_flow_make_xdp(struct srpol_pkt *pkt __arg_nonnull,
		    union srpol_now *now __arg_nonnull,
		    struct srpol_decision *d __arg_nonnull)
{
	return srpol_flow_make(NULL, pkt, now, d);
}

/**
 * srpol_flow_get - the decision about a packet's flow
 * @skb: packet, NULL at XDP
 * @pkt: the same, parsed
 * @st: state
 * @now: epoch and generation; may be moved on
 * @d: decision
 *
 * Return: the flow's entry, or one that could not be cached, or NULL if there
 * are no rules. It may be given to another flow at any time: what is counted
 * in it may be lost, or count for that one.
 */
static __always_inline struct srpol_flow *
srpol_flow_get(struct __sk_buff *skb, struct srpol_pkt *pkt,
	       struct srpol_state *st, union srpol_now *now,
	       struct srpol_decision *d)
{
	struct srpol_rule_order *order = srpol_order(st, now->gen);
	/* Those of the slow path are in memory; @now and @d need not be. */
	union srpol_now fresh_now;
	struct srpol_decision fresh;
	struct srpol_flow_place place;
	struct srpol_flow *flow;
	__u32 nr;

	if (!order || !order->n)
		return NULL;
	srpol_flow_identify(skb, pkt, order);
	place = srpol_flow_locate(&pkt->key);
	flow = srpol_flow_find(&pkt->key, &place);
	if (flow && READ_ONCE(flow->epoch) == now->epoch) {
		srpol_decision_read(flow, d);
		if (srpol_flow_still(&place))
			return flow;
	}
	nr = skb ? srpol_flow_make_skb(skb, pkt, &fresh_now, &fresh) :
		   srpol_flow_make_xdp(pkt, &fresh_now, &fresh);
	flow = srpol_flow_entry(nr);
	if (flow) {
		*now = fresh_now;
		*d = fresh;
	}
	return flow;
}

#endif /* _SRPOL_CLASSIFY_H */
