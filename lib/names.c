// SPDX-License-Identifier: LGPL-2.1
/*
 * Words for the numbers of the netlink family and the maps.
 */
#include <stdio.h>
#include <string.h>

#include "srpol_lib.h"

const struct srpol_name srpol_encaps[] = {
	{ SRPOL_ENCAP_REDUCED, "reduced" },
	{ SRPOL_ENCAP_FULL, "full" },
	{ }
};

const struct srpol_name srpol_origins[] = {
	{ SRPOL_ORIGIN_STATIC, "static" },
	{ SRPOL_ORIGIN_ENGINE, "engine" },
	{ }
};

const struct srpol_name srpol_path_states[] = {
	{ SRPOL_PATH_STATE_UNRESOLVED, "unresolved" },
	{ SRPOL_PATH_STATE_UP, "up" },
	{ SRPOL_PATH_STATE_DOWN, "down" },
	{ }
};

const struct srpol_name srpol_path_reasons[] = {
	{ SRPOL_PATH_REASON_NONE, "none" },
	{ SRPOL_PATH_REASON_ADMIN_DOWN, "admin-down" },
	{ SRPOL_PATH_REASON_NO_DEVICE, "no-device" },
	{ SRPOL_PATH_REASON_DEVICE_DOWN, "device-down" },
	{ SRPOL_PATH_REASON_DEVICE_TYPE, "device-type" },
	{ SRPOL_PATH_REASON_NO_ROUTE, "no-route" },
	{ SRPOL_PATH_REASON_NO_SOURCE, "no-source" },
	{ SRPOL_PATH_REASON_NEIGHBOR_UNRESOLVED, "neighbor-unresolved" },
	{ SRPOL_PATH_REASON_NEIGHBOR_FAILED, "neighbor-failed" },
	{ SRPOL_PATH_REASON_UNREACHABLE_REPORTED, "unreachable-reported" },
	{ SRPOL_PATH_REASON_MTU_TOO_SMALL, "mtu-too-small" },
	{ SRPOL_PATH_REASON_NO_RESOURCES, "no-resources" },
	{ SRPOL_PATH_REASON_PROBES_LOST, "probes-lost" },
	{ SRPOL_PATH_REASON_PROBES_DEGRADED, "probes-degraded" },
	{ }
};

const struct srpol_name srpol_modes[] = {
	{ SRPOL_LB_MODE_HASH, "hash" },
	/*
	 * the word that the literature uses, though weights count in every mode
	 */
	{ SRPOL_LB_MODE_HASH, "weighted" },
	{ SRPOL_LB_MODE_ACTIVE_BACKUP, "active-backup" },
	{ SRPOL_LB_MODE_FLOWLET, "flowlet" },
	{ SRPOL_LB_MODE_SPRAY, "spray" },
	{ SRPOL_LB_MODE_ADAPTIVE, "adaptive" },
	{ SRPOL_LB_MODE_ON_CONGESTION, "on-congestion" },
	{ }
};

const struct srpol_name srpol_sprays[] = {
	{ SRPOL_SPRAY_ROUND_ROBIN, "round-robin" },
	{ SRPOL_SPRAY_RANDOM, "random" },
	{ }
};

const struct srpol_name srpol_orderings[] = {
	{ SRPOL_ORDERING_STRONG, "strong" },
	{ SRPOL_ORDERING_PARTIAL, "partial" },
	{ SRPOL_ORDERING_WEAK, "weak" },
	{ }
};

const struct srpol_name srpol_path_ids[] = {
	{ SRPOL_PATH_ID_NONE, "none" },
	{ SRPOL_PATH_ID_TAG, "tag" },
	{ SRPOL_PATH_ID_LABEL, "label" },
	{ }
};

const struct srpol_name srpol_switches[] = {
	{ 0, "off" },
	{ 1, "on" },
	{ }
};

const struct srpol_name srpol_protocol_origins[] = {
	{ SRPOL_PROTOCOL_ORIGIN_PCEP, "pcep" },
	{ SRPOL_PROTOCOL_ORIGIN_BGP, "bgp" },
	{ SRPOL_PROTOCOL_ORIGIN_CONFIG, "config" },
	{ }
};

const struct srpol_name srpol_policy_states[] = {
	{ SRPOL_POLICY_STATE_DOWN, "down" },
	{ SRPOL_POLICY_STATE_UP, "up" },
	{ }
};

const struct srpol_name srpol_policy_reasons[] = {
	{ SRPOL_POLICY_REASON_NONE, "none" },
	{ SRPOL_POLICY_REASON_NO_CANDIDATE, "no-candidate" },
	{ SRPOL_POLICY_REASON_NO_VALID_CANDIDATE, "no-valid-candidate" },
	{ SRPOL_POLICY_REASON_NO_VALID_LIST, "no-valid-list" },
	{ SRPOL_POLICY_REASON_NOT_BEST, "not-best" },
	{ SRPOL_POLICY_REASON_PATH_NOT_UP, "path-not-up" },
	{ SRPOL_POLICY_REASON_ZERO_WEIGHT, "zero-weight" },
	{ }
};

const struct srpol_name srpol_rule_reasons[] = {
	{ SRPOL_RULE_REASON_NONE, "none" },
	{ SRPOL_RULE_REASON_NO_POLICY, "no-policy" },
	{ SRPOL_RULE_REASON_NO_POLICY_UP, "no-policy-up" },
	{ SRPOL_RULE_REASON_NO_DEVICE, "no-device" },
	{ SRPOL_RULE_REASON_NO_UPLINK, "no-uplink" },
	{ }
};

const struct srpol_name srpol_behaviors[] = {
	{ SRPOL_BEHAVIOR_END, "End" },
	{ SRPOL_BEHAVIOR_END_PSP, "End.PSP" },
	{ SRPOL_BEHAVIOR_END_USD, "End.USD" },
	{ SRPOL_BEHAVIOR_END_PSP_USD, "End.PSP.USD" },
	{ SRPOL_BEHAVIOR_END_X, "End.X" },
	{ SRPOL_BEHAVIOR_END_X_PSP, "End.X.PSP" },
	{ SRPOL_BEHAVIOR_END_B6_ENCAPS, "End.B6.Encaps" },
	{ SRPOL_BEHAVIOR_END_B6_ENCAPS_RED, "End.B6.Encaps.Red" },
	{ SRPOL_BEHAVIOR_END_DX6, "End.DX6" },
	{ SRPOL_BEHAVIOR_END_DX4, "End.DX4" },
	{ SRPOL_BEHAVIOR_END_DT6, "End.DT6" },
	{ SRPOL_BEHAVIOR_END_DT4, "End.DT4" },
	{ SRPOL_BEHAVIOR_END_DT46, "End.DT46" },
	{ SRPOL_BEHAVIOR_UN, "uN" },
	{ SRPOL_BEHAVIOR_UN_PSP, "uN.PSP" },
	{ SRPOL_BEHAVIOR_UN_PSP_USD, "uN.PSP.USD" },
	{ SRPOL_BEHAVIOR_UA, "uA" },
	{ SRPOL_BEHAVIOR_UDT6, "uDT6" },
	{ SRPOL_BEHAVIOR_UDT4, "uDT4" },
	{ SRPOL_BEHAVIOR_UDT46, "uDT46" },
	{ SRPOL_BEHAVIOR_PROBE, "probe" },
	{ SRPOL_BEHAVIOR_REFLECT, "reflect" },
	{ }
};

const struct srpol_name srpol_dev_roles[] = {
	{ SRPOL_DEV_ROLE_UPLINK, "uplink" },
	{ SRPOL_DEV_ROLE_PORT, "port" },
	{ SRPOL_DEV_ROLE_HOST, "host" },
	{ }
};

const struct srpol_name srpol_source_checks[] = {
	{ SRPOL_SOURCE_CHECK_NONE, "none" },
	{ SRPOL_SOURCE_CHECK_LOOSE, "loose" },
	{ SRPOL_SOURCE_CHECK_STRICT, "strict" },
	{ }
};

const struct srpol_name srpol_xdp_modes[] = {
	{ SRPOL_XDP_MODE_AUTO, "auto" },
	{ SRPOL_XDP_MODE_NATIVE, "native" },
	{ SRPOL_XDP_MODE_GENERIC, "generic" },
	{ SRPOL_XDP_MODE_NONE, "none" },
	{ }
};

const struct srpol_name srpol_dscp_modes[] = {
	{ SRPOL_DSCP_MODE_UNIFORM, "uniform" },
	{ SRPOL_DSCP_MODE_PIPE, "pipe" },
	{ }
};

const struct srpol_name srpol_flow_labels[] = {
	{ SRPOL_FLOW_LABEL_HASH_QP, "hash-qp" },
	{ SRPOL_FLOW_LABEL_HASH, "hash" },
	{ SRPOL_FLOW_LABEL_INHERIT, "inherit" },
	{ SRPOL_FLOW_LABEL_ZERO, "zero" },
	{ }
};

const struct srpol_name srpol_protos[] = {
	{ 1, "icmp" },
	{ 6, "tcp" },
	{ 17, "udp" },
	{ 58, "ipv6-icmp" },
	{ 132, "sctp" },
	{ }
};

/* RFC 2474, 2597, 3246, 8622 */
const struct srpol_name srpol_dscps[] = {
	{ 0, "cs0" }, { 8, "cs1" }, { 16, "cs2" }, { 24, "cs3" },
	{ 32, "cs4" }, { 40, "cs5" }, { 48, "cs6" }, { 56, "cs7" },
	{ 10, "af11" }, { 12, "af12" }, { 14, "af13" },
	{ 18, "af21" }, { 20, "af22" }, { 22, "af23" },
	{ 26, "af31" }, { 28, "af32" }, { 30, "af33" },
	{ 34, "af41" }, { 36, "af42" }, { 38, "af43" },
	{ 46, "ef" }, { 1, "le" },
	{ }
};

/**
 * srpol_find_name() - word for a value
 * @table: table of words
 * @value: the value
 *
 * Return: NULL if the table has none.
 */
const char *srpol_find_name(const struct srpol_name *table, uint32_t value)
{
	for (; table->name; table++)
		if (table->value == value)
			return table->name;
	return NULL;
}

/**
 * srpol_name_of() - word for a value
 * @table: table of words
 * @value: the value
 *
 * Return: the word, "?" for a value newer than this program.
 */
const char *srpol_name_of(const struct srpol_name *table, uint32_t value)
{
	return srpol_find_name(table, value) ?: "?";
}

/**
 * srpol_value_of() - value for a word, case does not matter
 * @table: table of words
 * @name: the word
 * @value: result
 */
bool srpol_value_of(const struct srpol_name *table, const char *name,
		    uint32_t *value)
{
	for (; table->name; table++) {
		if (strcasecmp(table->name, name))
			continue;
		*value = table->value;
		return true;
	}
	return false;
}

#define REASON_NAME(nr, name, drop, text) [nr] = #name,
#define REASON_TEXT(nr, name, drop, text) [nr] = text,
#define REASON_DROP(nr, name, drop, text) [nr] = drop,

static const char * const reason_names[] = { SRPOL_REASONS(REASON_NAME) };
static const char * const reason_texts[] = { SRPOL_REASONS(REASON_TEXT) };
static const bool reason_drops[] = { SRPOL_REASONS(REASON_DROP) };

/**
 * srpol_reason_name() - stable name of a reason, in lower case
 * @reason: below SRPOL_REASON_COUNT
 *
 * Return: a static buffer, good until the next call.
 */
const char *srpol_reason_name(unsigned int reason)
{
	static char buf[32];
	const char *from;
	char *to = buf;

	for (from = reason_names[reason]; *from; from++)
		*to++ = *from == '_' ? '-' : *from | 0x20;
	*to = '\0';
	return buf;
}

const char *srpol_reason_text(unsigned int reason)
{
	return reason_texts[reason];
}

bool srpol_reason_is_drop(unsigned int reason)
{
	return reason_drops[reason];
}

/* Names of attributes as the CLI spells them, for errors of the kernel. */
static const char * const path_attrs[] = {
	[SRPOL_A_PATH_ID] = "id",
	[SRPOL_A_PATH_NAME] = "name",
	[SRPOL_A_PATH_ORIGIN] = "origin",
	[SRPOL_A_PATH_SIDS] = "segs",
	[SRPOL_A_PATH_ENCAP] = "encap",
	[SRPOL_A_PATH_SRC] = "src",
	[SRPOL_A_PATH_IFINDEX] = "dev",
	[SRPOL_A_PATH_VIA] = "via",
	[SRPOL_A_PATH_ADMIN_DOWN] = "admin",
	[SRPOL_A_PATH_BLOCK_LEN] = "usids",
	[SRPOL_A_PATH_BLOCK] = "usid-block",
	[SRPOL_A_PATH_CSID_LEN] = "usid-len",
	[SRPOL_A_PATH_TLV] = "tlv",
	[SRPOL_A_PATH_TIMESTAMP] = "timestamp",
};

static const char * const policy_attrs[] = {
	[SRPOL_A_POLICY_COLOR] = "color",
	[SRPOL_A_POLICY_ENDPOINT] = "endpoint",
	[SRPOL_A_POLICY_NAME] = "name",
	[SRPOL_A_POLICY_BSID] = "bsid",
	[SRPOL_A_POLICY_ORIGIN] = "origin",
	[SRPOL_A_POLICY_MODE] = "mode",
	[SRPOL_A_POLICY_SYMMETRIC] = "symmetric",
	[SRPOL_A_POLICY_SPRAY] = "spray",
	[SRPOL_A_POLICY_FLOWLET_TIMEOUT] = "flowlet-timeout",
	[SRPOL_A_POLICY_THRESHOLD] = "threshold",
	[SRPOL_A_POLICY_DWELL_TIME] = "dwell-time",
	[SRPOL_A_POLICY_WAIT_TO_RESTORE] = "wait-to-restore",
	[SRPOL_A_POLICY_BUCKETS] = "buckets",
	[SRPOL_A_POLICY_BACKUP_COLOR] = "backup-color",
	[SRPOL_A_POLICY_DROP_UPON_INVALID] = "drop-upon-invalid",
	[SRPOL_A_POLICY_CANDIDATE] = "candidate",
};

static const char * const rule_attrs[] = {
	[SRPOL_A_RULE_PRIORITY] = "prio",
	[SRPOL_A_RULE_NAME] = "name",
	[SRPOL_A_RULE_ORIGIN] = "origin",
	[SRPOL_A_RULE_ACTION] = "action",
	[SRPOL_A_RULE_COLOR] = "color",
	[SRPOL_A_RULE_IFINDEX] = "dev",
	[SRPOL_A_RULE_MARK] = "mark",
	[SRPOL_A_RULE_MARK_MASK] = "mark",
	[SRPOL_A_RULE_SRC] = "src",
	[SRPOL_A_RULE_SRC_LEN] = "src",
	[SRPOL_A_RULE_DST] = "dst",
	[SRPOL_A_RULE_DST_LEN] = "dst",
	[SRPOL_A_RULE_PROTO] = "proto",
	[SRPOL_A_RULE_SPORT_MIN] = "sport",
	[SRPOL_A_RULE_SPORT_MAX] = "sport",
	[SRPOL_A_RULE_DPORT_MIN] = "dport",
	[SRPOL_A_RULE_DPORT_MAX] = "dport",
	[SRPOL_A_RULE_QP_MIN] = "qp",
	[SRPOL_A_RULE_QP_MAX] = "qp",
	[SRPOL_A_RULE_OPCODE] = "opcode",
	[SRPOL_A_RULE_DSCP] = "dscp",
	[SRPOL_A_RULE_PKEY] = "pkey",
	[SRPOL_A_RULE_VLAN] = "vlan",
	[SRPOL_A_RULE_CGROUP] = "cgroup",
	[SRPOL_A_RULE_MODE] = "mode",
	[SRPOL_A_RULE_ORDERING] = "ordering",
	[SRPOL_A_RULE_PATH] = "path",
};

static const char * const endpoint_attrs[] = {
	[SRPOL_A_ENDPOINT_PREFIX] = "prefix",
	[SRPOL_A_ENDPOINT_PREFIX_LEN] = "prefix",
	[SRPOL_A_ENDPOINT_ADDRESS] = "to",
	[SRPOL_A_ENDPOINT_ORIGIN] = "origin",
};

static const char * const sid_attrs[] = {
	[SRPOL_A_SID_SID] = "sid",
	[SRPOL_A_SID_BEHAVIOR] = "behavior",
	[SRPOL_A_SID_ORIGIN] = "origin",
	[SRPOL_A_SID_PREFIX_LEN] = "sid",
	[SRPOL_A_SID_BLOCK_LEN] = "block-len",
	[SRPOL_A_SID_IFINDEX] = "dev",
	[SRPOL_A_SID_VIA] = "via",
	[SRPOL_A_SID_DSCP_MODE] = "dscp",
};

static const char * const dev_attrs[] = {
	[SRPOL_A_DEV_IFINDEX] = "dev",
	[SRPOL_A_DEV_ROLE] = "role",
	[SRPOL_A_DEV_XDP_MODE] = "xdp",
	[SRPOL_A_DEV_SOURCE] = "source",
};

static const char * const config_attrs[] = {
	[SRPOL_A_CONFIG_SRC] = "src",
	[SRPOL_A_CONFIG_HOP_LIMIT] = "hop-limit",
	[SRPOL_A_CONFIG_DSCP_MODE] = "dscp-mode",
	[SRPOL_A_CONFIG_DSCP] = "dscp",
	[SRPOL_A_CONFIG_FLOW_LABEL] = "flow-label",
	[SRPOL_A_CONFIG_ICMP_ERRORS] = "icmp-errors",
	[SRPOL_A_CONFIG_RETRY_INTERVAL] = "retry-interval",
	[SRPOL_A_CONFIG_PATH_ID] = "path-id",
	[SRPOL_A_CONFIG_SR_DOMAIN] = "sr-domain",
	[SRPOL_A_CONFIG_PSN_OBSERVER] = "psn-observer",
	[SRPOL_A_CONFIG_DROP_EVENTS] = "drop-events",
	[SRPOL_A_CONFIG_SR_SOURCE] = "sr-source",
	[SRPOL_A_CONFIG_REPORT_FROM] = "report-from",
	[SRPOL_A_CONFIG_REMEMBERED_ROUTES] = "remembered-routes",
};

#define ATTRS(first, last, table) \
	{ first, last, table, sizeof(table) / sizeof((table)[0]) }

static const struct {
	uint8_t first;
	uint8_t last;
	const char * const *names;
	size_t n;
} cmd_attrs[] = {
	ATTRS(SRPOL_CMD_PATH_GET, SRPOL_CMD_PATH_DEL_NTF, path_attrs),
	ATTRS(SRPOL_CMD_POLICY_GET, SRPOL_CMD_POLICY_DEL_NTF, policy_attrs),
	ATTRS(SRPOL_CMD_RULE_GET, SRPOL_CMD_RULE_DEL_NTF, rule_attrs),
	ATTRS(SRPOL_CMD_ENDPOINT_GET, SRPOL_CMD_ENDPOINT_DEL_NTF,
	      endpoint_attrs),
	ATTRS(SRPOL_CMD_SID_GET, SRPOL_CMD_SID_DEL_NTF, sid_attrs),
	ATTRS(SRPOL_CMD_DEV_GET, SRPOL_CMD_DEV_DEL_NTF, dev_attrs),
	ATTRS(SRPOL_CMD_CONFIG_GET, SRPOL_CMD_CONFIG_NTF, config_attrs),
};

/**
 * srpol_attr_name() - keyword of the command line for an attribute
 * @cmd: operation of the request
 * @type: attribute type
 *
 * Return: its keyword, NULL if it has none.
 */
const char *srpol_attr_name(uint8_t cmd, uint16_t type)
{
	size_t i;

	for (i = 0; i < sizeof(cmd_attrs) / sizeof(cmd_attrs[0]); i++)
		if (cmd >= cmd_attrs[i].first && cmd <= cmd_attrs[i].last)
			return type < cmd_attrs[i].n ?
			       cmd_attrs[i].names[type] : NULL;
	return NULL;
}
