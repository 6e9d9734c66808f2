// SPDX-License-Identifier: LGPL-2.1
/*
 * Demands that ask for a function: the paths they may take are those that pass
 * a switch that offers it. Algorithms weigh them like any other, by all of the
 * demand's bytes: what a function does is not known, and links do not get too
 * hot if it does nothing.
 */
#include <errno.h>
#include <stdio.h>

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
 * srpol_demand_check() - does some path, up or not, do what a demand asks for?
 * @f: finished fabric
 * @d: demand
 * @err: that none does, and which switches would
 *
 * O(paths) for a demand that asks for a function.
 *
 * Return: 0, -ENOENT, -ENOMEM.
 */
int srpol_demand_check(const struct srpol_fabric *f,
		       const struct srpol_demand *d, struct srpol_error *err)
{
	char switches[5 * SRPOL_NAME_LEN] = "";
	struct srpol_path_set set;
	struct srpol_route route;
	bool found = false;
	uint32_t i;
	int rc;

	if (!d->via || f->gpus[d->src].host == f->gpus[d->dst].host)
		return 0;
	rc = srpol_path_set_init(f, d->src, d->dst, &set);
	if (rc)
		return rc;
	for (i = 0; i < set.n && !found; i++) {
		srpol_path_get(f, &set, i, &route);
		found = srpol_route_offers(f, &route, d->via);
	}
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
