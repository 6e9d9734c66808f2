// SPDX-License-Identifier: GPL-2.0
/*
 * bench [WINDOWS]: nanoseconds per packet of all programs, as the kernel's
 * own run-time statistics have them, beside those of an empty program and of
 * the least one that changes the packet in the same way. The modes have their
 * ratio to mode hash beside them.
 *
 * Every packet is a test run of its own, since an encapsulated packet can not
 * be made plain again in place. The candidates take turns in windows of RUNS
 * packets; the fast decile over the windows is what to compare, and only
 * within one invocation. The cost of taking the time is in the empty program.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.skel.h"
#include "ktap.h"
#include "rig.h"
#include "srpol.skel.h"

#define RUNS		2000
#define PAYLOAD		3000
#define FLOWS		64

/* Policy, path list and QPs of each way to steer. */
enum {
	HASH = 1, PINNED, FLOWLET, FLOWLETS, SPRAY, SPRAY_RANDOM, ADAPTIVE,
	AUTO, ONE, THREE, SIX, POLICIES,
};

#define QPS(policy)	((policy) * 1000)

/**
 * struct candidate - a program and the packets it gets
 * @name: what it is
 * @empty: number of the candidate whose cost is taken off
 * @than: number of the one it is compared with, 0 none
 * @fd: program
 * @packets: FLOWS packets, taken in turn
 */
struct candidate {
	const char *name;
	unsigned int empty;
	unsigned int than;
	int fd;
	const struct pkt *packets;
};

static struct in6_addr sids[SRPOL_SEGS_MAX];

static const __u32 modes[POLICIES] = {
	[HASH] = SRPOL_LB_MODE_HASH, [PINNED] = SRPOL_LB_MODE_PINNED,
	[FLOWLET] = SRPOL_LB_MODE_FLOWLET,
	[FLOWLETS] = SRPOL_LB_MODE_FLOWLET, [SPRAY] = SRPOL_LB_MODE_SPRAY,
	[SPRAY_RANDOM] = SRPOL_LB_MODE_SPRAY,
	[ADAPTIVE] = SRPOL_LB_MODE_ADAPTIVE, [AUTO] = SRPOL_LB_MODE_AUTO,
};

/* Four paths of three SIDs for the modes; one path for the numbers of SIDs. */
static void setup_policy(__u32 id)
{
	struct srpol_dp_policy policy = {
		.id = id, .color = id, .row = id, .n_buckets = 128,
		.mode = modes[id], .threshold = 4,
		.gap_ns = id == FLOWLETS ? 0 : 1000000000,
		.hysteresis_ms = 50, .hold_off_ms = 1000,
		.flags = SRPOL_POLICY_EVEN,
	};
	struct outer o = { .sids = sids, .n = 3 };
	struct srpol_dp_row row = { .row = id };
	__u32 i;

	o.n = id == ONE ? 1 : id == SIX ? 6 : 3;
	if (id == SPRAY_RANDOM)
		policy.flags |= SRPOL_POLICY_RANDOM;
	for (i = 0; i < 4; i++)
		rig_path(id * 4 + i, &o, 1, 9000);
	for (i = 0; i < SRPOL_ROW_BUCKETS; i++)
		row.path[i] = id * 4 + i / 32;
	rig_call("row_set", &row, sizeof(row));
	rig_policy(&policy);
}

static void setup(void)
{
	struct srpol_dp_class rules[16] = {};
	__u32 i;

	rig_reset();
	rig_uplinks_clear();
	rig_uplink_add(1);
	rig_nexthop(1, 1, 1);
	rig_sid(3, sids[2], SRPOL_BEHAVIOR_END_DT46);
	for (i = 0; i < 16; i++) {
		rules[i].color = i < POLICIES ? i : 0;
		rules[i].match = SRPOL_MATCH_QP;
		rules[i].qp[0] = QPS(i);
		rules[i].qp[1] = QPS(i) + 999;
		rules[i].mode = SRPOL_MODE_INHERIT;
		rules[i].ordering = SRPOL_ORDERING_WEAK;
	}
	for (i = 1; i < POLICIES; i++)
		setup_policy(i);
	rig_rules(rules, 16);
}

static struct pkt *plain_packets(bool six, __u32 qp)
{
	struct pkt *p = calloc(FLOWS, sizeof(*p));
	struct inner in = {
		.src = six ? "fd00::1" : "10.0.0.1",
		.dst = six ? "fd00::2" : "10.0.0.2",
		.roce = true, .sport = 0xc000, .tclass = 2, .opcode = 7,
		.psn = 1, .payload = PAYLOAD,
	};
	unsigned int i;

	for (i = 0; i < FLOWS; i++) {
		in.qp = qp + i;
		pkt_inner(&p[i], &in);
	}
	return p;
}

static struct pkt *srv6_packets(bool six)
{
	struct outer o = { .sids = sids, .n = 3, .travelled = 2, .tclass = 2 };
	struct pkt *p = plain_packets(six, 1), ip;
	unsigned int i;

	for (i = 0; i < FLOWS; i++) {
		ip = p[i];
		pkt_encap(&p[i], &o, ip.b + 14, ip.len - 14);
	}
	return p;
}

/* Return: mean of one window. */
static double run_window(const struct candidate *c)
{
	struct bpf_prog_info before = {}, after = {};
	__u32 len = sizeof(before), i;
	static struct pkt out;
	int err = 0;

	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_out = out.b);
	bpf_prog_get_info_by_fd(c->fd, &before, &len);
	for (i = 0; i < RUNS && !err; i++) {
		opts.data_in = c->packets[i % FLOWS].b;
		opts.data_size_in = c->packets[i % FLOWS].len;
		opts.data_size_out = sizeof(out.b);
		err = bpf_prog_test_run_opts(c->fd, &opts);
	}
	len = sizeof(after);
	bpf_prog_get_info_by_fd(c->fd, &after, &len);
	if (err || after.run_cnt - before.run_cnt != RUNS) {
		fprintf(stderr, "%s: %s\n", c->name, strerror(-err));
		exit(1);
	}
	return (double)(after.run_time_ns - before.run_time_ns) / RUNS;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	unsigned int windows = argc > 1 ? atoi(argv[1]) : 100, w, i, p10;
	struct pkt *v4, *v6[POLICIES], *other, *srv4, *srv6;
	struct bench_bpf *floor;
	double net, than;
	cpu_set_t one;
	int stats;

	CPU_ZERO(&one);
	CPU_SET(1 % sysconf(_SC_NPROCESSORS_ONLN), &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (i = 0; i < SRPOL_SEGS_MAX; i++)
		sids[i] = sid(i + 1);
	rig_open();
	setup();
	floor = bench_bpf__open_and_load();
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (!floor || stats < 0 || !windows)
		return 1;

	v4 = plain_packets(false, QPS(HASH));
	for (i = 1; i < POLICIES; i++)
		v6[i] = plain_packets(true, QPS(i));
	other = plain_packets(true, 100000);
	srv4 = srv6_packets(false);
	srv6 = srv6_packets(true);

	int tc = bpf_program__fd(rig->progs.srpol_egress);
	int up = bpf_program__fd(rig->progs.srpol_uplink);
	int port = bpf_program__fd(rig->progs.srpol_port);
	int tc_empty = bpf_program__fd(floor->progs.tc_empty);
	int xdp_empty = bpf_program__fd(floor->progs.xdp_empty);
	struct candidate c[] = {
		{ "tc: empty", 0, 0, tc_empty, v6[HASH] },
		{ "tc: push only", 0, 0, bpf_program__fd(floor->progs.tc_push),
		  v6[HASH] },
		{ "tc: hash", 0, 2, tc, v6[HASH] },
		{ "tc: hash, IPv4", 0, 2, tc, v4 },
		{ "tc: pinned", 0, 2, tc, v6[PINNED] },
		{ "tc: flowlet", 0, 2, tc, v6[FLOWLET] },
		{ "tc: flowlet, each packet one", 0, 2, tc, v6[FLOWLETS] },
		{ "tc: spray, round robin", 0, 2, tc, v6[SPRAY] },
		{ "tc: spray, random", 0, 2, tc, v6[SPRAY_RANDOM] },
		{ "tc: adaptive", 0, 2, tc, v6[ADAPTIVE] },
		{ "tc: auto, left plain", 0, 2, tc, v6[AUTO] },
		{ "tc: no rule matches", 0, 2, tc, other },
		{ "xdp: empty", 12, 0, xdp_empty, v6[HASH] },
		{ "xdp: port, hash, 1 SID", 12, 2, port, v6[ONE] },
		{ "xdp: port, hash, 3 SIDs", 12, 2, port, v6[THREE] },
		{ "xdp: port, hash, 6 SIDs", 12, 2, port, v6[SIX] },
		{ "xdp: empty, SRv6", 16, 0, xdp_empty, srv6 },
		{ "xdp: pop only", 16, 0,
		  bpf_program__fd(floor->progs.xdp_pop), srv6 },
		{ "xdp: End.DT46, IPv4", 16, 17, up, srv4 },
		{ "xdp: End.DT46, IPv6", 16, 17, up, srv6 },
		{ "xdp: plain, not a local SID", 16, 17, up, v6[HASH] },
	};
	const unsigned int n = sizeof(c) / sizeof(c[0]);

	double ns[n][windows];

	for (w = 0; w < windows; w++)
		for (i = 0; i < n; i++)
			ns[i][w] = run_window(&c[i]);

	p10 = windows / 10;
	printf("%-32s %8s %8s %8s %8s\n", "ns per packet", "p10", "median",
	       "net", "ratio");
	for (i = 0; i < n; i++)
		qsort(ns[i], windows, sizeof(double), by_value);
	for (i = 0; i < n; i++) {
		net = ns[i][p10] - ns[c[i].empty][p10];
		printf("%-32s %8.1f %8.1f %8.1f", c[i].name, ns[i][p10],
		       ns[i][windows / 2], net);
		if (c[i].than) {
			than = ns[c[i].than][p10] -
			       ns[c[c[i].than].empty][p10];
			printf(" %8.2f", net / than);
		}
		printf("\n");
	}
	close(stats);
	return 0;
}
