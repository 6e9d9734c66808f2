// SPDX-License-Identifier: GPL-2.0
/* Egress: packet in, exact packet out. */
#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define POLICY		3
#define PATH		7
#define NEXTHOP		2
#define ROW		5
#define COLOR		100
#define RULE_ID	9
#define LO		1
#define ELSEWHERE	77	/* no packet leaves from a test run */
#define MTU		9000

/* standards.md C.9.6 */
static const char *const golden[] = {
	"4502003c12344000401114790a0000010a000002c12312b7002800000400ffff0000"
	"001180000001000102030405060708090a0b0c0d0e0f94cdc8ed",
	"4500003c00004000401126af0a0000020a000001c12312b7002800008100ffff4000"
	"001100000000000000000000000000000000000000004107b81e",
	"6021234500381140fd000000000000000000000000000001fd000000000000000000"
	"000000000002c12312b7003800000a00ffff00000011800000070000000000001000"
	"0000abcd00000010000102030405060708090a0b0c0d0e0f07f1c524",
};

static struct in6_addr sids[SRPOL_SEGS_MAX];

static const struct inner v4 = {
	.src = "10.0.0.1", .dst = "10.0.0.2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .opcode = 4, .pkey = 0xffff, .tclass = 0x02, .payload = 64,
};

static const struct inner v6 = {
	.src = "fd00::1", .dst = "fd00::2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .opcode = 10, .pkey = 0xffff, .tclass = 0x02,
	.label = 0x12345, .payload = 64,
};

static struct outer path_of(unsigned int n, bool full)
{
	struct outer o = { .sids = sids, .n = n, .full = full };

	return o;
}

/* One rule for everything, one policy, one path. */
static void setup(const struct outer *o, __u32 ifindex, __u32 mtu)
{
	struct srpol_dp_policy policy = {
		.id = POLICY, .color = COLOR, .row = ROW, .n_buckets = 128,
	};
	struct srpol_dp_rule all = { .id = RULE_ID, .color = COLOR };

	rig_reset();
	rig_nexthop(NEXTHOP, ifindex, 1);
	rig_path(PATH, o, NEXTHOP, mtu);
	rig_row_one(ROW, PATH);
	rig_policy(&policy);
	rig_rules(&all, 1);
	rig_mark();
}

static __u32 label_of(const struct pkt *p)
{
	__u32 word;

	memcpy(&word, p->b + 14, 4);
	return ntohl(word) & 0xfffff;
}

/* The frame @in must come out as @o around what it holds from @off on. */
static void check_encap(const char *about, const struct pkt *in, __u32 off,
			__u32 len, struct outer o, __u8 tclass)
{
	struct pkt out, want;
	int verdict;

	verdict = rig_egress(in, &out);
	CHECK_EQ(verdict, TC_NEXT, "%s", about);
	o.label = label_of(&out);
	o.tclass = tclass;
	CHECK(o.label, "%s: flow label", about);
	pkt_encap(&want, &o, in->b + off, len);
	/* Link-layer padding stays behind the packet. */
	pkt_add(&want, in->b + off + len, in->len - off - len);
	CHECK(pkt_equal(&out, &want), "%s", about);
	rig_expect(about, SRPOL_REASON_STEERED, 1, RIG_END);
}

static void test_golden(void)
{
	static const unsigned int n[] = { 1, 2, 3, 6, 16 };
	struct pkt in, out;
	__u32 i, j, full, label, crc;
	struct outer o;
	char about[64];

	for (i = 0; i < ARRAY_SIZE(golden); i++) {
		in.len = 0;
		pkt_add_eth(&in, pkt_host_macs,
			    golden[i][0] == '4' ? 0x0800 : 0x86dd);
		pkt_add_hex(&in, golden[i]);
		memcpy(&crc, in.b + in.len - 4, 4);
		CHECK_EQ(ntohl(crc), icrc(in.b + 14, in.len - 14),
			 "packet %u", i);
		label = 0;
		for (j = 0; j < 2 * ARRAY_SIZE(n); j++) {
			full = j & 1;
			o = path_of(n[j / 2], full);
			snprintf(about, sizeof(about),
				 "packet %u, %u SIDs, %s", i, o.n,
				 full ? "full" : "reduced");
			setup(&o, LO, MTU);
			check_encap(about, &in, 14, in.len - 14, o,
				    i == 1 ? 0 : 2);
			rig_egress(&in, &out);
			rig_mark();
			CHECK_EQ(icrc(out.b + out.len - in.len + 14,
				      in.len - 14), ntohl(crc), "%s", about);
			CHECK(!label || label == label_of(&out),
			      "%s: label changed", about);
			label = label_of(&out);
		}
	}
}

static void test_ecn(void)
{
	struct outer o = path_of(3, false);
	const struct inner *families[] = { &v4, &v6 };
	struct inner in;
	struct pkt p;
	__u32 i, ecn;
	char about[32];

	setup(&o, LO, MTU);
	for (i = 0; i < 2; i++) {
		for (ecn = 0; ecn < 4; ecn++) {
			in = *families[i];
			in.tclass = ecn;
			pkt_inner(&p, &in);
			snprintf(about, sizeof(about), "v%c ECN %u",
				 i ? '6' : '4', ecn);
			check_encap(about, &p, 14, p.len - 14, o, ecn);
		}
	}
}

static void test_dscp(void)
{
	struct srpol_dp_config pipe = {
		.dscp_mode = SRPOL_DSCP_MODE_PIPE, .dscp = 46,
	};
	struct srpol_dp_config uniform = {};
	struct outer o = path_of(2, false);
	const struct inner *families[] = { &v4, &v6 };
	struct inner in;
	struct pkt p;
	int i, ecn;

	setup(&o, LO, MTU);
	for (i = 0; i < 2; i++) {
		for (ecn = 0; ecn < 4; ecn++) {
			in = *families[i];
			in.tclass = 26 << 2 | ecn;
			pkt_inner(&p, &in);
			rig_config(uniform);
			check_encap("uniform", &p, 14, p.len - 14, o,
				    26 << 2 | ecn);
			rig_config(pipe);
			check_encap("pipe", &p, 14, p.len - 14, o,
				    46 << 2 | ecn);
		}
	}
}

static __u32 label_in_mode(__u8 mode, const struct inner *in)
{
	struct srpol_dp_config cfg = { .flow_label = mode };
	struct pkt p, out;

	rig_config(cfg);
	pkt_inner(&p, in);
	CHECK_EQ(rig_egress(&p, &out), TC_NEXT, "mode %u", mode);
	return label_of(&out);
}

static void test_label_modes(void)
{
	struct outer o = path_of(2, false);
	struct inner a = v6, b = v6, plain = v6, four = v4;
	__u32 hash_qp;

	setup(&o, LO, MTU);
	b.qp = a.qp + 1;
	plain.label = 0;

	CHECK_EQ(label_in_mode(SRPOL_FLOW_LABEL_ZERO, &a), 0, "zero");
	CHECK_EQ(label_in_mode(SRPOL_FLOW_LABEL_INHERIT, &a), 0x12345,
		 "inherit");
	hash_qp = label_in_mode(SRPOL_FLOW_LABEL_HASH_QP, &a);
	CHECK(hash_qp, "hash-qp");
	CHECK_EQ(label_in_mode(SRPOL_FLOW_LABEL_INHERIT, &plain), hash_qp,
		 "inherit, inner label 0");
	CHECK_EQ(label_in_mode(SRPOL_FLOW_LABEL_INHERIT, &four),
		 label_in_mode(SRPOL_FLOW_LABEL_HASH_QP, &four),
		 "inherit, IPv4");
	CHECK(label_in_mode(SRPOL_FLOW_LABEL_HASH_QP, &b) != hash_qp,
	      "the QP does not matter");
	CHECK_EQ(label_in_mode(SRPOL_FLOW_LABEL_HASH, &b),
		 label_in_mode(SRPOL_FLOW_LABEL_HASH, &a), "hash: QP matters");
	CHECK(label_in_mode(SRPOL_FLOW_LABEL_HASH, &a), "hash");
	b = a;
	b.sport++;
	CHECK(label_in_mode(SRPOL_FLOW_LABEL_HASH, &b) !=
	      label_in_mode(SRPOL_FLOW_LABEL_HASH, &a),
	      "hash: the source port does not matter");
	/* Only classification looks at the opcode. */
	b = a;
	b.opcode = 0x11;
	CHECK_EQ(label_in_mode(SRPOL_FLOW_LABEL_HASH_QP, &b), hash_qp,
		 "the opcode matters");
}

static void test_label_entropy(void)
{
	const struct inner *families[] = { &v4, &v6 };
	struct outer o = path_of(2, false);
	__u32 labels[64], i, j, f, distinct;
	struct inner in;
	struct pkt p, out;

	setup(&o, LO, MTU);
	for (f = 0; f < 2; f++) {
		distinct = 0;
		for (i = 0; i < 64; i++) {
			in = *families[f];
			in.qp = 0x11 + i;
			pkt_inner(&p, &in);
			rig_egress(&p, &out);
			labels[i] = label_of(&out);
			CHECK(labels[i], "QP %#x: label", in.qp);
			for (j = 0; j < i; j++)
				if (labels[j] == labels[i])
					break;
			distinct += j == i;
			rig_egress(&p, &out);
			CHECK_EQ(label_of(&out), labels[i], "not stable");
		}
		CHECK(distinct >= 60, "%u labels of 64 QPs", distinct);
	}
}

static void test_vlan(void)
{
	const struct inner *families[] = { &v4, &v6 };
	struct outer o = path_of(3, false);
	struct pkt ip = {}, p;
	int f, tags, i;

	setup(&o, LO, MTU);
	for (f = 0; f < 2; f++) {
		ip.len = 0;
		pkt_inner_ip(&ip, families[f]);
		for (tags = 1; tags <= 2; tags++) {
			p.len = 0;
			pkt_add(&p, pkt_host_macs, 12);
			for (i = 0; i < tags; i++) {
				pkt_add16(&p, tags == 2 && !i ? 0x88a8 :
					  0x8100);
				pkt_add16(&p, 0x2000 | (100 + i));
			}
			pkt_add16(&p, f ? 0x86dd : 0x0800);
			pkt_add(&p, ip.b, ip.len);
			check_encap("tagged", &p, 14 + 4 * tags, ip.len, o, 2);
		}
	}
}

static void test_ipv4_shapes(void)
{
	struct outer o = path_of(2, true);
	struct inner in;
	struct pkt p;

	setup(&o, LO, MTU);
	in = v4;
	for (in.options = 1; in.options <= 10; in.options++) {
		pkt_inner(&p, &in);
		check_encap("options", &p, 14, p.len - 14, o, 2);
	}
	in = v4;
	in.roce = false;
	in.dport = 53;
	in.more = true;
	pkt_inner(&p, &in);
	check_encap("first fragment", &p, 14, p.len - 14, o, 2);
	in.frag_off = 100;
	in.more = false;
	in.payload = 4;
	pkt_inner(&p, &in);
	check_encap("last fragment", &p, 14, p.len - 14, o, 2);
	in = v4;
	in.roce = false;
	in.proto = IPPROTO_TCP;
	pkt_inner(&p, &in);
	check_encap("TCP", &p, 14, p.len - 14, o, 2);
	in.proto = IPPROTO_ICMP;
	in.first_byte = 8;
	pkt_inner(&p, &in);
	check_encap("echo", &p, 14, p.len - 14, o, 2);
	in.proto = 132;
	pkt_inner(&p, &in);
	check_encap("SCTP", &p, 14, p.len - 14, o, 2);
	/* Padding of a short frame is not part of the packet. */
	in = v4;
	in.roce = false;
	in.payload = 1;
	pkt_inner(&p, &in);
	pkt_add_hex(&p, "0000000000000000000000000000000000");
	check_encap("padded frame", &p, 14, 29, o, 2);
}

static void test_ipv6_shapes(void)
{
	static const __u8 chains[][8] = {
		{ 0, 0xff },
		{ IPPROTO_DSTOPTS, 0xff },
		{ 0, IPPROTO_DSTOPTS, 0xff },
		{ IPPROTO_AH, 0xff },
		{ 0, IPPROTO_DSTOPTS, IPPROTO_FRAGMENT, 0xff },
		{ 0, IPPROTO_DSTOPTS, 0, IPPROTO_AH, IPPROTO_DSTOPTS, 0xff },
	};
	struct outer o = path_of(2, true);
	struct pkt p, out;
	struct inner in;
	__u32 i, qp_label, label;

	setup(&o, LO, MTU);
	pkt_inner(&p, &v6);
	rig_egress(&p, &out);
	qp_label = label_of(&out);
	rig_mark();
	for (i = 0; i < ARRAY_SIZE(chains); i++) {
		in = v6;
		in.has_ext = true;
		memcpy(in.ext, chains[i], 8);
		pkt_inner(&p, &in);
		check_encap("extension headers", &p, 14, p.len - 14, o, 2);
		/* The QP behind them was found: same flow, same label. */
		rig_egress(&p, &out);
		CHECK_EQ(label_of(&out), qp_label, "chain %u", i);
		rig_mark();
	}
	in = v6;
	in.has_ext = true;
	memcpy(in.ext, chains[4], 8);
	in.frag_off = 180;
	pkt_inner(&p, &in);
	check_encap("later fragment", &p, 14, p.len - 14, o, 2);
	rig_egress(&p, &out);
	label = label_of(&out);
	rig_mark();
	CHECK(label != qp_label, "ports of a later fragment");
	in.sport++;
	in.qp++;
	pkt_inner(&p, &in);
	rig_egress(&p, &out);
	CHECK_EQ(label_of(&out), label, "bytes of a fragment taken for ports");
}

/* Must come out as it went in, counted under @reason. */
static void check_untouched(const char *about, const struct pkt *in,
			    int reason)
{
	struct pkt out;

	CHECK_EQ(rig_egress(in, &out), TC_NEXT, "%s", about);
	CHECK(pkt_equal(&out, in), "%s", about);
	rig_expect(about, reason, 1, RIG_END);
}

static void test_not_steered(void)
{
	static const __u8 nested[] = { 43, 41, 4 };
	static const struct { const char *src, *dst; } links[] = {
		{ "10.0.0.1", "224.0.0.1" },
		{ "10.0.0.1", "255.255.255.255" },
		{ "10.0.0.1", "169.254.1.1" },
		{ "169.254.1.2", "10.0.0.2" },
		{ "fd00::1", "ff02::1" },
		{ "fd00::1", "ff05::2" },
		{ "fe80::1", "fd00::2" },
		{ "fd00::1", "fe80::2" },
		{ "fd00::1", "febf::2" },
	};
	struct outer o = path_of(3, false);
	struct pkt p, ip = {}, out;
	struct inner in;
	__u32 i;

	setup(&o, LO, MTU);
	for (i = 0; i < ARRAY_SIZE(nested); i++) {
		in = v6;
		in.roce = false;
		in.proto = nested[i];
		pkt_inner(&p, &in);
		check_untouched("tunnel", &p, SRPOL_REASON_TUNNELED);
		in.has_ext = true;
		memcpy(in.ext, (__u8[8]){ IPPROTO_DSTOPTS, 0xff }, 8);
		pkt_inner(&p, &in);
		check_untouched("tunnel", &p, SRPOL_REASON_TUNNELED);
	}
	/* What was steered is not steered again. */
	pkt_inner(&p, &v4);
	rig_egress(&p, &out);
	rig_mark();
	check_untouched("our own", &out, SRPOL_REASON_TUNNELED);

	for (i = 0; i < ARRAY_SIZE(links); i++) {
		in = v4;
		in.src = links[i].src;
		in.dst = links[i].dst;
		pkt_inner(&p, &in);
		check_untouched(in.dst, &p, SRPOL_REASON_LINK_SCOPE);
	}
	/* to 10.0.0.255, for instance, which only its subnet takes for a broadcast */
	pkt_inner(&p, &v4);
	memset(p.b, 0xff, 6);
	check_untouched("broadcast", &p, SRPOL_REASON_LINK_SCOPE);
	memcpy(p.b, (__u8[6]){ 0x01, 0x00, 0x5e }, 6);
	check_untouched("group address", &p, SRPOL_REASON_LINK_SCOPE);
	in = v6;
	in.roce = false;
	in.proto = IPPROTO_ICMPV6;
	for (i = 133; i <= 137; i++) {
		in.first_byte = i;
		pkt_inner(&p, &in);
		check_untouched("neighbor discovery", &p,
				SRPOL_REASON_LINK_SCOPE);
	}
	in.first_byte = 128;
	pkt_inner(&p, &in);
	check_encap("echo", &p, 14, p.len - 14, o, 2);

	p.len = 0;
	pkt_add_eth(&p, pkt_host_macs, 0x0806);
	pkt_add_hex(&p, "0001080006040001020000000001c0000201000000000000"
			"c0000202");
	check_untouched("ARP", &p, SRPOL_REASON_NOT_IP);

	/*
	 * Cut at every byte, the length fields as they were; less than an IP
	 * header can not be put into a test run.
	 */
	pkt_inner(&ip, &v4);
	for (i = 14 + 20; i < 14 + 40; i++) {
		p = ip;
		p.len = i;
		check_untouched("cut IPv4", &p, SRPOL_REASON_UNPARSED);
	}
	pkt_inner(&ip, &v6);
	for (i = 14 + 40; i < 14 + 60; i++) {
		p = ip;
		p.len = i;
		check_untouched("cut IPv6", &p, SRPOL_REASON_UNPARSED);
	}
	p.len = ip.len - 1;
	check_untouched("short by one, IPv6", &p, SRPOL_REASON_UNPARSED);
	pkt_inner(&p, &v4);
	p.len--;
	check_untouched("short by one, IPv4", &p, SRPOL_REASON_UNPARSED);
	p = ip;
	p.b[14] = 0x50;
	check_untouched("version 5", &p, SRPOL_REASON_UNPARSED);
	pkt_inner(&p, &v4);
	p.b[14] = 0x44;
	check_untouched("header length 16", &p, SRPOL_REASON_UNPARSED);
	in = v6;
	in.has_ext = true;
	memcpy(in.ext, (__u8[8]){ 0, 0, 0, 0, 0, 0, 0xff }, 8);
	pkt_inner(&p, &in);
	check_untouched("header chain", &p, SRPOL_REASON_UNPARSED);
}

static void test_device(void)
{
	struct outer o = path_of(3, false);
	struct pkt p, here, there;

	pkt_inner(&p, &v6);
	setup(&o, LO, MTU);
	CHECK_EQ(rig_egress(&p, &here), TC_NEXT, "own device");
	setup(&o, ELSEWHERE, MTU);
	CHECK_EQ(rig_egress(&p, &there), TC_REDIRECT, "another device");
	CHECK(pkt_equal(&there, &here), "device");
}

static void test_counters(void)
{
	struct outer o = path_of(3, false);
	struct srpol_flow flow = {};
	struct srpol_counter c;
	struct pkt p;
	__u64 before;
	int i;

	setup(&o, LO, MTU);
	pkt_inner(&p, &v4);
	for (i = 0; i < 5; i++)
		rig_egress(&p, NULL);
	rig_expect("five packets", SRPOL_REASON_STEERED, 5, RIG_END);
	c = rig_counter("path_stats", PATH);
	CHECK_EQ(c.packets, 5, "path");
	CHECK_EQ(c.bytes, 5 * (p.len - 14), "path");
	c = rig_counter("policy_stats", POLICY);
	CHECK_EQ(c.packets, 5, "policy");
	CHECK_EQ(c.bytes, 5 * (p.len - 14), "policy");
	c = rig_counter("rule_stats", RULE_ID);
	CHECK_EQ(c.packets, 5, "rule");
	CHECK_EQ(c.bytes, 5 * (p.len - 14), "rule");
	CHECK_EQ(rig_flows(&flow), 1, "flows");
	CHECK_EQ(flow.packets, 5, "flow");
	CHECK_EQ(flow.bytes, 5 * (p.len - 14), "flow");
	CHECK_EQ(flow.cache.policy, POLICY, "flow");
	CHECK_EQ(flow.rule_id, RULE_ID, "flow");
	CHECK_EQ(flow.path, PATH, "flow");
	/* The time follows within a tick or two. */
	before = flow.last_ns;
	usleep(50000);
	rig_egress(&p, NULL);
	rig_flows(&flow);
	CHECK(before && flow.last_ns > before + 20000000 &&
	      flow.last_ns < before + 10000000000, "%llu after %llu",
	      flow.last_ns, before);
}

static void test_replace(void)
{
	struct outer o = path_of(3, false), longer = path_of(6, true);
	struct pkt p;
	int i;

	setup(&o, LO, MTU);
	pkt_inner(&p, &v6);
	for (i = 0; i < 3; i++) {
		check_encap("before", &p, 14, p.len - 14, o, 2);
		rig_path(PATH, &longer, NEXTHOP, MTU);
		check_encap("after", &p, 14, p.len - 14, longer, 2);
		rig_path(PATH, &o, NEXTHOP, MTU);
	}
}

static const struct ktap_test tests[] = {
	{ "golden packets in every encoding", test_golden },
	{ "outer ECN is the inner", test_ecn },
	{ "DSCP uniform and pipe", test_dscp },
	{ "flow label modes", test_label_modes },
	{ "64 QPs have at least 60 labels, and keep them", test_label_entropy },
	{ "VLAN tags stay behind", test_vlan },
	{ "IPv4 options, fragments, transports, padding", test_ipv4_shapes },
	{ "IPv6 extension headers and fragments", test_ipv6_shapes },
	{ "what is not steered is not touched", test_not_steered },
	{ "redirect to the path's device", test_device },
	{ "counters of path, policy, rule, flow", test_counters },
	{ "a replaced path is used by the next packet", test_replace },
};

int main(void)
{
	unsigned int i, j;

	/* No byte is 0, as one would be that was not written. */
	for (i = 0; i < SRPOL_SEGS_MAX; i++)
		for (j = 0; j < sizeof(sids[i]); j++)
			sids[i].s6_addr[j] = j ? 16 * i + j : 0xfc;
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
