// SPDX-License-Identifier: LGPL-2.1
/*
 * Reading counters and flows from the pinned maps.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"

/**
 * srpol_map_sum() - add up an entry of a per-CPU array of counters
 * @fd: the map; its values are structs of __u64 only
 * @id: index
 * @sum: result, zero if the map has no such entry
 * @len: size of one value
 */
int srpol_map_sum(int fd, uint32_t id, void *sum, size_t len)
{
	int cpus = libbpf_num_possible_cpus(), cpu, ret;
	uint64_t *values, *total = sum;
	size_t i, n = len / sizeof(*total);

	memset(sum, 0, len);
	if (fd < 0)
		return fd;
	if (cpus < 0)
		return cpus;
	values = calloc(cpus, len);
	if (!values)
		return -ENOMEM;
	ret = bpf_map_lookup_elem(fd, &id, values);
	for (cpu = 0; !ret && cpu < cpus; cpu++)
		for (i = 0; i < n; i++)
			total[i] += values[cpu * n + i];
	free(values);
	return ret;
}

/**
 * srpol_flow_next() - walk the flow table
 * @fd: map "flows"
 * @key: in: flow to go on from unless @first; out: the next flow
 * @first: start anew
 * @flow: its value
 *
 * Return: 0, -ENOENT at the end, or another negative errno. A flow that is
 * evicted meanwhile is passed over; the walk may then start over, which the
 * caller bounds.
 */
int srpol_flow_next(int fd, struct srpol_flow_key *key, bool first,
		    struct srpol_flow *flow)
{
	struct srpol_flow_key from;
	int ret;

	do {
		from = *key;
		ret = bpf_map_get_next_key(fd, first ? NULL : &from, key);
		if (ret)
			return ret;
		first = false;
		ret = bpf_map_lookup_elem(fd, key, flow);
	} while (ret == -ENOENT);
	return ret;
}
