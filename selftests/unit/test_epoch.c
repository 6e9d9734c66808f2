// SPDX-License-Identifier: GPL-2.0
/* What names the chunks of an epoch: heads, indexes and their pages, as text. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "srpol_lib.h"
#include "test.h"

#define G	1000000000ull

static void refuse_index(const struct srpol_index *index)
{
	char *text = srpol_index_write(index);
	struct srpol_index back;

	assert_int_equal(srpol_index_read(text, strlen(text), &back, NULL),
			 -EINVAL);
	srpol_index_free(&back);
	free(text);
}

static void test_index(void **state)
{
	struct srpol_index_entry entries[] = {
		{ .page = 0, .epoch = 7, .digest = "aa" },
		{ .page = 2, .epoch = 3, .digest = "bb" },
	};
	struct srpol_index index = {
		.epoch = 7, .topology = "cc", .alg = "wecmp", .leaves = 16,
		.n = 2, .entries = entries,
	}, back;
	char *text = srpol_index_write(&index);
	size_t len = strlen(text), i;

	(void)state;
	assert_int_equal(srpol_index_read(text, len, &back, NULL), 0);
	assert_int_equal(back.epoch, 7);
	assert_int_equal(back.leaves, 16);
	assert_string_equal(back.topology, "cc");
	assert_string_equal(back.alg, "wecmp");
	assert_int_equal(srpol_index_find(&back, 2)->epoch, 3);
	assert_string_equal(srpol_index_find(&back, 2)->digest, "bb");
	assert_null(srpol_index_find(&back, 1));
	srpol_index_free(&back);
	/* cut anywhere, it is none */
	for (i = 0; i < len; i++) {
		assert_int_equal(srpol_index_read(text, i, &back, NULL),
				 -EINVAL);
		srpol_index_free(&back);
	}
	free(text);
	/* out of order; a page of a later epoch; pages of no leaves */
	entries[1].page = 0;
	refuse_index(&index);
	entries[1].page = 2;
	entries[1].epoch = 8;
	refuse_index(&index);
	entries[1].epoch = 7;
	index.leaves = 0;
	refuse_index(&index);
}

static void refuse_page(const struct srpol_page *page)
{
	char *text = srpol_page_write(page);
	struct srpol_page back;

	assert_int_equal(srpol_page_read(text, strlen(text), 7, &back, NULL),
			 -EINVAL);
	srpol_page_free(&back);
	free(text);
}

static void test_page(void **state)
{
	struct srpol_page_entry entries[] = {
		{ .leaf = "leaf0", .epoch = 7, .digest = "aa" },
		{ .leaf = "leaf1", .epoch = 3, .digest = "bb" },
	};
	struct srpol_seen seen[] = {
		{ .host = "b", .number = 4 }, { .host = "a", .number = 2 },
	};
	struct srpol_page page = {
		.number = 5, .n = 2, .entries = entries, .n_seen = 2,
		.seen = seen,
	}, back;
	char *text = srpol_page_write(&page);
	size_t len = strlen(text), i;

	(void)state;
	assert_int_equal(srpol_page_read(text, len, 7, &back, NULL), 0);
	assert_int_equal(back.number, 5);
	assert_int_equal(srpol_page_find(&back, "leaf1")->epoch, 3);
	assert_string_equal(srpol_page_find(&back, "leaf1")->digest, "bb");
	assert_null(srpol_page_find(&back, "leaf"));
	assert_int_equal(srpol_page_seen(&back, "a"), 2);
	assert_int_equal(srpol_page_seen(&back, "b"), 4);
	assert_int_equal(srpol_page_seen(&back, "c"), 0);
	srpol_page_free(&back);
	for (i = 0; i < len; i++) {
		assert_int_equal(srpol_page_read(text, i, 7, &back, NULL),
				 -EINVAL);
		srpol_page_free(&back);
	}
	/* a chunk of a later epoch than that of the index */
	assert_int_equal(srpol_page_read(text, len, 6, &back, NULL), -EINVAL);
	srpol_page_free(&back);
	free(text);
	entries[1].leaf[4] = '0';
	refuse_page(&page);
}

/* Pages of a large fabric: leaves that are neighbors, none left out, all alike. */
static void test_page_numbers(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(320, 1, 2, 100 * G);
	u32 i, leaves = 0, size, *number;
	struct srpol_fabric *f = srpol_fabric_generate(&shape, NULL);

	(void)state;
	size = srpol_page_leaves(f);
	assert_int_equal(size, 18);
	number = calloc(f->n_nodes, sizeof(*number));
	srpol_page_numbers(f, size, number);
	for (i = 0; i < f->n_nodes; i++) {
		if (f->nodes[i].tier != SRPOL_TIER_LEAF)
			assert_int_equal(number[i], SRPOL_NONE);
		else
			assert_int_equal(number[i], leaves++ / size);
	}
	assert_int_equal(leaves, 320);
	free(number);
	srpol_fabric_free(f);
	/* and of a small one */
	shape = srpol_shape_leaf_spine(4, 2, 4, 400 * G);
	f = srpol_fabric_generate(&shape, NULL);
	assert_int_equal(srpol_page_leaves(f), 16);
	srpol_fabric_free(f);
}

/* What an index with these limits comes to. */
static int read_limits(const char *limits, struct srpol_index *back)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "{\"algorithm\":\"wecmp\",\"epoch\":7,\"leaves\":16,\"limits\":%s,\"pages\":0,\"topology\":\"cc\"}\n",
		 limits);
	return srpol_index_read(line, strlen(line), back, NULL);
}

static void test_index_limits(void **state)
{
	static const char * const bad[] = {
		"[]", "7", "[[10]]", "[[10,1,1]]", "[[0,1]]", "[[10,0]]",
		"[[10,1],[10,1]]", "[[20,1],[10,1]]", "[[10,-1]]",
		"[[4294967296,1]]", "[[10,1125899906842625]]", "[[10,\"1\"]]",
	};
	struct srpol_limit_rate limits[] = {
		{ .color = 10, .rate = 1 },
		{ .color = UINT32_MAX, .rate = SRPOL_RATE_MAX },
	};
	struct srpol_index index = {
		.epoch = 7, .topology = "cc", .alg = "wecmp", .leaves = 16,
		.n_limits = 2, .limits = limits,
	}, back;
	char *text = srpol_index_write(&index);
	size_t i;

	(void)state;
	assert_int_equal(srpol_index_read(text, strlen(text), &back, NULL), 0);
	assert_int_equal(back.n_limits, 2);
	assert_memory_equal(&back.limits[0].rate, &limits[0].rate, 8);
	assert_int_equal(back.limits[1].color, UINT32_MAX);
	assert_int_equal(back.limits[1].rate, SRPOL_RATE_MAX);
	srpol_index_free(&back);
	free(text);
	/* one without is as it always was */
	index.n_limits = 0;
	text = srpol_index_write(&index);
	assert_null(strstr(text, "limits"));
	free(text);
	/* but for its limits there is nothing wrong with what is refused */
	assert_int_equal(read_limits("[[10,1],[20,1]]", &back), 0);
	srpol_index_free(&back);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(read_limits(bad[i], &back), -EINVAL);
		srpol_index_free(&back);
	}
}

static void test_head(void **state)
{
	struct srpol_head head = {
		.epoch = 9, .term = 77, .topo_rev = 5,
	}, back;
	char *text;
	size_t len, i;

	(void)state;
	srpol_digest("", 0, head.digest);
	text = srpol_head_write(&head);
	len = strlen(text);
	assert_int_equal(srpol_head_read(text, len, &back, NULL), 0);
	assert_int_equal(back.epoch, 9);
	assert_int_equal(back.term, 77);
	assert_int_equal(back.topo_rev, 5);
	assert_string_equal(back.digest, head.digest);
	for (i = 0; i < len; i++)
		assert_int_equal(srpol_head_read(text, i, &back, NULL),
				 -EINVAL);
	free(text);
}

/* What a head of these numbers comes to. */
static int read_head(const char *numbers)
{
	char digest[SRPOL_DIGEST_LEN], text[256];
	struct srpol_head back;

	srpol_digest("", 0, digest);
	snprintf(text, sizeof(text), "{\"digest\":\"%s\",%s}", digest, numbers);
	return srpol_head_read(text, strlen(text), &back, NULL);
}

static void test_bad_heads(void **state)
{
	static const char * const bad[] = {
		"\"epoch\":0,\"term\":1,\"topo_rev\":0,\"version\":2",
		"\"epoch\":-1,\"term\":1,\"topo_rev\":0,\"version\":2",
		"\"epoch\":1,\"term\":0,\"topo_rev\":0,\"version\":2",
		"\"epoch\":1,\"term\":-1,\"topo_rev\":0,\"version\":2",
		"\"epoch\":1,\"term\":1,\"topo_rev\":-1,\"version\":2",
		"\"epoch\":1,\"term\":1,\"topo_rev\":0,\"version\":1",
		"\"epoch\":1,\"term\":1,\"topo_rev\":0,\"version\":3",
		"\"epoch\":1.5,\"term\":1,\"topo_rev\":0,\"version\":2",
		"\"epoch\":1,\"term\":1,\"topo_rev\":0",
		"\"epoch\":1,\"term\":1,\"version\":2",
		"\"epoch\":1,\"more\":1,\"term\":1,\"topo_rev\":0,\"version\":2",
	};
	size_t i;

	(void)state;
	assert_int_equal(read_head("\"epoch\":1,\"term\":1,\"topo_rev\":0,\"version\":2"), 0);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(read_head(bad[i]), -EINVAL);
}

static int read_page(const char *text)
{
	struct srpol_page back;
	int ret = srpol_page_read(text, strlen(text), 7, &back, NULL);

	srpol_page_free(&back);
	return ret;
}

static void test_bad_pages(void **state)
{
	static const char * const bad[] = {
		"{\"chunks\":0,\"page\":-1,\"seen\":{}}\n",
		"{\"chunks\":0,\"page\":4294967295,\"seen\":{}}\n",
		"{\"chunks\":-1,\"page\":0,\"seen\":{}}\n",
		"{\"chunks\":1000,\"page\":0,\"seen\":{}}\n",
		"{\"chunks\":0,\"page\":0,\"seen\":[]}\n",
		"{\"chunks\":0,\"page\":0,\"seen\":{\"a\":-1}}\n",
		"{\"chunks\":0,\"page\":0,\"seen\":{\"a\":\"1\"}}\n",
		/* longer than any name of a host */
		"{\"chunks\":0,\"page\":0,\"seen\":{\""
		"0123456789012345678901234567890123456789012345678901234567890123456789"
		"0123456789012345678901234567890123456789012345678901234567890123456789"
		"\":1}}\n",
		"{\"chunks\":0,\"page\":0}\n",
		"{\"chunks\":0,\"more\":1,\"page\":0,\"seen\":{}}\n",
	};
	size_t i;

	(void)state;
	assert_int_equal(read_page("{\"chunks\":0,\"page\":4294967294,\"seen\":{\"a\":0}}\n"), 0);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(read_page(bad[i]), -EINVAL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_page_numbers),
		cmocka_unit_test(test_index_limits),
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_bad_heads),
		cmocka_unit_test(test_bad_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
