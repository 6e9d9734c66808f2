// SPDX-License-Identifier: GPL-2.0
/*
 * When srpold looks at demands to tell the global engine of them: its own code,
 * with a clock of the test's.
 */
#include <string.h>

#include "srpol_lib.h"
#include "srpold.h"
#include "test.h"

#define G	1000000000ull
#define MS	1000000ull

struct demands demands = { .all = VEC_INIT(struct demand) };
static struct srpol_fabric *fabric;
static struct engine engine;
static uint64_t clock_ns = 1000 * MS;
static struct alarm *alarm_of;
static uint64_t alarm_ns;
static bool followed;
static unsigned int told;
static struct srpol_forecast last;
static u32 n_last;

/* ---- what it needs of the rest */

uint64_t now_ns(void)
{
	return clock_ns;
}

int alarm_set(struct alarm *alarm, uint64_t ns)
{
	alarm_of = alarm;
	alarm_ns = ns;
	return 0;
}

void alarm_stop(struct alarm *alarm)
{
	alarm_of = NULL;
}

bool plan_is_followed(void)
{
	return followed;
}

uint32_t plan_host(uint32_t number)
{
	return fabric->gpus[number].host;
}

void plan_demands(uint32_t number, const struct srpol_forecasts *sum,
		  uint64_t now_ms)
{
	told++;
	n_last = sum->n;
	if (sum->n)
		last = sum->list[0];
}

/* ---- the test's side */

static int set_up(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(2, 2, 1, 100 * G);

	(void)state;
	fabric = srpol_fabric_generate(&shape, NULL);
	engine = (struct engine){ .fabric = fabric };
	engine.config.n_hosts = 1;
	engine.config.fabric.demand_ns = 500 * MS;
	followed = true;
	told = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	forecast_stop();
	vec_free(&demands.all);
	srpol_fabric_free(fabric);
	return 0;
}

static void say(u32 src, u32 dst, u64 bytes, u64 for_ms)
{
	*(struct demand *)vec_add(&demands.all) = (struct demand){
		.demand = { .src = src, .dst = dst, .bytes = bytes },
		.from_ns = clock_ns, .until_ns = clock_ns + for_ms * MS,
	};
}

static void nobody_wants_it(void **state)
{
	(void)state;
	say(0, 2, 5, 1000);
	engine.config.fabric.demand_ns = 0;
	forecast_start(&engine);
	engine.config.fabric.demand_ns = 500 * MS;
	followed = false;
	forecast_start(&engine);
	assert_null(alarm_of);
	assert_int_equal(told, 0);
}

static void each_time(void **state)
{
	(void)state;
	forecast_start(&engine);
	assert_int_equal(told, 1);
	assert_int_equal(n_last, 0);
	assert_int_equal(alarm_ns, 500 * MS);
	say(0, 2, 5, 1200);
	say(1, 2, 7, 1200);	/* another host's */
	clock_ns += 500 * MS;
	alarm_of->ring(alarm_of->data);
	assert_int_equal(told, 2);
	assert_int_equal(n_last, 1);
	assert_int_equal(last.bytes, 5);
	assert_int_equal(last.end_ms - last.start_ms, 1201);
	/* what is over is not there any more */
	clock_ns += 1000 * MS;
	alarm_of->ring(alarm_of->data);
	assert_int_equal(told, 3);
	assert_int_equal(n_last, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nobody_wants_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(each_time, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
