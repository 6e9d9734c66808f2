// SPDX-License-Identifier: GPL-2.0
/* Egress: modes that look at the quality of paths, and keep flows together. */
#include <bpf/bpf.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"
#include "spread.h"

/* --- flowlet --- */

/* To be made by sleeping. */
#define GAP		(20 * MS)

static const struct srpol_dp_policy flowlet = {
	.mode = SRPOL_LB_MODE_FLOWLET, .flowlet_timeout_ns = NO_GAP,
};

static void set_gap(const struct srpol_dp_policy *policy, __u32 flowlet_timeout_ns)
{
	struct srpol_dp_policy p = *policy;

	p.id = POLICY;
	p.color = COLOR;
	p.row = ROW;
	p.n_buckets = 128;
	p.flowlet_timeout_ns = flowlet_timeout_ns;
	rig_policy(&p);
}

static void test_flowlet(void)
{
	struct inner in = spread_flow(QP);
	__u32 i, first, path, moved = 0;
	struct srpol_flow_detail f;

	spread_setup(&flowlet, 0);
	first = spread_send(&in);
	for (i = 0; i < 2000; i++) {
		/* Below the gap, whatever happens to the path. */
		if (i == 1000)
			spread_quality(first, 100000, 0);
		CHECK_EQ(spread_send(&in), first, "below the gap");
	}
	f = rig_detail(QP);
	CHECK_EQ(f.flowlets + f.moves, 0, "no gap");
	rig_expect("one flowlet", SRPOL_REASON_STEERED, 2001, RIG_END);

	set_gap(&flowlet, GAP);
	spread_quality(first, 0, 0);
	for (i = 0; i < 20; i++) {
		usleep(25000);
		path = spread_send(&in);
		moved += path != first;
		first = path;
	}
	f = rig_detail(QP);
	CHECK_EQ(f.flowlets, 20, "gaps");
	CHECK_EQ(f.moves, moved, "moves");
	CHECK(moved > 5, "%u of 20 gaps", moved);
	rig_expect("twenty flowlets", SRPOL_REASON_STEERED, 20,
		   SRPOL_REASON_FLOWLET_MOVED, moved, RIG_END);
	/* A dead path can not be waited for. */
	set_gap(&flowlet, NO_GAP);
	rig_path_state(first, 0);
	CHECK(spread_send(&in) != first, "dead");
	f = rig_detail(QP);
	CHECK_EQ(f.flowlets, 20, "no gap");
	CHECK_EQ(f.moves, moved + 1, "moves");
}

/* The better of two draws: one bad path of four gets 1/16, not 1/4. */
static void test_flowlet_quality(void)
{
	struct srpol_dp_policy even = flowlet;
	const __u32 n = 4000;
	struct inner in;
	__u32 i;

	spread_setup(&flowlet, 0);
	spread_quality(2, 100 * SRPOL_LEVEL_UNIT, 0);
	for (i = 0; i < n; i++) {
		in = spread_flow(1 + i);
		spread_send_only(&in);
	}
	spread_check("bad path", spread_packets(2), n / 16., n / 40.);
	spread_check("good path", spread_packets(1), n * 15 / 48., n / 20.);
	/* With even weights the load decides: closer than chance. */
	even.flags = SRPOL_POLICY_EVEN;
	spread_setup(&even, 0);
	for (i = 0; i < n; i++) {
		in = spread_flow(1 + i);
		in.payload = 1000;
		spread_send_only(&in);
	}
	for (i = 1; i <= PATHS; i++)
		spread_check("even", spread_packets(i), n / 4., n / 40.);
}

/* Another table: a flow stays if its path is still in it, else it goes. */
static void test_flowlet_table(void)
{
	struct srpol_dp_policy p = flowlet;
	struct inner in = spread_flow(QP);
	__u32 first, i;

	spread_setup(&p, 0);
	first = spread_send(&in);
	p.id = POLICY;
	p.color = COLOR;
	p.n_buckets = 128;
	rig_row(2, spread_two_two_one, NULL);
	for (i = 0; i < 6; i++) {
		p.row = 1 + i % 2;
		rig_policy(&p);
		if (first <= 3)
			CHECK_EQ(spread_send(&in), first, "still there");
		rig_epoch();
		if (first <= 3)
			CHECK_EQ(spread_send(&in), first, "classified again");
	}
	rig_row_one(3, first % PATHS + 1);
	p.row = 3;
	rig_policy(&p);
	CHECK_EQ(spread_send(&in), first % PATHS + 1, "removed");
}

/* --- adaptive --- */

#define DWELL_MS	50

static const struct srpol_dp_policy adaptive = {
	.mode = SRPOL_LB_MODE_ADAPTIVE, .flowlet_timeout_ns = NO_GAP,
	.threshold = 4, .dwell_time_ms = DWELL_MS,
};

/*
 * What was seen of a move, in ms: the program waited for @least to @most, however
 * busy the machine is, and went without a packet for @pause at most. The first
 * packet after the dwell time had been sent by @due, by the clock.
 */
struct move {
	__u32 least;
	__u32 most;
	__u32 pause;
	__u64 due;
};

/*
 * Send every millisecond, but no more than @packets, until the path changes. What
 * starts the wait is in place, and has been seen by a packet, but not before @since.
 */
static struct move wait_move(const struct inner *in, __u32 from, __u64 since,
			     __u32 packets)
{
	__u64 start = spread_now_ms(), last = start, before, after;
	struct move m = {};
	bool moved = false;
	__u32 i;

	for (i = 0; i < packets && !moved; i++) {
		usleep(1000);
		before = spread_now_ms();
		moved = spread_send(in) != from;
		after = spread_now_ms();
		if (!moved)
			m.least = before - start;
		if (!m.due && before - start > DWELL_MS + 1)
			m.due = after;
		if (after - last > m.pause)
			m.pause = after - last;
		last = before;
		m.most = after - since;
	}
	return m;
}

/*
 * Return: false if the signals had faded before the flow had to leave, and so it
 * stayed, and nothing else was looked at.
 */
static bool leaves_and_returns(void)
{
	struct inner in = spread_flow(QP), other = spread_flow(QP + 1);
	__u32 home, away, i, other_home;
	struct srpol_flow_detail f;
	__u64 signaled, bad;
	struct move m;

	spread_setup(&adaptive, 0);
	home = spread_send(&in);
	other_home = spread_send(&other);
	spread_bind(QP, 7);
	signaled = spread_now_ms();
	for (i = 0; i < 3; i++)
		spread_cnp(7);
	/* Three signals are below the threshold. */
	for (i = 0; i < 200; i++)
		CHECK_EQ(spread_send(&in), home, "still good");
	bad = spread_now_ms();
	for (i = 0; i < 5; i++)
		spread_cnp(7);
	CHECK_EQ(spread_send(&in), home, "bad, but not for long");
	m = wait_move(&in, home, bad, 500);
	away = spread_path(QP);
	if (away == home && m.due - signaled > 120)
		return false;
	CHECK(away != home, "did not leave");
	CHECK(m.most >= 48, "left after %u ms, before 50", m.most);
	CHECK(m.least <= 52, "stayed for %u ms, not 50", m.least);
	CHECK_EQ(spread_send(&other), other_home, "others stay");
	f = rig_detail(QP);
	CHECK_EQ(f.moves, 1, "moves");
	CHECK_EQ(f.cnp, 8, "CNPs of the flow");
	/*
	 * 8 signals: below 4 after a half-life of 134 ms; then 50 ms. All of it
	 * since the first came, however long this program was kept from running:
	 * if the first three have faded by the time of the others, they did so
	 * for longer than that saves.
	 */
	m = wait_move(&in, away, signaled, 2000);
	signaled = spread_now_ms() - signaled;
	CHECK_EQ(spread_path(QP), home, "home again");
	CHECK(signaled > 150, "returned %llu ms after the signals", signaled);
	CHECK(m.least < 300 + m.pause, "stayed away for %u ms", m.least);
	f = rig_detail(QP);
	CHECK_EQ(f.moves, 2, "moves");
	CHECK_EQ(rig_reason(SRPOL_REASON_ADAPTIVE_MOVED), 2, "reason");
	return true;
}

static void test_adaptive(void)
{
	unsigned int tries;

	for (tries = 0; tries < 20 && !leaves_and_returns(); tries++)
		;
	CHECK(tries < 20, "the machine is too busy");
}

/* At a gap it moves with the first packet after it. */
static void test_adaptive_gap(void)
{
	struct srpol_dp_policy p = adaptive;
	struct inner in = spread_flow(QP);
	__u32 home, i;

	p.dwell_time_ms = 60000;
	spread_setup(&p, 0);
	home = spread_send(&in);
	spread_quality(home, 100 * SRPOL_LEVEL_UNIT, 0);
	for (i = 0; i < 500; i++)
		CHECK_EQ(spread_send(&in), home, "no gap");
	set_gap(&p, GAP);
	usleep(35000);
	CHECK(spread_send(&in) != home, "after a gap");
	set_gap(&p, NO_GAP);
	spread_quality(home, 0, 0);
	i = spread_path(QP);
	CHECK_EQ(spread_send(&in), i, "no gap");
	set_gap(&p, GAP);
	usleep(35000);
	CHECK_EQ(spread_send(&in), home, "home after a gap");
	/* Bad everywhere: stay. */
	for (i = 1; i <= PATHS; i++)
		spread_quality(i, 100 * SRPOL_LEVEL_UNIT, 0);
	spread_send(&in);
	usleep(35000);
	CHECK_EQ(spread_send(&in), home, "no better one");
	/* A single good path is found. */
	spread_quality(home % PATHS + 1, 0, 0);
	usleep(35000);
	CHECK_EQ(spread_send(&in), home % PATHS + 1, "the good one");
	/* A dead path is left at once, and for the good one. */
	spread_quality(home % PATHS + 1, 100 * SRPOL_LEVEL_UNIT, 0);
	spread_quality((home + 1) % PATHS + 1, 0, 0);
	rig_path_state(home % PATHS + 1, 0);
	CHECK_EQ(spread_send(&in), (home + 1) % PATHS + 1, "dead");
	/* A new flow does not begin on a bad path. */
	for (i = 1; i <= PATHS; i++)
		spread_quality(i, i == 2 ? 0 : 100 * SRPOL_LEVEL_UNIT, 0);
	rig_path_state(2, 1);
	for (i = 1; i < 50; i++) {
		in = spread_flow(QP + i);
		CHECK_EQ(spread_send(&in), 2, "new flow %u", i);
	}
}

#define COARSE		(20 * MS)	/* two ticks at 100 per second */

/* What is left of a signal after so long. */
static __u32 faded(__u64 ns)
{
	ns >>= SRPOL_LEVEL_SHIFT;
	return ns < 32 ? SRPOL_LEVEL_UNIT >> ns : 0;
}

/* A level that has faded reads as clean: no more clocks. */
static void test_fading(void)
{
	__u64 first[2], second[2];
	struct srpol_quality q;
	struct inner in = spread_flow(QP);
	__u32 home, i;

	spread_setup(&adaptive, 0);
	home = spread_send(&in);
	spread_bind(QP, 7);
	first[0] = spread_now_ns();
	spread_cnp(7);
	first[1] = spread_now_ns();
	bpf_map_lookup_elem(rig_map("path_quality"), &home, &q);
	CHECK_EQ(q.level, SRPOL_LEVEL_UNIT, "one signal");
	CHECK_EQ(q.cnp, 1, "one signal");
	CHECK(q.load > 0, "load");
	usleep(300000);		/* two half-lives */
	second[0] = spread_now_ns();
	spread_cnp(7);
	second[1] = spread_now_ns();
	bpf_map_lookup_elem(rig_map("path_quality"), &home, &q);
	/* Or more of them, if the machine is busy; the clock of signals is coarse. */
	CHECK(q.level <= SRPOL_LEVEL_UNIT +
			 faded(second[0] - first[1] - COARSE) &&
	      q.level >= SRPOL_LEVEL_UNIT +
			 faded(second[1] - first[0] + COARSE) &&
	      q.level <= SRPOL_LEVEL_UNIT + SRPOL_LEVEL_UNIT / 4, "level %u",
	      q.level);
	/* Signals that come faster than they fade do so all the same. */
	spread_quality(home, 0, 0);
	for (i = 0; i < 20; i++) {
		spread_cnp(7);
		usleep(40000);
	}
	bpf_map_lookup_elem(rig_map("path_quality"), &home, &q);
	CHECK(q.level < 10 * SRPOL_LEVEL_UNIT, "level %u after 20 signals",
	      q.level);
	q.level = 1;
	bpf_map_update_elem(rig_map("path_quality"), &home, &q, 0);
	usleep(300000);
	spread_send(&in);
	bpf_map_lookup_elem(rig_map("path_quality"), &home, &q);
	CHECK_EQ(q.level, 0, "gone");
}

static void test_reclassify(void)
{
	struct srpol_dp_policy p = flowlet;
	struct srpol_dp_rule r = {
		.id = 1, .color = COLOR, .mode = SRPOL_MODE_INHERIT,
	};
	struct inner in = spread_flow(QP);
	struct srpol_flow f, g;
	__u32 first, i;

	spread_setup(&p, 0);
	first = spread_send(&in);
	spread_quality(first, 100000, 0);
	for (i = 0; i < 10; i++) {
		rig_epoch();
		CHECK_EQ(spread_send(&in), first, "epoch %u", i);
	}
	rig_flow_of(QP, &f);
	CHECK_EQ(f.packets, 11, "counters");
	CHECK_EQ(rig_detail(QP).moves + rig_detail(QP).flowlets, 0, "state");
	/* Another mode: nothing is kept but the counters. */
	r.mode = SRPOL_LB_MODE_HASH;
	rig_rules(&r, 1);
	spread_send(&in);
	rig_flow_of(QP, &g);
	CHECK_EQ(g.packets, 12, "counters");
	CHECK_EQ(rig_detail(QP).moves, 0, "a new decision is no move");
	/* Another policy: no path of the old one. */
	rig_row_one(6, BACKUP_PATH);
	p.id = 2;
	p.color = 6;
	p.row = 6;
	p.n_buckets = 128;
	rig_policy(&p);
	r.color = 6;
	r.mode = SRPOL_MODE_INHERIT;
	rig_rules(&r, 1);
	CHECK_EQ(spread_send(&in), BACKUP_PATH, "the new policy's path");
}

/* The same for two policies that were changed by one commit. */
static void test_other_policy(void)
{
	struct srpol_dp_rule r = {
		.id = 1, .color = COLOR, .mode = SRPOL_MODE_INHERIT,
	};
	struct inner in = spread_flow(QP);
	struct srpol_dp_policy p = flowlet;
	__u32 round;

	spread_setup(&p, 0);
	rig_row_one(6, BACKUP_PATH);
	p.n_buckets = 128;
	for (round = 0; round < 4; round++) {
		/* Each pair of copies they can be in. */
		rig_hold(round < 2);
		p.id = 2;
		p.color = 6;
		p.row = 6;
		rig_policy(&p);
		rig_hold(false);
		p.id = POLICY;
		p.color = COLOR;
		p.row = ROW;
		rig_policy(&p);
		if (round & 1)
			rig_policy(&p);
		rig_hold(true);
		rig_policy(&p);
		p.id = 2;
		p.color = 6;
		p.row = 6;
		rig_policy(&p);
		rig_hold(false);
		rig_commit(false);
		r.color = COLOR;
		rig_rules(&r, 1);
		CHECK(spread_send(&in) != BACKUP_PATH, "round %u", round);
		r.color = 6;
		rig_rules(&r, 1);
		CHECK_EQ(spread_send(&in), BACKUP_PATH, "round %u", round);
	}
}

/* A backup's path is not one to stay on. */
static void test_backup_return(void)
{
	struct srpol_dp_policy p = flowlet;
	struct inner in = spread_flow(QP);
	__u32 i, kind;

	for (kind = 0; kind < 2; kind++) {
		p = kind ? adaptive : flowlet;
		p.backup = 2;
		p.drop_upon_invalid = 1;
		spread_setup(&p, 0);
		rig_row_one(5, BACKUP_PATH);
		rig_policy(&(struct srpol_dp_policy){
			.id = 2, .color = 77, .row = 5, .n_buckets = 128 });
		for (i = 1; i <= PATHS; i++)
			rig_path_state(i, 0);
		CHECK_EQ(spread_send(&in), BACKUP_PATH, "backup");
		CHECK_EQ(spread_send(&in), BACKUP_PATH, "backup");
		rig_path_state(3, 1);
		CHECK_EQ(spread_send(&in), 3, "back, mode %u", p.mode);
	}
}

static const struct ktap_test tests[] = {
	{ "flowlet: gaps", test_flowlet },
	{ "flowlet: quality and load", test_flowlet_quality },
	{ "flowlet: another table", test_flowlet_table },
	{ "adaptive: leaves and returns", test_adaptive },
	{ "adaptive: gaps and choices", test_adaptive_gap },
	{ "signals fade", test_fading },
	{ "re-classification", test_reclassify },
	{ "another policy of the same commit", test_other_policy },
	{ "backup and back", test_backup_return },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
