// SPDX-License-Identifier: GPL-2.0
/*
 * Forecasts of what the host's applications will send to other hosts, for the
 * global engine. They are only sent when they differ noticeably from what was
 * sent before: an application that says each second that it will go on sending
 * at the same rate for ten seconds causes a message every few seconds, not one
 * per second.
 */
#include <stdlib.h>
#include <string.h>

#include "follow.h"

#define SAME_SHIFT	5	/* changes up to 1/32 are ignored */
#define SAME_MS		200	/* likewise shifts of start or end */

static char *demand_text(const struct follow *f)
{
	return srpol_forecasts_write(f->fabric, f->topology, f->host,
				     &f->demands) ?: (abort(), NULL);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * Are two ends the same? Small differences are ignored, and so is a later end
 * as long as the announced end covers at least half of the remaining time.
 */
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
 * Are the current forecasts the ones that were sent? Forecasts that were sent
 * and have ended since do not count: the engine drops them by itself.
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
 * demand_init() - initialize the message with the forecasts
 * @f: follower
 */
void demand_init(struct follow *f)
{
	telling_init(&f->demand, f, "demand", demand_text);
}

/**
 * follow_demands() - update what the host's applications will send
 * @f: follower
 * @now: all current forecasts, from GPUs of this host to GPUs of other hosts
 * @now_ms: wall-clock time in milliseconds since 1970
 *
 * Call it as often as the forecasts may be sent. Of more than
 * SRPOL_FORECASTS_MAX forecasts, those with the fewest bytes are sent as one
 * sum.
 */
void follow_demands(struct follow *f, const struct srpol_forecasts *now,
		    uint64_t now_ms)
{
	struct srpol_forecasts new = *now;

	new.list = store_alloc((now->n + 1) * sizeof(*new.list));
	if (now->n)
		memcpy(new.list, now->list, now->n * sizeof(*new.list));
	srpol_forecasts_cut(&new, SRPOL_FORECASTS_MAX);
	/* a host that never had forecasts sends no message */
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
