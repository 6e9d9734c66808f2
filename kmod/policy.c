// SPDX-License-Identifier: GPL-2.0
/*
 * SR policies: the objects, and how a transaction changes them. compile.c
 * compiles them to bucket tables.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "dataplane.h"
#include "netlink.h"
#include "path.h"
#include "policy.h"
#include "queue.h"
#include "sid.h"

static const struct rhashtable_params srpol_policy_params = {
	.head_offset = offsetof(struct srpol_policy, node),
	.key_offset = offsetof(struct srpol_policy, key),
	.key_len = sizeof(struct srpol_policy_key),
	.automatic_shrinking = true,
};

static const struct rhashtable_params srpol_bsid_params = {
	.head_offset = offsetof(struct srpol_policy_cfg, bsid_node),
	.key_offset = offsetof(struct srpol_policy_cfg, set.bsid),
	.key_len = sizeof(struct in6_addr),
	.automatic_shrinking = true,
};

int srpol_policy_init(struct srpol_net *sn)
{
	int err;

	err = rhashtable_init(&sn->policy_keys, &srpol_policy_params);
	if (err)
		return err;
	err = rhltable_init(&sn->bsids, &srpol_bsid_params);
	if (err)
		rhashtable_destroy(&sn->policy_keys);
	return err;
}

void srpol_policy_exit(struct srpol_net *sn)
{
	rhltable_destroy(&sn->bsids);
	rhashtable_destroy(&sn->policy_keys);
}

/* The result may be one that the present transaction has deleted. */
static struct srpol_policy *
srpol_policy_lookup(struct srpol_net *sn, const struct srpol_policy_key *key)
{
	lockdep_assert_held(&sn->lock);
	return srpol_net_started(sn) ?
	       rhashtable_lookup_fast(&sn->policy_keys, key,
				      srpol_policy_params) : NULL;
}

/**
 * srpol_policy_find() - look up a policy
 * @sn: namespace, locked
 * @color: color
 * @endpoint: endpoint
 *
 * Return: the policy, or NULL if it does not exist or the present transaction
 * has deleted it.
 */
struct srpol_policy *srpol_policy_find(struct srpol_net *sn, u32 color,
				       const struct in6_addr *endpoint)
{
	const struct srpol_policy_key key = {
		.color = color,
		.endpoint = *endpoint,
	};
	struct srpol_policy *policy = srpol_policy_lookup(sn, &key);

	return policy && srpol_policy_cfg(policy) ? policy : NULL;
}

/**
 * srpol_policy_find_bsid() - look up a policy by its binding SID
 * @sn: namespace, locked
 * @bsid: the binding SID
 *
 * Return: the policy that will have it after the present transaction, or NULL.
 */
const struct srpol_policy *
srpol_policy_find_bsid(struct srpol_net *sn, const struct in6_addr *bsid)
{
	const struct srpol_policy *found = NULL;
	const struct srpol_policy_cfg *cfg;
	struct rhlist_head *list, *pos;

	rcu_read_lock();
	list = rhltable_lookup(&sn->bsids, bsid, srpol_bsid_params);
	rhl_for_each_entry_rcu(cfg, pos, list, bsid_node) {
		if (srpol_policy_cfg(cfg->policy) == cfg)
			found = cfg->policy;
	}
	rcu_read_unlock();
	return found;
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
 * srpol_color_add() - count a policy of a color that was created or deleted
 * @colors: srpol_net.colors or srpol_net.colors_up
 * @color: the color
 * @delta: 1 or -1
 *
 * The counts only serve to explain why a rule has no effect, so that one that
 * is lost, as memory is short, does no harm.
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

/**
 * srpol_policy_cfg_alloc() - allocate a configuration
 * @n_cands: number of candidate paths
 * @n_lists: number of segment lists of all candidate paths
 *
 * The segment lists follow the candidate paths in memory. Only the first
 * candidate path points to its lists; the caller sets @lists of the others.
 *
 * Return: a configuration without a policy, or NULL.
 */
struct srpol_policy_cfg *srpol_policy_cfg_alloc(u32 n_cands, u32 n_lists)
{
	struct srpol_policy_cfg *cfg;

	cfg = kzalloc(struct_size(cfg, cands, n_cands) +
		      n_lists * sizeof(struct srpol_list),
		      GFP_KERNEL_ACCOUNT);
	if (!cfg)
		return NULL;
	cfg->n_cands = n_cands;
	if (n_cands)
		cfg->cands[0].lists = (void *)&cfg->cands[n_cands];
	return cfg;
}

static void srpol_policy_for_lists(struct srpol_policy_cfg *cfg,
				   void (*fn)(struct srpol_list *list, int arg),
				   int arg)
{
	u32 i, j;

	for (i = 0; i < cfg->n_cands; i++)
		for (j = 0; j < cfg->cands[i].n_lists; j++)
			fn(&cfg->cands[i].lists[j], arg);
}

static void srpol_list_link(struct srpol_list *list, int on)
{
	if (on)
		list_add_tail(&list->path_node, &list->path->users);
	else
		list_del(&list->path_node);
}

static void srpol_list_want(struct srpol_list *list, int delta)
{
	list->path->n_users += delta;
}

/* Link a configuration to its paths, and to its binding SID. */
static int srpol_policy_link(struct srpol_net *sn, struct srpol_policy *policy,
			     struct srpol_policy_cfg *cfg)
{
	u32 i, j;
	int err;

	cfg->policy = policy;
	if (!ipv6_addr_any(&cfg->set.bsid)) {
		err = rhltable_insert(&sn->bsids, &cfg->bsid_node,
				      srpol_bsid_params);
		if (err)
			return err;
	}
	for (i = 0; i < cfg->n_cands; i++)
		for (j = 0; j < cfg->cands[i].n_lists; j++)
			cfg->cands[i].lists[j].policy = policy;
	srpol_policy_for_lists(cfg, srpol_list_link, 1);
	return 0;
}

static void srpol_policy_free_cfg(struct srpol_net *sn, void *obj_cfg)
{
	struct srpol_policy_cfg *cfg = obj_cfg;

	srpol_policy_for_lists(cfg, srpol_list_link, 0);
	if (!ipv6_addr_any(&cfg->set.bsid))
		rhltable_remove(&sn->bsids, &cfg->bsid_node,
				srpol_bsid_params);
	/*
	 * readers in srpol_policy_find_bsid() hold @sn->lock, so none can be
	 * here
	 */
	kfree(cfg);
}

static void srpol_policy_want(struct srpol_net *sn, void *obj_cfg, int delta)
{
	struct srpol_policy_cfg *cfg = obj_cfg;

	srpol_policy_for_lists(cfg, srpol_list_want, delta);
	if (cfg->set.backup_color)
		sn->n_backups += delta;
}

static struct srpol_policy *
srpol_policy_alloc(struct srpol_net *sn, const struct srpol_policy_key *key,
		   struct netlink_ext_ack *extack)
{
	struct srpol_policy *policy;
	int err;

	policy = kzalloc(sizeof(*policy), GFP_KERNEL_ACCOUNT);
	if (!policy)
		return ERR_PTR(-ENOMEM);
	policy->key = *key;
	srpol_obj_init(&policy->obj, SRPOL_OBJ_POLICY);
	INIT_LIST_HEAD(&policy->wait_node);
	INIT_LIST_HEAD(&policy->stale_node);
	/* the id may have been in use a moment ago */
	policy->gp = sn->del_gp;
	err = xa_alloc(&sn->policies, &policy->id, policy,
		       XA_LIMIT(1, sn->limits.policies - 1),
		       GFP_KERNEL_ACCOUNT);
	if (err) {
		if (err == -EBUSY)
			err = srpol_dp_err(-ENOSPC, "policy",
					   sn->limits.policies - 1, extack);
		goto err_free;
	}
	err = rhashtable_insert_fast(&sn->policy_keys, &policy->node,
				     srpol_policy_params);
	if (err)
		goto err_id;
	sn->n_policies++;
	return policy;

err_id:
	xa_erase(&sn->policies, policy->id);
err_free:
	kfree(policy);
	return ERR_PTR(err);
}

static void srpol_policy_release(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_policy *policy = srpol_policy(obj);

	rhashtable_remove_fast(&sn->policy_keys, &policy->node,
			       srpol_policy_params);
	list_del(&policy->wait_node);
	list_del(&policy->stale_node);
	xa_erase(&sn->policies, policy->id);
	sn->n_policies--;
	srpol_policy_free_kept(policy);
	if (policy->table) {
		srpol_table_put_rows(sn, policy->table);
		kfree(policy->table);
	}
	kfree(policy);
}

/* Delete the local SID of a configuration's binding SID. */
static void srpol_policy_unbind(struct srpol_net *sn,
				const struct srpol_policy_cfg *cfg)
{
	struct srpol_sid *sid;

	if (!cfg || ipv6_addr_any(&cfg->set.bsid))
		return;
	sid = srpol_sid_find(sn, &cfg->set.bsid, SRPOL_BSID_LEN);
	if (!WARN_ON_ONCE(!sid))
		srpol_obj_delete(sn, &sid->obj);
}

/*
 * Create the local SID of a policy's binding SID, in the same transaction.
 * @old: the configuration so far, NULL if the policy is new.
 */
static int srpol_policy_bind(struct srpol_net *sn,
			     const struct srpol_policy *policy,
			     const struct srpol_policy_cfg *old,
			     const struct srpol_policy_cfg *cfg,
			     struct netlink_ext_ack *extack)
{
	const struct srpol_sid_cfg sid = {
		.behavior = SRPOL_BEHAVIOR_END_B6_ENCAPS,
		.origin = cfg->set.origin,
		.policy = policy->id,
		.dscp_mode = SRPOL_DSCP_MODE_PIPE,
	};

	if (old && !ipv6_addr_equal(&old->set.bsid, &cfg->set.bsid))
		srpol_policy_unbind(sn, old);
	if (ipv6_addr_any(&cfg->set.bsid))
		return 0;
	return srpol_sid_define(sn, &cfg->set.bsid, SRPOL_BSID_LEN, &sid,
				extack);
}

/**
 * srpol_policy_define() - create or redefine a policy
 * @sn: namespace, locked, in a transaction
 * @color: color of the policy
 * @endpoint: endpoint of the policy
 * @cfg: new configuration; owned by the policy from now on, or freed on failure
 * @extack: for a refusal
 *
 * Return: 0 or a negative errno.
 */
int srpol_policy_define(struct srpol_net *sn, u32 color,
			const struct in6_addr *endpoint,
			struct srpol_policy_cfg *cfg,
			struct netlink_ext_ack *extack)
{
	const struct srpol_policy_key key = {
		.color = color,
		.endpoint = *endpoint,
	};
	struct srpol_policy *policy;
	int err;

	policy = srpol_policy_lookup(sn, &key) ?:
		 srpol_policy_alloc(sn, &key, extack);
	err = PTR_ERR_OR_ZERO(policy);
	if (!err)
		err = srpol_policy_bind(sn, policy, srpol_policy_cfg(policy),
					cfg, extack);
	if (!err)
		err = srpol_policy_link(sn, policy, cfg);
	if (err) {
		kfree(cfg);
		if (!IS_ERR(policy) && !policy->obj.cur &&
		    !srpol_obj_touched(&policy->obj))
			srpol_policy_release(sn, &policy->obj);
		return err;
	}
	/* 0 means that there is no revision */
	cfg->revision = ++sn->policy_revision ?: ++sn->policy_revision;
	srpol_obj_define(sn, &policy->obj, cfg);
	return 0;
}

/**
 * srpol_policy_delete() - delete a policy
 * @sn: namespace, locked, in a transaction
 * @policy: the policy; its binding SID is deleted with it
 */
void srpol_policy_delete(struct srpol_net *sn, struct srpol_policy *policy)
{
	srpol_policy_unbind(sn, srpol_policy_cfg(policy));
	srpol_obj_delete(sn, &policy->obj);
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

static bool srpol_policy_equal(const struct srpol_obj *obj)
{
	const struct srpol_policy_cfg *a = obj->cur, *b = obj->next;
	u32 i;

	if (memcmp(&a->set, &b->set, sizeof(a->set)) ||
	    a->n_cands != b->n_cands)
		return false;
	for (i = 0; i < a->n_cands; i++)
		if (!srpol_candidate_equal(&a->cands[i], &b->cands[i]))
			return false;
	return true;
}

static void srpol_policy_commit(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_policy *policy = srpol_policy(obj);

	if (srpol_obj_created(obj))
		srpol_color_add(&sn->colors, policy->key.color, 1);
	if (!srpol_obj_deleted(obj))
		srpol_policy_switch(sn, policy);
	/* the kept tables are of the previous configuration */
	if (srpol_obj_changed(obj))
		srpol_policy_free_kept(policy);
	srpol_obj_swap(obj);
}

static void srpol_policy_revert(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_policy *policy = srpol_policy(obj);

	if (obj->staged)
		srpol_dp_call(sn, revert, SRPOL_DP_POLICY, policy->id);
	srpol_policy_unstage(sn, policy);
}

/* The tick has the policy compiled again. */
static void srpol_policy_refused(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_policy *policy = srpol_policy(obj);

	list_move_tail(&policy->stale_node, &sn->refused_policies);
	srpol_queue_tick(sn, HZ);
}

static int srpol_policy_event_fill(struct srpol_net *sn, struct sk_buff *skb,
				   const struct srpol_obj *obj)
{
	const struct srpol_policy_cfg *cfg = srpol_obj_shown(obj);
	const struct srpol_policy *policy = srpol_policy(obj);
	const char *name = cfg->set.name;

	if (nla_put_u32(skb, SRPOL_A_POLICY_COLOR, policy->key.color) ||
	    nla_put_in6_addr(skb, SRPOL_A_POLICY_ENDPOINT,
			     &policy->key.endpoint) ||
	    (name[0] && nla_put_string(skb, SRPOL_A_POLICY_NAME, name)) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_STATE, policy->table->state) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_REASON, policy->table->reason) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_ID, policy->id))
		return -EMSGSIZE;
	return 0;
}

static void srpol_policy_tell(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_policy *policy = srpol_policy(obj);

	if (policy->event)
		srpol_nl_notify(sn, NULL, SRPOL_CMD_POLICY_EVENT,
				SRPOL_NLGRP_EVENTS, srpol_policy_event_fill,
				obj);
	policy->event = false;
}

static void srpol_policy_erase(struct srpol_net *sn, struct srpol_obj *obj)
{
	struct srpol_policy *policy = srpol_policy(obj);
	struct srpol_dp_policy dp = srpol_policy_to_dp(policy, policy->table);

	srpol_dp_call(sn, policy_del, &dp);
	srpol_color_add(&sn->colors, policy->key.color, -1);
	if (policy->table->state == SRPOL_POLICY_STATE_UP)
		srpol_color_add(&sn->colors_up, policy->key.color, -1);
}

const struct srpol_obj_ops srpol_policy_ops = {
	.equal		= srpol_policy_equal,
	.want		= srpol_policy_want,
	.free_cfg	= srpol_policy_free_cfg,
	.prepare	= srpol_policy_prepare,
	.stage		= srpol_policy_stage,
	.commit		= srpol_policy_commit,
	.revert		= srpol_policy_revert,
	.refused	= srpol_policy_refused,
	.announce	= srpol_policy_tell,
	.erase		= srpol_policy_erase,
	.release	= srpol_policy_release,
};

/**
 * srpol_policy_flush() - free all policies of a namespace that ends
 * @sn: namespace, locked, without a data plane
 */
void srpol_policy_flush(struct srpol_net *sn)
{
	struct srpol_policy *policy;
	unsigned long id;

	xa_for_each(&sn->policies, id, policy)
		srpol_obj_flush(sn, &policy->obj);
	xa_destroy(&sn->policies);
	xa_destroy(&sn->colors);
	xa_destroy(&sn->colors_up);
}
