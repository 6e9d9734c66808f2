// SPDX-License-Identifier: GPL-2.0
/* What the command prints: counters for people. */
#include "test.h"
#include "out.h"

/* The text of a counter, to be freed. */
static char *count(uint64_t value)
{
	FILE *saved = stdout;
	char *text = NULL;
	size_t len;

	stdout = open_memstream(&text, &len);
	assert_non_null(stdout);
	out_count("key", "%s", value);
	fclose(stdout);
	stdout = saved;
	return text;
}

static void test_count(void **state)
{
	static const struct {
		uint64_t value;
		const char *human;
	} rows[] = {
		{ 0, "0" }, { 999, "999" }, { 1000, "1k" }, { 1234, "1.23k" },
		{ 99940, "99.9k" }, { 999499, "999k" }, { 999500, "1M" },
		{ 999999, "1M" }, { 1000000, "1M" }, { 999600000000, "1T" },
		{ 45000000000000, "45T" }, { 1020000000000000, "1.02P" },
		{ UINT64_MAX, "18.4E" },
	};
	char *text, exact[32];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		out_options.human = true;
		text = count(rows[i].value);
		assert_string_equal(text, rows[i].human);
		free(text);
		out_options.human = false;
		text = count(rows[i].value);
		snprintf(exact, sizeof(exact), "%llu",
			 (unsigned long long)rows[i].value);
		assert_string_equal(text, exact);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
