// SPDX-License-Identifier: GPL-2.0
/*
 * Slices of jobs: switches that are named, and those that disjoint jobs divide, with the
 * engine's own code on a fabric of many paths.
 */
#include <stdlib.h>
#include <string.h>

#include "srpold.h"
#include "test.h"

#define G	1000000000ull
#define PEERS	16
#define SPINES	16
#define NAMED	3	/* jobs that name two switches each */
#define DISJOINT	4

static struct engine engine;
static unsigned int looked_up;	/* nodes by name */

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	return (struct engine_path *)e->paths.data + index;
}

uint64_t now_ns(void)
{
	return 1;
}

void log_error(const char *fmt, ...)
{
	(void)fmt;
}

const struct srpol_backup *plan_backup(const struct engine_policy *policy)
{
	(void)policy;
	return NULL;
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
	(void)e;
}

uint32_t __real_srpol_fabric_node(const struct srpol_fabric *f,
				  const char *name);
uint32_t __wrap_srpol_fabric_node(const struct srpol_fabric *f,
				  const char *name);

uint32_t __wrap_srpol_fabric_node(const struct srpol_fabric *f,
				  const char *name)
{
	looked_up++;
	return __real_srpol_fabric_node(f, name);
}

/* The policy to the GPU of a peer, with paths over all spines. */
static void own_policy(uint32_t dst)
{
	const struct srpol_fabric *f = engine.fabric;
	struct engine_policy *policy = vec_add(&engine.policies);
	struct srpol_path_set set;
	struct srpol_route route;
	struct engine_path *path;
	uint32_t i;

	assert_int_equal(srpol_path_set_init(f, 0, dst, &set), 0);
	assert_int_equal(set.n, SPINES);
	*policy = (struct engine_policy){
		.dst = dst, .color = 100, .first = engine.paths.n, .n = set.n,
		.weight = calloc(set.n + 1, sizeof(uint32_t)),
	};
	strcpy(policy->name, "peer");
	for (i = 0; i < set.n; i++) {
		path = vec_add(&engine.paths);
		srpol_path_get(f, &set, i, &route);
		path->top = srpol_route_top(f, &route);
	}
	srpol_path_set_free(&set);
}

static int up(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(PEERS + 1, 1, SPINES,
							  400 * G);
	uint32_t dst;

	(void)state;
	engine = (struct engine){
		.fabric = srpol_fabric_generate(&shape, NULL),
		.paths = VEC_INIT(struct engine_path),
		.policies = VEC_INIT(struct engine_policy),
	};
	for (dst = 1; dst <= PEERS; dst++)
		own_policy(dst);
	engine.n_own = engine.policies.n;
	engine.n_own_paths = engine.paths.n;
	return 0;
}

static int down(void **state)
{
	struct engine_policy *policy;

	(void)state;
	vec_for_each(policy, &engine.policies) {
		free(policy->weight);
		free(policy->slice);
	}
	vec_free(&engine.policies);
	vec_free(&engine.paths);
	vec_free(&jobs);
	jobs = (struct vec)VEC_INIT(struct job);
	srpol_fabric_free(engine.fabric);
	return 0;
}

static struct job *add_job(void)
{
	struct job *job = vec_add(&jobs);

	job->slot = jobs.n - 1;
	job->color = 1000 + job->slot;
	snprintf(job->name, sizeof(job->name), "job%u", job->slot);
	return job;
}

/* Node of the spine that path @i of each policy turns at */
static uint32_t spine(uint32_t i)
{
	return engine_path(&engine, i)->top;
}

static void name(struct job *job, uint32_t top)
{
	strcpy(job->tops[job->n_tops++], engine.fabric->nodes[top].name);
}

/* May the job turn at a path's spine? Likewise in its policies to all peers. */
static bool may(uint32_t slot, uint32_t i)
{
	const struct engine_policy *policy;
	uint32_t n = 0, yes = 0;

	vec_for_each(policy, &engine.policies) {
		if (policy->color != 1000 + slot)
			continue;
		assert_non_null(policy->slice);
		n++;
		yes += policy->slice[i];
	}
	assert_int_equal(n, PEERS);
	assert_true(!yes || yes == n);
	return yes;
}

static void build(void)
{
	struct srpol_error err = {};

	assert_int_equal(jobs_build(&engine, true, &err), 0);
}

/* Each switch that is not named is one disjoint job's; they have as many each. */
static void test_divided(void **state)
{
	uint32_t i, slot, owners, had[DISJOINT] = {};

	(void)state;
	for (slot = 0; slot < NAMED + DISJOINT; slot++) {
		struct job *job = add_job();

		job->disjoint = slot >= NAMED;
		if (job->disjoint)
			continue;
		/* the second one of each is the next job's, too */
		name(job, spine(2 * slot));
		name(job, spine(2 * slot + 2));
	}
	looked_up = 0;
	build();
	/* not for each path and policy, as probes have to wait for it */
	assert_in_range(looked_up, 1, jobs.n * 2 * NAMED);
	for (i = 0; i < SPINES; i++) {
		for (slot = 0; slot < NAMED; slot++)
			assert_int_equal(may(slot, i), i == 2 * slot ||
						       i == 2 * slot + 2);
		for (owners = 0; slot < NAMED + DISJOINT; slot++) {
			owners += may(slot, i);
			had[slot - NAMED] += may(slot, i);
		}
		assert_int_equal(owners, i % 2 || i > 2 * NAMED);
	}
	/* twelve are left for four */
	for (slot = 0; slot < DISJOINT; slot++)
		assert_int_equal(had[slot], (SPINES - NAMED - 1) / DISJOINT);
}

/* Names that are no switch's, and switches that paths do not turn at, are nobody's. */
static void test_strange_names(void **state)
{
	struct srpol_error err = {};
	const struct engine_policy *policy;
	struct job *job;
	uint32_t i;

	(void)state;
	job = add_job();
	strcpy(job->tops[job->n_tops++], "no such switch");
	job = add_job();
	job->disjoint = true;
	assert_int_not_equal(jobs_build(&engine, true, &err), 0);
	assert_non_null(strstr(err.text, "\"job0\": no path is left"));
	/* it has all of them then */
	vec_for_each(policy, &engine.policies)
		assert_int_equal(policy->slice != NULL, policy->color == 1001);
	for (i = 0; i < SPINES; i++)
		assert_true(may(1, i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_divided, up, down),
		cmocka_unit_test_setup_teardown(test_strange_names, up, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
