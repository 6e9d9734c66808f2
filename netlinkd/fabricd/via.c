// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs that go through functions of switches. A host tells packets of a job by
 * the tenant's color, and so which function's SID they get: in a color all goes
 * through the same one, or none. What a function does is not known here: what is
 * told of it is the topology file's model.
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
 * The first job of a tenant by name that sends something counts; NULL: it has
 * none. O(log jobs), and those before it.
 */
static const struct input *first_job(const char *tenant)
{
	const struct input *jobs = fabricd.jobs.data;
	size_t a = 0, b = fabricd.jobs.n, mid;
	char key[STORE_KEY_LEN];

	key_job(key, tenant, "");
	while (a < b) {
		mid = a + (b - a) / 2;
		if (strcmp(jobs[mid].key, key) < 0)
			a = mid + 1;
		else
			b = mid;
	}
	for (; a < fabricd.jobs.n && is_of(&jobs[a], tenant); a++)
		if (jobs[a].sends)
			return &jobs[a];
	return NULL;
}

/**
 * via_of_tenant() - what a tenant's packets go through
 * @tenant: its name
 *
 * Return: see struct srpol_demand; 0: nothing.
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
 * via_check() - may a job of this tenant ask for this function?
 * @tenant: its name
 * @via: what it asks for, 0: nothing
 * @err: why not
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

/* Jobs that are planned for. */
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
 * functions_json() - functions of switches, with the jobs that go through them
 * @max: of them
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
 * functions_request() - srpol fabric functions
 * @request: nothing more
 * @err: not used
 */
json_t *functions_request(const json_t *request, struct srpol_error *err)
{
	return functions_json(UINT32_MAX);
}
