// SPDX-License-Identifier: GPL-2.0
/* What srpol engine why says of weights and of the links that limit paths. */
#include <stdlib.h>
#include <string.h>

#include "srpold.h"
#include "test.h"

#define G	1000000000ull
#define SPINES	2

static struct engine engine;
static uint32_t weight[SPINES], planned[SPINES];
static struct policy_info there;

/* ---- what it needs of the rest */

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	return (struct engine_path *)e->paths.data + index;
}

uint64_t now_ns(void)
{
	return 1;
}

void balance_soon(void)
{
}

int balance_demands(const struct engine *e, struct weights_demands *known)
{
	*known = (struct weights_demands){};
	return 0;
}

const char *policies_by(const struct policy_info *have, uint32_t *preference)
{
	*preference = have->candidates[0].preference;
	return have->candidates[0].active ? "plan" : NULL;
}

int srpol_fetch(struct srpol_genl *genl, uint8_t cmd, struct vec *all, struct srpol_error *err)
{
	*(struct policy_info *)vec_add(all) = there;
	return 0;
}

const struct policy_info *find_policy(const struct vec *policies, uint32_t id)
{
	return NULL;
}

int srpol_flows_open(struct srpol_flow_table *table)
{
	return -1;
}

bool srpol_flows_next(const struct srpol_flow_table *table, uint32_t *nr,
		      struct srpol_flow *flow, struct srpol_flow_detail *detail)
{
	return false;
}

void srpol_flows_close(struct srpol_flow_table *table)
{
}

/* ---- a policy over two spines */

static int up(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(2, 1, SPINES, 400 * G);
	struct engine_policy *policy;
	struct engine_path *path;
	uint32_t i;

	engine = (struct engine){
		.fabric = srpol_fabric_generate(&shape, NULL),
		.paths = VEC_INIT(struct engine_path),
		.policies = VEC_INIT(struct engine_policy),
	};
	assert_int_equal(linkstate_init(&engine.links, engine.fabric, 1), 0);
	for (i = 0; i < SPINES; i++) {
		path = vec_add(&engine.paths);
		path->id = i + 1;
		path->leader = i;
		weight[i] = 1;
		planned[i] = 15 - i;
	}
	policy = vec_add(&engine.policies);
	*policy = (struct engine_policy){
		.endpoint = engine.fabric->nics[1].addr, .color = 100, .dst = 1,
		.alg = srpol_alg_find("wecmp"), .n = SPINES, .weight = weight,
	};
	there = (struct policy_info){
		.color = 100, .endpoint = policy->endpoint, .origin = SRPOL_ORIGIN_ENGINE,
		.n_candidates = 1, .candidates[0].preference = 100,
	};
	return 0;
}

static json_t *reply;

static int down(void **state)
{
	json_decref(reply);
	reply = NULL;
	vec_free(&engine.paths);
	vec_free(&engine.policies);
	weights_forget(&engine.placed);
	linkstate_free(&engine.links);
	srpol_fabric_free(engine.fabric);
	return 0;
}

/* The answer's policy, in @reply */
static const json_t *ask(void)
{
	json_t *o = json_pack("{s:s}", "dst", engine.fabric->nodes[
			engine.fabric->gpus[1].host].name);
	struct srpol_error err = {};

	json_decref(reply);
	reply = why_request(&engine, o, &err);
	json_decref(o);
	assert_non_null(reply);
	return json_array_get(json_object_get(reply, "policies"), 0);
}

static const json_t *member(const json_t *policy, uint32_t path, const char *key)
{
	return json_object_get(json_array_get(json_object_get(policy, "paths"), path), key);
}

static json_int_t number(const json_t *policy, uint32_t path, const char *key)
{
	return json_integer_value(member(policy, path, key));
}

/* The capacity of a link that works badly is what it was; how much is used is beside it. */
static void test_capacity(void **state)
{
	const struct srpol_fabric *f = engine.fabric;
	const json_t *policy;
	uint32_t cable = 0;

	while (f->nodes[f->links[2 * cable].from].tier == SRPOL_TIER_HOST ||
	       f->nodes[f->links[2 * cable].to].tier == SRPOL_TIER_HOST)
		cable++;
	engine.links.cables[cable].quality.level = 1;
	linkstate_say(&engine.links, cable, LINK_OPERATOR, 100 * G, 1);
	assert_int_equal(engine.links.links->links[2 * cable].capacity, 75 * G);
	policy = ask();
	assert_int_equal(number(policy, 0, "capacity_bps"), 100 * G);
	assert_int_equal(number(policy, 0, "quality_percent"), 75);
	assert_int_equal(number(policy, 1, "capacity_bps"), 400 * G);
}

/* Weights of a plan, and whether they are in force, are told if there are any. */
static void test_plan(void **state)
{
	struct engine_policy *own = engine.policies.data;
	const json_t *policy = ask();

	assert_null(json_object_get(policy, "by"));
	assert_null(member(policy, 0, "planned"));
	own->planned = planned;
	there.candidates[0].active = true;
	policy = ask();
	assert_string_equal(json_string_value(json_object_get(policy, "by")), "plan");
	assert_int_equal(json_integer_value(json_object_get(policy, "preference")), 100);
	assert_int_equal(number(policy, 1, "planned"), 14);
	assert_int_equal(number(policy, 1, "weight"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_capacity, up, down),
		cmocka_unit_test_setup_teardown(test_plan, up, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
