/* SPDX-License-Identifier: GPL-2.0 */
/* Position on the bucket table -> bucket -> usable path. */
#ifndef _SRPOL_PATH_H
#define _SRPOL_PATH_H

#include "base.h"
#include "hash.h"
#include "maps.h"
#include "state.h"

/* Random draws for another path before the whole table is searched. */
#define SRPOL_REHASH_TRIES	8

/**
 * struct srpol_selected - the path that a packet takes
 * @cfg: its compiled form
 * @path: its id
 * @policy: policy that it was taken from
 * @ifindex: egress device
 * @version: srpol_version() of the flow's policy
 * @how: how it was selected, SRPOL_SEL_*; 0 before that
 */
struct srpol_selected {
	struct srpol_path_cfg *cfg;
	__u32 path;
	__u32 policy;
	__u32 ifindex;
	__u32 version;
	__u32 how;
};

#define SRPOL_SEL_MODE	0xffu		/* enum srpol_lb_mode in force */
/*
 * what is to be counted about the selection: DOWN_SKIPPED, BACKUP,
 * FLOWLET_MOVED, ADAPTIVE_MOVED or 0
 */
#define SRPOL_SEL_REASON(reason)	((reason) << 8)
#define SRPOL_SEL_REASON_MASK	SRPOL_SEL_REASON(0xffu)
/* it is the flow's own path, to be kept while @version is valid */
#define SRPOL_SEL_OWN		(1u << 16)
/* not sprayed, since no rule allows it */
#define SRPOL_SEL_UNSAFE	(1u << 17)
/* the mode has noted the time in the flow */
#define SRPOL_SEL_EXACT		(1u << 18)
/* mode flowlet: long enough since the last packet for another path */
#define SRPOL_SEL_IDLE		(1u << 19)
/* always set: srpol_forget() takes no 0 */
#define SRPOL_SEL_ANY		(1u << 31)

_Static_assert(SRPOL_REASON_COUNT <= 0x100, "SRPOL_SEL_REASON");

static __always_inline __u32
srpol_selected_mode(const struct srpol_selected *sel)
{
	return sel->how & SRPOL_SEL_MODE;
}

static __always_inline __u32
srpol_selected_reason(const struct srpol_selected *sel)
{
	return (sel->how & SRPOL_SEL_REASON_MASK) >> 8;
}

/* A next hop is written, and so is read, in one access. */
union srpol_hop {
	struct srpol_nexthop nh;
	__u64 word;
};

/*
 * Take a path if it is usable. The version word is read once: the copy that it
 * selects stays intact until a grace period after the next commit has passed.
 * @looked: it was usable a moment ago. Should it have gone down since, this packet
 * goes there like those of that moment, and does not find itself without a path.
 */
static __always_inline bool srpol_path_take(__u32 gen, __u32 id,
					    const bool looked,
					    struct srpol_selected *sel)
{
	struct srpol_path_cfg *cfg;
	struct srpol_path *path;
	union srpol_hop hop, *v;

	path = bpf_map_lookup_elem(&paths, &id);
	if (!path || (!looked && !path->up))
		return false;
	cfg = &path->cfg[srpol_copy(READ_ONCE(path->ver), gen)];
	if (!looked && !cfg->up)
		return false;
	v = bpf_map_lookup_elem(&nexthops, &cfg->nexthop);
	if (!v)
		return false;
	hop.word = READ_ONCE(v->word);
	if (looked ? !hop.nh.ifindex : !hop.nh.up)
		return false;
	sel->cfg = cfg;
	sel->path = id;
	sel->ifindex = hop.nh.ifindex;
	return true;
}

static __always_inline const struct srpol_policy_cfg *
srpol_policy_cfg(__u32 id, __u32 gen)
{
	struct srpol_policy *policy = bpf_map_lookup_elem(&policies, &id);

	if (!policy)
		return NULL;
	return &policy->cfg[srpol_copy(READ_ONCE(policy->ver), gen)];
}

static __always_inline __u32
srpol_bucket_path(const struct srpol_policy_cfg *cfg, __u32 bucket)
{
	__u32 nr = cfg->row + bucket / SRPOL_ROW_BUCKETS;
	struct srpol_row *row = bpf_map_lookup_elem(&bucket_rows, &nr);

	return row ? row->path[bucket % SRPOL_ROW_BUCKETS] : 0;
}

/* The bucket at a position on the table, see srpol_flow_hash(). */
static __always_inline __u32 srpol_bucket(__u32 position, __u32 n_buckets)
{
	return (__u64)position * n_buckets >> 32;
}

/* The path at a position on the table. */
static __always_inline __u32
srpol_position_path(const struct srpol_policy_cfg *cfg, __u32 position)
{
	return srpol_bucket_path(cfg, srpol_bucket(position, cfg->n_buckets));
}

/*
 * The functions below, and those functions of the modes that are not inline,
 * are global, so that the verifier checks them once and not in each state of
 * their callers. That is why they pass ids: a caller takes the path that they
 * name.
 */

/* May packets go by this path? */
static __always_inline bool srpol_path_look(__u32 gen, __u32 id)
{
	struct srpol_selected sel;

	return srpol_path_take(gen, id, false, &sel);
}

/* The same, where the stack of its callers has room for it. */
__noinline int srpol_path_usable(__u32 gen, __u32 id)
{
	return srpol_path_look(gen, id);
}

/**
 * srpol_path_other - find another path for a packet whose own path is down
 * @policy: policy
 * @gen: generation
 * @position: the packet's position on the bucket table
 * @tries: number of random draws: they spread the flows of the path that is
 *	down over the survivors in proportion to their weights. The walk through
 *	the table that follows finds a survivor however few buckets it has.
 *
 * Return: a usable path, 0 if there is none.
 */
__noinline __u32 srpol_path_other(__u32 policy, __u32 gen, __u32 position,
				  __u32 tries)
{
	const struct srpol_policy_cfg *cfg = srpol_policy_cfg(policy, gen);
	__u32 start = 0, bucket, path, n, i;

	if (!cfg)
		return 0;
	n = cfg->n_buckets;
	if (!n)
		return 0;
	bpf_for(i, 0, SRPOL_REHASH_TRIES + SRPOL_BUCKETS_MAX) {
		if (i >= tries + n)
			break;
		if (i < tries)
			start = srpol_bucket(srpol_hash2(position, i), n);
		bucket = i < tries ? start : (start + i - tries) & (n - 1);
		path = srpol_bucket_path(cfg, bucket);
		if (srpol_path_usable(gen, path))
			return path;
	}
	return 0;
}

/* Does the policy have a bucket of this path? */
__noinline int srpol_path_listed(__u32 policy, __u32 gen, __u32 path)
{
	const struct srpol_policy_cfg *cfg = srpol_policy_cfg(policy, gen);
	__u32 i;

	if (!cfg)
		return 0;
	bpf_for(i, 0, SRPOL_BUCKETS_MAX) {
		if (i >= cfg->n_buckets)
			break;
		if (srpol_bucket_path(cfg, i) == path)
			return 1;
	}
	return 0;
}

/*
 * The flow's own path if its policy still has it, else 0. The table is searched
 * only if it is not the one that the path was found in.
 */
static __always_inline __u32 srpol_path_kept(union srpol_flow_cache cache,
					     __u32 gen, __u32 version)
{
	if (!cache.path || cache.version == version)
		return cache.path;
	return srpol_path_listed(cache.policy, gen, cache.path) ? cache.path :
								   0;
}

#endif /* _SRPOL_PATH_H */
