// SPDX-License-Identifier: GPL-2.0
/*
 * Random rules, hundreds or as many as there may be, by every field, and random
 * packets: the rule that is found is the one that looking at all of them in order
 * finds. What passes over most rules must not pass over one that matches.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "colors.h"
#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define RULES_MAX	(SRPOL_MAX_RULES - 1)
#define PACKETS		2500
#define COLORS		7
#define VLAN_TAG	0x8100

static struct srpol_dp_rule rules[RULES_MAX];
static __u32 n_rules;

/* A packet, and what it comes with. */
struct sample {
	struct inner in;
	struct rig_env env;
	__u32 vlan;
};

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

/* A number whose bytes tell rules apart, each of them now and then. */
static __u32 draw_number(__u32 bytes)
{
	return (1 + draw(12)) << 8 * draw(bytes);
}

/* From one number to the next few, to many, or to all. */
static __u32 draw_end(__u32 first, __u32 max)
{
	static const __u32 more[] = { 0, 0, 1, 5, 300, 70000 };
	__u32 last = first + more[draw(ARRAY_SIZE(more))];

	return last > max || !draw(20) ? max : last;
}

static void draw_ports(__u16 *range)
{
	range[0] = draw_number(2);
	range[1] = draw_end(range[0], 0xffff);
}

static void draw_roce(struct srpol_dp_rule *r)
{
	__u32 i;

	if (draw(2)) {
		r->match |= SRPOL_MATCH_QP;
		r->qp[0] = draw_number(3);
		r->qp[1] = draw_end(r->qp[0], 0xffffff);
	}
	if (!draw(4)) {
		r->match |= SRPOL_MATCH_PKEY;
		r->pkey = draw_number(2);
	}
	if (!draw(4)) {
		r->match |= SRPOL_MATCH_OPCODE;
		for (i = 1 + draw(3); i; i--)
			r->opcodes[draw(2)] |= 1ULL << draw(4);
	}
}

static void draw_rule(struct srpol_dp_rule *r, __u32 i)
{
	static const __u32 masks[] = { ~0u, 0xff, 0xff00, 0x0f0f0f0f, 1 << 24 };

	memset(r, 0, sizeof(*r));
	r->id = 1 + i;
	r->color = 1 + draw(COLORS);
	r->mode = SRPOL_MODE_INHERIT;
	if (draw(3))
		draw_roce(r);
	if (draw(2)) {
		r->match |= SRPOL_MATCH_DST;
		draw_prefix(r->dst, r->dst_mask);
	}
	if (!draw(3)) {
		r->match |= SRPOL_MATCH_SRC;
		draw_prefix(r->src, r->src_mask);
	}
	if (!draw(5)) {
		r->match |= SRPOL_MATCH_DPORT;
		draw_ports(r->dport);
	}
	if (!draw(5)) {
		r->match |= SRPOL_MATCH_SPORT;
		draw_ports(r->sport);
	}
	if (!draw(5)) {
		r->match |= SRPOL_MATCH_MARK;
		r->mark_mask = masks[draw(ARRAY_SIZE(masks))];
		r->mark = draw_number(4) & r->mark_mask;
	}
	if (!draw(5)) {
		r->match |= SRPOL_MATCH_DSCP;
		r->dscp = draw(4);
	}
	if (!draw(5)) {
		r->match |= SRPOL_MATCH_VLAN;
		r->vlan = draw(2) ? draw_number(1) : 0;
	}
	if (!draw(8)) {
		r->match |= SRPOL_MATCH_DEV;
		r->ifindex = 1 + draw(2);
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

static bool in_range(__u32 v, __u32 min, __u32 max)
{
	return v >= min && v <= max;
}

static bool matches_roce(const struct srpol_dp_rule *r, const struct inner *in)
{
	if (!(r->match & (SRPOL_MATCH_QP | SRPOL_MATCH_PKEY |
			  SRPOL_MATCH_OPCODE)))
		return true;
	if (!in->roce)
		return false;
	if (r->match & SRPOL_MATCH_QP &&
	    !in_range(in->qp, r->qp[0], r->qp[1]))
		return false;
	if (r->match & SRPOL_MATCH_PKEY && r->pkey != in->pkey)
		return false;
	return !(r->match & SRPOL_MATCH_OPCODE) ||
	       r->opcodes[in->opcode / 64] >> in->opcode % 64 & 1;
}

static bool matches(const struct srpol_dp_rule *r, const struct sample *s)
{
	const struct inner *in = &s->in;
	struct in6_addr src = addr(in->src), dst = addr(in->dst);
	__u32 dport = in->roce ? 4791 : in->dport;

	if (!matches_roce(r, in))
		return false;
	if (r->match & SRPOL_MATCH_DST &&
	    !in_prefix(&dst, r->dst, r->dst_mask))
		return false;
	if (r->match & SRPOL_MATCH_SRC &&
	    !in_prefix(&src, r->src, r->src_mask))
		return false;
	if (r->match & SRPOL_MATCH_DPORT &&
	    !in_range(dport, r->dport[0], r->dport[1]))
		return false;
	if (r->match & SRPOL_MATCH_SPORT &&
	    !in_range(in->sport, r->sport[0], r->sport[1]))
		return false;
	if (r->match & SRPOL_MATCH_MARK &&
	    (s->env.mark & r->mark_mask) != r->mark)
		return false;
	if (r->match & SRPOL_MATCH_DSCP && r->dscp != in->tclass >> 2)
		return false;
	if (r->match & SRPOL_MATCH_VLAN && r->vlan != s->vlan)
		return false;
	if (r->match & SRPOL_MATCH_DEV && r->ifindex != s->env.ifindex)
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

/* @like: a rule whose QP it may have, or NULL. */
static void draw_packet(struct sample *s, struct pkt *p,
			const struct srpol_dp_rule *like)
{
	struct inner *in = &s->in;

	in->roce = draw(3);
	in->qp = like ? like->qp[0] : draw_number(3) + draw(2);
	in->dport = draw_number(2);
	in->sport = draw_number(2) + draw(3);
	in->pkey = draw_number(2);
	in->opcode = draw(2) * 64 + draw(4);
	in->tclass = draw(4) << 2;
	in->payload = 16;
	if (!in->roce && draw(2))
		in->proto = IPPROTO_TCP;
	s->env.mark = draw_number(4) | draw_number(4);
	s->env.ifindex = 1;
	pkt_inner(p, in);
	s->vlan = draw(3) ? 0 : draw_number(1);
	if (!s->vlan)
		return;
	memmove(p->b + 16, p->b + 12, p->len - 12);
	p->len += 4;
	p->b[12] = VLAN_TAG >> 8;
	p->b[13] = VLAN_TAG & 0xff;
	p->b[14] = s->vlan >> 8;
	p->b[15] = s->vlan;
}

static void test_packet(unsigned int *late, const struct srpol_dp_rule *like)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	struct sample s = { .in = { .src = src, .dst = dst } };
	struct srpol_explain x;
	bool six = draw(2);
	struct pkt p;
	__u32 i;

	text(src, six);
	text(dst, six);
	draw_packet(&s, &p, like);
	for (i = 0; i < n_rules; i++)
		if (matches(&rules[i], &s))
			break;
	x = rig_explain(&p, &s.env);
	CHECK_EQ(x.rule_id, i < n_rules ? i + 1 : 0, "%s > %s %s %u", src, dst,
		 s.in.roce ? "qp" : "dport", s.in.roce ? s.in.qp : s.in.dport);
	CHECK_EQ(x.rules, i < n_rules ? i + 1 : n_rules, "looked at");
	*late += i >= n_rules / 2 && i < n_rules;
}

/* An address, a QP of its own, and little else. */
static void make_rare(struct srpol_dp_rule *r)
{
	r->match &= SRPOL_MATCH_MARK | SRPOL_MATCH_DSCP | SRPOL_MATCH_VLAN;
	r->match |= SRPOL_MATCH_DST | SRPOL_MATCH_QP;
	memset(r->dst, 0, sizeof(r->dst));
	memset(r->dst_mask, 0xff, sizeof(r->dst_mask));
	r->dst[0] = 0xfd;
	r->dst[15] = 1 + draw(3);
	r->qp[0] = r->id * 4099 & 0xffffff;
	r->qp[1] = r->qp[0];
}

static void round_of(__u32 n, bool rare)
{
	unsigned int late = 0;
	__u32 i;

	n_rules = n;
	for (i = 0; i < n; i++) {
		draw_rule(&rules[i], i);
		if (rare)
			make_rare(&rules[i]);
	}
	rig_rules(rules, n);
	for (i = 0; i < PACKETS; i++)
		test_packet(&late, rare ? &rules[draw(n)] : NULL);
	CHECK(late || !rare, "no rule but the first ones is found");
}

static void test_random(void)
{
	unsigned int i;

	srand48(1);
	colors_setup();
	for (i = 0; i < 6; i++)
		round_of(20 + 50 * i, false);
}

static void test_many(void)
{
	srand48(2);
	colors_setup();
	round_of(RULES_MAX, true);
	/* and what is left of these does not matter to fewer */
	round_of(1, false);
	round_of(65, true);
}

static const struct ktap_test tests[] = {
	{ "the first rule that matches", test_random },
	{ "among as many as there may be", test_many },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
