// SPDX-License-Identifier: GPL-2.0
/*
 * When a policy has the plan's candidate path: not while this host knows something of a
 * link of its paths that the plan has not seen. What the host reports is as it is; who
 * brings plans is the test.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srpold.h"
#include "test.h"
#include "watchers.h"

#define PATHS	2
#define CABLES	5

static struct srpol_gpu gpus[2] = { { .host = 0 }, { .host = 1 } };
static struct srpol_node nodes[2] = { { .name = "A" }, { .name = "B" } };
static struct srpol_link cables[2 * CABLES];
static struct srpol_fabric fabric = {
	.nodes = nodes, .n_nodes = 2, .gpus = gpus, .n_gpus = 2,
	.links = cables, .n_links = 2 * CABLES,
};
static struct srpol_links links;
static struct engine engine = { .fabric = &fabric, .links.links = &links };
static struct follow *follow;
static struct follow_plan first, second, third;
static uint64_t saved;			/* number of the report on disk, of cable 0 */
static unsigned int transactions;
static bool done;			/* the last one, not refused */
static bool refused;
static int refusal;
static bool is_behind;
static unsigned int fetched;		/* how often plans were read again */
static uint32_t lacking;		/* host that cannot be followed, as a descriptor lacks */
static int unusable;			/* why the bus's files are */
static bool has_backup;			/* so does each plan */
static unsigned int starts, built;
static struct alarm *alarm;		/* that is set */
static uint64_t alarm_ns;		/* how long it takes */
static unsigned int told;

/* ---- the follower, but for its report */

static int apply(struct follow_plan *plan)
{
	int ret;

	plan->plan = (struct srpol_plan *)plan;
	ret = follow->apply(follow->data, plan);
	if (!ret)
		follow->now = plan;
	return ret;
}

int follow_start(struct follow *f, struct srpol_error *err)
{
	starts++;
	if (f->host == lacking)
		return -EMFILE;
	f->links = (struct vec)VEC_INIT(struct follow_link);
	f->suspicions = (struct vec)VEC_INIT(struct follow_suspicion);
	f->near = (struct vec)VEC_INIT(struct follow_near);
	f->number = saved;
	if (saved)
		((struct follow_link *)vec_add(&f->links))->cable = 0;
	follow = f;
	return apply(&first);
}

void follow_stop(struct follow *f)
{
	vec_free(&f->links);
}

void follow_again(struct follow *f)
{
	assert_ptr_equal(f, follow);
	fetched++;
}

void tell_soon(struct follow *f)
{
}

uint64_t last_save(struct follow *f)
{
	return 0;
}

uint64_t now_ns(void)
{
	return 1;
}

void follow_measured(struct follow *f, const struct follow_load *loads, size_t n)
{
}

void follow_demands(struct follow *f, const struct srpol_forecasts *now, uint64_t now_ms)
{
}

/* ---- what it needs of the rest */

int srpol_plan_weigh(const struct srpol_fabric *f, const struct srpol_links *state,
		     const struct srpol_plan *plan, uint32_t src, uint32_t dst, uint32_t color,
		     uint32_t *weight, uint32_t max)
{
	uint32_t i;

	assert_int_equal(max, PATHS);
	for (i = 0; i < max; i++)
		weight[i] = 1 + i;
	return max;
}

const struct srpol_backup *srpol_backup_find(const struct srpol_index *index, uint32_t color)
{
	return NULL;
}

bool backup_changes(const struct srpol_index *now, const struct srpol_index *next)
{
	return has_backup && !now != !next;
}

struct engine_path *engine_path(struct engine *e, uint32_t index)
{
	return (struct engine_path *)e->paths.data + index;
}

uint32_t srpol_fabric_node(const struct srpol_fabric *f, const char *name)
{
	return strcmp(name, "A") != 0;
}

void *store_alloc(size_t size)
{
	return calloc(1, size + 1);
}

int jobs_build(struct engine *e, bool keep, struct srpol_error *err)
{
	built++;
	return 0;
}

int balance_weigh(struct engine *e, bool *changed, struct srpol_error *err)
{
	return 0;
}

int reconcile(struct engine *e, struct srpol_error *err)
{
	transactions++;
	done = !refused;
	return refused ? refusal : 0;
}

bool reconcile_done(void)
{
	return done;
}

void reconcile_undone(void)
{
	done = false;
}

int bus_check(const struct bus_config *config, struct srpol_error *err)
{
	return unusable;
}

void watchers_rebuilt(void)
{
}

void watch_look_later(void)
{
}

void watch_hear(void)
{
	done &= !is_behind;
}

void limits_soon(void)
{
}

void folder_of(const char *path)
{
}

void log_error(const char *fmt, ...)
{
	told++;
}

int alarm_set(struct alarm *which, uint64_t ns)
{
	/* as it is: one that is set stays */
	if (alarm)
		return 0;
	alarm = which;
	alarm_ns = ns;
	return 0;
}

void alarm_stop(struct alarm *which)
{
	alarm = NULL;
}

static struct engine_policy *policy(void)
{
	return engine.policies.data;
}

/* Two planes: cables 0 and 1 of A, 2 and 3 of B, which probes do not take. */
static int set_up(void **state)
{
	struct engine_policy *p;
	struct engine_path *path;
	uint32_t i;

	engine.paths = (struct vec)VEC_INIT(struct engine_path);
	engine.policies = (struct vec)VEC_INIT(struct engine_policy);
	for (i = 0; i < PATHS; i++) {
		path = vec_add(&engine.paths);
		path->links.n = 1;
		path->links.link[0] = i;
		path->last = 2 * (2 + i);
	}
	p = vec_add(&engine.policies);
	p->n = PATHS;
	p->dst = 1;
	engine.n_own = 1;
	engine.config.fabric.is_set = true;
	engine.config.n_hosts = 1;
	strcpy(engine.config.hosts[0], "A");
	first = second = (struct follow_plan){};
	third = (struct follow_plan){ .head.epoch = 3 };
	saved = transactions = fetched = starts = built = told = 0;
	refused = done = has_backup = is_behind = false;
	refusal = -EBUSY;
	lacking = SRPOL_NONE;
	unusable = 0;
	return plan_start(&engine, NULL);
}

static int end(void **state)
{
	plan_stop();
	free(policy()->planned);
	vec_free(&engine.policies);
	vec_free(&engine.paths);
	return 0;
}

/* This cable is down, and no other one; SRPOL_NONE: none */
static void report(uint32_t cable)
{
	struct follow_link link = { .cable = cable };
	struct follow_known known = { .links = &link, .n_links = cable != SRPOL_NONE };

	assert_true(plan_tell(&known));
}

static void is_planned(bool is)
{
	plan_weigh();
	assert_int_equal(policy()->planned != NULL, is);
}

static void test_links(void **state)
{
	uint32_t cable;

	is_planned(true);
	for (cable = 0; cable < 2; cable++) {
		report(cable);
		is_planned(false);
	}
	report(4);
	is_planned(true);
}

/* The peer's own cables: a feed says that one carries a quarter, say. */
static void test_last(void **state)
{
	uint32_t cable;

	for (cable = 2; cable < 4; cable++) {
		report(cable);
		is_planned(false);
	}
	report(SRPOL_NONE);
	is_planned(true);
}

/* Of a job: what it does not use is others', up to the peer's own cable. */
static void test_slice(void **state)
{
	bool slice[PATHS] = { true, false };

	policy()->slice = slice;
	is_planned(true);
	report(1);
	is_planned(true);
	report(3);
	is_planned(true);
	report(0);
	is_planned(false);
	report(2);
	is_planned(false);
	policy()->slice = NULL;
}

/*
 * A plan that has seen the report is in force once it is applied: it is acknowledged
 * then, and others get what the plan before had.
 */
static void test_applied(void **state)
{
	plan_started();
	report(0);
	is_planned(false);
	second.seen = follow->number;
	assert_int_equal(apply(&second), 0);
	assert_non_null(policy()->planned);
	assert_int_equal(transactions, 1);
}

/* The plan that was in force has not seen it, also if the module refuses the next one. */
static void test_refused(void **state)
{
	plan_started();
	report(0);
	is_planned(false);
	second.seen = follow->number;
	refused = true;
	assert_int_equal(apply(&second), -EBUSY);
	assert_null(policy()->planned);
	is_planned(false);
}

/*
 * The module has refused the weights when they came into force again, by what the host
 * reports: a plan that has the same ones is not in force before the module has them.
 */
static void test_behind(void **state)
{
	plan_started();
	assert_int_equal(reconcile(&engine, NULL), 0);
	report(0);
	is_planned(false);
	assert_int_equal(reconcile(&engine, NULL), 0);
	report(SRPOL_NONE);
	is_planned(true);
	refused = true;
	assert_int_equal(apply(&second), -EBUSY);
	refused = false;
	assert_int_equal(apply(&second), 0);
	/* it has them now, and is not asked for nothing */
	transactions = 0;
	assert_int_equal(apply(&first), 0);
	assert_int_equal(transactions, 0);
}

/*
 * The module may lack the weights of a plan for other reasons: its objects were deleted, or
 * it was loaded anew, and it has refused what restores them.
 */
static void test_lacks(void **state)
{
	plan_started();
	assert_int_equal(reconcile(&engine, NULL), 0);
	refused = true;
	assert_int_equal(reconcile(&engine, NULL), -EBUSY);
	assert_int_equal(apply(&second), -EBUSY);
	refused = false;
	assert_int_equal(reconcile(&engine, NULL), 0);
	transactions = 0;
	assert_int_equal(apply(&second), 0);
	assert_int_equal(transactions, 0);
	/* this was heard, and not looked at yet */
	reconcile_undone();
	refused = true;
	assert_int_equal(apply(&first), -EBUSY);
	refused = false;
	assert_int_equal(apply(&first), 0);
	/* nor heard */
	is_behind = refused = true;
	assert_int_equal(apply(&second), -EBUSY);
}

/* The alarm rings after as many seconds, the plan is read, and applied or refused. */
static int read_after(uint64_t seconds, struct follow_plan *plan)
{
	struct alarm *ringing = alarm;

	assert_non_null(ringing);
	assert_int_equal(alarm_ns, seconds * 1000 * NS_PER_MS);
	alarm = NULL;
	fetched = 0;
	ringing->ring(ringing->data);
	assert_int_equal(fetched, 1);
	return apply(plan);
}

/*
 * A plan that was refused, for a moment or for good, is read again, also if the module took
 * the one before; each time after longer, and what is wrong is told once.
 */
static void test_again(void **state)
{
	unsigned int i, seconds = 1;

	plan_started();
	assert_null(alarm);
	refused = true;
	assert_int_equal(apply(&second), -EBUSY);
	for (i = 0; i < 10; i++) {
		assert_int_equal(read_after(seconds, &second), -EBUSY);
		seconds = seconds < 16 ? 2 * seconds : 30;
	}
	assert_int_equal(told, 1);
	/* what keeps it for good may be another thing than what it was refused for first */
	refusal = -ENOSPC;
	assert_int_equal(read_after(30, &second), -ENOSPC);
	assert_int_equal(read_after(30, &second), -ENOSPC);
	assert_int_equal(told, 2);
	refusal = -EBUSY;
	/* another one, while the former is waited for */
	assert_int_equal(apply(&third), -EBUSY);
	assert_int_equal(told, 3);
	refused = false;
	assert_int_equal(read_after(1, &third), 0);
	assert_null(alarm);
	reconcile_undone();
	refused = true;
	assert_int_equal(apply(&second), -EBUSY);
	assert_int_equal(alarm_ns, 1000 * NS_PER_MS);
	assert_int_equal(told, 4);
}

/* The module takes transactions again: that shortens the wait, once for each attempt. */
static void test_soon(void **state)
{
	plan_started();
	plan_retry();
	assert_null(alarm);
	refused = true;
	assert_int_equal(apply(&second), -EBUSY);
	assert_int_equal(read_after(1, &second), -EBUSY);
	assert_int_equal(read_after(2, &second), -EBUSY);
	plan_retry();
	assert_int_equal(alarm_ns, 1000 * NS_PER_MS);
	/* it would never ring if each change began it anew */
	alarm_ns = 0;
	plan_retry();
	assert_int_equal(alarm_ns, 0);
	refused = false;
	assert_int_equal(read_after(0, &second), 0);
	plan_retry();
	assert_null(alarm);
}

/* Nor has the one on disk seen a report that is newer, from the beginning. */
static void test_saved(void **state)
{
	plan_stop();
	saved = 2;
	first.seen = 1;
	assert_int_equal(plan_start(&engine, NULL), 0);
	assert_null(policy()->planned);
	plan_stop();
	first.seen = 2;
	assert_int_equal(plan_start(&engine, NULL), 0);
	assert_non_null(policy()->planned);
}

/* Nothing was followed, and is now: the caller hands over what is on disk with the rest. */
static void test_late(void **state)
{
	plan_stop();
	plan_started();
	saved = 2;
	first.seen = 2;
	assert_int_equal(plan_start(&engine, NULL), 0);
	assert_non_null(policy()->planned);
	assert_int_equal(transactions, 0);
}

/*
 * One of two hosts cannot be followed, or files cannot be used, which is tried again and
 * again: nothing is known of plans then, and no job is made anew, since nobody would tell
 * the module.
 */
static void test_fails(void **state)
{
	plan_stop();
	is_planned(false);
	has_backup = true;
	engine.config.n_hosts = 2;
	strcpy(engine.config.hosts[1], "B");
	lacking = 1;
	assert_int_equal(plan_start(&engine, NULL), -EMFILE);
	assert_false(plan_is_followed());
	assert_null(policy()->planned);
	assert_int_equal(built, 0);
	lacking = SRPOL_NONE;
	engine.config.fabric.follow.bus.servers.n = 1;
	unusable = -EINVAL;
	starts = 0;
	assert_int_equal(plan_start(&engine, NULL), -EINVAL);
	assert_int_equal(starts, 0);
	assert_false(plan_is_followed());
	unusable = 0;
	assert_int_equal(plan_start(&engine, NULL), 0);
	assert_non_null(policy()->planned);
	assert_int_equal(built, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_links, set_up, end),
		cmocka_unit_test_setup_teardown(test_last, set_up, end),
		cmocka_unit_test_setup_teardown(test_slice, set_up, end),
		cmocka_unit_test_setup_teardown(test_applied, set_up, end),
		cmocka_unit_test_setup_teardown(test_refused, set_up, end),
		cmocka_unit_test_setup_teardown(test_behind, set_up, end),
		cmocka_unit_test_setup_teardown(test_lacks, set_up, end),
		cmocka_unit_test_setup_teardown(test_again, set_up, end),
		cmocka_unit_test_setup_teardown(test_soon, set_up, end),
		cmocka_unit_test_setup_teardown(test_saved, set_up, end),
		cmocka_unit_test_setup_teardown(test_late, set_up, end),
		cmocka_unit_test_setup_teardown(test_fails, set_up, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
