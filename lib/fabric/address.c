// SPDX-License-Identifier: LGPL-2.1
/*
 * Finds NICs by their addresses. An index makes this fast, as callers look up
 * many addresses.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"

static int by_addr(const void *a, const void *b, void *data)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct srpol_nic *nics = data;
	int diff = memcmp(&nics[x].addr, &nics[y].addr, sizeof(nics[x].addr));

	return diff ? diff : (x > y) - (x < y);
}

/**
 * srpol_fabric_index_addrs() - build the index of NICs by address
 * @f: fabric whose NICs have their final numbers
 *
 * Return: 0, -ENOMEM.
 */
int srpol_fabric_index_addrs(struct srpol_fabric *f)
{
	uint32_t i;

	f->addrs = calloc(f->n_nics + 1UL, sizeof(*f->addrs));
	if (!f->addrs)
		return -ENOMEM;
	for (i = 0; i < f->n_nics; i++)
		f->addrs[i] = i;
	qsort_r(f->addrs, f->n_nics, sizeof(*f->addrs), by_addr, f->nics);
	return 0;
}

/**
 * srpol_fabric_nic_at() - find the NIC with an address
 * @f: finished fabric
 * @addr: address
 *
 * If several NICs have the address, this is the one with the lowest number.
 * O(log NICs).
 *
 * Return: number of the NIC, SRPOL_NONE if there is none.
 */
uint32_t srpol_fabric_nic_at(const struct srpol_fabric *f,
			     const struct in6_addr *addr)
{
	uint32_t a = 0, b = f->n_nics, mid;

	while (a < b) {
		mid = a + (b - a) / 2;
		if (memcmp(&f->nics[f->addrs[mid]].addr, addr,
			   sizeof(*addr)) < 0)
			a = mid + 1;
		else
			b = mid;
	}
	if (a == f->n_nics ||
	    memcmp(&f->nics[f->addrs[a]].addr, addr, sizeof(*addr)))
		return SRPOL_NONE;
	return f->addrs[a];
}
