// SPDX-License-Identifier: GPL-2.0
/*
 * The log, when nobody reads it, others write to it as well, or a disk is full:
 * who writes goes on, and how many lines are lost is said.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "test.h"

#define PATIENCE	30	/* s */
#define LINES		100000	/* more than any pipe or socket takes */
#define ROUNDS		20000

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
	assert_int_equal(sscanf(said, "lines of the log that could not be written: %lu",
				&lost), 1);
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

/* The room that another writer takes first is not waited for. */
static void test_others(void **state)
{
	static char block[4096];
	pid_t other;
	int i;

	(void)state;
	assert_int_equal(fcntl(reader, F_SETPIPE_SZ, sizeof(block)), sizeof(block));
	other = fork();
	assert_true(other >= 0);
	if (!other)
		close(reader);
	while (!other)
		if (write(STDERR_FILENO, block, sizeof(block)) < 0)
			_exit(0);
	for (i = 0; i < ROUNDS; i++) {
		assert_true(read(reader, block, sizeof(block)) > 0);
		log_error("path %d is down", i);
	}
	kill(other, SIGKILL);
	assert_int_equal(waitpid(other, NULL, 0), other);
	read_all();
	assert_int_equal(fcntl(reader, F_SETPIPE_SZ, 65536), 65536);
	log_notice("all are up");
	assert_non_null(strstr(read_all(), "could not be written"));
}

static void limit(rlim_t len)
{
	struct rlimit to;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &to), 0);
	to.rlim_cur = len;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &to), 0);
}

static int to_file(void **state)
{
	char name[] = "/tmp/srpol-log-XXXXXX";
	int fds[2];

	(void)state;
	unsetenv("JOURNAL_STREAM");
	fds[1] = mkstemp(name);
	assert_true(fds[1] >= 0);
	fds[0] = open(name, O_RDONLY | O_CLOEXEC);
	assert_int_equal(unlink(name), 0);
	log_to(fds);
	return 0;
}

/* A line of which a part found room does not begin the next one. */
static void test_full(void **state)
{
	ssize_t n;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	limit(20);
	log_error("path 1 is down");
	log_error("path 2 is down");
	log_error("path 3 is down");
	limit(RLIM_INFINITY);
	log_error("path 4 is down");
	n = read(reader, text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = '\0';
	assert_string_equal(text, "path 1 is down\npath \n"
			    "lines of the log that could not be written: 2\n"
			    "path 4 is down\n");
}

#define TEST(f, to)	cmocka_unit_test_setup_teardown(f, to, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_stopped, to_pipe),
		TEST(test_stopped, to_socket),
		TEST(test_full, to_file),
		TEST(test_others, to_pipe),
		TEST(test_lines, to_pipe),
		TEST(test_lines, to_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
