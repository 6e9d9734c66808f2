// SPDX-License-Identifier: GPL-2.0
/*
 * Rules by the hundred, random ones, and random packets: the rule that is found
 * is the one that looking at all of them in order finds. What passes over most
 * rules at a glance must not pass over one that matches.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "colors.h"
#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define RULES		300
#define PACKETS		3000
#define ROUNDS		4
#define COLORS		7

static struct srpol_dp_rule rules[RULES];

static __u32 draw(__u32 below)
{
	return lrand48() % below;
}

/* Few different values, so that there is something to find. */
static struct in6_addr draw_addr(bool six)
{
	struct in6_addr a = {};

	if (!six) {
		a.s6_addr[10] = 0xff;
		a.s6_addr[11] = 0xff;
		a.s6_addr[12] = 10;
		a.s6_addr[13] = draw(2);
		a.s6_addr[15] = 1 + draw(3);
		return a;
	}
	a.s6_addr[0] = 0xfd;
	a.s6_addr[1] = draw(2);
	a.s6_addr[7] = draw(3);
	a.s6_addr[8] = draw(2) << 7;
	a.s6_addr[15] = 1 + draw(3);
	return a;
}

static void draw_prefix(__u8 *value, __u8 *mask)
{
	static const __u8 lens[] = { 0, 8, 16, 63, 64, 65, 96, 104, 127, 128 };
	struct in6_addr a = draw_addr(draw(2));
	__u32 len = lens[draw(ARRAY_SIZE(lens))], i;

	memset(mask, 0, 16);
	for (i = 0; i < len; i++)
		mask[i / 8] |= 0x80 >> i % 8;
	for (i = 0; i < 16; i++)
		value[i] = a.s6_addr[i] & mask[i];
}

static void draw_rule(struct srpol_dp_rule *r, __u32 i)
{
	memset(r, 0, sizeof(*r));
	r->id = 1 + i;
	r->color = 1 + draw(COLORS);
	r->mode = SRPOL_MODE_INHERIT;
	if (draw(3)) {
		r->match |= SRPOL_MATCH_QP;
		r->qp[0] = draw(20) ? draw(100) : 0;
		r->qp[1] = draw(20) ? r->qp[0] + draw(4) : 0xffffff;
	}
	if (draw(3)) {
		r->match |= SRPOL_MATCH_DST;
		draw_prefix(r->dst, r->dst_mask);
	}
	if (!draw(3)) {
		r->match |= SRPOL_MATCH_SRC;
		draw_prefix(r->src, r->src_mask);
	}
	if (!draw(4)) {
		r->match |= SRPOL_MATCH_DPORT;
		r->dport[0] = draw(100);
		r->dport[1] = draw(2) ? 0xffff : r->dport[0] + draw(10);
	}
	if (!draw(3) || !r->match) {
		r->match |= SRPOL_MATCH_PROTO;
		r->proto = draw(2) ? IPPROTO_UDP : IPPROTO_TCP;
	}
}

static bool in_prefix(const struct in6_addr *a, const __u8 *value,
		      const __u8 *mask)
{
	__u32 i;

	for (i = 0; i < 16; i++)
		if ((a->s6_addr[i] & mask[i]) != value[i])
			return false;
	return true;
}

static bool matches(const struct srpol_dp_rule *r, const struct inner *in)
{
	struct in6_addr src = addr(in->src), dst = addr(in->dst);
	__u32 dport = in->roce ? 4791 : in->dport;

	if (r->match & SRPOL_MATCH_QP &&
	    (!in->roce || in->qp < r->qp[0] || in->qp > r->qp[1]))
		return false;
	if (r->match & SRPOL_MATCH_DST &&
	    !in_prefix(&dst, r->dst, r->dst_mask))
		return false;
	if (r->match & SRPOL_MATCH_SRC &&
	    !in_prefix(&src, r->src, r->src_mask))
		return false;
	if (r->match & SRPOL_MATCH_DPORT &&
	    (dport < r->dport[0] || dport > r->dport[1]))
		return false;
	return !(r->match & SRPOL_MATCH_PROTO) ||
	       r->proto == (in->proto ? in->proto : IPPROTO_UDP);
}

static void text(char *buf, bool six)
{
	struct in6_addr a = draw_addr(six);

	if (six)
		inet_ntop(AF_INET6, &a, buf, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET, a.s6_addr + 12, buf, INET6_ADDRSTRLEN);
}

static void test_packet(unsigned int *found)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	struct inner in = {
		.src = src, .dst = dst, .roce = draw(3), .qp = draw(104),
		.dport = draw(104), .payload = 16,
	};
	const struct rig_env env = {};
	struct srpol_explain x;
	bool six = draw(2);
	struct pkt p;
	__u32 i;

	text(src, six);
	text(dst, six);
	if (!in.roce && draw(2))
		in.proto = IPPROTO_TCP;
	for (i = 0; i < RULES; i++)
		if (matches(&rules[i], &in))
			break;
	pkt_inner(&p, &in);
	x = rig_explain(&p, &env);
	CHECK_EQ(x.rule_id, i < RULES ? i + 1 : 0, "%s > %s %s %u", src, dst,
		 in.roce ? "qp" : "dport", in.roce ? in.qp : in.dport);
	CHECK_EQ(x.rules, i < RULES ? i + 1 : RULES, "looked at");
	*found += i < RULES;
}

static void test_random(void)
{
	unsigned int round, found, i;

	srand48(1);
	colors_setup();
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < RULES; i++)
			draw_rule(&rules[i], i);
		rig_rules(rules, RULES);
		found = 0;
		for (i = 0; i < PACKETS; i++)
			test_packet(&found);
		CHECK(found > PACKETS / 4, "%u packets have a rule", found);
	}
}

static const struct ktap_test tests[] = {
	{ "the first rule that matches", test_random },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
