// SPDX-License-Identifier: GPL-2.0
/*
 * Log messages to standard error. Under systemd each line has a prefix from
 * which journald reads its priority.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "log.h"

bool log_verbose;

static void print(int priority, const char *fmt, va_list args)
{
	/* one unit, as threads of libraries also write to stderr */
	flockfile(stderr);
	if (getenv("JOURNAL_STREAM"))
		fprintf(stderr, "<%d>", priority);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	funlockfile(stderr);
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
