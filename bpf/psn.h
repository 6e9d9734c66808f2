/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PSNs of what RoCEv2 flows send: how much of it comes again, and which local
 * QP a flow is, which its packets do not say.
 */
#ifndef _SRPOL_PSN_H
#define _SRPOL_PSN_H

/*
 * Remember which flow asked to have this PSN acknowledged. Two flows between
 * the same hosts that ask for the same PSN can not be told apart: neither is
 * learnt from it.
 */
static __noinline int srpol_psn_offer(const struct srpol_pkt *pkt)
{
	struct srpol_psn_key key = { .psn = pkt->psn & BTH_24_BITS };
	struct srpol_flow_key *old;

	srpol_copy_addr(key.local, pkt->key.saddr);
	srpol_copy_addr(key.peer, pkt->key.daddr);
	old = bpf_map_lookup_elem(&psn_seen, &key);
	if (!old)
		return bpf_map_update_elem(&psn_seen, &key, &pkt->key,
					   BPF_ANY);
	if (!srpol_flow_key_equal(old, &pkt->key))
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
	if (!flow->bound && pkt->psn & BTH_ACK_REQ && pkt->opcode < BTH_UC)
		srpol_psn_offer(pkt);
}

#endif /* _SRPOL_PSN_H */
