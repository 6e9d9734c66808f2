// SPDX-License-Identifier: GPL-2.0
/*
 * What may be sent in a color: packets that can wait get their times, one after
 * the other, those that cannot are dropped; nobody else's are touched. Rates are
 * such that what the clock does meanwhile is a fraction of a packet.
 */
#include <bpf/bpf.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "ktap.h"
#include "rig.h"
#include "spread.h"

#define NS		(1ULL << SRPOL_LIMIT_SHIFT)
#define SEC		1000000000ULL
#define HOUR		(3600 * SEC)
#define LEN		72ULL		/* of spread_flow() */
#define MANY		20000

static const struct srpol_dp_policy hash = { .mode = SRPOL_LB_MODE_HASH };

static __u64 clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

static void count(__u32 n)
{
	__u32 zero = 0;

	CHECK_EQ(bpf_map_update_elem(rig_map("limit_count"), &zero, &n, 0), 0,
		 "count");
}

static void limit(__u32 color, struct srpol_limit l)
{
	CHECK_EQ(bpf_map_update_elem(rig_map("limits"), &color, &l, 0), 0,
		 "limit");
	count(1);
}

static struct srpol_limit limit_of(__u32 color)
{
	struct srpol_limit l = {};

	bpf_map_lookup_elem(rig_map("limits"), &color, &l);
	return l;
}

static void setup(void)
{
	__u32 color;

	spread_setup(&hash, SRPOL_ORDERING_STRONG);
	while (!bpf_map_get_next_key(rig_map("limits"), NULL, &color))
		bpf_map_delete_elem(rig_map("limits"), &color);
	count(0);
	rig_uplinks_clear();
	rig_uplink_add(1);
}

static int send_skb(__u64 *at)
{
	const struct rig_env env = { .tstamp = at };
	struct inner in = spread_flow(QP);
	struct pkt p;

	pkt_inner(&p, &in);
	return rig_egress_env(&p, NULL, &env);
}

static int send_port(bool xdp)
{
	const struct rig_env env = {};
	struct inner in = spread_flow(QP);
	struct pkt p;

	pkt_inner(&p, &in);
	return xdp ? rig_port_xdp(&p, NULL) : rig_port_tc(&p, NULL, &env);
}

static void test_none(void)
{
	__u64 at = 1;

	setup();
	CHECK_EQ(send_skb(&at), TC_NEXT, "no limit at all");
	CHECK_EQ(at, 0, "at once");
	/* of another color */
	limit(COLOR + 1, (struct srpol_limit){ .rate = 1 });
	CHECK_EQ(send_skb(&at), TC_NEXT, "another color's");
	limit(COLOR, (struct srpol_limit){});
	CHECK_EQ(send_skb(&at), TC_NEXT, "no rate");
	rig_expect("nothing", SRPOL_REASON_STEERED, 3, RIG_END);
	CHECK_EQ(limit_of(COLOR + 1).next, 0, "not touched");
}

/*
 * A second for each packet, and an hour that was not used: from before the clock
 * began, as it begins when the machine boots, and that may be a minute ago.
 */
static void test_police(void)
{
	int i;

	setup();
	limit(COLOR, (struct srpol_limit){ .rate = LEN * 8,
		.burst = HOUR * NS, .next = -HOUR * NS });
	for (i = 0; i < 3600; i++)
		CHECK_EQ(send_skb(NULL), TC_NEXT, "packet %d", i);
	rig_mark();
	/* the clock went on as well, by less than an hour */
	for (i = 0; i < 3600 && send_skb(NULL) == TC_NEXT; i++)
		;
	CHECK(i < 3600, "burst is over after %d more", i);
	CHECK_EQ(rig_reason(SRPOL_REASON_LIMITED), 1, "by its reason");
	CHECK_EQ(limit_of(COLOR).dropped, 1, "and counted for the color");
	CHECK_EQ(limit_of(COLOR).delayed, 0, "nothing waits");
}

static void test_pace(void)
{
	/* a second for each packet */
	struct srpol_limit l = { .rate = LEN * 8, .horizon = 2 * HOUR * NS };
	__u64 before, next, at;
	int i;

	setup();
	limit(COLOR, l);
	before = clock_ns();
	CHECK_EQ(send_skb(&at), TC_NEXT, "first");
	CHECK_EQ(at, 0, "at once");
	next = limit_of(COLOR).next / NS;
	CHECK(next >= before + SEC && next <= clock_ns() + SEC,
	      "the next one at %llu", next - before);
	/* so far from now that they wait, however long this takes */
	next = clock_ns() + HOUR;
	l.next = next * NS;
	limit(COLOR, l);
	for (i = 0; i < 100; i++) {
		CHECK_EQ(send_skb(&at), TC_NEXT, "packet %d", i);
		CHECK_EQ(at, next + i * SEC, "packet %d", i);
	}
	CHECK_EQ(limit_of(COLOR).delayed, 100, "counted");
	CHECK_EQ(limit_of(COLOR).dropped, 0, "none dropped");
	rig_expect("paced", SRPOL_REASON_STEERED, 101, RIG_END);
}

static void test_horizon(void)
{
	__u64 at;
	int i, sent = 0;

	setup();
	/* an hour for each */
	limit(COLOR, (struct srpol_limit){ .rate = 1, .horizon = LEN * 8 * SEC *
					   NS * 10 + NS * SEC });
	for (i = 0; i < 20; i++)
		sent += send_skb(&at) == TC_NEXT;
	CHECK_EQ(sent, 11, "one now, ten that wait");
	CHECK_EQ(limit_of(COLOR).dropped, 9, "the others");
	CHECK_EQ(spread_packets(1) + spread_packets(2) + spread_packets(3) +
		 spread_packets(4), 11, "what is dropped is not sent");
}

/* Fractions of a nanosecond: 72 bytes at 400 Gbit/s are 1.44 ns. */
static void test_fast(void)
{
	__u64 start;
	int i;

	setup();
	limit(COLOR, (struct srpol_limit){ .rate = 400 * SEC, .burst = NS * SEC,
					   .next = (clock_ns() + HOUR) * NS,
					   .horizon = 2 * HOUR * NS });
	start = limit_of(COLOR).next;
	for (i = 0; i < 1000; i++)
		CHECK_EQ(send_skb(NULL), TC_NEXT, "packet %d", i);
	/* 23.04 units each, of which 23 are taken */
	CHECK_EQ(limit_of(COLOR).next - start, 23000, "time they take");
}

static void test_ports(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		setup();
		limit(COLOR, (struct srpol_limit){ .rate = 1,
						   .horizon = HOUR * NS });
		CHECK_EQ(send_port(i), X_REDIRECT, "first");
		/* XDP cannot wait */
		CHECK_EQ(send_port(i), i ? X_DROP : X_REDIRECT, "second");
		CHECK_EQ(limit_of(COLOR).dropped, i, "dropped");
		CHECK_EQ(limit_of(COLOR).delayed, !i, "delayed");
		if (i)
			rig_expect("XDP", SRPOL_REASON_STEERED, 1,
				   SRPOL_REASON_LIMITED, 1, RIG_END);
		else
			rig_expect("TC", SRPOL_REASON_STEERED, 2, RIG_END);
	}
}

static void *send_many(void *data)
{
	int i;

	for (i = 0; i < MANY; i++)
		send_skb(NULL);
	return data;
}

/* Two processors that take turns: none is given twice, none is lost. */
static void test_race(void)
{
	pthread_t thread[2];
	__u64 start;
	int i;

	setup();
	limit(COLOR, (struct srpol_limit){ .rate = 400 * SEC,
					   .next = (clock_ns() + HOUR) * NS,
					   .horizon = 2 * HOUR * NS });
	start = limit_of(COLOR).next;
	for (i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, send_many, NULL))
			FAIL("no thread");
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	CHECK_EQ(limit_of(COLOR).next - start, 2 * MANY * 23, "time they take");
	CHECK_EQ(limit_of(COLOR).delayed, 2 * MANY, "counted");
}

/*
 * The kernel notes the time of reception once any socket of the machine wants to
 * know it (chrony, ping): by another clock, and no reason to leave at once.
 */
static void test_received(void)
{
	struct srpol_limit l = { .rate = LEN * 8, .horizon = 2 * HOUR * NS };
	const __u64 came = 1700000000 * SEC;
	__u64 next, at = 0;
	struct rig_env env = { .came = came, .tstamp = &at };
	struct inner in = spread_flow(QP);
	struct pkt p;

	pkt_inner(&p, &in);
	setup();
	limit(COLOR, l);
	CHECK_EQ(rig_port_tc(&p, NULL, &env), X_REDIRECT, "first");
	CHECK_EQ(at, came, "at once: what TC clears when it redirects");
	next = clock_ns() + HOUR;
	l.next = next * NS;
	limit(COLOR, l);
	CHECK_EQ(rig_port_tc(&p, NULL, &env), X_REDIRECT, "second");
	CHECK_EQ(at, next, "it waits");
	CHECK_EQ(limit_of(COLOR).delayed, 1, "delayed");
}

/* What cannot be sent at all takes nothing from what can. */
static void test_too_big(void)
{
	struct in6_addr sids[2] = { sid(1), sid(2) };
	struct outer o = { .sids = sids, .n = 2 };
	const struct rig_env env = {};
	struct inner in;
	struct pkt p;
	__u32 id;
	int i;

	for (i = 0; i < 2; i++) {
		setup();
		for (id = 1; id <= BACKUP_PATH; id++)
			rig_path(id, &o, id, 1500);
		limit(COLOR, (struct srpol_limit){ .rate = 1,
						   .horizon = HOUR * NS });
		rig_mark();
		in = spread_flow(QP);
		in.payload = 1480;
		pkt_inner(&p, &in);
		if (i)
			rig_port_tc(&p, NULL, &env);
		else
			rig_egress_env(&p, NULL, &env);
		CHECK_EQ(limit_of(COLOR).next, 0, "time of the next, %d", i);
		CHECK_EQ(limit_of(COLOR).delayed + limit_of(COLOR).dropped, 0,
			 "counted, %d", i);
		rig_expect("too big", SRPOL_REASON_TOO_BIG, 1, RIG_END);
	}
}

/*
 * Each segment of a super-packet has the headers, of IPv6 and TCP, and half of what
 * is behind them. (A test run can not encapsulate it.)
 */
static void test_segments(void)
{
	struct inner in = spread_flow(QP);
	const __u64 headers = 40 + 20;
	struct rig_env env = {};
	struct pkt p;
	__u64 start;
	int i;

	in.proto = IPPROTO_TCP;
	in.payload = 100;
	pkt_inner(&p, &in);
	env.gso_segs = 2;
	env.gso_size = (p.len - 14 - headers) / 2;
	for (i = 0; i < 2; i++) {
		setup();
		/* the first one leaves an hour from now, a byte takes a second */
		limit(COLOR, (struct srpol_limit){ .rate = 8,
			.next = (clock_ns() + HOUR) * NS,
			.horizon = 2 * HOUR * NS });
		start = limit_of(COLOR).next;
		if (i)
			rig_port_tc(&p, NULL, &env);
		else
			rig_egress_env(&p, NULL, &env);
		CHECK_EQ(limit_of(COLOR).next - start,
			 2 * (headers + env.gso_size) * SEC * NS, "by %s",
			 i ? "port" : "egress");
	}
}

static const struct ktap_test tests[] = {
	{ "no limit, no difference", test_none },
	{ "what cannot wait is dropped after the burst", test_police },
	{ "what can gets its time", test_pace },
	{ "but not beyond the horizon", test_horizon },
	{ "fractions of a nanosecond", test_fast },
	{ "segments of a super-packet", test_segments },
	{ "two processors", test_race },
	{ "host ports", test_ports },
	{ "packets that are too big", test_too_big },
	{ "the time of reception is none to leave at", test_received },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
