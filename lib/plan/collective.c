// SPDX-License-Identifier: BSD-2-Clause
/*
 * What collective operations send, from the size of the buffer as NCCL's tests
 * (nccl-tests) define it: all that a rank has before or after the operation,
 * whichever is more. So an all-gather of R ranks that contribute S bytes each has
 * a buffer of R * S.
 */
#include <string.h>

#include "collective.h"

static const struct {
	const char *name;
	enum srpol_collective_to to;
} collectives[] = {
	[SRPOL_ALL_REDUCE] = { "all-reduce", SRPOL_TO_NEXT },
	[SRPOL_ALL_GATHER] = { "all-gather", SRPOL_TO_NEXT },
	[SRPOL_REDUCE_SCATTER] = { "reduce-scatter", SRPOL_TO_NEXT },
	[SRPOL_BROADCAST] = { "broadcast", SRPOL_TO_CHAIN },
	[SRPOL_ALL_TO_ALL] = { "all-to-all", SRPOL_TO_OTHERS },
};

/**
 * srpol_collective_find() - find a collective
 * @name: its name, such as "all-reduce"
 * @kind: result
 *
 * Return: false if none has that name.
 */
bool srpol_collective_find(const char *name, enum srpol_collective *kind)
{
	unsigned int i;

	for (i = 0; i < sizeof(collectives) / sizeof(*collectives); i++)
		if (!strcmp(collectives[i].name, name)) {
			*kind = i;
			return true;
		}
	return false;
}

/**
 * srpol_collective_to() - to whom a rank sends
 * @kind: the collective
 */
enum srpol_collective_to srpol_collective_to(enum srpol_collective kind)
{
	return collectives[kind].to;
}

/**
 * srpol_collective_bytes() - what a rank sends to each rank that it sends to
 * @kind: the collective
 * @ranks: number of ranks, not 0
 * @buffer: size of the buffer in bytes, below 2^63
 *
 * With C bytes and n ranks that is 2C(n-1)/n for an all-reduce, which is a
 * reduce-scatter and an all-gather; C(n-1)/n for each of these; C for a broadcast;
 * and C/n for an all-to-all.
 *
 * Return: bytes, rounded up.
 */
uint64_t srpol_collective_bytes(enum srpol_collective kind, uint32_t ranks,
				uint64_t buffer)
{
	switch (kind) {
	case SRPOL_ALL_REDUCE:
		return 2 * buffer - 2 * buffer / ranks;
	case SRPOL_ALL_GATHER:
	case SRPOL_REDUCE_SCATTER:
		return buffer - buffer / ranks;
	case SRPOL_ALL_TO_ALL:
		return buffer / ranks + (buffer % ranks != 0);
	default:
		return buffer;
	}
}
