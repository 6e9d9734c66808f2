// SPDX-License-Identifier: GPL-2.0
/*
 * Paths on netlink: dump, and the requests about them.
 */
#include <linux/jiffies.h>
#include <net/ipv6.h>

#include "netlink.h"
#include "nexthop.h"
#include "path.h"
#include "policy.h"

static int srpol_path_fill_sids(struct sk_buff *skb,
				const struct srpol_path_cfg *cfg)
{
	struct nlattr *nest;
	u32 i;

	for (i = 0; i < cfg->hdr.n_sids; i++) {
		nest = nla_nest_start(skb, SRPOL_A_PATH_SIDS);
		if (!nest || nla_put_in6_addr(skb, SRPOL_A_SID_ENTRY_SID,
					      &cfg->hdr.sids[i]))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int srpol_path_fill_tlvs(struct sk_buff *skb,
				const struct srpol_path_cfg *cfg)
{
	const struct srpol_tlv *tlv;
	struct nlattr *nest;
	u32 i;

	for (i = 0; i < cfg->hdr.n_tlvs; i++) {
		tlv = &cfg->hdr.tlvs[i];
		nest = nla_nest_start(skb, SRPOL_A_PATH_TLV);
		if (!nest || nla_put_u8(skb, SRPOL_A_TLV_TYPE, tlv->type) ||
		    nla_put(skb, SRPOL_A_TLV_VALUE, tlv->len, tlv->value))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

/* The result of the resolution, as far as it got. */
static int srpol_path_fill_out(struct sk_buff *skb,
			       const struct srpol_path *path,
			       const struct srpol_path_cfg *cfg)
{
	u32 len = srpol_encap_len(&cfg->hdr);
	const struct srpol_nexthop *nh = path->nh;

	if (nla_put_u32(skb, SRPOL_A_PATH_OVERHEAD, len))
		return -EMSGSIZE;
	if (nh && (nla_put_u32(skb, SRPOL_A_PATH_OUT_IFINDEX,
			       nh->key.ifindex) ||
		   nla_put_in6_addr(skb, SRPOL_A_PATH_OUT_VIA,
				    &nh->key.addr)))
		return -EMSGSIZE;
	if (path->compiled &&
	    (nla_put(skb, SRPOL_A_PATH_OUT_LLADDR, ETH_ALEN,
		     path->bytes.outer.dmac) ||
	     nla_put_in6_addr(skb, SRPOL_A_PATH_OUT_SRC,
			      &path->bytes.outer.src) ||
	     nla_put_u32(skb, SRPOL_A_PATH_MTU, path->bytes.dev_mtu - len)))
		return -EMSGSIZE;
	return 0;
}

static int srpol_path_fill_verdict(struct sk_buff *skb,
				   const struct srpol_verdict *v)
{
	long left = v->expires - jiffies;

	if (nla_put_u32(skb, SRPOL_A_PATH_VERDICT, v->verdict) ||
	    nla_put_u32(skb, SRPOL_A_PATH_VERDICT_REASON, v->reason) ||
	    nla_put_u32(skb, SRPOL_A_PATH_OWNER, v->owner) ||
	    nla_put_u32(skb, SRPOL_A_PATH_LIFETIME,
			jiffies_to_msecs(max(left, 0L))) ||
	    (v->mtu && nla_put_u32(skb, SRPOL_A_PATH_PROBED_MTU, v->mtu)))
		return -EMSGSIZE;
	return 0;
}

/**
 * srpol_path_fill() - all attributes of a path
 * @sn: namespace, locked
 * @skb: message
 * @obj: of a struct srpol_path
 */
int srpol_path_fill(struct srpol_net *sn, struct sk_buff *skb,
		    const struct srpol_obj *obj)
{
	const struct srpol_path_cfg *cfg = srpol_obj_shown(obj);
	struct srpol_path *path = srpol_path(obj);
	struct srpol_verdict v = {};
	u8 state, reason;
	int err;

	/* a state with the reason that goes with it */
	spin_lock_bh(&sn->state_lock);
	state = path->state;
	reason = path->reason;
	if (path->verdict)
		v = *path->verdict;
	spin_unlock_bh(&sn->state_lock);

	if (nla_put_u32(skb, SRPOL_A_PATH_ID, path->id) ||
	    (cfg->name[0] &&
	     nla_put_string(skb, SRPOL_A_PATH_NAME, cfg->name)) ||
	    nla_put_u32(skb, SRPOL_A_PATH_ORIGIN, cfg->origin) ||
	    srpol_path_fill_sids(skb, cfg) ||
	    nla_put_u32(skb, SRPOL_A_PATH_ENCAP, cfg->hdr.encap) ||
	    (!ipv6_addr_any(&cfg->src) &&
	     nla_put_in6_addr(skb, SRPOL_A_PATH_SRC, &cfg->src)) ||
	    (cfg->ifindex &&
	     (nla_put_u32(skb, SRPOL_A_PATH_IFINDEX, cfg->ifindex) ||
	      nla_put_string(skb, SRPOL_A_PATH_IFNAME, cfg->ifname))) ||
	    (!ipv6_addr_any(&cfg->via) &&
	     nla_put_in6_addr(skb, SRPOL_A_PATH_VIA, &cfg->via)) ||
	    (cfg->admin_down &&
	     nla_put_u32(skb, SRPOL_A_PATH_ADMIN_DOWN, 1)) ||
	    (cfg->block_len &&
	     (nla_put_u32(skb, SRPOL_A_PATH_BLOCK_LEN, cfg->block_len) ||
	      nla_put_in6_addr(skb, SRPOL_A_PATH_BLOCK, &cfg->block) ||
	      nla_put_u32(skb, SRPOL_A_PATH_CSID_LEN, cfg->csid_len))) ||
	    srpol_path_fill_tlvs(skb, cfg) ||
	    (cfg->hdr.timestamp &&
	     nla_put_u32(skb, SRPOL_A_PATH_TIMESTAMP, 1)) ||
	    nla_put_u32(skb, SRPOL_A_PATH_STATE, state) ||
	    nla_put_u32(skb, SRPOL_A_PATH_REASON, reason) ||
	    nla_put_u32(skb, SRPOL_A_PATH_USERS, path->n_users))
		return -EMSGSIZE;
	err = v.path ? srpol_path_fill_verdict(skb, &v) : 0;
	return err ?: srpol_path_fill_out(skb, path, cfg);
}

static struct srpol_path *srpol_path_from_attr(struct srpol_net *sn,
					       struct genl_info *info)
{
	struct nlattr *id = info->attrs[SRPOL_A_PATH_ID];
	struct srpol_path *path;

	if (!id) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_PATH_ID);
		return ERR_PTR(-EINVAL);
	}
	path = srpol_path_find(sn, nla_get_u32(id));
	if (path)
		return path;
	NL_SET_ERR_MSG_ATTR(info->extack, id, "no path has this id");
	return ERR_PTR(-ENOENT);
}

int srpol_nl_path_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	struct srpol_path *path;
	int err;

	mutex_lock(&sn->lock);
	path = srpol_path_from_attr(sn, info);
	err = PTR_ERR_OR_ZERO(path);
	if (!err)
		err = srpol_nl_reply(sn, info, srpol_path_fill, &path->obj);
	mutex_unlock(&sn->lock);
	return err;
}

int srpol_nl_path_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct srpol_net *sn = srpol_net(sock_net(skb->sk));

	return srpol_nl_dump_xa(skb, cb, &sn->paths, srpol_path_fill);
}

int srpol_path_new(struct srpol_net *sn, struct genl_info *info)
{
	struct nlattr *admin_down = info->attrs[SRPOL_A_PATH_ADMIN_DOWN];
	struct nlattr *id = info->attrs[SRPOL_A_PATH_ID];
	struct srpol_path_cfg cfg = {};
	struct srpol_path *path;
	int verb, err;
	bool retry;

	if (!id) {
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_PATH_ID);
		return -EINVAL;
	}
	path = srpol_path_find(sn, nla_get_u32(id));
	verb = srpol_nl_verb(info, path,
			     path ? srpol_path_cfg(path)->origin : 0,
			     info->attrs[SRPOL_A_PATH_ORIGIN]);
	if (verb < 0)
		return verb;
	if (verb == SRPOL_VERB_CHANGE)
		srpol_path_copy_cfg(path, &cfg);
	err = srpol_path_parse(sn, &cfg, info);
	if (err)
		return err;
	/* an explicit "in service" also ends what was reported */
	retry = admin_down && !nla_get_u32(admin_down);
	return srpol_path_define(sn, nla_get_u32(id), &cfg, retry, id,
				 info->extack);
}

int srpol_nl_path_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	return srpol_txn_doit(info, srpol_path_new);
}

/*
 * A policy that uses a path after this transaction; the lists in force may
 * differ.
 */
static const struct srpol_policy *
srpol_path_user(const struct srpol_path *path)
{
	const struct srpol_policy_cfg *cfg;
	const struct srpol_list *list;
	u32 i, j;

	list_for_each_entry(list, &path->users, path_node) {
		cfg = srpol_policy_cfg(list->policy);
		for (i = 0; cfg && i < cfg->n_cands; i++)
			for (j = 0; j < cfg->cands[i].n_lists; j++)
				if (cfg->cands[i].lists[j].path == path)
					return list->policy;
	}
	return NULL;
}

int srpol_path_del(struct srpol_net *sn, struct genl_info *info)
{
	const struct srpol_policy *policy;
	struct srpol_path *path;
	int err;

	path = srpol_path_from_attr(sn, info);
	if (IS_ERR(path))
		return PTR_ERR(path);
	err = srpol_nl_may_touch(info, srpol_path_cfg(path)->origin,
				 info->attrs[SRPOL_A_PATH_ORIGIN]);
	if (err)
		return err;
	if (path->n_users) {
		policy = srpol_path_user(path);
		NL_SET_ERR_MSG_ATTR_FMT(info->extack,
					info->attrs[SRPOL_A_PATH_ID],
					"in use by policy %u %pI6c",
					policy->key.color,
					&policy->key.endpoint);
		return -EBUSY;
	}
	srpol_obj_delete(sn, &path->obj);
	return 0;
}

int srpol_nl_path_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return srpol_txn_doit(info, srpol_path_del);
}

/* State from outside: waits neither for a transaction nor for its lock. */
int srpol_nl_path_verdict_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	struct nlattr **tb = info->attrs;
	struct srpol_verdict v = {};
	u32 lifetime;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, SRPOL_A_PATH_ID) ||
	    GENL_REQ_ATTR_CHECK(info, SRPOL_A_PATH_VERDICT) ||
	    GENL_REQ_ATTR_CHECK(info, SRPOL_A_PATH_LIFETIME))
		return -EINVAL;
	v.verdict = nla_get_u32(tb[SRPOL_A_PATH_VERDICT]);
	v.reason = SRPOL_PATH_REASON_PROBES_LOST;
	if (tb[SRPOL_A_PATH_VERDICT_REASON])
		v.reason = nla_get_u32(tb[SRPOL_A_PATH_VERDICT_REASON]);
	if (v.verdict == SRPOL_PATH_VERDICT_UP) {
		v.reason = SRPOL_PATH_REASON_NONE;
	} else if (v.reason < SRPOL_PATH_REASON_PROBES_LOST) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    tb[SRPOL_A_PATH_VERDICT_REASON],
				    "the module finds this out itself");
		return -EINVAL;
	}
	srpol_nl_u32(&v.owner, tb[SRPOL_A_PATH_OWNER]);
	srpol_nl_u32(&v.mtu, tb[SRPOL_A_PATH_PROBED_MTU]);
	lifetime = nla_get_u32(tb[SRPOL_A_PATH_LIFETIME]);
	v.expires = jiffies + msecs_to_jiffies(lifetime);
	err = srpol_path_set_verdict(sn, nla_get_u32(tb[SRPOL_A_PATH_ID]),
				     lifetime ? &v : NULL);
	if (err == -ENOENT)
		NL_SET_ERR_MSG_ATTR(info->extack, tb[SRPOL_A_PATH_ID],
				    "no path has this id");
	return err;
}
