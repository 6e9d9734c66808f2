// SPDX-License-Identifier: GPL-2.0
/*
 * Which link is it: random fabrics of leaves and spines, one or two links that
 * lose everything, probes host - leaf - spine - leaf and back.
 */
#include "locate.h"
#include "test.h"

#define PROBES_MAX	4096

static struct locate_probe probes[PROBES_MAX];

/* Links of a host: 0; leaf a to spine s: 1 + a * spines + s. */
static size_t make(u32 leaves, u32 spines, u32 own)
{
	size_t n = 0;
	u32 leaf, spine;

	for (leaf = 0; leaf < leaves; leaf++) {
		if (leaf == own)
			continue;
		for (spine = 0; spine < spines; spine++)
			probes[n++] = (struct locate_probe){
				.n = 3,
				.link = { 0, 1 + own * spines + spine,
					  1 + leaf * spines + spine },
			};
	}
	return n;
}

static void break_link(size_t n, u32 link)
{
	size_t i;
	u32 k;

	for (i = 0; i < n; i++)
		for (k = 0; k < probes[i].n; k++)
			probes[i].lost |= probes[i].link[k] == link;
}

static bool names(const struct locate_suspect *suspects, size_t n, u32 link)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (suspects[i].link == link)
			return true;
	return false;
}

static void test_nothing(void **state)
{
	struct locate_suspect suspects[4];
	size_t n = make(4, 4, 0);

	(void)state;
	assert_int_equal(locate(probes, n, 17, suspects, 4), 0);
	assert_int_equal(locate(probes, 0, 17, suspects, 4), 0);
	assert_int_equal(locate(probes, 0, 0, suspects, 4), 0);
}

/* Everything is lost: the host's own link explains it best. */
static void test_own(void **state)
{
	struct locate_suspect suspects[4];
	size_t n = make(4, 4, 0);

	(void)state;
	break_link(n, 0);
	assert_in_range(locate(probes, n, 17, suspects, 4), 1, 4);
	assert_int_equal(suspects[0].link, 0);
	assert_int_equal(suspects[0].explains, n);
}

/* The bar: 95 % of single, 80 % of double failures named. */
static void test_accuracy(void **state)
{
	struct locate_suspect suspects[4];
	u32 leaves, spines, a, b, n_links, round;
	u32 single = 0, both = 0, rounds = 2000;
	u64 seed = 42;
	size_t n, found;

	(void)state;
	for (round = 0; round < rounds; round++) {
		leaves = 3 + test_random(&seed) % 14;
		spines = 2 + test_random(&seed) % 15;
		n_links = 1 + leaves * spines;
		a = 1 + test_random(&seed) % (n_links - 1);
		do
			b = 1 + test_random(&seed) % (n_links - 1);
		while (a == b);
		n = make(leaves, spines, 0);
		break_link(n, a);
		found = locate(probes, n, n_links, suspects, 4);
		single += found && suspects[0].link == a;
		break_link(n, b);
		found = locate(probes, n, n_links, suspects, 4);
		both += names(suspects, found, a) && names(suspects, found, b);
	}
	print_message("single %u, double %u of %u\n", single, both, rounds);
	assert_in_range(single * 100, rounds * 95, rounds * 100);
	assert_in_range(both * 100, rounds * 80, rounds * 100);
}

/* All peers are on one other leaf: the link there explains as much as the own one. */
static void test_tie(void **state)
{
	struct locate_suspect suspects[4];
	size_t n = make(2, 4, 0);

	(void)state;
	break_link(n, 1 + 4 + 2);
	assert_int_equal(locate(probes, n, 9, suspects, 4), 1);
	assert_int_equal(suspects[0].link, 1 + 2);
	assert_int_equal(suspects[0].confidence, 50);
	assert_int_equal(suspects[0].n_rivals, 1);
	assert_int_equal(suspects[0].rival[0], 1 + 4 + 2);
}

/* Two failures that have no probe in common leave no doubt about each other. */
static void test_apart(void **state)
{
	struct locate_suspect suspects[4];
	size_t n = make(5, 4, 0);

	(void)state;
	break_link(n, 1 + 2);
	break_link(n, 1 + 4 + 3);
	break_link(n, 1 + 2 * 4 + 3);
	assert_int_equal(locate(probes, n, 21, suspects, 4), 3);
	assert_int_equal(suspects[0].link, 1 + 2);
	assert_int_equal(suspects[0].confidence, 100 - 100 / 4 / 2);
	assert_int_equal(suspects[1].confidence, 100);
	assert_int_equal(suspects[2].confidence, 100);
	assert_int_equal(suspects[0].n_rivals + suspects[1].n_rivals +
			 suspects[2].n_rivals, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_accuracy),
		cmocka_unit_test(test_tie),
		cmocka_unit_test(test_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
