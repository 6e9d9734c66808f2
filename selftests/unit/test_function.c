// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of switches as waypoints: read, written, refused; in segment lists;
 * paths that algorithms choose for who asks for one; and what the model makes of
 * them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "plan.h"
#include "srpol_lib.h"
#include "test.h"

/*
 * a, b at leaf1, c, d at leaf2. spine2 and spine3 add up, 4:1, spine3 takes in
 * 5 Gbit/s only; spine1 sends copies to two; leaf1 has something nobody knows.
 */
static const char good[] =
"{\n"							/* line 1 */
" \"srpol-topology\": 1,\n"
" \"usid\": {\"block\": \"fcbb:bb00::/32\"},\n"
" \"switches\": [\n"
"  {\"name\": \"leaf1\", \"role\": \"leaf\", \"locator\": \"fc00:0:11::/48\", \"usid\": \"fcbb:bb00:11::\",\n" /* 5 */
"   \"functions\": [{\"name\": \"box\", \"kind\": \"opaque\", \"function\": \"::b0\"}]},\n"
"  {\"name\": \"leaf2\", \"role\": \"leaf\", \"locator\": \"fc00:0:12::/48\", \"usid\": \"fcbb:bb00:12::\"},\n"
"  {\"name\": \"spine1\", \"role\": \"spine\", \"locator\": \"fc00:0:21::/48\", \"usid\": \"fcbb:bb00:21::\",\n"
"   \"functions\": [{\"name\": \"copy\", \"kind\": \"multicast\", \"function\": \"::c1\", \"ratio\": 0.5}]},\n"
"  {\"name\": \"spine2\", \"role\": \"spine\", \"locator\": \"fc00:0:22::/48\", \"usid\": \"fcbb:bb00:22::\",\n" /* 10 */
"   \"functions\": [\n"
"    {\"name\": \"sum\", \"kind\": \"aggregate\", \"function\": \"::a1\", \"usid\": \"fcbb:bb00:a2::\", \"ratio\": 0.25}]},\n"
"  {\"name\": \"spine3\", \"role\": \"spine\", \"locator\": \"fc00:0:23::/48\", \"usid\": \"fcbb:bb00:23::\",\n"
"   \"functions\": [\n"
"    {\"name\": \"sum\", \"kind\": \"aggregate\", \"function\": \"::a1\", \"usid\": \"fcbb:bb00:a3::\", \"ratio\": 0.25, \"rate\": \"5G\"},\n" /* 15 */
"    {\"name\": \"zip\", \"kind\": \"compress\", \"function\": \"::a2\"}]},\n"
"  {\"name\": \"spine4\", \"role\": \"spine\", \"locator\": \"fc00:0:24::/48\", \"usid\": \"fcbb:bb00:24::\"}\n"
" ],\n"
" \"hosts\": [\n"
"  {\"name\": \"a\", \"locator\": \"fc00:0:a::/48\", \"usid\": \"fcbb:bb00:a::\", \"nics\": [{\"name\": \"n\", \"leaf\": \"leaf1\", \"rate\": \"80G\"}]},\n"
"  {\"name\": \"b\", \"locator\": \"fc00:0:b::/48\", \"usid\": \"fcbb:bb00:b::\", \"nics\": [{\"name\": \"n\", \"leaf\": \"leaf1\", \"rate\": \"80G\"}]},\n"
"  {\"name\": \"c\", \"locator\": \"fc00:0:c::/48\", \"usid\": \"fcbb:bb00:c::\", \"nics\": [{\"name\": \"n\", \"leaf\": \"leaf2\", \"rate\": \"80G\"}]},\n"
"  {\"name\": \"d\", \"locator\": \"fc00:0:d::/48\", \"usid\": \"fcbb:bb00:d::\", \"nics\": [{\"name\": \"n\", \"leaf\": \"leaf2\", \"rate\": \"80G\"}]}\n"
" ],\n"
" \"links\": [\n"
"  {\"from\": \"leaf1\", \"to\": \"spine1\", \"rate\": \"80G\"}, {\"from\": \"leaf2\", \"to\": \"spine1\", \"rate\": \"80G\"},\n"
"  {\"from\": \"leaf1\", \"to\": \"spine2\", \"rate\": \"80G\"}, {\"from\": \"leaf2\", \"to\": \"spine2\", \"rate\": \"8G\"},\n"
"  {\"from\": \"leaf1\", \"to\": \"spine3\", \"rate\": \"80G\"}, {\"from\": \"leaf2\", \"to\": \"spine3\", \"rate\": \"80G\"},\n"
"  {\"from\": \"leaf1\", \"to\": \"spine4\", \"rate\": \"80G\"}, {\"from\": \"leaf2\", \"to\": \"spine4\", \"rate\": \"80G\"}\n"
" ]\n"
"}\n";

#define A	0
#define B	1
#define C	2
#define D	3
#define GB	UINT64_C(1000000000)

static struct srpol_fabric *f;
static struct srpol_links *links;
static struct srpol_error err;

static int up(void **state)
{
	(void)state;
	f = srpol_topology_parse(good, sizeof(good) - 1, &err);
	if (!f)
		print_error("%s\n", err.text);
	links = f ? srpol_links_new(f) : NULL;
	return links ? 0 : -1;
}

static int down(void **state)
{
	(void)state;
	srpol_links_free(links);
	srpol_fabric_free(f);
	return 0;
}

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
	{ "::b0", "b0", "line 6: switches[0].functions[0].function: \"b0\" is no address" },
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

static struct srpol_placement *run(const struct srpol_alg *alg,
				   const struct srpol_demand *demands,
				   uint32_t n)
{
	struct srpol_alg_input in = {
		.fabric = f, .links = links, .demands = demands, .n = n,
	};
	struct srpol_placement *p;

	assert_int_equal(srpol_alg_run(alg, &in, &p, &err), 0);
	return p;
}

/* Every algorithm: only paths over spine2 and spine3, next to who asks for none. */
static void algorithms_choose(void **state)
{
	(void)state;
	uint32_t sum = srpol_fabric_via(f, "aggregate"), i, k, d, others = 0;
	struct srpol_demand demands[8];
	struct srpol_placement *p;

	for (i = 0; i < 8; i++)
		demands[i] = (struct srpol_demand){
			.src = i % 2, .dst = C + i / 2 % 2,
			.bytes = GB * (i + 1), .key = 7 * i, .color = 1,
			.via = i < 4 ? sum : 0,
		};
	for (i = 0; srpol_alg_at(i); i++) {
		p = run(srpol_alg_at(i), demands, 8);
		assert_int_equal(p->prediction.unplaced, 0);
		for (d = 0; d < 8; d++) {
			assert_true(p->first[d] < p->first[d + 1]);
			for (k = p->first[d]; k < p->first[d + 1]; k++) {
				if (d < 4)
					assert_in_range(p->shares[k].path, 1,
							2);
				else
					others += p->shares[k].path % 3 == 0;
			}
		}
		srpol_placement_free(p);
	}
	assert_true(others > 8);
	/* the only one left is found, and nothing is said to be placed without */
	srpol_links_set_capacity(links, srpol_fabric_link(f,
		srpol_fabric_node(f, "leaf1"), srpol_fabric_node(f, "spine2")),
		0);
	for (i = 0; srpol_alg_at(i); i++) {
		p = run(srpol_alg_at(i), demands, 4);
		for (d = 0; d < 4; d++) {
			assert_int_equal(p->first[d + 1] - p->first[d], 1);
			assert_int_equal(p->shares[p->first[d]].path, 2);
		}
		srpol_placement_free(p);
	}
	srpol_links_set_capacity(links, srpol_fabric_link(f,
		srpol_fabric_node(f, "leaf1"), srpol_fabric_node(f, "spine3")),
		0);
	for (i = 0; srpol_alg_at(i); i++) {
		p = run(srpol_alg_at(i), demands, 4);
		assert_int_equal(p->prediction.unplaced, 4);
		srpol_placement_free(p);
	}
	down(state);
	up(state);
}

/* A placement in force is left when the demand asks for something else. */
static void minmax_leaves(void **state)
{
	(void)state;
	struct srpol_demand d = { .src = A, .dst = C, .bytes = GB };
	struct srpol_alg_input in = {
		.fabric = f, .links = links, .demands = &d, .n = 1,
	};
	struct srpol_placement *before, *p;
	uint32_t i;

	before = srpol_placement_new(1);
	srpol_placement_add(before, 0, 3, 1);
	srpol_placement_end(before, 0);
	in.previous = before;
	d.via = srpol_fabric_via(f, "sum");
	assert_int_equal(srpol_alg_run(&srpol_alg_minmax, &in, &p, &err), 0);
	assert_true(p->first[1]);
	for (i = 0; i < p->first[1]; i++)
		assert_in_range(p->shares[i].path, 1, 2);
	srpol_placement_free(before);
	srpol_placement_free(p);
}

/* Planes of which no path passes it get nothing: all counts where it goes. */
static void planes(void **state)
{
	(void)state;
	struct srpol_shape shape = srpol_shape_plane(2, 4, 100 * GB);
	struct srpol_function sum = {
		.name = "sum", .kind = SRPOL_FUNCTION_AGGREGATE, .ratio = 1,
		.bits.s6_addr[15] = 0xa1,
	};
	struct srpol_demand d = { .src = 0, .dst = 1, .bytes = GB };
	struct srpol_fabric *g = srpol_fabric_generate(&shape, &err);
	struct srpol_alg_input in = { .fabric = g, .demands = &d, .n = 1 };
	struct srpol_placement *p;
	char *text;
	uint32_t i;

	/* what is generated is finished: once more, with a function */
	sum.node = g->nics[g->gpus[0].nic].leaf;
	assert_int_equal(srpol_fabric_add_function(g, &sum, &err), 0);
	g->nodes[sum.node].fn_n = 1;
	text = srpol_topology_text(g);
	srpol_fabric_free(g);
	g = srpol_topology_parse(text, strlen(text), &err);
	free(text);
	assert_non_null(g);
	in.fabric = g;
	in.links = srpol_links_new(g);
	d.via = srpol_fabric_via(g, "sum");
	for (i = 0; srpol_alg_at(i); i++) {
		assert_int_equal(srpol_alg_run(srpol_alg_at(i), &in, &p, &err),
				 0);
		assert_int_equal(p->first[1], 1);
		assert_int_equal(p->shares[0].path, 0);
		srpol_placement_free(p);
	}
	assert_int_equal(srpol_alg_run(&srpol_alg_minmax, &in, &p, &err), 0);
	assert_int_equal(p->shares[0].weight, 1);
	srpol_placement_free(p);
	srpol_links_free((struct srpol_links *)in.links);
	srpol_fabric_free(g);
}

/* Seconds that the model gives a demand of 1 GB over one path. */
static double seconds(const char *word, uint32_t number, bool coupled)
{
	struct srpol_demand d = {
		.src = A, .dst = C, .bytes = GB,
		.via = word ? srpol_fabric_via(f, word) : 0,
	};
	struct srpol_alg_input in = {
		.fabric = f, .links = links, .demands = &d, .n = 1,
	};
	struct srpol_placement *p = srpol_placement_new(1);
	double finish;

	srpol_placement_add(p, 0, number, 1);
	srpol_placement_end(p, 0);
	assert_int_equal(srpol_predict(&in, p, coupled, NULL, &finish), 0);
	srpol_placement_free(p);
	return finish;
}

static void is_near(double a, double b)
{
	if (fabs(a - b) > 1e-6 * b)
		print_error("%g is not %g\n", a, b);
	assert_true(fabs(a - b) <= 1e-6 * b);
}

static void model(void **state)
{
	(void)state;
	int coupled;

	for (coupled = 0; coupled < 2; coupled++) {
		/* behind spine2 there are 8 Gbit/s */
		is_near(seconds(NULL, 1, coupled), 1);
		is_near(seconds("sum", 1, coupled), 0.25);
		/* spine3 takes in 5 Gbit/s; whom it does not concern, passes */
		is_near(seconds("sum", 2, coupled), 1.6);
		is_near(seconds(NULL, 2, coupled), 0.1);
		is_near(seconds("zip", 2, coupled), 0.1);
		is_near(seconds("opaque", 1, coupled), 1);
	}
}

/* One to two: over a multicast the sender's NIC has it once. */
static void model_multicast(void **state)
{
	(void)state;
	struct srpol_demand demands[] = {
		{ .src = A, .dst = C, .bytes = GB },
		{ .src = A, .dst = D, .bytes = GB },
	};
	struct srpol_alg_input in = {
		.fabric = f, .links = links, .demands = demands, .n = 2,
	};
	struct srpol_placement *p = srpol_placement_new(2);
	double finish[2];

	srpol_placement_add(p, 0, 0, 1);
	srpol_placement_end(p, 0);
	srpol_placement_add(p, 1, 0, 1);
	srpol_placement_end(p, 1);
	assert_int_equal(srpol_predict(&in, p, false, NULL, finish), 0);
	is_near(finish[1], 0.2);
	demands[0].via = demands[1].via = srpol_fabric_via(f, "copy");
	assert_int_equal(srpol_predict(&in, p, false, NULL, finish), 0);
	/* leaf2 still gets both */
	is_near(finish[1], 0.2);
	srpol_links_set_capacity(links, f->nics[f->gpus[A].nic].link, 8 * GB);
	assert_int_equal(srpol_predict(&in, p, false, NULL, finish), 0);
	is_near(finish[1], 1);
	demands[0].via = demands[1].via = 0;
	assert_int_equal(srpol_predict(&in, p, false, NULL, finish), 0);
	is_near(finish[1], 2);
	srpol_placement_free(p);
	down(state);
	up(state);
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

/* Where a plan says nothing, or what it says does not fit, time is none. */
static void plan_goes_through(void **state)
{
	(void)state;
	struct srpol_planner planner = {
		.fabric = f, .alg = srpol_alg_find("wecmp"),
	};
	struct srpol_demand d = {
		.src = A, .dst = C, .bytes = GB, .color = 1,
		.via = srpol_fabric_via(f, "sum"),
	};
	const uint8_t *weights;
	double finish;
	uint32_t n;

	assert_int_equal(srpol_planner_run(&planner, links, &d, 1, &err), 0);
	weights = srpol_plan_find(planner.plan, srpol_fabric_node(f, "leaf1"),
				  srpol_fabric_node(f, "leaf2"), 0, &n);
	assert_int_equal(n, 4);
	assert_int_equal(weights[0] + weights[3], 0);
	assert_true(weights[1] && weights[2]);
	assert_int_equal(srpol_completion(f, links, planner.plan, &d, 1,
					  &finish), 0);
	assert_true(isfinite(finish));
	/* it is placed anew when it asks for something else, and only then */
	assert_int_equal(srpol_planner_run(&planner, links, &d, 1, &err), 0);
	assert_int_equal(planner.placed, 0);
	d.via = srpol_fabric_via(f, "copy");
	assert_int_equal(srpol_completion(f, links, planner.plan, &d, 1,
					  &finish), 0);
	assert_true(isinf(finish));
	assert_int_equal(srpol_planner_run(&planner, links, &d, 1, &err), 0);
	assert_int_equal(planner.placed, 1);
	weights = srpol_plan_find(planner.plan, srpol_fabric_node(f, "leaf1"),
				  srpol_fabric_node(f, "leaf2"), 0, &n);
	assert_int_equal(weights[0], 15);
	assert_int_equal(weights[1] + weights[2] + weights[3], 0);
	srpol_planner_free(&planner);
}

/* Bandwidth is kept as if it did nothing, on paths that pass it. */
static void holds_go_through(void **state)
{
	(void)state;
	struct srpol_demand d = {
		.src = A, .dst = C, .bytes = GB,
		.via = srpol_fabric_via(f, "zip"),
	};
	struct srpol_ledger ledger = { .fabric = f, .links = links };
	struct srpol_hold want = {
		.color = 5, .rate = 60 * GB, .demands = &d, .n = 1,
	};
	struct srpol_offer offer;
	const uint8_t *weights;
	uint32_t n;

	assert_int_equal(srpol_ledger_offer(&ledger, &want, &offer), 0);
	assert_true(offer.fits);
	weights = srpol_plan_find(offer.weights, srpol_fabric_node(f, "leaf1"),
				  srpol_fabric_node(f, "leaf2"), 0, &n);
	assert_int_equal(weights[2], 15);
	assert_int_equal(weights[0] + weights[1] + weights[3], 0);
	srpol_plan_free(offer.weights);
	srpol_links_set_capacity(links, srpol_fabric_link(f,
		srpol_fabric_node(f, "leaf1"), srpol_fabric_node(f, "spine3")),
		0);
	assert_int_equal(srpol_ledger_offer(&ledger, &want, &offer), 0);
	assert_false(offer.fits);
	assert_int_equal(offer.link, SRPOL_NONE);
	assert_int_equal(offer.most, 0);
	srpol_plan_free(offer.weights);
	down(state);
	up(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(old_digest),
		cmocka_unit_test(refuses),
		cmocka_unit_test(in_lists),
		cmocka_unit_test(algorithms_choose),
		cmocka_unit_test(minmax_leaves),
		cmocka_unit_test(planes),
		cmocka_unit_test(model),
		cmocka_unit_test(model_multicast),
		cmocka_unit_test(plan_goes_through),
		cmocka_unit_test(holds_go_through),
		cmocka_unit_test(jobs_ask),
	};

	return cmocka_run_group_tests(tests, up, down);
}
