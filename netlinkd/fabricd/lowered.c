// SPDX-License-Identifier: GPL-2.0
/*
 * Reservations that are lowered for one of a higher priority. They are written in
 * the same transaction as that one, which waits until hosts have acknowledged
 * that the others have less.
 */
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"
#include "tenants.h"

/**
 * lowered_list() - list which reservations are lowered
 * @room: result of srpol_ledger_room() for all reservations
 * @lowered: list, to which struct lowered are added
 * @reason: result: why that cannot be done now
 * @len: size of @reason
 *
 * Return: whether they can be lowered now.
 */
bool lowered_list(const struct srpol_room *room, struct vec *lowered,
		  char *reason, size_t len)
{
	const struct reservation *r = reservations_all()->data;
	struct lowered *l;
	bool may = true;
	uint32_t i;

	for (i = 0; i < reservations_all()->n; i++) {
		if (room->rates[i] == r[i].guaranteed)
			continue;
		l = vec_add(lowered);
		strcpy(l->tenant, r[i].tenant);
		strcpy(l->job, r[i].job);
		l->from = r[i].guaranteed;
		l->to = room->rates[i];
		may &= !reservations_are_moving(r[i].color, NULL);
	}
	/* without names, as they may be another tenant's */
	if (!may)
		snprintf(reason, len,
			 "hosts have not acknowledged yet what was changed for jobs that would be lowered");
	return may;
}

/**
 * lowered_text() - the record of a reservation that is lowered
 * @l: which one, and how much; it is among reservations_all()
 *
 * Return: text, to be freed; NULL without memory.
 */
char *lowered_text(const struct lowered *l)
{
	const struct reservation *r = reservation_find(l->tenant, l->job);
	struct reservation now = record_changed(r, l->to, r->weights);

	return record_write(&now);
}

/**
 * lowered_json() - reservations that are lowered, as JSON
 * @lowered: list of struct lowered
 * @own: tenant of the user who asks, whom names of others are not told; empty: an
 *	operator
 */
json_t *lowered_json(const struct vec *lowered, const char *own)
{
	json_t *list = json_array();
	const struct lowered *l;
	bool hide;

	vec_for_each(l, lowered) {
		hide = own[0] && strcmp(own, l->tenant);
		json_array_append_new(list, json_pack("{s:s?, s:s?, s:I, s:I}",
			"tenant", hide ? NULL : l->tenant,
			"job", hide ? NULL : l->job,
			"from", (json_int_t)l->from, "to", (json_int_t)l->to));
	}
	return list;
}
