// SPDX-License-Identifier: GPL-2.0
/*
 * The fabric as JSON, for the page. Its size is bounded, and the text stays the
 * same while nothing changes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "causes.h"
#include "forecasts.h"
#include "srpol_lib.h"
#include "tenants.h"
#include "web.h"

#define HOT_MAX		10
#define REPORTS_MAX	100
#define CHANGES_MAX	50	/* changes of weights, and changes of flows */
#define FUNCTIONS_MAX	50
#define DRAWN_MAX	512	/* cables between switches; beyond, none is
				 * drawn */

static json_t *counts_json(void)
{
	uint32_t by[SRPOL_TIERS] = {}, i, acked = 0, behind = 0;
	const struct srpol_fabric *f = fabricd.fabric;
	const struct ack *ack;

	for (i = 0; i < f->n_nodes; i++)
		by[f->nodes[i].tier]++;
	vec_for_each(ack, &fabricd.acks) {
		if (!ack->epoch || !ack_is_of_host(ack) || !plan_in_force(NULL))
			continue;
		acked += ack->epoch == plan_epoch();
		behind += ack->epoch != plan_epoch();
	}
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "hosts", (json_int_t)by[SRPOL_TIER_HOST],
			 "leaves", (json_int_t)by[SRPOL_TIER_LEAF],
			 "spines", (json_int_t)by[SRPOL_TIER_SPINE],
			 "supers", (json_int_t)by[SRPOL_TIER_SUPER],
			 "links", (json_int_t)f->n_links / 2,
			 "gpus", (json_int_t)f->n_gpus,
			 "acked", (json_int_t)acked,
			 "behind", (json_int_t)behind);
}

static void add_hot(uint32_t *hot, uint32_t *n, uint32_t link,
		    const double *loads)
{
	double s = loads_seconds(loads, link);
	uint32_t i;

	if (!s || (*n == HOT_MAX && s <= loads_seconds(loads, hot[*n - 1])))
		return;
	i = *n < HOT_MAX ? (*n)++ : *n - 1;
	for (; i && s > loads_seconds(loads, hot[i - 1]); i--)
		hot[i] = hot[i - 1];
	hot[i] = link;
}

static json_t *hot_json(const double *loads)
{
	const struct srpol_fabric *f = fabricd.fabric;
	uint32_t hot[HOT_MAX], n = 0, i;
	json_t *list = json_array();

	for (i = 0; loads && i < f->n_links; i++)
		add_hot(hot, &n, i, loads);
	for (i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:f, s:f}",
			"from", view_node(f->links[hot[i]].from),
			"to", view_node(f->links[hot[i]].to),
			"bytes", loads[hot[i]],
			"seconds", loads_seconds(loads, hot[i])));
	return list;
}

static json_t *plan_json(const double *loads)
{
	const struct srpol_planner *p = &fabricd.planner;
	double bytes = 0;
	uint32_t i;

	if (!plan_in_force(NULL) || !p->placement)
		return json_null();
	for (i = 0; i < p->n; i++)
		bytes += p->demands[i].bytes;
	return json_pack("{s:I, s:f, s:f, s:I, s:I, s:o}",
			 "demands", (json_int_t)p->n, "bytes", bytes,
			 "seconds", p->placement->prediction.seconds,
			 "unplaced",
			 (json_int_t)p->placement->prediction.unplaced,
			 "pairs", (json_int_t)fabricd.plan->n,
			 "hot", hot_json(loads));
}

/* All cables between switches, if there are few. */
static json_t *drawn_json(const double *loads)
{
	const struct srpol_fabric *f = fabricd.fabric;
	const struct srpol_links *links = loads_links();
	json_t *list = json_array();
	uint32_t i, n = 0;
	uint64_t rate;

	for (i = 0; i < f->n_links; i += 2)
		n += f->nodes[f->links[i].from].tier != SRPOL_TIER_HOST;
	for (i = 0; n <= DRAWN_MAX && i < f->n_links; i += 2) {
		if (f->nodes[f->links[i].from].tier == SRPOL_TIER_HOST)
			continue;
		rate = srpol_link_rate(&f->links[i]);
		json_array_append_new(list, json_pack(
			"{s:s, s:s, s:I, s:I, s:f, s:f}",
			"from", view_node(f->links[i].from),
			"to", view_node(f->links[i].to),
			"rate", (json_int_t)rate, "capacity",
			(json_int_t)(links ? links->links[i].capacity : rate),
			"busy_s", loads ? fmax(loads_seconds(loads, i),
				     loads_seconds(loads, i + 1)) : 0,
			"used", fmax(view_used(i), view_used(i + 1))));
	}
	return list;
}

static int newest_first(const void *a, const void *b)
{
	const struct input *x = *(const struct input * const *)a;
	const struct input *y = *(const struct input * const *)b;

	return x->heard != y->heard ? (x->heard < y->heard ? 1 : -1) :
	       strcmp(x->key, y->key);
}

static json_t *reports_json(void)
{
	const struct input **sorted, *report;
	json_t *list = json_array();
	size_t n = 0, i;

	sorted = store_alloc((fabricd.reports.n + 1) * sizeof(*sorted));
	vec_for_each(report, &fabricd.reports)
		sorted[n++] = report;
	qsort(sorted, n, sizeof(*sorted), newest_first);
	for (i = 0; i < n && i < REPORTS_MAX; i++)
		json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I}",
			"host", strrchr(sorted[i]->key, '/') + 1,
			"number", (json_int_t)sorted[i]->number,
			"links", (json_int_t)(sorted[i]->links.n +
					      sorted[i]->suspicions.n),
			"at", (json_int_t)sorted[i]->heard));
	free(sorted);
	return json_pack("{s:I, s:o}", "n", (json_int_t)n, "list", list);
}

static void add_weights(void *data, const struct srpol_plan_change *c)
{
	if (json_array_size(data) < CHANGES_MAX)
		report_add_change(data, c);
}

static void add_flows(void *data, const struct srpol_flows_change *c)
{
	if (json_array_size(data) < CHANGES_MAX)
		flows_add_change(data, c);
}

static json_t *change_json(void)
{
	json_t *change, *weights, *flows;

	if (!plan_in_force(NULL))
		return json_null();
	change = causes_json();
	if (!json_is_object(change))
		return change;
	weights = json_array();
	flows = json_array();
	if (fabricd.before) {
		srpol_plan_diff(fabricd.before, fabricd.plan, add_weights,
				weights);
		srpol_flows_diff(fabricd.before, fabricd.plan, add_flows,
				 flows);
	}
	json_object_set_new(change, "weights", weights);
	json_object_set_new(change, "flows", flows);
	return change;
}

/**
 * view_state() - everything except what view_block() returns
 */
json_t *view_state(void)
{
	const double *loads = loads_get();
	json_t *o = json_object();

	loads_look();
	view_jobs_read();
	json_object_set_new(o, "engine", report_engine());
	json_object_set_new(o, "stats", report_stats());
	json_object_set_new(o, "counts", counts_json());
	json_object_set_new(o, "plan", plan_json(loads));
	json_object_set_new(o, "tiers", view_tiers());
	json_object_set_new(o, "links", drawn_json(loads));
	json_object_set_new(o, "load", view_loads(loads));
	json_object_set_new(o, "failures", view_failures());
	json_object_set_new(o, "change", change_json());
	json_object_set_new(o, "jobs", view_jobs());
	json_object_set_new(o, "tenants", view_tenants());
	json_object_set_new(o, "forecasts", forecasts_json());
	json_object_set_new(o, "functions", json_pack("{s:I, s:o}",
			    "n", (json_int_t)fabricd.fabric->n_functions,
			    "list", functions_json(FUNCTIONS_MAX)));
	json_object_set_new(o, "reports", reports_json());
	return o;
}
