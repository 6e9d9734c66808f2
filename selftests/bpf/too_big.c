// SPDX-License-Identifier: GPL-2.0
/* Egress: packets that do not fit once encapsulated, and what senders learn. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define MTU		1500
#define BURST		64	/* errors per processor and window */
#define WINDOW_SHIFT	26	/* ns */
#define WINDOW_US	67109

static struct in6_addr sids[3];
static const struct outer path = { .sids = sids, .n = 3 };	/* 80 bytes */

static const struct inner v4 = {
	.src = "10.0.0.1", .dst = "10.0.0.2", .sport = 1000, .dport = 2000,
	.tclass = 2,
};

static const struct inner v6 = {
	.src = "fd00::1", .dst = "fd00::2", .sport = 1000, .dport = 2000,
	.tclass = 2, .label = 0x12345,
};

static struct srpol_dp_policy policy = {
	.id = 1, .color = 5, .row = 1, .n_buckets = 128,
};

static void setup(__u8 icmp_errors)
{
	struct srpol_dp_rule all = { .color = 5 };
	struct srpol_dp_config cfg = { .icmp_errors = icmp_errors };

	rig_reset();
	rig_config(cfg);
	rig_nexthop(1, 1, 1);
	rig_path(1, &path, 1, MTU);
	rig_row_one(1, 1);
	rig_policy(&policy);
	rig_rules(&all, 1);
	/* What an earlier test sent does not count against this one. */
	usleep(2 * WINDOW_US);
	rig_mark();
}

/* A packet of @len bytes, Ethernet not counted. */
static void sized(struct pkt *p, const struct inner *in, __u32 len)
{
	struct inner i = *in;

	i.payload = 0;
	pkt_inner(p, &i);
	i.payload = len - (p->len - 14);
	pkt_inner(p, &i);
}

static void swapped_macs(struct pkt *p, __u16 proto)
{
	pkt_add(p, pkt_host_macs + 6, 6);
	pkt_add(p, pkt_host_macs, 6);
	pkt_add16(p, proto);
}

/* RFC 4443 3.2 */
static void want_v6(struct pkt *want, const struct pkt *in, __u32 mtu)
{
	__u32 quote = 1280 - 40 - 8, sum;
	__u16 check;

	want->len = 0;
	swapped_macs(want, 0x86dd);
	pkt_add32(want, 6u << 28);
	pkt_add16(want, 8 + quote);
	pkt_add8(want, 58);
	pkt_add8(want, 64);
	pkt_add(want, in->b + 14 + 24, 16);
	pkt_add(want, in->b + 14 + 8, 16);
	pkt_add16(want, 2 << 8);
	pkt_add16(want, 0);
	pkt_add32(want, mtu);
	pkt_add(want, in->b + 14, quote);
	sum = csum_add(8 + quote + 58, want->b + 14 + 8, 32 + 8 + quote);
	check = csum_fold(sum);
	want->b[14 + 40 + 2] = check >> 8;
	want->b[14 + 40 + 3] = check;
}

/* RFC 792, RFC 1191 */
static void want_v4(struct pkt *want, const struct pkt *in, __u32 mtu)
{
	__u32 quote = 576 - 20 - 8;
	__u16 check;

	want->len = 0;
	swapped_macs(want, 0x0800);
	pkt_add16(want, 0x45c0);
	pkt_add16(want, 28 + quote);
	pkt_add32(want, 0);
	pkt_add8(want, 64);
	pkt_add8(want, 1);
	pkt_add16(want, 0);
	pkt_add(want, in->b + 14 + 16, 4);
	pkt_add(want, in->b + 14 + 12, 4);
	check = csum_fold(csum_add(0, want->b + 14, 20));
	want->b[14 + 10] = check >> 8;
	want->b[14 + 11] = check;
	pkt_add16(want, 0x0304);
	pkt_add16(want, 0);
	pkt_add16(want, 0);
	pkt_add16(want, mtu);
	pkt_add(want, in->b + 14, quote);
	check = csum_fold(csum_add(0, want->b + 34, 8 + quote));
	want->b[34 + 2] = check >> 8;
	want->b[34 + 3] = check;
}

static void test_boundary(void)
{
	const struct inner *in[] = { &v4, &v6 };
	struct pkt p;
	int i;

	setup(0);
	for (i = 0; i < 2; i++) {
		sized(&p, in[i], 1420);
		CHECK_EQ(rig_egress(&p, NULL), TC_NEXT, "just fits");
		rig_expect("just fits", SRPOL_REASON_STEERED, 1, RIG_END);
		sized(&p, in[i], 1421);
		CHECK_EQ(rig_egress(&p, NULL), TC_DROP, "one byte more");
		rig_expect("one byte more", SRPOL_REASON_TOO_BIG, 1, RIG_END);
	}
	CHECK_EQ(rig_counter("path_stats", 1).packets, 2, "path");
}

static void test_v6(void)
{
	struct pkt p, out, want;
	__u32 len;

	setup(1);
	for (len = 1421; len < 3000; len += 311) {
		sized(&p, &v6, len);
		CHECK_EQ(rig_egress(&p, &out), TC_REDIRECT, "length %u", len);
		want_v6(&want, &p, 1420);
		CHECK(pkt_equal(&out, &want), "length %u", len);
		rig_expect("v6", SRPOL_REASON_TOO_BIG, 1,
			   SRPOL_REASON_ICMP_SENT, 1, RIG_END);
	}
	/* Less than IPv6's minimum is never asked for. */
	rig_path(1, &path, 1, 1300);
	sized(&p, &v6, 1500);
	rig_egress(&p, &out);
	want_v6(&want, &p, 1280);
	CHECK(pkt_equal(&out, &want), "small link");
}

static void test_v4(void)
{
	struct pkt p, out, want;
	struct inner in = v4;
	__u32 len;

	setup(1);
	for (len = 1421; len < 3000; len += 311) {
		in.options = len & 7;
		sized(&p, &in, len);
		CHECK_EQ(rig_egress(&p, &out), TC_REDIRECT, "length %u", len);
		want_v4(&want, &p, 1420);
		CHECK(pkt_equal(&out, &want), "length %u", len);
		rig_expect("v4", SRPOL_REASON_TOO_BIG, 1,
			   SRPOL_REASON_ICMP_SENT, 1, RIG_END);
	}
}

/* The same frame with the first @n of these tags. */
static void with_tags(struct pkt *p, const struct pkt *plain, __u32 n)
{
	/* 802.1ad and 802.1Q, priorities, DEI, VID 0 and the last one */
	static const char tags[] = "88a8b3e8" "8100f064" "81007000" "8100efff";
	char hex[sizeof(tags)];

	snprintf(hex, sizeof(hex), "%.*s", (int)n * 8, tags);
	p->len = 0;
	pkt_add(p, plain->b, 12);
	pkt_add_hex(p, hex);
	pkt_add(p, plain->b + 12, plain->len - 12);
}

/*
 * The error has the tags of the packet. The outermost one is in the metadata,
 * which a test run does not show: that is for vlan.sh.
 */
static void test_tags(void)
{
	struct pkt p, plain, out, error, want;
	const struct rig_env env = {};
	__u32 n;

	setup(1);
	for (n = 1; n <= 4; n++) {
		sized(&plain, &v6, 1450);
		want_v6(&error, &plain, 1420);
		with_tags(&p, &plain, n);
		with_tags(&want, &error, n);
		memmove(want.b + 12, want.b + 16, want.len -= 4);
		CHECK_EQ(rig_egress(&p, &out), TC_REDIRECT, "v6, %u tags", n);
		CHECK(pkt_equal(&out, &want), "v6, %u tags", n);

		sized(&plain, &v4, 1450);
		want_v4(&error, &plain, 1420);
		with_tags(&p, &plain, n);
		with_tags(&want, &error, n);
		memmove(want.b + 12, want.b + 16, want.len -= 4);
		rig_uplink_add(1);
		CHECK_EQ(rig_port_tc(&p, &out, &env), X_REDIRECT,
			 "v4, %u tags", n);
		CHECK(pkt_equal(&out, &want), "v4, %u tags", n);
		rig_expect("tags", SRPOL_REASON_TOO_BIG, 2,
			   SRPOL_REASON_ICMP_SENT, 2, RIG_END);
	}
}

static void check_silent(const char *about, const struct pkt *p)
{
	CHECK_EQ(rig_egress(p, NULL), TC_DROP, "%s", about);
	rig_expect(about, SRPOL_REASON_TOO_BIG, 1, RIG_END);
}

static void test_not_answered(void)
{
	static const __u8 errors4[] = { 3, 4, 5, 11, 12 };
	static const __u8 errors6[] = { 1, 2, 3, 4, 127 };
	struct inner in;
	struct pkt p;
	__u32 i;

	setup(1);
	for (i = 0; i < ARRAY_SIZE(errors4); i++) {
		in = v4;
		in.proto = IPPROTO_ICMP;
		in.first_byte = errors4[i];
		sized(&p, &in, 1450);
		check_silent("ICMP error", &p);
		in = v6;
		in.proto = IPPROTO_ICMPV6;
		in.first_byte = errors6[i];
		sized(&p, &in, 1450);
		check_silent("ICMPv6 error", &p);
	}
	in = v4;
	in.frag_off = 100;
	sized(&p, &in, 1450);
	check_silent("later fragment", &p);
	in = v6;
	in.frag_off = 100;
	in.has_ext = true;
	memcpy(in.ext, (__u8[8]){ IPPROTO_FRAGMENT, 0xff }, 8);
	sized(&p, &in, 1450);
	check_silent("later fragment", &p);
	in = v4;
	in.src = "0.0.0.0";
	sized(&p, &in, 1450);
	check_silent("no source", &p);
	in = v6;
	in.src = "::";
	sized(&p, &in, 1450);
	check_silent("no source", &p);

	/* Questions are answered. */
	in = v4;
	in.proto = IPPROTO_ICMP;
	in.first_byte = 8;
	sized(&p, &in, 1450);
	CHECK_EQ(rig_egress(&p, NULL), TC_REDIRECT, "echo");
	in = v6;
	in.proto = IPPROTO_ICMPV6;
	in.first_byte = 128;
	sized(&p, &in, 1450);
	CHECK_EQ(rig_egress(&p, NULL), TC_REDIRECT, "echo");
}

/* The number of this window, by the clock that the program goes by. */
static __u64 window(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (ts.tv_sec * 1000000000ULL + ts.tv_nsec) >> WINDOW_SHIFT;
}

static void test_burst(void)
{
	__u64 sent, before, limited, windows;
	cpu_set_t all, one;
	struct pkt p;
	int i, round;

	setup(1);
	sized(&p, &v6, 1450);
	/* each processor may send as many */
	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0, "one processor");
	for (round = 0; round < 2; round++) {
		before = rig_reason(SRPOL_REASON_ICMP_SENT);
		limited = rig_reason(SRPOL_REASON_ICMP_LIMITED);
		windows = window();
		for (i = 0; i < 10000 &&
		     rig_reason(SRPOL_REASON_ICMP_LIMITED) == limited; i++)
			rig_egress(&p, NULL);
		windows = window() - windows + 1;
		sent = rig_reason(SRPOL_REASON_ICMP_SENT) - before;
		CHECK(sent >= BURST && sent <= BURST * windows,
		      "%llu of %d, in %llu windows", sent, i, windows);
		CHECK(i < 10000, "no limit");
		usleep(2 * WINDOW_US);
	}
	sched_setaffinity(0, sizeof(all), &all);
	CHECK_EQ(rig_reason(SRPOL_REASON_TOO_BIG) > 0, 1, "counted");
}

/*
 * Of a super-packet the segments are measured. A test run can not make a
 * complete one: the kernel refuses to encapsulate it, which we count as
 * ENCAP_REFUSED and not as TOO_BIG.
 */
static void test_segments(void)
{
	struct inner in = v6;
	struct rig_env env = { .gso_segs = 2 };
	struct pkt p, tagged;

	setup(0);
	in.proto = IPPROTO_TCP;
	sized(&p, &in, 2400);
	env.gso_size = 1360;		/* + 60 + 80 = 1500 */
	CHECK_EQ(rig_egress_env(&p, NULL, &env), TC_NEXT, "fits");
	rig_expect("fits", SRPOL_REASON_ENCAP_REFUSED, 1, RIG_END);
	policy.drop_upon_invalid = 1;
	rig_policy(&policy);
	CHECK_EQ(rig_egress_env(&p, NULL, &env), TC_DROP, "not in the clear");
	CHECK_EQ(rig_port_tc(&p, NULL, &env), X_DROP, "nor from a port");
	rig_expect("drop-upon-invalid", SRPOL_REASON_ENCAP_REFUSED_DROP, 2,
		   RIG_END);
	policy.drop_upon_invalid = 0;
	rig_policy(&policy);
	env.gso_size = 1361;
	CHECK_EQ(rig_egress_env(&p, NULL, &env), TC_DROP, "one more");
	rig_expect("one more", SRPOL_REASON_TOO_BIG, 1, RIG_END);
	in.proto = IPPROTO_UDP;
	sized(&p, &in, 2400);
	env.gso_size = 1372;		/* + 48 + 80 = 1500 */
	CHECK_EQ(rig_egress_env(&p, NULL, &env), TC_NEXT, "UDP fits");
	rig_expect("UDP fits", SRPOL_REASON_ENCAP_REFUSED, 1, RIG_END);
	env.gso_size = 1373;
	CHECK_EQ(rig_egress_env(&p, NULL, &env), TC_DROP, "UDP one more");
	rig_expect("UDP one more", SRPOL_REASON_TOO_BIG, 1, RIG_END);
	/* Let go, it would have lost its tag. */
	tagged.len = 0;
	pkt_add(&tagged, p.b, 12);
	pkt_add_hex(&tagged, "81000064");
	pkt_add(&tagged, p.b + 12, p.len - 12);
	env.gso_size = 1372;
	CHECK_EQ(rig_egress_env(&tagged, NULL, &env), TC_DROP, "tagged");
	rig_expect("tagged", SRPOL_REASON_NO_ROOM, 1, RIG_END);
}

static const struct ktap_test tests[] = {
	{ "the last byte that fits", test_boundary },
	{ "Packet Too Big", test_v6 },
	{ "Fragmentation Needed", test_v4 },
	{ "errors have the tags of the packet", test_tags },
	{ "what is never answered", test_not_answered },
	{ "errors are limited in number", test_burst },
	{ "segments of super-packets", test_segments },
};

int main(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		sids[i] = sid(i + 1);
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
