/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations shared by the files of "srpol flow". */
#ifndef _SRPOL_CMD_FLOW_H
#define _SRPOL_CMD_FLOW_H

#include "srpol.h"

/**
 * struct flow_info - a flow as read at one time
 * @flow: entry of the flow table
 * @detail: what else is known of it
 * @bytes_before: bytes counted one interval earlier
 * @rate: bit/s over the interval
 * @local_qp: QP of this host that sends the flow, 0: unknown
 * @rx: what was received for @local_qp, if observed
 */
struct flow_info {
	struct srpol_flow flow;
	struct srpol_flow_detail detail;
	uint64_t bytes_before;
	uint64_t rate;
	uint32_t local_qp;
	struct srpol_rx_flow rx;
};

/**
 * struct flow_names - objects that flows refer to by their numbers
 * @policies: struct policy_info
 * @rules: struct rule_info
 */
struct flow_names {
	struct vec policies;
	struct vec rules;
};

uint64_t flow_idle_ns(const struct srpol_flow *flow, uint64_t now);
int flow_by_key(const void *a, const void *b);
int open_flows(struct srpol_flow_table *table);
void fetch_flows(const struct srpol_flow_table *table, struct vec *flows);

/* flow_print.c */
void print_flow(const struct flow_info *info, const struct flow_names *names,
		uint64_t now);
void print_flow_table(const struct flow_info *const *flows, uint32_t n,
		      const struct flow_names *names);

/* flow_sync.c */
int flow_sync(struct args *args, unsigned int flags);

#endif /* _SRPOL_CMD_FLOW_H */
