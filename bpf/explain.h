/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What srpol_egress would do with a packet, and why. The same functions run on
 * a copy of the flow, so that asking counts nothing, and makes or moves no
 * flow.
 */
#ifndef _SRPOL_EXPLAIN_H
#define _SRPOL_EXPLAIN_H

#include "base.h"
#include "classify.h"
#include "encap.h"
#include "flow.h"
#include "parse.h"
#include "path.h"
#include "select.h"
#include "state.h"
#include "words.h"

/* The path of the bucket that the flow's hash falls into, whatever its mode. */
static __always_inline void
srpol_explain_primary(const struct srpol_decision *d, __u32 gen,
		      struct srpol_explain *x)
{
	const struct srpol_policy_cfg *cfg;

	cfg = srpol_policy_cfg(d->cache.policy, gen);
	if (!cfg || !cfg->n_buckets)
		return;
	x->bucket = srpol_bucket(d->hash, cfg->n_buckets);
	x->primary = srpol_bucket_path(cfg, x->bucket);
	x->skipped = !srpol_path_look(gen, x->primary);
}

static __noinline int srpol_explain_path(const struct srpol_pkt *pkt,
					 __u32 gen, struct srpol_flow *flow,
					 const struct srpol_decision *d,
					 struct srpol_explain *x)
{
	struct srpol_selected sel = {};

	x->reason = srpol_select(pkt, gen, flow, d, &sel);
	x->mode = srpol_selected_mode(&sel);
	if (x->reason)
		return 0;
	x->path = sel.path;
	x->used_policy = sel.policy;
	if (!srpol_encap_fits(pkt, sel.cfg))
		x->reason = SRPOL_REASON_TOO_BIG;
	return 0;
}

static __noinline int srpol_explain_rule(struct __sk_buff *skb,
					 struct srpol_pkt *pkt,
					 union srpol_now *now,
					 struct srpol_decision *d,
					 struct srpol_explain *x)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_rule_index *index;
	struct srpol_rule_order *order;
	struct srpol_dp_rule *rule;

	if (!st)
		return -ENOENT;
	*now = srpol_now_sync(st);
	if (!srpol_order_index(st, now->gen, &order, &index) || !order->n)
		return -ENOENT;
	srpol_flow_identify(skb, pkt, false, order);
	rule = srpol_classify(skb, pkt, order, index, now, d, &x->rules);
	srpol_flow_inside(st, now->gen, pkt, d);
	if (!rule)
		return 0;
	x->rule_id = rule->id;
	x->priority = rule->priority;
	x->color = rule->color;
	return 0;
}

/*
 * Copy the flow, if it is in the table, to entry @d->nr. If its next packet
 * would keep the flow's path, @d gets that path. Return: whether the flow is in
 * the table.
 */
static __noinline int srpol_explain_known(const struct srpol_flow_key *key,
					  __u32 epoch, struct srpol_decision *d)
{
	struct srpol_flow_detail *detail = srpol_flow_detail(&d->nr), *more;
	struct srpol_flow *flow = srpol_flow_entry(d->nr), *cached;
	struct srpol_decision known;

	if (!flow || !detail)
		return 0;
	cached = srpol_flow_of(key, &known) ? srpol_flow_entry(known.nr) : NULL;
	more = cached ? srpol_flow_detail(&known.nr) : NULL;
	if (more) {
		srpol_copy_words(flow, cached, sizeof(*flow));
		srpol_copy_words(detail, more, sizeof(*detail));
	} else {
		srpol_flow_begin(flow, detail);
	}
	srpol_flow_describe(flow, detail, d);
	if (!more)
		return 0;
	if (known.head.epoch == epoch || srpol_flow_goes_on(more, &known, d))
		d->cache = known.cache;
	return 1;
}

/**
 * srpol_explain_pkt - explain what srpol_egress would do with a packet
 * @skb: packet
 * @pkt: the same packet, parsed
 * @x: result
 */
static __always_inline void srpol_explain_pkt(struct __sk_buff *skb,
					      struct srpol_pkt *pkt,
					      struct srpol_explain *x)
{
	struct srpol_decision d;
	struct srpol_flow *flow;
	union srpol_now now;

	x->reason = SRPOL_REASON_NO_RULE;
	if (srpol_explain_rule(skb, pkt, &now, &d, x))
		return;
	d.nr = srpol_flow_spare();
	flow = srpol_flow_entry(d.nr);
	if (!flow)
		return;
	x->cached = srpol_explain_known(&pkt->key, now.epoch, &d);
	x->policy = d.cache.policy;
	x->ordering = srpol_how_ordering(d.head.how);
	if (!d.cache.policy) {
		x->reason = d.cache.path;
		return;
	}
	srpol_explain_primary(&d, now.gen, x);
	srpol_explain_path(pkt, now.gen, flow, &d, x);
}

#endif /* _SRPOL_EXPLAIN_H */
