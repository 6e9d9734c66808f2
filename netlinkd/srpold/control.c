// SPDX-License-Identifier: GPL-2.0
/*
 * The Unix socket of srpol engine: a request is one line of JSON,
 * {"version": 1, "request": NAME} and what else it needs, and so is the answer,
 * {"version": 1, "reply": ...} or {"version": 1, "error": TEXT}.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "srpold.h"

#define VERSION		1
#define CLIENTS_MAX	64
#define LINE_MAX_LEN	4096
#define OUT_MAX		(64 << 20)	/* ten thousand policies' paths */

static const struct {
	const char *name;
	json_t *(*answer)(struct engine *engine, const json_t *request,
			  struct srpol_error *err);
} requests[] = {
	{ "show", report_show },
	{ "paths", report_paths },
	{ "topology", report_topology },
	{ "link", link_request },
	{ "why", why_request },
	{ "job-add", job_add_request },
	{ "job-del", job_del_request },
	{ "jobs", job_show_request },
};

#define N_REQUESTS	(sizeof(requests) / sizeof(requests[0]))

static struct engine *engine;

static json_t *answer_request(const json_t *request, struct srpol_error *err)
{
	json_int_t version = -1;
	const char *name;
	json_t *body;
	size_t i;

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
	for (i = 0; i < N_REQUESTS && strcmp(requests[i].name, name); i++)
		;
	if (i == N_REQUESTS) {
		srpol_error_set(err, -EINVAL, "request \"%s\" is unknown",
				name);
		return NULL;
	}
	body = requests[i].answer(engine, request, err);
	if (!body && !err->text[0])
		srpol_error_set(err, -ENOMEM, "no memory");
	return body;
}

static json_t *answer(const char *line)
{
	json_t *request = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	json_t *reply = json_object(), *body;
	struct srpol_error err = {};

	body = answer_request(request, &err);
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
	json_t *reply = answer(line);
	char *text = json_dumps(reply, JSON_COMPACT | JSON_REAL_PRECISION(9));

	json_decref(reply);
	if (text)
		lines_send(client, text, strlen(text));
	free(text);
}

static struct lines server = {
	.clients_max = CLIENTS_MAX,
	.line_max = LINE_MAX_LEN,
	.out_max = OUT_MAX,
	.line = take_line,
	.listener.fd = -1,
};

/**
 * control_dropped() - clients that were let go
 */
uint64_t control_dropped(void)
{
	return server.dropped;
}

/**
 * control_start() - answer srpol engine
 * @e: the engine
 * @err: why not: -EBUSY if another srpold does
 */
int control_start(struct engine *e, struct srpol_error *err)
{
	struct srpol_error why = {};
	int ret;

	engine = e;
	server.path = e->config.socket;
	ret = lines_start(&server, &why);
	if (ret == -EBUSY)
		return srpol_error_set(err, ret, "another srpold, %s", why.text);
	return ret ? srpol_error_set(err, ret, "%s", why.text) : 0;
}

/**
 * control_stop() - answer no more
 */
void control_stop(void)
{
	lines_stop(&server);
}
