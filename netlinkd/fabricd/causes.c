// SPDX-License-Identifier: GPL-2.0
/*
 * Why the plan changed: links and jobs that changed before it was made. Changes
 * that had no effect on the plan are dropped. Only the page shows causes;
 * without it nothing is recorded.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "causes.h"
#include "srpol_lib.h"

#define CAUSES_MAX	50	/* listed one by one */

/**
 * struct known_job - a job's announcement when the last plan was made
 * @key: key of the job
 * @digest: digest of its text
 */
struct known_job {
	char *key;
	char digest[SRPOL_DIGEST_LEN];
};

static struct srpol_links *links_before;	/* of the last plan */
static struct vec known = VEC_INIT(struct known_job);
static json_t *pending, *last;
static uint64_t n_pending;

static void add(json_t *cause)
{
	n_pending++;
	if (json_array_size(pending) < CAUSES_MAX)
		json_array_append_new(pending, cause);
	else
		json_decref(cause);
}

static void compare_links(const struct srpol_links *now)
{
	const struct srpol_fabric *f = fabricd.fabric;
	uint32_t i;

	for (i = 0; links_before && i < f->n_links; i += 2)
		if (links_before->links[i].capacity != now->links[i].capacity)
			add(json_pack("{s:s, s:s, s:s, s:I, s:I}",
				      "what", "link",
				      "from", f->nodes[f->links[i].from].name,
				      "to", f->nodes[f->links[i].to].name,
				      "before",
				      (json_int_t)links_before->links[i].capacity,
				      "after",
				      (json_int_t)now->links[i].capacity));
}

static void add_job(const char *what, const char *key)
{
	add(json_pack("{s:s, s:s}", "what", what, "job",
		      key + strlen("job/")));
}

static void forget_known(void)
{
	struct known_job *k;

	vec_for_each(k, &known)
		free(k->key);
	vec_free(&known);
}

static void remember(struct vec *now)
{
	const struct input *job;
	struct known_job *k;

	vec_for_each(job, &fabricd.jobs) {
		k = vec_add(now);
		k->key = strdup(job->key);
		if (!k->key)
			abort();
		srpol_digest(job->text, job->len, k->digest);
	}
}

/* Both lists are sorted by key. */
static void compare_jobs(const struct vec *before, const struct vec *now)
{
	const struct known_job *a = before->data, *b = now->data;
	size_t i = 0, k = 0;
	int order;

	while (i < before->n || k < now->n) {
		order = i == before->n ? 1 : k == now->n ? -1 :
			strcmp(a[i].key, b[k].key);
		if (order < 0)
			add_job("job-ended", a[i].key);
		else if (order > 0)
			add_job("job-began", b[k].key);
		else if (strcmp(a[i].digest, b[k].digest))
			add_job("job-changed", b[k].key);
		i += order <= 0;
		k += order >= 0;
	}
}

/**
 * causes_begin() - a plan is about to be made: record what changed
 * @links: links that it is made for
 */
void causes_begin(const struct srpol_links *links)
{
	struct vec now = VEC_INIT(struct known_job);

	if (!fabricd.config.page[0])
		return;
	json_decref(pending);
	pending = json_array();
	n_pending = 0;
	compare_links(links);
	srpol_links_free(links_before);
	links_before = srpol_links_copy(links);
	remember(&now);
	compare_jobs(&known, &now);
	forget_known();
	known = now;
}

/**
 * causes_end() - the plan was made: record its effects
 * @pairs: number of pairs of leaves whose weights change
 * @flows: number of pairs of GPUs whose flows change paths
 */
void causes_end(uint32_t pairs, uint32_t flows)
{
	if ((!pairs && !flows) || !pending)
		return;
	json_decref(last);
	last = json_pack("{s:I, s:I, s:I, s:I, s:O, s:I}",
			 "epoch", (json_int_t)fabricd.next_epoch,
			 "at", (json_int_t)time(NULL),
			 "n_weights", (json_int_t)pairs,
			 "n_flows", (json_int_t)flows,
			 "causes", pending, "n_causes", (json_int_t)n_pending);
}

/**
 * causes_json() - changes and causes of the last epoch
 *
 * Return: JSON, to be released; null before the second plan.
 */
json_t *causes_json(void)
{
	return last ? json_copy(last) : json_null();
}

/**
 * causes_forget() - what is recorded is of an earlier term
 */
void causes_forget(void)
{
	json_decref(last);
	last = NULL;
}

/**
 * causes_free() - free everything recorded
 */
void causes_free(void)
{
	json_decref(pending);
	json_decref(last);
	pending = last = NULL;
	srpol_links_free(links_before);
	links_before = NULL;
	forget_known();
}
