/* SPDX-License-Identifier: GPL-2.0 */
/* What hosts tell that may be lost, over the bus or the store. */
#ifndef _SRPOL_FABRICD_HEAR_H
#define _SRPOL_FABRICD_HEAR_H

#include "fabricd.h"

/**
 * struct hearing - what is listened to
 * @set: somebody told something; without a value: it is gone
 * @end: all of the store was read
 * @data: for both
 * @prefix: of the keys
 * @mirror: in the store
 * @bus: on the bus, NULL: it is in the store
 * @number: messages taken, which are what revisions are in the store
 * @strange: messages whose subject is no key of these
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
};

int hear_start(struct hearing *h, const char *what, struct sweep *sweep,
	       struct srpol_error *err);
void hear_stop(struct hearing *h);
uint32_t hear_host(const char *key, uint32_t *leaf);

#endif /* _SRPOL_FABRICD_HEAR_H */
