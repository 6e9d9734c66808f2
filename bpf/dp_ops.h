/* SPDX-License-Identifier: GPL-2.0 */
/*
 * There are two ways to call the methods of dp_*.h: through struct_ops, as the
 * module does, and by programs for BPF_PROG_TEST_RUN on a kernel without it.
 * The latter are not loaded by default; their context is the argument of the
 * method. They are of type syscall, or of type raw_tp where an LPM map is
 * involved, which programs of type syscall may not use.
 */
#ifndef _SRPOL_DP_OPS_H
#define _SRPOL_DP_OPS_H

#include "base.h"
#include "dp_endpoint.h"
#include "dp_global.h"
#include "dp_path.h"
#include "dp_policy.h"
#include "dp_rule.h"
#include "dp_sid.h"

/* A method that takes a pointer to @type. */
#define SRPOL_DP_METHOD(name, run, type, fn)				\
	SEC("struct_ops/" #name)					\
	int BPF_PROG(dp_##name, const struct type *arg)			\
	{								\
		return fn(arg);						\
	}								\
	SEC(run)							\
	int run_##name(struct type *ctx)				\
	{								\
		return fn(ctx);						\
	}

/* A method that takes one number. */
#define SRPOL_DP_METHOD_U32(name, run, fn)				\
	SEC("struct_ops/" #name)					\
	int BPF_PROG(dp_##name, __u32 arg)				\
	{								\
		return fn(arg);						\
	}								\
	SEC(run)							\
	int run_##name(__u32 *ctx)					\
	{								\
		return fn(*ctx);					\
	}

/* A method that takes two numbers. */
#define SRPOL_DP_METHOD_U32_2(name, fn)					\
	SEC("struct_ops/" #name)					\
	int BPF_PROG(dp_##name, __u32 a, __u32 b)			\
	{								\
		return fn(a, b);					\
	}								\
	SEC("?syscall")							\
	int run_##name(__u32 *ctx)					\
	{								\
		return fn(ctx[0], ctx[1]);				\
	}

SRPOL_DP_METHOD(config_set, "?syscall", srpol_dp_config, srpol_apply_config)
SRPOL_DP_METHOD(nexthop_set, "?syscall", srpol_dp_nexthop, srpol_apply_nexthop)
SRPOL_DP_METHOD_U32(nexthop_del, "?syscall", srpol_apply_nexthop_del)
SRPOL_DP_METHOD(path_set, "?syscall", srpol_dp_path, srpol_apply_path)
SRPOL_DP_METHOD_U32(path_del, "?syscall", srpol_apply_path_del)
SRPOL_DP_METHOD(row_set, "?syscall", srpol_dp_row, srpol_apply_row)
SRPOL_DP_METHOD(policy_set, "?syscall", srpol_dp_policy, srpol_apply_policy)
SRPOL_DP_METHOD(policy_hide, "?syscall", srpol_dp_policy,
		srpol_apply_policy_hide)
SRPOL_DP_METHOD(policy_del, "?syscall", srpol_dp_policy, srpol_apply_policy_del)
SRPOL_DP_METHOD(rule_set, "?syscall", srpol_dp_rule, srpol_apply_rule)
SRPOL_DP_METHOD(endpoint_set, "?raw_tp", srpol_dp_endpoint,
		srpol_apply_endpoint)
SRPOL_DP_METHOD(endpoint_hide, "?raw_tp", srpol_dp_endpoint,
		srpol_apply_endpoint_hide)
SRPOL_DP_METHOD(endpoint_del, "?raw_tp", srpol_dp_endpoint,
		srpol_apply_endpoint_del)
SRPOL_DP_METHOD(endpoint_revert, "?raw_tp", srpol_dp_endpoint,
		srpol_apply_endpoint_revert)
SRPOL_DP_METHOD(sid_set, "?raw_tp", srpol_dp_sid, srpol_apply_sid)
SRPOL_DP_METHOD(sid_hide, "?raw_tp", srpol_dp_sid, srpol_apply_sid_hide)
SRPOL_DP_METHOD(sid_del, "?raw_tp", srpol_dp_sid, srpol_apply_sid_del)
SRPOL_DP_METHOD(sid_revert, "?raw_tp", srpol_dp_sid, srpol_apply_sid_revert)
SRPOL_DP_METHOD(dev_set, "?syscall", srpol_dp_dev, srpol_apply_dev)
SRPOL_DP_METHOD_U32(dev_del, "?syscall", srpol_apply_dev_del)
SRPOL_DP_METHOD_U32(commit, "?raw_tp", srpol_apply_commit)

SEC("struct_ops/reset")
int BPF_PROG(dp_reset)
{
	return srpol_apply_reset();
}

SEC("?raw_tp")
int run_reset(void *ctx)
{
	return srpol_apply_reset();
}

SRPOL_DP_METHOD_U32_2(path_state, srpol_apply_path_state)
SRPOL_DP_METHOD_U32_2(revert, srpol_apply_revert)

SEC("struct_ops/rule_commit")
int BPF_PROG(dp_rule_commit, const struct srpol_dp_rule_table *table)
{
	return srpol_apply_rule_table(table, table->slot);
}

/* The context is the table, followed by its slots. */
SEC("?syscall")
int run_rule_commit(struct srpol_dp_rule_table *ctx)
{
	return srpol_apply_rule_table(ctx, ctx + 1);
}

SEC(".struct_ops.link")
struct srpol_dp_ops srpol_dp = {
	.reset = (void *)dp_reset,
	.config_set = (void *)dp_config_set,
	.nexthop_set = (void *)dp_nexthop_set,
	.nexthop_del = (void *)dp_nexthop_del,
	.path_set = (void *)dp_path_set,
	.path_state = (void *)dp_path_state,
	.path_del = (void *)dp_path_del,
	.row_set = (void *)dp_row_set,
	.policy_set = (void *)dp_policy_set,
	.policy_hide = (void *)dp_policy_hide,
	.policy_del = (void *)dp_policy_del,
	.rule_set = (void *)dp_rule_set,
	.rule_commit = (void *)dp_rule_commit,
	.endpoint_set = (void *)dp_endpoint_set,
	.endpoint_hide = (void *)dp_endpoint_hide,
	.endpoint_del = (void *)dp_endpoint_del,
	.endpoint_revert = (void *)dp_endpoint_revert,
	.sid_set = (void *)dp_sid_set,
	.sid_hide = (void *)dp_sid_hide,
	.sid_del = (void *)dp_sid_del,
	.sid_revert = (void *)dp_sid_revert,
	.dev_set = (void *)dp_dev_set,
	.dev_del = (void *)dp_dev_del,
	.revert = (void *)dp_revert,
	.commit = (void *)dp_commit,
	.max_paths = SRPOL_MAX_PATHS,
	.max_nexthops = SRPOL_MAX_NEXTHOPS,
	.max_policies = SRPOL_MAX_POLICIES,
	.max_rows = SRPOL_MAX_ROWS,
	.max_rules = SRPOL_MAX_RULES,
	.max_endpoints = SRPOL_MAX_ENDPOINTS,
	.max_sids = SRPOL_MAX_SIDS,
	.max_devs = SRPOL_MAX_DEVS,
	.name = "ebpf",
};

#endif /* _SRPOL_DP_OPS_H */
