// SPDX-License-Identifier: GPL-2.0
/* Replies of srpol-fabricd on jobs, tenants and advice, as text. */
#include <jansson.h>
#include <string.h>
#include <time.h>

#include "srpol.h"
#include "engine.h"

static const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key)) ?: "";
}

static long long number_of(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static void print_rate(const char *what, const json_t *o, const char *key)
{
	out_text(" %s %gG", what, number_of(o, key) / 1e9);
}

static void print_offer(const json_t *offer)
{
	const json_t *after = json_object_get(offer, "after_s");

	if (number_of(offer, "guaranteed"))
		print_rate("would-be-accepted now", offer, "guaranteed");
	if (json_is_integer(after))
		out_text(" all-of-it-in %llds",
			 (long long)json_integer_value(after));
}

/* What an accepted job gets, if that is less than it wants. */
static void print_grant(const json_t *reply)
{
	out_text(" as %s", text_of(reply, "class"));
	if (number_of(reply, "guaranteed") == number_of(reply, "wanted"))
		return;
	print_rate("with", reply, "guaranteed");
	print_rate("of", reply, "wanted");
}

/* Others that are lowered; a tenant's user is not told whose they are. */
static void print_lowered(const json_t *reply)
{
	bool done = !strcmp(text_of(reply, "decision"), "accept") &&
		    !json_is_true(json_object_get(reply, "what_if"));
	const json_t *l;
	size_t i;

	json_array_foreach(json_object_get(reply, "lowered"), i, l) {
		out_text("\n\t%s ", done ? "lowered" : "would-be-lowered");
		if (text_of(l, "job")[0])
			out_text("job %s/%s", text_of(l, "tenant"),
				 text_of(l, "job"));
		else
			out_text("a job of another tenant");
		print_rate("from", l, "from");
		print_rate("to", l, "to");
	}
}

static void print_end(const char *what, const json_t *v)
{
	if (json_is_real(v))
		out_text(" %s %gs", what, json_real_value(v));
	else
		out_text(" %s never", what);
}

/* Jobs that would end at another time; the new one is the last. */
static void print_ends(const json_t *ends)
{
	const json_t *job;
	size_t i;

	json_array_foreach(ends, i, job) {
		out_text("\n\tjob %s/%s ends-after", text_of(job, "tenant"),
			 text_of(job, "job"));
		if (i + 1 < json_array_size(ends))
			print_end("now", json_object_get(job, "now_s"));
		print_end("with-it", json_object_get(job, "then_s"));
	}
}

/**
 * print_fabric_job() - print the reply to request "job-add" or "job-del"
 * @reply: the reply
 */
void print_fabric_job(const json_t *reply)
{
	out_object(NULL);
	if (json_object_get(reply, "deleted")) {
		out_text("job %s/%s deleted\n", text_of(reply, "tenant"),
			 text_of(reply, "deleted"));
		out_object_end();
		return;
	}
	out_text("%sjob %s/%s %s", json_is_true(json_object_get(reply,
		 "what_if")) ? "what-if " : "", text_of(reply, "tenant"),
		 text_of(reply, "job"), text_of(reply, "decision"));
	if (json_is_null(json_object_get(reply, "offer")))
		print_grant(reply);
	else
		print_offer(json_object_get(reply, "offer"));
	if (text_of(reply, "reason")[0])
		out_text("\n\t%s", text_of(reply, "reason"));
	print_lowered(reply);
	print_ends(json_object_get(reply, "ends"));
	out_text("\n");
	out_object_end();
}

static void print_link(const json_t *link)
{
	const json_t *seconds = json_object_get(link, "seconds");

	out_text("\n\tlink %s-%s", text_of(link, "from"), text_of(link, "to"));
	if (json_is_real(seconds))
		out_text(" busy %gs", json_real_value(seconds));
	else
		out_text(" down");
	if (number_of(link, "reserved"))
		print_rate("reserved", link, "reserved");
}

static void print_reservation(const json_t *r)
{
	print_rate("guaranteed", r, "guaranteed");
	if (number_of(r, "guaranteed") != number_of(r, "wanted"))
		print_rate("of", r, "wanted");
	if (number_of(r, "least") != number_of(r, "wanted"))
		print_rate("least", r, "least");
	out_text(" priority %lld", number_of(r, "priority"));
	if (number_of(r, "deadline_ms"))
		out_text(" deadline-in %gs", number_of(r, "deadline_ms") /
			 1000.0 - (double)time(NULL));
	if (number_of(r, "max"))
		print_rate("max", r, "max");
	if (number_of(r, "until"))
		out_text(" ends-in %llds",
			 number_of(r, "until") - (long long)time(NULL));
	if (text_of(r, "lost")[0])
		out_text("\n\tlost: %s", text_of(r, "lost"));
}

/**
 * print_fabric_jobs() - print the reply to request "jobs"
 * @reply: the reply
 */
void print_fabric_jobs(const json_t *reply)
{
	const json_t *job, *link;
	size_t i, k;

	json_array_foreach(reply, i, job) {
		out_object(NULL);
		out_text("job %s/%s %s", text_of(job, "tenant"),
			 text_of(job, "name"), text_of(job, "state"));
		if (json_is_integer(json_object_get(job, "epoch")))
			out_text(" since-epoch %lld", number_of(job, "epoch"));
		if (text_of(job, "via")[0])
			out_text(" via %s", text_of(job, "via"));
		if (number_of(job, "flows"))
			out_text(" flows %lld", number_of(job, "flows"));
		if (json_is_object(json_object_get(job, "reservation")))
			print_reservation(json_object_get(job, "reservation"));
		json_array_foreach(json_object_get(job, "links"), k, link)
			print_link(link);
		out_text("\n");
		out_object_end();
	}
}

/**
 * print_fabric_tenants() - print the reply to request "tenants"
 * @reply: the reply
 */
void print_fabric_tenants(const json_t *reply)
{
	const json_t *t, *path;
	size_t i, k;

	json_array_foreach(reply, i, t) {
		out_object(NULL);
		out_text("tenant %s color %lld jobs %lld", text_of(t, "name"),
			 number_of(t, "color"), number_of(t, "jobs"));
		print_rate("guaranteed", t, "guaranteed");
		print_rate("reserved", t, "reserved");
		if (number_of(t, "max"))
			print_rate("max", t, "max");
		out_text(" priority %lld", number_of(t, "priority"));
		if (number_of(t, "backup"))
			out_text(" backup %lld", number_of(t, "backup"));
		json_array_foreach(json_object_get(t, "paths"), k, path)
			out_text("%s%s", k ? "," : " paths ",
				 json_string_value(path));
		out_text("\n");
		out_object_end();
	}
}

static void print_evidence(const char *key, const json_t *v)
{
	const json_t *one;
	size_t i;

	out_text(" %s ", key);
	if (json_is_string(v))
		out_text("%s", json_string_value(v));
	else if (json_is_integer(v))
		out_text("%lld", (long long)json_integer_value(v));
	else if (json_is_real(v))
		out_text("%g", json_real_value(v));
	json_array_foreach(v, i, one)
		out_text("%s%s", i ? "," : "", json_string_value(one));
}

/**
 * print_fabric_advise() - print the reply to request "advise"
 * @reply: the reply
 */
void print_fabric_advise(const json_t *reply)
{
	const json_t *a, *v;
	const char *key;
	size_t i;

	json_array_foreach(reply, i, a) {
		out_object(NULL);
		out_text("%s: %s\n\tas", text_of(a, "symptom"),
			 text_of(a, "advice"));
		json_object_foreach(json_object_get(a, "evidence"), key, v)
			print_evidence(key, v);
		out_text("\n");
		out_object_end();
	}
}
