/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps somebody up to date on a prefix: reads it, watches it from there, and
 * begins anew, after a while at random, when that ends. What is heard may be
 * heard twice, but never out of order.
 */
#ifndef _SRPOL_MIRROR_H
#define _SRPOL_MIRROR_H

#include "loop.h"
#include "store.h"

/**
 * struct mirror - a prefix somebody is up to date on
 * @store: open store
 * @key: the prefix, or one key
 * @prefix: which of these
 * @poll_ns: it is read anyway once in this time, as a watch can fall silent
 * @begin: all keys come now: what does not come is gone
 * @set: a key, or its end (value NULL)
 * @end: these were all there are now
 * @data: for these
 * @restarts: number of times it began anew
 * @compacted: these of them that fell behind compaction
 * @cluster: whose revisions
 * @revision: up to which all was heard; while a read is told, that of the read
 * @watch: open watch
 * @retry: begin anew
 * @wait_ns: after so long
 * @poll: read anyway
 * @reading: a read is under way
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
};

void mirror_start(struct mirror *m);
void mirror_stop(struct mirror *m);
uint64_t mirror_jitter(uint64_t ns);

#endif /* _SRPOL_MIRROR_H */
