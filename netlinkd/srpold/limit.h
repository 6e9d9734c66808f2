/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The limit of one color, from its rate; limits.c applies those of all colors.
 */
#ifndef _SRPOLD_LIMIT_H
#define _SRPOLD_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "plan.h"
#include "srpol_lib.h"

uint64_t limit_rate(const struct srpol_index *index, uint32_t color);
bool limit_change(struct srpol_limit *l, uint64_t rate, bool paced,
		  uint64_t now);

#endif /* _SRPOLD_LIMIT_H */
