// SPDX-License-Identifier: GPL-2.0
/* Egress: buckets, dead paths, backup, drop-upon-invalid. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define PATHS		4	/* ids 1..4, next hop of path P is P */
#define BACKUP_PATH	9
#define FLOWS		2000

#define POLICY		1
#define BACKUP		2
#define ROW		1
#define BACKUP_ROW	20

static struct in6_addr sids[2];

/* Paths in turn, so that each has a quarter. */
static __u32 even(__u32 bucket, const void *arg)
{
	(void)arg;
	return 1 + bucket % PATHS;
}

/* 64, 32, 16, 16 buckets: weights 4:2:1:1. */
static __u32 weighted(__u32 bucket, const void *arg)
{
	static const __u8 share[8] = { 1, 1, 2, 1, 3, 1, 2, 4 };

	(void)arg;
	return share[bucket % 8];
}

/* One bucket of path 2, the others of path 1. */
static __u32 lone(__u32 bucket, const void *arg)
{
	return bucket == *(const __u32 *)arg ? 2 : 1;
}

/* Paths 5, 6 and 7 in turn. */
static __u32 three(__u32 bucket, const void *arg)
{
	(void)arg;
	return 5 + bucket % 3;
}

static void set_policy(__u32 id, __u32 row, __u32 n_buckets, __u32 drop_upon_invalid,
		       __u32 backup)
{
	struct srpol_dp_policy p = {
		.id = id, .color = id, .row = row, .n_buckets = n_buckets,
		.drop_upon_invalid = drop_upon_invalid, .backup = backup,
	};

	rig_policy(&p);
}

static void setup(__u32 (*path)(__u32, const void *), const void *arg,
		  __u32 drop_upon_invalid, __u32 backup)
{
	struct outer o = { .sids = sids, .n = 2 };
	struct srpol_dp_rule all = { .color = POLICY };
	__u32 i;

	rig_reset();
	for (i = 1; i <= PATHS; i++) {
		rig_nexthop(i, 1, 1);
		rig_path(i, &o, i, 9000);
	}
	rig_nexthop(BACKUP_PATH, 1, 1);
	rig_path(BACKUP_PATH, &o, BACKUP_PATH, 9000);
	rig_row(ROW, path, arg);
	rig_row_one(BACKUP_ROW, BACKUP_PATH);
	set_policy(BACKUP, BACKUP_ROW, 128, 1, 0);
	set_policy(POLICY, ROW, 128, drop_upon_invalid, backup);
	rig_rules(&all, 1);
	rig_mark();
}

static void flow_packet(struct pkt *p, __u32 nr)
{
	struct inner in = {
		.src = "fd00::1", .dst = "fd00::2", .roce = true,
		.sport = 0xc000, .qp = 1 + nr, .payload = 8,
	};

	pkt_inner(p, &in);
}

static __u64 packets(__u32 path)
{
	return rig_counter("path_stats", path).packets;
}

/* Send a packet of flow @nr. Return: the path it took, 0 none. */
static __u32 send_one(__u32 nr, int *verdict)
{
	__u64 before[BACKUP_PATH + 1];
	struct pkt p;
	__u32 i, took = 0;
	int v;

	for (i = 1; i <= BACKUP_PATH; i++)
		before[i] = packets(i);
	flow_packet(&p, nr);
	v = rig_egress(&p, NULL);
	if (verdict)
		*verdict = v;
	for (i = 1; i <= BACKUP_PATH; i++)
		if (packets(i) != before[i])
			took = took ? 99 : i;
	return took;
}

static __u32 took[FLOWS];

static void send_all(__u32 *count)
{
	__u32 i;

	memset(count, 0, (BACKUP_PATH + 1) * sizeof(*count));
	for (i = 0; i < FLOWS; i++) {
		took[i] = send_one(i, NULL);
		if (took[i] <= BACKUP_PATH)
			count[took[i]]++;
	}
}

static void check_share(const char *about, __u32 got, __u32 want)
{
	CHECK(got * 100 > want * 80 && got * 100 < want * 120,
	      "%s: %u of %d flows, not about %u", about, got, FLOWS, want);
}

static void test_weights(void)
{
	__u32 count[BACKUP_PATH + 1], before[FLOWS], i;

	setup(weighted, NULL, 1, 0);
	send_all(count);
	check_share("weight 4", count[1], FLOWS / 2);
	check_share("weight 2", count[2], FLOWS / 4);
	check_share("weight 1", count[3], FLOWS / 8);
	check_share("weight 1", count[4], FLOWS / 8);
	rig_expect("no path was dead", SRPOL_REASON_STEERED, FLOWS, RIG_END);
	memcpy(before, took, sizeof(before));
	send_all(count);
	for (i = 0; i < FLOWS; i++)
		CHECK_EQ(took[i], before[i], "flow %u moved", i);
}

static void test_rows(void)
{
	__u32 count[BACKUP_PATH + 1], i;

	/* 512 buckets: each row is one path. */
	setup(even, NULL, 1, 0);
	for (i = 0; i < PATHS; i++)
		rig_row_one(ROW + i, 1 + i);
	set_policy(POLICY, ROW, 512, 1, 0);
	send_all(count);
	for (i = 1; i <= PATHS; i++)
		check_share("row", count[i], FLOWS / PATHS);
	/* A smaller table is the beginning of a row. */
	rig_row(ROW, lone, &(__u32){ 64 });
	set_policy(POLICY, ROW, 64, 1, 0);
	send_all(count);
	CHECK_EQ(count[1], FLOWS, "beyond 64 buckets");
}

/* Neighbors, as the module fills a table of equal weights. */
static __u32 blocks(__u32 bucket, const void *arg)
{
	(void)arg;
	return 1 + bucket / (SRPOL_ROW_BUCKETS / PATHS);
}

/*
 * QPs opened one after the other differ by one at most between paths, from
 * whatever QP and between whatever hosts.
 */
static void test_consecutive_qps(void)
{
	struct inner in = { .dst = "fd00::2", .roce = true, .payload = 8 };
	__u64 before[PATHS + 1], n, low, high;
	__u32 first, i, host;
	char src[16];
	struct pkt p;

	setup(blocks, NULL, 1, 0);
	for (host = 1; host <= 8; host++) {
		snprintf(src, sizeof(src), "fd00::%u", 100 + host);
		in.src = src;
		first = 17 * host * host * host;
		for (i = 1; i <= PATHS; i++)
			before[i] = packets(i);
		for (in.qp = first; in.qp < first + 64; in.qp++) {
			/* Whatever port a QP is given, it has one path. */
			in.sport = 0xc000 + in.qp * host % 1000;
			pkt_inner(&p, &in);
			rig_egress(&p, NULL);
		}
		low = 64;
		high = 0;
		for (i = 1; i <= PATHS; i++) {
			n = packets(i) - before[i];
			low = n < low ? n : low;
			high = n > high ? n : high;
		}
		CHECK(low >= 15 && high <= 17, "host %u: %llu to %llu of 64",
		      host, low, high);
	}
}

static void check_dead(__u32 dead)
{
	__u32 count[BACKUP_PATH + 1], before[FLOWS], i, first, moved = 0;

	send_all(count);
	memcpy(before, took, sizeof(before));
	first = 0;
	while (before[first] != dead)
		first++;
	CHECK_EQ(send_one(first, NULL), dead, "before");
	rig_mark();
	if (dead & 1)
		rig_path_state(dead, 0);
	else
		rig_nexthop(dead, 1, 0);
	CHECK(send_one(first, NULL) != dead, "the next packet");
	rig_expect("the next packet", SRPOL_REASON_STEERED, 1,
		   SRPOL_REASON_DOWN_SKIPPED, 1, RIG_END);
	send_all(count);
	CHECK_EQ(count[0] + count[dead], 0, "lost or sent to the dead path");
	for (i = 0; i < FLOWS; i++) {
		if (before[i] != dead)
			CHECK_EQ(took[i], before[i], "flow %u moved", i);
		else
			moved++;
	}
	rig_expect("skipped", SRPOL_REASON_STEERED, FLOWS,
		   SRPOL_REASON_DOWN_SKIPPED, moved, RIG_END);
	/* Each of the three survivors got about a third of its flows. */
	for (i = 1; i <= PATHS; i++)
		if (i != dead)
			check_share("survivor", count[i], FLOWS / (PATHS - 1));
	if (dead & 1)
		rig_path_state(dead, 1);
	else
		rig_nexthop(dead, 1, 1);
	send_all(count);
	CHECK(!memcmp(before, took, sizeof(took)), "not back as it was");
	rig_mark();
}

static void test_dead_path(void)
{
	setup(even, NULL, 1, 0);
	check_dead(3);
}

static void test_dead_nexthop(void)
{
	setup(even, NULL, 1, 0);
	check_dead(2);
}

/* However few buckets the survivor has, it is found. */
static void test_lone_survivor(void)
{
	__u32 count[BACKUP_PATH + 1], bucket;

	for (bucket = 0; bucket < 128; bucket += 127) {
		setup(lone, &bucket, 1, 0);
		rig_path_state(1, 0);
		send_all(count);
		CHECK_EQ(count[2], FLOWS, "bucket %u", bucket);
	}
	/* In the last bucket of the largest table. */
	bucket = 127;
	setup(lone, &bucket, 1, 0);
	for (bucket = 0; bucket < 8; bucket++)
		rig_row_one(ROW + bucket, 1);
	bucket = 127;
	rig_row(ROW + 7, lone, &bucket);
	set_policy(POLICY, ROW, 1024, 1, 0);
	rig_path_state(1, 0);
	send_all(count);
	CHECK_EQ(count[2], FLOWS, "1024 buckets");
}

static void all_down(void)
{
	__u32 i;

	for (i = 1; i <= PATHS; i++)
		rig_path_state(i, 0);
}

static void test_backup(void)
{
	struct srpol_counter c;
	int verdict;

	setup(even, NULL, 1, BACKUP);
	CHECK(send_one(1, NULL) <= PATHS, "before");
	all_down();
	rig_mark();
	CHECK_EQ(send_one(1, &verdict), BACKUP_PATH, "backup");
	CHECK_EQ(verdict, TC_NEXT, "backup");
	rig_expect("backup", SRPOL_REASON_STEERED, 1, SRPOL_REASON_BACKUP, 1,
		   RIG_END);
	c = rig_counter("policy_stats", BACKUP);
	CHECK_EQ(c.packets, 1, "the policy whose path it was");
	/* A table without buckets is as dead. */
	set_policy(POLICY, 0, 0, 1, BACKUP);
	CHECK_EQ(send_one(1, NULL), BACKUP_PATH, "no buckets");
	rig_mark();
	/* The backup's backup is not asked. */
	set_policy(BACKUP, BACKUP_ROW, 128, 0, POLICY);
	rig_path_state(BACKUP_PATH, 0);
	CHECK_EQ(send_one(1, &verdict), 0, "backup dead");
	CHECK_EQ(verdict, TC_DROP, "drop-upon-invalid of the policy, not the backup's");
	rig_expect("backup dead", SRPOL_REASON_INVALID_DROP, 1, RIG_END);
	rig_path_state(2, 1);
	set_policy(POLICY, ROW, 128, 1, BACKUP);
	CHECK_EQ(send_one(1, NULL), 2, "alive again");
}

/* The backup policy's mode counts, not the hash: all on its first path. */
static void test_backup_mode(void)
{
	struct srpol_dp_policy p = {
		.id = BACKUP, .color = BACKUP, .row = BACKUP_ROW,
		.n_buckets = 128, .mode = SRPOL_LB_MODE_ACTIVE_BACKUP,
	};
	struct srpol_dp_rule all = {
		.color = POLICY, .mode = SRPOL_MODE_INHERIT,
	};
	struct outer o = { .sids = sids, .n = 2 };
	__u32 i, first = 0, second = 0;

	setup(even, NULL, 1, BACKUP);
	rig_rules(&all, 1);
	for (i = 5; i < 8; i++) {
		rig_nexthop(i, 1, 1);
		rig_path(i, &o, i, 9000);
	}
	rig_row(BACKUP_ROW, three, NULL);
	rig_policy(&p);
	all_down();
	for (i = 0; i < 300; i++)
		first += send_one(i, NULL) == 5;
	CHECK_EQ(first, 300, "of 300 flows");
	rig_path_state(5, 0);
	for (i = 0; i < 300; i++)
		second += send_one(i, NULL) == 6;
	CHECK_EQ(second, 300, "of 300 flows, the second path");
}

static void test_drop_upon_invalid(void)
{
	struct pkt p, out;

	setup(even, NULL, 1, 0);
	all_down();
	flow_packet(&p, 1);
	CHECK_EQ(rig_egress(&p, &out), TC_DROP, "drop");
	rig_expect("drop", SRPOL_REASON_INVALID_DROP, 1, RIG_END);
	set_policy(POLICY, ROW, 128, 0, 0);
	CHECK_EQ(rig_egress(&p, &out), TC_NEXT, "passthrough");
	CHECK(pkt_equal(&out, &p), "passthrough");
	rig_expect("passthrough", SRPOL_REASON_INVALID_PASSTHROUGH, 1, RIG_END);
	set_policy(POLICY, 0, 0, 1, 0);
	CHECK_EQ(rig_egress(&p, &out), TC_DROP, "no buckets");
	rig_expect("no buckets", SRPOL_REASON_INVALID_DROP, 1, RIG_END);
	CHECK_EQ(rig_counter("policy_stats", POLICY).packets, 0,
		 "not forwarded, not counted");
}

static volatile bool over;

static void *keep_changing(void *up)
{
	for (*(__u32 *)up = 1; !over; *(__u32 *)up ^= 1)
		rig_path_state(1, *(__u32 *)up);
	return NULL;
}

/*
 * A path comes and goes all the time. Another one is up, in the policy or as a
 * backup: no packet is without a path.
 */
static void test_race(void)
{
	__u64 invalid = rig_reason(SRPOL_REASON_INVALID_DROP), down;
	__u32 bucket = 0, reason, up, backup, i;
	const time_t end = time(NULL) + 120;
	struct pkt p[8];
	pthread_t changer;

	for (i = 0; i < ARRAY_SIZE(p); i++)
		flow_packet(&p[i], i);
	for (backup = 0; backup < 2; backup++) {
		setup(lone, &bucket, 1, backup ? BACKUP : 0);
		if (backup)
			rig_path_state(2, 0);
		reason = backup ? SRPOL_REASON_BACKUP :
				  SRPOL_REASON_DOWN_SKIPPED;
		down = rig_reason(reason);
		over = false;
		CHECK_EQ(pthread_create(&changer, NULL, keep_changing, &up), 0,
			 "thread");
		for (i = 0; i < 300000 || (rig_reason(reason) == down &&
					   time(NULL) < end); i++)
			rig_egress(&p[i % ARRAY_SIZE(p)], NULL);
		over = true;
		pthread_join(changer, NULL);
		CHECK_EQ(rig_reason(SRPOL_REASON_INVALID_DROP), invalid,
			 "backup %u", backup);
		CHECK(rig_reason(reason) > down, "backup %u: it was down, too",
		      backup);
	}
	rig_mark();
}

static const struct ktap_test tests[] = {
	{ "weights, and flows that stay", test_weights },
	{ "consecutive QPs fall evenly on the paths", test_consecutive_qps },
	{ "tables of several rows, and of half a row", test_rows },
	{ "a dead path is skipped at once", test_dead_path },
	{ "a dead next hop is skipped at once", test_dead_nexthop },
	{ "a lone survivor is found", test_lone_survivor },
	{ "backup policy", test_backup },
	{ "backup policy in mode active-backup", test_backup_mode },
	{ "drop-upon-invalid", test_drop_upon_invalid },
	{ "a path that comes and goes", test_race },
};

int main(void)
{
	sids[0] = sid(1);
	sids[1] = sid(2);
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
