// SPDX-License-Identifier: GPL-2.0
/* srpol engine: asks srpold, the local SR engine of this network namespace. */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "srpol.h"
#include "engine.h"

static const char usage[] =
"Usage: srpol engine { show | paths | topology | functions } [ socket FILE ]\n"
"       srpol engine link { set FROM TO { capacity RATE | state { up | down } } |\n"
"                           reset FROM TO } [ socket FILE ]\n"
"       srpol engine why { DST | qp QP } [ socket FILE ]\n"
"       srpol engine demand { show | del OWNER |\n"
"                             add OWNER src HOST dst HOST bytes N [ in TIME ]\n"
"                             [ for TIME ] [ every TIME ] [ job NAME ] } [ socket FILE ]\n"
"       srpol engine watch [ owner OWNER ] [ every TIME ] [ socket FILE ]\n"
"show      hosts, probes, links that would explain lost ones or work badly\n"
"paths     each path with what its probes say\n"
"topology  each link with its state and capacity, and where these come from\n"
"functions  of switches, as the topology says: opaque SIDs and a model\n"
"link      override the capacity or state of a link, until it is reset\n"
"why       demand, algorithm, links, weights, policy and paths of packets to a\n"
"          host or address, or of a QP, and what would change them\n"
"demand    announce traffic that begins in TIME; replaces what OWNER announced\n"
"          before\n"
"watch     tell what becomes of the paths of demands and jobs, as it happens; with\n"
"          every, also what is measured on them\n"
"RATE is in bit/s, with k, M, G or T or without: 400G.\n";

#define DAY_MS		86400000
#define BYTES_MAX	((INT64_C(1) << 53) - 1)
#define SOCKET_DIR	"/run/srpold"
#define REPLY_MS	5000	/* an engine that is busy is late, not longer */

/* Is this a reply that is not an error, but refuses what was asked for? */
static bool is_refusal(const json_t *reply)
{
	const char *decision = json_string_value(json_object_get(reply,
								 "decision"));

	return decision && strcmp(decision, "accept");
}

static int print_reply(const char *who, void (*print)(const json_t *reply),
		       const json_t *answer)
{
	const json_t *reply = json_object_get(answer, "reply");
	const char *text = json_string_value(json_object_get(answer, "error"));
	struct srpol_error error = {};

	if (!reply) {
		srpol_error_set(&error, -EPROTO, "%s: %s", who,
				text ?: "no answer");
		return refused(-EPROTO, &error);
	}
	if (!print)
		return EXIT_OK;
	if (out_options.json) {
		json_dumpf(reply, stdout, out_options.pretty ?
			   JSON_INDENT(4) : JSON_COMPACT);
		putchar('\n');
	} else {
		print(reply);
	}
	return is_refusal(reply) ? EXIT_REFUSED : EXIT_OK;
}

/* Reads FROM TO. */
static bool read_ends(struct args *args, json_t *request)
{
	static const char * const keys[] = { "from", "to" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!more(args)) {
			complain("a link is given by two nodes");
			return false;
		}
		json_object_set_new(request, keys[i],
				    json_string(next(args)));
	}
	return true;
}

static bool read_link(struct args *args, json_t *request)
{
	const char *what = more(args) ? next(args) : "", *value;

	if (!strcmp(what, "reset")) {
		json_object_set_new(request, "reset", json_true());
		return read_ends(args, request);
	}
	if (strcmp(what, "set"))
		return !complain("link: \"%s\" is not one of set reset", what);
	if (!read_ends(args, request))
		return false;
	what = more(args) ? next(args) : "";
	if (strcmp(what, "capacity") && strcmp(what, "state"))
		return !complain("link set: \"%s\" is not one of capacity state", what);
	if (!read_word(args, what, &value))
		return false;
	json_object_set_new(request, what, json_string(value));
	return true;
}

static bool read_why(struct args *args, json_t *request)
{
	uint32_t qp;

	if (is(args, "qp")) {
		if (!read_u32(args, "qp", 0xffffff, &qp))
			return false;
		json_object_set_new(request, "qp", json_integer(qp));
		return true;
	}
	if (!more(args)) {
		complain("a host, an address or a QP is wanted");
		return false;
	}
	json_object_set_new(request, "dst", json_string(next(args)));
	return true;
}

static bool read_end(struct args *args, const char *key, json_t *demand)
{
	const char *value;

	if (!read_word(args, key, &value))
		return false;
	json_object_set_new(demand, key, json_string(value));
	return true;
}

static bool read_ms(struct args *args, const char *key, const char *name,
		    json_t *demand)
{
	uint32_t ms;

	if (!read_time(args, key, MSEC, (struct time_range){ 0, DAY_MS }, &ms))
		return false;
	json_object_set_new(demand, name, json_integer(ms));
	return true;
}

/**
 * engine_bytes() - read the number of bytes of a demand
 * @args: words after "bytes"
 * @demand: gets a member "bytes"
 *
 * Return: false after an error message.
 */
bool engine_bytes(struct args *args, json_t *demand)
{
	const char *text;
	json_int_t bytes;
	char *end;

	if (!read_word(args, "bytes", &text))
		return false;
	bytes = strtoll(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || bytes < 1 || bytes > BYTES_MAX)
		return !complain("bytes: \"%s\" is not a number from 1 to %lld", text,
				 (long long)BYTES_MAX);
	json_object_set_new(demand, "bytes", json_integer(bytes));
	return true;
}

static bool read_one_demand(struct args *args, json_t *demand)
{
	bool ok = true;

	while (ok && more(args) && strcmp(args->argv[0], "socket")) {
		if (is(args, "bytes")) {
			ok = engine_bytes(args, demand);
		} else if (is(args, "in")) {
			ok = read_ms(args, "in", "in-ms", demand);
		} else if (is(args, "for")) {
			ok = read_ms(args, "for", "for-ms", demand);
		} else if (is(args, "every")) {
			ok = read_ms(args, "every", "period-ms", demand);
		} else if (is(args, "src")) {
			ok = read_end(args, "src", demand);
		} else if (is(args, "dst")) {
			ok = read_end(args, "dst", demand);
		} else if (is(args, "job")) {
			ok = read_end(args, "job", demand);
		} else {
			ok = unknown(args);
		}
	}
	return ok;
}

/* The daemon reports missing members and unknown names. */
static bool read_demand(struct args *args, json_t *request)
{
	const char *what = more(args) ? next(args) : "show", *owner;
	json_t *list, *demand;

	if (!strcmp(what, "show")) {
		json_object_set_new(request, "request",
				    json_string("demands-show"));
		return true;
	}
	if (strcmp(what, "add") && strcmp(what, "del"))
		return !complain("demand: \"%s\" is not one of add del show", what);
	if (!read_word(args, "demand", &owner))
		return false;
	list = json_array();
	json_object_set_new(request, "request", json_string("demands"));
	json_object_set_new(request, "owner", json_string(owner));
	json_object_set_new(request, "demands", list);
	if (!strcmp(what, "del"))
		return true;
	demand = json_object();
	json_array_append_new(list, demand);
	return read_one_demand(args, demand);
}

static const struct engine_request requests[] = {
	{ "show", NULL, print_engine_show },
	{ "paths", NULL, print_engine_paths },
	{ "topology", NULL, print_engine_topology },
	{ "functions", NULL, print_functions },
	{ "link", read_link, NULL },
	{ "why", read_why, print_engine_why },
	{ "demand", read_demand, print_engine_demands },
	{ }
};

static int find_socket(char *path, size_t len, struct srpol_error *error)
{
	char name[NAME_MAX + 1];
	int ret = srpol_netns_name(name, sizeof(name));

	if (ret)
		return srpol_error_set(error, ret, "name of the network namespace: %s",
				       strerror(-ret));
	if ((size_t)snprintf(path, len, SOCKET_DIR "/%s.sock", name) >= len)
		return srpol_error_set(error, -ENAMETOOLONG,
				       "srpold has no socket by the name of this network namespace, which is too long: \"srpol engine show socket FILE\" asks at another one");
	return 0;
}

/**
 * engine_socket() - path of the socket of srpold in this network namespace
 * @path: result
 * @len: its size, ENGINE_SOCKET_LEN
 *
 * Return: false after a message.
 */
bool engine_socket(char *path, size_t len)
{
	struct srpol_error error = {};
	int ret = find_socket(path, len, &error);

	if (ret)
		refused(ret, &error);
	return !ret;
}

/**
 * engine_missing() - say that an engine cannot be reached, or does not answer
 * @who: name of the daemon
 * @path: path of its socket
 * @ret: negative errno
 *
 * Return: an EXIT_*.
 */
int engine_missing(const char *who, const char *path, int ret)
{
	struct srpol_error error = {};

	if (ret == -ETIMEDOUT)
		srpol_error_set(&error, ret,
				"%s runs, but has not answered for %d s: %s: it has been stopped, or is busy, and may still do what was asked for",
				who, ENGINE_LIMIT_S, path);
	else if (ret == -EACCES || ret == -EPERM)
		srpol_error_set(&error, ret, "not every user may ask %s: %s: %s", who, path,
				strerror(-ret));
	else
		srpol_error_set(&error, ret, "%s does not run %s: %s: %s", who,
				!strcmp(who, "srpold") ?
				"in this network namespace" : "here", path,
				strerror(-ret));
	return refused(ret, &error);
}

/**
 * engine_talk() - send a request to an engine and print its reply
 * @who: name of the daemon: srpold or srpol-fabricd
 * @socket_path: path of its socket, NULL: that of srpold in this namespace
 * @request: JSON object with "request" and further members
 * @print: prints the reply, NULL: nothing is printed
 *
 * Return: an EXIT_*.
 */
int engine_talk(const char *who, const char *socket_path, json_t *request,
		void (*print)(const json_t *reply))
{
	char path[ENGINE_SOCKET_LEN];
	json_t *answer;
	int ret;

	if (!socket_path) {
		if (!engine_socket(path, sizeof(path)))
			return EXIT_REFUSED;
		socket_path = path;
	}
	ret = srpol_ask(socket_path, request, 1000 * ENGINE_LIMIT_S, &answer);
	if (ret)
		return engine_missing(who, socket_path, ret);
	ret = print_reply(who, print, answer);
	json_decref(answer);
	return ret;
}

/**
 * engine_reply() - ask srpold, where it may not run at all
 * @name: name of a request without further members
 *
 * This is asked again and again: that there is no place to ask at is said once.
 *
 * Return: the reply, to be released; NULL if srpold does not run in this network
 * namespace, or says no.
 */
json_t *engine_reply(const char *name)
{
	json_t *answer = NULL, *reply = NULL, *request;
	struct srpol_error error = {};
	char path[ENGINE_SOCKET_LEN];
	static bool is_said;
	int ret;

	ret = find_socket(path, sizeof(path), &error);
	if (ret) {
		if (!is_said)
			refused(ret, &error);
		is_said = true;
		return NULL;
	}
	request = json_pack("{s:s}", "request", name);
	if (!srpol_ask(path, request, REPLY_MS, &answer))
		reply = json_incref(json_object_get(answer, "reply"));
	json_decref(answer);
	json_decref(request);
	return reply;
}

/**
 * engine_words() - can all words be part of a request?
 * @args: words of a command that are still to be read
 *
 * JSON has no strings but UTF-8, and a member without a value is left out.
 *
 * Return: false after an error message.
 */
bool engine_words(const struct args *args)
{
	json_t *text;
	int i;

	for (i = 0; i < args->argc; i++) {
		text = json_string(args->argv[i]);
		if (!text)
			return !complain("\"%s\" is not UTF-8", args->argv[i]);
		json_decref(text);
	}
	return true;
}

/**
 * engine_command() - run a command that asks an engine
 * @e: the engine and its requests
 * @args: words of the command
 *
 * Return: an EXIT_*.
 */
int engine_command(const struct engine_commands *e, struct args *args)
{
	const char *word = more(args) ? next(args) : "show";
	const char *socket_path = e->socket;
	const struct engine_request *r;
	json_t *request;
	int ret = EXIT_USAGE;

	if (!strcmp(word, "help")) {
		fputs(e->usage, stdout);
		return EXIT_OK;
	}
	for (r = e->requests; r->name; r++)
		if (!strcmp(word, r->name))
			break;
	if (!r->name) {
		fputs(e->usage, stderr);
		return complain("command \"%s\" is unknown", word);
	}
	if (!engine_words(args))
		return EXIT_USAGE;
	request = json_pack("{s:s}", "request", word);
	if ((r->read && !r->read(args, request)) ||
	    (is(args, "socket") && !read_word(args, "socket", &socket_path)))
		goto out;
	if (more(args))
		unknown(args);
	else
		ret = engine_talk(e->who, socket_path, request, r->print);
out:
	json_decref(request);
	return ret;
}

/**
 * do_engine() - srpol engine
 * @args: words after "engine"
 *
 * Return: an EXIT_*.
 */
int do_engine(struct args *args)
{
	static const struct engine_commands srpold = {
		.who = "srpold", .usage = usage, .requests = requests,
	};

	if (is(args, "watch"))
		return engine_watch(args);
	return engine_command(&srpold, args);
}
