/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page of srpol-fabricd: read-only, in the engine's own event loop, so
 * nothing here is locked. Documentation/fabric-page.rst describes what is
 * served.
 *
 *	web.c		requests, connections, headers
 *	web_address.c	address that it is served at
 *	web_files.c	the page's own files, see page/
 *	web_stream.c	clients that are informed of every change
 *	web_paths.c	a change in the format of gNMI
 *	web_metrics.c	the fabric for a scraper
 *	view.c		the fabric as JSON
 *	view_blocks.c	switches in blocks, whose number is bounded
 *	view_failures.c	links that carry less than they should
 *	view_loads.c	planned against measured load
 *	view_jobs.c	which jobs and tenants are where
 *	loads.c		links, and the load that the plan puts on them
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
 * @type: its media type
 * @begin: first byte
 * @end: byte after the last one
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
 * struct view_tier - switches of a tier
 * @nodes: numbers of nodes
 * @n: number of nodes
 * @per: number of switches in a block
 * @blocks: number of blocks
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
