/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * Horizons: the load that demands will put on links under the plan in force, at
 * given times in the future, and when all their bytes will have been sent. All
 * functions are pure.
 *
 * To compute loads, a demand is assumed to send at a constant rate between its
 * begin and its end; a link is overloaded if its load exceeds its capacity. To
 * compute when a demand will have been sent, demands instead get the max-min
 * fair rates of lib/alg's maxmin.c.
 */
#ifndef _SRPOL_HORIZON_H
#define _SRPOL_HORIZON_H

#include "plan.h"

#define SRPOL_HORIZON_TICKS	10	/* ticks per second */

/**
 * struct srpol_timed - a demand with its begin and end
 * @demand: its bytes are those that are left to be sent, or those of one period
 * @start: seconds from now at which it begins, not negative
 * @end: seconds from now at which it ends; INFINITY: it does not end
 * @rate: bit/s that it sends between @start and @end; 0: unknown
 */
struct srpol_timed {
	struct srpol_demand demand;
	double start;
	double end;
	uint64_t rate;
};

/**
 * struct srpol_horizon - the predicted state at one time
 * @at: seconds from now; set by the caller, all other members are results
 * @active: number of demands that are sending at that time
 * @ended: number of demands whose bytes will have been sent by then
 * @overloaded: number of directed links whose load exceeds their capacity
 * @hottest: directed link with the highest load relative to its capacity;
 *	SRPOL_NONE: no link has any load
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
 * struct srpol_outlook - input and results of srpol_outlook_run()
 * @fabric: finished fabric
 * @links: state of the links
 * @plan: the plan that hosts use
 * @timed: the demands
 * @n: number of @timed
 * @base: bit/s by directed link of other traffic that is always present; NULL:
 *	there is none
 * @horizons: sorted by time; the caller sets @at of each
 * @n_horizons: number of @horizons
 * @no_finish: set by the caller to skip @finish and @ended, which take most of
 *	the time
 * @finish: result, by demand: seconds from now at which it has been sent;
 *	INFINITY: never
 * @untimed: result: number of demands whose rate is unknown
 * @link: result: directed link that is overloaded first, not later than the
 *	last horizon; if several are, the one with the highest load relative to
 *	its capacity; SRPOL_NONE: no link is overloaded
 * @when: result: seconds from now at which @link is overloaded
 * @load: result: bit/s on @link at that time
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
