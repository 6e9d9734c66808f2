/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_POLICY_H
#define _SRPOL_POLICY_H

#include "netns.h"

struct srpol_path;
struct srpol_policy;

/**
 * struct srpol_list - a weighted segment list of a candidate path
 * @path: the path, of which this list is a user
 * @path_node: in srpol_path.users
 * @policy: the policy that it belongs to
 * @weight: 0 makes the list invalid
 */
struct srpol_list {
	struct srpol_path *path;
	struct list_head path_node;
	struct srpol_policy *policy;
	u32 weight;
};

/**
 * struct srpol_candidate - a candidate path
 * @id: identity and preference
 * @name: may be empty
 * @n_lists: number of its segment lists
 * @lists: its segment lists
 */
struct srpol_candidate {
	struct srpol_cand_id id;
	char name[SRPOL_NAME_MAX + 1];
	u32 n_lists;
	struct srpol_list *lists;
};

/**
 * struct srpol_policy_set - configuration of a policy apart from candidate
 *	paths
 * @name: may be empty
 * @bsid: binding SID, :: for none
 * @origin: who created it
 * @mode: enum srpol_lb_mode
 * @symmetric: both directions of a flow are hashed alike
 * @spray: enum srpol_spray
 * @drop_upon_invalid: drop packets while no path is up, else pass them
 * @flowlet_timeout: idle time in ns after which a flow may move
 * @threshold: number of congestion signals that make a path bad
 * @dwell_time: ms for which a move must be pending before it happens without
 *	idle time
 * @wait_to_restore: ms before modes active-backup and on-congestion return
 * @buckets: size of the bucket table
 * @backup_color: color of the backup, 0: none
 */
struct srpol_policy_set {
	char name[SRPOL_NAME_MAX + 1];
	struct in6_addr bsid;
	u32 origin;
	u8 mode;
	u8 symmetric;
	u8 spray;
	u8 drop_upon_invalid;
	u32 flowlet_timeout;
	u32 threshold;
	u32 dwell_time;
	u32 wait_to_restore;
	u32 buckets;
	u32 backup_color;
};

/**
 * struct srpol_policy_cfg - a policy as configured
 * @policy: the policy that it belongs to, once it is linked
 * @bsid_node: in srpol_net.bsids if it is linked and has a binding SID
 * @revision: serial number of this definition among all in the namespace
 * @set: all but the candidate paths
 * @n_cands: number of candidate paths
 * @cands: candidate paths; their segment lists follow in memory
 */
struct srpol_policy_cfg {
	struct srpol_policy *policy;
	struct rhlist_head bsid_node;
	u32 revision;
	struct srpol_policy_set set;
	u32 n_cands;
	struct srpol_candidate cands[] __counted_by(n_cands);
};

/**
 * struct srpol_table - a compiled policy
 * @kept: next table in the list that srpol_policy.kept begins
 * @n: number of buckets
 * @pair: first of the bucket rows of the policy, which are for two tables
 * @row: first bucket row of this table
 * @active: index of the active candidate path, -1: none
 * @valid: bit n is set if candidate path n has a list that is up
 * @cand: index of the candidate path that @primary and @live are for, -1 if
 *	they are empty
 * @state: up if at least one path can forward
 * @reason: why it is not up
 * @in_use: mode active-backup: list in use, or SRPOL_NO_LIST
 * @wait_until: jiffies when an earlier list may be returned to, if @waiting
 * @waiting: mode active-backup: an earlier list is up
 * @backup: id of the backup policy
 * @flags: SRPOL_POLICY_*
 * @live: present list of each bucket; follows @primary, or is @primary if both
 *	are equal
 * @primary: list of each bucket if all lists were up
 */
struct srpol_table {
	struct srpol_table *kept;
	u32 n;
	u32 pair;
	u32 row;
	int active;
	u32 valid;
	int cand;
	u32 backup;
	unsigned long wait_until;
	u8 state;
	u8 reason;
	u8 in_use;
	u8 flags;
	bool waiting;
	u8 *live;
	u8 primary[];
};

/**
 * struct srpol_policy_key - what identifies a policy
 * @color: RFC 9256 color
 * @endpoint: RFC 9256 endpoint
 */
struct srpol_policy_key {
	u32 color;
	struct in6_addr endpoint;
};

/**
 * struct srpol_policy - an SR policy
 * @obj: its configuration, struct srpol_policy_cfg
 * @id: dense id in the data plane
 * @key: color and endpoint
 * @node: in srpol_net.policy_keys
 * @wait_node: in srpol_net.waiting while the present table is waiting
 * @stale_node: in srpol_net.stale_policies or refused_policies
 * @table: table in force
 * @next: table to be put in force by the present transaction
 * @kept: tables of candidate paths that were active before, so that these
 *	return as they were; of the present configuration only
 * @gp: grace period that begins with the last switch of tables
 * @event: state of @table has changed since the last notification
 */
struct srpol_policy {
	struct srpol_obj obj;
	u32 id;
	struct srpol_policy_key key;
	struct rhash_head node;
	struct list_head wait_node;
	struct list_head stale_node;
	struct srpol_table *table;
	struct srpol_table *next;
	struct srpol_table *kept;
	unsigned long gp;
	bool event;
};

extern const struct srpol_obj_ops srpol_policy_ops;
extern const struct srpol_policy_set srpol_policy_defaults;

/* Tables of a namespace; they are made when it is first configured. */
int srpol_policy_init(struct srpol_net *sn);
void srpol_policy_exit(struct srpol_net *sn);

/* policy.c */
struct srpol_policy *srpol_policy_find(struct srpol_net *sn, u32 color,
				       const struct in6_addr *endpoint);
const struct srpol_policy *
srpol_policy_find_bsid(struct srpol_net *sn, const struct in6_addr *bsid);
struct srpol_policy_cfg *srpol_policy_cfg_alloc(u32 n_cands, u32 n_lists);
int srpol_policy_define(struct srpol_net *sn, u32 color,
			const struct in6_addr *endpoint,
			struct srpol_policy_cfg *cfg,
			struct netlink_ext_ack *extack);
void srpol_policy_delete(struct srpol_net *sn, struct srpol_policy *policy);
void srpol_policy_flush(struct srpol_net *sn);
u32 srpol_color_count(struct xarray *colors, u32 color);
void srpol_color_add(struct xarray *colors, u32 color, int delta);

/* compile.c */
int srpol_policy_stage(struct srpol_net *sn, struct srpol_obj *obj,
		       struct netlink_ext_ack *extack);
void srpol_policy_switch(struct srpol_net *sn, struct srpol_policy *policy);
void srpol_policy_unstage(struct srpol_net *sn, struct srpol_policy *policy);
void srpol_list_state(const struct srpol_list *list,
		      enum srpol_policy_state *state,
		      enum srpol_policy_reason *reason);
struct srpol_dp_policy srpol_policy_to_dp(const struct srpol_policy *policy,
					  const struct srpol_table *table);
int srpol_policy_replay(struct srpol_net *sn);

const struct srpol_policy *
srpol_policy_backup(struct srpol_net *sn, u32 color,
		    const struct srpol_policy *policy);

/* table.c */
int srpol_table_alloc_rows(struct srpol_net *sn, struct srpol_table *table,
			   const struct srpol_table *was,
			   struct netlink_ext_ack *extack);
void srpol_table_put_rows(struct srpol_net *sn,
			  const struct srpol_table *table);
struct srpol_table *srpol_table_scratch(struct srpol_net *sn);
struct srpol_table *srpol_table_copy(const struct srpol_table *from);
void srpol_policy_free_kept(struct srpol_policy *policy);

/* follow.c: policies that depend on paths, other policies and time */
void srpol_policy_prepare(struct srpol_net *sn);
void srpol_policy_path_changed(struct srpol_net *sn, struct srpol_path *path);
u32 srpol_policy_take_stale(struct srpol_net *sn, u32 most);
unsigned long srpol_policy_tick(struct srpol_net *sn);

/* policy_nl.c */
int srpol_policy_fill(struct srpol_net *sn, struct sk_buff *skb,
		      const struct srpol_obj *obj);
int srpol_policy_new(struct srpol_net *sn, struct genl_info *info);
int srpol_policy_del(struct srpol_net *sn, struct genl_info *info);

/* policy_parse.c */
int srpol_policy_parse_key(const struct genl_info *info, u32 *color,
			   struct in6_addr *endpoint);
int srpol_policy_parse_set(struct srpol_net *sn, struct srpol_policy_set *set,
			   u32 color, const struct srpol_policy *self,
			   const struct genl_info *info);
struct srpol_policy_cfg *
srpol_policy_parse_cands(struct srpol_net *sn,
			 const struct srpol_policy_set *set,
			 const struct genl_info *info);

static inline struct srpol_policy *srpol_policy(const struct srpol_obj *obj)
{
	return container_of(obj, struct srpol_policy, obj);
}

/* The configuration as the requests of the present transaction leave it. */
static inline struct srpol_policy_cfg *
srpol_policy_cfg(const struct srpol_policy *policy)
{
	return srpol_obj_wanted(&policy->obj);
}

#endif /* _SRPOL_POLICY_H */
