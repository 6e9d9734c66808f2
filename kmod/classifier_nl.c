// SPDX-License-Identifier: GPL-2.0
/*
 * Classifier rules on netlink: parsing, checks, dump.
 */
#include <net/ipv6.h>

#include "srpol.h"

#define SRPOL_V4MAPPED_LEN	96
#define SRPOL_ROCE_MATCHES	(SRPOL_MATCH_QP | SRPOL_MATCH_OPCODE | \
				 SRPOL_MATCH_PKEY)

static enum srpol_class_reason srpol_class_reason(struct srpol_net *sn,
						  const struct srpol_class *rule)
{
	const struct srpol_dp_class *dp = &rule->dp;
	bool gone = false;

	if (!sn->n_devs)
		return SRPOL_CLASS_REASON_NO_UPLINK;
	if (dp->match & SRPOL_MATCH_DEV) {
		rcu_read_lock();
		gone = !dev_get_by_index_rcu(sn->net, dp->ifindex);
		rcu_read_unlock();
	}
	if (gone)
		return SRPOL_CLASS_REASON_NO_DEVICE;
	if (!dp->color)
		return SRPOL_CLASS_REASON_NONE;
	if (!srpol_color_count(&sn->colors, dp->color))
		return SRPOL_CLASS_REASON_NO_POLICY;
	if (!srpol_color_count(&sn->colors_up, dp->color))
		return SRPOL_CLASS_REASON_NO_POLICY_UP;
	return SRPOL_CLASS_REASON_NONE;
}

static int srpol_class_fill_flow(struct sk_buff *skb,
				 const struct srpol_class *rule)
{
	const struct srpol_dp_class *dp = &rule->dp;
	u32 match = dp->match;

	if ((match & SRPOL_MATCH_SRC &&
	     (nla_put(skb, SRPOL_A_CLASS_SRC, 16, dp->src) ||
	      nla_put_u32(skb, SRPOL_A_CLASS_SRC_LEN, rule->src_len))) ||
	    (match & SRPOL_MATCH_DST &&
	     (nla_put(skb, SRPOL_A_CLASS_DST, 16, dp->dst) ||
	      nla_put_u32(skb, SRPOL_A_CLASS_DST_LEN, rule->dst_len))) ||
	    (match & SRPOL_MATCH_PROTO &&
	     nla_put_u8(skb, SRPOL_A_CLASS_PROTO, dp->proto)) ||
	    (match & SRPOL_MATCH_SPORT &&
	     (nla_put_u16(skb, SRPOL_A_CLASS_SPORT_MIN, dp->sport[0]) ||
	      nla_put_u16(skb, SRPOL_A_CLASS_SPORT_MAX, dp->sport[1]))) ||
	    (match & SRPOL_MATCH_DPORT &&
	     (nla_put_u16(skb, SRPOL_A_CLASS_DPORT_MIN, dp->dport[0]) ||
	      nla_put_u16(skb, SRPOL_A_CLASS_DPORT_MAX, dp->dport[1]))))
		return -EMSGSIZE;
	return 0;
}

static int srpol_class_fill_roce(struct sk_buff *skb,
				 const struct srpol_dp_class *dp)
{
	u32 match = dp->match, i;

	if ((match & SRPOL_MATCH_QP &&
	     (nla_put_u32(skb, SRPOL_A_CLASS_QP_MIN, dp->qp[0]) ||
	      nla_put_u32(skb, SRPOL_A_CLASS_QP_MAX, dp->qp[1]))) ||
	    (match & SRPOL_MATCH_PKEY &&
	     nla_put_u16(skb, SRPOL_A_CLASS_PKEY, dp->pkey)))
		return -EMSGSIZE;
	for (i = 0; match & SRPOL_MATCH_OPCODE && i < SRPOL_OPCODES; i++)
		if (dp->opcodes[i / 64] & BIT_ULL(i % 64) &&
		    nla_put_u8(skb, SRPOL_A_CLASS_OPCODE, i))
			return -EMSGSIZE;
	return 0;
}

static int srpol_class_fill(struct srpol_net *sn, struct sk_buff *skb,
			    const void *obj)
{
	const struct srpol_class *rule = obj;
	const struct srpol_dp_class *dp = &rule->dp;

	if (nla_put_u32(skb, SRPOL_A_CLASS_PRIORITY, dp->priority) ||
	    (rule->name[0] &&
	     nla_put_string(skb, SRPOL_A_CLASS_NAME, rule->name)) ||
	    nla_put_u32(skb, SRPOL_A_CLASS_ORIGIN, rule->origin) ||
	    nla_put_u32(skb, SRPOL_A_CLASS_ACTION,
			dp->color ? SRPOL_CLASS_ACTION_STEER :
				    SRPOL_CLASS_ACTION_BYPASS) ||
	    (dp->color &&
	     nla_put_u32(skb, SRPOL_A_CLASS_COLOR, dp->color)) ||
	    (dp->match & SRPOL_MATCH_DEV &&
	     nla_put_u32(skb, SRPOL_A_CLASS_IFINDEX, dp->ifindex)) ||
	    (dp->match & SRPOL_MATCH_MARK &&
	     (nla_put_u32(skb, SRPOL_A_CLASS_MARK, dp->mark) ||
	      nla_put_u32(skb, SRPOL_A_CLASS_MARK_MASK, dp->mark_mask))) ||
	    (dp->match & SRPOL_MATCH_DSCP &&
	     nla_put_u8(skb, SRPOL_A_CLASS_DSCP, dp->dscp)) ||
	    srpol_class_fill_flow(skb, rule) ||
	    srpol_class_fill_roce(skb, dp) ||
	    nla_put_u32(skb, SRPOL_A_CLASS_ID, rule->id) ||
	    nla_put_u32(skb, SRPOL_A_CLASS_REASON,
			srpol_class_reason(sn, rule)))
		return -EMSGSIZE;
	return 0;
}

static struct srpol_class *srpol_class_from_attr(struct srpol_net *sn,
						 struct genl_info *info)
{
	struct nlattr *prio = info->attrs[SRPOL_A_CLASS_PRIORITY];
	struct srpol_class *rule;

	if (!prio) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL,
				     SRPOL_A_CLASS_PRIORITY);
		return ERR_PTR(-EINVAL);
	}
	rule = srpol_class_find(sn, nla_get_u32(prio));
	if (rule)
		return rule;
	NL_SET_ERR_MSG_ATTR(info->extack, prio, "no rule has this priority");
	return ERR_PTR(-ENOENT);
}

int srpol_nl_class_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	struct srpol_class *rule;
	int err;

	mutex_lock(&sn->lock);
	rule = srpol_class_from_attr(sn, info);
	err = PTR_ERR_OR_ZERO(rule);
	if (!err)
		err = srpol_nl_reply(sn, info, srpol_class_fill, rule);
	mutex_unlock(&sn->lock);
	return err;
}

/* @cb->args[0] is the priority to go on with, which may exceed 32 bits. */
int srpol_nl_class_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct srpol_net *sn = srpol_net(sock_net(skb->sk));
	const struct srpol_class *rule;
	u64 next = *(u64 *)cb->ctx;
	int err = 0;

	mutex_lock(&sn->lock);
	cb->seq = sn->gen;
	while ((rule = srpol_class_next(sn, next))) {
		err = srpol_nl_dump_one(sn, skb, cb, srpol_class_fill, rule);
		if (err)
			break;
		next = (u64)rule->dp.priority + 1;
	}
	mutex_unlock(&sn->lock);
	*(u64 *)cb->ctx = next;
	return err;
}

/* A range of which the maximum may be left out. */
static int srpol_class_range(const struct genl_info *info, int min_type,
			     int max_type, u32 width, u32 *min, u32 *max)
{
	struct nlattr *lo = info->attrs[min_type];
	struct nlattr *hi = info->attrs[max_type];

	if (!lo && !hi)
		return 0;
	if (!lo) {
		NL_SET_ERR_MSG_ATTR(info->extack, hi,
				    "a range needs its minimum");
		return -EINVAL;
	}
	*min = width == sizeof(u16) ? nla_get_u16(lo) : nla_get_u32(lo);
	*max = *min;
	if (hi)
		*max = width == sizeof(u16) ? nla_get_u16(hi) :
					      nla_get_u32(hi);
	if (*min > *max) {
		NL_SET_ERR_MSG_ATTR(info->extack, hi,
				    "maximum is below minimum");
		return -EINVAL;
	}
	return 1;
}

static int srpol_class_parse_ranges(struct srpol_dp_class *dp,
				    const struct genl_info *info)
{
	u32 lo, hi;
	int ret;

	ret = srpol_class_range(info, SRPOL_A_CLASS_SPORT_MIN,
				SRPOL_A_CLASS_SPORT_MAX, sizeof(u16), &lo,
				&hi);
	if (ret < 0)
		return ret;
	if (ret) {
		dp->match |= SRPOL_MATCH_SPORT;
		dp->sport[0] = lo;
		dp->sport[1] = hi;
	}
	ret = srpol_class_range(info, SRPOL_A_CLASS_DPORT_MIN,
				SRPOL_A_CLASS_DPORT_MAX, sizeof(u16), &lo,
				&hi);
	if (ret < 0)
		return ret;
	if (ret) {
		dp->match |= SRPOL_MATCH_DPORT;
		dp->dport[0] = lo;
		dp->dport[1] = hi;
	}
	ret = srpol_class_range(info, SRPOL_A_CLASS_QP_MIN,
				SRPOL_A_CLASS_QP_MAX, sizeof(u32), &lo, &hi);
	if (ret < 0)
		return ret;
	if (ret) {
		dp->match |= SRPOL_MATCH_QP;
		dp->qp[0] = lo;
		dp->qp[1] = hi;
	}
	return 0;
}

/* Returns the prefix length, 0 if there is no prefix, or a negative errno. */
static int srpol_class_parse_prefix(const struct genl_info *info, int type,
				    int len_type, u8 *addr, u8 *mask)
{
	struct nlattr *attr = info->attrs[type];
	struct nlattr *len_attr = info->attrs[len_type];
	struct in6_addr prefix, netmask;
	u32 len = 128;

	if (!attr) {
		if (!len_attr)
			return 0;
		NL_SET_ERR_MSG_ATTR(info->extack, len_attr,
				    "prefix length without prefix");
		return -EINVAL;
	}
	prefix = nla_get_in6_addr(attr);
	if (len_attr)
		len = nla_get_u32(len_attr);
	if (!srpol_nl_prefix_ok(&prefix, len, &netmask)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "host bits of the prefix are not zero");
		return -EINVAL;
	}
	memcpy(addr, &prefix, sizeof(prefix));
	memcpy(mask, &netmask, sizeof(netmask));
	/* ::/0 matches everything, IPv4 too: no condition at all */
	return len;
}

static int srpol_class_parse_prefixes(struct srpol_class *rule,
				      const struct genl_info *info)
{
	struct srpol_dp_class *dp = &rule->dp;
	bool v4src, v4dst;
	int ret;

	ret = srpol_class_parse_prefix(info, SRPOL_A_CLASS_SRC,
				       SRPOL_A_CLASS_SRC_LEN, dp->src,
				       dp->src_mask);
	if (ret < 0)
		return ret;
	if (info->attrs[SRPOL_A_CLASS_SRC]) {
		rule->src_len = ret;
		dp->match = ret ? dp->match | SRPOL_MATCH_SRC :
				  dp->match & ~SRPOL_MATCH_SRC;
	}
	ret = srpol_class_parse_prefix(info, SRPOL_A_CLASS_DST,
				       SRPOL_A_CLASS_DST_LEN, dp->dst,
				       dp->dst_mask);
	if (ret < 0)
		return ret;
	if (info->attrs[SRPOL_A_CLASS_DST]) {
		rule->dst_len = ret;
		dp->match = ret ? dp->match | SRPOL_MATCH_DST :
				  dp->match & ~SRPOL_MATCH_DST;
	}
	v4src = rule->src_len >= SRPOL_V4MAPPED_LEN &&
		ipv6_addr_v4mapped((struct in6_addr *)dp->src);
	v4dst = rule->dst_len >= SRPOL_V4MAPPED_LEN &&
		ipv6_addr_v4mapped((struct in6_addr *)dp->dst);
	if (dp->match & SRPOL_MATCH_SRC && dp->match & SRPOL_MATCH_DST &&
	    v4src != v4dst) {
		NL_SET_ERR_MSG_MOD(info->extack,
				   "source and destination are of different address families");
		return -EINVAL;
	}
	return 0;
}

static void srpol_class_parse_opcodes(struct srpol_dp_class *dp,
				      const struct genl_info *info)
{
	const struct nlattr *attr;
	int rem;

	if (!info->attrs[SRPOL_A_CLASS_OPCODE])
		return;
	dp->match |= SRPOL_MATCH_OPCODE;
	memset(dp->opcodes, 0, sizeof(dp->opcodes));
	nla_for_each_attr_type(attr, SRPOL_A_CLASS_OPCODE,
			       genlmsg_data(info->genlhdr),
			       genlmsg_len(info->genlhdr), rem)
		dp->opcodes[nla_get_u8(attr) / 64] |=
			BIT_ULL(nla_get_u8(attr) % 64);
}

static int srpol_class_parse_mark(struct srpol_dp_class *dp,
				  const struct genl_info *info)
{
	struct nlattr *mark = info->attrs[SRPOL_A_CLASS_MARK];
	struct nlattr *mask = info->attrs[SRPOL_A_CLASS_MARK_MASK];

	if (mask && !mark) {
		NL_SET_ERR_MSG_ATTR(info->extack, mask, "mask without mark");
		return -EINVAL;
	}
	if (!mark)
		return 0;
	dp->match |= SRPOL_MATCH_MARK;
	dp->mark = nla_get_u32(mark);
	dp->mark_mask = mask ? nla_get_u32(mask) : U32_MAX;
	if (dp->mark & ~dp->mark_mask) {
		NL_SET_ERR_MSG_ATTR(info->extack, mark,
				    "mark has bits outside its mask");
		return -EINVAL;
	}
	return 0;
}

static int srpol_class_parse_result(struct srpol_dp_class *dp,
				    const struct genl_info *info)
{
	struct nlattr *action = info->attrs[SRPOL_A_CLASS_ACTION];
	struct nlattr *color = info->attrs[SRPOL_A_CLASS_COLOR];
	bool bypass = action && nla_get_u32(action) ==
				SRPOL_CLASS_ACTION_BYPASS;

	if (bypass) {
		if (color) {
			NL_SET_ERR_MSG_ATTR(info->extack, color,
					    "bypass takes no color");
			return -EINVAL;
		}
		dp->color = 0;
		return 0;
	}
	if (!color && dp->color)	/* a change that keeps it */
		return 0;
	if (!color) {
		NL_SET_ERR_MSG_MOD(info->extack, "a rule needs a color or bypass");
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_CLASS_COLOR);
		return -EINVAL;
	}
	dp->color = nla_get_u32(color);
	if (!dp->color) {
		NL_SET_ERR_MSG_ATTR(info->extack, color, "color is 0");
		return -EINVAL;
	}
	return 0;
}

/* What one match says must be possible beside the others. */
static int srpol_class_check(const struct srpol_dp_class *dp,
			     struct netlink_ext_ack *extack)
{
	bool proto = dp->match & SRPOL_MATCH_PROTO;

	if (dp->match & SRPOL_ROCE_MATCHES && proto &&
	    dp->proto != IPPROTO_UDP) {
		NL_SET_ERR_MSG_MOD(extack,
				   "QP, opcode and P_Key exist in RoCEv2 only, which is UDP");
		return -EINVAL;
	}
	if (dp->match & (SRPOL_MATCH_SPORT | SRPOL_MATCH_DPORT) && proto &&
	    dp->proto != IPPROTO_UDP && dp->proto != IPPROTO_TCP) {
		NL_SET_ERR_MSG_MOD(extack, "ports exist in UDP and TCP only");
		return -EINVAL;
	}
	return 0;
}

static int srpol_class_parse(struct srpol_net *sn, struct srpol_class *rule,
			     bool change, const struct genl_info *info)
{
	struct nlattr **tb = info->attrs;
	struct srpol_dp_class *dp = &rule->dp;
	struct net_device *dev;
	int err;

	srpol_nl_strscpy(rule->name, tb[SRPOL_A_CLASS_NAME]);
	if (tb[SRPOL_A_CLASS_ORIGIN])
		rule->origin = nla_get_u32(tb[SRPOL_A_CLASS_ORIGIN]);
	if (!change || tb[SRPOL_A_CLASS_ACTION] || tb[SRPOL_A_CLASS_COLOR]) {
		err = srpol_class_parse_result(dp, info);
		if (err)
			return err;
	}
	if (tb[SRPOL_A_CLASS_IFINDEX]) {
		dp->match |= SRPOL_MATCH_DEV;
		dp->ifindex = nla_get_u32(tb[SRPOL_A_CLASS_IFINDEX]);
		dev = dev_get_by_index(sn->net, dp->ifindex);
		if (!dev) {
			NL_SET_ERR_MSG_ATTR(info->extack,
					    tb[SRPOL_A_CLASS_IFINDEX],
					    "no such device");
			return -ENODEV;
		}
		dev_put(dev);
	}
	if (tb[SRPOL_A_CLASS_PROTO]) {
		dp->match |= SRPOL_MATCH_PROTO;
		dp->proto = nla_get_u8(tb[SRPOL_A_CLASS_PROTO]);
	}
	if (tb[SRPOL_A_CLASS_DSCP]) {
		dp->match |= SRPOL_MATCH_DSCP;
		dp->dscp = nla_get_u8(tb[SRPOL_A_CLASS_DSCP]);
	}
	if (tb[SRPOL_A_CLASS_PKEY]) {
		dp->match |= SRPOL_MATCH_PKEY;
		dp->pkey = nla_get_u16(tb[SRPOL_A_CLASS_PKEY]);
	}
	srpol_class_parse_opcodes(dp, info);
	return srpol_class_parse_mark(dp, info) ?:
	       srpol_class_parse_ranges(dp, info) ?:
	       srpol_class_parse_prefixes(rule, info) ?:
	       srpol_class_check(dp, info->extack);
}

static int srpol_class_new(struct srpol_net *sn, struct genl_info *info)
{
	struct nlattr *prio = info->attrs[SRPOL_A_CLASS_PRIORITY];
	struct srpol_class *old, *rule;
	int verb, err;

	if (!prio) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL,
				     SRPOL_A_CLASS_PRIORITY);
		return -EINVAL;
	}
	old = srpol_class_find(sn, nla_get_u32(prio));
	verb = srpol_nl_verb(info, old, old ? old->origin : 0,
			     info->attrs[SRPOL_A_CLASS_ORIGIN]);
	if (verb < 0)
		return verb;
	if (verb == SRPOL_VERB_CHANGE)
		rule = kmemdup(old, sizeof(*old), GFP_KERNEL_ACCOUNT);
	else
		rule = kzalloc(sizeof(*rule), GFP_KERNEL_ACCOUNT);
	if (!rule)
		return -ENOMEM;
	rule->dp.priority = nla_get_u32(prio);
	err = srpol_class_parse(sn, rule, verb == SRPOL_VERB_CHANGE, info) ?:
	      srpol_class_set(sn, old, rule, info->extack);
	if (err) {
		kfree(rule);
		return err;
	}
	srpol_nl_notify(sn, info, SRPOL_CMD_CLASS_NTF, SRPOL_NLGRP_CONFIG,
			srpol_class_fill, rule);
	return 0;
}

int srpol_nl_class_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	int err;

	mutex_lock(&sn->lock);
	err = srpol_class_new(sn, info);
	mutex_unlock(&sn->lock);
	return err;
}

static int srpol_class_remove(struct srpol_net *sn, struct genl_info *info)
{
	struct srpol_class *rule = srpol_class_from_attr(sn, info);
	struct srpol_class *copy;
	int err;

	if (IS_ERR(rule))
		return PTR_ERR(rule);
	copy = kmemdup(rule, sizeof(*rule), GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	err = srpol_class_del(sn, rule, info->extack);
	if (!err)
		srpol_nl_notify(sn, info, SRPOL_CMD_CLASS_DEL_NTF,
				SRPOL_NLGRP_CONFIG, srpol_class_fill, copy);
	kfree(copy);
	return err;
}

int srpol_nl_class_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	int err;

	mutex_lock(&sn->lock);
	err = srpol_class_remove(sn, info);
	mutex_unlock(&sn->lock);
	return err;
}
