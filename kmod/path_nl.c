// SPDX-License-Identifier: GPL-2.0
/*
 * Paths on netlink: parsing, checks, dump.
 */
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "srpol.h"

#define SRPOL_SID_BITS		128
#define SRPOL_CSID_LEN_DEFAULT	16
#define SRPOL_CSID_LEN_MIN	8
#define SRPOL_CSID_LEN_MAX	64

/* RFC 8754 2.1; Pad1, 0, is refused by the attribute policy */
#define SRPOL_TLV_PADN		4
#define SRPOL_TLV_HMAC		5

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

/* What resolution found; only as far as it got. */
static int srpol_path_fill_out(struct srpol_net *sn, struct sk_buff *skb,
			       const struct srpol_path *path)
{
	u32 len = srpol_encap_len(&path->cfg->hdr);
	const struct srpol_nexthop *nh = path->nh;

	if (nla_put_u32(skb, SRPOL_A_PATH_OVERHEAD, len))
		return -EMSGSIZE;
	if (nh && (nla_put_u32(skb, SRPOL_A_PATH_OUT_IFINDEX, nh->ifindex) ||
		   nla_put_in6_addr(skb, SRPOL_A_PATH_OUT_VIA, &nh->addr)))
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

/**
 * srpol_path_fill() - all attributes of a path
 * @sn: namespace, locked
 * @skb: message
 * @obj: struct srpol_path
 */
int srpol_path_fill(struct srpol_net *sn, struct sk_buff *skb,
		    const void *obj)
{
	const struct srpol_path *path = obj;
	const struct srpol_path_cfg *cfg = path->cfg;

	if (nla_put_u32(skb, SRPOL_A_PATH_ID, path->id) ||
	    (cfg->name[0] &&
	     nla_put_string(skb, SRPOL_A_PATH_NAME, cfg->name)) ||
	    nla_put_u32(skb, SRPOL_A_PATH_ORIGIN, cfg->origin) ||
	    srpol_path_fill_sids(skb, cfg) ||
	    nla_put_u32(skb, SRPOL_A_PATH_ENCAP, cfg->hdr.encap) ||
	    (!ipv6_addr_any(&cfg->src) &&
	     nla_put_in6_addr(skb, SRPOL_A_PATH_SRC, &cfg->src)) ||
	    (cfg->ifindex &&
	     nla_put_u32(skb, SRPOL_A_PATH_IFINDEX, cfg->ifindex)) ||
	    (!ipv6_addr_any(&cfg->via) &&
	     nla_put_in6_addr(skb, SRPOL_A_PATH_VIA, &cfg->via)) ||
	    (cfg->admin_down &&
	     nla_put_u32(skb, SRPOL_A_PATH_ADMIN_DOWN, 1)) ||
	    (cfg->block_len &&
	     (nla_put_u32(skb, SRPOL_A_PATH_BLOCK_LEN, cfg->block_len) ||
	      nla_put_u32(skb, SRPOL_A_PATH_CSID_LEN, cfg->csid_len))) ||
	    srpol_path_fill_tlvs(skb, cfg) ||
	    (cfg->hdr.timestamp &&
	     nla_put_u32(skb, SRPOL_A_PATH_TIMESTAMP, 1)) ||
	    nla_put_u32(skb, SRPOL_A_PATH_STATE, path->state) ||
	    nla_put_u32(skb, SRPOL_A_PATH_REASON, path->reason) ||
	    nla_put_u32(skb, SRPOL_A_PATH_USERS, path->n_users))
		return -EMSGSIZE;
	return srpol_path_fill_out(sn, skb, path);
}

/**
 * srpol_path_event_fill() - attributes of a path-event
 * @sn: namespace; @sn->state_lock is held
 * @skb: message
 * @obj: struct srpol_path
 */
int srpol_path_event_fill(struct srpol_net *sn, struct sk_buff *skb,
			  const void *obj)
{
	const struct srpol_path *path = obj;

	if (nla_put_u32(skb, SRPOL_A_PATH_ID, path->id) ||
	    (path->cfg->name[0] &&
	     nla_put_string(skb, SRPOL_A_PATH_NAME, path->cfg->name)) ||
	    nla_put_u32(skb, SRPOL_A_PATH_STATE, path->state) ||
	    nla_put_u32(skb, SRPOL_A_PATH_REASON, path->reason))
		return -EMSGSIZE;
	return 0;
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
		err = srpol_nl_reply(sn, info, srpol_path_fill, path);
	mutex_unlock(&sn->lock);
	return err;
}

int srpol_nl_path_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct srpol_net *sn = srpol_net(sock_net(skb->sk));

	return srpol_nl_dump_xa(skb, cb, &sn->paths, srpol_path_fill);
}

static int srpol_path_parse_sid(struct srpol_path_cfg *cfg,
				const struct nlattr *attr,
				struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SRPOL_A_SID_ENTRY_MAX + 1];
	struct srpol_header *hdr = &cfg->hdr;
	struct in6_addr *sid;
	int err;

	err = nla_parse_nested(tb, SRPOL_A_SID_ENTRY_MAX, attr,
			       srpol_sid_entry_nl_policy, extack);
	if (err)
		return err;
	if (!tb[SRPOL_A_SID_ENTRY_SID]) {
		NL_SET_ERR_ATTR_MISS(extack, attr, SRPOL_A_SID_ENTRY_SID);
		return -EINVAL;
	}
	if (hdr->n_sids == SRPOL_SIDS_MAX) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr, "more than %u SIDs",
					SRPOL_SIDS_MAX);
		return -E2BIG;
	}
	err = srpol_nl_check_unicast(tb[SRPOL_A_SID_ENTRY_SID], extack, "SID");
	if (err)
		return err;
	sid = &hdr->sids[hdr->n_sids++];
	*sid = nla_get_in6_addr(tb[SRPOL_A_SID_ENTRY_SID]);
	if (ipv6_addr_type(sid) & IPV6_ADDR_LINKLOCAL) {
		NL_SET_ERR_MSG_ATTR(extack, tb[SRPOL_A_SID_ENTRY_SID],
				    "a link-local address can not be a SID");
		return -EINVAL;
	}
	return 0;
}

static int srpol_path_parse_sids(struct srpol_path_cfg *cfg,
				 const struct genl_info *info)
{
	const struct nlattr *attr;
	int rem, err;

	if (info->attrs[SRPOL_A_PATH_SIDS]) {
		cfg->hdr.n_sids = 0;
		memset(cfg->hdr.sids, 0, sizeof(cfg->hdr.sids));
	}
	nla_for_each_attr_type(attr, SRPOL_A_PATH_SIDS,
			       genlmsg_data(info->genlhdr),
			       genlmsg_len(info->genlhdr), rem) {
		err = srpol_path_parse_sid(cfg, attr, info->extack);
		if (err)
			return err;
	}
	if (cfg->hdr.n_sids)
		return 0;
	NL_SET_ERR_MSG_MOD(info->extack, "a path needs a SID");
	NL_SET_ERR_ATTR_MISS(info->extack, NULL, SRPOL_A_PATH_SIDS);
	return -EINVAL;
}

/* The attribute of a SID, NULL if the request does not list the SIDs. */
static const struct nlattr *srpol_path_sid_attr(const struct genl_info *info,
						u32 i)
{
	const struct nlattr *attr;
	int rem;

	nla_for_each_attr_type(attr, SRPOL_A_PATH_SIDS,
			       genlmsg_data(info->genlhdr),
			       genlmsg_len(info->genlhdr), rem)
		if (!i--)
			return nla_find_nested(attr, SRPOL_A_SID_ENTRY_SID);
	return NULL;
}

/* The first SID defines the block; SIDs outside of it are plain ones. */
static int srpol_path_check_csids(const struct srpol_path_cfg *cfg,
				  const struct genl_info *info)
{
	const struct srpol_header *hdr = &cfg->hdr;
	u32 i;

	for (i = 0; i < hdr->n_sids; i++) {
		if (!srpol_csid_in_block(&hdr->sids[i], &hdr->sids[0],
					 cfg->block_len) ||
		    srpol_csid_valid(&hdr->sids[i], cfg->block_len,
				     cfg->csid_len))
			continue;
		NL_SET_ERR_MSG_ATTR_FMT(info->extack,
					srpol_path_sid_attr(info, i) ?:
					info->attrs[SRPOL_A_PATH_BLOCK_LEN] ?:
					info->attrs[SRPOL_A_PATH_CSID_LEN],
					"a CSID follows the end of container %pI6c",
					&hdr->sids[i]);
		return -EINVAL;
	}
	return 0;
}

static int srpol_path_parse_csids(struct srpol_path_cfg *cfg,
				  const struct genl_info *info)
{
	struct nlattr *block = info->attrs[SRPOL_A_PATH_BLOCK_LEN];
	struct nlattr *csid = info->attrs[SRPOL_A_PATH_CSID_LEN];

	srpol_nl_u32(&cfg->block_len, block);
	srpol_nl_u32(&cfg->csid_len, csid);
	if (!cfg->block_len) {
		cfg->csid_len = 0;
		if (!csid)
			return 0;
		NL_SET_ERR_MSG_ATTR(info->extack, csid,
				    "csid-len without block-len");
		return -EINVAL;
	}
	if (!cfg->csid_len && !csid)
		cfg->csid_len = SRPOL_CSID_LEN_DEFAULT;
	if (cfg->block_len % 8) {
		NL_SET_ERR_MSG_ATTR(info->extack, block,
				    "block-len is not a multiple of 8");
		return -EINVAL;
	}
	if (csid && (cfg->csid_len % 8 || cfg->csid_len < SRPOL_CSID_LEN_MIN ||
		     cfg->csid_len > SRPOL_CSID_LEN_MAX)) {
		NL_SET_ERR_MSG_ATTR(info->extack, csid,
				    "csid-len is not a multiple of 8 from 8 to 64");
		return -EINVAL;
	}
	if (cfg->block_len + cfg->csid_len > SRPOL_SID_BITS) {
		NL_SET_ERR_MSG_ATTR(info->extack, csid ?: block,
				    "block-len and csid-len exceed 128");
		return -EINVAL;
	}
	return srpol_path_check_csids(cfg, info);
}

static int srpol_path_parse_tlv(struct srpol_path_cfg *cfg,
				const struct nlattr *attr,
				struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SRPOL_A_TLV_MAX + 1], *value;
	struct srpol_tlv *tlv;
	int err;

	err = nla_parse_nested(tb, SRPOL_A_TLV_MAX, attr, srpol_tlv_nl_policy,
			       extack);
	if (err)
		return err;
	if (!tb[SRPOL_A_TLV_TYPE]) {
		NL_SET_ERR_ATTR_MISS(extack, attr, SRPOL_A_TLV_TYPE);
		return -EINVAL;
	}
	if (cfg->hdr.n_tlvs == SRPOL_TLVS_MAX) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, attr, "more than %u TLVs",
					SRPOL_TLVS_MAX);
		return -E2BIG;
	}
	tlv = &cfg->hdr.tlvs[cfg->hdr.n_tlvs++];
	tlv->type = nla_get_u8(tb[SRPOL_A_TLV_TYPE]);
	if (tlv->type == SRPOL_TLV_PADN) {
		NL_SET_ERR_MSG_ATTR(extack, tb[SRPOL_A_TLV_TYPE],
				    "padding is added as needed");
		return -EINVAL;
	}
	if (tlv->type == SRPOL_TLV_HMAC) {
		NL_SET_ERR_MSG_ATTR(extack, tb[SRPOL_A_TLV_TYPE],
				    "HMAC is not supported");
		return -EOPNOTSUPP;
	}
	value = tb[SRPOL_A_TLV_VALUE];
	if (!value)
		return 0;
	if (nla_len(value) > SRPOL_TLV_MAX) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, value,
					"value is longer than %u bytes",
					SRPOL_TLV_MAX);
		return -E2BIG;
	}
	tlv->len = nla_len(value);
	memcpy(tlv->value, nla_data(value), tlv->len);
	return 0;
}

static int srpol_path_parse_tlvs(struct srpol_path_cfg *cfg,
				 const struct genl_info *info)
{
	const struct nlattr *attr;
	int rem, err;
	u32 len;

	srpol_nl_u32(&cfg->hdr.timestamp, info->attrs[SRPOL_A_PATH_TIMESTAMP]);
	if (info->attrs[SRPOL_A_PATH_TLV]) {
		cfg->hdr.n_tlvs = 0;
		memset(cfg->hdr.tlvs, 0, sizeof(cfg->hdr.tlvs));
	}
	nla_for_each_attr_type(attr, SRPOL_A_PATH_TLV,
			       genlmsg_data(info->genlhdr),
			       genlmsg_len(info->genlhdr), rem) {
		err = srpol_path_parse_tlv(cfg, attr, info->extack);
		if (err)
			return err;
	}
	len = srpol_encap_len(&cfg->hdr);
	if (len <= SRPOL_REWRITE_MAX - ETH_HLEN)
		return 0;
	NL_SET_ERR_MSG_ATTR_FMT(info->extack,
				info->attrs[SRPOL_A_PATH_TLV] ?:
				info->attrs[SRPOL_A_PATH_TIMESTAMP] ?:
				info->attrs[SRPOL_A_PATH_SIDS],
				"headers of %u bytes, at most %u are possible",
				len, SRPOL_REWRITE_MAX - ETH_HLEN);
	return -E2BIG;
}

static int srpol_path_parse_via(struct srpol_net *sn,
				struct srpol_path_cfg *cfg,
				const struct genl_info *info)
{
	struct nlattr *ifindex = info->attrs[SRPOL_A_PATH_IFINDEX];
	struct nlattr *via = info->attrs[SRPOL_A_PATH_VIA];
	struct net_device *dev;

	if (ifindex) {
		cfg->ifindex = nla_get_u32(ifindex);
		dev = dev_get_by_index(sn->net, cfg->ifindex);
		if (!dev) {
			NL_SET_ERR_MSG_ATTR(info->extack, ifindex,
					    "no such device");
			return -ENODEV;
		}
		dev_put(dev);
	}
	if (via) {
		if (srpol_nl_check_unicast(via, info->extack, "next hop"))
			return -EINVAL;
		cfg->via = nla_get_in6_addr(via);
		if (!cfg->ifindex) {
			NL_SET_ERR_MSG_ATTR(info->extack, via,
					    "a next hop needs a device");
			return -EINVAL;
		}
	}
	return 0;
}

static int srpol_path_parse(struct srpol_net *sn, struct srpol_path_cfg *cfg,
			    const struct genl_info *info)
{
	struct nlattr **tb = info->attrs;
	int err;

	err = srpol_nl_name(cfg->name, tb[SRPOL_A_PATH_NAME], info->extack);
	if (err)
		return err;
	srpol_nl_u32(&cfg->origin, tb[SRPOL_A_PATH_ORIGIN]);
	srpol_nl_u32(&cfg->hdr.encap, tb[SRPOL_A_PATH_ENCAP]);
	srpol_nl_u32(&cfg->admin_down, tb[SRPOL_A_PATH_ADMIN_DOWN]);
	if (tb[SRPOL_A_PATH_SRC]) {
		if (srpol_nl_check_unicast(tb[SRPOL_A_PATH_SRC], info->extack,
					   "source"))
			return -EINVAL;
		cfg->src = nla_get_in6_addr(tb[SRPOL_A_PATH_SRC]);
	}
	return srpol_path_parse_sids(cfg, info) ?:
	       srpol_path_parse_csids(cfg, info) ?:
	       srpol_path_parse_tlvs(cfg, info) ?:
	       srpol_path_parse_via(sn, cfg, info);
}

int srpol_path_new(struct srpol_net *sn, struct genl_info *info)
{
	struct nlattr *admin_down = info->attrs[SRPOL_A_PATH_ADMIN_DOWN];
	struct nlattr *id = info->attrs[SRPOL_A_PATH_ID];
	struct srpol_path_cfg cfg = {};
	struct srpol_path *path;
	int verb, err;

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
	path = srpol_path_set_cfg(sn, nla_get_u32(id), &cfg, id,
				  info->extack);
	if (IS_ERR(path))
		return PTR_ERR(path);
	/* said in so many words, "in service" means now */
	path->next.retry = admin_down && !nla_get_u32(admin_down);
	return 0;
}

int srpol_nl_path_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	return srpol_txn_doit(info, srpol_path_new);
}

int srpol_path_del(struct srpol_net *sn, struct genl_info *info)
{
	const struct srpol_policy *policy;
	const struct srpol_list *list;
	struct srpol_path *path;

	path = srpol_path_from_attr(sn, info);
	if (IS_ERR(path))
		return PTR_ERR(path);
	if (!list_empty(&path->users)) {
		list = list_first_entry(&path->users, struct srpol_list,
					path_node);
		policy = srpol_list_policy(sn, list);
		NL_SET_ERR_MSG_ATTR_FMT(info->extack,
					info->attrs[SRPOL_A_PATH_ID],
					"in use by policy %u %pI6c",
					policy->color, &policy->endpoint);
		return -EBUSY;
	}
	srpol_path_delete(sn, path);
	return 0;
}

int srpol_nl_path_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return srpol_txn_doit(info, srpol_path_del);
}
