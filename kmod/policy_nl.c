// SPDX-License-Identifier: GPL-2.0
/*
 * Policies on netlink: parsing, checks, dump.
 */
#include <linux/log2.h>
#include <linux/sizes.h>
#include <net/ipv6.h>

#include "srpol.h"

#define SRPOL_PREFERENCE_DEFAULT	100	/* RFC 9256 2.7 */
#define SRPOL_BUCKETS_DEFAULT		128

static int srpol_list_fill(struct sk_buff *skb,
			   const struct srpol_policy *policy, u32 cand, u32 i)
{
	const struct srpol_list *list = &policy->cfg.cands[cand].lists[i];
	enum srpol_policy_reason reason;
	enum srpol_policy_state state;
	struct nlattr *nest;
	u32 buckets = 0, b;

	if ((int)cand == policy->active)
		for (b = 0; b < policy->cfg.buckets; b++)
			buckets += policy->live[b] == i;
	srpol_policy_judge(list, &state, &reason);
	nest = nla_nest_start(skb, SRPOL_A_CANDIDATE_LIST);
	if (!nest ||
	    nla_put_u32(skb, SRPOL_A_LIST_PATH, list->path->id) ||
	    nla_put_u32(skb, SRPOL_A_LIST_WEIGHT, list->weight) ||
	    nla_put_u32(skb, SRPOL_A_LIST_STATE, state) ||
	    nla_put_u32(skb, SRPOL_A_LIST_REASON, reason) ||
	    nla_put_u32(skb, SRPOL_A_LIST_BUCKETS, buckets))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static enum srpol_policy_reason
srpol_candidate_reason(const struct srpol_policy *policy, u32 i)
{
	if ((int)i == policy->active)
		return SRPOL_POLICY_REASON_NONE;
	return policy->cfg.cands[i].id.valid ?
	       SRPOL_POLICY_REASON_NOT_BEST :
	       SRPOL_POLICY_REASON_NO_VALID_LIST;
}

static int srpol_candidate_fill(struct sk_buff *skb,
				const struct srpol_policy *policy, u32 i)
{
	const struct srpol_candidate *cand = &policy->cfg.cands[i];
	const struct srpol_cand_id *id = &cand->id;
	struct nlattr *nest;
	u32 j;
	int err;

	nest = nla_nest_start(skb, SRPOL_A_POLICY_CANDIDATE);
	if (!nest ||
	    nla_put_u32(skb, SRPOL_A_CANDIDATE_PREFERENCE, id->preference) ||
	    nla_put_u32(skb, SRPOL_A_CANDIDATE_PROTOCOL_ORIGIN,
			id->protocol_origin) ||
	    nla_put_u32(skb, SRPOL_A_CANDIDATE_ASN, id->asn) ||
	    nla_put_in6_addr(skb, SRPOL_A_CANDIDATE_NODE, &id->node) ||
	    nla_put_u32(skb, SRPOL_A_CANDIDATE_DISCRIMINATOR,
			id->discriminator) ||
	    (cand->name[0] &&
	     nla_put_string(skb, SRPOL_A_CANDIDATE_NAME, cand->name)))
		return -EMSGSIZE;
	for (j = 0; j < cand->n_lists; j++) {
		err = srpol_list_fill(skb, policy, i, j);
		if (err)
			return err;
	}
	if (((int)i == policy->active &&
	     nla_put_flag(skb, SRPOL_A_CANDIDATE_ACTIVE)) ||
	    nla_put_u32(skb, SRPOL_A_CANDIDATE_STATE,
			id->valid ? SRPOL_POLICY_STATE_UP :
				    SRPOL_POLICY_STATE_DOWN) ||
	    nla_put_u32(skb, SRPOL_A_CANDIDATE_REASON,
			srpol_candidate_reason(policy, i)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int srpol_policy_fill(struct srpol_net *sn, struct sk_buff *skb,
			     const void *obj)
{
	const struct srpol_policy *policy = obj;
	const struct srpol_policy_cfg *cfg = &policy->cfg;
	u32 i;
	int err;

	if (nla_put_u32(skb, SRPOL_A_POLICY_COLOR, cfg->color) ||
	    nla_put_in6_addr(skb, SRPOL_A_POLICY_ENDPOINT, &cfg->endpoint) ||
	    (cfg->name[0] &&
	     nla_put_string(skb, SRPOL_A_POLICY_NAME, cfg->name)) ||
	    (!ipv6_addr_any(&cfg->bsid) &&
	     nla_put_in6_addr(skb, SRPOL_A_POLICY_BSID, &cfg->bsid)) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_ORIGIN, cfg->origin) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_MODE, cfg->mode) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_BUCKETS, cfg->buckets) ||
	    (cfg->backup_color &&
	     nla_put_u32(skb, SRPOL_A_POLICY_BACKUP_COLOR,
			 cfg->backup_color)) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_ON_FAIL, cfg->on_fail))
		return -EMSGSIZE;
	for (i = 0; i < cfg->n_cands; i++) {
		err = srpol_candidate_fill(skb, policy, i);
		if (err)
			return err;
	}
	if (nla_put_u32(skb, SRPOL_A_POLICY_ID, policy->id) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_STATE, policy->state) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_REASON, policy->reason))
		return -EMSGSIZE;
	return 0;
}

/* Color and endpoint, which every request about one policy needs. */
static int srpol_policy_parse_key(const struct genl_info *info, u32 *color,
				  struct in6_addr *endpoint)
{
	struct nlattr **tb = info->attrs;

	if (!tb[SRPOL_A_POLICY_COLOR]) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_POLICY_COLOR);
		return -EINVAL;
	}
	if (!tb[SRPOL_A_POLICY_ENDPOINT]) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL,
				     SRPOL_A_POLICY_ENDPOINT);
		return -EINVAL;
	}
	*color = nla_get_u32(tb[SRPOL_A_POLICY_COLOR]);
	*endpoint = nla_get_in6_addr(tb[SRPOL_A_POLICY_ENDPOINT]);
	if (ipv6_addr_is_multicast(endpoint)) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[SRPOL_A_POLICY_ENDPOINT],
				    "endpoint is a multicast address");
		return -EINVAL;
	}
	return 0;
}

static struct srpol_policy *srpol_policy_from_attr(struct srpol_net *sn,
						   struct genl_info *info)
{
	struct srpol_policy *policy;
	struct in6_addr endpoint;
	u32 color;
	int err;

	err = srpol_policy_parse_key(info, &color, &endpoint);
	if (err)
		return ERR_PTR(err);
	policy = srpol_policy_find(sn, color, &endpoint);
	if (policy)
		return policy;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[SRPOL_A_POLICY_COLOR],
			    "no policy has this color and endpoint");
	return ERR_PTR(-ENOENT);
}

int srpol_nl_policy_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	struct srpol_policy *policy;
	int err;

	mutex_lock(&sn->lock);
	policy = srpol_policy_from_attr(sn, info);
	err = PTR_ERR_OR_ZERO(policy);
	if (!err)
		err = srpol_nl_reply(sn, info, srpol_policy_fill, policy);
	mutex_unlock(&sn->lock);
	return err;
}

/* The largest policy does not fit into a message of the usual size. */
int srpol_nl_policy_get_dump_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = SKB_WITH_OVERHEAD(SZ_32K);
	return 0;
}

int srpol_nl_policy_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb)
{
	struct srpol_net *sn = srpol_net(sock_net(skb->sk));

	return srpol_nl_dump_xa(skb, cb, &sn->policies, srpol_policy_fill);
}

static int srpol_list_parse(struct srpol_net *sn, struct srpol_list *list,
			    const struct nlattr *attr,
			    struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SRPOL_A_LIST_BUCKETS + 1];
	int err;

	err = nla_parse_nested(tb, SRPOL_A_LIST_BUCKETS, attr,
			       srpol_list_nl_policy, extack);
	if (err)
		return err;
	if (!tb[SRPOL_A_LIST_PATH]) {
		NL_SET_ERR_ATTR_MISS(extack, attr, SRPOL_A_LIST_PATH);
		return -EINVAL;
	}
	list->path = xa_load(&sn->paths, nla_get_u32(tb[SRPOL_A_LIST_PATH]));
	if (!list->path) {
		NL_SET_ERR_MSG_ATTR(extack, tb[SRPOL_A_LIST_PATH],
				    "no path has this id");
		return -ENOENT;
	}
	list->weight = tb[SRPOL_A_LIST_WEIGHT] ?
		       nla_get_u32(tb[SRPOL_A_LIST_WEIGHT]) : 1;
	return 0;
}

static u32 srpol_attr_count(const struct nlattr *head, int len, int type)
{
	const struct nlattr *attr;
	u32 n = 0;
	int rem;

	nla_for_each_attr_type(attr, type, head, len, rem)
		n++;
	return n;
}

static int srpol_candidate_parse_lists(struct srpol_net *sn,
				       struct srpol_candidate *cand,
				       const struct nlattr *attr,
				       struct netlink_ext_ack *extack)
{
	const struct nlattr *entry;
	int rem, err;
	u32 n, i;

	n = srpol_attr_count(nla_data(attr), nla_len(attr),
			     SRPOL_A_CANDIDATE_LIST);
	if (n > SRPOL_LISTS_MAX) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"more than %u segment lists",
					SRPOL_LISTS_MAX);
		return -E2BIG;
	}
	cand->lists = kcalloc(n, sizeof(*cand->lists), GFP_KERNEL_ACCOUNT);
	if (!cand->lists)
		return -ENOMEM;
	nla_for_each_nested_type(entry, SRPOL_A_CANDIDATE_LIST, attr, rem) {
		struct srpol_list *list = &cand->lists[cand->n_lists];

		err = srpol_list_parse(sn, list, entry, extack);
		if (err)
			return err;
		for (i = 0; i < cand->n_lists; i++) {
			if (cand->lists[i].path == list->path) {
				NL_SET_ERR_MSG_ATTR(extack, entry,
						    "path is in the candidate path twice");
				return -EINVAL;
			}
		}
		cand->n_lists++;
	}
	return 0;
}

static bool srpol_origin_valid(u32 origin)
{
	return origin == SRPOL_PROTOCOL_ORIGIN_PCEP ||
	       origin == SRPOL_PROTOCOL_ORIGIN_BGP ||
	       origin == SRPOL_PROTOCOL_ORIGIN_CONFIG;
}

static int srpol_candidate_parse(struct srpol_net *sn,
				 struct srpol_candidate *cand, u32 position,
				 const struct nlattr *attr,
				 struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SRPOL_A_CANDIDATE_REASON + 1];
	struct srpol_cand_id *id = &cand->id;
	int err;

	err = nla_parse_nested(tb, SRPOL_A_CANDIDATE_REASON, attr,
			       srpol_candidate_nl_policy, extack);
	if (err)
		return err;
	id->preference = tb[SRPOL_A_CANDIDATE_PREFERENCE] ?
			 nla_get_u32(tb[SRPOL_A_CANDIDATE_PREFERENCE]) :
			 SRPOL_PREFERENCE_DEFAULT;
	id->protocol_origin = SRPOL_PROTOCOL_ORIGIN_CONFIG;
	if (tb[SRPOL_A_CANDIDATE_PROTOCOL_ORIGIN]) {
		id->protocol_origin =
			nla_get_u32(tb[SRPOL_A_CANDIDATE_PROTOCOL_ORIGIN]);
		if (!srpol_origin_valid(id->protocol_origin)) {
			NL_SET_ERR_MSG_ATTR(extack,
					    tb[SRPOL_A_CANDIDATE_PROTOCOL_ORIGIN],
					    "protocol-origin is not 10, 20 or 30");
			return -EINVAL;
		}
	}
	if (tb[SRPOL_A_CANDIDATE_ASN])
		id->asn = nla_get_u32(tb[SRPOL_A_CANDIDATE_ASN]);
	if (tb[SRPOL_A_CANDIDATE_NODE])
		id->node = nla_get_in6_addr(tb[SRPOL_A_CANDIDATE_NODE]);
	id->discriminator = tb[SRPOL_A_CANDIDATE_DISCRIMINATOR] ?
			    nla_get_u32(tb[SRPOL_A_CANDIDATE_DISCRIMINATOR]) :
			    position;
	srpol_nl_strscpy(cand->name, tb[SRPOL_A_CANDIDATE_NAME]);
	return srpol_candidate_parse_lists(sn, cand, attr, extack);
}

/* RFC 9256 2.6: what identifies a candidate path within its policy. */
static bool srpol_candidate_same(const struct srpol_cand_id *a,
				 const struct srpol_cand_id *b)
{
	return a->protocol_origin == b->protocol_origin &&
	       a->asn == b->asn && ipv6_addr_equal(&a->node, &b->node) &&
	       a->discriminator == b->discriminator;
}

static int srpol_policy_parse_cands(struct srpol_net *sn,
				    struct srpol_policy_cfg *cfg,
				    const struct genl_info *info)
{
	void *head = genlmsg_data(info->genlhdr);
	int len = genlmsg_len(info->genlhdr);
	struct netlink_ext_ack *extack = info->extack;
	const struct nlattr *attr;
	int rem, err;
	u32 n, i;

	n = srpol_attr_count(head, len, SRPOL_A_POLICY_CANDIDATE);
	if (n > SRPOL_CANDIDATES_MAX) {
		NL_SET_ERR_MSG_ATTR_FMT(extack,
					info->attrs[SRPOL_A_POLICY_CANDIDATE],
					"more than %u candidate paths",
					SRPOL_CANDIDATES_MAX);
		return -E2BIG;
	}
	cfg->cands = kcalloc(n, sizeof(*cfg->cands), GFP_KERNEL_ACCOUNT);
	if (!cfg->cands)
		return -ENOMEM;
	nla_for_each_attr_type(attr, SRPOL_A_POLICY_CANDIDATE, head, len,
			       rem) {
		struct srpol_candidate *cand = &cfg->cands[cfg->n_cands++];

		err = srpol_candidate_parse(sn, cand, cfg->n_cands, attr,
					    extack);
		if (err)
			return err;
		for (i = 0; i < cfg->n_cands - 1; i++) {
			if (srpol_candidate_same(&cfg->cands[i].id,
						 &cand->id)) {
				NL_SET_ERR_MSG_ATTR(extack, attr,
						    "two candidate paths with the same origin, originator and discriminator");
				return -EINVAL;
			}
		}
	}
	return 0;
}

static int srpol_policy_parse_bsid(struct srpol_net *sn,
				   struct srpol_policy_cfg *cfg,
				   const struct srpol_policy *self,
				   const struct genl_info *info)
{
	struct nlattr *attr = info->attrs[SRPOL_A_POLICY_BSID];
	const struct srpol_policy *policy;
	unsigned long id;

	if (!attr)
		return 0;
	if (srpol_nl_check_unicast(attr, info->extack, "binding SID"))
		return -EINVAL;
	cfg->bsid = nla_get_in6_addr(attr);
	xa_for_each(&sn->policies, id, policy) {
		if (policy == self ||
		    !ipv6_addr_equal(&policy->cfg.bsid, &cfg->bsid))
			continue;
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr,
					"binding SID of policy %u %pI6c",
					policy->cfg.color,
					&policy->cfg.endpoint);
		return -EEXIST;
	}
	return 0;
}

static int srpol_policy_parse(struct srpol_net *sn,
			      struct srpol_policy_cfg *cfg,
			      const struct srpol_policy *self,
			      const struct genl_info *info)
{
	struct nlattr **tb = info->attrs;
	int err;

	srpol_nl_strscpy(cfg->name, tb[SRPOL_A_POLICY_NAME]);
	if (tb[SRPOL_A_POLICY_ORIGIN])
		cfg->origin = nla_get_u32(tb[SRPOL_A_POLICY_ORIGIN]);
	if (tb[SRPOL_A_POLICY_MODE])
		cfg->mode = nla_get_u32(tb[SRPOL_A_POLICY_MODE]);
	if (tb[SRPOL_A_POLICY_ON_FAIL])
		cfg->on_fail = nla_get_u32(tb[SRPOL_A_POLICY_ON_FAIL]);
	if (tb[SRPOL_A_POLICY_BUCKETS]) {
		cfg->buckets = nla_get_u32(tb[SRPOL_A_POLICY_BUCKETS]);
		if (!is_power_of_2(cfg->buckets)) {
			NL_SET_ERR_MSG_ATTR(info->extack,
					    tb[SRPOL_A_POLICY_BUCKETS],
					    "number of buckets is not a power of two");
			return -EINVAL;
		}
	}
	if (tb[SRPOL_A_POLICY_BACKUP_COLOR]) {
		cfg->backup_color =
			nla_get_u32(tb[SRPOL_A_POLICY_BACKUP_COLOR]);
		if (cfg->backup_color == cfg->color) {
			NL_SET_ERR_MSG_ATTR(info->extack,
					    tb[SRPOL_A_POLICY_BACKUP_COLOR],
					    "a policy can not be its own backup");
			return -EINVAL;
		}
	}
	err = srpol_policy_parse_bsid(sn, cfg, self, info);
	if (err)
		return err;
	return srpol_policy_parse_cands(sn, cfg, info);
}

/* A change without candidate paths keeps those there are: copy them. */
static int srpol_policy_copy_cands(struct srpol_policy_cfg *to,
				   const struct srpol_policy_cfg *from)
{
	u32 i, j;

	to->cands = kcalloc(from->n_cands, sizeof(*to->cands),
			    GFP_KERNEL_ACCOUNT);
	if (!to->cands)
		return -ENOMEM;
	for (i = 0; i < from->n_cands; i++) {
		const struct srpol_candidate *cand = &from->cands[i];

		to->cands[i] = *cand;
		to->cands[i].lists = kcalloc(cand->n_lists,
					     sizeof(*cand->lists),
					     GFP_KERNEL_ACCOUNT);
		to->n_cands = i + 1;
		if (!to->cands[i].lists)
			return -ENOMEM;
		for (j = 0; j < cand->n_lists; j++) {
			to->cands[i].lists[j].path = cand->lists[j].path;
			to->cands[i].lists[j].weight = cand->lists[j].weight;
		}
	}
	return 0;
}

static int srpol_policy_new(struct srpol_net *sn, struct genl_info *info)
{
	struct srpol_policy_cfg cfg = { .buckets = SRPOL_BUCKETS_DEFAULT };
	struct nlattr **tb = info->attrs;
	struct srpol_policy *policy;
	int verb, err;

	err = srpol_policy_parse_key(info, &cfg.color, &cfg.endpoint);
	if (err)
		return err;
	policy = srpol_policy_find(sn, cfg.color, &cfg.endpoint);
	verb = srpol_nl_verb(info, policy, policy ? policy->cfg.origin : 0,
			     tb[SRPOL_A_POLICY_ORIGIN]);
	if (verb < 0)
		return verb;
	if (verb == SRPOL_VERB_CHANGE) {
		cfg = policy->cfg;
		cfg.cands = NULL;
		cfg.n_cands = 0;
	}
	err = srpol_policy_parse(sn, &cfg, policy, info);
	if (!err && verb == SRPOL_VERB_CHANGE &&
	    !tb[SRPOL_A_POLICY_CANDIDATE]) {
		srpol_policy_cfg_free(&cfg);
		err = srpol_policy_copy_cands(&cfg, &policy->cfg);
	}
	if (!err)
		err = srpol_policy_set(sn, policy, &cfg, &policy,
				       info->extack);
	if (err) {
		srpol_policy_cfg_free(&cfg);
		return err;
	}
	srpol_nl_notify(sn, info, SRPOL_CMD_POLICY_NTF, SRPOL_NLGRP_CONFIG,
			srpol_policy_fill, policy);
	return 0;
}

int srpol_nl_policy_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	int err;

	mutex_lock(&sn->lock);
	err = srpol_policy_new(sn, info);
	mutex_unlock(&sn->lock);
	return err;
}

int srpol_nl_policy_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	struct srpol_policy *policy;
	int err;

	mutex_lock(&sn->lock);
	policy = srpol_policy_from_attr(sn, info);
	err = PTR_ERR_OR_ZERO(policy);
	if (!err) {
		srpol_nl_notify(sn, info, SRPOL_CMD_POLICY_DEL_NTF,
				SRPOL_NLGRP_CONFIG, srpol_policy_fill, policy);
		srpol_policy_del(sn, policy);
	}
	mutex_unlock(&sn->lock);
	return err;
}
