// SPDX-License-Identifier: GPL-2.0
/*
 * Ingress: what is answered with an ICMPv6 error, RFC 8986 4, with which, and how
 * many there may be. Here the kernel knows no route back: they come from the SID.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"

#define LO		1
#define BURST		64	/* errors per device, processor and window */
#define WINDOW_US	67109	/* 2^26 ns */
#define QUOTE		(1280 - 40 - 8)
#define TYPE		42	/* offset of the routing type */
#define SL		43	/* and of segments left */

static const struct inner v6 = {
	.src = "fd00::1", .dst = "fd00::2", .sport = 9, .dport = 10,
	.payload = 64,
};

static struct in6_addr list[2];
static struct outer came;
static struct srpol_dp_config cfg;

static void setup(void)
{
	struct in6_addr a = addr("fc00::");

	memset(&cfg, 0, sizeof(cfg));
	cfg.icmp_errors = 1;
	cfg.n_domain = 1;
	memcpy(cfg.domain[0].prefix, &a, 16);
	memset(cfg.domain[0].mask, 0xff, 2);
	list[0] = sid(1);
	list[1] = sid(0x100);
	came = (struct outer){ .src = "fc00:98::1", .sids = list, .n = 2,
			       .full = true };
	rig_reset();
	rig_config(cfg);
	rig_uplink_add(LO);
	rig_sid(1, sid(1), SRPOL_BEHAVIOR_END);
	rig_sid(2, sid(2), SRPOL_BEHAVIOR_END_DT46);
	/* What an earlier test sent does not count against this one. */
	usleep(2 * WINDOW_US);
	rig_mark();
}

static void encap(struct pkt *p, const struct inner *in)
{
	struct pkt ip = {};

	pkt_inner_ip(&ip, in);
	pkt_encap(p, &came, ip.b, ip.len);
}

/* RFC 4443 3.3, 3.4 */
static void want_error(struct pkt *want, const struct pkt *in, __u8 type,
		       __u8 code, __u32 pointer)
{
	__u32 quote = in->len - 14 < QUOTE ? in->len - 14 : QUOTE;
	__u16 check;

	want->len = 0;
	pkt_add(want, in->b + 6, 6);
	pkt_add(want, in->b, 6);
	pkt_add16(want, 0x86dd);
	pkt_add32(want, 6u << 28);
	pkt_add16(want, 8 + quote);
	pkt_add8(want, 58);
	pkt_add8(want, 64);
	pkt_add(want, in->b + 14 + 24, 16);
	pkt_add(want, in->b + 14 + 8, 16);
	pkt_add8(want, type);
	pkt_add8(want, code);
	pkt_add16(want, 0);
	pkt_add32(want, pointer);
	pkt_add(want, in->b + 14, quote);
	check = csum_fold(csum_add(8 + quote + 58, want->b + 14 + 8,
				   32 + 8 + quote));
	want->b[14 + 40 + 2] = check >> 8;
	want->b[14 + 40 + 3] = check;
}

static void check_error(const char *about, const struct pkt *p, int reason,
			__u8 type, __u8 code, __u32 pointer)
{
	struct pkt out, want;

	want_error(&want, p, type, code, pointer);
	CHECK_EQ(rig_uplink(p, &out), X_REDIRECT, "%s", about);
	CHECK(pkt_equal(&out, &want), "%s", about);
	rig_expect(about, reason, 1, SRPOL_REASON_ICMP_ENDPOINT, 1, RIG_END);
}

static void check_silent(const char *about, const struct pkt *p, int reason)
{
	CHECK_EQ(rig_uplink(p, NULL), X_DROP, "%s", about);
	rig_expect(about, reason, 1, RIG_END);
}

static void test_errors(void)
{
	static const __u16 sizes[] = { 0, 1, 31, 64, 1031, 1100, 1101, 1500 };
	struct inner in = v6;
	struct pkt p;
	__u32 i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		setup();
		in.payload = sizes[i];
		came.hop_limit = 1;
		encap(&p, &in);
		check_error("hop limit", &p, SRPOL_REASON_HOP_LIMIT, 3, 0, 0);
		came.hop_limit = 64;
		encap(&p, &in);
		p.b[14 + SL] = 3;
		check_error("segments left", &p,
			    SRPOL_REASON_BAD_SEGMENTS_LEFT, 4, 0, SL);
		p.b[14 + SL] = 1;
		p.b[14 + TYPE] = 2;
		check_error("routing type", &p, SRPOL_REASON_BAD_ROUTING_TYPE,
			    4, 0, TYPE);
		p.b[14 + SL] = 0;
		check_silent("routing type, nothing left", &p,
			     SRPOL_REASON_BAD_ROUTING_TYPE);
		p.b[14 + SL] = 1;
		p.b[14 + TYPE] = 4;
		p.b[14 + SL + 1] = 2;
		check_error("last entry", &p, SRPOL_REASON_BAD_HDRLEN, 4, 0,
			    SL);
		list[1] = sid(1);
		came.travelled = 1;
		encap(&p, &in);
		check_error("End, the last", &p, SRPOL_REASON_NO_SEGMENTS_LEFT,
			    4, 4, 40 + 40);
		list[0] = sid(2);
		came.travelled = 0;
		encap(&p, &in);
		check_error("End.DT46, too early", &p,
			    SRPOL_REASON_SEGMENTS_LEFT, 4, 0, SL);
		came.full = false;
		came.n = 1;
		encap(&p, &in);
		p.b[14 + 6] = 17;
		check_error("UDP at End.DT46", &p, SRPOL_REASON_UPPER_LAYER, 4,
			    4, 40);
	}
}

/* What the link layer adds to a short frame is not quoted. */
static void test_padding(void)
{
	struct pkt p, out, want;

	setup();
	came.hop_limit = 1;
	encap(&p, &v6);
	want_error(&want, &p, 3, 0, 0);
	pkt_add32(&p, 0xdeadbeef);
	pkt_add8(&p, 0x5a);
	CHECK_EQ(rig_uplink(&p, &out), X_REDIRECT, "padded");
	CHECK(pkt_equal(&out, &want), "padded");
}

/* Errors sent about packets of a device, as far as they are remembered. */
static __u64 budget_of(__u32 ifindex)
{
	struct { __u64 window, sent; } b[libbpf_num_possible_cpus()];
	__u64 sent = 0;
	int i;

	if (bpf_map_lookup_elem(rig_map("icmp_budget"), &ifindex, b))
		return 0;
	for (i = 0; i < libbpf_num_possible_cpus(); i++)
		sent += b[i].sent;
	return sent;
}

/* RFC 4443 2.4 (e), RFC 8754 5.1 */
static void test_silent(void)
{
	struct in6_addr prefix = addr("fcbb:bb00:f::");
	struct in6_addr container = addr("fcbb:bb00:f:1::");
	struct srpol_dp_sid udt = { .id = 3, .prefix_len = 48, .block_len = 32 };
	static const char *const from[] = { "ff02::1", "fe80::1", "::", "::1" };
	struct inner icmp = { .src = "fd00::1", .dst = "fd00::2", .proto = 58,
			      .payload = 64 };
	struct pkt p, ip = {};
	__u32 i;

	setup();
	came.hop_limit = 1;
	came.src = "2001:db8::1";
	encap(&p, &v6);
	check_silent("outside the SR domain", &p, SRPOL_REASON_BAD_SOURCE);
	p.b[14 + SL] = 3;
	check_silent("and bad", &p, SRPOL_REASON_BAD_SEGMENTS_LEFT);
	cfg.n_domain = 0;
	rig_config(cfg);
	rig_mark();
	for (i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		came.src = from[i];
		encap(&p, &v6);
		check_silent(from[i], &p, SRPOL_REASON_HOP_LIMIT);
	}
	came.src = "fc00:98::1";
	for (i = 1; i <= 128; i++) {
		icmp.first_byte = i;
		ip.len = 0;
		pkt_inner_ip(&ip, &icmp);
		pkt_encap(&p, &came, ip.b + 40, ip.len - 40);
		p.b[14 + 40] = 58;
		if (i < 128)
			check_silent("ICMPv6 error", &p,
				     SRPOL_REASON_HOP_LIMIT);
		else
			check_error("echo request", &p, SRPOL_REASON_HOP_LIMIT,
				    3, 0, 0);
	}
	setup();
	came.hop_limit = 1;
	encap(&p, &v6);
	p.b[14 + 40] = 60;
	check_silent("extension header", &p, SRPOL_REASON_HOP_LIMIT);
	p.b[14 + 40] = 41;
	check_error("answered", &p, SRPOL_REASON_HOP_LIMIT, 3, 0, 0);
	/* a uDT with an argument has no field that is wrong */
	udt.behavior = SRPOL_BEHAVIOR_UDT46;
	memcpy(udt.sid, &prefix, 16);
	rig_sid_set(&udt);
	came = (struct outer){ .src = "fc00:98::1", .sids = &container, .n = 1 };
	encap(&p, &v6);
	check_silent("uDT46 with an argument", &p, SRPOL_REASON_SEGMENTS_LEFT);
	came.sids = list;
	came.n = 2;
	came.full = true;
	came.hop_limit = 1;
	encap(&p, &v6);
	cfg.icmp_errors = 0;
	rig_config(cfg);
	rig_mark();
	check_silent("icmp-errors off", &p, SRPOL_REASON_HOP_LIMIT);
}

/* An ICMPv6 message from @src to SID 2, or behind a list that ends there. */
static void ping(struct pkt *p, struct pkt *message, __u8 type, __u16 data)
{
	struct inner icmp = { .src = came.src, .dst = "fd00::2", .proto = 58,
			      .first_byte = type, .payload = data };
	struct pkt ip = {};
	__u16 check;

	pkt_inner_ip(&ip, &icmp);
	ip.b[40 + 1] = 0;
	ip.b[40 + 2] = 0;
	ip.b[40 + 3] = 0;
	memcpy(ip.b + 24, &list[0], 16);
	check = csum_fold(csum_add(data + 58, ip.b + 8, 32 + data));
	ip.b[40 + 2] = check >> 8;
	ip.b[40 + 3] = check;
	message->len = 0;
	pkt_add(message, ip.b + 40, data);
	pkt_encap(p, &came, message->b, message->len);
	p->b[14 + (came.full ? 40 : 6)] = 58;
}

/* RFC 4443 4.2; the SRH is not in it. */
static void want_reply(struct pkt *want, const struct pkt *in,
		       const struct pkt *message)
{
	__u16 check;

	want->len = 0;
	pkt_add(want, in->b + 6, 6);
	pkt_add(want, in->b, 6);
	pkt_add16(want, 0x86dd);
	pkt_add(want, in->b + 14, 4);
	want->b[14 + 1] &= ~0x30;	/* ECN */
	pkt_add16(want, message->len);
	pkt_add8(want, 58);
	pkt_add8(want, 64);
	pkt_add(want, in->b + 14 + 24, 16);
	pkt_add(want, in->b + 14 + 8, 16);
	pkt_add8(want, 129);
	pkt_add8(want, 0);
	pkt_add16(want, 0);
	pkt_add(want, message->b + 4, message->len - 4);
	check = csum_fold(csum_add(message->len + 58, want->b + 14 + 8,
				   32 + message->len));
	want->b[14 + 40 + 2] = check >> 8;
	want->b[14 + 40 + 3] = check;
}

static void test_ping(void)
{
	static const __u16 sizes[] = { 8, 9, 64, 1000, 1500 };
	static const __u32 behaviors[] = {
		SRPOL_BEHAVIOR_END, SRPOL_BEHAVIOR_END_PSP_USD,
		SRPOL_BEHAVIOR_END_DT46, SRPOL_BEHAVIOR_END_DT4,
	};
	struct pkt p, out, want, message;
	char own[INET6_ADDRSTRLEN];
	__u32 i, b;

	for (b = 0; b < sizeof(behaviors) / sizeof(behaviors[0]); b++) {
		setup();
		list[0] = sid(2);
		list[1] = sid(2);
		rig_sid(2, sid(2), behaviors[b]);
		rig_mark();
		for (i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
			came.full = i % 2;
			came.n = 1 + i % 2;
			came.travelled = i % 2;
			ping(&p, &message, 128, sizes[i / 2]);
			want_reply(&want, &p, &message);
			CHECK_EQ(rig_uplink(&p, &out), X_REDIRECT, "%u %u", b,
				 i);
			CHECK(pkt_equal(&out, &want), "%u %u", b, i);
			rig_expect("ping", SRPOL_REASON_ECHO, 1, RIG_END);
		}
		came.full = false;
		came.n = 1;
		came.travelled = 0;
		ping(&p, &message, 129, 64);
		check_error("a reply to nobody's ping", &p,
			    SRPOL_REASON_UPPER_LAYER, 4, 4, 40);
	}
	ping(&p, &message, 128, 64);
	want_reply(&want, &p, &message);
	p.b[14 + 1] |= 0x30;
	pkt_add32(&p, 0xabababab);
	CHECK_EQ(rig_uplink(&p, &out), X_REDIRECT, "CE, and 4 bytes behind");
	CHECK(pkt_equal(&out, &want), "CE, and 4 bytes behind");
	rig_expect("ping", SRPOL_REASON_ECHO, 1, RIG_END);
	ping(&p, &message, 128, 64);
	p.b[6] |= 1;
	check_silent("ping from a group's MAC address", &p,
		     SRPOL_REASON_UPPER_LAYER);
	came.src = inet_ntop(AF_INET6, &list[0], own, sizeof(own));
	ping(&p, &message, 128, 64);
	check_silent("ping from a local SID", &p, SRPOL_REASON_UPPER_LAYER);
	came.src = "fc00:98::1";
	ping(&p, &message, 128, 7);
	pkt_add32(&p, 0);
	check_silent("ping without a sequence number", &p,
		     SRPOL_REASON_UPPER_LAYER);
	came.src = "2001:db8::1";
	ping(&p, &message, 128, 64);
	check_silent("ping from outside the SR domain", &p,
		     SRPOL_REASON_BAD_SOURCE);
	came.src = "fc00:98::1";
	cfg.icmp_errors = 0;
	rig_config(cfg);
	rig_mark();
	ping(&p, &message, 128, 64);
	check_silent("ping, icmp-errors off", &p, SRPOL_REASON_UPPER_LAYER);
}

/* Of each packet that had to be answered it is known why it was not. */
static void test_limit(void)
{
	__u64 sent, limited, n = 0;
	struct pkt p;

	setup();
	sent = rig_reason(SRPOL_REASON_ICMP_ENDPOINT);
	limited = rig_reason(SRPOL_REASON_ICMP_LIMITED);
	came.hop_limit = 1;
	encap(&p, &v6);
	/* More than a window has, in one; if it ends meanwhile, in the next. */
	while (rig_reason(SRPOL_REASON_ICMP_LIMITED) == limited &&
	       n < 1000 * BURST) {
		rig_uplink(&p, NULL);
		n++;
	}
	CHECK(n > BURST, "%llu errors in one window", n);
	limited = rig_reason(SRPOL_REASON_ICMP_LIMITED) - limited;
	sent = rig_reason(SRPOL_REASON_ICMP_ENDPOINT) - sent;
	CHECK_EQ(limited, 1, "limited");
	CHECK_EQ(sent, n - 1, "sent");
	CHECK(budget_of(LO) > BURST, "of this device");
	CHECK_EQ(budget_of(0), 0, "of no other one");
	usleep(2 * WINDOW_US);
	rig_mark();
	check_error("the window after", &p, SRPOL_REASON_HOP_LIMIT, 3, 0, 0);
}

/* Pings do not take from errors what these may use. */
static void test_budgets(void)
{
	__u64 limited, n = 0;
	struct pkt p, message;

	setup();
	list[0] = sid(2);
	rig_sid(2, sid(2), SRPOL_BEHAVIOR_END);
	came.full = false;
	came.n = 1;
	came.travelled = 0;
	ping(&p, &message, 128, 64);
	limited = rig_reason(SRPOL_REASON_ICMP_LIMITED);
	while (rig_reason(SRPOL_REASON_ICMP_LIMITED) < limited + BURST &&
	       n < 1000 * BURST) {
		rig_uplink(&p, NULL);
		n++;
	}
	CHECK(n >= 2 * BURST, "%llu pings", n);
	ping(&p, &message, 129, 64);
	rig_mark();
	check_error("an error all the same", &p, SRPOL_REASON_UPPER_LAYER, 4, 4,
		    40);
}

static const struct ktap_test tests[] = {
	{ "errors of RFC 8986, byte by byte", test_errors },
	{ "padding of the link layer", test_padding },
	{ "pings of SIDs", test_ping },
	{ "what is not answered", test_silent },
	{ "how many there may be", test_limit },
	{ "and how many pings beside them", test_budgets },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
