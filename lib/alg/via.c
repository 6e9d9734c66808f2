// SPDX-License-Identifier: LGPL-2.1
/*
 * Demands that ask for a function: the paths they may take are those that pass
 * a switch that offers it. Algorithms weigh them like any other, by all of the
 * demand's bytes: what a function does is not known, and links do not get too
 * hot if it does nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "alg.h"
#include "srpol_lib.h"

/**
 * srpol_demand_may() - may a demand take a path, up or not?
 * @in: input
 * @d: demand
 * @route: path
 */
bool srpol_demand_may(const struct srpol_alg_input *in, uint32_t d,
		      const struct srpol_route *route)
{
	return srpol_route_offers(in->fabric, route, in->demands[d].via);
}

/**
 * srpol_demand_capacity() - the least capacity on a path that a demand may take
 * @in: input
 * @d: demand
 * @route: path
 *
 * Return: bit/s, 0 when a link is down or the demand may not take the path.
 */
uint64_t srpol_demand_capacity(const struct srpol_alg_input *in, uint32_t d,
			       const struct srpol_route *route)
{
	return srpol_demand_may(in, d, route) ?
	       srpol_route_capacity(in->links, route) : 0;
}

/* Names of switches that offer what is asked for, as far as there is room. */
static void name_switches(const struct srpol_fabric *f, uint32_t via,
			  char *text, size_t len)
{
	uint32_t i, n = 0;
	size_t used = 0;

	for (i = 0; i < f->n_functions; i++) {
		if (!srpol_function_is(f, i, via))
			continue;
		if (++n > 4) {
			snprintf(text + used, len - used, ", ...");
			return;
		}
		used += snprintf(text + used, len - used, "%s%s",
				 n > 1 ? ", " : "", f->nodes[f->functions[i].node].name);
	}
}

/**
 * struct offers - where what is asked for is
 * @by_node: does it offer that?
 * @shape: a spine above leaves of this shape does, SRPOL_NONE: none is known of
 */
struct offers {
	bool *by_node;
	uint32_t shape;
};

static bool *who_offers(const struct srpol_fabric *f, uint32_t via)
{
	bool *by_node = calloc(f->n_nodes + 1UL, sizeof(*by_node));
	uint32_t i;

	for (i = 0; by_node && i < f->n_functions; i++)
		if (srpol_function_is(f, i, via))
			by_node[f->functions[i].node] = true;
	return by_node;
}

static bool walk_fan(const struct srpol_fabric *f, const struct srpol_fan *fan,
		     const bool *by_node)
{
	uint32_t links[4], n, i, k;

	for (i = 0; i < fan->n; i++) {
		n = srpol_fan_links(f, fan, i, links);
		for (k = 0; k < n; k++)
			if (by_node[f->links[links[k]].to])
				return true;
	}
	return false;
}

/* Leaves of one shape have the same spines: one walk is enough for all of them. */
static bool fan_offers(const struct srpol_fabric *f,
		       const struct srpol_fan *fan, struct offers *offers)
{
	uint32_t shape = f->nodes[fan->from].shape;

	if (!fan->n || offers->by_node[fan->from] || offers->by_node[fan->to])
		return fan->n;
	if (fan->turn == SRPOL_TURN_SPINE && shape == offers->shape)
		return true;
	if (!walk_fan(f, fan, offers->by_node))
		return false;
	if (fan->turn == SRPOL_TURN_SPINE)
		offers->shape = shape;
	return true;
}

static int check_one(const struct srpol_fabric *f, const struct srpol_demand *d,
		     struct offers *offers, struct srpol_error *err)
{
	char switches[5 * SRPOL_NAME_LEN] = "";
	struct srpol_path_set set;
	bool found = false;
	uint32_t i;
	int rc;

	if (f->gpus[d->src].host == f->gpus[d->dst].host)
		return 0;
	rc = srpol_path_set_init(f, d->src, d->dst, &set);
	if (rc)
		return rc;
	for (i = 0; i < set.pairs && !found; i++)
		found = fan_offers(f, &set.pair[i].fan, offers);
	srpol_path_set_free(&set);
	if (found)
		return 0;
	name_switches(f, d->via, switches, sizeof(switches));
	return srpol_error_set(err, -ENOENT,
			       "no path from %s to %s passes a switch that offers \"%s\": %s",
			       f->nodes[f->gpus[d->src].host].name,
			       f->nodes[f->gpus[d->dst].host].name,
			       srpol_via_name(f, d->via), switches);
}

/**
 * srpol_demands_check() - do paths, up or not, do what demands ask for?
 * @f: finished fabric
 * @demands: demands, all of which ask for the same function
 * @n: number of them
 * @err: of which none does, and which switches would
 *
 * O(paths) for each of them, but for leaves that have the same spines.
 *
 * Return: 0, -ENOENT, -ENOMEM.
 */
int srpol_demands_check(const struct srpol_fabric *f,
			const struct srpol_demand *demands, uint32_t n,
			struct srpol_error *err)
{
	struct offers offers = { .shape = SRPOL_NONE };
	uint32_t i;
	int ret = 0;

	if (n) {
		offers.by_node = who_offers(f, demands[0].via);
		ret = offers.by_node ? 0 : -ENOMEM;
	}
	for (i = 0; i < n && !ret; i++)
		ret = check_one(f, &demands[i], &offers, err);
	free(offers.by_node);
	return ret;
}
