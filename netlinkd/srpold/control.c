// SPDX-License-Identifier: GPL-2.0
/* The Unix socket of srpol engine, see daemon/requests.h. */
#include <errno.h>

#include "requests.h"
#include "srpold.h"

static struct engine *engine;

/* Requests of the command, with the engine they are about. */
#define ANSWER(name, request)						\
	static json_t *name(const json_t *o, struct srpol_error *err)	\
	{								\
		return request(engine, o, err);				\
	}

ANSWER(show, report_show)
ANSWER(paths, report_paths)
ANSWER(topology, report_topology)
ANSWER(link_set, link_request)
ANSWER(why, why_request)
ANSWER(job_add, job_add_request)
ANSWER(job_del, job_del_request)
ANSWER(job_show, job_show_request)

static const struct request requests[] = {
	{ "show", show },
	{ "paths", paths },
	{ "topology", topology },
	{ "link", link_set },
	{ "why", why },
	{ "job-add", job_add },
	{ "job-del", job_del },
	{ "jobs", job_show },
	{ }
};

static struct request_server server = { .requests = requests };

/**
 * control_dropped() - clients that were let go
 */
uint64_t control_dropped(void)
{
	return server.lines.dropped;
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
	ret = requests_start(&server, e->config.socket, &why);
	if (ret == -EBUSY)
		return srpol_error_set(err, ret, "another srpold, %s", why.text);
	return ret ? srpol_error_set(err, ret, "%s", why.text) : 0;
}

/**
 * control_stop() - answer no more
 */
void control_stop(void)
{
	requests_stop(&server);
}
