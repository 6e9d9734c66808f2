// SPDX-License-Identifier: GPL-2.0
/*
 * What generic XDP sends by a device that takes frames from native XDP, and by one that
 * does not: to an adjacency, and back. On real devices, as the kernel has its own ways
 * with such packets:
 *
 *	x1 ---- x0 (uplink, MTU 9000)	w0 (adjacency, MTU 1400) ---- w1
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ktap.h"
#include "sidrig.h"
#include "srpol.skel.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define IN		"x0"
#define OUT		"w0"
#define MTU		1400
#define ETH		14
#define IPV6		40

static const __u8 mac[6] = { 2, 0, 0, 0, 0, 0xa };
static const __u8 back[6] = { 2, 0, 0, 0, 0, 0xb };

static int in_fd, out_fd;

/* A socket for all frames of a device. */
static int tap(const char *dev)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_protocol = htons(0x0003),
		.sll_ifindex = if_nametoindex(dev),
	};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd < 0 || bind(fd, (void *)&to, sizeof(to)))
		ktap_skip_all("no packet sockets");
	return fd;
}

/* @native: do the devices take frames from native XDP? */
static void start(__u32 behavior, __u32 prefix_len, bool native)
{
	void (*add)(__u32 ifindex) = native ? rig_uplink_add : rig_uplink_add_tc;
	const struct srpol_dp_config cfg = { .icmp_errors = 1 };

	setup();
	rig_config(cfg);
	add(if_nametoindex(IN));
	add(if_nametoindex(OUT));
	rig_nexthop(NEXTHOP, if_nametoindex(OUT), 1);
	set_sid(1, addr("fc00:0:1::"), behavior, prefix_len);
	rig_mark();
}

/* Send a packet of @len bytes, without the outer header if @inner, to @da. */
static void transmit(const char *da, __u32 len, bool inner)
{
	struct inner in = v6;
	struct pkt p = {};

	in.payload = 0;
	container(&p, da, 64, &in);
	in.payload = len + ETH + (inner ? IPV6 : 0) - p.len;
	p.len = 0;
	container(&p, da, 64, &in);
	memcpy(p.b, mac, sizeof(mac));
	memcpy(p.b + 6, back, sizeof(back));
	CHECK_EQ(write(in_fd, p.b, p.len), p.len, "send");
}

/* The next packet that comes to a device for @to: its length, 0: none. */
static ssize_t receive(int fd, const __u8 *to)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	ssize_t len;
	__u8 b[9216];

	while (poll(&ready, 1, 5000) > 0) {
		len = read(fd, b, sizeof(b));
		if (len > ETH && !memcmp(b, to, 6))
			return len - ETH;
	}
	return 0;
}

static void check_all(__u32 behavior, __u32 prefix_len, const char *da, int reason)
{
	bool inner = behavior == SRPOL_BEHAVIOR_END_DX6, native = false;
	const char *about;

	do {
		about = native ? "native devices" : "other devices";
		start(behavior, prefix_len, native);
		transmit(da, MTU, inner);
		CHECK_EQ(receive(out_fd, l2), MTU, "%s: to the adjacency", about);
		rig_expect(about, reason, 1, RIG_END);
		transmit(da, MTU + 1, inner);
		if (inner) {
			/* they keep their order */
			transmit(da, MTU - 1, inner);
			CHECK_EQ(receive(out_fd, l2), MTU - 1, "%s: too long", about);
			rig_expect(about, reason, 1, SRPOL_REASON_TOO_BIG, 1, RIG_END);
		} else {
			CHECK_EQ(receive(in_fd, back), 1280, "%s: the error", about);
			rig_expect(about, SRPOL_REASON_TOO_BIG, 1,
				   SRPOL_REASON_ICMP_ENDPOINT, 1, RIG_END);
		}
		native = !native;
	} while (native);
}

static void test_ua(void)
{
	check_all(SRPOL_BEHAVIOR_UA, BLOCK + CSID, "fc00:0:1:2::", SRPOL_REASON_USID_NEXT);
}

static void test_end_dx(void)
{
	check_all(SRPOL_BEHAVIOR_END_DX6, 128, "fc00:0:1::", SRPOL_REASON_DECAP);
}

static const struct ktap_test tests[] = {
	{ "uA", test_ua },
	{ "End.DX6", test_end_dx },
};

int main(void)
{
	rig_open();
	if (system("ip link add " IN " address 02:00:00:00:00:0a mtu 9000 type veth "
		   "	peer name x1 address 02:00:00:00:00:0b mtu 9000 &&"
		   "ip link add " OUT " mtu 1400 type veth peer name w1 &&"
		   "for dev in " IN " x1 " OUT " w1; do"
		   "	sysctl -qw net.ipv6.conf.$dev.disable_ipv6=1 &&"
		   "	ip link set $dev up || exit 1; done"))
		ktap_skip_all("no veth here");
	if (bpf_xdp_attach(if_nametoindex(IN), bpf_program__fd(rig->progs.srpol_uplink),
			   XDP_FLAGS_SKB_MODE, NULL) ||
	    !bpf_program__attach_tcx(rig->progs.srpol_uplink_tc, if_nametoindex(IN), NULL))
		ktap_skip_all("no generic XDP");
	in_fd = tap("x1");
	out_fd = tap("w1");
	return ktap_main(tests, ARRAY_SIZE(tests));
}
