/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The data-plane interface of srpol: what the module tells the implementation
 * that forwards the packets. The module and the eBPF implementation both
 * include it, so that it uses fixed-width types only and includes no kernel
 * headers.
 *
 * DOC: contract
 *
 * The module owns all configuration and calls these methods to apply it. An
 * implementation is registered per network namespace (a struct_ops link made by
 * a task in that namespace). On registration the module calls @reset, then
 * replays everything it has, and ends with @commit; from then on every change
 * is pushed before the system call that made it returns.
 *
 * Methods are staged or immediate. What packets see is a generation. The
 * methods @config_set, @path_set, @policy_set, @policy_hide, @rule_commit,
 * @endpoint_set, @endpoint_hide, @sid_set and @sid_hide are staged: they
 * prepare generation n + 1 while packets still see n, and @commit makes all of
 * them visible at once. An object may be staged again before the commit; the
 * last call wins. @revert undoes what was staged for one object. All other
 * methods act at once: rows and slots are written before anything refers to
 * them; @policy_del, @endpoint_del, @sid_del and @path_del come after the
 * commit that hid their object; and the state of paths and next hops must not
 * wait.
 *
 * A method returns 0 or a negative errno. -ENOSPC means that a table is full;
 * the module turns it into an extack message that names the table and its size.
 * After an error the implementation must hold what it held before the call.
 * @revert, @endpoint_revert, @sid_revert, @commit, removals of objects that
 * exist and changes of a next hop that exists must not fail; their result is
 * ignored.
 *
 * Ids (@id, @row, @slot, nexthop) are dense, start at 1 (0 means "none") and
 * stay below the limit that the implementation declares. Before an RCU grace
 * period has passed since the commit that changed it last, the caller does not
 * use the id of a removed object again, does not write a bucket row or rule
 * slot that packets may be reading, and does not stage the same path, policy,
 * settings, order of rules, steering prefix or SID again (a revert counts as no
 * change). So an implementation may keep two copies of each object, with the
 * generation from which on the newer one is valid.
 *
 * @path_state and @nexthop_set may be called from softirq; all others are
 * called from process context, one at a time.
 */
#ifndef _SRPOL_DP_H
#define _SRPOL_DP_H

#define SRPOL_SEGS_MAX		16	/* SIDs in one segment list */
#define SRPOL_REWRITE_MAX	384	/* Ethernet 14, IPv6 40, SRH 8 + 16*16, TLVs */
#define SRPOL_SR_DOMAIN_MAX	8	/* prefixes of the SR domain */

/*
 * TLV that every packet fills in; offsets from its first byte, all fields
 * big-endian.
 */
#define SRPOL_TIMESTAMP_TYPE	124	/* RFC 8754 8.2: experimentation */
#define SRPOL_TIMESTAMP_LEN		16	/* type and length bytes included */
#define SRPOL_TIMESTAMP_PATH	2	/* u16, written by the module */
#define SRPOL_TIMESTAMP_SEQ		4	/* u32, per path */
#define SRPOL_TIMESTAMP_TIME	8	/* u64, CLOCK_TAI, ns */

/* Flow label under path-id label: the id, then bits of the flow's hash. */
#define SRPOL_LABEL_ID_SHIFT	6
#define SRPOL_ROW_BUCKETS	128	/* buckets in one bucket row */
#define SRPOL_BUCKETS_MAX	1024	/* buckets of one policy */
#define SRPOL_DP_PATHS_MAX	65536	/* path ids are below, so that rows stay small */
#define SRPOL_OPCODES		256	/* BTH opcodes */

/*
 * Which packet fields, beside those of every flow key, affect how a flow is
 * classified.
 */
#define SRPOL_KEY_OPCODE	(1u << 0)
#define SRPOL_KEY_MARK		(1u << 1)
#define SRPOL_KEY_DSCP		(1u << 2)
#define SRPOL_KEY_DEV		(1u << 3)
#define SRPOL_KEY_PKEY		(1u << 4)
#define SRPOL_KEY_VLAN		(1u << 5)
#define SRPOL_KEY_CGROUP	(1u << 6)

/* Which fields of struct srpol_dp_rule a packet has to match. */
#define SRPOL_MATCH_DEV		(1u << 0)
#define SRPOL_MATCH_MARK	(1u << 1)
#define SRPOL_MATCH_SRC		(1u << 2)
#define SRPOL_MATCH_DST		(1u << 3)
#define SRPOL_MATCH_PROTO	(1u << 4)
#define SRPOL_MATCH_SPORT	(1u << 5)
#define SRPOL_MATCH_DPORT	(1u << 6)
#define SRPOL_MATCH_QP		(1u << 7)
#define SRPOL_MATCH_OPCODE	(1u << 8)
#define SRPOL_MATCH_DSCP	(1u << 9)
#define SRPOL_MATCH_PKEY	(1u << 10)
#define SRPOL_MATCH_VLAN	(1u << 11)
#define SRPOL_MATCH_CGROUP	(1u << 12)

#define SRPOL_MODE_INHERIT	0xff	/* a rule leaves the mode to the policy */

/* Bits of @flags of struct srpol_dp_policy. */
#define SRPOL_POLICY_SYMMETRIC	(1u << 0)
#define SRPOL_POLICY_RANDOM	(1u << 1)	/* spray: random */
#define SRPOL_POLICY_EVEN	(1u << 2)	/* all weights are the same */

/**
 * struct srpol_dp_config - global settings of one namespace
 * @flow_label: enum srpol_flow_label: how the outer flow label is made
 * @dscp_mode: enum srpol_dscp_mode: outer DSCP copied from inside or fixed
 * @dscp: outer DSCP (0..63) when @dscp_mode is pipe
 * @icmp_errors: non-zero: answer too-big packets with Packet Too Big /
 *	Fragmentation Needed
 * @path_id: enum srpol_path_id; the tag is in the rewrite strings already,
 *	the label is up to the data plane
 * @psn_observer: non-zero: follow the PSNs of incoming RoCEv2 flows
 * @n_domain: prefixes in @domain, 0: no filter
 * @n_blocks: how many of them, the first ones, are SID blocks
 * @drop_events: most drops reported per second and CPU
 * @stack_forwards: non-zero: decapsulated packets are always forwarded by the
 *	stack, never by remembered routes
 * @reserved: 0
 * @domain: prefixes of the SR domain: packets to a local SID must come from one
 *	of them, packets from host ports must not go to one of the SID blocks
 */
struct srpol_dp_config {
	__u8 flow_label;
	__u8 dscp_mode;
	__u8 dscp;
	__u8 icmp_errors;
	__u8 path_id;
	__u8 psn_observer;
	__u8 n_domain;
	__u8 n_blocks;
	__u32 drop_events;
	__u8 stack_forwards;
	__u8 reserved[3];
	struct {
		__u8 prefix[16];
		__u8 mask[16];
	} domain[SRPOL_SR_DOMAIN_MAX];
};

/**
 * struct srpol_dp_nexthop - an egress device and the neighbor behind it
 * @id: dense id
 * @ifindex: egress device
 * @up: non-zero while device and neighbor can forward; a path over a next hop
 *	that is not up is down, whatever its own state
 */
struct srpol_dp_nexthop {
	__u32 id;
	__u32 ifindex;
	__u32 up;
};

/**
 * struct srpol_dp_path - a segment list compiled for forwarding
 * @id: dense id, also the index of the path's counters
 * @nexthop: id of the next hop
 * @up: non-zero if the path may be used once it is committed; whatever this
 *	says, path_state takes the path out of use at once
 * @mtu: MTU of the egress device, bytes, outer header included
 * @encap_len: bytes of outer IPv6 and SRH in @rewrite
 * @timestamp_off: offset in @rewrite of the TLV each packet fills in, 0 none
 * @rewrite: Ethernet header (14) and @encap_len bytes of outer headers in
 *	network order, complete but for payload length, traffic class, flow
 *	label and the next header that names the inner packet
 * @nh_off: offset in @rewrite of the byte that names the inner protocol
 *	(IPv6 next header or SRH next header): 4 or 41
 */
struct srpol_dp_path {
	__u32 id;
	__u32 nexthop;
	__u32 up;
	__u32 mtu;
	__u16 encap_len;
	__u16 nh_off;
	__u16 timestamp_off;
	__u16 reserved;
	__u8 rewrite[SRPOL_REWRITE_MAX];
};

/**
 * struct srpol_dp_row - SRPOL_ROW_BUCKETS consecutive buckets
 * @row: dense row number; a policy of n buckets uses n / SRPOL_ROW_BUCKETS
 *	consecutive rows
 * @path: path id of each bucket
 */
struct srpol_dp_row {
	__u32 row;
	__u16 path[SRPOL_ROW_BUCKETS];
};

/**
 * struct srpol_dp_policy - a policy as the data plane sees it
 * @id: dense id, also the index of the policy's counters
 * @color: RFC 9256 color
 * @endpoint: RFC 9256 endpoint, IPv4 as v4-mapped, :: for the null endpoint
 * @row: first bucket row of the live table
 * @n_buckets: size of the table, a power of two, or 0: no usable path
 * @mode: enum srpol_lb_mode
 * @drop_upon_invalid: non-zero: drop the packets while no path is up, else pass
 *	them
 * @backup: id of the policy to try when no path of this one is up, 0: none
 * @flags: SRPOL_POLICY_*
 * @flowlet_timeout_ns: idle time after which a flow may move
 * @threshold: number of recent congestion signals that make a path bad
 * @dwell_time_ms: how long a move of a flow must be pending, as its path is bad
 *	or its primary path is good again, before it moves without an idle time
 * @wait_to_restore_ms: mode on-congestion: how long after the last signal
 *	packets are encapsulated
 *
 * In mode active-backup the buckets are not shares: they list the paths in the
 * order in which they are to be tried, over and over.
 */
struct srpol_dp_policy {
	__u32 id;
	__u32 color;
	__u8 endpoint[16];
	__u32 row;
	__u32 n_buckets;
	__u32 mode;
	__u32 drop_upon_invalid;
	__u32 backup;
	__u32 flags;
	__u32 flowlet_timeout_ns;
	__u32 threshold;
	__u32 dwell_time_ms;
	__u32 wait_to_restore_ms;
};

/**
 * struct srpol_dp_rule - one rule
 * @slot: dense slot the rule is stored in
 * @id: index of the rule's counters
 * @priority: a rule with a lower one is tried first (the order table carries
 *	the order)
 * @match: SRPOL_MATCH_* bits; a field without its bit is ignored
 * @color: color the flow gets, 0 for bypass (leave the packet alone)
 * @ifindex: device the packet is seen on: the uplink it leaves by or the host
 *	port it came in by
 * @mark: value of (skb mark & @mark_mask)
 * @mark_mask: see @mark
 * @src: inner source, v4-mapped for IPv4, bits outside @src_mask are 0
 * @src_mask: see @src
 * @dst: inner destination, likewise
 * @dst_mask: see @dst
 * @sport: UDP/TCP source port range, host order, inclusive
 * @dport: UDP/TCP destination port range
 * @qp: destination QP range
 * @opcodes: bitmap of BTH opcodes, bit n of word n / 64
 * @pkey: BTH partition key
 * @proto: inner transport protocol
 * @dscp: inner DSCP, 0..63
 * @cgroup: id of a cgroup of the sender, or of one above it
 * @cgroup_level: depth of that cgroup, the root is 0
 * @vlan: id of the outermost VLAN tag, 0: none
 * @mode: enum srpol_lb_mode or SRPOL_MODE_INHERIT
 * @ordering: enum srpol_ordering
 * @path: id of the path that its flows take, in mode hash, while it is usable
 *	and has a bucket of their policy; 0: none
 */
struct srpol_dp_rule {
	__u32 slot;
	__u32 id;
	__u32 priority;
	__u32 match;
	__u32 color;
	__u32 ifindex;
	__u32 mark;
	__u32 mark_mask;
	__u8 src[16];
	__u8 src_mask[16];
	__u8 dst[16];
	__u8 dst_mask[16];
	__u16 sport[2];
	__u16 dport[2];
	__u32 qp[2];
	__u64 opcodes[SRPOL_OPCODES / 64];
	__u16 pkey;
	__u8 proto;
	__u8 dscp;
	__u32 cgroup_level;
	__u64 cgroup;
	__u16 vlan;
	__u8 mode;
	__u8 ordering;
	__u32 path;
};

/**
 * struct srpol_dp_rule_table - the order in which rules are tried
 * @n: number of rules
 * @key: SRPOL_KEY_* bits: fields that any rule matches on beside addresses,
 *	ports and QP, and that so must be part of the flow key
 * @opclass: for each opcode the number of its equivalence class under the
 *	present rules (all 0 when no rule matches on opcodes)
 * @slot: kernel pointer to @n rule slots in order of priority
 */
struct srpol_dp_rule_table {
	__u32 n;
	__u32 key;
	__u8 opclass[SRPOL_OPCODES];
	const __u32 *slot;
};

/**
 * struct srpol_dp_endpoint - inner destination prefix to policy endpoint
 * @prefix: v4-mapped for IPv4, host bits 0
 * @prefix_len: 0..128, IPv4 as 96 + length
 * @endpoint: RFC 9256 endpoint
 */
struct srpol_dp_endpoint {
	__u8 prefix[16];
	__u32 prefix_len;
	__u8 endpoint[16];
};

/**
 * struct srpol_dp_sid - a local SID
 * @id: dense id, also the index of the SID's counters
 * @sid: the SID, bits beyond @prefix_len are 0
 * @behavior: enum srpol_behavior (IANA code point)
 * @prefix_len: bits of locator and function; the longest match counts
 * @block_len: bits of the locator block (NEXT-CSID behaviors)
 * @nexthop: id of the next hop of the adjacency, 0: none; if it is not up, the
 *	packet is dropped
 * @l2: destination and source Ethernet address towards the adjacency
 * @policy: id of the policy whose binding SID it is, 0 none
 * @uniform: 1: the inner DSCP becomes the outer one, 0: it stays
 */
struct srpol_dp_sid {
	__u32 id;
	__u8 sid[16];
	__u32 behavior;
	__u32 prefix_len;
	__u32 block_len;
	__u32 nexthop;
	__u8 l2[12];
	__u32 policy;
	__u32 uniform;
};

/**
 * struct srpol_dp_dev - a device srpol is attached to
 * @ifindex: the device
 * @role: enum srpol_dev_role
 * @port: ifindex of the device by which packets of a port come in: the port
 *	itself, or the other end of a virtual port; 0: it is no port
 * @source: enum srpol_source_check
 */
struct srpol_dp_dev {
	__u32 ifindex;
	__u32 role;
	__u32 port;
	__u32 source;
};

#define SRPOL_QUOTE_INNER	128	/* bytes of a quoted packet */

/**
 * struct srpol_dp_quote - the part of a packet on a path that an ICMPv6 error
 *	quotes
 * @path: id of the path that would have written its outer headers
 * @flow_label: flow label of the outer IPv6 header
 * @len: bytes in @inner
 * @inner: the inner packet, cut off
 */
struct srpol_dp_quote {
	__u32 path;
	__u32 flow_label;
	__s32 len;
	__u8 inner[SRPOL_QUOTE_INNER];
};

/**
 * enum srpol_dp_target - what @revert undoes
 * @SRPOL_DP_CONFIG: settings
 * @SRPOL_DP_PATH: a path, by id; one that was new is removed
 * @SRPOL_DP_POLICY: a policy, by id; one that was new is removed, with its
 *	index entry
 * @SRPOL_DP_RULES: order of rules
 */
enum srpol_dp_target {
	SRPOL_DP_CONFIG,
	SRPOL_DP_PATH,
	SRPOL_DP_POLICY,
	SRPOL_DP_RULES,
};

/**
 * struct srpol_dp_ops - methods and limits of a data plane
 * @reset: forget everything; called first at registration
 * @config_set: staged: settings
 * @nexthop_set: create or change a next hop
 * @nexthop_del: remove a next hop no path uses
 * @path_set: staged: create or replace a path
 * @path_state: a path went up or down
 * @path_del: remove a path no bucket uses
 * @row_set: fill a bucket row that no live policy uses
 * @policy_set: staged: create or change a policy, and switch its bucket table
 * @policy_hide: staged: color and endpoint do not lead to this policy any more
 * @policy_del: remove a hidden policy
 * @rule_set: fill an unused rule slot
 * @rule_commit: staged: a new order of rules
 * @endpoint_set: staged: create or change a steering prefix
 * @endpoint_hide: staged: as if the prefix were not there
 * @endpoint_del: remove a hidden steering prefix
 * @endpoint_revert: undo what was staged for a prefix; a new one is removed
 * @sid_set: staged: create or change a local SID
 * @sid_hide: staged: as if the SID were not there
 * @sid_del: remove a hidden local SID
 * @sid_revert: undo what was staged for a SID; a new one is removed
 * @dev_set: a device was attached
 * @dev_del: a device was detached
 * @revert: undo what was staged: enum srpol_dp_target and id (0 if there is
 *	only one of the type)
 * @commit: make what was staged visible to packets; with an argument other than
 *	0, flows are classified again, at that same point
 * @quote_check: optional, called under a spinlock: 0 if the data plane would
 *	write this flow label for this inner packet, or cannot tell; else the
 *	ICMPv6 error that quotes them was forged
 * @max_paths: path ids are below this
 * @max_nexthops: next hop ids are below this
 * @max_policies: policy ids are below this
 * @max_rows: bucket rows are below this
 * @max_rules: rule slots are below twice this, rule ids below this
 * @max_endpoints: number of steering prefixes
 * @max_sids: SID ids are below this
 * @max_devs: number of devices
 * @name: name of the implementation
 */
struct srpol_dp_ops {
	int (*reset)(void);
	int (*config_set)(const struct srpol_dp_config *cfg);
	int (*nexthop_set)(const struct srpol_dp_nexthop *nh);
	int (*nexthop_del)(__u32 id);
	int (*path_set)(const struct srpol_dp_path *path);
	int (*path_state)(__u32 id, __u32 up);
	int (*path_del)(__u32 id);
	int (*row_set)(const struct srpol_dp_row *row);
	int (*policy_set)(const struct srpol_dp_policy *policy);
	int (*policy_hide)(const struct srpol_dp_policy *policy);
	int (*policy_del)(const struct srpol_dp_policy *policy);
	int (*rule_set)(const struct srpol_dp_rule *rule);
	int (*rule_commit)(const struct srpol_dp_rule_table *table);
	int (*endpoint_set)(const struct srpol_dp_endpoint *ep);
	int (*endpoint_hide)(const struct srpol_dp_endpoint *ep);
	int (*endpoint_del)(const struct srpol_dp_endpoint *ep);
	int (*endpoint_revert)(const struct srpol_dp_endpoint *ep);
	int (*sid_set)(const struct srpol_dp_sid *sid);
	int (*sid_hide)(const struct srpol_dp_sid *sid);
	int (*sid_del)(const struct srpol_dp_sid *sid);
	int (*sid_revert)(const struct srpol_dp_sid *sid);
	int (*dev_set)(const struct srpol_dp_dev *dev);
	int (*dev_del)(__u32 ifindex);
	int (*revert)(__u32 target, __u32 id);
	int (*commit)(__u32 reclassify);
	int (*quote_check)(const struct srpol_dp_quote *quote);
	__u32 max_paths;
	__u32 max_nexthops;
	__u32 max_policies;
	__u32 max_rows;
	__u32 max_rules;
	__u32 max_endpoints;
	__u32 max_sids;
	__u32 max_devs;
	char name[16];
};

#endif /* _SRPOL_DP_H */
