/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layout of the pinned maps: the FIB of srpol and what packets leave behind.
 * Shared by the eBPF programs and by every user-space reader (lib/), so only
 * fixed-width types, no implicit padding. Include UAPI srpol.h and
 * srpol/dp.h first.
 *
 * DOC: generations
 *
 * Objects that are replaced while packets read them hold two copies and a word
 * @ver: the generation from which one of them counts, times two, plus the
 * index of that copy. Up to the generation before it the other copy counts.
 * A packet reads the present generation once, from struct srpol_state, and
 * sees every object as of that generation; a change is written to the copy
 * that does not count and given the next generation, and the store of the
 * next generation makes all such changes visible at one point. The contract in
 * srpol/dp.h gives readers a grace period to leave a copy before it is written
 * again. srpol_copy() below is the whole rule.
 */
#ifndef _SRPOL_MAPS_H
#define _SRPOL_MAPS_H

#include "srpol_reasons.h"

#define SRPOL_PIN_ROOT		"/sys/fs/bpf/srpol"

/* Default table sizes; they are what the object declares as its limits. */
#define SRPOL_MAX_PATHS		16384
#define SRPOL_MAX_NEXTHOPS	1024
#define SRPOL_MAX_POLICIES	16384
#define SRPOL_MAX_ROWS		32768
#define SRPOL_MAX_RULES	4096
#define SRPOL_MAX_ENDPOINTS	16384
#define SRPOL_MAX_SIDS		1024
#define SRPOL_MAX_DEVS		64
#define SRPOL_MAX_HOST_ADDRS	256
#define SRPOL_FLOW_SET_BITS	14
#define SRPOL_FLOW_SETS		(1u << SRPOL_FLOW_SET_BITS)
#define SRPOL_FLOW_SLOTS	8u	/* of a set */
#define SRPOL_MAX_FLOWS		(SRPOL_FLOW_SETS * SRPOL_FLOW_SLOTS)
#define SRPOL_FLOW_SPARES	64u	/* for packets whose flow finds no slot */
#define SRPOL_FLOW_ENTRIES	(SRPOL_MAX_FLOWS + SRPOL_FLOW_SPARES)
#define SRPOL_MAX_RX_FLOWS	32768
#define SRPOL_MAX_BINDINGS	16384
#define SRPOL_MAX_PSN_SEEN	4096
#define SRPOL_MAX_CE_PEERS	4096
#define SRPOL_MAX_ERRORS	8192
#define SRPOL_DROPS_BYTES	(256 * 1024)

/**
 * srpol_copy - which copy of an object counts
 * @ver: the object's version word
 * @gen: present generation
 *
 * Generations wrap around at 2^31; what is compared is never that far apart.
 *
 * Return: 0 or 1.
 */
static inline __attribute__((always_inline)) __u32 srpol_copy(__u32 ver,
							      __u32 gen)
{
	__u32 future = (__s32)((gen << 1) - (ver & ~1u)) < 0;

	return (ver & 1) ^ future;
}

/**
 * srpol_version - tell what counts now from what counted before
 * @ver: the object's version word
 * @gen: present generation
 *
 * Return: a number that changes with each copy that comes to count.
 */
static inline __attribute__((always_inline)) __u32 srpol_version(__u32 ver,
								 __u32 gen)
{
	return (ver & ~1u) | srpol_copy(ver, gen);
}

/**
 * struct srpol_state - map "state", one entry: what every packet looks at
 * @epoch: flows classified under another epoch are classified again; written
 *	together with @gen, in one store of 8 bytes
 * @gen: present generation, see DOC: generations
 * @cfg_ver: version word of @cfg
 * @order_ver: version word of the two entries of map "rule_order"
 * @n_sid_prefixes: number of entries in map "sid_prefixes"
 * @reserved: 0
 * @cfg: settings
 */
struct srpol_state {
	__u32 epoch;
	__u32 gen;
	__u32 cfg_ver;
	__u32 order_ver;
	__u32 n_sid_prefixes;
	__u32 reserved;
	struct srpol_dp_config cfg[2];
};

/**
 * struct srpol_rule_hint - what tells most packets from a rule's at a glance
 * @slot: slot of the rule
 * @word: word of 8 of the flow key that @mask and @value are about
 * @qp_min: smallest QP
 * @qp_more: largest QP - @qp_min; all there are, if the rule has no range
 * @mask: bits of that word the rule looks at
 * @value: what they must be
 */
struct srpol_rule_hint {
	__u32 slot;
	__u32 word;
	__u32 qp_min;
	__u32 qp_more;
	__u64 mask;
	__u64 value;
};

/**
 * struct srpol_rule_order - map "rule_order", two entries
 * @n: number of rules
 * @key: SRPOL_KEY_* these rules need in the flow key
 * @opclass: equivalence class of each BTH opcode
 * @hint: rules in order of priority
 */
struct srpol_rule_order {
	__u32 n;
	__u32 key;
	__u8 opclass[SRPOL_OPCODES];
	struct srpol_rule_hint hint[SRPOL_MAX_RULES];
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
	__u32 up;
	__u32 mtu;
	__u16 encap_len;
	__u16 nh_off;
	__u16 timestamp_off;
	__u16 reserved[3];
	__u8 rewrite[SRPOL_REWRITE_MAX];
};

/**
 * struct srpol_path - map "paths", by path id
 * @ver: version word of @cfg
 * @up: may be used, if the copy that counts says so too
 * @present: a path has this id
 * @since: generation it is there from; one that is ahead was staged as new
 */
struct srpol_path {
	__u32 ver;
	__u32 up;
	__u32 present;
	__u32 since;
	struct srpol_path_cfg cfg[2];
};

/**
 * struct srpol_row - map "bucket_rows", by row number
 */
struct srpol_row {
	__u16 path[SRPOL_ROW_BUCKETS];
};

_Static_assert(SRPOL_MAX_PATHS <= SRPOL_DP_PATHS_MAX, "srpol_row.path");

/**
 * struct srpol_policy_cfg - see struct srpol_dp_policy
 */
struct srpol_policy_cfg {
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
 * struct srpol_policy - map "policies", by policy id
 * @ver: version word of @cfg
 * @color: its color, 0: no policy has this id
 * @endpoint: its endpoint
 * @since: generation it is there from; one that is ahead was staged as new
 * @reserved: 0
 */
struct srpol_policy {
	__u32 ver;
	__u32 color;
	__u8 endpoint[16];
	__u32 since;
	__u32 reserved;
	struct srpol_policy_cfg cfg[2];
};

/**
 * struct srpol_policy_key - key of hash map "policy_index"
 */
struct srpol_policy_key {
	__u32 color;
	__u8 endpoint[16];
};

/**
 * struct srpol_policy_ref - value of map "policy_index"
 * @ver: version word of @id
 * @id: policy id, 0: none
 */
struct srpol_policy_ref {
	__u32 ver;
	__u32 id[2];
};

/**
 * struct srpol_endpoint - value of LPM map "endpoints"
 * @ver: version word of @present and @addr
 * @len: prefix length of this entry
 * @present: 0: as if this prefix were not there, look for a shorter one
 * @addr: RFC 9256 endpoint, IPv4 as v4-mapped
 */
struct srpol_endpoint {
	__u32 ver;
	__u32 len;
	__u32 present[2];
	__u8 addr[2][16];
};

/**
 * struct srpol_prefix - key of LPM map "endpoints"; also key of hash map
 * "endpoint_index", which holds the same keys so that they can be walked; of
 * LPM map "sid_prefixes" and of hash map "sid_prefix_index" likewise
 */
struct srpol_prefix {
	__u32 len;
	__u8 addr[16];
};

/**
 * struct srpol_sid - what there is to know about a SID, see struct srpol_dp_sid
 */
struct srpol_sid {
	__u32 id;
	__u32 behavior;
	__u32 nexthop;
	__u8 prefix_len;
	__u8 block_len;
	__u8 reserved[2];
	__u8 l2[12];
};

/**
 * struct srpol_sid_entry - value of hash map "sids", key: the 16-byte SID, for
 * SIDs of 128 bits, and of LPM map "sid_prefixes", key: struct srpol_prefix,
 * for shorter ones
 * @ver: version word of @present and @cfg
 * @present: 0: as if this SID were not there, look for a shorter one
 * @len: its prefix length
 * @cfg: what it is
 */
struct srpol_sid_entry {
	__u32 ver;
	__u8 present[2];
	__u8 len;
	__u8 reserved;
	struct srpol_sid cfg[2];
};

/* Addresses of which each processor remembers what they are. */
#define SRPOL_SID_MEMO_BITS	6
#define SRPOL_SID_MEMOS		(1u << SRPOL_SID_MEMO_BITS)

/**
 * struct srpol_sid_memo - per-CPU array "sid_memos", by a hash of the address,
 * and a spare one: what map "sids" or "sid_prefixes" said of it
 * @addr: address, as it is in memory
 * @epoch: epoch of which it is true; a change of SIDs begins a new one
 * @busy: being written
 * @sid: its SID; @sid.id is 0 if it belongs to none
 * @reserved: 0
 */
struct srpol_sid_memo {
	__u64 addr[2];
	__u32 epoch;
	__u32 busy;
	struct srpol_sid sid;
	__u32 reserved;
};

/* Routes each processor remembers. */
#define SRPOL_FIB_BITS		10
#define SRPOL_FIB_ENTRIES	(1u << SRPOL_FIB_BITS)

/**
 * struct srpol_fib_key - what the route of a decapsulated packet depends on
 * @addr: source and destination; IPv4: one word each, 0 and ~0
 * @rest: ports, protocol and ingress device
 */
struct srpol_fib_key {
	__u64 addr[4];
	__u64 rest;
};

/**
 * struct srpol_fib_route - what the kernel's FIB said
 * @ifindex: device, 0: let the stack decide
 * @mtu: largest packet that route takes
 * @macs: destination and source Ethernet address
 * @host: to a virtual port, so that it goes no hop
 */
struct srpol_fib_route {
	__u32 ifindex;
	__u32 mtu;
	__u8 macs[12];
	__u32 host;
};

/**
 * struct srpol_host - value of hash map "host_addrs", key: an address of the
 *	workload's end of a virtual port, v4-mapped for IPv4
 * @ifindex: the other end
 * @mtu: of the pair
 * @macs: of the workload's end and of the other one
 */
struct srpol_host {
	__u32 ifindex;
	__u32 mtu;
	__u8 macs[12];
};

/**
 * struct srpol_fib_entry - per-CPU array "fib_cache", by a hash of the key
 * @key: for which packets
 * @route: the answer
 * @gen: state of the routes it was given in
 * @tick: low word of the jiffies when it was given
 * @used: and when a packet last went by it
 * @busy: being written
 * @reserved: 0
 */
struct srpol_fib_entry {
	struct srpol_fib_key key;
	struct srpol_fib_route route;
	__u64 gen;
	__u32 tick;
	__u32 used;
	__u32 busy;
	__u32 reserved;
};

/**
 * struct srpol_dev - value of hash map "devices", key: ifindex
 * @role: enum srpol_dev_role
 */
struct srpol_dev {
	__u32 role;
};

/**
 * struct srpol_flow_key - what makes a flow
 * @saddr: inner source, v4-mapped for IPv4
 * @daddr: inner destination
 * @qp: RoCEv2: destination QP; else destination port, host order
 * @sport: source port, host order
 * @proto: inner transport protocol
 * @roce: 1 for RoCEv2
 * @mark: packet mark if SRPOL_KEY_MARK, else 0
 * @ifindex: device if SRPOL_KEY_DEV, else 0
 * @pkey: BTH P_Key if SRPOL_KEY_PKEY, else 0
 * @vlan: VLAN id if SRPOL_KEY_VLAN, else 0
 * @opclass: equivalence class of the BTH opcode
 * @dscp: inner DSCP if SRPOL_KEY_DSCP, else 0
 * @reserved: 0
 * @cgroup: cgroup of the sender if SRPOL_KEY_CGROUP, else 0
 */
struct srpol_flow_key {
	__u8 saddr[16];
	__u8 daddr[16];
	__u32 qp;
	__u16 sport;
	__u8 proto;
	__u8 roce;
	__u32 mark;
	__u32 ifindex;
	__u16 pkey;
	__u16 vlan;
	__u8 opclass;
	__u8 dscp;
	__u16 reserved;
	__u64 cgroup;
};

/* Words of 8 in a key, which is compared and hashed by them. */
#define SRPOL_FLOW_WORDS	(sizeof(struct srpol_flow_key) / sizeof(__u64))

#define SRPOL_PSN_UNKNOWN	(~0u)
#define SRPOL_OFFERS_MAX	40	/* see srpol_psn_due() */

/**
 * union srpol_flow_head - which flow is in an entry of the flow table
 * @tag: 16 bits of the hash of its key: odd if there is a flow, else
 *	SRPOL_TAG_FREE or, while the entry is filled, SRPOL_TAG_CLAIMED
 * @how: SRPOL_HOW_*: how its packets choose a path
 * @turn: one more whenever the entry is claimed or freed
 * @epoch: epoch it was classified under
 * @word: all of it, read and written in one access
 */
union srpol_flow_head {
	struct {
		__u16 tag;
		__u8 how;
		__u8 turn;
		__u32 epoch;
	};
	__u64 word;
};

#define SRPOL_TAG_FREE		0u
#define SRPOL_TAG_CLAIMED	2u

/* union srpol_flow_head: @how */
#define SRPOL_HOW_MODE		0x07	/* enum srpol_lb_mode */
#define SRPOL_HOW_INHERIT	0x07	/* the policy's mode */
#define SRPOL_HOW_ORDERING	0x18	/* enum srpol_ordering */
#define SRPOL_HOW_INSIDE	0x20	/* to a local SID or into a SID block */

/**
 * union srpol_flow_cache - what a packet of a known flow is steered by
 * @policy: policy id, 0: not steered
 * @path: the flow's own path in that policy, 0: none yet; enum srpol_reason why
 *	it is not steered, if @policy is 0
 * @version: table of the policy @path was found in, as srpol_version() says:
 *	while that table counts, the flow stays on its path
 * @word: all of it, read and written in one access: a path never comes with
 *	another policy than the one it was chosen for
 */
union srpol_flow_cache {
	struct {
		__u16 policy;
		__u16 path;
		__u32 version;
	};
	__u64 word;
};

_Static_assert(SRPOL_MAX_POLICIES <= 65536 && SRPOL_MAX_PATHS <= 65536,
	       "union srpol_flow_cache");

/**
 * struct srpol_flow_set - map "flow_sets": where in a set a flow may be
 * @tag: that of entry SRPOL_FLOW_SLOTS * set + n of map "flows"; a hint, as
 *	@head there is what counts
 */
struct srpol_flow_set {
	__u16 tag[SRPOL_FLOW_SLOTS];
};

/**
 * struct srpol_flow - map "flows": a flow. Three lines of the cache; the last
 * one is for what happens rarely. Entries from SRPOL_MAX_FLOWS on, one for some
 * processors each, are for packets whose flow finds no entry: what they hold is
 * about no flow and is never read.
 * @head: which flow it is, and whether it counts
 * @cache: what it is steered by
 * @key: its key
 * @hash: position on the bucket table, as a fraction of 2^32
 * @tuple_hash: hash of addresses and ports (flow label)
 * @rule_id: index of the rule's counters, 0: no rule matched
 * @psn_next: PSN the next packet of the QP should have, or SRPOL_PSN_UNKNOWN
 * @packets: packets seen; approximate if several CPUs send one flow
 * @bytes: inner bytes, likewise
 * @last_ns: CLOCK_MONOTONIC of the last packet, coarse but in mode flowlet
 * @tick: low word of the jiffies of the last packet
 * @path: path the last packet took, 0 if it was left alone
 * @pending_ns: mode adaptive: since when a move is pending, 0 none is
 * @policy: policy id, 0: not steered
 * @offer_tick: low word of the jiffies when its QP was last asked for, see
 *	struct srpol_psn_key
 * @mode: enum srpol_lb_mode if the rule says so, else SRPOL_MODE_INHERIT
 * @ordering: enum srpol_ordering
 * @verdict: enum srpol_reason why the flow is not steered, if @policy is 0, else
 *	0
 * @bound: the QP is in map "bindings"
 * @offers: how often its QP was asked for in vain, up to SRPOL_OFFERS_MAX
 * @retransmits: packets whose PSN was below @psn_next
 * @flowlets: idle times after which the flow could have moved
 * @moves: times it took another path than before; not counted for spray
 * @cnp: congestion notifications received for it
 * @nak: NAKs for a PSN sequence error: the peer saw packets out of order, or
 *	lost some
 * @reserved1: 0
 * @reserved2: 0
 */
struct srpol_flow {
	union srpol_flow_head head;
	union srpol_flow_cache cache;
	struct srpol_flow_key key;
	__u32 hash;
	__u32 tuple_hash;
	__u32 rule_id;
	__u32 psn_next;
	__u64 packets;
	__u64 bytes;
	__u64 last_ns;
	__u32 tick;
	__u32 path;

	__u64 pending_ns;
	__u32 policy;
	__u32 offer_tick;
	__u8 mode;
	__u8 ordering;
	__u8 verdict;
	__u8 bound;
	__u8 offers;
	__u8 reserved1[3];
	__u32 retransmits;
	__u32 flowlets;
	__u32 moves;
	__u32 cnp;
	__u32 nak;
	__u32 reserved2[5];
};

_Static_assert(sizeof(struct srpol_flow) == 192 &&
	       __builtin_offsetof(struct srpol_flow, pending_ns) == 128,
	       "lines of the cache");

/* Half-life of srpol_quality.level and of srpol_quality.load: 2^n ns. */
#define SRPOL_LEVEL_SHIFT	27
#define SRPOL_LOAD_SHIFT	20
#define SRPOL_LEVEL_UNIT	256	/* one congestion signal */

/**
 * struct srpol_quality - map "path_quality", by path id: how a path does.
 * Written by XDP when congestion is signalled, and by the engine; read by the
 * modes that ask for quality. Whether a path works is not its matter.
 * @level: recent congestion signals in units of SRPOL_LEVEL_UNIT, as of
 *	@level_ns; counts half after each 2^SRPOL_LEVEL_SHIFT ns
 * @penalty: added to it by the engine, same unit, does not fade
 * @level_ns: CLOCK_MONOTONIC (coarse)
 * @cnp: congestion notifications for QPs on this path
 * @nak: NAKs for a PSN sequence error, likewise
 * @ce: CE marks the peers report; written by the engine
 * @load: bytes sent lately by flows that choose by quality, as of @load_ns
 * @load_ns: CLOCK_MONOTONIC
 * @rtt_ns: round trip; written by the engine
 * @loss_ppm: losses in a million; written by the engine
 * @seq: last sequence number of the timestamp TLV
 */
struct srpol_quality {
	__u32 level;
	__u32 penalty;
	__u64 level_ns;
	__u64 cnp;
	__u64 nak;
	__u64 ce;
	__u64 load;
	__u64 load_ns;
	__u32 rtt_ns;
	__u32 loss_ppm;
	__u32 seq;
	__u32 reserved;
};

/**
 * struct srpol_contention - map "contention", by policy id: congestion signals
 * from its destination, for mode on-congestion
 * @last_ns: CLOCK_MONOTONIC (coarse) of the last one, 0 none; the engine may
 *	write it too
 * @signals: number of them
 */
struct srpol_contention {
	__u64 last_ns;
	__u64 signals;
};

/**
 * struct srpol_qp_key - a local QP and its peer's address; key of LRU hash map
 * "bindings" and, with a source address and QP of the peer, of "rx_flows"
 * @local: address of this host, v4-mapped for IPv4
 * @peer: address of the peer
 * @qp: local QP
 */
struct srpol_qp_key {
	__u8 local[16];
	__u8 peer[16];
	__u32 qp;
};

/**
 * struct srpol_binding - value of map "bindings": the flow a local QP sends.
 * RC packets name the destination QP only; what comes back (ACK, CNP) names
 * ours. Learnt from an ACK whose PSN a packet of the flow asked to have
 * acknowledged, or written by user space from RDMA netlink.
 * @flow: key of the flow in map "flows"
 * @source: 0 learnt, 1 RDMA netlink
 * @reserved: 0
 */
struct srpol_binding {
	struct srpol_flow_key flow;
	__u32 source;
	__u32 reserved;
};

/**
 * struct srpol_psn_key - key of LRU hash map "psn_seen", value: struct
 * srpol_flow_key of a flow whose QP is not bound yet
 */
struct srpol_psn_key {
	__u8 local[16];
	__u8 peer[16];
	__u32 psn;
};

/**
 * struct srpol_rx_flow - value of LRU hash map "rx_flows": PSNs of what comes
 * in for a local QP, if config psn-observer is on
 * @psn_next: PSN expected next
 * @reordered: packets below it, retransmissions included
 * @gaps: times a PSN was above it
 * @max_gap: largest number of PSNs skipped at a time
 * @packets: packets seen
 */
struct srpol_rx_flow {
	__u32 psn_next;
	__u32 reordered;
	__u32 gaps;
	__u32 max_gap;
	__u64 packets;
};

/**
 * struct srpol_ce_key - key of LRU hash map "ce_peers": who sent packets that
 * arrived with outer CE, and by which path
 * @peer: outer source
 * @path: path id the peer wrote (timestamp TLV, else as config path-id says), 0
 *	unknown
 * @list: hash of the segment list in the SRH, 0 without one: from 0 on, each
 *	word of it, as it is in memory and in that order, taken in by
 *	srpol_hash2(hash, word)
 */
struct srpol_ce_key {
	__u8 peer[16];
	__u32 path;
	__u32 list;
};

/**
 * struct srpol_ce - value of map "ce_peers"
 */
struct srpol_ce {
	__u64 ce;
	__u64 last_ns;
};

/* Whose error it is: srpol_error_key.kind */
#define SRPOL_ERROR_PATH	1
#define SRPOL_ERROR_POLICY	2
#define SRPOL_ERROR_SID		3

/**
 * struct srpol_error_key - key of per-CPU hash map "errors", value: u64 count
 * @kind: SRPOL_ERROR_*
 * @reason: enum srpol_reason
 * @id: path, policy or SID id
 */
struct srpol_error_key {
	__u16 kind;
	__u16 reason;
	__u32 id;
};

/**
 * struct srpol_drop_event - record of ring buffer "drops": a dropped packet,
 * one of up to config drop-events per second and CPU
 * @ns: CLOCK_MONOTONIC
 * @reason: enum srpol_reason
 * @ifindex: device
 * @len: bytes from the IP header on
 * @id: SID, policy or path id the reason is about, 0 none
 * @saddr: source as far as known: inner at egress, outer at ingress
 * @daddr: destination
 */
struct srpol_drop_event {
	__u64 ns;
	__u32 reason;
	__u32 ifindex;
	__u32 len;
	__u32 id;
	__u8 saddr[16];
	__u8 daddr[16];
};

/**
 * struct srpol_explain - what the program "explain" writes over the start of
 * the packet it is run on: the decision about it. Nothing is counted and no
 * flow is made.
 * @parsed: 0: srpol_egress would not look further, @reason says why
 * @reason: enum srpol_reason: STEERED or why not
 * @rule_id: rule's id, 0 none
 * @priority: rule's priority
 * @color: color the rule gives, 0 bypass
 * @policy: policy id, 0 none
 * @used_policy: policy the path is of: @policy or its backup
 * @mode: enum srpol_lb_mode in force
 * @ordering: enum srpol_ordering
 * @bucket: bucket of the flow's hash
 * @path: path it would take now; the next of many in mode spray
 * @primary: path of its bucket
 * @skipped: non-zero: the bucket's path is down
 * @cached: non-zero: the flow is in map "flows", and @path is where it is
 * @rules: rules looked at until one matched
 */
struct srpol_explain {
	__u32 parsed;
	__u32 reason;
	__u32 rule_id;
	__u32 priority;
	__u32 color;
	__u32 policy;
	__u32 used_policy;
	__u32 mode;
	__u32 ordering;
	__u32 bucket;
	__u32 path;
	__u32 primary;
	__u32 skipped;
	__u32 cached;
	__u32 rules;
};

/**
 * struct srpol_counter - value of the per-CPU arrays "path_stats",
 * "policy_stats" and "rule_stats", by id
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

#endif /* _SRPOL_MAPS_H */
