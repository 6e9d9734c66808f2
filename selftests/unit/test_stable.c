// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs come and go, and links fail: "minmax" leaves demands where they are
 * unless balance demands a move, and stays close to a placement from scratch.
 */
#include <string.h>

#include "plan.h"
#include "srpol_lib.h"
#include "test.h"

#define G400	UINT64_C(400000000000)
#define MB64	(UINT64_C(64) << 20)
#define SEEDS	20
#define FACTOR	1.05	/* of the busiest link of a placement from scratch */

static struct srpol_fabric *f;
static struct srpol_links *links;
static struct srpol_planner planner;
static struct srpol_demands demands;
static uint32_t gpus[256];

static void up(const struct srpol_shape *shape, u64 seed)
{
	uint32_t i, j, t;

	f = srpol_fabric_generate(shape, NULL);
	assert_non_null(f);
	links = srpol_links_new(f);
	planner = (struct srpol_planner){
		.fabric = f, .alg = &srpol_alg_minmax,
	};
	demands = (struct srpol_demands){
		.list = calloc(16 * f->n_gpus, sizeof(*demands.list)),
	};
	for (i = 0; i < f->n_gpus; i++)
		gpus[i] = i;
	for (i = f->n_gpus - 1; i; i--) {
		j = test_random(&seed) % (i + 1);
		t = gpus[i];
		gpus[i] = gpus[j];
		gpus[j] = t;
	}
}

static void down(void)
{
	srpol_planner_free(&planner);
	srpol_demands_free(&demands);
	srpol_links_free(links);
	srpol_fabric_free(f);
}

/* A job: a ring of the scattered GPUs @from to @to - 1. */
static void add_ring(uint32_t from, uint32_t to)
{
	uint32_t i;

	for (i = from; i < to; i++)
		demands.list[demands.n++] = (struct srpol_demand){
			.src = gpus[i], .bytes = MB64, .key = i - from,
			.dst = gpus[i + 1 < to ? i + 1 : from], .color = 1,
		};
}

/* Takes @n demands out, from the one at @at on. */
static void remove_demands(uint32_t at, uint32_t n)
{
	demands.n -= n;
	memmove(demands.list + at, demands.list + at + n,
		(demands.n - at) * sizeof(*demands.list));
}

static bool is_same(const struct srpol_placement *a, uint32_t i,
		    const struct srpol_placement *b, uint32_t j)
{
	uint32_t n = a->first[i + 1] - a->first[i];

	return n == b->first[j + 1] - b->first[j] &&
	       !memcmp(a->shares + a->first[i], b->shares + b->first[j],
		       n * sizeof(*a->shares));
}

/* The busiest link of a placement from scratch, in seconds. */
static double from_scratch(void)
{
	struct srpol_alg_input in = {
		.fabric = f, .links = links, .demands = demands.list,
		.n = demands.n,
	};
	struct srpol_placement *p;
	double seconds;

	assert_int_equal(srpol_alg_run(&srpol_alg_minmax, &in, &p, NULL), 0);
	seconds = p->prediction.seconds;
	srpol_placement_free(p);
	return seconds;
}

/*
 * Plans, and returns how many demands of both plans have other paths. Those
 * that @planner had and @demands has not are @n ones from @at on; what is new
 * is at the end.
 */
static uint32_t moved_without(uint32_t at, uint32_t n)
{
	struct srpol_planner before = planner;
	uint32_t i, j, moved = 0;

	planner = (struct srpol_planner){
		.fabric = f, .alg = &srpol_alg_minmax,
	};
	/* the run frees what was in force, of which a copy is compared */
	if (before.plan) {
		assert_int_equal(srpol_planner_try(&before, before.links,
						   &planner, NULL), 0);
		assert_int_equal(srpol_plan_diff(before.plan, planner.plan,
						 NULL, NULL), 0);
	}
	assert_int_equal(srpol_planner_run(&planner, links, demands.list,
					   demands.n, NULL), 0);
	for (i = 0; i < before.n; i++) {
		if (i >= at && i - at < n)
			continue;
		j = i < at ? i : i - n;
		moved += !is_same(before.placement, i, planner.placement, j);
	}
	assert_true(planner.placement->prediction.seconds <=
		    from_scratch() * FACTOR);
	srpol_planner_free(&before);
	return moved;
}

static uint32_t moved(void)
{
	return moved_without(UINT32_MAX, 0);
}

static void report(const char *what, uint32_t n, uint32_t moved)
{
	print_message("# %s: %u of %u demands that stay moved, in %u plans\n",
		      what, moved, n * SEEDS, SEEDS);
}

/*
 * A second ring of 16 GPUs comes, goes, and one demand of the first one ends.
 */
static void rings(void **state)
{
	const struct srpol_shape shape = srpol_shape_leaf_spine(8, 16, 16, G400);
	uint32_t came = 0, went = 0, one = 0;
	u64 seed;

	(void)state;
	for (seed = 1; seed <= SEEDS; seed++) {
		up(&shape, seed);
		add_ring(0, 96);
		moved();
		add_ring(96, 112);
		came += moved();
		remove_demands(96, 16);
		went += moved_without(96, 16);
		remove_demands(40, 1);
		one += moved_without(40, 1);
		down();
	}
	report("a ring of 16 comes", 96, came);
	report("a ring of 16 goes", 96, went);
	report("a demand ends", 95, one);
	assert_int_equal(went, 0);
	assert_int_equal(one, 0);
	/* two demands that come move no more than one other one */
	assert_true(came <= 16 * SEEDS / 2);
}

/* The fabric is full: half of all GPUs stay, the others change their jobs. */
static void full(void **state)
{
	const struct srpol_shape shapes[] = {
		srpol_shape_leaf_spine(8, 16, 16, G400),
		srpol_shape_clos(4, 4, 4, 4, 4, G400),
	};
	uint32_t came, went, n = 0, k;
	u64 seed;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(shapes); k++) {
		came = went = 0;
		for (seed = 1; seed <= SEEDS; seed++) {
			up(&shapes[k], seed);
			n = f->n_gpus;
			add_ring(0, n / 2);
			add_ring(n / 2, n);
			moved();
			remove_demands(n / 2, n / 2);
			went += moved_without(n / 2, n / 2);
			add_ring(n / 2, n * 3 / 4);
			came += moved();
			add_ring(n * 3 / 4, n);
			came += moved();
			down();
		}
		report("half of the GPUs stop", n / 2, went);
		report("a quarter starts, and another one", n / 2 + n * 3 / 4,
		       came);
		assert_int_equal(went, 0);
		/* a demand that comes moves no more than one other one */
		assert_true(came <= n / 2 * SEEDS);
	}
}

static uint32_t leaf_of(uint32_t gpu)
{
	return f->nics[f->gpus[gpu].nic].leaf;
}

/* Demands that can use the uplinks of a leaf. */
static uint32_t count_at(uint32_t leaf)
{
	uint32_t i, n = 0;

	for (i = 0; i < demands.n; i++)
		n += leaf_of(demands.list[i].src) == leaf ||
		     leaf_of(demands.list[i].dst) == leaf;
	return n;
}

/*
 * Only what was on the link has to move, and what makes room for it; when it comes
 * back only what can use it.
 */
static void link_fails(void **state)
{
	const struct srpol_shape shape = srpol_shape_leaf_spine(8, 16, 16, G400);
	uint32_t n = 0, back = 0, cable;
	u64 seed;

	(void)state;
	for (seed = 1; seed <= SEEDS; seed++) {
		up(&shape, seed);
		add_ring(0, 96);
		moved();
		cable = srpol_node_up(f, f->nics[0].leaf, 3);
		srpol_links_set_capacity(links, cable, 0);
		srpol_links_set_capacity(links, cable ^ 1, 0);
		n += moved();
		/* it comes back, and a job with it */
		srpol_links_set_capacity(links, cable, G400);
		srpol_links_set_capacity(links, cable ^ 1, G400);
		assert_true(count_at(leaf_of(0)) < 30);
		cable = moved();
		assert_in_range(cable, 1, count_at(leaf_of(0)));
		back += cable;
		down();
	}
	report("a link fails", 96, n);
	report("it comes back", 96, back);
	/* a demand each way, and one each that makes room */
	assert_true(n <= 4 * SEEDS);
}

/* Demands of many sizes over uneven links: near a placement from scratch. */
static void uneven(void **state)
{
	const struct srpol_shape shape = srpol_shape_leaf_spine(6, 8, 4, G400);
	uint32_t i, k;
	u64 seed;

	(void)state;
	for (seed = 1; seed <= SEEDS; seed++) {
		u64 random = seed;

		up(&shape, seed);
		for (k = 0; k < 12; k++) {
			i = test_random(&random) % f->n_links;
			srpol_links_set_capacity(links, i, G400 /
				(1 + test_random(&random) % 4));
			i = test_random(&random) % (demands.n + 1);
			if (k % 3 == 2)
				remove_demands(i, (demands.n - i) / 2);
			else
				add_ring(test_random(&random) % 20, 48);
			for (i = demands.n / 2; i < demands.n; i++)
				demands.list[i].bytes = MB64 *
					(1 + test_random(&random) % 8);
			/* compares with a placement from scratch */
			moved_without(0, UINT32_MAX);
		}
		down();
	}
}

/* Every demand is found again where it is now, equal ones one by one. */
static void matches(void **state)
{
	struct srpol_demand old[64], new[64];
	uint32_t match[64], n_old, n, i, j, k;
	bool taken[64];
	u64 seed = 5;

	(void)state;
	for (k = 0; k < 2000; k++) {
		n_old = test_random(&seed) % 64;
		n = test_random(&seed) % 64;
		for (i = 0; i < 64; i++) {
			old[i] = (struct srpol_demand){
				.src = test_random(&seed) % 3,
				.key = test_random(&seed) % 3, .bytes = i,
				.via = test_random(&seed) % 2,
			};
			new[i] = k % 2 ? old[i] : old[63 - i];
			new[i].dst = test_random(&seed) % 16 == 0;
			taken[i] = false;
		}
		assert_int_equal(srpol_demands_match(old, n_old, new, n, match),
				 0);
		for (i = 0; i < n; i++) {
			if (match[i] == SRPOL_NONE)
				continue;
			assert_in_range(match[i], 0, n_old - 1);
			assert_false(taken[match[i]]);
			taken[match[i]] = true;
			assert_int_equal(new[i].src, old[match[i]].src);
			assert_int_equal(new[i].dst, old[match[i]].dst);
			assert_int_equal(new[i].key, old[match[i]].key);
			assert_int_equal(new[i].via, old[match[i]].via);
		}
		/* what is left over in one list is not in the other one */
		for (i = 0; i < n; i++) {
			if (match[i] != SRPOL_NONE)
				continue;
			for (j = 0; j < n_old; j++)
				assert_true(taken[j] ||
					    old[j].src != new[i].src ||
					    old[j].dst != new[i].dst ||
					    old[j].key != new[i].key ||
					    old[j].via != new[i].via);
		}
	}
}

/* "adaptive" keeps weights that are near enough, when a job comes as well. */
static void hysteresis(void **state)
{
	const struct srpol_shape shape = srpol_shape_leaf_spine(2, 2, 2, G400);
	uint32_t up_link;

	(void)state;
	up(&shape, 1);
	planner.alg = &srpol_alg_adaptive;
	demands.list[demands.n++] = (struct srpol_demand){
		.src = 0, .dst = 2, .bytes = MB64,
	};
	assert_int_equal(srpol_planner_run(&planner, links, demands.list, 1,
					   NULL), 0);
	up_link = srpol_node_up(f, f->nics[0].leaf, 0);
	srpol_links_set_quality(links, up_link, 96);
	demands.list[demands.n++] = (struct srpol_demand){
		.src = 1, .dst = 3, .bytes = MB64,
	};
	assert_int_equal(srpol_planner_run(&planner, links, demands.list, 2,
					   NULL), 0);
	/* the old one as it was, the new one by the quality of now */
	assert_int_equal(planner.placement->shares[0].weight,
			 planner.placement->shares[1].weight);
	assert_int_not_equal(planner.placement->shares[2].weight,
			     planner.placement->shares[3].weight);
	srpol_links_set_quality(links, up_link, 50);
	assert_int_equal(srpol_planner_run(&planner, links, demands.list, 2,
					   NULL), 0);
	assert_int_equal(2 * planner.placement->shares[0].weight,
			 planner.placement->shares[1].weight);
	down();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings),
		cmocka_unit_test(full),
		cmocka_unit_test(link_fails),
		cmocka_unit_test(uneven),
		cmocka_unit_test(matches),
		cmocka_unit_test(hysteresis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
