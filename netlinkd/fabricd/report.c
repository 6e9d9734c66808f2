// SPDX-License-Identifier: GPL-2.0
/* What srpol fabric shows. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fabricd.h"
#include "srpol_lib.h"

static const char *node_name(uint32_t node)
{
	return fabricd.fabric->nodes[node].name;
}

static json_t *reports_json(void)
{
	json_t *list = json_array(), *links;
	const struct input_link *said;
	const struct srpol_link *link;
	const struct input *report;

	vec_for_each(report, &fabricd.reports) {
		links = json_array();
		vec_for_each(said, &report->links) {
			link = &fabricd.fabric->links[2 * said->cable];
			json_array_append_new(links,
				json_pack("{s:s, s:s, s:I}", "from",
					  node_name(link->from), "to",
					  node_name(link->to), "capacity",
					  (json_int_t)said->capacity));
		}
		json_array_append_new(list, json_pack("{s:s, s:I, s:o}",
			"host", strrchr(report->key, '/') + 1, "number",
			(json_int_t)report->number, "links", links));
	}
	return list;
}

static json_t *jobs_json(void)
{
	json_t *list = json_array();
	const struct input *job;

	vec_for_each(job, &fabricd.jobs)
		json_array_append_new(list, json_string(job->key +
							strlen("job/")));
	return list;
}

static json_t *hosts_json(void)
{
	json_t *list = json_array();
	const struct ack *ack;

	vec_for_each(ack, &fabricd.acks)
		json_array_append_new(list, json_pack("{s:s, s:I}", "host",
			ack->host, "epoch", (json_int_t)ack->epoch));
	return list;
}

static json_t *stats_json(void)
{
	const struct fabricd_stats *s = &fabricd.stats;

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "events", (json_int_t)s->events,
			 "refused", (json_int_t)s->refused,
			 "plans", (json_int_t)s->plans,
			 "published", (json_int_t)s->published,
			 "fenced", (json_int_t)s->fenced,
			 "unsure", (json_int_t)s->unsure,
			 "elected", (json_int_t)s->elected,
			 "plan_us", (json_int_t)s->plan_ns / 1000,
			 "placed", (json_int_t)fabricd.planner.placed);
}

/**
 * report_show() - srpol fabric show
 * @request: nothing more
 * @err: not used
 */
json_t *report_show(const json_t *request, struct srpol_error *err)
{
	const struct srpol_plan *plan = fabricd.planner.plan;
	json_t *o;

	o = json_pack("{s:s, s:s, s:s, s:b, s:I, s:I, s:s, s:I, s:s, s:I}",
		      "name", fabricd.config.name,
		      "shard", fabricd.config.shard,
		      "leader", fabricd.leader,
		      "leads", fabricd.term != 0,
		      "term", (json_int_t)fabricd.term,
		      "epoch", (json_int_t)fabricd.index.epoch,
		      "algorithm", fabricd.config.alg->name,
		      "pairs", (json_int_t)(plan ? plan->n : 0),
		      "topology", fabricd.topology,
		      "topo_rev", (json_int_t)fabricd.topo_rev);
	json_object_set_new(o, "store", json_string(fabricd.store.ops->name));
	json_object_set_new(o, "jobs", jobs_json());
	json_object_set_new(o, "reports", reports_json());
	json_object_set_new(o, "hosts", hosts_json());
	json_object_set_new(o, "stats", stats_json());
	return o;
}

/**
 * report_weights() - weights as a list
 * @weights: by path
 * @n: number of them
 */
json_t *report_weights(const uint8_t *weights, uint32_t n)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(list, json_integer(weights[i]));
	return list;
}

/**
 * report_plan() - srpol fabric plan
 * @request: "from": only pairs from this leaf
 * @err: no such leaf, no plan
 */
json_t *report_plan(const json_t *request, struct srpol_error *err)
{
	const char *name = json_string_value(json_object_get(request, "from"));
	const struct srpol_plan *plan = fabricd.planner.plan;
	uint32_t from = SRPOL_NONE, i;
	json_t *pairs;

	if (name) {
		from = srpol_fabric_node(fabricd.fabric, name);
		if (from == SRPOL_NONE) {
			srpol_error_set(err, -ENOENT, "no leaf \"%s\"", name);
			return NULL;
		}
	}
	if (!plan) {
		srpol_error_set(err, -ENOENT, "this engine has no plan: %s leads",
				fabricd.leader[0] ? fabricd.leader : "nobody");
		return NULL;
	}
	pairs = json_array();
	for (i = 0; i < plan->n; i++)
		if (!name || plan->from[i] == from)
			json_array_append_new(pairs, json_pack("{s:s, s:s, s:o}",
				"from", node_name(plan->from[i]),
				"to", node_name(plan->to[i]), "weights",
				report_weights(plan->weights + plan->first[i],
					       plan->first[i + 1] -
					       plan->first[i])));
	return json_pack("{s:I, s:o}", "epoch",
			 (json_int_t)fabricd.index.epoch, "pairs", pairs);
}

static void add_change(void *data, const struct srpol_plan_change *c)
{
	json_array_append_new(data, json_pack("{s:s, s:s, s:o, s:o}",
		"from", node_name(c->from), "to", node_name(c->to),
		"before", report_weights(c->old, c->n_old),
		"after", report_weights(c->new, c->n_new)));
}

/**
 * report_diff() - srpol fabric diff: what the last change of the plan changed
 * @request: nothing more
 * @err: no plan
 */
json_t *report_diff(const json_t *request, struct srpol_error *err)
{
	json_t *changes;

	if (!fabricd.planner.plan || !fabricd.before) {
		srpol_error_set(err, -ENOENT, "this engine has not made two plans yet");
		return NULL;
	}
	changes = json_array();
	srpol_plan_diff(fabricd.before, fabricd.planner.plan, add_change,
			changes);
	return json_pack("{s:I, s:o}", "epoch",
			 (json_int_t)fabricd.index.epoch, "changes", changes);
}

/* JSON has no infinity: null is what does not end. */
static json_t *seconds(double s)
{
	return isfinite(s) ? json_real(s) : json_null();
}

static int find_link(const json_t *request, uint32_t *link,
		     struct srpol_error *err)
{
	const char *from = json_string_value(json_object_get(request, "from"));
	const char *to = json_string_value(json_object_get(request, "to"));
	uint32_t a, b;

	a = from ? srpol_fabric_node(fabricd.fabric, from) : SRPOL_NONE;
	b = to ? srpol_fabric_node(fabricd.fabric, to) : SRPOL_NONE;
	*link = a == SRPOL_NONE || b == SRPOL_NONE ? SRPOL_NONE :
		srpol_fabric_link(fabricd.fabric, a, b);
	if (*link != SRPOL_NONE)
		return 0;
	return srpol_error_set(err, -ENOENT, "no link from \"%s\" to \"%s\"",
			       from ?: "", to ?: "");
}

/**
 * report_what_if() - srpol fabric plan what-if link-down
 * @request: "from" and "to"
 * @err: no such link, no plan
 */
json_t *report_what_if(const json_t *request, struct srpol_error *err)
{
	const struct srpol_planner *p = &fabricd.planner;
	struct srpol_situation now = { p->links, p->plan }, then;
	struct srpol_planner trial;
	struct srpol_links *links;
	struct srpol_what_if w;
	uint32_t link, changed;
	json_t *changes, *o = NULL;
	int ret;

	if (find_link(request, &link, err))
		return NULL;
	if (!fabricd.planner.plan) {
		srpol_error_set(err, -ENOENT, "this engine has no plan");
		return NULL;
	}
	links = srpol_links_copy(fabricd.planner.links);
	if (!links)
		return NULL;
	srpol_links_set_capacity(links, link, 0);
	srpol_links_set_capacity(links, link ^ 1, 0);
	ret = srpol_planner_try(&fabricd.planner, links, &trial, err);
	then = (struct srpol_situation){ links, trial.plan };
	ret = ret ?: srpol_what_if(p->fabric, p->demands, p->n, &now, &then,
				   &w);
	if (!ret) {
		changes = json_array();
		changed = srpol_plan_diff(fabricd.planner.plan, trial.plan,
					  add_change, changes);
		o = json_pack("{s:o, s:o, s:o, s:I, s:I, s:o}",
			      "now_s", seconds(w.now),
			      "local_s", seconds(w.local),
			      "planned_s", seconds(w.planned),
			      "unplaced", (json_int_t)w.unplaced,
			      "pairs_changed", (json_int_t)changed,
			      "changes", changes);
		srpol_what_if_free(&w);
	}
	srpol_planner_free(&trial);
	srpol_links_free(links);
	return o;
}
