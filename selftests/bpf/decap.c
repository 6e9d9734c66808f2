// SPDX-License-Identifier: GPL-2.0
/* Ingress: local SIDs, good packets. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Local SIDs: number of the SID and its id at once. */
#define END1		1
#define END2		2
#define END3		3
#define END4		4
#define END5		5
#define DT6		6
#define DT4		7
#define DT46		8
#define FAR		0x100	/* SIDs of other nodes from here on */

static const struct inner v4 = {
	.src = "10.0.0.1", .dst = "10.0.0.2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .opcode = 4, .pkey = 0xffff, .tclass = 0x02, .payload = 64,
};

static const struct inner v6 = {
	.src = "fd00::1", .dst = "fd00::2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .opcode = 10, .pkey = 0xffff, .tclass = 0x02,
	.label = 0x12345, .payload = 64,
};

static void setup(void)
{
	__u32 i;

	rig_reset();
	for (i = END1; i <= END5; i++)
		rig_sid(i, sid(i), SRPOL_BEHAVIOR_END);
	rig_sid(DT6, sid(DT6), SRPOL_BEHAVIOR_END_DT6);
	rig_sid(DT4, sid(DT4), SRPOL_BEHAVIOR_END_DT4);
	rig_sid(DT46, sid(DT46), SRPOL_BEHAVIOR_END_DT46);
	rig_mark();
}

/* @in decapsulated must be the link's MACs and the inner packet. */
static void check_decap(const char *about, const struct pkt *in,
			const struct pkt *inner_ip)
{
	struct pkt out, want = {};

	CHECK_EQ(rig_uplink(in, &out), X_PASS, "%s", about);
	pkt_add_eth(&want, pkt_link_macs,
		    inner_ip->b[0] >> 4 == 4 ? 0x0800 : 0x86dd);
	pkt_add(&want, inner_ip->b, inner_ip->len);
	CHECK(pkt_equal(&out, &want), "%s", about);
}

static void test_forms(void)
{
	static const unsigned int n[] = { 1, 2, 3, 6, 16 };
	static const struct {
		__u32 sid;
		bool six;
	} ends[] = {
		{ DT6, true }, { DT4, false }, { DT46, true }, { DT46, false },
	};
	struct in6_addr list[16];
	struct srpol_sid_stats s;
	struct pkt ip, p;
	struct outer o;
	__u32 e, i, j;
	char about[64];

	for (e = 0; e < ARRAY_SIZE(ends); e++) {
		ip.len = 0;
		pkt_inner_ip(&ip, ends[e].six ? &v6 : &v4);
		for (i = 0; i < 2 * ARRAY_SIZE(n); i++) {
			setup();
			o = (struct outer){ .sids = list, .n = n[i / 2],
					    .full = i & 1, .tclass = 2 };
			for (j = 0; j < o.n; j++)
				list[j] = sid(FAR + j);
			list[o.n - 1] = sid(ends[e].sid);
			o.travelled = o.n - 1;
			pkt_encap(&p, &o, ip.b, ip.len);
			snprintf(about, sizeof(about),
				 "SID %u, v%u, %u SIDs, %s", ends[e].sid,
				 ends[e].six ? 6 : 4, o.n,
				 o.full ? "full" : "reduced");
			check_decap(about, &p, &ip);
			rig_expect(about, SRPOL_REASON_DECAP, 1, RIG_END);
			s = rig_sid_stats(ends[e].sid);
			CHECK_EQ(s.packets, 1, "%s", about);
			CHECK_EQ(s.bytes, p.len - 14, "%s", about);
			CHECK_EQ(s.no_srh, outer_len(&o) == 40, "%s", about);
			CHECK_EQ(s.ce + s.dropped, 0, "%s", about);
		}
	}
}

/* RFC 6040 figure 4 in words, not a copy of the table under test. */
static int ecn_result(int inner, int outer, bool *odd)
{
	*odd = false;
	if (inner == 0) {
		*odd = outer == 1 || outer == 2;
		return outer == 3 ? -1 : 0;
	}
	if (outer == 3)
		return 3;
	if (inner == 3) {
		*odd = outer == 1;
		return 3;
	}
	if (inner == 1) {
		*odd = outer == 2;
		return 1;
	}
	return outer == 1 ? 1 : 2;
}

static void check_ecn(bool six, bool uniform, int inner, int outer)
{
	struct inner spec = six ? v6 : v4;
	struct in6_addr last = sid(DT46);
	struct outer o = {
		.sids = &last, .n = 1, .full = true,
		.tclass = 10 << 2 | outer,
	};
	struct srpol_sid_stats s;
	int result;
	struct pkt ip = {}, p, out;
	char about[64];
	bool odd, ce;

	snprintf(about, sizeof(about), "v%c%s inner %d outer %d",
		 six ? '6' : '4', uniform ? " uniform" : "", inner, outer);
	setup();
	if (uniform) {
		struct srpol_dp_sid s = {
			.id = DT46, .behavior = SRPOL_BEHAVIOR_END_DT46,
			.prefix_len = 128, .uniform = 1,
		};

		memcpy(s.sid, &last, 16);
		rig_sid_set(&s);
	}
	spec.tclass = 46 << 2 | inner;
	pkt_inner_ip(&ip, &spec);
	pkt_encap(&p, &o, ip.b, ip.len);
	result = ecn_result(inner, outer, &odd);
	if (result < 0) {
		CHECK_EQ(rig_uplink(&p, &out), X_DROP, "%s", about);
		rig_expect(about, SRPOL_REASON_ECN_DROP, 1, RIG_END);
		CHECK_EQ(rig_sid_stats(DT46).dropped, 1, "%s", about);
		return;
	}
	/* The packet the sender would have built with this ECN field and DSCP. */
	spec.tclass = (uniform ? 10 : 46) << 2 | result;
	ip.len = 0;
	pkt_inner_ip(&ip, &spec);
	check_decap(about, &p, &ip);
	ce = result == 3 && inner != 3;
	rig_expect(about, SRPOL_REASON_DECAP, 1, SRPOL_REASON_ECN_CE, (int)ce,
		   SRPOL_REASON_ECN_ODD, (int)odd, SRPOL_REASON_OUTER_CE,
		   outer == 3, RIG_END);
	s = rig_sid_stats(DT46);
	CHECK_EQ(s.ce, ce, "%s", about);
	CHECK_EQ(s.dropped, 0, "%s", about);
	CHECK_EQ(icrc(ip.b, ip.len), ntohl(*(__u32 *)(ip.b + ip.len - 4)),
		 "%s", about);
}

static void test_ecn_v4(void)
{
	int i;

	for (i = 0; i < 16; i++)
		check_ecn(false, false, i / 4, i % 4);
}

static void test_ecn_v6(void)
{
	int i;

	for (i = 0; i < 16; i++)
		check_ecn(true, false, i / 4, i % 4);
}

/* RFC 2983: the outer DSCP comes in, ECN as before. */
static void test_uniform(void)
{
	int i;

	for (i = 0; i < 32; i++)
		check_ecn(i & 16, true, i / 4 % 4, i % 4);
}

static bool is_marked_right(const struct outer *o, const struct pkt *ip)
{
	struct pkt p, out;

	pkt_encap(&p, o, ip->b, ip->len);
	return rig_uplink(&p, &out) == X_PASS &&
	       !csum_fold(csum_add(0, out.b + 14, 20)) &&
	       (out.b[15] & 3) == 3;
}

/* Marking must keep the header checksum right, whatever it was. */
static void test_ecn_checksum(void)
{
	struct in6_addr last = sid(DT4);
	struct outer o = { .sids = &last, .n = 1, .tclass = 3 };
	struct inner in = v4;
	int i, bad = 0, n = 0;
	struct pkt ip = {};
	__u16 check;
	char src[32];

	setup();
	for (i = 0; i < 4096; i++) {
		snprintf(src, sizeof(src), "10.%d.%d.%d", i >> 8 & 255,
			 i & 255, i * 7 & 255);
		in.src = src;
		in.tclass = (i & 63) << 2 | (i & 1 ? 1 : 2);
		ip.len = 0;
		pkt_inner_ip(&ip, &in);
		bad += !is_marked_right(&o, &ip);
	}
	CHECK_EQ(bad, 0, "of 4096");
	/* both ECTs, by ids: of all checksums those about 0, where sums carry twice */
	for (i = 0; i < 2 * 0x10000; i++) {
		if (!(i & 0xffff)) {
			in.tclass = i ? 2 : 1;
			ip.len = 0;
			pkt_inner_ip(&ip, &in);
		}
		ip.b[4] = i >> 8;
		ip.b[5] = i;
		ip.b[10] = 0;
		ip.b[11] = 0;
		check = csum_fold(csum_add(0, ip.b, 20));
		if ((__u16)(check + 0x200) >= 0x400)
			continue;
		ip.b[10] = check >> 8;
		ip.b[11] = check;
		bad += !is_marked_right(&o, &ip);
		n++;
	}
	CHECK_EQ(bad, 0, "of %d", n);
	CHECK(n > 2000, "%d", n);
}

static void test_end(void)
{
	struct in6_addr list[3] = { sid(END1), sid(FAR), sid(FAR + 1) };
	struct outer o = { .sids = list, .n = 3 };
	struct srpol_sid_stats s;
	struct pkt ip = {}, p, want, out;
	int full;

	pkt_inner_ip(&ip, &v6);
	for (full = 0; full < 2; full++) {
		setup();
		o.full = full;
		o.travelled = 0;
		pkt_encap(&p, &o, ip.b, ip.len);
		o.travelled = 1;
		/* The kernel is the one to decrement the hop limit. */
		pkt_encap(&want, &o, ip.b, ip.len);
		CHECK_EQ(rig_uplink(&p, &out), X_PASS, "full %d", full);
		CHECK(pkt_equal(&out, &want), "full %d", full);
		rig_expect("End", SRPOL_REASON_END, 1, RIG_END);
		s = rig_sid_stats(END1);
		CHECK_EQ(s.packets, 1, "full %d", full);
		CHECK_EQ(s.bytes, p.len - 14, "full %d", full);
		CHECK_EQ(s.no_srh + s.dropped, 0, "full %d", full);
	}
	/* Whatever travels on is not looked at: a ping through End. */
	setup();
	o.travelled = 0;
	pkt_encap(&p, &o, ip.b, ip.len);
	p.b[54] = IPPROTO_ICMPV6;
	CHECK_EQ(rig_uplink(&p, NULL), X_PASS, "ping through End");
	rig_expect("ping", SRPOL_REASON_END, 1, RIG_END);
}

static void test_end_hop_limit(void)
{
	struct in6_addr list[2] = { sid(END1), sid(FAR) };
	struct outer o = { .sids = list, .n = 2 };
	struct pkt ip = {}, p, out;

	setup();
	pkt_inner_ip(&ip, &v6);
	o.hop_limit = 1;
	pkt_encap(&p, &o, ip.b, ip.len);
	CHECK_EQ(rig_uplink(&p, &out), X_DROP, "hop limit 1");
	p.b[21] = 0;
	CHECK_EQ(rig_uplink(&p, &out), X_DROP, "hop limit 0");
	p.b[21] = 2;
	CHECK_EQ(rig_uplink(&p, &out), X_PASS, "hop limit 2");
	rig_expect("hop limit", SRPOL_REASON_HOP_LIMIT, 2, SRPOL_REASON_END, 1,
		   RIG_END);
	CHECK_EQ(rig_sid_stats(END1).dropped, 2, "hop limit");
	/* It does not stop a packet that has arrived. */
	list[1] = sid(DT6);
	o.hop_limit = 1;
	o.travelled = 1;
	pkt_encap(&p, &o, ip.b, ip.len);
	check_decap("hop limit 1 at the end", &p, &ip);
}

static void test_end_chain(void)
{
	struct in6_addr list[6] = {
		sid(END1), sid(END2), sid(END3), sid(END4), sid(DT6),
	};
	struct outer o = { .sids = list, .n = 5 };
	struct pkt ip = {}, p, out, want;

	setup();
	pkt_inner_ip(&ip, &v6);
	pkt_encap(&p, &o, ip.b, ip.len);
	check_decap("four End, then DT6", &p, &ip);
	rig_expect("chain", SRPOL_REASON_END, 4, SRPOL_REASON_DECAP, 1,
		   RIG_END);

	/* Three hops were made here, the fourth is the kernel's. */
	list[4] = sid(FAR);
	pkt_encap(&p, &o, ip.b, ip.len);
	o.travelled = 4;
	o.hop_limit = 61;
	pkt_encap(&want, &o, ip.b, ip.len);
	CHECK_EQ(rig_uplink(&p, &out), X_PASS, "four End");
	CHECK(pkt_equal(&out, &want), "four End");
	rig_expect("four End", SRPOL_REASON_END, 4, RIG_END);

	list[4] = sid(END5);
	list[5] = sid(DT6);
	o.n = 6;
	o.travelled = 0;
	o.hop_limit = 64;
	pkt_encap(&p, &o, ip.b, ip.len);
	CHECK_EQ(rig_uplink(&p, &out), X_DROP, "five End");
	rig_expect("five End", SRPOL_REASON_END, 4, SRPOL_REASON_SID_LOOP, 1,
		   RIG_END);

	o.hop_limit = 3;
	pkt_encap(&p, &o, ip.b, ip.len);
	CHECK_EQ(rig_uplink(&p, &out), X_DROP, "hop limit on the way");
	rig_expect("hop limit on the way", SRPOL_REASON_END, 2,
		   SRPOL_REASON_HOP_LIMIT, 1, RIG_END);
}

static void check_pass(const char *about, const struct pkt *p, int counted)
{
	struct pkt out;

	CHECK_EQ(rig_uplink(p, &out), X_PASS, "%s", about);
	CHECK(pkt_equal(&out, p), "%s", about);
	rig_expect(about, SRPOL_REASON_NOT_LOCAL, counted, RIG_END);
}

static void test_not_ours(void)
{
	struct in6_addr other = sid(FAR), ours = sid(DT6);
	struct outer o = { .sids = &other, .n = 1 };
	struct pkt ip = {}, p, tagged = {};
	__u32 i;

	setup();
	pkt_inner_ip(&ip, &v6);
	pkt_encap(&p, &o, ip.b, ip.len);
	check_pass("another node's SID", &p, 1);
	pkt_inner(&p, &v4);
	check_pass("IPv4", &p, 0);
	pkt_inner(&p, &v6);
	check_pass("IPv6", &p, 1);
	o.sids = &ours;
	pkt_encap(&p, &o, ip.b, ip.len);
	pkt_add(&tagged, p.b, 12);
	pkt_add_hex(&tagged, "81000064");
	pkt_add(&tagged, p.b + 12, p.len - 12);
	CHECK_EQ(rig_uplink(&tagged, NULL), X_PASS, "tagged");
	rig_expect("tagged", SRPOL_REASON_SID_TAGGED, 1, RIG_END);
	/* Too short to have a destination address. */
	for (i = 14; i < 54; i++) {
		p.len = i;
		check_pass("runt", &p, 0);
	}
}

static void test_padding(void)
{
	struct in6_addr last = sid(DT46);
	struct outer o = { .sids = &last, .n = 1 };
	struct inner in = v4;
	struct pkt ip = {}, p;

	setup();
	in.roce = false;
	in.payload = 1;
	pkt_inner_ip(&ip, &in);
	pkt_encap(&p, &o, ip.b, ip.len);
	pkt_add_hex(&p, "000000000000");
	pkt_add_hex(&ip, "000000000000");
	check_decap("padded frame", &p, &ip);
	/* The same, with the padding inside the outer packet. */
	p.b[19] += 6;
	check_decap("padding inside", &p, &ip);
}

/* A jumbo frame comes in more than one buffer. */
static void test_jumbo(void)
{
	struct in6_addr list[3] = { sid(FAR), sid(FAR + 1), sid(DT46) };
	struct outer o = { .sids = list, .n = 3, .travelled = 2, .tclass = 3 };
	struct inner in = v4;
	struct pkt ip = {}, p;

	setup();
	in.payload = 8192;
	pkt_inner_ip(&ip, &in);
	pkt_encap(&p, &o, ip.b, ip.len);
	in.tclass |= 3;
	ip.len = 0;
	pkt_inner_ip(&ip, &in);
	check_decap("v4", &p, &ip);
	rig_expect("jumbo", SRPOL_REASON_DECAP, 1, SRPOL_REASON_ECN_CE, 1,
		   SRPOL_REASON_OUTER_CE, 1, RIG_END);
	/* Its length is checked over all buffers. */
	p.len--;
	CHECK_EQ(rig_uplink(&p, NULL), X_DROP, "short by one");
	rig_expect("short by one", SRPOL_REASON_TRUNCATED, 1, RIG_END);
}

/* What the encapsulation makes, the decapsulation undoes. */
static void test_round_trip(void)
{
	struct srpol_dp_policy policy = {
		.id = 1, .color = 5, .row = 1, .n_buckets = 128,
	};
	struct srpol_dp_rule all = { .id = 1, .color = 5 };
	struct in6_addr list[3] = { sid(END1), sid(END2), sid(DT46) };
	struct outer o = { .sids = list, .n = 3 };
	struct pkt p, mid, ip;
	int i;

	for (i = 0; i < 12; i++) {
		o.n = 1 + i / 4;
		o.sids = list + 3 - o.n;
		o.full = i & 1;
		setup();
		rig_nexthop(1, 1, 1);
		rig_path(1, &o, 1, 9000);
		rig_row_one(1, 1);
		rig_policy(&policy);
		rig_rules(&all, 1);
		pkt_inner(&p, i & 2 ? &v6 : &v4);
		CHECK_EQ(rig_egress(&p, &mid), TC_NEXT, "%d", i);
		ip.len = 0;
		pkt_inner_ip(&ip, i & 2 ? &v6 : &v4);
		check_decap("round trip", &mid, &ip);
	}
}

static const struct ktap_test tests[] = {
	{ "DT6, DT4, DT46: full, reduced, without SRH", test_forms },
	{ "ECN matrix of RFC 6040, IPv4", test_ecn_v4 },
	{ "ECN matrix of RFC 6040, IPv6", test_ecn_v6 },
	{ "DSCP by the uniform model, with that matrix", test_uniform },
	{ "IPv4 header checksum after marking", test_ecn_checksum },
	{ "End", test_end },
	{ "End and the hop limit", test_end_hop_limit },
	{ "several local SIDs in a row", test_end_chain },
	{ "what is not ours passes untouched", test_not_ours },
	{ "padding", test_padding },
	{ "jumbo frames", test_jumbo },
	{ "egress and uplink undo each other", test_round_trip },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
