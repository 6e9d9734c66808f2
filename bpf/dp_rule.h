/* SPDX-License-Identifier: GPL-2.0 */
/* Methods: rules and their order. */
#ifndef _SRPOL_DP_RULE_H
#define _SRPOL_DP_RULE_H

#include "base.h"
#include "dp_clear.h"
#include "dp_rule_index.h"
#include "dp_stage.h"
#include "maps.h"
#include "state.h"

/* Does a rule in force use the counters of this id? */
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
		rule = bpf_map_lookup_elem(&rules, &order->slot[i]);
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

/*
 * Check that all values are numbers of slots. With @order, store them there,
 * too.
 */
static __always_inline int srpol_slots_read(struct srpol_rule_order *order,
					    const __u32 *slot, __u32 n)
{
	__u32 i, v;

	bpf_for(i, 0, SRPOL_MAX_RULES) {
		if (i >= n)
			break;
		if (bpf_probe_read_kernel(&v, sizeof(v), slot + i))
			return -EFAULT;
		if (srpol_id_check(v, 2 * SRPOL_MAX_RULES))
			return -EINVAL;
		if (order && i < SRPOL_MAX_RULES)
			order->slot[i] = v;
	}
	return 0;
}

/**
 * srpol_apply_rule_table - stage a new order of rules
 * @arg: table
 * @slot: kernel address of the slots; @arg->slot, except in tests
 *
 * Return: 0 or a negative error code; on -ENOSPC and -EINVAL nothing is
 * changed.
 */
static __always_inline int
srpol_apply_rule_table(const struct srpol_dp_rule_table *arg,
			const void *slot)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_rule_index *index;
	struct srpol_rule_order *order;
	__u32 head[2];	/* n, key */
	__u32 n, copy;
	int err;

	if (!st || bpf_probe_read_kernel(head, sizeof(head), arg))
		return -EFAULT;
	n = head[0];
	if (n > SRPOL_MAX_RULES)
		return -ENOSPC;
	/*
	 * check all of them first: an order may be staged in this copy already
	 */
	err = srpol_slots_read(NULL, slot, n);
	if (err)
		return err;
	copy = srpol_spare(st->order_ver, st->gen);
	order = bpf_map_lookup_elem(&rule_order, &copy);
	index = bpf_map_lookup_elem(&rule_index, &copy);
	if (!order || !index)
		return -EFAULT;
	err = srpol_slots_read(order, slot, n);
	if (err)
		return err;
	if (bpf_probe_read_kernel(order->opclass, sizeof(order->opclass),
				  arg->opclass))
		return -EFAULT;
	order->n = n;
	order->key = head[1];
	srpol_index_make(index, order);
	srpol_stage(&st->order_ver, st->gen, copy);
	return 0;
}

#endif /* _SRPOL_DP_RULE_H */
