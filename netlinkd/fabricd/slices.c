// SPDX-License-Identifier: GPL-2.0
/*
 * Planners of tenants that have their own paths, or whose jobs pass a function:
 * their demands keep their paths when others come or go, like those of all
 * other tenants.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tenants.h"

/**
 * struct slice - what is planned for a tenant by itself
 * @tenant: name of the tenant
 * @planner: plan in force for its demands
 */
struct slice {
	char tenant[SRPOL_NAME_LEN];
	struct srpol_planner planner;
};

static struct vec slices = VEC_INIT(struct slice);

static struct slice *find(const char *tenant)
{
	struct slice *slice;

	vec_for_each(slice, &slices)
		if (!strcmp(slice->tenant, tenant))
			return slice;
	return NULL;
}

static struct srpol_planner empty(void)
{
	return (struct srpol_planner){
		.fabric = fabricd.fabric, .alg = fabricd.config.alg,
		.options = fabricd.planner.options,
	};
}

/* The plan of a planner, to be freed by itself. */
static int copy_plan(const struct srpol_planner *planner,
		     struct srpol_plan **out)
{
	struct srpol_alg_input in = {
		.fabric = planner->fabric, .links = planner->links,
		.demands = planner->demands, .n = planner->n,
	};

	*out = srpol_plan_new(&in, planner->placement);
	return *out ? 0 : -ENOMEM;
}

/**
 * slice_plan() - plan the demands of a tenant by themselves
 * @tenant: the tenant
 * @links: capacities of the links that it may use, 0 for others
 * @w: its demands
 * @out: result, to be freed
 *
 * The next plan follows this one.
 */
int slice_plan(const struct tenant *tenant, const struct srpol_links *links,
	       const struct workload *w, struct srpol_plan **out)
{
	struct slice *slice = find(tenant->name);

	if (!slice) {
		slice = vec_add(&slices);
		strcpy(slice->tenant, tenant->name);
		slice->planner = empty();
	}
	return srpol_planner_run(&slice->planner, links, w->demands.list,
				 w->demands.n, NULL) ?:
	       copy_plan(&slice->planner, out);
}

/**
 * slice_try() - like slice_plan(), but no plan follows this one
 * @tenant: the tenant
 * @links: capacities of the links that it may use, 0 for others
 * @w: its demands, used if it has not been planned for
 * @out: result, to be freed
 */
int slice_try(const struct tenant *tenant, const struct srpol_links *links,
	      const struct workload *w, struct srpol_plan **out)
{
	struct slice *slice = find(tenant->name);
	struct srpol_planner trial = empty();
	int ret;

	if (slice && slice->planner.plan)
		ret = srpol_planner_try(&slice->planner, links, &trial, NULL);
	else
		ret = srpol_planner_run(&trial, links, w->demands.list,
					w->demands.n, NULL);
	ret = ret ?: copy_plan(&trial, out);
	srpol_planner_free(&trial);
	return ret;
}

/**
 * slices_sweep() - forget tenants that are not planned for by themselves
 */
void slices_sweep(void)
{
	struct slice *slice, *to = slices.data;
	const struct tenant *tenant;

	vec_for_each(slice, &slices) {
		tenant = tenant_find(slice->tenant);
		if (tenant && (tenant->allowed || via_of_tenant(tenant->name)))
			*to++ = *slice;
		else
			srpol_planner_free(&slice->planner);
	}
	slices.n = to - (struct slice *)slices.data;
}

/**
 * slices_free() - forget all tenants
 */
void slices_free(void)
{
	struct slice *slice;

	vec_for_each(slice, &slices)
		srpol_planner_free(&slice->planner);
	vec_free(&slices);
}
