// SPDX-License-Identifier: GPL-2.0
/*
 * srpol: SR policy database for host-side SRv6 steering.
 *
 * Only a user who may load modules can load this one: it has no alias by which
 * a request for the netlink family would load it, since any user can make such
 * a request.
 */
#include <linux/ipv6.h>
#include <linux/module.h>

#include "attach.h"
#include "events.h"
#include "netlink.h"
#include "netns.h"
#include "path.h"
#include "queue.h"

static const struct genl_multicast_group srpol_mcgrps[] = {
	[SRPOL_NLGRP_CONFIG] = { .name = "config" },
	[SRPOL_NLGRP_EVENTS] = { .name = "events" },
};

/*
 * The -new operations use NLM_F_CREATE, EXCL and REPLACE as rtnetlink does;
 * generic netlink refuses these flags for operations from resv_start_op on. All
 * operations before path-verdict accept them, later ones do not.
 */
struct genl_family srpol_nl_family __ro_after_init = {
	.name		= SRPOL_FAMILY_NAME,
	.version	= SRPOL_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= srpol_nl_ops,
	.n_split_ops	= ARRAY_SIZE(srpol_nl_ops),
	.resv_start_op	= SRPOL_CMD_PATH_VERDICT,
	.mcgrps		= srpol_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(srpol_mcgrps),
};

static int __init srpol_init(void)
{
	int err;

	/* without IPv6 there are no routes and no neighbors to look up */
	if (!ipv6_mod_enabled()) {
		pr_err("srpol: IPv6 is disabled (ipv6.disable=1)\n");
		return -EAFNOSUPPORT;
	}
	err = srpol_path_cache_init();
	if (err)
		return err;
	err = srpol_queue_init();
	if (err)
		goto err_cache;
	err = srpol_netns_init();
	if (err)
		goto err_queue;
	err = srpol_events_init();
	if (err)
		goto err_netns;
	err = genl_register_family(&srpol_nl_family);
	if (err)
		goto err_events;
	/* this is last, as a struct_ops type cannot be unregistered */
	err = srpol_attach_init();
	if (err)
		goto err_genl;
	return 0;

err_genl:
	genl_unregister_family(&srpol_nl_family);
	srpol_netns_quiesce();
err_events:
	srpol_events_exit();
err_netns:
	srpol_netns_exit();
err_queue:
	srpol_queue_destroy();
err_cache:
	srpol_path_cache_exit();
	return err;
}

/* Requests end first, then references to devices, then events; see netns.c. */
static void __exit srpol_exit(void)
{
	genl_unregister_family(&srpol_nl_family);
	srpol_netns_quiesce();
	srpol_events_exit();
	srpol_netns_exit();
	srpol_queue_destroy();
	srpol_path_cache_exit();
}

module_init(srpol_init);
module_exit(srpol_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("SR policies for host-side SRv6 steering");
