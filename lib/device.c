// SPDX-License-Identifier: LGPL-2.1
/* Properties of devices. */
#include <bpf/libbpf.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "srpol_lib.h"

/* NETDEV_XDP_ACT_BASIC of linux/netdev.h, which Debian 12 does not have. */
#define XDP_ACT_BASIC	1

/* Ask the device, by ioctl @code. */
static bool ask(unsigned int ifindex, unsigned long code, struct ifreq *req)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok;

	if (fd < 0)
		return false;
	ok = if_indextoname(ifindex, req->ifr_name) && !ioctl(fd, code, req);
	close(fd);
	return ok;
}

static void read_name(unsigned int ifindex, char *name, size_t len)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq req = { .ifr_data = (void *)&info };

	if (!ask(ifindex, SIOCETHTOOL, &req) || !info.driver[0])
		strcpy(info.driver, "unknown");
	snprintf(name, len, "%s", info.driver);
}

/**
 * srpol_dev_is_soft() - do the packets of a device come in as skbs of a sender?
 * @ifindex: the device
 *
 * If so, their checksums may be pending, their tags in metadata, and they may
 * be super-packets, all of which XDP cannot see: a veth, a tap, a bridge. False
 * if that is not known.
 */
bool srpol_dev_is_soft(unsigned int ifindex)
{
	static const char *const soft[] = { "veth", "tun", "bridge", "netkit" };
	char name[SRPOL_DRIVER_LEN];
	bool found = false;
	size_t i;

	read_name(ifindex, name, sizeof(name));
	for (i = 0; i < sizeof(soft) / sizeof(soft[0]); i++)
		found |= !strcmp(name, soft[i]);
	return found;
}

/**
 * srpol_dev_is_bond() - do the packets of a device come in by other devices?
 * @ifindex: the device
 *
 * Native XDP of a bond runs on the devices in it, and sees their indexes, which
 * no path, SID or probe of srpol has. Generic XDP runs on the bond itself.
 */
bool srpol_dev_is_bond(unsigned int ifindex)
{
	char name[SRPOL_DRIVER_LEN];

	read_name(ifindex, name, sizeof(name));
	return !strcmp(name, "bonding");
}

/**
 * srpol_dev_read_driver() - find out what a device can do at present
 * @ifindex: the device
 * @drv: result
 */
void srpol_dev_read_driver(unsigned int ifindex, struct srpol_dev_driver *drv)
{
	struct ethtool_value flags = { .cmd = ETHTOOL_GFLAGS };
	struct ifreq by_flags = { .ifr_data = (void *)&flags };
	LIBBPF_OPTS(bpf_xdp_query_opts, opts);
	struct ifreq by_mtu = {};

	memset(drv, 0, sizeof(*drv));
	read_name(ifindex, drv->name, sizeof(drv->name));
	drv->native_xdp = !srpol_dev_is_bond(ifindex) &&
			  !bpf_xdp_query(ifindex, 0, &opts) &&
			  opts.feature_flags & XDP_ACT_BASIC;
	drv->xdp_target = srpol_dev_takes_frames(ifindex);
	drv->vlan_strip = ask(ifindex, SIOCETHTOOL, &by_flags) &&
			  flags.data & ETH_FLAG_RXVLAN;
	if (ask(ifindex, SIOCGIFMTU, &by_mtu))
		drv->mtu = by_mtu.ifr_mtu;
}
