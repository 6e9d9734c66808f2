// SPDX-License-Identifier: GPL-2.0
/*
 * What changed between two states, as gNMI tells it, in JSON: a notification
 * has values by path. An element of a list is named by what tells it from the
 * others, so that a path means the same thing next time.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "srpol_lib.h"
#include "web.h"

#define PREFIX		"/fabric"
#define PATH_LEN	1024

/**
 * struct path - where we are
 * @text: path, ended by a 0
 * @len: bytes of it
 */
struct path {
	char text[PATH_LEN];
	size_t len;
};

/* What does not fit is cut: names are short. */
static void put(struct path *path, char c)
{
	if (path->len < sizeof(path->text) - 1)
		path->text[path->len++] = c;
	path->text[path->len] = '\0';
}

static void append(struct path *path, const char *text)
{
	while (*text)
		put(path, *text++);
}

static void append_key(struct path *path, const char *key, const char *value)
{
	append(path, "[");
	append(path, key);
	append(path, "=");
	for (; *value; value++) {
		if (*value == ']' || *value == '\\')
			put(path, '\\');
		put(path, *value);
	}
	append(path, "]");
}

static bool append_member(struct path *path, const json_t *o, const char *key)
{
	const char *value = json_string_value(json_object_get(o, key));

	if (value)
		append_key(path, key, value);
	return value;
}

static bool append_both(struct path *path, const json_t *o, const char *from,
			const char *to)
{
	return append_member(path, o, from) && append_member(path, o, to);
}

/* Between the same two there may be something for each color, or rail. */
static void append_numbers(struct path *path, const json_t *o)
{
	static const char * const keys[] = { "rail", "dst_rail", "color" };
	json_t *value;
	char text[24];
	size_t k;

	for (k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
		value = json_object_get(o, keys[k]);
		if (!json_is_integer(value))
			continue;
		snprintf(text, sizeof(text), "%lld",
			 (long long)json_integer_value(value));
		append_key(path, keys[k], text);
	}
}

static void append_element(struct path *path, const json_t *o, size_t i)
{
	static const char * const keys[] = { "name", "tier", "host", "job" };
	char number[24];
	size_t k;

	if (append_both(path, o, "from", "to") ||
	    append_both(path, o, "src", "dst")) {
		append_numbers(path, o);
		return;
	}
	for (k = 0; k < sizeof(keys) / sizeof(*keys); k++)
		if (append_member(path, o, keys[k]))
			return;
	snprintf(number, sizeof(number), "%zu", i);
	append_key(path, "index", number);
}

static void flatten(struct path *path, json_t *at, json_t *out)
{
	size_t len = path->len, i;
	const char *key;
	json_t *v;

	if (json_is_object(at)) {
		json_object_foreach(at, key, v) {
			append(path, "/");
			append(path, key);
			flatten(path, v, out);
			path->text[path->len = len] = '\0';
		}
	} else if (json_is_object(json_array_get(at, 0))) {
		json_array_foreach(at, i, v) {
			append_element(path, v, i);
			flatten(path, v, out);
			path->text[path->len = len] = '\0';
		}
	} else {
		json_object_set(out, path->text, at);
	}
}

/**
 * web_paths() - a state as values by path
 * @state: of view_state()
 */
json_t *web_paths(json_t *state)
{
	struct path path = {};
	json_t *out = json_object();

	flatten(&path, state, out);
	return out;
}

static json_t *notification(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return json_pack("{s:I, s:s}", "timestamp",
			 (json_int_t)(ts.tv_sec * NS_PER_SEC + ts.tv_nsec),
			 "prefix", PREFIX);
}

static void add_updates(json_t *list, const json_t *before, json_t *now)
{
	const char *path;
	json_t *v;

	json_object_foreach(now, path, v)
		if (!json_equal(json_object_get(before, path), v))
			json_array_append_new(list, json_pack("{s:s, s:O}",
							      "path", path,
							      "val", v));
}

static char *line(json_t *notification)
{
	json_t *o = json_pack("{s:o}", "update", notification);
	char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(5));

	json_decref(o);
	return text;
}

/**
 * web_paths_all() - the notification of somebody who knows nothing
 * @now: of web_paths()
 *
 * Return: a line without its end; NULL without memory.
 */
char *web_paths_all(json_t *now)
{
	json_t *o = notification(), *updates = json_array();

	add_updates(updates, NULL, now);
	json_object_set_new(o, "atomic", json_true());
	json_object_set_new(o, "update", updates);
	return line(o);
}

/**
 * web_paths_changed() - that of who knows the state before
 * @before: of web_paths()
 * @now: likewise
 *
 * Return: as web_paths_all()
 */
char *web_paths_changed(json_t *before, json_t *now)
{
	json_t *o = notification(), *updates = json_array();
	json_t *gone = json_array(), *v;
	const char *path;

	add_updates(updates, before, now);
	json_object_foreach(before, path, v)
		if (!json_object_get(now, path))
			json_array_append_new(gone, json_string(path));
	json_object_set_new(o, "update", updates);
	json_object_set_new(o, "delete", gone);
	return line(o);
}

/**
 * web_paths_nothing() - that says that we are there
 */
char *web_paths_nothing(void)
{
	return line(notification());
}
