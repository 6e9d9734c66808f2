// SPDX-License-Identifier: LGPL-2.1
/*
 * Adapts bandwidth reservations after links have lost capacity or must not be
 * used any more. A reservation is in trouble if it uses a link that is
 * overloaded or not allowed, or if one of its demands has no path. Of those in
 * trouble the one with the lowest priority, of these the newest, is withdrawn,
 * repeatedly, until none is in trouble. The withdrawn ones are then placed anew,
 * in the opposite order. This begins only after all have been withdrawn, because
 * reservations of a color that share a pair of leaves also share its weights. A
 * reservation that does not fit with its rate gets what is left, if that is at
 * least its least rate; one that fits nowhere is lost. Finally, reservations that
 * had been lost before are tried again, in that order too, but for those without
 * demands: their hosts are not there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "srpol_lib.h"
#include "tally.h"

/**
 * struct work - state of srpol_ledger_settle()
 * @ledger: copy of the ledger, whose reservations change
 * @settled: result, by reservation
 * @touched: by reservation: it was withdrawn
 * @order: reservations, the one that yields last first
 * @load: scratch: bit/s by link of all reservations
 * @one: scratch: bit/s by link of one reservation
 */
struct work {
	struct srpol_ledger ledger;
	struct srpol_settlement *settled;
	bool *touched;
	uint32_t *order;
	double *load;
	double *one;
};

static bool is_bad(const struct work *w, uint32_t i, uint32_t link)
{
	const struct srpol_ledger *ledger = &w->ledger;
	const bool *allowed = ledger->holds[i].allowed;

	return (allowed && !allowed[link]) ||
	       !srpol_load_fits(w->load[link],
				ledger->links->links[link].capacity);
}

/* If what it uses is not kept. */
static int is_in_trouble_anew(struct work *w, uint32_t i)
{
	int ret = srpol_ledger_load_one(&w->ledger, i, w->one);
	uint32_t l;

	if (ret)
		return ret == -ENOLINK ? 1 : ret;
	for (l = 0; l < w->ledger.fabric->n_links; l++)
		if (w->one[l] && is_bad(w, i, l))
			return 1;
	return 0;
}

/*
 * 1: the reservation is in trouble (see above), 0: it is not; negative errno.
 */
static int is_in_trouble(struct work *w, uint32_t i)
{
	struct srpol_use use;
	size_t k;
	int ret;

	if (!w->ledger.holds[i].new)
		return 0;
	ret = srpol_tally_use(&w->ledger, i, &use);
	if (ret)
		return ret == -E2BIG ? is_in_trouble_anew(w, i) : ret;
	for (k = 0; k < use.n && !use.stuck; k++)
		if (is_bad(w, i, use.list[k].link))
			return 1;
	return use.stuck;
}

/*
 * Finds the reservation in trouble that has to yield first: 1 with *@found set,
 * 0: there is none.
 */
static int find_trouble(struct work *w, uint32_t *found)
{
	struct srpol_ledger *ledger = &w->ledger;
	bool some = false;
	uint32_t i;
	int ret;

	/* Only new weights count: hosts are about to drop the old ones. */
	memset(w->load, 0, ledger->fabric->n_links * sizeof(*w->load));
	ret = srpol_ledger_add_others(ledger, 0, false, w->load);
	for (i = 0; i < ledger->n && ret >= 0; i++) {
		if (some && srpol_hold_is_lower(ledger->holds, *found, i))
			continue;
		ret = is_in_trouble(w, i);
		if (ret > 0) {
			*found = i;
			some = true;
		}
	}
	return ret < 0 ? ret : some;
}

/*
 * Withdraws a reservation; hosts may use its weights for a while yet, unless they
 * were not told of them: what others still have is then not its own.
 */
static void take_away(struct work *w, uint32_t i)
{
	struct srpol_hold *hold = &w->ledger.holds[i];

	srpol_tally_forget(w->ledger.tally, hold->color);
	w->touched[i] = true;
	if (!hold->waits) {
		hold->old_rate = hold->old_rate ?: hold->rate;
		hold->old = hold->old ?: hold->new;
	}
	hold->new = NULL;
}

/* Asks for all of the rate, then for what is left if that is enough. */
static int ask(const struct srpol_ledger *others, struct srpol_hold *want,
	       struct srpol_offer *offer)
{
	int ret = srpol_ledger_offer(others, want, offer);

	if (ret || offer->fits || !want->least || offer->most < want->least)
		return ret;
	want->rate = offer->most;
	return srpol_ledger_offer(others, want, offer);
}

static int place(struct work *w, uint32_t i)
{
	struct srpol_ledger others = w->ledger;
	struct srpol_settlement *s = &w->settled[i];
	struct srpol_hold want = w->ledger.holds[i];
	int ret;

	others.holds = malloc((others.n + 1UL) * sizeof(*others.holds));
	if (!others.holds)
		return -ENOMEM;
	memcpy(others.holds, w->ledger.holds, others.n * sizeof(want));
	memmove(others.holds + i, others.holds + i + 1,
		(others.n - i - 1) * sizeof(want));
	others.n--;
	ret = ask(&others, &want, &s->offer);
	if (!ret) {
		s->what = s->offer.fits ? SRPOL_SETTLED_MOVED :
			  w->touched[i] ? SRPOL_SETTLED_LOST :
					  SRPOL_SETTLED_KEPT;
		s->rate = want.rate;
		srpol_tally_forget(w->ledger.tally, want.color);
		w->ledger.holds[i].new = s->offer.weights;
		if (s->offer.fits)
			w->ledger.holds[i].rate = want.rate;
	}
	free(others.holds);
	return ret;
}

static int settle(struct work *w)
{
	const struct srpol_hold *hold = w->ledger.holds;
	uint32_t i = 0, k;
	int ret;

	while ((ret = find_trouble(w, &i)) > 0)
		take_away(w, i);
	srpol_holds_sort(w->ledger.holds, w->ledger.n, w->order);
	for (k = 0; k < w->ledger.n && !ret; k++)
		if (w->touched[w->order[k]])
			ret = place(w, w->order[k]);
	for (k = 0; k < w->ledger.n && !ret; k++) {
		i = w->order[k];
		if (!hold[i].new && !hold[i].old && hold[i].n)
			ret = place(w, i);
	}
	return ret;
}

/**
 * srpol_ledger_settle_with() - srpol_ledger_settle() with limited memory
 * @ledger: all reservations
 * @kept: see srpol_tally_new(); nothing but the time depends on it
 * @settled: result
 *
 * Return: 0, -ENOMEM.
 */
int srpol_ledger_settle_with(const struct srpol_ledger *ledger, size_t kept,
			     struct srpol_settlement *settled)
{
	size_t links = ledger->fabric->n_links + 1UL;
	struct work w = {
		.ledger = *ledger, .settled = settled,
		.touched = calloc(ledger->n + 1UL, sizeof(bool)),
		.order = calloc(ledger->n + 1UL, sizeof(*w.order)),
		.load = calloc(links, sizeof(double)),
		.one = calloc(links, sizeof(double)),
	};
	int ret;

	memset(settled, 0, ledger->n * sizeof(*settled));
	w.ledger.holds = malloc((ledger->n + 1UL) * sizeof(*ledger->holds));
	w.ledger.tally = srpol_tally_new(ledger, kept);
	ret = w.touched && w.order && w.load && w.one && w.ledger.holds &&
	      w.ledger.tally ? 0 : -ENOMEM;
	if (!ret) {
		if (ledger->n)
			memcpy(w.ledger.holds, ledger->holds,
			       ledger->n * sizeof(*ledger->holds));
		ret = settle(&w);
	}
	if (ret)
		srpol_settlements_free(settled, ledger->n);
	srpol_tally_free(w.ledger.tally);
	free(w.ledger.holds);
	free(w.touched);
	free(w.order);
	free(w.load);
	free(w.one);
	return ret;
}

/**
 * srpol_ledger_settle() - adapt all reservations to the present links
 * @ledger: all reservations; one without old and new weights has been lost
 *	earlier
 * @settled: result, by reservation, to be freed with srpol_settlements_free()
 *
 * Return: 0, -ENOMEM; nothing has to be freed after an error.
 */
int srpol_ledger_settle(const struct srpol_ledger *ledger,
			struct srpol_settlement *settled)
{
	return srpol_ledger_settle_with(ledger, SRPOL_TALLY_MAX, settled);
}

/**
 * srpol_settlements_free() - free the results of srpol_ledger_settle()
 * @settled: results
 * @n: number of @settled
 */
void srpol_settlements_free(struct srpol_settlement *settled, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		srpol_plan_free(settled[i].offer.weights);
		settled[i].offer.weights = NULL;
	}
}
