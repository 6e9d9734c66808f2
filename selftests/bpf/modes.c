// SPDX-License-Identifier: GPL-2.0
/* Egress: how the packets of a flow are spread, mode by mode. */
#include <bpf/bpf.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"
#include "spread.h"

/* Paths 1 to 4 in the order given. */
static __u32 listed(__u32 bucket, const void *arg)
{
	return ((const __u32 *)arg)[bucket % PATHS];
}

/* A million QPs over weights 2:2:1. */
static void test_shares(void)
{
	const struct srpol_dp_policy p = { .mode = SRPOL_LB_MODE_HASH };
	struct inner in = spread_flow(1);
	const __u32 n = 1000000;
	struct pkt pkt;
	__u32 i;

	spread_setup_row(&p, 0, spread_two_two_one, NULL);
	pkt_inner(&pkt, &in);
	for (i = 0; i < n; i++) {
		pkt.b[14 + 40 + 8 + 5] = i >> 16;
		pkt.b[14 + 40 + 8 + 6] = i >> 8;
		pkt.b[14 + 40 + 8 + 7] = i;
		rig_egress(&pkt, NULL);
	}
	/* 128 buckets: 52, 51, 25 of them. */
	spread_check("weight 2", spread_packets(1), n * 52 / 128., n / 100.);
	spread_check("weight 2", spread_packets(2), n * 51 / 128., n / 100.);
	spread_check("weight 1", spread_packets(3), n * 25 / 128., n / 100.);
	spread_check("weight 2", spread_packets(1), n * .4, n / 100.);
	spread_check("weight 1", spread_packets(3), n * .2, n / 100.);
}

static void test_spray_even(void)
{
	const struct srpol_dp_policy p = { .mode = SRPOL_LB_MODE_SPRAY };
	struct inner in = spread_flow(QP);
	struct srpol_flow_detail f;
	__u32 i;

	spread_setup(&p, SRPOL_ORDERING_WEAK);
	for (i = 0; i < 4000; i++) {
		/* One each of every four. */
		if (i % PATHS == 0)
			CHECK_EQ(spread_packets(1 + i / PATHS % PATHS),
				 i / PATHS, "after %u", i);
		spread_send(&in);
	}
	for (i = 1; i <= PATHS; i++)
		CHECK_EQ(spread_packets(i), 1000, "path %u", i);
	f = rig_detail(QP);
	CHECK_EQ(f.moves, 0, "not counted for spray");
	rig_expect("round robin", SRPOL_REASON_STEERED, 4000, RIG_END);
	/* By weights: each stretch of the table its share, exactly. */
	spread_setup_row(&p, SRPOL_ORDERING_WEAK, spread_two_two_one,
			 NULL);
	for (i = 0; i < 12800; i++)
		spread_send(&in);
	spread_check("52 buckets", spread_packets(1), 5200, 3);
	spread_check("51 buckets", spread_packets(2), 5100, 3);
	spread_check("25 buckets", spread_packets(3), 2500, 3);
	/* A dead path's packets go to all the others. */
	spread_setup(&p, SRPOL_ORDERING_WEAK);
	rig_path_state(2, 0);
	for (i = 0; i < 4000; i++)
		spread_send(&in);
	CHECK_EQ(spread_packets(2), 0, "dead");
	for (i = 1; i <= PATHS; i++)
		if (i != 2)
			spread_check("survivor", spread_packets(i), 4000 / 3.,
				     100);
}

static void test_spray_random(void)
{
	const struct srpol_dp_policy p = {
		.mode = SRPOL_LB_MODE_SPRAY, .flags = SRPOL_POLICY_RANDOM,
	};
	struct inner in = spread_flow(QP);
	const __u32 n = 40000;
	__u32 i;

	spread_setup(&p, SRPOL_ORDERING_WEAK);
	for (i = 0; i < n; i++)
		spread_send(&in);
	for (i = 1; i <= PATHS; i++)
		spread_check("random", spread_packets(i), n / 4., n * .02);
}

/* Only what a rule allows: WRITE middle is weak, all else of the QP strong. */
static void test_spray_safe(void)
{
	const struct srpol_dp_policy p = { .mode = SRPOL_LB_MODE_SPRAY };
	struct srpol_dp_rule r[2] = {
		{ .id = 1, .color = COLOR, .mode = SRPOL_MODE_INHERIT,
		  .match = SRPOL_MATCH_OPCODE, .opcodes = { 1 << 7 },
		  .ordering = SRPOL_ORDERING_WEAK },
		{ .id = 2, .color = COLOR, .mode = SRPOL_MODE_INHERIT },
	};
	struct inner in = spread_flow(QP);
	__u32 i, path, op, n = 0;

	spread_setup(&p, SRPOL_ORDERING_STRONG);
	rig_rules(r, 2);
	rig_mark();
	for (op = 0; op < 0x15; op++) {
		__u64 before[PATHS + 1], took = 0;

		in.opcode = op;
		for (path = 1; path <= PATHS; path++)
			before[path] = spread_packets(path);
		for (i = 0; i < 16; i++)
			spread_send(&in);
		for (path = 1; path <= PATHS; path++)
			took += spread_packets(path) != before[path];
		CHECK_EQ(took, op == 7 ? PATHS : 1, "opcode %u", op);
		n += op != 7 ? 16 : 0;
	}
	rig_expect("refused", SRPOL_REASON_STEERED, n + 16,
		   SRPOL_REASON_SPRAY_UNSAFE, n, RIG_END);
}

static void test_spray_partial(void)
{
	const struct srpol_dp_policy p = { .mode = SRPOL_LB_MODE_SPRAY };
	__u32 took[64], i, round, distinct = 0;
	struct inner in = spread_flow(QP);

	spread_setup(&p, SRPOL_ORDERING_PARTIAL);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 64; i++) {
			in.sport = 0xc000 + i % 8;
			in.label = i / 8;
			/* The flow key has the source port: one per port. */
			__u64 before[PATHS + 1];
			__u32 path;
			struct pkt pkt;

			for (path = 1; path <= PATHS; path++)
				before[path] = spread_packets(path);
			pkt_inner(&pkt, &in);
			rig_egress(&pkt, NULL);
			for (path = 1; path <= PATHS; path++)
				if (spread_packets(path) != before[path])
					break;
			if (round)
				CHECK_EQ(path, took[i], "key %u", i);
			took[i] = path;
		}
	}
	for (i = 1; i <= PATHS; i++) {
		spread_check("partial", spread_packets(i), 3 * 16, 3 * 12);
		distinct += spread_packets(i) > 0;
	}
	CHECK_EQ(distinct, PATHS, "paths");
}

static void test_pinned(void)
{
	static const __u32 order[PATHS] = { 3, 1, 4, 2 };
	struct srpol_dp_policy p = {
		.mode = SRPOL_LB_MODE_ACTIVE_BACKUP, .drop_upon_invalid = 1,
	};
	struct inner in;
	__u32 i, qp;

	spread_setup_row(&p, 0, listed, order);
	for (i = 0; i < PATHS; i++) {
		for (qp = 1; qp < 40; qp++) {
			in = spread_flow(qp);
			CHECK_EQ(spread_send(&in), order[i], "QP %u", qp);
		}
		spread_quality(order[i], 100000, 0);
		in = spread_flow(1);
		CHECK_EQ(spread_send(&in), order[i], "pinned, however bad");
		rig_path_state(order[i], 0);
	}
	/* Then the backup. */
	p.backup = 2;
	rig_row_one(5, BACKUP_PATH);
	rig_policy(&(struct srpol_dp_policy){
		.id = 2, .color = 77, .row = 5, .n_buckets = 128 });
	p.id = POLICY;
	p.color = COLOR;
	p.row = 1;
	p.n_buckets = 128;
	rig_policy(&p);
	CHECK_EQ(spread_send(&in), BACKUP_PATH, "backup");
	/* And back. */
	for (i = PATHS; i > 0; i--) {
		rig_path_state(order[i - 1], 1);
		CHECK_EQ(spread_send(&in), order[i - 1], "back to %u",
			 order[i - 1]);
	}
}

/*
 * Twice a signal, and a packet 600 ms after it. Return: false, and nothing was
 * looked at, if any of this took nearly the second for which a signal
 * holds; clocks are coarse.
 */
static bool held(const struct inner *in)
{
	__u64 first, second;
	__u32 path, then, later;

	rig_mark();
	first = spread_now_ms();
	spread_cnp(7);
	path = spread_send(in);
	usleep(600000);
	then = spread_send(in);
	second = spread_now_ms();
	spread_cnp(7);
	if (spread_now_ms() - first >= 950)
		return false;
	usleep(600000);
	later = spread_send(in);
	if (spread_now_ms() - second >= 950)
		return false;
	CHECK(path, "contention");
	CHECK_EQ(then, path, "held");
	CHECK_EQ(later, path, "held on");
	rig_expect("contention", SRPOL_REASON_CNP, 2, SRPOL_REASON_STEERED, 3,
		   SRPOL_REASON_NOT_LOCAL, 2, RIG_END);
	return true;
}

static void test_auto(void)
{
	struct srpol_dp_policy p = {
		.mode = SRPOL_LB_MODE_ON_CONGESTION, .wait_to_restore_ms = 1000,
	};
	struct inner in = spread_flow(QP);
	struct srpol_flow f;
	struct pkt pkt, out;
	unsigned int tries;

	spread_setup(&p, 0);
	pkt_inner(&pkt, &in);
	CHECK_EQ(rig_egress(&pkt, &out), TC_NEXT, "plain");
	CHECK(pkt_equal(&out, &pkt), "plain");
	rig_flow_of(QP, &f);
	CHECK_EQ(f.path, 0, "left alone");
	rig_expect("plain", SRPOL_REASON_NOT_CONGESTED, 1, RIG_END);
	spread_bind(QP, 7);
	for (tries = 0; tries < 20 && !held(&in); tries++)
		;
	CHECK(tries < 20, "the machine is too busy");
	usleep(1100000);
	CHECK_EQ(spread_send(&in), 0, "over");
	CHECK_EQ(rig_detail(QP).moves, 0, "not a move");
}

/* A rule's mode goes before the policy's. */
static void test_rule_mode(void)
{
	struct srpol_dp_policy p = { .mode = SRPOL_LB_MODE_ON_CONGESTION };
	struct srpol_dp_rule r = {
		.id = 1, .color = COLOR, .mode = SRPOL_LB_MODE_ACTIVE_BACKUP,
	};
	struct inner in = spread_flow(QP);
	struct srpol_flow_detail f;

	spread_setup(&p, 0);
	rig_rules(&r, 1);
	CHECK_EQ(spread_send(&in), 1, "pinned");
	f = rig_detail(QP);
	CHECK_EQ(f.mode, SRPOL_LB_MODE_ACTIVE_BACKUP, "mode");
	r.mode = 6;
	r.slot = 100;
	CHECK_EQ(rig_call("rule_set", &r, sizeof(r)), -22, "no such mode");
	r.mode = 0;
	r.ordering = 3;
	CHECK_EQ(rig_call("rule_set", &r, sizeof(r)), -22, "no such ordering");
}

/* Not the path that is given: the next one instead. */
static __u32 without(__u32 bucket, const void *arg)
{
	__u32 path = spread_even(bucket, NULL);

	return path == *(const __u32 *)arg ? path % PATHS + 1 : path;
}

/* A rule's path: while the policy has it and it is up; then by hash, and back. */
static void test_rule_path(void)
{
	struct srpol_dp_policy p = { .mode = SRPOL_LB_MODE_FLOWLET };
	struct srpol_dp_rule r[2] = {
		{ .id = 1, .color = COLOR, .mode = SRPOL_LB_MODE_HASH,
		  .match = SRPOL_MATCH_QP },
		{ .id = 2, .color = COLOR, .mode = SRPOL_LB_MODE_HASH },
	};
	struct inner in = spread_flow(QP), other = spread_flow(QP + 1);
	__u32 i, home, path, slot = 0;
	struct srpol_flow f;

	spread_setup(&p, 0);
	r[0].qp[0] = QP;
	r[0].qp[1] = QP;
	rig_rules(r, 2);
	home = spread_send(&in);
	path = spread_send(&other);
	for (i = 1; i <= PATHS; i++) {
		r[0].path = i;
		rig_rules(r, 2);
		CHECK_EQ(spread_send(&in), i, "the rule's path");
		CHECK_EQ(spread_send(&in), i, "and again");
		CHECK_EQ(spread_send(&other), path, "another rule's flow");
	}
	rig_flow_of(QP, &f);
	CHECK_EQ(rig_detail(QP).rule_path, PATHS, "shown");
	CHECK_EQ(f.bytes, rig_counter("rule_stats", 1).bytes, "one entry");
	/* it fails, and comes back */
	r[0].path = home % PATHS + 1;
	rig_rules(r, 2);
	CHECK_EQ(spread_send(&in), r[0].path, "another one");
	rig_path_state(r[0].path, 0);
	CHECK_EQ(spread_send(&in), home, "by hash");
	rig_path_state(r[0].path, 1);
	CHECK_EQ(spread_send(&in), r[0].path, "back");
	/* the table changes: without it, and with it again */
	rig_row(ROW + ++slot, without, &r[0].path);
	p.id = POLICY;
	p.color = COLOR;
	p.n_buckets = 128;
	p.row = ROW + slot;
	rig_policy(&p);
	CHECK(spread_send(&in) != r[0].path, "the policy has it no more");
	rig_row(ROW + ++slot, spread_even, NULL);
	p.row = ROW + slot;
	rig_policy(&p);
	CHECK_EQ(spread_send(&in), r[0].path, "it has it again");
	/* of another policy, or of nobody */
	r[0].path = BACKUP_PATH;
	rig_rules(r, 2);
	CHECK_EQ(spread_send(&in), home, "not the policy's");
	r[0].path = 60000;
	rig_rules(r, 2);
	CHECK_EQ(spread_send(&in), home, "nobody's");
	/* without the rule */
	r[0].path = home % PATHS + 1;
	rig_rules(r, 2);
	CHECK_EQ(spread_send(&in), r[0].path, "for the last time");
	rig_rules(r + 1, 1);
	CHECK_EQ(spread_send(&in), home, "by hash");
}

static void test_symmetric(void)
{
	const struct srpol_dp_policy p = {
		.mode = SRPOL_LB_MODE_HASH, .flags = SRPOL_POLICY_SYMMETRIC,
	};
	struct inner in = {
		.src = "fd00::1", .dst = "fd00::2", .proto = IPPROTO_TCP,
	}, back, four;
	__u32 i, path, seen = 0;
	char src[32];

	spread_setup(&p, 0);
	for (i = 0; i < 64; i++) {
		snprintf(src, sizeof(src), "fd00::%x", 3 + i * 7);
		in.src = src;
		in.roce = false;
		in.proto = i & 1 ? IPPROTO_TCP : IPPROTO_UDP;
		in.sport = 1000 + i * 77;
		in.dport = 60000 + i;
		back = in;
		back.src = in.dst;
		back.dst = in.src;
		back.sport = in.dport;
		back.dport = in.sport;
		in.qp = in.dport;
		back.qp = back.dport;
		path = spread_send(&in);
		seen |= 1 << path;
		CHECK_EQ(spread_send(&back), path, "flow %u", i);
		/* RoCEv2: another QP each way, one source port. */
		in.roce = true;
		in.proto = 0;
		in.qp = 10000 + i;
		back = in;
		back.src = in.dst;
		back.dst = in.src;
		back.qp = 20000 + i;
		path = spread_send(&in);
		seen |= 1 << path;
		CHECK_EQ(spread_send(&back), path, "QP %u", i);
	}
	CHECK_EQ(seen, 0x1e, "all paths");
	/* One address, two sockets; and IPv4. */
	four = (struct inner){ .src = "10.0.0.1", .dst = "10.0.0.1",
		.sport = 50, .dport = 60, .qp = 60 };
	back = four;
	back.sport = 60;
	back.dport = 50;
	back.qp = 50;
	CHECK_EQ(spread_send(&four), spread_send(&back), "one address");
}

/* Every entry of the flow table, as if another CPU were filling it. */
static void claim_table(__u16 tag)
{
	struct srpol_flow f = { .head.tag = tag };
	__u32 i;

	for (i = 0; i < SRPOL_MAX_FLOWS; i++)
		if (bpf_map_update_elem(rig_map("flows"), &i, &f, 0))
			FAIL("flow %u: %m", i);
}

/* A flow for which there is no entry draws by its own hash, not by another's. */
static void test_no_entry(void)
{
	static const struct srpol_dp_policy policies[] = {
		{ .mode = SRPOL_LB_MODE_FLOWLET,
		  .flowlet_timeout_ns = 1000 * MS },
		{ .mode = SRPOL_LB_MODE_ADAPTIVE, .threshold = 4,
		  .flowlet_timeout_ns = 1000 * MS, .dwell_time_ms = 1000 },
	};
	struct inner in;
	__u32 i, qp, n;

	for (i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		spread_setup(&policies[i], 0);
		claim_table(SRPOL_TAG_CLAIMED);
		/* In mode adaptive a draw is for those whose path is bad. */
		spread_quality(1, 100 * SRPOL_LEVEL_UNIT, 0);
		for (qp = 1; qp <= 240; qp++) {
			in = spread_flow(qp);
			spread_send_only(&in);
		}
		CHECK_EQ(rig_flows(NULL), 0, "no flow has an entry");
		/* One flow in 16 draws the bad path twice. */
		spread_check("the bad path", spread_packets(1), 15, 15);
		for (n = 2; n <= PATHS; n++)
			spread_check("a third each", spread_packets(n), 80, 25);
		claim_table(SRPOL_TAG_FREE);
	}
}

static const struct ktap_test tests[] = {
	{ "hash: shares of a million QPs", test_shares },
	{ "spray: round robin is exact", test_spray_even },
	{ "spray: random", test_spray_random },
	{ "spray: only what a rule allows", test_spray_safe },
	{ "spray: partial ordering", test_spray_partial },
	{ "active-backup: order and return", test_pinned },
	{ "on-congestion: on and off", test_auto },
	{ "a rule's mode", test_rule_mode },
	{ "a rule's path", test_rule_path },
	{ "symmetric", test_symmetric },
	{ "a flow without an entry", test_no_entry },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
