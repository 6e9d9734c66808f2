// SPDX-License-Identifier: GPL-2.0
/*
 * Saves a file without waiting for the disk, which may take as long as it likes: whoever
 * follows a plan also has probes to send. A thread writes what it is given; of what comes
 * meanwhile only the newest counts. It ends as soon as there is nothing left to write.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "follow.h"
#include "log.h"
#include "save.h"

/**
 * struct saver - a file, of which the newest contents count
 * @file: name of the file
 * @lock: for @next and @busy
 * @next: contents that are not written yet, NULL: none
 * @busy: the thread will see @next
 * @started: @thread is to be joined
 * @thread: runs while there is something to write
 */
struct saver {
	const char *file;
	pthread_mutex_t lock;
	json_t *next;
	bool busy;
	bool started;
	pthread_t thread;
};

/* The newest contents, which are the thread's alone from then on; NULL: it ends. */
static json_t *take(struct saver *s)
{
	json_t *o;

	pthread_mutex_lock(&s->lock);
	o = s->next;
	s->next = NULL;
	s->busy = o;
	pthread_mutex_unlock(&s->lock);
	return o;
}

static void *save_all(void *data)
{
	struct saver *s = data;
	json_t *o;
	int ret;

	while ((o = take(s))) {
		ret = store_save(s->file, o);
		json_decref(o);
		if (ret)
			log_error("%s: %s; without the store there will be no plan after a restart",
				  s->file, strerror(-ret));
	}
	return NULL;
}

static void join(struct saver *s)
{
	if (s->started)
		pthread_join(s->thread, NULL);
	s->started = false;
}

/**
 * saver_start() - get ready to save a file
 * @file: its name, which must stay valid
 *
 * Return: saver, to be ended with saver_end().
 */
struct saver *saver_start(const char *file)
{
	struct saver *s = store_alloc(sizeof(*s));

	s->file = file;
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

/**
 * saver_put() - replace the file soon
 * @s: saver
 * @o: new contents, whose only reference is taken
 */
void saver_put(struct saver *s, json_t *o)
{
	bool busy;

	pthread_mutex_lock(&s->lock);
	json_decref(s->next);
	s->next = o;
	busy = s->busy;
	s->busy = true;
	pthread_mutex_unlock(&s->lock);
	if (busy)
		return;
	/* the thread before this one has nothing left to do but to end */
	join(s);
	s->started = !pthread_create(&s->thread, NULL, save_all, s);
	if (!s->started)
		save_all(s);
}

/**
 * saver_end() - wait until the newest contents are on the disk
 * @s: saver, which is freed
 */
void saver_end(struct saver *s)
{
	join(s);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
