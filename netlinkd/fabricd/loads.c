// SPDX-License-Identifier: GPL-2.0
/*
 * Links as hosts report them, and the load that the plan in force puts on them,
 * computed on demand. The planner's own copy of the links is not shown, as its
 * capacities may be lower.
 */
#include <stdlib.h>

#include "web.h"

static struct srpol_links *links;
static double *loads;
static uint64_t of_plan;

/**
 * loads_look() - read the current state of links
 *
 * Return: valid until the next call; NULL without memory.
 */
const struct srpol_links *loads_look(void)
{
	srpol_links_free(links);
	links = inputs_links();
	return links;
}

/**
 * loads_links() - state of links at the last loads_look()
 */
const struct srpol_links *loads_links(void)
{
	return links;
}

/**
 * loads_get() - planned bytes by directed link
 *
 * Return: valid until the next call; NULL if this engine has no plan, or
 * without memory.
 */
const double *loads_get(void)
{
	const struct srpol_planner *p = &fabricd.planner;
	struct srpol_alg_input in = {
		.fabric = p->fabric, .links = p->links, .demands = p->demands,
		.n = p->n,
	};

	if (!plan_in_force(NULL))
		return NULL;
	if (loads && of_plan == fabricd.stats.plans)
		return loads;
	free(loads);
	loads = NULL;
	if (!p->placement)
		return NULL;
	loads = calloc(p->fabric->n_links + 1UL, sizeof(*loads));
	if (loads && srpol_placement_load(&in, p->placement, loads)) {
		free(loads);
		loads = NULL;
	}
	of_plan = fabricd.stats.plans;
	return loads;
}

/**
 * loads_seconds() - time in seconds that a link needs for its planned load
 * @loads: result of loads_get()
 * @link: directed link
 */
double loads_seconds(const double *loads, uint32_t link)
{
	uint64_t capacity = links ? links->links[link].capacity : 0;

	return capacity ? 8 * loads[link] / capacity : 0;
}

/**
 * loads_free() - free loads and links
 */
void loads_free(void)
{
	srpol_links_free(links);
	links = NULL;
	free(loads);
	loads = NULL;
}
