/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mode adaptive: a flow stays on its primary path, that of its bucket, while it
 * is good.
 */
#ifndef _SRPOL_MODE_ADAPTIVE_H
#define _SRPOL_MODE_ADAPTIVE_H

#include "base.h"
#include "flow_table.h"
#include "hash.h"
#include "mode_flowlet.h"
#include "path.h"
#include "quality.h"

#define SRPOL_NS_PER_MS		1000000ull

/*
 * The coarse clock lags by one tick at most; this is a tick at 100 per second.
 */
#define SRPOL_TICK_MAX_NS	10000000ull

/* Global, so that the verifier checks it once. */
__noinline int srpol_path_bad(__u32 threshold, __u32 path, __u64 now)
{
	__u64 limit = (__u64)(threshold ?: 1) * SRPOL_LEVEL_UNIT;

	return srpol_quality_score(path, now) >= limit;
}

/*
 * Find a good path other than the flow's. Try the better of two draws, then
 * more draws, so that not all flows go to the same path, then all of the table.
 * @nr: number of the flow's entry. @word: a union srpol_flow_cache. Return:
 * path, 0 if there is none.
 */
__noinline __u32 srpol_adaptive_good(__u32 nr, __u64 word, __u32 gen, __u64 now)
{
	struct srpol_flow_detail *detail = srpol_flow_detail(&nr);
	struct srpol_flow *flow = srpol_flow_entry(nr);
	union srpol_flow_cache cache = { .word = word };
	const struct srpol_policy_cfg *cfg;
	__u32 path, i;

	cfg = srpol_policy_cfg(cache.policy, gen);
	if (!cfg || !flow || !detail)
		return 0;
	path = srpol_draw_two(cache.policy, gen, flow->hash,
			      detail->flowlets + detail->moves, now);
	if (path && path != cache.path && !srpol_path_bad(cfg->threshold, path, now))
		return path;
	bpf_for(i, 0, SRPOL_REHASH_TRIES + SRPOL_BUCKETS_MAX) {
		if (i >= SRPOL_REHASH_TRIES + cfg->n_buckets)
			break;
		path = i < SRPOL_REHASH_TRIES ?
		       srpol_position_path(cfg, srpol_hash2_apart(flow->hash, i)) :
		       srpol_bucket_path(cfg, i - SRPOL_REHASH_TRIES);
		if (path != cache.path && !srpol_path_bad(cfg->threshold, path, now) &&
		    srpol_path_usable(gen, path))
			return path;
	}
	return 0;
}

/* May a flow that should be on another path move now? */
static __always_inline bool
srpol_adaptive_may_move(const struct srpol_flow *flow,
			struct srpol_flow_detail *detail,
			const struct srpol_policy_cfg *cfg, __u64 now)
{
	__s64 idle = now - flow->last_ns;
	__s64 timeout = cfg->flowlet_timeout_ns;

	if (!detail->pending_ns) {
		/* Until now @last_ns was of the coarse clock. */
		detail->pending_ns = now;
		return idle >= timeout + (__s64)SRPOL_TICK_MAX_NS;
	}
	return idle >= timeout ||
	       (__s64)(now - detail->pending_ns) >=
	       (__s64)(cfg->dwell_time_ms * SRPOL_NS_PER_MS);
}

/**
 * srpol_adaptive_first - the path of a flow that is on its primary path and does
 *	well there
 * @cfg: policy
 * @d: the decision about the flow
 *
 * Return: path, 0 if srpol_adaptive_other() has to find one.
 */
static __always_inline __u32
srpol_adaptive_first(const struct srpol_policy_cfg *cfg,
		     const struct srpol_decision *d)
{
	__u32 primary = srpol_position_path(cfg, d->hash), at = d->cache.path;
	struct srpol_flow_detail *detail = srpol_flow_detail(&d->nr);
	struct srpol_quality *q = srpol_quality_get(primary);

	if (!q || !srpol_quality_clean(q) || !detail || detail->pending_ns)
		return 0;
	return !at || at == primary ? primary : 0;
}

/**
 * srpol_adaptive_other - select for every other flow
 * @cfg: policy
 * @d: the decision about the flow
 * @flow: its entry
 * @detail: what is rarely used of it
 * @gen: generation
 * @version: srpol_version() of the policy
 *
 * A flow that may move but finds all other paths bad tries again after another
 * dwell time or idle time.
 *
 * Return: path, 0 if none can be used.
 */
static __always_inline __u32
srpol_adaptive_other(const struct srpol_policy_cfg *cfg,
		     const struct srpol_decision *d, struct srpol_flow *flow,
		     struct srpol_flow_detail *detail, __u32 gen, __u32 version)
{
	__u32 at = srpol_path_kept(d->cache, gen, version), path = 0;
	__u32 primary = srpol_position_path(cfg, d->hash);
	__u64 now = bpf_ktime_get_ns();
	bool primary_good, usable;

	primary_good = !srpol_path_bad(cfg->threshold, primary, now) &&
		       srpol_path_usable(gen, primary);
	usable = at && srpol_path_usable(gen, at);
	if (usable && !srpol_path_bad(cfg->threshold, at, now) &&
	    (at == primary || !primary_good)) {
		detail->pending_ns = 0;
		flow->last_ns = now;
		return at;
	}
	/*
	 * No need to wait if the flow has no path yet, or if its path is down.
	 */
	if (!usable || srpol_adaptive_may_move(flow, detail, cfg, now)) {
		path = primary_good && primary != at ? primary :
		       srpol_adaptive_good(d->nr, d->cache.word, gen, now);
		detail->pending_ns = path || !usable ? 0 : now;
	}
	flow->last_ns = now;
	if (!path && usable)
		return at;
	if (!path && srpol_path_usable(gen, primary))
		path = primary;
	if (!path)
		path = srpol_path_other(d->cache.policy, gen, flow->hash,
					SRPOL_REHASH_TRIES);
	return path;
}

#endif /* _SRPOL_MODE_ADAPTIVE_H */
