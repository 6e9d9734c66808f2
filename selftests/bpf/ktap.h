/* SPDX-License-Identifier: GPL-2.0 */
/* KTAP for the C test programs: a table of tests, one line of result each. */
#ifndef _SRPOL_TEST_KTAP_H
#define _SRPOL_TEST_KTAP_H

#include <stdbool.h>
#include <stdio.h>

/**
 * struct ktap_test - a test
 * @name: what it shows
 * @run: fails by FAIL() or CHECK(), returns in any case
 */
struct ktap_test {
	const char *name;
	void (*run)(void);
};

/* Failures of the running test; after the first few they are only counted. */
extern unsigned int ktap_failures;

#define KTAP_SHOWN	8

#define FAIL(fmt, ...)							\
	do {								\
		if (ktap_failures++ < KTAP_SHOWN)			\
			printf("# %s:%d: " fmt "\n", __FILE__,		\
			       __LINE__, ##__VA_ARGS__);		\
	} while (0)

/* CHECK(condition, "what it was about", ...): false if it does not hold. */
#define CHECK(cond, fmt, ...)						\
	({								\
		bool holds_ = (cond);					\
									\
		if (!holds_)						\
			FAIL("%s: " fmt, #cond, ##__VA_ARGS__);		\
		holds_;							\
	})

#define CHECK_EQ(got, want, fmt, ...)					\
	({								\
		long long got_ = (got), want_ = (want);			\
									\
		if (got_ != want_)					\
			FAIL("%s is %lld, not %lld: " fmt, #got, got_,	\
			     want_, ##__VA_ARGS__);			\
		got_ == want_;						\
	})

/**
 * ktap_main - run a table of tests
 * @tests: tests
 * @n: how many
 *
 * Return: exit status of the program.
 */
int ktap_main(const struct ktap_test *tests, unsigned int n);

/* ktap_skip_all - nothing of this program can run here; exits. */
void ktap_skip_all(const char *why) __attribute__((noreturn));

#endif /* _SRPOL_TEST_KTAP_H */
