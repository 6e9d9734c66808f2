// SPDX-License-Identifier: LGPL-2.1
/*
 * Makes room for demands on links above a target by the shortest chain of moves
 * that is found: a demand takes a path on which it is in the way of one other
 * demand only, that one takes another path, and so on, until one finds a path
 * with room. In a fabric of two tiers with demands of equal size these are
 * Kempe's alternating chains. No link gets above the target by this, and all
 * demands that are not in a chain stay where they are.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "minmax.h"

#define NONE		UINT32_MAX
#define NODES		1024	/* moves examined per demand */

/**
 * struct node - a part of a demand that has to leave a path
 * @d: the demand
 * @from: the path
 * @parts: its parts on this path, of SRPOL_PARTS
 * @parent: index of the node that takes its place; NONE: the first one
 * @to: the path that @parent takes
 */
struct node {
	uint32_t d;
	uint32_t from;
	uint32_t parts;
	uint32_t parent;
	uint32_t to;
};

/**
 * struct user - a demand with a path over a link
 * @d: the demand, which may have left the path since
 * @next: index of the link's next user, NONE: there is none
 */
struct user {
	uint32_t d;
	uint32_t next;
};

/**
 * struct search - search for chains
 * @m: the placement
 * @target: load in seconds that no link is to exceed
 * @head: by directed link: index of its first user, or NONE
 * @users: users of all links
 * @n_users: number of @users
 * @room: number of entries that @users has memory for
 * @delta: by directed link: bytes that the present chain adds
 * @seen: by demand: the last search that it was part of
 * @number: number of the present search
 * @nodes: queue of the breadth-first search
 * @n: number of @nodes
 * @looks: number of paths that may still be examined, of those of @m
 */
struct search {
	struct srpol_minmax *m;
	double target;
	uint32_t *head;
	struct user *users;
	size_t n_users;
	size_t room;
	double *delta;
	uint32_t *seen;
	uint32_t number;
	struct node nodes[NODES];
	uint32_t n;
	uint32_t looks;
};

static double bytes_of(const struct search *s, const struct node *node)
{
	return s->m->in->demands[node->d].bytes *
	       ((double)node->parts / SRPOL_PARTS);
}

static int get_route(const struct search *s, uint32_t d, uint32_t path,
		     struct srpol_route *route)
{
	struct srpol_path_set set;
	int rc;

	rc = srpol_path_set_init(s->m->in->fabric, s->m->in->demands[d].src,
				 s->m->in->demands[d].dst, &set);
	if (!rc)
		srpol_path_get(s->m->in->fabric, &set, path, route);
	srpol_path_set_free(&set);
	return rc;
}

static int add_user(struct search *s, uint32_t link, uint32_t d)
{
	struct user *users;

	if (s->n_users == s->room) {
		users = realloc(s->users, 2 * s->room * sizeof(*users));
		if (!users || 2 * s->room >= NONE) {
			s->users = users ? users : s->users;
			return -ENOMEM;
		}
		s->users = users;
		s->room *= 2;
	}
	s->users[s->n_users] = (struct user){ d, s->head[link] };
	s->head[link] = s->n_users++;
	return 0;
}

static int add_route(struct search *s, uint32_t d,
		     const struct srpol_route *route)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < route->n && !rc; i++)
		rc = add_user(s, route->link[i], d);
	return rc;
}

static int add_users(struct search *s)
{
	const struct srpol_share *shares;
	struct srpol_route route;
	uint32_t d, i;
	int rc = 0;

	for (d = 0; d < s->m->in->n && !rc; d++) {
		shares = srpol_spot_shares(&s->m->spots[d]);
		for (i = 0; i < s->m->spots[d].n && !rc; i++)
			rc = get_route(s, d, shares[i].path, &route) ?:
			     add_route(s, d, &route);
	}
	return rc;
}

/* Adds bytes to what the chain changes, or clears it. */
static int change(struct search *s, const struct node *node, uint32_t path,
		  double bytes, bool clear)
{
	struct srpol_route route;
	uint32_t i;
	int rc;

	rc = get_route(s, node->d, path, &route);
	for (i = 0; i < route.n && !rc; i++)
		s->delta[route.link[i]] = clear ? 0 :
			s->delta[route.link[i]] + bytes;
	return rc;
}

/* What changes by the moves that make a node necessary, and by its leaving. */
static int change_all(struct search *s, uint32_t k, bool clear)
{
	const struct node *node = &s->nodes[k], *parent;
	int rc;

	rc = change(s, node, node->from, -bytes_of(s, node), clear);
	for (; node->parent != NONE && !rc; node = parent) {
		parent = &s->nodes[node->parent];
		rc = change(s, parent, parent->from, -bytes_of(s, parent),
			    clear) ?:
		     change(s, parent, node->to, bytes_of(s, parent), clear);
	}
	return rc;
}

static bool fits(const struct search *s, uint32_t link, double bytes)
{
	/* tolerate rounding errors */
	return (s->m->load[link] + s->delta[link] + bytes) * s->m->cost[link] <=
	       s->target * (1 + 1e-9);
}

static bool has_link(const struct srpol_route *route, uint32_t link)
{
	uint32_t i;

	for (i = 0; i < route->n; i++)
		if (route->link[i] == link)
			return true;
	return false;
}

/*
 * If a demand by leaving one of its paths makes room for @bytes on all @n links,
 * that path becomes a node.
 */
static int try_user(struct search *s, uint32_t d, uint32_t parent, uint32_t to,
		    const uint32_t *links, uint32_t n, double bytes)
{
	const struct srpol_share *shares =
		srpol_spot_shares(&s->m->spots[d]);
	struct srpol_route route;
	struct node node;
	uint32_t i, l;
	int rc;

	for (i = 0; i < s->m->spots[d].n && s->looks; i++) {
		s->looks--;
		rc = get_route(s, d, shares[i].path, &route);
		if (rc)
			return rc;
		node = (struct node){ d, shares[i].path, shares[i].weight,
				      parent, to };
		for (l = 0; l < n; l++)
			if (!has_link(&route, links[l]) ||
			    !fits(s, links[l], bytes - bytes_of(s, &node)))
				break;
		if (l < n)
			continue;
		s->seen[d] = s->number;
		s->nodes[s->n++] = node;
		return 0;
	}
	return 0;
}

/*
 * Examines a path for node @k: 1 if it has room, else 0, and those in the way
 * become nodes; negative errno.
 */
static int try_path(struct search *s, uint32_t k, uint32_t path,
		    const struct srpol_route *route)
{
	uint32_t full[SRPOL_PATH_LINKS], n = 0, i, d;
	double bytes = bytes_of(s, &s->nodes[k]);
	int rc;

	for (i = 0; i < route->n; i++) {
		if (s->m->cost[route->link[i]] == INFINITY)
			return 0;
		if (!fits(s, route->link[i], bytes))
			full[n++] = route->link[i];
	}
	if (!n)
		return 1;
	for (i = s->head[full[0]]; i != NONE && s->n < NODES;
	     i = s->users[i].next) {
		d = s->users[i].d;
		if (s->seen[d] == s->number)
			continue;
		rc = try_user(s, d, k, path, full, n, bytes);
		if (rc)
			return rc;
	}
	return 0;
}

/* A path with room for a node; NONE if there is none. */
static int expand(struct search *s, uint32_t k, uint32_t *found)
{
	uint32_t d = s->nodes[k].d, i, j, at;
	struct srpol_spot *spot = &s->m->spots[d];
	struct srpol_path_set set;
	struct srpol_route route;
	int rc;

	*found = NONE;
	rc = srpol_path_set_init(s->m->in->fabric, s->m->in->demands[d].src,
				 s->m->in->demands[d].dst, &set);
	for (i = 0; i < set.n && s->looks && !rc; i++) {
		/* distribute ties */
		at = (i + d) % set.n;
		for (j = 0; j < spot->n; j++)
			if (srpol_spot_shares(spot)[j].path == at)
				break;
		srpol_path_get(s->m->in->fabric, &set, at, &route);
		if (j < spot->n || !srpol_demand_may(s->m->in, d, &route))
			continue;
		s->looks--;
		rc = try_path(s, k, at, &route);
		if (rc > 0)
			*found = at;
	}
	srpol_path_set_free(&set);
	return rc < 0 ? rc : 0;
}

static int move(struct search *s, const struct node *node, uint32_t to)
{
	struct srpol_spot *spot = &s->m->spots[node->d];
	struct srpol_share *shares = srpol_spot_shares(spot);
	struct srpol_route route;
	uint32_t i;
	int rc;

	rc = get_route(s, node->d, node->from, &route);
	if (rc)
		return rc;
	srpol_minmax_load(s->m, node->d, &route, -(double)node->parts);
	for (i = 0; shares[i].path != node->from; i++)
		;
	shares[i].path = to;
	rc = get_route(s, node->d, to, &route);
	if (rc)
		return rc;
	srpol_minmax_load(s->m, node->d, &route, node->parts);
	return add_route(s, node->d, &route);
}

/* Makes the moves of the chain that ends with node @k, if there are so many. */
static int move_all(struct search *s, uint32_t k, uint32_t to, uint32_t *moves)
{
	uint32_t i, n = 0;
	int rc = 0;

	for (i = k; i != NONE; i = s->nodes[i].parent)
		n++;
	if (n > *moves)
		return 0;
	*moves -= n;
	for (i = k; i != NONE && !rc; i = s->nodes[i].parent) {
		rc = move(s, &s->nodes[i], to);
		to = s->nodes[i].to;
	}
	return rc;
}

/* Finds the shortest chain for a demand that has to leave a path. */
static int leave(struct search *s, uint32_t d, const struct srpol_share *share,
		 uint32_t *moves)
{
	uint32_t k, to = NONE;
	int rc = 0;

	s->nodes[0] = (struct node){ d, share->path, share->weight, NONE, 0 };
	s->n = 1;
	s->seen[d] = ++s->number;
	for (k = 0; k < s->n && to == NONE && s->looks && !rc; k++)
		rc = change_all(s, k, false) ?: expand(s, k, &to) ?:
		     change_all(s, k, true);
	return rc || to == NONE ? rc : move_all(s, k - 1, to, moves);
}

static bool is_hot(const struct search *s, const struct srpol_route *route)
{
	uint32_t i;

	for (i = 0; i < route->n; i++)
		if (!fits(s, route->link[i], 0))
			return true;
	return false;
}

/* Chains for all demands above the target that are new, or that are not. */
static int leave_hot(struct search *s, bool new, uint32_t *moves)
{
	const struct srpol_placement *p = s->m->in->previous;
	struct srpol_share *shares;
	struct srpol_route route;
	uint32_t d, i;
	int rc = 0;

	for (d = 0; d < s->m->in->n && !rc; d++) {
		if ((p->first[d] == p->first[d + 1]) != new ||
		    !s->m->in->demands[d].bytes)
			continue;
		shares = srpol_spot_shares(&s->m->spots[d]);
		for (i = 0; i < s->m->spots[d].n && !rc; i++) {
			rc = get_route(s, d, shares[i].path, &route);
			if (!rc && is_hot(s, &route))
				rc = leave(s, d, &shares[i], moves);
		}
	}
	return rc;
}

/**
 * srpol_minmax_chain() - move demands off links above a target, and others to
 *	make room for them
 * @m: the placement, of an input with a previous one
 * @target: load in seconds
 * @all: also move demands that are not new off these links, after those that
 *	are
 * @moves: number of moves of demands that are still allowed, decreased by each
 *
 * O(n), plus O(p) for each of at most 1024 moves examined per demand above the
 * target. It ends early when it has examined a quarter of the paths that may
 * still be examined.
 *
 * Return: 0, -ENOMEM; srpol_minmax_max() tells which load was reached.
 */
int srpol_minmax_chain(struct srpol_minmax *m, double target, bool all,
		       uint32_t *moves)
{
	uint32_t n = m->in->n, links = m->in->fabric->n_links;
	struct search *s = malloc(sizeof(*s));
	int rc = -ENOMEM;

	if (!s)
		return rc;
	*s = (struct search){
		.m = m, .target = target, .looks = m->looks / 4,
		.room = n * 6UL + 1,
	};
	s->head = malloc((links + 1UL) * sizeof(*s->head));
	s->users = malloc(s->room * sizeof(*s->users));
	s->delta = calloc(links + 1UL, sizeof(*s->delta));
	s->seen = calloc(n + 1UL, sizeof(*s->seen));
	if (s->head && s->users && s->delta && s->seen) {
		memset(s->head, 0xff, links * sizeof(*s->head));
		rc = add_users(s) ?: leave_hot(s, true, moves);
		if (all && !rc)
			rc = leave_hot(s, false, moves);
	}
	m->looks -= m->looks / 4 - s->looks;
	free(s->head);
	free(s->users);
	free(s->delta);
	free(s->seen);
	free(s);
	return rc;
}
