// SPDX-License-Identifier: GPL-2.0
/*
 * Paths on netlink: parsing and checks.
 */
#include <linux/if_ether.h>
#include <net/addrconf.h>
#include <net/ipv6.h>

#include "netlink.h"
#include "path.h"

#define SRPOL_SID_BITS		128
#define SRPOL_CSID_LEN_DEFAULT	16
#define SRPOL_CSID_LEN_MIN	8
#define SRPOL_CSID_LEN_MAX	64

/* RFC 8754 2.1; Pad1, 0, is refused by the attribute policy */
#define SRPOL_TLV_PADN		4
#define SRPOL_TLV_HMAC		5

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
				    "a link-local address cannot be a SID");
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

/* SIDs outside of the block are plain ones. */
static int srpol_path_check_csids(const struct srpol_path_cfg *cfg,
				  const struct genl_info *info)
{
	const struct srpol_header *hdr = &cfg->hdr;
	u32 i;

	for (i = 0; i < hdr->n_sids; i++) {
		if (!srpol_csid_in_block(&hdr->sids[i], &cfg->block,
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

/*
 * @own: the path so far has a block that is not the default, which is that of
 * its first SID; a change that does not give another one keeps it. Of a longer
 * one the rest is not known: only the bits of the block are.
 */
static int srpol_path_parse_csids(struct srpol_path_cfg *cfg, bool own,
				  const struct genl_info *info)
{
	struct nlattr *block = info->attrs[SRPOL_A_PATH_BLOCK_LEN];
	struct nlattr *csid = info->attrs[SRPOL_A_PATH_CSID_LEN];
	struct nlattr *container = info->attrs[SRPOL_A_PATH_BLOCK];
	u32 known = cfg->block_len;
	struct in6_addr addr;

	if (block)
		cfg->block_len = nla_get_u32(block);
	if (csid)
		cfg->csid_len = nla_get_u32(csid);
	if (!cfg->block_len) {
		cfg->csid_len = 0;
		cfg->block = in6addr_any;
		if (!csid && !container)
			return 0;
		NL_SET_ERR_MSG_ATTR_FMT(info->extack, csid ?: container,
					"%s without block-len",
					csid ? "csid-len" : "block");
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
	if (own && !container && cfg->block_len > known) {
		NL_SET_ERR_MSG_ATTR(info->extack, block,
				    "a longer block-len needs a block");
		return -EINVAL;
	}
	/*
	 * only the bits of the block are kept, so that equal blocks compare
	 * equal
	 */
	if (container || info->attrs[SRPOL_A_PATH_SIDS] || block) {
		addr = container ? nla_get_in6_addr(container) :
		       own ? cfg->block : cfg->hdr.sids[0];
		ipv6_addr_prefix(&cfg->block, &addr, cfg->block_len);
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
	int err;

	if (ifindex) {
		err = srpol_nl_device(sn, ifindex, &cfg->ifindex, cfg->ifname,
				      info->extack);
		if (err)
			return err;
	}
	if (!via)
		return 0;
	if (srpol_nl_check_unicast(via, info->extack, "next hop"))
		return -EINVAL;
	cfg->via = nla_get_in6_addr(via);
	if (cfg->ifindex)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, via, "a next hop needs a device");
	return -EINVAL;
}

/**
 * srpol_path_parse() - read and check a path
 * @sn: namespace, locked
 * @cfg: the path as it is, if it is to be changed, or empty
 * @info: the request
 *
 * Return: 0 or a negative errno.
 */
int srpol_path_parse(struct srpol_net *sn, struct srpol_path_cfg *cfg,
		     const struct genl_info *info)
{
	struct nlattr **tb = info->attrs;
	bool own;
	int err;

	own = cfg->block_len && !srpol_csid_in_block(&cfg->hdr.sids[0],
						     &cfg->block,
						     cfg->block_len);
	err = srpol_nl_name(cfg->name, tb[SRPOL_A_PATH_NAME], info->extack);
	if (err)
		return err;
	srpol_nl_u32(&cfg->origin, tb[SRPOL_A_PATH_ORIGIN]);
	srpol_nl_u32(&cfg->hdr.encap, tb[SRPOL_A_PATH_ENCAP]);
	if (tb[SRPOL_A_PATH_ADMIN_DOWN])
		cfg->admin_down = nla_get_u32(tb[SRPOL_A_PATH_ADMIN_DOWN]);
	if (tb[SRPOL_A_PATH_SRC]) {
		if (srpol_nl_check_unicast(tb[SRPOL_A_PATH_SRC], info->extack,
					   "source"))
			return -EINVAL;
		cfg->src = nla_get_in6_addr(tb[SRPOL_A_PATH_SRC]);
	}
	return srpol_path_parse_sids(cfg, info) ?:
	       srpol_path_parse_csids(cfg, own, info) ?:
	       srpol_path_parse_tlvs(cfg, info) ?:
	       srpol_path_parse_via(sn, cfg, info);
}

