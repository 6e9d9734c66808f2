// SPDX-License-Identifier: GPL-2.0
/* What is staged is not seen before the commit, and all of it is after. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"

#define MTU		9000
#define OLD_PATH	1
#define NEW_PATH	2
#define PEER		"2001:db8::99"

static struct in6_addr sids[8];
static const struct outer two = { .sids = sids, .n = 2 };
static const struct outer three = { .sids = sids, .n = 3 };
static const struct outer five = { .sids = sids, .n = 5 };

static const struct inner v6 = {
	.src = "fd00::1", .dst = "fd00::2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .payload = 16,
};

static void set_policy(__u32 id, __u32 color, const char *endpoint, __u32 row)
{
	struct srpol_dp_policy p = {
		.id = id, .color = color, .row = row, .n_buckets = 128,
		.drop_upon_invalid = 1,
	};
	struct in6_addr a = addr(endpoint);

	memcpy(p.endpoint, &a, 16);
	rig_policy(&p);
}

/* Rule -> color 5 -> policy 1 -> row 1 -> path 1. */
static void setup(void)
{
	struct srpol_dp_rule all = { .id = 1, .color = 5 };

	rig_reset();
	rig_nexthop(1, 1, 1);
	rig_path(OLD_PATH, &two, 1, MTU);
	rig_row_one(1, OLD_PATH);
	set_policy(1, 5, "::", 1);
	rig_rules(&all, 1);
	rig_hold(true);
	rig_mark();
}

/* A packet, encapsulated into @o, or left alone or dropped if that is NULL. */
static void check(const char *about, const struct outer *o)
{
	struct pkt p, out;

	pkt_inner(&p, &v6);
	rig_egress(&p, &out);
	CHECK_EQ(out.len - p.len, o ? outer_len(o) : 0, "%s", about);
}

static void check_policy(const char *about, __u32 id)
{
	__u64 before = rig_counter("policy_stats", id).packets;
	struct pkt p;

	pkt_inner(&p, &v6);
	rig_egress(&p, NULL);
	CHECK_EQ(rig_counter("policy_stats", id).packets, before + 1, "%s",
		 about);
}

static void test_path(void)
{
	int i;

	setup();
	for (i = 0; i < 6; i++) {
		rig_path(OLD_PATH, i & 1 ? &two : &three, 1, MTU);
		check("staged", i & 1 ? &three : &two);
		/* Once more; the last word counts. */
		rig_path(OLD_PATH, &five, 1, MTU);
		check("staged twice", i & 1 ? &three : &two);
		rig_path(OLD_PATH, i & 1 ? &two : &three, 1, MTU);
		check("staged three times", i & 1 ? &three : &two);
		rig_commit(false);
		check("committed", i & 1 ? &two : &three);
		/* A commit of nothing changes nothing. */
		rig_commit(i & 1);
		check("committed again", i & 1 ? &two : &three);
	}
	for (i = 0; i < 3; i++) {
		rig_path(OLD_PATH, &five, 1, MTU);
		rig_revert(SRPOL_DP_PATH, OLD_PATH);
		check("reverted", &two);
		rig_commit(false);
		check("reverted, committed", &two);
	}
	rig_revert(SRPOL_DP_PATH, OLD_PATH);
	check("nothing to revert", &two);
}

/* A new path: seen when the table that has it is. */
static void test_new_path(void)
{
	struct srpol_path path;
	__u32 id = NEW_PATH;

	setup();
	rig_path(NEW_PATH, &three, 1, MTU);
	rig_row_one(2, NEW_PATH);
	set_policy(1, 5, "::", 2);
	check("staged", &two);
	rig_commit(false);
	check("committed", &three);

	setup();
	rig_path(NEW_PATH, &three, 1, MTU);
	rig_revert(SRPOL_DP_PATH, NEW_PATH);
	bpf_map_lookup_elem(rig_map("paths"), &id, &path);
	CHECK_EQ(path.present, 0, "as if never set");
	CHECK_EQ(path.up, 0, "as if never set");
	CHECK_EQ(rig_call_u32_2("path_state", NEW_PATH, 1), -ENOENT, "gone");
	rig_commit(false);
	/* And then again. */
	rig_path(NEW_PATH, &five, 1, MTU);
	rig_row_one(2, NEW_PATH);
	set_policy(1, 5, "::", 2);
	rig_commit(false);
	check("set again", &five);
}

/* What takes a path out of use, or into it, does so at once. */
static void test_state(void)
{
	struct srpol_dp_path arg;

	setup();
	rig_path_arg(&arg, OLD_PATH, &three, 1, MTU);
	rig_path(OLD_PATH, &three, 1, MTU);
	rig_path_state(OLD_PATH, 0);
	check("down before the commit", NULL);
	rig_commit(false);
	check("down after it", NULL);
	rig_path_state(OLD_PATH, 1);
	check("up", &three);

	/* Staged as down: until the commit it is up. */
	arg.up = 0;
	CHECK_EQ(rig_call("path_set", &arg, sizeof(arg)), 0, "");
	check("still up", &three);
	rig_commit(false);
	check("down", NULL);
	/* From down to up in another form: the old form must not come back. */
	rig_path(OLD_PATH, &five, 1, MTU);
	check("still down", NULL);
	rig_commit(false);
	check("up", &five);
	rig_path_state(OLD_PATH, 0);
	rig_path(OLD_PATH, &two, 1, MTU);
	check("down, the old form is held", NULL);
	rig_commit(false);
	check("up in the new form", &two);
	/* Taken back, it is what it was: down, and comes up as it was. */
	rig_path_state(OLD_PATH, 0);
	rig_path(OLD_PATH, &three, 1, MTU);
	rig_path(OLD_PATH, &five, 1, MTU);
	rig_revert(SRPOL_DP_PATH, OLD_PATH);
	check("reverted", NULL);
	rig_commit(false);
	check("reverted, committed", NULL);
	rig_path_state(OLD_PATH, 1);
	check("as it was", &two);
	/* Comes up by itself while the new form waits. */
	rig_path_state(OLD_PATH, 0);
	rig_path(OLD_PATH, &three, 1, MTU);
	rig_path_state(OLD_PATH, 1);
	check("up in the old form", &two);
	rig_commit(false);
	check("up in the new form", &three);
	/* Set while it was down, new, and up after that. */
	setup();
	rig_path_arg(&arg, NEW_PATH, &five, 1, MTU);
	arg.up = 0;
	CHECK_EQ(rig_call("path_set", &arg, sizeof(arg)), 0, "");
	rig_path_state(NEW_PATH, 1);
	rig_row_one(2, NEW_PATH);
	set_policy(1, 5, "::", 2);
	check("not yet", &two);
	rig_commit(false);
	check("new, and up", &five);
}

static void test_policy(void)
{
	setup();
	rig_path(NEW_PATH, &three, 1, MTU);
	rig_row_one(2, NEW_PATH);
	set_policy(1, 5, "::", 2);
	rig_revert(SRPOL_DP_POLICY, 1);
	rig_commit(false);
	check("reverted", &two);
	set_policy(1, 5, "::", 2);
	check("staged", &two);
	set_policy(1, 5, "::", 1);
	set_policy(1, 5, "::", 2);
	rig_commit(false);
	check("committed", &three);
	rig_revert(SRPOL_DP_POLICY, 1);
	check("nothing to revert", &three);
}

static bool indexed(__u32 color, const char *endpoint)
{
	struct srpol_policy_key key = { .color = color };
	struct in6_addr a = addr(endpoint);
	struct srpol_policy_ref ref;

	memcpy(key.endpoint, &a, 16);
	return !bpf_map_lookup_elem(rig_map("policy_index"), &key, &ref);
}

/* A policy that takes the place of the null endpoint's. */
static void test_new_policy(void)
{
	setup();
	rig_path(NEW_PATH, &three, 1, MTU);
	rig_row_one(2, NEW_PATH);
	rig_endpoint("fd00::", 16, PEER);
	rig_commit(true);
	check("endpoint without a policy", &two);
	set_policy(2, 5, PEER, 2);
	rig_epoch();
	check("committed", &three);

	/* Staged only: not even for a flow that is new. */
	setup();
	rig_path(NEW_PATH, &three, 1, MTU);
	rig_row_one(2, NEW_PATH);
	rig_endpoint("fd00::", 16, PEER);
	rig_epoch();
	set_policy(2, 5, PEER, 2);
	check("staged", &two);
	rig_revert(SRPOL_DP_POLICY, 2);
	CHECK(!indexed(5, PEER), "the index has it");
	rig_epoch();
	check("reverted", &two);
	set_policy(2, 5, PEER, 2);
	rig_commit(false);
	check("cached", &two);
	rig_epoch();
	check("committed", &three);
}

static void test_hide_policy(void)
{
	struct srpol_dp_policy p = { .id = 1, .color = 5 };

	setup();
	CHECK_EQ(rig_call("policy_hide", &p, sizeof(p)), 0, "hide");
	check("staged", &two);
	rig_revert(SRPOL_DP_POLICY, 1);
	rig_epoch();
	check("reverted", &two);
	CHECK_EQ(rig_call("policy_hide", &p, sizeof(p)), 0, "hide");
	rig_epoch();
	rig_mark();
	check("hidden", NULL);
	rig_expect("hidden", SRPOL_REASON_NO_POLICY, 1, RIG_END);
	CHECK_EQ(rig_call("policy_del", &p, sizeof(p)), 0, "delete");
	CHECK(!indexed(5, "::"), "the index has it");
	CHECK_EQ(rig_call("policy_hide", &p, sizeof(p)), -ENOENT, "gone");

	/* One goes, another comes, in either order, in one commit. */
	setup();
	rig_path(NEW_PATH, &three, 1, MTU);
	rig_row_one(2, NEW_PATH);
	rig_call("policy_hide", &p, sizeof(p));
	set_policy(2, 5, "::", 2);
	check("staged", &two);
	rig_epoch();
	check("replaced", &three);
	CHECK_EQ(rig_call("policy_del", &p, sizeof(p)), 0, "delete");
	rig_epoch();
	check("deleted", &three);
	set_policy(1, 5, "::", 1);
	p.id = 2;
	rig_call("policy_hide", &p, sizeof(p));
	rig_epoch();
	check("replaced again", &two);
	CHECK_EQ(rig_call("policy_del", &p, sizeof(p)), 0, "delete");
	rig_epoch();
	check("deleted", &two);
	/* Taken back. */
	p.id = 1;
	rig_call("policy_hide", &p, sizeof(p));
	set_policy(2, 5, "::", 2);
	rig_revert(SRPOL_DP_POLICY, 2);
	rig_revert(SRPOL_DP_POLICY, 1);
	rig_epoch();
	check("reverted", &two);
}

static void test_rules(void)
{
	struct srpol_dp_rule none = { .id = 1, .color = 5,
		.match = SRPOL_MATCH_QP, .qp = { 7, 7 } };
	struct srpol_dp_rule bypass = { .id = 2 };

	setup();
	rig_rules(&none, 1);
	check("staged", &two);
	rig_rules(&bypass, 1);
	check("staged twice", &two);
	rig_revert(SRPOL_DP_RULES, 0);
	rig_epoch();
	check("reverted", &two);
	rig_rules(&none, 1);
	rig_epoch();
	check("committed", NULL);
	rig_mark();
	rig_rules(&bypass, 1);
	rig_epoch();
	check("committed", NULL);
	rig_expect("the other", SRPOL_REASON_BYPASS, 1, RIG_END);
}

/* A flow that is new sees the old prefix until the commit, and after a hide
 * the one that covers it.
 */
static void test_endpoints(void)
{
	setup();
	rig_hold(false);
	rig_path(2, &two, 1, MTU);
	set_policy(2, 5, "2001:db8::2", 1);
	set_policy(3, 5, "2001:db8::3", 1);
	set_policy(4, 5, "2001:db8::4", 1);
	rig_hold(true);
	rig_endpoint("fd00::", 16, "2001:db8::2");
	rig_epoch();
	check_policy("set", 2);
	/* A longer one is there, but not yet. */
	rig_endpoint("fd00::", 64, "2001:db8::3");
	rig_endpoint("fd00::2", 128, "2001:db8::3");
	rig_commit(true);
	check_policy("committed", 3);
	rig_endpoint("fd00::2", 127, "2001:db8::4");
	rig_endpoint("fd00::2", 128, "2001:db8::4");
	check_policy("staged", 3);
	rig_endpoint_revert("fd00::2", 127);
	rig_endpoint_revert("fd00::2", 128);
	rig_epoch();
	check_policy("reverted", 3);
	rig_endpoint_hide("fd00::2", 128);
	check_policy("hide staged", 3);
	rig_endpoint_revert("fd00::2", 128);
	rig_epoch();
	check_policy("hide reverted", 3);
	rig_endpoint_hide("fd00::2", 128);
	rig_endpoint_hide("fd00::", 64);
	rig_epoch();
	check_policy("two hidden: the covering prefix", 2);
	rig_endpoint_hide("fd00::", 16);
	rig_epoch();
	check_policy("all hidden: the null endpoint", 1);
	rig_endpoint_del("fd00::2", 128);
	rig_endpoint_del("fd00::", 64);
	rig_endpoint_del("fd00::", 16);
	rig_epoch();
	check_policy("deleted", 1);
	/* The default route, and nothing below it. */
	rig_endpoint("::", 0, "2001:db8::4");
	rig_endpoint("fd00::", 8, "2001:db8::3");
	rig_epoch();
	check_policy("longer", 3);
	rig_endpoint_hide("fd00::", 8);
	rig_epoch();
	check_policy("prefix of length 0", 4);
	rig_endpoint_hide("::", 0);
	rig_epoch();
	check_policy("hidden", 1);
}

static void test_config(void)
{
	struct srpol_dp_config cfg = {
		.flow_label = SRPOL_FLOW_LABEL_ZERO,
	}, bad = { .path_id = 3 };
	struct pkt p, out;
	__u32 i;

	setup();
	pkt_inner(&p, &v6);
	for (i = 0; i < 3; i++) {
		rig_config(cfg);
		rig_egress(&p, &out);
		CHECK(out.b[16] | out.b[17], "staged");
		CHECK_EQ(rig_call("config_set", &bad, sizeof(bad)), -EINVAL,
			 "bad");
		rig_revert(SRPOL_DP_CONFIG, 0);
	}
	rig_commit(false);
	rig_egress(&p, &out);
	CHECK(out.b[16] | out.b[17], "reverted");
	rig_config(cfg);
	rig_commit(false);
	rig_egress(&p, &out);
	CHECK(!(out.b[16] | out.b[17] | (out.b[15] & 15)), "committed");
	bad = (struct srpol_dp_config){ .n_domain = SRPOL_SR_DOMAIN_MAX + 1 };
	CHECK_EQ(rig_call("config_set", &bad, sizeof(bad)), -EINVAL, "bad");
}

/* All kinds at once: nothing before, all after one commit. */
static void test_all(void)
{
	struct srpol_dp_rule rule = { .id = 2, .color = 9 };
	struct srpol_dp_config cfg = {
		.dscp_mode = SRPOL_DSCP_MODE_PIPE, .dscp = 46,
	};
	struct srpol_dp_policy old = { .id = 1, .color = 5 };
	struct srpol_state before, after;
	struct pkt p, out;
	__u32 zero = 0;

	setup();
	pkt_inner(&p, &v6);
	bpf_map_lookup_elem(rig_map("state"), &zero, &before);
	rig_path(NEW_PATH, &five, 1, MTU);
	rig_row_one(2, NEW_PATH);
	set_policy(2, 9, PEER, 2);
	rig_endpoint("fd00::", 16, PEER);
	rig_rules(&rule, 1);
	rig_config(cfg);
	rig_call("policy_hide", &old, sizeof(old));
	rig_path(OLD_PATH, &three, 1, MTU);
	rig_egress(&p, &out);
	CHECK_EQ(out.len - p.len, outer_len(&two), "before");
	CHECK_EQ(out.b[14] & 15, 0, "before");
	rig_epoch();
	rig_egress(&p, &out);
	CHECK_EQ(out.len - p.len, outer_len(&five), "after");
	CHECK_EQ((out.b[14] & 15) << 4 | out.b[15] >> 4, 46 << 2, "after");
	bpf_map_lookup_elem(rig_map("state"), &zero, &after);
	CHECK_EQ(after.gen, before.gen + 1, "one generation");
	CHECK_EQ(after.epoch, before.epoch + 1, "one epoch");
	CHECK_EQ(rig_counter("rule_stats", 2).packets, 1, "rule");
	CHECK_EQ(rig_call_u32_2("revert", 9, 1), -EINVAL, "unknown kind");
}

/* --- a packet sees all of a generation or nothing of it --- */

static volatile bool stop;
static unsigned int commits;

/* Settings and path change together: DSCP 0 and two SIDs, 46 and five. */
static void *committer(void *arg)
{
	struct srpol_dp_config cfg = { .dscp_mode = SRPOL_DSCP_MODE_PIPE };
	bool more;

	(void)arg;
	while (!stop) {
		more = !(commits & 1);
		cfg.dscp = more ? 46 : 0;
		rig_config(cfg);
		rig_path(OLD_PATH, more ? &five : &two, 1, MTU);
		rig_commit(commits & 2);
		commits++;
		/* The module waits for a grace period; so does this. */
		syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	}
	return NULL;
}

static void test_atomic(void)
{
	unsigned int seen[2] = {}, bad = 0, i;
	struct srpol_dp_config cfg = { .dscp_mode = SRPOL_DSCP_MODE_PIPE };
	const time_t end = time(NULL) + 120;
	pthread_t thread;
	struct pkt p, out;
	bool dscp, more;

	setup();
	rig_config(cfg);
	rig_commit(false);
	pkt_inner(&p, &v6);
	stop = false;
	commits = 0;
	if (pthread_create(&thread, NULL, committer, NULL)) {
		FAIL("no thread");
		return;
	}
	for (i = 0; i < 50000 || (commits < 100 && time(NULL) < end); i++) {
		rig_egress(&p, &out);
		dscp = (out.b[14] & 15) << 4 | out.b[15] >> 4;
		more = out.len - p.len == outer_len(&five);
		bad += dscp != more;
		seen[more]++;
	}
	stop = true;
	pthread_join(thread, NULL);
	CHECK_EQ(bad, 0, "of %u", i);
	CHECK(seen[0] && seen[1] && commits >= 100, "%u, %u; %u commits",
	      seen[0], seen[1], commits);
}

/* The words wrap around; nothing that is compared is far apart. */
static void test_wrap(void)
{
	struct srpol_state st;
	__u32 zero = 0, i;

	/* as srpol_maps.h says of the copies */
	for (i = 0; i < 2; i++) {
		CHECK_EQ(srpol_copy(7 << 1 | i, 7), i, "present");
		CHECK_EQ(srpol_copy(7 << 1 | i, 6), !i, "to come");
		CHECK_EQ(srpol_copy(7 << 1 | i, 1000), i, "long since");
		CHECK_EQ(srpol_copy(0u << 1 | i, 0x7fffffff), !i, "wraps");
		CHECK_EQ(srpol_copy(0u << 1 | i, 0x80000000), i, "wrapped");
	}
	setup();
	bpf_map_lookup_elem(rig_map("state"), &zero, &st);
	st.gen = 0x7ffffffe;
	st.cfg_ver = st.gen << 1;
	st.order_ver = st.gen << 1 | (st.order_ver & 1);
	bpf_map_update_elem(rig_map("state"), &zero, &st, 0);
	/* From here on as the module would after so many commits. */
	setup();
	for (i = 0; i < 4; i++) {
		rig_path(OLD_PATH, i & 1 ? &two : &three, 1, MTU);
		check("staged", i & 1 ? &three : &two);
		rig_commit(false);
		check("committed", i & 1 ? &two : &three);
	}
	bpf_map_lookup_elem(rig_map("state"), &zero, &st);
	st.gen = 0;
	st.cfg_ver &= 1;
	st.order_ver &= 1;
	bpf_map_update_elem(rig_map("state"), &zero, &st, 0);
}

static void set_gen(__u32 gen)
{
	struct srpol_state st;
	__u32 zero = 0;

	bpf_map_lookup_elem(rig_map("state"), &zero, &st);
	st.gen = gen;
	bpf_map_update_elem(rig_map("state"), &zero, &st, 0);
}

static __u32 path_version(void)
{
	struct srpol_path path;
	__u32 id = OLD_PATH;

	bpf_map_lookup_elem(rig_map("paths"), &id, &path);
	return path.ver;
}

/*
 * 3 * 2^30 commits that leave everything alone, all but one in 2^28 of them
 * without anybody looking. Without the sweep the version words would say the
 * other copy from 2^30 on, until 2^31.
 */
static void test_untouched(void)
{
	struct srpol_dp_sid s = {
		.id = 1, .behavior = SRPOL_BEHAVIOR_END, .prefix_len = 128,
	};
	struct in6_addr a = addr("fc00:99::1");
	struct srpol_state st;
	__u32 zero = 0, i, ver;

	setup();
	memcpy(s.sid, &a, 16);
	CHECK_EQ(rig_sid_call("sid_set", &s), 0, "SID");
	rig_endpoint("fd00::", 64, "2001:db8::9");
	rig_commit(true);
	ver = path_version();
	for (i = 1; i <= 12; i++) {
		set_gen((i << 28) - 1);
		rig_commit(true);
		CHECK_EQ(srpol_copy(path_version(), i << 28), ver & 1,
			 "its copy");
		if (i > 4 && i < 8)
			CHECK_EQ(srpol_copy(ver, i << 28), !(ver & 1),
				 "without the sweep");
		check("nobody touched it", &two);
		check_policy("nor the policy", 1);
		CHECK_EQ(rig_sid_call("sid_hide", &s), 0, "SID is there");
		CHECK_EQ(rig_sid_call("sid_revert", &s), 0, "still");
	}
	bpf_map_lookup_elem(rig_map("state"), &zero, &st);
	st.gen = 0;
	st.cfg_ver &= 1;
	st.order_ver &= 1;
	bpf_map_update_elem(rig_map("state"), &zero, &st, 0);
}

static const struct ktap_test tests[] = {
	{ "paths", test_path },
	{ "new paths", test_new_path },
	{ "state of paths", test_state },
	{ "policies", test_policy },
	{ "new policies", test_new_policy },
	{ "hidden policies", test_hide_policy },
	{ "order of rules", test_rules },
	{ "endpoints", test_endpoints },
	{ "settings", test_config },
	{ "all at once", test_all },
	{ "all or nothing, packet by packet", test_atomic },
	{ "generations wrap around", test_wrap },
	{ "what nobody touches for long", test_untouched },
};

int main(void)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		sids[i] = sid(i + 1);
	rig_open();
	return ktap_main(tests, sizeof(tests) / sizeof(tests[0]));
}
