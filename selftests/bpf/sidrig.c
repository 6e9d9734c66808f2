// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "ktap.h"
#include "sidrig.h"

const __u8 l2[12] = { 2, 9, 9, 9, 9, 1, 2, 9, 9, 9, 9, 2 };

const struct inner v4 = {
	.src = "10.0.0.1", .dst = "10.0.0.2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .opcode = 4, .pkey = 0xffff, .tclass = 0x02, .payload = 64,
};

const struct inner v6 = {
	.src = "fd00::1", .dst = "fd00::2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .opcode = 10, .pkey = 0xffff, .tclass = 0x02,
	.label = 0x12345, .payload = 64,
};

void set_sid(__u32 id, struct in6_addr a, __u32 behavior, __u32 prefix_len)
{
	struct srpol_dp_sid s = {
		.id = id, .behavior = behavior, .prefix_len = prefix_len,
		.block_len = BLOCK,
	};

	memcpy(s.sid, &a, 16);
	memcpy(s.l2, l2, 12);
	s.nexthop = NEXTHOP;
	rig_sid_set(&s);
}

void setup(void)
{
	rig_reset();
	rig_uplinks_clear();
	rig_uplink_add(LO);
	rig_nexthop(NEXTHOP, LO, 1);
	rig_mark();
}

void check(const char *about, const struct pkt *in, int verdict,
	   const struct pkt *want, int reason, int also)
{
	struct pkt out;

	CHECK_EQ(rig_uplink(in, &out), verdict, "%s", about);
	if (want)
		CHECK(pkt_equal(&out, want), "%s", about);
	if (also)
		rig_expect(about, reason, 1, also, 1, RIG_END);
	else
		rig_expect(about, reason, 1, RIG_END);
}

void check_drop(const char *about, const struct pkt *in, int reason, __u32 id)
{
	__u64 errors = rig_error(SRPOL_ERROR_SID, reason, id);

	check(about, in, X_DROP, NULL, reason, 0);
	CHECK_EQ(rig_error(SRPOL_ERROR_SID, reason, id), errors + 1,
		 "%s: error of the SID", about);
}

void plain(struct pkt *p, const struct inner *in, const __u8 *macs)
{
	p->len = 0;
	pkt_add_eth(p, macs, strchr(in->src, ':') ? 0x86dd : 0x0800);
	pkt_inner_ip(p, in);
}

void use_l2(struct pkt *p)
{
	memcpy(p->b, l2, 12);
}

void check_handoff(const char *about, const struct pkt *in, __u32 ifindex,
		   const struct pkt *want, int reason)
{
	const __u32 meta = 16;
	struct pkt out;
	__u32 dev;

	CHECK_EQ(rig_uplink(in, &out), X_PASS, "%s", about);
	memcpy(&dev, out.b + 8, sizeof(dev));
	CHECK_EQ(dev, ifindex, "%s: device", about);
	out.len -= meta;
	memmove(out.b, out.b + meta, out.len);
	CHECK(pkt_equal(&out, want), "%s", about);
	rig_expect(about, reason, 1, RIG_END);
}

void encap(struct pkt *p, const struct outer *o, const struct inner *in)
{
	struct pkt ip = {};

	pkt_inner_ip(&ip, in);
	pkt_encap(p, o, ip.b, ip.len);
}

void container(struct pkt *p, const char *da, __u8 hop_limit,
	       const struct inner *in)
{
	struct in6_addr list = addr(da);
	struct outer o = { .sids = &list, .n = 1, .hop_limit = hop_limit };

	encap(p, &o, in);
}
