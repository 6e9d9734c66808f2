// SPDX-License-Identifier: GPL-2.0
/*
 * Endpoint prefixes on netlink: parsing, checks, dump.
 */
#include <net/ipv6.h>

#include "endpoint.h"
#include "netlink.h"

/**
 * srpol_endpoint_fill() - all attributes of a steering prefix
 * @sn: namespace, locked
 * @skb: message
 * @obj: of a struct srpol_endpoint
 */
int srpol_endpoint_fill(struct srpol_net *sn, struct sk_buff *skb,
			const struct srpol_obj *obj)
{
	const struct srpol_endpoint_cfg *cfg = srpol_obj_shown(obj);
	const struct srpol_endpoint *ep = srpol_endpoint(obj);

	if (nla_put_in6_addr(skb, SRPOL_A_ENDPOINT_PREFIX, &ep->key.prefix) ||
	    nla_put_u32(skb, SRPOL_A_ENDPOINT_PREFIX_LEN, ep->key.len) ||
	    nla_put_in6_addr(skb, SRPOL_A_ENDPOINT_ADDRESS, &cfg->address) ||
	    nla_put_u32(skb, SRPOL_A_ENDPOINT_ORIGIN, cfg->origin))
		return -EMSGSIZE;
	return 0;
}

static int srpol_endpoint_parse_key(const struct genl_info *info,
				    struct srpol_endpoint_key *key)
{
	struct nlattr **tb = info->attrs;
	struct in6_addr mask;

	if (!tb[SRPOL_A_ENDPOINT_PREFIX]) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL,
				     SRPOL_A_ENDPOINT_PREFIX);
		return -EINVAL;
	}
	key->prefix = nla_get_in6_addr(tb[SRPOL_A_ENDPOINT_PREFIX]);
	key->len = tb[SRPOL_A_ENDPOINT_PREFIX_LEN] ?
		   nla_get_u32(tb[SRPOL_A_ENDPOINT_PREFIX_LEN]) : 128;
	if (!srpol_nl_prefix_ok(&key->prefix, key->len, &mask)) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[SRPOL_A_ENDPOINT_PREFIX],
				    "host bits of the prefix are not zero");
		return -EINVAL;
	}
	return 0;
}

static struct srpol_endpoint *srpol_endpoint_from_attr(struct srpol_net *sn,
						       struct genl_info *info)
{
	struct srpol_endpoint_key key;
	struct srpol_endpoint *ep;
	int err;

	err = srpol_endpoint_parse_key(info, &key);
	if (err)
		return ERR_PTR(err);
	ep = srpol_endpoint_find(sn, &key);
	if (ep)
		return ep;
	NL_SET_ERR_MSG_ATTR(info->extack,
			    info->attrs[SRPOL_A_ENDPOINT_PREFIX],
			    "no such steering prefix");
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
		err = srpol_nl_reply(sn, info, srpol_endpoint_fill, &ep->obj);
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

int srpol_endpoint_new(struct srpol_net *sn, struct genl_info *info)
{
	const struct srpol_endpoint_cfg *old = NULL;
	struct srpol_endpoint_cfg cfg = {};
	const struct srpol_endpoint *ep;
	struct srpol_endpoint_key key;
	int verb, err;

	err = srpol_endpoint_parse_key(info, &key);
	if (err)
		return err;
	ep = srpol_endpoint_find(sn, &key);
	if (ep)
		old = srpol_endpoint_cfg(ep);
	verb = srpol_nl_verb(info, old, old ? old->origin : 0,
			     info->attrs[SRPOL_A_ENDPOINT_ORIGIN]);
	if (verb < 0)
		return verb;
	if (verb == SRPOL_VERB_CHANGE) {
		cfg = *old;
	} else if (!info->attrs[SRPOL_A_ENDPOINT_ADDRESS]) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL,
				     SRPOL_A_ENDPOINT_ADDRESS);
		return -EINVAL;
	}
	err = srpol_endpoint_parse(&cfg, info);
	return err ?: srpol_endpoint_define(sn, &key, &cfg, info->extack);
}

int srpol_nl_endpoint_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	return srpol_txn_doit(info, srpol_endpoint_new);
}

int srpol_endpoint_del(struct srpol_net *sn, struct genl_info *info)
{
	struct srpol_endpoint *ep = srpol_endpoint_from_attr(sn, info);
	int err;

	if (IS_ERR(ep))
		return PTR_ERR(ep);
	err = srpol_nl_may_touch(info, srpol_endpoint_cfg(ep)->origin,
				 info->attrs[SRPOL_A_ENDPOINT_ORIGIN]);
	if (err)
		return err;
	srpol_obj_delete(sn, &ep->obj);
	return 0;
}

int srpol_nl_endpoint_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return srpol_txn_doit(info, srpol_endpoint_del);
}
