// SPDX-License-Identifier: GPL-2.0
/*
 * Ingress: every behavior beyond plain End and End.DT, which decap.c has:
 * flavors, adjacencies, compressed SIDs, the filter of the SR domain.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define LO		1
#define ELSEWHERE	77
#define NEXTHOP		3
#define FAR		0x100	/* SIDs of other nodes from here on */
#define BLOCK		32
#define CSID		16

/* Where the adjacency's frames go: destination, source. */
static const __u8 l2[12] = { 2, 9, 9, 9, 9, 1, 2, 9, 9, 9, 9, 2 };

static const struct inner v4 = {
	.src = "10.0.0.1", .dst = "10.0.0.2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .opcode = 4, .pkey = 0xffff, .tclass = 0x02, .payload = 64,
};

static const struct inner v6 = {
	.src = "fd00::1", .dst = "fd00::2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .opcode = 10, .pkey = 0xffff, .tclass = 0x02,
	.label = 0x12345, .payload = 64,
};

static void set(__u32 id, struct in6_addr a, __u32 behavior, __u32 prefix_len)
{
	struct srpol_dp_sid s = {
		.id = id, .behavior = behavior, .prefix_len = prefix_len,
		.block_len = BLOCK,
	};

	memcpy(s.sid, &a, 16);
	memcpy(s.l2, l2, 12);
	s.nexthop = NEXTHOP;
	rig_sid_set(&s);
}

static void setup(void)
{
	rig_reset();
	rig_uplinks_clear();
	rig_uplink_add(LO);
	rig_nexthop(NEXTHOP, LO, 1);
	rig_mark();
}

/* Output must be @want, counted as pairs of one each, ended by RIG_END. */
static void check(const char *about, const struct pkt *in, int verdict,
		  const struct pkt *want, int reason, int also)
{
	struct pkt out;

	CHECK_EQ(rig_uplink(in, &out), verdict, "%s", about);
	if (want)
		CHECK(pkt_equal(&out, want), "%s", about);
	if (also)
		rig_expect(about, reason, 1, also, 1, RIG_END);
	else
		rig_expect(about, reason, 1, RIG_END);
}

static void check_drop(const char *about, const struct pkt *in, int reason,
		       __u32 id)
{
	__u64 errors = rig_error(SRPOL_ERROR_SID, reason, id);

	check(about, in, X_DROP, NULL, reason, 0);
	CHECK_EQ(rig_error(SRPOL_ERROR_SID, reason, id), errors + 1,
		 "%s: error of the SID", about);
}

/* A frame with the inner packet alone, from MACs @macs. */
static void plain(struct pkt *p, const struct inner *in, const __u8 *macs)
{
	p->len = 0;
	pkt_add_eth(p, macs, strchr(in->src, ':') ? 0x86dd : 0x0800);
	pkt_inner_ip(p, in);
}

static void use_l2(struct pkt *p)
{
	memcpy(p->b, l2, 12);
}

static void encap(struct pkt *p, const struct outer *o, const struct inner *in)
{
	struct pkt ip = {};

	pkt_inner_ip(&ip, in);
	pkt_encap(p, o, ip.b, ip.len);
}

/* RFC 8986 4.16.1: the SRH goes when segments left gets 0, not before. */
static void test_psp(void)
{
	static const __u32 kinds[] = {
		SRPOL_BEHAVIOR_END_PSP, SRPOL_BEHAVIOR_END_PSP_USD,
		SRPOL_BEHAVIOR_UN_PSP, SRPOL_BEHAVIOR_UN_PSP_USD,
		SRPOL_BEHAVIOR_END_X_PSP,
	};
	struct in6_addr list[3] = { sid(FAR), sid(1), sid(FAR + 2) };
	struct in6_addr last[1] = { sid(FAR + 2) };
	struct outer o = { .sids = list, .n = 3 }, bare;
	struct pkt p, want;
	__u32 i, full, x;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (full = 0; full < 2; full++) {
			x = kinds[i] == SRPOL_BEHAVIOR_END_X_PSP;
			setup();
			set(1, sid(1), kinds[i], 128);
			o.full = full;
			/* Second of three: the next is the last. */
			o.travelled = 1;
			encap(&p, &o, &v6);
			bare = (struct outer){ .sids = last, .n = 1 };
			bare.hop_limit = x ? 63 : 64;
			encap(&want, &bare, &v6);
			if (x)
				use_l2(&want);
			check("popped", &p, x ? X_REDIRECT : X_PASS, &want,
			      SRPOL_REASON_END, 0);
			/* First of three: the SRH stays. */
			list[0] = sid(1);
			list[1] = sid(FAR + 1);
			o.travelled = 0;
			encap(&p, &o, &v4);
			o.travelled = 1;
			o.hop_limit = x ? 63 : 64;
			encap(&want, &o, &v4);
			if (x)
				use_l2(&want);
			check("kept", &p, x ? X_REDIRECT : X_PASS, &want,
			      SRPOL_REASON_END, 0);
			list[0] = sid(FAR);
			list[1] = sid(1);
			o.hop_limit = 64;
			/* TLVs go with it. */
			o.tlv = (const __u8 *)"\4\6\0\0\0\0\0";
			o.tlv_len = 8;
			encap(&p, &o, &v6);
			encap(&want, &bare, &v6);
			if (x)
				use_l2(&want);
			check("TLV", &p, x ? X_REDIRECT : X_PASS, &want,
			      SRPOL_REASON_END, 0);
			o.tlv_len = 0;
		}
	}
}

/* The SRH popped here, the packet decapsulated here. */
static void test_psp_chain(void)
{
	struct in6_addr list[2] = { sid(1), sid(2) };
	struct outer o = { .sids = list, .n = 2 };
	struct pkt p, want;

	setup();
	set(1, sid(1), SRPOL_BEHAVIOR_END_PSP, 128);
	set(2, sid(2), SRPOL_BEHAVIOR_END_DT46, 128);
	encap(&p, &o, &v4);
	plain(&want, &v4, pkt_link_macs);
	check("PSP, DT46", &p, X_PASS, &want, SRPOL_REASON_END,
	      SRPOL_REASON_DECAP);
	CHECK_EQ(rig_sid_stats(2).no_srh, 1, "no SRH left");
}

/* RFC 8986 4.16.3 */
static void test_usd(void)
{
	static const __u32 kinds[] = {
		SRPOL_BEHAVIOR_END_USD, SRPOL_BEHAVIOR_END_PSP_USD,
		SRPOL_BEHAVIOR_UN_PSP_USD,
	};
	struct in6_addr list[2] = { sid(FAR), sid(1) };
	struct outer o = { .sids = list, .n = 2 };
	struct pkt p, want;
	__u32 i, f;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (f = 0; f < 4; f++) {
			setup();
			set(1, sid(1), kinds[i], 128);
			o.sids = f & 2 ? list + 1 : list;
			o.n = f & 2 ? 1 : 2;
			o.travelled = o.n - 1;
			encap(&p, &o, f & 1 ? &v6 : &v4);
			plain(&want, f & 1 ? &v6 : &v4, pkt_link_macs);
			check("USD", &p, X_PASS, &want, SRPOL_REASON_DECAP,
			      0);
			/* What is not IP inside is not for this SID. */
			p.b[o.n == 1 ? 20 : 54] = IPPROTO_UDP;
			check_drop("UDP", &p, SRPOL_REASON_UPPER_LAYER, 1);
		}
	}
	/* Without the flavor there is nothing to be done. */
	setup();
	set(1, sid(1), SRPOL_BEHAVIOR_END_PSP, 128);
	o = (struct outer){ .sids = list, .n = 2, .travelled = 1 };
	encap(&p, &o, &v6);
	check_drop("End PSP, no segments", &p, SRPOL_REASON_NO_SEGMENTS_LEFT,
		   1);
	o = (struct outer){ .sids = list + 1, .n = 1 };
	encap(&p, &o, &v6);
	check_drop("End PSP, no SRH", &p, SRPOL_REASON_UPPER_LAYER, 1);
}

static void test_x(void)
{
	static const __u32 kinds[] = {
		SRPOL_BEHAVIOR_END_X, SRPOL_BEHAVIOR_UA,
	};
	struct in6_addr list[3] = { sid(1), sid(FAR), sid(FAR + 1) };
	struct outer o = { .sids = list, .n = 3 };
	struct pkt p, want;
	__u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		setup();
		set(1, sid(1), kinds[i], 128);
		o.travelled = 0;
		o.hop_limit = 64;
		encap(&p, &o, &v6);
		o.travelled = 1;
		o.hop_limit = 63;
		encap(&want, &o, &v6);
		use_l2(&want);
		check("End.X", &p, X_REDIRECT, &want, SRPOL_REASON_END, 0);
		/* By a device that is not in the map of uplinks as well. */
		rig_nexthop(NEXTHOP, ELSEWHERE, 1);
		check("no uplink", &p, X_REDIRECT, &want, SRPOL_REASON_END, 0);
		rig_nexthop(NEXTHOP, LO, 0);
		check_drop("down", &p, SRPOL_REASON_ADJACENCY_DOWN, 1);
		rig_nexthop(NEXTHOP, LO, 1);
		p.b[21] = 1;
		check_drop("hop limit", &p, SRPOL_REASON_HOP_LIMIT, 1);
	}
	/* No adjacency is one that is down. */
	struct srpol_dp_sid s = {
		.id = 1, .behavior = SRPOL_BEHAVIOR_END_X, .prefix_len = 128,
	};

	memcpy(s.sid, &list[0], 16);
	rig_sid_set(&s);
	p.b[21] = 64;
	check_drop("none", &p, SRPOL_REASON_ADJACENCY_DOWN, 1);
}

/* RFC 8986 4.4, 4.5: like End.DT, and one hop further. */
static void test_dx(void)
{
	struct in6_addr list[2] = { sid(FAR), sid(1) };
	struct outer o = { .sids = list, .n = 2, .travelled = 1 };
	struct inner in;
	struct pkt p, want;
	__u32 six, ttl;

	for (six = 0; six < 2; six++) {
		setup();
		set(1, sid(1), six ? SRPOL_BEHAVIOR_END_DX6 :
				     SRPOL_BEHAVIOR_END_DX4, 128);
		in = six ? v6 : v4;
		for (ttl = 2; ttl < 256; ttl++) {
			in.ttl = ttl;
			encap(&p, &o, &in);
			in.ttl = ttl - 1;
			plain(&want, &in, l2);
			check("DX", &p, X_REDIRECT, &want, SRPOL_REASON_DECAP,
			      0);
		}
		in.ttl = 1;
		encap(&p, &o, &in);
		check_drop("hop limit", &p, SRPOL_REASON_HOP_LIMIT, 1);
		encap(&p, &o, six ? &v4 : &v6);
		check_drop("other family", &p, SRPOL_REASON_UPPER_LAYER, 1);
		in.ttl = 64;
		encap(&p, &o, &in);
		rig_nexthop(NEXTHOP, LO, 0);
		check_drop("down", &p, SRPOL_REASON_ADJACENCY_DOWN, 1);
		rig_nexthop(NEXTHOP, LO, 1);
		/* RFC 6040, as for DT: ECT(0) becomes CE. */
		o.tclass = 3;
		encap(&p, &o, &in);
		in.ttl = 63;
		in.tclass = 3;
		plain(&want, &in, l2);
		CHECK_EQ(rig_uplink(&p, &p), X_REDIRECT, "CE");
		CHECK(pkt_equal(&p, &want), "CE");
		rig_expect("CE", SRPOL_REASON_DECAP, 1, SRPOL_REASON_ECN_CE, 1,
			   SRPOL_REASON_OUTER_CE, 1, RIG_END);
		o.tclass = 0;
		o.travelled = 0;
		list[0] = sid(1);
		encap(&p, &o, &in);
		check_drop("too early", &p, SRPOL_REASON_SEGMENTS_LEFT, 1);
		list[0] = sid(FAR);
		o.travelled = 1;
	}
}

/* --- compressed SIDs, F3216: block of 32 bits, CSIDs of 16 --- */

static void container(struct pkt *p, const char *da, __u8 hop_limit,
		      const struct inner *in)
{
	struct in6_addr list = addr(da);
	struct outer o = { .sids = &list, .n = 1, .hop_limit = hop_limit };

	encap(p, &o, in);
}

static void test_un(void)
{
	struct pkt p, want;

	setup();
	set(1, addr("fcbb:bb00:1::"), SRPOL_BEHAVIOR_UN, BLOCK + CSID);
	/* To another node: forwarding and hop limit are the kernel's. */
	container(&p, "fcbb:bb00:1:2:3:4:5:6", 64, &v6);
	container(&want, "fcbb:bb00:2:3:4:5:6:0", 64, &v6);
	check("shift", &p, X_PASS, &want, SRPOL_REASON_USID_NEXT, 0);
	CHECK_EQ(rig_sid_stats(1).packets, 1, "counted");
	CHECK_EQ(rig_sid_stats(1).bytes, p.len - 14, "counted");
	container(&p, "fcbb:bb00:1:0:0:0:0:6", 64, &v4);
	container(&want, "fcbb:bb00::6:0", 64, &v4);
	check("gap", &p, X_PASS, &want, SRPOL_REASON_USID_NEXT, 0);
	container(&p, "fcbb:bb00:1:2::", 1, &v6);
	check_drop("hop limit", &p, SRPOL_REASON_HOP_LIMIT, 1);
	/* At the end of the container without an SRH there is nothing to do */
	container(&p, "fcbb:bb00:1::", 64, &v6);
	check_drop("last", &p, SRPOL_REASON_UPPER_LAYER, 1);
	/* Not ours. */
	container(&p, "fcbb:bb00:2:1::", 64, &v6);
	check("other", &p, X_PASS, &p, SRPOL_REASON_NOT_LOCAL, 0);
}

/* Other splits of the address, not on bytes either. */
static void test_shift_widths(void)
{
	static const struct {
		__u32 block, prefix;
		const char *sid, *da, *next;
	} t[] = {
		{ 48, 64, "fcbb:bb00:1:2::", "fcbb:bb00:1:2:3:4:5:6",
		  "fcbb:bb00:1:3:4:5:6:0" },
		{ 32, 64, "fcbb:bb00:1:2::", "fcbb:bb00:1:2:3:4:5:6",
		  "fcbb:bb00:3:4:5:6::" },
		{ 64, 80, "fcbb:bb00:1:2:3::", "fcbb:bb00:1:2:3:4:5:6",
		  "fcbb:bb00:1:2:4:5:6:0" },
		{ 16, 112, "fcbb:1:2:3:4:5:6:0", "fcbb:1:2:3:4:5:6:7",
		  "fcbb:7::" },
		{ 24, 28, "fcbb:bbf0::",
		  "fcbb:bbf1:2345:6789:abcd:ef01:2345:6789",
		  "fcbb:bb12:3456:789a:bcde:f012:3456:7890" },
		{ 33, 65, "fcbb:bb00:8000:0:8000::",
		  "fcbb:bb00:8000:0:8000:0:0:1",
		  "fcbb:bb00:8000:0:0:1::" },
	};
	struct in6_addr a;
	struct srpol_dp_sid s;
	struct pkt p, want;
	__u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		setup();
		a = addr(t[i].sid);
		s = (struct srpol_dp_sid){
			.id = 1, .behavior = SRPOL_BEHAVIOR_UN,
			.prefix_len = t[i].prefix, .block_len = t[i].block,
		};
		memcpy(s.sid, &a, 16);
		rig_sid_set(&s);
		container(&p, t[i].da, 64, &v6);
		container(&want, t[i].next, 64, &v6);
		check(t[i].sid, &p, X_PASS, &want, SRPOL_REASON_USID_NEXT, 0);
	}
}

/* One node's CSIDs in a row, up to its uDT46. */
static void test_un_chain(void)
{
	struct in6_addr list[2] = {
		addr("fcbb:bb00:2:1:1:1::"), addr("fcbb:bb00:1:f046::"),
	};
	struct outer o = { .sids = list, .n = 2 };
	struct pkt p, want;

	setup();
	set(1, addr("fcbb:bb00:1::"), SRPOL_BEHAVIOR_UN, 48);
	set(2, addr("fcbb:bb00:f046::"), SRPOL_BEHAVIOR_UDT46, 48);
	container(&p, "fcbb:bb00:1:f046::", 64, &v4);
	plain(&want, &v4, pkt_link_macs);
	check("uN, uDT46", &p, X_PASS, &want, SRPOL_REASON_USID_NEXT,
	      SRPOL_REASON_DECAP);
	container(&p, "fcbb:bb00:1:1:1:1:f046:0", 64, &v6);
	plain(&want, &v6, pkt_link_macs);
	CHECK_EQ(rig_uplink(&p, &p), X_PASS, "four");
	CHECK(pkt_equal(&p, &want), "four");
	rig_expect("four", SRPOL_REASON_USID_NEXT, 4, SRPOL_REASON_DECAP, 1,
		   RIG_END);
	container(&p, "fcbb:bb00:1:1:1:1:1:f046", 64, &v6);
	CHECK_EQ(rig_uplink(&p, &p), X_DROP, "five");
	rig_expect("five", SRPOL_REASON_USID_NEXT, 4, SRPOL_REASON_SID_LOOP, 1,
		   RIG_END);
	container(&p, "fcbb:bb00:1:1:1:1:f046:0", 4, &v6);
	CHECK_EQ(rig_uplink(&p, &p), X_DROP, "hop limit on the way");
	rig_expect("hop limit", SRPOL_REASON_USID_NEXT, 3,
		   SRPOL_REASON_HOP_LIMIT, 1, RIG_END);

	/* The longest match counts: uN and function as one SID. */
	set(3, addr("fcbb:bb00:1:f046::"), SRPOL_BEHAVIOR_UDT46, 64);
	container(&p, "fcbb:bb00:1:f046::", 64, &v6);
	check("longest match", &p, X_PASS, &want, SRPOL_REASON_DECAP, 0);
	CHECK_EQ(rig_sid_stats(3).packets, 1, "which SID");

	/* Container done, next one from the SRH: uN is an End then. */
	list[0] = addr("fcbb:bb00:1::");
	list[1] = addr("fcbb:bb00:1:f046::");
	encap(&p, &o, &v6);
	check("second container", &p, X_PASS, &want, SRPOL_REASON_END,
	      SRPOL_REASON_DECAP);
}

static void test_ua(void)
{
	struct pkt p, want;

	setup();
	set(1, addr("fcbb:bb00:1:e000::"), SRPOL_BEHAVIOR_UA, 64);
	container(&p, "fcbb:bb00:1:e000:2:3::", 64, &v6);
	/* uA of node and function: both leave. */
	container(&want, "fcbb:bb00:2:3::", 63, &v6);
	use_l2(&want);
	check("uA", &p, X_REDIRECT, &want, SRPOL_REASON_USID_NEXT, 0);
	rig_nexthop(NEXTHOP, LO, 0);
	check_drop("down", &p, SRPOL_REASON_ADJACENCY_DOWN, 1);
	container(&p, "fcbb:bb00:1:e000:2::", 1, &v6);
	rig_nexthop(NEXTHOP, LO, 1);
	check_drop("hop limit", &p, SRPOL_REASON_HOP_LIMIT, 1);
}

static void test_udt(void)
{
	static const struct {
		__u32 behavior;
		bool four, six;
	} t[] = {
		{ SRPOL_BEHAVIOR_UDT6, false, true },
		{ SRPOL_BEHAVIOR_UDT4, true, false },
		{ SRPOL_BEHAVIOR_UDT46, true, true },
	};
	struct in6_addr list[2] = { addr("fcbb:bb00:f::"), sid(FAR) };
	struct outer o = { .sids = list, .n = 2 };
	struct pkt p, want;
	__u32 i, six;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		setup();
		set(1, addr("fcbb:bb00:f::"), t[i].behavior, 48);
		for (six = 0; six < 2; six++) {
			container(&p, "fcbb:bb00:f::", 64, six ? &v6 : &v4);
			plain(&want, six ? &v6 : &v4, pkt_link_macs);
			if (six ? t[i].six : t[i].four)
				check("uDT", &p, X_PASS, &want,
				      SRPOL_REASON_DECAP, 0);
			else
				check_drop("uDT", &p,
					   SRPOL_REASON_UPPER_LAYER, 1);
		}
		container(&p, "fcbb:bb00:f:1::", 64, &v6);
		check_drop("argument", &p, SRPOL_REASON_SEGMENTS_LEFT, 1);
		encap(&p, &o, &v6);
		check_drop("segments", &p, SRPOL_REASON_SEGMENTS_LEFT, 1);
	}
}

static void domain(struct srpol_dp_config *cfg, const char *prefix, __u32 len)
{
	struct in6_addr a = addr(prefix);
	__u32 i = cfg->n_domain++;

	memcpy(cfg->domain[i].prefix, &a, 16);
	memset(cfg->domain[i].mask, 0xff, len / 8);
}

/* RFC 8754 5.1 */
static void test_domain(void)
{
	static const struct { const char *src; bool in; } from[] = {
		{ "fc00:99::1", true }, { "fc01::1", false },
		{ "2001:db8:7:ffff::1", true }, { "2001:db8:8::1", false },
		{ "::1", false },
	};
	struct srpol_dp_config cfg = {};
	struct in6_addr last = sid(1);
	struct outer o = { .sids = &last, .n = 1 };
	struct pkt p, want;
	__u32 i, n;

	setup();
	set(1, sid(1), SRPOL_BEHAVIOR_END_DT46, 128);
	plain(&want, &v6, pkt_link_macs);
	o.src = "fc01::1";
	encap(&p, &o, &v6);
	check("no filter", &p, X_PASS, &want, SRPOL_REASON_DECAP, 0);
	/* As one of two and as one of eight. */
	for (n = 0; n < 2; n++) {
		domain(&cfg, "fc00::", 16);
		while (n && cfg.n_domain < SRPOL_SR_DOMAIN_MAX - 1)
			domain(&cfg, "fc00::", 16);
		domain(&cfg, "2001:db8:7::", 48);
		rig_config(cfg);
		for (i = 0; i < ARRAY_SIZE(from); i++) {
			o.src = from[i].src;
			encap(&p, &o, &v6);
			if (from[i].in)
				check(o.src, &p, X_PASS, &want,
				      SRPOL_REASON_DECAP, 0);
			else
				check_drop(o.src, &p, SRPOL_REASON_BAD_SOURCE,
					   1);
		}
		cfg.n_domain = 0;
	}
	/* Only what is for a SID is filtered. */
	last = sid(FAR);
	encap(&p, &o, &v6);
	check("passing by", &p, X_PASS, &p, SRPOL_REASON_NOT_LOCAL, 0);
}

static __u32 n_prefixes(void)
{
	struct srpol_state st;
	__u32 zero = 0;

	bpf_map_lookup_elem(rig_map("state"), &zero, &st);
	return st.n_sid_prefixes;
}

static void test_set(void)
{
	struct srpol_dp_sid s = {
		.id = 1, .behavior = SRPOL_BEHAVIOR_UN, .prefix_len = 48,
		.block_len = 32,
	};
	static const struct {
		__u32 behavior, prefix_len, block_len, nexthop;
		int err;
	} bad[] = {
		{ 0, 128, 0, 0, -EINVAL },
		{ 3, 128, 0, 0, -EINVAL },
		{ 27, 128, 0, 0, -EINVAL },
		{ 65, 128, 0, 0, -EINVAL },
		{ 0xffffffff, 128, 0, 0, -EINVAL },
		{ 43, 0, 0, 0, -EINVAL },
		{ 43, 129, 32, 0, -EINVAL },
		{ 43, 48, 0, 0, -EINVAL },
		{ 43, 48, 48, 0, -EINVAL },
		{ 43, 48, 64, 0, -EINVAL },
		{ 43, 40, 32, 0, -EINVAL },	/* bits beyond */
		{ 1, 48, 129, 0, -EINVAL },
		{ 5, 48, 0, SRPOL_MAX_NEXTHOPS, -ENOSPC },
	};
	struct in6_addr a = addr("fcbb:bb00:1::");
	struct srpol_dp_sid b;
	struct pkt p;
	__u32 i;

	setup();
	memcpy(s.sid, &a, 16);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		b = s;
		b.behavior = bad[i].behavior;
		b.prefix_len = bad[i].prefix_len;
		b.block_len = bad[i].block_len;
		b.nexthop = bad[i].nexthop;
		CHECK_EQ(rig_sid_call("sid_set", &b), bad[i].err, "%u", i);
	}
	CHECK_EQ(n_prefixes(), 0, "nothing was set");
	rig_sid_set(&s);
	rig_sid_set(&s);
	CHECK_EQ(n_prefixes(), 1, "set twice");
	container(&p, "fcbb:bb00:1:2::", 64, &v6);
	rig_uplink(&p, NULL);
	rig_expect("prefix", SRPOL_REASON_USID_NEXT, 1, RIG_END);

	/* Another length is another SID. */
	CHECK_EQ(rig_sid_call("sid_del", &s), 0, "delete");
	CHECK_EQ(n_prefixes(), 0, "deleted");
	CHECK_EQ(rig_sid_call("sid_del", &s), -ENOENT, "again");
	CHECK_EQ(n_prefixes(), 0, "deleted once");
	s.prefix_len = 128;
	rig_sid_set(&s);
	rig_uplink(&p, NULL);
	rig_expect("exact only", SRPOL_REASON_NOT_LOCAL, 1, RIG_END);
	CHECK_EQ(rig_sid_call("sid_del", &s), 0, "delete");
	s.prefix_len = 64;
	rig_sid_set(&s);
	CHECK_EQ(n_prefixes(), 1, "a prefix again");
	rig_reset();
	CHECK_EQ(n_prefixes(), 0, "reset");
	rig_mark();
	rig_uplink(&p, NULL);
	rig_expect("reset", SRPOL_REASON_NOT_LOCAL, 1, RIG_END);
}

/* A frame to a SID that is not to this host, or not as frames are here. */
static void test_frames(void)
{
	struct in6_addr list[2] = { sid(1), sid(FAR) };
	struct outer o = { .sids = list, .n = 2 };
	struct pkt p, t = {};
	int tags, vid;

	setup();
	rig_sid(1, sid(1), SRPOL_BEHAVIOR_END);
	encap(&p, &o, &v6);
	rig_mark();
	p.b[5] = 1;
	check("foreign address", &p, X_PASS, &p, SRPOL_REASON_FOREIGN_MAC, 0);
	p.b[5] = 0;
	for (tags = 1; tags <= 3; tags++) {
		for (vid = 0; vid <= 100; vid += 100) {
			t.len = 0;
			pkt_add(&t, p.b, 12);
			while (t.len < 12u + 4 * (tags - 1))
				pkt_add_hex(&t, "81000000");
			pkt_add16(&t, 0x8100);
			pkt_add16(&t, vid);
			pkt_add(&t, p.b + 12, p.len - 12);
			if (vid)
				check("another VLAN", &t, X_PASS, &t,
				      SRPOL_REASON_SID_TAGGED, 0);
			else
				check_drop("priority tags", &t,
					   SRPOL_REASON_SID_UNREADABLE, 1);
		}
	}
}

/* Segments that are no addresses to send to. */
static void test_bad_next(void)
{
	static const char *const bad[] = { "::", "::1", "ff02::1", "fe80::1" };
	static const __u32 kinds[] = {
		SRPOL_BEHAVIOR_END, SRPOL_BEHAVIOR_END_X,
	};
	struct in6_addr list[2] = { sid(1) };
	struct outer o = { .sids = list, .n = 2, .full = true };
	struct pkt p;
	__u32 i, k;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		setup();
		set(1, sid(1), kinds[k], 128);
		rig_mark();
		for (i = 0; i < ARRAY_SIZE(bad); i++) {
			list[1] = addr(bad[i]);
			encap(&p, &o, &v6);
			check_drop(bad[i], &p, SRPOL_REASON_BAD_NEXT, 1);
		}
	}
}

/* What belongs to a link does not come out of a tunnel. */
static void test_inner_scope(void)
{
	static const struct inner bad[] = {
		{ .src = "fd00::1", .dst = "ff02::1" },
		{ .src = "fe80::1", .dst = "fd00::2" },
		{ .src = "fd00::1", .dst = "fe80::2" },
		{ .src = "fd00::1", .dst = "fd00::2", .proto = 58,
		  .first_byte = 136, .ttl = 255 },
		{ .src = "10.0.0.1", .dst = "224.0.0.1" },
		{ .src = "10.0.0.1", .dst = "255.255.255.255" },
		{ .src = "169.254.1.1", .dst = "10.0.0.2" },
	};
	struct in6_addr list[1] = { sid(1) };
	struct outer o = { .sids = list, .n = 1 };
	struct pkt p;
	__u32 i;

	setup();
	rig_sid(1, sid(1), SRPOL_BEHAVIOR_END_DT46);
	rig_mark();
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		encap(&p, &o, &bad[i]);
		check_drop(bad[i].dst, &p, SRPOL_REASON_INNER_SCOPE, 1);
	}
}

/* An error about a packet of a tunnel, inside a tunnel: a forged one. */
static void test_inner_error(void)
{
	static const __u8 quoted[] = { 43, 41, 4, 17 };
	struct in6_addr list[1] = { sid(1) };
	struct outer o = { .sids = list, .n = 1 };
	struct inner in = { .src = "fd00::1", .dst = "fd00::2", .proto = 58,
			    .payload = 64 };
	struct pkt p;
	__u32 i;

	setup();
	rig_sid(1, sid(1), SRPOL_BEHAVIOR_END_DT46);
	rig_mark();
	for (in.first_byte = 1; in.first_byte <= 4; in.first_byte++) {
		for (i = 0; i < ARRAY_SIZE(quoted); i++) {
			encap(&p, &o, &in);
			p.b[14 + 40 + 40 + 8 + 6] = quoted[i];
			if (quoted[i] != 17)
				check_drop("of a tunnel", &p,
					   SRPOL_REASON_INNER_ERROR, 1);
			else
				check("of its own", &p, X_PASS, NULL,
				      SRPOL_REASON_DECAP, 0);
		}
	}
}

static const struct ktap_test tests[] = {
	{ "PSP", test_psp },
	{ "PSP, then a local SID", test_psp_chain },
	{ "USD", test_usd },
	{ "End.X, uA without argument", test_x },
	{ "End.DX6, End.DX4", test_dx },
	{ "uN", test_un },
	{ "containers of any layout", test_shift_widths },
	{ "uN chains", test_un_chain },
	{ "uA", test_ua },
	{ "uDT6, uDT4, uDT46", test_udt },
	{ "filter of the SR domain", test_domain },
	{ "lengths, values, prefixes", test_set },
	{ "other addresses, VLAN tags", test_frames },
	{ "next segments that are no addresses", test_bad_next },
	{ "inner packets of a link", test_inner_scope },
	{ "inner errors about tunnels", test_inner_error },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
