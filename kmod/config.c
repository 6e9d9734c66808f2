// SPDX-License-Identifier: GPL-2.0
/*
 * Settings of a namespace.
 */
#include <net/ipv6.h>

#include <linux/bitmap.h>
#include <linux/slab.h>

#include "config.h"
#include "dataplane.h"
#include "netlink.h"

#define SRPOL_HOP_LIMIT_DEFAULT	64
#define SRPOL_RETRY_INTERVAL_DEFAULT	1000
#define SRPOL_DROP_EVENTS_DEFAULT	100

static const struct srpol_config srpol_config_default = {
	.hop_limit = SRPOL_HOP_LIMIT_DEFAULT,
	.retry_interval_ms = SRPOL_RETRY_INTERVAL_DEFAULT,
	.dp = {
		.flow_label = SRPOL_FLOW_LABEL_HASH_QP,
		.dscp_mode = SRPOL_DSCP_MODE_UNIFORM,
		.icmp_errors = 1,
		.drop_events = SRPOL_DROP_EVENTS_DEFAULT,
	},
};

/**
 * srpol_config_init() - default settings
 * @sn: new namespace
 */
void srpol_config_init(struct srpol_net *sn)
{
	srpol_obj_init(&sn->config, SRPOL_OBJ_CONFIG);
	sn->config.cur = (void *)&srpol_config_default;
}

/* Freed after a grace period, as packets may be reading it. */
static void srpol_config_free(struct srpol_net *sn, void *cfg)
{
	struct srpol_config *config = cfg;

	if (config != &srpol_config_default)
		kfree_rcu(config, rcu);
}

/**
 * srpol_config_flush() - return to the default settings
 * @sn: namespace that ends, locked
 */
void srpol_config_flush(struct srpol_net *sn)
{
	void *old = sn->config.cur;

	WRITE_ONCE(sn->config.cur, (void *)&srpol_config_default);
	srpol_config_free(sn, old);
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

static int srpol_config_fill_set(struct sk_buff *skb,
				 const struct srpol_prefix_set *set, u16 type)
{
	struct nlattr *nest;
	u32 i;

	for (i = 0; i < set->n; i++) {
		nest = nla_nest_start(skb, type);
		if (!nest ||
		    nla_put_in6_addr(skb, SRPOL_A_PREFIX_ENTRY_PREFIX,
				     &set->entry[i].prefix) ||
		    nla_put_u32(skb, SRPOL_A_PREFIX_ENTRY_PREFIX_LEN,
				set->entry[i].len))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

/**
 * srpol_config_fill() - all settings, limits and numbers of objects
 * @sn: namespace, locked
 * @skb: message
 * @obj: its settings
 */
int srpol_config_fill(struct srpol_net *sn, struct sk_buff *skb,
		      const struct srpol_obj *obj)
{
	const struct srpol_config *cfg = srpol_obj_shown(obj);
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
	    srpol_config_fill_set(skb, &cfg->report_from,
				  SRPOL_A_CONFIG_REPORT_FROM) ||
	    nla_put_u32(skb, SRPOL_A_CONFIG_PSN_OBSERVER,
			cfg->dp.psn_observer) ||
	    nla_put_u32(skb, SRPOL_A_CONFIG_DROP_EVENTS,
			cfg->dp.drop_events) ||
	    nla_put_u32(skb, SRPOL_A_CONFIG_REMEMBERED_ROUTES,
			!cfg->dp.stack_forwards) ||
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
	err = srpol_nl_reply(sn, info, srpol_config_fill, &sn->config);
	mutex_unlock(&sn->lock);
	return err;
}

static int srpol_config_parse_prefix(struct srpol_prefix_set *set,
				     const struct nlattr *entry,
				     struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SRPOL_A_PREFIX_ENTRY_MAX + 1];
	struct in6_addr prefix, mask;
	u32 len = 128;
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
	if (set->n == SRPOL_SR_DOMAIN_MAX) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, entry, "more than %u prefixes",
					SRPOL_SR_DOMAIN_MAX);
		return -E2BIG;
	}
	set->entry[set->n].prefix = prefix;
	set->entry[set->n].mask = mask;
	set->entry[set->n].len = len;
	set->n++;
	return 0;
}

/*
 * Read the prefixes of one list from the request; without any, @set is
 * unchanged.
 */
static int srpol_config_parse_list(struct srpol_prefix_set *set,
				   const struct genl_info *info, int type)
{
	struct nlattr *first = info->attrs[type];
	void *head = genlmsg_data(info->genlhdr);
	int len = genlmsg_len(info->genlhdr);
	const struct nlattr *entry;
	int rem, err;

	if (!first)
		return 0;
	memset(set, 0, sizeof(*set));
	/* a single empty entry means that the list is empty */
	if (!nla_len(first) && srpol_nl_count(head, len, type) == 1)
		return 0;
	nla_for_each_attr_type(entry, type, head, len, rem) {
		err = srpol_config_parse_prefix(set, entry, info->extack);
		if (err)
			return err;
	}
	return 0;
}

/* Prefixes @from to @to of the domain, as the data plane has them. */
static void srpol_config_get_set(const struct srpol_config *cfg, u32 from,
				 u32 to, struct srpol_prefix_set *set)
{
	u32 i;

	memset(set, 0, sizeof(*set));
	for (i = from; i < to; i++, set->n++) {
		memcpy(&set->entry[set->n].prefix, cfg->dp.domain[i].prefix,
		       sizeof(set->entry[0].prefix));
		memcpy(&set->entry[set->n].mask, cfg->dp.domain[i].mask,
		       sizeof(set->entry[0].mask));
		set->entry[set->n].len = cfg->domain_len[i];
	}
}

static void srpol_config_add_set(struct srpol_config *cfg,
				 const struct srpol_prefix_set *set)
{
	u32 n = cfg->dp.n_domain, i;

	for (i = 0; i < set->n; i++, n++) {
		memcpy(cfg->dp.domain[n].prefix, &set->entry[i].prefix,
		       sizeof(set->entry[0].prefix));
		memcpy(cfg->dp.domain[n].mask, &set->entry[i].mask,
		       sizeof(set->entry[0].mask));
		cfg->domain_len[n] = set->entry[i].len;
	}
	cfg->dp.n_domain = n;
}

/* SID blocks come first, then the other sources. */
static int srpol_config_parse_domain(struct srpol_config *cfg,
				     const struct genl_info *info)
{
	struct nlattr *domain = info->attrs[SRPOL_A_CONFIG_SR_DOMAIN];
	struct nlattr *source = info->attrs[SRPOL_A_CONFIG_SR_SOURCE];
	struct srpol_prefix_set blocks, sources;
	int err;

	srpol_config_get_set(cfg, 0, cfg->dp.n_blocks, &blocks);
	srpol_config_get_set(cfg, cfg->dp.n_blocks, cfg->dp.n_domain,
			     &sources);
	err = srpol_config_parse_list(&blocks, info,
				      SRPOL_A_CONFIG_SR_DOMAIN) ?:
	      srpol_config_parse_list(&sources, info,
				      SRPOL_A_CONFIG_SR_SOURCE);
	if (err)
		return err;
	if (blocks.n + sources.n > SRPOL_SR_DOMAIN_MAX) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, source ?: domain,
					"more than %u prefixes",
					SRPOL_SR_DOMAIN_MAX);
		return -E2BIG;
	}
	cfg->dp.n_domain = 0;
	memset(cfg->dp.domain, 0, sizeof(cfg->dp.domain));
	memset(cfg->domain_len, 0, sizeof(cfg->domain_len));
	srpol_config_add_set(cfg, &blocks);
	cfg->dp.n_blocks = blocks.n;
	srpol_config_add_set(cfg, &sources);
	return 0;
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
	srpol_nl_u8(&cfg->dp.dscp_mode, tb[SRPOL_A_CONFIG_DSCP_MODE]);
	srpol_nl_u8(&cfg->dp.dscp, tb[SRPOL_A_CONFIG_DSCP]);
	srpol_nl_u8(&cfg->dp.flow_label, tb[SRPOL_A_CONFIG_FLOW_LABEL]);
	srpol_nl_u8(&cfg->dp.icmp_errors, tb[SRPOL_A_CONFIG_ICMP_ERRORS]);
	srpol_nl_u8(&cfg->dp.path_id, tb[SRPOL_A_CONFIG_PATH_ID]);
	srpol_nl_u8(&cfg->dp.psn_observer, tb[SRPOL_A_CONFIG_PSN_OBSERVER]);
	if (tb[SRPOL_A_CONFIG_REMEMBERED_ROUTES])
		cfg->dp.stack_forwards =
			!nla_get_u32(tb[SRPOL_A_CONFIG_REMEMBERED_ROUTES]);
	if (tb[SRPOL_A_CONFIG_DSCP] &&
	    cfg->dp.dscp_mode != SRPOL_DSCP_MODE_PIPE) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[SRPOL_A_CONFIG_DSCP],
				    "dscp has a meaning in dscp-mode pipe only");
		return -EINVAL;
	}
	if (cfg->dp.dscp_mode == SRPOL_DSCP_MODE_UNIFORM)
		cfg->dp.dscp = 0;
	return srpol_config_parse_domain(cfg, info) ?:
	       srpol_config_parse_list(&cfg->report_from, info,
				       SRPOL_A_CONFIG_REPORT_FROM);
}

int srpol_config_set(struct srpol_net *sn, struct genl_info *info)
{
	struct srpol_config *cfg;
	int err;

	cfg = kmemdup(srpol_config(sn), sizeof(*cfg), GFP_KERNEL_ACCOUNT);
	if (!cfg)
		return -ENOMEM;
	err = srpol_config_parse(cfg, info);
	if (err) {
		kfree(cfg);
		return err;
	}
	srpol_obj_define(sn, &sn->config, cfg);
	return 0;
}

int srpol_nl_config_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return srpol_txn_doit(info, srpol_config_set);
}

static bool srpol_config_equal(const struct srpol_obj *obj)
{
	return !memcmp(obj->cur, obj->next, offsetof(struct srpol_config, rcu));
}

static bool srpol_config_tags(const struct srpol_config *cfg)
{
	return cfg->dp.path_id == SRPOL_PATH_ID_TAG;
}

static int srpol_config_stage(struct srpol_net *sn, struct srpol_obj *obj,
			      struct netlink_ext_ack *extack)
{
	const struct srpol_config *old = obj->cur, *cfg = obj->next;
	int err;

	if (cfg->hop_limit != old->hop_limit ||
	    !ipv6_addr_equal(&cfg->src, &old->src) ||
	    srpol_config_tags(cfg) != srpol_config_tags(old))
		sn->txn.all_paths = true;
	if (!memcmp(&cfg->dp, &old->dp, sizeof(cfg->dp)))
		return 0;
	srpol_dp_wait_gp(sn, sn->config_gp);
	err = srpol_dp_call(sn, config_set, &cfg->dp);
	if (err)
		return srpol_dp_err(err, "config", 0, extack);
	srpol_txn_staged(sn, obj);
	/* the flow hash depends on the label mode */
	sn->txn.reclassify |= cfg->dp.flow_label != old->dp.flow_label;
	return 0;
}

static void srpol_config_commit(struct srpol_net *sn, struct srpol_obj *obj)
{
	if (obj->staged)
		sn->config_gp = sn->txn.gp;
	srpol_obj_swap(obj);
}

static void srpol_config_revert(struct srpol_net *sn, struct srpol_obj *obj)
{
	if (obj->staged)
		srpol_dp_call(sn, revert, SRPOL_DP_CONFIG, 0);
}

const struct srpol_obj_ops srpol_config_ops = {
	.equal		= srpol_config_equal,
	.free_cfg	= srpol_config_free,
	.stage		= srpol_config_stage,
	.commit		= srpol_config_commit,
	.revert		= srpol_config_revert,
};
