// SPDX-License-Identifier: LGPL-2.1
/*
 * Moves load from links above a target to paths with room: a whole demand if it
 * fits there, else the excess part, in as few pieces as possible.
 */
#include <errno.h>
#include <math.h>

#include "minmax.h"

#define PASSES		24

/**
 * struct mover - a demand that is being moved
 * @m: the placement
 * @d: index of the demand
 * @set: its paths
 * @bytes: bytes per part
 * @target: load in seconds that no link is to exceed
 */
struct mover {
	struct srpol_minmax *m;
	uint32_t d;
	struct srpol_path_set set;
	double bytes;
	double target;
};

static void get(const struct mover *v, uint32_t path, struct srpol_route *route)
{
	srpol_path_get(v->m->in->fabric, &v->set, path, route);
}

/*
 * Number of parts that have to leave the path to meet the target, at most
 * @parts.
 */
static uint32_t too_much(const struct mover *v, const struct srpol_route *route,
			 uint32_t parts)
{
	double most = 0, over;
	uint32_t i, l;

	for (i = 0; i < route->n; i++) {
		l = route->link[i];
		if (v->m->cost[l] == INFINITY)
			return parts;
		over = v->m->load[l] - v->target / v->m->cost[l];
		if (over > most)
			most = over;
	}
	return most >= v->bytes * parts ? parts : ceil(most / v->bytes);
}

/* Number of parts that the path has room for. */
static uint32_t room(const struct mover *v, const struct srpol_route *route)
{
	double least = v->bytes * SRPOL_PARTS, r;
	uint32_t i, l;

	if (!srpol_demand_may(v->m->in, v->d, route))
		return 0;
	for (i = 0; i < route->n; i++) {
		l = route->link[i];
		if (v->m->cost[l] == INFINITY)
			return 0;
		/* tolerate rounding errors */
		r = v->target * (1 + 1e-9) / v->m->cost[l] - v->m->load[l];
		if (r < least)
			least = r;
	}
	return least > 0 ? least / v->bytes : 0;
}

static int put(struct mover *v, uint32_t path, uint32_t parts)
{
	struct srpol_route route;

	get(v, path, &route);
	srpol_minmax_load(v->m, v->d, &route, parts);
	return srpol_spot_put(&v->m->spots[v->d], path, parts);
}

/*
 * The path with the most room. The search starts at a different path for each
 * demand, to distribute ties.
 */
static uint32_t roomiest(const struct mover *v, uint32_t *most)
{
	uint32_t i, at, r, best = SRPOL_NONE;
	struct srpol_route route;

	*most = 0;
	v->m->looks -= v->set.n < v->m->looks ? v->set.n : v->m->looks;
	for (i = 0; i < v->set.n; i++) {
		at = (i + v->d) % v->set.n;
		get(v, at, &route);
		r = room(v, &route);
		if (r > *most) {
			*most = r;
			best = at;
		}
	}
	return best;
}

/*
 * Distributes parts over paths in at most @pieces pieces, each as large as
 * possible; *@left parts found no room.
 */
static int spread(struct mover *v, uint32_t parts, uint32_t pieces,
		  uint32_t *left)
{
	uint32_t most, path;
	int rc = 0;

	for (*left = parts; *left && pieces-- && !rc; ) {
		path = roomiest(v, &most);
		if (path == SRPOL_NONE || (!pieces && most < *left))
			break;
		if (most > *left)
			most = *left;
		*left -= most;
		rc = put(v, path, most);
	}
	return rc;
}

/*
 * The path with the lowest load after adding @parts; SRPOL_NONE if none is up.
 */
static uint32_t coolest(const struct mover *v, uint32_t parts)
{
	double worst, least = INFINITY;
	uint32_t i, best = SRPOL_NONE;
	struct srpol_route route;

	for (i = 0; i < v->set.n; i++) {
		get(v, i, &route);
		if (!srpol_demand_may(v->m->in, v->d, &route))
			continue;
		worst = srpol_minmax_worst(v->m, &route, parts * v->bytes);
		if (worst < least) {
			least = worst;
			best = i;
		}
	}
	return best;
}

static void drop_empty(struct srpol_spot *spot)
{
	struct srpol_share *shares = srpol_spot_shares(spot);
	uint32_t i, n = 0;

	for (i = 0; i < spot->n; i++)
		if (shares[i].weight)
			shares[n++] = shares[i];
	if (n == 1 && spot->n > 1)
		spot->one = shares[0];
	if (!n)
		spot->one.weight = 0;
	spot->n = n;
}

static uint32_t pieces_left(const struct mover *v, uint32_t kept)
{
	uint32_t most = v->m->in->options.parts;

	return !most ? UINT32_MAX : most > kept ? most - kept : 0;
}

/*
 * Moves share @i of the demand off links above the target; true if some of it
 * moved.
 */
static bool move_share(struct mover *v, uint32_t i, int *rc)
{
	struct srpol_spot *spot = &v->m->spots[v->d];
	struct srpol_share *share = &srpol_spot_shares(spot)[i];
	uint32_t path = share->path, parts = share->weight, over, most, left;
	struct srpol_route route;

	get(v, path, &route);
	over = too_much(v, &route, parts);
	if (!over)
		return false;
	/* try to move all of it to one other path */
	srpol_minmax_load(v->m, v->d, &route, -(double)parts);
	share->weight = 0;
	left = roomiest(v, &most);
	if (most >= parts && left != path) {
		*rc = put(v, left, parts);
		return true;
	}
	/* move only the excess if the demand may have one more path */
	if (pieces_left(v, spot->n) && over < parts) {
		srpol_minmax_load(v->m, v->d, &route, parts - over);
		share->weight = parts - over;
		*rc = spread(v, over, pieces_left(v, spot->n), &left);
	} else {
		over = parts;
		*rc = spread(v, parts, pieces_left(v, spot->n - 1), &left);
	}
	if (!*rc && left)
		*rc = put(v, path, left);
	return left < over;
}

static int move_demand(struct srpol_minmax *m, uint32_t d, double target,
		       bool *moved)
{
	struct mover v = {
		.m = m, .d = d, .target = target,
		.bytes = (double)m->in->demands[d].bytes / SRPOL_PARTS,
	};
	uint32_t i, n = m->spots[d].n;
	int rc;

	*moved = false;
	rc = srpol_path_set_init(m->in->fabric, m->in->demands[d].src,
				 m->in->demands[d].dst, &v.set);
	for (i = 0; i < n && v.bytes && v.set.n > 1 && !rc; i++)
		*moved |= move_share(&v, i, &rc);
	drop_empty(&m->spots[d]);
	srpol_path_set_free(&v.set);
	return rc;
}

/**
 * srpol_minmax_repair() - bring the load of links down to a target
 * @m: the placement
 * @target: load in seconds
 * @moves: number of moves of demands that are still allowed, decreased by each
 *
 * Up to 24 passes of O(n), plus O(p) for each demand on a link above the
 * target. It ends early when SRPOL_LOOKS paths have been examined.
 *
 * Return: 0, -ENOMEM; srpol_minmax_max() tells which load was reached.
 */
int srpol_minmax_repair(struct srpol_minmax *m, double target, uint32_t *moves)
{
	uint32_t pass, d, changed = 1;
	bool moved;
	int rc = 0;

	for (pass = 0; pass < PASSES && changed && !rc; pass++) {
		changed = 0;
		for (d = 0; d < m->in->n && *moves && m->looks && !rc; d++) {
			rc = move_demand(m, d, target, &moved);
			changed += moved;
			*moves -= moved;
		}
		if (srpol_minmax_max(m) <= target)
			break;
	}
	return rc;
}

/* Moves a share off a path that is down to the least loaded path. */
static int leave_share(struct mover *v, uint32_t i)
{
	struct srpol_share *share =
		&srpol_spot_shares(&v->m->spots[v->d])[i];
	uint32_t parts = share->weight, path;
	struct srpol_route route;

	get(v, share->path, &route);
	if (srpol_demand_capacity(v->m->in, v->d, &route))
		return 0;
	srpol_minmax_load(v->m, v->d, &route, -(double)parts);
	share->weight = 0;
	path = coolest(v, parts);
	return path == SRPOL_NONE ? 0 : put(v, path, parts);
}

/**
 * srpol_minmax_leave() - move demands off paths that are down
 * @m: the placement
 *
 * A demand with no path that is up ends up without any. O(n), plus O(p) for each
 * of the moves.
 *
 * Return: 0, -ENOMEM.
 */
int srpol_minmax_leave(struct srpol_minmax *m)
{
	uint32_t d, i, n;
	int rc = 0;

	for (d = 0; d < m->in->n && !rc; d++) {
		struct mover v = {
			.m = m, .d = d,
			.bytes = (double)m->in->demands[d].bytes / SRPOL_PARTS,
		};

		rc = srpol_path_set_init(m->in->fabric, m->in->demands[d].src,
					 m->in->demands[d].dst, &v.set);
		n = rc ? 0 : m->spots[d].n;
		for (i = 0; i < n && !rc; i++)
			rc = leave_share(&v, i);
		drop_empty(&m->spots[d]);
		srpol_path_set_free(&v.set);
	}
	return rc;
}
