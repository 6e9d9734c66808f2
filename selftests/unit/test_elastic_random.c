// SPDX-License-Identifier: GPL-2.0
/*
 * Reservations that can do with less, with lib/plan as the global engine links it:
 * all ways to do it for a single link, and what has to be true of any of them, at
 * random.
 */
#define HOLDS	12

#include <stdlib.h>

#include "test_holds.h"

/* All ways, for a single link, in steps of 10G. */

#define STEP	(10 * G)
#define FEW	4

/* Whether rates @a are better than @b: who yields last has more. */
static bool is_better(const u64 *a, const u64 *b, const u32 *claim)
{
	u32 k;

	for (k = 0; k < ledger.n; k++)
		if (a[claim[k]] != b[claim[k]])
			return a[claim[k]] > b[claim[k]];
	return false;
}

static void try_all(u32 i, u64 room, u32 priority, u64 *rates, u64 *best,
		    bool *some, const u32 *claim)
{
	u64 least = holds[i].priority < priority && holds[i].least ?
		    holds[i].least : holds[i].rate;

	if (i == ledger.n) {
		if (!*some || is_better(rates, best, claim))
			memcpy(best, rates, ledger.n * sizeof(*best));
		*some = true;
		return;
	}
	for (rates[i] = least; rates[i] <= holds[i].rate && rates[i] <= room;
	     rates[i] += STEP)
		try_all(i + 1, room - rates[i], priority, rates, best, some,
			claim);
}

static void sort_claims(u32 *claim)
{
	u32 i, k, priority;

	for (i = 0, priority = 8; priority--;)
		for (k = 0; k < ledger.n; k++)
			if (holds[k].priority == priority)
				claim[i++] = k;
}

static void test_all_ways(void **state)
{
	u64 seed = 3, free, rates[FEW], best[FEW], got[FEW], rate, least, given;
	u32 round, i, claim[FEW], priority, lowered = 0, refused = 0;
	bool some;

	(void)state;
	for (round = 0; round < 400; round++) {
		for (free = 40; ledger.n < FEW;) {
			rate = 1 + test_random(&seed) % 12;
			rate = rate < free ? rate : free;
			if (!rate)
				break;
			free -= rate;
			least = test_random(&seed) % (rate + 1);
			assert_true(admit_elastic(1 + ledger.n, rate * STEP,
					  least * STEP,
					  test_random(&seed) % 4, 0, 1));
		}
		priority = test_random(&seed) % 5;
		rate = 1 + free + test_random(&seed) % 20;
		least = 1 + test_random(&seed) % rate;
		given = ask(rate * STEP, least * STEP, priority, got);
		sort_claims(claim);
		memset(best, 0, sizeof(best));
		some = false;
		if (least <= 40)
			try_all(0, (40 - least) * STEP, priority, rates, best,
				&some, claim);
		assert_true(some == (given != 0));
		refused += !some;
		for (i = 0; i < ledger.n && some; i++) {
			assert_true(got[i] == best[i]);
			lowered += got[i] < holds[i].rate;
		}
		/* more than is enough only of what is free */
		if (some)
			assert_true(given == (least > free ? least :
					      rate < free ? rate : free) * STEP);
		while (ledger.n)
			end(--ledger.n);
	}
	assert_true(lowered > 60 && refused > 40);
}

/* Whatever there is: no link has more than it carries, at any time. */

static void check_loads(void)
{
	double *load = calloc(fabric->n_links, sizeof(*load));
	u32 l;

	assert_int_equal(srpol_ledger_load(&ledger, load), 0);
	for (l = 0; l < fabric->n_links; l++)
		assert_true(srpol_load_fits(load[l], links->links[l].capacity));
	free(load);
}

static bool would_fit(void)
{
	double *load = calloc(fabric->n_links, sizeof(*load));
	bool fit = true;
	u32 l;

	assert_int_equal(srpol_ledger_load(&ledger, load), 0);
	for (l = 0; l < fabric->n_links; l++)
		fit &= srpol_load_fits(load[l], links->links[l].capacity);
	free(load);
	return fit;
}

/* Those lowered may be, are not too low, and no higher rate would fit. */
static u32 check_lowered(const u64 *before, const u64 *wanted, bool shared)
{
	const struct srpol_hold *new = &holds[ledger.n - 1];
	u32 i, lowered = 0;
	u64 rate;

	for (i = 0; i + 1 < ledger.n; i++) {
		if (holds[i].rate == before[i])
			continue;
		lowered++;
		assert_true(holds[i].rate < before[i]);
		assert_true(holds[i].least && holds[i].rate >= holds[i].least);
		assert_true(holds[i].priority < new->priority);
		assert_true(before[i] <= wanted[i]);
		if (shared)
			continue;
		rate = holds[i].rate;
		holds[i].rate = rate + 100000;
		assert_false(would_fit());
		holds[i].rate = rate;
	}
	return lowered;
}

/* The steps of the engine: others are lowered, it begins, it is acknowledged. */
static u32 add_in_steps(const struct srpol_hold *hold, struct srpol_room *room,
			const u64 *wanted, bool shared)
{
	u64 before[HOLDS];
	u32 i;

	for (i = 0; i < ledger.n; i++) {
		before[i] = holds[i].rate;
		if (room->rates[i] != before[i])
			holds[i].old_rate = before[i];
		holds[i].rate = room->rates[i];
	}
	check_loads();
	for (i = 0; i < ledger.n; i++)
		holds[i].old_rate = 0;
	add(hold, room->weights);
	room->weights = NULL;
	holds[ledger.n - 1].rate = room->rate;
	holds[ledger.n - 1].old = NULL;
	assert_int_equal(srpol_ledger_may_start(&ledger, ledger.n - 1), 1);
	check_loads();
	holds[ledger.n - 1].old = holds[ledger.n - 1].new;
	check_loads();
	return check_lowered(before, wanted, shared);
}

/* Raises all in the order of their claims, until nobody can be. */
static u32 raise_all(const u64 *wanted, const u32 *claim)
{
	struct srpol_room room;
	u32 k, i, raises = 0;

	for (k = 0; k < ledger.n; k++) {
		i = claim[k];
		if (holds[i].rate == wanted[i])
			continue;
		room = room_above(i, wanted[i]);
		if (room.fits) {
			raises++;
			assert_true(room.rate > holds[i].rate &&
				    room.rate <= wanted[i]);
			holds[i].old_rate = holds[i].rate;
			holds[i].rate = room.rate;
			if (room.weights)
				holds[i].new = room.weights;
			room.weights = NULL;
			check_loads();
			holds[i].old_rate = 0;
			if (holds[i].old != holds[i].new)
				srpol_plan_free((struct srpol_plan *)
						holds[i].old);
			holds[i].old = holds[i].new;
			check_loads();
		}
		srpol_room_free(&room);
	}
	return raises;
}

static void at_random(bool shared)
{
	u64 seed = shared ? 11 : 5, wanted[HOLDS], rate, least;
	u32 i, round, claim[HOLDS], lowered = 0, raises = 0, refused = 0;
	struct srpol_hold hold;
	struct srpol_room room;

	for (round = 0; round < 60; round++) {
		for (i = 0; i < HOLDS; i++) {
			rate = (1 + test_random(&seed) % 300) * G +
			       test_random(&seed) % G;
			least = test_random(&seed) % 2 ?
				1 + test_random(&seed) % rate : 0;
			hold = want_elastic(2 + (shared ? test_random(&seed) % 3 : i),
				    rate, least, test_random(&seed) % 8,
				    test_random(&seed) % LEAVES,
				    1 + test_random(&seed) % (LEAVES - 1));
			room = room_for(&hold, UNLIMITED);
			refused += !room.fits;
			if (room.fits) {
				wanted[ledger.n] = rate;
				lowered += add_in_steps(&hold, &room, wanted,
							shared);
			}
			srpol_room_free(&room);
		}
		sort_claims(claim);
		raises += raise_all(wanted, claim);
		/* the last ones end: what others miss comes back */
		while (ledger.n > 1) {
			end(--ledger.n);
			sort_claims(claim);
			raises += raise_all(wanted, claim);
		}
		assert_true(holds[0].rate == wanted[0]);
		end(--ledger.n);
	}
	assert_true(lowered > 50 && raises > 50 && refused > 100);
}

static void test_at_random(void **state)
{
	(void)state;
	at_random(false);
}

static void test_at_random_shared(void **state)
{
	(void)state;
	at_random(true);
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_all_ways),
		TEST(test_at_random),
		TEST(test_at_random_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
