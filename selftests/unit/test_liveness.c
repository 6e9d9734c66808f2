// SPDX-License-Identifier: GPL-2.0
/*
 * Liveness of a path: which probes change what, damping, and that it cannot be
 * made to oscillate faster than it may.
 */
#include "liveness.h"
#include "test.h"

#define MS	1000000ull

static const struct liveness_config config = {
	.multiplier = 3, .restore_ns = 1000 * MS, .restore_max_ns = 32000 * MS,
	.calm_ns = 32000 * MS,
};

static void test_down(void **state)
{
	struct liveness l;

	(void)state;
	liveness_init(&l, 0);
	assert_false(liveness_lost(&l, &config, 1 * MS));
	assert_int_equal(l.state, LIVENESS_SUSPECT);
	assert_false(liveness_lost(&l, &config, 2 * MS));
	assert_false(liveness_answer(&l, &config, 3 * MS));
	assert_int_equal(l.state, LIVENESS_UP);
	assert_false(liveness_lost(&l, &config, 4 * MS));
	assert_false(liveness_lost(&l, &config, 5 * MS));
	assert_true(liveness_usable(&l));
	assert_true(liveness_lost(&l, &config, 6 * MS));
	assert_int_equal(l.state, LIVENESS_DOWN);
	/* once only */
	assert_false(liveness_lost(&l, &config, 7 * MS));
}

/* Answers count once they go on for long enough, and a loss begins anew. */
static void test_return(void **state)
{
	struct liveness l;
	uint64_t now;

	(void)state;
	liveness_init(&l, 0);
	for (now = 0; liveness_usable(&l); now += MS)
		liveness_lost(&l, &config, now);
	assert_false(liveness_answer(&l, &config, now));
	assert_int_equal(l.state, LIVENESS_RECOVERING);
	assert_false(liveness_answer(&l, &config, now + 999 * MS));
	assert_false(liveness_lost(&l, &config, now + 1000 * MS));
	assert_int_equal(l.state, LIVENESS_DOWN);
	now += 2000 * MS;
	assert_false(liveness_answer(&l, &config, now));
	/* long enough, but too few */
	assert_false(liveness_answer(&l, &config, now + 1000 * MS));
	assert_true(liveness_answer(&l, &config, now + 1001 * MS));
	assert_true(liveness_usable(&l));
}

/* A link that goes every 100 ms for 10 s: the path moves few times. */
static void test_flaps(void **state)
{
	unsigned int moves = 0;
	struct liveness l;
	uint64_t now;
	bool good;

	(void)state;
	liveness_init(&l, 0);
	for (now = 0; now < 10000 * MS; now += 10 * MS) {
		good = now / (100 * MS) % 2;
		moves += good ? liveness_answer(&l, &config, now) :
				liveness_lost(&l, &config, now);
	}
	assert_int_equal(moves, 1);
	/* slowly enough to come back each time: every return takes longer */
	moves = 0;
	for (; now < 610000 * MS; now += 10 * MS) {
		good = now / (2000 * MS) % 2;
		moves += good ? liveness_answer(&l, &config, now) :
				liveness_lost(&l, &config, now);
	}
	assert_in_range(moves, 1, 8);
	/* after a calm time the first return takes the shortest time again */
	for (; !liveness_usable(&l); now += 10 * MS)
		liveness_answer(&l, &config, now);
	now += 64000 * MS;
	while (!liveness_lost(&l, &config, now))
		;
	assert_int_equal(liveness_restore_ns(&l, &config), 1000 * MS);
}

/* Whatever comes: usable changes exactly when the functions say so. */
static void test_anything(void **state)
{
	u64 seed = 0x5eed;
	struct liveness l;
	uint64_t now = 0;
	bool usable, said;
	int i;

	(void)state;
	liveness_init(&l, 0);
	for (i = 0; i < 1000000; i++) {
		now += test_random(&seed) % (300 * MS);
		usable = liveness_usable(&l);
		said = test_random(&seed) % 3 ?
		       liveness_answer(&l, &config, now) :
		       liveness_lost(&l, &config, now);
		assert_int_equal(said, usable != liveness_usable(&l));
		assert_in_range(liveness_restore_ns(&l, &config),
				config.restore_ns, config.restore_max_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_down),
		cmocka_unit_test(test_return),
		cmocka_unit_test(test_flaps),
		cmocka_unit_test(test_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
