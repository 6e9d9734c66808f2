// SPDX-License-Identifier: GPL-2.0
/* Host ports whose sources are checked: what a change of routes does to known flows. */
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "colors.h"
#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define LO		1
#define PORT		"w0"
#define COLOR		1

static const __u8 mac[6] = { 2, 0, 0, 0, 0, 0xa };

static const struct inner v4 = {
	.src = "10.6.0.1", .dst = "10.9.0.1", .sport = 0xc123, .dport = 7, .payload = 64,
};

static const struct inner v6 = {
	.src = "fd00:6::1", .dst = "fd00:9::1", .sport = 0xc123, .dport = 7, .payload = 64,
};

static void run(const char *command)
{
	if (system(command))
		FAIL("%s", command);
}

static void check(const char *about, const struct inner *in, int verdict, int reason)
{
	/* a jiffy, in which a known flow is not looked at twice */
	const struct timespec jiffy = { .tv_nsec = 1000000000 / 100 };
	const struct rig_env env = { .ifindex = if_nametoindex(PORT) };
	struct pkt p;

	nanosleep(&jiffy, NULL);
	pkt_inner(&p, in);
	memcpy(p.b, mac, sizeof(mac));
	CHECK_EQ(rig_port_tc(&p, NULL, &env), verdict, "%s", about);
	rig_expect(about, reason, 1, RIG_END);
}

/* The route to the source is taken away, and comes back. */
static void gone(const struct inner *in, const char *del, const char *add)
{
	const struct srpol_dp_rule rule = { .color = COLOR, .mode = SRPOL_MODE_INHERIT };
	struct srpol_dp_dev dev = {
		.ifindex = if_nametoindex(PORT), .role = SRPOL_DEV_ROLE_PORT,
		.port = if_nametoindex(PORT), .source = SRPOL_SOURCE_CHECK_STRICT,
	};

	colors_setup();
	rig_uplink_add_tc(LO);
	CHECK_EQ(rig_call("dev_set", &dev, sizeof(dev)), 0, "port");
	rig_rules(&rule, 1);
	rig_mark();
	check("with a route", in, X_REDIRECT, SRPOL_REASON_STEERED);
	check("a known flow", in, X_REDIRECT, SRPOL_REASON_STEERED);
	run(del);
	check("its route has gone", in, X_DROP, SRPOL_REASON_SPOOFED);
	check("is still gone", in, X_DROP, SRPOL_REASON_SPOOFED);
	run(add);
	check("its route is there again", in, X_REDIRECT, SRPOL_REASON_STEERED);
}

static void test_v4(void)
{
	gone(&v4, "ip route del 10.6.0.0/16 dev " PORT, "ip route add 10.6.0.0/16 dev " PORT);
}

static void test_v6(void)
{
	gone(&v6, "ip -6 route del fd00:6::/64 dev " PORT, "ip -6 route add fd00:6::/64 dev " PORT);
}

static const struct ktap_test tests[] = {
	{ "a known flow whose source loses its route, IPv4", test_v4 },
	{ "a known flow whose source loses its route, IPv6", test_v6 },
};

int main(void)
{
	rig_open_only("srpol_port_tc");
	if (system("ip link add " PORT " address 02:00:00:00:00:0a type veth peer name w1 &&"
		   "ip link set w1 up && ip link set " PORT " up &&"
		   "ip route add 10.6.0.0/16 dev " PORT " && ip -6 route add fd00:6::/64 dev " PORT
		   " && sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1"))
		ktap_skip_all("no veth here");
	return ktap_main(tests, ARRAY_SIZE(tests));
}
