// SPDX-License-Identifier: GPL-2.0
/*
 * srpol engine watch: what srpold tells of paths, until it ends. With -j each line
 * is printed as received.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ask.h"
#include "srpol.h"
#include "engine.h"

#define DAY_MS		86400000

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ?: "";
}

static long long number_of(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static double ms_of(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static void print_words(const char *before, const json_t *list)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		out_text("%s%s", i ? "," : before, json_string_value(v));
}

/* The time of an event by the local clock. */
static void print_time(const json_t *e)
{
	time_t s = number_of(e, "time_us") / 1000000;
	struct tm tm = {};
	char text[32];

	localtime_r(&s, &tm);
	strftime(text, sizeof(text), "%H:%M:%S", &tm);
	out_text("%s.%06lld %s", text, number_of(e, "time_us") % 1000000,
		 text_of(e, "event"));
}

static void print_ends(const json_t *e)
{
	if (text_of(e, "src")[0])
		out_text(" %s to %s rail %lld", text_of(e, "src"),
			 text_of(e, "dst"), number_of(e, "dst_rail"));
	out_text(" color %lld endpoint %s", number_of(e, "color"),
		 text_of(e, "endpoint"));
	if (text_of(e, "job")[0])
		out_text(" job %s", text_of(e, "job"));
}

static void print_watched_path(const char *before, const json_t *p)
{
	out_text("%s path %lld", before, number_of(p, "path"));
	if (text_of(p, "name")[0])
		out_text(" %s", text_of(p, "name"));
	out_text(" %s", text_of(p, "state"));
	if (text_of(p, "reason")[0])
		out_text(" (%s)", text_of(p, "reason"));
}

static void print_paths(const json_t *e)
{
	const json_t *p;
	size_t i;

	print_ends(e);
	out_text(" by %s usable %lld fallback %s", text_of(e, "by"),
		 number_of(e, "usable"), text_of(e, "fallback"));
	print_words(" because ", json_object_get(e, "because"));
	json_array_foreach(json_object_get(e, "changes"), i, p)
		print_watched_path("\n\tchanged", p);
	json_array_foreach(json_object_get(e, "paths"), i, p) {
		print_watched_path("\n\t", p);
		out_text(" weight %lld share %lld%%", number_of(p, "weight"),
			 number_of(p, "percent"));
		print_words(" segs ", json_object_get(p, "segments"));
	}
}

static void print_measured(const json_t *e)
{
	const json_t *p;
	size_t i;

	print_ends(e);
	json_array_foreach(json_object_get(e, "measured"), i, p) {
		out_text("\n\tpath %lld loss %lldppm ce %lldppm cnp %lldppm",
			 number_of(p, "path"), number_of(p, "loss_ppm"),
			 number_of(p, "ce_ppm"), number_of(p, "cnp_ppm"));
		if (json_object_get(p, "rtt_ms"))
			out_text(" rtt %.3fms min %.3fms queue %.3fms",
				 ms_of(p, "rtt_ms"), ms_of(p, "rtt_min_ms"),
				 ms_of(p, "queue_ms"));
	}
}

static void print_links(const json_t *e)
{
	const json_t *l;
	size_t i;

	out_text(" total %lld down %lld bad %lld", number_of(e, "total"),
		 number_of(e, "down"), number_of(e, "bad"));
	json_array_foreach(json_object_get(e, "links"), i, l) {
		out_text("\n\tlink %s %s capacity %lldbit/s quality %lld%% %s",
			 text_of(l, "link"), text_of(l, "state"),
			 number_of(l, "capacity_bps"),
			 number_of(l, "quality_percent"),
			 text_of(l, "quality"));
		if (json_object_get(l, "heard_percent"))
			out_text(" heard %lld%%",
				 number_of(l, "heard_percent"));
		if (json_object_get(l, "sent_bps"))
			out_text(" sent %lldbit/s", number_of(l, "sent_bps"));
	}
}

static void print_qps(const json_t *e)
{
	const json_t *q;
	size_t i;

	out_text(" job %s color %lld", text_of(e, "job"),
		 number_of(e, "color"));
	json_array_foreach(json_object_get(e, "moved"), i, q) {
		out_text("\n\tmoved qp %lld dst %s from %lld to %lld",
			 number_of(q, "qp"), text_of(q, "dst"),
			 number_of(q, "from"), number_of(q, "path"));
		print_words(" because ", json_object_get(q, "because"));
	}
	json_array_foreach(json_object_get(e, "qps"), i, q)
		out_text("\n\tqp %lld dst %s path %lld", number_of(q, "qp"),
			 text_of(q, "dst"), number_of(q, "path"));
}

static void print_plan(const json_t *e)
{
	out_text(" host %s epoch %lld term %lld", text_of(e, "host"),
		 number_of(e, "epoch"), number_of(e, "term"));
}

static void print_late(const json_t *e)
{
	out_text(" coalesced %lld late %lldms", number_of(e, "coalesced"),
		 number_of(e, "late_ms"));
}

static const struct {
	const char *name;
	void (*print)(const json_t *event);
} events[] = {
	{ "paths", print_paths },
	{ "end", print_ends },
	{ "measured", print_measured },
	{ "links", print_links },
	{ "qps", print_qps },
	{ "plan", print_plan },
	{ "late", print_late },
};

static void print_text(const json_t *event)
{
	size_t i;

	out_begin();
	out_object(NULL);
	print_time(event);
	/* of an event of a newer srpold only the name is known */
	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (!strcmp(events[i].name, text_of(event, "event")))
			events[i].print(event);
	out_text("\n");
	out_object_end();
	out_end();
}

/**
 * struct heard - what came so far
 * @begun: the request was accepted
 * @refused: it was refused, which was told
 */
struct heard {
	bool begun;
	bool refused;
};

/* No event tells of that, and with -j nothing else does. */
static void begin(const json_t *reply)
{
	long long n = number_of(reply, "left_out");

	if (n)
		fprintf(stderr,
			"srpol: %lld destination%s or job%s will not be told of: no room in srpold\n",
			n, n > 1 ? "s" : "", n > 1 ? "s" : "");
}

static bool take(const json_t *line, void *data)
{
	const char *refusal = json_string_value(json_object_get(line, "error"));
	const json_t *reply = json_object_get(line, "reply");
	struct srpol_error error = {};
	struct heard *heard = data;

	if (refusal) {
		srpol_error_set(&error, -EPROTO, "srpold: %s", refusal);
		refused(-EPROTO, &error);
		heard->refused = true;
		return false;
	}
	if (reply) {
		begin(reply);
		heard->begun = true;
		return true;
	}
	if (out_options.json) {
		json_dumpf(line, stdout, out_options.pretty ?
			   JSON_INDENT(4) : JSON_COMPACT);
		putchar('\n');
	} else {
		print_text(line);
	}
	/* who reads it may have gone; print_text() has flushed already */
	return !fflush(stdout) && !ferror(stdout);
}

static bool read_request(struct args *args, json_t *request, const char **path)
{
	const char *owner;
	uint32_t ms;

	while (more(args)) {
		if (is(args, "owner")) {
			if (!read_word(args, "owner", &owner))
				return false;
			json_object_set_new(request, "owner",
					    json_string(owner));
		} else if (is(args, "every")) {
			if (!read_time(args, "every", MSEC,
				       (struct time_range){ 0, DAY_MS }, &ms))
				return false;
			json_object_set_new(request, "every-ms",
					    json_integer(ms));
		} else if (is(args, "socket")) {
			if (!read_word(args, "socket", path))
				return false;
		} else {
			return unknown(args);
		}
	}
	return true;
}

/**
 * engine_watch() - srpol engine watch
 * @args: words after "watch"
 *
 * Return: an EXIT_*; that the engine ends is a failure.
 */
int engine_watch(struct args *args)
{
	json_t *request = json_pack("{s:s}", "request", "watch");
	struct heard heard = {};
	const char *path = NULL;
	char buf[ENGINE_SOCKET_LEN];
	int ret;

	if (!engine_words(args) || !read_request(args, request, &path)) {
		json_decref(request);
		return EXIT_USAGE;
	}
	if (!path) {
		if (!engine_socket(buf, sizeof(buf))) {
			json_decref(request);
			return EXIT_REFUSED;
		}
		path = buf;
	}
	ret = srpol_ask_each(path, request, 1000 * ENGINE_LIMIT_S, take, &heard);
	json_decref(request);
	if (ret)
		return engine_missing("srpold", path, ret);
	/* main() says what is wrong then */
	if (ferror(stdout))
		return EXIT_OK;
	if (!heard.refused)
		complain(heard.begun ? "srpold ended the connection" :
				       "srpold: no answer");
	return EXIT_REFUSED;
}
