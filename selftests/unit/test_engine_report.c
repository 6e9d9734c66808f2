// SPDX-License-Identifier: GPL-2.0
/*
 * What srpol engine shows: paths of probes that XDP takes while it is being written, with
 * a clock of the test's, and the interval of probes.
 */
#include <string.h>

#include "probing.h"
#include "srpold.h"
#include "test.h"

#define MS	1000000ull

static struct srpol_probe probe;
static struct srpol_node nodes[2] = { { .name = "A" }, { .name = "B" } };
static struct srpol_nic nics[1] = { { .name = "nic0" } };
static struct srpol_fabric fabric = {
	.nodes = nodes, .n_nodes = 2, .nics = nics, .n_nics = 1,
};
static struct engine engine = { .fabric = &fabric };
struct prober_stats prober_stats;
struct demands demands;

/* A probe comes back right after the clock was read. */
uint64_t now_ns(void)
{
	static uint64_t clock_ns = 1000 * MS;
	uint64_t now = clock_ns;

	clock_ns += 1000;
	probe.last_ns = clock_ns;
	return now;
}

struct srpol_probe *probe_map_at(uint32_t index)
{
	return &probe;
}

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	return (struct engine_path *)e->paths.data + index;
}

json_t *engine_sids_json(const struct srpol_sid_list *list)
{
	return json_array();
}

const struct reflected *reflect_of(const struct engine_path *path)
{
	return NULL;
}

json_t *reflect_report(const struct engine_path *path)
{
	return NULL;
}

/* ---- what other reports need */

uint64_t control_dropped(void)
{
	return 0;
}

uint64_t probe_map_count(enum srpol_reason reason)
{
	return 0;
}

static uint64_t used_ns;

uint64_t prober_interval(void)
{
	return used_ns;
}

json_t *glb_report(void)
{
	return NULL;
}

json_t *plan_report(void)
{
	return NULL;
}

json_t *limits_report(void)
{
	return NULL;
}

size_t suspects_find(struct engine *e, struct locate_suspect *suspects, size_t max)
{
	return 0;
}

size_t wiring_find(struct engine *e, struct locate_suspect *suspects, size_t max)
{
	return 0;
}

void link_name(const struct srpol_fabric *f, uint32_t cable, char *buf, size_t len)
{
	*buf = '\0';
}

static void test_last(void **state)
{
	struct engine_path *path;
	json_t *paths;
	double ms;

	engine.paths = (struct vec)VEC_INIT(struct engine_path);
	path = vec_add(&engine.paths);
	path->segs.n = 1;
	path->peer = 1;
	probe.received = 1;
	probe.hop_limit = PROBE_HOP_LIMIT;
	probe.last_ns = 995 * MS;
	paths = report_paths(&engine, NULL, NULL);
	ms = json_real_value(json_object_get(json_array_get(paths, 0), "last_ms"));
	assert_true(ms >= 0 && ms < 10);
	json_decref(paths);
	vec_free(&engine.paths);
}

static double number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

/* The interval that the budget leaves is shown, beside the configured one. */
static void test_interval(void **state)
{
	static const struct srpol_alg alg = { .name = "wecmp" };
	json_t *o;

	engine.paths = (struct vec)VEC_INIT(struct engine_path);
	engine.config.weights.alg = &alg;
	engine.config.interval_ns = 10 * MS;
	o = report_show(&engine, NULL, NULL);
	assert_true(number(o, "interval_ms") == 10 && number(o, "interval_used_ms") == 10);
	json_decref(o);
	used_ns = 45 * MS;
	o = report_show(&engine, NULL, NULL);
	assert_true(number(o, "interval_ms") == 10 && number(o, "interval_used_ms") == 45);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last),
		cmocka_unit_test(test_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
