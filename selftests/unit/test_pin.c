// SPDX-License-Identifier: GPL-2.0
/*
 * Mode active-backup: which list is in use, and in what order they are tried.
 */
#include "test.h"

#define NONE	SRPOL_NO_LIST
#define UP(w)	{ true, w }
#define DOWN	{ false, 0 }

static void test_select(void **state)
{
	static const struct {
		struct srpol_pin pin[3];
		u8 now, want;
		u32 wait;
	} rows[] = {
		/* none in use: the first one that works, without a wait */
		{ { UP(0), UP(0), UP(0) }, NONE, 0, 0 },
		{ { UP(9), UP(0), UP(0) }, NONE, 0, 0 },
		{ { DOWN, UP(9), UP(0) }, NONE, 1, 0 },
		{ { DOWN, DOWN, DOWN }, NONE, NONE, 0 },
		/* the one in use works: an earlier one has to wait */
		{ { UP(9), UP(0), UP(0) }, 1, 1, 9 },
		{ { UP(9), UP(5), UP(0) }, 2, 2, 5 },
		{ { UP(9), UP(0), UP(0) }, 2, 1, 0 },
		{ { UP(0), UP(9), UP(0) }, 2, 0, 0 },
		{ { DOWN, UP(7), UP(0) }, 2, 2, 7 },
		/* a later one is of no interest */
		{ { UP(9), UP(0), UP(0) }, 0, 0, 0 },
		{ { UP(9), UP(9), UP(9) }, 1, 1, 9 },
		/* it fails: the first one that works, at once */
		{ { UP(9), DOWN, UP(0) }, 1, 0, 0 },
		{ { DOWN, UP(9), UP(9) }, 0, 1, 0 },
		{ { DOWN, DOWN, DOWN }, 0, NONE, 0 },
		/* it is not in the list any more */
		{ { DOWN, UP(9), UP(0) }, 7, 1, 0 },
	};
	u32 wait;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		wait = 77;
		assert_int_equal(srpol_pin_select(rows[i].pin, 3, rows[i].now,
						  &wait), rows[i].want);
		if (rows[i].wait || rows[i].want == NONE)
			assert_int_equal(wait, rows[i].wait);
	}
}

static void test_order(void **state)
{
	static const bool known[4] = { true, false, true, true };
	u8 order[4];

	(void)state;
	assert_int_equal(srpol_pin_order(order, known, 4, 2), 3);
	assert_memory_equal(order, "\2\0\3", 3);
	assert_int_equal(srpol_pin_order(order, known, 4, 0), 3);
	assert_memory_equal(order, "\0\2\3", 3);
	/* the one in use is known, whatever is said */
	assert_int_equal(srpol_pin_order(order, known, 4, 1), 4);
	assert_memory_equal(order, "\1\0\2\3", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
