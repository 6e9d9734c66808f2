/* SPDX-License-Identifier: GPL-2.0 */
/* What the unit tests share: cmocka in the order it wants, random numbers. */
#ifndef _SRPOL_TEST_H
#define _SRPOL_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "pure.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* The same numbers in every run and on every machine (xorshift64*). */
static inline u32 test_random(u64 *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (*state * 0x2545f4914f6cdd1dULL) >> 32;
}

#endif /* _SRPOL_TEST_H */
