// SPDX-License-Identifier: GPL-2.0
/*
 * Assembles the plan. Reservations come first: pairs with a tenant's color have
 * the weights of its reservation. Then demands without a reservation of tenants
 * that have their own paths, or whose jobs pass a function: they have the
 * tenant's color too, and use these paths only. All other demands are placed by
 * the algorithm on the capacities that reservations leave. Flows with paths of
 * their own come last (flows.c), where all others leave room.
 */
#include <errno.h>
#include <stdlib.h>

#include "tenants.h"

#define FLOOR	16	/* 1/FLOOR of a link is left, however much is
			 * reserved */

/**
 * whole_links() - capacities that reservations leave
 * @links: state of the links
 * @ledger: the reservations
 *
 * Return: to be freed, NULL without memory.
 */
struct srpol_links *whole_links(const struct srpol_links *links,
				const struct srpol_ledger *ledger)
{
	struct srpol_links *left = srpol_links_copy(links);
	double *load = calloc(links->n + 1UL, sizeof(*load)), rest, least;
	uint32_t i;

	if (!left || !load || srpol_ledger_load(ledger, load)) {
		srpol_links_free(left);
		free(load);
		return NULL;
	}
	for (i = 0; i < links->n; i++) {
		if (!load[i])
			continue;
		least = links->links[i].capacity / FLOOR;
		rest = links->links[i].capacity - load[i];
		left->links[i].capacity = rest > least ? rest : least;
	}
	free(load);
	return left;
}

static struct srpol_links *allowed_links(const struct srpol_links *links,
					 const struct tenant *tenant)
{
	struct srpol_links *part = srpol_links_copy(links);
	uint32_t i;

	for (i = 0; part && tenant->allowed && i < part->n; i++)
		if (!tenant->allowed[i])
			part->links[i].capacity = 0;
	return part;
}

/*
 * Place the demands of a tenant with its own paths. The next plan follows this
 * one if it is to be @in_force.
 */
static int place_slice(const struct tenant *tenant,
		       const struct srpol_links *links, bool in_force,
		       struct srpol_plan **out)
{
	struct srpol_links *part = allowed_links(links, tenant);
	struct workload w = {};
	int ret;

	*out = NULL;
	ret = part ? workload_read(WORKLOAD_SLICED, tenant, &w) : -ENOMEM;
	if (!ret)
		ret = in_force ? slice_plan(tenant, part, &w, out) :
				 slice_try(tenant, part, &w, out);
	srpol_links_free(part);
	workload_free(&w);
	return ret;
}

static void add_part(struct vec *parts, struct srpol_plan *plan, uint32_t color)
{
	*(struct srpol_plan_part *)vec_add(parts) =
		(struct srpol_plan_part){ plan, color };
}

static int add_reserved(const struct srpol_ledger *ledger, struct vec *parts)
{
	const struct srpol_plan_part *part;
	struct srpol_plan *plan;
	uint32_t i, color;

	for (i = 0; i < ledger->n; i++) {
		color = ledger->holds[i].color;
		vec_for_each(part, parts)
			if (part->color == color)
				break;
		if (part && part != (struct srpol_plan_part *)parts->data +
				    parts->n)
			continue;
		plan = srpol_ledger_plan(ledger, color);
		if (!plan)
			return -ENOMEM;
		add_part(parts, plan, color);
	}
	return 0;
}

/**
 * whole_plan() - assemble all parts of the plan
 * @base: plan for demands with neither a reservation nor their own paths; that
 *	of the engine itself if the plan is to be in force
 * @links: state of the links
 * @ledger: the reservations
 * @out: result, to be freed
 */
int whole_plan(const struct srpol_planner *base,
	       const struct srpol_links *links,
	       const struct srpol_ledger *ledger, struct srpol_plan **out)
{
	struct vec parts = VEC_INIT(struct srpol_plan_part);
	bool in_force = base == &fabricd.planner;
	const struct srpol_plan_part *part;
	const struct tenant *tenant;
	struct srpol_links *left;
	struct srpol_plan *plan;
	int ret;

	/* of a pair with both, the first part counts: the reservation */
	ret = add_reserved(ledger, &parts);
	vec_for_each(tenant, tenants_all()) {
		if (ret || (!tenant->allowed && !via_of_tenant(tenant->name)))
			continue;
		ret = place_slice(tenant, links, in_force, &plan);
		if (!ret)
			add_part(&parts, plan, tenant->color);
	}
	if (in_force)
		slices_sweep();
	add_part(&parts, base->plan, 0);
	*out = ret ? NULL : srpol_plan_join(parts.data, parts.n);
	parts.n--;
	vec_for_each(part, &parts)
		srpol_plan_free((struct srpol_plan *)part->plan);
	vec_free(&parts);
	left = ret ? NULL : whole_links(links, ledger);
	ret = ret ?: *out && left ? flows_add(left, *out) : -ENOMEM;
	srpol_links_free(left);
	if (ret) {
		srpol_plan_free(*out);
		*out = NULL;
	}
	return ret;
}
