// SPDX-License-Identifier: GPL-2.0
/*
 * Ingress of frames whose headers are in fragments, wherever the driver cut
 * them: they are to come out as if all of it had been linear.
 */
#include <bpf/btf.h>
#include <string.h>

#include "ktap.h"
#include "rig.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define LO	1
#define FAR	0x100	/* SID of another node */

static const struct inner v4 = {
	.src = "10.0.0.1", .dst = "10.0.0.2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .opcode = 4, .pkey = 0xffff, .tclass = 0x02,
	.payload = 4096,
};

static const struct inner v6 = {
	.src = "fd00::1", .dst = "fd00::2", .roce = true, .sport = 0xc123,
	.qp = 0x11, .opcode = 10, .pkey = 0xffff, .tclass = 0x02,
	.label = 0x12345, .payload = 4096,
};

/* Ends in the Ethernet, IPv6 and segment routing header, and inside. */
static const __u32 cuts[] = { 14, 15, 33, 53, 54, 61, 62, 78, 100, 255 };

/* bpf_xdp_pull_data() came with Linux 6.18. */
static bool kernel_pulls(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool found;

	found = btf && btf__find_by_name_kind(btf, "bpf_xdp_pull_data",
					      BTF_KIND_FUNC) > 0;
	btf__free(btf);
	return found;
}

static void check_cuts(const char *about, const struct pkt *p, int reason)
{
	static struct pkt want, out;
	bool pulls = kernel_pulls();
	int verdict, whole;
	__u32 i;

	whole = rig_uplink(p, &want);
	rig_expect(about, reason, 1, RIG_END);
	for (i = 0; i < ARRAY_SIZE(cuts); i++) {
		verdict = rig_uplink_fragments(p, cuts[i], &out);
		if (verdict < 0) {
			CHECK(!pulls, "%s: no frame of %u linear bytes", about,
			      cuts[i]);
			continue;
		}
		if (pulls) {
			CHECK_EQ(verdict, whole, "%s, %u linear", about,
				 cuts[i]);
			CHECK(pkt_equal(&out, &want), "%s, %u linear", about,
			      cuts[i]);
			rig_expect(about, reason, 1, RIG_END);
		} else if (cuts[i] < 54) {
			CHECK_EQ(verdict, X_DROP, "%s, %u linear", about,
				 cuts[i]);
			rig_expect(about, SRPOL_REASON_SID_UNREADABLE, 1,
				   RIG_END);
		} else {
			CHECK(verdict == whole || verdict == X_DROP,
			      "%s, %u linear", about, cuts[i]);
			rig_mark();
		}
	}
}

static void encap(struct pkt *p, const struct outer *o, const struct inner *in)
{
	static struct pkt ip;

	ip.len = 0;
	pkt_inner_ip(&ip, in);
	pkt_encap(p, o, ip.b, ip.len);
}

static void test_sids(void)
{
	static const struct {
		const char *about;
		__u32 behavior;
		const struct inner *in;
		int reason;
	} cases[] = {
		{ "End.DT6", SRPOL_BEHAVIOR_END_DT6, &v6, SRPOL_REASON_DECAP },
		{ "End.DT4", SRPOL_BEHAVIOR_END_DT4, &v4, SRPOL_REASON_DECAP },
		{ "End.DT46", SRPOL_BEHAVIOR_END_DT46, &v4,
		  SRPOL_REASON_DECAP },
		{ "End", SRPOL_BEHAVIOR_END, &v6, SRPOL_REASON_END },
		{ "End with PSP", SRPOL_BEHAVIOR_END_PSP, &v6,
		  SRPOL_REASON_END },
	};
	struct in6_addr list[SRPOL_SEGS_MAX];
	struct outer o = { .sids = list, .full = true };
	static struct pkt p;
	__u32 i, n, at;
	bool last;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		last = cases[i].reason == SRPOL_REASON_DECAP;
		for (n = last ? 1 : 2; n <= ARRAY_SIZE(list); n++) {
			rig_reset();
			rig_sid(1, sid(1), cases[i].behavior);
			o.n = n;
			o.travelled = last ? n - 1 : n - 2;
			for (at = 0; at < n; at++)
				list[at] = sid(at == o.travelled ? 1 :
					       FAR + at);
			encap(&p, &o, cases[i].in);
			rig_mark();
			check_cuts(cases[i].about, &p, cases[i].reason);
		}
	}
}

/* What is no SID of ours goes to the kernel, and comes there as it was. */
static void test_others(void)
{
	static struct pkt p, out;
	__u32 i;

	rig_reset();
	rig_sid(1, sid(1), SRPOL_BEHAVIOR_END);
	p.len = 0;
	pkt_inner(&p, &v6);
	for (i = 0; i < ARRAY_SIZE(cuts); i++) {
		int verdict = rig_uplink_fragments(&p, cuts[i], &out);

		CHECK(verdict < 0 || (verdict == X_PASS && pkt_equal(&out, &p)),
		      "%u linear", cuts[i]);
	}
}

/* The sender of a packet in fragments is told, too. */
static void test_error(void)
{
	const struct in6_addr list[] = { sid(1), sid(FAR) };
	const struct outer o = { .sids = list, .n = 2, .full = true, .hop_limit = 1 };
	const struct srpol_dp_config cfg = { .icmp_errors = 1 };
	struct inner in = v6;
	static struct pkt p;
	int verdict;

	rig_reset();
	rig_config(cfg);
	rig_uplink_add(LO);
	rig_sid(1, sid(1), SRPOL_BEHAVIOR_END);
	in.payload = 900;
	encap(&p, &o, &in);
	rig_mark();
	CHECK_EQ(rig_uplink(&p, NULL), X_REDIRECT, "linear");
	rig_expect("linear", SRPOL_REASON_HOP_LIMIT, 1,
		   SRPOL_REASON_ICMP_ENDPOINT, 1, RIG_END);
	verdict = rig_uplink_fragments(&p, 100, NULL);
	if (kernel_pulls())
		CHECK_EQ(verdict, X_REDIRECT, "100 linear");
	else
		CHECK(verdict < 0 || verdict == X_DROP || verdict == X_REDIRECT,
		      "100 linear");
	if (verdict == X_REDIRECT)
		rig_expect("100 linear", SRPOL_REASON_HOP_LIMIT, 1,
			   SRPOL_REASON_ICMP_ENDPOINT, 1, RIG_END);
}

static const struct ktap_test tests[] = {
	{ "to SIDs, cut anywhere", test_sids },
	{ "to others, cut anywhere", test_others },
	{ "an error about a packet that is cut", test_error },
};

int main(void)
{
	rig_open();
	return ktap_main(tests, ARRAY_SIZE(tests));
}
