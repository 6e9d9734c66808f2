// SPDX-License-Identifier: GPL-2.0
/*
 * Life and death of the state of a network namespace.
 */
#include <linux/bitmap.h>
#include <net/netns/generic.h>

#include "srpol.h"

static unsigned int srpol_net_id __read_mostly;

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
	int err;

	sn->net = net;
	mutex_init(&sn->lock);
	spin_lock_init(&sn->state_lock);
	sn->limits = srpol_default_limits;
	srpol_txn_init(sn);
	srpol_config_init(sn);
	xa_init(&sn->paths);
	xa_init_flags(&sn->policies, XA_FLAGS_ALLOC1);
	hash_init(sn->policy_hash);
	hash_init(sn->bsid_hash);
	xa_init(&sn->colors);
	xa_init(&sn->colors_up);
	sn->rules = RB_ROOT;
	xa_init_flags(&sn->rule_ids, XA_FLAGS_ALLOC1);
	xa_init(&sn->endpoints);
	hash_init(sn->endpoint_hash);
	xa_init_flags(&sn->sids, XA_FLAGS_ALLOC1);
	hash_init(sn->sid_hash);
	xa_init(&sn->devs);
	hash_init(sn->nexthops);
	xa_init_flags(&sn->nexthop_ids, XA_FLAGS_ALLOC1);
	INIT_LIST_HEAD(&sn->changed);
	INIT_LIST_HEAD(&sn->waiting);

	err = srpol_events_net_init(sn);
	if (err)
		return err;
	err = srpol_icmp_net_init(sn);
	if (err)
		srpol_events_net_exit(sn);
	return err;
}

/*
 * The netlink family is per namespace, so no request can come any more and no
 * transaction is under way; the devices are gone, their notifications took the
 * next hops' references.
 */
static void __net_exit srpol_net_exit(struct net *net)
{
	struct srpol_net *sn = srpol_net(net);

	srpol_icmp_net_exit(sn);
	srpol_dp_net_exit(sn);

	mutex_lock(&sn->lock);
	srpol_rule_flush(sn);
	srpol_endpoint_flush(sn);
	srpol_policy_flush(sn);
	srpol_path_flush(sn);
	srpol_sid_flush(sn);
	srpol_dev_flush(sn);
	mutex_unlock(&sn->lock);

	srpol_events_net_exit(sn);

	xa_destroy(&sn->nexthop_ids);
	xa_destroy(&sn->colors);
	xa_destroy(&sn->colors_up);
	bitmap_free(sn->row_map);
	kfree(sn->scratch);
}

static struct pernet_operations srpol_net_ops = {
	.init	= srpol_net_init,
	.exit	= srpol_net_exit,
	.id	= &srpol_net_id,
	.size	= sizeof(struct srpol_net),
};

int __init srpol_netns_init(void)
{
	return register_pernet_subsys(&srpol_net_ops);
}

void srpol_netns_exit(void)
{
	unregister_pernet_subsys(&srpol_net_ops);
}
