/* SPDX-License-Identifier: GPL-2.0 */
/* Path selection: policy -> mode -> path. */
#ifndef _SRPOL_SELECT_H
#define _SRPOL_SELECT_H

#include "base.h"
#include "flow.h"
#include "forget.h"
#include "maps.h"
#include "mode_adaptive.h"
#include "mode_flowlet.h"
#include "mode_spray.h"
#include "parse.h"
#include "path.h"
#include "state.h"

/* The mode for a flow: that of its rule, else that of the policy. */
static __always_inline __u32
srpol_select_mode(const struct srpol_decision *d,
		  const struct srpol_policy_cfg *cfg)
{
	__u32 mode = d->head.how & SRPOL_HOW_MODE;

	return mode == SRPOL_HOW_INHERIT ? cfg->mode : mode;
}

/* What srpol_select_other() returns: a path, 0 if there is none; SRPOL_SEL_*. */
static __always_inline __u64 srpol_select_result(__u32 path, __u32 how)
{
	return path | (__u64)how << 32;
}

/*
 * Select from the backup policy. What the modes flowlet and adaptive remember
 * of a flow is about its own policy, so that here they work as hash, and so
 * does on-congestion.
 */
static __always_inline __u32
srpol_select_backup(__u32 policy, __u32 gen, const struct srpol_decision *d,
		    const struct srpol_flow *flow)
{
	const struct srpol_policy_cfg *cfg = srpol_policy_cfg(policy, gen);
	__u32 position = d->hash, tries = SRPOL_REHASH_TRIES;

	if (!cfg)
		return 0;
	switch (srpol_select_mode(d, cfg)) {
	case SRPOL_LB_MODE_ACTIVE_BACKUP:
		position = 0;
		tries = 0;
		break;
	case SRPOL_LB_MODE_SPRAY:
		/* Draw differently for each packet. */
		if (srpol_how_ordering(d->head.how) == SRPOL_ORDERING_WEAK)
			position += flow->packets;
		break;
	}
	return srpol_path_other(policy, gen, position, tries);
}

/* Select by position on the table, or the path that a rule names. */
static __always_inline __u64
srpol_select_position(const struct srpol_policy_cfg *cfg,
		      const struct srpol_decision *d,
		      const struct srpol_flow_detail *detail, __u32 gen,
		      __u32 how, __u32 position)
{
	__u32 tries = SRPOL_REHASH_TRIES, policy = d->cache.policy;
	__u32 mode = how & SRPOL_SEL_MODE, own = SRPOL_SEL_OWN, path;

	if (mode == SRPOL_LB_MODE_ACTIVE_BACKUP) {
		/*
		 * The table lists the paths in the order in which to try them.
		 */
		position = 0;
		tries = 0;
	}
	path = mode == SRPOL_LB_MODE_HASH ? detail->rule_path : 0;
	if (path && srpol_path_listed(policy, gen, path)) {
		if (srpol_path_usable(gen, path))
			return srpol_select_result(path, how | own);
		/*
		 * not kept, so that the flow returns to its rule's path once
		 * that is up
		 */
		own = 0;
	}
	/* that is what was tried first in mode spray */
	if (mode != SRPOL_LB_MODE_SPRAY) {
		path = srpol_position_path(cfg, position);
		if (srpol_path_usable(gen, path))
			return srpol_select_result(path, how | own);
	}
	path = srpol_path_other(policy, gen, position, tries);
	how |= SRPOL_SEL_REASON(SRPOL_REASON_DOWN_SKIPPED);
	return srpol_select_result(path, how);
}

/* Select from the policy itself. */
static __always_inline __u64
srpol_select_own(const struct srpol_policy_cfg *cfg,
		 const struct srpol_decision *d, struct srpol_flow *flow,
		 struct srpol_flow_detail *detail, __u32 gen, __u32 version,
		 __u32 how, __u32 position)
{
	__u32 path, reason;

	switch (how & SRPOL_SEL_MODE) {
	case SRPOL_LB_MODE_FLOWLET:
		path = srpol_flowlet_other(flow, detail, d->cache, gen, version,
					   how & SRPOL_SEL_IDLE);
		reason = SRPOL_REASON_FLOWLET_MOVED;
		break;
	case SRPOL_LB_MODE_ADAPTIVE:
		path = srpol_adaptive_other(cfg, d, flow, detail, gen, version);
		reason = SRPOL_REASON_ADAPTIVE_MOVED;
		how |= SRPOL_SEL_EXACT;
		break;
	default:
		return srpol_select_position(cfg, d, detail, gen, how,
					     position);
	}
	if (path)
		how |= SRPOL_SEL_OWN;
	if (path && d->cache.path && d->cache.path != path)
		how |= SRPOL_SEL_REASON(reason);
	return srpol_select_result(path, how);
}

/**
 * srpol_select_other - select a path if the first one does not do
 * @d: the decision about the flow
 * @gen: generation
 * @version: srpol_version() of the policy
 * @how: SRPOL_SEL_*, with the mode
 * @position: the packet's position on the bucket table
 *
 * Global, so that the verifier checks it once and not in each state of its
 * callers. Hence it passes an id: the caller takes the path that it names.
 *
 * Return: srpol_select_result().
 */
__noinline __u64
srpol_select_other(const struct srpol_decision *d __arg_nonnull, __u32 gen,
		   __u32 version, __u32 how, __u32 position)
{
	const struct srpol_policy_cfg *cfg = srpol_policy_cfg(d->cache.policy,
							      gen);
	struct srpol_flow_detail *detail = srpol_flow_detail(&d->nr);
	struct srpol_flow *flow = srpol_flow_entry(d->nr);
	__u64 found = srpol_select_result(0, how);
	__u32 path;

	if (!cfg || !flow || !detail)
		return found;
	if (cfg->n_buckets)
		found = srpol_select_own(cfg, d, flow, detail, gen, version,
					 how, position);
	if ((__u32)found || !cfg->backup)
		return found;
	how = found >> 32 & ~SRPOL_SEL_REASON_MASK;
	path = srpol_select_backup(cfg->backup, gen, d, flow);
	if (path)
		how |= SRPOL_SEL_REASON(SRPOL_REASON_BACKUP);
	return srpol_select_result(path, how);
}

/*
 * Mode on-congestion: has there been a congestion signal in the last @for_ms
 * ms?
 */
static __always_inline bool srpol_congested(__u32 policy, __u32 for_ms)
{
	struct srpol_contention *v = bpf_map_lookup_elem(&contention, &policy);
	__u64 last = v ? READ_ONCE(v->last_ns) : 0;

	return last && (__s64)(bpf_ktime_get_coarse_ns() - last) <
		       (__s64)(for_ms * SRPOL_NS_PER_MS);
}

/*
 * The path to try first, 0 if there is none: that of the last packet, if it was found
 * in the table in force, except where the mode has a say.
 */
static __always_inline __u32
srpol_select_first(const struct srpol_pkt *pkt,
		   const struct srpol_policy_cfg *cfg,
		   const struct srpol_decision *d, struct srpol_flow *flow,
		   struct srpol_selected *sel, __u32 *position)
{
	switch (srpol_selected_mode(sel)) {
	case SRPOL_LB_MODE_FLOWLET:
		return srpol_flowlet_first(cfg, d, sel->version, flow, sel);
	case SRPOL_LB_MODE_ADAPTIVE:
		return srpol_adaptive_first(cfg, d);
	case SRPOL_LB_MODE_SPRAY:
		*position = srpol_spray_position(pkt, cfg, d, flow->packets,
						 sel);
		return srpol_position_path(cfg, *position);
	default:
		return d->cache.version == sel->version ? d->cache.path : 0;
	}
}

/**
 * srpol_select - select the path of a packet
 * @pkt: packet
 * @gen: generation
 * @flow: the flow's entry, where the mode notes what it has to remember
 * @d: the decision about the flow
 * @sel: result
 *
 * Return: 0, or the enum srpol_reason why there is no path: NO_POLICY,
 * NOT_CONGESTED, or INVALID_DROP or INVALID_PASSTHROUGH, as drop-upon-invalid
 * says.
 */
static __always_inline int srpol_select(const struct srpol_pkt *pkt, __u32 gen,
					struct srpol_flow *flow,
					const struct srpol_decision *d,
					struct srpol_selected *sel)
{
	__u32 id = d->cache.policy, position = d->hash, ver, mode, path = 0;
	const struct srpol_policy_cfg *cfg;
	struct srpol_policy *policy;
	__u64 found;

	policy = bpf_map_lookup_elem(&policies, &id);
	if (!policy)
		return SRPOL_REASON_NO_POLICY;
	ver = READ_ONCE(policy->ver);
	cfg = &policy->cfg[srpol_copy(ver, gen)];
	sel->version = srpol_version(ver, gen);
	sel->policy = id;
	mode = srpol_select_mode(d, cfg);
	sel->how = SRPOL_SEL_ANY | mode;
	if (mode == SRPOL_LB_MODE_ON_CONGESTION &&
	    !srpol_congested(id, cfg->wait_to_restore_ms))
		return SRPOL_REASON_NOT_CONGESTED;
	if (cfg->n_buckets)
		path = srpol_select_first(pkt, cfg, d, flow, sel, &position);
	if (path && srpol_path_take(gen, path, false, sel)) {
		if (mode != SRPOL_LB_MODE_SPRAY)
			sel->how |= SRPOL_SEL_OWN;
		return 0;
	}
	found = srpol_select_other(d, gen, sel->version, sel->how, position);
	sel->how = found >> 32;
	if ((__u32)found && srpol_path_take(gen, found, true, sel)) {
		if (srpol_selected_reason(sel) == SRPOL_REASON_BACKUP)
			sel->policy = cfg->backup;
		return 0;
	}
	sel->how &= ~SRPOL_SEL_REASON_MASK;
	return cfg->drop_upon_invalid ? SRPOL_REASON_INVALID_DROP :
					SRPOL_REASON_INVALID_PASSTHROUGH;
}

/*
 * As srpol_select(). The modes come to a path in several ways; the verifier is made
 * to forget which one it was, or it would check all that follows for each of them.
 */
static __always_inline int srpol_select_merged(const struct srpol_pkt *pkt,
					       __u32 gen,
					       struct srpol_flow *flow,
					       const struct srpol_decision *d,
					       struct srpol_selected *sel)
{
	int reason = srpol_select(pkt, gen, flow, d, sel);

	if (!reason)
		sel->how = srpol_forget(sel->how);
	return reason;
}

#endif /* _SRPOL_SELECT_H */
