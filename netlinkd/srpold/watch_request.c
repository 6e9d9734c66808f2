// SPDX-License-Identifier: GPL-2.0
/*
 * A request to watch: { "owner": NAME, "every-ms": N }, both optional. After the
 * reply the client gets events, and may send other requests all the same.
 */
#include <errno.h>
#include <string.h>

#include "watchers.h"
#include "words.h"

static int read_owner(const json_t *o, char *owner, struct srpol_error *err)
{
	const json_t *v = json_object_get(o, "owner");

	owner[0] = '\0';
	if (!v)
		return 0;
	if (!json_string_length(v) ||
	    json_string_length(v) >= DEMAND_OWNER_LEN)
		return srpol_error_set(err, -EINVAL,
				       "\"owner\" is a string of 1 to %u bytes",
				       DEMAND_OWNER_LEN - 1);
	strcpy(owner, json_string_value(v));
	return 0;
}

static int read_every(const json_t *o, uint64_t *ns, struct srpol_error *err)
{
	const json_t *v = json_object_get(o, "every-ms");
	json_int_t ms = v ? json_integer_value(v) : 0;

	if ((v && !json_is_integer(v)) || ms < 0 || ms > DEMAND_MS_MAX ||
	    (ms && ms < WATCH_EVERY_MIN_MS))
		return srpol_error_set(err, -EINVAL,
				       "\"every-ms\" is 0 or a number from %u to %u",
				       WATCH_EVERY_MIN_MS, DEMAND_MS_MAX);
	*ns = ms * NS_PER_MS;
	return 0;
}

/**
 * watch_request() - a client wants to be told what becomes of its paths
 * @server: the server whose client asks
 * @all: it may be told of all jobs and demands
 * @request: the request
 * @err: message on failure; a client that watches already goes on then
 *
 * Return: NULL; the request is answered later, or refused.
 */
json_t *watch_request(struct request_server *server, bool all,
		      const json_t *request, struct srpol_error *err)
{
	static const char * const keys[] = {
		"version", "request", "owner", "every-ms", NULL
	};
	char owner[DEMAND_OWNER_LEN];
	struct watcher *watcher;
	uint64_t every_ns = 0;

	if (words_check(request, keys, " in a request to watch", err) ||
	    read_owner(request, owner, err) ||
	    read_every(request, &every_ns, err))
		return NULL;
	watcher = watchers_add(server->client, all, err);
	if (!watcher)
		return NULL;
	strcpy(watcher->owner, owner);
	watcher->every_ns = every_ns;
	watcher->due_ns = 0;
	if (watchers_begin(watcher, server))
		srpol_error_set(err, -ENOMEM, "no memory");
	return NULL;
}
