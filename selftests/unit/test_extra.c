// SPDX-License-Identifier: GPL-2.0
/* What the engine goes on without is tried again, and no other. */
#include <errno.h>
#include <string.h>

#include "extra.h"
#include "srpold.h"
#include "test.h"

static struct engine engine;
static int refused[2];		/* why what there is does not start */
static unsigned int starts[2], stops, late, said, told;
static uint64_t now;

uint64_t now_ns(void)
{
	return now;
}

void log_error(const char *fmt, ...)
{
	said++;
}

void log_notice(const char *fmt, ...)
{
	told++;
}

static int start(unsigned int i, struct engine *e, struct srpol_error *err)
{
	assert_ptr_equal(e, &engine);
	starts[i]++;
	return refused[i];
}

static int start_first(struct engine *e, struct srpol_error *err)
{
	return start(0, e, err);
}

static int start_second(struct engine *e, struct srpol_error *err)
{
	int ret = start(1, e, err);

	return ret ? srpol_error_set(err, ret, "no reason") : 0;
}

static void stop(void)
{
	stops++;
}

static void follow(void)
{
	late++;
}

static struct extra first = {
	.start = start_first, .stop = stop, .late = follow,
	.without = "without the first", .with = "with the first",
};
static struct extra second = {
	.start = start_second, .without = "without the second",
	.with = "with the second",
};

static int set_up(void **state)
{
	extras_stop();
	refused[0] = refused[1] = 0;
	starts[0] = starts[1] = stops = late = said = told = 0;
	return 0;
}

static void wait_for(unsigned int seconds)
{
	while (seconds--) {
		now += 1000 * NS_PER_MS;
		extras_try();
	}
}

/* At a start, or with a new configuration. */
static void test_error(void **state)
{
	struct srpol_error err = {};

	refused[1] = -EMFILE;
	assert_int_equal(extra_start(&first, &engine, false, &err), 0);
	assert_int_equal(extra_start(&second, &engine, false, &err), -EMFILE);
	assert_string_equal(err.text, "no reason");
	assert_int_equal(said, 0);
	wait_for(3600);
	assert_int_equal(starts[0], 1);
	assert_int_equal(starts[1], 1);
}

static void test_again(void **state)
{
	struct srpol_error err = {};

	refused[0] = refused[1] = -EMFILE;
	assert_int_equal(extra_start(&first, &engine, true, &err), 0);
	assert_int_equal(extra_start(&second, &engine, true, &err), 0);
	assert_string_equal(err.text, "");
	assert_int_equal(said, 2);
	assert_int_equal(stops, 1);
	/* an attempt takes its time */
	wait_for(20);
	assert_int_equal(starts[0], 1);
	/* one reason is told once */
	wait_for(10);
	assert_int_equal(said, 2);
	assert_int_equal(stops, 2);
	refused[0] = -ENOENT;
	wait_for(30);
	assert_int_equal(said, 3);
	refused[1] = 0;
	wait_for(30);
	assert_int_equal(told, 1);
	assert_int_equal(late, 0);
	refused[0] = 0;
	wait_for(30);
	assert_int_equal(told, 2);
	assert_int_equal(late, 1);
	assert_int_equal(stops, 4);
	/* what has started is left alone */
	wait_for(3600);
	assert_int_equal(starts[0], 5);
	assert_int_equal(starts[1], 4);
}

/* The engine ends meanwhile, and goes on with a new device, say. */
static void test_stop(void **state)
{
	struct srpol_error err = {};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		refused[0] = -EMFILE;
		assert_int_equal(extra_start(&first, &engine, true, &err), 0);
		extras_stop();
	}
	refused[0] = 0;
	assert_int_equal(extra_start(&first, &engine, true, &err), 0);
	wait_for(60);
	assert_int_equal(starts[0], 4);
	refused[1] = -EMFILE;
	assert_int_equal(extra_start(&second, &engine, true, &err), 0);
	wait_for(30);
	assert_int_equal(starts[0], 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_error, set_up),
		cmocka_unit_test_setup(test_again, set_up),
		cmocka_unit_test_setup(test_stop, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
