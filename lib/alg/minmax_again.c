// SPDX-License-Identifier: LGPL-2.1
/*
 * Follows a placement in force. Demands keep their paths unless these are down,
 * and demands that are new are placed where there is room. Others move only if
 * that lowers the maximum load by more than option hysteresis: first those in
 * the way of new ones (minmax_chain.c), then whatever it takes
 * (minmax_repair.c). If the maximum load still exceeds that of a placement from
 * scratch by more than this or by 5 %, the latter replaces it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "minmax.h"

#define EXACT	1.0001	/* least factor of a load that is aimed at */
#define CLOSE	1.0025	/* factor of it that is not worth other moves */
#define WITHIN	1.05	/* factor of the load from scratch that is good enough */

/* Takes over the paths of a demand; its weights become parts of SRPOL_PARTS. */
static int adopt_demand(struct srpol_minmax *m, uint32_t d,
			const struct srpol_share *shares, uint32_t n)
{
	uint32_t i, parts, left = SRPOL_PARTS;
	struct srpol_path_set set;
	struct srpol_route route;
	double sum = 0;
	int rc;

	for (i = 0; i < n; i++)
		sum += shares[i].weight;
	rc = srpol_path_set_init(m->in->fabric, m->in->demands[d].src,
				 m->in->demands[d].dst, &set);
	m->listed |= set.pair[0].fan.turn == SRPOL_TURN_LIST;
	for (i = 0; i < n && !rc; i++) {
		parts = i + 1 == n ? left :
			SRPOL_PARTS * (shares[i].weight / sum) + 0.5;
		if (parts > left)
			parts = left;
		if (!parts)
			continue;
		if (shares[i].path >= set.n) {
			rc = -EINVAL;
			break;
		}
		left -= parts;
		srpol_path_get(m->in->fabric, &set, shares[i].path, &route);
		srpol_minmax_load(m, d, &route, parts);
		rc = srpol_spot_put(&m->spots[d], shares[i].path, parts);
	}
	srpol_path_set_free(&set);
	return rc;
}

/* Takes over a placement. */
static int adopt(struct srpol_minmax *m, const struct srpol_placement *p)
{
	uint32_t d;
	int rc = 0;

	for (d = 0; d < m->in->n && !rc; d++)
		rc = adopt_demand(m, d, p->shares + p->first[d],
				  p->first[d + 1] - p->first[d]);
	return rc;
}

/* Goes back to a placement. */
static int restore(struct srpol_minmax *m, const struct srpol_placement *p)
{
	srpol_minmax_clear(m);
	return adopt(m, p);
}

/* It examines paths again and again, for which lists are made anew each time. */
static int make_room(struct srpol_minmax *m, double target, bool all,
		     uint32_t *moves)
{
	return m->listed ? 0 : srpol_minmax_chain(m, target, all, moves);
}

static uint32_t moves_of(const struct srpol_minmax *m)
{
	return m->in->options.moves ? m->in->options.moves : UINT32_MAX;
}

/*
 * Moves demands of @kept, which @m is, until the maximum load is near @level;
 * @near is the factor of it that is good enough. Once demands have to move, the
 * target is nearer than that, so that the next change need not move any.
 */
static int ease(struct srpol_minmax *m, const struct srpol_placement *kept,
		double level, double near)
{
	double target = level * fmax(1 + (near - 1) / 4, EXACT);
	uint32_t moves = moves_of(m);
	int rc;

	rc = make_room(m, target, false, &moves);
	if (!rc && srpol_minmax_max(m) > target)
		rc = srpol_minmax_repair(m, target, &moves);
	if (rc || srpol_minmax_max(m) <= level * fmax(near, CLOSE))
		return rc;
	moves = moves_of(m);
	return restore(m, kept) ?:
	       make_room(m, target, true, &moves) ?:
	       srpol_minmax_approach(m, level, &moves);
}

/*
 * Compares with a placement from scratch. If that is better by more than
 * @within, tries to get as near to it from @kept, else takes it over.
 */
static int compare(struct srpol_minmax *m, const struct srpol_placement *kept,
		   double within)
{
	struct srpol_minmax scratch, worse;
	double least = 0;
	int rc;

	rc = srpol_minmax_init(&scratch, m->in) ?: srpol_minmax_anew(&scratch);
	if (!rc)
		least = srpol_minmax_max(&scratch);
	if (!rc && srpol_minmax_max(m) > least * within)
		rc = restore(m, kept) ?: ease(m, kept, least, within);
	if (!rc && srpol_minmax_max(m) > least * within) {
		worse = *m;
		*m = scratch;
		scratch = worse;
	}
	srpol_minmax_fini(&scratch);
	return rc;
}

/* Improves on @kept, which @m is. */
static int improve(struct srpol_minmax *m, const struct srpol_placement *kept)
{
	const struct srpol_alg_options *options = &m->in->options;
	double near = 1 + options->hysteresis, before = srpol_minmax_max(m);
	double within = near > WITHIN ? near : WITHIN;
	/* there is none if a GPU with demands has no NIC that is up */
	bool is_bound = isfinite(m->bound);
	int rc = 0;

	if (is_bound && before <= m->bound * near)
		return 0;
	if (is_bound)
		rc = ease(m, kept, m->bound, near);
	if (!rc && before <= srpol_minmax_max(m) * near)
		rc = restore(m, kept);
	if (!rc && !options->moves &&
	    (!is_bound || srpol_minmax_max(m) > m->bound * within))
		rc = compare(m, kept, within);
	return rc;
}

/**
 * srpol_minmax_again() - follow the previous placement
 * @m: the placement, empty, of an input with a previous one
 *
 * If option moves does not limit the moves, the maximum load is at most that of
 * a placement from scratch, times 1.05 or one plus option hysteresis.
 *
 * Return: 0, -EINVAL if the previous placement has a path that does not exist,
 * -ENOMEM.
 */
int srpol_minmax_again(struct srpol_minmax *m)
{
	struct srpol_placement *kept = srpol_placement_new(m->in->n);
	int rc;

	if (!kept)
		return -ENOMEM;
	rc = adopt(m, m->in->previous) ?: srpol_minmax_leave(m) ?:
	     srpol_minmax_fill(m) ?: srpol_minmax_result(m, kept) ?:
	     improve(m, kept);
	srpol_placement_free(kept);
	return rc;
}
