/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_NEXTHOP_H
#define _SRPOL_NEXTHOP_H

#include <linux/if_ether.h>
#include <linux/netdevice.h>
#include <net/neighbour.h>

#include "netns.h"

/**
 * struct srpol_nexthop_key - what identifies a next hop
 * @ifindex: egress device
 * @addr: the neighbor, IPv4 as v4-mapped
 */
struct srpol_nexthop_key {
	int ifindex;
	struct in6_addr addr;
};

/**
 * struct srpol_nexthop - a neighbor through which paths and SIDs leave
 * @node: in srpol_net.nexthop_keys unless @gone
 * @list: in srpol_net.nexthops
 * @stale: in srpol_net.stale_nexthops if it changed; under
 *	srpol_net.state_lock
 * @key: device and address
 * @id: dense id
 * @refs: paths and SIDs that use it; under srpol_net.lock
 * @neigh: the neighbor entry, referenced so that nobody can evict it by filling
 *	the neighbor table; NULL if there is no room for it, or @gone
 * @lladdr: its Ethernet address, valid while @up
 * @smac: Ethernet address of the device
 * @up: device and neighbor can forward
 * @gone: the device has disappeared; the next hop has no reference to it any
 *	more
 * @leaving: the device has announced that it is about to go down, and nothing
 *	since
 * @probing: the kernel was probing the neighbor when it was last seen valid
 * @reason: why it is not up
 * @paths: paths that use it; under both locks
 * @sids: SIDs that use it; under srpol_net.lock
 *
 * The neighbor holds the only reference to the device, which is dropped in the
 * notifier that announces the removal of the device.
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

/* Tables of a namespace; they are made when it is first configured. */
int srpol_nexthop_init(struct srpol_net *sn);
void srpol_nexthop_exit(struct srpol_net *sn);

/*
 * Return: a referenced next hop, to be released by srpol_nexthop_put(), or an
 * ERR_PTR.
 */
struct srpol_nexthop *srpol_nexthop_get(struct srpol_net *sn,
					struct net_device *dev,
					const struct in6_addr *addr,
					struct netlink_ext_ack *extack);
void srpol_nexthop_put(struct srpol_net *sn, struct srpol_nexthop *nh);

int srpol_nexthop_replay(struct srpol_net *sn);

struct srpol_nexthop *srpol_nexthop_take_stale(struct srpol_net *sn);
bool srpol_nexthop_update(struct srpol_net *sn, struct srpol_nexthop *nh);
void srpol_nexthop_solicit(struct srpol_net *sn);

/* Called by notifiers. Return: is there anything for the work to do? */
bool srpol_nexthop_neigh_event(struct srpol_net *sn, struct neighbour *n);
bool srpol_nexthop_dev_event(struct srpol_net *sn,
			     const struct net_device *dev, bool leaving);
bool srpol_nexthop_dev_gone(struct srpol_net *sn,
			    const struct net_device *dev);

#endif /* _SRPOL_NEXTHOP_H */
