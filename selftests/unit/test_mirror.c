// SPDX-License-Identifier: GPL-2.0
/* What is read beside a watch: does it say that the watch is silent? */
#include <string.h>

#include "log.h"
#include "mirror.h"
#include "test.h"

struct store_watch {
	store_watch_fn fn;
	void *data;
	uint64_t revision;
};

static struct store_watch watch;
static unsigned int watched, unwatched;
static store_reply_fn answer;
static void *asker;

void log_debug(const char *fmt, ...)
{
}

void store_heard(struct store *store, const struct store_reply *reply)
{
}

uint64_t now_ns(void)
{
	return 1;
}

int alarm_set(struct alarm *alarm, uint64_t ns)
{
	return 0;
}

void alarm_stop(struct alarm *alarm)
{
}

static void range(struct store *store, const char *key, bool prefix, uint64_t revision,
		  store_reply_fn fn, void *data)
{
	answer = fn;
	asker = data;
}

static struct store_watch *begin_watch(struct store *store, const char *key, bool prefix,
				       uint64_t revision, store_watch_fn fn, void *data)
{
	watched++;
	watch = (struct store_watch){ .fn = fn, .data = data, .revision = revision };
	return &watch;
}

static void end_watch(struct store_watch *w)
{
	unwatched++;
}

static const struct store_ops ops = {
	.range = range, .watch = begin_watch, .unwatch = end_watch,
};

static struct store store = { .ops = &ops };

static void begin(void *data, uint64_t cluster)
{
}

static void set(void *data, const struct store_kv *kv)
{
}

static void end(void *data)
{
}

static struct mirror mirror;

static struct store_kv kv(const char *key, uint64_t create, uint64_t mod)
{
	return (struct store_kv){
		.key = (char *)key, .value = mod ? "x" : NULL, .len = 1,
		.create = create, .mod = mod,
	};
}

/* What the store has is read at a revision. */
static void take(uint64_t revision, const struct store_kv *kvs, size_t n)
{
	const struct store_reply reply = {
		.cluster = 7, .revision = revision, .kvs = kvs, .n = n,
	};

	mirror_look(&mirror);
	answer(asker, &reply);
}

static void start(void)
{
	const struct store_kv two[] = { kv("a", 3, 3), kv("b", 4, 4) };
	const struct store_reply reply = {
		.cluster = 7, .revision = 5, .kvs = two, .n = 2,
	};

	mirror = (struct mirror){
		.store = &store, .key = "k/", .prefix = true, .poll_ns = 1,
		.begin = begin, .set = set, .end = end,
	};
	watched = unwatched = 0;
	mirror_start(&mirror);
	answer(asker, &reply);
	assert_int_equal(watched, 1);
	assert_int_equal(watch.revision, 6);
}

/* Other keys of the store change, and events come in time. */
static void test_heard(void **state)
{
	struct store_kv kvs[] = { kv("a", 3, 3), kv("b", 4, 4), kv("c", 8, 8) };
	struct store_kv gone = kv("a", 0, 0);

	(void)state;
	start();
	take(7, kvs, 2);
	watch.fn(watch.data, 0, &kvs[2], 1);
	take(9, kvs, 3);
	kvs[2].mod = 10;	/* no new key */
	watch.fn(watch.data, 0, &kvs[2], 1);
	take(10, kvs, 3);
	gone.mod = 11;
	watch.fn(watch.data, 0, &gone, 1);
	take(12, kvs + 1, 2);
	assert_int_equal(watched, 1);
	assert_int_equal(unwatched, 0);
}

static void test_change(void **state)
{
	const struct store_kv kvs[] = { kv("a", 3, 3), kv("b", 4, 9) };

	(void)state;
	start();
	take(10, kvs, 2);
	assert_int_equal(unwatched, 1);
	assert_int_equal(watched, 2);
	assert_int_equal(watch.revision, 11);
	take(12, kvs, 2);
	assert_int_equal(watched, 2);
}

static void test_deletion(void **state)
{
	const struct store_kv kvs[] = { kv("a", 3, 3) };

	(void)state;
	start();
	take(10, kvs, 1);
	assert_int_equal(unwatched, 1);
	assert_int_equal(watched, 2);
	take(12, kvs, 1);
	assert_int_equal(watched, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heard),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_deletion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
