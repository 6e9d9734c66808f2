// SPDX-License-Identifier: GPL-2.0
/* Egress: rules about what is around a packet: its tags, its sender. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "colors.h"
#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* A frame with @tags tags, the outermost first. */
static void tagged(struct pkt *p, const __u16 *vids, int tags)
{
	struct pkt ip = {};
	int i;

	pkt_inner_ip(&ip, &colors_roce6);
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
	struct srpol_dp_rule r[3] = {
		{ .color = 1, .match = SRPOL_MATCH_VLAN, .vlan = 100 },
		{ .color = 2, .match = SRPOL_MATCH_VLAN, .vlan = 101 },
		{ .color = 3, .match = SRPOL_MATCH_VLAN, .vlan = 0 },
	};
	__u64 before;
	struct pkt p;
	__u32 i, round;

	colors_setup();
	rig_rules(r, 3);
	rig_uplinks_clear();
	rig_uplink_add(1);
	/* Of one QP; from the cache as well; and at a host port. */
	for (round = 0; round < 3; round++) {
		for (i = 0; i < ARRAY_SIZE(t); i++) {
			rig_mark();
			before = t[i].color ? colors_packets(t[i].color) : 0;
			tagged(&p, t[i].vids, t[i].tags);
			if (round < 2)
				rig_egress(&p, NULL);
			else
				rig_port(&p, NULL);
			if (t[i].color)
				CHECK_EQ(colors_packets(t[i].color),
					 before + 1, "case %u", i);
			else
				rig_expect("no such tag",
					   SRPOL_REASON_NO_RULE, 1, RIG_END);
		}
	}
	/* those of the port are others than those of egress */
	CHECK_EQ(rig_flows(NULL), 2 * 4, "flows by tag");
	/* Without such a rule the tag tells nothing apart. */
	colors_setup();
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
	struct srpol_dp_rule r[2] = {
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

	colors_setup();
	r[0].cgroup = cgroup_make(top);
	r[1].cgroup = cgroup_make(other);
	cgroup_make(low);
	/* Level of a child of the root, wherever the mount's root is. */
	r[0].cgroup_level = 1;
	r[1].cgroup_level = 1;
	rig_rules(r, 2);
	rig_mark();
	pkt_inner(&p, &colors_tcp4);
	colors_unmatched("elsewhere", &colors_tcp4);
	cgroup_enter(top);
	colors_steered("in it", &colors_tcp4, 1);
	cgroup_enter(other);
	colors_steered("in the other", &colors_tcp4, 2);
	cgroup_enter(low);
	colors_steered("below it", &colors_tcp4, 1);
	colors_steered("below it, cached", &colors_tcp4, 1);
	CHECK_EQ(rig_flows(NULL), 4, "flows of one socket pair");
	/* The sender is not known at a port. */
	rig_mark();
	CHECK_EQ(rig_port(&p, NULL), X_PASS, "port");
	rig_expect("port", SRPOL_REASON_NO_RULE, 1, RIG_END);
	/* Without such a rule the sender tells nothing apart. */
	rig_rules(&(struct srpol_dp_rule){ .color = 3 }, 1);
	rig_mark();
	colors_steered("any", &colors_tcp4, 3);

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
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
