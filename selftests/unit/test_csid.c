// SPDX-License-Identifier: GPL-2.0
/*
 * Containers of compressed SIDs: which are valid, and which addresses one
 * turns into on its way.
 */
#include <arpa/inet.h>

#include "test.h"

static struct in6_addr ip(const char *text)
{
	struct in6_addr addr;

	assert_int_equal(inet_pton(AF_INET6, text, &addr), 1);
	return addr;
}

static void test_valid(void **state)
{
	static const struct {
		const char *sid;
		u32 block, csid;
		bool valid;
	} rows[] = {
		{ "fcbb:bb00:1:2:3:4:5:6", 32, 16, true },
		{ "fcbb:bb00:1:2::", 32, 16, true },
		{ "fcbb:bb00::", 32, 16, true },
		{ "fcbb:bb00:1:0:3::", 32, 16, false },
		{ "fcbb:bb00:0:2::", 32, 16, false },
		{ "fcbb:bb00::1", 32, 16, false },
		{ "fcbb:bb00:0:2::", 32, 32, true },
		{ "fcbb:bb00:0:2:0:0:0:1", 32, 32, false },
		{ "fcbb:bb00:100:200::", 32, 8, false },
		{ "fcbb:bb00:102:300::", 32, 8, true },
		/* what is left behind the last whole CSID counts as one */
		{ "fcbb:bb01:1:1:1:1:1:1", 24, 64, true },
		{ "fcbb:bb00:0:0:0:0:0:1", 24, 64, false },
		{ "fcbb:bb00:0:1::", 64, 64, true },
		{ "0:0:0:0:0:0:0:1", 112, 16, true },
	};
	struct in6_addr sid;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		sid = ip(rows[i].sid);
		assert_int_equal(srpol_csid_valid(&sid, rows[i].block,
						  rows[i].csid),
				 rows[i].valid);
	}
}

static void test_in_block(void **state)
{
	struct in6_addr a = ip("fcbb:bb00:1::"), b = ip("fcbb:bb00:2::");

	(void)state;
	assert_true(srpol_csid_in_block(&a, &b, 32));
	assert_true(srpol_csid_in_block(&a, &b, 40));
	assert_false(srpol_csid_in_block(&a, &b, 48));
}

/* Shift step by step, as a router does. */
static struct in6_addr shift(struct in6_addr sid, u32 block, u32 size)
{
	memmove(sid.s6_addr + block, sid.s6_addr + block + size,
		16 - block - size);
	memset(sid.s6_addr + 16 - size, 0, size);
	return sid;
}

static void test_shifted(void **state)
{
	struct in6_addr sid, dst, other;
	u32 block, size, k, i;
	u64 seed = 1;

	(void)state;
	for (block = 1; block <= 15; block++) {
		for (size = 1; size <= 8 && block + size <= 16; size++) {
			for (i = 0; i < 16; i++)
				sid.s6_addr[i] = 1 + test_random(&seed) % 255;
			/* as sent, it is another function's matter */
			assert_false(srpol_csid_shifted(&sid, &sid, block * 8,
							size * 8));
			dst = sid;
			for (k = 1; block + k * size < 16; k++) {
				other = dst;
				dst = shift(dst, block, size);
				assert_true(srpol_csid_shift(&other, block * 8,
							     size * 8));
				assert_memory_equal(&other, &dst, sizeof(dst));
				assert_true(srpol_csid_shifted(&sid, &dst,
							       block * 8,
							       size * 8));
				for (i = 0; i < 16; i++) {
					other = dst;
					other.s6_addr[i] ^= 1;
					assert_false(srpol_csid_shifted(
						&sid, &other, block * 8,
						size * 8));
				}
			}
			assert_false(srpol_csid_shift(&dst, block * 8,
						      size * 8));
			memset(dst.s6_addr + block, 0, 16 - block);
			assert_false(srpol_csid_shifted(&sid, &dst, block * 8,
							size * 8));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_in_block),
		cmocka_unit_test(test_shifted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
