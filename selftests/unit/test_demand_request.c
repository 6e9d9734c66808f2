// SPDX-License-Identifier: GPL-2.0
/* Lists of demands that anybody may send: too long ones cost little. */
#include <stdlib.h>
#include <string.h>

#include "srpold.h"
#include "test.h"

#define G	1000000000ull
#define RAILS	8
#define USER	1000

struct vec jobs = VEC_INIT(struct job);

static struct engine engine;
static unsigned int added;	/* demands that were looked at */
static unsigned int told;

void balance_demanded(void)
{
	told++;
}

uint64_t now_ns(void)
{
	return 1;
}

int __real_demand_add(const struct srpol_fabric *fabric, const struct demand *d,
		      struct vec *to, struct srpol_error *err);
int __wrap_demand_add(const struct srpol_fabric *fabric, const struct demand *d,
		      struct vec *to, struct srpol_error *err);

int __wrap_demand_add(const struct srpol_fabric *fabric, const struct demand *d,
		      struct vec *to, struct srpol_error *err)
{
	added++;
	return __real_demand_add(fabric, d, to, err);
}

static int set_up(void **state)
{
	struct srpol_shape shape = srpol_shape_rail(2, 2, RAILS, 2, 400 * G);

	(void)state;
	engine.fabric = srpol_fabric_generate(&shape, NULL);
	added = told = 0;
	return !engine.fabric;
}

static int tear_down(void **state)
{
	(void)state;
	srpol_fabric_free(engine.fabric);
	vec_free(&demands.all);
	demands = (struct demands){ .all = VEC_INIT(struct demand) };
	return 0;
}

/* @n demands between two hosts, each of which is one per rail */
static json_t *request(unsigned int n)
{
	const struct srpol_fabric *f = engine.fabric;
	json_t *list = json_array();

	while (n--)
		json_array_append_new(list, json_pack("{s:s, s:s, s:i}",
			"src", f->nodes[f->gpus[0].host].name,
			"dst", f->nodes[f->gpus[f->n_gpus - 1].host].name,
			"bytes", 1000));
	return json_pack("{s:s, s:o}", "owner", "rank0", "demands", list);
}

/* Number of demands that are known then; -1: refused */
static int ask(uint32_t uid, unsigned int n, struct srpol_error *err)
{
	json_t *o = request(n), *reply = demand_request(&engine, uid, o, err);
	int is = reply ? json_integer_value(json_object_get(reply, "demands")) :
			 -1;

	json_decref(o);
	json_decref(reply);
	return is;
}

static void test_most(void **state)
{
	struct srpol_error err = {};

	(void)state;
	assert_int_equal(ask(USER, DEMANDS_PER_USER / RAILS, &err),
			 DEMANDS_PER_USER);
	assert_int_equal(told, 1);
}

/* One that is too long is not read to its end, and changes nothing. */
static void test_too_many(void **state)
{
	struct srpol_error err = {};

	(void)state;
	assert_int_equal(ask(USER, 3, &err), 3 * RAILS);
	added = 0;
	assert_int_equal(ask(USER, 5000, &err), -1);
	assert_non_null(strstr(err.text, "demands[512]: "));
	assert_non_null(strstr(err.text, "4096"));
	assert_int_equal(added, DEMANDS_PER_USER / RAILS + 1);
	assert_int_equal(demands.all.n, 3 * RAILS);
	assert_int_equal(demands.refused, 1);
	assert_int_equal(told, 1);
}

/* The superuser may speak for all. */
static void test_superuser(void **state)
{
	struct srpol_error err = {};

	(void)state;
	assert_int_equal(ask(0, 5000, &err), 5000 * RAILS);
	assert_int_equal(ask(0, DEMANDS_MAX, &err), -1);
	assert_int_equal(demands.all.n, 5000 * RAILS);
}

static json_t *withdraw(const char *owner, uint32_t uid, struct srpol_error *err)
{
	json_t *o = json_pack("{s:s, s:[]}", "owner", owner, "demands");
	json_t *reply = demand_operator_request(&engine, uid, o, err);

	json_decref(o);
	return reply;
}

/* An operator is told where there is nothing to withdraw; programs are not. */
static void test_withdraw(void **state)
{
	struct srpol_error err = {};
	json_t *reply;

	(void)state;
	assert_int_equal(ask(USER, 1, &err), RAILS);
	assert_null(withdraw("rank1", USER, &err));
	assert_string_equal(err.text, "no demand of owner \"rank1\" and user 1000");
	assert_null(withdraw("rank0", 0, &err));
	assert_string_equal(err.text, "no demand of owner \"rank0\" and user 0");
	assert_int_equal(demands.all.n, RAILS);
	reply = withdraw("rank0", USER, &err);
	assert_non_null(reply);
	json_decref(reply);
	assert_int_equal(demands.all.n, 0);
	assert_int_equal(ask(USER, 0, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_most, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_too_many, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_withdraw, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_superuser, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
