// SPDX-License-Identifier: GPL-2.0
/*
 * Paths, held to igraph's shortest paths in regular, irregular and damaged
 * fabrics; segment lists and their overhead, worked out by hand.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <igraph/igraph.h>
#include <string.h>

#include "fabric.h"
#include "srpol_lib.h"
#include "test.h"

#define G400	UINT64_C(400000000000)

static struct srpol_fabric *generate(struct srpol_shape shape)
{
	struct srpol_error err = {};
	struct srpol_fabric *f = srpol_fabric_generate(&shape, &err);

	if (!f)
		print_error("%s\n", err.text);
	assert_non_null(f);
	return f;
}

/* The same fabric without some of the links between switches. */
static struct srpol_fabric *damage(const struct srpol_fabric *f, u64 *seed,
				   unsigned int percent)
{
	struct srpol_fabric *to = srpol_fabric_new();
	struct srpol_error err;
	uint32_t i;

	to->sids = f->sids;
	for (i = 0; i < f->n_nodes; i++) {
		struct srpol_node node = f->nodes[i];

		node.up_n = 0;
		node.down_n = 0;
		assert_int_equal(srpol_fabric_add_node(to, &node, &err), i);
	}
	for (i = 0; i < f->n_nics; i++)
		assert_true(srpol_fabric_add_nic(to, &f->nics[i],
						 &f->links[f->nics[i].link],
						 &err) >= 0);
	for (i = 0; i < f->n_links; i += 2)
		if (f->nodes[f->links[i].from].tier != SRPOL_TIER_HOST &&
		    test_random(seed) % 100 >= percent)
			assert_true(srpol_fabric_add_link(to, &f->links[i],
							  &err) >= 0);
	assert_int_equal(srpol_fabric_finish(to, &err), 0);
	return to;
}

/* A number for a sequence of nodes. */
static uint64_t mix(uint64_t h, uint64_t node)
{
	h = (h ^ (node + 1)) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Switches only, so that no path leads through a host. */
static void to_igraph(const struct srpol_fabric *f, igraph_t *g)
{
	igraph_vector_int_t edges;
	uint32_t i;

	igraph_vector_int_init(&edges, 0);
	for (i = 0; i < f->n_links; i += 2) {
		if (f->nodes[f->links[i].from].tier == SRPOL_TIER_HOST)
			continue;
		igraph_vector_int_push_back(&edges, f->links[i].from);
		igraph_vector_int_push_back(&edges, f->links[i].to);
	}
	assert_int_equal(igraph_create(g, &edges, f->n_nodes, 0), 0);
	igraph_vector_int_destroy(&edges);
}

static uint32_t from_igraph(const igraph_t *g, uint32_t a, uint32_t b,
			    uint64_t *keys, uint32_t *len)
{
	igraph_vector_int_list_t paths;
	igraph_vector_int_t counts;
	uint32_t i, j, n;

	igraph_vector_int_list_init(&paths, 0);
	igraph_vector_int_init(&counts, 0);
	assert_int_equal(igraph_get_all_shortest_paths(g, &paths, NULL, &counts,
						       a, igraph_vss_1(b),
						       IGRAPH_ALL), 0);
	n = igraph_vector_int_list_size(&paths);
	for (i = 0; i < n; i++) {
		igraph_vector_int_t *p =
			igraph_vector_int_list_get_ptr(&paths, i);

		*len = igraph_vector_int_size(p) - 1;
		for (j = 0, keys[i] = 0; j <= *len; j++)
			keys[i] = mix(keys[i], VECTOR(*p)[j]);
	}
	igraph_vector_int_destroy(&counts);
	igraph_vector_int_list_destroy(&paths);
	qsort(keys, n, sizeof(*keys), by_number);
	return n;
}

static uint32_t from_fan(const struct srpol_fabric *f,
			 const struct srpol_fan *fan, uint64_t *keys)
{
	uint32_t links[4], i, j, len;

	for (i = 0; i < fan->n; i++) {
		len = srpol_fan_links(f, fan, i, links);
		keys[i] = mix(0, fan->from);
		for (j = 0; j < len; j++) {
			assert_int_equal(f->links[links[j]].from,
					 j ? f->links[links[j - 1]].to :
					     fan->from);
			keys[i] = mix(keys[i], f->links[links[j]].to);
		}
	}
	qsort(keys, fan->n, sizeof(*keys), by_number);
	return fan->n;
}

/*
 * All pairs of leaves. In a damaged fabric igraph may know a path where we
 * know none: one that goes down and up again, which routers of a Clos do not.
 */
static void compare(const struct srpol_fabric *f, bool damaged,
		    unsigned int *listed)
{
	static uint64_t want[65536], got[65536];
	uint32_t a, b, n, len = 0;
	struct srpol_fan fan;
	igraph_t g;

	to_igraph(f, &g);
	for (a = 0; a < f->n_nodes; a++) {
		for (b = 0; b < f->n_nodes; b++) {
			if (f->nodes[a].tier != SRPOL_TIER_LEAF ||
			    f->nodes[b].tier != SRPOL_TIER_LEAF)
				continue;
			assert_int_equal(srpol_fan_init(f, a, b, &fan), 0);
			*listed += fan.turn == SRPOL_TURN_LIST;
			n = a == b ? 1 : from_igraph(&g, a, b, want, &len);
			if (damaged && !fan.n) {
				assert_true(!n || len > 4 || len % 2);
			} else if (damaged && n && len < fan.len) {
				/* igraph's is shorter only by a valley */
				fail();
			} else if (a != b && fan.n != n) {
				/* 4 hops by valley and by super-spines */
				assert_true(damaged && n > fan.n && len == 4);
			} else if (a != b) {
				from_fan(f, &fan, got);
				assert_memory_equal(got, want, n * sizeof(*got));
			}
			srpol_fan_free(&fan);
		}
	}
	igraph_destroy(&g);
}

static void regular_paths(void **state)
{
	(void)state;
	const struct srpol_shape shapes[] = {
		srpol_shape_leaf_spine(8, 2, 16, G400),
		srpol_shape_clos(4, 3, 2, 4, 3, G400),
		srpol_shape_clos(2, 2, 2, 1, 5, G400),
		srpol_shape_rail(4, 2, 8, 6, G400),
	};
	unsigned int i, listed = 0;
	struct srpol_fabric *f;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		f = generate(shapes[i]);
		compare(f, false, &listed);
		srpol_fabric_free(f);
	}
	/* nothing of it had to be searched for */
	assert_int_equal(listed, 0);
}

static void damaged_paths(void **state)
{
	(void)state;
	struct srpol_fabric *f, *broken;
	unsigned int i, listed = 0;
	u64 seed = 7;

	for (i = 0; i < 20; i++) {
		f = generate(i % 2 ? srpol_shape_leaf_spine(6, 1, 5, G400) :
				     srpol_shape_clos(3, 2, 1, 3, 2, G400));
		broken = damage(f, &seed, 5 + i);
		compare(broken, true, &listed);
		srpol_fabric_free(broken);
		srpol_fabric_free(f);
	}
	assert_true(listed > 100);
}

/* Every spine to every super-spine: paths may change spines at the top. */
static void full_mesh(void **state)
{
	(void)state;
	struct srpol_fabric *f = srpol_fabric_new();
	struct srpol_error err;
	uint32_t i, j, nodes[12];
	unsigned int listed = 0;

	for (i = 0; i < 12; i++) {
		struct srpol_node node = { .locator_len = 32 };

		node.tier = i < 4 ? SRPOL_TIER_LEAF :
			    i < 8 ? SRPOL_TIER_SPINE : SRPOL_TIER_SUPER;
		node.locator.s6_addr[3] = i + 1;
		sprintf(node.name, "n%u", i);
		nodes[i] = srpol_fabric_add_node(f, &node, &err);
	}
	for (i = 0; i < 4; i++) {
		for (j = 0; j < 4; j++) {
			struct srpol_link link = { .rate = 1, .cables = 1 };

			link.from = nodes[4 + i];
			link.to = nodes[8 + j];
			assert_true(srpol_fabric_add_link(f, &link, &err) >= 0);
			link.from = nodes[i];
			link.to = nodes[4 + j];
			if (i / 2 == j / 2)
				assert_true(srpol_fabric_add_link(f, &link,
								  &err) >= 0);
		}
	}
	assert_int_equal(srpol_fabric_finish(f, &err), 0);
	compare(f, false, &listed);
	assert_true(listed);
	srpol_fabric_free(f);
}

static void planes_and_rails(void **state)
{
	(void)state;
	struct srpol_fabric *f = generate(srpol_shape_plane(4, 64, G400));
	struct srpol_links *links = srpol_links_new(f);
	struct srpol_path_set set;
	struct srpol_route route;
	uint32_t i;

	/* 64 GPUs, 128 cables of 400G on each of 4 leaves */
	assert_int_equal(f->n_gpus, 64);
	assert_int_equal(f->n_nics, 256);
	assert_int_equal(srpol_path_set_init(f, 3, 60, &set), 0);
	assert_int_equal(set.n, 4);
	for (i = 0; i < 4; i++) {
		srpol_path_get(f, &set, i, &route);
		assert_int_equal(route.n, 2);
		assert_int_equal(srpol_route_capacity(links, &route), 2 * G400);
		assert_int_equal(f->nics[set.pair[i].src].plane, i);
	}
	/* one of a NIC's two cables fails */
	srpol_path_get(f, &set, 2, &route);
	assert_int_equal(srpol_links_set_cables(f, links, route.link[0], 1), 1);
	assert_int_equal(srpol_links_set_cables(f, links, route.link[0], 1), 0);
	assert_int_equal(srpol_links_set_cables(f, links, route.link[0], 3),
			 -EINVAL);
	assert_int_equal(srpol_route_capacity(links, &route), G400);
	srpol_path_set_free(&set);
	srpol_links_free(links);
	srpol_fabric_free(f);

	f = generate(srpol_shape_rail(2, 4, 8, 4, G400));
	assert_int_equal(f->n_gpus, 64);
	/* same rail, same group: the leaf; other rail of the host: no path */
	assert_int_equal(srpol_path_set_init(f, 0, 8, &set), 0);
	assert_int_equal(set.n, 1);
	srpol_path_set_free(&set);
	assert_int_equal(srpol_path_set_init(f, 0, 1, &set), 0);
	assert_int_equal(set.n, 0);
	assert_int_equal(srpol_path_set_init(f, 0, 9, &set), 0);
	assert_int_equal(set.n, 4);
	srpol_path_set_free(&set);
	assert_int_equal(srpol_path_set_init(f, 0, 64, &set), -EINVAL);
	srpol_fabric_free(f);
}

static void is_sid(const struct srpol_sid_list *list, uint32_t i,
		   const char *text)
{
	char buf[INET6_ADDRSTRLEN];

	assert_true(i < list->n);
	inet_ntop(AF_INET6, &list->sid[i], buf, sizeof(buf));
	assert_string_equal(buf, text);
}

/* standards: 1, 2, 3, 6 SIDs in full and reduced form */
static void overhead(void **state)
{
	(void)state;
	const uint32_t rows[][3] = {
		{ 1, 64, 40 }, { 2, 80, 64 }, { 3, 96, 80 }, { 6, 144, 128 },
	};
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(srpol_sids_overhead(rows[i][0],
						     SRPOL_SID_FULL),
				 rows[i][1]);
		assert_int_equal(srpol_sids_overhead(rows[i][0],
						     SRPOL_SID_REDUCED),
				 rows[i][2]);
	}
}

static void segment_lists(void **state)
{
	(void)state;
	struct srpol_fabric *f = generate(srpol_shape_leaf_spine(2, 1, 2,
								 G400));
	struct srpol_sid_list list;
	struct srpol_route route, back, other;
	struct srpol_path_set set;
	struct srpol_error err;
	uint8_t hot[64] = {};

	/* numbers: spines 1, 2; leaves 3, 4; hosts 5, 6 */
	assert_int_equal(srpol_path_set_init(f, 0, 1, &set), 0);
	srpol_path_get(f, &set, 1, &route);
	srpol_route_reverse(&route, &back);
	assert_int_equal(srpol_sids_of_path(f, &route, SRPOL_HOPS_ALL, NULL,
					    SRPOL_SID_FULL, &list, &err), 0);
	assert_int_equal(list.n, 3);
	assert_int_equal(list.overhead, 96);
	is_sid(&list, 0, "5f00:2:0:2::1");
	is_sid(&list, 1, "5f00:1:0:4::1");
	is_sid(&list, 2, "5f00:0:0:6::d6");
	assert_int_equal(srpol_sids_of_path(f, &back, SRPOL_HOPS_ALL, NULL,
					    SRPOL_SID_REDUCED, &list, &err), 0);
	assert_int_equal(list.overhead, 80);
	is_sid(&list, 0, "5f00:2:0:2::1");
	is_sid(&list, 1, "5f00:1:0:3::1");
	is_sid(&list, 2, "5f00:0:0:5::d6");
	assert_int_equal(srpol_sids_of_path(f, &route, SRPOL_HOPS_ALL, NULL,
					    SRPOL_SID_USID, &list, &err), 0);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.overhead, 40);
	is_sid(&list, 0, "fcbb:bb00:2:4:6::");
	assert_int_equal(srpol_sids_of_path(f, &route, SRPOL_HOPS_TOP, NULL,
					    SRPOL_SID_REDUCED, &list, &err), 0);
	assert_int_equal(list.n, 2);
	is_sid(&list, 0, "5f00:2:0:2::1");
	/* nothing is hot: the host alone; the last hop is: its leaf is named */
	assert_int_equal(srpol_sids_of_path(f, &route, SRPOL_HOPS_HOT, hot,
					    SRPOL_SID_REDUCED, &list, &err), 0);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.overhead, 40);
	hot[route.link[3]] = 1;
	assert_int_equal(srpol_sids_of_path(f, &route, SRPOL_HOPS_HOT, hot,
					    SRPOL_SID_REDUCED, &list, &err), 0);
	assert_int_equal(list.n, 2);
	is_sid(&list, 0, "5f00:1:0:4::1");

	/* probes: by the peer, and round its leaf back over the other spine */
	assert_int_equal(srpol_sids_of_loop(f, &route, &back, true,
					    SRPOL_SID_FULL, &list, &err), 0);
	assert_int_equal(list.n, 7);
	assert_int_equal(list.hops, 7);
	is_sid(&list, 2, "5f00:0:0:6::1");
	is_sid(&list, 6, "5f00:0:0:5::d0");
	/* the CSID of a host decapsulates: full SIDs, there and at the end */
	assert_int_equal(srpol_sids_of_loop(f, &route, &back, true,
					    SRPOL_SID_USID, &list, &err), 0);
	assert_int_equal(list.n, 4);
	assert_int_equal(list.hops, 7);
	is_sid(&list, 0, "fcbb:bb00:2:4::");
	is_sid(&list, 1, "5f00:0:0:6::1");
	is_sid(&list, 2, "fcbb:bb00:4:2:3::");
	is_sid(&list, 3, "5f00:0:0:5::d0");
	srpol_path_get(f, &set, 0, &other);
	srpol_route_reverse(&other, &back);
	assert_int_equal(srpol_sids_of_loop(f, &route, &back, false,
					    SRPOL_SID_FULL, &list, &err), 0);
	assert_int_equal(list.n, 5);
	is_sid(&list, 0, "5f00:2:0:2::1");
	is_sid(&list, 1, "5f00:1:0:4::1");
	is_sid(&list, 2, "5f00:2:0:1::1");
	is_sid(&list, 3, "5f00:1:0:3::1");
	is_sid(&list, 4, "5f00:0:0:5::d0");
	assert_int_equal(srpol_sids_of_loop(f, &route, &back, false,
					    SRPOL_SID_USID, &list, &err), 0);
	assert_int_equal(list.n, 2);
	assert_int_equal(list.hops, 5);
	is_sid(&list, 0, "fcbb:bb00:2:4:1:3::");
	assert_int_equal(srpol_sids_of_loop(f, &route, &route, false,
					    SRPOL_SID_FULL, &list, &err),
			 -EINVAL);
	srpol_path_set_free(&set);
	srpol_fabric_free(f);
}

/* fewest and most paths between the first two GPUs that turn at one switch */
static void turning(const struct srpol_fabric *f, uint32_t *least,
		    uint32_t *most)
{
	struct srpol_route route;
	struct srpol_path_set set;
	uint32_t i, n;

	*least = UINT32_MAX;
	*most = 0;
	assert_int_equal(srpol_path_set_init(f, 0, 1, &set), 0);
	for (i = 0; i < set.n; i++) {
		srpol_path_get(f, &set, i, &route);
		n = srpol_path_set_turning(f, &set, srpol_route_top(f, &route));
		*least = n < *least ? n : *least;
		*most = n > *most ? n : *most;
	}
	srpol_path_set_free(&set);
}

/* Two paths up to one switch and two down from it, beside one over another. */
static void determined_by_the_top(void **state)
{
	(void)state;
	static const char text[] =
		"{ \"srpol-topology\": 1, \"switches\": ["
		" { \"name\": \"l1\", \"role\": \"leaf\", \"locator\": \"fc00:0:1::/48\" },"
		" { \"name\": \"l2\", \"role\": \"leaf\", \"locator\": \"fc00:0:2::/48\" },"
		" { \"name\": \"s1\", \"role\": \"spine\", \"locator\": \"fc00:0:3::/48\" },"
		" { \"name\": \"s2\", \"role\": \"spine\", \"locator\": \"fc00:0:4::/48\" },"
		" { \"name\": \"s3\", \"role\": \"spine\", \"locator\": \"fc00:0:5::/48\" },"
		" { \"name\": \"s4\", \"role\": \"spine\", \"locator\": \"fc00:0:6::/48\" },"
		" { \"name\": \"t1\", \"role\": \"super-spine\", \"locator\": \"fc00:0:7::/48\" },"
		" { \"name\": \"t2\", \"role\": \"super-spine\", \"locator\": \"fc00:0:8::/48\" } ],"
		"\"hosts\": ["
		" { \"name\": \"a\", \"locator\": \"fc00:0:a::/48\", \"nics\": ["
		"  { \"name\": \"x\", \"leaf\": \"l1\", \"rate\": \"1G\" } ] },"
		" { \"name\": \"b\", \"locator\": \"fc00:0:b::/48\", \"nics\": ["
		"  { \"name\": \"x\", \"leaf\": \"l2\", \"rate\": \"1G\" } ] } ],"
		"\"links\": ["
		" { \"from\": \"l1\", \"to\": \"s1\", \"rate\": \"1G\" },"
		" { \"from\": \"l1\", \"to\": \"s2\", \"rate\": \"1G\" },"
		" { \"from\": \"l2\", \"to\": \"s3\", \"rate\": \"1G\" },"
		" { \"from\": \"l2\", \"to\": \"s4\", \"rate\": \"1G\" },"
		" { \"from\": \"s1\", \"to\": \"t1\", \"rate\": \"1G\" },"
		" { \"from\": \"s2\", \"to\": \"t1\", \"rate\": \"1G\" },"
		" { \"from\": \"s3\", \"to\": \"t1\", \"rate\": \"1G\" },"
		" { \"from\": \"s4\", \"to\": \"t1\", \"rate\": \"1G\" },"
		" { \"from\": \"s1\", \"to\": \"t2\", \"rate\": \"1G\" },"
		" { \"from\": \"s3\", \"to\": \"t2\", \"rate\": \"1G\" } ] }";
	struct srpol_error err = {};
	struct srpol_fabric *f;
	uint32_t least, most;

	f = srpol_topology_parse(text, sizeof(text) - 1, &err);
	if (!f)
		print_error("%s\n", err.text);
	assert_non_null(f);
	turning(f, &least, &most);
	assert_int_equal(least, 1);
	assert_int_equal(most, 4);
	srpol_fabric_free(f);
	f = generate(srpol_shape_clos(2, 2, 2, 1, 5, G400));
	turning(f, &least, &most);
	assert_int_equal(least, 1);
	assert_int_equal(most, 1);
	srpol_fabric_free(f);
}

static void refused_shapes(void **state)
{
	(void)state;
	struct srpol_shape shape = srpol_shape_clos(0, 1, 1, 1, 1, G400);
	struct srpol_error err;

	assert_null(srpol_fabric_generate(&shape, &err));
	shape = srpol_shape_clos(65536, 65536, 65536, 65536, 65536, G400);
	assert_null(srpol_fabric_generate(&shape, &err));
	shape = srpol_shape_leaf_spine(1, 1, 0, 0);
	assert_null(srpol_fabric_generate(&shape, &err));
	shape = srpol_shape_rail(1, 1, 65, 1, G400);
	assert_null(srpol_fabric_generate(&shape, &err));
	shape = srpol_shape_clos(1, 1, 1, 0, 1, G400);
	assert_null(srpol_fabric_generate(&shape, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regular_paths),
		cmocka_unit_test(damaged_paths),
		cmocka_unit_test(full_mesh),
		cmocka_unit_test(planes_and_rails),
		cmocka_unit_test(overhead),
		cmocka_unit_test(segment_lists),
		cmocka_unit_test(determined_by_the_top),
		cmocka_unit_test(refused_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
