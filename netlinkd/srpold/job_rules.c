// SPDX-License-Identifier: GPL-2.0
/*
 * Whose traffic is which job's. The kernel knows the control group of a local
 * sender; what RDMA sends has none, so the QPs of the job's processes get rules
 * of their own, as RDMA netlink tells them. They are looked at now and then, and
 * share rules (qp_ranges.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "srpold.h"

#define CGROUP_ROOT	"/sys/fs/cgroup"

/* struct srpol_rdma_qp of all processes, sorted, as they were last told. */
static struct vec qps = VEC_INIT(struct srpol_rdma_qp);

static const char *below_root(const char *name)
{
	size_t root = strlen(CGROUP_ROOT);

	name += strncmp(name, CGROUP_ROOT, root) ? 0 : root;
	return name + strspn(name, "/");
}

/* Its number, which is another one once it was made anew; 0: it is not there. */
static uint64_t cgroup_id(const char *name)
{
	char path[sizeof(CGROUP_ROOT) + 256];
	struct stat st;

	snprintf(path, sizeof(path), CGROUP_ROOT "/%s", below_root(name));
	return stat(path, &st) ? 0 : st.st_ino;
}

static bool read_proc(uint32_t pid, const char *file, char *buf, size_t len)
{
	char path[64];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, file);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(buf, 1, len - 1, f);
	fclose(f);
	buf[n] = '\0';
	return true;
}

static bool has_comm(uint32_t pid, const char *comm)
{
	char text[32];

	if (!read_proc(pid, "comm", text, sizeof(text)))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return !strcmp(text, comm);
}

/* In the group or in one below it. */
static bool is_in_cgroup(uint32_t pid, const char *name)
{
	size_t len;
	char text[4096], *at;

	name = below_root(name);
	len = strlen(name);
	while (len && name[len - 1] == '/')
		len--;
	if (!read_proc(pid, "cgroup", text, sizeof(text)))
		return false;
	at = strstr(text, "0::/");
	if (!at)
		return false;
	at += strlen("0::/");
	at[strcspn(at, "\n")] = '\0';
	return !strncmp(at, name, len) && (!at[len] || at[len] == '/' || !len);
}

static bool is_of(const struct srpol_rdma_qp *qp, const void *data)
{
	const struct job *job = data;

	if (!qp->pid)
		return false;
	return (job->pid && qp->pid == job->pid) ||
	       (job->comm[0] && has_comm(qp->pid, job->comm)) ||
	       (job->cgroup[0] && is_in_cgroup(qp->pid, job->cgroup));
}

static bool wants_qps(const struct job *job)
{
	return job->pid || job->comm[0] || job->cgroup[0];
}

static struct rule_info *add_rule(struct engine *engine,
				  const struct job *job, uint32_t n)
{
	struct rule_info *rule = vec_add(&engine->rules);

	rule->priority = engine->config.job_prio + job->slot * JOB_RULES + n;
	strcpy(rule->name, job->name);
	rule->color = job->color;
	return rule;
}

/* QPs that are placed come first, each with the path that it is to take. */
static void add_placed(struct engine *engine, const struct job *job)
{
	const struct placed_qp *qp;
	struct rule_info *rule;

	vec_for_each(qp, job_place_qps(job)) {
		if (!qp->path)
			continue;
		rule = add_rule(engine, job, qp->slot);
		rule->match = SRPOL_MATCH_QP | SRPOL_MATCH_DST;
		if (qp->ifindex) {
			rule->match |= SRPOL_MATCH_DEV;
			rule->ifindex = qp->ifindex;
		}
		rule->qp[0] = qp->qp;
		rule->qp[1] = qp->qp;
		rule->dst = qp->dst;
		rule->dst_len = 128;
		rule->path = qp->path;
	}
}

/* What it says of itself, as rule @n; the number that is free then. */
static uint32_t add_own(struct engine *engine, const struct job *job,
			uint32_t n)
{
	uint64_t id = job->cgroup[0] ? cgroup_id(job->cgroup) : 0;
	struct rule_info *rule;

	if (!id && !job->src_len && !job->qp[0])
		return n;
	rule = add_rule(engine, job, n);
	if (id) {
		rule->match = SRPOL_MATCH_CGROUP;
		rule->cgroup = id;
	} else if (job->src_len) {
		rule->match = SRPOL_MATCH_SRC;
		rule->src = job->src;
		rule->src_len = job->src_len;
	} else {
		rule->match = SRPOL_MATCH_QP;
		memcpy(rule->qp, job->qp, sizeof(rule->qp));
	}
	return n + 1;
}

/* Those for which there is no room are said once, and shown. */
static void count_unruled(struct job *job, uint32_t n)
{
	if (n && !job->unruled)
		log_notice("job %s: %u QPs without a rule, there is room for %u rules",
			   job->name, n, JOB_RULES);
	job->unruled = n;
}

/* How many of a range have no rule of their own. */
static uint32_t count_unplaced(const struct job *job,
			       const struct qp_range *range)
{
	const struct placed_qp *qp;
	uint32_t n = range->qps;

	vec_for_each(qp, job_place_qps(job))
		n -= n && qp->path && qp->ifindex == range->ifindex &&
		     qp->qp >= range->lo && qp->qp <= range->hi;
	return n;
}

static void add_qps(struct engine *engine, struct job *job, uint32_t n)
{
	struct vec ranges = VEC_INIT(struct qp_range);
	const struct qp_range *range;
	struct rule_info *rule;
	uint32_t unruled = 0;

	qp_ranges(&qps, is_of, job, JOB_RULES - n, &ranges);
	vec_for_each(range, &ranges) {
		if (n == JOB_RULES) {
			unruled += count_unplaced(job, range);
			continue;
		}
		rule = add_rule(engine, job, n++);
		rule->match = SRPOL_MATCH_QP;
		if (range->ifindex) {
			rule->match |= SRPOL_MATCH_DEV;
			rule->ifindex = range->ifindex;
		}
		rule->qp[0] = range->lo;
		rule->qp[1] = range->hi;
	}
	count_unruled(job, unruled);
	vec_free(&ranges);
}

static int by_number(const void *a, const void *b)
{
	const struct srpol_rdma_qp *x = a, *y = b;

	if (x->ifindex != y->ifindex)
		return x->ifindex < y->ifindex ? -1 : 1;
	return (x->remote > y->remote) - (x->remote < y->remote);
}

static void keep_qp(const struct srpol_rdma_qp *qp, void *data)
{
	*(struct srpol_rdma_qp *)vec_add(data) = *qp;
}

/*
 * A list that broke off, since a device went while it was told, says nothing of
 * QPs that are not in it: those of before keep their rules until the next look.
 */
static void read_qps(void)
{
	struct vec found = VEC_INIT(struct srpol_rdma_qp);
	int ret = srpol_rdma_for_each_qp(keep_qp, &found);

	if (ret)
		log_debug("QPs: %s", strerror(-ret));
	if (ret && ret != -EPROTONOSUPPORT) {
		vec_free(&found);
		return;
	}
	vec_free(&qps);
	qps = found;
	if (qps.n)
		qsort(qps.data, qps.n, qps.size, by_number);
}

static void forget_qps(void)
{
	vec_free(&qps);
	qps = (struct vec)VEC_INIT(struct srpol_rdma_qp);
}

/**
 * job_has_qp() - is a flow one of the job's QPs, as they were last told?
 * @job: the job
 * @remote: number of the QP that the flow goes to
 * @src: where it comes from
 * @ifindex: network device of the QP, 0: not known; it is then, if it can be
 *
 * Return: true also for a job that is not found by processes: what is in its
 * color is its own.
 */
bool job_has_qp(const struct job *job, uint32_t remote,
		const struct in6_addr *src, uint32_t *ifindex)
{
	const struct srpol_rdma_qp *qp;

	if (!wants_qps(job))
		return true;
	vec_for_each(qp, &qps) {
		if (qp->remote != remote || !is_of(qp, job) ||
		    (*ifindex ? qp->ifindex != *ifindex :
		     !srpol_rdma_is_local(qp, src->s6_addr)))
			continue;
		*ifindex = qp->ifindex;
		return true;
	}
	return false;
}

/**
 * job_rules() - rules of the engine, as jobs and their QPs are now
 * @engine: the engine
 */
void job_rules(struct engine *engine)
{
	struct job *job;
	bool wanted = false;

	engine->rules.n = 0;
	rules_own(engine);
	vec_for_each(job, &jobs)
		wanted |= wants_qps(job);
	if (wanted)
		read_qps();
	else
		forget_qps();
	vec_for_each(job, &jobs) {
		if (job->placed)
			add_placed(engine, job);
		add_qps(engine, job, add_own(engine, job,
					     job->placed ? JOB_PLACED : 0));
	}
}
