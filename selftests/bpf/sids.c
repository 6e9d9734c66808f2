// SPDX-License-Identifier: GPL-2.0
/*
 * Ingress: behaviors beyond plain End and End.DT, which decap.c has: flavors and
 * adjacencies; the filter of the SR domain; how SIDs are set. Compressed SIDs are
 * in usids.c, binding SIDs in binding.c.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "ktap.h"
#include "rig.h"
#include "sidrig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

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
			set_sid(1, sid(1), kinds[i], 128);
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
	set_sid(1, sid(1), SRPOL_BEHAVIOR_END_PSP, 128);
	set_sid(2, sid(2), SRPOL_BEHAVIOR_END_DT46, 128);
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
			set_sid(1, sid(1), kinds[i], 128);
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
	set_sid(1, sid(1), SRPOL_BEHAVIOR_END_PSP, 128);
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
		set_sid(1, sid(1), kinds[i], 128);
		o.travelled = 0;
		o.hop_limit = 64;
		encap(&p, &o, &v6);
		o.travelled = 1;
		o.hop_limit = 63;
		encap(&want, &o, &v6);
		use_l2(&want);
		check("End.X", &p, X_REDIRECT, &want, SRPOL_REASON_END, 0);
		/* A device that takes no frames from XDP. */
		rig_nexthop(NEXTHOP, ELSEWHERE, 1);
		check_handoff("by TC", &p, ELSEWHERE, &want,
			      SRPOL_REASON_END);
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
		set_sid(1, sid(1), six ? SRPOL_BEHAVIOR_END_DX6 :
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

/* RFC 2983, uniform model: with everything that decapsulates. */
static void test_uniform(void)
{
	static const struct {
		__u32 behavior, six;
		__u8 options;
	} t[] = {
		{ SRPOL_BEHAVIOR_END_DT4, 0, 0 },
		{ SRPOL_BEHAVIOR_END_DT4, 0, 10 },
		{ SRPOL_BEHAVIOR_END_DT6, 1, 0 },
		{ SRPOL_BEHAVIOR_END_DX4, 0, 3 },
		{ SRPOL_BEHAVIOR_END_DX6, 1, 0 },
		{ SRPOL_BEHAVIOR_END_USD, 0, 1 },
		{ SRPOL_BEHAVIOR_END_USD, 1, 0 },
		{ SRPOL_BEHAVIOR_END_PSP_USD, 1, 0 },
		{ SRPOL_BEHAVIOR_UN_PSP_USD, 0, 2 },
		{ SRPOL_BEHAVIOR_UN_PSP_USD, 1, 0 },
		{ SRPOL_BEHAVIOR_UDT4, 0, 10 },
		{ SRPOL_BEHAVIOR_UDT6, 1, 0 },
		{ SRPOL_BEHAVIOR_UDT46, 0, 1 },
		{ SRPOL_BEHAVIOR_UDT46, 1, 0 },
	};
	struct in6_addr to = addr("fcbb:bb00:100::");
	struct outer o = { .sids = &to, .n = 1 };
	struct srpol_dp_sid s;
	struct pkt p, want;
	struct inner in;
	char about[64];
	__u32 i, dscp;
	bool dx;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		setup();
		dx = t[i].behavior == SRPOL_BEHAVIOR_END_DX4 ||
		     t[i].behavior == SRPOL_BEHAVIOR_END_DX6;
		s = (struct srpol_dp_sid) {
			.id = 1, .behavior = t[i].behavior, .prefix_len = 48,
			.block_len = BLOCK, .nexthop = NEXTHOP, .uniform = 1,
		};
		memcpy(s.sid, &to, 16);
		memcpy(s.l2, l2, 12);
		rig_sid_set(&s);
		for (dscp = 0; dscp < 64; dscp++) {
			snprintf(about, sizeof(about), "%u v%u DSCP %u",
				 t[i].behavior, t[i].six ? 6 : 4, dscp);
			in = t[i].six ? v6 : v4;
			in.options = t[i].options;
			in.tclass = 34 << 2 | 2;
			in.ttl = 9;
			o.tclass = dscp << 2 | 2;
			encap(&p, &o, &in);
			in.tclass = o.tclass;
			in.ttl -= dx;
			plain(&want, &in, dx ? l2 : pkt_link_macs);
			check(about, &p, dx ? X_REDIRECT : X_PASS, &want,
			      SRPOL_REASON_DECAP, 0);
		}
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
	set_sid(1, sid(1), SRPOL_BEHAVIOR_END_DT46, 128);
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

static const struct ktap_test tests[] = {
	{ "PSP", test_psp },
	{ "PSP, then a local SID", test_psp_chain },
	{ "USD", test_usd },
	{ "End.X, uA without argument", test_x },
	{ "End.DX6, End.DX4", test_dx },
	{ "DSCP by the uniform model, of each behavior", test_uniform },
	{ "filter of the SR domain", test_domain },
	{ "lengths, values, prefixes", test_set },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
