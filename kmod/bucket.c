// SPDX-License-Identifier: GPL-2.0
/*
 * Resilient bucket tables.
 *
 * A policy has a primary table, which is the assignment if all its segment
 * lists were up, and a live table. A bucket whose primary list is up always
 * belongs to that list; the other buckets are lent to lists that are up. The
 * live table follows from the primary table, the weights and which lists are
 * up, and from nothing else: a list that fails moves exactly its own buckets,
 * and when it returns everything is as before, whatever happened to other lists
 * in between.
 *
 * For this, each bucket has an order of lists that does not depend on which of
 * them are up, and the bucket belongs to the first list of the order that is
 * up. The primary list comes first. The second list is assigned as if the
 * primary list alone were down: by weight, one bucket at a time. From the third
 * on, the order is drawn from a hash of the bucket, by weight as well. So
 * shares are exact while one list is down, and as even as a hash makes them
 * when several are.
 *
 * Primary buckets of a list are adjacent, as far as history allows: the data
 * plane places QPs with consecutive numbers at even distances around the table,
 * so that contiguous blocks get equal shares of even a few QPs. The buckets of
 * a list that is not up are dealt out one by one for the same reason.
 */
#include "pure.h"

/* Draws by weight before a bucket takes any list that is up. */
#define DRAWS	16

/*
 * Divide n buckets in proportion to the weights of the lists that take part:
 * one for each list, then each further one to the list that it brings closest
 * to its share (Webster's method). Unlike rounding by largest remainder, a list
 * that drops out takes nothing from the others. Weights have 16 bits and n is
 * at most 1024, so nothing here exceeds 32 bits.
 *
 * Most of these steps can be skipped: they go by falling weight[i] / (quota[i]
 * + 1/2), so all that are above some number come before all others. With sum /
 * (n - lists) for that number the shares, which are rounded up by less than
 * one, cannot add up to more than n.
 */
static void bucket_quota(u32 *quota, u32 n, const u32 *weight,
			 const bool *up, u32 n_lists)
{
	u32 given = 0, sum = 0, lists = 0, share, i, best;

	for (i = 0; i < n_lists; i++) {
		quota[i] = weight[i] && (!up || up[i]);
		lists += quota[i];
		sum += quota[i] * weight[i];
	}
	for (i = 0; i < n_lists; i++) {
		if (!quota[i])
			continue;
		share = 2 * weight[i] * (n - lists);
		if (share > sum)
			quota[i] = DIV_ROUND_UP(share - sum, 2 * sum);
		given += quota[i];
	}
	for (; given && given < n; given++) {
		best = n_lists;
		for (i = 0; i < n_lists; i++) {
			if (!quota[i])
				continue;
			if (best == n_lists ||
			    weight[i] * (2 * quota[best] + 1) >
			    weight[best] * (2 * quota[i] + 1))
				best = i;
		}
		quota[best]++;
	}
}

/* The list that lacks most of its quota, in relation to that quota. */
static u32 bucket_neediest(const u32 *quota, const u32 *have, u32 n_lists)
{
	u32 best = n_lists, i;

	for (i = 0; i < n_lists; i++) {
		if (have[i] >= quota[i])
			continue;
		if (best == n_lists ||
		    have[i] * quota[best] < have[best] * quota[i])
			best = i;
	}
	return best;
}

/**
 * srpol_bucket_primary() - assign buckets by weight, moving as few as possible
 * @primary: in: list index of each bucket as it was, SRPOL_NO_LIST for none;
 *	out: the new assignment
 * @n: number of buckets
 * @weight: weight of each list, 0: takes no part
 * @n_lists: number of lists, at most SRPOL_LISTS_MAX and at most @n
 *
 * With all weights 0 every bucket becomes SRPOL_NO_LIST.
 */
void srpol_bucket_primary(u8 *primary, u32 n, const u32 *weight, u32 n_lists)
{
	u32 quota[SRPOL_LISTS_MAX], have[SRPOL_LISTS_MAX] = {};
	u32 i, list;

	bucket_quota(quota, n, weight, NULL, n_lists);
	for (i = 0; i < n; i++) {
		list = primary[i];
		if (list < n_lists && have[list] < quota[list])
			have[list]++;
		else
			primary[i] = SRPOL_NO_LIST;
	}
	for (i = 0, list = 0; i < n && list < n_lists; i++) {
		if (primary[i] != SRPOL_NO_LIST)
			continue;
		while (list < n_lists && have[list] >= quota[list])
			list++;
		if (list == n_lists)
			break;
		primary[i] = list;
		have[list]++;
	}
}

static u32 mix(u32 a, u32 b)
{
	u32 h = a * 0x9e3779b1 ^ b * 0x85ebca77;

	h ^= h >> 15;
	h *= 0x2c1b3c6d;
	h ^= h >> 12;
	h *= 0x297a2d39;
	return h ^ h >> 15;
}

/* The list that one draw for a bucket selects. */
static u32 bucket_draw(u32 hash, const u32 *weight, u32 sum, u32 n_lists)
{
	u32 at = (u64)hash * sum >> 32, i;

	for (i = 0; i < n_lists - 1 && at >= weight[i]; i++)
		at -= weight[i];
	return i;
}

/*
 * The first list that is up in the order of a bucket, from the third on. After
 * DRAWS draws, the remaining lists follow in the order of hashes of their own.
 */
static u32 bucket_later(u32 bucket, const u32 *weight, u32 sum,
			const bool *up, u32 n_lists)
{
	u32 best = n_lists, most = 0, list, hash, i;

	for (i = 0; i < DRAWS; i++) {
		list = bucket_draw(mix(bucket, i), weight, sum, n_lists);
		if (up[list])
			return list;
	}
	for (i = 0; i < n_lists; i++) {
		hash = mix(bucket, DRAWS + i);
		if (weight[i] && up[i] && (best == n_lists || hash > most)) {
			best = i;
			most = hash;
		}
	}
	return best;
}

/* Lend the primary buckets of one list to others as if it alone were down. */
static void bucket_lend(u8 *live, const u8 *primary, u32 n, const u32 *weight,
			const u32 *owned, u32 down, u32 n_lists)
{
	u32 quota[SRPOL_LISTS_MAX], have[SRPOL_LISTS_MAX];
	bool others[SRPOL_LISTS_MAX];
	u32 i, list;

	for (i = 0; i < n_lists; i++)
		others[i] = i != down;
	memcpy(have, owned, n_lists * sizeof(*have));
	bucket_quota(quota, n, weight, others, n_lists);
	for (i = 0; i < n; i++) {
		if (primary[i] != down)
			continue;
		list = bucket_neediest(quota, have, n_lists);
		if (list == n_lists)
			break;
		live[i] = list;
		have[list]++;
	}
}

/**
 * srpol_bucket_live() - lend the buckets of lists that are not up
 * @live: out: list index of each bucket, SRPOL_NO_LIST if no list is up
 * @primary: primary table
 * @n: number of buckets
 * @weight: weight of each list
 * @up: which lists are up
 * @n_lists: number of lists
 */
void srpol_bucket_live(u8 *live, const u8 *primary, u32 n, const u32 *weight,
		       const bool *up, u32 n_lists)
{
	u32 owned[SRPOL_LISTS_MAX] = {}, sum = 0, usable = 0, i;

	for (i = 0; i < n_lists; i++) {
		sum += weight[i];
		usable += weight[i] && up[i];
	}
	if (!usable) {
		memset(live, SRPOL_NO_LIST, n);
		return;
	}
	memcpy(live, primary, n);
	for (i = 0; i < n; i++)
		if (primary[i] < n_lists)
			owned[primary[i]]++;
	for (i = 0; i < n_lists; i++)
		if (owned[i] && !up[i])
			bucket_lend(live, primary, n, weight, owned, i,
				    n_lists);
	for (i = 0; i < n; i++)
		if (live[i] >= n_lists || !up[live[i]])
			live[i] = bucket_later(i, weight, sum, up, n_lists);
}
