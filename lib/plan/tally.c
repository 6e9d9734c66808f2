// SPDX-License-Identifier: LGPL-2.1
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "tally.h"

/**
 * struct color - reservations of a color
 * @color: the color
 * @first: position of its first reservation
 * @n: number of its reservations
 * @round: last round in which it was added
 * @known: with new weights only and in transition: @addends are those of now
 * @addends: likewise: what is kept
 */
struct color {
	uint32_t color;
	uint32_t first;
	uint32_t n;
	uint64_t round;
	bool known[2];
	struct srpol_addends addends[2];
};

/**
 * struct srpol_tally - what is kept
 * @colors: in order of their numbers
 * @n: number of @colors
 * @kept: addends of all colors
 * @max: the most that are kept
 * @round: number of times that colors were added
 * @position: by reservation: its position if they are in order of colors
 * @ends: by position, see struct srpol_addends; with new weights only
 * @stuck: likewise
 */
struct srpol_tally {
	struct color *colors;
	uint32_t n;
	size_t kept;
	size_t max;
	uint64_t round;
	uint32_t *position;
	size_t *ends;
	bool *stuck;
};

static int by_color(const void *a, const void *b)
{
	const struct color *x = a, *y = b;

	return (x->color > y->color) - (x->color < y->color);
}

static struct color *find(const struct srpol_tally *t, uint32_t color)
{
	struct color want = { .color = color };

	return bsearch(&want, t->colors, t->n, sizeof(want), by_color);
}

/* Sorts the colors of all reservations, and finds the positions of these. */
static void count_colors(struct srpol_tally *t, const struct srpol_ledger *ledger)
{
	uint32_t i, n = 0;
	struct color *c;

	for (i = 0; i < ledger->n; i++)
		t->colors[i].color = ledger->holds[i].color;
	qsort(t->colors, ledger->n, sizeof(*t->colors), by_color);
	for (i = 0; i < ledger->n; i++)
		if (!n || t->colors[n - 1].color != t->colors[i].color)
			t->colors[n++] = (struct color){
				.color = t->colors[i].color, .first = i,
			};
	t->n = n;
	for (i = 0; i < ledger->n; i++) {
		c = find(t, ledger->holds[i].color);
		t->position[i] = c->first + c->n++;
	}
}

/**
 * srpol_tally_new() - begin to keep what reservations add to links
 * @ledger: all reservations; later ones have the same colors, in the same order,
 *	except for some that have none of these
 * @max: the most addends that are kept, of 16 bytes each; colors with more are added
 *	up anew each time
 *
 * Return: to be freed; NULL without memory.
 */
struct srpol_tally *srpol_tally_new(const struct srpol_ledger *ledger, size_t max)
{
	struct srpol_tally *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->max = max;
	t->colors = calloc(ledger->n + 1UL, sizeof(*t->colors));
	t->position = calloc(ledger->n + 1UL, sizeof(*t->position));
	t->ends = calloc(ledger->n + 1UL, sizeof(*t->ends));
	t->stuck = calloc(ledger->n + 1UL, sizeof(*t->stuck));
	if (t->colors && t->position && t->ends && t->stuck) {
		count_colors(t, ledger);
		return t;
	}
	srpol_tally_free(t);
	return NULL;
}

static void drop(struct srpol_tally *t, struct color *c, bool transition)
{
	t->kept -= c->addends[transition].n;
	free(c->addends[transition].list);
	c->addends[transition] = (struct srpol_addends){};
	c->known[transition] = false;
}

/**
 * srpol_tally_free() - free what is kept
 * @tally: what is kept; NULL: nothing
 */
void srpol_tally_free(struct srpol_tally *tally)
{
	uint32_t i;

	if (!tally)
		return;
	for (i = 0; i < tally->n; i++) {
		drop(tally, &tally->colors[i], false);
		drop(tally, &tally->colors[i], true);
	}
	free(tally->colors);
	free(tally->position);
	free(tally->ends);
	free(tally->stuck);
	free(tally);
}

/**
 * srpol_tally_forget() - a reservation has changed
 * @tally: what is kept; NULL: nothing
 * @color: its color
 */
void srpol_tally_forget(struct srpol_tally *tally, uint32_t color)
{
	struct color *c = tally ? find(tally, color) : NULL;

	if (!c)
		return;
	drop(tally, c, false);
	drop(tally, c, true);
}

/*
 * Finds out what a color adds, unless that is known. Returns NULL in @found if it
 * is too much to be kept.
 */
static int look(const struct srpol_ledger *ledger, struct color *c,
		bool transition, const struct srpol_addends **found)
{
	struct srpol_addends *a = &c->addends[transition];
	struct srpol_tally *t = ledger->tally;
	int ret = 0;

	*found = NULL;
	if (!c->known[transition]) {
		a->max = t->max - t->kept;
		if (!transition) {
			a->ends = t->ends + c->first;
			a->stuck = t->stuck + c->first;
		}
		ret = srpol_ledger_list(ledger, c->color, transition, a);
		if (a->too_many || ret) {
			free(a->list);
			a->list = NULL;
			a->n = a->room = 0;
		}
		t->kept += a->n;
		c->known[transition] = !ret;
	}
	if (!ret && !a->too_many)
		*found = a;
	return ret;
}

static int add(const struct srpol_ledger *ledger, struct color *c,
	       bool transition, double *load)
{
	const struct srpol_addends *a;
	int ret = look(ledger, c, transition, &a);
	size_t i;

	if (ret)
		return ret;
	if (!a)
		return srpol_ledger_add(ledger, c->color, NULL, transition,
					load, NULL, NULL, NULL);
	for (i = 0; i < a->n; i++)
		load[a->list[i].link] += a->list[i].bps;
	return 0;
}

/* A color that reservations did not have when the tally began. */
static int add_unknown(const struct srpol_ledger *ledger, uint32_t i,
		       bool transition, double *load)
{
	return srpol_ledger_is_first(ledger, i) ?
	       srpol_ledger_add(ledger, ledger->holds[i].color, NULL,
				transition, load, NULL, NULL, NULL) : 0;
}

/**
 * srpol_tally_add_others() - srpol_ledger_add_others() with what is kept
 * @ledger: all reservations, with a tally
 * @color: color to be left out, 0: none
 * @transition: also count the old weights that hosts may still use
 * @load: bit/s by directed link, to which the load is added
 *
 * Return: 0, -ENOMEM.
 */
int srpol_tally_add_others(const struct srpol_ledger *ledger, uint32_t color,
			   bool transition, double *load)
{
	uint64_t round = ++ledger->tally->round;
	struct color *c;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < ledger->n && !ret; i++) {
		if (ledger->holds[i].color == color)
			continue;
		c = find(ledger->tally, ledger->holds[i].color);
		if (!c) {
			ret = add_unknown(ledger, i, transition, load);
			continue;
		}
		if (c->round == round)
			continue;
		c->round = round;
		ret = add(ledger, c, transition, load);
	}
	return ret;
}

/**
 * srpol_ledger_keep() - keep what reservations add to links from one question about a
 *	ledger to the next
 * @ledger: all reservations, which must not change until srpol_ledger_drop()
 *
 * Questions about one reservation after another take less time then.
 *
 * Return: 0, -ENOMEM.
 */
int srpol_ledger_keep(struct srpol_ledger *ledger)
{
	ledger->tally = srpol_tally_new(ledger, SRPOL_TALLY_MAX);
	return ledger->tally ? 0 : -ENOMEM;
}

/**
 * srpol_ledger_drop() - the end of srpol_ledger_keep()
 * @ledger: all reservations, whether anything is kept of them or not
 */
void srpol_ledger_drop(struct srpol_ledger *ledger)
{
	srpol_tally_free(ledger->tally);
	ledger->tally = NULL;
}

/**
 * srpol_tally_use() - what a reservation adds to links by its new weights
 * @ledger: all reservations that srpol_tally_new() was told of
 * @hold: index of the reservation in @ledger
 * @use: result, valid until reservations of its color change
 *
 * Return: 0, -E2BIG if that is not kept, -ENOMEM.
 */
int srpol_tally_use(const struct srpol_ledger *ledger, uint32_t hold,
		    struct srpol_use *use)
{
	struct color *c = find(ledger->tally, ledger->holds[hold].color);
	uint32_t at = ledger->tally->position[hold];
	const struct srpol_addends *a;
	int ret = look(ledger, c, false, &a);
	size_t begin;

	if (ret || !a)
		return ret ?: -E2BIG;
	begin = at == c->first ? 0 : ledger->tally->ends[at - 1];
	use->list = a->list + begin;
	use->n = ledger->tally->ends[at] - begin;
	use->stuck = ledger->tally->stuck[at];
	return 0;
}
