// SPDX-License-Identifier: GPL-2.0
/*
 * A color's limit: rates from 1 bit/s to the greatest, times that do not
 * overflow, and what of the old limit the new one has.
 */
#include "limit.h"
#include "test.h"

#define MS	(1000000ull << SRPOL_LIMIT_SHIFT)
#define SEC	(1000 * MS)
#define NOW_NS	3600000000000ull
#define NOW	(NOW_NS << SRPOL_LIMIT_SHIFT)

static void test_rate(void **state)
{
	struct srpol_limit_rate limits[] = {
		{ 10, 100 }, { 20, 200 }, { UINT32_MAX, SRPOL_RATE_MAX },
	};
	struct srpol_index index = { .n_limits = 3, .limits = limits };

	(void)state;
	assert_int_equal(limit_rate(&index, 10), 100);
	assert_int_equal(limit_rate(&index, 20), 200);
	assert_int_equal(limit_rate(&index, UINT32_MAX), SRPOL_RATE_MAX);
	assert_int_equal(limit_rate(&index, 15), 0);
	assert_int_equal(limit_rate(&index, 0), 0);
	assert_int_equal(limit_rate(NULL, 10), 0);
	index = (struct srpol_index){};
	assert_int_equal(limit_rate(&index, 10), 0);
}

static struct srpol_limit limit_of(uint64_t rate, bool paced)
{
	struct srpol_limit l = {};

	assert_true(limit_change(&l, rate, paced, NOW_NS));
	assert_int_equal(l.rate, rate);
	assert_int_equal(l.next, 0);
	assert_false(limit_change(&l, rate, paced, NOW_NS + 1));
	return l;
}

static void test_times(void **state)
{
	struct srpol_limit l;

	(void)state;
	l = limit_of(100000000000, true);
	assert_int_equal(l.burst, 1 * MS);
	assert_int_equal(l.horizon, 20 * MS);
	assert_int_equal(limit_of(100000000000, false).horizon, 0);
	/* 32 KiB, 64 KiB */
	l = limit_of(1000000, true);
	assert_int_equal(l.burst, 262144000ull << SRPOL_LIMIT_SHIFT);
	assert_int_equal(l.horizon, 524288000ull << SRPOL_LIMIT_SHIFT);
	/* no longer than fq takes a packet */
	assert_int_equal(limit_of(1000, true).horizon, 5 * SEC);
	l = limit_of(1, true);
	assert_int_equal(l.horizon, 5 * SEC);
	assert_int_equal(l.burst, 262144000000000ull << SRPOL_LIMIT_SHIFT);
	/* all GPUs of many hosts */
	l = limit_of(1024 * SRPOL_RATE_MAX, true);
	assert_int_equal(l.burst, 1 * MS);
}

/* A mistake is mended: what was sent meanwhile had its turn days ahead. */
static void test_raised(void **state)
{
	struct srpol_limit l = { .delayed = 3, .dropped = 4 };

	(void)state;
	assert_true(limit_change(&l, 400, true, NOW_NS));
	l.next = NOW + 1310 * SEC;	/* 64 KiB by 400 bit/s */
	assert_true(limit_change(&l, 400000000000, true, NOW_NS));
	assert_int_equal(l.next, NOW + 20 * MS);
	assert_int_equal(l.delayed, 3);
	assert_int_equal(l.dropped, 4);
	/* fq goes: nobody may wait, so that the next packet leaves now */
	assert_true(limit_change(&l, 400000000000, false, NOW_NS));
	assert_int_equal(l.next, NOW);
}

/* Turns that were given stay: a limit that is looked at is none that is new. */
static void test_kept(void **state)
{
	struct srpol_limit l = {};

	(void)state;
	assert_true(limit_change(&l, 1000000000, true, NOW_NS));
	l.next = NOW + 15 * MS;
	assert_false(limit_change(&l, 1000000000, true, NOW_NS));
	assert_true(limit_change(&l, 2000000000, true, NOW_NS));
	assert_int_equal(l.next, NOW + 15 * MS);
	l.next = NOW - 5 * SEC;
	assert_true(limit_change(&l, 1000000000, true, NOW_NS));
	assert_int_equal(l.next, NOW - 5 * SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_raised),
		cmocka_unit_test(test_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
