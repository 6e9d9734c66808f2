// SPDX-License-Identifier: GPL-2.0
/*
 * Cables by the hash of their names, of which a host is believed for those near
 * it, and what a host has to say itself: on a fabric of two leaves and spines.
 */
#include <stdio.h>
#include <string.h>

#include "glb.h"
#include "srpold.h"
#include "test.h"

#define LEAVES	2
#define SPINES	2
#define HOSTS	2	/* of a leaf */

static struct engine engine;

static int set_up(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(LEAVES, HOSTS,
							  SPINES, 1000000000);
	struct srpol_fabric *f = srpol_fabric_generate(&shape, NULL);

	(void)state;
	if (!f || linkstate_init(&engine.links, f, 0))
		return -1;
	engine.fabric = f;
	return glb_words_start(&engine);
}

static int tear_down(void **state)
{
	(void)state;
	glb_words_stop();
	linkstate_free(&engine.links);
	srpol_fabric_free(engine.fabric);
	return 0;
}

static uint32_t host_at(uint32_t leaf, uint32_t n)
{
	const struct srpol_fabric *f = engine.fabric;
	uint32_t i;

	for (i = 0; i < f->n_nics; i++)
		if (f->nics[i].leaf == leaf && !n--)
			return f->nics[i].host;
	fail();
	return SRPOL_NONE;
}

static const char *name_of(uint32_t node)
{
	return engine.fabric->nodes[node].name;
}

/* By whichever name comes first. */
static uint64_t hash_of(uint32_t cable)
{
	const struct srpol_link *link = &engine.fabric->links[2 * cable];
	const char *a = name_of(link->from), *b = name_of(link->to);
	char text[128];

	snprintf(text, sizeof(text), "%s %s", strcmp(a, b) < 0 ? a : b,
		 strcmp(a, b) < 0 ? b : a);
	return glb_hash(text);
}

static void test_cables(void **state)
{
	uint32_t i;

	(void)state;
	assert_int_equal(engine.links.n, LEAVES * (HOSTS + SPINES));
	for (i = 0; i < engine.links.n; i++)
		assert_int_equal(glb_words_cable(hash_of(i)), i);
	assert_int_equal(glb_words_cable(0), SRPOL_NONE);
	assert_int_equal(glb_words_cable(UINT64_MAX), SRPOL_NONE);
	assert_int_equal(glb_words_cable(glb_hash("no such")), SRPOL_NONE);
}

/* Its own, and those of its leaf to spines: not another host's of the same leaf. */
static void test_near(void **state)
{
	const struct srpol_fabric *f = engine.fabric;
	uint32_t leaf = f->nics[0].leaf, host = host_at(leaf, 0), i, n = 0;
	const struct srpol_link *link;
	bool own, up;

	(void)state;
	for (i = 0; i < engine.links.n; i++) {
		link = &f->links[2 * i];
		own = link->from == host || link->to == host;
		up = (link->from == leaf || link->to == leaf) &&
		     f->nodes[link->from].tier != SRPOL_TIER_HOST &&
		     f->nodes[link->to].tier != SRPOL_TIER_HOST;
		assert_int_equal(glb_words_near(&engine, i, host), own || up);
		n += own || up;
	}
	assert_int_equal(n, 1 + SPINES);
}

static void spoil(uint32_t cable)
{
	static const struct quality_config config = {
		.patience = 1, .calm = 5, .calm_max = 5,
	};

	while (quality_percent(&engine.links.cables[cable].quality) == 100)
		quality_step(&engine.links.cables[cable].quality, QUALITY_LOSS,
			     &config);
}

/* What works well needs no word, what is far is not ours; each is said once. */
static void test_own(void **state)
{
	const struct srpol_fabric *f = engine.fabric;
	uint32_t leaf = f->nics[0].leaf, i, k, near = 0, n;
	uint32_t hosts[] = { host_at(leaf, 0), host_at(leaf, 1) };
	struct glb_word words[GLB_WORDS_MAX];

	(void)state;
	assert_int_equal(glb_words_own(&engine, hosts, 2, words), 0);
	for (i = 0; i < engine.links.n; i++) {
		spoil(i);
		near += glb_words_near(&engine, i, hosts[0]) ||
			glb_words_near(&engine, i, hosts[1]);
	}
	assert_int_equal(near, HOSTS + SPINES);
	n = glb_words_own(&engine, hosts, 2, words);
	assert_int_equal(n, near);
	for (i = 0; i < n; i++) {
		assert_in_range(words[i].percent, 1, 99);
		for (k = 0; k < i; k++)
			assert_true(words[k].cable != words[i].cable);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cables),
		cmocka_unit_test(test_near),
		cmocka_unit_test(test_own),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
