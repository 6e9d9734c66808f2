// SPDX-License-Identifier: LGPL-2.1
/*
 * Addresses of this host's devices. Reading them takes long if there are many
 * devices, so they are kept until srpol_own_addrs_forget(). For one thread
 * only.
 */
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"
#include "vec.h"

/**
 * struct own_addr - an address
 * @ifindex: its device
 * @addr: the address, v4-mapped for IPv4
 */
struct own_addr {
	uint32_t ifindex;
	struct in6_addr addr;
};

static struct vec addrs = VEC_INIT(struct own_addr);
static bool known;

static int by_addr(const void *a, const void *b)
{
	const struct own_addr *x = a, *y = b;

	if (x->ifindex != y->ifindex)
		return x->ifindex < y->ifindex ? -1 : 1;
	return memcmp(&x->addr, &y->addr, sizeof(x->addr));
}

static void add(uint32_t ifindex, const struct sockaddr *sa)
{
	struct own_addr *own;

	/* 0: the device has just gone */
	if (!ifindex ||
	    (sa->sa_family != AF_INET6 && sa->sa_family != AF_INET))
		return;
	own = vec_add(&addrs);
	own->ifindex = ifindex;
	if (sa->sa_family == AF_INET6) {
		own->addr = ((const struct sockaddr_in6 *)sa)->sin6_addr;
		return;
	}
	own->addr.s6_addr[10] = 0xff;
	own->addr.s6_addr[11] = 0xff;
	memcpy(&own->addr.s6_addr[12],
	       &((const struct sockaddr_in *)sa)->sin_addr, 4);
}

static void read_all(void)
{
	struct ifaddrs *list, *ifa;

	if (getifaddrs(&list))
		return;
	for (ifa = list; ifa; ifa = ifa->ifa_next)
		if (ifa->ifa_addr)
			add(if_nametoindex(ifa->ifa_name), ifa->ifa_addr);
	freeifaddrs(list);
	if (addrs.n)
		qsort(addrs.data, addrs.n, addrs.size, by_addr);
	known = true;
}

/**
 * srpol_own_addr_is_of() - does a device have an address
 * @ifindex: the device
 * @addr: 16 bytes, v4-mapped for IPv4
 */
bool srpol_own_addr_is_of(uint32_t ifindex, const uint8_t *addr)
{
	struct own_addr key = { .ifindex = ifindex };

	memcpy(&key.addr, addr, sizeof(key.addr));
	if (!known)
		read_all();
	return addrs.n &&
	       bsearch(&key, addrs.data, addrs.n, addrs.size, by_addr);
}

/**
 * srpol_own_addrs_forget() - have the addresses read again when next needed
 */
void srpol_own_addrs_forget(void)
{
	vec_free(&addrs);
	known = false;
}
