// SPDX-License-Identifier: GPL-2.0
/*
 * When to plan: some time after the first event, never while an epoch is being
 * written, and only who leads and knows what there is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "causes.h"
#include "fabricd.h"
#include "srpol_lib.h"

#define AGAIN_NS	(200 * NS_PER_MS)

static void ring(void *data);
static void take_over(void *data);
static struct alarm settle = ALARM_INIT(ring, NULL);
static struct alarm again = ALARM_INIT(take_over, NULL);
static struct srpol_demands demands;
static bool loaded, publishing, dirty;

static void published(int error)
{
	publishing = false;
	if (error) {
		/* nobody knows what is there: look */
		loaded = false;
		alarm_set(&again, AGAIN_NS);
	} else if (dirty) {
		plan_soon();
	}
}

static struct srpol_plan *copy_plan(const struct srpol_planner *p)
{
	struct srpol_alg_input in = {
		.fabric = p->fabric, .links = p->links, .demands = p->demands,
		.n = p->n,
	};

	return p->plan ? srpol_plan_new(&in, p->placement) : NULL;
}

static int run(struct srpol_error *err)
{
	struct srpol_plan *before = copy_plan(&fabricd.planner);
	struct srpol_links *links = inputs_links();
	uint64_t start = now_ns();
	uint32_t changed = 0;
	int ret = links ? 0 : -ENOMEM;

	if (!ret && inputs_jobs_changed()) {
		srpol_demands_free(&demands);
		ret = inputs_demands(&demands);
	}
	if (!ret)
		causes_begin(links);
	ret = ret ?: srpol_planner_run(&fabricd.planner, links, demands.list,
				       demands.n, err);
	fabricd.stats.plan_ns = now_ns() - start;
	fabricd.stats.plans++;
	srpol_links_free(links);
	if (!ret)
		changed = before ? srpol_plan_diff(before, fabricd.planner.plan,
						   NULL, NULL) :
			  fabricd.planner.plan->n;
	causes_end(changed);
	if (before && changed) {
		srpol_plan_free(fabricd.before);
		fabricd.before = before;
	} else {
		srpol_plan_free(before);
	}
	return ret;
}

static void ring(void *data)
{
	struct srpol_error err = {};
	int ret;

	dirty = false;
	ret = run(&err);
	if (ret) {
		log_error("no plan: %s", err.text[0] ? err.text :
			  strerror(-ret));
		return;
	}
	publishing = true;
	publish(fabricd.planner.plan, published);
}

/**
 * plan_soon() - something changed
 */
void plan_soon(void)
{
	dirty = true;
	if (fabricd.term && loaded && !publishing && inputs_ready())
		alarm_set(&settle, fabricd.config.settle_ns);
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
 * plan_takeover() - this engine leads now: learn what there is, then plan
 */
void plan_takeover(void)
{
	loaded = false;
	publishing = false;
	free(fabricd.seen);
	fabricd.seen = NULL;
	take_over(NULL);
}

/**
 * plan_stop() - somebody else plans
 */
void plan_stop(void)
{
	alarm_stop(&settle);
	alarm_stop(&again);
	loaded = false;
	publishing = false;
}
