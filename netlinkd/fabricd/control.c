// SPDX-License-Identifier: GPL-2.0
/* The Unix socket of srpol fabric, which speaks as that of srpol engine does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabricd.h"
#include "requests.h"

static const struct request requests[] = {
	{ "show", report_show },
	{ "plan", report_plan },
	{ "diff", report_diff },
	{ "what-if", report_what_if },
	{ "why", why_request },
	{ }
};

static struct request_server server = { .requests = requests };

/**
 * control_start() - answer srpol fabric
 * @err: why not: -EBUSY if another process does
 */
int control_start(struct srpol_error *err)
{
	return requests_start(&server, fabricd.config.socket, err);
}

/**
 * control_stop() - answer no more
 */
void control_stop(void)
{
	requests_stop(&server);
}
