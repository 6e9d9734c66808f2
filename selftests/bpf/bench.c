// SPDX-License-Identifier: GPL-2.0
/*
 * bench [WINDOWS]: nanoseconds per packet of both programs, as the kernel's
 * own run-time statistics have them, beside those of an empty program and of
 * the least one that changes the packet in the same way.
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

/**
 * struct candidate - a program and the packets it gets
 * @name: what it is
 * @empty: name of the program whose cost is taken off
 * @fd: program
 * @packets: FLOWS packets, taken in turn
 */
struct candidate {
	const char *name;
	unsigned int empty;
	int fd;
	const struct pkt *packets;
};

static struct in6_addr sids[SRPOL_SEGS_MAX];

static void setup(void)
{
	struct outer o = { .sids = sids, .n = 3 };
	struct srpol_dp_policy policy = {
		.id = 1, .color = 5, .row = 1, .n_buckets = 128,
	};
	struct srpol_dp_class rules[16] = {};
	int i;

	rig_reset();
	rig_nexthop(1, 1, 1);
	rig_path(1, &o, 1, 9000);
	rig_row_one(1, 1);
	rig_policy(&policy);
	rig_sid(3, sids[2], SRPOL_BEHAVIOR_END_DT46);
	for (i = 0; i < 16; i++) {
		rules[i].color = 5;
		rules[i].match = SRPOL_MATCH_QP;
		rules[i].qp[0] = i * 100;
		rules[i].qp[1] = i * 100 + 99;
	}
	rig_rules(rules, 16);
}

static struct pkt *plain_packets(bool six, __u32 qp)
{
	struct pkt *p = calloc(FLOWS, sizeof(*p));
	struct inner in = {
		.src = six ? "fd00::1" : "10.0.0.1",
		.dst = six ? "fd00::2" : "10.0.0.2",
		.roce = true, .sport = 0xc000, .tclass = 2,
		.payload = PAYLOAD,
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
	struct bench_bpf *floor;
	struct pkt *v4, *v6, *other, *srv4, *srv6;
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

	v4 = plain_packets(false, 1);
	v6 = plain_packets(true, 1);
	other = plain_packets(true, 100000);
	srv4 = srv6_packets(false);
	srv6 = srv6_packets(true);

	int tc = bpf_program__fd(rig->progs.srpol_egress);
	int xdp = bpf_program__fd(rig->progs.srpol_uplink);
	struct candidate c[] = {
		{ "tc: empty", 0, bpf_program__fd(floor->progs.tc_empty), v6 },
		{ "tc: push only", 0, bpf_program__fd(floor->progs.tc_push),
		  v6 },
		{ "tc: srpol steers, IPv4", 0, tc, v4 },
		{ "tc: srpol steers, IPv6", 0, tc, v6 },
		{ "tc: srpol, no rule matches", 0, tc, other },
		{ "xdp: empty", 5, bpf_program__fd(floor->progs.xdp_empty),
		  srv6 },
		{ "xdp: pop only", 5, bpf_program__fd(floor->progs.xdp_pop),
		  srv6 },
		{ "xdp: srpol End.DT46, IPv4", 5, xdp, srv4 },
		{ "xdp: srpol End.DT46, IPv6", 5, xdp, srv6 },
		{ "xdp: srpol, not a local SID", 5, xdp, v6 },
	};
	const unsigned int n = sizeof(c) / sizeof(c[0]);

	double ns[n][windows];

	for (w = 0; w < windows; w++)
		for (i = 0; i < n; i++)
			ns[i][w] = run_window(&c[i]);

	p10 = windows / 10;
	printf("%-32s %8s %8s %8s\n", "ns per packet", "p10", "median", "net");
	for (i = 0; i < n; i++)
		qsort(ns[i], windows, sizeof(double), by_value);
	for (i = 0; i < n; i++)
		printf("%-32s %8.1f %8.1f %8.1f\n", c[i].name, ns[i][p10],
		       ns[i][windows / 2], ns[i][p10] - ns[c[i].empty][p10]);
	close(stats);
	return 0;
}
