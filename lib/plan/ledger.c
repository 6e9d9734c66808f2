// SPDX-License-Identifier: LGPL-2.1
/*
 * Bandwidth reservations for the demands of jobs. The bandwidth that a
 * reservation takes of a link follows from the weights that hosts really use:
 * those of the plan of its color, in which all reservations of a color that
 * share a pair of leaves also share its weights.
 *
 * Until hosts have acknowledged new weights they may still use the old ones, so
 * on each link a demand is counted with the greater of both loads. A link may
 * be reserved completely: sums are rounded to whole bit/s before they are
 * compared with its capacity.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "srpol_lib.h"
#include "tally.h"

/**
 * srpol_rate_add() - add two rates without overflow
 * @a: bit/s
 * @b: bit/s
 *
 * Return: the sum in bit/s, UINT64_MAX if it is greater than that.
 */
uint64_t srpol_rate_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static bool enters_fabric(const struct srpol_fabric *f,
			  const struct srpol_demand *d)
{
	return f->gpus[d->src].host != f->gpus[d->dst].host;
}

/*
 * Bytes of the GPU that sends or receives most over the fabric. Returns -ENOMEM
 * without memory.
 */
static int busiest(const struct srpol_fabric *f,
		   const struct srpol_demand *demands, uint32_t n, double *most)
{
	double *busy = calloc(2UL * f->n_gpus + 1, sizeof(*busy));
	uint32_t i;

	if (!busy)
		return -ENOMEM;
	*most = 0;
	for (i = 0; i < n; i++) {
		const struct srpol_demand *d = &demands[i];

		if (!enters_fabric(f, d))
			continue;
		busy[2 * d->src] += d->bytes;
		busy[2 * d->dst + 1] += d->bytes;
		*most = fmax(*most, fmax(busy[2 * d->src],
					 busy[2 * d->dst + 1]));
	}
	free(busy);
	return 0;
}

/**
 * srpol_rate_within() - the rate with which demands end in a given time
 * @f: finished fabric
 * @demands: demands, whose rates are in proportion to their bytes
 * @n: number of @demands
 * @ms: the time in ms, at least 1
 * @rate: result: bit/s of the busiest GPU, rounded up and UINT64_MAX at most; 0
 *	if nothing is sent over the fabric
 *
 * Return: 0, -ENOMEM.
 */
int srpol_rate_within(const struct srpol_fabric *f,
		      const struct srpol_demand *demands, uint32_t n,
		      uint64_t ms, uint64_t *rate)
{
	double most, all;
	int ret = busiest(f, demands, n, &most);

	if (ret)
		return ret;
	all = ceil(most * 8 * 1000 / ms);
	*rate = all < 0x1p63 ? all : UINT64_MAX;
	return 0;
}

/* Rates of the demands of a reservation that has @rate; see srpol_hold_rates() */
static double *rates_at(const struct srpol_fabric *f,
			const struct srpol_hold *hold, uint64_t rate)
{
	double *rates = calloc(hold->n + 1UL, sizeof(*rates)), most;
	uint32_t i;

	if (!rates || busiest(f, hold->demands, hold->n, &most)) {
		free(rates);
		return NULL;
	}
	for (i = 0; i < hold->n; i++)
		if (enters_fabric(f, &hold->demands[i]))
			rates[i] = rate * (hold->demands[i].bytes / most);
	return rates;
}

/**
 * srpol_hold_rates() - the rate of each demand of a reservation
 * @f: finished fabric
 * @hold: reservation
 *
 * The busiest GPU sends or receives @hold->rate, and all demands end at the
 * same time.
 *
 * Return: bit/s by demand, to be freed; 0 for a demand within one host. NULL
 * without memory.
 */
double *srpol_hold_rates(const struct srpol_fabric *f,
			 const struct srpol_hold *hold)
{
	return rates_at(f, hold, hold->rate);
}

static double *old_rates(const struct srpol_fabric *f,
			 const struct srpol_hold *hold)
{
	return rates_at(f, hold, hold->old_rate ?: hold->rate);
}

/*
 * Weights of a demand between GPUs on the same leaf, which is in no plan:
 * planes get weights in proportion to the rates of their NICs. Returns 0 if
 * some plane has different leaves.
 */
static int weigh_under_leaf(const struct srpol_ledger *ledger,
			    const struct srpol_path_set *set, uint32_t *weight)
{
	uint64_t rate;
	uint32_t p;

	for (p = 0; p < set->pairs; p++) {
		if (set->pair[p].fan.len)
			return 0;
		rate = srpol_links_nic_rate(ledger->fabric, ledger->links,
					    set->pair[p].src, set->pair[p].dst);
		/* in Mbit/s, and at least 1 for NICs that are up */
		weight[set->pair[p].first] = rate ? rate / 1000000 + 1 : 0;
	}
	return set->n;
}

/*
 * Weights of a demand according to @plan: their number, 0 if the demand has no
 * path, or a negative errno.
 */
static int weigh(const struct srpol_ledger *ledger,
		 const struct srpol_plan *plan, const struct srpol_demand *d,
		 const struct srpol_path_set *set, uint32_t *weight)
{
	int n = srpol_plan_weigh(ledger->fabric, ledger->links, plan, d->src,
				 d->dst, 0, weight, set->n);

	return n == -ENOENT ? weigh_under_leaf(ledger, set, weight) : n;
}

/**
 * struct mix - placed demands of several reservations
 * @demands: demands; @bytes is the rate in bit/s
 * @placement: their paths
 * @n: number of @demands
 */
struct mix {
	struct srpol_demand *demands;
	struct srpol_placement *placement;
	uint32_t n;
};

static int mix_demand(struct mix *m, const struct srpol_ledger *ledger,
		      const struct srpol_plan *plan,
		      const struct srpol_demand *d, double rate)
{
	struct srpol_path_set set;
	uint32_t *weight, i;
	int ret;

	ret = srpol_path_set_init(ledger->fabric, d->src, d->dst, &set);
	if (ret)
		return ret;
	weight = calloc(set.n + 1UL, sizeof(*weight));
	ret = weight ? weigh(ledger, plan, d, &set, weight) : -ENOMEM;
	m->demands[m->n] = *d;
	m->demands[m->n].bytes = rate < 1 ? 1 : rate + 0.5;
	for (i = 0; ret > 0 && i < set.n; i++)
		if (weight[i] && srpol_placement_add(m->placement, m->n, i,
						     weight[i]))
			ret = -ENOMEM;
	srpol_placement_end(m->placement, m->n);
	if (ret >= 0 && m->placement->first[m->n] !=
			m->placement->first[m->n + 1])
		m->n++;
	else
		m->placement->first[m->n + 1] = 0;
	free(weight);
	srpol_path_set_free(&set);
	return ret < 0 ? ret : 0;
}

static int mix_hold(struct mix *m, const struct srpol_ledger *ledger,
		    const struct srpol_hold *hold, bool old)
{
	const struct srpol_plan *plan = old ? hold->old : hold->new;
	double *rate = old ? old_rates(ledger->fabric, hold) :
			     srpol_hold_rates(ledger->fabric, hold);
	int ret = rate ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 0; i < hold->n && !ret; i++)
		if (rate[i])
			ret = mix_demand(m, ledger, plan, &hold->demands[i],
					 rate[i]);
	free(rate);
	return ret;
}

static const struct srpol_plan *plan_of(const struct srpol_hold *hold, bool old)
{
	return old ? hold->old : hold->new;
}

/*
 * The plan of a color, made from the old or new weights of all its reservations
 * and of @extra, which may be NULL.
 */
static struct srpol_plan *blend(const struct srpol_ledger *ledger,
				uint32_t color, const struct srpol_hold *extra,
				bool old)
{
	struct srpol_alg_input in = { .fabric = ledger->fabric,
				      .links = ledger->links };
	struct srpol_plan *plan = NULL;
	const struct srpol_hold *hold;
	struct mix m = {};
	uint32_t i, n = extra ? extra->n : 0;
	int ret;

	for (i = 0; i < ledger->n; i++)
		if (ledger->holds[i].color == color)
			n += ledger->holds[i].n;
	m.demands = malloc((n + 1UL) * sizeof(*m.demands));
	m.placement = srpol_placement_new(n);
	ret = m.demands && m.placement ? 0 : -ENOMEM;
	for (i = 0; i <= ledger->n && !ret; i++) {
		hold = i < ledger->n ? &ledger->holds[i] : extra;
		if (hold && hold->color == color && plan_of(hold, old))
			ret = mix_hold(&m, ledger, hold, old);
	}
	if (!ret) {
		in.demands = m.demands;
		in.n = m.placement->n = m.n;
		plan = srpol_plan_new(&in, m.placement);
	}
	srpol_placement_free(m.placement);
	free(m.demands);
	return plan;
}

/**
 * srpol_ledger_plan() - the weights of a color that hosts are told to use
 * @ledger: all reservations
 * @color: color
 *
 * Return: a plan whose pairs have color 0, to be freed; NULL without memory.
 */
struct srpol_plan *srpol_ledger_plan(const struct srpol_ledger *ledger,
				     uint32_t color)
{
	return blend(ledger, color, NULL, false);
}

/*
 * Adds the load of a demand according to @plan; sets *@stuck if it has no path.
 */
static int spread(const struct srpol_ledger *ledger,
		  const struct srpol_plan *plan, const struct srpol_demand *d,
		  const struct srpol_path_set *set, double rate, double *load,
		  bool *stuck)
{
	uint32_t *weight = calloc(set->n + 1UL, sizeof(*weight)), i, l;
	struct srpol_route route;
	double sum = 0;
	int ret;

	ret = weight ? weigh(ledger, plan, d, set, weight) : -ENOMEM;
	for (i = 0; ret > 0 && i < set->n; i++)
		sum += weight[i];
	for (i = 0; sum > 0 && i < set->n; i++) {
		if (!weight[i])
			continue;
		srpol_path_get(ledger->fabric, set, i, &route);
		for (l = 0; l < route.n; l++)
			load[route.link[l]] += rate * (weight[i] / sum);
	}
	*stuck |= !(sum > 0);
	free(weight);
	return ret < 0 ? ret : 0;
}

/**
 * struct pages - loads of a demand by its old and by its new weights
 * @old: bit/s by directed link, all 0 between two demands
 * @new: likewise
 */
struct pages {
	double *old;
	double *new;
};

/**
 * struct sink - where loads go: one of them is NULL
 * @load: bit/s by directed link, to which they are added
 * @list: list to which they are appended
 */
struct sink {
	double *load;
	struct srpol_addends *list;
};

/* Nothing is appended that would change no sum. */
static int append(struct srpol_addends *to, uint32_t link, double bps)
{
	struct srpol_addend *list;
	size_t room;

	to->too_many |= bps > 0 && to->n == to->max;
	if (!(bps > 0) || to->too_many)
		return 0;
	if (to->n == to->room) {
		room = to->room ? 2 * to->room : 64;
		list = realloc(to->list, room * sizeof(*list));
		if (!list)
			return -ENOMEM;
		to->list = list;
		to->room = room;
	}
	to->list[to->n++] = (struct srpol_addend){ .bps = bps, .link = link };
	return 0;
}

/* Adds the greater load of each link to @to and clears both pages. */
static int add_greater(const struct srpol_fabric *f,
		       const struct srpol_path_set *set, struct pages *pages,
		       const struct sink *to)
{
	struct srpol_route route;
	uint32_t i, j, l;
	double bps;
	int ret = 0;

	for (i = 0; i < set->n; i++) {
		srpol_path_get(f, set, i, &route);
		for (j = 0; j < route.n; j++) {
			l = route.link[j];
			bps = fmax(pages->old[l], pages->new[l]);
			pages->old[l] = pages->new[l] = 0;
			if (to->load)
				to->load[l] += bps;
			else
				ret = ret ?: append(to->list, l, bps);
		}
	}
	return ret;
}

/**
 * struct rate_pair - rates of a demand by the old and by the new weights
 * @old: bit/s
 * @new: bit/s
 */
struct rate_pair {
	double old;
	double new;
};

static int load_demand(const struct srpol_ledger *ledger,
		       const struct srpol_plan *old,
		       const struct srpol_plan *new,
		       const struct srpol_demand *d, struct rate_pair rate,
		       struct pages *pages, const struct sink *to, bool *stuck)
{
	struct srpol_path_set set;
	bool ignored = false;
	int ret;

	ret = srpol_path_set_init(ledger->fabric, d->src, d->dst, &set);
	if (ret)
		return ret;
	if (old)
		ret = spread(ledger, old, d, &set, rate.old, pages->old,
			     &ignored);
	if (new && !ret)
		ret = spread(ledger, new, d, &set, rate.new, pages->new, stuck);
	ret = add_greater(ledger->fabric, &set, pages, to) ?: ret;
	srpol_path_set_free(&set);
	return ret;
}

static int load_hold(const struct srpol_ledger *ledger,
		     const struct srpol_hold *hold,
		     const struct srpol_plan *old, const struct srpol_plan *new,
		     struct pages *pages, const struct sink *to, bool *stuck)
{
	double *now = srpol_hold_rates(ledger->fabric, hold);
	double *before = old_rates(ledger->fabric, hold);
	int ret = now && before ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 0; i < hold->n && !ret; i++)
		if (now[i])
			ret = load_demand(ledger, hold->old ? old : NULL,
					  hold->new ? new : NULL,
					  &hold->demands[i],
					  (struct rate_pair){ before[i], now[i] },
					  pages, to, stuck);
	free(now);
	free(before);
	return ret;
}

/**
 * struct sum - the loads of the reservations of a color
 * @new: plan of the color by new weights
 * @old: by old weights; NULL: they do not count
 * @pages: scratch
 */
struct sum {
	struct srpol_plan *new;
	struct srpol_plan *old;
	struct pages pages;
};

static void free_sum(struct sum *s)
{
	free(s->pages.old);
	free(s->pages.new);
	srpol_plan_free(s->old);
	srpol_plan_free(s->new);
}

static int init_sum(struct sum *s, const struct srpol_ledger *ledger,
		    uint32_t color, const struct srpol_hold *extra,
		    bool transition)
{
	size_t size = ledger->fabric->n_links + 1UL;

	*s = (struct sum){
		.new = blend(ledger, color, extra, false),
		.old = transition ? blend(ledger, color, extra, true) : NULL,
		.pages = { calloc(size, sizeof(double)),
			   calloc(size, sizeof(double)) },
	};
	return s->new && (s->old || !transition) && s->pages.old &&
	       s->pages.new ? 0 : -ENOMEM;
}

/**
 * srpol_ledger_add() - add the load of all reservations of a color
 * @ledger: all reservations
 * @color: color
 * @extra: one more reservation of that color, or NULL
 * @transition: also count the old weights that hosts may still use
 * @load: bit/s by directed link, to which the load is added
 * @of: reservation whose own load is of interest, NULL: none
 * @alone: the load of @of by itself is added here; NULL: not wanted
 * @stuck: set if a demand of @of has no path; may be NULL
 *
 * Return: 0, -ENOMEM.
 */
int srpol_ledger_add(const struct srpol_ledger *ledger, uint32_t color,
		     const struct srpol_hold *extra, bool transition,
		     double *load, const struct srpol_hold *of, double *alone,
		     bool *stuck)
{
	const struct sink all = { .load = load }, one = { .load = alone };
	const struct srpol_hold *hold;
	bool ignored = false, mine;
	struct sum s;
	int ret = init_sum(&s, ledger, color, extra, transition);
	uint32_t i, l;

	for (i = 0; i <= ledger->n && !ret; i++) {
		hold = i < ledger->n ? &ledger->holds[i] : extra;
		if (!hold || hold->color != color)
			continue;
		mine = hold == of && alone;
		ret = load_hold(ledger, hold, s.old, s.new, &s.pages,
				mine ? &one : &all,
				hold == of && stuck ? stuck : &ignored);
		for (l = 0; mine && !ret && l < ledger->fabric->n_links; l++)
			load[l] += alone[l];
	}
	free_sum(&s);
	return ret;
}

/**
 * srpol_ledger_list() - list what srpol_ledger_add() adds to links for a color
 * @ledger: all reservations
 * @color: color
 * @transition: also count the old weights that hosts may still use
 * @list: result; its @max, @ends and @stuck are set, all else is zero
 *
 * Return: 0, -ENOMEM.
 */
int srpol_ledger_list(const struct srpol_ledger *ledger, uint32_t color,
		      bool transition, struct srpol_addends *list)
{
	const struct sink to = { .list = list };
	bool stuck;
	struct sum s;
	int ret = init_sum(&s, ledger, color, NULL, transition);
	uint32_t i, k = 0;

	for (i = 0; i < ledger->n && !ret && !list->too_many; i++) {
		if (ledger->holds[i].color != color)
			continue;
		stuck = false;
		ret = load_hold(ledger, &ledger->holds[i], s.old, s.new,
				&s.pages, &to, &stuck);
		if (list->ends)
			list->ends[k] = list->n;
		if (list->stuck)
			list->stuck[k] = stuck;
		k++;
	}
	free_sum(&s);
	return ret;
}

/**
 * srpol_ledger_is_first() - whether a reservation is the first one of its color
 * @ledger: all reservations
 * @i: index of the reservation
 */
bool srpol_ledger_is_first(const struct srpol_ledger *ledger, uint32_t i)
{
	uint32_t k;

	for (k = 0; k < i; k++)
		if (ledger->holds[k].color == ledger->holds[i].color)
			return false;
	return true;
}

/**
 * srpol_ledger_add_others() - add the load of the reservations of all other
 *	colors
 * @ledger: all reservations
 * @color: color to be left out, 0: none
 * @transition: also count the old weights that hosts may still use
 * @load: bit/s by directed link, to which the load is added
 *
 * Return: 0, -ENOMEM.
 */
int srpol_ledger_add_others(const struct srpol_ledger *ledger, uint32_t color,
			    bool transition, double *load)
{
	uint32_t i;
	int ret = 0;

	if (ledger->tally)
		return srpol_tally_add_others(ledger, color, transition, load);
	for (i = 0; i < ledger->n && !ret; i++)
		if (ledger->holds[i].color != color &&
		    srpol_ledger_is_first(ledger, i))
			ret = srpol_ledger_add(ledger, ledger->holds[i].color,
					       NULL, transition, load, NULL,
					       NULL, NULL);
	return ret;
}

/**
 * srpol_ledger_load() - the bandwidth of links that is reserved
 * @ledger: all reservations
 * @load: result: bit/s by directed link, including old weights that hosts may
 *	still use
 *
 * Return: 0, -ENOMEM.
 */
int srpol_ledger_load(const struct srpol_ledger *ledger, double *load)
{
	memset(load, 0, ledger->fabric->n_links * sizeof(*load));
	return srpol_ledger_add_others(ledger, 0, true, load);
}

/**
 * srpol_ledger_load_one() - the bandwidth of links that is reserved by one
 *	reservation
 * @ledger: all reservations
 * @hold: index of the reservation in @ledger
 * @load: result: bit/s by directed link, according to the new weights
 *
 * Return: 0, -ENOLINK if a demand has no path, -ENOMEM.
 */
int srpol_ledger_load_one(const struct srpol_ledger *ledger, uint32_t hold,
			  double *load)
{
	const struct srpol_hold *h = &ledger->holds[hold];
	double *all = calloc(ledger->fabric->n_links + 1UL, sizeof(*all));
	bool stuck = false;
	int ret;

	memset(load, 0, ledger->fabric->n_links * sizeof(*load));
	ret = all ? srpol_ledger_add(ledger, h->color, NULL, false, all, h,
				     load, &stuck) : -ENOMEM;
	free(all);
	return ret ?: stuck && h->new ? -ENOLINK : 0;
}
