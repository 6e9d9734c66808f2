// SPDX-License-Identifier: GPL-2.0
/* The methods the module calls: what they refuse, and that nothing changes then. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "each.h"
#include "ktap.h"
#include "rig.h"
#include "srpol.skel.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static const struct inner v6 = {
	.src = "fd00::1", .dst = "fd00::2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .payload = 16,
};

/* Context of a raw_tp program: whole words. */
union ep_arg {
	struct srpol_dp_endpoint ep;
	__u64 words[5];
};

/* --- nothing changes on error: a fingerprint of all that is in force --- */

static __u64 mix(__u64 h, const void *data, __u32 len)
{
	const __u8 *b = data;

	while (len--)
		h = (h ^ *b++) * 0x100000001b3ULL;
	return h;
}

static __u64 mix_hash_map(__u64 h, const char *name, __u32 key_len,
			  __u32 value_len)
{
	__u8 key[64], value[64], *prev = NULL;
	__u64 sum = 0;

	while (!bpf_map_get_next_key(rig_map(name), prev, key)) {
		bpf_map_lookup_elem(rig_map(name), key, value);
		sum += mix(mix(1, key, key_len), value, value_len);
		prev = key;
	}
	return mix(h, &sum, sizeof(sum));
}

static __u64 fingerprint(void)
{
	static struct srpol_rule_order order;
	struct srpol_dp_rule rule;
	struct srpol_nexthop nh;
	struct srpol_policy pol;
	struct srpol_state st;
	struct srpol_path path;
	struct srpol_row row;
	__u32 i, zero = 0;
	__u64 h = 1;

	bpf_map_lookup_elem(rig_map("state"), &zero, &st);
	h = mix(h, &st, offsetof(struct srpol_state, cfg));
	h = mix(h, &st.cfg[srpol_copy(st.cfg_ver, st.gen)], sizeof(st.cfg[0]));
	i = srpol_copy(st.order_ver, st.gen);
	bpf_map_lookup_elem(rig_map("rule_order"), &i, &order);
	h = mix(h, &order, offsetof(struct srpol_rule_order, slot));
	h = mix(h, order.slot, order.n * sizeof(order.slot[0]));
	for (i = 0; i < 4; i++) {
		bpf_map_lookup_elem(rig_map("paths"), &i, &path);
		h = mix(h, &path, offsetof(struct srpol_path, cfg));
		h = mix(h, &path.cfg[srpol_copy(path.ver, st.gen)],
			sizeof(path.cfg[0]));
		bpf_map_lookup_elem(rig_map("policies"), &i, &pol);
		h = mix(h, &pol, offsetof(struct srpol_policy, cfg));
		h = mix(h, &pol.cfg[srpol_copy(pol.ver, st.gen)],
			sizeof(pol.cfg[0]));
		bpf_map_lookup_elem(rig_map("nexthops"), &i, &nh);
		h = mix(h, &nh, sizeof(nh));
		bpf_map_lookup_elem(rig_map("bucket_rows"), &i, &row);
		h = mix(h, &row, sizeof(row));
		bpf_map_lookup_elem(rig_map("rules"), &i, &rule);
		h = mix(h, &rule, sizeof(rule));
	}
	h = mix_hash_map(h, "policy_index", sizeof(struct srpol_policy_key),
			 sizeof(struct srpol_policy_ref));
	h = mix_hash_map(h, "endpoints", sizeof(struct srpol_prefix),
			 sizeof(struct srpol_endpoint));
	h = mix_hash_map(h, "endpoint_index", sizeof(struct srpol_prefix), 4);
	h = mix_hash_map(h, "sid_prefixes", sizeof(struct srpol_prefix),
			 sizeof(struct srpol_sid_entry));
	h = mix_hash_map(h, "sid_prefix_index", sizeof(struct srpol_prefix),
			 4);
	h = mix_hash_map(h, "sids", 16, sizeof(struct srpol_sid_entry));
	h = mix_hash_map(h, "devices", 4, sizeof(struct srpol_dev));
	h = mix_hash_map(h, "ports", 4, sizeof(struct srpol_port));
	return h;
}

static void refused(const char *method, void *arg, __u32 size, int err,
		    const char *about)
{
	__u64 before = fingerprint();

	CHECK_EQ(rig_call(method, arg, size), err, "%s: %s", method, about);
	CHECK_EQ(fingerprint(), before, "%s: %s", method, about);
}

static void refused_u32(const char *method, __u32 arg, int err)
{
	refused(method, &arg, sizeof(arg), err, "id");
}

static void test_ids(void)
{
	static const struct { __u32 delta; int err; } bad[] = {
		{ 0, -ENOSPC }, { 1, -ENOSPC }, { 0x7fffffff, -ENOSPC },
	};
	struct srpol_dp_nexthop nh = {};
	struct srpol_dp_policy policy = { .color = 1 };
	struct srpol_dp_rule rule = { .slot = 3, .id = 3 };
	struct srpol_dp_sid s = { .behavior = SRPOL_BEHAVIOR_END,
				  .prefix_len = 128 };
	struct srpol_dp_row row = {};
	struct srpol_dp_path path;
	__u32 state[2] = {};
	__u32 i;

	each_set_up();
	rig_path_arg(&path, 0, &each_two, 1, 9000);
	refused("nexthop_set", &nh, sizeof(nh), -EINVAL, "id 0");
	refused_u32("nexthop_del", 0, -EINVAL);
	refused("path_set", &path, sizeof(path), -EINVAL, "id 0");
	refused("path_state", state, sizeof(state), -EINVAL, "id 0");
	refused_u32("path_del", 0, -EINVAL);
	refused("row_set", &row, sizeof(row), -EINVAL, "row 0");
	refused("policy_set", &policy, sizeof(policy), -EINVAL, "id 0");
	refused("policy_del", &policy, sizeof(policy), -EINVAL, "id 0");
	rule.slot = 0;
	refused("rule_set", &rule, sizeof(rule), -EINVAL, "slot 0");
	rule.slot = 3;
	rule.id = 0;
	refused("rule_set", &rule, sizeof(rule), -EINVAL, "id 0");
	refused("sid_set", &s, sizeof(s), -EINVAL, "id 0");
	path.id = 2;
	path.nexthop = 0;
	refused("path_set", &path, sizeof(path), -EINVAL, "next hop 0");

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		nh.id = SRPOL_MAX_NEXTHOPS + bad[i].delta;
		refused("nexthop_set", &nh, sizeof(nh), bad[i].err, "id");
		refused_u32("nexthop_del", nh.id, bad[i].err);
		path.nexthop = nh.id;
		refused("path_set", &path, sizeof(path), bad[i].err,
			"next hop");
		path.nexthop = 1;
		path.id = SRPOL_MAX_PATHS + bad[i].delta;
		refused("path_set", &path, sizeof(path), bad[i].err, "id");
		path.id = 2;
		state[0] = SRPOL_MAX_PATHS + bad[i].delta;
		refused("path_state", state, sizeof(state), bad[i].err, "id");
		refused_u32("path_del", state[0], bad[i].err);
		row.row = SRPOL_MAX_ROWS + bad[i].delta;
		refused("row_set", &row, sizeof(row), bad[i].err, "row");
		policy.id = SRPOL_MAX_POLICIES + bad[i].delta;
		refused("policy_set", &policy, sizeof(policy), bad[i].err,
			"id");
		refused("policy_del", &policy, sizeof(policy), bad[i].err,
			"id");
		rule.slot = 2 * SRPOL_MAX_RULES + bad[i].delta;
		rule.id = 3;
		refused("rule_set", &rule, sizeof(rule), bad[i].err, "slot");
		rule.slot = 3;
		rule.id = SRPOL_MAX_RULES + bad[i].delta;
		refused("rule_set", &rule, sizeof(rule), bad[i].err, "id");
		s.id = SRPOL_MAX_SIDS + bad[i].delta;
		refused("sid_set", &s, sizeof(s), bad[i].err, "id");
	}
	/* The last of each does exist. */
	rig_nexthop(SRPOL_MAX_NEXTHOPS - 1, 1, 1);
	rig_path(SRPOL_MAX_PATHS - 1, &each_two, SRPOL_MAX_NEXTHOPS - 1, 1500);
	rig_row_one(SRPOL_MAX_ROWS - 1, SRPOL_MAX_PATHS - 1);
	policy.id = SRPOL_MAX_POLICIES - 1;
	policy.row = SRPOL_MAX_ROWS - 1;
	policy.n_buckets = 128;
	rig_policy(&policy);
	rig_sid(SRPOL_MAX_SIDS - 1, sid(0x77), SRPOL_BEHAVIOR_END);
}

static void test_values(void)
{
	struct srpol_dp_config cfg;
	struct srpol_dp_policy policy;
	struct srpol_dp_path path;
	struct srpol_dp_sid s = { .id = 2, .behavior = 3, .prefix_len = 128 };
	struct srpol_dp_dev dev = { .ifindex = 1, .role = 7 };
	union ep_arg ep = { .ep.prefix_len = 129 };

	each_set_up();
	cfg = (struct srpol_dp_config){ .flow_label = 4 };
	refused("config_set", &cfg, sizeof(cfg), -EINVAL, "flow label mode");
	cfg = (struct srpol_dp_config){ .dscp_mode = 2 };
	refused("config_set", &cfg, sizeof(cfg), -EINVAL, "DSCP mode");
	cfg = (struct srpol_dp_config){ .dscp = 64 };
	refused("config_set", &cfg, sizeof(cfg), -EINVAL, "DSCP");

	rig_path_arg(&path, 1, &each_two, 1, 9000);
	path.encap_len = 44;
	refused("path_set", &path, sizeof(path), -EINVAL, "not of words");
	path.encap_len = 32;
	refused("path_set", &path, sizeof(path), -EINVAL, "short");
	path.encap_len = SRPOL_REWRITE_MAX - 14 + 6;
	refused("path_set", &path, sizeof(path), -EINVAL, "long");
	rig_path_arg(&path, 1, &each_two, 1, 9000);
	path.nh_off = 21;
	refused("path_set", &path, sizeof(path), -EINVAL, "nh_off");
	path.nh_off = 54;
	path.encap_len = 40;
	refused("path_set", &path, sizeof(path), -EINVAL, "SRH outside");

	policy = (struct srpol_dp_policy){ .id = 2, .row = 1 };
	refused("policy_set", &policy, sizeof(policy), -EINVAL, "color 0");
	policy.color = 1;
	policy.n_buckets = 100;
	refused("policy_set", &policy, sizeof(policy), -EINVAL, "no power");
	policy.n_buckets = 2 * SRPOL_BUCKETS_MAX;
	refused("policy_set", &policy, sizeof(policy), -EINVAL, "buckets");
	policy.n_buckets = 128;
	policy.row = 0;
	refused("policy_set", &policy, sizeof(policy), -EINVAL, "row 0");
	policy.row = SRPOL_MAX_ROWS;
	refused("policy_set", &policy, sizeof(policy), -ENOSPC, "row");
	policy.row = 0xffffffff;
	refused("policy_set", &policy, sizeof(policy), -ENOSPC, "row");
	policy.row = SRPOL_MAX_ROWS - 1;
	policy.n_buckets = 256;
	refused("policy_set", &policy, sizeof(policy), -ENOSPC, "rows");
	policy.row = 1;
	policy.drop_upon_invalid = 2;
	refused("policy_set", &policy, sizeof(policy), -EINVAL, "drop-upon-invalid");
	policy.drop_upon_invalid = 0;
	policy.mode = SRPOL_LB_MODE_ON_CONGESTION + 1;
	refused("policy_set", &policy, sizeof(policy), -EINVAL, "mode");
	policy.mode = 0;
	policy.flags = 8;
	refused("policy_set", &policy, sizeof(policy), -EINVAL, "flags");
	policy.flags = 0;
	policy.backup = SRPOL_MAX_POLICIES;
	refused("policy_set", &policy, sizeof(policy), -ENOSPC, "backup");

	refused("sid_set", &s, sizeof(s), -EINVAL, "behavior");
	s.behavior = SRPOL_BEHAVIOR_END_DT46;
	s.uniform = 2;
	refused("sid_set", &s, sizeof(s), -EINVAL, "uniform");
	refused("dev_set", &dev, sizeof(dev), -EINVAL, "role");
	dev.role = SRPOL_DEV_ROLE_UPLINK;
	dev.ifindex = 0;
	refused("dev_set", &dev, sizeof(dev), -EINVAL, "ifindex 0");
	refused("endpoint_set", &ep, sizeof(ep), -EINVAL, "prefix length");
	refused("endpoint_del", &ep, sizeof(ep), -EINVAL, "prefix length");
}

static void test_absent(void)
{
	struct srpol_dp_policy policy = { .id = 2, .color = 5 };
	union ep_arg ep = { .ep.prefix_len = 64 };
	struct srpol_dp_sid s = { .id = 1 };
	__u32 state[2] = { 3, 1 };

	each_set_up();
	refused("path_state", state, sizeof(state), -ENOENT, "no path");
	refused_u32("path_del", 3, -ENOENT);
	refused("policy_del", &policy, sizeof(policy), -ENOENT, "no policy");
	refused("endpoint_del", &ep, sizeof(ep), -ENOENT, "no prefix");
	refused("sid_del", &s, sizeof(s), -ENOENT, "no SID");
	refused_u32("dev_del", 9, -ENOENT);
	CHECK_EQ(rig_call_u32("path_del", 1), 0, "a path");
	refused_u32("path_del", 1, -ENOENT);
	state[0] = 1;
	refused("path_state", state, sizeof(state), -ENOENT, "deleted");
}

static void test_full(void)
{
	struct srpol_dp_dev dev = { .role = SRPOL_DEV_ROLE_UPLINK };
	struct srpol_dp_sid s = { .behavior = SRPOL_BEHAVIOR_END,
				  .prefix_len = 128 };
	union ep_arg ep = { .ep.prefix_len = 128 };
	struct in6_addr a;
	__u32 i;
	int err;

	rig_reset();
	for (i = 1; i <= SRPOL_MAX_DEVS; i++) {
		dev.ifindex = i;
		CHECK_EQ(rig_call("dev_set", &dev, sizeof(dev)), 0, "%u", i);
	}
	dev.ifindex = i;
	refused("dev_set", &dev, sizeof(dev), -ENOSPC, "full");
	CHECK_EQ(rig_call_u32("dev_del", 5), 0, "make room");
	CHECK_EQ(rig_call("dev_set", &dev, sizeof(dev)), 0, "room again");

	for (i = 1; i <= SRPOL_MAX_SIDS; i++) {
		a = sid(i);
		memcpy(s.sid, &a, 16);
		s.id = i % (SRPOL_MAX_SIDS - 1) + 1;
		err = rig_call("sid_set", &s, sizeof(s));
		CHECK_EQ(err, 0, "SID %u", i);
	}
	a = sid(i);
	memcpy(s.sid, &a, 16);
	refused("sid_set", &s, sizeof(s), -ENOSPC, "full");
	/* An existing one can still be changed. */
	a = sid(1);
	memcpy(s.sid, &a, 16);
	s.behavior = SRPOL_BEHAVIOR_END_DT6;
	CHECK_EQ(rig_call("sid_set", &s, sizeof(s)), 0, "change");

	for (i = 0; i < SRPOL_MAX_ENDPOINTS; i++) {
		memcpy(ep.ep.prefix, &i, sizeof(i));
		err = rig_call("endpoint_set", &ep, sizeof(ep));
		CHECK_EQ(err, 0, "endpoint %u", i);
	}
	memcpy(ep.ep.prefix, &i, sizeof(i));
	refused("endpoint_set", &ep, sizeof(ep), -ENOSPC, "full");
	i = 7;
	memcpy(ep.ep.prefix, &i, sizeof(i));
	ep.ep.endpoint[0] = 9;
	CHECK_EQ(rig_call("endpoint_set", &ep, sizeof(ep)), 0, "change");
	CHECK_EQ(rig_call("endpoint_del", &ep, sizeof(ep)), 0, "delete");
	i = SRPOL_MAX_ENDPOINTS;
	memcpy(ep.ep.prefix, &i, sizeof(i));
	CHECK_EQ(rig_call("endpoint_set", &ep, sizeof(ep)), 0, "room again");
	rig_reset();
}

static void test_commit_errors(void)
{
	const struct srpol_dp_rule steer = {
		.color = 5, .mode = SRPOL_MODE_INHERIT,
	};
	struct srpol_dp_rule pass = {
		.slot = 2 * SRPOL_MAX_RULES - 1, .id = 9,
		.mode = SRPOL_MODE_INHERIT,
	};
	static struct {
		struct srpol_dp_rule_table t;
		__u32 slot[SRPOL_MAX_RULES];
	} arg;
	struct pkt p;

	each_set_up();
	arg.t.n = SRPOL_MAX_RULES + 1;
	refused("rule_commit", &arg, sizeof(arg), -ENOSPC, "too many");
	arg.t.n = 2;
	arg.slot[0] = 1;
	refused("rule_commit", &arg, sizeof(arg), -EINVAL, "slot 0");
	arg.slot[1] = 2 * SRPOL_MAX_RULES;
	refused("rule_commit", &arg, sizeof(arg), -EINVAL, "slot");
	pkt_inner(&p, &v6);
	rig_egress(&p, NULL);
	rig_expect("the old rules", SRPOL_REASON_STEERED, 1, RIG_END);

	/* Nor does what is refused change an order that is staged already. */
	CHECK_EQ(rig_call("rule_set", &pass, sizeof(pass)), 0, "");
	rig_hold(true);
	rig_rules(&steer, 1);
	arg.slot[0] = pass.slot;
	refused("rule_commit", &arg, sizeof(arg), -EINVAL, "the second slot");
	rig_hold(false);
	rig_commit(true);
	rig_mark();
	rig_egress(&p, NULL);
	rig_expect("the staged rule", SRPOL_REASON_STEERED, 1, RIG_END);
}

static const struct ktap_test tests[] = {
	{ "ids out of range", test_ids },
	{ "values out of range", test_values },
	{ "objects that are not there", test_absent },
	{ "full tables", test_full },
	{ "refused order of rules", test_commit_errors },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
