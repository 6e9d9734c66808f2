/* SPDX-License-Identifier: GPL-2.0 */
/* Flow identity and flow hash. */
#ifndef _SRPOL_FLOW_H
#define _SRPOL_FLOW_H

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "srpol_flow_identify() builds words of 8");
_Static_assert(__builtin_offsetof(struct srpol_flow_key, qp) == 4 * 8 &&
	       __builtin_offsetof(struct srpol_flow_key, sport) == 4 * 8 + 4 &&
	       __builtin_offsetof(struct srpol_flow_key, mark) == 5 * 8 &&
	       __builtin_offsetof(struct srpol_flow_key, pkey) == 6 * 8 &&
	       __builtin_offsetof(struct srpol_flow_key, opclass) ==
	       6 * 8 + 4 &&
	       __builtin_offsetof(struct srpol_flow_key, cgroup) == 7 * 8,
	       "layout");

/*
 * Path of a flow and the table it was found in: read and written in one access,
 * or processors that send the same flow could leave a path of one table with
 * the version of another.
 */
union srpol_stay {
	struct {
		__u32 path;
		__u32 chosen;
	};
	__u64 word;
};

_Static_assert(__builtin_offsetof(struct srpol_flow, path) % 8 == 0 &&
	       __builtin_offsetof(struct srpol_flow, chosen) ==
	       __builtin_offsetof(struct srpol_flow, path) + 4, "one word");

static __always_inline union srpol_stay
srpol_stay_read(const struct srpol_flow *flow)
{
	union srpol_stay stay = {
		.word = READ_ONCE(*(const __u64 *)&flow->path)
	};

	return stay;
}

static __always_inline void srpol_stay_write(struct srpol_flow *flow,
					     __u32 path, __u32 chosen)
{
	union srpol_stay stay = { .path = path, .chosen = chosen };

	WRITE_ONCE(*(__u64 *)&flow->path, stay.word);
}

/**
 * struct srpol_decision - what was decided about a flow, as of one moment; see
 * struct srpol_flow
 */
struct srpol_decision {
	__u32 hash;
	__u32 tuple_hash;
	__u32 policy;
	__u32 rule_id;
	__u32 verdict;
	union srpol_stay stay;
	__u8 mode;
	__u8 ordering;
	__u8 inside;
};

static __always_inline void srpol_decision_read(const struct srpol_flow *flow,
						struct srpol_decision *d)
{
	d->hash = READ_ONCE(flow->hash);
	d->tuple_hash = READ_ONCE(flow->tuple_hash);
	d->policy = READ_ONCE(flow->policy);
	d->rule_id = READ_ONCE(flow->rule_id);
	d->verdict = READ_ONCE(flow->verdict);
	d->stay = srpol_stay_read(flow);
	d->mode = READ_ONCE(flow->mode);
	d->ordering = READ_ONCE(flow->ordering);
	d->inside = READ_ONCE(flow->inside);
}

/* What some rule looks at beside addresses, ports and QP. */
static __always_inline void
srpol_flow_details(struct __sk_buff *skb, struct srpol_pkt *pkt,
		   const struct srpol_rule_order *order)
{
	__u64 mark, ifindex, pkey, vlan, dscp, opclass = 0;
	__u64 *word = (__u64 *)&pkt->key;
	__u32 want = order->key;

	mark = want & SRPOL_KEY_MARK ? pkt->mark : 0;
	ifindex = want & SRPOL_KEY_DEV ? pkt->ifindex : 0;
	pkey = want & SRPOL_KEY_PKEY ? pkt->pkey : 0;
	vlan = want & SRPOL_KEY_VLAN ? pkt->vlan : 0;
	dscp = want & SRPOL_KEY_DSCP ? pkt->tclass >> 2 : 0;
	if (want & SRPOL_KEY_OPCODE && pkt->key.roce)
		opclass = order->opclass[pkt->opcode];
	if (skb && want & SRPOL_KEY_CGROUP)
		word[7] = bpf_skb_cgroup_id(skb);
	word[5] = mark | ifindex << 32;
	word[6] = pkey | vlan << 16 | opclass << 32 | dscp << 40;
}

/**
 * srpol_flow_identify - complete the flow key
 * @skb: the packet, NULL at XDP, where its sender is not known
 * @pkt: the same, parsed
 * @order: rules in force: they say what tells flows apart beside addresses,
 *	ports and QP
 *
 * The key is read by words of 8 from here on. So that it is written by words
 * as well: a processor waits for smaller ones to reach the cache first. And
 * where no rule wants more, nothing of the key waits for what @order says.
 */
static __always_inline void
srpol_flow_identify(struct __sk_buff *skb, struct srpol_pkt *pkt,
		    const struct srpol_rule_order *order)
{
	struct srpol_flow_key *key = &pkt->key;
	__u64 *word = (__u64 *)key;

	word[4] = key->qp | (__u64)key->sport << 32 |
		  (__u64)key->proto << 48 | (__u64)key->roce << 56;
	word[5] = 0;
	word[6] = 0;
	word[7] = 0;
	if (order->key)
		srpol_flow_details(skb, pkt, order);
}

static __always_inline __u32 srpol_rol(__u32 v, int n)
{
	return v << n | v >> (32 - n);
}

/* Bob Jenkins' lookup3, as in the kernel's jhash. */
#define SRPOL_JHASH_MIX(a, b, c)					\
	do {								\
		a -= c; a ^= srpol_rol(c, 4);  c += b;			\
		b -= a; b ^= srpol_rol(a, 6);  a += c;			\
		c -= b; c ^= srpol_rol(b, 8);  b += a;			\
		a -= c; a ^= srpol_rol(c, 16); c += b;			\
		b -= a; b ^= srpol_rol(a, 19); a += c;			\
		c -= b; c ^= srpol_rol(b, 4);  b += a;			\
	} while (0)

#define SRPOL_JHASH_FINAL(a, b, c)					\
	do {								\
		c ^= b; c -= srpol_rol(b, 14);				\
		a ^= c; a -= srpol_rol(c, 11);				\
		b ^= a; b -= srpol_rol(a, 25);				\
		c ^= b; c -= srpol_rol(b, 16);				\
		a ^= c; a -= srpol_rol(c, 4);				\
		b ^= a; b -= srpol_rol(a, 14);				\
		c ^= b; c -= srpol_rol(b, 24);				\
	} while (0)

#define SRPOL_JHASH_INIT	0xdeadbeef

/* Hash of two words; also what the rehash of a dead bucket steps with. */
static __always_inline __u32 srpol_hash2(__u32 x, __u32 y)
{
	__u32 a = SRPOL_JHASH_INIT + 8 + x;
	__u32 b = SRPOL_JHASH_INIT + 8 + y;
	__u32 c = SRPOL_JHASH_INIT + 8;

	SRPOL_JHASH_FINAL(a, b, c);
	return c;
}

/* Addresses, protocol and a word of ports. */
static __always_inline __u32 srpol_hash_tuple(const __u8 *saddr,
					      const __u8 *daddr, __u32 proto,
					      __u32 ports)
{
	const __u32 *s = (const __u32 *)saddr;
	const __u32 *d = (const __u32 *)daddr;
	__u32 a, b, c;

	a = SRPOL_JHASH_INIT + 40;
	b = a;
	c = a;
	a += s[0];
	b += s[1];
	c += s[2];
	SRPOL_JHASH_MIX(a, b, c);
	a += s[3];
	b += d[0];
	c += d[1];
	SRPOL_JHASH_MIX(a, b, c);
	a += d[2];
	b += d[3];
	c += ports;
	SRPOL_JHASH_MIX(a, b, c);
	a += proto;
	SRPOL_JHASH_FINAL(a, b, c);
	return c;
}

/* 2^32 over the golden ratio: its multiples fall evenly into 0..2^32. */
#define SRPOL_GOLDEN	0x9e3779b9u

/**
 * srpol_flow_hash - hashes of a flow
 * @pkt: parsed packet
 * @flow: gets @hash and @tuple_hash
 *
 * @hash is where the flow stands on the bucket table, as a fraction of 2^32.
 * For RoCEv2 that is the QP's multiple of the golden ratio, from a start that
 * depends on the addresses: QPs that a host opens one after the other, with
 * consecutive numbers, are set at even distances. Few large flows are what AI
 * traffic consists of, and a random hash would put twice as many of 64 QPs on
 * one of four paths as on another.
 *
 * What only classification looks at (opcode, mark, DSCP, P_Key, device) stays
 * out: a QP keeps its path whatever it sends, unless a rule says otherwise.
 * So does its source port.
 */
static __always_inline void srpol_flow_hash(const struct srpol_pkt *pkt,
					    struct srpol_flow *flow)
{
	const struct srpol_flow_key *key = &pkt->key;

	flow->tuple_hash = srpol_hash_tuple(key->saddr, key->daddr, key->proto,
					    (__u32)key->sport << 16 |
					    pkt->dport);
	flow->hash = flow->tuple_hash;
	if (key->roce)
		flow->hash = srpol_hash_tuple(key->saddr, key->daddr,
					      key->proto, 0) +
			     key->qp * SRPOL_GOLDEN;
}

/* Some order of addresses; which one does not matter. */
static __always_inline bool srpol_addr_after(const __u8 *a, const __u8 *b)
{
	const __u64 *x = (const __u64 *)a;
	const __u64 *y = (const __u64 *)b;

	return x[0] != y[0] ? x[0] > y[0] : x[1] > y[1];
}

/**
 * srpol_flow_hash_symmetric - a place both directions of a flow have
 * @pkt: parsed packet
 *
 * A QP is known in one direction only, so RoCEv2 has the UDP source port
 * instead, which both ends take from the same hash of their QPs.
 */
static __noinline __u32 srpol_flow_hash_symmetric(const struct srpol_pkt *pkt)
{
	const struct srpol_flow_key *key = &pkt->key;
	bool swap = srpol_addr_after(key->saddr, key->daddr);
	const __u8 *first = swap ? key->daddr : key->saddr;
	const __u8 *second = swap ? key->saddr : key->daddr;
	__u32 low = key->sport, high = pkt->dport;

	if (key->roce)
		return srpol_hash_tuple(first, second, key->proto, low);
	/* Two sockets of one address: the ports alone give the order. */
	if (!swap && !srpol_addr_after(key->daddr, key->saddr))
		swap = low > high;
	return srpol_hash_tuple(first, second, key->proto,
				swap ? high << 16 | low : low << 16 | high);
}

/* A packet of a flow. */
static __always_inline void srpol_flow_account(struct srpol_flow *flow,
					       __u32 bytes)
{
	flow->packets++;
	flow->bytes += bytes;
}

/**
 * srpol_flow_tick - note when a flow was seen
 * @flow: flow
 *
 * The coarse clock moves once per tick; to ask it for every packet would cost
 * as much as the look-up of the flow.
 */
static __always_inline void srpol_flow_tick(struct srpol_flow *flow)
{
	__u32 tick = bpf_jiffies64();

	if (flow->tick != tick || !flow->last_ns) {
		flow->tick = tick;
		flow->last_ns = bpf_ktime_get_coarse_ns();
	}
}

#endif /* _SRPOL_FLOW_H */
