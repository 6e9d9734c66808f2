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
	return s->nexthop < SRPOL_MAX_NEXTHOPS ? 0 : -ENOSPC;
}

/* Keys in the two maps; packets ask the second only if it is not empty. */
static __always_inline int srpol_sid_put(const struct srpol_dp_sid *s,
					 const struct srpol_sid *v)
{
	struct srpol_prefix key = { .len = s->prefix_len };
	struct srpol_state *st = srpol_state_get();
	bool fresh;
	long err;

	if (!st)
		return -EFAULT;
	srpol_copy_addr(key.addr, s->sid);
	if (key.len == SRPOL_ADDR_BITS)
		return bpf_map_update_elem(&sids, key.addr, v, BPF_ANY);
	fresh = !bpf_map_lookup_elem(&sid_prefix_index, &key);
	if (fresh) {
		err = bpf_map_update_elem(&sid_prefix_index, &key, &s->id,
					  BPF_ANY);
		if (err)
			return err;
	}
	err = bpf_map_update_elem(&sid_prefixes, &key, v, BPF_ANY);
	if (err && fresh)
		bpf_map_delete_elem(&sid_prefix_index, &key);
	else if (fresh)
		WRITE_ONCE(st->n_sid_prefixes, st->n_sid_prefixes + 1);
	return err;
}

/* Id of the SID with exactly this key, 0 if there is none. */
static __always_inline __u32 srpol_sid_id(const struct srpol_dp_sid *s)
{
	struct srpol_prefix key = { .len = s->prefix_len };
	struct srpol_sid *sid;
	__u32 *id;

	srpol_copy_addr(key.addr, s->sid);
	if (key.len == SRPOL_ADDR_BITS) {
		sid = bpf_map_lookup_elem(&sids, key.addr);
		return sid ? sid->id : 0;
	}
	id = bpf_map_lookup_elem(&sid_prefix_index, &key);
	return id ? *id : 0;
}

/* Flows know whether their destination is a SID: they are to look again. */
static __always_inline void srpol_sid_changed(void)
{
	struct srpol_state *st = srpol_state_get();

	if (st)
		__sync_fetch_and_add(&st->epoch, 1);
}

static __always_inline int srpol_apply_sid(const struct srpol_dp_sid *arg)
{
	struct srpol_sid v = {};
	struct srpol_dp_sid s;
	bool fresh;
	long err;

	if (bpf_probe_read_kernel(&s, sizeof(s), arg))
		return -EFAULT;
	err = srpol_sid_check(&s);
	if (err)
		return err;
	v.id = s.id;
	v.behavior = s.behavior;
	v.nexthop = s.nexthop;
	v.prefix_len = s.prefix_len;
	v.block_len = s.block_len;
	__builtin_memcpy(v.l2, s.l2, sizeof(v.l2));
	fresh = srpol_sid_id(&s) != s.id;
	err = srpol_sid_put(&s, &v);
	if (err)
		return srpol_map_error(err);
	srpol_sid_changed();
	if (fresh) {
		srpol_sid_stats_clear(s.id);
		srpol_errors_clear(SRPOL_ERROR_SID, s.id);
	}
	return 0;
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

static __always_inline int srpol_apply_sid_del(const struct srpol_dp_sid *arg)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_prefix key;
	struct srpol_dp_sid s;
	int err;

	if (!st || bpf_probe_read_kernel(&s, sizeof(s), arg))
		return -EFAULT;
	if (s.prefix_len > SRPOL_ADDR_BITS)
		return -EINVAL;
	key.len = s.prefix_len;
	srpol_copy_addr(key.addr, s.sid);
	err = key.len == SRPOL_ADDR_BITS ?
	      bpf_map_delete_elem(&sids, key.addr) :
	      srpol_sid_prefix_remove(st, &key);
	if (!err)
		srpol_sid_changed();
	return err;
}

#endif /* _SRPOL_DP_SID_H */
