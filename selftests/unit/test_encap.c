// SPDX-License-Identifier: GPL-2.0
/*
 * Compiled paths, byte by byte: the expected bytes are put together here from
 * the pictures of RFC 8200 and RFC 8754, with a different method than the
 * code under test uses; one packet is spelled out.
 */
#include "test.h"

static const u8 dmac[ETH_ALEN] = { 2, 0, 0, 0, 0, 2 };
static const u8 smac[ETH_ALEN] = { 2, 0, 0, 0, 0, 1 };

/* fd00::N of a family: every byte of every SID is different from the next */
static struct in6_addr address(u8 family, u8 n)
{
	struct in6_addr addr;
	int i;

	for (i = 0; i < 16; i++)
		addr.s6_addr[i] = family + n * 16 + i;
	return addr;
}

static void build(struct srpol_dp_path *dp, u32 n, enum srpol_encap encap,
		  u8 hop_limit)
{
	const struct in6_addr src = address(0x55, 0);
	struct in6_addr sids[SRPOL_SEGS_MAX];
	u32 i;

	for (i = 0; i < n; i++)
		sids[i] = address(1, i);
	/* nothing of what was there may shine through */
	memset(dp, 0xee, sizeof(*dp));
	srpol_encap_build(dp, sids, n, encap, &src, hop_limit, dmac, smac);
}

static u8 *append(u8 *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

static u8 *append_byte(u8 *at, u8 byte)
{
	*at = byte;
	return at + 1;
}

/* What must be in the rewrite string; returns its length. */
static u32 expect(u8 *out, u32 n, bool full, u8 hop_limit)
{
	const struct in6_addr src = address(0x55, 0), first = address(1, 0);
	bool srh = full || n > 1;
	u8 *at = out;
	int last, i;

	at = append(at, dmac, 6);
	at = append(at, smac, 6);
	at = append(at, "\x86\xdd", 2);
	at = append(at, "\x60\0\0\0\0\0", 6);
	at = append_byte(at, srh ? 43 : 0);
	at = append_byte(at, hop_limit);
	at = append(at, &src, 16);
	at = append(at, &first, 16);
	if (!srh)
		return at - out;
	/* the segment list goes backwards; reduced leaves its first one out */
	last = full ? 0 : 1;
	at = append_byte(at, 0);
	at = append_byte(at, (n - last) * 2);
	at = append_byte(at, 4);
	at = append_byte(at, n - 1);
	at = append_byte(at, n - last - 1);
	at = append(at, "\0\0\0", 3);
	for (i = n - 1; i >= last; i--) {
		const struct in6_addr sid = address(1, i);

		at = append(at, &sid, 16);
	}
	return at - out;
}

static void test_bytes(void **state)
{
	u8 want[SRPOL_REWRITE_MAX];
	struct srpol_dp_path dp;
	u32 n, len;
	int full;

	(void)state;
	for (n = 1; n <= SRPOL_SEGS_MAX; n++) {
		for (full = 0; full <= 1; full++) {
			memset(want, 0, sizeof(want));
			len = expect(want, n, full, 60 + n);
			build(&dp, n, full ? SRPOL_ENCAP_FULL :
					     SRPOL_ENCAP_REDUCED, 60 + n);
			assert_int_equal(dp.encap_len, len - ETH_HLEN);
			assert_memory_equal(dp.rewrite, want, sizeof(want));
			/* next header of the IPv6 header, or of the SRH */
			assert_int_equal(dp.nh_off,
					 full || n > 1 ? 14 + 40 : 14 + 6);
			assert_int_equal(dp.rewrite[dp.nh_off], 0);
		}
	}
}

/* fc00:0:21::1, fc00:0:12::1, fc00:0:b::d46 from fd00:a::1, reduced */
static void test_spelled_out(void **state)
{
	static const struct in6_addr src = {
		.s6_addr = { 0xfd, 0, 0, 0xa, [15] = 1 }
	};
	static const struct in6_addr sids[] = {
		{ .s6_addr = { 0xfc, 0, 0, 0, 0, 0x21, [15] = 1 } },
		{ .s6_addr = { 0xfc, 0, 0, 0, 0, 0x12, [15] = 1 } },
		{ .s6_addr = { 0xfc, 0, 0, 0, 0, 0xb, [14] = 0xd, 0x46 } },
	};
	static const u8 want[14 + 80] = {
		2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd,
		0x60, 0, 0, 0, 0, 0, 43, 64,
		0xfd, 0, 0, 0xa, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
		0xfc, 0, 0, 0, 0, 0x21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
		/* SRH: hdr ext len 4, type 4, segments left 2, last entry 1 */
		0, 4, 4, 2, 1, 0, 0, 0,
		0xfc, 0, 0, 0, 0, 0xb, 0, 0, 0, 0, 0, 0, 0, 0, 0xd, 0x46,
		0xfc, 0, 0, 0, 0, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
	};
	struct srpol_dp_path dp;

	(void)state;
	srpol_encap_build(&dp, sids, 3, SRPOL_ENCAP_REDUCED, &src, 64, dmac,
			  smac);
	assert_int_equal(dp.encap_len, 80);
	assert_int_equal(dp.nh_off, 54);
	assert_memory_equal(dp.rewrite, want, sizeof(want));
}

/* standards.md C.12 */
static void test_overhead(void **state)
{
	static const struct {
		u32 n, full, reduced;
	} rows[] = {
		{ 1, 64, 40 }, { 2, 80, 64 }, { 3, 96, 80 },
		{ 6, 144, 128 }, { 16, 304, 288 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(srpol_encap_len(rows[i].n, SRPOL_ENCAP_FULL),
				 rows[i].full);
		assert_int_equal(srpol_encap_len(rows[i].n,
						 SRPOL_ENCAP_REDUCED),
				 rows[i].reduced);
	}
}

static void test_room(void **state)
{
	(void)state;
	assert_true(ETH_HLEN + srpol_encap_len(SRPOL_SEGS_MAX,
					       SRPOL_ENCAP_FULL) <=
		    SRPOL_REWRITE_MAX);
	assert_int_equal(SRPOL_SEGS_MAX, SRPOL_SIDS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_spelled_out),
		cmocka_unit_test(test_overhead),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
