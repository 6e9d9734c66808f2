// SPDX-License-Identifier: GPL-2.0
/*
 * A share of the engine's time: how fast what was taken is paid for, from when on there is
 * time again, and how much of a long answer counts.
 */
#include <time.h>

#include "loop.h"
#include "share.h"
#include "test.h"

#define MS	1000000ull
#define SEC	(1000 * MS)
#define START	(1000 * SEC)

static uint64_t clock_ns, cpu_ns;

uint64_t now_ns(void)
{
	return clock_ns;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	assert_int_equal(id, CLOCK_THREAD_CPUTIME_ID);
	t->tv_sec = cpu_ns / SEC;
	t->tv_nsec = cpu_ns % SEC;
	return 0;
}

static bool is_left_at(struct share *s, uint64_t ns)
{
	struct share_begin now;

	clock_ns = ns;
	now = share_begin();
	return share_is_left(s, &now);
}

static void answer(struct share *s, uint64_t by_cpu, uint64_t by_clock)
{
	struct share_begin begin = share_begin();

	cpu_ns += by_cpu;
	clock_ns += by_clock;
	share_take(s, &begin);
}

static void test_paid(void **state)
{
	static const uint64_t per_s[] = { 200 * MS, 400 * MS, 700 * MS, 1, 390625 };
	struct share s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(per_s) / sizeof(*per_s); i++) {
		s = (struct share){ .per_s = per_s[i], .owed_s = 5, .since_ns = START,
				    .worked_ns = 4 * per_s[i] };
		assert_false(is_left_at(&s, START + SEC - 1));
		assert_int_equal(s.worked_ns, 4 * per_s[i]);
		assert_false(is_left_at(&s, START + SEC));
		assert_int_equal(s.worked_ns, 3 * per_s[i]);
		assert_false(is_left_at(&s, START + 3 * SEC));
		assert_int_equal(s.worked_ns, per_s[i]);
		assert_true(is_left_at(&s, START + 4 * SEC));
		assert_int_equal(s.worked_ns, 0);
	}
	/* nobody asked for centuries */
	s = (struct share){ .per_s = 400 * MS, .worked_ns = 2 * SEC };
	assert_true(is_left_at(&s, UINT64_MAX));
	assert_int_equal(s.worked_ns, 0);
}

static void test_taken(void **state)
{
	struct share s = { .per_s = 400 * MS, .owed_s = 5 };
	struct share web = { .per_s = 400 * MS, .owed_s = 5, .clock_part = 3 };

	(void)state;
	assert_true(is_left_at(&s, START));
	answer(&s, 300 * MS, 3 * SEC);
	assert_int_equal(s.worked_ns, 300 * MS);
	answer(&web, 300 * MS, 3 * SEC);
	assert_int_equal(web.worked_ns, 1 * SEC);
	/* more than is ever paid */
	answer(&s, 7 * SEC, 7 * SEC);
	assert_int_equal(s.worked_ns, 2 * SEC);
}

static uint32_t wait_at(struct share *s, uint64_t ns)
{
	struct share_begin now;

	assert_false(is_left_at(s, ns));
	now = share_begin();
	return share_wait_s(s, &now);
}

/* It is as long as it is said to be, in whole seconds, and no second longer. */
static void test_wait(void **state)
{
	static const uint64_t per_s[] = { 400 * MS, 390625, 7 };
	static const uint64_t at[] = { START, START + 1, START + SEC - 1, START + SEC,
				       START + 3 * SEC / 2 };
	struct share s, later;
	uint64_t worked;
	uint32_t wait;
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(per_s); i++)
		for (k = 0; k < ARRAY_SIZE(at); k++)
			for (worked = 3 * per_s[i]; worked <= 60 * per_s[i];
			     worked += per_s[i] / 3) {
				s = (struct share){ .per_s = per_s[i], .owed_s = 60,
						    .since_ns = START, .worked_ns = worked };
				wait = wait_at(&s, at[k]);
				assert_in_range(wait, 1, 60);
				later = s;
				assert_true(is_left_at(&later, at[k] + wait * SEC));
				later = s;
				assert_false(is_left_at(&later, at[k] + (wait - 1) * SEC));
			}
}

/* Who asks again and again meanwhile does not wait any longer. */
static void test_asked(void **state)
{
	static const uint64_t per_s[] = { 400 * MS, 390625, 7 };
	static const uint64_t every[] = { 1, 100 * MS, 700 * MS, SEC - 1, SEC + 1, 1400 * MS };
	uint64_t worked, end, at;
	struct share s;
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(per_s); i++)
		for (k = 0; k < ARRAY_SIZE(every); k++)
			for (worked = per_s[i]; worked <= 60 * per_s[i]; worked += per_s[i] / 3) {
				s = (struct share){ .per_s = per_s[i], .owed_s = 60,
						    .since_ns = START, .worked_ns = worked };
				at = START + SEC / 3;
				end = at + wait_at(&s, at) * SEC;
				if (every[k] == 1)
					at = end - 3;
				while (at < end && !is_left_at(&s, at))
					at += every[k];
				assert_true(is_left_at(&s, end));
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paid),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
