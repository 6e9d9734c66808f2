// SPDX-License-Identifier: LGPL-2.1
/*
 * Demands that ask for a function may take only paths through a switch that
 * offers it. Algorithms count all bytes of such a demand on all links of a
 * path: what the function does is not known, and so links are not overloaded
 * even if it does nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "alg.h"
#include "srpol_lib.h"

/**
 * srpol_demand_may() - may a demand take a path? Link states do not matter
 * @in: input of the algorithm
 * @d: index of the demand
 * @route: the path
 */
bool srpol_demand_may(const struct srpol_alg_input *in, uint32_t d,
		      const struct srpol_route *route)
{
	return srpol_route_offers(in->fabric, route, in->demands[d].via);
}

/**
 * srpol_demand_capacity() - capacity of a path for a demand
 * @in: input of the algorithm
 * @d: index of the demand
 * @route: the path
 *
 * Return: the lowest capacity of its links in bit/s; 0 if a link is down or the
 * demand may not take the path.
 */
uint64_t srpol_demand_capacity(const struct srpol_alg_input *in, uint32_t d,
			       const struct srpol_route *route)
{
	return srpol_demand_may(in, d, route) ?
	       srpol_route_capacity(in->links, route) : 0;
}

/* Lists the names of up to four switches that offer the function. */
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
 * struct offers - where the requested function is offered
 * @by_node: by node: whether it offers the function
 * @shape: shape of leaves one of whose spines is known to offer it; SRPOL_NONE:
 *	no such shape is known
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

/*
 * Whether a path between two leaves passes the function. Leaves of one shape
 * have the same spines, so the result for one pair of them holds for all.
 */
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
 * srpol_demands_check() - check that each demand has a path through the
 *	function it asks for
 * @f: finished fabric
 * @demands: demands, which all ask for the same function
 * @n: number of @demands
 * @err: reason of a failure: the GPUs' hosts, and switches that offer the
 *	function
 *
 * Link states do not matter. O(paths) per demand, except that leaves with the
 * same spines are checked once.
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
