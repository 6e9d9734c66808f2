// SPDX-License-Identifier: GPL-2.0
/*
 * forward [-w WINDOWS] [-n PACKETS]: time per packet of a router in one
 * namespace, between a generator and a sink in two others, all on one
 * processor:
 *
 *	v100 ======= v200 router v300 ======= v400
 *	generator                             sink
 *
 * one router with devices of its own for each row (v101, v201, ...). Live
 * frames of BPF_PROG_TEST_RUN leave the generator's device and are processed at
 * once, by the softirq of the same processor. A row's time is all of it: to make
 * the frame, to receive, forward and send it, and to drop it at the sink. XDP
 * paths end in XDP at the sink, skb paths at its TC hook: an XDP sink would
 * make them pay a copy. One line of JSON per row, as in cost.c, with how many
 * of the windows were not counted, because packets were late. A row all of whose
 * windows were late gets more of them, and is as fast as the last one if all of
 * these were late, too:
 *
 *	{"row": NAME, "p10": NS, "median": NS, "max": NS, "late": WINDOWS}
 *
 * A packet that is lost, or has another length than it should, is an error.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base.skel.h"
#include "harness.skel.h"
#include "net.h"
#include "plan.h"
#include "srpol.skel.h"

#define ROWS_MAX	64
#define BATCH		64
#define LATE_MAX	50	/* windows more for a row that has none */
#define LOST_NS		30000000000ULL

/* Interface indexes of row r: generator, router in and out, sink. */
#define GEN(r)		(100 + (r))
#define IN(r)		(200 + (r))
#define OUT(r)		(300 + (r))
#define SINK(r)		(400 + (r))

#define INNER_DST	"fd00::2"
#define NEXT_MAC	"02:00:00:00:00:01"

#define XDP_DRV		(1u << 2)	/* XDP_FLAGS_DRV_MODE */

/* What a row sends. */
enum packet { PLAIN, SRV6_END, SRV6_LAST };

/**
 * struct row - a way through the router
 * @name: what it is
 * @packet: what it gets
 * @only: 1 nothing but the generator, 2 nothing comes to the sink
 * @in: base program at the router's XDP ingress
 * @tc_in: the same at its TC ingress
 * @srpol: shipped program: 'p' port, 'u' uplink, 'e' egress
 * @skb: packets come to the sink as skbs
 * @policy: how srpol steers them; @id and @ifindex are filled in
 * @behavior: local SID for them, enum srpol_behavior
 * @grows: bytes by which packets are longer at the sink
 * @flows: QPs
 * @burst: power of two: frames to a QP before the next one, 0: one
 * @forward: XDP may forward what it decapsulates
 * @rules: an instance of srpol of its own with so many rules
 * @routes: lines of ip for the router; %d is its outgoing device
 */
struct row {
	const char *name;
	enum packet packet;
	int only;
	const char *in;
	const char *tc_in;
	char srpol;
	bool skb;
	struct plan_policy policy;
	__u32 behavior;
	int grows;
	unsigned int flows;
	unsigned int burst;
	unsigned int rules;
	bool forward;
	const char *routes[4];

	int ns;
	struct pkt frame;
	double *ns_mean;
	unsigned int n;
	unsigned int late;
};

#define VIA(what)	"route add " what " dev v%d"
#define NEIGH(what)	"neigh add " what " lladdr " NEXT_MAC \
			" nud permanent dev v%d"
#define INNER_ROUTE	VIA(INNER_DST), NEIGH(INNER_DST)
#define ENCAP(mode, segs) \
	VIA(INNER_DST " encap seg6 mode " mode " segs " segs), \
	VIA("fc00::/16"), NEIGH("fc00:0:1::")
#define LOCAL(sid, action) \
	VIA(sid " encap seg6local action " action)

#define SEGS3		"fc00:0:1::,fc00:0:2::,fc00:0:3::"
#define SEGS6		SEGS3 ",fc00:0:4::,fc00:0:5::,fc00:0:6::"

#define STEER(how, ...)	.mode = SRPOL_LB_MODE_##how, .sids = 3, ##__VA_ARGS__

static struct row rows[] = {
	{ .name = "generator alone", .only = 1 },
	{ .name = "veth, XDP_DROP", .only = 2, .in = "xdp_drop" },
	{ .name = "XDP_REDIRECT, the ceiling", .in = "xdp_redirect" },
	{ .name = "floor of steering, 3 SIDs", .in = "xdp_floor",
	  .grows = 80 },
	{ .name = "floor of steering, 3 SIDs, by words",
	  .in = "xdp_floor_words",
	  .grows = 80 },
	{ .name = "floor of decapsulation", .packet = SRV6_LAST,
	  .in = "xdp_pop_redirect",
	  .grows = -80 },

	{ .name = "port, hash, 3 SIDs", .srpol = 'p',
	  .policy = { STEER(HASH) },
	  .grows = 80 },
	{ .name = "port, hash, 1 SID", .srpol = 'p',
	  .policy = { .mode = SRPOL_LB_MODE_HASH, .sids = 1 },
	  .grows = 40 },
	{ .name = "port, hash, 6 SIDs", .srpol = 'p',
	  .policy = { .mode = SRPOL_LB_MODE_HASH, .sids = 6 },
	  .grows = 128 },
	{ .name = "port, hash, 6 uSIDs", .srpol = 'p',
	  .policy = { .mode = SRPOL_LB_MODE_HASH, .sids = 1, .usids = 6 },
	  .grows = 40 },
	{ .name = "port, flowlet", .srpol = 'p',
	  .policy = { STEER(FLOWLET, .flowlet_timeout_ns = 1000000000) },
	  .grows = 80 },
	{ .name = "port, spray", .srpol = 'p', .policy = { STEER(SPRAY) },
	  .grows = 80 },
	{ .name = "port, adaptive", .srpol = 'p',
	  .policy = { STEER(ADAPTIVE) },
	  .grows = 80 },
	{ .name = "port, 1024 flows", .srpol = 'p',
	  .policy = { STEER(HASH) }, .flows = 1024,
	  .grows = 80 },
	{ .name = "port, 65536 flows", .srpol = 'p',
	  .policy = { STEER(HASH) }, .flows = 65536,
	  .grows = 80 },
	{ .name = "port, 65536 flows, bursts of 16", .srpol = 'p',
	  .policy = { STEER(HASH) }, .flows = 65536, .burst = 16,
	  .grows = 80 },
	{ .name = "port, 1 rule", .srpol = 'p', .rules = 1,
	  .policy = { STEER(HASH) },
	  .grows = 80 },
	{ .name = "port, 64 rules", .srpol = 'p', .rules = 64,
	  .policy = { STEER(HASH) },
	  .grows = 80 },
	{ .name = "port, 4095 rules", .srpol = 'p', .rules = 4095,
	  .policy = { STEER(HASH) },
	  .grows = 80 },
	{ .name = "uplink, End.DX6", .packet = SRV6_LAST, .srpol = 'u',
	  .behavior = SRPOL_BEHAVIOR_END_DX6,
	  .grows = -80 },
	{ .name = "uplink, End.DT46, kernel forwards", .packet = SRV6_LAST,
	  .srpol = 'u', .behavior = SRPOL_BEHAVIOR_END_DT46, .skb = true,
	  .routes = { INNER_ROUTE },
	  .grows = -80 },

	{ .name = "uplink, End.DT46, XDP forwards", .packet = SRV6_LAST,
	  .srpol = 'u', .behavior = SRPOL_BEHAVIOR_END_DT46, .forward = true,
	  .routes = { INNER_ROUTE },
	  .grows = -80 },

	{ .name = "kernel, IPv6 forwarding", .skb = true,
	  .routes = { INNER_ROUTE } },
	{ .name = "kernel, seg6 encap, 1 SID", .skb = true,
	  .routes = { ENCAP("encap", "fc00:0:1::") },
	  .grows = 64 },
	{ .name = "kernel, seg6 encap, 3 SIDs", .skb = true,
	  .routes = { ENCAP("encap", SEGS3) },
	  .grows = 96 },
	{ .name = "kernel, seg6 encap, 6 SIDs", .skb = true,
	  .routes = { ENCAP("encap", SEGS6) },
	  .grows = 144 },
	{ .name = "kernel, seg6 encap.red, 3 SIDs", .skb = true,
	  .routes = { ENCAP("encap.red", SEGS3) },
	  .grows = 80 },
	{ .name = "kernel, End", .packet = SRV6_END, .skb = true,
	  .routes = { LOCAL("fc00:0:2::", "End"), VIA("fc00::/16"),
		      NEIGH("fc00:0:3::") } },
	{ .name = "kernel, End.DT6", .packet = SRV6_LAST, .skb = true,
	  .routes = { LOCAL("fc00:0:3::", "End.DT6 table main"),
		      INNER_ROUTE },
	  .grows = -80 },
	{ .name = "kernel, End.DX6", .packet = SRV6_LAST, .skb = true,
	  .routes = { LOCAL("fc00:0:3::", "End.DX6 nh6 " INNER_DST),
		      INNER_ROUTE },
	  .grows = -80 },

	{ .name = "TC, redirect", .tc_in = "tc_redirect", .skb = true },
	{ .name = "TC, push of 3 SIDs, redirect", .tc_in = "tc_push_redirect",
	  .skb = true,
	  .grows = 80 },
	{ .name = "TC, redirect, egress, hash, 3 SIDs",
	  .tc_in = "tc_redirect", .skb = true, .srpol = 'e',
	  .policy = { STEER(HASH) },
	  .grows = 80 },
	{ .name = "kernel forwards, egress, hash, 3 SIDs", .skb = true,
	  .srpol = 'e', .policy = { STEER(HASH) },
	  .routes = { INNER_ROUTE },
	  .grows = 80 },
};

#define N_ROWS	(sizeof(rows) / sizeof(rows[0]))

/* Of the routers' ingress devices. */
static const __u8 plain_mac[6] = { 0x02, 0, 0, 0, 0, 0x0a };
static const __u8 srv6_mac[6] = { 0x02, 0, 0, 0, 0, 0x02 };

static unsigned int windows = 100, packets = 8192;
static struct harness_bpf *harness;
static struct base_bpf *base;
static int gen_ns, sink_ns;

static void update(struct bpf_map *map, __u32 key, const void *value)
{
	if (bpf_map_update_elem(bpf_map__fd(map), &key, value, 0))
		plan_die(bpf_map__name(map));
}

static void attach_xdp(unsigned int ifindex, struct bpf_program *prog)
{
	int err = prog ? bpf_xdp_attach(ifindex, bpf_program__fd(prog),
					XDP_DRV, NULL) : -ENOENT;

	if (err) {
		fprintf(stderr, "XDP at v%u: %s\n", ifindex, strerror(-err));
		exit(1);
	}
}

static void attach_tc(unsigned int ifindex, struct bpf_program *prog)
{
	if (!prog || !bpf_program__attach_tcx(prog, ifindex, NULL))
		plan_die("TCX");
}

static struct bpf_program *base_prog(const char *name)
{
	return bpf_object__find_program_by_name(base->obj, name);
}

/* A namespace where devices are quiet. */
static int quiet_ns(void)
{
	int ns = net_new();

	net_sysctl("ipv6/conf/default/disable_ipv6", "1");
	net_ip("link set lo up");
	return ns;
}

static void make_router(struct row *r, unsigned int nr)
{
	const char *mac = r->packet == PLAIN ? "02:00:00:00:00:0a" :
					       "02:00:00:00:00:02";
	unsigned int i;

	r->ns = net_new();
	net_sysctl("ipv6/conf/default/accept_dad", "0");
	net_sysctl("ipv6/conf/default/router_solicitations", "0");
	net_sysctl("ipv6/conf/all/forwarding", "1");
	net_sysctl("ipv6/conf/default/forwarding", "1");
	net_sysctl("ipv6/conf/all/seg6_enabled", "1");
	net_sysctl("ipv6/conf/default/seg6_enabled", "1");
	net_veth(IN(nr), GEN(nr), gen_ns);
	net_veth(OUT(nr), SINK(nr), sink_ns);
	net_ip("link set v%u address %s", IN(nr), mac);
	if (!r->routes[0])
		return;
	net_ip("sr tunsrc set fc00:99::1");
	for (i = 0; i < 4 && r->routes[i]; i++) {
		char line[256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(line, sizeof(line), r->routes[i], OUT(nr));
#pragma GCC diagnostic pop
		net_ip("%s", line);
	}
}

static void make_frame(struct row *r, unsigned int nr, unsigned int policy)
{
	struct bench_frame f;

	if (r->packet == PLAIN)
		plan_frame(&r->frame, true, policy);
	else
		plan_frame_srv6(&r->frame, true, r->packet == SRV6_END ? 1 : 2);
	memcpy(r->frame.b, r->packet == PLAIN ? plain_mac : srv6_mac, 6);
	plan_renewal(&f, &r->frame, policy, r->flows ? r->flows : 1);
	if (r->burst)
		f.burst = r->burst;
	update(harness->maps.frames, nr, &f);
}

/* Configure srpol for a row and attach it. Return: policy, PLAN_NO_RULE. */
static unsigned int set_up_srpol(struct row *r, unsigned int nr,
				 unsigned int *policies)
{
	struct srpol_dp_sid s = {
		.id = 3, .prefix_len = 128, .behavior = r->behavior,
		.nexthop = 1,
	};
	struct in6_addr last = sid(3);

	if (r->rules || r->srpol == 'u') {
		rig_open();
		plan_begin();
	}
	rig_uplink_add(OUT(nr));
	if (r->srpol == 'u') {
		rig_nexthop(1, OUT(nr), 1);
		memcpy(s.sid, &last, sizeof(s.sid));
		rig_sid_set(&s);
		if (r->forward)
			rig_forward(IN(nr), OUT(nr));
		attach_xdp(IN(nr), rig->progs.srpol_uplink);
		return PLAN_NO_RULE;
	}
	r->policy.id = r->rules ? 1 : ++*policies;
	r->policy.ifindex = OUT(nr);
	plan_policy(&r->policy);
	if (r->rules)
		plan_rules(1, r->rules, PLAN_BY_QP);
	if (r->srpol == 'p')
		attach_xdp(IN(nr), rig->progs.srpol_port);
	else
		attach_tc(OUT(nr), rig->progs.srpol_egress);
	return r->policy.id;
}

static void set_up(void)
{
	unsigned int nr, policy, policies = 0;
	struct bench_seen none = {};
	struct srpol_bpf *common;
	__u32 out;
	struct row *r;

	harness = harness_bpf__open_and_load();
	base = base_bpf__open_and_load();
	if (!harness || !base)
		plan_die("load");
	plan_templates(bpf_map__fd(base->maps.templates));
	gen_ns = quiet_ns();
	sink_ns = quiet_ns();
	/* each router has a namespace of its own */
	rig_any_netns = true;
	rig_open();
	rig_any_netns = false;
	common = rig;
	plan_begin();

	for (nr = 0, r = rows; nr < N_ROWS; nr++, r++) {
		make_router(r, nr);
		net_enter(gen_ns);
		attach_xdp(GEN(nr), base->progs.xdp_drop);
		net_enter(sink_ns);
		if (r->skb)
			attach_tc(SINK(nr), harness->progs.sink_tc);
		else
			attach_xdp(SINK(nr), harness->progs.sink_xdp);
		update(harness->maps.seen, SINK(nr), &none);

		net_enter(r->ns);
		out = OUT(nr);
		update(base->maps.next_dev, IN(nr), &out);
		if (!r->skb)
			update(base->maps.devs, IN(nr), &out);
		policy = PLAN_NO_RULE;
		if (r->srpol)
			policy = set_up_srpol(r, nr, &policies);
		if (r->in || r->only)
			attach_xdp(IN(nr), base_prog(r->in ?: "xdp_drop"));
		if (r->tc_in)
			attach_tc(IN(nr), base_prog(r->tc_in));
		if (r->skb && r->srpol != 'u')
			net_napi(IN(nr));
		rig = common;
		make_frame(r, nr, policy);
		r->ns_mean = calloc(windows, sizeof(*r->ns_mean));
	}
	plan_rules(policies, policies, PLAN_BY_QP);
	net_enter(gen_ns);
}

static struct bench_seen seen(unsigned int nr)
{
	struct bench_seen s = {};
	__u32 key = SINK(nr);

	bpf_map_lookup_elem(bpf_map__fd(harness->maps.seen), &key, &s);
	return s;
}

/* The same, as soon as nothing comes any more. */
static struct bench_seen quiet(unsigned int nr)
{
	const struct timespec pause = { .tv_nsec = 200000000 };
	struct bench_seen s = seen(nr), last;

	do {
		last = s;
		nanosleep(&pause, NULL);
		s = seen(nr);
	} while (s.packets != last.packets);
	return s;
}

/* Was what came what was meant to come? */
static void check_bytes(unsigned int nr, const struct bench_seen *before)
{
	struct bench_seen after = seen(nr);
	__u64 n = after.packets - before->packets;
	__u64 want = n * (rows[nr].frame.len + rows[nr].grows);

	if (after.bytes - before->bytes == want)
		return;
	fprintf(stderr, "%s: %llu packets of %llu bytes in all, not %llu\n",
		rows[nr].name, n, after.bytes - before->bytes, want);
	exit(1);
}

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/*
 * Packets are lost when none has come for long. Return: false if they came late, to
 * be left out.
 */
static bool wait_for(unsigned int nr, __u64 want)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	__u64 n = seen(nr).packets, last = n, since = now_ns();
	bool late = n < want;

	while (n < want && now_ns() - since < LOST_NS) {
		nanosleep(&pause, NULL);
		n = seen(nr).packets;
		if (n != last)
			since = now_ns();
		last = n;
	}
	if (n != want) {
		fprintf(stderr, "%s: %lld packets lost\n", rows[nr].name,
			(long long)(want - n));
		exit(1);
	}
	return !late;
}

static void window(unsigned int nr, unsigned int n, bool counts)
{
	struct row *r = &rows[nr];
	struct xdp_md ctx = {
		.data_end = r->frame.len, .ingress_ifindex = GEN(nr),
	};
	struct bpf_program *prog = harness->progs.generate;
	struct bench_seen before = seen(nr);
	bool in_time = true;
	int err;

	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = r->frame.b,
		    .data_size_in = r->frame.len, .ctx_in = &ctx,
		    .ctx_size_in = sizeof(ctx), .repeat = n,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = BATCH);
	if (r->only == 1)
		prog = harness->progs.generate_only;
	harness->bss->frame_nr = nr;
	/* a signal ends a run, when some packets have been sent: once more, then */
	while ((err = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts)) == -EINTR)
		before = quiet(nr);
	if (err) {
		fprintf(stderr, "%s: %s\n", r->name, strerror(-err));
		exit(1);
	}
	if (!r->only) {
		in_time = wait_for(nr, before.packets + n);
		check_bytes(nr, &before);
	}
	if (!counts)
		return;
	r->ns_mean[r->n] = opts.duration;
	if (in_time)
		r->n++;
	else
		r->late++;
}

int main(int argc, char **argv)
{
	unsigned int w, nr;
	struct row *r;
	int opt;

	while ((opt = getopt(argc, argv, "w:n:")) != -1) {
		if (opt == 'w')
			windows = atoi(optarg);
		else if (opt == 'n')
			packets = atoi(optarg);
		else
			return 2;
	}
	if (!windows || !packets)
		return 2;
	plan_pin();
	set_up();
	for (nr = 0; nr < N_ROWS; nr++)
		window(nr, 1024 + 4 * rows[nr].flows *
			   (rows[nr].burst ? rows[nr].burst : 1), false);
	for (w = 0; w < windows; w++)
		for (nr = 0; nr < N_ROWS; nr++)
			window(nr, packets, true);
	for (nr = 0, r = rows; nr < N_ROWS; nr++, r++) {
		for (w = 0; w < LATE_MAX && !r->n; w++)
			window(nr, packets, true);
		if (!r->n)
			r->n = 1;
		qsort(r->ns_mean, r->n, sizeof(*r->ns_mean), plan_by_value);
		printf("{\"row\": \"%s\", \"p10\": %.0f, \"median\": %.0f, \"max\": %.0f, \"late\": %u}\n",
		       r->name, r->ns_mean[r->n / 10], r->ns_mean[r->n / 2],
		       r->ns_mean[r->n - 1], r->late);
	}
	return 0;
}
