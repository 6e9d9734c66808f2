/* SPDX-License-Identifier: GPL-2.0 */
/* Methods: policies and the index of their colors and endpoints. */
#ifndef _SRPOL_DP_POLICY_H
#define _SRPOL_DP_POLICY_H

#include "base.h"
#include "dp_clear.h"
#include "dp_stage.h"
#include "maps.h"
#include "words.h"

#define SRPOL_POLICY_FLAGS						\
	(SRPOL_POLICY_SYMMETRIC | SRPOL_POLICY_RANDOM | SRPOL_POLICY_EVEN)

static __always_inline int
srpol_policy_check(const struct srpol_dp_policy *p)
{
	__u32 rows = (p->n_buckets + SRPOL_ROW_BUCKETS - 1) / SRPOL_ROW_BUCKETS;
	int err;

	err = srpol_id_check(p->id, SRPOL_MAX_POLICIES);
	if (err)
		return err;
	if (!p->color || p->n_buckets & (p->n_buckets - 1) ||
	    p->n_buckets > SRPOL_BUCKETS_MAX || p->drop_upon_invalid > 1)
		return -EINVAL;
	if (p->mode > SRPOL_LB_MODE_ON_CONGESTION ||
	    p->flags & ~SRPOL_POLICY_FLAGS)
		return -EINVAL;
	if (p->n_buckets && !p->row)
		return -EINVAL;
	if (p->row >= SRPOL_MAX_ROWS || p->row + rows > SRPOL_MAX_ROWS ||
	    p->backup >= SRPOL_MAX_POLICIES)
		return -ENOSPC;
	return 0;
}

static __always_inline void srpol_policy_key(const struct srpol_dp_policy *p,
					     struct srpol_policy_key *key)
{
	key->color = p->color;
	srpol_copy_addr(key->endpoint, p->endpoint);
}

/* Make color and endpoint lead to policy @id. */
static __always_inline int srpol_index_set(const struct srpol_policy_key *key,
					   __u32 id, __u32 gen)
{
	struct srpol_policy_ref first = {
		.ver = srpol_ver_next(gen, 1), .id = { 0, id },
	};
	struct srpol_policy_ref *ref;
	__u32 copy;

	ref = bpf_map_lookup_elem(&policy_index, key);
	if (!ref)
		return bpf_map_update_elem(&policy_index, key, &first,
					   BPF_NOEXIST);
	if (ref->id[ref->ver & 1] == id)
		return 0;
	copy = srpol_spare(ref->ver, gen);
	ref->id[copy & 1] = id;
	srpol_stage(&ref->ver, gen, copy);
	return 0;
}

static __always_inline int srpol_apply_policy(const struct srpol_dp_policy *arg)
{
	struct srpol_policy_cfg *cfg;
	struct srpol_policy *policy;
	struct srpol_policy_key key;
	__u32 gen = srpol_gen(), copy;
	struct srpol_dp_policy p;
	long err;

	if (bpf_probe_read_kernel(&p, sizeof(p), arg))
		return -EFAULT;
	err = srpol_policy_check(&p);
	if (err)
		return err;
	policy = bpf_map_lookup_elem(&policies, &p.id);
	if (!policy)
		return -ENOSPC;
	srpol_policy_key(&p, &key);
	err = srpol_index_set(&key, p.id, gen);
	if (err)
		return srpol_map_error(err);

	copy = srpol_spare(policy->ver, gen);
	cfg = &policy->cfg[copy & 1];
	cfg->row = p.row;
	cfg->n_buckets = p.n_buckets;
	cfg->mode = p.mode;
	cfg->drop_upon_invalid = p.drop_upon_invalid;
	cfg->backup = p.backup;
	cfg->flags = p.flags;
	cfg->flowlet_timeout_ns = p.flowlet_timeout_ns;
	cfg->threshold = p.threshold;
	cfg->dwell_time_ms = p.dwell_time_ms;
	cfg->wait_to_restore_ms = p.wait_to_restore_ms;
	if (!policy->color) {
		srpol_policy_clear(p.id);
		policy->cfg[!copy].n_buckets = 0;
		policy->cfg[!copy].backup = 0;
		policy->since = gen + 1;
		srpol_copy_addr(policy->endpoint, p.endpoint);
	}
	srpol_stage(&policy->ver, gen, copy);
	policy->color = p.color;
	return 0;
}

/*
 * The policy's buckets are left as they are: the commit comes with a new epoch,
 * which makes all flows that use the policy leave it at once.
 */
static __always_inline int
srpol_apply_policy_hide(const struct srpol_dp_policy *arg)
{
	struct srpol_policy_ref *ref;
	struct srpol_policy_key key;
	__u32 gen = srpol_gen(), copy;
	struct srpol_dp_policy p;

	if (bpf_probe_read_kernel(&p, sizeof(p), arg))
		return -EFAULT;
	srpol_policy_key(&p, &key);
	ref = bpf_map_lookup_elem(&policy_index, &key);
	if (!ref)
		return -ENOENT;
	/*
	 * Another policy with the same color and endpoint may have been staged
	 * before.
	 */
	if (ref->id[ref->ver & 1] != p.id)
		return 0;
	copy = srpol_spare(ref->ver, gen);
	ref->id[copy & 1] = 0;
	srpol_stage(&ref->ver, gen, copy);
	return 0;
}

static __always_inline bool srpol_index_idle(const struct srpol_policy_ref *ref,
					     __u32 id, __u32 gen)
{
	__u32 last = ref->id[ref->ver & 1];
	__u32 present = ref->id[srpol_copy(ref->ver, gen)];

	return (!last || last == id) && (!present || present == id);
}

static __always_inline int
srpol_apply_policy_del(const struct srpol_dp_policy *arg)
{
	struct srpol_policy_ref *ref;
	struct srpol_policy *policy;
	struct srpol_policy_key key;
	struct srpol_dp_policy p;
	int err;

	if (bpf_probe_read_kernel(&p, sizeof(p), arg))
		return -EFAULT;
	err = srpol_id_check(p.id, SRPOL_MAX_POLICIES);
	if (err)
		return err;
	policy = bpf_map_lookup_elem(&policies, &p.id);
	if (!policy || !policy->color)
		return -ENOENT;
	srpol_policy_key(&p, &key);
	ref = bpf_map_lookup_elem(&policy_index, &key);
	if (ref && srpol_index_idle(ref, p.id, srpol_gen()))
		bpf_map_delete_elem(&policy_index, &key);
	policy->color = 0;
	return 0;
}

static __always_inline int srpol_policy_revert(__u32 id, __u32 gen)
{
	struct srpol_policy *policy = bpf_map_lookup_elem(&policies, &id);
	struct srpol_policy_ref *ref;
	struct srpol_policy_key key;

	if (!policy || !policy->color)
		return 0;
	key.color = policy->color;
	srpol_copy_addr(key.endpoint, policy->endpoint);
	ref = bpf_map_lookup_elem(&policy_index, &key);
	if (ref && srpol_unstage(&ref->ver, gen) && !ref->id[ref->ver & 1])
		bpf_map_delete_elem(&policy_index, &key);
	if (srpol_unstage(&policy->ver, gen) && policy->since == gen + 1)
		policy->color = 0;
	return 0;
}

#endif /* _SRPOL_DP_POLICY_H */
