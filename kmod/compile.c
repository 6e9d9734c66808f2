// SPDX-License-Identifier: GPL-2.0
/*
 * From a policy to a table of buckets: select the active candidate path,
 * compute the shares or the order of its segment lists, and write what the data
 * plane needs.
 */
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "dataplane.h"
#include "path.h"
#include "policy.h"
#include "queue.h"

static_assert(SRPOL_CANDIDATES_MAX <= 32, "srpol_table.valid");

/**
 * srpol_list_state() - can a segment list be used
 * @list: the list
 * @state: set to up if it can
 * @reason: set to why not
 */
void srpol_list_state(const struct srpol_list *list,
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

static bool srpol_candidate_valid(const struct srpol_candidate *cand)
{
	u32 i;

	for (i = 0; i < cand->n_lists; i++)
		if (srpol_list_up(&cand->lists[i]))
			return true;
	return false;
}

/* RFC 9256 2.9: index of the active candidate path, -1 if none is valid. */
static int srpol_policy_select(const struct srpol_policy_cfg *cfg, u32 *valid)
{
	const struct srpol_candidate *cands = cfg->cands;
	int best = -1;
	u32 i;

	*valid = 0;
	for (i = 0; i < cfg->n_cands; i++) {
		if (!srpol_candidate_valid(&cands[i]))
			continue;
		*valid |= BIT(i);
		if (best < 0 ||
		    srpol_cand_cmp(&cands[i].id, &cands[best].id) > 0)
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

/*
 * Translate a primary table from one candidate path to another, by path. A
 * bucket whose path the other one does not have is left unassigned.
 */
static void srpol_table_carry(struct srpol_table *table,
			      const struct srpol_candidate *from,
			      const struct srpol_candidate *to)
{
	u8 map[SRPOL_LISTS_MAX];
	u32 i;

	memset(map, SRPOL_NO_LIST, sizeof(map));
	for (i = 0; from && i < from->n_lists; i++)
		map[i] = srpol_candidate_index(to, from->lists[i].path);
	for (i = 0; i < table->n; i++)
		table->primary[i] = table->primary[i] < SRPOL_LISTS_MAX ?
				 map[table->primary[i]] : SRPOL_NO_LIST;
	if (table->in_use != SRPOL_NO_LIST)
		table->in_use = map[table->in_use];
}

/* Fill primary and live table for the active candidate path. */
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
	srpol_bucket_primary(table->primary, table->n, weight, cand->n_lists);
	srpol_bucket_live(table->live, table->primary, table->n, weight, up,
			  cand->n_lists);
}

/* Jiffies until a list that is up may be returned to. */
static unsigned long srpol_list_wait(const struct srpol_list *list,
				     unsigned long hold)
{
	const struct srpol_path *path = list->path;
	unsigned long left;

	/* it comes up with the present transaction */
	if (READ_ONCE(path->state) != SRPOL_PATH_STATE_UP)
		return hold;
	left = READ_ONCE(path->up_since) + hold - jiffies;
	return (long)left > 0 ? left : 0;
}

/* Mode active-backup: one list has all buckets. */
static void srpol_table_in_order(struct srpol_table *table,
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
	table->in_use = srpol_pin_select(pin, cand->n_lists, table->in_use,
					 &wait);
	table->waiting = wait;
	table->wait_until = jiffies + wait;
	memset(table->live, table->in_use, table->n);
}

/**
 * srpol_policy_backup() - the policy that is the backup of another
 * @sn: namespace, locked
 * @color: color of the backup
 * @policy: the other policy
 *
 * Return: the policy of that color to the same endpoint, else to the null
 * endpoint, or NULL.
 */
const struct srpol_policy *
srpol_policy_backup(struct srpol_net *sn, u32 color,
		    const struct srpol_policy *policy)
{
	return srpol_policy_find(sn, color, &policy->key.endpoint) ?:
	       srpol_policy_find(sn, color, &in6addr_any);
}

/*
 * The table that @cand of this configuration had when it was active last, or
 * NULL.
 */
static const struct srpol_table *
srpol_policy_kept(const struct srpol_policy *policy, int cand)
{
	const struct srpol_table *table;

	if (srpol_obj_changed(&policy->obj))
		return NULL;
	for (table = policy->kept; table; table = table->kept)
		if (table->cand == cand)
			return table;
	return NULL;
}

/*
 * Initialize the primary table of the active candidate path: from what it was
 * when that was active last, or from that of another candidate path, translated
 * by path.
 */
static void srpol_table_begin(const struct srpol_policy *policy,
			      struct srpol_table *table)
{
	const struct srpol_policy_cfg *is = srpol_policy_cfg(policy);
	const struct srpol_policy_cfg *was = policy->obj.cur;
	const struct srpol_table *from = policy->table, *kept;
	const struct srpol_candidate *old = NULL;

	if (!from || from->n != table->n)
		return;
	kept = srpol_policy_kept(policy, table->active);
	memcpy(table->primary, kept ? kept->primary : from->primary, table->n);
	table->in_use = kept ? SRPOL_NO_LIST : from->in_use;
	if (from->cand >= 0)
		old = &was->cands[from->cand];
	if (!kept && old != &is->cands[table->active])
		srpol_table_carry(table, old, &is->cands[table->active]);
}

/*
 * While no candidate path is valid, the primary table is kept, so that flows
 * get their paths back when one is valid again; unless the configuration has
 * changed.
 */
static void srpol_table_clear(const struct srpol_policy *policy,
			      struct srpol_table *table)
{
	const struct srpol_table *from = policy->table;

	table->state = SRPOL_POLICY_STATE_DOWN;
	table->reason = srpol_policy_cfg(policy)->n_cands ?
			SRPOL_POLICY_REASON_NO_VALID_CANDIDATE :
			SRPOL_POLICY_REASON_NO_CANDIDATE;
	if (!from || from->n != table->n || srpol_obj_changed(&policy->obj))
		return;
	memcpy(table->primary, from->primary, table->n);
	table->cand = from->cand;
}

/* Compile the policy into @table, starting from its present table. */
static void srpol_policy_compile(struct srpol_net *sn,
				 const struct srpol_policy *policy,
				 struct srpol_table *table)
{
	const struct srpol_policy_cfg *cfg = srpol_policy_cfg(policy);
	const struct srpol_policy_set *set = &cfg->set;
	const struct srpol_policy *backup = NULL;
	const struct srpol_candidate *cand;

	if (set->backup_color)
		backup = srpol_policy_backup(sn, set->backup_color, policy);
	memset(table->primary, SRPOL_NO_LIST, 2 * table->n);
	table->kept = NULL;
	table->in_use = SRPOL_NO_LIST;
	table->cand = -1;
	table->waiting = false;
	table->backup = backup ? backup->id : 0;
	table->flags = (set->symmetric ? SRPOL_POLICY_SYMMETRIC : 0) |
		       (set->spray == SRPOL_SPRAY_RANDOM ?
			SRPOL_POLICY_RANDOM : 0);
	table->active = srpol_policy_select(cfg, &table->valid);
	if (table->active < 0) {
		srpol_table_clear(policy, table);
		return;
	}
	table->state = SRPOL_POLICY_STATE_UP;
	table->reason = SRPOL_POLICY_REASON_NONE;
	srpol_table_begin(policy, table);
	cand = &cfg->cands[table->active];
	table->cand = table->active;
	srpol_table_share(table, cand);
	if (set->mode == SRPOL_LB_MODE_ACTIVE_BACKUP)
		srpol_table_in_order(table, cand, set->wait_to_restore);
	else
		table->in_use = SRPOL_NO_LIST;
}

/**
 * srpol_policy_to_dp() - a policy in the form for the data plane
 * @policy: the policy
 * @table: one of its tables
 */
struct srpol_dp_policy srpol_policy_to_dp(const struct srpol_policy *policy,
					  const struct srpol_table *table)
{
	const struct srpol_policy_cfg *cfg = srpol_policy_cfg(policy) ?:
					     srpol_obj_shown(&policy->obj);
	const struct srpol_policy_set *set = &cfg->set;
	struct srpol_dp_policy dp = {
		.id = policy->id,
		.color = policy->key.color,
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

	memcpy(dp.endpoint, &policy->key.endpoint, sizeof(dp.endpoint));
	return dp;
}

/*
 * Write the path ids of all buckets of a table that has an active candidate
 * path.
 */
static int srpol_table_push_rows(struct srpol_net *sn,
				 const struct srpol_policy *policy,
				 const struct srpol_table *table)
{
	const struct srpol_policy_cfg *cfg = srpol_policy_cfg(policy);
	const struct srpol_candidate *cand = &cfg->cands[table->active];
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
	if (table->in_use != SRPOL_NO_LIST)
		len = srpol_pin_order(order, known, cand->n_lists,
				      table->in_use);
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

/* Where to compile to: the scratch table, with rows that no packet reads. */
static struct srpol_table *srpol_policy_next(struct srpol_net *sn,
					     const struct srpol_policy *policy,
					     struct netlink_ext_ack *extack)
{
	struct srpol_table *table = srpol_table_scratch(sn);
	int err;

	if (!table)
		return ERR_PTR(-ENOMEM);
	srpol_dp_wait_gp(sn, policy->gp);
	table->n = srpol_policy_cfg(policy)->set.buckets;
	table->live = table->primary + table->n;
	err = srpol_table_alloc_rows(sn, table, policy->table, extack);
	return err ? ERR_PTR(err) : table;
}

/*
 * Is the result of compiling a policy, whose configuration has not changed, the
 * same as before? The rows of mode active-backup depend on more than the table.
 */
static bool srpol_policy_unmoved(const struct srpol_policy *policy,
				 const struct srpol_table *b)
{
	const struct srpol_policy_cfg *cfg = srpol_policy_cfg(policy);
	const struct srpol_table *a = policy->table;

	return !srpol_obj_changed(&policy->obj) &&
	       cfg->set.mode != SRPOL_LB_MODE_ACTIVE_BACKUP &&
	       a->active == b->active && a->cand == b->cand &&
	       a->valid == b->valid && a->reason == b->reason &&
	       a->backup == b->backup && a->flags == b->flags &&
	       !memcmp(a->primary, b->primary, a->n) &&
	       !memcmp(a->live, b->live, a->n);
}

/*
 * Free the rows of a table that is not used, unless the present table has them,
 * too.
 */
static void srpol_table_drop_rows(struct srpol_net *sn,
				  const struct srpol_policy *policy,
				  const struct srpol_table *table)
{
	if (!policy->table || policy->table->pair != table->pair)
		srpol_table_put_rows(sn, table);
}

static int srpol_policy_hide(struct srpol_net *sn,
			     const struct srpol_policy *policy)
{
	struct srpol_dp_policy dp = srpol_policy_to_dp(policy, policy->table);

	srpol_dp_wait_gp(sn, policy->gp);
	return srpol_dp_call(sn, policy_hide, &dp);
}

/* Do flows have to be classified again for this policy? */
static bool srpol_policy_reclassify(const struct srpol_obj *obj)
{
	const struct srpol_policy_cfg *was = obj->cur, *is = obj->next;

	return !was || !is || is->set.mode != was->set.mode ||
	       is->set.symmetric != was->set.symmetric;
}

static int srpol_policy_stage_table(struct srpol_net *sn,
				    struct srpol_policy *policy,
				    struct netlink_ext_ack *extack)
{
	struct srpol_table *table;
	int err;

	table = srpol_policy_next(sn, policy, extack);
	if (IS_ERR(table))
		return PTR_ERR(table);
	srpol_policy_compile(sn, policy, table);
	if (srpol_policy_unmoved(policy, table))
		return 0;
	policy->next = srpol_table_copy(table);
	if (!policy->next) {
		srpol_table_drop_rows(sn, policy, table);
		return -ENOMEM;
	}
	err = srpol_table_push(sn, policy, policy->next);
	return err ? srpol_dp_err(err, "policy", sn->limits.policies - 1,
				  extack) : 0;
}

/**
 * srpol_policy_stage() - compile a policy and stage the result
 * @sn: namespace, locked, in a transaction; paths have been staged
 * @obj: the policy
 * @extack: for a refusal
 */
int srpol_policy_stage(struct srpol_net *sn, struct srpol_obj *obj,
		       struct netlink_ext_ack *extack)
{
	struct srpol_policy *policy = srpol_policy(obj);
	int err;

	if (srpol_obj_deleted(obj)) {
		err = srpol_policy_hide(sn, policy);
		if (err)
			return srpol_dp_err(err, "policy",
					    sn->limits.policies - 1, extack);
	} else {
		err = srpol_policy_stage_table(sn, policy, extack);
		if (err || !policy->next)
			return err;
	}
	srpol_txn_staged(sn, obj);
	sn->txn.reclassify |= srpol_policy_reclassify(obj);
	return 0;
}

/*
 * Keep the table of a candidate path that is not active any more, so that it
 * can return as it was; free the kept one of that which is active now.
 */
static void srpol_policy_keep(struct srpol_policy *policy,
			      struct srpol_table *was)
{
	struct srpol_table **at = &policy->kept, *table;

	while ((table = *at)) {
		if (table->cand == was->cand ||
		    table->cand == policy->table->cand) {
			*at = table->kept;
			kfree(table);
		} else {
			at = &table->kept;
		}
	}
	was->kept = policy->kept;
	policy->kept = was;
}

/**
 * srpol_policy_switch() - put the compiled table of a policy in force
 * @sn: namespace, locked, committing
 * @policy: the policy
 */
void srpol_policy_switch(struct srpol_net *sn, struct srpol_policy *policy)
{
	struct srpol_table *was = policy->table, *is = policy->next;
	u8 state = was ? was->state : SRPOL_POLICY_STATE_DOWN;
	int active = was ? was->active : -1;

	if (!is)
		return;
	policy->table = is;
	policy->next = NULL;
	policy->gp = sn->txn.gp;
	policy->event |= state != is->state || active != is->active;
	if (state != is->state)
		srpol_color_add(&sn->colors_up, policy->key.color,
				is->state == SRPOL_POLICY_STATE_UP ? 1 : -1);
	list_del_init(&policy->wait_node);
	if (is->waiting) {
		list_add_tail(&policy->wait_node, &sn->waiting);
		srpol_queue_tick(sn, max_t(long, 1, is->wait_until - jiffies));
	}
	if (!was)
		return;
	if (was->pair != is->pair) {
		srpol_table_put_rows(sn, was);
		/* not txn.gp: a next hop may have been removed since the commit */
		sn->del_gp = get_state_synchronize_rcu();
	}
	if (was->n == is->n && was->cand >= 0 && was->cand != is->cand)
		srpol_policy_keep(policy, was);
	else
		kfree(was);
}

/**
 * srpol_policy_unstage() - free the compiled table of a policy
 * @sn: namespace, locked
 * @policy: the policy
 */
void srpol_policy_unstage(struct srpol_net *sn, struct srpol_policy *policy)
{
	if (!policy->next)
		return;
	srpol_table_drop_rows(sn, policy, policy->next);
	kfree(policy->next);
	policy->next = NULL;
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
