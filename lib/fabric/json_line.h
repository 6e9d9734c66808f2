/* SPDX-License-Identifier: LGPL-2.1 */
#ifndef _SRPOL_JSON_LINE_H
#define _SRPOL_JSON_LINE_H

#include <stddef.h>

/**
 * struct srpol_json_step - a step from a JSON value into it
 * @key: member of an object, or NULL
 * @index: else element of an array
 */
struct srpol_json_step {
	const char *key;
	size_t index;
};

unsigned int srpol_json_line(const char *text, size_t len,
			     const struct srpol_json_step *steps,
			     unsigned int n);

#endif /* _SRPOL_JSON_LINE_H */
