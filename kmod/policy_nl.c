// SPDX-License-Identifier: GPL-2.0
/*
 * Policies on netlink: dump, and the requests about them.
 */
#include <linux/sizes.h>
#include <net/ipv6.h>

#include "netlink.h"
#include "path.h"
#include "policy.h"

static int srpol_list_fill(struct sk_buff *skb, const struct srpol_list *list,
			   u32 buckets)
{
	enum srpol_policy_reason reason;
	enum srpol_policy_state state;
	struct nlattr *nest;

	srpol_list_state(list, &state, &reason);
	nest = nla_nest_start(skb, SRPOL_A_CANDIDATE_SEGMENT_LIST);
	if (!nest ||
	    nla_put_u32(skb, SRPOL_A_SEGMENT_LIST_PATH, list->path->id) ||
	    nla_put_u32(skb, SRPOL_A_SEGMENT_LIST_WEIGHT, list->weight) ||
	    nla_put_u32(skb, SRPOL_A_SEGMENT_LIST_STATE, state) ||
	    nla_put_u32(skb, SRPOL_A_SEGMENT_LIST_REASON, reason) ||
	    nla_put_u32(skb, SRPOL_A_SEGMENT_LIST_BUCKETS, buckets))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/*
 * Number of buckets of each list of candidate path @i; 0 if it is not active.
 */
static void srpol_candidate_count(const struct srpol_policy *policy, u32 i,
				  u16 *buckets)
{
	const struct srpol_table *table = policy->table;
	u32 b;

	memset(buckets, 0, SRPOL_LISTS_MAX * sizeof(*buckets));
	if ((int)i != table->active)
		return;
	for (b = 0; b < table->n; b++)
		if (table->live[b] < SRPOL_LISTS_MAX)
			buckets[table->live[b]]++;
}

static enum srpol_policy_reason
srpol_candidate_reason(const struct srpol_policy *policy, u32 i)
{
	if ((int)i == policy->table->active)
		return SRPOL_POLICY_REASON_NONE;
	return policy->table->valid & BIT(i) ?
	       SRPOL_POLICY_REASON_NOT_BEST :
	       SRPOL_POLICY_REASON_NO_VALID_LIST;
}

static int srpol_candidate_fill(struct sk_buff *skb,
				const struct srpol_policy *policy,
				const struct srpol_candidate *cand, u32 i)
{
	const struct srpol_cand_id *id = &cand->id;
	u16 buckets[SRPOL_LISTS_MAX];
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
	srpol_candidate_count(policy, i, buckets);
	for (j = 0; j < cand->n_lists; j++) {
		err = srpol_list_fill(skb, &cand->lists[j], buckets[j]);
		if (err)
			return err;
	}
	if (((int)i == policy->table->active &&
	     nla_put_flag(skb, SRPOL_A_CANDIDATE_ACTIVE)) ||
	    nla_put_u32(skb, SRPOL_A_CANDIDATE_STATE,
			policy->table->valid & BIT(i) ?
			SRPOL_POLICY_STATE_UP : SRPOL_POLICY_STATE_DOWN) ||
	    nla_put_u32(skb, SRPOL_A_CANDIDATE_REASON,
			srpol_candidate_reason(policy, i)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int srpol_policy_fill_set(struct sk_buff *skb,
				 const struct srpol_policy_set *set)
{
	if ((set->name[0] &&
	     nla_put_string(skb, SRPOL_A_POLICY_NAME, set->name)) ||
	    (!ipv6_addr_any(&set->bsid) &&
	     nla_put_in6_addr(skb, SRPOL_A_POLICY_BSID, &set->bsid)) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_ORIGIN, set->origin) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_MODE, set->mode) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_SYMMETRIC, set->symmetric) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_SPRAY, set->spray) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_FLOWLET_TIMEOUT,
			set->flowlet_timeout) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_THRESHOLD, set->threshold) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_DWELL_TIME, set->dwell_time) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_WAIT_TO_RESTORE,
			set->wait_to_restore) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_BUCKETS, set->buckets) ||
	    (set->backup_color &&
	     nla_put_u32(skb, SRPOL_A_POLICY_BACKUP_COLOR,
			 set->backup_color)) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_DROP_UPON_INVALID,
			set->drop_upon_invalid))
		return -EMSGSIZE;
	return 0;
}

/**
 * srpol_policy_fill() - all attributes of a policy
 * @sn: namespace, locked, not in a transaction
 * @skb: message
 * @obj: of a struct srpol_policy
 */
int srpol_policy_fill(struct srpol_net *sn, struct sk_buff *skb,
		      const struct srpol_obj *obj)
{
	const struct srpol_policy_cfg *cfg = srpol_obj_shown(obj);
	const struct srpol_policy *policy = srpol_policy(obj);
	u32 i;
	int err;

	if (nla_put_u32(skb, SRPOL_A_POLICY_COLOR, policy->key.color) ||
	    nla_put_in6_addr(skb, SRPOL_A_POLICY_ENDPOINT,
			     &policy->key.endpoint))
		return -EMSGSIZE;
	err = srpol_policy_fill_set(skb, &cfg->set);
	if (err)
		return err;
	for (i = 0; i < cfg->n_cands; i++) {
		err = srpol_candidate_fill(skb, policy, &cfg->cands[i], i);
		if (err)
			return err;
	}
	if (nla_put_u32(skb, SRPOL_A_POLICY_ID, policy->id) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_STATE, policy->table->state) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_REASON, policy->table->reason) ||
	    nla_put_u32(skb, SRPOL_A_POLICY_REVISION, cfg->revision))
		return -EMSGSIZE;
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
		err = srpol_nl_reply(sn, info, srpol_policy_fill,
				     &policy->obj);
	mutex_unlock(&sn->lock);
	return err;
}

/* The largest policy does not fit into a message of the default size. */
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

/* Copy the candidate paths, for a change that does not give any. */
static struct srpol_policy_cfg *
srpol_policy_copy_cands(const struct srpol_policy_cfg *from,
			const struct srpol_policy_set *set)
{
	struct srpol_policy_cfg *to;
	u32 n_lists = 0, i, j;
	struct srpol_list *list;

	for (i = 0; i < from->n_cands; i++)
		n_lists += from->cands[i].n_lists;
	to = srpol_policy_cfg_alloc(from->n_cands, n_lists);
	if (!to)
		return NULL;
	to->set = *set;
	list = (void *)&to->cands[to->n_cands];
	for (i = 0; i < from->n_cands; i++) {
		to->cands[i] = from->cands[i];
		to->cands[i].lists = list;
		for (j = 0; j < from->cands[i].n_lists; j++, list++) {
			list->path = from->cands[i].lists[j].path;
			list->weight = from->cands[i].lists[j].weight;
		}
	}
	return to;
}

/* Is the policy still the revision that the sender of the request has seen? */
static int srpol_policy_check_revision(const struct srpol_policy_cfg *old,
				       const struct genl_info *info)
{
	struct nlattr *attr = info->attrs[SRPOL_A_POLICY_REVISION];

	if (!attr || (old && old->revision == nla_get_u32(attr)))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, attr,
			    "the policy was changed meanwhile; try again");
	return -ESTALE;
}

/**
 * srpol_policy_new() - carry out a policy-new request
 * @sn: namespace, locked, in a transaction
 * @info: the request
 */
int srpol_policy_new(struct srpol_net *sn, struct genl_info *info)
{
	const struct srpol_policy_cfg *old;
	struct nlattr **tb = info->attrs;
	struct srpol_policy_set set;
	struct srpol_policy_cfg *cfg;
	struct srpol_policy *policy;
	struct in6_addr endpoint;
	int verb, err;
	u32 color;

	err = srpol_policy_parse_key(info, &color, &endpoint);
	if (err)
		return err;
	policy = srpol_policy_find(sn, color, &endpoint);
	old = policy ? srpol_policy_cfg(policy) : NULL;
	verb = srpol_nl_verb(info, old, old ? old->set.origin : 0,
			     tb[SRPOL_A_POLICY_ORIGIN]);
	if (verb < 0)
		return verb;
	err = srpol_policy_check_revision(old, info);
	if (err)
		return err;
	set = verb == SRPOL_VERB_CHANGE ? old->set : srpol_policy_defaults;
	err = srpol_policy_parse_set(sn, &set, color, policy, info);
	if (err)
		return err;
	if (verb == SRPOL_VERB_CHANGE && !tb[SRPOL_A_POLICY_CANDIDATE]) {
		cfg = srpol_policy_copy_cands(old, &set);
		if (!cfg)
			return -ENOMEM;
	} else {
		cfg = srpol_policy_parse_cands(sn, &set, info);
		if (IS_ERR(cfg))
			return PTR_ERR(cfg);
	}
	return srpol_policy_define(sn, color, &endpoint, cfg, info->extack);
}

int srpol_nl_policy_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	return srpol_txn_doit(info, srpol_policy_new);
}

int srpol_policy_del(struct srpol_net *sn, struct genl_info *info)
{
	struct srpol_policy *policy = srpol_policy_from_attr(sn, info);
	int err;

	if (IS_ERR(policy))
		return PTR_ERR(policy);
	err = srpol_nl_may_touch(info, srpol_policy_cfg(policy)->set.origin,
				 info->attrs[SRPOL_A_POLICY_ORIGIN]);
	if (err)
		return err;
	srpol_policy_delete(sn, policy);
	return 0;
}

int srpol_nl_policy_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return srpol_txn_doit(info, srpol_policy_del);
}
