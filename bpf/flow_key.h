/* SPDX-License-Identifier: GPL-2.0 */
/* What makes a flow, and where it stands on the bucket table. */
#ifndef _SRPOL_FLOW_KEY_H
#define _SRPOL_FLOW_KEY_H

#include "base.h"
#include "flow_table.h"
#include "hash.h"
#include "parse.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "srpol_flow_identify() builds words of 8");
_Static_assert(__builtin_offsetof(struct srpol_flow_key, qp) == 4 * 8 &&
	       __builtin_offsetof(struct srpol_flow_key, sport) == 4 * 8 + 4 &&
	       __builtin_offsetof(struct srpol_flow_key, mark) == 5 * 8 &&
	       __builtin_offsetof(struct srpol_flow_key, pkey) == 6 * 8 &&
	       __builtin_offsetof(struct srpol_flow_key, opclass) ==
	       6 * 8 + 4 &&
	       __builtin_offsetof(struct srpol_flow_key, from) == 6 * 8 + 6 &&
	       __builtin_offsetof(struct srpol_flow_key, cgroup) == 7 * 8,
	       "layout");

/* What some rule looks at beside addresses, ports and QP. */
static __always_inline void
srpol_flow_details(struct __sk_buff *skb, struct srpol_pkt *pkt,
		   const bool port, const struct srpol_rule_order *order)
{
	__u64 mark, ifindex, pkey, vlan, dscp, opclass = 0;
	__u64 *word = (__u64 *)&pkt->key;
	__u32 want = order->key;

	mark = want & SRPOL_KEY_MARK ? pkt->mark : 0;
	ifindex = port || want & SRPOL_KEY_DEV ? pkt->ifindex : 0;
	pkey = want & SRPOL_KEY_PKEY ? pkt->pkey : 0;
	vlan = want & SRPOL_KEY_VLAN ? pkt->vlan : 0;
	dscp = want & SRPOL_KEY_DSCP ? pkt->tclass >> 2 : 0;
	if (want & SRPOL_KEY_OPCODE && pkt->key.roce)
		opclass = order->opclass[pkt->opcode];
	if (skb && want & SRPOL_KEY_CGROUP)
		word[7] = bpf_skb_cgroup_id(skb);
	word[5] = mark | ifindex << 32;
	word[6] |= pkey | vlan << 16 | opclass << 32 | dscp << 40;
}

/**
 * srpol_flow_identify - complete the flow key
 * @skb: the packet, NULL at ports, where its sender is not known
 * @pkt: the same, parsed
 * @port: it came in by a host port: what is decided is true for that port
 * @order: rules in force: they say what tells flows apart beside addresses,
 *	ports and QP
 *
 * The key is read by words of 8 from here on. So that it is written by words
 * as well: a processor waits for smaller ones to reach the cache first. And
 * where no rule wants more, nothing of the key waits for what @order says.
 */
static __always_inline void
srpol_flow_identify(struct __sk_buff *skb, struct srpol_pkt *pkt,
		    const bool port, const struct srpol_rule_order *order)
{
	struct srpol_flow_key *key = &pkt->key;
	__u64 *word = (__u64 *)key;

	word[4] = key->qp | (__u64)key->sport << 32 |
		  (__u64)key->proto << 48 | (__u64)key->roce << 56;
	word[5] = port ? (__u64)pkt->ifindex << 32 : 0;
	word[6] = (__u64)pkt->fragment << 48;
	word[7] = 0;
	if (order->key)
		srpol_flow_details(skb, pkt, port, order);
}

/* The same where time does not matter, and room on the stack does. */
static __noinline int
srpol_flow_identify_again(struct __sk_buff *skb, struct srpol_pkt *pkt,
			  bool port, const struct srpol_rule_order *order)
{
	srpol_flow_identify(skb, pkt, port, order);
	return 0;
}

/* 2^32 over the golden ratio: its multiples fall evenly into 0..2^32. */
#define SRPOL_GOLDEN	0x9e3779b9u

/**
 * srpol_flow_hash - hashes of a flow
 * @pkt: parsed packet
 * @d: gets @hash and @tuple_hash
 *
 * @hash is the flow's position on the bucket table, as a fraction of 2^32.
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
					    struct srpol_decision *d)
{
	const struct srpol_flow_key *key = &pkt->key;

	d->tuple_hash = srpol_hash_tuple(key->saddr, key->daddr, key->proto,
					    (__u32)key->sport << 16 |
					    pkt->dport);
	d->hash = d->tuple_hash;
	if (key->roce)
		d->hash = srpol_hash_tuple(key->saddr, key->daddr,
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
 * srpol_flow_hash_symmetric - a position both directions of a flow have
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

#endif /* _SRPOL_FLOW_KEY_H */
