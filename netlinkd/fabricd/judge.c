// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "judge.h"

#define NOBODY	UINT32_MAX

enum { HOSTS, SURE, OPEN };

static const char * const words[JUDGE_REASONS] = {
	[JUDGE_CERTAIN] = "certain",
	[JUDGE_SEVERAL] = "several-hosts",
	[JUDGE_ELIMINATED] = "others-passed",
	[JUDGE_PASSED] = "passed",
	[JUDGE_EXPLAINED] = "explained",
	[JUDGE_WAITS] = "waits",
	[JUDGE_UNSURE] = "unsure",
};

/**
 * judge_word() - word for a reason
 * @reason: the reason
 */
const char *judge_word(enum judge_reason reason)
{
	return words[reason];
}

static int by_cable(const void *a, const void *b)
{
	const struct judge_link *x = a, *y = b;

	return (x->cable > y->cable) - (x->cable < y->cable);
}

/**
 * judge_find() - find a suspected cable
 * @links: result of judge()
 * @cable: number of the cable
 *
 * Return: NULL if nobody suspects it.
 */
struct judge_link *judge_find(const struct vec *links, uint32_t cable)
{
	struct judge_link want = { .cable = cable };

	return links->n ? bsearch(&want, links->data, links->n, sizeof(want),
				  by_cable) : NULL;
}

static bool is_sure(const struct judge_suspicion *s)
{
	return s->confidence >= JUDGE_SURE;
}

/* Number of cables that count. */
static uint32_t n_of(const struct judge_suspicion *s)
{
	return is_sure(s) && s->n ? 1 : s->n;
}

/* Suspicions of a host follow each other, so that each host is counted once. */
static uint32_t once(struct judge_link *link, int what, uint32_t host)
{
	if (link->last[what] == host)
		return 0;
	link->last[what] = host;
	return 1;
}

static void make_links(const struct judge_suspicion *list, size_t n,
		       struct vec *links)
{
	struct judge_link *l;
	size_t i, kept = 0;
	uint32_t k;

	for (i = 0; i < n; i++)
		for (k = 0; k < n_of(&list[i]); k++)
			*(struct judge_link *)vec_add(links) =
				(struct judge_link){
					.cable = list[i].cable[k],
					.last = { NOBODY, NOBODY, NOBODY },
				};
	l = links->data;
	if (links->n)
		qsort(l, links->n, sizeof(*l), by_cable);
	for (i = 0; i < links->n; i++)
		if (!i || l[i].cable != l[kept - 1].cable)
			l[kept++] = l[i];
	links->n = kept;
}

static void count_hosts(const struct judge_suspicion *list, size_t n,
			const struct vec *links)
{
	struct judge_link *l;
	size_t i;
	uint32_t k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < n_of(&list[i]); k++) {
			l = judge_find(links, list[i].cable[k]);
			l->hosts += once(l, HOSTS, list[i].host);
			if (is_sure(&list[i]))
				l->sure += once(l, SURE, list[i].host);
		}
	}
}

static void condemn(struct judge_link *link, enum judge_reason reason)
{
	link->down = true;
	link->reason = reason;
}

static bool is_explained(const struct judge_suspicion *s,
			 const struct vec *links)
{
	uint32_t k;

	for (k = 0; k < n_of(s); k++)
		if (judge_find(links, s->cable[k])->down)
			return true;
	return false;
}

/* Number of cables that others' probes do not pass. */
static uint32_t left_of(const struct judge_suspicion *s, const struct vec *links,
			struct judge_link **last)
{
	struct judge_link *l;
	uint32_t k, left = 0;

	for (k = 0; k < n_of(s); k++) {
		l = judge_find(links, s->cable[k]);
		if (l->passing)
			continue;
		*last = l;
		left++;
	}
	return left;
}

static bool has_to_wait(const struct judge_suspicion *s,
			const struct vec *links)
{
	struct judge_link *last;

	return s->fresh && !is_sure(s) && left_of(s, links, &last) < s->n;
}

static void by_elimination(const struct judge_suspicion *s,
			   const struct vec *links)
{
	struct judge_link *last = NULL;

	if (!is_sure(s) && s->n > 1 && !has_to_wait(s, links) &&
	    !is_explained(s, links) && left_of(s, links, &last) == 1)
		condemn(last, JUDGE_ELIMINATED);
}

/* Count hosts with suspicions that nothing explains; the most of any cable. */
static uint32_t count_open(const struct judge_suspicion *list, size_t n,
			   const struct vec *links)
{
	struct judge_link *l;
	uint32_t most = 0, k;
	size_t i;

	vec_for_each(l, links) {
		l->open = 0;
		l->last[OPEN] = NOBODY;
	}
	for (i = 0; i < n; i++) {
		if (has_to_wait(&list[i], links) ||
		    is_explained(&list[i], links))
			continue;
		for (k = 0; k < n_of(&list[i]); k++) {
			l = judge_find(links, list[i].cable[k]);
			if (!l->passing || l->sure)
				l->open += once(l, OPEN, list[i].host);
			if (l->open > most)
				most = l->open;
		}
	}
	return most;
}

static void by_number(const struct judge_suspicion *list, size_t n,
		      const struct vec *links)
{
	struct judge_link *l;
	uint32_t most;

	while ((most = count_open(list, n, links)) > 1)
		vec_for_each(l, links)
			if (l->open == most)
				condemn(l, JUDGE_SEVERAL);
}

/* The last reason that holds counts. */
static void explain_rest(const struct judge_suspicion *list, size_t n,
			 const struct vec *links)
{
	enum judge_reason reason;
	struct judge_link *l;
	size_t i;
	uint32_t k;

	vec_for_each(l, links)
		if (!l->down)
			l->reason = l->passing ? JUDGE_PASSED : JUDGE_UNSURE;
	for (i = 0; i < n; i++) {
		if (is_explained(&list[i], links))
			reason = JUDGE_EXPLAINED;
		else if (has_to_wait(&list[i], links))
			reason = JUDGE_WAITS;
		else
			continue;
		for (k = 0; k < n_of(&list[i]); k++) {
			l = judge_find(links, list[i].cable[k]);
			if (!l->down && !l->passing)
				l->reason = reason;
		}
	}
}

/**
 * judge() - decide which suspected links the plan does without
 * @list: all suspicions, those of a host one after the other
 * @n: number of them
 * @passing: says how many hosts' probes pass a cable, of those that do not
 *	suspect it
 * @links: struct judge_link, empty; result, sorted by cable
 */
void judge(const struct judge_suspicion *list, size_t n,
	   uint32_t (*passing)(uint32_t cable), struct vec *links)
{
	struct judge_link *l;
	size_t i;

	make_links(list, n, links);
	count_hosts(list, n, links);
	vec_for_each(l, links) {
		l->passing = passing(l->cable);
		if (l->sure > 1)
			condemn(l, JUDGE_SEVERAL);
		else if (l->sure && !l->passing)
			condemn(l, JUDGE_CERTAIN);
	}
	for (i = 0; i < n; i++)
		by_elimination(&list[i], links);
	by_number(list, n, links);
	explain_rest(list, n, links);
}
