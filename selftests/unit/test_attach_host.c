// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses of a virtual port in the data plane while packets go on: those that stay are
 * there at any time. Map and addresses are played here; the device is lo.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <string.h>

#include "attach.h"
#include "srpol_lib.h"
#include "test.h"

#define ROOM	4

static struct entry {
	struct in6_addr key;
	struct srpol_host value;
	bool used;
} map[ROOM];

static struct ifaddrs has[3];		/* of lo */
static struct sockaddr_in6 six[2];
static struct sockaddr_in four;
static struct in6_addr stays;		/* looked for at each change */
static bool watched;

int __wrap_getifaddrs(struct ifaddrs **all);
void __wrap_freeifaddrs(struct ifaddrs *all);

int __wrap_getifaddrs(struct ifaddrs **all)
{
	*all = has;
	return 0;
}

void __wrap_freeifaddrs(struct ifaddrs *all)
{
	assert_ptr_equal(all, has);
}

static struct entry *find(const struct in6_addr *key)
{
	size_t i;

	for (i = 0; i < ROOM; i++)
		if (map[i].used && IN6_ARE_ADDR_EQUAL(&map[i].key, key))
			return &map[i];
	return NULL;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	struct entry *e = find(key);
	size_t i;

	for (i = 0; i < ROOM && !e; i++)
		if (!map[i].used)
			e = &map[i];
	if (!e) {
		errno = E2BIG;
		return -1;
	}
	e->used = true;
	memcpy(&e->key, key, sizeof(e->key));
	memcpy(&e->value, value, sizeof(e->value));
	assert_true(!watched || find(&stays));
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	find(key)->used = false;
	assert_true(!watched || find(&stays));
	return 0;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	const struct entry *e = find(key);

	if (!e)
		return -1;
	memcpy(value, &e->value, sizeof(e->value));
	return 0;
}

int bpf_map_get_next_key(int fd, const void *key, void *next)
{
	size_t i = key && find(key) ? find(key) - map + 1 : 0;

	for (; i < ROOM; i++)
		if (map[i].used) {
			memcpy(next, &map[i].key, sizeof(map[i].key));
			return 0;
		}
	return -1;
}

int srpol_map_open(const char *name)
{
	return 3;
}

void srpol_map_close(int fd)
{
}

int srpol_map_lookup(int fd, const void *key, void *value)
{
	return bpf_map_lookup_elem(fd, key, value) ? -ENOENT : 0;
}

unsigned int srpol_host_peer(unsigned int ifindex)
{
	return ifindex;
}

int srpol_dp_status(struct srpol_dp_status *st, struct srpol_error *err)
{
	return 0;
}

int srpol_dp_check_layout(struct srpol_error *err)
{
	return 0;
}

int srpol_attach_port(const char *dir, unsigned int ifindex, enum srpol_xdp_mode mode,
		      struct srpol_error *err)
{
	return 0;
}

int srpol_dp_detach(unsigned int ifindex, struct srpol_error *err)
{
	return 0;
}

static struct in6_addr address(const char *text)
{
	struct in6_addr a;

	assert_int_equal(inet_pton(AF_INET6, text, &a), 1);
	return a;
}

/* lo has these addresses, and 192.0.2.7. */
static void give(const char *first, const char *second)
{
	const char *text[] = { first, second };
	size_t i;

	for (i = 0; i < 2; i++) {
		six[i] = (struct sockaddr_in6){ .sin6_family = AF_INET6,
						.sin6_addr = address(text[i]) };
		has[i] = (struct ifaddrs){ .ifa_next = &has[i + 1], .ifa_name = "lo",
					   .ifa_addr = (struct sockaddr *)&six[i] };
	}
	four = (struct sockaddr_in){ .sin_family = AF_INET };
	inet_pton(AF_INET, "192.0.2.7", &four.sin_addr);
	has[2] = (struct ifaddrs){ .ifa_name = "lo", .ifa_addr = (struct sockaddr *)&four };
}

static bool is_there(const char *text)
{
	struct in6_addr a = address(text);

	return find(&a);
}

static void test_sync(void **state)
{
	unsigned int lo = if_nametoindex("lo");
	struct srpol_error err = {};

	give("2001:db8::1", "2001:db8::2");
	assert_int_equal(srpol_dp_host_sync(lo, &err), 0);
	assert_true(is_there("2001:db8::1") && is_there("2001:db8::2") &&
		    is_there("::ffff:192.0.2.7"));
	/* the same once more, and with another address in place of one of them */
	stays = address("2001:db8::2");
	watched = true;
	assert_int_equal(srpol_dp_host_sync(lo, &err), 0);
	stays = address("::ffff:192.0.2.7");
	assert_int_equal(srpol_dp_host_sync(lo, &err), 0);
	give("2001:db8::3", "2001:db8::4");
	assert_int_equal(srpol_dp_host_sync(lo, &err), 0);
	assert_true(is_there("2001:db8::3") && is_there("2001:db8::4"));
	assert_false(is_there("2001:db8::1") || is_there("2001:db8::2"));
	watched = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sync),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
