/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SRPOL_WORDS_H
#define _SRPOL_WORDS_H

#include <jansson.h>
#include <stdbool.h>

struct srpol_error;

int words_number(const json_t *o, const char *key, json_int_t min,
		 json_int_t max, json_int_t fallback, json_int_t *value,
		 struct srpol_error *err);
int words_text(const json_t *o, const char *key, const char *fallback,
	       char *to, size_t len, struct srpol_error *err);
int words_bool(const json_t *o, const char *key, bool *value,
	       struct srpol_error *err);
json_t *words_load(const char *file, struct srpol_error *err);
int words_file(const char *file, int (*take)(const json_t *o, void *config,
					     struct srpol_error *err),
	       void *config, struct srpol_error *err);
int words_check(const json_t *o, const char * const *keys,
		const char *where, struct srpol_error *err);

#endif /* _SRPOL_WORDS_H */
