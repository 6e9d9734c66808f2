// SPDX-License-Identifier: GPL-2.0
/*
 * srpol doctor: what the engine that made paths knows of them. The module does not: a
 * verdict that is not repeated expires, and packets that are too big are lost silently.
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "doctor.h"
#include "engine.h"

#define REPLY_MS	5000	/* an engine that is busy is late, not longer */

static long long number_of(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

/* Names the narrowest path: of those over one leaf there may be thousands. */
static void check_narrow(const json_t *paths)
{
	const json_t *path, *worst = NULL;
	const char *text;
	char name[SRPOL_NAME_MAX + 4] = "", more[32] = "";
	unsigned int n = 0;
	size_t i;

	json_array_foreach(paths, i, path) {
		if (!json_is_true(json_object_get(path, "mtu_narrow")))
			continue;
		if (!n++ || number_of(path, "mtu") < number_of(worst, "mtu"))
			worst = path;
	}
	if (!n)
		return;
	text = json_string_value(json_object_get(worst, "name"));
	if (text)
		snprintf(name, sizeof(name), " (%s)", text);
	if (n > 1)
		snprintf(more, sizeof(more), " and %u more", n - 1);
	report(WARNING, "path",
	       "srpol engine paths; raise the MTU of links, or lower that of the device",
	       "path %lld%s%s lose%s packets of %lld bytes: the largest that came back has %lld",
	       number_of(worst, "path"), name, more, n > 1 ? "" : "s",
	       number_of(worst, "mtu_full"), number_of(worst, "mtu"));
}

/* Other engines, and an srpold with a socket of its own, make such paths, too. */
static void report_silent(unsigned int n, const char *socket, const char *why)
{
	report(WARNING, "engine",
	       "start srpold, unless another engine made these paths, or it has another socket",
	       "srpold does not answer: perhaps nobody probes %u path%s of an engine (%s: %s)",
	       n, n > 1 ? "s" : "", socket, why);
}

/* @n: number of paths that an engine has made */
static void check_answer(unsigned int n, const char *socket, int ret,
			 const json_t *answer)
{
	const char *text = json_string_value(json_object_get(answer, "error"));
	const json_t *paths = json_object_get(answer, "reply");

	/* whose namespace it is, others may not see either */
	if (ret == -EACCES || ret == -EPERM || (ret == -ENOENT && geteuid())) {
		report(NOTE, "engine", "run srpol doctor as root",
		       "not every user may ask srpold whether its paths carry packets");
	} else if (ret == -ETIMEDOUT) {
		report(WARNING, "engine", "see what it does: it has been stopped, or is busy",
		       "srpold runs, but has not answered for %d s (%s)", REPLY_MS / 1000,
		       socket);
	} else if (ret) {
		report_silent(n, socket, strerror(-ret));
	} else if (text) {
		report(WARNING, "engine", "see whether it is of this version",
		       "srpold does not tell its paths: %s", text);
	} else if (!paths) {
		report_silent(n, socket, "no answer");
	} else {
		report(GOOD, "engine", "", "srpold answers, it has %zu path%s",
		       json_array_size(paths), json_array_size(paths) == 1 ? "" : "s");
		check_narrow(paths);
	}
}

/**
 * check_engine() - ask srpold about paths that an engine has made
 * @paths: all paths
 */
void check_engine(const struct vec *paths)
{
	const struct path_info *path;
	json_t *request, *answer;
	unsigned int n = 0;
	char socket[128];
	int ret;

	vec_for_each(path, paths)
		n += path->origin == SRPOL_ORIGIN_ENGINE;
	if (!n)
		return;
	if (!engine_socket(socket, sizeof(socket))) {
		report(WARNING, "engine", "run srpol doctor as root",
		       "where srpold has its socket is not known");
		return;
	}
	request = json_pack("{s:s}", "request", "paths");
	ret = srpol_ask(socket, request, REPLY_MS, &answer);
	check_answer(n, socket, ret, answer);
	json_decref(answer);
	json_decref(request);
}
