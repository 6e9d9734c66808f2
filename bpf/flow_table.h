/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flow table: sets of SRPOL_FLOW_SLOTS entries, which are found by a tag.
 *
 * DOC: flow table
 *
 * An LRU hash map would do, at two to four times the cost: it hashes the 64
 * bytes of the key by lookup3, and takes locks to evict. Here the key is hashed
 * with one multiplication for each 8 bytes or 4. The tags of a set, 16 bits of the
 * hash for each of its entries, say which entry to read; they are small enough
 * to stay in the cache. Most flows are in the slot that is looked at first,
 * which the hash selects as well: a processor that predicts this reads the
 * entry before the tag has arrived. An entry is two cache lines, which hold all
 * that most packets need; the rest is in another map.
 *
 * No packet is steered by the decision about another flow:
 *
 * - A reader reads the head, then the key, which it compares as a whole, the
 *   cache and the rest of the decision, and then the head again. It uses what
 *   it has read only if the head is still the same: @turn changes whenever the
 *   entry is claimed or freed.
 * - A writer claims the entry by a compare-and-exchange of the head, writes the
 *   rest, and then exchanges the head for the new one. Both are atomic
 *   operations that return the old value, which are full barriers.
 * - A flow's path is changed by a compare-and-exchange of the whole cache word,
 *   which includes the policy. If the entry was given to another flow
 *   meanwhile, this fails, unless that flow has the same policy and the same
 *   path as this one had; then that flow gets another path of its own policy.
 *
 * The reader's loads are kept in order by address dependencies, see
 * srpol_after(); x86 keeps their order anyway. The atomic operations are
 * BPF_CMPXCHG and BPF_XCHG: lock cmpxchg and xchg on x86; casal and swpal on
 * arm64, or loops of ldxr and stlxr followed by dmb ish.
 *
 * A flow that is classified again keeps its entry. When a set is full, the flow
 * that was idle longest is evicted. When two CPUs enter the same flow at once,
 * at least one of them sees the other's entry after writing its own; the entry
 * with the lower number stays. A packet whose flow finds no entry is steered
 * all the same, and nothing is remembered of it.
 */
#ifndef _SRPOL_FLOW_TABLE_H
#define _SRPOL_FLOW_TABLE_H

#include "base.h"
#include "maps.h"
#include "words.h"

/*
 * Multipliers for the words of a key, and for the second halves of those that are
 * halved; all are odd. User space replaces them by random ones when it loads the
 * programs, so that nobody can craft flows that all fall into one set.
 *
 * The upper bits of a word say nothing in the lower bits of its product: the top
 * bits of two words cancel for all odd multipliers. So of the words whose top bits
 * a sender chooses, all but one are taken by halves, the products of which cancel
 * for one in 2^32 choices of multipliers.
 */
const volatile __u64 srpol_flow_mix[SRPOL_FLOW_MIXES] = {
	0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9,
	0xd6e8feb86659fd93, 0xa0761d6478bd642f, 0xe7037ed1a0b428db,
	0x8ebc6af09c88c6e3, 0x589965cc75374cc3, 0xbf58476d1ce4e5b9,
	0x94d049bb133111eb, 0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53,
};

/**
 * struct srpol_flow_spot - where in the table a flow belongs
 * @set: number of its set
 * @tag: its tag in that set
 * @first: slot to look at first; taken modulo SRPOL_FLOW_SLOTS
 */
struct srpol_flow_spot {
	__u32 set;
	__u32 tag;
	__u32 first;
};

/* Where a flow belongs. @key may be on the stack, in a map or in an entry. */
static __always_inline struct srpol_flow_spot
srpol_flow_locate(const struct srpol_flow_key *key)
{
	const __u32 *half = (const __u32 *)key;
	const __u64 *w = (const __u64 *)key;
	struct srpol_flow_spot spot;
	__u64 h = 0;
	__u32 i;

#pragma unroll
	for (i = 0; i < SRPOL_FLOW_WORDS; i++) {
		if (srpol_flow_halved(i))
			h += half[2 * i] * srpol_flow_mix[i] + half[2 * i + 1] *
			     srpol_flow_mix[SRPOL_FLOW_WORDS + i];
		else
			h += w[i] * srpol_flow_mix[i];
		barrier_var(h);
	}
	h ^= h >> 32;
	h *= srpol_flow_mix[0];
	spot.set = h >> (64 - SRPOL_FLOW_SET_BITS);
	spot.tag = (h >> 16 & 0xffff) | 1;
	spot.first = h >> 32;
	return spot;
}

/* The bits in which two keys differ; 0 if the keys are the same. */
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

/* The same, out of line, for comparisons in loops. */
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

/*
 * What is rarely used of a flow. @nr is a pointer, since the number of a
 * decision's entry is on the stack already, where the map wants it.
 */
static __always_inline struct srpol_flow_detail *
srpol_flow_detail(const __u32 *nr)
{
	return bpf_map_lookup_elem(&flow_details, nr);
}

/* Number of the spare entry for packets whose flow finds no entry. */
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

/* Replace the head of an entry. Return: false if it was not @from any more. */
static __always_inline bool srpol_head_swap(struct srpol_flow *flow,
					    union srpol_flow_head from,
					    union srpol_flow_head to)
{
	return __sync_val_compare_and_swap(&flow->head.word, from.word,
					   to.word) == from.word;
}

/*
 * Claim or free an entry, as @tag says. Return: false if its head was not @from
 * any more.
 */
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
 * @flow: the flow's entry
 * @from: value of the cache that the packet found there
 * @to: new value
 *
 * Nothing happens if the value is not @from any more.
 */
static __always_inline void srpol_flow_cache(struct srpol_flow *flow,
					     union srpol_flow_cache from,
					     union srpol_flow_cache to)
{
	__sync_val_compare_and_swap(&flow->cache.word, from.word, to.word);
}

/**
 * struct srpol_decision - how a flow is steered, as of one moment; see struct
 *	srpol_flow
 * @head: head of its entry
 * @cache: its policy, and the path it has there
 * @nr: number of its entry
 * @hash: position on the bucket table
 * @tuple_hash: hash of addresses and ports
 * @rule_id: index of the rule's counters, 0: no rule matched
 * @rule_path: path that the rule names, or 0; set when a flow is classified
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

/* The @how of union srpol_flow_head, from a rule's mode and ordering. */
static __always_inline __u8 srpol_how(__u32 mode, __u32 ordering)
{
	if (mode == SRPOL_MODE_INHERIT)
		mode = SRPOL_HOW_INHERIT;
	return mode | ordering << 3;
}

/* enum srpol_ordering from the @how of union srpol_flow_head. */
static __always_inline __u32 srpol_how_ordering(__u32 how)
{
	return (how & SRPOL_HOW_ORDERING) >> 3;
}

/*
 * Does entry @nr hold the flow? @loop: the caller tries several entries, so
 * that keys are compared out of line. Return: the entry, with @d filled in, or
 * NULL.
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

/* The @n-th slot to look at in a set. */
static __always_inline __u32 srpol_flow_probe(const struct srpol_flow_spot *spot,
					      __u32 n)
{
	return (spot->first + n) % SRPOL_FLOW_SLOTS;
}

/**
 * srpol_flow_find - look up a flow
 * @key: key of the flow
 * @spot: where it belongs
 * @d: result
 *
 * Of two flows of a set that have the same tag, only the one that is looked at
 * first is found here. srpol_flow_search() finds the other one, too.
 *
 * Return: the flow's entry, NULL if it was not found.
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
	/*
	 * Hide the value, so that the verifier does not follow each slot
	 * separately.
	 */
	barrier_var(i);
	return srpol_flow_check(key, spot->tag,
				spot->set * SRPOL_FLOW_SLOTS + i, false, d);
}

/* The same, but in all entries of the set, whatever the tags say; slower. */
static __always_inline struct srpol_flow *
srpol_flow_search(const struct srpol_flow_key *key,
		  const struct srpol_flow_spot *spot, struct srpol_decision *d)
{
	struct srpol_flow *flow;
	__u32 i, nr;

	bpf_for(i, 0, SRPOL_FLOW_SLOTS) {
		nr = spot->set * SRPOL_FLOW_SLOTS + i;
		flow = srpol_flow_entry(nr);
		if (!flow || srpol_head_read(flow).tag != spot->tag)
			continue;
		flow = srpol_flow_check(key, spot->tag, nr, true, d);
		if (flow)
			return flow;
	}
	return NULL;
}

/*
 * The same for a caller that has only the key. Global, so that the verifier checks
 * it once. Return: whether the flow is in the table, in entry @d->nr.
 */
__noinline bool srpol_flow_of(const struct srpol_flow_key *key __arg_nonnull,
			      struct srpol_decision *d __arg_nonnull)
{
	struct srpol_flow_spot spot = srpol_flow_locate(key);

	return srpol_flow_search(key, &spot, d);
}

/*
 * The slot for a new flow: a free one, else that of the flow that was idle
 * longest. SRPOL_FLOW_SLOTS if there is none, since all slots are being filled,
 * or since another CPU is filling one with this very flow.
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
		/* Free slots count as older than any flow. */
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
 * The flow is in entry @mine now, whose head is @head. If another CPU has
 * entered the same flow, one of the two entries is freed. Return: number of the
 * entry that the flow keeps.
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
