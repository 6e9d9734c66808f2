// SPDX-License-Identifier: GPL-2.0
/*
 * The search for a path's MTU, over paths that take so many bytes and no more.
 */
#include "mtu.h"
#include "test.h"

#define MS	1000000ull

/* So long a fabric takes @mtu bytes. @return: packets that were sent */
static u32 run(struct mtu_search *s, u32 want, u32 mtu, u64 *now, u64 ns)
{
	u64 end = *now + ns;
	u32 size, n = 0;

	for (; *now < end; *now += 10 * MS) {
		size = mtu_next(s, want, *now);
		if (!size)
			continue;
		n++;
		assert_in_range(size, 1280, want);
		assert_int_equal(mtu_next(s, want, *now), 0);
		if (size <= mtu)
			mtu_answer(s, *now);
		else
			mtu_lost(s, *now);
	}
	return n;
}

static void test_sizes(void **state)
{
	u32 mtu, n;

	(void)state;
	for (mtu = 1280; mtu <= 9000; mtu++) {
		struct mtu_search s = {};
		u64 now = 0;

		n = run(&s, 9000, mtu, &now, 1000 * MS);
		assert_in_range(s.good, mtu < 8 + 1280 ? 1280 : mtu - 8, mtu);
		assert_int_equal(mtu_is_narrow(&s), mtu < 9000);
		/* not more often than is of use */
		assert_in_range(n, 1, 50);
	}
}

static void test_changes(void **state)
{
	struct mtu_search s = {};
	u64 now = 0;

	(void)state;
	run(&s, 9000, 9000, &now, 5000 * MS);
	assert_false(mtu_is_narrow(&s));
	/* gets worse, worse still, and is mended */
	run(&s, 9000, 4000, &now, 5000 * MS);
	assert_true(mtu_is_narrow(&s));
	assert_in_range(s.good, 3992, 4000);
	run(&s, 9000, 9000, &now, 5000 * MS);
	assert_false(mtu_is_narrow(&s));
	assert_int_equal(s.good, 9000);
	/* the device itself takes less: nothing is narrow then */
	run(&s, 1500, 4000, &now, 5000 * MS);
	assert_false(mtu_is_narrow(&s));
	assert_int_equal(s.good, 1500);
	run(&s, 9000, 4000, &now, 5000 * MS);
	assert_true(mtu_is_narrow(&s));
}

/* One packet of a hundred lost at random is no MTU. */
static void test_loss(void **state)
{
	struct mtu_search s = {};
	u64 seed = 5, now = 0;
	u32 i, narrow = 0;

	(void)state;
	for (i = 0; i < 100000; i++, now += 100 * MS) {
		if (!mtu_next(&s, 9000, now))
			continue;
		if (test_random(&seed) % 100)
			mtu_answer(&s, now);
		else
			mtu_lost(&s, now);
		narrow += mtu_is_narrow(&s);
	}
	assert_int_equal(narrow, 0);
	/* what was under way when all probes are lost says nothing */
	assert_int_not_equal(mtu_next(&s, 9000, now + 10000 * MS), 0);
	for (i = 0; i < 10; i++) {
		mtu_forget(&s);
		assert_int_not_equal(mtu_next(&s, 9000, now + 10000 * MS), 0);
	}
	assert_false(mtu_is_narrow(&s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
