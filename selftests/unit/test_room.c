// SPDX-License-Identifier: GPL-2.0
/* Jobs that were added, of which the store has not told yet: which ones, and their room. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "srpol_lib.h"
#include "tenants.h"
#include "test.h"

#define MIB	(1 << 20)

struct fabricd fabricd;

static uint64_t clock_ns;
static uint64_t cluster, revision;	/* of what was heard of jobs */

uint64_t now_ns(void)
{
	return clock_ns;
}

bool inputs_jobs_heard(uint64_t of, uint64_t up_to)
{
	return of == cluster && up_to <= revision;
}

const struct input *inputs_with_prefix(const struct vec *list, const char *prefix, size_t *n)
{
	*n = 0;
	return NULL;
}

const char *key_job(char *buf, const char *tenant, const char *job)
{
	snprintf(buf, STORE_KEY_LEN, "job/%s/%s", tenant, job);
	return buf;
}

static int setup(void **state)
{
	(void)state;
	clock_ns = NS_PER_SEC;
	cluster = 1;
	revision = 10;
	return 0;
}

/* The store has told of everything. */
static int teardown(void **state)
{
	(void)state;
	clock_ns += 3600 * NS_PER_SEC;
	assert_false(room_awaits(""));
	return 0;
}

static void written(struct room_add *a, uint64_t in, uint64_t at)
{
	room_end(a, &(struct store_reply){
		.succeeded = true, .cluster = in, .revision = at,
	});
}

static void refused(struct room_add *a)
{
	room_end(a, &(struct store_reply){ .cluster = cluster, .revision = revision });
}

static int check_room(size_t len)
{
	struct srpol_error err = {};

	return room_check("job//more", len, "", &err);
}

static void test_by_key(void **state)
{
	struct room_add *a = room_begin("job//a", 1), *b = room_begin("job//b", 1);

	(void)state;
	assert_true(room_awaits("job//a"));
	assert_true(room_awaits("job//b"));
	assert_false(room_awaits("job//c"));
	written(b, 1, 12);
	written(a, 1, 11);
	assert_true(room_awaits("job//a"));
	revision = 11;
	assert_false(room_awaits("job//a"));
	assert_true(room_awaits("job//b"));
	revision = 12;
	assert_false(room_awaits("job//b"));
}

/* Two are asked for at once, and one of them is refused. */
static void test_refused(void **state)
{
	struct room_add *a = room_begin("job//a", 1), *b = room_begin("job//a", 1);

	(void)state;
	written(a, 1, 11);
	refused(b);
	assert_true(room_awaits("job//a"));
	revision = 11;
	assert_false(room_awaits("job//a"));
	refused(room_begin("job//c", 1));
	assert_false(room_awaits("job//c"));
}

/* Another store has other revisions, and none of what the one before had. */
static void test_cluster(void **state)
{
	struct room_add *a = room_begin("job//a", 1), *b = room_begin("job//b", 1);
	struct room_add *c = room_begin("job//c", 1);

	(void)state;
	written(a, 1, 1000);
	/* its answer comes before what was read of it */
	written(b, 2, 3);
	assert_true(room_awaits("job//b"));
	cluster = 2;
	revision = 2;
	room_read(cluster);
	assert_false(room_awaits("job//a"));
	assert_true(room_awaits("job//b"));
	assert_true(room_awaits("job//c"));
	refused(c);
	revision = 3;
	assert_false(room_awaits("job//b"));
}

static void test_room(void **state)
{
	struct room_add *a = room_begin("job//a", 6 * MIB), *b = room_begin("job//b", 6 * MIB);

	(void)state;
	assert_int_equal(check_room(3 * MIB), 0);
	assert_int_equal(check_room(6 * MIB), -EAGAIN);
	written(a, 1, 11);
	written(b, 1, 12);
	assert_int_equal(check_room(6 * MIB), -EAGAIN);
	/* the other one is not waited for */
	revision = 11;
	assert_int_equal(check_room(6 * MIB), 0);
	assert_int_equal(check_room(11 * MIB), -EAGAIN);
	assert_int_equal(check_room(17 * MIB), -ENOSPC);
	revision = 12;
	assert_int_equal(check_room(11 * MIB), 0);
}

/* A store that was restored may never have that revision. */
static void test_forgotten(void **state)
{
	struct room_add *a = room_begin("job//a", 1);

	(void)state;
	written(a, 1, 11);
	clock_ns += 50 * NS_PER_SEC;
	assert_true(room_awaits("job//a"));
	clock_ns += 20 * NS_PER_SEC;
	assert_false(room_awaits("job//a"));
	a = room_begin("job//b", 1);
	clock_ns += 70 * NS_PER_SEC;
	assert_true(room_awaits("job//b"));
	refused(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_by_key, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cluster, setup, teardown),
		cmocka_unit_test_setup_teardown(test_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forgotten, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
