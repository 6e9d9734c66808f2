// SPDX-License-Identifier: BSD-2-Clause
/*
 * Each place has a turn: its number when it may be filled, one more when it
 * may be taken, and RING_SIZE more when it may be filled again. Who moves @head
 * from a place whose turn it is owns that place until it sets the turn.
 */
#include <stdatomic.h>

#include "ring.h"

struct place {
	atomic_uint_fast64_t turn;
	struct note note;
};

static struct place places[RING_SIZE];
static atomic_uint_fast64_t head;
static uint64_t tail;		/* of who takes */

/**
 * ring_reset() - an empty ring; nobody uses it meanwhile
 */
void ring_reset(void)
{
	uint64_t i;

	for (i = 0; i < RING_SIZE; i++)
		atomic_store_explicit(&places[i].turn, i,
				      memory_order_relaxed);
	tail = 0;
	atomic_store(&head, 0);
}

/**
 * ring_put() - leave a note; any thread
 * @note: it is copied
 *
 * Return: false if there was no room.
 */
bool ring_put(const struct note *note)
{
	uint64_t at = atomic_load_explicit(&head, memory_order_relaxed), turn;
	struct place *p;

	for (;;) {
		p = &places[at % RING_SIZE];
		turn = atomic_load_explicit(&p->turn, memory_order_acquire);
		if (turn < at)
			return false;
		if (turn > at)
			at = atomic_load_explicit(&head, memory_order_relaxed);
		else if (atomic_compare_exchange_weak_explicit(&head, &at,
				at + 1, memory_order_relaxed,
				memory_order_relaxed))
			break;
	}
	p->note = *note;
	atomic_store_explicit(&p->turn, at + 1, memory_order_release);
	return true;
}

/**
 * ring_take() - the next note; the sender alone
 * @note: result
 */
bool ring_take(struct note *note)
{
	struct place *p = &places[tail % RING_SIZE];

	if (atomic_load_explicit(&p->turn, memory_order_acquire) != tail + 1)
		return false;
	*note = p->note;
	atomic_store_explicit(&p->turn, tail + RING_SIZE, memory_order_release);
	tail++;
	return true;
}
