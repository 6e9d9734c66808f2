// SPDX-License-Identifier: GPL-2.0
/*
 * The log, when nobody reads it: who writes goes on, and how many lines are lost
 * is said.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log.h"
#include "test.h"

#define PATIENCE	30	/* s */
#define LINES		100000	/* more than any pipe or socket takes */

static char text[4 << 20];
static int real, reader;

/* What a reader now finds. */
static const char *read_all(void)
{
	size_t len = 0;
	ssize_t n;

	assert_int_equal(fcntl(reader, F_SETFL, O_NONBLOCK), 0);
	while ((n = read(reader, text + len, sizeof(text) - 1 - len)) > 0)
		len += n;
	assert_int_equal(errno, EAGAIN);
	text[len] = '\0';
	return text;
}

static unsigned long count(const char *in, char c)
{
	unsigned long n = 0;

	for (; *in; in++)
		n += *in == c;
	return n;
}

static void log_to(const int fds[2])
{
	reader = fds[0];
	real = dup(STDERR_FILENO);
	assert_int_equal(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
	close(fds[1]);
	alarm(PATIENCE);
}

static int teardown(void **state)
{
	(void)state;
	alarm(0);
	assert_int_equal(dup2(real, STDERR_FILENO), STDERR_FILENO);
	close(real);
	close(reader);
	unsetenv("JOURNAL_STREAM");
	return 0;
}

static int to_pipe(void **state)
{
	int fds[2];

	(void)state;
	unsetenv("JOURNAL_STREAM");
	assert_int_equal(pipe(fds), 0);
	log_to(fds);
	return 0;
}

/* as under systemd */
static int to_socket(void **state)
{
	int fds[2];

	(void)state;
	setenv("JOURNAL_STREAM", "1:2", 1);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	log_to(fds);
	return 0;
}

static void test_stopped(void **state)
{
	unsigned long there, lost;
	const char *said;
	int i;

	(void)state;
	for (i = 0; i < LINES; i++)
		log_error("path %d is down", i);
	there = count(read_all(), '\n');
	assert_true(there > 0 && there < LINES);
	log_notice("path %d is up", LINES);
	said = read_all();
	assert_int_equal(count(said, '\n'), 2);
	if (*said == '<')
		said += strlen("<3>");
	assert_int_equal(sscanf(said, "%lu lines of the log are lost", &lost), 1);
	assert_int_equal(there + lost, LINES);
	assert_non_null(strstr(said, "path 100000 is up\n"));
	log_notice("once more");
	assert_int_equal(count(read_all(), '\n'), 1);
}

static void test_lines(void **state)
{
	static char line[10000];

	(void)state;
	memset(line, 'x', sizeof(line) - 1);
	log_error("%s", line);
	assert_int_equal(strlen(read_all()), 4096);
	assert_int_equal(text[4095], '\n');
	log_debug("not told");
	log_info("%s", "told");
	assert_string_equal(read_all(), getenv("JOURNAL_STREAM") ? "<6>told\n" :
								   "told\n");
}

#define TEST(f, to)	cmocka_unit_test_setup_teardown(f, to, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_stopped, to_pipe),
		TEST(test_stopped, to_socket),
		TEST(test_lines, to_pipe),
		TEST(test_lines, to_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
