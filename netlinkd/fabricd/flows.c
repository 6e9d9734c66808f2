// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs that tell how many flows they send: each flow gets a path of its own,
 * taking into account what all others send according to the rest of the plan.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"
#include "tenants.h"

/*
 * This many below a leaf fit into a value of the store, whatever their names.
 */
#define FLOWS_FIT	2000

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

/* Color of the policies that packets of the tenant's jobs take. */
static uint32_t color_of(const struct tenant *tenant)
{
	return tenant ? tenant->color : 0;
}

/**
 * struct others - traffic other than flows
 * @demands: its demands, except those with a reservation
 * @pairs: struct srpol_flows: GPUs and colors of jobs' demands in it, sorted
 */
struct others {
	struct srpol_demands demands;
	struct vec pairs;
};

static int by_pair(const void *a, const void *b)
{
	return srpol_flows_order(a, b);
}

static int others_read(struct others *o)
{
	const struct srpol_demand *d;
	const struct input *job;
	struct workload w;
	bool reserved;
	uint32_t i;
	int ret = workload_read(WORKLOAD_ALL, NULL, &w);

	*o = (struct others){ .pairs = VEC_INIT(struct srpol_flows) };
	if (ret)
		return ret;
	o->demands.list = store_alloc((w.demands.n + 1) * sizeof(*d));
	for (i = 0; i < w.demands.n; i++) {
		d = &w.demands.list[i];
		job = job_at(&w, i);
		reserved = job && workload_is_reserved(job);
		if (job && job->flows && !reserved)
			continue;
		if (job)
			*(struct srpol_flows *)vec_add(&o->pairs) =
				(struct srpol_flows){
					.src = d->src, .dst = d->dst,
					.color = color_of(tenant_of(job)),
				};
		if (!reserved)
			o->demands.list[o->demands.n++] = *d;
	}
	workload_free(&w);
	if (o->pairs.n)
		qsort(o->pairs.data, o->pairs.n, o->pairs.size, by_pair);
	return 0;
}

static void others_free(struct others *o)
{
	srpol_demands_free(&o->demands);
	vec_free(&o->pairs);
}

static bool others_send(const struct others *o, const struct srpol_demand *d)
{
	const struct srpol_flows key = {
		.src = d->src, .dst = d->dst, .color = d->color,
	};

	return o->pairs.n && bsearch(&key, o->pairs.data, o->pairs.n,
				     o->pairs.size, by_pair);
}

/*
 * Flows belong to policies of the tenant's color and use its paths. A policy
 * has weights for all of its traffic: if a job without a number of flows sends
 * between the same GPUs in the same color, the policy has that job's weights.
 */
static uint32_t take_flows(const struct workload *w, const struct others *o,
			   struct srpol_demand *list, const bool **allowed)
{
	const struct tenant *tenant;
	uint32_t i, n = 0;

	for (i = 0; i < w->demands.n; i++) {
		tenant = tenant_of(job_at(w, i));
		list[n] = w->demands.list[i];
		list[n].color = color_of(tenant);
		allowed[n] = tenant ? tenant->allowed : NULL;
		n += !others_send(o, &list[n]);
	}
	return n;
}

static uint32_t leaf_of(const struct srpol_flows *flows)
{
	const struct srpol_fabric *f = fabricd.fabric;

	return f->nics[f->gpus[flows->src].nic].leaf;
}

static int fits_store(const struct srpol_plan *plan, uint32_t leaf, bool *fits)
{
	char *text = srpol_chunk_write(fabricd.fabric, plan, leaf);

	if (!text)
		return -ENOMEM;
	*fits = strlen(text) < STORE_VALUE_MAX;
	free(text);
	return 0;
}

/*
 * Flows that do not fit into the store are not published: paths of all flows
 * from below such a leaf are left to the hosts, and the plan does not contain
 * them.
 */
static int leave_to_hosts(struct srpol_plan *plan)
{
	static uint32_t leaves_before;
	uint32_t nodes = fabricd.fabric->n_nodes, leaf, i, n = 0, leaves = 0;
	uint32_t *told = store_alloc((nodes + 1UL) * sizeof(*told));
	bool fits;
	int ret = 0;

	for (i = 0; i < plan->n_flows; i++)
		told[leaf_of(&plan->flows[i])]++;
	for (leaf = 0; leaf < nodes && !ret; leaf++) {
		fits = true;
		if (told[leaf] > FLOWS_FIT)
			ret = fits_store(plan, leaf, &fits);
		if (fits)
			continue;
		told[leaf] = 0;
		leaves++;
	}
	for (i = 0; i < plan->n_flows; i++)
		if (told[leaf_of(&plan->flows[i])])
			plan->flows[n++] = plan->flows[i];
	plan->n_flows = n;
	free(told);
	if (leaves && leaves != leaves_before)
		log_error("flows from below %u leaves are too many to tell: their hosts choose the paths",
			  leaves);
	leaves_before = leaves;
	return ret;
}

static int place(const struct srpol_links *links, const struct workload *w,
		 const struct others *o, struct srpol_plan *plan)
{
	struct srpol_demand *list = store_alloc((w->demands.n + 1) *
						sizeof(*list));
	const bool **allowed = store_alloc((w->demands.n + 1) *
					   sizeof(*allowed));
	double *load = store_alloc((links->n + 1) * sizeof(*load));
	struct srpol_flows_input in = {
		.fabric = fabricd.fabric, .links = links, .demands = list,
		.allowed = allowed, .load = load, .before = fabricd.plan,
	};
	int ret;

	in.n = take_flows(w, o, list, allowed);
	ret = srpol_planned_load(fabricd.fabric, links, plan, o->demands.list,
				 o->demands.n, load) ?:
	      srpol_flows_place(&in, plan) ?: leave_to_hosts(plan);
	free(list);
	free(allowed);
	free(load);
	return ret;
}

/**
 * flows_add() - choose paths for all flows of jobs that tell their number
 * @links: capacities that reservations leave
 * @plan: plan for all other traffic; flows are added to it
 *
 * Flows of leaves whose chunk would be too large for the store are left out.
 */
int flows_add(const struct srpol_links *links, struct srpol_plan *plan)
{
	struct workload w;
	struct others others;
	int ret = workload_read(WORKLOAD_FLOWS, NULL, &w);

	if (!ret && w.demands.n) {
		ret = others_read(&others);
		if (!ret)
			ret = place(links, &w, &others, plan);
		others_free(&others);
	}
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
 * flows_json() - paths of flows as JSON
 * @plan: plan
 * @from: leaf below which the source GPU's first NIC is, SRPOL_NONE: any
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
 * flows_add_change() - append to a list two GPUs whose flows differ between
 * plans
 * @data: JSON list
 * @c: the difference
 */
void flows_add_change(void *data, const struct srpol_flows_change *c)
{
	json_t *o = who_json(c->src, c->dst, c->color);

	json_object_set_new(o, "before", paths_json(c->old, c->n_old));
	json_object_set_new(o, "after", paths_json(c->new, c->n_new));
	json_array_append_new(data, o);
}

/**
 * flows_on_path() - number of flows between two GPUs that are to take a path
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
