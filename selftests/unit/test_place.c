// SPDX-License-Identifier: GPL-2.0
/*
 * QPs on paths: even where weights are, by weights where they are not, moved one
 * at a time, and not for noise.
 */
#include <math.h>
#include <string.h>

#include "place.h"
#include "test.h"

#define SPINES		4
#define HOSTS		8
#define ITEMS		64

/*
 * From one NIC over spines to hosts: link 0 leaves the NIC, 1 to SPINES lead up,
 * then SPINES down, and one to each host.
 */
static struct place_path paths[HOSTS * SPINES];
static struct place_policy policies[HOSTS];
static struct place_item items[ITEMS];
static struct place p;

static int set_up(void **state)
{
	uint32_t h, i;

	(void)state;
	for (h = 0; h < HOSTS; h++) {
		policies[h] = (struct place_policy){ h * SPINES, SPINES };
		for (i = 0; i < SPINES; i++)
			paths[h * SPINES + i] = (struct place_path){
				1, 4, { 0, 1 + i, 1 + SPINES + i,
					1 + 2 * SPINES + h },
			};
	}
	memset(items, 0, sizeof(items));
	for (i = 0; i < ITEMS; i++)
		items[i].path = PLACE_NONE;
	p = (struct place){
		.paths = paths, .policies = policies, .items = items,
		.n_policies = HOSTS, .n_links = 1 + 2 * SPINES + HOSTS,
	};
	return 0;
}

/* Number of items that are not where they were. */
static uint32_t run(void)
{
	uint32_t was[ITEMS], i, moves = 0;

	for (i = 0; i < p.n_items; i++)
		was[i] = items[i].path;
	assert_int_equal(place(&p), 0);
	for (i = 0; i < p.n_items; i++)
		moves += was[i] != items[i].path;
	return moves;
}

static uint32_t count(uint32_t path)
{
	uint32_t i, n = 0;

	for (i = 0; i < p.n_items; i++)
		n += items[i].path == path;
	return n;
}

static double rate(uint32_t path)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < p.n_items; i++)
		sum += items[i].path == path ? items[i].rate : 0;
	return sum;
}

static void check_counts(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	assert_int_equal(count(0), a);
	assert_int_equal(count(1), b);
	assert_int_equal(count(2), c);
	assert_int_equal(count(3), d);
}

static void weigh(uint32_t path, double weight)
{
	uint32_t h;

	for (h = 0; h < HOSTS; h++)
		paths[h * SPINES + path].weight = weight;
}

static void test_even(void **state)
{
	uint32_t i;

	(void)state;
	p.n_items = 4;
	for (i = 0; i < p.n_items; i++)
		items[i].rate = 1000;
	assert_int_equal(run(), 4);
	check_counts(1, 1, 1, 1);
	/* the lower index where it is all the same */
	for (i = 0; i < p.n_items; i++)
		assert_int_equal(items[i].path, i);
	assert_int_equal(run(), 0);
}

static void test_unknown(void **state)
{
	(void)state;
	p.n_items = 8;
	assert_int_equal(run(), 8);
	check_counts(2, 2, 2, 2);
	/* some sends now, the rest is idle: it stays where it is, and spreads */
	items[0].rate = 1000;
	p.n_items = 12;
	assert_int_equal(run(), 4);
	assert_int_equal(count(0), 2);
	assert_int_equal(count(1) + count(2) + count(3), 10);
	assert_true(count(1) >= 3 && count(2) >= 3 && count(3) >= 3);
	p.n_items = 0;
	assert_int_equal(run(), 0);
}

static void test_policies(void **state)
{
	uint32_t i;

	(void)state;
	p.n_items = HOSTS;
	for (i = 0; i < HOSTS; i++) {
		items[i].rate = 500;
		items[i].policy = i;
	}
	assert_int_equal(run(), HOSTS);
	check_counts(2, 2, 2, 2);
	assert_int_equal(run(), 0);
}

static void test_weights(void **state)
{
	uint32_t i;

	(void)state;
	weigh(0, 2);
	weigh(1, 2);
	weigh(3, 0);
	p.n_items = 10;
	for (i = 0; i < p.n_items; i++)
		items[i].rate = 7;
	items[9].path = 3;
	run();
	check_counts(4, 4, 2, 0);
	assert_int_equal(run(), 0);
	/* nothing can be used, of one policy */
	for (i = 0; i < SPINES; i++)
		paths[i].weight = 0;
	items[1].policy = 1;
	run();
	for (i = 0; i < p.n_items; i++)
		assert_int_equal(items[i].path == PLACE_NONE, i != 1);
}

static void test_elephants(void **state)
{
	uint32_t i;

	(void)state;
	p.n_items = 3 + 33;
	/* mice first: the great ones are placed before them all the same */
	for (i = 0; i < p.n_items; i++)
		items[i].rate = i < 33 ? 1 : 9;
	run();
	for (i = 0; i < SPINES; i++)
		assert_true(fabs(rate(i) - 15) <= 1);
	for (i = 33; i < 35; i++)
		assert_int_not_equal(items[i].path, items[i + 1].path);
	assert_int_equal(run(), 0);
}

/* One after another, and no more than it takes. */
static uint32_t settle(void)
{
	uint32_t moves = 0, n, calls;

	for (calls = 0; calls < 20; calls++) {
		n = run();
		assert_true(n <= 1);
		moves += n;
	}
	return moves;
}

static void test_failure(void **state)
{
	uint32_t i, at2;

	(void)state;
	p.n_items = 8;
	for (i = 0; i < p.n_items; i++)
		items[i].rate = 100;
	run();
	at2 = count(2);
	weigh(2, 0);
	assert_int_equal(run(), at2);
	assert_int_equal(count(2), 0);
	assert_int_equal(settle(), 0);
	/* 3 on each of two paths: no move lowers the greatest of all ratios */
	weigh(2, 1);
	assert_int_equal(settle(), 2);
	check_counts(2, 2, 2, 2);
}

/* All on one of two paths that are left, and two that came back. */
static void test_back(void **state)
{
	uint32_t i;

	(void)state;
	p.n_items = 8;
	for (i = 0; i < p.n_items; i++) {
		items[i].rate = 100;
		items[i].path = i / 4;
	}
	assert_int_equal(settle(), 4);
	check_counts(2, 2, 2, 2);
}

/* Two paths of the same links: there is nothing to be gained. */
static void test_alike(void **state)
{
	uint32_t i;

	(void)state;
	p.n_items = 3;
	paths[1] = paths[0];
	for (i = 2; i < SPINES; i++)
		paths[i].weight = 0;
	for (i = 0; i < p.n_items; i++)
		items[i].rate = 100;
	run();
	for (i = 0; i < 5; i++)
		assert_int_equal(run(), 0);
}

/* What one item alone overloads is not in the way of others. */
static void test_behind(void **state)
{
	uint32_t i;

	(void)state;
	p.n_items = 7;
	items[0].rate = 1000;
	items[0].path = 0;
	for (i = 1; i < p.n_items; i++) {
		items[i].rate = 100;
		items[i].path = 1;
	}
	assert_int_equal(settle(), 4);
	check_counts(1, 2, 2, 2);
}

static uint32_t with_noise(const double *base, u64 seed)
{
	uint32_t i, calls, moves = 0, n;

	for (calls = 0; calls < 100; calls++) {
		for (i = 0; i < p.n_items; i++)
			items[i].rate = base[i] *
				(0.8 + 0.4 * (test_random(&seed) % 1001) / 1000);
		n = run();
		assert_true(!calls || n <= 1);
		moves += calls ? n : 0;
	}
	return moves;
}

static void test_noise(void **state)
{
	double base[ITEMS];
	uint32_t i;
	u64 seed;

	for (seed = 1; seed <= 20; seed++) {
		set_up(state);
		p.n_items = 4;
		for (i = 0; i < ITEMS; i++)
			base[i] = 1000;
		assert_int_equal(with_noise(base, seed), 0);
		set_up(state);
		p.n_items = 8;
		assert_int_equal(with_noise(base, seed), 0);
		check_counts(2, 2, 2, 2);
		/* each of its own policy */
		set_up(state);
		p.n_items = HOSTS;
		for (i = 0; i < HOSTS; i++)
			items[i].policy = i;
		assert_int_equal(with_noise(base, seed), 0);
	}
}

/* As srpold sums it up, of any number: also where paths cannot have as many. */
static void test_noise_sums(void **state)
{
	double sum[ITEMS];
	uint32_t n, i, calls;
	u64 seed = 1;

	for (n = 1; n <= 48; n++) {
		set_up(state);
		memset(sum, 0, sizeof(sum));
		p.n_items = n;
		for (calls = 0; calls < 200; calls++) {
			for (i = 0; i < n; i++) {
				sum[i] = sum[i] * 0.875 + 800 +
					 test_random(&seed) % 401;
				items[i].rate = sum[i];
			}
			if (calls < 16)
				run();
			else
				assert_int_equal(run(), 0);
		}
	}
}

static double any_rate(u64 *seed)
{
	switch (test_random(seed) % 4) {
	case 0:
		return 0;
	case 1:
		return test_random(seed) % 3;
	case 2:
		return 1.8e19;
	}
	return test_random(seed);
}

/* Whatever comes in: each has a path that it may have, and moves end. */
static void test_anything(void **state)
{
	static const double weights[] = { 0, 1, 1, 7, 4294967295.0 };
	const struct place_path *path;
	uint32_t i, k, calls, usable;
	u64 seed;

	for (seed = 1; seed <= 300; seed++) {
		u64 dice = seed * 0x9e3779b97f4a7c15;

		set_up(state);
		p.n_items = test_random(&dice) % (ITEMS + 1);
		for (i = 0; i < HOSTS * SPINES; i++)
			paths[i].weight = weights[test_random(&dice) % 5];
		for (i = 0; i < p.n_items; i++) {
			items[i].rate = any_rate(&dice);
			items[i].policy = test_random(&dice) % HOSTS;
			items[i].path = test_random(&dice) % (SPINES + 2);
		}
		run();
		for (calls = 0; calls < 1000 && run(); calls++)
			;
		assert_true(calls < 1000);
		for (i = 0; i < p.n_items; i++) {
			path = &paths[items[i].policy * SPINES];
			for (k = 0, usable = 0; k < SPINES; k++)
				usable += path[k].weight > 0;
			assert_int_equal(usable == 0,
					 items[i].path == PLACE_NONE);
			assert_true(!usable ||
				    path[items[i].path].weight > 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_even, set_up),
		cmocka_unit_test_setup(test_unknown, set_up),
		cmocka_unit_test_setup(test_policies, set_up),
		cmocka_unit_test_setup(test_weights, set_up),
		cmocka_unit_test_setup(test_elephants, set_up),
		cmocka_unit_test_setup(test_failure, set_up),
		cmocka_unit_test_setup(test_back, set_up),
		cmocka_unit_test_setup(test_alike, set_up),
		cmocka_unit_test_setup(test_behind, set_up),
		cmocka_unit_test_setup(test_noise, set_up),
		cmocka_unit_test_setup(test_noise_sums, set_up),
		cmocka_unit_test_setup(test_anything, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
