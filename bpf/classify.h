/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Classification, once per flow and epoch: rule -> color -> endpoint -> policy.
 */
#ifndef _SRPOL_CLASSIFY_H
#define _SRPOL_CLASSIFY_H

#include "base.h"
#include "flow_key.h"
#include "maps.h"
#include "parse.h"
#include "rule_index.h"
#include "state.h"
#include "words.h"

static __always_inline bool srpol_prefix_match(const __u8 *addr,
					       const __u8 *want,
					       const __u8 *mask)
{
	const __u64 *a = (const __u64 *)addr;
	const __u64 *w = (const __u64 *)want;
	const __u64 *m = (const __u64 *)mask;

	return !(((a[0] & m[0]) ^ w[0]) | ((a[1] & m[1]) ^ w[1]));
}

static __always_inline bool srpol_range_match(__u32 v, __u32 min, __u32 max)
{
	return v >= min && v <= max;
}

/*
 * Is the sender in the cgroup of a rule, or below it? At XDP (@skb is NULL) the
 * sender's cgroup is not known, so that no rule with a cgroup matches.
 */
static __always_inline bool srpol_cgroup_match(struct __sk_buff *skb,
					       const struct srpol_dp_rule *r)
{
	if (!(r->match & SRPOL_MATCH_CGROUP))
		return true;
	return skb && bpf_skb_ancestor_cgroup_id(skb, r->cgroup_level) ==
		      r->cgroup;
}

/**
 * srpol_rule_match - does a packet match a rule? Its cgroup is not looked at
 * @r: rule
 * @pkt: packet, parsed
 *
 * A field that the packet does not have (the ports of a later fragment, the QP
 * of TCP) matches nothing. The function is global, so that the verifier checks
 * it once and not for each rule.
 */
__noinline bool srpol_rule_match(const struct srpol_dp_rule *r __arg_nonnull,
				  const struct srpol_pkt *pkt __arg_nonnull)
{
	const struct srpol_flow_key *k = &pkt->key;
	__u32 m = r->match;

	if (m & SRPOL_MATCH_DEV && r->ifindex != pkt->ifindex)
		return false;
	if (m & SRPOL_MATCH_MARK && r->mark != (pkt->mark & r->mark_mask))
		return false;
	if (m & SRPOL_MATCH_SRC &&
	    !srpol_prefix_match(k->saddr, r->src, r->src_mask))
		return false;
	if (m & SRPOL_MATCH_DST &&
	    !srpol_prefix_match(k->daddr, r->dst, r->dst_mask))
		return false;
	if (m & SRPOL_MATCH_PROTO && r->proto != k->proto)
		return false;
	if (m & (SRPOL_MATCH_SPORT | SRPOL_MATCH_DPORT) && !pkt->has_ports)
		return false;
	if (m & SRPOL_MATCH_SPORT &&
	    !srpol_range_match(k->sport, r->sport[0], r->sport[1]))
		return false;
	if (m & SRPOL_MATCH_DPORT &&
	    !srpol_range_match(pkt->dport, r->dport[0], r->dport[1]))
		return false;
	if (m & SRPOL_MATCH_DSCP && r->dscp != pkt->tclass >> 2)
		return false;
	if (m & SRPOL_MATCH_VLAN && r->vlan != pkt->vlan)
		return false;
	if (!(m & (SRPOL_MATCH_QP | SRPOL_MATCH_OPCODE | SRPOL_MATCH_PKEY)))
		return true;
	if (!k->roce)
		return false;
	if (m & SRPOL_MATCH_QP &&
	    !srpol_range_match(k->qp, r->qp[0], r->qp[1]))
		return false;
	if (m & SRPOL_MATCH_OPCODE &&
	    !(r->opcodes[pkt->opcode / 64] >> (pkt->opcode & 63) & 1))
		return false;
	return !(m & SRPOL_MATCH_PKEY) || r->pkey == pkt->pkey;
}

/*
 * Number of the lowest bit set in @v, which is not 0. Global, see
 * srpol_rule_match().
 */
__noinline __u32 srpol_lowest_bit(__u64 v)
{
	__u32 bit = 0, half;

#pragma unroll
	for (half = 32; half; half /= 2) {
		if (!(v & ((1ULL << half) - 1))) {
			v >>= half;
			bit += half;
		}
	}
	return bit;
}

/* Does the packet match the rule at position @nr of the order? */
static __always_inline bool srpol_rule_try(struct __sk_buff *skb,
					   const struct srpol_pkt *pkt,
					   const struct srpol_rule_order *order,
					   __u32 nr)
{
	struct srpol_dp_rule *rule;

	/*
	 * Keep this check: the compiler can prove it needless, the verifier
	 * cannot.
	 */
	barrier_var(nr);
	if (nr >= SRPOL_MAX_RULES)
		return false;
	rule = bpf_map_lookup_elem(&rules, &order->slot[nr]);
	return rule && srpol_rule_match(rule, pkt) &&
	       srpol_cgroup_match(skb, rule);
}

/*
 * Position in the order, counted from 1, of the first rule that a packet
 * matches; 0 if there is none. The result is the same as if all rules before it
 * had been tried one after the other.
 */
static __always_inline __u32 srpol_rule_number(struct __sk_buff *skb,
					       const struct srpol_pkt *pkt,
					       const struct srpol_rule_order *order,
					       const struct srpol_rule_index *index)
{
	__u8 value[SRPOL_INDEX_DIMS] = {};
	__u64 some, may = 0;
	__u32 i, nr = 0;

	some = srpol_index_some(index, order, pkt, value);
	/* one round for each word of the set, and one for each rule */
	bpf_for(i, 0, SRPOL_SET_WORDS + SRPOL_MAX_RULES) {
		if (!may) {
			if (!some)
				break;
			nr = srpol_lowest_bit(some) * 64;
			some &= some - 1;
			may = srpol_index_word(index, order->n_dims, value,
					       nr / 64);
			continue;
		}
		nr = (nr & ~63u) + srpol_lowest_bit(may);
		may &= may - 1;
		if (nr >= order->n)
			break;
		if (srpol_rule_try(skb, pkt, order, nr))
			return nr + 1;
	}
	return 0;
}

/* Global, see srpol_rule_match(). */
__noinline __u32
srpol_rule_number_skb(struct __sk_buff *skb,
		      const struct srpol_pkt *pkt __arg_nonnull,
		      const struct srpol_rule_order *order __arg_nonnull,
		      const struct srpol_rule_index *index __arg_nonnull)
{
	return srpol_rule_number(skb, pkt, order, index);
}

__noinline __u32
srpol_rule_number_xdp(const struct srpol_pkt *pkt __arg_nonnull,
		      const struct srpol_rule_order *order __arg_nonnull,
		      const struct srpol_rule_index *index __arg_nonnull)
{
	return srpol_rule_number(NULL, pkt, order, index);
}

static __always_inline __u32
srpol_policy_at(const struct srpol_policy_key *key, __u32 gen)
{
	struct srpol_policy_ref *ref;

	ref = bpf_map_lookup_elem(&policy_index, key);
	return ref ? ref->id[srpol_copy(READ_ONCE(ref->ver), gen)] : 0;
}

/*
 * The endpoint of the longest steering prefix that is present in this
 * generation. A prefix that is hidden, or that is only staged for the next
 * generation, is skipped, and the search goes on with shorter ones. @len is set
 * to the length of the prefix found.
 */
static __always_inline bool srpol_endpoint_find(const __u8 *daddr, __u32 gen,
						__u8 *endpoint, __u32 *len)
{
	struct srpol_prefix prefix = { .len = SRPOL_ADDR_BITS };
	struct srpol_endpoint *ep;
	__u32 i, copy;

	srpol_copy_addr(prefix.addr, daddr);
	bpf_for(i, 0, SRPOL_ADDR_BITS + 1) {
		ep = bpf_map_lookup_elem(&endpoints, &prefix);
		if (!ep)
			return false;
		copy = srpol_copy(READ_ONCE(ep->ver), gen);
		if (ep->present[copy]) {
			srpol_copy_addr(endpoint, ep->addr[copy]);
			*len = ep->len;
			return true;
		}
		if (!ep->len)
			return false;
		prefix.len = ep->len - 1;
	}
	return false;
}

/*
 * The policy of a color for an inner destination. First, unless there is an
 * explicit steering prefix of all 128 bits, comes a policy whose endpoint is
 * the destination itself; then one for the endpoint of the longest steering
 * prefix; at last one for the null endpoint (RFC 9256 8.8.1, color-only
 * steering).
 */
static __noinline __u32 srpol_policy_find(__u32 color, const __u8 *daddr,
					       __u32 gen)
{
	struct srpol_policy_key key = { .color = color }, own = key;
	__u32 id = 0, len = 0;
	bool found;

	found = srpol_endpoint_find(daddr, gen, key.endpoint, &len);
	if (len != SRPOL_ADDR_BITS) {
		srpol_copy_addr(own.endpoint, daddr);
		id = srpol_policy_at(&own, gen);
	}
	if (!id && found) {
		id = srpol_policy_at(&key, gen);
		__builtin_memset(key.endpoint, 0, sizeof(key.endpoint));
	}
	return id ?: srpol_policy_at(&key, gen);
}

static __always_inline bool srpol_policy_symmetric(__u32 id, __u32 gen)
{
	struct srpol_policy *policy = bpf_map_lookup_elem(&policies, &id);
	__u32 copy;

	if (!policy)
		return false;
	copy = srpol_copy(READ_ONCE(policy->ver), gen);
	return policy->cfg[copy].flags & SRPOL_POLICY_SYMMETRIC;
}

/**
 * srpol_classify - decide how the flow of a packet is steered
 * @skb: packet, NULL at XDP
 * @pkt: the same packet, parsed, its flow key complete
 * @order: rules in force
 * @index: index of these rules
 * @now: epoch and generation that the rules belong to
 * @d: result
 * @tried: set to the number of rules tried, up to the one that matches
 *
 * Return: the rule that matches, NULL if none does.
 */
static __always_inline struct srpol_dp_rule *
srpol_classify(struct __sk_buff *skb, const struct srpol_pkt *pkt,
	       const struct srpol_rule_order *order,
	       const struct srpol_rule_index *index,
	       const union srpol_now *now, struct srpol_decision *d,
	       __u32 *tried)
{
	struct srpol_dp_rule *rule;
	__u32 policy, nr;

	d->head.word = 0;
	d->head.how = SRPOL_HOW_INHERIT;
	d->head.epoch = now->epoch;
	d->cache.word = 0;
	d->cache.path = SRPOL_REASON_NO_RULE;
	d->nr = srpol_flow_spare();
	d->rule_id = 0;
	d->rule_path = 0;
	srpol_flow_hash(pkt, d);

	nr = skb ? srpol_rule_number_skb(skb, pkt, order, index) :
		   srpol_rule_number_xdp(pkt, order, index);
	*tried = nr ?: order->n;
	if (!nr || nr > SRPOL_MAX_RULES)
		return NULL;
	rule = bpf_map_lookup_elem(&rules, &order->slot[nr - 1]);
	if (!rule)
		return NULL;
	d->rule_id = rule->id;
	d->rule_path = rule->path;
	d->head.how = srpol_how(rule->mode, rule->ordering);
	d->cache.path = SRPOL_REASON_BYPASS;
	if (!rule->color)
		return rule;
	policy = srpol_policy_find(rule->color, pkt->key.daddr, now->gen);
	if (policy && srpol_policy_symmetric(policy, now->gen))
		d->hash = srpol_flow_hash_symmetric(pkt);
	d->cache.policy = policy;
	d->cache.path = policy ? 0 : SRPOL_REASON_NO_POLICY;
	return rule;
}

#endif /* _SRPOL_CLASSIFY_H */
