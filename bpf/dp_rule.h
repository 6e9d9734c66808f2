/* SPDX-License-Identifier: GPL-2.0 */
/* Methods: rules and their order. */
#ifndef _SRPOL_DP_RULE_H
#define _SRPOL_DP_RULE_H

#include "base.h"
#include "dp_clear.h"
#include "dp_stage.h"
#include "maps.h"
#include "state.h"

/* Does a rule in force use these counters? */
static __always_inline bool srpol_rule_id_used(__u32 id)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_rule_order *order;
	struct srpol_dp_rule *rule;
	__u32 i;

	if (!st)
		return false;
	order = srpol_order(st, st->gen);
	if (!order)
		return false;
	bpf_for(i, 0, SRPOL_MAX_RULES) {
		if (i >= order->n || i >= SRPOL_MAX_RULES)
			break;
		rule = bpf_map_lookup_elem(&rules, &order->hint[i].slot);
		if (rule && rule->id == id)
			return true;
	}
	return false;
}

static __always_inline int srpol_apply_rule(const struct srpol_dp_rule *arg)
{
	struct srpol_dp_rule *rule;
	__u32 head[2];	/* slot, id */
	__u8 how[2];	/* mode, ordering */
	int err;

	if (bpf_probe_read_kernel(head, sizeof(head), arg) ||
	    bpf_probe_read_kernel(how, sizeof(how), &arg->mode))
		return -EFAULT;
	err = srpol_id_check(head[0], 2 * SRPOL_MAX_RULES);
	if (!err)
		err = srpol_id_check(head[1], SRPOL_MAX_RULES);
	if (err)
		return err;
	if ((how[0] > SRPOL_LB_MODE_ON_CONGESTION &&
	     how[0] != SRPOL_MODE_INHERIT) ||
	    how[1] > SRPOL_ORDERING_WEAK)
		return -EINVAL;
	rule = bpf_map_lookup_elem(&rules, &head[0]);
	if (!rule)
		return -ENOSPC;
	if (!srpol_rule_id_used(head[1]))
		srpol_counter_clear(&rule_stats, head[1]);
	if (bpf_probe_read_kernel(rule, sizeof(*rule), arg))
		return -EFAULT;
	return 0;
}

static __always_inline int srpol_slots_check(const __u32 *slot, __u32 n)
{
	__u32 i, v;

	bpf_for(i, 0, SRPOL_MAX_RULES) {
		if (i >= n)
			break;
		if (bpf_probe_read_kernel(&v, sizeof(v), slot + i))
			return -EFAULT;
		if (srpol_id_check(v, 2 * SRPOL_MAX_RULES))
			return -EINVAL;
	}
	return 0;
}

/* The words of the flow key with addresses: source, destination. */
#define SRPOL_HINT_SRC		0
#define SRPOL_HINT_DST		2

static __always_inline void srpol_hint_word(struct srpol_rule_hint *h,
					    __u32 word, const __u8 *value,
					    const __u8 *mask)
{
	if (h->mask || !*(const __u64 *)mask)
		return;
	h->word = word;
	h->mask = *(const __u64 *)mask;
	h->value = *(const __u64 *)value;
}

/* The second half of an address differs more than the first; IPv4 is there. */
static __always_inline void srpol_hint_make(struct srpol_rule_hint *h,
					    const struct srpol_dp_rule *rule)
{
	__u32 m = rule->match;

	h->word = 0;
	h->mask = 0;
	h->value = 0;
	h->qp_min = 0;
	h->qp_more = ~0u;
	if (m & SRPOL_MATCH_QP) {
		h->qp_min = rule->qp[0];
		h->qp_more = rule->qp[1] - rule->qp[0];
	}
	if (m & SRPOL_MATCH_DST)
		srpol_hint_word(h, SRPOL_HINT_DST + 1, rule->dst + 8,
				rule->dst_mask + 8);
	if (m & SRPOL_MATCH_SRC)
		srpol_hint_word(h, SRPOL_HINT_SRC + 1, rule->src + 8,
				rule->src_mask + 8);
	if (m & SRPOL_MATCH_DST)
		srpol_hint_word(h, SRPOL_HINT_DST, rule->dst, rule->dst_mask);
	if (m & SRPOL_MATCH_SRC)
		srpol_hint_word(h, SRPOL_HINT_SRC, rule->src, rule->src_mask);
}

static __always_inline int srpol_hints_make(struct srpol_rule_order *order,
					    const __u32 *slot, __u32 n)
{
	struct srpol_rule_hint *h;
	struct srpol_dp_rule *rule;
	__u32 i;

	bpf_for(i, 0, SRPOL_MAX_RULES) {
		if (i >= n || i >= SRPOL_MAX_RULES)
			break;
		h = &order->hint[i];
		if (bpf_probe_read_kernel(&h->slot, sizeof(h->slot), slot + i))
			return -EFAULT;
		rule = bpf_map_lookup_elem(&rules, &h->slot);
		if (rule)
			srpol_hint_make(h, rule);
	}
	return 0;
}

/**
 * srpol_apply_rule_table - stage a new order of rules
 * @arg: table
 * @slot: kernel address of the slots; @arg->slot, except in tests
 */
static __always_inline int
srpol_apply_rule_table(const struct srpol_dp_rule_table *arg,
			const void *slot)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_rule_order *order;
	__u32 head[2];	/* n, key */
	__u32 n, copy;
	int err;

	if (!st || bpf_probe_read_kernel(head, sizeof(head), arg))
		return -EFAULT;
	n = head[0];
	if (n > SRPOL_MAX_RULES)
		return -ENOSPC;
	err = srpol_slots_check(slot, n);
	if (err)
		return err;
	copy = srpol_spare(st->order_ver, st->gen);
	order = bpf_map_lookup_elem(&rule_order, &copy);
	if (!order)
		return -EFAULT;
	if (bpf_probe_read_kernel(order->opclass, sizeof(order->opclass),
				  arg->opclass))
		return -EFAULT;
	err = srpol_hints_make(order, slot, n);
	if (err)
		return err;
	order->n = n;
	order->key = head[1];
	srpol_stage(&st->order_ver, st->gen, copy);
	return 0;
}

#endif /* _SRPOL_DP_RULE_H */
