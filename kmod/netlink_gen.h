/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/srpol.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_SRPOL_GEN_H
#define _LINUX_SRPOL_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/srpol.h>

/* Common nested types */
extern const struct nla_policy srpol_candidate_nl_policy[SRPOL_A_CANDIDATE_REASON + 1];
extern const struct nla_policy srpol_prefix_entry_nl_policy[SRPOL_A_PREFIX_ENTRY_PREFIX_LEN + 1];
extern const struct nla_policy srpol_request_nl_policy[SRPOL_A_REQUEST_MESSAGE + 1];
extern const struct nla_policy srpol_segment_list_nl_policy[SRPOL_A_SEGMENT_LIST_BUCKETS + 1];
extern const struct nla_policy srpol_sid_entry_nl_policy[SRPOL_A_SID_ENTRY_SID + 1];
extern const struct nla_policy srpol_tlv_nl_policy[SRPOL_A_TLV_VALUE + 1];

/* Ops table for srpol */
extern const struct genl_split_ops srpol_nl_ops[28];

int srpol_nl_policy_get_dump_start(struct netlink_callback *cb);

int srpol_nl_path_get_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_path_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int srpol_nl_path_new_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_path_del_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_policy_get_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_policy_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int srpol_nl_policy_new_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_policy_del_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_rule_get_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_rule_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int srpol_nl_rule_new_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_rule_del_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_endpoint_get_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_endpoint_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);
int srpol_nl_endpoint_new_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_endpoint_del_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_sid_get_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_sid_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int srpol_nl_sid_new_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_sid_del_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int srpol_nl_dev_new_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_dev_del_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_config_get_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_config_set_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_apply_doit(struct sk_buff *skb, struct genl_info *info);
int srpol_nl_path_verdict_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	SRPOL_NLGRP_CONFIG,
	SRPOL_NLGRP_EVENTS,
};

#endif /* _LINUX_SRPOL_GEN_H */
