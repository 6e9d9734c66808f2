// SPDX-License-Identifier: GPL-2.0
/*
 * gso [-w ROUNDS] [-t SECONDS]: throughput of one TCP stream with segmentation
 * offload over a veth pair of MTU 9000: left alone, encapsulated by the kernel's
 * seg6, and by srpol at TC egress. The receiver is kernel SRv6 (End, End,
 * End.DT6) for both. The three take turns. One line of JSON each:
 *
 *	{"row": NAME, "gbps": MEDIAN, "best": GBPS, "super": SHARE, "bytes": N}
 *
 * "super" is the share of packets of more than one segment the receiver's device
 * took in, "bytes" their mean length with all headers: whether they stayed whole.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.skel.h"
#include "net.h"
#include "plan.h"
#include "srpol.skel.h"

#define SENDER		10	/* interface indexes */
#define RECEIVER	20
#define WAIT_S		60
#define TRIES		10
#define RECEIVER_MAC	"02:00:00:00:00:02"
#define ROUNDS_MAX	100

/* Room for the outer header below the MTU of the link, for all alike. */
#define INNER_MTU	8904

/**
 * struct row - a way to send
 * @name: what it is
 * @to: receiver's address
 * @gbps: of each round
 * @seen: what the receiver took in
 */
static struct row {
	const char *name;
	const char *to;
	double gbps[ROUNDS_MAX];
	struct bench_seen seen;
} rows[] = {
	{ .name = "TCP, plain", .to = "fd00:1::2" },
	{ .name = "TCP, kernel seg6 encap.red, 3 SIDs", .to = "fd00:2::2" },
	{ .name = "TCP, srpol egress, 3 SIDs", .to = "fd00:3::2" },
};

#define N_ROWS	(sizeof(rows) / sizeof(rows[0]))

static struct harness_bpf *harness;
static pid_t server;

static void end_server(void)
{
	if (server > 0) {
		kill(server, SIGTERM);
		waitpid(server, NULL, 0);
	}
}

static void set_up_receiver(void)
{
	const struct bench_seen none = {};
	__u32 key = RECEIVER;

	net_ip("link set v%u address " RECEIVER_MAC, RECEIVER);
	net_ip("addr add fd00:a::2/64 dev v%u nodad", RECEIVER);
	net_ip("addr add fd00:1::2/128 dev lo");
	net_ip("addr add fd00:2::2/128 dev lo");
	net_ip("addr add fd00:3::2/128 dev lo");
	net_ip("route add fc00:0:1:: encap seg6local action End dev v%u",
	       RECEIVER);
	net_ip("route add fc00:0:2:: encap seg6local action End dev v%u",
	       RECEIVER);
	net_ip("route add fc00:0:3:: encap seg6local action End.DT6 table local dev v%u",
	       RECEIVER);
	bpf_map_update_elem(bpf_map__fd(harness->maps.seen), &key, &none, 0);
	if (!bpf_program__attach_tcx(harness->progs.look_tc, RECEIVER, NULL))
		plan_die("TCX");
	server = fork();
	if (!server) {
		if (!freopen("/dev/null", "w", stdout) ||
		    !freopen("/dev/null", "w", stderr))
			_exit(1);
		execlp("iperf3", "iperf3", "-s", NULL);
		_exit(127);
	}
}

static void set_up_sender(void)
{
	static const __u8 macs[12] = {
		0x02, 0, 0, 0, 0, 0x02, 0x02, 0, 0, 0, 0, 0x01
	};
	const struct plan_policy policy = {
		.id = 1, .mode = SRPOL_LB_MODE_HASH, .sids = 3,
		.ifindex = SENDER, .macs = macs,
	};
	struct srpol_dp_rule rule = {
		.color = 1, .match = SRPOL_MATCH_DST,
		.dst = { 0xfd, 0, 0, 3 }, .dst_mask = { 0xff, 0xff, 0xff, 0xff },
		.mode = SRPOL_MODE_INHERIT,
	};

	net_ip("addr add fd00:a::1/64 dev v%u nodad", SENDER);
	net_ip("sr tunsrc set fd00:a::1");
	net_ip("neigh add fd00:a::2 lladdr " RECEIVER_MAC " nud permanent dev v%u",
	       SENDER);
	net_ip("route add fc00::/16 via fd00:a::2 dev v%u", SENDER);
	net_ip("route add fd00:1::2 via fd00:a::2 dev v%u mtu %u", SENDER,
	       INNER_MTU);
	net_ip("route add fd00:2::2 encap seg6 mode encap.red segs fc00:0:1::,fc00:0:2::,fc00:0:3:: dev v%u mtu %u",
	       SENDER, INNER_MTU);
	net_ip("route add fd00:3::2 via fd00:a::2 dev v%u mtu %u", SENDER,
	       INNER_MTU);
	rig_open();
	plan_begin();
	plan_policy(&policy);
	rig_rules(&rule, 1);
	if (!bpf_program__attach_tcx(rig->progs.srpol_egress, SENDER, NULL))
		plan_die("TCX");
}

static struct bench_seen seen(void)
{
	struct bench_seen s = {};
	__u32 key = RECEIVER;

	bpf_map_lookup_elem(bpf_map__fd(harness->maps.seen), &key, &s);
	return s;
}

static void wait_a_moment(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
}

/* Run a client, and leave what it says in @out, as much as there is room for. */
static void ask_client(const char *to, unsigned int seconds, char *out, size_t room)
{
	char command[128];
	size_t len;
	FILE *f;

	/* a client that gets no answer waits for one */
	snprintf(command, sizeof(command), "timeout %u iperf3 -J -t %u -c %s",
		 seconds + 60, seconds, to);
	f = popen(command, "r");
	if (!f)
		plan_die(command);
	len = fread(out, 1, room - 1, f);
	out[len] = 0;
	pclose(f);
}

/* Return: Gb/s, not positive if nothing came over, and why in @why. */
static double run_client(const char *to, unsigned int seconds, char why[128])
{
	const time_t end = time(NULL) + WAIT_S;
	char out[65536];
	const char *at;

	while (ask_client(to, seconds, out, sizeof(out)),
	       /* with the client before this one */
	       strstr(out, "the server is busy") && time(NULL) < end)
		wait_a_moment();
	at = strstr(out, "\"error\":");
	snprintf(why, 128, "%.*s", at ? (int)strcspn(at, "\n") : 100, at ?: out);
	at = strstr(out, "\"sum_received\"");
	at = at ? strstr(at, "\"bits_per_second\":") : NULL;
	return at ? strtod(strchr(at, ':') + 1, NULL) / 1e9 : -1;
}

static void wait_for_server(void)
{
	const time_t end = time(NULL) + WAIT_S;
	char why[128];

	do {
		if (run_client(rows[0].to, 1, why) > 0)
			return;
		wait_a_moment();
	} while (time(NULL) < end);
	fprintf(stderr, "iperf3 does not answer: %s\n", why);
	exit(1);
}

int main(int argc, char **argv)
{
	unsigned int rounds = 5, seconds = 2, i, tries;
	struct bench_seen before, after;
	char why[128];
	int sender, receiver, opt;
	struct row *r;

	while ((opt = getopt(argc, argv, "w:t:")) != -1) {
		if (opt == 'w')
			rounds = atoi(optarg);
		else if (opt == 't')
			seconds = atoi(optarg);
		else
			return 2;
	}
	if (!rounds || rounds > ROUNDS_MAX || !seconds)
		return 2;
	harness = harness_bpf__open_and_load();
	if (!harness)
		plan_die("load");
	receiver = net_new();
	net_ip("link set lo up");
	net_sysctl("ipv6/conf/all/seg6_enabled", "1");
	net_sysctl("ipv6/conf/default/seg6_enabled", "1");
	net_sysctl("ipv6/conf/all/forwarding", "1");
	sender = net_new();
	net_ip("link set lo up");
	net_veth(SENDER, RECEIVER, receiver);
	net_enter(receiver);
	atexit(end_server);
	set_up_receiver();
	net_enter(sender);
	set_up_sender();
	wait_for_server();

	for (i = 0; i < rounds; i++) {
		for (r = rows; r < rows + N_ROWS; r++) {
			/* none, if the receiver slept while its sender sent */
			tries = 0;
			do {
				before = seen();
				r->gbps[i] = run_client(r->to, seconds, why);
				after = seen();
			} while (r->gbps[i] <= 0 && ++tries < TRIES);
			if (r->gbps[i] <= 0) {
				fprintf(stderr, "%s: %s\n", r->name, why);
				return 1;
			}
			r->seen.packets += after.packets - before.packets;
			r->seen.super += after.super - before.super;
			r->seen.bytes += after.bytes - before.bytes;
		}
	}
	for (r = rows; r < rows + N_ROWS; r++) {
		qsort(r->gbps, rounds, sizeof(r->gbps[0]), plan_by_value);
		printf("{\"row\": \"%s\", \"gbps\": %.4g, \"best\": %.4g, \"super\": %.3f, \"bytes\": %.0f}\n",
		       r->name, r->gbps[rounds / 2], r->gbps[rounds - 1],
		       (double)r->seen.super / r->seen.packets,
		       (double)r->seen.bytes / r->seen.packets);
	}
	return 0;
}
