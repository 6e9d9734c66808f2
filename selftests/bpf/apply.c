// SPDX-License-Identifier: GPL-2.0
/* The methods the module calls: limits, errors, ids used again, switching. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"
#include "srpol.skel.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* All maps together, on a machine of two processors. */
#define MEMORY_MAX	(96LL << 20)
#define MEMORY_CPUS	2

static struct in6_addr sids[SRPOL_SEGS_MAX];
static const struct outer two = { .sids = sids, .n = 2 };
static const struct outer six = { .sids = sids, .n = 6, .full = true };

static const struct inner v6 = {
	.src = "fd00::1", .dst = "fd00::2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .payload = 16,
};

/* Context of a raw_tp program: whole words. */
union ep_arg {
	struct srpol_dp_endpoint ep;
	__u64 words[5];
};

static void setup(void)
{
	struct srpol_dp_policy policy = {
		.id = 1, .color = 5, .row = 1, .n_buckets = 128,
	};
	struct srpol_dp_rule all = { .id = 1, .color = 5 };

	rig_reset();
	rig_nexthop(1, 1, 1);
	rig_path(1, &two, 1, 9000);
	rig_row_one(1, 1);
	rig_policy(&policy);
	rig_endpoint("fd00::", 16, "::1");
	rig_sid(1, sid(1), SRPOL_BEHAVIOR_END);
	rig_rules(&all, 1);
	rig_mark();
}

/* --- nothing changes on error: a fingerprint of all that is in force --- */

static __u64 mix(__u64 h, const void *data, __u32 len)
{
	const __u8 *b = data;

	while (len--)
		h = (h ^ *b++) * 0x100000001b3ULL;
	return h;
}

static int map_fd(const char *name)
{
	return bpf_object__find_map_fd_by_name(rig->obj, name);
}

static __u64 mix_hash_map(__u64 h, const char *name, __u32 key_len,
			  __u32 value_len)
{
	__u8 key[64], value[64], *prev = NULL;
	__u64 sum = 0;

	while (!bpf_map_get_next_key(map_fd(name), prev, key)) {
		bpf_map_lookup_elem(map_fd(name), key, value);
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

	bpf_map_lookup_elem(map_fd("state"), &zero, &st);
	h = mix(h, &st, offsetof(struct srpol_state, cfg));
	h = mix(h, &st.cfg[srpol_copy(st.cfg_ver, st.gen)], sizeof(st.cfg[0]));
	i = srpol_copy(st.order_ver, st.gen);
	bpf_map_lookup_elem(map_fd("rule_order"), &i, &order);
	h = mix(h, &order, offsetof(struct srpol_rule_order, slot));
	h = mix(h, order.slot, order.n * sizeof(order.slot[0]));
	for (i = 0; i < 4; i++) {
		bpf_map_lookup_elem(map_fd("paths"), &i, &path);
		h = mix(h, &path, offsetof(struct srpol_path, cfg));
		h = mix(h, &path.cfg[srpol_copy(path.ver, st.gen)],
			sizeof(path.cfg[0]));
		bpf_map_lookup_elem(map_fd("policies"), &i, &pol);
		h = mix(h, &pol, offsetof(struct srpol_policy, cfg));
		h = mix(h, &pol.cfg[srpol_copy(pol.ver, st.gen)],
			sizeof(pol.cfg[0]));
		bpf_map_lookup_elem(map_fd("nexthops"), &i, &nh);
		h = mix(h, &nh, sizeof(nh));
		bpf_map_lookup_elem(map_fd("bucket_rows"), &i, &row);
		h = mix(h, &row, sizeof(row));
		bpf_map_lookup_elem(map_fd("rules"), &i, &rule);
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

static void test_limits(void)
{
	static const struct {
		const char *map;
		__u32 size;
	} sizes[] = {
		{ "paths", SRPOL_MAX_PATHS },
		{ "path_stats", SRPOL_MAX_PATHS },
		{ "nexthops", SRPOL_MAX_NEXTHOPS },
		{ "policies", SRPOL_MAX_POLICIES },
		{ "policy_index", SRPOL_MAX_POLICIES },
		{ "policy_stats", SRPOL_MAX_POLICIES },
		{ "bucket_rows", SRPOL_MAX_ROWS },
		{ "rules", 2 * SRPOL_MAX_RULES },
		{ "rule_stats", SRPOL_MAX_RULES },
		{ "endpoints", SRPOL_MAX_ENDPOINTS },
		{ "endpoint_index", SRPOL_MAX_ENDPOINTS },
		{ "sids", SRPOL_MAX_SIDS },
		{ "sid_prefixes", SRPOL_MAX_SIDS },
		{ "sid_prefix_index", SRPOL_MAX_SIDS },
		{ "uplinks", SRPOL_MAX_DEVS },
		{ "path_quality", SRPOL_MAX_PATHS },
		{ "contention", SRPOL_MAX_POLICIES },
		{ "bindings", SRPOL_MAX_BINDINGS },
		{ "psn_seen", SRPOL_MAX_PSN_SEEN },
		{ "rx_flows", SRPOL_MAX_RX_FLOWS },
		{ "ce_peers", SRPOL_MAX_CE_PEERS },
		{ "errors", SRPOL_MAX_ERRORS },
		{ "drops", SRPOL_DROPS_BYTES },
		{ "sid_stats", SRPOL_MAX_SIDS },
		{ "devices", SRPOL_MAX_DEVS },
		{ "flows", SRPOL_FLOW_ENTRIES },
		{ "reasons", SRPOL_REASON_COUNT },
	};
	const struct srpol_dp_ops *ops;
	const struct bpf_map *map;
	size_t size;
	__u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		map = bpf_object__find_map_by_name(rig->obj, sizes[i].map);
		if (CHECK(map, "%s", sizes[i].map))
			CHECK_EQ(bpf_map__max_entries(map), sizes[i].size,
				 "%s", sizes[i].map);
	}
	ops = bpf_map__initial_value(rig->maps.srpol_dp, &size);
	if (!CHECK(ops && size == sizeof(*ops), "struct_ops map"))
		return;
	CHECK_EQ(ops->max_paths, SRPOL_MAX_PATHS, "limit");
	CHECK_EQ(ops->max_nexthops, SRPOL_MAX_NEXTHOPS, "limit");
	CHECK_EQ(ops->max_policies, SRPOL_MAX_POLICIES, "limit");
	CHECK_EQ(ops->max_rows, SRPOL_MAX_ROWS, "limit");
	CHECK_EQ(ops->max_rules, SRPOL_MAX_RULES, "limit");
	CHECK_EQ(ops->max_endpoints, SRPOL_MAX_ENDPOINTS, "limit");
	CHECK_EQ(ops->max_sids, SRPOL_MAX_SIDS, "limit");
	CHECK_EQ(ops->max_devs, SRPOL_MAX_DEVS, "limit");
	CHECK(!strcmp(ops->name, "ebpf"), "name %s", ops->name);
}

/* Bytes a map is accounted, /proc/PID/fdinfo. */
static long long memlock(const struct bpf_map *map)
{
	char name[64], line[128];
	long long bytes = -1;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", bpf_map__fd(map));
	file = fopen(name, "re");
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "memlock: %lld", &bytes) == 1)
			break;
	fclose(file);
	return bytes;
}

/* What the third and each further processor adds does not count here. */
static void test_memory(void)
{
	int more = libbpf_num_possible_cpus() - MEMORY_CPUS;
	const struct bpf_map *map;
	long long total = 0, bytes;

	bpf_object__for_each_map(map, rig->obj) {
		/* not created without the module */
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
			continue;
		bytes = memlock(map);
		CHECK(bytes >= 0, "%s", bpf_map__name(map));
		if (bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY)
			bytes -= (long long)bpf_map__value_size(map) *
				 bpf_map__max_entries(map) * more;
		total += bytes;
	}
	CHECK(total > 1 << 20 && total <= MEMORY_MAX, "%lld bytes", total);
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

	setup();
	rig_path_arg(&path, 0, &two, 1, 9000);
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
	rig_path(SRPOL_MAX_PATHS - 1, &two, SRPOL_MAX_NEXTHOPS - 1, 1500);
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

	setup();
	cfg = (struct srpol_dp_config){ .flow_label = 4 };
	refused("config_set", &cfg, sizeof(cfg), -EINVAL, "flow label mode");
	cfg = (struct srpol_dp_config){ .dscp_mode = 2 };
	refused("config_set", &cfg, sizeof(cfg), -EINVAL, "DSCP mode");
	cfg = (struct srpol_dp_config){ .dscp = 64 };
	refused("config_set", &cfg, sizeof(cfg), -EINVAL, "DSCP");

	rig_path_arg(&path, 1, &two, 1, 9000);
	path.encap_len = 44;
	refused("path_set", &path, sizeof(path), -EINVAL, "not of words");
	path.encap_len = 32;
	refused("path_set", &path, sizeof(path), -EINVAL, "short");
	path.encap_len = SRPOL_REWRITE_MAX - 14 + 6;
	refused("path_set", &path, sizeof(path), -EINVAL, "long");
	rig_path_arg(&path, 1, &two, 1, 9000);
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

	setup();
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

	setup();
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

/* Everything is forgotten; decisions of before do not come back. */
static void test_reset(void)
{
	static const char *const maps[] = {
		"policy_index", "endpoints", "endpoint_index", "sids",
		"sid_prefixes", "sid_prefix_index", "devices", "ports",
		"bindings",
		"psn_seen", "rx_flows", "ce_peers",
	};
	struct srpol_dp_policy policy = {
		.id = 2, .color = 5, .row = 1, .n_buckets = 128,
	};
	struct srpol_dp_rule all = { .id = 1, .color = 5 };
	struct srpol_dp_dev dev = {
		.ifindex = 3, .role = SRPOL_DEV_ROLE_PORT, .port = 3,
	};
	struct srpol_state before, after;
	__u32 i, zero = 0;
	__u8 key[64];
	struct pkt p;

	setup();
	rig_call("dev_set", &dev, sizeof(dev));
	pkt_inner(&p, &v6);
	rig_egress(&p, NULL);
	bpf_map_lookup_elem(map_fd("state"), &zero, &before);
	rig_reset();
	rig_mark();
	CHECK_EQ(rig_flows(NULL), 0, "flows");
	for (i = 0; i < ARRAY_SIZE(maps); i++)
		CHECK(bpf_map_get_next_key(map_fd(maps[i]), NULL, key),
		      "%s is not empty", maps[i]);
	CHECK_EQ(rig_call("path_state", (__u32[2]){ 1, 1 }, 8), -ENOENT,
		 "a path is left");
	rig_egress(&p, NULL);
	rig_expect("reset", SRPOL_REASON_NO_RULE, 1, RIG_END);

	/* The same epoch under a new registration is another one. */
	setup();
	bpf_map_lookup_elem(map_fd("state"), &zero, &after);
	CHECK(after.epoch > before.epoch, "epoch %u after %u", after.epoch,
	      before.epoch);
	rig_egress(&p, NULL);
	CHECK_EQ(rig_counter("policy_stats", 1).packets, 1, "policy 1");
	rig_reset();
	rig_nexthop(1, 1, 1);
	rig_path(1, &two, 1, 9000);
	rig_row_one(1, 1);
	rig_policy(&policy);
	rig_rules(&all, 1);
	rig_egress(&p, NULL);
	CHECK_EQ(rig_counter("policy_stats", 2).packets, 1, "policy 2");
}

/* A new object starts counting at 0; a changed one goes on. */
static void test_counters(void)
{
	struct srpol_dp_policy policy = {
		.id = 1, .color = 5, .row = 1, .n_buckets = 128,
	};
	struct srpol_dp_rule all = { .id = 1, .color = 5 };
	struct srpol_dp_sid s = { .id = 1 };
	struct outer o = { .sids = sids, .n = 2 };
	struct pkt p, srv6, ip = {};

	setup();
	s.prefix_len = 128;
	memcpy(s.sid, &sids[0], 16);
	pkt_inner(&p, &v6);
	pkt_inner_ip(&ip, &v6);
	pkt_encap(&srv6, &o, ip.b, ip.len);
	rig_egress(&p, NULL);
	rig_uplink(&srv6, NULL);

	rig_path(1, &six, 1, 9000);
	rig_policy(&policy);
	rig_sid(1, sids[0], SRPOL_BEHAVIOR_END);
	rig_rules(&all, 1);
	CHECK_EQ(rig_counter("path_stats", 1).packets, 1, "changed");
	CHECK_EQ(rig_counter("policy_stats", 1).packets, 1, "changed");
	CHECK_EQ(rig_counter("rule_stats", 1).packets, 1, "changed");
	CHECK_EQ(rig_sid_stats(1).packets, 1, "changed");

	rig_rules(NULL, 0);
	rig_call("policy_del", &policy, sizeof(policy));
	rig_call_u32("path_del", 1);
	rig_call("sid_del", &s, sizeof(s));
	CHECK_EQ(rig_counter("path_stats", 1).packets, 1, "deleted");
	rig_path(1, &two, 1, 9000);
	rig_policy(&policy);
	rig_sid(1, sids[0], SRPOL_BEHAVIOR_END);
	rig_rules(&all, 1);
	CHECK_EQ(rig_counter("path_stats", 1).packets, 0, "new");
	CHECK_EQ(rig_counter("path_stats", 1).bytes, 0, "new");
	CHECK_EQ(rig_counter("policy_stats", 1).packets, 0, "new");
	CHECK_EQ(rig_counter("rule_stats", 1).packets, 0, "new");
	CHECK_EQ(rig_sid_stats(1).packets, 0, "new");
}

/* Cached flows follow a deleted policy no longer than the epoch. */
static void test_policy_del(void)
{
	struct srpol_dp_policy policy = { .id = 1, .color = 5 };
	struct pkt p;

	setup();
	pkt_inner(&p, &v6);
	rig_egress(&p, NULL);
	CHECK_EQ(rig_call("policy_del", &policy, sizeof(policy)), 0, "");
	rig_epoch();
	rig_mark();
	rig_egress(&p, NULL);
	rig_expect("deleted", SRPOL_REASON_NO_POLICY, 1, RIG_END);
}

/* --- a packet sees the old path or the new one, nothing in between --- */

static volatile bool stop;
static unsigned int replaced;

static void *replacer(void *arg)
{
	unsigned int *n = arg;
	struct srpol_dp_path path;

	while (!stop) {
		rig_path_arg(&path, 1, *n & 1 ? &two : &six, 1, 9000);
		/* Poison what only the shorter one leaves unused. */
		memset(path.rewrite + 14 + path.encap_len, 0xcc,
		       SRPOL_REWRITE_MAX - 14 - path.encap_len);
		rig_call("path_set", &path, sizeof(path));
		rig_commit(false);
		/* The module waits for a grace period; so does this. */
		syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
		++*n;
	}
	return NULL;
}

static void test_switch(void)
{
	struct pkt p, out, want[2];
	unsigned int seen[2] = {}, bad = 0, i;
	pthread_t thread;

	setup();
	pkt_inner(&p, &v6);
	rig_egress(&p, &want[0]);
	rig_path(1, &six, 1, 9000);
	rig_egress(&p, &want[1]);
	stop = false;
	if (pthread_create(&thread, NULL, replacer, &replaced)) {
		FAIL("no thread");
		return;
	}
	for (i = 0; i < 1000000 && (i < 100000 || replaced < 100); i++) {
		rig_egress(&p, &out);
		if (out.len == want[0].len &&
		    !memcmp(out.b, want[0].b, out.len))
			seen[0]++;
		else if (out.len == want[1].len &&
			 !memcmp(out.b, want[1].b, out.len))
			seen[1]++;
		else
			bad++;
	}
	stop = true;
	pthread_join(thread, NULL);
	CHECK_EQ(bad, 0, "of %u", i);
	CHECK(seen[0] && seen[1] && replaced >= 100, "%u, %u; %u replaced",
	      seen[0], seen[1], replaced);
}

static const struct ktap_test tests[] = {
	{ "limits are the sizes of the maps", test_limits },
	{ "memory of all maps", test_memory },
	{ "ids out of range", test_ids },
	{ "values out of range", test_values },
	{ "objects that are not there", test_absent },
	{ "full tables", test_full },
	{ "refused order of rules", test_commit_errors },
	{ "reset", test_reset },
	{ "counters of new and changed objects", test_counters },
	{ "deleted policy", test_policy_del },
	{ "packets see the old path or the new", test_switch },
};

int main(void)
{
	unsigned int i;

	for (i = 0; i < SRPOL_SEGS_MAX; i++)
		sids[i] = sid(i + 1);
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
