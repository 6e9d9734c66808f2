// SPDX-License-Identifier: GPL-2.0
/* What explain says egress then does, and asking changes nothing. */
#include <bpf/bpf.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"

#define PATHS		4
#define BACKUP_PATH	9
#define INSIDE		"fd00::51d"	/* a local SID */

static struct in6_addr sids[3];

/* Modes by color: 10 + mode. */
static void set_policy(__u32 id, __u32 color, __u32 mode, __u32 row,
		       __u32 backup)
{
	struct srpol_dp_policy p = {
		.id = id, .color = color, .row = row, .n_buckets = 128,
		.mode = mode, .drop_upon_invalid = id & 1 ? 1 : 0,
		/* as long as can be: none ends between asking and doing */
		.backup = backup, .flowlet_timeout_ns = ~0u, .threshold = 4,
		.dwell_time_ms = 4000, .wait_to_restore_ms = 4000,
	};

	rig_policy(&p);
}

static void setup(void)
{
	struct outer o = { .sids = sids, .n = 3 };
	struct srpol_dp_row r = { .row = 1 };
	struct srpol_dp_rule rules[16] = {};
	__u32 i;

	rig_reset();
	for (i = 1; i <= BACKUP_PATH; i++) {
		rig_call_u32("path_del", i);
		rig_nexthop(i, 1, 1);
		rig_path(i, &o, i, 1500);
	}
	for (i = 0; i < SRPOL_ROW_BUCKETS; i++)
		r.path[i] = 1 + i / 32;
	rig_call("row_set", &r, sizeof(r));
	rig_row_one(2, BACKUP_PATH);
	rig_row_one(3, 8);
	set_policy(20, 99, 0, 2, 0);
	for (i = 0; i <= SRPOL_LB_MODE_ON_CONGESTION; i++) {
		set_policy(1 + i, 10 + i, i, 1, 20);
		rules[i] = (struct srpol_dp_rule){
			.id = 1 + i, .priority = 100 + i, .color = 10 + i,
			.mode = SRPOL_MODE_INHERIT, .match = SRPOL_MATCH_QP,
			.qp = { 100 * i, 100 * i + 99 },
			.ordering = SRPOL_ORDERING_WEAK,
		};
	}
	/* Spray refused, bypass, no policy, all paths dead. */
	rules[6] = rules[3];
	rules[6].ordering = SRPOL_ORDERING_STRONG;
	rules[7] = (struct srpol_dp_rule){ .color = 0 };
	rules[8] = (struct srpol_dp_rule){ .color = 77 };
	rules[9] = (struct srpol_dp_rule){ .color = 30 };
	rules[10] = (struct srpol_dp_rule){ .color = 31 };
	for (i = 6; i < 11; i++) {
		rules[i].id = 1 + i;
		rules[i].priority = 100 + i;
		rules[i].match = SRPOL_MATCH_QP;
		rules[i].qp[0] = 100 * i;
		rules[i].qp[1] = 100 * i + 99;
	}
	set_policy(30, 30, 0, 3, 0);
	set_policy(31, 31, 0, 3, 0);
	rig_path_state(8, 0);
	rig_sid(1, addr(INSIDE), SRPOL_BEHAVIOR_END);
	rig_rules(rules, 11);
	rig_mark();
}

static struct inner packet(__u32 qp)
{
	struct inner in = {
		.src = "fd00::1", .dst = "fd00::2", .roce = true,
		.sport = 0xc000, .qp = qp, .opcode = 7, .payload = 8,
	};

	return in;
}

static void counts(__u64 *v)
{
	__u32 i;

	for (i = 0; i < SRPOL_REASON_COUNT; i++)
		v[i] = rig_reason(i);
}

/* Ask, then do, then ask again. */
static void check(const struct pkt *p, const char *about)
{
	__u64 before[SRPOL_REASON_COUNT], after[SRPOL_REASON_COUNT];
	const struct rig_env env = {};
	__u64 path = 0, policy = 0, rule = 0;
	struct srpol_explain x, y;
	unsigned int flows = rig_flows(NULL);

	counts(before);
	x = rig_explain(p, &env);
	y = rig_explain(p, &env);
	counts(after);
	CHECK(!memcmp(before, after, sizeof(before)), "%s: counted", about);
	CHECK_EQ(rig_flows(NULL), flows, "%s: a flow was made", about);
	/* Two of a kind: asking moves nothing on. */
	CHECK(!memcmp(&x, &y, sizeof(x)), "%s: not the same twice", about);
	if (x.path)
		path = rig_counter("path_stats", x.path).packets;
	if (x.used_policy)
		policy = rig_counter("policy_stats", x.used_policy).packets;
	if (x.rule_id)
		rule = rig_counter("rule_stats", x.rule_id).packets;
	rig_egress(p, NULL);
	counts(after);
	CHECK_EQ(after[x.reason], before[x.reason] + 1, "%s: %s", about,
		 rig_reason_name(x.reason));
	if (x.reason == SRPOL_REASON_STEERED) {
		CHECK_EQ(rig_counter("path_stats", x.path).packets, path + 1,
			 "%s: path", about);
		CHECK_EQ(rig_counter("policy_stats", x.used_policy).packets,
			 policy + 1, "%s: policy", about);
	} else {
		CHECK_EQ(after[SRPOL_REASON_STEERED],
			 before[SRPOL_REASON_STEERED], "%s: steered", about);
	}
	if (x.rule_id)
		CHECK_EQ(rig_counter("rule_stats", x.rule_id).packets,
			 rule + 1, "%s: rule", about);
}

static void test_agrees(void)
{
	struct inner in;
	__u32 qp, round;
	char about[32];
	struct pkt p;

	setup();
	for (round = 0; round < 4; round++) {
		for (qp = 50; qp < 1200; qp += 10) {
			in = packet(qp);
			if (qp % 20)
				in.dst = INSIDE;
			pkt_inner(&p, &in);
			snprintf(about, sizeof(about), "QP %u, round %u", qp,
				 round);
			check(&p, about);
			check(&p, about);
		}
		if (round == 0)
			rig_path_state(2, 0);	/* a path dies */
		if (round == 1)
			rig_epoch();
		if (round == 2)
			for (qp = 1; qp <= PATHS; qp++)
				rig_path_state(qp, 0);
	}
	/* Too big, and what is not looked at. */
	setup();
	in = packet(1);
	in.payload = 1500;
	pkt_inner(&p, &in);
	check(&p, "too big");
	in = packet(1);
	in.dst = "ff02::1";
	pkt_inner(&p, &in);
	check(&p, "multicast");
	in = packet(1);
	in.roce = false;
	in.proto = 41;
	pkt_inner(&p, &in);
	check(&p, "tunnel");
	pkt_inner(&p, &in);
	p.b[14] = 0x50;
	check(&p, "version");
}

static void test_fields(void)
{
	const struct rig_env env = {};
	struct srpol_explain x;
	struct inner in;
	struct pkt p;

	setup();
	in = packet(250);	/* flowlet: third rule */
	pkt_inner(&p, &in);
	x = rig_explain(&p, &env);
	CHECK_EQ(x.parsed, 1, "");
	CHECK_EQ(x.reason, SRPOL_REASON_STEERED, "");
	CHECK_EQ(x.rule_id, 3, "");
	CHECK_EQ(x.priority, 102, "");
	CHECK_EQ(x.color, 12, "");
	CHECK_EQ(x.policy, 3, "");
	CHECK_EQ(x.used_policy, 3, "");
	CHECK_EQ(x.mode, SRPOL_LB_MODE_FLOWLET, "");
	CHECK_EQ(x.ordering, SRPOL_ORDERING_WEAK, "");
	CHECK_EQ(x.rules, 3, "");
	CHECK_EQ(x.cached, 0, "");
	CHECK_EQ(x.primary, 1 + x.bucket / 32, "");
	CHECK_EQ(x.skipped, 0, "");
	rig_egress(&p, NULL);
	x = rig_explain(&p, &env);
	CHECK_EQ(x.cached, 1, "");

	in = packet(50);	/* hash */
	pkt_inner(&p, &in);
	x = rig_explain(&p, &env);
	CHECK_EQ(x.path, x.primary, "primary");
	rig_path_state(x.primary, 0);
	x = rig_explain(&p, &env);
	CHECK_EQ(x.skipped, 1, "dead");
	CHECK(x.path && x.path != x.primary, "another");
	for (__u32 i = 1; i <= PATHS; i++)
		rig_path_state(i, 0);
	x = rig_explain(&p, &env);
	CHECK_EQ(x.path, BACKUP_PATH, "backup");
	CHECK_EQ(x.policy, 1, "backup");
	CHECK_EQ(x.used_policy, 20, "backup");

	in = packet(750);
	pkt_inner(&p, &in);
	x = rig_explain(&p, &env);
	CHECK_EQ(x.reason, SRPOL_REASON_BYPASS, "");
	CHECK_EQ(x.rule_id, 8, "");
	CHECK_EQ(x.color, 0, "");
	in = packet(5000);
	pkt_inner(&p, &in);
	x = rig_explain(&p, &env);
	CHECK_EQ(x.reason, SRPOL_REASON_NO_RULE, "");
	CHECK_EQ(x.rules, 11, "");
	CHECK_EQ(x.rule_id, 0, "");
	rig_rules(NULL, 0);
	x = rig_explain(&p, &env);
	CHECK_EQ(x.reason, SRPOL_REASON_NO_RULE, "");
}

static const struct ktap_test tests[] = {
	{ "explain and egress agree", test_agrees },
	{ "every field", test_fields },
};

int main(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		sids[i] = sid(i + 1);
	rig_open();
	return ktap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
