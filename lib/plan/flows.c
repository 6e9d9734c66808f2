// SPDX-License-Identifier: LGPL-2.1
/*
 * Assigns a path to each flow of jobs that announce their number of flows. With
 * weights alone, it is left to chance or to each host which flows share a link.
 *
 * The largest flows are placed first. Each takes the path whose links are least
 * loaded: the most loaded link of a path decides, then the next one, and so on
 * (list scheduling: at most 4/3 of the optimum if links are equal and paths
 * differ in no more than one link, R. Graham 1969). Then a flow may move in a
 * few more rounds if that lowers the highest load of the links that the move
 * affects by at least 5 %. Flows that had a path in the previous plan start
 * with that path, so that small changes move few flows.
 *
 * Flows between the same GPUs in the same color are interchangeable: a host is
 * told how many of them take a path, not which ones. Demands of such flows are
 * therefore merged, and each flow counts with their mean size.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

#define GAIN	0.95	/* factor that a move has to lower the load by */
#define ALIKE	1e-9	/* relative difference of equal ratios */
#define ROUNDS	3

/**
 * struct state - state of srpol_flows_place()
 * @in: input, in which demands of the same GPUs and color are merged
 * @order: indices of demands, those with the largest flows first
 * @first: by demand: index of its first path in @count; one more entry at the
 *	end
 * @count: by path of a demand: number of its flows that take the path
 * @load: bytes by directed link
 */
struct state {
	const struct srpol_flows_input *in;
	uint32_t *order;
	size_t *first;
	uint32_t *count;
	double *load;
};

/**
 * struct choice - the paths that a demand can choose from
 * @demand: index of the demand
 * @size: bytes per flow
 * @count: the demand's part of @count in struct state
 * @n: number of its paths
 * @routes: its paths; those that cannot be used have no links
 */
struct choice {
	uint32_t demand;
	double size;
	uint32_t *count;
	uint32_t n;
	struct srpol_route *routes;
};

/**
 * struct ratios - loads of links relative to their capacity, the highest one
 *	first
 * @n: number of ratios
 * @r: bytes per bit/s
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

/*
 * Load ratios of the links of @route that are not in @but, with @more bytes
 * added.
 */
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

/* Best path for one more flow; SRPOL_NONE: no path can be used. */
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

/* Number of flows of a demand that have no path yet. */
static uint32_t left_of(const struct state *s, const struct choice *c)
{
	uint32_t i, n = s->in->demands[c->demand].flows;

	for (i = 0; i < c->n; i++)
		n -= c->count[i];
	return n;
}

/* Puts flows on the paths that they have in the previous plan, where usable. */
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

/* Whether a move of one flow from path @from to path @to is worth it. */
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

/* Tries to move one flow off a path; returns whether it moved. */
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
 * srpol_flows_order() - compare two entries of a plan
 * @x: first entry
 * @y: second entry
 *
 * Return: negative if @x comes first, positive if @y does, 0 if both are for
 * the same path.
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
 * struct ranked - a demand in the list that is sorted by flow size
 * @size: bytes per flow
 * @demand: index of the demand
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

/* Fills in @first, and allocates @count. */
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
 * struct wanted - a demand in the list that is merged
 * @demand: the demand
 * @allowed: its links, see struct srpol_flows_input
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
 * srpol_flows_place() - assign a path to each flow
 * @in: flows, and the load and plan they start from
 * @plan: its entries for flows are replaced by the result
 *
 * Flows that have no usable path are left out. O(flows * paths).
 *
 * Return: 0, -EINVAL for GPUs that do not exist, -ENOMEM.
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
 * srpol_flows_alike() - number of entries with the same GPUs and color
 * @plan: plan
 * @at: index of the first of them
 */
uint32_t srpol_flows_alike(const struct srpol_plan *plan, uint32_t at)
{
	uint32_t i = at;

	while (i < plan->n_flows && is_alike(&plan->flows[at], &plan->flows[i]))
		i++;
	return i - at;
}

/**
 * srpol_flows_find() - find the paths of the flows between two GPUs
 * @plan: plan
 * @src: source GPU
 * @dst: destination GPU
 * @color: color of the policies; 0: policies whose color has no entries of its
 *	own
 * @n: result: number of entries; 0: the plan has none
 *
 * O(log flows).
 *
 * Return: the first entry; valid only if *@n is not 0.
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
