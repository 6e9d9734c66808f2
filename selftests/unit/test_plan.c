// SPDX-License-Identifier: GPL-2.0
/*
 * Chunks of plans, the next plan and what-if, with lib/plan as the global engine
 * and hosts link it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "srpol_lib.h"
#include "test.h"

#define G	1000000000ull
#define LEAVES	4
#define SPINES	4

static struct srpol_fabric *fabric;
static struct srpol_links *links;
static struct srpol_demands demands;

/* Every host sends to every other one. */
static int setup(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(LEAVES, 2, SPINES,
							  400 * G);
	u32 i, j;

	(void)state;
	fabric = srpol_fabric_generate(&shape, NULL);
	links = srpol_links_new(fabric);
	demands = (struct srpol_demands){};
	demands.list = calloc(fabric->n_gpus * fabric->n_gpus,
			      sizeof(*demands.list));
	for (i = 0; i < fabric->n_gpus; i++)
		for (j = 0; j < fabric->n_gpus; j++)
			if (i != j)
				demands.list[demands.n++] =
					(struct srpol_demand){
						.src = i, .dst = j,
						.bytes = 1 << 30, .color = 1,
					};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	srpol_demands_free(&demands);
	srpol_links_free(links);
	srpol_fabric_free(fabric);
	return 0;
}

static u32 leaf(u32 i)
{
	u32 node;

	for (node = 0; node < fabric->n_nodes; node++)
		if (fabric->nodes[node].tier == SRPOL_TIER_LEAF && !i--)
			return node;
	return SRPOL_NONE;
}

static struct srpol_planner planner_of(const char *alg)
{
	return (struct srpol_planner){
		.fabric = fabric, .alg = srpol_alg_find(alg),
	};
}

static void run(struct srpol_planner *p)
{
	struct srpol_error err = {};

	assert_int_equal(srpol_planner_run(p, links, demands.list, demands.n,
					   &err), 0);
	assert_string_equal(err.text, "");
}

static void set_cable(u32 from, u32 spine, u64 rate)
{
	u32 link = srpol_node_up(fabric, leaf(from), spine);

	srpol_links_set_capacity(links, link, rate);
	srpol_links_set_capacity(links, link ^ 1, rate);
}

/* BLAKE2b-256 of "abc", by Python's hashlib */
static void test_digest(void **state)
{
	char digest[SRPOL_DIGEST_LEN];

	(void)state;
	srpol_digest("abc", 3, digest);
	assert_string_equal(digest, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

static void test_chunks(void **state)
{
	struct srpol_planner p = planner_of("wecmp");
	struct srpol_chunk chunks[LEAVES];
	struct srpol_plan *back;
	struct srpol_error err = {};
	char *text[LEAVES];
	u32 i;

	(void)state;
	set_cable(0, 1, 100 * G);
	run(&p);
	for (i = 0; i < LEAVES; i++) {
		text[i] = srpol_chunk_write(fabric, p.plan, leaf(i));
		chunks[i] = (struct srpol_chunk){
			.leaf = leaf(i), .text = text[i],
			.len = strlen(text[i]),
		};
	}
	/* the narrow link has a quarter of the others' weight */
	assert_non_null(strstr(text[0], "\"weights\":\"f4ff\""));
	assert_int_equal(srpol_chunks_read(fabric, chunks, LEAVES, &back, &err),
			 0);
	assert_int_equal(srpol_plan_diff(p.plan, back, NULL, NULL), 0);
	assert_int_equal(back->n, LEAVES * (LEAVES - 1));
	srpol_plan_free(back);
	/* a part of a plan is a part */
	assert_int_equal(srpol_chunks_read(fabric, chunks + 1, 2, &back, &err),
			 0);
	assert_int_equal(back->n, 2 * (LEAVES - 1));
	assert_int_equal(srpol_plan_diff(p.plan, back, NULL, NULL),
			 (LEAVES - 2) * (LEAVES - 1));
	srpol_plan_free(back);
	for (i = 0; i < LEAVES; i++)
		free(text[i]);
	srpol_planner_free(&p);
}

/* Whatever one changes in a chunk, it is refused or another, valid chunk. */
static void test_bad_chunks(void **state)
{
	static const char * const bad[] = {
		"{}\n", "[]\n", "nothing\n",
		"{\"to\":\"nobody\",\"weights\":\"ffff\"}\n",
		"{\"to\":\"leaf0.0.1.0\",\"weights\":\"fff\"}\n",
		"{\"to\":\"leaf0.0.1.0\",\"weights\":\"fffff\"}\n",
		"{\"to\":\"leaf0.0.1.0\",\"weights\":\"ffgf\"}\n",
		"{\"to\":\"leaf0.0.1.0\",\"weights\":\"ffFf\"}\n",
		"{\"to\":\"leaf0.0.1.0\",\"weights\":\"ffff\",\"more\":1}\n",
		"{\"to\":\"leaf0.0.1.0\",\"weights\":\"ffff\"}",
		"{\"to\":\"spine1\",\"weights\":\"ffff\"}\n",
		"{\"to\":\"leaf0.0.0.0\",\"weights\":\"f\"}\n",
		"{\"to\":\"leaf0.0.2.0\",\"weights\":\"ffff\"}\n"
		"{\"to\":\"leaf0.0.1.0\",\"weights\":\"ffff\"}\n",
		"{\"to\":\"leaf0.0.1.0\",\"weights\":\"ffff\"}\n"
		"{\"to\":\"leaf0.0.1.0\",\"weights\":\"ffff\"}\n",
	};
	struct srpol_plan *plan;
	struct srpol_error err;
	struct srpol_chunk c;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		c = (struct srpol_chunk){
			.leaf = leaf(0), .text = bad[i], .len = strlen(bad[i]),
		};
		err.text[0] = '\0';
		assert_int_equal(srpol_chunks_read(fabric, &c, 1, &plan, &err),
				 -EINVAL);
		assert_null(plan);
		assert_non_null(strstr(err.text, "chunk of"));
	}
	c.text = "{\"to\":\"leaf0.0.1.0\",\"weights\":\"f0f8\"}\n";
	c.len = strlen(c.text);
	assert_int_equal(srpol_chunks_read(fabric, &c, 1, &plan, &err), 0);
	srpol_plan_free(plan);
	/* of the same leaf twice */
	err.text[0] = '\0';
	assert_int_equal(srpol_chunks_read(fabric,
					   (struct srpol_chunk[]){ c, c }, 2,
					   &plan, &err), -EINVAL);
	assert_non_null(strstr(err.text, "in order"));
}

static void each_is_at(void *data, const struct srpol_plan_change *change)
{
	u32 *at = data;

	assert_true(change->from == *at || change->to == *at);
}

/* A link changes: pairs of its leaf follow, no other one does. */
static void test_incremental(void **state)
{
	struct srpol_planner p = planner_of("wecmp"), anew = planner_of("wecmp");
	struct srpol_plan *before;
	u32 at = leaf(2), n, all = demands.n;

	(void)state;
	run(&p);
	assert_int_equal(p.placed, all);
	before = p.plan;
	p.plan = NULL;
	set_cable(2, 3, 0);
	run(&p);
	/* to and from the two hosts of one of four leaves, out of eight */
	assert_int_equal(p.placed, 2 * 2 * 6);
	n = srpol_plan_diff(before, p.plan, each_is_at, &at);
	assert_int_equal(n, 2 * (LEAVES - 1));
	/* what was kept is what would have been made */
	run(&anew);
	assert_int_equal(srpol_plan_diff(anew.plan, p.plan, NULL, NULL), 0);
	/* nothing new, nothing placed */
	run(&p);
	assert_int_equal(p.placed, 0);
	assert_int_equal(srpol_plan_diff(anew.plan, p.plan, NULL, NULL), 0);
	/* a job less: what is left is as it was */
	demands.n -= 3;
	run(&p);
	assert_int_equal(p.placed, 0);
	assert_int_equal(p.placement->n, all - 3);
	demands.n += 3;
	run(&p);
	assert_int_equal(p.placed, 3);
	assert_int_equal(srpol_plan_diff(anew.plan, p.plan, NULL, NULL), 0);
	srpol_plan_free(before);
	srpol_planner_free(&p);
	srpol_planner_free(&anew);
}

/* Demands that are weighed against each other move from what is down only. */
static void test_incremental_minmax(void **state)
{
	struct srpol_planner p = planner_of("minmax");
	u32 d, s, moved = 0, link = srpol_node_up(fabric, leaf(1), 0);
	struct srpol_placement *before;
	struct srpol_path_set set;
	struct srpol_route route;
	bool was_there;

	(void)state;
	run(&p);
	before = p.placement;
	p.placement = srpol_placement_new(before->n);
	for (d = 0; d < before->n; d++) {
		for (s = before->first[d]; s < before->first[d + 1]; s++)
			srpol_placement_add(p.placement, d,
					    before->shares[s].path,
					    before->shares[s].weight);
		srpol_placement_end(p.placement, d);
	}
	set_cable(1, 0, 0);
	p.options.hysteresis = 100;
	run(&p);
	for (d = 0; d < before->n; d++) {
		srpol_path_set_init(fabric, demands.list[d].src,
				    demands.list[d].dst, &set);
		was_there = false;
		for (s = before->first[d]; s < before->first[d + 1]; s++) {
			srpol_path_get(fabric, &set, before->shares[s].path,
				       &route);
			was_there |= route.n == 4 &&
				     (route.link[1] == link ||
				      route.link[2] == (link ^ 1));
		}
		srpol_path_set_free(&set);
		if (was_there) {
			moved++;
			continue;
		}
		assert_int_equal(before->first[d + 1] - before->first[d],
				 p.placement->first[d + 1] -
				 p.placement->first[d]);
		assert_memory_equal(before->shares + before->first[d],
				    p.placement->shares +
				    p.placement->first[d],
				    (before->first[d + 1] - before->first[d]) *
				    sizeof(*before->shares));
	}
	assert_int_not_equal(moved, 0);
	srpol_placement_free(before);
	srpol_planner_free(&p);
}

static void test_what_if(void **state)
{
	struct srpol_planner p = planner_of("wecmp"), trial;
	struct srpol_links *cut;
	struct srpol_situation now, then;
	struct srpol_what_if w;
	u32 s, link;

	(void)state;
	assert_int_equal(srpol_planner_try(&p, links, &trial, NULL), -EINVAL);
	run(&p);
	cut = srpol_links_copy(links);
	/* three of four cables of a leaf: a half of what its hosts can send */
	for (s = 0; s < 3; s++) {
		link = srpol_node_up(fabric, leaf(0), s);
		srpol_links_set_capacity(cut, link, 0);
		srpol_links_set_capacity(cut, link ^ 1, 0);
	}
	assert_int_equal(srpol_planner_try(&p, cut, &trial, NULL), 0);
	now = (struct srpol_situation){ links, p.plan };
	then = (struct srpol_situation){ cut, trial.plan };
	assert_int_equal(srpol_what_if(fabric, demands.list, demands.n, &now,
				       &then, &w), 0);
	/* 7 x 1 GiB by each NIC of 400 Gbit/s */
	assert_float_equal(w.now, 7 * (1 << 30) / 50e9, 1e-4);
	/* 12 x 1 GiB by the last cable */
	assert_float_equal(w.local, 12.0 * (1 << 30) / 50e9, 1e-3);
	assert_float_equal(w.planned, w.local, 1e-4);
	assert_int_equal(w.unplaced, 0);
	for (s = 0; s < demands.n; s++)
		assert_true(w.finish[0][s] > 0 &&
			    w.finish[2][s] <= w.planned);
	srpol_what_if_free(&w);
	srpol_planner_free(&trial);
	/* what is in force has not changed */
	assert_int_equal(p.links->links[srpol_node_up(fabric, leaf(0), 0)]
			 .capacity, 400 * G);
	link = srpol_node_up(fabric, leaf(0), 3);
	srpol_links_set_capacity(cut, link, 0);
	srpol_links_set_capacity(cut, link ^ 1, 0);
	assert_int_equal(srpol_planner_try(&p, cut, &trial, NULL), 0);
	then.plan = trial.plan;
	assert_int_equal(srpol_what_if(fabric, demands.list, demands.n, &now,
				       &then, &w), 0);
	assert_true(isinf(w.local) && isinf(w.planned));
	assert_int_equal(w.unplaced, 2 * 2 * 6);
	srpol_what_if_free(&w);
	srpol_planner_free(&trial);
	srpol_links_free(cut);
	srpol_planner_free(&p);
}

static void test_weigh(void **state)
{
	struct srpol_planner p = planner_of("wecmp");
	u32 weight[SPINES];
	int n;

	(void)state;
	set_cable(0, 1, 200 * G);
	run(&p);
	n = srpol_plan_weigh(fabric, links, p.plan, 0, 2, 0, weight, SPINES);
	assert_int_equal(n, SPINES);
	/* 15:8:15:15 of what is closest in 4 bits */
	assert_int_equal(weight[0], 65535 * 15 / 53);
	assert_int_equal(weight[1], 65535 * 8 / 53);
	assert_int_equal(srpol_plan_weigh(fabric, links, p.plan, 0, 2, 0, weight,
					  SPINES - 1), -E2BIG);
	/* what the host itself knows to be down gets nothing */
	set_cable(0, 0, 0);
	n = srpol_plan_weigh(fabric, links, p.plan, 0, 2, 0, weight, SPINES);
	assert_int_equal(n, SPINES);
	assert_int_equal(weight[0], 0);
	assert_int_equal(weight[1], 65535 * 8 / 38);
	/* hosts of one leaf are in no plan */
	assert_int_equal(srpol_plan_weigh(fabric, links, p.plan, 0, 1, 0, weight,
					  SPINES), -ENOENT);
	srpol_planner_free(&p);
}

/* Colors beside each other: written, read, compared, and found. */
static void test_colors(void **state)
{
	struct srpol_planner p = planner_of("wecmp"), q = planner_of("minmax");
	struct srpol_plan_part parts[3];
	struct srpol_plan *plan, *read, *again;
	struct srpol_chunk chunk = { .leaf = leaf(0) };
	u32 weight[SPINES], n;
	char *text;

	(void)state;
	run(&p);
	run(&q);
	parts[0] = (struct srpol_plan_part){ p.plan, 0 };
	parts[1] = (struct srpol_plan_part){ q.plan, 7 };
	/* the first one that has a pair counts */
	parts[2] = (struct srpol_plan_part){ p.plan, 7 };
	plan = srpol_plan_join(parts, 3);
	assert_int_equal(plan->n, p.plan->n + q.plan->n);
	assert_memory_equal(srpol_plan_find(plan, leaf(0), leaf(1), 7, &n),
			    srpol_plan_find(q.plan, leaf(0), leaf(1), 0, &n),
			    SPINES);
	assert_null(srpol_plan_find(plan, leaf(0), leaf(1), 6, &n));
	text = srpol_chunk_write(fabric, plan, leaf(0));
	chunk.text = text;
	chunk.len = strlen(text);
	assert_non_null(strstr(text, "{\"color\":7,\"to\":"));
	assert_int_equal(srpol_chunks_read(fabric, &chunk, 1, &read, NULL), 0);
	assert_int_equal(read->n, 2 * (LEAVES - 1));
	assert_int_equal(srpol_plan_weigh(fabric, links, read, 0, 2, 7, weight,
					  SPINES), SPINES);
	assert_int_equal(srpol_plan_weigh(fabric, links, read, 0, 2, 6, weight,
					  SPINES), -ENOENT);
	/* without the color: so many pairs less */
	again = srpol_plan_join(parts, 1);
	assert_int_equal(srpol_plan_diff(plan, again, NULL, NULL), q.plan->n);
	assert_int_equal(srpol_plan_diff(plan, plan, NULL, NULL), 0);
	srpol_plan_free(again);
	srpol_plan_free(read);
	srpol_plan_free(plan);
	free(text);
	srpol_planner_free(&p);
	srpol_planner_free(&q);
}

static void test_demands(void **state)
{
	static const char good[] =
		"{\"demands\":[{\"src\":\"host0.0.0\",\"dst\":\"host0.1.1\",\"bytes\":5}]}";
	static const char all[] =
		"{\"all-to-all\":{\"hosts\":[\"host0.0.0\",\"host0.0.1\",\"host0.1.0\"],\"bytes\":9}}";
	static const char * const bad[] = {
		"", "[]", "{}", "{\"demands\":1}", "{\"demands\":[1]}",
		"{\"demands\":[],\"all-to-all\":{}}",
		"{\"demands\":[{\"src\":\"host0.0.0\",\"dst\":\"no\",\"bytes\":5}]}",
		"{\"demands\":[{\"src\":\"host0.0.0\",\"dst\":\"host0.0.1\",\"bytes\":0}]}",
		"{\"demands\":[{\"src\":\"host0.0.0\",\"dst\":\"host0.0.1\",\"bytes\":9007199254740992}]}",
		"{\"demands\":[{\"src\":\"host0.0.0\",\"dst\":\"host0.0.1\",\"rail\":-1,\"bytes\":1}]}",
		"{\"all-to-all\":{\"hosts\":[\"host0.0.0\",4],\"bytes\":9}}",
		"{\"all-to-all\":{\"hosts\":[\"host0.0.0\",\"host0.1.1\",\"host0.0.0\"],\"bytes\":9}}",
		"{\"demands\":[],\"shard\":0}", "{\"demands\":[],\"shard\":\"\"}",
		"{\"demands\":[],\"shard\":\"0123456789abcdef0123456789abcdef\"}",
		"{\"demands\":[{\"src\":\"host0.0.0\",\"dst\":\"host0.1.1\",\"bytes\":5},"
		"{\"src\":\"host0.0.0\",\"dst\":\"host0.1.1\",\"bytes\":-5}]}",
	};
	struct srpol_demands d = {};
	struct srpol_error err;
	size_t i;

	(void)state;
	assert_int_equal(srpol_demands_read(fabric, good, strlen(good), &d,
					    NULL), 0);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.list[0].bytes, 5);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		err.text[0] = '\0';
		assert_true(srpol_demands_read(fabric, bad[i], strlen(bad[i]),
					       &d, &err) < 0);
		assert_string_not_equal(err.text, "");
		assert_int_equal(d.n, 1);
	}
	assert_int_equal(srpol_demands_read(fabric, all, strlen(all), &d,
					    NULL), 0);
	assert_int_equal(d.n, 7);
	assert_int_equal(d.list[6].key, 5);
	srpol_demands_free(&d);
}

static void test_foreign(void **state)
{
#define PAIR(src)	"\"demands\":[{\"src\":\"" src "\",\"dst\":\"gone\",\"bytes\":5}]"
#define SHARD(name)	",\"shard\":\"" name "\""
	static const struct {
		const char *text;
		bool foreign;
	} jobs[] = {
		{ "{" PAIR("host0.0.0") "}", false },
		{ "{" PAIR("lost") "}", true },
		{ "{\"all-to-all\":{\"hosts\":[\"lost\",\"gone\"],\"bytes\":9}}", true },
		{ "{\"all-to-all\":{\"hosts\":[\"lost\",\"host0.0.1\"],\"bytes\":9}}", false },
		{ "{" PAIR("lost") SHARD("0") "}", false },
		{ "{" PAIR("lost") SHARD("1") "}", true },
		{ "{" PAIR("host0.0.0") SHARD("1") "}", false },
		{ "{\"demands\":[]}", false },
		{ "no JSON", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(jobs); i++)
		assert_int_equal(srpol_demands_are_foreign(fabric, "0", jobs[i].text,
							   strlen(jobs[i].text)),
				 jobs[i].foreign);
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_digest),
		TEST(test_chunks),
		TEST(test_bad_chunks),
		TEST(test_incremental),
		TEST(test_incremental_minmax),
		TEST(test_what_if),
		TEST(test_weigh),
		TEST(test_colors),
		TEST(test_demands),
		TEST(test_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
