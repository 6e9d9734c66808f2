// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "log.h"
#include "mirror.h"

#define WAIT_MIN_NS	100000000ull
#define WAIT_MAX_NS	5000000000ull

/**
 * mirror_jitter() - randomize a time, so that hosts do not act at once
 * @ns: time in nanoseconds
 *
 * Return: a random time from one half to three halves of @ns.
 */
uint64_t mirror_jitter(uint64_t ns)
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = now_ns();
	return ns / 2 + random % (ns + 1);
}

static void start_watch(struct mirror *m);

static void begin_later(struct mirror *m)
{
	m->restarts++;
	alarm_set(&m->retry, mirror_jitter(m->wait_ns));
	m->wait_ns = 2 * m->wait_ns < WAIT_MAX_NS ? 2 * m->wait_ns :
		     WAIT_MAX_NS;
}

/* Does it have a change that the watch should have reported by now? */
static bool has_news(const struct mirror *m, const struct store_reply *reply)
{
	size_t i;

	for (i = 0; i < reply->n; i++)
		if (reply->kvs[i].mod > m->revision)
			return true;
	/* what was deleted is not there */
	return reply->n != m->n;
}

static void take_all(void *data, const struct store_reply *reply)
{
	struct mirror *m = data;
	size_t i;

	m->reading = false;
	store_heard(m->store, reply);
	if (reply->error) {
		log_debug("%s: %s", m->key, reply->text);
		if (!m->watch)
			begin_later(m);
		return;
	}
	/* this etcd member lags behind what was reported already */
	if (reply->cluster == m->cluster && reply->revision < m->revision) {
		if (!m->watch)
			begin_later(m);
		return;
	}
	/*
	 * The member that has the watch may hang, while others answer. If the event is
	 * only on its way, a new watch costs little.
	 */
	if (m->watch && (reply->cluster != m->cluster || has_news(m, reply))) {
		m->store->ops->unwatch(m->watch);
		m->watch = NULL;
	}
	m->wait_ns = WAIT_MIN_NS;
	m->n = reply->n;
	m->known = reply->cluster == m->cluster ? m->revision : 0;
	m->cluster = reply->cluster;
	m->revision = reply->revision;
	m->begin(m->data, reply->cluster);
	for (i = 0; i < reply->n; i++)
		m->set(m->data, &reply->kvs[i]);
	if (!m->watch)
		start_watch(m);
	m->end(m->data);
}

static void read_all(void *data)
{
	struct mirror *m = data;

	if (m->reading)
		return;
	m->reading = true;
	m->store->ops->range(m->store, m->key, m->prefix, 0, take_all, m);
}

static void read_anyway(void *data)
{
	struct mirror *m = data;

	alarm_set(&m->poll, mirror_jitter(m->poll_ns));
	if (m->watch)
		read_all(m);
}

static void take_events(void *data, int error, const struct store_kv *kvs,
			size_t n)
{
	struct mirror *m = data;
	bool news = false;
	size_t i;

	if (error) {
		m->compacted += error == -ERANGE;
		m->watch = NULL;
		begin_later(m);
		return;
	}
	for (i = 0; i < n; i++) {
		/* a read may have reported this change already */
		if (kvs[i].mod <= m->revision)
			continue;
		m->set(m->data, &kvs[i]);
		m->n += kvs[i].value ? kvs[i].create == kvs[i].mod : -1;
		news = true;
	}
	if (!news)
		return;
	m->revision = kvs[n - 1].mod;
	m->end(m->data);
}

static void start_watch(struct mirror *m)
{
	m->watch = m->store->ops->watch(m->store, m->key, m->prefix,
					m->revision + 1, take_events, m);
}

/**
 * mirror_start() - start to follow
 * @m: @store, @key, @prefix, @poll_ns and callbacks are set, all else is zero
 */
void mirror_start(struct mirror *m)
{
	m->wait_ns = WAIT_MIN_NS;
	m->retry = (struct alarm)ALARM_INIT(read_all, m);
	m->poll = (struct alarm)ALARM_INIT(read_anyway, m);
	alarm_set(&m->poll, mirror_jitter(m->poll_ns));
	read_all(m);
}

/**
 * mirror_look() - read now, as a watch seems to be silent
 * @m: mirror
 */
void mirror_look(struct mirror *m)
{
	if (m->watch)
		read_all(m);
}

/**
 * mirror_stop() - stop following; no callback is made after that
 * @m: mirror. Its store has to be closed before @m is freed, as a read may
 *	still be under way.
 */
void mirror_stop(struct mirror *m)
{
	if (m->watch)
		m->store->ops->unwatch(m->watch);
	m->watch = NULL;
	alarm_stop(&m->retry);
	alarm_stop(&m->poll);
}
