/* SPDX-License-Identifier: GPL-2.0 */
/* TCX egress of uplinks: steer what leaves. */
#ifndef _SRPOL_EGRESS_H
#define _SRPOL_EGRESS_H

/* Left alone, and counted. */
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
 * Too big for its path, which takes @mtu: dropped as it is, and its sender told
 * if possible. Inline, as the stack is nearly used up.
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
	return srpol_icmp_too_big(skb, pkt, mtu);
}

/**
 * srpol_egress_steer - send a packet on its flow's way
 * @skb: packet
 * @pkt: the same, parsed
 *
 * Return: what the program returns.
 */
static __always_inline int srpol_egress_steer(struct __sk_buff *skb,
					      struct srpol_pkt *pkt)
{
	struct srpol_outer o;
	struct srpol_way w;
	int reason;

	reason = srpol_way_find(skb, pkt, &w);
	if (reason == SRPOL_REASON_INVALID_DROP)
		return srpol_egress_drop(pkt, reason, w.d.policy);
	if (reason)
		return srpol_egress_pass(reason);
	if (!srpol_encap_fits(pkt, w.c.cfg))
		return srpol_egress_too_big(skb, pkt, w.c.path, w.c.cfg->mtu -
					    w.c.cfg->encap_len,
					    w.cfg->icmp_errors);

	srpol_way_outer(&w, pkt, &o);
	reason = srpol_push(skb, pkt, &w.c, &o);
	if (reason == SRPOL_REASON_TUNNELED)
		return srpol_egress_pass(reason);
	if (reason) {
		srpol_error(SRPOL_ERROR_PATH, reason, w.c.path);
		return srpol_egress_drop(pkt, reason, w.c.path);
	}
	srpol_way_taken(&w, pkt);
	if (w.c.ifindex != pkt->ifindex)
		return bpf_redirect(w.c.ifindex, 0);
	return SRPOL_TC_NEXT;
}

#endif /* _SRPOL_EGRESS_H */
