// SPDX-License-Identifier: GPL-2.0
/*
 * The weights of a policy give each link a share of what the policy's items
 * send: its target. The ratio of a link is what it carries, divided by its
 * target. Items without a path are placed first, the greatest first, where the
 * ratios stay lowest. Then one item may move.
 *
 * A move must lower the greatest ratio among the links that it changes: with
 * several equally loaded links, no move lowers the greatest ratio of all. Each
 * move makes the list of ratios, sorted in falling order, lexicographically
 * smaller, so moves come to an end.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "place.h"

#define LEAST	16	/* an item counts for 1/LEAST of the mean at least */
#define GAIN	0.9	/* factor by which a move lowers the ratio */
#define ALIKE	1e-9	/* ratios that differ by less are equal */

/**
 * struct state - state of one call
 * @p: input and output
 * @size: what each item counts for
 * @want: target of each link, by the weights
 * @load: what each link carries
 */
struct state {
	const struct place *p;
	double *size;
	double *want;
	double *load;
};

/**
 * struct ratios - ratios of the links of a path
 * @most: the greatest
 * @sum: sum of all
 */
struct ratios {
	double most;
	double sum;
};

static const struct place_path *path_at(const struct state *s, uint32_t item,
					uint32_t path)
{
	const struct place *p = s->p;

	return &p->paths[p->policies[p->items[item].policy].first + path];
}

static uint32_t paths_of(const struct state *s, uint32_t item)
{
	return s->p->policies[s->p->items[item].policy].n;
}

/* Idle items count for a little, so that they do not all share one path. */
static void measure(struct state *s)
{
	const struct place *p = s->p;
	double least = 0;
	uint32_t i;

	for (i = 0; i < p->n_items; i++)
		least += p->items[i].rate;
	least = least > 0 ? least / p->n_items / LEAST : 1;
	for (i = 0; i < p->n_items; i++)
		s->size[i] = p->items[i].rate > least ? p->items[i].rate :
			     least;
}

static void want_of(struct state *s, const struct place_policy *policy,
		    double size)
{
	const struct place_path *paths = s->p->paths + policy->first;
	double sum = 0;
	uint32_t i, k;

	for (i = 0; i < policy->n; i++)
		sum += paths[i].weight;
	for (i = 0; i < policy->n; i++)
		for (k = 0; paths[i].weight > 0 && k < paths[i].n; k++)
			s->want[paths[i].link[k]] += size * paths[i].weight /
						     sum;
}

static void carry(struct state *s, uint32_t item, double sign)
{
	const struct place_path *path =
		path_at(s, item, s->p->items[item].path);
	uint32_t k;

	for (k = 0; k < path->n; k++)
		s->load[path->link[k]] += sign * s->size[item];
}

/*
 * Compute targets and loads of links; items whose path is not a candidate lose
 * it.
 */
static void begin(struct state *s)
{
	const struct place *p = s->p;
	struct place_item *item;
	uint32_t i;

	for (i = 0; i < p->n_items; i++) {
		item = &p->items[i];
		want_of(s, &p->policies[item->policy], s->size[i]);
		if (item->path >= paths_of(s, i) ||
		    path_at(s, i, item->path)->weight <= 0)
			item->path = PLACE_NONE;
		else
			carry(s, i, 1);
	}
}

static bool takes(const struct place_path *path, uint32_t link)
{
	uint32_t k;

	for (k = 0; path && k < path->n; k++)
		if (path->link[k] == link)
			return true;
	return false;
}

/* Ratios with @more added to each link; links of @but are left out. */
static struct ratios ratios_of(const struct state *s,
			       const struct place_path *path,
			       const struct place_path *but, double more)
{
	struct ratios r = {};
	double ratio;
	uint32_t k;

	for (k = 0; k < path->n; k++) {
		if (takes(but, path->link[k]))
			continue;
		ratio = (s->load[path->link[k]] + more) /
			s->want[path->link[k]];
		r.most = ratio > r.most ? ratio : r.most;
		r.sum += ratio;
	}
	return r;
}

static bool is_less(const struct ratios *a, const struct ratios *b)
{
	if (a->most < b->most * (1 - ALIKE))
		return true;
	return a->most <= b->most * (1 + ALIKE) &&
	       a->sum < b->sum * (1 - ALIKE);
}

static void put(struct state *s, uint32_t item)
{
	struct ratios best = {}, now;
	const struct place_path *path;
	uint32_t i, at = PLACE_NONE;

	for (i = 0; i < paths_of(s, item); i++) {
		path = path_at(s, item, i);
		if (path->weight <= 0)
			continue;
		now = ratios_of(s, path, NULL, s->size[item]);
		if (at != PLACE_NONE && !is_less(&now, &best))
			continue;
		best = now;
		at = i;
	}
	s->p->items[item].path = at;
	if (at != PLACE_NONE)
		carry(s, item, 1);
}

/*
 * The greatest item without a path that is not done; PLACE_NONE: no such item.
 */
static uint32_t greatest(const struct state *s, const bool *done)
{
	uint32_t i, at = PLACE_NONE;

	for (i = 0; i < s->p->n_items; i++)
		if (!done[i] && (at == PLACE_NONE || s->size[i] > s->size[at]))
			at = i;
	return at;
}

static void put_all(struct state *s, bool *done)
{
	uint32_t i;

	for (i = 0; i < s->p->n_items; i++)
		done[i] = s->p->items[i].path != PLACE_NONE;
	while ((i = greatest(s, done)) != PLACE_NONE) {
		put(s, i);
		done[i] = true;
	}
}

/**
 * struct move - move of an item to another path
 * @item: the item
 * @to: path in its policy
 * @before: greatest ratio of the links that the move changes
 * @after: that ratio after the move
 * @there: greatest ratio of the new links after the move
 */
struct move {
	uint32_t item;
	uint32_t to;
	double before;
	double after;
	double there;
};

static bool judge(const struct state *s, struct move *move)
{
	const struct place_path *from, *to;
	struct ratios old, new;

	from = path_at(s, move->item, s->p->items[move->item].path);
	to = path_at(s, move->item, move->to);
	if (to == from || to->weight <= 0)
		return false;
	old = ratios_of(s, from, to, 0);
	new = ratios_of(s, to, from, 0);
	move->before = old.most > new.most ? old.most : new.most;
	old = ratios_of(s, from, to, -s->size[move->item]);
	new = ratios_of(s, to, from, s->size[move->item]);
	move->after = old.most > new.most ? old.most : new.most;
	move->there = new.most;
	/* two paths over the same links change nothing */
	return move->before > 0 && move->after <= move->before * GAIN;
}

/* The most loaded links come first, then the move that lowers them most. */
static bool is_better(const struct move *a, const struct move *b)
{
	if (b->item == PLACE_NONE || a->before > b->before * (1 + ALIKE))
		return true;
	if (a->before < b->before * (1 - ALIKE))
		return false;
	if (a->after < b->after * (1 - ALIKE))
		return true;
	return a->after <= b->after * (1 + ALIKE) &&
	       a->there < b->there * (1 - ALIKE);
}

static void move_one(struct state *s)
{
	struct move best = { .item = PLACE_NONE }, move;

	for (move.item = 0; move.item < s->p->n_items; move.item++) {
		if (s->p->items[move.item].path == PLACE_NONE)
			continue;
		for (move.to = 0; move.to < paths_of(s, move.item); move.to++) {
			if (judge(s, &move) && is_better(&move, &best))
				best = move;
		}
	}
	if (best.item != PLACE_NONE)
		s->p->items[best.item].path = best.to;
}

/**
 * place() - choose a path for each item
 * @p: items with rates and current paths; the paths are replaced
 *
 * Items keep a usable path, except that one item at most may move. Items of a
 * policy without usable paths get none.
 *
 * Return: 0 or -ENOMEM.
 */
int place(const struct place *p)
{
	struct state s = {
		.p = p,
		.size = calloc(p->n_items + 1UL, sizeof(*s.size)),
		.want = calloc(p->n_links + 1UL, sizeof(*s.want)),
		.load = calloc(p->n_links + 1UL, sizeof(*s.load)),
	};
	bool *done = calloc(p->n_items + 1UL, sizeof(*done));
	int ret = s.size && s.want && s.load && done ? 0 : -ENOMEM;

	if (!ret) {
		measure(&s);
		begin(&s);
		put_all(&s, done);
		move_one(&s);
	}
	free(done);
	free(s.load);
	free(s.want);
	free(s.size);
	return ret;
}
