// SPDX-License-Identifier: GPL-2.0
/* Names of what srpold makes: as they are, or cut and still different. */
#include <string.h>

#include "srpold.h"
#include "test.h"

static void fits(void **state)
{
	char name[SRPOL_NAME_MAX + 1];

	(void)state;
	engine_name(name, "");
	assert_string_equal(name, "");
	engine_name(name, "A-spine1-B");
	assert_string_equal(name, "A-spine1-B");
	engine_name(name, "0123456789012345678901234567890");
	assert_string_equal(name, "0123456789012345678901234567890");
}

static void is_cut(void **state)
{
	char one[SRPOL_NAME_MAX + 1], other[SRPOL_NAME_MAX + 1];

	(void)state;
	engine_name(one, "gpu-node-0001-spine-1-gpu-node-0002");
	assert_int_equal(strlen(one), SRPOL_NAME_MAX);
	assert_int_equal(strncmp(one, "gpu-node-0001-spine-1-~", 23), 0);
	engine_name(other, "gpu-node-0001-spine-1-gpu-node-0003");
	assert_string_not_equal(one, other);
	engine_name(other, "gpu-node-0001-spine-1-gpu-node-0002");
	assert_string_equal(one, other);
}

/* The module takes nothing but UTF-8. */
static void keeps_characters_whole(void **state)
{
	char text[40], name[SRPOL_NAME_MAX + 1];
	size_t at;

	(void)state;
	for (at = 16; at < 24; at++) {
		memset(text, 'x', sizeof(text) - 1);
		text[sizeof(text) - 1] = '\0';
		memcpy(text + at, "\U0001f680", 4);
		engine_name(name, text);
		assert_true(at < 19 ? strstr(name, "\U0001f680") != NULL :
			    strchr(name, '\xf0') == NULL);
		assert_int_equal(strlen(name), at < 19 ? SRPOL_NAME_MAX :
				 at < 22 ? at + 9 : SRPOL_NAME_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fits),
		cmocka_unit_test(is_cut),
		cmocka_unit_test(keeps_characters_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
