/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A share of the engine's time for those who ask. The engine answers in its event loop,
 * so what answers take is missing for plans, and for the leader's lease.
 */
#ifndef _SRPOL_FABRICD_SHARE_H
#define _SRPOL_FABRICD_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct share - a share
 * @per_s: ns that answers may take in a second
 * @owed_s: seconds after which all is paid, whatever an answer took: what it took beyond
 *	that is not counted
 * @clock_part: 1/@clock_part of what they take by the clock counts if that is more than
 *	what they take of the processor; 0: only that
 * @worked_ns: what they have taken, as far as it is not paid for
 * @since_ns: up to when it is paid for (CLOCK_MONOTONIC)
 */
struct share {
	uint64_t per_s;
	uint32_t owed_s;
	uint32_t clock_part;
	uint64_t worked_ns;
	uint64_t since_ns;
};

/**
 * struct share_begin - when an answer was begun
 * @cpu_ns: time of this thread on the processor
 * @ns: CLOCK_MONOTONIC
 */
struct share_begin {
	uint64_t cpu_ns;
	uint64_t ns;
};

struct share_begin share_begin(void);
bool share_is_left(struct share *s, const struct share_begin *now);
uint32_t share_wait_s(const struct share *s, const struct share_begin *now);
void share_take(struct share *s, const struct share_begin *since);

#endif /* _SRPOL_FABRICD_SHARE_H */
