/* SPDX-License-Identifier: GPL-2.0 */
/* What TC and XDP have in common: from a parsed packet to its path. */
#ifndef _SRPOL_STEER_H
#define _SRPOL_STEER_H

/**
 * struct srpol_way - the way of a packet
 * @cfg: settings
 * @flow: its flow, NULL if it is none, as there are no rules
 * @d: what was decided about it
 * @c: its path
 */
struct srpol_way {
	const struct srpol_dp_config *cfg;
	struct srpol_flow *flow;
	struct srpol_decision d;
	struct srpol_choice c;
};

/* The rare things there are to say about a choice, see struct srpol_choice. */
static __noinline int srpol_choice_report(__u32 reason, __u32 unsafe,
					  __u32 policy)
{
	if (unsafe)
		srpol_count(SRPOL_REASON_SPRAY_UNSAFE);
	if (!reason)
		return 0;
	srpol_count(reason);
	if (reason == SRPOL_REASON_DOWN_SKIPPED ||
	    reason == SRPOL_REASON_BACKUP)
		srpol_error(SRPOL_ERROR_POLICY, reason, policy);
	return 0;
}

/**
 * srpol_way_find - decide about a packet
 * @skb: packet, NULL at XDP
 * @pkt: the same, parsed
 * @w: result
 *
 * Counts the packet for its flow, rule and choice, but not whether it is sent
 * that way in the end.
 *
 * Return: 0, or the enum srpol_reason why it has no path.
 */
static __always_inline int srpol_way_find(struct __sk_buff *skb,
					  struct srpol_pkt *pkt,
					  struct srpol_way *w)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_flow *flow;
	union srpol_now now;
	int reason;

	w->flow = NULL;
	if (!st)
		return SRPOL_REASON_NO_RULE;
	now = srpol_now_read(st);
	flow = srpol_flow_get(skb, pkt, st, &now, &w->d);
	if (!flow)
		return SRPOL_REASON_NO_RULE;
	if (!skb && w->d.inside)
		return SRPOL_REASON_SID_FROM_PORT;
	w->cfg = srpol_config(st, now.gen);
	w->flow = flow;
	srpol_flow_account(flow, pkt->len);
	if (w->d.rule_id)
		srpol_counter_add(&rule_stats, w->d.rule_id, pkt->len);
	if (!w->d.policy) {
		srpol_flow_tick(flow);
		/* Never 0; the verifier wants to see it. */
		return w->d.verdict ?: SRPOL_REASON_NO_POLICY;
	}
	if (pkt->key.roce)
		srpol_psn_sent(pkt, flow);

	reason = srpol_select(pkt, now.gen, flow, &w->d, &w->c);
	if (reason) {
		if (reason != SRPOL_REASON_INVALID_DROP)
			srpol_stay_write(flow, 0, 0);
		if (reason == SRPOL_REASON_INVALID_DROP ||
		    reason == SRPOL_REASON_INVALID_PASSTHROUGH)
			srpol_error(SRPOL_ERROR_POLICY, reason, w->d.policy);
		return reason;
	}
	if (w->c.reason | w->c.unsafe)
		srpol_choice_report(w->c.reason, w->c.unsafe, w->d.policy);
	return 0;
}

/* Values for the outer header of a packet. */
static __always_inline void srpol_way_outer(const struct srpol_way *w,
					    const struct srpol_pkt *pkt,
					    struct srpol_outer *o)
{
	o->label = srpol_outer_label(w->cfg, pkt, &w->d, w->c.path);
	o->tclass = srpol_outer_tclass(w->cfg, pkt->tclass);
}

/* The packet goes this way. */
static __always_inline void srpol_way_taken(const struct srpol_way *w,
					    const struct srpol_pkt *pkt)
{
	struct srpol_flow *flow = w->flow;

	if (w->d.stay.path && w->d.stay.path != w->c.path &&
	    w->c.mode != SRPOL_LB_MODE_SPRAY)
		flow->moves++;
	if (w->d.stay.path != w->c.path || w->d.stay.chosen != w->c.found)
		srpol_stay_write(flow, w->c.path, w->c.found);
	if (w->c.mode == SRPOL_LB_MODE_FLOWLET ||
	    w->c.mode == SRPOL_LB_MODE_ADAPTIVE)
		srpol_quality_send(w->c.path, pkt->len, flow->last_ns);
	srpol_counter_add(&path_stats, w->c.path, pkt->len);
	srpol_counter_add(&policy_stats, w->c.policy, pkt->len);
	srpol_count(SRPOL_REASON_STEERED);
}

#endif /* _SRPOL_STEER_H */
