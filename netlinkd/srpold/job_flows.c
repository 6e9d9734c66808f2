// SPDX-License-Identifier: GPL-2.0
/*
 * RoCEv2 flows in the colors of jobs whose QPs are placed, from the flow table,
 * and how much each has sent since the last look.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srpold.h"

/**
 * struct target - a policy of the module that belongs to a placed job
 * @id: id of the policy
 * @slot: slot of the job
 * @since_ns: when the job began
 * @endpoint: endpoint of the policy
 */
struct target {
	uint32_t id;
	uint32_t slot;
	uint64_t since_ns;
	struct in6_addr endpoint;
};

/**
 * struct entry - an entry of the flow table at the last look
 * @nr: number of the entry
 * @qp: destination QP of the flow
 * @dst: inner destination of the flow
 * @bytes: bytes that the flow had sent
 */
struct entry {
	uint32_t nr;
	uint32_t qp;
	struct in6_addr dst;
	uint64_t bytes;
};

/* Sorted by number. */
static struct vec entries = VEC_INIT(struct entry);

static int by_id(const void *a, const void *b)
{
	const struct target *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int by_nr(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->nr > y->nr) - (x->nr < y->nr);
}

static int by_qp(const void *a, const void *b)
{
	const struct job_flow *x = a, *y = b;
	int order;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	order = memcmp(&x->dst, &y->dst, sizeof(x->dst));
	return order ?: (x->qp > y->qp) - (x->qp < y->qp);
}

/*
 * Find the policies of the module whose flows belong to jobs whose QPs are
 * placed.
 */
static bool find_targets(struct engine *engine, struct vec *targets)
{
	struct vec policies = VEC_INIT(struct policy_info);
	const struct policy_info *policy;
	struct srpol_error err = {};
	const struct job *job;
	int ret;

	ret = srpol_fetch(&engine->genl, SRPOL_CMD_POLICY_GET, &policies, &err);
	if (ret)
		log_debug("placement: %s", err.text);
	vec_for_each(policy, &policies)
		vec_for_each(job, &jobs)
			if (!ret && job->placed && job->color == policy->color)
				*(struct target *)vec_add(targets) =
					(struct target){
						policy->id, job->slot,
						job->since_ns,
						policy->endpoint,
					};
	vec_free(&policies);
	if (targets->n)
		qsort(targets->data, targets->n, targets->size, by_id);
	return !ret;
}

/*
 * Bytes sent since the last look: all of them if the entry was another flow's
 * then, or has been given away meanwhile and is this flow's again.
 */
static uint64_t sent_by(const struct srpol_flow *flow, const struct entry *now)
{
	const struct entry *was = NULL;

	if (entries.n)
		was = bsearch(now, entries.data, entries.n, entries.size,
			      by_nr);
	if (!was || was->qp != now->qp || was->bytes > now->bytes ||
	    memcmp(&was->dst, &now->dst, sizeof(now->dst)))
		return flow->bytes;
	return now->bytes - was->bytes;
}

static void add_flow(const struct srpol_flow *flow, uint32_t nr,
		     const struct target *target, struct vec *read,
		     struct vec *all)
{
	struct entry *entry = vec_add(read);
	struct job_flow *to = vec_add(all);

	entry->nr = nr;
	entry->qp = flow->key.qp;
	memcpy(&entry->dst, flow->key.daddr, sizeof(entry->dst));
	entry->bytes = flow->bytes;
	to->slot = target->slot;
	to->dst = entry->dst;
	to->qp = entry->qp;
	memcpy(&to->src, flow->key.saddr, sizeof(to->src));
	to->endpoint = target->endpoint;
	to->takes = flow->path;
	to->more = sent_by(flow, entry);
}

static bool read_flows(const struct vec *targets, struct vec *all)
{
	struct vec read = VEC_INIT(struct entry);
	struct srpol_flow_table table;
	const struct target *target;
	static bool is_other;
	struct srpol_flow flow;
	uint32_t nr = 0;
	int ret;

	ret = srpol_flows_open(&table);
	if (ret == -EPROTONOSUPPORT && !is_other)
		log_error("the data plane was loaded by another version of srpol: what flows send is not known until all devices were removed and added again");
	is_other = ret == -EPROTONOSUPPORT;
	if (ret)
		return false;
	while (targets->n && srpol_flows_next(&table, &nr, &flow, NULL)) {
		/*
		 * QPs 0 and 1 are for management and belong to no job. A flow
		 * that no rule steers came to a binding SID and is another
		 * host's.
		 */
		if (!flow.key.roce || flow.key.qp < 2 || !flow.rule_id)
			continue;
		target = bsearch(&(struct target){ .id = flow.cache.policy },
				 targets->data, targets->n, targets->size,
				 by_id);
		/*
		 * a flow that ended earlier may be of a former policy with this
		 * number
		 */
		if (target && flow.last_ns >= target->since_ns)
			add_flow(&flow, nr, target, &read, all);
	}
	srpol_flows_close(&table);
	vec_free(&entries);
	entries = read;
	return true;
}

/**
 * job_flows() - read flows of RoCEv2 in the colors of placed jobs
 * @engine: the engine
 * @all: struct job_flow, result: by slot of the job, destination and QP
 *
 * Return: false if the flows could not be read.
 */
bool job_flows(struct engine *engine, struct vec *all)
{
	struct vec targets = VEC_INIT(struct target);
	bool good;

	good = find_targets(engine, &targets) && read_flows(&targets, all);
	vec_free(&targets);
	if (good && all->n)
		qsort(all->data, all->n, all->size, by_qp);
	return good;
}
