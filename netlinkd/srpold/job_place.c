// SPDX-License-Identifier: GPL-2.0
/*
 * QPs of jobs that are placed: place.c decides which path (job_paths.c) each
 * takes. It goes by what a QP has sent recently (job_flows.c): a sum that
 * decays by an eighth in each interval in which its job sends. Nothing is
 * learned about a job that pauses, so its QPs stay where they are.
 */
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "srpold.h"

#define FADE		0.875
#define MISSED_MAX	64	/* looks without a flow; little of a sum is left then */
#define STICKY		2	/* who has a rule keeps it until another sends so many times as much */

/**
 * struct placement - state of placing a job's QPs
 * @looked: its QPs were read before, so flows that are new began since then
 * @qps: struct placed_qp, by destination and QP number
 */
struct placement {
	bool looked;
	struct vec qps;
};

/* Indexed by the slot of the job. */
static struct placement placements[JOBS_MAX];

static int by_number(const void *a, const void *b)
{
	const struct placed_qp *x = a, *y = b;
	int order = memcmp(&x->dst, &y->dst, sizeof(x->dst));

	return order ?: (x->qp > y->qp) - (x->qp < y->qp);
}

static const struct placed_qp *known(const struct vec *qps,
				     const struct placed_qp *key)
{
	return qps->n ? bsearch(key, qps->data, qps->n, qps->size, by_number) :
			NULL;
}

/* The QP of a flow; NULL if it is not one of the job's. */
static struct placed_qp *qp_of(const struct job *job,
			       const struct job_flow *flow, struct vec *now)
{
	const struct placed_qp key = { .dst = flow->dst, .qp = flow->qp };
	struct placed_qp *qp = now->data;
	const struct placed_qp *was;
	uint32_t ifindex;

	was = known(&placements[job->slot].qps, &key);
	ifindex = was ? was->ifindex : 0;
	if (!job_has_qp(job, flow->qp, &flow->src, &ifindex))
		return NULL;
	/* several flows of a QP, by opcode or port, are counted together */
	if (now->n && !by_number(qp + now->n - 1, &key))
		return qp + now->n - 1;
	qp = vec_add(now);
	*qp = was ? *was : key;
	if (!was) {
		qp->slot = PLACE_NONE;
		qp->at = PLACE_NONE;
	}
	qp->ifindex = ifindex;
	qp->more = 0;
	qp->missed = 0;
	return qp;
}

/* Add up what flows have sent. Return: the bytes sent since the last look. */
static uint64_t follow_flows(const struct job *job, const struct vec *all,
			     struct vec *now)
{
	const struct placement *p = &placements[job->slot];
	const struct job_flow *flow;
	struct placed_qp *qp;
	uint64_t more = 0;

	vec_for_each(flow, all) {
		qp = flow->slot == job->slot ? qp_of(job, flow, now) : NULL;
		if (!qp)
			continue;
		qp->endpoint = flow->endpoint;
		if (!qp->takes || flow->more)
			qp->takes = flow->takes;
		if (!p->looked)
			continue;
		qp->more += flow->more;
		more += flow->more;
	}
	return more;
}

/*
 * QPs whose flows are not in the table any more keep their paths for a while:
 * the flows of a job that pauses are evicted when other flows need the entries.
 */
static void follow_idle(const struct job *job, bool sends, struct vec *now)
{
	const struct placed_qp *was;
	struct vec found = *now;
	struct placed_qp *qp;
	uint32_t ifindex;

	vec_for_each(was, &placements[job->slot].qps) {
		/* the array may move as it grows */
		found.data = now->data;
		ifindex = was->ifindex;
		if (!was->path || was->missed + sends > MISSED_MAX ||
		    (job_is_by_process(job) &&
		     !job_has_qp(job, was->qp, &in6addr_any, &ifindex)))
			continue;
		if (known(&found, was))
			continue;
		qp = vec_add(now);
		*qp = *was;
		qp->more = 0;
		qp->missed += sends;
	}
	if (now->n > found.n)
		qsort(now->data, now->n, now->size, by_number);
}

/* Update the list of a job's QPs, with what is known of them. */
static void follow(const struct job *job, const struct vec *all)
{
	struct placement *p = &placements[job->slot];
	struct vec now = VEC_INIT(struct placed_qp);
	struct placed_qp *qp;
	uint64_t more;

	more = follow_flows(job, all, &now);
	follow_idle(job, more, &now);
	vec_free(&p->qps);
	p->qps = now;
	p->looked = true;
	vec_for_each(qp, &p->qps)
		if (more)
			qp->recent = qp->recent * FADE + qp->more;
}

static int by_recent(const void *a, const void *b)
{
	const struct placed_qp *x = *(struct placed_qp * const *)a;
	const struct placed_qp *y = *(struct placed_qp * const *)b;
	double p = x->recent * (x->slot == PLACE_NONE ? 1 : STICKY);
	double q = y->recent * (y->slot == PLACE_NONE ? 1 : STICKY);

	if (p != q)
		return p > q ? -1 : 1;
	if ((x->slot == PLACE_NONE) != (y->slot == PLACE_NONE))
		return x->slot == PLACE_NONE ? 1 : -1;
	return (x > y) - (x < y);
}

/* The QPs that send most get rules; a QP that has a rule keeps its number. */
static void share_slots(struct vec *qps)
{
	struct placed_qp **sorted = calloc(qps->n + 1, sizeof(*sorted));
	bool taken[JOB_PLACED] = {};
	uint32_t i, slot = 0;

	for (i = 0; sorted && i < qps->n; i++)
		sorted[i] = (struct placed_qp *)qps->data + i;
	if (sorted)
		qsort(sorted, qps->n, sizeof(*sorted), by_recent);
	for (i = 0; sorted && i < qps->n; i++) {
		if (i >= JOB_PLACED) {
			sorted[i]->slot = PLACE_NONE;
			sorted[i]->at = PLACE_NONE;
			sorted[i]->path = 0;
		} else if (sorted[i]->slot != PLACE_NONE) {
			taken[sorted[i]->slot] = true;
		}
	}
	for (i = 0; sorted && i < qps->n && i < JOB_PLACED; i++) {
		if (sorted[i]->slot != PLACE_NONE)
			continue;
		while (taken[slot])
			slot++;
		taken[slot] = true;
		sorted[i]->slot = slot;
	}
	free(sorted);
}

/**
 * struct chosen - an item of place(), with its QP and policy
 * @qp: the QP
 * @policy: its policy
 */
struct chosen {
	struct placed_qp *qp;
	const struct engine_policy *policy;
};

static void choose(struct engine *engine, const struct job *job,
		   struct vec *chosen, struct vec *items, struct vec *paths,
		   struct vec *policies)
{
	struct vec list = VEC_INIT(const struct engine_policy *);
	struct vec own = VEC_INIT(const struct engine_policy *);
	const struct engine_policy *policy, **at;
	struct place_item *item;
	struct placed_qp *qp;
	size_t n;

	job_policies(engine, job, &own);
	vec_for_each(qp, &placements[job->slot].qps) {
		policy = qp->slot == PLACE_NONE ? NULL :
			 job_policy(engine, &own, qp);
		if (!policy) {
			qp->path = 0;
			continue;
		}
		at = list.data;
		for (n = 0; n < list.n && at[n] != policy; n++)
			;
		if (n == list.n) {
			*(const struct engine_policy **)vec_add(&list) = policy;
			job_paths_add(engine, policy, paths, policies);
		}
		*(struct chosen *)vec_add(chosen) =
			(struct chosen){ qp, policy };
		item = vec_add(items);
		*item = (struct place_item){
			qp->recent, n, job_path_at(engine, policy, qp),
		};
	}
	vec_free(&list);
	vec_free(&own);
}

static void place_job(struct engine *engine, const struct job *job)
{
	struct vec chosen = VEC_INIT(struct chosen);
	struct vec items = VEC_INIT(struct place_item);
	struct vec paths = VEC_INIT(struct place_path);
	struct vec policies = VEC_INIT(struct place_policy);
	const struct place_item *item;
	const struct chosen *c;
	struct place p;

	choose(engine, job, &chosen, &items, &paths, &policies);
	p = (struct place){
		.paths = paths.data, .policies = policies.data,
		.items = items.data, .n_policies = policies.n,
		.n_items = items.n, .n_links = engine->fabric->n_links,
	};
	if (!place(&p)) {
		item = items.data;
		vec_for_each(c, &chosen) {
			c->qp->at = item++->path;
			c->qp->path = c->qp->at == PLACE_NONE ? 0 :
				engine_path(engine, c->policy->first +
						    c->qp->at)->id;
		}
	}
	vec_free(&chosen);
	vec_free(&items);
	vec_free(&paths);
	vec_free(&policies);
}

/**
 * job_place_look() - once an interval, choose paths for QPs by what they sent
 * @engine: the engine
 */
void job_place_look(struct engine *engine)
{
	struct vec all = VEC_INIT(struct job_flow);
	const struct job *job;
	bool wanted = false;

	vec_for_each(job, &jobs)
		wanted |= job->placed;
	if (wanted && job_flows(engine, &all)) {
		vec_for_each(job, &jobs) {
			if (!job->placed)
				continue;
			follow(job, &all);
			share_slots(&placements[job->slot].qps);
			place_job(engine, job);
		}
	}
	vec_free(&all);
}

/**
 * job_place_qps() - QPs of a job, with their paths
 * @job: the job
 *
 * Return: struct placed_qp; QPs with a path are placed.
 */
const struct vec *job_place_qps(const struct job *job)
{
	return &placements[job->slot].qps;
}

/**
 * job_place_keep() - record that a QP is placed already
 * @job: the job, which was not looked at yet
 * @qp: the QP with its destination, rule and path
 *
 * Return: false if another QP has its rule, or if it has one itself.
 */
bool job_place_keep(const struct job *job, const struct placed_qp *qp)
{
	struct vec *qps = &placements[job->slot].qps;
	const struct placed_qp *other;

	vec_for_each(other, qps)
		if (other->slot == qp->slot || !by_number(other, qp))
			return false;
	vec_insert(qps, qp, by_number);
	return true;
}

/**
 * job_place_forget() - delete state of an earlier job with the same slot
 * @job: the new job
 */
void job_place_forget(const struct job *job)
{
	struct placement *p = &placements[job->slot];

	vec_free(&p->qps);
	*p = (struct placement){ .qps = VEC_INIT(struct placed_qp) };
}
