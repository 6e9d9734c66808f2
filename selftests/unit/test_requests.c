// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that are answered later, as clients find them that say no more meanwhile: a
 * server in a process of its own.
 */
#include <stdio.h>
#include <stdlib.h>

#include "requests.h"
#include "srpol_lib.h"
#include "test_server.h"

#define LATER_NS	300000000ull
#define LONG		(1 << 20)	/* bytes: a connection does not take them at once */

/* ---- the server */

static void answer(void *data);

static struct request_server server;
static struct request_later *later[2];
static struct alarm alarms[2] = { ALARM_INIT(answer, &later[0]), ALARM_INIT(answer, &later[1]) };
static struct lines_client *asked[4];
static unsigned int n_later, n_asked, n_left;

static void answer(void *data)
{
	struct request_later **which = data;
	char *text = malloc(LONG + 1);

	memset(text, 'x', LONG);
	text[LONG] = '\0';
	requests_answer(*which, json_string(text), NULL);
	free(text);
}

/* Two of them are answered one after the other. */
static json_t *ask_later(const json_t *request, struct srpol_error *err)
{
	unsigned int i = n_later++ % 2;

	later[i] = requests_later(&server);
	if (!later[i] || alarm_set(&alarms[i], (1 + i) * LATER_NS))
		_exit(3);
	asked[n_asked++ % 4] = server.client;
	return NULL;
}

static json_t *ask_never(const json_t *request, struct srpol_error *err)
{
	if (!requests_later(&server))
		_exit(3);
	asked[n_asked++ % 4] = server.client;
	return NULL;
}

static json_t *ask_left(const json_t *request, struct srpol_error *err)
{
	return json_integer(n_left);
}

/* Of those that are owed something; who asks how many has left is none of them. */
static void left(struct lines_client *client)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (asked[i] != client)
			continue;
		asked[i] = NULL;
		n_left++;
	}
}

static const struct request requests[] = {
	{ .name = "later", .answer = ask_later },
	{ .name = "never", .answer = ask_never },
	{ .name = "left", .answer = ask_left },
	{}
};

static void serve(void)
{
	struct srpol_error err = {};

	server.requests = requests;
	server.left = left;
	if (loop_init() || requests_start(&server, addr.sun_path, &err))
		_exit(1);
	loop_run();
	_exit(2);
}

/* ---- its clients */

static void ask(int fd, const char *name)
{
	assert_true(dprintf(fd, "{\"version\":1,\"request\":\"%s\"}\n", name) > 0);
}

/* What comes until the end; how many bytes and lines. */
static size_t read_all(int fd, unsigned int *lines)
{
	char text[4096];
	size_t len = 0;
	ssize_t n, i;

	*lines = 0;
	while ((n = read(fd, text, sizeof(text))) > 0) {
		len += n;
		for (i = 0; i < n; i++)
			*lines += text[i] == '\n';
	}
	/* an end, and not that patience is over */
	assert_int_equal(n, 0);
	return len;
}

static unsigned int count_left(void)
{
	int fd = dial(), n;
	char text[256];
	json_t *o;

	ask(fd, "left");
	n = read(fd, text, sizeof(text));
	assert_true(n > 0);
	close(fd);
	o = json_loadb(text, n, 0, NULL);
	n = json_integer_value(json_object_get(o, "reply"));
	json_decref(o);
	return n;
}

/* As socat does: it has said what it wants to know. */
static void test_half_closed(void **state)
{
	unsigned int lines;
	int fd = dial();

	ask(fd, "later");
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	assert_true(read_all(fd, &lines) > LONG);
	assert_int_equal(lines, 1);
	close(fd);
}

/* All that it is owed, and then the end. */
static void test_two(void **state)
{
	unsigned int lines;
	int fd = dial();

	ask(fd, "later");
	ask(fd, "later");
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	assert_true(read_all(fd, &lines) > 2 * LONG);
	assert_int_equal(lines, 2);
	close(fd);
}

static void wait_left(unsigned int n)
{
	time_t end = now() + PATIENCE;

	while (count_left() < n) {
		assert_true(now() < end);
		usleep(10000);
	}
}

/* Nobody waits for one that is gone altogether: there may never be an answer. */
static void test_gone(void **state)
{
	int fd = dial();

	ask(fd, "never");
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	usleep(LATER_NS / 3000);
	assert_int_equal(count_left(), 0);
	close(fd);
	wait_left(1);
}

/* Nor is there one to whom the answer could be sent. */
static void test_gone_before(void **state)
{
	int fd = dial();

	ask(fd, "later");
	close(fd);
	wait_left(1);
	usleep(2 * LATER_NS / 1000);
	assert_int_equal(count_left(), 1);
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_half_closed),
		TEST(test_two),
		TEST(test_gone),
		TEST(test_gone_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
