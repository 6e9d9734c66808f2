// SPDX-License-Identifier: GPL-2.0
/*
 * Reads requests of srpol fabric job: the tenant, what the job sends and when,
 * and the bandwidth to be reserved.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "forecasts.h"
#include "srpol_lib.h"
#include "times.h"
#include "words.h"

#define FOR_S_MAX	4294967

/* Names are shown to operators, in a terminal and in lines of text. */
static bool has_control(const char *text)
{
	while (*text && (unsigned char)*text >= ' ' && *text != 0x7f)
		text++;
	return *text;
}

static int read_name(const json_t *request, const char *key,
		     const char *fallback, char *to, struct srpol_error *err)
{
	int ret = words_text(request, key, fallback, to, SRPOL_NAME_LEN, err);

	if (!ret && (!*to || strchr(to, '/')))
		ret = srpol_error_set(err, -EINVAL,
				      "\"%s\" is empty or has a slash", key);
	if (!ret && has_control(to))
		ret = srpol_error_set(err, -EINVAL,
				      "\"%s\" has a control character", key);
	return ret;
}

/**
 * job_read_who() - read the tenant and the name of a job
 * @request: "name", and "tenant", by default the user's own
 * @r: result
 * @err: message on failure
 */
int job_read_who(const json_t *request, struct reservation *r,
		 struct srpol_error *err)
{
	return access_check(err) ?:
	       read_name(request, "tenant", access_tenant() ?: TENANT_DEFAULT,
			 r->tenant, err) ?:
	       read_name(request, "name", NULL, r->job, err) ?:
	       access_may(r->tenant, err);
}

/*
 * Times of sending, if given. The start is relative to now in requests, and
 * absolute in the key.
 */
static int read_times(const json_t *request, json_t *job,
		      struct srpol_error *err)
{
	json_int_t in, duration, period;
	int ret;

	ret = words_number(request, "in-ms", 0, SRPOL_TIMES_MS_MAX, -1, &in,
			   err) ?:
	      words_number(request, "duration-ms", 1, SRPOL_TIMES_MS_MAX, 0,
			   &duration, err) ?:
	      words_number(request, "period-ms", 1, SRPOL_TIMES_MS_MAX, 0,
			   &period, err);
	if (ret || (in < 0 && !duration && !period))
		return ret;
	/* without "in-ms" it starts now */
	json_object_set_new(job, "times", json_pack("{s:I, s:I, s:I}",
		"start_ms", (json_int_t)forecasts_now_ms() + (in < 0 ? 0 : in),
		"duration_ms", duration, "period_ms", period));
	return 0;
}

/* What the job sends, in the format of its key. */
static int read_traffic(const json_t *request, struct reservation *r,
			struct srpol_error *err)
{
	static const char * const kinds[] = { "all-to-all", "demands", "via",
					      "flows" };
	json_t *o = json_object();
	size_t i;
	int ret;

	ret = read_times(request, o, err);
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (json_object_get(request, kinds[i]))
			json_object_set(o, kinds[i],
					json_object_get(request, kinds[i]));
	r->job_text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(o);
	if (ret || !r->job_text)
		return ret ?: -ENOMEM;
	ret = srpol_demands_read(fabricd.fabric, r->job_text,
				 strlen(r->job_text), &r->demands, err);
	if (!ret && strlen(r->job_text) >= STORE_VALUE_MAX)
		ret = srpol_error_set(err, -E2BIG, "the job is too large to be kept");
	return ret;
}

static int read_bandwidth(const json_t *request, struct reservation *r,
			  struct srpol_error *err)
{
	static const char * const rates[] = { "guaranteed", "max", NULL };
	json_int_t guaranteed = 0, max = 0, for_s = 0;
	json_t *o = json_copy((json_t *)request);
	int ret;

	ret = rates_read(o, rates, err) ?:
	      words_number(o, "guaranteed", 1, SRPOL_RATE_MAX, 0,
			   &guaranteed, err) ?:
	      words_number(o, "max", 1, SRPOL_RATE_MAX, 0, &max, err) ?:
	      words_number(o, "for-s", 1, FOR_S_MAX, 0, &for_s, err);
	json_decref(o);
	if (!ret && max && max < guaranteed)
		ret = srpol_error_set(err, -EINVAL,
				      "\"max\" is less than \"guaranteed\"");
	if (!ret && !guaranteed && (max || for_s))
		ret = srpol_error_set(err, -EINVAL,
				      "\"max\" and \"for-s\" are of a job with \"guaranteed\"");
	r->guaranteed = guaranteed;
	r->max = max;
	r->until = for_s ? time(NULL) + for_s : 0;
	return ret;
}

/**
 * job_read() - read a job to be added
 * @request: see job_add_request()
 * @r: result, to be freed by record_free() even on failure
 * @err: message on failure
 */
int job_read(const json_t *request, struct reservation *r,
	     struct srpol_error *err)
{
	return job_read_who(request, r, err) ?:
	       read_traffic(request, r, err) ?:
	       read_bandwidth(request, r, err);
}
