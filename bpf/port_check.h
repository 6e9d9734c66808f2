/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks at ports: may a port send this packet? They are made once per flow,
 * and again when routes have changed.
 *
 * DOC: checks at ports
 *
 * A packet for this host itself belongs to its stack and is not steered. The
 * kernel's FIB, asked with the rules that hold for the port, tells if
 * forwarding is on for the port. Its answer is the same for a local address and
 * for one without a route, so that the main table is asked whether there is a
 * route. If it has no answer, packets are steered as their rules say.
 *
 * Sources are checked if the port was attached that way. Strict: the route to
 * the source leads back by the port. Loose: there is a route to the source, and
 * it is not an address of this host. If the FIB cannot tell, the packet is
 * refused. A virtual port may use its own addresses, those in map "host_addrs",
 * and no others.
 *
 * A packet that is refused for its source gets no entry in the flow table, so
 * that nobody can fill the table with invented sources. A flow for this host
 * has an entry. An entry remembers the state of the routes that its decision
 * was made in, which is compared for the first packet in each tick.
 */
#ifndef _SRPOL_PORT_CHECK_H
#define _SRPOL_PORT_CHECK_H

#include "base.h"
#include "fib.h"
#include "maps.h"
#include "parse.h"
#include "words.h"

/* The hook at which a packet is steered; NONE is TCX egress of an uplink. */
enum srpol_port_hook {
	SRPOL_PORT_NONE,
	SRPOL_PORT_TC,
	SRPOL_PORT_XDP,
};

static __always_inline void srpol_port_addr(const struct srpol_pkt *pkt,
					    const __u8 *addr, __be32 *v4,
					    void *v6)
{
	if (pkt->is_v4)
		*v4 = *(const __be32 *)(addr + 12);
	else
		srpol_copy_addr(v6, addr);
}

/*
 * Ask for the route to @to of a packet from @from that comes in by the port.
 * @ifindex is set to the device that the route leads to. Return:
 * BPF_FIB_LKUP_RET_*.
 */
static __always_inline int srpol_port_route(void *ctx,
					    const struct srpol_pkt *pkt,
					    const __u8 *from, const __u8 *to,
					    __u32 flags, __u32 *ifindex)
{
	struct bpf_fib_lookup fib = {
		.family = pkt->is_v4 ? SRPOL_AF_INET : SRPOL_AF_INET6,
		.l4_protocol = pkt->key.proto,
		.tot_len = 1,	/* fits any device */
		.ifindex = pkt->ifindex,
	};
	int ret;

	srpol_port_addr(pkt, from, &fib.ipv4_src, fib.ipv6_src);
	srpol_port_addr(pkt, to, &fib.ipv4_dst, fib.ipv6_dst);
	ret = bpf_fib_lookup(ctx, &fib, sizeof(fib),
			     flags | BPF_FIB_LOOKUP_SKIP_NEIGH);
	*ifindex = fib.ifindex;
	return ret;
}

/* Global, so that the verifier checks it once. */
__noinline int srpol_port_route_skb(struct __sk_buff *skb,
				    const struct srpol_pkt *pkt __arg_nonnull,
				    __u32 back, __u32 flags)
{
	const __u8 *src = pkt->key.saddr, *dst = pkt->key.daddr;
	__u32 ifindex;
	int ret;

	ret = srpol_port_route(skb, pkt, back ? dst : src, back ? src : dst,
			       flags, &ifindex);
	return ret ? -ret : ifindex;
}

__noinline int srpol_port_route_xdp(struct xdp_md *ctx,
				    const struct srpol_pkt *pkt __arg_nonnull,
				    __u32 back, __u32 flags)
{
	const __u8 *src = pkt->key.saddr, *dst = pkt->key.daddr;
	__u32 ifindex;
	int ret;

	ret = srpol_port_route(ctx, pkt, back ? dst : src, back ? src : dst,
			       flags, &ifindex);
	return ret ? -ret : ifindex;
}

/*
 * Ask for the route to the packet's destination or, with @back, to its source.
 * Return: the egress device, or -BPF_FIB_LKUP_RET_*.
 */
static __always_inline int srpol_port_ask(void *ctx, const __u32 hook,
					  const struct srpol_pkt *pkt,
					  __u32 back, __u32 flags)
{
	return hook == SRPOL_PORT_XDP ?
	       srpol_port_route_xdp(ctx, pkt, back, flags) :
	       srpol_port_route_skb(ctx, pkt, back, flags);
}

static __always_inline bool srpol_port_own(const struct srpol_pkt *pkt)
{
	const struct srpol_host *h;
	struct in6_addr addr;

	srpol_copy_addr(&addr, pkt->key.saddr);
	h = bpf_map_lookup_elem(&host_addrs, &addr);
	return h && h->ifindex == pkt->ifindex;
}

static __always_inline bool srpol_port_local(void *ctx, const __u32 hook,
					     const struct srpol_pkt *pkt)
{
	return srpol_port_ask(ctx, hook, pkt, 0, 0) ==
	       -BPF_FIB_LKUP_RET_NOT_FWDED &&
	       srpol_port_ask(ctx, hook, pkt, 0, BPF_FIB_LOOKUP_DIRECT) > 0;
}

/* Return: SRPOL_HOW_LOCAL, SRPOL_HOW_SPOOFED or 0. */
static __always_inline __u32 srpol_port_verdict(void *ctx, const __u32 hook,
					      const struct srpol_pkt *pkt)
{
	__u32 ifindex = pkt->ifindex;
	const struct srpol_port *port = bpf_map_lookup_elem(&ports, &ifindex);
	int dev;

	if (!port)
		return 0;
	/*
	 * All that the workload behind a virtual port sends is for other hosts.
	 */
	if (port->role == SRPOL_DEV_ROLE_HOST)
		return port->source == SRPOL_SOURCE_CHECK_NONE ||
		       srpol_port_own(pkt) ? 0 : SRPOL_HOW_SPOOFED;
	if (port->source != SRPOL_SOURCE_CHECK_NONE) {
		dev = srpol_port_ask(ctx, hook, pkt, 1, 0);
		if (dev <= 0 || (port->source == SRPOL_SOURCE_CHECK_STRICT &&
				 (__u32)dev != ifindex))
			return SRPOL_HOW_SPOOFED;
	}
	return srpol_port_local(ctx, hook, pkt) ? SRPOL_HOW_LOCAL : 0;
}

/* State of the packet's family of routes, see @port_gen of struct srpol_flow. */
static __always_inline __u32 srpol_port_gen(void *ctx, const __u32 hook,
					    const struct srpol_pkt *pkt)
{
	return hook == SRPOL_PORT_XDP ? srpol_fib_gen(ctx, !pkt->is_v4) :
					srpol_fib_gen_skb(ctx, !pkt->is_v4);
}

/*
 * The state is read first, so that a change during the check is noticed later.
 */
static __always_inline __u64 srpol_port_look(void *ctx, const __u32 hook,
					     const struct srpol_pkt *pkt)
{
	__u64 gen = srpol_port_gen(ctx, hook, pkt);

	return gen << 32 | srpol_port_verdict(ctx, hook, pkt);
}

/* Global, to save stack in the callers. */
__noinline __u64
srpol_port_look_skb(struct __sk_buff *skb,
		    const struct srpol_pkt *pkt __arg_nonnull)
{
	return srpol_port_look(skb, SRPOL_PORT_TC, pkt);
}

__noinline __u64
srpol_port_look_xdp(struct xdp_md *ctx,
		    const struct srpol_pkt *pkt __arg_nonnull)
{
	return srpol_port_look(ctx, SRPOL_PORT_XDP, pkt);
}

/**
 * srpol_port_check - may a port send this packet?
 * @ctx: packet
 * @hook: enum srpol_port_hook
 * @pkt: the packet, parsed
 *
 * Return: SRPOL_HOW_LOCAL, SRPOL_HOW_SPOOFED or 0, and in the upper 32 bits the
 * state of the routes for which this is true.
 */
static __always_inline __u64 srpol_port_check(void *ctx, const __u32 hook,
					      const struct srpol_pkt *pkt)
{
	return hook == SRPOL_PORT_XDP ? srpol_port_look_xdp(ctx, pkt) :
					srpol_port_look_skb(ctx, pkt);
}

#endif /* _SRPOL_PORT_CHECK_H */
