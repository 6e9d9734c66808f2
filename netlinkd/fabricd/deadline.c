// SPDX-License-Identifier: GPL-2.0
/*
 * The bandwidth that a deadline takes: what the job sends, divided by the time
 * that is left. All demands of a job end at the same time, so it is the least
 * rate with which the last of them has arrived by then. A request may wait until
 * hosts have acknowledged something, so it is computed anew for each decision.
 */
#include <errno.h>

#include "forecasts.h"
#include "srpol_lib.h"
#include "tenants.h"

/**
 * deadline_rate() - the rate that a job's deadline takes
 * @r: the job; it has a deadline
 * @at_ms: when it gets that rate, in ms since 1970
 * @rate: result: bit/s, UINT64_MAX if the deadline is over then
 *
 * Return: 0, -ENOMEM.
 */
int deadline_rate(const struct reservation *r, uint64_t at_ms, uint64_t *rate)
{
	uint64_t from = at_ms > r->begins ? at_ms : r->begins;

	*rate = UINT64_MAX;
	if (from >= r->deadline)
		return 0;
	return srpol_rate_within(fabricd.fabric, r->demands.list, r->demands.n,
				 r->deadline - from, rate);
}

/**
 * deadline_apply() - find out what a job wants, and what is enough, in view of its
 *	deadline
 * @r: the job; @wanted and @least are what was asked for, or 0; they are
 *	changed if it has a deadline
 * @err: message on failure
 */
int deadline_apply(struct reservation *r, struct srpol_error *err)
{
	uint64_t rate;

	if (!r->deadline)
		return 0;
	if (deadline_rate(r, forecasts_now_ms(), &rate))
		return srpol_error_set(err, -ENOMEM, "no memory");
	if (!rate)
		return srpol_error_set(err, -EINVAL,
				       "the job sends nothing over the fabric");
	if (rate > SRPOL_RATE_MAX)
		return srpol_error_set(err, -EINVAL,
				       "\"deadline-ms\": it takes more than 2^50 bit/s, or is over");
	if (!r->wanted)
		r->wanted = rate;
	else if (rate > r->wanted)
		return srpol_error_set(err, -EINVAL,
				       "\"deadline-ms\": it takes %.6gG, \"guaranteed\" is less",
				       rate / 1e9);
	if (r->max && r->max < r->wanted)
		return srpol_error_set(err, -EINVAL,
				       "\"deadline-ms\": it takes %.6gG, \"max\" is less",
				       rate / 1e9);
	if (r->least < rate)
		r->least = rate;
	return 0;
}
