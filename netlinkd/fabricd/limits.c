// SPDX-License-Identifier: GPL-2.0
/*
 * Limits for what hosts may send in a tenant's color. They are part of each
 * epoch's index, so they are covered by the digest in the head and arrive with
 * the plan.
 */
#include <stdlib.h>
#include <string.h>

#include "tenants.h"
#include "srpol_lib.h"

/*
 * What a tenant's jobs may use together, 0: no limit. Hosts see a color, not
 * jobs, so there is a limit only if all jobs have a maximum.
 */
static uint64_t jobs_max(const struct tenant *tenant)
{
	char owner[SRPOL_NAME_LEN], name[SRPOL_NAME_LEN];
	const struct reservation *r;
	const struct input *job;
	uint64_t sum = 0;
	size_t n;

	for (job = workload_jobs_of(tenant->name, &n); n; job++, n--) {
		job_names(job, owner, name);
		/* one that cannot be read sends nothing */
		if (strcmp(owner, tenant->name) || job->wrong)
			continue;
		r = reservation_find(tenant->name, name);
		if (!reservation_is_live(r) || !r->max)
			return 0;
		sum += r->max < SRPOL_RATE_MAX - sum ? r->max :
		       SRPOL_RATE_MAX - sum;
	}
	return sum;
}

/**
 * limits_make() - set the limits of all tenants that have one
 * @index: index of the epoch being prepared
 */
void limits_make(struct srpol_index *index)
{
	const struct tenant **tenants, *t;
	uint64_t jobs, rate;
	size_t n, i;

	tenants = tenants_by_color(&n);
	index->limits = store_alloc((n + 1) * sizeof(*index->limits));
	for (i = 0; i < n; i++) {
		t = tenants[i];
		jobs = jobs_max(t);
		rate = !t->max || (jobs && jobs < t->max) ? jobs : t->max;
		if (rate)
			index->limits[index->n_limits++] =
				(struct srpol_limit_rate){
					.color = t->color, .rate = rate,
				};
	}
	free(tenants);
}

/**
 * limits_equal() - whether two epochs have the same limits
 * @a: index of one epoch
 * @b: index of the other epoch
 */
bool limits_equal(const struct srpol_index *a, const struct srpol_index *b)
{
	uint32_t i;

	if (a->n_limits != b->n_limits)
		return false;
	for (i = 0; i < a->n_limits; i++)
		if (a->limits[i].color != b->limits[i].color ||
		    a->limits[i].rate != b->limits[i].rate)
			return false;
	return true;
}
