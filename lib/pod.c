// SPDX-License-Identifier: LGPL-2.1
/*
 * Pods, for the CNI plugin: a veth pair with one end in the pod's network
 * namespace and the other one in the present namespace, where the pod's packets
 * come in; and rules that are recognized by their names.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "objects.h"
#include "rtnl.h"

#define NO_NSID	-1

/**
 * struct link - properties of a device that are queried
 * @ifindex: its ifindex
 * @peer: ifindex of the other end, in the namespace of that end
 * @nsid: id of that namespace in this one; NO_NSID: it is this one
 * @master: bridge or other device that it is a port of
 * @kind: type of the device
 */
struct link {
	unsigned int ifindex;
	unsigned int peer;
	int nsid;
	unsigned int master;
	char kind[16];
};

static void read_info(const struct nlattr *info, struct link *link)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, info)
		if (mnl_attr_get_type(attr) == IFLA_INFO_KIND)
			snprintf(link->kind, sizeof(link->kind), "%s",
				 mnl_attr_get_str(attr));
}

static int read_link(const struct nlmsghdr *nlh, void *data)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;
	struct link *link = data;

	*link = (struct link){ .ifindex = ifi->ifi_index, .nsid = NO_NSID };
	mnl_attr_for_each(attr, nlh, sizeof(*ifi)) {
		switch (mnl_attr_get_type(attr)) {
		case IFLA_LINK:
			link->peer = mnl_attr_get_u32(attr);
			break;
		case IFLA_LINK_NETNSID:
			link->nsid = (int)mnl_attr_get_u32(attr);
			break;
		case IFLA_MASTER:
			link->master = mnl_attr_get_u32(attr);
			break;
		case IFLA_LINKINFO:
			read_info(attr, link);
			break;
		}
	}
	return MNL_CB_OK;
}

/* Query a device by name, or by ifindex if @name is NULL. */
static int ask_link(struct rtnl *r, const char *name, unsigned int ifindex,
		    struct link *link)
{
	struct ifinfomsg *ifi;

	ifi = rtnl_start(r, RTM_GETLINK, 0, sizeof(*ifi));
	ifi->ifi_index = ifindex;
	if (name)
		mnl_attr_put_strz(r->nlh, IFLA_IFNAME, name);
	return rtnl_ask(r, read_link, link);
}

static int read_nsid(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;
	int *nsid = data;

	mnl_attr_for_each(attr, nlh, sizeof(struct rtgenmsg))
		if (mnl_attr_get_type(attr) == NETNSA_NSID)
			*nsid = (int)mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

/* Id of the pod's namespace in this one. */
static int ask_nsid(struct rtnl *r, int netns)
{
	int nsid = NO_NSID;

	rtnl_start(r, RTM_GETNSID, 0, sizeof(struct rtgenmsg));
	mnl_attr_put_u32(r->nlh, NETNSA_FD, netns);
	rtnl_ask(r, read_nsid, &nsid);
	return nsid;
}

/*
 * Open a connection in another namespace; it stays there when the caller
 * returns.
 */
static int open_inside(struct rtnl *r, int netns, struct srpol_error *err)
{
	int self = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	int ret;

	if (self < 0 || setns(netns, CLONE_NEWNET)) {
		ret = srpol_error_set(err, -errno,
				      "entering its network namespace: %s",
				      strerror(errno));
	} else {
		ret = rtnl_open(r, err);
		/* the caller continues in its own namespace, or not at all */
		if (setns(self, CLONE_NEWNET))
			abort();
	}
	if (self >= 0)
		close(self);
	return ret;
}

/* Find the other end; it has to name this one as its peer, too. */
static int find_outside(struct rtnl *r, int netns, const struct link *inside,
			struct srpol_pod_veth *veth, struct srpol_error *err)
{
	struct link outside = {}, master = {};

	if (!inside->peer || strcmp(inside->kind, "veth") ||
	    ask_link(r, NULL, inside->peer, &outside) ||
	    strcmp(outside.kind, "veth") || outside.peer != inside->ifindex ||
	    outside.nsid == NO_NSID || outside.nsid != ask_nsid(r, netns))
		return srpol_error_set(err, -ENODEV,
				       "it is no veth whose other end is in this network namespace");
	veth->ifindex = outside.ifindex;
	if (outside.master && !ask_link(r, NULL, outside.master, &master) &&
	    !strcmp(master.kind, "bridge"))
		veth->bridge = master.ifindex;
	return 0;
}

/**
 * srpol_pod_veth_find() - find the other end of a pod's device
 * @path: of the pod's network namespace
 * @name: of the device there
 * @veth: result
 * @err: for the reason
 *
 * Return: 0, -ENOENT if the namespace or the device does not exist, -ENODEV if
 * the device is not a veth or its other end is not in this namespace.
 */
int srpol_pod_veth_find(const char *path, const char *name,
			struct srpol_pod_veth *veth, struct srpol_error *err)
{
	int netns = open(path, O_RDONLY | O_CLOEXEC), ret;
	struct rtnl in = {}, out = {};
	struct link inside = {};

	memset(veth, 0, sizeof(*veth));
	if (netns < 0)
		return srpol_error_set(err, -errno, "%s: %s", path,
				       strerror(errno));
	ret = open_inside(&in, netns, err) ?: rtnl_open(&out, err);
	if (!ret && ask_link(&in, name, 0, &inside))
		ret = srpol_error_set(err, -ENOENT, "there is no such device");
	if (!ret)
		ret = find_outside(&out, netns, &inside, veth, err);
	rtnl_close(&in);
	rtnl_close(&out);
	close(netns);
	return ret;
}

/**
 * srpol_dev_is_bridge() - is a device a bridge
 * @ifindex: the device
 */
bool srpol_dev_is_bridge(unsigned int ifindex)
{
	struct link link = {};
	struct srpol_error err;
	struct rtnl r;

	if (!rtnl_open(&r, &err))
		ask_link(&r, NULL, ifindex, &link);
	rtnl_close(&r);
	return !strcmp(link.kind, "bridge");
}

/**
 * rule_is_pods() - was a rule made by the CNI plugin for a pod
 * @rule: the rule
 *
 * Such a rule is removed with its pod: it is not part of a configuration that
 * is saved or replaced.
 */
bool rule_is_pods(const struct rule_info *rule)
{
	size_t len = strlen(SRPOL_POD_RULE);

	return !strncmp(rule->name, SRPOL_POD_RULE, len) &&
	       strspn(rule->name + len, "0123456789abcdef") ==
	       SRPOL_POD_DIGITS && !rule->name[len + SRPOL_POD_DIGITS];
}
