/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of flows: sets of SRPOL_FLOW_SLOTS entries, found by a tag.
 *
 * DOC: flow table
 *
 * An LRU hash map would do, at two to four times the cost: it hashes the 64
 * bytes of the key by lookup3, and takes locks to evict. Here the key is hashed
 * by one multiplication for each 8 bytes. The tags of a set, 16 bits of the
 * hash for each of its entries, say where to look; they are few enough to stay
 * in the cache. Most flows are in the slot where they are looked for first,
 * which the hash says, too: a processor that has learnt to expect this reads
 * the entry before it knows. An entry begins with what a packet is steered by,
 * and two lines of the cache have all that a packet needs.
 *
 * Nobody's decision is used for another flow:
 *
 * - A reader reads the head, then the key, which is compared as a whole, and
 *   the cache and what else was decided, and then the head again. It uses what
 *   it read only if the head is the same: @turn changes whenever the entry is
 *   claimed or freed.
 * - Who fills an entry claims it by a compare-and-exchange of the head, writes
 *   the rest, and then exchanges the head for the new one. Both are atomic
 *   operations that return the old value, which are full barriers.
 * - Who changes a flow's path does it by a compare-and-exchange of the whole
 *   cache, policy and all. If the entry went to another flow meanwhile it
 *   fails, unless that flow has the same policy and the same path as this one
 *   had; then it gets another path of its own policy.
 *
 * The order of the reader's loads is kept by their addresses, see
 * srpol_after(); on x86 it is kept anyhow. The atomic operations are BPF_CMPXCHG
 * and BPF_XCHG: lock cmpxchg and xchg on x86; on arm64 casal and swpal, or loops
 * of ldxr and stlxr with a dmb ish behind them.
 *
 * A flow that is classified again keeps its entry. When a set is full the flow
 * goes that was idle longest. When two processors make the same flow at once,
 * at least one of them sees the other's entry when its own is there; the first
 * of the set stays. A packet whose flow finds no entry is steered all the same,
 * and nothing is remembered of it.
 */
#ifndef _SRPOL_FLOW_TABLE_H
#define _SRPOL_FLOW_TABLE_H

#include "base.h"
#include "maps.h"
#include "words.h"

/*
 * Multipliers of the words of a key, odd. User space that loads the program
 * puts random ones in their place, so that nobody can make flows that all fall
 * into one set.
 */
const volatile __u64 srpol_flow_mix[SRPOL_FLOW_WORDS] = {
	0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9,
	0xd6e8feb86659fd93, 0xa0761d6478bd642f, 0xe7037ed1a0b428db,
	0x8ebc6af09c88c6e3, 0x589965cc75374cc3,
};

/**
 * struct srpol_flow_spot - where a flow belongs
 * @set: set
 * @tag: its tag there
 * @first: slot where it is looked for first
 */
struct srpol_flow_spot {
	__u32 set;
	__u32 tag;
	__u32 first;
};

/* @key: on the stack, in a map or in an entry. */
static __always_inline struct srpol_flow_spot
srpol_flow_locate(const struct srpol_flow_key *key)
{
	const __u64 *w = (const __u64 *)key;
	struct srpol_flow_spot spot;
	__u64 h = 0;
	__u32 i;

#pragma unroll
	for (i = 0; i < SRPOL_FLOW_WORDS; i++)
		h += w[i] * srpol_flow_mix[i];
	h ^= h >> 32;
	h *= srpol_flow_mix[0];
	spot.set = h >> (64 - SRPOL_FLOW_SET_BITS);
	spot.tag = (h >> 16 & 0xffff) | 1;
	spot.first = h >> 32;
	return spot;
}

/* What is different about two keys; 0: nothing. */
static __always_inline __u64
srpol_flow_key_differ(const struct srpol_flow_key *a,
		      const struct srpol_flow_key *b)
{
	const __u64 *x = (const __u64 *)a;
	const __u64 *y = (const __u64 *)b;
	__u64 differ = 0;
	__u32 i;

#pragma unroll
	for (i = 0; i < SRPOL_FLOW_WORDS; i++)
		differ |= x[i] ^ y[i];
	return differ;
}

/* The same, out of line: for those who compare in loops. */
static __noinline __u64
srpol_flow_key_other(const struct srpol_flow_key *a,
		     const struct srpol_flow_key *b)
{
	return srpol_flow_key_differ(a, b);
}

static __always_inline struct srpol_flow *srpol_flow_entry(__u32 nr)
{
	return bpf_map_lookup_elem(&flows, &nr);
}

/* Number of the entry for packets whose flow finds none. */
static __always_inline __u32 srpol_flow_spare(void)
{
	return SRPOL_MAX_FLOWS +
	       bpf_get_smp_processor_id() % SRPOL_FLOW_SPARES;
}

static __always_inline union srpol_flow_head
srpol_head_read(const struct srpol_flow *flow)
{
	union srpol_flow_head head = { .word = READ_ONCE(flow->head.word) };

	return head;
}

/* False if the head is not @from any more. */
static __always_inline bool srpol_head_swap(struct srpol_flow *flow,
					    union srpol_flow_head from,
					    union srpol_flow_head to)
{
	return __sync_val_compare_and_swap(&flow->head.word, from.word,
					   to.word) == from.word;
}

/* Take an entry out of use. False if its head is not @from any more. */
static __always_inline bool srpol_flow_take(struct srpol_flow *flow,
					    union srpol_flow_head from,
					    __u16 tag)
{
	union srpol_flow_head to = from;

	to.tag = tag;
	to.turn++;
	return srpol_head_swap(flow, from, to);
}

/**
 * srpol_flow_cache - remember a flow's path
 * @flow: its entry
 * @from: what the packet found there
 * @to: what is to be there
 *
 * Nothing happens if it is not @from any more.
 */
static __always_inline void srpol_flow_cache(struct srpol_flow *flow,
					     union srpol_flow_cache from,
					     union srpol_flow_cache to)
{
	__sync_val_compare_and_swap(&flow->cache.word, from.word, to.word);
}

/**
 * struct srpol_decision - what was decided about a flow, as of one moment; see
 * struct srpol_flow
 * @head: head of its entry
 * @cache: its policy, and the path it has there
 * @nr: number of its entry
 * @hash: position on the bucket table
 * @tuple_hash: hash of addresses and ports
 * @rule_id: index of the rule's counters, 0: no rule matched
 * @rule_path: of a flow that was just classified: path that its rule names, or 0
 */
struct srpol_decision {
	union srpol_flow_head head;
	union srpol_flow_cache cache;
	__u32 nr;
	__u32 hash;
	__u32 tuple_hash;
	__u16 rule_id;
	__u16 rule_path;
};

_Static_assert(SRPOL_MAX_RULES <= 65536, "struct srpol_decision");

_Static_assert(SRPOL_LB_MODE_ON_CONGESTION < SRPOL_HOW_INHERIT,
	       "SRPOL_HOW_MODE");

/* Of a rule's mode and ordering. */
static __always_inline __u8 srpol_how(__u32 mode, __u32 ordering)
{
	if (mode == SRPOL_MODE_INHERIT)
		mode = SRPOL_HOW_INHERIT;
	return mode | ordering << 3;
}

/* Of union srpol_flow_head.how: enum srpol_ordering. */
static __always_inline __u32 srpol_how_ordering(__u32 how)
{
	return (how & SRPOL_HOW_ORDERING) >> 3;
}

/*
 * Is the flow in entry @nr? @loop: one of several. Return: the entry, with @d
 * filled in, or NULL.
 */
static __always_inline struct srpol_flow *
srpol_flow_check(const struct srpol_flow_key *key, __u32 tag, __u32 nr,
		 const bool loop, struct srpol_decision *d)
{
	struct srpol_flow *flow = srpol_flow_entry(nr);
	__u32 rule_id;
	__u64 differ, zero;

	if (!flow)
		return NULL;
	d->nr = nr;
	d->head = srpol_head_read(flow);
	zero = srpol_after(d->head.word);
	d->cache.word = READ_ONCE(*(&flow->cache.word + zero));
	differ = loop ? srpol_flow_key_other(&flow->key + zero, key) :
			srpol_flow_key_differ(&flow->key + zero, key);
	d->hash = READ_ONCE(*(&flow->hash + zero));
	d->tuple_hash = READ_ONCE(*(&flow->tuple_hash + zero));
	rule_id = READ_ONCE(*(&flow->rule_id + zero));
	d->rule_id = rule_id;
	zero = srpol_after(differ | d->cache.word | d->hash | d->tuple_hash |
			   rule_id);
	if (differ || d->head.tag != tag ||
	    READ_ONCE(*(&flow->head.word + zero)) != d->head.word)
		return NULL;
	return flow;
}

/* The @n-th slot to look at. */
static __always_inline __u32 srpol_flow_probe(const struct srpol_flow_spot *spot,
					      __u32 n)
{
	return (spot->first + n) % SRPOL_FLOW_SLOTS;
}

/**
 * srpol_flow_find - look a flow up
 * @key: its key
 * @spot: where it belongs
 * @d: result
 *
 * Of two flows with the same tag in a set the second one is not found here, but
 * by srpol_flow_search().
 *
 * Return: its entry, NULL if it has none.
 */
static __always_inline struct srpol_flow *
srpol_flow_find(const struct srpol_flow_key *key,
		const struct srpol_flow_spot *spot, struct srpol_decision *d)
{
	struct srpol_flow_set *set;
	__u32 i, n;

	set = bpf_map_lookup_elem(&flow_sets, &spot->set);
	if (!set)
		return NULL;
#pragma unroll
	for (n = 0; n < SRPOL_FLOW_SLOTS; n++) {
		i = srpol_flow_probe(spot, n);
		if (READ_ONCE(set->tag[i]) == spot->tag)
			break;
	}
	if (n == SRPOL_FLOW_SLOTS)
		return NULL;
	/* Whichever it is: the verifier need not go on with each of them. */
	barrier_var(i);
	return srpol_flow_check(key, spot->tag,
				spot->set * SRPOL_FLOW_SLOTS + i, false, d);
}

/* The same in all entries, whatever the tags say; more slowly. */
static __always_inline struct srpol_flow *
srpol_flow_search(const struct srpol_flow_key *key,
		  const struct srpol_flow_spot *spot, struct srpol_decision *d)
{
	struct srpol_flow *flow;
	__u32 i;

	bpf_for(i, 0, SRPOL_FLOW_SLOTS) {
		flow = srpol_flow_check(key, spot->tag,
					spot->set * SRPOL_FLOW_SLOTS + i, true,
					d);
		if (flow)
			return flow;
	}
	return NULL;
}

/* The same for who has nothing but the key. */
static __noinline struct srpol_flow *
srpol_flow_of(const struct srpol_flow_key *key, struct srpol_decision *d)
{
	struct srpol_flow_spot spot = srpol_flow_locate(key);

	return srpol_flow_search(key, &spot, d);
}

/*
 * The slot for a new flow: a free one, else that of the flow that was idle
 * longest. SRPOL_FLOW_SLOTS if there is none, as all are being filled, or as
 * one is, at this moment, with this very flow.
 */
static __always_inline __u32
srpol_flow_victim(const struct srpol_flow_spot *spot,
		  const struct srpol_flow_key *key)
{
	__u32 tick = bpf_jiffies64(), victim = SRPOL_FLOW_SLOTS;
	__u64 oldest = 0, age;
	struct srpol_flow *flow;
	__u32 n, i, tag;

	bpf_for(n, 0, SRPOL_FLOW_SLOTS) {
		i = srpol_flow_probe(spot, n);
		flow = srpol_flow_entry(spot->set * SRPOL_FLOW_SLOTS + i);
		if (!flow)
			return SRPOL_FLOW_SLOTS;
		tag = srpol_head_read(flow).tag;
		if (tag == SRPOL_TAG_CLAIMED) {
			if (!srpol_flow_key_other(&flow->key, key))
				return SRPOL_FLOW_SLOTS;
			continue;
		}
		/* Free ones are older than any other. */
		age = tag == SRPOL_TAG_FREE ? 1ull << 32 :
					      (__u32)(tick - flow->tick);
		if (victim == SRPOL_FLOW_SLOTS || age > oldest) {
			victim = i;
			oldest = age;
		}
	}
	return victim;
}

/*
 * The flow has entry @mine now, whose head is @head: no other is to have it.
 * Return: number of the one it keeps.
 */
static __always_inline __u32
srpol_flow_only(const struct srpol_flow_key *key,
		const struct srpol_flow_spot *spot, __u32 mine,
		union srpol_flow_head head)
{
	union srpol_flow_head other;
	struct srpol_flow *flow;
	__u32 i, nr;

	bpf_for(i, 0, SRPOL_FLOW_SLOTS) {
		nr = spot->set * SRPOL_FLOW_SLOTS + i;
		flow = srpol_flow_entry(nr);
		if (!flow || nr == mine)
			continue;
		other = srpol_head_read(flow);
		if (other.tag != spot->tag ||
		    srpol_flow_key_other(&flow->key +
					 srpol_after(other.word), key))
			continue;
		if (nr > mine || other.epoch != head.epoch) {
			srpol_flow_take(flow, other, SRPOL_TAG_FREE);
			continue;
		}
		flow = srpol_flow_entry(mine);
		if (flow)
			srpol_flow_take(flow, head, SRPOL_TAG_FREE);
		return nr;
	}
	return mine;
}

#endif /* _SRPOL_FLOW_TABLE_H */
