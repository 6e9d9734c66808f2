/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The objects of the srpol module and the state of a namespace. Who may touch
 * what under which lock is in DOC: locking in srpol.h.
 */
#ifndef _SRPOL_TYPES_H
#define _SRPOL_TYPES_H

#include <linux/hashtable.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/sock.h>

#include "pure.h"

#define SRPOL_NH_HASH_BITS	6
#define SRPOL_EP_HASH_BITS	10
#define SRPOL_POL_HASH_BITS	10
#define SRPOL_SID_HASH_BITS	8

/* Table sizes while no data plane is attached; ids are below them. */
#define SRPOL_DEF_PATHS		16384
#define SRPOL_DEF_NEXTHOPS	1024
#define SRPOL_DEF_POLICIES	16384
#define SRPOL_DEF_ROWS		32768
#define SRPOL_DEF_RULES	4096
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
	u32 rules;
	u32 endpoints;
	u32 sids;
	u32 devs;
};

/* Kinds of objects, in the order in which they are prepared. */
enum srpol_kind {
	SRPOL_KIND_CONFIG,
	SRPOL_KIND_PATH,
	SRPOL_KIND_POLICY,
	SRPOL_KIND_RULE,
	SRPOL_KIND_ENDPOINT,
	SRPOL_KIND_SID,
	SRPOL_KINDS,
};

/**
 * struct srpol_change - part of every object: what a transaction does to it
 * @node: in srpol_txn.changes; empty outside of a transaction that touches it
 * @request: the request that touched it last, NULL if there is only one
 * @kind: enum srpol_kind: what it is part of
 * @created: it did not exist before
 * @gone: it does not exist afterwards
 * @saved: its configuration before the transaction is kept
 * @changed: its configuration is another one than before
 * @staged: the data plane was told and has to be told if it is to be undone
 */
struct srpol_change {
	struct list_head node;
	const struct nlattr *request;
	u8 kind;
	bool created;
	bool gone;
	bool saved;
	bool changed;
	bool staged;
};

/**
 * struct srpol_txn - the transaction under way
 * @changes: objects it touches, by kind
 * @request: the request being carried out, NULL if there is only one
 * @blame: the request because of which something is being prepared
 * @event: nobody asked for it: what is refused is left out
 * @staged: something was staged, so there is something to commit
 * @order: an order of rules was staged
 * @reclassify: flows are to be classified again
 * @gp: grace period after the commit
 */
struct srpol_txn {
	struct list_head changes[SRPOL_KINDS];
	const struct nlattr *request;
	const struct nlattr *blame;
	bool event;
	bool staged;
	bool order;
	bool reclassify;
	unsigned long gp;
};

/**
 * struct srpol_config - settings of the namespace
 * @src: default outer source, :: automatic
 * @hop_limit: outer hop limit
 * @retry_interval_ms: how long a path reported unreachable stays down, 0 for
 *	ever
 * @domain_len: prefix lengths of @dp.domain
 * @dp: the part the data plane needs
 */
struct srpol_config {
	struct in6_addr src;
	u32 hop_limit;
	u32 retry_interval_ms;
	u8 domain_len[SRPOL_SR_DOMAIN_MAX];
	struct srpol_dp_config dp;
};

/**
 * struct srpol_nexthop - a neighbour that paths and SIDs leave through
 * @node: in srpol_net.nexthops
 * @id: dense id, 0 once it is unlinked
 * @refs: paths and SIDs that use it; under srpol_net.lock
 * @dev: egress device, referenced until NETDEV_UNREGISTER
 * @dev_tracker: of that reference
 * @ifindex: of @dev
 * @addr: the neighbour, IPv4 as v4-mapped
 * @lladdr: its Ethernet address, meaningful while @up
 * @smac: Ethernet address of @dev when paths were compiled
 * @up: device and neighbour can forward
 * @reason: why not
 * @dirty: changed in softirq, the work has to look at its paths
 * @paths: paths that use it
 * @sids: SIDs that use it; under srpol_net.lock
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
	struct list_head sids;
};

/**
 * struct srpol_path_cfg - a path as configured
 * @name: may be empty
 * @origin: who created it
 * @block_len: bits of the locator block of compressed SIDs, 0 for plain SIDs
 * @csid_len: bits of a compressed SID, 0 for plain SIDs
 * @src: outer source, :: for the default
 * @ifindex: egress device, 0 by route
 * @via: next hop, :: by route or neighbour of the device
 * @admin_down: not to be used
 * @hdr: segment list and TLVs
 *
 * Those that are kept end with the last SID if there are no TLVs.
 */
struct srpol_path_cfg {
	char name[SRPOL_NAME_MAX + 1];
	u32 origin;
	u32 block_len;
	u32 csid_len;
	struct in6_addr src;
	u32 ifindex;
	struct in6_addr via;
	u32 admin_down;
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
 * struct srpol_path_next - what a path will be after the transaction
 * @cfg: configuration, NULL if it stays as it is
 * @nh: next hop, referenced; belongs to the path once committed
 * @bytes: what it is compiled with
 * @reason: enum srpol_path_reason: outcome of the resolution
 * @was: enum srpol_path_state when it was resolved
 * @retry: the request puts it in service, whatever was reported
 * @resolved: the members above @retry are set
 * @compiled: the data plane will have the form that @cfg and @bytes describe
 * @pushed: that form was staged, it is not the one there was
 * @up: what policies take for granted
 */
struct srpol_path_next {
	struct srpol_path_cfg *cfg;
	struct srpol_nexthop *nh;
	struct srpol_path_bytes bytes;
	u8 reason;
	u8 was;
	bool retry;
	bool resolved;
	bool compiled;
	bool pushed;
	bool up;
};

/**
 * struct srpol_path - a segment list
 * @id: dense id
 * @n_users: number of @users
 * @change: its part in a transaction
 * @cfg: what was asked for, NULL until that is committed
 * @next: what it will be
 * @nh: next hop, NULL while there is none
 * @nh_node: in srpol_nexthop.paths
 * @bytes: what the compiled form consists of beside @cfg
 * @state: enum srpol_path_state
 * @reason: enum srpol_path_reason: why it is not up
 * @reported: unreachable was reported, until @retry_at
 * @compiled: the data plane has the form that @cfg and @bytes describe
 * @retry_shift: the retry interval is doubled so many times
 * @retry_at: jiffies; of the last retry while not @reported
 * @up_since: jiffies when it came up last
 * @changed_node: in srpol_net.changed while policies do not know @state
 * @users: struct srpol_list that refer to it
 * @gp: grace period after the last compiled form
 *
 * Softirq looks at everything but @change, @next and @users; so a transaction
 * writes the rest only when it is committed, under srpol_net.state_lock.
 */
struct srpol_path {
	u32 id;
	u32 n_users;
	struct srpol_change change;
	struct srpol_path_cfg *cfg;
	struct srpol_path_next next;
	struct srpol_nexthop *nh;
	struct list_head nh_node;
	struct srpol_path_bytes bytes;
	u8 state;
	u8 reason;
	bool reported;
	bool compiled;
	u8 retry_shift;
	unsigned long retry_at;
	unsigned long up_since;
	struct list_head changed_node;
	struct list_head users;
	unsigned long gp;
};

/**
 * struct srpol_list - a weighted segment list of a candidate path
 * @path: the path, whose user it is
 * @path_node: in srpol_path.users
 * @policy: id of the policy it belongs to
 * @weight: 0 makes it invalid
 */
struct srpol_list {
	struct srpol_path *path;
	struct list_head path_node;
	u32 policy;
	u32 weight;
};

/**
 * struct srpol_candidate - a candidate path
 * @id: identity and preference; its valid is for the compilation only
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
 * struct srpol_policy_set - the scalars of a policy's configuration
 * @name: may be empty
 * @bsid: binding SID, :: none
 * @origin: who created it
 * @mode: enum srpol_lb_mode
 * @symmetric: both directions of a flow are hashed alike
 * @spray: enum srpol_spray
 * @flowlet_timeout: ns after which a flow may move
 * @threshold: congestion signals that make a path bad
 * @dwell_time: ms a path has to be bad or good
 * @wait_to_restore: ms before active-backup and on-congestion go back
 * @buckets: size of the bucket table
 * @backup_color: color of the backup, 0 none
 * @drop_upon_invalid: enum srpol_on_fail
 */
struct srpol_policy_set {
	char name[SRPOL_NAME_MAX + 1];
	struct in6_addr bsid;
	u32 origin;
	u32 mode;
	u32 symmetric;
	u32 spray;
	u32 flowlet_timeout;
	u32 threshold;
	u32 dwell_time;
	u32 wait_to_restore;
	u32 buckets;
	u32 backup_color;
	u32 drop_upon_invalid;
};

/**
 * struct srpol_policy_cfg - a policy as configured
 * @set: all but the candidate paths
 * @cands: candidate paths, owned
 * @n_cands: number of them
 */
struct srpol_policy_cfg {
	struct srpol_policy_set set;
	struct srpol_candidate *cands;
	u32 n_cands;
};

/**
 * struct srpol_table - a compiled policy
 * @n: number of buckets
 * @pair: first of the bucket rows that the policy has, for two tables
 * @row: first bucket row of this one
 * @active: index of the active candidate path, -1 none
 * @valid: bit n: candidate path n has a list that is up
 * @cand: index of the candidate path that @home and @live describe, -1 if
 *	they are empty
 * @state: up: at least one path can forward
 * @reason: why it is not up
 * @pinned: mode active-backup: list in use, SRPOL_NO_LIST
 * @wait_until: jiffies when an earlier list may be returned to, if @waiting
 * @waiting: mode active-backup: an earlier list is up
 * @backup: id of the backup
 * @flags: SRPOL_POLICY_*
 * @live: list of each bucket now: behind @home, or @home if it is the same
 * @home: list of each bucket if all were up
 */
struct srpol_table {
	u32 n;
	u32 pair;
	u32 row;
	int active;
	u32 valid;
	int cand;
	enum srpol_policy_state state;
	enum srpol_policy_reason reason;
	u8 pinned;
	bool waiting;
	unsigned long wait_until;
	u32 backup;
	u32 flags;
	u8 *live;
	u8 home[];
};

/**
 * struct srpol_policy - an SR policy
 * @id: dense id in the data plane
 * @color: RFC 9256 color
 * @endpoint: RFC 9256 endpoint
 * @change: its part in a transaction
 * @node: in srpol_net.policy_hash
 * @bsid_node: in srpol_net.bsid_hash while it has a binding SID
 * @wait_node: in srpol_net.waiting while the present table is waiting
 * @cfg: configuration; owns the candidate paths
 * @old: the one before the transaction, while @change.saved; owns its own,
 *	unless they still are those of @cfg
 * @table: what packets see
 * @next: what they will see
 * @gp: grace period after the last switch
 */
struct srpol_policy {
	u32 id;
	u32 color;
	struct in6_addr endpoint;
	struct srpol_change change;
	struct hlist_node node;
	struct hlist_node bsid_node;
	struct list_head wait_node;
	struct srpol_policy_cfg cfg;
	struct srpol_policy_cfg *old;
	struct srpol_table *table;
	struct srpol_table *next;
	unsigned long gp;
};

/**
 * struct srpol_rule_cfg - a rule as configured
 * @name: may be empty
 * @origin: who created it
 * @src_len: prefix length of @dp.src, @dp.match says whether it counts
 * @dst_len: likewise
 * @dp: match and result, and the slot it lives in
 */
struct srpol_rule_cfg {
	char name[SRPOL_NAME_MAX + 1];
	u32 origin;
	u32 src_len;
	u32 dst_len;
	struct srpol_dp_rule dp;
};

/**
 * struct srpol_rule - a rule
 * @node: in srpol_net.rules, by priority
 * @id: dense id, index of its counters
 * @change: its part in a transaction
 * @cfg: configuration
 * @old: the one before the transaction, while @change.saved
 */
struct srpol_rule {
	struct rb_node node;
	u32 id;
	struct srpol_change change;
	struct srpol_rule_cfg cfg;
	struct srpol_rule_cfg old;
};

/**
 * struct srpol_endpoint_cfg - an endpoint prefix as configured
 * @address: RFC 9256 endpoint
 * @origin: who created it
 */
struct srpol_endpoint_cfg {
	struct in6_addr address;
	u32 origin;
};

/**
 * struct srpol_endpoint - an endpoint prefix
 * @seq: its number in srpol_net.endpoints
 * @change: its part in a transaction
 * @node: in srpol_net.endpoint_hash
 * @prefix: v4-mapped for IPv4
 * @prefix_len: IPv4 as 96 + length
 * @cfg: configuration
 * @old: the one before the transaction, while @change.saved
 * @gp: grace period after its last change
 */
struct srpol_endpoint {
	u32 seq;
	struct srpol_change change;
	struct hlist_node node;
	struct in6_addr prefix;
	u32 prefix_len;
	struct srpol_endpoint_cfg cfg;
	struct srpol_endpoint_cfg old;
	unsigned long gp;
};

/**
 * struct srpol_sid_cfg - a local SID as configured
 * @behavior: enum srpol_behavior
 * @origin: who created it
 * @block_len: bits of the locator block, 0 for plain SIDs
 * @ifindex: device of the adjacency, 0 none
 * @via: neighbour of the adjacency, v4-mapped for IPv4
 */
struct srpol_sid_cfg {
	u32 behavior;
	u32 origin;
	u32 block_len;
	u32 ifindex;
	struct in6_addr via;
};

/**
 * struct srpol_sid - a local SID
 * @id: dense id
 * @change: its part in a transaction
 * @node: in srpol_net.sid_hash, by address
 * @sid: the SID
 * @prefix_len: bits of locator and function
 * @cfg: configuration
 * @old: the one before the transaction, while @change.saved
 * @nh: next hop of the adjacency, NULL while there is none
 * @old_nh: the one before the transaction, while @change.staged; referenced
 * @nh_node: in srpol_nexthop.sids
 * @l2: Ethernet addresses the data plane has
 */
struct srpol_sid {
	u32 id;
	struct srpol_change change;
	struct hlist_node node;
	struct in6_addr sid;
	u32 prefix_len;
	struct srpol_sid_cfg cfg;
	struct srpol_sid_cfg old;
	struct srpol_nexthop *nh;
	struct srpol_nexthop *old_nh;
	struct list_head nh_node;
	u8 l2[2 * ETH_ALEN];
};

/**
 * struct srpol_dev - a device srpol is attached to
 * @ifindex: the device
 * @role: enum srpol_dev_role
 * @xdp_mode: enum srpol_xdp_mode
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
 * @txn: transaction under way, while @lock is held
 * @gen: number of changes, makes dumps consistent
 * @del_gp: grace period after the last removal of anything with an id
 * @rule_gp: grace period after the last switch of the rule order
 * @cfg_gp: grace period after the last change of settings
 * @cfg: settings
 * @old_cfg: those before the transaction
 * @cfg_change: their part in a transaction
 * @paths: struct srpol_path by id
 * @policies: struct srpol_policy by id
 * @policy_hash: the same by color and endpoint
 * @bsid_hash: those with a binding SID, by that
 * @colors: number of policies of a color, value entries
 * @colors_up: number of those that are up
 * @n_backups: number of policies with a backup color
 * @row_map: bitmap of bucket rows in use, SRPOL_ROWS_MAX bits
 * @scratch: a table of full size, to compile into
 * @rules: rules by priority
 * @rule_ids: struct srpol_rule by id
 * @n_rules: rules in @rules
 * @endpoints: struct srpol_endpoint by an ascending number, for dumps
 * @endpoint_hash: the same by prefix
 * @endpoint_seq: last of those numbers
 * @n_endpoints: number of endpoint prefixes
 * @sids: struct srpol_sid by id
 * @sid_hash: the same by address
 * @devs: struct srpol_dev by ifindex
 * @n_paths: number of paths
 * @n_policies: number of policies
 * @n_sids: number of local SIDs
 * @n_devs: number of devices
 * @n_uplinks: number of those that are uplinks
 * @nexthops: next hops by device and address
 * @nexthop_ids: ids in use
 * @n_nexthops: number of next hops
 * @changed: paths whose state policies do not know yet; under @state_lock
 * @n_reported: paths held down by a report; under @state_lock
 * @waiting: policies of mode active-backup that wait to restore an earlier list
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
	struct srpol_txn txn;
	u32 gen;
	unsigned long del_gp;
	unsigned long rule_gp;
	unsigned long cfg_gp;
	struct srpol_config cfg;
	struct srpol_config old_cfg;
	struct srpol_change cfg_change;
	struct xarray paths;
	struct xarray policies;
	DECLARE_HASHTABLE(policy_hash, SRPOL_POL_HASH_BITS);
	DECLARE_HASHTABLE(bsid_hash, SRPOL_POL_HASH_BITS);
	struct xarray colors;
	struct xarray colors_up;
	u32 n_backups;
	unsigned long *row_map;
	struct srpol_table *scratch;
	struct rb_root rules;
	struct xarray rule_ids;
	u32 n_rules;
	struct xarray endpoints;
	DECLARE_HASHTABLE(endpoint_hash, SRPOL_EP_HASH_BITS);
	u32 endpoint_seq;
	u32 n_endpoints;
	struct xarray sids;
	DECLARE_HASHTABLE(sid_hash, SRPOL_SID_HASH_BITS);
	struct xarray devs;
	u32 n_paths;
	u32 n_policies;
	u32 n_sids;
	u32 n_devs;
	u32 n_uplinks;
	DECLARE_HASHTABLE(nexthops, SRPOL_NH_HASH_BITS);
	struct xarray nexthop_ids;
	u32 n_nexthops;
	struct list_head changed;
	u32 n_reported;
	struct list_head waiting;
	struct work_struct work;
	struct delayed_work tick;
	bool resolve_all;
	struct notifier_block fib_nb;
};

#endif /* _SRPOL_TYPES_H */
