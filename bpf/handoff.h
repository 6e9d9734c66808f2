/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets that XDP hands over to TC, to be sent.
 *
 * DOC: handoff
 *
 * XDP sends by devices that implement ndo_xdp_xmit: a VLAN device does not, a
 * veth does only while its peer has NAPI, which the end in a pod has not by
 * default, and a tap takes no frame whose end is in fragments. A frame redirected to
 * any other device is lost, and the program is not told. So what an uplink has to
 * send by such a device, it makes ready, MAC addresses included, writes the device
 * into the packet's metadata, and passes it; srpol_uplink_tc, at TC ingress of the
 * same uplink, sends it.
 *
 * Generic XDP sends by any device, and hands nothing over. A VLAN tag that the receiving
 * device keeps beside the packet is not removed then: XDP cannot, as TC does below.
 *
 * No sender can write metadata, but the kernel leaves it in front of a packet that
 * goes on by a veth: it may come to an uplink of another namespace, or back to this
 * one. So it has a tag, keyed by random numbers of this data plane, over the device
 * and what a router would change: hop limit and destination. Lengths are not in the
 * tag, as GRO may merge packets meanwhile. A bridge changes none of that: a packet
 * that it floods may come back by another uplink just as it left. So TC writes into
 * the metadata that it has sent a packet, and does not send it again.
 *
 * A checksum that a sender on this machine left pending stays pending, at the same
 * bytes. That is right for packets that TC sends or the stack gets, decapsulated or
 * not; generic XDP sends them so, too, to a driver that may not fill it in. But in an
 * ICMPv6 error these bytes are quoted: the checksum of such an error is wrong once
 * a device has filled the quoted one in.
 */
#ifndef _SRPOL_HANDOFF_H
#define _SRPOL_HANDOFF_H

#include "base.h"
#include "flow_table.h"
#include "frame.h"
#include "maps.h"
#include "proto.h"

/**
 * struct srpol_handoff - metadata of a packet that TC is to send
 * @tag: srpol_handoff_tag()
 * @ifindex: device
 * @sent: TC has sent it
 */
struct srpol_handoff {
	__u64 tag;
	__u32 ifindex;
	__u32 sent;
};

/* Return: the tag of a packet for device @ifindex, 0 if it cannot be read. */
static __always_inline __u64 srpol_handoff_tag(const void *data,
					       const void *end, __u32 ifindex)
{
	const struct ethhdr *eth = data;
	const struct ipv6hdr *ip6 = (const void *)(eth + 1);
	const struct iphdr *ip = (const void *)(eth + 1);
	const __u64 *w;

	if ((const void *)(ip + 1) > end)
		return 0;
	if (eth->h_proto == bpf_htons(ETH_P_IP))
		return ifindex * srpol_flow_mix[0] + ip->daddr * srpol_flow_mix[1] +
		       ip->ttl * srpol_flow_mix[2];
	if ((const void *)(ip6 + 1) > end)
		return 0;
	w = (const __u64 *)&ip6->daddr;
	return ifindex * srpol_flow_mix[0] + w[0] * srpol_flow_mix[1] +
	       w[1] * srpol_flow_mix[2] + ip6->hop_limit * srpol_flow_mix[3];
}

/**
 * srpol_send_by - send a packet by a device, whatever that takes
 * @ctx: packet, with the link layer it is to leave with
 * @ifindex: device
 *
 * Pointers into the packet are void afterwards. Where the driver has no room for
 * metadata, or the headers cannot be read, the packet is redirected all the same.
 * Whatever generic XDP sends must not be longer than the device's MTU: the kernel does
 * not make segments of what GRO has merged, as TC would.
 *
 * Return: XDP verdict.
 */
static __always_inline int srpol_send_by(struct xdp_md *ctx, __u32 ifindex)
{
	struct srpol_handoff *h;
	void *data;

	if (srpol_frame_taken(ctx, ifindex) &&
	    (bpf_redirect_map(&uplinks_xdp, ifindex, 0) == XDP_REDIRECT ||
	     bpf_redirect_map(&forward_to, ifindex, 0) == XDP_REDIRECT))
		return XDP_REDIRECT;
	if (srpol_frame_generic(ctx) ||
	    bpf_xdp_adjust_meta(ctx, -(int)sizeof(*h)))
		return bpf_redirect(ifindex, 0);
	h = (void *)(long)ctx->data_meta;
	data = (void *)(long)ctx->data;
	if ((void *)(h + 1) > data)
		return XDP_DROP;
	h->tag = srpol_handoff_tag(data, (void *)(long)ctx->data_end, ifindex);
	h->ifindex = ifindex;
	h->sent = 0;
	return h->tag ? XDP_PASS : bpf_redirect(ifindex, 0);
}

/*
 * May a packet have been handed over? Most have no metadata, and this is all that
 * is asked of them.
 */
static __always_inline bool srpol_has_metadata(const struct __sk_buff *skb)
{
	const struct srpol_handoff *h = (void *)(long)skb->data_meta;

	return (void *)(h + 1) <= (void *)(long)skb->data;
}

/*
 * The device that a packet with metadata is to be sent by, in XDP's place; 0 if XDP
 * did not say so. @sent: has TC sent it? Out of line, as hardly any packet gets here.
 */
static __noinline __u32 srpol_handed_over(struct __sk_buff *skb, bool sent)
{
	const struct srpol_handoff *h = (void *)(long)skb->data_meta;
	const void *data = (void *)(long)skb->data;
	__u32 ifindex;
	__u64 tag;

	if ((void *)(h + 1) > data || h->sent != sent)
		return 0;
	ifindex = h->ifindex;
	tag = srpol_handoff_tag(data, (void *)(long)skb->data_end, ifindex);
	return tag && tag == h->tag ? ifindex : 0;
}

/**
 * srpol_handoff_send - send a packet if XDP handed it over
 * @skb: packet with metadata, at TC ingress of an uplink
 *
 * A VLAN tag that the receiving device keeps beside the packet is of the link it
 * came by. XDP does not see it, and it must not leave with the packet.
 *
 * Return: TC verdict, -1 if XDP did not hand it over.
 */
static __always_inline int srpol_handoff_send(struct __sk_buff *skb)
{
	struct srpol_handoff *h = (void *)(long)skb->data_meta;
	__u32 ifindex = srpol_handed_over(skb, false);

	if (!ifindex || (void *)(h + 1) > (void *)(long)skb->data)
		return -1;
	h->sent = 1;
	if (skb->vlan_present)
		bpf_skb_vlan_pop(skb);
	return bpf_redirect(ifindex, 0);
}

/**
 * srpol_handoff_sent - has TC sent this packet, by this device, in XDP's place?
 * @skb: packet with metadata, at TC egress
 */
static __always_inline bool srpol_handoff_sent(struct __sk_buff *skb)
{
	return srpol_handed_over(skb, true) == skb->ifindex;
}

#endif /* _SRPOL_HANDOFF_H */
