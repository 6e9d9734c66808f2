/* SPDX-License-Identifier: GPL-2.0 */
/* The maps of reflected probes; their values are in srpol_reflect.h. */
#ifndef _SRPOL_FAR_MAPS_H
#define _SRPOL_FAR_MAPS_H

#include "base.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SRPOL_MAX_PAIRS);
	__type(key, struct in6_addr);
	__type(value, struct srpol_pair);
} pairs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SRPOL_MAX_SESSIONS);
	__type(key, struct srpol_session_key);
	__type(value, struct srpol_session);
} sessions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SRPOL_MAX_PROBES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct srpol_far);
} fars SEC(".maps");

#endif /* _SRPOL_FAR_MAPS_H */
