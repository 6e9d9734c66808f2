// SPDX-License-Identifier: GPL-2.0
/* Reads values of a configuration file. Error messages name the key. */
#include <errno.h>
#include <string.h>

#include "srpol_lib.h"
#include "words.h"

/**
 * words_number() - read a number
 * @o: object
 * @key: name of the member
 * @min: smallest value
 * @max: largest value
 * @fallback: value if there is no such member
 * @value: result
 * @err: error message
 *
 * Return: 0 or -EINVAL.
 */
int words_number(const json_t *o, const char *key, json_int_t min,
		 json_int_t max, json_int_t fallback, json_int_t *value,
		 struct srpol_error *err)
{
	const json_t *v = json_object_get(o, key);

	*value = fallback;
	if (!v)
		return 0;
	if (json_is_integer(v) && json_integer_value(v) >= min &&
	    json_integer_value(v) <= max) {
		*value = json_integer_value(v);
		return 0;
	}
	return srpol_error_set(err, -EINVAL,
			       "\"%s\" is not a number from %lld to %lld", key,
			       (long long)min, (long long)max);
}

/**
 * words_text() - read a string
 * @o: object
 * @key: name of the member
 * @fallback: value if there is no such member; NULL: the member is required
 * @to: result
 * @len: size of @to in bytes
 * @err: error message
 *
 * Return: 0 or -EINVAL.
 */
int words_text(const json_t *o, const char *key, const char *fallback,
	       char *to, size_t len, struct srpol_error *err)
{
	const json_t *v = json_object_get(o, key);
	const char *text = v ? json_string_value(v) : fallback;

	if (text && strlen(text) < len) {
		strcpy(to, text);
		return 0;
	}
	return srpol_error_set(err, -EINVAL, "\"%s\" is not a string of at most %zu bytes",
			       key, len - 1);
}

/**
 * words_bool() - read true or false
 * @o: object
 * @key: name of the member, false if there is none
 * @value: result
 * @err: error message
 *
 * Return: 0 or -EINVAL.
 */
int words_bool(const json_t *o, const char *key, bool *value,
	       struct srpol_error *err)
{
	const json_t *v = json_object_get(o, key);

	*value = json_is_true(v);
	return !v || json_is_boolean(v) ? 0 :
	       srpol_error_set(err, -EINVAL, "\"%s\" is neither true nor false",
			       key);
}

/**
 * words_check() - refuse members that are unknown
 * @o: object
 * @keys: known members, ended by NULL
 * @where: appended to the error message to say where the object is
 * @err: error message
 *
 * Return: 0 or -EINVAL.
 */
int words_check(const json_t *o, const char * const *keys,
		const char *where, struct srpol_error *err)
{
	const char *key;
	const json_t *v;
	size_t i;

	json_object_foreach((json_t *)o, key, v) {
		for (i = 0; keys[i] && strcmp(keys[i], key); i++)
			;
		if (!keys[i])
			return srpol_error_set(err, -EINVAL,
					       "\"%s\" is unknown%s", key,
					       where);
	}
	return 0;
}

/**
 * words_load() - load a file of JSON
 * @file: name of the file, which @err begins with
 * @err: error message
 *
 * Return: the value, or NULL with errno: EINVAL if it will not be read as it is.
 */
json_t *words_load(const char *file, struct srpol_error *err)
{
	struct srpol_error why = {};
	FILE *in = srpol_file_open(file, &why);
	json_error_t at;
	bool is_read;
	json_t *o;

	if (!in) {
		srpol_error_set(err, -errno, "%s: %s", file, why.text);
		return NULL;
	}
	o = json_loadf(in, JSON_REJECT_DUPLICATES, &at);
	is_read = !ferror(in);
	fclose(in);
	if (o)
		return o;
	srpol_error_set(err, -EINVAL, "%s: line %d: %s", file, at.line, at.text);
	errno = !is_read ? EIO : json_error_code(&at) == json_error_out_of_memory ? ENOMEM :
		EINVAL;
	return NULL;
}

/**
 * words_file() - read a file that is one JSON object
 * @file: name of the file, which @err begins with
 * @take: reads the object; returns 0 or a negative errno
 * @config: argument of @take
 * @err: error message
 *
 * Return: 0 or a negative errno.
 */
int words_file(const char *file, int (*take)(const json_t *o, void *config,
					     struct srpol_error *err),
	       void *config, struct srpol_error *err)
{
	json_t *o = words_load(file, err);
	struct srpol_error why = {};
	int ret;

	if (!o)
		return -EINVAL;
	ret = json_is_object(o) ? take(o, config, &why) :
	      srpol_error_set(&why, -EINVAL, "not a JSON object");
	json_decref(o);
	return ret ? srpol_error_set(err, ret, "%s: %s", file, why.text) : 0;
}
