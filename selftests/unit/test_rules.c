// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's rules and those that the module has: what is made, what goes, and
 * what is left out where there is no room for all.
 */
#include <errno.h>
#include <string.h>

#include "srpold.h"
#include "test.h"

#define PRIO		40000
#define SENT_MAX	64

static struct engine engine = { .rules = VEC_INIT(struct rule_info) };
static struct vec there = VEC_INIT(struct rule_info);
static struct srpol_batch batch;
static uint32_t made[SENT_MAX], deleted[SENT_MAX];
static unsigned int n_made, n_deleted, n_notices;
static uint8_t cmd;
static uint32_t priority;

/* ---- what it needs of the rest */

void srpol_msg_start(struct srpol_genl *g, struct srpol_msg *msg, uint8_t c,
		     uint16_t flags)
{
	cmd = c;
}

bool srpol_msg_put(struct srpol_msg *msg, uint16_t type, size_t len,
		   const void *data)
{
	return true;
}

bool srpol_msg_put_u8(struct srpol_msg *msg, uint16_t type, uint8_t v)
{
	return true;
}

bool srpol_msg_put_u16(struct srpol_msg *msg, uint16_t type, uint16_t v)
{
	return true;
}

bool srpol_msg_put_u32(struct srpol_msg *msg, uint16_t type, uint32_t v)
{
	if (type == SRPOL_A_RULE_PRIORITY)
		priority = v;
	return true;
}

bool srpol_msg_put_u64(struct srpol_msg *msg, uint16_t type, uint64_t v)
{
	return true;
}

int srpol_batch_add(struct srpol_batch *b, const struct nlmsghdr *nlh)
{
	assert_ptr_equal(b, &batch);
	if (cmd == SRPOL_CMD_RULE_NEW)
		made[n_made++] = priority;
	else
		deleted[n_deleted++] = priority;
	return 0;
}

void log_notice(const char *fmt, ...)
{
	n_notices++;
}

/* ---- the tests */

static struct rule_info *add(struct vec *to, uint32_t n, uint32_t path)
{
	struct rule_info *rule = vec_add(to);

	*rule = (struct rule_info){
		.priority = PRIO + n, .name = "j", .color = 7, .path = path,
		.origin = to == &there ? SRPOL_ORIGIN_ENGINE : 0,
	};
	return rule;
}

static void run(uint32_t max)
{
	unsigned int count = 0;

	n_made = n_deleted = 0;
	assert_int_equal(rules_make(&engine, &there, max, &batch, &count), 0);
	assert_int_equal(count, n_made);
	count = 0;
	assert_int_equal(rules_delete(&engine, &there, &batch, &count), 0);
	assert_int_equal(count, n_deleted);
}

static int set_up(void **state)
{
	vec_free(&engine.rules);
	vec_free(&there);
	run(100);
	n_notices = 0;
	return 0;
}

static void test_same(void **state)
{
	add(&engine.rules, 0, 5);
	add(&engine.rules, 1, 0);
	add(&engine.rules, 2, 0);
	run(100);
	assert_int_equal(n_made, 3);
	add(&there, 0, 5);
	add(&there, 1, 0);
	add(&there, 3, 0);
	add(&there, 4, 6)->origin = SRPOL_ORIGIN_STATIC;
	run(100);
	assert_int_equal(n_made, 1);
	assert_int_equal(made[0], PRIO + 2);
	assert_int_equal(n_deleted, 1);
	assert_int_equal(deleted[0], PRIO + 3);
	/* another path; somebody else's at that priority stays */
	((struct rule_info *)there.data)[0].path = 6;
	((struct rule_info *)there.data)[1].color = 8;
	((struct rule_info *)there.data)[1].origin = SRPOL_ORIGIN_STATIC;
	run(100);
	assert_int_equal(n_made, 2);
	assert_int_equal(made[0], PRIO + 2);
	assert_int_equal(made[1], PRIO);
	assert_false(rules_are_left_out());
	/* which is told once */
	run(100);
	assert_int_equal(n_notices, 1);
}

/* Somebody's rules at these priorities, and nobody else's there */
static void only_foreign(uint32_t n, uint32_t more)
{
	there.n = 0;
	add(&there, n, 0)->origin = SRPOL_ORIGIN_STATIC;
	if (more != n)
		add(&there, more, 0)->origin = SRPOL_ORIGIN_STATIC;
}

/* What is in the way is told once: each rule, not how many they are. */
static void test_foreign(void **state)
{
	add(&engine.rules, 0, 0);
	only_foreign(0, 0);
	run(100);
	run(100);
	assert_int_equal(n_notices, 1);
	/* as many, but another one */
	engine.rules.n = 0;
	add(&engine.rules, 1, 0);
	only_foreign(0, 1);
	run(100);
	run(100);
	assert_int_equal(n_notices, 2);
	/* rules of a job that come and go */
	add(&engine.rules, 0, 0);
	run(100);
	engine.rules.n--;
	run(100);
	engine.rules.n++;
	run(100);
	assert_int_equal(n_notices, 2);
	/* somebody's that has gone, and is there again */
	only_foreign(1, 1);
	run(100);
	only_foreign(0, 1);
	run(100);
	assert_int_equal(n_notices, 3);
	/* after a reload, all of them */
	rules_forget();
	run(100);
	run(100);
	assert_int_equal(n_notices, 4);
}

/* A transaction with one rule too many would change nothing at all. */
static void test_room(void **state)
{
	uint32_t i;

	for (i = 0; i < 8; i++)
		add(&engine.rules, i, i < 4 ? 5 : 0);
	for (i = 0; i < 3; i++)
		add(&there, 100 + i, 0);
	add(&there, 3, 9);
	/* those that go leave no room yet, one that is replaced needs none */
	run(9);
	assert_int_equal(n_made, 6);
	for (i = 0; i < 4; i++)
		assert_int_equal(made[i], PRIO + 4 + i);
	assert_int_equal(made[4], PRIO);
	assert_int_equal(made[5], PRIO + 3);
	assert_true(rules_are_left_out());
	assert_int_equal(n_deleted, 3);
	run(3);
	assert_int_equal(n_made, 1);
	assert_int_equal(n_notices, 1);
	there.n = 0;
	run(8);
	assert_int_equal(n_made, 8);
	assert_false(rules_are_left_out());
	run(7);
	assert_int_equal(n_notices, 2);
}

/* Rules that the module does not have as the engine's are counted by color. */
static void test_missing(void **state)
{
	uint32_t i;

	for (i = 0; i < 4; i++)
		add(&engine.rules, i, 0);
	add(&engine.rules, 9, 0)->color = 8;
	for (i = 0; i < 3; i++)
		add(&there, i, 0);
	((struct rule_info *)there.data + 1)->origin = SRPOL_ORIGIN_STATIC;
	assert_int_equal(rules_missing(&engine, &there, 7), 2);
	assert_int_equal(rules_missing(&engine, &there, 8), 1);
	assert_int_equal(rules_missing(&engine, &there, 9), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_same, set_up),
		cmocka_unit_test_setup(test_foreign, set_up),
		cmocka_unit_test_setup(test_room, set_up),
		cmocka_unit_test_setup(test_missing, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
