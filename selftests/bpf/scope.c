// SPDX-License-Identifier: GPL-2.0
/*
 * Ingress: what reaches a SID and is no packet for it, or leads where no packet may
 * go: frames of others, next segments and inner packets of a link.
 */

#include "ktap.h"
#include "rig.h"
#include "sidrig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* A frame to a SID that is not to this host, or not as frames are here. */
static void test_frames(void)
{
	struct in6_addr list[2] = { sid(1), sid(FAR) };
	struct outer o = { .sids = list, .n = 2 };
	struct pkt p, t = {};
	int tags, vid;

	setup();
	rig_sid(1, sid(1), SRPOL_BEHAVIOR_END);
	encap(&p, &o, &v6);
	rig_mark();
	p.b[5] = 1;
	check("foreign address", &p, X_PASS, &p, SRPOL_REASON_FOREIGN_MAC, 0);
	p.b[5] = 0;
	for (tags = 1; tags <= 3; tags++) {
		for (vid = 0; vid <= 100; vid += 100) {
			t.len = 0;
			pkt_add(&t, p.b, 12);
			while (t.len < 12u + 4 * (tags - 1))
				pkt_add_hex(&t, "81000000");
			pkt_add16(&t, 0x8100);
			pkt_add16(&t, vid);
			pkt_add(&t, p.b + 12, p.len - 12);
			if (vid)
				check("another VLAN", &t, X_PASS, &t,
				      SRPOL_REASON_SID_TAGGED, 0);
			else
				check_drop("priority tags", &t,
					   SRPOL_REASON_SID_UNREADABLE, 1);
			t.b[5] = 1;
			check("tagged, foreign address", &t, X_PASS, &t,
			      vid ? SRPOL_REASON_SID_TAGGED :
				    SRPOL_REASON_FOREIGN_MAC, 0);
		}
	}
}

/* Segments that are no addresses to send to. */
static void test_bad_next(void)
{
	static const char *const bad[] = { "::", "::1", "ff02::1", "fe80::1" };
	static const __u32 kinds[] = {
		SRPOL_BEHAVIOR_END, SRPOL_BEHAVIOR_END_X,
	};
	struct in6_addr list[2] = { sid(1) };
	struct outer o = { .sids = list, .n = 2, .full = true };
	struct pkt p;
	__u32 i, k;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		setup();
		set_sid(1, sid(1), kinds[k], 128);
		rig_mark();
		for (i = 0; i < ARRAY_SIZE(bad); i++) {
			list[1] = addr(bad[i]);
			encap(&p, &o, &v6);
			check_drop(bad[i], &p, SRPOL_REASON_BAD_NEXT, 1);
		}
	}
}

/* What belongs to a link does not come out of a tunnel. */
static void test_inner_scope(void)
{
	static const struct inner bad[] = {
		{ .src = "fd00::1", .dst = "ff02::1" },
		{ .src = "fe80::1", .dst = "fd00::2" },
		{ .src = "fd00::1", .dst = "fe80::2" },
		{ .src = "fd00::1", .dst = "fd00::2", .proto = 58,
		  .first_byte = 136, .ttl = 255 },
		{ .src = "10.0.0.1", .dst = "224.0.0.1" },
		{ .src = "10.0.0.1", .dst = "255.255.255.255" },
		{ .src = "169.254.1.1", .dst = "10.0.0.2" },
	};
	struct in6_addr list[1] = { sid(1) };
	struct outer o = { .sids = list, .n = 1 };
	struct pkt p;
	__u32 i;

	setup();
	rig_sid(1, sid(1), SRPOL_BEHAVIOR_END_DT46);
	rig_mark();
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		encap(&p, &o, &bad[i]);
		check_drop(bad[i].dst, &p, SRPOL_REASON_INNER_SCOPE, 1);
	}
}

/* An error about a packet of a tunnel, inside a tunnel: a forged one. */
static void test_inner_error(void)
{
	static const __u8 quoted[] = { 43, 41, 4, 17 };
	struct in6_addr list[1] = { sid(1) };
	struct outer o = { .sids = list, .n = 1 };
	struct inner in = { .src = "fd00::1", .dst = "fd00::2", .proto = 58,
			    .payload = 64 };
	struct pkt p;
	__u32 i;

	setup();
	rig_sid(1, sid(1), SRPOL_BEHAVIOR_END_DT46);
	rig_mark();
	for (in.first_byte = 1; in.first_byte <= 4; in.first_byte++) {
		for (i = 0; i < ARRAY_SIZE(quoted); i++) {
			encap(&p, &o, &in);
			p.b[14 + 40 + 40 + 8 + 6] = quoted[i];
			if (quoted[i] != 17)
				check_drop("of a tunnel", &p,
					   SRPOL_REASON_INNER_ERROR, 1);
			else
				check("of its own", &p, X_PASS, NULL,
				      SRPOL_REASON_DECAP, 0);
		}
	}
}

static const struct ktap_test tests[] = {
	{ "other addresses, VLAN tags", test_frames },
	{ "next segments that are no addresses", test_bad_next },
	{ "inner packets of a link", test_inner_scope },
	{ "inner errors about tunnels", test_inner_error },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
