// SPDX-License-Identifier: GPL-2.0
/*
 * Work aside from the loop: what asks the kernel for something that it gives under
 * the RTNL waits as long as a driver holds that, for seconds when a NIC is reset. That
 * is when the loop has most to do.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "aside.h"
#include "loop.h"

enum state {
	IDLE,		/* no thread */
	BUSY,		/* a thread works */
	READY,		/* it has ended, and the loop will hear of it */
	LEFT,		/* nobody waits for it any more */
};

/**
 * struct aside - a piece of work
 * @source: eventfd by which the thread tells the loop that it is done
 * @work: what the thread does, with @data
 * @done: called by the loop after that
 * @state: enum state
 * @thread: to be joined if @state is READY
 * @data: belongs to the thread while it works
 */
struct aside {
	struct source source;
	void (*work)(void *data);
	void (*done)(void *data);
	atomic_int state;
	pthread_t thread;
	max_align_t data[];
};

static void release(struct aside *aside)
{
	close(aside->source.fd);
	free(aside);
}

static void *run(void *data)
{
	struct aside *aside = data;

	aside->work(aside->data);
	/* whoever leaves it in that moment waits for the end of this thread */
	if (atomic_exchange(&aside->state, READY) == LEFT)
		release(aside);
	else
		eventfd_write(aside->source.fd, 1);
	return NULL;
}

static void ready(struct source *source, uint32_t events)
{
	struct aside *aside = (struct aside *)source;
	eventfd_t n;

	if (eventfd_read(source->fd, &n))
		return;
	pthread_join(aside->thread, NULL);
	atomic_store(&aside->state, IDLE);
	aside->done(aside->data);
}

/**
 * aside_new() - prepare work
 * @work: called in a thread; it may use nothing of the loop's but its data
 * @done: called by the loop when @work has returned; it may start it again
 * @size: bytes of data, which are zeroed
 *
 * Return: NULL without memory or descriptors; aside_leave() ends it.
 */
struct aside *aside_new(void (*work)(void *data), void (*done)(void *data),
			size_t size)
{
	struct aside *aside = calloc(1, sizeof(*aside) + size);

	if (!aside)
		return NULL;
	aside->work = work;
	aside->done = done;
	aside->source.ready = ready;
	aside->source.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (aside->source.fd < 0) {
		free(aside);
		return NULL;
	}
	if (!loop_add(&aside->source, EPOLLIN))
		return aside;
	release(aside);
	return NULL;
}

/**
 * aside_data() - data of work that is not under way
 * @aside: the work, or NULL
 *
 * Return: NULL while it is under way, or there is none.
 */
void *aside_data(struct aside *aside)
{
	return aside && atomic_load(&aside->state) == IDLE ? aside->data : NULL;
}

/**
 * aside_start() - start work that is not under way
 * @aside: the work
 *
 * Return: whether it was started.
 */
bool aside_start(struct aside *aside)
{
	atomic_store(&aside->state, BUSY);
	if (!pthread_create(&aside->thread, NULL, run, aside))
		return true;
	atomic_store(&aside->state, IDLE);
	return false;
}

/**
 * aside_leave() - the result is not wanted any more; what is under way is not waited for
 * @aside: the work, or NULL; not valid any more after this
 */
void aside_leave(struct aside *aside)
{
	pthread_t thread;
	int was;

	if (!aside)
		return;
	loop_remove(&aside->source);
	thread = aside->thread;
	was = atomic_exchange(&aside->state, LEFT);
	if (was == BUSY) {
		/* it releases what it works on */
		pthread_detach(thread);
		return;
	}
	if (was == READY)
		pthread_join(thread, NULL);
	release(aside);
}
