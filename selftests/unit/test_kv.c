// SPDX-License-Identifier: GPL-2.0
/*
 * The embedded store's keys: comparisons, revisions, leases, compaction; and
 * random changes against a history kept the plain way.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kv.h"
#include "test.h"

#define SEC	1000000000ull

static struct kv kv;

static int setup(void **state)
{
	(void)state;
	kv_init(&kv, 7);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kv_free(&kv);
	return 0;
}

static bool put_if(const char *key, const char *value, u64 lease,
		   const struct store_compare *compare)
{
	struct store_put put = {
		.key = key, .value = value, .len = value ? strlen(value) : 0,
		.lease = lease,
	};

	return kv_txn(&kv, &(struct store_txn){
		.compare = compare, .n_compare = compare ? 1 : 0,
		.put = &put, .n_put = 1,
	});
}

static bool put(const char *key, const char *value)
{
	return put_if(key, value, 0, NULL);
}

/* Values of keys with a prefix at a revision, in one text. */
static int read_at(const char *prefix, u64 revision, char *text)
{
	struct vec out = VEC_INIT(struct store_kv);
	const struct store_kv *one;
	int ret = kv_range(&kv, prefix, true, revision, &out);

	text[0] = '\0';
	vec_for_each(one, &out) {
		strcat(text, one->key);
		strcat(text, "=");
		strncat(text, one->value, one->len);
		strcat(text, " ");
	}
	vec_free(&out);
	return ret;
}

static void test_revisions(void **state)
{
	char text[256];

	(void)state;
	assert_int_equal(kv.revision, 1);
	assert_true(put("b", "1"));
	assert_true(put("a", "2"));
	assert_true(put("b", "3"));
	assert_true(put("c/x", "4"));
	assert_int_equal(kv.revision, 5);
	assert_true(put("b", NULL));
	/* nothing there, nothing changed */
	assert_true(put("nobody", NULL));
	assert_int_equal(kv.revision, 6);
	read_at("", 0, text);
	assert_string_equal(text, "a=2 c/x=4 ");
	read_at("", 3, text);
	assert_string_equal(text, "a=2 b=1 ");
	read_at("", 4, text);
	assert_string_equal(text, "a=2 b=3 ");
	read_at("c/", 5, text);
	assert_string_equal(text, "c/x=4 ");
	assert_int_equal(read_at("", 7, text), -ERANGE);
}

static void test_compare(void **state)
{
	struct store_compare is_new = { .key = "l", .created = true };
	struct store_compare mine = { .key = "l", .created = true };
	struct store_compare at = { .key = "l" };

	(void)state;
	assert_true(put_if("l", "A", 0, &is_new));
	mine.revision = kv.revision;
	at.revision = kv.revision;
	assert_false(put_if("l", "B", 0, &is_new));
	assert_true(put_if("l", "A", 0, &mine));
	/* created then, changed since */
	assert_true(put_if("l", "A", 0, &mine));
	assert_false(put_if("l", "A", 0, &at));
	assert_true(put("l", NULL));
	assert_false(put_if("x", "late", 0, &mine));
	assert_true(put_if("l", "B", 0, &is_new));
	/* another one of the same name is another one */
	assert_false(put_if("x", "late", 0, &mine));
}

static void test_leases(void **state)
{
	char text[64];
	u64 a, b;

	(void)state;
	a = kv_lease(&kv, 0, 2 * SEC, 0);
	b = kv_lease(&kv, 0, 5 * SEC, 0);
	assert_true(put_if("a1", "", a, NULL));
	assert_true(put_if("a2", "", a, NULL));
	assert_true(put_if("b", "", b, NULL));
	assert_true(put("c", ""));
	assert_false(kv_expire(&kv, 1 * SEC));
	assert_int_equal(kv_lease(&kv, a, 0, 1 * SEC), a);
	assert_false(kv_expire(&kv, 2 * SEC + 1));
	assert_true(kv_expire(&kv, 3 * SEC));
	read_at("", 0, text);
	assert_string_equal(text, "b= c= ");
	/* what is over cannot be kept, or used */
	assert_int_equal(kv_lease(&kv, a, 0, 3 * SEC), 0);
	assert_false(put_if("a1", "", a, NULL));
	kv_revoke(&kv, b);
	read_at("", 0, text);
	assert_string_equal(text, "c= ");
}

/* Leases that ended while nobody was heard last a bit longer, each of them once. */
static void test_excused(void **state)
{
	char text[64];
	u64 a, b;

	(void)state;
	a = kv_lease(&kv, 0, 2 * SEC, 0);
	b = kv_lease(&kv, 0, 9 * SEC, 0);
	assert_true(put_if("a", "", a, NULL));
	assert_true(put_if("b", "", b, NULL));
	kv_excuse(&kv, 4 * SEC, 1 * SEC);
	assert_false(kv_expire(&kv, 4 * SEC));
	/* renewed in time, so it may be excused again */
	assert_int_equal(kv_lease(&kv, a, 0, 4 * SEC), a);
	kv_excuse(&kv, 7 * SEC, 1 * SEC);
	assert_false(kv_expire(&kv, 7 * SEC));
	/* not twice, though, and @b needed no excuse so far */
	kv_excuse(&kv, 9 * SEC, 1 * SEC);
	assert_true(kv_expire(&kv, 9 * SEC));
	read_at("", 0, text);
	assert_string_equal(text, "b= ");
	assert_false(kv_expire(&kv, 10 * SEC - 1));
	assert_true(kv_expire(&kv, 10 * SEC));
}

/* No lease is not one that keys without a lease have. */
static void test_no_lease(void **state)
{
	u64 before;

	(void)state;
	assert_true(put("a", "1"));
	before = kv.revision;
	kv_revoke(&kv, 0);
	assert_int_equal(kv.revision, before);
	kv_revoke(&kv, 1);
	assert_int_equal(kv.revision, before);
}

static void test_changes(void **state)
{
	struct vec out = VEC_INIT(struct store_kv);
	const struct store_kv *kvs;

	(void)state;
	put("w/a", "1");
	put("x", "2");
	put("w/b", "3");
	put("w/a", NULL);
	assert_int_equal(kv_changes(&kv, "w/", true, 3, &out), 0);
	assert_int_equal(out.n, 2);
	kvs = out.data;
	assert_string_equal(kvs[0].key, "w/b");
	assert_int_equal(kvs[0].mod, 4);
	assert_string_equal(kvs[1].key, "w/a");
	assert_null(kvs[1].value);
	vec_free(&out);
	kv_compact(&kv, 4);
	assert_int_equal(kv_changes(&kv, "w/", true, 4, &out), -ERANGE);
	assert_int_equal(kv_changes(&kv, "w/", true, 5, &out), 0);
	assert_int_equal(out.n, 1);
	vec_free(&out);
}

/* What each of 8 keys held at each revision, and what the store says of it. */
static void test_history(void **state)
{
	enum { KEYS = 8, CHANGES = 600 };
	static char want[CHANGES + 2][256];
	u8 value[KEYS] = {};
	char key[8], text[256];
	u64 seed = 3, from = 1;
	u32 i, k;

	(void)state;
	for (i = 0; i < CHANGES; i++) {
		k = test_random(&seed) % KEYS;
		value[k] = test_random(&seed) % 4 ? 'a' + test_random(&seed) % 26 : 0;
		snprintf(key, sizeof(key), "k%u", k);
		text[0] = value[k];
		text[1] = '\0';
		put(key, value[k] ? text : NULL);
		want[kv.revision][0] = '\0';
		for (k = 0; k < KEYS; k++)
			if (value[k])
				sprintf(want[kv.revision] +
					strlen(want[kv.revision]), "k%u=%c ",
					k, value[k]);
		if (i % 97 == 96) {
			from = kv.revision - test_random(&seed) % 50;
			kv_compact(&kv, from);
		}
	}
	assert_true(from > 1);
	for (i = from; i <= kv.revision; i++) {
		assert_int_equal(read_at("", i, text), 0);
		assert_string_equal(text, want[i]);
	}
	assert_int_equal(read_at("", from - 1, text), -ERANGE);
}

/* A change that could not be kept: the next one has its revision. */
static void test_undo(void **state)
{
	char text[64];
	u64 before;
	int i;

	(void)state;
	assert_true(put("a", "1"));
	assert_true(put("b", "2"));
	before = kv.revision;
	assert_true(put("a", NULL));
	assert_true(put("b", "3"));
	assert_true(put("c", "4"));
	kv_undo(&kv, before);
	assert_int_equal(kv.revision, before);
	read_at("", 0, text);
	assert_string_equal(text, "a=1 b=2 ");
	assert_true(put("c", "5"));
	assert_int_equal(kv.revision, before + 1);
	read_at("", 0, text);
	assert_string_equal(text, "a=1 b=2 c=5 ");
	read_at("", before, text);
	assert_string_equal(text, "a=1 b=2 ");
	/* one that had old revisions forgotten, too */
	assert_true(put("c", NULL));
	for (i = 0; !kv.compacted; i++) {
		before = kv.revision;
		assert_true(put("b", i % 2 ? "6" : "7"));
	}
	kv_undo(&kv, before);
	read_at("", 0, text);
	assert_string_equal(text, i % 2 ? "a=1 b=6 " : "a=1 b=7 ");
	assert_int_equal(read_at("", before - 900, text), 0);
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_revisions),
		TEST(test_compare),
		TEST(test_leases),
		TEST(test_excused),
		TEST(test_no_lease),
		TEST(test_undo),
		TEST(test_changes),
		TEST(test_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
