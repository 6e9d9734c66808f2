/* SPDX-License-Identifier: GPL-2.0 */
/* What identifies a flow, and its position on the bucket table. */
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

/* Add to the key what some rule looks at beside addresses, ports and QP. */
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
 * @skb: the packet; NULL at ports, where its cgroup is not known
 * @pkt: the same packet, parsed
 * @port: the packet came in by a host port: the device becomes part of the key,
 *	as the decision is for that port only
 * @order: rules in force, which say by what else flows differ beside addresses,
 *	ports and QP
 *
 * From here on the key is read by words of 8 bytes. So it is written by such
 * words as well: a processor would otherwise wait until several smaller stores
 * have reached the cache. If no rule needs more fields, no part of the key has
 * to wait for a load from @order.
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

/* The same, for where time does not matter, but room on the stack does. */
static __noinline int
srpol_flow_identify_again(struct __sk_buff *skb, struct srpol_pkt *pkt,
			  bool port, const struct srpol_rule_order *order)
{
	srpol_flow_identify(skb, pkt, port, order);
	return 0;
}

/* 2^32 over the golden ratio: its multiples are spread evenly over 0..2^32. */
#define SRPOL_GOLDEN	0x9e3779b9u

/**
 * srpol_flow_hash - hashes of a flow
 * @pkt: parsed packet
 * @d: gets @hash and @tuple_hash
 *
 * @hash is the flow's position on the bucket table, as a fraction of 2^32. For
 *	RoCEv2 it is the QP's multiple of the golden ratio, from a start that
 *	depends on the addresses: QPs with consecutive numbers, as a host opens
 *	them one after the other, get positions at even distances. AI traffic
 *	consists of few large flows, and a random hash would put twice as many
 *	of 64 QPs on one of four paths as on another.
 *
 * Fields that only classification looks at (opcode, mark, DSCP, P_Key, device)
 * are left out: a QP keeps its path whatever it sends, unless a rule says
 * otherwise. The UDP source port of RoCEv2 is left out as well.
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

/* Some total order of addresses; which one does not matter. */
static __always_inline bool srpol_addr_after(const __u8 *a, const __u8 *b)
{
	const __u64 *x = (const __u64 *)a;
	const __u64 *y = (const __u64 *)b;

	return x[0] != y[0] ? x[0] > y[0] : x[1] > y[1];
}

/**
 * srpol_flow_hash_symmetric - a position that both directions of a flow share
 * @pkt: parsed packet
 *
 * A packet names the QP of one direction only. So the UDP source port is used
 * for RoCEv2, which both ends derive from the same hash of their QPs.
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
	/* Both addresses are the same: the ports alone give the order. */
	if (!swap && !srpol_addr_after(key->daddr, key->saddr))
		swap = low > high;
	return srpol_hash_tuple(first, second, key->proto,
				swap ? high << 16 | low : low << 16 | high);
}

#endif /* _SRPOL_FLOW_KEY_H */
