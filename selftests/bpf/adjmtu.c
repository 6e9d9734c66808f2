// SPDX-License-Identifier: GPL-2.0
/* End.X, uA and End.DX: packets that do not fit the device of the adjacency. */
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "sidrig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define OUT		"w0"
#define MTU		1400

static const struct outer source = { .src = "fd00:a::1" };

/* The last of two segments, in most tests a SID of another node. */
static struct in6_addr last;

static void start(__u32 behavior, __u32 prefix_len, const char *local)
{
	const struct srpol_dp_config cfg = { .icmp_errors = 1 };
	__u32 out = if_nametoindex(OUT);

	setup();
	last = sid(FAR);
	rig_config(cfg);
	rig_uplink_add(out);
	rig_nexthop(NEXTHOP, out, 1);
	set_sid(1, addr(local), behavior, prefix_len);
	rig_mark();
}

/* A packet of @len bytes, with its outer header. */
static void packet(struct pkt *p, const char *da, unsigned int segs, unsigned int len)
{
	struct in6_addr list[2] = { addr(da), last };
	struct outer o = source;
	struct inner in = v6;

	o.sids = list;
	o.n = segs;
	o.full = segs > 1;
	in.payload = 0;
	p->len = 0;
	encap(p, &o, &in);
	in.payload = 14 + len - p->len;
	p->len = 0;
	encap(p, &o, &in);
	CHECK_EQ(p->len, 14 + len, "length");
}

static void passes(const char *about, const char *da, unsigned int segs, unsigned int len)
{
	struct pkt p, out;

	packet(&p, da, segs, len);
	CHECK_EQ(rig_uplink(&p, &out), X_REDIRECT, "%s: fits", about);
	CHECK(!memcmp(out.b, l2, sizeof(l2)), "%s: to the adjacency", about);
	rig_mark();
}

/* @also: a SID of this node before that was counted for this, RIG_END: none. */
static void refused(const char *about, const char *da, unsigned int segs, unsigned int len,
		    int also)
{
	struct pkt p, out;

	packet(&p, da, segs, len);
	CHECK_EQ(rig_uplink(&p, &out), X_REDIRECT, "%s: an error is sent", about);
	CHECK(out.b[20] == 58 && out.b[54] == 2, "%s: Packet Too Big", about);
	CHECK(out.b[60] == MTU / 256 && out.b[61] == MTU % 256, "%s: MTU", about);
	rig_expect(about, SRPOL_REASON_TOO_BIG, 1, SRPOL_REASON_ICMP_ENDPOINT, 1, also, 1,
		   RIG_END);
}

static void test_end_x(void)
{
	start(SRPOL_BEHAVIOR_END_X, 128, "fc00:0:1::");
	passes("End.X", "fc00:0:1::", 2, MTU);
	refused("End.X", "fc00:0:1::", 2, MTU + 1, RIG_END);
	/* the SRH, with two segments, does not leave */
	start(SRPOL_BEHAVIOR_END_X_PSP, 128, "fc00:0:1::");
	passes("End.X, PSP", "fc00:0:1::", 2, MTU + 40);
	refused("End.X, PSP", "fc00:0:1::", 2, MTU + 41, RIG_END);
	start(SRPOL_BEHAVIOR_UA, BLOCK + CSID, "fc00:0:1::");
	passes("uA", "fc00:0:1:2::", 1, MTU);
	refused("uA", "fc00:0:1:2::", 1, MTU + 1, RIG_END);
}

/* As GRO has merged it, or as a sender does not keep to the MTU of the link. */
static void test_longer(void)
{
	if (system("ip link set lo mtu 1300"))
		FAIL("MTU of lo");
	start(SRPOL_BEHAVIOR_UA, BLOCK + CSID, "fc00:0:1::");
	passes("uA", "fc00:0:1:2::", 1, MTU);
	refused("uA", "fc00:0:1:2::", 1, MTU + 1, RIG_END);
	if (system("ip link set lo mtu 65536"))
		FAIL("MTU of lo");
}

/* The SRH has gone at the first of two SIDs. */
static void test_two(void)
{
	start(SRPOL_BEHAVIOR_UA, BLOCK + CSID, "fc00:0:2::");
	set_sid(2, addr("fc00:0:1::"), SRPOL_BEHAVIOR_END_PSP, 128);
	last = addr("fc00:0:2:3::");
	passes("PSP, uA", "fc00:0:1::", 2, MTU + 40);
	refused("PSP, uA", "fc00:0:1::", 2, MTU + 41, SRPOL_REASON_END);
	set_sid(2, addr("fc00:0:1::"), SRPOL_BEHAVIOR_END, 128);
	passes("End, uA", "fc00:0:1::", 2, MTU);
	refused("End, uA", "fc00:0:1::", 2, MTU + 1, SRPOL_REASON_END);
}

static void test_end_dx(void)
{
	struct pkt p, out;

	start(SRPOL_BEHAVIOR_END_DX6, 128, "fc00:0:1::");
	passes("End.DX6", "fc00:0:1::", 1, MTU + 40);
	packet(&p, "fc00:0:1::", 1, MTU + 41);
	CHECK_EQ(rig_uplink(&p, &out), X_DROP, "too big");
	rig_expect("too big", SRPOL_REASON_TOO_BIG, 1, RIG_END);
}

static const struct ktap_test tests[] = {
	{ "End.X and uA: Packet Too Big", test_end_x },
	{ "the same, longer than the device it came in by takes", test_longer },
	{ "uA after another SID of this node: Packet Too Big", test_two },
	{ "End.DX: dropped and counted", test_end_dx },
};

int main(void)
{
	rig_open_only("srpol_uplink");
	if (system("ip link add " OUT " type veth peer name w1 && ip link set w1 up &&"
		   "ip link set " OUT " mtu 1400 up"))
		ktap_skip_all("no veth here");
	return ktap_main(tests, ARRAY_SIZE(tests));
}
