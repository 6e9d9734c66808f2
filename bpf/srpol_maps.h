/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layout of the pinned maps: the FIB of srpol and what packets leave behind.
 * Shared by the eBPF programs and by every user-space reader (lib/), so only
 * fixed-width types, no implicit padding. Include UAPI srpol.h and
 * srpol/dp.h first.
 *
 * Objects that are replaced while packets read them hold two copies and the
 * index of the live one; the writer fills the other and switches by one store
 * (the contract in srpol/dp.h gives readers a grace period to leave it).
 */
#ifndef _SRPOL_MAPS_H
#define _SRPOL_MAPS_H

#define SRPOL_PIN_ROOT		"/sys/fs/bpf/srpol"

/* Default table sizes; they are what the object declares as its limits. */
#define SRPOL_MAX_PATHS		16384
#define SRPOL_MAX_NEXTHOPS	1024
#define SRPOL_MAX_POLICIES	4096
#define SRPOL_MAX_ROWS		16384
#define SRPOL_MAX_CLASSES	4096
#define SRPOL_MAX_ENDPOINTS	16384
#define SRPOL_MAX_SIDS		1024
#define SRPOL_MAX_DEVS		64
#define SRPOL_MAX_FLOWS		65536

/**
 * struct srpol_state - map "state", one entry: what every packet looks at
 * @epoch: flows classified under another epoch are classified again;
 *	@epoch_base plus the epoch the module counts
 * @epoch_base: moved past every epoch in use when a data plane registers, so
 *	that flows cached under an earlier registration never look current
 * @cfg_live: live copy in @cfg
 * @order_live: live entry of map "class_order"
 * @cfg: settings
 */
struct srpol_state {
	__u32 epoch;
	__u32 epoch_base;
	__u32 cfg_live;
	__u32 order_live;
	struct srpol_dp_config cfg[2];
};

/**
 * struct srpol_class_order - map "class_order", two entries
 * @n: number of rules
 * @key: SRPOL_KEY_* these rules need in the flow key
 * @opclass: equivalence class of each BTH opcode
 * @slot: rule slots in order of priority
 */
struct srpol_class_order {
	__u32 n;
	__u32 key;
	__u8 opclass[SRPOL_OPCODES];
	__u32 slot[SRPOL_MAX_CLASSES];
};

/**
 * struct srpol_nexthop - map "nexthops", by next hop id
 * @ifindex: egress device
 * @up: 0: every path over it is dead
 */
struct srpol_nexthop {
	__u32 ifindex;
	__u32 up;
};

/**
 * struct srpol_path_cfg - one compiled form of a path, see struct
 * srpol_dp_path
 */
struct srpol_path_cfg {
	__u32 nexthop;
	__u32 mtu;
	__u16 encap_len;
	__u16 nh_off;
	__u32 reserved;
	__u8 rewrite[SRPOL_REWRITE_MAX];
};

/**
 * struct srpol_path - map "paths", by path id
 * @live: live copy in @cfg
 * @up: may be used
 * @present: a path has this id
 */
struct srpol_path {
	__u32 live;
	__u32 up;
	__u32 present;
	__u32 reserved;
	struct srpol_path_cfg cfg[2];
};

/**
 * struct srpol_row - map "bucket_rows", by row number
 */
struct srpol_row {
	__u32 path[SRPOL_ROW_BUCKETS];
};

/**
 * struct srpol_policy_cfg - see struct srpol_dp_policy
 */
struct srpol_policy_cfg {
	__u32 row;
	__u32 n_buckets;
	__u32 mode;
	__u32 on_fail;
	__u32 backup;
	__u32 reserved;
};

/**
 * struct srpol_policy - map "policies", by policy id
 * @live: live copy in @cfg
 * @color: its color, 0: no policy has this id
 */
struct srpol_policy {
	__u32 live;
	__u32 color;
	struct srpol_policy_cfg cfg[2];
};

/**
 * struct srpol_policy_key - key of hash map "policy_index", value: policy id
 */
struct srpol_policy_key {
	__u32 color;
	__u8 endpoint[16];
};

/**
 * struct srpol_endpoint - value of LPM map "endpoints"
 * @addr: RFC 9256 endpoint, IPv4 as v4-mapped
 */
struct srpol_endpoint {
	__u8 addr[16];
};

/**
 * struct srpol_prefix - key of LPM map "endpoints"; also key of hash map
 * "endpoint_index", which holds the same entries so that they can be walked
 */
struct srpol_prefix {
	__u32 len;
	__u8 addr[16];
};

/**
 * struct srpol_sid - value of hash map "sids", key: the 16-byte SID
 */
struct srpol_sid {
	__u32 id;
	__u32 behavior;
};

/**
 * struct srpol_dev - value of hash map "devices", key: ifindex
 * @role: enum srpol_dev_role
 */
struct srpol_dev {
	__u32 role;
};

/**
 * struct srpol_flow_key - key of LRU hash map "flows"
 * @saddr: inner source, v4-mapped for IPv4
 * @daddr: inner destination
 * @qp: RoCEv2: destination QP; else destination port, host order
 * @sport: source port, host order
 * @proto: inner transport protocol
 * @roce: 1 for RoCEv2
 * @mark: packet mark if SRPOL_KEY_MARK, else 0
 * @pkey: BTH P_Key if SRPOL_KEY_PKEY, else 0
 * @opclass: equivalence class of the BTH opcode
 * @dscp: inner DSCP if SRPOL_KEY_DSCP, else 0
 * @ifindex: egress device if SRPOL_KEY_DEV, else 0
 */
struct srpol_flow_key {
	__u8 saddr[16];
	__u8 daddr[16];
	__u32 qp;
	__u16 sport;
	__u8 proto;
	__u8 roce;
	__u32 mark;
	__u16 pkey;
	__u8 opclass;
	__u8 dscp;
	__u32 ifindex;
};

/**
 * struct srpol_flow - value of map "flows"
 * @epoch: epoch of the classification below
 * @hash: place on the bucket table, as a fraction of 2^32
 * @tuple_hash: hash of addresses and ports (flow label)
 * @policy: policy id, 0: not steered
 * @class_id: index of the rule's counters, 0: no rule matched
 * @verdict: enum srpol_reason why the flow is not steered, if @policy is 0
 * @path: path the last packet took
 * @tick: low word of the jiffies when @last_ns was taken
 * @packets: packets seen; approximate if several CPUs send one flow
 * @bytes: inner bytes, likewise
 * @last_ns: CLOCK_MONOTONIC (coarse) of the last packet
 */
struct srpol_flow {
	__u32 epoch;
	__u32 hash;
	__u32 tuple_hash;
	__u32 policy;
	__u32 class_id;
	__u32 verdict;
	__u32 path;
	__u32 tick;
	__u64 packets;
	__u64 bytes;
	__u64 last_ns;
};

/**
 * struct srpol_counter - value of the per-CPU arrays "path_stats",
 * "policy_stats" and "class_stats", by id
 */
struct srpol_counter {
	__u64 packets;
	__u64 bytes;
};

/**
 * struct srpol_sid_stats - value of per-CPU array "sid_stats", by SID id
 * @packets: packets correctly processed (RFC 8986 6)
 * @bytes: their bytes, outer header included
 * @no_srh: of those, packets without an SRH
 * @ce: packets whose inner ECN field was set to CE by decapsulation
 * @dropped: packets to this SID that were dropped, whatever the reason
 */
struct srpol_sid_stats {
	__u64 packets;
	__u64 bytes;
	__u64 no_srh;
	__u64 ce;
	__u64 dropped;
};

/*
 * What can happen to a packet, counted in per-CPU array "reasons" by number.
 * X(number, NAME, drop, text). Numbers are ABI: append only.
 */
#define SRPOL_REASONS(X)						\
	X(0,  STEERED,		0, "encapsulated")			\
	X(1,  NOT_IP,		0, "egress: not IPv4 or IPv6")		\
	X(2,  TUNNELED,		0, "egress: already in an IPv6 tunnel or SRH") \
	X(3,  UNPARSED,		0, "egress: headers cut short or malformed") \
	X(4,  NO_CLASS,		0, "egress: no classifier rule matches") \
	X(5,  BYPASS,		0, "egress: a rule says bypass")	\
	X(6,  NO_POLICY,	0, "egress: no policy for color and endpoint") \
	X(7,  FAIL_PASSTHROUGH,	0, "egress: no live path, passed through") \
	X(8,  FAIL_DROP,	1, "egress: no live path, dropped")	\
	X(9,  DEAD_SKIPPED,	0, "egress: the bucket's path was dead, another taken") \
	X(10, BACKUP,		0, "egress: the backup policy was used") \
	X(11, TOO_BIG,		1, "egress: too big after encapsulation") \
	X(12, NO_ROOM,		1, "egress: no room for the outer header") \
	X(13, ICMP_SENT,	0, "egress: ICMP too-big error sent")	\
	X(14, DECAP,		0, "ingress: decapsulated")		\
	X(15, END,		0, "ingress: End, next segment")	\
	X(16, NOT_LOCAL,	0, "ingress: not for a local SID")	\
	X(17, TRUNCATED,	1, "ingress: packet shorter than its headers say") \
	X(18, BAD_HDRLEN,	1, "ingress: SRH length and last entry disagree") \
	X(19, BAD_SEGMENTS_LEFT, 1, "ingress: segments left beyond last entry") \
	X(20, BAD_ROUTING_TYPE,	1, "ingress: routing header is not an SRH") \
	X(21, NESTED_SRH,	1, "ingress: second routing header")	\
	X(22, EXT_HEADER,	1, "ingress: extension header before the payload") \
	X(23, SEGMENTS_LEFT,	1, "ingress: segments left at a decapsulating SID") \
	X(24, NO_SEGMENTS_LEFT,	1, "ingress: no segments left at an End SID") \
	X(25, UPPER_LAYER,	1, "ingress: payload type not allowed for the SID") \
	X(26, BAD_INNER,	1, "ingress: inner header malformed")	\
	X(27, ECN_DROP,		1, "ingress: outer CE, inner not ECN-capable") \
	X(28, ECN_CE,		0, "ingress: congestion mark copied to the inner header") \
	X(29, ECN_ODD,		0, "ingress: ECN combination worth a look (RFC 6040)") \
	X(30, HOP_LIMIT,	1, "ingress: hop limit exceeded")	\
	X(31, SID_LOOP,		1, "ingress: too many local SIDs in a row") \
	X(32, NO_HEADROOM,	1, "ingress: header adjustment failed")	\
	X(33, LINK_SCOPE,	0, "egress: multicast, link-local or neighbour discovery") \
	X(34, BAD_OUTER,	1, "ingress: outer header is not IPv6")

#define SRPOL_REASON_ENUM(nr, name, drop, text) SRPOL_REASON_##name = nr,
enum srpol_reason {
	SRPOL_REASONS(SRPOL_REASON_ENUM)
	SRPOL_REASON_COUNT
};
#undef SRPOL_REASON_ENUM

#endif /* _SRPOL_MAPS_H */
