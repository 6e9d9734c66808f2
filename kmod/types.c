// SPDX-License-Identifier: GPL-2.0
/*
 * The types of objects: what each does in a transaction, and how netlink shows
 * it.
 */
#include "config.h"
#include "endpoint.h"
#include "path.h"
#include "policy.h"
#include "rule.h"
#include "sid.h"

const struct srpol_type srpol_types[SRPOL_OBJ_TYPES] = {
	[SRPOL_OBJ_CONFIG] = {
		.ops		= &srpol_config_ops,
		.fill		= srpol_config_fill,
		.ntf		= SRPOL_CMD_CONFIG_NTF,
	},
	[SRPOL_OBJ_PATH] = {
		.ops		= &srpol_path_ops,
		.fill		= srpol_path_fill,
		.ntf		= SRPOL_CMD_PATH_NTF,
		.del_ntf	= SRPOL_CMD_PATH_DEL_NTF,
	},
	[SRPOL_OBJ_POLICY] = {
		.ops		= &srpol_policy_ops,
		.fill		= srpol_policy_fill,
		.ntf		= SRPOL_CMD_POLICY_NTF,
		.del_ntf	= SRPOL_CMD_POLICY_DEL_NTF,
	},
	[SRPOL_OBJ_RULE] = {
		.ops		= &srpol_rule_ops,
		.fill		= srpol_rule_fill,
		.ntf		= SRPOL_CMD_RULE_NTF,
		.del_ntf	= SRPOL_CMD_RULE_DEL_NTF,
	},
	[SRPOL_OBJ_ENDPOINT] = {
		.ops		= &srpol_endpoint_ops,
		.fill		= srpol_endpoint_fill,
		.ntf		= SRPOL_CMD_ENDPOINT_NTF,
		.del_ntf	= SRPOL_CMD_ENDPOINT_DEL_NTF,
	},
	[SRPOL_OBJ_SID] = {
		.ops		= &srpol_sid_ops,
		.fill		= srpol_sid_fill,
		.ntf		= SRPOL_CMD_SID_NTF,
		.del_ntf	= SRPOL_CMD_SID_DEL_NTF,
	},
};
