// SPDX-License-Identifier: GPL-2.0
/*
 * Local SIDs: segments that end at this host.
 */
#include <net/ipv6.h>

#include "srpol.h"

static const u32 srpol_behaviors[] = {
	SRPOL_BEHAVIOR_END,
	SRPOL_BEHAVIOR_END_DT6,
	SRPOL_BEHAVIOR_END_DT4,
	SRPOL_BEHAVIOR_END_DT46,
};

static struct srpol_sid *srpol_sid_find(struct srpol_net *sn,
					const struct in6_addr *addr)
{
	struct srpol_sid *sid;
	unsigned long id;

	xa_for_each(&sn->sids, id, sid)
		if (ipv6_addr_equal(&sid->sid, addr))
			return sid;
	return NULL;
}

static int srpol_sid_fill(struct srpol_net *sn, struct sk_buff *skb,
			  const void *obj)
{
	const struct srpol_sid *sid = obj;

	if (nla_put_in6_addr(skb, SRPOL_A_SID_SID, &sid->sid) ||
	    nla_put_u32(skb, SRPOL_A_SID_BEHAVIOR, sid->behavior) ||
	    nla_put_u32(skb, SRPOL_A_SID_ORIGIN, sid->origin) ||
	    nla_put_u32(skb, SRPOL_A_SID_ID, sid->id))
		return -EMSGSIZE;
	return 0;
}

static struct srpol_dp_sid srpol_sid_to_dp(const struct srpol_sid *sid)
{
	struct srpol_dp_sid dp = {
		.id = sid->id,
		.behavior = sid->behavior,
	};

	memcpy(dp.sid, &sid->sid, sizeof(dp.sid));
	return dp;
}

static int srpol_sid_push(struct srpol_net *sn, const struct srpol_sid *sid,
			  struct netlink_ext_ack *extack)
{
	const struct srpol_dp_sid dp = srpol_sid_to_dp(sid);
	int err = srpol_dp_call(sn, sid_set, &dp);

	return err ? srpol_dp_err(sn, err, "SID", sn->limits.sids - 1,
				  extack) : 0;
}

static struct srpol_sid *srpol_sid_from_attr(struct srpol_net *sn,
					     struct genl_info *info)
{
	struct nlattr *attr = info->attrs[SRPOL_A_SID_SID];
	struct in6_addr addr;
	struct srpol_sid *sid;

	if (!attr) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_SID_SID);
		return ERR_PTR(-EINVAL);
	}
	addr = nla_get_in6_addr(attr);
	sid = srpol_sid_find(sn, &addr);
	if (sid)
		return sid;
	NL_SET_ERR_MSG_ATTR(info->extack, attr, "no such local SID");
	return ERR_PTR(-ENOENT);
}

int srpol_nl_sid_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	struct srpol_sid *sid;
	int err;

	mutex_lock(&sn->lock);
	sid = srpol_sid_from_attr(sn, info);
	err = PTR_ERR_OR_ZERO(sid);
	if (!err)
		err = srpol_nl_reply(sn, info, srpol_sid_fill, sid);
	mutex_unlock(&sn->lock);
	return err;
}

int srpol_nl_sid_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct srpol_net *sn = srpol_net(sock_net(skb->sk));

	return srpol_nl_dump_xa(skb, cb, &sn->sids, srpol_sid_fill);
}

static int srpol_sid_parse(struct srpol_sid *sid, const struct genl_info *info)
{
	struct nlattr *behavior = info->attrs[SRPOL_A_SID_BEHAVIOR];
	size_t i;

	if (info->attrs[SRPOL_A_SID_ORIGIN])
		sid->origin = nla_get_u32(info->attrs[SRPOL_A_SID_ORIGIN]);
	if (!behavior) {
		if (sid->behavior)
			return 0;
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_SID_BEHAVIOR);
		return -EINVAL;
	}
	sid->behavior = nla_get_u32(behavior);
	for (i = 0; i < ARRAY_SIZE(srpol_behaviors); i++)
		if (srpol_behaviors[i] == sid->behavior)
			return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, behavior,
			    "endpoint behavior is not supported");
	return -EOPNOTSUPP;
}

static int srpol_sid_new(struct srpol_net *sn, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[SRPOL_A_SID_SID];
	struct srpol_sid *sid, new = {};
	int verb, err;

	if (!attr) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_SID_SID);
		return -EINVAL;
	}
	err = srpol_nl_check_unicast(attr, info->extack, "SID");
	if (err)
		return err;
	new.sid = nla_get_in6_addr(attr);
	sid = srpol_sid_find(sn, &new.sid);
	verb = srpol_nl_verb(info, sid, sid ? sid->origin : 0,
			     info->attrs[SRPOL_A_SID_ORIGIN]);
	if (verb < 0)
		return verb;
	if (verb == SRPOL_VERB_CHANGE)
		new = *sid;
	err = srpol_sid_parse(&new, info);
	if (err)
		return err;
	if (sid) {
		new.id = sid->id;
		err = srpol_sid_push(sn, &new, info->extack);
		if (err)
			return err;
		*sid = new;
	} else {
		sid = kmemdup(&new, sizeof(new), GFP_KERNEL_ACCOUNT);
		if (!sid)
			return -ENOMEM;
		err = xa_alloc(&sn->sids, &sid->id, sid,
			       XA_LIMIT(1, sn->limits.sids - 1),
			       GFP_KERNEL_ACCOUNT);
		if (err == -EBUSY)
			err = srpol_dp_err(sn, -ENOSPC, "SID",
					   sn->limits.sids - 1, info->extack);
		if (err)
			goto err_free;
		/* the id may have been in use a moment ago */
		srpol_dp_wait_gp(sn->del_gp);
		err = srpol_sid_push(sn, sid, info->extack);
		if (err)
			goto err_id;
		sn->n_sids++;
	}
	srpol_nl_notify(sn, info, SRPOL_CMD_SID_NTF, SRPOL_NLGRP_CONFIG,
			srpol_sid_fill, sid);
	return 0;

err_id:
	xa_erase(&sn->sids, sid->id);
err_free:
	kfree(sid);
	return err;
}

int srpol_nl_sid_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	int err;

	mutex_lock(&sn->lock);
	err = srpol_sid_new(sn, info);
	mutex_unlock(&sn->lock);
	return err;
}

static int srpol_sid_del(struct srpol_net *sn, struct genl_info *info)
{
	struct srpol_sid *sid = srpol_sid_from_attr(sn, info);
	struct srpol_dp_sid dp;
	int err;

	if (IS_ERR(sid))
		return PTR_ERR(sid);
	dp = srpol_sid_to_dp(sid);
	err = srpol_dp_call(sn, sid_del, &dp);
	if (err)
		return srpol_dp_err(sn, err, "SID", 0, info->extack);
	srpol_nl_notify(sn, info, SRPOL_CMD_SID_DEL_NTF, SRPOL_NLGRP_CONFIG,
			srpol_sid_fill, sid);
	sn->del_gp = get_state_synchronize_rcu();
	xa_erase(&sn->sids, sid->id);
	sn->n_sids--;
	kfree(sid);
	return 0;
}

int srpol_nl_sid_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	int err;

	mutex_lock(&sn->lock);
	err = srpol_sid_del(sn, info);
	mutex_unlock(&sn->lock);
	return err;
}

/**
 * srpol_sid_replay() - tell a new data plane about all local SIDs
 * @sn: namespace, locked
 */
int srpol_sid_replay(struct srpol_net *sn)
{
	struct srpol_sid *sid;
	unsigned long id;
	int err;

	xa_for_each(&sn->sids, id, sid) {
		err = srpol_sid_push(sn, sid, NULL);
		if (err)
			return err;
	}
	return 0;
}

/**
 * srpol_sid_flush() - free all local SIDs of a dying namespace
 * @sn: namespace, locked, without a data plane
 */
void srpol_sid_flush(struct srpol_net *sn)
{
	struct srpol_sid *sid;
	unsigned long id;

	xa_for_each(&sn->sids, id, sid)
		kfree(sid);
	xa_destroy(&sn->sids);
}
