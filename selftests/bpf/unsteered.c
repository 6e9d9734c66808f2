// SPDX-License-Identifier: GPL-2.0
/* What a flow remembers that is not steered any more. */
#include <bpf/bpf.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ktap.h"
#include "rig.h"
#include "spread.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define LO		1
#define PORT		"w0"
#define LOCAL		900	/* local QP that CNPs name */

static const __u8 mac[6] = { 2, 0, 0, 0, 0, 0xa };

/* Where packets are steered; as they leave, and as they come in by a port. */
static const struct place {
	const char *name;
	int (*run)(const struct pkt *in, struct pkt *out, const struct rig_env *env);
	bool port;
} places[] = {
	{ "egress", rig_egress_env, false },
	{ "port", rig_port_tc, true },
};

static void run(const char *command)
{
	if (system(command))
		FAIL("%s", command);
}

/* Send a packet of the flow. */
static void transmit(const struct place *at)
{
	/* a jiffy, in which the routes of a known flow are not looked at twice */
	const struct timespec jiffy = { .tv_nsec = 1000000000 / 100 };
	const struct rig_env env = { .ifindex = at->port ? if_nametoindex(PORT) : LO };
	const struct inner in = spread_flow(QP);
	struct pkt p;

	nanosleep(&jiffy, NULL);
	pkt_inner(&p, &in);
	memcpy(p.b, mac, sizeof(mac));
	at->run(&p, NULL, &env);
}

/* The same, which is to be counted for @reason alone. */
static void check_send(const struct place *at, int reason)
{
	rig_mark();
	transmit(at);
	rig_expect(at->name, reason, 1, RIG_END);
}

/* CNPs that were counted against the paths. */
static __u64 congested(void)
{
	struct srpol_quality q;
	__u64 n = 0;
	__u32 path;

	for (path = 1; path <= BACKUP_PATH; path++)
		if (!bpf_map_lookup_elem(rig_map("path_quality"), &path, &q))
			n += q.cnp;
	return n;
}

static void port(__u32 source)
{
	struct srpol_dp_dev dev = {
		.ifindex = if_nametoindex(PORT), .role = SRPOL_DEV_ROLE_PORT,
		.port = if_nametoindex(PORT), .source = source,
	};

	CHECK_EQ(rig_call("dev_set", &dev, sizeof(dev)), 0, "port");
}

static void start(const struct place *at)
{
	struct srpol_dp_policy policy = { .mode = SRPOL_LB_MODE_HASH };

	spread_setup(&policy, 0);
	rig_uplinks_clear();
	rig_uplink_add_tc(LO);
	port(SRPOL_SOURCE_CHECK_NONE);
	check_send(at, SRPOL_REASON_STEERED);
	CHECK(spread_path(QP), "%s: has a path", at->name);
	spread_bind(QP, LOCAL);
	spread_cnp(LOCAL);
	CHECK_EQ(congested(), 1, "%s: the path has a CNP", at->name);
}

static void check_left(const struct place *at, int reason)
{
	check_send(at, reason);
	CHECK_EQ(spread_path(QP), 0, "%s: path of the last packet", at->name);
	spread_cnp(LOCAL);
	CHECK_EQ(rig_detail(QP).cnp, 2, "%s: the flow has both CNPs", at->name);
	CHECK_EQ(congested(), 1, "%s: no path has the second", at->name);
}

/* It comes back, which is no move from one path to another. */
static void check_back(const struct place *at)
{
	check_send(at, SRPOL_REASON_STEERED);
	CHECK(spread_path(QP), "%s: has a path again", at->name);
	CHECK_EQ(rig_detail(QP).moves, 0, "%s: moves", at->name);
}

static void paths_up(__u32 up)
{
	__u32 path;

	for (path = 1; path <= PATHS; path++)
		rig_nexthop(path, LO, up);
}

static void test_passthrough(void)
{
	__u32 i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		start(&places[i]);
		paths_up(0);
		check_left(&places[i], SRPOL_REASON_INVALID_PASSTHROUGH);
		paths_up(1);
		check_back(&places[i]);
	}
}

static void test_bypass(void)
{
	const struct srpol_dp_rule bypass = { .id = 2 }, all = { .id = 1, .color = COLOR };
	__u32 i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		start(&places[i]);
		rig_rules(&bypass, 1);
		check_left(&places[i], SRPOL_REASON_BYPASS);
		rig_rules(&all, 1);
		check_back(&places[i]);
	}
}

static void test_no_policy(void)
{
	struct srpol_dp_policy policy = { .id = POLICY, .color = COLOR };
	__u32 i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		start(&places[i]);
		CHECK_EQ(rig_call("policy_del", &policy, sizeof(policy)), 0, "delete");
		rig_epoch();
		check_left(&places[i], SRPOL_REASON_NO_POLICY);
	}
}

/* A port may not send what is for this host, as the destination becomes. */
static void test_local(void)
{
	start(&places[1]);
	run("ip -6 addr add fd00::2/128 dev lo");
	check_left(&places[1], SRPOL_REASON_LOCAL);
	run("ip -6 addr del fd00::2/128 dev lo");
	check_back(&places[1]);
}

/* Nor may it send into the SR domain; this host may. */
static void test_inside(void)
{
	start(&places[1]);
	rig_sid(1, addr("fd00::2"), SRPOL_BEHAVIOR_END_DT46);
	rig_epoch();
	check_left(&places[1], SRPOL_REASON_SID_FROM_PORT);

	start(&places[0]);
	rig_sid(1, addr("fd00::2"), SRPOL_BEHAVIOR_END_DT46);
	rig_nexthop(spread_path(QP), LO, 0);
	rig_epoch();
	transmit(&places[0]);
	CHECK_EQ(rig_detail(QP).moves, 1, "egress: moves");
}

/* Nor may it go on to send what it is not behind any more. */
static void test_spoofed(void)
{
	start(&places[1]);
	run("ip -6 route add fd00::1/128 dev " PORT);
	port(SRPOL_SOURCE_CHECK_STRICT);
	check_send(&places[1], SRPOL_REASON_STEERED);
	run("ip -6 route del fd00::1/128 dev " PORT);
	check_left(&places[1], SRPOL_REASON_SPOOFED);
	run("ip -6 route add fd00::1/128 dev " PORT);
	check_back(&places[1]);
	run("ip -6 route del fd00::1/128 dev " PORT);
}

static const struct ktap_test tests[] = {
	{ "a flow whose policy has no path has none", test_passthrough },
	{ "nor has one that a rule leaves alone", test_bypass },
	{ "nor one whose color has no policy", test_no_policy },
	{ "nor one that is for this host", test_local },
	{ "nor one from a port into the SR domain", test_inside },
	{ "nor one whose source is not behind the port any more", test_spoofed },
};

int main(void)
{
	rig_open();
	if (system("ip link add " PORT " address 02:00:00:00:00:0a type veth peer name w1 &&"
		   "ip link set w1 up && ip link set " PORT " up && ip link set lo up &&"
		   "sysctl -qw net.ipv6.conf.all.forwarding=1"))
		ktap_skip_all("no veth here");
	return ktap_main(tests, ARRAY_SIZE(tests));
}
