// SPDX-License-Identifier: GPL-2.0
/*
 * Paths (segment lists): the objects, and how a transaction changes them.
 * resolve.c resolves them, path_state.c handles what events do to them.
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "dataplane.h"
#include "nexthop.h"
#include "path.h"
#include "queue.h"
#include "quote.h"
#include "resolve.h"

static struct kmem_cache *srpol_path_cache;

int __init srpol_path_cache_init(void)
{
	srpol_path_cache = KMEM_CACHE(srpol_path, SLAB_ACCOUNT);
	return srpol_path_cache ? 0 : -ENOMEM;
}

void srpol_path_cache_exit(void)
{
	kmem_cache_destroy(srpol_path_cache);
}

/**
 * srpol_path_find() - look up a path
 * @sn: namespace, locked
 * @id: its id
 *
 * Return: the path, or NULL if it does not exist or the present transaction has
 * deleted it.
 */
struct srpol_path *srpol_path_find(struct srpol_net *sn, u32 id)
{
	struct srpol_path *path = xa_load(&sn->paths, id);

	return path && srpol_path_cfg(path) ? path : NULL;
}

static size_t srpol_path_cfg_size(const struct srpol_path_cfg *cfg)
{
	return cfg->hdr.n_tlvs ? sizeof(*cfg) :
	       offsetof(struct srpol_path_cfg, hdr.sids) +
	       cfg->hdr.n_sids * sizeof(cfg->hdr.sids[0]);
}

/**
 * srpol_path_copy_cfg() - copy the configuration of a path, in order to change
 * it
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
 * If the present transaction touches the path: will they be able to after it.
 */
bool srpol_path_usable(const struct srpol_path *path)
{
	return path->stage ? path->stage->up :
	       READ_ONCE(path->state) == SRPOL_PATH_STATE_UP;
}

/**
 * srpol_path_known() - does the data plane have a form of this path
 * @path: the path
 *
 * If the present transaction touches the path: will it have one after it.
 */
bool srpol_path_known(const struct srpol_path *path)
{
	return path->stage ? path->stage->compiled : path->compiled;
}

static struct srpol_path *srpol_path_alloc(struct srpol_net *sn, u32 id)
{
	struct srpol_path *path;
	int err;

	path = kmem_cache_zalloc(srpol_path_cache, GFP_KERNEL);
	if (!path)
		return ERR_PTR(-ENOMEM);
	path->id = id;
	srpol_obj_init(&path->obj, SRPOL_OBJ_PATH);
	INIT_LIST_HEAD(&path->stale_node);
	INIT_LIST_HEAD(&path->report_node);
	INIT_LIST_HEAD(&path->users);
	/* the id may have been in use a moment ago */
	path->gp = sn->del_gp;
	err = xa_insert(&sn->paths, id, path, GFP_KERNEL_ACCOUNT);
	if (err) {
		kmem_cache_free(srpol_path_cache, path);
		return ERR_PTR(err);
	}
	if (!sn->n_paths)
		srpol_queue_tick(sn, HZ);
	WRITE_ONCE(sn->n_paths, sn->n_paths + 1);
	return path;
}

/* The path is erased first: after that, verdicts and reports cannot find it. */
static void srpol_path_release(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_path *path = srpol_path(obj);

	xa_erase(&sn->paths, path->id);
	WRITE_ONCE(sn->n_paths, sn->n_paths - 1);
	spin_lock_bh(&sn->state_lock);
	list_del(&path->stale_node);
	srpol_path_forget_report(path);
	srpol_path_clear_verdict(path);
	spin_unlock_bh(&sn->state_lock);
	kfree(path->quotes);
	kmem_cache_free(srpol_path_cache, path);
}

/**
 * srpol_path_define() - create or redefine a path
 * @sn: namespace, locked, in a transaction
 * @id: its id
 * @cfg: new configuration, which is copied
 * @retry: the request puts the path in service, whatever was reported
 * @attr: the attribute with the id
 * @extack: for a refusal
 *
 * Return: 0 or a negative errno.
 */
int srpol_path_define(struct srpol_net *sn, u32 id,
		      const struct srpol_path_cfg *cfg, bool retry,
		      const struct nlattr *attr,
		      struct netlink_ext_ack *extack)
{
	struct srpol_path *path = xa_load(&sn->paths, id);
	struct srpol_path_cfg *copy;

	if (id >= sn->limits.paths) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"path ids go up to %u",
					sn->limits.paths - 1);
		return -ERANGE;
	}
	copy = kmemdup(cfg, srpol_path_cfg_size(cfg), GFP_KERNEL_ACCOUNT);
	if (!copy)
		return -ENOMEM;
	if (!path)
		path = srpol_path_alloc(sn, id);
	if (IS_ERR(path)) {
		kfree(copy);
		return PTR_ERR(path);
	}
	path->retry = retry;
	srpol_obj_define(sn, &path->obj, copy);
	return 0;
}

static void srpol_path_free_cfg(struct srpol_net *sn, void *cfg)
{
	kfree(cfg);
}

static bool srpol_path_equal(const struct srpol_obj *obj)
{
	const struct srpol_path_cfg *a = obj->cur, *b = obj->next;
	const struct srpol_path *path = srpol_path(obj);
	size_t size = srpol_path_cfg_size(a);

	if (path->retry && READ_ONCE(path->reported))
		return false;
	return size == srpol_path_cfg_size(b) && !memcmp(a, b, size);
}

/* Do not move it within a list: somebody may be walking that list. */
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

/*
 * Does the path leave in another way than before, though nobody has configured
 * it? Who builds packets of its own for it has to look.
 */
static bool srpol_path_moves(const struct srpol_path *path,
			     const struct srpol_path_stage *stage)
{
	const struct srpol_outer *was = &path->bytes.outer;
	const struct srpol_outer *is = &stage->bytes.outer;

	if (srpol_obj_changed(&path->obj) || !stage->compiled)
		return false;
	return !path->compiled || path->nh != stage->nh ||
	       path->bytes.dev_mtu != stage->bytes.dev_mtu ||
	       !ether_addr_equal(was->dmac, is->dmac) ||
	       !ipv6_addr_equal(&was->src, &is->src);
}

/*
 * Put the prepared state of a path in force. Events may have taken the path or
 * its next hop down since it was prepared: the data plane was told at once, but
 * about the path as it was then, so that it is told again.
 */
static void srpol_path_publish(struct srpol_net *sn, struct srpol_path *path)
{
	const struct srpol_path_stage *stage = path->stage;
	struct srpol_nexthop *old_nh = path->nh;
	enum srpol_path_reason reason;
	bool told, up;

	lockdep_assert_held(&sn->state_lock);
	if (path->reported &&
	    (srpol_obj_changed(&path->obj) || old_nh != stage->nh))
		srpol_path_forget_report(path);
	if (srpol_path_moves(path, stage))
		WRITE_ONCE(path->event, true);
	srpol_path_use_nexthop(path, stage->nh);
	path->bytes = stage->bytes;
	srpol_obj_swap(&path->obj);
	reason = srpol_path_reason(path, path->obj.cur, stage->reason,
				   path->nh, path->reported);
	up = !reason;

	told = stage->pushed && path->state == stage->was ? stage->up :
	       path->state == SRPOL_PATH_STATE_UP;
	if (path->compiled && !stage->compiled)
		srpol_dp_call(sn, path_state, path->id, 0);
	else if (stage->compiled &&
		 (told != up || (stage->pushed && path->state != stage->was)))
		srpol_dp_call(sn, path_state, path->id, up);
	path->compiled = stage->compiled;
	path->refused = false;
	if (stage->pushed)
		path->gp = sn->txn.gp;
	if (up != stage->up) {
		srpol_path_mark(sn, path, SRPOL_PATH_POLICIES);
		srpol_queue_work(sn);
	}
	srpol_path_enter(sn, path, reason);
}

static void srpol_path_commit(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_path *path = srpol_path(obj);
	struct srpol_nexthop *old_nh = path->nh;
	struct srpol_quote_node *old = NULL;

	spin_lock_bh(&sn->state_lock);
	if (srpol_obj_deleted(obj)) {
		/* a report must not find a path without a configuration */
		srpol_quote_unlink(path);
		srpol_obj_swap(obj);
		spin_unlock_bh(&sn->state_lock);
		return;
	}
	if (srpol_obj_changed(obj))
		old = srpol_quote_link(sn, path);
	srpol_path_publish(sn, path);
	spin_unlock_bh(&sn->state_lock);
	kfree(old);
	srpol_nexthop_put(sn, old_nh);
	kfree(path->stage);
	path->stage = NULL;
	path->retry = false;
}

static void srpol_path_revert(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_path *path = srpol_path(obj);

	if (obj->staged)
		srpol_dp_call(sn, revert, SRPOL_DP_PATH, path->id);
	if (path->stage) {
		srpol_nexthop_put(sn, path->stage->nh);
		kfree(path->stage->quotes);
		kfree(path->stage);
		path->stage = NULL;
	}
	path->retry = false;
}

/* Show a path that is not up as no-resources; the tick tries again. */
static void srpol_path_refused(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_path *path = srpol_path(obj);

	spin_lock_bh(&sn->state_lock);
	path->refused = true;
	if (path->state != SRPOL_PATH_STATE_UP)
		srpol_path_enter(sn, path, SRPOL_PATH_REASON_NO_RESOURCES);
	__srpol_queue_tick(sn, HZ);
	spin_unlock_bh(&sn->state_lock);
}

static void srpol_path_tell(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_path *path = srpol_path(obj);

	if (path->announced && !READ_ONCE(path->event))
		return;
	spin_lock_bh(&sn->state_lock);
	srpol_path_announce(sn, path);
	spin_unlock_bh(&sn->state_lock);
}

static void srpol_path_erase(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_path *path = srpol_path(obj);
	struct srpol_nexthop *nh = path->nh;

	spin_lock_bh(&sn->state_lock);
	/* the id of the next hop may be given to another one afterwards */
	if (path->compiled)
		srpol_dp_call(sn, path_state, path->id, 0);
	path->compiled = false;
	srpol_path_use_nexthop(path, NULL);
	spin_unlock_bh(&sn->state_lock);
	srpol_nexthop_put(sn, nh);
	srpol_dp_call(sn, path_del, path->id);
}

/*
 * Settings that are part of all compiled paths have been staged: touch all
 * paths.
 */
static void srpol_path_touch_all(struct srpol_net *sn)
{
	struct srpol_path *path;
	unsigned long id;

	if (!sn->txn.all_paths)
		return;
	xa_for_each(&sn->paths, id, path)
		srpol_obj_touch(sn, &path->obj);
}

const struct srpol_obj_ops srpol_path_ops = {
	.equal		= srpol_path_equal,
	.free_cfg	= srpol_path_free_cfg,
	.prepare	= srpol_path_touch_all,
	.stage		= srpol_path_stage,
	.commit		= srpol_path_commit,
	.revert		= srpol_path_revert,
	.refused	= srpol_path_refused,
	.announce	= srpol_path_tell,
	.erase		= srpol_path_erase,
	.release	= srpol_path_release,
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
 * srpol_path_flush() - free all paths of a namespace that ends
 * @sn: namespace, locked, without policies
 */
void srpol_path_flush(struct srpol_net *sn)
{
	struct srpol_path *path;
	unsigned long id;

	xa_for_each(&sn->paths, id, path) {
		/* reports still come in if the module is being unloaded */
		spin_lock_bh(&sn->state_lock);
		srpol_quote_unlink(path);
		spin_unlock_bh(&sn->state_lock);
		srpol_obj_flush(sn, &path->obj);
	}
	xa_destroy(&sn->paths);
}
