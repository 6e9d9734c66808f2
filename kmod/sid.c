// SPDX-License-Identifier: GPL-2.0
/*
 * Local SIDs: segments that end at this host, and the adjacencies that some of
 * them forward to.
 *
 * The data plane takes SIDs as they are told, so a transaction sets them last
 * before it is committed and back if it is aborted.
 */
#include <linux/etherdevice.h>
#include <linux/jhash.h>
#include <net/ipv6.h>

#include "srpol.h"

static u32 srpol_sid_hash(const struct in6_addr *addr)
{
	return jhash(addr, sizeof(*addr), 0);
}

/* Also one that the transaction under way has deleted. */
static struct srpol_sid *srpol_sid_lookup(struct srpol_net *sn,
					  const struct in6_addr *addr, u32 len)
{
	struct srpol_sid *sid;

	hash_for_each_possible(sn->sid_hash, sid, node, srpol_sid_hash(addr))
		if (sid->prefix_len == len &&
		    ipv6_addr_equal(&sid->sid, addr))
			return sid;
	return NULL;
}

/**
 * srpol_sid_find() - look a SID up
 * @sn: namespace, locked
 * @addr: the SID
 * @len: its prefix length
 *
 * Return: a SID that the transaction under way has not deleted, or NULL.
 */
struct srpol_sid *srpol_sid_find(struct srpol_net *sn,
				 const struct in6_addr *addr, u32 len)
{
	struct srpol_sid *sid = srpol_sid_lookup(sn, addr, len);

	return sid && !sid->change.gone ? sid : NULL;
}

/**
 * srpol_sid_find_any() - look a SID up by its address alone
 * @sn: namespace, locked
 * @addr: the SID
 *
 * Return: the only SID of this address, NULL if there is none or several.
 */
struct srpol_sid *srpol_sid_find_any(struct srpol_net *sn,
				     const struct in6_addr *addr)
{
	struct srpol_sid *sid, *found = NULL;

	hash_for_each_possible(sn->sid_hash, sid, node, srpol_sid_hash(addr)) {
		if (sid->change.gone || !ipv6_addr_equal(&sid->sid, addr))
			continue;
		if (found)
			return NULL;
		found = sid;
	}
	return found;
}

/**
 * srpol_sid_reason() - why the adjacency of a SID is not up
 * @sid: the SID
 */
enum srpol_path_reason srpol_sid_reason(const struct srpol_sid *sid)
{
	if (!sid->cfg.ifindex)
		return SRPOL_PATH_REASON_NONE;
	return sid->nh ? READ_ONCE(sid->nh->reason) :
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
	srpol_change_init(&sid->change, SRPOL_KIND_SID);
	sid->change.created = true;
	sid->sid = *addr;
	sid->prefix_len = len;
	err = xa_alloc(&sn->sids, &sid->id, sid,
		       XA_LIMIT(1, sn->limits.sids - 1), GFP_KERNEL_ACCOUNT);
	if (err) {
		if (err == -EBUSY)
			err = srpol_dp_err(sn, -ENOSPC, "SID",
					   sn->limits.sids - 1, extack);
		kfree(sid);
		return ERR_PTR(err);
	}
	hash_add(sn->sid_hash, &sid->node, srpol_sid_hash(addr));
	sn->n_sids++;
	return sid;
}

static void srpol_sid_use_nexthop(struct srpol_sid *sid,
				  struct srpol_nexthop *nh)
{
	if (sid->nh)
		list_del(&sid->nh_node);
	sid->nh = nh;
	if (nh)
		list_add_tail(&sid->nh_node, &nh->sids);
}

static void srpol_sid_free(struct srpol_net *sn, struct srpol_sid *sid)
{
	struct srpol_nexthop *nh = sid->nh;

	srpol_sid_use_nexthop(sid, NULL);
	srpol_nexthop_put(sn, nh);
	hash_del(&sid->node);
	xa_erase(&sn->sids, sid->id);
	sn->n_sids--;
	kfree(sid);
}

static void srpol_sid_save(struct srpol_net *sn, struct srpol_sid *sid)
{
	srpol_txn_touch(sn, &sid->change);
	if (sid->change.created || sid->change.saved)
		return;
	sid->old = sid->cfg;
	sid->change.saved = true;
}

/**
 * srpol_sid_set_cfg() - create or redefine a SID
 * @sn: namespace, locked, in a transaction
 * @addr: which one
 * @len: which one
 * @cfg: what it will be
 * @extack: for a refusal
 *
 * Return: 0 or a negative errno.
 */
int srpol_sid_set_cfg(struct srpol_net *sn, const struct in6_addr *addr,
		      u32 len, const struct srpol_sid_cfg *cfg,
		      struct netlink_ext_ack *extack)
{
	struct srpol_sid *sid;

	lockdep_assert_held(&sn->lock);
	sid = srpol_sid_lookup(sn, addr, len) ?:
	      srpol_sid_alloc(sn, addr, len, extack);
	if (IS_ERR(sid))
		return PTR_ERR(sid);
	srpol_sid_save(sn, sid);
	sid->change.gone = false;
	sid->cfg = *cfg;
	return 0;
}

/**
 * srpol_sid_delete() - a SID is not wanted any more
 * @sn: namespace, locked, in a transaction
 * @sid: the SID
 */
void srpol_sid_delete(struct srpol_net *sn, struct srpol_sid *sid)
{
	srpol_sid_save(sn, sid);
	sid->change.gone = true;
}

static struct srpol_dp_sid srpol_sid_to_dp(const struct srpol_sid *sid)
{
	struct srpol_dp_sid dp = {
		.id = sid->id,
		.behavior = sid->cfg.behavior,
		.prefix_len = sid->prefix_len,
		.block_len = sid->cfg.block_len,
		.nexthop = sid->nh ? sid->nh->id : 0,
	};

	memcpy(dp.sid, &sid->sid, sizeof(dp.sid));
	memcpy(dp.l2, sid->l2, sizeof(dp.l2));
	return dp;
}

/* Addresses towards the next hop; those known last while it is not up. */
static bool srpol_sid_address(struct srpol_net *sn, struct srpol_sid *sid)
{
	u8 l2[sizeof(sid->l2)] = {};

	if (sid->nh) {
		spin_lock_bh(&sn->state_lock);
		ether_addr_copy(l2, sid->nh->lladdr);
		ether_addr_copy(l2 + ETH_ALEN, sid->nh->smac);
		spin_unlock_bh(&sn->state_lock);
	}
	if (!memcmp(sid->l2, l2, sizeof(l2)))
		return false;
	memcpy(sid->l2, l2, sizeof(l2));
	return true;
}

static int srpol_sid_push(struct srpol_net *sn, struct srpol_sid *sid)
{
	struct srpol_dp_sid dp;

	srpol_sid_address(sn, sid);
	dp = srpol_sid_to_dp(sid);
	return srpol_dp_call(sn, sid_set, &dp);
}

/* The next hop of the adjacency, NULL if there is none, or an ERR_PTR. */
static struct srpol_nexthop *srpol_sid_resolve(struct srpol_net *sn,
					       const struct srpol_sid *sid,
					       struct netlink_ext_ack *extack)
{
	struct srpol_nexthop *nh;
	netdevice_tracker tracker;
	struct net_device *dev;

	if (!sid->cfg.ifindex)
		return NULL;
	dev = netdev_get_by_index(sn->net, sid->cfg.ifindex, &tracker,
				  GFP_KERNEL);
	if (!dev)
		return NULL;
	nh = srpol_nexthop_get(sn, dev, &sid->cfg.via, extack);
	netdev_put(dev, &tracker);
	return nh;
}

static bool srpol_sid_same(struct srpol_net *sn, const void *obj)
{
	const struct srpol_sid *sid = obj;

	return !memcmp(&sid->cfg, &sid->old, sizeof(sid->cfg));
}

static int srpol_sid_stage(struct srpol_net *sn, struct srpol_change *change,
			   struct netlink_ext_ack *extack)
{
	struct srpol_sid *sid = container_of(change, struct srpol_sid, change);
	struct srpol_nexthop *nh;
	int err;

	if (change->gone)
		return 0;
	nh = srpol_sid_resolve(sn, sid, extack);
	if (IS_ERR(nh))
		return PTR_ERR(nh);
	/* the id may have been in use a moment ago */
	if (change->created)
		srpol_dp_wait_gp(sn, sn->del_gp);
	/* the old next hop keeps its reference until it is known who wins */
	sid->old_nh = sid->nh;
	srpol_sid_use_nexthop(sid, nh);
	err = srpol_sid_push(sn, sid);
	if (!err) {
		change->staged = true;
		return 0;
	}
	srpol_sid_use_nexthop(sid, sid->old_nh);
	srpol_sid_address(sn, sid);
	sid->old_nh = NULL;
	srpol_nexthop_put(sn, nh);
	return srpol_dp_err(sn, err, "SID", sn->limits.sids - 1, extack);
}

static void srpol_sid_commit(struct srpol_net *sn, struct srpol_change *change)
{
	struct srpol_sid *sid = container_of(change, struct srpol_sid, change);

	if (change->staged)
		srpol_nexthop_put(sn, sid->old_nh);
	sid->old_nh = NULL;
}

static void srpol_sid_abort(struct srpol_net *sn, struct srpol_change *change)
{
	struct srpol_sid *sid = container_of(change, struct srpol_sid, change);
	struct srpol_nexthop *nh = sid->nh;
	struct srpol_dp_sid dp;

	if (change->saved)
		sid->cfg = sid->old;
	if (change->staged) {
		srpol_sid_use_nexthop(sid, sid->old_nh);
		sid->old_nh = NULL;
		if (!change->created) {
			srpol_sid_push(sn, sid);
		} else {
			dp = srpol_sid_to_dp(sid);
			srpol_dp_call(sn, sid_del, &dp);
			sn->del_gp = get_state_synchronize_rcu();
		}
		srpol_nexthop_put(sn, nh);
	}
	if (change->created)
		srpol_sid_free(sn, sid);
}

static void srpol_sid_remove(struct srpol_net *sn, struct srpol_change *change)
{
	struct srpol_sid *sid = container_of(change, struct srpol_sid, change);
	const struct srpol_dp_sid dp = srpol_sid_to_dp(sid);

	srpol_dp_call(sn, sid_del, &dp);
	srpol_sid_free(sn, sid);
}

const struct srpol_change_ops srpol_sid_change_ops = {
	.same		= srpol_sid_same,
	.stage		= srpol_sid_stage,
	.commit		= srpol_sid_commit,
	.abort		= srpol_sid_abort,
	.remove		= srpol_sid_remove,
	.fill		= srpol_sid_fill,
	.offset		= offsetof(struct srpol_sid, change),
	.ntf		= SRPOL_CMD_SID_NTF,
	.del_ntf	= SRPOL_CMD_SID_DEL_NTF,
};

/**
 * srpol_sid_refresh() - the next hop of a SID was looked at
 * @sn: namespace, locked, no SID is staged
 * @sid: the SID
 *
 * The data plane watches the next hop; the addresses are part of the SID.
 */
void srpol_sid_refresh(struct srpol_net *sn, struct srpol_sid *sid)
{
	struct srpol_dp_sid dp;

	if (!srpol_sid_address(sn, sid))
		return;
	dp = srpol_sid_to_dp(sid);
	srpol_dp_call(sn, sid_set, &dp);
}

/**
 * srpol_sid_refresh_dev() - a device is there: SIDs may have waited for it
 * @sn: namespace, locked, no SID is staged
 * @dev: the device
 */
void srpol_sid_refresh_dev(struct srpol_net *sn, const struct net_device *dev)
{
	struct srpol_nexthop *nh;
	struct srpol_sid *sid;
	unsigned long id;

	xa_for_each(&sn->sids, id, sid) {
		if (sid->nh || sid->cfg.ifindex != dev->ifindex)
			continue;
		nh = srpol_sid_resolve(sn, sid, NULL);
		if (IS_ERR_OR_NULL(nh))
			continue;
		srpol_sid_use_nexthop(sid, nh);
		srpol_sid_push(sn, sid);
	}
}

/**
 * srpol_sid_detach_nexthop() - the device of an adjacency is gone
 * @sn: namespace, locked, no SID is staged
 * @sid: the SID
 */
void srpol_sid_detach_nexthop(struct srpol_net *sn, struct srpol_sid *sid)
{
	struct srpol_nexthop *nh = sid->nh;

	srpol_sid_use_nexthop(sid, NULL);
	srpol_sid_push(sn, sid);
	srpol_nexthop_put(sn, nh);
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
		err = srpol_sid_push(sn, sid);
		if (err)
			return err;
	}
	return 0;
}

/**
 * srpol_sid_flush() - free all local SIDs of a dying namespace
 * @sn: namespace, locked, without a data plane
 */
void srpol_sid_flush(struct srpol_net *sn)
{
	struct srpol_sid *sid;
	unsigned long id;

	xa_for_each(&sn->sids, id, sid)
		srpol_sid_free(sn, sid);
	xa_destroy(&sn->sids);
}
