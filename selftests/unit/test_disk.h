/* SPDX-License-Identifier: GPL-2.0 */
/* A disk that lets everybody wait until the test says otherwise, and who is told of it. */
#ifndef _SRPOL_TEST_DISK_H
#define _SRPOL_TEST_DISK_H

#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"
#include "test.h"

#define PATIENCE_S	30

static sem_t disk;		/* a sync may end */
static sem_t begun;		/* a sync has begun */
static atomic_uint synced;
static atomic_uint waited;	/* syncs that gave up */
static atomic_uint errors;
static atomic_int niceness;	/* of who synced last */
static struct source *watched;	/* by the loop */
static int loop_fails;		/* with this, if not 0 */
static char folder[] = "/tmp/srpol-disk-XXXXXX";

int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	struct timespec until;

	(void)fd;
	niceness = getpriority(PRIO_PROCESS, 0);
	sem_post(&begun);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	if (sem_timedwait(&disk, &until))
		waited++;
	synced++;
	return 0;
}

void log_error(const char *fmt, ...)
{
	(void)fmt;
	errors++;
}

void log_notice(const char *fmt, ...)
{
	(void)fmt;
}

int loop_add(struct source *source, uint32_t events)
{
	(void)events;
	if (loop_fails)
		return loop_fails;
	assert_null(watched);
	watched = source;
	return 0;
}

void loop_remove(struct source *source)
{
	assert_ptr_equal(watched, source);
	watched = NULL;
}

/* A turn of the loop; false if it had to wait too long for something to do. */
static bool turn(unsigned int ms)
{
	struct pollfd fd = { .fd = watched->fd, .events = POLLIN };

	if (poll(&fd, 1, ms) <= 0)
		return false;
	watched->ready(watched, 0);
	return true;
}

/* The disk is as quick as it can be. */
static void hurry(void)
{
	unsigned int i;

	for (i = 0; i < 1000; i++)
		sem_post(&disk);
}

static void disk_begin(void)
{
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	assert_non_null(mkdtemp(folder));
	sem_init(&disk, 0, 0);
	sem_init(&begun, 0, 0);
	synced = waited = errors = 0;
	watched = NULL;
	loop_fails = 0;
}

static void disk_end(const char *file)
{
	unlink(file);
	rmdir(folder);
	sem_destroy(&begun);
	sem_destroy(&disk);
}

#endif /* _SRPOL_TEST_DISK_H */
