/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What threads of NCCL leave for the sender: a queue of a fixed size that
 * many may put into and one takes from, without a lock. Who finds it full
 * goes on, and is counted.
 */
#ifndef _SRPOL_NCCL_RING_H
#define _SRPOL_NCCL_RING_H

#include <stdbool.h>
#include <stdint.h>

enum { RING_SIZE = 4096 };	/* a power of two */

/**
 * enum note_kind - what a note tells
 * @NOTE_COLL: a collective begins
 * @NOTE_SEND: a message begins
 * @NOTE_PROXY: a channel will send by network
 * @NOTE_END: a communicator has ended
 */
enum note_kind { NOTE_COLL, NOTE_SEND, NOTE_PROXY, NOTE_END };

/**
 * struct note - what a thread says
 * @kind: what it tells
 * @func: enum func of a collective
 * @algo: enum algo of a collective
 * @peer: rank
 * @comm: communicator; the sender frees it with NOTE_END
 * @bytes: of the buffer, or of the message
 */
struct note {
	uint8_t kind;
	uint8_t func;
	uint8_t algo;
	int peer;
	struct comm *comm;
	uint64_t bytes;
};

void ring_reset(void);
bool ring_put(const struct note *note);
bool ring_take(struct note *note);

#endif /* _SRPOL_NCCL_RING_H */
