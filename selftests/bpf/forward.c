// SPDX-License-Identifier: GPL-2.0
/* Decapsulated packets: what is forwarded by a remembered route, and until when. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define LO		1
#define OUT		"w0"

static const struct inner v6 = {
	.src = "fd00:6::1", .dst = "fd00:5::2", .sport = 0xc123, .dport = 7,
	.payload = 64,
};

static void run(const char *command)
{
	if (system(command))
		FAIL("%s", command);
}

static void forwarding(const char *dev, const char *value)
{
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/forwarding", dev);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, 1) != 1)
		FAIL("%s: %m", path);
	close(fd);
}

static void encapsulated(struct pkt *p)
{
	static struct in6_addr list[2];
	struct outer o = { .sids = list, .n = 2, .travelled = 1 };
	struct pkt ip = {};

	list[0] = sid(0x100);
	list[1] = sid(1);
	pkt_inner_ip(&ip, &v6);
	pkt_encap(p, &o, ip.b, ip.len);
}

static void setup(void)
{
	rig_reset();
	rig_forward(LO, if_nametoindex(OUT));
	rig_sid(1, sid(1), SRPOL_BEHAVIOR_END_DT46);
	rig_fib_forget();
	rig_mark();
}

/* State of the routes as of the entry that is remembered. */
static __u64 remembered(void)
{
	int cpus = libbpf_num_possible_cpus(), c;
	struct srpol_fib_entry *e = calloc(cpus, sizeof(*e));
	__u64 gen = 0;
	__u32 i;

	for (i = 0; e && i < SRPOL_FIB_ENTRIES; i++) {
		if (bpf_map_lookup_elem(rig_map("fib_cache"), &i, e))
			continue;
		for (c = 0; c < cpus; c++)
			if (e[c].key.addr[0])
				gen = e[c].gen;
	}
	free(e);
	return gen;
}

static __u64 ask(struct pkt *p, int *verdict)
{
	struct pkt out;

	rig_fib_forget();
	*verdict = rig_uplink(p, &out);
	return remembered();
}

static void test_changes(void)
{
	static const char *const changes[] = {
		"ip -6 route add fd00:5::/96 dev " OUT,
		"ip -6 route del fd00:5::/96 dev " OUT,
		"ip -6 rule add iif lo to fd00:77::/64 blackhole",
		"ip -6 rule del iif lo to fd00:77::/64 blackhole",
		"ip rule add iif lo to 10.77.0.0/16 blackhole",
		"ip rule del iif lo to 10.77.0.0/16 blackhole",
	};
	struct pkt p;
	__u64 was, now;
	unsigned int i;
	int verdict;

	setup();
	forwarding("all", "1");
	encapsulated(&p);
	was = ask(&p, &verdict);
	CHECK_EQ(verdict, X_REDIRECT, "forwarded");
	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		run(changes[i]);
		now = ask(&p, &verdict);
		CHECK(now != was, "the state of the routes tells of \"%s\": %llx", changes[i],
		      (unsigned long long)now);
		was = now;
	}
}

static void test_forwarding_off(void)
{
	struct pkt p, out;

	setup();
	encapsulated(&p);
	forwarding("all", "0");
	forwarding("lo", "1");
	CHECK_EQ(rig_uplink(&p, &out), X_PASS, "IPv6 is forwarded at one device only");
	rig_expect("to the stack", SRPOL_REASON_DECAP, 1, RIG_END);
	forwarding("all", "1");
	rig_fib_forget();
	CHECK_EQ(rig_uplink(&p, &out), X_REDIRECT, "IPv6 is forwarded");
}

static const struct ktap_test tests[] = {
	{ "IPv6 forwarding that is on for a device, but off for the host", test_forwarding_off },
	{ "a route is forgotten when routes or rules change", test_changes },
};

int main(void)
{
	rig_open_only("srpol_uplink");
	if (system("ip link add " OUT " type veth peer name w1 &&"
		   "ip link set w1 up && ip link set " OUT " up &&"
		   "ip -6 addr add fd00:5::1/64 dev " OUT " nodad &&"
		   "ip -6 neigh add fd00:5::2 lladdr 02:00:00:00:00:02 dev " OUT " nud permanent"))
		ktap_skip_all("no veth here");
	return ktap_main(tests, ARRAY_SIZE(tests));
}
