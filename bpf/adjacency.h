/* SPDX-License-Identifier: GPL-2.0 */
/* End.X, uA and End.DX: send a packet to the neighbor that a SID stands for. */
#ifndef _SRPOL_ADJACENCY_H
#define _SRPOL_ADJACENCY_H

#include "base.h"
#include "handoff.h"
#include "maps.h"
#include "path.h"
#include "proto.h"

/* Device of a SID's adjacency, 0 if the adjacency is not up. */
static __always_inline __u32 srpol_adjacency_dev(const struct srpol_sid *sid)
{
	__u32 id = sid->nexthop;
	union srpol_hop hop, *v;

	v = bpf_map_lookup_elem(&nexthops, &id);
	if (!v)
		return 0;
	hop.word = READ_ONCE(v->word);
	return hop.nh.up ? hop.nh.ifindex : 0;
}

/*
 * The MTU of an adjacency's device if a packet of @len bytes does not fit, else 0. The
 * kernel measures a redirected frame after the verdict, and tells nobody that it was
 * too long; so it does with what GRO has merged before generic XDP got it, although
 * the segments may fit.
 */
static __always_inline __u32 srpol_adjacency_exceeded(struct xdp_md *ctx,
						      __u32 ifindex, __u32 len)
{
	__u32 mtu = len;

	return bpf_check_mtu(ctx, ifindex, &mtu, 0, 0) > 0 ? mtu : 0;
}

/**
 * srpol_adjacency_send - send a packet to the adjacency
 * @ctx: packet, its hop limit already decremented
 * @sid: SID
 * @ifindex: device, as returned by srpol_adjacency_dev() and not 0
 *
 * Return: XDP verdict.
 */
static __always_inline int srpol_adjacency_send(struct xdp_md *ctx,
						const struct srpol_sid *sid,
						__u32 ifindex)
{
	const __u32 *l2 = (const __u32 *)sid->l2;
	__u32 *macs = (void *)(long)ctx->data;

	if ((void *)macs + ETH_MACS > (void *)(long)ctx->data_end)
		return XDP_DROP;
	macs[0] = l2[0];
	macs[1] = l2[1];
	macs[2] = l2[2];
	return srpol_send_by(ctx, ifindex);
}

#endif /* _SRPOL_ADJACENCY_H */
