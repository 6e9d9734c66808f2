/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is for a workload behind a virtual port.
 *
 * DOC: virtual ports
 *
 * A virtual port is a veth pair, both of whose ends are in this namespace. The
 * workload's end has addresses and routes; the other end is a host port. What
 * comes for these addresses has to come in by the workload's end, also because
 * there are those who look for their device by skb->dev (rdma_rxe): where frames
 * are plain XDP redirects what it has decapsulated (forward.h), and the program
 * at TC ingress of uplinks does so with all the rest: pending checksums,
 * super-packets, what was not encapsulated.
 */
#ifndef _SRPOL_HOST_H
#define _SRPOL_HOST_H

#include "base.h"
#include "mac.h"
#include "maps.h"
#include "parse.h"
#include "proto.h"
#include "stats.h"

static __always_inline void srpol_host_v4(struct in6_addr *addr, __be32 v4)
{
	addr->in6_u.u6_addr32[0] = 0;
	addr->in6_u.u6_addr32[1] = 0;
	addr->in6_u.u6_addr32[2] = bpf_htonl(0xffff);
	addr->in6_u.u6_addr32[3] = v4;
}

/* Destination of a packet; false if it is none that may be routed here. */
static __always_inline bool srpol_host_daddr(struct __sk_buff *skb,
					     struct in6_addr *addr)
{
	__be32 v4;

	switch (skb->protocol) {
	case bpf_htons(ETH_P_IPV6):
		return !bpf_skb_load_bytes(skb, ETH_HLEN +
					   offsetof(struct ipv6hdr, daddr),
					   addr, sizeof(*addr));
	case bpf_htons(ETH_P_IP):
		if (bpf_skb_load_bytes(skb, ETH_HLEN +
				       offsetof(struct iphdr, daddr), &v4,
				       sizeof(v4)))
			return false;
		srpol_host_v4(addr, v4);
		return true;
	default:
		return false;
	}
}

/**
 * srpol_host_deliver - a packet came in by an uplink
 * @skb: packet
 *
 * Return: what the program returns.
 */
static __always_inline int srpol_host_deliver(struct __sk_buff *skb)
{
	const struct srpol_host *h;
	struct in6_addr addr;
	__u32 ifindex;

	if (skb->vlan_present || !srpol_mac_ours_skb(skb) ||
	    !srpol_host_daddr(skb, &addr))
		return SRPOL_TC_NEXT;
	h = bpf_map_lookup_elem(&host_addrs, &addr);
	if (!h)
		return SRPOL_TC_NEXT;
	ifindex = h->ifindex;
	if (bpf_skb_store_bytes(skb, 0, h->macs, sizeof(h->macs), 0))
		return SRPOL_TC_NEXT;
	srpol_count(SRPOL_REASON_HOST);
	return bpf_redirect(ifindex, 0);
}

#endif /* _SRPOL_HOST_H */
