/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TC ingress of host ports. The skb has what XDP cannot see: a pending
 * checksum, the segment size of a super-packet, a VLAN tag in the metadata,
 * headers in fragments. So pods and VMs can keep their offloads. All packets
 * that XDP has left alone on the same device come here as well.
 *
 * A packet that is not steered goes on to the stack, which forwards it to an
 * uplink. Packets to destinations inside the SR domain (RFC 8754 5.1), or that
 * may be, since they cannot be read, do not go on: they are dropped.
 */
#ifndef _SRPOL_PORT_TC_H
#define _SRPOL_PORT_TC_H

#include "alone.h"
#include "base.h"
#include "drop.h"
#include "encap.h"
#include "hop.h"
#include "icmp.h"
#include "limit.h"
#include "mac.h"
#include "maps.h"
#include "parse.h"
#include "proto.h"
#include "sid.h"
#include "state.h"
#include "stats.h"
#include "steer.h"
#include "words.h"

#define SRPOL_PACKET_OTHERHOST	3	/* of skb->pkt_type */

static __always_inline int srpol_port_tc_pass(__u32 reason)
{
	srpol_count(reason);
	return SRPOL_TC_NEXT;
}

static __always_inline int srpol_port_tc_drop(const struct srpol_pkt *pkt,
					      __u32 reason, __u32 id)
{
	srpol_drop_pkt(pkt, reason, id);
	return SRPOL_TC_DROP;
}

/*
 * Read the addresses of a packet that was not fully parsed. Return: false if it
 * has none.
 */
static __always_inline bool srpol_port_read(struct __sk_buff *skb,
					    struct srpol_pkt *pkt)
{
	__be32 addr[2];

	pkt->ifindex = skb->ifindex;
	pkt->key.proto = 0;
	pkt->is_v4 = pkt->l3_proto == bpf_htons(ETH_P_IP);
	if (!pkt->is_v4)
		return pkt->l3_proto == bpf_htons(ETH_P_IPV6) &&
		       !bpf_skb_load_bytes(skb, pkt->l3_off +
					   offsetof(struct ipv6hdr, saddr),
					   pkt->key.saddr, 32);
	if (bpf_skb_load_bytes(skb, pkt->l3_off + offsetof(struct iphdr, saddr),
			       addr, sizeof(addr)))
		return false;
	srpol_copy_v4(pkt->key.saddr, addr[0]);
	srpol_copy_v4(pkt->key.daddr, addr[1]);
	return true;
}

/*
 * Is it to one address, in a network that routers forward to? Neighbor discovery
 * between such addresses is, too.
 */
static __always_inline bool srpol_port_routed(const struct srpol_pkt *pkt)
{
	const struct in6_addr *src = (const void *)pkt->key.saddr;
	const struct in6_addr *dst = (const void *)pkt->key.daddr;

	if (pkt->is_v4)
		return bpf_ntohl(dst->in6_u.u6_addr32[3]) >> 28 < 0xe;
	return !srpol_v6_link_scope(src) && !srpol_v6_link_scope(dst);
}

/*
 * Is the source of a packet that is not steered, for @reason, to be checked? That
 * it is of the link does not mean that the stack does not forward it, nor does a
 * group's MAC address; what is for another one's MAC address is bridged.
 */
static __always_inline bool srpol_port_checked(const struct __sk_buff *skb,
					       const struct srpol_pkt *pkt,
					       __u32 reason)
{
	switch (reason) {
	case SRPOL_REASON_UNPARSED:
	case SRPOL_REASON_SCTP_GSO:
	case SRPOL_REASON_TUNNELED:
		return true;
	case SRPOL_REASON_FOREIGN_MAC:
		return skb->pkt_type != SRPOL_PACKET_OTHERHOST &&
		       srpol_port_routed(pkt);
	case SRPOL_REASON_LINK_SCOPE:
		return srpol_port_routed(pkt);
	default:
		return false;
	}
}

/*
 * A packet is not steered, for @reason; decide by its addresses alone whether
 * it may go on. If it was not fully parsed, is a tunnel, or only looks as if it
 * were of the link, its source is checked as that of any other packet.
 */
static __noinline int srpol_port_unsteered(struct __sk_buff *skb,
					   struct srpol_pkt *pkt, __u32 reason)
{
	struct srpol_state *st = srpol_state_get();
	bool known = srpol_port_read(skb, pkt);

	if (known && srpol_port_checked(skb, pkt, reason) &&
	    srpol_port_check(skb, SRPOL_PORT_TC, pkt) & SRPOL_HOW_SPOOFED)
		reason = SRPOL_REASON_SPOOFED;
	else if (reason == SRPOL_REASON_UNPARSED && !pkt->l3_proto)
		reason = SRPOL_REASON_PORT_UNREADABLE;
	else if (pkt->l3_proto != bpf_htons(ETH_P_IPV6) || !st)
		return srpol_port_tc_pass(reason);
	else if (!known)
		reason = SRPOL_REASON_PORT_UNREADABLE;
	else if (!srpol_inside(st, srpol_now_read(st).gen,
			       (void *)pkt->key.daddr))
		return srpol_port_tc_pass(reason);
	else
		reason = SRPOL_REASON_SID_FROM_PORT;
	if (reason == SRPOL_REASON_PORT_UNREADABLE) {
		__builtin_memset(pkt->key.saddr, 0, 16);
		__builtin_memset(pkt->key.daddr, 0, 16);
	}
	pkt->len = skb->len - pkt->l3_off;
	return srpol_port_tc_drop(pkt, reason, 0);
}

/* Nothing of a packet can be read: it may be for the SR domain. */
static __always_inline int srpol_port_unreadable(struct __sk_buff *skb,
						 struct srpol_pkt *pkt)
{
	pkt->ifindex = skb->ifindex;
	pkt->len = skb->len;
	return srpol_port_tc_drop(pkt, SRPOL_REASON_PORT_UNREADABLE, 0);
}

/*
 * The packet is too big for its path. Drop it, and tell its sender if settings
 * allow.
 */
static __always_inline int srpol_port_too_big(struct __sk_buff *skb,
					      const struct srpol_pkt *pkt,
					      const struct srpol_steer *s)
{
	__u32 path = s->sel.path, mtu = s->sel.cfg->mtu -
					s->sel.cfg->encap_len;

	srpol_error(SRPOL_ERROR_PATH, SRPOL_REASON_TOO_BIG, path);
	srpol_drop_pkt(pkt, SRPOL_REASON_TOO_BIG, path);
	if (!s->cfg->icmp_errors)
		return SRPOL_TC_DROP;
	return srpol_icmp_too_big(skb, pkt, mtu, 0);
}

/*
 * The uplink drops frames that are too long, though it were by bytes that do not
 * belong to the packet.
 */
static __always_inline bool srpol_port_cut(struct __sk_buff *skb,
					   const struct srpol_pkt *pkt,
					   const struct srpol_path_cfg *cfg)
{
	__u32 room = skb->len - pkt->l3_off;

	return pkt->gso_size || room <= pkt->len ||
	       room + cfg->encap_len <= cfg->mtu ||
	       !bpf_skb_change_tail(skb, pkt->l3_off + pkt->len, 0);
}

static __always_inline int srpol_port_tc_push(struct __sk_buff *skb,
					      const struct srpol_pkt *pkt,
					      const struct srpol_steer *s)
{
	__u32 ifindex = s->sel.ifindex;
	struct srpol_outer o;
	int err;

	if (!bpf_map_lookup_elem(&uplinks, &ifindex))
		return SRPOL_REASON_NO_UPLINK;
	if (!srpol_port_cut(skb, pkt, s->sel.cfg))
		return SRPOL_REASON_PORT_UNREADABLE;
	srpol_steer_outer(s, pkt, &o);
	err = srpol_push(skb, pkt, &s->sel, &o);
	if (err)
		return err;
	return srpol_hop_inner((void *)(long)skb->data,
			       (void *)(long)skb->data_end, pkt->is_v4,
			       ETH_HLEN + s->sel.cfg->encap_len);
}

/**
 * srpol_port_tc_steer - send a packet on the path of its flow
 * @skb: packet
 * @pkt: the same, parsed
 *
 * Return: what the program returns.
 */
static __always_inline int srpol_port_tc_steer(struct __sk_buff *skb,
					       struct srpol_pkt *pkt)
{
	struct srpol_decision d;
	struct srpol_steer s = { .d = &d };
	int reason;

	reason = srpol_steer_find(skb, pkt, SRPOL_PORT_TC, &s);
	if (reason == SRPOL_REASON_SID_FROM_PORT ||
	    reason == SRPOL_REASON_SPOOFED)
		return srpol_port_tc_drop(pkt, reason, 0);
	if (!s.flow)
		return srpol_port_unsteered(skb, pkt, reason);
	if (reason == SRPOL_REASON_BYPASS) {
		srpol_steer_account(&s, pkt);
		srpol_alone_set(skb);
		return srpol_port_tc_pass(reason);
	}
	/*
	 * Egress counts, for flow and rule, the packets that go on to it. But there they
	 * are another flow, as the port is no part of its key: this one has no path.
	 */
	if (reason && reason != SRPOL_REASON_INVALID_DROP) {
		if (s.flow->path)
			s.flow->path = 0;
		return srpol_port_tc_pass(reason);
	}
	/* No hop is left: the kernel gets the packet and answers it. */
	if (!reason && pkt->ttl <= 1)
		return srpol_port_tc_pass(SRPOL_REASON_TTL_EXCEEDED);
	srpol_steer_account(&s, pkt);
	if (reason) {
		srpol_steer_not(&s, reason);
		return srpol_port_tc_drop(pkt, reason, d.cache.policy);
	}
	if (!srpol_encap_fits(pkt, s.sel.cfg))
		return srpol_port_too_big(skb, pkt, &s);
	if (srpol_limit_any() &&
	    srpol_limit_skb(skb, d.cache.policy, pkt->len, pkt->hdr_len))
		return srpol_port_tc_drop(pkt, SRPOL_REASON_LIMITED,
					  d.cache.policy);

	reason = srpol_port_tc_push(skb, pkt, &s);
	if (reason == SRPOL_REASON_ENCAP_REFUSED) {
		reason = srpol_steer_unpushed(d.cache.policy);
		if (reason == SRPOL_REASON_ENCAP_REFUSED) {
			/* nor will egress be allowed to, which would count it */
			srpol_alone_set(skb);
			return srpol_port_tc_pass(reason);
		}
	}
	if (reason) {
		/* unless it is the packet that is to blame */
		if (reason != SRPOL_REASON_PORT_UNREADABLE)
			srpol_error(SRPOL_ERROR_PATH, reason, s.sel.path);
		return srpol_port_tc_drop(pkt, reason, s.sel.path);
	}
	srpol_steer_done(&s, pkt);
	return bpf_redirect(s.sel.ifindex, 0);
}

#endif /* _SRPOL_PORT_TC_H */
