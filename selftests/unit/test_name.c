// SPDX-License-Identifier: GPL-2.0
/*
 * Names of objects: what is printable UTF-8 and what is not.
 */
#include "test.h"

static void test_good(void **state)
{
	static const char * const rows[] = {
		"", "a", "to-B", "two words", "a\"b\\c#d", "~",
		"\u00a0", "\u20ac", "\u00fcber", "\U0001f680", "\u4e2d\u6587",
		"\ud7ff", "\ue000", "\U0010ffff",
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (!srpol_name_valid(rows[i], strlen(rows[i])))
			fail_msg("\"%s\" is refused", rows[i]);
}

static void test_bad(void **state)
{
	static const char * const rows[] = {
		"\n", "a\nb", "\t", "\x1b[1m", "\x7f", "a\x01",
		/* C1 controls, line and paragraph separator */
		"\xc2\x80", "\xc2\x9b" "1m", "\xe2\x80\xa8", "\xe2\x80\xa9",
		/* cut short, lone, overlong, surrogate, too large */
		"\xff", "\x80", "a\xe2\x82", "\xe2\x82z", "\xc3", "\xc0\xaf",
		"\xc1\xbf", "\xe0\x80\xaf", "\xf0\x80\x80\xaf", "\xed\xa0\x80",
		"\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf0\x9f\x9a",
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (srpol_name_valid(rows[i], strlen(rows[i])))
			fail_msg("row %zu is taken", i);
	/* nothing behind the end is looked at */
	assert_false(srpol_name_valid("\u20ac", 2));
}

/* Each character of one, two and three bytes, against the definition. */
static void test_all(void **state)
{
	char text[3];
	u32 c, len;
	bool want;

	(void)state;
	for (c = 0; c < 0x10000; c++) {
		len = c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
		if (len == 1) {
			text[0] = c;
		} else if (len == 2) {
			text[0] = 0xc0 | c >> 6;
			text[1] = 0x80 | (c & 0x3f);
		} else {
			text[0] = 0xe0 | c >> 12;
			text[1] = 0x80 | (c >> 6 & 0x3f);
			text[2] = 0x80 | (c & 0x3f);
		}
		want = c >= 0x20 && !(c >= 0x7f && c < 0xa0) &&
		       !(c >= 0xd800 && c < 0xe000) && c != 0x2028 &&
		       c != 0x2029;
		if (srpol_name_valid(text, len) != want)
			fail_msg("U+%04X", c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
