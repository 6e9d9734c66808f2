// SPDX-License-Identifier: GPL-2.0
/* srpol doctor: devices that belong to a bond, a bridge or the like. */
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>

#include "doctor.h"
#include "rtnl.h"

#define KIND_LEN	16

/**
 * struct master - what a device belongs to
 * @ifindex: 0: nothing
 * @kind: bond, bridge, team, openvswitch, vrf, ...
 */
struct master {
	unsigned int ifindex;
	char kind[KIND_LEN];
};

static int read_master(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr, *info;
	struct master *master = data;

	mnl_attr_for_each(attr, nlh, sizeof(struct ifinfomsg)) {
		if (mnl_attr_get_type(attr) == IFLA_MASTER)
			master->ifindex = mnl_attr_get_u32(attr);
		if (mnl_attr_get_type(attr) != IFLA_LINKINFO)
			continue;
		mnl_attr_for_each_nested(info, attr)
			if (mnl_attr_get_type(info) == IFLA_INFO_SLAVE_KIND)
				snprintf(master->kind, sizeof(master->kind),
					 "%s", mnl_attr_get_str(info));
	}
	return MNL_CB_OK;
}

static void ask_master(unsigned int ifindex, struct master *master)
{
	struct srpol_error err;
	struct ifinfomsg *ifi;
	struct rtnl r;

	memset(master, 0, sizeof(*master));
	if (!rtnl_open(&r, &err)) {
		ifi = rtnl_start(&r, RTM_GETLINK, 0, sizeof(*ifi));
		ifi->ifi_index = ifindex;
		if (rtnl_ask(&r, read_master, master))
			master->ifindex = 0;
	}
	rtnl_close(&r);
}

/**
 * check_master() - find a device whose packets are another one's
 * @dev: the device
 * @name: its name
 *
 * A device of a VRF has addresses and neighbors of its own.
 */
void check_master(const struct dev_info *dev, const char *name)
{
	static const char advice[] =
		"srpol dev del, then srpol dev add of the device that it belongs to";
	char of[IF_NAMESIZE];
	struct master master;

	ask_master(dev->ifindex, &master);
	if (!master.ifindex || !strcmp(master.kind, "vrf") ||
	    !if_indextoname(master.ifindex, of))
		return;
	if (dev->role == SRPOL_DEV_ROLE_UPLINK)
		report(WARNING, name, advice,
		       "an uplink that belongs to %s (%s), which has the addresses and neighbors: no path by %s comes up",
		       of, master.kind, name);
	else
		report(WARNING, name, advice,
		       "a port that belongs to %s (%s): frames to other addresses than that of %s are not steered",
		       of, master.kind, name);
}
