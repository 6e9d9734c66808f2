// SPDX-License-Identifier: GPL-2.0
/*
 * QPs that a previous srpold had placed: its rules are still in the module.
 * They are kept, and the first look starts from them.
 */
#include <string.h>

#include "place.h"
#include "srpold.h"

static const struct job *job_of(const struct rule_info *rule)
{
	const struct job *job;

	vec_for_each(job, &jobs)
		if (job->placed && job->color == rule->color &&
		    !strcmp(job->name, rule->name))
			return job;
	return NULL;
}

/* Is it a rule of the engine for a placed QP, as job_rules.c makes them? */
static bool is_place(const struct engine *engine, const struct rule_info *rule)
{
	const uint32_t also = SRPOL_MATCH_DEV | SRPOL_MATCH_SRC;
	uint32_t first = engine->config.job_prio;

	return rule->origin == SRPOL_ORIGIN_ENGINE && rule->path &&
	       rule->priority >= first &&
	       rule->priority - first < JOBS_MAX * JOB_RULES &&
	       (rule->priority - first) % JOB_RULES < JOB_PLACED &&
	       (rule->match & ~also) == (SRPOL_MATCH_QP | SRPOL_MATCH_DST) &&
	       rule->qp[0] == rule->qp[1] && rule->dst_len == 128;
}

/**
 * job_adopt() - keep QPs of jobs on the paths in the module's rules
 * @engine: the engine, which has read its jobs but not looked at any yet
 */
void job_adopt(struct engine *engine)
{
	struct vec rules = VEC_INIT(struct rule_info);
	const struct rule_info *rule;
	struct srpol_error err = {};
	const struct job *job;
	uint32_t n = 0;

	if (srpol_fetch(&engine->genl, SRPOL_CMD_RULE_GET, &rules, &err))
		log_debug("placement: %s", err.text);
	vec_for_each(rule, &rules) {
		job = is_place(engine, rule) ? job_of(rule) : NULL;
		n += job && job_place_keep(job, &(struct placed_qp){
			.dst = rule->dst, .qp = rule->qp[0],
			.ifindex = rule->ifindex, .at = PLACE_NONE,
			.slot = (rule->priority - engine->config.job_prio) %
				JOB_RULES,
			.path = rule->path,
		});
	}
	if (n)
		log_info("%u QPs stay where they were placed", n);
	vec_free(&rules);
}
