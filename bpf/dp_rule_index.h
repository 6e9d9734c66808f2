/* SPDX-License-Identifier: GPL-2.0 */
/* Methods: build the rule index of a new order of rules. */
#ifndef _SRPOL_DP_RULE_INDEX_H
#define _SRPOL_DP_RULE_INDEX_H

#include "base.h"
#include "maps.h"
#include "rule_index.h"

/**
 * struct srpol_dim_span - the values of a dimension that a rule can match
 * @first: first value
 * @n: number of consecutive values; 255 is followed by 0; 256 means all values
 * @mask: only values whose bits under @mask are @value; 0 for all
 * @value: see @mask
 * @opcodes: only values that are in the rule's set of opcodes
 */
struct srpol_dim_span {
	__u32 first;
	__u32 n;
	__u32 mask;
	__u32 value;
	bool opcodes;
};

/*
 * Restrict @span to what bits @shift to @shift + 7 can be in numbers from @min
 * to @max.
 */
static __always_inline void srpol_span_range(struct srpol_dim_span *span,
					     __u32 min, __u32 max, __u32 shift)
{
	min >>= shift;
	max >>= shift;
	if (max - min < SRPOL_DIM_VALUES - 1) {
		span->first = min & 0xff;
		span->n = max - min + 1;
	}
}

static __always_inline void srpol_span_one(struct srpol_dim_span *span,
					   __u32 value)
{
	span->first = value & 0xff;
	span->n = 1;
}

/*
 * Number of the first mask of srpol_dim_mask() that @mask covers,
 * SRPOL_DIM_MASKS if none.
 */
static __always_inline __u32 srpol_span_prefix(const __u8 *mask)
{
	__u64 has_high = *(const __u64 *)mask;
	__u64 has_low = *(const __u64 *)(mask + 8);
	__u64 high, low;
	__u32 nr;

#pragma unroll
	for (nr = 0; nr < SRPOL_DIM_MASKS; nr++) {
		srpol_dim_mask(nr, &high, &low);
		if ((has_high & high) == high && (has_low & low) == low)
			break;
	}
	return nr;
}

static __always_inline void srpol_span_addr(struct srpol_dim_span *span,
					    const __u8 *addr, const __u8 *mask,
					    __u32 nr)
{
	if (srpol_span_prefix(mask) == nr)
		srpol_span_one(span, srpol_dim_addr(addr, nr));
}

/*
 * Restrict @span to the values of dimension @dim that a rule can match. A field
 * that the rule does not match on leaves @span as it was: all values. Global,
 * so that the verifier checks it once and not for each dimension.
 */
__noinline int srpol_span_of_rule(const struct srpol_dp_rule *r __arg_nonnull,
				  __u32 dim,
				  struct srpol_dim_span *span __arg_nonnull)
{
	__u32 m = r->match, shift;

	if (dim - SRPOL_DIM_DST < SRPOL_DIM_MASKS && m & SRPOL_MATCH_DST)
		srpol_span_addr(span, r->dst, r->dst_mask, dim - SRPOL_DIM_DST);
	if (dim - SRPOL_DIM_SRC < SRPOL_DIM_MASKS && m & SRPOL_MATCH_SRC)
		srpol_span_addr(span, r->src, r->src_mask, dim - SRPOL_DIM_SRC);
	if (dim - SRPOL_DIM_QP0 < 3 && m & SRPOL_MATCH_QP)
		srpol_span_range(span, r->qp[0], r->qp[1],
				 8 * (dim - SRPOL_DIM_QP0));
	if (dim - SRPOL_DIM_DPORT0 < 2 && m & SRPOL_MATCH_DPORT)
		srpol_span_range(span, r->dport[0], r->dport[1],
				 8 * (dim - SRPOL_DIM_DPORT0));
	if (dim - SRPOL_DIM_SPORT0 < 2 && m & SRPOL_MATCH_SPORT)
		srpol_span_range(span, r->sport[0], r->sport[1],
				 8 * (dim - SRPOL_DIM_SPORT0));
	if (dim - SRPOL_DIM_MARK0 < 4 && m & SRPOL_MATCH_MARK) {
		shift = 8 * (dim - SRPOL_DIM_MARK0);
		span->mask = r->mark_mask >> shift & 0xff;
		span->value = r->mark >> shift & 0xff;
		if (span->mask == 0xff)
			srpol_span_one(span, span->value);
	}
	if (dim == SRPOL_DIM_PKEY && m & SRPOL_MATCH_PKEY)
		srpol_span_one(span, srpol_dim_fold(r->pkey));
	if (dim == SRPOL_DIM_VLAN && m & SRPOL_MATCH_VLAN)
		srpol_span_one(span, srpol_dim_fold(r->vlan));
	if (dim == SRPOL_DIM_DSCP && m & SRPOL_MATCH_DSCP)
		srpol_span_one(span, r->dscp);
	if (dim == SRPOL_DIM_DEV && m & SRPOL_MATCH_DEV)
		srpol_span_one(span, srpol_dim_fold(r->ifindex));
	if (dim == SRPOL_DIM_PROTO && m & SRPOL_MATCH_PROTO)
		srpol_span_one(span, r->proto);
	span->opcodes = dim == SRPOL_DIM_OPCODE && m & SRPOL_MATCH_OPCODE;
	return 0;
}

/* Does the span contain all values? */
static __always_inline bool srpol_span_any(const struct srpol_dim_span *span)
{
	return span->n == SRPOL_DIM_VALUES && !span->mask && !span->opcodes;
}

/*
 * The rule at position @nr of the order. @span gets the values of @dim it can
 * match.
 */
static __always_inline struct srpol_dp_rule *
srpol_index_rule(const struct srpol_rule_order *order, __u32 nr, __u32 dim,
		 struct srpol_dim_span *span)
{
	struct srpol_dp_rule *rule;

	if (nr >= SRPOL_MAX_RULES)
		return NULL;
	rule = bpf_map_lookup_elem(&rules, &order->slot[nr]);
	if (!rule)
		return NULL;
	__builtin_memset(span, 0, sizeof(*span));
	span->n = SRPOL_DIM_VALUES;
	srpol_span_of_rule(rule, dim, span);
	return rule;
}

/* Does any rule match on dimension @dim? */
__noinline bool
srpol_dim_used(const struct srpol_rule_order *order __arg_nonnull, __u32 dim)
{
	struct srpol_dim_span span;
	__u32 nr;

	bpf_for(nr, 0, SRPOL_MAX_RULES) {
		if (nr >= order->n)
			break;
		if (srpol_index_rule(order, nr, dim, &span) &&
		    !srpol_span_any(&span))
			return true;
	}
	return false;
}

/*
 * Add the rule at position @nr to the sets that it can match. The sets of the
 * dimension begin at number @first.
 */
static __always_inline void srpol_index_add(struct srpol_rule_index *index,
					    __u32 first, __u32 nr,
					    const struct srpol_dim_span *span,
					    const struct srpol_dp_rule *rule)
{
	__u64 bit = 1ULL << (nr & 63);
	__u32 word = nr / 64, i, v, at;

	if (srpol_span_any(span)) {
		if (word < SRPOL_SET_WORDS)
			index->any[word] |= bit;
		return;
	}
	bpf_for(i, 0, SRPOL_DIM_VALUES) {
		if (i >= span->n)
			break;
		v = (span->first + i) & (SRPOL_DIM_VALUES - 1);
		if ((v & span->mask) != span->value ||
		    (span->opcodes && !(rule->opcodes[v / 64] >> (v & 63) & 1)))
			continue;
		at = (first + v) * SRPOL_SET_WORDS + word;
		if (at < SRPOL_INDEX_WORDS)
			index->set[at] |= bit;
	}
}

/*
 * Empty the sets that begin at number @first. Only @words words of each are in
 * use.
 */
static __always_inline void srpol_index_empty(struct srpol_rule_index *index,
					      __u32 first, __u32 words)
{
	__u32 v, w, at;

	__builtin_memset(index->any, 0, sizeof(index->any));
	bpf_for(v, 0, SRPOL_DIM_VALUES) {
		bpf_for(w, 0, SRPOL_SET_WORDS) {
			at = (first + v) * SRPOL_SET_WORDS + w;
			if (w >= words || at >= SRPOL_INDEX_WORDS)
				break;
			index->set[at] = 0;
		}
	}
}

/*
 * Add the rules that do not match on the dimension to all of its sets, and note
 * which words of each set are not 0.
 */
static __always_inline void srpol_index_finish(struct srpol_rule_index *index,
					       __u32 first, __u32 words)
{
	__u32 v, w, at;
	__u64 some;

	bpf_for(v, 0, SRPOL_DIM_VALUES) {
		some = 0;
		bpf_for(w, 0, SRPOL_SET_WORDS) {
			at = (first + v) * SRPOL_SET_WORDS + w;
			if (w >= words || w >= SRPOL_SET_WORDS ||
			    at >= SRPOL_INDEX_WORDS)
				break;
			index->set[at] |= index->any[w];
			some |= (__u64)!!index->set[at] << w;
		}
		if (first + v < SRPOL_INDEX_SETS)
			index->some[first + v] = some;
	}
}

/*
 * Fill the sets of dimension @dim, which begin at number @first. Global, so
 * that the verifier checks it once.
 */
__noinline int srpol_index_fill(struct srpol_rule_index *index __arg_nonnull,
				const struct srpol_rule_order *order __arg_nonnull,
				__u32 first, __u32 dim)
{
	__u32 words = (order->n + 63) / 64, nr;
	struct srpol_dim_span span;
	struct srpol_dp_rule *rule;

	srpol_index_empty(index, first, words);
	bpf_for(nr, 0, SRPOL_MAX_RULES) {
		if (nr >= order->n)
			break;
		rule = srpol_index_rule(order, nr, dim, &span);
		if (rule)
			srpol_index_add(index, first, nr, &span, rule);
	}
	srpol_index_finish(index, first, words);
	return 0;
}

/**
 * srpol_index_make - build the index of an order of rules
 * @index: index in the same copy as the order
 * @order: order whose @n and @slot are set; @n_dims and @dim are filled in here
 */
static __always_inline void srpol_index_make(struct srpol_rule_index *index,
					     struct srpol_rule_order *order)
{
	__u32 dim, n = 0;

	bpf_for(dim, 0, SRPOL_DIM_COUNT) {
		if (n >= SRPOL_INDEX_DIMS)
			break;
		if (!srpol_dim_used(order, dim))
			continue;
		order->dim[n] = dim;
		srpol_index_fill(index, order, n * SRPOL_DIM_VALUES, dim);
		n++;
	}
	order->n_dims = n;
	index->all = ~0ULL;
}

#endif /* _SRPOL_DP_RULE_INDEX_H */
