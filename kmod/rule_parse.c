// SPDX-License-Identifier: GPL-2.0
/* Rules on netlink: parsing and checks. */
#include <linux/cgroup.h>
#include <net/ipv6.h>

#include "netlink.h"
#include "rule.h"

#define SRPOL_V4MAPPED_LEN	96
#define SRPOL_ROCE_MATCHES	(SRPOL_MATCH_QP | SRPOL_MATCH_OPCODE | \
				 SRPOL_MATCH_PKEY)

/* Read a range, whose maximum may be omitted. */
static int srpol_rule_range(const struct genl_info *info, int min_type,
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

static int srpol_rule_parse_ranges(struct srpol_dp_rule *dp,
				   const struct genl_info *info)
{
	u32 lo, hi;
	int ret;

	ret = srpol_rule_range(info, SRPOL_A_RULE_SPORT_MIN,
			       SRPOL_A_RULE_SPORT_MAX, sizeof(u16), &lo,
				&hi);
	if (ret < 0)
		return ret;
	if (ret) {
		dp->match |= SRPOL_MATCH_SPORT;
		dp->sport[0] = lo;
		dp->sport[1] = hi;
	}
	ret = srpol_rule_range(info, SRPOL_A_RULE_DPORT_MIN,
			       SRPOL_A_RULE_DPORT_MAX, sizeof(u16), &lo,
				&hi);
	if (ret < 0)
		return ret;
	if (ret) {
		dp->match |= SRPOL_MATCH_DPORT;
		dp->dport[0] = lo;
		dp->dport[1] = hi;
	}
	ret = srpol_rule_range(info, SRPOL_A_RULE_QP_MIN,
			       SRPOL_A_RULE_QP_MAX, sizeof(u32), &lo, &hi);
	if (ret < 0)
		return ret;
	if (ret) {
		dp->match |= SRPOL_MATCH_QP;
		dp->qp[0] = lo;
		dp->qp[1] = hi;
	}
	return 0;
}

/* Return: the prefix length, 0 if there is no prefix, or a negative errno. */
static int srpol_rule_parse_prefix(const struct genl_info *info, int type,
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
	/* ::/0 matches every address, also IPv4: that is no condition at all */
	return len;
}

static int srpol_rule_parse_prefixes(struct srpol_rule_cfg *cfg,
				     const struct genl_info *info)
{
	struct srpol_dp_rule *dp = &cfg->dp;
	bool v4src, v4dst;
	int ret;

	ret = srpol_rule_parse_prefix(info, SRPOL_A_RULE_SRC,
				      SRPOL_A_RULE_SRC_LEN, dp->src,
				       dp->src_mask);
	if (ret < 0)
		return ret;
	if (info->attrs[SRPOL_A_RULE_SRC]) {
		cfg->src_len = ret;
		dp->match = ret ? dp->match | SRPOL_MATCH_SRC :
				  dp->match & ~SRPOL_MATCH_SRC;
	}
	ret = srpol_rule_parse_prefix(info, SRPOL_A_RULE_DST,
				      SRPOL_A_RULE_DST_LEN, dp->dst,
				       dp->dst_mask);
	if (ret < 0)
		return ret;
	if (info->attrs[SRPOL_A_RULE_DST]) {
		cfg->dst_len = ret;
		dp->match = ret ? dp->match | SRPOL_MATCH_DST :
				  dp->match & ~SRPOL_MATCH_DST;
	}
	v4src = cfg->src_len >= SRPOL_V4MAPPED_LEN &&
		ipv6_addr_v4mapped((struct in6_addr *)dp->src);
	v4dst = cfg->dst_len >= SRPOL_V4MAPPED_LEN &&
		ipv6_addr_v4mapped((struct in6_addr *)dp->dst);
	if (dp->match & SRPOL_MATCH_SRC && dp->match & SRPOL_MATCH_DST &&
	    v4src != v4dst) {
		NL_SET_ERR_MSG_MOD(info->extack,
				   "source and destination are of different address families");
		return -EINVAL;
	}
	return 0;
}

static void srpol_rule_parse_opcodes(struct srpol_dp_rule *dp,
				     const struct genl_info *info)
{
	const struct nlattr *attr;
	int rem;

	if (!info->attrs[SRPOL_A_RULE_OPCODE])
		return;
	dp->match |= SRPOL_MATCH_OPCODE;
	memset(dp->opcodes, 0, sizeof(dp->opcodes));
	nla_for_each_attr_type(attr, SRPOL_A_RULE_OPCODE,
			       genlmsg_data(info->genlhdr),
			       genlmsg_len(info->genlhdr), rem)
		dp->opcodes[nla_get_u8(attr) / 64] |=
			BIT_ULL(nla_get_u8(attr) % 64);
}

static int srpol_rule_parse_mark(struct srpol_dp_rule *dp,
				 const struct genl_info *info)
{
	struct nlattr *mark = info->attrs[SRPOL_A_RULE_MARK];
	struct nlattr *mask = info->attrs[SRPOL_A_RULE_MARK_MASK];

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

static int srpol_rule_parse_result(struct srpol_dp_rule *dp,
				   const struct genl_info *info)
{
	struct nlattr *action = info->attrs[SRPOL_A_RULE_ACTION];
	struct nlattr *color = info->attrs[SRPOL_A_RULE_COLOR];
	bool bypass = action && nla_get_u32(action) ==
				SRPOL_RULE_ACTION_BYPASS;

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
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_RULE_COLOR);
		return -EINVAL;
	}
	dp->color = nla_get_u32(color);
	if (!dp->color) {
		NL_SET_ERR_MSG_ATTR(info->extack, color, "color is 0");
		return -EINVAL;
	}
	return 0;
}

/* Check that the conditions can be true together. */
static int srpol_rule_check(const struct srpol_dp_rule *dp,
			    const struct genl_info *info)
{
	struct netlink_ext_ack *extack = info->extack;
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
	if (dp->mode == SRPOL_LB_MODE_SPRAY &&
	    dp->ordering == SRPOL_ORDERING_STRONG) {
		NL_SET_ERR_MSG_ATTR(extack, info->attrs[SRPOL_A_RULE_MODE] ?:
				    info->attrs[SRPOL_A_RULE_ORDERING],
				    "spray needs ordering partial or weak");
		return -EINVAL;
	}
	return 0;
}

/*
 * The path need not exist, nor be one of the policy: it is used once it is.
 * Flows of a rule with a path are in mode hash.
 */
static int srpol_rule_parse_path(struct srpol_net *sn,
				 struct srpol_dp_rule *dp,
				 const struct genl_info *info)
{
	struct nlattr *attr = info->attrs[SRPOL_A_RULE_PATH];
	struct nlattr *mode = info->attrs[SRPOL_A_RULE_MODE];

	if (attr && nla_get_u32(attr) >= sn->limits.paths) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr,
					"path ids go up to %u",
					sn->limits.paths - 1);
		return -ERANGE;
	}
	if (attr)
		dp->path = nla_get_u32(attr);
	if (!dp->path)
		return 0;
	if (!dp->color) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr ?:
				    info->attrs[SRPOL_A_RULE_ACTION],
				    "bypass takes no path");
		return -EINVAL;
	}
	if (attr && !mode)
		dp->mode = SRPOL_LB_MODE_HASH;
	if (dp->mode != SRPOL_LB_MODE_HASH) {
		NL_SET_ERR_MSG_ATTR(info->extack, mode,
				    "a rule with a path is in mode hash");
		return -EINVAL;
	}
	return 0;
}

/*
 * The data plane compares the id of the cgroup, at its level of the hierarchy.
 */
static int srpol_rule_parse_cgroup(struct srpol_dp_rule *dp,
				   const struct genl_info *info)
{
	struct nlattr *attr = info->attrs[SRPOL_A_RULE_CGROUP];
	struct cgroup *cgrp;

	if (!attr)
		return 0;
	cgrp = cgroup_get_from_id(nla_get_u64(attr));
	if (IS_ERR(cgrp)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "no cgroup has this id");
		return -ENOENT;
	}
	dp->match |= SRPOL_MATCH_CGROUP;
	dp->cgroup = nla_get_u64(attr);
	dp->cgroup_level = cgrp->level;
	cgroup_put(cgrp);
	return 0;
}

static int srpol_rule_parse_dev(struct srpol_net *sn,
				struct srpol_rule_cfg *cfg,
				const struct genl_info *info)
{
	struct nlattr *attr = info->attrs[SRPOL_A_RULE_IFINDEX];
	struct srpol_dp_rule *dp = &cfg->dp;
	int err;

	if (!attr)
		return 0;
	err = srpol_nl_device(sn, attr, &dp->ifindex, cfg->ifname,
			      info->extack);
	if (err)
		return err;
	dp->match |= SRPOL_MATCH_DEV;
	return 0;
}

/* Conditions that have a single value. */
static void srpol_rule_parse_values(struct srpol_dp_rule *dp,
				    const struct genl_info *info)
{
	struct nlattr **tb = info->attrs;

	if (tb[SRPOL_A_RULE_PROTO]) {
		dp->match |= SRPOL_MATCH_PROTO;
		dp->proto = nla_get_u8(tb[SRPOL_A_RULE_PROTO]);
	}
	if (tb[SRPOL_A_RULE_DSCP]) {
		dp->match |= SRPOL_MATCH_DSCP;
		dp->dscp = nla_get_u8(tb[SRPOL_A_RULE_DSCP]);
	}
	if (tb[SRPOL_A_RULE_PKEY]) {
		dp->match |= SRPOL_MATCH_PKEY;
		dp->pkey = nla_get_u16(tb[SRPOL_A_RULE_PKEY]);
	}
	if (tb[SRPOL_A_RULE_VLAN]) {
		dp->match |= SRPOL_MATCH_VLAN;
		dp->vlan = nla_get_u16(tb[SRPOL_A_RULE_VLAN]);
	}
}

/**
 * srpol_rule_parse() - read and check a rule
 * @sn: namespace, locked
 * @cfg: the present rule if it is to be changed, or empty
 * @change: the rule is to be changed, not defined
 * @info: the request
 *
 * Return: 0 or a negative errno.
 */
int srpol_rule_parse(struct srpol_net *sn, struct srpol_rule_cfg *cfg,
		     bool change, const struct genl_info *info)
{
	struct nlattr **tb = info->attrs;
	struct srpol_dp_rule *dp = &cfg->dp;
	int err;

	err = srpol_nl_name(cfg->name, tb[SRPOL_A_RULE_NAME], info->extack);
	if (err)
		return err;
	srpol_nl_u32(&cfg->origin, tb[SRPOL_A_RULE_ORIGIN]);
	if (!change || tb[SRPOL_A_RULE_ACTION] || tb[SRPOL_A_RULE_COLOR]) {
		err = srpol_rule_parse_result(dp, info);
		if (err)
			return err;
	}
	if (tb[SRPOL_A_RULE_MODE])
		dp->mode = nla_get_u32(tb[SRPOL_A_RULE_MODE]);
	if (tb[SRPOL_A_RULE_ORDERING])
		dp->ordering = nla_get_u32(tb[SRPOL_A_RULE_ORDERING]);
	srpol_rule_parse_values(dp, info);
	srpol_rule_parse_opcodes(dp, info);
	return srpol_rule_parse_path(sn, dp, info) ?:
	       srpol_rule_parse_dev(sn, cfg, info) ?:
	       srpol_rule_parse_cgroup(dp, info) ?:
	       srpol_rule_parse_mark(dp, info) ?:
	       srpol_rule_parse_ranges(dp, info) ?:
	       srpol_rule_parse_prefixes(cfg, info) ?:
	       srpol_rule_check(dp, info);
}
