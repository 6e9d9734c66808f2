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
 * @ifindex: egress device, 0: by route
 * @ifname: name of that device, by which it is found if it is created again
 * @via: next hop, :: by route or neighbor of the device
 * @admin_down: not to be used
 * @hdr: segment list and TLVs
 *
 * If there are no TLVs, stored configurations end behind the last SID.
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
 * struct srpol_path_bytes - what resolution adds to a compiled path
 * @outer: outer headers beside the segment list
 * @dev_mtu: MTU of the egress device
 */
struct srpol_path_bytes {
	struct srpol_outer outer;
	u32 dev_mtu;
};

/**
 * struct srpol_quote_node - an entry in the table by which reports find paths
 * @node: in srpol_net.quotes
 * @key: hash of segment list and destination that a report quotes
 * @path: path whose packets have these
 */
struct srpol_quote_node {
	struct hlist_node node;
	u64 key;
	struct srpol_path *path;
};

/**
 * struct srpol_path_stage - what a transaction has prepared for a path
 * @nh: next hop, referenced; belongs to the path once committed
 * @bytes: result of the resolution
 * @quotes: entries by which reports will find it, if its configuration changes
 * @n_quotes: number of @quotes
 * @reason: enum srpol_path_reason: outcome of the resolution
 * @was: enum srpol_path_state when it was resolved
 * @compiled: the data plane will have the form that configuration and @bytes
 *	describe
 * @pushed: a new form was staged in the data plane
 * @up: state that policies were compiled for
 * @other: policies have to be compiled again because of the path
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
 * struct srpol_verdict - what user space reports of a path
 * @node: in srpol_net.verdicts
 * @path: the path
 * @verdict: enum srpol_path_verdict
 * @reason: enum srpol_path_reason
 * @owner: id of the one who reports it
 * @mtu: size of the largest inner packet that was seen to pass, 0: not known
 * @expires: jiffies when the verdict expires
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

/* Bits of srpol_path.stale: what the work has to do for the path. */
#define SRPOL_PATH_RESOLVE	BIT(0)
#define SRPOL_PATH_POLICIES	BIT(1)

/**
 * struct srpol_path - a segment list
 * @obj: its configuration, struct srpol_path_cfg
 * @id: dense id
 * @n_users: number of policies that want it
 * @users: struct srpol_list that refer to it
 * @stage: what a transaction has prepared, NULL outside of one
 * @gp: grace period that begins with the last change of its compiled form
 * @n_quotes: number of @quotes
 * @quotes: entries by which reports find it, while it is compiled
 * @nh: next hop, NULL while there is none
 * @nh_node: in srpol_nexthop.paths
 * @stale_node: in srpol_net.stale_paths
 * @report_node: in srpol_net.reported while @reported
 * @bytes: what the compiled form consists of beside the configuration
 * @verdict: what user space reports, NULL: nothing, or
 *	expired
 * @retry_at: jiffies of the next retry; of the last one while not @reported
 * @up_since: jiffies when it last came up
 * @state: enum srpol_path_state
 * @reason: enum srpol_path_reason: why it is not up
 * @stale: SRPOL_PATH_* bits
 * @retry_shift: how many times the retry interval has been doubled
 * @reported: it was reported unreachable; until @retry_at
 * @compiled: the data plane has the form that configuration and @bytes describe
 * @announced: listeners have been notified of the path
 * @event: its state, or where it leaves, has changed since the last
 *	notification
 * @retry: a request puts it in service, whatever was reported
 * @refused: the data plane refused the form that an event required
 *
 * All that follows @quotes is written under srpol_net.state_lock only;
 * transactions do so when they commit.
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

/* The configuration as the requests of the present transaction leave it. */
static inline const struct srpol_path_cfg *
srpol_path_cfg(const struct srpol_path *path)
{
	return srpol_obj_wanted(&path->obj);
}

#endif /* _SRPOL_PATH_H */
