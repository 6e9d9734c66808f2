// SPDX-License-Identifier: GPL-2.0
/*
 * Ingress: packets to a local SID that are not as they should be. Each must be
 * dropped, not decapsulated, and counted under the name of what is wrong.
 */
#include <string.h>

#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define END		1
#define DT6		6
#define DT4		7
#define DT46		8
#define FAR		0x100

/* Offsets in the frame. */
#define VERSION		14
#define PAYLOAD_LEN	18
#define NEXT_HEADER	20
#define SRH		54
#define SRH_NH		(SRH + 0)
#define SRH_HDRLEN	(SRH + 1)
#define SRH_TYPE	(SRH + 2)
#define SRH_LEFT	(SRH + 3)
#define SRH_LAST	(SRH + 4)

static unsigned int corpus;

static const struct inner v4 = {
	.src = "10.0.0.1", .dst = "10.0.0.2", .sport = 1000, .dport = 2000,
	.payload = 32,
};

static const struct inner v6 = {
	.src = "fd00::1", .dst = "fd00::2", .sport = 1000, .dport = 2000,
	.payload = 32,
};

/* A good packet of @n SIDs that has come to its last SID, @last. */
static struct outer good(struct pkt *p, unsigned int n, bool full, __u32 last,
			 bool six)
{
	static struct in6_addr list[SRPOL_SEGS_MAX];
	struct outer o = { .sids = list, .n = n, .full = full };
	struct pkt ip = {};
	unsigned int i;

	for (i = 0; i < n; i++)
		list[i] = sid(FAR + i);
	list[n - 1] = sid(last);
	o.travelled = n - 1;
	pkt_inner_ip(&ip, six ? &v6 : &v4);
	pkt_encap(p, &o, ip.b, ip.len);
	return o;
}

static void put16(struct pkt *p, __u32 off, __u16 v)
{
	p->b[off] = v >> 8;
	p->b[off + 1] = v;
}

static __u16 get16(const struct pkt *p, __u32 off)
{
	return p->b[off] << 8 | p->b[off + 1];
}

static void check_drop(const struct pkt *p, int reason, const char *about,
		       __u32 v)
{
	char text[96];

	corpus++;
	snprintf(text, sizeof(text), "%s (%u), %s", about, v,
		 rig_reason_name(reason));
	CHECK_EQ(rig_uplink(p, NULL), X_DROP, "%s", text);
	rig_expect(text, reason, 1, RIG_END);
}

static void setup(void)
{
	rig_reset();
	rig_sid(END, sid(END), SRPOL_BEHAVIOR_END);
	rig_sid(DT6, sid(DT6), SRPOL_BEHAVIOR_END_DT6);
	rig_sid(DT4, sid(DT4), SRPOL_BEHAVIOR_END_DT4);
	rig_sid(DT46, sid(DT46), SRPOL_BEHAVIOR_END_DT46);
	rig_mark();
}

/* The cable cut it: shorter than the outer length says, at every byte. */
static void test_cut(void)
{
	struct pkt p, cut;
	unsigned int shape;
	__u32 len;

	setup();
	for (shape = 0; shape < 8; shape++) {
		good(&p, 1 + shape / 2 % 4, shape & 1, DT46, shape & 2);
		for (len = 54; len < p.len; len++) {
			cut = p;
			cut.len = len;
			check_drop(&cut, SRPOL_REASON_TRUNCATED, "cut", len);
		}
	}
}

/*
 * The sender cut it: the outer length agrees with the frame, what is inside
 * does not fit.
 */
static void test_cut_inside(void)
{
	struct pkt p, cut;
	unsigned int shape;
	struct outer o;
	__u32 len, srh_len;
	int reason;

	setup();
	for (shape = 0; shape < 8; shape++) {
		o = good(&p, 1 + shape / 2 % 4, shape & 1, DT46, shape & 2);
		srh_len = outer_len(&o) - 40;
		for (len = 0; len < p.len - 54; len++) {
			cut = p;
			cut.len = 54 + len;
			put16(&cut, PAYLOAD_LEN, len);
			reason = len < srh_len ? SRPOL_REASON_TRUNCATED :
						 SRPOL_REASON_BAD_INNER;
			check_drop(&cut, reason, "inside", len);
		}
	}
}

static void test_version(void)
{
	struct pkt p;
	__u32 v;

	setup();
	for (v = 0; v < 16; v++) {
		if (v == 6)
			continue;
		good(&p, 2, true, DT46, true);
		p.b[VERSION] = v << 4;
		check_drop(&p, SRPOL_REASON_BAD_OUTER, "version", v);
	}
}

static void test_routing_type(void)
{
	struct pkt p;
	__u32 v;

	setup();
	for (v = 0; v < 256; v++) {
		if (v == 4)
			continue;
		good(&p, 3, v & 1, DT46, v & 2);
		p.b[SRH_TYPE] = v;
		check_drop(&p, SRPOL_REASON_BAD_ROUTING_TYPE, "type", v);
	}
}

/* Every header length against a list of three. */
static void test_hdrlen(void)
{
	struct pkt p;
	__u32 v, room;
	int reason;

	setup();
	for (v = 0; v < 256; v++) {
		good(&p, 3, true, DT46, true);
		p.b[SRH_HDRLEN] = v;
		room = p.len - SRH;
		if ((v + 1) * 8 > room)
			reason = SRPOL_REASON_TRUNCATED;
		else if (v < 6)		/* three SIDs need six words */
			reason = SRPOL_REASON_BAD_HDRLEN;
		else if (v == 6)
			continue;
		else			/* eats the inner packet's header */
			reason = SRPOL_REASON_BAD_INNER;
		check_drop(&p, reason, "hdrlen", v);
	}
}

static void test_last_entry(void)
{
	struct pkt p;
	__u32 v;

	setup();
	for (v = 3; v < 256; v++) {
		good(&p, 3, true, DT46, true);
		p.b[SRH_LAST] = v;
		check_drop(&p, SRPOL_REASON_BAD_HDRLEN, "last entry", v);
	}
}

static void test_segments_left(void)
{
	struct pkt p;
	__u32 v;

	setup();
	for (v = 1; v < 256; v++) {
		good(&p, 3, true, DT46, true);
		p.b[SRH_LEFT] = v;
		check_drop(&p, v > 3 ? SRPOL_REASON_BAD_SEGMENTS_LEFT :
				       SRPOL_REASON_SEGMENTS_LEFT,
			   "at DT46", v);
		good(&p, 3, true, END, true);
		p.b[SRH_LEFT] = v;
		if (v > 3)
			check_drop(&p, SRPOL_REASON_BAD_SEGMENTS_LEFT,
				   "at End", v);
	}
	good(&p, 3, true, END, true);
	check_drop(&p, SRPOL_REASON_NO_SEGMENTS_LEFT, "at End", 0);
	good(&p, 3, false, END, true);
	check_drop(&p, SRPOL_REASON_NO_SEGMENTS_LEFT, "at End, reduced", 0);
}

static bool is_ext(__u32 nh)
{
	static const __u8 ext[] = { 0, 44, 51, 60, 135, 139, 140 };
	__u32 i;

	for (i = 0; i < sizeof(ext); i++)
		if (nh == ext[i])
			return true;
	return false;
}

/* Every next header, after the IPv6 header and after the SRH. */
static void test_next_header(void)
{
	static const __u32 ends[] = { END, DT6, DT4, DT46 };
	struct pkt p;
	__u32 nh, i, at;
	int reason;

	setup();
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		at = ends[i];
		for (nh = 0; nh < 256; nh++) {
			good(&p, 1, false, at, true);
			p.b[NEXT_HEADER] = nh;
			if (is_ext(nh))
				reason = SRPOL_REASON_EXT_HEADER;
			else if (nh == 43)	/* inner IPv6 as an SRH */
				reason = SRPOL_REASON_BAD_ROUTING_TYPE;
			else if ((nh == 41 && (at == DT6 || at == DT46)) ||
				 (nh == 4 && (at == DT4 || at == DT46)))
				continue;
			else
				reason = SRPOL_REASON_UPPER_LAYER;
			check_drop(&p, reason, "no SRH", nh);

			if (at == END)	/* does not look at what follows */
				continue;
			good(&p, 2, true, at, true);
			p.b[SRH_NH] = nh;
			if (nh == 43)
				reason = SRPOL_REASON_NESTED_SRH;
			check_drop(&p, reason, "after SRH", nh);
		}
	}
	good(&p, 1, false, DT6, false);
	check_drop(&p, SRPOL_REASON_UPPER_LAYER, "IPv4 at DT6", 0);
	good(&p, 1, false, DT4, true);
	check_drop(&p, SRPOL_REASON_UPPER_LAYER, "IPv6 at DT4", 0);
	good(&p, 2, true, END, true);
	p.b[SRH_NH] = 43;
	p.b[SRH_LEFT] = 1;
	check_drop(&p, SRPOL_REASON_NESTED_SRH, "at End", 0);
}

/* A second SRH, itself in order, before the inner packet. */
static void test_nested(void)
{
	struct pkt p, q;
	unsigned int n;

	setup();
	for (n = 1; n <= 16; n++) {
		good(&p, n, true, DT46, true);
		q = p;
		q.len = SRH;
		pkt_add(&q, p.b + SRH, 8 + 16 * n);
		pkt_add(&q, p.b + SRH, p.len - SRH);
		q.b[SRH_NH] = 43;
		put16(&q, PAYLOAD_LEN, q.len - 54);
		check_drop(&q, SRPOL_REASON_NESTED_SRH, "SIDs", n);
	}
}

static void test_empty(void)
{
	struct pkt p;

	setup();
	/* An SRH of no segment. */
	good(&p, 1, true, DT46, true);
	memmove(p.b + SRH + 8, p.b + SRH + 24, p.len - SRH - 24);
	p.len -= 16;
	put16(&p, PAYLOAD_LEN, p.len - 54);
	p.b[SRH_HDRLEN] = 0;
	check_drop(&p, SRPOL_REASON_BAD_HDRLEN, "no segment", 0);
	/* No payload at all: jumbograms are not for SIDs. */
	good(&p, 2, true, DT46, true);
	put16(&p, PAYLOAD_LEN, 0);
	check_drop(&p, SRPOL_REASON_TRUNCATED, "payload length", 0);
	good(&p, 1, false, DT46, true);
	put16(&p, PAYLOAD_LEN, 0);
	check_drop(&p, SRPOL_REASON_BAD_INNER, "payload length", 0);
}

static void test_inner(void)
{
	struct pkt p;
	struct outer o;
	__u32 v, at, len;

	setup();
	/* version nibbles, against what the next header said */
	for (v = 0; v < 16; v++) {
		o = good(&p, 2, true, DT46, true);
		at = 14 + outer_len(&o);
		p.b[at] = v << 4;
		if (v != 6)
			check_drop(&p, SRPOL_REASON_BAD_INNER, "v6 as", v);
		o = good(&p, 2, true, DT46, false);
		p.b[at] = v << 4 | 5;
		if (v != 4)
			check_drop(&p, SRPOL_REASON_BAD_INNER, "v4 as", v);
		/* header length */
		p.b[at] = 0x40 | v;
		if (v < 5)
			check_drop(&p, SRPOL_REASON_BAD_INNER, "ihl", v);
	}
	/* longer than there is room */
	o = good(&p, 2, true, DT46, true);
	len = get16(&p, at + 4);
	for (v = len + 1; v < 0x10000; v = v * 5 / 4 + 1) {
		put16(&p, at + 4, v);
		check_drop(&p, SRPOL_REASON_BAD_INNER, "v6 length", v);
	}
	o = good(&p, 2, true, DT46, false);
	len = get16(&p, at + 2);
	for (v = len + 1; v < 0x10000; v = v * 5 / 4 + 1) {
		put16(&p, at + 2, v);
		check_drop(&p, SRPOL_REASON_BAD_INNER, "v4 length", v);
	}
	/* shorter than its own header */
	for (v = 0; v < 20; v++) {
		put16(&p, at + 2, v);
		check_drop(&p, SRPOL_REASON_BAD_INNER, "v4 length", v);
	}
	put16(&p, at + 2, 23);
	p.b[at] = 0x46;
	check_drop(&p, SRPOL_REASON_BAD_INNER, "v4 options", 23);
}

static void test_size(void)
{
	printf("# %u packets\n", corpus);
	CHECK(corpus >= 1000, "%u packets", corpus);
}

static const struct ktap_test tests[] = {
	{ "frame cut at every length", test_cut },
	{ "packet cut at every length", test_cut_inside },
	{ "outer version", test_version },
	{ "routing type", test_routing_type },
	{ "SRH length", test_hdrlen },
	{ "last entry", test_last_entry },
	{ "segments left", test_segments_left },
	{ "next header", test_next_header },
	{ "nested SRH", test_nested },
	{ "empty SRH, empty packet", test_empty },
	{ "inner header", test_inner },
	{ "at least 1000 malformed packets", test_size },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
