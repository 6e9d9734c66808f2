// SPDX-License-Identifier: GPL-2.0
/* What collectives send, against values computed by hand. */
#include <string.h>

#include "test.h"
#include "collective.h"

#define GIB	(UINT64_C(1) << 30)
#define MAX	((UINT64_C(1) << 63) - 1)

static void test_bytes(void **state)
{
	static const struct {
		enum srpol_collective kind;
		u32 ranks;
		u64 buffer;
		u64 bytes;
	} rows[] = {
		/* 2C(n-1)/n */
		{ SRPOL_ALL_REDUCE, 2, 1000, 1000 },
		{ SRPOL_ALL_REDUCE, 4, 1000, 1500 },
		{ SRPOL_ALL_REDUCE, 8, GIB, 1879048192 },
		{ SRPOL_ALL_REDUCE, 8, 4, 7 },
		{ SRPOL_ALL_REDUCE, 3, 100, 134 },	/* 133.3 */
		{ SRPOL_ALL_REDUCE, 3, 1, 2 },		/* 1.3 */
		{ SRPOL_ALL_REDUCE, 1000, 1000000, 1998000 },
		{ SRPOL_ALL_REDUCE, 1, 1000, 0 },
		{ SRPOL_ALL_REDUCE, 2, MAX, MAX },
		/* C(n-1)/n */
		{ SRPOL_ALL_GATHER, 2, 1000, 500 },
		{ SRPOL_ALL_GATHER, 4, 1000, 750 },
		{ SRPOL_ALL_GATHER, 8, GIB, 939524096 },
		{ SRPOL_ALL_GATHER, 3, 100, 67 },	/* 66.7 */
		{ SRPOL_ALL_GATHER, 2, 1, 1 },		/* 0.5 */
		{ SRPOL_REDUCE_SCATTER, 4, 1000, 750 },
		{ SRPOL_REDUCE_SCATTER, 16, GIB, 1006632960 },
		{ SRPOL_REDUCE_SCATTER, 3, 100, 67 },
		/* C */
		{ SRPOL_BROADCAST, 2, 1000, 1000 },
		{ SRPOL_BROADCAST, 64, 1000, 1000 },
		/* C/n */
		{ SRPOL_ALL_TO_ALL, 2, 1000, 500 },
		{ SRPOL_ALL_TO_ALL, 4, 1000, 250 },
		{ SRPOL_ALL_TO_ALL, 3, 100, 34 },	/* 33.3 */
		{ SRPOL_ALL_TO_ALL, 8, GIB, 134217728 },
		{ SRPOL_ALL_TO_ALL, 64, 1, 1 },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (srpol_collective_bytes(rows[i].kind, rows[i].ranks,
					   rows[i].buffer) != rows[i].bytes)
			fail_msg("row %u", i);
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		enum srpol_collective kind;
		enum srpol_collective_to to;
	} rows[] = {
		{ "all-reduce", SRPOL_ALL_REDUCE, SRPOL_TO_NEXT },
		{ "all-gather", SRPOL_ALL_GATHER, SRPOL_TO_NEXT },
		{ "reduce-scatter", SRPOL_REDUCE_SCATTER, SRPOL_TO_NEXT },
		{ "broadcast", SRPOL_BROADCAST, SRPOL_TO_CHAIN },
		{ "all-to-all", SRPOL_ALL_TO_ALL, SRPOL_TO_OTHERS },
	};
	static const char * const none[] = { "", "all", "AllReduce", "reduce" };
	enum srpol_collective kind;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_true(srpol_collective_find(rows[i].name, &kind));
		assert_int_equal(kind, rows[i].kind);
		assert_int_equal(srpol_collective_to(kind), rows[i].to);
	}
	for (i = 0; i < ARRAY_SIZE(none); i++)
		assert_false(srpol_collective_find(none[i], &kind));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
