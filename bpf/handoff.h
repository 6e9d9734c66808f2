/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets that XDP hands over to TC, to be sent.
 *
 * DOC: handoff
 *
 * XDP sends by devices that implement ndo_xdp_xmit: a VLAN device does not, and a
 * veth does only while its peer has NAPI, which the end in a pod has not by
 * default. A frame redirected to any other device is lost, and the program is not
 * told. So what an uplink has to send by such a device, it makes ready, MAC
 * addresses included, writes the device into the packet's metadata, and passes it;
 * srpol_uplink_tc, at TC ingress of the same uplink, sends it. Metadata is written
 * by XDP programs of the same device alone, never by a sender.
 */
#ifndef _SRPOL_HANDOFF_H
#define _SRPOL_HANDOFF_H

#include "base.h"
#include "maps.h"

#define SRPOL_HANDOFF_MAGIC	0x7372706f

/**
 * struct srpol_handoff - metadata of a packet that TC is to send
 * @magic: SRPOL_HANDOFF_MAGIC
 * @ifindex: device
 */
struct srpol_handoff {
	__u32 magic;
	__u32 ifindex;
};

/**
 * srpol_send_by - send a packet by a device, whatever that takes
 * @ctx: packet, with the link layer it is to leave with
 * @ifindex: device
 *
 * Pointers into the packet are void afterwards. A driver whose packets have no
 * metadata leaves nothing but to redirect them.
 *
 * Return: XDP verdict.
 */
static __always_inline int srpol_send_by(struct xdp_md *ctx, __u32 ifindex)
{
	struct srpol_handoff *h;

	if (bpf_redirect_map(&uplinks_xdp, ifindex, 0) == XDP_REDIRECT ||
	    bpf_redirect_map(&forward_to, ifindex, 0) == XDP_REDIRECT)
		return XDP_REDIRECT;
	if (bpf_xdp_adjust_meta(ctx, -(int)sizeof(*h)))
		return bpf_redirect(ifindex, 0);
	h = (void *)(long)ctx->data_meta;
	if ((void *)(h + 1) > (void *)(long)ctx->data)
		return XDP_DROP;
	h->magic = SRPOL_HANDOFF_MAGIC;
	h->ifindex = ifindex;
	return XDP_PASS;
}

/**
 * srpol_handed_over - the device a packet at TC ingress is to be sent by
 * @skb: packet
 *
 * Return: ifindex, 0 if XDP did not say so.
 */
static __always_inline __u32 srpol_handed_over(const struct __sk_buff *skb)
{
	const struct srpol_handoff *h = (void *)(long)skb->data_meta;

	if ((void *)(h + 1) > (void *)(long)skb->data ||
	    h->magic != SRPOL_HANDOFF_MAGIC)
		return 0;
	return h->ifindex;
}

#endif /* _SRPOL_HANDOFF_H */
