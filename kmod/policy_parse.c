// SPDX-License-Identifier: GPL-2.0
/*
 * Policies on netlink: parsing and checks.
 */
#include <linux/log2.h>
#include <net/ipv6.h>

#include "srpol.h"

#define SRPOL_PREFERENCE_DEFAULT	100	/* RFC 9256 2.7 */

static const struct srpol_policy_set srpol_policy_defaults = {
	.buckets = 128,
	.flowlet_timeout = 500 * NSEC_PER_USEC,
	.threshold = 3,
	.dwell_time = 100,
	.wait_to_restore = 1000,
};

/**
 * srpol_policy_parse_key() - what every request about one policy needs
 * @info: the request
 * @color: set to the color
 * @endpoint: set to the endpoint
 */
int srpol_policy_parse_key(const struct genl_info *info, u32 *color,
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

static int srpol_list_parse(struct srpol_net *sn, struct srpol_list *list,
			    const struct nlattr *attr,
			    struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SRPOL_A_SEGMENT_LIST_BUCKETS + 1];
	int err;

	err = nla_parse_nested(tb, SRPOL_A_SEGMENT_LIST_BUCKETS, attr,
			       srpol_segment_list_nl_policy, extack);
	if (err)
		return err;
	if (!tb[SRPOL_A_SEGMENT_LIST_PATH]) {
		NL_SET_ERR_ATTR_MISS(extack, attr, SRPOL_A_SEGMENT_LIST_PATH);
		return -EINVAL;
	}
	list->path = srpol_path_find(sn,
				     nla_get_u32(tb[SRPOL_A_SEGMENT_LIST_PATH]));
	if (!list->path) {
		NL_SET_ERR_MSG_ATTR(extack, tb[SRPOL_A_SEGMENT_LIST_PATH],
				    "no path has this id");
		return -ENOENT;
	}
	list->weight = tb[SRPOL_A_SEGMENT_LIST_WEIGHT] ?
		       nla_get_u32(tb[SRPOL_A_SEGMENT_LIST_WEIGHT]) : 1;
	return 0;
}

static int srpol_candidate_parse_lists(struct srpol_net *sn,
				       struct srpol_candidate *cand,
				       const struct nlattr *attr,
				       struct netlink_ext_ack *extack)
{
	const struct nlattr *entry;
	int rem, err;
	u32 n, i;

	n = srpol_nl_count(nla_data(attr), nla_len(attr),
			     SRPOL_A_CANDIDATE_SEGMENT_LIST);
	if (n > SRPOL_LISTS_MAX) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr,
					"more than %u segment lists",
					SRPOL_LISTS_MAX);
		return -E2BIG;
	}
	cand->lists = kcalloc(n, sizeof(*cand->lists), GFP_KERNEL_ACCOUNT);
	if (!cand->lists)
		return -ENOMEM;
	nla_for_each_nested_type(entry, SRPOL_A_CANDIDATE_SEGMENT_LIST, attr,
				 rem) {
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
	return srpol_nl_name(cand->name, tb[SRPOL_A_CANDIDATE_NAME], extack) ?:
	       srpol_candidate_parse_lists(sn, cand, attr, extack);
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

	n = srpol_nl_count(head, len, SRPOL_A_POLICY_CANDIDATE);
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
				   struct srpol_policy_set *set,
				   const struct srpol_policy *self,
				   const struct genl_info *info)
{
	struct nlattr *attr = info->attrs[SRPOL_A_POLICY_BSID];
	const struct srpol_policy *policy;

	if (!attr)
		return 0;
	if (srpol_nl_check_unicast(attr, info->extack, "binding SID"))
		return -EINVAL;
	set->bsid = nla_get_in6_addr(attr);
	policy = srpol_policy_find_bsid(sn, &set->bsid);
	if (!policy || policy == self)
		return 0;
	NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr,
				"binding SID of policy %u %pI6c",
				policy->color, &policy->endpoint);
	return -EEXIST;
}

static int srpol_policy_parse(struct srpol_net *sn,
			      struct srpol_policy_cfg *cfg, u32 color,
			      const struct srpol_policy *self,
			      const struct genl_info *info)
{
	struct srpol_policy_set *set = &cfg->set;
	struct nlattr **tb = info->attrs;
	int err;

	err = srpol_nl_name(set->name, tb[SRPOL_A_POLICY_NAME], info->extack);
	if (err)
		return err;
	srpol_nl_u32(&set->origin, tb[SRPOL_A_POLICY_ORIGIN]);
	srpol_nl_u32(&set->mode, tb[SRPOL_A_POLICY_MODE]);
	srpol_nl_u32(&set->symmetric, tb[SRPOL_A_POLICY_SYMMETRIC]);
	srpol_nl_u32(&set->spray, tb[SRPOL_A_POLICY_SPRAY]);
	srpol_nl_u32(&set->flowlet_timeout, tb[SRPOL_A_POLICY_FLOWLET_TIMEOUT]);
	srpol_nl_u32(&set->threshold, tb[SRPOL_A_POLICY_THRESHOLD]);
	srpol_nl_u32(&set->dwell_time, tb[SRPOL_A_POLICY_DWELL_TIME]);
	srpol_nl_u32(&set->wait_to_restore, tb[SRPOL_A_POLICY_WAIT_TO_RESTORE]);
	srpol_nl_u32(&set->drop_upon_invalid,
		     tb[SRPOL_A_POLICY_DROP_UPON_INVALID]);
	srpol_nl_u32(&set->buckets, tb[SRPOL_A_POLICY_BUCKETS]);
	if (!is_power_of_2(set->buckets)) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[SRPOL_A_POLICY_BUCKETS],
				    "number of buckets is not a power of two");
		return -EINVAL;
	}
	srpol_nl_u32(&set->backup_color, tb[SRPOL_A_POLICY_BACKUP_COLOR]);
	if (set->backup_color == color) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    tb[SRPOL_A_POLICY_BACKUP_COLOR],
				    "a policy can not be its own backup");
		return -EINVAL;
	}
	err = srpol_policy_parse_bsid(sn, set, self, info);
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

/**
 * srpol_policy_new() - carry out a policy-new request
 * @sn: namespace, locked, in a transaction
 * @info: the request
 */
int srpol_policy_new(struct srpol_net *sn, struct genl_info *info)
{
	struct srpol_policy_cfg cfg = {};
	struct nlattr **tb = info->attrs;
	struct srpol_policy *policy;
	struct in6_addr endpoint;
	int verb, err;
	u32 color;

	err = srpol_policy_parse_key(info, &color, &endpoint);
	if (err)
		return err;
	policy = srpol_policy_find(sn, color, &endpoint);
	verb = srpol_nl_verb(info, policy,
			     policy ? policy->cfg.set.origin : 0,
			     tb[SRPOL_A_POLICY_ORIGIN]);
	if (verb < 0)
		return verb;
	memcpy(&cfg.set, verb == SRPOL_VERB_CHANGE ? &policy->cfg.set :
						     &srpol_policy_defaults,
	       sizeof(cfg.set));
	err = srpol_policy_parse(sn, &cfg, color, policy, info);
	if (!err && verb == SRPOL_VERB_CHANGE &&
	    !tb[SRPOL_A_POLICY_CANDIDATE]) {
		srpol_policy_cfg_free(&cfg);
		err = srpol_policy_copy_cands(&cfg, &policy->cfg);
	}
	if (!err)
		err = srpol_policy_set_cfg(sn, color, &endpoint, &cfg,
					   info->extack);
	if (err)
		srpol_policy_cfg_free(&cfg);
	return err;
}
