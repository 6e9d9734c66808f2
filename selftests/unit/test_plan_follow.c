// SPDX-License-Identifier: GPL-2.0
/*
 * When a policy has the plan's candidate path: not while this host knows something of a
 * link of its paths that the plan has not seen. The follower is the test's.
 */
#include <stdlib.h>
#include <string.h>

#include "srpold.h"
#include "test.h"
#include "watchers.h"

#define PATHS	2

static struct srpol_gpu gpus[2] = { { .host = 0 }, { .host = 1 } };
static struct srpol_node nodes[2] = { { .name = "A" }, { .name = "B" } };
static struct srpol_fabric fabric = {
	.nodes = nodes, .n_nodes = 2, .gpus = gpus, .n_gpus = 2,
};
static struct srpol_links links;
static struct engine engine = { .fabric = &fabric, .links.links = &links };
static uint32_t reported = SRPOL_NONE;	/* cable that the plan has not seen */

/* ---- the follower */

int follow_start(struct follow *f, struct srpol_error *err)
{
	static struct follow_plan plan;

	plan.plan = (struct srpol_plan *)&plan;
	return f->apply(f->data, &plan);
}

void follow_stop(struct follow *f)
{
}

bool follow_report(struct follow *f, const struct follow_known *known)
{
	return false;
}

bool follow_overrides(const struct follow *f, uint32_t cable)
{
	return cable == reported;
}

void follow_measured(struct follow *f, const struct follow_load *loads, size_t n)
{
}

void follow_demands(struct follow *f, const struct srpol_forecasts *now, uint64_t now_ms)
{
}

/* ---- what it needs of the rest */

int srpol_plan_weigh(const struct srpol_fabric *f, const struct srpol_links *state,
		     const struct srpol_plan *plan, uint32_t src, uint32_t dst, uint32_t color,
		     uint32_t *weight, uint32_t max)
{
	uint32_t i;

	assert_int_equal(max, PATHS);
	for (i = 0; i < max; i++)
		weight[i] = 1 + i;
	return max;
}

const struct srpol_backup *srpol_backup_find(const struct srpol_index *index, uint32_t color)
{
	return NULL;
}

bool backup_changes(const struct srpol_index *now, const struct srpol_index *next)
{
	return false;
}

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	return (struct engine_path *)e->paths.data + index;
}

uint32_t srpol_fabric_node(const struct srpol_fabric *f, const char *name)
{
	return strcmp(name, "A") != 0;
}

void *store_alloc(size_t size)
{
	return calloc(1, size + 1);
}

int jobs_build(struct engine *e, bool keep, struct srpol_error *err)
{
	return 0;
}

int balance_weigh(struct engine *e, bool *changed, struct srpol_error *err)
{
	return 0;
}

int reconcile(struct engine *e, struct srpol_error *err)
{
	return 0;
}

int bus_check(const struct bus_config *config, struct srpol_error *err)
{
	return 0;
}

void watchers_rebuilt(void)
{
}

void watch_look_later(void)
{
}

void limits_soon(void)
{
}

void folder_of(const char *path)
{
}

void log_error(const char *fmt, ...)
{
}

static struct engine_policy *policy(void)
{
	return engine.policies.data;
}

/* Two planes: cables 0 and 1 of A, 2 and 3 of B, which probes do not take. */
static int set_up(void **state)
{
	struct engine_policy *p;
	struct engine_path *path;
	uint32_t i;

	engine.paths = (struct vec)VEC_INIT(struct engine_path);
	engine.policies = (struct vec)VEC_INIT(struct engine_policy);
	for (i = 0; i < PATHS; i++) {
		path = vec_add(&engine.paths);
		path->links.n = 1;
		path->links.link[0] = i;
		path->last = 2 * (2 + i);
	}
	p = vec_add(&engine.policies);
	p->n = PATHS;
	p->dst = 1;
	engine.n_own = 1;
	engine.config.fabric.is_set = true;
	engine.config.n_hosts = 1;
	strcpy(engine.config.hosts[0], "A");
	reported = SRPOL_NONE;
	return plan_start(&engine, NULL);
}

static int end(void **state)
{
	plan_stop();
	free(policy()->planned);
	vec_free(&engine.policies);
	vec_free(&engine.paths);
	return 0;
}

static void is_planned(bool is)
{
	plan_weigh();
	assert_int_equal(policy()->planned != NULL, is);
}

static void test_links(void **state)
{
	uint32_t cable;

	is_planned(true);
	for (cable = 0; cable < 2; cable++) {
		reported = cable;
		is_planned(false);
	}
	reported = 4;
	is_planned(true);
}

/* The peer's own cables: a feed says that one carries a quarter, say. */
static void test_last(void **state)
{
	uint32_t cable;

	for (cable = 2; cable < 4; cable++) {
		reported = cable;
		is_planned(false);
	}
	reported = SRPOL_NONE;
	is_planned(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_links, set_up, end),
		cmocka_unit_test_setup_teardown(test_last, set_up, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
