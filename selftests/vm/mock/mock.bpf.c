// SPDX-License-Identifier: GPL-2.0
/*
 * A data plane that forwards nothing. It stores what the module says as it was
 * said, watches that the module keeps the contract of dp.h, and refuses a
 * chosen call when a test wants to see how the module takes that.
 *
 * What is staged stays in maps of its own, as "next", until it is committed;
 * the other maps are what packets would see. An entry of a next map that is
 * hidden, and the order and settings, say so by a flag.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <linux/srpol.h>
#include <srpol/dp.h>

#include "store.h"

char LICENSE[] SEC("license") = "GPL";

#define READ(to, from) bpf_probe_read_kernel(to, sizeof(*(to)), from)

static int remove_all(struct bpf_map *map, void *key, void *value, void *ctx)
{
	bpf_map_delete_elem(map, key);
	return 0;
}

SEC("struct_ops/reset")
int BPF_PROG(reset)
{
	int err = called(M_RESET);
	struct mock_single *single;
	struct mock_order *order;
	__u32 zero = 0;

	if (err)
		return err;
	bpf_for_each_map_elem(&mock_nexthops, remove_all, NULL, 0);
	bpf_for_each_map_elem(&mock_paths, remove_all, NULL, 0);
	bpf_for_each_map_elem(&mock_rows, remove_all, NULL, 0);
	bpf_for_each_map_elem(&mock_policies, remove_all, NULL, 0);
	bpf_for_each_map_elem(&mock_rules, remove_all, NULL, 0);
	bpf_for_each_map_elem(&mock_endpoints, remove_all, NULL, 0);
	bpf_for_each_map_elem(&mock_sids, remove_all, NULL, 0);
	bpf_for_each_map_elem(&mock_devs, remove_all, NULL, 0);
	bpf_for_each_map_elem(&mock_next_paths, remove_all, NULL, 0);
	bpf_for_each_map_elem(&mock_next_policies, remove_all, NULL, 0);
	bpf_for_each_map_elem(&mock_next_endpoints, remove_all, NULL, 0);
	bpf_for_each_map_elem(&mock_next_sids, remove_all, NULL, 0);
	single = next_single();
	if (single) {
		single->config_staged = 0;
		single->order_staged = 0;
	}
	order = bpf_map_lookup_elem(&mock_order, &zero);
	if (order)
		order->n = 0;
	return 0;
}

SEC("struct_ops/config_set")
int BPF_PROG(config_set, const struct srpol_dp_config *arg)
{
	struct mock_single *single = next_single();
	int err = called(M_CONFIG_SET);

	if (err || !single || READ(&single->config, arg))
		return err;
	single->config_staged = 1;
	staged();
	return 0;
}

SEC("struct_ops/nexthop_set")
int BPF_PROG(nexthop_set, const struct srpol_dp_nexthop *arg)
{
	int err = called(M_NEXTHOP_SET);
	struct srpol_dp_nexthop nh;

	if (err || READ(&nh, arg))
		return err;
	if (!nh.id || nh.id >= NEXTHOPS)
		return -ENOSPC;
	return bpf_map_update_elem(&mock_nexthops, &nh.id, &nh, BPF_ANY);
}

static int uses_nexthop(struct bpf_map *map, __u32 *id,
			struct srpol_dp_path *path, __u32 *nexthop)
{
	if (path->up && path->nexthop == *nexthop)
		broken(B_NEXTHOP_IN_USE);
	return 0;
}

SEC("struct_ops/nexthop_del")
int BPF_PROG(nexthop_del, __u32 id)
{
	int err = called(M_NEXTHOP_DEL);
	__u32 nexthop = id;

	if (err)
		return err;
	bpf_for_each_map_elem(&mock_paths, uses_nexthop, &nexthop, 0);
	err = bpf_map_delete_elem(&mock_nexthops, &nexthop);
	if (err)
		broken(B_UNKNOWN);
	return err;
}

SEC("struct_ops/path_set")
int BPF_PROG(path_set, const struct srpol_dp_path *arg)
{
	int err = called(M_PATH_SET);
	struct srpol_dp_path *path;
	__u32 zero = 0, id, nexthop;

	path = bpf_map_lookup_elem(&mock_scratch, &zero);
	if (err || !path || READ(path, arg))
		return err;
	id = path->id;
	nexthop = path->nexthop;
	if (!id || id >= PATHS)
		return -ENOSPC;
	if (!bpf_map_lookup_elem(&mock_nexthops, &nexthop))
		broken(B_PATH_NEXTHOP);
	staged();
	return bpf_map_update_elem(&mock_next_paths, &id, path, BPF_ANY);
}

SEC("struct_ops/path_state")
int BPF_PROG(path_state, __u32 id, __u32 up)
{
	int err = called(M_PATH_STATE);
	struct srpol_dp_path *path;
	__u32 key = id, nexthop;

	if (err)
		return err;
	/* it counts for what is staged too */
	path = bpf_map_lookup_elem(&mock_next_paths, &key);
	if (path)
		path->up = !!up;
	path = bpf_map_lookup_elem(&mock_paths, &key);
	if (!path) {
		broken(B_PATH_STATE);
		return -ENOENT;
	}
	path->up = !!up;
	nexthop = path->nexthop;
	if (up && !bpf_map_lookup_elem(&mock_nexthops, &nexthop))
		broken(B_DEAD_NEXTHOP);
	return 0;
}

/**
 * struct row_check - is a row, or a path, part of a live table
 * @row: the row
 * @path: the path
 * @bit: what is broken if so
 */
struct row_check {
	__u32 row;
	__u32 path;
	__u32 bit;
};

static int live_row(struct bpf_map *map, __u32 *id,
		    struct srpol_dp_policy *policy, struct row_check *check)
{
	__u32 n = policy->n_buckets / SRPOL_ROW_BUCKETS;

	if (check->row >= policy->row && check->row < policy->row + n)
		broken(check->bit);
	return 0;
}

static int row_of_path(struct bpf_map *map, __u32 *nr,
		       struct srpol_dp_row *row, struct row_check *check)
{
	struct row_check live = { .row = *nr, .bit = check->bit };
	__u32 i;

	bpf_for(i, 0, SRPOL_ROW_BUCKETS) {
		if (row->path[i] == check->path) {
			bpf_for_each_map_elem(&mock_policies, live_row, &live,
					      0);
			break;
		}
	}
	return 0;
}

SEC("struct_ops/path_del")
int BPF_PROG(path_del, __u32 id)
{
	struct row_check check = { .path = id, .bit = B_PATH_IN_USE };
	int err = called(M_PATH_DEL);
	__u32 key = id;

	if (err)
		return err;
	bpf_for_each_map_elem(&mock_rows, row_of_path, &check, 0);
	/* one that never was up was never set */
	return bpf_map_delete_elem(&mock_paths, &key);
}

SEC("struct_ops/row_set")
int BPF_PROG(row_set, const struct srpol_dp_row *arg)
{
	struct row_check check = { .bit = B_ROW_IN_USE };
	int err = called(M_ROW_SET);
	struct srpol_dp_row *row;
	__u32 nr, i, id;

	if (err || bpf_probe_read_kernel(&nr, sizeof(nr), &arg->row))
		return err;
	if (!nr || nr >= ROWS)
		return -ENOSPC;
	check.row = nr;
	bpf_for_each_map_elem(&mock_policies, live_row, &check, 0);
	/* too large for the stack: straight into the table */
	row = bpf_map_lookup_elem(&mock_rows, &nr);
	if (!row) {
		static const struct srpol_dp_row empty;

		err = bpf_map_update_elem(&mock_rows, &nr, &empty, BPF_ANY);
		row = err ? NULL : bpf_map_lookup_elem(&mock_rows, &nr);
	}
	if (!row || bpf_probe_read_kernel(row, sizeof(*row), arg))
		return err ?: -ENOSPC;
	bpf_for(i, 0, SRPOL_ROW_BUCKETS) {
		id = row->path[i];
		if (id && !bpf_map_lookup_elem(&mock_paths, &id) &&
		    !bpf_map_lookup_elem(&mock_next_paths, &id)) {
			broken(B_ROW_PATH);
			break;
		}
	}
	return 0;
}

SEC("struct_ops/policy_set")
int BPF_PROG(policy_set, const struct srpol_dp_policy *arg)
{
	int err = called(M_POLICY_SET);
	struct mock_policy next = {};
	__u32 i, row;

	if (err || READ(&next.policy, arg))
		return err;
	if (!next.policy.id || next.policy.id >= POLICIES ||
	    next.policy.backup >= POLICIES)
		return -ENOSPC;
	bpf_for(i, 0, SRPOL_BUCKETS_MAX / SRPOL_ROW_BUCKETS) {
		if (i >= next.policy.n_buckets / SRPOL_ROW_BUCKETS)
			break;
		row = next.policy.row + i;
		if (!bpf_map_lookup_elem(&mock_rows, &row))
			broken(B_POLICY_ROW);
	}
	staged();
	return bpf_map_update_elem(&mock_next_policies, &next.policy.id, &next,
				   BPF_ANY);
}

SEC("struct_ops/policy_hide")
int BPF_PROG(policy_hide, const struct srpol_dp_policy *arg)
{
	struct mock_policy next = { .hidden = 1 };
	int err = called(M_POLICY_HIDE);

	if (err || READ(&next.policy, arg))
		return err;
	if (!bpf_map_lookup_elem(&mock_policies, &next.policy.id))
		broken(B_UNKNOWN);
	staged();
	return bpf_map_update_elem(&mock_next_policies, &next.policy.id, &next,
				   BPF_ANY);
}

/* The mock takes a policy off its table when the commit hides it. */
SEC("struct_ops/policy_del")
int BPF_PROG(policy_del, const struct srpol_dp_policy *arg)
{
	int err = called(M_POLICY_DEL);
	struct srpol_dp_policy policy;

	if (err || READ(&policy, arg))
		return err;
	if (bpf_map_lookup_elem(&mock_policies, &policy.id))
		broken(B_NOT_HIDDEN);
	return 0;
}

SEC("struct_ops/rule_set")
int BPF_PROG(rule_set, const struct srpol_dp_rule *arg)
{
	int err = called(M_RULE_SET);
	struct srpol_dp_rule rule;
	struct mock_order *order;
	__u32 zero = 0, i;

	if (err || READ(&rule, arg))
		return err;
	if (!rule.slot || rule.slot >= 2 * RULES || !rule.id ||
	    rule.id >= RULES)
		return -ENOSPC;
	order = bpf_map_lookup_elem(&mock_order, &zero);
	if (!order)
		return -ENOENT;
	bpf_for(i, 0, RULES)
		if (i < order->n && order->slot[i] == rule.slot)
			broken(B_SLOT_IN_USE);
	return bpf_map_update_elem(&mock_rules, &rule.slot, &rule, BPF_ANY);
}

SEC("struct_ops/rule_commit")
int BPF_PROG(rule_commit, const struct srpol_dp_rule_table *arg)
{
	int err = called(M_RULE_COMMIT);
	struct mock_single *single = next_single();
	struct srpol_dp_rule_table table;
	struct mock_order *order;

	if (err || !single || READ(&table, arg))
		return err;
	if (table.n > RULES)
		return -ENOSPC;
	order = &single->order;
	order->n = table.n;
	order->key = table.key;
	__builtin_memcpy(order->opclass, table.opclass,
			 sizeof(order->opclass));
	if (table.n)
		bpf_probe_read_kernel(order->slot, table.n * sizeof(__u32),
				      table.slot);
	single->order_staged = 1;
	staged();
	return 0;
}

static __always_inline int read_prefix(const struct srpol_dp_endpoint *arg,
				       struct srpol_dp_endpoint *ep,
				       struct mock_prefix *key)
{
	if (READ(ep, arg))
		return -ENOENT;
	__builtin_memcpy(key->prefix, ep->prefix, sizeof(key->prefix));
	key->len = ep->prefix_len;
	return 0;
}

static __always_inline int endpoint_stage(const struct srpol_dp_endpoint *arg,
					  __u32 hidden)
{
	struct mock_endpoint next = { .hidden = hidden };
	struct mock_prefix key;

	if (read_prefix(arg, &next.ep, &key))
		return -ENOENT;
	if (hidden && !bpf_map_lookup_elem(&mock_endpoints, &key))
		broken(B_UNKNOWN);
	staged();
	return bpf_map_update_elem(&mock_next_endpoints, &key, &next,
				   BPF_ANY) ? -ENOSPC : 0;
}

SEC("struct_ops/endpoint_set")
int BPF_PROG(endpoint_set, const struct srpol_dp_endpoint *arg)
{
	return called(M_ENDPOINT_SET) ?: endpoint_stage(arg, 0);
}

SEC("struct_ops/endpoint_hide")
int BPF_PROG(endpoint_hide, const struct srpol_dp_endpoint *arg)
{
	return called(M_ENDPOINT_HIDE) ?: endpoint_stage(arg, 1);
}

SEC("struct_ops/endpoint_del")
int BPF_PROG(endpoint_del, const struct srpol_dp_endpoint *arg)
{
	int err = called(M_ENDPOINT_DEL);
	struct srpol_dp_endpoint ep;
	struct mock_prefix key;

	if (err || read_prefix(arg, &ep, &key))
		return err;
	if (bpf_map_lookup_elem(&mock_endpoints, &key))
		broken(B_NOT_HIDDEN);
	return 0;
}

SEC("struct_ops/endpoint_revert")
int BPF_PROG(endpoint_revert, const struct srpol_dp_endpoint *arg)
{
	int err = called(M_ENDPOINT_REVERT);
	struct srpol_dp_endpoint ep;
	struct mock_prefix key;

	if (err || read_prefix(arg, &ep, &key))
		return err;
	if (bpf_map_delete_elem(&mock_next_endpoints, &key))
		broken(B_REVERT);
	return 0;
}

static __always_inline int sid_stage(const struct srpol_dp_sid *arg,
				     __u32 hidden)
{
	struct mock_sid next = { .hidden = hidden };
	struct srpol_dp_sid *old;

	if (READ(&next.sid, arg))
		return -ENOENT;
	if (!next.sid.id || next.sid.id >= SIDS)
		return -ENOSPC;
	old = bpf_map_lookup_elem(&mock_sids, &next.sid.id);
	if (old && __builtin_memcmp(old->sid, next.sid.sid, sizeof(old->sid)))
		broken(B_SID_ID);
	if (hidden && !old)
		broken(B_UNKNOWN);
	staged();
	return bpf_map_update_elem(&mock_next_sids, &next.sid.id, &next,
				   BPF_ANY);
}

SEC("struct_ops/sid_set")
int BPF_PROG(sid_set, const struct srpol_dp_sid *arg)
{
	return called(M_SID_SET) ?: sid_stage(arg, 0);
}

SEC("struct_ops/sid_hide")
int BPF_PROG(sid_hide, const struct srpol_dp_sid *arg)
{
	return called(M_SID_HIDE) ?: sid_stage(arg, 1);
}

SEC("struct_ops/sid_del")
int BPF_PROG(sid_del, const struct srpol_dp_sid *arg)
{
	int err = called(M_SID_DEL);
	struct srpol_dp_sid sid;

	if (err || READ(&sid, arg))
		return err;
	if (bpf_map_lookup_elem(&mock_sids, &sid.id))
		broken(B_NOT_HIDDEN);
	return 0;
}

SEC("struct_ops/sid_revert")
int BPF_PROG(sid_revert, const struct srpol_dp_sid *arg)
{
	int err = called(M_SID_REVERT);
	struct srpol_dp_sid sid;

	if (err || READ(&sid, arg))
		return err;
	if (bpf_map_delete_elem(&mock_next_sids, &sid.id))
		broken(B_REVERT);
	return 0;
}

SEC("struct_ops/dev_set")
int BPF_PROG(dev_set, const struct srpol_dp_dev *arg)
{
	int err = called(M_DEV_SET);
	struct srpol_dp_dev dev;

	if (err || READ(&dev, arg))
		return err;
	return bpf_map_update_elem(&mock_devs, &dev.ifindex, &dev, BPF_ANY) ?
	       -ENOSPC : 0;
}

SEC("struct_ops/dev_del")
int BPF_PROG(dev_del, __u32 ifindex)
{
	int err = called(M_DEV_DEL);
	__u32 key = ifindex;

	if (err)
		return err;
	err = bpf_map_delete_elem(&mock_devs, &key);
	if (err)
		broken(B_UNKNOWN);
	return err;
}

SEC("struct_ops/revert")
int BPF_PROG(revert, __u32 kind, __u32 id)
{
	struct mock_single *single = next_single();
	int err = called(M_REVERT);
	__u32 key = id, was = 0;

	if (err || !single)
		return err;
	switch (kind) {
	case SRPOL_DP_CONFIG:
		was = single->config_staged;
		single->config_staged = 0;
		break;
	case SRPOL_DP_PATH:
		was = !bpf_map_delete_elem(&mock_next_paths, &key);
		break;
	case SRPOL_DP_POLICY:
		was = !bpf_map_delete_elem(&mock_next_policies, &key);
		break;
	case SRPOL_DP_RULES:
		was = single->order_staged;
		single->order_staged = 0;
		break;
	}
	if (!was)
		broken(B_REVERT);
	return 0;
}

static int commit_path(struct bpf_map *map, __u32 *id,
		       struct srpol_dp_path *next, void *ctx)
{
	bpf_map_update_elem(&mock_paths, id, next, BPF_ANY);
	bpf_map_delete_elem(map, id);
	return 0;
}

static int commit_policy(struct bpf_map *map, __u32 *id,
			 struct mock_policy *next, void *ctx)
{
	if (next->hidden)
		bpf_map_delete_elem(&mock_policies, id);
	else
		bpf_map_update_elem(&mock_policies, id, &next->policy,
				    BPF_ANY);
	bpf_map_delete_elem(map, id);
	return 0;
}

static int commit_endpoint(struct bpf_map *map, struct mock_prefix *key,
			   struct mock_endpoint *next, void *ctx)
{
	if (next->hidden)
		bpf_map_delete_elem(&mock_endpoints, key);
	else
		bpf_map_update_elem(&mock_endpoints, key, &next->ep, BPF_ANY);
	bpf_map_delete_elem(map, key);
	return 0;
}

static int commit_sid(struct bpf_map *map, __u32 *id, struct mock_sid *next,
		      void *ctx)
{
	if (next->hidden)
		bpf_map_delete_elem(&mock_sids, id);
	else
		bpf_map_update_elem(&mock_sids, id, &next->sid, BPF_ANY);
	bpf_map_delete_elem(map, id);
	return 0;
}

/* What a test says that packets look like. */
SEC("struct_ops/quote_check")
int BPF_PROG(quote_check, const struct srpol_dp_quote *arg)
{
	struct mock_control *c = control();
	__u32 label;

	if (!c || bpf_probe_read_kernel(&label, sizeof(label),
					&arg->flow_label))
		return 0;
	c->calls[M_QUOTE_CHECK]++;
	return c->label && c->label != label ? -EINVAL : 0;
}

SEC("struct_ops/commit")
int BPF_PROG(commit, __u32 reclassify)
{
	struct mock_single *single = next_single();
	struct mock_control *c = control();
	struct mock_generation *gen;
	int err = called(M_COMMIT);
	struct mock_order *order;
	__u32 zero = 0;

	gen = bpf_map_lookup_elem(&mock_generation, &zero);
	order = bpf_map_lookup_elem(&mock_order, &zero);
	if (err || !single || !c || !gen || !order)
		return err;
	if (!c->staged)
		broken(B_EMPTY_COMMIT);
	c->staged = 0;
	gen->commits++;
	gen->epoch += !!reclassify;
	if (single->config_staged)
		bpf_map_update_elem(&mock_config, &zero, &single->config,
				    BPF_ANY);
	if (single->order_staged)
		*order = single->order;
	single->config_staged = 0;
	single->order_staged = 0;
	bpf_for_each_map_elem(&mock_next_paths, commit_path, NULL, 0);
	bpf_for_each_map_elem(&mock_next_policies, commit_policy, NULL, 0);
	bpf_for_each_map_elem(&mock_next_endpoints, commit_endpoint, NULL, 0);
	bpf_for_each_map_elem(&mock_next_sids, commit_sid, NULL, 0);
	return 0;
}

SEC(".struct_ops.link")
struct srpol_dp_ops mock = {
	.reset = (void *)reset,
	.config_set = (void *)config_set,
	.nexthop_set = (void *)nexthop_set,
	.nexthop_del = (void *)nexthop_del,
	.path_set = (void *)path_set,
	.path_state = (void *)path_state,
	.path_del = (void *)path_del,
	.row_set = (void *)row_set,
	.policy_set = (void *)policy_set,
	.policy_hide = (void *)policy_hide,
	.policy_del = (void *)policy_del,
	.rule_set = (void *)rule_set,
	.rule_commit = (void *)rule_commit,
	.endpoint_set = (void *)endpoint_set,
	.endpoint_hide = (void *)endpoint_hide,
	.endpoint_del = (void *)endpoint_del,
	.endpoint_revert = (void *)endpoint_revert,
	.sid_set = (void *)sid_set,
	.sid_hide = (void *)sid_hide,
	.sid_del = (void *)sid_del,
	.sid_revert = (void *)sid_revert,
	.dev_set = (void *)dev_set,
	.dev_del = (void *)dev_del,
	.revert = (void *)revert,
	.commit = (void *)commit,
	.quote_check = (void *)quote_check,
	.max_paths = PATHS,
	.max_nexthops = NEXTHOPS,
	.max_policies = POLICIES,
	.max_rows = ROWS,
	.max_rules = RULES,
	.max_endpoints = ENDPOINTS,
	.max_sids = SIDS,
	.max_devs = DEVS,
	.name = "mock",
};
