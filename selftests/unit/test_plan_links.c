// SPDX-License-Identifier: GPL-2.0
/* What a host reports of links: those that probes pass, and when they are gathered anew. */
#include <stdlib.h>

#include "srpold.h"
#include "test.h"

#define PATHS	2

static struct srpol_link cables[2 * PATHS];
static struct srpol_fabric fabric = { .links = cables, .n_links = 2 * PATHS };
static struct engine engine = { .fabric = &fabric };
static struct alarm *alarm;
static const struct follow_known *known;
static bool news;
static unsigned int weighed;
static unsigned int gathered;

/* ---- what it needs of the rest */

bool plan_is_followed(void)
{
	return true;
}

bool plan_tell(const struct follow_known *now)
{
	known = now;
	return news;
}

bool plan_weigh(void)
{
	weighed++;
	return false;
}

void balance_apply(void)
{
	fail();
}

size_t suspects_told(struct engine *e, struct follow_suspicion *told)
{
	gathered++;
	return 0;
}

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	return (struct engine_path *)e->paths.data + index;
}

void *store_alloc(size_t size)
{
	return calloc(1, size + 1);
}

int alarm_set(struct alarm *which, uint64_t ns)
{
	alarm = which;
	return 0;
}

void alarm_stop(struct alarm *which)
{
}

/* ---- */

static void look(void)
{
	alarm->ring(alarm->data);
}

static void add_path(uint32_t cable, uint32_t leader)
{
	struct engine_path *path = vec_add(&engine.paths);

	*path = (struct engine_path){
		.up = true, .links = { .n = 1, .link = { cable } }, .leader = leader,
	};
	liveness_init(&path->live, 1);
}

/* A probe of each path comes back. */
static void receive(void)
{
	uint32_t i;

	for (i = 0; i < PATHS; i++)
		engine_path(&engine, i)->stats.received++;
}

static int set_up(void **state)
{
	uint32_t i;

	engine.links.links = srpol_links_new(&fabric);
	assert_non_null(engine.links.links);
	engine.links.n = PATHS;
	engine.paths = (struct vec)VEC_INIT(struct engine_path);
	for (i = 0; i < PATHS; i++)
		add_path(i, i);
	plan_links_start(&engine);
	return 0;
}

static int end(void **state)
{
	plan_links_stop();
	vec_free(&engine.paths);
	srpol_links_free(engine.links.links);
	return 0;
}

static void test_passes(void **state)
{
	look();
	assert_false(known->passes[0] || known->passes[1]);
	receive();
	look();
	assert_true(known->passes[0] && known->passes[1]);
	engine_path(&engine, 1)->up = false;
	gathered = 0;
	look();
	assert_true(known->passes[0]);
	assert_false(known->passes[1]);
	look();
	assert_int_equal(gathered, 1);
}

/* All is as before when it looks for the first time, but for another engine. */
static void test_again(void **state)
{
	uint32_t i;

	receive();
	look();
	plan_links_stop();
	for (i = 0; i < PATHS; i++)
		engine_path(&engine, i)->stats.received = 0;
	plan_links_start(&engine);
	receive();
	look();
	assert_non_null(known->passes);
	assert_true(known->passes[0] && known->passes[1]);
}

/*
 * A path that is up speaks for its links, and one that has just lost a probe does not: what
 * was suspected while it did not is asked once more.
 */
static void test_suspect(void **state)
{
	receive();
	engine_path(&engine, 0)->live.state = LIVENESS_DOWN;
	engine_path(&engine, 1)->live.state = LIVENESS_SUSPECT;
	look();
	assert_false(known->passes[0]);
	assert_true(known->passes[1]);
	gathered = 0;
	look();
	assert_int_equal(gathered, 0);
	engine_path(&engine, 1)->live.state = LIVENESS_UP;
	look();
	assert_int_equal(gathered, 1);
}

/*
 * One that has lost a probe only after that makes nothing that was sure unsure, which would be
 * news to the engine, and once more when it is up; it is asked if it goes down.
 */
static void test_lost(void **state)
{
	receive();
	engine_path(&engine, 0)->live.state = LIVENESS_DOWN;
	look();
	gathered = 0;
	engine_path(&engine, 1)->live.state = LIVENESS_SUSPECT;
	look();
	assert_int_equal(gathered, 0);
	engine_path(&engine, 1)->live.state = LIVENESS_UP;
	look();
	assert_int_equal(gathered, 0);
	engine_path(&engine, 1)->live.state = LIVENESS_SUSPECT;
	look();
	engine_path(&engine, 1)->live.state = LIVENESS_DOWN;
	look();
	assert_int_equal(gathered, 1);
	assert_false(known->passes[1]);
}

/*
 * Paths lose a probe now and then: the weights that a plan gives follow from what links can
 * carry and from what is reported, and are computed for nothing else.
 */
static void test_weighed(void **state)
{
	receive();
	look();
	weighed = 0;
	engine_path(&engine, 1)->live.state = LIVENESS_SUSPECT;
	look();
	assert_int_equal(weighed, 0);
	srpol_links_set_capacity(engine.links.links, 0, 1);
	look();
	assert_int_equal(weighed, 1);
	news = true;
	look();
	assert_int_equal(weighed, 2);
	news = false;
	look();
	assert_int_equal(weighed, 2);
}

/* Probes of another path serve it, which alone says whether they come back. */
static void test_leader(void **state)
{
	add_path(1, 0);
	receive();
	engine_path(&engine, 0)->up = false;
	engine_path(&engine, 1)->up = false;
	engine_path(&engine, PATHS)->stats.received = 1;
	look();
	assert_false(known->passes[0] || known->passes[1]);
	gathered = 0;
	engine_path(&engine, PATHS)->up = false;
	look();
	assert_int_equal(gathered, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_passes, set_up, end),
		cmocka_unit_test_setup_teardown(test_again, set_up, end),
		cmocka_unit_test_setup_teardown(test_suspect, set_up, end),
		cmocka_unit_test_setup_teardown(test_lost, set_up, end),
		cmocka_unit_test_setup_teardown(test_weighed, set_up, end),
		cmocka_unit_test_setup_teardown(test_leader, set_up, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
