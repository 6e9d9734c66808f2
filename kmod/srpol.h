/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Internal interfaces of the srpol module.
 *
 * DOC: locking
 *
 * Everything belongs to a struct srpol_net, one per network namespace.
 *
 * @lock (mutex) protects all configuration: the objects, the tables they are
 * in, and which data plane is attached. Netlink requests, netdev events and
 * the work item take it. It nests inside RTNL (netdev notifiers hold RTNL), so
 * RTNL is never taken under it.
 *
 * @state_lock (spinlock, BH) protects what packets and neighbours can change
 * from softirq: the state and reason of paths, @up and the addresses of next
 * hops, the lists of next hops and of the paths of a next hop. It nests inside
 * @lock. Writers hold both or only @state_lock; whoever holds @lock alone may
 * read the lists, as they are changed under both.
 *
 * @dp is written under both locks, so either is enough to call it. The methods
 * path_state and nexthop_set are called under @state_lock, in the order in
 * which states change; all others under @lock.
 *
 * All changes are transactions, see DOC: transactions in txn.c.
 *
 * Softirq never compiles bucket tables: it marks the path or next hop dead in
 * the data plane, which is enough to keep packets off it, and queues the work.
 */
#ifndef _SRPOL_H
#define _SRPOL_H

#include <net/genetlink.h>

#include "netlink_gen.h"
#include "types.h"

/* main.c */
extern struct genl_family srpol_nl_family;

/* netns.c */
extern const struct srpol_limits srpol_default_limits;

struct srpol_net *srpol_net(const struct net *net);
int srpol_netns_init(void);
void srpol_netns_exit(void);

/* netlink.c */
enum srpol_verb {
	SRPOL_VERB_NEW,		/* does not exist: define it */
	SRPOL_VERB_REPLACE,	/* exists: define it anew */
	SRPOL_VERB_CHANGE,	/* exists: alter what is given */
};

typedef int (*srpol_fill_t)(struct srpol_net *sn, struct sk_buff *skb,
			    const void *obj);

int srpol_nl_verb(const struct genl_info *info, bool exists, u32 old_origin,
		  struct nlattr *origin);
int srpol_nl_name(char *to, const struct nlattr *attr,
		  struct netlink_ext_ack *extack);
void srpol_nl_u32(u32 *to, const struct nlattr *attr);
u32 srpol_nl_count(const struct nlattr *head, int len, int type);
int srpol_nl_reply(struct srpol_net *sn, struct genl_info *info,
		   srpol_fill_t fill, const void *obj);
int srpol_nl_dump_one(struct srpol_net *sn, struct sk_buff *skb,
		      struct netlink_callback *cb, srpol_fill_t fill,
		      const void *obj);
int srpol_nl_dump_xa(struct sk_buff *skb, struct netlink_callback *cb,
		     struct xarray *xa, srpol_fill_t fill);
void srpol_nl_notify(struct srpol_net *sn, const struct genl_info *info,
		     u8 cmd, u32 group, srpol_fill_t fill, const void *obj);
int srpol_nl_check_unicast(const struct nlattr *attr,
			   struct netlink_ext_ack *extack, const char *what);
bool srpol_nl_prefix_ok(struct in6_addr *prefix, u32 len,
			struct in6_addr *mask);

/* txn.c */

/**
 * struct srpol_change_ops - what a kind of object does in a transaction
 * @same: is the configuration the saved one; called for objects that existed
 *	before and do afterwards
 * @prepare: before the first @stage of this kind, may be NULL
 * @stage: tell the data plane what it will be; once, after all requests
 * @finish: after the last @stage, may be NULL
 * @commit: the data plane has switched
 * @abort: put everything back as it was; can not fail; frees what was created
 * @remove: free one that is gone, after the notification
 * @fill: attributes of notifications
 * @ntf: notification of a new or changed object
 * @offset: of struct srpol_change in the object
 * @del_ntf: notification of one that is gone
 *
 * All are called with srpol_net.lock held.
 */
struct srpol_change_ops {
	bool (*same)(struct srpol_net *sn, const void *obj);
	void (*prepare)(struct srpol_net *sn);
	int (*stage)(struct srpol_net *sn, struct srpol_change *change,
		     struct netlink_ext_ack *extack);
	int (*finish)(struct srpol_net *sn, struct netlink_ext_ack *extack);
	void (*commit)(struct srpol_net *sn, struct srpol_change *change);
	void (*abort)(struct srpol_net *sn, struct srpol_change *change);
	void (*remove)(struct srpol_net *sn, struct srpol_change *change);
	srpol_fill_t fill;
	u16 offset;
	u8 ntf;
	u8 del_ntf;
};

typedef int (*srpol_write_t)(struct srpol_net *sn, struct genl_info *info);

void srpol_txn_init(struct srpol_net *sn);
void srpol_change_init(struct srpol_change *change, enum srpol_kind kind);
void srpol_txn_touch(struct srpol_net *sn, struct srpol_change *change);
void srpol_txn_staged(struct srpol_net *sn, struct srpol_change *change);
int srpol_txn_doit(struct genl_info *info, srpol_write_t write);
void srpol_txn_begin(struct srpol_net *sn, bool event);
int srpol_txn_end(struct srpol_net *sn, const struct genl_info *info, int err);

static inline bool srpol_change_active(const struct srpol_change *change)
{
	return !list_empty(&change->node);
}

/* the writes that a transaction can consist of */
int srpol_path_new(struct srpol_net *sn, struct genl_info *info);
int srpol_path_del(struct srpol_net *sn, struct genl_info *info);
int srpol_policy_new(struct srpol_net *sn, struct genl_info *info);
int srpol_policy_del(struct srpol_net *sn, struct genl_info *info);
int srpol_rule_new(struct srpol_net *sn, struct genl_info *info);
int srpol_rule_del(struct srpol_net *sn, struct genl_info *info);
int srpol_endpoint_new(struct srpol_net *sn, struct genl_info *info);
int srpol_endpoint_del(struct srpol_net *sn, struct genl_info *info);
int srpol_sid_new(struct srpol_net *sn, struct genl_info *info);
int srpol_sid_del(struct srpol_net *sn, struct genl_info *info);
int srpol_config_set(struct srpol_net *sn, struct genl_info *info);

extern const struct srpol_change_ops srpol_config_change_ops;
extern const struct srpol_change_ops srpol_path_change_ops;
extern const struct srpol_change_ops srpol_policy_change_ops;
extern const struct srpol_change_ops srpol_rule_change_ops;
extern const struct srpol_change_ops srpol_endpoint_change_ops;
extern const struct srpol_change_ops srpol_sid_change_ops;

/* config.c */
void srpol_config_init(struct srpol_net *sn);

/* dp.c: calls into the data plane; all succeed while none is attached */
int srpol_dp_init(void);
void srpol_dp_net_exit(struct srpol_net *sn);
int srpol_dp_err(struct srpol_net *sn, int err, const char *table, u32 limit,
		 struct netlink_ext_ack *extack);
void srpol_dp_wait_gp(struct srpol_net *sn, unsigned long gp);

/**
 * srpol_dp_call() - call a method of the attached data plane, if any
 * @sn: namespace, with the lock the method needs held
 * @method: name of the method
 *
 * Return: what the method returns, 0 if no data plane is attached.
 */
#define srpol_dp_call(sn, method, ...)					\
	((sn)->dp ? (sn)->dp->method(__VA_ARGS__) : 0)

/* path.c: objects and their state */
struct srpol_path *srpol_path_find(struct srpol_net *sn, u32 id);
const struct srpol_path_cfg *srpol_path_cfg(const struct srpol_path *path);
void srpol_path_copy_cfg(const struct srpol_path *path,
			 struct srpol_path_cfg *cfg);
struct srpol_path *srpol_path_set_cfg(struct srpol_net *sn, u32 id,
				      const struct srpol_path_cfg *cfg,
				      const struct nlattr *attr,
				      struct netlink_ext_ack *extack);
void srpol_path_delete(struct srpol_net *sn, struct srpol_path *path);
bool srpol_path_usable(const struct srpol_path *path);
bool srpol_path_known(const struct srpol_path *path);
enum srpol_path_reason
srpol_path_reason(const struct srpol_path_cfg *cfg,
		  enum srpol_path_reason resolved,
		  const struct srpol_nexthop *nh, bool reported);
enum srpol_path_state srpol_path_reason_state(enum srpol_path_reason reason);
void srpol_path_set_state(struct srpol_net *sn, struct srpol_path *path,
			  enum srpol_path_reason reason);
void srpol_path_mark(struct srpol_net *sn, struct srpol_path *path);
void srpol_path_detach_nexthop(struct srpol_net *sn, struct srpol_path *path);
int srpol_path_replay(struct srpol_net *sn);
void srpol_path_flush(struct srpol_net *sn);

/* path_nl.c */
int srpol_path_fill(struct srpol_net *sn, struct sk_buff *skb,
		    const void *obj);
int srpol_path_event_fill(struct srpol_net *sn, struct sk_buff *skb,
			  const void *obj);

/* resolve.c */
int srpol_path_stage(struct srpol_net *sn, struct srpol_change *change,
		     struct netlink_ext_ack *extack);
int srpol_path_push(struct srpol_net *sn, struct srpol_path *path);
void srpol_path_refresh(struct srpol_net *sn, struct srpol_path *path);
void srpol_path_refresh_all(struct srpol_net *sn);

/* nexthop.c */
struct srpol_nexthop *srpol_nexthop_get(struct srpol_net *sn,
					struct net_device *dev,
					const struct in6_addr *addr,
					struct netlink_ext_ack *extack);
void srpol_nexthop_put(struct srpol_net *sn, struct srpol_nexthop *nh);
struct srpol_nexthop *srpol_nexthop_find(struct srpol_net *sn, int ifindex,
					 const struct in6_addr *addr);
bool srpol_nexthop_update(struct srpol_net *sn, struct srpol_nexthop *nh);
void srpol_nexthop_neigh_event(struct srpol_net *sn, struct neighbour *n);
void srpol_nexthop_refresh(struct srpol_net *sn,
			   const struct net_device *dev);
void srpol_nexthop_dev_leave(struct srpol_net *sn,
			     const struct net_device *dev);
void srpol_nexthop_dev_gone(struct srpol_net *sn,
			    const struct net_device *dev);
void srpol_nexthop_solicit(struct srpol_net *sn);
int srpol_nexthop_push(struct srpol_net *sn, const struct srpol_nexthop *nh);

/* neigh.c */
struct neighbour *srpol_neigh_get(struct net_device *dev,
				  const struct in6_addr *addr);
bool srpol_neigh_addr(const struct neighbour *n, struct in6_addr *addr);

/* policy.c */
struct srpol_policy *srpol_policy_find(struct srpol_net *sn, u32 color,
				       const struct in6_addr *endpoint);
struct srpol_policy *srpol_policy_find_bsid(struct srpol_net *sn,
					    const struct in6_addr *bsid);
int srpol_policy_set_cfg(struct srpol_net *sn, u32 color,
			 const struct in6_addr *endpoint,
			 struct srpol_policy_cfg *cfg,
			 struct netlink_ext_ack *extack);
int srpol_policy_delete(struct srpol_net *sn, struct srpol_policy *policy);
struct srpol_policy *srpol_list_policy(struct srpol_net *sn,
				       const struct srpol_list *list);
void srpol_policy_cfg_free(struct srpol_policy_cfg *cfg);
void srpol_policy_flush(struct srpol_net *sn);
u32 srpol_color_count(struct xarray *colors, u32 color);
void srpol_color_add(struct xarray *colors, u32 color, int delta);

/* policy_nl.c */
int srpol_policy_fill(struct srpol_net *sn, struct sk_buff *skb,
		      const void *obj);
int srpol_policy_event_fill(struct srpol_net *sn, struct sk_buff *skb,
			    const void *obj);

/* policy_parse.c */
int srpol_policy_parse_key(const struct genl_info *info, u32 *color,
			   struct in6_addr *endpoint);

/* compile.c */
void srpol_policy_judge(const struct srpol_list *list,
			enum srpol_policy_state *state,
			enum srpol_policy_reason *reason);
void srpol_policy_prepare(struct srpol_net *sn);
int srpol_policy_stage(struct srpol_net *sn, struct srpol_change *change,
		       struct netlink_ext_ack *extack);
void srpol_policy_switch(struct srpol_net *sn, struct srpol_policy *policy);
void srpol_policy_unstage(struct srpol_net *sn, struct srpol_policy *policy);
struct srpol_dp_policy srpol_policy_to_dp(const struct srpol_policy *policy,
					  const struct srpol_table *table);
void srpol_table_free(struct srpol_net *sn, struct srpol_table *table);
void srpol_policy_touch_users(struct srpol_net *sn,
			      const struct srpol_path *path);
unsigned long srpol_policy_wait_to_restore(struct srpol_net *sn);
int srpol_policy_replay(struct srpol_net *sn);

/* rule.c */
struct srpol_rule *srpol_rule_find(struct srpol_net *sn, u32 priority);
struct srpol_rule *srpol_rule_next(struct srpol_net *sn, u64 priority);
int srpol_rule_set_cfg(struct srpol_net *sn, u32 priority,
			struct srpol_rule_cfg *cfg,
			struct netlink_ext_ack *extack);
void srpol_rule_delete(struct srpol_net *sn, struct srpol_rule *rule);
int srpol_rule_replay(struct srpol_net *sn);
void srpol_rule_flush(struct srpol_net *sn);

/* rule_nl.c */
int srpol_rule_fill(struct srpol_net *sn, struct sk_buff *skb,
		     const void *obj);

/* rule_parse.c */
int srpol_rule_parse(struct srpol_net *sn, struct srpol_rule_cfg *cfg,
		      bool change, const struct genl_info *info);

/* endpoint.c */
int srpol_endpoint_replay(struct srpol_net *sn);
void srpol_endpoint_flush(struct srpol_net *sn);

/* sid.c */
struct srpol_sid *srpol_sid_find(struct srpol_net *sn,
				 const struct in6_addr *addr, u32 len);
struct srpol_sid *srpol_sid_find_any(struct srpol_net *sn,
				     const struct in6_addr *addr);
int srpol_sid_set_cfg(struct srpol_net *sn, const struct in6_addr *addr,
		      u32 len, const struct srpol_sid_cfg *cfg,
		      struct netlink_ext_ack *extack);
void srpol_sid_delete(struct srpol_net *sn, struct srpol_sid *sid);
enum srpol_path_reason srpol_sid_reason(const struct srpol_sid *sid);
void srpol_sid_refresh(struct srpol_net *sn, struct srpol_sid *sid);
void srpol_sid_refresh_dev(struct srpol_net *sn, const struct net_device *dev);
void srpol_sid_detach_nexthop(struct srpol_net *sn, struct srpol_sid *sid);
int srpol_sid_replay(struct srpol_net *sn);
void srpol_sid_flush(struct srpol_net *sn);

/* sid_nl.c */
int srpol_sid_fill(struct srpol_net *sn, struct sk_buff *skb,
		   const void *obj);

/* device.c */
int srpol_dev_replay(struct srpol_net *sn);
void srpol_dev_gone(struct srpol_net *sn, struct net_device *dev);
void srpol_dev_flush(struct srpol_net *sn);
bool srpol_dev_is_uplink(struct srpol_net *sn, int ifindex);

/* events.c */
int srpol_events_init(void);
void srpol_events_exit(void);
int srpol_events_net_init(struct srpol_net *sn);
void srpol_events_net_exit(struct srpol_net *sn);
void srpol_events_kick(struct srpol_net *sn);
void srpol_events_retry_at(struct srpol_net *sn, unsigned long delay);

/* icmp.c */
int srpol_icmp_net_init(struct srpol_net *sn);
void srpol_icmp_net_exit(struct srpol_net *sn);

#endif /* _SRPOL_H */
