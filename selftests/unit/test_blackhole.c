// SPDX-License-Identifier: GPL-2.0
/*
 * Blackhole routes for probes, and the routes that an operator has to the same
 * SIDs, in a namespace of its own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "srpold.h"
#include "test.h"

#define SID	"fcbb:bb00:11:fe00::"

static char notice[512];

void log_notice(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(notice, sizeof(notice), fmt, args);
	va_end(args);
}

void log_error(const char *fmt, ...)
{
	fail_msg("%s", fmt);
}

static void run(const char *command)
{
	assert_int_equal(system(command), 0);
}

/* The routes to the SID, a line each. */
static const char *routes(void)
{
	FILE *ip = popen("ip -6 route show " SID "/128", "r");
	static char text[1024];
	size_t len;

	assert_non_null(ip);
	len = fread(text, 1, sizeof(text) - 1, ip);
	text[len] = '\0';
	assert_int_equal(pclose(ip), 0);
	return text;
}

static void set(bool there)
{
	struct in6_addr sid;

	assert_int_equal(inet_pton(AF_INET6, SID, &sid), 1);
	notice[0] = '\0';
	blackhole_set(&sid, there);
}

static int setup(void **state)
{
	(void)state;
	if (geteuid())
		return 0;
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	run("ip link set lo up");
	return 0;
}

static void test_own(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	set(true);
	assert_non_null(strstr(routes(), "blackhole"));
	assert_null(strchr(strchr(routes(), '\n') + 1, '\n'));
	/* as after one that was killed, or for the host's next NIC */
	set(true);
	assert_string_equal(notice, "");
	assert_non_null(strstr(routes(), "proto 83"));
	set(false);
	assert_string_equal(routes(), "");
	set(false);
	assert_string_equal(notice, "");
}

static void test_operators(void **state)
{
	static const char *const what[] = { "dev lo", "blackhole" };
	char command[256], before[1024];
	size_t i;

	(void)state;
	if (geteuid())
		skip();
	for (i = 0; i < ARRAY_SIZE(what); i++) {
		snprintf(command, sizeof(command), "ip -6 route add %s %s",
			 i ? what[i] : SID "/128", i ? SID "/128" : what[i]);
		run(command);
		strcpy(before, routes());
		assert_non_null(strstr(before, what[i]));
		set(true);
		assert_string_equal(routes(), before);
		assert_non_null(strstr(notice, SID "/128 is not srpold's"));
		set(false);
		assert_string_equal(notice, "");
		assert_string_equal(routes(), before);
		run("ip -6 route flush " SID "/128");
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_own, setup),
		cmocka_unit_test_setup(test_operators, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
