/* SPDX-License-Identifier: GPL-2.0 */
/* The event loop of a process: file descriptors and their handlers. */
#ifndef _SRPOL_LOOP_H
#define _SRPOL_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct source - a file descriptor in the loop
 * @fd: the descriptor, owned by whoever added it
 * @ready: called with EPOLL* events; it may remove and free the source
 */
struct source {
	int fd;
	void (*ready)(struct source *source, uint32_t events);
};

int loop_init(void);
int loop_add(struct source *source, uint32_t events);
int loop_change(struct source *source, uint32_t events);
void loop_remove(struct source *source);
int loop_run(void);
void loop_stop(void);
void loop_run_for(uint64_t ns);
int timer_open(struct source *source, uint64_t first_ns, uint64_t every_ns);
uint64_t timer_take(const struct source *source);

/**
 * struct alarm - a one-shot timer
 * @source: timerfd; its fd is -1 while the timer is not set
 * @ring: called when the timer expires; it may set it again
 * @data: argument of @ring
 */
struct alarm {
	struct source source;
	void (*ring)(void *data);
	void *data;
};

#define ALARM_INIT(f, d)	{ .source.fd = -1, .ring = (f), .data = (d) }

int alarm_set(struct alarm *alarm, uint64_t ns);
void alarm_stop(struct alarm *alarm);
uint64_t now_ns(void);

#endif /* _SRPOL_LOOP_H */
