// SPDX-License-Identifier: LGPL-2.1
/*
 * Reading the flow table. It is mapped, so that no system call is needed per
 * flow.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>

#include "srpol_lib.h"

#define FLOWS_LEN	(SRPOL_MAX_FLOWS * sizeof(struct srpol_flow))
#define DETAILS_LEN	(SRPOL_MAX_FLOWS * sizeof(struct srpol_flow_detail))

/* @len: bytes of all flows */
static int map_table(const char *name, size_t len, const void **at)
{
	int fd = srpol_map_open(name), ret = 0;

	if (fd < 0)
		return fd;
	*at = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	if (*at == MAP_FAILED)
		ret = -errno;
	srpol_map_close(fd);
	return ret;
}

/**
 * srpol_flows_open() - map the flow table of this namespace's data plane
 * @table: result
 *
 * Return: 0 or a negative errno: -ENOENT if none is attached, -EPROTONOSUPPORT
 * if it was loaded by another version of srpol.
 */
int srpol_flows_open(struct srpol_flow_table *table)
{
	const void *flows, *details;
	struct srpol_dp_status st;
	int ret = map_table("flows", FLOWS_LEN, &flows);

	if (ret)
		return ret;
	ret = map_table("flow_details", DETAILS_LEN, &details);
	if (ret) {
		munmap((void *)flows, FLOWS_LEN);
		/* not one that goes at this moment */
		if (ret == -ENOENT && !srpol_dp_status(&st, NULL) && st.loaded)
			ret = -EPROTONOSUPPORT;
		return ret;
	}
	table->flows = flows;
	table->details = details;
	return 0;
}

void srpol_flows_close(struct srpol_flow_table *table)
{
	munmap((void *)table->flows, FLOWS_LEN);
	munmap((void *)table->details, DETAILS_LEN);
}

/**
 * srpol_flows_next() - walk the flows
 * @table: table
 * @nr: number of the entry to begin at, 0 at first; advanced
 * @flow: set to a copy of the flow found
 * @detail: set to a copy of what else is known of it, or NULL
 *
 * An entry that is given to another flow during the copy is skipped. Fields
 * that packets change during the copy may be of different moments.
 *
 * Return: false at the end.
 */
bool srpol_flows_next(const struct srpol_flow_table *table, uint32_t *nr,
		      struct srpol_flow *flow,
		      struct srpol_flow_detail *detail)
{
	union srpol_flow_head head;
	const uint64_t *at;

	while (*nr < SRPOL_MAX_FLOWS) {
		at = (const uint64_t *)&table->flows[*nr].head.word;
		head.word = __atomic_load_n(at, __ATOMIC_ACQUIRE);
		if (head.tag & 1) {
			*flow = table->flows[*nr];
			if (detail)
				*detail = table->details[*nr];
		}
		++*nr;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (head.tag & 1 &&
		    __atomic_load_n(at, __ATOMIC_RELAXED) == head.word)
			return true;
	}
	return false;
}
