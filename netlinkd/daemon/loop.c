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
 * Events of the current round. A source that is removed while they are handled
 * may have an event later in the round; loop_remove() clears it, so that it is
 * skipped.
 */
static struct epoll_event events[EVENTS];
static int n_events;

/**
 * loop_init() - create the loop
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
 * @source: source with its @fd and @ready set; must stay valid until it is
 *	removed
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
 * loop_change() - change the events that are watched
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
 * loop_remove() - stop watching a descriptor, which is not closed
 * @source: source of loop_add()
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
 * loop_run() - handle events until loop_stop()
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
		for (i = 0; i < n_events && !stopping; i++) {
			source = events[i].data.ptr;
			if (source)
				source->ready(source, events[i].events);
		}
		n_events = 0;
	}
	return 0;
}

/**
 * loop_stop() - make loop_run() return after the current event
 */
void loop_stop(void)
{
	stopping = true;
}

static void end_loop(void *data)
{
	loop_stop();
}

/**
 * loop_run_for() - handle events once more after loop_stop(), so that what was asked
 * for last goes out
 * @ns: for how long
 */
void loop_run_for(uint64_t ns)
{
	struct alarm end = ALARM_INIT(end_loop, NULL);

	stopping = false;
	if (!alarm_set(&end, ns))
		loop_run();
	alarm_stop(&end);
	stopping = true;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = ns / NS_PER_SEC,
				  .tv_nsec = ns % NS_PER_SEC };
}

/**
 * timer_open() - create a timer and add it to the loop
 * @source: @ready is set; @fd will be
 * @first_ns: time until it first expires, not 0
 * @every_ns: period after that, 0: expires only once
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
	if (err) {
		close(source->fd);
		source->fd = -1;
	}
	return err;
}

/**
 * timer_take() - read how often a timer has expired since the last call
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
 * alarm_set() - set an alarm, unless it is set already
 * @alarm: initialized by ALARM_INIT()
 * @ns: nanoseconds from now; 0 counts as 1
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
 * alarm_stop() - cancel an alarm, if it is set
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
 * now_ns() - read CLOCK_MONOTONIC in nanoseconds
 */
uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_SEC + ts.tv_nsec;
}
