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

static struct srpol_header header(u32 n, enum srpol_encap encap)
{
	struct srpol_header hdr = { .n_sids = n, .encap = encap };
	u32 i;

	for (i = 0; i < n; i++)
		hdr.sids[i] = address(1, i);
	return hdr;
}

static void build_header(struct srpol_dp_path *dp,
			 const struct srpol_header *hdr, u8 hop_limit, u8 tag)
{
	struct srpol_outer outer = {
		.src = address(0x55, 0),
		.hop_limit = hop_limit,
		.tag = tag,
	};

	memcpy(outer.dmac, dmac, sizeof(dmac));
	memcpy(outer.smac, smac, sizeof(smac));
	/* nothing of what was there may shine through */
	memset(dp, 0xee, sizeof(*dp));
	dp->id = 0x1234abcd;
	srpol_encap_build(dp, hdr, &outer);
}

static void build(struct srpol_dp_path *dp, u32 n, enum srpol_encap encap,
		  u8 hop_limit)
{
	const struct srpol_header hdr = header(n, encap);

	build_header(dp, &hdr, hop_limit, 0);
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
			assert_int_equal(dp.timestamp_off, 0);
		}
	}
}

/* fc00:0:21::1, fc00:0:12::1, fc00:0:b::d46 from fd00:a::1, reduced */
static void test_spelled_out(void **state)
{
	static const struct srpol_header hdr = {
		.n_sids = 3,
		.encap = SRPOL_ENCAP_REDUCED,
		.sids = {
			{ .s6_addr = { 0xfc, 0, 0, 0, 0, 0x21, [15] = 1 } },
			{ .s6_addr = { 0xfc, 0, 0, 0, 0, 0x12, [15] = 1 } },
			{ .s6_addr = { 0xfc, 0, 0, 0, 0, 0xb, [14] = 0xd,
				       0x46 } },
		},
	};
	static const struct srpol_outer outer = {
		.src.s6_addr = { 0xfd, 0, 0, 0xa, [15] = 1 },
		.dmac = { 2, 0, 0, 0, 0, 2 },
		.smac = { 2, 0, 0, 0, 0, 1 },
		.hop_limit = 64,
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
	srpol_encap_build(&dp, &hdr, &outer);
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
		struct srpol_header hdr = header(rows[i].n, SRPOL_ENCAP_FULL);

		assert_int_equal(srpol_encap_len(&hdr), rows[i].full);
		hdr.encap = SRPOL_ENCAP_REDUCED;
		assert_int_equal(srpol_encap_len(&hdr), rows[i].reduced);
	}
}

/* The tag, and only if there is an SRH to carry it. */
static void test_tag(void **state)
{
	struct srpol_header hdr = header(2, SRPOL_ENCAP_REDUCED);
	struct srpol_dp_path tagged, plain;

	(void)state;
	build_header(&plain, &hdr, 64, 0);
	build_header(&tagged, &hdr, 64, 1);
	assert_memory_equal(tagged.rewrite + 54 + 6, "\xab\xcd", 2);
	memset(tagged.rewrite + 54 + 6, 0, 2);
	assert_memory_equal(&tagged, &plain, sizeof(plain));
	hdr.n_sids = 1;
	build_header(&plain, &hdr, 64, 0);
	build_header(&tagged, &hdr, 64, 1);
	assert_memory_equal(&tagged, &plain, sizeof(plain));
}

/* What follows the segment list, by hand. */
static void test_tlvs(void **state)
{
	static const u8 timestamp[16] = { 124, 14, 0xab, 0xcd };
	static const struct {
		u32 n_tlvs, len[3], timestamp, size;
		const char *want;
	} rows[] = {
		{ 0, {}, 1, 0, "" },
		/* full: no padding; one byte short: Pad1; two: empty PadN */
		{ 1, { 6 }, 0, 8, "\xc8\x06xxxxxx" },
		{ 1, { 5 }, 0, 8, "\xc8\x05xxxxx" },
		{ 1, { 4 }, 0, 8, "\xc8\x04xxxx\x04" },
		{ 1, { 3 }, 0, 8, "\xc8\x03xxx\x04\x01" },
		{ 1, { 7 }, 0, 16, "\xc8\x07xxxxxxx\x04\x05\0\0\0\0" },
		{ 1, { 0 }, 1, 8, "\xc8\0\x04\x04\0\0\0" },
		{ 1, { 5 }, 1, 8, "\xc8\x05xxxxx" },
		{ 3, { 1, 0, 3 }, 1, 16,
		  "\xc8\x01x\xc9\0\xca\x03zzz\x04\x04\0\0\0" },
	};
	struct srpol_header hdr;
	struct srpol_dp_path dp;
	u32 n, i, in_srh, len;
	int full;
	size_t r;

	(void)state;
	for (r = 0; r < ARRAY_SIZE(rows); r++) {
		for (n = 1; n <= 12; n++) {
			for (full = 0; full <= 1; full++) {
				hdr = header(n, full ? SRPOL_ENCAP_FULL :
						       SRPOL_ENCAP_REDUCED);
				hdr.n_tlvs = rows[r].n_tlvs;
				hdr.timestamp = rows[r].timestamp;
				for (i = 0; i < hdr.n_tlvs; i++) {
					hdr.tlvs[i].type = 200 + i;
					hdr.tlvs[i].len = rows[r].len[i];
					memset(hdr.tlvs[i].value, 'x' + i,
					       SRPOL_TLV_MAX);
				}
				in_srh = full || n == 1 ? n : n - 1;
				build_header(&dp, &hdr, 64, 0);
				assert_int_equal(srpol_encap_sids(&hdr),
						 in_srh);
				i = 14 + 40 + 8 + 16 * in_srh;
				len = i + rows[r].size;
				assert_memory_equal(dp.rewrite + i,
						    rows[r].want,
						    rows[r].size);
				assert_int_equal(dp.timestamp_off,
						 hdr.timestamp ? len : 0);
				if (hdr.timestamp) {
					assert_memory_equal(dp.rewrite + len,
							    timestamp, 16);
					len += 16;
				}
				assert_int_equal(dp.encap_len, len - 14);
				assert_int_equal(dp.encap_len % 8, 0);
				assert_int_equal(dp.rewrite[55],
						 (dp.encap_len - 48) / 8);
				assert_int_equal(dp.rewrite[57], n - 1);
				assert_int_equal(dp.rewrite[58], in_srh - 1);
				assert_int_equal(dp.nh_off, 54);
			}
		}
	}
}

static void test_room(void **state)
{
	struct srpol_header hdr = header(SRPOL_SEGS_MAX, SRPOL_ENCAP_FULL);

	(void)state;
	assert_true(ETH_HLEN + srpol_encap_len(&hdr) <= SRPOL_REWRITE_MAX);
	assert_int_equal(SRPOL_SEGS_MAX, SRPOL_SIDS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_spelled_out),
		cmocka_unit_test(test_overhead),
		cmocka_unit_test(test_tag),
		cmocka_unit_test(test_tlvs),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
