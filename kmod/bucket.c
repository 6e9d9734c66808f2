// SPDX-License-Identifier: GPL-2.0
/*
 * Resilient bucket tables.
 *
 * A policy has a home table, the assignment if all its segment lists were up,
 * and a live table. A bucket whose home list is up always lives at home; the
 * others are lent to lists that are up. So a list that fails moves exactly
 * its own buckets, and its return restores exactly the assignment before.
 */
#include "pure.h"

/*
 * Share n buckets out in proportion to the weights of the lists that take
 * part: largest remainder, and at least one bucket for each. Weights are 16
 * bits and n is at most 1024, so nothing here exceeds 32 bits.
 */
static void bucket_quota(u32 *quota, u32 n, const u32 *weight,
			 const bool *up, u32 n_lists)
{
	u32 sum = 0, rest[SRPOL_LISTS_MAX];
	u32 given = 0, i, best;

	for (i = 0; i < n_lists; i++)
		if (!up || up[i])
			sum += weight[i];
	for (i = 0; i < n_lists; i++) {
		quota[i] = 0;
		rest[i] = 0;
		if (!sum || !weight[i] || (up && !up[i]))
			continue;
		quota[i] = n * weight[i] / sum;
		rest[i] = n * weight[i] - quota[i] * sum;
		if (!quota[i]) {
			quota[i] = 1;
			rest[i] = 0;
		}
		given += quota[i];
	}
	while (sum && given < n) {
		best = n_lists;
		for (i = 0; i < n_lists; i++)
			if (rest[i] && (best == n_lists ||
					rest[i] > rest[best]))
				best = i;
		if (best == n_lists)
			break;
		quota[best]++;
		rest[best] = 0;
		given++;
	}
	/* the guaranteed single buckets may have overdrawn */
	while (given > n) {
		best = 0;
		for (i = 1; i < n_lists; i++)
			if (quota[i] > quota[best])
				best = i;
		quota[best]--;
		given--;
	}
}

/* The list that lacks most of its quota, relative to that quota. */
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
 * srpol_bucket_home() - assign buckets by weight, moving as few as possible
 * @home: in: list index of each bucket as it was, SRPOL_NO_LIST for none;
 *	out: the new assignment
 * @n: number of buckets
 * @weight: weight of each list, 0: takes no part
 * @n_lists: number of lists, at most SRPOL_LISTS_MAX and at most @n
 *
 * With all weights 0 every bucket becomes SRPOL_NO_LIST.
 */
void srpol_bucket_home(u8 *home, u32 n, const u32 *weight, u32 n_lists)
{
	u32 quota[SRPOL_LISTS_MAX], have[SRPOL_LISTS_MAX] = {};
	u32 i, list;

	bucket_quota(quota, n, weight, NULL, n_lists);
	for (i = 0; i < n; i++) {
		list = home[i];
		if (list < n_lists && have[list] < quota[list])
			have[list]++;
		else
			home[i] = SRPOL_NO_LIST;
	}
	for (i = 0; i < n; i++) {
		if (home[i] != SRPOL_NO_LIST)
			continue;
		list = bucket_neediest(quota, have, n_lists);
		if (list == n_lists)
			continue;
		home[i] = list;
		have[list]++;
	}
}

/**
 * srpol_bucket_live() - lend the buckets of lists that are not up
 * @live: in: list index of each bucket as it was, SRPOL_NO_LIST for none;
 *	out: the new assignment
 * @home: home table
 * @n: number of buckets
 * @weight: weight of each list
 * @up: which lists are up
 * @n_lists: number of lists
 *
 * A lent bucket stays where it was lent to while that list is up and has not
 * more than its share.
 *
 * Return: number of buckets whose list changed.
 */
u32 srpol_bucket_live(u8 *live, const u8 *home, u32 n, const u32 *weight,
		      const bool *up, u32 n_lists)
{
	u32 quota[SRPOL_LISTS_MAX], have[SRPOL_LISTS_MAX] = {};
	u32 i, list, moved = 0;

	bucket_quota(quota, n, weight, up, n_lists);
	for (i = 0; i < n; i++)
		if (home[i] < n_lists && up[home[i]])
			have[home[i]]++;
	for (i = 0; i < n; i++) {
		if (home[i] < n_lists && up[home[i]]) {
			list = home[i];
		} else {
			list = live[i];
			if (list >= n_lists || !up[list] ||
			    have[list] >= quota[list])
				list = bucket_neediest(quota, have, n_lists);
			if (list < n_lists)
				have[list]++;
			else
				list = SRPOL_NO_LIST;
		}
		if (live[i] != list)
			moved++;
		live[i] = list;
	}
	return moved;
}
