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
 * jiffies at most: one second at 100 jiffies per second, less at more.
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
 * or has options; if it leaves by an uplink while there are rules, since packets
 * are steered there; if it leaves by a device that srpol is not attached to, or
 * that takes no frames from XDP; and if it is the first one after a pause: by
 * this the kernel sees that the neighbor is in use, and checks whether it is
 * still there.
 */
#ifndef _SRPOL_FORWARD_H
#define _SRPOL_FORWARD_H

#include "base.h"
#include "ecn.h"
#include "fib.h"
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

/* Traffic class, without the ECN field, and flow label. */
#define SRPOL_FLOWINFO_MASK	bpf_htonl(0x0fcfffff)
#define SRPOL_FIB_MIX		0x9e3779b97f4a7c15ull

static __always_inline __u32 srpol_fib_ports(void *l4, const void *end,
					     __u8 proto)
{
	if ((proto != IPPROTO_UDP && proto != IPPROTO_TCP) || l4 + 4 > end)
		return 0;
	return *(__u32 *)l4;
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
	__u64 proto;

	if (six) {
		if ((void *)(ip6 + 1) > end || ip6->hop_limit <= 1 ||
		    ip6->nexthdr == NEXTHDR_HOP)
			return false;
		*len = bpf_ntohs(ip6->payload_len) + sizeof(*ip6);
		proto = ip6->nexthdr;
		srpol_copy_words(key->addr, &ip6->saddr, sizeof(key->addr));
		key->rest = srpol_fib_ports(ip6 + 1, end, proto);
		key->flowinfo = *(__be32 *)ip6 & SRPOL_FLOWINFO_MASK;
	} else {
		if ((void *)(ip + 1) > end || ip->ttl <= 1 ||
		    ip->ihl != sizeof(*ip) / 4)
			return false;
		*len = bpf_ntohs(ip->tot_len);
		proto = ip->protocol;
		key->addr[0] = ip->saddr;
		key->addr[1] = ip->daddr;
		key->addr[2] = 0;
		key->addr[3] = ~0ull;	/* no IPv6 destination */
		key->flowinfo = ip->tos & ~SRPOL_ECN_MASK;
		key->rest = 0;
		if (!(ip->frag_off & bpf_htons(IP_FRAGMENT_MASK)))
			key->rest = srpol_fib_ports(ip + 1, end, proto);
	}
	key->rest |= proto << 32 | (__u64)ctx->ingress_ifindex << 40;
	return true;
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
 * firewall rules, and a firewall has a hook of its own. If the kernel does not
 * export these names, the hooks count like any other.
 */
extern const void apparmor_ip_postroute __ksym __weak;
extern const void selinux_ip_forward __ksym __weak;
extern const void selinux_ip_postroute __ksym __weak;

static __always_inline bool srpol_nf_filters(const struct nf_hook_entries *e)
{
	__u64 hook;

	if (!e || !e->num_hook_entries)
		return false;
	if (e->num_hook_entries > 1)
		return true;
	hook = (__u64)e->hooks[0].hook;
	return hook != (__u64)&apparmor_ip_postroute &&
	       hook != (__u64)&selinux_ip_forward &&
	       hook != (__u64)&selinux_ip_postroute;
}

/* Is there a firewall, or NAT, that forwarded packets must not bypass? */
static __always_inline bool srpol_fib_filtered(struct xdp_md *ctx, bool six)
{
	struct xdp_buff *xdp = bpf_cast_to_kern_ctx(ctx);
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
 * Is the packet for a virtual port? If so, map "host_addrs" has its whole
 * route.
 */
static __always_inline bool srpol_fib_host(const struct srpol_fib_key *key,
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
	r->ifindex = h->ifindex;
	r->mtu = h->mtu;
	r->host = 1;
	__builtin_memcpy(r->macs, h->macs, sizeof(r->macs));
	return true;
}

static __always_inline void srpol_fib_ask(struct xdp_md *ctx,
					  const struct srpol_fib_key *key,
					  struct srpol_fib_route *r)
{
	struct bpf_fib_lookup fib = { .ifindex = ctx->ingress_ifindex };
	bool six = key->addr[3] != ~0ull;
	__u32 from = ctx->ingress_ifindex;

	struct srpol_state *st = srpol_state_get();

	r->ifindex = 0;
	r->host = 0;
	r->uplink = 0;
	/*
	 * Frames of a software device may lack what the wire needs, such as
	 * checksums.
	 */
	if (!bpf_map_lookup_elem(&forward_from, &from) ||
	    srpol_fib_host(key, six, r) || srpol_fib_filtered(ctx, six) ||
	    !st || srpol_config(st, srpol_now_read(st).gen)->stack_forwards)
		return;
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
	__u64 gen = srpol_fib_gen(ctx);
	struct srpol_fib_entry *e;
	int pause;

	srpol_fib_ask(ctx, key, r);
	e = bpf_map_lookup_elem(&fib_cache, &at);
	if (!e || __sync_lock_test_and_set(&e->busy, 1))
		return 0;
	pause = srpol_fib_same(&e->key, key) && e->route.ifindex && !r->host &&
		tick - e->used > SRPOL_FIB_AGE;
	WRITE_ONCE(e->gen, ~gen);
	barrier();
	e->key = *key;
	e->route = *r;
	e->tick = tick;
	e->used = tick;
	barrier();
	WRITE_ONCE(e->gen, gen);
	WRITE_ONCE(e->busy, 0);
	return pause;
}

static __always_inline bool srpol_any_rule(void)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_rule_order *order;

	order = st ? srpol_order(st, srpol_now_read(st).gen) : NULL;
	return !order || order->n;
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
	    READ_ONCE(e->gen) != srpol_fib_gen(ctx)) {
		if (srpol_fib_learn(ctx, &key, &fresh))
			return XDP_PASS;
		r = &fresh;
	} else if (e->used != tick) {
		e->used = tick;
	}
	if (!r->ifindex || len > r->mtu || (r->uplink && srpol_any_rule()) ||
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
