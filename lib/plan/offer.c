// SPDX-License-Identifier: LGPL-2.1
/*
 * Whether bandwidth can be kept for a job, on which paths, and if not, how much
 * of it could. Its demands are placed on what others leave, spread evenly or,
 * where that does not fit, by "minmax"; what fits is found by trying it with
 * the weights that hosts would have.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "srpol_lib.h"

#define UNIT	1000000		/* what could be kept is told in Mbit/s */
#define TOO_MUCH	(2 * SRPOL_RATE_MAX * SRPOL_CABLES_MAX)	/* for any link */

/**
 * struct trial - what is tried
 * @ledger: holds there are
 * @want: the one that is wanted, and its new weights
 * @others: bit/s per link of other colors, by old and new weights
 * @others_new: likewise, by new weights only
 * @own: bit/s per link of this color without @want's new weights
 * @load: room
 * @uses: room
 */
struct trial {
	const struct srpol_ledger *ledger;
	struct srpol_hold want;
	double *others;
	double *others_new;
	double *own;
	double *load;
	double *uses;
};

static void free_trial(struct trial *t)
{
	free(t->others);
	free(t->others_new);
	free(t->own);
	free(t->load);
	free(t->uses);
}

static int init_trial(struct trial *t, const struct srpol_ledger *ledger,
		      const struct srpol_hold *want)
{
	size_t n = ledger->fabric->n_links + 1UL;

	*t = (struct trial){
		.ledger = ledger, .want = *want,
		.others = calloc(n, sizeof(double)),
		.others_new = calloc(n, sizeof(double)),
		.own = calloc(n, sizeof(double)),
		.load = calloc(n, sizeof(double)),
		.uses = calloc(n, sizeof(double)),
	};
	t->want.new = NULL;
	if (!t->others || !t->others_new || !t->own || !t->load ||
	    !t->uses)
		return -ENOMEM;
	return srpol_ledger_add_others(ledger, want->color, true, t->others) ?:
	       srpol_ledger_add_others(ledger, want->color, false,
				       t->others_new) ?:
	       srpol_ledger_add(ledger, want->color, &t->want, NULL, true,
				t->own, NULL);
}

static uint64_t capacity(const struct trial *t, uint32_t link)
{
	return t->ledger->links->links[link].capacity;
}

/*
 * The load of the color, and of which links @want takes something in the end.
 * -ENOLINK: one of its demands has no path.
 */
static int load_of(struct trial *t, bool transition)
{
	size_t bytes = t->ledger->fabric->n_links * sizeof(*t->load);
	bool stuck = false;
	int ret;

	memset(t->load, 0, bytes);
	memset(t->uses, 0, bytes);
	ret = srpol_ledger_add(t->ledger, t->want.color, &t->want, NULL,
			       transition, t->load, NULL);
	if (!ret && !transition)
		ret = srpol_ledger_add(t->ledger, t->want.color, &t->want,
				       &t->want, false, t->uses, &stuck);
	return ret ?: stuck ? -ENOLINK : 0;
}

/*
 * The link that has most too much: of those that @want takes in the end, and,
 * while hosts may have old weights, of those where it changes something.
 */
static int find_worst(struct trial *t, bool transition, uint32_t *link,
		      double *worst)
{
	const double *others = transition ? t->others : t->others_new;
	int ret = load_of(t, transition);
	double all, over;
	uint32_t l;

	for (l = 0; l < t->ledger->fabric->n_links && !ret; l++) {
		if (transition ? fabs(t->load[l] - t->own[l]) < 0.5 :
				 !t->uses[l])
			continue;
		all = t->load[l] + others[l];
		over = all / fmax(capacity(t, l), 1);
		if (!srpol_load_fits(all, capacity(t, l)) && over > *worst) {
			*worst = over;
			*link = l;
		}
	}
	return ret;
}

/* 1: it fits, 0: *@link has too little; -ENOLINK: no path, -ENOMEM. */
static int fits(struct trial *t, uint64_t rate, uint32_t *link)
{
	double worst = 0;
	int ret;

	*link = SRPOL_NONE;
	t->want.rate = rate;
	ret = find_worst(t, false, link, &worst) ?:
	      find_worst(t, true, link, &worst);
	return ret ? ret : *link == SRPOL_NONE;
}

/* What is left of links, for somebody who may use some of them. */
static struct srpol_links *left_of(const struct trial *t, bool empty)
{
	struct srpol_links *links = srpol_links_copy(t->ledger->links);
	uint32_t l;
	double left;

	for (l = 0; links && l < links->n; l++) {
		left = links->links[l].capacity;
		if (!empty)
			left -= t->others[l] + t->own[l];
		if (t->want.allowed && !t->want.allowed[l])
			left = 0;
		links->links[l].capacity = left > 0 ? left : 0;
	}
	return links;
}

/* Weights of its demands by an algorithm; NULL: some have no path. */
static int place(const struct trial *t, const char *alg,
		 const struct srpol_links *links, struct srpol_plan **out)
{
	struct srpol_alg_input in = {
		.fabric = t->ledger->fabric, .links = links,
		.demands = t->want.demands, .n = t->want.n,
	};
	struct srpol_placement *p = NULL;
	int ret;

	*out = NULL;
	ret = srpol_alg_run(srpol_alg_find(alg), &in, &p, NULL);
	if (!ret && !p->prediction.unplaced) {
		*out = srpol_plan_new(&in, p);
		ret = *out ? 0 : -ENOMEM;
	}
	srpol_placement_free(p);
	return ret;
}

/* The most that fits, in whole units. */
static int most_of(struct trial *t, uint64_t rate, uint64_t *most)
{
	uint64_t good = 0, bad = rate / UNIT + 1, mid;
	uint32_t link;
	int ret = 0;

	while (bad - good > 1 && ret >= 0) {
		mid = good + (bad - good) / 2;
		ret = fits(t, mid * UNIT, &link);
		if (ret > 0)
			good = mid;
		else
			bad = mid;
	}
	*most = good * UNIT;
	return ret < 0 ? ret : 0;
}

static void tell_limit(struct trial *t, uint32_t link,
		       struct srpol_offer *offer)
{
	double before = t->others[link] + t->own[link];
	double all = t->load[link] + t->others[link];

	offer->link = link;
	offer->left = before < capacity(t, link) ? capacity(t, link) - before :
		      0;
	offer->wanted = all > before ? all - before + 0.5 : 0;
}

/* Tries some weights; an offer that is better than before is kept. */
static int try(struct trial *t, uint64_t rate, const struct srpol_plan *weights,
	       struct srpol_offer *offer)
{
	uint64_t most = 0;
	uint32_t link;
	int ret;

	t->want.new = weights;
	ret = fits(t, rate, &link);
	if (ret == -ENOLINK)
		return 0;
	if (ret > 0) {
		offer->fits = true;
		offer->most = rate;
		return 0;
	}
	if (!ret && offer->link == SRPOL_NONE)
		tell_limit(t, link, offer);
	ret = ret < 0 ? ret : most_of(t, rate, &most);
	if (!ret && most > offer->most)
		offer->most = most;
	return ret == -ENOLINK ? 0 : ret;
}

/**
 * srpol_ledger_offer() - can bandwidth be kept?
 * @ledger: all that is kept already
 * @want: what is wanted: its new weights do not count, and it is not one of
 *	the ledger's
 * @offer: result
 *
 * Return: 0 whether it fits or not, -EINVAL for a rate of 0 or nothing to be
 * sent, -ENOMEM.
 */
int srpol_ledger_offer(const struct srpol_ledger *ledger,
		       const struct srpol_hold *want,
		       struct srpol_offer *offer)
{
	/* on what is left first; then where it would be if there were room */
	static const struct {
		const char *alg;
		bool empty;
	} ways[] = {
		{ "wecmp", false }, { "minmax", false }, { "wecmp", true },
	};
	struct srpol_plan *weights = NULL;
	uint64_t rate = want->rate < TOO_MUCH ? want->rate : TOO_MUCH;
	struct srpol_links *links;
	struct trial t;
	size_t i;
	int ret;

	*offer = (struct srpol_offer){ .link = SRPOL_NONE };
	if (!want->rate || !want->n)
		return -EINVAL;
	ret = init_trial(&t, ledger, want);
	for (i = 0; i < sizeof(ways) / sizeof(*ways) && !ret; i++) {
		links = left_of(&t, ways[i].empty);
		ret = links ? place(&t, ways[i].alg, links, &weights) : -ENOMEM;
		srpol_links_free(links);
		if (!ret && weights)
			ret = try(&t, rate, weights, offer);
		if (offer->fits)
			break;
		srpol_plan_free(weights);
		weights = NULL;
	}
	if (!ret)
		offer->weights = weights;
	else
		srpol_plan_free(weights);
	free_trial(&t);
	return ret;
}
