// SPDX-License-Identifier: LGPL-2.1
/*
 * Is there a route back by a device? Then the sources of packets that come in
 * by it are known.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <sys/socket.h>

#include "rtnl.h"

/**
 * struct back - a walk over routes
 * @ifindex: device to look for
 * @found: a route leads out of it
 */
struct back {
	uint32_t ifindex;
	bool found;
};

/* Is it a route that exists only because the link does? */
static bool is_link_scope(const struct rtmsg *rtm, const struct nlattr *dst)
{
	const struct in6_addr *addr;

	if (rtm->rtm_family != AF_INET6 || !dst)
		return false;
	addr = mnl_attr_get_payload(dst);
	return IN6_IS_ADDR_LINKLOCAL(addr) || IN6_IS_ADDR_MULTICAST(addr);
}

static bool leads_by(const struct nlattr *nexthops, uint32_t ifindex)
{
	const struct rtnexthop *nh = mnl_attr_get_payload(nexthops);
	int len = mnl_attr_get_payload_len(nexthops);

	for (; RTNH_OK(nh, len); len -= NLMSG_ALIGN(nh->rtnh_len),
				 nh = RTNH_NEXT(nh))
		if ((uint32_t)nh->rtnh_ifindex == ifindex)
			return true;
	return false;
}

static int read_route(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr, *dst = NULL;
	struct back *back = data;
	bool by = false;

	if (rtm->rtm_type != RTN_UNICAST || rtm->rtm_flags & RTM_F_CLONED)
		return MNL_CB_OK;
	mnl_attr_for_each(attr, nlh, sizeof(*rtm)) {
		switch (mnl_attr_get_type(attr)) {
		case RTA_DST:
			dst = attr;
			break;
		case RTA_OIF:
			by |= mnl_attr_get_u32(attr) == back->ifindex;
			break;
		case RTA_MULTIPATH:
			by |= leads_by(attr, back->ifindex);
			break;
		}
	}
	back->found |= by && !is_link_scope(rtm, dst);
	return MNL_CB_OK;
}

/* The route to one address, as an answer of the kernel. */
static int read_answer(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;
	struct back *back = data;

	mnl_attr_for_each(attr, nlh, sizeof(*rtm))
		if (mnl_attr_get_type(attr) == RTA_OIF)
			back->found = rtm->rtm_type == RTN_UNICAST &&
				mnl_attr_get_u32(attr) == back->ifindex;
	return MNL_CB_OK;
}

/*
 * Is forwarding on for a device? If not, the kernel's FIB does not answer for
 * it.
 */
static bool forwards(const char *family, unsigned int ifindex)
{
	char path[128], name[IF_NAMESIZE], c = '0';
	FILE *file = NULL;

	if (if_indextoname(ifindex, name)) {
		snprintf(path, sizeof(path),
			 "/proc/sys/net/%s/conf/%s/forwarding", family, name);
		file = fopen(path, "re");
	}
	if (file) {
		if (fread(&c, 1, 1, file) != 1)
			c = '0';
		fclose(file);
	}
	return c != '0';
}

/**
 * srpol_dev_forwards() - can the kernel tell where sources are, in both
 * families?
 * @ifindex: a port
 */
bool srpol_dev_forwards(unsigned int ifindex)
{
	return forwards("ipv4", ifindex) && forwards("ipv6", ifindex);
}

/**
 * srpol_dev_routed_back() - does any route, except those of the link, lead out
 * of a device?
 * @ifindex: a port
 *
 * Only families count in which forwarding is on.
 */
bool srpol_dev_routed_back(unsigned int ifindex)
{
	static const struct {
		const char *name;
		uint8_t family;
	} families[] = { { "ipv4", AF_INET }, { "ipv6", AF_INET6 } };
	struct back back = { .ifindex = ifindex };
	struct srpol_error err;
	struct rtnl r;
	unsigned int i;

	if (!rtnl_open(&r, &err))
		for (i = 0; i < 2; i++)
			if (forwards(families[i].name, ifindex))
				rtnl_dump(&r, RTM_GETROUTE, families[i].family,
					  read_route, &back);
	rtnl_close(&r);
	return back.found;
}

/* Ask for the route to one address. */
static void ask_route(struct rtnl *r, const struct in6_addr *addr, bool v4,
		      struct back *back)
{
	struct rtmsg *rtm = rtnl_start(r, RTM_GETROUTE, 0, sizeof(*rtm));

	rtm->rtm_family = v4 ? AF_INET : AF_INET6;
	rtm->rtm_dst_len = v4 ? 32 : 128;
	mnl_attr_put(r->nlh, RTA_DST, v4 ? 4 : 16,
		     v4 ? &addr->s6_addr[12] : addr->s6_addr);
	rtnl_ask(r, read_answer, back);
}

/**
 * srpol_dev_leads_to() - does an address pass the strict check of a port?
 * @ifindex: the port
 * @addr: the address, IPv4 as v4-mapped
 * @err: why not
 *
 * It does if the route to it leads out of the port, and forwarding is on.
 *
 * Return: 0 or -EHOSTUNREACH.
 */
int srpol_dev_leads_to(unsigned int ifindex, const struct in6_addr *addr,
		       struct srpol_error *err)
{
	struct back back = { .ifindex = ifindex };
	bool v4 = IN6_IS_ADDR_V4MAPPED(addr);
	char buf[SRPOL_ADDR_STRLEN];
	struct rtnl r;

	srpol_addr_text(addr, buf);
	if (!forwards(v4 ? "ipv4" : "ipv6", ifindex))
		return srpol_error_set(err, -EHOSTUNREACH,
				       "forwarding of IPv%c is off there, and its source check would drop all that %s sends",
				       v4 ? '4' : '6', buf);
	if (!rtnl_open(&r, err))
		ask_route(&r, addr, v4, &back);
	rtnl_close(&r);
	if (back.found)
		return 0;
	return srpol_error_set(err, -EHOSTUNREACH,
			       "the route to %s does not lead by it, and its source check would drop all that is sent from there",
			       buf);
}

/**
 * srpol_routes_split() - separate IPv4 local addresses from routes in the
 * kernel
 * @ifindex: a port
 *
 * Until the first rule is added, the kernel keeps both in one table, where the
 * checks at ports cannot tell a local address from one without a route. After
 * that they stay separate, even if the rule is deleted. So a rule is added and
 * deleted that says for this port what is true anyway.
 */
void srpol_routes_split(unsigned int ifindex)
{
	char name[IF_NAMESIZE];
	struct srpol_error err;
	struct rtnl r;

	if (!rtnl_open(&r, &err) && if_indextoname(ifindex, name)) {
		srpol_host_rules_add(&r, name, RT_TABLE_MAIN);
		srpol_host_rules_del(&r, name);
	}
	rtnl_close(&r);
}
