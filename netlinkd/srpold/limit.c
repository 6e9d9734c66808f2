// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "limit.h"

#define BURST_NS	1000000ull
#define BURST_BYTES	(32 * 1024ull)
#define HORIZON_NS	20000000ull
#define HORIZON_BYTES	(64 * 1024ull)
#define HORIZON_MAX_NS	5000000000ull	/* fq drops packets due in 10 s or
					 * more */

static int by_color(const void *key, const void *limit)
{
	const uint32_t *color = key;
	const struct srpol_limit_rate *l = limit;

	return (*color > l->color) - (*color < l->color);
}

/**
 * limit_rate() - a color's rate limit in a plan
 * @index: index of the plan, NULL: no plan
 * @color: color
 *
 * Return: bit/s per GPU, 0: no limit.
 */
uint64_t limit_rate(const struct srpol_index *index, uint32_t color)
{
	const struct srpol_limit_rate *l;

	l = index && index->n_limits ?
	    bsearch(&color, index->limits, index->n_limits, sizeof(*l),
		    by_color) : NULL;
	return l ? l->rate : 0;
}

/* The longer of @ns and the time that @bytes take at @rate. */
static uint64_t at_least(uint64_t ns, uint64_t bytes, uint64_t rate)
{
	uint64_t take = bytes * 8 * 1000000000 / rate;

	return take > ns ? take : ns;
}

static uint64_t horizon_of(uint64_t rate)
{
	uint64_t ns = at_least(HORIZON_NS, HORIZON_BYTES, rate);

	return ns < HORIZON_MAX_NS ? ns : HORIZON_MAX_NS;
}

/**
 * limit_change() - set the rate of a limit
 * @l: the limit, zeroed if it is new; its counters are kept
 * @rate: bit/s, not 0
 * @paced: packets can wait in a qdisc
 * @now: CLOCK_MONOTONIC, ns
 *
 * Departure times that were already assigned are kept too, but not beyond the
 * horizon: after a much lower old rate, packets would otherwise be dropped
 * until the last of them has passed. New packets may then overtake those that
 * still wait.
 *
 * Return: whether the limit changed.
 */
bool limit_change(struct srpol_limit *l, uint64_t rate, bool paced,
		  uint64_t now)
{
	uint64_t burst = at_least(BURST_NS, BURST_BYTES, rate) <<
			 SRPOL_LIMIT_SHIFT;
	uint64_t horizon = paced ? horizon_of(rate) << SRPOL_LIMIT_SHIFT : 0;
	uint64_t last = (now << SRPOL_LIMIT_SHIFT) + horizon;

	if (l->rate == rate && l->burst == burst && l->horizon == horizon)
		return false;
	l->rate = rate;
	l->burst = burst;
	l->horizon = horizon;
	if ((int64_t)(l->next - last) > 0)
		l->next = last;
	return true;
}
