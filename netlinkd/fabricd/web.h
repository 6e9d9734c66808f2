/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page of srpol-fabricd: read-only, in the engine's own loop, so nothing
 * here is locked. Documentation/fabric-page.rst tells what is served.
 *
 *	web.c		requests, connections, headers
 *	web_address.c	where it is served
 *	web_files.c	the page's own files, see page/
 *	web_stream.c	those who are told of every change
 *	web_paths.c	a change as gNMI tells it
 *	web_metrics.c	the fabric for a scraper
 *	view.c		the fabric as JSON
 *	view_blocks.c	switches in blocks, of which there are never many
 *	view_failures.c	links that carry less than they should
 *	view_loads.c	planned against measured
 *	view_jobs.c	which jobs and tenants are where
 *	loads.c		links, and what the plan puts on them
 *	causes.c	what the last epoch changed, and why
 */
#ifndef _SRPOL_FABRICD_WEB_H
#define _SRPOL_FABRICD_WEB_H

#include <jansson.h>
#include <microhttpd.h>
#include <sys/socket.h>

#include "fabricd.h"

/* web.c */
int web_start(struct srpol_error *err);
void web_stop(void);
void web_run(void);

/* web_address.c */
int web_address(const char *text, struct sockaddr_storage *addr,
		socklen_t *len, struct srpol_error *err);
bool web_is_loopback(const struct sockaddr_storage *addr);
bool web_host_is_local(const char *host);

/* web_files.c */

/**
 * struct web_file - a file of the page
 * @url: its URL
 * @type: its type
 * @begin: its bytes
 * @end: their end
 */
struct web_file {
	const char *url;
	const char *type;
	const char *begin;
	const char *end;
};

const struct web_file *web_file(const char *url);

/* web_paths.c */
json_t *web_paths(json_t *state);
char *web_paths_all(json_t *now);
char *web_paths_changed(json_t *before, json_t *now);
char *web_paths_nothing(void);

/* web_metrics.c */
char *web_metrics(bool as_openmetrics, size_t *len);

/* web_stream.c */
struct MHD_Response *web_stream_new(struct MHD_Connection *connection,
				    bool lines);
bool web_stream_stop(void);
const char *web_stream_state(size_t *len);

/* view.c */
json_t *view_state(void);

/* view_blocks.c */

/**
 * struct view_tier - the switches of a tier
 * @nodes: numbers of nodes
 * @n: of them
 * @per: so many are a block
 * @blocks: blocks
 */
struct view_tier {
	uint32_t *nodes;
	uint32_t n;
	uint32_t per;
	uint32_t blocks;
};

const struct view_tier *view_tier(enum srpol_tier tier);
uint32_t view_block_of(uint32_t node);
json_t *view_tiers(void);
json_t *view_block(const char *tier, uint32_t number);
void view_blocks_free(void);
const char *view_node(uint32_t node);

/* view_failures.c */
json_t *view_failures(void);

/* view_loads.c */
json_t *view_loads(const double *loads);
double view_used(uint32_t link);

/* view_jobs.c */
json_t *view_jobs(void);
json_t *view_tenants(void);
uint32_t view_tenants_at(uint32_t node);
void view_jobs_read(void);
void view_jobs_free(void);

/* loads.c */
const struct srpol_links *loads_look(void);
const struct srpol_links *loads_links(void);
const double *loads_get(void);
double loads_seconds(const double *loads, uint32_t link);
void loads_free(void);

#endif /* _SRPOL_FABRICD_WEB_H */
