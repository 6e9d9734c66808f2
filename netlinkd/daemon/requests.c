// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "requests.h"
#include "srpol_lib.h"

#define VERSION		1
#define CLIENTS_MAX	64
#define LINE_MAX_LEN	4096
#define OUT_MAX		(64 << 20)	/* ten thousand policies' paths */

static json_t *answer_request(const struct request *requests,
			      const json_t *request, struct srpol_error *err)
{
	json_int_t version = -1;
	const char *name;
	json_t *body;

	if (!request || json_unpack((json_t *)request, "{s:I, s:s}",
				    "version", &version, "request", &name)) {
		srpol_error_set(err, -EINVAL,
				"a request is {\"version\": 1, \"request\": NAME}");
		return NULL;
	}
	if (version != VERSION) {
		srpol_error_set(err, -EINVAL, "this is version 1");
		return NULL;
	}
	while (requests->name && strcmp(requests->name, name))
		requests++;
	if (!requests->name) {
		srpol_error_set(err, -EINVAL, "request \"%s\" is unknown",
				name);
		return NULL;
	}
	body = requests->answer(request, err);
	if (!body && !err->text[0])
		srpol_error_set(err, -ENOMEM, "no memory");
	return body;
}

static json_t *answer(const struct request *requests, const char *line)
{
	json_t *request = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	json_t *reply = json_object(), *body;
	struct srpol_error err = {};

	body = answer_request(requests, request, &err);
	json_object_set_new(reply, "version", json_integer(VERSION));
	if (body)
		json_object_set_new(reply, "reply", body);
	else
		json_object_set_new(reply, "error", json_string(err.text));
	json_decref(request);
	return reply;
}

static void take_line(struct lines_client *client, char *line, size_t len)
{
	struct request_server *server =
		(struct request_server *)client->server;
	json_t *reply;
	char *text;

	server->asks = client->uid;
	reply = answer(server->requests, line);
	text = json_dumps(reply, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(reply);
	if (text)
		lines_send(client, text, strlen(text));
	free(text);
}

/**
 * requests_start() - answer
 * @server: @requests is set
 * @path: of the socket; stays where it is
 * @err: why not: -EBUSY if another process does
 */
int requests_start(struct request_server *server, const char *path,
		   struct srpol_error *err)
{
	server->lines.path = path;
	server->lines.clients_max = CLIENTS_MAX;
	server->lines.line_max = server->line_max ?: LINE_MAX_LEN;
	server->lines.out_max = server->out_max ?: OUT_MAX;
	server->lines.line = take_line;
	return lines_start(&server->lines, err);
}

/**
 * requests_stop() - answer no more
 * @server: started or not
 */
void requests_stop(struct request_server *server)
{
	if (server->lines.path)
		lines_stop(&server->lines);
}
