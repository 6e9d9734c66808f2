/* SPDX-License-Identifier: GPL-2.0 */
/* Methods: next hops, paths, rows of buckets. */
#ifndef _SRPOL_DP_PATH_H
#define _SRPOL_DP_PATH_H

#include "base.h"
#include "dp_clear.h"
#include "dp_stage.h"
#include "encap.h"
#include "maps.h"
#include "path.h"
#include "proto.h"

static __always_inline int
srpol_apply_nexthop(const struct srpol_dp_nexthop *arg)
{
	struct srpol_dp_nexthop nh;
	union srpol_hop hop, *v;
	int err;

	if (bpf_probe_read_kernel(&nh, sizeof(nh), arg))
		return -EFAULT;
	err = srpol_id_check(nh.id, SRPOL_MAX_NEXTHOPS);
	if (err)
		return err;
	v = bpf_map_lookup_elem(&nexthops, &nh.id);
	if (!v)
		return -ENOSPC;
	hop.nh.ifindex = nh.ifindex;
	hop.nh.up = !!nh.up;
	WRITE_ONCE(v->word, hop.word);
	return 0;
}

static __always_inline int srpol_apply_nexthop_del(__u32 id)
{
	union srpol_hop *v;
	int err;

	err = srpol_id_check(id, SRPOL_MAX_NEXTHOPS);
	if (err)
		return err;
	v = bpf_map_lookup_elem(&nexthops, &id);
	if (!v)
		return -ENOSPC;
	WRITE_ONCE(v->word, 0);
	return 0;
}

/* All members of struct srpol_dp_path except the rewrite string. */
struct srpol_path_head {
	__u32 id;
	__u32 nexthop;
	__u32 up;
	__u32 mtu;
	__u16 encap_len;
	__u16 nh_off;
	__u16 timestamp_off;
	__u16 reserved;
};

_Static_assert(sizeof(struct srpol_path_head) ==
	       __builtin_offsetof(struct srpol_dp_path, rewrite), "layout");

static __always_inline int srpol_path_check(const struct srpol_path_head *h)
{
	int err = srpol_id_check(h->id, SRPOL_MAX_PATHS);

	if (!err)
		err = srpol_id_check(h->nexthop, SRPOL_MAX_NEXTHOPS);
	if (err)
		return err;
	if (h->encap_len < IPV6_HLEN || h->encap_len > SRPOL_ENCAP_MAX ||
	    h->encap_len % 8)
		return -EINVAL;
	if (h->nh_off != SRPOL_NH_OFF_IPV6 &&
	    (h->nh_off != SRPOL_NH_OFF_SRH || h->encap_len <= IPV6_HLEN))
		return -EINVAL;
	if (h->timestamp_off &&
	    (h->timestamp_off < ETH_HLEN + IPV6_HLEN + SRH_HLEN ||
	     h->timestamp_off + SRPOL_TIMESTAMP_LEN > ETH_HLEN + h->encap_len))
		return -EINVAL;
	return 0;
}

/*
 * When a path that is down is set again as up, its new form is up from the
 * commit on. Until then the old form must not come up, unless path_state() says
 * so.
 */
static __always_inline void srpol_path_raise(struct srpol_path *path,
					     struct srpol_path_cfg *old)
{
	if (path->up)
		return;
	WRITE_ONCE(old->up, 0);
	__sync_lock_test_and_set(&path->up, 1);
}

static __always_inline int srpol_apply_path(const struct srpol_dp_path *arg)
{
	struct srpol_path_cfg *cfg, *old;
	struct srpol_path_head h;
	__u32 gen = srpol_gen(), copy;
	struct srpol_path *path;
	int err;

	if (bpf_probe_read_kernel(&h, sizeof(h), arg))
		return -EFAULT;
	err = srpol_path_check(&h);
	if (err)
		return err;
	path = bpf_map_lookup_elem(&paths, &h.id);
	if (!path)
		return -ENOSPC;

	copy = srpol_spare(path->ver, gen);
	cfg = &path->cfg[copy];
	old = &path->cfg[!copy];
	cfg->nexthop = h.nexthop;
	cfg->mtu = h.mtu;
	cfg->encap_len = h.encap_len;
	cfg->nh_off = h.nh_off;
	cfg->timestamp_off = h.timestamp_off;
	if (bpf_probe_read_kernel(cfg->rewrite, sizeof(cfg->rewrite),
				  arg->rewrite))
		return -EFAULT;
	if (!path->present) {
		srpol_path_clear(h.id);
		old->up = 0;
		path->up = 0;
		path->since = gen + 1;
	}
	WRITE_ONCE(cfg->up, !!h.up);
	srpol_stage(&path->ver, gen, copy);
	path->present = 1;
	if (h.up)
		srpol_path_raise(path, old);
	return 0;
}

/*
 * A path that goes up does so in its current form, even if that form was set
 * while the path was down. A path that is new in the next generation has only
 * the form that is staged for it.
 */
static __always_inline int srpol_apply_path_state(__u32 id, __u32 up)
{
	struct srpol_path_cfg *cfg;
	__u32 gen = srpol_gen(), copy;
	struct srpol_path *path;
	int err;

	err = srpol_id_check(id, SRPOL_MAX_PATHS);
	if (err)
		return err;
	path = bpf_map_lookup_elem(&paths, &id);
	if (!path || !path->present)
		return -ENOENT;
	if (up) {
		copy = srpol_copy(path->ver, gen);
		if (path->since == gen + 1)
			copy = path->ver;
		cfg = &path->cfg[copy & 1];
		WRITE_ONCE(cfg->up, 1);
	}
	__sync_lock_test_and_set(&path->up, !!up);
	return 0;
}

static __always_inline int srpol_apply_path_del(__u32 id)
{
	int err = srpol_apply_path_state(id, 0);
	struct srpol_path *path;

	if (err)
		return err;
	path = bpf_map_lookup_elem(&paths, &id);
	if (path)
		path->present = 0;
	return 0;
}

static __always_inline int srpol_path_revert(__u32 id, __u32 gen)
{
	struct srpol_path *path = bpf_map_lookup_elem(&paths, &id);

	if (!path || !path->present || !srpol_staged(path->ver, gen))
		return 0;
	if (path->since == gen + 1) {
		WRITE_ONCE(path->up, 0);
		path->present = 0;
	}
	srpol_unstage(&path->ver, gen);
	return 0;
}

static __always_inline int srpol_apply_row(const struct srpol_dp_row *arg)
{
	struct srpol_row *row;
	__u32 nr;
	int err;

	if (bpf_probe_read_kernel(&nr, sizeof(nr), &arg->row))
		return -EFAULT;
	err = srpol_id_check(nr, SRPOL_MAX_ROWS);
	if (err)
		return err;
	row = bpf_map_lookup_elem(&bucket_rows, &nr);
	if (!row)
		return -ENOSPC;
	if (bpf_probe_read_kernel(row, sizeof(*row), arg->path))
		return -EFAULT;
	return 0;
}

#endif /* _SRPOL_DP_PATH_H */
