// SPDX-License-Identifier: GPL-2.0
/*
 * failover NETNS WAY ROUNDS [FILE FILE]: a link dies under traffic.
 *
 * Uplink u0 and its peer p0 in NETNS, and u1 and p1 likewise; packets to
 * DESTINATION are routed by u1, and policy 1 of POLICIES has paths over
 * both. A thread of real-time priority sends a UDP packet, looks
 * right after it, at both peers, where it came out; u0 dies meanwhile:
 *
 *	WAY down	it is set down here
 *	WAY carrier	p0 is set down, so that u0 loses its carrier
 *
 * With files, "srpol replace" of one and the other in turn, which differ in all
 * policies, is under way: it has begun to tell the data plane of its policies
 * when u0 dies, and is not over when the first packet comes out at p1.
 *
 * With each packet it also looks which generation packets see. Afterwards the
 * maps are read to prove that in the last one no policy has a bucket of a
 * path that can not forward. Once a packet has come out at p1 the thread takes
 * its time, so as not to keep the processor from compiling.
 *
 * Prints for each round, in nanoseconds of CLOCK_MONOTONIC: begin and end of
 * the request that kills the link, the last packet at p0, the first at p1, the
 * last generation; then how many packets did not come out.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <srpol_lib.h>

#include "clock.h"

#define DESTINATION	"fd04::1"
#define POLICIES	1000
#define PAUSE_NS	100000
#define LATER_NS	2000000
#define SETTLE_US	1500000
#define PORT		9999
#define FIRST_PORT	20000
#define PORTS		64
#define BUFFER		8192

static int state_map, path_map, policy_map, row_map, nexthop_map;
static int tap[2];	/* at p0 and p1 */
static int udp = -1;

/**
 * struct seen - what the sending thread saw; read after it ended
 * @stop: it is to end
 * @last: when the last packet came out at p0
 * @moved: when the first packet came out at p1
 * @sent: packets sent
 * @arrived: packets that came out
 * @committed: when another generation came first
 * @compiled: when another generation came last
 */
static struct seen {
	atomic_bool stop;
	uint64_t last;
	uint64_t moved;
	unsigned int sent;
	unsigned int arrived;
	uint64_t committed;
	uint64_t compiled;
} seen;

static uint32_t generation(void)
{
	static struct srpol_state st;
	uint32_t zero = 0;

	if (srpol_map_lookup(state_map, &zero, &st))
		errx(1, "no map state");
	return st.gen;
}

static int open_tap(const char *dev)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IPV6),
		.sll_ifindex = if_nametoindex(dev),
	};
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			htons(ETH_P_IPV6));

	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "%s", dev);
	return fd;
}

/* SRv6 packets that came out at a peer since the last call. */
static unsigned int arrivals(int fd)
{
	unsigned char buf[256];
	unsigned int n = 0;

	while (recv(fd, buf, sizeof(buf), 0) > 40)
		n += buf[6] == 43;	/* routing header */
	return n;
}

static void open_udp(unsigned int source)
{
	struct sockaddr_in6 to = {
		.sin6_family = AF_INET6, .sin6_port = htons(PORT),
	}, from = {
		.sin6_family = AF_INET6, .sin6_port = htons(source),
	};

	if (udp >= 0)
		close(udp);
	inet_pton(AF_INET6, DESTINATION, &to.sin6_addr);
	udp = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (udp < 0 || bind(udp, (struct sockaddr *)&from, sizeof(from)) ||
	    connect(udp, (struct sockaddr *)&to, sizeof(to)))
		err(1, "UDP socket");
}

static void send_packet(void)
{
	if (send(udp, "failover", 8, 0) < 0 && errno != ENETDOWN)
		err(1, "send");
}

/* A flow that goes over u0. */
static bool choose_flow(void)
{
	unsigned int port;

	for (port = 0; port < PORTS; port++) {
		open_udp(FIRST_PORT + port);
		arrivals(tap[0]);
		send_packet();
		usleep(1000);
		if (arrivals(tap[0]))
			return true;
	}
	return false;
}

static void *send_all(void *arg)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	const struct timespec later = { .tv_nsec = LATER_NS };
	uint32_t gen = generation(), now;
	unsigned int old, new;

	while (!seen.stop) {
		send_packet();
		seen.sent++;
		old = arrivals(tap[0]);
		new = arrivals(tap[1]);
		seen.arrived += old + new;
		if (old)
			seen.last = now_ns();
		if (new && !seen.moved)
			seen.moved = now_ns();
		now = generation();
		if (now != gen)
			seen.compiled = now_ns();
		if (now != gen && !seen.committed)
			seen.committed = seen.compiled;
		gen = now;
		nanosleep(seen.moved ? &later : &pause, NULL);
	}
	return arg;
}

static bool alive(uint32_t id, uint32_t gen)
{
	const struct srpol_path_cfg *cfg;
	static struct srpol_path path;
	struct srpol_nexthop nh;

	if (!id || srpol_map_lookup(path_map, &id, &path))
		return false;
	cfg = &path.cfg[srpol_copy(path.ver, gen)];
	return path.up && cfg->up &&
	       !srpol_map_lookup(nexthop_map, &cfg->nexthop, &nh) && nh.up;
}

/* Buckets of all policies whose path can not forward. */
static unsigned int dead_buckets(void)
{
	static bool known[SRPOL_MAX_PATHS], up[SRPOL_MAX_PATHS];
	uint32_t gen = generation(), id, i, p;
	const struct srpol_policy_cfg *cfg;
	struct srpol_policy policy;
	unsigned int dead = 0;
	struct srpol_row row;

	memset(known, 0, sizeof(known));
	for (id = 1; id <= POLICIES; id++) {
		if (srpol_map_lookup(policy_map, &id, &policy) ||
		    !policy.color)
			errx(1, "no policy %u", id);
		cfg = &policy.cfg[srpol_copy(policy.ver, gen)];
		if (srpol_map_lookup(row_map, &cfg->row, &row))
			errx(1, "no row %u", cfg->row);
		for (i = 0; i < SRPOL_ROW_BUCKETS; i++) {
			p = row.path[i];
			if (!known[p]) {
				known[p] = true;
				up[p] = alive(p, gen);
			}
			dead += !up[p];
		}
	}
	return dead;
}

static void set_link(struct mnl_socket *nl, const char *dev, bool up)
{
	char buf[BUFFER];
	struct ifinfomsg *ifi;
	struct nlmsghdr *nlh;
	ssize_t n;

	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = RTM_NEWLINK;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_change = IFF_UP;
	ifi->ifi_flags = up ? IFF_UP : 0;
	mnl_attr_put_strz(nlh, IFLA_IFNAME, dev);
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		err(1, "%s", dev);
	n = mnl_socket_recvfrom(nl, buf, sizeof(buf));
	if (n < 0 || mnl_cb_run(buf, n, 0, mnl_socket_get_portid(nl), NULL,
				NULL) < 0)
		err(1, "%s", dev);
}

static void start_thread(pthread_t *thread)
{
	struct sched_param param = { .sched_priority = 50 };
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	if (pthread_create(thread, &attr, send_all, NULL))
		errx(1, "no real-time thread");
}

static struct mnl_socket *open_route(void)
{
	struct mnl_socket *nl = mnl_socket_open(NETLINK_ROUTE);

	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID))
		err(1, "rtnetlink");
	return nl;
}

static void wait_for(bool (*condition)(void), const char *what)
{
	int tries = 0;

	while (!condition()) {
		if (tries++ == 600)
			errx(1, "%s", what);
		usleep(50000);
	}
}

/* Is a transaction under way that has staged the first policy? */
static bool staging(void)
{
	struct srpol_policy policy;
	uint32_t id = 1;

	if (srpol_map_lookup(policy_map, &id, &policy))
		errx(1, "no policy %u", id);
	return policy.ver >> 1 == generation() + 1;
}

static bool none_dead(void)
{
	return !dead_buckets();
}

/* Return: its process, once it has begun to stage. */
static pid_t start_replace(const char *file)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		execlp("srpol", "srpol", "replace", "-f", file, NULL);
		err(1, "srpol");
	}
	while (!staging()) {
		if (waitpid(pid, NULL, WNOHANG))
			errx(1, "the replace ended too early");
		usleep(500);
	}
	return pid;
}

static void end_replace(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) < 0 || status)
		errx(1, "the replace failed");
	if (seen.moved > seen.committed)
		errx(1, "the replace was over before a packet moved");
	wait_for(none_dead, "buckets are dead still");
}

static void one_round(struct mnl_socket *nl, const char *dev,
		      const char *file)
{
	uint64_t start, end;
	pthread_t thread;
	pid_t pid = 0;

	wait_for(choose_flow, "no flow comes out at p0");
	usleep(SETTLE_US);
	arrivals(tap[0]);
	arrivals(tap[1]);
	memset(&seen, 0, sizeof(seen));
	start_thread(&thread);
	usleep(20000);
	if (file)
		pid = start_replace(file);
	start = now_ns();
	set_link(nl, dev, false);
	end = now_ns();
	usleep(300000);
	if (pid)
		end_replace(pid);
	seen.stop = true;
	pthread_join(thread, NULL);
	if (seen.moved < start || !seen.compiled)
		errx(1, "no packet moved, or nothing was compiled");
	if (dead_buckets())
		errx(1, "%u buckets are dead still", dead_buckets());
	printf("%llu %llu %llu %llu %llu %u\n", (unsigned long long)start,
	       (unsigned long long)end, (unsigned long long)seen.last,
	       (unsigned long long)seen.moved,
	       (unsigned long long)seen.compiled,
	       seen.sent - seen.arrived);
	fflush(stdout);
	set_link(nl, dev, true);
}

int main(int argc, char **argv)
{
	struct mnl_socket *here, *there;
	struct srpol_error error = {};
	int rounds, home, i;
	bool carrier;

	if (argc != 4 && argc != 6)
		errx(1, "usage: failover NETNS WAY ROUNDS [FILE FILE]");
	carrier = !strcmp(argv[2], "carrier");
	rounds = atoi(argv[3]);
	state_map = srpol_map_open("state");
	path_map = srpol_map_open("paths");
	policy_map = srpol_map_open("policies");
	row_map = srpol_map_open("bucket_rows");
	nexthop_map = srpol_map_open("nexthops");
	here = open_route();
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (srpol_netns_enter(argv[1], &error))
		errx(1, "%s", error.text);
	tap[0] = open_tap("p0");
	tap[1] = open_tap("p1");
	there = open_route();
	if (setns(home, 0))
		err(1, "setns");
	for (i = 0; i < rounds; i++)
		one_round(carrier ? there : here, carrier ? "p0" : "u0",
			  argc == 6 ? argv[4 + i % 2] : NULL);
	return 0;
}
