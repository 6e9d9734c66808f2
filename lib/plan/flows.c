// SPDX-License-Identifier: LGPL-2.1
/*
 * A path for each flow, where a job says how many flows there are: weights leave
 * it to chance, or to each host by itself, which flows meet on a link.
 *
 * The greatest flows come first, each to the path that leaves its links least
 * loaded: the fullest of them decides, then the next (list scheduling: for equal
 * links and no more than one link that paths differ in, at most 4/3 of the optimum,
 * R. Graham 1969). Then each may move once more in a few rounds, if that lowers
 * what is fullest of the links that it changes by a twentieth. Flows that had a
 * path in the plan before begin there, so little moves when little changes.
 *
 * Flows of the same GPUs and color are alike: a host is told how many take a path,
 * not which. So demands of these are one, whose flows have their mean size.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

#define GAIN	0.95	/* a move lowers the ratio to that of it */
#define ALIKE	1e-9	/* ratios that differ by less are the same */
#define ROUNDS	3

/**
 * struct state - of a call
 * @in: what is asked, without two demands of the same GPUs and color
 * @order: demands, the greatest flows first
 * @first: by demand: its part of @count; one more at the end
 * @count: by path of a demand: how many of its flows take it
 * @load: by directed link: bytes
 */
struct state {
	const struct srpol_flows_input *in;
	uint32_t *order;
	size_t *first;
	uint32_t *count;
	double *load;
};

/**
 * struct choice - the paths of a demand
 * @demand: number
 * @size: bytes of a flow
 * @count: see struct state
 * @n: number of @routes
 * @routes: of paths; those of no links cannot be used
 */
struct choice {
	uint32_t demand;
	double size;
	uint32_t *count;
	uint32_t n;
	struct srpol_route *routes;
};

/**
 * struct ratios - of links to their capacity, the fullest first
 * @n: number of them
 * @r: bytes by bit/s
 */
struct ratios {
	uint32_t n;
	double r[SRPOL_PATH_LINKS];
};

static double size_of(const struct srpol_demand *d)
{
	return (double)d->bytes / d->flows;
}

static bool is_usable(const struct state *s, uint32_t demand,
		      const struct srpol_route *route)
{
	const struct srpol_flows_input *in = s->in;
	const bool *allowed = in->allowed ? in->allowed[demand] : NULL;
	uint32_t i;

	for (i = 0; i < route->n && allowed; i++)
		if (!allowed[route->link[i]])
			return false;
	return srpol_route_capacity(in->links, route) &&
	       srpol_route_offers(in->fabric, route, in->demands[demand].via);
}

static int choice_init(const struct state *s, uint32_t demand, struct choice *c)
{
	const struct srpol_demand *d = &s->in->demands[demand];
	struct srpol_path_set set;
	uint32_t i;
	int ret;

	*c = (struct choice){
		.demand = demand, .size = size_of(d),
		.count = s->count + s->first[demand],
	};
	ret = srpol_path_set_init(s->in->fabric, d->src, d->dst, &set);
	if (!ret) {
		c->n = set.n;
		c->routes = calloc(set.n + 1UL, sizeof(*c->routes));
		ret = c->routes ? 0 : -ENOMEM;
	}
	for (i = 0; i < c->n && !ret; i++) {
		srpol_path_get(s->in->fabric, &set, i, &c->routes[i]);
		if (!is_usable(s, demand, &c->routes[i]))
			c->routes[i].n = 0;
	}
	srpol_path_set_free(&set);
	return ret;
}

static bool takes(const struct srpol_route *route, uint32_t link)
{
	uint32_t i;

	for (i = 0; route && i < route->n; i++)
		if (route->link[i] == link)
			return true;
	return false;
}

/* With so much more on them; links of @but are left out. */
static void ratios_of(const struct state *s, const struct srpol_route *route,
		      const struct srpol_route *but, double more,
		      struct ratios *out)
{
	double ratio;
	uint32_t i, k;

	out->n = 0;
	for (i = 0; i < route->n; i++) {
		if (takes(but, route->link[i]))
			continue;
		ratio = (s->load[route->link[i]] + more) /
			s->in->links->links[route->link[i]].capacity;
		for (k = out->n++; k && out->r[k - 1] < ratio; k--)
			out->r[k] = out->r[k - 1];
		out->r[k] = ratio;
	}
}

static bool is_less(const struct ratios *a, const struct ratios *b)
{
	uint32_t i;

	for (i = 0; i < a->n && i < b->n; i++) {
		if (a->r[i] < b->r[i] * (1 - ALIKE))
			return true;
		if (a->r[i] > b->r[i] * (1 + ALIKE))
			return false;
	}
	return a->n < b->n;
}

static void carry(struct state *s, const struct choice *c, uint32_t path,
		  int64_t flows)
{
	const struct srpol_route *route = &c->routes[path];
	uint32_t i;

	for (i = 0; i < route->n; i++)
		s->load[route->link[i]] += flows * c->size;
	c->count[path] += flows;
}

/* Where a flow that is nowhere goes; SRPOL_NONE: it has no path. */
static uint32_t best_path(const struct state *s, const struct choice *c)
{
	struct ratios best = {}, now;
	uint32_t i, at = SRPOL_NONE;

	for (i = 0; i < c->n; i++) {
		if (!c->routes[i].n)
			continue;
		ratios_of(s, &c->routes[i], NULL, c->size, &now);
		if (at != SRPOL_NONE && !is_less(&now, &best))
			continue;
		best = now;
		at = i;
	}
	return at;
}

/* How many flows of a demand have no path yet. */
static uint32_t left_of(const struct state *s, const struct choice *c)
{
	uint32_t i, n = s->in->demands[c->demand].flows;

	for (i = 0; i < c->n; i++)
		n -= c->count[i];
	return n;
}

/* Flows that the plan before has stay, while their path can be used. */
static int keep_demand(struct state *s, uint32_t demand)
{
	const struct srpol_demand *d = &s->in->demands[demand];
	const struct srpol_flows *was;
	uint32_t i, n, left;
	struct choice c;
	int ret = choice_init(s, demand, &c);

	was = srpol_flows_find(s->in->before, d->src, d->dst, d->color, &n);
	for (i = 0; i < n && !ret; i++) {
		if (was[i].path >= c.n || !c.routes[was[i].path].n)
			continue;
		left = left_of(s, &c);
		carry(s, &c, was[i].path, was[i].n < left ? was[i].n : left);
	}
	free(c.routes);
	return ret;
}

static int place_demand(struct state *s, uint32_t demand)
{
	uint32_t left, at = 0;
	struct choice c;
	int ret = choice_init(s, demand, &c);

	for (left = ret ? 0 : left_of(s, &c); left && at != SRPOL_NONE; left--) {
		at = best_path(s, &c);
		if (at != SRPOL_NONE)
			carry(s, &c, at, 1);
	}
	free(c.routes);
	return ret;
}

static double most(const struct ratios *a, const struct ratios *b)
{
	double x = a->n ? a->r[0] : 0, y = b->n ? b->r[0] : 0;

	return x > y ? x : y;
}

/* Whether a flow that leaves @from for @to makes things better. */
static bool gains(const struct state *s, const struct choice *c, uint32_t from,
		  uint32_t to)
{
	const struct srpol_route *a = &c->routes[from], *b = &c->routes[to];
	struct ratios old, new;
	double before;

	ratios_of(s, a, b, 0, &old);
	ratios_of(s, b, a, 0, &new);
	before = most(&old, &new);
	ratios_of(s, a, b, -c->size, &old);
	ratios_of(s, b, a, c->size, &new);
	return most(&old, &new) < before * GAIN;
}

/* One flow of a path; the return is whether it moved. */
static bool move_flow(struct state *s, const struct choice *c, uint32_t from)
{
	uint32_t to;

	carry(s, c, from, -1);
	to = best_path(s, c);
	carry(s, c, from, 1);
	if (to == from || !gains(s, c, from, to))
		return false;
	carry(s, c, from, -1);
	carry(s, c, to, 1);
	return true;
}

static int move_demand(struct state *s, uint32_t demand, bool *moved)
{
	struct choice c;
	uint32_t path, i, n;
	int ret = choice_init(s, demand, &c);

	for (path = 0; path < c.n && !ret; path++) {
		n = c.count[path];
		for (i = 0; i < n && move_flow(s, &c, path); i++)
			*moved = true;
	}
	free(c.routes);
	return ret;
}

static int place_all(struct state *s)
{
	bool moved = true;
	uint32_t i, round;
	int ret = 0;

	for (i = 0; i < s->in->n && s->in->before && !ret; i++)
		ret = keep_demand(s, s->order[i]);
	for (i = 0; i < s->in->n && !ret; i++)
		ret = place_demand(s, s->order[i]);
	for (round = 0; round < ROUNDS && moved && !ret; round++) {
		moved = false;
		for (i = 0; i < s->in->n && !ret; i++)
			ret = move_demand(s, s->order[i], &moved);
	}
	return ret;
}

/**
 * srpol_flows_order() - which of two entries of a plan comes first
 * @x: the one
 * @y: other
 *
 * Return: less than 0: the one, more: the other, 0: they are of the same flows.
 */
int srpol_flows_order(const struct srpol_flows *x, const struct srpol_flows *y)
{
	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	if (x->color != y->color)
		return x->color < y->color ? -1 : 1;
	return (x->path > y->path) - (x->path < y->path);
}

static int by_key(const void *a, const void *b)
{
	return srpol_flows_order(a, b);
}

static int write_plan(const struct state *s, struct srpol_plan *plan)
{
	const struct srpol_demand *d;
	struct srpol_flows *list;
	size_t used = 0, i;
	uint32_t k, n = 0;

	for (i = 0; i < s->first[s->in->n]; i++)
		used += s->count[i] > 0;
	list = calloc(used + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (k = 0; k < s->in->n; k++) {
		d = &s->in->demands[k];
		for (i = s->first[k]; i < s->first[k + 1]; i++)
			if (s->count[i])
				list[n++] = (struct srpol_flows){
					d->src, d->dst, d->color,
					i - s->first[k], s->count[i],
				};
	}
	free(plan->flows);
	qsort(list, n, sizeof(*list), by_key);
	plan->flows = list;
	plan->n_flows = n;
	return 0;
}

/**
 * struct ranked - a demand, to be sorted
 */
struct ranked {
	double size;
	uint32_t demand;
};

static int by_size(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return (x->demand > y->demand) - (x->demand < y->demand);
}

static int sort(struct state *s)
{
	struct ranked *ranked = calloc(s->in->n + 1UL, sizeof(*ranked));
	uint32_t i;

	if (!ranked)
		return -ENOMEM;
	for (i = 0; i < s->in->n; i++)
		ranked[i] = (struct ranked){ size_of(&s->in->demands[i]), i };
	if (s->in->n)
		qsort(ranked, s->in->n, sizeof(*ranked), by_size);
	for (i = 0; i < s->in->n; i++)
		s->order[i] = ranked[i].demand;
	free(ranked);
	return 0;
}

/* Room for the paths of all demands. */
static int make_room(struct state *s)
{
	struct srpol_path_set set;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < s->in->n && !ret; i++) {
		ret = srpol_path_set_init(s->in->fabric, s->in->demands[i].src,
					  s->in->demands[i].dst, &set);
		s->first[i + 1] = s->first[i] + (ret ? 0 : set.n);
		srpol_path_set_free(&set);
	}
	if (ret)
		return ret;
	s->count = calloc(s->first[s->in->n] + 1, sizeof(*s->count));
	return s->count ? 0 : -ENOMEM;
}

/**
 * struct wanted - a demand, to be merged
 */
struct wanted {
	struct srpol_demand demand;
	const bool *allowed;
};

static int by_gpus(const void *a, const void *b)
{
	const struct srpol_demand *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	return (x->color > y->color) - (x->color < y->color);
}

static uint32_t merge(struct wanted *list, uint32_t n)
{
	uint32_t i, k = 0;

	if (n)
		qsort(list, n, sizeof(*list), by_gpus);
	for (i = 0; i < n; i++) {
		if (k && !by_gpus(&list[k - 1], &list[i])) {
			list[k - 1].demand.bytes += list[i].demand.bytes;
			list[k - 1].demand.flows += list[i].demand.flows;
		} else {
			list[k++] = list[i];
		}
	}
	return k;
}

static int place_merged(const struct srpol_flows_input *in,
			struct srpol_plan *plan)
{
	uint32_t links = in->fabric->n_links;
	struct state s = {
		.in = in,
		.order = calloc(in->n + 1UL, sizeof(*s.order)),
		.first = calloc(in->n + 1UL, sizeof(*s.first)),
		.load = calloc(links + 1UL, sizeof(*s.load)),
	};
	int ret = s.order && s.first && s.load ? 0 : -ENOMEM;

	if (!ret)
		memcpy(s.load, in->load, links * sizeof(*s.load));
	ret = ret ?: make_room(&s) ?: sort(&s) ?: place_all(&s) ?:
	      write_plan(&s, plan);
	free(s.order);
	free(s.first);
	free(s.count);
	free(s.load);
	return ret;
}

/**
 * srpol_flows_place() - a path for each flow
 * @in: flows, and what they find
 * @plan: gets them, in place of those that it has
 *
 * Flows that have no usable path are left out. O(flows * paths).
 *
 * Return: 0, -EINVAL for GPUs that are not there, -ENOMEM.
 */
int srpol_flows_place(const struct srpol_flows_input *in,
		      struct srpol_plan *plan)
{
	struct wanted *list = calloc(in->n + 1UL, sizeof(*list));
	struct srpol_demand *demands = calloc(in->n + 1UL, sizeof(*demands));
	const bool **allowed = calloc(in->n + 1UL, sizeof(*allowed));
	struct srpol_flows_input merged = *in;
	int ret = list && demands && allowed ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 0; i < in->n && !ret; i++)
		list[i] = (struct wanted){
			in->demands[i], in->allowed ? in->allowed[i] : NULL,
		};
	if (!ret) {
		merged.n = merge(list, in->n);
		for (i = 0; i < merged.n; i++) {
			demands[i] = list[i].demand;
			allowed[i] = list[i].allowed;
		}
		merged.demands = demands;
		merged.allowed = allowed;
		ret = place_merged(&merged, plan);
	}
	free(list);
	free(demands);
	free(allowed);
	return ret;
}

static bool is_alike(const struct srpol_flows *a, const struct srpol_flows *b)
{
	return a->src == b->src && a->dst == b->dst && a->color == b->color;
}

/**
 * srpol_flows_alike() - so many entries are between two GPUs in a color
 * @plan: plan
 * @at: the first of them
 */
uint32_t srpol_flows_alike(const struct srpol_plan *plan, uint32_t at)
{
	uint32_t i = at;

	while (i < plan->n_flows && is_alike(&plan->flows[at], &plan->flows[i]))
		i++;
	return i - at;
}

/**
 * srpol_flows_find() - paths of flows between two GPUs
 * @plan: plan
 * @src: GPU
 * @dst: GPU
 * @color: of the policies, 0: those that have none of their own
 * @n: result: number of entries, 0: the plan has none
 *
 * O(log flows).
 *
 * Return: the first one.
 */
const struct srpol_flows *srpol_flows_find(const struct srpol_plan *plan,
					   uint32_t src, uint32_t dst,
					   uint32_t color, uint32_t *n)
{
	const struct srpol_flows key = { .src = src, .dst = dst, .color = color };
	uint32_t a = 0, b = plan->n_flows, mid;

	while (a < b) {
		mid = a + (b - a) / 2;
		if (srpol_flows_order(&plan->flows[mid], &key) < 0)
			a = mid + 1;
		else
			b = mid;
	}
	*n = a < plan->n_flows && is_alike(&plan->flows[a], &key) ?
	     srpol_flows_alike(plan, a) : 0;
	return plan->flows + a;
}
