// SPDX-License-Identifier: GPL-2.0
/* Egress: which rule, which policy. */
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Policy of color C has id, path and row C. */
#define COLORS		8
#define NULL_ENDPOINT	"::"
#define PEER		"2001:db8::99"

static struct in6_addr sids[2];

static const struct inner roce4 = {
	.src = "10.1.0.1", .dst = "10.2.0.2", .roce = true, .sport = 0xc123,
	.qp = 1500, .opcode = 4, .pkey = 0xffff, .tclass = 26 << 2 | 2,
	.payload = 16,
};

static const struct inner roce6 = {
	.src = "fd00:1::1", .dst = "fd00:2::2", .roce = true, .sport = 0xc123,
	.qp = 1500, .opcode = 4, .pkey = 0xffff, .tclass = 26 << 2 | 2,
	.payload = 16,
};

static const struct inner tcp4 = {
	.src = "10.1.0.1", .dst = "10.2.0.2", .proto = IPPROTO_TCP,
	.sport = 40000, .dport = 443, .tclass = 26 << 2, .payload = 16,
};

static void set_policy(__u32 id, __u32 color, const char *endpoint)
{
	struct outer o = { .sids = sids, .n = 2 };
	struct srpol_dp_policy p = {
		.id = id, .color = color, .row = id, .n_buckets = 128,
	};
	struct in6_addr a = addr(endpoint);

	memcpy(p.endpoint, &a, 16);
	rig_path(id, &o, 1, 9000);
	rig_row_one(id, id);
	rig_policy(&p);
}

static void setup(void)
{
	__u32 c;

	rig_reset();
	rig_nexthop(1, 1, 1);
	for (c = 1; c < COLORS; c++)
		set_policy(c, c, NULL_ENDPOINT);
	rig_mark();
}

static __u64 policy_packets(__u32 id)
{
	return rig_counter("policy_stats", id).packets;
}

static __u64 class_packets(__u32 id)
{
	return rig_counter("class_stats", id).packets;
}

/*
 * Send a packet; @color says which policy must take it, 0 none for @reason.
 */
static void expect_env(const char *about, const struct inner *in,
		       const struct rig_env *env, __u32 color, int reason)
{
	__u64 before = color ? policy_packets(color) : 0;
	struct pkt p, out;

	pkt_inner(&p, in);
	CHECK_EQ(rig_egress_env(&p, &out, env), TC_NEXT, "%s", about);
	if (color) {
		CHECK_EQ(policy_packets(color), before + 1, "%s", about);
		reason = SRPOL_REASON_STEERED;
	} else {
		CHECK(pkt_equal(&out, &p), "%s", about);
	}
	rig_expect(about, reason, 1, RIG_END);
}

static void expect(const char *about, const struct inner *in, __u32 color,
		   int reason)
{
	const struct rig_env env = {};

	expect_env(about, in, &env, color, reason);
}

static void steered(const char *about, const struct inner *in, __u32 color)
{
	expect(about, in, color, 0);
}

static void unmatched(const char *about, const struct inner *in)
{
	expect(about, in, 0, SRPOL_REASON_NO_CLASS);
}

/* Set prefix @text/@len of a rule; lengths as in IPv6. */
static void prefix(__u8 *a, __u8 *mask, const char *text, __u32 len)
{
	struct in6_addr v = addr(text);
	__u32 i;

	for (i = 0; i < 128; i++)
		if (i < len)
			mask[i / 8] |= 0x80 >> i % 8;
	for (i = 0; i < 16; i++)
		a[i] = v.s6_addr[i] & mask[i];
}

static void test_no_rules(void)
{
	setup();
	unmatched("no rules", &roce4);
	rig_rules(NULL, 0);
	unmatched("empty order", &roce6);
	CHECK_EQ(rig_flows(NULL), 0, "nothing to remember");
}

static void test_qp(void)
{
	struct srpol_dp_class r = {
		.color = 3, .match = SRPOL_MATCH_QP, .qp = { 1000, 1999 },
	};
	static const struct { __u32 qp; bool in; } qps[] = {
		{ 0, false }, { 999, false }, { 1000, true }, { 1001, true },
		{ 1999, true }, { 2000, false }, { 0x10000 + 1500, false },
		{ 0xffffff, false },
	};
	struct inner in;
	__u32 i, f;

	setup();
	rig_rules(&r, 1);
	rig_mark();
	for (f = 0; f < 2; f++) {
		for (i = 0; i < ARRAY_SIZE(qps); i++) {
			in = f ? roce6 : roce4;
			in.qp = qps[i].qp;
			if (qps[i].in)
				steered("QP in range", &in, 3);
			else
				unmatched("QP out of range", &in);
		}
	}
	in = tcp4;
	in.dport = 1500;
	unmatched("a port is no QP", &in);
	r.qp[0] = 0;
	r.qp[1] = 0xffffff;
	rig_rules(&r, 1);
	rig_mark();
	in = roce4;
	in.qp = 0xffffff;
	steered("largest QP", &in, 3);
	unmatched("TCP has no QP", &tcp4);
}

/* Each field: a rule that matches a packet, and packets just beside it. */
static void test_fields(void)
{
	struct srpol_dp_class r;
	struct rig_env env = {};
	struct inner in;

	setup();

	r = (struct srpol_dp_class){ .color = 1, .match = SRPOL_MATCH_PROTO,
				     .proto = IPPROTO_TCP };
	rig_rules(&r, 1);
	rig_mark();
	steered("proto", &tcp4, 1);
	unmatched("proto", &roce4);

	r = (struct srpol_dp_class){ .color = 2, .match = SRPOL_MATCH_SPORT,
				     .sport = { 40000, 40001 } };
	rig_rules(&r, 1);
	rig_mark();
	in = tcp4;
	steered("sport", &in, 2);
	in.sport = 40001;
	steered("sport", &in, 2);
	in.sport = 40002;
	unmatched("sport", &in);
	in.sport = 39999;
	unmatched("sport", &in);

	r = (struct srpol_dp_class){ .color = 2, .match = SRPOL_MATCH_DPORT,
				     .dport = { 443, 443 } };
	rig_rules(&r, 1);
	rig_mark();
	steered("dport", &tcp4, 2);
	in = tcp4;
	in.dport = 442;
	unmatched("dport", &in);
	in.dport = 444;
	unmatched("dport", &in);
	r.dport[0] = 4791;
	r.dport[1] = 4791;
	rig_rules(&r, 1);
	rig_mark();
	steered("dport of RoCE", &roce6, 2);
	in = tcp4;
	in.proto = IPPROTO_ICMP;
	in.first_byte = 8;
	unmatched("ports of ICMP", &in);
	in = tcp4;
	in.dport = 0;
	r.dport[0] = 0;
	rig_rules(&r, 1);
	rig_mark();
	steered("port 0", &in, 2);
	in.frag_off = 100;
	unmatched("ports of a later fragment", &in);

	r = (struct srpol_dp_class){ .color = 4, .match = SRPOL_MATCH_DSCP,
				     .dscp = 26 };
	rig_rules(&r, 1);
	rig_mark();
	steered("dscp", &roce4, 4);
	steered("dscp", &roce6, 4);
	in = roce4;
	in.tclass = 26 << 2 | 1;
	steered("dscp, another ECN", &in, 4);
	in.tclass = 27 << 2;
	unmatched("dscp", &in);

	r = (struct srpol_dp_class){ .color = 4, .match = SRPOL_MATCH_PKEY,
				     .pkey = 0x8001 };
	rig_rules(&r, 1);
	rig_mark();
	in = roce4;
	unmatched("pkey", &in);
	in.pkey = 0x8001;
	steered("pkey", &in, 4);
	unmatched("pkey of TCP", &tcp4);

	r = (struct srpol_dp_class){ .color = 5, .match = SRPOL_MATCH_MARK,
				     .mark = 0x10, .mark_mask = 0xf0 };
	rig_rules(&r, 1);
	rig_mark();
	unmatched("mark 0", &tcp4);
	env.mark = 0x7f1f;
	expect_env("mark", &tcp4, &env, 5, 0);
	env.mark = 0x20;
	expect_env("mark", &tcp4, &env, 0, SRPOL_REASON_NO_CLASS);

	r = (struct srpol_dp_class){ .color = 6, .match = SRPOL_MATCH_DEV,
				     .ifindex = 1 };
	rig_rules(&r, 1);
	rig_mark();
	steered("dev", &tcp4, 6);
	r.ifindex = 2;
	rig_rules(&r, 1);
	rig_mark();
	unmatched("dev", &tcp4);

	/* All of a rule's fields have to agree. */
	r = (struct srpol_dp_class){
		.color = 7,
		.match = SRPOL_MATCH_QP | SRPOL_MATCH_DSCP | SRPOL_MATCH_SPORT,
		.qp = { 1500, 1500 }, .dscp = 26, .sport = { 0xc123, 0xc123 },
	};
	rig_rules(&r, 1);
	rig_mark();
	steered("three fields", &roce6, 7);
	in = roce6;
	in.sport--;
	unmatched("two of three", &in);
	in = roce6;
	in.qp--;
	unmatched("two of three", &in);
	in = roce6;
	in.tclass = 0;
	unmatched("two of three", &in);
}

static void test_prefixes(void)
{
	static const struct {
		const char *text;
		__u32 len;
		bool v4, v6;
	} dst[] = {
		{ "10.2.0.0", 96 + 16, true, false },
		{ "10.2.0.2", 128, true, false },
		{ "10.2.0.3", 128, false, false },
		{ "10.2.0.0", 96 + 31, false, false },
		{ "10.2.0.2", 96 + 31, true, false },
		{ "0.0.0.0", 96, true, false },
		{ "fd00:2::", 32, false, true },
		{ "fd00:2::2", 128, false, true },
		{ "fd00:2::3", 127, false, true },
		{ "fd00:2::4", 126, false, false },
		{ "::", 0, true, true },
	};
	struct srpol_dp_class r;
	__u32 i;

	setup();
	for (i = 0; i < ARRAY_SIZE(dst); i++) {
		r = (struct srpol_dp_class){ .color = 1,
					     .match = SRPOL_MATCH_DST };
		prefix(r.dst, r.dst_mask, dst[i].text, dst[i].len);
		rig_rules(&r, 1);
		rig_mark();
		expect(dst[i].text, &roce4, dst[i].v4 ? 1 : 0,
		       SRPOL_REASON_NO_CLASS);
		expect(dst[i].text, &roce6, dst[i].v6 ? 1 : 0,
		       SRPOL_REASON_NO_CLASS);
	}
	r = (struct srpol_dp_class){ .color = 1, .match = SRPOL_MATCH_SRC };
	prefix(r.src, r.src_mask, "10.1.0.0", 96 + 24);
	rig_rules(&r, 1);
	rig_mark();
	steered("source", &roce4, 1);
	unmatched("source", &roce6);
	prefix(r.src, r.src_mask, "10.2.0.0", 96 + 24);
	rig_rules(&r, 1);
	rig_mark();
	unmatched("source", &roce4);
}

static void add_opcode(struct srpol_dp_class *r, __u8 opcode)
{
	r->match |= SRPOL_MATCH_OPCODE;
	r->opcodes[opcode / 64] |= 1ULL << opcode % 64;
}

/*
 * Opcodes of one QP go to different policies where rules say so, and share
 * one flow entry where they do not.
 */
static void test_opcodes(void)
{
	struct srpol_dp_class r[3] = {
		{ .color = 1 }, { .color = 2 }, { .color = 3 },
	};
	struct inner in = roce6;
	__u32 op, want;

	setup();
	for (op = 6; op <= 8; op++)
		add_opcode(&r[0], op);
	add_opcode(&r[0], 0x0a);
	add_opcode(&r[1], 0x81);
	add_opcode(&r[1], 0x40);
	add_opcode(&r[1], 0xff);
	rig_rules(r, 3);
	rig_mark();
	/* Then once more without what the cache knows of an opcode's class. */
	for (op = 0; op < 2 * 256; op++) {
		in.opcode = op;
		want = 3;
		if ((in.opcode >= 6 && in.opcode <= 8) || in.opcode == 0x0a)
			want = 1;
		else if (in.opcode == 0x81 || in.opcode == 0x40 ||
			 in.opcode == 0xff)
			want = 2;
		if (op >= 256)
			rig_epoch();
		steered("opcode", &in, want);
	}
	CHECK_EQ(rig_flows(NULL), 3, "flow entries of one QP");
	steered("TCP has no opcode", &tcp4, 3);

	/* Without such rules all opcodes are one flow. */
	setup();
	rig_rules(&r[2], 1);
	rig_mark();
	for (op = 0; op < 256; op++) {
		in.opcode = op;
		steered("opcode", &in, 3);
	}
	CHECK_EQ(rig_flows(NULL), 1, "flow entries of one QP");
}

static void test_priority(void)
{
	struct srpol_dp_class r[3] = {
		{ .color = 1, .id = 11, .match = SRPOL_MATCH_QP,
		  .qp = { 1000, 1999 } },
		{ .color = 2, .id = 12, .match = SRPOL_MATCH_QP,
		  .qp = { 1500, 2500 } },
		{ .color = 3, .id = 13 },
	};
	struct srpol_dp_class back[3] = { r[2], r[1], r[0] };
	struct inner in = roce4;

	setup();
	rig_rules(r, 3);
	rig_mark();
	steered("first of two", &in, 1);
	in.qp = 2000;
	steered("second", &in, 2);
	in.qp = 3000;
	steered("last", &in, 3);
	CHECK_EQ(class_packets(11), 1, "counter");
	CHECK_EQ(class_packets(12), 1, "counter");
	CHECK_EQ(class_packets(13), 1, "counter");
	rig_rules(back, 3);
	rig_mark();
	in.qp = 1500;
	steered("the same rules, reversed", &in, 3);
	CHECK_EQ(class_packets(13), 2, "a rule keeps its counters");
	CHECK_EQ(class_packets(11), 1, "a rule keeps its counters");
}

static void test_bypass(void)
{
	struct srpol_dp_class r[2] = {
		{ .color = 0, .id = 21, .match = SRPOL_MATCH_DPORT,
		  .dport = { 443, 443 } },
		{ .color = 3, .id = 22 },
	};
	int i;

	setup();
	rig_rules(r, 2);
	rig_mark();
	for (i = 0; i < 2; i++) {
		expect("bypass", &tcp4, 0, SRPOL_REASON_BYPASS);
		steered("the rest", &roce4, 3);
	}
	CHECK_EQ(class_packets(21), 2, "counter of a bypass rule");
	CHECK_EQ(class_packets(22), 2, "counter");
}

static void test_endpoints(void)
{
	struct srpol_dp_class r = { .color = 1 }, other = { .color = 2 };
	struct inner in = roce4;

	setup();
	set_policy(20, 1, PEER);
	set_policy(21, 2, "2001:db8::98");
	rig_endpoint("10.2.0.0", 96 + 16, "2001:db8::77");
	rig_endpoint("10.2.0.0", 96 + 24, PEER);
	rig_endpoint("fd00:2::", 32, PEER);
	rig_rules(&r, 1);
	rig_mark();
	steered("longest prefix", &roce4, 20);
	steered("IPv6", &roce6, 20);
	in.dst = "10.2.1.2";
	steered("shorter prefix, no such policy: null endpoint", &in, 1);
	in.dst = "10.3.0.1";
	steered("no prefix: null endpoint", &in, 1);
	rig_rules(&other, 1);
	rig_mark();
	steered("color of another policy: null endpoint", &roce4, 2);

	/* No null endpoint: not steered, but a rule did match. */
	setup();
	r.color = 99;
	r.id = 31;
	set_policy(20, 99, PEER);
	rig_endpoint("10.2.0.0", 96 + 24, PEER);
	rig_rules(&r, 1);
	rig_mark();
	steered("endpoint", &roce4, 20);
	expect("no policy", &roce6, 0, SRPOL_REASON_NO_POLICY);
	CHECK_EQ(class_packets(31), 2, "counter");
	/* A changed prefix counts from the next epoch on. */
	rig_endpoint("10.2.0.0", 96 + 24, "2001:db8::1");
	steered("cached", &roce4, 20);
	rig_epoch();
	expect("changed endpoint", &roce4, 0, SRPOL_REASON_NO_POLICY);
}

static void test_epoch(void)
{
	struct srpol_dp_class one = { .color = 1 }, two = { .color = 2 };
	struct srpol_flow flow;
	struct inner in = roce6;
	int i;

	setup();
	for (i = 0; i < 5; i++) {
		rig_rules(i & 1 ? &two : &one, 1);
		rig_mark();
		steered("this epoch's rule", &roce6, i & 1 ? 2 : 1);
		steered("this epoch's rule", &roce6, i & 1 ? 2 : 1);
	}
	CHECK_EQ(rig_flows(&flow), 1, "one flow");
	CHECK_EQ(flow.packets, 10, "a flow's counters outlive the epoch");
	/* What is not steered is remembered as well, and forgotten again. */
	one.match = SRPOL_MATCH_QP;
	one.qp[0] = 7;
	one.qp[1] = 7;
	rig_rules(&one, 1);
	rig_mark();
	unmatched("no rule", &in);
	CHECK_EQ(rig_flows(&flow), 1, "one flow");
	CHECK_EQ(flow.verdict, SRPOL_REASON_NO_CLASS, "verdict");
	CHECK_EQ(flow.packets, 11, "packets");
	unmatched("no rule, cached", &in);
	rig_rules(&two, 1);
	rig_mark();
	steered("a rule again", &in, 2);
}

/* The last of as many rules as there can be. */
static void test_many(void)
{
	static struct srpol_dp_class r[SRPOL_MAX_CLASSES - 1];
	__u32 i, n = ARRAY_SIZE(r);
	struct inner in = roce4;

	setup();
	for (i = 0; i < n; i++) {
		r[i].id = i + 1;
		r[i].color = 1 + i % 7;
		r[i].match = SRPOL_MATCH_QP;
		r[i].qp[0] = i;
		r[i].qp[1] = i;
	}
	rig_rules(r, n);
	rig_mark();
	for (i = 0; i < n; i += 273) {
		in.qp = i;
		steered("rule", &in, 1 + i % 7);
	}
	in.qp = n - 1;
	steered("last rule", &in, 1 + (n - 1) % 7);
	in.qp = n;
	unmatched("after the last", &in);
	rig_rules(r, 1);
	rig_mark();
	in.qp = 1;
	unmatched("a rule no longer in force", &in);
}

static const struct ktap_test tests[] = {
	{ "no rules, no steering", test_no_rules },
	{ "destination QP ranges", test_qp },
	{ "every other field", test_fields },
	{ "prefixes", test_prefixes },
	{ "opcode sets and their classes", test_opcodes },
	{ "priority", test_priority },
	{ "bypass", test_bypass },
	{ "endpoints and the null endpoint", test_endpoints },
	{ "epochs", test_epoch },
	{ "as many rules as fit", test_many },
};

int main(void)
{
	sids[0] = sid(1);
	sids[1] = sid(2);
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
