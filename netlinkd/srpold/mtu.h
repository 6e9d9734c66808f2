/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Path MTU, from probes that are as long as packets can be. Pure.
 *
 * Packets of the size that the device takes are tried first. If these do not
 * come back although short probes do, a binary search finds the largest size
 * that does. The full size is then tried again periodically, so that both
 * repairs and further damage are noticed.
 */
#ifndef _SRPOLD_MTU_H
#define _SRPOLD_MTU_H

#include <stdbool.h>
#include <stdint.h>

#define MTU_MAX		65535	/* largest size to try, in bytes */

/**
 * struct mtu_search - search on one path; zeroed at first
 * @good: bytes of the largest packet that came back, 0: none yet
 * @bad: bytes of the smallest packet that did not, 0: none
 * @size: bytes of the packet that is under way, 0: none
 * @lost: times in a row that this size was lost
 * @next_ns: when to try again
 */
struct mtu_search {
	uint32_t good;
	uint32_t bad;
	uint32_t size;
	uint32_t lost;
	uint64_t next_ns;
};

uint32_t mtu_next(struct mtu_search *s, uint32_t want, uint64_t now);
bool mtu_answer(struct mtu_search *s, uint64_t now);
bool mtu_lost(struct mtu_search *s, uint64_t now);
void mtu_forget(struct mtu_search *s);
bool mtu_is_narrow(const struct mtu_search *s);

#endif /* _SRPOLD_MTU_H */
