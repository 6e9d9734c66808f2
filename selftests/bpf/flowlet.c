// SPDX-License-Identifier: GPL-2.0
/*
 * flowlet [ROUNDS [MILLISECONDS]]: what mode flowlet makes of bursty flows, for
 * one gap of the policy after the other and for mode hash beside them.
 *
 * The packets of FLOWS QPs go through srpol_egress one by one, when their time
 * has come: the gaps it sees are real ones. Every flow sends bursts of packets
 * with idle times in between, both bounded Pareto and the same for all gaps of
 * a round; a time that is late makes all later ones of its flow late, so that
 * no gap gets shorter than drawn. A round has QPs of its own, drawn as well:
 * the eight that are busy of the many a host has. Which paths they are hashed
 * to is luck, other than with QPs that have consecutive numbers.
 *
 * Output, a line each, the first two after every run:
 *
 *	run ROUND GAP_NS SECONDS	gap 0: mode hash
 *	flow FLOW FLOWLETS MOVES	as counted by srpol
 *	packet FLOW NS PATH BYTES	path and length of what came out
 */
#include <bpf/bpf.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"

#define FLOWS		8
#define PATHS		4
#define PAYLOAD		1024
#define US		1000
#define QP_MAX		0xfffffe
#define PACKETS_MAX	1000000

#define SPACING		(8 * US)	/* within bursts */
#define STALL		(1000 * US)
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* A bounded Pareto distribution. */
struct pareto {
	double least;
	double most;
	double shape;
};

/* Time between bursts; packets of a burst. */
static const struct pareto idle_ns = { 50 * US, 20000 * US, .7 };
static const struct pareto burst = { 2, 500, 1.2 };

static const __u32 gaps_us[] = {
	0, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000,
};

/**
 * struct sender - a flow
 * @qp: its QP
 * @pkt: its packet
 * @flow: its entry in map flows, once it has sent something
 * @random: state of erand48()
 * @next_ns: when the next packet leaves
 * @left: packets left of the burst
 */
struct sender {
	__u32 qp;
	struct pkt pkt;
	const struct srpol_flow *flow;
	unsigned short random[3];
	__u64 next_ns;
	unsigned int left;
};

struct record {
	__u64 ns;
	__u32 flow;
	__u32 path;
	__u32 bytes;
};

static struct in6_addr sids[PATHS][2];
static struct sender senders[FLOWS];
static struct record records[PACKETS_MAX];

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static double draw(const struct pareto *p, unsigned short *random)
{
	double cut = 1 - pow(p->least / p->most, p->shape);

	return p->least / pow(1 - cut * erand48(random), 1 / p->shape);
}

/* Four paths that differ in their SIDs, of equal weight. */
static void setup(__u32 gap_us)
{
	struct srpol_dp_policy policy = {
		.id = 1, .color = 1, .row = 1, .n_buckets = 128,
		.mode = gap_us ? SRPOL_LB_MODE_FLOWLET : SRPOL_LB_MODE_HASH,
		.flowlet_timeout_ns = gap_us * US, .flags = SRPOL_POLICY_EVEN,
	};
	struct srpol_dp_rule all = {
		.id = 1, .color = 1, .mode = SRPOL_MODE_INHERIT,
	};
	struct srpol_dp_row row = { .row = 1 };
	struct outer o = { .n = 2 };
	__u32 i;

	rig_reset();
	rig_nexthop(1, 1, 1);
	for (i = 0; i < PATHS; i++) {
		sids[i][0] = sid(1 + i);
		sids[i][1] = sid(100);
		o.sids = sids[i];
		rig_path(1 + i, &o, 1, 9000);
	}
	for (i = 0; i < SRPOL_ROW_BUCKETS; i++)
		row.path[i] = 1 + i / (SRPOL_ROW_BUCKETS / PATHS);
	rig_call("row_set", &row, sizeof(row));
	rig_policy(&policy);
	rig_rules(&all, 1);
}

static void start_flows(__u32 round)
{
	struct inner in = {
		.src = "fd00::1", .dst = "fd00::2", .roce = true,
		.sport = 0xc000, .opcode = 7, .payload = PAYLOAD,
	};
	unsigned short seed[3] = { round };
	__u64 start = now_ns();
	struct sender *s;
	__u32 i;

	for (i = 0; i < FLOWS; i++) {
		s = &senders[i];
		s->flow = NULL;
		s->random[0] = nrand48(seed);
		s->random[1] = nrand48(seed);
		s->random[2] = nrand48(seed);
		s->qp = 1 + nrand48(seed) % QP_MAX;
		in.qp = s->qp;
		pkt_inner(&s->pkt, &in);
		s->left = 0;
		s->next_ns = start + draw(&idle_ns, s->random);
	}
}

/* The flow's entry, after it has sent something. */
static struct srpol_flow flow_of(struct sender *s)
{
	static const struct srpol_flow none;

	while (!s->flow || s->flow->key.qp != s->qp) {
		s->flow = rig_flow_next(s->flow);
		if (s->flow)
			continue;
		FAIL("QP %u has no flow", s->qp);
		return none;
	}
	return *s->flow;
}

/* Which path the packet's first SID is of; 0 none. */
static __u32 path_of(const struct pkt *out)
{
	__u32 i;

	for (i = 0; i < PATHS; i++)
		if (out->len > 54 && !memcmp(out->b + 38, &sids[i][0], 16))
			return 1 + i;
	return 0;
}

/*
 * In mode flowlet the time is the one the program took, so that no delay of
 * this process comes between what it decided by and what is recorded.
 */
static void send_one(struct sender *s, bool flowlet, struct record *r)
{
	static struct pkt out;
	struct srpol_flow f;

	r->flow = s - senders;
	r->ns = now_ns();
	CHECK_EQ(rig_egress(&s->pkt, &out), TC_NEXT, "verdict");
	r->path = path_of(&out);
	r->bytes = out.len;
	CHECK(r->path, "QP %u: not steered", s->qp);
	f = flow_of(s);
	if (flowlet)
		r->ns = f.last_ns;
}

static void schedule(struct sender *s)
{
	if (!s->left)
		s->left = draw(&burst, s->random);
	s->left--;
	s->next_ns = now_ns();
	s->next_ns += s->left ? SPACING : draw(&idle_ns, s->random);
}

/* Time in which this process did not get to run is made up for. */
static void run(__u32 round, __u32 gap_us, __u64 length_ns)
{
	struct srpol_flow_detail detail;
	__u64 end, ns, before;
	__u32 i, next, n;

	setup(gap_us);
	start_flows(round);
	ns = now_ns();
	end = ns + length_ns;
	for (n = 0; n < PACKETS_MAX; n++) {
		for (i = 1, next = 0; i < FLOWS; i++)
			if (senders[i].next_ns < senders[next].next_ns)
				next = i;
		do {
			before = ns;
			ns = now_ns();
			if (ns - before > STALL)
				end += ns - before;
		} while (ns < senders[next].next_ns && ns < end);
		if (ns >= end)
			break;
		send_one(&senders[next], gap_us, &records[n]);
		schedule(&senders[next]);
	}

	printf("run %u %u %f\n", round, gap_us * US, length_ns / 1e9);
	for (i = 0; i < FLOWS; i++) {
		if (!senders[i].flow)
			continue;
		detail = rig_detail(senders[i].qp);
		printf("flow %u %u %u\n", i, detail.flowlets, detail.moves);
	}
	for (i = 0; i < n; i++)
		printf("packet %u %llu %u %u\n", records[i].flow,
		       records[i].ns, records[i].path, records[i].bytes);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	__u32 rounds = argc > 1 ? atoi(argv[1]) : 8, round, i;
	__u64 length_ms = argc > 2 ? atoi(argv[2]) : 400;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(1 % sysconf(_SC_NPROCESSORS_ONLN), &one);
	sched_setaffinity(0, sizeof(one), &one);
	rig_open();
	for (round = 0; round < rounds && !ktap_failures; round++)
		for (i = 0; i < ARRAY_SIZE(gaps_us); i++)
			run(round, gaps_us[i], length_ms * 1000 * US);
	return ktap_failures ? 1 : 0;
}
