// SPDX-License-Identifier: GPL-2.0
/*
 * Bucket tables: shares by weight, and who may move when lists fail, return
 * and change their weight.
 */
#include "test.h"

#define HASHES		1000000
#define SEQUENCES	800
#define STEPS		40

static const u32 sizes[] = { 128, 256, 512, 1024 };

/**
 * struct table - a policy's tables with what they were made of
 */
struct table {
	u32 n;
	u32 n_lists;
	u32 weight[SRPOL_LISTS_MAX];
	bool up[SRPOL_LISTS_MAX];
	u8 primary[SRPOL_BUCKETS_MAX];
	u8 live[SRPOL_BUCKETS_MAX];
};

/* Compile the live table; returns how many of its buckets changed. */
static u32 table_live(struct table *t)
{
	u8 before[SRPOL_BUCKETS_MAX];
	u32 i, moved = 0;

	memcpy(before, t->live, t->n);
	srpol_bucket_live(t->live, t->primary, t->n, t->weight, t->up,
			  t->n_lists);
	for (i = 0; i < t->n; i++)
		moved += before[i] != t->live[i];
	return moved;
}

static void table_home(struct table *t)
{
	srpol_bucket_primary(t->primary, t->n, t->weight, t->n_lists);
}

static void table_init(struct table *t, u32 n, u32 n_lists)
{
	u32 i;

	t->n = n;
	t->n_lists = n_lists;
	memset(t->primary, SRPOL_NO_LIST, sizeof(t->primary));
	memset(t->live, SRPOL_NO_LIST, sizeof(t->live));
	for (i = 0; i < n_lists; i++) {
		t->weight[i] = 1;
		t->up[i] = true;
	}
}

static void count(const u8 *table, u32 n, u32 *counts)
{
	u32 i;

	memset(counts, 0, 256 * sizeof(*counts));
	for (i = 0; i < n; i++)
		counts[table[i]]++;
}

static u32 differences(const u8 *a, const u8 *b, u32 n)
{
	u32 i, d = 0;

	for (i = 0; i < n; i++)
		d += a[i] != b[i];
	return d;
}

/* 2:2:1 gives 40, 40 and 20 % of the flows, within 1 % of all */
static void test_shares(void **state)
{
	static const u32 weights[] = { 2, 2, 1 }, percent[] = { 40, 40, 20 };
	u32 hits[256], i, k;
	struct table t;
	u64 seed = 1;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(sizes); k++) {
		table_init(&t, sizes[k], 3);
		memcpy(t.weight, weights, sizeof(weights));
		table_home(&t);
		assert_int_equal(table_live(&t), t.n);
		memset(hits, 0, sizeof(hits));
		for (i = 0; i < HASHES; i++)
			hits[t.live[test_random(&seed) & (t.n - 1)]]++;
		for (i = 0; i < 3; i++)
			assert_in_range(hits[i],
					(percent[i] - 1) * (HASHES / 100),
					(percent[i] + 1) * (HASHES / 100));
	}
}

static void test_one_of_eight(void **state)
{
	u8 before[SRPOL_BUCKETS_MAX];
	u32 k, dead, i, own;
	struct table t;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(sizes); k++) {
		for (dead = 0; dead < 8; dead++) {
			table_init(&t, sizes[k], 8);
			table_home(&t);
			table_live(&t);
			assert_memory_equal(t.live, t.primary, t.n);
			memcpy(before, t.live, t.n);

			t.up[dead] = false;
			assert_int_equal(table_live(&t), t.n / 8);
			for (i = 0, own = 0; i < t.n; i++) {
				assert_int_not_equal(t.live[i], dead);
				if (before[i] == dead)
					own++;
				else
					assert_int_equal(t.live[i],
							 before[i]);
			}
			assert_int_equal(own, t.n / 8);
			assert_int_equal(table_live(&t), 0);

			t.up[dead] = true;
			assert_int_equal(table_live(&t), t.n / 8);
			assert_memory_equal(t.live, before, t.n);
		}
	}
}

/* What was lent is shared out by weight, not given to the next in line */
static void test_lent_by_weight(void **state)
{
	u32 counts[256];
	struct table t;

	(void)state;
	table_init(&t, 1024, 3);
	t.weight[0] = 2;
	t.weight[1] = 1;
	t.weight[2] = 1;
	table_home(&t);
	table_live(&t);
	t.up[0] = false;
	table_live(&t);
	count(t.live, t.n, counts);
	assert_int_equal(counts[1], 512);
	assert_int_equal(counts[2], 512);
	t.up[0] = true;
	t.up[2] = false;
	table_live(&t);
	count(t.live, t.n, counts);
	assert_in_range(counts[0], 682, 683);
	assert_in_range(counts[1], 341, 342);
}

/* Each list with a weight has a bucket; none gets far from its share */
static void test_quota(void **state)
{
	u32 counts[256], sum, k, n_lists, round, i;
	struct table t;
	u64 seed = 2;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(sizes); k++) {
		for (n_lists = 1; n_lists <= SRPOL_LISTS_MAX; n_lists++) {
			for (round = 0; round < 8; round++) {
				bool small = false;

				table_init(&t, sizes[k], n_lists);
				for (i = 0, sum = 0; i < n_lists; i++) {
					t.weight[i] = round == 0 ? 1 :
						round == 1 ? 65535 :
						round == 2 && i ? 1 :
						round == 2 ? 65535 :
						test_random(&seed) &
						(0xffff >> round);
					sum += t.weight[i];
				}
				table_home(&t);
				count(t.primary, t.n, counts);
				assert_int_equal(counts[SRPOL_NO_LIST],
						 sum ? 0 : t.n);
				for (i = 0; i < n_lists; i++)
					small |= t.weight[i] &&
						 t.weight[i] * t.n < sum;
				for (i = 0; i < n_lists; i++) {
					u64 share = (u64)t.weight[i] * t.n;

					assert_int_equal(!counts[i],
							 !t.weight[i]);
					if (small || !sum)
						continue;
					assert_in_range(counts[i],
							share / sum,
							share / sum + 1);
				}
			}
		}
	}
}

/* One bucket at a time to whom it brings closest to its share. */
static void webster(u32 *quota, const struct table *t)
{
	u32 given = 0, i, best;

	for (i = 0; i < t->n_lists; i++) {
		quota[i] = !!t->weight[i];
		given += quota[i];
	}
	for (; given < t->n; given++) {
		best = t->n_lists;
		for (i = 0; i < t->n_lists; i++)
			if (quota[i] && (best == t->n_lists ||
					 (u64)t->weight[i] * (2 * quota[best] + 1) >
					 (u64)t->weight[best] * (2 * quota[i] + 1)))
				best = i;
		quota[best]++;
	}
}

/* Shares are what all steps give, whatever is left out */
static void test_steps(void **state)
{
	u32 counts[256], quota[SRPOL_LISTS_MAX], round, i;
	struct table t;
	u64 seed = 5;

	(void)state;
	for (round = 0; round < 4000; round++) {
		table_init(&t, sizes[round % 4],
			   1 + test_random(&seed) % SRPOL_LISTS_MAX);
		for (i = 0; i < t.n_lists; i++)
			t.weight[i] = test_random(&seed) &
				      (0xffff >> round % 16);
		t.weight[round % t.n_lists] |= 1;
		table_home(&t);
		count(t.primary, t.n, counts);
		webster(quota, &t);
		for (i = 0; i < t.n_lists; i++)
			assert_int_equal(counts[i], quota[i]);
	}
}

/* A change of weights moves no more buckets than the new shares require */
static void test_reweight(void **state)
{
	u32 old[256], new[256], k, round, i, least;
	u8 before[SRPOL_BUCKETS_MAX];
	struct table t;
	u64 seed = 3;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(sizes); k++) {
		table_init(&t, sizes[k], 16);
		table_home(&t);
		for (round = 0; round < 500; round++) {
			memcpy(before, t.primary, t.n);
			count(t.primary, t.n, old);
			i = test_random(&seed) % t.n_lists;
			t.weight[i] = test_random(&seed) % 5;
			table_home(&t);
			count(t.primary, t.n, new);
			for (i = 0, least = 0; i < 256; i++)
				least += old[i] > new[i] ? old[i] - new[i] : 0;
			assert_int_equal(differences(before, t.primary, t.n),
					 least);
		}
	}
}

static void test_nothing_up(void **state)
{
	u8 before[SRPOL_BUCKETS_MAX];
	struct table t;
	u32 i;

	(void)state;
	table_init(&t, 128, 4);
	table_home(&t);
	table_live(&t);
	memcpy(before, t.live, t.n);
	memset(t.up, 0, sizeof(t.up));
	assert_int_equal(table_live(&t), t.n);
	for (i = 0; i < t.n; i++)
		assert_int_equal(t.live[i], SRPOL_NO_LIST);
	memset(t.up, 1, sizeof(t.up));
	table_live(&t);
	assert_memory_equal(t.live, before, t.n);
	memset(t.weight, 0, sizeof(t.weight));
	table_home(&t);
	for (i = 0; i < t.n; i++)
		assert_int_equal(t.primary[i], SRPOL_NO_LIST);
	assert_int_equal(table_live(&t), t.n);
}

/* What holds after every step, however it was reached */
static void check_invariants(const struct table *t)
{
	u32 owned[256], lives[256], i, any = 0;

	for (i = 0; i < t->n_lists; i++)
		any |= t->up[i] && t->weight[i];
	count(t->primary, t->n, owned);
	count(t->live, t->n, lives);
	for (i = 0; i < t->n; i++) {
		u32 primary = t->primary[i], live = t->live[i];

		if (primary != SRPOL_NO_LIST && t->up[primary]) {
			assert_int_equal(live, primary);
			continue;
		}
		if (!any) {
			assert_int_equal(live, SRPOL_NO_LIST);
			continue;
		}
		assert_in_range(live, 0, t->n_lists - 1);
		assert_true(t->up[live] && t->weight[live]);
	}
	for (i = 0; i < t->n_lists; i++)
		assert_true(lives[i] >= owned[i] || !t->up[i]);
}

/* One list more or less is up: who may move? */
static void step_toggle(struct table *t, u64 *seed)
{
	u32 list = test_random(seed) % t->n_lists, i;
	u8 before[SRPOL_BUCKETS_MAX];

	memcpy(before, t->live, t->n);
	t->up[list] = !t->up[list];
	table_live(t);
	for (i = 0; i < t->n; i++) {
		if (t->up[list] && t->primary[i] == list)
			assert_int_equal(t->live[i], list);
		/* a failure moves the buckets of the list that failed */
		if (!t->up[list] && before[i] != t->live[i] &&
		    before[i] != list && before[i] != SRPOL_NO_LIST)
			fail_msg("bucket %u moved from %u to %u when %u failed",
				 i, before[i], t->live[i], list);
	}
}

static void step_reweight(struct table *t, u64 *seed)
{
	t->weight[test_random(seed) % t->n_lists] =
		test_random(seed) % 3 ? test_random(seed) % 8 :
					test_random(seed) & 0xffff;
	table_home(t);
	table_live(t);
}

/* The live table is what these lists being up always gives */
static void check_no_history(const struct table *t)
{
	u8 fresh[SRPOL_BUCKETS_MAX];

	memset(fresh, SRPOL_NO_LIST, sizeof(fresh));
	srpol_bucket_live(fresh, t->primary, t->n, t->weight, t->up, t->n_lists);
	assert_memory_equal(t->live, fresh, t->n);
}

/* A list returns while another one is still down */
static void test_return_beside_failure(void **state)
{
	u8 before[SRPOL_BUCKETS_MAX];
	u32 k, first, second;
	struct table t;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(sizes); k++) {
		for (first = 0; first < 3; first++) {
			second = (first + 1) % 3;
			table_init(&t, sizes[k], 3);
			table_home(&t);
			table_live(&t);
			t.up[first] = false;
			table_live(&t);
			memcpy(before, t.live, t.n);
			t.up[second] = false;
			table_live(&t);
			t.up[second] = true;
			table_live(&t);
			assert_memory_equal(t.live, before, t.n);
		}
	}
}

/* With half of the lists down the others have shares a hash would give */
static void test_many_down(void **state)
{
	u32 counts[256], mask, i;
	struct table t;

	(void)state;
	table_init(&t, 1024, 8);
	table_home(&t);
	for (mask = 1; mask < 255; mask++) {
		u32 n_up = __builtin_popcount(mask), share = t.n / n_up;

		for (i = 0; i < 8; i++)
			t.up[i] = mask >> i & 1;
		table_live(&t);
		count(t.live, t.n, counts);
		for (i = 0; i < 8; i++)
			if (t.up[i])
				assert_in_range(counts[i], share * 3 / 4,
						share * 5 / 4);
	}
}

static void test_sequences(void **state)
{
	u64 seed = 4;
	u32 s, i;

	(void)state;
	for (s = 0; s < SEQUENCES; s++) {
		struct table t;

		table_init(&t, sizes[s % ARRAY_SIZE(sizes)],
			   1 + test_random(&seed) % SRPOL_LISTS_MAX);
		for (i = 0; i < t.n_lists; i++)
			t.weight[i] = test_random(&seed) % 4 ?
				      test_random(&seed) % 10 :
				      test_random(&seed) & 0xffff;
		table_home(&t);
		table_live(&t);
		check_invariants(&t);
		for (i = 0; i < STEPS; i++) {
			if (test_random(&seed) % 8)
				step_toggle(&t, &seed);
			else
				step_reweight(&t, &seed);
			check_invariants(&t);
			check_no_history(&t);
		}
		memset(t.up, 1, sizeof(t.up));
		table_live(&t);
		assert_memory_equal(t.live, t.primary, t.n);
		assert_int_equal(table_live(&t), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_one_of_eight),
		cmocka_unit_test(test_lent_by_weight),
		cmocka_unit_test(test_quota),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_reweight),
		cmocka_unit_test(test_nothing_up),
		cmocka_unit_test(test_return_beside_failure),
		cmocka_unit_test(test_many_down),
		cmocka_unit_test(test_sequences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
