// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "weights.h"

#define DEMAND_BYTES	(1u << 30)	/* of each pair, if nothing is
					 * announced */
#define UNSAID_BYTES	1		/* of other pairs, if something is */
#define BYTES_MAX	((1ull << 53) - 1)

static int by_pair(const void *a, const void *b)
{
	const struct srpol_demand *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	return (x->color > y->color) - (x->color < y->color);
}

/* Merge demands of the same pair and color. */
static void merge(struct weights_demands *known)
{
	struct srpol_demand *d = known->demand;
	uint32_t i, n = 0;

	if (!known->n)
		return;
	qsort(d, known->n, sizeof(*d), by_pair);
	for (i = 0; i < known->n; i++) {
		if (n && !by_pair(&d[n - 1], &d[i])) {
			d[n - 1].bytes += d[i].bytes;
			if (d[n - 1].bytes > BYTES_MAX)
				d[n - 1].bytes = BYTES_MAX;
		} else {
			d[n++] = d[i];
		}
	}
	known->n = n;
}

/* If no usable path is left, ignore this: packets must go somewhere. */
static void use_all(struct weights_pair *pair)
{
	uint32_t i;

	for (i = 0; i < pair->n; i++)
		pair->weight[i] = !pair->slice || pair->slice[i];
}

static void take(struct weights_pair *pair, const struct srpol_share *shares,
		 uint32_t n)
{
	uint32_t i, most = 0;

	memset(pair->weight, 0, pair->n * sizeof(*pair->weight));
	for (i = 0; i < n; i++) {
		if (shares[i].path >= pair->n ||
		    (pair->slice && !pair->slice[shares[i].path]))
			continue;
		pair->weight[shares[i].path] = shares[i].weight;
		if (shares[i].weight > most)
			most = shares[i].weight;
	}
	if (!most)
		use_all(pair);
	for (i = 0; most > WEIGHT_MAX && i < pair->n; i++)
		if (pair->weight[i])
			pair->weight[i] = 1 + (uint64_t)pair->weight[i] *
					  (WEIGHT_MAX - 1) / most;
}

/* Bytes that a pair sends; marks the announced demand in @said as used. */
static uint64_t bytes_of(const struct weights_demands *known,
			 const struct weights_pair *pair, bool *said)
{
	const struct srpol_demand key = {
		.src = pair->src, .dst = pair->dst, .color = pair->color,
	};
	const struct srpol_demand *d;

	if (!known->n)
		return DEMAND_BYTES;
	d = bsearch(&key, known->demand, known->n, sizeof(*d), by_pair);
	if (!d)
		return UNSAID_BYTES;
	said[d - known->demand] = true;
	return d->bytes;
}

/*
 * Add the demands of an algorithm's pairs, then those that are announced by
 * others, unless these do not matter to it.
 */
static void add_demands(const struct weights_demands *known,
			const struct srpol_alg *alg,
			const struct weights_pair *pairs, uint32_t n,
			bool *said, struct srpol_alg_input *in,
			struct srpol_demand *demands)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (pairs[i].alg == alg)
			demands[in->n++] = (struct srpol_demand){
				.src = pairs[i].src,
				.dst = pairs[i].dst,
				.bytes = bytes_of(known, &pairs[i], said),
				.key = i,
				.color = pairs[i].color,
			};
	for (i = 0; alg->run && i < known->n; i++)
		if (!said[i]) {
			demands[in->n] = known->demand[i];
			demands[in->n++].key = (uint64_t)n + i;
		}
}

/* Demands as they are remembered: keys change when others come and go. */
static struct srpol_demand *without_keys(const struct srpol_demand *demands,
					 uint32_t n)
{
	struct srpol_demand *copy = calloc(n + 1UL, sizeof(*copy));
	uint32_t i;

	for (i = 0; copy && i < n; i++) {
		copy[i] = demands[i];
		copy[i].key = 0;
	}
	return copy;
}

/* What was placed last, for the demands of now; *@out is NULL without that. */
static int recall(const struct weights_last *last,
		  const struct srpol_demand *demands, uint32_t n,
		  struct srpol_placement **out)
{
	uint32_t *match;
	int ret;

	*out = NULL;
	if (!last || !last->placement)
		return 0;
	match = malloc((n + 1UL) * sizeof(*match));
	ret = match ? srpol_demands_match(last->demands, last->placement->n,
					  demands, n, match) : -ENOMEM;
	if (!ret) {
		*out = srpol_placement_carry(last->placement, match, n);
		ret = *out ? 0 : -ENOMEM;
	}
	free(match);
	return ret;
}

static void forget(struct weights_last *last)
{
	free(last->demands);
	srpol_placement_free(last->placement);
	*last = (struct weights_last){};
}

static void take_all(const struct srpol_alg *alg, struct weights_pair *pairs,
		     uint32_t n, const struct srpol_placement *p)
{
	uint32_t i, d = 0;

	for (i = 0; i < n; i++) {
		if (pairs[i].alg != alg)
			continue;
		take(&pairs[i], p->shares + p->first[d],
		     p->first[d + 1] - p->first[d]);
		d++;
	}
}

/*
 * Run all pairs of one algorithm at once: it may weigh them against each other,
 * and against other hosts' traffic, which it assumes to be placed the same way. So it
 * must not depend on what this host alone was told before: only algorithms that
 * place each demand by itself are given what is in force (@last).
 */
static int run_one(const struct weights_input *input,
		   const struct srpol_alg *alg, struct weights_last *last,
		   struct weights_pair *pairs, uint32_t n,
		   struct srpol_error *err)
{
	struct weights_demands *known = input->known;
	struct srpol_demand *demands = calloc(n + known->n + 1UL,
					      sizeof(*demands));
	bool *said = calloc(known->n + 1UL, sizeof(*said));
	struct srpol_alg_input in = {
		.fabric = input->fabric, .links = input->links,
		.demands = demands,
		/* links far away count as well: other hosts report them */
		.options.profile = SRPOL_PROFILE_MIN,
		.options.hysteresis = SRPOL_ALG_HYSTERESIS,
	};
	struct srpol_placement *p = NULL, *previous = NULL;
	struct weights_last now = {};
	int ret = demands && said ? 0 : -ENOMEM;

	if (!ret) {
		add_demands(known, alg, pairs, n, said, &in, demands);
		now.demands = without_keys(demands, in.n);
		ret = now.demands ? recall(last, now.demands, in.n,
					   &previous) : -ENOMEM;
	}
	in.previous = previous;
	ret = ret ?: srpol_alg_run(alg, &in, &p, err);
	if (!ret)
		take_all(alg, pairs, n, p);
	now.placement = p;
	if (!ret && last && !input->keep) {
		forget(last);
		*last = now;
	} else {
		forget(&now);
	}
	srpol_placement_free(previous);
	free(said);
	free(demands);
	return ret;
}

/* Makes room for what each algorithm places. */
static int prepare(struct weights_memory *memory)
{
	unsigned int n = 0;

	if (memory->n)
		return 0;
	while (srpol_alg_at(n))
		n++;
	memory->last = calloc(n, sizeof(*memory->last));
	if (!memory->last)
		return -ENOMEM;
	memory->n = n;
	return 0;
}

/**
 * weights_run() - compute the weights of all policies
 * @input: fabric, links, announced demands, and what was placed last
 * @pairs: the policies
 * @n: number of policies
 * @err: message on failure
 *
 * Return: 0 or a negative errno; some weights may have changed even then.
 */
int weights_run(const struct weights_input *input, struct weights_pair *pairs,
		uint32_t n, struct srpol_error *err)
{
	struct weights_memory *memory = input->memory;
	const struct srpol_alg *alg;
	unsigned int a;
	uint32_t i;
	int ret;

	ret = memory ? prepare(memory) : 0;
	merge(input->known);
	for (a = 0; !ret && (alg = srpol_alg_at(a)); a++) {
		for (i = 0; i < n && pairs[i].alg != alg; i++)
			;
		if (i < n)
			ret = run_one(input, alg, memory && alg->place ?
				      &memory->last[a] : NULL, pairs, n, err);
		else if (memory && !input->keep)
			forget(&memory->last[a]);
	}
	return ret;
}

/**
 * weights_forget() - forget what was placed
 * @memory: empty afterwards
 */
void weights_forget(struct weights_memory *memory)
{
	unsigned int a;

	for (a = 0; a < memory->n; a++)
		forget(&memory->last[a]);
	free(memory->last);
	*memory = (struct weights_memory){};
}
