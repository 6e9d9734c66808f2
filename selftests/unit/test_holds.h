/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small fabric and its reservations, for the tests of these. The includer defines
 * HOLDS, the most there are.
 */
#ifndef _SRPOL_TEST_HOLDS_H
#define _SRPOL_TEST_HOLDS_H

#include <string.h>

#include "ledger.h"
#include "srpol_lib.h"
#include "test.h"

#define G	1000000000ull
#define LEAVES	4
#define SPINES	4
#define UNLIMITED	(INT64_MAX / 2)	/* budget of a tenant */

static struct srpol_fabric *fabric;
static struct srpol_links *links;
static struct srpol_ledger ledger;
static struct srpol_hold holds[HOLDS];
static struct srpol_demand demands[HOLDS + 1][LEAVES];

/* A host per leaf, as fast as a link upwards: 400G. */
static inline int setup(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(LEAVES, 1, SPINES,
							  400 * G);

	(void)state;
	fabric = srpol_fabric_generate(&shape, NULL);
	links = srpol_links_new(fabric);
	memset(holds, 0, sizeof(holds));
	ledger = (struct srpol_ledger){ .fabric = fabric, .links = links,
					.holds = holds };
	return 0;
}

static inline void end(u32 i)
{
	if (holds[i].old != holds[i].new)
		srpol_plan_free((struct srpol_plan *)holds[i].old);
	srpol_plan_free((struct srpol_plan *)holds[i].new);
	holds[i].old = holds[i].new = NULL;
}

static inline int teardown(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < HOLDS; i++)
		end(i);
	srpol_links_free(links);
	srpol_fabric_free(fabric);
	return 0;
}

static inline u32 leaf(u32 i)
{
	u32 node;

	for (node = 0; node < fabric->n_nodes; node++)
		if (fabric->nodes[node].tier == SRPOL_TIER_LEAF && !i--)
			return node;
	return SRPOL_NONE;
}

static inline u32 up(u32 l, u32 spine)
{
	return srpol_node_up(fabric, leaf(l), spine);
}

static inline void cut(u32 l, u32 spine, u64 capacity)
{
	srpol_links_set_capacity(links, up(l, spine), capacity);
	srpol_links_set_capacity(links, up(l, spine) ^ 1, capacity);
}

/* What is wanted: hold number ledger.n, from @src to each of the @n next ones. */
static inline struct srpol_hold want_elastic(u32 color, u64 rate, u64 least,
					     u32 priority, u32 src, u32 n)
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

static inline struct srpol_hold want(u32 color, u64 rate, u32 src, u32 n)
{
	return want_elastic(color, rate, 0, 0, src, n);
}

static inline struct srpol_offer offer_for(const struct srpol_hold *hold)
{
	struct srpol_offer offer;

	assert_int_equal(srpol_ledger_offer(&ledger, hold, &offer), 0);
	return offer;
}

/* Hosts have acknowledged it. */
static inline void add(const struct srpol_hold *hold, struct srpol_plan *weights)
{
	assert_non_null(weights);
	holds[ledger.n] = *hold;
	holds[ledger.n].old = holds[ledger.n].new = weights;
	ledger.n++;
}

static inline bool admit_elastic(u32 color, u64 rate, u64 least, u32 priority,
				 u32 src, u32 n)
{
	struct srpol_hold hold = want_elastic(color, rate, least, priority, src,
					      n);
	struct srpol_offer offer = offer_for(&hold);

	if (offer.fits)
		add(&hold, offer.weights);
	return offer.fits;
}

static inline bool admit(u32 color, u64 rate, u32 src, u32 n)
{
	return admit_elastic(color, rate, 0, 0, src, n);
}

static inline u64 kept_on(u32 link)
{
	double *load = calloc(fabric->n_links, sizeof(*load));
	u64 kept;

	assert_int_equal(srpol_ledger_load(&ledger, load), 0);
	kept = load[link] + 0.5;
	free(load);
	return kept;
}

static inline void check_same_room(const struct srpol_room *a,
				   const struct srpol_room *b)
{
	assert_true(a->fits == b->fits && a->rate == b->rate);
	assert_int_equal(a->too_many, b->too_many);
	assert_int_equal(a->offer.link, b->offer.link);
	assert_true(a->offer.most == b->offer.most &&
		    a->offer.left == b->offer.left &&
		    a->offer.wanted == b->offer.wanted);
	assert_memory_equal(a->rates, b->rates, ledger.n * sizeof(*a->rates));
	assert_int_equal(!a->weights, !b->weights);
	assert_true(!a->weights ||
		    !srpol_plan_diff(a->weights, b->weights, NULL, NULL));
}

/* What is kept in between changes no answer, and is right after each question. */
static inline void check_kept(const struct srpol_ledger *kept)
{
	size_t size = fabric->n_links * sizeof(double);
	double *plain = malloc(size), *load = malloc(size);

	assert_int_equal(srpol_ledger_load(&ledger, plain), 0);
	assert_int_equal(srpol_ledger_load(kept, load), 0);
	if (ledger.n)
		assert_memory_equal(plain, load, size);
	free(plain);
	free(load);
}

static inline struct srpol_room room_within(const struct srpol_hold *hold,
					    int64_t budget, u32 max)
{
	struct srpol_ledger kept = ledger;
	struct srpol_room room, again;
	u32 i;

	assert_int_equal(srpol_ledger_room(&ledger, hold, budget, max, &room), 0);
	assert_int_equal(srpol_ledger_keep(&kept), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(srpol_ledger_room(&kept, hold, budget, max,
						   &again), 0);
		check_same_room(&room, &again);
		srpol_room_free(&again);
		check_kept(&kept);
	}
	srpol_ledger_drop(&kept);
	return room;
}

static inline struct srpol_room room_for(const struct srpol_hold *hold,
					 int64_t budget)
{
	return room_within(hold, budget, UINT32_MAX);
}

/* What number @i can be raised to. */
static inline struct srpol_room room_above(u32 i, u64 rate)
{
	struct srpol_ledger kept = ledger;
	struct srpol_room room, again;
	u32 k;

	assert_int_equal(srpol_ledger_raise(&ledger, i, rate, &room), 0);
	assert_int_equal(srpol_ledger_keep(&kept), 0);
	for (k = 0; k < 2; k++) {
		assert_int_equal(srpol_ledger_raise(&kept, i, rate, &again), 0);
		check_same_room(&room, &again);
		srpol_room_free(&again);
		check_kept(&kept);
	}
	srpol_ledger_drop(&kept);
	return room;
}

/* @rate from the first to the second host: what it gets, 0 if nothing. */
static inline u64 ask(u64 rate, u64 least, u32 priority, u64 *rates)
{
	struct srpol_hold hold = want_elastic(99, rate, least, priority, 0, 1);
	struct srpol_room room = room_for(&hold, UNLIMITED);
	u64 got = room.fits ? room.rate : 0;

	assert_true(room.fits == (room.weights != NULL));
	memcpy(rates, room.rates, ledger.n * sizeof(*rates));
	srpol_room_free(&room);
	return got;
}

#endif /* _SRPOL_TEST_HOLDS_H */
