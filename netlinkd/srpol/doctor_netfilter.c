// SPDX-License-Identifier: GPL-2.0
/*
 * srpol doctor: firewalls that track connections of which they see one
 * direction only.
 *
 * The kernel tells which hooks there are (nfnetlink_hook), not what their rules
 * say: so these are notes.
 */
#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_hook.h>
#include <string.h>

#include "doctor.h"

#define NAMES_LEN	128
#define MORE		"..."

/**
 * struct hooks - what is at one hook of netfilter
 * @tracks: connection tracking
 * @filters: rules of nftables or iptables
 * @more: there are more of them than @names has room for
 * @names: which ones: chains of nftables, or "iptables"
 */
struct hooks {
	bool tracks;
	bool filters;
	bool more;
	char names[NAMES_LEN];
};

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* Name of the table and the chain, if it is a chain of nftables. */
static void read_chain(const struct nlattr *info, char *name, size_t len)
{
	const char *table = NULL, *chain = NULL;
	const struct nlattr *desc, *attr;

	mnl_attr_for_each_nested(desc, info) {
		if (mnl_attr_get_type(desc) != NFNLA_HOOK_INFO_DESC)
			continue;
		mnl_attr_for_each_nested(attr, desc) {
			if (mnl_attr_get_type(attr) == NFNLA_CHAIN_TABLE)
				table = mnl_attr_get_str(attr);
			if (mnl_attr_get_type(attr) == NFNLA_CHAIN_NAME)
				chain = mnl_attr_get_str(attr);
		}
	}
	if (table && chain)
		snprintf(name, len, "%s %s", table, chain);
}

static int read_hook(const struct nlmsghdr *nlh, void *data)
{
	struct hooks *hooks = data;
	const struct nlattr *attr;
	const char *function = "";
	char name[64] = "";
	size_t used;

	mnl_attr_for_each(attr, nlh, sizeof(struct nfgenmsg)) {
		if (mnl_attr_get_type(attr) == NFNLA_HOOK_FUNCTION_NAME)
			function = mnl_attr_get_str(attr);
		if (mnl_attr_get_type(attr) == NFNLA_HOOK_CHAIN_INFO)
			read_chain(attr, name, sizeof(name));
	}
	hooks->tracks |= starts_with(function, "ipv4_conntrack_in") ||
			 starts_with(function, "ipv6_conntrack_in");
	if (!name[0] && (starts_with(function, "ipt_do_table") ||
			 starts_with(function, "ip6t_do_table")))
		snprintf(name, sizeof(name), "iptables");
	if (!name[0])
		return MNL_CB_OK;
	hooks->filters = true;
	if (hooks->more)
		return MNL_CB_OK;
	used = strlen(hooks->names);
	hooks->more = used + strlen(name) + sizeof(", , " MORE) >
		      sizeof(hooks->names);
	snprintf(hooks->names + used, sizeof(hooks->names) - used, "%s%s",
		 used ? ", " : "", hooks->more ? MORE : name);
	return MNL_CB_OK;
}

/* Reads what is at a hook; nothing where the kernel does not tell. */
static void read_hooks(uint8_t family, uint32_t hook, struct hooks *hooks)
{
	char buf[MNL_SOCKET_BUFFER_SIZE];
	struct mnl_socket *nl;
	struct nlmsghdr *nlh;
	struct nfgenmsg *nf;
	ssize_t n;

	memset(hooks, 0, sizeof(*hooks));
	nl = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	if (!nl)
		return;
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = NFNL_SUBSYS_HOOK << 8 | NFNL_MSG_HOOK_GET;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	nf = mnl_nlmsg_put_extra_header(nlh, sizeof(*nf));
	nf->nfgen_family = family;
	nf->version = NFNETLINK_V0;
	mnl_attr_put_u32(nlh, NFNLA_HOOK_HOOKNUM, htonl(hook));
	n = mnl_socket_sendto(nl, nlh, nlh->nlmsg_len);
	while (n > 0) {
		n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		if (n > 0)
			n = mnl_cb_run(buf, n, 0, 0, read_hook, hooks);
	}
	mnl_socket_close(nl);
}

static bool has_port(const struct vec *devs)
{
	const struct dev_info *dev;

	vec_for_each(dev, devs)
		if (dev->role == SRPOL_DEV_ROLE_PORT)
			return true;
	return false;
}

/*
 * What comes in by a port and is steered passes no hook, what comes back passes
 * those of forwarded packets.
 */
static void check_ports_tracked(void)
{
	static const struct {
		uint8_t family;
		const char *name;
	} families[] = { { NFPROTO_IPV6, "IPv6" }, { NFPROTO_IPV4, "IPv4" } };
	struct hooks in, forward;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		read_hooks(families[i].family, NF_INET_PRE_ROUTING, &in);
		read_hooks(families[i].family, NF_INET_FORWARD, &forward);
		if (in.tracks && forward.filters)
			report(NOTE, "firewall",
			       "exempt packets from uplinks to addresses behind ports: see \"Firewalls\" in srpol-dev(8)",
			       "connections are tracked, and what ports send by a policy passes no firewall: it may drop the answers as invalid (%s: %s)",
			       families[i].name, forward.names);
	}
}

/* No outer packet is tracked, so an error about one belongs to no connection. */
static void check_reports_tracked(void)
{
	struct config_info config;
	struct hooks in, local;

	if (fetch_config(&config) || !config.report_from.n)
		return;
	read_hooks(NFPROTO_IPV6, NF_INET_PRE_ROUTING, &in);
	read_hooks(NFPROTO_IPV6, NF_INET_LOCAL_IN, &local);
	if (in.tracks && local.filters)
		report(NOTE, "firewall",
		       "accept ICMPv6 destination-unreachable from these routers before \"ct state invalid\" is dropped",
		       "connections are tracked, and encapsulated packets are not: it may drop what routers of report-from report, as invalid (%s)",
		       local.names);
}

/**
 * check_firewall() - find firewalls that may not know what a packet belongs to
 * @devs: devices that have a role
 */
void check_firewall(const struct vec *devs)
{
	if (has_port(devs))
		check_ports_tracked();
	check_reports_tracked();
}
