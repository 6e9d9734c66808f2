// SPDX-License-Identifier: GPL-2.0
/*
 * rules: kept in order of priority, handed to the data plane as a
 * table that is switched as a whole.
 *
 * A rule lives in one of the two slots that belong to its id and moves to the
 * other when it is redefined, so no packet sees a half-written rule. It moves
 * once in a transaction, when it is staged, and back if that is aborted.
 */
#include <linux/rbtree.h>

#include "srpol.h"

static struct srpol_rule *srpol_rule_lookup(struct srpol_net *sn,
					      u64 priority)
{
	struct rb_node *n = sn->rules.rb_node;
	struct srpol_rule *rule, *best = NULL;

	while (n) {
		rule = rb_entry(n, struct srpol_rule, node);
		if (rule->cfg.dp.priority >= priority) {
			best = rule;
			n = n->rb_left;
		} else {
			n = n->rb_right;
		}
	}
	return best;
}

/**
 * srpol_rule_find() - look a rule up
 * @sn: namespace, locked
 * @priority: its priority
 *
 * Return: a rule that the transaction under way has not deleted, or NULL.
 */
struct srpol_rule *srpol_rule_find(struct srpol_net *sn, u32 priority)
{
	struct srpol_rule *rule = srpol_rule_lookup(sn, priority);

	return rule && rule->cfg.dp.priority == priority &&
	       !rule->change.gone ? rule : NULL;
}

/**
 * srpol_rule_next() - first rule of a priority or a later one
 * @sn: namespace, locked, not in a transaction
 * @priority: may be one beyond the largest
 */
struct srpol_rule *srpol_rule_next(struct srpol_net *sn, u64 priority)
{
	return srpol_rule_lookup(sn, priority);
}

static bool srpol_rule_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct srpol_rule, node)->cfg.dp.priority <
	       rb_entry(b, struct srpol_rule, node)->cfg.dp.priority;
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

/* Stage the order of the rules that are in the tree, but for those gone. */
static int srpol_rule_order(struct srpol_net *sn)
{
	struct srpol_dp_rule_table *table;
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
		if (rule->change.gone)
			continue;
		slot[table->n++] = rule->cfg.dp.slot;
		table->key |= srpol_rule_key(rule->cfg.dp.match);
		if (rule->cfg.dp.match & SRPOL_MATCH_OPCODE)
			srpol_rule_split(table->opclass,
					  rule->cfg.dp.opcodes);
	}
	table->slot = slot;
	err = srpol_dp_call(sn, rule_commit, table);
out:
	kvfree(slot);
	kfree(table);
	return err;
}

static struct srpol_rule *srpol_rule_alloc(struct srpol_net *sn,
					     u32 priority,
					     struct netlink_ext_ack *extack)
{
	struct srpol_rule *rule;
	int err;

	rule = kzalloc(sizeof(*rule), GFP_KERNEL_ACCOUNT);
	if (!rule)
		return ERR_PTR(-ENOMEM);
	srpol_change_init(&rule->change, SRPOL_KIND_RULE);
	rule->change.created = true;
	rule->cfg.dp.priority = priority;
	err = xa_alloc(&sn->rule_ids, &rule->id, rule,
		       XA_LIMIT(1, sn->limits.rules - 1),
		       GFP_KERNEL_ACCOUNT);
	if (err) {
		if (err == -EBUSY)
			err = srpol_dp_err(sn, -ENOSPC, "rule",
					   sn->limits.rules - 1, extack);
		kfree(rule);
		return ERR_PTR(err);
	}
	rule->cfg.dp.slot = rule->id * 2;
	rb_add(&rule->node, &sn->rules, srpol_rule_less);
	sn->n_rules++;
	return rule;
}

static void srpol_rule_free(struct srpol_net *sn, struct srpol_rule *rule)
{
	rb_erase(&rule->node, &sn->rules);
	sn->n_rules--;
	xa_erase(&sn->rule_ids, rule->id);
	kfree(rule);
}

static void srpol_rule_save(struct srpol_net *sn, struct srpol_rule *rule)
{
	srpol_txn_touch(sn, &rule->change);
	if (rule->change.created || rule->change.saved)
		return;
	memcpy(&rule->old, &rule->cfg, sizeof(rule->cfg));
	rule->change.saved = true;
}

/**
 * srpol_rule_set_cfg() - create or redefine a rule
 * @sn: namespace, locked, in a transaction
 * @priority: which one
 * @cfg: what it will be; priority, id and slot are filled in
 * @extack: for a refusal
 *
 * Return: 0 or a negative errno.
 */
int srpol_rule_set_cfg(struct srpol_net *sn, u32 priority,
			struct srpol_rule_cfg *cfg,
			struct netlink_ext_ack *extack)
{
	struct srpol_rule *rule = srpol_rule_lookup(sn, priority);

	lockdep_assert_held(&sn->lock);
	if (!rule || rule->cfg.dp.priority != priority)
		rule = srpol_rule_alloc(sn, priority, extack);
	if (IS_ERR(rule))
		return PTR_ERR(rule);
	srpol_rule_save(sn, rule);
	rule->change.gone = false;
	cfg->dp.priority = priority;
	cfg->dp.id = rule->id;
	cfg->dp.slot = rule->cfg.dp.slot;
	memcpy(&rule->cfg, cfg, sizeof(*cfg));
	return 0;
}

/**
 * srpol_rule_delete() - a rule is not wanted any more
 * @sn: namespace, locked, in a transaction
 * @rule: the rule
 */
void srpol_rule_delete(struct srpol_net *sn, struct srpol_rule *rule)
{
	srpol_rule_save(sn, rule);
	rule->change.gone = true;
}

static bool srpol_rule_same(struct srpol_net *sn, const void *obj)
{
	const struct srpol_rule *rule = obj;

	return !memcmp(&rule->cfg, &rule->old, sizeof(rule->cfg));
}

/* Write the rule into a slot that is not in use. */
static int srpol_rule_stage(struct srpol_net *sn, struct srpol_change *change,
			     struct netlink_ext_ack *extack)
{
	struct srpol_rule *rule = container_of(change,
						struct srpol_rule, change);
	struct srpol_dp_rule *dp = &rule->cfg.dp;
	int err;

	/* another name is nothing to the data plane */
	if (!change->created && !change->gone &&
	    !memcmp(dp, &rule->old.dp, sizeof(*dp)))
		return 0;
	if (!change->gone) {
		/* of the slot and, if it is new, the id */
		srpol_dp_wait_gp(sn, sn->rule_gp);
		if (!change->created)
			dp->slot ^= 1;
		err = srpol_dp_call(sn, rule_set, dp);
		if (err)
			return srpol_dp_err(sn, err, "rule",
					    sn->limits.rules - 1, extack);
	}
	srpol_txn_staged(sn, change);
	return 0;
}

/* The order is staged once, and only if a rule was. */
static int srpol_rule_finish(struct srpol_net *sn,
			      struct netlink_ext_ack *extack)
{
	const struct srpol_change *change;
	int err;

	list_for_each_entry(change, &sn->txn.changes[SRPOL_KIND_RULE], node)
		if (change->staged)
			goto staged;
	return 0;

staged:
	srpol_dp_wait_gp(sn, sn->rule_gp);
	err = srpol_rule_order(sn);
	if (err)
		return srpol_dp_err(sn, err, "rule", sn->limits.rules - 1,
				    extack);
	sn->txn.order = true;
	sn->txn.reclassify = true;
	return 0;
}

static void srpol_rule_applied(struct srpol_net *sn,
				struct srpol_change *change)
{
	if (change->staged)
		sn->rule_gp = sn->txn.gp;
}

static void srpol_rule_abort(struct srpol_net *sn,
			      struct srpol_change *change)
{
	struct srpol_rule *rule = container_of(change,
						struct srpol_rule, change);

	if (sn->txn.order)
		srpol_dp_call(sn, revert, SRPOL_DP_RULES, 0);
	sn->txn.order = false;
	if (change->created)
		srpol_rule_free(sn, rule);
	else if (change->saved)
		memcpy(&rule->cfg, &rule->old, sizeof(rule->cfg));
}

static void srpol_rule_remove(struct srpol_net *sn,
			       struct srpol_change *change)
{
	srpol_rule_free(sn, container_of(change, struct srpol_rule,
					  change));
}

const struct srpol_change_ops srpol_rule_change_ops = {
	.same		= srpol_rule_same,
	.stage		= srpol_rule_stage,
	.finish		= srpol_rule_finish,
	.commit		= srpol_rule_applied,
	.abort		= srpol_rule_abort,
	.remove		= srpol_rule_remove,
	.fill		= srpol_rule_fill,
	.offset		= offsetof(struct srpol_rule, change),
	.ntf		= SRPOL_CMD_RULE_NTF,
	.del_ntf	= SRPOL_CMD_RULE_DEL_NTF,
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
		err = srpol_dp_call(sn, rule_set, &rule->cfg.dp);
		if (err)
			return err;
	}
	return srpol_rule_order(sn);
}

/**
 * srpol_rule_flush() - free all rules of a dying namespace
 * @sn: namespace, locked, without a data plane
 */
void srpol_rule_flush(struct srpol_net *sn)
{
	struct srpol_rule *rule;
	unsigned long id;

	sn->rules = RB_ROOT;
	sn->n_rules = 0;
	xa_for_each(&sn->rule_ids, id, rule)
		kfree(rule);
	xa_destroy(&sn->rule_ids);
}
