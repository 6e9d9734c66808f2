/* SPDX-License-Identifier: GPL-2.0 */
/* Steering, common to TC and XDP: from a parsed packet to its path. */
#ifndef _SRPOL_STEER_H
#define _SRPOL_STEER_H

#include "base.h"
#include "encap.h"
#include "flow.h"
#include "maps.h"
#include "parse.h"
#include "psn.h"
#include "quality.h"
#include "select.h"
#include "state.h"
#include "stats.h"

/**
 * struct srpol_steer - a packet that is being steered
 * @cfg: settings
 * @flow: entry of its flow, NULL if it has none, since there are no rules
 * @d: decision about the flow; in memory of the caller, apart from the other
 *	fields, which may stay in registers
 * @sel: its path
 */
struct srpol_steer {
	const struct srpol_dp_config *cfg;
	struct srpol_flow *flow;
	struct srpol_decision *d;
	struct srpol_selected sel;
};

/*
 * Count the rare events in the selection of a path, SRPOL_SEL_*.
 */
__noinline int srpol_steer_report(__u32 how, __u32 policy)
{
	__u32 reason = (how & SRPOL_SEL_REASON_MASK) >> 8;

	if (how & SRPOL_SEL_UNSAFE)
		srpol_count_rare(SRPOL_REASON_SPRAY_UNSAFE);
	if (!reason)
		return 0;
	srpol_count_rare(reason);
	if (reason == SRPOL_REASON_DOWN_SKIPPED ||
	    reason == SRPOL_REASON_BACKUP)
		srpol_error(SRPOL_ERROR_POLICY, reason, policy);
	return 0;
}

/* Why a port may not send the packet; reasons to drop it come first. */
static __always_inline int srpol_steer_refused(__u32 how)
{
	if (how & SRPOL_HOW_SPOOFED)
		return SRPOL_REASON_SPOOFED;
	return how & SRPOL_HOW_INSIDE ? SRPOL_REASON_SID_FROM_PORT :
					SRPOL_REASON_LOCAL;
}

/**
 * srpol_steer_find - find the flow and the path of a packet
 * @ctx: packet
 * @pkt: the same packet, parsed
 * @hook: enum srpol_port_hook: the hook of the host port it came in by, if any
 * @s: result; @d is set by the caller
 *
 * Nothing is counted, as it is not known yet what becomes of the packet.
 *
 * Return: 0, or the enum srpol_reason why it has no path.
 */
static __always_inline int srpol_steer_find(void *ctx, struct srpol_pkt *pkt,
					    const __u32 hook,
					    struct srpol_steer *s)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_flow *flow;
	union srpol_now now;

	s->flow = NULL;
	if (!st)
		return SRPOL_REASON_NO_RULE;
	now = srpol_now_read(st);
	flow = srpol_flow_get(ctx, pkt, hook, st, &now, s->d);
	if (!flow)
		return SRPOL_REASON_NO_RULE;
	if (hook && s->d->head.how & SRPOL_HOW_NOT_FOR_PORTS)
		return srpol_steer_refused(s->d->head.how);
	s->cfg = srpol_config(st, now.gen);
	s->flow = flow;
	s->sel.how = 0;
	/*
	 * The path is a reason here, and never 0; but the verifier has to see
	 * that.
	 */
	if (!s->d->cache.policy)
		return s->d->cache.path ?: SRPOL_REASON_NO_POLICY;
	return srpol_select_merged(pkt, now.gen, flow, s->d, &s->sel);
}

/*
 * Count a packet for its flow and its rule. Only to be called when no other
 * program will count the same packet.
 */
static __always_inline void srpol_steer_account(const struct srpol_steer *s,
						const struct srpol_pkt *pkt)
{
	srpol_flow_account(s->flow, pkt->len, s->sel.how & SRPOL_SEL_EXACT);
	if (s->d->rule_id)
		srpol_counter_add(&rule_stats, s->d->rule_id, pkt->len);
	if (pkt->key.roce && s->d->cache.policy)
		srpol_psn_sent(pkt, s->flow, &s->d->nr);
}

/**
 * srpol_steer_unpushed - what becomes of a packet that the kernel does not let be
 *	encapsulated
 * @policy: its policy
 *
 * Return: ENCAP_REFUSED, or ENCAP_REFUSED_DROP, as drop-upon-invalid says.
 */
static __noinline int srpol_steer_unpushed(__u32 policy)
{
	struct srpol_policy *p = bpf_map_lookup_elem(&policies, &policy);
	struct srpol_state *st = srpol_state_get();
	__u32 gen;

	if (!p || !st)
		return SRPOL_REASON_ENCAP_REFUSED;
	gen = srpol_now_read(st).gen;
	return p->cfg[srpol_copy(READ_ONCE(p->ver), gen)].drop_upon_invalid ?
		       SRPOL_REASON_ENCAP_REFUSED_DROP :
		       SRPOL_REASON_ENCAP_REFUSED;
}

/**
 * srpol_steer_not - note that the packet is finally not steered
 * @s: what was found
 * @reason: what srpol_steer_find() returned
 *
 * A flow that has no policy has lost its path when that was decided.
 */
static __always_inline void srpol_steer_not(const struct srpol_steer *s,
					    int reason)
{
	union srpol_flow_cache none = { .policy = s->d->cache.policy };

	if (reason == SRPOL_REASON_INVALID_DROP ||
	    reason == SRPOL_REASON_INVALID_PASSTHROUGH)
		srpol_error(SRPOL_ERROR_POLICY, reason, s->d->cache.policy);
	if (reason == SRPOL_REASON_INVALID_DROP || !s->d->cache.policy)
		return;
	s->flow->path = 0;
	if (s->d->cache.path)
		srpol_flow_cache(s->flow, s->d->cache, none);
}

/**
 * srpol_steer_left - another program has the last word, and looks at it again
 * @s: what was decided
 *
 * A flow that its mode has just moved would not be moved there, as no time has
 * passed since: it is remembered where it goes.
 */
static __always_inline void srpol_steer_left(const struct srpol_steer *s)
{
	union srpol_flow_cache to = {
		.policy = s->d->cache.policy, .path = s->sel.path,
		.version = s->sel.version,
	};

	if (!(s->sel.how & SRPOL_SEL_OWN) || to.word == s->d->cache.word)
		return;
	srpol_flow_cache(s->flow, s->d->cache, to);
	if (s->sel.how & SRPOL_SEL_REASON_MASK)
		srpol_count_rare(srpol_selected_reason(&s->sel));
}

/* Values for the outer header of a packet. */
static __always_inline void srpol_steer_outer(const struct srpol_steer *s,
					      const struct srpol_pkt *pkt,
					      struct srpol_outer *o)
{
	o->label = srpol_outer_label(s->cfg, pkt, s->d, s->sel.path);
	o->tclass = srpol_outer_tclass(s->cfg, pkt->tclass);
}

/* The packet takes the path that was found: note and count that. */
static __always_inline void srpol_steer_done(const struct srpol_steer *s,
					     const struct srpol_pkt *pkt)
{
	const struct srpol_selected *sel = &s->sel;
	union srpol_flow_cache to = {
		.policy = s->d->cache.policy, .path = sel->path,
		.version = sel->version,
	};
	__u32 mode = srpol_selected_mode(sel);
	struct srpol_flow *flow = s->flow;

	if (flow->path != sel->path) {
		if (flow->path && mode != SRPOL_LB_MODE_SPRAY)
			srpol_flow_moved(s->d->nr);
		flow->path = sel->path;
	}
	if (sel->how & SRPOL_SEL_OWN && to.word != s->d->cache.word)
		srpol_flow_cache(flow, s->d->cache, to);
	if (mode == SRPOL_LB_MODE_FLOWLET || mode == SRPOL_LB_MODE_ADAPTIVE)
		srpol_quality_send(sel->path, pkt->len, flow->last_ns);
	if (sel->how & (SRPOL_SEL_REASON_MASK | SRPOL_SEL_UNSAFE))
		srpol_steer_report(sel->how, s->d->cache.policy);
	srpol_counter_add(&path_stats, sel->path, pkt->len);
	srpol_counter_add(&policy_stats, sel->policy, pkt->len);
	srpol_count(SRPOL_REASON_STEERED);
}

#endif /* _SRPOL_STEER_H */
