// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs whose traffic passes functions of switches. A host recognizes packets of
 * a job by the tenant's color, which also determines the function's SID: all
 * traffic of a color passes the same function, or none. The engine does not
 * know what a function does; it reports the model in the topology file.
 */
#include <errno.h>
#include <string.h>

#include "function_json.h"
#include "srpol_lib.h"
#include "tenants.h"

static bool is_of(const struct input *job, const char *tenant)
{
	char owner[SRPOL_NAME_LEN], name[SRPOL_NAME_LEN];

	job_names(job, owner, name);
	return !strcmp(owner, tenant);
}

/*
 * A tenant's first job, in the order of names, that sends something; NULL:
 * none.
 */
static const struct input *first_job(const char *tenant)
{
	const struct input *job;
	size_t n;

	for (job = workload_jobs_of(tenant, &n); n; job++, n--)
		if (job->sends && is_of(job, tenant))
			return job;
	return NULL;
}

/**
 * via_of_tenant() - function that a tenant's packets pass
 * @tenant: name of the tenant
 *
 * Return: as in struct srpol_demand; 0: none.
 */
uint32_t via_of_tenant(const char *tenant)
{
	const struct input *job = first_job(tenant);

	return job ? job->via : 0;
}

static const char *word_of(uint32_t via)
{
	return via ? srpol_via_name(fabricd.fabric, via) : "none";
}

/**
 * via_check() - check that a tenant's job may ask for a function
 * @tenant: name of the tenant
 * @via: the function, 0: none
 * @err: message on failure
 */
int via_check(const char *tenant, uint32_t via, struct srpol_error *err)
{
	const struct input *job = first_job(tenant);

	if (via && !tenant_find(tenant))
		return srpol_error_set(err, -EINVAL,
				       "there is no tenant \"%s\", by whose color hosts would know what goes through \"%s\"",
				       tenant, word_of(via));
	if (!job || job->via == via)
		return 0;
	return srpol_error_set(err, -EINVAL,
			       "hosts tell packets by the tenant's color: function %s is asked for, and the tenant's other jobs have %s",
			       word_of(via), word_of(job->via));
}

/* Jobs that pass a function in the plan. */
static json_t *users_of(uint32_t function)
{
	char tenant[SRPOL_NAME_LEN], name[SRPOL_NAME_LEN];
	json_t *list = json_array();
	const struct input *job;
	struct srpol_error err;

	vec_for_each(job, &fabricd.jobs) {
		job_names(job, tenant, name);
		if (job->via && srpol_function_is(fabricd.fabric, function,
						  job->via) &&
		    !via_check(tenant, job->via, &err))
			json_array_append_new(list, json_pack("{s:s, s:s}",
				"tenant", tenant, "name", name));
	}
	return list;
}

/**
 * functions_json() - functions of switches, with the jobs that pass them
 * @max: largest number of functions to list
 */
json_t *functions_json(uint32_t max)
{
	json_t *list = json_array(), *o;
	uint32_t i;

	for (i = 0; i < fabricd.fabric->n_functions && i < max; i++) {
		o = srpol_function_json(fabricd.fabric, i);
		json_object_set_new(o, "jobs", users_of(i));
		json_array_append_new(list, o);
	}
	return list;
}

/**
 * functions_request() - handle srpol fabric functions
 * @request: no further members
 * @err: not used
 */
json_t *functions_request(const json_t *request, struct srpol_error *err)
{
	return functions_json(UINT32_MAX);
}
