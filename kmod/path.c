// SPDX-License-Identifier: GPL-2.0
/*
 * Paths (segment lists): creation, change, removal, dump.
 */
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "srpol.h"

static int srpol_path_fill_sids(struct sk_buff *skb,
				const struct srpol_path_cfg *cfg)
{
	struct nlattr *nest;
	u32 i;

	for (i = 0; i < cfg->n_sids; i++) {
		nest = nla_nest_start(skb, SRPOL_A_PATH_SIDS);
		if (!nest || nla_put_in6_addr(skb, SRPOL_A_SID_ENTRY_SID,
					      &cfg->sids[i]))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

/* What resolution found; only as far as it got. */
static int srpol_path_fill_out(struct srpol_net *sn, struct sk_buff *skb,
			       const struct srpol_path *path)
{
	u32 len = srpol_encap_len(path->cfg.n_sids, path->cfg.encap);
	const struct srpol_nexthop *nh = path->nh;

	if (nla_put_u32(skb, SRPOL_A_PATH_OVERHEAD, len))
		return -EMSGSIZE;
	if (nh && (nla_put_u32(skb, SRPOL_A_PATH_OUT_IFINDEX, nh->ifindex) ||
		   nla_put_in6_addr(skb, SRPOL_A_PATH_OUT_VIA, &nh->addr)))
		return -EMSGSIZE;
	if (path->compiled &&
	    (nla_put(skb, SRPOL_A_PATH_OUT_LLADDR, ETH_ALEN,
		     path->bytes.dmac) ||
	     nla_put_in6_addr(skb, SRPOL_A_PATH_OUT_SRC, &path->bytes.src) ||
	     nla_put_u32(skb, SRPOL_A_PATH_MTU, path->bytes.dev_mtu - len)))
		return -EMSGSIZE;
	return 0;
}

static int srpol_path_fill(struct srpol_net *sn, struct sk_buff *skb,
			   const void *obj)
{
	const struct srpol_path *path = obj;
	const struct srpol_path_cfg *cfg = &path->cfg;

	if (nla_put_u32(skb, SRPOL_A_PATH_ID, path->id) ||
	    (cfg->name[0] &&
	     nla_put_string(skb, SRPOL_A_PATH_NAME, cfg->name)) ||
	    nla_put_u32(skb, SRPOL_A_PATH_ORIGIN, cfg->origin) ||
	    srpol_path_fill_sids(skb, cfg) ||
	    nla_put_u32(skb, SRPOL_A_PATH_ENCAP, cfg->encap) ||
	    (!ipv6_addr_any(&cfg->src) &&
	     nla_put_in6_addr(skb, SRPOL_A_PATH_SRC, &cfg->src)) ||
	    (cfg->ifindex &&
	     nla_put_u32(skb, SRPOL_A_PATH_IFINDEX, cfg->ifindex)) ||
	    (!ipv6_addr_any(&cfg->via) &&
	     nla_put_in6_addr(skb, SRPOL_A_PATH_VIA, &cfg->via)) ||
	    (cfg->admin_down &&
	     nla_put_u32(skb, SRPOL_A_PATH_ADMIN_DOWN, 1)) ||
	    nla_put_u32(skb, SRPOL_A_PATH_STATE, path->state) ||
	    nla_put_u32(skb, SRPOL_A_PATH_REASON, path->reason) ||
	    nla_put_u32(skb, SRPOL_A_PATH_USERS, path->n_users))
		return -EMSGSIZE;
	return srpol_path_fill_out(sn, skb, path);
}

/**
 * srpol_path_event_fill() - attributes of a path-event
 * @sn: namespace; @sn->state_lock is held
 * @skb: message
 * @obj: struct srpol_path
 */
int srpol_path_event_fill(struct srpol_net *sn, struct sk_buff *skb,
			  const void *obj)
{
	const struct srpol_path *path = obj;

	if (nla_put_u32(skb, SRPOL_A_PATH_ID, path->id) ||
	    (path->cfg.name[0] &&
	     nla_put_string(skb, SRPOL_A_PATH_NAME, path->cfg.name)) ||
	    nla_put_u32(skb, SRPOL_A_PATH_STATE, path->state) ||
	    nla_put_u32(skb, SRPOL_A_PATH_REASON, path->reason))
		return -EMSGSIZE;
	return 0;
}

static struct srpol_path *srpol_path_from_attr(struct srpol_net *sn,
					       struct genl_info *info)
{
	struct nlattr *id = info->attrs[SRPOL_A_PATH_ID];
	struct srpol_path *path;

	if (!id) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_PATH_ID);
		return ERR_PTR(-EINVAL);
	}
	path = xa_load(&sn->paths, nla_get_u32(id));
	if (path)
		return path;
	NL_SET_ERR_MSG_ATTR(info->extack, id, "no path has this id");
	return ERR_PTR(-ENOENT);
}

int srpol_nl_path_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	struct srpol_path *path;
	int err;

	mutex_lock(&sn->lock);
	path = srpol_path_from_attr(sn, info);
	err = PTR_ERR_OR_ZERO(path);
	if (!err)
		err = srpol_nl_reply(sn, info, srpol_path_fill, path);
	mutex_unlock(&sn->lock);
	return err;
}

int srpol_nl_path_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct srpol_net *sn = srpol_net(sock_net(skb->sk));

	return srpol_nl_dump_xa(skb, cb, &sn->paths, srpol_path_fill);
}

static int srpol_path_parse_sids(struct srpol_path_cfg *cfg,
				 const struct genl_info *info)
{
	struct nlattr *tb[SRPOL_A_SID_ENTRY_SID + 1];
	const struct nlattr *attr;
	int rem, err;

	cfg->n_sids = 0;
	nla_for_each_attr_type(attr, SRPOL_A_PATH_SIDS,
			       genlmsg_data(info->genlhdr),
			       genlmsg_len(info->genlhdr), rem) {
		err = nla_parse_nested(tb, SRPOL_A_SID_ENTRY_SID, attr,
				       srpol_sid_entry_nl_policy,
				       info->extack);
		if (err)
			return err;
		if (!tb[SRPOL_A_SID_ENTRY_SID]) {
			NL_SET_ERR_ATTR_MISS(info->extack, attr,
					     SRPOL_A_SID_ENTRY_SID);
			return -EINVAL;
		}
		if (cfg->n_sids == SRPOL_SIDS_MAX) {
			NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr,
						"more than %u SIDs",
						SRPOL_SIDS_MAX);
			return -E2BIG;
		}
		err = srpol_nl_check_unicast(tb[SRPOL_A_SID_ENTRY_SID],
					     info->extack, "SID");
		if (err)
			return err;
		cfg->sids[cfg->n_sids++] =
			nla_get_in6_addr(tb[SRPOL_A_SID_ENTRY_SID]);
		if (ipv6_addr_type(&cfg->sids[cfg->n_sids - 1]) &
		    IPV6_ADDR_LINKLOCAL) {
			NL_SET_ERR_MSG_ATTR(info->extack,
					    tb[SRPOL_A_SID_ENTRY_SID],
					    "a link-local address can not be a SID");
			return -EINVAL;
		}
	}
	return 0;
}

static int srpol_path_parse_via(struct srpol_net *sn,
				struct srpol_path_cfg *cfg,
				const struct genl_info *info)
{
	struct nlattr *ifindex = info->attrs[SRPOL_A_PATH_IFINDEX];
	struct nlattr *via = info->attrs[SRPOL_A_PATH_VIA];
	struct net_device *dev;

	if (ifindex) {
		cfg->ifindex = nla_get_u32(ifindex);
		dev = dev_get_by_index(sn->net, cfg->ifindex);
		if (!dev) {
			NL_SET_ERR_MSG_ATTR(info->extack, ifindex,
					    "no such device");
			return -ENODEV;
		}
		dev_put(dev);
	}
	if (via) {
		if (srpol_nl_check_unicast(via, info->extack, "next hop"))
			return -EINVAL;
		cfg->via = nla_get_in6_addr(via);
		if (!cfg->ifindex) {
			NL_SET_ERR_MSG_ATTR(info->extack, via,
					    "a next hop needs a device");
			return -EINVAL;
		}
	}
	return 0;
}

static int srpol_path_parse(struct srpol_net *sn, struct srpol_path_cfg *cfg,
			    const struct genl_info *info)
{
	struct nlattr **tb = info->attrs;
	int err;

	srpol_nl_strscpy(cfg->name, tb[SRPOL_A_PATH_NAME]);
	if (tb[SRPOL_A_PATH_ORIGIN])
		cfg->origin = nla_get_u32(tb[SRPOL_A_PATH_ORIGIN]);
	if (tb[SRPOL_A_PATH_SIDS]) {
		err = srpol_path_parse_sids(cfg, info);
		if (err)
			return err;
	}
	if (!cfg->n_sids) {
		NL_SET_ERR_MSG_MOD(info->extack, "a path needs a SID");
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_PATH_SIDS);
		return -EINVAL;
	}
	if (tb[SRPOL_A_PATH_ENCAP])
		cfg->encap = nla_get_u32(tb[SRPOL_A_PATH_ENCAP]);
	if (tb[SRPOL_A_PATH_SRC]) {
		if (srpol_nl_check_unicast(tb[SRPOL_A_PATH_SRC], info->extack,
					   "source"))
			return -EINVAL;
		cfg->src = nla_get_in6_addr(tb[SRPOL_A_PATH_SRC]);
	}
	if (tb[SRPOL_A_PATH_ADMIN_DOWN])
		cfg->admin_down = nla_get_u32(tb[SRPOL_A_PATH_ADMIN_DOWN]);
	return srpol_path_parse_via(sn, cfg, info);
}

static struct srpol_path *srpol_path_alloc(struct srpol_net *sn, u32 id,
					   const struct genl_info *info)
{
	struct srpol_path *path;
	int err;

	if (id >= sn->limits.paths) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack,
					info->attrs[SRPOL_A_PATH_ID],
					"path ids go up to %u",
					sn->limits.paths - 1);
		return ERR_PTR(-ERANGE);
	}
	path = kzalloc(sizeof(*path), GFP_KERNEL_ACCOUNT);
	if (!path)
		return ERR_PTR(-ENOMEM);
	path->id = id;
	INIT_LIST_HEAD(&path->changed_node);
	INIT_LIST_HEAD(&path->users);
	/* the id may have been in use a moment ago */
	path->gp = sn->del_gp;
	err = xa_insert(&sn->paths, id, path, GFP_KERNEL_ACCOUNT);
	if (err) {
		kfree(path);
		return ERR_PTR(err);
	}
	if (!sn->n_paths++)
		srpol_events_retry_at(sn, HZ);
	return path;
}

static void srpol_path_free(struct srpol_net *sn, struct srpol_path *path)
{
	xa_erase(&sn->paths, path->id);
	sn->n_paths--;
	spin_lock_bh(&sn->state_lock);
	list_del(&path->changed_node);
	if (path->reported)
		sn->n_reported--;
	spin_unlock_bh(&sn->state_lock);
	kfree(path);
}

static int srpol_path_new(struct srpol_net *sn, struct genl_info *info)
{
	struct nlattr *id = info->attrs[SRPOL_A_PATH_ID];
	struct srpol_path_cfg *cfg;
	struct srpol_path *path;
	int verb, err;

	if (!id) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_PATH_ID);
		return -EINVAL;
	}
	path = xa_load(&sn->paths, nla_get_u32(id));
	verb = srpol_nl_verb(info, path, path ? path->cfg.origin : 0,
			     info->attrs[SRPOL_A_PATH_ORIGIN]);
	if (verb < 0)
		return verb;
	cfg = kzalloc(sizeof(*cfg), GFP_KERNEL);
	if (!cfg)
		return -ENOMEM;
	if (verb == SRPOL_VERB_CHANGE)
		*cfg = path->cfg;
	err = srpol_path_parse(sn, cfg, info);
	if (err)
		goto out;
	if (verb == SRPOL_VERB_NEW) {
		path = srpol_path_alloc(sn, nla_get_u32(id), info);
		err = PTR_ERR_OR_ZERO(path);
		if (err)
			goto out;
	}
	err = srpol_path_apply(sn, path, cfg, info->extack);
	if (err) {
		if (verb == SRPOL_VERB_NEW)
			srpol_path_free(sn, path);
		goto out;
	}
	srpol_policy_update_dirty(sn);
	srpol_nl_notify(sn, info, SRPOL_CMD_PATH_NTF, SRPOL_NLGRP_CONFIG,
			srpol_path_fill, path);
out:
	kfree(cfg);
	return err;
}

int srpol_nl_path_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	int err;

	mutex_lock(&sn->lock);
	err = srpol_path_new(sn, info);
	mutex_unlock(&sn->lock);
	return err;
}

static void srpol_path_remove(struct srpol_net *sn, struct srpol_path *path)
{
	srpol_path_detach_nexthop(sn, path);
	srpol_dp_call(sn, path_del, path->id);
	sn->del_gp = get_state_synchronize_rcu();
	srpol_path_free(sn, path);
}

static int srpol_path_del(struct srpol_net *sn, struct genl_info *info)
{
	const struct srpol_policy *policy;
	struct srpol_path *path;

	path = srpol_path_from_attr(sn, info);
	if (IS_ERR(path))
		return PTR_ERR(path);
	if (!list_empty(&path->users)) {
		policy = list_first_entry(&path->users, struct srpol_list,
					  path_node)->policy;
		NL_SET_ERR_MSG_ATTR_FMT(info->extack,
					info->attrs[SRPOL_A_PATH_ID],
					"in use by policy %u %pI6c",
					policy->cfg.color,
					&policy->cfg.endpoint);
		return -EBUSY;
	}
	srpol_nl_notify(sn, info, SRPOL_CMD_PATH_DEL_NTF, SRPOL_NLGRP_CONFIG,
			srpol_path_fill, path);
	srpol_path_remove(sn, path);
	return 0;
}

int srpol_nl_path_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	int err;

	mutex_lock(&sn->lock);
	err = srpol_path_del(sn, info);
	mutex_unlock(&sn->lock);
	return err;
}

/**
 * srpol_path_flush() - free all paths of a dying namespace
 * @sn: namespace, locked, without policies
 */
void srpol_path_flush(struct srpol_net *sn)
{
	struct srpol_path *path;
	unsigned long id;

	xa_for_each(&sn->paths, id, path)
		srpol_path_remove(sn, path);
	xa_destroy(&sn->paths);
}
