// SPDX-License-Identifier: GPL-2.0
/*
 * "minmax": optimal where theory says it can be, near the bound elsewhere,
 * never worse than a hash, and careful with what is in force.
 */
#include <math.h>
#include <string.h>

#include "alg.h"
#include "srpol_lib.h"
#include "test.h"

#define G400	UINT64_C(400000000000)
#define MB64	(UINT64_C(64) << 20)

/* A fabric, its links, and demands. */
struct rig {
	struct srpol_fabric *f;
	struct srpol_links *links;
	struct srpol_demand *demands;
	struct srpol_alg_input in;
	struct srpol_placement *p;
};

static void rig_up(struct rig *r, struct srpol_shape shape, uint32_t room)
{
	struct srpol_error err;

	*r = (struct rig){};
	r->f = srpol_fabric_generate(&shape, &err);
	assert_non_null(r->f);
	r->links = srpol_links_new(r->f);
	r->demands = calloc(room, sizeof(*r->demands));
	r->in.fabric = r->f;
	r->in.links = r->links;
	r->in.demands = r->demands;
}

static void rig_down(struct rig *r)
{
	srpol_placement_free(r->p);
	free(r->demands);
	srpol_links_free(r->links);
	srpol_fabric_free(r->f);
}

static void demand(struct rig *r, uint32_t src, uint32_t dst, uint64_t bytes)
{
	r->demands[r->in.n++] = (struct srpol_demand){
		.src = src, .dst = dst, .bytes = bytes, .key = r->in.n,
	};
}

/* Everyone to the one @shift further. */
static void ring(struct rig *r, uint32_t shift)
{
	uint32_t i;

	for (i = 0; i < r->f->n_gpus; i++)
		demand(r, i, (i + shift) % r->f->n_gpus, MB64);
}

static void permutation(struct rig *r, u64 *seed)
{
	uint32_t n = r->f->n_gpus, *to = malloc(n * sizeof(*to)), i, j, t;

	for (i = 0; i < n; i++)
		to[i] = i;
	for (i = n - 1; i; i--) {
		j = test_random(seed) % (i + 1);
		t = to[i];
		to[i] = to[j];
		to[j] = t;
	}
	for (i = 0; i < n; i++)
		if (to[i] != i)
			demand(r, i, to[i], MB64);
	free(to);
}

/* Seconds of the hottest link, in times a NIC needs for one demand. */
static double run(struct rig *r, const char *name)
{
	struct srpol_error err = {};

	srpol_placement_free(r->p);
	assert_int_equal(srpol_alg_run(srpol_alg_find(name), &r->in, &r->p,
				       &err), 0);
	return r->p->prediction.seconds / (8.0 * MB64 / G400);
}

static void is_near(double got, double want, double part)
{
	if (fabs(got - want) > part * want)
		print_error("%g, not %g\n", got, want);
	assert_true(fabs(got - want) <= part * want);
}

static void permutations(void **state)
{
	(void)state;
	const struct srpol_shape shapes[] = {
		srpol_shape_leaf_spine(8, 16, 16, G400),
		srpol_shape_leaf_spine(9, 12, 12, G400),
		srpol_shape_clos(4, 4, 4, 4, 4, G400),
		srpol_shape_clos(3, 5, 6, 6, 5, G400),
		srpol_shape_rail(6, 4, 4, 4, G400),
	};
	struct rig r;
	u64 seed = 11;
	uint32_t i, k;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		for (k = 0; k < 5; k++) {
			rig_up(&r, shapes[i], 4096);
			permutation(&r, &seed);
			is_near(run(&r, "minmax"), 1, 1e-9);
			assert_int_equal(r.p->prediction.split, 0);
			assert_int_equal(r.p->prediction.unplaced, 0);
			rig_down(&r);
		}
	}
}

static void halved_link(void **state)
{
	(void)state;
	struct rig r;
	uint32_t up;

	rig_up(&r, srpol_shape_leaf_spine(8, 16, 16, G400), 4096);
	ring(&r, 16);
	up = srpol_fabric_link(r.f, srpol_fabric_node(r.f, "leaf0.0.3.0"),
			       srpol_fabric_node(r.f, "spine0.0.5"));
	assert_int_not_equal(up, SRPOL_NONE);
	srpol_links_set_capacity(r.links, up, G400 / 2);
	/* 16 flows over 15.5 links, and one flow split for it */
	is_near(run(&r, "minmax"), 16 / 15.5, 0.001);
	assert_true(r.p->prediction.split <= 2);
	/* dead: 16 over 15 */
	srpol_links_set_capacity(r.links, up, 0);
	is_near(run(&r, "minmax"), 16.0 / 15, 0.001);
	assert_int_equal(r.p->prediction.unplaced, 0);
	/* whole flows only */
	r.in.options.parts = 1;
	is_near(run(&r, "minmax"), 2, 1e-9);
	assert_int_equal(r.p->prediction.split, 0);
	rig_down(&r);
}

static void planes(void **state)
{
	(void)state;
	struct rig r;
	uint32_t i;

	/* plane 2 at half rate, everywhere */
	rig_up(&r, srpol_shape_plane(4, 64, G400), 4096);
	ring(&r, 1);
	for (i = 0; i < r.f->n_nics; i++)
		if (r.f->nics[i].plane == 2)
			srpol_links_set_cables(r.f, r.links,
					       r.f->nics[i].link, 1);
	/* of 8 cables 7 are left */
	is_near(run(&r, "minmax"), 1.0 / 7, 0.001);
	is_near(run(&r, "wecmp"), 1.0 / 7, 0.001);
	is_near(run(&r, "rotation"), 1.0 / 4, 0.001);
	rig_down(&r);
}

/* Odd sizes, odd capacities, broken links: near the bound or a hash's best. */
static void never_worse(void **state)
{
	(void)state;
	double best, got;
	struct rig r;
	u64 seed = 21;
	uint32_t k, i, s;

	for (k = 0; k < 40; k++) {
		rig_up(&r, k % 2 ? srpol_shape_leaf_spine(4, 6, 5, G400) :
				   srpol_shape_clos(3, 2, 3, 2, 3, G400), 512);
		for (i = 0; i < 150; i++)
			demand(&r, test_random(&seed) % r.f->n_gpus,
			       test_random(&seed) % r.f->n_gpus,
			       (test_random(&seed) % 1000) * 65536);
		for (i = 0; i < r.f->n_links; i++)
			if (test_random(&seed) % 4 == 0)
				srpol_links_set_capacity(r.links, i,
					G400 / (test_random(&seed) % 5 + 1));
		for (s = 0, best = INFINITY; s < 20; s++) {
			r.in.options.seed = s;
			got = run(&r, "ecmp");
			best = got < best ? got : best;
		}
		assert_true(run(&r, "minmax") <= best);
		rig_down(&r);
	}
}

static void changes(void **state)
{
	(void)state;
	struct srpol_placement *before;
	struct rig r;
	uint32_t up, used = 0, i;
	double load[8192];
	u64 seed = 31;

	rig_up(&r, srpol_shape_leaf_spine(8, 16, 16, G400), 4096);
	permutation(&r, &seed);
	run(&r, "minmax");
	before = r.p;
	r.p = NULL;
	r.in.previous = before;
	/* nothing changed: nobody moves */
	run(&r, "minmax");
	assert_int_equal(r.p->prediction.moved, 0);

	/* a link goes down: one flow has to move, few more may */
	assert_int_equal(srpol_placement_load(&r.in, before, load), 0);
	for (up = 0; r.f->nodes[r.f->links[up].from].tier != SRPOL_TIER_LEAF ||
	     r.f->nodes[r.f->links[up].to].tier != SRPOL_TIER_SPINE ||
	     !load[up]; up++)
		;
	for (i = 0; i < r.in.n; i++)
		used += r.demands[i].src / 16 == 0;
	srpol_links_set_capacity(r.links, up, 0);
	r.in.options.moves = 0;
	is_near(run(&r, "minmax"), 16.0 / 15, 0.1);
	assert_true(r.p->prediction.moved >= 1);
	assert_true(r.p->prediction.moved <= used);

	/* not worth it below 150 %: only what must */
	r.in.options.hysteresis = 1.5;
	run(&r, "minmax");
	assert_int_equal(r.p->prediction.moved, 1);
	assert_int_equal(r.p->prediction.unplaced, 0);

	/* at most 2 for balance, and those that must */
	r.in.options.hysteresis = 0;
	r.in.options.moves = 2;
	run(&r, "minmax");
	assert_in_range(r.p->prediction.moved, 1, 3);
	rig_down(&r);
	srpol_placement_free(before);
}

static void dead_ends(void **state)
{
	(void)state;
	struct rig r;
	uint32_t i;

	/* all links down */
	rig_up(&r, srpol_shape_leaf_spine(2, 2, 2, G400), 64);
	ring(&r, 1);
	for (i = 0; i < r.f->n_links; i++)
		srpol_links_set_capacity(r.links, i, 0);
	run(&r, "minmax");
	assert_int_equal(r.p->prediction.unplaced, 4);
	/* one leaf is cut off */
	for (i = 0; i < r.f->n_links; i++)
		if (r.f->nodes[r.f->links[i & ~1].from].tier ==
		    SRPOL_TIER_HOST)
			srpol_links_set_capacity(r.links, i, G400);
	run(&r, "minmax");
	assert_int_equal(r.p->prediction.unplaced, 2);
	rig_down(&r);

	/* leaves without spines, demands without bytes, or to oneself */
	rig_up(&r, srpol_shape_leaf_spine(2, 2, 0, G400), 64);
	demand(&r, 0, 3, MB64);
	demand(&r, 0, 1, 0);
	demand(&r, 2, 2, MB64);
	demand(&r, 0, 1, (UINT64_C(1) << 53) - 1);
	run(&r, "minmax");
	assert_int_equal(r.p->prediction.unplaced, 1);
	rig_down(&r);

	/* a bit per second next to 2^50 */
	rig_up(&r, srpol_shape_leaf_spine(2, 2, 2, UINT64_C(1) << 50), 64);
	ring(&r, 2);
	srpol_links_set_capacity(r.links, srpol_node_up(r.f, 2, 0), 1);
	for (i = 0; srpol_alg_at(i); i++)
		run(&r, srpol_alg_at(i)->name);
	rig_down(&r);
}

#define SWITCH(name, role, nr, plane) \
	"{\"name\":\"" name "\",\"role\":\"" role "\",\"locator\":\"5f00:1:" nr \
	"::/48\",\"plane\":" plane "}"
#define HOST(name, nr, nics) \
	"{\"name\":\"" name "\",\"locator\":\"5f00:2:" nr "::/48\",\"nics\":[" nics "]}"
#define NIC(name, leaf, plane) \
	"{\"name\":\"" name "\",\"leaf\":\"" leaf "\",\"rate\":\"400G\"," \
	"\"plane\":" plane "}"
#define LINK(from, to) \
	"{\"from\":\"" from "\",\"to\":\"" to "\",\"rate\":\"100G\"}"

/*
 * Two hosts in both planes, GPUs 0 and 1, and two in the first plane only, below
 * leaves that have the same numbers, 0 and 1.
 */
static const char mixed[] =
	"{\"srpol-topology\":1,\"switches\":["
	SWITCH("a0", "leaf", "1", "0") "," SWITCH("a1", "leaf", "2", "0") ","
	SWITCH("b0", "leaf", "3", "1") "," SWITCH("b1", "leaf", "4", "1") ","
	SWITCH("as", "spine", "5", "0") "," SWITCH("at", "spine", "6", "0") ","
	SWITCH("bs", "spine", "7", "1") "," SWITCH("bt", "spine", "8", "1")
	"],\"hosts\":["
	HOST("d0", "1", NIC("0", "a0", "0") "," NIC("1", "b0", "1")) ","
	HOST("d1", "2", NIC("0", "a1", "0") "," NIC("1", "b1", "1")) ","
	HOST("s0", "3", NIC("0", "a0", "0")) ","
	HOST("s1", "4", NIC("0", "a1", "0"))
	"],\"links\":["
	LINK("a0", "as") "," LINK("a0", "at") "," LINK("a1", "as") ","
	LINK("a1", "at") "," LINK("b0", "bs") "," LINK("b0", "bt") ","
	LINK("b1", "bs") "," LINK("b1", "bt") "]}";

/* GPUs and leaves with equal numbers are not taken for each other. */
static void mixed_hosts(void **state)
{
	(void)state;
	struct srpol_error err;
	struct rig r = {};
	uint32_t i;

	r.f = srpol_topology_parse(mixed, sizeof(mixed) - 1, &err);
	assert_non_null(r.f);
	r.links = srpol_links_new(r.f);
	r.demands = calloc(64, sizeof(*r.demands));
	r.in = (struct srpol_alg_input){
		.fabric = r.f, .links = r.links, .demands = r.demands,
	};
	for (i = 0; i < 2; i++) {
		demand(&r, i, !i, MB64);
		demand(&r, 2 + i, 3 - i, 9 * MB64);
	}
	run(&r, "minmax");
	assert_int_equal(r.p->prediction.unplaced, 0);
	rig_down(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(permutations),
		cmocka_unit_test(halved_link),
		cmocka_unit_test(planes),
		cmocka_unit_test(never_worse),
		cmocka_unit_test(changes),
		cmocka_unit_test(dead_ends),
		cmocka_unit_test(mixed_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
