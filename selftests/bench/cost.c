// SPDX-License-Identifier: GPL-2.0
/*
 * cost [-s] [-w WINDOWS] [-n PACKETS]: what the programs cost by themselves, in
 * BPF_PROG_TEST_RUN. One line of JSON per row:
 *
 *	{"row": NAME, "less": NAME, "min": NS, "p10": NS, "median": NS,
 *	 "max": NS}
 *
 * "less" names the row whose cost has to be taken off: an empty program, run in
 * the same way on the same packets. The rows take turns in windows of PACKETS.
 * With -s only rows of which each window does the same: those of one flow, and
 * of first packets.
 *
 * XDP programs run many times on one frame, which a program around them makes
 * as it was before each run. An skb can not be made plain again, so TC programs
 * run once on each of many, and the time is the kernel's own
 * (BPF_ENABLE_STATS): cold, and with the cost of room for the header. They
 * compare among themselves only.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.skel.h"
#include "harness.skel.h"
#include "plan.h"
#include "srpol.skel.h"

#define ROWS_MAX	64
#define SKB_SHARE	10	/* of PACKETS are enough for TC programs */

/* Policies: one for each way to steer. */
enum {
	HASH = 1, ONE, SIX, USID, ACTIVE_BACKUP, FLOWLET, FLOWLETS, SPRAY,
	SPRAY_RANDOM, ADAPTIVE, ON_CONGESTION, DOWN, POLICIES,
};

static const struct plan_policy policies[POLICIES] = {
	[HASH] = { .mode = SRPOL_LB_MODE_HASH, .sids = 3 },
	[ONE] = { .mode = SRPOL_LB_MODE_HASH, .sids = 1 },
	[SIX] = { .mode = SRPOL_LB_MODE_HASH, .sids = 6 },
	[USID] = { .mode = SRPOL_LB_MODE_HASH, .sids = 1, .usids = 6 },
	[ACTIVE_BACKUP] = { .mode = SRPOL_LB_MODE_ACTIVE_BACKUP, .sids = 3 },
	[FLOWLET] = { .mode = SRPOL_LB_MODE_FLOWLET, .sids = 3,
		      .flowlet_timeout_ns = 1000000000 },
	[FLOWLETS] = { .mode = SRPOL_LB_MODE_FLOWLET, .sids = 3 },
	[SPRAY] = { .mode = SRPOL_LB_MODE_SPRAY, .sids = 3 },
	[SPRAY_RANDOM] = { .mode = SRPOL_LB_MODE_SPRAY, .sids = 3,
			   .flags = SRPOL_POLICY_RANDOM },
	[ADAPTIVE] = { .mode = SRPOL_LB_MODE_ADAPTIVE, .sids = 3 },
	[ON_CONGESTION] = { .mode = SRPOL_LB_MODE_ON_CONGESTION, .sids = 3 },
	[DOWN] = { .mode = SRPOL_LB_MODE_HASH, .sids = 3, .down = true },
};

/**
 * struct row - a program and its packets
 * @name: what it is
 * @less: row whose cost is taken off, NULL: this is such a one
 * @fd: TC program; 0: an XDP program, run by the harness
 * @frame: number of the frame
 * @flows: how many are drawn from
 * @first: they are so many that most packets are the first of theirs
 * @packet: the same
 * @ns: mean of each window
 */
struct row {
	const char *name;
	const char *less;
	int fd;
	__u32 frame;
	unsigned int flows;
	bool first;
	struct pkt packet;
	double *ns;
};

static struct row rows[ROWS_MAX];
static unsigned int n_rows, n_targets, windows = 200, packets = 4000;
static bool steady;	/* only rows of which each window does the same */
static struct harness_bpf *harness;
static struct base_bpf *base;

static struct row *row_add(const char *name, const char *less)
{
	struct row *r = &rows[n_rows++];

	if (n_rows > ROWS_MAX)
		abort();
	r->name = name;
	r->less = less;
	r->ns = calloc(windows, sizeof(*r->ns));
	return r;
}

static __u32 target(struct bpf_program *prog)
{
	__u32 nr = n_targets++;
	int fd = bpf_program__fd(prog);

	if (bpf_map_update_elem(bpf_map__fd(harness->maps.targets), &nr, &fd,
				0))
		plan_die(bpf_program__name(prog));
	return nr;
}

_Static_assert(BENCH_TABLE == SRPOL_MAX_FLOWS, "two lines of 65536 flows");

static void row_xdp(const char *name, const char *less, __u32 target,
		    const struct pkt *p, unsigned int policy,
		    unsigned int flows)
{
	struct bench_frame f;
	struct row *r;

	if (steady && flows > 1 && flows < PLAN_STRANGERS)
		return;
	r = row_add(name, less);
	plan_renewal(&f, p, policy, flows);
	f.target = target;
	r->frame = n_rows - 1;
	r->flows = flows;
	r->first = flows == PLAN_STRANGERS;
	r->packet = *p;
	if (bpf_map_update_elem(bpf_map__fd(harness->maps.frames), &r->frame,
				&f, 0))
		plan_die(name);
}

/* A probe that comes back: what is drawn anew goes to its padding. */
#define PROBE_PADDING	224

static void row_probe(const char *name, const char *less, __u32 target,
		      const struct pkt *p)
{
	struct bench_frame f;
	__u32 nr = n_rows;

	row_xdp(name, less, target, p, HASH, 1);
	plan_renewal(&f, p, HASH, 1);
	f.target = target;
	f.flow_off = PROBE_PADDING;
	f.probe = 1;
	if (bpf_map_update_elem(bpf_map__fd(harness->maps.frames), &nr, &f, 0))
		plan_die(name);
}

static void row_tc(const char *name, const char *less,
		   struct bpf_program *prog, const struct pkt *p)
{
	struct row *r = row_add(name, less);

	r->fd = bpf_program__fd(prog);
	r->packet = *p;
}

/* Most flows of a row are to be in the caches, as far as they fit. */
#define WARM_ROUNDS	2

static double window_xdp(const struct row *r)
{
	unsigned int warm = r->first ? 0 : WARM_ROUNDS * r->flows;
	struct harness_bpf__bss *bss = harness->bss;
	static struct pkt out;
	int err;

	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = r->packet.b,
		    .data_size_in = r->packet.len, .data_out = out.b,
		    .data_size_out = sizeof(out.b), .repeat = warm + packets);
	bss->frame_nr = r->frame;
	bss->runs_warm = warm;
	bss->runs_wanted = warm + packets;
	/* a signal ends a run: as a debugger stops and continues a process */
	do {
		bss->runs = 0;
		err = bpf_prog_test_run_opts(bpf_program__fd(harness->progs.again),
					     &opts);
	} while (err == -EINTR);
	if (err || !opts.retval || bss->runs != warm + packets) {
		fprintf(stderr, "%s: %d, verdict %u\n", r->name, err,
			opts.retval);
		exit(1);
	}
	return (double)(bss->last_ns - bss->first_ns) / (packets - 1);
}

static void prog_time(int fd, __u64 *ns, __u64 *runs)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	if (bpf_prog_get_info_by_fd(fd, &info, &len))
		plan_die("bpf_prog_get_info_by_fd");
	*ns = info.run_time_ns;
	*runs = info.run_cnt;
}

static double window_tc(const struct row *r)
{
	__u32 times = packets / SKB_SHARE, i;
	__u64 ns[2], runs[2];
	static struct pkt out;
	int err = 0, stats;

	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = r->packet.b,
		    .data_size_in = r->packet.len, .data_out = out.b);
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (stats < 0)
		plan_die("bpf_enable_stats");
	prog_time(r->fd, &ns[0], &runs[0]);
	for (i = 0; i < times && !err; i++) {
		opts.data_size_out = sizeof(out.b);
		err = bpf_prog_test_run_opts(r->fd, &opts);
	}
	prog_time(r->fd, &ns[1], &runs[1]);
	close(stats);
	if (err || runs[1] - runs[0] != times) {
		fprintf(stderr, "%s: %d\n", r->name, err);
		exit(1);
	}
	return (double)(ns[1] - ns[0]) / times;
}

static void add_rows_xdp(void)
{
	struct pkt v4, v6[POLICIES], none, srv4, srv6, probe;
	__u32 empty = target(base->progs.xdp_empty);
	__u32 up = target(rig->progs.srpol_uplink);
	__u32 port = target(rig->progs.srpol_port);
	unsigned int i;

	for (i = 1; i < POLICIES; i++)
		plan_frame(&v6[i], true, i);
	plan_frame(&v4, false, HASH);
	plan_frame(&none, true, PLAN_NO_RULE);
	plan_frame_srv6(&srv4, false, 2);
	plan_frame_srv6(&srv6, true, 2);
	plan_frame_probe(&probe);

	row_xdp("empty", NULL, empty, &v6[HASH], HASH, 1);
	row_xdp("empty, SRv6", NULL, empty, &srv6, HASH, 1);
	row_xdp("floor of steering, 3 SIDs", "empty",
		target(base->progs.xdp_floor), &v6[HASH], HASH, 1);
	row_xdp("floor of steering, 3 SIDs, by words", "empty",
		target(base->progs.xdp_floor_words), &v6[HASH], HASH, 1);
	row_xdp("floor of decapsulation", "empty, SRv6",
		target(base->progs.xdp_pop), &srv6, HASH, 1);

	row_xdp("port, hash, 3 SIDs", "empty", port, &v6[HASH], HASH, 1);
	row_xdp("port, hash, 3 SIDs, IPv4", "empty", port, &v4, HASH, 1);
	row_xdp("port, hash, 1 SID", "empty", port, &v6[ONE], ONE, 1);
	row_xdp("port, hash, 6 SIDs", "empty", port, &v6[SIX], SIX, 1);
	row_xdp("port, hash, 6 uSIDs", "empty", port, &v6[USID], USID, 1);
	row_xdp("port, active-backup", "empty", port, &v6[ACTIVE_BACKUP], ACTIVE_BACKUP, 1);
	row_xdp("port, flowlet", "empty", port, &v6[FLOWLET], FLOWLET, 1);
	row_xdp("port, flowlet, each packet one", "empty", port, &v6[FLOWLETS],
		FLOWLETS, 1);
	row_xdp("port, spray", "empty", port, &v6[SPRAY], SPRAY, 1);
	row_xdp("port, spray, random", "empty", port, &v6[SPRAY_RANDOM],
		SPRAY_RANDOM, 1);
	row_xdp("port, adaptive", "empty", port, &v6[ADAPTIVE], ADAPTIVE, 1);
	row_xdp("port, on-congestion, left plain", "empty", port, &v6[ON_CONGESTION], ON_CONGESTION, 1);
	row_xdp("port, hash, path down", "empty", port, &v6[DOWN], DOWN, 1);
	row_xdp("port, no rule", "empty", port, &none, PLAN_NO_RULE, 1);
	row_xdp("port, 64 flows", "empty", port, &v6[HASH], HASH, 64);
	row_xdp("port, 1024 flows", "empty", port, &v6[HASH], HASH, 1024);
	row_xdp("port, 8192 flows", "empty", port, &v6[HASH], HASH, 8192);
	row_xdp("port, 65536 flows", "empty", port, &v6[HASH], HASH, 65536);
	row_xdp("two lines of 65536 flows", "empty",
		target(base->progs.xdp_lines), &v6[HASH], HASH, 65536);

	row_xdp("uplink, End.DT46, IPv6", "empty, SRv6", up, &srv6, HASH, 1);
	row_xdp("uplink, End.DT46, IPv4", "empty, SRv6", up, &srv4, HASH, 1);
	row_xdp("uplink, plain, not for a SID", "empty", up, &v6[HASH], HASH,
		1);
	row_probe("empty, probe", NULL, empty, &probe);
	row_probe("uplink, probe", "empty, probe", up, &probe);
}

static void add_rows_tc(void)
{
	struct bpf_program *egress = rig->progs.srpol_egress;
	static const char *const names[POLICIES] = {
		[HASH] = "egress, hash, 3 SIDs",
		[ONE] = "egress, hash, 1 SID", [SIX] = "egress, hash, 6 SIDs",
		[USID] = "egress, hash, 6 uSIDs", [ACTIVE_BACKUP] = "egress, active-backup",
		[FLOWLET] = "egress, flowlet",
		[FLOWLETS] = "egress, flowlet, each packet one",
		[SPRAY] = "egress, spray",
		[SPRAY_RANDOM] = "egress, spray, random",
		[ADAPTIVE] = "egress, adaptive",
		[ON_CONGESTION] = "egress, on-congestion, left plain",
		[DOWN] = "egress, hash, path down",
	};
	struct pkt p;
	__u32 i;

	plan_frame(&p, true, HASH);
	row_tc("empty, TC", NULL, base->progs.tc_empty, &p);
	row_tc("floor of TC: push of 3 SIDs", "empty, TC", base->progs.tc_push,
	       &p);
	for (i = 1; i < POLICIES; i++) {
		plan_frame(&p, true, i);
		row_tc(names[i], "empty, TC", egress, &p);
	}
	plan_frame(&p, false, HASH);
	row_tc("egress, hash, 3 SIDs, IPv4", "empty, TC", egress, &p);
	plan_frame(&p, true, PLAN_NO_RULE);
	row_tc("egress, no rule", "empty, TC", egress, &p);
	row_tc("uplink at TC, not for a virtual port", "empty, TC",
	       rig->progs.srpol_uplink_tc, &p);
}

/*
 * Instances of srpol of their own with more rules; flows that are there are to
 * cost the same, the first packet of one that is not may be 2^22 flows away. Of
 * steady rows one set is enough: to load an instance takes long in a guest.
 */
static void add_rows_rules(void)
{
	static const struct {
		unsigned int rules;
		enum plan_field field;
		const char *known, *first;
	} sets[] = {
		{ 1, PLAN_BY_QP, "port, 1 rule", "port, 1 rule, first packet" },
		{ 64, PLAN_BY_QP, "port, 64 rules",
		  "port, 64 rules, first packet" },
		{ 4095, PLAN_BY_QP, "port, 4095 rules",
		  "port, 4095 rules, first packet" },
		{ 4095, PLAN_BY_DPORT, NULL, "the same by port" },
		{ 4095, PLAN_BY_PKEY, NULL, "the same by P_Key" },
		{ 4095, PLAN_BY_MARK, NULL, "the same by mark" },
		{ 4095, PLAN_BY_DSCP, NULL, "the same by DSCP" },
		{ 4095, PLAN_BY_SRC, NULL, "the same by source" },
		{ 4095, PLAN_BY_ANY, NULL, "the same by all of these" },
	};
	struct plan_policy policy;
	struct pkt p;
	unsigned int i;
	__u32 port;

	plan_frame(&p, true, HASH);
	for (i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		if (steady && sets[i].rules != 64)
			continue;
		rig_open_only("srpol_port");
		plan_begin();
		policy = policies[HASH];
		policy.id = HASH;
		policy.ifindex = 1;
		plan_policy(&policy);
		plan_rules(1, sets[i].rules, sets[i].field);
		rig_uplink_add(1);
		port = target(rig->progs.srpol_port);
		if (sets[i].known)
			row_xdp(sets[i].known, "empty", port, &p, HASH, 1);
		row_xdp(sets[i].first, "empty", port, &p, HASH,
			PLAN_STRANGERS);
	}
}

static void print_rows(void)
{
	struct row *r;

	for (r = rows; r < rows + n_rows; r++) {
		qsort(r->ns, windows, sizeof(*r->ns), plan_by_value);
		printf("{\"row\": \"%s\", ", r->name);
		if (r->less)
			printf("\"less\": \"%s\", ", r->less);
		printf("\"min\": %.2f, \"p10\": %.2f, \"median\": %.2f, ",
		       r->ns[0], r->ns[windows / 10], r->ns[windows / 2]);
		printf("\"max\": %.2f}\n", r->ns[windows - 1]);
	}
}

int main(int argc, char **argv)
{
	struct plan_policy policy;
	unsigned int w, i;
	int opt;

	while ((opt = getopt(argc, argv, "w:n:s")) != -1) {
		if (opt == 'w')
			windows = atoi(optarg);
		else if (opt == 'n')
			packets = atoi(optarg);
		else if (opt == 's')
			steady = true;
		else
			return 2;
	}
	if (!windows || packets < SKB_SHARE)
		return 2;
	plan_pin();
	rig_open();
	harness = harness_bpf__open();
	base = base_bpf__open_and_load();
	if (!harness || !base ||
	    bpf_map__reuse_fd(harness->maps.probes, rig_map("probes")) ||
	    harness_bpf__load(harness))
		plan_die("load");
	plan_templates(bpf_map__fd(base->maps.templates));
	plan_begin();
	for (i = 1; i < POLICIES; i++) {
		policy = policies[i];
		policy.id = i;
		policy.ifindex = 1;
		plan_policy(&policy);
	}
	plan_rules(POLICIES - 1, 16, PLAN_BY_QP);
	rig_uplink_add(1);
	add_rows_xdp();
	add_rows_tc();
	add_rows_rules();

	for (w = 0; w < windows; w++)
		for (i = 0; i < n_rows; i++)
			rows[i].ns[w] = rows[i].fd ?
					window_tc(&rows[i]) :
					window_xdp(&rows[i]);
	print_rows();
	return 0;
}
