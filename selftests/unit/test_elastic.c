// SPDX-License-Identifier: GPL-2.0
/*
 * Reservations that can do with less, with lib/plan as the global engine links it:
 * who is lowered for whom, and by how much, in exact numbers.
 */
#define HOLDS	12

#include <errno.h>
#include <stdlib.h>

#include "test_holds.h"

/* No more of them than it may be. */
static void test_too_many(void **state)
{
	struct srpol_hold hold;
	struct srpol_room room;
	u32 max, i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_true(admit_elastic(1 + i, 100 * G, 50 * G, 2, 0, 1));
	/* 50G of each of three */
	hold = want_elastic(99, 150 * G, 0, 3, 0, 1);
	for (max = 0; max < 5; max++) {
		room = room_within(&hold, UNLIMITED, max);
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
	assert_true(admit_elastic(1, 300 * G, 0, 3, 0, 1));
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
	assert_true(admit_elastic(1, 400 * G, 100 * G, 2, 0, 1));
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
	assert_true(admit_elastic(1, 300 * G, 100 * G, 2, 0, 1));
	hold = want_elastic(9, 350 * G, 0, 5, 0, 1);
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
	assert_true(admit_elastic(1, 100 * G, 50 * G, 2, 0, 1));
	assert_true(admit_elastic(2, 100 * G, 40 * G, 1, 0, 1));
	assert_true(admit_elastic(3, 100 * G, 30 * G, 1, 0, 1));
	/* somewhere else */
	assert_true(admit_elastic(4, 100 * G, 10 * G, 0, 2, 1));
	assert_true(admit_elastic(5, 100 * G, 10 * G, 5, 0, 1));
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
	assert_true(admit_elastic(1, 200 * G, 50 * G, 1, 0, 1));
	assert_true(admit_elastic(2, 100 * G, 50 * G, 0, 0, 1));
	hold = want_elastic(1, 100 * G, 0, 5, 0, 1);
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

	assert_true(admit_elastic(1, 400 * G, 100 * G, 2, 0, 1));
	hold = want_elastic(2, rate, 0, 5, 0, 1);
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
	struct srpol_room room = room_above(i, rate);
	u64 got;

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
	assert_true(admit_elastic(1, 100 * G, 0, 3, 0, 1));
	assert_true(admit_elastic(2, 150 * G, 0, 3, 0, 1));
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
	assert_true(admit_elastic(1, 100 * G, 0, 3, 0, 1));
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
	assert_true(admit_elastic(1, 200 * G, 0, 1, 0, 1));
	assert_true(admit_elastic(2, 200 * G, 100 * G, 0, 0, 1));
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
	assert_true(admit_elastic(1, 300 * G, 50 * G, 2, 0, 1));
	/* half of it to host 1 as well */
	assert_true(admit_elastic(2, 100 * G, 0, 1, 3, 2));
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
	struct srpol_hold hold = want_elastic(1, 0, 0, 1, 0, 1);
	struct srpol_room room;

	(void)state;
	assert_int_equal(srpol_ledger_room(&ledger, &hold, UNLIMITED, UINT32_MAX, &room),
			 -EINVAL);
	hold = want_elastic(1, G, 0, 1, 0, 0);
	assert_int_equal(srpol_ledger_room(&ledger, &hold, UNLIMITED, UINT32_MAX, &room),
			 -EINVAL);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
