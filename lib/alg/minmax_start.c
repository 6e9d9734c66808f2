// SPDX-License-Identifier: LGPL-2.1
/*
 * The initial placement: one path per demand and plane. If all demands have the
 * same size and all leaves have the same number of uplinks, it is found by edge
 * coloring: a color is a spine. Demands between pods are then colored again,
 * with a color per super-spine of a spine. If coloring does not apply, demands
 * are placed in order of size, each on the path whose most loaded link has the
 * lowest load.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "minmax.h"

/**
 * struct edge - the part of a demand in one plane
 * @d: index of the demand
 * @parts: number of parts, of SRPOL_PARTS
 * @first: number of the plane's first path
 * @fan: paths between the leaves; an irregular one (SRPOL_TURN_LIST), whose
 *	list is freed with the path set, is not used for coloring
 */
struct edge {
	uint32_t d;
	uint32_t parts;
	uint32_t first;
	struct srpol_fan fan;
};

/**
 * struct edges - parts of all demands
 * @e: the parts
 * @n: number of @e
 * @left: scratch, by part that is being colored: the leaf or spine it comes
 *	from
 * @right: likewise the leaf or spine it goes to
 * @color: by part: number of its path in the plane, made from spine and
 *	super-spine
 */
struct edges {
	struct edge *e;
	uint32_t n;
	uint32_t *left;
	uint32_t *right;
	uint32_t *color;
};

static uint32_t ups(const struct srpol_minmax *m, uint32_t node)
{
	return m->in->fabric->nodes[node].up_n;
}

/* Whether a plane has a path that the demand may take, whether up or down. */
static bool has_path(const struct srpol_minmax *m, uint32_t d,
		     const struct srpol_path_set *set, uint32_t p)
{
	struct srpol_route route;
	uint32_t i;

	if (!m->in->demands[d].via)
		return set->pair[p].fan.n;
	for (i = 0; i < set->pair[p].fan.n; i++) {
		srpol_path_get(m->in->fabric, set, set->pair[p].first + i,
			       &route);
		if (srpol_demand_may(m->in, d, &route))
			return true;
	}
	return false;
}

/*
 * Divides a demand among planes, in proportion to the rates of their NICs;
 * returns the number of planes, 0 if none can be used.
 */
static uint32_t plane_parts(const struct srpol_minmax *m, uint32_t d,
			    const struct srpol_path_set *set, uint32_t *parts)
{
	const struct srpol_fabric *f = m->in->fabric;
	uint32_t p, last = 0, left = SRPOL_PARTS;
	double sum = 0, nic[SRPOL_PLANES_MAX], back;

	for (p = 0; p < set->pairs; p++) {
		nic[p] = 1 / m->cost[f->nics[set->pair[p].src].link];
		back = 1 / m->cost[f->nics[set->pair[p].dst].link ^ 1];
		if (back < nic[p])
			nic[p] = back;
		if (!has_path(m, d, set, p))
			nic[p] = 0;
		sum += nic[p];
	}
	for (p = 0; p < set->pairs; p++) {
		parts[p] = sum ? SRPOL_PARTS * (nic[p] / sum) : 0;
		left -= parts[p];
		if (parts[p])
			last = p;
	}
	if (sum)
		parts[last] += left;
	return sum ? set->pairs : 0;
}

static int put(struct srpol_minmax *m, uint32_t d,
	       const struct srpol_path_set *set, uint32_t path, uint32_t parts)
{
	struct srpol_route route;

	srpol_path_get(m->in->fabric, set, path, &route);
	srpol_minmax_load(m, d, &route, parts);
	return srpol_spot_put(&m->spots[d], path, parts);
}

/* The path of a plane with the lowest load; SRPOL_NONE if none is up. */
static uint32_t coolest(const struct srpol_minmax *m, uint32_t d,
			const struct srpol_path_set *set, uint32_t p,
			uint32_t parts)
{
	double bytes = m->in->demands[d].bytes * ((double)parts / SRPOL_PARTS);
	uint32_t i, n = set->pair[p].fan.n, at, best = SRPOL_NONE;
	double worst, least = INFINITY;
	struct srpol_route route;

	for (i = 0; i < n; i++) {
		/*
		 * start at a different path for each source, to distribute ties
		 */
		at = set->pair[p].first + (i + m->in->demands[d].src) % n;
		srpol_path_get(m->in->fabric, set, at, &route);
		if (!srpol_demand_may(m->in, d, &route))
			continue;
		worst = srpol_minmax_worst(m, &route, bytes);
		if (worst < least) {
			least = worst;
			best = at;
		}
	}
	return best;
}

static int place_greedily(struct srpol_minmax *m, uint32_t d)
{
	uint32_t parts[SRPOL_PLANES_MAX], n, p, path;
	struct srpol_path_set set;
	int rc;

	rc = srpol_path_set_init(m->in->fabric, m->in->demands[d].src,
				 m->in->demands[d].dst, &set);
	n = rc ? 0 : plane_parts(m, d, &set, parts);
	for (p = 0; p < n && !rc; p++) {
		path = parts[p] ? coolest(m, d, &set, p, parts[p]) : SRPOL_NONE;
		if (path != SRPOL_NONE)
			rc = put(m, d, &set, path, parts[p]);
	}
	/* planes too slow for a part, if no other one can be used */
	for (p = 0; p < n && !m->spots[d].n && !rc; p++) {
		path = coolest(m, d, &set, p, SRPOL_PARTS);
		if (path != SRPOL_NONE)
			rc = put(m, d, &set, path, SRPOL_PARTS);
	}
	srpol_path_set_free(&set);
	return rc;
}

static int by_size(const void *a, const void *b, void *data)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct srpol_demand *d = data;

	if (d[x].bytes != d[y].bytes)
		return d[x].bytes > d[y].bytes ? -1 : 1;
	return x < y ? -1 : x > y;
}

/**
 * srpol_minmax_fill() - place demands without a path greedily, in order of size
 * @m: the placement
 *
 * One path per demand and plane: the one whose most loaded link has the lowest
 * load. O(n log n), plus O(p) for each of these demands.
 *
 * Return: 0, -ENOMEM.
 */
int srpol_minmax_fill(struct srpol_minmax *m)
{
	uint32_t *order, d, i, n = 0;
	int rc = 0;

	order = malloc((m->in->n + 1UL) * sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (d = 0; d < m->in->n; d++)
		if (!m->spots[d].n)
			order[n++] = d;
	qsort_r(order, n, sizeof(*order), by_size, (void *)m->in->demands);
	for (i = 0; i < n && !rc; i++)
		rc = place_greedily(m, order[i]);
	free(order);
	return rc;
}

/* Collects the parts of all demands; false if coloring does not apply. */
static bool collect(struct srpol_minmax *m, struct edges *edges, int *rc)
{
	uint32_t parts[SRPOL_PLANES_MAX], d, p, n, k = 0;
	struct srpol_path_set set;
	bool regular = true;
	struct edge *e;

	for (d = 0; d < m->in->n && regular; d++) {
		*rc = srpol_path_set_init(m->in->fabric, m->in->demands[d].src,
					  m->in->demands[d].dst, &set);
		n = *rc ? 0 : plane_parts(m, d, &set, parts);
		for (p = 0; p < n; p++) {
			e = &edges->e[edges->n++];
			e->d = d;
			e->parts = parts[p];
			e->first = set.pair[p].first;
			e->fan = set.pair[p].fan;
			if (m->in->demands[d].via)
				regular = false;
			if (e->fan.turn == SRPOL_TURN_LEAF)
				continue;
			if (!k)
				k = ups(m, e->fan.from);
			if (e->fan.turn == SRPOL_TURN_LIST ||
			    ups(m, e->fan.from) != k ||
			    m->in->demands[d].bytes != m->in->demands[0].bytes)
				regular = false;
		}
		srpol_path_set_free(&set);
		if (*rc)
			return false;
	}
	return regular;
}

/*
 * Colors the @n edges in @left and @right, whose vertices are switches, with
 * colors 0 to @k - 1.
 */
static int color(struct srpol_minmax *m, struct edges *edges, uint32_t n,
		 uint32_t k, uint32_t *result)
{
	uint32_t nodes = m->in->fabric->n_nodes, *dense, i, vertices = 0;
	int rc;

	dense = malloc((nodes + 1UL) * sizeof(*dense));
	if (!dense)
		return -ENOMEM;
	for (i = 0; i < nodes; i++)
		dense[i] = m->in->fabric->nodes[i].tier == SRPOL_TIER_HOST ?
			   SRPOL_NONE : vertices++;
	for (i = 0; i < n; i++) {
		edges->left[i] = dense[edges->left[i]];
		edges->right[i] = dense[edges->right[i]];
	}
	free(dense);
	rc = srpol_edge_color(vertices, vertices, edges->left, edges->right, n,
			      k, result);
	return rc;
}

static int color_spines(struct srpol_minmax *m, struct edges *edges,
			uint32_t *scratch)
{
	uint32_t i, n = 0, k = 1;
	int rc;

	for (i = 0; i < edges->n; i++) {
		if (edges->e[i].fan.turn == SRPOL_TURN_LEAF)
			continue;
		k = ups(m, edges->e[i].fan.from);
		edges->left[n] = edges->e[i].fan.from;
		edges->right[n++] = edges->e[i].fan.to;
	}
	rc = color(m, edges, n, k, scratch);
	for (i = 0, n = 0; i < edges->n; i++)
		edges->color[i] = edges->e[i].fan.turn == SRPOL_TURN_LEAF ?
				  0 : scratch[n++];
	return rc;
}

/*
 * Chooses the super-spines of demands between pods, with spines as vertices.
 * Returns -EDOM if spines have different numbers of uplinks.
 */
static int color_supers(struct srpol_minmax *m, struct edges *edges,
			uint32_t *scratch)
{
	const struct srpol_fabric *f = m->in->fabric;
	uint32_t i, n = 0, per = 0;
	const struct edge *e;
	int rc;

	for (i = 0; i < edges->n; i++) {
		e = &edges->e[i];
		if (e->fan.turn != SRPOL_TURN_SUPER)
			continue;
		if (per && per != e->fan.per)
			return -EDOM;
		per = e->fan.per;
		edges->left[n] = f->links[srpol_node_up(f, e->fan.from,
							edges->color[i])].to;
		edges->right[n++] = f->links[srpol_node_up(f, e->fan.to,
							   edges->color[i])].to;
	}
	if (!n)
		return 0;
	rc = color(m, edges, n, per, scratch);
	for (i = 0, n = 0; i < edges->n && !rc; i++)
		if (edges->e[i].fan.turn == SRPOL_TURN_SUPER)
			edges->color[i] = edges->color[i] * per + scratch[n++];
	return rc;
}

static int put_edges(struct srpol_minmax *m, const struct edges *edges)
{
	struct srpol_path_set set;
	const struct edge *e;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < edges->n && !rc; i++) {
		e = &edges->e[i];
		if (!e->parts)
			continue;
		rc = srpol_path_set_init(m->in->fabric, m->in->demands[e->d].src,
					 m->in->demands[e->d].dst, &set);
		if (!rc)
			rc = put(m, e->d, &set, e->first + edges->color[i],
				 e->parts);
		srpol_path_set_free(&set);
	}
	return rc;
}

/**
 * srpol_minmax_start() - place each demand on one path per plane
 * @m: the placement, empty
 *
 * O(n log k) with k uplinks per leaf if coloring applies, else O(n p).
 *
 * Return: 0, -ENOMEM.
 */
int srpol_minmax_start(struct srpol_minmax *m)
{
	size_t room = (size_t)m->in->n * SRPOL_PLANES_MAX + 1;
	struct edges edges = {};
	uint32_t *scratch;
	bool regular;
	int rc = 0;

	edges.e = malloc(room * sizeof(*edges.e));
	if (!edges.e)
		return -ENOMEM;
	regular = collect(m, &edges, &rc);
	if (rc || !regular) {
		free(edges.e);
		return rc ? rc : srpol_minmax_fill(m);
	}
	room = edges.n + 1UL;
	edges.left = malloc(room * sizeof(*edges.left));
	edges.right = malloc(room * sizeof(*edges.right));
	edges.color = malloc(room * sizeof(*edges.color));
	scratch = malloc(room * sizeof(*scratch));
	if (!edges.left || !edges.right || !edges.color || !scratch)
		rc = -ENOMEM;
	if (!rc)
		rc = color_spines(m, &edges, scratch);
	if (!rc)
		rc = color_supers(m, &edges, scratch);
	if (!rc)
		rc = put_edges(m, &edges);
	free(edges.e);
	free(edges.left);
	free(edges.right);
	free(edges.color);
	free(scratch);
	return rc == -EDOM ? srpol_minmax_fill(m) : rc;
}
