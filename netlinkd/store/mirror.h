/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Follows a key or all keys with a prefix: reads them, watches them from that
 * revision on, and starts again after a random delay when the watch ends. A
 * change may be reported twice, but never out of order.
 */
#ifndef _SRPOL_MIRROR_H
#define _SRPOL_MIRROR_H

#include "loop.h"
#include "store.h"

/**
 * struct mirror - follows a key or a prefix
 * @store: open store
 * @key: the key or prefix
 * @prefix: @key is a prefix
 * @poll_ns: the keys are also read about once per this time, as a watch may
 *	fall silent
 * @begin: all present keys follow; keys that do not come were deleted
 * @set: a key has this value, or was deleted (value NULL)
 * @end: all keys or changes known so far were reported
 * @data: argument of the callbacks
 * @restarts: times it had to start again
 * @compacted: how many of these because the wanted revision was compacted
 * @cluster: identifier of the store that @revision belongs to
 * @revision: revision up to which everything was reported; during the callbacks
 *	for a read, the revision of that read
 * @watch: open watch, NULL: none
 * @retry: timer to start again
 * @wait_ns: next delay of @retry
 * @poll: timer of the periodic read
 * @reading: a read is under way
 * @n: number of keys
 * @known: values with a revision up to this one were reported before the last read
 */
struct mirror {
	struct store *store;
	const char *key;
	bool prefix;
	uint64_t poll_ns;
	void (*begin)(void *data, uint64_t cluster);
	void (*set)(void *data, const struct store_kv *kv);
	void (*end)(void *data);
	void *data;
	uint64_t restarts;
	uint64_t compacted;
	uint64_t cluster;
	uint64_t revision;
	struct store_watch *watch;
	struct alarm retry;
	uint64_t wait_ns;
	struct alarm poll;
	bool reading;
	size_t n;
	uint64_t known;
};

/**
 * mirror_is_news() - whether a value that is reported was not reported before
 * @m: mirror, in its callback @set
 * @kv: the value
 *
 * What was wrong is told and counted once, not each time that all is read.
 */
static inline bool mirror_is_news(const struct mirror *m,
				  const struct store_kv *kv)
{
	return kv->mod > m->known;
}

void mirror_start(struct mirror *m);
void mirror_look(struct mirror *m);
void mirror_stop(struct mirror *m);
uint64_t mirror_jitter(uint64_t ns);

#endif /* _SRPOL_MIRROR_H */
