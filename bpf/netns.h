/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is a packet in the network namespace of this data plane?
 *
 * Programs stay on a device that is moved to another namespace, for instance into a
 * container. Nothing of theirs is valid there: neither devices, whose numbers may be
 * those of others, nor SIDs and policies, which are not of that namespace's user. So
 * they let all packets pass there.
 */
#ifndef _SRPOL_NETNS_H
#define _SRPOL_NETNS_H

#include "base.h"

/* Cookie of the namespace, which the kernel never uses again; 0: not known, any. */
const volatile __u64 srpol_netns;

/* Is the device that a frame came in by in this namespace? */
static __always_inline bool srpol_netns_ours(struct xdp_md *ctx)
{
	struct xdp_buff *xdp;

	if (!srpol_netns)
		return true;
	xdp = bpf_cast_to_kern_ctx(ctx);
	return xdp->rxq->dev->nd_net.net->net_cookie == srpol_netns;
}

/* The same for an skb. */
static __always_inline bool srpol_netns_ours_skb(struct __sk_buff *skb)
{
	struct sk_buff *k;

	if (!srpol_netns)
		return true;
	k = bpf_cast_to_kern_ctx(skb);
	return k->dev->nd_net.net->net_cookie == srpol_netns;
}

#endif /* _SRPOL_NETNS_H */
