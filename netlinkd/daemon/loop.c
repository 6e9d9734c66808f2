// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"

#define EVENTS		32
#define NS_PER_SEC	1000000000ull

static int epoll_fd = -1;
static bool stopping;

/*
 * What is removed while events are handled may still have an event in the same
 * round; it is passed over.
 */
static struct epoll_event events[EVENTS];
static int n_events;

/**
 * loop_init() - make the loop
 *
 * Return: 0 or a negative errno.
 */
int loop_init(void)
{
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return epoll_fd < 0 ? -errno : 0;
}

/**
 * loop_add() - watch a descriptor
 * @source: stays where it is until it is removed
 * @what: EPOLL* events
 *
 * Return: 0 or a negative errno.
 */
int loop_add(struct source *source, uint32_t what)
{
	struct epoll_event event = { .events = what, .data.ptr = source };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, source->fd, &event) ?
	       -errno : 0;
}

/**
 * loop_change() - watch for other events
 * @source: source of loop_add()
 * @what: EPOLL* events
 *
 * Return: 0 or a negative errno.
 */
int loop_change(struct source *source, uint32_t what)
{
	struct epoll_event event = { .events = what, .data.ptr = source };

	return epoll_ctl(epoll_fd, EPOLL_CTL_MOD, source->fd, &event) ?
	       -errno : 0;
}

/**
 * loop_remove() - watch a descriptor no longer
 * @source: it
 */
void loop_remove(struct source *source)
{
	int i;

	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
	for (i = 0; i < n_events; i++)
		if (events[i].data.ptr == source)
			events[i].data.ptr = NULL;
}

/**
 * loop_run() - until loop_stop()
 *
 * Return: 0 or a negative errno.
 */
int loop_run(void)
{
	struct source *source;
	int i;

	while (!stopping) {
		n_events = epoll_wait(epoll_fd, events, EVENTS, -1);
		if (n_events < 0 && errno != EINTR)
			return -errno;
		for (i = 0; i < n_events; i++) {
			source = events[i].data.ptr;
			if (source)
				source->ready(source, events[i].events);
		}
		n_events = 0;
	}
	return 0;
}

/**
 * loop_stop() - have loop_run() return after what is ready now
 */
void loop_stop(void)
{
	stopping = true;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = ns / NS_PER_SEC,
				  .tv_nsec = ns % NS_PER_SEC };
}

/**
 * timer_open() - a timer as a source
 * @source: its @ready is set, @fd will be
 * @first_ns: from now to the first time, not 0
 * @every_ns: between two times, 0 once only
 *
 * Return: 0 or a negative errno.
 */
int timer_open(struct source *source, uint64_t first_ns, uint64_t every_ns)
{
	struct itimerspec when = { .it_value = timespec_of(first_ns),
				   .it_interval = timespec_of(every_ns) };
	int err;

	source->fd = timerfd_create(CLOCK_MONOTONIC,
				    TFD_NONBLOCK | TFD_CLOEXEC);
	if (source->fd < 0)
		return -errno;
	err = timerfd_settime(source->fd, 0, &when, NULL) ? -errno :
	      loop_add(source, EPOLLIN);
	if (err)
		close(source->fd);
	return err;
}

/**
 * timer_take() - how often a timer has gone off since it was last asked
 * @source: the timer
 */
uint64_t timer_take(const struct source *source)
{
	uint64_t n;

	return read(source->fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static void alarm_ready(struct source *source, uint32_t what)
{
	struct alarm *alarm = (struct alarm *)source;

	alarm_stop(alarm);
	alarm->ring(alarm->data);
}

/**
 * alarm_set() - have it ring, unless it is set already
 * @alarm: of ALARM_INIT()
 * @ns: from now, at least 1 is taken
 *
 * Return: 0 or a negative errno.
 */
int alarm_set(struct alarm *alarm, uint64_t ns)
{
	int ret;

	if (alarm->source.fd >= 0)
		return 0;
	alarm->source.ready = alarm_ready;
	ret = timer_open(&alarm->source, ns ? ns : 1, 0);
	if (ret)
		alarm->source.fd = -1;
	return ret;
}

/**
 * alarm_stop() - have it not ring
 * @alarm: the alarm
 */
void alarm_stop(struct alarm *alarm)
{
	if (alarm->source.fd < 0)
		return;
	loop_remove(&alarm->source);
	close(alarm->source.fd);
	alarm->source.fd = -1;
}

/**
 * now_ns() - CLOCK_MONOTONIC in nanoseconds
 */
uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_SEC + ts.tv_nsec;
}
