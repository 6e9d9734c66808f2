// SPDX-License-Identifier: GPL-2.0
/*
 * Saves a file without waiting for the disk, which may take as long as it likes: whoever
 * follows a plan also has probes to send. A thread writes what it is given; of what comes
 * meanwhile only the newest counts. It ends as soon as there is nothing left to write.
 *
 * A reload does not wait for the disk either: a saver that still has something to write
 * when it is closed goes on, and whoever opens its file again gets this saver and what is
 * on its way to the disk, or could not be written. Only savers_end() waits.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "follow.h"
#include "log.h"
#include "loop.h"
#include "save.h"

/**
 * struct saver - a file, of which the newest contents count
 * @source: eventfd by which the thread tells the loop that it has written; in the loop
 *	while the saver is open, and open as long as the thread may run
 * @file: name of the file, with that of its folder resolved
 * @saved: called by the loop when something was written
 * @data: argument of @saved
 * @lock: for the members up to @busy
 * @next: contents that are not written yet, NULL: none
 * @writing: contents that are being written, which nobody changes, NULL: none
 * @lost: newest contents, if they could not be written, NULL: they could, or will be
 * @put: number of the newest contents
 * @taken: number of those that were last taken to be written
 * @done: number of those that were last written, or could not be
 * @busy: the thread will see @next
 * @started: @thread is to be joined
 * @thread: runs while there is something to write
 * @other: another saver
 */
struct saver {
	struct source source;
	char file[PATH_MAX];
	void (*saved)(void *data);
	void *data;
	pthread_mutex_t lock;
	json_t *next;
	json_t *writing;
	json_t *lost;
	uint64_t put;
	uint64_t taken;
	uint64_t done;
	bool busy;
	bool started;
	pthread_t thread;
	struct saver *other;
};

/* Those that are open, and those that still had something to write when they were not. */
static struct saver *savers;

/* The newest contents, which are then being written; NULL: the thread ends. */
static const json_t *take(struct saver *s)
{
	const json_t *o;

	pthread_mutex_lock(&s->lock);
	o = s->writing = s->next;
	s->taken = s->put;
	s->next = NULL;
	s->busy = o;
	pthread_mutex_unlock(&s->lock);
	return o;
}

static void tell(struct saver *s, bool written)
{
	json_t *o, *lost;

	pthread_mutex_lock(&s->lock);
	o = s->writing;
	lost = s->lost;
	s->writing = NULL;
	s->lost = written ? NULL : json_incref(o);
	s->done = s->taken;
	pthread_mutex_unlock(&s->lock);
	json_decref(lost);
	json_decref(o);
	eventfd_write(s->source.fd, 1);
}

static void save_all(struct saver *s)
{
	const json_t *o;
	int ret;

	while ((o = take(s))) {
		ret = store_save(s->file, o, NULL);
		if (ret)
			log_error("%s: %s; without the store there will be an older plan after a restart, or none",
				  s->file, strerror(-ret));
		tell(s, !ret);
	}
}

/* Probes are urgent, and may have put the process before others; the disk is not. */
static void be_patient(void)
{
	/* 0 is the calling thread alone */
	if (getpriority(PRIO_PROCESS, 0) < 0)
		setpriority(PRIO_PROCESS, 0, 0);
}

static void *run(void *data)
{
	be_patient();
	save_all(data);
	return NULL;
}

static void join(struct saver *s)
{
	if (s->started)
		pthread_join(s->thread, NULL);
	s->started = false;
}

static void told(struct source *source, uint32_t events)
{
	struct saver *s = (struct saver *)source;
	eventfd_t n;

	if (!eventfd_read(source->fd, &n))
		s->saved(s->data);
}

/*
 * A reload may spell the folder in another way, and two threads must not write one
 * file. @full: PATH_MAX bytes
 */
static void resolve(const char *file, char *full)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	char folder[PATH_MAX] = ".", *resolved;

	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(name - file), file);
	resolved = realpath(folder, NULL);
	if (!resolved || (size_t)snprintf(full, PATH_MAX, "%s/%s", resolved, name) >= PATH_MAX)
		snprintf(full, PATH_MAX, "%s", file);
	free(resolved);
}

static struct saver *saver_of(const char *name)
{
	char file[PATH_MAX];
	struct saver *s;

	resolve(name, file);
	for (s = savers; s; s = s->other)
		if (!strcmp(s->file, file))
			return s;
	s = store_alloc(sizeof(*s));
	s->source.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	s->source.ready = told;
	strcpy(s->file, file);
	pthread_mutex_init(&s->lock, NULL);
	s->other = savers;
	savers = s;
	return s;
}

/* Once there is nothing left to write. */
static void end(struct saver *s)
{
	struct saver **at = &savers;

	join(s);
	while (*at != s)
		at = &(*at)->other;
	*at = s->other;
	if (s->source.fd >= 0)
		close(s->source.fd);
	json_decref(s->lost);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* It ends now, or with savers_end() if it has what the disk has not. */
static void leave(struct saver *s)
{
	bool stays;

	pthread_mutex_lock(&s->lock);
	stays = s->busy || s->lost;
	pthread_mutex_unlock(&s->lock);
	if (!stays)
		end(s);
}

/**
 * saver_open() - get ready to save a file
 * @file: its name; one saver of it is open at a time
 * @saved: called by the loop after contents were written, or could not be
 * @data: argument of @saved
 *
 * Return: saver, to be closed with saver_close(); NULL, with errno set, if the loop cannot
 * be told.
 */
struct saver *saver_open(const char *file, void (*saved)(void *data), void *data)
{
	struct saver *s = saver_of(file);
	int ret;

	s->saved = saved;
	s->data = data;
	ret = s->source.fd < 0 ? -errno : loop_add(&s->source, EPOLLIN);
	if (!ret)
		return s;
	leave(s);
	errno = -ret;
	return NULL;
}

/**
 * saver_put() - replace the file soon
 * @s: saver
 * @o: new contents, whose only reference is taken
 *
 * Return: their number, for saver_has().
 */
uint64_t saver_put(struct saver *s, json_t *o)
{
	uint64_t number;
	bool busy;

	pthread_mutex_lock(&s->lock);
	json_decref(s->next);
	s->next = o;
	number = ++s->put;
	busy = s->busy;
	s->busy = true;
	pthread_mutex_unlock(&s->lock);
	if (busy)
		return number;
	/* the thread before this one has nothing left to do but to end */
	join(s);
	s->started = !pthread_create(&s->thread, NULL, run, s);
	if (!s->started)
		save_all(s);
	return number;
}

/**
 * saver_has() - are contents, or newer ones, on the disk?
 * @s: saver
 * @number: number of the contents
 *
 * Return: true also if they could not be written, which was logged.
 */
bool saver_has(struct saver *s, uint64_t number)
{
	bool has;

	pthread_mutex_lock(&s->lock);
	has = s->done >= number;
	pthread_mutex_unlock(&s->lock);
	return has;
}

/**
 * saver_pending() - contents on their way to the disk, or which could not be written
 * @s: saver
 * @number: their number if they are on their way, else 0
 *
 * Return: a reference to the newest contents, which are only to be read; NULL if the file
 * has them.
 */
json_t *saver_pending(struct saver *s, uint64_t *number)
{
	json_t *o;

	pthread_mutex_lock(&s->lock);
	o = s->next ?: s->writing;
	*number = o ? s->put : 0;
	o = json_incref(o ?: s->lost);
	pthread_mutex_unlock(&s->lock);
	return o;
}

/**
 * saver_close() - no more contents come for now
 * @s: saver, which stays if it has what the disk has not; may be NULL
 */
void saver_close(struct saver *s)
{
	if (!s)
		return;
	loop_remove(&s->source);
	leave(s);
}

/**
 * savers_end() - wait until all that was put is on the disk
 *
 * All savers are closed.
 */
void savers_end(void)
{
	while (savers)
		end(savers);
}
