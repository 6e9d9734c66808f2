/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A per-CPU cache of which SID an address belongs to. Nearly all packets that
 * come in are for the same few SIDs, or for none. A look-up in the maps costs
 * as much as the rest of decapsulation; more if SIDs are shorter than 128 bits.
 */
#ifndef _SRPOL_SID_CACHE_H
#define _SRPOL_SID_CACHE_H

#include "base.h"
#include "maps.h"
#include "sid.h"
#include "state.h"
#include "words.h"

#define SRPOL_SID_CACHE_MIX	0x9e3779b97f4a7c15ull

/*
 * Look @addr up in the maps and write the result to entry @at. If the kernel is
 * preemptible, a program that this one interrupted may be writing there; then
 * the spare entry is used. Return: the index of the entry written.
 */
__noinline __u32 srpol_sid_cache_fill(const struct in6_addr *addr __arg_nonnull,
				      __u32 at)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_sid_cache *entry;
	struct srpol_sid *sid;
	union srpol_now now;
	__u32 epoch;

	if (!st)
		return SRPOL_SID_CACHE_SIZE;
	now = srpol_now_sync(st);
	epoch = now.epoch;
	sid = srpol_sid_look_up(st, now.gen, addr);
	entry = bpf_map_lookup_elem(&sid_cache, &at);
	if (entry && __sync_lock_test_and_set(&entry->busy, 1)) {
		at = SRPOL_SID_CACHE_SIZE;
		entry = bpf_map_lookup_elem(&sid_cache, &at);
	}
	if (!entry)
		return SRPOL_SID_CACHE_SIZE;
	WRITE_ONCE(entry->epoch, epoch - 1);
	barrier();
	srpol_copy_addr(entry->addr, addr);
	if (sid)
		entry->sid = *sid;
	else
		entry->sid.id = 0;
	barrier();
	WRITE_ONCE(entry->epoch, epoch);
	WRITE_ONCE(entry->busy, 0);
	return at;
}

/**
 * srpol_sid_find - find the local SID that an address belongs to, at XDP
 * @st: state of the data plane
 * @addr: address, in the packet
 *
 * Return: the SID, NULL if the address belongs to none.
 */
static __always_inline const struct srpol_sid *
srpol_sid_find(struct srpol_state *st, const struct in6_addr *addr)
{
	const __u64 *w = (const __u64 *)addr;
	struct srpol_sid_cache *entry;
	struct in6_addr copy;
	__u32 at;

	at = (w[0] * SRPOL_SID_CACHE_MIX + w[1]) * SRPOL_SID_CACHE_MIX >>
	     (64 - SRPOL_SID_CACHE_BITS);
	entry = bpf_map_lookup_elem(&sid_cache, &at);
	if (!entry || entry->addr[0] != w[0] || entry->addr[1] != w[1] ||
	    READ_ONCE(entry->epoch) != srpol_now_read(st).epoch) {
		srpol_copy_addr(&copy, addr);
		at = srpol_sid_cache_fill(&copy, at);
		entry = bpf_map_lookup_elem(&sid_cache, &at);
	}
	return entry && entry->sid.id ? &entry->sid : NULL;
}

#endif /* _SRPOL_SID_CACHE_H */
