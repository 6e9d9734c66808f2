// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs and their tenants: what they send, and at which switches their traffic
 * enters and leaves the fabric. Computed on demand, if a job has changed.
 */
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"
#include "tenants.h"
#include "web.h"

#define JOBS_MAX	200	/* listed one by one */
#define TENANTS_MAX	32	/* with bits of their own; others share the
				 * last */

/**
 * struct view_job - a job as the page shows it
 * @key: its key
 * @text: address of its text when it was read, to detect changes
 * @len: length of @text in bytes, for the same purpose
 * @tenant: index of its tenant
 * @demands: number of its demands
 * @bytes: sum of the bytes of its demands
 * @heard: when it was announced
 */
struct view_job {
	char *key;
	const char *text;
	size_t len;
	uint32_t tenant;
	uint32_t demands;
	double bytes;
	time_t heard;
};

static struct vec jobs = VEC_INIT(struct view_job);
static char tenants[TENANTS_MAX][STORE_KEY_LEN];
static uint32_t n_tenants;
static uint32_t *at;		/* by node: bit set of tenants */

static bool is_current(void)
{
	const struct view_job *mine = jobs.data;
	const struct input *job;

	if (!at || jobs.n != fabricd.jobs.n)
		return false;
	vec_for_each(job, &fabricd.jobs) {
		if (mine->text != job->text || mine->len != job->len ||
		    mine->heard != job->heard || strcmp(mine->key, job->key))
			return false;
		mine++;
	}
	return true;
}

/* Index of the tenant in a key "job/TENANT/JOB". */
static uint32_t tenant_of(const char *key)
{
	const char *name = key + strlen("job/");
	size_t len = strcspn(name, "/");
	uint32_t i;

	for (i = 0; i < n_tenants; i++)
		if (!strncmp(tenants[i], name, len) && !tenants[i][len])
			return i;
	if (n_tenants == TENANTS_MAX)
		return TENANTS_MAX - 1;
	memcpy(tenants[n_tenants], name, len);
	tenants[n_tenants][len] = '\0';
	return n_tenants++;
}

static void mark_leaves(uint32_t gpu, uint32_t tenant)
{
	const struct srpol_fabric *f = fabricd.fabric;
	const struct srpol_gpu *g = &f->gpus[gpu];
	uint32_t i;

	for (i = g->nic; i < g->nic + g->n; i++)
		at[f->nics[i].leaf] |= 1u << tenant;
}

static void read_demands(struct view_job *job)
{
	struct srpol_demands demands = {};
	const struct srpol_demand *d;
	uint32_t i;

	srpol_demands_read(fabricd.fabric, job->text, job->len, &demands, NULL);
	job->demands = demands.n;
	for (i = 0; i < demands.n; i++) {
		d = &demands.list[i];
		job->bytes += d->bytes;
		mark_leaves(d->src, job->tenant);
		mark_leaves(d->dst, job->tenant);
	}
	srpol_demands_free(&demands);
}

/**
 * view_jobs_read() - read the current jobs
 */
void view_jobs_read(void)
{
	const struct input *job;
	struct view_job *mine;

	if (is_current())
		return;
	view_jobs_free();
	at = store_alloc((fabricd.fabric->n_nodes + 1) * sizeof(*at));
	vec_for_each(job, &fabricd.jobs) {
		mine = vec_add(&jobs);
		*mine = (struct view_job){
			.key = strdup(job->key), .text = job->text,
			.len = job->len, .tenant = tenant_of(job->key),
			.heard = job->heard,
		};
		if (!mine->key)
			abort();
		read_demands(mine);
	}
}

/**
 * view_tenants_at() - tenants whose traffic enters or leaves the fabric at a
 * switch
 * @node: the switch
 *
 * Return: bit set of indices in view_tenants().
 */
uint32_t view_tenants_at(uint32_t node)
{
	return at ? at[node] : 0;
}

/* What is reserved for it, null: nothing. */
static json_t *bandwidth_json(const struct view_job *job)
{
	const char *name = strrchr(job->key, '/') + 1;
	const char *owner = job->key + strlen("job/");
	char tenant[SRPOL_NAME_LEN];
	const struct reservation *r;

	snprintf(tenant, sizeof(tenant), "%.*s", (int)strcspn(owner, "/"),
		 owner);
	r = reservation_find(tenant, name);
	if (!r || r->ends)
		return json_null();
	return json_pack("{s:I, s:I, s:s}",
			 "guaranteed", (json_int_t)r->guaranteed,
			 "wanted", (json_int_t)r->wanted,
			 "state", record_state(r));
}

/**
 * view_jobs() - jobs as JSON
 */
json_t *view_jobs(void)
{
	json_t *list = json_array();
	const struct view_job *job;

	vec_for_each(job, &jobs) {
		if (json_array_size(list) == JOBS_MAX)
			break;
		json_array_append_new(list,
			json_pack("{s:s, s:I, s:I, s:f, s:o, s:I}",
				  "job", job->key + strlen("job/"),
				  "tenant", (json_int_t)job->tenant,
				  "demands", (json_int_t)job->demands,
				  "bytes", job->bytes,
				  "bandwidth", bandwidth_json(job),
				  "at", (json_int_t)job->heard));
	}
	return json_pack("{s:I, s:o}", "n", (json_int_t)jobs.n, "list", list);
}

/**
 * view_tenants() - names of tenants, by index
 */
json_t *view_tenants(void)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < n_tenants; i++)
		json_array_append_new(list, json_string(tenants[i]));
	return list;
}

/**
 * view_jobs_free() - free what was read
 */
void view_jobs_free(void)
{
	struct view_job *job;

	vec_for_each(job, &jobs)
		free(job->key);
	vec_free(&jobs);
	free(at);
	at = NULL;
	n_tenants = 0;
}
