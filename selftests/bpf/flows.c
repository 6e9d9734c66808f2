// SPDX-License-Identifier: GPL-2.0
/* The table of flows: what is remembered, what has to go, what is new. */
#include <bpf/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "colors.h"
#include "ktap.h"
#include "rig.h"
#include "srpol.skel.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define MORE_THAN_FIT	(SRPOL_MAX_FLOWS + SRPOL_MAX_FLOWS / 4)
#define OFF_QP		(14 + 40 + 8 + 4)

static void all_to(__u32 color)
{
	struct srpol_dp_rule all = { .id = 1, .color = color };

	rig_rules(&all, 1);
}

static struct pkt packet(void)
{
	struct pkt p;

	pkt_inner(&p, &colors_roce6);
	return p;
}

static void send_qp(struct pkt *p, __u32 qp)
{
	p->b[OFF_QP + 1] = qp >> 16;
	p->b[OFF_QP + 2] = qp >> 8;
	p->b[OFF_QP + 3] = qp;
	if (rig_port(p, NULL) != X_REDIRECT)
		FAIL("QP %u", qp);
}

/* The same by egress, whatever becomes of it. */
static void send_any(struct pkt *p, __u32 qp)
{
	p->b[OFF_QP + 1] = qp >> 16;
	p->b[OFF_QP + 2] = qp >> 8;
	p->b[OFF_QP + 3] = qp;
	rig_egress(p, NULL);
}

static void setup(void)
{
	colors_setup();
	rig_uplink_add(1);
	all_to(1);
	rig_mark();
}

static int by_key(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct srpol_flow_key));
}

/* Entries that are in use, in order of their keys. */
static unsigned int keys(struct srpol_flow_key *k)
{
	const struct srpol_flow *f = NULL;
	unsigned int n = 0;

	while ((f = rig_flow_next(f)))
		k[n++] = f->key;
	qsort(k, n, sizeof(*k), by_key);
	return n;
}

/*
 * More flows than the table has room for; one of them goes on all the time and
 * stays, the others give way to each other. None is there twice.
 */
static void test_full(void)
{
	static struct srpol_flow_key k[SRPOL_MAX_FLOWS];
	struct pkt p = packet();
	unsigned int n, i, twice = 0, lively = 0;
	struct srpol_flow f;

	setup();
	for (i = 0; i < MORE_THAN_FIT; i++) {
		send_qp(&p, 100 + i);
		if (i % 64)
			continue;
		send_qp(&p, 7);
		lively++;
	}
	rig_expect("packets", SRPOL_REASON_STEERED, MORE_THAN_FIT + lively,
		   RIG_END);
	n = keys(k);
	CHECK(n > SRPOL_MAX_FLOWS / 10 * 9, "only %u entries are used", n);
	for (i = 1; i < n; i++)
		twice += !by_key(&k[i - 1], &k[i]);
	CHECK_EQ(twice, 0, "of %u", n);
	CHECK(rig_flow_of(7, &f), "the lively flow is gone");
	CHECK_EQ(f.packets, lively, "it was gone for a while");
}

/* Half as many as there is room for: nearly all are remembered. */
static void test_half(void)
{
	unsigned int n = SRPOL_MAX_FLOWS / 2, i, kept;
	struct pkt p = packet();

	setup();
	for (i = 0; i < n; i++)
		send_qp(&p, 100 + i * 77);
	kept = rig_flows(NULL);
	CHECK(kept > n / 100 * 98, "%u of %u", kept, n);
}

/* Classified again, a flow has another entry with what it has been through. */
static void test_again(void)
{
	const struct srpol_flow *f = NULL;
	struct pkt p = packet();
	unsigned int i, n = 0;

	setup();
	for (i = 0; i < 1000; i++)
		send_qp(&p, i);
	all_to(2);
	for (i = 0; i < 1000; i++)
		send_qp(&p, i);
	for (; (f = rig_flow_next(f)); n++) {
		CHECK_EQ(f->packets, 2, "QP %u", f->key.qp);
		CHECK_EQ(f->cache.policy, 2, "QP %u", f->key.qp);
	}
	CHECK_EQ(n, 1000, "flows");
}

/*
 * Two processors that make, find and classify the same flows again, all at
 * once: each packet goes by its own flow's policy.
 */
#define SHARED_FLOWS	4096
#define SHARED_PACKETS	40000
#define OFF_SEGMENT	(14 + 40 + 8)	/* last SID, the path's own */

static void two_rules(void)
{
	struct srpol_dp_rule r[2] = {
		{ .id = 1, .color = 1, .match = SRPOL_MATCH_QP,
		  .qp = { 0, SHARED_FLOWS / 2 - 1 } },
		{ .id = 2, .color = 2 },
	};

	rig_rules(r, 2);
}

static void *send_shared(void *arg)
{
	struct pkt p = packet(), *out = malloc(sizeof(*out));
	unsigned short seed[3] = { 1, 2, *(int *)arg };
	__u32 i, qp, color;
	long wrong = 0;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(*(int *)arg, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	for (i = 0; i < SHARED_PACKETS; i++) {
		qp = nrand48(seed) % SHARED_FLOWS;
		color = qp < SHARED_FLOWS / 2 ? 1 : 2;
		p.b[OFF_QP + 2] = qp >> 8;
		p.b[OFF_QP + 3] = qp;
		p.b[OFF_QP + 1] = 0;
		if (rig_port(&p, out) != X_REDIRECT ||
		    out->b[OFF_SEGMENT + 5] != 10 + color)
			wrong++;
	}
	free(out);
	return (void *)wrong;
}

static void test_processors(void)
{
	static struct srpol_flow_key k[SRPOL_MAX_FLOWS];
	struct in6_addr sids[2] = { sid(1) };
	struct outer o = { .sids = sids, .n = 2 };
	static int number[2] = { 0, 1 };
	struct pkt p = packet();
	unsigned int n, twice = 0;
	pthread_t thread[2];
	void *wrong;
	__u32 i;

	setup();
	for (i = 1; i <= 2; i++) {
		sids[1] = sid(10 + i);
		rig_path(i, &o, 1, 9000);
	}
	two_rules();
	number[1] = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	for (i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, send_shared, &number[i]))
			FAIL("no thread");
	for (i = 0; i < 20; i++) {
		usleep(2000);
		rig_epoch();
	}
	for (i = 0; i < 2; i++) {
		pthread_join(thread[i], &wrong);
		CHECK_EQ((long)wrong, 0, "packets of thread %u", i);
	}
	for (i = 0; i < SHARED_FLOWS; i++)
		send_qp(&p, i);
	n = keys(k);
	CHECK(n >= SHARED_FLOWS, "%u flows", n);
	for (i = 1; i < n; i++)
		twice += !by_key(&k[i - 1], &k[i]);
	CHECK_EQ(twice, 0, "flows");
}

/*
 * Two processors, the flows of two policies of one commit, more of them in one
 * set than it has room for: a flow never takes the other policy's path, neither
 * while they drive each other out nor afterwards.
 */
#define CROWD		16
#define CROWD_PACKETS	1000000
#define CROWD_PATH	10	/* policies 1 and 2: segments 11 and 12 */

static __u32 crowd[CROWD];

/* The set of a key, as bpf/flow_table.h has it. */
static __u32 set_of(const struct srpol_flow_key *key)
{
	const volatile __u64 *mix = rig->rodata->srpol_flow_mix;
	const __u32 *half = (const __u32 *)key;
	const __u64 *w = (const __u64 *)key;
	__u64 h = 0;
	__u32 i;

	for (i = 0; i < SRPOL_FLOW_WORDS; i++)
		h += srpol_flow_halved(i) ?
			     half[2 * i] * mix[i] + half[2 * i + 1] *
				     mix[SRPOL_FLOW_WORDS + i] :
			     w[i] * mix[i];
	h ^= h >> 32;
	h *= rig->rodata->srpol_flow_mix[0];
	return h >> (64 - SRPOL_FLOW_SET_BITS);
}

/* QPs whose flows are all in one set; the key is that of the first flow made. */
static void find_crowd(__u32 *qps, __u32 n, bool port)
{
	struct pkt p = packet();
	struct srpol_flow f;
	__u32 qp, found = 1, set;

	/* flows of a port are others than those that egress sees */
	if (port)
		send_qp(&p, 1);
	else
		send_any(&p, 1);
	if (!CHECK(rig_flow_of(1, &f), "no flow"))
		return;
	set = set_of(&f.key);
	qps[0] = 1;
	for (qp = 2; qp < 1 << 24 && found < n; qp++) {
		f.key.qp = qp;
		if (set_of(&f.key) == set)
			qps[found++] = qp;
	}
	CHECK_EQ(found, n, "QPs of one set");
}

static long wrong_path(struct pkt *p, struct pkt *out, __u32 i)
{
	__u32 qp = crowd[i], color = i % 2 + 1;

	p->b[OFF_QP + 1] = qp >> 16;
	p->b[OFF_QP + 2] = qp >> 8;
	p->b[OFF_QP + 3] = qp;
	return rig_port(p, out) != X_REDIRECT ||
	       out->b[OFF_SEGMENT + 5] != CROWD_PATH + color;
}

static void *send_crowd(void *arg)
{
	struct pkt p = packet(), *out = malloc(sizeof(*out));
	unsigned short seed[3] = { 3, 4, *(int *)arg };
	long wrong = 0;
	cpu_set_t cpu;
	__u32 i;

	CPU_ZERO(&cpu);
	CPU_SET(*(int *)arg, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	for (i = 0; i < CROWD_PACKETS; i++)
		wrong += wrong_path(&p, out, nrand48(seed) % CROWD);
	free(out);
	return (void *)wrong;
}

/* Even ones by policy 1, odd ones by policy 2, all of it in one commit. */
static void crowd_policies(void)
{
	static struct srpol_dp_rule r[CROWD];
	struct in6_addr sids[2] = { sid(1) };
	struct outer o = { .sids = sids, .n = 2 };
	__u32 i;

	rig_hold(true);
	for (i = 1; i <= 2; i++) {
		sids[1] = sid(CROWD_PATH + i);
		rig_path(i, &o, 1, 9000);
		colors_policy_only(i);
	}
	for (i = 0; i < CROWD; i++)
		r[i] = (struct srpol_dp_rule){
			.id = i + 1, .color = i % 2 + 1,
			.match = SRPOL_MATCH_QP,
			.qp = { crowd[i], crowd[i] },
		};
	rig_rules(r, CROWD);
	rig_commit(true);
	rig_hold(false);
}

static void test_crowd(void)
{
	static int number[2] = { 0, 1 };
	struct pkt p = packet(), out;
	pthread_t thread[2];
	void *wrong;
	__u32 i;

	setup();
	find_crowd(crowd, CROWD, true);
	crowd_policies();
	number[1] = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	for (i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, send_crowd, &number[i]))
			FAIL("no thread");
	for (i = 0; i < 2; i++) {
		pthread_join(thread[i], &wrong);
		CHECK_EQ((long)wrong, 0, "packets of thread %u", i);
	}
	for (i = 0; i < CROWD; i++)
		CHECK(!wrong_path(&p, &out, i), "QP %u, afterwards", crowd[i]);
}

/* In each mode the flow that sends stays when its set is full. */
static void test_lively(void)
{
	static const __u32 modes[] = {
		SRPOL_LB_MODE_HASH, SRPOL_LB_MODE_ACTIVE_BACKUP,
		SRPOL_LB_MODE_FLOWLET, SRPOL_LB_MODE_SPRAY,
		SRPOL_LB_MODE_ADAPTIVE, SRPOL_LB_MODE_ON_CONGESTION,
	};
	struct srpol_dp_policy policy = {
		.id = 1, .color = 1, .row = 1, .n_buckets = 128,
	};
	struct srpol_dp_rule all = {
		.id = 1, .color = 1, .ordering = SRPOL_ORDERING_WEAK,
	};
	struct pkt p = packet();
	__u32 qps[6 * CROWD];
	struct srpol_flow f;
	__u32 m, i, round;

	for (m = 0; m < ARRAY_SIZE(modes); m++) {
		setup();
		find_crowd(qps, ARRAY_SIZE(qps), false);
		policy.mode = modes[m];
		all.mode = SRPOL_MODE_INHERIT;
		rig_policy(&policy);
		rig_rules(&all, 1);
		for (round = 0; round < 5; round++) {
			for (i = 0; i < CROWD; i++) {
				usleep(5000);
				send_any(&p, qps[0]);
				send_any(&p, qps[1 + round * CROWD + i]);
			}
		}
		CHECK(rig_flow_of(qps[0], &f), "mode %u", modes[m]);
		/* One of them is of find_crowd(). */
		CHECK_EQ(f.packets, 5 * CROWD + 1, "mode %u", modes[m]);
	}
}

/* What a port leaves to egress counts once. */
static void test_once(void)
{
	struct srpol_dp_policy policy = {
		.id = 1, .color = 1, .row = 1, .n_buckets = 128,
		.mode = SRPOL_LB_MODE_ON_CONGESTION,
	};
	struct srpol_dp_rule all = {
		.id = 1, .color = 1, .mode = SRPOL_MODE_INHERIT,
	};
	struct srpol_counter before;
	struct pkt p = packet();
	const struct srpol_flow *f = NULL;
	__u32 i, packets = 0, flows = 0;

	setup();
	rig_policy(&policy);
	rig_rules(&all, 1);
	before = rig_counter("rule_stats", 1);
	for (i = 0; i < 100; i++) {
		p.b[OFF_QP + 7] = i;	/* PSN */
		CHECK_EQ(rig_port(&p, NULL), X_PASS, "port");
		CHECK_EQ(rig_egress(&p, NULL), TC_NEXT, "egress");
	}
	/* one flow of the port, one of egress */
	while ((f = rig_flow_next(f))) {
		packets += f->packets;
		flows++;
	}
	CHECK_EQ(flows, 2, "flows");
	CHECK_EQ(packets, 100, "of them");
	CHECK_EQ(rig_detail(colors_roce6.qp).retransmits, 0, "flow");
	CHECK_EQ(rig_counter("rule_stats", 1).packets - before.packets, 100,
		 "rule");
}

/* Flows to an address that becomes a SID, or one of a block, and back. */
static void test_inside(void)
{
	struct srpol_dp_config cfg = {
		.n_domain = 1, .n_blocks = 1,
		.domain[0] = { { 0xfd, 0, 0, 2 }, { 0xff, 0xff, 0xff, 0xff } },
	};
	struct in6_addr dst = addr(colors_roce6.dst);
	struct srpol_dp_sid s = {
		.id = 1, .behavior = SRPOL_BEHAVIOR_END_DT46,
	};
	struct pkt p = packet();
	__u32 len;

	for (len = 64; len <= 128; len += 64) {
		setup();
		CHECK_EQ(rig_port(&p, NULL), X_REDIRECT, "/%u, before", len);
		memset(s.sid, 0, sizeof(s.sid));
		memcpy(s.sid, &dst, len / 8);
		s.prefix_len = len;
		rig_sid_set(&s);
		rig_mark();
		CHECK_EQ(rig_port(&p, NULL), X_DROP, "/%u", len);
		rig_expect("a SID", SRPOL_REASON_SID_FROM_PORT, 1, RIG_END);
		CHECK_EQ(rig_egress(&p, NULL), TC_NEXT, "/%u: not a port", len);
		CHECK_EQ(rig_sid_call("sid_del", &s), 0, "/%u", len);
		CHECK_EQ(rig_port(&p, NULL), X_REDIRECT, "/%u, after", len);
	}
	rig_config(cfg);
	rig_mark();
	CHECK_EQ(rig_port(&p, NULL), X_DROP, "a block");
	rig_expect("a block", SRPOL_REASON_SID_FROM_PORT, 1, RIG_END);
	cfg.n_blocks = 0;
	rig_config(cfg);
	CHECK_EQ(rig_port(&p, NULL), X_REDIRECT, "no block any more");
	/* The same for one of which there is no flow. */
	cfg.n_blocks = 1;
	rig_config(cfg);
	rig_rules(NULL, 0);
	rig_mark();
	CHECK_EQ(rig_port(&p, NULL), X_DROP, "no rules");
	rig_expect("no rules", SRPOL_REASON_SID_FROM_PORT, 1, RIG_END);
}

/*
 * Flows whose keys differ from each other in an even number of the top bits of
 * words, which a sum of products with odd multipliers does not see.
 */
static void test_top_bits(void)
{
	/* offsets in the packet of the last byte of each half of its addresses */
	static const int top[4] = { 14 + 15, 14 + 23, 14 + 31, 14 + 39 };
	const struct srpol_flow *f = NULL;
	__u32 i, j, made = 0, set, shared = 0;
	struct pkt p;

	setup();
	for (i = 0; i < 1 << 4; i++) {
		if (__builtin_parity(i))
			continue;
		p = packet();
		for (j = 0; j < 4; j++)
			p.b[top[j]] ^= i >> j & 1 ? 0x80 : 0;
		send_qp(&p, 1);
	}
	set = rig_flow_number(rig_flow_next(NULL)) / SRPOL_FLOW_SLOTS;
	while ((f = rig_flow_next(f))) {
		made++;
		shared += rig_flow_number(f) / SRPOL_FLOW_SLOTS == set;
	}
	CHECK_EQ(made, 8, "flows");
	CHECK(shared <= 2, "%u of them in one set", shared);
}

/* What an address is said to be is forgotten when SIDs change. */
static void test_memo(void)
{
	struct in6_addr sids[2] = { sid(1), sid(2) };
	struct outer o = { .sids = sids, .n = 2, .travelled = 1 };
	struct pkt inner = packet(), p;
	int i;

	setup();
	pkt_encap(&p, &o, inner.b + 14, inner.len - 14);
	for (i = 0; i < 3; i++) {
		rig_mark();
		rig_uplink(&p, NULL);
		rig_expect("no SID", SRPOL_REASON_NOT_LOCAL, 1, RIG_END);
		rig_sid(2, sids[1], SRPOL_BEHAVIOR_END_DT46);
		rig_mark();
		rig_uplink(&p, NULL);
		rig_uplink(&p, NULL);
		rig_expect("DT46", SRPOL_REASON_DECAP, 2, RIG_END);
		rig_sid(2, sids[1], SRPOL_BEHAVIOR_END_DT4);
		rig_mark();
		CHECK_EQ(rig_uplink(&p, NULL), X_DROP, "DT4");
		rig_expect("DT4", SRPOL_REASON_UPPER_LAYER, 1, RIG_END);
		CHECK_EQ(rig_sid_call("sid_del", &(struct srpol_dp_sid){
				.id = 2, .prefix_len = 128,
				.sid = { 0xfc, 0, 0, 0, 0, 2 } }), 0, "del");
	}
}

static const struct ktap_test tests[] = {
	{ "half full", test_half },
	{ "full: the idle ones go", test_full },
	{ "classified again", test_again },
	{ "two processors", test_processors },
	{ "keys that differ in top bits", test_top_bits },
	{ "two processors, two policies, one full set", test_crowd },
	{ "the flow that sends stays, in each mode", test_lively },
	{ "left to egress by a port, counted once", test_once },
	{ "a port's flows to what becomes a SID", test_inside },
	{ "SIDs that come, change and go", test_memo },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
