// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of "srpol path trace" and what is taken for an answer to them: messages
 * that are cut off at each byte, of another trace, or at random. What is not to be
 * read is in memory that ends there, so that the address sanitizer sees it read.
 */
#include <string.h>

#include "test.h"
#include "trace.h"

#define ETH	14
#define IPV6	40
#define SRH	40			/* with two SIDs */
#define ICMP	16

static const struct trace_probe probe = {
	.id = 0x1234, .seq = 0xabcd, .hops = 3, .label = 0xfedcb,
	.nonce = 0x1122334455667788,
	.last = { .s6_addr = { 0xfc, 0, 0, 0, 0, 0xb, [15] = 0xd6 } },
};

/* The headers of a path, as the data plane has them. @n: SIDs in the SRH */
static struct srpol_path_cfg form(u32 n)
{
	struct srpol_path_cfg path = {
		.encap_len = IPV6 + (n ? 8 + 16 * n : 0),
		.nh_off = n ? ETH + IPV6 : ETH + 6,
	};
	u8 *ip6 = path.rewrite + ETH, *srh = ip6 + IPV6;

	path.rewrite[12] = 0x86;
	path.rewrite[13] = 0xdd;
	ip6[0] = 0x60;
	ip6[7] = 64;
	ip6[8] = 0xfd;			/* source */
	ip6[23] = 1;
	ip6[24] = 0xfc;			/* destination */
	ip6[39] = 2;
	if (n) {
		ip6[6] = 43;
		srh[1] = 2 * n;
		srh[2] = 4;
		srh[3] = n;
		srh[4] = n - 1;
		memcpy(srh + 8, &probe.last, 16);
	}
	return path;
}

/* RFC 1071, over the pseudo-header as well: 0xffff if the checksum is right */
static u32 folded(const u8 *icmp, const u8 *src)
{
	u32 sum = ICMP + 58, i;

	for (i = 0; i < 16; i += 2)
		sum += (src[i] << 8 | src[i + 1]) +
		       (probe.last.s6_addr[i] << 8 | probe.last.s6_addr[i + 1]);
	for (i = 0; i < ICMP; i += 2)
		sum += icmp[i] << 8 | icmp[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void test_make(void **state)
{
	u8 frame[TRACE_FRAME_MAX];
	u32 n;

	(void)state;
	for (n = 0; n <= 15; n++) {
		struct srpol_path_cfg path = form(n);
		u8 *ip6 = frame + ETH, *icmp = ip6 + path.encap_len;
		size_t len = trace_make(&path, &probe, frame);

		assert_int_equal(len, ETH + path.encap_len + ICMP);
		assert_int_equal(ip6[0] << 24 | ip6[1] << 16 | ip6[2] << 8 | ip6[3],
				 6 << 28 | 0xfedcb);
		assert_int_equal(ip6[4] << 8 | ip6[5], len - ETH - IPV6);
		assert_int_equal(ip6[6], n ? 43 : 58);
		assert_int_equal(ip6[7], 3);
		assert_memory_equal(ip6 + 8, path.rewrite + ETH + 8, 32);
		if (n)
			assert_int_equal(ip6[IPV6], 58);
		if (n)
			assert_memory_equal(ip6 + IPV6 + 1,
					    path.rewrite + ETH + IPV6 + 1,
					    8 + 16 * n - 1);
		assert_int_equal(icmp[0], 128);
		assert_int_equal(folded(icmp, ip6 + 8), 0xffff);
	}
}

static void test_no_path(void **state)
{
	struct srpol_path_cfg path = form(2);
	u8 frame[TRACE_FRAME_MAX];

	(void)state;
	path.encap_len = 39;
	assert_int_equal(trace_make(&path, &probe, frame), 0);
	path.encap_len = SRPOL_REWRITE_MAX - ETH + 1;
	assert_int_equal(trace_make(&path, &probe, frame), 0);
	path.encap_len = SRPOL_REWRITE_MAX - ETH;
	assert_int_equal(trace_make(&path, &probe, frame), TRACE_FRAME_MAX);
	path.nh_off = SRPOL_REWRITE_MAX;
	assert_int_equal(trace_make(&path, &probe, frame), 0);
}

/* Reads a message that ends where its memory ends. */
static bool reads(const u8 *packet, size_t len, const struct trace_probe *of,
		  struct trace_answer *answer)
{
	u8 *copy = malloc(len ?: 1);
	bool is;

	memcpy(copy, packet, len);
	is = trace_read(copy, len, of, answer);
	free(copy);
	return is;
}

/* An IPv6 packet with an ICMPv6 error about a probe of @n SIDs in its SRH */
static size_t make_error(u8 *packet, u8 type, u8 code, u32 n)
{
	struct srpol_path_cfg path = form(n);
	u8 frame[TRACE_FRAME_MAX];
	size_t len = trace_make(&path, &probe, frame) - ETH;

	memset(packet, 0, IPV6 + 8);
	packet[0] = 0x60;
	packet[6] = 58;
	packet[23] = 0xfe;		/* who sent it */
	packet[IPV6] = type;
	packet[IPV6 + 1] = code;
	memcpy(packet + IPV6 + 8, frame + ETH, len);
	return IPV6 + 8 + len;
}

static void test_errors(void **state)
{
	u8 packet[IPV6 + 8 + TRACE_FRAME_MAX];
	struct trace_answer a;
	size_t len, cut;
	u32 n;

	(void)state;
	for (n = 0; n <= 3; n++) {
		len = make_error(packet, 3, 0, n);
		assert_true(reads(packet, len, &probe, &a));
		assert_int_equal(a.seq, 0xabcd);
		assert_int_equal(a.type, 3);
		assert_int_equal(a.code, 0);
		assert_int_equal(a.from.s6_addr[15], 0xfe);
		assert_int_equal(a.to.s6_addr[15], 2);
		assert_false(trace_reached(a.type, a.code));
		for (cut = 0; cut < len; cut++)
			assert_false(reads(packet, cut, &probe, &a));
	}
	len = make_error(packet, 4, 4, 2);
	assert_true(reads(packet, len, &probe, &a));
	assert_true(trace_reached(a.type, a.code));
	assert_false(trace_reached(4, 0));
	assert_false(trace_reached(1, 4));
}

/* The echo reply from the last SID */
static size_t make_reply(u8 *packet)
{
	struct srpol_path_cfg path = form(0);
	u8 frame[TRACE_FRAME_MAX];
	size_t len = trace_make(&path, &probe, frame) - ETH;

	memcpy(packet, frame + ETH, len);
	memcpy(packet + 8, &probe.last, 16);
	packet[IPV6] = 129;
	return len;
}

static void test_reply(void **state)
{
	u8 packet[TRACE_FRAME_MAX];
	struct trace_answer a;
	size_t len = make_reply(packet), cut;

	(void)state;
	assert_true(reads(packet, len, &probe, &a));
	assert_int_equal(a.seq, 0xabcd);
	assert_memory_equal(&a.from, &probe.last, 16);
	assert_true(trace_reached(a.type, a.code));
	for (cut = 0; cut < len; cut++)
		assert_false(reads(packet, cut, &probe, &a));
	/* one's own request, which comes back, is no answer */
	packet[IPV6] = 128;
	assert_false(reads(packet, len, &probe, &a));
	packet[0] = 0x45;
	packet[IPV6] = 129;
	assert_false(reads(packet, len, &probe, &a));
}

/* What was not sent by this trace is not answered to this trace. */
static void test_others(void **state)
{
	u8 packet[IPV6 + 8 + TRACE_FRAME_MAX];
	struct trace_probe other = probe;
	struct trace_answer a;
	size_t len, reply;

	(void)state;
	len = make_error(packet, 3, 0, 2);
	other.id++;
	assert_false(reads(packet, len, &other, &a));
	other = probe;
	other.nonce ^= 1ull << 63;
	assert_false(reads(packet, len, &other, &a));
	/* no error: a router's advertisement with a probe in it */
	packet[IPV6] = 134;
	assert_false(reads(packet, len, &probe, &a));
	/* an error about a reply */
	packet[IPV6] = 3;
	packet[len - ICMP] = 129;
	assert_false(reads(packet, len, &probe, &a));
	reply = make_reply(packet);
	assert_false(reads(packet, reply, &other, &a));
}

static void test_random_bytes(void **state)
{
	u8 packet[IPV6 + 8 + TRACE_FRAME_MAX];
	struct trace_answer a;
	u64 seed = 4711;
	size_t len, at;
	u32 i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		len = make_error(packet, 3, 0, i % 4);
		at = test_random(&seed) % len;
		packet[at] = test_random(&seed);
		packet[IPV6 + 8 + IPV6 + test_random(&seed) % 8] =
			test_random(&seed);
		reads(packet, test_random(&seed) % (len + 1), &probe, &a);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_make),
		cmocka_unit_test(test_no_path),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_reply),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_random_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
