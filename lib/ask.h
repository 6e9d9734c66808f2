/* SPDX-License-Identifier: LGPL-2.1 */
#ifndef _SRPOL_ASK_H
#define _SRPOL_ASK_H

#include <jansson.h>

int srpol_ask(const char *path, json_t *request, unsigned int limit_ms,
	      json_t **answer);

#endif /* _SRPOL_ASK_H */
