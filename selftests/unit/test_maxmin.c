// SPDX-License-Identifier: GPL-2.0
/* Max-min fair rates and times, worked out by hand, and what must hold always. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "alg.h"
#include "test.h"

static void is(double got, double want)
{
	assert_true(fabs(got - want) <= 1e-9 * fabs(want) ||
		    (isinf(got) && isinf(want)));
}

/* Capacities 1, 2, 1; flows over {0,1}, {1}, {1,2}, {2}. */
static double capacity[] = { 1, 2, 1 };
static const uint32_t first[] = { 0, 2, 3, 5, 6 };
static const uint32_t link[] = { 0, 1, 1, 1, 2, 2 };
static const double part[] = { 1, 1, 1, 1, 1, 1 };

static struct srpol_maxmin hand(void)
{
	capacity[0] = 1;
	capacity[1] = 2;
	capacity[2] = 1;
	return (struct srpol_maxmin){
		.n_links = 3, .capacity = capacity, .n_flows = 4,
		.first = first, .link = link, .part = part,
	};
}

static void by_hand(void **state)
{
	(void)state;
	struct srpol_maxmin net = hand();
	const uint8_t active[] = { 1, 1, 0, 1 };
	const double weight[] = { 1, 3, 1, 1 };
	double rate[4];

	assert_int_equal(srpol_maxmin_rates(&net, NULL, rate), 0);
	is(rate[0], 0.75);
	is(rate[1], 0.75);
	is(rate[2], 0.5);
	is(rate[3], 0.5);
	assert_int_equal(srpol_maxmin_rates(&net, active, rate), 0);
	is(rate[0], 1);
	is(rate[1], 1);
	is(rate[2], 0);
	is(rate[3], 1);
	net.weight = weight;
	assert_int_equal(srpol_maxmin_rates(&net, NULL, rate), 0);
	is(rate[0], 0.4);
	is(rate[1], 1.2);
	is(rate[2], 0.4);
	is(rate[3], 0.6);
}

/* A flow that is sprayed over two links, one of them with another flow. */
static void parts(void **state)
{
	(void)state;
	double room[] = { 1, 1 }, rate[2];
	const uint32_t begin[] = { 0, 2, 3 }, at[] = { 0, 1, 0 };
	const double half[] = { 0.5, 0.5, 1 };
	struct srpol_maxmin net = {
		.n_links = 2, .capacity = room, .n_flows = 2, .first = begin,
		.link = at, .part = half,
	};

	assert_int_equal(srpol_maxmin_rates(&net, NULL, rate), 0);
	is(rate[0], 2.0 / 3);
	is(rate[1], 2.0 / 3);
}

static void times(void **state)
{
	(void)state;
	struct srpol_maxmin net = hand();
	double left[] = { 3, 1.5, 1, 4 }, finish[4];
	struct srpol_maxmin_run run = {
		.left = left, .finish = finish, .until = INFINITY,
	};

	/*
	 * until 2 s: 0.75 0.75 0.5 0.5; flows 1 and 2 end. Then flow 0 has link
	 * 0 alone and 1.5 left, flow 3 link 2 and 3.
	 */
	assert_int_equal(srpol_maxmin_run(&net, &run), 0);
	is(finish[0], 3.5);
	is(finish[1], 2);
	is(finish[2], 2);
	is(finish[3], 5);
	is(run.now, 5);

	/* just what that took, and less */
	net = hand();
	memcpy(left, (double[]){ 3, 1.5, 1, 4 }, sizeof(left));
	run.effort = 4 * run.fillings;
	assert_int_equal(srpol_maxmin_run(&net, &run), 0);
	is(finish[3], 5);
	memcpy(left, (double[]){ 3, 1.5, 1, 4 }, sizeof(left));
	run.effort--;
	assert_int_equal(srpol_maxmin_run(&net, &run), -E2BIG);
}

static void events(void **state)
{
	(void)state;
	struct srpol_maxmin net = hand();
	double left[] = { 1, 0, 5, 2 }, start[] = { 1, 7, 0, 0 }, finish[4];
	const struct srpol_maxmin_event event[] = {
		{ 1.5, 0, 0 }, { 2.5, 0, 1 }, { 4, 2, 0 },
	};
	struct srpol_maxmin_run run = {
		.left = left, .start = start, .finish = finish,
		.events = event, .n_events = 3, .until = INFINITY,
	};

	/* link 0 is down from 1.5 to 2.5; link 2 from 4 for ever */
	assert_int_equal(srpol_maxmin_run(&net, &run), 0);
	is(finish[0], 3);
	is(finish[1], 7);
	is(finish[2], INFINITY);
	is(finish[3], 4);
	is(left[2], 3);

	/* in two pieces it is the same */
	net = hand();
	memcpy(left, (double[]){ 3, 1.5, 1, 4 }, sizeof(left));
	run = (struct srpol_maxmin_run){
		.left = left, .finish = finish, .until = 1,
	};
	assert_int_equal(srpol_maxmin_run(&net, &run), 0);
	is(left[0], 2.25);
	is(left[3], 3.5);
	is(run.now, 1);
	run.from = 1;
	run.until = INFINITY;
	assert_int_equal(srpol_maxmin_run(&net, &run), 0);
	is(finish[0], 3.5);
	is(finish[3], 5);
}

static void no_links_no_capacity(void **state)
{
	(void)state;
	double room[] = { 0 }, rate[2], left[] = { 5, 5 }, finish[2];
	const uint32_t begin[] = { 0, 0, 1 }, at[] = { 0 };
	const double one[] = { 1 };
	struct srpol_maxmin net = {
		.n_links = 1, .capacity = room, .n_flows = 2, .first = begin,
		.link = at, .part = one,
	};
	struct srpol_maxmin_run run = {
		.left = left, .finish = finish, .until = INFINITY,
	};

	assert_int_equal(srpol_maxmin_rates(&net, NULL, rate), 0);
	is(rate[0], INFINITY);
	is(rate[1], 0);
	assert_int_equal(srpol_maxmin_run(&net, &run), 0);
	is(finish[0], 0);
	is(finish[1], INFINITY);
}

/*
 * Random networks: no link is over its capacity, and every flow has a link that
 * is full and on which no flow is faster: that is max-min fairness.
 */
static void fair(void **state)
{
	(void)state;
	uint32_t begin[201], at[1200], n, u, f, i, j, l;
	double room[30], rate[200], one[1200], load[30], most;
	u64 seed = 9;

	for (n = 1; n <= 200; n += 7) {
		for (l = 0; l < 30; l++)
			room[l] = test_random(&seed) % 100;
		for (f = 0, u = 0; f < n; f++) {
			begin[f] = u;
			l = test_random(&seed) % 5;
			for (i = test_random(&seed) % 5 + 1; i; i--) {
				at[u] = l;
				one[u++] = 1;
				l += test_random(&seed) % 5 + 1;
			}
		}
		begin[n] = u;
		struct srpol_maxmin net = {
			.n_links = 30, .capacity = room, .n_flows = n,
			.first = begin, .link = at, .part = one,
		};

		assert_int_equal(srpol_maxmin_rates(&net, NULL, rate), 0);
		memset(load, 0, sizeof(load));
		for (f = 0; f < n; f++)
			for (i = begin[f]; i < begin[f + 1]; i++)
				load[at[i]] += rate[f];
		for (l = 0; l < 30; l++)
			assert_true(load[l] <= room[l] * (1 + 1e-9));
		for (f = 0; f < n; f++) {
			for (i = begin[f]; i < begin[f + 1]; i++) {
				if (load[at[i]] < room[at[i]] * (1 - 1e-9))
					continue;
				for (j = 0, most = 0; j < u; j++) {
					uint32_t g = 0;

					while (begin[g + 1] <= j)
						g++;
					if (at[j] == at[i] && rate[g] > most)
						most = rate[g];
				}
				if (most <= rate[f] * (1 + 1e-9))
					break;
			}
			assert_true(i < begin[f + 1]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(parts),
		cmocka_unit_test(times),
		cmocka_unit_test(events),
		cmocka_unit_test(no_links_no_capacity),
		cmocka_unit_test(fair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
