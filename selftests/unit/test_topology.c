// SPDX-License-Identifier: GPL-2.0
/*
 * The topology file: what is read, what is refused and with which words, and
 * that no file, however broken, gives a fabric that is not whole.
 */
#include <arpa/inet.h>
#include <string.h>

#include "fabric.h"
#include "srpol_lib.h"
#include "test.h"

static const char good[] =
"{\n"							/* line 1 */
" \"srpol-topology\": 1,\n"
" \"functions\": {\"end\": \"::1\", \"decap\": \"::d6\"},\n"
" \"usid\": {\"block\": \"fcbb:bb00::/32\"},\n"
" \"switches\": [\n"					/* 5 */
"  {\"name\": \"leaf1\", \"role\": \"leaf\", \"locator\": \"fc00:0:11::/48\", \"usid\": \"fcbb:bb00:11::\"},\n"
"  {\"name\": \"leaf2\", \"role\": \"leaf\", \"locator\": \"fc00:0:12::/48\", \"usid\": \"fcbb:bb00:12::\"},\n"
"  {\"name\": \"spine1\", \"role\": \"spine\", \"locator\": \"fc00:0:21::/48\", \"usid\": \"fcbb:bb00:21::\"},\n"
"  {\"name\": \"spine2\", \"role\": \"spine\", \"locator\": \"fc00:0:22::/48\"}\n"
" ],\n"							/* 10 */
" \"hosts\": [\n"
"  {\"name\": \"a\", \"locator\": \"fc00:0:a::/48\", \"usid\": \"fcbb:bb00:a::\", \"nics\": [\n"
"   {\"name\": \"hA\", \"leaf\": \"leaf1\", \"rate\": \"400G\", \"cables\": 2, \"address\": \"fd00:a::1\"}]},\n"
"  {\"name\": \"b\", \"locator\": \"fc00:0:b::/48\", \"nics\": [\n"
"   {\"name\": \"hB\", \"leaf\": \"leaf2\", \"rate\": \"800G\"}]}\n" /* 15 */
" ],\n"
" \"links\": [\n"
"  {\"from\": \"leaf1\", \"to\": \"spine1\", \"rate\": \"1.6T\", \"delay-ns\": 500},\n"
"  {\"from\": \"spine1\", \"to\": \"leaf2\", \"rate\": 1600000000000},\n"
"  {\"from\": \"leaf1\", \"to\": \"spine2\", \"rate\": \"400G\"},\n" /* 20 */
"  {\"from\": \"leaf2\", \"to\": \"spine2\", \"rate\": \"400G\"}\n"
" ]\n"
"}\n";

static struct srpol_fabric *parse(const char *text, struct srpol_error *err)
{
	return srpol_topology_parse(text, strlen(text), err);
}

static void reads(void **state)
{
	(void)state;
	struct srpol_error err = {};
	struct srpol_fabric *f = parse(good, &err);
	struct srpol_path_set set;
	uint32_t link;

	assert_string_equal(err.text, "");
	assert_non_null(f);
	assert_int_equal(f->n_nodes, 6);
	assert_int_equal(f->n_gpus, 2);
	link = srpol_fabric_link(f, srpol_fabric_node(f, "spine1"),
				 srpol_fabric_node(f, "leaf2"));
	assert_int_equal(f->links[link].rate, 1600000000000);
	link = srpol_fabric_link(f, srpol_fabric_node(f, "a"),
				 srpol_fabric_node(f, "leaf1"));
	assert_int_equal(srpol_link_rate(&f->links[link]), 800000000000);
	assert_int_equal(srpol_fabric_node(f, "leaf3"), SRPOL_NONE);
	assert_int_equal(srpol_fabric_gpu(f, srpol_fabric_node(f, "b"), 0), 1);
	assert_int_equal(srpol_fabric_gpu(f, srpol_fabric_node(f, "b"), 1),
			 SRPOL_NONE);
	assert_int_equal(srpol_path_set_init(f, 0, 1, &set), 0);
	assert_int_equal(set.n, 2);
	srpol_path_set_free(&set);
	srpol_fabric_free(f);
}

/* One place of the good file replaced, and what is said then. */
static const struct {
	const char *from;
	const char *to;
	const char *says;
} bad[] = {
	{ "1.6T", "fast", "line 18: links[0].rate: \"fast\" is no rate of 1 to 2^50 bit/s" },
	{ "1.6T", "-1G", "line 18: links[0].rate" },
	{ "1.6T", "nan", "line 18: links[0].rate" },
	{ "1.6T", "inf", "line 18: links[0].rate" },
	{ "1.6T", "9999999T", "line 18: links[0].rate" },
	{ "1600000000000", "0", "line 19: links[1].rate: more than 0 is wanted" },
	{ "1600000000000", "9223372036854775807", "line 19: links[1]: rate of 1 to 2^50" },
	{ "1600000000000", "1e99", "line 19: links[1].rate: a rate such as" },
	{ "\"from\": \"spine1\"", "\"from\": \"spine9\"", "line 19: links[1].from: no node \"spine9\"" },
	{ "\"from\": \"leaf1\", \"to\": \"spine2\"", "\"from\": \"leaf1\", \"to\": \"leaf2\"", "line 20: links[2]: leaf1 and leaf2 are not in adjacent tiers" },
	{ "\"from\": \"leaf1\", \"to\": \"spine2\"", "\"from\": \"a\", \"to\": \"leaf2\"", "line 20: links[2]: a is a host" },
	{ "\"from\": \"leaf1\", \"to\": \"spine2\"", "\"from\": \"leaf1\", \"to\": \"spine1\"", "two links between leaf1 and spine1" },
	{ "\"role\": \"spine\", \"locator\": \"fc00:0:22::/48\"", "\"role\": \"router\", \"locator\": \"fc00:0:22::/48\"", "line 9: switches[3].role: leaf, spine or super-spine is wanted" },
	{ "fc00:0:22::/48", "fc00:0:21::/48", "locators of spine1 and spine2 overlap" },
	{ "fc00:0:22::/48", "fc00:0:1::/47", "line 9: switches[3]: bits behind the locator" },
	{ "fc00:0:22::/48", "fc00::/16", "locators of spine2 and a overlap" },
	{ "fc00:0:22::/48", "10.0.0.0/8", "line 9: switches[3].locator: \"10.0.0.0/8\" is no IPv6 prefix" },
	{ "fcbb:bb00:12::", "fcbb:bb00:11::", "leaf1 and leaf2 have the same CSID" },
	{ "fcbb:bb00:12::", "fcbb:bb01:12::", "line 7: switches[1].usid: not in the file's uSID block" },
	{ "fcbb:bb00:12::", "fcbb:bb00:12:1::", "line 7: switches[1].usid: one CSID of 16 bits" },
	{ "fcbb:bb00:12::", "fcbb:bb00::", "line 7: switches[1].usid: one CSID of 16 bits" },
	{ "\"name\": \"leaf2\"", "\"name\": \"leaf1\"", "line 7: switches[1]: name \"leaf1\" is taken" },
	{ "\"name\": \"leaf2\"", "\"name\": \"\"", "line 7: switches[1]: name of 1 to 47 characters" },
	{ "\"name\": \"leaf2\"", "\"name\": 7", "line 7: switches[1].name: a string is wanted" },
	{ "\"name\": \"leaf2\"", "\"nmae\": \"leaf2\"", "line 7: switches[1].nmae: unknown key" },
	{ "\"cables\": 2", "\"cables\": 0", "line 13: hosts[0].nics[0]: 1 to 64 cables" },
	{ "\"cables\": 2", "\"cables\": -1", "line 13: hosts[0].nics[0].cables: a number of 0 to 64" },
	{ "\"cables\": 2", "\"rail\": 64", "line 13: hosts[0].nics[0].rail: a number of 0 to 63" },
	{ "\"cables\": 2", "\"cables\": 2, \"cables\": 3", "line 13: duplicate object key" },
	{ "fd00:a::1", "fd00:a::g", "line 13: hosts[0].nics[0].address: \"fd00:a::g\" is no IPv6 address" },
	{ "fd00:a::1", "10.0.0.1", "line 13: hosts[0].nics[0].address: \"10.0.0.1\" is no IPv6 address" },
	{ "fd00:a::1", "::ffff:10.0.0.1", "line 13: hosts[0].nics[0].address: \"::ffff:10.0.0.1\" is no IPv6 address" },
	{ "fd00:a::1", "ff02::1", "line 13: hosts[0].nics[0].address: no unicast address" },
	{ "\"leaf\": \"leaf2\"", "\"leaf\": \"spine1\"", "line 15: hosts[1].nics[0]: b and spine1 are not in adjacent tiers" },
	{ "\"srpol-topology\": 1", "\"srpol-topology\": 2", "line 1: \"srpol-topology\": 1 is wanted" },
	{ "\"srpol-topology\": 1,", "", "line 1: \"srpol-topology\": 1 is wanted" },
	{ "::d6", "::1", "two functions are the same" },
	{ "\"::d6\"", "\"::d6\", \"reflect\": \"::d6\"", "two functions are the same" },
	{ "\"::d6\"", "\"::d6\", \"reflect\": \"1::\"", "a function overlaps the locators of 48 bits" },
	{ "::d6", "1::", "a function overlaps the locators of 48 bits" },
	{ "fcbb:bb00::/32", "fcbb:bb00:1::/32", "line 4: usid.block: \"fcbb:bb00:1::/32\" has bits behind its length" },
	{ "fcbb:bb00::/32", "fcbb:bb00::/33", "line 4: usid: block and CSID of whole bytes" },
	{ "\"links\"", "\"lines\"", "line 17: lines: unknown key" },
	{ "\"links\": [", "\"links\": {}, \"x\": [", "unknown key" },
	{ "\"hosts\": [", "\"hosts\": [ 7,", "line 11: hosts[0]: an object is wanted" },
	{ "{\n \"srpol", "[\n \"srpol", "line 2: ']' expected" },
};

static void refuses(void **state)
{
	(void)state;
	struct srpol_error err;
	struct srpol_fabric *f;
	char text[4096];
	const char *at;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		at = strstr(good, bad[i].from);
		assert_non_null(at);
		snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good), good,
			 bad[i].to, at + strlen(bad[i].from));
		err.text[0] = '\0';
		f = parse(text, &err);
		if (f || !strstr(err.text, bad[i].says))
			print_error("%s -> %s: %s\n", bad[i].from, bad[i].to,
				    err.text);
		assert_null(f);
		assert_non_null(strstr(err.text, bad[i].says));
	}
}

static void round_trip(void **state)
{
	(void)state;
	struct srpol_shape shapes[] = {
		srpol_shape_leaf_spine(4, 3, 2, 100000000000),
		srpol_shape_clos(2, 2, 2, 2, 2, 400000000000),
		srpol_shape_rail(2, 2, 8, 3, 400000000000),
		srpol_shape_plane(4, 8, 400000000000),
	};
	struct srpol_fabric *f, *g;
	struct srpol_error err;
	char *text, *again;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		f = srpol_fabric_generate(&shapes[i], &err);
		text = srpol_topology_text(f);
		g = parse(text, &err);
		assert_non_null(g);
		again = srpol_topology_text(g);
		assert_string_equal(text, again);
		assert_int_equal(f->n_links, g->n_links);
		assert_int_equal(f->n_gpus, g->n_gpus);
		free(again);
		free(text);
		srpol_fabric_free(f);
		srpol_fabric_free(g);
	}
}

/* All that a fabric promises; what reads it need not check. */
static void is_whole(const struct srpol_fabric *f)
{
	struct srpol_path_set set;
	struct srpol_route route;
	uint32_t i, j;

	for (i = 0; i < f->n_links; i++) {
		assert_true(f->links[i].from < f->n_nodes);
		assert_true(f->links[i].rate && f->links[i].cables);
		assert_int_equal(f->links[i].from, f->links[i ^ 1].to);
	}
	for (i = 0; i < f->n_gpus; i++) {
		for (j = 0; j < f->n_gpus; j++) {
			assert_int_equal(srpol_path_set_init(f, i, j, &set), 0);
			if (set.n) {
				srpol_path_get(f, &set, set.n - 1, &route);
				assert_true(route.n >= 2);
			}
			srpol_path_set_free(&set);
		}
	}
}

/* Changed bytes, swapped pieces, cut ends; what is read all the same is whole. */
static void mutated(void **state)
{
	(void)state;
	unsigned int i, k, accepted = 0, refused = 0;
	size_t len, a, b, n;
	struct srpol_error err;
	struct srpol_fabric *f;
	static char text[8192];
	u64 seed = 12;

	for (i = 0; i < 20000; i++) {
		len = sizeof(good) - 1;
		memcpy(text, good, len);
		for (k = test_random(&seed) % 4 + 1; k; k--) {
			a = test_random(&seed) % len;
			b = test_random(&seed) % len;
			n = test_random(&seed) % 12 + 1;
			switch (test_random(&seed) % 5) {
			case 0:
				text[a] = test_random(&seed);
				break;
			case 1:
				text[a] = "0123456789:{}[]\",-"[b % 18];
				break;
			case 2:		/* remove */
				if (a + n < len) {
					memmove(text + a, text + a + n,
						len - a - n);
					len -= n;
				}
				break;
			case 3:		/* copy */
				if (a + n < len && b + n < len)
					memmove(text + b, text + a, n);
				break;
			default:
				len = test_random(&seed) % 8 ? len : a + 1;
				break;
			}
		}
		err.text[0] = '\0';
		/* from a block of just that size, for the sanitizer to see */
		char *exact = malloc(len);

		memcpy(exact, text, len);
		f = srpol_topology_parse(exact, len, &err);
		free(exact);
		if (f) {
			is_whole(f);
			accepted++;
		} else {
			assert_true(err.text[0]);
			refused++;
		}
		srpol_fabric_free(f);
	}
	assert_true(accepted > 100 && refused > 10000);
}

static void next_next_hops(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *says;
	} wrong[] = {
		{ "[]", "line 1: an object is wanted" },
		{ "{\n\"spine7\": []}", "line 2: spine7: no such node" },
		{ "{\"spine1\": 3}", "line 1: spine1: an array is wanted" },
		{ "{\"spine1\": [\"leaf1\",\n\"spine2\"]}", "line 2: spine1[1]: not a neighbor of it" },
		{ "{\"spine1\": [1]}", "line 1: spine1[0]: not a neighbor" },
		{ "{", "line 1: " },
	};
	static const char text[] = "{\"spine1\": [\"leaf1\", \"leaf2\"],"
				   " \"spine2\": [\"leaf1\"]}";
	struct srpol_error err;
	struct srpol_fabric *f = parse(good, &err);
	struct srpol_nnhn *map;
	unsigned int i;

	map = srpol_nnhn_parse(f, text, strlen(text), &err);
	assert_non_null(map);
	assert_true(srpol_nnhn_has(map, srpol_fabric_node(f, "spine1"),
				   srpol_fabric_node(f, "leaf2")));
	assert_false(srpol_nnhn_has(map, srpol_fabric_node(f, "spine2"),
				    srpol_fabric_node(f, "leaf2")));
	srpol_nnhn_free(map);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_null(srpol_nnhn_parse(f, wrong[i].text,
					     strlen(wrong[i].text), &err));
		assert_non_null(strstr(err.text, wrong[i].says));
	}
	srpol_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(refuses),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(mutated),
		cmocka_unit_test(next_next_hops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
