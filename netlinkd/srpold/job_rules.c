// SPDX-License-Identifier: GPL-2.0
/*
 * Which traffic belongs to which job. The kernel knows the control group of a
 * local sender, but RDMA traffic has none, so the QPs of the job's processes
 * (job_qps.c) get rules of their own. QPs share rules (qp_ranges.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "srpold.h"

#define V4_BITS		96	/* before an IPv4 address */

/*
 * Id of the job's group, which changes if it is created again; 0: there is
 * none.
 */
static uint64_t cgroup_id(const struct job *job)
{
	char path[sizeof(CGROUP_ROOT) + sizeof(job->cgroup)];
	struct stat st;

	snprintf(path, sizeof(path), CGROUP_ROOT "/%s", job_cgroup(job));
	return stat(path, &st) ? 0 : st.st_ino;
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

/*
 * Restrict a rule to the source of the job. A job by source takes no QP of
 * another source. An IPv6 prefix that contains all of IPv4 is no restriction
 * for IPv4, and the module does not mix the two.
 */
static void add_source(struct rule_info *rule, const struct job *job)
{
	if (!job->src_len ||
	    (IN6_IS_ADDR_V4MAPPED(&rule->dst) && job->src_len < V4_BITS))
		return;
	rule->match |= SRPOL_MATCH_SRC;
	rule->src = job->src;
	rule->src_len = job->src_len;
}

/* Rules of placed QPs come first, each with the path that the QP is to take. */
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
		add_source(rule, job);
		rule->path = qp->path;
	}
}

/* Add the job's own selector as rule @n. Return: the next free number. */
static uint32_t add_own(struct engine *engine, const struct job *job,
			uint32_t n)
{
	uint64_t id = job->cgroup[0] ? cgroup_id(job) : 0;
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

/* QPs for which there is no room are logged once, and shown. */
static void count_unruled(struct job *job, uint32_t n)
{
	if (n && !job->unruled)
		log_notice("job %s: %u QPs without a rule, there is room for %u rules",
			   job->name, n, JOB_RULES);
	job->unruled = n;
}

/* Number of QPs of a range that have no rule of their own. */
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

	qp_ranges(job_qps(), job_owns_qp, job, JOB_RULES - n, &ranges);
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

/**
 * job_rules() - make the engine's rules for jobs and their QPs, as last read
 * @engine: the engine
 */
void job_rules(struct engine *engine)
{
	struct job *job;

	engine->rules.n = 0;
	rules_own(engine);
	vec_for_each(job, &jobs) {
		if (job->placed)
			add_placed(engine, job);
		add_qps(engine, job, add_own(engine, job,
					     job->placed ? JOB_PLACED : 0));
	}
}
