// SPDX-License-Identifier: GPL-2.0
/*
 * Which policies have to be compiled again: those whose paths or backup policy
 * have changed, and those whose time has come.
 *
 * A request compiles the policies that it affects in its own transaction. An
 * event only marks them, and the work compiles some at a time; packets have
 * left what is down by then.
 */
#include <linux/jiffies.h>
#include <net/ipv6.h>

#include "path.h"
#include "policy.h"
#include "queue.h"

/* Mark a policy to be compiled again. */
static void srpol_policy_mark(struct srpol_net *sn,
			      struct srpol_policy *policy)
{
	lockdep_assert_held(&sn->lock);
	if (list_empty(&policy->stale_node))
		list_add_tail(&policy->stale_node, &sn->stale_policies);
}

/**
 * srpol_policy_path_changed() - compile, or mark, the policies of a path that
 * changed
 * @sn: namespace, locked, in a transaction
 * @path: the path
 */
void srpol_policy_path_changed(struct srpol_net *sn, struct srpol_path *path)
{
	struct srpol_list *list;

	lockdep_assert_held(&sn->lock);
	list_for_each_entry(list, &path->users, path_node) {
		if (sn->txn.event)
			srpol_policy_mark(sn, list->policy);
		else
			srpol_obj_touch(sn, &list->policy->obj);
		cond_resched();
	}
}

/**
 * srpol_policy_take_stale() - compile some of the policies that are marked
 * @sn: namespace, locked, in a transaction
 * @most: how many
 *
 * Return: how many were taken.
 */
u32 srpol_policy_take_stale(struct srpol_net *sn, u32 most)
{
	struct srpol_policy *policy;
	u32 n;

	for (n = 0; n < most; n++) {
		policy = list_first_entry_or_null(&sn->stale_policies,
						  struct srpol_policy,
						  stale_node);
		if (!policy)
			break;
		list_del_init(&policy->stale_node);
		srpol_obj_touch(sn, &policy->obj);
	}
	return n;
}

/**
 * srpol_policy_tick() - mark policies whose time has come
 * @sn: namespace, locked
 *
 * Return: jiffies until the next policy's time comes, %MAX_JIFFY_OFFSET if none
 * waits.
 */
unsigned long srpol_policy_tick(struct srpol_net *sn)
{
	unsigned long next = MAX_JIFFY_OFFSET, left;
	struct srpol_policy *policy;

	lockdep_assert_held(&sn->lock);
	list_splice_tail_init(&sn->refused_policies, &sn->stale_policies);
	list_for_each_entry(policy, &sn->waiting, wait_node) {
		left = policy->table->wait_until - jiffies;
		if ((long)left <= 0)
			srpol_policy_mark(sn, policy);
		else
			next = min(next, left);
	}
	return next;
}

/*
 * Policies have been created or deleted: touch those that have another backup
 * now.
 */
static void srpol_policy_touch_backups(struct srpol_net *sn)
{
	const struct srpol_policy_cfg *cfg;
	const struct srpol_policy *backup;
	struct srpol_policy *policy;
	unsigned long id;
	u32 color;

	if (!sn->n_backups)
		return;
	xa_for_each(&sn->policies, id, policy) {
		cfg = srpol_policy_cfg(policy);
		if (!policy->table || !cfg)
			continue;
		color = cfg->set.backup_color;
		backup = color ? srpol_policy_backup(sn, color, policy) : NULL;
		if (policy->table->backup != (backup ? backup->id : 0))
			srpol_obj_touch(sn, &policy->obj);
		cond_resched();
	}
}

/**
 * srpol_policy_prepare() - add policies that depend on changed paths and
 * policies
 * @sn: namespace, locked, in a transaction; paths have been staged
 */
void srpol_policy_prepare(struct srpol_net *sn)
{
	struct srpol_path *path;
	struct srpol_obj *obj;

	list_for_each_entry(obj, &sn->txn.touched[SRPOL_OBJ_PATH], node) {
		path = srpol_path(obj);
		sn->txn.blame = obj->request;
		if (path->stage && path->stage->other)
			srpol_policy_path_changed(sn, path);
	}

	list_for_each_entry(obj, &sn->txn.touched[SRPOL_OBJ_POLICY], node) {
		if (srpol_obj_created(obj) || srpol_obj_deleted(obj)) {
			sn->txn.blame = obj->request;
			srpol_policy_touch_backups(sn);
			break;
		}
	}
}
