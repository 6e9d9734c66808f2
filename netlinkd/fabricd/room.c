// SPDX-License-Identifier: GPL-2.0
/*
 * The room that jobs may take in the store. An engine that starts reads all of them as
 * one answer, of which it takes 64 MiB at most, and what holds them is up to twice as
 * long as their texts. If that failed, nothing would be planned or deleted any more.
 * Jobs of other shards are read with them. What another shard's engine adds at the same
 * time may come on top, for which there is room enough.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tenants.h"

#define MIB		(1 << 20)
#define ALL_MAX		(16 * MIB)
#define ALL_USERS_MAX	(12 * MIB)	/* with what users of tenants add; operators have the rest */
#define TENANT_MAX	(4 * MIB)	/* with what its users add, so that others have room */
#define KEY_ROOM	128		/* of a key in an answer, beside its name and text */
#define FORGET_NS	(60 * NS_PER_SEC)	/* by then jobs are read anew */

/**
 * struct room_add - a job that this engine adds, until the store has told of it
 * @next: next one
 * @room: what it takes in the store
 * @begun_ns: when its transaction began
 * @cluster: the store that @written is of
 * @written: revision of the store in which it is there, 0: the answer has not come
 * @key: its key
 */
struct room_add {
	struct room_add *next;
	size_t room;
	uint64_t begun_ns;
	uint64_t cluster;
	uint64_t written;
	char key[];
};

static struct room_add *adds;

static size_t room_of(const char *key, size_t len)
{
	return strlen(key) + len + KEY_ROOM;
}

static size_t taken_by(const struct vec *list, const char *prefix)
{
	const struct input *job;
	size_t n, sum = 0;

	for (job = inputs_with_prefix(list, prefix, &n); n; job++, n--)
		sum += room_of(job->key, job->len);
	return sum;
}

/* Of jobs whose keys have a prefix, whatever shard they are of. */
static size_t taken(const char *prefix)
{
	return taken_by(&fabricd.jobs, prefix) + taken_by(&fabricd.foreign, prefix);
}

static void forget(struct room_add **at)
{
	struct room_add *a = *at;

	*at = a->next;
	free(a);
}

static void forget_heard(void)
{
	struct room_add *a, **at = &adds;

	while ((a = *at)) {
		if (a->written && (inputs_jobs_heard(a->cluster, a->written) ||
				   now_ns() - a->begun_ns > FORGET_NS))
			forget(at);
		else
			at = &a->next;
	}
}

/**
 * room_read() - all jobs are read
 * @cluster: the store that they are in
 *
 * What was added to one that is lost is not heard of any more.
 */
void room_read(uint64_t cluster)
{
	struct room_add *a, **at = &adds;

	while ((a = *at)) {
		if (a->written && a->cluster != cluster)
			forget(at);
		else
			at = &a->next;
	}
}

/**
 * room_awaits() - whether this engine adds a job, and the store has not told of it yet
 * @key: its key
 */
bool room_awaits(const char *key)
{
	const struct room_add *a;

	forget_heard();
	for (a = adds; a; a = a->next)
		if (!strcmp(a->key, key))
			return true;
	return false;
}

static size_t under_way(void)
{
	const struct room_add *a;
	size_t sum = 0;

	forget_heard();
	for (a = adds; a; a = a->next)
		sum += a->room;
	return sum;
}

/**
 * room_check() - check that there is room for one more job
 * @key: its key
 * @len: length of its text in bytes
 * @own: tenant of the user who adds it, empty: an operator
 * @err: message if there is none
 *
 * Return: 0, -ENOSPC, -EAGAIN: there may be none, which is known once the store has told
 * of jobs that were added just now.
 */
int room_check(const char *key, size_t len, const char *own, struct srpol_error *err)
{
	size_t more = room_of(key, len), all = taken("job/") + more;
	size_t max = *own ? ALL_USERS_MAX : ALL_MAX;
	char prefix[STORE_KEY_LEN];
	size_t of = *own ? taken(key_job(prefix, own, "")) + more : 0;
	size_t untold = under_way();

	if (of > TENANT_MAX)
		return srpol_error_set(err, -ENOSPC,
				       "with this one, jobs of tenant %s would take %.1f MiB in the store; its users may add jobs up to %u MiB",
				       own, 1.0 * of / MIB, TENANT_MAX / MIB);
	if (all > max)
		return srpol_error_set(err, -ENOSPC,
				       *own ? "with this one, all jobs would take %.1f MiB in the store; users may add jobs up to %zu MiB" :
				       "with this one, all jobs would take %.1f MiB in the store; %zu MiB are the most",
				       1.0 * all / MIB, max / MIB);
	if (all + untold <= max && (!*own || of + untold <= TENANT_MAX))
		return 0;
	return srpol_error_set(err, -EAGAIN,
			       "the store has not told yet of other jobs that were added, which leave no room for this one");
}

/**
 * room_begin() - a job is being written
 * @key: its key
 * @len: length of its text in bytes
 *
 * Return: what room_end() has to be told.
 */
struct room_add *room_begin(const char *key, size_t len)
{
	struct room_add *a = store_alloc(sizeof(*a) + strlen(key) + 1);

	strcpy(a->key, key);
	a->room = room_of(key, len);
	a->begun_ns = now_ns();
	a->next = adds;
	adds = a;
	return a;
}

/**
 * room_end() - the answer to that has come
 * @a: the job, which must not be used any more
 * @reply: the answer
 */
void room_end(struct room_add *a, const struct store_reply *reply)
{
	struct room_add **at = &adds;

	if (reply->succeeded) {
		a->cluster = reply->cluster;
		a->written = reply->revision;
		return;
	}
	while (*at != a)
		at = &(*at)->next;
	forget(at);
}
