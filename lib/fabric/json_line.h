/* SPDX-License-Identifier: LGPL-2.1 */
#ifndef _SRPOL_JSON_LINE_H
#define _SRPOL_JSON_LINE_H

#include <stddef.h>

/**
 * struct srpol_json_step - one step on the way to a nested JSON value
 * @key: name of a member of an object, or NULL
 * @index: number of an element of an array, if @key is NULL
 */
struct srpol_json_step {
	const char *key;
	size_t index;
};

unsigned int srpol_json_line(const char *text, size_t len,
			     const struct srpol_json_step *steps,
			     unsigned int n);

#endif /* _SRPOL_JSON_LINE_H */
