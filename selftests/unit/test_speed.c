// SPDX-License-Identifier: GPL-2.0
/*
 * What drivers say of the speed of NICs, and what follows for planes: the engine's
 * own code, with drivers of the test's, in a fabric of four planes whose NICs have
 * two cables of 400 Gbit/s each.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdarg.h>
#include <string.h>

#include "srpold.h"
#include "test.h"
#include "weights.h"

#define GBIT	1000000000ull
#define PLANES	4

static struct engine engine;
static struct uplink uplink;
static uint32_t mbits[PLANES];		/* of the NICs of host 0 */
static bool mute;			/* drivers refuse to answer */
static unsigned int asked;

int __wrap_ioctl(int fd, unsigned long request, ...);

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct ethtool_cmd *cmd;
	struct ifreq *ifr;
	va_list args;

	va_start(args, request);
	ifr = va_arg(args, struct ifreq *);
	va_end(args);
	assert_int_equal(request, SIOCETHTOOL);
	assert_int_equal(strncmp(ifr->ifr_name, "nic", 3), 0);
	asked++;
	if (mute) {
		errno = EOPNOTSUPP;
		return -1;
	}
	cmd = (void *)ifr->ifr_data;
	assert_int_equal(cmd->cmd, ETHTOOL_GSET);
	ethtool_cmd_speed_set(cmd, mbits[ifr->ifr_name[3] - '0']);
	return 0;
}

uint64_t now_ns(void)
{
	return 1;
}

/* NICs of the other host are not in this namespace */
struct uplink *uplink_of(uint32_t nic)
{
	return nic < PLANES ? &uplink : NULL;
}

static int start(void **state)
{
	struct srpol_shape shape = srpol_shape_plane(PLANES, 2, 400 * GBIT);
	unsigned int i;

	engine.fabric = srpol_fabric_generate(&shape, NULL);
	for (i = 0; i < PLANES; i++)
		mbits[i] = 800000;
	mute = false;
	asked = 0;
	return !engine.fabric || linkstate_init(&engine.links, engine.fabric, 0);
}

static int end(void **state)
{
	linkstate_free(&engine.links);
	srpol_fabric_free(engine.fabric);
	return 0;
}

/* A NIC has this capacity, and so says this source. */
static void is(uint32_t nic, uint64_t capacity, enum link_source source)
{
	uint32_t link = engine.fabric->nics[nic].link;

	assert_int_equal(linkstate_source(&engine.links, link / 2), source);
	assert_int_equal(engine.links.links->links[link].capacity, capacity);
	assert_int_equal(engine.links.links->links[link ^ 1].capacity, capacity);
}

static void weigh(const uint32_t want[PLANES])
{
	uint32_t got[PLANES];
	struct weights_pair pair = {
		.src = 0, .dst = 1, .alg = srpol_alg_find("wecmp"), .color = 100,
		.n = PLANES, .weight = got,
	};
	struct weights_demands none = {};
	struct weights_input input = {
		.fabric = engine.fabric, .links = engine.links.links,
		.known = &none,
	};

	assert_int_equal(weights_run(&input, &pair, 1, NULL), 0);
	assert_memory_equal(got, want, sizeof(got));
}

static void follows_the_driver(void **state)
{
	speeds_read(&engine);
	assert_int_equal(asked, PLANES);
	is(0, 800 * GBIT, LINK_DEVICE);
	is(PLANES, 800 * GBIT, LINK_TOPOLOGY);
	weigh((const uint32_t[]){ 1, 1, 1, 1 });

	mbits[3] = 400000;
	speeds_read(&engine);
	is(3, 400 * GBIT, LINK_DEVICE);
	is(2, 800 * GBIT, LINK_DEVICE);
	weigh((const uint32_t[]){ 2, 2, 2, 1 });

	mbits[3] = 800000;
	speeds_read(&engine);
	weigh((const uint32_t[]){ 1, 1, 1, 1 });
}

/* What a driver cannot tell is as the topology says, whatever it said before. */
static void knows_nothing(void **state)
{
	mbits[1] = 100000;
	speeds_read(&engine);
	is(1, 100 * GBIT, LINK_DEVICE);
	mbits[1] = SPEED_UNKNOWN;
	mbits[2] = 0;
	speeds_read(&engine);
	is(1, 800 * GBIT, LINK_TOPOLOGY);
	is(2, 800 * GBIT, LINK_TOPOLOGY);
	is(3, 800 * GBIT, LINK_DEVICE);
	mute = true;
	speeds_read(&engine);
	is(3, 800 * GBIT, LINK_TOPOLOGY);
}

/* 1.6 Tbit/s are more than 32 bits of bit/s, and than 16 bits of Mbit/s. */
static void is_wide(void **state)
{
	mbits[0] = 1600000;
	speeds_read(&engine);
	is(0, 1600 * GBIT, LINK_DEVICE);
	weigh((const uint32_t[]){ 1, 1, 1, 1 });	/* the peer has no more */
}

static void comes_before_the_topology_only(void **state)
{
	mbits[0] = 400000;
	linkstate_say(&engine.links, engine.fabric->nics[0].link / 2, LINK_FEED,
		      200 * GBIT, 0);
	speeds_read(&engine);
	is(0, 200 * GBIT, LINK_FEED);
	linkstate_unsay(&engine.links, engine.fabric->nics[0].link / 2,
			LINK_FEED);
	is(0, 400 * GBIT, LINK_DEVICE);
}

/* A name that no interface can have is not asked for. */
static void has_a_long_name(void **state)
{
	strcpy(engine.fabric->nics[0].name, "sixteen-letters-");
	speeds_read(&engine);
	assert_int_equal(asked, PLANES - 1);
	is(0, 800 * GBIT, LINK_TOPOLOGY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(follows_the_driver, start, end),
		cmocka_unit_test_setup_teardown(knows_nothing, start, end),
		cmocka_unit_test_setup_teardown(is_wide, start, end),
		cmocka_unit_test_setup_teardown(comes_before_the_topology_only,
						start, end),
		cmocka_unit_test_setup_teardown(has_a_long_name, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
