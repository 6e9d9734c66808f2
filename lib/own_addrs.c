// SPDX-License-Identifier: LGPL-2.1
/*
 * Addresses of this host's devices. Reading them takes long if there are many
 * devices, so they are kept until srpol_own_addrs_forget(). For one thread
 * only.
 */
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "rtnl.h"
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

static int add(const struct nlmsghdr *nlh, void *data)
{
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr, *addr = NULL;
	struct own_addr *own;

	/* with a peer, whose address the other attribute is, local comes as well */
	mnl_attr_for_each(attr, nlh, sizeof(*ifa))
		if (mnl_attr_get_type(attr) == IFA_LOCAL ||
		    (mnl_attr_get_type(attr) == IFA_ADDRESS && !addr))
			addr = attr;
	if (!addr || (ifa->ifa_family != AF_INET6 && ifa->ifa_family != AF_INET) ||
	    mnl_attr_get_payload_len(addr) != (ifa->ifa_family == AF_INET6 ? 16 : 4))
		return MNL_CB_OK;
	own = vec_add(&addrs);
	own->ifindex = ifa->ifa_index;
	if (ifa->ifa_family == AF_INET6) {
		memcpy(&own->addr, mnl_attr_get_payload(addr), 16);
		return MNL_CB_OK;
	}
	own->addr.s6_addr[10] = 0xff;
	own->addr.s6_addr[11] = 0xff;
	memcpy(&own->addr.s6_addr[12], mnl_attr_get_payload(addr), 4);
	return MNL_CB_OK;
}

static bool read_family(struct rtnl *r, uint8_t family)
{
	struct ifaddrmsg *ifa;

	ifa = rtnl_start(r, RTM_GETADDR, NLM_F_DUMP, sizeof(*ifa));
	r->nlh->nlmsg_flags &= ~NLM_F_ACK;
	ifa->ifa_family = family;
	return !rtnl_ask_changing(r, add, NULL);
}

/*
 * The addresses of one family are told without the RTNL (since Linux 6.9). Those of
 * all of them are not, nor are devices, for which getifaddrs() asks.
 */
static void read_all(void)
{
	struct srpol_error err = {};
	struct rtnl r;

	known = !rtnl_open(&r, &err) && read_family(&r, AF_INET) &&
		read_family(&r, AF_INET6);
	rtnl_close(&r);
	/* some of them, and again some the next time */
	if (!known)
		vec_free(&addrs);
	if (addrs.n)
		qsort(addrs.data, addrs.n, addrs.size, by_addr);
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
