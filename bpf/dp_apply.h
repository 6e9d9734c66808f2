/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The methods of struct srpol_dp_ops: write what the module says into the maps.
 *
 * Arguments are kernel memory of any kind: an object of the module when called
 * through struct_ops, the context of a syscall program in tests. So they are
 * read with bpf_probe_read_kernel() throughout.
 *
 * What packets may be reading is never written: the other copy is, and then
 * switched to by an atomic exchange, which is a full barrier. Everything is
 * checked before anything is changed.
 */
#ifndef _SRPOL_DP_APPLY_H
#define _SRPOL_DP_APPLY_H

#define SRPOL_CPUS_MAX		1024

/* A dense id within a table of @max entries. */
static __always_inline int srpol_id_check(__u32 id, __u32 max)
{
	if (!id)
		return -EINVAL;
	return id < max ? 0 : -ENOSPC;
}

/* Hash and LPM maps have different words for "full". */
static __always_inline int srpol_map_error(long err)
{
	return err == -E2BIG ? -ENOSPC : err;
}

static __always_inline void srpol_switch(__u32 *live, __u32 to)
{
	__sync_lock_test_and_set(live, to);
}

/* Counters belong to an object, not to its id: a new object starts at 0. */
static __always_inline void srpol_counter_clear(void *map, __u32 id)
{
	struct srpol_counter *c;
	__u32 cpu;

	bpf_for(cpu, 0, SRPOL_CPUS_MAX) {
		c = bpf_map_lookup_percpu_elem(map, &id, cpu);
		if (!c)
			break;
		c->packets = 0;
		c->bytes = 0;
	}
}

static __always_inline void srpol_sid_stats_clear(__u32 id)
{
	struct srpol_sid_stats *s;
	__u32 cpu;

	bpf_for(cpu, 0, SRPOL_CPUS_MAX) {
		s = bpf_map_lookup_percpu_elem(&sid_stats, &id, cpu);
		if (!s)
			break;
		__builtin_memset(s, 0, sizeof(*s));
	}
}

static __always_inline struct srpol_state *srpol_state_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&state, &zero);
}

static __always_inline int
srpol_apply_config(const struct srpol_dp_config *arg)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_dp_config cfg;
	__u32 spare;

	if (!st || bpf_probe_read_kernel(&cfg, sizeof(cfg), arg))
		return -EFAULT;
	if (cfg.flow_label > SRPOL_FLOW_LABEL_ZERO ||
	    cfg.dscp_mode > SRPOL_DSCP_MODE_PIPE || cfg.dscp > 63)
		return -EINVAL;
	spare = !(st->cfg_live & 1);
	st->cfg[spare] = cfg;
	srpol_switch(&st->cfg_live, spare);
	return 0;
}

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

static __always_inline int srpol_apply_path(const struct srpol_dp_path *arg)
{
	/* All of it but the string, which goes straight to its place. */
	struct {
		__u32 id;
		__u32 nexthop;
		__u32 up;
		__u32 mtu;
		__u16 encap_len;
		__u16 nh_off;
		__u32 reserved;
	} h;
	struct srpol_path_cfg *cfg;
	struct srpol_path *path;
	__u32 spare;
	int err;

	_Static_assert(sizeof(h) == __builtin_offsetof(struct srpol_dp_path,
						       rewrite), "layout");
	if (bpf_probe_read_kernel(&h, sizeof(h), arg))
		return -EFAULT;
	err = srpol_id_check(h.id, SRPOL_MAX_PATHS);
	if (!err)
		err = srpol_id_check(h.nexthop, SRPOL_MAX_NEXTHOPS);
	if (err)
		return err;
	if (h.encap_len < IPV6_HLEN || h.encap_len > SRPOL_ENCAP_MAX)
		return -EINVAL;
	if (h.nh_off != SRPOL_NH_OFF_IPV6 &&
	    (h.nh_off != SRPOL_NH_OFF_SRH || h.encap_len <= IPV6_HLEN))
		return -EINVAL;
	path = bpf_map_lookup_elem(&paths, &h.id);
	if (!path)
		return -ENOSPC;

	spare = !(path->live & 1);
	cfg = &path->cfg[spare];
	cfg->nexthop = h.nexthop;
	cfg->mtu = h.mtu;
	cfg->encap_len = h.encap_len;
	cfg->nh_off = h.nh_off;
	if (bpf_probe_read_kernel(cfg->rewrite, sizeof(cfg->rewrite),
				  arg->rewrite))
		return -EFAULT;
	if (!path->present)
		srpol_counter_clear(&path_stats, h.id);
	srpol_switch(&path->live, spare);
	path->present = 1;
	WRITE_ONCE(path->up, !!h.up);
	return 0;
}

static __always_inline int srpol_apply_path_state(__u32 id, __u32 up)
{
	struct srpol_path *path;
	int err;

	err = srpol_id_check(id, SRPOL_MAX_PATHS);
	if (err)
		return err;
	path = bpf_map_lookup_elem(&paths, &id);
	if (!path || !path->present)
		return -ENOENT;
	WRITE_ONCE(path->up, !!up);
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

static __always_inline int
srpol_policy_check(const struct srpol_dp_policy *p)
{
	__u32 rows = (p->n_buckets + SRPOL_ROW_BUCKETS - 1) / SRPOL_ROW_BUCKETS;
	int err;

	err = srpol_id_check(p->id, SRPOL_MAX_POLICIES);
	if (err)
		return err;
	if (!p->color || p->n_buckets & (p->n_buckets - 1) ||
	    p->n_buckets > SRPOL_BUCKETS_MAX || p->on_fail > SRPOL_ON_FAIL_DROP)
		return -EINVAL;
	if (p->n_buckets && !p->row)
		return -EINVAL;
	if (p->row >= SRPOL_MAX_ROWS || p->row + rows > SRPOL_MAX_ROWS ||
	    p->backup >= SRPOL_MAX_POLICIES)
		return -ENOSPC;
	return 0;
}

static __always_inline int srpol_apply_policy(const struct srpol_dp_policy *arg)
{
	struct srpol_policy_key key = {};
	struct srpol_policy_cfg *cfg;
	struct srpol_policy *policy;
	struct srpol_dp_policy p;
	__u32 old, spare;
	long err;

	if (bpf_probe_read_kernel(&p, sizeof(p), arg))
		return -EFAULT;
	err = srpol_policy_check(&p);
	if (err)
		return err;
	policy = bpf_map_lookup_elem(&policies, &p.id);
	if (!policy)
		return -ENOSPC;

	old = policy->live & 1;
	spare = !old;
	cfg = &policy->cfg[spare];
	cfg->row = p.row;
	cfg->n_buckets = p.n_buckets;
	cfg->mode = p.mode;
	cfg->on_fail = p.on_fail;
	cfg->backup = p.backup;

	/* Before the index names it nobody comes here, so it can be taken back. */
	srpol_switch(&policy->live, spare);
	key.color = p.color;
	srpol_copy_addr(key.endpoint, p.endpoint);
	err = bpf_map_update_elem(&policy_index, &key, &p.id, BPF_ANY);
	if (err) {
		srpol_switch(&policy->live, old);
		return srpol_map_error(err);
	}
	if (!policy->color)
		srpol_counter_clear(&policy_stats, p.id);
	policy->color = p.color;
	return 0;
}

/*
 * The table stays as it is: flows that lead here are sent elsewhere by the
 * change of epoch that follows, all at once.
 */
static __always_inline int
srpol_apply_policy_del(const struct srpol_dp_policy *arg)
{
	struct srpol_policy_key key = {};
	struct srpol_policy *policy;
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
	key.color = p.color;
	srpol_copy_addr(key.endpoint, p.endpoint);
	err = bpf_map_delete_elem(&policy_index, &key);
	if (!err)
		policy->color = 0;
	return err;
}

/* Does a rule in force use these counters? */
static __always_inline bool srpol_class_id_used(__u32 id)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_class_order *order;
	struct srpol_dp_class *rule;
	__u32 i, live;

	if (!st)
		return false;
	live = st->order_live;
	order = bpf_map_lookup_elem(&class_order, &live);
	if (!order)
		return false;
	bpf_for(i, 0, SRPOL_MAX_CLASSES) {
		if (i >= order->n || i >= SRPOL_MAX_CLASSES)
			break;
		rule = bpf_map_lookup_elem(&classes, &order->slot[i]);
		if (rule && rule->id == id)
			return true;
	}
	return false;
}

static __always_inline int srpol_apply_class(const struct srpol_dp_class *arg)
{
	struct srpol_dp_class *rule;
	__u32 head[2];	/* slot, id */
	int err;

	if (bpf_probe_read_kernel(head, sizeof(head), arg))
		return -EFAULT;
	err = srpol_id_check(head[0], 2 * SRPOL_MAX_CLASSES);
	if (!err)
		err = srpol_id_check(head[1], SRPOL_MAX_CLASSES);
	if (err)
		return err;
	rule = bpf_map_lookup_elem(&classes, &head[0]);
	if (!rule)
		return -ENOSPC;
	if (!srpol_class_id_used(head[1]))
		srpol_counter_clear(&class_stats, head[1]);
	if (bpf_probe_read_kernel(rule, sizeof(*rule), arg))
		return -EFAULT;
	return 0;
}

/**
 * srpol_apply_class_table - switch to a new order of rules
 * @arg: table
 * @slot: kernel address of the slots; @arg->slot, except in tests
 */
static __always_inline int
srpol_apply_class_table(const struct srpol_dp_class_table *arg,
			const void *slot)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_class_order *order;
	__u32 head[2];	/* n, key */
	__u32 i, n, spare;

	if (!st || bpf_probe_read_kernel(head, sizeof(head), arg))
		return -EFAULT;
	n = head[0];
	if (n > SRPOL_MAX_CLASSES)
		return -ENOSPC;
	spare = !(st->order_live & 1);
	order = bpf_map_lookup_elem(&class_order, &spare);
	if (!order)
		return -EFAULT;
	if (bpf_probe_read_kernel(order->opclass, sizeof(order->opclass),
				  arg->opclass))
		return -EFAULT;
	if (n && bpf_probe_read_kernel(order->slot, n * sizeof(__u32), slot))
		return -EFAULT;
	bpf_for(i, 0, SRPOL_MAX_CLASSES) {
		if (i >= n || i >= SRPOL_MAX_CLASSES)
			break;
		if (srpol_id_check(order->slot[i], 2 * SRPOL_MAX_CLASSES))
			return -EINVAL;
	}
	order->n = n;
	order->key = head[1];
	srpol_switch(&st->order_live, spare);
	return 0;
}

static __always_inline int srpol_prefix_read(const struct srpol_dp_endpoint *arg,
					     struct srpol_prefix *key,
					     struct srpol_endpoint *ep)
{
	struct srpol_dp_endpoint e;

	if (bpf_probe_read_kernel(&e, sizeof(e), arg))
		return -EFAULT;
	if (e.prefix_len > 128)
		return -EINVAL;
	key->len = e.prefix_len;
	srpol_copy_addr(key->addr, e.prefix);
	srpol_copy_addr(ep->addr, e.endpoint);
	return 0;
}

static __always_inline int
srpol_apply_endpoint(const struct srpol_dp_endpoint *arg)
{
	struct srpol_endpoint ep, *old;
	struct srpol_prefix key;
	long err;

	err = srpol_prefix_read(arg, &key, &ep);
	if (err)
		return err;
	old = bpf_map_lookup_elem(&endpoint_index, &key);
	if (!old) {
		err = bpf_map_update_elem(&endpoint_index, &key, &ep, BPF_ANY);
		if (err)
			return srpol_map_error(err);
	}
	err = bpf_map_update_elem(&endpoints, &key, &ep, BPF_ANY);
	if (err && !old)
		bpf_map_delete_elem(&endpoint_index, &key);
	else if (!err && old)
		*old = ep;
	return srpol_map_error(err);
}

static __always_inline int
srpol_apply_endpoint_del(const struct srpol_dp_endpoint *arg)
{
	struct srpol_endpoint ep;
	struct srpol_prefix key;
	int err;

	err = srpol_prefix_read(arg, &key, &ep);
	if (!err)
		err = bpf_map_delete_elem(&endpoints, &key);
	if (!err)
		err = bpf_map_delete_elem(&endpoint_index, &key);
	return err;
}

static __always_inline int srpol_apply_sid(const struct srpol_dp_sid *arg)
{
	struct srpol_sid v, *old;
	struct srpol_dp_sid s;
	struct in6_addr key;
	bool fresh;
	long err;

	if (bpf_probe_read_kernel(&s, sizeof(s), arg))
		return -EFAULT;
	err = srpol_id_check(s.id, SRPOL_MAX_SIDS);
	if (err)
		return err;
	switch (s.behavior) {
	case SRPOL_BEHAVIOR_END:
	case SRPOL_BEHAVIOR_END_DT6:
	case SRPOL_BEHAVIOR_END_DT4:
	case SRPOL_BEHAVIOR_END_DT46:
		break;
	default:
		return -EINVAL;
	}
	srpol_copy_addr(&key, s.sid);
	v.id = s.id;
	v.behavior = s.behavior;
	old = bpf_map_lookup_elem(&sids, &key);
	fresh = !old || old->id != s.id;
	err = bpf_map_update_elem(&sids, &key, &v, BPF_ANY);
	if (err)
		return srpol_map_error(err);
	if (fresh)
		srpol_sid_stats_clear(s.id);
	return 0;
}

static __always_inline int srpol_apply_sid_del(const struct srpol_dp_sid *arg)
{
	struct srpol_dp_sid s;
	struct in6_addr key;

	if (bpf_probe_read_kernel(&s, sizeof(s), arg))
		return -EFAULT;
	srpol_copy_addr(&key, s.sid);
	return bpf_map_delete_elem(&sids, &key);
}

static __always_inline int srpol_apply_dev(const struct srpol_dp_dev *arg)
{
	struct srpol_dp_dev d;
	struct srpol_dev v;

	if (bpf_probe_read_kernel(&d, sizeof(d), arg))
		return -EFAULT;
	if (!d.ifindex || d.role != SRPOL_DEV_ROLE_UPLINK)
		return -EINVAL;
	v.role = d.role;
	return srpol_map_error(bpf_map_update_elem(&devices, &d.ifindex, &v,
						   BPF_ANY));
}

static __always_inline int srpol_apply_dev_del(__u32 ifindex)
{
	return bpf_map_delete_elem(&devices, &ifindex);
}

static __always_inline int srpol_apply_epoch(__u32 epoch)
{
	struct srpol_state *st = srpol_state_get();

	if (!st)
		return -EFAULT;
	srpol_switch(&st->epoch, st->epoch_base + epoch);
	return 0;
}

static int srpol_reset_key(struct bpf_map *map, const void *key, void *value,
			   void *ctx)
{
	bpf_map_delete_elem(map, key);
	return 0;
}

static int srpol_reset_endpoint(struct bpf_map *map, struct srpol_prefix *key,
				void *value, void *ctx)
{
	struct srpol_prefix copy = *key;

	bpf_map_delete_elem(&endpoints, &copy);
	bpf_map_delete_elem(map, &copy);
	return 0;
}

static int srpol_reset_path(struct bpf_map *map, const __u32 *key,
			    struct srpol_path *path, void *ctx)
{
	path->up = 0;
	path->present = 0;
	return 0;
}

static int srpol_reset_nexthop(struct bpf_map *map, const __u32 *key,
			       union srpol_hop *hop, void *ctx)
{
	WRITE_ONCE(hop->word, 0);
	return 0;
}

static int srpol_reset_policy(struct bpf_map *map, const __u32 *key,
			      struct srpol_policy *policy, void *ctx)
{
	policy->color = 0;
	return 0;
}

/*
 * An empty order of rules comes first: from then on packets are left alone
 * until the replay commits its own.
 */
static __always_inline int srpol_apply_reset(void)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_class_order *order;
	__u32 spare;

	if (!st)
		return -EFAULT;
	spare = !(st->order_live & 1);
	order = bpf_map_lookup_elem(&class_order, &spare);
	if (!order)
		return -EFAULT;
	order->n = 0;
	order->key = 0;
	srpol_switch(&st->order_live, spare);
	st->epoch_base = st->epoch + 1;
	srpol_switch(&st->epoch, st->epoch_base);

	bpf_for_each_map_elem(&sids, srpol_reset_key, NULL, 0);
	bpf_for_each_map_elem(&policy_index, srpol_reset_key, NULL, 0);
	bpf_for_each_map_elem(&endpoint_index, srpol_reset_endpoint, NULL, 0);
	bpf_for_each_map_elem(&devices, srpol_reset_key, NULL, 0);
	bpf_for_each_map_elem(&policies, srpol_reset_policy, NULL, 0);
	bpf_for_each_map_elem(&paths, srpol_reset_path, NULL, 0);
	bpf_for_each_map_elem(&nexthops, srpol_reset_nexthop, NULL, 0);
	bpf_for_each_map_elem(&flows, srpol_reset_key, NULL, 0);
	return 0;
}

#endif /* _SRPOL_DP_APPLY_H */
