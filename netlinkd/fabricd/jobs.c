// SPDX-License-Identifier: GPL-2.0
/*
 * srpol fabric jobs: where each job is, and what it uses of links: the time
 * that a link needs for the job's bytes alone, and the job's reservation on it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srpol_lib.h"
#include "tenants.h"
#include "words.h"

/**
 * struct load - load of a job
 * @bytes: bytes by link
 * @reserved: reserved bit/s by link
 */
struct load {
	double *bytes;
	double *reserved;
};

/* The load of a job's demands on links according to the plan in force. */
static int load_bytes(const struct workload *w, uint32_t job, double *bytes)
{
	struct srpol_demands own = {};
	uint32_t i;
	int ret;

	own.list = calloc(w->demands.n + 1UL, sizeof(*own.list));
	if (!own.list)
		return -ENOMEM;
	for (i = 0; i < w->demands.n; i++)
		if (w->job[i] == job)
			own.list[own.n++] = w->demands.list[i];
	ret = srpol_planned_load(fabricd.fabric, fabricd.links, fabricd.plan,
				 own.list, own.n, bytes);
	free(own.list);
	return ret;
}

static json_t *link_json(uint32_t l, const struct load *load)
{
	const struct srpol_link *link = &fabricd.fabric->links[l];
	uint64_t capacity = fabricd.links->links[l].capacity;

	return json_pack("{s:s, s:s, s:f, s:I, s:o, s:o}",
			 "from", node_name(link->from),
			 "to", node_name(link->to), "bytes", load->bytes[l],
			 "reserved", (json_int_t)(load->reserved[l] + 0.5),
			 "reserved_part", capacity ?
			 json_real(load->reserved[l] / capacity) : json_null(),
			 "seconds", capacity ?
			 json_real(8 * load->bytes[l] / capacity) :
			 json_null());
}

static double heat(uint32_t l, const struct load *load)
{
	double capacity = fabricd.links->links[l].capacity;

	if (!load->bytes[l] && !load->reserved[l])
		return -1;
	return capacity ? load->bytes[l] / capacity +
			  load->reserved[l] / capacity / 1e9 : 1e300;
}

static json_t *links_json(const struct load *load, bool all)
{
	uint32_t l, hottest = SRPOL_NONE;
	json_t *list = json_array();

	for (l = 0; l < fabricd.fabric->n_links; l++) {
		if (heat(l, load) < 0)
			continue;
		if (all)
			json_array_append_new(list, link_json(l, load));
		else if (hottest == SRPOL_NONE ||
			 heat(l, load) > heat(hottest, load))
			hottest = l;
	}
	if (hottest != SRPOL_NONE)
		json_array_append_new(list, link_json(hottest, load));
	return list;
}

static json_t *reservation_json(const struct reservation *r)
{
	if (!r)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s}",
			 "guaranteed", (json_int_t)r->guaranteed,
			 "wanted", (json_int_t)r->wanted,
			 "least", (json_int_t)r->least,
			 "priority", (json_int_t)reservation_priority(r),
			 "deadline_ms", (json_int_t)r->deadline,
			 "max", (json_int_t)r->max,
			 "until", (json_int_t)r->until, "lost", r->lost);
}

static const char *state_of(const struct input *job,
			    const struct reservation *r)
{
	if (r && !r->ends)
		return record_state(r);
	if (job->wrong)
		return "unreadable";
	if (job->left_out)
		return "unplanned";
	return job->epoch ? "planned" : "announced";
}

static int load_reserved(const struct reservation *r, double *reserved)
{
	struct srpol_links *part = reservable(fabricd.links);
	struct srpol_ledger ledger = {};
	int ret;

	ret = part ? reservations_ledger(part, &ledger) : -ENOMEM;
	ret = ret ?: srpol_ledger_load_one(&ledger, r -
		(struct reservation *)reservations_all()->data, reserved);
	ledger_free(&ledger);
	srpol_links_free(part);
	return ret == -ENOLINK ? 0 : ret;
}

static json_t *job_json(const struct workload *w, uint32_t i, bool all,
			struct load *load)
{
	const struct input *job = (struct input *)fabricd.jobs.data + i;
	size_t bytes = fabricd.fabric->n_links * sizeof(double);
	char tenant[SRPOL_NAME_LEN], name[SRPOL_NAME_LEN];
	const struct reservation *r;
	uint64_t epoch = job->epoch;
	json_t *links = json_array();

	job_names(job, tenant, name);
	r = reservation_find(tenant, name);
	if (r && !r->ends)
		epoch = r->epoch;
	memset(load->bytes, 0, bytes);
	memset(load->reserved, 0, bytes);
	if (plan_in_force(NULL) && !load_bytes(w, i, load->bytes) &&
	    (!reservation_is_live(r) || !load_reserved(r, load->reserved))) {
		json_decref(links);
		links = links_json(load, all);
	}
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:I, s:o}", "tenant", tenant,
			 "name", name, "state", state_of(job, r),
			 "epoch", epoch ? json_integer(epoch) : json_null(),
			 "reservation", reservation_json(r && !r->ends ? r :
							 NULL),
			 "via", job->via ? json_string(srpol_via_name(
				 fabricd.fabric, job->via)) : json_null(),
			 "flows", (json_int_t)job->flows, "links", links);
}

static bool is_wanted(const struct input *job, const char *own,
		      const char *wanted)
{
	char tenant[SRPOL_NAME_LEN], name[SRPOL_NAME_LEN];

	job_names(job, tenant, name);
	return *name && (!own || !strcmp(tenant, own)) &&
	       (!wanted || !strcmp(name, wanted));
}

/**
 * jobs_request() - handle srpol fabric jobs
 * @request: "name" of one job, which is shown with all links that it uses
 * @err: message if the user has no tenant, or the store never answered
 *
 * Links are only shown by the engine that leads: others have no plan.
 */
json_t *jobs_request(const json_t *request, struct srpol_error *err)
{
	bool one = json_object_get(request, "name");
	char wanted[SRPOL_NAME_LEN];
	size_t n = fabricd.fabric->n_links + 1UL;
	struct load load = { calloc(n, sizeof(double)),
			     calloc(n, sizeof(double)) };
	const struct input *jobs = fabricd.jobs.data;
	const char *own = access_tenant();
	struct workload w = {};
	json_t *list = NULL;
	uint32_t i;

	if (!access_check(err) && !tenant_request_can_show(err) &&
	    !words_text(request, "name", "", wanted, sizeof(wanted), err) &&
	    load.bytes && load.reserved &&
	    !workload_read(WORKLOAD_ALL, NULL, &w)) {
		list = json_array();
		for (i = 0; i < fabricd.jobs.n; i++)
			if (is_wanted(&jobs[i], own, one ? wanted : NULL))
				json_array_append_new(list, job_json(&w, i, one,
								     &load));
		workload_free(&w);
	}
	free(load.bytes);
	free(load.reserved);
	return list;
}
