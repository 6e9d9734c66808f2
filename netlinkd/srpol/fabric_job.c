// SPDX-License-Identifier: GPL-2.0
/* srpol fabric job and tenant: reads the words of the command. */
#include <jansson.h>
#include <string.h>

#include "plan.h"
#include "srpol.h"
#include "engine.h"

#define COLOR_MIN	2		/* of a tenant; 1 is for demands without one */
#define PRIORITY_MAX	7
#define MS_PER_S	1000
#define FOR_MS_MAX	4294967000u

static bool at_end(const struct args *args)
{
	return !more(args) || !strcmp(args->argv[0], "socket");
}

static void set_request(json_t *request, const char *name)
{
	json_object_set_new(request, "request", json_string(name));
}

static bool set_word(struct args *args, const char *key, json_t *o)
{
	const char *word;

	if (!read_word(args, key, &word))
		return false;
	json_object_set_new(o, key, json_string(word));
	return true;
}

/* Splits WORD[,WORD]... into a JSON array. */
static json_t *split(const char *word)
{
	json_t *list = json_array();
	const char *end;

	for (;; word = end + 1) {
		end = strchrnul(word, ',');
		json_array_append_new(list, json_stringn(word, end - word));
		if (!*end)
			return list;
	}
}

static bool set_list(struct args *args, const char *key, const char *name,
		     json_t *o)
{
	const char *word;

	if (!read_word(args, key, &word))
		return false;
	json_object_set_new(o, name, split(word));
	return true;
}

static bool set_number(struct args *args, const char *key, uint32_t min, uint32_t max,
		       json_t *o)
{
	uint32_t v;

	if (!read_number(args, key, min, max, &v))
		return false;
	json_object_set_new(o, key, json_integer(v));
	return true;
}

/* Reads the bandwidth GUARANTEED[/MAX]. */
static bool set_bandwidth(struct args *args, json_t *o)
{
	const char *word, *slash;

	if (!read_word(args, "bandwidth", &word))
		return false;
	slash = strchrnul(word, '/');
	json_object_set_new(o, "guaranteed", json_stringn(word, slash - word));
	if (*slash)
		json_object_set_new(o, "max", json_string(slash + 1));
	return true;
}

static bool set_time(struct args *args, json_t *o)
{
	uint32_t ms;

	if (!read_time(args, "for", MSEC,
		       (struct time_range){ MS_PER_S, FOR_MS_MAX }, &ms))
		return false;
	json_object_set_new(o, "for-s",
			    json_integer(((json_int_t)ms + MS_PER_S - 1) /
					 MS_PER_S));
	return true;
}

/* Reads a time in ms, of at least @least. */
static bool set_ms(struct args *args, const char *key, const char *name,
		   uint32_t least, json_t *o)
{
	uint32_t ms;

	if (!read_time(args, key, MSEC,
		       (struct time_range){ least, FOR_MS_MAX }, &ms))
		return false;
	json_object_set_new(o, name, json_integer(ms));
	return true;
}

/* Reads SRC DST BYTES after "demand". */
static bool add_demand(struct args *args, json_t *o)
{
	json_t *list = json_object_get(o, "demands"), *demand = json_object();

	if (!list) {
		list = json_array();
		json_object_set_new(o, "demands", list);
	}
	json_array_append_new(list, demand);
	return set_word(args, "src", demand) && set_word(args, "dst", demand) &&
	       engine_bytes(args, demand);
}

/*
 * Member "all-to-all" of the request, whose parts may be given in any order. If its
 * kind is given as well, it is member "collective" in the end.
 */
static json_t *all_to_all(json_t *o)
{
	json_t *all = json_object_get(o, "all-to-all");

	if (all)
		return all;
	all = json_object();
	json_object_set_new(o, "all-to-all", all);
	return all;
}

static bool set_kind(struct args *args, json_t *o)
{
	const char *word;

	if (!read_word(args, "collective", &word))
		return false;
	json_object_set_new(o, "kind", json_string(word));
	return true;
}

static bool read_job_word(struct args *args, json_t *o)
{
	if (keyword(args, "tenant"))
		return set_word(args, "tenant", o);
	if (keyword(args, "hosts"))
		return set_list(args, "hosts", "hosts", all_to_all(o));
	if (keyword(args, "bytes"))
		return engine_bytes(args, all_to_all(o));
	if (keyword(args, "rail"))
		return set_number(args, "rail", 0, SRPOL_RAILS_MAX - 1, all_to_all(o));
	if (keyword(args, "collective"))
		return set_kind(args, all_to_all(o));
	if (is(args, "demand"))
		return add_demand(args, o);
	if (keyword(args, "bandwidth"))
		return set_bandwidth(args, o);
	if (keyword(args, "least"))
		return set_word(args, "least", o);
	if (keyword(args, "priority"))
		return set_number(args, "priority", 0, PRIORITY_MAX, o);
	if (keyword(args, "deadline"))
		return set_ms(args, "deadline", "deadline-ms", 1, o);
	if (keyword(args, "for"))
		return set_time(args, o);
	if (keyword(args, "in"))
		return set_ms(args, "in", "in-ms", 0, o);
	if (keyword(args, "lasts"))
		return set_ms(args, "lasts", "duration-ms", 1, o);
	if (keyword(args, "every"))
		return set_ms(args, "every", "period-ms", 1, o);
	if (keyword(args, "via"))
		return set_word(args, "via", o);
	if (keyword(args, "flows"))
		return set_number(args, "flows", 1, SRPOL_DEMAND_FLOWS_MAX, o);
	if (keyword(args, "what-if")) {
		json_object_set_new(o, "what-if", json_true());
		return true;
	}
	return unknown(args);
}

/* The engine reports missing members and unknown names. */
static bool read_job_add(struct args *args, json_t *request)
{
	json_t *all;

	while (!at_end(args))
		if (!read_job_word(args, request))
			return false;
	all = json_object_get(request, "all-to-all");
	if (!all && !json_object_get(request, "demands"))
		return !complain("job: hosts with bytes, or a demand, is wanted");
	if (json_object_get(all, "kind")) {
		json_object_set(request, "collective", all);
		json_object_del(request, "all-to-all");
	}
	return true;
}

static bool read_job_del(struct args *args, json_t *request)
{
	if (at_end(args))
		return true;
	if (keyword(args, "tenant"))
		return set_word(args, "tenant", request);
	return unknown(args);
}

static bool read_tenant_add(struct args *args, json_t *request)
{
	bool ok = true;

	while (ok && !at_end(args)) {
		if (keyword(args, "color"))
			ok = set_number(args, "color", COLOR_MIN, UINT32_MAX, request);
		else if (keyword(args, "paths"))
			ok = set_list(args, "paths", "paths", request);
		else if (keyword(args, "guaranteed"))
			ok = set_word(args, "guaranteed", request);
		else if (keyword(args, "max"))
			ok = set_word(args, "max", request);
		else if (keyword(args, "priority"))
			ok = set_number(args, "priority", 0, PRIORITY_MAX, request);
		else if (keyword(args, "backup"))
			ok = set_number(args, "backup", 1, UINT32_MAX, request);
		else
			ok = unknown(args);
	}
	return ok;
}

static bool read_nothing(struct args *args, json_t *request)
{
	return at_end(args) || unknown(args);
}

/**
 * struct verb - command add or del of an object
 */
struct verb {
	const char *name;
	const char *request;
	bool (*read)(struct args *args, json_t *request);
};

static bool read_verb(struct args *args, const struct verb *verbs,
		      const char *what, json_t *request)
{
	const char *word = more(args) ? next(args) : "", *name;

	for (; verbs->name; verbs++) {
		if (strcmp(verbs->name, word))
			continue;
		if (!read_text(args, what, SRPOL_NAME_LEN - 1, &name))
			return false;
		set_request(request, verbs->request);
		json_object_set_new(request, "name", json_string(name));
		return verbs->read(args, request);
	}
	return !complain("%s: \"%s\" is not one of add del", what, word);
}

/**
 * read_fabric_job() - read srpol fabric job { add | del } ...
 * @args: words after "job"
 * @request: result
 *
 * Return: false after an error message.
 */
bool read_fabric_job(struct args *args, json_t *request)
{
	static const struct verb verbs[] = {
		{ "add", "job-add", read_job_add },
		{ "del", "job-del", read_job_del },
		{ }
	};

	return read_verb(args, verbs, "job", request);
}

/**
 * read_fabric_tenant() - read srpol fabric tenant { add | del } ...
 * @args: words after "tenant"
 * @request: result
 *
 * Return: false after an error message.
 */
bool read_fabric_tenant(struct args *args, json_t *request)
{
	static const struct verb verbs[] = {
		{ "add", "tenant-add", read_tenant_add },
		{ "del", "tenant-del", read_nothing },
		{ }
	};

	return read_verb(args, verbs, "tenant", request);
}

/**
 * read_fabric_jobs() - read srpol fabric jobs [ NAME ]
 * @args: words after "jobs"
 * @request: result
 *
 * Return: true.
 */
bool read_fabric_jobs(struct args *args, json_t *request)
{
	if (!at_end(args))
		json_object_set_new(request, "name", json_string(next(args)));
	return true;
}
