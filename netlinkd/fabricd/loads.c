// SPDX-License-Identifier: GPL-2.0
/*
 * Links as hosts report them, and what the plan in force puts on them; made when
 * somebody looks. What the planner has of links is not shown: it may be less.
 */
#include <stdlib.h>

#include "web.h"

static struct srpol_links *links;
static double *loads;
static uint64_t of_plan;

/**
 * loads_look() - links as they are now
 *
 * Return: NULL without memory; good until the next call.
 */
const struct srpol_links *loads_look(void)
{
	srpol_links_free(links);
	links = inputs_links();
	return links;
}

/**
 * loads_links() - links as they were when somebody looked last
 */
const struct srpol_links *loads_links(void)
{
	return links;
}

/**
 * loads_get() - bytes per directed link
 *
 * Return: NULL if this engine has no plan, or without memory; good until the
 * next call.
 */
const double *loads_get(void)
{
	const struct srpol_planner *p = &fabricd.planner;
	struct srpol_alg_input in = {
		.fabric = p->fabric, .links = p->links, .demands = p->demands,
		.n = p->n,
	};

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
 * loads_seconds() - how long a link is busy with what is planned for it
 * @loads: of loads_get()
 * @link: link
 */
double loads_seconds(const double *loads, uint32_t link)
{
	uint64_t capacity = links ? links->links[link].capacity : 0;

	return capacity ? 8 * loads[link] / capacity : 0;
}

/**
 * loads_free() - forget them
 */
void loads_free(void)
{
	srpol_links_free(links);
	links = NULL;
	free(loads);
	loads = NULL;
}
