// SPDX-License-Identifier: GPL-2.0
/*
 * QPs of jobs that are placed: which path each is to take (place.c). What counts
 * is what a QP sent lately (job_flows.c): a sum that fades by an eighth in each
 * interval in which its job sends. A job that pauses learns nothing, so its QPs
 * stay where they are.
 */
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "srpold.h"

#define FADE		0.875
#define STICKY		2	/* who has a rule keeps it until another sends so many times as much */

/**
 * struct placement - of a job
 * @looked: its QPs were looked at before, so what is new began since then
 * @qps: struct placed_qp, by destination and number
 */
struct placement {
	bool looked;
	struct vec qps;
};

/* By slot of the job. */
static struct placement placements[JOBS_MAX];

static int by_number(const struct placed_qp *a, const struct placed_qp *b)
{
	int order = memcmp(&a->dst, &b->dst, sizeof(a->dst));

	return order ?: (a->qp > b->qp) - (a->qp < b->qp);
}

static struct placed_qp *known(const struct vec *qps,
			       const struct placed_qp *key)
{
	return qps->n ? bsearch(key, qps->data, qps->n, qps->size,
				(int (*)(const void *, const void *))by_number) :
			NULL;
}

/* Its QPs as they are now, with what is known of them. */
static void follow(const struct job *job, const struct vec *all)
{
	struct placement *p = &placements[job->slot];
	struct vec now = VEC_INIT(struct placed_qp);
	const struct placed_qp *was;
	const struct job_qp *seen;
	struct placed_qp *qp;
	uint32_t ifindex;

	vec_for_each(seen, all) {
		if (seen->slot != job->slot)
			continue;
		was = known(&p->qps, &seen->now);
		ifindex = was ? was->ifindex : 0;
		if (!job_has_qp(job, seen->now.qp, &seen->src, &ifindex))
			continue;
		qp = vec_add(&now);
		*qp = seen->now;
		qp->ifindex = ifindex;
		qp->slot = PLACE_NONE;
		qp->at = PLACE_NONE;
		qp->more = p->looked ? qp->bytes : 0;
		if (!was)
			continue;
		qp->more = qp->bytes < was->bytes ? qp->bytes :
			   qp->bytes - was->bytes;
		qp->recent = was->recent;
		qp->slot = was->slot;
		qp->at = was->at;
		qp->path = was->path;
	}
	vec_free(&p->qps);
	p->qps = now;
	p->looked = true;
}

static void count(struct vec *qps)
{
	struct placed_qp *qp;
	uint64_t more = 0;

	vec_for_each(qp, qps)
		more += qp->more;
	vec_for_each(qp, qps)
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

/* Rules are for those that send most; who has one keeps its number. */
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

/* By its endpoint; of several the one with the path that it takes. */
static const struct engine_policy *policy_of(struct engine *engine,
					     const struct job *job,
					     const struct placed_qp *qp)
{
	const struct engine_policy *policy, *first = NULL;
	uint32_t i;

	vec_for_each(policy, &engine->policies) {
		if (policy->color != job->color ||
		    memcmp(&policy->endpoint, &qp->endpoint,
			   sizeof(qp->endpoint)))
			continue;
		first = first ?: policy;
		for (i = 0; i < policy->n; i++)
			if (engine_path(engine, policy->first + i)->id ==
			    qp->takes)
				return policy;
	}
	return first;
}

/* The plan's weights are before the engine's own. */
static const uint32_t *weights_of(const struct engine_policy *policy)
{
	uint32_t i;

	for (i = 0; policy->planned && i < policy->n; i++)
		if (policy->planned[i])
			return policy->planned;
	return policy->weight;
}

static bool can_use(struct engine *engine, const struct engine_policy *policy,
		    uint32_t i)
{
	struct engine_path *path = engine_path(engine, policy->first + i);

	return path->id && path->up &&
	       (!policy->slice || policy->slice[i]) &&
	       liveness_usable(&engine_path(engine, path->leader)->live);
}

static void add_policy(struct engine *engine,
		       const struct engine_policy *policy, struct vec *paths,
		       struct vec *policies)
{
	const uint32_t *weights = weights_of(policy);
	struct place_policy *to = vec_add(policies);
	struct place_path *path;
	struct srpol_path_set set;
	struct srpol_route route;
	uint32_t i;

	to->first = paths->n;
	if (srpol_path_set_init(engine->fabric, policy->src, policy->dst, &set))
		return;
	for (i = 0; i < policy->n; i++) {
		srpol_path_get(engine->fabric, &set, i, &route);
		path = vec_add(paths);
		path->weight = can_use(engine, policy, i) ? weights[i] : 0;
		path->n = route.n;
		memcpy(path->link, route.link, route.n * sizeof(*route.link));
	}
	to->n = policy->n;
	srpol_path_set_free(&set);
}

_Static_assert(PLACE_LINKS >= SRPOL_PATH_LINKS, "a path fits");

/**
 * struct chosen - an item, and whose it is
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
	const struct engine_policy *policy, **at;
	struct place_item *item;
	struct placed_qp *qp;
	size_t n;

	vec_for_each(qp, &placements[job->slot].qps) {
		policy = qp->slot == PLACE_NONE ? NULL :
			 policy_of(engine, job, qp);
		if (!policy) {
			qp->path = 0;
			continue;
		}
		at = list.data;
		for (n = 0; n < list.n && at[n] != policy; n++)
			;
		if (n == list.n) {
			*(const struct engine_policy **)vec_add(&list) = policy;
			add_policy(engine, policy, paths, policies);
		}
		*(struct chosen *)vec_add(chosen) =
			(struct chosen){ qp, policy };
		item = vec_add(items);
		*item = (struct place_item){ qp->recent, n, qp->at };
	}
	vec_free(&list);
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
 * job_place_look() - once an interval: what did QPs send, and which paths are
 * they to take?
 * @engine: the engine
 */
void job_place_look(struct engine *engine)
{
	struct vec all = VEC_INIT(struct job_qp);
	const struct job *job;
	bool wanted = false;

	vec_for_each(job, &jobs)
		wanted |= job->placed;
	if (wanted && job_flows(engine, &all)) {
		vec_for_each(job, &jobs) {
			if (!job->placed)
				continue;
			follow(job, &all);
			count(&placements[job->slot].qps);
			share_slots(&placements[job->slot].qps);
			place_job(engine, job);
		}
	}
	vec_free(&all);
}

/**
 * job_place_qps() - QPs of a job, and where they are
 * @job: the job
 *
 * Return: struct placed_qp; those with a path are placed.
 */
const struct vec *job_place_qps(const struct job *job)
{
	return &placements[job->slot].qps;
}

/**
 * job_place_forget() - a job begins: what was known of another one is gone
 * @job: the job
 */
void job_place_forget(const struct job *job)
{
	struct placement *p = &placements[job->slot];

	vec_free(&p->qps);
	*p = (struct placement){ .qps = VEC_INIT(struct placed_qp) };
}
