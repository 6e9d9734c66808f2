/* SPDX-License-Identifier: LGPL-2.1 */
/*
 * What the reservations of each color add to links, kept while those of other colors
 * change. Sums of floating point depend on the order of addition, so what is kept
 * is each addend, in its order: sums are the same bits as without it.
 *
 * A ledger refers to its tally; copies of it may leave out reservations of one
 * color, and then use the tally for all other colors.
 */
#ifndef _SRPOL_TALLY_H
#define _SRPOL_TALLY_H

#include "plan.h"

#define SRPOL_TALLY_MAX	(1u << 22)	/* addends, 64 MiB */

/**
 * struct srpol_addend - what one demand adds to a link
 * @bps: bit/s, greater than 0
 * @link: directed link
 */
struct srpol_addend {
	double bps;
	uint32_t link;
};

/**
 * struct srpol_addends - what the reservations of a color add to links
 * @list: in the order in which they are added up
 * @n: number of @list
 * @room: number for which @list has room
 * @max: the most that may be listed
 * @ends: by reservation of the color: number of @list when it had been added; NULL:
 *	not wanted
 * @stuck: by reservation of the color: one of its demands has no path; NULL: likewise
 * @too_many: there are more than @max, and @list is not complete
 */
struct srpol_addends {
	struct srpol_addend *list;
	size_t n;
	size_t room;
	size_t max;
	size_t *ends;
	bool *stuck;
	bool too_many;
};

/**
 * struct srpol_use - what a reservation adds to links
 * @list: not sorted, a link may occur several times
 * @n: number of @list
 * @stuck: one of its demands has no path
 */
struct srpol_use {
	const struct srpol_addend *list;
	size_t n;
	bool stuck;
};

struct srpol_tally *srpol_tally_new(const struct srpol_ledger *ledger, size_t max);
void srpol_tally_free(struct srpol_tally *tally);
void srpol_tally_forget(struct srpol_tally *tally, uint32_t color);
int srpol_tally_add_others(const struct srpol_ledger *ledger, uint32_t color,
			   bool transition, double *load);
int srpol_tally_use(const struct srpol_ledger *ledger, uint32_t hold,
		    struct srpol_use *use);

#endif /* _SRPOL_TALLY_H */
