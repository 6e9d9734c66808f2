/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layout of the pinned maps: the FIB of srpol and, in srpol_traffic.h, which
 * this includes, what packets leave behind. The eBPF programs and all readers
 * in user space (lib/) share it, so that it has only types of fixed width and
 * no implicit padding. Include the UAPI srpol.h and srpol/dp.h first.
 *
 * DOC: generations
 *
 * An object that is replaced while packets read it has two copies and a word
 * @ver: the generation from which on one of the copies is valid, times two,
 * plus the index of that copy. In all earlier generations the other copy is
 * valid. A packet reads the present generation once, from struct srpol_state,
 * and sees every object as of that generation. A change is written to the copy
 * that is not valid, and @ver gets the next generation; storing the next
 * generation as the present one makes all such changes visible at once. The
 * contract in srpol/dp.h gives readers a grace period to leave a copy before it
 * is written again. srpol_copy() below is the whole rule.
 */
#ifndef _SRPOL_MAPS_H
#define _SRPOL_MAPS_H

#include "srpol_reasons.h"

#define SRPOL_PIN_ROOT		"/sys/fs/bpf/srpol"

/* Default sizes of the tables, which the object declares as its limits. */
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
#define SRPOL_FLOW_SLOTS	8u	/* per set */
#define SRPOL_MAX_FLOWS		(SRPOL_FLOW_SETS * SRPOL_FLOW_SLOTS)
/* for packets whose flow finds no slot */
#define SRPOL_FLOW_SPARES	64u
#define SRPOL_FLOW_ENTRIES	(SRPOL_MAX_FLOWS + SRPOL_FLOW_SPARES)
#define SRPOL_MAX_RX_FLOWS	32768
#define SRPOL_MAX_BINDINGS	16384
#define SRPOL_MAX_PSN_SEEN	4096
#define SRPOL_MAX_CE_PEERS	4096
#define SRPOL_MAX_ERRORS	8192
#define SRPOL_DROPS_BYTES	(256 * 1024)

/**
 * srpol_copy - which copy of an object is valid
 * @ver: the object's version word
 * @gen: present generation
 *
 * Generations wrap around at 2^31. Generations that are compared are less than
 * 2^30 apart.
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
 * srpol_version - a number for the copy that is valid, for comparison
 * @ver: the object's version word
 * @gen: present generation
 *
 * Return: a number that changes whenever another copy becomes valid.
 */
static inline __attribute__((always_inline)) __u32 srpol_version(__u32 ver,
								 __u32 gen)
{
	return (ver & ~1u) | srpol_copy(ver, gen);
}

/**
 * struct srpol_state - map "state", one entry: what every packet reads first
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

/* Sizes of the rule index, see rule_index.h, DOC: rule index. */
#define SRPOL_INDEX_DIMS	16	/* dimensions that there is room for */
#define SRPOL_DIM_VALUES	256
#define SRPOL_INDEX_SETS	(SRPOL_INDEX_DIMS * SRPOL_DIM_VALUES)
#define SRPOL_SET_WORDS		(SRPOL_MAX_RULES / 64)
#define SRPOL_INDEX_WORDS	(SRPOL_INDEX_SETS * SRPOL_SET_WORDS)

/**
 * struct srpol_rule_order - map "rule_order", two entries
 * @n: number of rules
 * @key: SRPOL_KEY_* that these rules need in the flow key
 * @opclass: equivalence class of each BTH opcode
 * @n_dims: number of dimensions of the index
 * @dim: enum srpol_dim of each
 * @slot: slots of the rules in map "rules", in order of priority
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
 * @all: ~0, in memory because the verifier would follow a constant through each
 *	round of a loop
 * @any: scratch memory: the rules that do not match on a dimension
 * @some: by dimension and value: a bit for each word of the set that is not 0
 * @set: by dimension and value: a set of rules, with a bit for each rule in
 *	order of priority
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
 * @up: 0: every path that uses it is down
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
 * @up: the path may be used, if the valid copy of @cfg is up as well
 * @present: a path has this id
 * @since: generation from which on it exists; if that is ahead, it was staged
 *	as new
 * @cfg: its two copies
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
 * @since: generation from which on it exists; if that is ahead, it was staged
 *	as new
 * @reserved: 0
 * @cfg: its two copies
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
 * @id: policy id in each copy, 0: none
 */
struct srpol_policy_ref {
	__u32 ver;
	__u32 id[2];
};

/**
 * struct srpol_endpoint - value of LPM map "endpoints"
 * @ver: version word of @present and @addr
 * @len: prefix length of this entry
 * @present: 0: the prefix is not there; a look-up goes on with a shorter one
 * @addr: RFC 9256 endpoint, IPv4 as v4-mapped
 */
struct srpol_endpoint {
	__u32 ver;
	__u32 len;
	__u32 present[2];
	__u8 addr[2][16];
};

/**
 * struct srpol_prefix - key of LPM maps "endpoints" and "sid_prefixes", and of
 *	hash maps "endpoint_index" and "sid_prefix_index", which have the same
 *	keys as these, so that they can be walked
 */
struct srpol_prefix {
	__u32 len;
	__u8 addr[16];
};

/**
 * struct srpol_sid - a SID and its behavior, see struct srpol_dp_sid
 * @behavior: as IANA has it, 16 bits
 * @does: the functions that it consists of, SRPOL_DO_* of sid.h
 */
struct srpol_sid {
	__u32 id;
	__u16 behavior;
	__u16 does;
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
 * @present: 0: the SID is not there; a look-up goes on with a shorter one
 * @len: its prefix length
 * @reserved: 0
 * @cfg: its two copies
 */
struct srpol_sid_entry {
	__u32 ver;
	__u8 present[2];
	__u8 len;
	__u8 reserved;
	struct srpol_sid cfg[2];
};

/* Entries of each CPU's cache of the SIDs that addresses belong to. */
#define SRPOL_SID_CACHE_BITS	6
#define SRPOL_SID_CACHE_SIZE	(1u << SRPOL_SID_CACHE_BITS)

/**
 * struct srpol_sid_cache - per-CPU array "sid_cache", by a hash of the address,
 *	and one spare entry: the result of a look-up in "sids" and
 *	"sid_prefixes"
 * @addr: address, as in memory
 * @epoch: epoch in which the result is valid; a change of SIDs begins a new one
 * @busy: the entry is being written
 * @sid: the SID; @sid.id is 0 if the address belongs to none
 * @reserved: 0
 */
struct srpol_sid_cache {
	__u64 addr[2];
	__u32 epoch;
	__u32 busy;
	struct srpol_sid sid;
	__u32 reserved;
};

/* Number of routes that each CPU remembers. */
#define SRPOL_FIB_BITS		10
#define SRPOL_FIB_ENTRIES	(1u << SRPOL_FIB_BITS)

#define SRPOL_FIB_SIX		(1ull << 40)	/* in @rest below */

/**
 * struct srpol_fib_key - what the route of a decapsulated packet depends on
 * @addr: source and destination; an IPv4 address takes one word each, followed
 *	by 0 and 0
 * @rest: ports in network order, from bit 32 the protocol; SRPOL_FIB_SIX: IPv6
 * @flowinfo: first word of the IPv6 header in network order, without the ECN
 *	field; of IPv4 the TOS without the ECN field; from bit 32 the ingress
 *	device
 */
struct srpol_fib_key {
	__u64 addr[4];
	__u64 rest;
	__u64 flowinfo;
};

/**
 * struct srpol_fib_route - answer of the kernel's FIB
 * @ifindex: device, 0: the packet goes to the stack
 * @mtu: size of the largest packet that the route takes
 * @macs: destination and source Ethernet address
 * @host: it leads to a virtual port, so that the hop limit is not decremented
 * @uplink: it leads to an uplink, where rules match
 */
struct srpol_fib_route {
	__u32 ifindex;
	__u32 mtu;
	__u8 macs[12];
	__u16 host;
	__u16 uplink;
};

/* Functions of security modules that are netfilter hooks, see forward.h. */
#define SRPOL_LSM_HOOKS		3

/**
 * struct srpol_host - value of hash map "host_addrs", key: an address of the
 *	workload's end of a virtual port, v4-mapped for IPv4
 * @ifindex: the other end
 * @mtu: MTU of the workload's end when this was written; it is looked up anew for
 *	packets
 * @macs: Ethernet addresses of the workload's end and of the other end
 * @workload: the workload's end
 */
struct srpol_host {
	__u32 ifindex;
	__u32 mtu;
	__u8 macs[12];
	__u32 workload;
};

/*
 * Unit of the times of a limit: 1/16 ns, so that the time of a short packet is
 * not rounded to 0.
 */
#define SRPOL_LIMIT_SHIFT	4

/**
 * struct srpol_limit - value of hash map "limits", key: color
 * @rate: bit/s, counted without outer headers; 0: no limit
 * @burst: time for which rate that was not used can be made up later, in units
 *	of 2^-SRPOL_LIMIT_SHIFT ns, as are @horizon and @next
 * @horizon: longest time for which a packet may wait, where it can; a packet
 *	that would have to wait longer is dropped
 * @next: time at which the next packet may leave, CLOCK_MONOTONIC; advanced by
 *	all CPUs
 * @delayed: packets that were given a departure time in the future
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
 * @key: packets that the entry is for
 * @route: answer of the FIB
 * @gen: state of the kernel's routes in which it was given, see srpol_fib_gen()
 * @tick: low word of the jiffies when it was given
 * @looked: low word of the jiffies when it was last made sure that there is no
 *	firewall
 * @busy: the entry is being written
 * @reserved: 0
 */
struct srpol_fib_entry {
	struct srpol_fib_key key;
	struct srpol_fib_route route;
	__u64 gen;
	__u32 tick;
	__u32 looked;
	__u32 busy;
	__u32 reserved;
};

/* Number of next hops that are kept in use. */
#define SRPOL_FIB_NEIGHBORS	4096

/**
 * struct srpol_fib_neighbor - key of map "fib_neighbors": a next hop that XDP
 *	forwards to; its value is the low word of the jiffies when the stack last
 *	had a packet for it
 * @ifindex: device
 * @macs: destination and source Ethernet address
 */
struct srpol_fib_neighbor {
	__u32 ifindex;
	__u8 macs[12];
};

/**
 * struct srpol_dev - value of hash map "devices", key: ifindex
 * @role: enum srpol_dev_role
 * @port: key in map "ports", 0: none
 */
struct srpol_dev {
	__u32 role;
	__u32 port;
};

/**
 * struct srpol_port - value of hash map "ports", key: ifindex of the device
 *	that packets come in by; for a virtual port that is the other end
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
