// SPDX-License-Identifier: GPL-2.0
/*
 * When to plan: some time after the first event, never while an epoch is being
 * written, and only on a leader that has read everything.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "causes.h"
#include "tenants.h"
#include "srpol_lib.h"

#define AGAIN_NS	(200 * NS_PER_MS)

static void ring(void *data);
static void take_over(void *data);
static struct alarm timer = ALARM_INIT(ring, NULL);
static struct alarm again = ALARM_INIT(take_over, NULL);
static struct workload forecast;
static bool loaded, publishing, dirty;
static bool has_plan;	/* in this term */

static void published(int error)
{
	publishing = false;
	/* nothing was written; another input may make it smaller */
	if (error && error != -E2BIG) {
		/* the state of the store is unknown: read it again */
		loaded = false;
		alarm_set(&again, AGAIN_NS);
		return;
	}
	if (!error)
		settle_published();
	if (dirty)
		plan_soon();
}

/* Make a plan from the current demands and reservations. */
static int run(const struct srpol_links *links, struct srpol_error *err)
{
	struct srpol_links *part = reservable(links), *left = NULL;
	const struct srpol_plan none = {};
	struct srpol_plan *plan = NULL;
	struct srpol_ledger ledger = {};
	int ret = part ? reservations_ledger(part, &ledger) : -ENOMEM;
	uint32_t pairs, flows;

	causes_begin(links);
	if (!ret)
		ledger_hide_waiting(&ledger);
	workload_plans(true);
	if (!ret && inputs_jobs_changed()) {
		workload_free(&forecast);
		ret = workload_read(WORKLOAD_FORECAST, NULL, &forecast);
	}
	if (!ret) {
		left = whole_links(links, &ledger);
		ret = left ? 0 : -ENOMEM;
	}
	ret = ret ?: srpol_planner_run(&fabricd.planner, left,
				       forecast.demands.list,
				       forecast.demands.n, err) ?:
	      whole_plan(&fabricd.planner, links, &ledger, &plan);
	workload_plans(false);
	srpol_links_free(left);
	srpol_links_free(part);
	ledger_free(&ledger);
	if (ret)
		return ret;
	pairs = srpol_plan_diff(fabricd.plan ?: &none, plan, NULL, NULL);
	flows = srpol_flows_diff(fabricd.plan ?: &none, plan, NULL, NULL);
	if (has_plan)
		causes_end(pairs, flows);
	if (fabricd.plan && has_plan && (pairs || flows)) {
		srpol_plan_free(fabricd.before);
		fabricd.before = fabricd.plan;
	} else {
		srpol_plan_free(fabricd.plan);
	}
	fabricd.plan = plan;
	has_plan = true;
	return 0;
}

static void ring(void *data)
{
	struct srpol_error err = {};
	uint64_t start = now_ns();
	struct srpol_links *links;
	int ret;

	/*
	 * It may have been heard since that reservations changed, and not yet how: steps
	 * would be decided on those of before, and be written, as cap/SHARD is known.
	 */
	if (!plan_may_change())
		return;
	links = inputs_links();
	dirty = false;
	suspects_log();
	/* what settle() writes comes back as an event */
	if (links && settle(links)) {
		srpol_links_free(links);
		return;
	}
	ret = links ? run(links, &err) : -ENOMEM;
	fabricd.stats.plan_ns = now_ns() - start;
	fabricd.stats.plans++;
	if (ret) {
		srpol_links_free(links);
		log_error("no plan: %s", err.text[0] ? err.text :
			  strerror(-ret));
		return;
	}
	srpol_links_free(fabricd.links);
	fabricd.links = links;
	publishing = true;
	settle_planned();
	publish(fabricd.plan, published);
}

/**
 * plan_workload() - demands that the last plan was made for, except those with
 * reservations
 */
const struct workload *plan_workload(void)
{
	return &forecast;
}

/**
 * plan_in_force() - the plan of the term in which this engine leads
 * @err: NULL, or a message if there is none
 *
 * What is left of an earlier term is kept, as the next plan changes no more of it than it
 * has to. But others may have planned since.
 *
 * Return: NULL if it does not lead, or has made no plan since it leads.
 */
const struct srpol_plan *plan_in_force(struct srpol_error *err)
{
	if (fabricd.term && has_plan)
		return fabricd.plan;
	if (err && fabricd.term)
		srpol_error_set(err, -ENOENT, "this engine has no plan yet");
	else if (err)
		srpol_error_set(err, -ENOENT, "this engine has no plan: %s leads",
				fabricd.leader[0] ? fabricd.leader :
				"nobody that it knows of");
	return NULL;
}

/**
 * plan_epoch() - the epoch in force
 *
 * Return: 0 if this engine does not lead: only who leads knows it.
 */
uint64_t plan_epoch(void)
{
	return fabricd.term ? fabricd.epoch.index.epoch : 0;
}

/**
 * plan_may_change() - whether this engine leads and has read everything
 */
bool plan_may_change(void)
{
	return fabricd.term && loaded && inputs_ready() && tenants_ready() &&
	       reservations_ready();
}

/**
 * plan_soon() - something changed: plan soon
 */
void plan_soon(void)
{
	dirty = true;
	if (plan_may_change() && !publishing)
		alarm_set(&timer, fabricd.config.settle_ns);
}

/**
 * plan_resume() - reservations were read: plan, if that was to be done before
 */
void plan_resume(void)
{
	if (dirty)
		plan_soon();
}

static void took_over(bool ok)
{
	if (!ok) {
		alarm_set(&again, AGAIN_NS);
		return;
	}
	loaded = true;
	plan_soon();
}

static void take_over(void *data)
{
	if (fabricd.term)
		takeover(took_over);
}

/**
 * plan_takeover() - this engine leads now: read the store, then plan
 */
void plan_takeover(void)
{
	loaded = false;
	publishing = false;
	has_plan = false;
	/* others may have planned in between, and which epoch is in force is to be read */
	epoch_free(&fabricd.epoch);
	srpol_plan_free(fabricd.before);
	fabricd.before = NULL;
	causes_forget();
	fabricd.published_ns = 0;
	take_over(NULL);
}

/**
 * plan_stop() - this engine no longer leads
 */
void plan_stop(void)
{
	alarm_stop(&timer);
	alarm_stop(&again);
	settle_stop();
	workload_free(&forecast);
	inputs_changed();
	loaded = false;
	publishing = false;
}
