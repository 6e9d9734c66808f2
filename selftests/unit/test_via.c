// SPDX-License-Identifier: GPL-2.0
/*
 * Paths that algorithms choose for who asks for a function of switches, plans and
 * reservations of these, and what the model has functions do.
 */
#include <math.h>
#include <string.h>

#include "test_functions.h"

static struct srpol_placement *run(const struct srpol_alg *alg,
				   const struct srpol_demand *demands,
				   uint32_t n)
{
	struct srpol_alg_input in = {
		.fabric = f, .links = links, .demands = demands, .n = n,
	};
	struct srpol_placement *p;

	assert_int_equal(srpol_alg_run(alg, &in, &p, &err), 0);
	return p;
}

/* Every algorithm: only paths over spine2 and spine3, next to who asks for none. */
static void algorithms_choose(void **state)
{
	(void)state;
	uint32_t sum = srpol_fabric_via(f, "aggregate"), i, k, d, others = 0;
	struct srpol_demand demands[8];
	struct srpol_placement *p;

	for (i = 0; i < 8; i++)
		demands[i] = (struct srpol_demand){
			.src = i % 2, .dst = C + i / 2 % 2,
			.bytes = GB * (i + 1), .key = 7 * i, .color = 1,
			.via = i < 4 ? sum : 0,
		};
	for (i = 0; srpol_alg_at(i); i++) {
		p = run(srpol_alg_at(i), demands, 8);
		assert_int_equal(p->prediction.unplaced, 0);
		for (d = 0; d < 8; d++) {
			assert_true(p->first[d] < p->first[d + 1]);
			for (k = p->first[d]; k < p->first[d + 1]; k++) {
				if (d < 4)
					assert_in_range(p->shares[k].path, 1,
							2);
				else
					others += p->shares[k].path % 3 == 0;
			}
		}
		srpol_placement_free(p);
	}
	assert_true(others > 8);
	/* the only one left is found, and nothing is said to be placed without */
	srpol_links_set_capacity(links, srpol_fabric_link(f,
		srpol_fabric_node(f, "leaf1"), srpol_fabric_node(f, "spine2")),
		0);
	for (i = 0; srpol_alg_at(i); i++) {
		p = run(srpol_alg_at(i), demands, 4);
		for (d = 0; d < 4; d++) {
			assert_int_equal(p->first[d + 1] - p->first[d], 1);
			assert_int_equal(p->shares[p->first[d]].path, 2);
		}
		srpol_placement_free(p);
	}
	srpol_links_set_capacity(links, srpol_fabric_link(f,
		srpol_fabric_node(f, "leaf1"), srpol_fabric_node(f, "spine3")),
		0);
	for (i = 0; srpol_alg_at(i); i++) {
		p = run(srpol_alg_at(i), demands, 4);
		assert_int_equal(p->prediction.unplaced, 4);
		srpol_placement_free(p);
	}
	down(state);
	up(state);
}

/* A placement in force is left when the demand asks for something else. */
static void minmax_leaves(void **state)
{
	(void)state;
	struct srpol_demand d = { .src = A, .dst = C, .bytes = GB };
	struct srpol_alg_input in = {
		.fabric = f, .links = links, .demands = &d, .n = 1,
	};
	struct srpol_placement *before, *p;
	uint32_t i;

	before = srpol_placement_new(1);
	srpol_placement_add(before, 0, 3, 1);
	srpol_placement_end(before, 0);
	in.previous = before;
	d.via = srpol_fabric_via(f, "sum");
	assert_int_equal(srpol_alg_run(&srpol_alg_minmax, &in, &p, &err), 0);
	assert_true(p->first[1]);
	for (i = 0; i < p->first[1]; i++)
		assert_in_range(p->shares[i].path, 1, 2);
	srpol_placement_free(before);
	srpol_placement_free(p);
}

/* Planes of which no path passes it get nothing: all counts where it goes. */
static void planes(void **state)
{
	(void)state;
	struct srpol_shape shape = srpol_shape_plane(2, 4, 100 * GB);
	struct srpol_function sum = {
		.name = "sum", .kind = SRPOL_FUNCTION_AGGREGATE, .ratio = 1,
		.bits.s6_addr[15] = 0xa1,
	};
	struct srpol_demand d = { .src = 0, .dst = 1, .bytes = GB }, both[2];
	struct srpol_fabric *g = srpol_fabric_generate(&shape, &err);
	struct srpol_alg_input in = { .fabric = g, .demands = &d, .n = 1 };
	struct srpol_placement *p;
	char *text;
	uint32_t i;

	/* what is generated is finished: once more, with a function */
	sum.node = g->nics[g->gpus[0].nic].leaf;
	assert_int_equal(srpol_fabric_add_function(g, &sum, &err), 0);
	g->nodes[sum.node].fn_n = 1;
	text = srpol_topology_text(g);
	srpol_fabric_free(g);
	g = srpol_topology_parse(text, strlen(text), &err);
	free(text);
	assert_non_null(g);
	in.fabric = g;
	in.links = srpol_links_new(g);
	d.via = srpol_fabric_via(g, "sum");
	for (i = 0; srpol_alg_at(i); i++) {
		assert_int_equal(srpol_alg_run(srpol_alg_at(i), &in, &p, &err),
				 0);
		assert_int_equal(p->first[1], 1);
		assert_int_equal(p->shares[0].path, 0);
		srpol_placement_free(p);
	}
	assert_int_equal(srpol_alg_run(&srpol_alg_minmax, &in, &p, &err), 0);
	assert_int_equal(p->shares[0].weight, 1);
	srpol_placement_free(p);
	/* so what may go elsewhere does */
	in.demands = both;
	in.n = 2;
	both[0] = both[1] = d;
	both[1].via = 0;
	assert_int_equal(srpol_alg_run(&srpol_alg_minmax, &in, &p, &err), 0);
	assert_int_equal(p->first[2], 2);
	assert_int_equal(p->shares[0].path, 0);
	assert_int_equal(p->shares[1].path, 1);
	srpol_placement_free(p);
	srpol_links_free((struct srpol_links *)in.links);
	srpol_fabric_free(g);
}

/* Seconds that the model gives a demand of 1 GB over one path. */
static double seconds(const char *word, uint32_t number, bool coupled)
{
	struct srpol_demand d = {
		.src = A, .dst = C, .bytes = GB,
		.via = word ? srpol_fabric_via(f, word) : 0,
	};
	struct srpol_alg_input in = {
		.fabric = f, .links = links, .demands = &d, .n = 1,
	};
	struct srpol_placement *p = srpol_placement_new(1);
	double finish;

	srpol_placement_add(p, 0, number, 1);
	srpol_placement_end(p, 0);
	assert_int_equal(srpol_predict(&in, p, coupled, NULL, &finish), 0);
	srpol_placement_free(p);
	return finish;
}

static void is_near(double a, double b)
{
	if (fabs(a - b) > 1e-6 * b)
		print_error("%g is not %g\n", a, b);
	assert_true(fabs(a - b) <= 1e-6 * b);
}

static void model(void **state)
{
	(void)state;
	int coupled;

	for (coupled = 0; coupled < 2; coupled++) {
		/* behind spine2 there are 8 Gbit/s */
		is_near(seconds(NULL, 1, coupled), 1);
		is_near(seconds("sum", 1, coupled), 0.25);
		/* spine3 takes in 5 Gbit/s; whom it does not concern, passes */
		is_near(seconds("sum", 2, coupled), 1.6);
		is_near(seconds(NULL, 2, coupled), 0.1);
		is_near(seconds("zip", 2, coupled), 0.1);
		is_near(seconds("opaque", 1, coupled), 1);
	}
}

/* One to two: over a multicast the sender's NIC has it once. */
static void model_multicast(void **state)
{
	(void)state;
	struct srpol_demand demands[] = {
		{ .src = A, .dst = C, .bytes = GB },
		{ .src = A, .dst = D, .bytes = GB },
	};
	struct srpol_alg_input in = {
		.fabric = f, .links = links, .demands = demands, .n = 2,
	};
	struct srpol_placement *p = srpol_placement_new(2);
	double finish[2];

	srpol_placement_add(p, 0, 0, 1);
	srpol_placement_end(p, 0);
	srpol_placement_add(p, 1, 0, 1);
	srpol_placement_end(p, 1);
	assert_int_equal(srpol_predict(&in, p, false, NULL, finish), 0);
	is_near(finish[1], 0.2);
	demands[0].via = demands[1].via = srpol_fabric_via(f, "copy");
	assert_int_equal(srpol_predict(&in, p, false, NULL, finish), 0);
	/* leaf2 still gets both */
	is_near(finish[1], 0.2);
	srpol_links_set_capacity(links, f->nics[f->gpus[A].nic].link, 8 * GB);
	assert_int_equal(srpol_predict(&in, p, false, NULL, finish), 0);
	is_near(finish[1], 1);
	demands[0].via = demands[1].via = 0;
	assert_int_equal(srpol_predict(&in, p, false, NULL, finish), 0);
	is_near(finish[1], 2);
	srpol_placement_free(p);
	down(state);
	up(state);
}

/* Where a plan says nothing, or what it says does not fit, time is none. */
static void plan_goes_through(void **state)
{
	(void)state;
	struct srpol_planner planner = {
		.fabric = f, .alg = srpol_alg_find("wecmp"),
	};
	struct srpol_demand d = {
		.src = A, .dst = C, .bytes = GB, .color = 1,
		.via = srpol_fabric_via(f, "sum"),
	};
	const uint8_t *weights;
	double finish;
	uint32_t n;

	assert_int_equal(srpol_planner_run(&planner, links, &d, 1, &err), 0);
	weights = srpol_plan_find(planner.plan, srpol_fabric_node(f, "leaf1"),
				  srpol_fabric_node(f, "leaf2"), 0, &n);
	assert_int_equal(n, 4);
	assert_int_equal(weights[0] + weights[3], 0);
	assert_true(weights[1] && weights[2]);
	assert_int_equal(srpol_completion(f, links, planner.plan, &d, 1,
					  &finish), 0);
	assert_true(isfinite(finish));
	/* it is placed anew when it asks for something else, and only then */
	assert_int_equal(srpol_planner_run(&planner, links, &d, 1, &err), 0);
	assert_int_equal(planner.placed, 0);
	d.via = srpol_fabric_via(f, "copy");
	assert_int_equal(srpol_completion(f, links, planner.plan, &d, 1,
					  &finish), 0);
	assert_true(isinf(finish));
	assert_int_equal(srpol_planner_run(&planner, links, &d, 1, &err), 0);
	assert_int_equal(planner.placed, 1);
	weights = srpol_plan_find(planner.plan, srpol_fabric_node(f, "leaf1"),
				  srpol_fabric_node(f, "leaf2"), 0, &n);
	assert_int_equal(weights[0], 15);
	assert_int_equal(weights[1] + weights[2] + weights[3], 0);
	srpol_planner_free(&planner);
}

/* Bandwidth is kept as if it did nothing, on paths that pass it. */
static void holds_go_through(void **state)
{
	(void)state;
	struct srpol_demand d = {
		.src = A, .dst = C, .bytes = GB,
		.via = srpol_fabric_via(f, "zip"),
	};
	struct srpol_ledger ledger = { .fabric = f, .links = links };
	struct srpol_hold want = {
		.color = 5, .rate = 60 * GB, .demands = &d, .n = 1,
	};
	struct srpol_offer offer;
	const uint8_t *weights;
	uint32_t n;

	assert_int_equal(srpol_ledger_offer(&ledger, &want, &offer), 0);
	assert_true(offer.fits);
	weights = srpol_plan_find(offer.weights, srpol_fabric_node(f, "leaf1"),
				  srpol_fabric_node(f, "leaf2"), 0, &n);
	assert_int_equal(weights[2], 15);
	assert_int_equal(weights[0] + weights[1] + weights[3], 0);
	srpol_plan_free(offer.weights);
	srpol_links_set_capacity(links, srpol_fabric_link(f,
		srpol_fabric_node(f, "leaf1"), srpol_fabric_node(f, "spine3")),
		0);
	assert_int_equal(srpol_ledger_offer(&ledger, &want, &offer), 0);
	assert_false(offer.fits);
	assert_int_equal(offer.link, SRPOL_NONE);
	assert_int_equal(offer.most, 0);
	srpol_plan_free(offer.weights);
	down(state);
	up(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(algorithms_choose),
		cmocka_unit_test(minmax_leaves),
		cmocka_unit_test(planes),
		cmocka_unit_test(model),
		cmocka_unit_test(model_multicast),
		cmocka_unit_test(plan_goes_through),
		cmocka_unit_test(holds_go_through),
	};

	return cmocka_run_group_tests(tests, up, down);
}
