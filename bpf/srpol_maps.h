/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layout of the pinned maps: the FIB of srpol, and by srpol_traffic.h, which it
 * includes, what packets leave behind. Shared by the eBPF programs and by every
 * user-space reader (lib/), so only fixed-width types, no implicit padding.
 * Include UAPI srpol.h and srpol/dp.h first.
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
#define SRPOL_MAX_LIMITS	1024
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

/* Of the rule index, DOC: rule index. */
#define SRPOL_INDEX_DIMS	16	/* dimensions there is room for */
#define SRPOL_DIM_VALUES	256
#define SRPOL_INDEX_SETS	(SRPOL_INDEX_DIMS * SRPOL_DIM_VALUES)
#define SRPOL_SET_WORDS		(SRPOL_MAX_RULES / 64)
#define SRPOL_INDEX_WORDS	(SRPOL_INDEX_SETS * SRPOL_SET_WORDS)

/**
 * struct srpol_rule_order - map "rule_order", two entries
 * @n: number of rules
 * @key: SRPOL_KEY_* these rules need in the flow key
 * @opclass: equivalence class of each BTH opcode
 * @n_dims: dimensions of the index
 * @dim: enum srpol_dim each
 * @slot: slots of the rules in order of priority
 */
struct srpol_rule_order {
	__u32 n;
	__u32 key;
	__u8 opclass[SRPOL_OPCODES];
	__u32 n_dims;
	__u8 dim[SRPOL_INDEX_DIMS];
	__u32 slot[SRPOL_MAX_RULES];
};

/**
 * struct srpol_rule_index - map "rule_index", two entries as "rule_order"
 * @all: ~0, which the verifier does not know: it would follow constants through
 *	each round of a loop
 * @any: scratch: the rules that do not look at a dimension
 * @some: by dimension and value, a bit for each word of the set that is not 0
 * @set: likewise, words with a bit for each rule in order of priority
 */
struct srpol_rule_index {
	__u64 all;
	__u64 any[SRPOL_SET_WORDS];
	__u64 some[SRPOL_INDEX_SETS];
	__u64 set[SRPOL_INDEX_WORDS];
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
	__u16 policy;
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

/* Entries of each CPU's cache of which SID an address belongs to. */
#define SRPOL_SID_CACHE_BITS	6
#define SRPOL_SID_CACHE_SIZE	(1u << SRPOL_SID_CACHE_BITS)

/**
 * struct srpol_sid_cache - per-CPU array "sid_cache", by a hash of the address,
 * and a spare one: what map "sids" or "sid_prefixes" said of it
 * @addr: address, as it is in memory
 * @epoch: epoch of which it is true; a change of SIDs begins a new one
 * @busy: being written
 * @sid: its SID; @sid.id is 0 if it belongs to none
 * @reserved: 0
 */
struct srpol_sid_cache {
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

/* Unit of the times of a limit: 1/16 ns, so that short packets count. */
#define SRPOL_LIMIT_SHIFT	4

/**
 * struct srpol_limit - value of hash map "limits", key: color
 * @rate: bit/s of packets without outer headers, 0: no limit
 * @burst: what was not used may be sent later, for so long
 * @horizon: a packet may wait for so long, where it can; then it is dropped
 * @next: when the next packet may leave, CLOCK_MONOTONIC; all processors' packets
 *	take turns here
 * @delayed: packets that were given a time to come
 * @dropped: packets that were dropped
 */
struct srpol_limit {
	__u64 rate;
	__u64 burst;
	__u64 horizon;
	__u64 next;
	__u64 delayed;
	__u64 dropped;
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
 * @port: key in map "ports", 0 none
 */
struct srpol_dev {
	__u32 role;
	__u32 port;
};

/**
 * struct srpol_port - value of hash map "ports", key: ifindex of the device that
 * packets come in by: of a virtual port that is the other end
 * @role: enum srpol_dev_role
 * @source: enum srpol_source_check
 */
struct srpol_port {
	__u32 role;
	__u32 source;
};

#include "srpol_traffic.h"
#include "srpol_probe.h"
#include "srpol_reflect.h"

#endif /* _SRPOL_MAPS_H */
