// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses of the host's devices: of which one, of both families, asked for
 * once however often somebody wants to know.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>

#include "srpol_lib.h"
#include "test.h"

#define ADDRS	5

static struct ifaddrs list[ADDRS];
static struct sockaddr_in6 six[ADDRS];
static struct sockaddr_in four[ADDRS];
static unsigned int asked;
static bool fails;

int __wrap_getifaddrs(struct ifaddrs **to);
void __wrap_freeifaddrs(struct ifaddrs *what);
unsigned int __wrap_if_nametoindex(const char *name);

int __wrap_getifaddrs(struct ifaddrs **to)
{
	asked++;
	*to = list;
	return fails ? -1 : 0;
}

void __wrap_freeifaddrs(struct ifaddrs *what)
{
	assert_ptr_equal(what, list);
}

/* "gone" has none any more */
unsigned int __wrap_if_nametoindex(const char *name)
{
	return name[0] == 'd' ? name[1] - '0' : 0;
}

static struct in6_addr address(const char *text)
{
	struct in6_addr addr;

	assert_int_equal(inet_pton(AF_INET6, text, &addr), 1);
	return addr;
}

static bool is_of(uint32_t ifindex, const char *text)
{
	struct in6_addr addr = address(text);

	return srpol_own_addr_is_of(ifindex, addr.s6_addr);
}

static void set(size_t i, char *dev, const char *text)
{
	list[i].ifa_name = dev;
	list[i].ifa_next = i + 1 < ADDRS ? &list[i + 1] : NULL;
	list[i].ifa_addr = NULL;
	if (!text)
		return;
	if (strchr(text, ':')) {
		six[i].sin6_family = AF_INET6;
		six[i].sin6_addr = address(text);
		list[i].ifa_addr = (struct sockaddr *)&six[i];
		return;
	}
	four[i].sin_family = AF_INET;
	inet_pton(AF_INET, text, &four[i].sin_addr);
	list[i].ifa_addr = (struct sockaddr *)&four[i];
}

static int set_up(void **state)
{
	(void)state;
	fails = false;
	set(0, "d3", "fd00::3");
	set(1, "d2", NULL);
	set(2, "gone", "fd00::9");
	set(3, "d2", "10.0.0.2");
	set(4, "d2", "fd00::2");
	srpol_own_addrs_forget();
	asked = 0;
	return 0;
}

static void test_own(void **state)
{
	(void)state;
	assert_true(is_of(2, "fd00::2"));
	assert_true(is_of(2, "::ffff:10.0.0.2"));
	assert_true(is_of(3, "fd00::3"));
	assert_false(is_of(3, "fd00::2"));
	assert_false(is_of(2, "::ffff:10.0.0.3"));
	assert_false(is_of(0, "fd00::9"));
	assert_int_equal(asked, 1);
	set(0, "d2", "fd00::7");
	assert_false(is_of(2, "fd00::7"));
	srpol_own_addrs_forget();
	assert_true(is_of(2, "fd00::7"));
	assert_int_equal(asked, 2);
}

static void test_fails(void **state)
{
	(void)state;
	fails = true;
	assert_false(is_of(2, "fd00::2"));
	fails = false;
	assert_true(is_of(2, "fd00::2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_own, set_up),
		cmocka_unit_test_setup(test_fails, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
