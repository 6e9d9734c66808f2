// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of the srpol command where it prints more than once: in a batch, or a monitor.
 * The maps are played here, and change in between.
 */
#include <errno.h>
#include <string.h>

#include "test.h"
#undef ARRAY_SIZE
#include "srpol.h"

static unsigned int opened, is_open, generation;
static uint64_t printed, errors;

int srpol_map_open(const char *name)
{
	is_open++;
	return 1000 * generation + ++opened;
}

void srpol_map_close(int fd)
{
	assert_true(fd > 0 && is_open);
	is_open--;
}

/* The map that is there now is the one that is read. */
int srpol_map_sum(int fd, uint32_t id, void *sum, size_t len)
{
	struct srpol_counter *c = sum;

	assert_int_equal(fd / 1000, generation);
	c->packets = 100 * generation + id;
	return 0;
}

int srpol_error_next(int fd, struct srpol_error_key *key, bool first, uint64_t *count)
{
	if (!first)
		return -ENOENT;
	*key = (struct srpol_error_key){ .kind = SRPOL_ERROR_PATH, .id = 7 };
	*count = errors;
	return 0;
}

void out_count(const char *key, const char *fmt, uint64_t value)
{
	if (!strcmp(key, "packets"))
		printed = value;
}

void out_uint(const char *key, const char *fmt, uint64_t value)
{
}

void out_text(const char *fmt, ...)
{
}

void out_object(const char *key)
{
}

void out_object_end(void)
{
}

const char *srpol_reason_name(unsigned int reason)
{
	return "reason";
}

int srpol_dp_status(struct srpol_dp_status *st, struct srpol_error *err)
{
	return 0;
}

int srpol_dp_check_layout(struct srpol_error *err)
{
	return 0;
}

int refused(int err, const struct srpol_error *error)
{
	return EXIT_REFUSED;
}

static void test_again(void **state)
{
	for (generation = 1; generation < 3; generation++) {
		errors = 5 * generation;
		counters_forget();
		print_counter("path_stats", 3);
		assert_int_equal(printed, 100 * generation + 3);
		assert_int_equal(find_error(SRPOL_ERROR_PATH, 7, 0), errors);
	}
}

static void test_listing(void **state)
{
	unsigned int before;

	counters_forget();
	before = opened;
	print_counter("path_stats", 3);
	print_counter("path_stats", 4);
	assert_int_equal(opened, before + 1);
}

static void test_both(void **state)
{
	unsigned int i;

	for (i = 0; i < 10; i++) {
		print_counter("path_stats", 3);
		print_counter("policy_stats", 3);
		find_error(SRPOL_ERROR_PATH, 7, 0);
	}
	assert_int_equal(is_open, 1);
	counters_forget();
	assert_int_equal(is_open, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_listing),
		cmocka_unit_test(test_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
