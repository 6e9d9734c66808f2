/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _CLOCK_H
#define _CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

#endif /* _CLOCK_H */
