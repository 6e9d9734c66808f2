/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets for a workload behind a virtual port.
 *
 * DOC: virtual ports
 *
 * A virtual port is a veth pair whose two ends are both in this namespace. The
 * workload's end has addresses and routes; the other end is a host port.
 * Packets for these addresses have to enter by the workload's end, also because
 * some receivers find their device by skb->dev (rdma_rxe). XDP redirects the
 * plain frames that it has decapsulated (forward.h). The program at TC ingress
 * of uplinks redirects all the rest: packets with a pending checksum,
 * super-packets, packets that were not encapsulated.
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

/*
 * Read the destination of a packet. Return: false if it is neither IPv4 nor
 * IPv6.
 */
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
 * srpol_host_deliver - deliver a packet from an uplink if it is for a virtual
 *	port
 * @skb: packet
 *
 * What the device does not take, since it is too long, the stack delivers: sockets
 * get it, if not all receivers.
 *
 * Return: what the program returns.
 */
static __always_inline int srpol_host_deliver(struct __sk_buff *skb)
{
	const struct srpol_host *h;
	struct in6_addr addr;
	__u32 ifindex, mtu = 0;

	if (skb->vlan_present || !srpol_mac_ours_skb(skb) ||
	    !srpol_host_daddr(skb, &addr))
		return SRPOL_TC_NEXT;
	h = bpf_map_lookup_elem(&host_addrs, &addr);
	if (!h)
		return SRPOL_TC_NEXT;
	ifindex = h->ifindex;
	if (bpf_check_mtu(skb, h->workload, &mtu, 0, 0))
		return SRPOL_TC_NEXT;
	if (bpf_skb_store_bytes(skb, 0, h->macs, sizeof(h->macs), 0))
		return SRPOL_TC_NEXT;
	srpol_count(SRPOL_REASON_HOST);
	return bpf_redirect(ifindex, 0);
}

#endif /* _SRPOL_HOST_H */
