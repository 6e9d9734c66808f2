/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What srpol_egress would do with a packet, and why: the same functions on a
 * copy of the flow, so that nothing is counted, made or moved by asking.
 */
#ifndef _SRPOL_EXPLAIN_H
#define _SRPOL_EXPLAIN_H

/* The bucket of the flow's hash, whatever its mode makes of it. */
static __always_inline void srpol_explain_home(const struct srpol_flow *flow,
					       __u32 gen,
					       struct srpol_explain *x)
{
	__u32 id = flow->policy;
	struct srpol_policy *policy = bpf_map_lookup_elem(&policies, &id);
	struct srpol_policy_cfg *cfg;
	struct srpol_choice c;

	if (!policy)
		return;
	cfg = &policy->cfg[srpol_copy(READ_ONCE(policy->ver), gen)];
	if (!cfg->n_buckets)
		return;
	x->bucket = srpol_bucket(flow->hash, cfg->n_buckets);
	x->home = srpol_bucket_path(cfg, x->bucket);
	x->skipped = !srpol_path_take(gen, x->home, &c);
}

static __noinline int srpol_explain_path(const struct srpol_pkt *pkt,
					 __u32 gen, struct srpol_flow *flow,
					 struct srpol_explain *x)
{
	struct srpol_choice c = {};
	struct srpol_decision d;

	flow->packets++;
	srpol_decision_read(flow, &d);
	x->reason = srpol_select(pkt, gen, flow, &d, &c);
	x->mode = c.mode;
	if (x->reason)
		return 0;
	x->path = c.path;
	x->used_policy = c.policy;
	if (!srpol_encap_fits(pkt, c.cfg))
		x->reason = SRPOL_REASON_TOO_BIG;
	return 0;
}

static __noinline int srpol_explain_rule(struct __sk_buff *skb,
					 struct srpol_pkt *pkt,
					 union srpol_now *now,
					 struct srpol_flow *flow,
					 struct srpol_explain *x)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_rule_order *order;
	struct srpol_dp_rule *rule;

	if (!st)
		return -ENOENT;
	*now = srpol_now_sync(st);
	order = srpol_order(st, now->gen);
	if (!order || !order->n)
		return -ENOENT;
	srpol_flow_identify(skb, pkt, order);
	rule = srpol_classify(skb, pkt, order, now, flow, &x->rules);
	if (!rule)
		return 0;
	x->rule_id = rule->id;
	x->priority = rule->priority;
	x->color = rule->color;
	return 0;
}

/**
 * srpol_explain_pkt - explain a packet
 * @skb: packet
 * @pkt: the same, parsed
 * @x: result
 */
static __always_inline void srpol_explain_pkt(struct __sk_buff *skb,
					      struct srpol_pkt *pkt,
					      struct srpol_explain *x)
{
	struct srpol_flow *flow = srpol_flow_room(), *cached;
	union srpol_now now;

	x->reason = SRPOL_REASON_NO_RULE;
	if (!flow || srpol_explain_rule(skb, pkt, &now, flow, x))
		return;
	cached = srpol_flow_of(&pkt->key);
	if (cached) {
		x->cached = 1;
		if (cached->epoch == now.epoch)
			__builtin_memcpy(flow, cached, sizeof(*flow));
		else
			srpol_flow_inherit(flow, cached);
	}
	x->policy = flow->policy;
	x->ordering = flow->ordering;
	x->reason = flow->verdict;
	if (!flow->policy)
		return;
	srpol_explain_home(flow, now.gen, x);
	srpol_explain_path(pkt, now.gen, flow, x);
}

#endif /* _SRPOL_EXPLAIN_H */
