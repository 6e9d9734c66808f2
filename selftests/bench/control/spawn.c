// SPDX-License-Identifier: GPL-2.0
/*
 * spawn FILE: run each line of a file as a command of its own, one after the
 * other, and print the nanoseconds all of them took. Words are separated by
 * single spaces. Ends with status 1 at the first command that fails.
 */
#include <err.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

#define WORDS_MAX	128
#define LINES_MAX	20000

static char *lines[LINES_MAX];

static void spawn_line(char *line)
{
	char *argv[WORDS_MAX + 1], *word;
	int argc = 0, status;
	pid_t pid;

	for (word = strtok(line, "\n "); word; word = strtok(NULL, "\n ")) {
		if (argc == WORDS_MAX)
			errx(1, "too many words");
		argv[argc++] = word;
	}
	argv[argc] = NULL;
	if (!argc)
		return;
	if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ))
		errx(1, "%s: can not be run", argv[0]);
	if (waitpid(pid, &status, 0) < 0)
		err(1, "waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		errx(1, "%s: failed", argv[0]);
}

int main(int argc, char **argv)
{
	size_t size = 0;
	uint64_t start;
	int n = 0, i;
	FILE *file;

	file = argc == 2 ? fopen(argv[1], "re") : NULL;
	if (!file)
		errx(1, "usage: spawn FILE");
	while (n < LINES_MAX && getline(&lines[n], &size, file) > 0) {
		n++;
		size = 0;
	}
	start = now_ns();
	for (i = 0; i < n; i++)
		spawn_line(lines[i]);
	printf("%llu\n", (unsigned long long)(now_ns() - start));
	return 0;
}
