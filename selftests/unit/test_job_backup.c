// SPDX-License-Identifier: GPL-2.0
/*
 * Backup colors of jobs' policies: by the job, by the plan, with the paths that the
 * plan limits them to.
 */
#include <errno.h>
#include <string.h>

#include "backups.h"
#include "srpold.h"
#include "test.h"

#define SPINES	4

static struct engine engine;
static struct srpol_error err;
static struct srpol_backup by_plan;

/* ---- what it needs of the rest */

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	return (struct engine_path *)e->paths.data + index;
}

const struct srpol_backup *plan_backup(const struct engine_policy *policy)
{
	return policy->color == by_plan.color ? &by_plan : NULL;
}

uint64_t now_ns(void)
{
	return 1;
}

static uint32_t n_errors;

void log_error(const char *fmt, ...)
{
	(void)fmt;
	n_errors++;
}

bool plan_weigh(void)
{
	return false;
}

void job_qps_read(void)
{
}

void job_rules(struct engine *e)
{
	assert_ptr_equal(e, &engine);
}

/* ---- one policy over all spines, as engine_build() has it */

static int up(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(2, 1, SPINES,
							  1000000000);
	struct engine_policy *policy;
	struct srpol_path_set set;
	struct srpol_route route;
	struct engine_path *path;
	uint32_t i;

	(void)state;
	engine = (struct engine){
		.config = { .color = 100, .job_color = 1000 },
		.paths = VEC_INIT(struct engine_path),
		.policies = VEC_INIT(struct engine_policy),
		.rules = VEC_INIT(struct rule_info),
		.fabric = srpol_fabric_generate(&shape, NULL),
	};
	assert_int_equal(srpol_path_set_init(engine.fabric, 0, 1, &set), 0);
	assert_int_equal(set.n, SPINES);
	policy = vec_add(&engine.policies);
	*policy = (struct engine_policy){
		.dst = 1, .color = 100, .n = SPINES,
		.weight = calloc(SPINES, sizeof(uint32_t)),
	};
	for (i = 0; i < SPINES; i++) {
		srpol_path_get(engine.fabric, &set, i, &route);
		path = vec_add(&engine.paths);
		path->top = srpol_route_top(engine.fabric, &route);
	}
	srpol_path_set_free(&set);
	engine.n_own = engine.policies.n;
	engine.n_own_paths = engine.paths.n;
	by_plan = (struct srpol_backup){};
	n_errors = 0;
	return 0;
}

static int down(void **state)
{
	(void)state;
	vec_free(&jobs);
	jobs = (struct vec)VEC_INIT(struct job);
	jobs_build(&engine, true, &err);
	free(((struct engine_policy *)engine.policies.data)->weight);
	vec_free(&engine.policies);
	vec_free(&engine.paths);
	srpol_fabric_free(engine.fabric);
	return 0;
}

/* Reads it, and as it is kept once more; then builds all. */
static int add(const char *text)
{
	json_t *o = json_loads(text, 0, NULL), *kept;
	struct job job = { .slot = jobs.n }, again = { .slot = jobs.n };
	int ret;

	assert_non_null(o);
	err.text[0] = '\0';
	ret = job_from_json(&engine, o, NULL, &job, &err);
	json_decref(o);
	if (ret)
		return ret;
	kept = json_pack("[o]", job_to_json(&job));
	assert_int_equal(job_from_json(&engine, json_array_get(kept, 0), kept,
				       &again, &err), 0);
	assert_memory_equal(&job, &again, sizeof(job));
	json_decref(kept);
	*(struct job *)vec_add(&jobs) = job;
	return jobs_build(&engine, true, &err);
}

static const struct engine_policy *policy(uint32_t i)
{
	assert_in_range(i, 0, engine.policies.n - 1);
	return (struct engine_policy *)engine.policies.data + i;
}

/* Paths that the policy may use, one bit each. */
static uint32_t slice(uint32_t i)
{
	uint32_t bits = 0, k;

	for (k = 0; k < SPINES; k++)
		bits |= (uint32_t)(!policy(i)->slice || policy(i)->slice[k]) << k;
	return bits;
}

static void by_job(void **state)
{
	(void)state;
	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1, \"color\": 10, \"backup\": 100}"),
			 0);
	assert_int_equal(add("{\"name\": \"k\", \"pid\": 2, \"color\": 20}"),
			 0);
	assert_false(policy(0)->of_job);
	assert_int_equal(policy(0)->backup, 0);
	assert_true(policy(1)->of_job);
	assert_int_equal(policy(1)->backup, 100);
	assert_int_equal(slice(1), 0xf);
	/* it is told to have none: what another one had there goes */
	assert_true(policy(2)->of_job);
	assert_int_equal(policy(2)->backup, 0);
}

static void by_the_plan(void **state)
{
	uint32_t nodes[2] = {
		engine_path(&engine, 1)->top, engine_path(&engine, 2)->top,
	};
	char text[256];

	(void)state;
	by_plan = (struct srpol_backup){ .color = 10, .backup = 20 };
	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1, \"color\": 10}"),
			 0);
	assert_int_equal(policy(1)->backup, 20);
	assert_int_equal(slice(1), 0xf);
	assert_null(policy(1)->slice);
	/* limited to two spines */
	by_plan.n = 2;
	by_plan.nodes = nodes;
	assert_int_equal(jobs_build(&engine, true, &err), 0);
	assert_int_equal(policy(1)->backup, 20);
	assert_int_equal(slice(1), 1 << 1 | 1 << 2);
	assert_int_equal(slice(0), 0xf);
	/* and by the job to others, of which one is left, or none */
	jobs.n = 0;
	snprintf(text, sizeof(text),
		 "{\"name\": \"j\", \"pid\": 1, \"color\": 10, \"paths\": [\"%s\", \"%s\"]}",
		 engine.fabric->nodes[engine_path(&engine, 2)->top].name,
		 engine.fabric->nodes[engine_path(&engine, 3)->top].name);
	assert_int_equal(add(text), 0);
	assert_int_equal(slice(1), 1 << 2);
	by_plan.n = 1;
	assert_int_equal(jobs_build(&engine, true, &err), 0);
	assert_int_equal(slice(1), 0);
	/* what the job says comes first, but the paths are the plan's */
	jobs.n = 0;
	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1, \"color\": 10, \"backup\": 100}"),
			 0);
	assert_int_equal(policy(1)->backup, 100);
	assert_int_equal(slice(1), 1 << 1);
	/* the plan says nothing any more */
	by_plan = (struct srpol_backup){};
	assert_int_equal(jobs_build(&engine, true, &err), 0);
	assert_int_equal(policy(1)->backup, 100);
	assert_int_equal(slice(1), 0xf);
}

static void refuses(void **state)
{
	static const char * const bad[] = {
		"0", "-1", "4294967296", "\"blue\"", "1.5", "[]", "null",
	};
	char text[128];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(text, sizeof(text),
			 "{\"name\": \"j\", \"pid\": 1, \"backup\": %s}",
			 bad[i]);
		assert_int_equal(add(text), -EINVAL);
		assert_non_null(strstr(err.text, "\"backup\""));
	}
	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1, \"color\": 10, \"backup\": 10}"),
			 -EINVAL);
	assert_non_null(strstr(err.text, "\"backup\": 10 is the job's own"));
	/* a color of its own, which it is not told before */
	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1, \"backup\": 1000}"),
			 -EINVAL);
	assert_int_equal(jobs.n, 0);
	/* each may be the other's */
	assert_int_equal(add("{\"name\": \"a\", \"pid\": 1, \"color\": 10, \"backup\": 20}"),
			 0);
	assert_int_equal(add("{\"name\": \"b\", \"pid\": 2, \"color\": 20, \"backup\": 10}"),
			 0);
	assert_int_equal(n_errors, 0);
}

/* Its color went to the engine meanwhile: the job stays, with another one. */
static void is_stored(void **state)
{
	json_t *o = json_loads("{\"name\": \"j\", \"pid\": 1, \"color\": 100, \"backup\": 101}",
			       0, NULL);
	json_t *all = json_pack("[o]", o);
	struct job job = {};

	(void)state;
	assert_int_equal(job_from_json(&engine, o, all, &job, &err), 0);
	assert_int_equal(job.color, 101);
	assert_int_equal(job.backup, 0);
	assert_int_equal(n_errors, 1);
	json_decref(all);
}

/* Jobs are made anew for their own colors only. */
static void by_another_plan(void **state)
{
	uint32_t nodes[2] = { 3, 4 };
	struct srpol_backup now[] = {
		{ .color = 10, .backup = 20, .n = 2, .nodes = nodes },
		{ .color = 30, .backup = 40 },
	}, next[] = { now[0], now[1] };
	struct srpol_index before = { .n_backups = 2, .backups = now };
	struct srpol_index after = { .n_backups = 2, .backups = next };

	(void)state;
	assert_false(backup_changes(NULL, &after));
	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1, \"color\": 10}"),
			 0);
	assert_int_equal(add("{\"name\": \"k\", \"pid\": 2, \"color\": 20}"),
			 0);
	assert_false(backup_changes(&before, &after));
	/* of others */
	next[1].backup = 50;
	assert_false(backup_changes(&before, &after));
	after.n_backups = 1;
	assert_false(backup_changes(&before, &after));
	/* of one of them: backup, switches, or whether it has any */
	next[0].backup = 50;
	assert_true(backup_changes(&before, &after));
	next[0] = now[0];
	next[0].n = 1;
	assert_true(backup_changes(&before, &after));
	after.n_backups = 0;
	assert_true(backup_changes(&before, &after));
	assert_true(backup_changes(NULL, &before));
	assert_true(backup_changes(&before, NULL));
	assert_false(backup_changes(NULL, NULL));
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, up, down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(by_job),
		TEST(by_the_plan),
		TEST(refuses),
		TEST(is_stored),
		TEST(by_another_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
