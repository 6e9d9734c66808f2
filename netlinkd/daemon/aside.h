/* SPDX-License-Identifier: GPL-2.0 */
/* Work that may wait for others, for as long as they like, aside from the loop. */
#ifndef _SRPOL_ASIDE_H
#define _SRPOL_ASIDE_H

#include <stdbool.h>
#include <stddef.h>

struct aside;

struct aside *aside_new(void (*work)(void *data), void (*done)(void *data),
			size_t size);
void *aside_data(struct aside *aside);
bool aside_start(struct aside *aside);
void aside_leave(struct aside *aside);

#endif /* _SRPOL_ASIDE_H */
