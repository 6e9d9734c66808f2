// SPDX-License-Identifier: GPL-2.0
/* The methods the module calls: limits, memory, ids used again, switching. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "each.h"
#include "ktap.h"
#include "rig.h"
#include "srpol.skel.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* All maps together, on a machine of two processors. */
#define MEMORY_MAX	(96LL << 20)
#define MEMORY_CPUS	2

static const struct inner v6 = {
	.src = "fd00::1", .dst = "fd00::2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .payload = 16,
};

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

	each_set_up();
	rig_call("dev_set", &dev, sizeof(dev));
	pkt_inner(&p, &v6);
	rig_egress(&p, NULL);
	bpf_map_lookup_elem(rig_map("state"), &zero, &before);
	rig_reset();
	rig_mark();
	CHECK_EQ(rig_flows(NULL), 0, "flows");
	for (i = 0; i < ARRAY_SIZE(maps); i++)
		CHECK(bpf_map_get_next_key(rig_map(maps[i]), NULL, key),
		      "%s is not empty", maps[i]);
	CHECK_EQ(rig_call("path_state", (__u32[2]){ 1, 1 }, 8), -ENOENT,
		 "a path is left");
	rig_egress(&p, NULL);
	rig_expect("reset", SRPOL_REASON_NO_RULE, 1, RIG_END);

	/* The same epoch under a new registration is another one. */
	each_set_up();
	bpf_map_lookup_elem(rig_map("state"), &zero, &after);
	CHECK(after.epoch > before.epoch, "epoch %u after %u", after.epoch,
	      before.epoch);
	rig_egress(&p, NULL);
	CHECK_EQ(rig_counter("policy_stats", 1).packets, 1, "policy 1");
	rig_reset();
	rig_nexthop(1, 1, 1);
	rig_path(1, &each_two, 1, 9000);
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
	struct outer o = { .sids = each_sids, .n = 2 };
	struct pkt p, srv6, ip = {};

	each_set_up();
	s.prefix_len = 128;
	memcpy(s.sid, &each_sids[0], 16);
	pkt_inner(&p, &v6);
	pkt_inner_ip(&ip, &v6);
	pkt_encap(&srv6, &o, ip.b, ip.len);
	rig_egress(&p, NULL);
	rig_uplink(&srv6, NULL);

	rig_path(1, &each_six, 1, 9000);
	rig_policy(&policy);
	rig_sid(1, each_sids[0], SRPOL_BEHAVIOR_END);
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
	rig_path(1, &each_two, 1, 9000);
	rig_policy(&policy);
	rig_sid(1, each_sids[0], SRPOL_BEHAVIOR_END);
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

	each_set_up();
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
		rig_path_arg(&path, 1, *n & 1 ? &each_two : &each_six, 1, 9000);
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
	const time_t end = time(NULL) + 120;
	pthread_t thread;

	each_set_up();
	pkt_inner(&p, &v6);
	rig_egress(&p, &want[0]);
	rig_path(1, &each_six, 1, 9000);
	rig_egress(&p, &want[1]);
	stop = false;
	if (pthread_create(&thread, NULL, replacer, &replaced)) {
		FAIL("no thread");
		return;
	}
	for (i = 0; i < 100000 || (replaced < 100 && time(NULL) < end); i++) {
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

/* Is there a port by which packets of this device come in? */
static bool is_port(__u32 ifindex)
{
	struct srpol_port port;

	return !bpf_map_lookup_elem(rig_map("ports"), &ifindex, &port);
}

/* A port that becomes something else is no port any more. */
static void test_roles(void)
{
	struct srpol_dp_dev dev = {
		.ifindex = 3, .role = SRPOL_DEV_ROLE_PORT, .port = 3,
	};

	rig_reset();
	CHECK_EQ(rig_call("dev_set", &dev, sizeof(dev)), 0, "port");
	CHECK_EQ(rig_call("dev_set", &dev, sizeof(dev)), 0, "again");
	CHECK(is_port(3), "port");
	dev.role = SRPOL_DEV_ROLE_HOST;
	dev.port = 4;
	CHECK_EQ(rig_call("dev_set", &dev, sizeof(dev)), 0, "virtual port");
	CHECK(!is_port(3) && is_port(4), "virtual port");
	dev.role = SRPOL_DEV_ROLE_UPLINK;
	dev.port = 0;
	CHECK_EQ(rig_call("dev_set", &dev, sizeof(dev)), 0, "uplink");
	CHECK(!is_port(3) && !is_port(4), "uplink");
	CHECK_EQ(rig_call_u32("dev_del", 3), 0, "gone");
}

static const struct ktap_test tests[] = {
	{ "limits are the sizes of the maps", test_limits },
	{ "memory of all maps", test_memory },
	{ "reset", test_reset },
	{ "counters of new and changed objects", test_counters },
	{ "deleted policy", test_policy_del },
	{ "a device gets another role", test_roles },
	{ "packets see the old path or the new", test_switch },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
