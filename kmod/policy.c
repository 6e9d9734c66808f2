// SPDX-License-Identifier: GPL-2.0
/*
 * SR policies: the objects and what a transaction does to them. How they
 * become bucket tables is in compile.c.
 */
#include <linux/jhash.h>
#include <net/ipv6.h>

#include "srpol.h"

static u32 srpol_policy_hash(u32 color, const struct in6_addr *endpoint)
{
	return jhash(endpoint, sizeof(*endpoint), color);
}

/* Also one that the transaction under way has deleted. */
static struct srpol_policy *
srpol_policy_lookup(struct srpol_net *sn, u32 color,
		    const struct in6_addr *endpoint)
{
	struct srpol_policy *policy;

	hash_for_each_possible(sn->policy_hash, policy, node,
			       srpol_policy_hash(color, endpoint))
		if (policy->color == color &&
		    ipv6_addr_equal(&policy->endpoint, endpoint))
			return policy;
	return NULL;
}

/**
 * srpol_policy_find() - look a policy up
 * @sn: namespace, locked
 * @color: color
 * @endpoint: endpoint
 *
 * Return: a policy that the transaction under way has not deleted, or NULL.
 */
struct srpol_policy *srpol_policy_find(struct srpol_net *sn, u32 color,
				       const struct in6_addr *endpoint)
{
	struct srpol_policy *policy = srpol_policy_lookup(sn, color, endpoint);

	return policy && !policy->change.gone ? policy : NULL;
}

/**
 * srpol_list_policy() - the policy that a segment list belongs to
 * @sn: namespace, locked
 * @list: one that is linked to its path
 */
struct srpol_policy *srpol_list_policy(struct srpol_net *sn,
				       const struct srpol_list *list)
{
	return xa_load(&sn->policies, list->policy);
}

/**
 * srpol_policy_find_bsid() - look a policy up by its binding SID
 * @sn: namespace, locked
 * @bsid: the binding SID
 */
struct srpol_policy *srpol_policy_find_bsid(struct srpol_net *sn,
					    const struct in6_addr *bsid)
{
	struct srpol_policy *policy;

	hash_for_each_possible(sn->bsid_hash, policy, bsid_node,
			       srpol_policy_hash(0, bsid))
		if (ipv6_addr_equal(&policy->cfg.set.bsid, bsid))
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

/**
 * srpol_color_add() - a policy of a color came or went
 * @colors: srpol_net.colors or srpol_net.colors_up
 * @color: the color
 * @delta: 1 or -1
 *
 * Colors only explain why a rule does nothing: a lost count harms nobody.
 */
void srpol_color_add(struct xarray *colors, u32 color, int delta)
{
	u32 n = srpol_color_count(colors, color);

	if (n || delta > 0)
		n += delta;
	if (n)
		xa_store(colors, color, xa_mk_value(n), GFP_KERNEL_ACCOUNT);
	else
		xa_erase(colors, color);
}

static void srpol_policy_link(struct srpol_policy *policy)
{
	struct srpol_list *list;
	u32 i, j;

	for (i = 0; i < policy->cfg.n_cands; i++) {
		for (j = 0; j < policy->cfg.cands[i].n_lists; j++) {
			list = &policy->cfg.cands[i].lists[j];
			list->policy = policy->id;
			list_add_tail(&list->path_node, &list->path->users);
			list->path->n_users++;
		}
	}
}

static void srpol_policy_unlink(struct srpol_policy *policy)
{
	struct srpol_list *list;
	u32 i, j;

	for (i = 0; i < policy->cfg.n_cands; i++) {
		for (j = 0; j < policy->cfg.cands[i].n_lists; j++) {
			list = &policy->cfg.cands[i].lists[j];
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

/* Have this configuration, which the paths and the tables know then. */
static void srpol_policy_adopt(struct srpol_net *sn,
			       struct srpol_policy *policy,
			       const struct srpol_policy_cfg *cfg)
{
	policy->cfg = *cfg;
	policy->change.gone = false;
	srpol_policy_link(policy);
	sn->n_backups += !!cfg->set.backup_color;
	if (!ipv6_addr_any(&cfg->set.bsid))
		hash_add(sn->bsid_hash, &policy->bsid_node,
			 srpol_policy_hash(0, &cfg->set.bsid));
}

/* The configuration from before the transaction is kept. */
static int srpol_policy_save(struct srpol_policy *policy)
{
	if (policy->change.created || policy->change.saved)
		return 0;
	policy->old = kmemdup(&policy->cfg, sizeof(policy->cfg),
			      GFP_KERNEL_ACCOUNT);
	if (!policy->old)
		return -ENOMEM;
	policy->change.saved = true;
	return 0;
}

/* Have none. */
static void srpol_policy_clear(struct srpol_net *sn,
			       struct srpol_policy *policy)
{
	if (policy->change.gone)
		return;
	srpol_policy_unlink(policy);
	sn->n_backups -= !!policy->cfg.set.backup_color;
	hash_del(&policy->bsid_node);
	if (!policy->old || policy->old->cands != policy->cfg.cands)
		srpol_policy_cfg_free(&policy->cfg);
	memset(&policy->cfg, 0, sizeof(policy->cfg));
	policy->change.gone = true;
}

static struct srpol_policy *
srpol_policy_alloc(struct srpol_net *sn, u32 color,
		   const struct in6_addr *endpoint,
		   struct netlink_ext_ack *extack)
{
	struct srpol_policy *policy;
	int err;

	policy = kzalloc(sizeof(*policy), GFP_KERNEL_ACCOUNT);
	if (!policy)
		return ERR_PTR(-ENOMEM);
	policy->color = color;
	policy->endpoint = *endpoint;
	srpol_change_init(&policy->change, SRPOL_KIND_POLICY);
	policy->change.created = true;
	policy->change.gone = true;
	INIT_LIST_HEAD(&policy->wait_node);
	/* the id may have been in use a moment ago */
	policy->gp = sn->del_gp;
	err = xa_alloc(&sn->policies, &policy->id, policy,
		       XA_LIMIT(1, sn->limits.policies - 1),
		       GFP_KERNEL_ACCOUNT);
	if (err) {
		if (err == -EBUSY)
			err = srpol_dp_err(sn, -ENOSPC, "policy",
					   sn->limits.policies - 1, extack);
		kfree(policy);
		return ERR_PTR(err);
	}
	hash_add(sn->policy_hash, &policy->node,
		 srpol_policy_hash(color, endpoint));
	sn->n_policies++;
	return policy;
}

static void srpol_policy_free(struct srpol_net *sn,
			      struct srpol_policy *policy)
{
	hash_del(&policy->node);
	list_del(&policy->wait_node);
	xa_erase(&sn->policies, policy->id);
	sn->n_policies--;
	if (policy->table)
		srpol_table_free(sn, policy->table);
	kfree(policy);
}

/**
 * srpol_policy_set_cfg() - create or redefine a policy
 * @sn: namespace, locked, in a transaction
 * @color: which one
 * @endpoint: which one
 * @cfg: new configuration; on success its candidate paths are taken over
 * @extack: for a refusal
 *
 * Return: 0 or a negative errno.
 */
int srpol_policy_set_cfg(struct srpol_net *sn, u32 color,
			 const struct in6_addr *endpoint,
			 struct srpol_policy_cfg *cfg,
			 struct netlink_ext_ack *extack)
{
	struct srpol_policy *policy;
	int err;

	lockdep_assert_held(&sn->lock);
	policy = srpol_policy_lookup(sn, color, endpoint) ?:
		 srpol_policy_alloc(sn, color, endpoint, extack);
	if (IS_ERR(policy))
		return PTR_ERR(policy);
	err = srpol_policy_save(policy);
	if (err)
		return err;
	srpol_txn_touch(sn, &policy->change);
	srpol_policy_clear(sn, policy);
	srpol_policy_adopt(sn, policy, cfg);
	return 0;
}

/**
 * srpol_policy_delete() - a policy is not wanted any more
 * @sn: namespace, locked, in a transaction
 * @policy: the policy
 *
 * Return: 0 or -ENOMEM.
 */
int srpol_policy_delete(struct srpol_net *sn, struct srpol_policy *policy)
{
	int err = srpol_policy_save(policy);

	if (err)
		return err;
	srpol_txn_touch(sn, &policy->change);
	srpol_policy_clear(sn, policy);
	return 0;
}

static bool srpol_candidate_equal(const struct srpol_candidate *a,
				  const struct srpol_candidate *b)
{
	u32 i;

	if (a->id.preference != b->id.preference ||
	    a->id.protocol_origin != b->id.protocol_origin ||
	    a->id.asn != b->id.asn ||
	    !ipv6_addr_equal(&a->id.node, &b->id.node) ||
	    a->id.discriminator != b->id.discriminator ||
	    strcmp(a->name, b->name) || a->n_lists != b->n_lists)
		return false;
	for (i = 0; i < a->n_lists; i++)
		if (a->lists[i].path != b->lists[i].path ||
		    a->lists[i].weight != b->lists[i].weight)
			return false;
	return true;
}

static bool srpol_policy_same(struct srpol_net *sn, const void *obj)
{
	const struct srpol_policy *policy = obj;
	const struct srpol_policy_cfg *a = &policy->cfg, *b = policy->old;
	u32 i;

	if (memcmp(&a->set, &b->set, sizeof(a->set)) ||
	    a->n_cands != b->n_cands)
		return false;
	for (i = 0; i < a->n_cands; i++)
		if (!srpol_candidate_equal(&a->cands[i], &b->cands[i]))
			return false;
	return true;
}

static void srpol_policy_commit(struct srpol_net *sn,
				struct srpol_change *change)
{
	struct srpol_policy *policy = container_of(change,
						   struct srpol_policy, change);

	if (change->created)
		srpol_color_add(&sn->colors, policy->color, 1);
	/* what was configured is part of the notification of the end */
	if (change->gone)
		policy->cfg = *policy->old;
	else if (change->saved)
		srpol_policy_cfg_free(policy->old);
	kfree(policy->old);
	policy->old = NULL;
	if (!change->gone)
		srpol_policy_switch(sn, policy);
}

static void srpol_policy_abort(struct srpol_net *sn,
			       struct srpol_change *change)
{
	struct srpol_policy *policy = container_of(change,
						   struct srpol_policy, change);

	if (change->staged)
		srpol_dp_call(sn, revert, SRPOL_DP_POLICY, policy->id);
	srpol_policy_unstage(sn, policy);
	if (change->created || change->saved)
		srpol_policy_clear(sn, policy);
	if (change->saved)
		srpol_policy_adopt(sn, policy, policy->old);
	kfree(policy->old);
	policy->old = NULL;
	if (change->created)
		srpol_policy_free(sn, policy);
}

static void srpol_policy_remove(struct srpol_net *sn,
				struct srpol_change *change)
{
	struct srpol_policy *policy = container_of(change,
						   struct srpol_policy, change);
	struct srpol_dp_policy dp = srpol_policy_to_dp(policy, policy->table);

	srpol_dp_call(sn, policy_del, &dp);
	srpol_color_add(&sn->colors, policy->color, -1);
	if (policy->table->state == SRPOL_POLICY_STATE_UP)
		srpol_color_add(&sn->colors_up, policy->color, -1);
	srpol_policy_cfg_free(&policy->cfg);
	srpol_policy_free(sn, policy);
}

const struct srpol_change_ops srpol_policy_change_ops = {
	.same		= srpol_policy_same,
	.prepare	= srpol_policy_prepare,
	.stage		= srpol_policy_stage,
	.commit		= srpol_policy_commit,
	.abort		= srpol_policy_abort,
	.remove		= srpol_policy_remove,
	.fill		= srpol_policy_fill,
	.offset		= offsetof(struct srpol_policy, change),
	.ntf		= SRPOL_CMD_POLICY_NTF,
	.del_ntf	= SRPOL_CMD_POLICY_DEL_NTF,
};

/**
 * srpol_policy_flush() - free all policies of a dying namespace
 * @sn: namespace, locked, without a data plane
 */
void srpol_policy_flush(struct srpol_net *sn)
{
	struct srpol_policy *policy;
	unsigned long id;

	xa_for_each(&sn->policies, id, policy) {
		srpol_policy_unlink(policy);
		srpol_policy_remove(sn, &policy->change);
	}
	xa_destroy(&sn->policies);
}
