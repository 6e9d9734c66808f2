/* SPDX-License-Identifier: GPL-2.0 */
/* Methods: local SIDs. */
#ifndef _SRPOL_DP_SID_H
#define _SRPOL_DP_SID_H

#include "base.h"
#include "dp_clear.h"
#include "dp_stage.h"
#include "maps.h"
#include "sid.h"
#include "usid.h"
#include "words.h"

static __always_inline int srpol_sid_check(const struct srpol_dp_sid *s)
{
	struct srpol_bits beyond;
	int err;

	err = srpol_id_check(s->id, SRPOL_MAX_SIDS);
	if (err)
		return err;
	if (!srpol_behavior_does(s->behavior) || !s->prefix_len ||
	    s->prefix_len > SRPOL_ADDR_BITS)
		return -EINVAL;
	if (srpol_behavior_does(s->behavior) & SRPOL_DO_CSID &&
	    (!s->block_len || s->block_len >= s->prefix_len))
		return -EINVAL;
	if (s->block_len > SRPOL_ADDR_BITS)
		return -EINVAL;
	beyond = srpol_bits_after(srpol_bits_load((const void *)s->sid),
				  s->prefix_len);
	if (beyond.high | beyond.low)
		return -EINVAL;
	if (!(srpol_behavior_does(s->behavior) & SRPOL_DO_B6) != !s->policy)
		return -EINVAL;
	if (s->uniform > 1)
		return -EINVAL;
	return s->nexthop < SRPOL_MAX_NEXTHOPS &&
	       s->policy < SRPOL_MAX_POLICIES ? 0 : -ENOSPC;
}

static __always_inline void srpol_sid_key(const struct srpol_dp_sid *s,
					  struct srpol_prefix *key)
{
	key->len = s->prefix_len;
	srpol_copy_addr(key->addr, s->sid);
}

/* The entry of exactly this SID, NULL if there is none. */
static __always_inline struct srpol_sid_entry *
srpol_sid_entry(const struct srpol_prefix *key)
{
	struct srpol_sid_entry *entry;

	if (key->len == SRPOL_ADDR_BITS)
		return bpf_map_lookup_elem(&sids, key->addr);
	entry = bpf_map_lookup_elem(&sid_prefixes, key);
	return entry && entry->len == key->len ? entry : NULL;
}

/*
 * Add a SID to one of the two maps. Packets look into the second one, of
 * prefixes, only if it is not empty.
 */
static __always_inline int srpol_sid_add(const struct srpol_prefix *key,
					 const struct srpol_sid_entry *first)
{
	struct srpol_state *st = srpol_state_get();
	__u32 len = key->len;
	long err;

	if (!st)
		return -EFAULT;
	if (key->len == SRPOL_ADDR_BITS)
		return bpf_map_update_elem(&sids, key->addr, first,
					   BPF_NOEXIST);
	err = bpf_map_update_elem(&sid_prefix_index, key, &len, BPF_ANY);
	if (err)
		return err;
	err = bpf_map_update_elem(&sid_prefixes, key, first, BPF_ANY);
	if (err)
		bpf_map_delete_elem(&sid_prefix_index, key);
	else
		WRITE_ONCE(st->n_sid_prefixes, st->n_sid_prefixes + 1);
	return err;
}

static __always_inline int
srpol_sid_prefix_remove(struct srpol_state *st, const struct srpol_prefix *key)
{
	int err = bpf_map_delete_elem(&sid_prefixes, key);

	if (err)
		return err;
	bpf_map_delete_elem(&sid_prefix_index, key);
	WRITE_ONCE(st->n_sid_prefixes, st->n_sid_prefixes - 1);
	return 0;
}

static __always_inline int srpol_sid_remove(const struct srpol_prefix *key)
{
	struct srpol_state *st = srpol_state_get();

	if (!st)
		return -EFAULT;
	return key->len == SRPOL_ADDR_BITS ?
	       bpf_map_delete_elem(&sids, key->addr) :
	       srpol_sid_prefix_remove(st, key);
}

/*
 * Flows and the SID cache remember which addresses are local SIDs: a new epoch
 * makes them look again.
 */
static __always_inline void srpol_sid_changed(void)
{
	struct srpol_state *st = srpol_state_get();

	if (st)
		__sync_fetch_and_add(&st->epoch, 1);
}

static __always_inline void srpol_sid_stage(struct srpol_sid_entry *entry,
					    const struct srpol_sid *v)
{
	__u32 gen = srpol_gen(), copy = srpol_spare(entry->ver, gen) & 1;

	entry->present[copy] = !!v;
	if (v)
		entry->cfg[copy] = *v;
	srpol_stage(&entry->ver, gen, copy);
}

/* Does this SID not have the counters of @id yet? They are cleared then. */
static __always_inline bool srpol_sid_fresh(struct srpol_sid_entry *entry,
					    __u32 id)
{
	struct srpol_sid *sid = entry ? srpol_sid_of(entry, srpol_gen()) : NULL;

	return !sid || sid->id != id;
}

static __always_inline int srpol_apply_sid(const struct srpol_dp_sid *arg)
{
	struct srpol_sid_entry *entry, first = {};
	struct srpol_prefix key;
	struct srpol_sid v = {};
	struct srpol_dp_sid s;
	long err;

	if (bpf_probe_read_kernel(&s, sizeof(s), arg))
		return -EFAULT;
	err = srpol_sid_check(&s);
	if (err)
		return err;
	v.id = s.id;
	v.behavior = s.behavior;
	v.does = srpol_behavior_does(s.behavior);
	if (s.uniform)
		v.does |= SRPOL_DO_UNIFORM;
	v.nexthop = s.nexthop;
	v.prefix_len = s.prefix_len;
	v.block_len = s.block_len;
	v.policy = s.policy;
	__builtin_memcpy(v.l2, s.l2, sizeof(v.l2));
	srpol_sid_key(&s, &key);
	entry = srpol_sid_entry(&key);
	if (srpol_sid_fresh(entry, s.id)) {
		srpol_sid_stats_clear(s.id);
		srpol_errors_clear(SRPOL_ERROR_SID, s.id);
	}
	if (entry) {
		srpol_sid_stage(entry, &v);
		return 0;
	}
	first.ver = srpol_ver_next(srpol_gen(), 1);
	first.len = s.prefix_len;
	first.present[1] = 1;
	first.cfg[1] = v;
	return srpol_map_error(srpol_sid_add(&key, &first));
}

static __always_inline int srpol_sid_read(const struct srpol_dp_sid *arg,
					  struct srpol_prefix *key)
{
	struct srpol_dp_sid s;

	if (bpf_probe_read_kernel(&s, sizeof(s), arg))
		return -EFAULT;
	if (s.prefix_len > SRPOL_ADDR_BITS)
		return -EINVAL;
	srpol_sid_key(&s, key);
	return 0;
}

static __always_inline int srpol_apply_sid_hide(const struct srpol_dp_sid *arg)
{
	struct srpol_sid_entry *entry;
	struct srpol_prefix key;
	int err = srpol_sid_read(arg, &key);

	if (err)
		return err;
	entry = srpol_sid_entry(&key);
	if (!entry)
		return -ENOENT;
	srpol_sid_stage(entry, NULL);
	return 0;
}

static __always_inline int srpol_apply_sid_del(const struct srpol_dp_sid *arg)
{
	struct srpol_prefix key;
	int err = srpol_sid_read(arg, &key);

	if (!err)
		err = srpol_sid_remove(&key);
	if (!err)
		srpol_sid_changed();
	return err;
}

static __always_inline int
srpol_apply_sid_revert(const struct srpol_dp_sid *arg)
{
	struct srpol_sid_entry *entry;
	struct srpol_prefix key;
	int err = srpol_sid_read(arg, &key);

	if (err)
		return err;
	entry = srpol_sid_entry(&key);
	if (!entry || !srpol_unstage(&entry->ver, srpol_gen()) ||
	    entry->present[entry->ver & 1])
		return 0;
	return srpol_sid_remove(&key);
}

#endif /* _SRPOL_DP_SID_H */
