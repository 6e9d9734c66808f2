// SPDX-License-Identifier: GPL-2.0
/*
 * Local SIDs: segments that this host processes, and the adjacencies to which
 * some of them forward.
 */
#include <linux/etherdevice.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "dataplane.h"
#include "nexthop.h"
#include "queue.h"
#include "resolve.h"
#include "sid.h"

static const struct rhashtable_params srpol_sid_params = {
	.head_offset = offsetof(struct srpol_sid, node),
	.key_offset = offsetof(struct srpol_sid, addr),
	.key_len = sizeof(struct in6_addr),
	.automatic_shrinking = true,
};

int srpol_sid_init(struct srpol_net *sn)
{
	return rhltable_init(&sn->sid_addrs, &srpol_sid_params);
}

void srpol_sid_exit(struct srpol_net *sn)
{
	rhltable_destroy(&sn->sid_addrs);
}

/* The result may be one that the present transaction has deleted. */
static struct srpol_sid *srpol_sid_lookup(struct srpol_net *sn,
					  const struct in6_addr *addr, u32 len)
{
	struct srpol_sid *sid, *found = NULL;
	struct rhlist_head *list, *pos;

	lockdep_assert_held(&sn->lock);
	if (!srpol_net_started(sn))
		return NULL;
	rcu_read_lock();
	list = rhltable_lookup(&sn->sid_addrs, addr, srpol_sid_params);
	rhl_for_each_entry_rcu(sid, pos, list, node)
		if (sid->prefix_len == len)
			found = sid;
	rcu_read_unlock();
	return found;
}

/**
 * srpol_sid_find() - look up a SID
 * @sn: namespace, locked
 * @addr: the SID
 * @len: its prefix length
 *
 * Return: the SID, or NULL if it does not exist or the present transaction has
 * deleted it.
 */
struct srpol_sid *srpol_sid_find(struct srpol_net *sn,
				 const struct in6_addr *addr, u32 len)
{
	struct srpol_sid *sid = srpol_sid_lookup(sn, addr, len);

	return sid && srpol_sid_cfg(sid) ? sid : NULL;
}

/**
 * srpol_sid_find_any() - look up a SID by its address alone
 * @sn: namespace, locked
 * @addr: the SID
 *
 * Return: the only SID of this address, NULL if there is none or several.
 */
struct srpol_sid *srpol_sid_find_any(struct srpol_net *sn,
				     const struct in6_addr *addr)
{
	struct srpol_sid *sid, *found = NULL;
	struct rhlist_head *list, *pos;
	u32 n = 0;

	lockdep_assert_held(&sn->lock);
	if (!srpol_net_started(sn))
		return NULL;
	rcu_read_lock();
	list = rhltable_lookup(&sn->sid_addrs, addr, srpol_sid_params);
	rhl_for_each_entry_rcu(sid, pos, list, node) {
		if (!srpol_sid_cfg(sid))
			continue;
		found = sid;
		n++;
	}
	rcu_read_unlock();
	return n == 1 ? found : NULL;
}

/**
 * srpol_sid_reason() - why the adjacency of a SID is not up
 * @sid: the SID
 */
enum srpol_path_reason srpol_sid_reason(const struct srpol_sid *sid)
{
	const struct srpol_sid_cfg *cfg = srpol_obj_shown(&sid->obj);

	if (sid->refused)
		return SRPOL_PATH_REASON_NO_RESOURCES;
	if (!cfg->ifindex)
		return SRPOL_PATH_REASON_NONE;
	return sid->form.nh ? READ_ONCE(sid->form.nh->reason) :
			      SRPOL_PATH_REASON_NO_DEVICE;
}

static struct srpol_sid *srpol_sid_alloc(struct srpol_net *sn,
					 const struct in6_addr *addr, u32 len,
					 struct netlink_ext_ack *extack)
{
	struct srpol_sid *sid;
	int err;

	sid = kzalloc(sizeof(*sid), GFP_KERNEL_ACCOUNT);
	if (!sid)
		return ERR_PTR(-ENOMEM);
	srpol_obj_init(&sid->obj, SRPOL_OBJ_SID);
	sid->addr = *addr;
	sid->prefix_len = len;
	/* id and address may have been in use a moment ago */
	sid->gp = sn->del_gp;
	err = xa_alloc(&sn->sids, &sid->id, sid,
		       XA_LIMIT(1, sn->limits.sids - 1), GFP_KERNEL_ACCOUNT);
	if (err) {
		if (err == -EBUSY)
			err = srpol_dp_err(-ENOSPC, "SID",
					   sn->limits.sids - 1, extack);
		goto err_free;
	}
	err = rhltable_insert(&sn->sid_addrs, &sid->node, srpol_sid_params);
	if (err)
		goto err_id;
	WRITE_ONCE(sn->n_sids, sn->n_sids + 1);
	return sid;

err_id:
	xa_erase(&sn->sids, sid->id);
err_free:
	kfree(sid);
	return ERR_PTR(err);
}

static void srpol_sid_use_form(struct srpol_sid *sid,
			       const struct srpol_sid_form *form)
{
	if (sid->form.nh)
		list_del(&sid->nh_node);
	sid->form = *form;
	if (form->nh)
		list_add_tail(&sid->nh_node, &form->nh->sids);
}

static void srpol_sid_release(struct srpol_net *sn, struct srpol_obj *obj)
{
	static const struct srpol_sid_form none;
	struct srpol_sid *sid = srpol_sid(obj);
	struct srpol_nexthop *nh = sid->form.nh;

	srpol_sid_use_form(sid, &none);
	srpol_nexthop_put(sn, nh);
	rhltable_remove(&sn->sid_addrs, &sid->node, srpol_sid_params);
	xa_erase(&sn->sids, sid->id);
	WRITE_ONCE(sn->n_sids, sn->n_sids - 1);
	kfree(sid);
}

/**
 * srpol_sid_define() - create or redefine a SID
 * @sn: namespace, locked, in a transaction
 * @addr: its address
 * @len: its prefix length
 * @cfg: its configuration; it is copied
 * @extack: for a refusal
 *
 * Return: 0 or a negative errno.
 */
int srpol_sid_define(struct srpol_net *sn, const struct in6_addr *addr,
		     u32 len, const struct srpol_sid_cfg *cfg,
		     struct netlink_ext_ack *extack)
{
	struct srpol_sid_cfg *copy;
	struct srpol_sid *sid;

	copy = kmemdup(cfg, sizeof(*cfg), GFP_KERNEL_ACCOUNT);
	if (!copy)
		return -ENOMEM;
	sid = srpol_sid_lookup(sn, addr, len) ?:
	      srpol_sid_alloc(sn, addr, len, extack);
	if (IS_ERR(sid)) {
		kfree(copy);
		return PTR_ERR(sid);
	}
	srpol_obj_define(sn, &sid->obj, copy);
	return 0;
}

static struct srpol_dp_sid srpol_sid_to_dp(const struct srpol_sid *sid,
					   const struct srpol_sid_cfg *cfg,
					   const struct srpol_sid_form *form)
{
	struct srpol_dp_sid dp = {
		.id = sid->id,
		.behavior = cfg->behavior,
		.prefix_len = sid->prefix_len,
		.block_len = cfg->block_len,
		.nexthop = form->nh ? form->nh->id : 0,
		.policy = cfg->policy,
		.uniform = cfg->dscp_mode == SRPOL_DSCP_MODE_UNIFORM,
	};

	memcpy(dp.sid, &sid->addr, sizeof(dp.sid));
	memcpy(dp.l2, form->l2, sizeof(dp.l2));
	return dp;
}

/* Find the present form of an adjacency; its next hop is referenced. */
static int srpol_sid_resolve(struct srpol_net *sn,
			     const struct srpol_sid_cfg *cfg,
			     struct srpol_sid_form *form,
			     struct netlink_ext_ack *extack)
{
	struct srpol_nexthop *nh;
	netdevice_tracker tracker;
	struct net_device *dev;

	memset(form, 0, sizeof(*form));
	if (!cfg->ifindex)
		return 0;
	dev = srpol_resolve_dev(sn, cfg->ifindex, cfg->ifname, &tracker);
	if (!dev)
		return 0;
	nh = srpol_nexthop_get(sn, dev, &cfg->via, extack);
	netdev_put(dev, &tracker);
	if (IS_ERR(nh))
		return PTR_ERR(nh) == -ENODEV ? 0 : PTR_ERR(nh);
	form->nh = nh;
	/*
	 * while the next hop is down, the last known addresses: the data plane
	 * drops then
	 */
	spin_lock_bh(&sn->state_lock);
	ether_addr_copy(form->l2, nh->lladdr);
	ether_addr_copy(form->l2 + ETH_ALEN, nh->smac);
	spin_unlock_bh(&sn->state_lock);
	return 0;
}

static void srpol_sid_free_cfg(struct srpol_net *sn, void *cfg)
{
	kfree(cfg);
}

static bool srpol_sid_equal(const struct srpol_obj *obj)
{
	return !memcmp(obj->cur, obj->next, sizeof(struct srpol_sid_cfg));
}

static int srpol_sid_stage_form(struct srpol_net *sn, struct srpol_sid *sid,
				struct netlink_ext_ack *extack)
{
	const struct srpol_sid_cfg *cfg = srpol_sid_cfg(sid);
	struct srpol_dp_sid dp;
	int err;

	err = srpol_sid_resolve(sn, cfg, &sid->next, extack);
	if (err)
		return err;
	sid->resolved = true;
	if (!srpol_obj_changed(&sid->obj) && !sid->refused &&
	    sid->form.nh == sid->next.nh &&
	    !memcmp(sid->form.l2, sid->next.l2, sizeof(sid->form.l2)))
		return 0;
	srpol_dp_wait_gp(sn, sid->gp);
	dp = srpol_sid_to_dp(sid, cfg, &sid->next);
	err = srpol_dp_call(sn, sid_set, &dp);
	if (err)
		return srpol_dp_err(err, "SID", sn->limits.sids - 1, extack);
	srpol_txn_staged(sn, &sid->obj);
	return 0;
}

static int srpol_sid_stage(struct srpol_net *sn, struct srpol_obj *obj,
			   struct netlink_ext_ack *extack)
{
	struct srpol_sid *sid = srpol_sid(obj);
	struct srpol_dp_sid dp;
	int err;

	if (!srpol_obj_deleted(obj)) {
		err = srpol_sid_stage_form(sn, sid, extack);
		if (err)
			return err;
	} else {
		srpol_dp_wait_gp(sn, sid->gp);
		dp = srpol_sid_to_dp(sid, obj->cur, &sid->form);
		err = srpol_dp_call(sn, sid_hide, &dp);
		if (err)
			return srpol_dp_err(err, "SID", sn->limits.sids - 1,
					    extack);
		srpol_txn_staged(sn, obj);
	}
	/* flows remember whether their destination is a SID */
	sn->txn.reclassify |= obj->staged;
	return 0;
}

static void srpol_sid_commit(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_sid *sid = srpol_sid(obj);
	struct srpol_nexthop *old = sid->form.nh;

	if (sid->resolved) {
		srpol_sid_use_form(sid, &sid->next);
		srpol_nexthop_put(sn, old);
		sid->refused = false;
	}
	sid->resolved = false;
	if (obj->staged)
		sid->gp = sn->txn.gp;
	srpol_obj_swap(obj);
}

static void srpol_sid_revert(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_sid *sid = srpol_sid(obj);
	struct srpol_dp_sid dp;

	if (obj->staged) {
		dp = srpol_sid_to_dp(sid, obj->next ?: obj->cur, &sid->form);
		srpol_dp_call(sn, sid_revert, &dp);
	}
	if (sid->resolved)
		srpol_nexthop_put(sn, sid->next.nh);
	sid->resolved = false;
}

/* Show the SID as no-resources; the tick tries again. */
static void srpol_sid_refused(struct srpol_net *sn, struct srpol_obj *obj)
{
	srpol_sid(obj)->refused = true;
	srpol_queue_tick(sn, HZ);
}

static void srpol_sid_erase(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_sid *sid = srpol_sid(obj);
	const struct srpol_dp_sid dp = srpol_sid_to_dp(sid, obj->next,
						       &sid->form);

	srpol_dp_call(sn, sid_del, &dp);
}

const struct srpol_obj_ops srpol_sid_ops = {
	.equal		= srpol_sid_equal,
	.free_cfg	= srpol_sid_free_cfg,
	.stage		= srpol_sid_stage,
	.commit		= srpol_sid_commit,
	.revert		= srpol_sid_revert,
	.refused	= srpol_sid_refused,
	.erase		= srpol_sid_erase,
	.release	= srpol_sid_release,
};

/**
 * srpol_sid_touch_nexthop() - touch the SIDs of a next hop that has changed
 * @sn: namespace, locked, in a transaction
 * @nh: the next hop
 *
 * The data plane follows the state of the next hop; its addresses are part of
 * the SID.
 */
void srpol_sid_touch_nexthop(struct srpol_net *sn,
			     const struct srpol_nexthop *nh)
{
	struct srpol_sid *sid;

	list_for_each_entry(sid, &nh->sids, nh_node)
		srpol_obj_touch(sn, &sid->obj);
}

/**
 * srpol_sid_touch_waiting() - touch the SIDs that lack something
 * @sn: namespace, locked, in a transaction
 */
void srpol_sid_touch_waiting(struct srpol_net *sn)
{
	const struct srpol_sid_cfg *cfg;
	struct srpol_sid *sid;
	unsigned long id;

	xa_for_each(&sn->sids, id, sid) {
		cfg = srpol_sid_cfg(sid);
		if (sid->refused ||
		    (cfg->ifindex &&
		     (!sid->form.nh || READ_ONCE(sid->form.nh->gone))))
			srpol_obj_touch(sn, &sid->obj);
	}
}

/**
 * srpol_sid_replay() - tell a new data plane about all local SIDs
 * @sn: namespace, locked
 */
int srpol_sid_replay(struct srpol_net *sn)
{
	struct srpol_sid *sid;
	unsigned long id;
	int err;

	xa_for_each(&sn->sids, id, sid) {
		const struct srpol_dp_sid dp =
			srpol_sid_to_dp(sid, sid->obj.cur, &sid->form);

		err = srpol_dp_call(sn, sid_set, &dp);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

/**
 * srpol_sid_flush() - free all local SIDs of a namespace that ends
 * @sn: namespace, locked, without a data plane
 */
void srpol_sid_flush(struct srpol_net *sn)
{
	struct srpol_sid *sid;
	unsigned long id;

	xa_for_each(&sn->sids, id, sid)
		srpol_obj_flush(sn, &sid->obj);
	xa_destroy(&sn->sids);
}
