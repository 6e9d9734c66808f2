// SPDX-License-Identifier: GPL-2.0
/*
 * From a configured path to one that forwards: find device, next hop and
 * source address, compile the encapsulation, stage it in the data plane. A
 * path is up only if a packet sent over it now would leave the host.
 */
#include <linux/if_arp.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ip6_route.h>

#include "config.h"
#include "dataplane.h"
#include "nexthop.h"
#include "path.h"
#include "quote.h"
#include "resolve.h"

/**
 * struct srpol_resolution - where a path would go
 * @nh: referenced next hop or NULL
 * @src: outer source
 * @dev_mtu: MTU of the device
 * @reason: why the path cannot be compiled, none if it can
 */
struct srpol_resolution {
	struct srpol_nexthop *nh;
	struct in6_addr src;
	u32 dev_mtu;
	enum srpol_path_reason reason;
};

/**
 * srpol_resolve_dev() - find a device that was configured
 * @sn: namespace
 * @ifindex: its index at that time
 * @name: its name at that time; if it was created again, it has another index
 * @tracker: for netdev_put()
 *
 * Return: a referenced device or NULL.
 */
struct net_device *srpol_resolve_dev(struct srpol_net *sn, u32 ifindex,
				     const char *name,
				     netdevice_tracker *tracker)
{
	return netdev_get_by_index(sn->net, ifindex, tracker, GFP_KERNEL) ?:
	       netdev_get_by_name(sn->net, name, tracker, GFP_KERNEL);
}

/*
 * The device and the gateway that the routes select for the first SID. Under
 * RCU, as a device that disappears is taken from the route at any moment, and
 * its memory may go unless it is held before the next grace period has passed.
 */
static struct net_device *srpol_resolve_route(struct srpol_net *sn,
					      const struct srpol_path_cfg *cfg,
					      int ifindex,
					      struct in6_addr *via,
					      netdevice_tracker *tracker)
{
	struct flowi6 fl6 = {
		.daddr = cfg->hdr.sids[0],
		.flowi6_oif = ifindex,
	};
	struct net_device *dev;
	struct dst_entry *dst;

	dst = ip6_route_output(sn->net, NULL, &fl6);
	rcu_read_lock();
	dev = READ_ONCE(dst->dev);
	if (dst->error || dev->flags & IFF_LOOPBACK ||
	    (ifindex && dev->ifindex != ifindex))
		dev = NULL;
	netdev_hold(dev, tracker, GFP_ATOMIC);
	rcu_read_unlock();
	if (dev)
		*via = *rt6_nexthop(dst_rt6_info(dst), &cfg->hdr.sids[0]);
	dst_release(dst);
	return dev;
}

static enum srpol_path_reason
srpol_resolve_egress(struct srpol_net *sn, const struct srpol_path_cfg *cfg,
		     struct net_device **dev, struct in6_addr *via,
		     netdevice_tracker *tracker)
{
	struct net_device *routed;
	netdevice_tracker second;

	*dev = NULL;
	if (!cfg->ifindex) {
		*dev = srpol_resolve_route(sn, cfg, 0, via, tracker);
		return *dev ? SRPOL_PATH_REASON_NONE :
			      SRPOL_PATH_REASON_NO_ROUTE;
	}
	*dev = srpol_resolve_dev(sn, cfg->ifindex, cfg->ifname, tracker);
	if (!*dev)
		return SRPOL_PATH_REASON_NO_DEVICE;
	*via = cfg->via;
	if (!ipv6_addr_any(via))
		return SRPOL_PATH_REASON_NONE;
	routed = srpol_resolve_route(sn, cfg, (*dev)->ifindex, via, &second);
	netdev_put(routed, &second);
	if (routed)
		return SRPOL_PATH_REASON_NONE;
	/* a device that is down has no routes: report the cause */
	return netif_running(*dev) && netif_carrier_ok(*dev) ?
	       SRPOL_PATH_REASON_NO_ROUTE : SRPOL_PATH_REASON_DEVICE_DOWN;
}

static enum srpol_path_reason
srpol_resolve_source(struct srpol_net *sn, const struct srpol_path_cfg *cfg,
		     const struct net_device *dev, struct in6_addr *src)
{
	*src = ipv6_addr_any(&cfg->src) ? srpol_config(sn)->src : cfg->src;
	if (!ipv6_addr_any(src))
		return SRPOL_PATH_REASON_NONE;
	/*
	 * packets with a link-local source would not pass the first router; a
	 * temporary one would change the ECMP hash of all flows each day
	 */
	if (ipv6_dev_get_saddr(sn->net, dev, &cfg->hdr.sids[0],
			       IPV6_PREFER_SRC_PUBLIC, src) ||
	    ipv6_addr_type(src) & IPV6_ADDR_LINKLOCAL)
		return SRPOL_PATH_REASON_NO_SOURCE;
	return SRPOL_PATH_REASON_NONE;
}

static int srpol_resolve_on(struct srpol_net *sn,
			    const struct srpol_path_cfg *cfg,
			    struct net_device *dev, const struct in6_addr *via,
			    struct srpol_resolution *res,
			    struct netlink_ext_ack *extack)
{
	struct srpol_nexthop *nh;

	if (dev->type != ARPHRD_ETHER) {
		res->reason = SRPOL_PATH_REASON_DEVICE_TYPE;
		return 0;
	}
	res->dev_mtu = READ_ONCE(dev->mtu);
	if (res->dev_mtu < IPV6_MIN_MTU + srpol_encap_len(&cfg->hdr)) {
		res->reason = SRPOL_PATH_REASON_MTU_TOO_SMALL;
		return 0;
	}
	res->reason = srpol_resolve_source(sn, cfg, dev, &res->src);
	if (res->reason)
		return 0;
	nh = srpol_nexthop_get(sn, dev, via, extack);
	if (!IS_ERR(nh)) {
		res->nh = nh;
		return 0;
	}
	res->reason = SRPOL_PATH_REASON_NO_RESOURCES;
	if (PTR_ERR(nh) != -ENODEV)
		return PTR_ERR(nh);
	res->reason = SRPOL_PATH_REASON_NO_DEVICE;
	return 0;
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
	res->reason = srpol_resolve_egress(sn, cfg, &dev, &via, &tracker);
	if (!res->reason)
		err = srpol_resolve_on(sn, cfg, dev, &via, res, extack);
	netdev_put(dev, &tracker);
	return err;
}

/*
 * Compile @cfg and @bytes, and stage the result; @up is the state once
 * committed.
 */
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
 * srpol_path_push() - tell a new data plane about a path
 * @sn: namespace, locked; @sn->state_lock is held
 * @path: the path; nothing is done if it was never compiled
 */
int srpol_path_push(struct srpol_net *sn, struct srpol_path *path)
{
	lockdep_assert_held(&sn->state_lock);
	if (!path->compiled)
		return 0;
	return srpol_path_compile(sn, path, path->obj.cur, &path->bytes,
				  path->nh,
				  path->state == SRPOL_PATH_STATE_UP);
}

static void srpol_path_fill_bytes(struct srpol_net *sn,
				  struct srpol_path_bytes *bytes,
				  const struct srpol_resolution *res)
{
	const struct srpol_config *config = srpol_config(sn);

	memset(bytes, 0, sizeof(*bytes));
	bytes->dev_mtu = res->dev_mtu;
	bytes->outer.src = res->src;
	bytes->outer.hop_limit = config->hop_limit;
	bytes->outer.tag = config->dp.path_id == SRPOL_PATH_ID_TAG;
	memcpy(bytes->outer.smac, res->nh->smac, ETH_ALEN);
	memcpy(bytes->outer.dmac, res->nh->lladdr, ETH_ALEN);
}

/*
 * Fill in @stage from a resolution, and stage the form of the path if it
 * changed.
 */
static int srpol_path_prepare(struct srpol_net *sn, struct srpol_path *path,
			      struct srpol_path_stage *stage,
			      const struct srpol_resolution *res)
{
	const struct srpol_path_cfg *cfg = srpol_path_cfg(path);
	bool other = srpol_obj_changed(&path->obj) || res->nh != path->nh;
	bool reported = path->reported && !other;
	struct srpol_nexthop *nh = res->nh;

	lockdep_assert_held(&sn->state_lock);
	stage->nh = nh;
	stage->reason = res->reason;
	stage->up = !srpol_path_reason(path, cfg, res->reason, nh, reported);
	stage->was = path->state;
	stage->bytes = path->bytes;
	stage->compiled = path->compiled;
	if (nh && nh->up) {
		srpol_path_fill_bytes(sn, &stage->bytes, res);
		stage->pushed = !path->compiled || other ||
				memcmp(&path->bytes, &stage->bytes,
				       sizeof(path->bytes));
		stage->compiled = true;
	} else if (other) {
		/* what was compiled before is not this path any more */
		stage->compiled = false;
	}
	return stage->pushed ? srpol_path_compile(sn, path, cfg,
						  &stage->bytes, nh,
						  stage->up) : 0;
}

/* Let packets leave a path at once that an event has made unusable. */
static void srpol_path_leave(struct srpol_net *sn, struct srpol_path *path,
			     struct srpol_path_stage *stage)
{
	srpol_path_set_state(sn, path,
			     srpol_path_reason(path, path->obj.cur,
					       stage->reason, stage->nh,
					       path->reported));
	stage->was = path->state;
}

static int srpol_path_stage_form(struct srpol_net *sn,
				 struct srpol_path *path,
				 struct srpol_path_stage *stage,
				 struct netlink_ext_ack *extack)
{
	bool changed = srpol_obj_changed(&path->obj);
	struct srpol_resolution res;
	int err;

	err = changed ? srpol_quote_stage(sn, path, stage) : 0;
	if (err)
		return err;
	err = srpol_resolve(sn, srpol_path_cfg(path), &res,
			    changed ? extack : NULL);
	if (err && changed)
		return err;
	srpol_dp_wait_gp(sn, path->gp);

	spin_lock_bh(&sn->state_lock);
	err = srpol_path_prepare(sn, path, stage, &res);
	if (!err && sn->txn.event && !stage->up)
		srpol_path_leave(sn, path, stage);
	spin_unlock_bh(&sn->state_lock);
	if (!err)
		return 0;
	srpol_nexthop_put(sn, res.nh);
	return srpol_dp_err(err, "path", sn->limits.paths - 1, extack);
}

/**
 * srpol_path_stage() - resolve a path and prepare its next form
 * @sn: namespace, locked, in a transaction
 * @obj: the path
 * @extack: for a refusal
 *
 * A path whose configuration has not changed is adapted to what has happened
 * around it. It is not refused when there is no room for its next hop. If it
 * turns out to be down, packets leave it at once.
 *
 * Return: 0, also if the path cannot forward (its reason says why); a
 * negative errno if the data plane or memory has no room.
 */
int srpol_path_stage(struct srpol_net *sn, struct srpol_obj *obj,
		     struct netlink_ext_ack *extack)
{
	struct srpol_path *path = srpol_path(obj);
	struct srpol_path_stage *stage;
	int err;

	if (srpol_obj_deleted(obj))
		return 0;
	stage = kzalloc(sizeof(*stage), GFP_KERNEL_ACCOUNT);
	if (!stage)
		return -ENOMEM;
	err = srpol_path_stage_form(sn, path, stage, extack);
	if (err) {
		kfree(stage->quotes);
		kfree(stage);
		return err;
	}
	path->stage = stage;
	if (stage->pushed)
		srpol_txn_staged(sn, obj);
	stage->other = stage->up != (READ_ONCE(path->state) ==
				     SRPOL_PATH_STATE_UP) ||
		       stage->compiled != path->compiled;
	return 0;
}
