/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is a frame for this host? One that is not addressed to the device's own
 * address is bridged, or flooded, or somebody else's: this host must not route
 * it.
 */
#ifndef _SRPOL_MAC_H
#define _SRPOL_MAC_H

#include "base.h"

#define SRPOL_PACKET_HOST	0	/* of sk_buff.pkt_type */

/**
 * srpol_mac_ours - is a frame addressed to the device that it came in by?
 * @ctx: frame
 * @eth: its Ethernet header
 *
 * The address is read from the device each time, since it may change at any
 * time.
 */
static __always_inline bool srpol_mac_ours(struct xdp_md *ctx,
					   const struct ethhdr *eth)
{
	struct xdp_buff *xdp = bpf_cast_to_kern_ctx(ctx);
	const struct ethhdr *own;

	own = bpf_rdonly_cast(xdp->rxq->dev->dev_addr,
			      bpf_core_type_id_kernel(struct ethhdr));
	return !((*(__u32 *)own->h_dest ^ *(__u32 *)eth->h_dest) |
		 (*(__u16 *)(own->h_dest + 4) ^ *(__u16 *)(eth->h_dest + 4)));
}

/* The same for an skb, for which the kernel has found it out on reception. */
static __always_inline bool srpol_mac_ours_skb(const struct __sk_buff *skb)
{
	return skb->pkt_type == SRPOL_PACKET_HOST;
}

#endif /* _SRPOL_MAC_H */
