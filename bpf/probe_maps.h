/* SPDX-License-Identifier: GPL-2.0 */
/* The maps of probes; their values are described in srpol_probe.h. */
#ifndef _SRPOL_PROBE_BPF_MAPS_H
#define _SRPOL_PROBE_BPF_MAPS_H

#include "base.h"
#include "drop.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SRPOL_MAX_PROBES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct srpol_probe);
} probes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct srpol_probe_key);
} probe_key SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, SRPOL_PROBE_EVENTS_BYTES);
} probe_events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SRPOL_PROBE_REASONS);
	__type(key, __u32);
	__type(value, struct srpol_drop_budget);
} probe_budget SEC(".maps");

#endif /* _SRPOL_PROBE_BPF_MAPS_H */
