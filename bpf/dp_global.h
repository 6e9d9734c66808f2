/* SPDX-License-Identifier: GPL-2.0 */
/* Methods: settings, devices, revert, commit, reset. */
#ifndef _SRPOL_DP_GLOBAL_H
#define _SRPOL_DP_GLOBAL_H

#include "base.h"
#include "dp_endpoint.h"
#include "dp_path.h"
#include "dp_policy.h"
#include "dp_rule.h"
#include "dp_sid.h"
#include "dp_stage.h"
#include "flow_table.h"
#include "maps.h"
#include "state.h"

#define SRPOL_DSCP_MAX		63

static __always_inline int
srpol_apply_config(const struct srpol_dp_config *arg)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_dp_config cfg;
	__u32 copy;

	if (!st || bpf_probe_read_kernel(&cfg, sizeof(cfg), arg))
		return -EFAULT;
	if (cfg.flow_label > SRPOL_FLOW_LABEL_ZERO ||
	    cfg.dscp_mode > SRPOL_DSCP_MODE_PIPE ||
	    cfg.dscp > SRPOL_DSCP_MAX || cfg.path_id > SRPOL_PATH_ID_LABEL ||
	    cfg.stack_forwards > 1 ||
	    cfg.n_domain > SRPOL_SR_DOMAIN_MAX || cfg.n_blocks > cfg.n_domain)
		return -EINVAL;
	copy = srpol_spare(st->cfg_ver, st->gen);
	st->cfg[copy & 1] = cfg;
	srpol_stage(&st->cfg_ver, st->gen, copy);
	return 0;
}

/*
 * Have all flows decided again, as the source check of their port may have
 * changed.
 */
static __always_inline void srpol_ports_changed(void)
{
	struct srpol_state *st = srpol_state_get();
	union srpol_now now;

	if (!st)
		return;
	now.epoch = st->epoch + 1;
	now.gen = st->gen;
	__sync_lock_test_and_set(srpol_now_word(st), now.word);
}

static __always_inline int srpol_apply_port(const struct srpol_dp_dev *d)
{
	struct srpol_port port = { .role = d->role, .source = d->source };
	__u32 key = d->port;
	int err;

	if (!key)
		return 0;
	err = srpol_map_error(bpf_map_update_elem(&ports, &key, &port,
						  BPF_ANY));
	if (!err)
		srpol_ports_changed();
	return err;
}

/* The port of a device as it is so far, 0: none. */
static __always_inline __u32 srpol_dev_port(__u32 ifindex)
{
	struct srpol_dev *dev = bpf_map_lookup_elem(&devices, &ifindex);

	return dev ? dev->port : 0;
}

static __always_inline int srpol_apply_dev(const struct srpol_dp_dev *arg)
{
	struct srpol_dp_dev d;
	struct srpol_dev v;
	__u32 was, gone;
	int err;

	if (bpf_probe_read_kernel(&d, sizeof(d), arg))
		return -EFAULT;
	if (!d.ifindex || (d.role != SRPOL_DEV_ROLE_UPLINK &&
			   d.role != SRPOL_DEV_ROLE_PORT &&
			   d.role != SRPOL_DEV_ROLE_HOST) ||
	    d.source > SRPOL_SOURCE_CHECK_STRICT)
		return -EINVAL;
	was = srpol_dev_port(d.ifindex);
	err = srpol_apply_port(&d);
	if (err)
		return err;
	v.role = d.role;
	v.port = d.port;
	err = srpol_map_error(bpf_map_update_elem(&devices, &d.ifindex, &v,
						  BPF_ANY));
	gone = err ? d.port : was;
	if (gone && was != d.port)
		bpf_map_delete_elem(&ports, &gone);
	return err;
}

static __always_inline int srpol_apply_dev_del(__u32 ifindex)
{
	__u32 port = srpol_dev_port(ifindex);

	if (port)
		bpf_map_delete_elem(&ports, &port);
	return bpf_map_delete_elem(&devices, &ifindex);
}

static __always_inline int srpol_apply_revert(__u32 kind, __u32 id)
{
	struct srpol_state *st = srpol_state_get();

	if (!st)
		return -EFAULT;
	switch (kind) {
	case SRPOL_DP_CONFIG:
		srpol_unstage(&st->cfg_ver, st->gen);
		return 0;
	case SRPOL_DP_PATH:
		return srpol_path_revert(id, st->gen);
	case SRPOL_DP_POLICY:
		return srpol_policy_revert(id, st->gen);
	case SRPOL_DP_RULES:
		srpol_unstage(&st->order_ver, st->gen);
		return 0;
	default:
		return -EINVAL;
	}
}

/*
 * Version words are compared modulo 2^31, so that one that is not written for
 * 2^30 generations would come to select the other copy. Every SRPOL_SWEEP_EVERY
 * generations all words that are older than that are set to that age: a packet
 * still in flight, which reads with an earlier generation, must not take them
 * for newer than its own.
 */
#define SRPOL_SWEEP_EVERY	(1u << 28)

static __always_inline void srpol_sweep_ver(__u32 *ver, __u32 gen)
{
	__u32 age = (gen << 1) - (*ver & ~1u);

	if (age >> 1 > SRPOL_SWEEP_EVERY)
		WRITE_ONCE(*ver, (gen - SRPOL_SWEEP_EVERY) << 1 | (*ver & 1));
}

static int srpol_sweep_path(struct bpf_map *map, const __u32 *key,
			    struct srpol_path *path, __u32 *gen)
{
	srpol_sweep_ver(&path->ver, *gen);
	return 0;
}

static int srpol_sweep_policy(struct bpf_map *map, const __u32 *key,
			      struct srpol_policy *policy, __u32 *gen)
{
	srpol_sweep_ver(&policy->ver, *gen);
	return 0;
}

static int srpol_sweep_ref(struct bpf_map *map, const void *key,
			   struct srpol_policy_ref *ref, __u32 *gen)
{
	srpol_sweep_ver(&ref->ver, *gen);
	return 0;
}

static int srpol_sweep_endpoint(struct bpf_map *map, struct srpol_prefix *key,
				void *value, __u32 *gen)
{
	struct srpol_prefix copy = *key;
	struct srpol_endpoint *ep = srpol_prefix_get(&copy);

	if (ep)
		srpol_sweep_ver(&ep->ver, *gen);
	return 0;
}

static int srpol_sweep_sid(struct bpf_map *map, const void *key,
			   struct srpol_sid_entry *entry, __u32 *gen)
{
	srpol_sweep_ver(&entry->ver, *gen);
	return 0;
}

static int srpol_sweep_sid_prefix(struct bpf_map *map,
				  struct srpol_prefix *key, void *value,
				  __u32 *gen)
{
	struct srpol_prefix copy = *key;
	struct srpol_sid_entry *entry = srpol_sid_entry(&copy);

	if (entry)
		srpol_sweep_ver(&entry->ver, *gen);
	return 0;
}

static __noinline int srpol_sweep(__u32 gen)
{
	struct srpol_state *st = srpol_state_get();

	if (!st)
		return -EFAULT;
	srpol_sweep_ver(&st->cfg_ver, gen);
	srpol_sweep_ver(&st->order_ver, gen);
	bpf_for_each_map_elem(&paths, srpol_sweep_path, &gen, 0);
	bpf_for_each_map_elem(&policies, srpol_sweep_policy, &gen, 0);
	bpf_for_each_map_elem(&policy_index, srpol_sweep_ref, &gen, 0);
	bpf_for_each_map_elem(&endpoint_index, srpol_sweep_endpoint, &gen, 0);
	bpf_for_each_map_elem(&sids, srpol_sweep_sid, &gen, 0);
	bpf_for_each_map_elem(&sid_prefix_index, srpol_sweep_sid_prefix, &gen,
			      0);
	return 0;
}

/* Commit: the one store that makes everything staged visible to packets. */
static __always_inline int srpol_apply_commit(__u32 reclassify)
{
	struct srpol_state *st = srpol_state_get();
	union srpol_now now;

	if (!st)
		return -EFAULT;
	/*
	 * Flows remember whether their destination is in a SID block, which is
	 * in the settings.
	 */
	now.epoch = st->epoch +
		    (reclassify || srpol_staged(st->cfg_ver, st->gen));
	now.gen = st->gen + 1;
	__sync_lock_test_and_set(srpol_now_word(st), now.word);
	return now.gen % SRPOL_SWEEP_EVERY ? 0 : srpol_sweep(now.gen);
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

	srpol_prefix_remove(&copy);
	return 0;
}

static int srpol_reset_sid_prefix(struct bpf_map *map, struct srpol_prefix *key,
				  void *value, void *ctx)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_prefix copy = *key;

	if (st)
		srpol_sid_prefix_remove(st, &copy);
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
 * An entry that is being filled right now is left alone: it gets an epoch that
 * is already over.
 */
static int srpol_reset_flow(struct bpf_map *map, const __u32 *key,
			    struct srpol_flow *flow, void *ctx)
{
	union srpol_flow_head head = srpol_head_read(flow);

	if (head.tag != SRPOL_TAG_FREE && head.tag != SRPOL_TAG_CLAIMED)
		srpol_flow_take(flow, head, SRPOL_TAG_FREE);
	return 0;
}

/*
 * Delete what was learned from packets; it would be taken for valid after the
 * reset.
 */
static __always_inline void srpol_reset_learnt(void)
{
	bpf_for_each_map_elem(&flows, srpol_reset_flow, NULL, 0);
	bpf_for_each_map_elem(&bindings, srpol_reset_key, NULL, 0);
	bpf_for_each_map_elem(&psn_seen, srpol_reset_key, NULL, 0);
	bpf_for_each_map_elem(&rx_flows, srpol_reset_key, NULL, 0);
	bpf_for_each_map_elem(&ce_peers, srpol_reset_key, NULL, 0);
}

/*
 * Settings of zeros and an empty order of rules come first: from then on
 * packets are not steered, until the replay commits settings of its own. The
 * version words of the emptied entries are kept, as after this commit none of
 * them is ahead of the generation.
 */
static __always_inline int srpol_apply_reset(void)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_rule_order *order;
	__u32 copy;

	if (!st)
		return -EFAULT;
	copy = srpol_spare(st->order_ver, st->gen);
	order = bpf_map_lookup_elem(&rule_order, &copy);
	if (!order)
		return -EFAULT;
	order->n = 0;
	order->key = 0;
	srpol_stage(&st->order_ver, st->gen, copy);
	copy = srpol_spare(st->cfg_ver, st->gen);
	__builtin_memset(&st->cfg[copy & 1], 0, sizeof(st->cfg[0]));
	srpol_stage(&st->cfg_ver, st->gen, copy);
	srpol_apply_commit(true);

	bpf_for_each_map_elem(&sids, srpol_reset_key, NULL, 0);
	bpf_for_each_map_elem(&sid_prefix_index, srpol_reset_sid_prefix, NULL,
			      0);
	bpf_for_each_map_elem(&policy_index, srpol_reset_key, NULL, 0);
	bpf_for_each_map_elem(&endpoint_index, srpol_reset_endpoint, NULL, 0);
	bpf_for_each_map_elem(&devices, srpol_reset_key, NULL, 0);
	bpf_for_each_map_elem(&ports, srpol_reset_key, NULL, 0);
	bpf_for_each_map_elem(&policies, srpol_reset_policy, NULL, 0);
	bpf_for_each_map_elem(&paths, srpol_reset_path, NULL, 0);
	bpf_for_each_map_elem(&nexthops, srpol_reset_nexthop, NULL, 0);
	srpol_reset_learnt();
	srpol_sid_changed();
	return 0;
}

#endif /* _SRPOL_DP_GLOBAL_H */
