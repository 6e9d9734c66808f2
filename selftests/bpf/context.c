// SPDX-License-Identifier: GPL-2.0
/* Egress: rules about what is around a packet: its tags, its sender. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Policy of color C has id, path and row C. */
#define COLORS		4
#define NULL_ENDPOINT	"::"

static struct in6_addr sids[2];

static const struct inner roce6 = {
	.src = "fd00:1::1", .dst = "fd00:2::2", .roce = true, .sport = 0xc123,
	.qp = 1500, .opcode = 4, .pkey = 0xffff, .tclass = 26 << 2 | 2,
	.payload = 16,
};

static const struct inner tcp4 = {
	.src = "10.1.0.1", .dst = "10.2.0.2", .proto = IPPROTO_TCP,
	.sport = 40000, .dport = 443, .tclass = 26 << 2, .payload = 16,
};

static void set_policy(__u32 id, __u32 color, const char *endpoint)
{
	struct outer o = { .sids = sids, .n = 2 };
	struct srpol_dp_policy p = {
		.id = id, .color = color, .row = id, .n_buckets = 128,
	};
	struct in6_addr a = addr(endpoint);

	memcpy(p.endpoint, &a, 16);
	rig_path(id, &o, 1, 9000);
	rig_row_one(id, id);
	rig_policy(&p);
}

static void setup(void)
{
	__u32 c;

	rig_reset();
	rig_nexthop(1, 1, 1);
	for (c = 1; c < COLORS; c++)
		set_policy(c, c, NULL_ENDPOINT);
	rig_mark();
}

static __u64 policy_packets(__u32 id)
{
	return rig_counter("policy_stats", id).packets;
}

/*
 * Send a packet; @color says which policy must take it, 0 none for @reason.
 */
static void expect_env(const char *about, const struct inner *in,
		       const struct rig_env *env, __u32 color, int reason)
{
	__u64 before = color ? policy_packets(color) : 0;
	struct pkt p, out;

	pkt_inner(&p, in);
	CHECK_EQ(rig_egress_env(&p, &out, env), TC_NEXT, "%s", about);
	if (color) {
		CHECK_EQ(policy_packets(color), before + 1, "%s", about);
		reason = SRPOL_REASON_STEERED;
	} else {
		CHECK(pkt_equal(&out, &p), "%s", about);
	}
	rig_expect(about, reason, 1, RIG_END);
}

static void expect(const char *about, const struct inner *in, __u32 color,
		   int reason)
{
	const struct rig_env env = {};

	expect_env(about, in, &env, color, reason);
}

static void steered(const char *about, const struct inner *in, __u32 color)
{
	expect(about, in, color, 0);
}

static void unmatched(const char *about, const struct inner *in)
{
	expect(about, in, 0, SRPOL_REASON_NO_CLASS);
}

/* A frame with @tags tags, the outermost first. */
static void tagged(struct pkt *p, const __u16 *vids, int tags)
{
	struct pkt ip = {};
	int i;

	pkt_inner_ip(&ip, &roce6);
	p->len = 0;
	pkt_add(p, pkt_host_macs, 12);
	for (i = 0; i < tags; i++) {
		pkt_add16(p, tags == 2 && !i ? 0x88a8 : 0x8100);
		pkt_add16(p, 0xe000 | vids[i]);	/* priority 7 */
	}
	pkt_add16(p, 0x86dd);
	pkt_add(p, ip.b, ip.len);
}

static void test_vlan(void)
{
	static const struct { __u16 vids[2]; int tags; __u32 color; } t[] = {
		{ { 0 }, 0, 3 }, { { 100 }, 1, 1 }, { { 101 }, 1, 2 },
		{ { 100, 101 }, 2, 1 }, { { 101, 100 }, 2, 2 },
		{ { 4095 }, 1, 0 },
	};
	struct srpol_dp_class r[3] = {
		{ .color = 1, .match = SRPOL_MATCH_VLAN, .vlan = 100 },
		{ .color = 2, .match = SRPOL_MATCH_VLAN, .vlan = 101 },
		{ .color = 3, .match = SRPOL_MATCH_VLAN, .vlan = 0 },
	};
	__u64 before;
	struct pkt p;
	__u32 i, round;

	setup();
	rig_rules(r, 3);
	rig_uplinks_clear();
	rig_uplink_add(1);
	/* Of one QP; from the cache as well; and at a host port. */
	for (round = 0; round < 3; round++) {
		for (i = 0; i < ARRAY_SIZE(t); i++) {
			rig_mark();
			before = t[i].color ? policy_packets(t[i].color) : 0;
			tagged(&p, t[i].vids, t[i].tags);
			if (round < 2)
				rig_egress(&p, NULL);
			else
				rig_port(&p, NULL);
			if (t[i].color)
				CHECK_EQ(policy_packets(t[i].color),
					 before + 1, "case %u", i);
			else
				rig_expect("no such tag",
					   SRPOL_REASON_NO_CLASS, 1, RIG_END);
		}
	}
	CHECK_EQ(rig_flows(NULL), 4, "flows by tag");
	/* Without such a rule the tag tells nothing apart. */
	setup();
	r[0].match = 0;
	rig_rules(r, 1);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		tagged(&p, t[i].vids, t[i].tags);
		rig_egress(&p, NULL);
	}
	CHECK_EQ(rig_flows(NULL), 1, "one flow");
}

/* --- cgroups: a packet of a test run is its caller's --- */

static char cgroup_root[64];

static __u64 cgroup_make(const char *name)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", cgroup_root, name);
	if ((mkdir(path, 0755) && errno != EEXIST) || stat(path, &st)) {
		FAIL("%s: %m", path);
		return 0;
	}
	return st.st_ino;
}

static void cgroup_enter(const char *name)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/cgroup.procs", cgroup_root, name);
	f = fopen(path, "w");
	if (!f || fprintf(f, "%d", getpid()) < 0 || fclose(f))
		FAIL("%s: %m", path);
}

static void test_cgroup(void)
{
	struct srpol_dp_class r[2] = {
		{ .color = 1, .match = SRPOL_MATCH_CGROUP },
		{ .color = 2, .match = SRPOL_MATCH_CGROUP },
	};
	char top[32], low[64], other[32], path[128], was[PATH_MAX] = "";
	const char *const names[] = { low, other, top };
	struct pkt p;
	FILE *f;
	int i;

	snprintf(cgroup_root, sizeof(cgroup_root), "/tmp/srpol-cgroup-%d",
		 getpid());
	if (mkdir(cgroup_root, 0700) ||
	    mount("none", cgroup_root, "cgroup2", 0, NULL)) {
		FAIL("no cgroup2: %m");
		return;
	}
	/* Where we are, to go back to. */
	f = fopen("/proc/self/cgroup", "r");
	while (f && fgets(path, sizeof(path), f))
		if (!strncmp(path, "0::", 3))
			snprintf(was, sizeof(was), "%.*s",
				 (int)strcspn(path + 3, "\n"), path + 3);
	if (f)
		fclose(f);
	snprintf(top, sizeof(top), "srpol-%d", getpid());
	snprintf(low, sizeof(low), "%s/low", top);
	snprintf(other, sizeof(other), "srpol-%d-other", getpid());

	setup();
	r[0].cgroup = cgroup_make(top);
	r[1].cgroup = cgroup_make(other);
	cgroup_make(low);
	/* Level of a child of the root, wherever the mount's root is. */
	r[0].cgroup_level = 1;
	r[1].cgroup_level = 1;
	rig_rules(r, 2);
	rig_mark();
	pkt_inner(&p, &tcp4);
	unmatched("elsewhere", &tcp4);
	cgroup_enter(top);
	steered("in it", &tcp4, 1);
	cgroup_enter(other);
	steered("in the other", &tcp4, 2);
	cgroup_enter(low);
	steered("below it", &tcp4, 1);
	steered("below it, cached", &tcp4, 1);
	CHECK_EQ(rig_flows(NULL), 4, "flows of one socket pair");
	/* The sender is not known at a port. */
	rig_mark();
	CHECK_EQ(rig_port(&p, NULL), X_PASS, "port");
	rig_expect("port", SRPOL_REASON_NO_CLASS, 1, RIG_END);
	/* Without such a rule the sender tells nothing apart. */
	rig_rules(&(struct srpol_dp_class){ .color = 3 }, 1);
	rig_mark();
	steered("any", &tcp4, 3);

	cgroup_enter(was);
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", cgroup_root, names[i]);
		if (rmdir(path))
			FAIL("%s: %m", path);
	}
	umount(cgroup_root);
	rmdir(cgroup_root);
}

static const struct ktap_test tests[] = {
	{ "VLAN tags", test_vlan },
	{ "cgroups", test_cgroup },
};

int main(void)
{
	sids[0] = sid(1);
	sids[1] = sid(2);
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
