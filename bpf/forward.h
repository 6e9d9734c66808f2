/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forwarding of decapsulated packets in XDP.
 *
 * DOC: remembered routes
 *
 * A look-up in the kernel's FIB costs more than all the rest of the work for a
 * packet. So each CPU remembers the answers, by flow, since multipath routes
 * are chosen by flow, its label included, and by DSCP, which rules may look at.
 * An answer is valid while nothing about routes, rules, next hops and addresses
 * has changed, which the counters tell by which the kernel voids its own caches.
 * As these counters say nothing about neighbors, it is valid for SRPOL_FIB_AGE
 * jiffies at most: one second at 100 jiffies per second, less at more. Nor do
 * they say that there is a firewall now: that is looked at once in a jiffy.
 *
 * A packet for an address of a virtual port is for this host. It is sent to
 * that port (host.h), where the stack and its firewall get it.
 *
 * If the namespace has netfilter hooks that forwarded packets must pass, such
 * as a firewall or NAT, but not those of AppArmor and SELinux, all packets go
 * to the stack, so that no hook is bypassed. Programs and filters at the
 * devices (tc, the netdev family of nftables) cannot be seen from here; who
 * needs them sets remembered-routes to off. A packet also goes to the stack if
 * it is for this host, has no neighbor entry yet, is too big, has no hop left
 * or has options; if the stack would look at more of it than is looked at here,
 * for a rule or to choose one of several next hops; if the stack would refuse its
 * source; if it leaves by an uplink while there are rules, since packets are
 * steered there; if it leaves by a device that srpol is not attached to, or that
 * takes no such frames from XDP; and if the stack has had no packet for its next
 * hop for SRPOL_FIB_UNUSED jiffies: by this the kernel sees that the neighbor is
 * in use, and checks whether it is still there.
 *
 * What XDP cannot see is the MTU of a route, unless it is locked.
 */
#ifndef _SRPOL_FORWARD_H
#define _SRPOL_FORWARD_H

#include "base.h"
#include "ecn.h"
#include "fib.h"
#include "frame.h"
#include "hop.h"
#include "host.h"
#include "mac.h"
#include "maps.h"
#include "parse.h"
#include "proto.h"
#include "state.h"
#include "stats.h"
#include "words.h"

#define SRPOL_FIB_AGE		100
#define SRPOL_FIB_UNUSED	(10 * SRPOL_FIB_AGE)

/* Traffic class, without the ECN field, and flow label. */
#define SRPOL_FLOWINFO_MASK	bpf_htonl(0x0fcfffff)
#define SRPOL_FIB_MIX		0x9e3779b97f4a7c15ull

/*
 * Add the ports to @key. Return: false if the packet has to go to the stack, as an
 * ICMP error has: it follows the flow that it is about, by addresses inside it.
 */
static __always_inline bool srpol_fib_ports(void *l4, const void *end,
					    __u8 proto, bool six,
					    struct srpol_fib_key *key)
{
	if (proto == IPPROTO_UDP || proto == IPPROTO_TCP) {
		if (l4 + 4 > end)
			return false;
		key->rest |= *(__u32 *)l4;
	} else if (proto == (six ? NEXTHDR_ICMP : IPPROTO_ICMP)) {
		return l4 + 1 <= end &&
		       !srpol_icmp_is_error(!six, *(__u8 *)l4);
	}
	return true;
}

/*
 * Fill in what the route of a packet depends on, as words of 8 bytes. Return:
 * false if the packet has to go to the stack.
 */
static __always_inline bool srpol_fib_key(struct xdp_md *ctx, bool six,
					  struct srpol_fib_key *key,
					  __u32 *len)
{
	void *end = (void *)(long)ctx->data_end;
	void *l3 = (void *)(long)ctx->data + ETH_HLEN;
	struct ipv6hdr *ip6 = l3;
	struct iphdr *ip = l3;

	key->flowinfo = (__u64)ctx->ingress_ifindex << 32;
	if (six) {
		if ((void *)(ip6 + 1) > end || ip6->hop_limit <= 1 ||
		    ip6->nexthdr == NEXTHDR_HOP)
			return false;
		*len = bpf_ntohs(ip6->payload_len) + sizeof(*ip6);
		srpol_copy_words(key->addr, &ip6->saddr, sizeof(key->addr));
		key->flowinfo |= *(__be32 *)ip6 & SRPOL_FLOWINFO_MASK;
		key->rest = SRPOL_FIB_SIX | (__u64)ip6->nexthdr << 32;
		return srpol_fib_ports(ip6 + 1, end, ip6->nexthdr, true, key);
	}
	if ((void *)(ip + 1) > end || ip->ttl <= 1 ||
	    ip->ihl != sizeof(*ip) / 4)
		return false;
	*len = bpf_ntohs(ip->tot_len);
	key->addr[0] = ip->saddr;
	key->addr[1] = ip->daddr;
	key->addr[2] = 0;
	key->addr[3] = 0;
	key->flowinfo |= ip->tos & ~SRPOL_ECN_MASK;
	key->rest = (__u64)ip->protocol << 32;
	return ip->frag_off & bpf_htons(IP_FRAGMENT_MASK) ||
	       srpol_fib_ports(ip + 1, end, ip->protocol, false, key);
}

static __always_inline __u32 srpol_fib_hash(const struct srpol_fib_key *key)
{
	__u64 h = key->rest + key->flowinfo;

	h = (h + key->addr[0]) * SRPOL_FIB_MIX;
	h = (h + key->addr[1]) * SRPOL_FIB_MIX;
	h = (h + key->addr[2]) * SRPOL_FIB_MIX;
	h = (h + key->addr[3]) * SRPOL_FIB_MIX;
	return h >> (64 - SRPOL_FIB_BITS);
}

static __always_inline bool srpol_fib_same(const struct srpol_fib_key *a,
					   const struct srpol_fib_key *b)
{
	return !((a->addr[0] ^ b->addr[0]) | (a->addr[1] ^ b->addr[1]) |
		 (a->addr[2] ^ b->addr[2]) | (a->addr[3] ^ b->addr[3]) |
		 (a->rest ^ b->rest) | (a->flowinfo ^ b->flowinfo));
}

/* Values of enum nf_inet_hooks. */
#define SRPOL_NF_PRE_ROUTING	0
#define SRPOL_NF_FORWARD	2
#define SRPOL_NF_POST_ROUTING	4

/*
 * AppArmor and SELinux have hooks in every namespace of a stock distribution.
 * They accept packets that have neither mark nor label; marks come from
 * firewall rules, and a firewall has a hook of its own. These are their addresses,
 * which user space looks up. Where the kernel does not tell them (0), the hooks
 * count like any other.
 */
const volatile __u64 srpol_lsm_hooks[SRPOL_LSM_HOOKS];

static __always_inline bool srpol_nf_filters(const struct nf_hook_entries *e)
{
	__u64 hook;

	if (!e || !e->num_hook_entries)
		return false;
	if (e->num_hook_entries > 1)
		return true;
	hook = (__u64)e->hooks[0].hook;
	return hook != srpol_lsm_hooks[0] && hook != srpol_lsm_hooks[1] &&
	       hook != srpol_lsm_hooks[2];
}

/* Is there a firewall, or NAT, that forwarded packets must not bypass? */
static __always_inline bool srpol_fib_filtered(struct xdp_md *ctx, bool six)
{
	const struct xdp_buff *xdp = srpol_xdp_buff(ctx);
	const struct net *net = xdp->rxq->dev->nd_net.net;

	if (!bpf_core_field_exists(net->nf.hooks_ipv6))
		return false;
	if (six)
		return srpol_nf_filters(net->nf.hooks_ipv6[SRPOL_NF_PRE_ROUTING]) ||
		       srpol_nf_filters(net->nf.hooks_ipv6[SRPOL_NF_FORWARD]) ||
		       srpol_nf_filters(net->nf.hooks_ipv6[SRPOL_NF_POST_ROUTING]);
	return srpol_nf_filters(net->nf.hooks_ipv4[SRPOL_NF_PRE_ROUTING]) ||
	       srpol_nf_filters(net->nf.hooks_ipv4[SRPOL_NF_FORWARD]) ||
	       srpol_nf_filters(net->nf.hooks_ipv4[SRPOL_NF_POST_ROUTING]);
}

/*
 * Must nothing be forwarded? Asked of a route that is new here, too: bpf_fib_lookup()
 * looks at the setting of the device only, the stack at that of the host. And asked
 * again of one that is remembered, as no counter tells of a firewall that comes, nor
 * that IPv6 is not forwarded any more. Neither matters to packets for a virtual port:
 * they are for this host, and many a host forwards nothing.
 */
static __noinline int srpol_fib_shut(struct xdp_md *ctx, bool six)
{
	const struct xdp_buff *xdp = srpol_xdp_buff(ctx);
	const struct net *net = xdp->rxq->dev->nd_net.net;

	return srpol_fib_filtered(ctx, six) ||
	       (six && !net->ipv6.devconf_all->forwarding);
}

/*
 * The MTU of a pair: redirected frames are measured at the one end, and then at the
 * other. 0: one of them is gone.
 */
static __always_inline __u32 srpol_host_mtu(struct xdp_md *ctx,
					    const struct srpol_host *h)
{
	__u32 end = 0, workload = 0;

	if (bpf_check_mtu(ctx, h->ifindex, &end, 0, 0) < 0 ||
	    bpf_check_mtu(ctx, h->workload, &workload, 0, 0) < 0)
		return 0;
	return end < workload ? end : workload;
}

/*
 * Is the packet for a virtual port? If so, map "host_addrs" has its route, but for
 * the MTU, which may have changed since.
 */
static __always_inline bool srpol_fib_host(struct xdp_md *ctx,
					   const struct srpol_fib_key *key,
					   bool six, struct srpol_fib_route *r)
{
	const struct srpol_host *h;
	struct in6_addr addr;

	if (six)
		srpol_copy_addr(&addr, &key->addr[2]);
	else
		srpol_host_v4(&addr, key->addr[1]);
	h = bpf_map_lookup_elem(&host_addrs, &addr);
	if (!h)
		return false;
	r->host = 1;
	r->ifindex = h->ifindex;
	r->mtu = srpol_host_mtu(ctx, h);
	__builtin_memcpy(r->macs, h->macs, sizeof(r->macs));
	return true;
}

/*
 * Does the stack look deeper into the packet than srpol_fib_key()? Rules by
 * protocol or port, and multipath routes, may be about ports of other transports,
 * or behind extension headers; from hash policy 2 on, about an inner packet.
 */
static __always_inline bool srpol_fib_deep(const struct net *net, bool six,
					   __u8 proto)
{
	__u32 policy = 0, rules = 0;

	if (six) {
		policy = net->ipv6.sysctl.multipath_hash_policy;
		if (bpf_core_field_exists(net->ipv6.fib6_rules_require_fldissect))
			rules = net->ipv6.fib6_rules_require_fldissect;
	} else {
		if (bpf_core_field_exists(net->ipv4.sysctl_fib_multipath_hash_policy))
			policy = net->ipv4.sysctl_fib_multipath_hash_policy;
		if (bpf_core_field_exists(net->ipv4.fib_rules_require_fldissect))
			rules = net->ipv4.fib_rules_require_fldissect;
	}
	if (proto == IPPROTO_UDP || proto == IPPROTO_TCP ||
	    proto == (six ? NEXTHDR_ICMP : IPPROTO_ICMP))
		return policy > 1;
	return policy || rules;
}

/* Index of a setting, enum of linux/ip.h, in struct ipv4_devconf. */
#define SRPOL_RP_FILTER		(8 - 1)

/* Is this network number one that no source or destination may have? */
static __always_inline bool srpol_fib_martian(__u32 addr)
{
	__u8 net = bpf_ntohl(addr) >> 24;

	return net == 0 || net == 127;
}

/*
 * May the stack refuse the source of an IPv4 packet: as that of a martian, as an
 * address of this host, or by rp_filter? Overwrites @fib.
 */
static __always_inline bool srpol_fib_refused(struct xdp_md *ctx,
					      const struct srpol_fib_key *key,
					      struct bpf_fib_lookup *fib)
{
	const struct xdp_buff *xdp = srpol_xdp_buff(ctx);
	const struct net_device *dev = xdp->rxq->dev;
	const struct net *net = dev->nd_net.net;
	__u32 filter;
	int ret;

	if (srpol_fib_martian(key->addr[0]) || srpol_fib_martian(key->addr[1]))
		return true;
	filter = net->ipv4.devconf_all->data[SRPOL_RP_FILTER] |
		 dev->ip_ptr->cnf.data[SRPOL_RP_FILTER];
	fib->family = SRPOL_AF_INET;
	fib->ifindex = ctx->ingress_ifindex;
	fib->tot_len = 1;
	fib->tos = key->flowinfo;
	fib->ipv4_src = key->addr[1];
	fib->ipv4_dst = key->addr[0];
	ret = bpf_fib_lookup(ctx, fib, sizeof(*fib), BPF_FIB_LOOKUP_SKIP_NEIGH);
	if (ret == BPF_FIB_LKUP_RET_UNSUPP_LWT)
		return filter;
	/* the greater one counts: with 1 and 2 this is stricter than the stack */
	return ret || (filter & 1 && fib->ifindex != ctx->ingress_ifindex);
}

/* The unspecified and the loopback address are the sources of no routed packet. */
static __always_inline bool srpol_fib_refused_v6(const struct srpol_fib_key *key)
{
	return !key->addr[0] && bpf_be64_to_cpu(key->addr[1]) <= 1;
}

static __always_inline void srpol_fib_ask(struct xdp_md *ctx,
					  const struct srpol_fib_key *key,
					  struct srpol_fib_route *r)
{
	const struct xdp_buff *xdp = srpol_xdp_buff(ctx);
	bool six = key->rest & SRPOL_FIB_SIX;
	__u32 from = ctx->ingress_ifindex;
	struct bpf_fib_lookup fib = {};
	struct srpol_state *st = srpol_state_get();

	r->ifindex = 0;
	r->host = 0;
	r->uplink = 0;
	/*
	 * Frames of a software device may lack what the wire needs, such as
	 * checksums.
	 */
	if (!bpf_map_lookup_elem(&forward_from, &from) ||
	    srpol_fib_host(ctx, key, six, r) || srpol_fib_shut(ctx, six) ||
	    srpol_fib_deep(xdp->rxq->dev->nd_net.net, six, key->rest >> 32) ||
	    !st || srpol_config(st, srpol_now_read(st).gen)->stack_forwards)
		return;
	if (six ? srpol_fib_refused_v6(key) :
		  srpol_fib_refused(ctx, key, &fib))
		return;
	__builtin_memset(&fib, 0, sizeof(fib));
	fib.ifindex = from;
	fib.l4_protocol = key->rest >> 32;
	fib.sport = key->rest;
	fib.dport = key->rest >> 16;
	fib.tot_len = 1;	/* fits any device; the MTU is returned */
	if (!six) {
		fib.family = SRPOL_AF_INET;
		fib.tos = key->flowinfo;
		fib.ipv4_src = key->addr[0];
		fib.ipv4_dst = key->addr[1];
	} else {
		fib.family = SRPOL_AF_INET6;
		fib.flowinfo = key->flowinfo;
		srpol_copy_addr(fib.ipv6_src, &key->addr[0]);
		srpol_copy_addr(fib.ipv6_dst, &key->addr[2]);
	}
	if (bpf_fib_lookup(ctx, &fib, sizeof(fib), 0))
		return;
	r->ifindex = fib.ifindex;
	r->uplink = !!bpf_map_lookup_elem(&uplinks, &r->ifindex);
	r->mtu = fib.mtu_result;
	__builtin_memcpy(r->macs, fib.dmac, ETH_ALEN);
	__builtin_memcpy(r->macs + ETH_ALEN, fib.smac, ETH_ALEN);
}

/*
 * Has the stack had no packet for this next hop for long? Of one that is new here
 * it is to have one soon: nobody knows for how long it has not been used.
 */
static __always_inline bool srpol_fib_unused(const struct srpol_fib_route *r,
					     __u32 tick)
{
	__u32 first = tick - SRPOL_FIB_UNUSED + SRPOL_FIB_AGE, *last;
	struct srpol_fib_neighbor key = { .ifindex = r->ifindex };

	__builtin_memcpy(key.macs, r->macs, sizeof(key.macs));
	last = bpf_map_lookup_elem(&fib_neighbors, &key);
	if (!last) {
		bpf_map_update_elem(&fib_neighbors, &key, &first, BPF_ANY);
		return false;
	}
	if (tick - *last <= SRPOL_FIB_UNUSED)
		return false;
	WRITE_ONCE(*last, tick);
	return true;
}

/*
 * Ask the FIB and remember its answer, unless the entry is being written by a
 * run that this one has interrupted. Global, so that the verifier checks it
 * once. Return: non-zero if the packet should go to the stack, so that the
 * kernel sees that the neighbor is in use.
 */
__noinline int srpol_fib_learn(struct xdp_md *ctx,
			       const struct srpol_fib_key *key __arg_nonnull,
			       struct srpol_fib_route *r __arg_nonnull)
{
	__u32 at = srpol_fib_hash(key), tick = bpf_jiffies64();
	__u64 gen = srpol_fib_gen(ctx, key->rest & SRPOL_FIB_SIX);
	struct srpol_fib_entry *e;

	srpol_fib_ask(ctx, key, r);
	e = bpf_map_lookup_elem(&fib_cache, &at);
	if (!e || __sync_lock_test_and_set(&e->busy, 1))
		return 0;
	WRITE_ONCE(e->gen, ~gen);
	barrier();
	e->key = *key;
	e->route = *r;
	e->tick = tick;
	e->looked = tick;
	barrier();
	WRITE_ONCE(e->gen, gen);
	WRITE_ONCE(e->busy, 0);
	return r->ifindex && !r->host && srpol_fib_unused(r, tick);
}

static __always_inline bool srpol_any_rule(void)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_rule_order *order;

	order = st ? srpol_order(st, srpol_now_read(st).gen) : NULL;
	return !order || order->n;
}

/*
 * Is there nothing behind the inner packet, which the stack would cut off, and does
 * the device take it from XDP?
 */
static __always_inline bool srpol_forward_whole(struct xdp_md *ctx,
						__u32 ifindex, __u32 len)
{
	if (!srpol_frame_has_frags(ctx))
		return ctx->data_end - ctx->data <= ETH_HLEN + len;
	return bpf_xdp_get_buff_len(ctx) <= ETH_HLEN + len &&
	       srpol_frame_taken(ctx, ifindex);
}

/**
 * srpol_forward - forward a packet that was decapsulated
 * @ctx: packet, without its outer headers
 * @six: it is IPv6, not IPv4
 *
 * Return: XDP verdict.
 */
static __noinline int srpol_forward(struct xdp_md *ctx, bool six)
{
	__u32 tick = bpf_jiffies64(), at, len;
	struct srpol_fib_route fresh, *r;
	struct srpol_fib_entry *e;
	struct srpol_fib_key key;
	void *data, *end;

	if (!srpol_fib_key(ctx, six, &key, &len))
		return XDP_PASS;
	at = srpol_fib_hash(&key);
	e = bpf_map_lookup_elem(&fib_cache, &at);
	if (!e)
		return XDP_PASS;
	r = &e->route;
	if (!srpol_fib_same(&e->key, &key) || tick - e->tick > SRPOL_FIB_AGE ||
	    READ_ONCE(e->gen) != srpol_fib_gen(ctx, six)) {
		if (srpol_fib_learn(ctx, &key, &fresh))
			return XDP_PASS;
		r = &fresh;
	} else if (e->looked != tick) {
		if (!r->host && srpol_fib_shut(ctx, six))
			return XDP_PASS;
		e->looked = tick;
	}
	if (!r->ifindex || len > r->mtu ||
	    !srpol_forward_whole(ctx, r->ifindex, len) ||
	    (r->uplink && srpol_any_rule()) ||
	    bpf_redirect_map(&forward_to, r->ifindex, XDP_PASS) !=
	    XDP_REDIRECT)
		return XDP_PASS;

	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	if (data + ETH_HLEN + sizeof(struct ipv6hdr) > end &&
	    (six || data + ETH_HLEN + sizeof(struct iphdr) > end))
		return XDP_PASS;
	srpol_macs_store(data, srpol_macs_load(r->macs));
	if (!r->host && srpol_hop_inner(data, end, !six, ETH_HLEN))
		return XDP_DROP;
	srpol_count(SRPOL_REASON_FORWARDED);
	return XDP_REDIRECT;
}

#endif /* _SRPOL_FORWARD_H */
