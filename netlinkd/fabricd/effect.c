// SPDX-License-Identifier: GPL-2.0
/*
 * When jobs would end if a job were accepted: what a reservation does to others.
 * It is the model of what-if (lib/plan/completion.c), with the plan in force, and
 * with the one that would follow. Everything is computed on copies, as long as no
 * time has passed since the decision.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"
#include "tenants.h"

#define PART		0.01	/* of the time: less of a change is not told */
/*
 * The time that the model takes grows with their square, a tenant's user may ask,
 * and the engine does nothing else meanwhile.
 */
#define DEMANDS_MAX	2048

/**
 * struct effect - the state if the job were accepted, and ends of demands
 * @part: capacities that may be reserved
 * @ledger: reservations, those that are lowered with less, and the new one
 * @base: plan for traffic without reservations
 * @plan: the resulting plan
 * @w: demands; those of the new job come last
 * @n: number of those before them
 * @now: by demand: s until it ends now
 * @then: likewise, if the job were accepted
 */
struct effect {
	struct srpol_links *part;
	struct srpol_ledger ledger;
	struct srpol_planner base;
	struct srpol_plan *plan;
	struct workload w;
	uint32_t n;
	double *now;
	double *then;
};

static void lower(struct srpol_ledger *ledger, const struct vec *lowered)
{
	const struct reservation *all = reservations_all()->data;
	const struct lowered *l;

	vec_for_each(l, lowered)
		ledger->holds[reservation_find(l->tenant, l->job) - all].rate =
			l->to;
}

/* Hosts are assumed to have acknowledged everything. */
static int make_ledger(struct effect *e, const struct admission *a)
{
	struct srpol_hold *hold;
	uint32_t i;
	int ret;

	e->part = reservable(fabricd.links);
	ret = e->part ? reservations_ledger(e->part, &e->ledger) : -ENOMEM;
	if (ret)
		return ret;
	lower(&e->ledger, &a->lowered);
	for (i = 0; i < e->ledger.n; i++)
		e->ledger.holds[i].old = NULL;
	hold = realloc(e->ledger.holds, (i + 1UL) * sizeof(*hold));
	if (!hold)
		return -ENOMEM;
	e->ledger.holds = hold;
	hold[e->ledger.n++] = (struct srpol_hold){
		.color = a->want.color, .rate = a->want.guaranteed,
		.demands = a->want.demands.list, .n = a->want.demands.n,
		.allowed = a->tenant->allowed, .new = a->want.weights,
	};
	return 0;
}

static int make_plan(struct effect *e)
{
	struct srpol_links *left = whole_links(fabricd.links, &e->ledger);
	struct srpol_error err = {};
	int ret;

	ret = left ? srpol_planner_try(&fabricd.planner, left, &e->base, &err) :
	      -ENOMEM;
	srpol_links_free(left);
	return ret ?: whole_plan(&e->base, fabricd.links, &e->ledger, &e->plan);
}

static int add_demands(struct effect *e, const struct admission *a)
{
	uint32_t n = a->want.demands.n, i;
	struct srpol_demand *list;

	e->n = e->w.demands.n;
	list = realloc(e->w.demands.list, (e->n + n + 1UL) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	e->w.demands.list = list;
	for (i = 0; i < n; i++) {
		list[e->n + i] = a->want.demands.list[i];
		list[e->n + i].color = a->want.color;
	}
	e->now = calloc(e->n + 1UL, sizeof(double));
	e->then = calloc(e->n + n + 1UL, sizeof(double));
	return e->now && e->then ? 0 : -ENOMEM;
}

static int compute(struct effect *e, const struct admission *a)
{
	int ret = workload_read(WORKLOAD_ALL, NULL, &e->w);

	if (!ret && e->w.demands.n + a->want.demands.n > DEMANDS_MAX)
		ret = -E2BIG;
	return ret ?: make_ledger(e, a) ?: make_plan(e) ?: add_demands(e, a) ?:
	       srpol_completion(fabricd.fabric, fabricd.links, fabricd.plan,
				e->w.demands.list, e->n, e->now) ?:
	       srpol_completion(fabricd.fabric, fabricd.links, e->plan,
				e->w.demands.list, e->n + a->want.demands.n,
				e->then);
}

static bool is_told(double now, double then)
{
	return isfinite(now) != isfinite(then) ||
	       (isfinite(now) && fabs(then - now) > PART * now);
}

static json_t *one(const char *tenant, const char *job, json_t *now, double then)
{
	return json_pack("{s:s, s:s, s:o, s:o}", "tenant", tenant, "job", job,
			 "now_s", now, "then_s", seconds_json(then));
}

static json_t *list_json(const struct effect *e, const struct admission *a)
{
	char tenant[SRPOL_NAME_LEN], name[SRPOL_NAME_LEN];
	const struct input *job;
	json_t *list = json_array();
	double now, then, end = 0;
	uint32_t i = 0;

	vec_for_each(job, &fabricd.jobs) {
		now = workload_end(&e->w, i, e->now);
		then = workload_end(&e->w, i++, e->then);
		job_names(job, tenant, name);
		if (is_told(now, then) &&
		    (!a->own[0] || !strcmp(a->own, tenant)))
			json_array_append_new(list, one(tenant, name,
							seconds_json(now), then));
	}
	for (i = 0; i < a->want.demands.n; i++)
		end = fmax(end, e->then[e->n + i]);
	json_array_append_new(list, one(a->want.tenant, a->want.job,
					json_null(), end));
	return list;
}

/**
 * effect_json() - jobs that would end at another time, as JSON
 * @a: a decision that was made just now
 *
 * Return: a list whose last job is the new one; null if the question was no
 * what-if, or has no answer: nothing would be reserved, or this engine has no
 * plan.
 */
json_t *effect_json(const struct admission *a)
{
	struct effect e = {};
	json_t *o = NULL;

	if (!a->is_what_if || a->decision != DECISION_ACCEPT ||
	    !a->want.weights || !plan_in_force(NULL))
		return json_null();
	if (!compute(&e, a))
		o = list_json(&e, a);
	free(e.now);
	free(e.then);
	workload_free(&e.w);
	srpol_plan_free(e.plan);
	srpol_planner_free(&e.base);
	ledger_free(&e.ledger);
	srpol_links_free(e.part);
	return o ?: json_null();
}
