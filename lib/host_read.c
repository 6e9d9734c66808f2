// SPDX-License-Identifier: LGPL-2.1
/*
 * Read virtual ports from the kernel: other commands may have changed them
 * since they were made.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rtnl.h"

#define V4MAPPED_LEN	96

static bool from_bytes(struct srpol_host_prefix *p, int family,
		       const void *bytes, uint32_t len)
{
	memset(p, 0, sizeof(*p));
	if (family == AF_INET6) {
		memcpy(&p->addr, bytes, sizeof(p->addr));
		p->len = len;
		return true;
	}
	p->addr.s6_addr[10] = 0xff;
	p->addr.s6_addr[11] = 0xff;
	if (bytes)
		memcpy(&p->addr.s6_addr[12], bytes, 4);
	p->len = V4MAPPED_LEN + len;
	return family == AF_INET;
}

/* Number of bits set. */
static uint32_t mask_len(const uint8_t *mask, size_t n)
{
	uint32_t len = 0;
	size_t i;

	for (i = 0; i < n; i++)
		len += __builtin_popcount(mask[i]);
	return len;
}

/*
 * The kernel lists the IPv6 address that was added last first. The address
 * added first is the source of routes, so the order is reversed again.
 */
static void add_v6(struct srpol_host_port *h, const struct in6_addr *addr,
		   uint32_t len)
{
	struct srpol_host_prefix *p = h->addrs, *end = p + h->n_addrs;

	while (p < end && IN6_IS_ADDR_V4MAPPED(&p->addr))
		p++;
	memmove(p + 1, p, (end - p) * sizeof(*p));
	from_bytes(p, AF_INET6, addr, len);
	h->n_addrs++;
}

static void add_addr(struct srpol_host_port *h, const struct ifaddrs *a)
{
	const struct sockaddr_in6 *six = (const void *)a->ifa_addr;
	const struct sockaddr_in *four = (const void *)a->ifa_addr;
	const uint8_t *mask;

	if (!a->ifa_addr || !a->ifa_netmask || strcmp(a->ifa_name, h->name) ||
	    (a->ifa_addr->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr)))
		return;
	if (h->n_addrs == SRPOL_HOST_ADDRS) {
		h->more = true;
	} else if (a->ifa_addr->sa_family == AF_INET6) {
		mask = ((const struct sockaddr_in6 *)
			(const void *)a->ifa_netmask)->sin6_addr.s6_addr;
		add_v6(h, &six->sin6_addr, mask_len(mask, 16));
	} else if (a->ifa_addr->sa_family == AF_INET) {
		mask = (const void *)&((const struct sockaddr_in *)
				       (const void *)a->ifa_netmask)->sin_addr;
		from_bytes(&h->addrs[h->n_addrs], AF_INET, &four->sin_addr,
			   mask_len(mask, 4));
		h->n_addrs++;
	}
}

static int read_route(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr, *dst = NULL;
	struct srpol_host_port *h = data;
	bool ours = false, via = false;
	struct in6_addr any = {};

	if (rtm->rtm_type != RTN_UNICAST || rtm->rtm_table != RT_TABLE_MAIN)
		return MNL_CB_OK;
	mnl_attr_for_each(attr, nlh, sizeof(*rtm)) {
		switch (mnl_attr_get_type(attr)) {
		case RTA_DST:
			dst = attr;
			break;
		case RTA_OIF:
			ours = mnl_attr_get_u32(attr) ==
			       if_nametoindex(h->name);
			break;
		case RTA_GATEWAY:
		case RTA_VIA:
			via = true;
			break;
		}
	}
	if (ours && via && h->n_prefixes == SRPOL_HOST_PREFIXES)
		h->more = true;
	else if (ours && via)
		h->n_prefixes += from_bytes(&h->prefixes[h->n_prefixes],
					    rtm->rtm_family, dst ?
					    mnl_attr_get_payload(dst) : &any,
					    rtm->rtm_dst_len);
	return MNL_CB_OK;
}

static int read_rule(const struct nlmsghdr *nlh, void *data)
{
	const struct fib_rule_hdr *hdr = mnl_nlmsg_get_payload(nlh);
	struct srpol_host_port *h = data;
	const struct nlattr *attr;
	bool ours = false, peer = false;
	uint32_t table = 0;

	mnl_attr_for_each(attr, nlh, sizeof(*hdr)) {
		if (mnl_attr_get_type(attr) == FRA_IIFNAME)
			peer = !strcmp(mnl_attr_get_str(attr), h->peer);
		if (mnl_attr_get_type(attr) == FRA_PROTOCOL)
			ours = mnl_attr_get_u8(attr) == SRPOL_RTPROT;
		if (mnl_attr_get_type(attr) == FRA_TABLE)
			table = mnl_attr_get_u32(attr);
	}
	if (!ours || !peer)
		return MNL_CB_OK;
	h->rule = true;
	if (hdr->action == FR_ACT_TO_TBL)
		h->table = table;
	return MNL_CB_OK;
}

static uint32_t read_mtu(const char *name)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq req = {};

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, SIOCGIFMTU, &req))
		req.ifr_mtu = 0;
	if (fd >= 0)
		close(fd);
	return req.ifr_mtu;
}

static int read_routes(struct srpol_host_port *h)
{
	struct srpol_error err;
	struct rtnl r;
	int ret;

	ret = rtnl_open(&r, &err) ?:
	      rtnl_dump(&r, RTM_GETROUTE, AF_INET6, read_route, h) ?:
	      rtnl_dump(&r, RTM_GETROUTE, AF_INET, read_route, h) ?:
	      rtnl_dump(&r, RTM_GETRULE, AF_INET6, read_rule, h);
	rtnl_close(&r);
	return ret;
}

/**
 * srpol_host_read() - read the present configuration of a virtual port
 * @ifindex: the workload's end
 * @h: result
 */
int srpol_host_read(unsigned int ifindex, struct srpol_host_port *h)
{
	unsigned int peer = srpol_host_peer(ifindex);
	struct ifaddrs *all;
	const struct ifaddrs *a;

	memset(h, 0, sizeof(*h));
	if (!peer || !if_indextoname(ifindex, h->name) ||
	    !if_indextoname(peer, h->peer))
		return -ENODEV;
	h->mtu = read_mtu(h->name);
	if (getifaddrs(&all))
		return -errno;
	for (a = all; a; a = a->ifa_next)
		add_addr(h, a);
	freeifaddrs(all);
	return read_routes(h);
}
