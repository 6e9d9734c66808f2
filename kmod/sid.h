/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_SID_H
#define _SRPOL_SID_H

#include <linux/if.h>

#include "netns.h"

struct srpol_nexthop;

#define SRPOL_BSID_LEN		128	/* bits of a binding SID: all */

/**
 * struct srpol_sid_cfg - a local SID as configured
 * @behavior: enum srpol_behavior
 * @origin: who created it
 * @block_len: bits of the locator block, 0 for plain SIDs
 * @ifindex: device of the adjacency, 0: none
 * @ifname: name of that device, by which it is found if it is created again
 * @via: neighbor of the adjacency, v4-mapped for IPv4
 * @policy: id of the policy whose binding SID it is, 0: none. Such a SID is
 *	created and deleted with the policy
 * @dscp_mode: enum srpol_dscp_mode, of what is decapsulated
 */
struct srpol_sid_cfg {
	u32 behavior;
	u32 origin;
	u32 block_len;
	u32 ifindex;
	char ifname[IFNAMSIZ];
	struct in6_addr via;
	u32 policy;
	u32 dscp_mode;
};

/**
 * struct srpol_sid_form - an adjacency in the form for the data plane
 * @nh: its next hop, referenced, NULL while there is none
 * @l2: Ethernet addresses, destination and source
 */
struct srpol_sid_form {
	struct srpol_nexthop *nh;
	u8 l2[2 * ETH_ALEN] __aligned(2);
};

/**
 * struct srpol_sid - a local SID
 * @obj: its configuration, struct srpol_sid_cfg
 * @id: dense id
 * @addr: the SID
 * @prefix_len: bits of locator and function
 * @node: in srpol_net.sid_addrs
 * @form: form in force
 * @next: form to be put in force by the present transaction
 * @resolved: @next is set
 * @nh_node: in srpol_nexthop.sids, of @form
 * @refused: the data plane refused the form that an event required
 * @gp: grace period that begins with its last change
 */
struct srpol_sid {
	struct srpol_obj obj;
	u32 id;
	struct in6_addr addr;
	u32 prefix_len;
	struct rhlist_head node;
	struct srpol_sid_form form;
	struct srpol_sid_form next;
	bool resolved;
	struct list_head nh_node;
	bool refused;
	unsigned long gp;
};

extern const struct srpol_obj_ops srpol_sid_ops;

/* Tables of a namespace; they are made when it is first configured. */
int srpol_sid_init(struct srpol_net *sn);
void srpol_sid_exit(struct srpol_net *sn);

/* sid.c */
struct srpol_sid *srpol_sid_find(struct srpol_net *sn,
				 const struct in6_addr *addr, u32 len);
struct srpol_sid *srpol_sid_find_any(struct srpol_net *sn,
				     const struct in6_addr *addr);
int srpol_sid_define(struct srpol_net *sn, const struct in6_addr *addr,
		     u32 len, const struct srpol_sid_cfg *cfg,
		     struct netlink_ext_ack *extack);
enum srpol_path_reason srpol_sid_reason(const struct srpol_sid *sid);
void srpol_sid_touch_nexthop(struct srpol_net *sn,
			     const struct srpol_nexthop *nh);
void srpol_sid_touch_waiting(struct srpol_net *sn);
int srpol_sid_replay(struct srpol_net *sn);
void srpol_sid_flush(struct srpol_net *sn);

/* sid_nl.c */
int srpol_sid_fill(struct srpol_net *sn, struct sk_buff *skb,
		   const struct srpol_obj *obj);
int srpol_sid_new(struct srpol_net *sn, struct genl_info *info);
int srpol_sid_del(struct srpol_net *sn, struct genl_info *info);

static inline struct srpol_sid *srpol_sid(const struct srpol_obj *obj)
{
	return container_of(obj, struct srpol_sid, obj);
}

/* The configuration as the requests of the present transaction leave it. */
static inline const struct srpol_sid_cfg *
srpol_sid_cfg(const struct srpol_sid *sid)
{
	return srpol_obj_wanted(&sid->obj);
}

#endif /* _SRPOL_SID_H */
