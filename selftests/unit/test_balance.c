// SPDX-License-Identifier: GPL-2.0
/*
 * When srpold's weights change: its own code, with a clock of the test's.
 */
#include <limits.h>

#include "srpol_lib.h"
#include "srpold.h"
#include "test.h"

#define MS	1000000ull
#define S	(1000 * MS)

struct demands demands = { .all = VEC_INIT(struct demand) };
struct vec jobs = VEC_INIT(struct job);
static struct engine engine = { .policies = VEC_INIT(struct engine_policy) };
static uint64_t clock_ns = 100 * S;
static struct alarm *alarm_of;
static uint64_t alarm_at;
static unsigned int changes;

/* ---- what it needs of the rest */

uint64_t now_ns(void)
{
	return clock_ns;
}

int alarm_set(struct alarm *alarm, uint64_t ns)
{
	alarm_of = alarm;
	alarm_at = clock_ns + ns;
	return 0;
}

void alarm_stop(struct alarm *alarm)
{
	if (alarm_of == alarm)
		alarm_of = NULL;
}

int timer_open(struct source *source, uint64_t first_ns, uint64_t every_ns)
{
	source->fd = INT_MAX;
	return 0;
}

void loop_remove(struct source *source)
{
}

/* what else has weights says that they are others, each time */
bool plan_weigh(void)
{
	return true;
}

int reconcile(struct engine *e, struct srpol_error *err)
{
	changes++;
	return 0;
}

void watch_look_later(void)
{
}

void watch_look(bool whole)
{
}

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	return NULL;
}

bool liveness_usable(const struct liveness *l)
{
	return true;
}

void job_qps_read(void)
{
}

bool rules_are_left_out(void)
{
	return false;
}

void job_rules(struct engine *e)
{
}

void job_place_look(struct engine *e)
{
}

void speeds_look(void)
{
}

void marks_read(struct engine *e)
{
}

void wiring_look(struct engine *e)
{
}

void glb_look(void)
{
}

void link_name(const struct srpol_fabric *f, uint32_t link, char *name, size_t len)
{
}

void log_error(const char *fmt, ...)
{
	fail_msg("%s", fmt);
}

void log_notice(const char *fmt, ...)
{
}

/* ---- the tests */

static void pass(uint64_t ns)
{
	struct alarm *alarm = alarm_of;

	clock_ns += ns;
	if (!alarm || alarm_at > clock_ns)
		return;
	alarm_of = NULL;
	alarm->ring(alarm->data);
}

static int start(void **state)
{
	struct srpol_error err;

	engine.config.weights.interval_ns = S;
	clock_ns += 100 * S;
	alarm_of = NULL;
	changes = 0;
	return balance_start(&engine, &err);
}

static void once_an_interval(void **state)
{
	balance_soon();
	assert_int_equal(changes, 1);
	pass(100 * MS);
	balance_soon();
	balance_soon();
	assert_int_equal(changes, 1);
	pass(899 * MS);
	assert_int_equal(changes, 1);
	pass(MS);
	assert_int_equal(changes, 2);
	pass(10 * S);
	assert_int_equal(changes, 2);
}

/* What waits for the end of an interval is done with, and not done again. */
static void nothing_after_apply(void **state)
{
	balance_soon();
	pass(100 * MS);
	balance_soon();
	pass(800 * MS);
	balance_apply();
	assert_int_equal(changes, 2);
	pass(100 * MS);
	assert_int_equal(changes, 2);
	balance_soon();
	pass(899 * MS);
	assert_int_equal(changes, 2);
	pass(MS);
	assert_int_equal(changes, 3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(once_an_interval, start),
		cmocka_unit_test_setup(nothing_after_apply, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
