// SPDX-License-Identifier: LGPL-2.1
/*
 * The layout of pinned maps that user space reads or writes.
 *
 * What is pinned may have been loaded by another version of srpol, as packages
 * are upgraded or put back while programs forward. The kernel copies as many
 * bytes as the map has, not as many as the caller has room for. So a map whose
 * keys or values have another size than here, or which is of another type, is not
 * used.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "pins.h"
#include "srpol_lib.h"

/**
 * struct layout - a map by its name
 * @name: of the pin
 * @type: a map with a value for each CPU gives and takes all of them at once
 * @key: bytes of a key
 * @value: bytes of a value, on each CPU if there is one for each
 */
struct layout {
	const char *name;
	uint32_t type;
	uint32_t key;
	uint32_t value;
};

#define LAYOUT(map, t, k, v) \
	{ #map, BPF_MAP_TYPE_##t, sizeof(k), sizeof(v) }

static const struct layout layouts[] = {
	LAYOUT(bindings, LRU_HASH, struct srpol_qp_key, struct srpol_binding),
	LAYOUT(errors, PERCPU_HASH, struct srpol_error_key, uint64_t),
	LAYOUT(fars, ARRAY, uint32_t, struct srpol_far),
	LAYOUT(flow_details, ARRAY, uint32_t, struct srpol_flow_detail),
	LAYOUT(flows, ARRAY, uint32_t, struct srpol_flow),
	LAYOUT(host_addrs, HASH, struct in6_addr, struct srpol_host),
	LAYOUT(limit_count, ARRAY, uint32_t, uint32_t),
	LAYOUT(limits, HASH, uint32_t, struct srpol_limit),
	LAYOUT(pairs, HASH, struct in6_addr, struct srpol_pair),
	LAYOUT(path_quality, ARRAY, uint32_t, struct srpol_quality),
	LAYOUT(path_stats, PERCPU_ARRAY, uint32_t, struct srpol_counter),
	LAYOUT(policy_stats, PERCPU_ARRAY, uint32_t, struct srpol_counter),
	LAYOUT(probe_key, ARRAY, uint32_t, struct srpol_probe_key),
	LAYOUT(probes, ARRAY, uint32_t, struct srpol_probe),
	LAYOUT(reasons, PERCPU_ARRAY, uint32_t, uint64_t),
	LAYOUT(rule_stats, PERCPU_ARRAY, uint32_t, struct srpol_counter),
	LAYOUT(rx_flows, LRU_HASH, struct srpol_qp_key, struct srpol_rx_flow),
	LAYOUT(sid_stats, PERCPU_ARRAY, uint32_t, struct srpol_sid_stats),
};

#define N_LAYOUTS	(sizeof(layouts) / sizeof(layouts[0]))

static bool is_other(int fd, const struct layout *layout)
{
	struct bpf_map_info info = {};
	uint32_t len = sizeof(info);

	return bpf_map_get_info_by_fd(fd, &info, &len) ||
	       info.type != layout->type || info.key_size != layout->key ||
	       info.value_size != layout->value;
}

/**
 * srpol_layout_check() - is an open map as this version has it
 * @fd: the map
 * @name: its name; one that is not known here has
 *
 * Return: 0 or -EPROTONOSUPPORT.
 */
int srpol_layout_check(int fd, const char *name)
{
	size_t i;

	for (i = 0; i < N_LAYOUTS; i++)
		if (!strcmp(layouts[i].name, name))
			return is_other(fd, &layouts[i]) ? -EPROTONOSUPPORT : 0;
	return 0;
}

/**
 * srpol_dp_check_layout() - may this version use the pinned data plane
 * @err: for the reason
 *
 * A map that is not there is for its user to miss.
 *
 * Return: 0, also if none is loaded, or -EPROTONOSUPPORT.
 */
int srpol_dp_check_layout(struct srpol_error *err)
{
	struct srpol_dp_status st;
	bool other = false;
	size_t i;
	int fd;

	if (srpol_dp_status(&st, NULL) || !st.loaded)
		return 0;
	for (i = 0; i < N_LAYOUTS && !other; i++) {
		fd = srpol_pins_open(st.dir, layouts[i].name);
		if (fd < 0)
			continue;
		other = is_other(fd, &layouts[i]);
		srpol_map_close(fd);
	}
	if (!other)
		return 0;
	return srpol_error_set(err, -EPROTONOSUPPORT,
			       "%s was loaded by another version of srpol, whose map %s has another layout: \"srpol dev del\" of all devices that \"srpol dev show\" names, then add them again",
			       st.dir, layouts[i - 1].name);
}
