// SPDX-License-Identifier: GPL-2.0
/*
 * What the host's applications will send to other hosts: forecasts for the
 * global engine. They are told when they are others than those that were told:
 * who says each second that he will send as much for another ten makes a word
 * every few seconds, not one a second.
 */
#include <stdlib.h>
#include <string.h>

#include "follow.h"

#define SAME_SHIFT	5	/* a 32nd more or less is the same */
#define SAME_MS		200	/* likewise, when it begins or ends */

static char *demand_text(const struct follow *f)
{
	return srpol_forecasts_write(f->fabric, f->topology, f->host,
				     &f->demands) ?: (abort(), NULL);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The end was put off: what was told is good for half of the time at least. */
static bool same_end(uint64_t told, uint64_t is, uint64_t now_ms)
{
	return apart(told, is) <= SAME_MS ||
	       (is > told && told > now_ms &&
		told - now_ms >= (is - now_ms) / 2);
}

static bool is_same(const struct srpol_forecast *told,
		    const struct srpol_forecast *is, uint64_t now_ms)
{
	bool began = told->start_ms <= now_ms && is->start_ms <= now_ms;

	return told->src == is->src && told->dst == is->dst &&
	       told->period_ms == is->period_ms &&
	       apart(told->bytes, is->bytes) <= told->bytes >> SAME_SHIFT &&
	       (began || apart(told->start_ms, is->start_ms) <= SAME_MS) &&
	       same_end(told->end_ms, is->end_ms, now_ms);
}

static const struct srpol_forecast *find(const struct srpol_forecasts *in,
					 const struct srpol_forecast *like,
					 uint64_t now_ms)
{
	uint32_t i;

	for (i = 0; i < in->n; i++)
		if (is_same(&in->list[i], like, now_ms))
			return &in->list[i];
	return NULL;
}

/*
 * Each of the new ones is among the told, and as many: what ended by itself
 * has ended for the engine, too.
 */
static bool all_same(const struct srpol_forecasts *told,
		     const struct srpol_forecasts *is, uint64_t now_ms)
{
	uint32_t i, live = 0;

	for (i = 0; i < told->n; i++)
		live += told->list[i].end_ms > now_ms;
	if (live != is->n || !told->n_rest != !is->n_rest ||
	    apart(told->rest, is->rest) > told->rest >> SAME_SHIFT)
		return false;
	for (i = 0; i < is->n; i++)
		if (!find(told, &is->list[i], now_ms))
			return false;
	return true;
}

/**
 * demand_init() - forecasts are to be told
 * @f: host
 */
void demand_init(struct follow *f)
{
	telling_init(&f->demand, f, "demand", demand_text);
}

/**
 * follow_demands() - what the host's applications will send now
 * @f: host
 * @now: all of it, from GPUs of the host to those of others
 * @now_ms: milliseconds since 1970
 *
 * To be called as often as it may be told. Of more than SRPOL_FORECASTS_MAX
 * those with the fewest bytes are told as one sum.
 */
void follow_demands(struct follow *f, const struct srpol_forecasts *now,
		    uint64_t now_ms)
{
	struct srpol_forecasts new = *now;

	new.list = store_alloc((now->n + 1) * sizeof(*new.list));
	if (now->n)
		memcpy(new.list, now->list, now->n * sizeof(*new.list));
	srpol_forecasts_cut(&new, SRPOL_FORECASTS_MAX);
	/* who never had any says nothing */
	if (!f->demand.busy && (f->demand.known || new.n) &&
	    !all_same(&f->demands, &new, now_ms)) {
		srpol_forecasts_free(&f->demands);
		f->demands = new;
		telling_news(&f->demand);
	} else {
		srpol_forecasts_free(&new);
	}
	telling_go_on(&f->demand);
}
