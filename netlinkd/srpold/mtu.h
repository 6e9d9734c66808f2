/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The MTU of a path, by probes that are as long as packets can be. Pure.
 *
 * Packets of the size that the device takes are tried first; when these do not
 * come back, although short probes do, the largest size that does is searched
 * for between two sizes. Then the full size is tried again now and then: what
 * was mended is found, and so is what got worse.
 */
#ifndef _SRPOLD_MTU_H
#define _SRPOLD_MTU_H

#include <stdbool.h>
#include <stdint.h>

#define MTU_MAX		65535	/* bytes that can be tried */

/**
 * struct mtu_search - of one path; zeroed at first
 * @good: bytes of the largest packet that came back, 0: none yet
 * @bad: of the smallest one that did not, 0: there is none
 * @size: of the one that is under way, 0: none is
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
