// SPDX-License-Identifier: GPL-2.0
/*
 * Decides whether the bandwidth that a job asks for can be reserved. The
 * decision has a reason and a counter-offer: how much would be accepted now, or
 * when all of it would be.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "srpol_lib.h"
#include "tenants.h"

#define DEMANDS_MAX	(1u << 15)	/* of all reservations together */
#define LATER_MAX	16	/* times that are tried for a deadline */

/**
 * admission_name() - name of a decision
 * @decision: the decision
 */
const char *admission_name(enum decision decision)
{
	static const char * const names[] = {
		[DECISION_ACCEPT] = "accept", [DECISION_DEFER] = "defer",
		[DECISION_LOWER] = "lower-priority",
		[DECISION_REJECT] = "reject", [DECISION_WAIT] = "defer",
	};

	return names[decision];
}

static struct srpol_hold hold_of(const struct admission *a, uint64_t rate,
				 uint64_t least)
{
	return (struct srpol_hold){
		.color = a->want.color, .rate = rate, .least = least,
		.priority = a->want.priority,
		.demands = a->want.demands.list, .n = a->want.demands.n,
		.allowed = a->tenant->allowed,
	};
}

static int ask(const struct srpol_ledger *ledger, const struct admission *a,
	       uint64_t rate, struct srpol_offer *offer)
{
	struct srpol_hold hold = hold_of(a, rate, rate);

	return srpol_ledger_offer(ledger, &hold, offer);
}

/*
 * Whether what is enough would fit with other reservations, at a time; the
 * tenant's limits are not considered here.
 */
static bool fits(const struct srpol_ledger *ledger, const struct admission *a,
		 uint64_t at, int *ret)
{
	uint64_t least = a->want.least, rate = 0;
	struct srpol_room room;
	struct srpol_hold hold;
	bool fit;

	/* the later it begins, the more it takes */
	*ret = a->want.deadline ? deadline_rate(&a->want, at * 1000, &rate) : 0;
	if (*ret || rate > SRPOL_RATE_MAX)
		return false;
	least = rate > least ? rate : least;
	hold = hold_of(a, least, least);
	*ret = srpol_ledger_room(ledger, &hold, INT64_MAX / 2, LOWERED_MAX,
				 &room);
	if (*ret)
		return false;
	fit = room.fits;
	srpol_room_free(&room);
	return fit;
}

static void blame(struct admission *a, const struct srpol_offer *offer,
		  const char *what)
{
	uint32_t via = a->want.demands.list[0].via;
	const struct srpol_link *link;

	a->link = offer->link;
	a->left = offer->left;
	a->wanted = offer->wanted;
	if (offer->link == SRPOL_NONE) {
		snprintf(a->reason, sizeof(a->reason),
			 "%s: a demand has no path that is up and allowed%s%s",
			 what, via ? " and passes a switch that offers " : "",
			 via ? srpol_via_name(fabricd.fabric, via) : "");
		return;
	}
	link = &fabricd.fabric->links[offer->link];
	snprintf(a->reason, sizeof(a->reason),
		 "%s: link %s to %s has %.6gG left, %.6gG would be needed",
		 what, node_name(link->from), node_name(link->to),
		 offer->left / 1e9, offer->wanted / 1e9);
}

/* What the tenant may have reserved beyond what its jobs have. */
static int64_t budget_of(const struct tenant *t)
{
	return (int64_t)t->guaranteed - (int64_t)reservations_sum(t->name);
}

/* What the tenant's own jobs of lower priority can do without. */
static uint64_t spare_of(const struct admission *a)
{
	const struct reservation *r;
	uint64_t sum = 0;

	vec_for_each(r, reservations_all())
		if (!r->ends && r->weights && r->color == a->want.color &&
		    reservation_priority(r) < a->want.priority)
			sum += r->guaranteed - r->least;
	return sum;
}

/* The tenant's own limits; the fabric is not considered here. */
static int check_tenant(struct admission *a, const struct srpol_ledger *ledger)
{
	const struct tenant *t = a->tenant;
	uint64_t may = t->guaranteed, most;
	int64_t left = budget_of(t);
	struct srpol_offer offer;
	int ret;

	if (t->max && may > t->max)
		may = t->max;
	if (t->max && a->want.max > t->max)
		snprintf(a->reason, sizeof(a->reason),
			 "a job of tenant %s may have %.6gG at most", t->name,
			 t->max / 1e9);
	else if (a->want.wanted > may ||
		 (int64_t)a->want.least > left + (int64_t)spare_of(a))
		snprintf(a->reason, sizeof(a->reason),
			 "tenant %s has %.6gG of its guaranteed %.6gG left",
			 t->name, left > 0 ? fmin(left, may) / 1e9 : 0.0,
			 t->guaranteed / 1e9);
	else
		return 0;
	a->decision = DECISION_REJECT;
	most = a->want.wanted < may ? a->want.wanted : may;
	if (left < (int64_t)most)
		most = left > 0 ? left : 0;
	if (!most)
		return 1;
	ret = ask(ledger, a, most, &offer);
	srpol_plan_free(offer.weights);
	a->most = ret ? 0 : offer.most;
	return ret ?: 1;
}

/* A larger computation would delay the plan and other requests. */
static bool is_too_large(struct admission *a)
{
	const struct reservation *r;
	uint64_t n = a->want.demands.n;

	vec_for_each(r, reservations_all())
		n += r->demands.n;
	if (n <= DEMANDS_MAX)
		return false;
	a->decision = DECISION_REJECT;
	snprintf(a->reason, sizeof(a->reason),
		 "%llu demands would have reservations, %u can have",
		 (unsigned long long)n, DEMANDS_MAX);
	return true;
}

/*
 * Somebody may have to look at that host, or it would be waited for without an end: not a
 * tenant's user, who is told nothing of others' hosts.
 */
static void name_awaited(struct admission *a)
{
	const char *host = a->own[0] ? NULL : settle_awaited();
	size_t len = strlen(a->reason);

	if (host)
		snprintf(a->reason + len, sizeof(a->reason) - len,
			 "; host %s has not acknowledged yet", host);
}

static bool tenant_is_moving(struct admission *a)
{
	const char *job;

	if (!reservations_are_moving(a->want.color, &job))
		return false;
	snprintf(a->reason, sizeof(a->reason),
		 "hosts have not acknowledged yet what was changed for job %s of this tenant",
		 job);
	name_awaited(a);
	return true;
}

/*
 * Holds that remain at a given time, assuming that hosts have acknowledged
 * them.
 */
static void keep_until(const struct srpol_ledger *all, uint64_t time,
		       struct srpol_ledger *then)
{
	const struct reservation *r = reservations_all()->data;
	uint32_t i;

	then->n = 0;
	for (i = 0; i < all->n; i++) {
		if (!all->holds[i].new || (r[i].until && r[i].until <= time))
			continue;
		then->holds[then->n] = all->holds[i];
		then->holds[then->n++].old = NULL;
	}
}

/* The first end of a reservation after a time, 0: there is none. */
static uint64_t next_end(uint64_t after)
{
	const struct reservation *r;
	uint64_t next = 0;

	vec_for_each(r, reservations_all())
		if (!r->ends && r->until > after && (!next || r->until < next))
			next = r->until;
	return next;
}

static bool is_anything_moving(void)
{
	const struct reservation *r;

	vec_for_each(r, reservations_all())
		if (r->before || r->waits)
			return true;
	return false;
}

/*
 * The times at which there is more room: now, if hosts have to acknowledge
 * something, and ends of reservations, in order. To be freed; NULL without memory.
 */
static uint64_t *find_times(const struct admission *a, uint64_t now, uint32_t *n)
{
	uint32_t most = reservations_all()->n + 1;
	uint64_t *times = calloc(most, sizeof(*times)), at;

	*n = 0;
	if (!times)
		return NULL;
	if (a->want.deadline && most > LATER_MAX)
		most = LATER_MAX;
	if (is_anything_moving())
		times[(*n)++] = now;
	for (at = next_end(now); at && *n < most; at = next_end(at))
		times[(*n)++] = at;
	return times;
}

/*
 * The first of @times at which it fits, @n: at none of them. The later, the more
 * room there is; but what a deadline takes grows as well.
 */
static uint32_t first_fit(const struct srpol_ledger *ledger,
			  const struct admission *a, const uint64_t *times,
			  uint32_t n, struct srpol_ledger *then, int *ret)
{
	uint32_t low = 0, high = n, at;

	while (low < high && !*ret) {
		at = a->want.deadline ? low : low + (high - low) / 2;
		keep_until(ledger, times[at], then);
		if (fits(then, a, times[at], ret))
			high = at;
		else
			low = at + 1;
	}
	return high;
}

/* It does not fit now: find out whether it fits later, or alone. */
static int decide_when(struct admission *a, const struct srpol_ledger *ledger)
{
	struct srpol_ledger then = *ledger;
	uint64_t now = time(NULL), *times;
	uint32_t n, at;
	int ret = 0;

	then.holds = calloc(ledger->n + 1UL, sizeof(*then.holds));
	times = find_times(a, now, &n);
	if (!then.holds || !times) {
		ret = -ENOMEM;
		goto out;
	}
	a->decision = DECISION_REJECT;
	then.n = 0;
	if (!fits(&then, a, now, &ret))
		goto out;
	a->decision = DECISION_LOWER;
	at = first_fit(ledger, a, times, n, &then, &ret);
	if (!ret && at < n) {
		a->decision = times[at] > now ? DECISION_DEFER : DECISION_WAIT;
		a->after_s = times[at] - now;
	}
out:
	free(times);
	free(then.holds);
	return ret;
}

/* There is not enough room: say why, and what would be accepted. */
static int refuse(struct admission *a, const struct srpol_ledger *ledger,
		  const struct srpol_room *room)
{
	static const char * const why[] = {
		[DECISION_DEFER] = "not before other reservations end",
		[DECISION_LOWER] = "reserved by others, without an end",
		[DECISION_REJECT] = "more than the fabric can carry",
		[DECISION_WAIT] = "hosts have not acknowledged yet that others gave it up",
	};
	struct srpol_offer offer = room->offer;
	int64_t left = budget_of(a->tenant);
	int ret = 0;

	/* nothing was asked of the fabric if the tenant had too little left */
	if (offer.link == SRPOL_NONE && !offer.most)
		ret = ask(ledger, a, a->want.least, &offer);
	srpol_plan_free(offer.weights);
	if (ret)
		return ret;
	a->most = room->offer.most;
	if (!a->most && left > 0)
		a->most = offer.most < (uint64_t)left ? offer.most :
							(uint64_t)left;
	ret = decide_when(a, ledger);
	if (offer.fits)
		snprintf(a->reason, sizeof(a->reason),
			 "tenant %s has too little of its guaranteed %.6gG left, and jobs cannot be lowered for it",
			 a->tenant->name, a->tenant->guaranteed / 1e9);
	else
		blame(a, &offer, why[a->decision]);
	if (a->decision == DECISION_WAIT && !offer.fits)
		name_awaited(a);
	return ret;
}

/* They are written in one transaction. */
static void refuse_many(struct admission *a, const struct srpol_room *room)
{
	a->decision = DECISION_LOWER;
	a->most = room->offer.most;
	snprintf(a->reason, sizeof(a->reason),
		 "about %u jobs would have to be lowered, %u can be at once",
		 room->too_many, LOWERED_MAX);
}

/* It gets what there is room for, at the expense of others perhaps. */
static void grant(struct admission *a, struct srpol_room *room)
{
	if (!lowered_list(room, &a->lowered, a->reason, sizeof(a->reason))) {
		a->decision = DECISION_WAIT;
		name_awaited(a);
		return;
	}
	a->decision = DECISION_ACCEPT;
	a->want.guaranteed = room->rate;
	a->want.weights = room->weights;
	a->want.waits = a->lowered.n;
	room->weights = NULL;
	if (a->want.waits)
		snprintf(a->reason, sizeof(a->reason),
			 "it begins when hosts have acknowledged that others have less");
	else if (room->rate < a->want.wanted && room->offer.wanted)
		blame(a, &room->offer, "less than wanted");
	else if (room->rate < a->want.wanted)
		snprintf(a->reason, sizeof(a->reason),
			 "less than wanted: tenant %s has no more left of its guaranteed %.6gG",
			 a->tenant->name, a->tenant->guaranteed / 1e9);
}

static int decide(struct admission *a, const struct srpol_ledger *ledger)
{
	struct srpol_hold hold;
	struct srpol_room room;
	int ret;

	if (is_too_large(a))
		return 0;
	ret = check_tenant(a, ledger);
	if (ret)
		return ret < 0 ? ret : 0;
	if (tenant_is_moving(a)) {
		a->decision = DECISION_WAIT;
		return 0;
	}
	hold = hold_of(a, a->want.wanted, a->want.least);
	ret = srpol_ledger_room(ledger, &hold, budget_of(a->tenant), LOWERED_MAX,
				&room);
	if (ret)
		return ret;
	if (room.fits)
		grant(a, &room);
	else if (room.too_many)
		refuse_many(a, &room);
	else
		ret = refuse(a, ledger, &room);
	srpol_room_free(&room);
	return ret;
}

/**
 * admission_decide() - decide whether bandwidth can be reserved
 * @a: the result; set are @tenant and @want, which wants no bandwidth if its
 *	@wanted is 0, and members that are about the request
 * @err: message if no decision is possible
 */
int admission_decide(struct admission *a, struct srpol_error *err)
{
	struct srpol_ledger ledger = {};
	struct srpol_links *links, *part = NULL;
	int ret;

	a->reason[0] = '\0';
	a->link = SRPOL_NONE;
	a->left = a->wanted = a->most = a->after_s = 0;
	vec_free(&a->lowered);
	a->want.guaranteed = a->want.wanted;
	a->want.waits = false;
	if (!a->want.wanted) {
		a->decision = DECISION_ACCEPT;
		return 0;
	}
	links = inputs_links();
	part = links ? reservable(links) : NULL;
	ret = part ? reservations_ledger(part, &ledger) : -ENOMEM;
	ret = ret ?: decide(a, &ledger);
	if (ret == -EINVAL)
		srpol_error_set(err, ret, "the job sends nothing over the fabric");
	else if (ret)
		srpol_error_set(err, ret, "no memory");
	ledger_free(&ledger);
	srpol_links_free(part);
	srpol_links_free(links);
	return ret;
}

static json_t *number_or_null(uint64_t n)
{
	return n ? json_integer(n) : json_null();
}

/**
 * admission_json() - a decision as JSON
 * @a: the decision
 */
json_t *admission_json(const struct admission *a)
{
	bool accepted = a->decision == DECISION_ACCEPT;
	const struct srpol_link *link;
	json_t *o, *l = json_null();

	if (a->link != SRPOL_NONE) {
		link = &fabricd.fabric->links[a->link];
		l = json_pack("{s:s, s:s, s:I, s:I}",
			      "from", node_name(link->from),
			      "to", node_name(link->to),
			      "left", (json_int_t)a->left,
			      "wanted", (json_int_t)a->wanted);
	}
	o = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:o, s:o, s:o, s:b}",
		      "decision", admission_name(a->decision),
		      "tenant", a->want.tenant, "job", a->want.job,
		      "class", !accepted ? "none" :
		      a->want.guaranteed ? "reservation" : "forecast",
		      "guaranteed", (json_int_t)a->want.guaranteed,
		      "wanted", (json_int_t)a->want.wanted,
		      "reason", a->reason, "link", l,
		      "lowered", lowered_json(&a->lowered, a->own),
		      "ends", effect_json(a), "what_if", a->is_what_if);
	json_object_set_new(o, "offer", accepted ? json_null() :
			    json_pack("{s:I, s:o}", "guaranteed",
				      (json_int_t)a->most, "after_s",
				      number_or_null(a->after_s)));
	return o;
}
