// SPDX-License-Identifier: GPL-2.0
/*
 * srpol export reads a configuration that others change. The module is played here:
 * a change adds a path, and a policy with it.
 */
#include <string.h>

#include "test.h"
#undef ARRAY_SIZE
#include "export.h"

static uint32_t generation, changes;

/* A change comes between the paths and the policies, this many times. */
int fetch_paths(struct vec *paths)
{
	vec_free(paths);
	if (generation)
		vec_add(paths);
	if (changes) {
		changes--;
		generation++;
	}
	return EXIT_OK;
}

int fetch_policies(struct vec *policies)
{
	vec_free(policies);
	if (generation)
		vec_add(policies);
	return EXIT_OK;
}

int fetch_config(struct config_info *config)
{
	memset(config, 0, sizeof(*config));
	config->generation = generation;
	return EXIT_OK;
}

static int sids = EXIT_OK;

int fetch_sids(struct vec *vec)
{
	return sids;
}

int fetch_rules(struct vec *rules)
{
	return EXIT_OK;
}

int fetch_endpoints(struct vec *endpoints)
{
	return EXIT_OK;
}

int fetch_devs(struct vec *devs)
{
	return EXIT_OK;
}

int complain(const char *fmt, ...)
{
	return EXIT_USAGE;
}

static void test_changes(void **state)
{
	struct all all;
	uint32_t n;

	for (n = 0; n < 5; n++) {
		generation = 0;
		changes = n;
		assert_int_equal(fetch_all(&all), EXIT_OK);
		assert_int_equal(all.paths.n, n > 0);
		assert_int_equal(all.policies.n, n > 0);
		assert_int_equal(all.config.generation, n);
		free_all(&all);
	}
}

static void test_ends(void **state)
{
	struct all all;

	generation = 0;
	changes = UINT32_MAX;
	assert_int_equal(fetch_all(&all), EXIT_REFUSED);
	free_all(&all);
	/* not read again: that was told already */
	generation = 0;
	sids = EXIT_REFUSED;
	assert_int_equal(fetch_all(&all), EXIT_REFUSED);
	assert_int_equal(generation, 1);
	free_all(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
