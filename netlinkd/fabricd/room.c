// SPDX-License-Identifier: GPL-2.0
/*
 * The room that jobs may take in the store. An engine that starts reads all of them as
 * one answer, of which it takes 64 MiB at most, and what holds them is up to twice as
 * long as their texts. If that failed, nothing would be planned or deleted any more.
 * Jobs of other shards are read with them. What another shard's engine adds at the same
 * time may come on top, for which there is room enough.
 */
#include <errno.h>
#include <string.h>

#include "tenants.h"

#define MIB		(1 << 20)
#define ALL_MAX		(16 * MIB)
#define ALL_USERS_MAX	(12 * MIB)	/* with what users of tenants add; operators have the rest */
#define TENANT_MAX	(4 * MIB)	/* with what its users add, so that others have room */
#define KEY_ROOM	128		/* of a key in an answer, beside its name and text */
#define FORGET_NS	(60 * NS_PER_SEC)	/* by then jobs are read anew */

static size_t under_way;	/* of jobs that were not heard of yet */
static unsigned int writing;	/* transactions */
static uint64_t written;	/* greatest revision of one */
static uint64_t begun_ns;	/* when the last one began */

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

/**
 * room_all_heard() - whether the store has told of all jobs that this engine has written
 */
bool room_all_heard(void)
{
	return (!writing && inputs_jobs_revision() >= written) ||
	       now_ns() - begun_ns > FORGET_NS;
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

	if (room_all_heard())
		under_way = 0;
	if (of > TENANT_MAX)
		return srpol_error_set(err, -ENOSPC,
				       "with this one, jobs of tenant %s would take %.1f MiB in the store; its users may add jobs up to %u MiB",
				       own, 1.0 * of / MIB, TENANT_MAX / MIB);
	if (all > max)
		return srpol_error_set(err, -ENOSPC,
				       *own ? "with this one, all jobs would take %.1f MiB in the store; users may add jobs up to %zu MiB" :
				       "with this one, all jobs would take %.1f MiB in the store; %zu MiB are the most",
				       1.0 * all / MIB, max / MIB);
	if (all + under_way <= max && (!*own || of + under_way <= TENANT_MAX))
		return 0;
	return srpol_error_set(err, -EAGAIN,
			       "the store has not told yet of other jobs that were added, which leave no room for this one");
}

/**
 * room_begin() - a job is being written
 * @key: its key
 * @len: length of its text in bytes
 */
void room_begin(const char *key, size_t len)
{
	under_way += room_of(key, len);
	begun_ns = now_ns();
	writing++;
}

/**
 * room_end() - the answer to that has come
 * @revision: of the store, if it was written
 */
void room_end(uint64_t revision)
{
	writing--;
	if (revision > written)
		written = revision;
}
