/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which rules a packet may match, without trying all of them.
 *
 * DOC: rule index
 *
 * A dimension is one byte of something that rules match on: of a QP, a port, a
 * mark, or a hash of an address prefix. For each of its 256 values there is a
 * set of rules: those that a packet with this value may match, which include
 * all rules that do not match on this dimension. The rule that a packet matches
 * is in the sets of all of the packet's values. So the sets are intersected,
 * and the few rules that are left are tried in order of priority. The cost
 * hardly depends on how many rules there are, nor on which field tells them
 * apart.
 *
 * A rule's cgroup is not a dimension: a sender is in all cgroups above its own.
 */
#ifndef _SRPOL_RULE_INDEX_H
#define _SRPOL_RULE_INDEX_H

#include "base.h"
#include "hash.h"
#include "maps.h"
#include "parse.h"

#define SRPOL_DIM_MASKS		5

/*
 * If rules match on more dimensions than there is room for, the first ones are
 * taken.
 */
enum srpol_dim {
	SRPOL_DIM_QP0,			/* bits 0 to 7 */
	SRPOL_DIM_QP1,			/* 8 to 15 */
	SRPOL_DIM_QP2,
	SRPOL_DIM_DST,			/* one dimension for each of ... */
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
 * Masks of address prefixes that have a dimension each: all bits, IPv4 /24 and
 * /16, IPv6 /64 and /48. A rule's prefix belongs to the first of them that is
 * not longer than itself.
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

/* A byte of a hash of the address under mask @nr. */
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

/* Fold two bytes into one, so that neighboring values stay different. */
static __always_inline __u32 srpol_dim_fold(__u32 v)
{
	return (v ^ v >> 8) & 0xff;
}

/**
 * srpol_dim_of_packet - value of a packet in a dimension
 * @pkt: packet, parsed
 * @dim: enum srpol_dim
 *
 * Global, so that the verifier checks it once and not for each dimension.
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
_Static_assert(!(SRPOL_INDEX_WORDS & (SRPOL_INDEX_WORDS - 1)), "% is &");

/*
 * Set @value to the packet's value in each dimension. Return: a bit for each
 * word that is not 0 in any of the packet's sets; no other word can have a rule
 * that it matches.
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
		/*
		 * Keep this check: the compiler can prove it needless, the
		 * verifier cannot.
		 */
		barrier_var(set);
		if (set < SRPOL_INDEX_SETS)
			some &= index->some[set];
	}
	return some;
}

/*
 * Word @w of the intersection of the packet's sets: the rules that it may
 * match.
 */
static __always_inline __u64
srpol_index_word(const struct srpol_rule_index *index, __u32 n,
		 const __u8 *value, __u32 w)
{
	__u64 may = index->all;
	__u32 first, i, d, at;

	/* four at a time: the rounds of the iterator are what costs */
	bpf_for(first, 0, SRPOL_INDEX_DIMS / 4) {
		if (first * 4 >= n)
			break;
#pragma unroll
		for (i = 0; i < 4; i++) {
			/*
			 * Once more the first set, if there are no more
			 * dimensions. Branches would have the verifier follow
			 * all that may be skipped.
			 */
			d = first * 4 + i;
			d &= (__s32)(d - n) >> 31;
			at = ((d * SRPOL_DIM_VALUES + value[d]) *
			      SRPOL_SET_WORDS + w) % SRPOL_INDEX_WORDS;
			may &= index->set[at];
		}
	}
	return may;
}

#endif /* _SRPOL_RULE_INDEX_H */
