// SPDX-License-Identifier: LGPL-2.1
/*
 * The layout of pinned maps that user space reads or writes.
 *
 * What is pinned may have been loaded by another version of srpol, as packages
 * are upgraded or put back while programs forward. The kernel copies as many
 * bytes as the map has, not as many as the caller has room for. So a map whose
 * keys or values have another size than here is not used.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "pins.h"
#include "srpol_lib.h"

/**
 * struct layout - a map by its name
 * @name: of the pin
 * @key: bytes of a key
 * @value: bytes of a value, on each CPU if there is one for each
 */
struct layout {
	const char *name;
	uint32_t key;
	uint32_t value;
};

#define LAYOUT(map, k, v)	{ #map, sizeof(k), sizeof(v) }

static const struct layout layouts[] = {
	LAYOUT(bindings, struct srpol_qp_key, struct srpol_binding),
	LAYOUT(errors, struct srpol_error_key, uint64_t),
	LAYOUT(fars, uint32_t, struct srpol_far),
	LAYOUT(flow_details, uint32_t, struct srpol_flow_detail),
	LAYOUT(flows, uint32_t, struct srpol_flow),
	LAYOUT(host_addrs, struct in6_addr, struct srpol_host),
	LAYOUT(limit_count, uint32_t, uint32_t),
	LAYOUT(limits, uint32_t, struct srpol_limit),
	LAYOUT(pairs, struct in6_addr, struct srpol_pair),
	LAYOUT(path_quality, uint32_t, struct srpol_quality),
	LAYOUT(path_stats, uint32_t, struct srpol_counter),
	LAYOUT(policy_stats, uint32_t, struct srpol_counter),
	LAYOUT(probe_key, uint32_t, struct srpol_probe_key),
	LAYOUT(probes, uint32_t, struct srpol_probe),
	LAYOUT(reasons, uint32_t, uint64_t),
	LAYOUT(rule_stats, uint32_t, struct srpol_counter),
	LAYOUT(rx_flows, struct srpol_qp_key, struct srpol_rx_flow),
	LAYOUT(sid_stats, uint32_t, struct srpol_sid_stats),
};

#define N_LAYOUTS	(sizeof(layouts) / sizeof(layouts[0]))

static bool is_other(int fd, const struct layout *layout)
{
	struct bpf_map_info info = {};
	uint32_t len = sizeof(info);

	return bpf_map_get_info_by_fd(fd, &info, &len) ||
	       info.key_size != layout->key ||
	       info.value_size != layout->value;
}

/**
 * srpol_layout_check() - has an open map the keys and values of this version
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
