// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/srpol.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/srpol.h>

/* Integer value ranges */
static const struct netlink_range_validation srpol_a_path_lifetime_range = {
	.max	= 3600000ULL,
};

static const struct netlink_range_validation srpol_a_path_probed_mtu_range = {
	.max	= 65535ULL,
};

static const struct netlink_range_validation srpol_a_segment_list_weight_range = {
	.max	= 65535ULL,
};

static const struct netlink_range_validation srpol_a_policy_threshold_range = {
	.min	= 1ULL,
	.max	= 1000000ULL,
};

static const struct netlink_range_validation srpol_a_policy_dwell_time_range = {
	.max	= 3600000ULL,
};

static const struct netlink_range_validation srpol_a_policy_wait_to_restore_range = {
	.max	= 3600000ULL,
};

static const struct netlink_range_validation srpol_a_rule_qp_min_range = {
	.max	= 16777215ULL,
};

static const struct netlink_range_validation srpol_a_rule_qp_max_range = {
	.max	= 16777215ULL,
};

static const struct netlink_range_validation srpol_a_config_retry_interval_range = {
	.max	= 3600000ULL,
};

static const struct netlink_range_validation srpol_a_config_drop_events_range = {
	.max	= 1000000ULL,
};

/* Common nested types */
const struct nla_policy srpol_candidate_nl_policy[SRPOL_A_CANDIDATE_REASON + 1] = {
	[SRPOL_A_CANDIDATE_PREFERENCE] = { .type = NLA_U32, },
	[SRPOL_A_CANDIDATE_PROTOCOL_ORIGIN] = { .type = NLA_U32, },
	[SRPOL_A_CANDIDATE_ASN] = { .type = NLA_U32, },
	[SRPOL_A_CANDIDATE_NODE] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_CANDIDATE_DISCRIMINATOR] = { .type = NLA_U32, },
	[SRPOL_A_CANDIDATE_NAME] = { .type = NLA_NUL_STRING, .len = SRPOL_NAME_MAX, },
	[SRPOL_A_CANDIDATE_SEGMENT_LIST] = NLA_POLICY_NESTED(srpol_segment_list_nl_policy),
	[SRPOL_A_CANDIDATE_ACTIVE] = { .type = NLA_FLAG, },
	[SRPOL_A_CANDIDATE_STATE] = NLA_POLICY_MAX(NLA_U32, 1),
	[SRPOL_A_CANDIDATE_REASON] = NLA_POLICY_MAX(NLA_U32, 6),
};

const struct nla_policy srpol_prefix_entry_nl_policy[SRPOL_A_PREFIX_ENTRY_PREFIX_LEN + 1] = {
	[SRPOL_A_PREFIX_ENTRY_PREFIX] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_PREFIX_ENTRY_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U32, 128),
};

const struct nla_policy srpol_request_nl_policy[SRPOL_A_REQUEST_MESSAGE + 1] = {
	[SRPOL_A_REQUEST_MESSAGE] = { .type = NLA_BINARY, },
};

const struct nla_policy srpol_segment_list_nl_policy[SRPOL_A_SEGMENT_LIST_BUCKETS + 1] = {
	[SRPOL_A_SEGMENT_LIST_PATH] = NLA_POLICY_MIN(NLA_U32, 1),
	[SRPOL_A_SEGMENT_LIST_WEIGHT] = NLA_POLICY_FULL_RANGE(NLA_U32, &srpol_a_segment_list_weight_range),
	[SRPOL_A_SEGMENT_LIST_STATE] = NLA_POLICY_MAX(NLA_U32, 1),
	[SRPOL_A_SEGMENT_LIST_REASON] = NLA_POLICY_MAX(NLA_U32, 6),
	[SRPOL_A_SEGMENT_LIST_BUCKETS] = { .type = NLA_U32, },
};

const struct nla_policy srpol_sid_entry_nl_policy[SRPOL_A_SID_ENTRY_SID + 1] = {
	[SRPOL_A_SID_ENTRY_SID] = NLA_POLICY_EXACT_LEN(16),
};

const struct nla_policy srpol_tlv_nl_policy[SRPOL_A_TLV_VALUE + 1] = {
	[SRPOL_A_TLV_TYPE] = NLA_POLICY_MIN(NLA_U8, 1),
	[SRPOL_A_TLV_VALUE] = { .type = NLA_BINARY, },
};

/* SRPOL_CMD_PATH_GET - do */
static const struct nla_policy srpol_path_get_nl_policy[SRPOL_A_PATH_ID + 1] = {
	[SRPOL_A_PATH_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* SRPOL_CMD_PATH_NEW - do */
static const struct nla_policy srpol_path_new_nl_policy[SRPOL_A_PATH_BLOCK + 1] = {
	[SRPOL_A_PATH_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SRPOL_A_PATH_NAME] = { .type = NLA_NUL_STRING, .len = SRPOL_NAME_MAX, },
	[SRPOL_A_PATH_ORIGIN] = NLA_POLICY_MAX(NLA_U32, 1),
	[SRPOL_A_PATH_SIDS] = NLA_POLICY_NESTED(srpol_sid_entry_nl_policy),
	[SRPOL_A_PATH_ENCAP] = NLA_POLICY_MAX(NLA_U32, 1),
	[SRPOL_A_PATH_SRC] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_PATH_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[SRPOL_A_PATH_VIA] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_PATH_ADMIN_DOWN] = NLA_POLICY_MAX(NLA_U32, 1),
	[SRPOL_A_PATH_BLOCK_LEN] = NLA_POLICY_MAX(NLA_U32, 120),
	[SRPOL_A_PATH_CSID_LEN] = NLA_POLICY_MAX(NLA_U32, 120),
	[SRPOL_A_PATH_TLV] = NLA_POLICY_NESTED(srpol_tlv_nl_policy),
	[SRPOL_A_PATH_TIMESTAMP] = NLA_POLICY_MAX(NLA_U32, 1),
	[SRPOL_A_PATH_BLOCK] = NLA_POLICY_EXACT_LEN(16),
};

/* SRPOL_CMD_PATH_DEL - do */
static const struct nla_policy srpol_path_del_nl_policy[SRPOL_A_PATH_ORIGIN + 1] = {
	[SRPOL_A_PATH_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SRPOL_A_PATH_ORIGIN] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* SRPOL_CMD_POLICY_GET - do */
static const struct nla_policy srpol_policy_get_nl_policy[SRPOL_A_POLICY_ENDPOINT + 1] = {
	[SRPOL_A_POLICY_COLOR] = NLA_POLICY_MIN(NLA_U32, 1),
	[SRPOL_A_POLICY_ENDPOINT] = NLA_POLICY_EXACT_LEN(16),
};

/* SRPOL_CMD_POLICY_NEW - do */
static const struct nla_policy srpol_policy_new_nl_policy[SRPOL_A_POLICY_REVISION + 1] = {
	[SRPOL_A_POLICY_COLOR] = NLA_POLICY_MIN(NLA_U32, 1),
	[SRPOL_A_POLICY_ENDPOINT] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_POLICY_NAME] = { .type = NLA_NUL_STRING, .len = SRPOL_NAME_MAX, },
	[SRPOL_A_POLICY_BSID] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_POLICY_ORIGIN] = NLA_POLICY_MAX(NLA_U32, 1),
	[SRPOL_A_POLICY_MODE] = NLA_POLICY_MAX(NLA_U32, 5),
	[SRPOL_A_POLICY_SYMMETRIC] = NLA_POLICY_MAX(NLA_U32, 1),
	[SRPOL_A_POLICY_SPRAY] = NLA_POLICY_MAX(NLA_U32, 1),
	[SRPOL_A_POLICY_FLOWLET_TIMEOUT] = NLA_POLICY_MIN(NLA_U32, 1),
	[SRPOL_A_POLICY_THRESHOLD] = NLA_POLICY_FULL_RANGE(NLA_U32, &srpol_a_policy_threshold_range),
	[SRPOL_A_POLICY_DWELL_TIME] = NLA_POLICY_FULL_RANGE(NLA_U32, &srpol_a_policy_dwell_time_range),
	[SRPOL_A_POLICY_WAIT_TO_RESTORE] = NLA_POLICY_FULL_RANGE(NLA_U32, &srpol_a_policy_wait_to_restore_range),
	[SRPOL_A_POLICY_BUCKETS] = NLA_POLICY_RANGE(NLA_U32, 128, 1024),
	[SRPOL_A_POLICY_BACKUP_COLOR] = { .type = NLA_U32, },
	[SRPOL_A_POLICY_DROP_UPON_INVALID] = NLA_POLICY_MAX(NLA_U32, 1),
	[SRPOL_A_POLICY_CANDIDATE] = NLA_POLICY_NESTED(srpol_candidate_nl_policy),
	[SRPOL_A_POLICY_REVISION] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* SRPOL_CMD_POLICY_DEL - do */
static const struct nla_policy srpol_policy_del_nl_policy[SRPOL_A_POLICY_ORIGIN + 1] = {
	[SRPOL_A_POLICY_COLOR] = NLA_POLICY_MIN(NLA_U32, 1),
	[SRPOL_A_POLICY_ENDPOINT] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_POLICY_ORIGIN] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* SRPOL_CMD_RULE_GET - do */
static const struct nla_policy srpol_rule_get_nl_policy[SRPOL_A_RULE_PRIORITY + 1] = {
	[SRPOL_A_RULE_PRIORITY] = { .type = NLA_U32, },
};

/* SRPOL_CMD_RULE_NEW - do */
static const struct nla_policy srpol_rule_new_nl_policy[SRPOL_A_RULE_PATH + 1] = {
	[SRPOL_A_RULE_PRIORITY] = { .type = NLA_U32, },
	[SRPOL_A_RULE_NAME] = { .type = NLA_NUL_STRING, .len = SRPOL_NAME_MAX, },
	[SRPOL_A_RULE_ORIGIN] = NLA_POLICY_MAX(NLA_U32, 1),
	[SRPOL_A_RULE_ACTION] = NLA_POLICY_MAX(NLA_U32, 1),
	[SRPOL_A_RULE_COLOR] = { .type = NLA_U32, },
	[SRPOL_A_RULE_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[SRPOL_A_RULE_MARK] = { .type = NLA_U32, },
	[SRPOL_A_RULE_MARK_MASK] = NLA_POLICY_MIN(NLA_U32, 1),
	[SRPOL_A_RULE_SRC] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_RULE_SRC_LEN] = NLA_POLICY_MAX(NLA_U32, 128),
	[SRPOL_A_RULE_DST] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_RULE_DST_LEN] = NLA_POLICY_MAX(NLA_U32, 128),
	[SRPOL_A_RULE_PROTO] = { .type = NLA_U8, },
	[SRPOL_A_RULE_SPORT_MIN] = { .type = NLA_U16, },
	[SRPOL_A_RULE_SPORT_MAX] = { .type = NLA_U16, },
	[SRPOL_A_RULE_DPORT_MIN] = { .type = NLA_U16, },
	[SRPOL_A_RULE_DPORT_MAX] = { .type = NLA_U16, },
	[SRPOL_A_RULE_QP_MIN] = NLA_POLICY_FULL_RANGE(NLA_U32, &srpol_a_rule_qp_min_range),
	[SRPOL_A_RULE_QP_MAX] = NLA_POLICY_FULL_RANGE(NLA_U32, &srpol_a_rule_qp_max_range),
	[SRPOL_A_RULE_OPCODE] = { .type = NLA_U8, },
	[SRPOL_A_RULE_DSCP] = NLA_POLICY_MAX(NLA_U8, 63),
	[SRPOL_A_RULE_PKEY] = { .type = NLA_U16, },
	[SRPOL_A_RULE_VLAN] = NLA_POLICY_MAX(NLA_U16, 4094),
	[SRPOL_A_RULE_CGROUP] = { .type = NLA_U64, },
	[SRPOL_A_RULE_MODE] = NLA_POLICY_MAX(NLA_U32, 5),
	[SRPOL_A_RULE_ORDERING] = NLA_POLICY_MAX(NLA_U32, 2),
	[SRPOL_A_RULE_PATH] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* SRPOL_CMD_RULE_DEL - do */
static const struct nla_policy srpol_rule_del_nl_policy[SRPOL_A_RULE_ORIGIN + 1] = {
	[SRPOL_A_RULE_PRIORITY] = { .type = NLA_U32, },
	[SRPOL_A_RULE_ORIGIN] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* SRPOL_CMD_ENDPOINT_GET - do */
static const struct nla_policy srpol_endpoint_get_nl_policy[SRPOL_A_ENDPOINT_PREFIX_LEN + 1] = {
	[SRPOL_A_ENDPOINT_PREFIX] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_ENDPOINT_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U32, 128),
};

/* SRPOL_CMD_ENDPOINT_NEW - do */
static const struct nla_policy srpol_endpoint_new_nl_policy[SRPOL_A_ENDPOINT_ORIGIN + 1] = {
	[SRPOL_A_ENDPOINT_PREFIX] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_ENDPOINT_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U32, 128),
	[SRPOL_A_ENDPOINT_ADDRESS] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_ENDPOINT_ORIGIN] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* SRPOL_CMD_ENDPOINT_DEL - do */
static const struct nla_policy srpol_endpoint_del_nl_policy[SRPOL_A_ENDPOINT_ORIGIN + 1] = {
	[SRPOL_A_ENDPOINT_PREFIX] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_ENDPOINT_PREFIX_LEN] = NLA_POLICY_MAX(NLA_U32, 128),
	[SRPOL_A_ENDPOINT_ORIGIN] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* SRPOL_CMD_SID_GET - do */
static const struct nla_policy srpol_sid_get_nl_policy[SRPOL_A_SID_PREFIX_LEN + 1] = {
	[SRPOL_A_SID_SID] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_SID_PREFIX_LEN] = NLA_POLICY_RANGE(NLA_U32, 1, 128),
};

/* SRPOL_CMD_SID_NEW - do */
static const struct nla_policy srpol_sid_new_nl_policy[SRPOL_A_SID_DSCP_MODE + 1] = {
	[SRPOL_A_SID_SID] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_SID_BEHAVIOR] = { .type = NLA_U32, },
	[SRPOL_A_SID_ORIGIN] = NLA_POLICY_MAX(NLA_U32, 1),
	[SRPOL_A_SID_PREFIX_LEN] = NLA_POLICY_RANGE(NLA_U32, 1, 128),
	[SRPOL_A_SID_BLOCK_LEN] = NLA_POLICY_MAX(NLA_U32, 120),
	[SRPOL_A_SID_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[SRPOL_A_SID_VIA] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_SID_DSCP_MODE] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* SRPOL_CMD_SID_DEL - do */
static const struct nla_policy srpol_sid_del_nl_policy[SRPOL_A_SID_PREFIX_LEN + 1] = {
	[SRPOL_A_SID_SID] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_SID_PREFIX_LEN] = NLA_POLICY_RANGE(NLA_U32, 1, 128),
	[SRPOL_A_SID_ORIGIN] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* SRPOL_CMD_DEV_GET - do */
static const struct nla_policy srpol_dev_get_nl_policy[SRPOL_A_DEV_IFINDEX + 1] = {
	[SRPOL_A_DEV_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* SRPOL_CMD_DEV_NEW - do */
static const struct nla_policy srpol_dev_new_nl_policy[SRPOL_A_DEV_SOURCE + 1] = {
	[SRPOL_A_DEV_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[SRPOL_A_DEV_ROLE] = NLA_POLICY_RANGE(NLA_U32, 1, 3),
	[SRPOL_A_DEV_XDP_MODE] = NLA_POLICY_MAX(NLA_U32, 3),
	[SRPOL_A_DEV_HOOK] = NLA_POLICY_MAX(NLA_U32, 2),
	[SRPOL_A_DEV_SOURCE] = NLA_POLICY_MAX(NLA_U32, 2),
};

/* SRPOL_CMD_DEV_DEL - do */
static const struct nla_policy srpol_dev_del_nl_policy[SRPOL_A_DEV_IFINDEX + 1] = {
	[SRPOL_A_DEV_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* SRPOL_CMD_CONFIG_SET - do */
static const struct nla_policy srpol_config_set_nl_policy[SRPOL_A_CONFIG_REMEMBERED_ROUTES + 1] = {
	[SRPOL_A_CONFIG_SRC] = NLA_POLICY_EXACT_LEN(16),
	[SRPOL_A_CONFIG_HOP_LIMIT] = NLA_POLICY_RANGE(NLA_U32, 1, 255),
	[SRPOL_A_CONFIG_DSCP_MODE] = NLA_POLICY_MAX(NLA_U32, 1),
	[SRPOL_A_CONFIG_DSCP] = NLA_POLICY_MAX(NLA_U32, 63),
	[SRPOL_A_CONFIG_FLOW_LABEL] = NLA_POLICY_MAX(NLA_U32, 3),
	[SRPOL_A_CONFIG_ICMP_ERRORS] = NLA_POLICY_MAX(NLA_U32, 1),
	[SRPOL_A_CONFIG_RETRY_INTERVAL] = NLA_POLICY_FULL_RANGE(NLA_U32, &srpol_a_config_retry_interval_range),
	[SRPOL_A_CONFIG_PATH_ID] = NLA_POLICY_MAX(NLA_U32, 2),
	[SRPOL_A_CONFIG_SR_DOMAIN] = NLA_POLICY_NESTED(srpol_prefix_entry_nl_policy),
	[SRPOL_A_CONFIG_PSN_OBSERVER] = NLA_POLICY_MAX(NLA_U32, 1),
	[SRPOL_A_CONFIG_DROP_EVENTS] = NLA_POLICY_FULL_RANGE(NLA_U32, &srpol_a_config_drop_events_range),
	[SRPOL_A_CONFIG_SR_SOURCE] = NLA_POLICY_NESTED(srpol_prefix_entry_nl_policy),
	[SRPOL_A_CONFIG_REPORT_FROM] = NLA_POLICY_NESTED(srpol_prefix_entry_nl_policy),
	[SRPOL_A_CONFIG_REMEMBERED_ROUTES] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* SRPOL_CMD_APPLY - do */
static const struct nla_policy srpol_apply_nl_policy[SRPOL_A_TRANSACTION_REQUEST + 1] = {
	[SRPOL_A_TRANSACTION_REQUEST] = NLA_POLICY_NESTED(srpol_request_nl_policy),
};

/* SRPOL_CMD_PATH_VERDICT - do */
static const struct nla_policy srpol_path_verdict_nl_policy[SRPOL_A_PATH_PROBED_MTU + 1] = {
	[SRPOL_A_PATH_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SRPOL_A_PATH_VERDICT] = NLA_POLICY_MAX(NLA_U32, 2),
	[SRPOL_A_PATH_VERDICT_REASON] = NLA_POLICY_MAX(NLA_U32, 13),
	[SRPOL_A_PATH_OWNER] = { .type = NLA_U32, },
	[SRPOL_A_PATH_LIFETIME] = NLA_POLICY_FULL_RANGE(NLA_U32, &srpol_a_path_lifetime_range),
	[SRPOL_A_PATH_PROBED_MTU] = NLA_POLICY_FULL_RANGE(NLA_U32, &srpol_a_path_probed_mtu_range),
};

/* Ops table for srpol */
const struct genl_split_ops srpol_nl_ops[28] = {
	{
		.cmd		= SRPOL_CMD_PATH_GET,
		.doit		= srpol_nl_path_get_doit,
		.policy		= srpol_path_get_nl_policy,
		.maxattr	= SRPOL_A_PATH_ID,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SRPOL_CMD_PATH_GET,
		.dumpit	= srpol_nl_path_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= SRPOL_CMD_PATH_NEW,
		.doit		= srpol_nl_path_new_doit,
		.policy		= srpol_path_new_nl_policy,
		.maxattr	= SRPOL_A_PATH_BLOCK,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SRPOL_CMD_PATH_DEL,
		.doit		= srpol_nl_path_del_doit,
		.policy		= srpol_path_del_nl_policy,
		.maxattr	= SRPOL_A_PATH_ORIGIN,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SRPOL_CMD_POLICY_GET,
		.doit		= srpol_nl_policy_get_doit,
		.policy		= srpol_policy_get_nl_policy,
		.maxattr	= SRPOL_A_POLICY_ENDPOINT,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SRPOL_CMD_POLICY_GET,
		.start	= srpol_nl_policy_get_dump_start,
		.dumpit	= srpol_nl_policy_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= SRPOL_CMD_POLICY_NEW,
		.doit		= srpol_nl_policy_new_doit,
		.policy		= srpol_policy_new_nl_policy,
		.maxattr	= SRPOL_A_POLICY_REVISION,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SRPOL_CMD_POLICY_DEL,
		.doit		= srpol_nl_policy_del_doit,
		.policy		= srpol_policy_del_nl_policy,
		.maxattr	= SRPOL_A_POLICY_ORIGIN,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SRPOL_CMD_RULE_GET,
		.doit		= srpol_nl_rule_get_doit,
		.policy		= srpol_rule_get_nl_policy,
		.maxattr	= SRPOL_A_RULE_PRIORITY,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SRPOL_CMD_RULE_GET,
		.dumpit	= srpol_nl_rule_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= SRPOL_CMD_RULE_NEW,
		.doit		= srpol_nl_rule_new_doit,
		.policy		= srpol_rule_new_nl_policy,
		.maxattr	= SRPOL_A_RULE_PATH,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SRPOL_CMD_RULE_DEL,
		.doit		= srpol_nl_rule_del_doit,
		.policy		= srpol_rule_del_nl_policy,
		.maxattr	= SRPOL_A_RULE_ORIGIN,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SRPOL_CMD_ENDPOINT_GET,
		.doit		= srpol_nl_endpoint_get_doit,
		.policy		= srpol_endpoint_get_nl_policy,
		.maxattr	= SRPOL_A_ENDPOINT_PREFIX_LEN,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SRPOL_CMD_ENDPOINT_GET,
		.dumpit	= srpol_nl_endpoint_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= SRPOL_CMD_ENDPOINT_NEW,
		.doit		= srpol_nl_endpoint_new_doit,
		.policy		= srpol_endpoint_new_nl_policy,
		.maxattr	= SRPOL_A_ENDPOINT_ORIGIN,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SRPOL_CMD_ENDPOINT_DEL,
		.doit		= srpol_nl_endpoint_del_doit,
		.policy		= srpol_endpoint_del_nl_policy,
		.maxattr	= SRPOL_A_ENDPOINT_ORIGIN,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SRPOL_CMD_SID_GET,
		.doit		= srpol_nl_sid_get_doit,
		.policy		= srpol_sid_get_nl_policy,
		.maxattr	= SRPOL_A_SID_PREFIX_LEN,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SRPOL_CMD_SID_GET,
		.dumpit	= srpol_nl_sid_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= SRPOL_CMD_SID_NEW,
		.doit		= srpol_nl_sid_new_doit,
		.policy		= srpol_sid_new_nl_policy,
		.maxattr	= SRPOL_A_SID_DSCP_MODE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SRPOL_CMD_SID_DEL,
		.doit		= srpol_nl_sid_del_doit,
		.policy		= srpol_sid_del_nl_policy,
		.maxattr	= SRPOL_A_SID_PREFIX_LEN,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SRPOL_CMD_DEV_GET,
		.doit		= srpol_nl_dev_get_doit,
		.policy		= srpol_dev_get_nl_policy,
		.maxattr	= SRPOL_A_DEV_IFINDEX,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SRPOL_CMD_DEV_GET,
		.dumpit	= srpol_nl_dev_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= SRPOL_CMD_DEV_NEW,
		.doit		= srpol_nl_dev_new_doit,
		.policy		= srpol_dev_new_nl_policy,
		.maxattr	= SRPOL_A_DEV_SOURCE,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SRPOL_CMD_DEV_DEL,
		.doit		= srpol_nl_dev_del_doit,
		.policy		= srpol_dev_del_nl_policy,
		.maxattr	= SRPOL_A_DEV_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= SRPOL_CMD_CONFIG_GET,
		.doit	= srpol_nl_config_get_doit,
		.flags	= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SRPOL_CMD_CONFIG_SET,
		.doit		= srpol_nl_config_set_doit,
		.policy		= srpol_config_set_nl_policy,
		.maxattr	= SRPOL_A_CONFIG_REMEMBERED_ROUTES,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SRPOL_CMD_APPLY,
		.doit		= srpol_nl_apply_doit,
		.policy		= srpol_apply_nl_policy,
		.maxattr	= SRPOL_A_TRANSACTION_REQUEST,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= SRPOL_CMD_PATH_VERDICT,
		.doit		= srpol_nl_path_verdict_doit,
		.policy		= srpol_path_verdict_nl_policy,
		.maxattr	= SRPOL_A_PATH_PROBED_MTU,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
};

static const struct genl_multicast_group srpol_nl_mcgrps[] = {
	[SRPOL_NLGRP_CONFIG] = { "config", },
	[SRPOL_NLGRP_EVENTS] = { "events", },
};
