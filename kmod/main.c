// SPDX-License-Identifier: GPL-2.0
/*
 * srpol: SR policy database for host-side SRv6 steering.
 */
#include <linux/module.h>

#include "srpol.h"

static const struct genl_multicast_group srpol_mcgrps[] = {
	[SRPOL_NLGRP_CONFIG] = { .name = "config" },
	[SRPOL_NLGRP_EVENTS] = { .name = "events" },
};

/*
 * The -new operations use NLM_F_CREATE, EXCL and REPLACE as rtnetlink does.
 * Generic netlink refuses these flags for operations from resv_start_op on,
 * so that is put behind the last one.
 */
struct genl_family srpol_nl_family __ro_after_init = {
	.name		= SRPOL_FAMILY_NAME,
	.version	= SRPOL_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= srpol_nl_ops,
	.n_split_ops	= ARRAY_SIZE(srpol_nl_ops),
	.resv_start_op	= SRPOL_CMD_MAX + 1,
	.mcgrps		= srpol_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(srpol_mcgrps),
};

static int __init srpol_init(void)
{
	int err;

	err = srpol_netns_init();
	if (err)
		return err;
	err = srpol_events_init();
	if (err)
		goto err_netns;
	err = genl_register_family(&srpol_nl_family);
	if (err)
		goto err_events;
	/* last: there is no way to take a struct_ops type back */
	err = srpol_dp_init();
	if (err)
		goto err_genl;
	return 0;

err_genl:
	genl_unregister_family(&srpol_nl_family);
err_events:
	srpol_events_exit();
err_netns:
	srpol_netns_exit();
	return err;
}

static void __exit srpol_exit(void)
{
	genl_unregister_family(&srpol_nl_family);
	srpol_events_exit();
	srpol_netns_exit();
}

module_init(srpol_init);
module_exit(srpol_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("SR policies for host-side SRv6 steering");
MODULE_ALIAS_GENL_FAMILY(SRPOL_FAMILY_NAME);
