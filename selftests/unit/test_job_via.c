// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs of the local engine that go through functions of switches: the engine's
 * own code, on a fabric of two leaves and three spines, without a module.
 */
#include <errno.h>
#include <string.h>

#include "srpold.h"
#include "test.h"

/* Host a and b at leaf1, c at leaf2; spines 2 and 3 offer "sum". */
static const char topology[] =
"{ \"srpol-topology\": 1, \"switches\": ["
"  {\"name\": \"leaf1\", \"role\": \"leaf\", \"locator\": \"fc00:0:11::/48\"},"
"  {\"name\": \"leaf2\", \"role\": \"leaf\", \"locator\": \"fc00:0:12::/48\","
"   \"functions\": [{\"name\": \"end\", \"kind\": \"opaque\", \"function\": \"::b0\"}]},"
"  {\"name\": \"spine1\", \"role\": \"spine\", \"locator\": \"fc00:0:21::/48\"},"
"  {\"name\": \"spine2\", \"role\": \"spine\", \"locator\": \"fc00:0:22::/48\","
"   \"functions\": [{\"name\": \"sum\", \"kind\": \"aggregate\", \"function\": \"::a1\"}]},"
"  {\"name\": \"spine3\", \"role\": \"spine\", \"locator\": \"fc00:0:23::/48\","
"   \"functions\": [{\"name\": \"sum\", \"kind\": \"aggregate\", \"function\": \"::a1\"}]}],"
" \"hosts\": ["
"  {\"name\": \"a\", \"locator\": \"fc00:0:a::/48\", \"nics\": [{\"name\": \"n\", \"leaf\": \"leaf1\", \"rate\": \"1G\"}]},"
"  {\"name\": \"b\", \"locator\": \"fc00:0:b::/48\", \"nics\": [{\"name\": \"n\", \"leaf\": \"leaf1\", \"rate\": \"1G\"}]},"
"  {\"name\": \"c\", \"locator\": \"fc00:0:c::/48\", \"nics\": [{\"name\": \"n\", \"leaf\": \"leaf2\", \"rate\": \"1G\"}]}],"
" \"links\": ["
"  {\"from\": \"leaf1\", \"to\": \"spine1\", \"rate\": \"1G\"}, {\"from\": \"leaf2\", \"to\": \"spine1\", \"rate\": \"1G\"},"
"  {\"from\": \"leaf1\", \"to\": \"spine2\", \"rate\": \"1G\"}, {\"from\": \"leaf2\", \"to\": \"spine2\", \"rate\": \"1G\"},"
"  {\"from\": \"leaf1\", \"to\": \"spine3\", \"rate\": \"1G\"}, {\"from\": \"leaf2\", \"to\": \"spine3\", \"rate\": \"1G\"}]}";

#define OWN_PATHS	4	/* one to b, three to c */

static struct engine engine;
static struct srpol_error err;

/* ---- what it needs of the rest */

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	return (struct engine_path *)e->paths.data + index;
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
	assert_ptr_equal(e, &engine);
}

/* ---- as engine_build() has it */

static void own_policy(uint32_t dst, const char *name)
{
	const struct srpol_fabric *f = engine.fabric;
	struct engine_policy *policy = vec_add(&engine.policies);
	struct srpol_path_set set;
	struct srpol_route route;
	struct engine_path *path;
	uint32_t i;

	assert_int_equal(srpol_path_set_init(f, 0, dst, &set), 0);
	*policy = (struct engine_policy){
		.src = 0, .dst = dst, .color = 100, .first = engine.paths.n,
		.n = set.n, .weight = calloc(set.n + 1, sizeof(uint32_t)),
	};
	strcpy(policy->name, name);
	for (i = 0; i < set.n; i++) {
		path = vec_add(&engine.paths);
		srpol_path_get(f, &set, i, &route);
		path->peer = f->gpus[dst].host;
		path->top = f->links[route.link[route.n / 2 - 1]].to;
		path->leader = engine.paths.n - 1;
		path->far.n = 1;
		path->up = true;
		path->id = 7 + i;
		strcpy(path->name, "a-");
		strcat(strcat(path->name, f->nodes[path->top].name), "-");
		strcat(path->name, name);
		assert_int_equal(srpol_sids_of_path(f, &route, SRPOL_HOPS_ALL,
						    NULL, SRPOL_SID_REDUCED,
						    &path->segs, &err), 0);
	}
	srpol_path_set_free(&set);
}

static int up(void **state)
{
	(void)state;
	engine = (struct engine){
		.config = { .color = 100, .job_color = 1000 },
		.paths = VEC_INIT(struct engine_path),
		.policies = VEC_INIT(struct engine_policy),
		.rules = VEC_INIT(struct rule_info),
	};
	engine.fabric = srpol_topology_parse(topology, sizeof(topology) - 1,
					     &err);
	assert_non_null(engine.fabric);
	own_policy(1, "b");
	own_policy(2, "c");
	engine.n_own = engine.policies.n;
	engine.n_own_paths = engine.paths.n;
	assert_int_equal(engine.n_own_paths, OWN_PATHS);
	return 0;
}

static int down(void **state)
{
	struct engine_policy *policy;

	(void)state;
	vec_free(&jobs);
	jobs = (struct vec)VEC_INIT(struct job);
	jobs_build(&engine, true, &err);
	vec_for_each(policy, &engine.policies)
		free(policy->weight);
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
	return (struct engine_policy *)engine.policies.data + i;
}

static void has_segs(const struct engine_path *path, const char *first)
{
	char buf[SRPOL_ADDR_STRLEN];

	if (!first) {
		assert_int_equal(path->segs.n, 0);
		return;
	}
	assert_int_equal(path->segs.n, 3);
	assert_string_equal(srpol_addr_text(&path->segs.sid[0], buf), first);
}

static void goes_through(void **state)
{
	(void)state;
	struct engine_path *path;
	uint32_t i;

	path = engine_path(&engine, 2);
	path->closed_known = path->path_ce_known = true;
	path->closed_packets = path->closed_cnp = path->closed_path_ce = 5;
	path->stats.received = 9;
	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1, \"via\": \"sum\"}"),
			 0);
	assert_int_equal(engine.policies.n, 4);
	/* under the leaf there is no spine: ordinary paths */
	assert_int_equal(policy(2)->first, 0);
	assert_null(policy(2)->slice);
	/* paths of its own, of which that over spine1 is not to be made */
	assert_int_equal(engine.paths.n, OWN_PATHS + 3);
	assert_int_equal(policy(3)->first, OWN_PATHS);
	assert_int_equal(policy(3)->color, 1000);
	path = engine_path(&engine, OWN_PATHS);
	has_segs(&path[0], NULL);
	has_segs(&path[1], "fc00:0:22::a1");
	has_segs(&path[2], "fc00:0:23::a1");
	assert_string_equal(path[1].name, "j-a-spine2-c");
	for (i = 0; i < 3; i++) {
		assert_int_equal(policy(3)->slice[i], i > 0);
		/* the probe is the ordinary path's; the module has none yet */
		assert_int_equal(path[i].leader, 1 + i);
		assert_int_equal(path[i].id, 0);
		assert_false(path[i].up);
		assert_int_equal(path[i].far.n, 0);
		/* nor was anything counted of it */
		assert_false(path[i].closed_known || path[i].path_ce_known);
		assert_int_equal(path[i].closed_packets, 0);
		assert_int_equal(path[i].closed_cnp, 0);
		assert_int_equal(path[i].closed_path_ce, 0);
		assert_int_equal(path[i].stats.received, 0);
		assert_int_equal(path[i].peer, path->peer);
		assert_int_equal(path[i].top, engine_path(&engine, 1 + i)->top);
	}
	/* the engine's own policies and paths are as they were */
	assert_int_equal(policy(1)->first, 1);
	has_segs(engine_path(&engine, 2), "fc00:0:22::1");
	assert_int_equal(engine_path(&engine, 2)->id, 8);
}

/* The engine's lists are compressed, but the function has no compressed SID. */
static void is_named_in_full(void **state)
{
	(void)state;

	engine.config.segments.usid = true;
	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1, \"via\": \"sum\"}"),
			 0);
	has_segs(engine_path(&engine, OWN_PATHS + 1), "fc00:0:22::a1");
}

static void builds_again(void **state)
{
	(void)state;
	uint32_t i;

	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1, \"via\": \"aggregate\"}"),
			 0);
	assert_int_equal(add("{\"name\": \"k\", \"pid\": 2, \"via\": \"end\"}"),
			 0);
	assert_int_equal(add("{\"name\": \"l\", \"pid\": 3}"), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(jobs_build(&engine, true, &err), 0);
	assert_int_equal(engine.policies.n, 8);
	assert_int_equal(engine.paths.n, OWN_PATHS + 6);
	assert_int_equal(policy(7)->first, 1);
	/* behind spines 1 to 3, and the leaf's own function */
	assert_int_equal(policy(5)->first, OWN_PATHS + 3);
	has_segs(engine_path(&engine, OWN_PATHS + 3), "fc00:0:21::1");
	jobs.n = 0;
	assert_int_equal(jobs_build(&engine, true, &err), 0);
	assert_int_equal(engine.paths.n, OWN_PATHS);
	assert_int_equal(engine.policies.n, 2);
}

static void tells(void **state)
{
	(void)state;
	const char *switches, *names;
	json_t *list;

	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1, \"via\": \"sum\"}"),
			 0);
	list = functions_request(&engine, NULL, &err);
	assert_int_equal(json_array_size(list), 3);
	assert_int_equal(json_unpack(json_array_get(list, 1), "{s:s, s:[{s:s}], s:{s:F, s:n}}",
				     "switch", &switches, "jobs", "name", &names,
				     "model", "ratio", &(double){ 0 }, "rate"), 0);
	assert_string_equal(switches, "spine2");
	assert_string_equal(names, "j");
	assert_int_equal(json_array_size(json_object_get(
		json_array_get(list, 0), "jobs")), 0);
	json_decref(list);
}

static void in_a_slice(void **state)
{
	(void)state;
	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1, \"paths\": [\"spine3\", \"leaf1\"], \"via\": \"sum\"}"),
			 0);
	assert_false(policy(3)->slice[0] || policy(3)->slice[1]);
	assert_true(policy(3)->slice[2]);
	has_segs(engine_path(&engine, OWN_PATHS + 1), NULL);
	has_segs(engine_path(&engine, OWN_PATHS + 2), "fc00:0:23::a1");
	jobs.n = 0;
	/* no path of its slice offers it, to any peer */
	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1, \"paths\": [\"spine1\", \"leaf1\"], \"via\": \"sum\"}"),
			 -ENOENT);
	assert_string_equal(err.text, "job \"j\": no path to any peer passes a switch that offers \"sum\"");
	assert_int_equal(engine.paths.n, OWN_PATHS);
}

/* Two jobs whose function goes: the caller passes one message on, both are told. */
static void all_are_told(void **state)
{
	struct job *job;

	(void)state;
	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1, \"via\": \"sum\"}"),
			 0);
	assert_int_equal(add("{\"name\": \"k\", \"pid\": 2, \"via\": \"sum\"}"),
			 0);
	vec_for_each(job, &jobs)
		strcpy(job->via, "gone");
	n_errors = 0;
	assert_int_equal(jobs_build(&engine, true, &err), -ENOENT);
	assert_string_equal(err.text, "job \"j\": no switch offers a function of name or kind \"gone\"");
	assert_int_equal(n_errors, 1);
	/* once */
	assert_int_equal(jobs_build(&engine, true, &err), 0);
	assert_int_equal(n_errors, 1);
}

static void refuses(void **state)
{
	(void)state;
	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1, \"via\": \"magic\"}"),
			 -ENOENT);
	assert_string_equal(err.text, "\"via\": no switch offers a function of name or kind \"magic\"");
	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1, \"via\": \"multicast\"}"),
			 -ENOENT);
	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1, \"via\": 7}"),
			 -ENOENT);
	assert_int_equal(jobs.n, 0);
}

/* What it names is no more, and its color was given to the engine meanwhile. */
static void stays(void **state)
{
	json_t *o = json_loads("{\"name\": \"j\", \"pid\": 1, \"color\": 1000, \"paths\": [\"spine9\"], \"via\": \"magic\"}",
			       0, NULL);
	json_t *all = json_pack("[O{si}]", o, "color", 1001);
	struct job job = {};
	char name[64];

	(void)state;
	assert_non_null(o);
	assert_non_null(all);
	engine.config.color = 1000;
	assert_int_equal(job_from_json(&engine, o, NULL, &job, &err), -EEXIST);
	job = (struct job){};
	assert_int_equal(job_from_json(&engine, o, all, &job, &err), 0);
	engine.config.color = 100;
	/* not 1001, which is that of the next one */
	assert_int_equal(job.color, 1002);
	assert_string_equal(job.tops[0], "spine9");
	assert_string_equal(job.via, "magic");
	/* longer than any name may be */
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	json_object_set_new(o, "via", json_string(name));
	assert_int_equal(job_from_json(&engine, o, all, &job, &err), -ENOENT);
	json_object_del(o, "via");
	json_object_set_new(o, "paths", json_pack("[s]", name));
	assert_int_equal(job_from_json(&engine, o, all, &job, &err), -ENOENT);
	json_decref(all);
	json_decref(o);
}

static void placement(void **state)
{
	const struct job *job;
	json_t *o;

	(void)state;
	assert_int_equal(add("{\"name\": \"j\", \"pid\": 1}"), 0);
	assert_int_equal(add("{\"name\": \"k\", \"pid\": 2, \"placement\": \"qp\"}"), 0);
	assert_int_equal(add("{\"name\": \"l\", \"pid\": 3, \"placement\": \"hash\"}"), 0);
	job = jobs.data;
	assert_false(job[0].placed);
	assert_true(job[1].placed);
	assert_false(job[2].placed);
	o = job_to_json(&job[1]);
	assert_string_equal(json_string_value(json_object_get(o, "placement")), "qp");
	json_decref(o);
	o = job_to_json(&job[2]);
	assert_null(json_object_get(o, "placement"));
	json_decref(o);
	assert_int_equal(add("{\"name\": \"m\", \"pid\": 4, \"placement\": \"best\"}"), -EINVAL);
	assert_non_null(strstr(err.text, "neither \"hash\" nor \"qp\""));
	assert_int_equal(add("{\"name\": \"m\", \"pid\": 4, \"placement\": 1}"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(goes_through, up, down),
		cmocka_unit_test_setup_teardown(is_named_in_full, up, down),
		cmocka_unit_test_setup_teardown(builds_again, up, down),
		cmocka_unit_test_setup_teardown(tells, up, down),
		cmocka_unit_test_setup_teardown(in_a_slice, up, down),
		cmocka_unit_test_setup_teardown(all_are_told, up, down),
		cmocka_unit_test_setup_teardown(refuses, up, down),
		cmocka_unit_test_setup_teardown(stays, up, down),
		cmocka_unit_test_setup_teardown(placement, up, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
