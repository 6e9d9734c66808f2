/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of flows: sets of SRPOL_FLOW_WAYS entries, found by a tag.
 *
 * DOC: flow table
 *
 * An LRU hash map would do, at two to four times the cost: it hashes the 64
 * bytes of the key by lookup3, and takes locks to evict. Here the key is
 * hashed by one multiplication for each 8 bytes, one line of the cache has the
 * tags of a set, and the entry it points to holds the key, which is compared
 * as a whole: no packet is steered by a hash that happens to be equal.
 *
 * Who makes an entry claims a way of the set by its tag, fills the entry and
 * then gives it its tag: readers never find half of one. An entry that packets
 * may be reading is not written over by the same flow: a flow that is
 * classified again gets another way. When a set is full the way goes that was
 * idle longest; a packet that found it just before copies what it needs of the
 * decision, and then looks whether the tag is still there: it goes before
 * anything of a new flow is written. When two processors make the same flow at
 * once, at least one of them sees the other's entry when its own is there; the
 * first in the set stays.
 */
#ifndef _SRPOL_FLOW_TABLE_H
#define _SRPOL_FLOW_TABLE_H

#define SRPOL_TAG_FREE		0u
#define SRPOL_TAG_CLAIMED	2u	/* real tags are odd */
#define SRPOL_TAG_BITS		16
#define SRPOL_TAG_TRIES		4

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
 * struct srpol_flow_place - where a flow belongs
 * @at: the tag of the entry found, NULL if none was
 * @set: set
 * @tag: its tag there
 */
struct srpol_flow_place {
	const __u16 *at;
	__u32 set;
	__u32 tag;
};

/* Place of a key; on the stack, in a map or in an entry. */
static __always_inline struct srpol_flow_place
srpol_flow_locate(const struct srpol_flow_key *key)
{
	const __u64 *w = (const __u64 *)key;
	struct srpol_flow_place place;
	__u64 h = 0;
	__u32 i;

#pragma unroll
	for (i = 0; i < SRPOL_FLOW_WORDS; i++)
		h += w[i] * srpol_flow_mix[i];
	h ^= h >> 32;
	h *= srpol_flow_mix[0];
	place.at = NULL;
	place.set = h >> (64 - SRPOL_FLOW_SET_BITS);
	place.tag = (h >> 16 & 0xffff) | 1;
	return place;
}

static __always_inline bool srpol_flow_key_equal(const struct srpol_flow_key *a,
						 const struct srpol_flow_key *b)
{
	const __u64 *x = (const __u64 *)a;
	const __u64 *y = (const __u64 *)b;
	__u64 differ = 0;
	__u32 i;

#pragma unroll
	for (i = 0; i < SRPOL_FLOW_WORDS; i++)
		differ |= x[i] ^ y[i];
	return !differ;
}

static __always_inline struct srpol_flow *srpol_flow_entry(__u32 nr)
{
	return bpf_map_lookup_elem(&flows, &nr);
}

/* Number of the entry of a way. */
static __always_inline __u32 srpol_flow_nr(__u32 set, __u32 way)
{
	return set * SRPOL_FLOW_WAYS + way;
}

/**
 * srpol_flow_find - look a flow up
 * @key: its key
 * @p: where it belongs
 *
 * Return: its entry, NULL if it has none.
 */
static __always_inline struct srpol_flow *
srpol_flow_find(const struct srpol_flow_key *key, struct srpol_flow_place *p)
{
	struct srpol_flow_set *set;
	struct srpol_flow *flow;
	__u32 i;

	set = bpf_map_lookup_elem(&flow_sets, &p->set);
	if (!set)
		return NULL;
#pragma unroll
	for (i = 0; i < SRPOL_FLOW_WAYS; i++) {
		if (READ_ONCE(set->tag[i]) != p->tag)
			continue;
		flow = srpol_flow_entry(srpol_flow_nr(p->set, i));
		if (flow && srpol_flow_key_equal(&flow->key, key)) {
			p->at = &set->tag[i];
			return flow;
		}
	}
	return NULL;
}

/* Was all that was read of the entry found about its flow? */
static __always_inline bool srpol_flow_still(const struct srpol_flow_place *p)
{
	barrier();
	return p->at && READ_ONCE(*p->at) == p->tag;
}

/* The same for who has not located it yet. */
static __noinline struct srpol_flow *
srpol_flow_of(const struct srpol_flow_key *key)
{
	struct srpol_flow_place place = srpol_flow_locate(key);

	return srpol_flow_find(key, &place);
}

/*
 * The way for a new entry: a free one, else the one that was idle longest, but
 * not @but; SRPOL_FLOW_WAYS if all are being claimed.
 */
static __always_inline __u32
srpol_flow_victim(struct srpol_flow_set *set, __u32 nr, __u32 but)
{
	__u32 tick = bpf_jiffies64(), oldest = 0, victim = SRPOL_FLOW_WAYS;
	struct srpol_flow *flow;
	__u32 i, tag, age;

	bpf_for(i, 0, SRPOL_FLOW_WAYS) {
		tag = READ_ONCE(set->tag[i & (SRPOL_FLOW_WAYS - 1)]);
		if (tag == SRPOL_TAG_FREE)
			return i;
		if (tag == SRPOL_TAG_CLAIMED || i == but)
			continue;
		flow = srpol_flow_entry(srpol_flow_nr(nr, i));
		age = flow ? tick - flow->tick : 0;
		if (victim == SRPOL_FLOW_WAYS || age > oldest) {
			victim = i;
			oldest = age;
		}
	}
	return victim;
}

/* The way a flow has in its set, SRPOL_FLOW_WAYS if it has none. */
static __always_inline __u32 srpol_flow_way(struct srpol_flow_set *set,
					    const struct srpol_flow_key *key,
					    const struct srpol_flow_place *p)
{
	struct srpol_flow *flow;
	__u32 i;

	bpf_for(i, 0, SRPOL_FLOW_WAYS) {
		if (READ_ONCE(set->tag[i & (SRPOL_FLOW_WAYS - 1)]) != p->tag)
			continue;
		flow = srpol_flow_entry(srpol_flow_nr(p->set, i));
		if (flow && srpol_flow_key_equal(&flow->key, key))
			return i;
	}
	return SRPOL_FLOW_WAYS;
}

/*
 * A tag gives way to another, if it is still there. Atomic operations are on
 * words of 4, two tags each: one that changes beside it makes for another try.
 */
static __always_inline bool srpol_tag_swap(struct srpol_flow_set *set,
					   __u32 way, __u32 from, __u32 to)
{
	__u32 *word = (__u32 *)set->tag + way / 2 % (SRPOL_FLOW_WAYS / 2);
	__u32 shift = way % 2 * SRPOL_TAG_BITS, was, i;

	bpf_for(i, 0, SRPOL_TAG_TRIES) {
		was = READ_ONCE(*word);
		if ((was >> shift & ((1u << SRPOL_TAG_BITS) - 1)) != from)
			return false;
		if (__sync_val_compare_and_swap(word, was,
						was ^ (from ^ to) << shift) ==
		    was)
			return true;
	}
	return false;
}

/* The claimed way's tag, which nobody else changes. */
static __always_inline void srpol_tag_give(struct srpol_flow_set *set,
					   __u32 way, __u32 tag)
{
	__u32 *word = (__u32 *)set->tag + way / 2 % (SRPOL_FLOW_WAYS / 2);

	__sync_fetch_and_xor(word, (SRPOL_TAG_CLAIMED ^ tag) <<
				   way % 2 * SRPOL_TAG_BITS);
}

/* Fill a way of the set; false if another processor was faster. */
static __always_inline bool srpol_flow_fill(struct srpol_flow_set *set,
					    const struct srpol_flow_place *p,
					    __u32 way,
					    const struct srpol_flow *new)
{
	struct srpol_flow *flow = srpol_flow_entry(srpol_flow_nr(p->set, way));
	__u32 tag = READ_ONCE(set->tag[way & (SRPOL_FLOW_WAYS - 1)]);

	if (!flow || tag == SRPOL_TAG_CLAIMED ||
	    !srpol_tag_swap(set, way, tag, SRPOL_TAG_CLAIMED))
		return false;
	srpol_copy_words(flow, new, sizeof(*flow));
	srpol_tag_give(set, way, p->tag);
	return true;
}

/*
 * The flow has way @mine now: no other is to have it. Return: the way it keeps.
 */
static __always_inline __u32 srpol_flow_only(struct srpol_flow_set *set,
					     const struct srpol_flow_place *p,
					     __u32 mine,
					     const struct srpol_flow *new)
{
	struct srpol_flow *flow;
	__u32 i;

	bpf_for(i, 0, SRPOL_FLOW_WAYS) {
		if (i == mine ||
		    READ_ONCE(set->tag[i & (SRPOL_FLOW_WAYS - 1)]) != p->tag)
			continue;
		flow = srpol_flow_entry(srpol_flow_nr(p->set, i));
		if (!flow || !srpol_flow_key_equal(&flow->key, &new->key))
			continue;
		if (i < mine && READ_ONCE(flow->epoch) == new->epoch) {
			srpol_tag_swap(set, mine, p->tag, SRPOL_TAG_FREE);
			return i;
		}
		srpol_tag_swap(set, i, p->tag, SRPOL_TAG_FREE);
	}
	return mine;
}

/**
 * srpol_flow_put - make an entry
 * @p: where the flow belongs
 * @new: what is to be in it, its key as well; it takes the place of the entry
 *	the flow has, if there is one
 *
 * Return: number of the entry.
 */
static __always_inline __u32 srpol_flow_put(const struct srpol_flow_place *p,
					    const struct srpol_flow *new)
{
	struct srpol_flow_set *set;
	struct srpol_flow *shared;
	__u32 way, was;

	set = bpf_map_lookup_elem(&flow_sets, &p->set);
	if (!set)
		return SRPOL_MAX_FLOWS;
	was = srpol_flow_way(set, &new->key, p);
	way = srpol_flow_victim(set, p->set, was);
	if (way < SRPOL_FLOW_WAYS && srpol_flow_fill(set, p, way, new))
		return srpol_flow_nr(p->set,
				     srpol_flow_only(set, p, way, new));
	shared = srpol_flow_entry(SRPOL_MAX_FLOWS);
	if (shared)
		srpol_copy_words(shared, new, sizeof(*shared));
	return SRPOL_MAX_FLOWS;
}

#endif /* _SRPOL_FLOW_TABLE_H */
