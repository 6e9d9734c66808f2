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
#include "select_args.h"
#include "state.h"

/* The mode for a flow: that of its rule, else that of the policy. */
static __always_inline __u32
srpol_select_mode(const struct srpol_decision *d,
		  const struct srpol_policy_cfg *cfg)
{
	__u32 mode = d->head.how & SRPOL_HOW_MODE;

	return mode == SRPOL_HOW_INHERIT ? cfg->mode : mode;
}

/*
 * Select from the backup policy. What the modes flowlet and adaptive remember
 * of a flow is about its own policy, so that here they work as hash, and so
 * does on-congestion.
 */
static __always_inline bool
srpol_select_backup(__u32 policy, __u32 gen, const struct srpol_decision *d,
		    struct srpol_flow *flow, struct srpol_selected *sel)
{
	const struct srpol_policy_cfg *cfg = srpol_policy_cfg(policy, gen);
	__u32 position = d->hash, tries = SRPOL_REHASH_TRIES, path;

	if (!cfg)
		return false;
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
	path = srpol_path_other(policy, gen, position, tries);
	if (!path || !srpol_path_take(gen, path, sel))
		return false;
	sel->policy = policy;
	sel->how |= SRPOL_SEL_REASON(SRPOL_REASON_BACKUP);
	return true;
}

/* Select by position on the table. @tries: see srpol_path_other(). */
static __always_inline bool
srpol_select_position(const struct srpol_policy_cfg *cfg,
		      const struct srpol_select_args *args, __u32 position,
		      __u32 tries, struct srpol_selected *sel)
{
	__u32 path = srpol_position_path(cfg, position);

	if (srpol_path_take(args->gen, path, sel)) {
		sel->how |= SRPOL_SEL_OWN;
		return true;
	}
	path = srpol_path_other(args->policy, args->gen, position, tries);
	if (!path || !srpol_path_take(args->gen, path, sel))
		return false;
	sel->how |= SRPOL_SEL_REASON(SRPOL_REASON_DOWN_SKIPPED);
	return true;
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

/* Select from the policy itself. Return: true if it has a usable path. */
static __always_inline bool
srpol_select_own(const struct srpol_pkt *pkt,
		 const struct srpol_policy_cfg *cfg,
		 const struct srpol_select_args *args,
		 const struct srpol_decision *d, struct srpol_flow *flow,
		 struct srpol_selected *sel)
{
	__u32 tries = SRPOL_REHASH_TRIES, position = args->hash;
	struct srpol_flow_detail *detail;
	bool found, ruled;
	__u32 rule_path;

	switch (srpol_selected_mode(sel)) {
	case SRPOL_LB_MODE_FLOWLET:
		return srpol_mode_flowlet(cfg, args, d->nr, flow, sel);
	case SRPOL_LB_MODE_ADAPTIVE:
		return srpol_mode_adaptive(cfg, args, &d->nr, sel);
	case SRPOL_LB_MODE_SPRAY:
		position = srpol_spray_position(pkt, cfg, d,
						flow->packets, sel);
		found = srpol_select_position(cfg, args, position, tries, sel);
		sel->how &= ~SRPOL_SEL_OWN;
		return found;
	case SRPOL_LB_MODE_ACTIVE_BACKUP:
		/*
		 * The table lists the paths in the order in which to try them.
		 */
		position = 0;
		tries = 0;
		break;
	}
	/*
	 * The path of the last packet, if it was found in the table in force.
	 */
	if (args->cache.version == args->version && args->cache.path &&
	    srpol_path_take(args->gen, args->cache.path, sel)) {
		sel->how |= SRPOL_SEL_OWN;
		return true;
	}
	detail = srpol_flow_detail(&d->nr);
	rule_path = detail ? detail->rule_path : 0;
	ruled = rule_path && srpol_selected_mode(sel) == SRPOL_LB_MODE_HASH &&
		srpol_path_listed(args->policy, args->gen, rule_path);
	if (ruled && srpol_path_take(args->gen, rule_path, sel)) {
		sel->how |= SRPOL_SEL_OWN;
		return true;
	}
	found = srpol_select_position(cfg, args, position, tries, sel);
	/*
	 * not kept, so that the flow returns to its rule's path once that is up
	 */
	if (ruled)
		sel->how &= ~SRPOL_SEL_OWN;
	return found;
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
	__u32 id = d->cache.policy, ver, backup, drop, mode;
	const struct srpol_policy_cfg *cfg;
	struct srpol_select_args args = {
		.cache = d->cache, .policy = id, .gen = gen, .hash = d->hash,
	};
	struct srpol_policy *policy;

	policy = bpf_map_lookup_elem(&policies, &id);
	if (!policy)
		return SRPOL_REASON_NO_POLICY;
	ver = READ_ONCE(policy->ver);
	cfg = &policy->cfg[srpol_copy(ver, gen)];
	args.version = srpol_version(ver, gen);
	sel->version = args.version;
	sel->policy = id;
	mode = srpol_select_mode(d, cfg);
	sel->how = SRPOL_SEL_ANY | mode;
	if (mode == SRPOL_LB_MODE_ON_CONGESTION &&
	    !srpol_congested(id, cfg->wait_to_restore_ms))
		return SRPOL_REASON_NOT_CONGESTED;
	backup = cfg->backup;
	drop = cfg->drop_upon_invalid;
	if (cfg->n_buckets &&
	    srpol_select_own(pkt, cfg, &args, d, flow, sel))
		return 0;
	if (backup && srpol_select_backup(backup, gen, d, flow, sel))
		return 0;
	return drop ? SRPOL_REASON_INVALID_DROP :
		      SRPOL_REASON_INVALID_PASSTHROUGH;
}

/*
 * As srpol_select(). Modes, backups and rules come to a path in some thirty ways;
 * the verifier is made to forget which one it was, or it would check all that
 * follows for each of them.
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
