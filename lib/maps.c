// SPDX-License-Identifier: LGPL-2.1
/*
 * Reading counters and flows from the pinned maps.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
 * srpol_map_lookup() - read an entry of a map that is not per CPU
 * @fd: the map, may be negative
 * @key: its key
 * @value: result, unchanged if there is none
 */
int srpol_map_lookup(int fd, const void *key, void *value)
{
	return fd < 0 ? fd : bpf_map_lookup_elem(fd, key, value);
}

/**
 * srpol_map_update() - set an entry of a map that is not part of the FIB
 * @fd: the map
 * @key: its key
 * @value: its value
 */
int srpol_map_update(int fd, const void *key, const void *value)
{
	return fd < 0 ? fd : bpf_map_update_elem(fd, key, value, BPF_ANY);
}

void srpol_map_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

/**
 * srpol_map_next() - walk a hash map
 * @fd: the map
 * @key: in: key to continue from unless @first; out: the next key
 * @key_len: its size
 * @first: start at the beginning
 * @value: the value of @key
 *
 * Return: 0, -ENOENT at the end, or another negative errno. An entry that is
 * deleted meanwhile is skipped; the walk may then start over, which the caller
 * has to bound.
 */
int srpol_map_next(int fd, void *key, size_t key_len, bool first, void *value)
{
	char from[key_len];
	int ret;

	do {
		memcpy(from, key, key_len);
		ret = bpf_map_get_next_key(fd, first ? NULL : from, key);
		if (ret)
			return ret;
		first = false;
		ret = bpf_map_lookup_elem(fd, key, value);
	} while (ret == -ENOENT);
	return ret;
}

/**
 * srpol_error_next() - walk map "errors", see srpol_map_next()
 * @fd: the map
 * @key: set to the object and the reason of the error
 * @first: start at the beginning
 * @count: set to the number of errors, over all CPUs
 */
int srpol_error_next(int fd, struct srpol_error_key *key, bool first,
		     uint64_t *count)
{
	int cpus = libbpf_num_possible_cpus(), cpu, ret;
	uint64_t *values;

	if (cpus < 0)
		return cpus;
	values = calloc(cpus, sizeof(*values));
	if (!values)
		return -ENOMEM;
	ret = srpol_map_next(fd, key, sizeof(*key), first, values);
	*count = 0;
	for (cpu = 0; !ret && cpu < cpus; cpu++)
		*count += values[cpu];
	free(values);
	return ret;
}
