// SPDX-License-Identifier: GPL-2.0
/*
 * Reads requests of srpol fabric job: the tenant, what the job sends and when, the
 * bandwidth to be reserved, or the deadline that it follows from.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "forecasts.h"
#include "srpol_lib.h"
#include "times.h"
#include "words.h"

#define FOR_S_MAX	4294967

/**
 * job_has_control() - whether a name has a control character
 * @text: the name
 *
 * Names are shown to operators, in a terminal and in lines of text.
 */
bool job_has_control(const char *text)
{
	while (*text && (unsigned char)*text >= ' ' && *text != 0x7f)
		text++;
	return *text;
}

/**
 * job_is_text() - whether a name can be said in JSON, and shown in a terminal
 * @text: the name
 */
bool job_is_text(const char *text)
{
	json_t *o = job_has_control(text) ? NULL : json_string(text);

	json_decref(o);
	return o;
}

/**
 * job_read_name() - read the name of a job or a tenant
 * @request: the request
 * @key: its member
 * @fallback: name if there is no such member; NULL: it is required
 * @to: result, of SRPOL_NAME_LEN bytes
 * @err: message on failure
 *
 * Return: 0 or -EINVAL.
 */
int job_read_name(const json_t *request, const char *key, const char *fallback,
		  char *to, struct srpol_error *err)
{
	int ret = words_text(request, key, fallback, to, SRPOL_NAME_LEN, err);

	if (!ret && (!*to || strchr(to, '/')))
		ret = srpol_error_set(err, -EINVAL,
				      "\"%s\" is empty or has a slash", key);
	if (!ret && job_has_control(to))
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
	       job_read_name(request, "tenant",
			     access_tenant() ?: TENANT_DEFAULT, r->tenant,
			     err) ?:
	       job_read_name(request, "name", NULL, r->job, err) ?:
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
	const json_t *collective = json_object_get(request, "collective");
	json_t *o = json_object();
	size_t i;
	int ret;

	ret = read_times(request, o, err);
	if (collective && (json_object_get(request, "all-to-all") ||
			   json_object_get(request, "demands")))
		ret = srpol_error_set(err, -EINVAL,
				      "\"collective\" is of a job without \"all-to-all\" and \"demands\"");
	if (collective && !ret)
		ret = collective_expand(collective, o, err);
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (json_object_get(request, kinds[i]))
			json_object_set(o, kinds[i],
					json_object_get(request, kinds[i]));
	/* which hosts alone do not tell once they are not in the topology any more */
	if (!config_serves_store())
		json_object_set_new(o, "shard", json_string(fabricd.config.shard));
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

/*
 * When all has to have arrived. The engine divides what is sent by the time that
 * is left, so what says otherwise when or how often it is sent cannot be there.
 */
static int read_deadline(const json_t *request, struct reservation *r,
			 struct srpol_error *err)
{
	json_int_t deadline, in, duration;
	uint64_t now = forecasts_now_ms();
	int ret;

	ret = words_number(request, "deadline-ms", 1, SRPOL_TIMES_MS_MAX, 0,
			   &deadline, err) ?:
	      words_number(request, "in-ms", 0, SRPOL_TIMES_MS_MAX, 0, &in,
			   err) ?:
	      words_number(request, "duration-ms", 1, SRPOL_TIMES_MS_MAX, 0,
			   &duration, err);
	if (ret || !deadline)
		return ret;
	if (json_object_get(request, "period-ms") ||
	    json_object_get(request, "for-s"))
		return srpol_error_set(err, -EINVAL,
				       "\"deadline-ms\" is of a job without \"period-ms\" and \"for-s\"");
	if (in + duration >= deadline + !!duration)
		return srpol_error_set(err, -EINVAL,
				       "\"deadline-ms\" is before the end of \"in-ms\" and \"duration-ms\"");
	r->begins = now + in;
	r->deadline = now + deadline;
	r->until = (r->deadline + 999) / 1000;
	return 0;
}

static int read_rates(const json_t *request, struct admission *a,
		      struct srpol_error *err)
{
	static const char * const rates[] = {
		"guaranteed", "max", "least", NULL
	};
	json_int_t guaranteed = 0, max = 0, least = 0;
	json_t *o = json_copy((json_t *)request);
	int ret;

	ret = rates_read(o, rates, err) ?:
	      words_number(o, "guaranteed", 1, SRPOL_RATE_MAX, 0,
			   &guaranteed, err) ?:
	      words_number(o, "max", 1, SRPOL_RATE_MAX, 0, &max, err) ?:
	      words_number(o, "least", 1, SRPOL_RATE_MAX, 0, &least, err);
	json_decref(o);
	if (ret)
		return ret;
	if (max && max < guaranteed)
		return srpol_error_set(err, -EINVAL,
				       "\"max\" is less than \"guaranteed\"");
	if (least && !guaranteed)
		return srpol_error_set(err, -EINVAL,
				       "\"least\" is of a job with \"guaranteed\"");
	if (least > guaranteed)
		return srpol_error_set(err, -EINVAL,
				       "\"least\" is more than \"guaranteed\"");
	a->asked = guaranteed;
	a->enough = least;
	a->want.max = max;
	return 0;
}

/* A priority is said of bandwidth: without it there is nothing it could do. */
static int read_bandwidth(const json_t *request, struct admission *a,
			  struct srpol_error *err)
{
	json_int_t for_s = 0, priority;
	int ret;

	ret = read_rates(request, a, err) ?:
	      words_number(request, "for-s", 1, FOR_S_MAX, 0, &for_s, err) ?:
	      words_number(request, "priority", 0, PRIORITY_MAX, -1, &priority,
			   err) ?:
	      words_bool(request, "what-if", &a->is_what_if, err) ?:
	      read_deadline(request, &a->want, err);
	if (ret)
		return ret;
	if (!a->asked && !a->want.deadline &&
	    (a->want.max || for_s || priority >= 0))
		return srpol_error_set(err, -EINVAL,
				       "\"max\", \"for-s\" and \"priority\" are of a job with \"guaranteed\" or \"deadline-ms\"");
	a->priority = priority < 0 ? PRIORITY_UNSET : priority;
	if (for_s)
		a->want.until = time(NULL) + for_s;
	return 0;
}

/**
 * job_read() - read a job to be added
 * @request: see job_add_request()
 * @a: result, whose @want is to be freed by record_free() even on failure
 * @err: message on failure
 */
int job_read(const json_t *request, struct admission *a,
	     struct srpol_error *err)
{
	return job_read_who(request, &a->want, err) ?:
	       read_traffic(request, &a->want, err) ?:
	       read_bandwidth(request, a, err);
}
