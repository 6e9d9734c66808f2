// SPDX-License-Identifier: GPL-2.0
/* The embedded store behind its socket: what is said of a change that a disk does not take. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kv.h"
#include "loop.h"
#include "srpol_lib.h"
#include "test.h"

#define PATIENCE_NS	60000000000ull

int __wrap_fsync(int fd);

const struct store_ops store_etcd = { .name = "etcd" };

static char folder[] = "/tmp/srpol-local-XXXXXX";
static char path[64], file[64];
static int of_file, of_folder;		/* errors of a sync, 0: none */
static struct store store;
static struct store_reply got;		/* the last one */
static char value[16];			/* of the key that was read */

int __wrap_fsync(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	errno = S_ISDIR(st.st_mode) ? of_folder : of_file;
	return errno ? -1 : 0;
}

static int setup(void **state)
{
	struct store_config config = { .kind = "embedded" };
	struct srpol_error err = {};

	(void)state;
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/sock", folder);
	snprintf(file, sizeof(file), "%s/store", folder);
	strcpy(config.socket, path);
	of_file = of_folder = 0;
	return loop_init() ?: kv_server_start(path, file, &err) ?:
	       store_open(&store, &config, &err);
}

static int teardown(void **state)
{
	char name[80];

	(void)state;
	store_close(&store);
	kv_server_stop();
	unlink(file);
	snprintf(name, sizeof(name), "%s.new", file);
	unlink(name);
	snprintf(name, sizeof(name), "%s.lock", file);
	unlink(name);
	return rmdir(folder);
}

static void take(void *data, const struct store_reply *reply)
{
	got = *reply;
	snprintf(value, sizeof(value), "%.*s", reply->n ? (int)reply->kvs->len : 0,
		 reply->n ? reply->kvs->value : "");
	loop_stop();
}

static void await(void)
{
	got = (struct store_reply){ .error = -ETIMEDOUT };
	loop_run_for(PATIENCE_NS);
}

static void put(const char *text, size_t times)
{
	struct store_put puts[STORE_PUTS_MAX + 1];
	size_t i;

	for (i = 0; i < times; i++)
		puts[i] = (struct store_put){ .key = "k", .value = text, .len = strlen(text) };
	store.ops->txn(&store, &(struct store_txn){ .put = puts, .n_put = times }, take, NULL);
	await();
}

static void holds(const char *text)
{
	store.ops->range(&store, "k", false, 0, take, NULL);
	await();
	assert_int_equal(got.error, 0);
	assert_string_equal(value, text);
}

static void says(const char *text)
{
	struct srpol_error err = {};

	store_undone(&got, "what there is", &err);
	assert_string_equal(err.text, text);
}

static void test_full(void **state)
{
	(void)state;
	put("1", 1);
	assert_true(got.succeeded);
	of_file = ENOSPC;
	put("2", 1);
	assert_int_equal(got.error, -ENOSPC);
	assert_false(got.succeeded);
	assert_true(got.refused);
	says("the store refused it: No space left on device");
	of_file = 0;
	holds("1");
	put("3", 1);
	assert_true(got.succeeded);
	assert_false(got.refused);
	holds("3");
}

/* The new file is there, and nobody knows which one is after a crash. */
static void test_folder(void **state)
{
	(void)state;
	of_folder = EIO;
	put("1", 1);
	assert_int_equal(got.error, -EIO);
	assert_false(got.succeeded);
	assert_false(got.refused);
	says("the store did not say whether it was done: see what there is (Input/output error)");
}

static void test_too_much(void **state)
{
	(void)state;
	put("1", STORE_PUTS_MAX + 1);
	assert_int_equal(got.error, -E2BIG);
	assert_true(got.refused);
	holds("");
}

/* There is no answer any more, so it may have been done. */
static void test_gone(void **state)
{
	(void)state;
	put("1", 1);
	kv_server_stop();
	put("2", 1);
	assert_int_equal(got.error, -EIO);
	assert_false(got.refused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_much, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
