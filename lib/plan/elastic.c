// SPDX-License-Identifier: LGPL-2.1
/*
 * Reservations that can do with less than they ask for. A reservation gets what
 * is free, if that is at least its least rate. If it is not, others may be
 * lowered, for its least rate only: those that have a lower priority, and a
 * least rate below what they have. Those with the lowest priority are lowered
 * first, of these the newest first, and none further than it takes: with the
 * weights that result, none of them could be higher.
 *
 * Two states are examined. In the first one, others have been lowered, and hosts
 * may still use what these had. In the second one hosts have acknowledged that,
 * and the new reservation has begun. In neither may a link be given more than it
 * carries, or than what it was given before, if links have lost capacity.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "srpol_lib.h"
#include "tally.h"

#define UNIT	1000000		/* what is too little to change paths: 1 Mbit/s */
#define PART	100		/* likewise, a part of what there could be */
#define SUM_ROUNDS	6	/* of a search by bisection, for weights */
#define RATE_ROUNDS	12	/* likewise, for a rate with given weights */
#define SLACK	0.25	/* bit/s: half of what srpol_load_fits() allows, for rounding */

/**
 * struct search - a search for rates
 * @given: the ledger as it is
 * @ledger: a copy, whose reservations change; the wanted one is added last
 * @want: the wanted reservation
 * @budget: bit/s that it may have while nobody of its color is lowered
 * @order: reservations that may be lowered, the first one first
 * @n_order: number of @order
 * @most: bit/s by link that may be reserved
 * @load: scratch: bit/s by link
 * @low: scratch, likewise
 */
struct search {
	const struct srpol_ledger *given;
	struct srpol_ledger ledger;
	struct srpol_hold want;
	int64_t budget;
	uint32_t *order;
	uint32_t n_order;
	double *most;
	double *load;
	double *low;
};

/* A reservation of @s->ledger is not what it was: of its color nothing is kept. */
static void has_changed(const struct search *s, uint32_t i)
{
	srpol_tally_forget(s->ledger.tally, s->ledger.holds[i].color);
}

static void forget_order(const struct search *s)
{
	uint32_t k;

	for (k = 0; k < s->n_order; k++)
		srpol_tally_forget(s->ledger.tally,
				   s->given->holds[s->order[k]].color);
}

/* What is kept is that of @s->given again. */
static void free_search(struct search *s)
{
	if (s->given)
		forget_order(s);
	free(s->ledger.holds);
	free(s->order);
	free(s->most);
	free(s->load);
	free(s->low);
}

static int load_all(const struct srpol_ledger *ledger, double *load)
{
	memset(load, 0, ledger->fabric->n_links * sizeof(*load));
	return srpol_ledger_add_others(ledger, 0, true, load);
}

static void copy_holds(struct search *s)
{
	s->ledger.n = s->given->n;
	if (s->given->n)
		memcpy(s->ledger.holds, s->given->holds,
		       s->given->n * sizeof(*s->ledger.holds));
}

static int init_search(struct search *s, const struct srpol_ledger *given)
{
	size_t n = given->fabric->n_links + 1UL;
	uint32_t l;
	int ret;

	*s = (struct search){
		.given = given, .ledger = *given,
		.order = calloc(given->n + 1UL, sizeof(*s->order)),
		.most = calloc(n, sizeof(double)),
		.load = calloc(n, sizeof(double)),
		.low = calloc(n, sizeof(double)),
	};
	s->ledger.holds = calloc(given->n + 1UL, sizeof(*s->ledger.holds));
	if (!s->ledger.holds || !s->order || !s->most || !s->load || !s->low)
		return -ENOMEM;
	copy_holds(s);
	ret = load_all(given, s->most);
	for (l = 0; l < given->fabric->n_links; l++)
		if (srpol_load_fits(s->most[l], given->links->links[l].capacity))
			s->most[l] = given->links->links[l].capacity;
	return ret;
}

/* 1: no link has more than it may by @slack, 0: some have, -ENOMEM. */
static int check(struct search *s, const struct srpol_ledger *ledger,
		 double slack)
{
	int ret = load_all(ledger, s->load);
	uint32_t l;

	for (l = 0; l < ledger->fabric->n_links && !ret; l++)
		if (s->load[l] > s->most[l] + slack)
			return 0;
	return ret ?: 1;
}

static int is_sound(struct search *s)
{
	return check(s, &s->ledger, SLACK);
}

/**
 * srpol_hold_is_lower() - the order in which reservations have to yield
 * @holds: reservations, the oldest one first
 * @a: index of one
 * @b: index of another one
 *
 * Return: whether @a yields before @b: its priority is lower, or it is the same
 * and @a is newer.
 */
bool srpol_hold_is_lower(const struct srpol_hold *holds, uint32_t a, uint32_t b)
{
	if (holds[a].priority != holds[b].priority)
		return holds[a].priority < holds[b].priority;
	return a > b;
}

/**
 * srpol_holds_sort() - sort reservations, the one that yields last first
 * @holds: reservations, the oldest one first
 * @n: number of @holds
 * @order: result: indices of @holds, room for @n
 */
void srpol_holds_sort(const struct srpol_hold *holds, uint32_t n,
		      uint32_t *order)
{
	uint32_t i, k;

	for (i = 0; i < n; i++) {
		for (k = i; k && srpol_hold_is_lower(holds, order[k - 1], i); k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
}

static uint64_t least_of(const struct srpol_hold *hold)
{
	return hold->least && hold->least < hold->rate ? hold->least :
							  hold->rate;
}

static void find_order(struct search *s)
{
	const struct srpol_hold *holds = s->given->holds;
	uint32_t i, k;

	for (i = 0; i < s->given->n; i++) {
		if (!holds[i].new || holds[i].priority >= s->want.priority ||
		    least_of(&holds[i]) == holds[i].rate)
			continue;
		for (k = s->n_order++; k; k--) {
			if (!srpol_hold_is_lower(holds, i, s->order[k - 1]))
				break;
			s->order[k] = s->order[k - 1];
		}
		s->order[k] = i;
	}
}

/* The state in which hosts have acknowledged this rate. */
static void set_rate(struct search *s, uint32_t i, uint64_t rate)
{
	struct srpol_hold *hold = &s->ledger.holds[i];

	*hold = s->given->holds[i];
	has_changed(s, i);
	if (rate == hold->rate)
		return;
	hold->rate = hold->old_rate = rate;
	hold->old = hold->new;
}

/* Lowers others by @sum bit/s in all, each as far as possible in their order. */
static void lower_by(struct search *s, uint64_t sum)
{
	const struct srpol_hold *hold;
	uint64_t part;
	uint32_t k;

	for (k = 0; k < s->n_order; k++) {
		hold = &s->given->holds[s->order[k]];
		part = hold->rate - least_of(hold);
		part = part < sum ? part : sum;
		set_rate(s, s->order[k], hold->rate - part);
		sum -= part;
	}
}

/* What is left of the budget for all of its color beyond @want's rate. */
static int64_t budget_left(const struct search *s)
{
	int64_t left = s->budget - (int64_t)s->want.rate;
	uint32_t k, i;

	for (k = 0; k < s->n_order; k++) {
		i = s->order[k];
		if (s->given->holds[i].color == s->want.color)
			left += s->given->holds[i].rate -
				s->ledger.holds[i].rate;
	}
	return left;
}

/* 1: @want fits with the rates of others that are set, 0: not; -errno. */
static int try_weights(struct search *s)
{
	struct srpol_offer offer;
	int ret;

	if (budget_left(s) < 0)
		return 0;
	ret = srpol_ledger_place(&s->ledger, &s->want, &offer);
	if (ret || !offer.fits)
		return ret;
	srpol_plan_free((struct srpol_plan *)s->want.new);
	s->want.new = offer.weights;
	return 1;
}

/* How much others have to be lowered in all, about: 1, 0 if it is no use. */
static int find_sum(struct search *s)
{
	uint64_t low = 0, high = 0, sum;
	uint32_t k, round;
	int ret;

	for (k = 0; k < s->n_order; k++)
		high += s->given->holds[s->order[k]].rate -
			least_of(&s->given->holds[s->order[k]]);
	if (!high)
		return 0;
	lower_by(s, high);
	ret = try_weights(s);
	for (round = 0; ret > 0 && round < SUM_ROUNDS && high - low > 1;
	     round++) {
		sum = low + (high - low) / 2;
		lower_by(s, sum);
		ret = try_weights(s);
		if (ret < 0)
			return ret;
		if (ret)
			high = sum;
		else
			low = sum;
		ret = 1;
	}
	if (ret > 0)
		lower_by(s, high);
	return ret;
}

/*
 * Estimates which rate from @low to @high fits; all loads are assumed to grow in
 * proportion. @s->load has those at @high, @s->low those at @low.
 */
static uint64_t estimate(const struct search *s, uint64_t low, uint64_t high)
{
	double part = 1, more;
	uint32_t l;

	for (l = 0; l < s->ledger.fabric->n_links; l++) {
		more = s->load[l] - s->low[l];
		if (s->load[l] > s->most[l] + SLACK && more > 0)
			part = fmin(part, (s->most[l] - s->low[l]) / more);
	}
	return low + (uint64_t)((high - low) * fmax(part, 0));
}

/*
 * Raises a reservation, whose present rate is sound, as far as possible and up
 * to @high. @set sets a rate. Returns 0, -ENOMEM.
 */
static int raise_to(struct search *s, uint32_t i, uint64_t high,
		    void (*set)(struct search *s, uint32_t i, uint64_t rate))
{
	uint64_t low = s->ledger.holds[i].rate, rate;
	uint32_t round;
	int ret;

	if (high <= low)
		return 0;
	set(s, i, low);
	ret = load_all(&s->ledger, s->low);
	if (ret)
		return ret;
	set(s, i, high);
	ret = is_sound(s);
	if (ret)
		return ret < 0 ? ret : 0;
	/* the estimate is right but for weights that are shared and rounded */
	rate = estimate(s, low, high);
	for (round = 0; round < RATE_ROUNDS && high - low > 1; round++) {
		rate = rate > low && rate < high ? rate :
						   low + (high - low) / 2;
		set(s, i, rate);
		ret = is_sound(s);
		if (ret < 0)
			return ret;
		if (ret)
			low = rate;
		else
			high = rate;
		rate = ret ? rate + 1 : rate - 1;
	}
	set(s, i, low);
	return 0;
}

/* Nobody stays lower than it takes, and who yields last gets back first. */
static int give_back(struct search *s)
{
	uint64_t rate, full;
	int64_t left;
	uint32_t k, i;
	int ret = 0;

	s->ledger.holds[s->ledger.n++] = s->want;
	srpol_tally_forget(s->ledger.tally, s->want.color);
	for (k = s->n_order; k-- && !ret;) {
		i = s->order[k];
		full = s->given->holds[i].rate;
		rate = s->ledger.holds[i].rate;
		left = budget_left(s);
		if (s->want.color == s->given->holds[i].color &&
		    left < (int64_t)(full - rate))
			full = rate + left;
		ret = raise_to(s, i, full, set_rate);
	}
	return ret ?: is_sound(s);
}

/* The first state: others were lowered, hosts have not acknowledged it. */
static int is_way_sound(struct search *s, const uint64_t *rates)
{
	struct srpol_hold *hold;
	uint32_t i;

	copy_holds(s);
	forget_order(s);
	srpol_tally_forget(s->ledger.tally, s->want.color);
	for (i = 0; i < s->ledger.n; i++) {
		hold = &s->ledger.holds[i];
		if (rates[i] == hold->rate)
			continue;
		hold->old = hold->old ?: hold->new;
		hold->old_rate = hold->old_rate ?: hold->rate;
		hold->rate = rates[i];
	}
	return is_sound(s);
}

/* The offer, if all others were lowered as far as possible. */
static int find_most(struct search *s, struct srpol_room *room)
{
	struct srpol_offer offer;
	int64_t left;
	int ret;

	lower_by(s, UINT64_MAX);
	left = budget_left(s) + (int64_t)s->want.rate;
	if (!s->n_order || left <= 0)
		return 0;
	ret = srpol_ledger_offer(&s->ledger, &s->want, &offer);
	if (ret)
		return ret;
	srpol_plan_free(offer.weights);
	if (offer.most > (uint64_t)left)
		offer.most = left;
	if (offer.most > room->offer.most)
		room->offer.most = offer.most;
	return 0;
}

static uint32_t count_lowered(const struct search *s)
{
	uint32_t n = 0, k;

	for (k = 0; k < s->n_order; k++)
		n += s->ledger.holds[s->order[k]].rate <
		     s->given->holds[s->order[k]].rate;
	return n;
}

/*
 * More than @max are lowered, and would be after give_back() as well: that takes
 * time for each of them, and finds about as many more than it takes as find_sum()
 * is inexact.
 */
static bool are_too_many(const struct search *s, uint32_t max)
{
	return count_lowered(s) > (uint64_t)max + 1 + (s->n_order >> SUM_ROUNDS);
}

static int lower_others(const struct srpol_ledger *ledger,
			const struct srpol_hold *want, int64_t budget,
			uint32_t max, struct srpol_room *room)
{
	struct search s;
	int ret = init_search(&s, ledger);
	uint32_t i;

	s.want = *want;
	s.want.rate = least_of(want);
	s.want.new = NULL;
	s.budget = budget;
	if (!ret) {
		find_order(&s);
		ret = find_sum(&s) ?: find_most(&s, room);
	}
	if (ret > 0 && !are_too_many(&s, max))
		ret = give_back(&s);
	if (ret > 0 && count_lowered(&s) > max) {
		room->too_many = count_lowered(&s);
		ret = 0;
	}
	for (i = 0; i < ledger->n && ret > 0; i++)
		room->rates[i] = s.ledger.holds[i].rate;
	if (ret > 0)
		ret = is_way_sound(&s, room->rates);
	if (ret > 0) {
		room->fits = true;
		room->rate = s.want.rate;
		room->weights = (struct srpol_plan *)s.want.new;
	} else {
		for (i = 0; i < ledger->n; i++)
			room->rates[i] = ledger->holds[i].rate;
		srpol_plan_free((struct srpol_plan *)s.want.new);
	}
	srpol_tally_forget(s.ledger.tally, want->color);
	free_search(&s);
	return ret < 0 ? ret : 0;
}

/* Asks for a rate; what is offered instead counts if it is more than before. */
static int ask(const struct srpol_ledger *ledger, const struct srpol_hold *want,
	       uint64_t rate, struct srpol_room *room)
{
	struct srpol_hold hold = *want;
	struct srpol_offer offer;
	int ret;

	hold.rate = rate;
	ret = srpol_ledger_offer(ledger, &hold, &offer);
	if (ret)
		return ret;
	if (offer.fits) {
		room->fits = true;
		room->rate = rate;
		room->weights = offer.weights;
		return 0;
	}
	if (offer.most < room->offer.most)
		offer.most = room->offer.most;
	room->offer = offer;
	return 0;
}

/* What is free, if it is enough. */
static int take_free(const struct srpol_ledger *ledger,
		     const struct srpol_hold *want, int64_t budget,
		     struct srpol_room *room)
{
	uint64_t least = least_of(want), rate = want->rate;
	int ret;

	if (budget < 0 || (uint64_t)budget < least)
		return 0;
	rate = rate < (uint64_t)budget ? rate : (uint64_t)budget;
	ret = ask(ledger, want, rate, room);
	if (!ret && !room->fits && room->offer.most > least)
		ret = ask(ledger, want, room->offer.most, room);
	if (!ret && !room->fits && least < rate)
		ret = ask(ledger, want, least, room);
	return ret;
}

static int init_room(const struct srpol_ledger *ledger, struct srpol_room *room)
{
	uint32_t i;

	*room = (struct srpol_room){
		.rates = calloc(ledger->n + 1UL, sizeof(*room->rates)),
		.offer = { .link = SRPOL_NONE },
	};
	for (i = 0; room->rates && i < ledger->n; i++)
		room->rates[i] = ledger->holds[i].rate;
	return room->rates ? 0 : -ENOMEM;
}

/**
 * srpol_ledger_room() - find out for what rate there is room, and who has to be
 *	lowered for it
 * @ledger: existing reservations
 * @want: requested reservation, not a member of @ledger, with a rate from @least
 *	to @rate; its @new is ignored
 * @budget: bit/s that @want may have as long as no reservation of its color is
 *	lowered; below 0 if these already have too much
 * @max: reservations that may be lowered
 * @room: result, to be freed with srpol_room_free()
 *
 * Return: 0 whether there is room or not; -EINVAL if the rate is 0 or there are no
 * demands; -ENOMEM. Nothing has to be freed after an error.
 */
int srpol_ledger_room(const struct srpol_ledger *ledger,
		      const struct srpol_hold *want, int64_t budget,
		      uint32_t max, struct srpol_room *room)
{
	int ret = init_room(ledger, room);

	if (!ret && (!want->rate || !want->n))
		ret = -EINVAL;
	ret = ret ?: take_free(ledger, want, budget, room);
	if (!ret && !room->fits)
		ret = lower_others(ledger, want, budget, max, room);
	if (ret)
		srpol_room_free(room);
	return ret;
}

/* A rate above the present one, which hosts have acknowledged. */
static void set_higher(struct search *s, uint32_t i, uint64_t rate)
{
	struct srpol_hold *hold = &s->ledger.holds[i];

	*hold = s->given->holds[i];
	has_changed(s, i);
	hold->old = hold->new;
	hold->old_rate = hold->rate;
	hold->rate = rate;
}

/* Other weights for more than @room->rate, if that is worth it. */
static int raise_elsewhere(struct search *s, uint32_t i, uint64_t rate,
			   struct srpol_room *room)
{
	struct srpol_room other = { .offer = { .link = SRPOL_NONE } };
	struct srpol_hold want;
	uint64_t enough;
	int ret;

	set_higher(s, i, rate);
	want = s->ledger.holds[i];
	s->ledger.n--;
	memmove(s->ledger.holds + i, s->ledger.holds + i + 1,
		(s->ledger.n - i) * sizeof(want));
	enough = room->rate + (rate / PART > UNIT ? rate / PART : UNIT);
	ret = ask(&s->ledger, &want, rate, &other);
	if (!ret && !other.fits && other.offer.most >= enough)
		ret = ask(&s->ledger, &want, other.offer.most, &other);
	if (!ret && other.fits) {
		room->rate = other.rate;
		room->weights = other.weights;
	}
	return ret;
}

/**
 * srpol_ledger_raise() - find out how far a reservation can be raised
 * @ledger: all reservations
 * @hold: index of the reservation; its old and new weights are the same
 * @rate: bit/s that it should get, more than it has
 * @room: result, to be freed with srpol_room_free(); it fits if it can be raised
 *	to @rate, by at least a hundredth of that, or by anything up to @rate
 *
 * The weights stay as they are if it can have @rate with these.
 *
 * Return: 0, -ENOMEM; nothing has to be freed after an error.
 */
int srpol_ledger_raise(const struct srpol_ledger *ledger, uint32_t hold,
		       uint64_t rate, struct srpol_room *room)
{
	uint64_t before = ledger->holds[hold].rate;
	struct search s;
	int ret = init_room(ledger, room);

	if (ret)
		return ret;
	ret = init_search(&s, ledger);
	ret = ret ?: raise_to(&s, hold, rate, set_higher);
	if (!ret) {
		room->rate = s.ledger.holds[hold].rate;
		if (room->rate < rate)
			ret = raise_elsewhere(&s, hold, rate, room);
	}
	srpol_tally_forget(ledger->tally, ledger->holds[hold].color);
	free_search(&s);
	if (ret) {
		srpol_room_free(room);
		return ret;
	}
	room->fits = room->rate == rate ||
		     room->rate - before >= (rate / PART > UNIT ?
					     rate / PART : UNIT);
	if (room->fits)
		room->rates[hold] = room->rate;
	return 0;
}

/**
 * srpol_ledger_may_start() - whether a reservation that hosts were not told of may
 *	begin, as others have given up what it needs
 * @ledger: all reservations
 * @hold: index of the reservation, which has no old weights
 *
 * Return: 1 if no link is given more than it carries by it, 0, -ENOMEM.
 */
int srpol_ledger_may_start(const struct srpol_ledger *ledger, uint32_t hold)
{
	struct srpol_ledger others = *ledger;
	struct search s = {};
	int ret = -ENOMEM;

	others.holds = malloc((ledger->n + 1UL) * sizeof(*others.holds));
	if (!others.holds)
		return ret;
	memcpy(others.holds, ledger->holds, ledger->n * sizeof(*others.holds));
	/* what is kept is with it */
	others.tally = NULL;
	others.n--;
	memmove(others.holds + hold, others.holds + hold + 1,
		(others.n - hold) * sizeof(*others.holds));
	ret = init_search(&s, &others) ?: check(&s, ledger, 0.5);
	free_search(&s);
	free(others.holds);
	return ret;
}

/**
 * srpol_room_free() - free a result
 * @room: the result
 */
void srpol_room_free(struct srpol_room *room)
{
	srpol_plan_free(room->weights);
	free(room->rates);
	*room = (struct srpol_room){};
}
