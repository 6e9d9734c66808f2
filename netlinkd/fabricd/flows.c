// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs that say how many flows they send: each flow gets a path, beside what all
 * others send by the rest of the plan.
 */
#include <errno.h>
#include <stdlib.h>

#include "srpol_lib.h"
#include "tenants.h"

static const struct input *job_at(const struct workload *w, uint32_t i)
{
	return w->job[i] == SRPOL_NONE ? NULL :
	       (struct input *)fabricd.jobs.data + w->job[i];
}

static const struct tenant *tenant_of(const struct input *job)
{
	char tenant[SRPOL_NAME_LEN], name[SRPOL_NAME_LEN];

	job_names(job, tenant, name);
	return tenant_find(tenant);
}

/* Bytes that all but these flows put on links. */
static int others_load(const struct srpol_links *links,
		       const struct srpol_plan *plan, double *load)
{
	struct srpol_demand *list;
	const struct input *job;
	struct workload w;
	uint32_t i, n = 0;
	int ret = workload_read(WORKLOAD_ALL, NULL, &w);

	if (ret)
		return ret;
	list = w.demands.list;
	for (i = 0; i < w.demands.n; i++) {
		job = job_at(&w, i);
		if (!job || !workload_has_paths(job))
			list[n++] = list[i];
	}
	ret = srpol_planned_load(fabricd.fabric, links, plan, list, n, load);
	workload_free(&w);
	return ret;
}

/* They go to the policies of the tenant's color, on its paths. */
static void set_tenants(struct workload *w, const bool **allowed)
{
	const struct tenant *tenant;
	uint32_t i;

	for (i = 0; i < w->demands.n; i++) {
		tenant = tenant_of(job_at(w, i));
		w->demands.list[i].color = tenant ? tenant->color : 0;
		allowed[i] = tenant ? tenant->allowed : NULL;
	}
}

static int place(const struct srpol_links *links, struct workload *w,
		 struct srpol_plan *plan)
{
	const bool **allowed = calloc(w->demands.n, sizeof(*allowed));
	double *load = calloc(links->n + 1UL, sizeof(*load));
	struct srpol_flows_input in = {
		.fabric = fabricd.fabric, .links = links,
		.demands = w->demands.list, .allowed = allowed,
		.n = w->demands.n, .load = load, .before = fabricd.plan,
	};
	int ret = allowed && load ? others_load(links, plan, load) : -ENOMEM;

	if (!ret) {
		set_tenants(w, allowed);
		ret = srpol_flows_place(&in, plan);
	}
	free(allowed);
	free(load);
	return ret;
}

/**
 * flows_add() - paths of all flows of jobs that say how many they are
 * @links: state of the links
 * @plan: what all others are told; gets them
 */
int flows_add(const struct srpol_links *links, struct srpol_plan *plan)
{
	struct workload w;
	int ret = workload_read(WORKLOAD_FLOWS, NULL, &w);

	if (!ret && w.demands.n)
		ret = place(links, &w, plan);
	workload_free(&w);
	return ret;
}

static json_t *paths_json(const struct srpol_flows *flows, uint32_t n)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:I, s:I}",
			"path", (json_int_t)flows[i].path,
			"flows", (json_int_t)flows[i].n));
	return list;
}

static json_t *who_json(uint32_t src, uint32_t dst, uint32_t color)
{
	const struct srpol_gpu *a = &fabricd.fabric->gpus[src];
	const struct srpol_gpu *b = &fabricd.fabric->gpus[dst];

	return json_pack("{s:s, s:I, s:s, s:I, s:I}",
			 "src", node_name(a->host), "rail", (json_int_t)a->rail,
			 "dst", node_name(b->host), "dst_rail",
			 (json_int_t)b->rail, "color", (json_int_t)color);
}

/**
 * flows_json() - paths of flows
 * @plan: plan
 * @from: only those of GPUs whose first NIC is below this leaf, SRPOL_NONE: all
 */
json_t *flows_json(const struct srpol_plan *plan, uint32_t from)
{
	const struct srpol_flows *flows = plan->flows;
	json_t *list = json_array(), *o;
	const struct srpol_gpu *gpu;
	uint32_t i, n;

	for (i = 0; i < plan->n_flows; i += n) {
		n = srpol_flows_alike(plan, i);
		gpu = &fabricd.fabric->gpus[flows[i].src];
		if (from != SRPOL_NONE &&
		    fabricd.fabric->nics[gpu->nic].leaf != from)
			continue;
		o = who_json(flows[i].src, flows[i].dst, flows[i].color);
		json_object_set_new(o, "paths", paths_json(&flows[i], n));
		json_array_append_new(list, o);
	}
	return list;
}

/**
 * flows_add_change() - two GPUs whose flows plans differ in
 * @data: list
 * @c: change
 */
void flows_add_change(void *data, const struct srpol_flows_change *c)
{
	json_t *o = who_json(c->src, c->dst, c->color);

	json_object_set_new(o, "before", paths_json(c->old, c->n_old));
	json_object_set_new(o, "after", paths_json(c->new, c->n_new));
	json_array_append_new(data, o);
}

/**
 * flows_on_path() - how many flows between two GPUs are to take a path
 * @plan: plan
 * @key: GPUs, color and path
 */
uint32_t flows_on_path(const struct srpol_plan *plan,
		       const struct srpol_flows *key)
{
	const struct srpol_flows *f;
	uint32_t n, i;

	f = srpol_flows_find(plan, key->src, key->dst, key->color, &n);
	for (i = 0; i < n; i++)
		if (f[i].path == key->path)
			return f[i].n;
	return 0;
}
