// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "requests.h"
#include "srpol_lib.h"

#define VERSION		1
#define CLIENTS_MAX	64
#define LINE_MAX_LEN	4096
#define OUT_MAX		(64 << 20)	/* paths of 10000 policies */

/**
 * struct request_later - a request to be answered later
 * @server: server that received it
 * @client: client that sent it, NULL: it has disconnected
 * @next: next in the server's list
 */
struct request_later {
	struct request_server *server;
	struct lines_client *client;
	struct request_later *next;
};

static bool is_allowed(struct request_server *server,
		       const struct request *request, struct srpol_error *err)
{
	if (!server->may || server->may(request->name, server->asks))
		return true;
	server->denied++;
	srpol_error_set(err, -EPERM, "request \"%s\" is for operators only",
			request->name);
	return false;
}

static bool is_among(const char * const *words, const char *word)
{
	while (*words && strcmp(*words, word))
		words++;
	return *words;
}

/* A word that is not known says something else than what would be answered. */
static bool has_known_members(const struct request *as, const json_t *request,
			      struct srpol_error *err)
{
	static const char * const all[] = { "version", "request", NULL };
	const char *key;
	const json_t *v;

	json_object_foreach((json_t *)request, key, v) {
		if (!as->members || is_among(all, key) ||
		    is_among(as->members, key))
			continue;
		srpol_error_set(err, -EINVAL,
				"\"%s\" is unknown in request \"%s\"", key,
				as->name);
		return false;
	}
	return true;
}

static json_t *answer_request(struct request_server *server,
			      const json_t *request, struct srpol_error *err)
{
	const struct request *requests = server->requests;
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
	if (!is_allowed(server, requests, err) ||
	    !has_known_members(requests, request, err))
		return NULL;
	body = requests->answer(request, err);
	if (!body && !err->text[0] && !server->later)
		srpol_error_set(err, -ENOMEM, "no memory");
	return body;
}

static void send_reply(struct lines_client *client, json_t *body,
		       const struct srpol_error *err)
{
	json_t *reply = json_object();
	char *text;

	json_object_set_new(reply, "version", json_integer(VERSION));
	if (body)
		json_object_set_new(reply, "reply", body);
	else
		json_object_set_new(reply, "error", json_string(err->text));
	text = json_dumps(reply, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(reply);
	if (text)
		lines_send(client, text, strlen(text));
	free(text);
}

static void take_line(struct lines_client *client, char *line, size_t len)
{
	struct request_server *server =
		(struct request_server *)client->server;
	struct srpol_error err = {};
	json_t *request, *body;

	server->asks = client->uid;
	server->client = client;
	server->later = NULL;
	if (server->begin && server->begin(client->uid, &err)) {
		send_reply(client, NULL, &err);
		return;
	}
	request = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	body = answer_request(server, request, &err);
	if (!server->later)
		send_reply(client, body, &err);
	json_decref(request);
	if (server->end)
		server->end(server->asks);
}

/* Answers to requests of this client will be dropped. */
static void client_left(struct lines_client *client)
{
	struct request_server *server =
		(struct request_server *)client->server;
	struct request_later *later;

	for (later = server->waiting; later; later = later->next)
		if (later->client == client)
			later->client = NULL;
	if (server->left)
		server->left(client);
}

/**
 * requests_later() - announce that the current request is answered later
 * @server: server whose answer() calls this, and then returns NULL
 *
 * Return: handle to be passed to requests_answer() exactly once; NULL without
 * memory.
 */
struct request_later *requests_later(struct request_server *server)
{
	struct request_later *later = calloc(1, sizeof(*later));

	if (!later)
		return NULL;
	later->server = server;
	later->client = server->client;
	later->client->owed++;
	later->next = server->waiting;
	server->waiting = later;
	server->later = later;
	return later;
}

/**
 * requests_answer() - answer a request of requests_later()
 * @later: the request; it is freed
 * @body: reply, whose reference is taken; NULL: an error
 * @err: error message if @body is NULL
 *
 * Must not be called from within answer().
 */
void requests_answer(struct request_later *later, json_t *body,
		     const struct srpol_error *err)
{
	struct request_later **at = &later->server->waiting;

	while (*at != later)
		at = &(*at)->next;
	*at = later->next;
	if (later->client) {
		later->client->owed--;
		send_reply(later->client, body, err);
	} else {
		json_decref(body);
	}
	free(later);
}

/**
 * requests_start() - start to answer requests
 * @server: @requests is set, optionally also limits and @may
 * @path: path of the socket; the string must stay valid
 * @err: error message
 *
 * Return: 0, -EBUSY if another process serves this socket, or another negative
 * errno.
 */
int requests_start(struct request_server *server, const char *path,
		   struct srpol_error *err)
{
	server->lines.path = path;
	server->lines.clients_max = CLIENTS_MAX;
	server->lines.line_max = server->line_max ?: LINE_MAX_LEN;
	server->lines.out_max = server->out_max ?: OUT_MAX;
	server->lines.line = take_line;
	server->lines.left = client_left;
	server->lines.drained = server->drained;
	return lines_start(&server->lines, err);
}

/**
 * requests_stop() - stop answering requests
 * @server: started or not
 */
void requests_stop(struct request_server *server)
{
	if (server->lines.path)
		lines_stop(&server->lines);
}
