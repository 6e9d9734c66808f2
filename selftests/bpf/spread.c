// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <string.h>
#include <time.h>

#include "ktap.h"
#include "rig.h"
#include "spread.h"

static struct in6_addr sids[2];

struct inner spread_flow(__u32 qp)
{
	struct inner in = {
		.src = "fd00::1", .dst = "fd00::2", .roce = true,
		.sport = 0xc000, .qp = qp, .opcode = 7, .payload = 8,
	};

	return in;
}

/* Neighbors, as the module fills a table of equal weights. */
__u32 spread_even(__u32 bucket, const void *arg)
{
	(void)arg;
	return 1 + bucket / (SRPOL_ROW_BUCKETS / PATHS);
}

/* Weights 2:2:1. */
__u32 spread_two_two_one(__u32 bucket, const void *arg)
{
	(void)arg;
	return bucket * 5 < 2 * 128 ? 1 : bucket * 5 < 4 * 128 ? 2 : 3;
}

void spread_setup_row(const struct srpol_dp_policy *policy, __u8 ordering,
		      __u32 (*row)(__u32, const void *), const void *arg)
{
	struct srpol_dp_policy p = *policy;
	struct outer o = { .sids = sids, .n = 2 };
	struct srpol_dp_rule all = {
		.id = 1, .color = COLOR, .mode = SRPOL_MODE_INHERIT,
		.ordering = ordering,
	};
	struct srpol_quality q = {};
	__u32 i;

	sids[0] = sid(1);
	sids[1] = sid(2);
	rig_reset();
	for (i = 1; i <= BACKUP_PATH; i++) {
		rig_call_u32("path_del", i);
		rig_nexthop(i, 1, 1);
		rig_path(i, &o, i, 9000);
		bpf_map_update_elem(rig_map("path_quality"), &i, &q, 0);
	}
	rig_row(ROW, row, arg);
	p.id = POLICY;
	p.color = COLOR;
	p.row = ROW;
	p.n_buckets = 128;
	rig_policy(&p);
	rig_rules(&all, 1);
	rig_mark();
}

void spread_setup(const struct srpol_dp_policy *policy, __u8 ordering)
{
	spread_setup_row(policy, ordering, spread_even, NULL);
}

__u64 spread_packets(__u32 path)
{
	return rig_counter("path_stats", path).packets;
}

/* Send a packet. Return: its path, 0 if it was left alone. */
__u32 spread_send(const struct inner *in)
{
	struct srpol_flow f;
	struct pkt p;

	pkt_inner(&p, in);
	rig_egress(&p, NULL);
	return rig_flow_of(in->qp, &f) ? f.path : 0;
}

/* The same where the path can be seen by other means. */
void spread_send_only(const struct inner *in)
{
	struct pkt p;

	pkt_inner(&p, in);
	rig_egress(&p, NULL);
}

/* The path of a QP's flow. */
__u32 spread_path(__u32 qp)
{
	struct srpol_flow f;

	return rig_flow_of(qp, &f) ? f.path : 0;
}

__u64 spread_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

__u64 spread_now_ms(void)
{
	return spread_now_ns() / MS;
}

void spread_quality(__u32 path, __u32 penalty, __u32 level)
{
	struct srpol_quality q = { .penalty = penalty, .level = level };

	q.level_ns = spread_now_ns();
	bpf_map_update_elem(rig_map("path_quality"), &path, &q, 0);
}

void spread_check(const char *about, __u64 got, double want, double by)
{
	CHECK(got >= want - by && got <= want + by, "%s: %llu, not %.0f",
	      about, got, want);
}

void spread_bind(__u32 qp, __u32 local)
{
	struct srpol_qp_key key = { .qp = local };
	const struct srpol_flow *f = NULL;
	struct srpol_binding b = { .source = 1 };
	struct in6_addr a = addr("fd00::1"), peer = addr("fd00::2");

	while ((f = rig_flow_next(f)))
		if (f->key.qp == qp)
			b.flow = f->key;
	memcpy(key.local, &a, 16);
	memcpy(key.peer, &peer, 16);
	bpf_map_update_elem(rig_map("bindings"), &key, &b, 0);
}

void spread_cnp(__u32 local)
{
	struct inner in = {
		.src = "fd00::2", .dst = "fd00::1", .roce = true, .qp = local,
		.opcode = CNP, .payload = 16,
	};
	struct pkt p;

	pkt_inner(&p, &in);
	CHECK_EQ(rig_uplink(&p, NULL), X_PASS, "CNP");
}

