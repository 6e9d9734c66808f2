// SPDX-License-Identifier: GPL-2.0
/*
 * Next hops: the neighbours that paths leave through. One object per device
 * and address, shared by the paths, so that a lost link or neighbour is one
 * store in the data plane however many paths use it.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/jhash.h>
#include <net/ipv6.h>

#include "srpol.h"

static u32 srpol_nexthop_hash(int ifindex, const struct in6_addr *addr)
{
	return jhash(addr, sizeof(*addr), ifindex);
}

/**
 * srpol_nexthop_find() - look a next hop up
 * @sn: namespace; @sn->state_lock or @sn->lock is held
 * @ifindex: egress device
 * @addr: neighbour
 */
struct srpol_nexthop *srpol_nexthop_find(struct srpol_net *sn, int ifindex,
					 const struct in6_addr *addr)
{
	struct srpol_nexthop *nh;

	hash_for_each_possible(sn->nexthops, nh, node,
			       srpol_nexthop_hash(ifindex, addr))
		if (nh->ifindex == ifindex &&
		    ipv6_addr_equal(&nh->addr, addr))
			return nh;
	return NULL;
}

/**
 * srpol_nexthop_push() - tell the data plane about a next hop
 * @sn: namespace; @sn->state_lock is held
 * @nh: next hop
 */
int srpol_nexthop_push(struct srpol_net *sn, const struct srpol_nexthop *nh)
{
	const struct srpol_dp_nexthop dnh = {
		.id = nh->id,
		.ifindex = nh->ifindex,
		.up = nh->up,
	};

	lockdep_assert_held(&sn->state_lock);
	return srpol_dp_call(sn, nexthop_set, &dnh);
}

/*
 * State of the neighbour: none if it can be sent to, else why not. One that
 * failed is asked again all the time and has failed until it answers.
 */
static enum srpol_path_reason
srpol_neigh_state(const struct srpol_nexthop *nh, struct neighbour *n,
		  u8 *lladdr)
{
	u8 nud = READ_ONCE(n->nud_state);

	if (nud & NUD_VALID) {
		neigh_ha_snapshot(lladdr, n, n->dev);
		return SRPOL_PATH_REASON_NONE;
	}
	return nud & NUD_FAILED ||
	       nh->reason == SRPOL_PATH_REASON_NEIGHBOUR_FAILED ?
	       SRPOL_PATH_REASON_NEIGHBOUR_FAILED :
	       SRPOL_PATH_REASON_NEIGHBOUR_UNRESOLVED;
}

static enum srpol_path_reason srpol_dev_state(const struct net_device *dev)
{
	if (dev->type != ARPHRD_ETHER)
		return SRPOL_PATH_REASON_DEVICE_TYPE;
	if (!netif_running(dev) || !netif_carrier_ok(dev))
		return SRPOL_PATH_REASON_DEVICE_DOWN;
	return SRPOL_PATH_REASON_NONE;
}

/**
 * srpol_nexthop_update() - bring a next hop in line with device and neighbour
 * @sn: namespace, locked
 * @nh: next hop that has a device
 *
 * Starts resolution of a neighbour that is not known.
 *
 * Return: true if paths have to look at it again.
 */
bool srpol_nexthop_update(struct srpol_net *sn, struct srpol_nexthop *nh)
{
	struct net_device *dev = nh->dev;
	enum srpol_path_reason reason;
	struct neighbour *n = NULL;
	u8 lladdr[MAX_ADDR_LEN] __aligned(2) = {};
	bool up, changed;

	lockdep_assert_held(&sn->lock);
	reason = srpol_dev_state(dev);
	if (!reason) {
		n = srpol_neigh_get(dev, &nh->addr);
		if (IS_ERR(n)) {
			n = NULL;
			reason = SRPOL_PATH_REASON_NO_RESOURCES;
		}
	}

	spin_lock_bh(&sn->state_lock);
	/* in here, or a loss that was heard of meanwhile would be undone */
	if (n)
		reason = srpol_neigh_state(nh, n, lladdr);
	up = !reason;
	changed = nh->up != up || nh->reason != reason ||
		  !ether_addr_equal(nh->smac, dev->dev_addr) ||
		  (up && !ether_addr_equal(nh->lladdr, lladdr));
	nh->reason = reason;
	ether_addr_copy(nh->smac, dev->dev_addr);
	if (up)
		ether_addr_copy(nh->lladdr, lladdr);
	if (nh->up != up) {
		nh->up = up;
		srpol_nexthop_push(sn, nh);
	}
	nh->dirty = false;
	spin_unlock_bh(&sn->state_lock);

	if (n) {
		if (!up)
			neigh_event_send(n, NULL);
		neigh_release(n);
	}
	return changed;
}

/**
 * srpol_nexthop_get() - the next hop for a device and address
 * @sn: namespace, locked
 * @dev: egress device
 * @addr: neighbour
 * @extack: for a full table, may be NULL
 *
 * Return: a referenced next hop or an ERR_PTR.
 */
struct srpol_nexthop *srpol_nexthop_get(struct srpol_net *sn,
					struct net_device *dev,
					const struct in6_addr *addr,
					struct netlink_ext_ack *extack)
{
	struct srpol_nexthop *nh;
	int err;

	lockdep_assert_held(&sn->lock);
	nh = srpol_nexthop_find(sn, dev->ifindex, addr);
	if (nh) {
		nh->refs++;
		return nh;
	}
	nh = kzalloc(sizeof(*nh), GFP_KERNEL_ACCOUNT);
	if (!nh)
		return ERR_PTR(-ENOMEM);
	err = xa_alloc(&sn->nexthop_ids, &nh->id, nh,
		       XA_LIMIT(1, sn->limits.nexthops - 1),
		       GFP_KERNEL_ACCOUNT);
	if (err) {
		if (err == -EBUSY)
			err = srpol_dp_err(sn, -ENOSPC, "next hop",
					   sn->limits.nexthops - 1, extack);
		goto err_free;
	}
	nh->refs = 1;
	nh->ifindex = dev->ifindex;
	nh->addr = *addr;
	nh->reason = SRPOL_PATH_REASON_NEIGHBOUR_UNRESOLVED;
	INIT_LIST_HEAD(&nh->paths);
	INIT_LIST_HEAD(&nh->sids);

	srpol_dp_wait_gp(sn, sn->del_gp);
	spin_lock_bh(&sn->state_lock);
	err = srpol_nexthop_push(sn, nh);
	if (!err)
		hash_add(sn->nexthops, &nh->node,
			 srpol_nexthop_hash(nh->ifindex, addr));
	spin_unlock_bh(&sn->state_lock);
	if (err) {
		srpol_dp_err(sn, err, "next hop", sn->limits.nexthops - 1,
			     extack);
		goto err_id;
	}
	nh->dev = dev;
	netdev_hold(dev, &nh->dev_tracker, GFP_KERNEL);
	/* the tick keeps the neighbours confirmed, also those of SIDs alone */
	if (!sn->n_nexthops++)
		srpol_events_retry_at(sn, HZ);
	srpol_nexthop_update(sn, nh);
	return nh;

err_id:
	xa_erase(&sn->nexthop_ids, nh->id);
err_free:
	kfree(nh);
	return ERR_PTR(err);
}

/**
 * srpol_nexthop_put() - give a next hop back
 * @sn: namespace, locked
 * @nh: next hop, or NULL
 */
void srpol_nexthop_put(struct srpol_net *sn, struct srpol_nexthop *nh)
{
	lockdep_assert_held(&sn->lock);
	if (!nh || --nh->refs)
		return;
	spin_lock_bh(&sn->state_lock);
	hash_del(&nh->node);
	spin_unlock_bh(&sn->state_lock);
	srpol_dp_call(sn, nexthop_del, nh->id);
	sn->del_gp = get_state_synchronize_rcu();
	xa_erase(&sn->nexthop_ids, nh->id);
	sn->n_nexthops--;
	netdev_put(nh->dev, &nh->dev_tracker);
	kfree(nh);
}

/**
 * srpol_nexthop_neigh_event() - a neighbour changed
 * @sn: namespace
 * @n: the neighbour
 *
 * May run in softirq. A lost neighbour takes the next hop out of forwarding
 * here and now; everything else is left to the work item.
 */
void srpol_nexthop_neigh_event(struct srpol_net *sn, struct neighbour *n)
{
	enum srpol_path_reason reason;
	u8 lladdr[MAX_ADDR_LEN] __aligned(2) = {};
	struct srpol_nexthop *nh;
	struct in6_addr addr;
	bool up;

	if (!srpol_neigh_addr(n, &addr))
		return;
	spin_lock_bh(&sn->state_lock);
	nh = srpol_nexthop_find(sn, n->dev->ifindex, &addr);
	if (!nh)
		goto out;
	reason = srpol_neigh_state(nh, n, lladdr);
	up = !reason;
	if (nh->up && !up) {
		nh->up = false;
		nh->reason = reason;
		srpol_nexthop_push(sn, nh);
		nh->dirty = true;
	} else if (up && (!nh->up || !ether_addr_equal(nh->lladdr, lladdr))) {
		nh->dirty = true;
	} else if (!up && nh->reason != reason) {
		nh->dirty = true;
	}
	if (nh->dirty)
		srpol_events_kick(sn);
out:
	spin_unlock_bh(&sn->state_lock);
}

/**
 * srpol_nexthop_refresh() - look at next hops and those that use them
 * @sn: namespace, locked, in a transaction
 * @dev: only those of this device; NULL: only those marked dirty
 *
 * Packets leave a dead device here; the paths are resolved again later in the
 * transaction.
 */
void srpol_nexthop_refresh(struct srpol_net *sn, const struct net_device *dev)
{
	struct srpol_nexthop *nh;
	struct srpol_path *path;
	struct srpol_sid *sid;
	unsigned long id;

	lockdep_assert_held(&sn->lock);
	xa_for_each(&sn->nexthop_ids, id, nh) {
		if (dev ? nh->dev != dev : !READ_ONCE(nh->dirty))
			continue;
		srpol_nexthop_update(sn, nh);
		/* packets leave it now, the rest must not keep them waiting */
		list_for_each_entry(path, &nh->paths, nh_node) {
			srpol_path_refresh(sn, path);
			cond_resched();
		}
		list_for_each_entry(sid, &nh->sids, nh_node)
			srpol_sid_refresh(sn, sid);
	}
}

/**
 * srpol_nexthop_dev_leave() - a device is about to go down
 * @sn: namespace, locked
 * @dev: the device
 *
 * Packets leave it before it drops them; all else follows when it is down.
 */
void srpol_nexthop_dev_leave(struct srpol_net *sn,
			     const struct net_device *dev)
{
	struct srpol_nexthop *nh;
	unsigned long id;

	lockdep_assert_held(&sn->lock);
	xa_for_each(&sn->nexthop_ids, id, nh) {
		if (nh->dev != dev)
			continue;
		spin_lock_bh(&sn->state_lock);
		if (nh->up) {
			nh->up = false;
			nh->reason = SRPOL_PATH_REASON_DEVICE_DOWN;
			srpol_nexthop_push(sn, nh);
		}
		spin_unlock_bh(&sn->state_lock);
	}
}

/**
 * srpol_nexthop_dev_gone() - a device disappears
 * @sn: namespace, locked, in a transaction
 * @dev: the device, which can not be found any more
 *
 * Its paths and SIDs look for another next hop; that gives back all
 * references to the device.
 */
void srpol_nexthop_dev_gone(struct srpol_net *sn, const struct net_device *dev)
{
	struct srpol_path *path, *next;
	struct srpol_sid *sid, *tmp;
	struct srpol_nexthop *nh;
	unsigned long id;

	lockdep_assert_held(&sn->lock);
	xa_for_each(&sn->nexthop_ids, id, nh) {
		if (nh->dev != dev)
			continue;
		/* the last user would free it */
		nh->refs++;
		list_for_each_entry_safe(path, next, &nh->paths, nh_node) {
			srpol_path_detach_nexthop(sn, path);
			srpol_path_refresh(sn, path);
		}
		list_for_each_entry_safe(sid, tmp, &nh->sids, nh_node)
			srpol_sid_detach_nexthop(sn, sid);
		srpol_nexthop_put(sn, nh);
	}
}

/**
 * srpol_nexthop_solicit() - keep the neighbours in use confirmed
 * @sn: namespace, locked
 *
 * The data plane goes around the neighbour table, so the kernel sees no use
 * of these entries and would neither probe nor resolve them.
 */
void srpol_nexthop_solicit(struct srpol_net *sn)
{
	struct srpol_nexthop *nh;
	struct neighbour *n;
	unsigned long id;

	lockdep_assert_held(&sn->lock);
	xa_for_each(&sn->nexthop_ids, id, nh) {
		if (srpol_dev_state(nh->dev))
			continue;
		n = srpol_neigh_get(nh->dev, &nh->addr);
		if (IS_ERR(n))
			continue;
		neigh_event_send(n, NULL);
		neigh_release(n);
	}
}
