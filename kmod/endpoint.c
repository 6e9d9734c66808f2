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
	return jhash2(prefix->s6_addr32, 4, len);
}

static struct srpol_endpoint *
srpol_endpoint_find(struct srpol_net *sn, const struct in6_addr *prefix,
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

static int srpol_endpoint_fill(struct srpol_net *sn, struct sk_buff *skb,
			       const void *obj)
{
	const struct srpol_endpoint *ep = obj;

	if (nla_put_in6_addr(skb, SRPOL_A_ENDPOINT_PREFIX, &ep->prefix) ||
	    nla_put_u32(skb, SRPOL_A_ENDPOINT_PREFIX_LEN, ep->prefix_len) ||
	    nla_put_in6_addr(skb, SRPOL_A_ENDPOINT_ADDRESS, &ep->address) ||
	    nla_put_u32(skb, SRPOL_A_ENDPOINT_ORIGIN, ep->origin))
		return -EMSGSIZE;
	return 0;
}

static struct srpol_dp_endpoint
srpol_endpoint_to_dp(const struct in6_addr *prefix, u32 len,
		     const struct in6_addr *address)
{
	struct srpol_dp_endpoint dp = { .prefix_len = len };

	memcpy(dp.prefix, prefix, sizeof(dp.prefix));
	memcpy(dp.endpoint, address, sizeof(dp.endpoint));
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

static int srpol_endpoint_parse(struct srpol_endpoint *ep,
				const struct genl_info *info)
{
	struct nlattr *address = info->attrs[SRPOL_A_ENDPOINT_ADDRESS];

	if (info->attrs[SRPOL_A_ENDPOINT_ORIGIN])
		ep->origin = nla_get_u32(info->attrs[SRPOL_A_ENDPOINT_ORIGIN]);
	if (address) {
		ep->address = nla_get_in6_addr(address);
		if (!ipv6_addr_is_multicast(&ep->address))
			return 0;
		NL_SET_ERR_MSG_ATTR(info->extack, address,
				    "endpoint is a multicast address");
		return -EINVAL;
	}
	return 0;
}

static int srpol_endpoint_insert(struct srpol_net *sn,
				 struct srpol_endpoint *ep,
				 struct netlink_ext_ack *extack)
{
	int err;

	if (sn->n_endpoints >= sn->limits.endpoints)
		return srpol_dp_err(sn, -ENOSPC, "endpoint",
				    sn->limits.endpoints, extack);
	ep->seq = ++sn->endpoint_seq;
	err = xa_insert(&sn->endpoints, ep->seq, ep, GFP_KERNEL_ACCOUNT);
	if (err)
		return err;
	hash_add(sn->endpoint_hash, &ep->node,
		 srpol_endpoint_hash(&ep->prefix, ep->prefix_len));
	sn->n_endpoints++;
	return 0;
}

static void srpol_endpoint_remove(struct srpol_net *sn,
				  struct srpol_endpoint *ep)
{
	hash_del(&ep->node);
	xa_erase(&sn->endpoints, ep->seq);
	sn->n_endpoints--;
	kfree(ep);
}

static int srpol_endpoint_push(struct srpol_net *sn,
			       const struct srpol_endpoint *ep,
			       struct netlink_ext_ack *extack)
{
	const struct srpol_dp_endpoint dp =
		srpol_endpoint_to_dp(&ep->prefix, ep->prefix_len,
				     &ep->address);
	int err = srpol_dp_call(sn, endpoint_set, &dp);

	return err ? srpol_dp_err(sn, err, "endpoint", sn->limits.endpoints,
				  extack) : 0;
}

static int srpol_endpoint_new(struct srpol_net *sn, struct genl_info *info)
{
	struct srpol_endpoint *ep, new = {};
	int verb, err;

	err = srpol_endpoint_parse_key(info, &new.prefix, &new.prefix_len);
	if (err)
		return err;
	ep = srpol_endpoint_find(sn, &new.prefix, new.prefix_len);
	verb = srpol_nl_verb(info, ep, ep ? ep->origin : 0,
			     info->attrs[SRPOL_A_ENDPOINT_ORIGIN]);
	if (verb < 0)
		return verb;
	if (verb == SRPOL_VERB_CHANGE) {
		new = *ep;
	} else if (!info->attrs[SRPOL_A_ENDPOINT_ADDRESS]) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL,
				     SRPOL_A_ENDPOINT_ADDRESS);
		return -EINVAL;
	}
	err = srpol_endpoint_parse(&new, info) ?:
	      srpol_endpoint_push(sn, &new, info->extack);
	if (err)
		return err;
	if (ep) {
		ep->address = new.address;
		ep->origin = new.origin;
	} else {
		ep = kmemdup(&new, sizeof(new), GFP_KERNEL_ACCOUNT);
		err = ep ? srpol_endpoint_insert(sn, ep, info->extack) :
			   -ENOMEM;
		if (err) {
			const struct srpol_dp_endpoint dp =
				srpol_endpoint_to_dp(&new.prefix,
						     new.prefix_len,
						     &new.address);

			srpol_dp_call(sn, endpoint_del, &dp);
			kfree(ep);
			return err;
		}
	}
	srpol_dp_epoch(sn);
	srpol_nl_notify(sn, info, SRPOL_CMD_ENDPOINT_NTF, SRPOL_NLGRP_CONFIG,
			srpol_endpoint_fill, ep);
	return 0;
}

int srpol_nl_endpoint_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	int err;

	mutex_lock(&sn->lock);
	err = srpol_endpoint_new(sn, info);
	mutex_unlock(&sn->lock);
	return err;
}

static int srpol_endpoint_del(struct srpol_net *sn, struct genl_info *info)
{
	struct srpol_endpoint *ep = srpol_endpoint_from_attr(sn, info);
	struct srpol_dp_endpoint dp;
	int err;

	if (IS_ERR(ep))
		return PTR_ERR(ep);
	dp = srpol_endpoint_to_dp(&ep->prefix, ep->prefix_len, &ep->address);
	err = srpol_dp_call(sn, endpoint_del, &dp);
	if (err)
		return srpol_dp_err(sn, err, "endpoint", 0, info->extack);
	srpol_dp_epoch(sn);
	srpol_nl_notify(sn, info, SRPOL_CMD_ENDPOINT_DEL_NTF,
			SRPOL_NLGRP_CONFIG, srpol_endpoint_fill, ep);
	srpol_endpoint_remove(sn, ep);
	return 0;
}

int srpol_nl_endpoint_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	int err;

	mutex_lock(&sn->lock);
	err = srpol_endpoint_del(sn, info);
	mutex_unlock(&sn->lock);
	return err;
}

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
		err = srpol_endpoint_push(sn, ep, NULL);
		if (err)
			return err;
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
		srpol_endpoint_remove(sn, ep);
	xa_destroy(&sn->endpoints);
}
