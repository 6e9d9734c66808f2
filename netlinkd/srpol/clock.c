// SPDX-License-Identifier: GPL-2.0
/* Reads clocks. */
#include "srpol.h"

/**
 * clock_ns() - time of a clock
 * @clock: one that every Linux has, so that this cannot fail
 *
 * Return: ns.
 */
uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}
