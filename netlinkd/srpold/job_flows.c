// SPDX-License-Identifier: GPL-2.0
/*
 * QPs that send in the colors of jobs that are placed, by the table of flows.
 */
#include <stdlib.h>
#include <string.h>

#include "srpold.h"

/**
 * struct target - a policy of the module that is of such a job
 * @id: of the policy
 * @slot: of the job
 * @endpoint: of the policy
 */
struct target {
	uint32_t id;
	uint32_t slot;
	struct in6_addr endpoint;
};

static int by_id(const void *a, const void *b)
{
	const struct target *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int by_slot(const void *a, const void *b)
{
	const struct job_qp *x = a, *y = b;
	int order;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	order = memcmp(&x->now.dst, &y->now.dst, sizeof(x->now.dst));
	return order ?: (x->now.qp > y->now.qp) - (x->now.qp < y->now.qp);
}

/* Policies of the module whose flows are those of jobs that are placed. */
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
						policy->endpoint,
					};
	vec_free(&policies);
	if (targets->n)
		qsort(targets->data, targets->n, targets->size, by_id);
	return !ret;
}

/* One for each QP: several flows of it, by opcode or port, are together. */
static void merge(struct vec *all)
{
	struct job_qp *seen, *last = NULL;
	size_t n = 0;

	if (all->n)
		qsort(all->data, all->n, all->size, by_slot);
	vec_for_each(seen, all) {
		if (last && !by_slot(last, seen)) {
			last->now.bytes += seen->now.bytes;
			continue;
		}
		last = (struct job_qp *)all->data + n++;
		*last = *seen;
	}
	all->n = n;
}

static bool read_flows(const struct vec *targets, struct vec *all)
{
	struct srpol_flow_table table;
	const struct target *target;
	struct srpol_flow flow;
	struct job_qp *seen;
	uint32_t nr = 0;

	if (srpol_flows_open(&table))
		return false;
	while (srpol_flows_next(&table, &nr, &flow)) {
		/* numbers 0 and 1 are everybody's, for management */
		if (!targets->n || !flow.key.roce || flow.key.qp < 2)
			continue;
		target = bsearch(&(struct target){ .id = flow.policy },
				 targets->data, targets->n, targets->size,
				 by_id);
		if (!target)
			continue;
		seen = vec_add(all);
		seen->slot = target->slot;
		memcpy(&seen->src, flow.key.saddr, sizeof(seen->src));
		memcpy(&seen->now.dst, flow.key.daddr, sizeof(seen->now.dst));
		seen->now.qp = flow.key.qp;
		seen->now.endpoint = target->endpoint;
		seen->now.takes = flow.path;
		seen->now.bytes = flow.bytes;
	}
	srpol_flows_close(&table);
	return true;
}

/**
 * job_flows() - QPs of jobs that are placed, and what their flows sent
 * @engine: the engine
 * @all: struct job_qp, result: by slot of the job, destination and number
 *
 * Return: false if nobody knows.
 */
bool job_flows(struct engine *engine, struct vec *all)
{
	struct vec targets = VEC_INIT(struct target);
	bool good;

	good = find_targets(engine, &targets) && read_flows(&targets, all);
	vec_free(&targets);
	if (good)
		merge(all);
	return good;
}
