// SPDX-License-Identifier: GPL-2.0
/*
 * What drivers say of the speed of NICs, and what follows for planes: the engine's
 * own code, with drivers of the test's, in a fabric of four planes whose NICs have
 * two cables of 400 Gbit/s each.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "loop.h"
#include "srpold.h"
#include "test.h"
#include "weights.h"

#define GBIT	1000000000ull
#define PLANES	4

static struct engine engine;
static struct uplink uplink;
static uint32_t mbits[PLANES];		/* of the NICs of host 0 */
static bool mute;			/* drivers refuse to answer */
static atomic_bool held;
static atomic_uint asked;
static bool followed;
static pthread_t main_thread;
static unsigned int beats;

/* Whoever does something aside must not say that the loop goes on. */
void notify(const char *text)
{
	assert_string_equal(text, "WATCHDOG=1");
	assert_true(pthread_equal(pthread_self(), main_thread));
	beats++;
}

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
	if (pthread_equal(pthread_self(), main_thread)) {
		/* what this one takes counts from now */
		assert_true(beats);
		beats = 0;
	}
	/* somebody holds the RTNL */
	while (held)
		usleep(1000);
	if (mute) {
		errno = EOPNOTSUPP;
		return -1;
	}
	cmd = (void *)ifr->ifr_data;
	assert_int_equal(cmd->cmd, ETHTOOL_GSET);
	ethtool_cmd_speed_set(cmd, mbits[ifr->ifr_name[3] - '0']);
	return 0;
}

void balance_soon(void)
{
	followed = true;
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
	held = followed = false;
	asked = beats = 0;
	main_thread = pthread_self();
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

static void look(void)
{
	speeds_start(&engine);
	assert_int_equal(beats, 1);
	speeds_stop();
}

static void follows_the_driver(void **state)
{
	look();
	assert_int_equal(asked, PLANES);
	is(0, 800 * GBIT, LINK_DEVICE);
	is(PLANES, 800 * GBIT, LINK_TOPOLOGY);
	weigh((const uint32_t[]){ 1, 1, 1, 1 });

	mbits[3] = 400000;
	look();
	is(3, 400 * GBIT, LINK_DEVICE);
	is(2, 800 * GBIT, LINK_DEVICE);
	weigh((const uint32_t[]){ 2, 2, 2, 1 });

	mbits[3] = 800000;
	look();
	weigh((const uint32_t[]){ 1, 1, 1, 1 });
}

/* What a driver cannot tell is as the topology says, whatever it said before. */
static void knows_nothing(void **state)
{
	mbits[1] = 100000;
	look();
	is(1, 100 * GBIT, LINK_DEVICE);
	mbits[1] = SPEED_UNKNOWN;
	mbits[2] = 0;
	look();
	is(1, 800 * GBIT, LINK_TOPOLOGY);
	is(2, 800 * GBIT, LINK_TOPOLOGY);
	is(3, 800 * GBIT, LINK_DEVICE);
	mute = true;
	look();
	is(3, 800 * GBIT, LINK_TOPOLOGY);
}

/* 1.6 Tbit/s are more than 32 bits of bit/s, and than 16 bits of Mbit/s. */
static void is_wide(void **state)
{
	mbits[0] = 1600000;
	look();
	is(0, 1600 * GBIT, LINK_DEVICE);
	weigh((const uint32_t[]){ 1, 1, 1, 1 });	/* the peer has no more */
}

static void comes_before_the_topology_only(void **state)
{
	mbits[0] = 400000;
	linkstate_say(&engine.links, engine.fabric->nics[0].link / 2, LINK_FEED,
		      200 * GBIT, 0);
	look();
	is(0, 200 * GBIT, LINK_FEED);
	linkstate_unsay(&engine.links, engine.fabric->nics[0].link / 2,
			LINK_FEED);
	is(0, 400 * GBIT, LINK_DEVICE);
}

/* A name that no interface can have is not asked for. */
static void has_a_long_name(void **state)
{
	strcpy(engine.fabric->nics[0].name, "sixteen-letters-");
	look();
	assert_int_equal(asked, PLANES - 1);
	is(0, 800 * GBIT, LINK_TOPOLOGY);
}

static void step(void *data);
static struct alarm again = ALARM_INIT(step, NULL);
static unsigned int steps;

/* The loop goes on while drivers are asked, and hears of it when they have answered. */
static void step(void *data)
{
	if (!steps && asked > PLANES) {
		is(1, 800 * GBIT, LINK_DEVICE);
		/* they still are asked: not twice at once */
		speeds_look();
		assert_int_equal(asked, PLANES + 1);
		assert_false(followed);
		held = false;
		steps++;
	} else if (steps == 1 && followed) {
		is(1, 100 * GBIT, LINK_DEVICE);
		assert_int_equal(asked, 2 * PLANES);
		followed = false;
		speeds_look();
		steps++;
	} else if (steps == 2 && asked == 3 * PLANES) {
		loop_stop();
		return;
	}
	assert_int_equal(alarm_set(&again, 1000000), 0);
}

static void waits_aside(void **state)
{
	speeds_start(&engine);
	assert_int_equal(asked, PLANES);
	held = true;
	mbits[1] = 100000;
	speeds_look();
	assert_int_equal(alarm_set(&again, 1000000), 0);
	assert_int_equal(loop_run(), 0);
	/* nothing is new */
	assert_false(followed);
	speeds_stop();
}

/* Nobody who stops waits for a driver either. */
static void is_left(void **state)
{
	speeds_start(&engine);
	held = true;
	speeds_look();
	while (asked == PLANES)
		usleep(1000);
	speeds_stop();
	held = false;
	/* what was left still asks for all */
	while (asked < 2 * PLANES)
		usleep(1000);
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
		cmocka_unit_test_setup_teardown(waits_aside, start, end),
		cmocka_unit_test_setup_teardown(is_left, start, end),
	};

	return loop_init() ?: cmocka_run_group_tests(tests, NULL, NULL);
}
