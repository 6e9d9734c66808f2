/* SPDX-License-Identifier: GPL-2.0 */
/* Mode adaptive: at home as long as home is good. */
#ifndef _SRPOL_MODE_ADAPTIVE_H
#define _SRPOL_MODE_ADAPTIVE_H

#define SRPOL_NS_PER_MS		1000000ull

/* The coarse clock is behind by no more than a tick, at 100 ticks a second. */
#define SRPOL_TICK_MAX_NS	10000000ull

static __always_inline bool srpol_path_bad(const struct srpol_policy_cfg *cfg,
					   __u32 path, __u64 now)
{
	__u64 limit = (__u64)(cfg->threshold ?: 1) * SRPOL_LEVEL_UNIT;

	return srpol_quality_score(path, now) >= limit;
}

/*
 * A good path other than the flow's: the better of two draws, then more draws,
 * so that flows do not all go to the same one, then whatever the table has.
 */
__noinline __u32
srpol_adaptive_good(const struct srpol_flow *flow __arg_nonnull, __u32 policy,
		    __u32 gen, __u64 now)
{
	const struct srpol_policy_cfg *cfg = srpol_policy_cfg(policy, gen);
	__u32 path, place, i;

	if (!cfg)
		return 0;
	path = srpol_draw_two(flow, policy, gen, now);
	if (path && path != flow->path && !srpol_path_bad(cfg, path, now))
		return path;
	bpf_for(i, 0, SRPOL_REHASH_TRIES + SRPOL_BUCKETS_MAX) {
		if (i >= SRPOL_REHASH_TRIES + cfg->n_buckets)
			break;
		place = srpol_hash2(flow->hash, i);
		path = i < SRPOL_REHASH_TRIES ?
		       srpol_place_path(cfg, place) :
		       srpol_bucket_path(cfg, i - SRPOL_REHASH_TRIES);
		if (path != flow->path && !srpol_path_bad(cfg, path, now) &&
		    srpol_path_alive(gen, path))
			return path;
	}
	return 0;
}

/* May a flow that wishes to be elsewhere go now? */
static __always_inline bool
srpol_adaptive_may_go(struct srpol_flow *flow,
		      const struct srpol_policy_cfg *cfg, __u64 now)
{
	__s64 idle = now - flow->last_ns;
	__s64 gap = cfg->flowlet_timeout_ns;

	if (!flow->wish_ns) {
		/* Up to now the time was taken from the coarse clock. */
		flow->wish_ns = now;
		return idle >= gap + (__s64)SRPOL_TICK_MAX_NS;
	}
	return idle >= gap ||
	       (__s64)(now - flow->wish_ns) >=
	       (__s64)(cfg->dwell_time_ms * SRPOL_NS_PER_MS);
}

/*
 * All but a flow that is at home and well. Return: path, 0 if none is alive.
 * The path of a flow that may go but finds all others bad is asked about again
 * after as long.
 */
__noinline __u32 srpol_adaptive_think(struct srpol_flow *flow __arg_nonnull,
				      __u32 policy, __u32 gen, __u32 version,
				      __u32 home)
{
	const struct srpol_policy_cfg *cfg = srpol_policy_cfg(policy, gen);
	__u32 at = srpol_flow_placed(flow, policy, gen, version), path = 0;
	__u64 now = bpf_ktime_get_ns();
	bool home_good, stays;

	if (!cfg)
		return 0;
	home_good = !srpol_path_bad(cfg, home, now) &&
		    srpol_path_alive(gen, home);
	stays = at && srpol_path_alive(gen, at);
	if (stays && !srpol_path_bad(cfg, at, now) &&
	    (at == home || !home_good)) {
		flow->wish_ns = 0;
		srpol_flow_tick(flow);
		return at;
	}
	/* Nothing to wait for if it is new here, or its path is gone. */
	if (!stays || srpol_adaptive_may_go(flow, cfg, now)) {
		path = home_good && home != at ? home :
		       srpol_adaptive_good(flow, policy, gen, now);
		flow->wish_ns = path || !stays ? 0 : now;
	}
	flow->last_ns = now;
	if (!path && stays)
		return at;
	if (!path && srpol_path_alive(gen, home))
		path = home;
	if (!path)
		path = srpol_path_other(policy, gen, flow->hash,
					SRPOL_REHASH_TRIES);
	return path;
}

/**
 * srpol_mode_adaptive - choose in mode adaptive
 * @ask: what from
 * @c: result
 *
 * Return: true if there is a live path.
 */
static __always_inline bool srpol_mode_adaptive(const struct srpol_ask *ask,
						struct srpol_choice *c)
{
	__u32 home = srpol_place_path(ask->cfg, ask->flow->hash), path;
	struct srpol_flow *flow = ask->flow;
	struct srpol_quality *q;

	q = srpol_quality_get(home);
	if (q && srpol_quality_clean(q) && !flow->wish_ns &&
	    (!flow->path || flow->path == home) &&
	    srpol_path_take(ask->gen, home, c)) {
		c->found = ask->version;
		srpol_flow_tick(flow);
		return true;
	}
	path = srpol_adaptive_think(flow, ask->policy, ask->gen, ask->version,
				    home);
	if (!path || !srpol_path_take(ask->gen, path, c))
		return false;
	c->found = ask->version;
	if (flow->path && flow->path != path)
		c->reason = SRPOL_REASON_ADAPTIVE_MOVED;
	return true;
}

#endif /* _SRPOL_MODE_ADAPTIVE_H */
