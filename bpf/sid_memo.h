/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an address is, remembered: nearly all packets that come in are for the
 * same few SIDs, or for none, and to ask the maps each time costs as much as
 * the whole rest of decapsulation; for SIDs shorter than 128 bits more.
 */
#ifndef _SRPOL_SID_MEMO_H
#define _SRPOL_SID_MEMO_H

#define SRPOL_MEMO_MIX		0x9e3779b97f4a7c15ull

/*
 * Ask the maps, and write it down unless that is being done already: on a
 * preemptible kernel by who was interrupted.
 */
static __noinline struct srpol_sid *
srpol_sid_learn(struct srpol_state *st, const struct in6_addr *addr, __u32 at)
{
	struct srpol_sid_memo *memo = bpf_map_lookup_elem(&sid_memos, &at);
	__u32 epoch = srpol_now_sync(st).epoch;
	struct srpol_sid *sid;

	sid = srpol_sid_look_up(st, addr);
	if (!memo || __sync_lock_test_and_set(&memo->busy, 1))
		return sid;
	WRITE_ONCE(memo->epoch, epoch - 1);
	barrier();
	srpol_copy_words(memo->addr, addr, sizeof(memo->addr));
	if (sid)
		memo->sid = *sid;
	else
		memo->sid.id = 0;
	barrier();
	WRITE_ONCE(memo->epoch, epoch);
	WRITE_ONCE(memo->busy, 0);
	return sid;
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
	__u32 at;

	at = (w[0] * SRPOL_MEMO_MIX + w[1]) * SRPOL_MEMO_MIX >>
	     (64 - SRPOL_SID_MEMO_BITS);
	memo = bpf_map_lookup_elem(&sid_memos, &at);
	if (memo && memo->addr[0] == w[0] && memo->addr[1] == w[1] &&
	    READ_ONCE(memo->epoch) == srpol_now_read(st).epoch)
		return memo->sid.id ? &memo->sid : NULL;
	return srpol_sid_learn(st, addr, at);
}

#endif /* _SRPOL_SID_MEMO_H */
