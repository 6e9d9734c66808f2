// SPDX-License-Identifier: GPL-2.0
/*
 * srpol fabric plan what-if: when jobs would end, and what would become of
 * reservations, if a link were down. Everything is computed on copies, and the engine
 * does nothing else meanwhile.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"
#include "tenants.h"

/**
 * struct trial - the assumed state and its consequences
 * @links: state of links
 * @part: capacities that may be reserved
 * @ledger: reservations in that state
 * @settled: what becomes of each reservation
 * @base: plan for traffic without reservations
 * @plan: the resulting plan
 */
struct trial {
	struct srpol_links *links;
	struct srpol_links *part;
	struct srpol_ledger ledger;
	struct srpol_settlement *settled;
	struct srpol_planner base;
	struct srpol_plan *plan;
};

/**
 * seconds_json() - a time as JSON
 * @s: in s
 *
 * Return: null for what does not end, as JSON has no infinity.
 */
json_t *seconds_json(double s)
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

/* Move reservations or mark them as lost, as the leader would. */
static int try_ledger(struct trial *t)
{
	uint32_t i;
	int ret;

	t->part = reservable(t->links);
	ret = t->part ? reservations_ledger(t->part, &t->ledger) : -ENOMEM;
	t->settled = calloc(reservations_all()->n + 1, sizeof(*t->settled));
	ret = ret ?: t->settled ? 0 : -ENOMEM;
	ret = ret ?: srpol_ledger_settle(&t->ledger, t->settled);
	for (i = 0; i < t->ledger.n && !ret; i++) {
		if (t->settled[i].what)
			t->ledger.holds[i].new = t->settled[i].offer.weights;
		if (t->settled[i].what == SRPOL_SETTLED_MOVED)
			t->ledger.holds[i].rate = t->settled[i].rate;
		/* assume that hosts have acknowledged this */
		t->ledger.holds[i].old = NULL;
	}
	return ret;
}

static int try_it(struct trial *t, uint32_t link, struct srpol_error *err)
{
	struct srpol_links *left;
	int ret;

	t->links = srpol_links_copy(fabricd.links);
	if (!t->links)
		return -ENOMEM;
	srpol_links_set_capacity(t->links, link, 0);
	srpol_links_set_capacity(t->links, link ^ 1, 0);
	ret = try_ledger(t);
	if (ret)
		return ret;
	left = whole_links(t->links, &t->ledger);
	ret = left ? srpol_planner_try(&fabricd.planner, left, &t->base, err) :
	      -ENOMEM;
	srpol_links_free(left);
	return ret ?: whole_plan(&t->base, t->links, &t->ledger, &t->plan);
}

static void end_trial(struct trial *t)
{
	if (t->settled)
		srpol_settlements_free(t->settled, t->ledger.n);
	free(t->settled);
	ledger_free(&t->ledger);
	srpol_planner_free(&t->base);
	srpol_plan_free(t->plan);
	srpol_links_free(t->part);
	srpol_links_free(t->links);
}

static const char *fate(const struct trial *t, const struct reservation *r)
{
	static const char * const words[] = {
		[SRPOL_SETTLED_KEPT] = "kept", [SRPOL_SETTLED_MOVED] = "moved",
		[SRPOL_SETTLED_LOST] = "lost",
	};

	const struct srpol_settlement *s;

	if (!r || r->ends)
		return "none";
	s = &t->settled[r - (struct reservation *)reservations_all()->data];
	if (!r->weights && !s->what)
		return "lost";
	if (s->what == SRPOL_SETTLED_MOVED && s->rate < r->guaranteed)
		return "lowered";
	return words[s->what];
}

static json_t *jobs_json(const struct trial *t, const struct workload *w,
			 const struct srpol_what_if *what)
{
	char tenant[SRPOL_NAME_LEN], name[SRPOL_NAME_LEN];
	const struct input *jobs = fabricd.jobs.data;
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < fabricd.jobs.n; i++) {
		job_names(&jobs[i], tenant, name);
		json_array_append_new(list, json_pack(
			"{s:s, s:s, s:o, s:o, s:o, s:s}", "tenant", tenant,
			"name", name,
			"now_s", seconds_json(workload_end(w, i,
				       what->finish[0])),
			"local_s", seconds_json(workload_end(w, i,
				       what->finish[1])),
			"planned_s", seconds_json(workload_end(w, i,
				       what->finish[2])),
			"reservation",
			fate(t, reservation_find(tenant, name))));
	}
	return list;
}

static json_t *result_json(const struct trial *t, const struct workload *w,
			   const struct srpol_what_if *what)
{
	json_t *changes = json_array(), *flows = json_array();
	uint32_t changed;

	changed = srpol_plan_diff(fabricd.plan, t->plan, report_add_change, changes);
	srpol_flows_diff(fabricd.plan, t->plan, flows_add_change, flows);
	return json_pack("{s:o, s:o, s:o, s:I, s:o, s:I, s:o, s:o}",
			 "now_s", seconds_json(what->now),
			 "local_s", seconds_json(what->local),
			 "planned_s", seconds_json(what->planned),
			 "unplaced", (json_int_t)what->unplaced,
			 "jobs", jobs_json(t, w, what),
			 "pairs_changed", (json_int_t)changed,
			 "changes", changes, "flows", flows);
}

static json_t *result(const struct trial *t, struct srpol_error *err)
{
	struct srpol_situation now = { fabricd.links, fabricd.plan };
	struct srpol_situation then = { t->links, t->plan };
	struct srpol_what_if what;
	struct workload w;
	json_t *o = NULL;
	int ret;

	if (workload_read(WORKLOAD_ALL, NULL, &w))
		return NULL;
	ret = srpol_what_if(fabricd.fabric, w.demands.list, w.demands.n, &now, &then,
			    &what);
	if (ret == -E2BIG)
		srpol_error_set(err, ret,
				"%u demands: nothing would be planned for too long while their ends are computed",
				w.demands.n);
	if (!ret) {
		o = result_json(t, &w, &what);
		srpol_what_if_free(&what);
	}
	workload_free(&w);
	return o;
}

/**
 * what_if_request() - handle srpol fabric plan what-if link-down
 * @request: "from" and "to"
 * @err: message if there is no such link or no plan, or if it would take too long
 */
json_t *what_if_request(const json_t *request, struct srpol_error *err)
{
	struct trial t = {};
	json_t *o = NULL;
	uint32_t link;

	if (find_link(request, &link, err))
		return NULL;
	if (!plan_in_force(err))
		return NULL;
	if (!try_it(&t, link, err))
		o = result(&t, err);
	end_trial(&t);
	return o;
}
