/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which rules a packet may agree with, without looking at all of them.
 *
 * DOC: rule index
 *
 * A dimension is a byte of something rules look at: of a QP, of a port, of a
 * mark, or of a hash of an address prefix. For each of its 256 values there is
 * a set of rules: those that a packet with this value may agree with, among
 * them all that do not look at the dimension. What a packet agrees with is in
 * the sets of all its values; the few that are in all of them are looked at in
 * order of priority. So it does not matter how many rules there are, nor which
 * field tells them apart.
 *
 * Rules by cgroup have no dimension: a sender is in all cgroups above its own.
 */
#ifndef _SRPOL_RULE_INDEX_H
#define _SRPOL_RULE_INDEX_H

#include "base.h"
#include "hash.h"
#include "maps.h"
#include "parse.h"

#define SRPOL_DIM_MASKS		5

/* In this order they are taken, if rules look at more than there is room for. */
enum srpol_dim {
	SRPOL_DIM_QP0,			/* bits 0 to 7 */
	SRPOL_DIM_QP1,			/* 8 to 15 */
	SRPOL_DIM_QP2,
	SRPOL_DIM_DST,			/* a dimension of each of ... */
	SRPOL_DIM_SRC = SRPOL_DIM_DST + SRPOL_DIM_MASKS, /* ... srpol_dim_mask() */
	SRPOL_DIM_DPORT0 = SRPOL_DIM_SRC + SRPOL_DIM_MASKS,
	SRPOL_DIM_DPORT1,
	SRPOL_DIM_SPORT0,
	SRPOL_DIM_SPORT1,
	SRPOL_DIM_MARK0,
	SRPOL_DIM_MARK1,
	SRPOL_DIM_MARK2,
	SRPOL_DIM_MARK3,
	SRPOL_DIM_PKEY,
	SRPOL_DIM_VLAN,
	SRPOL_DIM_DSCP,
	SRPOL_DIM_OPCODE,
	SRPOL_DIM_DEV,
	SRPOL_DIM_PROTO,
	SRPOL_DIM_COUNT
};

/*
 * Prefixes that have a dimension: all bits, IPv4 /24 and /16, IPv6 /64 and /48.
 * A rule's prefix is of the longest one that it is not shorter than.
 */
static __always_inline void srpol_dim_mask(__u32 nr, __u64 *high, __u64 *low)
{
	*high = ~0ULL;
	*low = 0;
	if (nr == 0)
		*low = ~0ULL;
	else if (nr == 1)
		*low = bpf_cpu_to_be64(~0ULL << 8);
	else if (nr == 2)
		*low = bpf_cpu_to_be64(~0ULL << 16);
	else if (nr == 4)
		*high = bpf_cpu_to_be64(~0ULL << 16);
}

/* A byte of a hash of the address, as far as the mask has it. */
static __always_inline __u32 srpol_dim_addr(const __u8 *addr, __u32 nr)
{
	const __u32 *a = (const __u32 *)addr;
	__u64 high, low;

	srpol_dim_mask(nr, &high, &low);
	high &= a[0] | (__u64)a[1] << 32;
	low &= a[2] | (__u64)a[3] << 32;
	high ^= low * 0x9e3779b97f4a7c15ULL;
	return high * 0xd6e8feb86659fd93ULL >> 56;
}

/* Two bytes in one: neighbors stay apart. */
static __always_inline __u32 srpol_dim_fold(__u32 v)
{
	return (v ^ v >> 8) & 0xff;
}

/**
 * srpol_dim_of_packet - where a packet is in a dimension
 * @pkt: packet, parsed
 * @dim: enum srpol_dim
 *
 * Global, so that the verifier looks at it once and not for each dimension.
 *
 * Return: a byte.
 */
__noinline __u32 srpol_dim_of_packet(const struct srpol_pkt *pkt __arg_nonnull,
				     __u32 dim)
{
	const struct srpol_flow_key *k = &pkt->key;

	if (dim - SRPOL_DIM_DST < SRPOL_DIM_MASKS)
		return srpol_dim_addr(k->daddr, dim - SRPOL_DIM_DST);
	if (dim - SRPOL_DIM_SRC < SRPOL_DIM_MASKS)
		return srpol_dim_addr(k->saddr, dim - SRPOL_DIM_SRC);
	switch (dim) {
	case SRPOL_DIM_QP0:
	case SRPOL_DIM_QP1:
	case SRPOL_DIM_QP2:
		return k->qp >> 8 * (dim - SRPOL_DIM_QP0) & 0xff;
	case SRPOL_DIM_DPORT0:
	case SRPOL_DIM_DPORT1:
		return pkt->dport >> 8 * (dim - SRPOL_DIM_DPORT0) & 0xff;
	case SRPOL_DIM_SPORT0:
	case SRPOL_DIM_SPORT1:
		return k->sport >> 8 * (dim - SRPOL_DIM_SPORT0) & 0xff;
	case SRPOL_DIM_MARK0:
	case SRPOL_DIM_MARK1:
	case SRPOL_DIM_MARK2:
	case SRPOL_DIM_MARK3:
		return pkt->mark >> 8 * (dim - SRPOL_DIM_MARK0) & 0xff;
	case SRPOL_DIM_PKEY:
		return srpol_dim_fold(pkt->pkey);
	case SRPOL_DIM_VLAN:
		return srpol_dim_fold(pkt->vlan);
	case SRPOL_DIM_DSCP:
		return pkt->tclass >> 2;
	case SRPOL_DIM_OPCODE:
		return pkt->opcode;
	case SRPOL_DIM_DEV:
		return srpol_dim_fold(pkt->ifindex);
	default:
		return k->proto;
	}
}

_Static_assert(SRPOL_SET_WORDS <= 64, "a bit for each word of a set");

/*
 * What a packet has in each dimension, into @value. Return: a bit for each word
 * that is not 0 in any of its sets; only there can be a rule it agrees with.
 */
static __always_inline __u64
srpol_index_some(const struct srpol_rule_index *index,
		 const struct srpol_rule_order *order,
		 const struct srpol_pkt *pkt, __u8 *value)
{
	__u64 some = index->all;
	__u32 d, set;

	bpf_for(d, 0, SRPOL_INDEX_DIMS) {
		if (d >= order->n_dims || d >= SRPOL_INDEX_DIMS)
			break;
		value[d] = srpol_dim_of_packet(pkt, order->dim[d]);
		set = d * SRPOL_DIM_VALUES + value[d];
		/* The compiler knows better than the verifier what it can be. */
		barrier_var(set);
		if (set < SRPOL_INDEX_SETS)
			some &= index->some[set];
	}
	return some;
}

/* Word @w of the set of rules that a packet may agree with. */
static __always_inline __u64
srpol_index_word(const struct srpol_rule_index *index, __u32 n,
		 const __u8 *value, __u32 w)
{
	__u64 may = index->all;
	__u32 first, d, at;

	/* four at a time: a round of the iterator is what costs */
	bpf_for(first, 0, SRPOL_INDEX_DIMS / 4) {
		if (first * 4 >= n)
			break;
#pragma unroll
		for (d = first * 4; d < first * 4 + 4; d++) {
			if (d >= n || d >= SRPOL_INDEX_DIMS)
				continue;
			at = (d * SRPOL_DIM_VALUES + value[d]) *
			     SRPOL_SET_WORDS + w;
			barrier_var(at);
			if (at < SRPOL_INDEX_WORDS)
				may &= index->set[at];
		}
	}
	return may;
}

#endif /* _SRPOL_RULE_INDEX_H */
