// SPDX-License-Identifier: GPL-2.0
/* srpol flow: flows that the data plane has seen, read from its maps. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow.h"
#include "top.h"

static const char usage[] =
"Usage: srpol flow show [ FILTER ]... [ sort KEY ] [ limit N ]\n"
"                       [ interval TIME ] [ --top [ count N ] ]\n"
"       srpol flow sync\n"
"FILTER := { src PREFIX | dst PREFIX | qp QP[-QP] | color N | path ID |\n"
"            proto PROTO | port PORT | roce | active TIME }\n"
"KEY := { rate | bytes | packets | moves | flowlets | cnp | reorder | qp }\n"
"Rates are taken over the interval; without one, and without --top, there are\n"
"none. --top shows the busiest flows again and again (count N times).\n"
"sync tells the data plane which local QP sends which flow, as RDMA netlink\n"
"knows it; without it that is learned from acknowledgments.\n"
"Counters of a flow that several CPUs send at a time are approximate.\n";

static const struct time_range any_time = { 1, UINT32_MAX };

/**
 * struct view - which flows to show, and how
 * @port: either port of a flow that is not RoCEv2, 0: any
 * @cmp: order, NULL: order of the keys
 * @limit: largest number of flows, 0: all
 * @interval_ms: time between two samples, 0: only one sample
 * @top: show again after each interval
 * @count: number of times with @top, 0: forever
 */
struct view {
	struct in6_addr src;
	uint32_t src_len;
	struct in6_addr dst;
	uint32_t dst_len;
	uint32_t qp[2];
	bool has_proto;
	uint32_t proto;
	uint32_t port;
	uint32_t color;
	uint32_t path;
	bool roce;
	uint32_t active_ms;
	sort_cmp cmp;
	uint32_t limit;
	uint32_t interval_ms;
	bool top;
	uint32_t count;
};

/**
 * flow_idle_ns() - time since the last packet of a flow
 * @flow: flow
 * @now: CLOCK_MONOTONIC_COARSE, ns
 */
uint64_t flow_idle_ns(const struct srpol_flow *flow, uint64_t now)
{
	return now > flow->last_ns ? now - flow->last_ns : 0;
}

/**
 * flow_by_key() - compare flows by key, for qsort() and bsearch()
 * @a: struct flow_info
 * @b: struct flow_info
 */
int flow_by_key(const void *a, const void *b)
{
	const struct flow_info *x = a, *y = b;

	return memcmp(&x->flow.key, &y->flow.key, sizeof(x->flow.key));
}

/**
 * open_flows() - map the flow table, or say why not
 * @table: result
 *
 * Return: an EXIT_*.
 */
int open_flows(struct srpol_flow_table *table)
{
	int err = srpol_flows_open(table);

	if (err == -EPROTONOSUPPORT) {
		complain("the data plane was loaded by another version of srpol: \"srpol dev del\" of all devices that \"srpol dev show\" names, then add them again");
		return EXIT_REFUSED;
	}
	/* taken off since the caller asked for it, or just being taken off */
	if (err == -ENOENT || err == -ESTALE)
		return need_data_plane() ?: refused(err, NULL);
	return err ? refused(err, NULL) : EXIT_OK;
}

/**
 * fetch_flows() - read all flows
 * @table: flow table of the data plane
 * @flows: result: struct flow_info, sorted by key
 */
void fetch_flows(const struct srpol_flow_table *table, struct vec *flows)
{
	struct srpol_flow_detail detail;
	struct flow_info *info;
	struct srpol_flow flow;
	uint32_t nr = 0;

	vec_free(flows);
	while (srpol_flows_next(table, &nr, &flow, &detail)) {
		info = vec_add(flows);
		info->flow = flow;
		info->detail = detail;
	}
	if (flows->n)
		qsort(flows->data, flows->n, flows->size, flow_by_key);
}

/* Largest first. */
#define COMPARE(name, field)						\
	static int by_##name(const void *a, const void *b)		\
	{								\
		const struct flow_info *x = a, *y = b;			\
									\
		return (x->field < y->field) - (x->field > y->field);	\
	}

COMPARE(rate, rate)
COMPARE(bytes, flow.bytes)
COMPARE(packets, flow.packets)
COMPARE(moves, detail.moves)
COMPARE(flowlets, detail.flowlets)
COMPARE(cnp, detail.cnp)
COMPARE(reorder, detail.nak)
COMPARE(qp, flow.key.qp)

static const struct sort_key sort_keys[] = {
	{ "rate", by_rate },
	{ "bytes", by_bytes },
	{ "packets", by_packets },
	{ "moves", by_moves },
	{ "flowlets", by_flowlets },
	{ "cnp", by_cnp },
	{ "reorder", by_reorder },
	{ "qp", by_qp },
	{ }
};

static bool wanted(const struct flow_info *f, const struct view *view,
		   const struct vec *policies, uint64_t now)
{
	const struct srpol_flow_key *key = &f->flow.key;
	const struct policy_info *policy;

	if (!srpol_addr_in_prefix(key->saddr, &view->src, view->src_len) ||
	    !srpol_addr_in_prefix(key->daddr, &view->dst, view->dst_len) ||
	    key->qp < view->qp[0] || key->qp > view->qp[1] ||
	    (view->roce && !key->roce) ||
	    (view->has_proto && key->proto != view->proto) ||
	    (view->port && (key->roce || (key->sport != view->port &&
					  key->qp != view->port))) ||
	    (view->path && f->flow.path != view->path) ||
	    (view->active_ms &&
	     flow_idle_ns(&f->flow, now) > view->active_ms * MSEC))
		return false;
	if (!view->color)
		return true;
	policy = find_policy(policies, f->detail.policy);
	return policy && policy->color == view->color;
}

static struct flow_info *find_flow(const struct vec *flows,
				   const struct srpol_flow_key *key)
{
	struct flow_info want = { .flow.key = *key };

	return flows->n ? bsearch(&want, flows->data, flows->n, flows->size,
				  flow_by_key) : NULL;
}

/* Adds local QPs to the flows, and what was received for these QPs. */
static void fetch_bindings(const struct vec *flows)
{
	int fd = srpol_map_open("bindings"), rx = srpol_map_open("rx_flows");
	struct srpol_binding binding;
	struct srpol_qp_key key = {};
	struct flow_info *info;
	bool first = true;
	unsigned int n;

	for (n = 0; fd >= 0 && n < SRPOL_MAX_BINDINGS; n++, first = false) {
		if (srpol_map_next(fd, &key, sizeof(key), first, &binding))
			break;
		info = find_flow(flows, &binding.flow);
		if (!info)
			continue;
		info->local_qp = key.qp;
		srpol_map_lookup(rx, &key, &info->rx);
	}
	srpol_map_close(fd);
	srpol_map_close(rx);
}

static void fetch_rates(struct vec *flows, const struct vec *before,
			uint64_t interval_ns)
{
	const struct flow_info *old;
	struct flow_info *info;

	vec_for_each(info, flows) {
		old = find_flow(before, &info->flow.key);
		info->bytes_before = old ? old->flow.bytes : 0;
		if (info->flow.bytes >= info->bytes_before && interval_ns)
			info->rate = (double)(info->flow.bytes -
					      info->bytes_before) * 8 * SEC /
				     interval_ns;
	}
}

/* Selects the flows that match, in the order asked for. */
static uint32_t choose(struct vec *flows, const struct view *view,
		       const struct vec *policies, uint64_t now,
		       const struct flow_info **chosen)
{
	const struct flow_info *info;
	uint32_t n = 0;

	if (view->cmp && flows->n)
		qsort(flows->data, flows->n, flows->size, view->cmp);
	vec_for_each(info, flows) {
		if (view->limit && n == view->limit)
			break;
		if (wanted(info, view, policies, now))
			chosen[n++] = info;
	}
	return n;
}

static int print_flows(struct vec *flows, const struct view *view,
		       const struct flow_names *names)
{
	const struct flow_info **chosen = calloc(flows->n + 1UL,
						 sizeof(*chosen));
	uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);
	uint32_t i, n;

	if (!chosen)
		return refused(-ENOMEM, NULL);
	n = choose(flows, view, &names->policies, now, chosen);
	out_begin();
	if (view->top && !out_options.json)
		print_flow_table(chosen, n, names);
	else
		for (i = 0; i < n; i++)
			print_flow(chosen[i], names, now);
	out_end();
	free(chosen);
	return EXIT_OK;
}

static bool read_option(struct args *args, struct view *view)
{
	if (keyword(args, "src"))
		return read_prefix(args, "src", &view->src, &view->src_len);
	if (keyword(args, "dst"))
		return read_prefix(args, "dst", &view->dst, &view->dst_len);
	if (keyword(args, "qp"))
		return view->roce = read_range(args, "qp", 0xffffff,
					       &view->qp[0], &view->qp[1]);
	if (keyword(args, "proto"))
		return view->has_proto = read_proto(args, &view->proto);
	if (keyword(args, "port"))
		return read_u32(args, "port", UINT16_MAX, &view->port);
	if (keyword(args, "color"))
		return read_u32(args, "color", UINT32_MAX, &view->color);
	if (keyword(args, "path"))
		return read_u32(args, "path", UINT32_MAX, &view->path);
	if (is(args, "roce"))
		return view->roce = true;
	if (keyword(args, "active"))
		return read_time(args, "active", MSEC, any_time,
				 &view->active_ms);
	if (keyword(args, "sort"))
		return read_sort(args, sort_keys, &view->cmp);
	if (keyword(args, "limit"))
		return read_u32(args, "limit", UINT32_MAX, &view->limit);
	if (keyword(args, "interval"))
		return read_time(args, "interval", MSEC, any_time,
				 &view->interval_ms);
	if (keyword(args, "count"))
		return read_u32(args, "count", UINT32_MAX, &view->count);
	if (is(args, "--top") || is(args, "top"))
		return view->top = true;
	return unknown(args);
}

/* Reads the flows of the data plane that there is now: --top may outlive one. */
static int read_flows(struct vec *flows)
{
	struct srpol_flow_table table;
	int err = need_data_plane() ?: open_flows(&table);

	if (err)
		return err;
	fetch_flows(&table, flows);
	srpol_flows_close(&table);
	return EXIT_OK;
}

/*
 * Takes a sample. With an interval, it waits for that first, and takes rates
 * against the previous sample; the first call takes that as well.
 */
static int sample(struct view *view, struct vec *flows, struct vec *before,
		  uint64_t *taken)
{
	uint64_t now;
	int err;

	if (view->interval_ms && !*taken) {
		err = read_flows(before);
		if (err)
			return err;
		*taken = clock_ns(CLOCK_MONOTONIC_COARSE);
	}
	top_wait(view->interval_ms);
	err = read_flows(flows);
	if (err)
		return err;
	now = clock_ns(CLOCK_MONOTONIC_COARSE);
	if (view->interval_ms)
		fetch_rates(flows, before, now - *taken);
	*taken = now;
	fetch_bindings(flows);
	return EXIT_OK;
}

/* Keeps the sample just shown, as the next one is compared with it. */
static void keep(struct vec *flows, struct vec *before)
{
	struct vec empty = VEC_INIT(struct flow_info);

	vec_free(before);
	*before = *flows;
	*flows = empty;
	if (before->n)
		qsort(before->data, before->n, before->size, flow_by_key);
}

static int show_view(struct view *view)
{
	struct flow_names names = {
		.policies = VEC_INIT(struct policy_info),
		.rules = VEC_INIT(struct rule_info),
	};
	struct vec before = VEC_INIT(struct flow_info);
	struct vec flows = VEC_INIT(struct flow_info);
	uint64_t taken = 0;
	uint32_t n = 0;
	int err;

	/* a sample waits, and asks the module for nothing */
	err = need_module() ?: batch_flush();
	while (!err) {
		err = sample(view, &flows, &before, &taken) ?:
		      fetch_policies(&names.policies) ?:
		      fetch_rules(&names.rules);
		if (err)
			break;
		if (view->top)
			top_clear();
		err = print_flows(&flows, view, &names);
		keep(&flows, &before);
		/* of what is not written main() tells */
		if (ferror(stdout) || !view->top || ++n == view->count)
			break;
	}
	vec_free(&names.policies);
	vec_free(&names.rules);
	vec_free(&flows);
	vec_free(&before);
	return err;
}

static int flow_show(struct args *args, unsigned int flags)
{
	struct view view = { .qp = { 0, UINT32_MAX } };
	int err;

	while (more(args))
		if (!read_option(args, &view))
			return EXIT_USAGE;
	if (view.top) {
		view.cmp = view.cmp ?: by_rate;
		view.limit = view.limit ?: TOP_LINES;
		view.interval_ms = view.interval_ms ?: TOP_MS;
	}
	err = need_data_plane();
	return err ? err : show_view(&view);
}

int do_flow(struct args *args)
{
	static const struct command commands[] = {
		{ "show", flow_show, 0 },
		{ "sync", flow_sync, 0 },
	};

	return run_command(commands, ARRAY_SIZE(commands), usage, args,
			   "show");
}
