// SPDX-License-Identifier: GPL-2.0
/*
 * srpol doctor: what else decides about the packets that srpol handles: sysctls,
 * and routes and rules of the kernel.
 */
#include <linux/fib_rules.h>
#include <linux/lwtunnel.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#include "doctor.h"
#include "rtnl.h"

/**
 * struct forwarding - forwarding of a family
 * @family: the family
 * @all: the sysctl for all devices
 * @dev: the sysctl of a device
 * @on: how to turn it on
 * @verdict: if it is off for an uplink alone
 * @off: what becomes of packets for other hosts then
 */
struct forwarding {
	const char *family;
	const char *all;
	const char *dev;
	const char *on;
	enum verdict verdict;
	const char *off;
};

/*
 * The stack asks for IPv6 forwarding of all devices, the FIB look-up of XDP for
 * that of the uplink. For IPv4, both ask for that of the uplink.
 */
static const struct forwarding forwarding6 = {
	.family	 = "IPv6",
	.all	 = "/proc/sys/net/ipv6/conf/all/forwarding",
	.dev	 = "/proc/sys/net/ipv6/conf/%s/forwarding",
	.on	 = "sysctl net.ipv6.conf.all.forwarding=1, unless all decapsulated packets are for this host",
	.verdict = NOTE,
	.off	 = "XDP leaves them to the stack",
};

static const struct forwarding forwarding4 = {
	.family	 = "IPv4",
	.all	 = "/proc/sys/net/ipv4/ip_forward",
	.dev	 = "/proc/sys/net/ipv4/conf/%s/forwarding",
	.on	 = "sysctl net.ipv4.ip_forward=1, unless all decapsulated packets are for this host",
	.verdict = WARNING,
	.off	 = "the kernel drops them",
};

static void check_family(const struct forwarding *f, const struct vec *devs)
{
	const struct dev_info *dev;
	bool good = true;

	if (read_sysctl(f->all, "") <= 0) {
		report(NOTE, "forwarding", f->on, "%s, for local SIDs",
		       f->family);
		return;
	}
	vec_for_each(dev, devs) {
		if (dev->role != SRPOL_DEV_ROLE_UPLINK ||
		    read_sysctl(f->dev, dev_name(dev->ifindex)))
			continue;
		good = false;
		report(f->verdict, "forwarding",
		       "set the sysctl \"forwarding\" of the uplink to 1, too",
		       "%s is off for uplink %s: of decapsulated packets for other hosts, %s",
		       f->family, dev_name(dev->ifindex), f->off);
	}
	if (good)
		report(GOOD, "forwarding", "", "%s, for local SIDs",
		       f->family);
}

/**
 * check_forwarding() - can decapsulated packets be forwarded to other hosts?
 * @sids: all local SIDs
 * @devs: devices that have a role
 */
void check_forwarding(const struct vec *sids, const struct vec *devs)
{
	const struct sid_info *sid;
	bool need6 = false, need4 = false;

	vec_for_each(sid, sids) {
		need6 |= sid->behavior != SRPOL_BEHAVIOR_END_DT4 &&
			 sid->behavior != SRPOL_BEHAVIOR_UDT4 &&
			 sid->behavior != SRPOL_BEHAVIOR_PROBE &&
			 sid->behavior != SRPOL_BEHAVIOR_REFLECT;
		need4 |= sid->behavior == SRPOL_BEHAVIOR_END_DT4 ||
			 sid->behavior == SRPOL_BEHAVIOR_END_DT46 ||
			 sid->behavior == SRPOL_BEHAVIOR_UDT4 ||
			 sid->behavior == SRPOL_BEHAVIOR_UDT46;
	}
	if (need6)
		check_family(&forwarding6, devs);
	if (need4)
		check_family(&forwarding4, devs);
}

/* Dumps routes or rules; without rtnetlink there are none to be found. */
static void dump(uint16_t type, uint8_t family, mnl_cb_t cb, void *data)
{
	struct srpol_error error;
	struct rtnl r;

	if (!rtnl_open(&r, &error))
		rtnl_dump(&r, type, family, cb, data);
	rtnl_close(&r);
}

static int read_kernel_sid(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	const struct in6_addr *dst = NULL;
	const struct vec *sids = data;
	char text[SRPOL_PREFIX_STRLEN];
	const struct sid_info *sid;
	const struct nlattr *attr;
	uint16_t encap = 0;

	mnl_attr_for_each(attr, nlh, sizeof(*rtm)) {
		if (mnl_attr_get_type(attr) == RTA_DST)
			dst = mnl_attr_get_payload(attr);
		if (mnl_attr_get_type(attr) == RTA_ENCAP_TYPE)
			encap = mnl_attr_get_u16(attr);
	}
	if (!dst || encap != LWTUNNEL_ENCAP_SEG6_LOCAL)
		return MNL_CB_OK;
	vec_for_each(sid, sids) {
		if (rtm->rtm_dst_len < sid->prefix_len ||
		    !srpol_addr_in_prefix(dst, &sid->sid, sid->prefix_len))
			continue;
		report(WARNING, "sid", "srpol sid del, or ip -6 route del",
		       "the kernel has a seg6local route for %s, too: srpol takes its packets at uplinks, the kernel those of other devices",
		       srpol_prefix_text(dst, rtm->rtm_dst_len, text));
	}
	return MNL_CB_OK;
}

/**
 * check_kernel_sids() - find local SIDs that the kernel has, too
 * @sids: all local SIDs
 *
 * A shorter prefix of the kernel is none of them: it is for other SIDs.
 */
void check_kernel_sids(const struct vec *sids)
{
	if (sids->n)
		dump(RTM_GETROUTE, AF_INET6, read_kernel_sid, (void *)sids);
}

/**
 * struct rule_walk - a walk over the rules of a family, by preference
 * @peer: other end of a virtual port
 * @first: preference of the first rule that may take its packets
 * @taken: there is such a rule
 * @ours: srpol's own rule was seen, before which others count
 */
struct rule_walk {
	const char *peer;
	uint32_t first;
	bool taken;
	bool ours;
};

static int read_ip_rule(const struct nlmsghdr *nlh, void *data)
{
	const struct fib_rule_hdr *hdr = mnl_nlmsg_get_payload(nlh);
	bool here = true, ours = false;
	struct rule_walk *walk = data;
	const struct nlattr *attr;
	uint32_t pref = 0;

	mnl_attr_for_each(attr, nlh, sizeof(*hdr)) {
		switch (mnl_attr_get_type(attr)) {
		case FRA_PRIORITY:
			pref = mnl_attr_get_u32(attr);
			break;
		case FRA_PROTOCOL:
			ours = mnl_attr_get_u8(attr) == SRPOL_RTPROT;
			break;
		case FRA_IIFNAME:
			here &= !strcmp(mnl_attr_get_str(attr), walk->peer);
			break;
		case FRA_OIFNAME:	/* of packets of this host */
		case FRA_L3MDEV:	/* of devices of a VRF */
			here = false;
			break;
		}
	}
	walk->ours |= ours && here;
	if (walk->ours || walk->taken || !here || hdr->action == FR_ACT_NOP ||
	    hdr->table == RT_TABLE_LOCAL)
		return MNL_CB_OK;
	walk->taken = true;
	walk->first = pref;
	return MNL_CB_OK;
}

/**
 * check_ip_rules() - find rules that come before those of virtual ports
 * @devs: devices that have a role
 *
 * What srpol does not steer comes out of the port's other end, where its rule
 * keeps it from the main table, which would lead it back.
 */
void check_ip_rules(const struct vec *devs)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };
	const struct dev_info *dev;
	char peer[IF_NAMESIZE];
	unsigned int i;

	vec_for_each(dev, devs) {
		if (dev->role != SRPOL_DEV_ROLE_HOST ||
		    !if_indextoname(srpol_host_peer(dev->ifindex), peer))
			continue;
		for (i = 0; i < ARRAY_SIZE(families); i++) {
			struct rule_walk walk = { .peer = peer };

			dump(RTM_GETRULE, families[i], read_ip_rule, &walk);
			if (walk.ours && walk.taken)
				report(WARNING, dev_name(dev->ifindex),
				       "ip rule: give it a higher preference than that of \"iif\" the other end",
				       "%s rule %u comes before the one that srpol made for %s: packets that srpol does not steer may be in a routing loop",
				       families[i] == AF_INET ? "IPv4" : "IPv6",
				       walk.first, peer);
		}
	}
}
