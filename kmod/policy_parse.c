// SPDX-License-Identifier: GPL-2.0
/*
 * Policies on netlink: parsing and checks.
 */
#include <linux/log2.h>
#include <net/ipv6.h>

#include "netlink.h"
#include "path.h"
#include "policy.h"
#include "sid.h"

#define SRPOL_PREFERENCE_DEFAULT	100	/* RFC 9256 2.7 */

const struct srpol_policy_set srpol_policy_defaults = {
	.buckets = 128,
	.flowlet_timeout = 500 * NSEC_PER_USEC,
	.threshold = 3,
	.dwell_time = 100,
	.wait_to_restore = 1000,
};

/**
 * srpol_policy_parse_key() - read the key, which every request about one policy
 * has
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

/*
 * Read the segment lists of a candidate path into the memory at @cand->lists.
 */
static int srpol_candidate_parse_lists(struct srpol_net *sn,
				       struct srpol_candidate *cand,
				       const struct nlattr *attr,
				       struct netlink_ext_ack *extack)
{
	const struct nlattr *entry;
	int rem, err;
	u32 i;

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
	id->valid = true;
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
static bool srpol_candidate_id_equal(const struct srpol_cand_id *a,
				     const struct srpol_cand_id *b)
{
	return a->protocol_origin == b->protocol_origin &&
	       a->asn == b->asn && ipv6_addr_equal(&a->node, &b->node) &&
	       a->discriminator == b->discriminator;
}

/* Count the candidate paths of a request, and the segment lists in them. */
static int srpol_policy_count(const struct genl_info *info, u32 *n_cands,
			      u32 *n_lists)
{
	void *head = genlmsg_data(info->genlhdr);
	int len = genlmsg_len(info->genlhdr);
	const struct nlattr *attr;
	int rem;
	u32 n;

	*n_cands = srpol_nl_count(head, len, SRPOL_A_POLICY_CANDIDATE);
	*n_lists = 0;
	if (*n_cands > SRPOL_CANDIDATES_MAX) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack,
					info->attrs[SRPOL_A_POLICY_CANDIDATE],
					"more than %u candidate paths",
					SRPOL_CANDIDATES_MAX);
		return -E2BIG;
	}
	nla_for_each_attr_type(attr, SRPOL_A_POLICY_CANDIDATE, head, len,
			       rem) {
		n = srpol_nl_count(nla_data(attr), nla_len(attr),
				   SRPOL_A_CANDIDATE_SEGMENT_LIST);
		if (n > SRPOL_LISTS_MAX) {
			NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr,
						"more than %u segment lists",
						SRPOL_LISTS_MAX);
			return -E2BIG;
		}
		*n_lists += n;
	}
	return 0;
}

static int srpol_policy_fill_cands(struct srpol_net *sn,
				   struct srpol_policy_cfg *cfg,
				   const struct genl_info *info)
{
	struct netlink_ext_ack *extack = info->extack;
	const struct nlattr *attr;
	int rem, err;
	u32 n = 0, i;

	nla_for_each_attr_type(attr, SRPOL_A_POLICY_CANDIDATE,
			       genlmsg_data(info->genlhdr),
			       genlmsg_len(info->genlhdr), rem) {
		struct srpol_candidate *cand = &cfg->cands[n++];

		err = srpol_candidate_parse(sn, cand, n, attr, extack);
		if (err)
			return err;
		for (i = 0; i < n - 1; i++) {
			if (srpol_candidate_id_equal(&cfg->cands[i].id,
						     &cand->id)) {
				NL_SET_ERR_MSG_ATTR(extack, attr,
						    "two candidate paths with the same origin, originator and discriminator");
				return -EINVAL;
			}
		}
		if (n < cfg->n_cands)
			cfg->cands[n].lists = cand->lists + cand->n_lists;
	}
	return 0;
}

/**
 * srpol_policy_parse_cands() - read the candidate paths of a request
 * @sn: namespace, locked, in a transaction
 * @set: the rest of the configuration, which is copied
 * @info: the request
 *
 * Return: a configuration or an ERR_PTR.
 */
struct srpol_policy_cfg *
srpol_policy_parse_cands(struct srpol_net *sn,
			 const struct srpol_policy_set *set,
			 const struct genl_info *info)
{
	struct srpol_policy_cfg *cfg;
	u32 n_cands, n_lists;
	int err;

	err = srpol_policy_count(info, &n_cands, &n_lists);
	if (err)
		return ERR_PTR(err);
	cfg = srpol_policy_cfg_alloc(n_cands, n_lists);
	if (!cfg)
		return ERR_PTR(-ENOMEM);
	cfg->set = *set;
	err = srpol_policy_fill_cands(sn, cfg, info);
	if (!err)
		return cfg;
	kfree(cfg);
	return ERR_PTR(err);
}

static int srpol_policy_parse_bsid(struct srpol_net *sn,
				   struct srpol_policy_set *set,
				   const struct srpol_policy *self,
				   const struct genl_info *info)
{
	struct nlattr *attr = info->attrs[SRPOL_A_POLICY_BSID];
	const struct srpol_policy *policy;
	const struct srpol_sid *sid;

	if (!attr)
		return 0;
	if (srpol_nl_check_unicast(attr, info->extack, "binding SID"))
		return -EINVAL;
	set->bsid = nla_get_in6_addr(attr);
	sid = srpol_sid_find(sn, &set->bsid, SRPOL_BSID_LEN);
	if (sid && !srpol_sid_cfg(sid)->policy) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "there is such a local SID already");
		return -EEXIST;
	}
	policy = srpol_policy_find_bsid(sn, &set->bsid);
	if (!policy || policy == self)
		return 0;
	NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr,
				"binding SID of policy %u %pI6c",
				policy->key.color, &policy->key.endpoint);
	return -EEXIST;
}

/**
 * srpol_policy_parse_set() - read and check all but the candidate paths
 * @sn: namespace, locked, in a transaction
 * @set: present or default values, in which those of the request are set
 * @color: color of the policy
 * @self: the policy, NULL if it is new
 * @info: the request
 *
 * Return: 0 or a negative errno.
 */
int srpol_policy_parse_set(struct srpol_net *sn, struct srpol_policy_set *set,
			   u32 color, const struct srpol_policy *self,
			   const struct genl_info *info)
{
	struct nlattr **tb = info->attrs;
	int err;

	err = srpol_nl_name(set->name, tb[SRPOL_A_POLICY_NAME], info->extack);
	if (err)
		return err;
	srpol_nl_u32(&set->origin, tb[SRPOL_A_POLICY_ORIGIN]);
	srpol_nl_u8(&set->mode, tb[SRPOL_A_POLICY_MODE]);
	srpol_nl_u8(&set->symmetric, tb[SRPOL_A_POLICY_SYMMETRIC]);
	srpol_nl_u8(&set->spray, tb[SRPOL_A_POLICY_SPRAY]);
	srpol_nl_u32(&set->flowlet_timeout, tb[SRPOL_A_POLICY_FLOWLET_TIMEOUT]);
	srpol_nl_u32(&set->threshold, tb[SRPOL_A_POLICY_THRESHOLD]);
	srpol_nl_u32(&set->dwell_time, tb[SRPOL_A_POLICY_DWELL_TIME]);
	srpol_nl_u32(&set->wait_to_restore, tb[SRPOL_A_POLICY_WAIT_TO_RESTORE]);
	srpol_nl_u8(&set->drop_upon_invalid,
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
				    "a policy cannot be its own backup");
		return -EINVAL;
	}
	return srpol_policy_parse_bsid(sn, set, self, info);
}
