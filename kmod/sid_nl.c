// SPDX-License-Identifier: GPL-2.0
/*
 * Local SIDs on netlink: parsing, checks, dump.
 */
#include <linux/in.h>
#include <net/ipv6.h>

#include "netlink.h"
#include "path.h"
#include "policy.h"
#include "sid.h"

#define SRPOL_BLOCK_LEN_DEFAULT	32

/**
 * struct srpol_behavior_info - an endpoint behavior
 * @code: value of the IANA registry
 * @prefix_len: default length of locator and function
 * @csid: NEXT-CSID: it has a locator block
 * @adjacency: it forwards to a neighbor
 * @ipv4: that neighbor is an IPv4 one
 * @decap: it decapsulates
 */
struct srpol_behavior_info {
	u32 code;
	u32 prefix_len;
	bool csid;
	bool adjacency;
	bool ipv4;
	bool decap;
};

static const struct srpol_behavior_info srpol_behaviors[] = {
	{ SRPOL_BEHAVIOR_END, 128 },
	{ SRPOL_BEHAVIOR_END_PSP, 128 },
	{ SRPOL_BEHAVIOR_END_X, 128, .adjacency = true },
	{ SRPOL_BEHAVIOR_END_X_PSP, 128, .adjacency = true },
	{ SRPOL_BEHAVIOR_END_DX6, 128, .adjacency = true, .decap = true },
	{ SRPOL_BEHAVIOR_END_DX4, 128, .adjacency = true, .ipv4 = true,
	  .decap = true },
	{ SRPOL_BEHAVIOR_END_DT6, 128, .decap = true },
	{ SRPOL_BEHAVIOR_END_DT4, 128, .decap = true },
	{ SRPOL_BEHAVIOR_END_DT46, 128, .decap = true },
	{ SRPOL_BEHAVIOR_END_USD, 128, .decap = true },
	{ SRPOL_BEHAVIOR_END_PSP_USD, 128, .decap = true },
	{ SRPOL_BEHAVIOR_UN, 48, .csid = true },
	{ SRPOL_BEHAVIOR_UN_PSP, 48, .csid = true },
	{ SRPOL_BEHAVIOR_UN_PSP_USD, 48, .csid = true, .decap = true },
	{ SRPOL_BEHAVIOR_UA, 64, .csid = true, .adjacency = true },
	{ SRPOL_BEHAVIOR_UDT6, 48, .csid = true, .decap = true },
	{ SRPOL_BEHAVIOR_UDT4, 48, .csid = true, .decap = true },
	{ SRPOL_BEHAVIOR_UDT46, 48, .csid = true, .decap = true },
	{ SRPOL_BEHAVIOR_PROBE, 128 },
	{ SRPOL_BEHAVIOR_REFLECT, 128 },
};

static const struct srpol_behavior_info *srpol_behavior_find(u32 code)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(srpol_behaviors); i++)
		if (srpol_behaviors[i].code == code)
			return &srpol_behaviors[i];
	return NULL;
}

static bool srpol_behavior_decaps(u32 code)
{
	const struct srpol_behavior_info *b = srpol_behavior_find(code);

	return b && b->decap;
}

static bool srpol_policy_reduced(const struct srpol_policy_cfg *cfg)
{
	const struct srpol_path_cfg *path;
	u32 i, j;

	for (i = 0; i < cfg->n_cands; i++) {
		for (j = 0; j < cfg->cands[i].n_lists; j++) {
			path = srpol_obj_shown(&cfg->cands[i].lists[j].path->obj);
			if (path->hdr.encap == SRPOL_ENCAP_FULL)
				return false;
		}
	}
	return true;
}

/*
 * A binding SID has one of two behaviors; the segment lists of its policy
 * decide which.
 */
static int srpol_sid_fill_policy(struct srpol_net *sn, struct sk_buff *skb,
				 const struct srpol_sid_cfg *cfg)
{
	const struct srpol_policy *policy = xa_load(&sn->policies, cfg->policy);
	u32 behavior = SRPOL_BEHAVIOR_END_B6_ENCAPS;

	if (srpol_policy_reduced(srpol_obj_shown(&policy->obj)))
		behavior = SRPOL_BEHAVIOR_END_B6_ENCAPS_RED;
	if (nla_put_u32(skb, SRPOL_A_SID_BEHAVIOR, behavior) ||
	    nla_put_u32(skb, SRPOL_A_SID_COLOR, policy->key.color) ||
	    nla_put_in6_addr(skb, SRPOL_A_SID_ENDPOINT, &policy->key.endpoint))
		return -EMSGSIZE;
	return 0;
}

/**
 * srpol_sid_fill() - all attributes of a local SID
 * @sn: namespace, locked
 * @skb: message
 * @obj: of a struct srpol_sid
 */
int srpol_sid_fill(struct srpol_net *sn, struct sk_buff *skb,
		   const struct srpol_obj *obj)
{
	const struct srpol_sid_cfg *cfg = srpol_obj_shown(obj);
	const struct srpol_sid *sid = srpol_sid(obj);
	enum srpol_path_reason reason = srpol_sid_reason(sid);

	if (nla_put_in6_addr(skb, SRPOL_A_SID_SID, &sid->addr) ||
	    (cfg->policy ? srpol_sid_fill_policy(sn, skb, cfg) :
	     nla_put_u32(skb, SRPOL_A_SID_BEHAVIOR, cfg->behavior)) ||
	    nla_put_u32(skb, SRPOL_A_SID_ORIGIN, cfg->origin) ||
	    nla_put_u32(skb, SRPOL_A_SID_PREFIX_LEN, sid->prefix_len) ||
	    (cfg->block_len &&
	     nla_put_u32(skb, SRPOL_A_SID_BLOCK_LEN, cfg->block_len)) ||
	    (cfg->ifindex &&
	     (nla_put_u32(skb, SRPOL_A_SID_IFINDEX, cfg->ifindex) ||
	      nla_put_string(skb, SRPOL_A_SID_IFNAME, cfg->ifname) ||
	      nla_put_in6_addr(skb, SRPOL_A_SID_VIA, &cfg->via))) ||
	    (srpol_behavior_decaps(cfg->behavior) &&
	     nla_put_u32(skb, SRPOL_A_SID_DSCP_MODE, cfg->dscp_mode)) ||
	    nla_put_u32(skb, SRPOL_A_SID_ID, sid->id) ||
	    nla_put_u32(skb, SRPOL_A_SID_STATE,
			srpol_path_reason_state(reason)) ||
	    nla_put_u32(skb, SRPOL_A_SID_REASON, reason))
		return -EMSGSIZE;
	return 0;
}

static struct srpol_sid *srpol_sid_from_attr(struct srpol_net *sn,
					     struct genl_info *info)
{
	struct nlattr *len = info->attrs[SRPOL_A_SID_PREFIX_LEN];
	struct nlattr *attr = info->attrs[SRPOL_A_SID_SID];
	struct in6_addr addr;
	struct srpol_sid *sid;

	if (!attr) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_SID_SID);
		return ERR_PTR(-EINVAL);
	}
	addr = nla_get_in6_addr(attr);
	sid = len ? srpol_sid_find(sn, &addr, nla_get_u32(len)) :
		    srpol_sid_find_any(sn, &addr);
	if (sid)
		return sid;
	NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr, "no such local SID%s",
				len ? "" : ", or several");
	return ERR_PTR(-ENOENT);
}

int srpol_nl_sid_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	struct srpol_sid *sid;
	int err;

	mutex_lock(&sn->lock);
	sid = srpol_sid_from_attr(sn, info);
	err = PTR_ERR_OR_ZERO(sid);
	if (!err)
		err = srpol_nl_reply(sn, info, srpol_sid_fill, &sid->obj);
	mutex_unlock(&sn->lock);
	return err;
}

int srpol_nl_sid_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct srpol_net *sn = srpol_net(sock_net(skb->sk));

	return srpol_nl_dump_xa(skb, cb, &sn->sids, srpol_sid_fill);
}

/*
 * Which SID a -new request is about. A change without a prefix length is about
 * the only SID of that address; otherwise the default of the behavior applies.
 */
static int srpol_sid_parse_key(struct srpol_net *sn,
			       const struct genl_info *info,
			       struct in6_addr *addr, u32 *len)
{
	bool change = !(info->nlhdr->nlmsg_flags & NLM_F_CREATE);
	struct nlattr *behavior = info->attrs[SRPOL_A_SID_BEHAVIOR];
	struct nlattr *attr = info->attrs[SRPOL_A_SID_SID];
	const struct srpol_behavior_info *b = NULL;
	const struct srpol_sid *only;
	struct in6_addr mask;

	if (!attr) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_SID_SID);
		return -EINVAL;
	}
	if (srpol_nl_check_unicast(attr, info->extack, "SID"))
		return -EINVAL;
	*addr = nla_get_in6_addr(attr);
	only = change || !behavior ? srpol_sid_find_any(sn, addr) : NULL;
	if (behavior)
		b = srpol_behavior_find(nla_get_u32(behavior));
	if (info->attrs[SRPOL_A_SID_PREFIX_LEN])
		*len = nla_get_u32(info->attrs[SRPOL_A_SID_PREFIX_LEN]);
	else if (only)
		*len = only->prefix_len;
	else
		*len = b ? b->prefix_len : 128;
	if (!srpol_nl_prefix_ok(addr, *len, &mask)) {
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, attr,
					"bits beyond the first %u are not zero",
					*len);
		return -EINVAL;
	}
	return 0;
}

static int srpol_sid_check_via(const struct nlattr *via,
			       struct netlink_ext_ack *extack)
{
	const struct in6_addr *addr = nla_data(via);
	__be32 ip = addr->s6_addr32[3];

	if (!ipv6_addr_v4mapped(addr))
		return srpol_nl_check_unicast(via, extack, "next hop");
	if (!ipv4_is_multicast(ip) && !ipv4_is_zeronet(ip) &&
	    !ipv4_is_lbcast(ip) && !ipv4_is_loopback(ip))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, via,
			    "next hop is not a unicast IPv4 address");
	return -EINVAL;
}

static int srpol_sid_parse_via(struct srpol_net *sn,
			       const struct srpol_behavior_info *b,
			       struct srpol_sid_cfg *cfg,
			       const struct genl_info *info)
{
	struct nlattr *ifindex = info->attrs[SRPOL_A_SID_IFINDEX];
	struct nlattr *via = info->attrs[SRPOL_A_SID_VIA];
	int err;

	if (!b->adjacency) {
		cfg->ifindex = 0;
		memset(cfg->ifname, 0, sizeof(cfg->ifname));
		cfg->via = in6addr_any;
		if (!ifindex && !via)
			return 0;
		NL_SET_ERR_MSG_ATTR(info->extack, ifindex ?: via,
				    "behavior has no adjacency");
		return -EINVAL;
	}
	if (ifindex) {
		err = srpol_nl_device(sn, ifindex, &cfg->ifindex, cfg->ifname,
				      info->extack);
		if (err)
			return err;
	}
	if (via)
		cfg->via = nla_get_in6_addr(via);
	if (!cfg->ifindex || ipv6_addr_any(&cfg->via)) {
		NL_SET_ERR_MSG_MOD(info->extack,
				   "behavior needs an adjacency");
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, cfg->ifindex ?
				     SRPOL_A_SID_VIA : SRPOL_A_SID_IFINDEX);
		return -EINVAL;
	}
	if (b->ipv4 != ipv6_addr_v4mapped(&cfg->via)) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    via ?: info->attrs[SRPOL_A_SID_BEHAVIOR],
				    "next hop is of the wrong address family");
		return -EINVAL;
	}
	return via ? srpol_sid_check_via(via, info->extack) : 0;
}

static int srpol_sid_parse_block(const struct srpol_behavior_info *b, u32 len,
				 struct srpol_sid_cfg *cfg,
				 const struct genl_info *info)
{
	struct nlattr *block = info->attrs[SRPOL_A_SID_BLOCK_LEN];

	if (!b->csid) {
		cfg->block_len = 0;
		if (!block)
			return 0;
		NL_SET_ERR_MSG_ATTR(info->extack, block,
				    "behavior has no locator block");
		return -EINVAL;
	}
	if (!cfg->block_len)
		cfg->block_len = SRPOL_BLOCK_LEN_DEFAULT;
	srpol_nl_u32(&cfg->block_len, block);
	if (len % 8) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    info->attrs[SRPOL_A_SID_PREFIX_LEN],
				    "prefix-len is not a multiple of 8");
		return -EINVAL;
	}
	if (cfg->block_len && cfg->block_len < len && !(cfg->block_len % 8))
		return 0;
	NL_SET_ERR_MSG_ATTR_FMT(info->extack,
				block ?: info->attrs[SRPOL_A_SID_PREFIX_LEN],
				"block-len is not a multiple of 8 below %u",
				len);
	return -EINVAL;
}

static int srpol_sid_parse_dscp(const struct srpol_behavior_info *b,
				struct srpol_sid_cfg *cfg,
				const struct genl_info *info)
{
	struct nlattr *mode = info->attrs[SRPOL_A_SID_DSCP_MODE];

	if (b->decap) {
		srpol_nl_u32(&cfg->dscp_mode, mode);
		return 0;
	}
	cfg->dscp_mode = SRPOL_DSCP_MODE_PIPE;
	if (!mode)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, mode,
			    "behavior does not decapsulate");
	return -EINVAL;
}

static int srpol_sid_parse(struct srpol_net *sn, struct srpol_sid_cfg *cfg,
			   u32 len, const struct genl_info *info)
{
	struct nlattr *behavior = info->attrs[SRPOL_A_SID_BEHAVIOR];
	const struct srpol_behavior_info *b;

	srpol_nl_u32(&cfg->origin, info->attrs[SRPOL_A_SID_ORIGIN]);
	srpol_nl_u32(&cfg->behavior, behavior);
	if (!behavior && !cfg->behavior) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL,
				     SRPOL_A_SID_BEHAVIOR);
		return -EINVAL;
	}
	b = srpol_behavior_find(cfg->behavior);
	if (cfg->behavior == SRPOL_BEHAVIOR_END_B6_ENCAPS ||
	    cfg->behavior == SRPOL_BEHAVIOR_END_B6_ENCAPS_RED) {
		NL_SET_ERR_MSG_ATTR(info->extack, behavior,
				    "a binding SID is made by its policy");
		return -EOPNOTSUPP;
	}
	if (!b) {
		NL_SET_ERR_MSG_ATTR(info->extack, behavior,
				    "endpoint behavior is not supported");
		return -EOPNOTSUPP;
	}
	return srpol_sid_parse_block(b, len, cfg, info) ?:
	       srpol_sid_parse_via(sn, b, cfg, info) ?:
	       srpol_sid_parse_dscp(b, cfg, info);
}

/* A binding SID can be changed by its policy only. */
static int srpol_sid_may_change(struct srpol_net *sn,
				const struct srpol_sid_cfg *cfg,
				const struct genl_info *info)
{
	const struct srpol_policy *policy;

	if (!cfg->policy)
		return 0;
	policy = xa_load(&sn->policies, cfg->policy);
	NL_SET_ERR_MSG_ATTR_FMT(info->extack, info->attrs[SRPOL_A_SID_SID],
				"binding SID of policy %u %pI6c",
				policy->key.color, &policy->key.endpoint);
	return -EBUSY;
}

int srpol_sid_new(struct srpol_net *sn, struct genl_info *info)
{
	struct srpol_sid_cfg cfg = { .dscp_mode = SRPOL_DSCP_MODE_PIPE };
	const struct srpol_sid_cfg *old = NULL;
	const struct srpol_sid *sid;
	struct in6_addr addr;
	int verb, err;
	u32 len;

	err = srpol_sid_parse_key(sn, info, &addr, &len);
	if (err)
		return err;
	sid = srpol_sid_find(sn, &addr, len);
	if (sid)
		old = srpol_sid_cfg(sid);
	verb = srpol_nl_verb(info, old, old ? old->origin : 0,
			     info->attrs[SRPOL_A_SID_ORIGIN]);
	if (verb < 0)
		return verb;
	err = old ? srpol_sid_may_change(sn, old, info) : 0;
	if (err)
		return err;
	if (verb == SRPOL_VERB_CHANGE)
		cfg = *old;
	err = srpol_sid_parse(sn, &cfg, len, info);
	return err ?: srpol_sid_define(sn, &addr, len, &cfg, info->extack);
}

int srpol_nl_sid_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	return srpol_txn_doit(info, srpol_sid_new);
}

int srpol_sid_del(struct srpol_net *sn, struct genl_info *info)
{
	struct srpol_sid *sid = srpol_sid_from_attr(sn, info);
	int err;

	if (IS_ERR(sid))
		return PTR_ERR(sid);
	err = srpol_nl_may_touch(info, srpol_sid_cfg(sid)->origin,
				 info->attrs[SRPOL_A_SID_ORIGIN]);
	if (!err)
		err = srpol_sid_may_change(sn, srpol_sid_cfg(sid), info);
	if (err)
		return err;
	srpol_obj_delete(sn, &sid->obj);
	return 0;
}

int srpol_nl_sid_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return srpol_txn_doit(info, srpol_sid_del);
}
