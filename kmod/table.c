// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of compiled policies: their tables, and the bucket rows that the data
 * plane reads.
 *
 * A policy has rows for two tables. One table is in force; the other one is
 * compiled by a transaction and replaces it at the commit, while an abort
 * discards it. If the number of buckets of a policy changes, it gets another
 * pair of rows. The module itself keeps one table, and the second one only
 * during the transaction.
 */
#include <linux/bitmap.h>
#include <linux/slab.h>

#include "dataplane.h"
#include "policy.h"

/* Bucket rows of a table of @n buckets. */
static u32 srpol_rows(u32 n)
{
	return n / SRPOL_ROW_BUCKETS;
}

/* The first of @n free bucket rows; 0, with @err set, if there are none. */
static u32 srpol_rows_get(struct srpol_net *sn, u32 n, int *err,
			  struct netlink_ext_ack *extack)
{
	unsigned long at;

	if (!sn->row_map) {
		sn->row_map = bitmap_zalloc(SRPOL_ROWS_MAX,
					    GFP_KERNEL_ACCOUNT);
		if (!sn->row_map) {
			*err = -ENOMEM;
			return 0;
		}
	}
	at = bitmap_find_next_zero_area(sn->row_map, sn->limits.rows, 1, n, 0);
	if (at >= sn->limits.rows) {
		*err = srpol_dp_err(-ENOSPC, "bucket row",
				    sn->limits.rows - 1, extack);
		return 0;
	}
	bitmap_set(sn->row_map, at, n);
	return at;
}

/**
 * srpol_table_alloc_rows() - find rows that no packet reads
 * @sn: namespace, locked
 * @table: a table whose number of buckets is set
 * @was: the present table of the policy, NULL if it has none
 * @extack: for a refusal
 *
 * Return: 0 or a negative errno.
 */
int srpol_table_alloc_rows(struct srpol_net *sn, struct srpol_table *table,
			   const struct srpol_table *was,
			   struct netlink_ext_ack *extack)
{
	u32 rows = srpol_rows(table->n);
	int err = 0;

	if (was && was->n == table->n) {
		table->pair = was->pair;
		table->row = was->row == was->pair ? was->pair + rows :
						     was->pair;
		return 0;
	}
	table->pair = srpol_rows_get(sn, 2 * rows, &err, extack);
	table->row = table->pair;
	if (err)
		return err;
	/* the rows may have been in use a moment ago */
	srpol_dp_wait_gp(sn, sn->del_gp);
	return 0;
}

/**
 * srpol_table_put_rows() - free the rows of both tables of a policy
 * @sn: namespace, locked
 * @table: one of its tables
 */
void srpol_table_put_rows(struct srpol_net *sn,
			  const struct srpol_table *table)
{
	bitmap_clear(sn->row_map, table->pair, 2 * srpol_rows(table->n));
}

/**
 * srpol_table_scratch() - the table to compile into
 * @sn: namespace, locked
 *
 * Return: a table of full size, or NULL.
 */
struct srpol_table *srpol_table_scratch(struct srpol_net *sn)
{
	if (!sn->scratch)
		sn->scratch = kzalloc(struct_size(sn->scratch, primary,
						  2 * SRPOL_BUCKETS_MAX),
				      GFP_KERNEL_ACCOUNT);
	return sn->scratch;
}

/**
 * srpol_table_copy() - copy a table, to keep it
 * @from: the scratch table; primary and live table are the same most of the
 *	time
 *
 * Return: a copy no larger than it needs to be, or NULL.
 */
struct srpol_table *srpol_table_copy(const struct srpol_table *from)
{
	bool same = !memcmp(from->primary, from->live, from->n);
	struct srpol_table *table;

	table = kmemdup(from, struct_size(table, primary,
					  same ? from->n : 2 * from->n),
			GFP_KERNEL_ACCOUNT);
	if (table)
		table->live = same ? table->primary : table->primary + table->n;
	return table;
}

/**
 * srpol_policy_free_kept() - free the tables of candidate paths that are not
 * active
 * @policy: the policy
 */
void srpol_policy_free_kept(struct srpol_policy *policy)
{
	struct srpol_table *table;

	while ((table = policy->kept)) {
		policy->kept = table->kept;
		kfree(table);
	}
}
