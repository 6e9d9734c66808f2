// SPDX-License-Identifier: GPL-2.0
/*
 * Speed of this host's NICs, as reported by their drivers: the topology does
 * not know about a port that came up with half of its lanes, or with one of two
 * cables.
 */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "srpold.h"

#define MBIT	1000000ull

/* Mbit/s, 0: the driver does not know. */
static uint32_t speed_of(int fd, const char *name)
{
	struct ethtool_cmd cmd = { .cmd = ETHTOOL_GSET };
	struct ifreq ifr = { .ifr_data = (void *)&cmd };
	uint32_t speed;

	if (strlen(name) >= sizeof(ifr.ifr_name))
		return 0;
	strcpy(ifr.ifr_name, name);
	if (ioctl(fd, SIOCETHTOOL, &ifr))
		return 0;
	/* ethtool_cmd_speed() shifts an int, too far for SPEED_UNKNOWN */
	speed = (uint32_t)cmd.speed_hi << 16 | cmd.speed;
	return speed == (uint32_t)SPEED_UNKNOWN ? 0 : speed;
}

/**
 * speeds_read() - update the capacities of all NICs in this namespace
 * @engine: the engine
 *
 * A NIC that is down has no speed. The topology's capacity applies then; the
 * module handles that the NIC is down.
 */
void speeds_read(struct engine *engine)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const struct srpol_nic *nic;
	uint32_t i, speed;

	for (i = 0; fd >= 0 && i < engine->fabric->n_nics; i++) {
		if (!uplink_of(i))
			continue;
		nic = &engine->fabric->nics[i];
		speed = speed_of(fd, nic->name);
		if (speed)
			linkstate_say(&engine->links, nic->link / 2,
				      LINK_DEVICE, speed * MBIT, now_ns());
		else
			linkstate_unsay(&engine->links, nic->link / 2,
					LINK_DEVICE);
	}
	if (fd >= 0)
		close(fd);
}
