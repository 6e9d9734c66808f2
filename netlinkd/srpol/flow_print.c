// SPDX-License-Identifier: GPL-2.0
/* Prints flows: one with all its details, or many as a table. */
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "top.h"

/*
 * Why a packet got no path although the flow has a policy is not kept: that may be
 * another reason for each packet.
 */
static void print_verdict(const struct flow_info *info,
			  const struct policy_info *policy)
{
	const struct srpol_flow_detail *detail = &info->detail;
	bool steered = policy && info->flow.path;
	const char *name = steered ? "steered" :
			   policy ? "unsteered" :
			   detail->policy ? "policy-deleted" :
			   detail->verdict < SRPOL_REASON_COUNT ?
			   srpol_reason_name(detail->verdict) : "?";

	out_uint("path", steered ? " path %llu" : NULL,
		 policy ? info->flow.path : 0);
	out_string("verdict", steered ? NULL : " %s", name);
}

static void print_rx(const struct srpol_rx_flow *rx)
{
	bool seen = rx->packets;

	out_object("rx");
	out_count("packets", seen ? "\n\trx packets %s" : NULL, rx->packets);
	out_uint("reordered", seen ? " reordered %llu" : NULL, rx->reordered);
	out_uint("gaps", seen ? " gaps %llu" : NULL, rx->gaps);
	out_uint("max_gap", seen ? " max-gap %llu" : NULL, rx->max_gap);
	out_object_end();
}

static uint32_t flow_mode(const struct srpol_flow_detail *detail,
			  const struct policy_info *policy)
{
	return detail->mode != SRPOL_MODE_INHERIT ? detail->mode :
	       policy ? policy->mode : 0;
}

/**
 * print_flow() - print all details of a flow
 * @info: flow
 * @names: policies and rules
 * @now: time at which it was read, as for flow_idle_ns()
 */
void print_flow(const struct flow_info *info, const struct flow_names *names,
		uint64_t now)
{
	const struct srpol_flow_key *key = &info->flow.key;
	const struct srpol_flow_detail *detail = &info->detail;
	const struct srpol_flow *flow = &info->flow;
	const struct policy_info *policy = find_policy(&names->policies,
						       detail->policy);
	const struct rule_info *rule = flow->rule_id ?
		find_rule(&names->rules, flow->rule_id) : NULL;
	char buf[SRPOL_ADDR_STRLEN];
	bool roce = key->roce;

	out_object(NULL);
	out_string("src", "flow src %s", srpol_addr_text(key->saddr, buf));
	out_string("dst", " dst %s", srpol_addr_text(key->daddr, buf));
	print_proto(key->proto);
	out_uint("sport", " sport %llu", key->sport);
	out_bool("roce", NULL, roce);
	out_uint(roce ? "qp" : "dport", roce ? " qp %llu" : " dport %llu",
		 key->qp);
	out_uint("local_qp", info->local_qp ? " local-qp %llu" : NULL,
		 info->local_qp);
	out_uint("rule", NULL, flow->rule_id);
	if (rule)
		out_uint("rule_prio", " rule prio %llu", rule->priority);
	else if (flow->rule_id)
		out_text(" rule deleted");
	out_uint("color", policy ? " color %llu" : NULL,
		 policy ? policy->color : 0);
	out_string("endpoint", policy ? " endpoint %s" : NULL,
		   policy ? srpol_addr_text(&policy->endpoint, buf) : "");
	out_string("mode", policy ? " mode %s" : NULL,
		   srpol_name_of(srpol_modes, flow_mode(detail, policy)));
	print_verdict(info, policy);
	out_count("packets", " packets %s", flow->packets);
	out_count("bytes", " bytes %s", flow->bytes);
	out_count("rate_bps", info->rate ? " rate %sbit/s" : NULL, info->rate);
	out_uint("flowlets", detail->flowlets ? " flowlets %llu" : NULL,
		 detail->flowlets);
	out_uint("moves", detail->moves ? " moves %llu" : NULL, detail->moves);
	out_uint("cnp", detail->cnp ? " cnp %llu" : NULL, detail->cnp);
	out_uint("reorder", detail->nak ? " reorder %llu" : NULL, detail->nak);
	out_uint("retransmits", detail->retransmits ? " retransmits %llu" : NULL,
		 detail->retransmits);
	print_rx(&info->rx);
	out_uint("idle_ms", " idle %llums", flow_idle_ns(flow, now) / MSEC);
	out_text("\n");
	out_object_end();
}

/**
 * struct cells - cells of a table row whose widths vary
 */
struct cells {
	char src[SRPOL_ADDR_STRLEN];
	char dst[SRPOL_ADDR_STRLEN];
	char ports[32];
};

/* A RoCEv2 flow is identified by its QP, any other flow by its ports. */
static void fill_cells(struct cells *cells, const struct srpol_flow_key *key)
{
	const char *name = srpol_find_name(srpol_protos, key->proto);
	char number[16];

	snprintf(number, sizeof(number), "proto %u", key->proto);
	name = name ?: number;
	srpol_addr_text(key->saddr, cells->src);
	srpol_addr_text(key->daddr, cells->dst);
	if (key->roce)
		snprintf(cells->ports, sizeof(cells->ports), "roce qp %u",
			 key->qp);
	else if (key->sport || key->qp)
		snprintf(cells->ports, sizeof(cells->ports), "%s %u > %u",
			 name, key->sport, key->qp);
	else
		snprintf(cells->ports, sizeof(cells->ports), "%s", name);
}

/**
 * print_flow_table() - print flows as a table with columns that fit
 * @flows: flows
 * @n: number of @flows
 * @names: policies and rules
 */
void print_flow_table(const struct flow_info *const *flows, uint32_t n,
		      const struct flow_names *names)
{
	static const char head[][6] = { "SRC", "DST", "FLOW" };
	int src = strlen(head[0]), dst = strlen(head[1]), ports = strlen(head[2]);
	struct cells *cells = calloc(n + 1UL, sizeof(*cells));
	const struct srpol_flow_detail *detail;
	const struct policy_info *policy;
	const struct srpol_flow *flow;
	char rate[32];
	uint32_t i;

	if (!cells)
		return;
	for (i = 0; i < n; i++) {
		fill_cells(&cells[i], &flows[i]->flow.key);
		src = widest(src, cells[i].src);
		dst = widest(dst, cells[i].dst);
		ports = widest(ports, cells[i].ports);
	}
	out_text("%-*s %-*s %-*s %-8s %-6s %-13s %11s %8s %6s %6s %7s %7s\n",
		 src, head[0], dst, head[1], ports, head[2], "COLOR", "PATH",
		 "MODE", "RATE", "FLOWLETS", "MOVES", "CNP", "REORDER", "RETX");
	for (i = 0; i < n; i++) {
		flow = &flows[i]->flow;
		detail = &flows[i]->detail;
		policy = find_policy(&names->policies, detail->policy);
		rate_text(rate, sizeof(rate), flows[i]->rate);
		out_text("%-*s %-*s %-*s %-8u %-6u %-13s %11s %8u %6u %6u %7u %7u\n",
			 src, cells[i].src, dst, cells[i].dst, ports,
			 cells[i].ports, policy ? policy->color : 0, flow->path,
			 policy ? srpol_name_of(srpol_modes,
						flow_mode(detail, policy)) : "-",
			 rate, detail->flowlets, detail->moves, detail->cnp,
			 detail->nak, detail->retransmits);
	}
	free(cells);
}
