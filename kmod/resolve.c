// SPDX-License-Identifier: GPL-2.0
/*
 * From a configured path to one that forwards: find device, next hop and
 * source address, compile the encapsulation, stage it in the data plane. A
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
		.daddr = cfg->hdr.sids[0],
		.flowi6_oif = cfg->ifindex,
	};
	struct net_device *dev = NULL;
	struct dst_entry *dst;

	dst = ip6_route_output(sn->net, NULL, &fl6);
	if (!dst->error && !(dst->dev->flags & IFF_LOOPBACK) &&
	    (!cfg->ifindex || dst->dev->ifindex == cfg->ifindex)) {
		dev = dst->dev;
		netdev_hold(dev, tracker, GFP_KERNEL);
		*via = *rt6_nexthop(dst_rt6_info(dst), &cfg->hdr.sids[0]);
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
	if (res->dev_mtu < IPV6_MIN_MTU + srpol_encap_len(&cfg->hdr)) {
		res->reason = SRPOL_PATH_REASON_MTU_TOO_SMALL;
		goto out;
	}
	if (!ipv6_addr_any(&cfg->src)) {
		res->src = cfg->src;
	} else if (!ipv6_addr_any(&sn->cfg.src)) {
		res->src = sn->cfg.src;
	} else if (ipv6_dev_get_saddr(sn->net, dev, &cfg->hdr.sids[0], 0,
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

/* Hand @cfg and @bytes to the data plane; @up once it is committed. */
static int srpol_path_compile(struct srpol_net *sn,
			      const struct srpol_path *path,
			      const struct srpol_path_cfg *cfg,
			      const struct srpol_path_bytes *bytes,
			      const struct srpol_nexthop *nh, bool up)
{
	struct srpol_dp_path dp = {
		.id = path->id,
		.nexthop = nh->id,
		.up = up,
		.mtu = bytes->dev_mtu,
	};

	srpol_encap_build(&dp, &cfg->hdr, &bytes->outer);
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
	return srpol_path_compile(sn, path, path->cfg, &path->bytes, path->nh,
				  path->state == SRPOL_PATH_STATE_UP);
}

static void srpol_path_fill_bytes(struct srpol_net *sn,
				  struct srpol_path_bytes *bytes,
				  const struct srpol_resolution *res)
{
	memset(bytes, 0, sizeof(*bytes));
	bytes->dev_mtu = res->dev_mtu;
	bytes->outer.src = res->src;
	bytes->outer.hop_limit = sn->cfg.hop_limit;
	bytes->outer.tag = sn->cfg.dp.path_id == SRPOL_PATH_ID_TAG;
	memcpy(bytes->outer.smac, res->nh->smac, ETH_ALEN);
	memcpy(bytes->outer.dmac, res->nh->lladdr, ETH_ALEN);
}

/* Fill in @path->next from a resolution and stage what is another form. */
static int srpol_path_prepare(struct srpol_net *sn, struct srpol_path *path,
			      const struct srpol_resolution *res)
{
	const struct srpol_path_cfg *cfg = srpol_path_cfg(path);
	struct srpol_path_next *next = &path->next;
	bool other = path->change.changed || res->nh != path->nh;
	bool reported = path->reported && !other;
	struct srpol_nexthop *nh = res->nh;
	int err = 0;

	lockdep_assert_held(&sn->state_lock);
	next->reason = res->reason;
	next->up = !srpol_path_reason(cfg, res->reason, nh, reported);
	next->was = path->state;
	next->bytes = path->bytes;
	next->compiled = path->compiled;
	next->pushed = false;
	if (nh && nh->up) {
		srpol_path_fill_bytes(sn, &next->bytes, res);
		next->pushed = !path->compiled || other ||
			       memcmp(&path->bytes, &next->bytes,
				      sizeof(path->bytes));
		next->compiled = true;
	} else if (other) {
		/* what was compiled is not what this path is any more */
		next->compiled = false;
	}
	if (next->pushed)
		err = srpol_path_compile(sn, path, cfg, &next->bytes, nh,
					 next->up);
	if (err)
		return err;
	next->nh = nh;
	next->resolved = true;
	return 0;
}

/**
 * srpol_path_stage() - resolve a path and prepare what it will be
 * @sn: namespace, locked, in a transaction
 * @change: of the path
 * @extack: for a refusal
 *
 * A path of which the configuration is the same follows what has happened
 * around it; it is not refused when there is no room for its next hop, and if
 * it turns out to be lost, packets leave it at once.
 *
 * Return: 0, also if the path can not forward (its reason says why); a
 * negative errno if the data plane or memory has no room.
 */
int srpol_path_stage(struct srpol_net *sn, struct srpol_change *change,
		     struct netlink_ext_ack *extack)
{
	struct srpol_path *path = container_of(change,
					       struct srpol_path, change);
	struct srpol_path_next *next = &path->next;
	struct srpol_resolution res;
	int err;

	if (change->gone)
		return 0;
	err = srpol_resolve(sn, srpol_path_cfg(path), &res,
			    change->changed ? extack : NULL);
	if (err && change->changed)
		return err;
	srpol_dp_wait_gp(sn, path->gp);

	spin_lock_bh(&sn->state_lock);
	err = srpol_path_prepare(sn, path, &res);
	if (!err && sn->txn.event && !next->up) {
		srpol_path_set_state(sn, path, srpol_path_reason(path->cfg,
								 next->reason,
								 next->nh,
								 path->reported));
		next->was = path->state;
	}
	spin_unlock_bh(&sn->state_lock);
	if (err) {
		srpol_nexthop_put(sn, res.nh);
		return srpol_dp_err(sn, err, "path", sn->limits.paths - 1,
				    extack);
	}
	if (next->pushed)
		srpol_txn_staged(sn, change);
	if (next->up != (path->state == SRPOL_PATH_STATE_UP) ||
	    next->compiled != path->compiled)
		srpol_policy_touch_users(sn, path);
	return 0;
}

/**
 * srpol_path_refresh() - resolve a path again after something changed
 * @sn: namespace, locked, in a transaction
 * @path: the path
 */
void srpol_path_refresh(struct srpol_net *sn, struct srpol_path *path)
{
	srpol_txn_touch(sn, &path->change);
}

/**
 * srpol_path_refresh_all() - resolve all paths again
 * @sn: namespace, locked, in a transaction
 */
void srpol_path_refresh_all(struct srpol_net *sn)
{
	struct srpol_path *path;
	unsigned long id;

	xa_for_each(&sn->paths, id, path)
		srpol_path_refresh(sn, path);
}
