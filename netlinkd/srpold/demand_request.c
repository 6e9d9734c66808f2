// SPDX-License-Identifier: GPL-2.0
/*
 * Demands that arrive at a socket: { "owner": NAME, "demands": [ { "src": HOST
 * or address, "dst", "bytes", "in-ms", "for-ms", "period-ms", "job" } ] }. They
 * are hints; the algorithm decides what is made of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "srpold.h"

#define BYTES_MAX	(1ull << 53)

struct demands demands = { .all = VEC_INIT(struct demand) };

static int read_text(const json_t *o, const char *key, char *to, size_t len,
		     struct srpol_error *err)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_string(v) || !json_string_length(v) ||
	    json_string_length(v) >= len)
		return srpol_error_set(err, -EINVAL,
				       "\"%s\" is a string of 1 to %zu bytes",
				       key, len - 1);
	strcpy(to, json_string_value(v));
	return 0;
}

static int read_number(const json_t *o, const char *key, json_int_t min,
		       json_int_t max, json_int_t fallback, uint64_t *to,
		       struct srpol_error *err)
{
	const json_t *v = json_object_get(o, key);
	json_int_t n = v ? json_integer_value(v) : fallback;

	if ((v && !json_is_integer(v)) || n < min || n > max)
		return srpol_error_set(err, -EINVAL,
				       "\"%s\" is a number from %lld to %lld",
				       key, (long long)min, (long long)max);
	*to = n;
	return 0;
}

static int read_job(const struct engine *engine, const json_t *o,
		    uint32_t *color, struct srpol_error *err)
{
	const json_t *v = json_object_get(o, "job");
	const struct job *job;

	*color = engine->config.color;
	if (!v)
		return 0;
	vec_for_each(job, &jobs) {
		if (json_is_string(v) &&
		    !strcmp(job->name, json_string_value(v))) {
			*color = job->color;
			return 0;
		}
	}
	return srpol_error_set(err, -ENOENT, "\"job\": no job \"%s\"",
			       json_string_value(v) ?: "");
}

static int read_keys(const json_t *o, struct srpol_error *err)
{
	static const char * const keys[] = {
		"src", "dst", "bytes", "in-ms", "for-ms", "period-ms", "job",
		NULL
	};
	const char *key;
	const json_t *v;
	size_t i;

	if (!json_is_object(o))
		return srpol_error_set(err, -EINVAL, "a demand is an object");
	json_object_foreach((json_t *)o, key, v) {
		for (i = 0; keys[i] && strcmp(keys[i], key); i++)
			;
		if (!keys[i])
			return srpol_error_set(err, -EINVAL,
					       "\"%s\" is unknown in a demand",
					       key);
	}
	return 0;
}

static int read_demand(const struct engine *engine, const json_t *o,
		       uint64_t now, struct demand *d,
		       struct srpol_error *err)
{
	uint64_t in_ms, for_ms;
	int ret;

	ret = read_keys(o, err) ?:
	      read_text(o, "src", d->src, sizeof(d->src), err) ?:
	      read_text(o, "dst", d->dst, sizeof(d->dst), err) ?:
	      read_number(o, "bytes", 1, BYTES_MAX - 1, 0, &d->demand.bytes,
			  err) ?:
	      read_number(o, "in-ms", 0, DEMAND_MS_MAX, 0, &in_ms, err) ?:
	      read_number(o, "for-ms", 1, DEMAND_MS_MAX, DEMAND_MS_DEFAULT,
			  &for_ms, err) ?:
	      read_number(o, "period-ms", 0, DEMAND_MS_MAX, 0, &d->period_ms,
			  err) ?:
	      read_job(engine, o, &d->demand.color, err);
	if (ret)
		return ret;
	d->from_ns = now + in_ms * NS_PER_MS;
	d->until_ns = d->from_ns + for_ms * NS_PER_MS;
	return 0;
}

/* Ends with the first one too many: anybody may send a list that is never accepted. */
static int read_all(const struct engine *engine, uint32_t uid,
		    const json_t *list, struct vec *new,
		    struct srpol_error *err)
{
	struct srpol_error why = {};
	uint64_t now = now_ns();
	const json_t *o;
	size_t i;
	int ret;

	json_array_foreach(list, i, o) {
		struct demand d = {};

		ret = read_demand(engine, o, now, &d, &why) ?:
		      demand_add(engine->fabric, &d, new, &why);
		if (!ret && new->n > demands_limit(uid))
			ret = srpol_error_set(&why, -ENOSPC,
					      "more than the %u demands between GPUs that there is room for",
					      demands_limit(uid));
		if (ret)
			return srpol_error_set(err, ret, "demands[%zu]: %s", i,
					       why.text);
	}
	return 0;
}

/**
 * demand_request() - an application announces what it will send
 * @engine: the engine
 * @uid: user of the application
 * @request: "owner" and all its "demands"; an empty list withdraws them
 * @err: message on failure; nothing has changed then
 *
 * Return: the number of demands now known, NULL if the request is refused.
 */
json_t *demand_request(struct engine *engine, uint32_t uid,
		       const json_t *request, struct srpol_error *err)
{
	const json_t *list = json_object_get(request, "demands");
	struct vec new = VEC_INIT(struct demand);
	char owner[DEMAND_OWNER_LEN];
	int ret;

	ret = read_text(request, "owner", owner, sizeof(owner), err);
	if (!ret && !json_is_array(list))
		ret = srpol_error_set(err, -EINVAL, "\"demands\" is a list");
	ret = ret ?: read_all(engine, uid, list, &new, err);
	if (ret)
		demands.refused++;
	else
		ret = demands_replace(&demands, owner, uid, new.data, new.n,
				      err);
	vec_free(&new);
	if (ret)
		return NULL;
	balance_demanded();
	return json_pack("{s:I}", "demands", (json_int_t)demands.all.n);
}

/**
 * demand_operator_request() - likewise at the socket of the command
 * @engine: the engine
 * @uid: who asks
 * @request: as for demand_request()
 * @err: message on failure; nothing has changed then
 *
 * A person who withdraws demands is told if there are none: another user's stay, and
 * so do those of an owner whose name is misspelled. Programs withdraw theirs at their
 * end, known or not.
 */
json_t *demand_operator_request(struct engine *engine, uint32_t uid,
				const json_t *request, struct srpol_error *err)
{
	const char *owner = json_string_value(json_object_get(request, "owner"));
	const json_t *list = json_object_get(request, "demands");

	/* whether they are over does not depend on who has looked since */
	demands_expire(&demands, now_ns());
	if (owner && json_is_array(list) && !json_array_size(list) &&
	    !demands_are_of(&demands, owner, uid)) {
		srpol_error_set(err, -ENOENT, "no demand of owner \"%s\" and user %u", owner,
				uid);
		return NULL;
	}
	return demand_request(engine, uid, request, err);
}

/**
 * demand_show_request() - handle srpol engine demands
 * @engine: the engine
 * @request: no further members
 * @err: not used
 */
json_t *demand_show_request(struct engine *engine, const json_t *request,
			    struct srpol_error *err)
{
	json_t *array = json_array();
	uint64_t now = now_ns();
	const struct demand *d;

	demands_expire(&demands, now);
	vec_for_each(d, &demands.all)
		json_array_append_new(array, json_pack(
			"{s:s, s:I, s:s, s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:I}",
			"owner", d->owner, "uid", (json_int_t)d->uid,
			"src", d->src, "rail", (json_int_t)d->rail,
			"dst", d->dst, "dst_rail", (json_int_t)d->dst_rail,
			"bytes", (json_int_t)d->demand.bytes,
			"color", (json_int_t)d->demand.color,
			"in_ms", (json_int_t)(d->from_ns > now ?
				(d->from_ns - now) / NS_PER_MS : 0),
			"left_ms", (json_int_t)((d->until_ns - now) /
						NS_PER_MS),
			"period_ms", (json_int_t)d->period_ms));
	return array;
}
