/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mode flowlet: after an idle time a flow may take another path, the better of
 * two.
 */
#ifndef _SRPOL_MODE_FLOWLET_H
#define _SRPOL_MODE_FLOWLET_H

#include "base.h"
#include "flow_table.h"
#include "hash.h"
#include "path.h"
#include "quality.h"

/*
 * The better of two paths by score; on a tie, by load if all shares are equal.
 */
static __always_inline __u32
srpol_better_path(const struct srpol_policy_cfg *cfg, __u32 a, __u32 b,
		  __u64 now)
{
	__u64 score_a, score_b;

	if (a == b)
		return a;
	score_a = srpol_quality_score(a, now);
	score_b = srpol_quality_score(b, now);
	if (score_a != score_b)
		return score_b < score_a ? b : a;
	if (cfg->flags & SRPOL_POLICY_EVEN &&
	    srpol_quality_load(b, now) < srpol_quality_load(a, now))
		return b;
	return a;
}

/**
 * srpol_draw_two - draw two paths and take the better one
 * @policy: policy
 * @gen: generation
 * @hash: the flow's position on the bucket table
 * @nr: number of the draw for this flow
 * @now: CLOCK_MONOTONIC in ns
 *
 * Return: the better path, the other one if that is down, 0 if both are.
 */
__noinline __u32 srpol_draw_two(__u32 policy, __u32 gen, __u32 hash, __u32 nr,
				__u64 now)
{
	const struct srpol_policy_cfg *cfg = srpol_policy_cfg(policy, gen);
	__u32 a, b, better;

	if (!cfg)
		return 0;
	a = srpol_position_path(cfg, srpol_hash2(hash, 2 * nr));
	b = srpol_position_path(cfg, srpol_hash2(hash, 2 * nr + 1));
	better = srpol_better_path(cfg, a, b, now);
	if (srpol_path_look(gen, better))
		return better;
	better ^= a ^ b;
	return srpol_path_look(gen, better) ? better : 0;
}

/**
 * srpol_flowlet_first - the path of the flow's last packet, if it may be kept
 * @cfg: policy
 * @d: the decision about the flow
 * @version: srpol_version() of the policy
 * @flow: the flow's entry; the time is noted there
 * @sel: told whether the flow was idle
 *
 * Return: path, 0 if srpol_flowlet_other() has to find one.
 */
static __always_inline __u32
srpol_flowlet_first(const struct srpol_policy_cfg *cfg,
		    const struct srpol_decision *d, __u32 version,
		    struct srpol_flow *flow, struct srpol_selected *sel)
{
	__u64 now = bpf_ktime_get_ns();
	bool idle = (__s64)(now - flow->last_ns) >=
		    (__s64)cfg->flowlet_timeout_ns;

	flow->last_ns = now;
	sel->how |= SRPOL_SEL_EXACT;
	if (idle) {
		sel->how |= SRPOL_SEL_IDLE;
		return 0;
	}
	return d->cache.version == version ? d->cache.path : 0;
}

/**
 * srpol_flowlet_other - select for a packet that cannot just follow the one before
 * @flow: the flow's entry
 * @detail: what is rarely used of it
 * @cache: its policy and path
 * @gen: generation
 * @version: srpol_version() of the policy
 * @idle: since the time between the two was long enough
 *
 * Return: path, 0 if there is none.
 */
static __always_inline __u32
srpol_flowlet_other(const struct srpol_flow *flow,
		    struct srpol_flow_detail *detail,
		    union srpol_flow_cache cache, __u32 gen, __u32 version,
		    bool idle)
{
	__u32 path = srpol_path_kept(cache, gen, version);

	if (idle && cache.path)
		detail->flowlets++;
	else if (path && srpol_path_usable(gen, path))
		return path;
	path = srpol_draw_two(cache.policy, gen, flow->hash,
			      detail->flowlets + detail->moves, flow->last_ns);
	if (!path)
		path = srpol_path_other(cache.policy, gen, flow->hash,
					SRPOL_REHASH_TRIES);
	return path;
}

#endif /* _SRPOL_MODE_FLOWLET_H */
