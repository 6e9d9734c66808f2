// SPDX-License-Identifier: LGPL-2.1
/*
 * Whether bandwidth can be kept for a job, on which paths, and if not, how much
 * of it could. Its demands are placed on what others leave, by "wecmp" or, where
 * that does not fit, by "minmax"; what fits is found by trying it with
 * the weights that hosts would have.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "srpol_lib.h"

#define UNIT	1000000		/* what could be kept is told in Mbit/s */
#define TRIES	8		/* so often */
#define TOO_MUCH	(2 * SRPOL_RATE_MAX * SRPOL_CABLES_MAX)	/* for any link */

/**
 * struct trial - what is tried
 * @ledger: holds there are
 * @want: the one that is wanted, and its new weights
 * @others: bit/s per link of other colors, by old and new weights
 * @others_new: likewise, by new weights only
 * @own: bit/s per link of this color without @want's new weights
 * @rest: likewise without its old ones
 * @load: room
 * @uses: room: of @load by @want alone
 */
struct trial {
	const struct srpol_ledger *ledger;
	struct srpol_hold want;
	double *others;
	double *others_new;
	double *own;
	double *rest;
	double *load;
	double *uses;
};

static void free_trial(struct trial *t)
{
	free(t->others);
	free(t->others_new);
	free(t->own);
	free(t->rest);
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
		.rest = calloc(n, sizeof(double)),
		.load = calloc(n, sizeof(double)),
		.uses = calloc(n, sizeof(double)),
	};
	t->want.new = NULL;
	if (!t->others || !t->others_new || !t->own || !t->rest || !t->load ||
	    !t->uses)
		return -ENOMEM;
	return srpol_ledger_add_others(ledger, want->color, true, t->others) ?:
	       srpol_ledger_add_others(ledger, want->color, false,
				       t->others_new) ?:
	       srpol_ledger_add(ledger, want->color, &t->want, true, t->own,
				NULL, NULL, NULL) ?:
	       srpol_ledger_add(ledger, want->color, NULL, true, t->rest, NULL,
				NULL, NULL);
}

static uint64_t capacity(const struct trial *t, uint32_t link)
{
	return t->ledger->links->links[link].capacity;
}

/*
 * The load of the color, and what @want alone takes in the end. -ENOLINK: one
 * of its demands has no path.
 */
static int load_of(struct trial *t, bool transition)
{
	size_t bytes = t->ledger->fabric->n_links * sizeof(*t->load);
	bool stuck = false;
	int ret;

	memset(t->load, 0, bytes);
	if (transition)
		return srpol_ledger_add(t->ledger, t->want.color, &t->want,
					true, t->load, NULL, NULL, NULL);
	memset(t->uses, 0, bytes);
	ret = srpol_ledger_add(t->ledger, t->want.color, &t->want, false,
			       t->load, &t->want, t->uses, &stuck);
	return ret ?: stuck ? -ENOLINK : 0;
}

/* Do hosts have weights of this color that others will take the place of? */
static bool has_old(const struct trial *t)
{
	uint32_t i;

	for (i = 0; i < t->ledger->n; i++)
		if (t->ledger->holds[i].color == t->want.color)
			return true;
	return t->want.old != NULL;
}

/*
 * The link that has most too much: of those that @want takes in the end, and,
 * while hosts may have old weights, of those where it changes something.
 */
static int find_worst(struct trial *t, bool transition, uint32_t *link,
		      double *worst)
{
	/* where this is the only look, others may still have their old ones */
	const double *others = transition || !has_old(t) ? t->others :
			       t->others_new;
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
	ret = find_worst(t, false, link, &worst);
	if (!ret && has_old(t))
		ret = find_worst(t, true, link, &worst);
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
			left -= t->others[l] + t->rest[l];
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

/*
 * What would fit if loads grew in proportion to the rate: so they do but for
 * the weights of others of the color. Right after a call of fits().
 */
static uint64_t estimate(const struct trial *t)
{
	double most = t->want.rate, rate, left;
	uint32_t l;

	for (l = 0; l < t->ledger->fabric->n_links; l++) {
		if (t->uses[l] <= 0)
			continue;
		left = capacity(t, l) + 0.5 - t->others[l] - t->rest[l];
		rate = left > 0 ? left / t->uses[l] * t->want.rate : 0;
		most = fmin(most, rate);
	}
	return most / UNIT;
}

/* What fits, in whole units, and nearly the most; it was tried. */
static int most_of(struct trial *t, uint64_t *most)
{
	uint64_t units = estimate(t);
	uint32_t link, tries = 0;
	int ret = 0;

	for (*most = 0; units && tries < TRIES; tries++) {
		ret = fits(t, units * UNIT, &link);
		if (ret < 0)
			return ret;
		if (ret > 0) {
			*most = units * UNIT;
			return 0;
		}
		units = fmin(units - 1, estimate(t));
	}
	return 0;
}

static void tell_limit(struct trial *t, uint32_t link,
		       struct srpol_offer *offer)
{
	double before = t->others[link] + t->rest[link];
	double all = t->load[link] + t->others[link];

	offer->link = link;
	offer->left = before < capacity(t, link) ?
		      capacity(t, link) - before + 0.5 : 0;
	offer->wanted = all > before ? all - before + 0.5 : 0;
}

/* Tries some weights; an offer that is better than before is kept. */
static int try(struct trial *t, uint64_t rate, const struct srpol_plan *weights,
	       bool tell, struct srpol_offer *offer)
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
	if (!ret && tell)
		ret = most_of(t, &most);
	if (!ret && most > offer->most)
		offer->most = most;
	return ret == -ENOLINK ? 0 : ret;
}

/* It is at a host's only NIC: other paths do not help. */
static bool is_only_nic(const struct trial *t, uint32_t link)
{
	const struct srpol_fabric *f = t->ledger->fabric;
	uint32_t i;

	for (i = 0; link != SRPOL_NONE && i < f->n_nics; i++)
		if ((f->nics[i].link ^ 1) == link || f->nics[i].link == link)
			return f->gpus[f->nics[i].gpu].n == 1;
	return false;
}

/* See srpol_ledger_offer(); without @tell only whether it fits. */
static int make_offer(const struct srpol_ledger *ledger,
		      const struct srpol_hold *want, bool tell,
		      struct srpol_offer *offer)
{
	/* on what is left first; then where it would be if there were room */
	static const struct {
		const char *alg;
		bool empty;
	} ways[] = {
		{ "wecmp", false }, { "minmax", false }, { "wecmp", true },
	};
	uint64_t rate = want->rate < TOO_MUCH ? want->rate : TOO_MUCH;
	struct srpol_plan *weights = NULL;
	struct srpol_links *links;
	struct trial t;
	size_t i;
	int ret;

	*offer = (struct srpol_offer){ .link = SRPOL_NONE };
	if (!want->rate || !want->n)
		return -EINVAL;
	ret = init_trial(&t, ledger, want);
	for (i = 0; i < sizeof(ways) / sizeof(*ways) && !ret; i++) {
		if (is_only_nic(&t, offer->link) || (ways[i].empty && !tell))
			break;
		links = left_of(&t, ways[i].empty);
		ret = links ? place(&t, ways[i].alg, links, &weights) : -ENOMEM;
		srpol_links_free(links);
		if (!ret && weights)
			ret = try(&t, rate, weights, tell, offer);
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
	return make_offer(ledger, want, true, offer);
}

/**
 * srpol_ledger_fits() - likewise, and nothing more
 * @ledger: all that is kept already
 * @want: what is wanted
 *
 * Return: 1 if it fits, 0, -EINVAL, -ENOMEM.
 */
int srpol_ledger_fits(const struct srpol_ledger *ledger,
		      const struct srpol_hold *want)
{
	struct srpol_offer offer;
	int ret = make_offer(ledger, want, false, &offer);

	if (ret)
		return ret;
	srpol_plan_free(offer.weights);
	return offer.fits;
}
