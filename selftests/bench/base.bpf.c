// SPDX-License-Identifier: GPL-2.0
/*
 * What the least possible costs: programs that change packets as srpol does,
 * without asking whether they should.
 */
#include "vmlinux.h"
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "bench.h"
#include "words.h"

#define ETH_HLEN	14
#define PUSH_LEN	(ETH_HLEN + BENCH_ENCAP)
#define ETH_P_IPV6	0x86dd
#define ROCE_PORT	4791
#define GOLDEN		0x9e3779b97f4a7c15ull
#define BENCH_QP	(ETH_HLEN + 40 + 8 + 4)	/* IPv6, UDP, in the BTH */

#define PUSH_FLAGS	(BPF_F_ADJ_ROOM_ENCAP_L3_IPV6 |			\
			 BPF_F_ADJ_ROOM_FIXED_GSO |			\
			 BPF_F_ADJ_ROOM_NO_CSUM_RESET)

char LICENSE[] SEC("license") = "GPL";

struct bth {
	__u8 opcode;
	__u8 flags;
	__be16 pkey;
	__be32 qp;
	__be32 psn;
};

struct counter {
	__u64 packets;
	__u64 bytes;
};

/* Ethernet and outer headers of a path. */
struct template {
	__u8 b[PUSH_LEN];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, struct template);
} templates SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, struct counter);
} counters SEC(".maps");

/* Where a packet goes that came in by a device: ifindex to ifindex. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} next_dev SEC(".maps");

/* Two lines of the cache for each flow of a table as large as srpol's. */
struct lines {
	__u64 read[8];
	__u64 packets;
	__u64 rest[7];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BENCH_TABLE);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct lines);
} lines SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} devs SEC(".maps");

SEC("xdp.frags")
int xdp_empty(struct xdp_md *ctx)
{
	return XDP_PASS;
}

/*
 * What memory alone costs when flows alternate: as many lines as a flow table
 * must read and write at least, for a flow that is known by its QP.
 */
SEC("xdp.frags")
int xdp_lines(struct xdp_md *ctx)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 qp;
	__u32 nr;
	struct lines *l;

	if (data + BENCH_QP + 4 > end)
		return XDP_ABORTED;
	qp = *(__u32 *)(data + BENCH_QP);
	nr = qp * GOLDEN >> 32;
	nr %= BENCH_TABLE;
	l = bpf_map_lookup_elem(&lines, &nr);
	if (!l)
		return XDP_ABORTED;
	l->packets += 1 + *(volatile __u64 *)l->read;
	return XDP_PASS;
}

SEC("xdp.frags")
int xdp_drop(struct xdp_md *ctx)
{
	return XDP_DROP;
}

/* The ceiling: a frame is handed on as it is. */
SEC("xdp.frags")
int xdp_redirect(struct xdp_md *ctx)
{
	return bpf_redirect_map(&devs, ctx->ingress_ifindex, XDP_DROP);
}

static __always_inline __u32 rol(__u32 v, int n)
{
	return v << n | v >> (32 - n);
}

/* Jenkins' lookup3 over both addresses and the QP. */
static __always_inline __u32 floor_jhash(const __u32 *w, __u32 qp)
{
	__u32 a = 0xdeadbeef + 36, b = a, c = a;
	int i;

#pragma unroll
	for (i = 0; i < 9; i += 3) {
		a += w[i];
		b += w[i + 1];
		c += i == 6 ? qp : w[i + 2];
		a -= c; a ^= rol(c, 4);  c += b;
		b -= a; b ^= rol(a, 6);  a += c;
		c -= b; c ^= rol(b, 8);  b += a;
		a -= c; a ^= rol(c, 16); c += b;
		b -= a; b ^= rol(a, 19); a += c;
		c -= b; c ^= rol(b, 4);  b += a;
	}
	c ^= b; c -= rol(b, 14);
	a ^= c; a -= rol(c, 11);
	b ^= a; b -= rol(a, 25);
	c ^= b; c -= rol(b, 16);
	return c;
}

static __always_inline __u32 floor_multiply(const __u64 *w, __u32 qp)
{
	__u64 hash = (w[0] ^ w[1] * GOLDEN ^ w[2]) * GOLDEN;

	hash = (hash ^ w[3] ^ qp) * GOLDEN;
	return hash >> 32;
}

/*
 * The floor of steering: parse to the QP, hash, pick a template, push it, copy
 * ECN, count down the hop limit, label, length, one counter, redirect. No
 * flow table, no policy, no checks. @plain: by lookup3 and memcpy(), which the
 * compiler does byte by byte; else by one multiplication per word, and copies
 * of words.
 */
static __always_inline int floor(struct xdp_md *ctx, bool plain)
{
	__u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = (void *)data;
	struct ipv6hdr *ip6 = (void *)(eth + 1);
	struct udphdr *udp = (void *)(ip6 + 1);
	struct bth *bth = (void *)(udp + 1);
	__u32 bucket, first, len, hash;
	struct template *t;
	struct counter *c;

	if ((__u8 *)(bth + 1) > end || eth->h_proto != bpf_htons(ETH_P_IPV6) ||
	    ip6->nexthdr != IPPROTO_UDP || udp->dest != bpf_htons(ROCE_PORT))
		return XDP_PASS;
	hash = plain ? floor_jhash((__u32 *)&ip6->saddr, bth->qp) :
		       floor_multiply((__u64 *)&ip6->saddr, bth->qp);
	bucket = hash & 3;
	len = bpf_ntohs(ip6->payload_len) + sizeof(*ip6);
	first = bpf_ntohl(*(__be32 *)ip6) & 0xfff00000;
	if (ip6->hop_limit <= 1)
		return XDP_PASS;
	ip6->hop_limit--;
	t = bpf_map_lookup_elem(&templates, &bucket);
	if (!t || bpf_xdp_adjust_head(ctx, -BENCH_ENCAP))
		return XDP_DROP;

	data = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	if (data + PUSH_LEN > end)
		return XDP_DROP;
	if (plain) {
		__builtin_memcpy(data, t, PUSH_LEN);
	} else {
		bench_copy(data, t->b, PUSH_LEN & ~7);
		bench_copy(data + PUSH_LEN - 8, t->b + PUSH_LEN - 8, 8);
	}
	ip6 = (void *)data + ETH_HLEN;
	*(__be32 *)ip6 = bpf_htonl(first | hash >> 12);
	ip6->payload_len = bpf_htons(len + BENCH_ENCAP - sizeof(*ip6));
	c = bpf_map_lookup_elem(&counters, &bucket);
	if (c) {
		c->packets++;
		c->bytes += len;
	}
	return bpf_redirect_map(&devs, ctx->ingress_ifindex, XDP_DROP);
}

SEC("xdp.frags")
int xdp_floor(struct xdp_md *ctx)
{
	return floor(ctx, true);
}

SEC("xdp.frags")
int xdp_floor_words(struct xdp_md *ctx)
{
	return floor(ctx, false);
}

static __always_inline int pop(struct xdp_md *ctx)
{
	__u64 *eth = (void *)(long)ctx->data, macs[2];

	if ((void *)(eth + 2) > (void *)(long)ctx->data_end)
		return -1;
	macs[0] = eth[0];
	macs[1] = ((__u32 *)eth)[2];
	if (bpf_xdp_adjust_head(ctx, BENCH_ENCAP))
		return -1;
	eth = (void *)(long)ctx->data;
	if ((void *)(eth + 2) > (void *)(long)ctx->data_end)
		return -1;
	eth[0] = macs[0];
	((__u32 *)eth)[2] = macs[1];
	((__u16 *)eth)[6] = bpf_htons(ETH_P_IPV6);
	return 0;
}

SEC("xdp.frags")
int xdp_pop(struct xdp_md *ctx)
{
	return pop(ctx) ? XDP_DROP : XDP_PASS;
}

SEC("xdp.frags")
int xdp_pop_redirect(struct xdp_md *ctx)
{
	if (pop(ctx))
		return XDP_DROP;
	return bpf_redirect_map(&devs, ctx->ingress_ifindex, XDP_DROP);
}

static __always_inline int tc_out(struct __sk_buff *skb)
{
	__u32 key = skb->ifindex;
	__u32 *dev = bpf_map_lookup_elem(&next_dev, &key);

	return dev ? bpf_redirect(*dev, 0) : 2;
}

static __always_inline int push(struct __sk_buff *skb)
{
	__u32 zero = 0;
	void *t = bpf_map_lookup_elem(&templates, &zero);

	if (!t || bpf_skb_adjust_room(skb, BENCH_ENCAP, BPF_ADJ_ROOM_MAC,
				      PUSH_FLAGS))
		return -1;
	return bpf_skb_store_bytes(skb, 0, t, PUSH_LEN, 0);
}

SEC("tcx/egress")
int tc_empty(struct __sk_buff *skb)
{
	return -1;
}

SEC("tcx/egress")
int tc_push(struct __sk_buff *skb)
{
	return push(skb) ? 2 : -1;
}

SEC("tcx/ingress")
int tc_redirect(struct __sk_buff *skb)
{
	return tc_out(skb);
}

SEC("tcx/ingress")
int tc_push_redirect(struct __sk_buff *skb)
{
	return push(skb) ? 2 : tc_out(skb);
}
