// SPDX-License-Identifier: GPL-2.0
/*
 * Steps of the leader for reservations that depend on others having less or more:
 *
 * - one that waits begins when hosts have acknowledged that others were lowered
 * - for one that is lost others of lower priority are lowered
 * - one that has less than it wants is raised when there is room
 *
 * What is lost comes first, of these as well as of those to be raised the one with
 * the highest priority, and then the oldest one. All of it follows from the
 * records, so another leader continues with the next step.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"
#include "tenants.h"

/**
 * struct basis - what the last search, which found no step, was based on
 * @cap: revision of all reservations
 * @tenants: sum of the revisions of tenants
 * @links: state of links, NULL: there was no such search
 */
static struct basis {
	uint64_t cap;
	uint64_t tenants;
	struct srpol_links *links;
} fruitless;

static uint64_t tenants_revision(void)
{
	const struct tenant *t;
	uint64_t sum = 0;

	vec_for_each(t, tenants_all())
		sum += t->mod;
	return sum;
}

/* Hosts' acknowledgements come often; nothing follows from them by itself. */
static bool is_fruitless(const struct srpol_links *links)
{
	uint32_t i;

	if (!fruitless.links || fruitless.links->n != links->n ||
	    fruitless.cap != reservations_cap() ||
	    fruitless.tenants != tenants_revision())
		return false;
	for (i = 0; i < links->n; i++)
		if (fruitless.links->links[i].capacity !=
		    links->links[i].capacity)
			return false;
	return true;
}

static void set_fruitless(const struct srpol_links *links)
{
	srpol_links_free(fruitless.links);
	fruitless = (struct basis){
		.cap = reservations_cap(), .tenants = tenants_revision(),
		.links = srpol_links_copy(links),
	};
}

/**
 * elastic_stop() - another engine leads
 */
void elastic_stop(void)
{
	srpol_links_free(fruitless.links);
	fruitless.links = NULL;
}

/*
 * If nothing moves any more and there is still no room, links have changed; then
 * it is tried again as one that is lost.
 */
static int find_starts(const struct srpol_ledger *ledger, struct vec *changes)
{
	const struct reservation *list = reservations_all()->data, *r;
	struct reservation now;
	bool moving = false;
	uint32_t i;
	int may;

	vec_for_each(r, reservations_all())
		moving |= r->before != NULL;
	for (i = 0; i < ledger->n && settle_has_room(changes); i++) {
		r = &list[i];
		if (!r->waits)
			continue;
		may = srpol_ledger_may_start(ledger, i);
		if (may < 0)
			return may;
		if (!may && moving)
			continue;
		now = record_changed(r, r->guaranteed, may ? r->weights : NULL);
		if (!may)
			strcpy(now.lost, "links have less than when others were lowered for it");
		settle_say(settle_add(changes, r, record_write(&now)),
			   "reservation of job %s/%s %s", r->tenant, r->job,
			   may ? "begins" : "cannot begin");
	}
	return 0;
}

/* Reservations, the one that yields last first. To be freed. */
static uint32_t *by_claim(const struct srpol_ledger *ledger)
{
	uint32_t *order = store_alloc((ledger->n + 1UL) * sizeof(*order));

	srpol_holds_sort(ledger->holds, ledger->n, order);
	return order;
}

static int64_t budget_of(const struct reservation *r)
{
	const struct tenant *tenant = tenant_find(r->tenant);

	return (int64_t)(tenant ? tenant->guaranteed : 0) -
	       (int64_t)reservations_sum(r->tenant);
}

/* All of these are one transaction, or none if that would be too large. */
static void restore(const struct reservation *r, const struct srpol_room *room,
		    const struct vec *lowered, struct vec *changes)
{
	struct reservation now = record_changed(r, room->rate, room->weights);
	const struct lowered *l;
	const struct step *step;
	size_t len = 0;

	now.waits = lowered->n;
	now.lost[0] = '\0';
	settle_say(settle_add(changes, r, record_write(&now)),
		   "reservation of job %s/%s returns with %.6gG, %zu others are lowered for it",
		   r->tenant, r->job, room->rate / 1e9, lowered->n);
	vec_for_each(l, lowered)
		settle_add(changes, reservation_find(l->tenant, l->job),
			   lowered_text(l));
	vec_for_each(step, changes)
		len += step->text ? strlen(step->text) : STORE_VALUE_MAX;
	if (len < STORE_VALUE_MAX)
		return;
	vec_for_each(step, changes)
		free(step->text);
	changes->n = 0;
}

/* Whether anybody could be lowered for it. */
static bool is_before_others(const struct reservation *r)
{
	uint32_t priority = reservation_priority(r);
	const struct reservation *other;

	vec_for_each(other, reservations_all())
		if (other->weights && other->least < other->guaranteed &&
		    reservation_priority(other) < priority)
			return true;
	return false;
}

/* Whether others can be lowered for number @i, which is lost. */
static int try_rescue(const struct srpol_ledger *ledger, uint32_t i,
		      struct vec *changes)
{
	const struct reservation *r =
		(struct reservation *)reservations_all()->data + i;
	struct vec lowered = VEC_INIT(struct lowered);
	struct srpol_hold want = ledger->holds[i];
	struct srpol_room room;
	char reason[256];
	int ret;

	/* in the ledger it has no weights, so it does not count twice */
	want.rate = r->wanted;
	ret = srpol_ledger_room(ledger, &want,
				budget_of(r) + (int64_t)r->guaranteed,
				LOWERED_MAX / 2 - 1, &room);
	if (ret)
		return ret;
	if (room.fits && lowered_list(&room, &lowered, reason, sizeof(reason)))
		restore(r, &room, &lowered, changes);
	vec_free(&lowered);
	srpol_room_free(&room);
	return 0;
}

static int find_rescues(const struct srpol_ledger *ledger,
			const uint32_t *order, struct vec *changes)
{
	const struct reservation *list = reservations_all()->data, *r;
	uint32_t k;
	int ret = 0;

	for (k = 0; k < ledger->n && !ret && !changes->n; k++) {
		r = &list[order[k]];
		if (r->ends || r->weights || r->before || !r->demands.n ||
		    !is_before_others(r) ||
		    reservations_are_moving(r->color, NULL))
			continue;
		ret = try_rescue(ledger, order[k], changes);
	}
	return ret;
}

static int try_raise(const struct srpol_ledger *ledger, uint32_t i,
		     uint64_t rate, struct vec *changes)
{
	const struct reservation *r =
		(struct reservation *)reservations_all()->data + i;
	struct reservation now;
	struct srpol_room room;
	int ret = srpol_ledger_raise(ledger, i, rate, &room);

	if (ret)
		return ret;
	if (room.fits) {
		now = record_changed(r, room.rate, room.weights ?: r->weights);
		settle_say(settle_add(changes, r, record_write(&now)),
			   "reservation of job %s/%s is raised from %.6gG to %.6gG",
			   r->tenant, r->job, r->guaranteed / 1e9,
			   room.rate / 1e9);
	}
	srpol_room_free(&room);
	return 0;
}

/*
 * The first one that can be raised; the next one follows when hosts have
 * acknowledged it. Nobody is raised while one with a better claim is moving, as
 * that one would come too late.
 */
static int find_raises(const struct srpol_ledger *ledger, const uint32_t *order,
		       struct vec *changes)
{
	const struct reservation *list = reservations_all()->data, *r;
	int64_t left;
	uint64_t rate;
	uint32_t k;
	int ret = 0;

	for (k = 0; k < ledger->n && !ret && !changes->n; k++) {
		r = &list[order[k]];
		if (r->ends || !r->weights || r->guaranteed >= r->wanted)
			continue;
		if (reservations_are_moving(r->color, NULL))
			break;
		left = budget_of(r);
		rate = r->wanted - r->guaranteed;
		if (left <= 0)
			continue;
		if (rate > (uint64_t)left)
			rate = left;
		ret = try_raise(ledger, order[k], r->guaranteed + rate,
				changes);
	}
	return ret;
}

/**
 * elastic_steps() - find the next steps of reservations that depend on others
 * @links: state of links, which all reservations were adapted to
 * @changes: list that the steps are added to, all of the same kind
 *
 * Return: 0, -ENOMEM.
 */
int elastic_steps(const struct srpol_links *links, struct vec *changes)
{
	struct srpol_ledger ledger = {};
	struct srpol_links *part;
	uint32_t *order = NULL;
	int ret;

	if (!reservations_all()->n || is_fruitless(links))
		return 0;
	part = reservable(links);
	ret = part ? reservations_ledger(part, &ledger) : -ENOMEM;
	/* there may be a question about each reservation */
	ret = ret ?: srpol_ledger_keep(&ledger);
	ret = ret ?: find_starts(&ledger, changes);
	if (!ret && !changes->n) {
		order = by_claim(&ledger);
		ret = find_rescues(&ledger, order, changes);
	}
	if (!ret && !changes->n)
		ret = find_raises(&ledger, order, changes);
	if (!ret && !changes->n)
		set_fruitless(links);
	free(order);
	ledger_free(&ledger);
	srpol_links_free(part);
	return ret;
}
