/* SPDX-License-Identifier: GPL-2.0 */
/* Mode flowlet: another path after an idle gap, the better one of two. */
#ifndef _SRPOL_MODE_FLOWLET_H
#define _SRPOL_MODE_FLOWLET_H

/* The better of two paths by score; by load where their shares are even. */
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
 * srpol_draw_two - the better of two draws
 * @flow: flow that draws
 * @policy: its policy
 * @gen: generation
 * @now: CLOCK_MONOTONIC
 *
 * Return: a live path, if the better one is dead the other; 0 if both are.
 */
__noinline __u32 srpol_draw_two(const struct srpol_flow *flow __arg_nonnull,
				__u32 policy, __u32 gen, __u64 now)
{
	const struct srpol_policy_cfg *cfg = srpol_policy_cfg(policy, gen);
	__u32 a, b, better, seed;

	if (!cfg)
		return 0;
	seed = 2 * (flow->flowlets + flow->moves);
	a = srpol_place_path(cfg, srpol_hash2(flow->hash, seed));
	b = srpol_place_path(cfg, srpol_hash2(flow->hash, seed + 1));
	better = srpol_better_path(cfg, a, b, now);
	if (srpol_path_alive(gen, better))
		return better;
	better ^= a ^ b;
	return srpol_path_alive(gen, better) ? better : 0;
}

/* A packet that can not just follow the one before. Return: path, 0 none. */
__noinline __u32 srpol_flowlet_begin(struct srpol_flow *flow __arg_nonnull,
				     __u32 policy, __u32 gen, __u32 version,
				     __u32 gap)
{
	__u32 path = srpol_flow_placed(flow, policy, gen, version);

	if (gap && flow->path)
		flow->flowlets++;
	else if (path && srpol_path_alive(gen, path))
		return path;
	path = srpol_draw_two(flow, policy, gen, flow->last_ns);
	if (!path)
		path = srpol_path_other(policy, gen, flow->hash,
					SRPOL_REHASH_TRIES);
	return path;
}

/**
 * srpol_mode_flowlet - choose in mode flowlet
 * @ask: what from
 * @c: result
 *
 * Return: true if there is a live path.
 */
static __always_inline bool srpol_mode_flowlet(const struct srpol_ask *ask,
					       struct srpol_choice *c)
{
	struct srpol_flow *flow = ask->flow;
	__u64 now = bpf_ktime_get_ns();
	bool gap = (__s64)(now - flow->last_ns) >=
		   (__s64)ask->cfg->flowlet_timeout_ns;
	__u32 path;

	flow->last_ns = now;
	c->found = ask->version;
	if (!gap && ask->d->stay.path &&
	    ask->d->stay.chosen == ask->version &&
	    srpol_path_take(ask->gen, ask->d->stay.path, c))
		return true;
	path = srpol_flowlet_begin(flow, ask->policy, ask->gen, ask->version,
				   gap);
	if (!path || !srpol_path_take(ask->gen, path, c)) {
		c->found = ~ask->version;
		return false;
	}
	if (flow->path && flow->path != path)
		c->reason = SRPOL_REASON_FLOWLET_MOVED;
	return true;
}

#endif /* _SRPOL_MODE_FLOWLET_H */
