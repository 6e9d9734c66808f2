// SPDX-License-Identifier: GPL-2.0
/*
 * Input of the plan: the last value of each job and each report. An event
 * replaces the value before, so memory depends on the number of keys, not of
 * events. An invalid value is refused and counted, and the last valid one
 * stays. A job that never had one, as its hosts are not of this topology any more, say,
 * sends nothing, but can be deleted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabricd.h"
#include "srpol_lib.h"
#include "tenants.h"

#define POLL_NS		(30 * NS_PER_SEC)

static struct mirror job_mirror, report_mirror;
static bool jobs_changed;
static uint64_t events;		/* planned for, or about to be */
static char report_prefix[STORE_KEY_LEN];

static int by_key(const void *a, const void *b)
{
	const struct input *x = a, *y = b;

	return strcmp(x->key, y->key);
}

static struct input *find(const struct vec *list, const char *key)
{
	struct input want = { .key = (char *)key };

	return list->n ? bsearch(&want, list->data, list->n, sizeof(want),
				 by_key) : NULL;
}

static void free_input(void *data)
{
	struct input *input = data;

	free(input->key);
	free(input->text);
	report_clear(input);
}

static struct sweep jobs = {
	.list = &fabricd.jobs, .stale = offsetof(struct input, stale),
	.free = free_input,
};

static struct sweep foreign = {
	.list = &fabricd.foreign, .stale = offsetof(struct input, stale),
	.free = free_input,
};

static struct sweep reports = {
	.list = &fabricd.reports, .stale = offsetof(struct input, stale),
	.free = free_input,
};

static struct input *make(struct vec *list, const char *key)
{
	struct input *input = find(list, key), new = {};

	if (input)
		return input;
	new.key = strdup(key);
	if (!new.key)
		abort();
	return vec_insert(list, &new, by_key);
}

static void keep_text(struct input *input, const struct store_kv *kv)
{
	free(input->text);
	input->text = store_alloc(kv->len + 1);
	memcpy(input->text, kv->value, kv->len);
	input->len = kv->len;
	input->heard = time(NULL);
}

static uint64_t since(const struct input *before, uint32_t cable)
{
	const struct input_suspicion *s;

	vec_for_each(s, &before->suspicions)
		if (s->cable[0] == cable)
			return s->since_ns;
	/* an earlier leader has waited for what is there at first */
	return reports.is_read ? now_ns() : 0;
}

/* Take what was read of a report in place of what was there before. */
static void take_report(struct input *input, const struct input *new)
{
	struct input_suspicion *s;

	vec_for_each(s, &new->suspicions)
		s->since_ns = since(input, s->cable[0]);
	report_clear(input);
	input->host = new->host;
	input->number = new->number;
	input->links = new->links;
	input->suspicions = new->suspicions;
	input->passes = new->passes;
	input->but = new->but;
	input->outdated = false;
}

static void set_report(void *data, const struct store_kv *kv)
{
	struct input *input = find(&fabricd.reports, kv->key), new = {};
	struct srpol_error err = {};

	if (input)
		input->stale = false;
	if (input && kv->value && input->len == kv->len &&
	    !memcmp(input->text, kv->value, kv->len)) {
		input->outdated = false;
		return;
	}
	if (!kv->value) {
		fabricd.stats.events++;
		if (input)
			sweep_remove(&reports, input);
		return;
	}
	if (report_read(kv, &new, &err)) {
		if (input)
			input->outdated = true;
		if (!mirror_is_news(&report_mirror, kv))
			return;
		fabricd.stats.events++;
		fabricd.stats.refused++;
		log_notice("%s: wrong report%s: %s", kv->key,
			   input ? ", the last good one stays" : "", err.text);
		return;
	}
	fabricd.stats.events++;
	input = make(&fabricd.reports, kv->key);
	keep_text(input, kv);
	take_report(input, &new);
}

/*
 * Each shard may have its own topology, but jobs of all share one prefix. An embedded
 * store has one shard only, so a job of other hosts is one whose hosts are gone.
 */
static bool is_foreign(const struct store_kv *kv)
{
	if (config_serves_store() ||
	    !srpol_demands_are_foreign(fabricd.fabric, fabricd.config.shard, kv->value,
				       kv->len))
		return false;
	log_debug("%s: a job of hosts that are not of this shard", kv->key);
	return true;
}

/*
 * Who may write jobs may write any key; what shows jobs has room for shorter ones, and
 * would leave out what is no text, though it is planned for.
 */
static int check_key(const char *key, struct srpol_error *err)
{
	if (strlen(key) >= STORE_KEY_LEN)
		return srpol_error_set(err, -ENAMETOOLONG,
				       "its key has more than %u bytes",
				       STORE_KEY_LEN - 1);
	if (!job_is_text(key))
		return srpol_error_set(err, -EILSEQ,
				       "its key has a control character, or is not UTF-8");
	return 0;
}

/* Keeps the key of a job of another shard, and forgets it if it is none any more. */
static bool note_foreign(const struct store_kv *kv)
{
	struct input *known = find(&fabricd.foreign, kv->key);

	if (kv->value && strlen(kv->key) < STORE_KEY_LEN &&
	    job_is_text(kv->key) && is_foreign(kv)) {
		known = known ?: make(&fabricd.foreign, kv->key);
		known->len = kv->len;
		known->stale = false;
		return true;
	}
	if (known)
		sweep_remove(&foreign, known);
	return false;
}

static void begin_jobs(void *data, uint64_t cluster)
{
	room_read(cluster);
	sweep_begin(&jobs, cluster);
	sweep_begin(&foreign, cluster);
}

static void tell_refused(const struct store_kv *kv, const char *why, bool stays)
{
	if (!mirror_is_news(&job_mirror, kv))
		return;
	fabricd.stats.events++;
	fabricd.stats.refused++;
	log_notice("%s: %s%s", job_is_text(kv->key) ? kv->key : "a job", why,
		   stays ? "; what was announced before stays" : "");
}

/* Takes a value, of which @demands were read; NULL: they could not be. */
static void take_job(const struct store_kv *kv, const struct srpol_demands *demands)
{
	const struct srpol_demand *d = demands && demands->n ? demands->list : NULL;
	struct input *input = make(&fabricd.jobs, kv->key);

	keep_text(input, kv);
	input->mod = kv->mod;
	input->epoch = 0;
	input->via = d ? d->via : 0;
	input->flows = d ? d->flows : 0;
	input->sends = d;
	input->wrong = !demands;
	input->spoiled = input->left_out = false;
	jobs_changed = true;
}

static void set_job(void *data, const struct store_kv *kv)
{
	struct input *input = find(&fabricd.jobs, kv->key);
	struct srpol_demands demands = {};
	struct srpol_error err = {};

	if (input) {
		input->stale = false;
		input->mod = kv->mod;
	}
	if (input && kv->value && input->len == kv->len &&
	    !memcmp(input->text, kv->value, kv->len)) {
		input->spoiled = false;
		return;
	}
	if (note_foreign(kv) || !kv->value) {
		if (!input)
			return;
		fabricd.stats.events++;
		sweep_remove(&jobs, input);
		jobs_changed = true;
		return;
	}
	if (check_key(kv->key, &err)) {
		tell_refused(kv, err.text, false);
	} else if (!srpol_demands_read(fabricd.fabric, kv->value, kv->len, &demands,
				       &err)) {
		fabricd.stats.events++;
		take_job(kv, &demands);
	} else if (input && !input->wrong) {
		tell_refused(kv, err.text, true);
		input->spoiled = true;
	} else {
		tell_refused(kv, err.text, false);
		take_job(kv, NULL);
	}
	srpol_demands_free(&demands);
}

static void end(void *data)
{
	size_t gone = sweep_gone(data);
	static bool ready;

	fabricd.stats.events += gone;
	jobs_changed |= gone && data == &jobs;
	if (data == &jobs)
		sweep_gone(&foreign);
	/*
	 * a report of a host that only renewed its lease contains nothing new
	 */
	if (ready && events == fabricd.stats.events)
		return;
	ready = inputs_ready();
	events = fabricd.stats.events;
	job_request_kick();
	plan_soon();
}

/**
 * inputs_ready() - whether all jobs and reports were read at least once
 */
bool inputs_ready(void)
{
	return jobs.is_read && reports.is_read;
}

/**
 * inputs_jobs_are_read() - whether all jobs were read at least once
 */
bool inputs_jobs_are_read(void)
{
	return jobs.is_read;
}

/**
 * inputs_links() - capacities of links according to reports
 *
 * If hosts disagree, the least capacity counts, because a host that sees less
 * of a link may be unable to use it. Links that hosts only suspect are held
 * against what others say.
 *
 * Return: to be freed, NULL without memory.
 */
struct srpol_links *inputs_links(void)
{
	struct srpol_links *links = srpol_links_new(fabricd.fabric);
	const struct input_link *said;
	const struct input *report;
	uint32_t i;

	if (!links)
		return NULL;
	vec_for_each(report, &fabricd.reports)
		vec_for_each(said, &report->links)
			for (i = 2 * said->cable; i < 2 * said->cable + 2; i++)
				if (said->capacity < links->links[i].capacity)
					srpol_links_set_capacity(links, i,
								 said->capacity);
	suspects_apply(links);
	return links;
}

/**
 * inputs_said() - what a report says that a cable carries
 * @report: the report
 * @cable: number of the cable
 *
 * Return: NULL if it does not say.
 */
const struct input_link *inputs_said(const struct input *report,
				     uint32_t cable)
{
	const struct input_link *said;

	vec_for_each(said, &report->links)
		if (said->cable == cable)
			return said;
	return NULL;
}

/**
 * inputs_jobs_changed() - whether jobs changed since the last call
 */
bool inputs_jobs_changed(void)
{
	bool changed = jobs_changed;

	jobs_changed = false;
	return changed;
}

/**
 * inputs_changed() - what jobs send, or how, changed
 */
void inputs_changed(void)
{
	jobs_changed = true;
	plan_soon();
}

/**
 * inputs_jobs_revision() - revision up to which all changes of jobs were
 * received
 */
uint64_t inputs_jobs_revision(void)
{
	return job_mirror.revision;
}

/**
 * inputs_jobs_heard() - whether all changes of jobs were received up to a revision
 * @cluster: the store that the revision is of
 * @revision: the revision
 */
bool inputs_jobs_heard(uint64_t cluster, uint64_t revision)
{
	return job_mirror.cluster == cluster && job_mirror.revision >= revision;
}

/**
 * inputs_job() - find a job
 * @key: key of the job
 *
 * Return: valid until control returns to the event loop; NULL: no such job.
 */
struct input *inputs_job(const char *key)
{
	return find(&fabricd.jobs, key);
}

/**
 * inputs_with_prefix() - inputs whose keys have a prefix, found in O(log inputs)
 * @list: struct input, by key
 * @prefix: the prefix
 * @n: result: number of them
 *
 * Return: the first; NULL if there are none.
 */
const struct input *inputs_with_prefix(const struct vec *list, const char *prefix,
				       size_t *n)
{
	const struct input want = { .key = (char *)prefix };
	size_t at = vec_place(list, &want, by_key);
	const struct input *first = (const struct input *)list->data + at;

	for (*n = 0; at + *n < list->n &&
	     !strncmp(first[*n].key, prefix, strlen(prefix)); ++*n)
		;
	return *n ? first : NULL;
}

/**
 * inputs_foreign_job() - a job that a tenant has in another shard
 * @tenant: name of the tenant
 *
 * Shards share tenants and names of jobs, but neither reservations nor topologies.
 *
 * Return: its name, valid until control returns to the event loop; NULL: there is
 * none.
 */
const char *inputs_foreign_job(const char *tenant)
{
	char prefix[STORE_KEY_LEN];
	const struct input *job;
	size_t n;

	job = inputs_with_prefix(&fabricd.foreign, key_job(prefix, tenant, ""), &n);
	return job ? job->key + strlen(prefix) : NULL;
}

/**
 * inputs_start() - start following jobs and reports
 */
void inputs_start(void)
{
	snprintf(report_prefix, sizeof(report_prefix), "link/%s/",
		 fabricd.config.shard);
	job_mirror = (struct mirror){
		.store = &fabricd.store, .key = "job/", .prefix = true,
		.poll_ns = POLL_NS, .begin = begin_jobs, .set = set_job,
		.end = end, .data = &jobs,
	};
	report_mirror = (struct mirror){
		.store = &fabricd.store, .key = report_prefix, .prefix = true,
		.poll_ns = POLL_NS, .begin = sweep_begin, .set = set_report,
		.end = end, .data = &reports,
	};
	mirror_start(&job_mirror);
	mirror_start(&report_mirror);
}

/**
 * inputs_stop() - stop following jobs and reports
 */
void inputs_stop(void)
{
	struct input *input;

	mirror_stop(&job_mirror);
	mirror_stop(&report_mirror);
	suspects_stop();
	vec_for_each(input, &fabricd.jobs)
		free_input(input);
	vec_for_each(input, &fabricd.reports)
		free_input(input);
	vec_for_each(input, &fabricd.foreign)
		free_input(input);
	vec_free(&fabricd.jobs);
	vec_free(&fabricd.foreign);
	vec_free(&fabricd.reports);
}
