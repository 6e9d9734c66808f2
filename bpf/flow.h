/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flow of a packet: looked up, or classified and entered in the table. What
 * is counted in an entry may be lost, or be counted for another flow, if the
 * entry is given to that flow at this moment. But a packet is never steered by
 * another flow's decision.
 */
#ifndef _SRPOL_FLOW_H
#define _SRPOL_FLOW_H

#include "base.h"
#include "classify.h"
#include "flow_key.h"
#include "flow_table.h"
#include "port_check.h"
#include "sid.h"
#include "state.h"

/* Initialize the entry of a flow of which no packet has been seen. */
static __always_inline void srpol_flow_begin(struct srpol_flow *flow,
					     struct srpol_flow_detail *detail)
{
	flow->path = 0;
	/* Not this tick, so that the time of the first packet is taken. */
	flow->tick = bpf_jiffies64() - 1;
	flow->psn_next = SRPOL_PSN_UNKNOWN;
	flow->packets = 0;
	flow->bytes = 0;
	flow->last_ns = 0;
	detail->pending_ns = 0;
	detail->offer_tick = 0;
	detail->bound = 0;
	detail->offers = 0;
	detail->retransmits = 0;
	detail->flowlets = 0;
	detail->moves = 0;
	detail->cnp = 0;
	detail->nak = 0;
}

/* Write to an entry what was decided, apart from its key, head and cache. */
static __always_inline void srpol_flow_describe(struct srpol_flow *flow,
						struct srpol_flow_detail *detail,
						const struct srpol_decision *d)
{
	__u32 mode = d->head.how & SRPOL_HOW_MODE;

	flow->hash = d->hash;
	flow->tuple_hash = d->tuple_hash;
	flow->rule_id = d->rule_id;
	detail->rule_path = d->rule_path;
	detail->policy = d->cache.policy;
	detail->mode = mode == SRPOL_HOW_INHERIT ? SRPOL_MODE_INHERIT : mode;
	detail->ordering = srpol_how_ordering(d->head.how);
	detail->verdict = d->cache.policy ? 0 : d->cache.path;
	/* No packet of it will be steered before it is decided again. */
	if (!d->cache.policy)
		flow->path = 0;
}

/*
 * Write a flow into entry @nr, whose head was @from. @fresh: the entry was free
 * or another flow's. Return: false if another CPU has changed the entry first.
 */
static __always_inline bool
srpol_flow_fill(const struct srpol_flow_spot *spot, __u32 nr,
		union srpol_flow_head from, const struct srpol_flow_key *key,
		bool fresh, struct srpol_decision *d)
{
	struct srpol_flow_detail *detail = srpol_flow_detail(&nr);
	struct srpol_flow *flow = srpol_flow_entry(nr);
	struct srpol_flow_set *set;

	if (!flow || !detail || from.tag == SRPOL_TAG_CLAIMED ||
	    !srpol_flow_take(flow, from, SRPOL_TAG_CLAIMED))
		return false;
	if (fresh) {
		srpol_copy_words(&flow->key, key, sizeof(*key));
		srpol_flow_begin(flow, detail);
	}
	srpol_flow_describe(flow, detail, d);
	WRITE_ONCE(flow->cache.word, d->cache.word);
	d->head.tag = spot->tag;
	d->head.turn = from.turn + 1;
	/* Nobody else changes the head of a claimed entry. */
	__sync_lock_test_and_set(&flow->head.word, d->head.word);
	d->nr = nr;
	if (!fresh)
		return true;
	set = bpf_map_lookup_elem(&flow_sets, &spot->set);
	if (set)
		WRITE_ONCE(set->tag[nr % SRPOL_FLOW_SLOTS], spot->tag);
	d->nr = srpol_flow_only(key, spot, nr, d->head);
	return true;
}

/*
 * Does the flow keep its path? It does if policy, mode, ordering and the rule's
 * path are as before.
 */
static __always_inline bool
srpol_flow_goes_on(const struct srpol_flow_detail *detail,
		   const struct srpol_decision *old,
		   const struct srpol_decision *d)
{
	return d->cache.policy && old->cache.policy == d->cache.policy &&
	       old->head.how == d->head.how && detail &&
	       detail->rule_path == d->rule_path;
}

/*
 * Prepare a spare entry for a packet of a flow that has none: what modes read is
 * of this flow, and not of the flow that had a packet there before.
 */
static __always_inline void srpol_flow_use_spare(const struct srpol_decision *d)
{
	struct srpol_flow_detail *detail = srpol_flow_detail(&d->nr);
	struct srpol_flow *flow = srpol_flow_entry(d->nr);

	if (!flow || !detail)
		return;
	flow->hash = d->hash;
	detail->rule_path = d->rule_path;
	detail->flowlets = 0;
	detail->moves = 0;
	detail->pending_ns = 0;
}

/*
 * Enter a decision in the table. A flow that is in the table, as @old, keeps
 * its entry; it keeps its path as well if srpol_flow_goes_on(). If there is no
 * entry to be had, @d->nr is that of a spare one.
 */
static __always_inline void
srpol_flow_put(const struct srpol_flow_spot *spot,
	       const struct srpol_flow_key *key,
	       const struct srpol_decision *old, struct srpol_decision *d)
{
	struct srpol_flow_detail *detail;
	struct srpol_flow *flow;
	__u32 i, nr;

	if (!old) {
		i = srpol_flow_victim(spot, key);
		nr = spot->set * SRPOL_FLOW_SLOTS + i;
		flow = srpol_flow_entry(nr);
		if (i < SRPOL_FLOW_SLOTS && flow &&
		    srpol_flow_fill(spot, nr, srpol_head_read(flow), key, true,
				    d))
			return;
	} else {
		detail = srpol_flow_detail(&old->nr);
		if (srpol_flow_goes_on(detail, old, d))
			d->cache = old->cache;
		else if (detail)
			detail->pending_ns = 0;
		if (srpol_flow_fill(spot, old->nr, old->head, key, false, d))
			return;
	}
	d->nr = srpol_flow_spare();
	srpol_flow_use_spare(d);
}

/**
 * srpol_flow_keep - enter the decision about a flow in the table
 * @key: key of the flow
 * @d: decision; if the table has the same one, made meanwhile by another CPU,
 *	or before for a flow that srpol_flow_find() does not find, it is
 *	replaced by that. The same one has the same policy, too: that of a
 *	binding SID is read before the epoch, and may be the one it had before.
 *
 * Return: number of the flow's entry, or of a spare one.
 */
__noinline __u32
srpol_flow_keep(const struct srpol_flow_key *key __arg_nonnull,
		struct srpol_decision *d __arg_nonnull)
{
	struct srpol_flow_spot spot = srpol_flow_locate(key);
	struct srpol_decision known;

	if (!srpol_flow_search(key, &spot, &known))
		srpol_flow_put(&spot, key, NULL, d);
	else if (known.head.epoch == d->head.epoch &&
		 known.head.how == d->head.how &&
		 known.cache.policy == d->cache.policy)
		*d = known;
	else
		srpol_flow_put(&spot, key, &known, d);
	return d->nr;
}

/*
 * A flow is refused that may have been steered before, on a path that its entry still
 * has. That is looked for here alone: to remember the entry would burden all others.
 */
__noinline int srpol_flow_stop(const struct srpol_flow_key *key __arg_nonnull)
{
	struct srpol_flow_spot spot = srpol_flow_locate(key);
	struct srpol_decision known;
	struct srpol_flow *flow = srpol_flow_search(key, &spot, &known);

	if (flow)
		flow->path = 0;
	return 0;
}

/* Note in the decision that a packet goes where only the SR domain may send to. */
static __always_inline void srpol_flow_inside(struct srpol_state *st, __u32 gen,
					      const struct srpol_pkt *pkt,
					      struct srpol_decision *d)
{
	if (!pkt->is_v4 && srpol_inside(st, gen, (void *)pkt->key.daddr))
		d->head.how |= SRPOL_HOW_INSIDE;
}

/*
 * Decide how to steer a flow. The decision is as of the generation read here,
 * and the rest of the program goes on with that generation, in @now: what was
 * decided by old rules must never carry a new epoch. Return: false if there are
 * no rules.
 */
static __always_inline bool
srpol_flow_decide(struct __sk_buff *skb, struct srpol_pkt *pkt,
		  const bool port, union srpol_now *now,
		  struct srpol_decision *d)
{
	struct srpol_state *st = srpol_state_get();
	struct srpol_rule_index *index;
	struct srpol_rule_order *order;
	__u32 tried;

	if (!st)
		return false;
	*now = srpol_now_sync(st);
	if (!srpol_order_index(st, now->gen, &order, &index))
		return false;
	srpol_flow_identify_again(skb, pkt, port, order);
	srpol_classify(skb, pkt, order, index, now, d, &tried);
	srpol_flow_inside(st, now->gen, pkt, d);
	return true;
}

/* Count that a flow took another path than before. */
static __noinline int srpol_flow_moved(__u32 nr)
{
	struct srpol_flow_detail *detail = srpol_flow_detail(&nr);

	if (detail)
		detail->moves++;
	return 0;
}

/* Global, so that the verifier checks them once. */
__noinline bool
srpol_flow_decide_skb(struct __sk_buff *skb,
		      struct srpol_pkt *pkt __arg_nonnull,
		      union srpol_now *now __arg_nonnull,
		      struct srpol_decision *d __arg_nonnull)
{
	return srpol_flow_decide(skb, pkt, false, now, d);
}

/*
 * For ports, where @skb is NULL: a sender's cgroup is known on its own host
 * only.
 */
__noinline bool
srpol_flow_decide_port(struct srpol_pkt *pkt __arg_nonnull,
		       union srpol_now *now __arg_nonnull,
		       struct srpol_decision *d __arg_nonnull)
{
	return srpol_flow_decide(NULL, pkt, true, now, d);
}

/*
 * The same for a packet that came in by a port, which may be refused to send
 * it.
 */
static __always_inline struct srpol_flow *
srpol_flow_of_port(void *ctx, struct srpol_pkt *pkt, const __u32 hook,
		   union srpol_now *now, struct srpol_decision *d)
{
	__u64 found = srpol_port_check(ctx, hook, pkt);
	struct srpol_flow *flow;

	if (found & SRPOL_HOW_SPOOFED) {
		d->head.how = SRPOL_HOW_SPOOFED;
		srpol_flow_stop(&pkt->key);
		return srpol_flow_entry(srpol_flow_spare());
	}
	if (!srpol_flow_decide_port(pkt, now, d))
		return NULL;
	d->head.how |= found;
	flow = srpol_flow_entry(srpol_flow_keep(&pkt->key, d));
	if (!flow)
		return NULL;
	flow->port_gen = found >> 32;
	/* The same; but what this host itself sends into the SR domain is steered. */
	if (d->head.how & SRPOL_HOW_NOT_FOR_PORTS)
		flow->path = 0;
	return flow;
}

/*
 * Are the routes as they were when the flow was decided? Compared once per
 * tick.
 */
static __always_inline bool srpol_flow_fresh(void *ctx, const __u32 hook,
					     const struct srpol_pkt *pkt,
					     const struct srpol_flow *flow)
{
	return flow->tick == (__u32)bpf_jiffies64() ||
	       flow->port_gen == srpol_port_gen(ctx, hook, pkt);
}

/**
 * srpol_flow_get - the flow of a packet, and the decision about it
 * @ctx: packet
 * @pkt: the same packet, parsed
 * @hook: enum srpol_port_hook: the hook of the host port it came in by, if any
 * @st: state of the data plane
 * @now: epoch and generation; updated if the flow is decided again
 * @d: the decision
 *
 * Return: the flow's entry, or a spare one; NULL if there are no rules.
 */
static __always_inline struct srpol_flow *
srpol_flow_get(void *ctx, struct srpol_pkt *pkt, const __u32 hook,
	       struct srpol_state *st, union srpol_now *now,
	       struct srpol_decision *d)
{
	struct srpol_rule_order *order = srpol_order(st, now->gen);
	struct srpol_flow_spot spot;
	/*
	 * The slow path needs the address of this one; @now can stay in a
	 * register.
	 */
	union srpol_now fresh;
	struct srpol_flow *flow;

	if (!order || !order->n)
		return NULL;
	srpol_flow_identify(hook ? NULL : ctx, pkt, hook, order);
	spot = srpol_flow_locate(&pkt->key);
	flow = srpol_flow_find(&pkt->key, &spot, d);
	if (flow && d->head.epoch == now->epoch &&
	    (!hook || srpol_flow_fresh(ctx, hook, pkt, flow)))
		return flow;
	if (hook) {
		flow = srpol_flow_of_port(ctx, pkt, hook, &fresh, d);
		/*
		 * @fresh is not set for a packet that is refused, and so
		 * dropped
		 */
		if (flow && !(d->head.how & SRPOL_HOW_SPOOFED))
			*now = fresh;
		return flow;
	}
	if (!srpol_flow_decide_skb(ctx, pkt, &fresh, d))
		return NULL;
	flow = srpol_flow_entry(srpol_flow_keep(&pkt->key, d));
	if (flow)
		*now = fresh;
	return flow;
}

/*
 * CLOCK_MONOTONIC, coarse. It moves once per tick, and the call that reads it
 * costs as much as a cache miss, where processors have to guard returns. So a
 * CPU calls it for its first packet in a tick only.
 */
static __always_inline __u64 srpol_tick_ns(__u32 tick)
{
	__u32 zero = 0;
	struct srpol_tick *t = bpf_map_lookup_elem(&tick_time, &zero);

	if (!t)
		return 0;
	if (t->tick != tick || !t->ns) {
		t->ns = bpf_ktime_get_coarse_ns();
		t->tick = tick;
	}
	return t->ns;
}

/**
 * srpol_flow_account - count a packet of a flow
 * @flow: the flow's entry
 * @bytes: length of the packet
 * @exact: the mode has noted the time already
 *
 * The clock is looked at once per tick, as the flow's entry tells.
 */
static __always_inline void srpol_flow_account(struct srpol_flow *flow,
					       __u32 bytes, bool exact)
{
	__u32 tick = bpf_jiffies64();

	flow->packets++;
	flow->bytes += bytes;
	if (flow->tick == tick)
		return;
	flow->tick = tick;
	if (!exact)
		flow->last_ns = srpol_tick_ns(tick);
}

#endif /* _SRPOL_FLOW_H */
