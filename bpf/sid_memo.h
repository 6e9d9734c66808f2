/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an address is, remembered: nearly all packets that come in are for the
 * same few SIDs, or for none, and to ask the maps each time costs as much as
 * the whole rest of decapsulation; for SIDs shorter than 128 bits more.
 */
#ifndef _SRPOL_SID_MEMO_H
#define _SRPOL_SID_MEMO_H

#include "base.h"
#include "maps.h"
#include "sid.h"
#include "state.h"
#include "words.h"

#define SRPOL_MEMO_MIX		0x9e3779b97f4a7c15ull

/*
 * Ask the maps, and write it down. On a preemptible kernel the entry may be
 * being written by who was interrupted: then the spare one is. Return: which.
 */
__noinline __u32 srpol_sid_learn(const struct in6_addr *addr __arg_nonnull,
				 __u32 at)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_sid_memo *memo;
	struct srpol_sid *sid;
	union srpol_now now;
	__u32 epoch;

	if (!st)
		return SRPOL_SID_MEMOS;
	now = srpol_now_sync(st);
	epoch = now.epoch;
	sid = srpol_sid_look_up(st, now.gen, addr);
	memo = bpf_map_lookup_elem(&sid_memos, &at);
	if (memo && __sync_lock_test_and_set(&memo->busy, 1)) {
		at = SRPOL_SID_MEMOS;
		memo = bpf_map_lookup_elem(&sid_memos, &at);
	}
	if (!memo)
		return SRPOL_SID_MEMOS;
	WRITE_ONCE(memo->epoch, epoch - 1);
	barrier();
	srpol_copy_addr(memo->addr, addr);
	if (sid)
		memo->sid = *sid;
	else
		memo->sid.id = 0;
	barrier();
	WRITE_ONCE(memo->epoch, epoch);
	WRITE_ONCE(memo->busy, 0);
	return at;
}

/**
 * srpol_sid_find - the local SID an address belongs to, at XDP
 * @st: state
 * @addr: address, in the packet
 *
 * Return: SID, NULL if it is none of ours.
 */
static __always_inline const struct srpol_sid *
srpol_sid_find(struct srpol_state *st, const struct in6_addr *addr)
{
	const __u64 *w = (const __u64 *)addr;
	struct srpol_sid_memo *memo;
	struct in6_addr copy;
	__u32 at;

	at = (w[0] * SRPOL_MEMO_MIX + w[1]) * SRPOL_MEMO_MIX >>
	     (64 - SRPOL_SID_MEMO_BITS);
	memo = bpf_map_lookup_elem(&sid_memos, &at);
	if (!memo || memo->addr[0] != w[0] || memo->addr[1] != w[1] ||
	    READ_ONCE(memo->epoch) != srpol_now_read(st).epoch) {
		srpol_copy_addr(&copy, addr);
		at = srpol_sid_learn(&copy, at);
		memo = bpf_map_lookup_elem(&sid_memos, &at);
	}
	return memo && memo->sid.id ? &memo->sid : NULL;
}

#endif /* _SRPOL_SID_MEMO_H */
