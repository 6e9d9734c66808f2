// SPDX-License-Identifier: GPL-2.0
/* Functions of switches: read, written, refused; in segment lists; asked for by jobs. */
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "test_functions.h"

static void reads(void **state)
{
	(void)state;
	uint32_t i = f->nodes[srpol_fabric_node(f, "spine3")].fn_first;
	struct in6_addr sid = srpol_function_sid(f, i), want;

	assert_int_equal(f->n_functions, 5);
	assert_int_equal(f->nodes[srpol_fabric_node(f, "spine3")].fn_n, 2);
	assert_int_equal(f->nodes[srpol_fabric_node(f, "spine4")].fn_n, 0);
	assert_string_equal(f->functions[i].name, "sum");
	assert_int_equal(f->functions[i].kind, SRPOL_FUNCTION_AGGREGATE);
	assert_true(f->functions[i].ratio == 0.25);
	assert_int_equal(f->functions[i].rate, 5 * GB);
	assert_int_equal(f->functions[i].csid, 0xa3);
	assert_int_equal(inet_pton(AF_INET6, "fc00:0:23::a1", &want), 1);
	assert_memory_equal(&sid, &want, sizeof(sid));
	/* a name that two switches have is one thing to ask for */
	assert_string_equal(srpol_via_name(f, srpol_fabric_via(f, "sum")),
			    "sum");
	assert_string_equal(srpol_via_name(f, srpol_fabric_via(f, "compress")),
			    "compress");
	assert_int_equal(srpol_fabric_via(f, "magic"), 0);
}

static void round_trip(void **state)
{
	(void)state;
	char *text = srpol_topology_text(f), *again;
	struct srpol_fabric *g;

	g = srpol_topology_parse(text, strlen(text), &err);
	assert_non_null(g);
	again = srpol_topology_text(g);
	assert_string_equal(text, again);
	assert_int_equal(g->n_functions, f->n_functions);
	free(text);
	free(again);
	srpol_fabric_free(g);
}

/* The digest of a file without functions is what it was before there were any. */
static void old_digest(void **state)
{
	(void)state;
	struct srpol_shape shape = srpol_shape_leaf_spine(2, 1, 2, 100 * GB);
	struct srpol_fabric *old = srpol_fabric_generate(&shape, &err);
	char *text = srpol_topology_text(old), digest[SRPOL_DIGEST_LEN];

	srpol_digest(text, strlen(text), digest);
	assert_string_equal(digest, "d04263804119a9c107263410b3bbfe70be52a587a7a59b4119d4ee3e1cd7b8dc");
	free(text);
	srpol_fabric_free(old);
}

static const struct {
	const char *from;
	const char *to;
	const char *says;
} bad[] = {
	{ "\"kind\": \"opaque\"", "\"kind\": \"magic\"", "line 6: switches[0].functions[0].kind: aggregate, multicast, compress or opaque is wanted" },
	{ "\"kind\": \"opaque\", ", "", "line 6: switches[0].functions[0]: no \"kind\"" },
	{ "\"name\": \"box\", ", "", "line 6: switches[0].functions[0]: no \"name\"" },
	{ "\"name\": \"box\"", "\"name\": \"\"", "line 6: switches[0].functions[0]: name of 1 to 47" },
	{ "\"name\": \"box\"", "\"name\": \"compress\"", "line 6: switches[0].functions[0]: \"compress\" is a kind, not a name" },
	{ "\"function\": \"::b0\"", "\"x\": 1", "line 6: switches[0].functions[0].x: unknown key" },
	{ ", \"function\": \"::b0\"", "", "line 6: switches[0].functions[0]: no \"function\"" },
	{ "::b0", "b0", "line 6: switches[0].functions[0].function: \"b0\" is no IPv6 address" },
	{ "::b0", "0:0:1::", "function \"box\" of leaf1 overlaps its locator" },
	{ "::b0", "::1", "function \"box\" of leaf1 has bits of another SID" },
	{ "::b0", "::", "function \"box\" of leaf1 has bits of another SID" },
	{ "::b0\"", "::b0\", \"ratio\": 0.5", "line 6: switches[0].functions[0]: nothing is known of what is opaque" },
	{ "\"ratio\": 0.5", "\"ratio\": 0", "line 9: switches[2].functions[0].ratio: a number above 0, up to 1" },
	{ "\"ratio\": 0.5", "\"ratio\": 1.5", "line 9: switches[2].functions[0].ratio: a number above 0, up to 1" },
	{ "\"ratio\": 0.5", "\"ratio\": \"2\"", "line 9: switches[2].functions[0].ratio: a number above 0, up to 1" },
	{ "\"rate\": \"5G\"", "\"rate\": \"fast\"", "line 15: switches[4].functions[0].rate: \"fast\" is no rate" },
	{ "\"zip\"", "\"sum\"", "spine3 has two functions \"sum\"" },
	{ "::a2", "::a1", "functions \"sum\" and \"zip\" of spine3 are the same" },
	{ "fcbb:bb00:a2::", "fcbb:bb00:21::", "a function has the CSID 21 of another one, or of a node" },
	{ "fcbb:bb00:a2::", "fcbb:bb00:a3::", "a function has the CSID a3 of another one, or of a node" },
	{ "fcbb:bb00:a2::", "fcbb:bb01:a2::", "line 12: switches[3].functions[0].usid: not in the file's uSID block" },
	{ "\"functions\": [{\"name\": \"box\", \"kind\": \"opaque\", \"function\": \"::b0\"}]", "\"functions\": {}", "line 6: switches[0].functions: an array is wanted" },
	{ "\"functions\": [{\"name\": \"box\", \"kind\": \"opaque\", \"function\": \"::b0\"}]", "\"functions\": [7]", "line 6: switches[0].functions[0]: an object is wanted" },
	{ "\"locator\": \"fc00:0:a::/48\"", "\"locator\": \"fc00:0:a::/48\", \"functions\": []", "hosts[0].functions: unknown key" },
};

static void refuses(void **state)
{
	(void)state;
	struct srpol_fabric *g;
	char text[8192];
	const char *at;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		at = strstr(good, bad[i].from);
		assert_non_null(at);
		snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good), good,
			 bad[i].to, at + strlen(bad[i].from));
		err.text[0] = '\0';
		g = srpol_topology_parse(text, strlen(text), &err);
		if (g || !strstr(err.text, bad[i].says))
			print_error("%s -> %s: %s\n", bad[i].from, bad[i].to,
				    err.text);
		assert_null(g);
		assert_non_null(strstr(err.text, bad[i].says));
	}
}

/* Path number @i from @src to @dst: over spine i + 1 between leaves. */
static void path(uint32_t src, uint32_t dst, uint32_t i,
		 struct srpol_route *route)
{
	struct srpol_path_set set;

	assert_int_equal(srpol_path_set_init(f, src, dst, &set), 0);
	srpol_path_get(f, &set, i, route);
	srpol_path_set_free(&set);
}

static void has_sids(const struct srpol_sid_list *list, uint32_t n,
		     const char *const *sids)
{
	char buf[SRPOL_ADDR_STRLEN];
	uint32_t i;

	assert_int_equal(list->n, n);
	for (i = 0; i < n; i++)
		assert_string_equal(srpol_addr_text(&list->sid[i], buf),
				    sids[i]);
}

static void in_lists(void **state)
{
	(void)state;
	const char *const spine[] = { "fc00:0:23::a1", "fc00:0:12::1",
				      "fc00:0:c::d6" };
	const char *const packed[] = { "fcbb:bb00:a3:12:c::" };
	const char *const first[] = { "fc00:0:11::b0", "fc00:0:23::1",
				      "fc00:0:12::1", "fc00:0:c::d6" };
	const char *const one[] = { "fc00:0:11::b0", "fc00:0:b::d6" };
	uint32_t sum = srpol_fabric_via(f, "sum"), at;
	uint32_t box = srpol_fabric_via(f, "opaque");
	struct srpol_sid_list list, same;
	struct srpol_route route;

	path(A, C, 2, &route);
	at = srpol_route_function(f, &route, sum);
	assert_int_equal(srpol_sids_via(f, &route, at, SRPOL_SID_REDUCED, &list,
					&err), 0);
	has_sids(&list, 3, spine);
	assert_int_equal(list.overhead, 80);
	assert_int_equal(srpol_sids_via(f, &route, at, SRPOL_SID_USID, &list,
					&err), 0);
	has_sids(&list, 1, packed);
	assert_int_equal(list.overhead, 40);
	/* the first leaf has to be named then */
	at = srpol_route_function(f, &route, box);
	assert_int_equal(srpol_sids_via(f, &route, at, SRPOL_SID_FULL, &list,
					&err), 0);
	has_sids(&list, 4, first);
	assert_int_equal(srpol_sids_via(f, &route, at, SRPOL_SID_USID, &list,
					&err), -EINVAL);
	assert_string_equal(err.text, "box of leaf1 has no compressed SID");
	/* nothing asked for: the list of before */
	assert_int_equal(srpol_sids_via(f, &route, SRPOL_NONE, SRPOL_SID_FULL,
					&list, &err), 0);
	assert_int_equal(srpol_sids_of_path(f, &route, SRPOL_HOPS_ALL, NULL,
					    SRPOL_SID_FULL, &same, &err), 0);
	assert_int_equal(list.n, same.n);
	assert_memory_equal(list.sid, same.sid, list.n * sizeof(list.sid[0]));
	/* elsewhere */
	path(A, C, 3, &route);
	assert_int_equal(srpol_route_function(f, &route, sum), SRPOL_NONE);
	assert_int_equal(srpol_sids_via(f, &route, f->nodes[srpol_fabric_node(
		f, "spine2")].fn_first, SRPOL_SID_FULL, &list, &err), -EINVAL);
	assert_string_equal(err.text, "the path does not pass sum of spine2");
	/* under one leaf */
	path(A, B, 0, &route);
	at = srpol_route_function(f, &route, box);
	assert_int_equal(srpol_sids_via(f, &route, at, SRPOL_SID_FULL, &list,
					&err), 0);
	has_sids(&list, 2, one);
}

static int read_job(const char *text, struct srpol_demands *demands)
{
	err.text[0] = '\0';
	return srpol_demands_read(f, text, strlen(text), demands, &err);
}

static void jobs_ask(void **state)
{
	(void)state;
	struct srpol_demands demands = {};

	assert_int_equal(read_job("{\"all-to-all\": {\"hosts\": [\"a\", \"c\"], \"bytes\": 5}, \"via\": \"sum\"}",
				  &demands), 0);
	assert_int_equal(demands.n, 2);
	assert_string_equal(srpol_via_name(f, demands.list[1].via), "sum");
	assert_int_equal(read_job("{\"demands\": [{\"src\": \"a\", \"dst\": \"c\", \"bytes\": 5}], \"via\": \"magic\"}",
				  &demands), -ENOENT);
	assert_string_equal(err.text, "\"via\": no switch offers a function of name or kind \"magic\"");
	assert_int_equal(read_job("{\"demands\": [{\"src\": \"a\", \"dst\": \"c\", \"bytes\": 5}], \"via\": 7}",
				  &demands), -ENOENT);
	/* under one leaf no path passes a spine */
	assert_int_equal(read_job("{\"demands\": [{\"src\": \"a\", \"dst\": \"c\", \"bytes\": 5}, {\"src\": \"a\", \"dst\": \"b\", \"bytes\": 5}], \"via\": \"sum\"}",
				  &demands), -ENOENT);
	assert_string_equal(err.text, "no path from a to b passes a switch that offers \"sum\": spine2, spine3");
	assert_int_equal(read_job("{\"demands\": [], \"vai\": \"sum\"}", &demands),
			 -EINVAL);
	assert_int_equal(demands.n, 2);
	srpol_demands_free(&demands);
}

/* Of who offers it four are named, and that there are more. */
static void names_switches(void **state)
{
	(void)state;
	/* numbers of switches: spine1, spine4, then leaf2 */
	static const size_t more[] = { 2, 5, 1 };
	struct srpol_demand d = { .src = A, .dst = B, .bytes = GB };
	char *text = srpol_topology_text(f), *changed;
	json_t *o = json_loads(text, 0, NULL), *at;
	struct srpol_fabric *with;
	size_t i;

	for (i = 0; i < 3; i++) {
		at = json_array_get(json_object_get(o, "switches"), more[i]);
		json_object_set_new(at, "functions", json_pack(
			"[{s:s, s:s, s:s}]", "name", "sum", "kind", "aggregate",
			"function", "::a1"));
		if (!i)
			continue;
		changed = json_dumps(o, 0);
		with = srpol_topology_parse(changed, strlen(changed), &err);
		assert_non_null(with);
		d.via = srpol_fabric_via(with, "sum");
		assert_int_equal(srpol_demands_check(with, &d, 1, &err), -ENOENT);
		assert_string_equal(strchr(err.text, ':'), i == 1 ?
			": spine1, spine2, spine3, spine4" :
			": leaf2, spine1, spine2, spine3, ...");
		srpol_fabric_free(with);
		free(changed);
	}
	free(text);
	json_decref(o);
}

/* The fabric with a function at one switch, and without one of its links. */
static struct srpol_fabric *with_one(const struct srpol_fabric *g, size_t at,
				     size_t gone)
{
	char *text = srpol_topology_text(g), *changed;
	json_t *o = json_loads(text, 0, NULL);
	struct srpol_fabric *with;

	json_object_set_new(json_array_get(json_object_get(o, "switches"), at),
			    "functions", json_pack("[{s:s, s:s, s:s}]", "name",
						   "sum", "kind", "opaque",
						   "function", "::a1"));
	json_array_remove(json_object_get(o, "links"), gone);
	changed = json_dumps(o, 0);
	with = srpol_topology_parse(changed, strlen(changed), &err);
	if (!with)
		print_error("%s\n", err.text);
	assert_non_null(with);
	free(changed);
	free(text);
	json_decref(o);
	return with;
}

static bool some_path(const struct srpol_fabric *g, const struct srpol_demand *d)
{
	struct srpol_path_set set;
	struct srpol_route route;
	bool found = false;
	uint32_t i;

	assert_int_equal(srpol_path_set_init(g, d->src, d->dst, &set), 0);
	for (i = 0; i < set.n; i++) {
		srpol_path_get(g, &set, i, &route);
		found |= srpol_route_offers(g, &route, d->via);
	}
	srpol_path_set_free(&set);
	return found;
}

/* All pairs: one by one, those that may be in one list, and one more behind them. */
static void check_pairs(const struct srpol_fabric *g)
{
	struct srpol_demand d = { .bytes = 1, .via = srpol_fabric_via(g, "sum") };
	struct srpol_demand *list = calloc((size_t)g->n_gpus * g->n_gpus + 1,
					   sizeof(*list));
	uint32_t i, n = 0;
	int ret;

	for (i = 0; i < g->n_gpus * g->n_gpus; i++) {
		d.src = i / g->n_gpus;
		d.dst = i % g->n_gpus;
		if (g->gpus[d.src].host == g->gpus[d.dst].host)
			continue;
		ret = srpol_demands_check(g, &d, 1, &err);
		assert_int_equal(ret, some_path(g, &d) ? 0 : -ENOENT);
		if (!ret)
			list[n++] = d;
	}
	assert_int_equal(srpol_demands_check(g, list, n, &err), 0);
	for (i = 0; i < g->n_gpus * g->n_gpus; i++) {
		list[n] = d;
		list[n].src = i / g->n_gpus;
		list[n].dst = i % g->n_gpus;
		if (g->gpus[list[n].src].host != g->gpus[list[n].dst].host)
			assert_int_equal(srpol_demands_check(g, list, n + 1,
							     &err),
					 some_path(g, &list[n]) ? 0 : -ENOENT);
	}
	free(list);
}

/* What is asked of many demands at once, against all paths of each. */
static void asks_all_paths(void **state)
{
	struct srpol_shape shapes[] = {
		srpol_shape_leaf_spine(3, 2, 3, 100 * GB),
		srpol_shape_clos(2, 2, 1, 2, 2, 100 * GB),
		srpol_shape_rail(2, 1, 2, 2, 100 * GB),
	};
	struct srpol_fabric *g, *with;
	size_t i, n, at, gone;

	(void)state;
	for (i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		g = srpol_fabric_generate(&shapes[i], &err);
		assert_non_null(g);
		for (at = 0, n = 0; at < g->n_nodes; at++)
			n += g->nodes[at].tier != SRPOL_TIER_HOST;
		for (at = 0; at < n; at++) {
			for (gone = 0; gone < 9; gone += 2) {
				with = with_one(g, at, gone ? gone : 1000);
				check_pairs(with);
				srpol_fabric_free(with);
			}
		}
		srpol_fabric_free(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(old_digest),
		cmocka_unit_test(refuses),
		cmocka_unit_test(in_lists),
		cmocka_unit_test(jobs_ask),
		cmocka_unit_test(names_switches),
		cmocka_unit_test(asks_all_paths),
	};

	return cmocka_run_group_tests(tests, up, down);
}
