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

static __always_inline __u64 srpol_fib_gen_of(const struct net *net)
{
	return (__u64)(__u32)net->ipv4.rt_genid.counter << 32 |
	       (__u32)net->ipv6.fib6_sernum.counter;
}

/*
 * While this number is the same, so are the routes, addresses and rules of the
 * namespace.
 */
static __always_inline __u64 srpol_fib_gen(struct xdp_md *ctx)
{
	struct xdp_buff *xdp = bpf_cast_to_kern_ctx(ctx);

	return srpol_fib_gen_of(xdp->rxq->dev->nd_net.net);
}

static __always_inline __u64 srpol_fib_gen_skb(struct __sk_buff *ctx)
{
	struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);

	return srpol_fib_gen_of(skb->dev->nd_net.net);
}

#endif /* _SRPOL_FIB_H */
