// SPDX-License-Identifier: GPL-2.0
/*
 * What demands that begin and end will put on links, in fabrics that are small
 * enough to know it; and when jobs say that they send.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "horizon.h"
#include "srpol_lib.h"
#include "test.h"
#include "times.h"

#define G	1000000000ull
#define GB	1000000000ull

static struct srpol_fabric *fabric;
static struct srpol_links *links;
static struct srpol_planner planner;
static struct srpol_horizon at[3];
static struct srpol_outlook outlook;

/* GPUs 0 and 1 are on one leaf, 2 and 3 on the other; all links have 100G. */
static void build(u32 spines, u64 first_spine)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(2, 2, spines,
							  100 * G);
	u32 leaf, link;

	fabric = srpol_fabric_generate(&shape, NULL);
	assert_non_null(fabric);
	links = srpol_links_new(fabric);
	leaf = fabric->nics[fabric->gpus[0].nic].leaf;
	link = srpol_node_up(fabric, leaf, 0);
	srpol_links_set_capacity(links, link, first_spine);
	srpol_links_set_capacity(links, link ^ 1, first_spine);
	planner = (struct srpol_planner){
		.fabric = fabric, .alg = srpol_alg_find("wecmp"),
	};
	assert_int_equal(srpol_planner_run(&planner, links, NULL, 0, NULL), 0);
}

static void look(const struct srpol_timed *timed, u32 n, const double *base)
{
	bool no_finish = outlook.no_finish;

	srpol_outlook_free(&outlook);
	at[0] = (struct srpol_horizon){ .at = 1 };
	at[1] = (struct srpol_horizon){ .at = 5 };
	at[2] = (struct srpol_horizon){ .at = 10 };
	outlook = (struct srpol_outlook){
		.fabric = fabric, .no_finish = no_finish, .links = links, .plan = planner.plan,
		.timed = timed, .n = n, .base = base, .horizons = at,
		.n_horizons = 3,
	};
	assert_int_equal(srpol_outlook_run(&outlook), 0);
}

static int teardown(void **state)
{
	(void)state;
	srpol_outlook_free(&outlook);
	outlook = (struct srpol_outlook){};
	srpol_planner_free(&planner);
	srpol_links_free(links);
	srpol_fabric_free(fabric);
	return 0;
}

static struct srpol_timed timed(u32 src, u32 dst, u64 bytes, double start,
				double end, u64 rate)
{
	return (struct srpol_timed){
		.demand = { .src = src, .dst = dst, .bytes = bytes, .color = 1 },
		.start = start, .end = end, .rate = rate,
	};
}

/* From the leaf of GPU 0 upwards. */
static u32 uplink(u32 spine)
{
	return srpol_node_up(fabric, fabric->nics[fabric->gpus[0].nic].leaf,
			     spine);
}

static void near(double is, double want)
{
	if (fabs(is - want) > 1e-6 * fmax(1, fabs(want)))
		fail_msg("%g is not %g", is, want);
}

static void expect(u32 h, u32 active, u32 overloaded, double load)
{
	assert_int_equal(at[h].active, active);
	assert_int_equal(at[h].overloaded, overloaded);
	near(at[h].load[uplink(0)], load);
}

/* By thirds, which doubles do not have: nothing of them is left as a load. */
static void test_over(void **state)
{
	struct srpol_timed list[] = {
		timed(0, 2, GB, 0, 2, 99 * G), timed(0, 2, GB, 0, 3, 2),
	};

	(void)state;
	build(3, 100 * G);
	look(list, 2, NULL);
	assert_int_equal(at[0].active, 2);
	assert_int_not_equal(at[0].hottest, SRPOL_NONE);
	assert_int_equal(at[1].active, 0);
	assert_int_equal(at[1].hottest, SRPOL_NONE);
	assert_int_equal(at[2].hottest, SRPOL_NONE);
	/* what begins at the last horizon is there, what ends there is not */
	list[0] = timed(0, 2, GB, 10, 11, G);
	list[1] = timed(0, 2, GB, 9, 10, G);
	look(list, 1, NULL);
	assert_int_equal(at[2].active, 1);
	look(list + 1, 1, NULL);
	assert_int_equal(at[2].active, 0);
}

static void test_nothing(void **state)
{
	(void)state;
	build(1, 100 * G);
	look(NULL, 0, NULL);
	expect(0, 0, 0, 0);
	expect(2, 0, 0, 0);
	assert_int_equal(at[1].hottest, SRPOL_NONE);
	assert_int_equal(outlook.link, SRPOL_NONE);
}

/* Two that are too much together, from 2.5 s to 4 s. */
static void test_overload(void **state)
{
	struct srpol_timed d[2];

	(void)state;
	build(1, 100 * G);
	d[0] = timed(0, 2, GB, 0, 4, 60 * G);
	d[1] = timed(1, 3, GB, 2.5, 20, 60 * G);
	look(d, 2, NULL);
	expect(0, 1, 0, 60e9);
	expect(1, 1, 0, 60e9);
	expect(2, 1, 0, 60e9);
	assert_int_equal(fabric->links[outlook.link].from,
			 fabric->links[uplink(0)].from);
	near(outlook.when, 2.5);
	near(outlook.load, 120e9);
	/* at a horizon: up to the spine, and down from it */
	d[0].end = 5.05;
	look(d, 2, NULL);
	expect(1, 2, 2, 120e9);
	near(outlook.when, 2.5);
	/* it is there already */
	d[1].start = 0;
	look(d, 2, NULL);
	near(outlook.when, 0);
	/* as much as a link carries is not too much */
	d[1].rate = 40 * G;
	look(d, 2, NULL);
	expect(0, 2, 0, 100e9);
	assert_int_equal(outlook.link, SRPOL_NONE);
}

static void test_edges(void **state)
{
	struct srpol_timed d[3];

	(void)state;
	build(1, 100 * G);
	/* one ends when the other one begins */
	d[0] = timed(0, 2, GB, 0, 5, 60 * G);
	d[1] = timed(1, 3, GB, 5, 10, 60 * G);
	look(d, 2, NULL);
	expect(1, 1, 0, 60e9);
	expect(2, 0, 0, 0);
	assert_int_equal(outlook.link, SRPOL_NONE);
	assert_int_equal(at[2].hottest, SRPOL_NONE);
	/* one that is shorter than a tick is not missed */
	d[2] = timed(1, 3, GB, 3.01, 3.02, 60 * G);
	look(d, 3, NULL);
	near(outlook.when, 3);
	near(outlook.load, 120e9);
	/* after the last horizon nobody looks; never it is not there */
	d[2] = timed(1, 3, GB, 10.1, INFINITY, 200 * G);
	look(d, 3, NULL);
	assert_int_equal(outlook.link, SRPOL_NONE);
	d[2].start = 9.9;
	look(d, 3, NULL);
	near(outlook.when, 9.9);
	/* whose end comes before its begin is none */
	d[2] = timed(1, 3, GB, 2, 1, 200 * G);
	look(d, 3, NULL);
	expect(0, 1, 0, 60e9);
	assert_int_equal(outlook.link, SRPOL_NONE);
}

static void test_base(void **state)
{
	struct srpol_timed d = timed(0, 2, GB, 7, 8, 60 * G);
	double *base;

	(void)state;
	build(1, 100 * G);
	base = calloc(fabric->n_links, sizeof(*base));
	base[uplink(0)] = 50e9;
	look(&d, 1, base);
	expect(0, 0, 0, 50e9);
	assert_int_equal(at[0].hottest, uplink(0));
	assert_int_equal(outlook.link, uplink(0));
	near(outlook.when, 7);
	near(outlook.load, 110e9);
	free(base);
}

/* By the plan's weights: a spine with a third of the other one's, or none. */
static void test_weights(void **state)
{
	struct srpol_timed d = timed(0, 2, GB, 0, INFINITY, 80 * G);

	(void)state;
	build(2, 50 * G);
	look(&d, 1, NULL);
	near(at[0].load[uplink(0)] + at[0].load[uplink(1)], 80e9);
	teardown(NULL);
	build(2, 0);
	look(&d, 1, NULL);
	near(at[0].load[uplink(0)], 0);
	near(at[0].load[uplink(1)], 80e9);
	assert_int_equal(outlook.link, SRPOL_NONE);
	/* nowhere to go: none of its links is too full, and it never ends */
	teardown(NULL);
	build(1, 0);
	look(&d, 1, NULL);
	assert_int_equal(outlook.link, SRPOL_NONE);
	assert_true(isinf(outlook.finish[0]));
	assert_int_equal(at[2].ended, 0);
}

/* 12.5 GB are 1 s of 100G. */
static void test_finish(void **state)
{
	struct srpol_timed d[3];

	(void)state;
	build(1, 100 * G);
	d[0] = timed(0, 2, GB * 25 / 2, 0, INFINITY, 0);
	d[1] = timed(1, 3, GB * 25 / 2, 2, INFINITY, 0);
	look(d, 2, NULL);
	near(outlook.finish[0], 1);
	near(outlook.finish[1], 3);
	assert_int_equal(outlook.untimed, 2);
	assert_int_equal(at[0].ended, 1);
	assert_int_equal(at[1].ended, 2);
	/* together, and one that comes when half of it is over */
	d[1].start = 0;
	look(d, 2, NULL);
	near(outlook.finish[0], 2);
	near(outlook.finish[1], 2);
	d[1].start = 0.5;
	look(d, 2, NULL);
	near(outlook.finish[0], 1.5);
	near(outlook.finish[1], 2);
	/* what is offered does not hold it back, and what stays in a host is sent */
	d[0].rate = G;
	d[0].end = 100;
	d[2] = timed(1, 1, GB, 4, INFINITY, 0);
	look(d, 3, NULL);
	near(outlook.finish[0], 1.5);
	near(outlook.finish[2], 4);
	assert_int_equal(outlook.untimed, 2);
}

/* Loads are the same without that. */
static void test_no_finish(void **state)
{
	struct srpol_timed d = timed(0, 2, GB * 25 / 2, 0, 6, 120 * G);

	(void)state;
	build(1, 100 * G);
	outlook.no_finish = true;
	look(&d, 1, NULL);
	expect(1, 1, 4, 120e9);
	near(outlook.when, 0);
	assert_int_equal(at[2].ended, 0);
}

static int times(const char *text, struct srpol_times *to)
{
	json_t *o = json_loads(text, 0, NULL);
	struct srpol_error err = {};
	int ret = srpol_times_read(o, to, &err);

	assert_non_null(o);
	assert_true(!ret == !err.text[0]);
	json_decref(o);
	return ret;
}

static void test_times(void **state)
{
	static const char * const wrong[] = {
		"{\"times\": 1}", "{\"times\": {\"start\": 1}}",
		"{\"times\": {\"start_ms\": -1}}",
		"{\"times\": {\"start_ms\": 9007199254740992}}",
		"{\"times\": {\"start_ms\": \"1\"}}",
		"{\"times\": {\"duration_ms\": -1}}",
		"{\"times\": {\"period_ms\": 4294967001}}",
	};
	struct srpol_demands demands = {};
	struct srpol_times t;
	struct srpol_error err;
	char text[256];
	size_t i;

	(void)state;
	build(1, 100 * G);
	assert_int_equal(times("{}", &t), 0);
	assert_int_equal(t.start_ms | t.duration_ms | t.period_ms, 0);
	assert_int_equal(times("{\"times\": {\"start_ms\": 5, \"duration_ms\": 6, \"period_ms\": 7}}",
			       &t), 0);
	assert_int_equal(t.start_ms, 5);
	assert_int_equal(t.duration_ms, 6);
	assert_int_equal(t.period_ms, 7);
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(times(wrong[i], &t), -EINVAL);
	/* in a job */
	for (i = 0; i < 2; i++) {
		snprintf(text, sizeof(text),
			 "{\"times\":{\"period_ms\":%d},\"demands\":[{\"src\":\"%s\",\"dst\":\"%s\",\"bytes\":1}]}",
			 i ? -1 : 1, fabric->nodes[fabric->gpus[0].host].name,
			 fabric->nodes[fabric->gpus[1].host].name);
		assert_int_equal(srpol_demands_read(fabric, text, strlen(text),
						    &demands, &err),
				 i ? -EINVAL : 0);
		assert_int_equal(demands.n, 1);
	}
	assert_int_equal(srpol_demands_read(fabric, "{\"times\":{}}", 12,
					    &demands, &err), -EINVAL);
	srpol_demands_free(&demands);
}

#define MANY	40000	/* demands, with 256 paths each: one computation of all rates */

/* It is refused before all of that is kept. */
static void test_too_many_paths(void **state)
{
	struct srpol_demand *demands = calloc(MANY, sizeof(*demands));
	double *finish = calloc(MANY, sizeof(*finish));
	u32 i;

	(void)state;
	assert_true(demands && finish);
	build(256, 100 * G);
	for (i = 0; i < MANY; i++)
		demands[i] = (struct srpol_demand){ .src = i % 2, .dst = 2, .bytes = GB };
	assert_int_equal(srpol_completion(fabric, links, planner.plan, demands, MANY / 10,
					  finish), 0);
	assert_int_equal(srpol_completion(fabric, links, planner.plan, demands, MANY, finish),
			 -E2BIG);
	free(demands);
	free(finish);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_nothing, teardown),
		cmocka_unit_test_teardown(test_over, teardown),
		cmocka_unit_test_teardown(test_overload, teardown),
		cmocka_unit_test_teardown(test_edges, teardown),
		cmocka_unit_test_teardown(test_base, teardown),
		cmocka_unit_test_teardown(test_weights, teardown),
		cmocka_unit_test_teardown(test_finish, teardown),
		cmocka_unit_test_teardown(test_no_finish, teardown),
		cmocka_unit_test_teardown(test_times, teardown),
		cmocka_unit_test_teardown(test_too_many_paths, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
