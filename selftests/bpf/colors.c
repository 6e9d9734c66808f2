// SPDX-License-Identifier: GPL-2.0
/* See colors.h. */
#include <string.h>

#include "colors.h"
#include "ktap.h"

/* Policy of color C, from 1, has id, path and row C. */
#define COLORS		8
#define NULL_ENDPOINT	"::"

const struct inner colors_roce6 = {
	.src = "fd00:1::1", .dst = "fd00:2::2", .roce = true, .sport = 0xc123,
	.qp = 1500, .opcode = 4, .pkey = 0xffff, .tclass = 26 << 2 | 2,
	.payload = 16,
};

const struct inner colors_tcp4 = {
	.src = "10.1.0.1", .dst = "10.2.0.2", .proto = IPPROTO_TCP,
	.sport = 40000, .dport = 443, .tclass = 26 << 2, .payload = 16,
};

void colors_policy(__u32 id, __u32 color, const char *endpoint)
{
	struct in6_addr sids[2] = { sid(1), sid(2) };
	struct outer o = { .sids = sids, .n = 2 };
	struct srpol_dp_policy p = {
		.id = id, .color = color, .row = id, .n_buckets = 128,
	};
	struct in6_addr a = addr(endpoint);

	memcpy(p.endpoint, &a, 16);
	rig_path(id, &o, 1, 9000);
	rig_row_one(id, id);
	rig_policy(&p);
}

void colors_policy_only(__u32 id)
{
	struct srpol_dp_policy p = {
		.id = id, .color = id, .row = id, .n_buckets = 128,
	};

	rig_policy(&p);
}

void colors_setup(void)
{
	__u32 c;

	rig_reset();
	rig_nexthop(1, 1, 1);
	for (c = 1; c < COLORS; c++)
		colors_policy(c, c, NULL_ENDPOINT);
	rig_mark();
}

__u64 colors_packets(__u32 id)
{
	return rig_counter("policy_stats", id).packets;
}

/*
 * Send a packet; @color says which policy must take it, 0 none for @reason.
 */
void colors_expect_env(const char *about, const struct inner *in,
		       const struct rig_env *env, __u32 color, int reason)
{
	__u64 before = color ? colors_packets(color) : 0;
	struct pkt p, out;

	pkt_inner(&p, in);
	CHECK_EQ(rig_egress_env(&p, &out, env), TC_NEXT, "%s", about);
	if (color) {
		CHECK_EQ(colors_packets(color), before + 1, "%s", about);
		reason = SRPOL_REASON_STEERED;
	} else {
		CHECK(pkt_equal(&out, &p), "%s", about);
	}
	rig_expect(about, reason, 1, RIG_END);
}

void colors_expect(const char *about, const struct inner *in, __u32 color,
		   int reason)
{
	const struct rig_env env = {};

	colors_expect_env(about, in, &env, color, reason);
}

void colors_steered(const char *about, const struct inner *in, __u32 color)
{
	colors_expect(about, in, color, 0);
}

void colors_unmatched(const char *about, const struct inner *in)
{
	colors_expect(about, in, 0, SRPOL_REASON_NO_RULE);
}
