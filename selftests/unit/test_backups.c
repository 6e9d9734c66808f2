// SPDX-License-Identifier: GPL-2.0
/* Backup colors of an epoch: as text, and which paths they allow. */
#include <errno.h>
#include <string.h>

#include "backups.h"
#include "srpol_lib.h"
#include "test.h"

#define G	1000000000ull

static char *line(const char *backups)
{
	char *text;

	assert_true(asprintf(&text,
		"{\"algorithm\":\"wecmp\",\"backups\":%s,\"epoch\":7,\"leaves\":16,\"pages\":0,\"topology\":\"cc\"}\n",
		backups) > 0);
	return text;
}

static void as_text(void **state)
{
	uint32_t nodes[] = { 3, 9 };
	struct srpol_backup backups[] = {
		{ .color = 10, .backup = UINT32_MAX, .n = 2, .nodes = nodes },
		{ .color = 20, .backup = 10 },
	};
	struct srpol_index index = {
		.epoch = 7, .topology = "cc", .alg = "wecmp", .leaves = 16,
		.n_backups = 2, .backups = backups,
	}, back;
	char *text = srpol_index_write(&index), *want;

	(void)state;
	want = line("[{\"backup\":4294967295,\"color\":10,\"paths\":[3,9]},{\"backup\":10,\"color\":20}]");
	assert_string_equal(text, want);
	free(want);
	assert_int_equal(srpol_index_read(text, strlen(text), &back, NULL), 0);
	assert_true(srpol_backups_equal(&index, &back));
	assert_int_equal(srpol_backup_find(&back, 10)->backup, UINT32_MAX);
	assert_int_equal(srpol_backup_find(&back, 10)->nodes[1], 9);
	assert_int_equal(srpol_backup_find(&back, 20)->n, 0);
	assert_null(srpol_backup_find(&back, 15));
	assert_null(srpol_backup_find(NULL, 10));
	/* each of what it says counts */
	back.backups[0].nodes[1] = 8;
	assert_false(srpol_backups_equal(&index, &back));
	back.backups[0].nodes[1] = 9;
	back.backups[0].n = 1;
	assert_false(srpol_backups_equal(&index, &back));
	back.backups[0].n = 2;
	back.backups[1].backup = 30;
	assert_false(srpol_backups_equal(&index, &back));
	back.backups[1].backup = 10;
	back.backups[1].color = 21;
	assert_false(srpol_backups_equal(&index, &back));
	back.backups[1].color = 20;
	assert_true(srpol_backups_equal(&index, &back));
	assert_false(srpol_backups_equal(&index, NULL));
	srpol_index_free(&back);
	free(text);
	/* an index without is as it always was */
	index.n_backups = 0;
	assert_true(srpol_backups_equal(&index, NULL));
	assert_null(srpol_backup_find(&index, 10));
	text = srpol_index_write(&index);
	assert_null(strstr(text, "backup"));
	free(text);
}

static void bad_text(void **state)
{
	static const char * const bad[] = {
		"[]", "7", "{}", "[7]", "[{}]", "[{\"color\":10}]",
		"[{\"color\":10,\"backup\":10}]", "[{\"color\":0,\"backup\":1}]",
		"[{\"color\":10,\"backup\":0}]",
		"[{\"color\":4294967296,\"backup\":1}]",
		"[{\"color\":10,\"backup\":4294967296}]",
		"[{\"color\":10,\"backup\":-1}]",
		"[{\"color\":10,\"backup\":\"1\"}]",
		"[{\"color\":10,\"backup\":1,\"more\":1}]",
		"[{\"color\":10,\"backup\":1},{\"color\":10,\"backup\":2}]",
		"[{\"color\":20,\"backup\":1},{\"color\":10,\"backup\":2}]",
		"[{\"color\":10,\"backup\":1,\"paths\":[]}]",
		"[{\"color\":10,\"backup\":1,\"paths\":7}]",
		"[{\"color\":10,\"backup\":1,\"paths\":[1,\"2\"]}]",
		"[{\"color\":10,\"backup\":1,\"paths\":[-1]}]",
		"[{\"color\":10,\"backup\":1,\"paths\":[4294967295]}]",
		"[{\"color\":10,\"backup\":1,\"paths\":[1,1]}]",
		"[{\"color\":10,\"backup\":1,\"paths\":[2,1]}]",
	};
	struct srpol_index back;
	char *text;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		text = line(bad[i]);
		if (srpol_index_read(text, strlen(text), &back, NULL) !=
		    -EINVAL)
			fail_msg("%s", bad[i]);
		srpol_index_free(&back);
		free(text);
	}
}

static bool allows(const struct srpol_fabric *f, const struct srpol_backup *b,
		   const struct srpol_route *route)
{
	return srpol_backup_allows(f, b, srpol_backup_tiers(f, b), route);
}

/* Switches that a route passes, of a tier. */
static uint32_t passed(const struct srpol_fabric *f,
		       const struct srpol_route *route, uint32_t tier,
		       uint32_t nth)
{
	uint32_t i;

	for (i = 0; i < route->n; i++)
		if (f->nodes[f->links[route->link[i]].to].tier == tier &&
		    !nth--)
			return f->links[route->link[i]].to;
	return SRPOL_NONE;
}

static void limits_paths(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(2, 1, 4, 400 * G);
	struct srpol_fabric *f = srpol_fabric_generate(&shape, NULL);
	struct srpol_backup b = { .color = 10, .backup = 20 };
	uint32_t nodes[2], i, n = 0;
	struct srpol_path_set set;
	struct srpol_route route;

	(void)state;
	assert_int_equal(srpol_path_set_init(f, 0, 1, &set), 0);
	assert_int_equal(set.n, 4);
	for (i = 0; i < set.n; i++) {
		srpol_path_get(f, &set, i, &route);
		assert_true(allows(f, &b, &route));
		if (i % 2)
			nodes[n++] = passed(f, &route, SRPOL_TIER_SPINE, 0);
	}
	b.n = 2;
	b.nodes = nodes;
	for (i = 0; i < set.n; i++) {
		srpol_path_get(f, &set, i, &route);
		assert_int_equal(allows(f, &b, &route), i % 2);
	}
	/* of another topology: there is nothing that it could limit */
	b.n = 1;
	nodes[0] = f->n_nodes;
	assert_true(allows(f, &b, &route));
	srpol_path_set_free(&set);
	srpol_fabric_free(f);
}

/* Of three tiers: the one that is named is limited, the other one is not. */
static void limits_a_tier(void **state)
{
	struct srpol_shape shape = srpol_shape_clos(2, 1, 1, 2, 2, 400 * G);
	struct srpol_fabric *f = srpol_fabric_generate(&shape, NULL);
	struct srpol_backup b = { .color = 10, .backup = 20, .n = 1 };
	uint32_t node, i, n = 0, spine, super;
	struct srpol_path_set set;
	struct srpol_route route;

	(void)state;
	assert_int_equal(srpol_path_set_init(f, 0, 1, &set), 0);
	assert_int_equal(set.n, 4);
	srpol_path_get(f, &set, 0, &route);
	spine = passed(f, &route, SRPOL_TIER_SPINE, 0);
	super = passed(f, &route, SRPOL_TIER_SUPER, 0);
	b.nodes = &node;
	for (i = 0, node = super; i < set.n; i++) {
		srpol_path_get(f, &set, i, &route);
		assert_int_equal(allows(f, &b, &route),
				 passed(f, &route, SRPOL_TIER_SUPER, 0) == super);
		n += allows(f, &b, &route);
	}
	assert_int_equal(n, 1);
	/* that of one pod alone: paths to another pod pass spines of both */
	for (i = 0, node = spine; i < set.n; i++) {
		srpol_path_get(f, &set, i, &route);
		assert_false(allows(f, &b, &route));
	}
	srpol_path_set_free(&set);
	srpol_fabric_free(f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_text),
		cmocka_unit_test(bad_text),
		cmocka_unit_test(limits_paths),
		cmocka_unit_test(limits_a_tier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
