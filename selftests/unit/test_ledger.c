// SPDX-License-Identifier: GPL-2.0
/*
 * Bandwidth that is kept for jobs, with lib/plan as the global engine links it:
 * the arithmetic at its edges, and that no link is ever given away twice.
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
#define HOLDS	16

static struct srpol_fabric *fabric;
static struct srpol_links *links;
static struct srpol_ledger ledger;
static struct srpol_hold holds[HOLDS];
static struct srpol_demand demands[HOLDS][LEAVES * LEAVES];

/* A host per leaf, as fast as a link upwards. */
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

static int teardown(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < HOLDS; i++) {
		if (holds[i].old != holds[i].new)
			srpol_plan_free((struct srpol_plan *)holds[i].old);
		srpol_plan_free((struct srpol_plan *)holds[i].new);
	}
	srpol_links_free(links);
	srpol_fabric_free(fabric);
	return 0;
}

static u32 leaf(u32 i)
{
	u32 node;

	for (node = 0; node < fabric->n_nodes; node++)
		if (fabric->nodes[node].tier == SRPOL_TIER_LEAF && !i--)
			return node;
	return SRPOL_NONE;
}

static u32 up(u32 l, u32 spine)
{
	return srpol_node_up(fabric, leaf(l), spine);
}

static void cut(u32 l, u32 spine, u64 capacity)
{
	srpol_links_set_capacity(links, up(l, spine), capacity);
	srpol_links_set_capacity(links, up(l, spine) ^ 1, capacity);
}

/* What is wanted: hold number ledger.n, from @src to each of @n others. */
static struct srpol_hold want(u32 color, u64 rate, u32 src, u32 n)
{
	struct srpol_demand *d = demands[ledger.n];
	u32 i;

	for (i = 0; i < n; i++)
		d[i] = (struct srpol_demand){
			.src = src, .dst = (src + 1 + i) % LEAVES,
			.bytes = 1000003, .color = color, .key = i,
		};
	return (struct srpol_hold){ .color = color, .rate = rate,
				    .demands = d, .n = n };
}

static struct srpol_offer ask(const struct srpol_hold *hold)
{
	struct srpol_offer offer;

	assert_int_equal(srpol_ledger_offer(&ledger, hold, &offer), 0);
	return offer;
}

static void take(const struct srpol_hold *hold, struct srpol_offer *offer)
{
	assert_true(offer->fits);
	holds[ledger.n] = *hold;
	holds[ledger.n].old = holds[ledger.n].new = offer->weights;
	ledger.n++;
}

static bool admit(u32 color, u64 rate, u32 src, u32 n)
{
	struct srpol_hold hold = want(color, rate, src, n);
	struct srpol_offer offer = ask(&hold);

	if (offer.fits)
		take(&hold, &offer);
	return offer.fits;
}

static u64 kept_on(u32 link)
{
	double *load = calloc(fabric->n_links, sizeof(*load));
	u64 kept;

	assert_int_equal(srpol_ledger_load(&ledger, load), 0);
	kept = load[link] + 0.5;
	free(load);
	return kept;
}

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
	offer = ask(&hold);
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
	struct srpol_offer offer = ask(&hold);

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
	offer = ask(&hold);
	assert_false(offer.fits);
	assert_true(offer.link == SRPOL_NONE && !offer.most);
}

static void test_greatest(void **state)
{
	struct srpol_hold hold = want(7, UINT64_MAX, 0, 1);
	struct srpol_offer offer = ask(&hold);

	(void)state;
	assert_false(offer.fits);
	assert_true(offer.most == 400 * G);
	demands[0][0].bytes = (1ull << 53) - 1;
	offer = ask(&hold);
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
	offer = ask(&hold);
	take(&hold, &offer);
	assert_true(kept_on(up(0, 0)) == 300 * G);
	assert_int_equal(srpol_plan_find(holds[0].new, leaf(0), leaf(1), 0,
					 &n)[1], 0);
	/* the rest of it can be had, not more */
	hold = want(8, 101 * G, 0, 1);
	hold.allowed = allowed;
	offer = ask(&hold);
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
	offer = ask(&hold);
	assert_false(offer.fits);
	assert_true(offer.most == 100 * G);
	/* they have */
	srpol_plan_free((struct srpol_plan *)holds[0].old);
	holds[0].old = NULL;
	offer = ask(&hold);
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
	ledger = (struct srpol_ledger){ fabric, links, holds, 0 };
	(void)state;
	/* to the other one of the leaf, and to one behind the spines */
	assert_true(admit(7, 300 * G, 0, 2));
	assert_true(kept_on(fabric->nics[0].link) == 300 * G);
	assert_true(kept_on(fabric->nics[1].link ^ 1) == 150 * G);
	hold = want(8, 200 * G, 0, 1);
	offer = ask(&hold);
	assert_true(!offer.fits && offer.most == 100 * G);
	assert_true(admit(8, 100 * G, 0, 1));
	srpol_links_set_capacity(links, fabric->nics[3].link, 0);
	hold = want(9, G, 3, 1);
	offer = ask(&hold);
	assert_true(!offer.fits && !offer.most);
}

static void settle(struct srpol_settlement *s)
{
	assert_int_equal(srpol_ledger_settle(&ledger, s), 0);
}

static void test_settle(void **state)
{
	struct srpol_settlement s[HOLDS];
	u32 i, spine;

	(void)state;
	assert_true(admit(7, 150 * G, 0, 1));
	assert_true(admit(8, 150 * G, 0, 1));
	settle(s);
	assert_true(!s[0].what && !s[1].what);
	/* three links are left of four, and enough of them */
	cut(0, 3, 0);
	settle(s);
	for (i = 0; i < 2; i++)
		assert_int_equal(s[i].what, SRPOL_SETTLED_KEPT);
	/* one link: not enough for both, so the newer one has lost it */
	for (spine = 1; spine < SPINES; spine++)
		cut(0, spine, 0);
	cut(0, 0, 200 * G);
	settle(s);
	assert_int_equal(s[0].what, SRPOL_SETTLED_KEPT);
	assert_int_equal(s[1].what, SRPOL_SETTLED_LOST);
	assert_true(s[1].offer.most == 50 * G);
	assert_int_equal(s[1].offer.link, up(0, 0));
	srpol_plan_free((struct srpol_plan *)holds[1].new);
	holds[1].old = holds[1].new = NULL;
	/* it is tried again when links come back */
	settle(s);
	assert_int_equal(s[1].what, SRPOL_SETTLED_KEPT);
	cut(0, 2, 400 * G);
	settle(s);
	assert_int_equal(s[0].what, SRPOL_SETTLED_KEPT);
	assert_int_equal(s[1].what, SRPOL_SETTLED_MOVED);
	assert_true(s[1].offer.fits);
	srpol_settlements_free(s, 2);
	/* no link at all: all is lost, as no path */
	cut(0, 0, 0);
	cut(0, 2, 0);
	settle(s);
	assert_int_equal(s[0].what, SRPOL_SETTLED_LOST);
	assert_int_equal(s[0].offer.link, SRPOL_NONE);
}

/* A link has less, and who was there moves to where there is room. */
static void test_move(void **state)
{
	double *load = calloc(fabric->n_links, sizeof(*load));
	struct srpol_settlement s[HOLDS];
	struct srpol_plan *old;

	(void)state;
	assert_true(admit(7, 400 * G, 0, 1));
	cut(0, 1, 10 * G);
	settle(s);
	assert_int_equal(s[0].what, SRPOL_SETTLED_MOVED);
	old = (struct srpol_plan *)holds[0].new;
	holds[0].new = s[0].offer.weights;
	/* until hosts know, links keep both; what is told of it is the new one */
	assert_true(kept_on(up(0, 1)) > 10 * G);
	assert_int_equal(srpol_ledger_load_one(&ledger, 0, load), 0);
	assert_true(load[up(0, 1)] <= 10 * G + 0.5);
	free(load);
	assert_true(srpol_plan_diff(old, holds[0].new, NULL, NULL) == 1);
	srpol_plan_free(old);
	holds[0].old = holds[0].new;
	assert_true(kept_on(up(0, 1)) <= 10 * G);
}

/*
 * Several of a color, so that each has a part of the others' weights, use a link
 * that has less, or none may use it any more: there is room for all of them
 * elsewhere, and all move.
 */
static void check_all_move(u64 rate, const bool *allowed)
{
	struct srpol_settlement s[HOLDS];
	u32 i;

	for (i = 0; i < ledger.n; i++)
		holds[i].allowed = allowed;
	settle(s);
	for (i = 0; i < ledger.n; i++) {
		assert_int_equal(s[i].what, SRPOL_SETTLED_MOVED);
		assert_true(s[i].offer.fits && s[i].offer.most == rate);
		srpol_plan_free((struct srpol_plan *)holds[i].new);
		holds[i].old = holds[i].new = s[i].offer.weights;
	}
	assert_true(kept_on(up(0, 3)) <= 10 * G);
	settle(s);
	for (i = 0; i < ledger.n; i++)
		assert_int_equal(s[i].what, SRPOL_SETTLED_KEPT);
}

static void test_move_together(void **state)
{
	(void)state;
	assert_true(admit(7, 100 * G, 0, 1));
	assert_true(admit(7, 100 * G, 0, 1));
	assert_true(admit(7, 100 * G, 0, 1));
	cut(0, 3, 10 * G);
	check_all_move(100 * G, NULL);
}

static void test_not_allowed(void **state)
{
	bool *allowed = calloc(fabric->n_links, sizeof(*allowed));
	u32 l;

	(void)state;
	for (l = 0; l < fabric->n_links; l++)
		allowed[l] = l != up(0, 3);
	assert_true(admit(7, 100 * G, 0, 1));
	assert_true(admit(7, 100 * G, 0, 1));
	assert_true(admit(7, 100 * G, 0, 1));
	check_all_move(100 * G, allowed);
	assert_true(kept_on(up(0, 3)) == 0);
	free(allowed);
}

/* What hosts were told they may use, though it is lost meanwhile. */
static void test_lost_in_between(void **state)
{
	bool *none = calloc(fabric->n_links, sizeof(*none));
	struct srpol_settlement s[HOLDS];

	(void)state;
	holds[0] = want(8, 300 * G, 0, 1);
	ledger.n = 1;
	assert_true(admit(7, 200 * G, 0, 1));
	holds[1].old = NULL;
	holds[1].allowed = none;
	settle(s);
	assert_int_equal(s[0].what, SRPOL_SETTLED_KEPT);
	assert_int_equal(s[1].what, SRPOL_SETTLED_LOST);
	srpol_plan_free((struct srpol_plan *)holds[1].new);
	holds[1].new = NULL;
	settle(s);
	assert_int_equal(s[0].what, SRPOL_SETTLED_MOVED);
	srpol_settlements_free(s, 2);
	free(none);
}

/* What was settled is what is, and hosts have acknowledged it. */
static void follow(struct srpol_settlement *s)
{
	u32 i;

	for (i = 0; i < ledger.n; i++) {
		if (!s[i].what)
			continue;
		assert_true(s[i].offer.fits ==
			    (s[i].what == SRPOL_SETTLED_MOVED));
		/* who has lost it is told where, and what would be needed */
		if (s[i].what == SRPOL_SETTLED_LOST &&
		    s[i].offer.link != SRPOL_NONE)
			assert_true(s[i].offer.left < s[i].offer.wanted);
		holds[i].new = s[i].offer.weights;
	}
}

static void acknowledge(void)
{
	u32 i;

	for (i = 0; i < ledger.n; i++) {
		if (holds[i].old != holds[i].new)
			srpol_plan_free((struct srpol_plan *)holds[i].old);
		holds[i].old = holds[i].new;
	}
}

/* Nobody is where he may not be, and no link is too full. */
static void check_settled(void)
{
	double *load = calloc(fabric->n_links, sizeof(*load));
	u32 i, l;

	assert_int_equal(srpol_ledger_load(&ledger, load), 0);
	for (l = 0; l < fabric->n_links; l++)
		assert_true(srpol_load_fits(load[l], links->links[l].capacity));
	for (i = 0; i < ledger.n; i++) {
		assert_int_equal(srpol_ledger_load_one(&ledger, i, load), 0);
		for (l = 0; l < fabric->n_links; l++)
			assert_true(!load[l] || !holds[i].allowed ||
				    holds[i].allowed[l]);
	}
	free(load);
}

/*
 * On the way there no link gets fuller than it may be, or than it was; what a
 * color's holds have of each other's weights apart.
 */
static void check_way(const double *before)
{
	double *load = calloc(fabric->n_links, sizeof(*load));
	u32 l;

	assert_int_equal(srpol_ledger_load(&ledger, load), 0);
	for (l = 0; l < fabric->n_links; l++)
		assert_true(load[l] <= before[l] + 1 ||
			    srpol_load_fits(load[l], links->links[l].capacity));
	free(load);
}

static void change_something(u64 *seed, bool *allowed)
{
	u32 l = test_random(seed) % LEAVES, s = test_random(seed) % SPINES;

	switch (test_random(seed) % 3) {
	case 0:
		cut(l, s, test_random(seed) % 4 * 100 * G);
		break;
	case 1:
		cut(l, s, 400 * G);
		break;
	default:
		/* a spine, for one tenant */
		for (l = 0; l < LEAVES; l++) {
			allowed[up(l, s)] = !allowed[up(l, s)];
			allowed[up(l, s) ^ 1] = allowed[up(l, s)];
		}
	}
}

/*
 * Tenants, links and what tenants may use change: each time it is settled at
 * once, and but for what comes free by that, once and for all. @shared: a tenant
 * has one color for all.
 */
static void settle_at_random(bool shared)
{
	double *before = calloc(fabric->n_links, sizeof(*before));
	bool *allowed = calloc(3UL * fabric->n_links, sizeof(*allowed));
	struct srpol_settlement s[HOLDS];
	u32 i, k, round, moved = 0, lost = 0, tenant, again;
	u64 seed = 7;

	memset(allowed, true, 3UL * fabric->n_links);
	for (i = 0; i < 40 && ledger.n < HOLDS; i++) {
		tenant = test_random(&seed) % 3;
		if (admit(2 + tenant + (shared ? 0 : 3 * i),
			  (10 + test_random(&seed) % 190) * G,
			  test_random(&seed) % LEAVES,
			  1 + test_random(&seed) % (LEAVES - 1)))
			holds[ledger.n - 1].allowed =
				allowed + tenant * fabric->n_links;
	}
	for (round = 0; round < 400; round++) {
		change_something(&seed, allowed + test_random(&seed) % 3 *
				 fabric->n_links);
		/* once more for what the way there kept; then it is over */
		for (k = 0, again = 1; again; k++) {
			assert_true(k < HOLDS);
			assert_int_equal(srpol_ledger_load(&ledger, before), 0);
			settle(s);
			for (i = 0, again = 0; i < ledger.n; i++) {
				again += s[i].what != SRPOL_SETTLED_KEPT;
				moved += s[i].what == SRPOL_SETTLED_MOVED;
				lost += s[i].what == SRPOL_SETTLED_LOST;
				/* who was settled just now does not lose it */
				assert_true(!k ||
					    s[i].what != SRPOL_SETTLED_LOST);
				assert_true(!k || !holds[i].old ||
					    s[i].what == SRPOL_SETTLED_KEPT);
			}
			follow(s);
			if (!shared)
				check_way(before);
			acknowledge();
			check_settled();
		}
	}
	assert_true(moved > 100 && lost > 20);
	free(allowed);
	free(before);
}

/* Of those that were lost the one that yields last is tried first. */
static void test_settle_order(void **state)
{
	struct srpol_settlement s[HOLDS];
	u32 first, i;

	(void)state;
	for (i = 0; i < 2; i++) {
		assert_true(admit(7 + i, 150 * G, 0, 1));
		srpol_plan_free((struct srpol_plan *)holds[i].new);
		holds[i].new = holds[i].old = NULL;
	}
	for (i = 0; i < SPINES; i++)
		cut(0, i, i ? 0 : 200 * G);
	/* the older one, or that with the higher priority */
	for (first = 0; first < 2; first++) {
		holds[1].priority = first;
		settle(s);
		assert_int_equal(s[first].what, SRPOL_SETTLED_MOVED);
		assert_true(s[!first].what != SRPOL_SETTLED_MOVED);
		srpol_settlements_free(s, 2);
	}
}

static void test_settle_own_color(void **state)
{
	(void)state;
	settle_at_random(false);
}

static void test_settle_shared_color(void **state)
{
	(void)state;
	settle_at_random(true);
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
		offer = ask(&hold);
		accepted += offer.fits;
		refused += !offer.fits;
		if (!offer.fits && offer.most) {
			assert_true(offer.most < rate);
			hold.rate = offer.most;
			offer = ask(&hold);
			assert_true(offer.fits);
		}
		if (offer.fits)
			take(&hold, &offer);
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
		TEST(test_settle),
		TEST(test_move),
		TEST(test_move_together),
		TEST(test_not_allowed),
		TEST(test_lost_in_between),
		TEST(test_settle_order),
		TEST(test_settle_own_color),
		TEST(test_settle_shared_color),
		TEST(test_at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
