// SPDX-License-Identifier: GPL-2.0
/*
 * Operation apply: requests of the form in which they would be sent alone, as
 * one transaction. The embedded messages are checked by the same policies, and
 * as strictly, as generic netlink checks the messages that it receives itself.
 */
#include "config.h"
#include "endpoint.h"
#include "netlink.h"
#include "path.h"
#include "policy.h"
#include "rule.h"
#include "sid.h"

/* Of all objects that can be written, rules have the most attributes. */
#define SRPOL_WRITE_ATTRS	((int)SRPOL_A_RULE_MAX)

static_assert(SRPOL_WRITE_ATTRS >= (int)SRPOL_A_PATH_MAX);
static_assert(SRPOL_WRITE_ATTRS >= (int)SRPOL_A_POLICY_MAX);
static_assert(SRPOL_WRITE_ATTRS >= (int)SRPOL_A_ENDPOINT_MAX);
static_assert(SRPOL_WRITE_ATTRS >= (int)SRPOL_A_SID_MAX);
static_assert(SRPOL_WRITE_ATTRS >= (int)SRPOL_A_CONFIG_MAX);

static const srpol_write_t srpol_writes[__SRPOL_CMD_MAX] = {
	[SRPOL_CMD_PATH_NEW] = srpol_path_new,
	[SRPOL_CMD_PATH_DEL] = srpol_path_del,
	[SRPOL_CMD_POLICY_NEW] = srpol_policy_new,
	[SRPOL_CMD_POLICY_DEL] = srpol_policy_del,
	[SRPOL_CMD_RULE_NEW] = srpol_rule_new,
	[SRPOL_CMD_RULE_DEL] = srpol_rule_del,
	[SRPOL_CMD_ENDPOINT_NEW] = srpol_endpoint_new,
	[SRPOL_CMD_ENDPOINT_DEL] = srpol_endpoint_del,
	[SRPOL_CMD_SID_NEW] = srpol_sid_new,
	[SRPOL_CMD_SID_DEL] = srpol_sid_del,
	[SRPOL_CMD_CONFIG_SET] = srpol_config_set,
};

static const struct genl_split_ops *srpol_apply_op(u8 cmd)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(srpol_nl_ops); i++)
		if (srpol_nl_ops[i].cmd == cmd &&
		    srpol_nl_ops[i].flags & GENL_CMD_CAP_DO)
			return &srpol_nl_ops[i];
	return NULL;
}

/* The operation of an embedded message, whose lengths have been checked. */
static const struct genl_split_ops *
srpol_apply_check(const struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	const struct genlmsghdr *hdr = nlmsg_data(nlh);
	u8 cmd = hdr->cmd;

	if (cmd == SRPOL_CMD_DEV_NEW || cmd == SRPOL_CMD_DEV_DEL) {
		NL_SET_ERR_MSG_MOD(extack,
				   "devices are no part of transactions");
		return ERR_PTR(-EOPNOTSUPP);
	}
	/*
	 * a dump is not a write; its flag is NLM_F_REPLACE and NLM_F_EXCL
	 * together
	 */
	if (cmd >= ARRAY_SIZE(srpol_writes) || !srpol_writes[cmd] ||
	    (nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP) {
		NL_SET_ERR_MSG_MOD(extack, "not a write");
		return ERR_PTR(-EOPNOTSUPP);
	}
	return srpol_apply_op(cmd);
}

static int srpol_apply_message(struct srpol_net *sn,
			       const struct genl_info *info,
			       const struct nlattr *message)
{
	struct nlattr *tb[SRPOL_WRITE_ATTRS + 1];
	struct nlmsghdr *nlh = nla_data(message);
	struct genl_info one = {
		.snd_seq = info->snd_seq,
		.snd_portid = info->snd_portid,
		.family = info->family,
		.nlhdr = nlh,
		.attrs = tb,
		.extack = info->extack,
	};
	const struct genl_split_ops *op;
	int err;

	if (nla_len(message) < NLMSG_HDRLEN + GENL_HDRLEN ||
	    nlh->nlmsg_len != nla_len(message)) {
		NL_SET_ERR_MSG_ATTR(info->extack, message,
				    "length of the message is wrong");
		return -EINVAL;
	}
	op = srpol_apply_check(nlh, info->extack);
	if (IS_ERR(op))
		return PTR_ERR(op);
	if (WARN_ON_ONCE(op->maxattr > SRPOL_WRITE_ATTRS))
		return -EINVAL;
	err = nlmsg_parse(nlh, GENL_HDRLEN, tb, op->maxattr, op->policy,
			  info->extack);
	if (err)
		return err;
	one.genlhdr = nlmsg_data(nlh);
	genl_info_net_set(&one, genl_info_net(info));
	return srpol_writes[op->cmd](sn, &one);
}

static int srpol_apply_request(struct srpol_net *sn,
			       const struct genl_info *info,
			       const struct nlattr *request)
{
	struct nlattr *tb[SRPOL_A_REQUEST_MAX + 1];
	struct nlattr *message;
	int err;

	err = nla_parse_nested(tb, SRPOL_A_REQUEST_MAX, request,
			       srpol_request_nl_policy, info->extack);
	if (err)
		return err;
	message = tb[SRPOL_A_REQUEST_MESSAGE];
	if (!message) {
		NL_SET_ERR_ATTR_MISS(info->extack, request,
				     SRPOL_A_REQUEST_MESSAGE);
		return -EINVAL;
	}
	err = srpol_apply_message(sn, info, message);
	/* the attribute that is missing belongs into this message */
	if (err && info->extack->miss_type && !info->extack->miss_nest)
		info->extack->miss_nest = message;
	return err;
}

static int srpol_apply_requests(struct srpol_net *sn,
				const struct genl_info *info)
{
	const struct nlattr *request;
	int rem, err;

	nla_for_each_attr_type(request, SRPOL_A_TRANSACTION_REQUEST,
			       genlmsg_data(info->genlhdr),
			       genlmsg_len(info->genlhdr), rem) {
		sn->txn.request = request;
		sn->txn.blame = request;
		err = srpol_apply_request(sn, info, request);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

int srpol_nl_apply_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct srpol_net *sn = srpol_net(genl_info_net(info));
	int err;

	err = srpol_net_start(sn);
	if (err)
		return err;
	mutex_lock(&sn->lock);
	srpol_txn_begin(sn, false);
	err = srpol_txn_end(sn, info, srpol_apply_requests(sn, info));
	if (err && !info->extack->bad_attr)
		NL_SET_BAD_ATTR(info->extack, sn->txn.blame);
	mutex_unlock(&sn->lock);
	return err;
}
