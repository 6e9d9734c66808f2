/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The maps; their values are described in srpol_maps.h. Ids start at 1, so that
 * entry 0 of a map indexed by id is never filled and reads as "down".
 */
#ifndef _SRPOL_BPF_MAPS_H
#define _SRPOL_BPF_MAPS_H

#include "base.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct srpol_state);
} state SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct srpol_rule_order);
} rule_order SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct srpol_rule_index);
} rule_index SEC(".maps");

/* Twice the rules: one set in use, one being filled. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2 * SRPOL_MAX_RULES);
	__type(key, __u32);
	__type(value, struct srpol_dp_rule);
} rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SRPOL_MAX_NEXTHOPS);
	__type(key, __u32);
	__type(value, struct srpol_nexthop);
} nexthops SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SRPOL_MAX_PATHS);
	__type(key, __u32);
	__type(value, struct srpol_path);
} paths SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SRPOL_MAX_ROWS);
	__type(key, __u32);
	__type(value, struct srpol_row);
} bucket_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SRPOL_MAX_POLICIES);
	__type(key, __u32);
	__type(value, struct srpol_policy);
} policies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SRPOL_MAX_POLICIES);
	__type(key, struct srpol_policy_key);
	__type(value, struct srpol_policy_ref);
} policy_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, SRPOL_MAX_ENDPOINTS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct srpol_prefix);
	__type(value, struct srpol_endpoint);
} endpoints SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SRPOL_MAX_ENDPOINTS);
	__type(key, struct srpol_prefix);
	__type(value, __u32);
} endpoint_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SRPOL_MAX_SIDS);
	__type(key, struct in6_addr);
	__type(value, struct srpol_sid_entry);
} sids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, SRPOL_MAX_SIDS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct srpol_prefix);
	__type(value, struct srpol_sid_entry);
} sid_prefixes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SRPOL_SID_CACHE_SIZE + 1);
	__type(key, __u32);
	__type(value, struct srpol_sid_cache);
} sid_cache SEC(".maps");

/*
 * LPM map "sid_prefixes" cannot be walked; this hash map has the same keys and
 * can.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SRPOL_MAX_SIDS);
	__type(key, struct srpol_prefix);
	__type(value, __u32);
} sid_prefix_index SEC(".maps");

/* Filled by user space, as only it can. Packets leave by these devices only. */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP_HASH);
	__uint(max_entries, SRPOL_MAX_DEVS);
	__type(key, __u32);
	__type(value, __u32);
} uplinks SEC(".maps");

/*
 * Those uplinks that take frames from XDP. A VLAN device, for instance, does
 * not.
 */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP_HASH);
	__uint(max_entries, SRPOL_MAX_DEVS);
	__type(key, __u32);
	__type(value, __u32);
} uplinks_xdp SEC(".maps");

/*
 * Both filled by user space: the devices by which XDP may forward decapsulated
 * packets, and those from which it may.
 */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP_HASH);
	__uint(max_entries, SRPOL_MAX_DEVS);
	__type(key, __u32);
	__type(value, __u32);
} forward_to SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SRPOL_MAX_DEVS);
	__type(key, __u32);
	__type(value, __u32);
} forward_from SEC(".maps");

/* Devices of these two that take no frame whose end is in fragments. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SRPOL_MAX_DEVS);
	__type(key, __u32);
	__type(value, __u32);
} linear_xdp SEC(".maps");

/* Filled by user space: the addresses that are behind a virtual port. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SRPOL_MAX_HOST_ADDRS);
	__type(key, struct in6_addr);
	__type(value, struct srpol_host);
} host_addrs SEC(".maps");

/* Filled by user space: the limits of colors, and how many colors have one. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SRPOL_MAX_LIMITS);
	__type(key, __u32);
	__type(value, struct srpol_limit);
} limits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} limit_count SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SRPOL_FIB_ENTRIES);
	__type(key, __u32);
	__type(value, struct srpol_fib_entry);
} fib_cache SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SRPOL_FIB_NEIGHBORS);
	__type(key, struct srpol_fib_neighbor);
	__type(value, __u32);
} fib_neighbors SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SRPOL_MAX_DEVS);
	__type(key, __u32);
	__type(value, struct srpol_dev);
} devices SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SRPOL_MAX_DEVS);
	__type(key, __u32);
	__type(value, struct srpol_port);
} ports SEC(".maps");

/*
 * These can be mapped: user space reads the 22 MB of flows without a system
 * call each.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SRPOL_FLOW_SETS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct srpol_flow_set);
} flow_sets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SRPOL_FLOW_ENTRIES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct srpol_flow);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SRPOL_FLOW_ENTRIES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct srpol_flow_detail);
} flow_details SEC(".maps");

/* The coarse clock, read once per tick and CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct srpol_tick);
} tick_time SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SRPOL_MAX_PATHS);
	__type(key, __u32);
	__type(value, struct srpol_quality);
} path_quality SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SRPOL_MAX_POLICIES);
	__type(key, __u32);
	__type(value, struct srpol_contention);
} contention SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SRPOL_MAX_BINDINGS);
	__type(key, struct srpol_qp_key);
	__type(value, struct srpol_binding);
} bindings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SRPOL_MAX_PSN_SEEN);
	__type(key, struct srpol_psn_key);
	__type(value, struct srpol_flow_key);
} psn_seen SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SRPOL_MAX_RX_FLOWS);
	__type(key, struct srpol_qp_key);
	__type(value, struct srpol_rx_flow);
} rx_flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SRPOL_MAX_CE_PEERS);
	__type(key, struct srpol_ce_key);
	__type(value, struct srpol_ce);
} ce_peers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, SRPOL_MAX_ERRORS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct srpol_error_key);
	__type(value, __u64);
} errors SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, SRPOL_DROPS_BYTES);
} drops SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SRPOL_MAX_PATHS);
	__type(key, __u32);
	__type(value, struct srpol_counter);
} path_stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SRPOL_MAX_POLICIES);
	__type(key, __u32);
	__type(value, struct srpol_counter);
} policy_stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SRPOL_MAX_RULES);
	__type(key, __u32);
	__type(value, struct srpol_counter);
} rule_stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SRPOL_MAX_SIDS);
	__type(key, __u32);
	__type(value, struct srpol_sid_stats);
} sid_stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SRPOL_REASON_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} reasons SEC(".maps");

#endif /* _SRPOL_BPF_MAPS_H */
