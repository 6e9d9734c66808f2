// SPDX-License-Identifier: LGPL-2.1
/*
 * Ordering of memory accesses over several queue pairs or paths
 * (draft-xu-rtgwg-fare-in-sun 4): all accesses to an address use the same one,
 * so that they stay in order, while accesses to other addresses may overtake
 * them.
 */
#include "alg.h"

/**
 * srpol_affinity() - select the queue pair or path key for an address
 * @addr: address that is accessed
 * @granule_bits: addresses that differ only in this many low-order bits are
 *	treated as equal (6: a cache line); at most 63
 * @n: number of queue pairs or path keys, not 0
 *
 * Jump consistent hash (Lamping, Veach: arXiv 1406.2294): when n grows by one,
 * 1 / n of the addresses move, all of them to the new number. O(log @n).
 *
 * Return: 0 to @n - 1.
 */
uint32_t srpol_affinity(uint64_t addr, unsigned int granule_bits, uint32_t n)
{
	uint64_t key = srpol_mix(addr >> granule_bits);
	int64_t at = -1, next = 0;

	while (next < n) {
		at = next;
		key = key * 2862933555777941757ULL + 1;
		next = (at + 1) * ((double)(1LL << 31) / ((key >> 33) + 1));
	}
	return at;
}
