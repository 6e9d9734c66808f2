// SPDX-License-Identifier: GPL-2.0
/*
 * What flows of jobs sent since the last look, from a table whose entries come
 * and go (which is said here): flows of others, entries that were given away.
 */
#include <errno.h>
#include <string.h>

#include "srpold.h"
#include "test.h"

#define ENTRIES		8

struct vec jobs = VEC_INIT(struct job);
static struct engine engine;
static struct srpol_flow table[ENTRIES];
static struct policy_info policy[3];
static int fetched, opened, complaints;
static bool walked;
static struct vec all = VEC_INIT(struct job_flow);

int srpol_fetch(struct srpol_genl *g, uint8_t cmd, struct vec *vec,
		struct srpol_error *err)
{
	size_t i;

	assert_int_equal(cmd, SRPOL_CMD_POLICY_GET);
	for (i = 0; !fetched && i < ARRAY_SIZE(policy); i++)
		*(struct policy_info *)vec_add(vec) = policy[i];
	return fetched;
}

int srpol_flows_open(struct srpol_flow_table *t)
{
	walked = false;
	return opened;
}

void srpol_flows_close(struct srpol_flow_table *t)
{
}

bool srpol_flows_next(const struct srpol_flow_table *t, uint32_t *nr,
		      struct srpol_flow *flow, struct srpol_flow_detail *detail)
{
	walked = true;
	while (*nr < ENTRIES) {
		*flow = table[(*nr)++];
		if (flow->head.tag & 1)
			return true;
	}
	return false;
}

void log_debug(const char *fmt, ...)
{
}

void log_error(const char *fmt, ...)
{
	complaints++;
}

/* A flow of the first job. */
static struct srpol_flow *put(uint32_t nr, uint32_t qp, uint64_t bytes)
{
	struct srpol_flow *flow = &table[nr];

	*flow = (struct srpol_flow){
		.head.tag = 1, .key.roce = 1, .key.qp = qp, .cache.policy = 5,
		.rule_id = 9, .path = 70 + nr, .bytes = bytes,
	};
	((uint8_t *)flow->key.daddr)[15] = 2;
	((uint8_t *)flow->key.saddr)[15] = 1;
	return flow;
}

static const struct job_flow *look(size_t n)
{
	vec_free(&all);
	assert_true(job_flows(&engine, &all));
	assert_int_equal(all.n, n);
	return all.data;
}

static int set_up(void **state)
{
	struct job *job;
	uint32_t i;

	vec_free(&jobs);
	fetched = opened = 0;
	memset(table, 0, sizeof(table));
	for (i = 0; i < 3; i++) {
		policy[i].id = 7 - i;
		policy[i].color = 10 + i;
		policy[i].endpoint.s6_addr[15] = 2 + i;
		job = vec_add(&jobs);
		job->slot = 2 - i;
		job->color = 10 + i;
		/* the one in the middle is hashed */
		job->placed = i != 1;
	}
	/* nothing of the test before */
	look(0);
	return 0;
}

static void test_whose(void **state)
{
	const struct job_flow *flow;

	put(0, 17, 100);
	put(1, 16, 100);
	put(2, 1, 100);			/* for management */
	put(3, 18, 100)->key.roce = 0;
	put(4, 19, 100)->cache.policy = 6;	/* hashed */
	put(5, 20, 100)->cache.policy = 8;	/* of no job */
	put(6, 21, 100)->cache.policy = 7;
	put(7, 22, 100)->rule_id = 0;	/* at a binding SID */
	flow = look(3);
	assert_int_equal(flow[0].slot, 0);
	assert_int_equal(flow[0].qp, 16);
	assert_int_equal(flow[0].takes, 71);
	assert_int_equal(flow[0].dst.s6_addr[15], 2);
	assert_int_equal(flow[0].src.s6_addr[15], 1);
	assert_int_equal(flow[0].endpoint.s6_addr[15], 4);
	assert_int_equal(flow[1].qp, 17);
	assert_int_equal(flow[2].slot, 2);
	assert_int_equal(flow[2].qp, 21);
	assert_int_equal(flow[2].endpoint.s6_addr[15], 2);
}

/* Of a job that is gone, whose policy had the number that this one's has. */
static void test_before(void **state)
{
	((struct job *)jobs.data)[2].since_ns = 1000;
	put(0, 17, 100)->last_ns = 999;
	put(1, 18, 100)->last_ns = 1000;
	assert_int_equal(look(1)->qp, 18);
	table[0].last_ns = 1001;
	look(2);
}

/* Each by itself: a QP has several, and one that goes takes nothing back. */
static void test_more(void **state)
{
	const struct job_flow *flow;

	put(0, 17, 1000000);
	put(3, 17, 1000);
	look(2);
	table[0].bytes += 5;
	flow = look(2);
	assert_int_equal(flow[0].more + flow[1].more, 5);
	table[0].head.tag = 0;
	assert_int_equal(look(1)->more, 0);
	table[3].bytes += 7;
	assert_int_equal(look(1)->more, 7);
	/* it is there again, elsewhere or where it was, from the beginning */
	put(5, 17, 30);
	flow = look(2);
	assert_int_equal(flow[0].more + flow[1].more, 30);
	put(5, 17, 20);
	flow = look(2);
	assert_int_equal(flow[0].more + flow[1].more, 20);
}

/* The entry is another QP's, or the number is that of a QP elsewhere. */
static void test_given_away(void **state)
{
	put(2, 17, 1000);
	look(1);
	put(2, 18, 1500);
	assert_int_equal(look(1)->more, 1500);
	((uint8_t *)put(2, 18, 1600)->key.daddr)[15] = 3;
	assert_int_equal(look(1)->more, 1600);
}

/* Nobody knows: that is no look. */
static void test_unknown(void **state)
{
	put(2, 17, 1000);
	look(1);
	put(2, 17, 1100);
	fetched = -EIO;
	assert_false(job_flows(&engine, &all));
	fetched = 0;
	opened = -ENOENT;
	assert_false(job_flows(&engine, &all));
	assert_int_equal(complaints, 0);
	/* told once, as it lasts */
	opened = -EPROTONOSUPPORT;
	assert_false(job_flows(&engine, &all));
	assert_false(job_flows(&engine, &all));
	assert_int_equal(complaints, 1);
	opened = 0;
	assert_int_equal(look(1)->more, 100);
	/* no policy of theirs: the table need not be read */
	policy[0].color = policy[2].color = 99;
	look(0);
	assert_false(walked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_whose, set_up),
		cmocka_unit_test_setup(test_before, set_up),
		cmocka_unit_test_setup(test_more, set_up),
		cmocka_unit_test_setup(test_given_away, set_up),
		cmocka_unit_test_setup(test_unknown, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
