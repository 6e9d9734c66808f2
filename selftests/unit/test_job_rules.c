// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of jobs, from what RDMA netlink says of QPs (which is said here): ranges
 * of numbers, devices, processes by number, name and control group, more than
 * there is room for, and a list that broke off.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "srpold.h"
#include "test.h"

#define PRIO	1000
#define STRANGER	0x7fffffffu	/* no process has it */

struct vec jobs = VEC_INIT(struct job);
static struct engine engine = { .config.job_prio = PRIO,
				.rules = VEC_INIT(struct rule_info) };
static struct srpol_rdma_qp qps[4 * JOB_RULES];
static uint32_t n_qps, n_told;
static int result;

void rules_own(struct engine *e)
{
	assert_ptr_equal(e, &engine);
}

static struct vec placed = VEC_INIT(struct placed_qp);

const struct vec *job_place_qps(const struct job *job)
{
	(void)job;
	return &placed;
}

bool srpol_own_addr_is_of(uint32_t ifindex, const uint8_t *addr)
{
	return ifindex == addr[15];
}

void srpol_own_addrs_forget(void)
{
}

static uint32_t n_opened;
FILE *__real_fopen(const char *name, const char *mode);
FILE *__wrap_fopen(const char *name, const char *mode);

FILE *__wrap_fopen(const char *name, const char *mode)
{
	n_opened++;
	return __real_fopen(name, mode);
}

static uint32_t n_notices;

void log_notice(const char *fmt, ...)
{
	(void)fmt;
	n_notices++;
}

void log_debug(const char *fmt, ...)
{
	(void)fmt;
}

int srpol_rdma_for_each_qp(void (*cb)(const struct srpol_rdma_qp *qp,
				      void *data), void *data)
{
	uint32_t i;

	for (i = 0; i < (result ? n_told : n_qps); i++)
		cb(&qps[i], data);
	return result;
}

static void look(void)
{
	job_qps_read();
	job_rules(&engine);
}

static struct job *add_job(const char *name, uint32_t color)
{
	struct job *job = vec_add(&jobs);

	*job = (struct job){ .color = color, .slot = jobs.n - 1 };
	strcpy(job->name, name);
	return job;
}

static void add_qp(uint32_t ifindex, uint32_t remote, uint32_t pid)
{
	qps[n_qps++] = (struct srpol_rdma_qp){
		.ifindex = ifindex, .remote = remote, .pid = pid,
	};
}

static const struct rule_info *rule(uint32_t i)
{
	assert_true(i < engine.rules.n);
	return (const struct rule_info *)engine.rules.data + i;
}

static void check_qps(uint32_t i, uint32_t color, uint32_t ifindex, uint32_t lo,
		      uint32_t hi)
{
	const struct rule_info *r = rule(i);

	assert_int_equal(r->color, color);
	assert_int_equal(r->match, SRPOL_MATCH_QP |
			 (ifindex ? SRPOL_MATCH_DEV : 0));
	assert_int_equal(r->ifindex, ifindex);
	assert_int_equal(r->qp[0], lo);
	assert_int_equal(r->qp[1], hi);
}

static int set_up(void **state)
{
	(void)state;
	vec_free(&jobs);
	jobs = (struct vec)VEC_INIT(struct job);
	n_qps = 0;
	vec_free(&placed);
	n_notices = 0;
	result = 0;
	/* nothing of the test before */
	add_job("none", 1)->pid = STRANGER;
	look();
	assert_int_equal(engine.rules.n, 0);
	jobs.n = 0;
	return 0;
}

static void test_ranges(void **state)
{
	(void)state;
	add_job("a", 10)->pid = 77;
	/* in any order; one of them of somebody else */
	add_qp(2, 17, 77);
	add_qp(2, 16, 77);
	add_qp(2, 19, 77);
	add_qp(2, 18, 78);
	add_qp(3, 18, 77);
	add_qp(0, 20, 77);
	add_qp(2, 17, 77);
	add_qp(2, 0xffffff, 77);
	look();
	assert_int_equal(engine.rules.n, 5);
	check_qps(0, 10, 0, 20, 20);
	check_qps(1, 10, 2, 16, 17);
	check_qps(2, 10, 2, 19, 19);
	check_qps(3, 10, 2, 0xffffff, 0xffffff);
	check_qps(4, 10, 3, 18, 18);
	assert_int_equal(rule(0)->priority, PRIO);
	assert_int_equal(rule(4)->priority, PRIO + 4);
	assert_string_equal(rule(0)->name, "a");
}

/* Who has no process is nobody's, also not of a job that is found otherwise. */
static void test_kernel(void **state)
{
	struct job *job;

	(void)state;
	job = add_job("range", 10);
	job->qp[0] = 5;
	job->qp[1] = 9;
	add_job("src", 11)->src_len = 64;
	add_qp(2, 30, 0);
	look();
	assert_int_equal(engine.rules.n, 2);
	check_qps(0, 10, 0, 5, 9);
	assert_int_equal(rule(1)->match, SRPOL_MATCH_SRC);
	assert_int_equal(rule(1)->priority, PRIO + JOB_RULES);
}

static void test_comm(void **state)
{
	(void)state;
	/* as long as the kernel has it */
	assert_int_equal(prctl(PR_SET_NAME, "srpol fifteen c"), 0);
	strcpy(add_job("a", 10)->comm, "srpol fifteen c");
	strcpy(add_job("b", 11)->comm, "srpol fifteen");
	add_qp(2, 40, getpid());
	add_qp(2, 41, STRANGER);
	look();
	assert_int_equal(engine.rules.n, 1);
	check_qps(0, 10, 2, 40, 40);
}

static void test_root(void **state)
{
	(void)state;
	strcpy(add_job("root", 10)->cgroup, "/");
	add_qp(2, 50, getpid());
	look();
	/* and a rule by control group, where that is mounted */
	check_qps(engine.rules.n - 1, 10, 2, 50, 50);
}

/* The root of control groups of version 2; NULL: none of ours. */
static const char *cgroup_root(void)
{
	static const char * const roots[] = {
		"/sys/fs/cgroup/unified", "/sys/fs/cgroup",
	};
	char file[64];
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(file, sizeof(file), "%s/cgroup.procs", roots[i]);
		if (!access(file, W_OK))
			return roots[i];
	}
	return NULL;
}

static pid_t start_in(const char *folder)
{
	char file[128];
	pid_t pid;
	FILE *f;

	snprintf(file, sizeof(file), "%s/cgroup.procs", folder);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	f = fopen(file, "we");
	assert_non_null(f);
	fprintf(f, "%d", pid);
	assert_int_equal(fclose(f), 0);
	return pid;
}

/* A process of a group: of it, of one above it, not of one that begins alike. */
static void test_cgroup(void **state)
{
	static const char * const of[] = { "%s", "/%s/", "/sys/fs/cgroup/%s" };
	const char *root = cgroup_root();
	char folder[96], name[48], alike[48];
	pid_t pid;
	size_t i;

	(void)state;
	snprintf(name, sizeof(name), "srpol-%d", getpid());
	snprintf(folder, sizeof(folder), "%s/%s", root ?: "", name);
	if (!root || mkdir(folder, 0755))
		skip();
	pid = start_in(folder);
	add_qp(2, 50, pid);
	for (i = 0; i < 3; i++) {
		jobs.n = 0;
		snprintf(add_job("own", 11)->cgroup, 256, of[i], name);
		look();
		check_qps(engine.rules.n - 1, 11, 2, 50, 50);
	}
	jobs.n = 0;
	memcpy(alike, name, sizeof(alike));
	alike[strlen(alike) - 1] = '\0';
	strcpy(add_job("alike", 12)->cgroup, alike);
	snprintf(add_job("below", 13)->cgroup, 256, "%s/below", name);
	look();
	assert_int_equal(engine.rules.n, 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(rmdir(folder), 0);
}

static void test_room(void **state)
{
	const struct job *job;
	uint32_t i;

	(void)state;
	add_job("a", 10)->pid = 77;
	add_job("b", 11)->pid = 78;
	/* somebody else's in each gap but one */
	for (i = 0; i < 2 * JOB_RULES; i++) {
		add_qp(2, 100 + 2 * i, 77);
		if (i)
			add_qp(2, 101 + 2 * i, STRANGER);
	}
	add_qp(2, 50, 78);
	look();
	assert_int_equal(engine.rules.n, JOB_RULES + 1);
	assert_int_equal(rule(JOB_RULES - 1)->priority, PRIO + JOB_RULES - 1);
	check_qps(0, 10, 2, 100, 102);
	check_qps(1, 10, 2, 104, 104);
	check_qps(JOB_RULES, 11, 2, 50, 50);
	assert_int_equal(rule(JOB_RULES)->priority, PRIO + JOB_RULES);
	job = jobs.data;
	assert_int_equal(job[0].unruled, JOB_RULES - 1);
	assert_int_equal(job[1].unruled, 0);
	assert_int_equal(n_notices, 1);
	look();
	assert_int_equal(n_notices, 1);
	n_qps = 1;
	look();
	assert_int_equal(job[0].unruled, 0);
}

/* The smallest gaps are bridged, and only as many as it takes. */
static void test_gaps(void **state)
{
	uint32_t i, at = 100;

	(void)state;
	add_job("a", 10)->pid = 77;
	for (i = 0; i < JOB_RULES; i++)
		add_qp(2, at += 5, 77);
	add_qp(2, 99, 77);
	add_qp(3, 100, 77);
	look();
	assert_int_equal(engine.rules.n, JOB_RULES);
	/* two of those with gaps of four; 99 is five away from 105 */
	check_qps(0, 10, 2, 99, 99);
	check_qps(1, 10, 2, 105, 115);
	check_qps(2, 10, 2, 120, 120);
	check_qps(JOB_RULES - 1, 10, 3, 100, 100);
	add_qp(2, 98, 77);
	add_qp(2, 108, STRANGER);
	add_qp(3, 98, 77);
	look();
	assert_int_equal(engine.rules.n, JOB_RULES);
	check_qps(0, 10, 2, 98, 99);
	check_qps(1, 10, 2, 105, 105);
	check_qps(2, 10, 2, 110, 120);
	/* the gap of one is the smallest of all */
	check_qps(JOB_RULES - 1, 10, 3, 98, 100);
}

/* A list that broke off says nothing of the QPs that are not in it. */
static void test_broken_off(void **state)
{
	(void)state;
	add_job("a", 10)->pid = 77;
	add_qp(2, 16, 77);
	add_qp(3, 18, 77);
	look();
	assert_int_equal(engine.rules.n, 2);
	result = -EINTR;
	for (n_told = 0; n_told < 2; n_told++) {
		look();
		assert_int_equal(engine.rules.n, 2);
		check_qps(0, 10, 2, 16, 16);
		check_qps(1, 10, 3, 18, 18);
	}
	/* the kernel's RDMA was unloaded: there are none */
	result = -EPROTONOSUPPORT;
	n_told = 0;
	look();
	assert_int_equal(engine.rules.n, 0);
	/* what is whole counts again */
	result = 0;
	n_qps = 1;
	look();
	assert_int_equal(engine.rules.n, 1);
	/* nor does it count when nobody asked for a while */
	jobs.n = 0;
	look();
	add_job("a", 10)->pid = 77;
	result = -EINTR;
	n_told = 0;
	look();
	assert_int_equal(engine.rules.n, 0);
}

static void add_placed(uint32_t qp, uint32_t ifindex, uint32_t slot,
		       uint32_t path)
{
	struct placed_qp *to = vec_add(&placed);

	to->qp = qp;
	to->ifindex = ifindex;
	to->slot = slot;
	to->path = path;
	to->dst.s6_addr[0] = 0xfd;
}

/* Those that are placed come first, each where it was; then the rest as ever. */
static void test_placed(void **state)
{
	struct job *job;
	uint32_t i;

	(void)state;
	job = add_job("a", 10);
	job->pid = 77;
	job->placed = true;
	add_qp(2, 16, 77);
	add_qp(2, 17, 77);
	add_placed(17, 2, 5, 1007);
	add_placed(16, 0, 3, 1009);
	add_placed(18, 2, 4, 0);
	look();
	assert_int_equal(engine.rules.n, 3);
	assert_int_equal(rule(0)->priority, PRIO + 5);
	assert_int_equal(rule(0)->match, SRPOL_MATCH_QP | SRPOL_MATCH_DST |
			 SRPOL_MATCH_DEV);
	assert_int_equal(rule(0)->qp[0], 17);
	assert_int_equal(rule(0)->qp[1], 17);
	assert_int_equal(rule(0)->dst_len, 128);
	assert_int_equal(rule(0)->dst.s6_addr[0], 0xfd);
	assert_int_equal(rule(0)->path, 1007);
	assert_int_equal(rule(1)->priority, PRIO + 3);
	assert_int_equal(rule(1)->match, SRPOL_MATCH_QP | SRPOL_MATCH_DST);
	assert_int_equal(rule(1)->path, 1009);
	check_qps(2, 10, 2, 16, 17);
	assert_int_equal(rule(2)->priority, PRIO + JOB_PLACED);
	assert_int_equal(rule(2)->path, 0);
	/* who has a rule of his own is not without one */
	for (i = 0; i < JOB_RULES; i++) {
		add_qp(2, 100 + 2 * i, 77);
		add_qp(2, 101 + 2 * i, STRANGER);
	}
	look();
	i = job->unruled;
	add_placed(100 + 2 * (JOB_RULES - 1), 2, 7, 1007);
	look();
	assert_int_equal(job->unruled, i - 1);
}

/* Its own rule is behind them as well. */
static void test_placed_own(void **state)
{
	struct job *job;

	(void)state;
	job = add_job("range", 10);
	job->qp[0] = 5;
	job->qp[1] = 9;
	job->placed = true;
	add_placed(6, 0, 0, 1007);
	look();
	assert_int_equal(engine.rules.n, 2);
	assert_int_equal(rule(0)->priority, PRIO);
	assert_int_equal(rule(1)->priority, PRIO + JOB_PLACED);
	check_qps(1, 10, 0, 5, 9);
}

static void test_has_qp(void **state)
{
	const struct in6_addr two = { .s6_addr[15] = 2 };
	const struct in6_addr three = { .s6_addr[15] = 3 };
	uint32_t ifindex = 0;
	struct job *job;

	(void)state;
	job = add_job("a", 10);
	job->pid = 77;
	add_qp(2, 16, 78);
	add_qp(3, 16, 77);
	look();
	assert_false(job_has_qp(job, 16, &two, &ifindex));
	assert_false(job_has_qp(job, 17, &three, &ifindex));
	assert_true(job_has_qp(job, 16, &three, &ifindex));
	assert_int_equal(ifindex, 3);
	/* the device is known: that of the flow does not count any more */
	assert_true(job_has_qp(job, 16, &two, &ifindex));
	n_qps = 1;
	look();
	assert_false(job_has_qp(job, 16, &three, &ifindex));
	/* not by processes: what is in its color is its own */
	job->pid = 0;
	job->src_len = 64;
	assert_true(job_has_qp(job, 16, &three, &ifindex));
}

/* A rule for a QP that has ended steers another one of that number, too. */
static void test_has_no_others(void **state)
{
	const struct in6_addr in = { .s6_addr = { 0xfd, [15] = 1 } };
	const struct in6_addr out = { .s6_addr = { 0xfd, 1, [15] = 1 } };
	uint32_t ifindex = 0;
	struct job *job;

	(void)state;
	job = add_job("source", 10);
	job->src.s6_addr[0] = 0xfd;
	job->src_len = 16;
	assert_true(job_has_qp(job, 16, &in, &ifindex));
	assert_false(job_has_qp(job, 16, &out, &ifindex));
	job = add_job("range", 11);
	job->qp[0] = 5;
	job->qp[1] = 9;
	assert_false(job_has_qp(job, 4, &in, &ifindex));
	assert_true(job_has_qp(job, 5, &in, &ifindex));
	assert_true(job_has_qp(job, 9, &in, &ifindex));
	assert_false(job_has_qp(job, 10, &in, &ifindex));
	assert_int_equal(ifindex, 0);
}

/* Nor is the rule for anybody else's, where the job is found by source. */
static void test_placed_source(void **state)
{
	struct placed_qp *qp;
	struct job *job;

	(void)state;
	job = add_job("source", 10);
	job->placed = true;
	job->src.s6_addr[0] = 0xfd;
	job->src_len = 8;
	add_placed(6, 0, 0, 1007);
	look();
	assert_int_equal(engine.rules.n, 2);
	assert_int_equal(rule(0)->match, SRPOL_MATCH_QP | SRPOL_MATCH_DST |
			 SRPOL_MATCH_SRC);
	assert_int_equal(rule(0)->src_len, 8);
	assert_memory_equal(&rule(0)->src, &job->src, sizeof(job->src));
	/* all of IPv4 and some of IPv6: no rule of the module has both */
	qp = placed.data;
	memset(&qp->dst, 0, sizeof(qp->dst));
	memset(&qp->dst.s6_addr[10], 0xff, 2);
	job->src.s6_addr[0] = 0;
	look();
	assert_int_equal(rule(0)->match, SRPOL_MATCH_QP | SRPOL_MATCH_DST);
	memset(&job->src.s6_addr[10], 0xff, 2);
	job->src_len = 97;
	look();
	assert_int_equal(rule(0)->match, SRPOL_MATCH_QP | SRPOL_MATCH_DST |
			 SRPOL_MATCH_SRC);
}

/* QPs may be many: the kernel is asked about each process once. */
static void test_cost(void **state)
{
	const struct in6_addr two = { .s6_addr[15] = 2 };
	const struct job *job;
	uint32_t i, ifindex;

	(void)state;
	assert_int_equal(prctl(PR_SET_NAME, "many"), 0);
	strcpy(add_job("a", 10)->comm, "many");
	strcpy(add_job("b", 11)->comm, "few");
	strcpy(add_job("c", 12)->cgroup, "few");
	for (i = 0; i < 2 * JOB_RULES; i++) {
		add_qp(2, 100 + 2 * i, getpid());
		add_qp(3, 100 + 2 * i, STRANGER);
	}
	n_opened = 0;
	look();
	/* of two processes a name and a group each */
	assert_int_equal(n_opened, 4);
	job = jobs.data;
	for (i = 0; i < 2 * JOB_RULES; i++) {
		ifindex = 0;
		assert_true(job_has_qp(job, 100 + 2 * i, &two, &ifindex));
		assert_int_equal(ifindex, 2);
		assert_false(job_has_qp(job + 1, 100 + 2 * i, &two, &ifindex));
		ifindex = 3;
		assert_false(job_has_qp(job, 100 + 2 * i, &two, &ifindex));
	}
	assert_int_equal(n_opened, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_ranges, set_up),
		cmocka_unit_test_setup(test_kernel, set_up),
		cmocka_unit_test_setup(test_comm, set_up),
		cmocka_unit_test_setup(test_root, set_up),
		cmocka_unit_test_setup(test_cgroup, set_up),
		cmocka_unit_test_setup(test_room, set_up),
		cmocka_unit_test_setup(test_gaps, set_up),
		cmocka_unit_test_setup(test_broken_off, set_up),
		cmocka_unit_test_setup(test_placed, set_up),
		cmocka_unit_test_setup(test_placed_own, set_up),
		cmocka_unit_test_setup(test_has_qp, set_up),
		cmocka_unit_test_setup(test_has_no_others, set_up),
		cmocka_unit_test_setup(test_placed_source, set_up),
		cmocka_unit_test_setup(test_cost, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
