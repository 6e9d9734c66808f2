/* SPDX-License-Identifier: LGPL-2.1 */
#ifndef _SRPOL_ASK_H
#define _SRPOL_ASK_H

#include <jansson.h>
#include <stdbool.h>

int srpol_ask(const char *path, json_t *request, unsigned int limit_ms,
	      json_t **answer);
int srpol_ask_each(const char *path, json_t *request, unsigned int limit_ms,
		   bool (*take)(const json_t *line, void *data), void *data);

#endif /* _SRPOL_ASK_H */
