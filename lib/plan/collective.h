/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What collective operations send. The global engine and the profiler plugin of
 * NCCL (lib/nccl) share this; it needs no other part of srpol.
 */
#ifndef _SRPOL_COLLECTIVE_H
#define _SRPOL_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * enum srpol_collective - a collective operation
 * @SRPOL_ALL_REDUCE: all have the sum of all, by a ring
 * @SRPOL_ALL_GATHER: all have the parts of all, by a ring
 * @SRPOL_REDUCE_SCATTER: each has a part of the sum, by a ring
 * @SRPOL_BROADCAST: all have what the first one has, by a chain
 * @SRPOL_ALL_TO_ALL: each has a part of what each other one has
 */
enum srpol_collective {
	SRPOL_ALL_REDUCE,
	SRPOL_ALL_GATHER,
	SRPOL_REDUCE_SCATTER,
	SRPOL_BROADCAST,
	SRPOL_ALL_TO_ALL,
};

/**
 * enum srpol_collective_to - to whom a rank sends
 * @SRPOL_TO_NEXT: to the next one, and the last one to the first
 * @SRPOL_TO_CHAIN: to the next one, and the last one to nobody
 * @SRPOL_TO_OTHERS: to each other one
 */
enum srpol_collective_to {
	SRPOL_TO_NEXT,
	SRPOL_TO_CHAIN,
	SRPOL_TO_OTHERS,
};

bool srpol_collective_find(const char *name, enum srpol_collective *kind);
enum srpol_collective_to srpol_collective_to(enum srpol_collective kind);
uint64_t srpol_collective_bytes(enum srpol_collective kind, uint32_t ranks,
				uint64_t buffer);

#endif /* _SRPOL_COLLECTIVE_H */
