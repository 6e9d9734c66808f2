// SPDX-License-Identifier: LGPL-2.1
/*
 * Decides whether bandwidth can be reserved for a job, on which paths, and if
 * not, how much can be. The demands of the job are placed on the capacity that
 * other reservations leave, by "wecmp" or, if the result does not fit, by
 * "minmax". Whether a rate fits is found out by computing the load under the
 * weights that hosts would have.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "srpol_lib.h"

#define UNIT	1000000		/* granularity of srpol_offer.most: 1 Mbit/s */
#define TRIES	8		/* rates that most_of() tries */
#define TOO_MUCH	(2 * SRPOL_RATE_MAX * SRPOL_CABLES_MAX)	/* rate cap */

/**
 * struct trial - a request for bandwidth that is being examined
 * @ledger: existing reservations
 * @want: the requested reservation, with the weights that are being tried
 * @others: bit/s by link of other colors, by old and new weights
 * @others_new: bit/s by link of other colors, by new weights only
 * @own: bit/s by link of this color without the new weights of @want
 * @rest: bit/s by link of this color without @want
 * @load: scratch: bit/s by link of this color with @want
 * @uses: scratch: the part of @load that is due to @want
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
 * Computes the load of the color in @t->load and, unless in transition, the
 * part that is due to @want in @t->uses. Returns -ENOLINK if a demand of @want
 * has no path.
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

/* Whether hosts may use weights of this color that will be replaced. */
static bool has_old(const struct trial *t)
{
	uint32_t i;

	for (i = 0; i < t->ledger->n; i++)
		if (t->ledger->holds[i].color == t->want.color)
			return true;
	return t->want.old != NULL;
}

/*
 * Finds the link that is overloaded most, relative to its capacity: among the
 * links that @want uses after the transition or, if @transition, among those
 * whose load @want changes while hosts may still use old weights.
 */
static int find_worst(struct trial *t, bool transition, uint32_t *link,
		      double *worst)
{
	/*
	 * Without old weights of this color there is no second check for the
	 * transition, so include the old weights of other colors here.
	 */
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

/*
 * 1: @rate fits; 0: *@link lacks capacity; -ENOLINK: a demand has no path;
 * -ENOMEM.
 */
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

/*
 * Links with the capacity that is left for @want, 0 on links that it may not
 * use; with their full capacity if @empty.
 */
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

/*
 * Places the demands of @want by an algorithm; *@out is NULL if some have no
 * path.
 */
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
 * Estimates the rate that fits, in units of UNIT, from the load that the last
 * call of fits() computed. The load is assumed to grow in proportion to the
 * rate, which is exact except for the influence on the weights of other
 * reservations of the color.
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

/*
 * A rate that fits, as verified by fits(): a multiple of UNIT and nearly the
 * greatest; 0 if none was found.
 */
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

/* Tries weights, and updates the offer if they allow for more than before. */
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

/*
 * Whether the link belongs to the only NIC of a GPU, so that no other paths
 * help.
 */
static bool is_only_nic(const struct trial *t, uint32_t link)
{
	const struct srpol_fabric *f = t->ledger->fabric;
	uint32_t i;

	for (i = 0; link != SRPOL_NONE && i < f->n_nics; i++)
		if ((f->nics[i].link ^ 1) == link || f->nics[i].link == link)
			return f->gpus[f->nics[i].gpu].n == 1;
	return false;
}

/*
 * See srpol_ledger_offer(). Without @tell, only @fits and @weights are
 * computed.
 */
static int make_offer(const struct srpol_ledger *ledger,
		      const struct srpol_hold *want, bool tell,
		      struct srpol_offer *offer)
{
	/*
	 * The last entry ignores other reservations, to find out how much fits
	 * on the paths that would be taken if there were enough capacity.
	 */
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
 * srpol_ledger_offer() - find out whether bandwidth can be reserved
 * @ledger: existing reservations
 * @want: requested reservation, not a member of @ledger; its @new is ignored
 * @offer: result
 *
 * Return: 0 whether it fits or not; -EINVAL if the rate is 0 or there are no
 * demands; -ENOMEM.
 */
int srpol_ledger_offer(const struct srpol_ledger *ledger,
		       const struct srpol_hold *want,
		       struct srpol_offer *offer)
{
	return make_offer(ledger, want, true, offer);
}

/**
 * srpol_ledger_place() - like srpol_ledger_offer(), but only whether it fits, and
 *	with which weights
 * @ledger: existing reservations
 * @want: requested reservation
 * @offer: result: @fits and @weights
 */
int srpol_ledger_place(const struct srpol_ledger *ledger,
		       const struct srpol_hold *want, struct srpol_offer *offer)
{
	return make_offer(ledger, want, false, offer);
}
