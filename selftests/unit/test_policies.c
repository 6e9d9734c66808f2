// SPDX-License-Identifier: GPL-2.0
/*
 * Backup colors in the module's policies: jobs' are the engine's, others an
 * operator's; and what watchers are told of them.
 */
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <string.h>

#include "srpold.h"
#include "test.h"

#define UNSAID	UINT32_MAX

static struct engine engine;

/* ---- what it needs of the rest */

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	return (struct engine_path *)e->paths.data + index;
}

static unsigned int notices;

void log_notice(const char *fmt, ...)
{
	(void)fmt;
	notices++;
}

/* The backup color that the last request sets. */
static uint32_t said;

int srpol_batch_add(struct srpol_batch *batch, const struct nlmsghdr *nlh)
{
	const struct nlattr *attr;

	(void)batch;
	said = UNSAID;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == SRPOL_A_POLICY_BACKUP_COLOR)
			said = mnl_attr_get_u32(attr);
	return 0;
}

/* ---- one policy of a job or to all peers, and what the module has */

static struct engine_policy wanted;
static struct policy_info there;

/* Makes the policy; returns how many requests that takes. */
static unsigned int make(bool is_there)
{
	struct vec have = { .data = &there, .size = sizeof(there),
			    .n = is_there };
	struct srpol_batch batch = {};
	unsigned int made = 0;

	engine.policies = (struct vec){ .data = &wanted,
					.size = sizeof(wanted), .n = 1 };
	assert_int_equal(policies_make(&engine, &have, &batch, &made), 0);
	return made;
}

static int up(void **state)
{
	(void)state;
	wanted = (struct engine_policy){ .color = 10, .name = "j",
					 .of_job = true, .backup = 100 };
	there = (struct policy_info){
		.color = 10, .name = "j", .origin = SRPOL_ORIGIN_ENGINE,
		.backup_color = 100, .n_candidates = 1,
		.candidates[0] = {
			.protocol_origin = SRPOL_PROTOCOL_ORIGIN_CONFIG,
			.node = IN6ADDR_LOOPBACK_INIT, .discriminator = 1,
			.preference = 50, .active = true,
		},
	};
	said = UNSAID;
	return 0;
}

static void of_job(void **state)
{
	(void)state;
	assert_int_equal(make(false), 1);
	assert_int_equal(said, 100);
	assert_true(wanted.has_backup);
	assert_int_equal(make(true), 0);
	/* what somebody set there is replaced */
	there.backup_color = 7;
	assert_int_equal(make(true), 1);
	assert_int_equal(said, 100);
	wanted.backup = 0;
	assert_int_equal(make(true), 1);
	assert_int_equal(said, 0);
	assert_false(wanted.has_backup);
}

static void to_peers(void **state)
{
	(void)state;
	wanted.of_job = false;
	wanted.backup = 0;
	assert_int_equal(make(true), 0);
	assert_true(wanted.has_backup);
	there.backup_color = 0;
	assert_int_equal(make(true), 0);
	assert_false(wanted.has_backup);
	assert_int_equal(make(false), 1);
	assert_int_equal(said, UNSAID);
}

/* It stays as it is: what counts is what the module has. */
static void of_others(void **state)
{
	(void)state;
	there.origin = SRPOL_ORIGIN_STATIC;
	there.backup_color = 0;
	assert_int_equal(make(true), 0);
	assert_true(wanted.is_others);
	assert_false(wanted.has_backup);
	there.backup_color = 7;
	wanted.backup = 0;
	assert_int_equal(make(true), 0);
	assert_true(wanted.has_backup);
}

/* That is told once, however often the engine looks, and again if it is so anew. */
static void told_once(void **state)
{
	(void)state;
	notices = 0;
	there.origin = SRPOL_ORIGIN_STATIC;
	make(true);
	assert_int_equal(notices, 1);
	make(true);
	make(true);
	assert_int_equal(notices, 1);
	there.origin = SRPOL_ORIGIN_ENGINE;
	make(true);
	there.origin = SRPOL_ORIGIN_STATIC;
	make(true);
	assert_int_equal(notices, 2);
}

/* Whose weights are in force, and by which preference. */
static void in_force(void **state)
{
	uint32_t preference = 0;

	(void)state;
	assert_string_equal(policies_by(&there, &preference), "engine");
	assert_int_equal(preference, 50);
	there.n_candidates = 2;
	there.candidates[1] = there.candidates[0];
	there.candidates[0].active = false;
	there.candidates[1].discriminator = 2;
	there.candidates[1].preference = 100;
	assert_string_equal(policies_by(&there, &preference), "plan");
	assert_int_equal(preference, 100);
	there.candidates[1].protocol_origin = SRPOL_PROTOCOL_ORIGIN_BGP;
	there.candidates[1].preference = 200;
	assert_string_equal(policies_by(&there, &preference), "operator");
	assert_int_equal(preference, 200);
	there.candidates[1].active = false;
	assert_null(policies_by(&there, &preference));
	there.origin = SRPOL_ORIGIN_STATIC;
	there.candidates[0].active = true;
	assert_string_equal(policies_by(&there, &preference), "operator");
}

#define TEST(f)	cmocka_unit_test_setup(f, up)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(of_job),
		TEST(to_peers),
		TEST(of_others),
		TEST(told_once),
		TEST(in_force),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
