// SPDX-License-Identifier: GPL-2.0
/*
 * Which links a host suspects, and how sure it says that it is, from the states of
 * its paths: two peers behind four spines, probes over its own link, the leaf's, and
 * the peer leaf's.
 */
#include "srpold.h"
#include "test.h"

#define SPINES		4
#define PEERS		2
#define PATHS		(PEERS * SPINES)
#define CABLES		(1 + SPINES + PATHS)
#define OWN		0

static struct engine_path paths[PATHS];
static struct srpol_fabric fabric = { .n_links = 2 * CABLES };
static struct engine engine = { .fabric = &fabric };
static struct follow_suspicion told[SUSPECTS_TOLD];

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	return (struct engine_path *)e->paths.data + index;
}

static u32 up_to(u32 spine)
{
	return 1 + spine;
}

static u32 down_to(u32 peer, u32 spine)
{
	return 1 + SPINES + peer * SPINES + spine;
}

static struct engine_path *to(u32 peer, u32 spine)
{
	return &paths[peer * SPINES + spine];
}

static void set_all(enum liveness_state state)
{
	u32 i;

	for (i = 0; i < PATHS; i++)
		paths[i].live.state = state;
}

static int setup(void **state)
{
	u32 peer, spine;

	(void)state;
	for (peer = 0; peer < PEERS; peer++)
		for (spine = 0; spine < SPINES; spine++)
			*to(peer, spine) = (struct engine_path){
				.up = true, .leader = peer * SPINES + spine,
				.stats.received = 1,
				.links = { .n = 3, .link = { OWN, up_to(spine),
						down_to(peer, spine) } },
			};
	set_all(LIVENESS_UP);
	engine.paths.data = paths;
	engine.paths.n = PATHS;
	engine.paths.size = sizeof(paths[0]);
	return 0;
}

static bool holds(const struct follow_suspicion *s, u32 cable)
{
	u32 i;

	for (i = 0; i < s->n; i++)
		if (s->cable[i] == cable)
			return true;
	return false;
}

static void test_nothing(void **state)
{
	(void)state;
	assert_int_equal(suspects_told(&engine, told), 0);
}

/* One path is down, and others show that all but its last link work. */
static void test_sure(void **state)
{
	(void)state;
	to(0, 2)->live.state = LIVENESS_DOWN;
	assert_int_equal(suspects_told(&engine, told), 1);
	assert_int_equal(told[0].n, 1);
	assert_int_equal(told[0].cable[0], down_to(0, 2));
	assert_int_equal(told[0].confidence, 100);
}

/* Both paths over a spine: its link to the own leaf explains them, nothing else. */
static void test_spine(void **state)
{
	(void)state;
	to(0, 2)->live.state = LIVENESS_DOWN;
	to(1, 2)->live.state = LIVENESS_DOWN;
	assert_int_equal(suspects_told(&engine, told), 1);
	assert_int_equal(told[0].n, 1);
	assert_int_equal(told[0].cable[0], up_to(2));
	/* others explain half of it */
	assert_int_equal(told[0].confidence, FOLLOW_SURE);
}

/*
 * Nothing else explains all, and another link most of it: a core of three tiers
 * beside the link that leads to most of it. This is as sure as can be.
 */
static void test_most(void **state)
{
	u32 core = down_to(1, 3), i;

	(void)state;
	for (i = 0; i < 4; i++) {
		to(0, i)->live.state = LIVENESS_DOWN;
		to(0, i)->links.link[0] = core;
		to(0, i)->links.link[1] = i < 3 ? up_to(0) : up_to(1);
	}
	to(1, 3)->up = false;
	to(1, 0)->up = false;
	to(1, 1)->up = false;
	assert_int_equal(suspects_told(&engine, told), 1);
	assert_int_equal(told[0].cable[0], core);
	assert_int_equal(told[0].n, 1);
	assert_int_equal(told[0].confidence, FOLLOW_SURE);
}

/*
 * The own link fails, and the paths go down one after the other. What has lost a probe
 * and is not down yet does not speak for the links that it shares.
 */
static void test_uplink(void **state)
{
	u32 i;

	(void)state;
	set_all(LIVENESS_SUSPECT);
	to(0, 1)->live.state = LIVENESS_DOWN;
	assert_int_equal(suspects_told(&engine, told), 1);
	assert_int_equal(told[0].n, 3);
	assert_int_equal(told[0].confidence, 50);
	assert_true(holds(&told[0], OWN));
	assert_true(holds(&told[0], up_to(1)));
	assert_true(holds(&told[0], down_to(0, 1)));
	for (i = 0; i < PATHS; i++) {
		paths[i].live.state = LIVENESS_DOWN;
		assert_int_equal(suspects_told(&engine, told), 1);
		assert_true(holds(&told[0], OWN));
	}
	assert_int_equal(told[0].cable[0], OWN);
	assert_int_equal(told[0].n, 1);
}

/* ... and come back: what only waits to be used again is no loss. */
static void test_back(void **state)
{
	(void)state;
	set_all(LIVENESS_RECOVERING);
	to(0, 1)->live.state = LIVENESS_UP;
	assert_int_equal(suspects_told(&engine, told), 0);
}

/* A path that has never answered is lost once a probe of it is, and not before. */
static void test_never(void **state)
{
	(void)state;
	to(1, 0)->stats.received = 0;
	to(1, 0)->live.state = LIVENESS_DOWN;
	assert_int_equal(suspects_told(&engine, told), 0);
	to(1, 0)->stats.lost = 3;
	assert_int_equal(suspects_told(&engine, told), 1);
	assert_int_equal(told[0].cable[0], down_to(1, 0));
}

/* Paths without a device, and those that another one is probed for, say nothing. */
static void test_silent(void **state)
{
	(void)state;
	to(0, 0)->live.state = LIVENESS_DOWN;
	to(0, 0)->up = false;
	assert_int_equal(suspects_told(&engine, told), 0);
	to(0, 0)->up = true;
	to(0, 0)->leader = 1;
	assert_int_equal(suspects_told(&engine, told), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_nothing, setup),
		cmocka_unit_test_setup(test_sure, setup),
		cmocka_unit_test_setup(test_spine, setup),
		cmocka_unit_test_setup(test_most, setup),
		cmocka_unit_test_setup(test_uplink, setup),
		cmocka_unit_test_setup(test_back, setup),
		cmocka_unit_test_setup(test_never, setup),
		cmocka_unit_test_setup(test_silent, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
