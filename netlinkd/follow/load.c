// SPDX-License-Identifier: GPL-2.0
/*
 * Loads of links, as measured by the host. Links are given as indexes into the
 * topology to keep the message small, and a message is only sent when the load
 * of some link has changed by more than normal fluctuation. Loads are not part
 * of the link report, because that has a number which tells whether a plan has
 * taken it into account.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "follow.h"

#define SAME_SHIFT	5	/* changes up to 1/32 are ignored */
#define SAME_CAPACITY	(1 << 20)	/* likewise this fraction of rate */

static int by_link(const void *a, const void *b)
{
	const struct follow_load *x = a, *y = b;

	return (x->link > y->link) - (x->link < y->link);
}

static int greatest_first(const void *a, const void *b)
{
	const struct follow_load *x = a, *y = b;

	return x->kbps != y->kbps ? (x->kbps < y->kbps ? 1 : -1) :
	       by_link(a, b);
}

static bool is_same(const struct follow *f, uint32_t link, uint32_t before,
		    uint32_t now)
{
	uint64_t rate = srpol_link_rate(&f->fabric->links[link]) / 1000;
	uint64_t apart = before > now ? before - now : now - before;
	uint64_t allowed = (before >> SAME_SHIFT) + rate / SAME_CAPACITY;

	return apart <= allowed && !before == !now;
}

/* Compares with the loads to send; both are sorted by link. */
static bool all_same(const struct follow *f, const struct vec *loads)
{
	const struct follow_load *a = f->loads.data, *b = loads->data;
	size_t i;

	if (f->loads.n != loads->n)
		return false;
	for (i = 0; i < loads->n; i++)
		if (a[i].link != b[i].link ||
		    !is_same(f, a[i].link, a[i].kbps, b[i].kbps))
			return false;
	return true;
}

static char *load_text(const struct follow *f)
{
	json_t *links = json_array(), *o;
	const struct follow_load *load;
	char *text;

	vec_for_each(load, &f->loads)
		json_array_append_new(links, json_pack("[I, I]",
			(json_int_t)load->link, (json_int_t)load->kbps));
	o = json_pack("{s:s, s:o, s:I}", "topology", f->topology, "links",
		      links, "rest", (json_int_t)f->load_rest);
	text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(o);
	return text ?: (abort(), NULL);
}

/**
 * load_init() - initialize the message with the loads
 * @f: follower
 */
void load_init(struct follow *f)
{
	f->loads = (struct vec)VEC_INIT(struct follow_load);
	telling_init(&f->load, f, "load", load_text);
}

/**
 * follow_measured() - update what the host sends over links
 * @f: follower
 * @loads: links with a load, in any order; each at most once
 * @n: number of @loads
 *
 * Call it as often as loads may be sent. Of more than FOLLOW_LOADS links, those
 * with the least load are sent as one sum.
 */
void follow_measured(struct follow *f, const struct follow_load *loads,
		     size_t n)
{
	struct vec now = VEC_INIT(struct follow_load);
	struct follow_load *load;
	uint64_t rest = 0;
	size_t i;

	for (i = 0; i < n; i++)
		if (loads[i].kbps)
			*(struct follow_load *)vec_add(&now) = loads[i];
	if (now.n > FOLLOW_LOADS) {
		qsort(now.data, now.n, now.size, greatest_first);
		load = now.data;
		for (i = FOLLOW_LOADS; i < now.n; i++)
			rest += load[i].kbps;
		now.n = FOLLOW_LOADS;
	}
	if (now.n)
		qsort(now.data, now.n, now.size, by_link);
	if (!f->load.busy && !all_same(f, &now)) {
		vec_free(&f->loads);
		f->loads = now;
		f->load_rest = rest;
		telling_news(&f->load);
	} else {
		vec_free(&now);
	}
	telling_go_on(&f->load);
}
