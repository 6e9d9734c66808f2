// SPDX-License-Identifier: GPL-2.0
/*
 * Bandwidth that is kept for jobs, with lib/plan as the global engine links it:
 * the arithmetic at its edges, and that no link is ever given away twice.
 */
#define HOLDS	16

#include <errno.h>
#include <stdlib.h>

#include "test_holds.h"

static void test_sum(void **state)
{
	(void)state;
	assert_true(srpol_rate_add(1, 2) == 3);
	assert_true(srpol_rate_add(UINT64_MAX, 0) == UINT64_MAX);
	assert_true(srpol_rate_add(UINT64_MAX, 1) == UINT64_MAX);
	assert_true(srpol_rate_add(UINT64_MAX - 1, 1) == UINT64_MAX);
	assert_true(srpol_rate_add(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
	assert_true(srpol_load_fits(0, 0));
	assert_true(srpol_load_fits(7.4, 7));
	assert_false(srpol_load_fits(7.6, 7));
	assert_false(srpol_load_fits(1, 0));
}

/* Rates of demands that do not come out even still fill a NIC exactly. */
static void test_exactly_full(void **state)
{
	struct srpol_hold hold;
	struct srpol_offer offer;

	(void)state;
	assert_true(admit(7, 400 * G, 0, 3));
	assert_true(kept_on(fabric->nics[0].link) == 400 * G);
	/* a single bit/s is too much now */
	hold = want(8, 1, 0, 1);
	offer = offer_for(&hold);
	assert_false(offer.fits);
	assert_int_equal(offer.link, fabric->nics[0].link);
	assert_true(offer.left == 0 && offer.wanted == 1 && !offer.most);
	/* which does not concern others: their NIC has a third of it left */
	assert_false(admit(8, 266666666668, 1, 1));
	assert_true(admit(8, 266666666667, 1, 1));
}

static void test_one_too_much(void **state)
{
	struct srpol_hold hold = want(7, 400 * G + 1, 0, 1);
	struct srpol_offer offer = offer_for(&hold);

	(void)state;
	assert_false(offer.fits);
	assert_true(offer.most == 400 * G);
	assert_true(offer.left == 400 * G && offer.wanted == 400 * G + 1);
	assert_null(offer.weights);
	/* what it says would be accepted is */
	assert_true(admit(7, offer.most, 0, 1));
}

static void test_nothing(void **state)
{
	struct srpol_hold hold = want(7, 0, 0, 1);
	struct srpol_offer offer;

	(void)state;
	assert_int_equal(srpol_ledger_offer(&ledger, &hold, &offer), -EINVAL);
	hold = want(7, G, 0, 0);
	assert_int_equal(srpol_ledger_offer(&ledger, &hold, &offer), -EINVAL);
	/* no capacity, nothing to be had, and no division by it */
	srpol_links_set_capacity(links, fabric->nics[0].link, 0);
	hold = want(7, 1, 0, 1);
	offer = offer_for(&hold);
	assert_false(offer.fits);
	assert_true(offer.link == SRPOL_NONE && !offer.most);
}

static void test_greatest(void **state)
{
	struct srpol_hold hold = want(7, UINT64_MAX, 0, 1);
	struct srpol_offer offer = offer_for(&hold);

	(void)state;
	assert_false(offer.fits);
	assert_true(offer.most == 400 * G);
	demands[0][0].bytes = (1ull << 53) - 1;
	offer = offer_for(&hold);
	assert_true(!offer.fits && offer.most == 400 * G);
}

/* What is kept of a link is gone for others, who get the next one. */
static void test_placement(void **state)
{
	struct srpol_hold hold;
	struct srpol_offer offer;
	bool *allowed = calloc(fabric->n_links, sizeof(*allowed));
	u32 l, n;

	(void)state;
	/* over one spine only */
	for (l = 0; l < fabric->n_links; l++)
		allowed[l] = true;
	for (l = 1; l < SPINES; l++)
		allowed[up(0, l)] = false;
	hold = want(7, 300 * G, 0, 1);
	hold.allowed = allowed;
	offer = offer_for(&hold);
	add(&hold, offer.weights);
	assert_true(kept_on(up(0, 0)) == 300 * G);
	assert_int_equal(srpol_plan_find(holds[0].new, leaf(0), leaf(1), 0,
					 &n)[1], 0);
	/* the rest of it can be had, not more */
	hold = want(8, 101 * G, 0, 1);
	hold.allowed = allowed;
	offer = offer_for(&hold);
	assert_false(offer.fits);
	assert_true(offer.left == 100 * G && offer.wanted == 101 * G);
	assert_true(offer.most == 100 * G);
	/* who may use all of them is where there is room */
	cut(0, 1, 50 * G);
	cut(0, 2, 50 * G);
	assert_true(admit(9, 100 * G, 0, 1));
	assert_true(kept_on(up(0, 0)) <= 400 * G);
	assert_true(kept_on(up(0, 1)) <= 50 * G);
	free(allowed);
}

/* Jobs of a color that share a pair of leaves have its weights in common. */
static void test_blend(void **state)
{
	struct srpol_plan *plan;
	const uint8_t *w;
	u64 sum = 0;
	u32 n, s;

	(void)state;
	cut(0, 0, 100 * G);
	assert_true(admit(7, 100 * G, 0, 1));
	assert_true(admit(7, 200 * G, 0, 1));
	plan = srpol_ledger_plan(&ledger, 7);
	assert_int_equal(plan->n, 1);
	w = srpol_plan_find(plan, leaf(0), leaf(1), 0, &n);
	assert_int_equal(n, SPINES);
	assert_true(w[0] < w[1]);
	srpol_plan_free(plan);
	plan = srpol_ledger_plan(&ledger, 8);
	assert_int_equal(plan->n, 0);
	srpol_plan_free(plan);
	for (s = 0; s < SPINES; s++) {
		assert_true(kept_on(up(0, s)) <=
			    links->links[up(0, s)].capacity);
		sum += kept_on(up(0, s));
	}
	assert_in_range(sum, 300 * G - SPINES, 300 * G + SPINES);
}

/* What hosts may still use is not given to others. */
static void test_two_steps(void **state)
{
	struct srpol_hold hold;
	struct srpol_offer offer;

	(void)state;
	assert_true(admit(7, 300 * G, 0, 1));
	/* it ends, but hosts have not said that they know */
	holds[0].new = NULL;
	hold = want(8, 200 * G, 0, 1);
	offer = offer_for(&hold);
	assert_false(offer.fits);
	assert_true(offer.most == 100 * G);
	/* they have */
	srpol_plan_free((struct srpol_plan *)holds[0].old);
	holds[0].old = NULL;
	offer = offer_for(&hold);
	assert_true(offer.fits);
	srpol_plan_free(offer.weights);
}

/* Hosts of a leaf: there is nothing to plan between them, but NICs are full. */
static void test_under_leaf(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(2, 2, SPINES,
							  400 * G);
	struct srpol_hold hold;
	struct srpol_offer offer;

	srpol_links_free(links);
	srpol_fabric_free(fabric);
	fabric = srpol_fabric_generate(&shape, NULL);
	links = srpol_links_new(fabric);
	ledger = (struct srpol_ledger){ .fabric = fabric, .links = links,
					.holds = holds };
	(void)state;
	/* to the other one of the leaf, and to one behind the spines */
	assert_true(admit(7, 300 * G, 0, 2));
	assert_true(kept_on(fabric->nics[0].link) == 300 * G);
	assert_true(kept_on(fabric->nics[1].link ^ 1) == 150 * G);
	hold = want(8, 200 * G, 0, 1);
	offer = offer_for(&hold);
	assert_true(!offer.fits && offer.most == 100 * G);
	assert_true(admit(8, 100 * G, 0, 1));
	srpol_links_set_capacity(links, fabric->nics[3].link, 0);
	hold = want(9, G, 3, 1);
	offer = offer_for(&hold);
	assert_true(!offer.fits && !offer.most);
}

/* Whatever is asked for: no link is given away twice, and offers are true. */
static void test_at_random(void **state)
{
	u64 seed = 42, rate;
	u32 i, l, accepted = 0, refused = 0;
	double *load = calloc(fabric->n_links, sizeof(*load));
	struct srpol_hold hold;
	struct srpol_offer offer;

	(void)state;
	for (i = 0; i < 60 && ledger.n < HOLDS; i++) {
		rate = (1 + test_random(&seed) % 200) * G +
		       test_random(&seed) % G;
		hold = want(2 + test_random(&seed) % 3, rate,
			    test_random(&seed) % LEAVES,
			    1 + test_random(&seed) % (LEAVES - 1));
		if (i % 8 == 5)
			cut(test_random(&seed) % LEAVES,
			    test_random(&seed) % SPINES, 300 * G);
		offer = offer_for(&hold);
		accepted += offer.fits;
		refused += !offer.fits;
		if (!offer.fits && offer.most) {
			assert_true(offer.most < rate);
			hold.rate = offer.most;
			offer = offer_for(&hold);
			assert_true(offer.fits);
		}
		if (offer.fits)
			add(&hold, offer.weights);
		assert_int_equal(srpol_ledger_load(&ledger, load), 0);
		for (l = 0; l < fabric->n_links && i % 8 < 5; l++)
			assert_true(load[l] <= srpol_link_rate(
				&fabric->links[l]) + 0.5);
	}
	assert_true(accepted > 3 && refused > 3);
	free(load);
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_sum),
		TEST(test_exactly_full),
		TEST(test_one_too_much),
		TEST(test_nothing),
		TEST(test_greatest),
		TEST(test_placement),
		TEST(test_blend),
		TEST(test_two_steps),
		TEST(test_under_leaf),
		TEST(test_at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
