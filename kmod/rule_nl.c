// SPDX-License-Identifier: GPL-2.0
/* Rules on netlink: dump, and the requests about them. */
#include <net/ipv6.h>

#include "netlink.h"
#include "policy.h"
#include "rule.h"

static enum srpol_rule_reason srpol_rule_reason(struct srpol_net *sn,
						const struct srpol_dp_rule *dp)
{
	bool gone = false;

	if (!sn->n_uplinks)
		return SRPOL_RULE_REASON_NO_UPLINK;
	if (dp->match & SRPOL_MATCH_DEV) {
		rcu_read_lock();
		gone = !dev_get_by_index_rcu(sn->net, dp->ifindex);
		rcu_read_unlock();
	}
	if (gone)
		return SRPOL_RULE_REASON_NO_DEVICE;
	if (!dp->color)
		return SRPOL_RULE_REASON_NONE;
	if (!srpol_color_count(&sn->colors, dp->color))
		return SRPOL_RULE_REASON_NO_POLICY;
	if (!srpol_color_count(&sn->colors_up, dp->color))
		return SRPOL_RULE_REASON_NO_POLICY_UP;
	return SRPOL_RULE_REASON_NONE;
}

static int srpol_rule_fill_flow(struct sk_buff *skb,
				const struct srpol_rule_cfg *cfg)
{
	const struct srpol_dp_rule *dp = &cfg->dp;
	u32 match = dp->match;

	if ((match & SRPOL_MATCH_SRC &&
	     (nla_put(skb, SRPOL_A_RULE_SRC, 16, dp->src) ||
	      nla_put_u32(skb, SRPOL_A_RULE_SRC_LEN, cfg->src_len))) ||
	    (match & SRPOL_MATCH_DST &&
	     (nla_put(skb, SRPOL_A_RULE_DST, 16, dp->dst) ||
	      nla_put_u32(skb, SRPOL_A_RULE_DST_LEN, cfg->dst_len))) ||
	    (match & SRPOL_MATCH_PROTO &&
	     nla_put_u8(skb, SRPOL_A_RULE_PROTO, dp->proto)) ||
	    (match & SRPOL_MATCH_SPORT &&
	     (nla_put_u16(skb, SRPOL_A_RULE_SPORT_MIN, dp->sport[0]) ||
	      nla_put_u16(skb, SRPOL_A_RULE_SPORT_MAX, dp->sport[1]))) ||
	    (match & SRPOL_MATCH_DPORT &&
	     (nla_put_u16(skb, SRPOL_A_RULE_DPORT_MIN, dp->dport[0]) ||
	      nla_put_u16(skb, SRPOL_A_RULE_DPORT_MAX, dp->dport[1]))))
		return -EMSGSIZE;
	return 0;
}

static int srpol_rule_fill_roce(struct sk_buff *skb,
				const struct srpol_dp_rule *dp)
{
	u32 match = dp->match, i;

	if ((match & SRPOL_MATCH_QP &&
	     (nla_put_u32(skb, SRPOL_A_RULE_QP_MIN, dp->qp[0]) ||
	      nla_put_u32(skb, SRPOL_A_RULE_QP_MAX, dp->qp[1]))) ||
	    (match & SRPOL_MATCH_PKEY &&
	     nla_put_u16(skb, SRPOL_A_RULE_PKEY, dp->pkey)))
		return -EMSGSIZE;
	for (i = 0; match & SRPOL_MATCH_OPCODE && i < SRPOL_OPCODES; i++)
		if (dp->opcodes[i / 64] & BIT_ULL(i % 64) &&
		    nla_put_u8(skb, SRPOL_A_RULE_OPCODE, i))
			return -EMSGSIZE;
	return 0;
}

/**
 * srpol_rule_fill() - all attributes of a rule
 * @sn: namespace, locked
 * @skb: message
 * @obj: of a struct srpol_rule
 */
int srpol_rule_fill(struct srpol_net *sn, struct sk_buff *skb,
		    const struct srpol_obj *obj)
{
	const struct srpol_rule_cfg *cfg = srpol_obj_shown(obj);
	const struct srpol_rule *rule = srpol_rule(obj);
	const struct srpol_dp_rule *dp = &cfg->dp;

	if (nla_put_u32(skb, SRPOL_A_RULE_PRIORITY, rule->priority) ||
	    (cfg->name[0] &&
	     nla_put_string(skb, SRPOL_A_RULE_NAME, cfg->name)) ||
	    nla_put_u32(skb, SRPOL_A_RULE_ORIGIN, cfg->origin) ||
	    nla_put_u32(skb, SRPOL_A_RULE_ACTION,
			dp->color ? SRPOL_RULE_ACTION_STEER :
				    SRPOL_RULE_ACTION_BYPASS) ||
	    (dp->color &&
	     nla_put_u32(skb, SRPOL_A_RULE_COLOR, dp->color)) ||
	    (dp->match & SRPOL_MATCH_DEV &&
	     (nla_put_u32(skb, SRPOL_A_RULE_IFINDEX, dp->ifindex) ||
	      nla_put_string(skb, SRPOL_A_RULE_IFNAME, cfg->ifname))) ||
	    (dp->match & SRPOL_MATCH_MARK &&
	     (nla_put_u32(skb, SRPOL_A_RULE_MARK, dp->mark) ||
	      nla_put_u32(skb, SRPOL_A_RULE_MARK_MASK, dp->mark_mask))) ||
	    (dp->match & SRPOL_MATCH_DSCP &&
	     nla_put_u8(skb, SRPOL_A_RULE_DSCP, dp->dscp)) ||
	    (dp->match & SRPOL_MATCH_VLAN &&
	     nla_put_u16(skb, SRPOL_A_RULE_VLAN, dp->vlan)) ||
	    (dp->match & SRPOL_MATCH_CGROUP &&
	     nla_put_u64_64bit(skb, SRPOL_A_RULE_CGROUP, dp->cgroup, 0)) ||
	    (dp->mode != SRPOL_MODE_INHERIT &&
	     nla_put_u32(skb, SRPOL_A_RULE_MODE, dp->mode)) ||
	    nla_put_u32(skb, SRPOL_A_RULE_ORDERING, dp->ordering) ||
	    (dp->path && nla_put_u32(skb, SRPOL_A_RULE_PATH, dp->path)) ||
	    srpol_rule_fill_flow(skb, cfg) ||
	    srpol_rule_fill_roce(skb, dp) ||
	    nla_put_u32(skb, SRPOL_A_RULE_ID, rule->id) ||
	    nla_put_u32(skb, SRPOL_A_RULE_REASON,
			srpol_rule_reason(sn, dp)))
		return -EMSGSIZE;
	return 0;
}

static struct srpol_rule *srpol_rule_from_attr(struct srpol_net *sn,
					       struct genl_info *info)
{
	struct nlattr *prio = info->attrs[SRPOL_A_RULE_PRIORITY];
	struct srpol_rule *rule;

	if (!prio) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL,
				     SRPOL_A_RULE_PRIORITY);
		return ERR_PTR(-EINVAL);
	}
	rule = srpol_rule_find(sn, nla_get_u32(prio));
	if (rule)
		return rule;
	NL_SET_ERR_MSG_ATTR(info->extack, prio, "no rule has this priority");
	return ERR_PTR(-ENOENT);
}

int srpol_nl_rule_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	struct srpol_rule *rule;
	int err;

	mutex_lock(&sn->lock);
	rule = srpol_rule_from_attr(sn, info);
	err = PTR_ERR_OR_ZERO(rule);
	if (!err)
		err = srpol_nl_reply(sn, info, srpol_rule_fill, &rule->obj);
	mutex_unlock(&sn->lock);
	return err;
}

/* @cb->ctx has the priority to continue with, which may exceed 32 bits. */
int srpol_nl_rule_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct srpol_net *sn = srpol_net(sock_net(skb->sk));
	const struct srpol_rule *rule;
	u64 next = *(u64 *)cb->ctx;
	int err = 0;

	mutex_lock(&sn->lock);
	cb->seq = sn->gen;
	while ((rule = srpol_rule_next(sn, next))) {
		err = srpol_nl_dump_one(sn, skb, cb, srpol_rule_fill,
					&rule->obj);
		if (err)
			break;
		next = (u64)rule->priority + 1;
		cond_resched();
	}
	mutex_unlock(&sn->lock);
	*(u64 *)cb->ctx = next;
	return err;
}

int srpol_rule_new(struct srpol_net *sn, struct genl_info *info)
{
	struct nlattr *prio = info->attrs[SRPOL_A_RULE_PRIORITY];
	const struct srpol_rule_cfg *old = NULL;
	const struct srpol_rule *rule;
	struct srpol_rule_cfg cfg;
	int verb, err;

	if (!prio) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL,
				     SRPOL_A_RULE_PRIORITY);
		return -EINVAL;
	}
	rule = srpol_rule_find(sn, nla_get_u32(prio));
	if (rule)
		old = srpol_rule_cfg(rule);
	verb = srpol_nl_verb(info, old, old ? old->origin : 0,
			     info->attrs[SRPOL_A_RULE_ORIGIN]);
	if (verb < 0)
		return verb;
	if (verb == SRPOL_VERB_CHANGE) {
		memcpy(&cfg, old, sizeof(cfg));
	} else {
		memset(&cfg, 0, sizeof(cfg));
		cfg.dp.mode = SRPOL_MODE_INHERIT;
	}
	err = srpol_rule_parse(sn, &cfg, verb == SRPOL_VERB_CHANGE, info);
	return err ?: srpol_rule_define(sn, nla_get_u32(prio), &cfg,
					  info->extack);
}

int srpol_nl_rule_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	return srpol_txn_doit(info, srpol_rule_new);
}

int srpol_rule_del(struct srpol_net *sn, struct genl_info *info)
{
	struct srpol_rule *rule = srpol_rule_from_attr(sn, info);
	int err;

	if (IS_ERR(rule))
		return PTR_ERR(rule);
	err = srpol_nl_may_touch(info, srpol_rule_cfg(rule)->origin,
				 info->attrs[SRPOL_A_RULE_ORIGIN]);
	if (err)
		return err;
	srpol_obj_delete(sn, &rule->obj);
	return 0;
}

int srpol_nl_rule_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return srpol_txn_doit(info, srpol_rule_del);
}
