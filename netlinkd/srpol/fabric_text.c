// SPDX-License-Identifier: GPL-2.0
/*
 * Replies of srpol-fabricd as text. With -j the reply is printed as received.
 */
#include <jansson.h>
#include <string.h>

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

static void print_weights(const json_t *weights)
{
	const json_t *v;
	size_t i;

	if (!json_array_size(weights))
		out_text("none");
	json_array_foreach(weights, i, v)
		out_text("%s%lld", i ? ":" : "",
			 (long long)json_integer_value(v));
}

/* Prints a duration; JSON has null for one that does not end. */
static void print_seconds(const char *what, const json_t *v)
{
	if (json_is_real(v))
		out_text(" %s %gs", what, json_real_value(v));
	else
		out_text(" %s never", what);
}

/* A standby engine does not know the epoch in force. */
static void print_hosts(const json_t *hosts, bool leads, long long epoch)
{
	size_t i, behind = 0, unknown = 0;
	const json_t *o;

	json_array_foreach(hosts, i, o) {
		if (json_is_false(json_object_get(o, "known")))
			unknown++;
		else
			behind += number_of(o, "epoch") != epoch;
	}
	out_text("\n\thosts %zu", json_array_size(hosts) - unknown);
	/* right after it was elected it does not know the epoch either */
	if (leads && epoch)
		out_text(" on-another-epoch %zu", behind);
	if (unknown)
		out_text(" unknown %zu", unknown);
}

static void print_reports(const json_t *reports)
{
	const json_t *o, *link;
	size_t i, k;

	json_array_foreach(reports, i, o) {
		out_text("\n\treport %s number %lld", text_of(o, "host"),
			 number_of(o, "number"));
		json_array_foreach(json_object_get(o, "links"), k, link)
			out_text(" %s-%s %lld", text_of(link, "from"),
				 text_of(link, "to"),
				 number_of(link, "capacity"));
	}
}

static void print_names(const char *what, const json_t *list)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		out_text("%s%s%s", i ? "," : " ", i ? "" : what,
			 json_string_value(v));
}

static void print_suspects(const json_t *suspects)
{
	const json_t *o;
	size_t i;

	json_array_foreach(suspects, i, o) {
		out_text("\n\tsuspect %s-%s %s reason %s suspected %lld passed %lld",
			 text_of(o, "from"), text_of(o, "to"),
			 text_of(o, "state"), text_of(o, "reason"),
			 number_of(o, "suspected"), number_of(o, "passed"));
		print_names("suspected-by ", json_object_get(o, "suspected_by"));
		print_names("passed-by ", json_object_get(o, "passed_by"));
	}
}

/* Prints measured load, and which part of it is not where the plan has it. */
static void print_load(const json_t *load)
{
	const json_t *off = json_object_get(load, "off_plan");

	if (!number_of(load, "hosts"))
		return;
	out_text("\n\tmeasured-by %lld traffic %.0fbit/s",
		 number_of(load, "hosts"),
		 json_number_value(json_object_get(load, "bps")));
	if (json_is_real(off))
		out_text(" off-plan %.1f%%", 100 * json_real_value(off));
}

static void print_forecasts(const json_t *f)
{
	if (!number_of(f, "max"))
		return;
	out_text("\n\tforecasts-of %lld demands %lld planned %lld covered-by-jobs %lld refused %lld",
		 number_of(f, "hosts"), number_of(f, "demands"),
		 number_of(f, "planned"), number_of(f, "covered"),
		 number_of(f, "refused"));
	if (number_of(f, "unnamed") || number_of(f, "cut"))
		out_text(" unnamed %lld cut %lld", number_of(f, "unnamed"),
			 number_of(f, "cut"));
}

/**
 * print_fabric_show() - print the reply to request "show"
 * @reply: the reply
 */
void print_fabric_show(const json_t *reply)
{
	const json_t *stats = json_object_get(reply, "stats"), *job;
	bool leads = json_is_true(json_object_get(reply, "leads"));
	size_t i;

	out_object(NULL);
	out_text("fabric shard %s engine %s store %s",
		 text_of(reply, "shard"), text_of(reply, "name"),
		 text_of(reply, "store"));
	if (strcmp(text_of(reply, "bus"), "none"))
		out_text(" bus %s", text_of(reply, "bus"));
	if (leads)
		out_text(" leads term %lld", number_of(reply, "term"));
	else if (text_of(reply, "leader")[0])
		out_text(" standby leader %s", text_of(reply, "leader"));
	else
		out_text(" standby");
	out_text("\n\tepoch %lld algorithm %s pairs %lld",
		 number_of(reply, "epoch"), text_of(reply, "algorithm"),
		 number_of(reply, "pairs"));
	out_text("\n\tevents %lld refused %lld plans %lld published %lld fenced %lld unsure %lld last-plan %lldus",
		 number_of(stats, "events"), number_of(stats, "refused"),
		 number_of(stats, "plans"), number_of(stats, "published"),
		 number_of(stats, "fenced"), number_of(stats, "unsure"),
		 number_of(stats, "plan_us"));
	out_text("\n\taccepted %lld deferred %lld lowered %lld rejected %lld denied %lld moved %lld lost %lld",
		 number_of(stats, "accepted"), number_of(stats, "deferred"),
		 number_of(stats, "lowered"), number_of(stats, "rejected"),
		 number_of(stats, "denied"), number_of(stats, "moved"),
		 number_of(stats, "lost"));
	json_array_foreach(json_object_get(reply, "jobs"), i, job)
		out_text("\n\tjob %s", json_string_value(job));
	print_reports(json_object_get(reply, "reports"));
	print_suspects(json_object_get(reply, "suspects"));
	print_hosts(json_object_get(reply, "hosts"), leads,
		    number_of(reply, "epoch"));
	print_load(json_object_get(reply, "load"));
	print_forecasts(json_object_get(reply, "forecasts"));
	out_text("\n");
	out_object_end();
}

/* Prints source, destination and color (if any) of a pair. */
static void print_pair(const json_t *pair)
{
	out_text("from %s to %s", text_of(pair, "from"), text_of(pair, "to"));
	if (number_of(pair, "color"))
		out_text(" color %lld", number_of(pair, "color"));
	out_text(" weights ");
}

/* Prints PATH:FLOWS for each path with flows. */
static void print_paths(const json_t *paths)
{
	const json_t *o;
	size_t i;

	if (!json_array_size(paths))
		out_text("none");
	json_array_foreach(paths, i, o)
		out_text("%s%lld:%lld", i ? "," : "", number_of(o, "path"),
			 number_of(o, "flows"));
}

/* Prints the two GPUs whose flows are placed. */
static void print_gpus(const json_t *o)
{
	out_text("flows from %s rail %lld to %s rail %lld", text_of(o, "src"),
		 number_of(o, "rail"), text_of(o, "dst"),
		 number_of(o, "dst_rail"));
	if (number_of(o, "color"))
		out_text(" color %lld", number_of(o, "color"));
	out_text(" paths ");
}

/* Prints what a pair is planned for, unless that is jobs, the normal case. */
static void print_sources(const json_t *list)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		if (strcmp(json_string_value(v) ?: "", "jobs"))
			out_text(" for %s", json_string_value(v));
}

/**
 * print_fabric_plan() - print the reply to request "plan"
 * @reply: the reply
 */
void print_fabric_plan(const json_t *reply)
{
	const json_t *pair, *o;
	size_t i;

	json_array_foreach(json_object_get(reply, "pairs"), i, pair) {
		out_object(NULL);
		print_pair(pair);
		print_weights(json_object_get(pair, "weights"));
		print_sources(json_object_get(pair, "for"));
		out_text("\n");
		out_object_end();
	}
	json_array_foreach(json_object_get(reply, "flows"), i, o) {
		out_object(NULL);
		print_gpus(o);
		print_paths(json_object_get(o, "paths"));
		out_text("\n");
		out_object_end();
	}
}

static void print_changes(const json_t *reply)
{
	const json_t *c;
	size_t i;

	json_array_foreach(json_object_get(reply, "changes"), i, c) {
		out_object(NULL);
		print_pair(c);
		print_weights(json_object_get(c, "before"));
		out_text(" -> ");
		print_weights(json_object_get(c, "after"));
		out_text("\n");
		out_object_end();
	}
	json_array_foreach(json_object_get(reply, "flows"), i, c) {
		out_object(NULL);
		print_gpus(c);
		print_paths(json_object_get(c, "before"));
		out_text(" -> ");
		print_paths(json_object_get(c, "after"));
		out_text("\n");
		out_object_end();
	}
}

/**
 * print_fabric_diff() - print the reply to request "diff"
 * @reply: the reply
 */
void print_fabric_diff(const json_t *reply)
{
	print_changes(reply);
}

/**
 * print_fabric_what_if() - print the reply to request "what-if"
 * @reply: the reply
 */
void print_fabric_what_if(const json_t *reply)
{
	const json_t *job;
	size_t i;

	out_object(NULL);
	out_text("all jobs end after");
	print_seconds("now", json_object_get(reply, "now_s"));
	print_seconds("with-hosts-reacting", json_object_get(reply,
							     "local_s"));
	print_seconds("with-the-next-plan", json_object_get(reply,
							    "planned_s"));
	out_text(" unplaced %lld", number_of(reply, "unplaced"));
	json_array_foreach(json_object_get(reply, "jobs"), i, job) {
		out_text("\n\tjob %s/%s", text_of(job, "tenant"),
			 text_of(job, "name"));
		print_seconds("now", json_object_get(job, "now_s"));
		print_seconds("with-hosts-reacting",
			      json_object_get(job, "local_s"));
		print_seconds("with-the-next-plan",
			      json_object_get(job, "planned_s"));
		if (strcmp(text_of(job, "reservation"), "none"))
			out_text(" reservation %s",
				 text_of(job, "reservation"));
	}
	out_text("\n");
	out_object_end();
	print_changes(reply);
}

static void print_list(const char *what, const json_t *list)
{
	const json_t *v;
	size_t i;

	if (json_array_size(list))
		out_text("\n\t\t\t%s ", what);
	json_array_foreach(list, i, v)
		out_text("%s%s", i ? "," : "", json_string_value(v));
}

static void print_why_path(const json_t *path)
{
	const json_t *function = json_object_get(path, "function");
	const json_t *link, *host;
	size_t i, k;

	out_text("\n\t\tweight %lld", number_of(path, "weight"));
	if (number_of(path, "flows"))
		out_text(" flows %lld", number_of(path, "flows"));
	json_array_foreach(json_object_get(path, "links"), i, link) {
		out_text(" %s-%s %lld", text_of(link, "from"),
			 text_of(link, "to"), number_of(link, "capacity"));
		json_array_foreach(json_object_get(link, "reported_by"), k,
				   host)
			out_text("%s%s", k ? "," : " reported-by ",
				 json_string_value(host));
	}
	if (json_is_object(function))
		out_text(" function %s of %s", text_of(function, "name"),
			 text_of(function, "switch"));
	print_list("segs", json_object_get(path, "segments"));
	print_list("usids", json_object_get(path, "usids"));
}

/**
 * print_functions() - print the reply to request "functions" of either engine
 * @reply: the reply
 */
void print_functions(const json_t *reply)
{
	const json_t *fn, *model, *job;
	size_t i, k;

	json_array_foreach(reply, i, fn) {
		model = json_object_get(fn, "model");
		out_object(NULL);
		out_text("function %s switch %s kind %s sid %s",
			 text_of(fn, "name"), text_of(fn, "switch"),
			 text_of(fn, "kind"), text_of(fn, "sid"));
		if (text_of(fn, "usid")[0])
			out_text(" usid %s", text_of(fn, "usid"));
		out_text("\n\topaque; simulated ratio %g",
			 json_number_value(json_object_get(model, "ratio")));
		if (number_of(model, "rate"))
			out_text(" rate %lldbit/s", number_of(model, "rate"));
		json_array_foreach(json_object_get(fn, "jobs"), k, job)
			out_text("%s%s%s%s", k ? "," : " jobs ",
				 text_of(job, "tenant"),
				 text_of(job, "tenant")[0] ? "/" : "",
				 text_of(job, "name"));
		out_text("\n");
		out_object_end();
	}
}

static void print_why_forecasts(const json_t *list)
{
	const json_t *o;
	size_t i;

	json_array_foreach(list, i, o) {
		out_text("\n\tforecast rail %lld to-rail %lld bytes %lld in %lldms left %lldms",
			 number_of(o, "rail"), number_of(o, "dst_rail"),
			 number_of(o, "bytes"), number_of(o, "in_ms"),
			 number_of(o, "left_ms"));
		if (number_of(o, "period_ms"))
			out_text(" every %lldms", number_of(o, "period_ms"));
		out_text(" %s", text_of(o, "state"));
	}
}

/**
 * print_fabric_why() - print the reply to request "why"
 * @reply: the reply
 */
void print_fabric_why(const json_t *reply)
{
	const json_t *plane, *path;
	size_t i, k;

	out_object(NULL);
	out_text("from %s", text_of(reply, "src"));
	if (number_of(reply, "rail"))
		out_text(" rail %lld", number_of(reply, "rail"));
	out_text(" to %s", text_of(reply, "dst"));
	if (number_of(reply, "dst_rail"))
		out_text(" rail %lld", number_of(reply, "dst_rail"));
	out_text(" epoch %lld algorithm %s", number_of(reply, "epoch"),
		 text_of(reply, "algorithm"));
	json_array_foreach(json_object_get(reply, "planes"), i, plane) {
		out_text("\n\t%s-%s %s bytes %g", text_of(plane, "from"),
			 text_of(plane, "to"),
			 json_is_true(json_object_get(plane, "planned")) ?
			 "planned" : "not-planned",
			 json_number_value(json_object_get(plane, "bytes")));
		if (json_number_value(json_object_get(plane, "forecast_bytes")))
			out_text(" forecast-bytes %g", json_number_value(
				json_object_get(plane, "forecast_bytes")));
		json_array_foreach(json_object_get(plane, "paths"), k, path)
			print_why_path(path);
	}
	print_why_forecasts(json_object_get(reply, "forecasts"));
	out_text("\n");
	out_object_end();
}
