/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Settings, epoch and generation as a packet sees them; srpol_maps.h, DOC:
 * generations.
 */
#ifndef _SRPOL_STATE_H
#define _SRPOL_STATE_H

#include "base.h"
#include "maps.h"

/* Epoch and generation: read and written in one access. */
union srpol_now {
	struct {
		__u32 epoch;
		__u32 gen;
	};
	__u64 word;
};

static __always_inline struct srpol_state *srpol_state_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&state, &zero);
}

static __always_inline __u64 *srpol_now_word(struct srpol_state *st)
{
	_Static_assert(__builtin_offsetof(struct srpol_state, gen) ==
		       __builtin_offsetof(struct srpol_state, epoch) +
		       sizeof(__u32), "one word");
	return (__u64 *)&st->epoch;
}

static __always_inline union srpol_now srpol_now_read(struct srpol_state *st)
{
	union srpol_now now = { .word = READ_ONCE(*srpol_now_word(st)) };

	return now;
}

/*
 * The same, followed by a full barrier: what is read from here on is at least
 * as new as this generation. For decisions that are remembered.
 */
static __always_inline union srpol_now srpol_now_sync(struct srpol_state *st)
{
	union srpol_now now = {
		.word = __sync_fetch_and_add(srpol_now_word(st), 0)
	};

	return now;
}

static __always_inline struct srpol_dp_config *
srpol_config(struct srpol_state *st, __u32 gen)
{
	return &st->cfg[srpol_copy(READ_ONCE(st->cfg_ver), gen)];
}

static __always_inline struct srpol_rule_order *
srpol_order(struct srpol_state *st, __u32 gen)
{
	__u32 copy = srpol_copy(READ_ONCE(st->order_ver), gen);

	return bpf_map_lookup_elem(&rule_order, &copy);
}

/* The same, with the index of these rules. Return: false if there is none. */
static __always_inline bool
srpol_order_index(struct srpol_state *st, __u32 gen,
		  struct srpol_rule_order **order,
		  struct srpol_rule_index **index)
{
	__u32 copy = srpol_copy(READ_ONCE(st->order_ver), gen);

	*order = bpf_map_lookup_elem(&rule_order, &copy);
	*index = bpf_map_lookup_elem(&rule_index, &copy);
	return *order && *index;
}

#endif /* _SRPOL_STATE_H */
