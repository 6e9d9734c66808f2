/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PSNs that RoCEv2 flows send: how many packets are retransmitted, and which
 * local QP a flow belongs to, which its packets do not say.
 */
#ifndef _SRPOL_PSN_H
#define _SRPOL_PSN_H

#include "base.h"
#include "flow_table.h"
#include "maps.h"
#include "parse.h"
#include "proto.h"
#include "words.h"

/*
 * Binary logarithm of the longest interval in jiffies: about a second, or more.
 */
#define SRPOL_OFFER_SHIFT_MAX	10

_Static_assert(SRPOL_OFFERS_MAX > SRPOL_OFFER_SHIFT_MAX, "srpol_psn_due()");

/*
 * Is it time to learn from an ACK which local QP the flow belongs to? At first
 * that is so for each packet that requests an ACK, then less and less often,
 * down to once in a second or a few. It goes on at that rate for flows whose
 * ACKs do not come by here, and for flows whose QP is known, since a QP may be
 * destroyed and its number used again.
 */
static __always_inline bool
srpol_psn_due(const struct srpol_flow_detail *detail)
{
	__u32 n = detail->bound ? SRPOL_OFFERS_MAX : detail->offers, shift;

	if (n < SRPOL_OFFERS_MAX - SRPOL_OFFER_SHIFT_MAX)
		return true;
	shift = n - (SRPOL_OFFERS_MAX - SRPOL_OFFER_SHIFT_MAX);
	return (__u32)bpf_jiffies64() - detail->offer_tick >=
	       1u << (shift & 31);
}

/*
 * Remember which flow has requested an ACK for this PSN. If two flows between
 * the same hosts do so for the same PSN, they cannot be told apart, and nothing
 * is learned from it about either.
 */
__noinline int srpol_psn_offer(const struct srpol_pkt *pkt __arg_nonnull,
			       struct srpol_flow_detail *detail __arg_nonnull)
{
	struct srpol_psn_key key = { .psn = pkt->psn & BTH_24_BITS };
	struct srpol_flow_key *old;

	detail->offer_tick = bpf_jiffies64();
	if (detail->offers < SRPOL_OFFERS_MAX)
		detail->offers++;
	srpol_copy_addr(key.local, pkt->key.saddr);
	srpol_copy_addr(key.peer, pkt->key.daddr);
	old = bpf_map_lookup_elem(&psn_seen, &key);
	if (!old)
		return bpf_map_update_elem(&psn_seen, &key, &pkt->key,
					   BPF_ANY);
	if (srpol_flow_key_differ(old, &pkt->key))
		old->roce = 0;
	return 0;
}

/**
 * srpol_psn_sent - follow the PSNs that a flow sends
 * @pkt: RoCEv2 packet
 * @flow: the flow's entry
 * @nr: number of that
 */
static __always_inline void srpol_psn_sent(const struct srpol_pkt *pkt,
					   struct srpol_flow *flow,
					   const __u32 *nr)
{
	__u32 psn = pkt->psn & BTH_24_BITS;
	struct srpol_flow_detail *detail;
	bool again;

	if (!srpol_bth_is_request(pkt->opcode))
		return;
	again = flow->psn_next != SRPOL_PSN_UNKNOWN &&
		srpol_psn_diff(psn, flow->psn_next) < 0;
	if (!again)
		flow->psn_next = (psn + 1) & BTH_24_BITS;
	if (!again && !(pkt->psn & BTH_ACK_REQ))
		return;
	detail = srpol_flow_detail(nr);
	if (!detail)
		return;
	if (again)
		detail->retransmits++;
	if (pkt->psn & BTH_ACK_REQ && pkt->opcode < BTH_UC &&
	    srpol_psn_due(detail))
		srpol_psn_offer(pkt, detail);
}

#endif /* _SRPOL_PSN_H */
