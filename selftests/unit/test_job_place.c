// SPDX-License-Identifier: GPL-2.0
/*
 * Which path QPs of jobs are to take, look by look: as the module has the
 * policy, while flows come and go, and after a srpold before this one.
 */
#include <string.h>

#include "place.h"
#include "srpold.h"
#include "test.h"

#define COLOR		1000
#define PRIO		40000
#define FIRST		2000	/* id of the first path */
#define MANY		(SRPOL_LISTS_MAX + 8)
#define IFINDEX		3

struct vec jobs = VEC_INIT(struct job);
static struct engine engine;
static struct job *job;
static struct vec flows = VEC_INIT(struct job_flow);
static struct vec there = VEC_INIT(struct rule_info);
static bool nobody_knows;
static uint32_t ended;		/* this QP is no process's any more */

/* ---- what it needs of the rest */

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	return (struct engine_path *)e->paths.data + index;
}

static int by_qp(const void *a, const void *b)
{
	const struct job_flow *x = a, *y = b;
	int order = (x->slot > y->slot) - (x->slot < y->slot) ?:
		    memcmp(&x->dst, &y->dst, sizeof(x->dst));

	return order ?: (x->qp > y->qp) - (x->qp < y->qp);
}

bool job_flows(struct engine *e, struct vec *all)
{
	const struct job_flow *flow;

	vec_for_each(flow, &flows)
		vec_insert(all, flow, by_qp);
	return !nobody_knows;
}

bool job_is_by_process(const struct job *j)
{
	return j->pid;
}

/* Those whose source ends in 9 are somebody else's. */
bool job_has_qp(const struct job *j, uint32_t remote,
		const struct in6_addr *src, uint32_t *ifindex)
{
	if (!*ifindex && src->s6_addr[15] != 1)
		return false;
	if (j->pid)
		*ifindex = IFINDEX;
	return remote != ended;
}

int srpol_fetch(struct srpol_genl *g, uint8_t cmd, struct vec *vec,
		struct srpol_error *err)
{
	const struct rule_info *rule;

	assert_int_equal(cmd, SRPOL_CMD_RULE_GET);
	vec_for_each(rule, &there)
		*(struct rule_info *)vec_add(vec) = *rule;
	return 0;
}

void log_debug(const char *fmt, ...)
{
}

void log_info(const char *fmt, ...)
{
}

/* ---- from host 0 over so many spines to hosts 1 and 2 */

static struct in6_addr address(uint32_t host)
{
	return (struct in6_addr){ .s6_addr = { 0xfd, [15] = host } };
}

static struct engine_policy *policy_to(uint32_t dst)
{
	return (struct engine_policy *)engine.policies.data + dst - 1;
}

static void add_policy(uint32_t dst, uint32_t spines)
{
	struct engine_policy *policy = vec_add(&engine.policies);
	struct engine_path *path;
	uint32_t i;

	*policy = (struct engine_policy){
		.color = COLOR, .endpoint = address(dst), .src = 0, .dst = dst,
		.first = engine.paths.n, .n = spines,
		.weight = calloc(spines, sizeof(uint32_t)),
	};
	for (i = 0; i < spines; i++) {
		policy->weight[i] = 1;
		path = vec_add(&engine.paths);
		path->id = FIRST + policy->first + i;
		path->leader = policy->first + i;
		path->up = true;
		liveness_init(&path->live, 1);
	}
}

static void begin(uint32_t spines)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(3, 1, spines,
							  1000000000);
	struct srpol_error err = {};
	uint32_t dst;

	engine = (struct engine){
		.config = { .job_prio = PRIO },
		.fabric = srpol_fabric_generate(&shape, &err),
		.paths = VEC_INIT(struct engine_path),
		.policies = VEC_INIT(struct engine_policy),
	};
	assert_non_null(engine.fabric);
	for (dst = 1; dst < 3; dst++)
		add_policy(dst, spines);
}

static void end(void)
{
	struct engine_policy *policy;

	vec_for_each(policy, &engine.policies) {
		free(policy->weight);
		free(policy->slice);
		free(policy->planned);
	}
	vec_free(&engine.policies);
	vec_free(&engine.paths);
	srpol_fabric_free(engine.fabric);
}

static int set_up(void **state)
{
	begin(4);
	vec_free(&flows);
	vec_free(&there);
	vec_free(&jobs);
	nobody_knows = false;
	ended = 0;
	job = vec_add(&jobs);
	*job = (struct job){ .name = "j", .slot = 2, .color = COLOR,
			     .pid = 77, .placed = true };
	job_place_forget(job);
	return 0;
}

static int tear_down(void **state)
{
	job_place_forget(job);
	end();
	return 0;
}

static struct job_flow *add_flow(uint32_t dst, uint32_t qp, uint64_t more)
{
	struct job_flow *flow = vec_add(&flows);

	*flow = (struct job_flow){
		.slot = job->slot, .dst = address(dst), .qp = qp,
		.src = { .s6_addr = { 0xfd, [15] = 1 } },
		.endpoint = address(dst), .more = more,
	};
	return flow;
}

/* QPs from 10 on, to that host, each with so much. */
static void sends(uint32_t dst, uint32_t n, uint64_t more)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		add_flow(dst, 10 + i, more);
}

static const struct placed_qp *qp_at(uint32_t dst, uint32_t qp)
{
	const struct in6_addr to = address(dst);
	const struct placed_qp *placed;

	vec_for_each(placed, job_place_qps(job))
		if (placed->qp == qp && !memcmp(&placed->dst, &to, sizeof(to)))
			return placed;
	return NULL;
}

static void look(void)
{
	const struct placed_qp *last = NULL, *qp;
	uint64_t slots = 0;

	job_place_look(&engine);
	vec_for_each(qp, job_place_qps(job)) {
		/* in order, and each slot once */
		assert_true(!last || memcmp(&last->dst, &qp->dst, 16) < 0 ||
			    last->qp < qp->qp);
		last = qp;
		if (qp->slot == PLACE_NONE) {
			assert_int_equal(qp->path, 0);
			continue;
		}
		assert_true(qp->slot < JOB_PLACED);
		assert_false(slots >> qp->slot & 1);
		slots |= 1ull << qp->slot;
	}
}

static uint32_t on_path(uint32_t path)
{
	const struct placed_qp *qp;
	uint32_t n = 0;

	vec_for_each(qp, job_place_qps(job))
		n += path && qp->path == path;
	return n;
}

static void check_counts(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	assert_int_equal(on_path(FIRST), a);
	assert_int_equal(on_path(FIRST + 1), b);
	assert_int_equal(on_path(FIRST + 2), c);
	assert_int_equal(on_path(FIRST + 3), d);
}

static void test_place(void **state)
{
	sends(1, 8, 1000);
	add_flow(1, 11, 500);		/* a second one of it */
	add_flow(1, 40, 1000)->src.s6_addr[15] = 9;
	add_flow(1, 41, 1000)->slot = job->slot + 1;
	look();
	assert_int_equal(job_place_qps(job)->n, 8);
	check_counts(2, 2, 2, 2);
	assert_int_equal(qp_at(1, 11)->ifindex, IFINDEX);
	/* what was before the first look is no news */
	assert_true(qp_at(1, 11)->recent == 0);
}

/* What is not its own comes first: that says nothing of what does. */
static void test_number_again(void **state)
{
	add_flow(1, 10, 1000)->src.s6_addr[15] = 9;
	add_flow(1, 10, 1000);
	look();
	assert_int_equal(job_place_qps(job)->n, 1);
	assert_non_null(qp_at(1, 10));
}

/* Down by whose verdict ever; not one of the policy's in the module. */
static void test_usable(void **state)
{
	sends(1, 8, 1000);
	engine_path(&engine, 0)->stopped = true;
	engine_path(&engine, 1)->id = 0;
	look();
	check_counts(0, 0, 4, 4);
	assert_int_equal(on_path(0), 0);
	engine_path(&engine, 2)->up = false;
	look();
	check_counts(0, 0, 0, 8);
	engine_path(&engine, 3)->live.state = LIVENESS_DOWN;
	look();
	check_counts(0, 0, 0, 0);
	assert_int_equal(job_place_qps(job)->n, 8);
}

/* A policy of the module has so many lists, the first ones. */
static void test_many(void **state)
{
	const struct placed_qp *qp;
	uint32_t i;

	end();
	begin(MANY);
	engine_path(&engine, 5)->id = 0;
	sends(1, JOB_PLACED, 1000);
	look();
	vec_for_each(qp, job_place_qps(job)) {
		assert_true(qp->path >= FIRST);
		assert_true(qp->path <= FIRST + SRPOL_LISTS_MAX);
	}
	for (i = 0; i < SRPOL_LISTS_MAX; i++)
		engine_path(&engine, i)->stopped = true;
	look();
	/* one that is not made leaves its place to the next one */
	assert_int_equal(on_path(FIRST + SRPOL_LISTS_MAX), JOB_PLACED);
}

/* The plan's weights are in force while the module has something of them. */
static void test_planned(void **state)
{
	struct engine_policy *policy = policy_to(1);

	policy->planned = calloc(policy->n, sizeof(uint32_t));
	policy->planned[0] = 3;
	policy->planned[1] = 1;
	sends(1, 8, 1000);
	look();
	check_counts(6, 2, 0, 0);
	engine_path(&engine, 0)->stopped = true;
	look();
	check_counts(0, 8, 0, 0);
	engine_path(&engine, 1)->stopped = true;
	look();
	check_counts(0, 0, 4, 4);
	engine_path(&engine, 0)->stopped = false;
	look();
	check_counts(8, 0, 0, 0);
}

/* Who pauses loses flows to others, but no place; who ends does. */
static void test_pause(void **state)
{
	struct placed_qp before[8];
	uint32_t i;

	sends(1, 8, 1000);
	look();
	look();
	vec_free(&flows);
	look();
	memcpy(before, job_place_qps(job)->data, sizeof(before));
	for (i = 0; i < 200; i++)
		look();
	assert_int_equal(job_place_qps(job)->n, 8);
	assert_memory_equal(before, job_place_qps(job)->data, sizeof(before));
	/* they are there again */
	sends(1, 8, 1000);
	look();
	for (i = 0; i < 8; i++)
		assert_int_equal(qp_at(1, 10 + i)->path, before[i].path);
	/* one process ends, and one QP sends no more */
	vec_free(&flows);
	sends(1, 7, 1000);
	ended = 12;
	look();
	assert_null(qp_at(1, 12));
	assert_int_equal(job_place_qps(job)->n, 7);
	for (i = 0; i < 63; i++)
		look();
	assert_non_null(qp_at(1, 17));
	look();
	assert_null(qp_at(1, 17));
	assert_int_equal(job_place_qps(job)->n, 6);
	/* nobody knows what is sent: nothing changes */
	memcpy(before, job_place_qps(job)->data, 6 * sizeof(before[0]));
	nobody_knows = true;
	look();
	assert_memory_equal(before, job_place_qps(job)->data,
			    6 * sizeof(before[0]));
}

/* Without processes nobody says that it is there: likewise, while others send. */
static void test_pause_range(void **state)
{
	uint32_t i;

	job->pid = 0;
	job->qp[0] = 10;
	job->qp[1] = 20;
	sends(1, 8, 1000);
	look();
	vec_free(&flows);
	for (i = 0; i < 200; i++)
		look();
	assert_int_equal(job_place_qps(job)->n, 8);
	sends(1, 1, 1000);
	for (i = 0; i < 65; i++)
		look();
	assert_int_equal(job_place_qps(job)->n, 1);
}

/* Rules are for those that send most, however many others there are. */
static void test_slots(void **state)
{
	uint32_t i, slot;

	sends(1, JOB_PLACED, 0);
	sends(2, JOB_PLACED, 0);
	look();
	slot = qp_at(1, 10)->slot;
	assert_true(slot < JOB_PLACED);
	vec_free(&flows);
	sends(1, 1, 1000);
	add_flow(1, 11, 0);
	for (i = 0; i < JOB_PLACED; i++)
		add_flow(2, 10 + i, 700);
	look();
	assert_int_equal(qp_at(1, 10)->slot, slot);
	assert_int_equal(qp_at(1, 11)->slot, PLACE_NONE);
	assert_int_equal(qp_at(1, 11)->path, 0);
	for (i = 0, slot = 0; i < JOB_PLACED; i++)
		slot += qp_at(2, 10 + i)->path != 0;
	assert_int_equal(slot, JOB_PLACED - 1);
}

/* A topology is read anew: paths have other numbers, or other ids. */
static void test_reload(void **state)
{
	uint32_t i, id[4];

	sends(1, 4, 1000);
	look();
	look();
	for (i = 0; i < 4; i++)
		id[i] = qp_at(1, 10 + i)->path;
	for (i = 0; i < 4; i++)
		engine_path(&engine, i)->id = FIRST + 3 - i;
	look();
	for (i = 0; i < 4; i++)
		assert_int_equal(qp_at(1, 10 + i)->path, id[i]);
	for (i = 0; i < 4; i++)
		engine_path(&engine, i)->id = 3000 + 3 - i;
	look();
	for (i = 0; i < 4; i++)
		assert_int_equal(qp_at(1, 10 + i)->path, id[i] - FIRST + 3000);
}

static void change_anything(u64 *seed)
{
	struct engine_path *path;
	uint32_t i, n;

	path = engine_path(&engine, test_random(seed) % engine.paths.n);
	switch (test_random(seed) % 8) {
	case 0:
		path->stopped = !path->stopped;
		break;
	case 1:
		path->id = path->id ? 0 : 5000 + test_random(seed) % 10000;
		break;
	case 2:
		policy_to(1 + test_random(seed) % 2)->weight[
			test_random(seed) % 4] = test_random(seed) % 3;
		break;
	case 3:
		ended = 10 + test_random(seed) % 30;
		break;
	case 4:
		nobody_knows = !nobody_knows;
		break;
	default:
		vec_free(&flows);
		n = test_random(seed) % 120;
		for (i = 0; i < n; i++)
			add_flow(1 + test_random(seed) % 2,
				 10 + test_random(seed) % 60,
				 test_random(seed) % 3 * 1000)->takes =
				path->id;
	}
}

/* Whatever happens: a slot for each, and a path that its policy has. */
static void test_anything(void **state)
{
	const struct placed_qp *qp;
	const struct engine_path *path;
	uint32_t i, first, step;
	u64 seed = 4711;

	for (step = 0; step < 3000; step++) {
		change_anything(&seed);
		look();
		vec_for_each(qp, job_place_qps(job)) {
			if (!qp->path || nobody_knows)
				continue;
			first = 4 * (qp->dst.s6_addr[15] - 1);
			for (i = 0; i < 4; i++) {
				path = engine_path(&engine, first + i);
				if (path->id == qp->path)
					break;
			}
			assert_true(i < 4);
			assert_false(path->stopped);
		}
	}
}

static struct rule_info *add_rule(uint32_t n, uint32_t qp, uint32_t path)
{
	struct rule_info *rule = vec_add(&there);

	*rule = (struct rule_info){
		.priority = PRIO + 5 * JOB_RULES + n, .name = "j",
		.origin = SRPOL_ORIGIN_ENGINE, .color = COLOR,
		.match = SRPOL_MATCH_QP | SRPOL_MATCH_DST | SRPOL_MATCH_DEV,
		.ifindex = IFINDEX, .qp = { qp, qp }, .dst = address(1),
		.dst_len = 128, .path = path,
	};
	return rule;
}

/* The rules of before stay, also where others would have been chosen. */
static void test_adopt(void **state)
{
	const struct placed_qp *qp;

	add_rule(7, 10, FIRST + 3);
	add_rule(3, 11, FIRST + 3);
	add_rule(9, 12, FIRST + 2);
	add_rule(10, 13, 999);			/* no path of theirs */
	job_adopt(&engine);
	assert_int_equal(job_place_qps(job)->n, 4);
	qp = qp_at(1, 10);
	assert_int_equal(qp->path, FIRST + 3);
	assert_int_equal(qp->slot, 7);
	assert_int_equal(qp->ifindex, IFINDEX);
	/* 12 has no flow yet, or no more */
	add_flow(1, 10, 1000);
	add_flow(1, 11, 1000);
	add_flow(1, 13, 1000);
	add_flow(1, 14, 1000);
	look();
	assert_int_equal(qp_at(1, 10)->path, FIRST + 3);
	assert_int_equal(qp_at(1, 10)->slot, 7);
	assert_int_equal(qp_at(1, 11)->path, FIRST + 3);
	assert_int_equal(qp_at(1, 12)->path, FIRST + 2);
	assert_int_equal(qp_at(1, 12)->slot, 9);
	assert_int_equal(qp_at(1, 13)->slot, 10);
	check_counts(1, 1, 1, 2);
	/* what was sent before that is no news */
	assert_true(qp_at(1, 10)->recent == 0);
	look();
	assert_true(qp_at(1, 10)->recent == 1000);
}

static void test_adopt_not(void **state)
{
	add_rule(0, 10, FIRST)->origin = SRPOL_ORIGIN_STATIC;
	add_rule(1, 11, 0);
	add_rule(2, 12, FIRST)->color = COLOR + 1;
	add_rule(3, 13, FIRST)->name[0] = 'k';
	add_rule(4, 14, FIRST)->qp[1] = 15;
	add_rule(5, 15, FIRST)->dst_len = 64;
	add_rule(6, 16, FIRST)->match = SRPOL_MATCH_QP;
	add_rule(7, 17, FIRST)->match |= SRPOL_MATCH_MARK;
	add_rule(JOB_PLACED, 18, FIRST);
	add_rule(8, 19, FIRST)->priority = PRIO - 8;
	add_rule(9, 20, FIRST)->priority = PRIO + JOBS_MAX * JOB_RULES + 9;
	job_adopt(&engine);
	assert_int_equal(job_place_qps(job)->n, 0);
	job->placed = false;
	add_rule(0, 21, FIRST);
	job_adopt(&engine);
	assert_int_equal(job_place_qps(job)->n, 0);
	/* twice the same slot, or the same QP */
	job->placed = true;
	add_rule(JOB_RULES, 22, FIRST);
	add_rule(1, 21, FIRST);
	job_adopt(&engine);
	assert_int_equal(job_place_qps(job)->n, 1);
	assert_int_equal(qp_at(1, 21)->slot, 0);
}

int main(void)
{
#define TEST(name)	cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_place),
		TEST(test_number_again),
		TEST(test_usable),
		TEST(test_many),
		TEST(test_planned),
		TEST(test_pause),
		TEST(test_pause_range),
		TEST(test_slots),
		TEST(test_reload),
		TEST(test_anything),
		TEST(test_adopt),
		TEST(test_adopt_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
