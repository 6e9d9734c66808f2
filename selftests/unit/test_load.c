// SPDX-License-Identifier: GPL-2.0
/*
 * What a host says that it sends over links: the engine's own code, with counters
 * and a clock of the test's, in a fabric of two leaves and one spine.
 */
#include <string.h>

#include "srpold.h"
#include "test.h"

#define SEC	(1000 * NS_PER_MS)
#define LINKS	8

enum { HOST, PEER, LEAF, FAR_LEAF, SPINE };

/* Cables: host to leaf, leaf to spine, far leaf to spine, far leaf to peer. */
static struct srpol_link links[LINKS] = {
	{ .from = HOST, .to = LEAF }, { .from = LEAF, .to = HOST },
	{ .from = LEAF, .to = SPINE }, { .from = SPINE, .to = LEAF },
	{ .from = FAR_LEAF, .to = SPINE }, { .from = SPINE, .to = FAR_LEAF },
	{ .from = FAR_LEAF, .to = PEER }, { .from = PEER, .to = FAR_LEAF },
};
static uint32_t cables[] = { 0, 1, 2 };
static struct srpol_nic nics[1] = { { .host = HOST } };
static struct srpol_fabric fabric = {
	.nics = nics, .n_nics = 1, .links = links, .n_links = LINKS,
};
static struct engine_path paths[1];
static struct engine engine;
static uint64_t clock_ns, bytes[2];	/* of paths 1 and 2 */
static struct alarm *alarm_of;
static uint32_t kbps[LINKS];
static unsigned int told;

/* ---- what it needs of the rest */

void log_error(const char *fmt, ...)
{
}

uint64_t now_ns(void)
{
	return clock_ns;
}

int alarm_set(struct alarm *alarm, uint64_t ns)
{
	alarm_of = alarm;
	return 0;
}

void alarm_stop(struct alarm *alarm)
{
}

bool plan_is_followed(void)
{
	return true;
}

uint32_t plan_host(uint32_t number)
{
	return HOST;
}

void plan_measured(uint32_t number, const struct follow_load *loads, size_t n)
{
	size_t i;

	told++;
	memset(kbps, 0, sizeof(kbps));
	for (i = 0; i < n; i++)
		kbps[loads[i].link] = loads[i].kbps;
}

int srpol_map_open(const char *name)
{
	return 1;
}

void srpol_map_close(int fd)
{
}

int srpol_map_sum(int fd, uint32_t id, void *sum, size_t len)
{
	((struct srpol_counter *)sum)->bytes = bytes[id - 1];
	return 0;
}

/* ---- the test's side */

static int set_up(void **state)
{
	(void)state;
	memset(bytes, 0, sizeof(bytes));
	paths[0] = (struct engine_path){ .id = 1, .last = 6 };
	paths[0].links.link[0] = cables[0];
	paths[0].links.link[1] = cables[1];
	paths[0].links.link[2] = cables[2];
	paths[0].links.n = 3;
	engine = (struct engine){ .fabric = &fabric };
	engine.config.n_hosts = 1;
	engine.config.fabric.load_ns = SEC;
	engine.paths = (struct vec){ .data = paths, .n = 1,
				     .size = sizeof(paths[0]) };
	clock_ns += 1000 * SEC;
	told = 0;
	/* nobody wants to know what was sent before */
	bytes[0] = 1000000000000;
	load_start(&engine);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	load_stop();
	return 0;
}

static void look(uint64_t after)
{
	clock_ns += after;
	alarm_of->ring(alarm_of->data);
}

/* All that a path takes, in the direction it takes it, and no other. */
static void expect(uint32_t want)
{
	static const bool takes[LINKS] = { 1, 0, 1, 0, 0, 1, 1, 0 };
	uint32_t i;

	for (i = 0; i < LINKS; i++)
		assert_int_equal(kbps[i], takes[i] ? want : 0);
}

static void rates(void **state)
{
	int i;

	(void)state;
	assert_int_equal(told, 0);
	look(SEC);
	assert_int_equal(told, 1);
	expect(0);
	/* 8 Mbit/s; half of what is new */
	bytes[0] += 1000000;
	look(SEC);
	expect(4000);
	bytes[0] += 2000000;
	look(2 * SEC);
	expect(6000);
	look(SEC);
	expect(3000);
	/* what is less than a kbit/s is none, by and by */
	for (i = 0; i < 12; i++)
		look(SEC);
	expect(0);
}

/* The data plane was loaded anew: counters begin at 0. */
static void counters_begin_anew(void **state)
{
	(void)state;
	look(SEC);
	bytes[0] += 1000000;
	look(SEC);
	expect(4000);
	bytes[0] = 1000000;
	look(SEC);
	expect(6000);
}

/* Another path with the engine's: what its id counted before is not ours. */
static void another_id(void **state)
{
	(void)state;
	look(SEC);
	bytes[1] = 2000000000000;
	paths[0].id = 2;
	look(SEC);
	expect(0);
	bytes[1] += 1000000;
	look(SEC);
	expect(4000);
	/* and one that the module does not have now */
	paths[0].id = 0;
	look(SEC);
	expect(2000);
	paths[0].id = 2;
	look(SEC);
	expect(1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rates, set_up, tear_down),
		cmocka_unit_test_setup_teardown(counters_begin_anew, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(another_id, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
