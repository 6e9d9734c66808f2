// SPDX-License-Identifier: LGPL-2.1
/* Properties of devices. */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "srpol_lib.h"

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
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq req = { .ifr_data = (void *)&info };
	bool found = false;
	size_t i;
	int fd;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	if (if_indextoname(ifindex, req.ifr_name) &&
	    !ioctl(fd, SIOCETHTOOL, &req))
		for (i = 0; i < sizeof(soft) / sizeof(soft[0]); i++)
			found |= !strcmp(info.driver, soft[i]);
	close(fd);
	return found;
}
