/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Horizons: what demands that begin and end will put on links, by the plan in
 * force, and when they will have been sent. Pure.
 *
 * A demand is taken to be offered evenly between its begin and its end; a link
 * is overloaded if more is offered than it carries. When it will have been sent
 * is another question: there demands take what there is, as lib/alg's maxmin
 * shares it.
 */
#ifndef _SRPOL_HORIZON_H
#define _SRPOL_HORIZON_H

#include "plan.h"

#define SRPOL_HORIZON_TICKS	10	/* in a second */

/**
 * struct srpol_timed - a demand in time
 * @demand: its bytes: those that are left of it, or of one period
 * @start: seconds from now at which it begins, not below 0
 * @end: likewise ends, INFINITY: it does not
 * @rate: bit/s that are offered meanwhile, 0: nobody knows
 */
struct srpol_timed {
	struct srpol_demand demand;
	double start;
	double end;
	uint64_t rate;
};

/**
 * struct srpol_horizon - what there will be
 * @at: seconds from now, given
 * @active: demands that are offered then
 * @ended: demands whose bytes have been sent by then
 * @overloaded: links with more than they carry
 * @hottest: directed link with the most, for what it carries, SRPOL_NONE: none
 * @load: bit/s by directed link
 */
struct srpol_horizon {
	double at;
	uint32_t active;
	uint32_t ended;
	uint32_t overloaded;
	uint32_t hottest;
	double *load;
};

/**
 * struct srpol_outlook - all of them
 * @fabric: finished fabric
 * @links: state of the links
 * @plan: what hosts are told
 * @timed: demands
 * @n: number of them
 * @base: bit/s by directed link that are there in any case, NULL: none
 * @horizons: in order of time; @at is given
 * @n_horizons: number of them
 * @no_finish: given: leave out @finish and @ended, which take most of the time
 * @finish: result, by demand: seconds at which it has been sent, INFINITY: never
 * @untimed: result: demands of which nobody knows the rate
 * @link: result: directed link that is overloaded first, within the last
 *	horizon; of several the one with the most for what it carries; SRPOL_NONE
 * @when: result: seconds
 * @load: result: bit/s there then
 */
struct srpol_outlook {
	const struct srpol_fabric *fabric;
	const struct srpol_links *links;
	const struct srpol_plan *plan;
	const struct srpol_timed *timed;
	uint32_t n;
	const double *base;
	struct srpol_horizon *horizons;
	uint32_t n_horizons;
	bool no_finish;
	double *finish;
	uint32_t untimed;
	uint32_t link;
	double when;
	double load;
};

int srpol_outlook_run(struct srpol_outlook *o);
void srpol_outlook_free(struct srpol_outlook *o);

#endif /* _SRPOL_HORIZON_H */
