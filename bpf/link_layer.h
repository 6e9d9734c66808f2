/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The link layer of packets at TC ingress of a device that has generic XDP.
 *
 * The kernel copies a packet for generic XDP if it has little headroom, is in fragments
 * or cloned (skb_pp_cow_data()), and forgets mac_len, by which TC ingress goes back to
 * the Ethernet header: so programs there find the network layer where the frame should
 * begin. The Ethernet header is in front of that. A packet of a device that has none,
 * such as a tun, has nothing there.
 */
#ifndef _SRPOL_LINK_LAYER_H
#define _SRPOL_LINK_LAYER_H

#include "base.h"
#include "proto.h"

static __always_inline bool srpol_link_layer_hidden(struct __sk_buff *skb)
{
	struct sk_buff *k = bpf_cast_to_kern_ctx(skb);

	return !k->mac_len &&
	       k->data == k->head + k->mac_header + ETH_HLEN;
}

/* Global, so that the verifier checks it once. Return: 0 if the frame begins with it. */
__noinline int srpol_link_layer_restore(struct __sk_buff *skb)
{
	struct sk_buff *k = bpf_cast_to_kern_ctx(skb);
	struct ethhdr eth;

	if (bpf_probe_read_kernel(&eth, sizeof(eth), k->head + k->mac_header) ||
	    bpf_skb_change_head(skb, sizeof(eth), 0))
		return -1;
	return bpf_skb_store_bytes(skb, 0, &eth, sizeof(eth), 0);
}

/**
 * srpol_link_layer_show - have a packet at TC ingress begin with its Ethernet header
 * @skb: packet
 *
 * Pointers into the packet are void afterwards.
 *
 * Return: 0, or an error if the packet is too long for that, or there is no memory: it
 * begins with its network layer still, and must not be read.
 */
static __always_inline int srpol_link_layer_show(struct __sk_buff *skb)
{
	return srpol_link_layer_hidden(skb) ? srpol_link_layer_restore(skb) : 0;
}

#endif /* _SRPOL_LINK_LAYER_H */
