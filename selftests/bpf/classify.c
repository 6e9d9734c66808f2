// SPDX-License-Identifier: GPL-2.0
/* Egress: which rule, which policy. */
#include <stdlib.h>
#include <string.h>

#include "colors.h"
#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define PEER		"2001:db8::99"

static const struct inner roce4 = {
	.src = "10.1.0.1", .dst = "10.2.0.2", .roce = true, .sport = 0xc123,
	.qp = 1500, .opcode = 4, .pkey = 0xffff, .tclass = 26 << 2 | 2,
	.payload = 16,
};

static __u64 rule_packets(__u32 id)
{
	return rig_counter("rule_stats", id).packets;
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
	colors_setup();
	colors_unmatched("no rules", &roce4);
	rig_rules(NULL, 0);
	colors_unmatched("empty order", &colors_roce6);
	CHECK_EQ(rig_flows(NULL), 0, "nothing to remember");
}

static void test_qp(void)
{
	struct srpol_dp_rule r = {
		.color = 3, .match = SRPOL_MATCH_QP, .qp = { 1000, 1999 },
	};
	static const struct { __u32 qp; bool in; } qps[] = {
		{ 0, false }, { 999, false }, { 1000, true }, { 1001, true },
		{ 1999, true }, { 2000, false }, { 0x10000 + 1500, false },
		{ 0xffffff, false },
	};
	struct inner in;
	__u32 i, f;

	colors_setup();
	rig_rules(&r, 1);
	rig_mark();
	for (f = 0; f < 2; f++) {
		for (i = 0; i < ARRAY_SIZE(qps); i++) {
			in = f ? colors_roce6 : roce4;
			in.qp = qps[i].qp;
			if (qps[i].in)
				colors_steered("QP in range", &in, 3);
			else
				colors_unmatched("QP out of range", &in);
		}
	}
	in = colors_tcp4;
	in.dport = 1500;
	colors_unmatched("a port is no QP", &in);
	r.qp[0] = 0;
	r.qp[1] = 0xffffff;
	rig_rules(&r, 1);
	rig_mark();
	in = roce4;
	in.qp = 0xffffff;
	colors_steered("largest QP", &in, 3);
	colors_unmatched("TCP has no QP", &colors_tcp4);
}

/* Each field: a rule that matches a packet, and packets just beside it. */
static void test_fields(void)
{
	struct srpol_dp_rule r;
	struct rig_env env = {};
	struct inner in;

	colors_setup();

	r = (struct srpol_dp_rule){ .color = 1, .match = SRPOL_MATCH_PROTO,
				     .proto = IPPROTO_TCP };
	rig_rules(&r, 1);
	rig_mark();
	colors_steered("proto", &colors_tcp4, 1);
	colors_unmatched("proto", &roce4);

	r = (struct srpol_dp_rule){ .color = 2, .match = SRPOL_MATCH_SPORT,
				     .sport = { 40000, 40001 } };
	rig_rules(&r, 1);
	rig_mark();
	in = colors_tcp4;
	colors_steered("sport", &in, 2);
	in.sport = 40001;
	colors_steered("sport", &in, 2);
	in.sport = 40002;
	colors_unmatched("sport", &in);
	in.sport = 39999;
	colors_unmatched("sport", &in);

	r = (struct srpol_dp_rule){ .color = 2, .match = SRPOL_MATCH_DPORT,
				     .dport = { 443, 443 } };
	rig_rules(&r, 1);
	rig_mark();
	colors_steered("dport", &colors_tcp4, 2);
	in = colors_tcp4;
	in.dport = 442;
	colors_unmatched("dport", &in);
	in.dport = 444;
	colors_unmatched("dport", &in);
	r.dport[0] = 4791;
	r.dport[1] = 4791;
	rig_rules(&r, 1);
	rig_mark();
	colors_steered("dport of RoCE", &colors_roce6, 2);
	in = colors_tcp4;
	in.proto = IPPROTO_ICMP;
	in.first_byte = 8;
	colors_unmatched("ports of ICMP", &in);
	in = colors_tcp4;
	in.dport = 0;
	r.dport[0] = 0;
	rig_rules(&r, 1);
	rig_mark();
	colors_steered("port 0", &in, 2);
	in.frag_off = 100;
	colors_unmatched("ports of a later fragment", &in);

	r = (struct srpol_dp_rule){ .color = 4, .match = SRPOL_MATCH_DSCP,
				     .dscp = 26 };
	rig_rules(&r, 1);
	rig_mark();
	colors_steered("dscp", &roce4, 4);
	colors_steered("dscp", &colors_roce6, 4);
	in = roce4;
	in.tclass = 26 << 2 | 1;
	colors_steered("dscp, another ECN", &in, 4);
	in.tclass = 27 << 2;
	colors_unmatched("dscp", &in);

	r = (struct srpol_dp_rule){ .color = 4, .match = SRPOL_MATCH_PKEY,
				     .pkey = 0x8001 };
	rig_rules(&r, 1);
	rig_mark();
	in = roce4;
	colors_unmatched("pkey", &in);
	in.pkey = 0x8001;
	colors_steered("pkey", &in, 4);
	colors_unmatched("pkey of TCP", &colors_tcp4);

	r = (struct srpol_dp_rule){ .color = 5, .match = SRPOL_MATCH_MARK,
				     .mark = 0x10, .mark_mask = 0xf0 };
	rig_rules(&r, 1);
	rig_mark();
	colors_unmatched("mark 0", &colors_tcp4);
	env.mark = 0x7f1f;
	colors_expect_env("mark", &colors_tcp4, &env, 5, 0);
	env.mark = 0x20;
	colors_expect_env("mark", &colors_tcp4, &env, 0, SRPOL_REASON_NO_RULE);

	r = (struct srpol_dp_rule){ .color = 6, .match = SRPOL_MATCH_DEV,
				     .ifindex = 1 };
	rig_rules(&r, 1);
	rig_mark();
	colors_steered("dev", &colors_tcp4, 6);
	r.ifindex = 2;
	rig_rules(&r, 1);
	rig_mark();
	colors_unmatched("dev", &colors_tcp4);

	/* All of a rule's fields have to agree. */
	r = (struct srpol_dp_rule){
		.color = 7,
		.match = SRPOL_MATCH_QP | SRPOL_MATCH_DSCP | SRPOL_MATCH_SPORT,
		.qp = { 1500, 1500 }, .dscp = 26, .sport = { 0xc123, 0xc123 },
	};
	rig_rules(&r, 1);
	rig_mark();
	colors_steered("three fields", &colors_roce6, 7);
	in = colors_roce6;
	in.sport--;
	colors_unmatched("two of three", &in);
	in = colors_roce6;
	in.qp--;
	colors_unmatched("two of three", &in);
	in = colors_roce6;
	in.tclass = 0;
	colors_unmatched("two of three", &in);
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
	struct srpol_dp_rule r;
	__u32 i;

	colors_setup();
	for (i = 0; i < ARRAY_SIZE(dst); i++) {
		r = (struct srpol_dp_rule){ .color = 1,
					     .match = SRPOL_MATCH_DST };
		prefix(r.dst, r.dst_mask, dst[i].text, dst[i].len);
		rig_rules(&r, 1);
		rig_mark();
		colors_expect(dst[i].text, &roce4, dst[i].v4 ? 1 : 0,
		       SRPOL_REASON_NO_RULE);
		colors_expect(dst[i].text, &colors_roce6, dst[i].v6 ? 1 : 0,
		       SRPOL_REASON_NO_RULE);
	}
	r = (struct srpol_dp_rule){ .color = 1, .match = SRPOL_MATCH_SRC };
	prefix(r.src, r.src_mask, "10.1.0.0", 96 + 24);
	rig_rules(&r, 1);
	rig_mark();
	colors_steered("source", &roce4, 1);
	colors_unmatched("source", &colors_roce6);
	prefix(r.src, r.src_mask, "10.2.0.0", 96 + 24);
	rig_rules(&r, 1);
	rig_mark();
	colors_unmatched("source", &roce4);
}

static void add_opcode(struct srpol_dp_rule *r, __u8 opcode)
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
	struct srpol_dp_rule r[3] = {
		{ .color = 1 }, { .color = 2 }, { .color = 3 },
	};
	struct inner in = colors_roce6;
	__u32 op, want;

	colors_setup();
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
		colors_steered("opcode", &in, want);
	}
	CHECK_EQ(rig_flows(NULL), 3, "flow entries of one QP");
	colors_steered("TCP has no opcode", &colors_tcp4, 3);

	/* Without such rules all opcodes are one flow. */
	colors_setup();
	rig_rules(&r[2], 1);
	rig_mark();
	for (op = 0; op < 256; op++) {
		in.opcode = op;
		colors_steered("opcode", &in, 3);
	}
	CHECK_EQ(rig_flows(NULL), 1, "flow entries of one QP");
}

static void test_priority(void)
{
	struct srpol_dp_rule r[3] = {
		{ .color = 1, .id = 11, .match = SRPOL_MATCH_QP,
		  .qp = { 1000, 1999 } },
		{ .color = 2, .id = 12, .match = SRPOL_MATCH_QP,
		  .qp = { 1500, 2500 } },
		{ .color = 3, .id = 13 },
	};
	struct srpol_dp_rule back[3] = { r[2], r[1], r[0] };
	struct inner in = roce4;

	colors_setup();
	rig_rules(r, 3);
	rig_mark();
	colors_steered("first of two", &in, 1);
	in.qp = 2000;
	colors_steered("second", &in, 2);
	in.qp = 3000;
	colors_steered("last", &in, 3);
	CHECK_EQ(rule_packets(11), 1, "counter");
	CHECK_EQ(rule_packets(12), 1, "counter");
	CHECK_EQ(rule_packets(13), 1, "counter");
	rig_rules(back, 3);
	rig_mark();
	in.qp = 1500;
	colors_steered("the same rules, reversed", &in, 3);
	CHECK_EQ(rule_packets(13), 2, "a rule keeps its counters");
	CHECK_EQ(rule_packets(11), 1, "a rule keeps its counters");
}

static void test_bypass(void)
{
	struct srpol_dp_rule r[2] = {
		{ .color = 0, .id = 21, .match = SRPOL_MATCH_DPORT,
		  .dport = { 443, 443 } },
		{ .color = 3, .id = 22 },
	};
	int i;

	colors_setup();
	rig_rules(r, 2);
	rig_mark();
	for (i = 0; i < 2; i++) {
		colors_expect("bypass", &colors_tcp4, 0, SRPOL_REASON_BYPASS);
		colors_steered("the rest", &roce4, 3);
	}
	CHECK_EQ(rule_packets(21), 2, "counter of a bypass rule");
	CHECK_EQ(rule_packets(22), 2, "counter");
}

static void test_endpoints(void)
{
	struct srpol_dp_rule r = { .color = 1 }, other = { .color = 2 };
	struct inner in = roce4;

	colors_setup();
	colors_policy(20, 1, PEER);
	colors_policy(21, 2, "2001:db8::98");
	rig_endpoint("10.2.0.0", 96 + 16, "2001:db8::77");
	rig_endpoint("10.2.0.0", 96 + 24, PEER);
	rig_endpoint("fd00:2::", 32, PEER);
	rig_rules(&r, 1);
	rig_mark();
	colors_steered("longest prefix", &roce4, 20);
	colors_steered("IPv6", &colors_roce6, 20);
	in.dst = "10.2.1.2";
	colors_steered("shorter prefix, no such policy: null endpoint", &in, 1);
	in.dst = "10.3.0.1";
	colors_steered("no prefix: null endpoint", &in, 1);
	rig_rules(&other, 1);
	rig_mark();
	colors_steered("color of another policy: null endpoint", &roce4, 2);

	/* No null endpoint: not steered, but a rule did match. */
	colors_setup();
	r.color = 99;
	r.id = 31;
	colors_policy(20, 99, PEER);
	rig_endpoint("10.2.0.0", 96 + 24, PEER);
	rig_rules(&r, 1);
	rig_mark();
	colors_steered("endpoint", &roce4, 20);
	colors_expect("no policy", &colors_roce6, 0, SRPOL_REASON_NO_POLICY);
	CHECK_EQ(rule_packets(31), 2, "counter");
	/* A changed prefix counts from the next epoch on. */
	rig_endpoint("10.2.0.0", 96 + 24, "2001:db8::1");
	colors_steered("cached", &roce4, 20);
	rig_epoch();
	colors_expect("changed endpoint", &roce4, 0, SRPOL_REASON_NO_POLICY);
}

/* A policy's endpoint steers by itself what goes to it. */
static void test_own_endpoint(void)
{
	struct srpol_dp_rule r = { .color = 20 };
	struct inner in = colors_roce6, four = colors_tcp4;

	rig_reset();
	rig_nexthop(1, 1, 1);
	colors_policy(1, 20, "fd00:b::1");
	colors_policy(2, 20, "fd00:b::2");
	colors_policy(3, 20, "10.9.0.1");
	rig_rules(&r, 1);
	rig_mark();
	in.dst = "fd00:b::1";
	colors_steered("its endpoint", &in, 1);
	in.dst = "fd00:b::3";
	colors_expect("beside it", &in, 0, SRPOL_REASON_NO_POLICY);
	four.dst = "10.9.0.1";
	colors_steered("its endpoint, IPv4", &four, 3);
	rig_endpoint("fd00:b::", 64, "fd00:b::2");
	rig_epoch();
	in.dst = "fd00:b::1";
	colors_steered("a shorter prefix does not win", &in, 1);
	in.dst = "fd00:b::3";
	colors_steered("but counts for others", &in, 2);
	rig_endpoint("fd00:b::1", 128, "fd00:b::2");
	rig_epoch();
	in.dst = "fd00:b::1";
	colors_steered("an explicit one of all bits wins", &in, 2);
}

/* All fragments of a datagram go one way, whether they show the ports or not. */
static void test_fragments(void)
{
	static const __u8 ext[] = { IPPROTO_FRAGMENT, 0xff };
	struct srpol_dp_rule r[2] = {
		{ .color = 1, .match = SRPOL_MATCH_DPORT,
		  .dport = { 4000, 4000 } },
		{ .color = 2 },
	};
	struct inner in[2] = {
		{ .src = "10.1.0.1", .dst = "10.2.0.2", .sport = 50000,
		  .dport = 4000, .payload = 64 },
		{ .src = "fd00:1::1", .dst = "fd00:2::2", .sport = 50000,
		  .dport = 4000, .payload = 64, .has_ext = true },
	};
	int i;

	memcpy(in[1].ext, ext, sizeof(ext));
	colors_setup();
	rig_rules(r, 2);
	rig_mark();
	for (i = 0; i < 2; i++) {
		/* IPv6: a fragment header around all of it, RFC 6946. */
		colors_steered("whole", &in[i], 1);
		in[i].more = true;
		colors_steered("first fragment", &in[i], 2);
		in[i].frag_off = 9;
		colors_steered("next fragment", &in[i], 2);
		in[i].more = false;
		colors_steered("last fragment", &in[i], 2);
	}
}

/* UDP to the port of RoCEv2 that is too short for a BTH is UDP. */
static void test_short_roce(void)
{
	struct srpol_dp_rule r[2] = {
		{ .color = 1, .match = SRPOL_MATCH_QP,
		  .qp = { 0, 0xffffff } },
		{ .color = 2, .match = SRPOL_MATCH_DPORT,
		  .dport = { 4791, 4791 } },
	};
	struct inner in = {
		.src = "fd00:1::1", .dst = "fd00:2::2", .sport = 50000,
		.dport = 4791, .payload = 4,
	};

	colors_setup();
	rig_rules(r, 2);
	rig_mark();
	for (in.payload = 0; in.payload < 12; in.payload += 4)
		colors_steered("no BTH", &in, 2);
	in.payload = 12;
	colors_steered("a BTH", &in, 1);
}

static void test_epoch(void)
{
	struct srpol_dp_rule one = { .color = 1 }, two = { .color = 2 };
	struct srpol_flow flow;
	struct inner in = colors_roce6;
	int i;

	colors_setup();
	for (i = 0; i < 5; i++) {
		rig_rules(i & 1 ? &two : &one, 1);
		rig_mark();
		colors_steered("this epoch's rule", &colors_roce6, i & 1 ? 2 : 1);
		colors_steered("this epoch's rule", &colors_roce6, i & 1 ? 2 : 1);
	}
	CHECK_EQ(rig_flows(&flow), 1, "one flow");
	CHECK_EQ(flow.packets, 10, "a flow's counters outlive the epoch");
	/* What is not steered is remembered as well, and forgotten again. */
	one.match = SRPOL_MATCH_QP;
	one.qp[0] = 7;
	one.qp[1] = 7;
	rig_rules(&one, 1);
	rig_mark();
	colors_unmatched("no rule", &in);
	CHECK_EQ(rig_flows(&flow), 1, "one flow");
	CHECK_EQ(rig_detail(flow.key.qp).verdict, SRPOL_REASON_NO_RULE,
		 "verdict");
	CHECK_EQ(flow.packets, 11, "packets");
	colors_unmatched("no rule, cached", &in);
	rig_rules(&two, 1);
	rig_mark();
	colors_steered("a rule again", &in, 2);
}

/* The last of as many rules as there can be. */
static void test_many(void)
{
	static struct srpol_dp_rule r[SRPOL_MAX_RULES - 1];
	__u32 i, n = ARRAY_SIZE(r);
	struct inner in = roce4;

	colors_setup();
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
		colors_steered("rule", &in, 1 + i % 7);
	}
	in.qp = n - 1;
	colors_steered("last rule", &in, 1 + (n - 1) % 7);
	in.qp = n;
	colors_unmatched("after the last", &in);
	rig_rules(r, 1);
	rig_mark();
	in.qp = 1;
	colors_unmatched("a rule no longer in force", &in);
}

static const struct ktap_test tests[] = {
	{ "a policy's own endpoint", test_own_endpoint },
	{ "fragments of a datagram", test_fragments },
	{ "too short for a BTH", test_short_roce },
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
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
