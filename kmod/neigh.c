// SPDX-License-Identifier: GPL-2.0
/*
 * Neighbours of both address families under one kind of address: IPv4 ones
 * are v4-mapped. The data plane sends IPv6 to all of them but those that
 * End.DX4 delivers to.
 */
#include <net/arp.h>
#include <net/ipv6.h>
#include <net/ndisc.h>

#include "srpol.h"

/**
 * srpol_neigh_get() - the neighbour with an address
 * @dev: device it is on
 * @addr: the address
 *
 * Return: a referenced neighbour, created if there was none, or an ERR_PTR.
 */
struct neighbour *srpol_neigh_get(struct net_device *dev,
				  const struct in6_addr *addr)
{
	struct neigh_table *tbl = &nd_tbl;
	const void *key = addr;
	struct neighbour *n;

	if (ipv6_addr_v4mapped(addr)) {
		tbl = &arp_tbl;
		key = &addr->s6_addr32[3];
	}
	n = neigh_lookup(tbl, key, dev);
	return n ?: neigh_create(tbl, key, dev);
}

/**
 * srpol_neigh_addr() - the address of a neighbour
 * @n: the neighbour
 * @addr: set to it
 *
 * Return: false if it is of another address family.
 */
bool srpol_neigh_addr(const struct neighbour *n, struct in6_addr *addr)
{
	if (n->tbl == &nd_tbl)
		memcpy(addr, n->primary_key, sizeof(*addr));
	else if (n->tbl == &arp_tbl)
		ipv6_addr_set_v4mapped(*(const __be32 *)n->primary_key, addr);
	else
		return false;
	return true;
}
