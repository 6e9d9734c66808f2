// SPDX-License-Identifier: GPL-2.0
/*
 * Which suspected links the plan does without: the rules one by one, then random
 * fabrics of leaves and spines with one broken link, hosts with few peers that
 * locate it as srpold does, and one host that lies.
 */
#include "judge.h"
#include "locate.h"
#include "test.h"

#define HOSTS_MAX	64
#define PEERS_MAX	4
#define LINKS_MAX	512

static u32 passed[LINKS_MAX];	/* hosts whose probes pass it, by link */
static struct vec links;

static u32 passing(u32 cable)
{
	return passed[cable];
}

static struct judge_suspicion tie(u32 host, u32 a, u32 b)
{
	return (struct judge_suspicion){
		.host = host, .confidence = 50, .n = 2, .cable = { a, b },
	};
}

static struct judge_suspicion sure(u32 host, u32 cable, u32 confidence)
{
	return (struct judge_suspicion){
		.host = host, .confidence = confidence, .n = 1,
		.cable = { cable },
	};
}

static void decide(const struct judge_suspicion *list, size_t n)
{
	vec_free(&links);
	links = (struct vec)VEC_INIT(struct judge_link);
	judge(list, n, passing, &links);
}

static void assert_link(u32 cable, bool down, enum judge_reason reason)
{
	const struct judge_link *l = judge_find(&links, cable);

	assert_non_null(l);
	assert_int_equal(l->down, down);
	assert_string_equal(judge_word(l->reason), judge_word(reason));
}

static int setup(void **state)
{
	(void)state;
	memset(passed, 0, sizeof(passed));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	vec_free(&links);
	return 0;
}

static void test_nothing(void **state)
{
	(void)state;
	decide(NULL, 0);
	assert_int_equal(links.n, 0);
	assert_null(judge_find(&links, 0));
}

static void test_sure(void **state)
{
	struct judge_suspicion list[] = { sure(1, 5, 100), sure(2, 5, 75) };

	(void)state;
	decide(list, 1);
	assert_link(5, true, JUDGE_CERTAIN);
	passed[5] = 1;
	decide(list, 1);
	assert_link(5, false, JUDGE_PASSED);
	decide(list, 2);
	assert_link(5, true, JUDGE_SEVERAL);
	/* one host that says it twice is one */
	list[1].host = 1;
	decide(list, 2);
	assert_link(5, false, JUDGE_PASSED);
	list[0].confidence = 74;
	passed[5] = 0;
	decide(list, 1);
	assert_link(5, false, JUDGE_UNSURE);
	list[0].confidence = 75;
	decide(list, 1);
	assert_link(5, true, JUDGE_CERTAIN);
}

static void test_tie(void **state)
{
	struct judge_suspicion list[] = { tie(1, 5, 6), tie(2, 6, 7) };

	(void)state;
	decide(list, 1);
	assert_link(5, false, JUDGE_UNSURE);
	assert_link(6, false, JUDGE_UNSURE);
	decide(list, 2);
	assert_link(5, false, JUDGE_EXPLAINED);
	assert_link(6, true, JUDGE_SEVERAL);
	assert_link(7, false, JUDGE_EXPLAINED);
	passed[6] = 3;
	decide(list, 2);
	assert_link(5, true, JUDGE_ELIMINATED);
	assert_link(6, false, JUDGE_PASSED);
	assert_link(7, true, JUDGE_ELIMINATED);
	passed[5] = passed[7] = 1;
	decide(list, 2);
	assert_link(5, false, JUDGE_PASSED);
	assert_link(6, false, JUDGE_PASSED);
	assert_link(7, false, JUDGE_PASSED);
}

static void test_fresh(void **state)
{
	struct judge_suspicion list[] = { tie(1, 5, 6), tie(2, 5, 6) };

	(void)state;
	list[0].fresh = list[1].fresh = true;
	decide(list, 2);
	assert_link(5, true, JUDGE_SEVERAL);
	assert_link(6, true, JUDGE_SEVERAL);
	passed[6] = 1;
	decide(list, 2);
	assert_link(5, false, JUDGE_WAITS);
	assert_link(6, false, JUDGE_PASSED);
	list[0].fresh = false;
	decide(list, 2);
	assert_link(5, true, JUDGE_ELIMINATED);
}

/* A link that a host is sure of explains the ties that it is in. */
static void test_explained(void **state)
{
	struct judge_suspicion list[] = {
		tie(1, 5, 6), tie(2, 5, 6), sure(3, 6, 100),
	};

	(void)state;
	decide(list, 3);
	assert_link(5, false, JUDGE_EXPLAINED);
	assert_link(6, true, JUDGE_CERTAIN);
	/* one who is sure of what others pass, and another's tie without an answer */
	passed[5] = passed[6] = 1;
	decide(list + 1, 2);
	assert_link(5, false, JUDGE_PASSED);
	assert_link(6, true, JUDGE_SEVERAL);
}

/* --- random fabrics: leaf a to spine s is link 1 + a * spines + s */

struct host {
	u32 leaf;
	u32 peers[PEERS_MAX];	/* leaves */
	bool passes[LINKS_MAX];
};

static struct host hosts[HOSTS_MAX];
static u32 n_hosts, leaves, spines;
static struct judge_suspicion said[HOSTS_MAX * 8];
static size_t n_said;

static u32 link_of(u32 leaf, u32 spine)
{
	return 1 + leaf * spines + spine;
}

/* With peers on some other leaves, or on one at random. */
static void add_host(u32 leaf, bool one, u64 *seed)
{
	u32 at = test_random(seed) % (leaves - 1), i;
	struct host *h = &hosts[n_hosts++];

	*h = (struct host){ .leaf = leaf };
	for (i = 0; i < PEERS_MAX; i++)
		h->peers[i] = (leaf + 1 + (one ? at : i % (leaves - 1))) %
			      leaves;
}

/* What a host finds by its probes. */
static void probe(u32 host, u32 broken)
{
	struct locate_probe probes[PEERS_MAX * 16];
	struct locate_suspect found[8];
	struct host *h = &hosts[host];
	size_t n = 0, n_found, i;
	u32 p, s, k;

	memset(h->passes, 0, sizeof(h->passes));
	for (p = 0; p < PEERS_MAX; p++) {
		for (s = 0; s < spines; s++, n++) {
			probes[n] = (struct locate_probe){
				.n = 3, .link = { 0, link_of(h->leaf, s),
						  link_of(h->peers[p], s) },
			};
			for (k = 0; k < 3; k++)
				probes[n].lost |= probes[n].link[k] == broken;
			h->passes[link_of(h->leaf, s)] |= !probes[n].lost;
		}
	}
	n_found = locate(probes, n, 1 + leaves * spines, found, 8);
	for (i = 0; i < n_found; i++) {
		struct judge_suspicion *to = &said[n_said++];

		*to = (struct judge_suspicion){
			.host = host, .confidence = found[i].confidence,
			.n = 1 + found[i].n_rivals, .cable = { found[i].link },
		};
		memcpy(to->cable + 1, found[i].rival,
		       found[i].n_rivals * sizeof(u32));
	}
}

static void round_of(u32 broken, u32 liars_link)
{
	u32 i, k;

	n_said = 0;
	for (i = 0; i < n_hosts; i++)
		probe(i, broken);
	if (liars_link)
		said[n_said++] = sure(n_hosts, liars_link, 100);
	memset(passed, 0, sizeof(passed));
	for (i = 0; i < n_hosts; i++)
		for (k = 0; k < LINKS_MAX; k++)
			passed[k] += hosts[i].passes[k];
	decide(said, n_said);
}

static u32 n_down(u32 but)
{
	const struct judge_link *l;
	u32 n = 0;

	vec_for_each(l, &links)
		n += l->down && l->cable != but;
	return n;
}

/*
 * Every leaf has a host with peers on several leaves, and some have hosts with one
 * peer. The broken link is found, no other one is down, whoever lies.
 */
static void test_random_fabrics(void **state)
{
	u32 rounds = 2000, right = 0, wrong = 0, lied = 0, alone = 0, i, broken;
	const struct judge_link *l;
	u64 seed = 7;

	(void)state;
	for (; rounds; rounds--) {
		leaves = 3 + test_random(&seed) % 6;
		spines = 2 + test_random(&seed) % 7;
		n_hosts = 0;
		for (i = 0; i < leaves; i++) {
			add_host(i, false, &seed);
			if (test_random(&seed) % 2)
				add_host(i, true, &seed);
		}
		broken = link_of(test_random(&seed) % leaves,
				 test_random(&seed) % spines);
		round_of(broken, 0);
		l = judge_find(&links, broken);
		right += l && l->down;
		wrong += n_down(broken) != 0;
		/* somebody lies about a link that is well */
		i = link_of(test_random(&seed) % leaves,
			    test_random(&seed) % spines);
		if (i != broken) {
			round_of(broken, i);
			l = judge_find(&links, i);
			lied += l->down;
		}
		/* nothing is broken, and somebody lies */
		round_of(UINT32_MAX, i);
		alone += n_down(0) != 0;
	}
	print_message("found %u, with others %u, lies taken %u and %u, of 2000\n",
		      right, wrong, lied, alone);
	assert_int_equal(right, 2000);
	assert_int_equal(wrong, 0);
	assert_int_equal(lied, 0);
	assert_int_equal(alone, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sure, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tie, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fresh, setup, teardown),
		cmocka_unit_test_setup_teardown(test_explained, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random_fabrics, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
