// SPDX-License-Identifier: GPL-2.0
/*
 * Ingress: compressed SIDs, RFC 9800, NEXT-CSID: F3216, a block of 32 bits and
 * CSIDs of 16, and other layouts.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "ktap.h"
#include "rig.h"
#include "sidrig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static void test_un(void)
{
	struct pkt p, want;

	setup();
	set_sid(1, addr("fcbb:bb00:1::"), SRPOL_BEHAVIOR_UN, BLOCK + CSID);
	/* To another node: forwarding and hop limit are the kernel's. */
	container(&p, "fcbb:bb00:1:2:3:4:5:6", 64, &v6);
	container(&want, "fcbb:bb00:2:3:4:5:6:0", 64, &v6);
	check("shift", &p, X_PASS, &want, SRPOL_REASON_USID_NEXT, 0);
	CHECK_EQ(rig_sid_stats(1).packets, 1, "counted");
	CHECK_EQ(rig_sid_stats(1).bytes, p.len - 14, "counted");
	container(&p, "fcbb:bb00:1:0:0:0:0:6", 64, &v4);
	container(&want, "fcbb:bb00::6:0", 64, &v4);
	check("gap", &p, X_PASS, &want, SRPOL_REASON_USID_NEXT, 0);
	container(&p, "fcbb:bb00:1:2::", 1, &v6);
	check_drop("hop limit", &p, SRPOL_REASON_HOP_LIMIT, 1);
	/* At the end of the container without an SRH there is nothing to do */
	container(&p, "fcbb:bb00:1::", 64, &v6);
	check_drop("last", &p, SRPOL_REASON_UPPER_LAYER, 1);
	/* Not ours. */
	container(&p, "fcbb:bb00:2:1::", 64, &v6);
	check("other", &p, X_PASS, &p, SRPOL_REASON_NOT_LOCAL, 0);
}

/* Other splits of the address, not on bytes either. */
static void test_shift_widths(void)
{
	static const struct {
		__u32 block, prefix;
		const char *sid, *da, *next;
	} t[] = {
		{ 48, 64, "fcbb:bb00:1:2::", "fcbb:bb00:1:2:3:4:5:6",
		  "fcbb:bb00:1:3:4:5:6:0" },
		{ 32, 64, "fcbb:bb00:1:2::", "fcbb:bb00:1:2:3:4:5:6",
		  "fcbb:bb00:3:4:5:6::" },
		{ 64, 80, "fcbb:bb00:1:2:3::", "fcbb:bb00:1:2:3:4:5:6",
		  "fcbb:bb00:1:2:4:5:6:0" },
		{ 16, 112, "fcbb:1:2:3:4:5:6:0", "fcbb:1:2:3:4:5:6:7",
		  "fcbb:7::" },
		{ 24, 28, "fcbb:bbf0::",
		  "fcbb:bbf1:2345:6789:abcd:ef01:2345:6789",
		  "fcbb:bb12:3456:789a:bcde:f012:3456:7890" },
		{ 33, 65, "fcbb:bb00:8000:0:8000::",
		  "fcbb:bb00:8000:0:8000:0:0:1",
		  "fcbb:bb00:8000:0:0:1::" },
	};
	struct in6_addr a;
	struct srpol_dp_sid s;
	struct pkt p, want;
	__u32 i;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		setup();
		a = addr(t[i].sid);
		s = (struct srpol_dp_sid){
			.id = 1, .behavior = SRPOL_BEHAVIOR_UN,
			.prefix_len = t[i].prefix, .block_len = t[i].block,
		};
		memcpy(s.sid, &a, 16);
		rig_sid_set(&s);
		container(&p, t[i].da, 64, &v6);
		container(&want, t[i].next, 64, &v6);
		check(t[i].sid, &p, X_PASS, &want, SRPOL_REASON_USID_NEXT, 0);
	}
}

/* One node's CSIDs in a row, up to its uDT46. */
static void test_un_chain(void)
{
	struct in6_addr list[2] = {
		addr("fcbb:bb00:2:1:1:1::"), addr("fcbb:bb00:1:f046::"),
	};
	struct outer o = { .sids = list, .n = 2 };
	struct pkt p, want;

	setup();
	set_sid(1, addr("fcbb:bb00:1::"), SRPOL_BEHAVIOR_UN, 48);
	set_sid(2, addr("fcbb:bb00:f046::"), SRPOL_BEHAVIOR_UDT46, 48);
	container(&p, "fcbb:bb00:1:f046::", 64, &v4);
	plain(&want, &v4, pkt_link_macs);
	check("uN, uDT46", &p, X_PASS, &want, SRPOL_REASON_USID_NEXT,
	      SRPOL_REASON_DECAP);
	container(&p, "fcbb:bb00:1:1:1:1:f046:0", 64, &v6);
	plain(&want, &v6, pkt_link_macs);
	CHECK_EQ(rig_uplink(&p, &p), X_PASS, "four");
	CHECK(pkt_equal(&p, &want), "four");
	rig_expect("four", SRPOL_REASON_USID_NEXT, 4, SRPOL_REASON_DECAP, 1,
		   RIG_END);
	container(&p, "fcbb:bb00:1:1:1:1:1:f046", 64, &v6);
	CHECK_EQ(rig_uplink(&p, &p), X_DROP, "five");
	rig_expect("five", SRPOL_REASON_USID_NEXT, 4, SRPOL_REASON_SID_LOOP, 1,
		   RIG_END);
	container(&p, "fcbb:bb00:1:1:1:1:f046:0", 4, &v6);
	CHECK_EQ(rig_uplink(&p, &p), X_DROP, "hop limit on the way");
	rig_expect("hop limit", SRPOL_REASON_USID_NEXT, 3,
		   SRPOL_REASON_HOP_LIMIT, 1, RIG_END);

	/* The longest match counts: uN and function as one SID. */
	set_sid(3, addr("fcbb:bb00:1:f046::"), SRPOL_BEHAVIOR_UDT46, 64);
	container(&p, "fcbb:bb00:1:f046::", 64, &v6);
	check("longest match", &p, X_PASS, &want, SRPOL_REASON_DECAP, 0);
	CHECK_EQ(rig_sid_stats(3).packets, 1, "which SID");

	/* Container done, next one from the SRH: uN is an End then. */
	list[0] = addr("fcbb:bb00:1::");
	list[1] = addr("fcbb:bb00:1:f046::");
	encap(&p, &o, &v6);
	check("second container", &p, X_PASS, &want, SRPOL_REASON_END,
	      SRPOL_REASON_DECAP);
}

static void test_ua(void)
{
	struct pkt p, want;

	setup();
	set_sid(1, addr("fcbb:bb00:1:e000::"), SRPOL_BEHAVIOR_UA, 64);
	container(&p, "fcbb:bb00:1:e000:2:3::", 64, &v6);
	/* uA of node and function: both leave. */
	container(&want, "fcbb:bb00:2:3::", 63, &v6);
	use_l2(&want);
	check("uA", &p, X_REDIRECT, &want, SRPOL_REASON_USID_NEXT, 0);
	rig_nexthop(NEXTHOP, LO, 0);
	check_drop("down", &p, SRPOL_REASON_ADJACENCY_DOWN, 1);
	container(&p, "fcbb:bb00:1:e000:2::", 1, &v6);
	rig_nexthop(NEXTHOP, LO, 1);
	check_drop("hop limit", &p, SRPOL_REASON_HOP_LIMIT, 1);
}

static void test_udt(void)
{
	static const struct {
		__u32 behavior;
		bool four, six;
	} t[] = {
		{ SRPOL_BEHAVIOR_UDT6, false, true },
		{ SRPOL_BEHAVIOR_UDT4, true, false },
		{ SRPOL_BEHAVIOR_UDT46, true, true },
	};
	struct in6_addr list[2] = { addr("fcbb:bb00:f::"), sid(FAR) };
	struct outer o = { .sids = list, .n = 2 };
	struct pkt p, want;
	__u32 i, six;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		setup();
		set_sid(1, addr("fcbb:bb00:f::"), t[i].behavior, 48);
		for (six = 0; six < 2; six++) {
			container(&p, "fcbb:bb00:f::", 64, six ? &v6 : &v4);
			plain(&want, six ? &v6 : &v4, pkt_link_macs);
			if (six ? t[i].six : t[i].four)
				check("uDT", &p, X_PASS, &want,
				      SRPOL_REASON_DECAP, 0);
			else
				check_drop("uDT", &p,
					   SRPOL_REASON_UPPER_LAYER, 1);
		}
		container(&p, "fcbb:bb00:f:1::", 64, &v6);
		check_drop("argument", &p, SRPOL_REASON_SEGMENTS_LEFT, 1);
		encap(&p, &o, &v6);
		check_drop("segments", &p, SRPOL_REASON_SEGMENTS_LEFT, 1);
	}
}

#define REPLACE_SECONDS	10

static atomic_bool replaced_enough;

static void replace_by(__u32 behavior, __u32 block)
{
	struct in6_addr a = addr("fcbb:bb00:1::");
	struct srpol_dp_sid s = {
		.id = 1, .behavior = behavior, .prefix_len = 48,
		.block_len = block,
	};

	memcpy(s.sid, &a, 16);
	rig_sid_set(&s);
}

static void *replace(void *unused)
{
	while (!replaced_enough) {
		replace_by(SRPOL_BEHAVIOR_UN, 32);
		replace_by(SRPOL_BEHAVIOR_UDT46, 32);
		replace_by(SRPOL_BEHAVIOR_END, 0);
		replace_by(SRPOL_BEHAVIOR_UN, 16);
	}
	return unused;
}

static bool is_same(const struct pkt *a, const struct pkt *b)
{
	return a->len == b->len && !memcmp(a->b, b->b, a->len);
}

/*
 * A SID is replaced while packets come to it: each is processed as one of those
 * that there are says, never by half of one and half of another. Without the
 * check of srpol_step_next() one in a million is.
 */
static void test_replaced(void)
{
	unsigned long dropped = 0, by_32 = 0, by_16 = 0, other = 0;
	const time_t end = time(NULL) + REPLACE_SECONDS;
	struct pkt p, out, want_32, want_16;
	pthread_t writer;
	int verdict;

	setup();
	replace_by(SRPOL_BEHAVIOR_UN, 32);
	container(&p, "fcbb:bb00:1:2:3::", 64, &v6);
	container(&want_32, "fcbb:bb00:2:3::", 64, &v6);
	container(&want_16, "fcbb:2:3::", 64, &v6);
	replaced_enough = false;
	if (!CHECK(!pthread_create(&writer, NULL, replace, NULL), "thread"))
		return;
	while (time(NULL) < end) {
		verdict = rig_uplink(&p, &out);
		if (verdict == X_DROP)
			dropped++;
		else if (verdict == X_PASS && is_same(&out, &want_32))
			by_32++;
		else if (verdict == X_PASS && is_same(&out, &want_16))
			by_16++;
		else
			other++;
	}
	replaced_enough = true;
	pthread_join(writer, NULL);
	CHECK(dropped && by_32 && by_16, "each of them took packets");
	CHECK_EQ(other, 0, "as no SID says");
}

static const struct ktap_test tests[] = {
	{ "uN", test_un },
	{ "containers of any layout", test_shift_widths },
	{ "uN chains", test_un_chain },
	{ "uA", test_ua },
	{ "uDT6, uDT4, uDT46", test_udt },
	{ "a SID that is replaced under packets", test_replaced },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
