/* SPDX-License-Identifier: GPL-2.0 */
/* Policy -> mode -> path. */
#ifndef _SRPOL_SELECT_H
#define _SRPOL_SELECT_H

#include "base.h"
#include "flow.h"
#include "maps.h"
#include "mode_adaptive.h"
#include "mode_flowlet.h"
#include "mode_spray.h"
#include "parse.h"
#include "path.h"
#include "select_args.h"
#include "state.h"

/* The mode a flow asks for: that of its rule, else that of the policy. */
static __always_inline __u32
srpol_select_mode(const struct srpol_decision *d,
		  const struct srpol_policy_cfg *cfg)
{
	__u32 mode = d->head.how & SRPOL_HOW_MODE;

	return mode == SRPOL_HOW_INHERIT ? cfg->mode : mode;
}

/*
 * From the backup policy, by its own mode. What flowlet and adaptive remember
 * of a flow is about the policy it comes from: here they are as hash, and so is
 * on-congestion.
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
		/* Which draws it gets is another matter for each packet. */
		if (srpol_how_ordering(d->head.how) == SRPOL_ORDERING_WEAK)
			position += flow->packets;
		break;
	}
	path = srpol_path_other(policy, gen, position, tries);
	if (!path || !srpol_path_take(gen, path, sel))
		return false;
	sel->policy = policy;
	sel->reason = SRPOL_REASON_BACKUP;
	return true;
}

/* By position on the table; @tries: see srpol_path_other(). */
static __always_inline bool
srpol_select_position(const struct srpol_policy_cfg *cfg,
		      const struct srpol_select_args *args, __u32 position,
		      __u32 tries, struct srpol_selected *sel)
{
	__u32 path = srpol_position_path(cfg, position);

	if (srpol_path_take(args->gen, path, sel)) {
		sel->own = true;
		return true;
	}
	path = srpol_path_other(args->policy, args->gen, position, tries);
	if (!path || !srpol_path_take(args->gen, path, sel))
		return false;
	sel->reason = SRPOL_REASON_DOWN_SKIPPED;
	return true;
}

/* Mode on-congestion: was there a congestion signal lately? */
static __always_inline bool srpol_congested(__u32 policy, __u32 for_ms)
{
	struct srpol_contention *v = bpf_map_lookup_elem(&contention, &policy);
	__u64 last = v ? READ_ONCE(v->last_ns) : 0;

	return last && (__s64)(bpf_ktime_get_coarse_ns() - last) <
		       (__s64)(for_ms * SRPOL_NS_PER_MS);
}

/* True if there is a usable path in the policy itself. */
static __always_inline bool
srpol_select_own(const struct srpol_pkt *pkt,
		 const struct srpol_policy_cfg *cfg,
		 const struct srpol_select_args *args,
		 const struct srpol_decision *d, struct srpol_flow *flow,
		 struct srpol_selected *sel)
{
	__u32 tries = SRPOL_REHASH_TRIES, position = args->hash;
	bool found, ruled;

	switch (sel->mode) {
	case SRPOL_LB_MODE_FLOWLET:
		return srpol_mode_flowlet(cfg, args, flow, sel);
	case SRPOL_LB_MODE_ADAPTIVE:
		return srpol_mode_adaptive(cfg, args, flow, sel);
	case SRPOL_LB_MODE_SPRAY:
		position = srpol_spray_position(pkt, cfg, d, flow->packets,
						&sel->unsafe);
		found = srpol_select_position(cfg, args, position, tries, sel);
		sel->own = false;
		return found;
	case SRPOL_LB_MODE_ACTIVE_BACKUP:
		/* The table is the order of trial, from its beginning. */
		position = 0;
		tries = 0;
		break;
	}
	/* Where the last packet went, if that is what the table says still. */
	if (args->cache.version == args->version && args->cache.path &&
	    srpol_path_take(args->gen, args->cache.path, sel)) {
		sel->own = true;
		return true;
	}
	ruled = flow->rule_path && sel->mode == SRPOL_LB_MODE_HASH &&
		srpol_path_listed(args->policy, args->gen, flow->rule_path);
	if (ruled && srpol_path_take(args->gen, flow->rule_path, sel)) {
		sel->own = true;
		return true;
	}
	found = srpol_select_position(cfg, args, position, tries, sel);
	/* it returns to the rule's path as soon as that is up */
	if (ruled)
		sel->own = false;
	return found;
}

/**
 * srpol_select - choose the path of a packet
 * @pkt: packet
 * @gen: generation
 * @flow: its flow's entry, where its mode notes what it has to remember
 * @d: what was decided about the flow
 * @sel: result
 *
 * Return: 0, or the enum srpol_reason why there is none: NOT_CONGESTED, or what
 * drop-upon-invalid asks for.
 */
static __always_inline int srpol_select(const struct srpol_pkt *pkt, __u32 gen,
					struct srpol_flow *flow,
					const struct srpol_decision *d,
					struct srpol_selected *sel)
{
	__u32 id = d->cache.policy, ver, backup, drop;
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
	sel->reason = 0;
	sel->own = false;
	sel->unsafe = false;
	sel->exact = false;
	sel->mode = srpol_select_mode(d, cfg);
	if (sel->mode == SRPOL_LB_MODE_ON_CONGESTION &&
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

#endif /* _SRPOL_SELECT_H */
