// SPDX-License-Identifier: GPL-2.0
/* Outer headers, byte by byte, at TC egress and at a host port alike. */
#include <arpa/inet.h>
#include <string.h>
#include <time.h>

#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define LO		1
#define ELSEWHERE	77
#define PATH		0x123
#define MTU		9000
#define HEADROOM	(256 - 40)	/* XDP's, less struct xdp_frame */

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

static const struct inner *const families[] = { &v4, &v6 };

static void setup_path(const struct srpol_dp_path *arg, __u32 ifindex)
{
	struct srpol_dp_policy policy = {
		.id = 1, .color = 5, .row = 1, .n_buckets = 128,
		.drop_upon_invalid = 1,
	};
	struct srpol_dp_rule all = { .id = 1, .color = 5 };
	struct srpol_dp_path path = *arg;

	rig_reset();
	rig_uplinks_clear();
	rig_uplink_add(LO);
	rig_nexthop(1, ifindex, 1);
	CHECK_EQ(rig_call("path_set", &path, sizeof(path)), 0, "path");
	rig_row_one(1, path.id);
	rig_policy(&policy);
	rig_rules(&all, 1);
	rig_mark();
}

static void setup(const struct outer *o)
{
	struct srpol_dp_path path;

	rig_path_arg(&path, PATH, o, 1, MTU);
	setup_path(&path, LO);
}

static __u32 label_of(const struct pkt *p)
{
	__u32 word;

	memcpy(&word, p->b + 14, 4);
	return ntohl(word) & 0xfffff;
}

/* The same packet at both places: the port makes a hop of it, egress not. */
static void check_both(const char *about, const struct inner *spec,
		       struct outer o, struct pkt *tc_out)
{
	struct inner hop = *spec;
	struct pkt in, ip = {}, out, want;

	pkt_inner(&in, spec);
	CHECK_EQ(rig_egress(&in, &out), TC_NEXT, "%s: egress", about);
	o.label = label_of(&out);
	o.tclass = spec->tclass;
	CHECK(o.label, "%s: label", about);
	pkt_encap(&want, &o, in.b + 14, in.len - 14);
	CHECK(pkt_equal(&out, &want), "%s: egress", about);
	if (tc_out)
		*tc_out = out;

	if (outer_len(&o) > HEADROOM) {
		CHECK_EQ(rig_port_xdp(&in, &out), X_PASS, "%s: XDP", about);
		CHECK(pkt_equal(&out, &in), "%s: XDP", about);
	}
	hop.ttl = (spec->ttl ? spec->ttl : 64) - 1;
	pkt_inner_ip(&ip, &hop);
	pkt_encap(&want, &o, ip.b, ip.len);
	CHECK_EQ(rig_port(&in, &out), X_REDIRECT, "%s: port", about);
	CHECK(pkt_equal(&out, &want), "%s: port", about);
	rig_expect(about, SRPOL_REASON_STEERED, 2, RIG_END);
}

static void test_lists(void)
{
	static const unsigned int n[] = { 1, 2, 3, 6, 16 };
	struct outer o = { .sids = sids };
	char about[64];
	__u32 i, f;

	for (i = 0; i < 2 * ARRAY_SIZE(n); i++) {
		o.n = n[i / 2];
		o.full = i & 1;
		setup(&o);
		for (f = 0; f < 2; f++) {
			snprintf(about, sizeof(about), "IPv%c, %u SIDs, %s",
				 f ? '6' : '4', o.n, o.full ? "full" :
				 "reduced");
			check_both(about, families[f], o, NULL);
		}
		CHECK_EQ(rig_counter("path_stats", PATH).packets, 4, "path");
	}
}

/* RFC 9800 F3216: six CSIDs in a container, which needs no SRH. */
static void test_containers(void)
{
	struct in6_addr list[3] = {
		addr("fcbb:bb00:1:2:3:4:5:6"), addr("fcbb:bb00:7:8:9:a:b:c"),
		addr("fcbb:bb00:d:e::"),
	};
	struct outer o = { .sids = list };
	struct pkt in, out;
	__u32 f;

	for (o.n = 1; o.n <= 3; o.n++) {
		setup(&o);
		for (f = 0; f < 2; f++) {
			check_both("containers", families[f], o, &out);
			pkt_inner(&in, families[f]);
			CHECK_EQ(out.len - in.len, outer_len(&o), "overhead");
			if (o.n == 1)
				CHECK_EQ(out.len - in.len, 40, "six CSIDs");
		}
	}
	o.n = 2;
	o.full = true;
	setup(&o);
	check_both("full list of containers", &v6, o, NULL);
}

static void test_tlv(void)
{
	/* type 124, opaque, and PadN: RFC 8754 2.1 */
	static const __u8 tlv[16] = {
		124, 8, 1, 2, 3, 4, 5, 6, 7, 8, 4, 4, 0, 0, 0, 0,
	};
	struct outer o = { .sids = sids, .tlv = tlv, .tlv_len = sizeof(tlv) };
	__u32 f;

	for (o.n = 1; o.n <= SRPOL_SEGS_MAX; o.n += 5) {
		for (f = 0; f < 4; f++) {
			o.full = f & 2;
			o.tag = 0x1234;
			setup(&o);
			check_both("TLV", families[f & 1], o, NULL);
		}
	}
}

static __u64 tai_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_TAI, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* srpol/dp.h: type, length, path, sequence number, CLOCK_TAI. */
static void check_timestamp(const struct pkt *out, __u32 off, __u32 seq,
			__u64 after)
{
	__u64 time;
	__u32 v;

	CHECK_EQ(out->b[off], 124, "type");
	CHECK_EQ(out->b[off + 1], 14, "length");
	CHECK_EQ(out->b[off + 2] << 8 | out->b[off + 3], PATH, "path");
	memcpy(&v, out->b + off + 4, 4);
	CHECK_EQ(ntohl(v), seq, "sequence number");
	memcpy(&time, out->b + off + 8, 8);
	time = __builtin_bswap64(time);
	CHECK(time >= after && time <= tai_ns(), "%llu, not after %llu", time,
	      after);
}

static void test_timestamp(void)
{
	__u8 tlv[16] = { 124, 14, PATH >> 8, PATH & 0xff };
	struct outer o = {
		.sids = sids, .n = 3, .tlv = tlv, .tlv_len = sizeof(tlv),
	};
	struct srpol_dp_path path;
	struct pkt in, out, want;
	__u32 seq = 0, off, i;
	__u64 now;

	rig_path_arg(&path, PATH, &o, 1, MTU);
	off = 14 + outer_len(&o) - 16;
	path.timestamp_off = off;
	setup_path(&path, LO);
	for (i = 0; i < 6; i++) {
		pkt_inner(&in, families[i & 1]);
		now = tai_ns();
		if (i < 3)
			CHECK_EQ(rig_egress(&in, &out), TC_NEXT, "egress");
		else
			CHECK_EQ(rig_port(&in, &out), X_REDIRECT, "port");
		check_timestamp(&out, off, ++seq, now);
		/* Around it nothing is touched. */
		o.label = label_of(&out);
		o.tclass = 2;
		pkt_encap(&want, &o, in.b + 14, in.len - 14);
		memcpy(want.b + off + 4, out.b + off + 4, 12);
		want.len = off + 16;
		out.len = want.len;
		CHECK(pkt_equal(&out, &want), "packet %u", i);
	}
	path.timestamp_off = off + 8;
	CHECK_EQ(rig_call("path_set", &path, sizeof(path)), -22, "beyond");
	path.timestamp_off = 14 + 40;
	CHECK_EQ(rig_call("path_set", &path, sizeof(path)), -22, "in the SRH");
}

static void test_label_id(void)
{
	struct srpol_dp_config cfg = {
		.path_id = SRPOL_PATH_ID_LABEL,
		.flow_label = SRPOL_FLOW_LABEL_ZERO,
	};
	struct outer o = { .sids = sids, .n = 3 };
	struct inner in = v6;
	__u64 seen = 0;
	struct pkt p, out;

	setup(&o);
	rig_config(cfg);
	rig_mark();
	check_both("label", &v4, o, &out);
	CHECK_EQ(label_of(&out) >> 6, PATH, "path id");
	for (in.qp = 1; in.qp < 256; in.qp++) {
		pkt_inner(&p, &in);
		rig_egress(&p, &out);
		CHECK_EQ(label_of(&out) >> 6, PATH, "path id");
		seen |= 1ULL << (label_of(&out) & 63);
	}
	CHECK(__builtin_popcountll(seen) > 48, "%d values of entropy",
	      __builtin_popcountll(seen));
	rig_egress(&p, &out);
	CHECK(label_of(&out), "stable");
}

/* --- what only a port does --- */

static void check_port(const char *about, const struct pkt *in, int verdict,
		       int reason)
{
	struct pkt out;

	CHECK_EQ(rig_port(in, &out), verdict, "%s", about);
	if (verdict == X_PASS)
		CHECK(pkt_equal(&out, in), "%s", about);
	rig_expect(about, reason, 1, RIG_END);
}

static void test_hop(void)
{
	struct outer o = { .sids = sids, .n = 2 };
	struct inner in;
	struct pkt p;
	__u32 f, ttl;

	setup(&o);
	for (f = 0; f < 2; f++) {
		in = *families[f];
		for (ttl = 2; ttl < 256; ttl++) {
			in.ttl = ttl;
			check_both("hop limit", &in, o, NULL);
		}
		in.ttl = 1;
		pkt_inner(&p, &in);
		check_port("hop limit 1", &p, X_PASS,
			   SRPOL_REASON_TTL_EXCEEDED);
		p.b[f ? 14 + 7 : 14 + 8] = 0;
		check_port("hop limit 0", &p, X_PASS,
			   SRPOL_REASON_TTL_EXCEEDED);
	}
}

/* The header checksum where counting it down carries, RFC 1624 2. */
static void test_hop_carry(void)
{
	struct outer o = { .sids = sids, .n = 2 };
	struct inner in = v4;
	char src[16];
	__u32 i, n = 0;
	struct pkt p;
	__u16 check;

	setup(&o);
	in.payload = 0;
	for (i = 0; i < 0x20000 && n < 4; i++) {
		snprintf(src, sizeof(src), "10.%u.%u.%u", i >> 16,
			 i >> 8 & 255, i & 255);
		in.src = src;
		pkt_inner(&p, &in);
		memcpy(&check, p.b + 14 + 10, 2);
		/* One less in the high byte is one more here. */
		if (ntohs(check) < 0xfe00 && check < 0xfffd)
			continue;
		if (check >= 0xfffd || i % 64 == 0) {
			check_both("carry", &in, o, NULL);
			n += check >= 0xfffd;
		}
	}
	CHECK(n, "no such packet");
}

static void test_port_vlan(void)
{
	struct outer o = { .sids = sids, .n = 2 };
	struct pkt ip = {}, hop = {}, p, out, want;
	struct inner in = v6;
	int tags, i;

	setup(&o);
	pkt_inner_ip(&ip, &in);
	in.ttl = 63;
	pkt_inner_ip(&hop, &in);
	for (tags = 1; tags <= 2; tags++) {
		p.len = 0;
		pkt_add(&p, pkt_host_macs, 12);
		for (i = 0; i < tags; i++)
			pkt_add_hex(&p, "81000064");
		pkt_add16(&p, 0x86dd);
		pkt_add(&p, ip.b, ip.len);
		CHECK_EQ(rig_port(&p, &out), X_REDIRECT, "%d tags", tags);
		o.label = label_of(&out);
		o.tclass = 2;
		pkt_encap(&want, &o, hop.b, hop.len);
		CHECK(pkt_equal(&out, &want), "%d tags", tags);
	}
}

/* @tags of VID 0, then an IP packet. */
static void tagged(struct pkt *p, const struct pkt *ip, int tags)
{
	p->len = 0;
	pkt_add(p, pkt_host_macs, 12);
	while (tags--)
		pkt_add_hex(p, "81000000");
	pkt_add16(p, 0x86dd);
	pkt_add(p, ip->b, ip->len);
}

/*
 * The kernel takes off any number of priority tags. What is behind them must
 * not come to a SID, whether it can be read here or not.
 */
static void test_priority_tags(void)
{
	struct outer o = { .sids = sids, .n = 2 };
	struct pkt ip = {}, srv6, p;
	int tags;

	setup(&o);
	rig_sid(1, sids[0], SRPOL_BEHAVIOR_END);
	pkt_inner_ip(&ip, &v6);
	pkt_encap(&srv6, &o, ip.b, ip.len);
	memmove(srv6.b, srv6.b + 14, srv6.len - 14);
	srv6.len -= 14;
	rig_mark();
	for (tags = 0; tags <= 4; tags++) {
		tagged(&p, &srv6, tags);
		check_port("SRv6 behind tags", &p, X_DROP,
			   SRPOL_REASON_SID_FROM_PORT);
		tagged(&p, &ip, tags);
		check_port("plain behind tags", &p, X_REDIRECT,
			   SRPOL_REASON_STEERED);
	}
	for (; tags < 12; tags++) {
		tagged(&p, &srv6, tags);
		check_port("cannot be read", &p, X_DROP,
			   SRPOL_REASON_PORT_UNREADABLE);
	}
	/* As the kernel does, the first tag that has an id is the one. */
	p.len = 0;
	pkt_add(&p, pkt_host_macs, 12);
	pkt_add_hex(&p, "81000000" "81000064");
	pkt_add16(&p, 0x86dd);
	pkt_add(&p, ip.b, ip.len);
	rig_rules(&(struct srpol_dp_rule){ .color = 5, .vlan = 100,
		  .match = SRPOL_MATCH_VLAN }, 1);
	rig_mark();
	check_port("VID 0, then 100", &p, X_REDIRECT, SRPOL_REASON_STEERED);
}

/* Headers in fragments: XDP leaves them to TC, which pulls them. */
static void test_fragmented_headers(void)
{
	struct outer o = { .sids = sids, .n = 2 };
	struct pkt p, ip = {};
	int verdict;

	setup(&o);
	rig_sid(1, sids[0], SRPOL_BEHAVIOR_END);
	rig_mark();
	pkt_inner(&p, &v6);
	verdict = rig_port_fragments(&p);
	CHECK_EQ(verdict, verdict < 0 ? -1 : X_PASS, "plain");
	pkt_inner_ip(&ip, &v6);
	pkt_encap(&p, &o, ip.b, ip.len);
	verdict = rig_port_fragments(&p);
	CHECK_EQ(verdict, verdict < 0 ? -1 : X_PASS, "to a SID");
	rig_expect("nothing is decided in XDP", RIG_END);
	check_port("to a SID", &p, X_DROP, SRPOL_REASON_SID_FROM_PORT);
}

/* Frames that are bridged, or flooded, or of somebody else. */
static void test_foreign(void)
{
	static const __u8 macs[][6] = {
		{ 0x02, 0, 0, 0, 0, 0x77 }, { 0x01, 0, 0x5e, 1, 2, 3 },
		{ 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
	};
	struct outer o = { .sids = sids, .n = 2 };
	struct pkt p, ip = {};
	__u32 i;

	setup(&o);
	rig_sid(1, sids[0], SRPOL_BEHAVIOR_END);
	rig_mark();
	for (i = 0; i < ARRAY_SIZE(macs); i++) {
		pkt_inner(&p, &v6);
		memcpy(p.b, macs[i], 6);
		check_port("foreign", &p, X_PASS, SRPOL_REASON_FOREIGN_MAC);
		ip.len = 0;
		pkt_inner_ip(&ip, &v6);
		pkt_encap(&p, &o, ip.b, ip.len);
		memcpy(p.b, macs[i], 6);
		check_port("foreign, to a SID", &p, X_DROP,
			   SRPOL_REASON_SID_FROM_PORT);
	}
}

static void test_too_big(void)
{
	struct outer o = { .sids = sids, .n = 3 };	/* 80 bytes */
	struct srpol_dp_path path;
	struct inner in = v6;
	struct pkt p;

	rig_path_arg(&path, PATH, &o, 1, 1500);
	setup_path(&path, LO);
	in.payload = 1500 - 80 - 40 - 8 - 12 - 4;
	pkt_inner(&p, &in);
	check_port("just fits", &p, X_REDIRECT, SRPOL_REASON_STEERED);
	in.payload++;
	pkt_inner(&p, &in);
	CHECK_EQ(rig_port_xdp(&p, NULL), X_PASS, "XDP leaves it");
	check_port("too big by one", &p, X_DROP, SRPOL_REASON_TOO_BIG);
	CHECK_EQ(rig_error(SRPOL_ERROR_PATH, SRPOL_REASON_TOO_BIG, PATH), 1,
		 "error of the path");
}

/* What a VLAN device does not take from XDP: TC sends it, and alone counts it. */
static void test_not_by_xdp(void)
{
	struct outer o = { .sids = sids, .n = 3 };
	struct pkt p;

	setup(&o);
	rig_uplinks_clear();
	rig_uplink_add_tc(LO);
	pkt_inner(&p, &v6);
	CHECK_EQ(rig_port_xdp(&p, NULL), X_PASS, "XDP leaves it");
	rig_expect("XDP leaves it", SRPOL_REASON_STEERED, 0, RIG_END);
	CHECK_EQ(rig_counter("path_stats", PATH).packets, 0, "path");
	check_port("TC sends it", &p, X_REDIRECT, SRPOL_REASON_STEERED);
	CHECK_EQ(rig_counter("path_stats", PATH).packets, 1, "path");
}

static void test_no_uplink(void)
{
	struct outer o = { .sids = sids, .n = 3 };
	struct srpol_dp_path path;
	struct pkt p;

	rig_path_arg(&path, PATH, &o, 1, MTU);
	setup_path(&path, ELSEWHERE);
	pkt_inner(&p, &v6);
	CHECK_EQ(rig_port_xdp(&p, NULL), X_PASS, "XDP leaves it");
	check_port("no uplink", &p, X_DROP, SRPOL_REASON_NO_UPLINK);
	CHECK_EQ(rig_error(SRPOL_ERROR_PATH, SRPOL_REASON_NO_UPLINK, PATH), 1,
		 "error of the path");
	CHECK_EQ(rig_counter("path_stats", PATH).packets, 0, "path");
	rig_path_state(PATH, 0);
	check_port("no path", &p, X_DROP, SRPOL_REASON_INVALID_DROP);
}

static void domain(struct srpol_dp_config *cfg, __u32 i, const char *prefix,
		   __u32 len)
{
	struct in6_addr a = addr(prefix);

	memcpy(cfg->domain[i].prefix, &a, 16);
	memset(cfg->domain[i].mask, 0xff, len / 8);
	if (cfg->n_domain <= i)
		cfg->n_domain = i + 1;
	cfg->n_blocks = cfg->n_domain;
}

/* RFC 8754 5.1: nothing from outside may address what is inside. */
static void test_domain(void)
{
	struct srpol_dp_sid prefix = {
		.id = 2, .behavior = SRPOL_BEHAVIOR_UN, .prefix_len = 48,
		.block_len = 32,
	};
	struct outer o = { .sids = sids, .n = 2 };
	struct srpol_dp_config cfg = {};
	struct in6_addr a = addr("fcbb:bb00:1::");
	struct inner in = v6;
	struct pkt p, srv6, ip = {};
	struct outer bad = { .sids = sids, .n = 2 };

	setup(&o);
	pkt_inner(&p, &in);
	rig_sid(1, addr("fd00::2"), SRPOL_BEHAVIOR_END_DT46);
	check_port("a local SID", &p, X_DROP, SRPOL_REASON_SID_FROM_PORT);
	in.dst = "fcbb:bb00:1:5::";
	pkt_inner(&p, &in);
	check_port("not yet", &p, X_REDIRECT, SRPOL_REASON_STEERED);
	memcpy(prefix.sid, &a, 16);
	rig_sid_set(&prefix);
	check_port("below a SID", &p, X_DROP, SRPOL_REASON_SID_FROM_PORT);

	/* Also what would not be steered: SRv6 of the guest's own making. */
	in.dst = "fd00::3";
	pkt_inner_ip(&ip, &in);
	pkt_encap(&srv6, &bad, ip.b, ip.len);
	check_port("SRv6 to somewhere", &srv6, X_PASS, SRPOL_REASON_TUNNELED);
	domain(&cfg, 0, "2001:db8::", 32);
	domain(&cfg, 1, "fc00::", 16);
	rig_config(cfg);
	check_port("SRv6 into the domain", &srv6, X_DROP,
		   SRPOL_REASON_SID_FROM_PORT);
	in.dst = "fc00:ffff::1";
	pkt_inner(&p, &in);
	check_port("into the domain", &p, X_DROP, SRPOL_REASON_SID_FROM_PORT);
	in.dst = "fc01::1";
	pkt_inner(&p, &in);
	check_port("beside the domain", &p, X_REDIRECT, SRPOL_REASON_STEERED);
	pkt_inner(&p, &v4);
	check_port("IPv4", &p, X_REDIRECT, SRPOL_REASON_STEERED);
}

static void test_not_steered(void)
{
	struct srpol_dp_rule none = { .id = 1, .color = 5,
		.match = SRPOL_MATCH_QP, .qp = { 7, 7 } };
	struct outer o = { .sids = sids, .n = 2 };
	struct inner in = v6;
	struct pkt p;

	setup(&o);
	in.dst = "ff02::1";
	pkt_inner(&p, &in);
	check_port("multicast", &p, X_PASS, SRPOL_REASON_LINK_SCOPE);
	/* an IPv4 flow has the same addresses in its key */
	in = v6;
	in.src = "::ffff:10.0.0.1";
	pkt_inner(&p, &in);
	check_port("source with IPv4 in it", &p, X_PASS, SRPOL_REASON_UNPARSED);
	in = v6;
	in.dst = "::ffff:10.0.0.2";
	pkt_inner(&p, &in);
	check_port("destination with IPv4 in it", &p, X_PASS,
		   SRPOL_REASON_UNPARSED);
	p.len = 0;
	pkt_add_eth(&p, pkt_host_macs, 0x0806);
	pkt_add_hex(&p, "0001080006040001020000000001c0000201000000000000"
			"c0000202");
	check_port("ARP", &p, X_PASS, SRPOL_REASON_NOT_IP);
	pkt_inner(&p, &v4);
	p.len--;
	check_port("cut", &p, X_PASS, SRPOL_REASON_UNPARSED);
	rig_rules(&none, 1);
	rig_mark();
	pkt_inner(&p, &v4);
	check_port("no rule", &p, X_PASS, SRPOL_REASON_NO_RULE);
}

/* A jumbo frame comes in more than one buffer. */
static void test_jumbo(void)
{
	struct outer o = { .sids = sids, .n = 3, .tclass = 2 };
	struct pkt p, ip = {}, out, want;
	struct inner in = v4;

	setup(&o);
	in.payload = 8192;
	pkt_inner(&p, &in);
	in.ttl = 63;
	pkt_inner_ip(&ip, &in);
	CHECK_EQ(rig_port(&p, &out), X_REDIRECT, "jumbo");
	o.label = label_of(&out);
	pkt_encap(&want, &o, ip.b, ip.len);
	CHECK(pkt_equal(&out, &want), "jumbo");
}

/*
 * Bytes behind the packet do not make it too long for its uplink, be they a few or
 * many.
 */
static void test_behind(void)
{
	static const __u32 behind[] = { 1, 17, 3000 };
	struct outer o = { .sids = sids, .n = 3, .tclass = 2 };
	struct srpol_dp_path path;
	struct pkt p, ip = {}, out, want;
	const struct rig_env env = {};
	struct inner in = v4;
	__u32 i, j;

	in.ttl = 63;
	pkt_inner_ip(&ip, &in);
	in.ttl = v4.ttl;
	pkt_encap(&want, &o, ip.b, ip.len);
	for (i = 0; i < ARRAY_SIZE(behind); i++) {
		rig_path_arg(&path, PATH, &o, 1, want.len - 14);
		setup_path(&path, LO);
		pkt_inner(&p, &in);
		for (j = 0; j < behind[i]; j++)
			pkt_add(&p, "\xee", 1);
		CHECK_EQ(rig_port_xdp(&p, NULL), X_PASS, "%u, XDP", behind[i]);
		CHECK_EQ(rig_port_tc(&p, &out, &env), X_REDIRECT, "%u, TC",
			 behind[i]);
		o.label = label_of(&out);
		pkt_encap(&want, &o, ip.b, ip.len);
		CHECK(pkt_equal(&out, &want), "%u bytes behind", behind[i]);
		rig_expect("behind", SRPOL_REASON_STEERED, 1, RIG_END);
	}
}

static const struct ktap_test tests[] = {
	{ "lists of 1 to 16 SIDs, full and reduced", test_lists },
	{ "compressed SIDs in containers", test_containers },
	{ "TLVs", test_tlv },
	{ "timestamp TLV", test_timestamp },
	{ "path id in the flow label", test_label_id },
	{ "port: hop limit", test_hop },
	{ "port: header checksums that carry", test_hop_carry },
	{ "port: VLAN tags", test_port_vlan },
	{ "port: priority tags", test_priority_tags },
	{ "port: headers in fragments", test_fragmented_headers },
	{ "port: to other addresses", test_foreign },
	{ "port: too big", test_too_big },
	{ "port: an uplink that takes nothing from XDP", test_not_by_xdp },
	{ "port: no uplink", test_no_uplink },
	{ "port: SIDs and the SR domain", test_domain },
	{ "port: what is not steered", test_not_steered },
	{ "port: jumbo frames", test_jumbo },
	{ "port: bytes behind the packet", test_behind },
};

int main(void)
{
	unsigned int i;

	for (i = 0; i < SRPOL_SEGS_MAX; i++)
		sids[i] = sid(i + 1);
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
