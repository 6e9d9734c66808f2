/* SPDX-License-Identifier: LGPL-2.1 */
/* Internal functions that ledger.c, tally.c, offer.c, elastic.c and settle.c share. */
#ifndef _SRPOL_LEDGER_H
#define _SRPOL_LEDGER_H

#include "plan.h"

struct srpol_addends;

/*
 * A load fits if it does not exceed the capacity after rounding to whole bit/s.
 */
static inline bool srpol_load_fits(double load, uint64_t capacity)
{
	return load <= (double)capacity + 0.5;
}

int srpol_ledger_add(const struct srpol_ledger *ledger, uint32_t color,
		     const struct srpol_hold *extra, bool transition,
		     double *load, const struct srpol_hold *of, double *alone,
		     bool *stuck);
int srpol_ledger_list(const struct srpol_ledger *ledger, uint32_t color,
		      bool transition, struct srpol_addends *list);
int srpol_ledger_add_others(const struct srpol_ledger *ledger, uint32_t color,
			    bool transition, double *load);
bool srpol_ledger_is_first(const struct srpol_ledger *ledger, uint32_t i);
int srpol_ledger_place(const struct srpol_ledger *ledger,
		       const struct srpol_hold *want, struct srpol_offer *offer);
int srpol_ledger_settle_with(const struct srpol_ledger *ledger, size_t kept,
			     struct srpol_settlement *settled);

#endif /* _SRPOL_LEDGER_H */
