/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A server of lines in a process of its own, and clients of it. Who includes this has
 * serve(), which does not return, listening at addr.
 */
#ifndef _SRPOL_TEST_SERVER_H
#define _SRPOL_TEST_SERVER_H

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

#define PATIENCE	60	/* s: nobody would believe that it comes later */

static char folder[] = "/tmp/srpol-server-XXXXXX";
static struct sockaddr_un addr = { .sun_family = AF_UNIX };
static pid_t child;

static void serve(void);

/* A connected client, -1: nobody listens. */
static int dial(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval limit = { .tv_sec = PATIENCE };

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	close(fd);
	return -1;
}

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

/* Other users may be clients, too. */
static int setup(void **state)
{
	time_t end = now() + PATIENCE;
	int fd = -1;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chmod(folder, 0755), 0);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/socket", folder);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		serve();
	while (fd < 0 && now() < end)
		fd = dial();
	assert_true(fd >= 0);
	close(fd);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unlink(addr.sun_path);
	rmdir(folder);
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	return 0;
}

#endif /* _SRPOL_TEST_SERVER_H */
