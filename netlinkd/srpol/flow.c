// SPDX-License-Identifier: GPL-2.0
/*
 * srpol flow: flows the data plane has seen, read from its maps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "srpol.h"

static const char usage[] =
"Usage: srpol flow show [ FILTER ]... [ sort KEY ] [ limit N ]\n"
"                       [ interval TIME ] [ --top [ count N ] ]\n"
"       srpol flow sync\n"
"FILTER := { src PREFIX | dst PREFIX | qp QP[-QP] | color N | path ID |\n"
"            roce | active TIME }\n"
"KEY := { rate | bytes | packets | moves | flowlets | cnp | reorder | qp }\n"
"Rates are taken over the interval; without one, and without --top, there are\n"
"none. --top shows the liveliest flows again and again (count N times).\n"
"sync tells the data plane which local QP sends which flow, as RDMA netlink\n"
"knows it; without it that is learnt from acknowledgements.\n"
"Counters of a flow that several CPUs send at a time are approximate.\n";

#define TOP_LINES	20

static const struct time_range any_time = { 1, UINT32_MAX };

/**
 * struct flow_info - a flow as read at one moment
 * @flow: its entry
 * @bytes_before: bytes one interval earlier
 * @rate: bits per second over the interval
 * @local_qp: QP of this host that sends it, 0 not known
 * @rx: what came in for that QP, if observed
 */
struct flow_info {
	struct srpol_flow flow;
	uint64_t bytes_before;
	uint64_t rate;
	uint32_t local_qp;
	struct srpol_rx_flow rx;
};

typedef int (*flow_cmp)(const void *a, const void *b);

/**
 * struct view - what is to be shown
 * @cmp: order, NULL as found
 * @limit: flows at most, 0 all
 * @interval_ms: between two samples, 0 one sample
 * @top: again and again
 * @count: so often, 0 for ever
 */
struct view {
	struct in6_addr src;
	uint32_t src_len;
	struct in6_addr dst;
	uint32_t dst_len;
	uint32_t qp[2];
	uint32_t color;
	uint32_t path;
	bool roce;
	uint32_t active_ms;
	flow_cmp cmp;
	uint32_t limit;
	uint32_t interval_ms;
	bool top;
	uint32_t count;
};

static uint64_t coarse_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

static uint64_t idle_ns(const struct srpol_flow *flow, uint64_t now)
{
	return now > flow->last_ns ? now - flow->last_ns : 0;
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
COMPARE(moves, flow.moves)
COMPARE(flowlets, flow.flowlets)
COMPARE(cnp, flow.cnp)
COMPARE(reorder, flow.nak)
COMPARE(qp, flow.key.qp)

static const struct {
	const char *name;
	flow_cmp cmp;
} sort_keys[] = {
	{ "rate", by_rate },
	{ "bytes", by_bytes },
	{ "packets", by_packets },
	{ "moves", by_moves },
	{ "flowlets", by_flowlets },
	{ "cnp", by_cnp },
	{ "reorder", by_reorder },
	{ "qp", by_qp },
};

static int by_key(const void *a, const void *b)
{
	const struct flow_info *x = a, *y = b;

	return memcmp(&x->flow.key, &y->flow.key, sizeof(x->flow.key));
}

static bool wanted(const struct flow_info *f, const struct view *view,
		   const struct vec *policies, uint64_t now)
{
	const struct policy_info *policy;

	if (!srpol_addr_in_prefix(f->flow.key.saddr, &view->src, view->src_len) ||
	    !srpol_addr_in_prefix(f->flow.key.daddr, &view->dst, view->dst_len) ||
	    f->flow.key.qp < view->qp[0] || f->flow.key.qp > view->qp[1] ||
	    (view->roce && !f->flow.key.roce) ||
	    (view->path && f->flow.path != view->path) ||
	    (view->active_ms &&
	     idle_ns(&f->flow, now) > view->active_ms * MSEC))
		return false;
	if (!view->color)
		return true;
	policy = find_policy(policies, f->flow.policy);
	return policy && policy->color == view->color;
}

/* All flows, in order of keys. */
static void fetch_flows(const struct srpol_flow_table *table, struct vec *flows)
{
	struct flow_info *info;
	struct srpol_flow flow;
	uint32_t nr = 0;

	vec_free(flows);
	while (srpol_flows_next(table, &nr, &flow)) {
		info = vec_add(flows);
		info->flow = flow;
	}
	if (flows->n)
		qsort(flows->data, flows->n, flows->size, by_key);
}

static struct flow_info *find_flow(const struct vec *flows,
				   const struct srpol_flow_key *key)
{
	struct flow_info want = { .flow.key = *key };

	return flows->n ? bsearch(&want, flows->data, flows->n, flows->size,
				  by_key) : NULL;
}

/* Local QPs, and what came in for them. */
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

static void print_verdict(const struct srpol_flow *flow, bool steered)
{
	const char *name = steered ? "steered" :
			   flow->policy ? "policy-deleted" :
			   flow->verdict < SRPOL_REASON_COUNT ?
			   srpol_reason_name(flow->verdict) : "?";

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

static uint32_t flow_mode(const struct srpol_flow *flow,
			  const struct policy_info *policy)
{
	return flow->mode != SRPOL_MODE_INHERIT ? flow->mode :
	       policy ? policy->mode : 0;
}

static void print_flow(const struct flow_info *info,
		       const struct vec *policies, uint64_t now)
{
	const struct srpol_flow_key *key = &info->flow.key;
	const struct srpol_flow *flow = &info->flow;
	const struct policy_info *policy = find_policy(policies, flow->policy);
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
	out_uint("rule", flow->rule_id ? " rule-id %llu" : NULL,
		 flow->rule_id);
	out_uint("color", policy ? " color %llu" : NULL,
		 policy ? policy->color : 0);
	out_string("endpoint", policy ? " endpoint %s" : NULL,
		   policy ? srpol_addr_text(&policy->endpoint, buf) : "");
	out_string("mode", policy ? " mode %s" : NULL,
		   srpol_name_of(srpol_modes, flow_mode(flow, policy)));
	out_uint("path", policy ? " path %llu" : NULL,
		 policy ? flow->path : 0);
	print_verdict(flow, policy);
	out_count("packets", " packets %s", flow->packets);
	out_count("bytes", " bytes %s", flow->bytes);
	out_count("rate_bps", info->rate ? " rate %sbit/s" : NULL, info->rate);
	out_uint("flowlets", flow->flowlets ? " flowlets %llu" : NULL,
		 flow->flowlets);
	out_uint("moves", flow->moves ? " moves %llu" : NULL, flow->moves);
	out_uint("cnp", flow->cnp ? " cnp %llu" : NULL, flow->cnp);
	out_uint("reorder", flow->nak ? " reorder %llu" : NULL, flow->nak);
	out_uint("retransmits", flow->retransmits ? " retransmits %llu" : NULL,
		 flow->retransmits);
	print_rx(&info->rx);
	out_uint("idle_ms", " idle %llums", idle_ns(flow, now) / MSEC);
	out_text("\n");
	out_object_end();
}

static void print_table_head(void)
{
	out_text("%-22s %-10s %-8s %-6s %-8s %11s %8s %6s %6s %7s %7s\n",
		 "PEER", "QP", "COLOR", "PATH", "MODE", "RATE", "FLOWLETS",
		 "MOVES", "CNP", "REORDER", "RETX");
}

static void rate_text(char *buf, size_t len, uint64_t rate)
{
	static const char units[] = " KMGT";
	double v = rate;
	size_t i;

	for (i = 0; v >= 1000 && i < sizeof(units) - 2; i++)
		v /= 1000;
	snprintf(buf, len, "%.1f%cbit/s", v, units[i]);
}

static void print_table_row(const struct flow_info *info,
			    const struct vec *policies)
{
	const struct srpol_flow *flow = &info->flow;
	const struct policy_info *policy = find_policy(policies, flow->policy);
	char peer[SRPOL_ADDR_STRLEN], rate[32];

	rate_text(rate, sizeof(rate), info->rate);
	out_text("%-22s %-10u %-8u %-6u %-8s %11s %8u %6u %6u %7u %7u\n",
		 srpol_addr_text(info->flow.key.daddr, peer), info->flow.key.qp,
		 policy ? policy->color : 0, flow->path,
		 policy ? srpol_name_of(srpol_modes, flow_mode(flow, policy)) :
		 "-", rate, flow->flowlets, flow->moves, flow->cnp, flow->nak,
		 flow->retransmits);
}

static void print_flows(struct vec *flows, const struct view *view,
			const struct vec *policies)
{
	uint64_t now = coarse_ns();
	const struct flow_info *info;
	uint32_t shown = 0;
	bool table = view->top && !out_options.json;

	if (view->cmp && flows->n)
		qsort(flows->data, flows->n, flows->size, view->cmp);
	out_begin();
	if (table)
		print_table_head();
	vec_for_each(info, flows) {
		if (!wanted(info, view, policies, now))
			continue;
		if (view->limit && shown++ == view->limit)
			break;
		if (table)
			print_table_row(info, policies);
		else
			print_flow(info, policies, now);
	}
	out_end();
}

static void wait_ms(uint32_t ms)
{
	struct timespec ts = {
		.tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * MSEC,
	};

	nanosleep(&ts, NULL);
}

static bool read_sort(struct args *args, struct view *view)
{
	const char *word;
	size_t i;

	if (!read_word(args, "sort", &word))
		return false;
	for (i = 0; i < ARRAY_SIZE(sort_keys); i++) {
		if (strcmp(word, sort_keys[i].name))
			continue;
		view->cmp = sort_keys[i].cmp;
		return true;
	}
	complain("sort: \"%s\" is not a key", word);
	return false;
}

static bool read_option(struct args *args, struct view *view)
{
	if (is(args, "src"))
		return read_prefix(args, "src", &view->src, &view->src_len);
	if (is(args, "dst"))
		return read_prefix(args, "dst", &view->dst, &view->dst_len);
	if (is(args, "qp"))
		return view->roce = read_range(args, "qp", 0xffffff,
					       &view->qp[0], &view->qp[1]);
	if (is(args, "color"))
		return read_u32(args, "color", UINT32_MAX, &view->color);
	if (is(args, "path"))
		return read_u32(args, "path", UINT32_MAX, &view->path);
	if (is(args, "roce"))
		return view->roce = true;
	if (is(args, "active"))
		return read_time(args, "active", MSEC, any_time,
				 &view->active_ms);
	if (is(args, "sort"))
		return read_sort(args, view);
	if (is(args, "limit"))
		return read_u32(args, "limit", UINT32_MAX, &view->limit);
	if (is(args, "interval"))
		return read_time(args, "interval", MSEC, any_time,
				 &view->interval_ms);
	if (is(args, "count"))
		return read_u32(args, "count", UINT32_MAX, &view->count);
	if (is(args, "--top") || is(args, "top"))
		return view->top = true;
	return unknown(args);
}

/* One sample, or another one after the interval and the rates between. */
static void sample(const struct srpol_flow_table *table, struct view *view,
		   struct vec *flows, struct vec *before, uint64_t *taken)
{
	uint64_t now;

	if (view->interval_ms && !*taken) {
		fetch_flows(table, before);
		*taken = coarse_ns();
	}
	wait_ms(view->interval_ms);
	fetch_flows(table, flows);
	now = coarse_ns();
	if (view->interval_ms)
		fetch_rates(flows, before, now - *taken);
	*taken = now;
	fetch_bindings(flows);
}

/* The sample just shown is what the next one is compared with. */
static void keep(struct vec *flows, struct vec *before)
{
	struct vec empty = VEC_INIT(struct flow_info);

	vec_free(before);
	*before = *flows;
	*flows = empty;
	if (before->n)
		qsort(before->data, before->n, before->size, by_key);
}

static int show_view(const struct srpol_flow_table *table, struct view *view)
{
	struct vec policies = VEC_INIT(struct policy_info);
	struct vec before = VEC_INIT(struct flow_info);
	struct vec flows = VEC_INIT(struct flow_info);
	uint64_t taken = 0;
	uint32_t n = 0;
	int err;

	do {
		err = fetch_policies(&policies);
		if (err)
			return err;
		sample(table, view, &flows, &before, &taken);
		if (view->top && !out_options.json && isatty(STDOUT_FILENO))
			fputs("\033[H\033[2J", stdout);
		print_flows(&flows, view, &policies);
		keep(&flows, &before);
	} while (view->top && ++n != view->count);
	vec_free(&policies);
	vec_free(&before);
	return EXIT_OK;
}

static int flow_show(struct args *args, unsigned int flags)
{
	struct view view = { .qp = { 0, UINT32_MAX } };
	struct srpol_flow_table table;
	int err;

	while (more(args))
		if (!read_option(args, &view))
			return EXIT_USAGE;
	if (view.top) {
		view.cmp = view.cmp ?: by_rate;
		view.limit = view.limit ?: TOP_LINES;
		view.interval_ms = view.interval_ms ?: 1000;
	}
	err = need_data_plane();
	if (err)
		return err;
	err = srpol_flows_open(&table);
	if (err)
		return refused(err, NULL);
	err = show_view(&table, &view);
	srpol_flows_close(&table);
	return err;
}

/**
 * struct sync - flows to look for the QPs of RDMA netlink in
 */
struct sync {
	struct vec flows;
	int bindings;
	unsigned int bound;
	unsigned int unknown;
	unsigned int ambiguous;
};

/* The flows that go to a QP from one of a device's addresses. */
static void bind_qp(const struct srpol_rdma_qp *qp, void *data)
{
	struct sync *sync = data;
	struct srpol_binding binding = { .source = 1 };
	const struct flow_info *info, *found = NULL;
	struct srpol_qp_key key = { .qp = qp->local };

	vec_for_each(info, &sync->flows) {
		if (!info->flow.key.roce || info->flow.key.qp != qp->remote ||
		    !srpol_rdma_is_local(qp, info->flow.key.saddr))
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

static int flow_sync(struct args *args, unsigned int flags)
{
	struct sync sync = { .flows = VEC_INIT(struct flow_info) };
	struct srpol_flow_table table;
	int err;

	if (more(args))
		return unknown(args), EXIT_USAGE;
	err = need_data_plane();
	if (err)
		return err;
	err = srpol_flows_open(&table);
	if (err)
		return refused(err, NULL);
	sync.bindings = srpol_map_open("bindings");
	fetch_flows(&table, &sync.flows);
	err = srpol_rdma_for_each_qp(bind_qp, &sync);
	srpol_map_close(sync.bindings);
	srpol_flows_close(&table);
	if (err)
		return complain("RDMA netlink: %s", strerror(-err));
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

int do_flow(struct args *args)
{
	static const struct command commands[] = {
		{ "show", flow_show, 0 },
		{ "sync", flow_sync, 0 },
	};

	return run_command(commands, ARRAY_SIZE(commands), usage, args,
			   "show");
}
