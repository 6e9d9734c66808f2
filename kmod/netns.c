// SPDX-License-Identifier: GPL-2.0
/*
 * Creation and end of the state of a network namespace.
 *
 * A namespace that was never configured costs a struct srpol_net and nothing
 * else: tables, hooks and the route notifier are created with its first
 * request.
 *
 * A namespace can end in two ways. When it ends by itself, its devices are
 * removed first, and the notifier drops all references to them; then pre_exit
 * stops packets and routes from reaching the module, the core waits for a grace
 * period, and exit frees everything. When the module is unloaded, the notifiers
 * go before the namespaces do. A namespace that is ending at that moment would
 * wait for references that nobody is told to drop. So srpol_netns_quiesce()
 * empties all namespaces while the notifiers are still there; nothing can be
 * configured by then.
 */
#include <linux/bitmap.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <net/netns/generic.h>

#include "attach.h"
#include "config.h"
#include "device.h"
#include "endpoint.h"
#include "events.h"
#include "netns.h"
#include "nexthop.h"
#include "path.h"
#include "policy.h"
#include "quote.h"
#include "report.h"
#include "rule.h"
#include "sid.h"

static unsigned int srpol_net_id __read_mostly;

/*
 * Namespaces that have been configured; the lock also serializes starting and
 * emptying.
 */
static DEFINE_MUTEX(srpol_nets_lock);
static LIST_HEAD(srpol_nets);

const struct srpol_limits srpol_default_limits = {
	.paths = SRPOL_DEF_PATHS,
	.nexthops = SRPOL_DEF_NEXTHOPS,
	.policies = SRPOL_DEF_POLICIES,
	.rows = SRPOL_DEF_ROWS,
	.rules = SRPOL_DEF_RULES,
	.endpoints = SRPOL_DEF_ENDPOINTS,
	.sids = SRPOL_DEF_SIDS,
	.devs = SRPOL_DEF_DEVS,
};

/**
 * srpol_net() - the state of a namespace
 * @net: the namespace, referenced by the caller
 */
struct srpol_net *srpol_net(const struct net *net)
{
	return net_generic(net, srpol_net_id);
}

static int __net_init srpol_net_init(struct net *net)
{
	struct srpol_net *sn = srpol_net(net);

	sn->net = net;
	INIT_LIST_HEAD(&sn->node);
	mutex_init(&sn->lock);
	spin_lock_init(&sn->state_lock);
	sn->limits = srpol_default_limits;
	sn->gen = 1;
	srpol_txn_init(sn);
	srpol_config_init(sn);
	xa_init_flags(&sn->paths, XA_FLAGS_ACCOUNT);
	xa_init_flags(&sn->policies, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&sn->colors, XA_FLAGS_ACCOUNT);
	xa_init_flags(&sn->colors_up, XA_FLAGS_ACCOUNT);
	sn->rules = RB_ROOT;
	xa_init_flags(&sn->rule_ids, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&sn->endpoints, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&sn->sids, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&sn->devs, XA_FLAGS_ACCOUNT);
	xa_init_flags(&sn->nexthop_ids, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	INIT_LIST_HEAD(&sn->nexthops);
	INIT_LIST_HEAD(&sn->stale_nexthops);
	INIT_LIST_HEAD(&sn->stale_paths);
	INIT_LIST_HEAD(&sn->reported);
	INIT_LIST_HEAD(&sn->verdicts);
	INIT_LIST_HEAD(&sn->stale_policies);
	INIT_LIST_HEAD(&sn->refused_policies);
	INIT_LIST_HEAD(&sn->waiting);
	srpol_events_net_init(sn);
	return 0;
}

static int srpol_net_start_tables(struct srpol_net *sn)
{
	int err;

	err = srpol_nexthop_init(sn);
	if (err)
		return err;
	err = srpol_policy_init(sn);
	if (err)
		goto err_nexthop;
	err = srpol_endpoint_init(sn);
	if (err)
		goto err_policy;
	err = srpol_sid_init(sn);
	if (err)
		goto err_endpoint;
	err = srpol_quote_init(sn);
	if (err)
		goto err_sid;
	return 0;

err_sid:
	srpol_sid_exit(sn);
err_endpoint:
	srpol_endpoint_exit(sn);
err_policy:
	srpol_policy_exit(sn);
err_nexthop:
	srpol_nexthop_exit(sn);
	return err;
}

static void srpol_net_stop_tables(struct srpol_net *sn)
{
	srpol_quote_exit(sn);
	srpol_sid_exit(sn);
	srpol_endpoint_exit(sn);
	srpol_policy_exit(sn);
	srpol_nexthop_exit(sn);
}

/**
 * srpol_net_start() - make a namespace ready to be configured
 * @sn: the namespace
 *
 * Takes RTNL, so the caller must hold none of the locks of DOC: locking.
 *
 * Return: 0, also if the namespace was ready before, or a negative errno.
 */
int srpol_net_start(struct srpol_net *sn)
{
	int err = 0;

	if (srpol_net_started(sn))
		return 0;
	mutex_lock(&srpol_nets_lock);
	if (srpol_net_started(sn))
		goto out;
	err = srpol_net_start_tables(sn);
	if (err)
		goto out;
	err = srpol_report_net_start(sn);
	if (err)
		goto err_tables;
	err = srpol_events_net_start(sn);
	if (err)
		goto err_report;
	list_add(&sn->node, &srpol_nets);
	smp_mb__before_atomic();	/* pairs with srpol_net_started() */
	set_bit(SRPOL_NET_STARTED, &sn->flags);
	goto out;

err_report:
	srpol_report_net_stop(sn);
	synchronize_rcu();
err_tables:
	srpol_net_stop_tables(sn);
out:
	mutex_unlock(&srpol_nets_lock);
	return err;
}

/*
 * Free all objects, so that nothing refers to a device. No request can come in
 * and no transaction is in progress. While there are notifiers, work may be
 * queued by one that had not noticed the end; it finds nothing to do, and exit
 * calls this again when there are no notifiers.
 */
static void srpol_net_empty(struct srpol_net *sn)
{
	lockdep_assert_held(&srpol_nets_lock);
	srpol_events_net_stop(sn);
	mutex_lock(&sn->lock);
	srpol_rule_flush(sn);
	srpol_endpoint_flush(sn);
	srpol_policy_flush(sn);
	srpol_path_flush(sn);
	srpol_sid_flush(sn);
	srpol_dev_flush(sn);
	srpol_config_flush(sn);
	mutex_unlock(&sn->lock);
}

static void __net_exit srpol_net_pre_exit(struct net *net)
{
	struct srpol_net *sn = srpol_net(net);

	if (!srpol_net_started(sn))
		return;
	srpol_report_net_stop(sn);
	srpol_events_net_unlisten(sn);
}

/*
 * A grace period has passed since pre_exit: no packet can be in the module's
 * code here.
 */
static void __net_exit srpol_net_exit(struct net *net)
{
	struct srpol_net *sn = srpol_net(net);

	srpol_attach_net_exit(sn);
	if (!srpol_net_started(sn))
		return;
	mutex_lock(&srpol_nets_lock);
	srpol_net_empty(sn);
	list_del(&sn->node);
	mutex_unlock(&srpol_nets_lock);
	srpol_net_stop_tables(sn);
	bitmap_free(sn->row_map);
	kfree(sn->scratch);
}

static struct pernet_operations srpol_net_ops = {
	.init		= srpol_net_init,
	.pre_exit	= srpol_net_pre_exit,
	.exit		= srpol_net_exit,
	.id		= &srpol_net_id,
	.size		= sizeof(struct srpol_net),
};

int __init srpol_netns_init(void)
{
	return register_pernet_subsys(&srpol_net_ops);
}

/**
 * srpol_netns_quiesce() - empty all namespaces before the module goes
 *
 * The netlink family has been unregistered, and no data plane is attached, as
 * that would hold the module; the notifiers are still registered.
 */
void srpol_netns_quiesce(void)
{
	struct srpol_net *sn;

	mutex_lock(&srpol_nets_lock);
	list_for_each_entry(sn, &srpol_nets, node)
		srpol_net_empty(sn);
	mutex_unlock(&srpol_nets_lock);
}

void srpol_netns_exit(void)
{
	unregister_pernet_subsys(&srpol_net_ops);
}
