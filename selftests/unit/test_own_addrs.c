// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses of the host's devices, in a namespace of its own: of which device, of
 * both families, asked for once however often somebody wants to know.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rtnl.h"
#include "srpol_lib.h"
#include "test.h"

static unsigned int asked, families;
static bool fails, half;

int __real_rtnl_open(struct rtnl *r, struct srpol_error *err);
int __wrap_rtnl_open(struct rtnl *r, struct srpol_error *err);

int __wrap_rtnl_open(struct rtnl *r, struct srpol_error *err)
{
	asked++;
	r->nl = NULL;
	return fails ? -ENOBUFS : __real_rtnl_open(r, err);
}

int __real_rtnl_ask_changing(struct rtnl *r, mnl_cb_t cb, void *data);
int __wrap_rtnl_ask_changing(struct rtnl *r, mnl_cb_t cb, void *data);

int __wrap_rtnl_ask_changing(struct rtnl *r, mnl_cb_t cb, void *data)
{
	return half && ++families % 2 == 0 ? -EINTR : __real_rtnl_ask_changing(r, cb, data);
}

static void run(const char *command)
{
	assert_int_equal(system(command), 0);
}

static bool is_of(uint32_t ifindex, const char *text)
{
	struct in6_addr addr;

	assert_int_equal(inet_pton(AF_INET6, text, &addr), 1);
	return srpol_own_addr_is_of(ifindex, addr.s6_addr);
}

static int set_up(void **state)
{
	(void)state;
	fails = half = false;
	if (geteuid())
		return 0;
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	run("ip link add d2 index 2 type veth peer name d3 index 3");
	run("ip addr add 10.0.0.2/24 dev d2");
	run("ip addr add 10.0.1.2 peer 10.0.1.9 dev d2");
	run("ip -6 addr add fd00::2/64 dev d2 nodad");
	run("ip -6 addr add fd00:1::2 peer fd00:1::9 dev d2 nodad");
	run("ip -6 addr add fd00::3/64 dev d3 nodad");
	srpol_own_addrs_forget();
	asked = 0;
	return 0;
}

static void test_own(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_true(is_of(2, "fd00::2"));
	assert_true(is_of(2, "fd00:1::2"));
	assert_true(is_of(2, "::ffff:10.0.0.2"));
	assert_true(is_of(2, "::ffff:10.0.1.2"));
	assert_true(is_of(3, "fd00::3"));
	assert_false(is_of(2, "fd00:1::9"));
	assert_false(is_of(2, "::ffff:10.0.1.9"));
	assert_false(is_of(3, "fd00::2"));
	assert_false(is_of(2, "::ffff:10.0.0.3"));
	assert_false(is_of(0, "fd00::2"));
	assert_int_equal(asked, 1);
	run("ip -6 addr add fd00::7/64 dev d2 nodad");
	assert_false(is_of(2, "fd00::7"));
	srpol_own_addrs_forget();
	assert_true(is_of(2, "fd00::7"));
	assert_int_equal(asked, 2);
}

static void test_fails(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	fails = true;
	assert_false(is_of(2, "fd00::2"));
	fails = false;
	/* what was told before it ended early is not all, and is not used */
	half = true;
	assert_false(is_of(2, "fd00::2"));
	assert_false(is_of(2, "::ffff:10.0.0.2"));
	half = false;
	assert_true(is_of(2, "fd00::2"));
}

/* Addresses come and go while those that stay are asked for. */
static void test_changing(void **state)
{
	unsigned int i, missed = 0;
	pid_t child;

	(void)state;
	if (geteuid())
		skip();
	run("for i in $(seq 1500); do echo addr add fd00:2::$i/64 dev d3 nodad; done | "
	    "ip -6 -batch -");
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		setpgid(0, 0);
		execl("/bin/sh", "sh", "-c",
		      "while :; do echo addr add fd00:3::3/64 dev d2 nodad; "
		      "echo addr del fd00:3::3/64 dev d2; done | ip -6 -batch -",
		      NULL);
		_exit(127);
	}
	setpgid(child, child);
	for (i = 0; i < 300; i++) {
		missed += !is_of(2, "fd00::2") || !is_of(3, "fd00::3") ||
			  !is_of(3, "fd00:2::1500");
		srpol_own_addrs_forget();
	}
	kill(-child, SIGTERM);
	waitpid(child, NULL, 0);
	assert_int_equal(missed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_own, set_up),
		cmocka_unit_test_setup(test_fails, set_up),
		cmocka_unit_test_setup(test_changing, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
