// SPDX-License-Identifier: GPL-2.0
/*
 * DOC: transactions
 *
 * Every write is a transaction, of one request or of many, and so is what the
 * module does after events. An object has a configuration @cur and, while a
 * transaction touches it, a configuration @next; what is in there is not
 * written any more. Under srpol_net.lock, each step once:
 *
 *   parse	a request becomes a configuration, @next of its object. @cur
 *		stays, so that a deleted object stays in its table and can be
 *		defined again. What requests look up is what they want so far.
 *   check	what was defined as what it is leaves the transaction.
 *   stage	the data plane is told, type by type, what the objects will be:
 *		each once, however many requests it took. Paths are resolved
 *		and policies compiled into what packets do not see yet.
 *   commit	the data plane switches; @cur and @next change places.
 *   notify	the listeners are told, first of configurations and then of
 *		states; what was deleted is removed.
 *   abort	instead, if a request or the data plane refused: what was staged
 *		is reverted and @next freed. It needs no memory and cannot fail.
 *
 * So an id, a row or a slot that a transaction gives up cannot be used by the
 * same transaction: the messages about full tables say so.
 *
 * Devices are no part of transactions, because programs are attached to them by
 * user space.
 */
#include <linux/printk.h>

#include "dataplane.h"
#include "netlink.h"
#include "netns.h"

static const struct srpol_obj_ops *srpol_obj_ops(const struct srpol_obj *obj)
{
	return srpol_types[obj->type].ops;
}

/**
 * srpol_txn_init() - initialize: no transaction is in progress
 * @sn: new namespace
 */
void srpol_txn_init(struct srpol_net *sn)
{
	int type;

	for (type = 0; type < SRPOL_OBJ_TYPES; type++)
		INIT_LIST_HEAD(&sn->txn.touched[type]);
}

/**
 * srpol_obj_init() - initialize a new object, which no transaction has touched
 * @obj: part of the object
 * @type: its type
 */
void srpol_obj_init(struct srpol_obj *obj, enum srpol_obj_type type)
{
	INIT_LIST_HEAD(&obj->node);
	obj->type = type;
}

/**
 * srpol_obj_touch() - make an object part of the transaction
 * @sn: namespace, locked, in a transaction
 * @obj: the object
 */
void srpol_obj_touch(struct srpol_net *sn, struct srpol_obj *obj)
{
	lockdep_assert_held(&sn->lock);
	obj->request = sn->txn.request ?: obj->request ?: sn->txn.blame;
	if (srpol_obj_touched(obj))
		return;
	obj->next = obj->cur;
	list_add_tail(&obj->node, &sn->txn.touched[obj->type]);
}

static void srpol_obj_want(struct srpol_net *sn, struct srpol_obj *obj,
			   void *cfg, int delta)
{
	const struct srpol_obj_ops *ops = srpol_obj_ops(obj);

	if (cfg && ops->want)
		ops->want(sn, cfg, delta);
}

/* Free @next, unless it is the present configuration as well. */
static void srpol_obj_drop(struct srpol_net *sn, struct srpol_obj *obj)
{
	if (obj->next && obj->next != obj->cur)
		srpol_obj_ops(obj)->free_cfg(sn, obj->next);
	obj->next = NULL;
}

static void srpol_obj_set(struct srpol_net *sn, struct srpol_obj *obj,
			  void *cfg)
{
	srpol_obj_touch(sn, obj);
	srpol_obj_want(sn, obj, obj->next, -1);
	srpol_obj_drop(sn, obj);
	obj->next = cfg;
	obj->defined = true;
	srpol_obj_want(sn, obj, obj->next, 1);
}

/**
 * srpol_obj_define() - give an object another configuration
 * @sn: namespace, locked, in a transaction
 * @obj: the object
 * @cfg: the configuration, which the object owns from now on
 */
void srpol_obj_define(struct srpol_net *sn, struct srpol_obj *obj, void *cfg)
{
	srpol_obj_set(sn, obj, cfg);
}

/**
 * srpol_obj_delete() - delete an object
 * @sn: namespace, locked, in a transaction
 * @obj: the object
 */
void srpol_obj_delete(struct srpol_net *sn, struct srpol_obj *obj)
{
	srpol_obj_set(sn, obj, NULL);
}

/**
 * srpol_obj_swap() - make the next configuration the present one
 * @obj: an object being committed, under the locks that its readers need
 *
 * Pairs with READ_ONCE() of those that read under RCU.
 */
void srpol_obj_swap(struct srpol_obj *obj)
{
	void *old = obj->cur;

	/* what it points to has been filled in before */
	smp_store_release(&obj->cur, obj->next);
	obj->next = old;
}

/**
 * srpol_obj_flush() - free an object of a namespace that ends
 * @sn: namespace, locked, without a data plane and not in a transaction
 * @obj: the object
 */
void srpol_obj_flush(struct srpol_net *sn, struct srpol_obj *obj)
{
	const struct srpol_obj_ops *ops = srpol_obj_ops(obj);

	srpol_obj_want(sn, obj, obj->cur, -1);
	srpol_obj_swap(obj);
	if (ops->erase)
		ops->erase(sn, obj);
	srpol_obj_drop(sn, obj);
	ops->release(sn, obj);
	cond_resched();
}

/**
 * srpol_txn_staged() - note that something of an object is staged in the data
 * plane
 * @sn: namespace, locked, in a transaction
 * @obj: the object
 */
void srpol_txn_staged(struct srpol_net *sn, struct srpol_obj *obj)
{
	obj->staged = true;
	sn->txn.staged = true;
}

/* Remove an object from the transaction, as its part in it is over. */
static void srpol_obj_leave(struct srpol_net *sn, struct srpol_obj *obj)
{
	srpol_obj_drop(sn, obj);
	list_del_init(&obj->node);
	obj->request = NULL;
	obj->defined = false;
	obj->staged = false;
	if (!obj->cur)
		srpol_obj_ops(obj)->release(sn, obj);
}

/* Leave an object as it was, whatever requests or events wanted. */
static void srpol_obj_abort(struct srpol_net *sn, struct srpol_obj *obj)
{
	const struct srpol_obj_ops *ops = srpol_obj_ops(obj);

	if (ops->revert)
		ops->revert(sn, obj);
	if (obj->next != obj->cur) {
		srpol_obj_want(sn, obj, obj->next, -1);
		srpol_obj_want(sn, obj, obj->cur, 1);
	}
	srpol_obj_leave(sn, obj);
}

/*
 * Remove objects whose definition is the same as before. Those that were
 * touched for another reason than a request stay in the transaction.
 */
static void srpol_txn_check_type(struct srpol_net *sn,
				 enum srpol_obj_type type)
{
	const struct srpol_obj_ops *ops = srpol_types[type].ops;
	struct srpol_obj *obj, *tmp;

	list_for_each_entry_safe(obj, tmp, &sn->txn.touched[type], node) {
		if (obj->defined &&
		    (obj->cur && obj->next ? ops->equal(obj) :
					     obj->cur == obj->next))
			srpol_obj_abort(sn, obj);
		cond_resched();
	}
}

static int srpol_txn_stage_type(struct srpol_net *sn,
				enum srpol_obj_type type,
				struct netlink_ext_ack *extack)
{
	const struct srpol_obj_ops *ops = srpol_types[type].ops;
	struct list_head *touched = &sn->txn.touched[type];
	struct srpol_obj *obj, *tmp;
	int err;

	if (ops->prepare)
		ops->prepare(sn);
	list_for_each_entry_safe(obj, tmp, touched, node) {
		sn->txn.blame = obj->request;
		err = ops->stage(sn, obj, extack);
		if (err && !sn->txn.event)
			return err;
		if (err) {
			net_warn_ratelimited("srpol: update refused: %d\n",
					     err);
			srpol_obj_abort(sn, obj);
			if (ops->refused)
				ops->refused(sn, obj);
		}
		cond_resched();
	}
	return ops->finish && !list_empty(touched) ?
	       ops->finish(sn, extack) : 0;
}

static int srpol_txn_stage(struct srpol_net *sn,
			   struct netlink_ext_ack *extack)
{
	int type, err;

	for (type = 0; type < SRPOL_OBJ_TYPES; type++)
		srpol_txn_check_type(sn, type);
	for (type = 0; type < SRPOL_OBJ_TYPES; type++) {
		err = srpol_txn_stage_type(sn, type, extack);
		if (err)
			return err;
	}
	return 0;
}

static void srpol_txn_notify_type(struct srpol_net *sn,
				  enum srpol_obj_type type, bool deleted,
				  const struct genl_info *info)
{
	const struct srpol_type *t = &srpol_types[type];
	struct srpol_obj *obj;

	list_for_each_entry(obj, &sn->txn.touched[type], node) {
		if (srpol_obj_changed(obj) && !obj->cur == deleted)
			srpol_nl_notify(sn, info,
					deleted ? t->del_ntf : t->ntf,
					SRPOL_NLGRP_CONFIG, t->fill, obj);
		cond_resched();
	}
}

static void srpol_txn_announce_type(struct srpol_net *sn,
				    enum srpol_obj_type type)
{
	const struct srpol_obj_ops *ops = srpol_types[type].ops;
	struct srpol_obj *obj;

	if (!ops->announce)
		return;
	list_for_each_entry(obj, &sn->txn.touched[type], node) {
		if (obj->cur)
			ops->announce(sn, obj);
		cond_resched();
	}
}

/*
 * Notify of objects before their users, and of deletions in the opposite order.
 * States are sent when listeners know their objects.
 */
static void srpol_txn_notify(struct srpol_net *sn,
			     const struct genl_info *info)
{
	int type;

	for (type = 0; type < SRPOL_OBJ_TYPES; type++)
		srpol_txn_notify_type(sn, type, false, info);
	for (type = 0; type < SRPOL_OBJ_TYPES; type++)
		srpol_txn_announce_type(sn, type);
	for (type = SRPOL_OBJ_TYPES - 1; type >= 0; type--)
		srpol_txn_notify_type(sn, type, true, info);
}

/* Remove deleted objects, users before what they use. */
static void srpol_txn_finish(struct srpol_net *sn)
{
	struct srpol_obj *obj, *tmp;
	bool removed = false;
	int type;

	for (type = SRPOL_OBJ_TYPES - 1; type >= 0; type--) {
		list_for_each_entry_safe(obj, tmp, &sn->txn.touched[type],
					 node) {
			if (!obj->cur) {
				removed = true;
				if (srpol_types[type].ops->erase)
					srpol_types[type].ops->erase(sn, obj);
			}
			srpol_obj_leave(sn, obj);
			cond_resched();
		}
	}
	if (removed)
		sn->del_gp = get_state_synchronize_rcu();
}

static void srpol_txn_commit(struct srpol_net *sn,
			     const struct genl_info *info)
{
	struct srpol_obj *obj;
	int type;

	if (sn->txn.staged)
		srpol_dp_call(sn, commit, sn->txn.reclassify);
	sn->txn.gp = get_state_synchronize_rcu();
	for (type = 0; type < SRPOL_OBJ_TYPES; type++) {
		list_for_each_entry(obj, &sn->txn.touched[type], node) {
			srpol_types[type].ops->commit(sn, obj);
			cond_resched();
		}
	}
	srpol_txn_notify(sn, info);
	srpol_txn_finish(sn);
}

static void srpol_txn_abort(struct srpol_net *sn)
{
	struct srpol_obj *obj, *tmp;
	int type;

	for (type = SRPOL_OBJ_TYPES - 1; type >= 0; type--) {
		list_for_each_entry_safe_reverse(obj, tmp,
						 &sn->txn.touched[type],
						 node) {
			srpol_obj_abort(sn, obj);
			cond_resched();
		}
	}
}

/**
 * srpol_txn_begin() - begin a transaction
 * @sn: namespace, locked
 * @event: the transaction follows an event: what the data plane refuses is left
 *	as it is, the rest is committed
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
	sn->txn.all_paths = false;
}

/**
 * srpol_txn_end() - commit a transaction, or revert all of it
 * @sn: namespace, locked
 * @info: the request that it was made for, NULL if it follows an event
 * @err: why it has to be reverted, 0 to commit
 *
 * Return: 0 if it was committed, or a negative errno; then nothing has changed.
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
 * @write: function that carries it out
 *
 * Return: 0 or a negative errno.
 */
int srpol_txn_doit(struct genl_info *info, srpol_write_t write)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	int err;

	err = srpol_net_start(sn);
	if (err)
		return err;
	mutex_lock(&sn->lock);
	srpol_txn_begin(sn, false);
	err = srpol_txn_end(sn, info, write(sn, info));
	mutex_unlock(&sn->lock);
	return err;
}
