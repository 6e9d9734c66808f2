/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose frame is it? What is not to the device's own address is bridged, or
 * flooded, or somebody else's: it is not this host that routes it.
 */
#ifndef _SRPOL_MAC_H
#define _SRPOL_MAC_H

#include "base.h"

extern void *bpf_cast_to_kern_ctx(void *obj) __ksym;
extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym;

#define SRPOL_PACKET_HOST	0	/* of sk_buff.pkt_type */

/**
 * srpol_mac_ours - is a frame to the device it came in by?
 * @ctx: frame
 * @eth: its Ethernet header
 *
 * Asked of the device itself: its address may change at any time.
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

/* The same for an skb, of which the driver has found it out. */
static __always_inline bool srpol_mac_ours_skb(const struct __sk_buff *skb)
{
	return skb->pkt_type == SRPOL_PACKET_HOST;
}

#endif /* _SRPOL_MAC_H */
