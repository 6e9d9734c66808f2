// SPDX-License-Identifier: GPL-2.0
/*
 * Endpoint prefixes: which policy endpoint an inner destination belongs to.
 * The longest match is found in the data plane, here is only the table.
 */
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "dataplane.h"
#include "endpoint.h"

static const struct rhashtable_params srpol_endpoint_params = {
	.head_offset = offsetof(struct srpol_endpoint, node),
	.key_offset = offsetof(struct srpol_endpoint, key),
	.key_len = sizeof(struct srpol_endpoint_key),
	.automatic_shrinking = true,
};

int srpol_endpoint_init(struct srpol_net *sn)
{
	return rhashtable_init(&sn->endpoint_keys, &srpol_endpoint_params);
}

void srpol_endpoint_exit(struct srpol_net *sn)
{
	rhashtable_destroy(&sn->endpoint_keys);
}

/* The result may be one that the present transaction has deleted. */
static struct srpol_endpoint *
srpol_endpoint_lookup(struct srpol_net *sn,
		      const struct srpol_endpoint_key *key)
{
	lockdep_assert_held(&sn->lock);
	return srpol_net_started(sn) ?
	       rhashtable_lookup_fast(&sn->endpoint_keys, key,
				      srpol_endpoint_params) : NULL;
}

/**
 * srpol_endpoint_find() - look up a steering prefix
 * @sn: namespace, locked
 * @key: the prefix
 *
 * Return: the prefix, or NULL if it does not exist or the present transaction
 * has deleted it.
 */
struct srpol_endpoint *
srpol_endpoint_find(struct srpol_net *sn, const struct srpol_endpoint_key *key)
{
	struct srpol_endpoint *ep = srpol_endpoint_lookup(sn, key);

	return ep && srpol_endpoint_cfg(ep) ? ep : NULL;
}

static struct srpol_endpoint *
srpol_endpoint_alloc(struct srpol_net *sn,
		     const struct srpol_endpoint_key *key,
		     struct netlink_ext_ack *extack)
{
	struct srpol_endpoint *ep;
	int err;

	if (sn->n_endpoints >= sn->limits.endpoints)
		return ERR_PTR(srpol_dp_err(-ENOSPC, "endpoint",
					    sn->limits.endpoints, extack));
	ep = kzalloc(sizeof(*ep), GFP_KERNEL_ACCOUNT);
	if (!ep)
		return ERR_PTR(-ENOMEM);
	srpol_obj_init(&ep->obj, SRPOL_OBJ_ENDPOINT);
	ep->key = *key;
	/* the prefix may have been in use a moment ago */
	ep->gp = sn->del_gp;
	err = xa_alloc(&sn->endpoints, &ep->id, ep, xa_limit_32b,
		       GFP_KERNEL_ACCOUNT);
	if (err)
		goto err_free;
	err = rhashtable_insert_fast(&sn->endpoint_keys, &ep->node,
				     srpol_endpoint_params);
	if (err)
		goto err_id;
	sn->n_endpoints++;
	return ep;

err_id:
	xa_erase(&sn->endpoints, ep->id);
err_free:
	kfree(ep);
	return ERR_PTR(err);
}

static void srpol_endpoint_release(struct srpol_net *sn,
				   struct srpol_obj *obj)
{
	struct srpol_endpoint *ep = srpol_endpoint(obj);

	rhashtable_remove_fast(&sn->endpoint_keys, &ep->node,
			       srpol_endpoint_params);
	xa_erase(&sn->endpoints, ep->id);
	sn->n_endpoints--;
	kfree(ep);
}

/**
 * srpol_endpoint_define() - create or redefine a steering prefix
 * @sn: namespace, locked, in a transaction
 * @key: the prefix
 * @cfg: its configuration; it is copied
 * @extack: for a refusal
 *
 * Return: 0 or a negative errno.
 */
int srpol_endpoint_define(struct srpol_net *sn,
			  const struct srpol_endpoint_key *key,
			  const struct srpol_endpoint_cfg *cfg,
			  struct netlink_ext_ack *extack)
{
	struct srpol_endpoint_cfg *copy;
	struct srpol_endpoint *ep;

	copy = kmemdup(cfg, sizeof(*cfg), GFP_KERNEL_ACCOUNT);
	if (!copy)
		return -ENOMEM;
	ep = srpol_endpoint_lookup(sn, key) ?:
	     srpol_endpoint_alloc(sn, key, extack);
	if (IS_ERR(ep)) {
		kfree(copy);
		return PTR_ERR(ep);
	}
	srpol_obj_define(sn, &ep->obj, copy);
	return 0;
}

static struct srpol_dp_endpoint
srpol_endpoint_to_dp(const struct srpol_endpoint *ep,
		     const struct srpol_endpoint_cfg *cfg)
{
	struct srpol_dp_endpoint dp = { .prefix_len = ep->key.len };

	memcpy(dp.prefix, &ep->key.prefix, sizeof(dp.prefix));
	memcpy(dp.endpoint, &cfg->address, sizeof(dp.endpoint));
	return dp;
}

static void srpol_endpoint_free_cfg(struct srpol_net *sn, void *cfg)
{
	kfree(cfg);
}

static bool srpol_endpoint_equal(const struct srpol_obj *obj)
{
	return !memcmp(obj->cur, obj->next,
		       sizeof(struct srpol_endpoint_cfg));
}

static int srpol_endpoint_stage(struct srpol_net *sn, struct srpol_obj *obj,
				struct netlink_ext_ack *extack)
{
	const struct srpol_endpoint_cfg *cur = obj->cur, *next = obj->next;
	const struct srpol_endpoint *ep = srpol_endpoint(obj);
	const struct srpol_dp_endpoint dp =
		srpol_endpoint_to_dp(ep, next ?: cur);
	int err;

	if (cur && next && ipv6_addr_equal(&cur->address, &next->address))
		return 0;
	srpol_dp_wait_gp(sn, ep->gp);
	err = next ? srpol_dp_call(sn, endpoint_set, &dp) :
		     srpol_dp_call(sn, endpoint_hide, &dp);
	if (err)
		return srpol_dp_err(err, "endpoint", sn->limits.endpoints,
				    extack);
	srpol_txn_staged(sn, obj);
	sn->txn.reclassify = true;
	return 0;
}

static void srpol_endpoint_commit(struct srpol_net *sn, struct srpol_obj *obj)
{
	if (obj->staged)
		srpol_endpoint(obj)->gp = sn->txn.gp;
	srpol_obj_swap(obj);
}

static void srpol_endpoint_revert(struct srpol_net *sn, struct srpol_obj *obj)
{
	const struct srpol_dp_endpoint dp =
		srpol_endpoint_to_dp(srpol_endpoint(obj),
				     obj->next ?: obj->cur);

	if (obj->staged)
		srpol_dp_call(sn, endpoint_revert, &dp);
}

static void srpol_endpoint_erase(struct srpol_net *sn, struct srpol_obj *obj)
{
	const struct srpol_dp_endpoint dp =
		srpol_endpoint_to_dp(srpol_endpoint(obj), obj->next);

	srpol_dp_call(sn, endpoint_del, &dp);
}

const struct srpol_obj_ops srpol_endpoint_ops = {
	.equal		= srpol_endpoint_equal,
	.free_cfg	= srpol_endpoint_free_cfg,
	.stage		= srpol_endpoint_stage,
	.commit		= srpol_endpoint_commit,
	.revert		= srpol_endpoint_revert,
	.erase		= srpol_endpoint_erase,
	.release	= srpol_endpoint_release,
};

/**
 * srpol_endpoint_replay() - tell a new data plane about all prefixes
 * @sn: namespace, locked
 */
int srpol_endpoint_replay(struct srpol_net *sn)
{
	struct srpol_endpoint *ep;
	unsigned long id;
	int err;

	xa_for_each(&sn->endpoints, id, ep) {
		const struct srpol_dp_endpoint dp =
			srpol_endpoint_to_dp(ep, ep->obj.cur);

		err = srpol_dp_call(sn, endpoint_set, &dp);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

/**
 * srpol_endpoint_flush() - free all prefixes of a namespace that ends
 * @sn: namespace, locked, without a data plane
 */
void srpol_endpoint_flush(struct srpol_net *sn)
{
	struct srpol_endpoint *ep;
	unsigned long id;

	xa_for_each(&sn->endpoints, id, ep)
		srpol_obj_flush(sn, &ep->obj);
	xa_destroy(&sn->endpoints);
}
