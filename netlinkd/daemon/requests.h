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
 * @answer: makes the reply; NULL after an error, or after requests_later()
 */
struct request {
	const char *name;
	json_t *(*answer)(const json_t *request, struct srpol_error *err);
};

struct request_later;

/**
 * struct request_server - a socket for requests
 * @lines: the socket, must be the first
 * @requests: ends with one without a name
 * @line_max: bytes of a request, 0: what is enough for most
 * @out_max: bytes of answers that a client may leave unread, 0: likewise
 * @may: may a user ask this? NULL: everybody may ask everything
 * @denied: requests that were not allowed
 * @asks: user whose request is being answered
 * @client: likewise the client
 * @later: that is answered later
 * @waiting: all that are
 */
struct request_server {
	struct lines lines;
	const struct request *requests;
	size_t line_max;
	size_t out_max;
	bool (*may)(const char *name, uint32_t uid);
	uint64_t denied;
	uint32_t asks;
	struct lines_client *client;
	struct request_later *later;
	struct request_later *waiting;
};

int requests_start(struct request_server *server, const char *path,
		   struct srpol_error *err);
void requests_stop(struct request_server *server);
struct request_later *requests_later(struct request_server *server);
void requests_answer(struct request_later *later, json_t *body,
		     const struct srpol_error *err);

#endif /* _SRPOL_REQUESTS_H */
