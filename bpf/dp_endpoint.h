/* SPDX-License-Identifier: GPL-2.0 */
/* Methods: steering prefixes and the endpoints they lead to. */
#ifndef _SRPOL_DP_ENDPOINT_H
#define _SRPOL_DP_ENDPOINT_H

#include "base.h"
#include "dp_stage.h"
#include "maps.h"
#include "proto.h"
#include "words.h"

static __always_inline int
srpol_prefix_read(const struct srpol_dp_endpoint *arg, struct srpol_prefix *key,
		  __u8 *endpoint)
{
	struct srpol_dp_endpoint e;

	if (bpf_probe_read_kernel(&e, sizeof(e), arg))
		return -EFAULT;
	if (e.prefix_len > SRPOL_ADDR_BITS)
		return -EINVAL;
	key->len = e.prefix_len;
	srpol_copy_addr(key->addr, e.prefix);
	srpol_copy_addr(endpoint, e.endpoint);
	return 0;
}

/*
 * The entry of exactly this prefix. The look-up returns the longest prefix that
 * contains @key and is not longer than it, so that its length tells.
 */
static __always_inline struct srpol_endpoint *
srpol_prefix_get(const struct srpol_prefix *key)
{
	struct srpol_endpoint *ep = bpf_map_lookup_elem(&endpoints, key);

	return ep && ep->len == key->len ? ep : NULL;
}

static __always_inline void srpol_prefix_stage(struct srpol_endpoint *ep,
					       __u32 gen, bool present,
					       const __u8 *endpoint)
{
	__u32 copy = srpol_spare(ep->ver, gen) & 1;

	ep->present[copy] = present;
	srpol_copy_addr(ep->addr[copy], endpoint);
	srpol_stage(&ep->ver, gen, copy);
}

static __always_inline int srpol_prefix_add(const struct srpol_prefix *key,
					    __u32 gen, const __u8 *endpoint)
{
	struct srpol_endpoint first = {
		.ver = srpol_ver_next(gen, 1),
		.len = key->len,
		.present = { 0, 1 },
	};
	__u32 len = key->len;
	long err;

	srpol_copy_addr(first.addr[1], endpoint);
	err = bpf_map_update_elem(&endpoint_index, key, &len, BPF_ANY);
	if (err)
		return srpol_map_error(err);
	err = bpf_map_update_elem(&endpoints, key, &first, BPF_ANY);
	if (err)
		bpf_map_delete_elem(&endpoint_index, key);
	return srpol_map_error(err);
}

static __always_inline int
srpol_apply_endpoint(const struct srpol_dp_endpoint *arg)
{
	struct srpol_endpoint *ep;
	__u32 gen = srpol_gen();
	struct srpol_prefix key;
	__u8 endpoint[16];
	int err;

	err = srpol_prefix_read(arg, &key, endpoint);
	if (err)
		return err;
	ep = srpol_prefix_get(&key);
	if (!ep)
		return srpol_prefix_add(&key, gen, endpoint);
	srpol_prefix_stage(ep, gen, true, endpoint);
	return 0;
}

static __always_inline int
srpol_apply_endpoint_hide(const struct srpol_dp_endpoint *arg)
{
	struct srpol_endpoint *ep;
	struct srpol_prefix key;
	__u8 endpoint[16];
	int err;

	err = srpol_prefix_read(arg, &key, endpoint);
	if (err)
		return err;
	ep = srpol_prefix_get(&key);
	if (!ep)
		return -ENOENT;
	srpol_prefix_stage(ep, srpol_gen(), false, endpoint);
	return 0;
}

static __always_inline int srpol_prefix_remove(const struct srpol_prefix *key)
{
	int err = bpf_map_delete_elem(&endpoints, key);

	if (!err)
		err = bpf_map_delete_elem(&endpoint_index, key);
	return err;
}

static __always_inline int
srpol_apply_endpoint_del(const struct srpol_dp_endpoint *arg)
{
	struct srpol_prefix key;
	__u8 endpoint[16];
	int err;

	err = srpol_prefix_read(arg, &key, endpoint);
	return err ? err : srpol_prefix_remove(&key);
}

static __always_inline int
srpol_apply_endpoint_revert(const struct srpol_dp_endpoint *arg)
{
	struct srpol_endpoint *ep;
	__u32 gen = srpol_gen();
	struct srpol_prefix key;
	__u8 endpoint[16];
	int err;

	err = srpol_prefix_read(arg, &key, endpoint);
	if (err)
		return err;
	ep = srpol_prefix_get(&key);
	if (!ep || !srpol_unstage(&ep->ver, gen) || ep->present[ep->ver & 1])
		return 0;
	return srpol_prefix_remove(&key);
}

#endif /* _SRPOL_DP_ENDPOINT_H */
