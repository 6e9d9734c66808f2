/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_NEXTHOP_H
#define _SRPOL_NEXTHOP_H

#include <linux/if_ether.h>
#include <linux/netdevice.h>
#include <net/neighbour.h>

#include "netns.h"

/**
 * struct srpol_nexthop_key - what tells one next hop from the others
 * @ifindex: egress device
 * @addr: the neighbour, IPv4 as v4-mapped
 */
struct srpol_nexthop_key {
	int ifindex;
	struct in6_addr addr;
};

/**
 * struct srpol_nexthop - a neighbour that paths and SIDs leave through
 * @node: in srpol_net.nexthop_keys unless @gone
 * @list: in srpol_net.nexthops
 * @stale: in srpol_net.stale_nexthops if it changed; under
 *	srpol_net.state_lock
 * @key: which one
 * @id: dense id
 * @refs: paths and SIDs that use it; under srpol_net.lock
 * @neigh: the neighbour, referenced so that nobody who fills the neighbour
 *	table can take it away; NULL if there is no room for it, or @gone
 * @lladdr: its Ethernet address, meaningful while @up
 * @smac: Ethernet address of the device
 * @up: device and neighbour can forward
 * @gone: the device disappeared; nothing holds it any more
 * @leaving: the device said that it is about to go down, and nothing since
 * @probing: the kernel was not sure of the neighbour when it last changed
 * @reason: why it is not up
 * @paths: paths that use it; under both locks
 * @sids: SIDs that use it; under srpol_net.lock
 *
 * No reference to the device is held but the neighbour's, and that ends in the
 * notifier that says that the device disappears.
 */
struct srpol_nexthop {
	struct rhash_head node;
	struct list_head list;
	struct list_head stale;
	struct srpol_nexthop_key key;
	u32 id;
	u32 refs;
	struct neighbour *neigh;
	u8 lladdr[ETH_ALEN] __aligned(2);
	u8 smac[ETH_ALEN] __aligned(2);
	bool up;
	bool gone;
	bool leaving;
	bool probing;
	enum srpol_path_reason reason;
	struct list_head paths;
	struct list_head sids;
};

/* Tables of a namespace: made when it is first configured. */
int srpol_nexthop_init(struct srpol_net *sn);
void srpol_nexthop_exit(struct srpol_net *sn);

/* A reference, for srpol_nexthop_put(), or an ERR_PTR. */
struct srpol_nexthop *srpol_nexthop_get(struct srpol_net *sn,
					struct net_device *dev,
					const struct in6_addr *addr,
					struct netlink_ext_ack *extack);
void srpol_nexthop_put(struct srpol_net *sn, struct srpol_nexthop *nh);

int srpol_nexthop_push(struct srpol_net *sn, const struct srpol_nexthop *nh);
int srpol_nexthop_replay(struct srpol_net *sn);

struct srpol_nexthop *srpol_nexthop_take_stale(struct srpol_net *sn);
bool srpol_nexthop_update(struct srpol_net *sn, struct srpol_nexthop *nh);
void srpol_nexthop_solicit(struct srpol_net *sn);

/* Notifiers. Return: is there anything for the work to follow? */
bool srpol_nexthop_neigh_event(struct srpol_net *sn, struct neighbour *n);
bool srpol_nexthop_dev_event(struct srpol_net *sn,
			     const struct net_device *dev, bool leaving);
bool srpol_nexthop_dev_gone(struct srpol_net *sn,
			    const struct net_device *dev);

#endif /* _SRPOL_NEXTHOP_H */
