// SPDX-License-Identifier: GPL-2.0
/*
 * From a configured path to one that forwards: find device, next hop and
 * source address, compile the encapsulation, hand it to the data plane. A
 * path is up only if a packet sent over it now would leave the host.
 */
#include <linux/if_arp.h>
#include <net/addrconf.h>
#include <net/ip6_route.h>

#include "srpol.h"

/**
 * struct srpol_resolution - where a path would go
 * @nh: referenced next hop or NULL
 * @src: outer source
 * @dev_mtu: MTU of the device
 * @reason: why the path can not be compiled, none if it can
 */
struct srpol_resolution {
	struct srpol_nexthop *nh;
	struct in6_addr src;
	u32 dev_mtu;
	enum srpol_path_reason reason;
};

/* The device that the routes choose for the first SID, and the gateway. */
static struct net_device *srpol_resolve_route(struct srpol_net *sn,
					      const struct srpol_path_cfg *cfg,
					      struct in6_addr *via,
					      netdevice_tracker *tracker)
{
	struct flowi6 fl6 = {
		.daddr = cfg->sids[0],
		.flowi6_oif = cfg->ifindex,
	};
	struct net_device *dev = NULL;
	struct dst_entry *dst;

	dst = ip6_route_output(sn->net, NULL, &fl6);
	if (!dst->error && !(dst->dev->flags & IFF_LOOPBACK) &&
	    (!cfg->ifindex || dst->dev->ifindex == cfg->ifindex)) {
		dev = dst->dev;
		netdev_hold(dev, tracker, GFP_KERNEL);
		*via = *rt6_nexthop(dst_rt6_info(dst), &cfg->sids[0]);
	}
	dst_release(dst);
	return dev;
}

static enum srpol_path_reason
srpol_resolve_dev(struct srpol_net *sn, const struct srpol_path_cfg *cfg,
		  struct net_device **dev, struct in6_addr *via,
		  netdevice_tracker *tracker)
{
	if (!ipv6_addr_any(&cfg->via)) {
		*via = cfg->via;
		*dev = netdev_get_by_index(sn->net, cfg->ifindex, tracker,
					   GFP_KERNEL);
		return *dev ? SRPOL_PATH_REASON_NONE :
			      SRPOL_PATH_REASON_NO_DEVICE;
	}
	*dev = srpol_resolve_route(sn, cfg, via, tracker);
	if (*dev)
		return SRPOL_PATH_REASON_NONE;
	if (!cfg->ifindex)
		return SRPOL_PATH_REASON_NO_ROUTE;
	/* the routes of a device that is down are gone: say what matters */
	*dev = netdev_get_by_index(sn->net, cfg->ifindex, tracker, GFP_KERNEL);
	if (!*dev)
		return SRPOL_PATH_REASON_NO_DEVICE;
	return netif_running(*dev) && netif_carrier_ok(*dev) ?
	       SRPOL_PATH_REASON_NO_ROUTE : SRPOL_PATH_REASON_DEVICE_DOWN;
}

static int srpol_resolve(struct srpol_net *sn,
			 const struct srpol_path_cfg *cfg,
			 struct srpol_resolution *res,
			 struct netlink_ext_ack *extack)
{
	netdevice_tracker tracker;
	struct net_device *dev;
	struct in6_addr via;
	int err = 0;

	memset(res, 0, sizeof(*res));
	res->reason = srpol_resolve_dev(sn, cfg, &dev, &via, &tracker);
	if (res->reason)
		goto out;
	if (dev->type != ARPHRD_ETHER) {
		res->reason = SRPOL_PATH_REASON_DEVICE_TYPE;
		goto out;
	}
	res->dev_mtu = READ_ONCE(dev->mtu);
	if (res->dev_mtu < IPV6_MIN_MTU +
			   srpol_encap_len(cfg->n_sids, cfg->encap)) {
		res->reason = SRPOL_PATH_REASON_MTU_TOO_SMALL;
		goto out;
	}
	if (!ipv6_addr_any(&cfg->src)) {
		res->src = cfg->src;
	} else if (!ipv6_addr_any(&sn->cfg.src)) {
		res->src = sn->cfg.src;
	} else if (ipv6_dev_get_saddr(sn->net, dev, &cfg->sids[0], 0,
				      &res->src) ||
		   ipv6_addr_type(&res->src) & IPV6_ADDR_LINKLOCAL) {
		/* a link-local source ends at the first router */
		res->reason = SRPOL_PATH_REASON_NO_SOURCE;
		goto out;
	}
	res->nh = srpol_nexthop_get(sn, dev, &via, extack);
	if (IS_ERR(res->nh)) {
		err = PTR_ERR(res->nh);
		res->nh = NULL;
		res->reason = SRPOL_PATH_REASON_NO_RESOURCES;
	}
out:
	netdev_put(dev, &tracker);
	return err;
}

/**
 * srpol_path_set_state() - a path changed its state
 * @sn: namespace; @sn->state_lock is held
 * @path: the path
 * @state: new state
 * @reason: why it is not up
 *
 * Tells the data plane and the listeners, and leaves the path for
 * srpol_policy_update_dirty().
 */
void srpol_path_set_state(struct srpol_net *sn, struct srpol_path *path,
			  enum srpol_path_state state,
			  enum srpol_path_reason reason)
{
	bool up = state == SRPOL_PATH_STATE_UP;
	bool was_up = path->state == SRPOL_PATH_STATE_UP;

	lockdep_assert_held(&sn->state_lock);
	if (path->state == state && path->reason == reason)
		return;
	path->state = state;
	path->reason = reason;
	if (up != was_up) {
		if (path->compiled)
			srpol_dp_call(sn, path_state, path->id, up);
		if (list_empty(&path->changed_node))
			list_add_tail(&path->changed_node, &sn->changed);
	}
	srpol_nl_notify(sn, NULL, SRPOL_CMD_PATH_EVENT, SRPOL_NLGRP_EVENTS,
			srpol_path_event_fill, path);
}

/* State of a path from its resolution, its next hop and what was reported. */
static void srpol_path_decide(struct srpol_net *sn, struct srpol_path *path,
			      enum srpol_path_reason reason)
{
	enum srpol_path_state state = SRPOL_PATH_STATE_UP;

	if (path->cfg.admin_down)
		reason = SRPOL_PATH_REASON_ADMIN_DOWN;
	else if (!reason && path->nh)
		reason = path->nh->reason;
	if (!reason && path->reported)
		reason = SRPOL_PATH_REASON_UNREACHABLE_REPORTED;

	switch (reason) {
	case SRPOL_PATH_REASON_NONE:
		break;
	case SRPOL_PATH_REASON_NO_ROUTE:
	case SRPOL_PATH_REASON_NO_SOURCE:
	case SRPOL_PATH_REASON_NO_RESOURCES:
	case SRPOL_PATH_REASON_NEIGHBOUR_UNRESOLVED:
		state = SRPOL_PATH_STATE_UNRESOLVED;
		break;
	default:
		state = SRPOL_PATH_STATE_DOWN;
	}
	srpol_path_set_state(sn, path, state, reason);
}

/* Compile @cfg with what is in @path beside it; @up is decided later. */
static int srpol_path_compile(struct srpol_net *sn, struct srpol_path *path,
			      const struct srpol_path_cfg *cfg,
			      const struct srpol_nexthop *nh)
{
	struct srpol_dp_path dp = {
		.id = path->id,
		.nexthop = nh->id,
		.up = path->state == SRPOL_PATH_STATE_UP,
		.mtu = path->bytes.dev_mtu,
	};

	srpol_encap_build(&dp, cfg->sids, cfg->n_sids, cfg->encap,
			  &path->bytes.src, path->bytes.hop_limit,
			  path->bytes.dmac, path->bytes.smac);
	return srpol_dp_call(sn, path_set, &dp);
}

/**
 * srpol_path_push() - give the data plane a path it has not seen
 * @sn: namespace, locked; @sn->state_lock is held
 * @path: the path; nothing is done if it was never compiled
 */
int srpol_path_push(struct srpol_net *sn, struct srpol_path *path)
{
	lockdep_assert_held(&sn->state_lock);
	if (!path->compiled)
		return 0;
	return srpol_path_compile(sn, path, &path->cfg, path->nh);
}

static void srpol_path_use_nexthop(struct srpol_path *path,
				   struct srpol_nexthop *nh)
{
	/* do not move it: someone may be going through this list */
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

/**
 * srpol_path_apply() - make a path be what a configuration says
 * @sn: namespace, locked
 * @path: the path
 * @cfg: new configuration, or &path->cfg to resolve the same one again
 * @extack: for a refusal, may be NULL
 *
 * Return: 0, also if the path can not forward (its reason says why); a
 * negative errno if the data plane or memory has no room, and then the path
 * is as it was.
 */
int srpol_path_apply(struct srpol_net *sn, struct srpol_path *path,
		     const struct srpol_path_cfg *cfg,
		     struct netlink_ext_ack *extack)
{
	const struct srpol_path_bytes old = path->bytes;
	struct srpol_resolution res;
	struct srpol_nexthop *nh;
	int err;

	lockdep_assert_held(&sn->lock);
	err = srpol_resolve(sn, cfg, &res, extack);
	if (err && cfg != &path->cfg)
		return err;
	srpol_dp_wait_gp(path->gp);

	spin_lock_bh(&sn->state_lock);
	nh = res.nh;
	if (nh && nh->up) {
		path->bytes.src = res.src;
		path->bytes.dev_mtu = res.dev_mtu;
		path->bytes.hop_limit = sn->cfg.hop_limit;
		memcpy(path->bytes.smac, nh->smac, ETH_ALEN);
		memcpy(path->bytes.dmac, nh->lladdr, ETH_ALEN);
		if (!path->compiled || cfg != &path->cfg || nh != path->nh ||
		    memcmp(&old, &path->bytes, sizeof(old))) {
			err = srpol_path_compile(sn, path, cfg, nh);
			if (err)
				goto refused;
			path->compiled = true;
			path->gp = get_state_synchronize_rcu();
		}
	} else if (cfg != &path->cfg || nh != path->nh) {
		/* what was compiled is not what this path is any more */
		if (path->compiled)
			srpol_dp_call(sn, path_state, path->id, 0);
		path->compiled = false;
	}
	nh = path->nh;
	srpol_path_use_nexthop(path, res.nh);
	if (path->reported && (cfg != &path->cfg || nh != res.nh)) {
		path->reported = false;
		sn->n_reported--;
	}
	path->cfg = *cfg;
	srpol_path_decide(sn, path, res.reason);
	spin_unlock_bh(&sn->state_lock);
	srpol_nexthop_put(sn, nh);
	return 0;

refused:
	path->bytes = old;
	spin_unlock_bh(&sn->state_lock);
	srpol_nexthop_put(sn, res.nh);
	return srpol_dp_err(sn, err, "path", sn->limits.paths - 1, extack);
}

/**
 * srpol_path_refresh() - resolve a path again after something changed
 * @sn: namespace, locked
 * @path: the path
 */
void srpol_path_refresh(struct srpol_net *sn, struct srpol_path *path)
{
	srpol_path_apply(sn, path, &path->cfg, NULL);
}

/**
 * srpol_path_refresh_all() - resolve all paths again
 * @sn: namespace, locked
 */
void srpol_path_refresh_all(struct srpol_net *sn)
{
	struct srpol_path *path;
	unsigned long id;

	xa_for_each(&sn->paths, id, path)
		srpol_path_refresh(sn, path);
	srpol_policy_update_dirty(sn);
}
