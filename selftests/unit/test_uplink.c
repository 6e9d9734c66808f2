// SPDX-License-Identifier: GPL-2.0
/*
 * NICs of this host in a network namespace of the test's: which devices are open, what
 * address probes leave with, programs that cannot be attached at once, and the watchdog
 * while devices take their time.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "probing.h"
#include "srpold.h"
#include "test.h"

static struct srpol_nic nics[2] = { { .name = "nic0" }, { .name = "far", .leaf = 1 } };
static struct srpol_node nodes[1] = { { .name = "A" } };
static struct srpol_fabric fabric = {
	.nodes = nodes, .n_nodes = 1, .nics = nics, .n_nics = 1,
};
static struct engine engine = { .fabric = &fabric };
static struct alarm *look;
static bool attached, refused, unknown, may_wait;
static unsigned int attempts, beats, deleted, routes, naps, tries;
static unsigned int held;	/* naps until the lock of the pins is free */
static uint64_t now;

/* ---- what it needs of the rest */

void log_notice(const char *fmt, ...)
{
}

void log_error(const char *fmt, ...)
{
}

void notify(const char *text)
{
	assert_string_equal(text, "WATCHDOG=1");
	beats++;
}

int loop_add(struct source *source, uint32_t events)
{
	return 0;
}

void loop_remove(struct source *source)
{
}

void watch_try(void)
{
}

void extras_try(void)
{
	tries++;
}

uint64_t now_ns(void)
{
	return now;
}

int alarm_set(struct alarm *alarm, uint64_t ns)
{
	look = alarm;
	return 0;
}

bool engine_is_local(const struct engine *e, uint32_t node)
{
	return true;
}

struct in6_addr engine_sid(const struct engine *e, uint32_t node,
			   const struct in6_addr *function)
{
	return (struct in6_addr){ .s6_addr = { 0xfd } };
}

void blackhole_set(const struct in6_addr *sid, bool there)
{
	/* others may hold the RTNL */
	assert_true(beats);
	beats = 0;
	routes++;
}

void prober_receive(struct uplink *up, const uint8_t *frame, size_t len)
{
}

/* Whoever waits for it must know that it will come. */
int srpol_pins_lock(struct srpol_error *err)
{
	assert_true(may_wait);
	held = 0;
	return 0;
}

int srpol_pins_trylock(struct srpol_error *err)
{
	return held ? -EAGAIN : 0;
}

int __wrap_usleep(useconds_t us);

int __wrap_usleep(useconds_t us)
{
	assert_true(us <= 10000);
	/* others, too, wait for what the watchdog is told */
	assert_true(beats);
	beats = 0;
	naps++;
	held -= held != 0;
	return 0;
}

void srpol_pins_unlock(int lock)
{
}

bool srpol_role_find(struct srpol_genl *g, unsigned int ifindex, struct dev_info *found)
{
	*found = (struct dev_info){ .ifindex = attached ? ifindex : 0 };
	return attached && !unknown;
}

bool srpol_role_is_half(const struct dev_info *dev)
{
	return false;
}

int srpol_dp_check_layout(struct srpol_error *err)
{
	return 0;
}

int srpol_role_add(struct srpol_genl *g, const struct wanted_dev *wanted, unsigned int flags,
		   struct srpol_error *err)
{
	/* what this one takes counts from now */
	assert_true(beats);
	attempts++;
	beats = 0;
	if (refused)
		return -EBUSY;
	attached = true;
	return 0;
}

int srpol_role_del(struct srpol_genl *g, unsigned int ifindex, struct srpol_error *err)
{
	assert_true(beats);
	beats = 0;
	deleted++;
	return 0;
}

static void run(const char *command)
{
	assert_int_equal(system(command), 0);
}

static int set_up(void **state)
{
	if (geteuid())
		return 0;
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	run("ip link add nic0 address 02:00:00:00:00:01 type veth peer name far");
	run("ip link set nic0 up");
	engine.paths = (struct vec)VEC_INIT(struct engine_path);
	attached = refused = unknown = false;
	attempts = beats = deleted = naps = 0;
	held = may_wait ? UINT_MAX : 0;
	fabric.n_nics = 1;
	return uplinks_open(&engine, false, NULL);
}

static int end(void **state)
{
	if (!geteuid())
		uplinks_close();
	return 0;
}

static void has_address(uint8_t last)
{
	const uint8_t mac[6] = { 2, [5] = last };

	assert_memory_equal(uplink_of(0)->mac, mac, sizeof(mac));
}

/* A NIC with another address is no other device, but probes leave with that address. */
static void test_address(void **state)
{
	if (geteuid())
		skip();
	has_address(1);
	assert_false(uplinks_changed(&engine));
	has_address(1);
	run("ip link set nic0 address 02:00:00:00:00:02");
	assert_false(uplinks_changed(&engine));
	has_address(2);
	run("ip link set nic0 address 02:00:00:00:00:04");
	uplinks_follow();
	has_address(4);
	/* nor is one that only has another name */
	run("ip link set nic0 down name renamed");
	run("ip link set renamed address 02:00:00:00:00:05");
	assert_false(uplinks_changed(&engine));
	uplinks_follow();
	has_address(5);
}

/* One that is gone changes nothing until there is another one. */
static void test_device(void **state)
{
	if (geteuid())
		skip();
	run("ip link del nic0");
	assert_false(uplinks_changed(&engine));
	has_address(1);
	run("ip link add nic0 address 02:00:00:00:00:03 type veth peer name far");
	assert_true(uplinks_changed(&engine));
	uplinks_close();
	assert_int_equal(uplinks_open(&engine, true, NULL), 0);
	assert_false(uplinks_changed(&engine));
	has_address(3);
}

static void never(void)
{
	fail();
}

static void look_for_seconds(unsigned int n)
{
	while (n--) {
		now += 1000 * NS_PER_MS;
		look->ring(look->data);
	}
}

/* The NIC was in use before, and its programs are refused now. */
static void open_refused(void)
{
	uplinks_close();
	attached = false;
	refused = true;
	assert_int_equal(uplinks_open(&engine, true, NULL), 0);
	assert_int_equal(nics_watch(&engine, never), 0);
	attempts = 0;
}

/* A driver that is still starting, or a program that is in the way for a while. */
static void test_attach(void **state)
{
	if (geteuid())
		skip();
	assert_true(attached);
	open_refused();
	look_for_seconds(30);
	assert_false(attached);
	assert_in_range(attempts, 1, 6);
	refused = false;
	look_for_seconds(60);
	assert_true(attached);
	attempts = tries = 0;
	look_for_seconds(3600);
	assert_int_equal(attempts, 0);
	/* so do others to whom time alone may help */
	assert_int_equal(tries, 3600);
}

/* No probe is sent while an attempt loads all programs and takes them back. */
static void test_attach_never(void **state)
{
	if (geteuid())
		skip();
	open_refused();
	look_for_seconds(3600);
	assert_in_range(attempts, 4, 10);
	/* no longer than 16 minutes, however long that goes on */
	look_for_seconds(4 * 3600);
	attempts = 0;
	look_for_seconds(16 * 60 + 1);
	assert_int_equal(attempts, 1);
	/* another device may be taken at once */
	uplinks_close();
	assert_int_equal(uplinks_open(&engine, true, NULL), 0);
	refused = false;
	look_for_seconds(30);
	assert_true(attached);
}

/*
 * It takes a second to attach programs, or to detach them, and a host has eight NICs: what
 * one takes does not add up with what the others take, nor with what comes next.
 */
static void test_beats(void **state)
{
	if (geteuid())
		skip();
	assert_int_equal(beats, 1);
	uplinks_close();
	fabric.n_nics = 2;
	unknown = true;
	assert_int_equal(uplinks_open(&engine, false, NULL), 0);
	assert_int_equal(attempts, 3);
	assert_int_equal(beats, 1);
	/* back to what was in force, which has none of them */
	uplinks_renounce();
	engine.keys.n = 1;
	routes = 0;
	uplinks_close();
	assert_int_equal(routes, 4);
	assert_int_equal(beats, 1);
	engine.keys.n = 0;
	beats = 0;
	uplinks_undo(&engine);
	assert_int_equal(deleted, 2);
}

/* Somebody else attaches programs, for a moment. */
static void test_locked(void **state)
{
	if (geteuid())
		skip();
	uplinks_close();
	attached = false;
	held = 20;
	assert_int_equal(uplinks_open(&engine, false, NULL), 0);
	assert_true(attached);
	assert_int_equal(naps, 20);
	assert_int_equal(beats, 1);
}

/* Whoever has the lock was stopped: a reload is refused, after a wait for all NICs. */
static void test_locked_long(void **state)
{
	if (geteuid())
		skip();
	/* before what is in force is undone for it */
	held = UINT_MAX;
	assert_int_equal(uplinks_check(&engine, NULL), -EAGAIN);
	assert_in_range(naps, 1, 300);
	held = 20;
	assert_int_equal(uplinks_check(&engine, NULL), 0);
	uplinks_close();
	fabric.n_nics = 2;
	attached = false;
	held = UINT_MAX;
	naps = 0;
	assert_int_equal(uplinks_open(&engine, false, NULL), -EAGAIN);
	assert_in_range(naps, 1, 300);
	uplinks_close();
	/* what was in force goes on at once, and its programs follow */
	naps = attempts = 0;
	assert_int_equal(uplinks_open(&engine, true, NULL), 0);
	assert_int_equal(naps, 0);
	assert_int_equal(nics_watch(&engine, never), 0);
	/* no try costs anything, so they do not become fewer */
	look_for_seconds(3600);
	assert_int_equal(naps, 0);
	assert_int_equal(attempts, 0);
	/* others wait for the lock, too, and it is free for a moment */
	held = 0;
	look_for_seconds(1);
	assert_true(attached);
}

/* The lock is free, but then programs are refused: that is tried as seldom as without it. */
static void test_locked_refused(void **state)
{
	if (geteuid())
		skip();
	uplinks_close();
	attached = false;
	refused = true;
	held = UINT_MAX;
	assert_int_equal(uplinks_open(&engine, true, NULL), 0);
	assert_int_equal(nics_watch(&engine, never), 0);
	attempts = 0;
	look_for_seconds(10);
	held = 0;
	look_for_seconds(10);
	assert_int_equal(attempts, 1);
	look_for_seconds(3600);
	assert_in_range(attempts, 4, 10);
	/* somebody has the lock at the moment of an attempt */
	held = UINT_MAX;
	look_for_seconds(3600);
	refused = false;
	held = 0;
	look_for_seconds(1);
	assert_true(attached);
}

/* New uplinks are detached once that can be done. */
static void test_locked_undo(void **state)
{
	if (geteuid())
		skip();
	uplinks_close();
	fabric.n_nics = 2;
	unknown = true;
	assert_int_equal(uplinks_open(&engine, false, NULL), 0);
	uplinks_renounce();
	uplinks_close();
	fabric.n_nics = 1;
	unknown = false;
	assert_int_equal(uplinks_open(&engine, true, NULL), 0);
	assert_int_equal(nics_watch(&engine, never), 0);
	naps = 0;
	held = UINT_MAX;
	uplinks_undo(&engine);
	look_for_seconds(10);
	assert_int_equal(naps, 0);
	/* another one is given up: the module may have paths over its NICs for now */
	uplinks_renounce();
	held = 0;
	look_for_seconds(10);
	assert_int_equal(deleted, 0);
	held = UINT_MAX;
	uplinks_undo(&engine);
	held = 0;
	look_for_seconds(1);
	assert_int_equal(deleted, 1);
	look_for_seconds(10);
	uplinks_undo(&engine);
	assert_int_equal(deleted, 1);
}

/* At the start there is nothing yet that would be kept from its work. */
static int first_start(void **state)
{
	may_wait = true;
	return set_up(state);
}

static void test_first(void **state)
{
	if (geteuid())
		skip();
	assert_true(attached);
	may_wait = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_first, first_start, end),
		cmocka_unit_test_setup_teardown(test_address, set_up, end),
		cmocka_unit_test_setup_teardown(test_device, set_up, end),
		cmocka_unit_test_setup_teardown(test_attach, set_up, end),
		cmocka_unit_test_setup_teardown(test_attach_never, set_up, end),
		cmocka_unit_test_setup_teardown(test_beats, set_up, end),
		cmocka_unit_test_setup_teardown(test_locked, set_up, end),
		cmocka_unit_test_setup_teardown(test_locked_long, set_up, end),
		cmocka_unit_test_setup_teardown(test_locked_refused, set_up, end),
		cmocka_unit_test_setup_teardown(test_locked_undo, set_up, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
