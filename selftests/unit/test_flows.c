// SPDX-License-Identifier: GPL-2.0
/* Paths of flows, as the global engine gives them and hosts read them. */
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
#define FLOWS	9	/* of a random case */
#define ROUNDS	25

static struct srpol_fabric *fabric;
static struct srpol_links *links;
static double *load;
static struct srpol_plan *plan;

/* NICs are no bottleneck: four times as fast as a link. */
static int setup(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(LEAVES, 2, SPINES,
							  400 * G);
	u32 i;

	(void)state;
	fabric = srpol_fabric_generate(&shape, NULL);
	links = srpol_links_new(fabric);
	for (i = 0; i < fabric->n_links; i++)
		if (fabric->nodes[fabric->links[i].from].tier ==
			    SRPOL_TIER_HOST ||
		    fabric->nodes[fabric->links[i].to].tier == SRPOL_TIER_HOST)
			links->links[i].capacity *= 4;
	load = calloc(fabric->n_links, sizeof(*load));
	plan = calloc(1, sizeof(*plan));
	plan->first = calloc(1, sizeof(*plan->first));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	srpol_plan_free(plan);
	free(load);
	srpol_links_free(links);
	srpol_fabric_free(fabric);
	return 0;
}

static struct srpol_demand demand(u32 src, u32 dst, u32 flows)
{
	return (struct srpol_demand){
		.src = src, .dst = dst, .bytes = flows << 20, .flows = flows,
	};
}

static struct srpol_flows_input input(const struct srpol_demand *demands, u32 n)
{
	return (struct srpol_flows_input){
		.fabric = fabric, .links = links, .demands = demands, .n = n,
		.load = load,
	};
}

static void place(const struct srpol_flows_input *in)
{
	assert_int_equal(srpol_flows_place(in, plan), 0);
}

static void place_all(const struct srpol_demand *demands, u32 n)
{
	struct srpol_flows_input in = input(demands, n);

	place(&in);
}

/* How many flows of the plan take a link. */
static u32 on_link(u32 link)
{
	struct srpol_path_set set;
	struct srpol_route route;
	u32 i, k, n = 0;

	for (i = 0; i < plan->n_flows; i++) {
		assert_int_equal(srpol_path_set_init(fabric, plan->flows[i].src,
						     plan->flows[i].dst, &set),
				 0);
		srpol_path_get(fabric, &set, plan->flows[i].path, &route);
		for (k = 0; k < route.n; k++)
			n += route.link[k] == link ? plan->flows[i].n : 0;
		srpol_path_set_free(&set);
	}
	return n;
}

/* Directed, from the leaf of a GPU to a spine. */
static u32 uplink(u32 gpu, u32 spine)
{
	u32 leaf = fabric->nics[fabric->gpus[gpu].nic].leaf, i;

	for (i = 0; i < fabric->n_links; i++)
		if (fabric->links[i].from == leaf &&
		    fabric->nodes[fabric->links[i].to].tier ==
			    SRPOL_TIER_SPINE && !spine--)
			return i;
	return SRPOL_NONE;
}

static void set_up(u32 link, u64 capacity)
{
	srpol_links_set_capacity(links, link, capacity);
	srpol_links_set_capacity(links, link ^ 1, capacity);
}

static u32 flows_in_all(void)
{
	u32 i, n = 0;

	for (i = 0; i < plan->n_flows; i++)
		n += plan->flows[i].n;
	return n;
}

/* Two hosts of a leaf know nothing of each other: each by itself could meet. */
static void test_hosts_apart(void **state)
{
	struct srpol_demand demands[] = { demand(0, 2, 2), demand(1, 3, 2) };
	u32 i;

	(void)state;
	place_all(demands, 2);
	assert_int_equal(flows_in_all(), 4);
	for (i = 0; i < SPINES; i++)
		assert_int_equal(on_link(uplink(0, i)), 1);
}

/* What others send is there already. */
static void test_others(void **state)
{
	struct srpol_demand one = demand(0, 2, 1), more = demand(0, 2, 7);

	(void)state;
	load[uplink(0, 0)] = 4 << 20;
	place_all(&one, 1);
	assert_int_equal(on_link(uplink(0, 0)), 0);
	/* seven and four make eleven: three, three, three, two */
	place_all(&more, 1);
	assert_int_equal(on_link(uplink(0, 0)), 0);
	load[uplink(0, 0)] = 1 << 20;
	place_all(&more, 1);
	assert_int_equal(on_link(uplink(0, 0)), 1);
	/* where the link is twice as fast there is room for twice as much */
	load[uplink(0, 0)] = 0;
	set_up(uplink(0, 3), 800 * G);
	set_up(uplink(2, 3), 800 * G);
	more = demand(0, 2, 10);
	place_all(&more, 1);
	assert_int_equal(on_link(uplink(0, 3)), 4);
	assert_int_equal(on_link(uplink(0, 0)), 2);
}

/* Of the fullest link that is no NIC's, in bytes. */
static double fullest(const double *bytes)
{
	double most = 0;
	u32 i, k;

	for (i = 0; i < LEAVES; i++)
		for (k = 0; k < SPINES; k++) {
			most = fmax(most, bytes[uplink(2 * i, k)]);
			most = fmax(most, bytes[uplink(2 * i, k) ^ 1]);
		}
	return most;
}

static void carry(double *bytes, u32 src, u32 dst, u32 path, double size)
{
	struct srpol_path_set set;
	struct srpol_route route;
	u32 k;

	assert_int_equal(srpol_path_set_init(fabric, src, dst, &set), 0);
	srpol_path_get(fabric, &set, path, &route);
	for (k = 0; k < route.n; k++)
		bytes[route.link[k]] += size;
	srpol_path_set_free(&set);
}

/* The least that the fullest link can have, by trying all. */
static double best(const struct srpol_demand *demands, u32 n, u32 at,
		   double *bytes, double least)
{
	double *then;
	u32 path;

	if (fullest(bytes) >= least)
		return least;
	if (at == n)
		return fullest(bytes);
	then = malloc(fabric->n_links * sizeof(*then));
	for (path = 0; path < SPINES; path++) {
		memcpy(then, bytes, fabric->n_links * sizeof(*then));
		carry(then, demands[at].src, demands[at].dst, path,
		      demands[at].bytes);
		least = best(demands, n, at + 1, then, least);
	}
	free(then);
	return least;
}

static double ours(const struct srpol_demand *demands, u32 n)
{
	double *bytes = calloc(fabric->n_links, sizeof(*bytes)), most;
	const struct srpol_flows *f;
	u32 i, found;

	place_all(demands, n);
	assert_int_equal(flows_in_all(), n);
	for (i = 0; i < n; i++) {
		f = srpol_flows_find(plan, demands[i].src, demands[i].dst,
				     demands[i].color, &found);
		assert_int_equal(found, 1);
		carry(bytes, f->src, f->dst, f->path, demands[i].bytes);
	}
	most = fullest(bytes);
	free(bytes);
	return most;
}

/* Flows of all sizes between two leaves: at most 4/3 of the optimum. */
/* A flow between two leaves, and anywhere. */
static struct srpol_demand between_two(u64 *seed, u32 i)
{
	(void)seed;
	return demand(i % 2, 2 + i / 2 % 2, 1);
}

static struct srpol_demand anywhere(u64 *seed, u32 i)
{
	struct srpol_demand d;

	(void)i;
	do {
		d = demand(test_random(seed) % 8, test_random(seed) % 8, 1);
	} while (d.src / 2 == d.dst / 2);
	return d;
}

/* The fullest link of random cases, in parts of the optimum: mean and most. */
static void of_cases(const char *where,
		     struct srpol_demand (*pick)(u64 *seed, u32 i),
		     double *mean, double *most)
{
	struct srpol_demand demands[FLOWS];
	double *none = calloc(fabric->n_links, sizeof(*none));
	u64 seed = 88172645463325252ull;
	u32 round, i;
	double part;

	*mean = *most = 0;
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < FLOWS; i++) {
			demands[i] = pick(&seed, i);
			demands[i].bytes = 1 + test_random(&seed) % 1000000;
			/* so that each has an entry of its own */
			demands[i].color = i;
		}
		part = ours(demands, FLOWS) /
		       best(demands, FLOWS, 0, none, INFINITY);
		*most = fmax(*most, part);
		*mean += part / ROUNDS;
	}
	printf("# %s: %.3f of the optimum in the mean, %.3f at most\n", where,
	       *mean, *most);
	free(none);
}

static void test_bound(void **state)
{
	double mean, most;

	(void)state;
	of_cases("between two leaves", between_two, &mean, &most);
	assert_true(most <= 4. / 3 + 1e-9);
	of_cases("anywhere", anywhere, &mean, &most);
	assert_true(mean <= 1.05);
}

static void test_stays(void **state)
{
	struct srpol_demand demands[] = {
		demand(0, 2, 3), demand(1, 4, 2), demand(6, 2, 1),
		demand(1, 3, 1),
	};
	struct srpol_flows_input in = input(demands, 3);
	struct srpol_plan before = {};
	u32 dead = uplink(0, 1), was;

	(void)state;
	place(&in);
	before = *plan;
	plan->flows = NULL;
	plan->n_flows = 0;
	in.before = &before;
	place(&in);
	assert_int_equal(srpol_flows_diff(&before, plan, NULL, NULL), 0);
	/* one more: only it is new */
	in.n = 4;
	place(&in);
	assert_int_equal(srpol_flows_diff(&before, plan, NULL, NULL), 1);
	/* one spine less for leaf 0: all are placed, the other leaf's flow stays */
	set_up(dead, 0);
	in.n = 3;
	place(&in);
	assert_int_equal(flows_in_all(), 6);
	assert_int_equal(on_link(dead), 0);
	was = srpol_flows_diff(&before, plan, NULL, NULL);
	assert_in_range(was, 1, 2);
	/* and all of it down: nothing is said of it */
	for (was = 0; was < SPINES; was++)
		set_up(uplink(0, was), 0);
	place(&in);
	assert_int_equal(flows_in_all(), 1);
	assert_int_equal(srpol_flows_diff(&before, plan, NULL, NULL), 2);
	free(before.flows);
}

static void test_allowed(void **state)
{
	struct srpol_demand demands[] = { demand(0, 2, 4), demand(1, 3, 4) };
	struct srpol_flows_input in = input(demands, 2);
	bool *some = calloc(fabric->n_links, sizeof(*some));
	const bool *allowed[] = { some, NULL };
	u32 i;

	(void)state;
	for (i = 0; i < fabric->n_links; i++)
		some[i] = i / 2 != uplink(0, 0) / 2 && i / 2 != uplink(0, 1) / 2;
	in.allowed = allowed;
	place(&in);
	/* who may go anywhere makes room for who may not */
	for (i = 0; i < SPINES; i++)
		assert_int_equal(on_link(uplink(0, i)), 2);
	for (i = 0; i < plan->n_flows; i++)
		assert_true(plan->flows[i].src == 1 || plan->flows[i].path > 1);
	memset(some, 0, fabric->n_links * sizeof(*some));
	place(&in);
	assert_int_equal(flows_in_all(), 4);
	free(some);
}

/* Two of two GPUs are together; GPUs of one host have no paths. */
static void test_together(void **state)
{
	struct srpol_demand demands[] = {
		demand(0, 2, 3), demand(0, 2, 5), demand(0, 0, 2),
	};
	u32 i, n;

	(void)state;
	place_all(demands, 3);
	assert_int_equal(plan->n_flows, SPINES);
	srpol_flows_find(plan, 0, 2, 0, &n);
	assert_int_equal(n, SPINES);
	srpol_flows_find(plan, 0, 2, 1, &n);
	assert_int_equal(n, 0);
	for (i = 0; i < SPINES; i++)
		assert_int_equal(plan->flows[i].n, 2);
	/* none at all */
	place_all(demands, 0);
	assert_int_equal(plan->n_flows, 0);
}

/* Hosts cannot tell them apart, so neither does the plan: it is at rest. */
static void test_rest(void **state)
{
	struct srpol_demand demands[] = {
		demand(0, 2, 5), demand(0, 2, 6), demand(1, 3, 5),
		demand(1, 3, 4),
	};
	struct srpol_flows_input in = input(demands, ARRAY_SIZE(demands));
	struct srpol_plan before = {};
	u32 i;

	(void)state;
	demands[0].bytes *= 7;
	demands[1].bytes *= 2;
	demands[2].bytes *= 8;
	demands[3].bytes *= 3;
	place(&in);
	for (i = 0; i < 8; i++) {
		free(before.flows);
		before = *plan;
		plan->flows = NULL;
		in.before = &before;
		place(&in);
		assert_int_equal(flows_in_all(), 20);
		assert_int_equal(srpol_flows_diff(&before, plan, NULL, NULL), 0);
	}
	free(before.flows);
}

/* Paths that pass no switch with the function are none. */
static void test_via(void **state)
{
	struct srpol_demand one = demand(0, 2, 4);

	(void)state;
	one.via = 1;
	place_all(&one, 1);
	assert_int_equal(flows_in_all(), 0);
}

static void test_weigh(void **state)
{
	struct srpol_demand one = demand(0, 2, 6);
	u32 weight[SPINES], i;

	(void)state;
	place_all(&one, 1);
	assert_int_equal(srpol_plan_weigh(fabric, links, plan, 0, 2, 0, weight,
					  SPINES), SPINES);
	for (i = 0; i < SPINES; i++)
		assert_int_equal(weight[i], on_link(uplink(0, i)));
	/* of another color, or other GPUs, it says nothing */
	assert_int_equal(srpol_plan_weigh(fabric, links, plan, 0, 2, 1, weight,
					  SPINES), -ENOENT);
	assert_int_equal(srpol_plan_weigh(fabric, links, plan, 0, 3, 0, weight,
					  SPINES), -ENOENT);
	set_up(uplink(0, 1), 0);
	assert_int_equal(srpol_plan_weigh(fabric, links, plan, 0, 2, 0, weight,
					  SPINES), SPINES);
	assert_int_equal(weight[1], 0);
	assert_true(weight[0] && weight[2] && weight[3]);
	for (i = 0; i < SPINES; i++)
		set_up(uplink(0, i), 0);
	assert_int_equal(srpol_plan_weigh(fabric, links, plan, 0, 2, 0, weight,
					  SPINES), -ENOENT);
}

static void test_text(void **state)
{
	struct srpol_demand demands[] = { demand(0, 2, 6), demand(1, 2, 1) };
	u32 leaf = fabric->nics[fabric->gpus[0].nic].leaf;
	struct srpol_chunk chunk = { .leaf = leaf };
	struct srpol_error err = {};
	struct srpol_plan *back;
	char *text;

	(void)state;
	demands[1].color = 7;
	place_all(demands, 2);
	chunk.text = text = srpol_chunk_write(fabric, plan, leaf);
	chunk.len = strlen(text);
	assert_non_null(strstr(text, "{\"color\":7,\"dst\":\"host0.1.0\","));
	assert_int_equal(srpol_chunks_read(fabric, &chunk, 1, &back, &err), 0);
	assert_int_equal(srpol_flows_diff(plan, back, NULL, NULL), 0);
	srpol_plan_free(back);
	free(text);
	/* another leaf has none of them */
	text = srpol_chunk_write(fabric, plan,
				 fabric->nics[fabric->gpus[2].nic].leaf);
	assert_string_equal(text, "");
	free(text);
}

static void test_bad_text(void **state)
{
#define TO(rest) "{\"dst\":\"host0.1.0\",\"src\":\"host0.0.0\"" rest "}\n"
	static const char * const bad[] = {
		TO(""), TO(",\"flows\":[]"), TO(",\"flows\":[[4,1]]"),
		TO(",\"flows\":[[-1,1]]"), TO(",\"flows\":[[0,0]]"),
		TO(",\"flows\":[[0]]"), TO(",\"flows\":[[0,1,2]]"),
		TO(",\"flows\":[[1,1],[0,1]]"), TO(",\"flows\":[[1,1],[1,1]]"),
		TO(",\"flows\":[[0,4294967296]]"), TO(",\"flows\":{}"),
		TO(",\"flows\":[[0,1]],\"color\":-1"),
		TO(",\"flows\":[[0,1]],\"rail\":1"),
		TO(",\"flows\":[[0,1]],\"dst_rail\":1"),
		TO(",\"flows\":[[0,1]],\"rail\":-1"),
		TO(",\"flows\":[[0,1]],\"rail\":64"),
		TO(",\"flows\":[[0,1]],\"more\":1"),
		TO(",\"flows\":[[0,1]]") TO(",\"flows\":[[0,1]]"),
		TO(",\"flows\":[[0,1]]") "{\"to\":\"leaf0.0.1.0\",\"weights\":\"ffff\"}\n",
		"{\"dst\":\"host0.1.0\",\"src\":\"host0.2.0\",\"flows\":[[0,1]]}\n",
		"{\"dst\":\"nobody\",\"src\":\"host0.0.0\",\"flows\":[[0,1]]}\n",
		"{\"dst\":\"host0.0.0\",\"src\":\"host0.0.0\",\"flows\":[[0,1]]}\n",
		"{\"dst\":\"spine0\",\"src\":\"host0.0.0\",\"flows\":[[0,1]]}\n",
	};
	static const char good[] = TO(",\"flows\":[[0,1],[3,2]]");
#undef TO
	u32 leaf = fabric->nics[fabric->gpus[0].nic].leaf;
	struct srpol_error err;
	struct srpol_plan *back;
	struct srpol_chunk c;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		c = (struct srpol_chunk){ leaf, bad[i], strlen(bad[i]) };
		err.text[0] = '\0';
		assert_int_equal(srpol_chunks_read(fabric, &c, 1, &back, &err),
				 -EINVAL);
		assert_null(back);
		assert_non_null(strstr(err.text, "chunk of"));
	}
	c = (struct srpol_chunk){ leaf, good, strlen(good) };
	assert_int_equal(srpol_chunks_read(fabric, &c, 1, &back, &err), 0);
	assert_int_equal(back->n_flows, 2);
	srpol_plan_free(back);
}

static int read_job(const char *text, struct srpol_demands *demands)
{
	struct srpol_error err;

	return srpol_demands_read(fabric, text, strlen(text), demands, &err);
}

static void test_job(void **state)
{
#define JOB(flows) "{\"demands\":[{\"src\":\"host0.0.0\",\"dst\":\"host0.1.0\"," \
	"\"bytes\":5}],\"flows\":" flows "}"
	struct srpol_demands demands = {};

	(void)state;
	assert_int_equal(read_job(JOB("3"), &demands), 0);
	assert_int_equal(demands.list[0].flows, 3);
	assert_int_equal(read_job(JOB("256"), &demands), 0);
	assert_int_equal(read_job(JOB("257"), &demands), -EINVAL);
	assert_int_equal(read_job(JOB("0"), &demands), -EINVAL);
	assert_int_equal(read_job(JOB("-1"), &demands), -EINVAL);
	assert_int_equal(read_job(JOB("\"3\""), &demands), -EINVAL);
	assert_int_equal(demands.n, 2);
	srpol_demands_free(&demands);
#undef JOB
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_hosts_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(test_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bound, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(test_allowed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_together, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_via, setup, teardown),
		cmocka_unit_test_setup_teardown(test_weigh, setup, teardown),
		cmocka_unit_test_setup_teardown(test_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_job, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
