// SPDX-License-Identifier: GPL-2.0
/*
 * Speed of this host's NICs, as reported by their drivers: the topology does
 * not know about a port that came up with half of its lanes, or with one of two
 * cables. They are asked aside from the loop, as others may hold the RTNL for seconds.
 */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "aside.h"
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
 * struct ask - what the driver of a NIC is asked
 * @nic: number of the NIC
 * @name: its device
 * @speed: result: Mbit/s, 0: unknown
 */
struct ask {
	uint32_t nic;
	char name[SRPOL_NAME_LEN];
	uint32_t speed;
};

/**
 * struct asks - the NICs of this namespace
 * @n: how many @ask there are
 * @ask: them
 */
struct asks {
	uint32_t n;
	struct ask ask[];
};

static struct engine *engine;
static struct aside *aside;

/*
 * Ask the drivers. @beats: this is the loop, which goes on while others hold the RTNL: what
 * one NIC takes does not add up with the others.
 */
static void ask_each(struct asks *asks, bool beats)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t i;

	for (i = 0; i < asks->n; i++) {
		if (beats)
			notify("WATCHDOG=1");
		asks->ask[i].speed = fd < 0 ? 0 : speed_of(fd, asks->ask[i].name);
	}
	if (fd >= 0)
		close(fd);
}

/* That this goes on does not say that the loop does. */
static void ask_aside(void *data)
{
	ask_each(data, false);
}

static void prepare(struct asks *asks)
{
	const struct srpol_fabric *f = engine->fabric;
	struct ask *ask;
	uint32_t i;

	asks->n = 0;
	for (i = 0; i < f->n_nics; i++) {
		if (!uplink_of(i))
			continue;
		ask = &asks->ask[asks->n++];
		ask->nic = i;
		strcpy(ask->name, f->nics[i].name);
	}
}

/*
 * A NIC that is down has no speed. The topology's capacity applies then; the
 * module handles that the NIC is down.
 */
static bool take(const struct asks *asks)
{
	struct linkstate *ls = &engine->links;
	bool changed = false;
	const struct ask *ask;
	uint64_t capacity;
	uint32_t link;

	for (ask = asks->ask; ask < asks->ask + asks->n; ask++) {
		link = engine->fabric->nics[ask->nic].link;
		capacity = ls->links->links[link].capacity;
		if (ask->speed)
			linkstate_say(ls, link / 2, LINK_DEVICE,
				      ask->speed * MBIT, now_ns());
		else
			linkstate_unsay(ls, link / 2, LINK_DEVICE);
		changed |= capacity != ls->links->links[link].capacity;
	}
	return changed;
}

static void answered(void *data)
{
	if (take(data))
		balance_soon();
}

/**
 * speeds_start() - read the speeds of all NICs in this namespace, and prepare for more
 * @e: the engine
 *
 * This waits for the drivers: what follows is to be based on it.
 */
void speeds_start(struct engine *e)
{
	struct asks *asks;

	engine = e;
	aside = aside_new(ask_aside, answered, sizeof(*asks) +
			  e->fabric->n_nics * sizeof(struct ask));
	asks = aside_data(aside);
	if (!asks) {
		log_error("no memory for the speeds of NICs: they are as the topology says");
		return;
	}
	prepare(asks);
	ask_each(asks, true);
	notify("WATCHDOG=1");
	take(asks);
}

/**
 * speeds_look() - have the drivers asked again, unless they still are
 *
 * Weights follow when they have answered.
 */
void speeds_look(void)
{
	struct asks *asks = aside_data(aside);

	if (!asks)
		return;
	prepare(asks);
	aside_start(aside);
}

/**
 * speeds_stop() - stop asking
 */
void speeds_stop(void)
{
	aside_leave(aside);
	aside = NULL;
}
