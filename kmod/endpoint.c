// SPDX-License-Identifier: GPL-2.0
/*
 * Endpoint prefixes: which policy endpoint an inner destination belongs to.
 * The longest match is found in the data plane, here is only the table.
 */
#include <linux/jhash.h>
#include <net/ipv6.h>

#include "srpol.h"

static u32 srpol_endpoint_hash(const struct in6_addr *prefix, u32 len)
{
	return jhash(prefix, sizeof(*prefix), len);
}

/* Also one that the transaction under way has deleted. */
static struct srpol_endpoint *
srpol_endpoint_lookup(struct srpol_net *sn, const struct in6_addr *prefix,
		      u32 len)
{
	struct srpol_endpoint *ep;

	hash_for_each_possible(sn->endpoint_hash, ep, node,
			       srpol_endpoint_hash(prefix, len))
		if (ep->prefix_len == len &&
		    ipv6_addr_equal(&ep->prefix, prefix))
			return ep;
	return NULL;
}

static struct srpol_endpoint *
srpol_endpoint_find(struct srpol_net *sn, const struct in6_addr *prefix,
		    u32 len)
{
	struct srpol_endpoint *ep = srpol_endpoint_lookup(sn, prefix, len);

	return ep && !ep->change.gone ? ep : NULL;
}

static int srpol_endpoint_fill(struct srpol_net *sn, struct sk_buff *skb,
			       const void *obj)
{
	const struct srpol_endpoint *ep = obj;

	if (nla_put_in6_addr(skb, SRPOL_A_ENDPOINT_PREFIX, &ep->prefix) ||
	    nla_put_u32(skb, SRPOL_A_ENDPOINT_PREFIX_LEN, ep->prefix_len) ||
	    nla_put_in6_addr(skb, SRPOL_A_ENDPOINT_ADDRESS, &ep->cfg.address) ||
	    nla_put_u32(skb, SRPOL_A_ENDPOINT_ORIGIN, ep->cfg.origin))
		return -EMSGSIZE;
	return 0;
}

static struct srpol_dp_endpoint
srpol_endpoint_to_dp(const struct srpol_endpoint *ep)
{
	struct srpol_dp_endpoint dp = { .prefix_len = ep->prefix_len };

	memcpy(dp.prefix, &ep->prefix, sizeof(dp.prefix));
	memcpy(dp.endpoint, &ep->cfg.address, sizeof(dp.endpoint));
	return dp;
}

static int srpol_endpoint_parse_key(const struct genl_info *info,
				    struct in6_addr *prefix, u32 *len)
{
	struct nlattr **tb = info->attrs;
	struct in6_addr mask;

	if (!tb[SRPOL_A_ENDPOINT_PREFIX]) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL,
				     SRPOL_A_ENDPOINT_PREFIX);
		return -EINVAL;
	}
	*prefix = nla_get_in6_addr(tb[SRPOL_A_ENDPOINT_PREFIX]);
	*len = tb[SRPOL_A_ENDPOINT_PREFIX_LEN] ?
	       nla_get_u32(tb[SRPOL_A_ENDPOINT_PREFIX_LEN]) : 128;
	if (!srpol_nl_prefix_ok(prefix, *len, &mask)) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[SRPOL_A_ENDPOINT_PREFIX],
				    "host bits of the prefix are not zero");
		return -EINVAL;
	}
	return 0;
}

static struct srpol_endpoint *srpol_endpoint_from_attr(struct srpol_net *sn,
						       struct genl_info *info)
{
	struct srpol_endpoint *ep;
	struct in6_addr prefix;
	u32 len;
	int err;

	err = srpol_endpoint_parse_key(info, &prefix, &len);
	if (err)
		return ERR_PTR(err);
	ep = srpol_endpoint_find(sn, &prefix, len);
	if (ep)
		return ep;
	NL_SET_ERR_MSG_ATTR(info->extack,
			    info->attrs[SRPOL_A_ENDPOINT_PREFIX],
			    "no such endpoint prefix");
	return ERR_PTR(-ENOENT);
}

int srpol_nl_endpoint_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	struct srpol_endpoint *ep;
	int err;

	mutex_lock(&sn->lock);
	ep = srpol_endpoint_from_attr(sn, info);
	err = PTR_ERR_OR_ZERO(ep);
	if (!err)
		err = srpol_nl_reply(sn, info, srpol_endpoint_fill, ep);
	mutex_unlock(&sn->lock);
	return err;
}

int srpol_nl_endpoint_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb)
{
	struct srpol_net *sn = srpol_net(sock_net(skb->sk));

	return srpol_nl_dump_xa(skb, cb, &sn->endpoints, srpol_endpoint_fill);
}

static int srpol_endpoint_parse(struct srpol_endpoint_cfg *cfg,
				const struct genl_info *info)
{
	struct nlattr *address = info->attrs[SRPOL_A_ENDPOINT_ADDRESS];

	srpol_nl_u32(&cfg->origin, info->attrs[SRPOL_A_ENDPOINT_ORIGIN]);
	if (!address)
		return 0;
	cfg->address = nla_get_in6_addr(address);
	if (!ipv6_addr_is_multicast(&cfg->address))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, address,
			    "endpoint is a multicast address");
	return -EINVAL;
}

static struct srpol_endpoint *
srpol_endpoint_alloc(struct srpol_net *sn, const struct in6_addr *prefix,
		     u32 len, struct netlink_ext_ack *extack)
{
	struct srpol_endpoint *ep;
	int err;

	if (sn->n_endpoints >= sn->limits.endpoints)
		return ERR_PTR(srpol_dp_err(sn, -ENOSPC, "endpoint",
					    sn->limits.endpoints, extack));
	ep = kzalloc(sizeof(*ep), GFP_KERNEL_ACCOUNT);
	if (!ep)
		return ERR_PTR(-ENOMEM);
	srpol_change_init(&ep->change, SRPOL_KIND_ENDPOINT);
	ep->change.created = true;
	ep->prefix = *prefix;
	ep->prefix_len = len;
	/* the prefix may have been in use a moment ago */
	ep->gp = sn->del_gp;
	ep->seq = sn->endpoint_seq + 1;
	err = xa_insert(&sn->endpoints, ep->seq, ep, GFP_KERNEL_ACCOUNT);
	if (err) {
		kfree(ep);
		return ERR_PTR(err);
	}
	sn->endpoint_seq++;
	hash_add(sn->endpoint_hash, &ep->node,
		 srpol_endpoint_hash(prefix, len));
	sn->n_endpoints++;
	return ep;
}

static void srpol_endpoint_free(struct srpol_net *sn,
				struct srpol_endpoint *ep)
{
	hash_del(&ep->node);
	xa_erase(&sn->endpoints, ep->seq);
	sn->n_endpoints--;
	kfree(ep);
}

static void srpol_endpoint_save(struct srpol_net *sn,
				struct srpol_endpoint *ep)
{
	srpol_txn_touch(sn, &ep->change);
	if (ep->change.created || ep->change.saved)
		return;
	ep->old = ep->cfg;
	ep->change.saved = true;
}

int srpol_endpoint_new(struct srpol_net *sn, struct genl_info *info)
{
	struct srpol_endpoint_cfg cfg = {};
	struct srpol_endpoint *ep;
	struct in6_addr prefix;
	int verb, err;
	u32 len;

	err = srpol_endpoint_parse_key(info, &prefix, &len);
	if (err)
		return err;
	ep = srpol_endpoint_find(sn, &prefix, len);
	verb = srpol_nl_verb(info, ep, ep ? ep->cfg.origin : 0,
			     info->attrs[SRPOL_A_ENDPOINT_ORIGIN]);
	if (verb < 0)
		return verb;
	if (verb == SRPOL_VERB_CHANGE) {
		cfg = ep->cfg;
	} else if (!info->attrs[SRPOL_A_ENDPOINT_ADDRESS]) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL,
				     SRPOL_A_ENDPOINT_ADDRESS);
		return -EINVAL;
	}
	err = srpol_endpoint_parse(&cfg, info);
	if (err)
		return err;
	ep = srpol_endpoint_lookup(sn, &prefix, len) ?:
	     srpol_endpoint_alloc(sn, &prefix, len, info->extack);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	srpol_endpoint_save(sn, ep);
	ep->change.gone = false;
	ep->cfg = cfg;
	return 0;
}

int srpol_nl_endpoint_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	return srpol_txn_doit(info, srpol_endpoint_new);
}

int srpol_endpoint_del(struct srpol_net *sn, struct genl_info *info)
{
	struct srpol_endpoint *ep = srpol_endpoint_from_attr(sn, info);

	if (IS_ERR(ep))
		return PTR_ERR(ep);
	srpol_endpoint_save(sn, ep);
	ep->change.gone = true;
	return 0;
}

int srpol_nl_endpoint_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return srpol_txn_doit(info, srpol_endpoint_del);
}

static bool srpol_endpoint_same(struct srpol_net *sn, const void *obj)
{
	const struct srpol_endpoint *ep = obj;

	return !memcmp(&ep->cfg, &ep->old, sizeof(ep->cfg));
}

static int srpol_endpoint_stage(struct srpol_net *sn,
				struct srpol_change *change,
				struct netlink_ext_ack *extack)
{
	const struct srpol_endpoint *ep =
		container_of(change, struct srpol_endpoint, change);
	const struct srpol_dp_endpoint dp = srpol_endpoint_to_dp(ep);
	int err;

	if (change->saved && !change->gone &&
	    ipv6_addr_equal(&ep->cfg.address, &ep->old.address))
		return 0;
	srpol_dp_wait_gp(sn, ep->gp);
	err = change->gone ? srpol_dp_call(sn, endpoint_hide, &dp) :
			     srpol_dp_call(sn, endpoint_set, &dp);
	if (err)
		return srpol_dp_err(sn, err, "endpoint", sn->limits.endpoints,
				    extack);
	srpol_txn_staged(sn, change);
	sn->txn.reclassify = true;
	return 0;
}

static void srpol_endpoint_commit(struct srpol_net *sn,
				  struct srpol_change *change)
{
	struct srpol_endpoint *ep = container_of(change,
						 struct srpol_endpoint, change);

	if (change->staged)
		ep->gp = sn->txn.gp;
}

static void srpol_endpoint_abort(struct srpol_net *sn,
				 struct srpol_change *change)
{
	struct srpol_endpoint *ep = container_of(change,
						 struct srpol_endpoint, change);
	const struct srpol_dp_endpoint dp = srpol_endpoint_to_dp(ep);

	if (change->staged)
		srpol_dp_call(sn, endpoint_revert, &dp);
	if (change->created)
		srpol_endpoint_free(sn, ep);
	else if (change->saved)
		ep->cfg = ep->old;
}

static void srpol_endpoint_remove(struct srpol_net *sn,
				  struct srpol_change *change)
{
	struct srpol_endpoint *ep = container_of(change,
						 struct srpol_endpoint, change);
	const struct srpol_dp_endpoint dp = srpol_endpoint_to_dp(ep);

	srpol_dp_call(sn, endpoint_del, &dp);
	srpol_endpoint_free(sn, ep);
}

const struct srpol_change_ops srpol_endpoint_change_ops = {
	.same		= srpol_endpoint_same,
	.stage		= srpol_endpoint_stage,
	.commit		= srpol_endpoint_commit,
	.abort		= srpol_endpoint_abort,
	.remove		= srpol_endpoint_remove,
	.fill		= srpol_endpoint_fill,
	.offset		= offsetof(struct srpol_endpoint, change),
	.ntf		= SRPOL_CMD_ENDPOINT_NTF,
	.del_ntf	= SRPOL_CMD_ENDPOINT_DEL_NTF,
};

/**
 * srpol_endpoint_replay() - tell a new data plane about all prefixes
 * @sn: namespace, locked
 */
int srpol_endpoint_replay(struct srpol_net *sn)
{
	struct srpol_endpoint *ep;
	unsigned long seq;
	int err;

	xa_for_each(&sn->endpoints, seq, ep) {
		const struct srpol_dp_endpoint dp = srpol_endpoint_to_dp(ep);

		err = srpol_dp_call(sn, endpoint_set, &dp);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

/**
 * srpol_endpoint_flush() - free all prefixes of a dying namespace
 * @sn: namespace, locked, without a data plane
 */
void srpol_endpoint_flush(struct srpol_net *sn)
{
	struct srpol_endpoint *ep;
	unsigned long seq;

	xa_for_each(&sn->endpoints, seq, ep)
		srpol_endpoint_free(sn, ep);
	xa_destroy(&sn->endpoints);
}
