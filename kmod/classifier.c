// SPDX-License-Identifier: GPL-2.0
/*
 * Classifier rules: kept in order of priority, handed to the data plane as a
 * table that is switched as a whole.
 *
 * A rule lives in one of the two slots that belong to its id and moves to the
 * other when it is redefined, so no packet sees a half-written rule.
 */
#include <linux/rbtree.h>

#include "srpol.h"

/**
 * srpol_class_find() - look a rule up
 * @sn: namespace, locked
 * @priority: its priority
 */
struct srpol_class *srpol_class_find(struct srpol_net *sn, u32 priority)
{
	struct srpol_class *rule = srpol_class_next(sn, priority);

	return rule && rule->dp.priority == priority ? rule : NULL;
}

/**
 * srpol_class_next() - first rule of a priority or a later one
 * @sn: namespace, locked
 * @priority: may be one beyond the largest
 */
struct srpol_class *srpol_class_next(struct srpol_net *sn, u64 priority)
{
	struct rb_node *n = sn->classes.rb_node;
	struct srpol_class *rule, *best = NULL;

	while (n) {
		rule = rb_entry(n, struct srpol_class, node);
		if (rule->dp.priority >= priority) {
			best = rule;
			n = n->rb_left;
		} else {
			n = n->rb_right;
		}
	}
	return best;
}

static bool srpol_class_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct srpol_class, node)->dp.priority <
	       rb_entry(b, struct srpol_class, node)->dp.priority;
}

/*
 * Split each equivalence class of opcodes into those inside and outside the
 * set of a rule. There are never more classes than opcodes.
 */
static void srpol_class_split(u8 *opclass, const u64 *opcodes)
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

static u32 srpol_class_key(u32 match)
{
	return (match & SRPOL_MATCH_OPCODE ? SRPOL_KEY_OPCODE : 0) |
	       (match & SRPOL_MATCH_MARK ? SRPOL_KEY_MARK : 0) |
	       (match & SRPOL_MATCH_DSCP ? SRPOL_KEY_DSCP : 0) |
	       (match & SRPOL_MATCH_DEV ? SRPOL_KEY_DEV : 0) |
	       (match & SRPOL_MATCH_PKEY ? SRPOL_KEY_PKEY : 0);
}

/* Switch the data plane to the rules as they are in the tree. */
static int srpol_class_commit(struct srpol_net *sn)
{
	struct srpol_dp_class_table *table;
	const struct srpol_class *rule;
	struct rb_node *n;
	u32 *slot;
	int err;

	if (!sn->dp)
		return 0;
	table = kzalloc(sizeof(*table), GFP_KERNEL);
	slot = kvmalloc_array(sn->n_classes + 1, sizeof(*slot), GFP_KERNEL);
	err = -ENOMEM;
	if (!table || !slot)
		goto out;
	for (n = rb_first(&sn->classes); n; n = rb_next(n)) {
		rule = rb_entry(n, struct srpol_class, node);
		slot[table->n++] = rule->dp.slot;
		table->key |= srpol_class_key(rule->dp.match);
		if (rule->dp.match & SRPOL_MATCH_OPCODE)
			srpol_class_split(table->opclass, rule->dp.opcodes);
	}
	table->slot = slot;
	err = srpol_dp_call(sn, class_commit, table);
	if (!err)
		sn->class_gp = get_state_synchronize_rcu();
out:
	kvfree(slot);
	kfree(table);
	return err;
}

static int srpol_class_add(struct srpol_net *sn, struct srpol_class *rule,
			   struct netlink_ext_ack *extack)
{
	int err;

	err = xa_alloc(&sn->class_ids, &rule->id, rule,
		       XA_LIMIT(1, sn->limits.classes - 1),
		       GFP_KERNEL_ACCOUNT);
	if (err)
		return err == -EBUSY ?
		       srpol_dp_err(sn, -ENOSPC, "class",
				    sn->limits.classes - 1, extack) : err;
	rule->dp.id = rule->id;
	rule->dp.slot = rule->id * 2;
	srpol_dp_wait_gp(sn->class_gp);
	rb_add(&rule->node, &sn->classes, srpol_class_less);
	sn->n_classes++;
	err = srpol_dp_call(sn, class_set, &rule->dp) ?:
	      srpol_class_commit(sn);
	if (!err)
		return 0;
	srpol_dp_err(sn, err, "class", sn->limits.classes - 1, extack);
	rb_erase(&rule->node, &sn->classes);
	sn->n_classes--;
	xa_erase(&sn->class_ids, rule->id);
	return err;
}

static int srpol_class_replace(struct srpol_net *sn, struct srpol_class *old,
			       struct srpol_class *rule,
			       struct netlink_ext_ack *extack)
{
	int err;

	rule->id = old->id;
	rule->dp.id = old->id;
	rule->dp.slot = old->dp.slot ^ 1;
	srpol_dp_wait_gp(sn->class_gp);
	rb_replace_node(&old->node, &rule->node, &sn->classes);
	err = srpol_dp_call(sn, class_set, &rule->dp) ?:
	      srpol_class_commit(sn);
	if (err) {
		rb_replace_node(&rule->node, &old->node, &sn->classes);
		return srpol_dp_err(sn, err, "class", sn->limits.classes - 1,
				    extack);
	}
	/* cannot fail: the entry exists */
	xa_store(&sn->class_ids, rule->id, rule, GFP_KERNEL_ACCOUNT);
	kfree(old);
	return 0;
}

/**
 * srpol_class_set() - create or redefine a rule
 * @sn: namespace, locked
 * @old: the rule to redefine, NULL to create one
 * @rule: filled in but for id and slot; taken over on success
 * @extack: for a refusal
 *
 * Return: 0 or a negative errno, and then nothing has changed.
 */
int srpol_class_set(struct srpol_net *sn, struct srpol_class *old,
		    struct srpol_class *rule, struct netlink_ext_ack *extack)
{
	int err;

	lockdep_assert_held(&sn->lock);
	err = old ? srpol_class_replace(sn, old, rule, extack) :
		    srpol_class_add(sn, rule, extack);
	if (!err)
		srpol_dp_epoch(sn);
	return err;
}

/**
 * srpol_class_del() - remove a rule
 * @sn: namespace, locked
 * @rule: the rule
 * @extack: for a refusal
 *
 * Return: 0 or a negative errno, and then the rule is still there.
 */
int srpol_class_del(struct srpol_net *sn, struct srpol_class *rule,
		    struct netlink_ext_ack *extack)
{
	int err;

	lockdep_assert_held(&sn->lock);
	srpol_dp_wait_gp(sn->class_gp);
	rb_erase(&rule->node, &sn->classes);
	sn->n_classes--;
	err = srpol_class_commit(sn);
	if (err) {
		rb_add(&rule->node, &sn->classes, srpol_class_less);
		sn->n_classes++;
		return srpol_dp_err(sn, err, "class", sn->limits.classes - 1,
				    extack);
	}
	srpol_dp_epoch(sn);
	xa_erase(&sn->class_ids, rule->id);
	kfree(rule);
	return 0;
}

/**
 * srpol_class_replay() - tell a new data plane about all rules
 * @sn: namespace, locked
 */
int srpol_class_replay(struct srpol_net *sn)
{
	struct srpol_class *rule;
	unsigned long id;
	int err;

	xa_for_each(&sn->class_ids, id, rule) {
		err = srpol_dp_call(sn, class_set, &rule->dp);
		if (err)
			return err;
	}
	return srpol_class_commit(sn);
}

/**
 * srpol_class_flush() - free all rules of a dying namespace
 * @sn: namespace, locked, without a data plane
 */
void srpol_class_flush(struct srpol_net *sn)
{
	struct srpol_class *rule;
	unsigned long id;

	sn->classes = RB_ROOT;
	sn->n_classes = 0;
	xa_for_each(&sn->class_ids, id, rule)
		kfree(rule);
	xa_destroy(&sn->class_ids);
}
