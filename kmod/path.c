// SPDX-License-Identifier: GPL-2.0
/*
 * Paths (segment lists): the objects, their state, and what a transaction does
 * to them. How they are resolved is in resolve.c.
 */
#include <net/ipv6.h>

#include "srpol.h"

/**
 * srpol_path_find() - look a path up
 * @sn: namespace, locked
 * @id: its id
 *
 * Return: a path that the transaction under way has not deleted, or NULL.
 */
struct srpol_path *srpol_path_find(struct srpol_net *sn, u32 id)
{
	struct srpol_path *path = xa_load(&sn->paths, id);

	return path && !path->change.gone ? path : NULL;
}

/**
 * srpol_path_cfg() - the configuration of a path
 * @path: the path
 *
 * Return: that of the transaction under way if it has another one.
 */
const struct srpol_path_cfg *srpol_path_cfg(const struct srpol_path *path)
{
	return path->next.cfg ?: path->cfg;
}

static size_t srpol_path_cfg_size(const struct srpol_path_cfg *cfg)
{
	return cfg->hdr.n_tlvs ? sizeof(*cfg) :
	       offsetof(struct srpol_path_cfg, hdr.sids) +
	       cfg->hdr.n_sids * sizeof(cfg->hdr.sids[0]);
}

/**
 * srpol_path_copy_cfg() - get the configuration of a path, to alter it
 * @path: the path
 * @cfg: set to srpol_path_cfg(), in full size
 */
void srpol_path_copy_cfg(const struct srpol_path *path,
			 struct srpol_path_cfg *cfg)
{
	const struct srpol_path_cfg *from = srpol_path_cfg(path);

	memset(cfg, 0, sizeof(*cfg));
	memcpy(cfg, from, srpol_path_cfg_size(from));
}

/**
 * srpol_path_usable() - can policies use a path
 * @path: the path
 *
 * After the transaction under way, if it touches the path.
 */
bool srpol_path_usable(const struct srpol_path *path)
{
	return path->next.resolved ? path->next.up :
	       READ_ONCE(path->state) == SRPOL_PATH_STATE_UP;
}

/**
 * srpol_path_known() - has the data plane a form of this path
 * @path: the path
 *
 * After the transaction under way, if it touches the path.
 */
bool srpol_path_known(const struct srpol_path *path)
{
	return path->next.resolved ? path->next.compiled : path->compiled;
}

static struct srpol_path *srpol_path_alloc(struct srpol_net *sn, u32 id)
{
	struct srpol_path *path;
	int err;

	path = kzalloc(sizeof(*path), GFP_KERNEL_ACCOUNT);
	if (!path)
		return ERR_PTR(-ENOMEM);
	path->id = id;
	srpol_change_init(&path->change, SRPOL_KIND_PATH);
	INIT_LIST_HEAD(&path->changed_node);
	INIT_LIST_HEAD(&path->users);
	/* the id may have been in use a moment ago */
	path->gp = sn->del_gp;
	err = xa_insert(&sn->paths, id, path, GFP_KERNEL_ACCOUNT);
	if (err) {
		kfree(path);
		return ERR_PTR(err);
	}
	if (!sn->n_paths++)
		srpol_events_retry_at(sn, HZ);
	return path;
}

/* It is erased first: then softirq finds it no more once it has the lock. */
static void srpol_path_free(struct srpol_net *sn, struct srpol_path *path)
{
	xa_erase(&sn->paths, path->id);
	sn->n_paths--;
	spin_lock_bh(&sn->state_lock);
	list_del(&path->changed_node);
	if (path->reported)
		sn->n_reported--;
	spin_unlock_bh(&sn->state_lock);
	kfree(path->next.cfg);
	kfree(path->cfg);
	kfree(path);
}

/**
 * srpol_path_set_cfg() - create or redefine a path
 * @sn: namespace, locked, in a transaction
 * @id: its id
 * @cfg: new configuration, which is copied
 * @attr: the attribute that says the id
 * @extack: for a refusal
 *
 * Return: the path or an ERR_PTR.
 */
struct srpol_path *srpol_path_set_cfg(struct srpol_net *sn, u32 id,
				      const struct srpol_path_cfg *cfg,
				      const struct nlattr *attr,
				      struct netlink_ext_ack *extack)
{
	struct srpol_path *path = xa_load(&sn->paths, id);
	struct srpol_path_cfg *copy;

	if (id >= sn->limits.paths) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"path ids go up to %u",
					sn->limits.paths - 1);
		return ERR_PTR(-ERANGE);
	}
	copy = kmemdup(cfg, srpol_path_cfg_size(cfg), GFP_KERNEL_ACCOUNT);
	if (!copy)
		return ERR_PTR(-ENOMEM);
	if (!path) {
		path = srpol_path_alloc(sn, id);
		if (IS_ERR(path)) {
			kfree(copy);
			return path;
		}
		path->change.created = true;
	}
	kfree(path->next.cfg);
	path->next.cfg = copy;
	path->change.saved = true;
	path->change.gone = false;
	srpol_txn_touch(sn, &path->change);
	return path;
}

/**
 * srpol_path_delete() - a path without users is not wanted any more
 * @sn: namespace, locked, in a transaction
 * @path: the path
 */
void srpol_path_delete(struct srpol_net *sn, struct srpol_path *path)
{
	path->change.gone = true;
	srpol_txn_touch(sn, &path->change);
}

/**
 * srpol_path_reason() - why a path is not up
 * @cfg: its configuration
 * @resolved: outcome of its resolution
 * @nh: its next hop or NULL
 * @reported: it is held down by a report
 */
enum srpol_path_reason
srpol_path_reason(const struct srpol_path_cfg *cfg,
		  enum srpol_path_reason resolved,
		  const struct srpol_nexthop *nh, bool reported)
{
	if (cfg->admin_down)
		return SRPOL_PATH_REASON_ADMIN_DOWN;
	if (resolved)
		return resolved;
	if (nh && nh->reason)
		return nh->reason;
	return reported ? SRPOL_PATH_REASON_UNREACHABLE_REPORTED :
			  SRPOL_PATH_REASON_NONE;
}

/**
 * srpol_path_reason_state() - the state that goes with a reason
 * @reason: the reason
 */
enum srpol_path_state srpol_path_reason_state(enum srpol_path_reason reason)
{
	switch (reason) {
	case SRPOL_PATH_REASON_NONE:
		return SRPOL_PATH_STATE_UP;
	case SRPOL_PATH_REASON_NO_ROUTE:
	case SRPOL_PATH_REASON_NO_SOURCE:
	case SRPOL_PATH_REASON_NO_RESOURCES:
	case SRPOL_PATH_REASON_NEIGHBOUR_UNRESOLVED:
		return SRPOL_PATH_STATE_UNRESOLVED;
	default:
		return SRPOL_PATH_STATE_DOWN;
	}
}

/* Note the state and tell the listeners; the data plane is told apart. */
static void srpol_path_enter(struct srpol_net *sn, struct srpol_path *path,
			     enum srpol_path_reason reason)
{
	enum srpol_path_state state = srpol_path_reason_state(reason);

	lockdep_assert_held(&sn->state_lock);
	if (path->state == state && path->reason == reason)
		return;
	if (state == SRPOL_PATH_STATE_UP)
		path->up_since = jiffies;
	path->state = state;
	path->reason = reason;
	srpol_nl_notify(sn, NULL, SRPOL_CMD_PATH_EVENT, SRPOL_NLGRP_EVENTS,
			srpol_path_event_fill, path);
}

/**
 * srpol_path_mark() - policies do not know the state of a path
 * @sn: namespace; @sn->state_lock is held
 * @path: the path
 *
 * The next event transaction compiles them.
 */
void srpol_path_mark(struct srpol_net *sn, struct srpol_path *path)
{
	lockdep_assert_held(&sn->state_lock);
	if (list_empty(&path->changed_node))
		list_add_tail(&path->changed_node, &sn->changed);
}

/**
 * srpol_path_set_state() - a path changed its state outside of a transaction
 * @sn: namespace; @sn->state_lock is held
 * @path: the path
 * @reason: why it is not up
 *
 * Tells the data plane at once, and the listeners.
 */
void srpol_path_set_state(struct srpol_net *sn, struct srpol_path *path,
			  enum srpol_path_reason reason)
{
	bool was_up = path->state == SRPOL_PATH_STATE_UP;
	bool up = !reason;

	if (up != was_up) {
		if (path->compiled)
			srpol_dp_call(sn, path_state, path->id, up);
		srpol_path_mark(sn, path);
	}
	srpol_path_enter(sn, path, reason);
}

/* Do not move it: someone may be going through this list. */
static void srpol_path_use_nexthop(struct srpol_path *path,
				   struct srpol_nexthop *nh)
{
	if (path->nh == nh)
		return;
	if (path->nh)
		list_del(&path->nh_node);
	path->nh = nh;
	if (nh)
		list_add_tail(&path->nh_node, &nh->paths);
}

/**
 * srpol_path_detach_nexthop() - let go of the next hop
 * @sn: namespace, locked
 * @path: a path that is to be freed, or to be resolved again
 */
void srpol_path_detach_nexthop(struct srpol_net *sn, struct srpol_path *path)
{
	struct srpol_nexthop *nh = path->nh;

	spin_lock_bh(&sn->state_lock);
	/* the id of the next hop may be given to another one */
	if (path->compiled)
		srpol_dp_call(sn, path_state, path->id, 0);
	path->compiled = false;
	srpol_path_use_nexthop(path, NULL);
	spin_unlock_bh(&sn->state_lock);
	srpol_nexthop_put(sn, nh);
}

static bool srpol_path_same(struct srpol_net *sn, const void *obj)
{
	const struct srpol_path *path = obj;
	const struct srpol_path_cfg *is = path->next.cfg;
	size_t size;

	if (path->next.retry && READ_ONCE(path->reported))
		return false;
	if (!is)
		return true;
	size = srpol_path_cfg_size(is);
	return size == srpol_path_cfg_size(path->cfg) &&
	       !memcmp(is, path->cfg, size);
}

/*
 * Become what was prepared. Since then softirq may have taken the path or its
 * next hop out of use: the data plane was told at once, but about the path as
 * it was, so it is told again.
 */
static void srpol_path_commit(struct srpol_net *sn,
			      struct srpol_change *change)
{
	struct srpol_path *path = container_of(change,
					       struct srpol_path, change);
	struct srpol_path_next *next = &path->next;
	struct srpol_nexthop *old_nh = path->nh;
	struct srpol_path_cfg *old_cfg = NULL;
	enum srpol_path_reason reason;
	bool told, up;

	if (change->gone)
		return;
	spin_lock_bh(&sn->state_lock);
	if (path->reported && (change->changed || old_nh != next->nh)) {
		path->reported = false;
		sn->n_reported--;
	}
	srpol_path_use_nexthop(path, next->nh);
	path->bytes = next->bytes;
	if (next->cfg) {
		old_cfg = path->cfg;
		path->cfg = next->cfg;
	}
	reason = srpol_path_reason(path->cfg, next->reason, path->nh,
				   path->reported);
	up = !reason;

	told = next->pushed && path->state == next->was ? next->up :
	       path->state == SRPOL_PATH_STATE_UP;
	if (path->compiled && !next->compiled)
		srpol_dp_call(sn, path_state, path->id, 0);
	else if (next->compiled &&
		 (told != up || (next->pushed && path->state != next->was)))
		srpol_dp_call(sn, path_state, path->id, up);
	path->compiled = next->compiled;
	if (next->pushed)
		path->gp = sn->txn.gp;
	if (up != next->up) {
		srpol_path_mark(sn, path);
		srpol_events_kick(sn);
	}
	srpol_path_enter(sn, path, reason);
	spin_unlock_bh(&sn->state_lock);

	srpol_nexthop_put(sn, old_nh);
	kfree(old_cfg);
	memset(next, 0, sizeof(*next));
}

static void srpol_path_abort(struct srpol_net *sn, struct srpol_change *change)
{
	struct srpol_path *path = container_of(change,
					       struct srpol_path, change);

	if (change->staged)
		srpol_dp_call(sn, revert, SRPOL_DP_PATH, path->id);
	srpol_nexthop_put(sn, path->next.nh);
	kfree(path->next.cfg);
	memset(&path->next, 0, sizeof(path->next));
	if (change->created)
		srpol_path_free(sn, path);
}

static void srpol_path_remove(struct srpol_net *sn,
			      struct srpol_change *change)
{
	struct srpol_path *path = container_of(change,
					       struct srpol_path, change);

	srpol_path_detach_nexthop(sn, path);
	srpol_dp_call(sn, path_del, path->id);
	srpol_path_free(sn, path);
}

const struct srpol_change_ops srpol_path_change_ops = {
	.same		= srpol_path_same,
	.stage		= srpol_path_stage,
	.commit		= srpol_path_commit,
	.abort		= srpol_path_abort,
	.remove		= srpol_path_remove,
	.fill		= srpol_path_fill,
	.offset		= offsetof(struct srpol_path, change),
	.ntf		= SRPOL_CMD_PATH_NTF,
	.del_ntf	= SRPOL_CMD_PATH_DEL_NTF,
};

/**
 * srpol_path_replay() - tell a new data plane about all paths
 * @sn: namespace, locked
 */
int srpol_path_replay(struct srpol_net *sn)
{
	struct srpol_path *path;
	unsigned long id;
	int err;

	xa_for_each(&sn->paths, id, path) {
		spin_lock_bh(&sn->state_lock);
		err = srpol_path_push(sn, path);
		spin_unlock_bh(&sn->state_lock);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

/**
 * srpol_path_flush() - free all paths of a dying namespace
 * @sn: namespace, locked, without policies
 */
void srpol_path_flush(struct srpol_net *sn)
{
	struct srpol_path *path;
	unsigned long id;

	xa_for_each(&sn->paths, id, path)
		srpol_path_remove(sn, &path->change);
	xa_destroy(&sn->paths);
}
