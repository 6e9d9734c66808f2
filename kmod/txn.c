// SPDX-License-Identifier: GPL-2.0
/*
 * DOC: transactions
 *
 * Every write is a transaction, of one request or of many, and so is what the
 * module does after events. Under srpol_net.lock:
 *
 *   requests	are parsed, checked and applied to the module's tables. Each
 *		object a request touches is put on the list of its kind; the
 *		first time its configuration is saved. What is deleted stays
 *		in its table, marked, and can be defined again.
 *   stage	drops the objects that ended up as they were, then tells the
 *		data plane, kind by kind, what the others will be: each
 *		once, however many requests it took. Paths are resolved and
 *		policies compiled into what packets do not see yet.
 *   commit	the data plane switches, the prepared takes the place of the
 *		present, the listeners are told, what is gone is removed.
 *   abort	instead, if a request or the data plane refused: everything is
 *		put back. It needs no memory and can not fail.
 *
 * So an id, a row or a slot that a transaction gives up can not be used by
 * the same transaction.
 *
 * Softirq does not know about transactions: it sees paths and next hops, and a
 * transaction leaves what it sees alone until it is committed. What it did to
 * a path meanwhile is found out then.
 *
 * SIDs are immediate in the data plane: they are set last before the commit
 * and set back by an abort. Devices are no part of transactions at all, because
 * programs are attached to them by user space.
 */
#include "srpol.h"

static const struct srpol_change_ops * const srpol_kinds[SRPOL_KINDS] = {
	[SRPOL_KIND_CONFIG] = &srpol_config_change_ops,
	[SRPOL_KIND_PATH] = &srpol_path_change_ops,
	[SRPOL_KIND_POLICY] = &srpol_policy_change_ops,
	[SRPOL_KIND_RULE] = &srpol_rule_change_ops,
	[SRPOL_KIND_ENDPOINT] = &srpol_endpoint_change_ops,
	[SRPOL_KIND_SID] = &srpol_sid_change_ops,
};

/**
 * srpol_txn_init() - no transaction yet
 * @sn: new namespace
 */
void srpol_txn_init(struct srpol_net *sn)
{
	int kind;

	for (kind = 0; kind < SRPOL_KINDS; kind++)
		INIT_LIST_HEAD(&sn->txn.changes[kind]);
}

/**
 * srpol_change_init() - a new object, which no transaction has touched
 * @change: part of the object
 * @kind: what it is
 */
void srpol_change_init(struct srpol_change *change, enum srpol_kind kind)
{
	INIT_LIST_HEAD(&change->node);
	change->kind = kind;
}

static void *srpol_change_obj(struct srpol_change *change)
{
	return (void *)change - srpol_kinds[change->kind]->offset;
}

/**
 * srpol_txn_touch() - an object is part of the transaction
 * @sn: namespace, locked, in a transaction
 * @change: of the object
 */
void srpol_txn_touch(struct srpol_net *sn, struct srpol_change *change)
{
	lockdep_assert_held(&sn->lock);
	change->request = sn->txn.request ?: change->request ?: sn->txn.blame;
	if (!srpol_change_active(change))
		list_add_tail(&change->node, &sn->txn.changes[change->kind]);
}

/**
 * srpol_txn_staged() - an object was staged
 * @sn: namespace, locked, in a transaction
 * @change: of the object
 */
void srpol_txn_staged(struct srpol_net *sn, struct srpol_change *change)
{
	change->staged = true;
	sn->txn.staged = true;
}

static void srpol_change_done(struct srpol_change *change)
{
	list_del_init(&change->node);
	change->request = NULL;
	change->created = false;
	change->gone = false;
	change->saved = false;
	change->changed = false;
	change->staged = false;
}

/* Created and deleted again: there is nothing to tell anyone. */
static bool srpol_change_moot(const struct srpol_change *change)
{
	return change->created && change->gone;
}

static void srpol_change_abort(struct srpol_net *sn,
			       struct srpol_change *change)
{
	const struct srpol_change_ops *ops = srpol_kinds[change->kind];
	bool freed = change->created;

	list_del_init(&change->node);
	ops->abort(sn, change);
	if (!freed)
		srpol_change_done(change);
}

/* Leave out what ended up as it was. */
static void srpol_txn_prune(struct srpol_net *sn, enum srpol_kind kind)
{
	const struct srpol_change_ops *ops = srpol_kinds[kind];
	struct srpol_change *change, *tmp;

	list_for_each_entry_safe(change, tmp, &sn->txn.changes[kind], node) {
		change->changed = change->created || change->gone ||
				  (change->saved &&
				   !ops->same(sn,
					      srpol_change_obj(change)));
		if (srpol_change_moot(change) ||
		    (change->saved && !change->changed))
			srpol_change_abort(sn, change);
		cond_resched();
	}
}

static int srpol_txn_stage_kind(struct srpol_net *sn, enum srpol_kind kind,
				struct netlink_ext_ack *extack)
{
	const struct srpol_change_ops *ops = srpol_kinds[kind];
	struct list_head *changes = &sn->txn.changes[kind];
	struct srpol_change *change, *tmp;
	int err;

	if (ops->prepare)
		ops->prepare(sn);
	list_for_each_entry_safe(change, tmp, changes, node) {
		sn->txn.blame = change->request;
		err = ops->stage(sn, change, extack);
		if (err && !sn->txn.event)
			return err;
		if (err) {
			net_warn_ratelimited("srpol: update refused: %d\n",
					     err);
			srpol_change_abort(sn, change);
		}
		cond_resched();
	}
	return ops->finish && !list_empty(changes) ?
	       ops->finish(sn, extack) : 0;
}

static int srpol_txn_stage(struct srpol_net *sn,
			   struct netlink_ext_ack *extack)
{
	int kind, err;

	/*
	 * Policies first: those that end up as they were have to let go of
	 * the paths, as they refer to them twice.
	 */
	for (kind = SRPOL_KINDS - 1; kind >= 0; kind--)
		srpol_txn_prune(sn, kind);
	for (kind = 0; kind < SRPOL_KINDS; kind++) {
		err = srpol_txn_stage_kind(sn, kind, extack);
		if (err)
			return err;
	}
	return 0;
}

static void srpol_txn_notify_kind(struct srpol_net *sn, enum srpol_kind kind,
				  bool gone, const struct genl_info *info)
{
	const struct srpol_change_ops *ops = srpol_kinds[kind];
	struct srpol_change *change;

	list_for_each_entry(change, &sn->txn.changes[kind], node) {
		if (change->changed && change->gone == gone)
			srpol_nl_notify(sn, info,
					gone ? ops->del_ntf : ops->ntf,
					SRPOL_NLGRP_CONFIG, ops->fill,
					srpol_change_obj(change));
		cond_resched();
	}
}

/* What is used before its users; what is gone the other way round. */
static void srpol_txn_notify(struct srpol_net *sn,
			     const struct genl_info *info)
{
	int kind;

	for (kind = 0; kind < SRPOL_KINDS; kind++)
		srpol_txn_notify_kind(sn, kind, false, info);
	for (kind = SRPOL_KINDS - 1; kind >= 0; kind--)
		srpol_txn_notify_kind(sn, kind, true, info);
}

static void srpol_txn_commit(struct srpol_net *sn,
			     const struct genl_info *info)
{
	struct srpol_change *change, *tmp;
	bool removed = false;
	int kind;

	if (sn->txn.staged)
		srpol_dp_call(sn, commit, sn->txn.reclassify);
	sn->txn.gp = get_state_synchronize_rcu();
	for (kind = 0; kind < SRPOL_KINDS; kind++) {
		list_for_each_entry(change, &sn->txn.changes[kind], node) {
			srpol_kinds[kind]->commit(sn, change);
			cond_resched();
		}
	}
	srpol_txn_notify(sn, info);

	/* users before what they use */
	for (kind = SRPOL_KINDS - 1; kind >= 0; kind--) {
		list_for_each_entry_safe(change, tmp, &sn->txn.changes[kind],
					 node) {
			if (change->gone) {
				list_del(&change->node);
				srpol_kinds[kind]->remove(sn, change);
				removed = true;
			} else {
				srpol_change_done(change);
			}
			cond_resched();
		}
	}
	if (removed)
		sn->del_gp = get_state_synchronize_rcu();
}

static void srpol_txn_abort(struct srpol_net *sn)
{
	struct srpol_change *change, *tmp;
	int kind;

	for (kind = SRPOL_KINDS - 1; kind >= 0; kind--) {
		list_for_each_entry_safe_reverse(change, tmp,
						 &sn->txn.changes[kind],
						 node) {
			srpol_change_abort(sn, change);
			cond_resched();
		}
	}
}

/**
 * srpol_txn_begin() - begin a transaction
 * @sn: namespace, locked
 * @event: it only follows what has happened already: what the data plane
 *	refuses stays as it is, the rest is done
 */
void srpol_txn_begin(struct srpol_net *sn, bool event)
{
	lockdep_assert_held(&sn->lock);
	sn->txn.request = NULL;
	sn->txn.blame = NULL;
	sn->txn.event = event;
	sn->txn.staged = false;
	sn->txn.order = false;
	sn->txn.reclassify = false;
}

/**
 * srpol_txn_end() - commit a transaction, or take all of it back
 * @sn: namespace, locked
 * @info: the request it was made for, NULL if it is an event
 * @err: why it has to be taken back, 0 to commit
 *
 * Return: 0 if it was committed, or a negative errno, and then nothing has
 * changed.
 */
int srpol_txn_end(struct srpol_net *sn, const struct genl_info *info, int err)
{
	lockdep_assert_held(&sn->lock);
	sn->txn.request = NULL;
	if (!err)
		err = srpol_txn_stage(sn, info ? info->extack : NULL);
	if (err)
		srpol_txn_abort(sn);
	else
		srpol_txn_commit(sn, info);
	return err;
}

/**
 * srpol_txn_doit() - carry out one request
 * @info: the request
 * @write: does it
 *
 * Return: 0 or a negative errno.
 */
int srpol_txn_doit(struct genl_info *info, srpol_write_t write)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	int err;

	mutex_lock(&sn->lock);
	srpol_txn_begin(sn, false);
	err = srpol_txn_end(sn, info, write(sn, info));
	mutex_unlock(&sn->lock);
	return err;
}
