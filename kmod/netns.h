/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of a network namespace.
 *
 * DOC: locking
 *
 * Everything belongs to a struct srpol_net, one per network namespace.
 *
 * @lock (mutex) protects all configuration: the objects, the tables that they
 *	are in, and which data plane is attached. Netlink requests and work
 *	items take it, notifiers do not. So it may be held for as long as a
 *	transaction takes, without delaying the reaction to failures. RTNL is
 *	taken inside srpol_nets_lock and inside no other lock here; under RTNL,
 *	only @state_lock is taken.
 *
 * @state_lock (spinlock, BH) protects what devices, neighbors, packets and
 *	verdicts change: next hops, the state of paths, and the lists of objects
 *	that the work items have to process. It nests inside @lock. Its sections
 *	are short: none walks more than the next hops of the namespace. Lists
 *	that are written under both locks may be read under either.
 *
 * @dp is written under both locks, so that either is enough to call it. The
 *	methods path_state and nexthop_set are called under @state_lock, in the
 *	order in which states change; all others under @lock.
 *
 * srpol_nets_lock (mutex, netns.c) protects the list of namespaces in use. It
 * is taken before @lock.
 *
 * Failure and configuration: a notifier marks next hops down, and a report or
 * verdict marks a path down, in the data plane as well, so that packets leave
 * them at once; then they queue @work. The work resolves paths and compiles
 * policies in slices, each a transaction of its own, so that requests get their
 * turn in between. The state of paths and next hops is not part of a
 * configuration; a transaction does not touch it until its commit, which takes
 * into account what has happened meanwhile.
 */
#ifndef _SRPOL_NETNS_H
#define _SRPOL_NETNS_H

#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/ratelimit_types.h>
#include <linux/rbtree.h>
#include <linux/rhashtable-types.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "pure.h"
#include "txn.h"

struct srpol_table;

/* Table sizes while no data plane is attached; ids are below them. */
#define SRPOL_DEF_PATHS		16384
#define SRPOL_DEF_NEXTHOPS	1024
#define SRPOL_DEF_POLICIES	16384
#define SRPOL_DEF_ROWS		32768
#define SRPOL_DEF_RULES		4096
#define SRPOL_DEF_ENDPOINTS	16384
#define SRPOL_DEF_SIDS		1024
#define SRPOL_DEF_DEVS		64

/*
 * Bucket rows that the module keeps account of, whatever the size in the data
 * plane.
 */
#define SRPOL_ROWS_MAX		65536

/**
 * struct srpol_limits - sizes of the tables; ids are below them
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

/* Bits of srpol_net.flags. */
enum srpol_net_flag {
	SRPOL_NET_STARTED,	/* tables, hooks and notifiers exist */
	SRPOL_NET_DYING,	/* nothing may be queued any more */
	SRPOL_NET_RESOLVE,	/* a route or address changed */
	SRPOL_NET_DEVS_GONE,	/* attached devices have disappeared */
	SRPOL_NET_ATTACHED,	/* a data plane has been attached once */
};

/**
 * struct srpol_net - all state of a network namespace
 * @net: the namespace
 * @node: in srpol_nets once it is started
 * @lock: see DOC: locking
 * @state_lock: see DOC: locking
 * @flags: enum srpol_net_flag
 * @dp: attached data plane or NULL
 * @limits: table sizes of @dp, or the module's own
 * @attach_gp: grace period that begins when the data plane has been told
 *	everything
 * @del_gp: grace period that begins with the last removal of anything with an
 *	id
 * @rule_gp: grace period that begins with the last switch of the order of rules
 * @config_gp: grace period that begins with the last change of settings
 * @txn: present transaction, while @lock is held
 * @gen: number of changes, makes dumps consistent
 * @config: settings, struct srpol_config
 * @paths: struct srpol_path by id
 * @n_paths: number of paths
 * @policies: struct srpol_policy by id
 * @policy_keys: the same by color and endpoint
 * @bsids: configurations of policies by binding SID
 * @colors: number of policies of a color, value entries
 * @colors_up: number of those that are up
 * @n_policies: number of policies
 * @policy_revision: the last revision given to the definition of a policy
 * @n_backups: number of policies with a backup color
 * @row_map: bitmap of bucket rows in use, SRPOL_ROWS_MAX bits
 * @scratch: a table of full size, into which policies are compiled
 * @rules: struct srpol_rule by priority
 * @rule_ids: the same by id
 * @n_rules: number of rules
 * @endpoints: struct srpol_endpoint by id
 * @endpoint_keys: the same by prefix
 * @n_endpoints: number of steering prefixes
 * @sids: struct srpol_sid by id
 * @sid_addrs: the same by address
 * @n_sids: number of local SIDs
 * @devs: struct srpol_dev by ifindex
 * @n_devs: number of devices
 * @n_uplinks: number of those that are uplinks
 * @nexthops: struct srpol_nexthop; under both locks
 * @nexthop_keys: the same by device and address, without those whose device is
 *	gone; under both locks, or @state_lock alone where a device disappears
 * @nexthop_ids: ids in use
 * @n_nexthops: number of next hops
 * @stale_nexthops: those that changed; under @state_lock
 * @stale_paths: those that changed, or whose next hop did; under @state_lock
 * @reported: paths held down by a report; under @state_lock
 * @verdicts: paths with a verdict from outside; under @state_lock
 * @quotes: hash table of paths by what reports quote; under @state_lock
 * @quote_key: secret of that hash
 * @report_limit: budget of reports
 * @stale_policies: those to be compiled again
 * @refused_policies: those that the data plane refused, to be tried again
 * @waiting: policies of mode active-backup that wait to restore a list
 * @scan: id of the next path to process; ULONG_MAX: no scan is in progress
 * @scan_routed: the scan skips paths for which srpol_path_needs_tick() is false
 * @work: processes events
 * @tick: keeps neighbors confirmed, and retries
 * @tick_at: jiffies when @tick is due; under @state_lock
 * @tick_armed: @tick is queued; under @state_lock
 * @fib_nb: route notifications
 */
struct srpol_net {
	struct net *net;
	struct list_head node;
	struct mutex lock;		/* configuration */
	spinlock_t state_lock;		/* what events change */
	unsigned long flags;

	struct srpol_dp_ops *dp;
	struct srpol_limits limits;
	unsigned long attach_gp;
	unsigned long del_gp;
	unsigned long rule_gp;
	unsigned long config_gp;

	struct srpol_txn txn;
	u32 gen;
	struct srpol_obj config;

	struct xarray paths;
	u32 n_paths;

	struct xarray policies;
	struct rhashtable policy_keys;
	struct rhltable bsids;
	struct xarray colors;
	struct xarray colors_up;
	u32 n_policies;
	u32 policy_revision;
	u32 n_backups;
	unsigned long *row_map;
	struct srpol_table *scratch;

	struct rb_root rules;
	struct xarray rule_ids;
	u32 n_rules;

	struct xarray endpoints;
	struct rhashtable endpoint_keys;
	u32 n_endpoints;

	struct xarray sids;
	struct rhltable sid_addrs;
	u32 n_sids;

	struct xarray devs;
	u32 n_devs;
	u32 n_uplinks;

	struct list_head nexthops;
	struct rhashtable nexthop_keys;
	struct xarray nexthop_ids;
	u32 n_nexthops;

	struct list_head stale_nexthops;
	struct list_head stale_paths;
	struct list_head reported;
	struct list_head verdicts;
	struct hlist_head *quotes;
	siphash_key_t quote_key;
	struct ratelimit_state report_limit;

	struct list_head stale_policies;
	struct list_head refused_policies;
	struct list_head waiting;
	unsigned long scan;
	bool scan_routed;

	struct work_struct work;
	struct delayed_work tick;
	unsigned long tick_at;
	bool tick_armed;
	struct notifier_block fib_nb;
};

extern const struct srpol_limits srpol_default_limits;

struct srpol_net *srpol_net(const struct net *net);
int srpol_net_start(struct srpol_net *sn);
int srpol_netns_init(void);
void srpol_netns_quiesce(void);
void srpol_netns_exit(void);

/* Has anything ever been configured? If not, there are no tables to search. */
static inline bool srpol_net_started(const struct srpol_net *sn)
{
	return test_bit_acquire(SRPOL_NET_STARTED, &sn->flags);
}

#endif /* _SRPOL_NETNS_H */
