// SPDX-License-Identifier: GPL-2.0
/*
 * Host ports: what XDP leaves to TC is looked at twice, and goes the way it
 * would have gone had it been looked at once. Modes that remember something of
 * a flow, or draw lots, are where that can go wrong.
 */
#include <bpf/bpf.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"
#include "spread.h"

#define LO		1
#define ELSEWHERE	77	/* no uplink: TC says so, and drops */
#define PAUSE		(100000 * MS)

static const struct rig_env plain;

/* By no path does anything leave from XDP. */
static void setup_tc(const struct srpol_dp_policy *policy, __u8 ordering)
{
	spread_setup(policy, ordering);
	rig_uplinks_clear();
	rig_uplink_add_tc(LO);
}

/* Send a packet. Return: the path of its flow. */
static __u32 send_left(const struct inner *in)
{
	struct srpol_flow f;
	struct pkt p;

	pkt_inner(&p, in);
	CHECK_EQ(rig_port_xdp(&p, NULL), X_PASS, "XDP leaves it");
	CHECK_EQ(rig_port_tc(&p, NULL, &plain), X_REDIRECT, "TC sends it");
	return rig_flow_of(in->qp, &f) ? f.path : 0;
}

/* As if the only flow had sent nothing for so long. */
static void pause_flow(void)
{
	const struct srpol_flow *in_table = rig_flow_next(NULL);
	struct srpol_flow f = *in_table;
	__u32 nr = rig_flow_number(in_table);

	f.last_ns -= PAUSE;
	if (bpf_map_update_elem(rig_map("flows"), &nr, &f, 0))
		FAIL("flow: %m");
}

static void test_flowlet(void)
{
	struct srpol_dp_policy policy = {
		.mode = SRPOL_LB_MODE_FLOWLET, .flowlet_timeout_ns = NO_GAP,
	};
	__u32 i, at, path, moved = 0, paths = 0;
	struct inner in = spread_flow(QP);
	struct srpol_flow_detail f;

	setup_tc(&policy, 0);
	at = send_left(&in);
	for (i = 0; i < 20; i++) {
		pause_flow();
		path = send_left(&in);
		moved += path != at;
		paths |= 1u << path;
		at = path;
	}
	f = rig_detail(QP);
	CHECK_EQ(f.flowlets, 20, "gaps");
	CHECK_EQ(f.moves, moved, "moves");
	CHECK(moved > 5, "%u of 20 gaps", moved);
	CHECK(__builtin_popcount(paths) > 2, "paths %x", paths);
	rig_expect("twenty flowlets", SRPOL_REASON_STEERED, 21,
		   SRPOL_REASON_FLOWLET_MOVED, moved, RIG_END);
}

/* XDP sees several packets of a gap's end before TC sees the first of them. */
static void test_flowlet_batch(void)
{
	struct srpol_dp_policy policy = {
		.mode = SRPOL_LB_MODE_FLOWLET, .flowlet_timeout_ns = NO_GAP,
	};
	struct inner in = spread_flow(QP);
	struct srpol_flow_detail f;
	struct pkt p;
	__u32 i, k;

	setup_tc(&policy, 0);
	send_left(&in);
	pkt_inner(&p, &in);
	for (i = 0; i < 10; i++) {
		pause_flow();
		for (k = 0; k < 8; k++)
			CHECK_EQ(rig_port_xdp(&p, NULL), X_PASS, "left");
		for (k = 0; k < 8; k++)
			CHECK_EQ(rig_port_tc(&p, NULL, &plain), X_REDIRECT,
				 "sent");
	}
	f = rig_detail(QP);
	CHECK_EQ(f.flowlets, 10, "gaps");
	CHECK(f.moves > 2 && f.moves <= 10, "%u moves", f.moves);
	rig_expect("ten flowlets", SRPOL_REASON_STEERED, 81,
		   SRPOL_REASON_FLOWLET_MOVED, f.moves, RIG_END);
}

static void test_adaptive(void)
{
	struct srpol_dp_policy policy = {
		.mode = SRPOL_LB_MODE_ADAPTIVE, .flowlet_timeout_ns = NO_GAP,
		.threshold = 4, .dwell_time_ms = 50,
	};
	struct inner in = spread_flow(QP);
	struct srpol_flow f;
	__u32 home, i;

	setup_tc(&policy, 0);
	home = send_left(&in);
	/* bad for as long as this takes */
	spread_quality(home, 1000 * SRPOL_LEVEL_UNIT, 0);
	for (i = 0; i < 300 && send_left(&in) == home; i++)
		usleep(1000);
	rig_flow_of(QP, &f);
	CHECK(f.path != home, "did not leave a bad path");
	CHECK_EQ(rig_detail(QP).moves, 1, "moves");
	CHECK_EQ(rig_reason(SRPOL_REASON_ADAPTIVE_MOVED), 1, "reason");
	/* and home again when that is good */
	spread_quality(home, 0, 0);
	for (i = 0; i < 300 && send_left(&in) != home; i++)
		usleep(1000);
	rig_flow_of(QP, &f);
	CHECK_EQ(f.path, home, "home again");
	CHECK_EQ(rig_detail(QP).moves, 2, "moves");
}

/* Two paths of four leave from XDP: half of the packets do. */
static void check_spray(const char *about, __u8 ordering, __u32 flags)
{
	struct srpol_dp_policy policy = {
		.mode = SRPOL_LB_MODE_SPRAY, .flags = flags,
	};
	struct inner in = spread_flow(QP);
	__u32 i, by_xdp = 0, by_tc = 0, lost = 0;
	const __u32 n = 4000;
	struct pkt p;

	spread_setup(&policy, ordering);
	rig_uplinks_clear();
	rig_uplink_add(LO);
	rig_nexthop(3, ELSEWHERE, 1);
	rig_nexthop(4, ELSEWHERE, 1);
	pkt_inner(&p, &in);
	for (i = 0; i < n; i++) {
		if (rig_port_xdp(&p, NULL) == X_REDIRECT)
			by_xdp++;
		else if (rig_port_tc(&p, NULL, &plain) == X_REDIRECT)
			by_tc++;
		else
			lost++;
	}
	spread_check(about, by_xdp, n / 2., n * .02);
	CHECK_EQ(by_tc, 0, "%s: where XDP would have sent it itself", about);
	spread_check(about, lost, n / 2., n * .02);
}

static void test_spray(void)
{
	check_spray("in turn", SRPOL_ORDERING_WEAK, 0);
	check_spray("random", SRPOL_ORDERING_WEAK, SRPOL_POLICY_RANDOM);
}

static const struct ktap_test tests[] = {
	{ "left to TC: flowlet", test_flowlet },
	{ "left to TC: flowlet, several at a time", test_flowlet_batch },
	{ "left to TC: adaptive", test_adaptive },
	{ "left to TC: spray", test_spray },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
