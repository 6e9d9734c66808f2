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
 * Softirq never compiles bucket tables: it marks the path or next hop dead in
 * the data plane, which is enough to keep packets off it, and queues the work.
 */
#ifndef _SRPOL_H
#define _SRPOL_H

#include <linux/hashtable.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "netlink_gen.h"
#include "pure.h"

#define SRPOL_NH_HASH_BITS	6
#define SRPOL_EP_HASH_BITS	8
#define SRPOL_POL_HASH_BITS	8

/* Table sizes while no data plane is attached; ids are below them. */
#define SRPOL_DEF_PATHS		16384
#define SRPOL_DEF_NEXTHOPS	1024
#define SRPOL_DEF_POLICIES	4096
#define SRPOL_DEF_ROWS		16384
#define SRPOL_DEF_CLASSES	4096
#define SRPOL_DEF_ENDPOINTS	16384
#define SRPOL_DEF_SIDS		1024
#define SRPOL_DEF_DEVS		64

/* Bucket rows the module keeps account of, whatever the data plane has. */
#define SRPOL_ROWS_MAX		65536

struct srpol_net;
struct srpol_policy;

/**
 * struct srpol_limits - sizes of the tables, ids are below them
 */
struct srpol_limits {
	u32 paths;
	u32 nexthops;
	u32 policies;
	u32 rows;
	u32 classes;
	u32 endpoints;
	u32 sids;
	u32 devs;
};

/**
 * struct srpol_config - settings of the namespace
 * @src: default outer source, :: automatic
 * @hop_limit: outer hop limit
 * @dp: the part the data plane needs
 * @hold_ms: how long a path reported unreachable stays down, 0 for ever
 */
struct srpol_config {
	struct in6_addr src;
	u8 hop_limit;
	struct srpol_dp_config dp;
	u32 hold_ms;
};

/**
 * struct srpol_nexthop - a neighbour that paths leave through
 * @node: in srpol_net.nexthops
 * @id: dense id, 0 once it is unlinked
 * @refs: paths that use it; under srpol_net.lock
 * @dev: egress device, referenced until NETDEV_UNREGISTER
 * @dev_tracker: of that reference
 * @ifindex: of @dev
 * @addr: the neighbour
 * @lladdr: its Ethernet address, meaningful while @up
 * @smac: Ethernet address of @dev when paths were compiled
 * @up: device and neighbour can forward
 * @reason: why not
 * @dirty: changed in softirq, the work has to look at its paths
 * @paths: paths that use it
 */
struct srpol_nexthop {
	struct hlist_node node;
	u32 id;
	u32 refs;
	struct net_device *dev;
	netdevice_tracker dev_tracker;
	int ifindex;
	struct in6_addr addr;
	u8 lladdr[ETH_ALEN];
	u8 smac[ETH_ALEN];
	bool up;
	bool dirty;
	enum srpol_path_reason reason;
	struct list_head paths;
};

/**
 * struct srpol_path_cfg - a path as configured
 */
struct srpol_path_cfg {
	char name[SRPOL_NAME_MAX + 1];
	u32 origin;
	u32 encap;
	u32 n_sids;
	struct in6_addr sids[SRPOL_SIDS_MAX];
	struct in6_addr src;	/* :: default */
	u32 ifindex;		/* 0 by route */
	struct in6_addr via;	/* :: by route or neighbour of the device */
	bool admin_down;
};

/**
 * struct srpol_path_bytes - what resolution puts into a compiled path
 * @src: outer source
 * @dev_mtu: MTU of the egress device
 * @hop_limit: outer hop limit
 * @smac: source address
 * @dmac: destination address
 * @pad: keeps comparison by memcmp() honest
 */
struct srpol_path_bytes {
	struct in6_addr src;
	u32 dev_mtu;
	u8 smac[ETH_ALEN];
	u8 dmac[ETH_ALEN];
	u8 hop_limit;
	u8 pad[3];
};

/**
 * struct srpol_path - a segment list
 * @id: dense id
 * @cfg: what was asked for
 * @nh: next hop, NULL while there is none
 * @nh_node: in srpol_nexthop.paths
 * @bytes: what the compiled form consists of beside @cfg
 * @state: present state
 * @reason: why it is not up
 * @reported: unreachable was reported, until @retry_at
 * @retry_at: jiffies; of the last retry while not @reported
 * @retry_shift: the hold time is doubled so many times
 * @changed_node: in srpol_net.changed while policies do not know @state
 * @users: struct srpol_list that refer to it
 * @n_users: number of them
 * @compiled: the data plane has the form that @cfg and @bytes describe
 * @gp: grace period after the last compiled form
 */
struct srpol_path {
	u32 id;
	struct srpol_path_cfg cfg;
	struct srpol_nexthop *nh;
	struct list_head nh_node;
	struct srpol_path_bytes bytes;
	enum srpol_path_state state;
	enum srpol_path_reason reason;
	bool reported;
	bool compiled;
	u8 retry_shift;
	unsigned long retry_at;
	struct list_head changed_node;
	struct list_head users;
	u32 n_users;
	unsigned long gp;
};

/**
 * struct srpol_list - a weighted segment list of a candidate path
 * @path: the path, whose user it is
 * @path_node: in srpol_path.users
 * @policy: the policy it belongs to
 * @weight: 0 makes it invalid
 */
struct srpol_list {
	struct srpol_path *path;
	struct list_head path_node;
	struct srpol_policy *policy;
	u32 weight;
};

/**
 * struct srpol_candidate - a candidate path
 * @id: identity and preference; @id.valid: at least one list is valid
 * @name: may be empty
 * @lists: its segment lists
 * @n_lists: number of them
 */
struct srpol_candidate {
	struct srpol_cand_id id;
	char name[SRPOL_NAME_MAX + 1];
	struct srpol_list *lists;
	u32 n_lists;
};

/**
 * struct srpol_policy_cfg - a policy as configured
 */
struct srpol_policy_cfg {
	u32 color;
	struct in6_addr endpoint;
	char name[SRPOL_NAME_MAX + 1];
	struct in6_addr bsid;	/* :: none */
	u32 origin;
	u32 mode;
	u32 buckets;
	u32 backup_color;
	u32 on_fail;
	struct srpol_candidate *cands;
	u32 n_cands;
};

/**
 * struct srpol_policy - an SR policy
 * @id: dense id in the data plane
 * @node: in srpol_net.policy_hash
 * @dirty_node: in srpol_net.dirty while a path of it has changed
 * @cfg: configuration; owns the candidate paths
 * @active: index of the active candidate path, -1 none
 * @table_cand: index of the candidate path that @home and @live describe,
 *	-1 if they are empty
 * @state: up: at least one path can forward
 * @reason: why it is not up
 * @home: list of each bucket if all were up
 * @live: list of each bucket now
 * @row: first of two sets of bucket rows
 * @row_live: which set is live
 * @gp: grace period after the last switch
 */
struct srpol_policy {
	u32 id;
	struct hlist_node node;
	struct list_head dirty_node;
	struct srpol_policy_cfg cfg;
	int active;
	int table_cand;
	enum srpol_policy_state state;
	enum srpol_policy_reason reason;
	u8 *home;
	u8 *live;
	u32 row;
	u32 row_live;
	unsigned long gp;
};

/**
 * struct srpol_class - a classifier rule
 * @node: in srpol_net.classes, by priority
 * @id: dense id, index of its counters
 * @slot: slot of the data plane it lives in
 * @name: may be empty
 * @origin: who created it
 * @src_len: prefix length of @dp.src, @dp.match says whether it counts
 * @dst_len: likewise
 * @dp: match and result
 */
struct srpol_class {
	struct rb_node node;
	u32 id;
	char name[SRPOL_NAME_MAX + 1];
	u32 origin;
	u32 src_len;
	u32 dst_len;
	struct srpol_dp_class dp;
};

/**
 * struct srpol_endpoint - an endpoint prefix
 */
struct srpol_endpoint {
	u32 seq;
	struct hlist_node node;
	struct in6_addr prefix;
	u32 prefix_len;
	struct in6_addr address;
	u32 origin;
};

/**
 * struct srpol_sid - a local SID
 */
struct srpol_sid {
	u32 id;
	struct in6_addr sid;
	u32 behavior;
	u32 origin;
};

/**
 * struct srpol_dev - a device srpol is attached to
 */
struct srpol_dev {
	u32 ifindex;
	u32 role;
	u32 xdp_mode;
};

/**
 * struct srpol_net - all state of a network namespace
 * @net: the namespace
 * @lock: see DOC: locking
 * @state_lock: see DOC: locking
 * @dp: attached data plane or NULL
 * @limits: of @dp, or the module's own
 * @gen: number of changes, makes dumps consistent
 * @epoch: last epoch given to the data plane
 * @del_gp: grace period after the last removal of anything with an id
 * @class_gp: grace period after the last switch of the rule order
 * @cfg_gp: grace period after the last change of settings
 * @cfg: settings
 * @paths: struct srpol_path by id
 * @policies: struct srpol_policy by id
 * @policy_hash: the same by color and endpoint
 * @colors: number of policies of a color, value entries
 * @colors_up: number of those that are up
 * @n_backups: number of policies with a backup color
 * @row_map: bitmap of bucket rows in use, SRPOL_ROWS_MAX bits
 * @classes: rules by priority
 * @class_ids: struct srpol_class by id
 * @n_classes: rules in @classes
 * @endpoints: struct srpol_endpoint by an ascending number, for dumps
 * @endpoint_hash: the same by prefix
 * @endpoint_seq: last of those numbers
 * @n_endpoints: number of endpoint prefixes
 * @sids: struct srpol_sid by id
 * @devs: struct srpol_dev by ifindex
 * @n_paths: number of paths
 * @n_policies: number of policies
 * @n_sids: number of local SIDs
 * @n_devs: number of devices
 * @nexthops: next hops by device and address
 * @nexthop_ids: ids in use
 * @n_nexthops: number of next hops
 * @changed: paths whose state policies do not know yet; under @state_lock
 * @n_reported: paths held down by a report; under @state_lock
 * @dirty: policies to compile again
 * @work: re-resolution and recompilation after events
 * @tick: neighbour upkeep and retries
 * @resolve_all: a route or address changed
 * @fib_nb: route notifications
 */
struct srpol_net {
	struct net *net;
	struct mutex lock;
	spinlock_t state_lock;
	struct srpol_dp_ops *dp;
	struct srpol_limits limits;
	u32 gen;
	u32 epoch;
	unsigned long del_gp;
	unsigned long class_gp;
	unsigned long cfg_gp;
	struct srpol_config cfg;
	struct xarray paths;
	struct xarray policies;
	DECLARE_HASHTABLE(policy_hash, SRPOL_POL_HASH_BITS);
	struct xarray colors;
	struct xarray colors_up;
	u32 n_backups;
	unsigned long *row_map;
	struct rb_root classes;
	struct xarray class_ids;
	u32 n_classes;
	struct xarray endpoints;
	DECLARE_HASHTABLE(endpoint_hash, SRPOL_EP_HASH_BITS);
	u32 endpoint_seq;
	u32 n_endpoints;
	struct xarray sids;
	struct xarray devs;
	u32 n_paths;
	u32 n_policies;
	u32 n_sids;
	u32 n_devs;
	DECLARE_HASHTABLE(nexthops, SRPOL_NH_HASH_BITS);
	struct xarray nexthop_ids;
	u32 n_nexthops;
	struct list_head changed;
	u32 n_reported;
	struct list_head dirty;
	struct work_struct work;
	struct delayed_work tick;
	bool resolve_all;
	struct notifier_block fib_nb;
};

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
void srpol_nl_strscpy(char *to, const struct nlattr *attr);
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

/* config.c */
void srpol_config_init(struct srpol_net *sn);

/* dp.c: calls into the data plane; all succeed while none is attached */
int srpol_dp_init(void);
void srpol_dp_net_exit(struct srpol_net *sn);
int srpol_dp_err(struct srpol_net *sn, int err, const char *table, u32 limit,
		 struct netlink_ext_ack *extack);
void srpol_dp_wait_gp(unsigned long gp);
void srpol_dp_epoch(struct srpol_net *sn);

/**
 * srpol_dp_call() - call a method of the attached data plane, if any
 * @sn: namespace, with the lock the method needs held
 * @method: name of the method
 *
 * Return: what the method returns, 0 if no data plane is attached.
 */
#define srpol_dp_call(sn, method, ...)					\
	((sn)->dp ? (sn)->dp->method(__VA_ARGS__) : 0)

/* path.c */
int srpol_path_event_fill(struct srpol_net *sn, struct sk_buff *skb,
			  const void *obj);
void srpol_path_flush(struct srpol_net *sn);

/* resolve.c */
int srpol_path_apply(struct srpol_net *sn, struct srpol_path *path,
		     const struct srpol_path_cfg *cfg,
		     struct netlink_ext_ack *extack);
void srpol_path_refresh(struct srpol_net *sn, struct srpol_path *path);
void srpol_path_refresh_all(struct srpol_net *sn);
void srpol_path_detach_nexthop(struct srpol_net *sn, struct srpol_path *path);
int srpol_path_push(struct srpol_net *sn, struct srpol_path *path);
void srpol_path_set_state(struct srpol_net *sn, struct srpol_path *path,
			  enum srpol_path_state state,
			  enum srpol_path_reason reason);

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
void srpol_nexthop_dev_gone(struct srpol_net *sn,
			    const struct net_device *dev);
void srpol_nexthop_solicit(struct srpol_net *sn);
int srpol_nexthop_push(struct srpol_net *sn, const struct srpol_nexthop *nh);

/* policy.c */
struct srpol_policy *srpol_policy_find(struct srpol_net *sn, u32 color,
				       const struct in6_addr *endpoint);
int srpol_policy_set(struct srpol_net *sn, struct srpol_policy *old,
		     struct srpol_policy_cfg *cfg, struct srpol_policy **out,
		     struct netlink_ext_ack *extack);
void srpol_policy_del(struct srpol_net *sn, struct srpol_policy *policy);
void srpol_policy_cfg_free(struct srpol_policy_cfg *cfg);
void srpol_policy_update_dirty(struct srpol_net *sn);
void srpol_policy_judge(const struct srpol_list *list,
			enum srpol_policy_state *state,
			enum srpol_policy_reason *reason);
int srpol_policy_replay(struct srpol_net *sn);
void srpol_policy_flush(struct srpol_net *sn);
u32 srpol_color_count(struct xarray *colors, u32 color);

/* classifier.c */
struct srpol_class *srpol_class_find(struct srpol_net *sn, u32 priority);
struct srpol_class *srpol_class_next(struct srpol_net *sn, u64 priority);
int srpol_class_set(struct srpol_net *sn, struct srpol_class *old,
		    struct srpol_class *rule, struct netlink_ext_ack *extack);
int srpol_class_del(struct srpol_net *sn, struct srpol_class *rule,
		    struct netlink_ext_ack *extack);
int srpol_class_replay(struct srpol_net *sn);
void srpol_class_flush(struct srpol_net *sn);

/* endpoint.c, sid.c, device.c */
int srpol_endpoint_replay(struct srpol_net *sn);
void srpol_endpoint_flush(struct srpol_net *sn);
int srpol_sid_replay(struct srpol_net *sn);
void srpol_sid_flush(struct srpol_net *sn);
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
