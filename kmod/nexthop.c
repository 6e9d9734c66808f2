// SPDX-License-Identifier: GPL-2.0
/*
 * Next hops: the neighbors through which paths leave. There is one object per
 * device and address, shared by the paths, so that a lost link or neighbor is
 * one store in the data plane however many paths use it.
 *
 * Notifiers mark a next hop down under srpol_net.state_lock, which is the only
 * lock that the reaction to a failure waits for, and put it on a list; the work
 * resolves its paths later.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/rhashtable.h>
#include <net/arp.h>
#include <net/ipv6.h>
#include <net/ndisc.h>

#include "dataplane.h"
#include "nexthop.h"
#include "queue.h"

#define SRPOL_ASK_DELAY	(HZ / 10)

static const struct rhashtable_params srpol_nexthop_params = {
	.head_offset = offsetof(struct srpol_nexthop, node),
	.key_offset = offsetof(struct srpol_nexthop, key),
	.key_len = sizeof(struct srpol_nexthop_key),
	.automatic_shrinking = true,
};

int srpol_nexthop_init(struct srpol_net *sn)
{
	return rhashtable_init(&sn->nexthop_keys, &srpol_nexthop_params);
}

void srpol_nexthop_exit(struct srpol_net *sn)
{
	rhashtable_destroy(&sn->nexthop_keys);
}

/*
 * The neighbor entry of an address. All neighbors are IPv6 but those of
 * End.DX4.
 */
static struct neighbour *srpol_neigh_get(struct net_device *dev,
					 const struct in6_addr *addr)
{
	struct neigh_table *tbl = &nd_tbl;
	const void *key = addr;
	struct neighbour *n;

	if (ipv6_addr_v4mapped(addr)) {
		tbl = &arp_tbl;
		key = &addr->s6_addr32[3];
	}
	n = neigh_lookup(tbl, key, dev);
	return n ?: neigh_create(tbl, key, dev);
}

/* The key of a neighbor. Return: false if it is of another address family. */
static bool srpol_neigh_key(const struct neighbour *n,
			    struct srpol_nexthop_key *key)
{
	key->ifindex = n->dev->ifindex;
	if (n->tbl == &nd_tbl)
		memcpy(&key->addr, n->primary_key, sizeof(key->addr));
	else if (n->tbl == &arp_tbl)
		ipv6_addr_set_v4mapped(*(const __be32 *)n->primary_key,
				       &key->addr);
	else
		return false;
	return true;
}

/*
 * Has the kernel asked the neighbor in vain? An entry that the operator deletes
 * or sets to failed looks the same, but has not been probed as often.
 */
static bool srpol_neigh_gave_up(const struct srpol_nexthop *nh,
				const struct neighbour *n, u8 nud)
{
	const struct neigh_parms *p = n->parms;
	int max = NEIGH_VAR(p, UCAST_PROBES) + NEIGH_VAR(p, APP_PROBES);

	max += nh->probing ? NEIGH_VAR(p, MCAST_REPROBES) :
			     NEIGH_VAR(p, MCAST_PROBES);
	return nud & NUD_FAILED && atomic_read(&n->probes) >= max;
}

/*
 * State of a neighbor: none if packets can be sent to it, else the reason why
 * not. A neighbor that is being asked again keeps the address that it had until
 * it fails. One that has failed is asked all the time, and counts as failed
 * until it answers.
 */
static enum srpol_path_reason
srpol_neigh_state(struct srpol_nexthop *nh, struct neighbour *n)
{
	u8 nud = READ_ONCE(n->nud_state);

	if (n->dead)
		nud = NUD_NONE;
	if (nud & NUD_VALID) {
		nh->probing = nud & NUD_PROBE;
		return SRPOL_PATH_REASON_NONE;
	}
	if (nh->up && !srpol_neigh_gave_up(nh, n, nud)) {
		nh->probing = false;
		return SRPOL_PATH_REASON_NONE;
	}
	return nud & NUD_FAILED ||
	       nh->reason == SRPOL_PATH_REASON_NEIGHBOR_FAILED ?
	       SRPOL_PATH_REASON_NEIGHBOR_FAILED :
	       SRPOL_PATH_REASON_NEIGHBOR_UNRESOLVED;
}

static enum srpol_path_reason srpol_dev_state(const struct net_device *dev)
{
	if (dev->type != ARPHRD_ETHER)
		return SRPOL_PATH_REASON_DEVICE_TYPE;
	if (!netif_running(dev) || !netif_carrier_ok(dev))
		return SRPOL_PATH_REASON_DEVICE_DOWN;
	return SRPOL_PATH_REASON_NONE;
}

/*
 * Is a device still in the namespace? Once it is not, its removal is announced
 * later, so that what is stored under @state_lock while it was present is found
 * and released by srpol_nexthop_dev_gone().
 */
static bool srpol_dev_present(struct srpol_net *sn,
			      const struct net_device *dev)
{
	bool present;

	rcu_read_lock();
	present = dev_get_by_index_rcu(sn->net, dev->ifindex) == dev;
	rcu_read_unlock();
	return present;
}

/* Tell the data plane about a next hop. */
static int srpol_nexthop_push(struct srpol_net *sn,
			      const struct srpol_nexthop *nh)
{
	const struct srpol_dp_nexthop dnh = {
		.id = nh->id,
		.ifindex = nh->key.ifindex,
		.up = nh->up,
	};

	lockdep_assert_held(&sn->state_lock);
	return srpol_dp_call(sn, nexthop_set, &dnh);
}

static void srpol_nexthop_mark(struct srpol_net *sn, struct srpol_nexthop *nh)
{
	lockdep_assert_held(&sn->state_lock);
	if (list_empty(&nh->stale))
		list_add_tail(&nh->stale, &sn->stale_nexthops);
}

/* Set the state, and tell the data plane at once. */
static void srpol_nexthop_set_state(struct srpol_net *sn,
				    struct srpol_nexthop *nh,
				    enum srpol_path_reason reason)
{
	bool up = !reason;

	lockdep_assert_held(&sn->state_lock);
	WRITE_ONCE(nh->reason, reason);
	if (nh->up != up) {
		nh->up = up;
		srpol_nexthop_push(sn, nh);
	}
}

/* Ensure that the next hop has a neighbor entry that is not dead. */
static void srpol_nexthop_find_neigh(struct srpol_net *sn,
				     struct srpol_nexthop *nh,
				     struct net_device *dev)
{
	struct neighbour *n;

	lockdep_assert_held(&sn->lock);
	spin_lock_bh(&sn->state_lock);
	n = nh->neigh && !nh->neigh->dead ? nh->neigh : NULL;
	spin_unlock_bh(&sn->state_lock);
	if (n)
		return;
	n = srpol_neigh_get(dev, &nh->key.addr);
	if (IS_ERR(n))
		return;
	spin_lock_bh(&sn->state_lock);
	/* once it is gone, nobody would drop the reference for the next device */
	if (!nh->gone && srpol_dev_present(sn, dev))
		swap(nh->neigh, n);
	spin_unlock_bh(&sn->state_lock);
	if (n)
		neigh_release(n);
}

/*
 * Update the next hop from device and neighbor. Return: do its paths have to
 * follow?
 */
static bool srpol_nexthop_compare(struct srpol_net *sn,
				  struct srpol_nexthop *nh,
				  const struct net_device *dev,
				  struct neighbour **ask)
{
	u8 lladdr[MAX_ADDR_LEN] __aligned(2) = {};
	struct neighbour *n = nh->neigh;
	enum srpol_path_reason reason;
	bool changed;

	lockdep_assert_held(&sn->state_lock);
	reason = nh->leaving ? SRPOL_PATH_REASON_DEVICE_DOWN :
			       srpol_dev_state(dev);
	if (!reason && n)
		reason = srpol_neigh_state(nh, n);
	else if (!reason && !nh->up)
		reason = SRPOL_PATH_REASON_NO_RESOURCES;
	changed = nh->reason != reason ||
		  !ether_addr_equal(nh->smac, dev->dev_addr);
	ether_addr_copy(nh->smac, dev->dev_addr);
	if (n && !n->dead && READ_ONCE(n->nud_state) & NUD_VALID) {
		neigh_ha_snapshot(lladdr, n, dev);
		changed |= !ether_addr_equal(nh->lladdr, lladdr);
		ether_addr_copy(nh->lladdr, lladdr);
	} else if (n && !srpol_dev_state(dev)) {
		*ask = neigh_clone(n);
	}
	srpol_nexthop_set_state(sn, nh, reason);
	return changed;
}

/**
 * srpol_nexthop_update() - update a next hop from its device and neighbor
 * @sn: namespace, locked
 * @nh: next hop
 *
 * Starts the resolution of a neighbor that is not known.
 *
 * Return: true if its paths have to follow.
 */
bool srpol_nexthop_update(struct srpol_net *sn, struct srpol_nexthop *nh)
{
	struct neighbour *ask = NULL;
	netdevice_tracker tracker;
	struct net_device *dev;
	bool changed = false;

	lockdep_assert_held(&sn->lock);
	dev = netdev_get_by_index(sn->net, nh->key.ifindex, &tracker,
				  GFP_KERNEL);
	if (!dev)	/* the device is gone, or about to be */
		return false;
	if (!srpol_dev_state(dev))
		srpol_nexthop_find_neigh(sn, nh, dev);
	/* under the lock, or a loss reported meanwhile would be undone */
	spin_lock_bh(&sn->state_lock);
	if (!nh->gone)
		changed = srpol_nexthop_compare(sn, nh, dev, &ask);
	spin_unlock_bh(&sn->state_lock);
	if (ask) {
		neigh_event_send(ask, NULL);
		neigh_release(ask);
	}
	netdev_put(dev, &tracker);
	return changed;
}

/*
 * Remove it from the table, so that no look-up and no event finds it any more.
 */
static void srpol_nexthop_unlink(struct srpol_net *sn,
				 struct srpol_nexthop *nh)
{
	lockdep_assert_held(&sn->state_lock);
	if (!nh->gone)
		rhashtable_remove_fast(&sn->nexthop_keys, &nh->node,
				       srpol_nexthop_params);
	WRITE_ONCE(nh->gone, true);
}

static int srpol_nexthop_link(struct srpol_net *sn, struct srpol_nexthop *nh,
			      const struct net_device *dev)
{
	int err = -ENODEV;

	spin_lock_bh(&sn->state_lock);
	if (srpol_dev_present(sn, dev))
		err = rhashtable_insert_fast(&sn->nexthop_keys, &nh->node,
					     srpol_nexthop_params);
	if (err)
		goto out;
	err = srpol_nexthop_push(sn, nh);
	if (err)
		rhashtable_remove_fast(&sn->nexthop_keys, &nh->node,
				       srpol_nexthop_params);
	else
		list_add_tail(&nh->list, &sn->nexthops);
out:
	spin_unlock_bh(&sn->state_lock);
	return err;
}

/**
 * srpol_nexthop_get() - the next hop for a device and address
 * @sn: namespace, locked
 * @dev: egress device
 * @addr: neighbor
 * @extack: for a full table, may be NULL
 *
 * Return: a referenced next hop or an ERR_PTR; -ENODEV if the device
 * disappeared.
 */
struct srpol_nexthop *srpol_nexthop_get(struct srpol_net *sn,
					struct net_device *dev,
					const struct in6_addr *addr,
					struct netlink_ext_ack *extack)
{
	const struct srpol_nexthop_key key = {
		.ifindex = dev->ifindex,
		.addr = *addr,
	};
	struct srpol_nexthop *nh;
	int err;

	lockdep_assert_held(&sn->lock);
	nh = rhashtable_lookup_fast(&sn->nexthop_keys, &key,
				    srpol_nexthop_params);
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
			err = srpol_dp_err(-ENOSPC, "next hop",
					   sn->limits.nexthops - 1, extack);
		goto err_free;
	}
	nh->refs = 1;
	nh->key = key;
	nh->reason = SRPOL_PATH_REASON_NEIGHBOR_UNRESOLVED;
	INIT_LIST_HEAD(&nh->stale);
	INIT_LIST_HEAD(&nh->paths);
	INIT_LIST_HEAD(&nh->sids);

	srpol_dp_wait_gp(sn, sn->del_gp);
	err = srpol_nexthop_link(sn, nh, dev);
	if (err) {
		if (err != -ENODEV)
			srpol_dp_err(err, "next hop",
				     sn->limits.nexthops - 1, extack);
		goto err_id;
	}
	/* SIDs alone have next hops, too, which the tick keeps confirmed */
	if (!sn->n_nexthops++)
		srpol_queue_tick(sn, HZ);
	srpol_nexthop_update(sn, nh);
	return nh;

err_id:
	xa_erase(&sn->nexthop_ids, nh->id);
err_free:
	kfree(nh);
	return ERR_PTR(err);
}

/**
 * srpol_nexthop_put() - release a reference to a next hop
 * @sn: namespace, locked
 * @nh: next hop, or NULL
 */
void srpol_nexthop_put(struct srpol_net *sn, struct srpol_nexthop *nh)
{
	struct neighbour *n;

	lockdep_assert_held(&sn->lock);
	if (!nh || --nh->refs)
		return;
	spin_lock_bh(&sn->state_lock);
	srpol_nexthop_unlink(sn, nh);
	list_del(&nh->list);
	list_del(&nh->stale);
	n = nh->neigh;
	spin_unlock_bh(&sn->state_lock);
	if (n)
		neigh_release(n);
	srpol_dp_call(sn, nexthop_del, nh->id);
	sn->del_gp = get_state_synchronize_rcu();
	xa_erase(&sn->nexthop_ids, nh->id);
	sn->n_nexthops--;
	kfree(nh);
}

/**
 * srpol_nexthop_take_stale() - take a next hop that changed, for the work
 * @sn: namespace, locked
 *
 * Return: a next hop, removed from the list of those that changed, or NULL.
 */
struct srpol_nexthop *srpol_nexthop_take_stale(struct srpol_net *sn)
{
	struct srpol_nexthop *nh;

	lockdep_assert_held(&sn->lock);
	spin_lock_bh(&sn->state_lock);
	nh = list_first_entry_or_null(&sn->stale_nexthops,
				      struct srpol_nexthop, stale);
	if (nh)
		list_del_init(&nh->stale);
	spin_unlock_bh(&sn->state_lock);
	return nh;
}

/**
 * srpol_nexthop_neigh_event() - a neighbor changed
 * @sn: namespace
 * @n: the neighbor
 *
 * May run in softirq. A lost neighbor takes the next hop out of forwarding at
 * once; everything else is left to the work.
 *
 * Return: is there anything for the work to do?
 */
bool srpol_nexthop_neigh_event(struct srpol_net *sn, struct neighbour *n)
{
	u8 lladdr[MAX_ADDR_LEN] __aligned(2) = {};
	enum srpol_path_reason reason;
	struct srpol_nexthop_key key;
	struct srpol_nexthop *nh;
	bool stale = false;

	if (!srpol_neigh_key(n, &key))
		return false;
	spin_lock_bh(&sn->state_lock);
	nh = rhashtable_lookup_fast(&sn->nexthop_keys, &key,
				    srpol_nexthop_params);
	if (!nh)
		goto out;
	/* if it is the operator who deleted it, the tick asks it again */
	if (READ_ONCE(n->nud_state) & NUD_FAILED)
		__srpol_queue_tick(sn, SRPOL_ASK_DELAY);
	/*
	 * another entry than the one in use: the work finds out which one is
	 * valid
	 */
	if (nh->neigh != n) {
		srpol_nexthop_mark(sn, nh);
		goto marked;
	}
	reason = srpol_neigh_state(nh, n);
	if (reason) {
		if (nh->reason != reason)
			srpol_nexthop_mark(sn, nh);
		if (nh->up)
			srpol_nexthop_set_state(sn, nh, reason);
	} else if (READ_ONCE(n->nud_state) & NUD_VALID) {
		neigh_ha_snapshot(lladdr, n, n->dev);
		if (!nh->up || !ether_addr_equal(nh->lladdr, lladdr))
			srpol_nexthop_mark(sn, nh);
	}
marked:
	stale = !list_empty(&nh->stale);
out:
	spin_unlock_bh(&sn->state_lock);
	return stale;
}

/**
 * srpol_nexthop_dev_event() - a device changed
 * @sn: namespace
 * @dev: the device
 * @leaving: it is about to go down: packets must leave it before it drops them
 */
bool srpol_nexthop_dev_event(struct srpol_net *sn,
			     const struct net_device *dev, bool leaving)
{
	enum srpol_path_reason reason;
	struct srpol_nexthop *nh;
	bool stale = false;

	reason = leaving ? SRPOL_PATH_REASON_DEVICE_DOWN :
			   srpol_dev_state(dev);
	spin_lock_bh(&sn->state_lock);
	list_for_each_entry(nh, &sn->nexthops, list) {
		if (nh->gone || nh->key.ifindex != dev->ifindex)
			continue;
		nh->leaving = leaving;
		if (reason)
			srpol_nexthop_set_state(sn, nh, reason);
		/* all else follows when the device is down */
		if (!leaving)
			srpol_nexthop_mark(sn, nh);
		stale = !leaving;
	}
	spin_unlock_bh(&sn->state_lock);
	return stale;
}

/**
 * srpol_nexthop_dev_gone() - a device disappears
 * @sn: namespace
 * @dev: the device, which cannot be found any more
 *
 * Drops all references to the device. In the work, its paths and SIDs look for
 * another next hop.
 */
bool srpol_nexthop_dev_gone(struct srpol_net *sn, const struct net_device *dev)
{
	struct srpol_nexthop *nh;
	bool stale = false;

	spin_lock_bh(&sn->state_lock);
	list_for_each_entry(nh, &sn->nexthops, list) {
		if (nh->gone || nh->key.ifindex != dev->ifindex)
			continue;
		srpol_nexthop_unlink(sn, nh);
		srpol_nexthop_set_state(sn, nh,
					SRPOL_PATH_REASON_NO_DEVICE);
		srpol_nexthop_mark(sn, nh);
		if (nh->neigh)
			neigh_release(nh->neigh);
		nh->neigh = NULL;
		stale = true;
	}
	spin_unlock_bh(&sn->state_lock);
	return stale;
}

/**
 * srpol_nexthop_solicit() - keep the neighbors in use confirmed
 * @sn: namespace, locked
 *
 * The data plane bypasses the neighbor table, so that the kernel does not see
 * these entries in use, and would neither probe nor resolve them.
 */
void srpol_nexthop_solicit(struct srpol_net *sn)
{
	struct srpol_nexthop *nh;
	struct neighbour *n;

	lockdep_assert_held(&sn->lock);
	list_for_each_entry(nh, &sn->nexthops, list) {
		spin_lock_bh(&sn->state_lock);
		n = nh->up && nh->neigh && !nh->neigh->dead ?
		    neigh_clone(nh->neigh) : NULL;
		spin_unlock_bh(&sn->state_lock);
		if (n) {
			neigh_event_send(n, NULL);
			neigh_release(n);
		} else if (srpol_nexthop_update(sn, nh)) {
			spin_lock_bh(&sn->state_lock);
			srpol_nexthop_mark(sn, nh);
			spin_unlock_bh(&sn->state_lock);
		}
	}
}

/**
 * srpol_nexthop_replay() - tell a new data plane about all next hops
 * @sn: namespace, locked
 */
int srpol_nexthop_replay(struct srpol_net *sn)
{
	struct srpol_nexthop *nh;
	int err = 0;

	spin_lock_bh(&sn->state_lock);
	list_for_each_entry(nh, &sn->nexthops, list)
		err = err ?: srpol_nexthop_push(sn, nh);
	spin_unlock_bh(&sn->state_lock);
	return err;
}
