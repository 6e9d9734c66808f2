/* SPDX-License-Identifier: GPL-2.0 */
/* Policy -> bucket -> live path. */
#ifndef _SRPOL_SELECT_H
#define _SRPOL_SELECT_H

/* Random tries around a dead path before the whole table is looked through. */
#define SRPOL_REHASH_TRIES	8

/**
 * struct srpol_choice - the path a packet takes
 * @cfg: its compiled form
 * @path: its id
 * @policy: policy it was taken from
 * @ifindex: egress device
 * @reason: DEAD_SKIPPED if it is not the bucket's own
 */
struct srpol_choice {
	struct srpol_path_cfg *cfg;
	__u32 path;
	__u32 policy;
	__u32 ifindex;
	__u32 reason;
};

/* Both halves of a next hop are written, and so read, in one access. */
union srpol_hop {
	struct srpol_nexthop nh;
	__u64 word;
};

/*
 * Take a path if it is alive. @live is read once: the copy it names stays
 * whole until a grace period after the switch.
 */
static __always_inline bool srpol_path_take(__u32 id, struct srpol_choice *c)
{
	struct srpol_path_cfg *cfg;
	struct srpol_path *path;
	union srpol_hop hop, *v;

	path = bpf_map_lookup_elem(&paths, &id);
	if (!path || !path->up)
		return false;
	cfg = &path->cfg[READ_ONCE(path->live) & 1];
	v = bpf_map_lookup_elem(&nexthops, &cfg->nexthop);
	if (!v)
		return false;
	hop.word = READ_ONCE(v->word);
	if (!hop.nh.up)
		return false;
	c->cfg = cfg;
	c->path = id;
	c->ifindex = hop.nh.ifindex;
	return true;
}

static __always_inline __u32
srpol_bucket_path(const struct srpol_policy_cfg *cfg, __u32 bucket)
{
	__u32 nr = cfg->row + bucket / SRPOL_ROW_BUCKETS;
	struct srpol_row *row = bpf_map_lookup_elem(&bucket_rows, &nr);

	return row ? row->path[bucket % SRPOL_ROW_BUCKETS] : 0;
}

/* The bucket at a place of the table, see srpol_flow_hash(). */
static __always_inline __u32 srpol_bucket(__u32 hash, __u32 n_buckets)
{
	return (__u64)hash * n_buckets >> 32;
}

/*
 * Another path for a flow whose own is dead. The first tries spread the flows
 * of the dead path over the survivors in proportion to their weights; the walk
 * after them finds a survivor however few buckets it has.
 */
static __noinline int srpol_select_other(const struct srpol_policy_cfg *cfg,
					 __u32 hash, struct srpol_choice *c)
{
	__u32 n = cfg->n_buckets, bucket = 0, i;

	bpf_for(i, 0, SRPOL_REHASH_TRIES + SRPOL_BUCKETS_MAX) {
		if (i < SRPOL_REHASH_TRIES)
			bucket = srpol_bucket(srpol_hash2(hash, i), n);
		else if (i - SRPOL_REHASH_TRIES < n)
			bucket = (bucket + 1) & (n - 1);
		else
			break;
		if (srpol_path_take(srpol_bucket_path(cfg, bucket), c))
			return 1;
	}
	return 0;
}

static __always_inline struct srpol_policy_cfg *
srpol_policy_cfg(__u32 id)
{
	struct srpol_policy *policy = bpf_map_lookup_elem(&policies, &id);

	if (!policy)
		return NULL;
	return &policy->cfg[READ_ONCE(policy->live) & 1];
}

static __noinline int srpol_select_slow(__u32 policy, __u32 hash,
					struct srpol_choice *c)
{
	struct srpol_policy_cfg *cfg = srpol_policy_cfg(policy);

	if (!cfg || !cfg->n_buckets || !srpol_select_other(cfg, hash, c))
		return 0;
	c->policy = policy;
	return 1;
}

/**
 * srpol_select - choose the path of a packet
 * @policy: policy of the flow
 * @hash: flow hash, its place on the bucket table
 * @c: result
 *
 * Return: 0, or the enum srpol_reason that says what on-fail asks for.
 */
static __always_inline int srpol_select(__u32 policy, __u32 hash,
					struct srpol_choice *c)
{
	struct srpol_policy_cfg *cfg = srpol_policy_cfg(policy);
	__u32 n, backup, on_fail;

	if (!cfg)
		return SRPOL_REASON_NO_POLICY;
	n = cfg->n_buckets;
	c->policy = policy;
	c->reason = SRPOL_REASON_STEERED;
	if (n && srpol_path_take(srpol_bucket_path(cfg, srpol_bucket(hash, n)),
				 c))
		return 0;

	backup = cfg->backup;
	on_fail = cfg->on_fail;
	c->reason = SRPOL_REASON_DEAD_SKIPPED;
	if (srpol_select_slow(policy, hash, c))
		return 0;
	c->reason = SRPOL_REASON_BACKUP;
	if (backup && srpol_select_slow(backup, hash, c))
		return 0;
	return on_fail == SRPOL_ON_FAIL_DROP ? SRPOL_REASON_FAIL_DROP :
					       SRPOL_REASON_FAIL_PASSTHROUGH;
}

#endif /* _SRPOL_SELECT_H */
