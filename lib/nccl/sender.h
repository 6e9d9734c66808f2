/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one thread that has time: it adds up what threads of NCCL left in the
 * ring, and tells srpold.
 */
#ifndef _SRPOL_NCCL_SENDER_H
#define _SRPOL_NCCL_SENDER_H

#include "comm.h"

/**
 * struct sender_stats - what happened since the process began
 * @dropped: notes for which the ring had no room, or nobody to take them
 * @sent: announcements that srpold's socket took
 * @lost: those that it did not take whole and at once
 */
struct sender_stats {
	uint64_t dropped;
	uint64_t sent;
	uint64_t lost;
};

bool sender_start(const struct hosts *hosts);
void sender_stop(void);
void sender_forked(void);
bool sender_note(const struct note *note);
struct sender_stats sender_stats(void);

#endif /* _SRPOL_NCCL_SENDER_H */
