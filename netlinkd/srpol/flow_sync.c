// SPDX-License-Identifier: GPL-2.0
/*
 * srpol flow sync: tells the data plane which QP of this host sends which flow.
 */
#include <errno.h>
#include <string.h>

#include "flow.h"

/**
 * struct sync - flows to be matched with the QPs of RDMA netlink, and results
 */
struct sync {
	struct vec flows;
	int bindings;
	unsigned int bound;
	unsigned int unknown;
	unsigned int ambiguous;
};

/*
 * Finds the flow that a QP sends: to the remote QP number, from an address of
 * the RDMA device. With several peers the result is ambiguous, else the flow
 * that was used last counts.
 */
static void bind_qp(const struct srpol_rdma_qp *qp, void *data)
{
	struct sync *sync = data;
	struct srpol_binding binding = { .source = 1 };
	const struct flow_info *info, *found = NULL;
	struct srpol_qp_key key = { .qp = qp->local };

	vec_for_each(info, &sync->flows) {
		if (!info->flow.key.roce || info->flow.key.qp != qp->remote ||
		    !srpol_own_addr_is_of(qp->ifindex, info->flow.key.saddr))
			continue;
		if (found && (memcmp(found->flow.key.daddr, info->flow.key.daddr, 16) ||
			      memcmp(found->flow.key.saddr, info->flow.key.saddr, 16))) {
			sync->ambiguous++;
			return;
		}
		if (!found || info->flow.last_ns > found->flow.last_ns)
			found = info;
	}
	if (!found) {
		sync->unknown++;
		return;
	}
	memcpy(key.local, found->flow.key.saddr, sizeof(key.local));
	memcpy(key.peer, found->flow.key.daddr, sizeof(key.peer));
	binding.flow = found->flow.key;
	if (!srpol_map_update(sync->bindings, &key, &binding))
		sync->bound++;
}

/**
 * flow_sync() - match flows with the QPs that RDMA netlink knows
 * @args: no words
 * @flags: not used
 *
 * Return: an EXIT_*.
 */
int flow_sync(struct args *args, unsigned int flags)
{
	struct sync sync = { .flows = VEC_INIT(struct flow_info) };
	struct srpol_flow_table table;
	int err;

	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = need_data_plane();
	if (err)
		return err;
	err = open_flows(&table);
	if (err)
		return err;
	sync.bindings = srpol_map_open("bindings");
	fetch_flows(&table, &sync.flows);
	err = srpol_rdma_for_each_qp(bind_qp, &sync);
	srpol_map_close(sync.bindings);
	srpol_flows_close(&table);
	if (err) {
		vec_free(&sync.flows);
		complain("RDMA netlink: %s", strerror(-err));
		return EXIT_REFUSED;
	}
	out_begin();
	out_object(NULL);
	out_uint("bound", "bound %llu", sync.bound);
	out_uint("no_flow", " no-flow %llu", sync.unknown);
	out_uint("ambiguous", " ambiguous %llu\n", sync.ambiguous);
	out_object_end();
	out_end();
	vec_free(&sync.flows);
	return EXIT_OK;
}
