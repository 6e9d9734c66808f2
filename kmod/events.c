// SPDX-License-Identifier: GPL-2.0
/*
 * What happens around the paths: devices, neighbours, routes and addresses
 * come and go, and held-down paths have to be tried again. What follows from
 * an event is one transaction.
 */
#include <net/addrconf.h>
#include <net/fib_notifier.h>
#include <net/neighbour.h>
#include <net/netevent.h>

#include "srpol.h"

#define SRPOL_TICK		HZ
#define SRPOL_ROUTE_DELAY	msecs_to_jiffies(10)

/**
 * srpol_events_kick() - have marked next hops and changed paths looked at
 * @sn: namespace
 *
 * Any context.
 */
void srpol_events_kick(struct srpol_net *sn)
{
	queue_work(system_highpri_wq, &sn->work);
}

/**
 * srpol_events_retry_at() - have the tick run no later than this
 * @sn: namespace
 * @delay: jiffies from now
 *
 * Any context.
 */
void srpol_events_retry_at(struct srpol_net *sn, unsigned long delay)
{
	unsigned long at = jiffies + delay;

	if (!delayed_work_pending(&sn->tick) ||
	    time_after(sn->tick.timer.expires, at))
		mod_delayed_work(system_wq, &sn->tick, delay);
}

static void srpol_work(struct work_struct *work)
{
	struct srpol_net *sn = container_of(work, struct srpol_net, work);

	mutex_lock(&sn->lock);
	srpol_txn_begin(sn, true);
	srpol_nexthop_refresh(sn, NULL);
	srpol_txn_end(sn, NULL, 0);
	mutex_unlock(&sn->lock);
}

/*
 * Held-down paths whose time has come, paths that lacked resources, and paths
 * resolved by route, because the kernel does not announce all changes: not
 * those of routes that are not the best of their prefix, nor of next hop
 * objects. Returns when the next held-down path is due.
 */
static unsigned long srpol_retry_paths(struct srpol_net *sn)
{
	unsigned long next = SRPOL_TICK, id, left;
	struct srpol_path *path;
	bool due;

	xa_for_each(&sn->paths, id, path) {
		spin_lock_bh(&sn->state_lock);
		due = path->reported && sn->cfg.retry_interval_ms;
		left = path->retry_at - jiffies;
		if (due && (long)left > 0) {
			next = min(next, left);
			due = false;
		}
		if (due) {
			path->reported = false;
			path->retry_at = jiffies;
			sn->n_reported--;
		}
		spin_unlock_bh(&sn->state_lock);
		if (due || ipv6_addr_any(&path->cfg->via) ||
		    path->reason == SRPOL_PATH_REASON_NO_RESOURCES)
			srpol_path_refresh(sn, path);
	}
	return next;
}

static void srpol_tick(struct work_struct *work)
{
	struct srpol_net *sn = container_of(to_delayed_work(work),
					    struct srpol_net, tick);
	unsigned long next;

	mutex_lock(&sn->lock);
	srpol_txn_begin(sn, true);
	if (xchg(&sn->resolve_all, false))
		srpol_path_refresh_all(sn);
	srpol_nexthop_solicit(sn);
	next = min(srpol_retry_paths(sn), srpol_policy_wait_to_restore(sn));
	srpol_txn_end(sn, NULL, 0);
	if (sn->n_paths || sn->n_nexthops)
		srpol_events_retry_at(sn, next);
	mutex_unlock(&sn->lock);
}

/* Routes change in storms: gather what comes within a moment. */
static void srpol_resolve_soon(struct srpol_net *sn)
{
	if (!xchg(&sn->resolve_all, true))
		srpol_events_retry_at(sn, SRPOL_ROUTE_DELAY);
}

static int srpol_fib_event(struct notifier_block *nb, unsigned long event,
			   void *ptr)
{
	struct srpol_net *sn = container_of(nb, struct srpol_net, fib_nb);
	struct fib_notifier_info *info = ptr;

	if (info->family == AF_INET6 && READ_ONCE(sn->n_paths))
		srpol_resolve_soon(sn);
	return NOTIFY_DONE;
}

static int srpol_netdev_event(struct notifier_block *nb, unsigned long event,
			      void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct srpol_net *sn = srpol_net(dev_net(dev));

	switch (event) {
	case NETDEV_GOING_DOWN:
		mutex_lock(&sn->lock);
		srpol_nexthop_dev_leave(sn, dev);
		mutex_unlock(&sn->lock);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
	case NETDEV_CHANGEADDR:
		mutex_lock(&sn->lock);
		srpol_txn_begin(sn, true);
		srpol_nexthop_refresh(sn, dev);
		srpol_sid_refresh_dev(sn, dev);
		srpol_txn_end(sn, NULL, 0);
		/* paths without a next hop may find one now */
		if (sn->n_paths)
			srpol_resolve_soon(sn);
		mutex_unlock(&sn->lock);
		break;
	case NETDEV_UNREGISTER:
		mutex_lock(&sn->lock);
		srpol_txn_begin(sn, true);
		srpol_nexthop_dev_gone(sn, dev);
		srpol_txn_end(sn, NULL, 0);
		srpol_dev_gone(sn, dev);
		mutex_unlock(&sn->lock);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block srpol_netdev_nb = {
	.notifier_call = srpol_netdev_event,
};

static int srpol_netevent(struct notifier_block *nb, unsigned long event,
			  void *ptr)
{
	struct neighbour *n = ptr;

	if (event == NETEVENT_NEIGH_UPDATE)
		srpol_nexthop_neigh_event(srpol_net(dev_net(n->dev)), n);
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

	if (READ_ONCE(sn->n_paths))
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
 * srpol_events_net_init() - start listening in a new namespace
 * @sn: the namespace
 */
int srpol_events_net_init(struct srpol_net *sn)
{
	INIT_WORK(&sn->work, srpol_work);
	INIT_DELAYED_WORK(&sn->tick, srpol_tick);
	sn->fib_nb.notifier_call = srpol_fib_event;
	return register_fib_notifier(sn->net, &sn->fib_nb, NULL, NULL);
}

/**
 * srpol_events_net_exit() - stop listening in a dying namespace
 * @sn: the namespace, without paths and next hops, so that nothing is queued
 *	again
 */
void srpol_events_net_exit(struct srpol_net *sn)
{
	unregister_fib_notifier(sn->net, &sn->fib_nb);
	cancel_work_sync(&sn->work);
	cancel_delayed_work_sync(&sn->tick);
}
