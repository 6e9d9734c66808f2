// SPDX-License-Identifier: GPL-2.0
/*
 * From a policy to a table of buckets: selection of the active candidate path,
 * shares or order of its segment lists, and the rows the data plane reads.
 *
 * A policy has rows for two tables. One is what packets see, the other one is
 * compiled by a transaction and takes its place when that is committed; an
 * abort forgets it. A policy that gets another number of buckets gets another
 * pair of rows. The module itself keeps one table, and the other one only
 * while the transaction lasts.
 */
#include <linux/bitmap.h>
#include <net/ipv6.h>

#include "srpol.h"

static_assert(SRPOL_CANDIDATES_MAX <= 32, "srpol_table.valid");

/**
 * srpol_policy_judge() - can a segment list be used
 * @list: the list
 * @state: set to up if it can
 * @reason: set to why not
 */
void srpol_policy_judge(const struct srpol_list *list,
			enum srpol_policy_state *state,
			enum srpol_policy_reason *reason)
{
	*state = SRPOL_POLICY_STATE_DOWN;
	if (!list->weight) {
		*reason = SRPOL_POLICY_REASON_ZERO_WEIGHT;
	} else if (!srpol_path_usable(list->path)) {
		*reason = SRPOL_POLICY_REASON_PATH_NOT_UP;
	} else {
		*state = SRPOL_POLICY_STATE_UP;
		*reason = SRPOL_POLICY_REASON_NONE;
	}
}

static bool srpol_list_up(const struct srpol_list *list)
{
	return list->weight && srpol_path_usable(list->path);
}

/* RFC 9256 2.9: index of the active candidate path, -1 if none is valid. */
static int srpol_policy_select(const struct srpol_policy_cfg *cfg, u32 *valid)
{
	int best = -1;
	u32 i, j;

	*valid = 0;
	for (i = 0; i < cfg->n_cands; i++) {
		struct srpol_candidate *cand = &cfg->cands[i];

		cand->id.valid = false;
		for (j = 0; j < cand->n_lists; j++)
			cand->id.valid |= srpol_list_up(&cand->lists[j]);
		if (!cand->id.valid)
			continue;
		*valid |= BIT(i);
		if (best < 0 || srpol_cand_cmp(&cand->id,
					       &cfg->cands[best].id) > 0)
			best = i;
	}
	return best;
}

/* Index of a path's list in a candidate path, SRPOL_NO_LIST if not there. */
static u8 srpol_candidate_index(const struct srpol_candidate *cand,
				const struct srpol_path *path)
{
	u32 i;

	for (i = 0; i < cand->n_lists; i++)
		if (cand->lists[i].path == path)
			return i;
	return SRPOL_NO_LIST;
}

/* Carry a bucket table over from one candidate path to another, by path. */
static void srpol_table_carry(struct srpol_table *table,
			      const struct srpol_candidate *from,
			      const struct srpol_candidate *to)
{
	u8 map[SRPOL_LISTS_MAX], *at;
	u32 i;

	memset(map, SRPOL_NO_LIST, sizeof(map));
	for (i = 0; from && i < from->n_lists; i++)
		map[i] = srpol_candidate_index(to, from->lists[i].path);
	for (at = table->home; at < table->home + 2 * table->n; at++)
		*at = *at < SRPOL_LISTS_MAX ? map[*at] : SRPOL_NO_LIST;
	if (table->pinned != SRPOL_NO_LIST)
		table->pinned = map[table->pinned];
}

/* Fill home and live table for the active candidate path. */
static void srpol_table_share(struct srpol_table *table,
			      const struct srpol_candidate *cand)
{
	u32 weight[SRPOL_LISTS_MAX], even = 0, i;
	bool up[SRPOL_LISTS_MAX];

	table->flags |= SRPOL_POLICY_EVEN;
	for (i = 0; i < cand->n_lists; i++) {
		weight[i] = cand->lists[i].weight;
		up[i] = srpol_list_up(&cand->lists[i]);
		if (!up[i])
			continue;
		if (even && weight[i] != even)
			table->flags &= ~SRPOL_POLICY_EVEN;
		even = weight[i];
	}
	srpol_bucket_home(table->home, table->n, weight, cand->n_lists);
	srpol_bucket_live(table->live, table->home, table->n, weight, up,
			  cand->n_lists);
}

/* Jiffies until a list that is up may be returned to. */
static unsigned long srpol_list_wait(const struct srpol_list *list,
				     unsigned long hold)
{
	const struct srpol_path *path = list->path;
	unsigned long left;

	/* it comes up with this transaction */
	if (path->state != SRPOL_PATH_STATE_UP)
		return hold;
	left = path->up_since + hold - jiffies;
	return (long)left > 0 ? left : 0;
}

/* Mode active-backup: one list has all buckets. */
static void srpol_table_pin(struct srpol_table *table,
			    const struct srpol_candidate *cand,
			    u32 wait_to_restore)
{
	unsigned long hold = msecs_to_jiffies(wait_to_restore);
	struct srpol_pin pin[SRPOL_LISTS_MAX];
	u32 i, wait;

	for (i = 0; i < cand->n_lists; i++) {
		pin[i].usable = srpol_list_up(&cand->lists[i]);
		pin[i].wait = srpol_list_wait(&cand->lists[i], hold);
	}
	table->pinned = srpol_pin_select(pin, cand->n_lists, table->pinned,
					 &wait);
	table->waiting = wait;
	table->wait_until = jiffies + wait;
	memset(table->live, table->pinned, table->n);
}

static u32 srpol_policy_backup_id(struct srpol_net *sn,
				  const struct srpol_policy *policy)
{
	u32 color = policy->cfg.set.backup_color;
	const struct srpol_policy *backup;

	if (!color)
		return 0;
	backup = srpol_policy_find(sn, color, &policy->endpoint) ?:
		 srpol_policy_find(sn, color, &in6addr_any);
	return backup ? backup->id : 0;
}

/* The candidate path that the present table describes. */
static const struct srpol_candidate *
srpol_policy_table_cand(const struct srpol_policy *policy)
{
	const struct srpol_policy_cfg *cfg = policy->change.saved ?
					     policy->old : &policy->cfg;

	return policy->table->cand < 0 ? NULL :
	       &cfg->cands[policy->table->cand];
}

/*
 * Compile into @table, starting from the present one. While no candidate path
 * is valid its buckets are kept, so that flows find their paths again when one
 * returns; but not those of lists that are freed.
 */
static void srpol_policy_compile(struct srpol_net *sn,
				 const struct srpol_policy *policy,
				 struct srpol_table *table)
{
	const struct srpol_policy_cfg *cfg = &policy->cfg;
	const struct srpol_candidate *from = NULL, *cand;
	const struct srpol_table *was = policy->table;

	memset(table->home, SRPOL_NO_LIST, 2 * table->n);
	table->pinned = SRPOL_NO_LIST;
	table->cand = -1;
	table->waiting = false;
	table->backup = srpol_policy_backup_id(sn, policy);
	table->flags = (cfg->set.symmetric ? SRPOL_POLICY_SYMMETRIC : 0) |
		       (cfg->set.spray == SRPOL_SPRAY_RANDOM ?
			SRPOL_POLICY_RANDOM : 0);
	if (was && was->n == table->n) {
		from = srpol_policy_table_cand(policy);
		memcpy(table->home, was->home, table->n);
		memcpy(table->live, was->live, table->n);
		table->pinned = was->pinned;
	}

	table->active = srpol_policy_select(cfg, &table->valid);
	if (table->active < 0) {
		table->state = SRPOL_POLICY_STATE_DOWN;
		table->reason = cfg->n_cands ?
				SRPOL_POLICY_REASON_NO_VALID_CANDIDATE :
				SRPOL_POLICY_REASON_NO_CANDIDATE;
		table->pinned = SRPOL_NO_LIST;
		if (from && !policy->change.saved)
			table->cand = was->cand;
		else
			memset(table->home, SRPOL_NO_LIST, 2 * table->n);
		return;
	}
	table->state = SRPOL_POLICY_STATE_UP;
	table->reason = SRPOL_POLICY_REASON_NONE;
	cand = &cfg->cands[table->active];
	if (from != cand)
		srpol_table_carry(table, from, cand);
	table->cand = table->active;
	srpol_table_share(table, cand);
	if (cfg->set.mode == SRPOL_LB_MODE_ACTIVE_BACKUP)
		srpol_table_pin(table, cand, cfg->set.wait_to_restore);
	else
		table->pinned = SRPOL_NO_LIST;
}

/**
 * srpol_policy_to_dp() - a policy as the data plane sees it
 * @policy: the policy
 * @table: one of its tables
 */
struct srpol_dp_policy srpol_policy_to_dp(const struct srpol_policy *policy,
					  const struct srpol_table *table)
{
	const struct srpol_policy_set *set = &policy->cfg.set;
	struct srpol_dp_policy dp = {
		.id = policy->id,
		.color = policy->color,
		.row = table->row,
		.n_buckets = table->active < 0 ? 0 : table->n,
		.mode = set->mode,
		.drop_upon_invalid = set->drop_upon_invalid,
		.backup = table->backup,
		.flags = table->flags,
		.flowlet_timeout_ns = set->flowlet_timeout,
		.threshold = set->threshold,
		.dwell_time_ms = set->dwell_time,
		.wait_to_restore_ms = set->wait_to_restore,
	};

	memcpy(dp.endpoint, &policy->endpoint, sizeof(dp.endpoint));
	return dp;
}

/* The path ids of all buckets of a table, which has an active candidate. */
static int srpol_table_push_rows(struct srpol_net *sn,
				 const struct srpol_policy *policy,
				 const struct srpol_table *table)
{
	const struct srpol_candidate *cand = &policy->cfg.cands[table->active];
	u8 order[SRPOL_LISTS_MAX], list;
	bool known[SRPOL_LISTS_MAX];
	u16 path[SRPOL_LISTS_MAX];
	struct srpol_dp_row row;
	u32 len = 0, b, i;
	int err;

	for (i = 0; i < cand->n_lists; i++) {
		path[i] = cand->lists[i].path->id;
		known[i] = cand->lists[i].weight &&
			   srpol_path_known(cand->lists[i].path);
	}
	if (table->pinned != SRPOL_NO_LIST)
		len = srpol_pin_order(order, known, cand->n_lists,
				      table->pinned);
	for (b = 0; b < table->n; b += SRPOL_ROW_BUCKETS) {
		row.row = table->row + b / SRPOL_ROW_BUCKETS;
		for (i = 0; i < SRPOL_ROW_BUCKETS; i++) {
			list = len ? order[(b + i) % len] : table->live[b + i];
			row.path[i] = list == SRPOL_NO_LIST ? 0 : path[list];
		}
		err = srpol_dp_call(sn, row_set, &row);
		if (err)
			return err;
	}
	return 0;
}

static int srpol_table_push(struct srpol_net *sn,
			    const struct srpol_policy *policy,
			    const struct srpol_table *table)
{
	struct srpol_dp_policy dp = srpol_policy_to_dp(policy, table);
	int err;

	if (!sn->dp)
		return 0;
	err = table->active < 0 ? 0 :
	      srpol_table_push_rows(sn, policy, table);
	return err ?: srpol_dp_call(sn, policy_set, &dp);
}

/* First of @n bucket rows that nobody has, 0 and an error if there are none. */
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
		*err = srpol_dp_err(sn, -ENOSPC, "bucket row",
				    sn->limits.rows - 1, extack);
		return 0;
	}
	bitmap_set(sn->row_map, at, n);
	return at;
}

/* Bucket rows of one table of @n buckets. */
static u32 srpol_rows(u32 n)
{
	return n / SRPOL_ROW_BUCKETS;
}

static void srpol_rows_put(struct srpol_net *sn, u32 row, u32 n)
{
	bitmap_clear(sn->row_map, row, n);
}

/**
 * srpol_table_free() - free a table and the rows of its policy
 * @sn: namespace, locked
 * @table: the table
 */
void srpol_table_free(struct srpol_net *sn, struct srpol_table *table)
{
	srpol_rows_put(sn, table->pair, 2 * srpol_rows(table->n));
	kfree(table);
}

/* Where to compile to: the scratch table, over rows that nobody reads. */
static struct srpol_table *srpol_policy_next(struct srpol_net *sn,
					     const struct srpol_policy *policy,
					     struct netlink_ext_ack *extack)
{
	const struct srpol_table *was = policy->table;
	u32 n = policy->cfg.set.buckets, rows = srpol_rows(n);
	struct srpol_table *table = sn->scratch;
	int err = 0;

	if (!table) {
		table = kzalloc(struct_size(table, home,
					    2 * SRPOL_BUCKETS_MAX),
				GFP_KERNEL_ACCOUNT);
		if (!table)
			return ERR_PTR(-ENOMEM);
		sn->scratch = table;
	}
	srpol_dp_wait_gp(sn, policy->gp);
	table->n = n;
	table->live = table->home + n;
	if (was && was->n == n) {
		table->pair = was->pair;
		table->row = was->row == was->pair ? was->pair + rows :
						     was->pair;
		return table;
	}
	table->pair = srpol_rows_get(sn, 2 * rows, &err, extack);
	table->row = table->pair;
	if (err)
		return ERR_PTR(err);
	/* the rows may have been in use a moment ago */
	srpol_dp_wait_gp(sn, sn->del_gp);
	return table;
}

/*
 * The scratch table, to be kept; home and live mostly are the same. An event
 * has happened: there is nobody who could be refused and try again.
 */
static struct srpol_table *srpol_table_copy(struct srpol_net *sn)
{
	gfp_t gfp = sn->txn.event ? GFP_KERNEL | __GFP_NOFAIL :
				    GFP_KERNEL_ACCOUNT;
	const struct srpol_table *from = sn->scratch;
	bool same = !memcmp(from->home, from->live, from->n);
	struct srpol_table *table;
	size_t size;

	size = struct_size(table, home, same ? from->n : 2 * from->n);
	table = kmemdup(from, size, gfp);
	if (table)
		table->live = same ? table->home : table->home + table->n;
	return table;
}

/*
 * Nothing about a policy that was only looked at again is different. The rows
 * of pinned ones depend on more than the table.
 */
static bool srpol_policy_unmoved(const struct srpol_policy *policy,
				 const struct srpol_table *b)
{
	const struct srpol_table *a = policy->table;

	return !policy->change.changed &&
	       policy->cfg.set.mode != SRPOL_LB_MODE_ACTIVE_BACKUP &&
	       a->active == b->active && a->cand == b->cand &&
	       a->valid == b->valid && a->reason == b->reason &&
	       a->backup == b->backup && a->flags == b->flags &&
	       !memcmp(a->home, b->home, a->n) &&
	       !memcmp(a->live, b->live, a->n);
}

/* Drop a table that is not to be; the rows stay if the present one has them. */
static void srpol_table_drop(struct srpol_net *sn,
			     const struct srpol_policy *policy,
			     struct srpol_table *table)
{
	if (!policy->table || policy->table->pair != table->pair)
		srpol_rows_put(sn, table->pair, 2 * srpol_rows(table->n));
	if (table != sn->scratch)
		kfree(table);
}

static int srpol_policy_hide(struct srpol_net *sn,
			     const struct srpol_policy *policy)
{
	struct srpol_dp_policy dp = srpol_policy_to_dp(policy, policy->table);

	srpol_dp_wait_gp(sn, policy->gp);
	return srpol_dp_call(sn, policy_hide, &dp);
}

/* Do flows have to be classified again for this policy? */
static bool srpol_policy_reclassify(const struct srpol_policy *policy)
{
	const struct srpol_policy_set *is = &policy->cfg.set;
	const struct srpol_policy_set *was = policy->change.saved ?
					     &policy->old->set : is;

	return policy->change.created || policy->change.gone ||
	       (policy->change.changed &&
		(is->mode != was->mode || is->symmetric != was->symmetric));
}

/**
 * srpol_policy_stage() - compile a policy and stage the outcome
 * @sn: namespace, locked, in a transaction; paths have been staged
 * @change: of the policy
 * @extack: for a refusal
 */
int srpol_policy_stage(struct srpol_net *sn, struct srpol_change *change,
		       struct netlink_ext_ack *extack)
{
	struct srpol_policy *policy = container_of(change,
						   struct srpol_policy, change);
	struct srpol_table *table;
	int err;

	if (change->gone) {
		err = srpol_policy_hide(sn, policy);
	} else {
		table = srpol_policy_next(sn, policy, extack);
		if (IS_ERR(table))
			return PTR_ERR(table);
		srpol_policy_compile(sn, policy, table);
		if (srpol_policy_unmoved(policy, table))
			return 0;
		policy->next = srpol_table_copy(sn);
		if (!policy->next) {
			srpol_table_drop(sn, policy, table);
			return -ENOMEM;
		}
		err = srpol_table_push(sn, policy, policy->next);
	}
	if (err)
		return srpol_dp_err(sn, err, "policy", sn->limits.policies - 1,
				    extack);
	srpol_txn_staged(sn, change);
	sn->txn.reclassify |= srpol_policy_reclassify(policy);
	return 0;
}

/**
 * srpol_policy_switch() - packets see what was compiled
 * @sn: namespace, locked, committing
 * @policy: the policy
 */
void srpol_policy_switch(struct srpol_net *sn, struct srpol_policy *policy)
{
	struct srpol_table *was = policy->table, *is = policy->next;
	enum srpol_policy_state state = was ? was->state :
					      SRPOL_POLICY_STATE_DOWN;
	int active = was ? was->active : -1;

	if (!is)
		return;
	policy->table = is;
	policy->next = NULL;
	policy->gp = sn->txn.gp;
	if (state != is->state || active != is->active)
		srpol_nl_notify(sn, NULL, SRPOL_CMD_POLICY_EVENT,
				SRPOL_NLGRP_EVENTS, srpol_policy_event_fill,
				policy);
	if (state != is->state)
		srpol_color_add(&sn->colors_up, policy->color,
				is->state == SRPOL_POLICY_STATE_UP ? 1 : -1);
	list_del_init(&policy->wait_node);
	if (is->waiting) {
		list_add_tail(&policy->wait_node, &sn->waiting);
		srpol_events_retry_at(sn, max_t(long, 1, is->wait_until -
						jiffies));
	}
	if (!was)
		return;
	if (was->pair != is->pair) {
		srpol_rows_put(sn, was->pair, 2 * srpol_rows(was->n));
		sn->del_gp = sn->txn.gp;
	}
	kfree(was);
}

/**
 * srpol_policy_unstage() - forget what was compiled
 * @sn: namespace, locked
 * @policy: the policy
 */
void srpol_policy_unstage(struct srpol_net *sn, struct srpol_policy *policy)
{
	if (policy->next)
		srpol_table_drop(sn, policy, policy->next);
	policy->next = NULL;
}

/**
 * srpol_policy_touch_users() - a path changed: compile whom that concerns
 * @sn: namespace, locked, in a transaction
 * @path: the path
 */
void srpol_policy_touch_users(struct srpol_net *sn,
			      const struct srpol_path *path)
{
	struct srpol_list *list;

	list_for_each_entry(list, &path->users, path_node)
		srpol_txn_touch(sn, &srpol_list_policy(sn, list)->change);
}

/* Policies come or go: touch those that have another backup now. */
static void srpol_policy_touch_backups(struct srpol_net *sn)
{
	struct srpol_policy *policy;
	unsigned long id;

	if (!sn->n_backups)
		return;
	xa_for_each(&sn->policies, id, policy) {
		if (policy->table && !policy->change.gone &&
		    policy->table->backup != srpol_policy_backup_id(sn, policy))
			srpol_txn_touch(sn, &policy->change);
		cond_resched();
	}
}

/**
 * srpol_policy_prepare() - add policies that follow others, or paths
 * @sn: namespace, locked, in a transaction; paths have been staged
 */
void srpol_policy_prepare(struct srpol_net *sn)
{
	struct srpol_change *change;
	struct srpol_path *path;

	/* what a request is refused for should be of its own making */
	if (sn->txn.event) {
		spin_lock_bh(&sn->state_lock);
		while (!list_empty(&sn->changed)) {
			path = list_first_entry(&sn->changed,
						struct srpol_path,
						changed_node);
			list_del_init(&path->changed_node);
			srpol_policy_touch_users(sn, path);
		}
		spin_unlock_bh(&sn->state_lock);
	}
	list_for_each_entry(change, &sn->txn.changes[SRPOL_KIND_POLICY],
			    node) {
		if (change->created || change->gone) {
			srpol_policy_touch_backups(sn);
			break;
		}
	}
}

/**
 * srpol_policy_wait_to_restore() - touch policies whose wait-to-restore is over
 * @sn: namespace, locked, in a transaction
 *
 * Return: jiffies until the next one is, %MAX_JIFFY_OFFSET if none waits.
 */
unsigned long srpol_policy_wait_to_restore(struct srpol_net *sn)
{
	unsigned long next = MAX_JIFFY_OFFSET, left;
	struct srpol_policy *policy;

	list_for_each_entry(policy, &sn->waiting, wait_node) {
		left = policy->table->wait_until - jiffies;
		if ((long)left <= 0)
			srpol_txn_touch(sn, &policy->change);
		else
			next = min(next, left);
	}
	return next;
}

/**
 * srpol_policy_replay() - tell a new data plane about all policies
 * @sn: namespace, locked
 */
int srpol_policy_replay(struct srpol_net *sn)
{
	struct srpol_policy *policy;
	unsigned long id;
	int err;

	xa_for_each(&sn->policies, id, policy) {
		err = srpol_table_push(sn, policy, policy->table);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}
