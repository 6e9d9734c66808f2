// SPDX-License-Identifier: LGPL-2.1
/*
 * Equitable edge coloring of bipartite multigraphs: at each vertex, the numbers
 * of edges of any two colors differ by at most one (Koenig 1916, de Werra
 * 1971). If leaves are vertices, flows are edges and spines are colors, this
 * schedules the middle stage of a Clos network (Slepian 1952, Duguid 1959):
 * with d flows per leaf and k spines, no link carries more than ceil(d / k)
 * flows.
 *
 * For an even number of colors the edges are split in two halves along Euler
 * tours. For an odd number, edges are colored one by one with Kempe's
 * alternating chains.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "alg.h"

#define NONE	UINT32_MAX

/**
 * struct coloring - a graph that is being colored
 * @n_left: number of vertices on the left, which are numbered from 0; the
 *	vertices on the right follow
 * @n_vertices: number of all vertices
 * @n_edges: number of edges
 * @end: two entries per edge: its vertices
 * @edges: order in which edges are processed, a contiguous part at a time
 * @color: result, by edge
 * @first: by vertex: index of its first edge in @incident
 * @next: by vertex: index in @incident of the next edge to be looked at
 * @incident: edges of each vertex, for the part that is being processed
 * @side: by edge: half that it goes to, 0 or 1; 2: not decided yet
 */
struct coloring {
	uint32_t n_left;
	uint32_t n_vertices;
	uint32_t n_edges;
	uint32_t *end;
	uint32_t *edges;
	uint32_t *color;
	uint32_t *first;
	uint32_t *next;
	uint32_t *incident;
	uint8_t *side;
};

/* Lists the edges of each vertex, for a part of the edges. */
static void index_part(struct coloring *c, const uint32_t *edges, uint32_t n)
{
	uint32_t i, v, sum = 0;

	memset(c->next, 0, c->n_vertices * sizeof(*c->next));
	for (i = 0; i < n; i++) {
		c->next[c->end[2 * edges[i]]]++;
		c->next[c->end[2 * edges[i] + 1]]++;
	}
	for (v = 0; v < c->n_vertices; v++) {
		c->first[v] = sum;
		sum += c->next[v];
		c->next[v] = c->first[v];
	}
	c->first[v] = sum;
	for (i = 0; i < n; i++) {
		c->incident[c->next[c->end[2 * edges[i]]]++] = edges[i];
		c->incident[c->next[c->end[2 * edges[i] + 1]]++] = edges[i];
	}
	for (v = 0; v < c->n_vertices; v++)
		c->next[v] = c->first[v];
	for (i = 0; i < n; i++)
		c->side[edges[i]] = 2;
}

/*
 * Walks from a vertex as far as possible, assigning edges to both halves in
 * turn.
 */
static void walk(struct coloring *c, uint32_t v, uint8_t side)
{
	uint32_t e;

	while (c->next[v] < c->first[v + 1]) {
		e = c->incident[c->next[v]++];
		if (c->side[e] != 2)
			continue;
		c->side[e] = side;
		side ^= 1;
		v = c->end[2 * e] == v ? c->end[2 * e + 1] : c->end[2 * e];
	}
}

/*
 * Splits edges in two halves, so that at every vertex both have the same number
 * of edges, or one half has one more. Walks first start at vertices of odd
 * degree, because a walk must end there. All other walks are closed and, as the
 * graph is bipartite, of even length. Returns the size of the first half.
 */
static uint32_t halve(struct coloring *c, uint32_t *edges, uint32_t n)
{
	uint32_t v, i, j, t;

	index_part(c, edges, n);
	for (v = 0; v < c->n_vertices; v++)
		if ((c->first[v + 1] - c->first[v]) % 2)
			walk(c, v, v % 2);
	for (v = 0; v < c->n_vertices; v++)
		while (c->next[v] < c->first[v + 1])
			walk(c, v, 0);
	for (i = 0, j = 0; i < n; i++) {
		if (c->side[edges[i]])
			continue;
		t = edges[i];
		edges[i] = edges[j];
		edges[j++] = t;
	}
	return j;
}

/**
 * struct kempe - state of coloring edges one by one
 * @k: number of colors
 * @at: by copy of a vertex and color: the edge with this color, or NONE
 * @copy: two entries per edge: the copies of vertices that it ends at. A vertex
 *	of degree d has ceil(d / k) copies, each with k edges except for the
 *	last one. If no color occurs twice at any copy, the coloring of the
 *	vertex is equitable.
 * @chain: scratch: edges of an alternating chain
 */
struct kempe {
	uint32_t k;
	uint32_t *at;
	uint32_t *copy;
	uint32_t *chain;
};

static uint32_t *place_of(const struct kempe *s, uint32_t copy, uint32_t color)
{
	return &s->at[(size_t)copy * s->k + color];
}

static uint32_t free_color(const struct kempe *s, uint32_t copy)
{
	uint32_t color = 0;

	while (*place_of(s, copy, color) != NONE)
		color++;
	return color;
}

static void set_edge(struct coloring *c, const struct kempe *s, uint32_t e,
		     uint32_t color)
{
	*place_of(s, s->copy[2 * e], color) = e;
	*place_of(s, s->copy[2 * e + 1], color) = e;
	c->color[e] = color;
}

static void clear_edge(struct coloring *c, const struct kempe *s, uint32_t e)
{
	*place_of(s, s->copy[2 * e], c->color[e]) = NONE;
	*place_of(s, s->copy[2 * e + 1], c->color[e]) = NONE;
}

/*
 * Makes color @a free at @v, where @b is free already, by exchanging both
 * colors along the chain of edges with alternating colors that starts at @v.
 */
static void swap_chain(struct coloring *c, const struct kempe *s, uint32_t v,
		       uint32_t a, uint32_t b)
{
	uint32_t color = a, n = 0, i, e;

	for (e = *place_of(s, v, color); e != NONE; e = *place_of(s, v, color)) {
		s->chain[n++] = e;
		v = s->copy[2 * e] == v ? s->copy[2 * e + 1] : s->copy[2 * e];
		color = color == a ? b : a;
	}
	for (i = 0; i < n; i++)
		clear_edge(c, s, s->chain[i]);
	for (i = 0; i < n; i++)
		set_edge(c, s, s->chain[i], i % 2 ? a : b);
}

/*
 * Splits vertices into copies, and tells for each edge the copies that it ends
 * at; returns the number of copies.
 */
static uint32_t split_vertices(struct coloring *c, const struct kempe *s,
			       const uint32_t *edges, uint32_t n)
{
	uint32_t copies = 0, v, i, j, degree;

	index_part(c, edges, n);
	for (v = 0; v < c->n_vertices; v++) {
		degree = c->first[v + 1] - c->first[v];
		for (i = 0; i < degree; i++) {
			j = c->incident[c->first[v] + i];
			s->copy[2 * j + (v >= c->n_left)] = copies + i / s->k;
		}
		copies += (degree + s->k - 1) / s->k;
	}
	return copies;
}

static int color_odd(struct coloring *c, const uint32_t *edges, uint32_t n,
		     uint32_t k, uint32_t k0)
{
	struct kempe s = { .k = k };
	uint32_t i, a, b, u, v, copies;
	int rc = -ENOMEM;

	s.copy = malloc(2UL * c->n_edges * sizeof(*s.copy));
	s.chain = malloc(n * sizeof(*s.chain));
	if (!s.copy || !s.chain)
		goto out;
	copies = split_vertices(c, &s, edges, n);
	s.at = malloc((size_t)copies * k * sizeof(*s.at));
	if (!s.at)
		goto out;
	memset(s.at, 0xff, (size_t)copies * k * sizeof(*s.at));
	for (i = 0; i < n; i++) {
		u = s.copy[2 * edges[i]];
		v = s.copy[2 * edges[i] + 1];
		a = free_color(&s, u);
		b = free_color(&s, v);
		if (*place_of(&s, v, a) != NONE)
			swap_chain(c, &s, v, a, b);
		set_edge(c, &s, edges[i], a);
	}
	for (i = 0; i < n; i++)
		c->color[edges[i]] += k0;
	rc = 0;
out:
	free(s.at);
	free(s.copy);
	free(s.chain);
	return rc;
}

/* Colors a part of the edges with colors @k0 to @k0 + @k - 1. */
static int color_part(struct coloring *c, uint32_t *edges, uint32_t n,
		      uint32_t k, uint32_t k0)
{
	uint32_t i, half;
	int rc;

	if (!n)
		return 0;
	if (k == 1) {
		for (i = 0; i < n; i++)
			c->color[edges[i]] = k0;
		return 0;
	}
	if (k % 2)
		return color_odd(c, edges, n, k, k0);
	half = halve(c, edges, n);
	rc = color_part(c, edges, half, k / 2, k0);
	return rc ? rc : color_part(c, edges + half, n - half, k / 2,
				    k0 + k / 2);
}

/**
 * srpol_edge_color() - equitable coloring of the edges of a bipartite
 *	multigraph
 * @n_left: number of vertices on the left
 * @n_right: number of vertices on the right
 * @left: by edge: its vertex on the left
 * @right: by edge: its vertex on the right
 * @n: number of edges
 * @k: number of colors, not 0
 * @color: result, by edge: 0 to @k - 1
 *
 * A vertex of degree d has at most ceil(d / @k) edges of any color. Let k = 2^a
 * * b with b odd: the time is O(k V + n a) for b = 1; otherwise at worst O(n k
 * + n (V + n / k)) is added, but chains are short in practice.
 *
 * Return: 0, -ENOMEM.
 */
int srpol_edge_color(uint32_t n_left, uint32_t n_right, const uint32_t *left,
		     const uint32_t *right, uint32_t n, uint32_t k,
		     uint32_t *color)
{
	struct coloring c = {
		.n_left = n_left, .n_vertices = n_left + n_right,
		.n_edges = n, .color = color,
	};
	uint32_t i;
	int rc = -ENOMEM;

	c.end = malloc((2UL * n + 1) * sizeof(*c.end));
	c.edges = malloc((n + 1UL) * sizeof(*c.edges));
	c.first = malloc((c.n_vertices + 1UL) * sizeof(*c.first));
	c.next = malloc((c.n_vertices + 1UL) * sizeof(*c.next));
	c.incident = malloc((2UL * n + 1) * sizeof(*c.incident));
	c.side = malloc(n + 1UL);
	if (c.end && c.edges && c.first && c.next && c.incident && c.side) {
		for (i = 0; i < n; i++) {
			c.end[2 * i] = left[i];
			c.end[2 * i + 1] = n_left + right[i];
			c.edges[i] = i;
		}
		rc = color_part(&c, c.edges, n, k, 0);
	}
	free(c.end);
	free(c.edges);
	free(c.first);
	free(c.next);
	free(c.incident);
	free(c.side);
	return rc;
}
