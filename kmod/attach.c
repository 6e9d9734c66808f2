// SPDX-License-Identifier: GPL-2.0
/*
 * Attachment of a data plane: struct srpol_dp_ops as BPF struct_ops.
 *
 * A data plane registers in the namespace of the task that creates its
 * struct_ops link, one per namespace. The link's map holds a reference to the
 * module as long as it exists, so that the module cannot be unloaded before.
 * The namespace may end first: then the registration remains, with no
 * namespace.
 */
#include <linux/bpf.h>
#include <linux/bpf_verifier.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/module.h>
#include <linux/nsproxy.h>

#include "attach.h"
#include "config.h"
#include "dataplane.h"
#include "device.h"
#include "endpoint.h"
#include "nexthop.h"
#include "path.h"
#include "policy.h"
#include "rule.h"
#include "sid.h"

/**
 * struct srpol_dp_reg - a registered data plane
 * @node: in srpol_dp_regs
 * @ops: methods that were registered
 * @sn: namespace, NULL once that has ended
 */
struct srpol_dp_reg {
	struct list_head node;
	struct srpol_dp_ops *ops;
	struct srpol_net *sn;
};

/* Protects the list and srpol_dp_reg.sn; taken before srpol_net.lock. */
static DEFINE_MUTEX(srpol_dp_mutex);
static LIST_HEAD(srpol_dp_regs);

static int srpol_dp_replay(struct srpol_net *sn)
{
	return srpol_dp_call(sn, reset) ?:
	       srpol_dp_call(sn, config_set, &srpol_config(sn)->dp) ?:
	       srpol_nexthop_replay(sn) ?:
	       srpol_path_replay(sn) ?:
	       srpol_policy_replay(sn) ?:
	       srpol_endpoint_replay(sn) ?:
	       srpol_rule_replay(sn) ?:
	       srpol_sid_replay(sn) ?:
	       srpol_dev_replay(sn);
}

static struct srpol_limits srpol_dp_limits(const struct srpol_dp_ops *ops)
{
	return (struct srpol_limits){
		.paths = min(ops->max_paths, SRPOL_DP_PATHS_MAX),
		.nexthops = ops->max_nexthops,
		.policies = ops->max_policies,
		.rows = min(ops->max_rows, SRPOL_ROWS_MAX),
		.rules = ops->max_rules,
		.endpoints = ops->max_endpoints,
		.sids = ops->max_sids,
		.devs = ops->max_devs,
	};
}

static bool srpol_ids_below(struct xarray *xa, unsigned long limit)
{
	return !xa_find(xa, &limit, ULONG_MAX, XA_PRESENT);
}

/*
 * Does the data plane have room for all that is configured? It is not told of
 * all of that at once: not of paths that are not up, nor of the set of rows
 * that is not in use.
 */
static bool srpol_dp_fits(struct srpol_net *sn, const struct srpol_limits *l)
{
	return srpol_ids_below(&sn->paths, l->paths) &&
	       srpol_ids_below(&sn->nexthop_ids, l->nexthops) &&
	       srpol_ids_below(&sn->policies, l->policies) &&
	       srpol_ids_below(&sn->rule_ids, l->rules) &&
	       srpol_ids_below(&sn->sids, l->sids) &&
	       sn->n_endpoints <= l->endpoints && sn->n_devs <= l->devs &&
	       (!sn->row_map ||
		find_next_bit(sn->row_map, SRPOL_ROWS_MAX, l->rows) ==
		SRPOL_ROWS_MAX);
}

static void srpol_dp_detach(struct srpol_net *sn)
{
	spin_lock_bh(&sn->state_lock);
	sn->dp = NULL;
	spin_unlock_bh(&sn->state_lock);
	sn->limits = srpol_default_limits;
}

static int srpol_dp_attach(struct srpol_net *sn, struct srpol_dp_ops *ops)
{
	struct srpol_limits limits = srpol_dp_limits(ops);
	int err;

	lockdep_assert_held(&sn->lock);
	if (sn->dp)
		return -EBUSY;
	if (!srpol_dp_fits(sn, &limits))
		return -ENOSPC;

	spin_lock_bh(&sn->state_lock);
	sn->dp = ops;
	spin_unlock_bh(&sn->state_lock);
	err = srpol_dp_replay(sn);
	if (err) {
		srpol_dp_detach(sn);
		return err;
	}
	sn->limits = limits;
	srpol_dp_call(sn, commit, 1);
	/* all of it was staged a moment ago, see srpol_dp_wait_gp() */
	sn->attach_gp = get_state_synchronize_rcu();
	return 0;
}

static int srpol_dp_reg(void *kdata, struct bpf_link *link)
{
	struct srpol_net *sn = srpol_net(current->nsproxy->net_ns);
	struct srpol_dp_reg *reg;
	int err = -EBUSY;

	/* only a link has a lifetime that user space controls */
	if (!link)
		return -EOPNOTSUPP;

	mutex_lock(&srpol_dp_mutex);
	list_for_each_entry(reg, &srpol_dp_regs, node)
		if (reg->ops == kdata)
			goto out;
	reg = kzalloc(sizeof(*reg), GFP_KERNEL);
	err = -ENOMEM;
	if (!reg)
		goto out;
	reg->ops = kdata;
	reg->sn = sn;

	set_bit(SRPOL_NET_ATTACHED, &sn->flags);
	mutex_lock(&sn->lock);
	err = srpol_dp_attach(sn, kdata);
	mutex_unlock(&sn->lock);
	if (err)
		kfree(reg);
	else
		list_add(&reg->node, &srpol_dp_regs);
out:
	mutex_unlock(&srpol_dp_mutex);
	return err;
}

static void srpol_dp_unreg(void *kdata, struct bpf_link *link)
{
	struct srpol_dp_reg *reg;

	mutex_lock(&srpol_dp_mutex);
	list_for_each_entry(reg, &srpol_dp_regs, node) {
		if (reg->ops != kdata)
			continue;
		if (reg->sn) {
			mutex_lock(&reg->sn->lock);
			srpol_dp_detach(reg->sn);
			mutex_unlock(&reg->sn->lock);
		}
		list_del(&reg->node);
		kfree(reg);
		break;
	}
	mutex_unlock(&srpol_dp_mutex);
}

/**
 * srpol_attach_net_exit() - detach a namespace that ends from its data plane
 * @sn: the namespace
 */
void srpol_attach_net_exit(struct srpol_net *sn)
{
	struct srpol_dp_reg *reg;

	/*
	 * the mutex is held while the lock of some other namespace is waited
	 * for, and while a data plane is told everything
	 */
	if (!test_bit(SRPOL_NET_ATTACHED, &sn->flags))
		return;
	/*
	 * Nobody can attach one any more: no task is in this namespace. But
	 * whoever has just detached one may still be unlocking @sn->lock: wait
	 * for that, too.
	 */
	mutex_lock(&srpol_dp_mutex);
	list_for_each_entry(reg, &srpol_dp_regs, node) {
		if (reg->sn != sn)
			continue;
		reg->sn = NULL;
		mutex_lock(&sn->lock);
		srpol_dp_detach(sn);
		mutex_unlock(&sn->lock);
	}
	mutex_unlock(&srpol_dp_mutex);
}

static bool srpol_dp_is_valid_access(int off, int size,
				     enum bpf_access_type type,
				     const struct bpf_prog *prog,
				     struct bpf_insn_access_aux *info)
{
	return bpf_tracing_btf_ctx_access(off, size, type, prog, info);
}

static const struct bpf_verifier_ops srpol_dp_verifier_ops = {
	.get_func_proto		= bpf_base_func_proto,
	.is_valid_access	= srpol_dp_is_valid_access,
};

static int srpol_dp_btf_init(struct btf *btf)
{
	return 0;
}

/* Data members are copied as user space has set them. */
static int srpol_dp_init_member(const struct btf_type *t,
				const struct btf_member *member,
				void *kdata, const void *udata)
{
	u32 off = __btf_member_bit_offset(t, member) / 8;
	const struct srpol_dp_ops *from = udata;
	struct srpol_dp_ops *to = kdata;

	if (off < offsetof(struct srpol_dp_ops, max_paths))
		return 0;
	if (off == offsetof(struct srpol_dp_ops, name)) {
		if (!from->name[0] ||
		    strnlen(from->name, sizeof(from->name)) ==
		    sizeof(from->name))
			return -EINVAL;
		memcpy(to->name, from->name, sizeof(to->name));
	} else {
		memcpy((u8 *)to + off, (const u8 *)from + off, sizeof(u32));
	}
	return 1;
}

/*
 * All methods are required but quote_check, which is the last: the module does
 * not check for them before each call. Ids start at 1 and are below the
 * maximum, so that no maximum of ids may be 0.
 */
static int srpol_dp_validate(void *kdata)
{
	const struct srpol_dp_ops *ops = kdata;
	void * const *method = (void * const *)ops;
	size_t i;

	for (i = 0; i < offsetof(struct srpol_dp_ops, quote_check) /
		    sizeof(void *); i++)
		if (!method[i])
			return -EINVAL;
	return ops->max_paths && ops->max_nexthops && ops->max_policies &&
	       ops->max_rows && ops->max_rules && ops->max_sids ?
	       0 : -EINVAL;
}

/* Control-flow integrity checks calls against the signatures of these stubs. */
static int stub_void(void) { return 0; }
static int stub_u32(__u32 v) { return 0; }
static int stub_u32_u32(__u32 a, __u32 b) { return 0; }
static int stub_config(const struct srpol_dp_config *p) { return 0; }
static int stub_nexthop(const struct srpol_dp_nexthop *p) { return 0; }
static int stub_path(const struct srpol_dp_path *p) { return 0; }
static int stub_row(const struct srpol_dp_row *p) { return 0; }
static int stub_policy(const struct srpol_dp_policy *p) { return 0; }
static int stub_rule(const struct srpol_dp_rule *p) { return 0; }
static int stub_table(const struct srpol_dp_rule_table *p) { return 0; }
static int stub_endpoint(const struct srpol_dp_endpoint *p) { return 0; }
static int stub_sid(const struct srpol_dp_sid *p) { return 0; }
static int stub_quote(const struct srpol_dp_quote *p) { return 0; }
static int stub_dev(const struct srpol_dp_dev *p) { return 0; }

static struct srpol_dp_ops srpol_dp_stubs = {
	.reset = stub_void,
	.config_set = stub_config,
	.nexthop_set = stub_nexthop,
	.nexthop_del = stub_u32,
	.path_set = stub_path,
	.path_state = stub_u32_u32,
	.path_del = stub_u32,
	.row_set = stub_row,
	.policy_set = stub_policy,
	.policy_hide = stub_policy,
	.policy_del = stub_policy,
	.rule_set = stub_rule,
	.rule_commit = stub_table,
	.endpoint_set = stub_endpoint,
	.endpoint_hide = stub_endpoint,
	.endpoint_del = stub_endpoint,
	.endpoint_revert = stub_endpoint,
	.sid_set = stub_sid,
	.sid_hide = stub_sid,
	.sid_del = stub_sid,
	.sid_revert = stub_sid,
	.dev_set = stub_dev,
	.dev_del = stub_u32,
	.revert = stub_u32_u32,
	.commit = stub_u32,
	.quote_check = stub_quote,
};

static struct bpf_struct_ops srpol_dp_struct_ops = {
	.verifier_ops = &srpol_dp_verifier_ops,
	.init = srpol_dp_btf_init,
	.init_member = srpol_dp_init_member,
	.reg = srpol_dp_reg,
	.unreg = srpol_dp_unreg,
	.validate = srpol_dp_validate,
	.cfi_stubs = &srpol_dp_stubs,
	.name = "srpol_dp_ops",
	.owner = THIS_MODULE,
};

int __init srpol_attach_init(void)
{
	return register_bpf_struct_ops(&srpol_dp_struct_ops, srpol_dp_ops);
}
