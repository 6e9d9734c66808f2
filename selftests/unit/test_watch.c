// SPDX-License-Identifier: GPL-2.0
/*
 * What watchers are told of paths and QPs: shares, and why they changed. The
 * engine's own code, with paths, links and QPs of the test's.
 */
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "watchers.h"

#define PATHS	4
#define UP	SRPOL_PATH_STATE_UP
#define DOWN	SRPOL_PATH_STATE_DOWN

static struct engine_path paths[PATHS];
static struct link_info cables[PATHS];
static uint32_t weight[PATHS], planned[PATHS];
static struct engine_policy policy;
static struct engine engine;
static struct topics topics;
static struct topic topic;
static struct job job = { .name = "train", .color = 100 };
static struct vec placed = VEC_INIT(struct placed_qp);
static struct vec known = VEC_INIT(struct srpol_rdma_qp);

/* ---- what it needs of the rest */

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	assert_in_range(index, 0, PATHS - 1);
	return &paths[index];
}

uint64_t watch_now_us(void)
{
	return 12345;
}

json_t *watch_reasons(uint32_t because)
{
	return json_integer(because);
}

const struct job *watch_job(uint32_t color)
{
	return color == job.color ? &job : NULL;
}

void job_policies(struct engine *e, const struct job *of, struct vec *own)
{
	*(const struct engine_policy **)vec_add(own) = &policy;
}

const struct vec *job_place_qps(const struct job *of)
{
	return &placed;
}

const struct vec *job_qps(void)
{
	return &known;
}

/* ---- */

static const struct watched_paths *content(void)
{
	return topic.content;
}

/* Looks; the reasons of the change, -1 if there was none. */
static int look(void)
{
	uint64_t before = topic.version;

	topic.because[0] = 0;
	watch_paths_look(&engine, &topics, &topic, 0);
	return topic.version == before ? -1 : (int)topic.because[0];
}

static void assert_shares(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const uint32_t want[PATHS] = { a, b, c, d };
	uint32_t i;

	assert_int_equal(content()->n, PATHS);
	for (i = 0; i < PATHS; i++)
		assert_int_equal(content()->path[i].percent, want[i]);
}

static int begin(void **state)
{
	uint32_t i;

	memset(cables, 0, sizeof(cables));
	for (i = 0; i < PATHS; i++) {
		paths[i] = (struct engine_path){
			.id = 10 + i, .installed = true, .state = UP,
			.up = true, .links = { .n = 1, .link = { i } },
		};
		cables[i] = (struct link_info){ .heard = 100 };
		weight[i] = 1;
		planned[i] = i;
	}
	policy = (struct engine_policy){
		.color = 100, .n = PATHS, .weight = weight,
	};
	engine = (struct engine){
		.policies = { .data = &policy, .n = 1,
			      .size = sizeof(policy) },
		.links = { .cables = cables, .n = PATHS },
	};
	topic = (struct topic){ .version = 1, .concerns = 1 };
	assert_int_equal(look(), -1);
	return 0;
}

static int end(void **state)
{
	free(topic.content);
	vec_free(&placed);
	vec_free(&known);
	return 0;
}

static void failure(void **state)
{
	assert_shares(25, 25, 25, 25);
	assert_string_equal(content()->by, "engine");
	assert_int_equal(look(), -1);
	paths[1].state = DOWN;
	paths[1].reason = SRPOL_PATH_REASON_PROBES_LOST;
	assert_int_equal(look(), BECAUSE_FAILURE);
	assert_shares(33, 0, 33, 33);
	assert_int_equal(content()->usable, 3);
	assert_int_equal(content()->path[1].version, topic.version);
	assert_int_equal(content()->path[1].since_us, 12345);
	assert_int_equal(content()->path[0].version, 0);
	/* another reason is a change, but nothing follows from it */
	paths[1].reason = SRPOL_PATH_REASON_UNREACHABLE_REPORTED;
	assert_int_equal(look(), 0);
	/* what follows from the failure is no other reason */
	paths[2].state = DOWN;
	weight[0] = 5;
	assert_int_equal(look(), BECAUSE_FAILURE);
	assert_shares(83, 0, 0, 17);
	paths[1].state = UP;
	paths[1].reason = 0;
	assert_int_equal(look(), BECAUSE_RECOVERY);
	assert_shares(71, 14, 0, 14);
	paths[0].state = paths[1].state = paths[3].state = DOWN;
	assert_int_equal(look(), BECAUSE_FAILURE);
	assert_int_equal(content()->usable, 0);
	assert_shares(0, 0, 0, 0);
	assert_string_equal(content()->fallback, "plain-ip");
	policy.drops = true;
	assert_int_equal(look(), BECAUSE_OPERATOR);
	assert_string_equal(content()->fallback, "drop");
}

static void links(void **state)
{
	cables[2].quality.level = 2;
	cables[2].quality.word = QUALITY_MARKS;
	assert_int_equal(look(), -1);
	/* weights follow later, when the present interval says nothing bad */
	cables[2].quality.word = QUALITY_UNSURE;
	assert_int_equal(look(), -1);
	weight[2] = 0;
	assert_int_equal(look(), BECAUSE_CONGESTION);
	assert_shares(33, 33, 0, 33);
	assert_int_equal(content()->usable, 3);
	cables[1].quality.level = 1;
	cables[1].quality.word = QUALITY_LOSS;
	weight[0] = 2;
	assert_int_equal(look(), BECAUSE_LOSS);
	cables[2].quality.level = 0;
	weight[2] = 1;
	assert_int_equal(look(), BECAUSE_RELIEF);
	cables[0].said = 1 << LINK_FEED;
	cables[0].capacity[LINK_FEED] = 1000;
	weight[0] = 3;
	assert_int_equal(look(), BECAUSE_CAPACITY);
	cables[3].heard = 60;
	weight[3] = 2;
	assert_int_equal(look(), BECAUSE_PEER);
	weight[3] = 3;
	assert_int_equal(look(), BECAUSE_BALANCE);
}

static void plan(void **state)
{
	policy.planned = planned;
	assert_int_equal(look(), BECAUSE_PLAN);
	assert_shares(0, 17, 33, 50);
	assert_string_equal(content()->by, "plan");
	planned[3] = 7;
	assert_int_equal(look(), BECAUSE_PLAN);
	assert_shares(0, 10, 20, 70);
	/* weights of the engine apply when no path of the plan's is up */
	paths[1].state = paths[2].state = DOWN;
	assert_int_equal(look(), BECAUSE_FAILURE);
	assert_shares(0, 0, 0, 100);
	paths[3].state = DOWN;
	assert_int_equal(look(), BECAUSE_FAILURE);
	assert_shares(100, 0, 0, 0);
	assert_string_equal(content()->by, "engine");
	paths[3].state = UP;
	assert_int_equal(look(), BECAUSE_RECOVERY | BECAUSE_PLAN);
	policy.planned = NULL;
	assert_int_equal(look(), BECAUSE_PLAN);
	assert_shares(50, 0, 0, 50);
}

/* What the plan does at the same time does not follow from a failure. */
static void plan_and_failure(void **state)
{
	paths[1].state = DOWN;
	policy.planned = planned;
	assert_int_equal(look(), BECAUSE_FAILURE | BECAUSE_PLAN);
	assert_shares(0, 0, 40, 60);
	planned[3] = 7;
	paths[0].state = DOWN;
	assert_int_equal(look(), BECAUSE_FAILURE | BECAUSE_PLAN);
	assert_shares(0, 0, 22, 78);
	policy.planned = NULL;
	paths[2].state = DOWN;
	assert_int_equal(look(), BECAUSE_FAILURE | BECAUSE_PLAN);
	assert_shares(0, 0, 0, 100);
	assert_string_equal(content()->by, "engine");
	/* of no path that is up */
	planned[3] = 0;
	policy.planned = planned;
	paths[0].state = UP;
	assert_int_equal(look(), BECAUSE_RECOVERY);
}

/* Its weights may be those that apply already. */
static void plan_alike(void **state)
{
	uint32_t i;

	for (i = 0; i < PATHS; i++)
		planned[i] = 1;
	policy.planned = planned;
	assert_int_equal(look(), BECAUSE_PLAN);
	assert_shares(25, 25, 25, 25);
	assert_string_equal(content()->by, "plan");
	policy.planned = NULL;
	assert_int_equal(look(), BECAUSE_PLAN);
	assert_string_equal(content()->by, "engine");
	/* whether there is one does not matter to an operator's */
	policy.is_others = true;
	policy.planned = planned;
	assert_int_equal(look(), BECAUSE_OPERATOR);
	policy.planned = NULL;
	assert_int_equal(look(), -1);
}

static void operators(void **state)
{
	bool slice[PATHS] = { true, true };

	policy.is_others = true;
	assert_int_equal(look(), BECAUSE_OPERATOR);
	assert_string_equal(content()->by, "operator");
	assert_int_equal(content()->n, 0);
	policy.is_others = false;
	assert_int_equal(look(), BECAUSE_OPERATOR);
	assert_shares(25, 25, 25, 25);
	/* paths of a slice are others' */
	policy.slice = slice;
	look();
	assert_int_equal(content()->n, 2);
	policy.slice = NULL;
	/* what the module does not have is not used, whatever was said of it */
	paths[0].id = 0;
	paths[1].installed = false;
	look();
	assert_int_equal(content()->n, PATHS - 1);
	assert_int_equal(content()->path[0].id, 11);
	assert_int_equal(content()->path[0].state, SRPOL_PATH_STATE_UNRESOLVED);
	assert_int_equal(content()->usable, 2);
}

/* ---- QPs */

static void place(uint32_t qp, uint32_t path)
{
	struct placed_qp *placed_qp;

	vec_for_each(placed_qp, &placed)
		if (placed_qp->qp == qp) {
			placed_qp->path = path;
			return;
		}
	*(struct placed_qp *)vec_add(&placed) = (struct placed_qp){
		.qp = qp, .path = path, .ifindex = 3,
	};
}

static int look_qps(struct topic *qps)
{
	uint64_t before = qps->version;

	qps->because[0] = 0;
	watch_qps_look(&engine, &topics, qps);
	return qps->version == before ? -1 : (int)qps->because[0];
}

static json_t *show(struct topic *qps, bool all, uint32_t uid)
{
	struct watcher watcher = { .all = all, .uid = uid };

	return watch_qps_json(&engine, qps, 0, &watcher);
}

static json_int_t number(const json_t *o, const char *list, size_t i,
			 const char *member)
{
	return json_integer_value(json_object_get(
		json_array_get(json_object_get(o, list), i), member));
}

static void qps(void **state)
{
	struct topic of = { .key.number = 100, .version = 1, .concerns = 1 };
	json_t *o;

	place(7, 10);
	place(8, 11);
	place(9, 0);
	assert_int_equal(look_qps(&of), -1);
	of.told[0] = 1;
	assert_int_equal(look_qps(&of), -1);
	paths[1].stopped = true;
	place(8, 12);
	assert_int_equal(look_qps(&of), BECAUSE_FAILURE);
	o = show(&of, true, 0);
	assert_string_equal(json_string_value(json_object_get(o, "job")),
			    "train");
	assert_int_equal(json_array_size(json_object_get(o, "qps")), 2);
	assert_int_equal(json_array_size(json_object_get(o, "moved")), 1);
	assert_int_equal(number(o, "moved", 0, "qp"), 8);
	assert_int_equal(number(o, "moved", 0, "from"), 11);
	assert_int_equal(number(o, "moved", 0, "path"), 12);
	assert_int_equal(number(o, "moved", 0, "because"), BECAUSE_FAILURE);
	json_decref(o);
	of.told[0] = of.version;
	/* its path is as good as before: others send more */
	place(7, 13);
	assert_int_equal(look_qps(&of), BECAUSE_LOAD);
	weight[3] = 0;
	place(7, 12);
	assert_int_equal(look_qps(&of), BECAUSE_BALANCE);
	policy.planned = planned;
	planned[2] = 0;
	place(8, 13);
	assert_int_equal(look_qps(&of), BECAUSE_PLAN);
	/* one more, and one less, did not move */
	of.told[0] = of.version;
	place(9, 13);
	assert_int_equal(look_qps(&of), 0);
	place(7, 0);
	assert_int_equal(look_qps(&of), 0);
	o = show(&of, true, 0);
	assert_int_equal(json_array_size(json_object_get(o, "qps")), 2);
	assert_int_equal(json_array_size(json_object_get(o, "moved")), 0);
	json_decref(o);
	free(of.content);
}

static void others_qps(void **state)
{
	struct topic of = { .key.number = 100, .version = 1, .concerns = 1 };
	json_t *o;

	place(7, 10);
	place(8, 11);
	assert_int_equal(look_qps(&of), -1);
	/* nobody knows whose they are */
	assert_null(show(&of, false, getuid()));
	*(struct srpol_rdma_qp *)vec_add(&known) = (struct srpol_rdma_qp){
		.remote = 8, .ifindex = 3, .pid = getpid(),
	};
	/* of another device, so another one */
	*(struct srpol_rdma_qp *)vec_add(&known) = (struct srpol_rdma_qp){
		.remote = 7, .ifindex = 4, .pid = getpid(),
	};
	o = show(&of, false, getuid());
	assert_int_equal(json_array_size(json_object_get(o, "qps")), 1);
	assert_int_equal(number(o, "qps", 0, "qp"), 8);
	json_decref(o);
	assert_null(show(&of, false, getuid() + 1));
	of.told[0] = of.version;
	json_decref(show(&of, false, getuid()));
	/* another one is to send to the same number: whose is it? */
	*(struct srpol_rdma_qp *)vec_add(&known) = (struct srpol_rdma_qp){
		.remote = 8, .ifindex = 3,
	};
	/* of what was told there is nothing left, which is told once */
	o = show(&of, false, getuid());
	assert_non_null(o);
	assert_int_equal(json_array_size(json_object_get(o, "qps")), 0);
	json_decref(o);
	assert_null(show(&of, false, getuid()));
	known.n--;
	o = show(&of, false, getuid());
	assert_int_equal(json_array_size(json_object_get(o, "qps")), 1);
	json_decref(o);
	/* the QP ends */
	place(8, 0);
	assert_int_equal(look_qps(&of), 0);
	o = show(&of, false, getuid());
	assert_non_null(o);
	assert_int_equal(json_array_size(json_object_get(o, "qps")), 0);
	json_decref(o);
	place(8, 11);
	assert_int_equal(look_qps(&of), 0);
	/* who comes next in the slot was told nothing */
	json_decref(show(&of, false, getuid()));
	of.told[0] = 0;
	known.n = 0;
	assert_null(show(&of, false, getuid()));
	o = show(&of, true, getuid() + 1);
	assert_int_equal(json_array_size(json_object_get(o, "qps")), 2);
	json_decref(o);
	free(of.content);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(failure, begin, end),
		cmocka_unit_test_setup_teardown(links, begin, end),
		cmocka_unit_test_setup_teardown(plan, begin, end),
		cmocka_unit_test_setup_teardown(plan_and_failure, begin, end),
		cmocka_unit_test_setup_teardown(plan_alike, begin, end),
		cmocka_unit_test_setup_teardown(operators, begin, end),
		cmocka_unit_test_setup_teardown(qps, begin, end),
		cmocka_unit_test_setup_teardown(others_qps, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
