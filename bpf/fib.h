/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of the kernel's routes: what is remembered of them is void once it
 * changes.
 */
#ifndef _SRPOL_FIB_H
#define _SRPOL_FIB_H

#include "base.h"
#include "mac.h"

#define SRPOL_AF_INET		2
#define SRPOL_AF_INET6		10

/*
 * While this number is the same, so are the routes, addresses and rules of a namespace
 * for a family, and the MTUs of devices.
 *
 * The kernel's number for IPv6 changes neither when a route goes, which it notices by
 * the route itself, nor with an MTU. So the routes that went are added, and the number
 * for IPv4, which changes with the MTU of any device. As all only grow, so does the sum.
 */
static __always_inline __u32 srpol_fib_gen_of(const struct net *net, bool six)
{
	__u32 gen = net->ipv4.rt_genid.counter;

	return !six ? gen : gen + net->ipv6.fib6_sernum.counter +
			    net->ipv6.rt6_stats->fib_discarded_routes;
}

static __always_inline __u32 srpol_fib_gen(struct xdp_md *ctx, bool six)
{
	struct xdp_buff *xdp = bpf_cast_to_kern_ctx(ctx);

	return srpol_fib_gen_of(xdp->rxq->dev->nd_net.net, six);
}

static __always_inline __u32 srpol_fib_gen_skb(struct __sk_buff *ctx, bool six)
{
	struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);

	return srpol_fib_gen_of(skb->dev->nd_net.net, six);
}

#endif /* _SRPOL_FIB_H */
