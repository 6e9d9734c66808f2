/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_PATH_H
#define _SRPOL_PATH_H

#include <linux/if.h>

#include "netns.h"

struct srpol_nexthop;

/**
 * struct srpol_path_cfg - a path as configured
 * @name: may be empty
 * @origin: who created it
 * @block_len: bits of the locator block of compressed SIDs, 0 for plain SIDs
 * @csid_len: bits of a compressed SID, 0 for plain SIDs
 * @block: a container of that block
 * @src: outer source, :: for the default
 * @ifindex: egress device, 0 by route
 * @ifname: its name then, by which it is found if it was created anew
 * @via: next hop, :: by route or neighbour of the device
 * @admin_down: not to be used
 * @hdr: segment list and TLVs
 *
 * Those that are kept end with the last SID if there are no TLVs.
 */
struct srpol_path_cfg {
	char name[SRPOL_NAME_MAX + 1];
	u32 origin;
	u8 block_len;
	u8 csid_len;
	u8 admin_down;
	u8 pad;
	struct in6_addr block;
	struct in6_addr src;
	u32 ifindex;
	char ifname[IFNAMSIZ];
	struct in6_addr via;
	struct srpol_header hdr;
};

/**
 * struct srpol_path_bytes - what resolution puts into a compiled path
 * @outer: beside the segment list
 * @dev_mtu: MTU of the egress device
 */
struct srpol_path_bytes {
	struct srpol_outer outer;
	u32 dev_mtu;
};

/**
 * struct srpol_quote_node - an entry in the table of what reports quote
 * @node: in srpol_net.quotes
 * @key: hash of segment list and destination
 * @path: whose packets those are
 */
struct srpol_quote_node {
	struct hlist_node node;
	u64 key;
	struct srpol_path *path;
};

/**
 * struct srpol_path_stage - what a transaction prepared for a path
 * @nh: next hop, referenced; belongs to the path once committed
 * @bytes: what it is compiled with
 * @quotes: where reports will find it, if its configuration changes
 * @n_quotes: number of @quotes
 * @reason: enum srpol_path_reason: outcome of the resolution
 * @was: enum srpol_path_state when it was resolved
 * @compiled: the data plane will have the form that configuration and @bytes
 *	describe
 * @pushed: that form was staged, it is not the one there was
 * @up: what policies take for granted
 * @other: policies have to be compiled again for it
 */
struct srpol_path_stage {
	struct srpol_nexthop *nh;
	struct srpol_path_bytes bytes;
	struct srpol_quote_node *quotes;
	u32 n_quotes;
	u8 reason;
	u8 was;
	bool compiled;
	bool pushed;
	bool up;
	bool other;
};

/**
 * struct srpol_verdict - what somebody outside found out about a path
 * @node: in srpol_net.verdicts
 * @path: the path
 * @verdict: enum srpol_path_verdict
 * @reason: enum srpol_path_reason
 * @owner: who says so
 * @mtu: largest inner packet that was seen to pass, 0: not known
 * @expires: jiffies when it is forgotten
 */
struct srpol_verdict {
	struct list_head node;
	struct srpol_path *path;
	u8 verdict;
	u8 reason;
	u32 owner;
	u32 mtu;
	unsigned long expires;
};

/* Bits of srpol_path.stale: what the work has to do about it. */
#define SRPOL_PATH_RESOLVE	BIT(0)
#define SRPOL_PATH_POLICIES	BIT(1)

/**
 * struct srpol_path - a segment list
 * @obj: its configuration, struct srpol_path_cfg
 * @id: dense id
 * @n_users: policies that want it
 * @users: struct srpol_list that refer to it
 * @stage: what a transaction prepared, NULL outside of one
 * @gp: grace period after the last compiled form
 * @n_quotes: number of @quotes
 * @quotes: where reports find it, while it is compiled
 * @nh: next hop, NULL while there is none
 * @nh_node: in srpol_nexthop.paths
 * @stale_node: in srpol_net.stale_paths
 * @report_node: in srpol_net.reported while @reported
 * @bytes: what the compiled form consists of beside the configuration
 * @verdict: what somebody outside said, NULL: nothing, or it has expired
 * @retry_at: jiffies; of the last retry while not @reported
 * @up_since: jiffies when it came up last
 * @state: enum srpol_path_state
 * @reason: enum srpol_path_reason: why it is not up
 * @stale: SRPOL_PATH_* bits
 * @retry_shift: the retry interval is doubled so many times
 * @reported: unreachable was reported, until @retry_at
 * @compiled: the data plane has the form that configuration and @bytes
 *	describe
 * @announced: the listeners have heard of the path
 * @event: they have not heard of its state
 * @retry: a request puts it in service, whatever was reported
 * @refused: the data plane refused what an event made of it
 *
 * What follows @quotes is written under srpol_net.state_lock only, by
 * transactions when they commit.
 */
struct srpol_path {
	struct srpol_obj obj;
	u32 id;
	u32 n_users;
	struct list_head users;
	struct srpol_path_stage *stage;
	unsigned long gp;
	u32 n_quotes;
	struct srpol_quote_node *quotes;

	struct srpol_nexthop *nh;
	struct list_head nh_node;
	struct list_head stale_node;
	struct list_head report_node;
	struct srpol_path_bytes bytes;
	struct srpol_verdict *verdict;
	unsigned long retry_at;
	unsigned long up_since;
	u8 state;
	u8 reason;
	u8 stale;
	u8 retry_shift;
	bool reported;
	bool compiled;
	bool announced;
	bool event;
	bool retry;
	bool refused;
};

extern const struct srpol_obj_ops srpol_path_ops;

int srpol_path_cache_init(void);
void srpol_path_cache_exit(void);

/* path.c */
struct srpol_path *srpol_path_find(struct srpol_net *sn, u32 id);
int srpol_path_define(struct srpol_net *sn, u32 id,
		      const struct srpol_path_cfg *cfg, bool retry,
		      const struct nlattr *attr,
		      struct netlink_ext_ack *extack);
void srpol_path_copy_cfg(const struct srpol_path *path,
			 struct srpol_path_cfg *cfg);
bool srpol_path_usable(const struct srpol_path *path);
bool srpol_path_known(const struct srpol_path *path);
void srpol_path_flush(struct srpol_net *sn);
int srpol_path_replay(struct srpol_net *sn);

/* path_state.c; srpol_net.state_lock is held */
enum srpol_path_reason
srpol_path_reason(const struct srpol_path *path,
		  const struct srpol_path_cfg *cfg,
		  enum srpol_path_reason resolved,
		  const struct srpol_nexthop *nh, bool reported);
enum srpol_path_state srpol_path_reason_state(enum srpol_path_reason reason);
void srpol_path_set_state(struct srpol_net *sn, struct srpol_path *path,
			  enum srpol_path_reason reason);
void srpol_path_enter(struct srpol_net *sn, struct srpol_path *path,
		      enum srpol_path_reason reason);
void srpol_path_announce(struct srpol_net *sn, struct srpol_path *path);
void srpol_path_mark(struct srpol_net *sn, struct srpol_path *path, u8 what);
void srpol_path_report(struct srpol_net *sn, struct srpol_path *path);
void srpol_path_forget_report(struct srpol_path *path);
void srpol_path_follow_nexthop(struct srpol_net *sn, struct srpol_path *path);
void srpol_path_reconsider(struct srpol_net *sn, struct srpol_path *path);
int srpol_path_set_verdict(struct srpol_net *sn, u32 id,
			   const struct srpol_verdict *verdict);
void srpol_path_clear_verdict(struct srpol_path *path);
unsigned long srpol_path_expire(struct srpol_net *sn);

/* path_nl.c */
int srpol_path_fill(struct srpol_net *sn, struct sk_buff *skb,
		    const struct srpol_obj *obj);
int srpol_path_new(struct srpol_net *sn, struct genl_info *info);
int srpol_path_del(struct srpol_net *sn, struct genl_info *info);

/* path_parse.c */
int srpol_path_parse(struct srpol_net *sn, struct srpol_path_cfg *cfg,
		     const struct genl_info *info);

static inline struct srpol_path *srpol_path(const struct srpol_obj *obj)
{
	return container_of(obj, struct srpol_path, obj);
}

/* The configuration that the requests so far want. */
static inline const struct srpol_path_cfg *
srpol_path_cfg(const struct srpol_path *path)
{
	return srpol_obj_wanted(&path->obj);
}

#endif /* _SRPOL_PATH_H */
