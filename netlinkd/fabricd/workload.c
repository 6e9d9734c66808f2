// SPDX-License-Identifier: GPL-2.0
/* All demands and their colors: those that jobs announce, and forecasts. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forecasts.h"
#include "srpol_lib.h"

#define NO_TENANT	1	/* color of demands without a tenant */

static bool plans;	/* what is read becomes the plan, not an answer */

/**
 * job_names() - split a job's key into names
 * @job: job
 * @tenant: result, SRPOL_NAME_LEN bytes: tenant; empty if the key is invalid
 * @name: result, SRPOL_NAME_LEN bytes: name of the job
 */
void job_names(const struct input *job, char *tenant, char *name)
{
	const char *at = job->key + strlen("job/"), *slash = strchr(at, '/');

	tenant[0] = name[0] = '\0';
	if (!slash || slash - at >= SRPOL_NAME_LEN ||
	    strlen(slash + 1) >= SRPOL_NAME_LEN)
		return;
	snprintf(tenant, SRPOL_NAME_LEN, "%.*s", (int)(slash - at), at);
	strcpy(name, slash + 1);
}

/**
 * workload_jobs_of() - jobs of a tenant, found in O(log jobs)
 * @tenant: name of the tenant
 * @n: result: number of them
 *
 * Return: the first, in the order of names; NULL if there are none. The others
 * follow, and keys with a name that job_names() does not take may be among them.
 */
const struct input *workload_jobs_of(const char *tenant, size_t *n)
{
	char prefix[STORE_KEY_LEN];

	return inputs_with_prefix(&fabricd.jobs, key_job(prefix, tenant, ""), n);
}

/**
 * workload_is_reserved() - whether bandwidth is reserved for a job, and hosts are
 * told so
 * @job: the job
 */
bool workload_is_reserved(const struct input *job)
{
	char tenant[SRPOL_NAME_LEN], name[SRPOL_NAME_LEN];

	job_names(job, tenant, name);
	return reservation_is_told(reservation_find(tenant, name));
}

static bool is_wanted(enum workload_part part, const struct tenant *of,
		      const struct tenant *tenant, const struct input *job,
		      const char *name)
{
	bool sliced = tenant && (tenant->allowed || job->via);

	if (part == WORKLOAD_ALL || part == WORKLOAD_JOBS)
		return true;
	/* this is asked of every job for every tenant, and reservations are many */
	if (part == WORKLOAD_SLICED && tenant != of)
		return false;
	if (tenant && reservation_is_told(reservation_find(tenant->name, name)))
		return false;
	if (part == WORKLOAD_FLOWS || job->flows)
		return part == WORKLOAD_FLOWS && job->flows;
	return part == WORKLOAD_SLICED || !sliced;
}

/**
 * workload_plans() - whether what is read from now on is for the plan that comes into force
 * @is: it is; otherwise for an answer, or for what would be
 */
void workload_plans(bool is)
{
	plans = is;
}

/*
 * Valid by itself, but not together with others. Answers are about more jobs than any part
 * of the plan is, or about other ones, so what they leave out may well be planned for.
 */
static void note_left_out(enum workload_part part, struct input *job, bool is_left_out,
			  const struct srpol_error *err)
{
	if (part == WORKLOAD_ALL || part == WORKLOAD_JOBS || !plans)
		return;
	if (is_left_out && !job->left_out)
		log_error("%s is not planned for: %s", job->key, err->text);
	if (is_left_out)
		job->epoch = 0;
	job->left_out = is_left_out;
}

static int read_jobs(enum workload_part part, const struct tenant *of,
		     struct workload *w)
{
	char tenant_name[SRPOL_NAME_LEN], name[SRPOL_NAME_LEN];
	struct srpol_error err = {};
	const struct tenant *tenant;
	uint32_t *owner, i, k = 0;
	struct input *job;
	bool wanted, looked;
	int ret;

	vec_for_each(job, &fabricd.jobs) {
		i = w->demands.n;
		job_names(job, tenant_name, name);
		tenant = tenant_find(tenant_name);
		wanted = job->sends && is_wanted(part, of, tenant, job, name);
		/* one that passes what its tenant's others do not may be in no part at all */
		looked = wanted || (job->sends && part == WORKLOAD_FORECAST && tenant &&
				    !reservation_is_told(reservation_find(tenant_name, name)));
		ret = looked ? via_check(tenant_name, job->via, &err) : 0;
		if (ret)
			note_left_out(part, job, true, &err);
		if (wanted && !ret) {
			ret = srpol_demands_read(fabricd.fabric, job->text, job->len,
						 &w->demands, &err);
			if (ret == -ENOMEM)
				return ret;
			note_left_out(part, job, ret, &err);
		}
		owner = realloc(w->job, (w->demands.n + 1UL) * sizeof(*owner));
		if (!owner)
			return -ENOMEM;
		w->job = owner;
		for (; i < w->demands.n; i++) {
			w->demands.list[i].color = tenant ? tenant->color :
						   NO_TENANT;
			w->job[i] = k;
		}
		k++;
	}
	return 0;
}

/**
 * workload_read() - demands of jobs, in order of the jobs' keys, then forecasts
 * @part: which demands to read
 * @of: the tenant, if @part is about one
 * @w: result, to be freed
 */
int workload_read(enum workload_part part, const struct tenant *of,
		  struct workload *w)
{
	int ret;

	*w = (struct workload){};
	ret = read_jobs(part, of, w);
	w->room = w->demands.n + 1;
	if (!ret && (part == WORKLOAD_ALL || part == WORKLOAD_FORECAST))
		ret = forecasts_add(w, part == WORKLOAD_FORECAST);
	if (ret)
		workload_free(w);
	return ret;
}

/**
 * workload_end() - the end of a job's last demand
 * @w: demands
 * @job: index of the job
 * @finish: by demand: when it ends
 */
double workload_end(const struct workload *w, uint32_t job,
		    const double *finish)
{
	double end = 0;
	uint32_t i;

	for (i = 0; i < w->demands.n; i++)
		if (w->job[i] == job)
			end = fmax(end, finish[i]);
	return end;
}

/**
 * workload_free() - free demands
 * @w: the demands
 */
void workload_free(struct workload *w)
{
	srpol_demands_free(&w->demands);
	free(w->job);
	*w = (struct workload){};
}
