// SPDX-License-Identifier: GPL-2.0
/* What the plan in force puts on links; made when somebody looks. */
#include <stdlib.h>

#include "web.h"

static double *loads;
static uint64_t of_plan;

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
	loads_free();
	if (!p->placement)
		return NULL;
	loads = calloc(p->fabric->n_links + 1UL, sizeof(*loads));
	if (loads && srpol_placement_load(&in, p->placement, loads))
		loads_free();
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
	uint64_t capacity = fabricd.planner.links->links[link].capacity;

	return capacity ? 8 * loads[link] / capacity : 0;
}

/**
 * loads_free() - forget them
 */
void loads_free(void)
{
	free(loads);
	loads = NULL;
}
