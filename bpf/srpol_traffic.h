/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layout of the pinned maps, continued: what packets leave behind. That is
 * flows and their bindings, quality of paths, what was received, errors, drops
 * and counters. Included by srpol_maps.h, which has the sizes of the tables.
 */
#ifndef _SRPOL_TRAFFIC_H
#define _SRPOL_TRAFFIC_H

/**
 * struct srpol_flow_key - what identifies a flow
 * @saddr: inner source, v4-mapped for IPv4
 * @daddr: inner destination
 * @qp: RoCEv2: destination QP; else destination port, host order
 * @sport: source port, host order
 * @proto: inner transport protocol
 * @roce: 1 for RoCEv2
 * @mark: packet mark if SRPOL_KEY_MARK, else 0
 * @ifindex: device if SRPOL_KEY_DEV or if it came in by a port, else 0
 * @pkey: BTH P_Key if SRPOL_KEY_PKEY, else 0
 * @vlan: VLAN id if SRPOL_KEY_VLAN, else 0
 * @opclass: equivalence class of the BTH opcode
 * @dscp: inner DSCP if SRPOL_KEY_DSCP, else 0
 * @from: bit 0: it is fragments; other bits: id of the binding SID that it came
 *	to, 0: none
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
	__u16 from;
	__u64 cgroup;
};

/* Words of 8 bytes in a key, by which keys are compared and hashed. */
#define SRPOL_FLOW_WORDS	(sizeof(struct srpol_flow_key) / sizeof(__u64))

/*
 * Is a word hashed by halves? The addresses are: of all other words one at most has
 * top bits that a sender chooses (protocol and source port).
 */
#define srpol_flow_halved(i)	((i) < 4)
#define SRPOL_FLOW_MIXES	(SRPOL_FLOW_WORDS + 4)

#define SRPOL_PSN_UNKNOWN	(~0u)
#define SRPOL_OFFERS_MAX	40	/* see srpol_psn_due() */

/**
 * union srpol_flow_head - which flow an entry of the flow table holds
 * @tag: 16 bits of the hash of its key: odd if there is a flow; else
 *	SRPOL_TAG_FREE or, while the entry is being filled, SRPOL_TAG_CLAIMED
 * @how: SRPOL_HOW_*: how its packets choose a path
 * @turn: incremented whenever the entry is claimed or freed
 * @epoch: epoch that the flow was classified in
 * @word: all of these, read and written in one access
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

/* Bits of @how of union srpol_flow_head. */
#define SRPOL_HOW_MODE		0x07	/* enum srpol_lb_mode */
#define SRPOL_HOW_INHERIT	0x07	/* the policy's mode */
#define SRPOL_HOW_ORDERING	0x18	/* enum srpol_ordering */
#define SRPOL_HOW_INSIDE	0x20	/* to a local SID or into a SID block */
#define SRPOL_HOW_LOCAL		0x40	/* from a port, for this host itself */
/* from a port, with a source not behind it */
#define SRPOL_HOW_SPOOFED	0x80

/* A packet of these flows is not steered if it came in by a port. */
#define SRPOL_HOW_NOT_FOR_PORTS	(SRPOL_HOW_INSIDE | SRPOL_HOW_LOCAL | \
				 SRPOL_HOW_SPOOFED)

/**
 * union srpol_flow_cache - what packets of a known flow are steered by
 * @policy: policy id, 0: not steered
 * @path: the flow's own path in that policy, 0: none yet; if @policy is 0, enum
 *	srpol_reason why it is not steered
 * @version: srpol_version() of the policy's table that @path was found in:
 *	while that table is valid, the flow keeps its path
 * @word: all of these, read and written in one access, so that a path never
 *	comes with another policy than the one it was selected for
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
 * struct srpol_flow_set - map "flow_sets": the tags of a set of the flow table
 * @tag: tag of entry SRPOL_FLOW_SLOTS * set + n of map "flows"; a hint only, as
 *	the @head of that entry decides
 */
struct srpol_flow_set {
	__u16 tag[SRPOL_FLOW_SLOTS];
};

/**
 * struct srpol_flow - map "flows": a flow, or what most of its packets need of
 *	it: two cache lines, so that many flows fit into the cache and the TLB.
 *	The rest is in map "flow_details"; mode adaptive, and packets that
 *	request an ACK, look there as well. Entries from SRPOL_MAX_FLOWS on are
 *	spare ones, each shared by some CPUs, for packets whose flow finds no
 *	entry. What modes read of the flow is set for the packet that is steered;
 *	all else there belongs to no flow.
 * @head: which flow it is, and whether the entry is valid
 * @cache: what its packets are steered by
 * @key: its key
 * @hash: position on the bucket table, as a fraction of 2^32
 * @tuple_hash: hash of addresses and ports (flow label)
 * @rule_id: index of the rule's counters, 0: no rule matched
 * @path: path that the last packet took, 0 if it was not steered
 * @psn_next: PSN that the next packet of the QP should have, or
 *	SRPOL_PSN_UNKNOWN
 * @packets: packets seen; approximate if several CPUs send one flow
 * @bytes: bytes of inner packets; likewise
 * @last_ns: CLOCK_MONOTONIC of the last packet; coarse, unless the mode needs
 *	it exact
 * @tick: low word of the jiffies of the last packet
 * @port_gen: state of the kernel's routes in which the port was found to be
 *	allowed to send it
 */
struct srpol_flow {
	union srpol_flow_head head;
	union srpol_flow_cache cache;
	struct srpol_flow_key key;
	__u32 hash;
	__u32 tuple_hash;
	__u16 rule_id;
	__u16 path;
	__u32 psn_next;
	__u64 packets;
	__u64 bytes;
	__u64 last_ns;
	__u32 tick;
	__u32 port_gen;
};

_Static_assert(sizeof(struct srpol_flow) == 128, "lines of the cache");

/**
 * struct srpol_flow_detail - map "flow_details": what is rarely used of the flow
 *	in the entry of the same number of map "flows"
 * @pending_ns: mode adaptive: since when a move is pending, 0: none is
 * @policy: policy id, 0: not steered
 * @offer_tick: low word of the jiffies when it was last tried to learn the QP,
 *	see struct srpol_psn_key
 * @mode: enum srpol_lb_mode if the rule sets one, else SRPOL_MODE_INHERIT
 * @ordering: enum srpol_ordering
 * @verdict: enum srpol_reason why the flow is not steered if @policy is 0, else
 *	0
 * @bound: the QP is in map "bindings"
 * @offers: how often it was tried in vain to learn the QP, up to
 *	SRPOL_OFFERS_MAX
 * @reserved: 0
 * @rule_path: path that its rule names, 0: none
 * @retransmits: packets whose PSN was below @psn_next
 * @flowlets: idle times after which the flow could have moved
 * @moves: how often it took another path than before; not counted for spray
 * @cnp: congestion notifications received for it
 * @nak: NAKs for a PSN sequence error: the peer saw packets out of order, or
 *	some were lost
 * @reserved2: 0
 */
struct srpol_flow_detail {
	__u64 pending_ns;
	__u32 policy;
	__u32 offer_tick;
	__u8 mode;
	__u8 ordering;
	__u8 verdict;
	__u8 bound;
	__u8 offers;
	__u8 reserved;
	__u16 rule_path;
	__u32 retransmits;
	__u32 flowlets;
	__u32 moves;
	__u32 cnp;
	__u32 nak;
	__u32 reserved2;
};

/**
 * struct srpol_tick - value of per-CPU array "tick_time": when the CPU last read
 *	the coarse clock
 * @ns: CLOCK_MONOTONIC, coarse
 * @tick: low word of the jiffies of that moment
 * @reserved: 0
 */
struct srpol_tick {
	__u64 ns;
	__u32 tick;
	__u32 reserved;
};

/* Half-life of srpol_quality.level and of srpol_quality.load: 2^n ns. */
#define SRPOL_LEVEL_SHIFT	27
#define SRPOL_LOAD_SHIFT	20
#define SRPOL_LEVEL_UNIT	256	/* one congestion signal */

/**
 * struct srpol_quality - map "path_quality", by path id: how well a path does.
 *	XDP writes it when congestion is signaled; the modes that choose by
 *	quality read it. It does not say whether the path is up.
 * @level: recent congestion signals in units of SRPOL_LEVEL_UNIT, as of
 *	@level_ns; half of it decays in 2^SRPOL_LEVEL_SHIFT ns
 * @penalty: added to @level, same unit; does not decay. Written by nothing of
 *	srpol: for engines that know more of a path
 * @level_ns: CLOCK_MONOTONIC (coarse)
 * @cnp: congestion notifications for QPs on this path
 * @nak: NAKs for a PSN sequence error, likewise
 * @load: bytes sent recently by flows that choose by quality, as of @load_ns
 * @load_ns: CLOCK_MONOTONIC
 * @seq: last sequence number of the timestamp TLV
 * @reserved: 0
 */
struct srpol_quality {
	__u32 level;
	__u32 penalty;
	__u64 level_ns;
	__u64 cnp;
	__u64 nak;
	__u64 load;
	__u64 load_ns;
	__u32 seq;
	__u32 reserved;
};

/**
 * struct srpol_contention - map "contention", by policy id: congestion signals
 *	about its flows, for mode on-congestion
 * @last_ns: CLOCK_MONOTONIC (coarse) of the last one, 0: none; the engine may
 *	write it, too
 * @signals: number of signals
 */
struct srpol_contention {
	__u64 last_ns;
	__u64 signals;
};

/**
 * struct srpol_qp_key - a local QP and the address of its peer; key of LRU hash
 *	maps "bindings" and "rx_flows"
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
 * struct srpol_binding - value of map "bindings": the flow that a local QP
 *	sends. RC packets name the destination QP only; what comes back (ACK,
 *	CNP) names the local one. Learned from an ACK for a PSN that a packet of
 *	the flow requested it for, or written by user space from RDMA netlink.
 * @flow: key of the flow in map "flows"
 * @source: 0: learned, 1: RDMA netlink
 * @reserved: 0
 */
struct srpol_binding {
	struct srpol_flow_key flow;
	__u32 source;
	__u32 reserved;
};

/**
 * struct srpol_psn_key - key of LRU hash map "psn_seen", a PSN for which an ACK
 *	was requested; value: struct srpol_flow_key of the flow that did, to
 *	learn its QP
 * @local: address of this host, v4-mapped for IPv4
 * @peer: address of the peer
 * @psn: the PSN
 */
struct srpol_psn_key {
	__u8 local[16];
	__u8 peer[16];
	__u32 psn;
};

/**
 * struct srpol_rx_flow - value of LRU hash map "rx_flows": PSNs of packets that
 *	come in for a local QP, if config psn-observer is on
 * @psn_next: PSN expected next
 * @reordered: packets with a lower PSN, retransmissions included
 * @gaps: packets with a higher PSN
 * @max_gap: most PSNs skipped at once
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
 * struct srpol_ce_key - key of LRU hash map "ce_peers": the sender, and the
 *	path, of packets that arrived with CE in the outer header
 * @peer: outer source
 * @path: path id that the peer wrote (timestamp TLV, else as config path-id
 *	says), 0: unknown
 * @list: hash of the segment list in the SRH, 0 without one. It starts at 0,
 *	and for each 32-bit word of the list, in order and as in memory, becomes
 *	srpol_hash2(hash, word)
 */
struct srpol_ce_key {
	__u8 peer[16];
	__u32 path;
	__u32 list;
};

/**
 * struct srpol_ce - value of map "ce_peers"
 * @ce: packets that arrived with CE
 * @last_ns: CLOCK_MONOTONIC (coarse) of the last one
 */
struct srpol_ce {
	__u64 ce;
	__u64 last_ns;
};

/* What an error is about: @kind of struct srpol_error_key. */
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
 * @id: id of the SID, policy or path that the reason is about, 0: none
 * @saddr: source, as far as known: inner at egress, outer at ingress
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
 * struct srpol_explain - what program "explain" writes over the start of the
 *	packet that it is run on: the decision about it. Nothing is counted and
 *	no flow is made.
 * @parsed: 0: srpol_egress would not look further, @reason says why
 * @reason: enum srpol_reason: STEERED, or why the packet would not be
 * @rule_id: id of the rule, 0: none
 * @priority: priority of the rule
 * @color: color that the rule sets, 0: bypass
 * @policy: policy id, 0: none
 * @used_policy: policy that the path is of: @policy or its backup
 * @mode: enum srpol_lb_mode in force
 * @ordering: enum srpol_ordering
 * @bucket: bucket of the flow's hash
 * @path: path that the packet would take now; in mode spray, that of one of
 *	many packets
 * @primary: path of that bucket
 * @skipped: non-zero: @primary is down
 * @cached: non-zero: the flow is in map "flows", and @path is as it has it
 * @rules: number of rules tried until one matched
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

#endif /* _SRPOL_TRAFFIC_H */
