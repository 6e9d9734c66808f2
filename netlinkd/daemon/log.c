// SPDX-License-Identifier: GPL-2.0
/*
 * Log messages to standard error, a write() for each line. Under systemd each
 * line has a prefix from which journald reads its priority.
 *
 * Nobody waits for the reader: who stops a terminal, or journald, must not stop
 * failover. Lines that cannot be written are counted, and the number is written
 * once there is room again. A terminal that several write to may still make one
 * of them wait: for it there is no write that does not.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "log.h"

bool log_verbose;

/* threads of libraries write, too */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long lost;
/* of the last line only the beginning was written */
static bool torn;

/*
 * Writes to a pipe or a socket, even if others fill it meanwhile. Other files
 * have no such write, or only one that fails where an ordinary one would not
 * wait.
 */
static ssize_t write_now(char *line, size_t len)
{
	struct iovec iov = { .iov_base = line, .iov_len = len };
	struct stat st;

	if (!fstat(STDERR_FILENO, &st) &&
	    (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))) {
		ssize_t n = pwritev2(STDERR_FILENO, &iov, 1, -1, RWF_NOWAIT);

		if (n >= 0 || errno != EOPNOTSUPP)
			return n;
	}
	return write(STDERR_FILENO, line, len);
}

/* A pipe that is ready for writing takes PIPE_BUF bytes at once, or none. */
static bool write_line(int priority, const char *fmt, va_list args)
{
	struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };
	char line[PIPE_BUF];
	int len = 0, n;

	if (poll(&out, 1, 0) != 1 || !(out.revents & POLLOUT))
		return false;
	if (torn)
		line[len++] = '\n';
	if (getenv("JOURNAL_STREAM"))
		len += snprintf(line + len, sizeof(line) - len, "<%d>", priority);
	n = vsnprintf(line + len, sizeof(line) - len, fmt, args);
	if (n < 0)
		return false;
	len += n;
	if (len > (int)sizeof(line) - 1)
		len = sizeof(line) - 1;
	line[len++] = '\n';
	n = write_now(line, len);
	if (n > 0)
		torn = n < len;
	return n == len;
}

__attribute__((format(printf, 2, 3)))
static bool write_one(int priority, const char *fmt, ...)
{
	va_list args;
	bool done;

	va_start(args, fmt);
	done = write_line(priority, fmt, args);
	va_end(args);
	return done;
}

static void print(int priority, const char *fmt, va_list args)
{
	pthread_mutex_lock(&lock);
	if (lost && write_one(3, "lines of the log that could not be written: %lu",
			      lost))
		lost = 0;
	if (lost || !write_line(priority, fmt, args))
		lost++;
	pthread_mutex_unlock(&lock);
}

#define LOGGER(name, priority)						\
	void name(const char *fmt, ...)					\
	{								\
		va_list args;						\
									\
		va_start(args, fmt);					\
		print(priority, fmt, args);				\
		va_end(args);						\
	}

LOGGER(log_error, 3)
LOGGER(log_notice, 5)
LOGGER(log_info, 6)

/* Logs only with --verbose. */
void log_debug(const char *fmt, ...)
{
	va_list args;

	if (!log_verbose)
		return;
	va_start(args, fmt);
	print(7, fmt, args);
	va_end(args);
}
