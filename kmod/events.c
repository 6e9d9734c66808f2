// SPDX-License-Identifier: GPL-2.0
/*
 * Events around the paths: devices, neighbors, routes and addresses come and
 * go, and paths that are held down have to be tried again.
 *
 * A notifier marks the objects that the event is about, which takes packets off
 * them, and queues the work; it takes no mutex. The work proceeds in slices:
 * each is a transaction of at most SRPOL_SLICE paths and policies. Between two
 * slices, requests get their turn.
 */
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/fib_notifier.h>
#include <net/neighbour.h>
#include <net/netevent.h>

#include "device.h"
#include "events.h"
#include "nexthop.h"
#include "path.h"
#include "policy.h"
#include "queue.h"
#include "sid.h"

#define SRPOL_TICK		HZ
#define SRPOL_ROUTE_DELAY	msecs_to_jiffies(10)
#define SRPOL_SLICE		128

/* Does the path wait for something of which there is no event? */
static bool srpol_path_needs_tick(const struct srpol_path *path)
{
	const struct srpol_path_cfg *cfg = srpol_path_cfg(path);

	return ipv6_addr_any(&cfg->via) || path->refused ||
	       path->reason == SRPOL_PATH_REASON_NO_RESOURCES;
}

/* Process next hops that changed, with all paths and SIDs that use them. */
static void srpol_follow_nexthops(struct srpol_net *sn)
{
	struct srpol_nexthop *nh;
	struct srpol_path *path;

	while ((nh = srpol_nexthop_take_stale(sn))) {
		srpol_nexthop_update(sn, nh);
		list_for_each_entry(path, &nh->paths, nh_node) {
			spin_lock_bh(&sn->state_lock);
			srpol_path_follow_nexthop(sn, path);
			spin_unlock_bh(&sn->state_lock);
			cond_resched();
		}
		srpol_sid_touch_nexthop(sn, nh);
	}
}

/*
 * Process at most @left paths that changed. Return: how many more may be
 * processed.
 */
static u32 srpol_follow_paths(struct srpol_net *sn, u32 left)
{
	struct srpol_path *path;
	u8 what;

	for (; left; left--) {
		spin_lock_bh(&sn->state_lock);
		path = list_first_entry_or_null(&sn->stale_paths,
						struct srpol_path, stale_node);
		if (path) {
			list_del_init(&path->stale_node);
			what = path->stale;
			path->stale = 0;
		}
		spin_unlock_bh(&sn->state_lock);
		if (!path)
			break;
		if (what & SRPOL_PATH_RESOLVE)
			srpol_obj_touch(sn, &path->obj);
		if (what & SRPOL_PATH_POLICIES)
			srpol_policy_path_changed(sn, path);
	}
	return left;
}

/* Continue the scan of all paths. Return: how many more may be processed. */
static u32 srpol_follow_scan(struct srpol_net *sn, u32 left)
{
	struct srpol_path *path;
	unsigned long id;

	if (sn->scan == ULONG_MAX)
		return left;
	xa_for_each_start(&sn->paths, id, path, sn->scan) {
		sn->scan = id;
		if (!left)
			return 0;
		if (sn->scan_routed && !srpol_path_needs_tick(path))
			continue;
		srpol_obj_touch(sn, &path->obj);
		left--;
	}
	sn->scan = ULONG_MAX;
	return left;
}

/* Is a scan under way that looks at all paths? */
static bool srpol_scan_is_full(const struct srpol_net *sn)
{
	return sn->scan != ULONG_MAX && !sn->scan_routed;
}

static void srpol_scan_begin(struct srpol_net *sn, bool routed)
{
	/* a full scan that is under way will come to the rest of the paths */
	if (routed && sn->scan != ULONG_MAX)
		return;
	sn->scan_routed = routed;
	sn->scan = 0;
}

/* Process one slice, as one transaction. Return: is there more to do? */
static bool srpol_follow(struct srpol_net *sn)
{
	u32 left = SRPOL_SLICE;
	bool more;

	srpol_txn_begin(sn, true);
	srpol_dev_remove_gone(sn);
	srpol_follow_nexthops(sn);
	/*
	 * While a full scan is under way, the bit stays set for the next one:
	 * if it began anew, it would never come to the last paths where routes
	 * keep changing. The tick that was queued with the bit has the work run
	 * again.
	 */
	if (!srpol_scan_is_full(sn) &&
	    test_and_clear_bit(SRPOL_NET_RESOLVE, &sn->flags)) {
		srpol_scan_begin(sn, false);
		srpol_sid_touch_waiting(sn);
	}
	left = srpol_follow_paths(sn, left);
	/* before the scan, which is long: packets wait for these policies */
	left -= srpol_policy_take_stale(sn, left);
	left = srpol_follow_scan(sn, left);
	srpol_txn_end(sn, NULL, 0);

	spin_lock_bh(&sn->state_lock);
	more = !list_empty(&sn->stale_nexthops) ||
	       !list_empty(&sn->stale_paths);
	spin_unlock_bh(&sn->state_lock);
	return more || sn->scan != ULONG_MAX ||
	       !list_empty(&sn->stale_policies);
}

static void srpol_work(struct work_struct *work)
{
	struct srpol_net *sn = container_of(work, struct srpol_net, work);
	bool more;

	do {
		mutex_lock(&sn->lock);
		more = srpol_follow(sn);
		mutex_unlock(&sn->lock);
		cond_resched();
	} while (more && !test_bit(SRPOL_NET_DYING, &sn->flags));
}

/*
 * Once a second, neighbors are kept confirmed, and objects that lacked
 * resources are tried again. So are paths that are resolved by route, because
 * the kernel does not announce all changes: not those of routes that are not
 * the best of their prefix, nor those of next hop objects.
 */
static void srpol_tick(struct work_struct *work)
{
	struct srpol_net *sn = container_of(to_delayed_work(work),
					    struct srpol_net, tick);
	unsigned long next = SRPOL_TICK;

	srpol_queue_tick_begins(sn);
	mutex_lock(&sn->lock);
	srpol_nexthop_solicit(sn);
	next = min(next, srpol_path_expire(sn));
	next = min(next, srpol_policy_tick(sn));
	srpol_scan_begin(sn, true);
	srpol_txn_begin(sn, true);
	srpol_sid_touch_waiting(sn);
	srpol_txn_end(sn, NULL, 0);
	if (sn->n_paths || sn->n_nexthops || sn->n_sids)
		srpol_queue_tick(sn, next);
	mutex_unlock(&sn->lock);
	srpol_queue_work(sn);
}

/*
 * Routes may change in bursts: wait a moment, and process all changes at once.
 */
static void srpol_resolve_soon(struct srpol_net *sn)
{
	if (!READ_ONCE(sn->n_paths) && !READ_ONCE(sn->n_sids))
		return;
	if (!test_and_set_bit(SRPOL_NET_RESOLVE, &sn->flags))
		srpol_queue_tick(sn, SRPOL_ROUTE_DELAY);
}

static int srpol_fib_event(struct notifier_block *nb, unsigned long event,
			   void *ptr)
{
	struct srpol_net *sn = container_of(nb, struct srpol_net, fib_nb);
	struct fib_notifier_info *info = ptr;

	if (info->family == AF_INET6)
		srpol_resolve_soon(sn);
	return NOTIFY_DONE;
}

static int srpol_netdev_event(struct notifier_block *nb, unsigned long event,
			      void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct srpol_net *sn = srpol_net(dev_net(dev));
	bool work = false;

	if (!srpol_net_started(sn))
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_GOING_DOWN:
		srpol_nexthop_dev_event(sn, dev, true);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
	case NETDEV_CHANGEADDR:
		work = srpol_nexthop_dev_event(sn, dev, false);
		/* paths without a next hop may find one now */
		srpol_resolve_soon(sn);
		break;
	case NETDEV_CHANGENAME:
		/* a path may wait for a device of this name */
		srpol_resolve_soon(sn);
		break;
	case NETDEV_UNREGISTER:
		work = srpol_nexthop_dev_gone(sn, dev);
		work |= srpol_dev_mark_gone(sn, dev->ifindex);
		break;
	}
	if (work)
		srpol_queue_work(sn);
	return NOTIFY_DONE;
}

static struct notifier_block srpol_netdev_nb = {
	.notifier_call = srpol_netdev_event,
};

static int srpol_netevent(struct notifier_block *nb, unsigned long event,
			  void *ptr)
{
	struct neighbour *n = ptr;
	struct srpol_net *sn;

	if (event != NETEVENT_NEIGH_UPDATE)
		return NOTIFY_DONE;
	sn = srpol_net(dev_net(n->dev));
	if (!srpol_net_started(sn))
		return NOTIFY_DONE;
	if (srpol_nexthop_neigh_event(sn, n))
		srpol_queue_work(sn);
	return NOTIFY_DONE;
}

static struct notifier_block srpol_netevent_nb = {
	.notifier_call = srpol_netevent,
};

/* The outer source may have been chosen from these addresses. */
static int srpol_addr_event(struct notifier_block *nb, unsigned long event,
			    void *ptr)
{
	struct inet6_ifaddr *ifa = ptr;
	struct srpol_net *sn = srpol_net(dev_net(ifa->idev->dev));

	if (srpol_net_started(sn))
		srpol_resolve_soon(sn);
	return NOTIFY_DONE;
}

static struct notifier_block srpol_addr_nb = {
	.notifier_call = srpol_addr_event,
};

int __init srpol_events_init(void)
{
	int err;

	err = register_netdevice_notifier(&srpol_netdev_nb);
	if (err)
		return err;
	err = register_netevent_notifier(&srpol_netevent_nb);
	if (err)
		goto err_netdev;
	err = register_inet6addr_notifier(&srpol_addr_nb);
	if (err)
		goto err_netevent;
	return 0;

err_netevent:
	unregister_netevent_notifier(&srpol_netevent_nb);
err_netdev:
	unregister_netdevice_notifier(&srpol_netdev_nb);
	return err;
}

void srpol_events_exit(void)
{
	unregister_inet6addr_notifier(&srpol_addr_nb);
	unregister_netevent_notifier(&srpol_netevent_nb);
	unregister_netdevice_notifier(&srpol_netdev_nb);
}

/**
 * srpol_events_net_init() - prepare the work of a new namespace, none is queued
 * @sn: the namespace
 */
void srpol_events_net_init(struct srpol_net *sn)
{
	sn->scan = ULONG_MAX;
	INIT_WORK(&sn->work, srpol_work);
	INIT_DELAYED_WORK(&sn->tick, srpol_tick);
}

/**
 * srpol_events_net_start() - register for changes of routes
 * @sn: a namespace that is configured for the first time; RTNL is taken
 */
int srpol_events_net_start(struct srpol_net *sn)
{
	sn->fib_nb.notifier_call = srpol_fib_event;
	return register_fib_notifier(sn->net, &sn->fib_nb, NULL, NULL);
}

/**
 * srpol_events_net_unlisten() - unregister from changes of routes
 * @sn: a namespace that ends; waits for a grace period
 */
void srpol_events_net_unlisten(struct srpol_net *sn)
{
	unregister_fib_notifier(sn->net, &sn->fib_nb);
}

/**
 * srpol_events_net_stop() - stop the work about events
 * @sn: a namespace that ends
 */
void srpol_events_net_stop(struct srpol_net *sn)
{
	srpol_queue_stop(sn);
}
