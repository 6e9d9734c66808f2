// SPDX-License-Identifier: GPL-2.0
/* The flow table of the rig, mapped: which flows there are, and what is known. */
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ktap.h"
#include "rig.h"
#include "srpol.skel.h"

static const struct srpol_flow *flow_table;
static const struct srpol_flow_detail *flow_details;

static const void *map_of(struct bpf_map *map)
{
	size_t len = (size_t)bpf_map__value_size(map) *
		     bpf_map__max_entries(map);
	void *at = mmap(NULL, len, PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);

	if (at == MAP_FAILED) {
		perror(bpf_map__name(map));
		exit(1);
	}
	return at;
}

void rig_flows_map(void)
{
	flow_table = map_of(rig->maps.flows);
	flow_details = map_of(rig->maps.flow_details);
}

const struct srpol_flow *rig_flow_next(const struct srpol_flow *prev)
{
	__u32 nr = prev ? prev - flow_table + 1 : 0;

	for (; nr < SRPOL_MAX_FLOWS; nr++)
		if (flow_table[nr].head.tag & 1)
			return &flow_table[nr];
	return NULL;
}

__u32 rig_flow_number(const struct srpol_flow *flow)
{
	return flow - flow_table;
}

bool rig_flow_of(__u32 qp, struct srpol_flow *flow)
{
	const struct srpol_flow *f = NULL;

	while ((f = rig_flow_next(f))) {
		if (f->key.qp != qp)
			continue;
		*flow = *f;
		return true;
	}
	memset(flow, 0, sizeof(*flow));
	return false;
}

struct srpol_flow_detail rig_detail(__u32 qp)
{
	static const struct srpol_flow_detail none;
	const struct srpol_flow *f = NULL;

	while ((f = rig_flow_next(f)))
		if (f->key.qp == qp)
			return flow_details[f - flow_table];
	return none;
}

unsigned int rig_flows(struct srpol_flow *flow)
{
	const struct srpol_flow *f = NULL;
	unsigned int n = 0;

	for (; (f = rig_flow_next(f)); n++)
		if (flow)
			*flow = *f;
	return n;
}
