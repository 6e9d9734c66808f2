// SPDX-License-Identifier: GPL-2.0
/*
 * The color that carries a job's packets while none of the job's own paths is up:
 * what the job says, else what the plan says of its color. The module switches by
 * itself, so this is in its policies before anything fails.
 *
 * Where the plan names a backup for a color it also names the switches that paths
 * of the color are limited to. Without that limit the engine's own candidate path
 * would go on over any other switch, and the backup never be needed.
 */
#include <errno.h>
#include <stdlib.h>

#include "backups.h"
#include "srpold.h"

/* Take away the paths that the plan does not allow. */
static int limit(const struct engine *engine, const struct srpol_backup *b,
		 struct engine_policy *policy)
{
	const struct srpol_fabric *f = engine->fabric;
	uint32_t tiers = srpol_backup_tiers(f, b);
	struct srpol_path_set set;
	struct srpol_route route;
	uint32_t i;
	int ret;

	ret = srpol_path_set_init(f, policy->src, policy->dst, &set);
	if (ret)
		return ret;
	if (!policy->slice) {
		policy->slice = calloc(policy->n + 1, sizeof(*policy->slice));
		for (i = 0; policy->slice && i < policy->n; i++)
			policy->slice[i] = true;
	}
	for (i = 0; policy->slice && i < policy->n; i++) {
		srpol_path_get(f, &set, i, &route);
		policy->slice[i] &= srpol_backup_allows(f, b, tiers, &route);
	}
	srpol_path_set_free(&set);
	return policy->slice ? 0 : -ENOMEM;
}

/**
 * backup_changes() - whether some job has another backup by another plan
 * @now: index of the plan in force, NULL: none
 * @next: index of the other one, NULL: none
 *
 * A tenant's backup is told all hosts, most of which have no job in its color.
 */
bool backup_changes(const struct srpol_index *now,
		    const struct srpol_index *next)
{
	const struct job *job;

	vec_for_each(job, &jobs)
		if (!srpol_backup_equal(srpol_backup_find(now, job->color),
					srpol_backup_find(next, job->color)))
			return true;
	return false;
}

/**
 * backup_apply() - give a policy of a job its backup color
 * @engine: the engine
 * @job: the job
 * @policy: one of its policies, with its paths and its slice
 *
 * Return: 0 or -ENOMEM.
 */
int backup_apply(const struct engine *engine, const struct job *job,
		 struct engine_policy *policy)
{
	const struct srpol_backup *b = plan_backup(policy);

	policy->of_job = true;
	policy->backup = job->backup ?: b ? b->backup : 0;
	return b && b->n ? limit(engine, b, policy) : 0;
}
