// SPDX-License-Identifier: LGPL-2.1
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "forecast.h"
#include "srpol_lib.h"

#define BYTES_MAX	(INT64_C(1) << 53)
#define MS_MAX		(INT64_C(1) << 53)

static json_t *one_to_json(const struct srpol_fabric *f,
			   const struct srpol_forecast *d)
{
	const struct srpol_gpu *src = &f->gpus[d->src], *dst = &f->gpus[d->dst];
	json_t *o = json_pack("{s:I, s:s, s:I, s:I, s:I, s:I}",
			      "rail", (json_int_t)src->rail,
			      "dst", f->nodes[dst->host].name,
			      "dst_rail", (json_int_t)dst->rail,
			      "bytes", (json_int_t)d->bytes,
			      "start_ms", (json_int_t)d->start_ms,
			      "duration_ms",
			      (json_int_t)(d->end_ms - d->start_ms));

	if (o && d->period_ms)
		json_object_set_new(o, "period_ms",
				    json_integer(d->period_ms));
	return o;
}

/**
 * srpol_forecasts_write() - write the forecast of a host as text
 * @f: finished fabric
 * @topology: digest of the topology
 * @host: node whose forecast it is
 * @from: forecast
 *
 * Return: text to be freed, NULL without memory.
 */
char *srpol_forecasts_write(const struct srpol_fabric *f, const char *topology,
			    uint32_t host, const struct srpol_forecasts *from)
{
	json_t *list = json_array(), *o;
	uint32_t i;
	char *text;

	for (i = 0; i < from->n; i++)
		json_array_append_new(list, one_to_json(f, &from->list[i]));
	o = json_pack("{s:i, s:s, s:s, s:o, s:{s:I, s:I}}",
		      "version", SRPOL_FORECAST_VERSION,
		      "host", f->nodes[host].name, "topology", topology,
		      "demands", list, "rest",
		      "demands", (json_int_t)from->n_rest,
		      "bytes", (json_int_t)from->rest);
	text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(o);
	return text;
}

static uint32_t gpu_at(const struct srpol_fabric *f, uint32_t host,
		       json_int_t rail)
{
	return rail < 0 || rail >= SRPOL_RAILS_MAX ? SRPOL_NONE :
	       srpol_fabric_gpu(f, host, rail);
}

static int read_one(const struct srpol_fabric *f, uint32_t host,
		    uint64_t now_ms, const json_t *o, struct srpol_forecast *d,
		    struct srpol_error *err)
{
	json_int_t rail = 0, to = 0, bytes, start, duration, period = 0;
	const char *name;
	uint32_t dst;

	if (json_unpack((json_t *)o, "{s?I, s:s, s?I, s:I, s:I, s:I, s?I}",
			"rail", &rail, "dst", &name, "dst_rail", &to,
			"bytes", &bytes, "start_ms", &start,
			"duration_ms", &duration, "period_ms", &period))
		return srpol_error_set(err, -EINVAL,
				       "a demand is { dst, bytes, start_ms, duration_ms }");
	dst = srpol_fabric_node(f, name);
	d->src = gpu_at(f, host, rail);
	d->dst = dst == SRPOL_NONE ? SRPOL_NONE :
		 gpu_at(f, dst, json_object_get(o, "dst_rail") ? to : rail);
	if (d->src == SRPOL_NONE || d->dst == SRPOL_NONE || dst == host)
		return srpol_error_set(err, -ENOENT,
				       "\"dst\": no other host \"%s\" with these rails",
				       name);
	if (bytes < 1 || bytes >= BYTES_MAX)
		return srpol_error_set(err, -EINVAL,
				       "\"bytes\" is not a number from 1 to 2^53 - 1");
	if (start < 1 || start >= MS_MAX ||
	    (uint64_t)start > now_ms + SRPOL_FORECAST_MS_MAX +
			      SRPOL_FORECAST_SKEW_MS ||
	    duration < 1 || duration > SRPOL_FORECAST_MS_MAX ||
	    period < 0 || period > SRPOL_FORECAST_MS_MAX)
		return srpol_error_set(err, -EINVAL,
				       "a time is none, or more than a day");
	d->bytes = bytes;
	d->start_ms = start;
	d->end_ms = start + duration;
	d->period_ms = period;
	return 0;
}

static int by_what(const void *a, const void *b)
{
	const struct srpol_forecast *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	if (x->period_ms != y->period_ms)
		return x->period_ms < y->period_ms ? -1 : 1;
	return (x->start_ms > y->start_ms) - (x->start_ms < y->start_ms);
}

/* Refuses duplicates, which would be counted twice. */
static int check_twice(const struct srpol_forecasts *from,
		       struct srpol_error *err)
{
	struct srpol_forecast *sorted = malloc((from->n + 1UL) *
					       sizeof(*sorted));
	uint32_t i;
	int ret = sorted ? 0 : -ENOMEM;

	if (!ret && from->n) {
		memcpy(sorted, from->list, from->n * sizeof(*sorted));
		qsort(sorted, from->n, sizeof(*sorted), by_what);
	}
	for (i = 1; i < from->n && !ret; i++)
		if (!by_what(&sorted[i - 1], &sorted[i]))
			ret = srpol_error_set(err, -EINVAL,
					      "a demand is there twice");
	free(sorted);
	return ret;
}

static int read_list(const struct srpol_fabric *f, uint32_t host,
		     uint64_t now_ms, const json_t *list,
		     struct srpol_forecasts *to, struct srpol_error *err)
{
	struct srpol_error why = {};
	const json_t *o;
	size_t i;
	int ret;

	if (!json_is_array(list) || json_array_size(list) > SRPOL_FORECASTS_MAX)
		return srpol_error_set(err, -E2BIG,
				       "\"demands\" is not a list of up to %u",
				       SRPOL_FORECASTS_MAX);
	to->list = calloc(json_array_size(list) + 1, sizeof(*to->list));
	if (!to->list)
		return -ENOMEM;
	json_array_foreach(list, i, o) {
		ret = read_one(f, host, now_ms, o, &to->list[i], &why);
		if (ret)
			return srpol_error_set(err, ret, "demands[%zu]: %s", i,
					       why.text);
		to->n++;
	}
	return check_twice(to, err);
}

static int read_all(const struct srpol_fabric *f, const char *topology,
		    uint32_t host, uint64_t now_ms, const json_t *o,
		    struct srpol_forecasts *to, struct srpol_error *err)
{
	json_int_t version, n_rest = 0, rest = 0;
	const char *name, *of;
	json_t *list;

	if (json_unpack((json_t *)o, "{s:I, s:s, s:s, s:o, s:{s:I, s:I}}",
			"version", &version, "host", &name, "topology", &of,
			"demands", &list, "rest", "demands", &n_rest, "bytes",
			&rest) || n_rest < 0 || n_rest >= BYTES_MAX ||
	    rest < 0 || rest >= BYTES_MAX)
		return srpol_error_set(err, -EINVAL,
				       "it is not { version, host, topology, demands, rest }");
	if (version != SRPOL_FORECAST_VERSION)
		return srpol_error_set(err, -EINVAL, "this is version %u",
				       SRPOL_FORECAST_VERSION);
	if (host == SRPOL_NONE || strcmp(name, f->nodes[host].name))
		return srpol_error_set(err, -EPERM,
				       "it is of another host than its key");
	if (strcmp(of, topology))
		return srpol_error_set(err, -EINVAL,
				       "it is for another topology");
	to->n_rest = n_rest;
	to->rest = rest;
	return read_list(f, host, now_ms, list, to, err);
}

/**
 * srpol_forecasts_read() - read the forecast of a host
 * @f: finished fabric
 * @topology: digest of the topology
 * @host: node whose key the text was found under; SRPOL_NONE: no such node
 * @now_ms: present time in milliseconds since 1970
 * @text: JSON
 * @len: length of @text in bytes
 * @to: result, to be freed; empty after an error
 * @err: reason of a failure
 *
 * Demands that have ended already are part of the result.
 *
 * Return: 0, -EINVAL, -ENOENT for a GPU that does not exist or is on the same
 * host, -EPERM for the forecast of another host, -E2BIG if the text is too long
 * or "demands" is not a list of allowed length, -ENOMEM.
 */
int srpol_forecasts_read(const struct srpol_fabric *f, const char *topology,
			 uint32_t host, uint64_t now_ms, const char *text,
			 size_t len, struct srpol_forecasts *to,
			 struct srpol_error *err)
{
	json_t *o = NULL;
	int ret;

	*to = (struct srpol_forecasts){};
	if (len > SRPOL_FORECAST_TEXT_MAX)
		return srpol_error_set(err, -E2BIG, "more than %u bytes",
				       SRPOL_FORECAST_TEXT_MAX);
	o = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	ret = read_all(f, topology, host, now_ms, o, to, err);
	json_decref(o);
	if (ret)
		srpol_forecasts_free(to);
	return ret;
}

/**
 * srpol_forecasts_free() - free the content of a forecast
 * @forecasts: forecast, empty afterwards
 */
void srpol_forecasts_free(struct srpol_forecasts *forecasts)
{
	free(forecasts->list);
	*forecasts = (struct srpol_forecasts){};
}

static int most_first(const void *a, const void *b)
{
	const struct srpol_forecast *x = a, *y = b;

	return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) :
	       by_what(a, b);
}

/**
 * srpol_forecasts_cut() - keep only the demands with the most bytes
 * @forecasts: forecast; sorted by bytes afterwards, and what is removed is
 *	added to its @n_rest and @rest
 * @n: number of demands to keep
 */
void srpol_forecasts_cut(struct srpol_forecasts *forecasts, uint32_t n)
{
	uint32_t i;

	if (forecasts->n)
		qsort(forecasts->list, forecasts->n, sizeof(*forecasts->list),
		      most_first);
	for (i = n; i < forecasts->n; i++) {
		forecasts->n_rest++;
		forecasts->rest += forecasts->list[i].bytes;
		if (forecasts->rest >= BYTES_MAX)
			forecasts->rest = BYTES_MAX - 1;
	}
	if (forecasts->n > n)
		forecasts->n = n;
}

/**
 * srpol_forecast_rate() - mean rate of a demand
 * @bytes: bytes in total, or in each period
 * @duration_ms: time in which the bytes are sent once; 0: unknown
 * @period_ms: the bytes are sent again after this time; 0: they are sent once
 *
 * Return: bit/s, 0: unknown.
 */
uint64_t srpol_forecast_rate(uint64_t bytes, uint64_t duration_ms,
			     uint64_t period_ms)
{
	uint64_t ms = period_ms ?: duration_ms;
	unsigned __int128 rate;

	if (!ms)
		return 0;
	rate = (unsigned __int128)bytes * 8000 / ms;
	return rate < BYTES_MAX ? (uint64_t)rate : (uint64_t)BYTES_MAX - 1;
}
