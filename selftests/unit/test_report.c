// SPDX-License-Identifier: GPL-2.0
/* A host's report has room for its own links, however many others carry less. */
#include <string.h>

#include "follow.h"
#include "srpol_lib.h"
#include "test.h"

#define ENGINE_TAKES	1024	/* links of a report, with those suspected */
#define G		1000000000ull

static struct srpol_fabric *fabric;
static struct follow follow;
static uint32_t told;

/* What is told is looked at here. */
void tell_soon(struct follow *f)
{
	(void)f;
	told++;
}

uint64_t last_save(struct follow *f)
{
	(void)f;
	return 0;
}

/* 64 leaves with a host each, 32 spines: 2112 cables. */
static int setup(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(64, 1, 32, 400 * G);

	(void)state;
	fabric = srpol_fabric_generate(&shape, NULL);
	follow = (struct follow){ .fabric = fabric };
	for (follow.host = 0; fabric->nodes[follow.host].tier !=
			      SRPOL_TIER_HOST; follow.host++)
		;
	report_init(&follow);
	told = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	report_free(&follow);
	srpol_fabric_free(fabric);
	return 0;
}

static bool is_own(uint32_t cable)
{
	return fabric->links[2 * cable].from == follow.host ||
	       fabric->links[2 * cable].to == follow.host;
}

/* Reports all cables but the host's own as down, and these if @own. */
static void report(bool own)
{
	struct follow_link *links = calloc(fabric->n_links / 2, sizeof(*links));
	struct follow_known known = { .links = links };
	uint32_t i;

	for (i = 0; i < fabric->n_links / 2; i++)
		if (own || !is_own(i))
			links[known.n_links++].cable = i;
	follow_report(&follow, &known);
	free(links);
}

/* Number of links in the report; @own: how many of them are the host's. */
static size_t told_links(size_t *own)
{
	const char *host = fabric->nodes[follow.host].name, *from, *to;
	char *text = report_text(&follow);
	json_t *o = json_loads(text, 0, NULL), *link;
	json_t *links = json_object_get(o, "links");
	size_t i, n = json_array_size(links);

	*own = 0;
	json_array_foreach(links, i, link) {
		assert_int_equal(json_unpack(link, "{s:s, s:s}", "from", &from,
					     "to", &to), 0);
		*own += !strcmp(from, host) || !strcmp(to, host);
	}
	json_decref(o);
	free(text);
	return n;
}

static void test_many(void **state)
{
	size_t own;

	(void)state;
	report(true);
	assert_int_equal(told, 1);
	assert_in_range(told_links(&own), 1, ENGINE_TAKES);
	assert_int_equal(own, 1);
}

/* One that fails when there is room no more takes the place of another. */
static void test_own_last(void **state)
{
	size_t own;

	(void)state;
	follow.config.damp_ns = UINT64_MAX;
	report(false);
	assert_in_range(told_links(&own), ENGINE_TAKES / 2, ENGINE_TAKES);
	assert_int_equal(own, 0);
	report(true);
	assert_int_equal(told, 2);
	assert_in_range(told_links(&own), ENGINE_TAKES / 2, ENGINE_TAKES);
	assert_int_equal(own, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_own_last, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
