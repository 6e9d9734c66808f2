// SPDX-License-Identifier: GPL-2.0
/*
 * Leader election with a clock, alarms and a store of its own: how long leases last after
 * long computations, and what a leader does that gave up while its key is still there.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabricd.h"
#include "test.h"

#define LEASE_S		4
#define MINUTE_NS	(60 * NS_PER_SEC)
#define ALARMS		4

struct fabricd fabricd;

static bool creeps;		/* time passes with each look at the clock */
static uint64_t clock_ns, cpu_ns;
static struct {
	struct alarm *alarm;
	uint64_t ns;
} set[ALARMS];
static bool backwards;

/* the store */
static uint64_t revision, granted;	/* the last lease */
static uint64_t leased, key, key_lease;	/* those there are; when @key was created */
static uint32_t granted_s;
static struct mirror *mirror;
static bool holds, holds_txn;
static unsigned int lost_revokes;	/* so many that are to come */
static uint64_t answer_takes, plan_takes;
static store_reply_fn held;	/* callback of an answer that is late */

/* the log */
static char text[256], reason[sizeof(text)];
static unsigned int longer;

uint64_t now_ns(void)
{
	return clock_ns += creeps;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	t->tv_sec = cpu_ns / NS_PER_SEC;
	t->tv_nsec = cpu_ns % NS_PER_SEC;
	return 0;
}

void alarm_stop(struct alarm *alarm)
{
	size_t i;

	for (i = 0; i < ALARMS; i++)
		if (set[i].alarm == alarm)
			set[i].alarm = NULL;
}

int alarm_set(struct alarm *alarm, uint64_t ns)
{
	size_t i = 0;

	while (set[i].alarm)
		assert_true(++i < ALARMS);
	set[i].alarm = alarm;
	set[i].ns = clock_ns + ns;
	return 0;
}

/* Whether alarm @i rings before @next: those that are late ring in any order. */
static bool is_before(size_t i, size_t next)
{
	bool late = set[i].ns <= clock_ns && set[next].ns <= clock_ns;

	return (set[i].ns < set[next].ns) != (late && backwards);
}

/* Rings all alarms of this time. */
static void pass(uint64_t ns)
{
	uint64_t end = clock_ns + ns;
	struct alarm *alarm;
	size_t i, next;

	while (true) {
		for (i = 0, next = ALARMS; i < ALARMS; i++)
			if (set[i].alarm && set[i].ns <= end &&
			    (next == ALARMS || is_before(i, next)))
				next = i;
		if (next == ALARMS)
			break;
		if (set[next].ns > clock_ns)
			clock_ns = set[next].ns;
		alarm = set[next].alarm;
		set[next].alarm = NULL;
		alarm->ring(alarm->data);
	}
	clock_ns = end;
}

static void compute(uint64_t ns)
{
	clock_ns += ns;
	cpu_ns += ns;
}

static void idle(uint64_t ns)
{
	clock_ns += ns;
}

static struct store_reply reply(void)
{
	return (struct store_reply){ .revision = revision };
}

static void lease(struct store *store, uint32_t seconds, uint64_t id, store_reply_fn fn,
		  void *data)
{
	struct store_reply r = reply();

	compute(answer_takes);
	if (holds) {
		held = fn;
		return;
	}
	if (!id) {
		leased = ++granted;
		granted_s = seconds;
	}
	r.lease = id && id != leased ? 0 : leased;
	fn(data, &r);
}

static void txn(struct store *store, const struct store_txn *t, store_reply_fn fn,
		void *data)
{
	struct store_kv kv = { .key = "leader", .value = "", .create = key,
			       .mod = key, .lease = key_lease };
	struct store_reply r;

	r = reply();
	if (t->put[0].lease != leased) {
		r.error = -EIO;
	} else if (!key) {
		key = r.revision = ++revision;
		key_lease = t->put[0].lease;
		r.succeeded = true;
	} else {
		r.kvs = &kv;
		r.n = 1;
	}
	if (holds || holds_txn)
		held = fn;
	else
		fn(data, &r);
}

static void end_lease(uint64_t id)
{
	struct store_kv gone = { .key = "leader", .mod = revision + 1 };

	if (leased == id)
		leased = 0;
	if (key_lease != id)
		return;
	revision++;
	key = key_lease = 0;
	mirror->set(NULL, &gone);
	mirror->end(NULL);
}

static void take_revoke(struct store *store, uint64_t id, store_reply_fn fn, void *data)
{
	struct store_reply r = reply();

	if (lost_revokes) {
		lost_revokes--;
		r.error = -EIO;
	} else {
		end_lease(id);
	}
	fn(data, &r);
}

static const struct store_ops ops = { .lease = lease, .txn = txn, .revoke = take_revoke };

void mirror_start(struct mirror *m)
{
	mirror = m;
}

void mirror_stop(struct mirror *m)
{
}

const char *key_leader(char *buf)
{
	return strcpy(buf, "leader");
}

void log_notice(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (strstr(text, "no longer leader"))
		strcpy(reason, text);
	longer += strstr(text, "its lease will last") != NULL;
}

void other_topology_look(void)
{
}

/* The real one waits for the store before that. */
void plan_takeover(void)
{
	compute(plan_takes);
	fabricd.stats.plans++;
}

void plan_stop(void)
{
}

void loop_run_for(uint64_t ns)
{
}

static void assert_leads(void)
{
	assert_int_not_equal(fabricd.term, 0);
	assert_int_equal(fabricd.term, key);
	assert_string_equal(fabricd.leader, "one");
}

static int setup(void **state)
{
	fabricd.config.lease_s = LEASE_S;
	strcpy(fabricd.config.name, "one");
	fabricd.store.ops = &ops;
	clock_ns = NS_PER_SEC;
	leader_start();
	assert_leads();
	assert_int_equal(granted_s, LEASE_S);
	return 0;
}

/* What comes first after a computation is an answer, or the alarm. */
static void test_longer(void **state)
{
	pass(MINUTE_NS);
	assert_int_equal(granted, 1);
	compute(20 * NS_PER_SEC);
	end_lease(key_lease);
	pass(LEASE_S * NS_PER_SEC);
	assert_leads();
	assert_true(granted_s > 4 * (20 - LEASE_S) && granted_s <= 4 * 20);
}

static void test_shorter(void **state)
{
	pass(9 * MINUTE_NS);
	assert_int_equal(granted, 2);
	compute(19 * NS_PER_SEC);
	pass(9 * MINUTE_NS);
	assert_int_equal(granted, 2);
	pass(15 * MINUTE_NS);
	assert_leads();
	assert_int_equal(granted, 3);
	assert_int_equal(granted_s, LEASE_S);
}

/* The key is another's for some time. */
static void test_standby(void **state)
{
	uint64_t mine = key_lease;

	key_lease = leased = 0;
	key = ++revision;
	pass(2 * LEASE_S * NS_PER_SEC);
	assert_int_equal(fabricd.term == mine, 0);
	leader_fenced();
	/* who leads it has not heard, but it is not this one */
	assert_string_equal(fabricd.leader, "");
	compute(20 * NS_PER_SEC);
	pass(MINUTE_NS);
	assert_int_equal(fabricd.term, 0);
	key = 0;
	pass(MINUTE_NS);
	assert_leads();
	assert_int_equal(granted_s, LEASE_S);
}

/* It says when the leader looks next, but the computation before it counts. */
static void test_error_first(void **state)
{
	struct store_reply error = { .error = -EIO };

	holds = true;
	pass(LEASE_S * NS_PER_SEC / 2);
	assert_non_null(held);
	compute(20 * NS_PER_SEC);
	holds = false;
	held(NULL, &error);
	pass(MINUTE_NS);
	assert_leads();
	assert_non_null(strstr(reason, "a computation took too long"));
	assert_true(granted_s > 4 * (20 - LEASE_S) && granted_s <= 4 * 20);
}

/* It answers somebody at length, and hears only then that it leads. */
static void answer_late(bool after_lost)
{
	struct store_kv gone = { .key = "leader" }, kv = { .key = "leader", .value = "" };
	struct store_reply r = { .succeeded = true }, error = { .error = -EIO };
	store_reply_fn lost;

	pass(30 * MINUTE_NS);
	assert_int_equal(granted_s, LEASE_S);
	key_lease = leased = 0;
	key = ++revision;
	pass(2 * LEASE_S * NS_PER_SEC);
	assert_int_equal(fabricd.term, 0);
	key = 0;
	gone.mod = ++revision;
	held = NULL;
	holds = true;
	mirror->set(NULL, &gone);
	mirror->end(NULL);
	assert_non_null(held);
	if (after_lost) {
		lost = held;
		held = NULL;
		holds = false;
		holds_txn = true;
		lost(NULL, &error);
		pass(NS_PER_SEC);
		assert_non_null(held);
		kv.create = key;
		kv.lease = key_lease;
		r = (struct store_reply){ .kvs = &kv, .n = 1 };
	}
	compute(20 * NS_PER_SEC);
	holds = holds_txn = false;
	r.revision = key;
	reason[0] = '\0';
	held(NULL, &r);
	/* with a lease that is over */
	assert_int_equal(fabricd.term, 0);
	pass(MINUTE_NS);
	assert_leads();
	assert_string_equal(reason, "");
	assert_int_equal(granted_s, LEASE_S);
}

static void test_late_answer(void **state)
{
	answer_late(false);
}

/* The same, after the first answer was lost. */
static void test_late_second(void **state)
{
	answer_late(true);
}

/* Its key is there as long as its lease: it does not wait for a quarter of that. */
static void test_fenced(void **state)
{
	uint64_t term = fabricd.term;

	pass(granted_s * NS_PER_SEC / 2);
	pass(NS_PER_SEC);
	leader_fenced();
	assert_int_equal(fabricd.term, 0);
	pass(3 * NS_PER_SEC);
	assert_leads();
	assert_true(fabricd.term > term);
}

/* Nobody renews that lease, but it may be long, and its key keeps all others out. */
static void test_revoke_lost(void **state)
{
	uint64_t term = fabricd.term;

	lost_revokes = 3;
	leader_fenced();
	pass(MINUTE_NS / 10);
	assert_int_equal(lost_revokes, 0);
	assert_leads();
	assert_true(fabricd.term > term);
}

/* It computes a little before, which takes no longer for that. */
static void test_stopped(void **state)
{
	pass(30 * MINUTE_NS);
	assert_int_equal(granted_s, LEASE_S);
	compute(NS_PER_SEC / 10);
	idle(MINUTE_NS);
	pass(MINUTE_NS);
	assert_leads();
	assert_non_null(strstr(reason, "it was stopped"));
	assert_int_equal(granted_s, LEASE_S);
}

/* Nor does what comes next, when one alarm has rung and another one has not. */
static void test_continued(void **state)
{
	compute(5 * NS_PER_SEC);
	pass(9 * MINUTE_NS);
	assert_true(granted_s > 2 * LEASE_S);
	idle(10 * NS_PER_SEC);
	backwards = true;
	answer_takes = NS_PER_SEC;
	pass(0);
	answer_takes = 0;
	backwards = false;
	pass(25 * MINUTE_NS / 2);
	assert_leads();
	assert_int_equal(granted_s, LEASE_S);
}

static void starve(unsigned int times)
{
	uint64_t term;
	unsigned int i = 0;

	pass(30 * MINUTE_NS);
	assert_int_equal(granted_s, LEASE_S);
	do {
		assert_true(i++ < 4);
		assert_leads();
		term = fabricd.term;
		compute(8 * NS_PER_SEC);
		idle((times - 1) * 8 * NS_PER_SEC);
		pass(MINUTE_NS);
	} while (fabricd.term != term);
}

/* What it computes takes so often as long as on a processor of its own. */
static void test_starved(void **state)
{
	starve(1);
	starve(5);
	starve(20);
}

static void test_store_gone(void **state)
{
	struct store_reply error = { .error = -EIO };
	unsigned int before = longer;
	uint64_t ns;

	pass(30 * MINUTE_NS);
	assert_int_equal(granted_s, LEASE_S);
	/* a computation that the lease outlasts, and one while there is no store */
	for (ns = 0; ns < LEASE_S * NS_PER_SEC; ns += NS_PER_SEC / 4) {
		compute(3 * NS_PER_SEC / 2);
		pass(8 * MINUTE_NS);
		holds = true;
		pass(ns);
		compute(3 * NS_PER_SEC / 2);
		pass(2 * LEASE_S * NS_PER_SEC);
		assert_int_equal(fabricd.term, 0);
		assert_non_null(strstr(reason, "the store does not answer"));
		holds = false;
		held(NULL, &error);
		pass(MINUTE_NS);
		assert_leads();
		assert_int_equal(granted_s, LEASE_S);
	}
	assert_int_equal(longer, before);
}

/* A delay that the lease has outlasted, as measured when it is renewed. */
static void test_delay_before(void **state)
{
	struct store_reply error = { .error = -EIO };
	uint64_t ns;

	pass(30 * MINUTE_NS);
	for (ns = 0; ns < LEASE_S * NS_PER_SEC / 2; ns += NS_PER_SEC / 8) {
		creeps = backwards = true;
		leader_fenced();
		pass(2 * NS_PER_SEC + ns);
		assert_leads();
		compute(3 * LEASE_S * NS_PER_SEC / 5);
		pass(NS_PER_MS);
		assert_leads();
		holds = true;
		pass(2 * LEASE_S * NS_PER_SEC);
		assert_int_equal(fabricd.term, 0);
		assert_non_null(strstr(reason, "the store does not answer"));
		creeps = backwards = holds = false;
		held(NULL, &error);
		pass(MINUTE_NS);
		assert_leads();
		assert_int_equal(granted_s, LEASE_S);
	}
}

/* A term for a shorter lease would begin with a plan that needs the longer one. */
static void test_takeover(void **state)
{
	uint64_t before;

	pass(30 * MINUTE_NS);
	assert_int_equal(granted_s, LEASE_S);
	plan_takes = 20 * NS_PER_SEC;
	leader_fenced();
	before = fabricd.stats.elected;
	pass(180 * MINUTE_NS);
	assert_leads();
	assert_int_equal(fabricd.stats.elected, before + 2);
	assert_true(granted_s > 4 * (20 - LEASE_S) && granted_s <= 4 * 20);

	/* the next one knows it for a time, and then it is not needed any more */
	plan_takes = 0;
	leader_fenced();
	pass(9 * MINUTE_NS);
	assert_int_equal(fabricd.stats.elected, before + 3);
	assert_true(granted_s > 4 * (20 - LEASE_S) && granted_s <= 4 * 20);
	pass(15 * MINUTE_NS);
	assert_int_equal(fabricd.stats.elected, before + 4);
	assert_int_equal(granted_s, LEASE_S);
}

/* Whether neither key nor lease is left of an engine that ends in @ns. */
static bool ends_after(uint64_t ns)
{
	int status;
	pid_t pid = fork();

	assert_int_not_equal(pid, -1);
	if (!pid) {
		pass(ns);
		leader_stop();
		_exit(key || leased);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Before it has another lease, and then. */
static void test_stop(void **state)
{
	pass(30 * MINUTE_NS);
	assert_int_equal(granted_s, LEASE_S);
	assert_true(ends_after(0));
	lost_revokes = 1;
	leader_fenced();
	assert_true(ends_after(300 * NS_PER_MS));
	assert_true(ends_after(1200 * NS_PER_MS));
	pass(MINUTE_NS);
	assert_leads();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_longer),
		cmocka_unit_test(test_shorter),
		cmocka_unit_test(test_standby),
		cmocka_unit_test(test_error_first),
		cmocka_unit_test(test_late_answer),
		cmocka_unit_test(test_late_second),
		cmocka_unit_test(test_fenced),
		cmocka_unit_test(test_revoke_lost),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_continued),
		cmocka_unit_test(test_starved),
		cmocka_unit_test(test_store_gone),
		cmocka_unit_test(test_delay_before),
		cmocka_unit_test(test_takeover),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
