/* SPDX-License-Identifier: GPL-2.0 */
/* TCX egress of uplinks: steer the packets that leave. */
#ifndef _SRPOL_EGRESS_H
#define _SRPOL_EGRESS_H

#include "base.h"
#include "drop.h"
#include "encap.h"
#include "icmp.h"
#include "limit.h"
#include "parse.h"
#include "proto.h"
#include "stats.h"
#include "steer.h"

/* Leave the packet alone, and count the reason. */
static __always_inline int srpol_egress_pass(__u32 reason)
{
	srpol_count(reason);
	return SRPOL_TC_NEXT;
}

static __always_inline int srpol_egress_drop(const struct srpol_pkt *pkt,
					     __u32 reason, __u32 id)
{
	srpol_drop_pkt(pkt, reason, id);
	return SRPOL_TC_DROP;
}

/*
 * The packet is too big for its path, which takes inner packets of up to @mtu
 * bytes. Drop it, and tell its sender if @icmp_errors allows. Inline, as the
 * stack is nearly used up.
 */
static __always_inline int srpol_egress_too_big(struct __sk_buff *skb,
						const struct srpol_pkt *pkt,
						__u32 path, __u32 mtu,
						__u32 icmp_errors)
{
	srpol_error(SRPOL_ERROR_PATH, SRPOL_REASON_TOO_BIG, path);
	srpol_drop_pkt(pkt, SRPOL_REASON_TOO_BIG, path);
	if (!icmp_errors)
		return SRPOL_TC_DROP;
	return srpol_icmp_too_big(skb, pkt, mtu, BPF_F_INGRESS);
}

/**
 * srpol_egress_steer - send a packet on the path of its flow
 * @skb: packet
 * @pkt: the same, parsed
 *
 * Return: what the program returns.
 */
static __always_inline int srpol_egress_steer(struct __sk_buff *skb,
					      struct srpol_pkt *pkt)
{
	struct srpol_outer o;
	struct srpol_decision d;
	struct srpol_steer s = { .d = &d };
	int reason;

	reason = srpol_steer_find(skb, pkt, SRPOL_PORT_NONE, &s);
	if (!s.flow)
		return srpol_egress_pass(reason);
	srpol_steer_account(&s, pkt);
	if (reason) {
		srpol_steer_not(&s, reason);
		return reason == SRPOL_REASON_INVALID_DROP ?
		       srpol_egress_drop(pkt, reason, d.cache.policy) :
		       srpol_egress_pass(reason);
	}
	if (!srpol_encap_fits(pkt, s.sel.cfg))
		return srpol_egress_too_big(skb, pkt, s.sel.path,
					    s.sel.cfg->mtu -
					    s.sel.cfg->encap_len,
					    s.cfg->icmp_errors);
	/*
	 * checked here, since elsewhere it would take more stack than there is
	 */
	if (srpol_limit_any() &&
	    srpol_limit_skb(skb, d.cache.policy, pkt->len, pkt->hdr_len))
		return srpol_egress_drop(pkt, SRPOL_REASON_LIMITED,
					 d.cache.policy);

	srpol_steer_outer(&s, pkt, &o);
	reason = srpol_push(skb, pkt, &s.sel, &o);
	if (reason == SRPOL_REASON_ENCAP_REFUSED) {
		reason = srpol_steer_unpushed(d.cache.policy);
		if (reason == SRPOL_REASON_ENCAP_REFUSED)
			return srpol_egress_pass(reason);
	}
	if (reason) {
		srpol_error(SRPOL_ERROR_PATH, reason, s.sel.path);
		return srpol_egress_drop(pkt, reason, s.sel.path);
	}
	srpol_steer_done(&s, pkt);
	if (s.sel.ifindex != pkt->ifindex)
		return bpf_redirect(s.sel.ifindex, 0);
	return SRPOL_TC_NEXT;
}

#endif /* _SRPOL_EGRESS_H */
