// SPDX-License-Identifier: GPL-2.0
/*
 * The Unix sockets of the engine, see daemon/requests.h: one for the command
 * srpol engine, for users who may configure, and one for demands, for all
 * users, if it is configured.
 */
#include <errno.h>

#include "requests.h"
#include "srpold.h"
#include "watchers.h"

#define DEMANDS_LINE	262144
#define DEMANDS_UNREAD	65536

static struct engine *engine;
static struct request_server server;
static struct request_server for_all;

/* Requests of the command, with the engine they are about. */
#define ANSWER(name, request)						\
	static json_t *name(const json_t *o, struct srpol_error *err)	\
	{								\
		return request(engine, o, err);				\
	}

ANSWER(show, report_show)
ANSWER(paths, report_paths)
ANSWER(topology, report_topology)
ANSWER(functions, functions_request)
ANSWER(link_set, link_request)
ANSWER(why, why_request)
ANSWER(job_show, job_show_request)

/* Paths and policies of the engine are others then, even if it is refused. */
static json_t *job_add(const json_t *o, struct srpol_error *err)
{
	json_t *reply = job_add_request(engine, o, err);

	watchers_rebuilt();
	return reply;
}

static json_t *job_del(const json_t *o, struct srpol_error *err)
{
	json_t *reply = job_del_request(engine, o, err);

	watchers_rebuilt();
	return reply;
}

static json_t *demanded(json_t *reply)
{
	if (reply)
		watchers_demanded();
	return reply;
}

static json_t *demands_by_operator(const json_t *o, struct srpol_error *err)
{
	return demanded(demand_operator_request(engine, server.asks, o, err));
}

static json_t *demands_by_anybody(const json_t *o, struct srpol_error *err)
{
	return demanded(demand_request(engine, for_all.asks, o, err));
}

/* Who may configure may see all jobs and demands, as by "jobs". */
static json_t *watch_by_operator(const json_t *o, struct srpol_error *err)
{
	return watch_request(&server, true, o, err);
}

static json_t *watch_by_anybody(const json_t *o, struct srpol_error *err)
{
	return watch_request(&for_all, !for_all.asks, o, err);
}

ANSWER(demands_show, demand_show_request)

static const struct request requests[] = {
	{ "show", show, NULL },
	{ "paths", paths, NULL },
	{ "topology", topology, NULL },
	{ "functions", functions, NULL },
	{ "link", link_set, NULL },
	{ "why", why, NULL },
	{ "job-add", job_add, NULL },
	{ "job-del", job_del, NULL },
	{ "jobs", job_show, NULL },
	{ "demands", demands_by_operator, NULL },
	{ "demands-show", demands_show, NULL },
	{ "watch", watch_by_operator, NULL },
	{ }
};

static const struct request requests_for_all[] = {
	{ "demands", demands_by_anybody, NULL },
	{ "watch", watch_by_anybody, NULL },
	{ }
};

static struct request_server server = {
	.requests = requests, .left = watchers_left,
	.drained = watchers_drained,
};
static struct request_server for_all = {
	.lines.for_all = true, .lines.listener.fd = -1,
	.lines.rate_max = 2 * DEMANDS_LINE,
	.requests = requests_for_all, .line_max = DEMANDS_LINE,
	.out_max = DEMANDS_UNREAD, .left = watchers_left,
	.drained = watchers_drained,
};

/**
 * control_dropped() - number of clients whose connection was dropped
 */
uint64_t control_dropped(void)
{
	return server.lines.dropped + for_all.lines.dropped;
}

/**
 * control_start() - listen for srpol engine and for demands
 * @e: the engine
 * @err: message on failure; returns -EBUSY if another srpold listens
 */
int control_start(struct engine *e, struct srpol_error *err)
{
	struct srpol_error why = {};
	int ret;

	engine = e;
	ret = requests_start(&server, e->config.socket, &why);
	if (!ret && e->config.demands[0]) {
		ret = requests_start(&for_all, e->config.demands, &why);
		if (ret)
			requests_stop(&server);
	}
	if (ret == -EBUSY)
		return srpol_error_set(err, ret, "another srpold, %s", why.text);
	return ret ? srpol_error_set(err, ret, "%s", why.text) : 0;
}

/**
 * control_stop() - stop listening
 */
void control_stop(void)
{
	requests_stop(&for_all);
	requests_stop(&server);
	watchers_stop();
}
