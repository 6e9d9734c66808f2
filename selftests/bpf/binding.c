// SPDX-License-Identifier: GPL-2.0
/*
 * Binding SIDs: RFC 8986 4.13, End.B6.Encaps, and 4.14, End.B6.Encaps.Red, byte
 * by byte, and that a packet takes the path there that a steered one takes.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define LO		1
#define ELSEWHERE	77
#define MTU		1500
#define BSID		1
#define POLICY		1
#define BACKUP		2
#define PATHS		4
#define HEADERS		(14 + 40)

static const struct inner v4 = {
	.src = "10.0.0.1", .dst = "10.0.0.2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .opcode = 4, .pkey = 0xffff, .tclass = 0x02, .payload = 64,
};

static const struct inner v6 = {
	.src = "fd00::1", .dst = "fd00::2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .opcode = 10, .pkey = 0xffff, .tclass = 0x02,
	.label = 0x12345, .payload = 64,
};

/* What the policy's paths put around a packet. */
static struct in6_addr list[SRPOL_SEGS_MAX];
static struct outer around = { .src = "fc00:99::1", .sids = list };

/* What came: the binding SID is the second of three. */
static struct in6_addr travel[3];
static struct outer came = { .sids = travel, .n = 3, .travelled = 1 };

static struct srpol_dp_policy policy = {
	.id = POLICY, .color = 1, .row = 1, .n_buckets = 128,
};

static __u32 by_bucket(__u32 bucket, const void *arg)
{
	const __u32 *paths = arg;

	return 1 + bucket % *paths;
}

static void bind_sid(__u32 id, struct in6_addr a, __u32 to)
{
	struct srpol_dp_sid s = {
		.id = id, .behavior = SRPOL_BEHAVIOR_END_B6_ENCAPS,
		.prefix_len = 128, .policy = to,
	};

	memcpy(s.sid, &a, 16);
	rig_sid_set(&s);
}

/* @n SIDs in the lists of four paths, which differ in the flow label only. */
static void setup(unsigned int n, bool full)
{
	struct srpol_dp_config cfg = { .flow_label = SRPOL_FLOW_LABEL_ZERO };
	struct srpol_dp_rule all = { .color = 1, .mode = SRPOL_MODE_INHERIT };
	static const __u32 paths = PATHS;
	__u32 i;

	for (i = 0; i < n; i++)
		list[i] = sid(0x200 + i);
	around.n = n;
	around.full = full;
	travel[0] = sid(0x100);
	travel[1] = sid(BSID);
	travel[2] = sid(0x102);
	came = (struct outer){ .sids = travel, .n = 3, .travelled = 1 };
	rig_reset();
	rig_config(cfg);
	rig_uplinks_clear();
	rig_uplink_add(LO);
	rig_nexthop(1, LO, 1);
	for (i = 1; i <= PATHS; i++)
		rig_path(i, &around, 1, MTU);
	rig_row(1, by_bucket, &paths);
	rig_policy(&policy);
	rig_rules(&all, 1);
	bind_sid(BSID, sid(BSID), POLICY);
	rig_mark();
}

static void encap(struct pkt *p, const struct outer *o, const struct inner *in)
{
	struct pkt ip = {};

	pkt_inner_ip(&ip, in);
	pkt_encap(p, o, ip.b, ip.len);
}

/* S12 to S18: what is to become of a packet that @came. */
static void want_encaps(struct pkt *want, const struct inner *in)
{
	struct outer next = came;
	struct pkt mid;

	next.travelled++;
	next.hop_limit = (came.hop_limit ?: 64) - 1;
	encap(&mid, &next, in);
	around.tclass = came.tclass;
	pkt_encap(want, &around, mid.b + 14, mid.len - 14);
	around.tclass = 0;
}

static void check_encaps(const char *about, const struct inner *in)
{
	struct pkt p, out, want;

	encap(&p, &came, in);
	want_encaps(&want, in);
	CHECK_EQ(rig_uplink(&p, &out), X_REDIRECT, "%s", about);
	CHECK(pkt_equal(&out, &want), "%s", about);
	rig_expect(about, SRPOL_REASON_STEERED, 1, SRPOL_REASON_END_B6, 1,
		   RIG_END);
}

static void check_drop(const char *about, const struct pkt *p, int reason)
{
	__u64 errors = rig_error(SRPOL_ERROR_SID, reason, BSID);

	CHECK_EQ(rig_uplink(p, NULL), X_DROP, "%s", about);
	rig_expect(about, reason, 1, RIG_END);
	CHECK_EQ(rig_error(SRPOL_ERROR_SID, reason, BSID), errors + 1,
		 "%s: error of the SID", about);
}

static void test_encaps(void)
{
	static const __u8 tlv[8] = { 4, 6 };
	__u32 n, full;

	for (n = 1; n <= 6; n++) {
		for (full = 0; full < 2; full++) {
			setup(n, full);
			check_encaps("IPv4", &v4);
			check_encaps("IPv6", &v6);
			came.hop_limit = 2;
			came.full = true;
			check_encaps("full SRH, hop limit 2", &v6);
			came.travelled = 0;
			travel[0] = sid(BSID);
			travel[1] = sid(0x101);
			came.tlv = tlv;
			came.tlv_len = sizeof(tlv);
			came.tclass = 0xb9;
			check_encaps("first of three, TLV, DSCP, ECT", &v4);
			CHECK_EQ(rig_sid_stats(BSID).packets, 4, "counted");
			CHECK_EQ(rig_counter("policy_stats", POLICY).packets,
				 4, "policy");
		}
	}
}

/* The room that a driver leaves in front of a packet. */
static void test_longest(void)
{
	struct pkt p;

	setup(10, true);
	encap(&p, &came, &v6);
	check_encaps("10 SIDs", &v6);
	setup(11, true);
	check_drop("11 SIDs", &p, SRPOL_REASON_NO_HEADROOM);
	setup(11, false);
	check_encaps("11 SIDs, reduced", &v6);
}

/* RFC 8986 4.13 S02: nothing else is for a binding SID. */
static void test_not(void)
{
	struct pkt p;

	setup(3, false);
	came.travelled = 2;
	travel[2] = sid(BSID);
	encap(&p, &came, &v6);
	check_drop("no segment left", &p, SRPOL_REASON_NO_SEGMENTS_LEFT);
	came = (struct outer){ .sids = travel + 2, .n = 1 };
	encap(&p, &came, &v6);
	check_drop("no SRH", &p, SRPOL_REASON_UPPER_LAYER);
	setup(3, false);
	came.hop_limit = 1;
	encap(&p, &came, &v6);
	check_drop("hop limit", &p, SRPOL_REASON_HOP_LIMIT);
	came.hop_limit = 64;
	travel[2] = addr("ff02::1");
	encap(&p, &came, &v6);
	check_drop("next segment", &p, SRPOL_REASON_BAD_NEXT);
	setup(3, false);
	rig_uplinks_clear();
	encap(&p, &came, &v6);
	check_drop("no uplink", &p, SRPOL_REASON_NO_UPLINK);
}

/* RFC 8754 5.1 */
static void test_domain(void)
{
	struct srpol_dp_config cfg = { .flow_label = SRPOL_FLOW_LABEL_ZERO,
				       .n_domain = 1 };
	struct in6_addr a = addr("fc00::");
	struct pkt p;

	setup(3, false);
	memcpy(cfg.domain[0].prefix, &a, 16);
	memset(cfg.domain[0].mask, 0xff, 2);
	rig_config(cfg);
	came.src = "2001:db8::1";
	encap(&p, &came, &v6);
	check_drop("outside", &p, SRPOL_REASON_BAD_SOURCE);
	came.src = "fc00:98::1";
	check_encaps("inside", &v6);
}

/* Path of the last packet: its counter has one more than in @before. */
static __u32 taken(const __u64 *before)
{
	__u32 i;

	for (i = 1; i <= PATHS; i++)
		if (rig_counter("path_stats", i).packets != before[i])
			return i;
	return 0;
}

static void counters(__u64 *n)
{
	__u32 i;

	for (i = 1; i <= PATHS; i++)
		n[i] = rig_counter("path_stats", i).packets;
}

/* The same inner packet, once steered and once at the binding SID. */
static void test_selection(void)
{
	static const struct { __u32 mode, flags; } modes[] = {
		{ SRPOL_LB_MODE_HASH, 0 },
		{ SRPOL_LB_MODE_HASH, SRPOL_POLICY_SYMMETRIC },
		{ SRPOL_LB_MODE_ACTIVE_BACKUP, 0 },
	};
	__u64 before[PATHS + 1];
	__u32 m, i, path, seen;
	struct inner in;
	struct pkt p;

	for (m = 0; m < ARRAY_SIZE(modes); m++) {
		policy.mode = modes[m].mode;
		policy.flags = modes[m].flags;
		setup(3, false);
		seen = 0;
		for (i = 0; i < 32; i++) {
			in = i % 2 ? v6 : v4;
			in.qp = 0x100 + i / 2;
			in.sport = 0xc000 + i;
			pkt_inner(&p, &in);
			counters(before);
			rig_egress(&p, NULL);
			path = taken(before);
			encap(&p, &came, &in);
			counters(before);
			CHECK_EQ(rig_uplink(&p, NULL), X_REDIRECT, "%u", i);
			CHECK_EQ(taken(before), path, "mode %u, QP %x",
				 modes[m].mode, in.qp);
			seen |= 1u << path;
		}
		CHECK_EQ(seen, policy.mode == SRPOL_LB_MODE_ACTIVE_BACKUP ?
			 2 : 0x1e, "paths, mode %u", modes[m].mode);
		CHECK_EQ(rig_flows(NULL), 64, "flows of their own");
	}
	policy.mode = SRPOL_LB_MODE_HASH;
	policy.flags = 0;
}

/* Modes that draw their paths: a flow stays where it is. */
static void test_stay(void)
{
	static const __u32 modes[] = {
		SRPOL_LB_MODE_FLOWLET, SRPOL_LB_MODE_ADAPTIVE,
	};
	__u64 before[PATHS + 1];
	struct inner in = v6;
	__u32 m, i, n, path;
	struct pkt p;

	for (m = 0; m < ARRAY_SIZE(modes); m++) {
		policy.mode = modes[m];
		policy.flowlet_timeout_ns = 1000000000;
		policy.threshold = 3;
		policy.dwell_time_ms = 100;
		setup(3, false);
		for (i = 0; i < 16; i++) {
			in.qp = 0x100 + i;
			encap(&p, &came, &in);
			counters(before);
			rig_uplink(&p, NULL);
			path = taken(before);
			for (n = 0; n < 4; n++) {
				counters(before);
				rig_uplink(&p, NULL);
				CHECK_EQ(taken(before), path, "mode %u",
					 modes[m]);
			}
		}
	}
	policy.mode = SRPOL_LB_MODE_HASH;
}

/* Where no inner packet can be read the flow label tells flows apart. */
static void test_label(void)
{
	__u64 before[PATHS + 1];
	__u32 i, seen = 0, path, again;
	struct pkt p;

	setup(3, false);
	for (i = 0; i < 64; i++) {
		came.label = i * 0x2345 & 0xfffff;
		encap(&p, &came, &v6);
		p.b[HEADERS] = IPPROTO_UDP;
		counters(before);
		CHECK_EQ(rig_uplink(&p, NULL), X_REDIRECT, "%u", i);
		path = taken(before);
		seen |= 1u << path;
		counters(before);
		rig_uplink(&p, NULL);
		again = taken(before);
		CHECK_EQ(again, path, "label %x", came.label);
	}
	CHECK_EQ(seen, 0x1e, "paths");
	CHECK_EQ(rig_flows(NULL), 64, "flows");
}

/* What was read of the packet before says nothing of one that cannot be read. */
static void test_no_traces(void)
{
	__u64 before[PATHS + 1];
	__u32 path[64], i, round, flows;
	struct inner other = v4;
	struct pkt p, plain;

	other.roce = false;
	for (round = 0; round < 2; round++) {
		setup(3, false);
		for (i = 0; i < ARRAY_SIZE(path); i++) {
			other.dport = 1000 + 77 * i;
			other.more = i % 2;
			encap(&p, &came, &other);
			if (round)
				rig_uplink(&p, NULL);
			came.label = i * 0x2345 & 0xfffff;
			encap(&p, &came, &v6);
			p.b[HEADERS] = IPPROTO_UDP;
			counters(before);
			rig_uplink(&p, NULL);
			if (!round)
				path[i] = taken(before);
			CHECK_EQ(taken(before), path[i], "label %x",
				 came.label);
			/* the same flow again, after one of another sort */
			encap(&plain, &came, &v6);
			rig_uplink(&plain, NULL);
			flows = rig_flows(NULL);
			rig_uplink(&p, NULL);
			CHECK_EQ(rig_flows(NULL), flows, "label %x",
				 came.label);
		}
	}
}

/* Of two that interrupt each other each has memory of its own. */
static void test_memory(void)
{
	int cpus = libbpf_num_possible_cpus(), fd = rig_map("binding_pkt"), i;
	struct bpf_map_info info = {};
	__u32 len = sizeof(info), at, size;
	struct pkt p;
	char *values;

	setup(3, false);
	encap(&p, &came, &v6);
	for (i = 0; i < 3; i++)
		rig_uplink(&p, NULL);
	CHECK_EQ(bpf_map_get_info_by_fd(fd, &info, &len), 0, "map");
	size = (info.value_size + 7) / 8 * 8;
	values = calloc(cpus, size);
	for (at = 0; at < 2; at++) {
		CHECK_EQ(bpf_map_lookup_elem(fd, &at, values), 0, "%u", at);
		for (i = 0; i < cpus; i++)
			CHECK_EQ(*(__u32 *)(values + i * size +
					    info.value_size - 8), 0,
				 "%u is given back", at);
	}
	free(values);
}

/* The outer flow label is made as for steered packets. */
static void test_outer_label(void)
{
	struct srpol_dp_config cfg = {};
	struct pkt p, out, steered;

	setup(3, false);
	rig_config(cfg);
	pkt_inner(&p, &v6);
	rig_egress(&p, &steered);
	came.tclass = v6.tclass;
	encap(&p, &came, &v6);
	rig_uplink(&p, &out);
	CHECK(out.b[15] & 15 || out.b[16] || out.b[17], "label");
	CHECK(!memcmp(out.b + 14, steered.b + 14, 4), "label of the flow");
	cfg.flow_label = SRPOL_FLOW_LABEL_INHERIT;
	rig_config(cfg);
	came.label = 0x54321;
	encap(&p, &came, &v6);
	rig_uplink(&p, &out);
	CHECK_EQ(out.b[15] << 16 | out.b[16] << 8 | out.b[17], 0x254321,
		 "inherited from the header that came");
}

/* As for steered packets: another path, the backup, then what the policy says. */
static void test_down(void)
{
	struct srpol_dp_policy backup = {
		.id = BACKUP, .color = 2, .row = 2, .n_buckets = 128,
	};
	struct srpol_dp_policy other = policy;
	struct pkt p, out, want;
	__u32 i;

	setup(3, false);
	encap(&p, &came, &v6);
	rig_uplink(&p, NULL);
	for (i = 1; i <= PATHS; i++)
		rig_path_state(i, i == PATHS);
	rig_mark();
	CHECK_EQ(rig_uplink(&p, NULL), X_REDIRECT, "one left");
	rig_expect("one left", SRPOL_REASON_STEERED, 1, SRPOL_REASON_END_B6, 1,
		   SRPOL_REASON_DOWN_SKIPPED, 1, RIG_END);

	/* Passed through: on to the next segment, as at End. */
	rig_path_state(PATHS, 0);
	rig_mark();
	came.travelled++;
	encap(&want, &came, &v6);
	came.travelled--;
	CHECK_EQ(rig_uplink(&p, &out), X_PASS, "passed through");
	CHECK(pkt_equal(&out, &want), "passed through");
	rig_expect("passed through", SRPOL_REASON_INVALID_PASSTHROUGH, 1,
		   SRPOL_REASON_END, 1, RIG_END);

	other.drop_upon_invalid = 1;
	rig_policy(&other);
	rig_mark();
	check_drop("drop-upon-invalid", &p, SRPOL_REASON_INVALID_DROP);
	CHECK_EQ(rig_error(SRPOL_ERROR_POLICY, SRPOL_REASON_INVALID_DROP,
			   POLICY), 1, "error of the policy");

	other.backup = BACKUP;
	rig_path(PATHS + 1, &around, 1, MTU);
	rig_row_one(2, PATHS + 1);
	rig_policy(&backup);
	rig_policy(&other);
	rig_mark();
	want_encaps(&want, &v6);
	CHECK_EQ(rig_uplink(&p, &out), X_REDIRECT, "backup");
	CHECK(pkt_equal(&out, &want), "backup");
	rig_expect("backup", SRPOL_REASON_BACKUP, 1, SRPOL_REASON_STEERED, 1,
		   SRPOL_REASON_END_B6, 1, RIG_END);

	other.mode = SRPOL_LB_MODE_ON_CONGESTION;
	rig_policy(&other);
	rig_mark();
	CHECK_EQ(rig_uplink(&p, NULL), X_PASS, "no contention");
	rig_expect("no contention", SRPOL_REASON_NOT_CONGESTED, 1,
		   SRPOL_REASON_END, 1, RIG_END);
}

/* RFC 4443 3.2: with the MTU that is left for what came, to its outer source. */
static void test_too_big(void)
{
	struct srpol_dp_config cfg = { .icmp_errors = 1,
				       .flow_label = SRPOL_FLOW_LABEL_ZERO };
	struct inner in = v6;
	struct pkt p, out;
	__u32 over, i;

	setup(3, false);
	rig_config(cfg);
	encap(&p, &came, &in);
	in.payload += MTU - 80 - (p.len - 14);
	rig_mark();
	check_encaps("just fits", &in);
	for (over = 1; over < 300; over += 100) {
		in.payload += over;
		encap(&p, &came, &in);
		CHECK_EQ(rig_uplink(&p, &out), X_REDIRECT, "%u too many", over);
		rig_expect("too big", SRPOL_REASON_TOO_BIG, 1,
			   SRPOL_REASON_ICMP_ENDPOINT, 1, RIG_END);
		in.payload -= over;
		CHECK_EQ(out.len, 14 + 1280, "length");
		CHECK(!memcmp(out.b, p.b + 6, 6) && !memcmp(out.b + 6, p.b, 6),
		      "addresses of the frame");
		CHECK(!memcmp(out.b + 14 + 24, p.b + 14 + 8, 16), "to");
		CHECK(!memcmp(out.b + 14 + 8, p.b + 14 + 24, 16), "from");
		CHECK_EQ(out.b[54] << 8 | out.b[55], 2 << 8, "type and code");
		CHECK_EQ(out.b[60] << 8 | out.b[61], MTU - 80, "MTU");
		CHECK(!memcmp(out.b + 62, p.b + 14, 1232), "quoted as it came");
		CHECK_EQ(csum_fold(csum_add(1240 + 58, out.b + 14 + 8,
					    32 + 1240)), 0, "checksum");
	}
	/* RFC 8200 5: no link has less */
	for (i = 1; i <= PATHS; i++)
		rig_path(i, &around, 1, 1300);
	encap(&p, &came, &in);
	rig_uplink(&p, &out);
	CHECK_EQ(out.b[60] << 8 | out.b[61], 1280, "the least MTU");
	cfg.icmp_errors = 0;
	rig_config(cfg);
	rig_mark();
	check_drop("no errors", &p, SRPOL_REASON_TOO_BIG);
}

/* Another policy behind the SID, another SID for the policy, none. */
static void test_change(void)
{
	struct srpol_dp_policy other = {
		.id = BACKUP, .color = 2, .row = 2, .n_buckets = 128,
	};
	struct srpol_dp_sid s = { .id = BSID, .prefix_len = 128 };
	struct in6_addr a = sid(BSID);
	struct pkt p;

	setup(3, false);
	rig_path(PATHS + 1, &around, 1, MTU);
	rig_row_one(2, PATHS + 1);
	rig_policy(&other);
	encap(&p, &came, &v6);
	rig_uplink(&p, NULL);
	bind_sid(BSID, sid(BSID), BACKUP);
	rig_uplink(&p, NULL);
	CHECK_EQ(rig_counter("policy_stats", POLICY).packets, 1, "first");
	CHECK_EQ(rig_counter("policy_stats", BACKUP).packets, 1, "second");
	bind_sid(BSID + 1, sid(0x77), POLICY);
	travel[1] = sid(0x77);
	encap(&p, &came, &v6);
	rig_uplink(&p, NULL);
	CHECK_EQ(rig_counter("policy_stats", POLICY).packets, 2, "by another");
	CHECK_EQ(rig_flows(NULL), 2, "one for each SID");

	memcpy(s.sid, &a, 16);
	s.behavior = SRPOL_BEHAVIOR_END_B6_ENCAPS;
	CHECK_EQ(rig_sid_call("sid_set", &s), -EINVAL, "no policy");
	s.behavior = SRPOL_BEHAVIOR_END;
	s.policy = POLICY;
	CHECK_EQ(rig_sid_call("sid_set", &s), -EINVAL, "policy of an End");
	s.behavior = SRPOL_BEHAVIOR_END_B6_ENCAPS;
	s.policy = SRPOL_MAX_POLICIES;
	CHECK_EQ(rig_sid_call("sid_set", &s), -ENOSPC, "policy id");
}

struct race {
	const struct pkt *p;
	volatile bool over;
};

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *keep_sending(void *data)
{
	struct race *r = data;
	struct pkt out;

	stay_on(1);
	while (!r->over)
		rig_uplink(r->p, &out);
	return NULL;
}

/*
 * The policy of a binding SID is changed while another CPU has packets for it:
 * soon all take the new one.
 */
static void test_race(void)
{
	struct srpol_dp_policy two = { .n_buckets = 128 };
	struct race race = {};
	struct in6_addr want;
	__u32 turn, i, old;
	struct pkt p, out;
	pthread_t sender;

	setup(1, false);
	for (i = 1; i <= 2; i++) {
		list[0] = sid(0x200 + i);
		rig_path(i, &around, 1, MTU);
		rig_row_one(i, i);
		two.id = two.color = two.row = i;
		rig_policy(&two);
	}
	encap(&p, &came, &v4);
	race.p = &p;
	CHECK_EQ(pthread_create(&sender, NULL, keep_sending, &race), 0, "thread");
	stay_on(0);
	for (turn = 0, old = 0; turn < 2000 && !old; turn++) {
		bind_sid(BSID, sid(BSID), 1 + turn % 2);
		want = sid(0x201 + turn % 2);
		for (i = 0; i < 40; i++)
			rig_uplink(&p, &out);
		for (i = 0; i < 40; i++) {
			rig_uplink(&p, &out);
			old += memcmp(out.b + 14 + 24, &want, 16) != 0;
		}
	}
	race.over = true;
	pthread_join(sender, NULL);
	CHECK_EQ(old, 0, "packets on the old policy, change %u", turn);
	rig_mark();
}

static const struct ktap_test tests[] = {
	{ "End.B6.Encaps, End.B6.Encaps.Red", test_encaps },
	{ "the longest segment lists", test_longest },
	{ "what is not for a binding SID", test_not },
	{ "filter of the SR domain", test_domain },
	{ "the path of a steered packet", test_selection },
	{ "flows stay on the path they have", test_stay },
	{ "flows by flow label", test_label },
	{ "nothing is left of the packet before", test_no_traces },
	{ "memory is given back", test_memory },
	{ "outer flow label", test_outer_label },
	{ "paths down, backup, contention", test_down },
	{ "too big for its path", test_too_big },
	{ "changes", test_change },
	{ "changes while packets come", test_race },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
