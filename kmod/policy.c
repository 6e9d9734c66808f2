// SPDX-License-Identifier: GPL-2.0
/*
 * SR policies: selection of the active candidate path, compilation into a
 * bucket table, and what has to happen when paths or policies come and go.
 */
#include <linux/bitmap.h>
#include <linux/jhash.h>
#include <net/ipv6.h>

#include "srpol.h"

static u32 srpol_policy_hash(u32 color, const struct in6_addr *endpoint)
{
	return jhash2(endpoint->s6_addr32, 4, color);
}

/**
 * srpol_policy_find() - look a policy up
 * @sn: namespace, locked
 * @color: color
 * @endpoint: endpoint
 */
struct srpol_policy *srpol_policy_find(struct srpol_net *sn, u32 color,
				       const struct in6_addr *endpoint)
{
	struct srpol_policy *policy;

	hash_for_each_possible(sn->policy_hash, policy, node,
			       srpol_policy_hash(color, endpoint))
		if (policy->cfg.color == color &&
		    ipv6_addr_equal(&policy->cfg.endpoint, endpoint))
			return policy;
	return NULL;
}

/**
 * srpol_color_count() - how many policies have a color
 * @colors: srpol_net.colors or srpol_net.colors_up
 * @color: the color
 */
u32 srpol_color_count(struct xarray *colors, u32 color)
{
	void *n = xa_load(colors, color);

	return n ? xa_to_value(n) : 0;
}

/* Colors only explain why a rule does nothing: a lost count harms nobody. */
static void srpol_color_add(struct xarray *colors, u32 color, int delta)
{
	u32 n = srpol_color_count(colors, color) + delta;

	if (n)
		xa_store(colors, color, xa_mk_value(n), GFP_KERNEL_ACCOUNT);
	else
		xa_erase(colors, color);
}

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
	} else if (READ_ONCE(list->path->state) != SRPOL_PATH_STATE_UP) {
		*reason = SRPOL_POLICY_REASON_PATH_NOT_UP;
	} else {
		*state = SRPOL_POLICY_STATE_UP;
		*reason = SRPOL_POLICY_REASON_NONE;
	}
}

static bool srpol_list_up(const struct srpol_list *list)
{
	enum srpol_policy_reason reason;
	enum srpol_policy_state state;

	srpol_policy_judge(list, &state, &reason);
	return state == SRPOL_POLICY_STATE_UP;
}

/* RFC 9256 2.9: index of the active candidate path, -1 if none is valid. */
static int srpol_policy_select(struct srpol_policy_cfg *cfg)
{
	int best = -1;
	u32 i, j;

	for (i = 0; i < cfg->n_cands; i++) {
		struct srpol_candidate *cand = &cfg->cands[i];

		cand->id.valid = false;
		for (j = 0; j < cand->n_lists; j++)
			cand->id.valid |= srpol_list_up(&cand->lists[j]);
		if (cand->id.valid &&
		    (best < 0 || srpol_cand_cmp(&cand->id,
						&cfg->cands[best].id) > 0))
			best = i;
	}
	return best;
}

/* Carry a bucket table over from one candidate path to another, by path. */
static void srpol_policy_carry(u8 *table, u32 n,
			       const struct srpol_candidate *from,
			       const struct srpol_candidate *to)
{
	u8 map[SRPOL_LISTS_MAX];
	u32 i, j;

	memset(map, SRPOL_NO_LIST, sizeof(map));
	for (i = 0; from && i < from->n_lists; i++)
		for (j = 0; j < to->n_lists; j++)
			if (from->lists[i].path == to->lists[j].path)
				map[i] = j;
	for (i = 0; i < n; i++)
		table[i] = table[i] < SRPOL_LISTS_MAX ? map[table[i]] :
							SRPOL_NO_LIST;
}

/* Fill home and live table for the active candidate path. */
static void srpol_policy_fill_buckets(struct srpol_policy *policy,
				      const struct srpol_candidate *cand)
{
	u32 weight[SRPOL_LISTS_MAX], n = policy->cfg.buckets, i;
	bool up[SRPOL_LISTS_MAX];

	for (i = 0; i < cand->n_lists; i++) {
		weight[i] = cand->lists[i].weight;
		up[i] = srpol_list_up(&cand->lists[i]);
	}
	srpol_bucket_home(policy->home, n, weight, cand->n_lists);
	srpol_bucket_live(policy->live, policy->home, n, weight, up,
			  cand->n_lists);
}

static u32 srpol_policy_backup_id(struct srpol_net *sn,
				  const struct srpol_policy_cfg *cfg)
{
	struct srpol_policy *backup;

	if (!cfg->backup_color)
		return 0;
	backup = srpol_policy_find(sn, cfg->backup_color, &cfg->endpoint) ?:
		 srpol_policy_find(sn, cfg->backup_color, &in6addr_any);
	return backup ? backup->id : 0;
}

static struct srpol_dp_policy
srpol_policy_to_dp(struct srpol_net *sn, const struct srpol_policy *policy,
		   u32 row)
{
	const struct srpol_policy_cfg *cfg = &policy->cfg;
	struct srpol_dp_policy dp = {
		.id = policy->id,
		.color = cfg->color,
		.row = row,
		.n_buckets = policy->active < 0 ? 0 : cfg->buckets,
		.mode = cfg->mode,
		.on_fail = cfg->on_fail,
		.backup = srpol_policy_backup_id(sn, cfg),
	};

	memcpy(dp.endpoint, &cfg->endpoint, sizeof(dp.endpoint));
	return dp;
}

/* Write the live table into the unused row set and switch to it. */
static int srpol_policy_push(struct srpol_net *sn,
			     struct srpol_policy *policy)
{
	u32 rows = policy->cfg.buckets / SRPOL_ROW_BUCKETS;
	const struct srpol_candidate *cand;
	struct srpol_dp_policy dp;
	struct srpol_dp_row row;
	u32 next, r, i;
	int err;

	if (!sn->dp)
		return 0;
	next = policy->row + (policy->row_live ? 0 : rows);
	srpol_dp_wait_gp(policy->gp);
	for (r = 0; policy->active >= 0 && r < rows; r++) {
		const u8 *live = policy->live + r * SRPOL_ROW_BUCKETS;

		cand = &policy->cfg.cands[policy->active];
		row.row = next + r;
		for (i = 0; i < SRPOL_ROW_BUCKETS; i++)
			row.path[i] = live[i] == SRPOL_NO_LIST ? 0 :
				      cand->lists[live[i]].path->id;
		err = srpol_dp_call(sn, row_set, &row);
		if (err)
			return err;
	}
	dp = srpol_policy_to_dp(sn, policy, next);
	err = srpol_dp_call(sn, policy_set, &dp);
	if (err)
		return err;
	policy->row_live = !policy->row_live;
	policy->gp = get_state_synchronize_rcu();
	return 0;
}

static int srpol_policy_event_fill(struct srpol_net *sn, struct sk_buff *skb,
				   const void *obj)
{
	const struct srpol_policy *policy = obj;

	if (nla_put_u32(skb, SRPOL_A_POLICY_COLOR, policy->cfg.color) ||
	    nla_put_in6_addr(skb, SRPOL_A_POLICY_ENDPOINT,
			     &policy->cfg.endpoint) ||
	    (policy->cfg.name[0] &&
	     nla_put_string(skb, SRPOL_A_POLICY_NAME, policy->cfg.name)) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_STATE, policy->state) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_REASON, policy->reason) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_ID, policy->id))
		return -EMSGSIZE;
	return 0;
}

/*
 * Select, compile and push. @from is the candidate path the present tables
 * belong to, NULL if they are empty. While no candidate path is valid the
 * tables are kept, so that flows find their paths again when one returns.
 */
static int srpol_policy_compile(struct srpol_net *sn,
				struct srpol_policy *policy,
				const struct srpol_candidate *from)
{
	struct srpol_policy_cfg *cfg = &policy->cfg;
	enum srpol_policy_state was = policy->state;
	int was_active = policy->active;
	int err;

	policy->active = srpol_policy_select(cfg);
	if (policy->active >= 0) {
		const struct srpol_candidate *cand =
			&cfg->cands[policy->active];

		if (from != cand) {
			srpol_policy_carry(policy->home, cfg->buckets, from,
					   cand);
			srpol_policy_carry(policy->live, cfg->buckets, from,
					   cand);
		}
		srpol_policy_fill_buckets(policy, cand);
		policy->table_cand = policy->active;
		policy->state = SRPOL_POLICY_STATE_UP;
		policy->reason = SRPOL_POLICY_REASON_NONE;
	} else {
		policy->state = SRPOL_POLICY_STATE_DOWN;
		policy->reason = cfg->n_cands ?
				 SRPOL_POLICY_REASON_NO_VALID_CANDIDATE :
				 SRPOL_POLICY_REASON_NO_CANDIDATE;
	}
	err = srpol_policy_push(sn, policy);
	if (err)
		return err;
	if (was != policy->state || was_active != policy->active)
		srpol_nl_notify(sn, NULL, SRPOL_CMD_POLICY_EVENT,
				SRPOL_NLGRP_EVENTS, srpol_policy_event_fill,
				policy);
	if (was != policy->state)
		srpol_color_add(&sn->colors_up, cfg->color,
				policy->state == SRPOL_POLICY_STATE_UP ?
				1 : -1);
	return 0;
}

static const struct srpol_candidate *
srpol_policy_table_cand(const struct srpol_policy *policy)
{
	return policy->table_cand < 0 ? NULL :
	       &policy->cfg.cands[policy->table_cand];
}

/* Recompile an unchanged configuration; its rows exist, so it succeeds. */
static void srpol_policy_refresh(struct srpol_net *sn,
				 struct srpol_policy *policy)
{
	int err = srpol_policy_compile(sn, policy,
				       srpol_policy_table_cand(policy));

	if (err)
		net_warn_ratelimited("srpol: data plane refused an update of policy color %u: %d\n",
				     policy->cfg.color, err);
}

/**
 * srpol_policy_update_dirty() - recompile what changed paths are used by
 * @sn: namespace, locked
 */
void srpol_policy_update_dirty(struct srpol_net *sn)
{
	struct srpol_policy *policy, *tmp;
	struct srpol_path *path;
	struct srpol_list *list;

	lockdep_assert_held(&sn->lock);
	spin_lock_bh(&sn->state_lock);
	while (!list_empty(&sn->changed)) {
		path = list_first_entry(&sn->changed, struct srpol_path,
					changed_node);
		list_del_init(&path->changed_node);
		list_for_each_entry(list, &path->users, path_node)
			if (list_empty(&list->policy->dirty_node))
				list_add_tail(&list->policy->dirty_node,
					      &sn->dirty);
	}
	spin_unlock_bh(&sn->state_lock);

	list_for_each_entry_safe(policy, tmp, &sn->dirty, dirty_node) {
		list_del_init(&policy->dirty_node);
		srpol_policy_refresh(sn, policy);
	}
}

/* A policy of this color and endpoint came or went: who has it as backup? */
static void srpol_policy_update_backups(struct srpol_net *sn, u32 color,
					const struct in6_addr *endpoint)
{
	struct srpol_policy *policy;
	unsigned long id;

	if (!sn->n_backups)
		return;
	xa_for_each(&sn->policies, id, policy)
		if (policy->cfg.backup_color == color &&
		    (ipv6_addr_any(endpoint) ||
		     ipv6_addr_equal(&policy->cfg.endpoint, endpoint)))
			srpol_policy_refresh(sn, policy);
}

static void srpol_policy_link(struct srpol_policy *policy,
			      struct srpol_policy_cfg *cfg)
{
	struct srpol_list *list;
	u32 i, j;

	for (i = 0; i < cfg->n_cands; i++) {
		for (j = 0; j < cfg->cands[i].n_lists; j++) {
			list = &cfg->cands[i].lists[j];
			list->policy = policy;
			list_add_tail(&list->path_node, &list->path->users);
			list->path->n_users++;
		}
	}
}

static void srpol_policy_unlink(struct srpol_policy_cfg *cfg)
{
	struct srpol_list *list;
	u32 i, j;

	for (i = 0; i < cfg->n_cands; i++) {
		for (j = 0; j < cfg->cands[i].n_lists; j++) {
			list = &cfg->cands[i].lists[j];
			list_del(&list->path_node);
			list->path->n_users--;
		}
	}
}

/**
 * srpol_policy_cfg_free() - free the candidate paths of a configuration
 * @cfg: a configuration that is not linked to its paths
 */
void srpol_policy_cfg_free(struct srpol_policy_cfg *cfg)
{
	u32 i;

	for (i = 0; i < cfg->n_cands; i++)
		kfree(cfg->cands[i].lists);
	kfree(cfg->cands);
	cfg->cands = NULL;
	cfg->n_cands = 0;
}

static int srpol_rows_get(struct srpol_net *sn, u32 buckets, u32 *row,
			  struct netlink_ext_ack *extack)
{
	u32 n = 2 * buckets / SRPOL_ROW_BUCKETS;
	unsigned long at;

	if (!sn->row_map) {
		sn->row_map = bitmap_zalloc(SRPOL_ROWS_MAX,
					    GFP_KERNEL_ACCOUNT);
		if (!sn->row_map)
			return -ENOMEM;
	}
	at = bitmap_find_next_zero_area(sn->row_map, sn->limits.rows, 1, n, 0);
	if (at >= sn->limits.rows)
		return srpol_dp_err(sn, -ENOSPC, "bucket row",
				    sn->limits.rows - 1, extack);
	bitmap_set(sn->row_map, at, n);
	*row = at;
	return 0;
}

static void srpol_rows_put(struct srpol_net *sn, u32 buckets, u32 row)
{
	bitmap_clear(sn->row_map, row, 2 * buckets / SRPOL_ROW_BUCKETS);
	sn->del_gp = get_state_synchronize_rcu();
}

/* Rows and tables for a number of buckets, all empty. */
static int srpol_policy_alloc_tables(struct srpol_net *sn,
				     struct srpol_policy *policy, u32 buckets,
				     struct netlink_ext_ack *extack)
{
	int err;

	policy->home = kmalloc(2 * buckets, GFP_KERNEL_ACCOUNT);
	if (!policy->home)
		return -ENOMEM;
	err = srpol_rows_get(sn, buckets, &policy->row, extack);
	if (err) {
		kfree(policy->home);
		return err;
	}
	memset(policy->home, SRPOL_NO_LIST, 2 * buckets);
	policy->live = policy->home + buckets;
	policy->row_live = 0;
	/* of the policy itself, which may have been set a moment ago */
	srpol_dp_wait_gp(policy->gp);
	policy->gp = sn->del_gp;
	return 0;
}

static int srpol_policy_add(struct srpol_net *sn,
			    struct srpol_policy_cfg *cfg,
			    struct srpol_policy **out,
			    struct netlink_ext_ack *extack)
{
	struct srpol_policy *policy;
	int err;

	policy = kzalloc(sizeof(*policy), GFP_KERNEL_ACCOUNT);
	if (!policy)
		return -ENOMEM;
	policy->active = -1;
	policy->table_cand = -1;
	INIT_LIST_HEAD(&policy->dirty_node);
	err = xa_alloc(&sn->policies, &policy->id, policy,
		       XA_LIMIT(1, sn->limits.policies - 1),
		       GFP_KERNEL_ACCOUNT);
	if (err) {
		if (err == -EBUSY)
			err = srpol_dp_err(sn, -ENOSPC, "policy",
					   sn->limits.policies - 1, extack);
		goto err_free;
	}
	err = srpol_policy_alloc_tables(sn, policy, cfg->buckets, extack);
	if (err)
		goto err_id;
	policy->cfg = *cfg;
	srpol_policy_link(policy, &policy->cfg);
	err = srpol_policy_compile(sn, policy, NULL);
	if (err) {
		srpol_dp_err(sn, err, "policy", sn->limits.policies - 1,
			     extack);
		goto err_tables;
	}
	hash_add(sn->policy_hash, &policy->node,
		 srpol_policy_hash(cfg->color, &cfg->endpoint));
	sn->n_policies++;
	sn->n_backups += !!cfg->backup_color;
	srpol_color_add(&sn->colors, cfg->color, 1);
	srpol_policy_update_backups(sn, cfg->color, &cfg->endpoint);
	srpol_dp_epoch(sn);
	*out = policy;
	return 0;

err_tables:
	srpol_policy_unlink(&policy->cfg);
	srpol_rows_put(sn, cfg->buckets, policy->row);
	kfree(policy->home);
err_id:
	xa_erase(&sn->policies, policy->id);
err_free:
	kfree(policy);
	return err;
}

static int srpol_policy_replace(struct srpol_net *sn,
				struct srpol_policy *policy,
				struct srpol_policy_cfg *cfg,
				struct netlink_ext_ack *extack)
{
	struct srpol_policy old = *policy;
	u8 *saved = NULL;
	int err;

	if (cfg->buckets != old.cfg.buckets) {
		err = srpol_policy_alloc_tables(sn, policy, cfg->buckets,
						extack);
		if (err) {
			policy->home = old.home;
			return err;
		}
	} else {
		saved = kmemdup(old.home, 2 * cfg->buckets, GFP_KERNEL);
		if (!saved)
			return -ENOMEM;
	}
	policy->cfg = *cfg;
	policy->table_cand = -1;
	srpol_policy_link(policy, &policy->cfg);
	/* tables of another size start empty: they have nothing to carry */
	err = srpol_policy_compile(sn, policy, saved ?
				   srpol_policy_table_cand(&old) : NULL);
	if (err) {
		srpol_dp_err(sn, err, "policy", sn->limits.policies - 1,
			     extack);
		srpol_policy_unlink(&policy->cfg);
		if (saved) {
			memcpy(old.home, saved, 2 * cfg->buckets);
		} else {
			srpol_rows_put(sn, cfg->buckets, policy->row);
			kfree(policy->home);
		}
		*policy = old;
		goto out;
	}
	/* without a valid candidate path the tables describe freed lists */
	if (policy->table_cand < 0)
		memset(policy->home, SRPOL_NO_LIST, 2 * cfg->buckets);
	srpol_policy_unlink(&old.cfg);
	srpol_policy_cfg_free(&old.cfg);
	if (!saved) {
		srpol_rows_put(sn, old.cfg.buckets, old.row);
		kfree(old.home);
	}
	sn->n_backups += !!cfg->backup_color - !!old.cfg.backup_color;
out:
	kfree(saved);
	return err;
}

/**
 * srpol_policy_set() - create or redefine a policy
 * @sn: namespace, locked
 * @old: the policy to redefine, NULL to create one
 * @cfg: new configuration; on success its candidate paths are taken over
 * @out: set to the policy
 * @extack: for a refusal
 *
 * Return: 0 or a negative errno, and then nothing has changed.
 */
int srpol_policy_set(struct srpol_net *sn, struct srpol_policy *old,
		     struct srpol_policy_cfg *cfg, struct srpol_policy **out,
		     struct netlink_ext_ack *extack)
{
	lockdep_assert_held(&sn->lock);
	if (!old)
		return srpol_policy_add(sn, cfg, out, extack);
	*out = old;
	return srpol_policy_replace(sn, old, cfg, extack);
}

/**
 * srpol_policy_del() - remove a policy
 * @sn: namespace, locked
 * @policy: the policy
 */
void srpol_policy_del(struct srpol_net *sn, struct srpol_policy *policy)
{
	struct srpol_dp_policy dp = srpol_policy_to_dp(sn, policy, 0);
	u32 color = policy->cfg.color;

	lockdep_assert_held(&sn->lock);
	hash_del(&policy->node);
	sn->n_policies--;
	sn->n_backups -= !!policy->cfg.backup_color;
	srpol_color_add(&sn->colors, color, -1);
	if (policy->state == SRPOL_POLICY_STATE_UP)
		srpol_color_add(&sn->colors_up, color, -1);
	srpol_policy_update_backups(sn, color, &policy->cfg.endpoint);
	srpol_dp_call(sn, policy_del, &dp);
	srpol_dp_epoch(sn);

	srpol_policy_unlink(&policy->cfg);
	srpol_policy_cfg_free(&policy->cfg);
	srpol_rows_put(sn, policy->cfg.buckets, policy->row);
	kfree(policy->home);
	list_del(&policy->dirty_node);
	xa_erase(&sn->policies, policy->id);
	kfree(policy);
}

/**
 * srpol_policy_replay() - tell a new data plane about all policies
 * @sn: namespace, locked
 *
 * Twice, as the first round does not know all backups yet.
 */
int srpol_policy_replay(struct srpol_net *sn)
{
	struct srpol_policy *policy;
	unsigned long id;
	int round, err;

	for (round = 0; round < (sn->n_backups ? 2 : 1); round++) {
		xa_for_each(&sn->policies, id, policy) {
			err = srpol_policy_push(sn, policy);
			if (err)
				return err;
		}
	}
	return 0;
}

/**
 * srpol_policy_flush() - free all policies of a dying namespace
 * @sn: namespace, locked
 */
void srpol_policy_flush(struct srpol_net *sn)
{
	struct srpol_policy *policy;
	unsigned long id;

	xa_for_each(&sn->policies, id, policy)
		srpol_policy_del(sn, policy);
	xa_destroy(&sn->policies);
}
