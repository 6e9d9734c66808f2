/* SPDX-License-Identifier: GPL-2.0 */
/* SIDs of this namespace's hosts in the module. */
#ifndef _SRPOLD_SIDS_H
#define _SRPOLD_SIDS_H

#include "srpold.h"

/**
 * struct sids - SIDs of a transaction that is prepared
 * @engine: the engine
 * @there: SIDs of the module, struct sid_info
 * @wanted: by index in @there: the engine wants it
 * @batch: the transaction
 * @made: how many are made or changed
 * @deleted: how many are deleted
 */
struct sids {
	struct engine *engine;
	struct vec there;
	bool *wanted;
	struct srpol_batch *batch;
	unsigned int made;
	unsigned int deleted;
};

int sids_make(struct sids *s);
int sids_delete(struct sids *s);
void sids_forget(void);

#endif /* _SRPOLD_SIDS_H */
