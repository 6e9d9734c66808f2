// SPDX-License-Identifier: GPL-2.0
/*
 * What comes in tells of congestion: CNPs, NAKs, marks; which local QP a flow
 * is; PSNs. Also what becomes of drops: events, and errors of objects.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"
#include "srpol.skel.h"

#define PATH		7
#define POLICY		3
#define REMOTE_QP	100
#define LOCAL_QP	7
#define DT46		1
#define ACK_REQ		(1u << 31)
#define ACK		0x11
#define CNP		0x81
#define SEND_ONLY	0x04

static struct in6_addr sids[4];

static void setup(void)
{
	struct srpol_dp_policy policy = {
		.id = POLICY, .color = 5, .row = 1, .n_buckets = 128,
		.drop_upon_invalid = 1,
	};
	struct outer o = { .sids = sids, .n = 2 };
	struct srpol_dp_rule all = { .id = 1, .color = 5 };

	rig_reset();
	rig_call_u32("path_del", PATH);
	rig_nexthop(1, 1, 1);
	rig_path(PATH, &o, 1, 1500);
	rig_row_one(1, PATH);
	rig_policy(&policy);
	rig_rules(&all, 1);
	rig_sid(DT46, sid(DT46), SRPOL_BEHAVIOR_END_DT46);
	rig_mark();
}

static const char *const hosts[2][2] = {
	{ "10.0.0.1", "10.0.0.2" }, { "fd00::1", "fd00::2" },
};

/* A packet of ours. */
static struct inner sent(bool six, __u8 opcode, __u32 psn)
{
	struct inner in = {
		.src = hosts[six][0], .dst = hosts[six][1], .roce = true,
		.sport = 0xc000, .qp = REMOTE_QP, .opcode = opcode,
		.psn = psn, .payload = 8,
	};

	return in;
}

/* A packet of the peer's. */
static struct inner received(bool six, __u8 opcode, __u32 psn)
{
	struct inner in = {
		.src = hosts[six][1], .dst = hosts[six][0], .roce = true,
		.sport = 0xc001, .qp = LOCAL_QP, .opcode = opcode,
		.psn = psn, .payload = 16,
	};

	return in;
}

static void egress(const struct inner *in)
{
	struct pkt p;

	pkt_inner(&p, in);
	rig_egress(&p, NULL);
}

/* In as it is, or in an SRv6 packet for the local SID. */
static void ingress(const struct inner *in, bool tunnel)
{
	struct in6_addr last = sid(DT46);
	struct outer o = { .sids = &last, .n = 1 };
	struct pkt p, ip = {};

	pkt_inner(&p, in);
	if (tunnel) {
		pkt_inner_ip(&ip, in);
		pkt_encap(&p, &o, ip.b, ip.len);
	}
	CHECK_EQ(rig_uplink(&p, NULL), X_PASS, "in");
}

static struct srpol_flow flow(void)
{
	struct srpol_flow f;

	CHECK(rig_flow_of(REMOTE_QP, &f), "no flow");
	return f;
}

static struct srpol_quality path_quality(void)
{
	struct srpol_quality q = {};
	__u32 id = PATH;

	bpf_map_lookup_elem(rig_map("path_quality"), &id, &q);
	return q;
}

static struct srpol_contention contention(void)
{
	struct srpol_contention c = {};
	__u32 id = POLICY;

	bpf_map_lookup_elem(rig_map("contention"), &id, &c);
	return c;
}

static bool bound(bool six, struct srpol_binding *b)
{
	struct srpol_qp_key key = { .qp = LOCAL_QP };
	struct in6_addr a = addr(hosts[six][0]), peer = addr(hosts[six][1]);

	memcpy(key.local, &a, 16);
	memcpy(key.peer, &peer, 16);
	return !bpf_map_lookup_elem(rig_map("bindings"), &key, b);
}

/* Asked for, answered: from then on CNPs are known to be this flow's. */
static void test_learn(void)
{
	struct srpol_binding b;
	struct inner in;
	int six, tunnel;
	struct pkt p;

	for (six = 0; six < 2; six++) {
		for (tunnel = 0; tunnel < 2; tunnel++) {
			setup();
			in = received(six, CNP, 1);
			ingress(&in, tunnel);
			CHECK_EQ(rig_reason(SRPOL_REASON_UNKNOWN_QP) > 0, 1, "");
			in = sent(six, SEND_ONLY, ACK_REQ | 0xfffffe);
			egress(&in);
			CHECK_EQ(rig_detail(REMOTE_QP).bound, 0, "asked only");
			/* Another PSN is not an answer to it. */
			in = received(six, ACK, 0xfffffd);
			ingress(&in, tunnel);
			CHECK(!bound(six, &b), "another PSN");
			in = received(six, ACK, 0xfffffe);
			ingress(&in, tunnel);
			if (!CHECK(bound(six, &b), "answered"))
				continue;
			CHECK_EQ(b.source, 0, "learnt");
			CHECK_EQ(b.flow.qp, REMOTE_QP, "flow");
			CHECK_EQ(rig_detail(REMOTE_QP).bound, 1, "flow");
			rig_mark();
			in = received(six, CNP, 1);
			ingress(&in, tunnel);
			ingress(&in, tunnel);
			CHECK_EQ(rig_detail(REMOTE_QP).cnp, 2, "flow");
			CHECK_EQ(path_quality().cnp, 2, "path");
			CHECK_EQ(path_quality().level, 2 * SRPOL_LEVEL_UNIT,
				 "level");
			CHECK_EQ(contention().signals, 2, "policy");
			CHECK(contention().last_ns, "policy");
			rig_expect("CNP", SRPOL_REASON_CNP, 2,
				   tunnel ? SRPOL_REASON_DECAP :
					    SRPOL_REASON_NOT_LOCAL,
				   tunnel ? 2 : six ? 2 : 0, RIG_END);
			/* it is for one host, which a bridge may lead to */
			pkt_inner(&p, &in);
			p.b[0] = 1;
			CHECK_EQ(rig_uplink(&p, NULL), X_PASS, "group MAC");
			CHECK_EQ(rig_detail(REMOTE_QP).cnp, 2, "group MAC");
			p.b[0] = 2;
			CHECK_EQ(rig_uplink(&p, NULL), X_PASS, "bridged");
			CHECK_EQ(rig_detail(REMOTE_QP).cnp, 3, "bridged");
		}
	}
}

static unsigned int entries(const char *map)
{
	__u8 key[128], *prev = NULL;
	unsigned int n = 0;

	while (!bpf_map_get_next_key(rig_map(map), prev, key)) {
		prev = key;
		n++;
	}
	return n;
}

static void test_learn_not(void)
{
	struct srpol_binding b;
	struct inner in;

	/* What does not ask, what is not RC, what is an answer itself. */
	setup();
	in = sent(true, SEND_ONLY, 5);
	egress(&in);
	in.opcode = 0x64;
	in.psn = ACK_REQ | 5;
	egress(&in);
	in.opcode = ACK;
	egress(&in);
	in.opcode = 0x0d;
	egress(&in);
	CHECK_EQ(entries("psn_seen"), 0, "offers");
	in = received(true, ACK, 5);
	ingress(&in, false);
	CHECK(!bound(true, &b), "bound");
	/* Two flows with the same PSN: neither. */
	in = sent(true, SEND_ONLY, ACK_REQ | 9);
	egress(&in);
	in.qp++;
	egress(&in);
	in = received(true, ACK, 9);
	ingress(&in, false);
	CHECK(!bound(true, &b), "ambiguous");
	/* The next PSN tells; once bound, it is not offered soon again. */
	in = sent(true, SEND_ONLY, ACK_REQ | 10);
	egress(&in);
	in = received(true, ACK, 10);
	ingress(&in, false);
	CHECK(bound(true, &b), "bound");
	CHECK_EQ(b.flow.qp, REMOTE_QP, "flow");
	CHECK_EQ(entries("psn_seen"), 0, "used up, the ambiguous one too");
	in = sent(true, SEND_ONLY, ACK_REQ | 11);
	egress(&in);
	CHECK_EQ(entries("psn_seen"), 0, "offered though bound");
	rig_reset();
	CHECK_EQ(entries("bindings") + entries("psn_seen"), 0, "reset");
}

/* One packet that asks for an ACK, and the ACK. */
static void ask(__u32 qp, __u32 psn, bool answer)
{
	struct inner in = sent(true, SEND_ONLY, ACK_REQ | psn);

	in.qp = qp;
	egress(&in);
	in = received(true, ACK, psn);
	if (answer)
		ingress(&in, false);
}

/*
 * A local QP goes and its number is used again, for another remote QP; or an
 * answer was forged. The next answer that fits puts it right.
 */
static void test_heal(void)
{
	struct srpol_binding b;
	struct inner in;
	__u32 i;

	setup();
	ask(REMOTE_QP, 5, true);
	CHECK(bound(true, &b) && b.flow.qp == REMOTE_QP, "bound");
	for (i = 0; i < 50; i++)
		ask(REMOTE_QP + 1, 1000 + i, true);
	CHECK(bound(true, &b) && b.flow.qp == REMOTE_QP + 1, "bound anew");
	in = received(true, CNP, 0);
	for (i = 0; i < 50; i++)
		ingress(&in, false);
	CHECK_EQ(rig_detail(REMOTE_QP + 1).bound, 1, "new flow");
	CHECK_EQ(rig_detail(REMOTE_QP + 1).cnp, 50, "new flow");
	CHECK_EQ(rig_detail(REMOTE_QP).bound, 0, "old flow");
	CHECK_EQ(rig_detail(REMOTE_QP).cnp, 0, "old flow");

	/* Forged: said to be of another local QP. It asks again in a while. */
	setup();
	ask(REMOTE_QP, 5, false);
	in = received(true, ACK, 5);
	in.qp = LOCAL_QP + 1;
	ingress(&in, false);
	CHECK(!bound(true, &b), "the real one");
	for (i = 0; i < 60 && !bound(true, &b); i++) {
		usleep(100000);
		ask(REMOTE_QP, 6 + i, true);
	}
	CHECK(bound(true, &b) && b.flow.qp == REMOTE_QP, "healed");
}

/* A flow whose answers do not come by here is not offered for ever. */
static void test_no_answer(void)
{
	__u32 i, n;

	setup();
	for (i = 0; i < 2000; i++)
		ask(REMOTE_QP, i, false);
	n = entries("psn_seen");
	CHECK(n >= 8 && n < 200, "%u offers of 2000 packets", n);
}

/* C.9.4: only syndrome 0x60 is a PSN sequence error. */
static void test_nak(void)
{
	struct inner in;
	__u32 s;

	setup();
	in = sent(true, SEND_ONLY, ACK_REQ | 1);
	egress(&in);
	in = received(true, ACK, 1);
	ingress(&in, false);
	rig_mark();
	for (s = 1; s < 256; s++) {
		in.syndrome = s;
		ingress(&in, false);
	}
	CHECK_EQ(rig_detail(REMOTE_QP).nak, 1, "flow");
	CHECK_EQ(rig_detail(REMOTE_QP).cnp, 0, "flow");
	CHECK_EQ(path_quality().nak, 1, "path");
	CHECK_EQ(path_quality().level, SRPOL_LEVEL_UNIT, "level");
	CHECK_EQ(contention().signals, 0, "policy");
	rig_expect("NAK", SRPOL_REASON_NAK, 1, SRPOL_REASON_NOT_LOCAL, 255,
		   RIG_END);
	/* A NAK of a QP nobody knows. */
	in.qp = 999;
	in.syndrome = 0x60;
	in.psn = 77;
	ingress(&in, false);
	rig_expect("unbound", SRPOL_REASON_NAK, 1, SRPOL_REASON_UNKNOWN_QP, 1,
		   SRPOL_REASON_NOT_LOCAL, 1, RIG_END);
}

/* Serial numbers of 24 bits; responses count on another's behalf. */
static void test_psn_sent(void)
{
	static const struct { __u8 op; __u32 psn, next, again; } t[] = {
		{ 6, 0xfffffe, 0xffffff, 0 },
		{ 7, 0xffffff, 0, 0 },
		{ 7, 0, 1, 0 },
		{ 8, 1, 2, 0 },
		{ 7, 0xffffff, 2, 1 },	/* from before the wrap */
		{ 7, 0, 2, 2 },
		{ 7, 5, 6, 2 },		/* a READ took some */
		{ ACK, 0x800000, 6, 2 },
		{ 0x0f, 0x700000, 6, 2 },
		{ CNP, 1, 6, 2 },
		{ 7, 5, 6, 3 },
	};
	struct inner in;
	__u32 i;

	setup();
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		in = sent(false, t[i].op, t[i].psn | (t[i].psn ? 0 : 1u << 24));
		egress(&in);
		CHECK_EQ(flow().psn_next, t[i].next, "step %u", i);
		CHECK_EQ(rig_detail(REMOTE_QP).retransmits, t[i].again,
			 "step %u", i);
	}
}

static void test_rx(void)
{
	static const __u32 psns[] = {
		0xfffffe, 0xffffff, 1u << 24, 1, 4, 2, 3, 5, 5, 20,
	};
	struct srpol_qp_key key = { .qp = LOCAL_QP };
	struct srpol_dp_config cfg = { .psn_observer = 1 };
	struct srpol_rx_flow f;
	struct in6_addr a;
	struct inner in;
	int six, tunnel;
	__u32 i;

	for (six = 0; six < 2; six++) {
		a = addr(hosts[six][0]);
		memcpy(key.local, &a, 16);
		a = addr(hosts[six][1]);
		memcpy(key.peer, &a, 16);
		for (tunnel = 0; tunnel < 2; tunnel++) {
			setup();
			in = received(six, 7, 1);
			ingress(&in, tunnel);
			CHECK_EQ(entries("rx_flows"), 0, "off");
			rig_config(cfg);
			for (i = 0; i < sizeof(psns) / 4; i++) {
				in = received(six, 7, psns[i]);
				ingress(&in, tunnel);
			}
			/* Answers are of another count. */
			in = received(six, ACK, 0x654321);
			ingress(&in, tunnel);
			in = received(six, CNP, 0x654321);
			ingress(&in, tunnel);
			CHECK(!bpf_map_lookup_elem(rig_map("rx_flows"), &key,
						   &f), "no entry");
			CHECK_EQ(f.packets, 10, "packets");
			CHECK_EQ(f.reordered, 3, "reordered");
			CHECK_EQ(f.gaps, 2, "gaps");
			CHECK_EQ(f.max_gap, 14, "max gap");
			CHECK_EQ(f.psn_next, 21, "next");
		}
	}
}

/* --- congestion marks on outer headers --- */

/* srpol_maps.h: each word in turn, by lookup3's final step. */
static __u32 rol(__u32 v, int n)
{
	return v << n | v >> (32 - n);
}

static __u32 hash2(__u32 x, __u32 y)
{
	__u32 a = 0xdeadbeef + 8 + x, b = 0xdeadbeef + 8 + y;
	__u32 c = 0xdeadbeef + 8;

	c ^= b; c -= rol(b, 14);
	a ^= c; a -= rol(c, 11);
	b ^= a; b -= rol(a, 25);
	c ^= b; c -= rol(b, 16);
	a ^= c; a -= rol(c, 4);
	b ^= a; b -= rol(a, 14);
	c ^= b; c -= rol(b, 24);
	return c;
}

static __u32 list_hash(const struct in6_addr *list, unsigned int n)
{
	__u32 h = 0, i, w;

	/* Element 0 of the SRH is the last SID. */
	while (n--)
		for (i = 0; i < 4; i++) {
			memcpy(&w, list[n].s6_addr + 4 * i, 4);
			h = hash2(h, w);
		}
	return h;
}

static __u64 ce_of(__u32 path, __u32 list)
{
	struct srpol_ce_key key = { .path = path, .list = list };
	struct in6_addr peer = addr("fc00:99::1");
	struct srpol_ce v = {};

	memcpy(key.peer, &peer, 16);
	bpf_map_lookup_elem(rig_map("ce_peers"), &key, &v);
	CHECK(!v.ce == !v.last_ns, "time");
	return v.ce;
}

static void test_outer_ce(void)
{
	static const __u8 timestamp[16] = { 124, 14, 0x02, 0x09 };
	struct in6_addr list[3] = { sid(8), sid(9), sid(DT46) };
	struct srpol_dp_config cfg = {};
	struct outer o = {
		.sids = list, .n = 3, .full = true, .travelled = 2,
		.tag = 0x123, .label = 0x88 << 6 | 5, .tclass = 2 << 2,
	};
	struct inner in = { .src = "fd00::2", .dst = "fd00::1", .tclass = 2 };
	__u32 whole = list_hash(list, 3), ecn;
	struct pkt p, ip = {};

	setup();
	pkt_inner_ip(&ip, &in);
	for (ecn = 0; ecn < 3; ecn++) {
		o.tclass = 2 << 2 | ecn;
		pkt_encap(&p, &o, ip.b, ip.len);
		rig_uplink(&p, NULL);
	}
	CHECK_EQ(entries("ce_peers"), 0, "not marked");
	o.tclass = 2 << 2 | 3;
	pkt_encap(&p, &o, ip.b, ip.len);
	rig_mark();
	rig_uplink(&p, NULL);
	rig_uplink(&p, NULL);
	CHECK_EQ(ce_of(0, whole), 2, "path not known");
	rig_expect("CE", SRPOL_REASON_DECAP, 2, SRPOL_REASON_ECN_CE, 2,
		   SRPOL_REASON_OUTER_CE, 2, RIG_END);
	cfg.path_id = SRPOL_PATH_ID_TAG;
	rig_config(cfg);
	rig_uplink(&p, NULL);
	CHECK_EQ(ce_of(0x123, whole), 1, "tag");
	cfg.path_id = SRPOL_PATH_ID_LABEL;
	rig_config(cfg);
	rig_uplink(&p, NULL);
	CHECK_EQ(ce_of(0x88, whole), 1, "label");
	/* Reduced: the first SID is not in the list. */
	o.full = false;
	pkt_encap(&p, &o, ip.b, ip.len);
	rig_uplink(&p, NULL);
	CHECK_EQ(ce_of(0x88, list_hash(list + 1, 2)), 1, "reduced");
	/* The timestamp says it better; as the last TLV only. */
	o.tlv = timestamp;
	o.tlv_len = 16;
	pkt_encap(&p, &o, ip.b, ip.len);
	rig_uplink(&p, NULL);
	CHECK_EQ(ce_of(0x209, list_hash(list + 1, 2)), 1, "timestamp");
	p.b[54 + 8 + 32] = 5;
	rig_uplink(&p, NULL);
	CHECK_EQ(ce_of(0x88, list_hash(list + 1, 2)), 2, "another TLV");
	p.b[54 + 8 + 32] = 124;
	p.b[54 + 8 + 32 + 1] = 6;
	rig_uplink(&p, NULL);
	CHECK_EQ(ce_of(0x88, list_hash(list + 1, 2)), 3, "another length");
	o.sids = list + 2;
	o.n = 1;
	o.travelled = 0;
	o.tlv_len = 0;
	pkt_encap(&p, &o, ip.b, ip.len);
	rig_uplink(&p, NULL);
	CHECK_EQ(ce_of(0x88, 0), 1, "no SRH");
	CHECK_EQ(entries("ce_peers"), 6, "entries");
}

/* --- drops --- */

static struct srpol_drop_event events[256];
static unsigned int n_events;

static int take_event(void *ctx, void *data, size_t size)
{
	(void)ctx;
	CHECK_EQ(size, sizeof(events[0]), "size");
	if (n_events < 256)
		memcpy(&events[n_events], data, sizeof(events[0]));
	n_events++;
	return 0;
}

static void check_event(__u32 i, __u32 reason, __u32 id, const char *src,
			const char *dst, __u32 len)
{
	struct in6_addr s = addr(src), d = addr(dst);

	CHECK_EQ(events[i].reason, reason, "event %u", i);
	CHECK_EQ(events[i].id, id, "event %u", i);
	CHECK_EQ(events[i].len, len, "event %u", i);
	CHECK_EQ(events[i].ifindex, 1, "event %u", i);
	CHECK(!memcmp(events[i].saddr, &s, 16), "source of %u", i);
	CHECK(!memcmp(events[i].daddr, &d, 16), "destination of %u", i);
	CHECK(events[i].ns, "time of %u", i);
}

static void test_drops(void)
{
	struct srpol_dp_config cfg = { .drop_events = 1000000 };
	struct in6_addr last = sid(DT46);
	struct outer o = { .sids = &last, .n = 1 };
	struct inner in = sent(false, SEND_ONLY, 1);
	struct ring_buffer *rb;
	struct pkt p, ip = {}, srv6;
	__u32 i;

	setup();
	rb = ring_buffer__new(rig_map("drops"), take_event, NULL, NULL);
	if (!CHECK(rb, "ring buffer"))
		return;
	ring_buffer__consume(rb);
	n_events = 0;
	pkt_inner(&p, &in);
	rig_path_state(PATH, 0);
	rig_egress(&p, NULL);
	ring_buffer__consume(rb);
	CHECK_EQ(n_events, 0, "none are wanted");
	rig_config(cfg);
	rig_egress(&p, NULL);			/* INVALID_DROP */
	rig_port(&p, NULL);			/* the same at a port */
	rig_path_state(PATH, 1);
	in.payload = 1500;
	pkt_inner(&p, &in);
	rig_egress(&p, NULL);			/* TOO_BIG */
	pkt_inner_ip(&ip, &in);
	pkt_encap(&srv6, &o, ip.b, ip.len);
	srv6.b[20] = IPPROTO_UDP;
	rig_uplink(&srv6, NULL);		/* UPPER_LAYER */
	in = sent(true, SEND_ONLY, 1);
	in.dst = "fc00:0:1::";
	pkt_inner(&srv6, &in);
	rig_port(&srv6, NULL);			/* SID_FROM_PORT */
	ring_buffer__consume(rb);
	CHECK_EQ(n_events, 5, "events");
	check_event(0, SRPOL_REASON_INVALID_DROP, POLICY, "10.0.0.1", "10.0.0.2",
		    52);
	check_event(1, SRPOL_REASON_INVALID_DROP, POLICY, "10.0.0.1", "10.0.0.2",
		    52);
	check_event(2, SRPOL_REASON_TOO_BIG, PATH, "10.0.0.1", "10.0.0.2",
		    1544);
	check_event(3, SRPOL_REASON_UPPER_LAYER, DT46, "fc00:99::1",
		    "fc00:0:1::", 1584);
	check_event(4, SRPOL_REASON_SID_FROM_PORT, 0, "fd00::1", "fc00:0:1::",
		    72);
	/* Errors of each object. */
	CHECK_EQ(rig_error(SRPOL_ERROR_POLICY, SRPOL_REASON_INVALID_DROP, POLICY),
		 3, "policy");
	CHECK_EQ(rig_error(SRPOL_ERROR_PATH, SRPOL_REASON_TOO_BIG, PATH), 1,
		 "path");
	CHECK_EQ(rig_error(SRPOL_ERROR_SID, SRPOL_REASON_UPPER_LAYER, DT46), 1,
		 "SID");
	/* So many a second and no more; every drop is counted all the same. */
	cfg.drop_events = 10;
	rig_config(cfg);
	rig_path_state(PATH, 0);
	sleep(1);
	n_events = 0;
	in = sent(false, SEND_ONLY, 1);
	pkt_inner(&p, &in);
	rig_mark();
	for (i = 0; i < 3000; i++)
		CHECK_EQ(rig_egress(&p, NULL), TC_DROP, "dropped");
	rig_expect("counted", SRPOL_REASON_INVALID_DROP, 3000, RIG_END);
	ring_buffer__consume(rb);
	CHECK(n_events >= 10 && n_events <= 10 * 2 * 20,
	      "%u events, 10 a second and processor", n_events);
	/* A buffer nobody reads does not stop anything. */
	cfg.drop_events = 1000000;
	rig_config(cfg);
	for (i = 0; i < 6000; i++)
		CHECK_EQ(rig_egress(&p, NULL), TC_DROP, "full");
	rig_expect("full", SRPOL_REASON_INVALID_DROP, 6000, RIG_END);
	ring_buffer__free(rb);
}

/* The rest of what is counted by object. */
static void test_errors(void)
{
	struct srpol_dp_policy p = {
		.id = POLICY, .color = 5, .row = 1, .n_buckets = 128,
		.backup = 4,
	}, backup = { .id = 4, .color = 6, .row = 2, .n_buckets = 128 };
	struct outer o = { .sids = sids, .n = 2 };
	struct inner in = sent(true, SEND_ONLY, 1);
	__u32 i;

	setup();
	rig_path(8, &o, 1, 1500);
	rig_path(9, &o, 1, 1500);
	rig_row_one(2, 9);
	rig_policy(&backup);
	rig_policy(&p);
	rig_path_state(PATH, 0);
	egress(&in);
	CHECK_EQ(rig_error(SRPOL_ERROR_POLICY, SRPOL_REASON_BACKUP, POLICY), 1,
		 "backup");
	rig_path_state(9, 0);
	egress(&in);
	CHECK_EQ(rig_error(SRPOL_ERROR_POLICY, SRPOL_REASON_INVALID_PASSTHROUGH,
			   POLICY), 1, "passthrough");
	/* A row of both: its own path dead. */
	struct srpol_dp_row r = { .row = 3 };

	for (i = 0; i < SRPOL_ROW_BUCKETS; i++)
		r.path[i] = i == 64 ? 8 : PATH;
	rig_call("row_set", &r, sizeof(r));
	p.row = 3;
	rig_policy(&p);
	egress(&in);
	CHECK_EQ(rig_error(SRPOL_ERROR_POLICY, SRPOL_REASON_DOWN_SKIPPED,
			   POLICY), 1, "skipped");
	/* A new object starts at 0. */
	rig_call("policy_hide", &p, sizeof(p));
	rig_commit(true);
	rig_call("policy_del", &p, sizeof(p));
	rig_policy(&p);
	CHECK_EQ(rig_error(SRPOL_ERROR_POLICY, SRPOL_REASON_BACKUP, POLICY), 0,
		 "new");
}

static const struct ktap_test tests[] = {
	{ "a QP that is used again, a forged answer", test_heal },
	{ "a flow that is never answered", test_no_answer },
	{ "QPs are learnt, CNPs counted", test_learn },
	{ "what nothing is learnt from", test_learn_not },
	{ "NAKs", test_nak },
	{ "PSNs sent", test_psn_sent },
	{ "PSNs received", test_rx },
	{ "marks on outer headers", test_outer_ce },
	{ "drop events", test_drops },
	{ "errors of objects", test_errors },
};

int main(void)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		sids[i] = sid(0x100 + i);
	rig_open();
	return ktap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
