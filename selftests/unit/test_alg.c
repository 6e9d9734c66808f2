// SPDX-License-Identifier: GPL-2.0
/* The algorithms but for "minmax", bounds, plans: worked out by hand. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "alg.h"
#include "srpol_lib.h"
#include "test.h"

#define G100	UINT64_C(100000000000)
#define MB	(UINT64_C(1) << 20)

static struct srpol_fabric *f;
static struct srpol_links *links;
static struct srpol_demand demands[20000];
static struct srpol_alg_input in;
static struct srpol_placement *p;

static void up(struct srpol_shape shape)
{
	struct srpol_error err;

	f = srpol_fabric_generate(&shape, &err);
	assert_non_null(f);
	links = srpol_links_new(f);
	in = (struct srpol_alg_input){
		.fabric = f, .links = links, .demands = demands,
	};
}

static void down(void)
{
	srpol_placement_free(p);
	p = NULL;
	srpol_links_free(links);
	srpol_fabric_free(f);
}

static void demand(uint32_t src, uint32_t dst, uint64_t bytes)
{
	demands[in.n] = (struct srpol_demand){
		.src = src, .dst = dst, .bytes = bytes, .key = in.n,
	};
	in.n++;
}

static void run(const char *name)
{
	struct srpol_error err = {};

	srpol_placement_free(p);
	assert_int_equal(srpol_alg_run(srpol_alg_find(name), &in, &p, &err),
			 0);
}

static uint32_t weight(uint32_t d, uint32_t path)
{
	uint32_t i;

	for (i = p->first[d]; i < p->first[d + 1]; i++)
		if (p->shares[i].path == path)
			return p->shares[i].weight;
	return 0;
}

static void weights(uint32_t d, uint32_t a, uint32_t b, uint32_t c, uint32_t e)
{
	assert_int_equal(weight(d, 0), a);
	assert_int_equal(weight(d, 1), b);
	assert_int_equal(weight(d, 2), c);
	assert_int_equal(weight(d, 3), e);
}

static uint32_t between(const char *a, const char *b)
{
	uint32_t link = srpol_fabric_link(f, srpol_fabric_node(f, a),
					  srpol_fabric_node(f, b));

	assert_int_not_equal(link, SRPOL_NONE);
	return link;
}

static void registry(void **state)
{
	(void)state;
	struct srpol_error err;
	unsigned int i;

	for (i = 0; srpol_alg_at(i); i++) {
		assert_ptr_equal(srpol_alg_find(srpol_alg_at(i)->name),
				 srpol_alg_at(i));
		assert_true(*srpol_alg_at(i)->source);
		assert_true(*srpol_alg_at(i)->complexity);
	}
	assert_int_equal(i, 8);
	assert_null(srpol_alg_find("magic"));
	up(srpol_shape_leaf_spine(2, 2, 2, G100));
	demand(0, 4, MB);
	assert_int_equal(srpol_alg_run(&srpol_alg_ecmp, &in, &p, &err),
			 -EINVAL);
	assert_null(p);
	demands[0].dst = 3;
	demands[0].bytes = UINT64_C(1) << 53;
	assert_int_equal(srpol_alg_run(&srpol_alg_ecmp, &in, &p, &err),
			 -EINVAL);
	down();
}

/* FARE: planes of 800, 800, 800, 400 have 2:2:2:1; 400, 400, 200 have 2:2:1 */
static void fare(void **state)
{
	(void)state;
	uint32_t half;

	up(srpol_shape_plane(4, 4, 4 * G100));
	demand(0, 1, MB);
	demand(2, 3, MB);
	run("wecmp");
	weights(0, 1, 1, 1, 1);
	half = f->nics[f->gpus[0].nic + 3].link;
	srpol_links_set_cables(f, links, half, 1);
	run("wecmp");
	weights(0, 2, 2, 2, 1);
	/* those who do not use the cable see nothing of it */
	weights(1, 1, 1, 1, 1);
	srpol_links_set_cables(f, links, half, 0);
	run("wecmp");
	weights(0, 1, 1, 1, 0);
	/* also at the receiving end */
	srpol_links_set_cables(f, links, half, 2);
	srpol_links_set_cables(f, links, f->nics[f->gpus[1].nic].link, 1);
	run("wecmp");
	weights(0, 1, 2, 2, 2);
	down();

	up(srpol_shape_plane(3, 2, 2 * G100));
	demand(0, 1, MB);
	srpol_links_set_cables(f, links, f->nics[f->gpus[0].nic + 2].link, 1);
	run("wecmp");
	weights(0, 2, 2, 1, 0);
	down();
}

/* Inside a plane, and numbers without a handy common divisor. */
static void wecmp_paths(void **state)
{
	(void)state;

	up(srpol_shape_leaf_spine(2, 2, 3, G100));
	demand(0, 2, MB);
	srpol_links_set_capacity(links, between("leaf0.0.0.0", "spine0.0.1"),
				 G100 / 2);
	srpol_links_set_capacity(links, between("spine0.0.2", "leaf0.0.1.0"),
				 G100 / 4);
	run("wecmp");
	weights(0, 4, 2, 1, 0);
	srpol_links_set_capacity(links, between("spine0.0.2", "leaf0.0.1.0"),
				 99999999977);
	srpol_links_set_capacity(links, between("leaf0.0.0.0", "spine0.0.1"),
				 1);
	run("wecmp");
	assert_true(weight(0, 1) >= 1);
	assert_true(weight(0, 0) >= 10000 * weight(0, 1));
	assert_true(weight(0, 0) >= weight(0, 2));
	down();
}

static void hashes(void **state)
{
	(void)state;
	uint32_t i, count[4] = {}, sum = 0;

	up(srpol_shape_leaf_spine(2, 4, 4, G100));
	for (i = 0; i < 20000; i++)
		demand(i % 4, 4 + i % 4, MB);
	run("ecmp");
	assert_int_equal(p->prediction.split, 0);
	for (i = 0; i < in.n; i++)
		count[p->shares[p->first[i]].path]++;
	for (i = 0; i < 4; i++)
		assert_in_range(count[i], 4800, 5200);
	/* 16 queue pairs are 16, wherever they go; nothing goes where it's down */
	in.options.qps = 16;
	srpol_links_set_capacity(links, between("leaf0.0.0.0", "spine0.0.2"),
				 0);
	in.n = 1;
	run("ecmp");
	for (i = 0; i < 4; i++)
		sum += weight(0, i);
	assert_true(16 % sum == 0);
	assert_int_equal(weight(0, 2), 0);
	down();
}

/*
 * Flows of 50, 50, 100 and 100 Gbit/s over two links of 200: a hash knows no sizes,
 * and may fill one link and leave half of the other, or overload one. By size, both
 * are filled to three quarters, with each flow on one path.
 */
static void sizes(void **state)
{
	(void)state;
	struct srpol_shape shape = srpol_shape_leaf_spine(2, 4, 2, 2 * G100);
	static const uint64_t rates[] = { 1, 1, 2, 2 };
	bool even = false, full = false, over = false;
	double fullest;
	uint32_t i, k;

	shape.nic_rate = G100;
	up(shape);
	for (i = 0; i < 4; i++)
		demand(i, 4 + i, rates[i] * G100 / 2 / 8);
	for (k = 0; k < 100; k++) {
		for (i = 0; i < 4; i++)
			demands[i].key = 4 * k + i;
		run("ecmp");
		assert_int_equal(p->prediction.split, 0);
		fullest = 0;
		for (i = 0; i < 4; i++)
			fullest += p->shares[i].path ? rates[i] / 4.0 : 0;
		fullest = fmax(fullest, 1.5 - fullest);
		even |= fullest == 0.75;
		full |= fullest == 1;
		over |= fullest > 1;
	}
	assert_true(even && full && over);
	in.options.parts = 1;
	run("minmax");
	assert_int_equal(p->prediction.split, 0);
	fullest = 0;
	for (i = 0; i < 4; i++)
		fullest += p->shares[i].path ? rates[i] / 4.0 : 0;
	assert_true(fullest == 0.75);
	down();
}

static void ethereal(void **state)
{
	(void)state;
	uint32_t i, j;

	/* 112 flows of a sender to other leaves, 16 paths: nothing is split */
	up(srpol_shape_leaf_spine(8, 16, 16, G100));
	for (i = 0; i < 128; i++)
		for (j = 0; j < 128; j++)
			if (i != j)
				demand(i, j, MB);
	run("spread");
	assert_int_equal(p->prediction.split, 0);
	/* and no link has more than a NIC */
	assert_true(fabs(p->prediction.seconds - 127 * 8.0 * MB / G100) < 1e-9);
	/* one flow each: 16 parts; or 4, if no more are allowed */
	in.n = 0;
	for (i = 0; i < 128; i++)
		demand(i, (i + 16) % 128, MB);
	run("spread");
	assert_int_equal(p->first[1], 16);
	in.options.parts = 4;
	run("spread");
	assert_int_equal(p->first[1], 4);
	/* 12 flows over 16 paths: 16 / gcd = 4 parts each */
	in.options.parts = 0;
	in.n = 0;
	for (i = 0; i < 12; i++)
		demand(0, 16 + i, MB);
	run("spread");
	for (i = 0; i < 12; i++)
		assert_int_equal(p->first[i + 1] - p->first[i], 4);
	assert_true(fabs(p->prediction.seconds - 12 * 8.0 * MB / G100) < 1e-9);
	down();
}

static void colors(void **state)
{
	(void)state;
	uint32_t i, before;

	up(srpol_shape_leaf_spine(2, 8, 4, G100));
	/* spines 0, 1 are color 1's, 2, 3 are color 2's */
	for (i = 0; i < f->n_nodes; i++)
		if (f->nodes[i].tier == SRPOL_TIER_SPINE)
			f->nodes[i].colors = i < 2 ? 1 << 1 : 1 << 2;
	for (i = 0; i < 16; i++) {
		demand(i % 8, 8 + i % 8, MB);
		demands[i].color = 1 + i % 2;
	}
	run("pinned");
	for (i = 0; i < 16; i++)
		assert_int_equal(p->shares[i].path / 2, i % 2);
	/* path 0 goes down: its flows stay in their color, others stay put */
	before = p->shares[1].path;
	srpol_links_set_capacity(links, srpol_node_up(f, 4, 0), 0);
	run("pinned");
	assert_int_equal(p->prediction.unplaced, 0);
	assert_int_equal(p->shares[0].path, 1);
	assert_int_equal(p->shares[1].path, before);
	/* no path of the color left */
	srpol_links_set_capacity(links, srpol_node_up(f, 4, 1), 0);
	run("pinned");
	assert_int_equal(p->prediction.unplaced, 8);
	down();
}

static void glb(void **state)
{
	(void)state;
	static const char text[] = "{\"spine0.0.0\": [\"leaf0.0.1.0\"]}";
	struct srpol_glb_cost cost, bigger;
	struct srpol_error err;
	struct srpol_nnhn *map;

	up(srpol_shape_leaf_spine(2, 2, 3, G100));
	demand(0, 2, MB);
	srpol_links_set_quality(links, between("leaf0.0.0.0", "spine0.0.0"),
				80);
	srpol_links_set_quality(links, between("spine0.0.0", "leaf0.0.1.0"),
				50);
	srpol_links_set_quality(links, between("spine0.0.1", "leaf0.0.1.0"),
				50);
	run("glb");			/* simple */
	weights(0, 4, 5, 5, 0);
	in.options.profile = SRPOL_PROFILE_MIN;
	run("glb");
	weights(0, 1, 1, 2, 0);
	in.options.profile = SRPOL_PROFILE_SUM;
	run("glb");			/* 30, 50, 100 */
	weights(0, 3, 5, 10, 0);
	/* spine 1 says nothing of its links */
	map = srpol_nnhn_parse(f, text, strlen(text), &err);
	in.options.nnhn = map;
	run("glb");
	weights(0, 3, 10, 10, 0);
	srpol_nnhn_free(map);
	down();

	/* 2 spines, 2 super-spines each: a spine is as good as its worst */
	up(srpol_shape_clos(2, 1, 1, 2, 2, G100));
	demand(0, 1, MB);
	srpol_links_set_quality(links, between("spine0.0.0", "super0.0.1"),
				40);
	in.options.profile = SRPOL_PROFILE_WORST;
	run("glb");
	weights(0, 2, 2, 5, 5);
	down();

	/* tables grow with the domain */
	up(srpol_shape_leaf_spine(8, 1, 4, G100));
	srpol_glb_cost(f, SRPOL_GLB_ALL, &cost);
	assert_int_equal(cost.entries, 4 + 4 * 8);
	assert_int_equal(cost.total, 8 * 36);
	assert_int_equal(cost.messages, 8);
	down();
	up(srpol_shape_clos(4, 8, 1, 4, 4, G100));
	srpol_glb_cost(f, SRPOL_GLB_POD, &bigger);
	assert_int_equal(bigger.entries, cost.entries);
	srpol_glb_cost(f, SRPOL_GLB_ALL, &bigger);
	assert_int_equal(bigger.entries, 36 + 4 * 4 * (1 + 4));
	assert_int_equal(bigger.messages, 4 * 9);
	srpol_glb_cost(f, SRPOL_GLB_SPINE, &bigger);
	assert_int_equal(bigger.entries, 4 + 4 * 4);
	down();
}

static void adaptive(void **state)
{
	(void)state;
	struct srpol_placement *before;
	uint32_t link;

	up(srpol_shape_leaf_spine(2, 2, 3, G100));
	demand(0, 2, MB);
	link = between("spine0.0.1", "leaf0.0.1.0");
	run("adaptive");
	weights(0, 1, 1, 1, 0);
	before = p;
	p = NULL;
	in.previous = before;
	in.options.hysteresis = 0.2;
	/* a little worse: not worth a move; much worse: it is */
	srpol_links_set_quality(links, link, 90);
	run("adaptive");
	weights(0, 1, 1, 1, 0);
	assert_int_equal(p->prediction.moved, 0);
	srpol_links_set_quality(links, link, 50);
	run("adaptive");
	weights(0, 2, 1, 2, 0);
	assert_int_equal(p->prediction.moved, 1);
	srpol_links_set_capacity(links, link, 0);
	run("adaptive");
	weights(0, 1, 0, 1, 0);
	srpol_placement_free(before);
	down();
}

static void rotation_and_affinity(void **state)
{
	(void)state;
	uint32_t count[16] = {}, src, moved = 0, i, a, b;

	/* at any time, packets for a destination are on different paths */
	for (src = 0; src < 16; src++)
		count[srpol_rotation_path(src, 77, 5, 16)]++;
	for (src = 0; src < 16; src++)
		assert_int_equal(count[src], 1);
	/* the same line of 64 bytes takes the same queue pair */
	for (i = 0; i < 64; i++)
		assert_int_equal(srpol_affinity(0x1000 + i, 6, 7),
				 srpol_affinity(0x1000, 6, 7));
	memset(count, 0, sizeof(count));
	for (i = 0; i < 16000; i++) {
		a = srpol_affinity((uint64_t)i << 6, 6, 8);
		b = srpol_affinity((uint64_t)i << 6, 6, 9);
		assert_true(a == b || b == 8);
		moved += a != b;
		count[a]++;
	}
	for (i = 0; i < 8; i++)
		assert_in_range(count[i], 1850, 2150);
	assert_in_range(moved, 1600, 1950);
	assert_int_equal(srpol_affinity(UINT64_MAX, 63, 1), 0);
}

static void bounds(void **state)
{
	(void)state;
	struct srpol_bound b;
	uint32_t i;

	/* 3 send to one: the receiver; 3 leave a leaf of 2 links: the leaf */
	up(srpol_shape_leaf_spine(2, 3, 2, G100));
	for (i = 0; i < 3; i++)
		demand(i, 3, MB);
	assert_int_equal(srpol_bound_get(&in, &b), 0);
	assert_true(fabs(b.receiver - 3 * 8.0 * MB / G100) < 1e-12);
	assert_true(fabs(b.sender - 8.0 * MB / G100) < 1e-12);
	assert_true(fabs(b.leaf - 1.5 * 8 * MB / G100) < 1e-12);
	assert_true(b.all == b.receiver);
	srpol_links_set_capacity(links, f->nics[3].link ^ 1, 0);
	assert_int_equal(srpol_bound_get(&in, &b), 0);
	assert_true(isinf(b.receiver));
	down();
	/* pods: 4 leave over 1 x 2 super-spine links */
	up(srpol_shape_clos(2, 2, 2, 1, 2, G100));
	for (i = 0; i < 4; i++)
		demand(i, 4 + i, MB);
	assert_int_equal(srpol_bound_get(&in, &b), 0);
	assert_true(fabs(b.pod - 2 * 8.0 * MB / G100) < 1e-12);
	assert_true(fabs(b.leaf - 2 * 8.0 * MB / G100) < 1e-12);
	/* an operator may give pods any number: without a bound, but no harm */
	for (i = 0; i < f->n_nodes; i++)
		if (f->nodes[i].pod != SRPOL_NONE)
			f->nodes[i].pod += 4000000;
	assert_int_equal(srpol_bound_get(&in, &b), 0);
	assert_true(b.pod == 0);
	down();
}

static void predictions(void **state)
{
	(void)state;
	const double start[] = { 0, 1, 0 };
	double finish[3], t = 8.0 * MB / G100;

	up(srpol_shape_leaf_spine(2, 2, 2, G100));
	demand(0, 2, MB);
	demand(1, 2, MB);
	demand(3, 0, MB);
	run("minmax");
	assert_int_equal(srpol_predict(&in, p, false, NULL, finish), 0);
	assert_true(fabs(finish[0] - 2 * t) < 1e-12);
	assert_true(fabs(finish[1] - 2 * t) < 1e-12);
	assert_true(fabs(finish[2] - t) < 1e-12);
	assert_int_equal(srpol_predict(&in, p, false, start, finish), 0);
	assert_true(fabs(finish[0] - t) < 1e-12);
	assert_true(fabs(finish[1] - 1 - t) < 1e-12);
	/* sprayed: the slower path holds up the other */
	srpol_links_set_capacity(links, between("leaf0.0.0.0", "spine0.0.0"),
				 G100 / 4);
	in.n = 1;
	run("rotation");
	assert_int_equal(srpol_predict(&in, p, true, NULL, finish), 0);
	assert_true(fabs(finish[0] - 2 * t) < 1e-12);
	down();
}

static void plans(void **state)
{
	(void)state;
	struct srpol_share shares[16];
	struct srpol_plan *plan;
	const uint8_t *w;
	uint32_t n;

	up(srpol_shape_leaf_spine(3, 2, 3, G100));
	demand(0, 2, MB);
	demand(1, 3, MB);
	srpol_links_set_capacity(links, between("leaf0.0.0.0", "spine0.0.1"),
				 G100 / 3);
	run("wecmp");
	plan = srpol_plan_new(&in, p);
	assert_non_null(plan);
	assert_int_equal(plan->n, 1);
	w = srpol_plan_find(plan, srpol_fabric_node(f, "leaf0.0.0.0"),
			    srpol_fabric_node(f, "leaf0.0.1.0"), 0, &n);
	assert_non_null(w);
	assert_int_equal(n, 3);
	assert_int_equal(w[0], 15);
	assert_int_equal(w[1], 5);
	assert_int_equal(srpol_plan_expand(f, plan, 1, 2, shares, 16), 3);
	assert_int_equal(shares[1].path, 1);
	assert_int_equal(shares[1].weight, 5);
	assert_int_equal(srpol_plan_expand(f, plan, 1, 2, shares, 2), -E2BIG);
	/* a pair that has no weights: all alike */
	assert_int_equal(srpol_plan_expand(f, plan, 4, 0, shares, 16), 3);
	assert_int_equal(shares[1].weight, 1);
	srpol_plan_free(plan);
	down();
}

/* Is there a path that is up? */
static bool can_be_placed(uint32_t d)
{
	struct srpol_path_set set;
	struct srpol_route route;
	bool can = false;
	uint32_t i;

	assert_int_equal(srpol_path_set_init(f, demands[d].src, demands[d].dst,
					     &set), 0);
	for (i = 0; i < set.n; i++) {
		srpol_path_get(f, &set, i, &route);
		can |= srpol_route_capacity(links, &route) > 0;
	}
	srpol_path_set_free(&set);
	return can;
}

/* What holds of any placement by any algorithm. */
static void is_sound(const char *name)
{
	struct srpol_path_set set;
	struct srpol_route route;
	uint32_t d, i;

	assert_int_equal(p->n, in.n);
	for (d = 0; d < in.n; d++) {
		assert_int_equal(srpol_path_set_init(f, demands[d].src,
						     demands[d].dst, &set), 0);
		for (i = p->first[d]; i < p->first[d + 1]; i++) {
			assert_true(p->shares[i].weight);
			assert_true(p->shares[i].path < set.n);
			assert_true(i == p->first[d] ||
				    p->shares[i - 1].path < p->shares[i].path);
			srpol_path_get(f, &set, p->shares[i].path, &route);
			/* local quality knows nothing of links further on */
			assert_true(!strcmp(name, "glb") ||
				    srpol_route_capacity(links, &route));
		}
		if (strcmp(name, "glb") && strcmp(name, "pinned"))
			assert_int_equal(p->first[d] < p->first[d + 1],
					 can_be_placed(d));
		srpol_path_set_free(&set);
	}
}

static void abuse(void **state)
{
	(void)state;
	const struct srpol_shape shapes[] = {
		srpol_shape_leaf_spine(3, 2, 2, 1),
		srpol_shape_clos(2, 2, 2, 2, 2, G100),
		srpol_shape_rail(2, 2, 3, 2, SRPOL_RATE_MAX),
		srpol_shape_plane(3, 4, G100),
		srpol_shape_leaf_spine(4, 1, 0, G100),
	};
	static const uint64_t sizes[] = { 0, 1, MB, (UINT64_C(1) << 53) - 1 };
	struct srpol_placement *before;
	struct srpol_bound bound;
	struct srpol_plan *plan;
	uint32_t k, i, a;
	u64 seed = 77;

	for (k = 0; k < 200; k++) {
		up(shapes[k % ARRAY_SIZE(shapes)]);
		for (i = test_random(&seed) % 60; i; i--)
			demand(test_random(&seed) % f->n_gpus,
			       test_random(&seed) % f->n_gpus,
			       sizes[test_random(&seed) % 4]);
		before = NULL;
		for (a = 0; srpol_alg_at(a); a++) {
			for (i = 0; i < f->n_links; i++) {
				if (test_random(&seed) % 3)
					continue;
				srpol_links_set_capacity(links, i,
					test_random(&seed) % 2 ? 0 :
					(u64)test_random(&seed) << 20);
				srpol_links_set_quality(links, i,
					test_random(&seed) % 101);
			}
			in.previous = NULL;
			in.options.profile = k % 4;
			in.options.qps = test_random(&seed) % 20;
			in.options.parts = test_random(&seed) % 4;
			/* quality 0 is as good as down to these */
			if (!strcmp(srpol_alg_at(a)->name, "adaptive"))
				for (i = 0; i < f->n_links; i++)
					srpol_links_set_quality(links, i, 1 + i
								% 100);
			run(srpol_alg_at(a)->name);
			is_sound(srpol_alg_at(a)->name);
			assert_int_equal(srpol_bound_get(&in, &bound), 0);
			plan = srpol_plan_new(&in, p);
			assert_non_null(plan);
			srpol_plan_free(plan);
			/* again, from what another one left */
			if (before) {
				in.previous = before;
				in.options.moves = test_random(&seed) % 5;
				run("minmax");
				is_sound("minmax");
			}
			srpol_placement_free(before);
			before = p;
			p = NULL;
		}
		srpol_placement_free(before);
		in.previous = NULL;
		down();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registry),
		cmocka_unit_test(fare),
		cmocka_unit_test(wecmp_paths),
		cmocka_unit_test(hashes),
		cmocka_unit_test(sizes),
		cmocka_unit_test(ethereal),
		cmocka_unit_test(colors),
		cmocka_unit_test(glb),
		cmocka_unit_test(adaptive),
		cmocka_unit_test(rotation_and_affinity),
		cmocka_unit_test(bounds),
		cmocka_unit_test(predictions),
		cmocka_unit_test(plans),
		cmocka_unit_test(abuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
