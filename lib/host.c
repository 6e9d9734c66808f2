// SPDX-License-Identifier: LGPL-2.1
/*
 * The veth pair of a virtual port. The workload's end has its addresses, and
 * the routes for packets that are to be steered, through a gateway that does
 * not exist: its neighbor entry is permanent and has the MAC address of the
 * other end. So no neighbor is ever resolved, and no carrier matters but that
 * of the pair. Both ends have an alias that tells who made them: no other
 * device is ever deleted.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rtnl.h"

#define V4MAPPED_LEN	96
#define MAC_LEN		6

/* Aliases of the workload's end, and of the other one. */
#define ALIAS		"srpol virtual port"
#define ALIAS_PEER	"srpol virtual port, other end"

/* fe80::1 */
static const struct in6_addr gateway = { .s6_addr = { 0xfe, 0x80,
						      [15] = 1 } };

static void put_end(struct rtnl *r, const char *name, uint32_t mtu)
{
	mnl_attr_put_strz(r->nlh, IFLA_IFNAME, name);
	mnl_attr_put_u32(r->nlh, IFLA_MTU, mtu);
}

static int make_pair(struct rtnl *r, const struct srpol_host_port *h)
{
	struct nlattr *info, *data, *peer;

	rtnl_start(r, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL,
		   sizeof(struct ifinfomsg));
	put_end(r, h->name, h->mtu);
	info = mnl_attr_nest_start(r->nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(r->nlh, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(r->nlh, IFLA_INFO_DATA);
	peer = mnl_attr_nest_start(r->nlh, VETH_INFO_PEER);
	mnl_nlmsg_put_extra_header(r->nlh, sizeof(struct ifinfomsg));
	put_end(r, h->peer, h->mtu);
	mnl_attr_nest_end(r->nlh, peer);
	mnl_attr_nest_end(r->nlh, data);
	mnl_attr_nest_end(r->nlh, info);
	return rtnl_talk(r, "making device", h->name);
}

/*
 * Set a device up, with the alias that tells who made it, and without a
 * link-local address, so that the kernel sends no router solicitations on this
 * link. It still reports its multicast groups, from ::, soon after.
 */
static int set_up(struct rtnl *r, const char *name, const char *alias)
{
	struct nlattr *spec, *inet6;
	struct ifinfomsg *ifi;
	int ret;

	ifi = rtnl_start(r, RTM_SETLINK, 0, sizeof(*ifi));
	ifi->ifi_index = if_nametoindex(name);
	mnl_attr_put_strz(r->nlh, IFLA_IFALIAS, alias);
	spec = mnl_attr_nest_start(r->nlh, IFLA_AF_SPEC);
	inet6 = mnl_attr_nest_start(r->nlh, AF_INET6);
	mnl_attr_put_u8(r->nlh, IFLA_INET6_ADDR_GEN_MODE,
			IN6_ADDR_GEN_MODE_NONE);
	mnl_attr_nest_end(r->nlh, inet6);
	mnl_attr_nest_end(r->nlh, spec);
	ret = rtnl_talk(r, "address mode of", name);
	if (ret)
		return ret;
	ifi = rtnl_start(r, RTM_SETLINK, 0, sizeof(*ifi));
	ifi->ifi_index = if_nametoindex(name);
	ifi->ifi_flags = IFF_UP;
	ifi->ifi_change = IFF_UP;
	return rtnl_talk(r, "setting up", name);
}

/*
 * A veth takes frames from XDP of another device only while it has NAPI, and it
 * has NAPI while GRO is on.
 */
static int set_gro(const char *name, struct srpol_error *err)
{
	struct ethtool_value gro = { .cmd = ETHTOOL_SGRO, .data = 1 };
	struct ifreq req = { .ifr_data = (void *)&gro };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret = 0;

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, SIOCETHTOOL, &req))
		ret = srpol_error_set(err, -errno, "GRO of %s: %s", name,
				      strerror(errno));
	if (fd >= 0)
		close(fd);
	return ret;
}

/*
 * Set a sysctl of a device: packets that come out of the other end have a local
 * source.
 */
static int set_sysctl(const char *dev, const char *name, char value,
		      struct srpol_error *err)
{
	char path[128];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv4/conf/%s/%s", dev,
		 name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, &value, 1) != 1)
		ret = srpol_error_set(err, -errno, "%s: %s", path,
				      strerror(errno));
	if (fd >= 0)
		close(fd);
	return ret;
}

static bool is_v4(const struct srpol_host_prefix *p)
{
	return IN6_IS_ADDR_V4MAPPED(&p->addr);
}

static uint8_t prefix_len(const struct srpol_host_prefix *p)
{
	return is_v4(p) ? p->len - V4MAPPED_LEN : p->len;
}

static void put_addr(struct rtnl *r, uint16_t type,
		     const struct srpol_host_prefix *p)
{
	if (is_v4(p))
		mnl_attr_put(r->nlh, type, sizeof(struct in_addr),
			     &p->addr.s6_addr[12]);
	else
		mnl_attr_put(r->nlh, type, sizeof(p->addr), &p->addr);
}

static void start_addr(struct rtnl *r, uint16_t type, uint16_t flags,
		       unsigned int ifindex,
		       const struct srpol_host_prefix *p)
{
	struct ifaddrmsg *ifa;

	ifa = rtnl_start(r, type, flags, sizeof(*ifa));
	ifa->ifa_family = is_v4(p) ? AF_INET : AF_INET6;
	ifa->ifa_prefixlen = prefix_len(p);
	ifa->ifa_index = ifindex;
	put_addr(r, IFA_LOCAL, p);
	put_addr(r, IFA_ADDRESS, p);
}

/*
 * Add an address, without a route to its prefix: nobody is on this link. @new:
 * it was not there before. One that is there is left as it is.
 */
static int add_addr(struct rtnl *r, unsigned int ifindex,
		    const struct srpol_host_prefix *p, bool *new)
{
	char text[SRPOL_PREFIX_STRLEN];
	int ret;

	start_addr(r, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, ifindex, p);
	mnl_attr_put_u32(r->nlh, IFA_FLAGS, IFA_F_NODAD | IFA_F_NOPREFIXROUTE);
	ret = rtnl_ask(r, NULL, NULL);
	*new = !ret;
	if (!ret || ret == -EEXIST)
		return 0;
	return srpol_error_set(r->err, ret, "address %s: %s",
			       srpol_prefix_text(&p->addr, p->len, text),
			       strerror(-ret));
}

static int add_gateway(struct rtnl *r, const char *name, const char *peer)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret;
	struct ifreq req = {};
	struct ndmsg *ndm;

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", peer);
	ret = fd < 0 || ioctl(fd, SIOCGIFHWADDR, &req) ? -errno : 0;
	if (fd >= 0)
		close(fd);
	if (ret)
		return srpol_error_set(r->err, ret, "address of %s: %s", peer,
				       strerror(-ret));
	ndm = rtnl_start(r, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE,
			 sizeof(*ndm));
	ndm->ndm_family = AF_INET6;
	ndm->ndm_ifindex = if_nametoindex(name);
	ndm->ndm_state = NUD_PERMANENT;
	mnl_attr_put(r->nlh, NDA_DST, sizeof(gateway), &gateway);
	mnl_attr_put(r->nlh, NDA_LLADDR, MAC_LEN, req.ifr_hwaddr.sa_data);
	return rtnl_talk(r, "gateway of", name);
}

/* The first address of a family is the source of its packets. */
static const struct srpol_host_prefix *
source(const struct srpol_host_port *h, bool v4)
{
	unsigned int i;

	for (i = 0; i < h->n_addrs; i++)
		if (is_v4(&h->addrs[i]) == v4)
			return &h->addrs[i];
	return NULL;
}

static int add_route(struct rtnl *r, unsigned int ifindex,
		     const struct srpol_host_port *h,
		     const struct srpol_host_prefix *p)
{
	const struct srpol_host_prefix *src = source(h, is_v4(p));
	char text[SRPOL_PREFIX_STRLEN];
	uint16_t via[1 + sizeof(gateway) / 2] = { AF_INET6 };
	struct rtmsg *rtm;

	/* a struct rtvia */
	memcpy(via + 1, &gateway, sizeof(gateway));
	rtm = rtnl_start(r, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL,
			 sizeof(*rtm));
	rtm->rtm_family = is_v4(p) ? AF_INET : AF_INET6;
	rtm->rtm_dst_len = prefix_len(p);
	rtm->rtm_table = RT_TABLE_MAIN;
	rtm->rtm_protocol = RTPROT_STATIC;
	rtm->rtm_scope = RT_SCOPE_UNIVERSE;
	rtm->rtm_type = RTN_UNICAST;
	rtm->rtm_flags = RTNH_F_ONLINK;
	put_addr(r, RTA_DST, p);
	mnl_attr_put_u32(r->nlh, RTA_OIF, ifindex);
	if (is_v4(p))
		mnl_attr_put(r->nlh, RTA_VIA, sizeof(via), via);
	else
		mnl_attr_put(r->nlh, RTA_GATEWAY, sizeof(gateway), &gateway);
	if (src)
		put_addr(r, RTA_PREFSRC, src);
	return rtnl_talk(r, "route to",
			 srpol_prefix_text(&p->addr, p->len, text));
}

static int del_link(struct rtnl *r, const char *name)
{
	struct ifinfomsg *ifi;

	ifi = rtnl_start(r, RTM_DELLINK, 0, sizeof(*ifi));
	ifi->ifi_index = if_nametoindex(name);
	return rtnl_talk(r, "removing device", name);
}

static void del_route(struct rtnl *r, unsigned int ifindex,
		      const struct srpol_host_prefix *p)
{
	struct rtmsg *rtm = rtnl_start(r, RTM_DELROUTE, 0, sizeof(*rtm));

	rtm->rtm_family = is_v4(p) ? AF_INET : AF_INET6;
	rtm->rtm_dst_len = prefix_len(p);
	rtm->rtm_table = RT_TABLE_MAIN;
	rtm->rtm_scope = RT_SCOPE_NOWHERE;
	put_addr(r, RTA_DST, p);
	mnl_attr_put_u32(r->nlh, RTA_OIF, ifindex);
	rtnl_ask(r, NULL, NULL);
}

static void unconfigure(struct rtnl *r, const struct srpol_host_port *h,
			const struct srpol_host_done *done)
{
	unsigned int ifindex = if_nametoindex(h->name), i;

	for (i = 0; i < done->n_prefixes; i++)
		del_route(r, ifindex, &h->prefixes[i]);
	for (i = 0; i < h->n_addrs; i++) {
		if (!done->new_addr[i])
			continue;
		start_addr(r, RTM_DELADDR, 0, ifindex, &h->addrs[i]);
		rtnl_ask(r, NULL, NULL);
	}
}

/* Configure all of it or nothing. */
static int configure(struct rtnl *r, const struct srpol_host_port *h,
		     struct srpol_host_done *done)
{
	unsigned int ifindex = if_nametoindex(h->name), i;
	int ret = 0;

	memset(done, 0, sizeof(*done));
	for (i = 0; i < h->n_addrs && !ret; i++)
		ret = add_addr(r, ifindex, &h->addrs[i], &done->new_addr[i]);
	for (i = 0; i < h->n_prefixes && !ret; i++) {
		ret = add_route(r, ifindex, h, &h->prefixes[i]);
		done->n_prefixes += !ret;
	}
	if (ret)
		unconfigure(r, h, done);
	return ret;
}

static int set_pair_up(struct rtnl *r, const struct srpol_host_port *h)
{
	struct srpol_host_done done;

	return set_gro(h->name, r->err) ?:
	       set_sysctl(h->peer, "accept_local", '1', r->err) ?:
	       set_sysctl(h->peer, "rp_filter", '0', r->err) ?:
	       srpol_host_rules_add(r, h->peer, h->table) ?:
	       set_up(r, h->peer, ALIAS_PEER) ?:
	       set_up(r, h->name, ALIAS) ?:
	       add_gateway(r, h->name, h->peer) ?:
	       configure(r, h, &done);
}

/**
 * srpol_host_make() - make the devices of a virtual port
 * @h: its description
 * @err: for the reason
 *
 * The programs are not attached here, so that nothing is steered yet.
 */
int srpol_host_make(const struct srpol_host_port *h, struct srpol_error *err)
{
	struct rtnl r;
	int ret;

	ret = rtnl_open(&r, err);
	if (!ret)
		ret = make_pair(&r, h);
	if (!ret) {
		ret = set_pair_up(&r, h);
		if (ret) {
			r.err = NULL;
			srpol_host_rules_del(&r, h->peer);
			del_link(&r, h->name);
		}
	}
	rtnl_close(&r);
	return ret;
}

/**
 * srpol_host_change() - add addresses and routes to a virtual port
 * @h: name, addresses and prefixes; other members are ignored
 * @done: set to what was added
 * @err: for the reason; nothing has changed then
 */
int srpol_host_change(const struct srpol_host_port *h,
		      struct srpol_host_done *done, struct srpol_error *err)
{
	struct rtnl r;
	int ret;

	ret = rtnl_open(&r, err) ?: configure(&r, h, done);
	rtnl_close(&r);
	return ret;
}

/**
 * srpol_host_undo() - undo srpol_host_change()
 * @h: as it was passed to that function
 * @done: as that function set it
 */
void srpol_host_undo(const struct srpol_host_port *h,
		     const struct srpol_host_done *done)
{
	struct srpol_error err;
	struct rtnl r;

	if (!rtnl_open(&r, &err))
		unconfigure(&r, h, done);
	rtnl_close(&r);
}

static int set_mtu(struct rtnl *r, const char *name, uint32_t mtu)
{
	struct ifinfomsg *ifi = rtnl_start(r, RTM_SETLINK, 0, sizeof(*ifi));

	ifi->ifi_index = if_nametoindex(name);
	mnl_attr_put_u32(r->nlh, IFLA_MTU, mtu);
	return rtnl_talk(r, "MTU of", name);
}

/**
 * srpol_host_set_mtu() - set the MTU of a virtual port that nobody uses yet
 * @h: its names and the MTU
 * @err: for the reason
 */
int srpol_host_set_mtu(const struct srpol_host_port *h,
		       struct srpol_error *err)
{
	struct rtnl r;
	int ret;

	ret = rtnl_open(&r, err) ?: set_mtu(&r, h->peer, h->mtu) ?:
	      set_mtu(&r, h->name, h->mtu);
	rtnl_close(&r);
	return ret;
}

/**
 * srpol_host_remove() - remove the devices of a virtual port
 * @name: the workload's end
 * @err: for the reason
 *
 * Addresses, routes and the gateway are removed with the device. A device that
 * srpol did not make is not removed.
 */
int srpol_host_remove(const char *name, struct srpol_error *err)
{
	unsigned int ifindex = if_nametoindex(name);
	unsigned int peer = srpol_host_peer(ifindex);
	char peer_name[IF_NAMESIZE];
	struct rtnl r;
	int ret;

	if (!srpol_host_is_ours(ifindex))
		return srpol_error_set(err, -EPERM,
				       "%s stays: its alias is not \"" ALIAS "\", so srpol did not make it; ip link del %s",
				       name, name);
	ret = rtnl_open(&r, err);
	if (!ret && peer && if_indextoname(peer, peer_name))
		srpol_host_rules_del(&r, peer_name);
	if (!ret)
		ret = del_link(&r, name);
	rtnl_close(&r);
	return ret;
}

static int read_link(const struct nlmsghdr *nlh, void *data)
{
	unsigned int *peer = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct ifinfomsg)) {
		if (mnl_attr_get_type(attr) == IFLA_LINK)
			*peer = mnl_attr_get_u32(attr);
		/* an ifindex of another namespace */
		if (mnl_attr_get_type(attr) == IFLA_LINK_NETNSID) {
			*peer = 0;
			break;
		}
	}
	return MNL_CB_OK;
}

/**
 * srpol_host_peer() - the other end of a veth pair
 * @ifindex: one end
 *
 * Return: its ifindex; 0 if there is none, or it is in another namespace.
 */
unsigned int srpol_host_peer(unsigned int ifindex)
{
	struct srpol_error err;
	unsigned int peer = 0;
	struct ifinfomsg *ifi;
	struct rtnl r;

	if (!rtnl_open(&r, &err)) {
		ifi = rtnl_start(&r, RTM_GETLINK, 0, sizeof(*ifi));
		ifi->ifi_index = ifindex;
		if (rtnl_ask(&r, read_link, &peer))
			peer = 0;
	}
	rtnl_close(&r);
	return peer;
}

static int read_alias(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;
	bool *ours = data;

	mnl_attr_for_each(attr, nlh, sizeof(struct ifinfomsg))
		if (mnl_attr_get_type(attr) == IFLA_IFALIAS)
			*ours = !strcmp(mnl_attr_get_str(attr), ALIAS);
	return MNL_CB_OK;
}

/**
 * srpol_host_is_ours() - did srpol make a device as the end of a virtual port
 *	that the workload has
 * @ifindex: the device
 */
bool srpol_host_is_ours(unsigned int ifindex)
{
	struct srpol_error err;
	struct ifinfomsg *ifi;
	bool ours = false;
	struct rtnl r;

	if (!rtnl_open(&r, &err)) {
		ifi = rtnl_start(&r, RTM_GETLINK, 0, sizeof(*ifi));
		ifi->ifi_index = ifindex;
		if (!ifindex || rtnl_ask(&r, read_alias, &ours))
			ours = false;
	}
	rtnl_close(&r);
	return ours;
}
