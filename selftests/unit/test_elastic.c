// SPDX-License-Identifier: GPL-2.0
/*
 * Reservations that can do with less, with lib/plan as the global engine links it:
 * who is lowered for whom, and by how much; exact numbers, all ways to do it for a
 * single link, and what has to be true of any of them at random.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "srpol_lib.h"
#include "test.h"

#define G	1000000000ull
#define LEAVES	4
#define SPINES	4
#define HOLDS	12
#define UNLIMITED	(INT64_MAX / 2)

static struct srpol_fabric *fabric;
static struct srpol_links *links;
static struct srpol_ledger ledger;
static struct srpol_hold holds[HOLDS];
static struct srpol_demand demands[HOLDS + 1][LEAVES];

/* A host per leaf, as fast as a link upwards: 400G. */
static int setup(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(LEAVES, 1, SPINES,
							  400 * G);

	(void)state;
	fabric = srpol_fabric_generate(&shape, NULL);
	links = srpol_links_new(fabric);
	memset(holds, 0, sizeof(holds));
	ledger = (struct srpol_ledger){ fabric, links, holds, 0 };
	return 0;
}

static void end(u32 i)
{
	if (holds[i].old != holds[i].new)
		srpol_plan_free((struct srpol_plan *)holds[i].old);
	srpol_plan_free((struct srpol_plan *)holds[i].new);
	holds[i].old = holds[i].new = NULL;
}

static int teardown(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < HOLDS; i++)
		end(i);
	srpol_links_free(links);
	srpol_fabric_free(fabric);
	return 0;
}

/* From @src to each of the @n next ones. */
static struct srpol_hold want(u32 color, u64 rate, u64 least, u32 priority,
			      u32 src, u32 n)
{
	struct srpol_demand *d = demands[ledger.n];
	u32 i;

	for (i = 0; i < n; i++)
		d[i] = (struct srpol_demand){
			.src = src, .dst = (src + 1 + i) % LEAVES,
			.bytes = 1000003, .color = color, .key = i,
		};
	return (struct srpol_hold){
		.color = color, .rate = rate, .least = least,
		.priority = priority, .demands = d, .n = n,
	};
}

/* Hosts have acknowledged it. */
static void add(const struct srpol_hold *hold, struct srpol_plan *weights)
{
	assert_non_null(weights);
	holds[ledger.n] = *hold;
	holds[ledger.n].old = holds[ledger.n].new = weights;
	ledger.n++;
}

static bool admit(u32 color, u64 rate, u64 least, u32 priority, u32 src, u32 n)
{
	struct srpol_hold hold = want(color, rate, least, priority, src, n);
	struct srpol_offer offer;

	assert_int_equal(srpol_ledger_offer(&ledger, &hold, &offer), 0);
	if (offer.fits)
		add(&hold, offer.weights);
	return offer.fits;
}

static struct srpol_room room_for(const struct srpol_hold *hold, int64_t budget)
{
	struct srpol_room room;

	assert_int_equal(srpol_ledger_room(&ledger, hold, budget, UINT32_MAX, &room), 0);
	return room;
}

/* @rate from the first to the second host: what it gets, 0 if nothing. */
static u64 ask(u64 rate, u64 least, u32 priority, u64 *rates)
{
	struct srpol_hold hold = want(99, rate, least, priority, 0, 1);
	struct srpol_room room = room_for(&hold, UNLIMITED);
	u64 got = room.fits ? room.rate : 0;

	assert_true(room.fits == (room.weights != NULL));
	memcpy(rates, room.rates, ledger.n * sizeof(*rates));
	srpol_room_free(&room);
	return got;
}

/* No more of them than it may be. */
static void test_too_many(void **state)
{
	struct srpol_hold hold;
	struct srpol_room room;
	u32 max, i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_true(admit(1 + i, 100 * G, 50 * G, 2, 0, 1));
	/* 50G of each of three */
	hold = want(99, 150 * G, 0, 3, 0, 1);
	for (max = 0; max < 5; max++) {
		assert_int_equal(srpol_ledger_room(&ledger, &hold, UNLIMITED, max, &room), 0);
		assert_int_equal(room.fits, max >= 3);
		assert_int_equal(!room.too_many, max >= 3);
		for (i = 0; i < 4; i++)
			assert_true(room.rates[i] ==
				    (max >= 3 && i > 0 ? 50 * G : 100 * G));
		srpol_room_free(&room);
	}
}

static void test_what_is_free(void **state)
{
	u64 rates[HOLDS];

	(void)state;
	assert_true(admit(1, 300 * G, 0, 3, 0, 1));
	/* all of it, what is left, and what is left if that is enough */
	assert_true(ask(100 * G, 0, 3, rates) == 100 * G);
	assert_true(ask(200 * G, 50 * G, 3, rates) == 100 * G);
	assert_true(ask(200 * G, 100 * G, 3, rates) == 100 * G);
	assert_true(ask(200 * G, 100 * G + 1, 3, rates) == 0);
	assert_true(ask(200 * G, 0, 7, rates) == 0);
	assert_true(rates[0] == 300 * G);
}

static void test_lowered(void **state)
{
	u64 rates[HOLDS];

	(void)state;
	assert_true(admit(1, 400 * G, 100 * G, 2, 0, 1));
	assert_true(ask(300 * G, 0, 5, rates) == 300 * G);
	assert_true(rates[0] == 100 * G);
	assert_true(ask(123456789012, 0, 3, rates) == 123456789012);
	assert_true(rates[0] == 400 * G - 123456789012);
	/* never below the least, not for the same priority or a lower one */
	assert_true(ask(300 * G + 1, 0, 5, rates) == 0 && rates[0] == 400 * G);
	assert_true(ask(100 * G, 0, 2, rates) == 0 && rates[0] == 400 * G);
	assert_true(ask(100 * G, 0, 1, rates) == 0 && rates[0] == 400 * G);
	/* for what is enough, and no more than that */
	assert_true(ask(300 * G, 150 * G, 5, rates) == 150 * G);
	assert_true(rates[0] == 250 * G);
	/* not one that is not elastic */
	holds[0].least = 0;
	assert_true(ask(100 * G, 0, 7, rates) == 0 && rates[0] == 400 * G);
	holds[0].least = 400 * G;
	assert_true(ask(100 * G, 0, 7, rates) == 0 && rates[0] == 400 * G);
}

/* What is offered instead is accepted. */
static void test_most(void **state)
{
	struct srpol_hold hold;
	struct srpol_room room;
	u64 rates[HOLDS];

	(void)state;
	assert_true(admit(1, 300 * G, 100 * G, 2, 0, 1));
	hold = want(9, 350 * G, 0, 5, 0, 1);
	room = room_for(&hold, UNLIMITED);
	assert_true(!room.fits && room.offer.most == 300 * G);
	assert_true(room.offer.left == 100 * G);
	srpol_room_free(&room);
	assert_true(ask(300 * G, 0, 5, rates) == 300 * G);
	room = room_for(&hold, 250 * G);
	assert_true(!room.fits && room.offer.most == 250 * G);
	srpol_room_free(&room);
	hold.priority = 2;
	room = room_for(&hold, UNLIMITED);
	assert_true(!room.fits && room.offer.most == 100 * G);
	srpol_room_free(&room);
}

static void test_order(void **state)
{
	u64 rates[HOLDS];

	(void)state;
	assert_true(admit(1, 100 * G, 50 * G, 2, 0, 1));
	assert_true(admit(2, 100 * G, 40 * G, 1, 0, 1));
	assert_true(admit(3, 100 * G, 30 * G, 1, 0, 1));
	/* somewhere else */
	assert_true(admit(4, 100 * G, 10 * G, 0, 2, 1));
	assert_true(admit(5, 100 * G, 10 * G, 5, 0, 1));
	/* the lowest first, of these the newest */
	assert_true(ask(60 * G, 0, 5, rates) == 60 * G);
	assert_true(rates[2] == 40 * G && rates[1] == 100 * G &&
		    rates[0] == 100 * G);
	assert_true(ask(110 * G, 0, 5, rates) == 110 * G);
	assert_true(rates[2] == 30 * G && rates[1] == 60 * G &&
		    rates[0] == 100 * G);
	assert_true(ask(180 * G, 0, 5, rates) == 180 * G);
	assert_true(rates[2] == 30 * G && rates[1] == 40 * G &&
		    rates[0] == 50 * G);
	assert_true(rates[3] == 100 * G && rates[4] == 100 * G);
	assert_true(ask(180 * G + 1, 0, 5, rates) == 0);
	assert_true(ask(270 * G, 0, 6, rates) == 270 * G);
	assert_true(rates[4] == 10 * G && rates[3] == 100 * G);
}

/* The tenant's limit is a reason as well, and counts its own jobs only. */
static void test_budget(void **state)
{
	struct srpol_hold hold;
	struct srpol_room room;

	(void)state;
	assert_true(admit(1, 200 * G, 50 * G, 1, 0, 1));
	assert_true(admit(2, 100 * G, 50 * G, 0, 0, 1));
	hold = want(1, 100 * G, 0, 5, 0, 1);
	room = room_for(&hold, 60 * G);
	assert_true(room.fits && room.rate == 100 * G);
	assert_true(room.rates[0] == 160 * G && room.rates[1] == 100 * G);
	srpol_room_free(&room);
	room = room_for(&hold, -50 * (int64_t)G);
	assert_true(room.fits && room.rates[0] == 50 * G);
	srpol_room_free(&room);
	room = room_for(&hold, -50 * (int64_t)G - 1);
	assert_true(!room.fits && room.rates[0] == 200 * G);
	srpol_room_free(&room);
	/* what is left of it, if that is enough */
	hold.least = 60 * G;
	room = room_for(&hold, 60 * G);
	assert_true(room.fits && room.rate == 60 * G &&
		    room.rates[0] == 200 * G);
	srpol_room_free(&room);
}

/* Number 0 was lowered for number 1, which waits until hosts have acknowledged it. */
static void lower_for(u64 rate)
{
	struct srpol_hold hold;
	struct srpol_room room;

	assert_true(admit(1, 400 * G, 100 * G, 2, 0, 1));
	hold = want(2, rate, 0, 5, 0, 1);
	room = room_for(&hold, UNLIMITED);
	add(&hold, room.weights);
	room.weights = NULL;
	holds[1].old = NULL;
	holds[1].waits = true;
	holds[0].old_rate = 400 * G;
	holds[0].rate = room.rates[0];
	srpol_room_free(&room);
}

/* It begins when hosts have acknowledged that the other one has less. */
static void test_start(void **state)
{
	(void)state;
	lower_for(300 * G);
	assert_int_equal(srpol_ledger_may_start(&ledger, 1), 0);
	holds[0].old_rate = 0;
	assert_int_equal(srpol_ledger_may_start(&ledger, 1), 1);
	/* links have less meanwhile */
	srpol_links_set_capacity(links, fabric->nics[0].link, 399 * G);
	assert_int_equal(srpol_ledger_may_start(&ledger, 1), 0);
}

/* What rate number @i can be raised to. */
static u64 raised(u32 i, u64 rate, bool *elsewhere)
{
	struct srpol_room room;
	u64 got;

	assert_int_equal(srpol_ledger_raise(&ledger, i, rate, &room), 0);
	got = room.fits ? room.rate : 0;
	assert_true(room.rates[i] == (room.fits ? room.rate : holds[i].rate));
	*elsewhere = room.weights;
	srpol_room_free(&room);
	return got;
}

static void test_raise(void **state)
{
	bool elsewhere;

	(void)state;
	assert_true(admit(1, 100 * G, 0, 3, 0, 1));
	assert_true(admit(2, 150 * G, 0, 3, 0, 1));
	assert_true(raised(0, 200 * G, &elsewhere) == 200 * G && !elsewhere);
	assert_true(raised(0, 250 * G, &elsewhere) == 250 * G && !elsewhere);
	assert_true(raised(0, 300 * G, &elsewhere) == 250 * G && !elsewhere);
	/* too little to be worth it, unless it is all that is missing */
	holds[1].rate = 299 * G;
	assert_true(raised(0, 300 * G, &elsewhere) == 0);
	assert_true(raised(0, 101 * G, &elsewhere) == 101 * G && !elsewhere);
	holds[1].rate = 300 * G;
	assert_true(raised(0, 300 * G, &elsewhere) == 0);
}

/* With the paths that it has there is no room, with others there is. */
static void test_raise_elsewhere(void **state)
{
	u32 up = srpol_node_up(fabric, fabric->nics[0].leaf, 0), s;
	bool elsewhere;

	(void)state;
	for (s = 1; s < SPINES; s++)
		srpol_links_set_capacity(links, up + 2 * s, 0);
	srpol_links_set_capacity(links, up, 100 * G);
	assert_true(admit(1, 100 * G, 0, 3, 0, 1));
	for (s = 1; s < SPINES; s++)
		srpol_links_set_capacity(links, srpol_node_up(fabric,
					 fabric->nics[0].leaf, s), 400 * G);
	assert_true(raised(0, 300 * G, &elsewhere) == 300 * G && elsewhere);
}

/* A link has less: who yields first loses, or has less. */
static void test_settle(void **state)
{
	struct srpol_settlement s[HOLDS];

	(void)state;
	assert_true(admit(1, 200 * G, 0, 1, 0, 1));
	assert_true(admit(2, 200 * G, 100 * G, 0, 0, 1));
	srpol_links_set_capacity(links, fabric->nics[0].link, 300 * G);
	assert_int_equal(srpol_ledger_settle(&ledger, s), 0);
	assert_int_equal(s[0].what, SRPOL_SETTLED_KEPT);
	assert_true(s[1].what == SRPOL_SETTLED_MOVED && s[1].rate == 100 * G);
	srpol_settlements_free(s, 2);
	/* the priority counts, not the age */
	holds[1].priority = 2;
	assert_int_equal(srpol_ledger_settle(&ledger, s), 0);
	assert_true(s[0].what == SRPOL_SETTLED_LOST && !s[1].what);
	srpol_settlements_free(s, 2);
	holds[1].priority = 0;
	srpol_links_set_capacity(links, fabric->nics[0].link, 299 * G);
	assert_int_equal(srpol_ledger_settle(&ledger, s), 0);
	assert_true(!s[0].what && s[1].what == SRPOL_SETTLED_LOST);
	srpol_settlements_free(s, 2);
}

/* Who has less leaves room for those that are settled after it. */
static void test_settle_beside(void **state)
{
	struct srpol_settlement s[HOLDS];

	(void)state;
	assert_true(admit(1, 300 * G, 50 * G, 2, 0, 1));
	/* half of it to host 1 as well */
	assert_true(admit(2, 100 * G, 0, 1, 3, 2));
	srpol_links_set_capacity(links, fabric->nics[0].link, 100 * G);
	srpol_links_set_capacity(links, fabric->nics[1].link ^ 1, 200 * G);
	srpol_links_set_capacity(links, srpol_node_up(fabric, fabric->nics[3].leaf, 0), 0);
	assert_int_equal(srpol_ledger_settle(&ledger, s), 0);
	assert_true(s[0].what == SRPOL_SETTLED_MOVED && s[0].rate == 100 * G);
	assert_true(s[1].what == SRPOL_SETTLED_MOVED && s[1].rate == 100 * G);
	srpol_settlements_free(s, 2);
}

/* One that waits and has to move does not begin before others have less. */
static void test_settle_waits(void **state)
{
	u32 up = srpol_node_up(fabric, fabric->nics[0].leaf, 0);
	struct srpol_settlement s[HOLDS];

	(void)state;
	lower_for(200 * G);
	/* all use this link, the NIC is where there is too little */
	srpol_links_set_capacity(links, up, 10 * G);
	assert_int_equal(srpol_ledger_settle(&ledger, s), 0);
	assert_int_equal(s[1].what, SRPOL_SETTLED_LOST);
	srpol_settlements_free(s, 2);
	holds[0].old_rate = 0;
	assert_int_equal(srpol_ledger_settle(&ledger, s), 0);
	assert_true(s[1].what == SRPOL_SETTLED_MOVED && s[1].rate == 200 * G);
	srpol_settlements_free(s, 2);
}

static void test_within(void **state)
{
	struct srpol_demand d[] = {
		{ .src = 0, .dst = 1, .bytes = 1000 },
		{ .src = 2, .dst = 1, .bytes = 250 },
		{ .src = 3, .dst = 3, .bytes = 1u << 30 },
	};
	u64 rate;

	(void)state;
	/* the second host receives 1250 bytes */
	assert_int_equal(srpol_rate_within(fabric, d, 3, 1000, &rate), 0);
	assert_true(rate == 10000);
	assert_int_equal(srpol_rate_within(fabric, d, 3, 3000, &rate), 0);
	assert_true(rate == 3334);
	d[0].bytes = (1ull << 53) - 1;
	assert_int_equal(srpol_rate_within(fabric, d, 1, 1, &rate), 0);
	assert_true(rate == UINT64_MAX);
	assert_int_equal(srpol_rate_within(fabric, d + 2, 1, 1, &rate), 0);
	assert_true(rate == 0);
}

static void test_nothing(void **state)
{
	struct srpol_hold hold = want(1, 0, 0, 1, 0, 1);
	struct srpol_room room;

	(void)state;
	assert_int_equal(srpol_ledger_room(&ledger, &hold, UNLIMITED, UINT32_MAX, &room),
			 -EINVAL);
	hold = want(1, G, 0, 1, 0, 0);
	assert_int_equal(srpol_ledger_room(&ledger, &hold, UNLIMITED, UINT32_MAX, &room),
			 -EINVAL);
}

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
			assert_true(admit(1 + ledger.n, rate * STEP,
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
		assert_int_equal(srpol_ledger_raise(&ledger, i, wanted[i],
						    &room), 0);
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
			hold = want(2 + (shared ? test_random(&seed) % 3 : i),
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
		TEST(test_too_many),
		TEST(test_what_is_free),
		TEST(test_lowered),
		TEST(test_most),
		TEST(test_order),
		TEST(test_budget),
		TEST(test_start),
		TEST(test_raise),
		TEST(test_raise_elsewhere),
		TEST(test_settle),
		TEST(test_settle_beside),
		TEST(test_settle_waits),
		TEST(test_within),
		TEST(test_nothing),
		TEST(test_all_ways),
		TEST(test_at_random),
		TEST(test_at_random_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
