// SPDX-License-Identifier: GPL-2.0
/* The UNIX socket of srpol fabric; its protocol is that of srpol engine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "forecasts.h"
#include "requests.h"

#define LINE_MAX_LEN	(1 << 20)	/* fits demands of a large job */
#define RATE_MAX	(2 * LINE_MAX_LEN)	/* per second, if all users
						 * may connect */

static const char * const none[] = { NULL };
static const char * const name[] = { "name", NULL };
static const char * const from[] = { "from", NULL };
static const char * const link_ends[] = { "from", "to", NULL };
static const char * const hosts[] = {
	"src", "dst", "rail", "dst_rail", "tenant", NULL
};
static const char * const job[] = { "name", "tenant", NULL };

static const struct request requests[] = {
	{ "show", report_show, none },
	{ "plan", report_plan, from },
	{ "diff", report_diff, none },
	{ "what-if", what_if_request, link_ends },
	{ "why", why_request, hosts },
	{ "horizons", horizons_request, none },
	{ "jobs", jobs_request, name },
	{ "job-add", job_add_request, NULL },
	{ "job-del", job_del_request, job },
	{ "tenants", tenants_request, none },
	{ "tenant-add", tenant_add_request, NULL },
	{ "tenant-del", tenant_del_request, name },
	{ "advise", advise_request, none },
	{ "functions", functions_request, none },
	{ }
};

static struct request_server server = {
	.requests = requests,
	.line_max = LINE_MAX_LEN,
	.may = access_may_ask,
	.begin = access_begin,
	.end = access_end,
};

/**
 * control_server() - server of the socket
 */
struct request_server *control_server(void)
{
	return &server;
}

/**
 * control_start() - listen for srpol fabric
 * @err: message on failure; returns -EBUSY if another process listens
 */
int control_start(struct srpol_error *err)
{
	/* with "users", access depends on the user id, not on the file mode */
	server.lines.for_all = fabricd.config.n_users;
	server.lines.rate_max = fabricd.config.n_users ? RATE_MAX : 0;
	return requests_start(&server, fabricd.config.socket, err);
}

/**
 * control_stop() - stop listening
 */
void control_stop(void)
{
	requests_stop(&server);
}
