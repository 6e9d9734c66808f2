// SPDX-License-Identifier: GPL-2.0
/*
 * Containers of compressed SIDs: RFC 9800 4, worked out by hand.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "srpol_lib.h"

static struct in6_addr addr(const char *text)
{
	struct in6_addr a;

	assert_int_equal(inet_pton(AF_INET6, text, &a), 1);
	return a;
}

static void expect(const struct in6_addr *got, const char *want)
{
	struct in6_addr a = addr(want);

	assert_memory_equal(got, &a, sizeof(a));
}

/* F3216: six in a container. */
static void six_in_one(void **state)
{
	(void)state;
	const uint64_t csids[] = { 0x11, 0x21, 0x31, 0x41, 0x51, 0xd046 };
	struct in6_addr block = addr("fcbb:bb00::"), sids[2];

	/* there need not be room for more than that */
	assert_int_equal(srpol_usid_pack(&block, 32, 16, csids, 6, sids, 1),
			 1);
	expect(&sids[0], "fcbb:bb00:11:21:31:41:51:d046");
}

static void seventh_opens_another(void **state)
{
	(void)state;
	const uint64_t csids[] = { 1, 2, 3, 4, 5, 6, 7 };
	struct in6_addr block = addr("fcbb:bb00::"), sids[2];

	assert_int_equal(srpol_usid_pack(&block, 32, 16, csids, 7, sids, 2),
			 2);
	expect(&sids[0], "fcbb:bb00:1:2:3:4:5:6");
	expect(&sids[1], "fcbb:bb00:7::");
	assert_int_equal(srpol_usid_pack(&block, 32, 16, csids, 7, sids, 1),
			 -E2BIG);
}

static void other_structures(void **state)
{
	(void)state;
	const uint64_t wide[] = { 0x00010002, 0x00030004, 0x00050006 };
	const uint64_t csids[] = { 0xa, 0xb, 0xc, 0xd, 0xe };
	struct in6_addr block = addr("fcbb:bb00:1::"), sids[2];

	assert_int_equal(srpol_usid_capacity(48, 16), 5);
	assert_int_equal(srpol_usid_pack(&block, 48, 16, csids, 5, sids, 2),
			 1);
	expect(&sids[0], "fcbb:bb00:1:a:b:c:d:e");
	block = addr("fcbb:bb00::");
	assert_int_equal(srpol_usid_capacity(32, 32), 3);
	assert_int_equal(srpol_usid_pack(&block, 32, 32, wide, 3, sids, 2), 1);
	expect(&sids[0], "fcbb:bb00:1:2:3:4:5:6");
}

/* Whoever links the library has lengths from a user, or from a file. */
static void no_lengths(void **state)
{
	static const uint32_t bad[][2] = {
		{ 32, 0 }, { 32, 72 }, { 32, 128 }, { 32, 12 }, { 33, 16 },
		{ 120, 16 }, { 128, 16 }, { 136, 16 }, { ~0u, 16 },
		{ 32, ~0u },
	};
	struct in6_addr block = addr("fcbb:bb00::"), sids[2];
	const uint64_t csids[] = { 1 };
	uint64_t out[SRPOL_CSIDS_MAX];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(srpol_usid_capacity(bad[i][0], bad[i][1]), 0);
		assert_int_equal(srpol_usid_pack(&block, bad[i][0], bad[i][1],
						 csids, 1, sids, 2), -EINVAL);
		assert_int_equal(srpol_usid_unpack(&block, bad[i][0],
						   bad[i][1], out), 0);
	}
	assert_int_equal(srpol_usid_capacity(0, 8), SRPOL_CSIDS_MAX);
	assert_int_equal(srpol_usid_capacity(64, 64), 1);
}

static void refuses(void **state)
{
	(void)state;
	struct in6_addr block = addr("fcbb:bb00::"), sids[2];
	const uint64_t zero[] = { 1, 0, 2 }, big[] = { 0x10000 };

	assert_int_equal(srpol_usid_pack(&block, 32, 16, zero, 3, sids, 2),
			 -EINVAL);
	assert_int_equal(srpol_usid_pack(&block, 32, 16, big, 1, sids, 2),
			 -EINVAL);
}

static void unpacks(void **state)
{
	(void)state;
	struct in6_addr sid = addr("fcbb:bb00:11:d046::");
	struct in6_addr full = addr("fcbb:bb00:1:2:3:4:5:6");
	struct in6_addr block = addr("fcbb:bb00::");
	struct in6_addr other = addr("fcbb:bb01:1::");
	uint64_t csids[SRPOL_CSIDS_MAX];

	assert_int_equal(srpol_usid_unpack(&sid, 32, 16, csids), 2);
	assert_int_equal(csids[0], 0x11);
	assert_int_equal(csids[1], 0xd046);
	assert_int_equal(srpol_usid_unpack(&full, 32, 16, csids), 6);
	assert_int_equal(csids[5], 6);
	assert_true(srpol_usid_in_block(&sid, &block, 32));
	assert_false(srpol_usid_in_block(&other, &block, 32));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(six_in_one),
		cmocka_unit_test(seventh_opens_another),
		cmocka_unit_test(other_structures),
		cmocka_unit_test(no_lengths),
		cmocka_unit_test(refuses),
		cmocka_unit_test(unpacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
