// SPDX-License-Identifier: LGPL-2.1
/*
 * Approaches the optimum for demands that can be split arbitrarily. Demands
 * with the same paths form one commodity. Commodities take turns in
 * redistributing their bytes over their paths, piece by piece, each piece to
 * the path with the lowest marginal cost. The marginal cost of a link is its
 * seconds per byte times its load in seconds to the power of p. As p rises from
 * 4 to 256, the result approaches the lowest possible maximum load; the
 * objective is convex over a product of simplices, so the descent does not get
 * stuck in a local minimum. Finally demands are cut to match this distribution.
 * Demands that can stay on their only path do; the others are cut in order of
 * size.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "minmax.h"

#define WORK_MAX	250000000.0	/* links examined: under a second */
#define PASS_MAX	1000000000.0	/* likewise, by one pass */
#define USES_MAX	60000000.0	/* links of paths kept in memory */
#define STAGES		7		/* p = 4, 8, ... 256 */
#define PASSES		8		/* per stage */
#define CRUMB		(SRPOL_PARTS / 200)
#define ENOUGH		1.005	/* factor of the lowest maximum load found */

/*
 * Pieces that a commodity is distributed in: coarse ones for most of it, then
 * finer ones.
 */
static const struct {
	double part;
	uint32_t pieces;
} rounds[] = {
	{ 0.90, 144 }, { 0.09, 64 }, { 0.01, 48 },
};

#define PIECES	256
/* Kinds of fraction.key; nodes and GPUs have numbers far below 2^30. */
#define KEY_VIA		(UINT64_C(1) << 63)	/* a demand by itself */
#define KEY_GPUS	(UINT64_C(1) << 62)	/* of two GPUs, not two leaves */

/**
 * struct commodity - all demands with the same paths
 * @first: index of its first demand in struct fraction's @order
 * @n: number of its demands
 * @paths: number of paths
 * @use: index of its first link in @use of struct fraction
 * @len: links per path, without those that all paths share; 0: no choice
 * @x: index of its first path in @x of struct fraction
 * @bytes: bytes of all its demands
 */
struct commodity {
	uint32_t first;
	uint32_t n;
	uint32_t paths;
	size_t use;
	uint32_t len;
	size_t x;
	double bytes;
};

/**
 * struct fraction - state of srpol_minmax_fraction()
 * @m: the placement
 * @order: demands, grouped by commodity
 * @key: by demand: its commodity, named by a pair of leaves, or of GPUs if
 *	these share several planes or none
 * @c: the commodities
 * @n: number of @c
 * @use: links of all paths of all commodities
 * @x: by path of a commodity: bytes
 * @load: by directed link: bytes
 * @scale: load in seconds that loads are divided by
 */
struct fraction {
	struct srpol_minmax *m;
	uint32_t *order;
	uint64_t *key;
	struct commodity *c;
	uint32_t n;
	uint32_t *use;
	double *x;
	double *load;
	double scale;
};

static int by_key(const void *a, const void *b, void *data)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct fraction *s = data;
	const struct srpol_demand *d = s->m->in->demands;

	if (s->key[x] != s->key[y])
		return s->key[x] < s->key[y] ? -1 : 1;
	if (d[x].bytes != d[y].bytes)
		return d[x].bytes > d[y].bytes ? -1 : 1;
	return x < y ? -1 : x > y;
}

/*
 * Sets the key of a demand, and tells the number of its paths and their length.
 */
static int inspect(struct fraction *s, uint32_t d, uint32_t *paths,
		   uint32_t *len)
{
	const struct srpol_demand *demand = &s->m->in->demands[d];
	struct srpol_path_set set;
	int rc;

	rc = srpol_path_set_init(s->m->in->fabric, demand->src, demand->dst,
				 &set);
	*paths = rc ? 0 : set.n;
	if (demand->via) {
		/* a commodity of its own without a choice: its paths stay */
		s->key[d] = KEY_VIA | d;
		*len = 0;
	} else if (!rc && set.pairs == 1) {
		s->key[d] = (uint64_t)set.pair[0].fan.from << 32 |
			    set.pair[0].fan.to;
		*len = set.pair[0].fan.len;
	} else {
		s->key[d] = KEY_GPUS | (uint64_t)demand->src << 32 |
			    demand->dst;
		*len = SRPOL_PATH_LINKS;
	}
	srpol_path_set_free(&set);
	return rc;
}

/* Whether a commodity can be distributed in more than one way. */
static bool has_choice(const struct commodity *c)
{
	return c->paths > 1 && c->len && c->bytes > 0;
}

/* Stores the links of a commodity's paths, taken from its first demand. */
static int collect_paths(struct fraction *s, struct commodity *c)
{
	uint32_t d = s->order[c->first], i, skip;
	struct srpol_path_set set;
	struct srpol_route route;
	int rc;

	rc = srpol_path_set_init(s->m->in->fabric, s->m->in->demands[d].src,
				 s->m->in->demands[d].dst, &set);
	skip = c->len == SRPOL_PATH_LINKS ? 0 : 1;
	for (i = 0; i < c->paths && !rc; i++) {
		srpol_path_get(s->m->in->fabric, &set, i, &route);
		/* pad short paths; SRPOL_NONE ends the list of links */
		while (route.n < c->len + 2 * skip)
			route.link[route.n++] = SRPOL_NONE;
		memcpy(s->use + c->use + (size_t)i * c->len, route.link + skip,
		       c->len * sizeof(*s->use));
	}
	srpol_path_set_free(&set);
	return rc;
}

/*
 * Makes commodities from demands. Returns false after an error (*@rc is set) or
 * if memory for them would exceed USES_MAX.
 */
static bool collect(struct fraction *s, int *rc)
{
	uint32_t n = s->m->in->n, d, paths, len;
	struct commodity *c = s->c;
	size_t uses = 0, xs = 0;

	for (d = 0; d < n && !*rc; d++) {
		*rc = inspect(s, d, &paths, &len);
		s->order[d] = d;
	}
	if (*rc)
		return false;
	qsort_r(s->order, n, sizeof(*s->order), by_key, s);
	for (d = 0; d < n && !*rc; d++) {
		if (!d || s->key[s->order[d]] != s->key[s->order[d - 1]]) {
			c = &s->c[s->n++];
			c->first = d;
			*rc = inspect(s, s->order[d], &c->paths, &c->len);
			c->use = uses;
			c->x = xs;
			uses += (size_t)c->paths * c->len;
			xs += c->paths;
		}
		c->n++;
	}
	if (*rc || uses > USES_MAX)
		return false;
	s->use = malloc((uses + 1) * sizeof(*s->use));
	s->x = calloc(xs + 1, sizeof(*s->x));
	if (!s->use || !s->x)
		*rc = -ENOMEM;
	for (c = s->c; c < s->c + s->n && !*rc; c++)
		*rc = collect_paths(s, c);
	return !*rc;
}

/* Takes over the present placement; demands without a path do not count. */
static void take_over(struct fraction *s)
{
	struct srpol_spot *spot;
	struct srpol_share *shares;
	struct commodity *c;
	uint32_t i, j;

	for (c = s->c; c < s->c + s->n; c++) {
		c->bytes = 0;
		for (i = c->first; i < c->first + c->n; i++) {
			spot = &s->m->spots[s->order[i]];
			if (spot->n)
				c->bytes += s->m->in->demands[s->order[i]].bytes;
			shares = srpol_spot_shares(spot);
			for (j = 0; j < spot->n; j++)
				s->x[c->x + shares[j].path] +=
					(double)shares[j].weight / SRPOL_PARTS *
					s->m->in->demands[s->order[i]].bytes;
		}
	}
	memcpy(s->load, s->m->load,
	       s->m->in->fabric->n_links * sizeof(*s->load));
}

static double power(double u, uint32_t doublings)
{
	while (doublings--)
		u *= u;
	return u;
}

/* Marginal cost of a path with @bytes more on it; INFINITY: a link is down. */
static double cost(const struct fraction *s, const uint32_t *links,
		   uint32_t len, double bytes, uint32_t doublings)
{
	double sum = 0, per;
	uint32_t i;

	for (i = 0; i < len && links[i] != SRPOL_NONE; i++) {
		per = s->m->cost[links[i]];
		if (per == INFINITY)
			return INFINITY;
		sum += per * power((s->load[links[i]] + bytes) * per / s->scale,
				   doublings);
	}
	return sum;
}

static void shift(struct fraction *s, const struct commodity *c, uint32_t path,
		  double bytes)
{
	const uint32_t *links = s->use + c->use + (size_t)path * c->len;
	uint32_t i;

	s->x[c->x + path] += bytes;
	for (i = 0; i < c->len && links[i] != SRPOL_NONE; i++)
		s->load[links[i]] += bytes;
}

/* The path with the lowest cost for a piece. */
static uint32_t cheapest(const struct fraction *s, const struct commodity *c,
			 double piece, uint32_t doublings)
{
	double least = INFINITY, t;
	uint32_t i, best = 0;

	for (i = 0; i < c->paths; i++) {
		t = cost(s, s->use + c->use + (size_t)i * c->len, c->len,
			 piece, doublings);
		if (t < least) {
			least = t;
			best = i;
		}
	}
	return best;
}

/* Takes a commodity off all its links, and distributes it anew. */
static void respread(struct fraction *s, const struct commodity *c,
		     uint32_t doublings)
{
	uint32_t i, q, r;
	double piece;

	for (i = 0; i < c->paths; i++)
		if (s->x[c->x + i])
			shift(s, c, i, -s->x[c->x + i]);
	for (r = 0; r < sizeof(rounds) / sizeof(*rounds); r++) {
		piece = c->bytes * rounds[r].part / rounds[r].pieces;
		for (q = 0; q < rounds[r].pieces; q++)
			shift(s, c, cheapest(s, c, piece, doublings), piece);
	}
}

static double max_seconds(const struct fraction *s)
{
	double worst = 0, t;
	uint32_t i;

	for (i = 0; i < s->m->in->fabric->n_links; i++) {
		t = s->load[i] < 0.5 ? 0 : s->load[i] * s->m->cost[i];
		if (t > worst)
			worst = t;
	}
	return worst;
}

static void descend(struct fraction *s)
{
	uint32_t stage, pass;
	double work = 0, before, now = INFINITY, once = 0;
	struct commodity *c;

	for (c = s->c; c < s->c + s->n; c++)
		once += (double)c->paths * c->len * PIECES * has_choice(c);
	if (once > PASS_MAX)
		return;
	for (stage = 0; stage < STAGES; stage++) {
		for (pass = 0; pass < PASSES && work < WORK_MAX; pass++) {
			s->scale = max_seconds(s);
			if (s->scale == INFINITY || !s->scale)
				s->scale = s->m->bound;
			for (c = s->c; c < s->c + s->n; c++)
				if (has_choice(c))
					respread(s, c, stage + 2);
			work += once;
			before = now;
			now = max_seconds(s);
			if (now <= s->m->bound * 1.001)
				return;
			if (now > before * 0.9995)
				break;
		}
	}
}

/* Puts parts of a demand on a path. */
static int put(struct fraction *s, uint32_t d, uint32_t path, uint32_t parts,
	       const struct srpol_path_set *set)
{
	struct srpol_route route;

	srpol_path_get(s->m->in->fabric, set, path, &route);
	srpol_minmax_load(s->m, d, &route, parts);
	return srpol_spot_put(&s->m->spots[d], path, parts);
}

static uint32_t richest(const double *x, uint32_t n)
{
	uint32_t i, best = 0;

	for (i = 1; i < n; i++)
		if (x[i] > x[best])
			best = i;
	return best;
}

/* Cuts a demand to fit what is left of the bytes on the commodity's paths. */
static int cut(struct fraction *s, const struct commodity *c, uint32_t d,
	       const struct srpol_path_set *set)
{
	uint32_t left = SRPOL_PARTS, parts, best;
	double bytes = s->m->in->demands[d].bytes, *x = s->x + c->x;
	int rc = 0;

	while (left && !rc) {
		best = richest(x, c->paths);
		parts = x[best] <= 0 ? left : ceil(x[best] / bytes *
						   SRPOL_PARTS - 1e-6);
		/* put a small remainder here instead of on one more path */
		if (parts >= left || left - parts < CRUMB)
			parts = left;
		if (!parts)
			parts = left;
		x[best] -= bytes * parts / SRPOL_PARTS;
		left -= parts;
		rc = put(s, d, best, parts, set);
	}
	return rc;
}

/* Whether a demand may keep its only path; if so, subtracts its bytes there. */
static bool can_stay(struct fraction *s, const struct commodity *c, uint32_t d)
{
	const struct srpol_spot *spot = &s->m->spots[d];
	double bytes = s->m->in->demands[d].bytes;

	if (spot->n != 1 || s->x[c->x + spot->one.path] < bytes * 0.999)
		return false;
	s->x[c->x + spot->one.path] -= bytes;
	return true;
}

static void clear(struct fraction *s, uint32_t d,
		  const struct srpol_path_set *set)
{
	struct srpol_share *shares = srpol_spot_shares(&s->m->spots[d]);
	struct srpol_route route;
	uint32_t i;

	for (i = 0; i < s->m->spots[d].n; i++) {
		srpol_path_get(s->m->in->fabric, set, shares[i].path, &route);
		srpol_minmax_load(s->m, d, &route, -(double)shares[i].weight);
	}
	srpol_spot_clear(&s->m->spots[d]);
}

static int cut_commodity(struct fraction *s, const struct commodity *c,
			 uint8_t *stays)
{
	const struct srpol_demand *demands = s->m->in->demands;
	struct srpol_path_set set;
	uint32_t i, d;
	int rc = 0;

	for (i = c->first; i < c->first + c->n; i++)
		stays[s->order[i]] = can_stay(s, c, s->order[i]);
	for (i = c->first; i < c->first + c->n && !rc; i++) {
		d = s->order[i];
		if (stays[d] || !demands[d].bytes || !s->m->spots[d].n)
			continue;
		rc = srpol_path_set_init(s->m->in->fabric, demands[d].src,
					 demands[d].dst, &set);
		if (!rc) {
			clear(s, d, &set);
			rc = cut(s, c, d, &set);
		}
		srpol_path_set_free(&set);
	}
	return rc;
}

/* Whether a link of a commodity is loaded for more than @target seconds. */
static bool is_hot(const struct fraction *s, const struct commodity *c,
		   double target)
{
	const uint32_t *links;
	struct srpol_share *shares;
	struct srpol_spot *spot;
	uint32_t i, j, l;

	for (i = c->first; i < c->first + c->n; i++) {
		spot = &s->m->spots[s->order[i]];
		shares = srpol_spot_shares(spot);
		for (j = 0; j < spot->n; j++) {
			links = s->use + c->use +
				(size_t)shares[j].path * c->len;
			for (l = 0; l < c->len && links[l] != SRPOL_NONE; l++)
				if (s->m->load[links[l]] *
				    s->m->cost[links[l]] > target)
					return true;
		}
	}
	return false;
}

/*
 * Applies the distribution to commodities that use a link above the target.
 * Since this may take other links above it, this is repeated, but for each
 * commodity only once. All other commodities keep their paths.
 */
static int adopt(struct fraction *s, double target)
{
	uint8_t *stays = malloc(s->m->in->n + 1UL);
	bool changed = true;
	struct commodity *c;
	int rc = 0;

	if (!stays)
		return -ENOMEM;
	while (changed && !rc) {
		changed = false;
		for (c = s->c; c < s->c + s->n && !rc; c++) {
			if (!has_choice(c) || !is_hot(s, c, target))
				continue;
			rc = cut_commodity(s, c, stays);
			c->bytes = 0;	/* done */
			changed = true;
		}
	}
	free(stays);
	return rc;
}

/**
 * srpol_minmax_fraction() - approach the optimum for demands that can be split
 * @m: the placement, changed only if that lowers the maximum load by more than
 *	1 %
 *
 * At most 56 passes, each of which examines every link of every commodity's
 * paths 256 times. No further pass starts after WORK_MAX links have been
 * examined, which takes less than a second. The placement is left unchanged if
 * the paths have more than 60 million links in all, or if a pass would examine
 * more than PASS_MAX links.
 *
 * Return: 0, -ENOMEM.
 */
int srpol_minmax_fraction(struct srpol_minmax *m)
{
	uint32_t n = m->in->n;
	struct fraction s = { .m = m };
	int rc = 0;

	s.order = malloc((n + 1UL) * sizeof(*s.order));
	s.key = malloc((n + 1UL) * sizeof(*s.key));
	s.c = calloc(n + 1UL, sizeof(*s.c));
	s.load = malloc((m->in->fabric->n_links + 1UL) * sizeof(*s.load));
	if (!s.order || !s.key || !s.c || !s.load) {
		rc = -ENOMEM;
	} else if (collect(&s, &rc)) {
		take_over(&s);
		descend(&s);
		if (max_seconds(&s) < srpol_minmax_max(m) * 0.99)
			rc = adopt(&s, max_seconds(&s) * ENOUGH);
	}
	free(s.order);
	free(s.key);
	free(s.c);
	free(s.load);
	free(s.use);
	free(s.x);
	return rc;
}
