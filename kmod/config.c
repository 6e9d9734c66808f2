// SPDX-License-Identifier: GPL-2.0
/*
 * Settings of a namespace.
 */
#include <net/ipv6.h>

#include "srpol.h"

#define SRPOL_HOP_LIMIT_DEFAULT	64
#define SRPOL_HOLD_MS_DEFAULT	1000

/**
 * srpol_config_init() - default settings
 * @sn: new namespace
 */
void srpol_config_init(struct srpol_net *sn)
{
	sn->gen = 1;
	sn->cfg.hop_limit = SRPOL_HOP_LIMIT_DEFAULT;
	sn->cfg.hold_ms = SRPOL_HOLD_MS_DEFAULT;
	sn->cfg.dp.flow_label = SRPOL_FLOW_LABEL_HASH_QP;
	sn->cfg.dp.dscp_mode = SRPOL_DSCP_MODE_UNIFORM;
	sn->cfg.dp.icmp_errors = 1;
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
	    nla_put_u32(skb, SRPOL_A_LIMITS_CLASSES, l->classes) ||
	    nla_put_u32(skb, SRPOL_A_LIMITS_ENDPOINTS, l->endpoints) ||
	    nla_put_u32(skb, SRPOL_A_LIMITS_SIDS, l->sids) ||
	    nla_put_u32(skb, SRPOL_A_LIMITS_DEVS, l->devs))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
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
		.classes = sn->n_classes,
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
	    nla_put_u32(skb, SRPOL_A_CONFIG_HOLD_TIME, cfg->hold_ms) ||
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
	if (tb[SRPOL_A_CONFIG_HOP_LIMIT])
		cfg->hop_limit = nla_get_u32(tb[SRPOL_A_CONFIG_HOP_LIMIT]);
	if (tb[SRPOL_A_CONFIG_DSCP_MODE])
		cfg->dp.dscp_mode = nla_get_u32(tb[SRPOL_A_CONFIG_DSCP_MODE]);
	if (tb[SRPOL_A_CONFIG_DSCP])
		cfg->dp.dscp = nla_get_u32(tb[SRPOL_A_CONFIG_DSCP]);
	if (tb[SRPOL_A_CONFIG_FLOW_LABEL])
		cfg->dp.flow_label =
			nla_get_u32(tb[SRPOL_A_CONFIG_FLOW_LABEL]);
	if (tb[SRPOL_A_CONFIG_ICMP_ERRORS])
		cfg->dp.icmp_errors =
			nla_get_u32(tb[SRPOL_A_CONFIG_ICMP_ERRORS]);
	if (tb[SRPOL_A_CONFIG_HOLD_TIME])
		cfg->hold_ms = nla_get_u32(tb[SRPOL_A_CONFIG_HOLD_TIME]);
	if (tb[SRPOL_A_CONFIG_DSCP] &&
	    cfg->dp.dscp_mode != SRPOL_DSCP_MODE_PIPE) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[SRPOL_A_CONFIG_DSCP],
				    "dscp has a meaning in dscp-mode pipe only");
		return -EINVAL;
	}
	if (cfg->dp.dscp_mode == SRPOL_DSCP_MODE_UNIFORM)
		cfg->dp.dscp = 0;
	return 0;
}

int srpol_nl_config_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	struct srpol_config cfg;
	bool recompile;
	int err;

	mutex_lock(&sn->lock);
	cfg = sn->cfg;
	err = srpol_config_parse(&cfg, info);
	if (err)
		goto out;

	srpol_dp_wait_gp(sn->cfg_gp);
	err = srpol_dp_call(sn, config_set, &cfg.dp);
	if (err) {
		srpol_dp_err(sn, err, "config", 0, info->extack);
		goto out;
	}
	sn->cfg_gp = get_state_synchronize_rcu();

	recompile = cfg.hop_limit != sn->cfg.hop_limit ||
		    !ipv6_addr_equal(&cfg.src, &sn->cfg.src);
	sn->cfg = cfg;
	if (recompile)
		srpol_path_refresh_all(sn);
	/* the flow hash depends on the label mode */
	srpol_dp_epoch(sn);
	srpol_nl_notify(sn, info, SRPOL_CMD_CONFIG_NTF, SRPOL_NLGRP_CONFIG,
			srpol_config_fill, &sn->cfg);
out:
	mutex_unlock(&sn->lock);
	return err;
}
