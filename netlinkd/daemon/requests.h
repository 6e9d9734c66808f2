/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests of the command: one line of JSON, {"version": 1, "request": NAME}
 * and what else it needs, and so is the answer, {"version": 1, "reply": ...} or
 * {"version": 1, "error": TEXT}.
 */
#ifndef _SRPOL_REQUESTS_H
#define _SRPOL_REQUESTS_H

#include <jansson.h>

#include "lines.h"

/**
 * struct request - what can be asked
 * @name: its name
 * @answer: makes the reply; NULL after an error
 */
struct request {
	const char *name;
	json_t *(*answer)(const json_t *request, struct srpol_error *err);
};

/**
 * struct request_server - a socket for requests
 * @lines: the socket, must be the first
 * @requests: ends with one without a name
 * @line_max: bytes of a request, 0: what is enough for most
 * @out_max: bytes of answers that a client may leave unread, 0: likewise
 * @asks: user whose request is being answered
 */
struct request_server {
	struct lines lines;
	const struct request *requests;
	size_t line_max;
	size_t out_max;
	uint32_t asks;
};

int requests_start(struct request_server *server, const char *path,
		   struct srpol_error *err);
void requests_stop(struct request_server *server);

#endif /* _SRPOL_REQUESTS_H */
