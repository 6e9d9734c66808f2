/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PSNs of what RoCEv2 flows send: how much of it comes again, and which local
 * QP a flow is, which its packets do not say.
 */
#ifndef _SRPOL_PSN_H
#define _SRPOL_PSN_H

#include "base.h"
#include "flow_table.h"
#include "maps.h"
#include "parse.h"
#include "proto.h"
#include "words.h"

/* Jiffies, at 1000 a second or fewer: about a second, or more. */
#define SRPOL_OFFER_SHIFT_MAX	10

_Static_assert(SRPOL_OFFERS_MAX > SRPOL_OFFER_SHIFT_MAX, "srpol_psn_due()");

/*
 * Is it time to ask whose ACK belongs to the flow? At first with each packet
 * that wants one, then less and less often, down to once in a second or a few:
 * of flows whose ACKs do not come by here too, and of those whose QP is known,
 * as a QP may go and its number be used again.
 */
static __always_inline bool srpol_psn_due(const struct srpol_flow *flow)
{
	__u32 n = flow->bound ? SRPOL_OFFERS_MAX : flow->offers, shift;

	if (n < SRPOL_OFFERS_MAX - SRPOL_OFFER_SHIFT_MAX)
		return true;
	shift = n - (SRPOL_OFFERS_MAX - SRPOL_OFFER_SHIFT_MAX);
	return (__u32)bpf_jiffies64() - flow->offer_tick >= 1u << (shift & 31);
}

/*
 * Remember which flow asked to have this PSN acknowledged. Two flows between
 * the same hosts that ask for the same PSN cannot be told apart: neither is
 * learnt from it.
 */
static __noinline int srpol_psn_offer(const struct srpol_pkt *pkt,
				      struct srpol_flow *flow)
{
	struct srpol_psn_key key = { .psn = pkt->psn & BTH_24_BITS };
	struct srpol_flow_key *old;

	flow->offer_tick = bpf_jiffies64();
	if (flow->offers < SRPOL_OFFERS_MAX)
		flow->offers++;
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
 * srpol_psn_sent - follow the PSNs a flow sends
 * @pkt: RoCEv2 packet
 * @flow: its flow
 */
static __always_inline void srpol_psn_sent(const struct srpol_pkt *pkt,
					   struct srpol_flow *flow)
{
	__u32 psn = pkt->psn & BTH_24_BITS;

	if (!srpol_bth_is_request(pkt->opcode))
		return;
	if (flow->psn_next != SRPOL_PSN_UNKNOWN &&
	    srpol_psn_diff(psn, flow->psn_next) < 0)
		flow->retransmits++;
	else
		flow->psn_next = (psn + 1) & BTH_24_BITS;
	if (pkt->psn & BTH_ACK_REQ && pkt->opcode < BTH_UC &&
	    srpol_psn_due(flow))
		srpol_psn_offer(pkt, flow);
}

#endif /* _SRPOL_PSN_H */
