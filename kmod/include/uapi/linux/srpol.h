/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/srpol.yaml */
/* YNL-GEN uapi header */

#ifndef _UAPI_LINUX_SRPOL_H
#define _UAPI_LINUX_SRPOL_H

#define SRPOL_FAMILY_NAME	"srpol"
#define SRPOL_FAMILY_VERSION	1

#define SRPOL_NAME_MAX		31
#define SRPOL_SIDS_MAX		16
#define SRPOL_TLV_MAX		38
#define SRPOL_TLVS_MAX		4
#define SRPOL_SR_DOMAIN_MAX	8
#define SRPOL_CANDIDATES_MAX	8
#define SRPOL_LISTS_MAX		64

/**
 * enum srpol_origin - who created an object; the engine never touches static
 *   ones
 * @SRPOL_ORIGIN_STATIC: an operator or a configuration file
 * @SRPOL_ORIGIN_ENGINE: the local SR engine
 */
enum srpol_origin {
	SRPOL_ORIGIN_STATIC,
	SRPOL_ORIGIN_ENGINE,
};

/**
 * enum srpol_encap - form of the outer header
 * @SRPOL_ENCAP_REDUCED: first SID in the destination address only, no SRH for
 *   one SID
 * @SRPOL_ENCAP_FULL: the SRH carries every SID
 */
enum srpol_encap {
	SRPOL_ENCAP_REDUCED,
	SRPOL_ENCAP_FULL,
};

/**
 * enum srpol_path_state
 * @SRPOL_PATH_STATE_UNRESOLVED: next hop not known yet; not forwarding
 * @SRPOL_PATH_STATE_UP: can forward
 * @SRPOL_PATH_STATE_DOWN: was or could be resolved, but cannot forward
 */
enum srpol_path_state {
	SRPOL_PATH_STATE_UNRESOLVED,
	SRPOL_PATH_STATE_UP,
	SRPOL_PATH_STATE_DOWN,
};

/**
 * enum srpol_path_reason - why a path is not up
 * @SRPOL_PATH_REASON_ADMIN_DOWN: taken out of service by configuration
 * @SRPOL_PATH_REASON_NO_DEVICE: the egress device does not exist
 * @SRPOL_PATH_REASON_DEVICE_DOWN: the egress device is down or has no carrier
 * @SRPOL_PATH_REASON_DEVICE_TYPE: the egress device is not Ethernet
 * @SRPOL_PATH_REASON_NO_ROUTE: no usable route to the first SID
 * @SRPOL_PATH_REASON_NO_SOURCE: no outer source address is configured or can
 *   be chosen
 * @SRPOL_PATH_REASON_NEIGHBOR_UNRESOLVED: the neighbor is being resolved
 * @SRPOL_PATH_REASON_NEIGHBOR_FAILED: the neighbor does not answer
 * @SRPOL_PATH_REASON_UNREACHABLE_REPORTED: a node of the SR domain answered a
 *   packet of this path with ICMPv6 Destination Unreachable; tried again after
 *   the retry interval
 * @SRPOL_PATH_REASON_MTU_TOO_SMALL: less than 1280 bytes would be left for the
 *   inner packet
 * @SRPOL_PATH_REASON_NO_RESOURCES: the next hop table is full, memory is
 *   short, or the data plane refused what an event asked for; tried again once
 *   a second
 * @SRPOL_PATH_REASON_PROBES_LOST: the prober reports that probes are not
 *   answered (path-verdict)
 * @SRPOL_PATH_REASON_PROBES_DEGRADED: the prober reports that the path carries
 *   packets badly, for instance none of full size (path-verdict)
 */
enum srpol_path_reason {
	SRPOL_PATH_REASON_NONE,
	SRPOL_PATH_REASON_ADMIN_DOWN,
	SRPOL_PATH_REASON_NO_DEVICE,
	SRPOL_PATH_REASON_DEVICE_DOWN,
	SRPOL_PATH_REASON_DEVICE_TYPE,
	SRPOL_PATH_REASON_NO_ROUTE,
	SRPOL_PATH_REASON_NO_SOURCE,
	SRPOL_PATH_REASON_NEIGHBOR_UNRESOLVED,
	SRPOL_PATH_REASON_NEIGHBOR_FAILED,
	SRPOL_PATH_REASON_UNREACHABLE_REPORTED,
	SRPOL_PATH_REASON_MTU_TOO_SMALL,
	SRPOL_PATH_REASON_NO_RESOURCES,
	SRPOL_PATH_REASON_PROBES_LOST,
	SRPOL_PATH_REASON_PROBES_DEGRADED,
};

/**
 * enum srpol_path_verdict - what a prober, srpold for instance, found out
 *   about a path
 * @SRPOL_PATH_VERDICT_UP: it was seen to carry packets
 * @SRPOL_PATH_VERDICT_DOWN: it does not carry packets; not used while this
 *   lasts
 * @SRPOL_PATH_VERDICT_DEGRADED: it carries packets badly; used, and told in
 *   dumps
 */
enum srpol_path_verdict {
	SRPOL_PATH_VERDICT_UP,
	SRPOL_PATH_VERDICT_DOWN,
	SRPOL_PATH_VERDICT_DEGRADED,
};

/**
 * enum srpol_hook - where a program sees the packets of a device
 */
enum srpol_hook {
	SRPOL_HOOK_AUTO,
	SRPOL_HOOK_TC,
	SRPOL_HOOK_XDP,
};

/**
 * enum srpol_lb_mode - how a policy spreads packets over its segment lists
 * @SRPOL_LB_MODE_HASH: by flow hash, in proportion to the weights; a flow
 *   keeps its path
 * @SRPOL_LB_MODE_ACTIVE_BACKUP: the first segment list, in the order given,
 *   that can be used; back to an earlier one after the wait-to-restore
 * @SRPOL_LB_MODE_FLOWLET: a flow may change its path after a pause of the
 *   flowlet-timeout, to the better one of two
 * @SRPOL_LB_MODE_SPRAY: packet by packet, in proportion to the weights; only
 *   flows whose rule allows reordering, others are hashed
 * @SRPOL_LB_MODE_ADAPTIVE: as hash, but a flow whose path stays bad moves,
 *   after a pause of the flowlet-timeout or the dwell-time, and returns
 *   likewise
 * @SRPOL_LB_MODE_ON_CONGESTION: not encapsulated until a congestion signal
 *   comes from the destination, then as hash until the wait-to-restore has
 *   passed without one
 */
enum srpol_lb_mode {
	SRPOL_LB_MODE_HASH,
	SRPOL_LB_MODE_ACTIVE_BACKUP,
	SRPOL_LB_MODE_FLOWLET,
	SRPOL_LB_MODE_SPRAY,
	SRPOL_LB_MODE_ADAPTIVE,
	SRPOL_LB_MODE_ON_CONGESTION,
};

/**
 * enum srpol_spray - which path the next packet takes in mode spray
 */
enum srpol_spray {
	SRPOL_SPRAY_ROUND_ROBIN,
	SRPOL_SPRAY_RANDOM,
};

/**
 * enum srpol_ordering - what order of packets the traffic of a rule needs
 * @SRPOL_ORDERING_STRONG: all packets of a flow in order; never sprayed
 * @SRPOL_ORDERING_PARTIAL: packets with the same UDP source port and inner
 *   flow label in order; sprayed by these
 * @SRPOL_ORDERING_WEAK: any order
 */
enum srpol_ordering {
	SRPOL_ORDERING_STRONG,
	SRPOL_ORDERING_PARTIAL,
	SRPOL_ORDERING_WEAK,
};

/**
 * enum srpol_path_id - where the outer header carries the path's id to the
 *   receiver
 * @SRPOL_PATH_ID_TAG: SRH Tag (RFC 8754 2); nowhere if there is no SRH
 * @SRPOL_PATH_ID_LABEL: upper 14 bits of the outer flow label, the flow's
 *   entropy below
 */
enum srpol_path_id {
	SRPOL_PATH_ID_NONE,
	SRPOL_PATH_ID_TAG,
	SRPOL_PATH_ID_LABEL,
};

/**
 * enum srpol_protocol_origin - protocol-origin of a candidate path, values of
 *   RFC 9256 2.3
 */
enum srpol_protocol_origin {
	SRPOL_PROTOCOL_ORIGIN_PCEP = 10,
	SRPOL_PROTOCOL_ORIGIN_BGP = 20,
	SRPOL_PROTOCOL_ORIGIN_CONFIG = 30,
};

enum srpol_policy_state {
	SRPOL_POLICY_STATE_DOWN,
	SRPOL_POLICY_STATE_UP,
};

/**
 * enum srpol_policy_reason - why a policy, candidate path or segment list is
 *   not in use
 * @SRPOL_POLICY_REASON_NO_CANDIDATE: the policy has no candidate path
 * @SRPOL_POLICY_REASON_NO_VALID_CANDIDATE: no candidate path is valid
 * @SRPOL_POLICY_REASON_NO_VALID_LIST: the candidate path has no valid segment
 *   list
 * @SRPOL_POLICY_REASON_NOT_BEST: another candidate path was selected
 * @SRPOL_POLICY_REASON_PATH_NOT_UP: the path is not up
 * @SRPOL_POLICY_REASON_ZERO_WEIGHT: a segment list of weight 0 is invalid
 */
enum srpol_policy_reason {
	SRPOL_POLICY_REASON_NONE,
	SRPOL_POLICY_REASON_NO_CANDIDATE,
	SRPOL_POLICY_REASON_NO_VALID_CANDIDATE,
	SRPOL_POLICY_REASON_NO_VALID_LIST,
	SRPOL_POLICY_REASON_NOT_BEST,
	SRPOL_POLICY_REASON_PATH_NOT_UP,
	SRPOL_POLICY_REASON_ZERO_WEIGHT,
};

/**
 * enum srpol_rule_action
 * @SRPOL_RULE_ACTION_STEER: give the flow a color
 * @SRPOL_RULE_ACTION_BYPASS: leave the flow alone
 */
enum srpol_rule_action {
	SRPOL_RULE_ACTION_STEER,
	SRPOL_RULE_ACTION_BYPASS,
};

/**
 * enum srpol_rule_reason - why a rule steers nothing at present
 * @SRPOL_RULE_REASON_NO_POLICY: no policy has this color
 * @SRPOL_RULE_REASON_NO_POLICY_UP: no policy of this color is up
 * @SRPOL_RULE_REASON_NO_DEVICE: the device to match does not exist
 * @SRPOL_RULE_REASON_NO_UPLINK: no uplink is attached, so no packet is looked
 *   at
 */
enum srpol_rule_reason {
	SRPOL_RULE_REASON_NONE,
	SRPOL_RULE_REASON_NO_POLICY,
	SRPOL_RULE_REASON_NO_POLICY_UP,
	SRPOL_RULE_REASON_NO_DEVICE,
	SRPOL_RULE_REASON_NO_UPLINK,
};

/**
 * enum srpol_behavior - endpoint behaviors, values of the IANA registry (RFC
 *   8986 10.2)
 * @SRPOL_BEHAVIOR_END_B6_ENCAPS: binding SID of a policy; made and deleted
 *   with the policy
 * @SRPOL_BEHAVIOR_END_B6_ENCAPS_RED: the same, if all segment lists of the
 *   policy have the reduced SRH
 * @SRPOL_BEHAVIOR_UN: End with NEXT-CSID (RFC 9800)
 * @SRPOL_BEHAVIOR_UA: End.X with NEXT-CSID
 * @SRPOL_BEHAVIOR_PROBE: probes of this host end here; a number of the private
 *   range, refused by a data plane that does not know it
 * @SRPOL_BEHAVIOR_REFLECT: probes of hosts with which this one shares a key
 *   are reflected here; a number of the private range, refused by a data plane
 *   that does not know it
 */
enum srpol_behavior {
	SRPOL_BEHAVIOR_END = 1,
	SRPOL_BEHAVIOR_END_PSP,
	SRPOL_BEHAVIOR_END_X = 5,
	SRPOL_BEHAVIOR_END_X_PSP,
	SRPOL_BEHAVIOR_END_B6_ENCAPS = 14,
	SRPOL_BEHAVIOR_END_DX6 = 16,
	SRPOL_BEHAVIOR_END_DX4,
	SRPOL_BEHAVIOR_END_DT6,
	SRPOL_BEHAVIOR_END_DT4,
	SRPOL_BEHAVIOR_END_DT46,
	SRPOL_BEHAVIOR_END_B6_ENCAPS_RED = 27,
	SRPOL_BEHAVIOR_END_USD,
	SRPOL_BEHAVIOR_END_PSP_USD,
	SRPOL_BEHAVIOR_UN = 43,
	SRPOL_BEHAVIOR_UN_PSP,
	SRPOL_BEHAVIOR_UN_PSP_USD = 48,
	SRPOL_BEHAVIOR_UA = 52,
	SRPOL_BEHAVIOR_UDT6 = 62,
	SRPOL_BEHAVIOR_UDT4,
	SRPOL_BEHAVIOR_UDT46,
	SRPOL_BEHAVIOR_PROBE = 32768,
	SRPOL_BEHAVIOR_REFLECT,
};

/**
 * enum srpol_dev_role
 * @SRPOL_DEV_ROLE_UPLINK: towards the fabric; steered at TC egress, local SIDs
 *   at XDP ingress
 * @SRPOL_DEV_ROLE_PORT: towards a VM, pod or representor; steered at XDP or TC
 *   ingress
 * @SRPOL_DEV_ROLE_HOST: the workload's end of a virtual port, a veth pair
 *   whose other end is a port; what uplinks decapsulate for its addresses
 *   comes in by it
 */
enum srpol_dev_role {
	SRPOL_DEV_ROLE_UPLINK = 1,
	SRPOL_DEV_ROLE_PORT,
	SRPOL_DEV_ROLE_HOST,
};

/**
 * enum srpol_source_check - source addresses that are accepted from a port
 * @SRPOL_SOURCE_CHECK_NONE: any
 * @SRPOL_SOURCE_CHECK_LOOSE: any to which there is a route, except this host's
 *   own addresses
 * @SRPOL_SOURCE_CHECK_STRICT: those to which the route leads back through the
 *   port; from a virtual port its own addresses
 */
enum srpol_source_check {
	SRPOL_SOURCE_CHECK_NONE,
	SRPOL_SOURCE_CHECK_LOOSE,
	SRPOL_SOURCE_CHECK_STRICT,
};

/**
 * enum srpol_xdp_mode - how XDP runs on a device
 * @SRPOL_XDP_MODE_AUTO: native if the driver can; else generic for an uplink,
 *   none for a port; none for a port that is a veth, tap or bridge
 * @SRPOL_XDP_MODE_NONE: not at all, a port steers at TC ingress
 */
enum srpol_xdp_mode {
	SRPOL_XDP_MODE_AUTO,
	SRPOL_XDP_MODE_NATIVE,
	SRPOL_XDP_MODE_GENERIC,
	SRPOL_XDP_MODE_NONE,
};

/**
 * enum srpol_dscp_mode - whether inner and outer header have one DSCP, RFC
 *   2983
 * @SRPOL_DSCP_MODE_UNIFORM: copied from the header that was there before
 * @SRPOL_DSCP_MODE_PIPE: of an outer header configured; the inner one keeps
 *   its own
 */
enum srpol_dscp_mode {
	SRPOL_DSCP_MODE_UNIFORM,
	SRPOL_DSCP_MODE_PIPE,
};

/**
 * enum srpol_flow_label - how the outer flow label is made
 * @SRPOL_FLOW_LABEL_HASH_QP: hash of addresses, ports and destination QP,
 *   never 0
 * @SRPOL_FLOW_LABEL_HASH: hash of addresses and ports, never 0
 * @SRPOL_FLOW_LABEL_INHERIT: the inner IPv6 flow label, hash-qp if it is 0 or
 *   for IPv4
 * @SRPOL_FLOW_LABEL_ZERO: always 0
 */
enum srpol_flow_label {
	SRPOL_FLOW_LABEL_HASH_QP,
	SRPOL_FLOW_LABEL_HASH,
	SRPOL_FLOW_LABEL_INHERIT,
	SRPOL_FLOW_LABEL_ZERO,
};

enum {
	SRPOL_A_SID_ENTRY_SID = 1,

	__SRPOL_A_SID_ENTRY_MAX,
	SRPOL_A_SID_ENTRY_MAX = (__SRPOL_A_SID_ENTRY_MAX - 1)
};

enum {
	SRPOL_A_TLV_TYPE = 1,
	SRPOL_A_TLV_VALUE,

	__SRPOL_A_TLV_MAX,
	SRPOL_A_TLV_MAX = (__SRPOL_A_TLV_MAX - 1)
};

enum {
	SRPOL_A_PATH_ID = 1,
	SRPOL_A_PATH_NAME,
	SRPOL_A_PATH_ORIGIN,
	SRPOL_A_PATH_SIDS,
	SRPOL_A_PATH_ENCAP,
	SRPOL_A_PATH_SRC,
	SRPOL_A_PATH_IFINDEX,
	SRPOL_A_PATH_VIA,
	SRPOL_A_PATH_ADMIN_DOWN,
	SRPOL_A_PATH_STATE,
	SRPOL_A_PATH_REASON,
	SRPOL_A_PATH_OUT_IFINDEX,
	SRPOL_A_PATH_OUT_VIA,
	SRPOL_A_PATH_OUT_LLADDR,
	SRPOL_A_PATH_OUT_SRC,
	SRPOL_A_PATH_OVERHEAD,
	SRPOL_A_PATH_MTU,
	SRPOL_A_PATH_USERS,
	SRPOL_A_PATH_BLOCK_LEN,
	SRPOL_A_PATH_CSID_LEN,
	SRPOL_A_PATH_TLV,
	SRPOL_A_PATH_TIMESTAMP,
	SRPOL_A_PATH_BLOCK,
	SRPOL_A_PATH_VERDICT,
	SRPOL_A_PATH_VERDICT_REASON,
	SRPOL_A_PATH_OWNER,
	SRPOL_A_PATH_LIFETIME,
	SRPOL_A_PATH_PROBED_MTU,
	SRPOL_A_PATH_IFNAME,

	__SRPOL_A_PATH_MAX,
	SRPOL_A_PATH_MAX = (__SRPOL_A_PATH_MAX - 1)
};

enum {
	SRPOL_A_SEGMENT_LIST_PATH = 1,
	SRPOL_A_SEGMENT_LIST_WEIGHT,
	SRPOL_A_SEGMENT_LIST_STATE,
	SRPOL_A_SEGMENT_LIST_REASON,
	SRPOL_A_SEGMENT_LIST_BUCKETS,

	__SRPOL_A_SEGMENT_LIST_MAX,
	SRPOL_A_SEGMENT_LIST_MAX = (__SRPOL_A_SEGMENT_LIST_MAX - 1)
};

enum {
	SRPOL_A_CANDIDATE_PREFERENCE = 1,
	SRPOL_A_CANDIDATE_PROTOCOL_ORIGIN,
	SRPOL_A_CANDIDATE_ASN,
	SRPOL_A_CANDIDATE_NODE,
	SRPOL_A_CANDIDATE_DISCRIMINATOR,
	SRPOL_A_CANDIDATE_NAME,
	SRPOL_A_CANDIDATE_SEGMENT_LIST,
	SRPOL_A_CANDIDATE_ACTIVE,
	SRPOL_A_CANDIDATE_STATE,
	SRPOL_A_CANDIDATE_REASON,

	__SRPOL_A_CANDIDATE_MAX,
	SRPOL_A_CANDIDATE_MAX = (__SRPOL_A_CANDIDATE_MAX - 1)
};

enum {
	SRPOL_A_POLICY_COLOR = 1,
	SRPOL_A_POLICY_ENDPOINT,
	SRPOL_A_POLICY_NAME,
	SRPOL_A_POLICY_BSID,
	SRPOL_A_POLICY_ORIGIN,
	SRPOL_A_POLICY_MODE,
	SRPOL_A_POLICY_BUCKETS,
	SRPOL_A_POLICY_BACKUP_COLOR,
	SRPOL_A_POLICY_DROP_UPON_INVALID,
	SRPOL_A_POLICY_CANDIDATE,
	SRPOL_A_POLICY_ID,
	SRPOL_A_POLICY_STATE,
	SRPOL_A_POLICY_REASON,
	SRPOL_A_POLICY_SYMMETRIC,
	SRPOL_A_POLICY_SPRAY,
	SRPOL_A_POLICY_FLOWLET_TIMEOUT,
	SRPOL_A_POLICY_THRESHOLD,
	SRPOL_A_POLICY_DWELL_TIME,
	SRPOL_A_POLICY_WAIT_TO_RESTORE,
	SRPOL_A_POLICY_REVISION,

	__SRPOL_A_POLICY_MAX,
	SRPOL_A_POLICY_MAX = (__SRPOL_A_POLICY_MAX - 1)
};

enum {
	SRPOL_A_RULE_PRIORITY = 1,
	SRPOL_A_RULE_NAME,
	SRPOL_A_RULE_ORIGIN,
	SRPOL_A_RULE_ACTION,
	SRPOL_A_RULE_COLOR,
	SRPOL_A_RULE_IFINDEX,
	SRPOL_A_RULE_MARK,
	SRPOL_A_RULE_MARK_MASK,
	SRPOL_A_RULE_SRC,
	SRPOL_A_RULE_SRC_LEN,
	SRPOL_A_RULE_DST,
	SRPOL_A_RULE_DST_LEN,
	SRPOL_A_RULE_PROTO,
	SRPOL_A_RULE_SPORT_MIN,
	SRPOL_A_RULE_SPORT_MAX,
	SRPOL_A_RULE_DPORT_MIN,
	SRPOL_A_RULE_DPORT_MAX,
	SRPOL_A_RULE_QP_MIN,
	SRPOL_A_RULE_QP_MAX,
	SRPOL_A_RULE_OPCODE,
	SRPOL_A_RULE_DSCP,
	SRPOL_A_RULE_PKEY,
	SRPOL_A_RULE_ID,
	SRPOL_A_RULE_REASON,
	SRPOL_A_RULE_VLAN,
	SRPOL_A_RULE_CGROUP,
	SRPOL_A_RULE_MODE,
	SRPOL_A_RULE_ORDERING,
	SRPOL_A_RULE_PATH,
	SRPOL_A_RULE_IFNAME,

	__SRPOL_A_RULE_MAX,
	SRPOL_A_RULE_MAX = (__SRPOL_A_RULE_MAX - 1)
};

enum {
	SRPOL_A_ENDPOINT_PREFIX = 1,
	SRPOL_A_ENDPOINT_PREFIX_LEN,
	SRPOL_A_ENDPOINT_ADDRESS,
	SRPOL_A_ENDPOINT_ORIGIN,

	__SRPOL_A_ENDPOINT_MAX,
	SRPOL_A_ENDPOINT_MAX = (__SRPOL_A_ENDPOINT_MAX - 1)
};

enum {
	SRPOL_A_SID_SID = 1,
	SRPOL_A_SID_BEHAVIOR,
	SRPOL_A_SID_ORIGIN,
	SRPOL_A_SID_ID,
	SRPOL_A_SID_PREFIX_LEN,
	SRPOL_A_SID_BLOCK_LEN,
	SRPOL_A_SID_IFINDEX,
	SRPOL_A_SID_VIA,
	SRPOL_A_SID_STATE,
	SRPOL_A_SID_REASON,
	SRPOL_A_SID_COLOR,
	SRPOL_A_SID_ENDPOINT,
	SRPOL_A_SID_IFNAME,
	SRPOL_A_SID_DSCP_MODE,

	__SRPOL_A_SID_MAX,
	SRPOL_A_SID_MAX = (__SRPOL_A_SID_MAX - 1)
};

enum {
	SRPOL_A_DEV_IFINDEX = 1,
	SRPOL_A_DEV_ROLE,
	SRPOL_A_DEV_XDP_MODE,
	SRPOL_A_DEV_RUNNING,
	SRPOL_A_DEV_MTU,
	SRPOL_A_DEV_HOOK,
	SRPOL_A_DEV_SOURCE,

	__SRPOL_A_DEV_MAX,
	SRPOL_A_DEV_MAX = (__SRPOL_A_DEV_MAX - 1)
};

enum {
	SRPOL_A_LIMITS_PATHS = 1,
	SRPOL_A_LIMITS_NEXTHOPS,
	SRPOL_A_LIMITS_POLICIES,
	SRPOL_A_LIMITS_BUCKET_ROWS,
	SRPOL_A_LIMITS_RULES,
	SRPOL_A_LIMITS_ENDPOINTS,
	SRPOL_A_LIMITS_SIDS,
	SRPOL_A_LIMITS_DEVS,

	__SRPOL_A_LIMITS_MAX,
	SRPOL_A_LIMITS_MAX = (__SRPOL_A_LIMITS_MAX - 1)
};

enum {
	SRPOL_A_PREFIX_ENTRY_PREFIX = 1,
	SRPOL_A_PREFIX_ENTRY_PREFIX_LEN,

	__SRPOL_A_PREFIX_ENTRY_MAX,
	SRPOL_A_PREFIX_ENTRY_MAX = (__SRPOL_A_PREFIX_ENTRY_MAX - 1)
};

enum {
	SRPOL_A_REQUEST_MESSAGE = 1,

	__SRPOL_A_REQUEST_MAX,
	SRPOL_A_REQUEST_MAX = (__SRPOL_A_REQUEST_MAX - 1)
};

enum {
	SRPOL_A_TRANSACTION_REQUEST = 1,

	__SRPOL_A_TRANSACTION_MAX,
	SRPOL_A_TRANSACTION_MAX = (__SRPOL_A_TRANSACTION_MAX - 1)
};

enum {
	SRPOL_A_CONFIG_SRC = 1,
	SRPOL_A_CONFIG_HOP_LIMIT,
	SRPOL_A_CONFIG_DSCP_MODE,
	SRPOL_A_CONFIG_DSCP,
	SRPOL_A_CONFIG_FLOW_LABEL,
	SRPOL_A_CONFIG_ICMP_ERRORS,
	SRPOL_A_CONFIG_RETRY_INTERVAL,
	SRPOL_A_CONFIG_GENERATION,
	SRPOL_A_CONFIG_DATA_PLANE,
	SRPOL_A_CONFIG_LIMITS,
	SRPOL_A_CONFIG_USED,
	SRPOL_A_CONFIG_PATH_ID,
	SRPOL_A_CONFIG_SR_DOMAIN,
	SRPOL_A_CONFIG_PSN_OBSERVER,
	SRPOL_A_CONFIG_DROP_EVENTS,
	SRPOL_A_CONFIG_SR_SOURCE,
	SRPOL_A_CONFIG_REPORT_FROM,
	SRPOL_A_CONFIG_REMEMBERED_ROUTES,

	__SRPOL_A_CONFIG_MAX,
	SRPOL_A_CONFIG_MAX = (__SRPOL_A_CONFIG_MAX - 1)
};

enum {
	SRPOL_CMD_PATH_GET = 1,
	SRPOL_CMD_PATH_NEW,
	SRPOL_CMD_PATH_DEL,
	SRPOL_CMD_PATH_NTF,
	SRPOL_CMD_PATH_DEL_NTF,
	SRPOL_CMD_POLICY_GET,
	SRPOL_CMD_POLICY_NEW,
	SRPOL_CMD_POLICY_DEL,
	SRPOL_CMD_POLICY_NTF,
	SRPOL_CMD_POLICY_DEL_NTF,
	SRPOL_CMD_RULE_GET,
	SRPOL_CMD_RULE_NEW,
	SRPOL_CMD_RULE_DEL,
	SRPOL_CMD_RULE_NTF,
	SRPOL_CMD_RULE_DEL_NTF,
	SRPOL_CMD_ENDPOINT_GET,
	SRPOL_CMD_ENDPOINT_NEW,
	SRPOL_CMD_ENDPOINT_DEL,
	SRPOL_CMD_ENDPOINT_NTF,
	SRPOL_CMD_ENDPOINT_DEL_NTF,
	SRPOL_CMD_SID_GET,
	SRPOL_CMD_SID_NEW,
	SRPOL_CMD_SID_DEL,
	SRPOL_CMD_SID_NTF,
	SRPOL_CMD_SID_DEL_NTF,
	SRPOL_CMD_DEV_GET,
	SRPOL_CMD_DEV_NEW,
	SRPOL_CMD_DEV_DEL,
	SRPOL_CMD_DEV_NTF,
	SRPOL_CMD_DEV_DEL_NTF,
	SRPOL_CMD_CONFIG_GET,
	SRPOL_CMD_CONFIG_SET,
	SRPOL_CMD_CONFIG_NTF,
	SRPOL_CMD_PATH_EVENT,
	SRPOL_CMD_POLICY_EVENT,
	SRPOL_CMD_APPLY,
	SRPOL_CMD_PATH_VERDICT,

	__SRPOL_CMD_MAX,
	SRPOL_CMD_MAX = (__SRPOL_CMD_MAX - 1)
};

#define SRPOL_MCGRP_CONFIG	"config"
#define SRPOL_MCGRP_EVENTS	"events"

#endif /* _UAPI_LINUX_SRPOL_H */
