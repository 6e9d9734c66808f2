// SPDX-License-Identifier: GPL-2.0
/*
 * Servers of lines, as their clients find them: a server in a process of its
 * own that answers "ok" to each line, and clients that talk too much.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "lines.h"
#include "srpol_lib.h"
#include "test_server.h"

#define RATE		65536
#define LINE		40000
#define NOBODY		65534

static void drained(struct lines_client *client)
{
	lines_send(client, "drained", 7);
}

/* Once the connection takes no more, the rest waits for the client. */
static void fill(struct lines_client *client)
{
	static char text[1000];

	memset(text, 'x', sizeof(text));
	while (!client->out_len && lines_send(client, text, sizeof(text)))
		;
}

static struct lines_client *slow;

/* What others cause to be sent goes out as this one reads. */
static void send_more(void)
{
	while (slow->out_len && lines_send(slow, "", 0))
		usleep(10000);
}

/* The server may have no more files than it has. */
static void limit(void)
{
	int next = dup(0);
	struct rlimit files = { .rlim_cur = next, .rlim_max = next };

	close(next);
	if (next < 0 || setrlimit(RLIMIT_NOFILE, &files))
		_exit(3);
}

static void answer(struct lines_client *client, char *line, size_t len)
{
	(void)len;
	if (!strcmp(line, "limit"))
		limit();
	if (!strcmp(line, "fill")) {
		slow = client;
		fill(client);
		return;
	}
	if (!strcmp(line, "more"))
		send_more();
	client->kept = !strcmp(line, "keep");
	lines_send(client, "ok", 2);
}

static void serve(void)
{
	static struct lines server = {
		.path = addr.sun_path, .for_all = true, .clients_max = 4,
		.line_max = LINE + 1, .out_max = 4096, .rate_max = RATE,
		.line = answer, .drained = drained,
	};
	struct srpol_error err;

	if (loop_init() || lines_start(&server, &err))
		_exit(1);
	loop_run();
	_exit(2);
}

/* Say so much in a line; is it answered? */
static bool say(int fd, size_t len)
{
	static char line[LINE + 1];
	char reply[4];

	memset(line, 'x', len);
	line[len] = '\n';
	return send(fd, line, len + 1, MSG_NOSIGNAL) == (ssize_t)len + 1 &&
	       recv(fd, reply, sizeof(reply), 0) == 3;
}

/* By a client of its own. */
static bool say_once(size_t len)
{
	int fd = dial();
	bool answered = say(fd, len);

	close(fd);
	return answered;
}

static void test_client(void **state)
{
	time_t end = now() + PATIENCE;
	int fd = dial();

	(void)state;
	assert_true(say(fd, 1));
	while (say(fd, 1))
		assert_true(now() < end);
	close(fd);
}

/* He who comes again and again says no less. */
static void test_user(void **state)
{
	time_t end = now() + PATIENCE;

	(void)state;
	assert_true(say_once(LINE));
	while (say_once(LINE))
		assert_true(now() < end);
}

/* What one user says too much is not taken from another one. */
static void test_others(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	if (geteuid())
		skip();
	test_user(state);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(setuid(NOBODY) || !say_once(LINE));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A line that does not end, and answers that nobody reads. */
static void test_half(void **state)
{
	char text[4096];
	int fd = dial();
	size_t i;

	(void)state;
	memset(text, 'x', sizeof(text));
	for (i = 0; i <= LINE / sizeof(text) + 1; i++)
		if (send(fd, text, sizeof(text), MSG_NOSIGNAL) < 0)
			break;
	assert_int_equal(recv(fd, text, sizeof(text), 0) > 0, 0);
	close(fd);
	assert_true(say_once(1));
}

static bool is_open(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
	       errno == EAGAIN;
}

/* Many come and say something; he who is kept stays, he who is quiet does not. */
static void test_kept(void **state)
{
	int kept = dial(), quiet, fds[8], i;
	char reply[4];

	(void)state;
	assert_int_equal(send(kept, "keep\n", 5, MSG_NOSIGNAL), 5);
	assert_int_equal(recv(kept, reply, sizeof(reply), 0), 3);
	quiet = dial();
	assert_true(say(quiet, 1));
	for (i = 0; i < 8; i++) {
		fds[i] = dial();
		assert_true(say(fds[i], 1));
	}
	assert_true(is_open(kept));
	assert_false(is_open(quiet));
	assert_false(is_open(fds[0]));
	assert_true(is_open(fds[7]));
	assert_int_equal(send(kept, "keep\n", 5, MSG_NOSIGNAL), 5);
	assert_int_equal(recv(kept, reply, sizeof(reply), 0), 3);
	for (i = 0; i < 8; i++)
		close(fds[i]);
	close(quiet);
	close(kept);
}

/* A user who connects again and again replaces clients of his own. */
static void test_many(void **state)
{
	int quiet, fds[8], i;

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(seteuid(NOBODY), 0);
	quiet = dial();
	assert_int_equal(seteuid(0), 0);
	assert_true(say(quiet, 1));
	for (i = 0; i < 8; i++) {
		fds[i] = dial();
		assert_true(say(fds[i], 1));
	}
	assert_true(is_open(quiet));
	assert_false(is_open(fds[0]));
	assert_true(is_open(fds[7]));
	for (i = 0; i < 8; i++)
		close(fds[i]);
	close(quiet);
}

/* Without room for another file, the quietest one makes room. */
static void test_no_room(void **state)
{
	int quiet = dial(), other, new;
	char reply[4];

	(void)state;
	assert_true(say(quiet, 1));
	other = dial();
	assert_int_equal(send(other, "limit\n", 6, MSG_NOSIGNAL), 6);
	assert_int_equal(recv(other, reply, sizeof(reply), 0), 3);
	new = dial();
	assert_int_equal(setsockopt(new, SOL_SOCKET, SO_RCVTIMEO,
				    &(struct timeval){ .tv_sec = PATIENCE },
				    sizeof(struct timeval)), 0);
	assert_true(say(new, 1));
	assert_false(is_open(quiet));
	assert_true(say(other, 1));
	close(quiet);
	close(other);
	close(new);
}

/* The server is told when somebody who was slow has read everything. */
static void test_drained(void **state)
{
	static const char last[] = "\ndrained\n";
	char text[4096], end[sizeof(last)] = {};
	size_t tail = sizeof(last) - 1;
	int fd = dial();
	ssize_t n;

	(void)state;
	assert_int_equal(send(fd, "fill\n", 5, MSG_NOSIGNAL), 5);
	while (strcmp(end, last)) {
		n = recv(fd, text, sizeof(text), 0);
		assert_true(n > 0);
		/* the last bytes of all that came */
		if ((size_t)n >= tail) {
			memcpy(end, text + n - tail, tail);
		} else {
			memmove(end, end + n, tail - n);
			memcpy(end + tail - n, text, n);
		}
	}
	close(fd);
}

/* A client may end what it says before it has read the answer, as nc -N and socat do. */
static void test_half_closed(void **state)
{
	static char text[1 << 22];
	size_t len = 0;
	int fd = dial();
	ssize_t n;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "fill\n", 5), 5);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	/* the server meets the end while a line still waits for this client */
	usleep(300000);
	while ((n = read(fd, text + len, sizeof(text) - len)) > 0)
		len += n;
	assert_int_equal(n, 0);
	assert_true(len > 8);
	assert_memory_equal(text + len - 8, "drained\n", 8);
	close(fd);
}

/* It is disconnected also if the last it reads was sent because of somebody else. */
static void test_half_closed_more(void **state)
{
	struct timeval limit = { .tv_sec = PATIENCE };
	int fd = dial(), other = dial(), i;
	char text[4096];
	ssize_t n;

	(void)state;
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit,
				    sizeof(limit)), 0);
	assert_int_equal(write(fd, "fill\n", 5), 5);
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	/* the server has met the end by then */
	for (i = 0; i < 3; i++)
		assert_true(say(other, 1));
	assert_int_equal(write(other, "more\n", 5), 5);
	while ((n = read(fd, text, sizeof(text))) > 0)
		;
	assert_int_equal(n, 0);
	close(fd);
	close(other);
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_client),
		TEST(test_user),
		TEST(test_others),
		TEST(test_half),
		TEST(test_kept),
		TEST(test_many),
		TEST(test_no_room),
		TEST(test_drained),
		TEST(test_half_closed),
		TEST(test_half_closed_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
