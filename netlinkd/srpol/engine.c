// SPDX-License-Identifier: GPL-2.0
/*
 * srpol engine: what srpold, the local SR engine of this namespace, knows.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "srpol.h"

static const char usage[] =
"Usage: srpol engine { show | paths | topology } [ socket FILE ]\n"
"show      hosts, probes, and links that would explain lost ones\n"
"paths     each path with what its probes say\n"
"topology  each link with its state\n";

#define VERSION		1
#define SOCKET_DIR	"/run/srpold"

static int open_engine(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	close(fd);
	return -errno;
}

/* One request, one line of answer. */
static json_t *ask(FILE *engine, const char *request)
{
	json_t *reply = NULL;
	char *line = NULL;
	size_t size = 0;

	fprintf(engine, "{\"version\": %d, \"request\": \"%s\"}\n", VERSION,
		request);
	fflush(engine);
	if (getline(&line, &size, engine) > 0)
		reply = json_loads(line, 0, NULL);
	free(line);
	return reply;
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ?: "";
}

static long long number_of(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static void print_list(const json_t *list)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		out_text("%s%s", i ? "," : "", json_string_value(v));
}

static void print_path_line(const json_t *p)
{
	out_object(NULL);
	out_text("path %lld", number_of(p, "path"));
	if (text_of(p, "name")[0])
		out_text(" name %s", text_of(p, "name"));
	out_text(" %s", json_is_true(json_object_get(p, "probed")) ?
		 text_of(p, "state") : "not-probed");
	out_text(" host %s dev %s peer %s", text_of(p, "host"),
		 text_of(p, "dev"), text_of(p, "peer"));
	if (json_object_get(p, "rtt_ms"))
		out_text(" rtt %.3fms min %.3fms",
			 json_number_value(json_object_get(p, "rtt_ms")),
			 json_number_value(json_object_get(p, "rtt_min_ms")));
	out_text("\n\tprobes sent %lld received %lld lost %lld late %lld segs ",
		 number_of(p, "sent"), number_of(p, "received"),
		 number_of(p, "lost"), number_of(p, "late"));
	print_list(json_object_get(p, "probe"));
	out_text("\n");
	out_object_end();
}

static void print_paths(const json_t *reply)
{
	const json_t *p;
	size_t i;

	json_array_foreach(reply, i, p)
		print_path_line(p);
}

static void print_topology(const json_t *reply)
{
	const json_t *link;
	size_t i;

	json_array_foreach(reply, i, link) {
		out_object(NULL);
		out_text("link %s-%s %s rate %lldbit/s\n",
			 text_of(link, "from"), text_of(link, "to"),
			 text_of(link, "state"), number_of(link, "rate_bps"));
		out_object_end();
	}
}

static void print_summary(const json_t *reply)
{
	const json_t *suspects = json_object_get(reply, "suspects"), *s;
	size_t i;

	out_object(NULL);
	out_text("engine hosts ");
	print_list(json_object_get(reply, "hosts"));
	out_text(" topology %s nodes %lld links %lld",
		 text_of(reply, "topology"), number_of(reply, "nodes"),
		 number_of(reply, "links"));
	out_text("\n\tpaths %lld usable %lld probes %lld every %gms multiplier %lld",
		 number_of(reply, "paths"), number_of(reply, "paths_usable"),
		 number_of(reply, "probes"),
		 json_number_value(json_object_get(reply, "interval_ms")),
		 number_of(reply, "multiplier"));
	out_text("\n\tforged %lld strange %lld unsent %lld late-ticks %lld",
		 number_of(reply, "forged"), number_of(reply, "strange"),
		 number_of(reply, "unsent"), number_of(reply, "late_ticks"));
	json_array_foreach(suspects, i, s)
		out_text("\n\tsuspect %s lost-probes %lld confidence %lld%%",
			 text_of(s, "link"), number_of(s, "lost_probes"),
			 number_of(s, "confidence_percent"));
	out_text("\n");
	out_object_end();
}

static int print_reply(const char *request, const json_t *answer)
{
	const json_t *reply = json_object_get(answer, "reply");
	struct srpol_error error = {};

	if (!reply) {
		srpol_error_set(&error, -EPROTO, "srpold: %s",
				text_of(answer, "error")[0] ?
				text_of(answer, "error") : "no answer");
		return refused(-EPROTO, &error);
	}
	if (out_options.json) {
		json_dumpf(reply, stdout, out_options.pretty ?
			   JSON_INDENT(4) : JSON_COMPACT);
		putchar('\n');
		return EXIT_OK;
	}
	if (!strcmp(request, "paths"))
		print_paths(reply);
	else if (!strcmp(request, "topology"))
		print_topology(reply);
	else
		print_summary(reply);
	return EXIT_OK;
}

/**
 * do_engine() - srpol engine
 * @args: what to show
 *
 * Return: an EXIT_*.
 */
int do_engine(struct args *args)
{
	static const char * const requests[] = { "show", "paths", "topology" };
	const char *request = more(args) ? next(args) : "show";
	char name[64], path[128];
	struct srpol_error error = {};
	const char *socket_path = path;
	json_t *answer;
	FILE *engine;
	size_t i;
	int fd, err;

	if (!strcmp(request, "help")) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	for (i = 0; i < ARRAY_SIZE(requests); i++)
		if (!strcmp(request, requests[i]))
			break;
	if (i == ARRAY_SIZE(requests)) {
		fputs(usage, stderr);
		return complain("command \"%s\" is unknown", request);
	}
	err = srpol_netns_name(name, sizeof(name));
	if (err)
		return refused(err, NULL);
	snprintf(path, sizeof(path), SOCKET_DIR "/%s.sock", name);
	if (is(args, "socket") && !read_word(args, "socket", &socket_path))
		return EXIT_USAGE;
	if (more(args))
		return unknown(args), EXIT_USAGE;
	fd = open_engine(socket_path);
	if (fd < 0) {
		srpol_error_set(&error, fd, "srpold does not run in this network namespace: %s: %s",
				socket_path, strerror(-fd));
		return refused(fd, &error);
	}
	engine = fdopen(fd, "r+");
	answer = engine ? ask(engine, request) : NULL;
	err = print_reply(request, answer);
	json_decref(answer);
	if (engine)
		fclose(engine);
	return err;
}
