// SPDX-License-Identifier: GPL-2.0
/* A job is said to be left out if it is left out of the plan, and not of an answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "forecasts.h"
#include "srpol_lib.h"
#include "test.h"

#define MOST	10	/* demands that are read at once */

struct fabricd fabricd;
static bool paths[1];
static const struct tenant red = { .name = "red", .color = 7, .allowed = paths };
static const struct tenant green = { .name = "green", .color = 8 };
static bool green_is_there;
static bool is_told;			/* hosts have been told of all reservations */
static unsigned int told;

void log_error(const char *fmt, ...)
{
	told++;
}

const struct tenant *tenant_find(const char *name)
{
	if (green_is_there && !strcmp(name, green.name))
		return &green;
	return strcmp(name, red.name) ? NULL : &red;
}

struct reservation *reservation_find(const char *tenant, const char *job)
{
	return is_told ? (void *)&red : NULL;
}

bool reservation_is_told(const struct reservation *r)
{
	return r;
}

int via_check(const char *tenant, uint32_t via, struct srpol_error *err)
{
	return strcmp(tenant, "green") || !via ? 0 : -EINVAL;
}

int forecasts_add(struct workload *w, bool count)
{
	return 0;
}

const char *key_job(char *buf, const char *tenant, const char *job)
{
	return buf;
}

const struct input *inputs_with_prefix(const struct vec *list, const char *prefix, size_t *n)
{
	return NULL;
}

/* A job has as many demands as its text has characters. */
int srpol_demands_read(const struct srpol_fabric *f, const char *text, size_t len,
		       struct srpol_demands *demands, struct srpol_error *err)
{
	if (demands->n + len > MOST)
		return -E2BIG;
	demands->list = demands->list ?: calloc(MOST, sizeof(*demands->list));
	demands->n += len;
	return 0;
}

void srpol_demands_free(struct srpol_demands *demands)
{
	free(demands->list);
}

static struct input job(const char *key, const char *text)
{
	return (struct input){ .key = (char *)key, .text = (char *)text,
			       .len = strlen(text), .sends = true };
}

/* Number of demands of a part. */
static uint32_t demands_of(enum workload_part part)
{
	struct workload w;
	uint32_t n;

	assert_int_equal(workload_read(part, &red, &w), 0);
	n = w.demands.n;
	workload_free(&w);
	return n;
}

/* Each part of the plan takes its job, and all of them together are too many. */
static void test_answer(void **state)
{
	struct input jobs[] = { job("job/blue/a", "1234567"), job("job/red/a", "1234567") };

	fabricd.jobs = (struct vec){ .data = jobs, .n = 2, .size = sizeof(*jobs) };
	told = 0;
	assert_int_equal(demands_of(WORKLOAD_FORECAST), 7);
	assert_int_equal(demands_of(WORKLOAD_SLICED), 7);
	assert_int_equal(demands_of(WORKLOAD_ALL), 7);
	assert_int_equal(demands_of(WORKLOAD_JOBS), 7);
	assert_int_equal(told, 0);
	/* nor has an answer other jobs in its parts */
	workload_plans(false);
	jobs[1].len = 3;
	assert_int_equal(demands_of(WORKLOAD_FORECAST), 7);
	assert_int_equal(demands_of(WORKLOAD_SLICED), 3);
	assert_int_equal(demands_of(WORKLOAD_FLOWS), 0);
	workload_plans(true);
}

/* One that is left out of the plan is told once, whatever is asked meanwhile. */
static void test_plan(void **state)
{
	struct input jobs[] = { job("job/blue/a", "1234567"), job("job/blue/b", "1234567"),
				job("job/red/a", "123") };

	fabricd.jobs = (struct vec){ .data = jobs, .n = 3, .size = sizeof(*jobs) };
	jobs[1].epoch = 3;
	told = 0;
	assert_int_equal(demands_of(WORKLOAD_FORECAST), 7);
	assert_int_equal(told, 1);
	assert_int_equal(demands_of(WORKLOAD_ALL), 10);
	assert_int_equal(demands_of(WORKLOAD_FORECAST), 7);
	assert_int_equal(told, 1);
	/* it is in no epoch, and answers say nothing of all this */
	assert_int_equal(jobs[1].epoch, 0);
	workload_plans(false);
	jobs[0].len = 1;
	assert_int_equal(demands_of(WORKLOAD_FORECAST), 8);
	assert_true(jobs[1].left_out);
	workload_plans(true);
	jobs[0].len = 7;
	/* there is room, and then there is none once more */
	jobs[0].len = 1;
	assert_int_equal(demands_of(WORKLOAD_FORECAST), 8);
	jobs[0].len = 7;
	assert_int_equal(demands_of(WORKLOAD_ALL), 10);
	assert_int_equal(told, 1);
	assert_int_equal(demands_of(WORKLOAD_FORECAST), 7);
	assert_int_equal(told, 2);
}

/* One that passes a function, of a tenant whose other jobs pass none, is in no part. */
static void test_other_function(void **state)
{
	struct input jobs[] = { job("job/green/a", "12"), job("job/green/b", "12") };

	green_is_there = true;
	jobs[1].via = 3;
	fabricd.jobs = (struct vec){ .data = jobs, .n = 2, .size = sizeof(*jobs) };
	told = 0;
	assert_int_equal(demands_of(WORKLOAD_FORECAST), 2);
	assert_int_equal(demands_of(WORKLOAD_SLICED), 0);
	assert_int_equal(demands_of(WORKLOAD_FORECAST), 2);
	assert_int_equal(told, 1);
	assert_true(!jobs[0].left_out && jobs[1].left_out);
	/* it may be planned for by now, but an answer is not in force */
	workload_plans(false);
	jobs[1].via = 0;
	assert_int_equal(demands_of(WORKLOAD_FORECAST), 4);
	assert_true(jobs[1].left_out);
	jobs[1].via = 3;
	workload_plans(true);
	/* one with bandwidth has its paths all the same */
	jobs[1].left_out = false;
	is_told = true;
	assert_int_equal(demands_of(WORKLOAD_FORECAST), 0);
	is_told = false;
	assert_int_equal(told, 1);
	assert_false(jobs[1].left_out);
	jobs[1].via = 0;
	assert_int_equal(demands_of(WORKLOAD_FORECAST), 4);
	assert_false(jobs[1].left_out);
	green_is_there = false;
}

static int set_up(void **state)
{
	workload_plans(true);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_other_function),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
