// SPDX-License-Identifier: GPL-2.0
/*
 * Settings of a namespace.
 */
#include <net/ipv6.h>

#include "srpol.h"

#define SRPOL_HOP_LIMIT_DEFAULT	64
#define SRPOL_RETRY_INTERVAL_DEFAULT	1000
#define SRPOL_DROP_EVENTS_DEFAULT	100

/**
 * srpol_config_init() - default settings
 * @sn: new namespace
 */
void srpol_config_init(struct srpol_net *sn)
{
	sn->gen = 1;
	sn->cfg.hop_limit = SRPOL_HOP_LIMIT_DEFAULT;
	sn->cfg.retry_interval_ms = SRPOL_RETRY_INTERVAL_DEFAULT;
	sn->cfg.dp.flow_label = SRPOL_FLOW_LABEL_HASH_QP;
	sn->cfg.dp.dscp_mode = SRPOL_DSCP_MODE_UNIFORM;
	sn->cfg.dp.icmp_errors = 1;
	sn->cfg.dp.drop_events = SRPOL_DROP_EVENTS_DEFAULT;
	srpol_change_init(&sn->cfg_change, SRPOL_KIND_CONFIG);
}

static int srpol_config_fill_limits(struct sk_buff *skb, u16 type,
				    const struct srpol_limits *l)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest ||
	    nla_put_u32(skb, SRPOL_A_LIMITS_PATHS, l->paths) ||
	    nla_put_u32(skb, SRPOL_A_LIMITS_NEXTHOPS, l->nexthops) ||
	    nla_put_u32(skb, SRPOL_A_LIMITS_POLICIES, l->policies) ||
	    nla_put_u32(skb, SRPOL_A_LIMITS_BUCKET_ROWS, l->rows) ||
	    nla_put_u32(skb, SRPOL_A_LIMITS_RULES, l->rules) ||
	    nla_put_u32(skb, SRPOL_A_LIMITS_ENDPOINTS, l->endpoints) ||
	    nla_put_u32(skb, SRPOL_A_LIMITS_SIDS, l->sids) ||
	    nla_put_u32(skb, SRPOL_A_LIMITS_DEVS, l->devs))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Prefixes @from to @to of the domain, as attributes of @type. */
static int srpol_config_fill_domain(struct sk_buff *skb,
				    const struct srpol_config *cfg, u16 type,
				    u32 from, u32 to)
{
	struct nlattr *nest;
	u32 i;

	for (i = from; i < to; i++) {
		nest = nla_nest_start(skb, type);
		if (!nest ||
		    nla_put(skb, SRPOL_A_PREFIX_ENTRY_PREFIX, 16,
			    cfg->dp.domain[i].prefix) ||
		    nla_put_u32(skb, SRPOL_A_PREFIX_ENTRY_PREFIX_LEN,
				cfg->domain_len[i]))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int srpol_config_fill(struct srpol_net *sn, struct sk_buff *skb,
			     const void *obj)
{
	const struct srpol_config *cfg = obj;
	const struct srpol_limits used = {
		.paths = sn->n_paths,
		.nexthops = sn->n_nexthops,
		.policies = sn->n_policies,
		.rows = sn->row_map ?
			bitmap_weight(sn->row_map, SRPOL_ROWS_MAX) : 0,
		.rules = sn->n_rules,
		.endpoints = sn->n_endpoints,
		.sids = sn->n_sids,
		.devs = sn->n_devs,
	};

	if (nla_put_in6_addr(skb, SRPOL_A_CONFIG_SRC, &cfg->src) ||
	    nla_put_u32(skb, SRPOL_A_CONFIG_HOP_LIMIT, cfg->hop_limit) ||
	    nla_put_u32(skb, SRPOL_A_CONFIG_DSCP_MODE, cfg->dp.dscp_mode) ||
	    nla_put_u32(skb, SRPOL_A_CONFIG_DSCP, cfg->dp.dscp) ||
	    nla_put_u32(skb, SRPOL_A_CONFIG_FLOW_LABEL, cfg->dp.flow_label) ||
	    nla_put_u32(skb, SRPOL_A_CONFIG_ICMP_ERRORS,
			cfg->dp.icmp_errors) ||
	    nla_put_u32(skb, SRPOL_A_CONFIG_RETRY_INTERVAL,
			cfg->retry_interval_ms) ||
	    nla_put_u32(skb, SRPOL_A_CONFIG_PATH_ID, cfg->dp.path_id) ||
	    srpol_config_fill_domain(skb, cfg, SRPOL_A_CONFIG_SR_DOMAIN, 0,
				     cfg->dp.n_blocks) ||
	    srpol_config_fill_domain(skb, cfg, SRPOL_A_CONFIG_SR_SOURCE,
				     cfg->dp.n_blocks, cfg->dp.n_domain) ||
	    nla_put_u32(skb, SRPOL_A_CONFIG_PSN_OBSERVER,
			cfg->dp.psn_observer) ||
	    nla_put_u32(skb, SRPOL_A_CONFIG_DROP_EVENTS,
			cfg->dp.drop_events) ||
	    nla_put_u32(skb, SRPOL_A_CONFIG_GENERATION, sn->gen))
		return -EMSGSIZE;
	if (sn->dp && nla_put_string(skb, SRPOL_A_CONFIG_DATA_PLANE,
				     sn->dp->name))
		return -EMSGSIZE;
	return srpol_config_fill_limits(skb, SRPOL_A_CONFIG_LIMITS,
					&sn->limits) ?:
	       srpol_config_fill_limits(skb, SRPOL_A_CONFIG_USED, &used);
}

int srpol_nl_config_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	int err;

	mutex_lock(&sn->lock);
	err = srpol_nl_reply(sn, info, srpol_config_fill, &sn->cfg);
	mutex_unlock(&sn->lock);
	return err;
}

static int srpol_config_parse_prefix(struct srpol_config *cfg,
				     const struct nlattr *entry,
				     struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SRPOL_A_PREFIX_ENTRY_MAX + 1];
	u32 n = cfg->dp.n_domain, len = 128;
	struct in6_addr prefix, mask;
	int err;

	err = nla_parse_nested(tb, SRPOL_A_PREFIX_ENTRY_MAX, entry,
			       srpol_prefix_entry_nl_policy, extack);
	if (err)
		return err;
	if (!tb[SRPOL_A_PREFIX_ENTRY_PREFIX]) {
		NL_SET_ERR_ATTR_MISS(extack, entry,
				     SRPOL_A_PREFIX_ENTRY_PREFIX);
		return -EINVAL;
	}
	prefix = nla_get_in6_addr(tb[SRPOL_A_PREFIX_ENTRY_PREFIX]);
	srpol_nl_u32(&len, tb[SRPOL_A_PREFIX_ENTRY_PREFIX_LEN]);
	if (!srpol_nl_prefix_ok(&prefix, len, &mask)) {
		NL_SET_ERR_MSG_ATTR(extack, tb[SRPOL_A_PREFIX_ENTRY_PREFIX],
				    "host bits of the prefix are not zero");
		return -EINVAL;
	}
	if (n == SRPOL_SR_DOMAIN_MAX) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, entry, "more than %u prefixes",
					SRPOL_SR_DOMAIN_MAX);
		return -E2BIG;
	}
	memcpy(cfg->dp.domain[n].prefix, &prefix, sizeof(prefix));
	memcpy(cfg->dp.domain[n].mask, &mask, sizeof(mask));
	cfg->domain_len[n] = len;
	cfg->dp.n_domain = n + 1;
	return 0;
}

/* Append the prefixes of one list as the request has it. */
static int srpol_config_parse_list(struct srpol_config *cfg,
				   const struct genl_info *info, int type)
{
	struct nlattr *first = info->attrs[type];
	void *head = genlmsg_data(info->genlhdr);
	int len = genlmsg_len(info->genlhdr);
	const struct nlattr *entry;
	int rem, err;

	/* an empty entry alone says that there are none */
	if (!nla_len(first) && srpol_nl_count(head, len, type) == 1)
		return 0;
	nla_for_each_attr_type(entry, type, head, len, rem) {
		err = srpol_config_parse_prefix(cfg, entry, info->extack);
		if (err)
			return err;
	}
	return 0;
}

/* Append the prefixes of one list as they were. */
static int srpol_config_keep_list(struct srpol_config *cfg,
				  const struct srpol_config *old, u32 from,
				  u32 to, const struct genl_info *info)
{
	u32 i, n;

	for (i = from; i < to; i++) {
		n = cfg->dp.n_domain;
		if (n == SRPOL_SR_DOMAIN_MAX) {
			NL_SET_ERR_MSG_FMT_MOD(info->extack,
					       "more than %u prefixes",
					       SRPOL_SR_DOMAIN_MAX);
			return -E2BIG;
		}
		cfg->dp.domain[n] = old->dp.domain[i];
		cfg->domain_len[n] = old->domain_len[i];
		cfg->dp.n_domain = n + 1;
	}
	return 0;
}

/* SID blocks come first, then the other sources. */
static int srpol_config_parse_domain(struct srpol_config *cfg,
				     const struct genl_info *info)
{
	const u32 n_domain = cfg->dp.n_domain, n_blocks = cfg->dp.n_blocks;
	struct nlattr **tb = info->attrs;
	struct srpol_config *old;
	int err;

	if (!tb[SRPOL_A_CONFIG_SR_DOMAIN] && !tb[SRPOL_A_CONFIG_SR_SOURCE])
		return 0;
	old = kmemdup(cfg, sizeof(*cfg), GFP_KERNEL);
	if (!old)
		return -ENOMEM;
	cfg->dp.n_domain = 0;
	memset(cfg->dp.domain, 0, sizeof(cfg->dp.domain));
	memset(cfg->domain_len, 0, sizeof(cfg->domain_len));
	err = tb[SRPOL_A_CONFIG_SR_DOMAIN] ?
	      srpol_config_parse_list(cfg, info, SRPOL_A_CONFIG_SR_DOMAIN) :
	      srpol_config_keep_list(cfg, old, 0, n_blocks, info);
	cfg->dp.n_blocks = cfg->dp.n_domain;
	if (!err)
		err = tb[SRPOL_A_CONFIG_SR_SOURCE] ?
		      srpol_config_parse_list(cfg, info,
					      SRPOL_A_CONFIG_SR_SOURCE) :
		      srpol_config_keep_list(cfg, old, n_blocks, n_domain,
					     info);
	kfree(old);
	return err;
}

static void srpol_config_u8(u8 *to, const struct nlattr *attr)
{
	if (attr)
		*to = nla_get_u32(attr);
}

static int srpol_config_parse(struct srpol_config *cfg,
			      const struct genl_info *info)
{
	struct nlattr **tb = info->attrs;

	if (tb[SRPOL_A_CONFIG_SRC]) {
		cfg->src = nla_get_in6_addr(tb[SRPOL_A_CONFIG_SRC]);
		if (!ipv6_addr_any(&cfg->src) &&
		    srpol_nl_check_unicast(tb[SRPOL_A_CONFIG_SRC],
					   info->extack, "source"))
			return -EINVAL;
	}
	srpol_nl_u32(&cfg->hop_limit, tb[SRPOL_A_CONFIG_HOP_LIMIT]);
	srpol_nl_u32(&cfg->retry_interval_ms,
		     tb[SRPOL_A_CONFIG_RETRY_INTERVAL]);
	srpol_nl_u32(&cfg->dp.drop_events, tb[SRPOL_A_CONFIG_DROP_EVENTS]);
	srpol_config_u8(&cfg->dp.dscp_mode, tb[SRPOL_A_CONFIG_DSCP_MODE]);
	srpol_config_u8(&cfg->dp.dscp, tb[SRPOL_A_CONFIG_DSCP]);
	srpol_config_u8(&cfg->dp.flow_label, tb[SRPOL_A_CONFIG_FLOW_LABEL]);
	srpol_config_u8(&cfg->dp.icmp_errors, tb[SRPOL_A_CONFIG_ICMP_ERRORS]);
	srpol_config_u8(&cfg->dp.path_id, tb[SRPOL_A_CONFIG_PATH_ID]);
	srpol_config_u8(&cfg->dp.psn_observer,
			tb[SRPOL_A_CONFIG_PSN_OBSERVER]);
	if (tb[SRPOL_A_CONFIG_DSCP] &&
	    cfg->dp.dscp_mode != SRPOL_DSCP_MODE_PIPE) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[SRPOL_A_CONFIG_DSCP],
				    "dscp has a meaning in dscp-mode pipe only");
		return -EINVAL;
	}
	if (cfg->dp.dscp_mode == SRPOL_DSCP_MODE_UNIFORM)
		cfg->dp.dscp = 0;
	return srpol_config_parse_domain(cfg, info);
}

int srpol_config_set(struct srpol_net *sn, struct genl_info *info)
{
	struct srpol_change *change = &sn->cfg_change;

	srpol_txn_touch(sn, change);
	if (!change->saved)
		memcpy(&sn->old_cfg, &sn->cfg, sizeof(sn->cfg));
	change->saved = true;
	return srpol_config_parse(&sn->cfg, info);
}

int srpol_nl_config_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return srpol_txn_doit(info, srpol_config_set);
}

static bool srpol_config_same(struct srpol_net *sn, const void *obj)
{
	return !memcmp(&sn->cfg, &sn->old_cfg, sizeof(sn->cfg));
}

static int srpol_config_stage(struct srpol_net *sn,
			      struct srpol_change *change,
			      struct netlink_ext_ack *extack)
{
	const struct srpol_config *cfg = &sn->cfg, *old = &sn->old_cfg;
	int err;

	if (cfg->hop_limit != old->hop_limit ||
	    !ipv6_addr_equal(&cfg->src, &old->src) ||
	    (cfg->dp.path_id == SRPOL_PATH_ID_TAG) !=
	    (old->dp.path_id == SRPOL_PATH_ID_TAG))
		srpol_path_refresh_all(sn);
	if (!memcmp(&cfg->dp, &old->dp, sizeof(cfg->dp)))
		return 0;
	srpol_dp_wait_gp(sn, sn->cfg_gp);
	err = srpol_dp_call(sn, config_set, &cfg->dp);
	if (err)
		return srpol_dp_err(sn, err, "config", 0, extack);
	srpol_txn_staged(sn, change);
	/* the flow hash depends on the label mode */
	sn->txn.reclassify |= cfg->dp.flow_label != old->dp.flow_label;
	return 0;
}

static void srpol_config_commit(struct srpol_net *sn,
				struct srpol_change *change)
{
	if (change->staged)
		sn->cfg_gp = sn->txn.gp;
}

static void srpol_config_abort(struct srpol_net *sn,
			       struct srpol_change *change)
{
	memcpy(&sn->cfg, &sn->old_cfg, sizeof(sn->cfg));
	if (change->staged)
		srpol_dp_call(sn, revert, SRPOL_DP_CONFIG, 0);
}

const struct srpol_change_ops srpol_config_change_ops = {
	.same	= srpol_config_same,
	.stage	= srpol_config_stage,
	.commit	= srpol_config_commit,
	.abort	= srpol_config_abort,
	.fill	= srpol_config_fill,
	.offset	= offsetof(struct srpol_net, cfg_change) -
		  offsetof(struct srpol_net, cfg),
	.ntf	= SRPOL_CMD_CONFIG_NTF,
};
