/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests of the srpol command. A request is one line of JSON, {"version": 1,
 * "request": NAME} with further members, and so is its answer, {"version": 1,
 * "reply": ...} or {"version": 1, "error": TEXT}.
 */
#ifndef _SRPOL_REQUESTS_H
#define _SRPOL_REQUESTS_H

#include <jansson.h>

#include "lines.h"

/**
 * struct request - a kind of request
 * @name: its name
 * @answer: makes the reply; returns NULL after an error or after
 *	requests_later()
 * @members: what it may have besides "version" and "request", ended by NULL; others
 *	are refused. NULL: @answer looks itself
 */
struct request {
	const char *name;
	json_t *(*answer)(const json_t *request, struct srpol_error *err);
	const char * const *members;
};

struct request_later;

/**
 * struct request_server - a socket that answers requests
 * @lines: the socket; must be the first member
 * @requests: table of requests; the last row has no name
 * @line_max: longest request in bytes, 0: the default
 * @out_max: bytes of answers that may wait to be read by a client, 0: the
 *	default
 * @may: may this user send this request? NULL: everybody may send everything
 * @begin: a line of this user is to be answered; not after an error. May be NULL
 * @end: the line was answered, or will be later; called unless @begin has failed.
 *	May be NULL
 * @left: a client is being disconnected; may be NULL
 * @drained: a client that was slow has read everything; may be NULL
 * @denied: requests that were refused by @may, and those that @begin or @answer refused
 *	for who asks and counts here
 * @asks: user id of the request that is being answered
 * @client: client of the request that is being answered
 * @later: set if that request will be answered later
 * @waiting: list of all requests to be answered later
 */
struct request_server {
	struct lines lines;
	const struct request *requests;
	size_t line_max;
	size_t out_max;
	bool (*may)(const char *name, uint32_t uid);
	int (*begin)(uint32_t uid, struct srpol_error *err);
	void (*end)(uint32_t uid);
	void (*left)(struct lines_client *client);
	void (*drained)(struct lines_client *client);
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
