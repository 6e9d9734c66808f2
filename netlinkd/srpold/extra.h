/* SPDX-License-Identifier: GPL-2.0 */
/* What the engine can do without, and starts later if it must. */
#ifndef _SRPOL_EXTRA_H
#define _SRPOL_EXTRA_H

#include "srpold.h"

/**
 * struct extra - what the engine can do without
 * @start: starts it
 * @stop: called after it failed to start; NULL: there is nothing to stop
 * @late: called after it has started when it was tried again; NULL: nothing follows
 * @without: what the log says if it fails
 * @with: what it says if it has started late
 * @said: reason that was logged last
 * @next: also failed to start
 */
struct extra {
	int (*start)(struct engine *engine, struct srpol_error *err);
	void (*stop)(void);
	void (*late)(void);
	const char *without;
	const char *with;
	struct srpol_error said;
	struct extra *next;
};

int extra_start(struct extra *extra, struct engine *engine, bool back,
		struct srpol_error *err);
void extras_try(void);
void extras_stop(void);

#endif /* _SRPOL_EXTRA_H */
