// SPDX-License-Identifier: GPL-2.0
/*
 * Rules: kept in order of priority, and passed to the data plane as a table
 * that is switched as a whole.
 *
 * A rule is in one of the two slots that belong to its id, and moves to the
 * other one when it is redefined, so that no packet sees a half-written rule.
 * It moves once per transaction, at the commit.
 */
#include <linux/bits.h>
#include <linux/rbtree.h>
#include <linux/slab.h>

#include "dataplane.h"
#include "rule.h"

static struct srpol_rule *srpol_rule_lookup(struct srpol_net *sn,
					    u64 priority)
{
	struct rb_node *n = sn->rules.rb_node;
	struct srpol_rule *rule, *best = NULL;

	lockdep_assert_held(&sn->lock);
	while (n) {
		rule = rb_entry(n, struct srpol_rule, node);
		if (rule->priority >= priority) {
			best = rule;
			n = n->rb_left;
		} else {
			n = n->rb_right;
		}
	}
	return best;
}

/**
 * srpol_rule_find() - look up a rule
 * @sn: namespace, locked
 * @priority: its priority
 *
 * Return: the rule, or NULL if it does not exist or the present transaction has
 * deleted it.
 */
struct srpol_rule *srpol_rule_find(struct srpol_net *sn, u32 priority)
{
	struct srpol_rule *rule = srpol_rule_lookup(sn, priority);

	return rule && rule->priority == priority && srpol_rule_cfg(rule) ?
	       rule : NULL;
}

/**
 * srpol_rule_next() - the first rule of this priority or a later one
 * @sn: namespace, locked, not in a transaction
 * @priority: priority; may be one more than the largest
 */
struct srpol_rule *srpol_rule_next(struct srpol_net *sn, u64 priority)
{
	return srpol_rule_lookup(sn, priority);
}

static bool srpol_rule_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct srpol_rule, node)->priority <
	       rb_entry(b, struct srpol_rule, node)->priority;
}

/*
 * Split each equivalence class of opcodes into those inside and outside the
 * set of a rule. There are never more classes than opcodes.
 */
static void srpol_rule_split(u8 *opclass, const u64 *opcodes)
{
	u16 inside[SRPOL_OPCODES], outside[SRPOL_OPCODES], *to;
	u32 i, next = 0;

	memset(inside, 0xff, sizeof(inside));
	memset(outside, 0xff, sizeof(outside));
	for (i = 0; i < SRPOL_OPCODES; i++) {
		to = opcodes[i / 64] & BIT_ULL(i % 64) ? inside : outside;
		to += opclass[i];
		if (*to == U16_MAX)
			*to = next++;
		opclass[i] = *to;
	}
}

static u32 srpol_rule_key(u32 match)
{
	return (match & SRPOL_MATCH_OPCODE ? SRPOL_KEY_OPCODE : 0) |
	       (match & SRPOL_MATCH_MARK ? SRPOL_KEY_MARK : 0) |
	       (match & SRPOL_MATCH_DSCP ? SRPOL_KEY_DSCP : 0) |
	       (match & SRPOL_MATCH_DEV ? SRPOL_KEY_DEV : 0) |
	       (match & SRPOL_MATCH_PKEY ? SRPOL_KEY_PKEY : 0) |
	       (match & SRPOL_MATCH_VLAN ? SRPOL_KEY_VLAN : 0) |
	       (match & SRPOL_MATCH_CGROUP ? SRPOL_KEY_CGROUP : 0);
}

/* The slot of a rule after the present transaction. */
static u32 srpol_rule_slot(const struct srpol_rule *rule)
{
	return rule->moved ? rule->slot ^ 1 : rule->slot;
}

/* Stage the order of the rules as they will be after the transaction. */
static int srpol_rule_order(struct srpol_net *sn)
{
	struct srpol_dp_rule_table *table;
	const struct srpol_rule_cfg *cfg;
	const struct srpol_rule *rule;
	struct rb_node *n;
	u32 *slot;
	int err;

	if (!sn->dp)
		return 0;
	table = kzalloc(sizeof(*table), GFP_KERNEL);
	slot = kvmalloc_array(sn->n_rules + 1, sizeof(*slot), GFP_KERNEL);
	err = -ENOMEM;
	if (!table || !slot)
		goto out;
	for (n = rb_first(&sn->rules); n; n = rb_next(n)) {
		rule = rb_entry(n, struct srpol_rule, node);
		cfg = srpol_rule_cfg(rule);
		if (!cfg)
			continue;
		slot[table->n++] = srpol_rule_slot(rule);
		table->key |= srpol_rule_key(cfg->dp.match);
		if (cfg->dp.match & SRPOL_MATCH_OPCODE)
			srpol_rule_split(table->opclass, cfg->dp.opcodes);
	}
	table->slot = slot;
	err = srpol_dp_call(sn, rule_commit, table);
out:
	kvfree(slot);
	kfree(table);
	return err;
}

static struct srpol_rule *srpol_rule_alloc(struct srpol_net *sn, u32 priority,
					   struct netlink_ext_ack *extack)
{
	struct srpol_rule *rule;
	int err;

	rule = kzalloc(sizeof(*rule), GFP_KERNEL_ACCOUNT);
	if (!rule)
		return ERR_PTR(-ENOMEM);
	srpol_obj_init(&rule->obj, SRPOL_OBJ_RULE);
	rule->priority = priority;
	err = xa_alloc(&sn->rule_ids, &rule->id, rule,
		       XA_LIMIT(1, sn->limits.rules - 1),
		       GFP_KERNEL_ACCOUNT);
	if (err) {
		if (err == -EBUSY)
			err = srpol_dp_err(-ENOSPC, "rule",
					   sn->limits.rules - 1, extack);
		kfree(rule);
		return ERR_PTR(err);
	}
	rule->slot = rule->id * 2;
	rb_add(&rule->node, &sn->rules, srpol_rule_less);
	sn->n_rules++;
	return rule;
}

static void srpol_rule_release(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_rule *rule = srpol_rule(obj);

	rb_erase(&rule->node, &sn->rules);
	sn->n_rules--;
	xa_erase(&sn->rule_ids, rule->id);
	kfree(rule);
}

/**
 * srpol_rule_define() - create or redefine a rule
 * @sn: namespace, locked, in a transaction
 * @priority: its priority
 * @cfg: its configuration; it is copied
 * @extack: for a refusal
 *
 * Return: 0 or a negative errno.
 */
int srpol_rule_define(struct srpol_net *sn, u32 priority,
		      const struct srpol_rule_cfg *cfg,
		      struct netlink_ext_ack *extack)
{
	struct srpol_rule *rule = srpol_rule_lookup(sn, priority);
	struct srpol_rule_cfg *copy;

	copy = kmemdup(cfg, sizeof(*cfg), GFP_KERNEL_ACCOUNT);
	if (!copy)
		return -ENOMEM;
	if (!rule || rule->priority != priority)
		rule = srpol_rule_alloc(sn, priority, extack);
	if (IS_ERR(rule)) {
		kfree(copy);
		return PTR_ERR(rule);
	}
	srpol_obj_define(sn, &rule->obj, copy);
	return 0;
}

static void srpol_rule_free_cfg(struct srpol_net *sn, void *cfg)
{
	kfree(cfg);
}

static bool srpol_rule_equal(const struct srpol_obj *obj)
{
	return !memcmp(obj->cur, obj->next, sizeof(struct srpol_rule_cfg));
}

static int srpol_rule_push(struct srpol_net *sn, const struct srpol_rule *rule)
{
	struct srpol_dp_rule dp = srpol_rule_cfg(rule)->dp;

	dp.id = rule->id;
	dp.slot = srpol_rule_slot(rule);
	dp.priority = rule->priority;
	return srpol_dp_call(sn, rule_set, &dp);
}

/* Write a rule into a slot that is not in use. */
static int srpol_rule_stage(struct srpol_net *sn, struct srpol_obj *obj,
			    struct netlink_ext_ack *extack)
{
	const struct srpol_rule_cfg *cur = obj->cur, *next = obj->next;
	struct srpol_rule *rule = srpol_rule(obj);
	int err;

	/* names are not in the data plane */
	if (cur && next && !memcmp(&cur->dp, &next->dp, sizeof(cur->dp)))
		return 0;
	if (next) {
		/*
		 * grace period of the slot and, if the rule is new, of its id
		 */
		srpol_dp_wait_gp(sn, sn->rule_gp);
		rule->moved = cur;
		err = srpol_rule_push(sn, rule);
		if (err)
			return srpol_dp_err(err, "rule",
					    sn->limits.rules - 1, extack);
	}
	srpol_txn_staged(sn, obj);
	return 0;
}

/* Stage the order once, and only if a rule was staged. */
static int srpol_rule_finish(struct srpol_net *sn,
			     struct netlink_ext_ack *extack)
{
	const struct srpol_obj *obj;
	bool staged = false;
	int err;

	list_for_each_entry(obj, &sn->txn.touched[SRPOL_OBJ_RULE], node)
		staged |= obj->staged;
	if (!staged)
		return 0;
	srpol_dp_wait_gp(sn, sn->rule_gp);
	err = srpol_rule_order(sn);
	if (err)
		return srpol_dp_err(err, "rule", sn->limits.rules - 1,
				    extack);
	sn->txn.order = true;
	sn->txn.reclassify = true;
	return 0;
}

static void srpol_rule_commit(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_rule *rule = srpol_rule(obj);

	rule->slot = srpol_rule_slot(rule);
	rule->moved = false;
	if (obj->staged)
		sn->rule_gp = sn->txn.gp;
	srpol_obj_swap(obj);
}

static void srpol_rule_revert(struct srpol_net *sn, struct srpol_obj *obj)
{
	if (sn->txn.order)
		srpol_dp_call(sn, revert, SRPOL_DP_RULES, 0);
	sn->txn.order = false;
	srpol_rule(obj)->moved = false;
}

const struct srpol_obj_ops srpol_rule_ops = {
	.equal		= srpol_rule_equal,
	.free_cfg	= srpol_rule_free_cfg,
	.stage		= srpol_rule_stage,
	.finish		= srpol_rule_finish,
	.commit		= srpol_rule_commit,
	.revert		= srpol_rule_revert,
	.release	= srpol_rule_release,
};

/**
 * srpol_rule_replay() - tell a new data plane about all rules
 * @sn: namespace, locked
 */
int srpol_rule_replay(struct srpol_net *sn)
{
	struct srpol_rule *rule;
	unsigned long id;
	int err;

	xa_for_each(&sn->rule_ids, id, rule) {
		err = srpol_rule_push(sn, rule);
		if (err)
			return err;
		cond_resched();
	}
	return srpol_rule_order(sn);
}

/**
 * srpol_rule_flush() - free all rules of a namespace that ends
 * @sn: namespace, locked, without a data plane
 */
void srpol_rule_flush(struct srpol_net *sn)
{
	struct srpol_rule *rule;
	unsigned long id;

	xa_for_each(&sn->rule_ids, id, rule)
		srpol_obj_flush(sn, &rule->obj);
	xa_destroy(&sn->rule_ids);
}
