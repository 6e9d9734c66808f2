// SPDX-License-Identifier: GPL-2.0
/*
 * Differences between two states in JSON, in the format of gNMI: a notification
 * contains values by path. List elements are named by the members that identify
 * them, so that a path keeps its meaning.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "srpol_lib.h"
#include "web.h"

#define PREFIX		"/fabric"
#define PATH_LEN	1024

/**
 * struct path - path of the current value
 * @text: path, terminated by a 0
 * @len: its length in bytes
 */
struct path {
	char text[PATH_LEN];
	size_t len;
};

/* A path that is too long is truncated: names are short. */
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

/* Elements with the same ends are distinguished by rail and color. */
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
 * web_paths() - convert a state to values by path
 * @state: result of view_state()
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
 * web_paths_all() - notification with all values, for a new client
 * @now: result of web_paths()
 *
 * Return: a line without line end; NULL without memory.
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
 * web_paths_changed() - notification with the differences between two states
 * @before: result of web_paths() for the earlier state
 * @now: result of web_paths() for the current state
 *
 * Return: a line without line end; NULL without memory.
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
 * web_paths_nothing() - empty notification, as a sign of life
 */
char *web_paths_nothing(void)
{
	return line(notification());
}
