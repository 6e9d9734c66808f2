// SPDX-License-Identifier: GPL-2.0
/*
 * Generic XDP: what it sends, by a device that takes frames from native XDP and by one
 * that does not, to an adjacency and back; and what it leaves to TC. On real devices, as
 * the kernel has its own ways with such packets:
 *
 *	x1 ---- x0 (uplink, later host port; MTU 65535)
 *	t0 (uplink, by which merged packets come)
 *	                     w0 (adjacency, later uplink; MTU 1400) ---- w1
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ktap.h"
#include "sidrig.h"
#include "srpol.skel.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define IN		"x0"
#define OUT		"w0"
#define MERGED		"t0"
#define MTU		1400
#define ETH		14
#define IPV6		40
#define TCP		20
#define SRH		40	/* of two SIDs */
#define UA		"fc00:0:1:2::"
#define BSID		1

static const __u8 mac[6] = { 2, 0, 0, 0, 0, 0xa };
static const __u8 back[6] = { 2, 0, 0, 0, 0, 0xb };

static int in_fd, out_fd, merged_fd, tc_fd;

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

/* A tap, to which packets can be written that are several; they come in at once. */
static int tun(const char *dev)
{
	struct ifreq req = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };
	int fd = open("/dev/net/tun", O_RDWR);

	strcpy(req.ifr_name, dev);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &req))
		ktap_skip_all("no taps");
	return fd;
}

/* Attach to the device by which packets come in, instead of what was there. */
static void attach(const struct bpf_program *xdp, const struct bpf_program *tc)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	int ifindex = if_nametoindex(IN);

	if (tc_fd)
		close(tc_fd);
	tc_fd = bpf_link_create(bpf_program__fd(tc), ifindex, BPF_TCX_INGRESS, &opts);
	if (tc_fd < 0 ||
	    bpf_xdp_attach(ifindex, bpf_program__fd(xdp), XDP_FLAGS_SKB_MODE, NULL))
		ktap_skip_all("no generic XDP");
}

/* @native: do the devices take frames from native XDP? */
static void start(__u32 behavior, __u32 prefix_len, bool native)
{
	void (*add)(__u32 ifindex) = native ? rig_uplink_add : rig_uplink_add_tc;
	const struct srpol_dp_config cfg = { .icmp_errors = 1 };

	setup();
	rig_config(cfg);
	add(if_nametoindex(IN));
	add(if_nametoindex(MERGED));
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

/* As check_all() with a packet that is too long, but nobody is told. */
static void check_silent(const char *about, __u32 len, void (*send)(__u32 len))
{
	start(SRPOL_BEHAVIOR_UA, BLOCK + CSID, false);
	send(len);
	/* it stays behind the other one */
	transmit(UA, MTU + 1, false);
	CHECK_EQ(receive(in_fd, back), 1280, "%s: the next one's error", about);
	rig_expect(about, SRPOL_REASON_TOO_BIG, 2, SRPOL_REASON_ICMP_ENDPOINT, 1, RIG_END);
}

static void send_long(__u32 len)
{
	transmit(UA, len, false);
}

/* Its end is in fragments, which the kernel would free the wrong way. */
static void test_fragments(void)
{
	check_silent("one fragment", 5000, send_long);
	check_silent("two fragments", 8900, send_long);
}

/*
 * TCP packets as GRO makes them of several, whose checksum is pending: @len bytes behind
 * the Ethernet header, @ip of them before those of TCP.
 */
static void write_merged(const __u8 *b, __u32 len, __u16 ip)
{
	const struct virtio_net_hdr h = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .gso_type = VIRTIO_NET_HDR_GSO_TCPV6,
		.hdr_len = ETH + ip + TCP, .gso_size = 1000,
		.csum_start = ETH + ip, .csum_offset = 16,
	};
	struct pkt p = {};

	pkt_add(&p, &h, sizeof(h));
	pkt_add(&p, mac, sizeof(mac));
	pkt_add(&p, back, sizeof(back));
	pkt_add16(&p, 0x86dd);
	pkt_add(&p, b, len);
	CHECK_EQ(write(merged_fd, p.b, p.len), p.len, "send merged");
}

static void send_merged(__u32 len)
{
	const struct inner in = { .src = v6.src, .dst = UA, .proto = IPPROTO_TCP,
				  .payload = len - IPV6 - TCP };
	struct pkt ip = {};

	pkt_inner_ip(&ip, &in);
	CHECK_EQ(ip.len, len, "length");
	write_merged(ip.b, ip.len, IPV6);
}

/* The error would be one of several packets, too, to be divided again. */
static void test_merged(void)
{
	check_silent("merged", 3000, send_merged);
}

/* A policy that has this binding SID, on one path of @mtu by the other device. */
static void start_binding(struct in6_addr bsid, __u32 mtu)
{
	const struct srpol_dp_policy policy = { .id = 1, .color = 5, .row = 1,
						.n_buckets = 128 };
	struct srpol_dp_sid s = { .id = 1, .behavior = SRPOL_BEHAVIOR_END_B6_ENCAPS,
				  .prefix_len = 128, .policy = policy.id };
	struct in6_addr list = sid(FAR);
	struct outer o = { .sids = &list, .n = 1 };

	setup();
	rig_uplink_add_tc(if_nametoindex(IN));
	rig_uplink_add_tc(if_nametoindex(MERGED));
	rig_uplink_add_tc(if_nametoindex(OUT));
	rig_nexthop(1, if_nametoindex(OUT), 1);
	rig_path(1, &o, 1, mtu);
	rig_row_one(1, 1);
	rig_policy(&policy);
	memcpy(s.sid, &bsid, sizeof(bsid));
	rig_sid_set(&s);
	rig_mark();
}

/*
 * Nor does a path take what was merged, however long its own packets may be: to the
 * kernel it would be one tunnel in another, which it cannot divide.
 */
static void test_merged_binding(void)
{
	const struct in6_addr sids[] = { sid(BSID), sid(FAR + 1) };
	const struct outer o = { .sids = sids, .n = 2, .full = true };
	struct inner in = { .src = v6.src, .dst = v6.dst, .proto = IPPROTO_TCP,
			    .payload = 3000 };
	struct pkt p = {}, ip = {};

	start_binding(sids[0], 9000);
	pkt_inner_ip(&ip, &in);
	pkt_encap(&p, &o, ip.b, ip.len);
	write_merged(p.b + ETH, p.len - ETH, IPV6 + SRH + IPV6);
	in.payload = 100;
	ip.len = 0;
	pkt_inner_ip(&ip, &in);
	p.len = 0;
	pkt_encap(&p, &o, ip.b, ip.len);
	memcpy(p.b, mac, sizeof(mac));
	CHECK_EQ(write(in_fd, p.b, p.len), p.len, "send");
	CHECK_EQ(receive(out_fd, pkt_link_macs), p.len - ETH + IPV6, "the next one");
	rig_expect("merged", SRPOL_REASON_TOO_BIG, 1, SRPOL_REASON_STEERED, 1,
		   SRPOL_REASON_END_B6, 1, RIG_END);
}

static void test_ua(void)
{
	check_all(SRPOL_BEHAVIOR_UA, BLOCK + CSID, UA, SRPOL_REASON_USID_NEXT);
}

static void test_end_dx(void)
{
	check_all(SRPOL_BEHAVIOR_END_DX6, 128, "fc00:0:1::", SRPOL_REASON_DECAP);
}

/* TC gets the packets that XDP leaves. */
static void test_virtual(void)
{
	struct in6_addr a = addr(v6.dst);
	struct srpol_host h = {
		.ifindex = if_nametoindex(OUT), .workload = if_nametoindex(OUT),
	};
	struct pkt p;

	start(SRPOL_BEHAVIOR_UA, BLOCK + CSID, false);
	memcpy(h.macs, l2, sizeof(l2));
	CHECK_EQ(bpf_map_update_elem(rig_map("host_addrs"), &a, &h, 0), 0, "address");
	plain(&p, &v6, pkt_link_macs);
	memcpy(p.b, mac, sizeof(mac));
	CHECK_EQ(write(in_fd, p.b, p.len), p.len, "send");
	CHECK_EQ(receive(out_fd, l2), p.len - ETH, "to the workload");
	rig_expect("virtual port", SRPOL_REASON_NOT_LOCAL, 1, SRPOL_REASON_HOST, 1, RIG_END);
	bpf_map_delete_elem(rig_map("host_addrs"), &a);
}

/* A packet that comes in by the port leaves by the uplink. */
static void check_steered(void)
{
	struct pkt p;

	plain(&p, &v6, pkt_link_macs);
	memcpy(p.b, mac, sizeof(mac));
	CHECK_EQ(write(in_fd, p.b, p.len), p.len, "send");
	CHECK_EQ(receive(out_fd, pkt_link_macs), p.len - ETH + IPV6, "by the uplink");
}

/* What the uplink takes from TC only. */
static void test_port(void)
{
	struct srpol_dp_policy policy = { .id = 1, .color = 5, .row = 1, .n_buckets = 128 };
	const struct srpol_dp_rule all = { .color = 5, .mode = SRPOL_MODE_INHERIT };
	struct in6_addr list = sid(FAR);
	struct outer o = { .sids = &list, .n = 1 };

	attach(rig->progs.srpol_port, rig->progs.srpol_port_tc);
	rig_reset();
	rig_uplinks_clear();
	rig_uplink_add_tc(if_nametoindex(OUT));
	rig_nexthop(1, if_nametoindex(OUT), 1);
	rig_path(1, &o, 1, MTU);
	rig_row_one(1, 1);
	rig_policy(&policy);
	rig_rules(&all, 1);
	rig_mark();
	check_steered();
	rig_expect("port", SRPOL_REASON_STEERED, 1, RIG_END);
}

/*
 * The Ethernet header of a packet as long as this does not come back to where the
 * program at TC would read it: it must not be taken for another packet.
 */
static void test_port_long(void)
{
	static __u8 frame[ETH + 17000];
	struct pkt p;
	__u32 len = sizeof(frame) - ETH - IPV6;

	rig_mark();
	plain(&p, &v6, pkt_link_macs);
	memcpy(frame, p.b, p.len);
	memcpy(frame, mac, sizeof(mac));
	frame[ETH + 4] = len >> 8;
	frame[ETH + 5] = len;
	CHECK_EQ(write(in_fd, frame, sizeof(frame)), sizeof(frame), "send");
	/* they keep their order */
	check_steered();
	rig_expect("port", SRPOL_REASON_PORT_UNREADABLE, 1, SRPOL_REASON_STEERED, 1, RIG_END);
}

static const struct ktap_test tests[] = {
	{ "uA", test_ua },
	{ "End.DX6", test_end_dx },
	{ "no error about a packet in fragments", test_fragments },
	{ "nor about one that GRO has merged", test_merged },
	{ "nor does a binding SID take it", test_merged_binding },
	{ "virtual port", test_virtual },
	{ "host port", test_port },
	{ "host port: a long packet", test_port_long },
};

int main(void)
{
	rig_open();
	merged_fd = tun(MERGED);
	if (system("ip link add " IN " address 02:00:00:00:00:0a mtu 65535 type veth "
		   "	peer name x1 address 02:00:00:00:00:0b mtu 65535 &&"
		   "ip link add " OUT " mtu 1400 type veth peer name w1 &&"
		   "ip link set " MERGED " address 02:00:00:00:00:0a &&"
		   "for dev in " IN " x1 " OUT " w1 " MERGED "; do"
		   "	sysctl -qw net.ipv6.conf.$dev.disable_ipv6=1 &&"
		   "	ip link set $dev up || exit 1; done"))
		ktap_skip_all("no veth here");
	attach(rig->progs.srpol_uplink, rig->progs.srpol_uplink_tc);
	if (bpf_xdp_attach(if_nametoindex(MERGED),
			   bpf_program__fd(rig->progs.srpol_uplink),
			   XDP_FLAGS_SKB_MODE, NULL))
		ktap_skip_all("no generic XDP");
	in_fd = tap("x1");
	out_fd = tap("w1");
	return ktap_main(tests, ARRAY_SIZE(tests));
}
