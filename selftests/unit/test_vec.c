// SPDX-License-Identifier: GPL-2.0
/* Arrays that grow: in any order of coming they are in theirs. */
#include "test.h"
#include "vec.h"

struct item {
	int key;
	int serial;
};

static int by_key(const void *a, const void *b)
{
	return ((const struct item *)a)->key - ((const struct item *)b)->key;
}

static void test_insert(void **state)
{
	struct vec vec = VEC_INIT(struct item);
	struct item new, *item, *last;
	u64 seed = 20261122;
	int round, i;

	(void)state;
	for (round = 0; round < 200; round++) {
		for (i = 0; i < round; i++) {
			new = (struct item){ .key = test_random(&seed) % 50,
					      .serial = i };
			item = vec_insert(&vec, &new, by_key);
			assert_int_equal(item->key, new.key);
			assert_int_equal(item->serial, i);
		}
		assert_int_equal(vec.n, round);
		last = NULL;
		vec_for_each(item, &vec) {
			if (last) {
				assert_true(last->key <= item->key);
				/* equal ones in the order they came */
				assert_true(last->key < item->key ||
					    last->serial < item->serial);
			}
			last = item;
		}
		vec_free(&vec);
		assert_int_equal(vec.n, 0);
	}
}

/* The place of the first that is not less, as a plain search finds it. */
static void test_place(void **state)
{
	struct vec vec = VEC_INIT(struct item);
	const struct item *items;
	struct item new;
	u64 seed = 20261128;
	size_t i, plain;
	int round;

	(void)state;
	for (round = 0; round < 100; round++) {
		for (new.key = -1; new.key < 41; new.key++) {
			items = vec.data;
			for (plain = 0; plain < vec.n; plain++)
				if (items[plain].key >= new.key)
					break;
			assert_int_equal(vec_place(&vec, &new, by_key), plain);
		}
		new = (struct item){ .key = test_random(&seed) % 40 };
		vec_insert(&vec, &new, by_key);
	}
	for (i = 0; i < vec.n; i++)
		assert_true(vec_place(&vec, (struct item *)vec.data + i,
				      by_key) <= i);
	vec_free(&vec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_insert),
		cmocka_unit_test(test_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
