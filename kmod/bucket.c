// SPDX-License-Identifier: GPL-2.0
/*
 * Resilient bucket tables.
 *
 * A policy has a home table, the assignment if all its segment lists were up,
 * and a live table. A bucket whose home list is up always lives at home; the
 * others are lent to lists that are up. So a list that fails moves exactly
 * its own buckets, and its return restores exactly the assignment before.
 *
 * Home buckets of a list lie side by side, as far as history allows: the data
 * plane places QPs with consecutive numbers at even distances around the
 * table, so that blocks get equal shares of even a few QPs. The buckets of a
 * list that is not up are dealt out one by one for the same reason.
 */
#include "pure.h"

/*
 * Share n buckets out in proportion to the weights of the lists that take
 * part: one for each, then each next one to whom it brings closest to its
 * share (Webster's method). Unlike rounding by largest remainder this has the
 * property that a list that drops out takes nothing from the others. Weights
 * are 16 bits and n is at most 1024, so nothing here exceeds 32 bits.
 *
 * Most of these steps can be left out: they go by falling weight[i] /
 * (quota[i] + 1/2), so all that are above some number come before all others.
 * With sum / (n - lists) for that number the shares, which are rounded up by
 * less than one, can not add up to more than n.
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
	for (i = 0, list = 0; i < n && list < n_lists; i++) {
		if (home[i] != SRPOL_NO_LIST)
			continue;
		while (list < n_lists && have[list] >= quota[list])
			list++;
		if (list == n_lists)
			break;
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
 * more than its share. So a list that fails moves no bucket but those that
 * point at it.
 */
void srpol_bucket_live(u8 *live, const u8 *home, u32 n, const u32 *weight,
		       const bool *up, u32 n_lists)
{
	u32 quota[SRPOL_LISTS_MAX], have[SRPOL_LISTS_MAX] = {};
	u32 i, list;

	bucket_quota(quota, n, weight, up, n_lists);
	for (i = 0; i < n; i++) {
		if (home[i] >= n_lists || !up[home[i]])
			continue;
		live[i] = home[i];
		have[home[i]]++;
	}
	for (i = 0; i < n; i++) {
		if (home[i] < n_lists && up[home[i]])
			continue;
		list = live[i];
		if (list < n_lists && have[list] < quota[list])
			have[list]++;
		else
			live[i] = SRPOL_NO_LIST;
	}
	for (i = 0; i < n; i++) {
		if (live[i] != SRPOL_NO_LIST)
			continue;
		list = bucket_neediest(quota, have, n_lists);
		if (list == n_lists)
			break;
		live[i] = list;
		have[list]++;
	}
}
