/* SPDX-License-Identifier: GPL-2.0 */
/* Messages of hosts that may be lost, over the bus or the store. */
#ifndef _SRPOL_FABRICD_HEAR_H
#define _SRPOL_FABRICD_HEAR_H

#include "fabricd.h"

/**
 * struct hearing - a receiver of such messages
 * @set: a host sent a value; without a value: its key was deleted
 * @end: the store was read completely
 * @data: argument of both
 * @prefix: prefix of the keys
 * @mirror: mirror of the store
 * @bus: connection to the bus, NULL: the store is used
 * @number: messages received; takes the place of revisions in the store
 * @strange: messages whose subject is not a key with @prefix
 * @next: the next receiver that is on the bus
 */
struct hearing {
	void (*set)(void *data, const struct store_kv *kv);
	void (*end)(void *data);
	void *data;
	char prefix[STORE_KEY_LEN];
	struct mirror mirror;
	struct bus *bus;
	uint64_t number;
	uint64_t strange;
	struct hearing *next;
};

int hear_start(struct hearing *h, const char *what, struct sweep *sweep,
	       struct srpol_error *err);
void hear_stop(struct hearing *h);
void hear_bus(struct bus_stats *stats);
uint32_t hear_host(const char *key, uint32_t *leaf);

#endif /* _SRPOL_FABRICD_HEAR_H */
