// SPDX-License-Identifier: GPL-2.0
/* Keys as subjects of the bus, and back: one subject for each key. */
#include <string.h>

#include "bus.h"
#include "test.h"

static const struct bus_config config = { .prefix = "srpol" };

static void there_and_back(const char *key, const char *wanted)
{
	char subject[BUS_SUBJECT_LEN], back[BUS_SUBJECT_LEN];

	assert_true(bus_subject(&config, key, subject, sizeof(subject)));
	if (wanted)
		assert_string_equal(subject, wanted);
	assert_true(bus_key(&config, subject, back, sizeof(back)));
	assert_string_equal(back, key);
}

static void test_names(void **state)
{
	(void)state;
	there_and_back("load/0/leaf1/A", "srpol.load.0.leaf1.A");
	there_and_back("load/0/leaf0.1/h 1*>", "srpol.load.0.leaf0=2E1.h=201=2A=3E");
	there_and_back("load/0/l/=2E", "srpol.load.0.l.=3D2E");
	there_and_back("load/0/l/\xc3\xa9", "srpol.load.0.l.=C3=A9");
}

static void test_random_names(void **state)
{
	u64 seed = 20261122;
	char key[64];
	unsigned int i, k, n;

	(void)state;
	for (i = 0; i < 100000; i++) {
		n = 1 + test_random(&seed) % (sizeof(key) - 1);
		for (k = 0; k < n; k++)
			key[k] = 1 + test_random(&seed) % 255;
		key[n] = '\0';
		there_and_back(key, NULL);
	}
}

/* What bus_subject() does not make means nothing, so nobody has two subjects. */
static void test_refused(void **state)
{
	static const char * const wrong[] = {
		"", "srpol", "srpolx.a", "other.a", "srpol.=", "srpol.=2",
		"srpol.=2e", "srpol.=41", "srpol.=2F", "srpol.=00", "srpol.a b",
		"srpol.\xc3",
	};
	char key[64];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(bus_key(&config, wrong[i], key, sizeof(key)));
}

static void test_room(void **state)
{
	char subject[16], key[8];

	(void)state;
	assert_true(bus_subject(&config, "abcdefg", subject, sizeof(subject)));
	assert_false(bus_subject(&config, "abcdefghij", subject,
				 sizeof(subject)));
	assert_false(bus_subject(&config, "a...", subject, sizeof(subject)));
	assert_true(bus_key(&config, "srpol.abcdefg", key, sizeof(key)));
	assert_false(bus_key(&config, "srpol.abcdefgh", key, sizeof(key)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_random_names),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
