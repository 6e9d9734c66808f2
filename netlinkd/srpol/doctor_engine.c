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
	char lost[48] = "as large as the device takes";
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
	/* srpold of another version does not tell */
	if (number_of(worst, "mtu_full"))
		snprintf(lost, sizeof(lost), "of %lld bytes", number_of(worst, "mtu_full"));
	report(WARNING, "path",
	       "srpol engine paths; raise the MTU of links, or lower that of the device",
	       "path %lld%s%s lose%s packets %s: the largest that came back has %lld",
	       number_of(worst, "path"), name, more, n > 1 ? "" : "s", lost,
	       number_of(worst, "mtu"));
}

/* Other engines, and an srpold with a socket of its own, make such paths, too. */
static void report_silent(unsigned int n, const char *socket, const char *why)
{
	report(WARNING, "engine",
	       "start srpold, unless another engine made these paths, or it has another socket",
	       "srpold does not answer: perhaps nobody probes %u path%s of an engine (%s: %s)",
	       n, n > 1 ? "s" : "", socket, why);
}

static bool is_engines(const struct path_info *path)
{
	return path->origin == SRPOL_ORIGIN_ENGINE;
}

static unsigned int count_engines(const struct vec *paths)
{
	const struct path_info *path;
	unsigned int n = 0;

	vec_for_each(path, paths)
		n += is_engines(path);
	return n;
}

/*
 * How many of the paths that an engine has made are among those that srpold tells of?
 * It may have others, which the module lacks for now, as their device is not there.
 */
static unsigned int count_known(const struct vec *paths, const json_t *told)
{
	static bool is_told[SRPOL_MAX_PATHS];
	const struct path_info *path;
	unsigned int n = 0;
	const json_t *o;
	long long id;
	size_t i;

	memset(is_told, 0, sizeof(is_told));
	json_array_foreach(told, i, o) {
		id = number_of(o, "path");
		if (id > 0 && id < SRPOL_MAX_PATHS)
			is_told[id] = true;
	}
	vec_for_each(path, paths)
		n += is_engines(path) && path->id < SRPOL_MAX_PATHS && is_told[path->id];
	return n;
}

static void check_told(const struct vec *paths, const json_t *told)
{
	unsigned int n = count_engines(paths), known = count_known(paths, told);

	if (known == n)
		report(GOOD, "engine", "", "srpold answers, it has %zu path%s",
		       json_array_size(told), json_array_size(told) == 1 ? "" : "s");
	else
		report(WARNING, "engine",
		       "see whether another engine that made them runs, else delete them",
		       "srpold knows %u of %u path%s of an engine: perhaps nobody probes the other%s",
		       known, n, n == 1 ? "" : "s", n - known == 1 ? "" : "s");
	check_narrow(told);
}

/* @all: paths, of which an engine has made @n */
static void check_answer(const struct vec *all, unsigned int n, const char *socket, int ret,
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
	} else if (!json_is_array(paths)) {
		report(WARNING, "engine", "see whether it is of this version",
		       "srpold does not tell its paths: its answer is no list");
	} else {
		check_told(all, paths);
	}
}

/**
 * check_engine() - ask srpold about paths that an engine has made
 * @paths: all paths
 */
void check_engine(const struct vec *paths)
{
	unsigned int n = count_engines(paths);
	char socket[ENGINE_SOCKET_LEN];
	json_t *request, *answer;
	int ret;

	if (!n)
		return;
	if (!engine_socket(socket, sizeof(socket))) {
		report(WARNING, "engine",
		       geteuid() ? "run srpol doctor as root" : "see the error message",
		       "where srpold has its socket is not known");
		return;
	}
	request = json_pack("{s:s}", "request", "paths");
	ret = srpol_ask(socket, request, REPLY_MS, &answer);
	check_answer(paths, n, socket, ret, answer);
	json_decref(answer);
	json_decref(request);
}
