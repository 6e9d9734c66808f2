// SPDX-License-Identifier: GPL-2.0
/*
 * Demands with the engine's own code: who may say how much, when it counts, and
 * what it does to weights.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "demand.h"
#include "linkstate.h"
#include "srpol_lib.h"
#include "test.h"
#include "weights.h"

#define G	1000000000ull

/* Three leaves with two hosts each, two spines. */
static struct srpol_fabric *fabric(void)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(3, 2, 2, 100 * G);
	struct srpol_error err;
	struct srpol_fabric *f = srpol_fabric_generate(&shape, &err);

	assert_non_null(f);
	return f;
}

static const char *host(const struct srpol_fabric *f, u32 gpu)
{
	return f->nodes[f->gpus[gpu].host].name;
}

static struct demand demand(const struct srpol_fabric *f, u32 src, u32 dst,
			    u64 bytes, u64 from, u64 until)
{
	struct demand d = {
		.demand = { .bytes = bytes, .color = 1 },
		.from_ns = from, .until_ns = until,
	};
	struct srpol_error err;

	strcpy(d.src, host(f, src));
	strcpy(d.dst, host(f, dst));
	assert_int_equal(demand_resolve(f, &d, &err), 0);
	assert_int_equal(d.demand.src, src);
	assert_int_equal(d.demand.dst, dst);
	return d;
}

/* An address finds what going through all of them would. */
static void test_addresses(void **state)
{
	struct srpol_fabric *f = fabric();
	struct in6_addr addr;
	u32 i, first;

	(void)state;
	assert_int_not_equal(f->n_nics, 0);
	for (i = 0; i < f->n_nics; i++) {
		for (first = 0; !IN6_ARE_ADDR_EQUAL(&f->nics[first].addr,
						    &f->nics[i].addr); first++)
			;
		assert_int_equal(srpol_fabric_nic_at(f, &f->nics[i].addr),
				 first);
		addr = f->nics[i].addr;
		addr.s6_addr[0] ^= 0xff;
		assert_int_equal(srpol_fabric_nic_at(f, &addr), SRPOL_NONE);
		addr.s6_addr[0] = 0xff;
		memset(&addr.s6_addr[1], 0xff, 15);
		assert_int_equal(srpol_fabric_nic_at(f, &addr), SRPOL_NONE);
	}
	srpol_fabric_free(f);
}

/* Bytes between hosts go over all rails that both have. */
static void test_rails(void **state)
{
	struct srpol_shape shape = srpol_shape_rail(2, 2, 3, 2, 100 * G);
	struct demand d = { .demand = { .bytes = 10, .color = 1 } };
	struct vec list = VEC_INIT(struct demand);
	struct srpol_error err;
	struct srpol_fabric *f = srpol_fabric_generate(&shape, &err);
	const struct demand *got;
	u32 rail;

	(void)state;
	assert_non_null(f);
	strcpy(d.src, host(f, 0));
	strcpy(d.dst, host(f, 3));
	assert_int_equal(demand_add(f, &d, &list, &err), 0);
	assert_int_equal(list.n, 3);
	got = list.data;
	for (rail = 0; rail < 3; rail++) {
		assert_int_equal(got[rail].demand.src, rail);
		assert_int_equal(got[rail].demand.dst, 3 + rail);
		assert_int_equal(got[rail].rail, rail);
	}
	assert_int_equal(got[0].demand.bytes + got[1].demand.bytes +
			 got[2].demand.bytes, 10);

	/* fewer bytes than rails: none is made of nothing */
	d.demand.bytes = 2;
	list.n = 0;
	assert_int_equal(demand_add(f, &d, &list, &err), 0);
	assert_int_equal(list.n, 2);

	/* the rail of an address is that of the host, too, either way */
	d.demand.bytes = 10;
	srpol_addr_text(&f->nics[f->gpus[5].nic].addr, d.dst);
	list.n = 0;
	assert_int_equal(demand_add(f, &d, &list, &err), 0);
	assert_int_equal(list.n, 1);
	got = list.data;
	assert_int_equal(got->demand.src, 2);
	assert_int_equal(got->demand.dst, 5);
	assert_int_equal(got->demand.bytes, 10);
	strcpy(d.src, d.dst);
	strcpy(d.dst, host(f, 0));
	list.n = 0;
	assert_int_equal(demand_add(f, &d, &list, &err), 0);
	got = list.data;
	assert_int_equal(got->demand.src, 5);
	assert_int_equal(got->demand.dst, 2);

	/* what nobody knows adds nothing */
	strcpy(d.dst, "nobody");
	list.n = 0;
	assert_int_equal(demand_add(f, &d, &list, &err), -ENOENT);
	assert_non_null(strstr(err.text, "\"dst\": no host or address \"nobody\""));
	assert_int_equal(list.n, 0);
	vec_free(&list);
	srpol_fabric_free(f);
}

static void test_owners(void **state)
{
	struct demands ds = { .all = VEC_INIT(struct demand) };
	struct srpol_fabric *f = fabric();
	struct srpol_demand due[8];
	struct demand d[2];
	struct srpol_error err;

	(void)state;
	d[0] = demand(f, 0, 1, 10, 100, 200);
	d[1] = demand(f, 0, 2, 20, 150, 300);
	assert_int_equal(demands_replace(&ds, "rank0", 7, d, 2, &err), 0);
	assert_int_equal(demands_replace(&ds, "rank0", 8, d, 1, &err), 0);
	assert_int_equal(demands_replace(&ds, "rank1", 7, d, 1, &err), 0);
	assert_int_equal(ds.all.n, 4);
	/* the same owner of the same user only */
	assert_int_equal(demands_replace(&ds, "rank0", 7, d, 1, &err), 0);
	assert_int_equal(ds.all.n, 3);
	assert_int_equal(demands_replace(&ds, "rank0", 8, NULL, 0, &err), 0);
	assert_int_equal(ds.all.n, 2);
	assert_int_equal(demands_replace(&ds, "rank1", 7, d + 1, 1, &err), 0);
	assert_int_equal(demands_due(&ds, 99, due), 0);
	assert_int_equal(demands_due(&ds, 149, due), 1);
	assert_int_equal(due[0].bytes, 10);
	assert_int_equal(demands_due(&ds, 150, due), 2);
	demands_expire(&ds, 200);
	assert_int_equal(demands_due(&ds, 200, due), 1);
	assert_int_equal(due[0].bytes, 20);
	vec_free(&ds.all);
	srpol_fabric_free(f);
}

static void test_limits(void **state)
{
	struct demands ds = { .all = VEC_INIT(struct demand) };
	struct srpol_fabric *f = fabric();
	struct demand *d = calloc(DEMANDS_PER_USER + 1, sizeof(*d));
	struct srpol_error err;
	u32 i;

	(void)state;
	assert_non_null(d);
	for (i = 0; i <= DEMANDS_PER_USER; i++)
		d[i] = demand(f, 0, 1, 1, 0, 1);
	assert_int_equal(demands_replace(&ds, "a", 7, d, DEMANDS_PER_USER,
					 &err), 0);
	/* one more is refused, and nothing of what there was is lost */
	assert_int_equal(demands_replace(&ds, "b", 7, d, 1, &err), -ENOSPC);
	assert_int_equal(demands_replace(&ds, "a", 7, d, DEMANDS_PER_USER + 1,
					 &err), -ENOSPC);
	assert_int_equal(ds.all.n, DEMANDS_PER_USER);
	assert_int_equal(ds.refused, 2);
	assert_int_equal(demands_replace(&ds, "a", 7, d, DEMANDS_PER_USER,
					 &err), 0);
	assert_int_equal(demands_replace(&ds, "b", 8, d, 1, &err), 0);
	for (i = 0; i < DEMANDS_MAX / DEMANDS_PER_USER; i++) {
		char name[] = { 'c', 'a' + i, '\0' };
		int want = ds.all.n + DEMANDS_PER_USER > DEMANDS_MAX ?
			   -ENOSPC : 0;

		assert_int_equal(demands_replace(&ds, name, 0, d,
						 DEMANDS_PER_USER, &err),
				 want);
	}
	assert_true(ds.all.n <= DEMANDS_MAX);
	ds.all.n = 0;
	/* users as they come, until there is no room: there is for the superuser */
	for (i = 1; !demands_replace(&ds, "a", i, d, DEMANDS_PER_USER, &err);
	     i++)
		assert_true(i < 65536);
	assert_true(ds.all.n >= DEMANDS_MAX / 2);
	assert_int_equal(demands_replace(&ds, "b", i, d, 1, &err), -ENOSPC);
	assert_int_equal(demands_replace(&ds, "b", 0, d, DEMANDS_PER_USER,
					 &err), 0);
	free(d);
	vec_free(&ds.all);
	srpol_fabric_free(f);
}

static void test_fabric_changes(void **state)
{
	struct demands ds = { .all = VEC_INIT(struct demand) };
	struct srpol_shape small = srpol_shape_leaf_spine(2, 2, 2, 100 * G);
	struct srpol_fabric *f = fabric(), *other;
	const struct demand *left;
	struct srpol_error err;
	struct demand d[2];

	(void)state;
	d[0] = demand(f, 0, 5, 1, 0, 1);
	d[1] = demand(f, 1, 0, 1, 0, 1);
	assert_int_equal(demands_replace(&ds, "a", 7, d, 2, &err), 0);
	other = srpol_fabric_generate(&small, &err);
	assert_non_null(other);
	demands_resolve(&ds, other);
	assert_int_equal(ds.all.n, 1);
	left = ds.all.data;
	assert_string_equal(left->src, host(f, 1));
	/* the color of the policies to all peers is another one, a job's is not */
	demands_recolor(&ds, left->demand.color, 7);
	assert_int_equal(left->demand.color, 7);
	demands_recolor(&ds, 6, 8);
	assert_int_equal(left->demand.color, 7);
	strcpy(d[0].src, "nobody");
	assert_int_equal(demand_resolve(f, &d[0], &err), -ENOENT);
	assert_non_null(strstr(err.text, "\"src\": no host or address \"nobody\""));
	vec_free(&ds.all);
	srpol_fabric_free(other);
	srpol_fabric_free(f);
}

static void weigh(const struct srpol_fabric *f, const struct linkstate *ls,
		  const char *alg, const struct srpol_demand *demands, u32 n,
		  u32 *weight)
{
	struct weights_pair pair = {
		.src = 0, .dst = 2, .alg = srpol_alg_find(alg), .color = 1,
		.n = 2, .weight = weight,
	};
	struct weights_demands known = {
		.demand = malloc((n + 1) * sizeof(*demands)), .n = n,
	};
	struct weights_input input = {
		.fabric = f, .links = ls->links, .known = &known,
	};
	struct srpol_error err;

	assert_non_null(known.demand);
	memcpy(known.demand, demands, n * sizeof(*demands));
	assert_int_equal(weights_run(&input, &pair, 1, &err), 0);
	free(known.demand);
}

/*
 * Host 4 reaches leaf 1 by one spine only, and has much to send there: host 0
 * is to send by the other one. Without what host 4 says it could not know.
 */
static void test_weights(void **state)
{
	struct srpol_fabric *f = fabric();
	struct srpol_demand all[] = {
		{ .src = 4, .dst = 3, .bytes = 20 * G, .color = 1 },
		{ .src = 0, .dst = 2, .bytes = 10 * G, .color = 1 },
		{ .src = 4, .dst = 3, .bytes = 20 * G, .color = 1 },
	};
	u32 up = srpol_node_up(f, f->nics[f->gpus[4].nic].leaf, 1);
	u32 weight[2];
	struct linkstate ls;

	(void)state;
	assert_int_equal(linkstate_init(&ls, f, 1), 0);
	linkstate_say(&ls, up / 2, LINK_OPERATOR, 0, 2);
	weigh(f, &ls, "minmax", all, 0, weight);
	assert_true(weight[0] && !weight[1]);
	weigh(f, &ls, "minmax", all, 3, weight);
	assert_true(weight[1] && !weight[0]);
	/* what others send is nothing to an algorithm that looks at links only */
	weigh(f, &ls, "wecmp", all, 3, weight);
	assert_int_equal(weight[0], weight[1]);
	linkstate_free(&ls);
	srpol_fabric_free(f);
}

#define PEERS	12

/* Weights of pairs of host 0, of which the last ones may not be there. */
static void weigh_pairs(struct weights_input *input, const char *alg, u32 n,
			u32 (*weight)[4])
{
	struct weights_pair pairs[PEERS];
	struct srpol_error err;
	u32 i;

	for (i = 0; i < n; i++)
		pairs[i] = (struct weights_pair){
			.src = 0, .dst = 1 + i, .alg = srpol_alg_find(alg),
			.color = 1, .n = 4, .weight = weight[i],
		};
	assert_int_equal(weights_run(input, pairs, n, &err), 0);
}

static u32 count_changes(u32 (*a)[4], u32 (*b)[4], u32 n)
{
	u32 i, changes = 0;

	for (i = 0; i < n; i++)
		changes += !!memcmp(a[i], b[i], sizeof(*a));
	return changes;
}

/*
 * Hosts that are told the same come to the same plan, whatever they were told before:
 * "minmax" has no memory.
 */
static void test_no_memory(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(13, 1, 4, 100 * G);
	struct srpol_fabric *f = srpol_fabric_generate(&shape, NULL);
	u32 first[PEERS][4], now[PEERS][4], i;
	struct weights_memory memory = {};
	struct weights_demands known = {};
	struct srpol_demand others[8];
	struct weights_input input = {
		.fabric = f, .known = &known, .memory = &memory,
	};
	struct linkstate ls;

	(void)state;
	assert_int_equal(linkstate_init(&ls, f, 1), 0);
	input.links = ls.links;
	weigh_pairs(&input, "minmax", 8, first);
	weigh_pairs(&input, "minmax", PEERS, now);
	weigh_pairs(&input, "minmax", 8, now);
	assert_int_equal(count_changes(first, now, 8), 0);
	for (i = 0; i < 8; i++)
		others[i] = (struct srpol_demand){
			.src = 2 + i, .dst = 1 + i, .bytes = G, .color = 1,
		};
	known = (struct weights_demands){ others, 8 };
	weigh_pairs(&input, "minmax", 8, now);
	assert_int_not_equal(count_changes(first, now, 8), 0);
	known.n = 0;
	weigh_pairs(&input, "minmax", 8, now);
	assert_int_equal(count_changes(first, now, 8), 0);
	weights_forget(&memory);
	linkstate_free(&ls);
	srpol_fabric_free(f);
}

/* "adaptive" keeps what is near enough. */
static void test_hysteresis(void **state)
{
	struct srpol_shape shape = srpol_shape_leaf_spine(13, 1, 4, 100 * G);
	struct srpol_fabric *f = srpol_fabric_generate(&shape, NULL);
	struct weights_memory memory = {};
	struct weights_demands known = {};
	struct srpol_links *links = srpol_links_new(f);
	struct weights_input input = {
		.fabric = f, .known = &known, .memory = &memory,
		.links = links,
	};
	u32 up = srpol_node_up(f, f->nics[f->gpus[0].nic].leaf, 1);
	u32 first[PEERS][4], now[PEERS][4];

	(void)state;
	weigh_pairs(&input, "adaptive", 4, first);
	srpol_links_set_quality(links, up, 96);
	weigh_pairs(&input, "adaptive", 5, now);
	assert_int_equal(count_changes(first, now, 4), 0);
	/* who comes now gets the weights of now */
	assert_int_equal(count_changes(first, now + 4, 1), 1);
	/* asking what would be changes nothing */
	srpol_links_set_quality(links, up, 50);
	input.keep = true;
	weigh_pairs(&input, "adaptive", 5, now);
	srpol_links_set_quality(links, up, 96);
	input.keep = false;
	weigh_pairs(&input, "adaptive", 5, now);
	assert_int_equal(count_changes(first, now, 4), 0);
	srpol_links_set_quality(links, up, 50);
	weigh_pairs(&input, "adaptive", 5, now);
	assert_int_equal(count_changes(first, now, 4), 4);
	/* another algorithm, and back: what is remembered is not in force */
	weigh_pairs(&input, "wecmp", 4, now);
	srpol_links_set_quality(links, up, 52);
	weigh_pairs(&input, "adaptive", 4, now);
	assert_int_equal(100 * now[0][1], 52 * now[0][0]);
	weights_forget(&memory);
	srpol_links_free(links);
	srpol_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_rails),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_fabric_changes),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_hysteresis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
