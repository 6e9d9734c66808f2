// SPDX-License-Identifier: LGPL-2.1
/*
 * The rules of virtual ports. A packet that srpol does not steer comes out of
 * the port's other end, and the main table would lead it back to the workload's
 * end: a rule keeps it from that table. Rules name a device and stay when it is
 * deleted, so they have a protocol number of their own, by which srpol knows
 * which of them it may remove.
 */
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "rtnl.h"

static const uint8_t families[] = { AF_INET, AF_INET6 };

#define FAMILIES	(sizeof(families) / sizeof(families[0]))

static struct fib_rule_hdr *start(struct rtnl *r, uint16_t type,
				  uint16_t flags, uint8_t family,
				  const char *peer)
{
	struct fib_rule_hdr *hdr = rtnl_start(r, type, flags, sizeof(*hdr));

	hdr->family = family;
	mnl_attr_put_strz(r->nlh, FRA_IIFNAME, peer);
	mnl_attr_put_u8(r->nlh, FRA_PROTOCOL, SRPOL_RTPROT);
	return hdr;
}

/**
 * srpol_host_rules_add() - route packets that come in by the other end of a
 * virtual port
 * @r: connection
 * @peer: that end
 * @table: routing table for them; 0: none, they are refused and their sender is
 *	told
 *
 * Rules of a former port of this name are removed first.
 */
int srpol_host_rules_add(struct rtnl *r, const char *peer, uint32_t table)
{
	struct fib_rule_hdr *hdr;
	unsigned int i;
	int ret = 0;

	srpol_host_rules_del(r, peer);
	for (i = 0; i < FAMILIES && !ret; i++) {
		hdr = start(r, RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL,
			    families[i], peer);
		hdr->action = table ? FR_ACT_TO_TBL : FR_ACT_UNREACHABLE;
		if (table)
			mnl_attr_put_u32(r->nlh, FRA_TABLE, table);
		ret = rtnl_talk(r, "rule for what comes in by", peer);
	}
	return ret;
}

/**
 * srpol_host_rules_del() - remove srpol's own rules of an end
 * @r: connection
 * @peer: that end
 */
void srpol_host_rules_del(struct rtnl *r, const char *peer)
{
	unsigned int i;

	for (i = 0; i < FAMILIES; i++) {
		do {
			start(r, RTM_DELRULE, 0, families[i], peer);
		} while (!rtnl_ask(r, NULL, NULL));
	}
}

/**
 * struct stale - a walk over the rules
 * @cb: called for each rule that is srpol's and whose device is gone
 * @data: for @cb
 * @n: number of them
 */
struct stale {
	void (*cb)(const char *peer, void *data);
	void *data;
	unsigned int n;
};

static int read_rule(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;
	struct stale *stale = data;
	const char *peer = NULL;
	bool ours = false;

	mnl_attr_for_each(attr, nlh, sizeof(struct fib_rule_hdr)) {
		if (mnl_attr_get_type(attr) == FRA_IIFNAME)
			peer = mnl_attr_get_str(attr);
		if (mnl_attr_get_type(attr) == FRA_PROTOCOL)
			ours = mnl_attr_get_u8(attr) == SRPOL_RTPROT;
	}
	if (ours && peer && !if_nametoindex(peer)) {
		stale->cb(peer, stale->data);
		stale->n++;
	}
	return MNL_CB_OK;
}

/**
 * srpol_host_stale() - find rules of virtual ports that are gone
 * @cb: called for each of them with the name of the device it was for
 * @data: for @cb
 *
 * Such rules are left if the device was deleted by other means than srpol.
 *
 * Return: how many there are.
 */
unsigned int srpol_host_stale(void (*cb)(const char *peer, void *data),
			      void *data)
{
	struct stale stale = { .cb = cb, .data = data };
	struct srpol_error err;
	struct rtnl r;
	unsigned int i;

	if (!rtnl_open(&r, &err))
		for (i = 0; i < FAMILIES; i++)
			rtnl_dump(&r, RTM_GETRULE, families[i], read_rule,
				  &stale);
	rtnl_close(&r);
	return stale.n;
}

static void del_stale(const char *peer, void *data)
{
	srpol_host_rules_del(data, peer);
}

/**
 * srpol_host_sweep() - remove the rules that are left of virtual ports that are
 * gone
 */
void srpol_host_sweep(void)
{
	struct srpol_error err;
	struct rtnl r;

	/* a connection of its own: the other one is in the middle of a dump */
	if (!rtnl_open(&r, &err))
		srpol_host_stale(del_stale, &r);
	rtnl_close(&r);
}
