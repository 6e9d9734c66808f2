// SPDX-License-Identifier: GPL-2.0
/* What srpol fabric shows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "forecasts.h"
#include "hear.h"
#include "requests.h"
#include "srpol_lib.h"
#include "tenants.h"
#include "web.h"
#include "words.h"

/**
 * node_name() - name of a node
 * @node: number of the node
 */
const char *node_name(uint32_t node)
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
		if (!job->wrong)
			json_array_append_new(list, json_string(job->key +
								strlen("job/")));
	return list;
}

static json_t *hosts_json(void)
{
	json_t *list = json_array();
	const struct ack *ack;

	/* without an epoch it has ended since all were read */
	vec_for_each(ack, &fabricd.acks)
		if (ack->epoch)
			json_array_append_new(list, json_pack("{s:s, s:I, s:b}", "host",
				ack->host, "epoch", (json_int_t)ack->epoch,
				"known", ack_is_of_host(ack)));
	return list;
}

/**
 * report_stats() - counters of this engine
 */
json_t *report_stats(void)
{
	const struct fabricd_stats *s = &fabricd.stats;
	json_t *o;

	o = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "events", (json_int_t)s->events,
			 "refused", (json_int_t)s->refused,
			 "plans", (json_int_t)s->plans,
			 "published", (json_int_t)s->published,
			 "fenced", (json_int_t)s->fenced,
			 "unsure", (json_int_t)s->unsure,
			 "elected", (json_int_t)s->elected,
			 "plan_us", (json_int_t)s->plan_ns / 1000,
			 "placed", (json_int_t)fabricd.planner.placed);
	json_object_update_new(o, json_pack(
			"{s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			"accepted", (json_int_t)s->accepted,
			"deferred", (json_int_t)s->deferred,
			"lowered", (json_int_t)s->lowered,
			"rejected", (json_int_t)s->rejected,
			"moved", (json_int_t)s->moved,
			"lost", (json_int_t)s->lost,
			"denied", (json_int_t)control_server()->denied));
	return o;
}

static const char *bus_state(void)
{
	struct bus_stats stats;

	if (!fabricd.config.bus.servers.n)
		return "none";
	hear_bus(&stats);
	return stats.connected ? "connected" : "unconnected";
}

/**
 * report_engine() - identity of this engine, and the epoch in force
 */
json_t *report_engine(void)
{
	return json_pack("{s:s, s:s, s:s, s:b, s:I, s:I, s:s, s:s, s:s, s:s, s:I}",
			 "name", fabricd.config.name,
			 "shard", fabricd.config.shard,
			 "leader", fabricd.leader,
			 "leads", fabricd.term != 0,
			 "term", (json_int_t)fabricd.term,
			 "epoch", (json_int_t)plan_epoch(),
			 "algorithm", fabricd.config.alg->name,
			 "store", fabricd.store.ops->name,
			 "bus", bus_state(),
			 "topology", fabricd.topology,
			 "topo_rev", (json_int_t)fabricd.topo_rev);
}

static json_t *load_json(void)
{
	struct measured_shares shares;

	measured_shares(loads_get(), &shares);
	return json_pack("{s:I, s:f, s:o, s:I}",
			 "hosts", (json_int_t)measured_hosts(),
			 "bps", shares.measured,
			 "off_plan", shares.comparable ?
			 json_real(shares.off_plan) : json_null(),
			 "refused", (json_int_t)measured_refused());
}

/**
 * report_show() - handle srpol fabric show
 * @request: no further members
 * @err: not used
 */
json_t *report_show(const json_t *request, struct srpol_error *err)
{
	const struct srpol_plan *plan = plan_in_force(NULL);
	json_t *o = report_engine();

	json_object_set_new(o, "pairs", json_integer(plan ? plan->n : 0));
	json_object_set_new(o, "jobs", jobs_json());
	json_object_set_new(o, "reports", reports_json());
	json_object_set_new(o, "suspects", suspects_json());
	json_object_set_new(o, "hosts", hosts_json());
	json_object_set_new(o, "load", load_json());
	json_object_set_new(o, "forecasts", forecasts_json());
	json_object_set_new(o, "stats", report_stats());
	return o;
}

/**
 * report_weights() - weights as a JSON list
 * @weights: by path
 * @n: number of weights
 */
json_t *report_weights(const uint8_t *weights, uint32_t n)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(list, json_integer(weights[i]));
	return list;
}

/* Pairs from one leaf, or from all leaves if @from is SRPOL_NONE. */
static json_t *pairs_json(const struct srpol_plan *plan, uint32_t from)
{
	const struct workload *w = plan_workload();
	uint64_t *jobs = NULL, *forecasts = NULL;
	json_t *pairs = NULL, *pair;
	size_t n_jobs, n_forecasts;
	uint32_t i;

	if (!forecast_leaves(w, false, &jobs, &n_jobs) &&
	    !forecast_leaves(w, true, &forecasts, &n_forecasts))
		pairs = json_array();
	for (i = 0; pairs && i < plan->n; i++) {
		if (from != SRPOL_NONE && plan->from[i] != from)
			continue;
		pair = json_pack("{s:s, s:s, s:I, s:o}",
				 "from", node_name(plan->from[i]),
				 "to", node_name(plan->to[i]), "color",
				 (json_int_t)plan->color[i], "weights",
				 report_weights(plan->weights + plan->first[i],
						plan->first[i + 1] -
						plan->first[i]));
		json_object_set_new(pair, "for",
				    forecast_sources(plan, i, jobs, n_jobs,
						     forecasts, n_forecasts));
		json_array_append_new(pairs, pair);
	}
	free(jobs);
	free(forecasts);
	return pairs;
}

/**
 * report_plan() - handle srpol fabric plan
 * @request: "from": only pairs from this leaf
 * @err: message if there is no such leaf or no plan
 */
json_t *report_plan(const json_t *request, struct srpol_error *err)
{
	const struct srpol_plan *plan;
	char name[SRPOL_NAME_LEN];
	uint32_t from = SRPOL_NONE;

	if (words_text(request, "from", "", name, sizeof(name), err))
		return NULL;
	if (json_object_get(request, "from")) {
		from = srpol_fabric_node(fabricd.fabric, name);
		if (from == SRPOL_NONE) {
			srpol_error_set(err, -ENOENT, "no leaf \"%s\"", name);
			return NULL;
		}
	}
	plan = plan_in_force(err);
	if (!plan)
		return NULL;
	return json_pack("{s:I, s:o, s:o}", "epoch",
			 (json_int_t)fabricd.epoch.index.epoch, "pairs",
			 pairs_json(plan, from), "flows",
			 flows_json(plan, from));
}

/**
 * report_add_change() - append to a list a pair that differs between plans
 * @data: JSON list
 * @c: the difference
 */
void report_add_change(void *data, const struct srpol_plan_change *c)
{
	json_array_append_new(data, json_pack("{s:s, s:s, s:I, s:o, s:o}",
		"from", node_name(c->from), "to", node_name(c->to),
		"color", (json_int_t)c->color,
		"before", report_weights(c->old, c->n_old),
		"after", report_weights(c->new, c->n_new)));
}

/**
 * report_diff() - handle srpol fabric diff: differences between the last two
 * plans
 * @request: no further members
 * @err: message if there are no two plans
 */
json_t *report_diff(const json_t *request, struct srpol_error *err)
{
	json_t *changes, *flows;

	if (!plan_in_force(err))
		return NULL;
	if (!fabricd.before) {
		srpol_error_set(err, -ENOENT, "this engine has not made two plans yet");
		return NULL;
	}
	changes = json_array();
	srpol_plan_diff(fabricd.before, fabricd.plan, report_add_change,
			changes);
	flows = json_array();
	srpol_flows_diff(fabricd.before, fabricd.plan, flows_add_change, flows);
	return json_pack("{s:I, s:o, s:o}", "epoch",
			 (json_int_t)fabricd.epoch.index.epoch, "changes",
			 changes, "flows", flows);
}
