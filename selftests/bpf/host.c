// SPDX-License-Identifier: GPL-2.0
/* Uplinks: what is for a virtual port goes there, in XDP and at TC. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define LO		1
#define MTU		1400
#define WORKLOAD	"w0"

static const __u8 macs[12] = { 2, 0, 0, 0, 0, 0xa, 2, 0, 0, 0, 0, 0xb };

static const struct inner v4 = {
	.src = "10.0.0.1", .dst = "10.0.0.2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .opcode = 4, .pkey = 0xffff, .payload = 64,
};

static const struct inner v6 = {
	.src = "fd00::1", .dst = "fd00::2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .opcode = 10, .pkey = 0xffff, .payload = 64,
};

static const struct inner *const families[] = { &v4, &v6 };

static void add_host(const char *address)
{
	struct srpol_host h = {
		.ifindex = LO, .mtu = MTU,
		.workload = if_nametoindex(WORKLOAD),
	};
	struct in6_addr a;

	memcpy(h.macs, macs, sizeof(macs));
	if (inet_pton(AF_INET6, address, &a) != 1 ||
	    bpf_map_update_elem(rig_map("host_addrs"), &a, &h, 0))
		FAIL("%s: %m", address);
}

static int set_mtu(const char *dev, int mtu)
{
	struct ifreq req = { .ifr_mtu = mtu };
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret;

	strcpy(req.ifr_name, dev);
	ret = s < 0 ? -1 : ioctl(s, SIOCSIFMTU, &req);
	close(s);
	return ret;
}

/* @plain: frames of the uplink are as they are on a wire. */
static void setup(bool plain)
{
	struct in6_addr key;
	__u32 lo = LO;

	rig_reset();
	while (!bpf_map_get_next_key(rig_map("host_addrs"), NULL, &key))
		bpf_map_delete_elem(rig_map("host_addrs"), &key);
	add_host("fd00::2");
	add_host("::ffff:10.0.0.2");
	rig_forward(LO, LO);
	if (!plain)
		bpf_map_delete_elem(rig_map("forward_from"), &lo);
	rig_sid(1, sid(1), SRPOL_BEHAVIOR_END_DT46);
	/* what was remembered is of another state of the routes */
	rig_fib_forget();
	rig_mark();
}

static void encapsulated(const struct inner *in, struct pkt *p, struct pkt *ip)
{
	static struct in6_addr list[2];
	struct outer o = { .sids = list, .n = 2, .travelled = 1 };

	list[0] = sid(0x100);
	list[1] = sid(1);
	ip->len = 0;
	pkt_inner_ip(ip, in);
	pkt_encap(p, &o, ip->b, ip->len);
}

/* The inner packet, with @eth in front of it. */
static void check_out(const char *about, const struct pkt *out,
		      const __u8 *eth, const struct pkt *ip)
{
	struct pkt want = {};

	pkt_add_eth(&want, eth, ip->b[0] >> 4 == 4 ? 0x0800 : 0x86dd);
	pkt_add(&want, ip->b, ip->len);
	CHECK(pkt_equal(out, &want), "%s", about);
}

static void test_xdp(void)
{
	/* a jiffy, after which what is remembered is looked at again */
	const struct timespec jiffy = { .tv_nsec = 1000000000 / 100 };
	struct pkt p, ip, out;
	unsigned int i, again;

	for (i = 0; i < 2; i++) {
		setup(true);
		encapsulated(families[i], &p, &ip);
		for (again = 0; again < 3; again++) {
			if (again && nanosleep(&jiffy, NULL))
				FAIL("nanosleep: %m");
			CHECK_EQ(rig_uplink(&p, &out), X_REDIRECT, "v%u",
				 i ? 6 : 4);
			/* the hop limit as it was: it is not forwarded */
			check_out("redirected", &out, macs, &ip);
		}
		rig_expect("redirected", SRPOL_REASON_DECAP, 3,
			   SRPOL_REASON_FORWARDED, 3, RIG_END);
	}
}

static void test_xdp_stack(void)
{
	static const char *const ends[] = { "lo", WORKLOAD };
	struct inner other = v6, big = v6;
	struct pkt p, ip, out;
	unsigned int i;

	setup(false);
	encapsulated(&v6, &p, &ip);
	CHECK_EQ(rig_uplink(&p, &out), X_PASS, "frames that are not plain");
	check_out("not plain", &out, pkt_link_macs, &ip);

	setup(true);
	other.dst = "fd00::3";
	encapsulated(&other, &p, &ip);
	CHECK_EQ(rig_uplink(&p, &out), X_PASS, "another address");
	rig_expect("stack", SRPOL_REASON_DECAP, 1, RIG_END);

	big.payload = 1300;
	encapsulated(&big, &p, &ip);
	CHECK_EQ(rig_uplink(&p, &out), X_REDIRECT, "big");
	/* frames are measured at both ends of the pair */
	for (i = 0; i < 2; i++) {
		CHECK(!set_mtu(ends[i], MTU - 100), "MTU: %m");
		CHECK_EQ(rig_uplink(&p, &out), X_PASS, "too big for %s by now",
			 ends[i]);
		CHECK(!set_mtu(ends[i], 2 * MTU), "MTU: %m");
		CHECK_EQ(rig_uplink(&p, &out), X_REDIRECT, "big");
	}
	rig_expect("by the MTU of now", SRPOL_REASON_DECAP, 5,
		   SRPOL_REASON_FORWARDED, 3, RIG_END);
}

static void test_tc(void)
{
	const struct rig_env env = {};
	struct inner other = v4;
	struct pkt p, ip, out;
	unsigned int i;

	setup(false);
	for (i = 0; i < 2; i++) {
		ip.len = 0;
		pkt_inner_ip(&ip, families[i]);
		pkt_inner(&p, families[i]);
		CHECK_EQ(rig_uplink_tc(&p, &out, &env), TC_REDIRECT, "v%u",
			 i ? 6 : 4);
		check_out("redirected", &out, macs, &ip);
	}
	rig_expect("redirected", SRPOL_REASON_HOST, 2, RIG_END);

	other.dst = "10.0.0.3";
	pkt_inner(&p, &other);
	CHECK_EQ(rig_uplink_tc(&p, &out, &env), TC_NEXT, "another address");
	CHECK(pkt_equal(&out, &p), "another address");
	pkt_inner(&p, &v4);
	p.b[0] = 6;
	CHECK_EQ(rig_uplink_tc(&p, &out, &env), TC_NEXT, "a foreign MAC");
	CHECK(pkt_equal(&out, &p), "a foreign MAC");
	pkt_inner(&p, &v6);
	p.b[13] = 0x06;		/* ARP */
	CHECK_EQ(rig_uplink_tc(&p, &out, &env), TC_NEXT, "not IP");
	rig_expect("left alone", RIG_END);
}

static const struct ktap_test tests[] = {
	{ "XDP: to the virtual port, byte by byte", test_xdp },
	{ "XDP: what goes to the stack", test_xdp_stack },
	{ "TC: to the virtual port, byte by byte", test_tc },
};

int main(void)
{
	rig_open();
	if (system("ip link add " WORKLOAD " type veth peer name w1"))
		ktap_skip_all("no veth here");
	return ktap_main(tests, ARRAY_SIZE(tests));
}
